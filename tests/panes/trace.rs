//! The trace viewer: filtering, marking, copying, saving, spilling to disk, links in lines, and several traces at once.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::{Msg, Outcome};
use labscope::app::session::TraceSettings;
use labscope::store::TaskKey;
use labscope::ui::trace::Patterns;
use serde_json::{Value, json};
use std::sync::Arc;

const PROJECT: &str = "acme/rocket-ui";
const SHA: &str = "9f3c2abd00112233445566778899aabbccddeeff";

fn job(id: u64, name: &str, status: &str) -> Value {
    fixtures::job(id, name, status).with(json!({
        "ref": "feature/rows", "started_at": "2026-06-15T11:58:29Z",
        "pipeline": {"id": 318, "ref": "feature/rows", "sha": SHA, "status": "running"},
        "commit": {"id": SHA, "short_id": "9f3c2abd", "title": "Draw only visible rows", "author_name": "Bo"},
    }))
}

/// Returns the request for a folder of the repository at the commit of the jobs.
fn folder(query: &str) -> String {
    format!("GET /projects/acme%2Frocket-ui/repository/tree?{query}ref={SHA}")
}

fn file(path: &str) -> Value {
    json!({"type": "blob", "path": path, "name": path.rsplit('/').next(), "id": "1"})
}

fn path(id: u64) -> String {
    format!("GET /projects/acme%2Frocket-ui/jobs/{id}")
}

fn begin(id: u64) -> Begin {
    Begin::at(Place::new("job").project(PROJECT).item(id))
}

async fn open_with(begin: Begin, status: &str, trace: impl Into<Vec<u8>>) -> Harness {
    let mut harness = begin.open();
    harness.reply(&path(7), job(7, "unit", status)).reply_raw(&format!("{}/trace", path(7)), trace);
    harness.settle().await;
    harness
}

async fn open(status: &str, trace: impl Into<Vec<u8>>) -> Harness {
    open_with(begin(7), status, trace).await
}

fn numbered(lines: usize) -> String {
    (0..lines).map(|n| format!("{} {n}\n", if n % 10 == 3 { "row" } else { "frame" })).collect()
}

#[tokio::test]
async fn a_filter_shows_matching_lines_and_clearing_it_keeps_the_cursor() {
    let mut harness = open("running", numbered(100)).await;
    harness.press("&").type_text("row").press("Enter").settle().await;
    harness.expect("10 of 100 lines").expect("row 43").expect("row 93").expect_no("frame").expect("&row");
    harness.press("g g j j").expect_no("following");
    assert!(harness.line_with("row 23").starts_with('▌'), "{}", harness.picture());
    // Lines that arrive while the filter is active are filtered as well.
    harness.reply_raw(&format!("{}/trace", path(7)), format!("{}row 100\nframe\n", numbered(100))).settle().await;
    harness.expect("11 of 102 lines").expect("row 100");
    harness.press("&").settle().await;
    harness.expect("frame 24");
    assert!(harness.line_with("row 23").starts_with('▌'), "{}", harness.picture());
    harness.press("& Esc").settle().await;
    harness.expect("frame 24").expect("/row ");
    harness.press("Esc").expect_no("/row ");
}

#[tokio::test]
async fn a_filter_without_matches_says_so() {
    let mut harness = open("running", numbered(10)).await;
    harness.press("&").type_text("nothing").press("Enter").settle().await;
    harness.expect("No line matches.").press("&").settle().await;
    harness.expect("frame 9");
}

