//! The trace of a job: following, folding, searching, and the messages shown without a trace.

use crate::fixtures::{self, With, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use serde_json::{Value, json};

fn job(status: &str) -> Value {
    let job = fixtures::job(1207, "bench", status).with(json!({
        "ref": "feature/rows", "user": {"id": 1, "username": "ada"}, "runner": {"id": 3, "description": "mill-3"},
        "pipeline": {"id": 318, "ref": "feature/rows", "sha": "9f3c2ab0d1e2", "status": "running"},
        "commit": {"id": "9f3c2ab0d1e2", "short_id": "9f3c2ab0", "title": "Draw only visible rows", "author_name": "Bo"},
    }));
    let started = json!({"started_at": "2026-06-15T11:58:29Z"});
    let artifacts = json!({"filename": "bench.zip", "size": 120000});
    let finished = json!({"finished_at": "2026-06-15T11:59:29Z", "artifacts_file": artifacts});
    match status {
        "pending" | "manual" | "created" => job,
        "success" => job.with(started).with(finished),
        "failed" => job.with(started).with(finished).with(json!({"failure_reason": "script_failure"})),
        _ => job.with(started),
    }
}

const JOB: &str = "GET /projects/acme%2Frocket-ui/jobs/1207";
const TRACE: &str = "GET /projects/acme%2Frocket-ui/jobs/1207/trace";
const JOBS: &str = "GET /projects/acme%2Frocket-ui/pipelines/318/jobs?include_retried=true";

fn trace(lines: usize) -> String {
    let mut out = String::from(
        "section_start:1:prepare\r\u{1b}[0KPrepare environment\nimage ready\nsection_end:5:prepare\r\u{1b}[0K\n\
         section_start:5:script\r\u{1b}[0Kscript\n",
    );
    for line in 0..lines {
        out.push_str(&format!("\u{1b}[32mframe/{line}\u{1b}[0m time: 108.1 µs\n"));
    }
    out
}

async fn open(status: &str, trace: &str, width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(Place::new("job").project("acme/rocket-ui").item(1207)).size(width, height).open();
    let other = fixtures::job(1206, "unit", "success").with(json!({"duration": 48.0}));
    harness.reply(JOB, job(status)).reply(JOBS, [job(status), other]).reply_raw(TRACE, trace);
    harness.settle().await;
    harness
}

#[tokio::test]
async fn the_code_is_searched_for_a_word_of_a_line_of_the_trace() {
    let mut harness = open("success", "ok\nerror[E0425]: cannot find value `rows_of` in this scope\n", 100, 24).await;
    harness.press("g g j").press("g *").expect("Search code for").expect("E0425").type_text("rows");
    harness.press("Enter").settle().await;
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.item.as_deref()), ("search", Some("rows_of")));
}

#[tokio::test]
async fn a_running_trace_is_followed_until_the_cursor_moves_up() {
    let mut harness = open("running", &trace(100), 80, 24).await;
    harness.expect("#1207 bench").expect("● running 1m 31s").expect("frame/99").expect("following · 103 lines");
    assert!(harness.style_of("frame/99") != harness.style_of("time: 108.1"), "colors are lost");
    harness.reply_raw(TRACE, trace(120)).settle().await;
    harness.expect("frame/119");
    harness.press("k k");
    harness.reply_raw(TRACE, trace(123)).settle().await;
    harness.expect("paused, 3 new lines").expect_no("frame/122");
    harness.press("f").expect("following").expect("frame/122");
    harness.press("C-u").expect("paused");
    harness.press("G").expect("following");
}

