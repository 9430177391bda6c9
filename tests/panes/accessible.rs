//! Accessible mode: what the line of the cursor says after a key.

use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use serde_json::{Value, json};

async fn projects() -> Harness {
    let mut harness = Begin::at(Place::new("projects")).accessible().open();
    let project = json!({"id": 7, "name": "rocket", "path": "rocket", "path_with_namespace": "acme/rocket"});
    harness.reply("GET /projects", [project]);
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": false}));
    harness.reply("GET /groups", json!([]));
    harness.settle().await;
    harness.hears("acme/rocket");
    harness
}

fn user(id: u64, name: &str) -> Value {
    json!({"id": id, "username": name, "name": name.to_uppercase(), "state": "active"})
}

/// All lines that Down leads to, up to the last.
fn all_heard(harness: &mut Harness) -> Vec<String> {
    let mut heard = vec![harness.heard()];
    for _ in 0..200 {
        harness.press("Down");
        match heard.last() {
            Some(last) if *last == harness.heard() => break,
            _ => heard.push(harness.heard()),
        }
    }
    heard
}

#[tokio::test]
async fn headings_of_help_and_actions_are_heard_between_their_commands() {
    for (key, headings) in [("a", &["View", "Change"][..]), ("?", &["View", "Change", "Go to"])] {
        let mut harness = projects().await;
        let heard = all_heard(harness.press(key));
        let at: Vec<_> = headings.iter().map(|title| heard.iter().position(|line| line == title)).collect();
        assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{key}: {at:?} in {heard:#?}");
    }
}

#[tokio::test]
async fn enter_on_a_heading_goes_to_the_first_command_below_it() {
    let mut harness = projects().await;
    harness.press("a").hears("View").press("Enter").hears("Enter");
    harness.press("Up").hears("View").press("Down").hears("Enter");
    // What is typed is looked for: nothing stands between it and Enter.
    harness.type_text("create").hears("Create project").press("Enter").expect("name *");
    harness.press("Esc a").type_text("nothing like it").hears("No results.");
}

#[tokio::test]
async fn what_completes_a_plain_line_is_heard_one_after_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["one.txt", "other.txt"] {
        std::fs::write(folder.path().join(name), "").expect("written");
    }
    let mut harness = Begin::at(Place::new("license")).size(120, 24).accessible().open();
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": true}));
    harness.reply("GET /license", json!({"plan": "gold"})).settle().await;
    let typed = format!("{}/o", folder.path().display());
    harness.press("+ C-u").send(Msg::Paste(typed));
    harness.settle().await;
    harness.hears("/o  offer 1 of 2: ").hears("one.txt");
    harness.press("Tab").hears("/one.txt  offer 1 of 2: ").press("Tab").hears("/other.txt  offer 2 of 2: ");
    harness.type_text("x").settle().await;
    assert!(!harness.heard().contains("offer"), "{}", harness.heard());
}

#[tokio::test]
async fn what_is_wrong_with_a_field_is_heard_with_it() {
    let mut harness = projects().await;
    harness.fail("POST /projects", 400, "name has already been taken");
    harness.press("+").hears("name *").press("C-s").settle().await;
    harness.hears("name *").hears("error is needed");
    harness.type_text("Moon").hears("Moon");
    assert!(!harness.heard().contains("error"), "{}", harness.heard());
    harness.press("Tab").type_text("no blanks").hears("error only letters, digits").hears("no blanks");
    harness.press("Tab").hears("namespace").press("S-Tab").hears("error only letters").press("C-u");
    harness.press("C-s").settle().await;
    harness.hears("name *").hears("error has already been taken").hears("Moon");
}

#[tokio::test]
async fn why_a_text_is_not_taken_is_heard() {
    let mut harness = Begin::at(Place::new("me")).size(120, 24).accessible().open();
    harness.reply("GET /user", user(1, "ada")).reply("GET /user/keys", json!([])).settle().await;
    harness.press("2").settle().await.press("+ C-u");
    harness.send(Msg::Paste("-----BEGIN OPENSSH PRIVATE KEY-----\n".into()));
    harness.hears("error This is a private key");
}

#[tokio::test]
async fn what_cannot_be_asked_is_heard_with_the_query() {
    let mut harness = Begin::at(Place::new("mrs").project("a/b")).accessible().open();
    harness.reply("GET /projects/a%2Fb/merge_requests", json!([])).settle().await;
    harness.press("/").type_text("state:odd").hears("error").hears("state:odd");
}

#[tokio::test]
async fn why_a_form_failed_is_heard() {
    let mut harness = Begin::at(Place::new("members").group("acme")).size(100, 30).accessible().open();
    harness
        .reply("GET /groups/acme/members/all", [user(2, "bo")])
        .reply("GET /users?username=jo", [user(7, "jo")])
        .fail("POST /groups/acme/members", 409, "Member already exists")
        .settle()
        .await;
    harness.press("+").type_text("jo").settle().await;
    harness.press("C-s").settle().await;
    harness.hears("error").hears("Member already exists");
}
