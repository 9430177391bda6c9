//! System hooks, the license, and notification settings.

use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

fn hook(id: u64, url: &str) -> Value {
    json!({"id": id, "url": url, "push_events": true, "tag_push_events": false, "merge_requests_events": true,
        "enable_ssl_verification": false, "created_at": "2026-06-01T00:00:00Z"})
}

async fn at(place: Place, width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(place).size(width, height).open();
    harness
        .reply("GET /user", json!({"id": 1, "username": "root", "is_admin": true}))
        .reply("GET /hooks", [hook(1, "https://chat.test/hook"), hook(2, "https://mirror.test/notify")])
        .reply("GET /notification_settings", json!({"level": "watch", "notification_email": "root@x.test"}))
        .reply("GET /groups", [json!({"id": 3, "full_path": "acme", "path": "acme"})])
        .reply("GET /groups/3/notification_settings", json!({"level": "global"}))
        // A simple listing, without full paths.
        .reply("GET /projects", [json!({"id": 7, "path": "rocket-ui", "web_url": "https://x.test/acme/rocket-ui"})])
        .settle()
        .await;
    harness
}

fn sent(harness: &Harness, verb: &str) -> Vec<String> {
    harness.asked.iter().filter(|line| line.starts_with(verb)).cloned().collect()
}

#[tokio::test]
async fn the_secret_of_a_hook_is_hidden_while_typing_and_never_stored() {
    let mut harness = at(Place::new("hooks"), 120, 30).await;
    harness.expect("pushes, merge requests").expect("disabled").expect("never shown by the server");
    harness
        .press("+")
        .type_text("chat.test")
        .expect("must begin with https://")
        .press("C-u")
        .type_text("https://a.test/x");
    harness.press("Tab").type_text("s3cret").expect_no("s3cret").press("Esc");
    assert!(harness.kept.values().all(|kept| !kept.contains("s3cret")), "{:?}", harness.kept);
    harness.press("+").expect("https://a.test/x").press("Tab").type_text("s3cret").press("Tab Space");
    harness.reply("POST /hooks", hook(3, "https://a.test/x")).press("C-s").settle().await;
    assert_eq!(sent(&harness, "POST"), ["POST /hooks push_events=true token=s3cret url=https://a.test/x"]);
}

#[tokio::test]
async fn a_hook_test_shows_the_payload_or_explains_a_newer_reply() {
    let mut harness = at(Place::new("hooks"), 120, 30).await;
    harness.reply("GET /hooks/1", json!({"event_name": "project_create", "name": "Ruby", "project_id": 1}));
    harness.press("t").settle().await;
    harness.expect("Last test").expect("project_create").expect("Ruby");
    harness.press("h j").reply("GET /hooks/2", hook(2, "https://mirror.test/notify")).press("t").settle().await;
    harness.expect("This server returns");
    harness.press("h k Space Space D").expect("https://chat.test/hook").expect("https://mirror.test/notify");
    harness.press("n h Esc").fail("GET /hooks/2", 500, "no luck").press("t").settle().await;
    harness.expect("no luck");
}

#[tokio::test]
async fn the_license_is_shown_and_can_be_installed_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.license");
    std::fs::write(&file, "eyJkYXRhIjoi\n").expect("written");
    let mut harness = at(Place::new("license"), 100, 30).await;
    let known = json!({"starts_at": "2026-01-01", "expires_at": "2026-07-01", "user_limit": 10, "active_users": 12,
        "licensee": {"Name": "Ada", "Company": "Acme", "Email": "ada@x.test"}, "add_ons": {"Geo": 1}});
    harness.reply("GET /license", known).settle().await;
    harness.expect("Acme").expect("15 days left").expect("12 of 10 users").expect("1 Geo");
    harness.press("+ C-u").type_text(&file.to_string_lossy()).press("Enter").settle().await;
    harness.expect("Install this license").pass(1).press("y");
    assert_eq!(sent(&harness, "POST"), ["POST /license license=eyJkYXRhIjoi"]);
    harness.fail("POST /license", 400, "The license key is invalid.").settle().await;
    harness.expect("The license key is invalid.");
}

#[tokio::test]
async fn a_missing_license_differs_from_an_edition_without_licenses() {
    let mut harness = at(Place::new("license"), 100, 30).await;
    harness.reply("GET /license", Value::Null).settle().await;
    harness.expect("No license is installed");
    let mut harness = at(Place::new("license"), 100, 30).await;
    harness.press("j").fail("GET /license", 404, "404 Not Found").settle().await;
    harness.expect("edition needs no license");
}

