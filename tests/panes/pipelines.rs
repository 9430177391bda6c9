//! Pipelines: the list and its filters, actions, and values that must never be stored.

use crate::fixtures::{self, With, pipeline, user};
use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const LIST: &str = "GET /projects/acme%2Frocket-ui/pipelines";

fn whole(id: u64, git_ref: &str, status: &str) -> Value {
    let details = json!({"user": user(4, "cem"), "started_at": "2026-06-15T11:58:10Z", "duration": 72});
    pipeline(id, git_ref, status).with(details)
}

/// Returns a job of the pipeline 319.
fn job(id: u64, name: &str, status: &str) -> Value {
    let pipeline = json!({"id": 319, "ref": "feature/rows", "sha": "9f3c2ab0", "status": status});
    fixtures::job(id, name, status).with(json!({"ref": "feature/rows", "pipeline": pipeline}))
}

fn world() -> Vec<Value> {
    vec![pipeline(320, "main", "running"), pipeline(319, "feature/rows", "failed"), pipeline(318, "v1.0", "success")]
}

fn place() -> Place {
    Place::new("pipelines").project("acme/rocket-ui")
}

async fn open() -> Harness {
    let mut harness = Begin::at(place()).size(120, 30).open();
    harness.reply(LIST, world());
    for (id, git_ref, status) in [(320, "main", "running"), (319, "feature/rows", "failed"), (318, "v1.0", "success")] {
        harness.reply(&format!("{LIST}/{id}"), whole(id, git_ref, status));
    }
    harness.settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect()
}

#[tokio::test]
async fn rows_show_the_state_of_a_pipeline_and_enter_opens_its_jobs() {
    let mut harness = open().await;
    for words in ["●", "main", "web", "00000000", "cem"] {
        assert!(harness.line_with("#320").contains(words), "{words}\n{}", harness.picture());
    }
    assert!(harness.line_with("#319").contains("1m 30s"), "{}", harness.picture());
    // For the selected pipeline, all details are known: the real duration.
    harness.press("j").settle().await;
    assert!(harness.line_with("#319").contains("1m 12s"), "{}", harness.picture());
    harness.press("Enter");
    assert_eq!(harness.app.place(), Place::new("jobs").project("acme/rocket-ui").item(319));
    harness.press("q").settle().await.press("S");
    assert_eq!(harness.app.place().pane, "commit");
    let mut elsewhere = Begin::at(Place::new("branches").project("acme/rocket-ui")).open();
    elsewhere.press("g l");
    assert_eq!(elsewhere.app.place(), place());
}

#[tokio::test]
async fn pipelines_without_jobs_show_the_title_of_their_commit() {
    let mut harness = Begin::at(place()).size(120, 30).open();
    let invalid = pipeline(320, "main", "failed").with(json!({"sha": "9f3c2ab0"}));
    let named = pipeline(319, "main", "success").with(json!({"sha": "5d5d5d5d", "name": "Nightly"}));
    harness.reply(LIST, [invalid, named]);
    for id in [320, 319] {
        harness.reply(&format!("{LIST}/{id}/jobs?include_retried=true"), json!([]));
    }
    let commit = "GET /projects/acme%2Frocket-ui/repository/commits/";
    harness.reply(&format!("{commit}9f3c2ab0"), fixtures::commit("9f3c2ab0", "Pack the icons", "2026-06-15T11:00:00Z"));
    harness.settle().await;
    assert!(harness.line_with("#320").contains("Pack the icons"), "{}", harness.picture());
    assert!(harness.line_with("#319").contains("Nightly"), "{}", harness.picture());
    assert!(!harness.asked.iter().any(|line| line.starts_with(&format!("{commit}5d5d5d5d"))), "{:?}", harness.asked);
}

#[tokio::test]
async fn the_list_is_polled_while_a_pipeline_runs() {
    let mut harness = open().await;
    let before = harness.asked.len();
    let done = [pipeline(320, "main", "success"), pipeline(319, "feature/rows", "failed")];
    harness.reply(LIST, done).reply(&format!("{LIST}/320"), whole(320, "main", "success")).pass(3).settle().await;
    assert!(harness.asked[before..].iter().any(|line| line.starts_with(LIST)), "{:?}", harness.asked);
    harness.expect_no("running");
    let before = harness.asked.len();
    harness.pass(5).settle().await;
    assert_eq!(harness.asked[before..], [""; 0], "nothing runs");
}