#[tokio::test]
async fn a_key_opens_the_source_of_an_error() {
    let words = "start\n\u{1b}[1;31merror[E0308]\u{1b}[0m: mismatched types\n   --> src/frame.rs:10:5\n    |\nend\n\
                 ERROR: Job failed: exit code 101\n";
    let mut harness = open("failed", words).await;
    assert!(harness.line_with("mismatched types").starts_with('▌'), "{}", harness.picture());
    harness.reply(&folder("path=src&"), [file("src/frame.rs"), file("src/a.rs")]).press("Enter").settle().await;
    let place = harness.app.place();
    assert_eq!((place.pane.as_ref(), place.path.as_deref(), place.line), ("files", Some("src/frame.rs"), Some(10)));
    assert_eq!(place.git_ref, Some(SHA.into()));
    // A frame of a JVM below the error, after one of the test framework.
    let words = "error: java.lang.AssertionError: no\n\tat org.junit.Assert.fail(Assert.java:89)\n\t\
                 at org.example.ThingTest.breaks(ThingTest.java:7)\nERROR: Job failed: exit code 1\n";
    let mut harness = open("failed", words).await;
    let tree = folder("recursive=true&");
    harness.reply(&tree, [file("src/test/java/org/example/ThingTest.java")]).press("Enter").settle().await;
    let place = harness.app.place();
    let java = (Some("src/test/java/org/example/ThingTest.java"), Some(7));
    assert_eq!((place.path.as_deref(), place.line), java, "{}", harness.picture());
    // Perl, PHP and bats.
    for words in
        ["Died at src/a.rs line 3.", "PHP Warning: x in src/a.rs on line 3", "# (in test file src/a.rs, line 3)"]
    {
        let mut harness = open("success", format!("{words}\n")).await;
        harness.reply(&folder("path=src&"), [file("src/a.rs")]).press("g g Enter").settle().await;
        assert_eq!(
            (harness.app.place().path.as_deref(), harness.app.place().line),
            (Some("src/a.rs"), Some(3)),
            "{words}"
        );
    }
    // A line with a web address opens it; a line with a file outside of the repository does nothing.
    let mut harness = open("success", "see https://docs.test/x.\n/usr/lib/a.rs:3 failed\n").await;
    harness.press("g g Enter");
    assert_eq!(harness.browsed(), ["https://docs.test/x"]);
    harness.press("j Enter");
    assert_eq!(harness.app.place().pane, "job");
    // Only an error opens a file that is named by a line near it.
    let mut harness = open("success", "compiled\n   --> src/frame.rs:10:5\n").await;
    harness.press("g g Enter");
    assert_eq!(harness.app.place().pane, "job");
    // With the mouse, a double click opens it.
    let mut harness = open("success", "at /builds/acme/rocket-ui/src/a.rs:3\n").await;
    harness.reply(&folder("path=src&"), [file("src/a.rs")]).double_click_on("src/a.rs").settle().await;
    assert_eq!(harness.app.place().path.as_deref(), Some("src/a.rs"));
}

#[tokio::test]
async fn lines_can_be_marked_copied_jumped_to_and_wrapped() {
    let mut harness = open("success", numbered(100)).await;
    harness.press("L").type_text("41").press("Enter");
    assert!(harness.line_with("frame 40").starts_with('▌'), "{}", harness.picture());
    harness.drag("frame 40", "frame 44").expect("5 lines marked").click_on("frame 40").expect_no("lines marked");
    harness.press("Space j j").expect("3 lines marked");
    harness.press("y").press("Enter");
    assert_eq!(harness.copied(), ["frame 40\nframe 41\nframe 42"]);
    harness
        .press("Esc")
        .expect_no("3 lines marked")
        .press("L")
        .type_text("x")
        .press("Enter")
        .expect("Invalid line number \"x\".");
    let mut harness = open("success", format!("{}end\n", "word ".repeat(40))).await;
    harness.press("g g").expect_no("word end").press("W").expect("Line wrap on.");
    assert_eq!(harness.lines().iter().filter(|line| line.contains("word word")).count(), 3, "{}", harness.picture());
}

#[tokio::test]
async fn a_number_repeats_a_movement_or_names_a_line() {
    let mut harness = open("success", numbered(100)).await;
    let at = |harness: &Harness, line: usize| {
        let is_there = harness.picture().lines().any(|row| row.starts_with(&format!("▌{line:>3}  ")));
        assert!(is_there, "{line}\n{}", harness.picture());
    };
    harness.press("g g 5 j");
    at(&harness, 6);
    harness.press("2 k");
    at(&harness, 4);
    harness.press("1 0 j").press("5 0 G");
    at(&harness, 50);
    harness.press("7 g g");
    at(&harness, 7);
    // The footer shows the number; Esc drops it, and does not leave.
    harness.press("1 2").expect("12 …").press("Esc").expect_no("12 …").press("j");
    at(&harness, 8);
    assert_eq!(harness.app.place().pane, "job");
    // A step to the next of something is repeated, too; marking lines works as in vim.
    harness.press("/").type_text("frame").press("Enter").settle().await;
    harness.press("g g 5 n");
    // Line 4 is another one.
    at(&harness, 7);
    harness.press("V 2 j").expect("3 lines marked").press("v").expect_no("lines marked");
    // Other commands are run once.
    harness.press("3 L").type_text("41").press("Enter");
    at(&harness, 41);
}

