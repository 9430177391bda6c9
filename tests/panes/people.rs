//! Users, your own profile, and keys: what is shown to whom, what is sent, and what never is.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

const ED25519: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGEta2V5LW9mLXRoZS1kZW1vLTAxLW5vdC1yZWFsLi4u ada@workstation";
const PRINT: &str = "SHA256:";

fn user(id: u64, name: &str, state: &str) -> Value {
    fixtures::user(id, name).with(json!({
        "state": state, "email": format!("{name}@x.test"), "web_url": format!("http://demo.test/{name}"),
        "is_admin": id == 1, "last_activity_on": "2026-06-14", "two_factor_enabled": false, "bio": "Draws rows.",
    }))
}

fn me(admin: bool) -> Value {
    fixtures::user(1, "root").with(json!({"name": "Root", "is_admin": admin, "email": "root@x.test"}))
}

async fn at(place: Place, admin: bool, width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(place).size(width, height).open();
    harness
        .reply("GET /user", me(admin))
        .reply("GET /users", [user(2, "bo", "active"), user(3, "gus", "blocked"), user(4, "hal", "ldap_blocked")])
        .reply("GET /users/2", user(2, "bo", "active"))
        .reply("GET /users/3", user(3, "gus", "blocked"))
        .reply("GET /users/2/projects", [json!({"id": 9, "path_with_namespace": "bo/rocket", "path": "rocket"})])
        .reply("GET /users/1/projects", json!([]))
        .reply("GET /users/2/keys", [json!({"id": 5, "title": "mill", "key": ED25519})])
        .reply("GET /users/2/gpg_keys", json!([]))
        .reply(
            "GET /user/keys",
            [json!({"id": 7, "title": "desk", "key": ED25519, "created_at": "2026-06-01T00:00:00Z"})],
        )
        .reply("GET /user/keys/7", json!({"id": 7, "title": "desk", "key": ED25519}))
        .reply("GET /user/gpg_keys", json!([]))
        .settle()
        .await;
    harness
}

fn sent(harness: &Harness, verb: &str) -> Vec<String> {
    harness.asked.iter().filter(|line| line.starts_with(verb)).cloned().collect()
}

#[tokio::test]
async fn users_can_be_queried_and_unknown_states_are_shown_verbatim() {
    let mut harness = at(Place::new("users"), true, 120, 30).await;
    harness.expect("bo@x.test").expect("ldap blocked").expect("blocked").expect("Two-factor");
    harness.press("4 /").type_text("created:>2w attribute:team=rows sort:name-asc bo").settle().await;
    let line = harness.asked.iter().rfind(|line| line.contains("search=bo")).expect("a query").clone();
    for part in ["created_after=2026-06-01", "team", "rows", "order_by=name", "sort=asc"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    assert!(!line.contains("active=true"), "{line}");
    harness.press("Enter 2").settle().await;
    assert!(harness.asked.iter().any(|line| line.contains("blocked=true")), "{:?}", harness.asked);
}

#[tokio::test]
async fn actions_for_administrators_are_refused_before_anything_is_sent() {
    let mut harness = at(Place::new("users"), false, 100, 30).await;
    harness.expect("administrators see more");
    harness.press("+").expect("For administrators only");
    harness.press("D").expect("For administrators only");
    let mut harness = at(Place::new("key").item(5), false, 100, 30).await;
    harness.expect("for administrators only");
    assert!(sent(&harness, "GET /keys").is_empty(), "{:?}", harness.asked);
    let mut harness = at(Place::new("hooks"), false, 100, 30).await;
    harness.expect("You cannot see").press("+").expect("for administrators only");
    let harness = at(Place::new("license"), false, 100, 30).await;
    assert!(harness.shows("You cannot see") && sent(&harness, "GET /license").is_empty());
}

#[tokio::test]
async fn deleting_a_user_requires_typing_the_name_and_explains_hard_delete() {
    let mut harness = at(Place::new("users"), true, 100, 30).await;
    harness.press("D").expect("keeps what they wrote").expect("including all of their contributions");
    harness.press("Down Enter").expect("groups that nobody else owns");
    harness.type_text("b").press("Enter");
    assert!(sent(&harness, "DELETE").is_empty());
    harness.type_text("o").expect("confirm").press("Enter");
    assert_eq!(sent(&harness, "DELETE"), ["DELETE /users/2?hard_delete=true"]);
    harness.press("Space Space D").expect("@bo").expect("@gus").expect("Type delete");
    harness.press("y y").expect("@gus");
    assert_eq!(sent(&harness, "DELETE").len(), 1);
}

#[tokio::test]
async fn the_password_of_a_new_user_is_hidden_and_never_stored() {
    let mut harness = at(Place::new("users"), true, 100, 40).await;
    harness.press("+").type_text("nia").press("Tab").type_text("Nia").press("Tab").type_text("nia");
    harness.expect("is not an email address").type_text("@x.test").press("Tab Space Tab").type_text("s3cretword");
    harness.expect_no("s3cretword").press("Esc");
    assert!(harness.kept.values().all(|kept| !kept.contains("s3cret")), "{:?}", harness.kept);
    harness.press("+").expect("nia@x.test").press("Tab Tab Tab Tab").type_text("s3cretword");
    harness.fail("POST /users", 409, "Username has already been taken").press("C-s").settle().await;
    harness.expect("has already been taken").expect("nia@x.test");
    let line = sent(&harness, "POST").pop().expect("a user");
    assert!(line.contains("username=nia") && line.contains("password=s3cretword"), "{line}");
}

#[tokio::test]
async fn an_ssh_key_from_a_file_is_shown_before_it_is_added() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("new.pub");
    std::fs::write(&file, ED25519.replace("ada@workstation", "fay@lyon")).expect("written");
    let mut harness = at(Place::new("me").tab("ssh"), false, 120, 30).await;
    harness.expect("desk").expect("ED25519").expect(PRINT).expect("ada@workstation").expect("2w ago");
    harness.press("+ C-u").type_text(&file.to_string_lossy()).press("Enter").settle().await;
    harness.expect("Add an SSH key").expect("fay@lyon").expect("ED25519").expect(PRINT);
    assert!(sent(&harness, "POST").is_empty(), "nothing is sent before the key is shown");
    let message = "fingerprint has already been taken; key has already been taken";
    harness.fail("POST /user/keys", 400, message).press("C-s").settle().await;
    harness.expect("has already been taken").expect("fay@lyon");
    harness.reply("POST /user/keys", json!({"id": 8, "title": "fay@lyon", "key": ED25519}));
    harness.press("C-s").settle().await;
    harness.expect("Added the SSH key");
    assert!(sent(&harness, "POST")[0].contains("title=fay@lyon"), "{:?}", sent(&harness, "POST"));
    harness.press("D").expect("desk").press("y");
    assert_eq!(sent(&harness, "DELETE"), ["DELETE /user/keys/7"]);
}