#[tokio::test]
async fn tabs_and_query_keys_are_sent_to_the_server_and_words_filter_locally() {
    let mut harness = open().await;
    harness.press("4").settle().await;
    assert!(
        harness.asked.iter().any(|line| line.starts_with(&format!("{LIST}?scope=finished"))),
        "{:?}",
        harness.asked
    );
    harness.press("1 /").type_text("status:failed ref:main source:web user:ada sort:ref-asc").press("Enter");
    harness.settle().await;
    let wanted =
        format!("{LIST}?order_by=ref&ref=main&sort=asc&source=web&status=failed&username=ada&page=1&per_page=100");
    assert!(harness.asked.contains(&wanted), "{:?}", harness.asked);
    harness.press("Esc /").type_text("rows").settle().await;
    harness.expect("#319").expect_no("#318").press("Esc").settle().await;
    // A newer server may know the word.
    harness.press("/").type_text("status:odd").expect("status:odd: may be unknown to the server; known are running");
    harness.press("Enter").settle().await;
    assert!(harness.asked.iter().any(|line| line.contains("status=odd")), "{:?}", harness.asked);
}

#[tokio::test]
async fn pipelines_can_be_retried_canceled_and_deleted_after_confirmation() {
    let mut harness = open().await;
    harness.press("j");
    harness.reply("POST /projects/acme%2Frocket-ui/pipelines/319/retry", whole(319, "feature/rows", "running"));
    harness.press("R").settle().await;
    harness.expect("Retried pipeline 319 of feature/rows");
    harness.press("k X").expect("Cancel pipeline 320 of main?").press("n");
    harness.press("j j R").expect("Pipeline 318 has passed: nothing failed");
    harness.press("X").expect("it is not running");
    harness.press("Delete").expect("Delete pipeline 318 of v1.0?").expect("permanently deleted");
    harness.reply("DELETE /projects/acme%2Frocket-ui/pipelines/318", json!(null)).press("y").settle().await;
    assert_eq!(sent(&harness).len(), 2, "{:?}", sent(&harness));
    assert_eq!(sent(&harness)[1], "DELETE /projects/acme%2Frocket-ui/pipelines/318");
}

#[tokio::test]
async fn variables_of_a_new_pipeline_are_sent_but_never_stored() {
    let mut harness = open().await;
    harness.press("+").expect("Run pipeline in acme/rocket-ui").expect("main");
    harness.press("C-u").type_text("odd").press("Tab Enter").type_text("TOKEN=s3cret").press("Enter");
    harness.type_text("LOUD=1").press("C-o");
    assert!(harness.kept.values().all(|text| !text.contains("s3cret")), "{:?}", harness.kept);
    assert!(harness.kept.values().any(|text| text.contains("odd")), "the ref is kept");
    harness.press("Esc");
    let run = "POST /projects/acme%2Frocket-ui/pipeline";
    harness.fail(run, 400, "base: Reference not found");
    harness.press("C-s").settle().await;
    harness.expect("Reference not found").expect("TOKEN=s3cret");
    // C-t hides the values from onlookers, in the row and in the editor.
    harness.press("C-t").expect_no("s3cret").press("Enter").expect_no("s3cret").expect("show the text");
    harness.press("C-t").expect("TOKEN=s3cret").press("Esc").expect("TOKEN=s3cret");
    harness.press("S-Tab C-u").type_text("main").reply(run, whole(321, "main", "created"));
    harness.press("C-s").settle().await;
    let line = sent(&harness).pop().expect("a write");
    let body = r#"{"ref":"main","variables":[{"key":"TOKEN","value":"s3cret"},{"key":"LOUD","value":"1"}]}"#;
    assert_eq!(line, format!("{run} {body}"));
    assert_eq!(harness.app.place(), Place::new("jobs").project("acme/rocket-ui").item(321));
    assert!(harness.kept.values().all(|text| !text.contains("s3cret")), "{:?}", harness.kept);
}

#[tokio::test]
async fn variables_are_hidden_until_requested() {
    let mut harness = open().await;
    harness.reply(
        &format!("{LIST}/320/variables"),
        json!([{"key": "TOKEN", "value": "s3\u{1b}cret\nx", "variable_type": "file"}]),
    );
    harness.press("v").settle().await;
    harness.expect("Variables of pipeline 320").expect("TOKEN").expect("file").expect_no("cret");
    harness.press("v").expect("cret x").press("v").expect_no("cret").press("Esc").expect_no("TOKEN");
    harness.fail(&format!("{LIST}/318/variables"), 403, "403 Forbidden");
    harness.press("G v").settle().await;
    harness.expect("403 Forbidden");
}