/// The time is that of [`harness::NOW`](crate::harness::NOW).
#[tokio::test]
async fn a_job_and_its_trace_are_requested_at_once() {
    let ended = |at: &str| job("success").with(json!({"finished_at": at}));
    let cases = [
        (ended("2026-06-15T11:59:29Z"), trace(2), false, "it had finished when the trace was requested"),
        (ended("2026-06-15T11:59:59Z"), trace(2), true, "it has just finished, and the last lines may be missing"),
        (job("success").with(json!({"finished_at": null})), trace(2), true, "the server does not say when"),
        (job("running"), trace(2), true, "it goes on"),
        (job("manual"), String::new(), false, "it has no trace"),
    ];
    for (job, text, goes_on, why) in cases {
        let mut harness = Begin::at(Place::new("job").project("acme/rocket-ui").item(1207)).open();
        let waiting = harness.waiting().join("\n");
        assert!(waiting.contains(JOB) && waiting.contains(TRACE), "{waiting}");
        harness.reply_raw(TRACE, text).settle().await;
        assert_eq!(harness.follows(), None, "the trace is not read again before the job is known");
        harness.fail(TRACE, 503, "later").reply(JOB, job).settle().await;
        assert_eq!(harness.follows().is_some(), goes_on, "{why}");
    }
}

#[tokio::test]
async fn the_age_of_a_text_that_is_read_rarely_is_shown() {
    let mut harness = open("running", &trace(5), 80, 24).await;
    let request = harness.follows().expect("the trace is followed");
    harness.send(Msg::StreamRead(request.clone()));
    harness.pass(4).expect("following").expect_no("s old");
    harness.pass(5).expect("following, 9s old").pass(20).expect("following, 29s old");
    harness.send(Msg::StreamRead(request));
    harness.pass(1).expect_no("s old");
}

#[tokio::test]
async fn following_notices_when_the_job_finishes() {
    let mut harness = open("running", &trace(3), 80, 24).await;
    harness.reply(JOB, job("success")).reply_raw(TRACE, format!("{}Job succeeded\n", trace(3))).settle().await;
    harness.expect("✓ success 1m 00s").expect("Job succeeded").expect_no("following");
    assert_eq!(harness.pass(30).app.wake_at(), None, "the job has ended, but the app still wakes up");
}

#[tokio::test]
async fn the_details_get_the_focus_by_a_click_and_not_by_the_wheel() {
    let mut harness = open("success", &trace(100), 160, 30).await;
    harness.press("G").expect("frame/99").wheel_on("Draw only visible rows", true);
    harness.press("g g").expect("Prepare environment").press("G").expect("frame/99");
    harness.click_on("Draw only visible rows").press("g g").expect("frame/99");
    harness.wheel_on("frame/99", false).wheel_on("frame/90", false).press("g g").expect_no("frame/99");
    harness.expect_no("Prepare environment");
}

#[tokio::test]
async fn a_failed_job_opens_at_its_failure() {
    let mut words = trace(60);
    words.push_str("\u{1b}[31merror: the row is not visible\u{1b}[0m\n");
    words.push_str(&(0..50).map(|n| format!("cleaning {n}\n")).collect::<String>());
    words.push_str("section_end:9:script\r\u{1b}[0K\n\u{1b}[31;1mERROR: Job failed: exit code 1\n");
    let mut harness = open("failed", &words, 80, 24).await;
    assert!(harness.line_with("the row is not visible").starts_with('▌'), "{}", harness.picture());
    harness.press("e").settle().await;
    harness.expect("No error below.");
    harness.press("G E").settle().await;
    assert!(harness.line_with("the row is not visible").starts_with('▌'));
    harness.press("Z").settle().await;
    assert!(harness.line_with("the row is not visible").starts_with('▌'));
    harness.press("g g");
    harness.expect("▸ Prepare environment").expect("▾ script").expect_no("image ready");
}

#[tokio::test]
async fn sections_can_be_folded_with_keys_and_clicks() {
    let mut harness = open("success", &trace(5), 80, 24).await;
    harness.press("g g").expect("▾ Prepare environment").expect("image ready");
    harness.press("Enter");
    harness.expect("▸ Prepare environment").expect_no("image ready");
    harness.press("}").press("Enter");
    harness.expect("▸ script").expect_no("frame/1");
    harness.press("{");
    harness.click_on("Prepare environment").expect("image ready");
}