#[tokio::test]
async fn a_refusal_names_who_can_grant_access() {
    for (pane, request) in [("hooks", "GET /hooks"), ("license", "GET /license")] {
        let mut harness = Begin::at(Place::new(pane)).size(120, 30).open();
        harness.reply("GET /user", json!({"id": 1, "username": "root", "is_admin": true}));
        harness.fail(request, 403, "403 Forbidden").settle().await;
        harness.expect("ask a server administrator").expect_no("owner of the project");
    }
    let mut harness = Begin::at(Place::new("jobs").project("acme/x")).size(120, 30).open();
    harness.fail("GET /projects/acme%2Fx/jobs", 403, "403 Forbidden").settle().await;
    harness.expect("ask an owner of the project");
}

#[tokio::test]
async fn notification_levels_and_events_are_explained() {
    let mut harness = at(Place::new("notifications"), 120, 30).await;
    harness.expect("watch").expect("everything that happens").expect("root@x.test");
    harness.press("e").settle().await;
    harness.expect("requests merged").press("Tab Tab").expect("Applies if the level is custom.").press("Space");
    harness.press("S-Tab S-Tab").type_text("c").expect("custom").press("C-s").settle().await;
    assert_eq!(sent(&harness, "PUT"), ["PUT /notification_settings level=custom new_note=true"]);
    harness.reply("PUT /notification_settings", json!({"level": "custom"})).settle().await;
}

#[tokio::test]
async fn groups_and_projects_show_their_notification_level_or_an_error() {
    let mut harness = at(Place::new("notifications"), 120, 30).await;
    harness.press("2").settle().await;
    harness.expect("acme").expect("global").expect("which is watch");
    let events = json!({"new_note": true, "failed_pipeline": null, "brand_new": true});
    harness.reply("GET /projects/7/notification_settings", json!({"level": "custom", "events": events}));
    harness.press("3").settle().await;
    harness
        .expect("acme/rocket-ui")
        .expect("custom")
        .expect("✓ Comments")
        .expect("□ Pipelines failed")
        .expect("✓ Brand new");
    harness.fail("GET /projects/7/notification_settings", 403, "403 Forbidden").press("r").settle().await;
    for (width, height) in [(20, 6), (80, 14), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab j z k z");
    }
}

#[tokio::test]
async fn each_tab_of_notifications_has_its_own_filter() {
    let mut harness = at(Place::new("notifications"), 120, 30).await;
    harness.press("2").settle().await;
    harness.press("/").type_text("none").press("Enter 3").settle().await;
    harness
        .expect("acme/rocket-ui")
        .expect_no("/none")
        .press("2 / a c Enter 1")
        .expect("Everywhere ─")
        .expect_no("/ac");
    harness.press("Esc");
    assert_eq!(harness.app.place().pane, "projects");
}

#[tokio::test]
async fn a_group_or_project_that_is_named_by_its_id_is_selected() {
    let groups = || (0..120).map(|n| json!({"id": 100 + n, "full_path": format!("group-{n:03}")})).collect::<Vec<_>>();
    let projects =
        || (0..120).map(|n| json!({"id": 100 + n, "path_with_namespace": format!("acme/p{n:03}")})).collect::<Vec<_>>();
    for (place, words) in [
        (Place::new("notifications").group("213"), "group-113"),
        (Place::new("notifications").project("213"), "acme/p113"),
        (Place::new("notifications").group("group-113"), "group-113"),
        (Place::new("notifications").project("acme/p113"), "acme/p113"),
    ] {
        let mut harness = Begin::at(place).size(120, 30).open();
        harness
            .reply("GET /groups", groups())
            .reply("GET /projects", projects())
            .reply("GET /groups/213", groups()[113].clone())
            .reply("GET /projects/213", projects()[113].clone())
            .settle()
            .await;
        let selected = harness.lines().into_iter().find(|line| line.starts_with('▌')).unwrap_or_default();
        assert!(selected.contains(words), "{words}: {}", harness.picture());
    }
    let mut harness = Begin::at(Place::new("notifications").group("5")).size(120, 30).open();
    harness.reply("GET /groups", groups()).fail("GET /groups/5", 404, "404 Group Not Found").settle().await;
    harness.expect("group-000");
}

#[tokio::test]
async fn read_only_mode_refuses_before_a_form_opens() {
    for (pane, keys) in
        [("hooks", "+"), ("hooks", "t"), ("notifications", "e"), ("license", "+"), ("groups", "+"), ("users", "+")]
    {
        let mut harness = Begin::at(Place::new(pane)).read_only().open();
        harness
            .reply("GET /user", json!({"id": 1, "is_admin": true}))
            .reply("GET /hooks", [hook(1, "https://chat.test/hook")])
            .reply("GET /users", json!([]))
            .reply("GET /groups", json!([]))
            .settle()
            .await;
        harness.press(keys).expect("labscope is read-only");
        assert!(sent(&harness, "P").is_empty(), "{:?}", harness.asked);
    }
}
