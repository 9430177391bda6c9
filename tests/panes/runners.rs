//! Runners, their jobs, and who may see them.

use crate::fixtures::{With, job, project};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

fn runner(id: u64, name: &str, status: &str, active: bool) -> Value {
    json!({"id": id, "description": name, "active": active, "is_shared": id == 1, "status": status, "online": true})
}

async fn open(width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(Place::new("runners")).size(width, height).open();
    let facts = json!({"tag_list": ["rust", "linux"], "version": "15.8.0", "contacted_at": "2026-06-15T11:57:00Z"});
    let detail = runner(3, "mill-3", "online", true).with(facts);
    let started = json!({"started_at": "2026-06-15T11:59:00Z", "project": project(7, "acme/rocket-ui")});
    let job = job(1207, "bench", "running").with(started);
    harness
        .reply("GET /runners", [runner(3, "mill-3", "online", true), runner(4, "attic", "offline", false)])
        .reply("GET /runners/3", detail)
        .reply("GET /runners/3/jobs", [job])
        .fail("GET /runners/all", 403, "403 Forbidden")
        .settle()
        .await;
    harness
}

#[tokio::test]
async fn runners_show_their_state_and_jobs() {
    let mut harness = open(140, 30).await;
    for words in ["● online", "‖ paused", "mill-3", "rust linux", "15.8.0", "3m", "1 running", "#1207 bench", "1m 00s"]
    {
        harness.expect(words);
    }
    harness.pass(1);
    harness.expect("1m 01s");
    harness.press("Enter Enter");
    assert_eq!(harness.app.place().item.as_deref(), Some("1207"));
}

#[tokio::test]
async fn all_visible_runners_show_their_version() {
    let mut harness = Begin::at(Place::new("runners")).size(140, 60).open();
    let runners: Vec<Value> = (1..=30).map(|id| runner(id, &format!("mill-{id}"), "online", true)).collect();
    for listed in &runners {
        harness.reply(&format!("GET /runners/{}", listed["id"]), listed.clone().with(json!({"version": "18.5.1"})));
    }
    harness.reply("GET /runners", runners).settle().await;
    harness.pass(1).settle().await;
    let versions = harness.lines().iter().filter(|line| line.contains("mill-") && line.contains("18.5.1")).count();
    assert_eq!(versions, 30, "{:#?}", harness.lines());
}

#[tokio::test]
async fn details_that_were_missing_are_asked_for_again_by_a_refresh() {
    let mut harness = open(140, 30).await;
    harness.fail("GET /runners/3", 404, "404 Not found").press("r").settle().await;
    harness.pass(30).expect("Not found: 404 Not found");
    harness.reply("GET /runners/3", runner(3, "mill-3", "online", true)).press("r").settle().await;
    harness.expect_no("Not found").expect("mill-3");
}

/// The list of runners lacks the time of the last contact, which is read one runner at a time.
#[tokio::test]
async fn the_last_contact_does_not_sort_runners() {
    let mut harness = open(140, 30).await;
    harness.click_on("Contact").expect("Last contact is not sortable");
}

#[tokio::test]
async fn an_empty_list_of_jobs_names_the_status_that_filters_it() {
    let mut harness = open(140, 30).await;
    harness.reply("GET /runners/3/jobs", json!([]));
    harness.press("f").settle().await;
    harness.pass(1).settle().await;
    harness.expect_no("has not run any jobs").expect("No jobs with the status");
}

#[tokio::test]
async fn pausing_and_tagging_take_one_key_and_removing_asks() {
    let mut harness = open(80, 24).await;
    harness.reply("PUT /runners/3", runner(3, "mill-3", "paused", false));
    harness.press("P").settle().await;
    assert!(harness.asked.iter().any(|line| line == "PUT /runners/3 active=false"), "{:?}", harness.asked);
    harness.expect("Paused runner #3 mill-3. P lets it take jobs again");
    harness.press("t").type_text(", gpu").press("Enter");
    let line = harness.asked.iter().find(|line| line.contains("gpu")).expect("a change of tags");
    assert!(line.contains("rust") && line.contains("linux"), "{line}");
    harness.press("Delete");
    harness.expect("Remove runner #3 mill-3?");
}

#[tokio::test]
async fn the_list_of_all_runners_needs_an_administrator() {
    let mut harness = open(80, 24).await;
    harness.press("2").settle().await;
    harness.expect("Only administrators can list").expect("403");
}

#[tokio::test]
async fn a_runner_can_be_edited_and_only_changes_are_sent() {
    let mut harness = open(100, 30).await;
    harness.press("e").settle().await;
    for words in ["Description", "Tags", "Untagged jobs", "Locked", "Access", "Active", "rust, linux"] {
        harness.expect(words);
    }
    harness.type_text("!").press("C-s").settle().await;
    let line = harness.asked.iter().find(|line| line.starts_with("PUT /runners/3")).expect("a change");
    assert_eq!(line, "PUT /runners/3 description=mill-3!", "only what changed is sent");
}