#[tokio::test]
async fn a_click_selects_a_variable_of_a_pipeline() {
    let mut harness = open().await;
    let variable = |key: &str, value: &str| json!({"key": key, "value": value, "variable_type": "env_var"});
    harness.reply(&format!("{LIST}/320/variables"), json!([variable("FIRST", "one"), variable("SECOND", "two")]));
    harness.press("v").settle().await;
    harness.click_on("SECOND").press("v").expect("two").expect_no("one");
    harness.press("v").click_on("FIRST").press("v").expect("one").expect_no("two");
}

#[tokio::test]
async fn a_server_without_the_pipelines_list_suggests_the_jobs() {
    let mut harness = Begin::at(place()).size(100, 20).open();
    harness.unsupported(LIST).settle().await;
    harness.expect("This server has no list of pipelines.").expect("g j shows the jobs");
    let mut harness = Begin::at(place()).size(100, 20).open();
    harness.reply(LIST, json!([])).settle().await;
    harness.expect("There are no pipelines here.");
}

#[tokio::test]
async fn hostile_values_are_sanitized_at_any_size() {
    let evil = pipeline(9, "re\u{1b}[31mf\u{7}\u{202e}", "quite_new");
    let evil = evil.with(json!({"source": "ondemand\u{1b}_scan", "name": "Na\u{7}me", "created_at": "soon"}));
    let mut harness = Begin::at(place()).size(160, 30).open();
    harness.reply(LIST, [evil, json!({"id": 8, "ref": "refs/merge-requests/42/head"})]).settle().await;
    harness.expect("quite new").expect("!42");
    assert!(!harness.picture().contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", harness.picture());
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab j z k z");
    }
}

#[tokio::test]
async fn a_pipeline_can_be_run_and_canceled_on_a_real_server() {
    let server = demo().await;
    let mut app = Begin::at(place()).size(140, 40).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("●").expect("schedule").press("+").press("C-u").type_text("feature/mouse").press("Tab Enter");
    app.type_text("LOUD=1").press("Esc C-s").until("pipeline").await;
    app.settle().await;
    assert_eq!(app.app.place().pane, "jobs");
    app.expect("feature/mouse").expect("compile").press("q").settle().await;
    app.press("g g v").settle().await;
    app.expect("LOUD").press("Esc X y").until("Canceled pipeline").await;
    app.settle().await;
    assert!(app.line_with("feature/mouse").contains("⊘"), "{}", app.picture());
    server.stop().await;
}

#[tokio::test]
async fn a_pipeline_place_shows_its_details_and_actions() {
    let job = job(21, "unit", "failed");
    let mut harness = Begin::at(Place::new("jobs").project("acme/rocket-ui").item(319)).size(120, 30).open();
    let found = json!({"coverage": "84.20", "yaml_errors": "jobs:unit config is\u{1b} odd"});
    let known = whole(319, "feature/rows", "failed").with(found);
    harness.reply(&format!("{LIST}/319/jobs"), [job]).reply(&format!("{LIST}/319"), known).settle().await;
    harness
        .expect("feature/rows 00000000")
        .expect(" · web by cem · 1m 12s · coverage 84.20 %")
        .expect("jobs:unit config is");
    harness.reply(&format!("{LIST}/319/variables"), json!([])).press("v").settle().await;
    harness.expect("This pipeline has no variables.").press("Esc");
    harness.reply("POST /projects/acme%2Frocket-ui/pipelines/319/retry", whole(319, "feature/rows", "running"));
    harness.press("a").type_text("Retry failed jobs").press("Enter").settle().await;
    assert_eq!(sent(&harness), ["POST /projects/acme%2Frocket-ui/pipelines/319/retry"]);
    harness.press("a").type_text("Cancel pipeline").press("Enter");
    assert_eq!(sent(&harness).len(), 1, "a failed pipeline cannot be canceled");
}

#[tokio::test]
async fn jobs_are_shown_even_if_the_pipeline_cannot_be_read() {
    let job = job(21, "unit", "success");
    let mut harness = Begin::at(Place::new("jobs").project("acme/rocket-ui").item(319)).size(80, 24).open();
    harness.reply(&format!("{LIST}/319/jobs"), [job]).unsupported(&format!("{LIST}/319")).settle().await;
    harness.expect("unit").expect_no("Not supported");
}

fn trigger(child: &Value) -> Value {
    job(22, "docs", "success").with(json!({"downstream_pipeline": child}))
}