#[tokio::test]
async fn a_trace_can_be_saved_and_opened_in_the_pager() {
    let mut harness = open("success", "\u{1b}[31mred\u{1b}[0m\nplain\n").await;
    harness.press("O").settle().await;
    assert_eq!(harness.paged(), ["red\nplain\n"]);
    harness.press("O").settle().await;
    assert_eq!(harness.paged().len(), 2);
    harness.press("s").expect("unit-7.log").press("Enter");
    let (_, order) = harness.transfers().first().cloned().expect("it is saved");
    assert_eq!(order.download.request.line(), format!("{}/trace", path(7)));
}

#[tokio::test]
async fn error_and_warning_patterns_come_from_the_configuration() {
    let mut begin = begin(7);
    let patterns = Patterns::new(&["^BAD".into()], &["^hm".into()]).expect("expressions");
    begin.trace_settings = Arc::new(TraceSettings { patterns, ..TraceSettings::default() });
    let mut harness = open_with(begin, "success", "error: usual\nBAD thing\nhm, odd\nend\n").await;
    harness.press("g g e").settle().await;
    assert!(harness.line_with("BAD thing").starts_with('▌'), "{}", harness.picture());
    harness.press(")").settle().await;
    assert!(harness.line_with("hm, odd").starts_with('▌'), "{}", harness.picture());
    harness.press(")").settle().await;
    harness.expect("No warning below.");
}

#[tokio::test]
async fn a_trace_larger_than_the_limit_is_scrolled_and_searched_on_disk() {
    let mut begin = begin(7);
    begin.trace_settings = Arc::new(TraceSettings { memory: 1 << 20, ..TraceSettings::default() });
    let words: String = (0..150_000).map(|n| format!("line {n} is one of many\n")).collect();
    let mut harness = open_with(begin, "success", words).await;
    harness.expect("line 149999 is").press("g g").settle().await;
    harness.expect("line 0 is").press("L").type_text("70001").press("Enter").settle().await;
    assert!(harness.line_with("line 70000 is").starts_with('▌'), "{}", harness.picture());
    harness.press("PageUp PageUp").settle().await;
    harness.expect("line 69960 is");
    harness.press("/").type_text("line 33333 ").settle().await;
    harness.expect("line 33333 is").expect("1 of 1");
}

#[tokio::test]
async fn a_trace_that_arrives_faster_than_the_disk_is_paused() {
    let mut begin = begin(7);
    begin.trace_settings = Arc::new(TraceSettings { memory: 1 << 20, ..TraceSettings::default() });
    let mut harness = open_with(begin, "running", numbered(300_000)).await;
    let request = harness.follows().expect("the trace is followed");
    assert!(harness.holding().is_empty());
    let more = numbered(2_500_000);
    for piece in more.as_bytes().chunks(1 << 20) {
        harness.send(Msg::Bytes { request: request.clone(), bytes: piece.to_vec().into(), restart: false });
    }
    assert_eq!(harness.holding(), [true], "{} bytes came", more.len());
    harness.settle().await;
    assert_eq!(harness.holding(), [true, false]);
    harness.expect("2,800,000 lines");
}

#[tokio::test]
async fn a_rewritten_trace_is_read_from_the_start() {
    let mut harness = open("running", numbered(50)).await;
    harness.press("Space k k").expect("marked");
    let request = harness.follows().expect("the trace is followed");
    harness.send(Msg::Bytes { request: request.clone(), bytes: "other words\n".into(), restart: true });
    harness.expect("other words").expect_no("frame 49").expect_no("marked");
    harness.expect("The trace of #7 was rewritten; reading it from the start.");
    harness.press("k").pass(20).expect("1 line ");
    // The trace is erased meanwhile: nothing is left, and the screen says so.
    harness.send(Msg::Bytes { request: request.clone(), bytes: Default::default(), restart: true });
    harness.send(Msg::Arrived(TaskKey::Follow(request), Ok(Outcome::End(None))));
    harness.expect("This job has no output.").expect_no("other words");
    harness.press("j k G g g e E & Esc Space y Esc Z f").settle().await;
}

