//! Mouse clicks on key hints, breadcrumbs, tabs, column titles, and the keys of a pending chord.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use crossterm::event::{MouseButton, MouseEventKind};
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::app::tone::Tone;
use serde_json::{Value, json};

fn project(id: u64, path: &str, stars: u64, active: &str) -> Value {
    fixtures::project(id, path).with(json!({"star_count": stars, "last_activity_at": active}))
}

async fn branches() -> Harness {
    let mut harness = Begin::at(Place::new("branches").project("acme/tools/cli")).size(100, 20).open();
    harness
        .reply("GET /projects/acme%2Ftools%2Fcli", project(7, "acme/tools/cli", 0, "2026-06-15T00:00:00Z"))
        .reply("GET /projects/acme%2Ftools%2Fcli/repository/branches", [json!({"name": "main"}), json!({"name": "b"})])
        .settle()
        .await;
    harness
}

#[tokio::test]
async fn a_click_on_a_key_hint_runs_its_command() {
    let mut harness = branches().await;
    harness.click_on("actions").expect("Create branch…").press("Esc");
    harness.click_on("? help").expect("Signs on this screen").press("Esc");
    harness.click_on("/ filter").type_text("b").expect("/b").press("Esc").settle().await;
    harness.click_on("H commits").settle().await;
    assert_eq!(
        harness.app.place(),
        Place::new("commits").project("acme/tools/cli").at(labscope::api::GitRef::branch("main"))
    );
}

/// What covers rows, such as the greeting and a long message, is read by then.
#[tokio::test]
async fn a_click_removes_a_message_as_a_key_does() {
    for button in [MouseButton::Left, MouseButton::Right] {
        let mut harness = branches().await;
        harness.send(Msg::Say(Tone::Bad, "it is too long ".repeat(9)));
        harness.expect("long it is too long it is too long it is").pass(1);
        let rows = |harness: &Harness| harness.lines().iter().filter(|line| line.contains("is too long")).count();
        assert_eq!(rows(&harness), 2, "{}", harness.picture());
        harness.mouse(MouseEventKind::Down(button), 2, 10);
        assert!(rows(&harness) < 2, "{}", harness.picture());
    }
}

#[tokio::test]
async fn the_keys_of_a_pending_chord_can_be_clicked() {
    let mut harness = branches().await;
    harness.press("g").click_on("Go to tags").settle().await;
    assert_eq!(harness.app.place().pane, "tags");
    // The first key of the chord is no longer pending.
    harness.press("g g");
    assert_eq!(harness.app.place().pane, "tags");
}

#[tokio::test]
async fn a_click_on_a_breadcrumb_opens_that_place() {
    let mut harness = branches().await;
    harness.click_on("acme / tools").settle().await;
    assert_eq!(harness.app.place(), Place::new("groups").group("acme/tools"));
    let mut harness = branches().await;
    harness.click_on("cli").settle().await;
    assert_eq!(harness.app.place(), Place::new("files").project("acme/tools/cli"));
    // Clicking the open place changes nothing.
    let before = harness.lines();
    harness.click_on("cli").settle().await;
    assert_eq!(harness.lines(), before);
    // The ref can be clicked from a place below it; the rest of the line does nothing.
    let mut harness = Begin::at(Place::new("commits").project("acme/tools/cli").at("topic")).size(100, 20).open();
    harness.settle().await;
    harness.mouse(MouseEventKind::Down(MouseButton::Left), 98, 0);
    assert_eq!(harness.app.place().pane, "commits");
    harness.click_on("topic").settle().await;
    assert_eq!(harness.app.place(), Place::new("files").project("acme/tools/cli").at("topic"));
}

#[tokio::test]
async fn a_click_on_a_tab_shows_it_even_if_not_all_tabs_fit() {
    for width in [44, 100] {
        let mut harness = Begin::at(Place::new("projects")).size(width, 20).open();
        harness.reply("GET /projects", json!([])).settle().await;
        harness.click_on("Starred").settle().await;
        assert_eq!(harness.app.place().tab.as_deref(), Some("starred"), "{}", harness.picture());
    }
}

#[tokio::test]
async fn a_click_on_a_column_title_sorts_dates_newest_first_and_others_ascending() {
    let mut harness = Begin::at(Place::new("hooks")).size(140, 20).open();
    let hook =
        |id: u64, name: &str, made: &str| json!({"id": id, "url": format!("http://{name}.test"), "created_at": made});
    harness
        .reply("GET /user", json!({"id": 1, "username": "root", "name": "Root", "is_admin": true}))
        .reply("GET /hooks", [hook(1, "b", "2026-06-01T00:00:00Z"), hook(2, "a", "2026-06-10T00:00:00Z")])
        .settle()
        .await;
    let order = |harness: &Harness| {
        let at = |words: &str| harness.lines().iter().position(|line| line.contains(words)).expect("a row");
        if at("5d │") < at("2w │") { "a b" } else { "b a" }
    };
    assert_eq!(order(&harness), "b a");
    harness.click_on("Created").settle().await;
    assert_eq!(order(&harness), "a b", "newest first\n{}", harness.picture());
    harness.click_on("Created").settle().await;
    assert_eq!(order(&harness), "b a", "then oldest first");
    harness.click_on("URL").settle().await;
    assert_eq!(order(&harness), "a b");
}

