//! The test report of a pipeline: failures first, their source, and servers without reports.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const PIPELINE: &str = "GET /projects/acme%2Frocket-ui/pipelines/319";

fn case(name: &str, status: &str, said: Value) -> Value {
    json!({"name": name, "classname": "table", "status": status, "execution_time": 0.5, "system_output": said})
}

fn report() -> Value {
    let mut fails = case("narrow", "failed", json!("the last column has gone\n\nat tests/table.rs:22"));
    fails["recent_failures"] = json!({"count": 3, "base_branch": "main"});
    let cases = [
        case("passes", "success", Value::Null),
        fails,
        case("later", "skipped", json!({"message": "not yet"})),
        case("odd", "quite_new", Value::Null),
    ];
    json!({"total_count": 4, "test_suites": [{"name": "screens", "test_cases": cases}]})
}

fn pipeline(status: &str) -> Value {
    fixtures::pipeline(319, "feature/rows", status).with(json!({"sha": format!("{:0>40}", 9)}))
}

fn place() -> Place {
    Place::new("tests").project("acme/rocket-ui").item(319)
}

async fn open() -> Harness {
    let mut harness = Begin::at(place()).size(120, 30).open();
    harness.reply(PIPELINE, pipeline("failed")).reply(&format!("{PIPELINE}/test_report"), report());
    harness.settle().await;
    harness
}

#[tokio::test]
async fn failures_come_first_and_enter_opens_their_source_at_the_commit() {
    let mut harness = open().await;
    harness.expect("4 tests · 1 failed · 2 skipped").expect("screens: table").expect("the last column has gone");
    harness.expect("Failed 3 times recently on main.").expect("not yet").expect("quite_new");
    let first = |word: &str| harness.picture().find(word).unwrap();
    assert!(first("narrow") < first("passes"), "{}", harness.picture());
    harness.press("Enter");
    let files = harness.app.place();
    assert_eq!((files.pane.as_ref(), files.line, files.path.as_deref()), ("files", Some(22), Some("tests/table.rs")));
    assert_eq!(files.git_ref, Some(format!("{:0>40}", 9).into()));
}

#[tokio::test]
async fn tests_that_failed_before_are_marked_from_recent_reports() {
    let report_of = |id: u64| format!("GET /projects/acme%2Frocket-ui/pipelines/{id}/test_report");
    let outcome = |narrow: &str, wide: &str| {
        let cases =
            [case("narrow", narrow, Value::Null), case("wide", wide, Value::Null), case("old", "failed", Value::Null)];
        json!({"test_suites": [{"name": "screens", "test_cases": cases}]})
    };
    let mut harness = Begin::at(place()).size(140, 30).open();
    let cases = ["narrow", "wide", "old", "fresh"].map(|name| case(name, "failed", json!("it broke")));
    let now = json!({"test_suites": [{"name": "screens", "test_cases": cases}]});
    harness.reply(PIPELINE, pipeline("failed")).reply(&report_of(319), now);
    let recent =
        [(320, "success"), (319, "failed"), (318, "failed"), (317, "canceled"), (316, "success"), (315, "success")];
    let recent = recent.map(|(id, status)| fixtures::pipeline(id, "main", status));
    harness.reply("GET /projects/acme%2Frocket-ui/pipelines?scope=finished", recent);
    harness.reply(&report_of(318), outcome("failed", "success")).reply(&report_of(316), outcome("success", "success"));
    // One that cannot be read does not count.
    harness.fail(&report_of(315), 403, "403 Forbidden").settle().await;
    let line = |name: &str| harness.line_with(&format!(" {name} "));
    assert!(line("narrow").contains("flaky: 1 of the last 2"), "{}", harness.picture());
    assert!(line("wide").contains("new failure"), "{}", harness.picture());
    assert!(line("old").contains("failed in all of the last 2"), "{}", harness.picture());
    assert!(line("fresh").contains("new test"), "{}", harness.picture());
    harness.resize(80, 24).expect("flaky: 1 of the last 2");
    assert!(!harness.asked.iter().any(|line| line.contains("/320/") || line.contains("/317/")), "{:?}", harness.asked);
}

