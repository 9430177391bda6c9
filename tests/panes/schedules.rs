//! Schedules of pipelines.

use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const AT: &str = "/projects/a%2Fb/pipeline_schedules";

fn schedule(id: u64, description: &str, owner: &str) -> Value {
    json!({"id": id, "description": description, "ref": "refs/heads/main", "cron": "0 4 * * mon-fri",
        "cron_timezone": "Europe/Berlin", "next_run_at": "2026-06-16T04:00:00Z", "active": true,
        "owner": {"id": 1, "username": owner}})
}

async fn open(rows: Value) -> Harness {
    let mut harness = Begin::at(Place::new("schedules").project("a/b")).size(160, 30).open();
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "name": "Ada"}));
    harness.reply("GET /projects/a%2Fb", json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main"}));
    harness.reply(&format!("GET {AT}"), rows).settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect()
}

#[tokio::test]
async fn a_schedule_tells_when_it_runs_next_in_words() {
    let mut harness = open(json!([schedule(1, "Nightly", "ada")])).await;
    harness.expect("Europe/Berlin at 04:00 on Monday to Friday").expect("Tue 16 Jun").expect("main");
    // Two time zones are beside each other: both are named.
    harness.resize(100, 30).expect("Tue 16 Jun 04:00 UTC").expect("Europe/Berlin at");
    let paused = json!({"id": 2, "description": "Halted", "cron": "0 0 30 2 *", "active": false, "next_run_at": null});
    let never = json!({"id": 3, "description": "Never", "cron": "0 0 30 2 *", "active": true, "next_run_at": null});
    let odd = json!({"id": 4, "description": "\u{1b}[2Jodd", "cron": "every day at noon", "active": true});
    let mut harness = open(json!([paused, never, odd])).await;
    harness.expect("paused       Halted").expect("never fires  Never").expect("every day at noon");
    for (width, height) in [(60, 12), (20, 6), (10, 3), (300, 90)] {
        harness.resize(width, height).press("j Tab j");
    }
}

#[tokio::test]
async fn the_meaning_of_a_schedule_is_told_while_it_is_typed() {
    let mut harness = open(json!([])).await;
    harness.press("+").type_text("Weekly").press("Tab").type_text("0 0 30 2 *").expect("never fires");
    harness.press("C-s");
    assert!(sent(&harness).is_empty());
    harness.press("C-u").type_text("61 * * * *").expect("minute 0-59").press("C-u");
    harness.type_text("30 6 * * 1").expect("at 06:30 on Monday");
    harness.press("Tab C-u").type_text("UTC").reply(&format!("POST {AT}"), schedule(5, "Weekly", "ada"));
    harness.press("C-s").settle().await;
    assert_eq!(
        sent(&harness),
        [format!(
            "POST {AT} {{\"cron\":\"30 6 * * 1\",\"cron_timezone\":\"UTC\",\"description\":\"Weekly\",\"ref\":\"refs/heads/main\"}}"
        )]
    );
}

#[tokio::test]
async fn only_the_owner_changes_a_schedule() {
    let mut harness = open(json!([schedule(1, "Nightly", "bo"), schedule(2, "Own", "ada")])).await;
    harness.press("e").expect("It belongs to @bo").press("P").expect("It belongs to @bo").press("O");
    harness.expect("Take over the schedule Nightly from @bo").press("y").settle().await;
    harness.press("j O").expect("It is yours already").press("P").settle().await;
    harness.press("p").expect("with your rights").press("y").settle().await;
    harness.press("D").expect("Delete the schedule Own").press("y").settle().await;
    assert_eq!(
        sent(&harness),
        [
            format!("POST {AT}/1/take_ownership"),
            format!("PUT {AT}/2 {{\"active\":false}}"),
            format!("POST {AT}/2/play"),
            format!("DELETE {AT}/2"),
        ]
    );
}

#[tokio::test]
async fn variables_of_a_schedule_are_hidden_and_changed_one_by_one() {
    let mut harness = open(json!([schedule(1, "Nightly", "ada")])).await;
    let Value::Object(mut whole) = schedule(1, "Nightly", "ada") else { panic!("an object") };
    whole.insert("variables".into(), json!([{"key": "TOKEN", "value": "s3cret", "variable_type": "env_var"}]));
    whole.insert("inputs".into(), json!([{"name": "stage", "value": "blue"}]));
    harness.reply(&format!("GET {AT}/1"), whole).pass(1).settle().await;
    harness.expect("stage = blue").expect("TOKEN").expect_no("s3cret").press("v").settle().await;
    harness.expect("Variables of Nightly").expect_no("s3cret").press("v").expect("s3cret").press("v");
    harness.expect_no("s3cret").press("v").expect("s3cret").pass(9).expect("s3cret").pass(2).expect_no("s3cret");
    harness.press("e").expect("Edit variable TOKEN").expect_no("s3cret").type_text("x").press("Esc C-s").settle().await;
    harness.press("Esc D").expect("Delete the variable TOKEN").press("y").settle().await;
    harness.press("+").type_text("NEW").press("C-s").settle().await;
    assert_eq!(
        sent(&harness),
        [
            format!("PUT {AT}/1/variables/TOKEN value=s3cretx"),
            format!("DELETE {AT}/1/variables/TOKEN"),
            format!("POST {AT}/1/variables key=NEW value="),
        ]
    );
}

#[tokio::test]
async fn a_value_that_is_not_changed_keeps_its_last_line_break() {
    let mut harness = open(json!([schedule(1, "Nightly", "ada")])).await;
    let Value::Object(mut whole) = schedule(1, "Nightly", "ada") else { panic!("an object") };
    whole.insert("variables".into(), json!([{"key": "KEY", "value": "a\nb\n", "variable_type": "env_var"}]));
    harness.reply(&format!("GET {AT}/1"), whole).pass(1).settle().await.press("v").settle().await;
    harness
        .press("e")
        .expect("Edit variable KEY")
        .expect("variable")
        .press("Tab Right")
        .expect("file")
        .press("C-s")
        .settle()
        .await;
    assert_eq!(sent(&harness), [format!("PUT {AT}/1/variables/KEY value=a\nb\n variable_type=file")]);
}

#[tokio::test]
async fn inputs_are_edited_where_the_details_have_no_room() {
    let mut harness = open(json!([schedule(1, "Nightly", "ada")])).await;
    let Value::Object(mut whole) = schedule(1, "Nightly", "ada") else { panic!("an object") };
    whole.insert("inputs".into(), json!([{"name": "stage", "value": "blue"}]));
    harness.resize(80, 24).press("e").expect("Its inputs are still loading");
    harness.reply(&format!("GET {AT}/1"), whole).pass(1).settle().await;
    harness.expect_no("stage = blue").press("e").expect("stage=blue").press("Esc");
    // Without the details, the rest of the schedule can still be edited.
    let mut harness = open(json!([schedule(1, "Nightly", "ada")])).await;
    harness.resize(80, 24).fail(&format!("GET {AT}/1"), 403, "403 Forbidden").pass(1).settle().await;
    harness.press("e").expect("Edit schedule Nightly").expect_no("Inputs");
}

#[tokio::test]
async fn schedules_are_managed_on_a_real_server() {
    let server = demo().await;
    let place = Place::new("schedules").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(160, 40).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("Nightly benchmarks").expect("never fires").expect("at 03:00 every day").press("p y");
    app.until("Started schedule").await;
    app.settle().await;
    server.stop().await;
}
