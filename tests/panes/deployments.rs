//! Deployments: environments, their history, and a single deployment.

use crate::fixtures::deployment;
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

/// The fixed time of all tests, in seconds since the epoch.
const NOW: i64 = 1_781_524_800;
const LIST: &str = "GET /projects/acme%2Frocket-ui/deployments";

fn all() -> Vec<Value> {
    vec![
        deployment(3, "production", 'c', "failed"),
        deployment(2, "staging", 'b', "success"),
        deployment(1, "staging", 'a', "success"),
    ]
}

async fn open(width: u16, height: u16) -> Harness {
    let place = Place::new("deployments").project("acme/rocket-ui");
    let mut harness = Begin::at(place).size(width, height).open();
    harness.reply(LIST, all()).settle().await;
    harness
}

#[tokio::test]
async fn environments_history_and_details_are_shown_side_by_side() {
    let mut harness = open(180, 30).await;
    assert!(harness.asked.iter().any(|line| line.contains("order_by=id") && line.contains("sort=desc")));
    for words in ["Environments", "production", "staging", "✗ failed", "#103", "Draw only visible rows", "ada", "3h"]
    {
        harness.expect(words);
    }
    harness.expect("https://production.example.org").expect("#1003 to production");
    harness.press("h j j");
    harness.expect("2 of 3").expect("#102").expect("#101").expect_no("#103");
}

/// Nobody knows whether the job is still running.
#[tokio::test]
async fn a_narrow_list_shows_the_environments_of_deployments() {
    let harness = open(80, 24).await;
    let line = harness.line_with("▌");
    assert!(line.contains("production") || line.contains("staging"), "{}", harness.picture());
}

#[tokio::test]
async fn the_clock_of_a_job_stops_when_its_refresh_fails() {
    let mut harness = open(180, 30).await;
    let running = deployment(3, "production", 'c', "running");
    harness.reply(LIST, [&running]).reply(&format!("{LIST}/3"), &running).press("r").settle().await;
    harness.expect("running");
    assert!(harness.app.wake_at().is_some_and(|at| at.as_second() - NOW <= 1), "a clock runs");
    harness.fail(LIST, 403, "403 Forbidden").fail(&format!("{LIST}/3"), 403, "403 Forbidden");
    harness.press("r").settle().await;
    assert!(harness.app.wake_at().is_none_or(|at| at.as_second() - NOW > 1), "{}", harness.picture());
}

#[tokio::test]
async fn keys_open_the_job_the_commit_the_changes_and_the_web_page() {
    let mut harness = open(120, 30).await;
    harness.press("Enter");
    assert_eq!((harness.app.place().pane.as_str(), harness.app.place().item.as_deref()), ("job", Some("1003")));
    let mut harness = open(120, 30).await;
    harness.press("j d");
    let (a, b) = ("a".repeat(40), "b".repeat(40));
    assert_eq!(harness.app.place().item, Some(format!("{a}...{b}")));
    let mut harness = open(120, 30).await;
    harness.press("d");
    harness.expect("No earlier deployment to this environment");
    harness.press("V");
    assert_eq!(harness.browsed(), ["https://production.example.org"]);
    harness.press("S");
    assert_eq!(harness.app.place().pane, "commit");
}

#[tokio::test]
async fn a_deployment_given_by_id_is_shown_before_it_is_in_the_list() {
    let place = Place::new("deployments").project("acme/rocket-ui").item("9");
    let mut harness = Begin::at(place.clone()).size(180, 30).open();
    harness.reply(LIST, all()).reply(&format!("{LIST}/9"), deployment(9, "edge", 'd', "success")).settle().await;
    harness.expect("deployment #109").expect("https://edge.example.org");
    assert_eq!(harness.app.place(), place);
    harness.press("h j");
    harness.expect("deployment #102").expect_no("deployment #109");
    assert_eq!(harness.app.place().item, None);
}

#[tokio::test]
async fn sorting_is_done_by_the_server_and_text_filters_locally() {
    let mut harness = open(120, 30).await;
    harness.press("/").type_text("sort:created-asc").press("Enter").settle().await;
    assert!(harness.asked.iter().any(|line| line.contains("order_by=created_at") && line.contains("sort=asc")));
    harness.press("Esc /").type_text("staging").press("Enter").settle().await;
    harness.expect("2 of 3").expect_no("#103");
    harness.press("Esc /").type_text("sort:size");
    harness.expect("sort:size: may be unknown to the server; known are id, iid, created, ref");
}

#[tokio::test]
async fn missing_denied_and_empty_deployments_are_reported() {
    let place = || Place::new("deployments").project("acme/rocket-ui");
    let mut harness = Begin::at(place()).open();
    harness.reply(LIST, json!([])).settle().await;
    harness.expect("Nothing was deployed from this project yet");
    let mut harness = Begin::at(place()).open();
    harness.fail(LIST, 403, "403 Forbidden").settle().await;
    harness.expect("Not allowed");
    let mut harness = Begin::at(place()).open();
    harness.unreachable(LIST).settle().await;
    harness.expect("Server unreachable");
    // Optional parts are missing, and the texts are hostile.
    let bare = json!([{"id": 9, "iid": 9, "ref": "x\u{1b}[31m", "sha": "", "environment": null, "deployable": null,
        "user": null, "status": "blocked"}]);
    let mut harness = Begin::at(place()).size(160, 30).open();
    harness.reply(LIST, bare).settle().await;
    harness.expect("blocked").press("Enter");
    assert!(!harness.picture().contains('\u{1b}'));
    for (width, height) in [(20, 6), (40, 10), (80, 24), (120, 12), (10, 3)] {
        harness.resize(width, height).press("Tab j k Tab Tab");
    }
}

#[tokio::test]
async fn the_deployments_screen_matches_its_snapshot() {
    insta::assert_snapshot!("deployments_160", open(160, 24).await.picture());
}

#[tokio::test]
async fn a_blocked_deployment_shows_its_approvals() {
    let place = Place::new("deployments").project("acme/rocket-ui");
    let mut harness = Begin::at(place).size(180, 30).open();
    let mut blocked = deployment(3, "production", 'c', "manual");
    blocked["status"] = json!("blocked");
    let mut whole = blocked.clone();
    whole["pending_approval_count"] = json!(1);
    whole["approvals"] = json!([
        {"user": {"id": 2, "username": "bo"}, "status": "approved", "comment": "Fine", "created_at": "2026-06-15T09:30:00Z"},
        {"user": {"id": 3, "username": "cem"}, "status": "rejected", "created_at": "2026-06-15T09:40:00Z"},
    ]);
    harness.reply(LIST, [blocked]).reply(&format!("{LIST}/3"), whole).settle().await;
    harness.expect("blocked").expect("1 more needed").expect("approved by bo  Fine").expect("rejected by cem");
}
