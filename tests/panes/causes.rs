//! The comparison of a failed job with its last success, for pairs of traces of common tools.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

const PROJECT: &str = "acme/rocket-ui";
const JOBS: &str = "GET /projects/acme%2Frocket-ui/jobs?scope[]=success";

/// The traces of a tool: of the failed run, and of one that succeeded.
macro_rules! traces {
    ($tool:literal) => {
        (
            include_str!(concat!("../traces/", $tool, ".failed.log")),
            include_str!(concat!("../traces/", $tool, ".passed.log")),
        )
    };
}

fn job(id: u64, status: &str, r#ref: &str) -> Value {
    fixtures::job(id, "unit", status).with(json!({
        "ref": r#ref, "started_at": "2026-06-15T11:58:29Z", "finished_at": "2026-06-15T11:59:29Z",
        "pipeline": {"id": id + 100, "ref": r#ref, "sha": "9f3c2ab0d1e2", "status": status},
    }))
}

fn path(id: u64) -> String {
    format!("GET /projects/acme%2Frocket-ui/jobs/{id}")
}

/// Opens the failed job 7 of the branch `fix`, whose last success is 5.
fn begin(traces: (&str, &str), width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(Place::new("job").project(PROJECT).item(7)).size(width, height).open();
    harness.reply(&path(7), job(7, "failed", "fix")).reply_raw(&format!("{}/trace", path(7)), traces.0);
    harness.reply(&path(5), job(5, "success", "fix")).reply_raw(&format!("{}/trace", path(5)), traces.1);
    harness.reply("GET /projects/acme%2Frocket-ui/pipelines/107/jobs?include_retried=true", [job(7, "failed", "fix")]);
    harness.reply(JOBS, [job(6, "success", "other"), job(5, "success", "fix"), job(4, "success", "fix")]);
    harness
}

async fn compare(traces: (&str, &str), width: u16, height: u16) -> Harness {
    let mut harness = begin(traces, width, height);
    harness.settle().await;
    harness.press("d").settle().await;
    harness
}

#[tokio::test]
async fn the_cause_is_on_the_first_screen() {
    for (traces, cause, unexpected) in [
        (traces!("cargo"), "the_last_column_is_cut stdout", "Compiling"),
        (traces!("cargo"), "assertion `left == right` failed: the last column is cut", "Compiling"),
        (traces!("pytest"), "E       assert 5450.0 == 5430", "Collecting"),
        (traces!("jest"), "● fuel › is burned at the given rate", "added 267 packages"),
        (traces!("jest"), "+   \"left\": 137.5,", "added 267 packages"),
        (traces!("gradle"), "AssertionFailedError: expected: <5431>", "> Task :jar"),
        (traces!("make"), "ramp.cpp:5:22: error: 'soak_time' was not", "self-test passed"),
        (traces!("docker"), "E: Unable to locate package libvips-dev42", "Fetching changes"),
        (traces!("docker"), "E: Unable to locate package libvips-dev42", "extracting sha256"),
    ] {
        for size in [(160, 45), (80, 24)] {
            let mut harness = compare(traces, size.0, size.1).await;
            harness.expect(cause).expect("since #5").expect_no(unexpected);
        }
    }
}

#[tokio::test]
async fn lines_of_the_last_success_alone_are_shown() {
    let mut harness =
        compare(("load data\nerror: no rows\nend\n", "load data\nread rows\nsort rows\nend\n"), 80, 24).await;
    harness.expect("error: no rows").expect("- read rows").expect("- sort rows").expect("1 new line since #5");
    let skipped = "begin\nload data\nend\n";
    let mut harness = compare((skipped, "begin\nload data\n\u{1b}[31mcheck all\u{1b}[0m rows\nend\n"), 80, 24).await;
    harness.expect("0 new lines").press("}");
    assert!(harness.line_with("- check all rows").starts_with('▌'), "{}", harness.picture());
    harness.press("}").expect("No difference below.").press("Enter").press("G");
    // Many of them are counted until they are asked for; what follows them stays where it is.
    let many: String = (0..9).map(|n| format!("step {}\n", word(n))).collect();
    let mut harness = compare((skipped, &format!("begin\nload data\n{many}end\nmore\n")), 80, 24).await;
    harness.expect("- 9 lines of the last success are missing here").expect_no(&word(8)).press("}");
    assert!(harness.line_with("- 9 lines").starts_with('▌'), "{}", harness.picture());
    harness.press("Enter").expect_no("- 9 lines").expect(&format!("- step {}", word(0)));
    harness.expect(&format!("- step {}", word(8))).expect("- more").press("}");
    assert!(harness.line_with("- more").starts_with('▌'), "{}", harness.picture());
    let mut harness = compare(traces!("make"), 120, 40).await;
    harness.expect("lines of the last success are missing here");
}

#[tokio::test]
async fn a_comparison_that_is_not_complete_says_so() {
    let failed: String = (0..200_100).map(|n| format!("{} {}\n", word(n / 676), word(n))).collect();
    let mut harness = compare((&failed, "nothing\n"), 80, 24).await;
    harness
        .expect("More than 200,000 lines are new: what follows them was not compared.")
        .expect(" new lines+ since #5");
    harness.press("G").expect("lines, not compared").press("Enter j j j").expect(&format!(
        "{} {}",
        word(295),
        word(200_003)
    ));
}

#[tokio::test]
async fn differences_are_visited_and_equal_lines_are_opened() {
    let lines = |range: std::ops::Range<u32>| range.map(|n| format!("step {} is done\n", word(n))).collect::<String>();
    let failed = format!("{}new hint\n{}error: it broke\n{}", lines(0..40), lines(40..80), lines(80..99));
    let mut harness = compare((&failed, &lines(0..99)), 80, 24).await;
    harness.expect("2 new lines since #5 on fix");
    assert!(harness.line_with("error: it broke").starts_with('▌'), "{}", harness.picture());
    harness.press("{").expect_no("No difference");
    assert!(harness.line_with("new hint").starts_with('▌'), "{}", harness.picture());
    harness.press("{").expect("No difference above.").press("}");
    assert!(harness.line_with("error: it broke").starts_with('▌'), "{}", harness.picture());
    harness.press("g g").expect("38 equal lines").press("Enter").expect(&format!("step {} is done", word(0)));
    harness.press("G").expect("equal lines");
    // The errors and matches of the whole trace stay reachable.
    harness.press("/").type_text(&format!("step {} is", word(90))).press("Enter").settle().await;
    assert!(harness.line_with(&format!("step {} is", word(90))).starts_with('▌'), "{}", harness.picture());
    harness.press("Esc Esc").expect_no("since #5").expect(&format!("step {} is", word(88)));
}

/// Returns a word without digits for a number.
fn word(n: u32) -> String {
    let letter = |n: u32| char::from(b'a' + (n % 26) as u8);
    [letter(n / 26), letter(n), 'x'].iter().collect()
}

#[tokio::test]
async fn the_last_success_is_searched_on_the_ref_then_the_target_then_the_default_branch() {
    let pipelines = |name: &str| format!("GET /projects/acme%2Frocket-ui/pipelines?ref={name}&status=success");
    let mut harness = begin(("a\nerror: b\n", "a\n"), 80, 24);
    harness.reply(JOBS, [job(6, "success", "other")]).reply(&pipelines("fix"), json!([]));
    harness.reply(
        "GET /projects/acme%2Frocket-ui/merge_requests?source_branch=fix&state=opened",
        json!([{"id": 1, "iid": 3, "title": "x", "source_branch": "fix", "target_branch": "next", "state": "opened"}]),
    );
    harness.reply(&pipelines("next"), json!([{"id": 90, "ref": "next", "sha": "1", "status": "success"}]));
    let of_pipeline = "GET /projects/acme%2Frocket-ui/pipelines/90/jobs?scope[]=success";
    harness.reply(of_pipeline, [job(5, "success", "next")]).settle().await;
    harness.press("d").settle().await;
    harness.expect("1 new line since #5 on next").expect("error: b");
    // Without any, the message names the refs, and the trace stays.
    let mut harness = begin(("a\nerror: b\n", "a\n"), 80, 24);
    harness.reply(JOBS, json!([])).reply(&pipelines("fix"), json!([])).reply(&pipelines("main"), json!([]));
    harness.reply("GET /projects/acme%2Frocket-ui/merge_requests?source_branch=fix&state=opened", json!([]));
    harness.reply("GET /projects/acme%2Frocket-ui", fixtures::project(1, PROJECT)).settle().await;
    harness.press("d").settle().await;
    harness.expect("No recent successful run of unit on fix, main was found.").expect("error: b");
}

#[tokio::test]
async fn a_comparison_that_is_impossible_says_why() {
    let mut harness = begin(("a\nerror: b\n", ""), 80, 24);
    harness.settle().await;
    harness.press("d").settle().await;
    harness.expect("The trace of the last success, #5, cannot be read.").expect("error: b");
    let mut harness = compare(("a\nb 2\n", "b 2\na\n"), 80, 24).await;
    harness.expect("No line differs from the last success, #5.");
    harness.reply(&path(7), job(7, "success", "fix")).press("r").settle().await;
    harness.press("d").expect("Only failed jobs are compared");
}

#[tokio::test]
async fn failures_of_a_pipeline_are_grouped_by_their_first_error() {
    let mut harness = Begin::at(Place::new("jobs").project(PROJECT).item(318)).size(100, 24).open();
    let failed = |id: u64, name: &str| {
        fixtures::job(id, name, "failed").with(json!({"finished_at": "2026-06-15T11:59:29Z",
            "pipeline": {"id": 318, "ref": "fix", "sha": "9f3c2ab0d1e2", "status": "failed"}}))
    };
    let erased = failed(6, "old").with(json!({"erased_at": "2026-06-15T11:59:40Z"}));
    let of_pipeline = "GET /projects/acme%2Frocket-ui/pipelines/318/jobs?include_retried=true&scope[]=failed";
    harness.reply(
        of_pipeline,
        [erased, failed(5, "secret"), failed(4, "unit"), failed(3, "lint"), failed(2, "e2e"), failed(1, "docs")],
    );
    // What cannot be read leaves the others readable.
    harness.fail(&format!("{}/trace", path(5)), 403, "403 Forbidden");
    for (id, trace) in [
        (4, "[3s] error: cannot reach 10.0.0.1:45213\nERROR: Job failed: exit code 1\n"),
        (3, "error: unused variable\nERROR: Job failed: exit code 1\n"),
        (2, "[12s] error: cannot reach 10.0.0.1:8080\nERROR: Job failed: exit code 7\n"),
        (1, "nothing to see\nERROR: Job failed: exit code 1\n"),
    ] {
        harness.reply_raw(&format!("{}/trace", path(id)), trace);
    }
    harness.settle().await;
    harness.press("4").settle().await;
    harness.pass(1).settle().await;
    harness.expect("2 jobs [12s] error: cannot reach").expect("1 job error: unused variable");
    harness.expect("1 job The trace cannot be read: not allowed").expect("1 job The trace was erased");
    harness.expect_no("reading the trace");
    harness.expect("1 job No line looks like an error");
    let at = |word: &str| harness.picture().find(word).expect("it is shown");
    assert!(at("cannot reach") < at("e2e") && at("e2e") < at("unused variable"), "{}", harness.picture());
    assert!(at("unit") < at("unused variable"), "{}", harness.picture());
    harness.press("j d");
    assert_eq!(harness.app.place().tab.as_deref(), Some("compare"));
}

#[tokio::test]
async fn sections_keep_their_durations() {
    let trace = |error: &str| format!("section_start:1:a\r\u{1b}[0KPrepare\n{error}\nsection_end:47:a\r\u{1b}[0K\n");
    let harness = compare((&trace("error: no rows"), &trace("rows")), 80, 24).await;
    assert!(harness.line_with("Prepare").trim_end().ends_with("46s"), "{}", harness.picture());
}