#[tokio::test]
async fn a_private_key_is_never_shown_stored_or_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("id_ed25519");
    let body = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ";
    let text = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n");
    std::fs::write(&file, &text).expect("written");
    let mut harness = at(Place::new("me").tab("ssh"), false, 120, 30).await;
    harness.press("+ C-u").type_text(&file.to_string_lossy()).press("Enter").settle().await;
    harness.expect("This is a private key").expect_no("b3Blbn");
    harness.press("+ C-u").send(labscope::app::action::Msg::Paste(text));
    harness.expect("This is a private key").expect_no("b3Blbn").expect_no("BEGIN OPENSSH");
    harness.press("Esc 3 + C-u").type_text("-----BEGIN PGP PRIVATE KEY BLOCK-----").press("Enter").settle().await;
    harness.expect("private key");
    assert!(sent(&harness, "POST").is_empty() && harness.kept.is_empty(), "{:?} {:?}", harness.asked, harness.kept);
}

#[tokio::test]
async fn keys_of_others_need_an_administrator_and_gpg_keys_their_owner() {
    let mut harness = at(Place::new("user").item("bo"), true, 120, 30).await;
    harness.expect("bo/rocket").press("2").settle().await;
    harness.expect("mill").press("+ C-u").send(labscope::app::action::Msg::Paste(ED25519.to_owned()));
    harness.expect("Add an SSH key of @bo").press("C-s");
    assert!(sent(&harness, "POST")[0].starts_with("POST /users/2/keys"), "{:?}", sent(&harness, "POST"));
    harness.press("Esc 3").settle().await;
    harness.press("+").expect("Only its owner");
    let mut harness = at(Place::new("user").item("bo"), false, 120, 30).await;
    harness.fail("GET /users/2/keys", 403, "403 Forbidden").press("2").settle().await;
    harness.expect("Only administrators").expect("403");
}

#[tokio::test]
async fn acting_as_a_user_shows_what_the_user_sees() {
    let mut harness = at(Place::new("user").item("bo"), true, 120, 30).await;
    let told = user(2, "bo", "active").with(json!({"name": "As Bo is told"}));
    harness.reply("GET /user?sudo=2", told).press("S").settle().await;
    harness.expect("As Bo is told").expect("viewed as this user");
    assert!(harness.asked.iter().any(|line| line == "GET /user?sudo=2"), "{:?}", harness.asked);
}