#[tokio::test]
async fn a_query_sends_the_scope_and_filters_by_type_status_and_tag() {
    let mut harness = open(100, 30).await;
    harness.reply("GET /runners/4", runner(4, "attic", "offline", false)).settle().await;
    harness.press("/").type_text("tag:rust").press("Enter").settle().await;
    harness.expect("mill-3").expect_no("attic").expect("1 of 2").press("Esc").settle().await;
    harness.press("/").type_text("status:paused").press("Enter").settle().await;
    harness.expect("attic").press("Esc").settle().await;
    harness.reply("GET /runners?scope=online", [runner(3, "mill-3", "online", true)]);
    harness.press("/").type_text("scope:online").press("Enter").settle().await;
    assert!(harness.asked.iter().any(|line| line.starts_with("GET /runners?scope=online")), "{:?}", harness.asked);
    harness.expect_no("attic").press("Esc").press("/").type_text("scope:shared");
    harness.expect("may be unknown to the server; known are active, paused, online");
}

async fn in_project(projects: &[&str]) -> Harness {
    let mut harness = Begin::at(Place::new("runners").project("acme/rocket-ui")).size(100, 30).open();
    let mut detail = runner(3, "mill-3", "online", true);
    let briefs: Vec<Value> = projects.iter().map(|path| json!({"id": 7, "path_with_namespace": path})).collect();
    detail["projects"] = json!(briefs);
    harness
        .reply("GET /projects/acme%2Frocket-ui/runners", [runner(3, "mill-3", "online", true)])
        .reply("GET /runners/3", detail)
        .reply("GET /runners/3/jobs", json!([]))
        .reply("GET /runners", [runner(3, "mill-3", "online", true), runner(5, "anvil", "online", true)])
        .reply("GET /runners/5", runner(5, "anvil", "online", true))
        .settle()
        .await;
    harness
}

#[tokio::test]
async fn a_runner_that_serves_a_project_is_not_offered_whatever_names_the_project() {
    for project in ["7", "acme/rocket-ui", "Acme/Rocket-UI"] {
        let mut harness = Begin::at(Place::new("runners").project(project)).size(100, 30).open();
        let mut detail = runner(3, "mill-3", "online", true);
        detail["projects"] = json!([{"id": 7, "path_with_namespace": "acme/rocket-ui"}]);
        let list = format!("GET /projects/{}/runners", project.replace('/', "%2F"));
        harness
            .reply(&list, [runner(3, "mill-3", "online", true)])
            .reply("GET /runners/3", detail)
            .reply("GET /runners/3/jobs", json!([]))
            .reply("GET /runners", [runner(3, "mill-3", "online", true)])
            .settle()
            .await;
        harness.press("+").settle().await;
        harness.type_text("mill").press("Enter").expect("it serves this project already");
        assert!(!harness.asked.iter().any(|line| line.starts_with("POST")), "{:?}", harness.asked);
    }
}

#[tokio::test]
async fn a_runner_can_be_enabled_and_disabled_in_a_project() {
    let mut harness = in_project(&["acme/rocket-ui", "acme/other"]).await;
    harness.press("D");
    harness.expect("Disable runner #3 mill-3 in acme/rocket-ui?").press("y");
    let disabled = "DELETE /projects/acme%2Frocket-ui/runners/3";
    assert!(harness.asked.iter().any(|line| line == disabled), "{:?}", harness.asked);
    harness.press("+").settle().await;
    harness.expect("Enable in acme/rocket-ui").expect("anvil").type_text("anvil").press("Enter");
    let enabled = "POST /projects/acme%2Frocket-ui/runners runner_id=5";
    assert!(harness.asked.iter().any(|line| line == enabled), "{:?}", harness.asked);
    let mut harness = in_project(&["acme/rocket-ui"]).await;
    harness.press("D");
    harness.expect("It serves acme/rocket-ui alone; Delete removes it instead").expect_no("Disable runner #3");
}

#[tokio::test]
async fn jobs_of_a_runner_can_be_filtered_by_status() {
    let mut harness = open(140, 30).await;
    harness.press("f").settle().await;
    assert!(harness.asked.iter().any(|line| line.starts_with("GET /runners/3/jobs?status=running")));
    harness.expect("jobs: running");
}

#[tokio::test]
async fn the_runners_can_be_drawn_at_any_size() {
    let mut harness = open(160, 40).await;
    for (width, height) in [(44, 12), (80, 14), (100, 12), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab j z k z").resize(width, height);
    }
}

#[tokio::test]
async fn the_runners_screen_matches_its_snapshot() {
    insta::assert_snapshot!("runners_160", open(160, 30).await.picture());
}