#[tokio::test]
async fn a_search_counts_matches_and_moves_between_them() {
    let mut harness = open("success", &trace(200), 80, 24).await;
    harness.press("g g /").type_text("frame/1").settle().await;
    harness.press("Enter").expect("1 of 111");
    assert!(harness.line_with("frame/1 ").starts_with('▌'), "{}", harness.picture());
    harness.press("n").expect("2 of 111").expect("frame/10");
    harness.press("N N").expect("111 of 111").expect("frame/199");
    harness.press("Esc").expect_no(" of 111");
    harness.press("/").type_text("nowhere").settle().await;
    harness.expect("nothing found");
}

#[tokio::test]
async fn a_job_without_a_trace_says_why() {
    for (status, words) in [
        ("pending", "Waiting for a runner."),
        ("manual", "P plays it"),
        ("created", "Waiting for earlier stages."),
        ("skipped", "This job was skipped."),
    ] {
        open(status, "", 80, 24).await.expect(words);
    }
    open("running", "", 80, 24).await.expect("No output yet.");
    open("success", "", 80, 24).await.expect("This job has no output.");
    let mut harness = open("pending", "", 80, 24).await;
    harness.reply(JOB, job("running")).reply_raw(TRACE, trace(2)).pass(2).settle().await;
    harness.expect("frame/1");
}

#[tokio::test]
async fn a_created_job_names_what_it_waits_for() {
    let created = job("created").with(json!({"stage": "deploy", "ref": "main"}));
    let other = fixtures::job(1206, "unit", "running").with(json!({"stage": "test"}));
    let mut harness = Begin::at(Place::new("ci").project("acme/rocket-ui")).size(150, 24).open();
    let project = json!({"id": 3, "path_with_namespace": "acme/rocket-ui", "default_branch": "main"});
    harness.reply("GET /projects/acme%2Frocket-ui", project).reply(JOB, &created).reply(JOBS, [created.clone(), other]);
    harness.press(":").type_text("acme/rocket-ui/-/jobs/1207").press("Enter").settle().await;
    harness.expect("Waiting for stage test: unit.");
    // A check of the configuration that was read tells the needs.
    let need = json!([{"name": "pack", "artifacts": true, "optional": false}]);
    let jobs = json!([{"name": "bench", "stage": "deploy", "needs": need}]);
    harness.reply("GET /projects/acme%2Frocket-ui/ci/lint", json!({"valid": true, "jobs": jobs}));
    harness.press(":").type_text("ci").press("Enter").settle().await;
    harness.press(":").type_text("acme/rocket-ui/-/jobs/1207").press("Enter").settle().await;
    harness.expect("Waiting for pack.");
}

#[tokio::test]
async fn a_deleted_job_is_reported_and_no_longer_polled() {
    let mut harness = open("running", &trace(3), 120, 24).await;
    harness.reply("GET /user", user(1, "ada")).settle().await;
    harness.press("k G").expect("following").expect("✓ ");
    harness.fail(JOB, 404, "404 Not Found").fail(TRACE, 404, "404 Not Found").settle().await;
    harness.expect("✗ gone").expect(" gone · 6 lines").expect("frame/2").expect("Not found: 404 Not Found");
    harness.expect_no("following").expect_no("● running").expect_no("✓ ");
    harness.press("G").expect_no("following").press("f").expect("The server no longer provides this job");
    let before = harness.asked.len();
    for _ in 0..5 {
        harness.pass(60).settle().await;
    }
    assert_eq!(harness.asked[before..].iter().filter(|line| line.contains("/1207")).count(), 0, "{:?}", harness.asked);
    assert_eq!(harness.app.wake_at(), None, "nothing runs, but the app still wakes up");
    // An explicit refresh tries again.
    harness.reply(JOB, job("running")).reply_raw(TRACE, trace(5)).press("r").settle().await;
    harness.expect("paused, 2 new lines").expect("frame/4").expect("● running");
}

#[tokio::test]
async fn a_refused_trace_is_not_reported_as_followed() {
    let mut harness = open("running", &trace(3), 120, 24).await;
    harness.fail(TRACE, 403, "403 Forbidden").settle().await;
    harness.expect("not followed · 6 lines").expect("Not allowed: 403 Forbidden").expect("● running");
    // The job is polled all the same until it has finished.
    harness.reply(JOB, job("success")).pass(2).settle().await;
    harness.expect("✓ success").expect_no("not followed");
}

