//! Accessible mode: the content of the cursor's line after a key press.

use crate::fixtures::user;
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use serde_json::json;

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

/// Returns all lines reached by pressing Down, up to the last.
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
async fn headings_in_help_and_actions_are_reachable_between_commands() {
    for (key, headings) in [("a", &["View", "Change"][..]), ("?", &["View", "Change", "Go to"])] {
        let mut harness = projects().await;
        let heard = all_heard(harness.press(key));
        let at: Vec<_> = headings.iter().map(|title| heard.iter().position(|line| line == title)).collect();
        assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{key}: {at:?} in {heard:#?}");
    }
}

#[tokio::test]
async fn enter_on_a_heading_moves_to_the_first_command_below_it() {
    let mut harness = projects().await;
    harness.press("a").hears("View").press("Enter").hears("Enter");
    harness.press("Up").hears("View").press("Down").hears("Enter");
    // The text is a search term: Enter runs the match directly.
    harness.type_text("create").hears("Create project").press("Enter").expect("Name *");
    harness.press("Esc a").type_text("nothing like it").hears("No results.");
}

#[tokio::test]
async fn completions_of_an_input_line_are_announced_one_by_one() {
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
    harness.hears("/o  suggestion 1 of 2: ").hears("one.txt");
    harness.press("Tab").hears("/one.txt  suggestion 1 of 2: ").press("Tab").hears("/other.txt  suggestion 2 of 2: ");
    harness.type_text("x").settle().await;
    assert!(!harness.heard().contains("suggestion"), "{}", harness.heard());
}

#[tokio::test]
async fn a_field_is_announced_with_its_error() {
    let mut harness = projects().await;
    harness.fail("POST /projects", 400, "name has already been taken");
    harness.press("+").hears("Name *").press("C-s").settle().await;
    harness.hears("Name *").hears("error is required");
    harness.type_text("Moon").hears("Moon");
    assert!(!harness.heard().contains("error"), "{}", harness.heard());
    harness.press("Tab").type_text("no blanks").hears("error only letters, digits").hears("no blanks");
    harness.press("Tab").hears("namespace").press("S-Tab").hears("error only letters").press("C-u");
    harness.press("C-s").settle().await;
    harness.hears("Name *").hears("error has already been taken").hears("Moon");
}

#[tokio::test]
async fn the_reason_for_rejecting_a_text_is_announced() {
    let mut harness = Begin::at(Place::new("me")).size(120, 24).accessible().open();
    harness.reply("GET /user", user(1, "ada")).reply("GET /user/keys", json!([])).settle().await;
    harness.press("2").settle().await.press("+ C-u");
    harness.send(Msg::Paste("-----BEGIN OPENSSH PRIVATE KEY-----\n".into()));
    harness.hears("error This is a private key");
}

#[tokio::test]
async fn a_query_is_announced_with_its_error() {
    let mut harness = Begin::at(Place::new("mrs").project("a/b")).accessible().open();
    harness.reply("GET /projects/a%2Fb/merge_requests", json!([])).settle().await;
    harness.press("/").type_text("state:odd").hears("error").hears("state:odd");
}

#[tokio::test]
async fn the_reason_for_a_failed_form_is_announced() {
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
