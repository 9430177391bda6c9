//! Places for administrators, on servers that do not say who is one: the request is sent, and a refusal is shown in
//! place of the content, which must not look like an empty list.

use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::json;

/// Opens a place as a user of whom the server does not say whether they are an administrator.
async fn at(place: Place, width: u16, denied: &str, status: u16) -> Harness {
    let mut harness = Begin::at(place).size(width, 30).open();
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "name": "Ada"}));
    harness.reply("GET /users", [json!({"id": 2, "username": "bo", "name": "Bo", "state": "active"})]);
    harness.reply("GET /users/2", json!({"id": 2, "username": "bo", "name": "Bo", "state": "active"}));
    harness.reply("GET /users/2/projects", json!([]));
    harness.reply("GET /runners", json!([]));
    harness.reply("GET /projects/a%2Fb/snippets", [json!({"id": 3, "title": "Note", "web_url": ""})]);
    harness.reply_raw("GET /projects/a%2Fb/snippets/3/raw", "text");
    harness.reply("GET /projects/a%2Fb/snippets/3/notes", json!([]));
    harness.reply("GET /projects", json!([]));
    harness.fail(denied, status, &format!("{status} Quux"));
    harness.settle().await;
    harness
}

async fn press(harness: &mut Harness, keys: &str) {
    if !keys.is_empty() {
        harness.press(keys).settle().await;
    }
}

#[tokio::test]
async fn a_refusal_is_shown_in_place_of_content_for_administrators() {
    let snippets = Place::new("snippets").project("a/b").item(3);
    let places = [
        (Place::new("hooks"), "", "GET /hooks"),
        (Place::new("license"), "", "GET /license"),
        (Place::new("runners"), "2", "GET /runners/all"),
        (Place::new("key").item(17), "", "GET /keys/17"),
        (Place::new("user").item("bo"), "2", "GET /users/2/keys"),
        (Place::new("user").item("bo"), "3", "GET /users/2/gpg_keys"),
        (snippets, "3", "GET /projects/a%2Fb/snippets/3/user_agent_detail"),
        (Place::new("projects").query("attribute:team=rows"), "", "GET /projects"),
        (Place::new("users").query("attribute:team=rows"), "", "GET /users"),
    ];
    for (place, keys, denied) in places {
        for width in [80, 160] {
            let mut harness = at(place.clone(), width, denied, 403).await;
            press(&mut harness, keys).await;
            assert!(harness.asked.iter().any(|line| line.starts_with(denied)), "{denied}: {:?}", harness.asked);
            assert!(harness.shows("403 Quux"), "{denied}\n{}", harness.picture());
            for nothing in
                ["There are no", "No user fits", "No project fits", "has no SSH keys", "has no GPG keys", "· · ·"]
            {
                assert!(!harness.shows(nothing), "{denied}: {nothing}\n{}", harness.picture());
            }
            // An invalid token is reported differently.
            let mut harness = at(place.clone(), width, denied, 401).await;
            press(&mut harness, keys).await;
            assert!(harness.shows("Not signed in") && harness.shows("401 Quux"), "{denied}\n{}", harness.picture());
        }
    }
}

#[tokio::test]
async fn changes_for_administrators_are_sent_if_the_role_is_unknown() {
    let mut harness = at(Place::new("users"), 80, "POST /users", 403).await;
    harness.press("+").type_text("new").press("Tab").type_text("New").press("Tab").type_text("new@x.test");
    harness.press("C-s").settle().await;
    harness.expect("403 Quux").expect("new@x.test").expect("C-s retry");
    let mut harness = at(Place::new("user").item("bo"), 80, "DELETE /users/2", 403).await;
    harness.press("D Enter").type_text("bo").press("Enter").settle().await;
    harness.expect("Could not delete @bo: 403 Quux.");
}

#[tokio::test]
async fn a_disabled_hook_says_so() {
    let mut harness = Begin::at(Place::new("hooks")).size(160, 30).open();
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": true}));
    let hook = |id: u64, status: &str| {
        json!({"id": id, "url": format!("https://{id}.example.org"), "push_events": true,
        "created_at": "2026-06-01T00:00:00Z", "alert_status": status, "disabled_until": "2026-06-16T09:00:00Z"})
    };
    let hooks = [hook(1, "temporarily_disabled"), hook(2, "executable"), hook(3, "disabled")];
    harness.reply("GET /hooks", hooks).settle().await;
    harness.expect("temporarily disabled · ").expect(" disabled · ");
    harness.click_on("https://1.example.org").settle().await;
    harness.expect("until 2026-06-16 09:00").expect("deliveries failed");
    harness.click_on("https://2.example.org").settle().await;
    harness.expect_no("deliveries failed");
}
