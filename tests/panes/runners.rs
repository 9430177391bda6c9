//! Runners, what they do, and who may see them.

use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

fn runner(id: u64, name: &str, status: &str, active: bool) -> Value {
    json!({"id": id, "description": name, "active": active, "is_shared": id == 1, "status": status, "online": true})
}

async fn open(width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(Place::new("runners")).size(width, height).open();
    let mut detail = runner(3, "mill-3", "online", true);
    detail["tag_list"] = json!(["rust", "linux"]);
    detail["version"] = json!("15.8.0");
    detail["contacted_at"] = json!("2026-06-15T11:57:00Z");
    let job = json!({"id": 1207, "name": "bench", "status": "running", "started_at": "2026-06-15T11:59:00Z",
        "project": {"id": 7, "path_with_namespace": "acme/rocket-ui"}});
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
async fn runners_show_their_state_and_what_they_do() {
    let mut harness = open(140, 30).await;
    for words in ["● online", "○ paused", "mill-3", "rust linux", "15.8.0", "3m", "1 running", "#1207 bench", "1m00s"]
    {
        harness.expect(words);
    }
    harness.pass(1);
    harness.expect("1m01s");
    harness.press("Enter Enter");
    assert_eq!(harness.app.place().item.as_deref(), Some("1207"));
}

#[tokio::test]
async fn pausing_and_tags_are_one_key_and_removing_asks() {
    let mut harness = open(80, 24).await;
    harness.press("P");
    assert!(harness.asked.iter().any(|line| line == "PUT /runners/3 active=false"), "{:?}", harness.asked);
    harness.press("t").type_text(", gpu").press("Enter");
    let line = harness.asked.iter().find(|line| line.contains("gpu")).expect("a change of tags");
    assert!(line.contains("rust") && line.contains("linux"), "{line}");
    harness.press("Delete");
    harness.expect("Remove runner #3 mill-3?");
}

#[tokio::test]
async fn all_runners_are_for_administrators_and_it_says_so() {
    let mut harness = open(80, 24).await;
    harness.press("2").settle().await;
    harness.expect("shown to its administrators alone").expect_no("403");
}

#[tokio::test]
async fn no_size_is_too_small() {
    let mut harness = open(160, 40).await;
    for (width, height) in [(44, 12), (80, 14), (100, 12), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab j z k z").resize(width, height);
    }
}

#[tokio::test]
async fn the_screen() {
    insta::assert_snapshot!("runners_160", open(160, 30).await.picture());
}