#[tokio::test]
async fn search_results_are_discarded_when_the_trace_is_rewritten() {
    let mut harness = open("running", numbered(50)).await;
    harness.press("/").type_text("frame").settle().await;
    harness.press("Enter").expect("of 45");
    let request = harness.follows().expect("the trace is followed");
    let anew: String = (0..90).map(|line| format!("{} {line}\n", if line == 70 { "frame" } else { "other" })).collect();
    harness.send(Msg::Bytes { request, bytes: anew.into(), restart: true });
    harness.settle().await;
    harness.press("n").settle().await;
    harness.expect("1 of 1").expect("frame 70");
}

#[tokio::test]
async fn several_traces_can_be_followed_at_once() {
    let place = Place::new("traces").project(PROJECT).item("7,8,9,8");
    let mut harness = Begin::at(place).size(160, 40).open();
    for (id, name) in [(7, "unit"), (8, "screens"), (9, "bench")] {
        harness.reply(&path(id), job(id, name, "running"));
        harness.reply_raw(&format!("{}/trace", path(id)), format!("{name} begins\n"));
    }
    harness.settle().await;
    harness
        .expect("3 traces")
        .expect("3 running")
        .expect("unit begins")
        .expect("screens begins")
        .expect("bench begins");
    harness.reply_raw(&format!("{}/trace", path(9)), "bench begins\nbench goes on\n").settle().await;
    harness.expect("bench goes on").expect("2 lines");
    harness.press("Tab z").expect("screens begins").expect_no("bench goes on").press("Esc").expect("bench goes on");
    harness.click_on("bench goes on").press("Enter");
    assert_eq!(harness.app.place(), Place::new("job").project(PROJECT).item(9));
    harness.press("q x").expect("2 traces").expect_no("bench goes on");
    for (width, height) in [(80, 24), (44, 12), (100, 13), (300, 80), (20, 5)] {
        harness.resize(width, height).press("Tab j k / x Esc");
    }
}

#[tokio::test]
async fn only_running_jobs_are_counted_as_running() {
    let place = Place::new("traces").project(PROJECT).item("7,8,9,10");
    let mut harness = Begin::at(place).size(160, 40).open();
    for (id, status) in [(7, "success"), (8, "failed"), (9, "canceled"), (10, "pending")] {
        harness.reply(&path(id), job(id, "unit", status));
        harness.reply_raw(&format!("{}/trace", path(id)), "it begins\n");
    }
    harness.settle().await;
    harness.expect("4 traces").expect("1 waiting").expect_no("running");
    harness.reply(&path(10), job(10, "unit", "running")).pass(2).settle().await;
    harness.expect("1 running").expect_no("waiting");
    harness.press("x x x").expect("1 trace ");
}

#[tokio::test]
async fn marked_jobs_or_siblings_of_a_job_are_followed_side_by_side() {
    let mut harness = Begin::at(Place::new("jobs").project(PROJECT)).open();
    let all = [job(9, "bench", "running"), job(8, "screens", "running"), job(7, "unit", "success")];
    harness.reply("GET /projects/acme%2Frocket-ui/jobs", &all).settle().await;
    harness.press("|");
    assert_eq!(harness.app.place().item.as_deref(), Some("9,8"));
    harness.press("q Space Space Space |");
    assert_eq!(harness.app.place().item.as_deref().map(|ids| ids.split(',').count()), Some(3));
    let mut harness = open("running", "x\n").await;
    harness.reply("GET /projects/acme%2Frocket-ui/pipelines/318/jobs?include_retried=true", &all).settle().await;
    harness.press("|");
    assert_eq!(harness.app.place().item.as_deref(), Some("7,9,8"));
}