/// Returns the column of the scroll bar, and the first and the last row of its thumb.
fn bar(harness: &Harness) -> (u16, u16, u16) {
    let lines = harness.lines();
    let column = lines.iter().find_map(|line| line.chars().position(|c| c == '▐')).expect("a scroll bar");
    let is_thumb = |line: &&String| line.chars().nth(column) == Some('▐');
    let first = lines.iter().position(|line| is_thumb(&line)).expect("a scroll bar");
    let rows = lines.iter().skip(first).take_while(is_thumb).count();
    (column as u16, first as u16, (first + rows - 1) as u16)
}

/// Drags the thumb of the scroll bar by some rows, one after the other.
fn drag_bar(harness: &mut Harness, rows: i16) {
    let (column, first, _) = bar(harness);
    harness.mouse(MouseEventKind::Down(MouseButton::Left), column, first);
    for by in 1..=rows.unsigned_abs() {
        let row = first.saturating_add_signed(by as i16 * rows.signum());
        harness.mouse(MouseEventKind::Drag(MouseButton::Left), column, row);
    }
    harness.mouse(MouseEventKind::Up(MouseButton::Left), column, 0);
}

#[tokio::test]
async fn the_thumb_of_a_scroll_bar_can_be_dragged_in_lists_documents_and_overlays() {
    // A list.
    let mut harness = Begin::at(Place::new("projects")).size(80, 24).open();
    let rows: Vec<_> = (0..90).map(|n| project(n, &format!("acme/p{n}"), 0, "2026-06-15T00:00:00Z")).collect();
    harness.reply("GET /projects", rows).settle().await;
    let (_, first, _) = bar(&harness);
    harness.expect("acme/p0 ");
    drag_bar(&mut harness, 4);
    harness.expect_no("acme/p0 ");
    assert_eq!(bar(&harness).1, first + 4, "{}", harness.picture());
    drag_bar(&mut harness, 30);
    harness.expect("acme/p89 ").expect_no("acme/p60 ");
    drag_bar(&mut harness, -30);
    harness.expect("acme/p0 ");
    // A press below the thumb moves it there, and a movement without a press nothing.
    let (column, _, last) = bar(&harness);
    harness.mouse(MouseEventKind::Down(MouseButton::Left), column, last + 8);
    harness.mouse(MouseEventKind::Up(MouseButton::Left), column, last + 8);
    harness.expect_no("acme/p0 ");
    let before = harness.lines();
    harness.mouse(MouseEventKind::Drag(MouseButton::Left), column, 4);
    assert_eq!(harness.lines(), before);

    // An overlay above it: its own bar, not the one below.
    harness.press(":").expect("Command");
    let here = harness.app.place();
    harness.expect("mrs  Merge requests");
    drag_bar(&mut harness, 3);
    harness.expect_no("mrs  Merge requests");
    drag_bar(&mut harness, -3);
    harness.expect("mrs  Merge requests").press("Esc");
    assert_eq!(harness.app.place(), here);

    // A form, whose fields do not all fit.
    harness.press("+").expect("Name *");
    drag_bar(&mut harness, 20);
    harness.expect_no("Name *");
    drag_bar(&mut harness, -20);
    harness.expect("Name *").press("Esc Esc");

    // A document.
    let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(80, 24).open();
    let text: String = (0..300).map(|n| format!("line {n}.\n\n")).collect();
    let issue = fixtures::issue(7, "It is long", "opened").with(json!({"description": text}));
    harness.reply("GET /projects/a%2Fb/issues/7", issue).reply("GET /projects/a%2Fb/issues/7/notes", json!([]));
    harness.settle().await;
    harness.expect("line 0.");
    drag_bar(&mut harness, 30);
    harness.expect("No comments").expect_no("line 200.");
    drag_bar(&mut harness, -30);
    harness.expect("line 0.");
}

#[tokio::test]
async fn a_press_on_the_scroll_bar_of_a_selection_runs_nothing() {
    let mut harness = branches().await;
    let before = harness.app.place();
    harness.resize(100, 20).press(":").expect("Places");
    let (column, row, _) = bar(&harness);
    for row in [row, row + 4] {
        harness.mouse(MouseEventKind::Down(MouseButton::Left), column, row);
        harness.mouse(MouseEventKind::Drag(MouseButton::Left), column, row + 1);
        harness.mouse(MouseEventKind::Up(MouseButton::Left), column, row + 1);
        bar(&harness);
    }
    assert_eq!(harness.app.place(), before);
    assert!(harness.asked.iter().all(|line| line.starts_with("GET")), "{:?}", harness.asked);
}