#[tokio::test]
async fn an_ssh_key_id_opens_its_owner() {
    let mut harness = at(Place::new("key"), true, 100, 30).await;
    harness.reply("GET /keys/5", json!({"id": 5, "title": "mill", "key": ED25519, "user": user(2, "bo", "active")}));
    harness.expect("ID of the SSH key").type_text("key-5").press("Enter").settle().await;
    harness.expect("mill").expect("ED25519").expect("@bo").press("Enter").settle().await;
    assert_eq!(harness.app.place(), Place::new("user").item("bo").tab("ssh"));
    harness
        .press("q")
        .fail("GET /keys/6", 404, "404 Key Not Found")
        .press("K")
        .type_text("6")
        .press("Enter")
        .settle()
        .await;
    harness.expect("Not found").expect("404 Key Not Found");
}

#[tokio::test]
async fn hostile_names_are_sanitized_at_any_size() {
    let mut harness = at(Place::new("users"), true, 120, 30).await;
    let evil = json!({"name": "E\u{1b}[31mve\u{7}\n\u{202e}x", "bio": "a\r\nb\u{0}"});
    let evil = user(5, "eve", "active").with(evil);
    harness.reply("GET /users", [evil.clone()]).reply("GET /users/5", evil.clone()).press("r").settle().await;
    let drawn = harness.picture();
    assert!(!drawn.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{drawn:?}");
    harness.reply("GET /users/5/projects", json!([])).reply("GET /users/5/keys", json!([{"id": 1}])).press("Enter");
    harness.settle().await;
    for keys in ["1", "2", "3"] {
        harness.press(keys).settle().await;
        for (width, height) in [(20, 6), (44, 12), (80, 24), (300, 90), (10, 3)] {
            harness.resize(width, height);
            harness.press("Tab j z k z");
        }
    }
}

#[tokio::test]
async fn members_show_their_roles_and_open_as_users() {
    let member = |id: u64, name: &str, level: u64, ends: Option<&str>| {
        let membership = json!({"access_level": level, "created_at": "2026-06-01T00:00:00Z", "expires_at": ends});
        user(id, name, "active").with(membership)
    };
    let mut harness = Begin::at(Place::new("members").project("a/b")).size(100, 20).open();
    harness
        .reply("GET /projects/a%2Fb/members/all", [member(2, "bo", 40, None), member(3, "gus", 30, Some("2026-12-31"))])
        .reply("GET /projects/a%2Fb/members", json!([]))
        .settle()
        .await;
    harness.expect("members  2").expect("Max role").expect("Maintainer").expect("2026-12-31").expect("2w");
    harness.click_on("Max role").click_on("Max role").settle().await;
    let line = |words: &str| harness.lines().iter().position(|line| line.contains(words));
    assert!(line("GUS") < line("BO"), "lowest role first\n{}", harness.picture());
    harness.press("g g");
    harness.press("/").type_text("gu").settle().await;
    assert!(
        harness.asked.iter().any(|line| line.ends_with("members/all?query=gu&page=1&per_page=100")),
        "{:?}",
        harness.asked
    );
    harness.press("Esc 2").settle().await;
    harness.expect("There are no direct members.").press("1 y").expect("username").press("Esc Enter").settle().await;
    assert_eq!(harness.app.place(), Place::new("user").item("gus"));
}

#[tokio::test]
async fn a_member_can_be_added_changed_and_removed() {
    let member = |id: u64, name: &str, level: u64| user(id, name, "active").with(json!({"access_level": level}));
    let mut harness = Begin::at(Place::new("members").group("acme")).size(100, 30).open();
    harness
        .reply("GET /groups/acme/members/all", [member(2, "bo", 40), member(3, "gus", 30)])
        .reply("GET /groups/acme/members", [member(3, "gus", 30)])
        .reply("GET /users?username=jo", [user(7, "jo", "active")])
        .reply("POST /groups/acme/members", member(7, "jo", 20))
        .reply("PUT /groups/acme/members/3", member(3, "gus", 40))
        .reply("DELETE /groups/acme/members/3", json!(null))
        .settle()
        .await;
    harness.press("e").expect("The role comes from a group above; change it there");
    harness.press("+").expect("Add member to acme").type_text("jo").settle().await;
    // Before the developer come the security manager and the reporter.
    harness.press("Tab Left Left C-s").settle().await;
    let last = |harness: &Harness| harness.asked.iter().rfind(|line| !line.starts_with("GET ")).cloned();
    assert_eq!(last(&harness).as_deref(), Some("POST /groups/acme/members access_level=20 user_id=7"));
    harness.expect("Added the member").press("G e").expect("Change role of gus in acme").expect("Developer");
    harness.press("Right C-s").settle().await.expect("Saved the role of gus");
    assert_eq!(last(&harness).as_deref(), Some("PUT /groups/acme/members/3 access_level=40"));
    // The role is needed even if only the date changes.
    harness.press("e Tab").type_text("2027-01-31").press("C-s").settle().await;
    let expected = "PUT /groups/acme/members/3 access_level=30 expires_at=2027-01-31";
    assert_eq!(last(&harness).as_deref(), Some(expected), "{}", harness.picture());
    harness.press("D").expect("Remove gus from acme?").press("y").settle().await.expect("Removed gus");
    assert_eq!(last(&harness).as_deref(), Some("DELETE /groups/acme/members/3"));
}

/// A server lists each user once, with the highest role, also if that comes from a group above.
#[tokio::test]
async fn the_direct_role_is_changed_where_a_higher_one_is_inherited() {
    let member =
        |level: u64, ends: Value| user(3, "gus", "active").with(json!({"access_level": level, "expires_at": ends}));
    let mut harness = Begin::at(Place::new("members").group("acme/web")).size(100, 30).open();
    harness
        .reply("GET /groups/acme%2Fweb/members/all", [member(50, json!(null))])
        .reply("GET /groups/acme%2Fweb/members", [member(30, json!("2026-12-31"))])
        .reply("PUT /groups/acme%2Fweb/members/3", member(30, json!("2027-01-31")))
        .settle()
        .await;
    harness.expect("Owner").press("e").expect("Change role of gus").expect("Developer").expect("2026-12-31");
    harness.press("Tab C-u").type_text("2027-01-31").press("C-s").settle().await;
    let put = harness.asked.iter().rfind(|line| line.starts_with("PUT ")).cloned();
    let expected = "PUT /groups/acme%2Fweb/members/3 access_level=30 expires_at=2027-01-31";
    assert_eq!(put.as_deref(), Some(expected), "{}", harness.picture());
}

#[tokio::test]
async fn a_username_is_only_reported_as_unknown_once_it_is_chosen() {
    let unknown = "with that name";
    let begin = || Begin::at(Place::new("members").group("acme")).size(100, 30);
    let mut harness = begin().open();
    harness
        .reply("GET /groups/acme/members/all", [user(2, "bo", "active")])
        .reply("GET /users?search=jo", [user(7, "jolanda", "active"), user(8, "joe", "active")])
        .reply("GET /users?search=joh", json!([]))
        .reply("GET /users", [user(2, "bo", "active")])
        .reply("GET /users?username=jo", json!([]))
        .reply("GET /users?username=joh", json!([]))
        .reply("GET /users?username=joe", [user(8, "joe", "active")])
        .settle()
        .await;
    harness.press("+").type_text("jo").settle().await;
    harness.expect("jolanda").expect_no(unknown);
    // No name begins like this, but the text can be taken as it is.
    harness.type_text("h").settle().await;
    harness.expect_no("jolanda").expect("use \"joh\"").expect_no(unknown).press("Enter").settle().await;
    harness.expect(unknown);
    // The form is submitted, which leads back to the field.
    harness.press("C-s").settle().await;
    harness.expect(unknown).type_text("joe").press("Enter").settle().await;
    harness.expect_no(unknown).expect("joe");
}

#[tokio::test]
async fn go_to_keys_open_places_of_the_selected_group() {
    let mut harness = Begin::at(Place::new("groups")).size(120, 30).open();
    let group = json!({ "id": 4, "name": "Acme", "path": "acme", "full_path": "acme", "web_url": "https://demo.test/groups/acme" });
    harness.reply("GET /groups", [group]).settle().await;
    harness.expect("acme");
    for (keys, pane) in [("g a", "members"), ("g u", "issues"), ("g m", "mrs")] {
        harness.press(keys);
        assert_eq!(harness.app.place(), Place::new(pane).group("acme"), "{keys}");
        harness.press("C-o");
    }
    harness.press(":").type_text("labels").press("Enter");
    assert_eq!(harness.app.place(), Place::new("labels").group("acme"));
    harness.press(":").type_text("milestones").press("Enter");
    assert_eq!(harness.app.place(), Place::new("milestones").group("acme"));
}

/// The first reply applies to every project, so the next one need not wait for another.
#[tokio::test]
async fn an_unsupported_list_is_reported_for_the_next_project_without_a_request() {
    let mut harness = Begin::at(Place::new("members").project("a/b")).size(100, 20).open();
    harness.unsupported("GET /projects/a%2Fb/members/all").settle().await;
    harness.expect("Not supported by this server");
    harness.press(": a / c Enter").settle().await.press("g a").settle().await;
    harness.expect("Not supported by this server").expect("/projects/a%2Fc/members/all");
    assert!(!harness.asked.iter().any(|line| line.contains("a%2Fc/members/all")), "{:?}", harness.asked);
    harness.reply("GET /projects/a%2Fc/members/all", [user(2, "bo", "active")]);
    harness.press("r").settle().await.expect("BO");
}