#[tokio::test]
async fn a_watched_job_notifies_in_any_place_when_it_finishes() {
    let mut harness = open("running", "x\n").await;
    harness.press("w").expect("Watching #7 unit").expect("watching 1");
    harness.press("g h").settle().await;
    assert!(harness.app.wake_at().is_some(), "it is polled");
    harness.reply(&path(7), job(7, "unit", "failed").with(json!({"duration": 61.0}))).pass(4).settle().await;
    harness.expect("#7 unit failed after 1m 01s.").expect_no("watching 1");
    assert_eq!(harness.notified(), ["#7 unit failed after 1m 01s"]);
}

#[tokio::test]
async fn a_watched_pipeline_reports_failures_and_a_deleted_one_is_dropped() {
    let jobs = "GET /projects/acme%2Frocket-ui/pipelines/318/jobs?include_retried=true";
    let mut harness = Begin::at(Place::new("jobs").project(PROJECT)).open();
    harness.reply("GET /projects/acme%2Frocket-ui/jobs", [job(8, "screens", "running")]);
    harness.reply(jobs, [job(8, "screens", "running")]).settle().await;
    harness.press("W").settle().await;
    harness.expect("Watching pipeline 318");
    let mut failed = job(8, "screens", "failed");
    failed["pipeline"]["status"] = json!("failed");
    harness.reply(jobs, [failed]).pass(4).settle().await;
    assert_eq!(harness.notified(), ["pipeline 318 failed: screens"]);
    let mut harness = open("running", "x\n").await;
    harness.press("w w").expect("Stopped watching #7 unit.");
    harness.press("w g h").fail(&path(7), 404, "404 Not found").pass(4).settle().await;
    harness.expect("Stopped watching #7 unit: 404 Not found").expect_no("watching 1");
}

#[tokio::test]
async fn a_retried_job_replaces_the_failed_one_among_the_traces() {
    let siblings = "GET /projects/acme%2Frocket-ui/pipelines/318/jobs?include_retried=true";
    let mut harness = Begin::at(Place::new("traces").project(PROJECT).item("7,8")).size(160, 40).open();
    harness.reply(siblings, [job(8, "screens", "running"), job(7, "unit", "failed")]);
    for (id, name, status) in [(7, "unit", "failed"), (8, "screens", "running")] {
        harness.reply(&path(id), job(id, name, status));
        harness.reply_raw(&format!("{}/trace", path(id)), format!("{name} begins\n"));
    }
    harness.settle().await;
    harness.expect("#7 unit").expect("unit begins").expect_no("retried");
    // Somebody else retries the job: the failure stays visible, and a key opens the new run.
    harness.reply(siblings, [job(10, "unit", "running"), job(8, "screens", "running"), job(7, "unit", "failed")]);
    harness.reply(&path(10), job(10, "unit", "running")).reply_raw(&format!("{}/trace", path(10)), "unit again\n");
    harness.pass(10).settle().await;
    harness.expect("retried as #10 (.)").expect("unit begins");
    harness.press(".").settle().await;
    harness.expect("#10 unit").expect("unit again").expect("screens begins").expect_no("unit begins");
    assert_eq!(harness.app.place(), Place::new("traces").project(PROJECT).item("10,8"));
    // The user's own retry is followed automatically.
    harness.reply(siblings, [job(10, "unit", "failed"), job(8, "screens", "running"), job(7, "unit", "failed")]);
    harness.reply(&path(10), job(10, "unit", "failed"));
    harness.pass(10).settle().await;
    harness.expect("2 traces");
    let all = [job(12, "unit", "pending"), job(10, "unit", "failed"), job(8, "screens", "running")];
    harness.reply("POST /projects/acme%2Frocket-ui/jobs/10/retry", job(12, "unit", "pending"));
    harness.reply(siblings, all).reply(&path(12), job(12, "unit", "pending"));
    harness.press("R").settle().await;
    harness.expect("#12 unit").expect("this is #12").expect("Waiting for a runner").expect("screens begins");
    harness.reply(&path(12), job(12, "unit", "manual")).pass(10).settle().await;
    harness.reply("POST /projects/acme%2Frocket-ui/jobs/12/play", job(12, "unit", "pending"));
    harness.expect("P plays it").press("P").expect("This may deploy").press("y").settle().await;
    assert!(harness.asked.iter().any(|line| line.ends_with("/jobs/12/play {}")), "{:?}", harness.asked);
}