#[tokio::test]
async fn an_erased_trace_is_reported_and_a_missing_job_opens_the_list() {
    let erased = job("success").with(json!({"erased_at": "2026-06-15T11:00:00Z"}));
    let mut harness = Begin::at(Place::new("job").project("acme/rocket-ui").item(1207)).open();
    harness.reply(JOB, erased).settle().await;
    harness.expect("The trace was erased 1h ago.");
    let mut harness = Begin::at(Place::new("job").project("acme/rocket-ui").item(1207)).open();
    harness.fail(JOB, 404, "404 Not found").settle().await;
    assert_eq!(harness.app.place().pane, "jobs");
}

#[tokio::test]
async fn the_trace_stays_when_the_server_becomes_unreachable() {
    use labscope::api::{Error, Fault};
    use labscope::app::action::Msg;
    let mut harness = open("running", &trace(3), 80, 24).await;
    let error = Error { tried: JOB.into(), fault: Fault::Offline("connection refused".into()) };
    let request =
        labscope::store::Load::single(&labscope::api::jobs::GetJob { id: "acme/rocket-ui".into(), job_id: 1207 });
    harness.send(Msg::StreamStatus(request.request, Err(error)));
    harness.expect("frame/2").expect("Server unreachable").expect("following");
}

/// Returns the message that a trace is read again after a failure.
fn failed(request: &labscope::api::Request, fault: labscope::api::Fault) -> labscope::app::action::Msg {
    let error = labscope::api::Error { tried: TRACE.into(), fault };
    labscope::app::action::Msg::StreamFailed(request.clone(), error)
}

#[tokio::test]
async fn a_trace_that_the_server_no_longer_has_stays_and_says_so() {
    use labscope::api::Fault;
    use labscope::app::action::Msg;
    let mut harness = open("running", &trace(3), 80, 24).await;
    let request = harness.follows().expect("the trace is followed");
    let missing = || failed(&request, Fault::Missing("404 Not found".into()));
    harness.send(missing());
    harness.expect("frame/2").expect("no longer on the server").expect_no("following");
    harness.send(Msg::StreamRead(request.clone()));
    harness.expect("frame/2").expect("following").expect_no("no longer on the server");
    // The job ended, and its trace was removed at once.
    harness.send(missing());
    harness.reply(JOB, job("success")).fail(TRACE, 404, "404 Not found").press("r").settle().await;
    harness.expect("frame/2").expect("no longer on the server").expect_no("following");
}

#[tokio::test]
async fn a_trace_that_cannot_be_read_says_why_and_is_not_taken_for_complete() {
    use labscope::api::Fault;
    use labscope::app::action::Msg;
    let server_error = || Fault::Server(500, "out of space".into());
    let mut harness = open("running", &trace(3), 80, 24).await;
    let request = harness.follows().expect("the trace is followed");
    harness.send(failed(&request, server_error()));
    harness.expect("frame/2").expect("Server error").expect("following");
    harness.send(Msg::StreamRead(request));
    harness.expect("following").expect_no("Server error");
    // The job has just ended, and the last lines are not there.
    let mut harness = Begin::at(Place::new("job").project("acme/rocket-ui").item(1207)).open();
    harness.reply_raw(TRACE, trace(3)).settle().await;
    let ended = job("success").with(json!({"finished_at": "2026-06-15T11:59:59Z"}));
    harness.fail(TRACE, 500, "out of space").reply(JOB, ended).settle().await;
    let request = harness.follows().expect("the trace is followed");
    harness.send(failed(&request, server_error()));
    harness.expect("frame/2").expect("success").expect("Server error").expect("incomplete");
    harness.send(Msg::Bytes { request, bytes: "the end\n".into(), restart: false });
    harness.expect("the end").expect_no("incomplete").expect_no("Server error");
}