async fn with_bridges(bridges: Vec<Value>) -> Harness {
    let job = job(21, "unit", "success");
    let mut harness = Begin::at(Place::new("jobs").project("acme/rocket-ui").item(319)).size(140, 30).open();
    harness
        .reply(&format!("{LIST}/319/jobs"), [job])
        .reply(&format!("{LIST}/319"), whole(319, "feature/rows", "success"));
    harness.reply(&format!("{LIST}/319/trigger_jobs"), bridges).settle().await;
    harness
}

#[tokio::test]
async fn a_trigger_job_shows_its_child_pipeline_and_opens_it() {
    let child = json!({"id": 331, "status": "running", "source": "parent_pipeline", "project_id": 7});
    let mut harness = with_bridges(vec![trigger(&child)]).await;
    assert!(harness.line_with("docs").contains("pipeline 331"), "{}", harness.picture());
    assert!(harness.line_with("docs").contains("running"), "{}", harness.picture());
    harness.press("j X").expect("is a trigger job").press("w").expect("is a trigger job");
    // The child pipeline is polled although its trigger job has finished.
    let before = harness.asked.len();
    harness.pass(5).settle().await;
    assert!(harness.asked[before..].iter().any(|line| line.contains("/319/trigger_jobs")), "{:?}", harness.asked);
    harness.press("Enter");
    assert_eq!(harness.app.place(), Place::new("jobs").project("acme/rocket-ui").item(331));
    let elsewhere = json!({"id": 55, "status": "success", "source": "pipeline", "project_id": 9});
    let mut harness = with_bridges(vec![trigger(&elsewhere)]).await;
    harness.press("j Enter");
    assert_eq!(harness.app.place(), Place::new("jobs").project("9").item(55));
    for (status, reason, words) in [
        ("created", None, "It has not started its pipeline yet."),
        ("failed", Some("downstream_bridge_project_not_found"), "pipeline: downstream bridge project not found."),
        ("failed", None, "It failed before it started a pipeline."),
        ("canceled", None, "It was canceled before it started a pipeline."),
    ] {
        let job = trigger(&Value::Null).with(json!({"status": status, "failure_reason": reason}));
        let mut harness = with_bridges(vec![job]).await;
        harness.press("j Enter").expect(words);
        assert_eq!(harness.app.place().item.as_deref(), Some("319"));
    }
}

#[tokio::test]
async fn the_cursor_starts_on_the_first_job_if_trigger_jobs_arrive_first() {
    let mut harness = Begin::at(Place::new("jobs").project("acme/rocket-ui").item(319)).size(100, 30).open();
    harness.reply(&format!("{LIST}/319/trigger_jobs"), [trigger(&Value::Null)]).settle().await;
    harness.reply(&format!("{LIST}/319/jobs"), [job(21, "unit", "success")]).settle().await;
    assert!(harness.line_with("unit").starts_with('▌'), "{}", harness.picture());
    harness.expect("docs");
}

#[tokio::test]
async fn jobs_are_shown_even_if_trigger_jobs_cannot_be_read() {
    for status in [403, 404] {
        let job = job(21, "unit", "success");
        let mut harness = Begin::at(Place::new("jobs").project("acme/rocket-ui").item(319)).size(140, 30).open();
        harness.reply(&format!("{LIST}/319/jobs"), [job]).reply(&format!("{LIST}/319"), whole(319, "main", "success"));
        match status {
            404 => harness.unsupported(&format!("{LIST}/319/trigger_jobs")),
            _ => harness.fail(&format!("{LIST}/319/trigger_jobs"), 403, "403 Forbidden"),
        };
        harness.settle().await;
        harness.expect("unit").expect("cem").expect_no("Not supported");
        if status == 403 {
            harness.expect("Trigger jobs: Not allowed: 403 Forbidden");
        }
        harness.press("R");
        assert_eq!(sent(&harness), ["POST /projects/acme%2Frocket-ui/jobs/21/retry {}"]);
    }
}

#[tokio::test]
async fn the_parent_of_a_child_pipeline_is_found_by_its_commit() {
    let child = whole(331, "main", "success").with(json!({"source": "parent_pipeline"}));
    let sha = child["sha"].as_str().unwrap().to_owned();
    let mut harness = Begin::at(Place::new("jobs").project("acme/rocket-ui").item(331)).size(140, 30).open();
    harness.reply(&format!("{LIST}/331/jobs"), json!([])).reply(&format!("{LIST}/331"), child);
    harness.reply(&format!("{LIST}?sha={sha}"), [pipeline(340, "main", "success"), pipeline(319, "main", "failed")]);
    let started = json!({"id": 331, "status": "success", "source": "parent_pipeline"});
    harness.reply(&format!("{LIST}/319/trigger_jobs"), [trigger(&started)]).settle().await;
    harness.expect("started by pipeline 319").press("u");
    assert_eq!(harness.app.place(), Place::new("jobs").project("acme/rocket-ui").item(319));
    assert!(
        !harness.asked.iter().any(|line| line.contains("/340/trigger_jobs")),
        "a later pipeline cannot be the parent"
    );
}

