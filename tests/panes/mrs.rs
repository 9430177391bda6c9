//! The list of merge requests.

use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

pub fn merge_request(iid: u64, title: &str, state: &str) -> Value {
    json!({
        "id": 1000 + iid, "iid": iid, "project_id": 7, "title": title, "state": state,
        "description": format!("Why **{title}** matters."),
        "created_at": "2026-06-13T12:00:00Z", "updated_at": "2026-06-15T09:00:00Z",
        "web_url": format!("http://demo.test/acme/rocket-ui/merge_requests/{iid}"),
        "source_branch": format!("feature/{iid}"), "target_branch": "main",
        "author": {"id": 2, "username": "bo"}, "labels": ["ui", "speed"], "user_notes_count": 3,
        "merge_status": "can_be_merged", "source_project_id": 7, "target_project_id": 7,
    })
}

const LIST: &str = "GET /projects/acme%2Frocket-ui/merge_requests";

fn place() -> Place {
    Place::new("mrs").project("acme/rocket-ui")
}

async fn open() -> Harness {
    let mut harness = Begin::at(place()).open();
    let rows =
        [merge_request(42, "Draw only visible rows", "opened"), merge_request(9, "Draft: Retry reads", "opened")];
    harness.reply(&format!("{LIST}?order_by=updated_at&state=opened"), rows);
    harness.reply(&format!("{LIST}?order_by=updated_at&state=merged"), [merge_request(40, "Theme keys", "merged")]);
    harness.settle().await;
    harness
}

#[tokio::test]
async fn open_ones_are_listed_first_with_what_matters() {
    let mut harness = open().await;
    let line = harness.line_with("Draw only visible rows");
    for part in ["●", "!42", "bo", "3h"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    harness.expect("draft Retry reads");
    let wide = harness.screen(160, 45);
    let line = wide.iter().find(|l| l.contains("!42")).cloned().unwrap_or_default();
    for part in ["feature/42", "bo", "3 notes"] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[tokio::test]
async fn a_wide_screen_shows_the_description_of_the_selected_one() {
    let mut harness = open().await;
    harness.expect_no("matters.");
    harness.resize(160, 45).settle().await;
    harness.expect("Why Draw only visible rows matters.");
    harness.press("j").settle().await;
    harness.expect("Why Draft: Retry reads matters.");
}

#[tokio::test]
async fn tabs_choose_the_state_and_the_filter_is_the_server_s() {
    let mut harness = open().await;
    harness.press("2").settle().await;
    harness.expect("Theme keys").expect_no("Draw only");
    harness.press("1").settle().await;
    harness.press("/").type_text("rows").settle().await;
    let asked = "order_by=updated_at&search=rows&state=opened&page=1&per_page=100";
    assert!(harness.asked.iter().any(|l| l.ends_with(asked)), "{:?}", harness.asked);
    harness.reply(&format!("{LIST}?order_by=updated_at&search=rows&state=opened"), json!([])).settle().await;
    harness.press("Enter").expect("No merge request fits the filter.").press("Esc").expect("Draw only visible rows");
}

#[tokio::test]
async fn without_a_project_all_of_the_server_are_listed_with_theirs() {
    let mut harness = Begin::at(Place::new("mrs")).size(120, 30).open();
    harness.reply("GET /merge_requests", [merge_request(42, "Draw only visible rows", "opened")]).settle().await;
    assert!(harness.asked.iter().any(|l| l.contains("scope=all")), "{:?}", harness.asked);
    harness.expect("acme/rocket-ui").press("Enter");
    assert_eq!(harness.app.place(), Place::new("mr").project("acme/rocket-ui").item(42));
}

#[tokio::test]
async fn one_can_be_closed_and_its_branch_copied() {
    let mut harness = open().await;
    let closed = merge_request(42, "Draw only visible rows", "closed");
    harness.reply("PUT /projects/acme%2Frocket-ui/merge_requests/42", closed);
    harness.press("X").settle().await;
    harness.expect("Done: close !42");
    assert!(harness.asked.iter().any(|l| l.ends_with("state_event=close")), "{:?}", harness.asked);
    harness.press("y").type_text("checkout").press("Enter");
    assert_eq!(harness.copied, ["git fetch origin feature/42 && git switch feature/42"]);
}

#[tokio::test]
async fn a_second_click_opens_one() {
    let mut harness = open().await;
    harness.double_click_on("Retry reads");
    assert_eq!(harness.app.place(), Place::new("mr").project("acme/rocket-ui").item(9));
}