#[tokio::test]
async fn a_test_can_be_filtered_expanded_and_left() {
    let mut harness = open().await;
    harness.press("/").type_text("passes").press("Enter x").expect_no("narrow");
    harness.press("Esc").expect("narrow").press("e x").expect("at tests/table.rs:22").press("Esc");
    harness.press("p");
    assert_eq!(harness.app.place(), Place::new("jobs").project("acme/rocket-ui").item(319));
}

#[tokio::test]
async fn missing_test_reports_are_explained() {
    let mut harness = Begin::at(place()).open();
    harness.reply(PIPELINE, pipeline("failed")).unsupported(&format!("{PIPELINE}/test_report")).settle().await;
    harness.expect("This server has no test reports of pipelines.");
    let mut harness = Begin::at(place()).open();
    harness.reply(PIPELINE, pipeline("failed")).reply(&format!("{PIPELINE}/test_report"), json!({})).settle().await;
    harness.expect("This pipeline has no test report.");
    let mut harness = Begin::at(place()).open();
    harness.reply(PIPELINE, pipeline("failed")).fail(&format!("{PIPELINE}/test_report"), 403, "403 Forbidden");
    harness.settle().await;
    harness.expect("403 Forbidden").resize(20, 6);
    harness.press("Tab j e E x z");
}

async fn jobs(summary: impl Fn(&mut Harness)) -> Harness {
    let pipeline_of_job = json!({"id": 319, "ref": "feature/rows", "sha": "9f3c2ab0", "status": "failed"});
    let job = fixtures::job(21, "unit", "failed").with(json!({"pipeline": pipeline_of_job}));
    let mut harness = Begin::at(Place::new("jobs").project("acme/rocket-ui").item(319)).size(120, 30).open();
    harness.reply(&format!("{PIPELINE}/jobs"), [job]).reply(PIPELINE, pipeline("failed"));
    summary(&mut harness);
    harness.settle().await;
    harness
}

const SUMMARY: &str = "GET /projects/acme%2Frocket-ui/pipelines/319/test_report_summary";

#[tokio::test]
async fn the_header_of_a_pipeline_summarizes_its_tests() {
    let reply = json!({"total": {"time": 1.5, "count": 28, "success": 26, "failed": 1, "skipped": 1},
        "test_suites": [{"name": "unit", "total_count": 26}, {"name": "scr\u{1b}eens", "failed_count": 1}]});
    let mut harness = jobs(|harness| _ = harness.reply(SUMMARY, reply.clone())).await;
    harness.expect("28 tests · 1 failed · 1 skipped · 1.5s in scr").expect("unit");
    assert!(!harness.picture().contains('\u{1b}'));
    harness.reply(&format!("{PIPELINE}/test_report"), report()).press("t").settle().await;
    assert_eq!(harness.app.place(), place());
}

#[tokio::test]
async fn jobs_are_shown_without_a_test_summary() {
    jobs(|harness| _ = harness.unsupported(SUMMARY))
        .await
        .expect("unit")
        .expect("feature/rows")
        .expect_no("test report");
    jobs(|harness| _ = harness.fail(SUMMARY, 403, "403 Forbidden")).await.expect("unit").expect("test report: 403");
    jobs(|harness| _ = harness.reply(SUMMARY, json!({}))).await.expect("unit").expect_no("0 tests");
}

#[tokio::test]
async fn the_demo_has_a_failing_test_and_its_source() {
    let server = demo().await;
    let list = Place::new("pipelines").project("acme/rocket-ui").query("ref:fix/narrow-columns");
    let mut app = Begin::at(list).size(140, 40).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.press("Enter").settle().await;
    app.expect("28 tests · 1 failed · 1 skipped").expect("in screens").press("t").settle().await;
    app.expect("a_narrow_terminal_is_not_a_panic").expect("tests/table.rs:22");
    app.press("Enter").expect("Open source location").press("Enter").settle().await;
    assert_eq!(app.app.place().pane, "files");
    server.stop().await;
}