#[tokio::test]
async fn the_demo_opens_a_child_pipeline_and_returns_to_its_parent() {
    let server = demo().await;
    let list = place().query("source:web");
    let mut app = Begin::at(list).size(160, 45).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.press("Enter").settle().await;
    app.expect("manual").press("/").type_text("manual").press("Enter").settle().await;
    app.press("Enter").settle().await;
    app.expect("examples").expect("parent pipeline").expect("started by pipeline").press("u").settle().await;
    app.expect("compile").expect("web");
    server.stop().await;
}

#[tokio::test]
async fn a_specification_only_server_has_jobs_but_no_pipelines_list() {
    let server = crate::served::demo_with(labscope::backend::Options {
        modes: labscope::backend::Modes::of(labscope::backend::Version::V10_6),
        ..Default::default()
    })
    .await;
    let mut app = Begin::at(place()).size(120, 30).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("This server has no list of pipelines.").press("g j").settle().await;
    app.expect("compile").expect_no("Not supported").press("p").settle().await;
    app.expect("pipeline").expect("success").expect_no("Not supported").expect_no("test report");
    server.stop().await;
}

#[tokio::test]
async fn branches_and_commits_show_their_latest_pipeline_with_one_request() {
    let branch = |name: &str| json!({"name": name, "commit": {"id": format!("{:0>40}", 1), "title": "t"}});
    let mut harness = Begin::at(Place::new("branches").project("acme/rocket-ui")).size(120, 30).open();
    harness.reply(
        "GET /projects/acme%2Frocket-ui/repository/branches",
        [branch("main"), branch("feature/rows"), branch("x")],
    );
    harness.reply(
        &format!("{LIST}?scope=branches"),
        [pipeline(320, "main", "running"), pipeline(319, "feature/rows", "failed")],
    );
    harness.settle().await;
    assert!(harness.line_with("feature/rows").contains("failed"), "{}", harness.picture());
    assert!(harness.line_with("main").contains("running"), "{}", harness.picture());
    let pipelines = |harness: &Harness| harness.asked.iter().filter(|line| line.contains("/pipelines")).count();
    assert_eq!(pipelines(&harness), 1, "{:?}", harness.asked);
    let commit = |id: u64, title: &str| json!({"id": format!("{id:0>40}"), "title": title, "author_name": "ada"});
    let log = Place::new("commits").project("acme/rocket-ui").at("main");
    let mut harness = Begin::at(log).size(100, 30).open();
    harness.reply(
        "GET /projects/acme%2Frocket-ui/repository/commits",
        [commit(320, "newest"), commit(318, "older"), commit(1, "first")],
    );
    let again = |status: &str| pipeline(318, "main", status);
    harness.reply(&format!("{LIST}?ref=main"), [pipeline(320, "main", "failed"), again("success"), again("failed")]);
    harness.settle().await;
    let sign = |harness: &Harness, title: &str| {
        harness.line_with(title).chars().filter(|c| "✓✗".contains(*c)).collect::<String>()
    };
    assert_eq!(
        [sign(&harness, "newest"), sign(&harness, "older"), sign(&harness, "first")],
        ["✗", "✓", ""],
        "{}",
        harness.picture()
    );
    assert_eq!(pipelines(&harness), 1, "{:?}", harness.asked);
}

#[tokio::test]
async fn branches_are_shown_even_if_pipelines_cannot_be_read() {
    for unsupported in [true, false] {
        let mut harness = Begin::at(Place::new("branches").project("acme/rocket-ui")).size(100, 20).open();
        harness.reply("GET /projects/acme%2Frocket-ui/repository/branches", [json!({"name": "main"})]);
        match unsupported {
            true => harness.unsupported(LIST),
            false => harness.fail(LIST, 403, "403 Forbidden"),
        };
        harness.settle().await;
        harness.expect("main").expect_no("Not supported");
        if !unsupported {
            harness.expect("Pipelines: Not allowed: 403 Forbidden");
        }
        let before = harness.asked.len();
        harness.pass(30).settle().await;
        assert!(!harness.asked[before..].iter().any(|line| line.contains("/pipelines")), "{:?}", harness.asked);
    }
}