#[tokio::test]
async fn a_job_opens_at_the_line_of_its_web_address() {
    let mut harness = Begin::at(Place::new("job").project("acme/rocket-ui").item(1207).line(60)).size(80, 24).open();
    harness.reply(JOB, job("failed")).reply_raw(TRACE, trace(100)).settle().await;
    let line = harness.line_with("▌");
    assert!(line.starts_with("▌ 60 "), "{line}");
}

#[tokio::test]
async fn a_trace_that_may_no_longer_be_read_stays_and_says_so() {
    let mut harness = open("running", &trace(3), 80, 24).await;
    harness.fail(TRACE, 403, "403 Forbidden").pass(5).settle().await;
    harness.expect("frame/2").expect("Not allowed · You don't have permission; ask an owner of the project");
    harness.expect("not followed").expect_no("following");
}

#[tokio::test]
async fn a_key_opens_the_next_job_of_the_pipeline() {
    let mut harness = open("running", &trace(3), 80, 24).await;
    harness.press("[");
    assert_eq!(harness.app.place().item.as_deref(), Some("1206"));
}

#[tokio::test]
async fn a_retried_job_opens_as_soon_as_it_exists() {
    let mut harness = open("failed", &trace(3), 80, 24).await;
    let newer = job("pending").with(json!({"id": 1300}));
    harness.reply("POST /projects/acme%2Frocket-ui/jobs/1207/retry", &newer);
    harness.reply(JOBS, [newer, job("failed")]).press("R").settle().await;
    assert_eq!(harness.app.place().item.as_deref(), Some("1300"));
}

#[tokio::test]
async fn a_wide_screen_shows_details_beside_the_trace() {
    let mut harness = open("failed", &trace(3), 160, 45).await;
    for words in ["Details", "script failure", "mill-3 #3", "Draw only visible rows", "bench.zip  120.0 kB", "unit"] {
        harness.expect(words);
    }
    let mut narrow = open("failed", &trace(3), 80, 24).await;
    narrow.expect_no("script failure");
    narrow.press("Tab").expect("script failure");
}

#[tokio::test]
async fn the_job_can_be_drawn_at_any_size() {
    let mut harness = open("running", &trace(50), 160, 40).await;
    for (width, height) in [(44, 12), (60, 13), (139, 12), (140, 12), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab l l h j G g g z").resize(width, height);
    }
}

#[tokio::test]
async fn the_job_screen_matches_its_snapshots() {
    insta::assert_snapshot!("job_80", open("running", &trace(100), 80, 24).await.picture());
    insta::assert_snapshot!("job_160", open("failed", &trace(10), 160, 45).await.picture());
}

#[tokio::test]
async fn retrying_an_old_run_only_opens_the_newest_run() {
    let mut harness = open("failed", &trace(3), 80, 24).await;
    let run = |id: u64| fixtures::job(id, "bench", "success");
    harness.reply(JOBS, [job("failed"), run(1300)]).press("r").settle().await;
    harness.expect("retried as #1300");
    harness.press("R").pass(1);
    assert_eq!(harness.app.place().item.as_deref(), Some("1207"));
    harness.reply(JOBS, [job("failed"), run(1300), run(1400)]).press("r").settle().await;
    assert_eq!(harness.app.place().item.as_deref(), Some("1400"), "{}", harness.picture());
}

#[tokio::test]
async fn another_action_after_a_retry_keeps_the_old_run_open() {
    let mut harness = open("failed", &trace(3), 80, 24).await;
    let run = |id: u64| fixtures::job(id, "bench", "success");
    harness.reply("POST /projects/acme%2Frocket-ui/jobs/1207/artifacts/keep", job("failed"));
    harness.press("R K").settle().await;
    harness.reply(JOBS, [job("failed"), run(1300)]).press("r").settle().await;
    harness.expect("retried as #1300");
    assert_eq!(harness.app.place().item.as_deref(), Some("1207"), "{}", harness.picture());
}

#[tokio::test]
async fn on_a_narrow_screen_esc_returns_from_the_details_to_the_trace() {
    let mut harness = open("failed", &trace(3), 80, 24).await;
    harness.press("Tab").expect("Tab shows the trace");
    harness.press("Esc").expect_no("Tab shows the trace").expect("frame/2");
}
