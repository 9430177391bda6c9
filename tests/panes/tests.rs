//! The test report of a pipeline: failures first, their source, and servers without reports.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const PIPELINE: &str = "GET /projects/acme%2Frocket-ui/pipelines/319";
const SHA: &str = "0000000000000000000000000000000000000009";

/// Returns the request for a folder at the commit of the pipeline.
fn folder(path: &str) -> String {
    let path = if path.is_empty() { String::new() } else { format!("path={path}&") };
    format!("GET /projects/acme%2Frocket-ui/repository/tree?{path}ref={SHA}")
}

/// Returns the request for the whole tree at the commit of the pipeline.
fn whole_tree() -> String {
    format!("GET /projects/acme%2Frocket-ui/repository/tree?recursive=true&ref={SHA}")
}

fn files(paths: &[&str]) -> Vec<Value> {
    let file = |path: &&str| json!({"type": "blob", "path": path, "name": path.rsplit('/').next(), "id": "1"});
    paths.iter().map(file).collect()
}

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
    fixtures::pipeline(319, "feature/rows", status).with(json!({"sha": SHA}))
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
    harness.expect("failed 3 times on main").expect("not yet").expect("quite_new");
    let first = |word: &str| harness.picture().find(word).unwrap();
    assert!(first("narrow") < first("passes"), "{}", harness.picture());
    harness.reply(&folder("tests"), files(&["tests/table.rs"])).press("Enter").settle().await;
    let place = harness.app.place();
    assert_eq!((place.pane.as_ref(), place.line, place.path.as_deref()), ("files", Some(22), Some("tests/table.rs")));
    assert_eq!(place.git_ref, Some(SHA.into()));
}

/// Opens the report with one failed test of this output.
async fn open_failure(class: &str, said: Value) -> Harness {
    let mut harness = Begin::at(place()).size(120, 30).open();
    let fails = case("breaks", "failed", said).with(json!({"classname": class}));
    let report = json!({"test_suites": [{"name": "unit", "test_cases": [fails]}]});
    harness.reply(PIPELINE, pipeline("failed")).reply(&format!("{PIPELINE}/test_report"), report);
    harness.settle().await;
    harness
}

#[tokio::test]
async fn a_frame_of_a_jvm_is_looked_up_in_the_tree_by_its_class() {
    let frames = "java.lang.AssertionError: no\n\tat org.junit.Assert.fail(Assert.java:89)\n\t\
                  at org.example.ThingTest.breaks(ThingTest.java:7)\n\tat org.junit.Run.run(Run.java:5)";
    let mut harness = open_failure("org.example.ThingTest", json!(frames)).await;
    let tree = ["a/src/test/java/org/example/ThingTest.java", "b/src/test/java/org/other/ThingTest.java", "README.md"];
    harness.reply(&whole_tree(), files(&tree)).press("Enter").settle().await;
    let place = harness.app.place();
    assert_eq!((place.path.as_deref(), place.line), (Some(tree[0]), Some(7)), "{}", harness.picture());
}

#[tokio::test]
async fn only_locations_that_exist_are_offered() {
    // Several failures, in a project that is named like its group; one of the files is generated.
    let said = json!([
        "/builds/acme/rocket-ui/src/a.cc:3\nno",
        "/builds/acme/rocket-ui/build/gen.cc:9\nno",
        "src/a.cc:3 again",
        "/usr/include/c++/16/vector:12 and src/b.cc:5: no"
    ]);
    let mut harness = open_failure("Sum", said).await;
    harness.reply(&folder("src"), files(&["src/a.cc", "src/b.cc"])).fail(&folder("build"), 404, "404 Tree Not Found");
    harness.press("Enter").settle().await;
    harness.expect("Open source location").expect("src/a.cc:3").expect("src/b.cc:5").expect_no(" build/gen.cc:9");
    assert_eq!(harness.lines().iter().filter(|line| line.contains("│") && line.contains(" src/a.cc:3 ")).count(), 1);
    harness.press("Down Enter");
    assert_eq!((harness.app.place().path.as_deref(), harness.app.place().line), (Some("src/b.cc"), Some(5)));
    // Nothing exists.
    let mut harness = open_failure("Sum", json!("gone.py:3: no")).await;
    harness.reply(&folder(""), files(&["a.py"])).reply(&whole_tree(), files(&["a.py", "b/other.py"]));
    harness.press("Enter").settle().await;
    harness.expect("Not found in the repository: gone.py:3.");
    assert_eq!(harness.app.place(), place());
    // A server that refuses the tree: what the report names is opened.
    let mut harness = open_failure("Sum", json!("a.py:3: no")).await;
    harness.fail(&folder(""), 403, "403 Forbidden").press("Enter").settle().await;
    assert_eq!(harness.app.place().path.as_deref(), Some("a.py"));
    // The lookup can be left.
    let mut harness = open_failure("Sum", json!("a.py:3: no")).await;
    harness.press("Enter").expect("Open source location").press("Esc").expect_no("Open source location");
}

#[tokio::test]
async fn attached_files_are_opened_in_the_artifacts_of_their_job() {
    let mut harness = Begin::at(place()).size(120, 30).open();
    let url = "https://demo.test/acme/rocket-ui/-/jobs/1207/artifacts/file/shots/a%20b.png";
    let fails = case("breaks", "failed", json!("no\n\nSystem Out:\n\n[[ATTACHMENT|shots/a b.png]]"));
    let report = json!({"test_suites": [{"name": "unit", "test_cases": [fails.with(json!({"attachment_url": url}))]}]});
    harness.reply(PIPELINE, pipeline("failed")).reply(&format!("{PIPELINE}/test_report"), report).settle().await;
    harness.expect("shots/a b.png").press("Enter");
    let place = harness.app.place();
    let at = (place.pane.as_ref(), place.item.as_deref(), place.path.as_deref());
    assert_eq!(at, ("artifacts", Some("1207"), Some("shots/a b.png")), "{}", harness.picture());
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
    app.press("Enter").settle().await;
    assert_eq!(app.app.place().pane, "files", "{}", app.picture());
    server.stop().await;
}
