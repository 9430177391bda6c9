//! Milestones of a project and of a group.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const AT: &str = "/projects/a%2Fb/milestones";

fn milestone(id: u64, title: &str, due: &str) -> Value {
    json!({"id": id, "iid": id, "project_id": 7, "title": title, "description": "Rows, *documents*.", "state": "active",
        "start_date": "2026-06-01", "due_date": due, "updated_at": "2026-06-15T09:00:00Z"})
}

fn issue(iid: u64, title: &str, state: &str) -> Value {
    fixtures::issue(iid, title, state).with(json!({"references": {"full": format!("a/b#{iid}")}}))
}

async fn open() -> Harness {
    let mut harness = Begin::at(Place::new("milestones").project("a/b")).size(140, 30).open();
    let group = milestone(9, "Winter break", "2027-01-04").with(json!({"group_id": 3}));
    let list = format!("GET {AT}?include_ancestors=true&state=active");
    harness.reply(&list, [milestone(4, "0.4", "2026-06-10"), group]);
    harness.reply(&format!("GET {AT}/4/issues"), [issue(38, "Columns", "opened"), issue(31, "Odd heights", "closed")]);
    harness.reply(&format!("GET {AT}/4/merge_requests"), json!([]));
    harness.reply("GET /groups/3/milestones/9/issues", json!([]));
    harness.reply("GET /groups/3/milestones/9/merge_requests", json!([]));
    harness.settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect()
}

#[tokio::test]
async fn milestones_show_their_dates_and_progress() {
    let mut harness = open().await;
    for words in ["0.4", "▰▰▱▱▱ 1/2", "2026-06-10", "3h"] {
        assert!(harness.line_with("3h").contains(words), "{words}\n{}", harness.picture());
    }
    assert!(harness.line_with("Winter break").contains("group"), "{}", harness.picture());
    harness.expect("past due").expect("1 of 2 closed").expect("#38 Columns").expect("Rows, documents.");
    harness.press("Enter");
    assert_eq!(harness.app.place(), Place::new("issues").project("a/b").query("state:all milestone:\"0.4\""));
    harness.press("q m");
    assert_eq!(harness.app.place(), Place::new("mrs").project("a/b").query("state:all milestone:\"0.4\""));
    harness.press("q Tab G k Enter");
    assert_eq!(harness.app.place(), Place::new("issue").project("a/b").item(31));
}

#[tokio::test]
async fn a_query_takes_states_as_they_are_shown() {
    let mut harness = open().await;
    let listed = |harness: &Harness| harness.asked.iter().rfind(|line| line.contains(AT)).cloned().unwrap_or_default();
    harness.expect("State          open");
    for (query, state) in [
        ("state:closed", "&state=closed"),
        ("state:open", "&state=active"),
        ("state:opened", "&state=active"),
        ("state:all", ""),
        ("state:active", "&state=active"),
    ] {
        harness.reply(&format!("GET {AT}?include_ancestors=true{state}"), [milestone(4, query, "2026-06-10")]);
        harness.press("/ C-u").type_text(query).press("Enter").settle().await;
        assert!(harness.shows(query) && !harness.shows("may be unknown"), "{}", harness.picture());
    }
    harness.press("/ C-u").type_text("winter title:\"Winter break\"").press("Enter").settle().await;
    assert!(
        listed(&harness).contains("include_ancestors=true&search=winter&state=active&title=Winter%20break"),
        "{}",
        listed(&harness)
    );
    // The tabs are the states.
    harness.press("/ C-u").type_text("state:closed").press("Enter").press("1").settle().await;
    assert_eq!(harness.app.place().query.as_deref(), Some("state:active"));
}

#[tokio::test]
async fn a_milestone_can_be_created_changed_closed_and_deleted() {
    let mut harness = open().await;
    harness.press("+").expect("New milestone in a/b").type_text("0.5").press("Tab Tab").type_text("2026-12-24");
    harness.reply(&format!("POST {AT}"), milestone(5, "0.5", "2026-12-24")).press("C-s").settle().await;
    harness.press("e").expect("Edit milestone 0.4").press("Tab C-u").press("C-s").settle().await;
    harness.press("Esc X").settle().await;
    harness.press("D").expect("Delete the milestone 0.4?").press("y");
    assert_eq!(
        sent(&harness),
        [
            format!("POST {AT} due_date=2026-12-24 title=0.5"),
            format!("PUT {AT}/4 start_date="),
            format!("PUT {AT}/4 state_event=close"),
            format!("DELETE {AT}/4"),
        ]
    );
    harness.press("j").settle().await;
    harness.expect("none").press("X");
    assert_eq!(sent(&harness).last().map(String::as_str), Some("PUT /groups/3/milestones/9 state_event=close"));
}

#[tokio::test]
async fn missing_support_is_reported_and_hostile_milestones_are_sanitized() {
    let mut harness = Begin::at(Place::new("milestones").group("acme")).size(100, 20).open();
    harness.unsupported("GET /groups/acme/milestones").settle().await;
    harness.expect("Not supported by this server");
    let mut harness = Begin::at(Place::new("milestones").group("acme")).size(120, 20).open();
    let mut evil = milestone(4, "E\u{1b}[31mvil\u{7}", "soon\u{202e}");
    evil["description"] = json!("a\u{1b}[2J\nb");
    harness.reply("GET /groups/acme/milestones", [evil]).fail("GET /groups/acme/milestones/4/issues", 403, "no");
    harness.settle().await;
    harness.expect("Not allowed");
    assert!(!harness.picture().contains(['\u{1b}', '\u{7}', '\u{202e}']));
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab j z k z");
    }
}

#[tokio::test]
async fn a_milestone_can_be_created_on_a_real_server() {
    let server = demo().await;
    let place = Place::new("milestones").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(140, 30).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("A frame costs what the screen costs").expect("0 of 1 closed").expect("#38 Columns collide");
    app.press("+").type_text("0.5").press("C-s").until("0.5").await;
    app.settle().await;
    app.press("g g Enter").settle().await;
    app.expect("milestone:\"0.4\"").expect("Columns collide");
    server.stop().await;
}
