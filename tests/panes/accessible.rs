//! Accessible mode: the content of the cursor's line after a key press.

use crate::fixtures::user;
use crate::harness::{Begin, Harness};
use crate::monkey::place_of;
use crate::served::demo;
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::panes::PANES;
use ratatui::buffer::{Buffer, Cell};
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

/// Returns what a terminal would be sent to get from one frame to the next: the rows with cells that differ.
fn written(before: &Buffer, after: &Harness) -> Vec<String> {
    let (old, new) = (before.content(), after.buffer().content());
    let width = usize::from(after.size().0);
    let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned();
    let rows = old.chunks(width).zip(new.chunks(width)).enumerate().filter(|(_, (old, new))| old != new);
    rows.map(|(y, (old, new))| format!("{y}: {:?} to {:?}", row(old), row(new))).collect()
}

/// fenrir 2026.0.9 reads the row of the cursor only if a key changed no other text, and yasr 0.6.9 reads all that is
/// written. So a key that moves the selection moves the cursor, and no more.
#[tokio::test]
async fn a_key_that_moves_the_selection_writes_no_cell() {
    let server = demo().await;
    let mut wrong = Vec::new();
    for entry in PANES {
        // One list opens all kinds of overlays.
        let overlays =
            if entry.place.id == "mrs" { &["", "?", "a", ":", "C-p", "y", "s", "L", "+"][..] } else { &[""] };
        for overlay in overlays {
            let begin = Begin::at(place_of(entry.place.id)).size(80, 40).accessible();
            let mut app = begin.server(&server.base_url, server.token()).open();
            app.settle().await;
            if !overlay.is_empty() {
                let before = app.buffer().clone();
                app.press(overlay).settle().await;
                assert!(written(&before, &app).len() > 5, "{overlay} opens nothing");
            }
            // What the rows need is read when they are first visited.
            for key in ["Down", "Down", "Up", "Up"] {
                app.press(key).settle().await;
            }
            for key in ["Down", "Up"] {
                let before = app.buffer().clone();
                app.press(key).settle().await;
                let written = written(&before, &app);
                if !written.is_empty() {
                    wrong.push(format!("{} {overlay} {key}:\n  {}", entry.place.id, written.join("\n  ")));
                }
            }
            let before = app.buffer().clone();
            app.pass(1).settle().await.pass(2).settle().await;
            let written = written(&before, &app);
            if !written.is_empty() {
                wrong.push(format!("{} {overlay} idle:\n  {}", entry.place.id, written.join("\n  ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn a_message_is_heard_until_the_next_key() {
    let mut harness = projects().await;
    harness.press("y").settle().await.press("Enter").hears("Copied").press("Down").hears("acme/rocket");
    harness.expect("Copied");
}