/// The end of a long trace comes before the rest: it is shown until everything is known, and each line is there once.
#[tokio::test]
async fn a_long_trace_opens_at_its_end() {
    let whole = numbered(5000);
    let known = |lines: usize| numbered(lines);
    let mut harness = open("running", known(100)).await;
    harness.expect("frame 99").expect("100 lines");
    // The part begins in a line, which is left out.
    let request = harness.follows().expect("the trace is followed");
    let end = whole.as_bytes()[whole.len() - 3005..].to_vec();
    let size = whole.len() as u64;
    harness.send(Msg::StreamEnd { request, bytes: end.into(), size });
    harness.settle().await;
    harness.expect("frame 4999").expect_no("frame 99 ").expect("last ").expect(" read");
    // What is above the end is read meanwhile, and both ends can be shown.
    harness.press("k k").expect("paused");
    assert!(harness.line_with("frame 4997").starts_with('▌'), "{}", harness.picture());
    harness.press("g g").settle().await;
    harness.expect("frame 0").expect_no("frame 4999");
    harness.reply_raw(&format!("{}/trace", path(7)), known(3000)).settle().await;
    harness.expect("frame 0").press("G").settle().await;
    harness.expect("frame 4999").press("k").press("k").press("k");
    assert!(harness.line_with("frame 4996").starts_with('▌'), "{}", harness.picture());
    // A search says that there may be more.
    harness.press("/").type_text("nowhere").press("Enter").settle().await;
    harness.expect("nothing found so far").press("Esc");
    // The rest arrives: the cursor stays on its line, which has a number now.
    harness.reply_raw(&format!("{}/trace", path(7)), whole.clone()).settle().await;
    harness.expect("5,000 lines").expect_no(" read").expect_no("last ");
    let line = harness.line_with("frame 4996");
    assert!(line.starts_with('▌') && line.contains("4997"), "{}", harness.picture());
    harness.press("g g").settle().await;
    harness.expect("frame 0").press("G").settle().await;
    harness.expect("frame 4999");
}

/// The size of a trace, as the server states it, may be wrong: the end is part of the rest in any case.
#[tokio::test]
async fn a_trace_that_is_shorter_than_stated_is_shown_whole() {
    let whole = numbered(5000);
    let mut harness = open("running", numbered(100)).await;
    let request = harness.follows().expect("the trace is followed");
    let bytes = whole.as_bytes()[whole.len() - 3005..].to_vec();
    harness.send(Msg::StreamEnd { request: request.clone(), bytes: bytes.into(), size: 10 * whole.len() as u64 });
    harness.settle().await;
    harness.expect("frame 4999").expect("last ");
    harness.reply_raw(&format!("{}/trace", path(7)), whole).settle().await;
    harness.send(Msg::StreamRead(request));
    harness.settle().await;
    harness.expect("frame 4999").expect("5,000 lines").expect_no("last ").expect_no(" read");
}

#[tokio::test]
async fn the_end_of_a_trace_does_not_move_a_cursor_that_was_moved_before() {
    let whole = numbered(5000);
    let mut harness = open("running", numbered(100)).await;
    harness.press("k k k");
    let request = harness.follows().expect("the trace is followed");
    let bytes = whole.as_bytes()[whole.len() - 3005..].to_vec();
    harness.send(Msg::StreamEnd { request, bytes: bytes.into(), size: whole.len() as u64 });
    harness.settle().await;
    assert!(harness.line_with("frame 96").starts_with('▌'), "{}", harness.picture());
    harness.press("G").settle().await;
    harness.expect("frame 4999");
    // For screen readers, nothing moves by itself.
    let mut harness = open_with(begin(7).accessible(), "running", numbered(100)).await;
    let request = harness.follows().expect("the trace is followed");
    let bytes = whole.as_bytes()[whole.len() - 3005..].to_vec();
    harness.send(Msg::StreamEnd { request, bytes: bytes.into(), size: whole.len() as u64 });
    harness.settle().await;
    harness.expect("frame 0").expect_no("frame 4999");
}
