//! Jobs by pipeline and stage, the board, and actions on jobs.

use crate::fixtures::{With, job};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use serde_json::{Value, json};

fn one(id: u64, pipeline: u64, stage: &str, name: &str, status: &str) -> Value {
    let at = |minute: u64| format!("2026-06-15T11:{minute:02}:00Z");
    let job = job(id, name, status).with(json!({
        "stage": stage, "created_at": at(10), "user": {"id": 1, "username": "ada"},
        "pipeline": {"id": pipeline, "ref": "main", "sha": "9f3c2ab0d1e2", "status": "running"},
        "commit": {"id": "9f3c2ab0d1e2", "short_id": "9f3c2ab0", "title": "Draw only visible rows"},
    }));
    match status {
        "running" => job.with(json!({"started_at": at(59), "runner": {"id": 3, "description": "mill-3"}})),
        "success" | "failed" => job.with(json!({"started_at": at(20), "finished_at": at(22), "duration": 120.0})),
        _ => job,
    }
}

fn world() -> Vec<Value> {
    vec![
        one(25, 318, "test", "unit", "success"),
        one(24, 318, "deploy", "production", "manual"),
        one(23, 318, "test", "bench", "running"),
        one(22, 318, "test", "screens", "failed"),
        one(21, 318, "test", "unit", "failed"),
        one(20, 318, "build", "compile", "success"),
        one(11, 317, "test", "unit", "success"),
        one(10, 317, "build", "compile", "success"),
    ]
}

fn place() -> Place {
    Place::new("jobs").project("acme/rocket-ui")
}

const JOBS: &str = "GET /projects/acme%2Frocket-ui/jobs";
const OF_318: &str = "GET /projects/acme%2Frocket-ui/pipelines/318/jobs?include_retried=true";

async fn open(width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(place()).size(width, height).open();
    let of_318: Vec<Value> = world().into_iter().filter(|job| job["pipeline"]["id"] == 318).collect();
    harness.reply(JOBS, world()).reply(OF_318, of_318).settle().await;
    harness
}

#[tokio::test]
async fn polling_slows_down_without_focus_and_refreshes_on_focus() {
    let mut harness = open(80, 24).await;
    harness.pass(3);
    assert!(harness.waiting().iter().any(|line| line.starts_with(JOBS)), "{:?}", harness.waiting());
    harness.settle().await;
    harness.send(Msg::Focus(false));
    let asks = |harness: &Harness| harness.waiting().iter().any(|line| line.starts_with(JOBS));
    harness.pass(3).pass(3).pass(3);
    assert!(!asks(&harness), "{:?}", harness.waiting());
    harness.pass(4);
    assert!(asks(&harness), "it is still polled");
    harness.settle().await;
    harness.pass(11);
    harness.send(Msg::Focus(true));
    assert!(asks(&harness), "data older than ten seconds is refetched");
    harness.settle().await.expect("bench");
}

#[tokio::test]
async fn a_double_click_opens_a_job() {
    let mut harness = open(80, 24).await;
    harness.double_click_on("bench");
    assert_eq!(harness.app.place(), Place::new("job").project("acme/rocket-ui").item(23));
}

#[tokio::test]
async fn an_action_without_a_job_says_so() {
    let mut harness = Begin::at(place()).size(80, 24).open();
    harness.reply(JOBS, json!([])).settle().await;
    for key in ["R", "X", "P", "Delete"] {
        harness.press(key).expect("Nothing is selected");
    }
}

/// The tags of a job are in replies of today; a runner's tags are in its own reply alone.
#[tokio::test]
async fn a_waiting_job_says_why() {
    let gate = one(41, 319, "check", "release gate", "manual").with(json!({"allow_failure": false}));
    let jobs = vec![
        one(37, 320, "deploy", "ship", "created"),
        one(36, 320, "test", "unit", "running"),
        one(35, 320, "test", "flags", "created"),
        one(34, 320, "test", "model", "pending").with(json!({"tag_list": ["gpu"]})),
        one(33, 320, "test", "lock", "waiting_for_resource"),
        one(32, 320, "build", "compile", "success"),
        one(42, 319, "ship", "publish", "created"),
        gate,
        one(40, 319, "build", "later", "scheduled"),
        one(39, 318, "ship", "upload", "created"),
        one(38, 318, "check", "second gate", "manual").with(json!({"allow_failure": false})),
    ];
    let mut harness = Begin::at(place()).size(140, 40).open();
    harness.reply(JOBS, jobs.clone()).reply("GET /user", json!({"id": 1, "username": "ada"}));
    let project = json!({"id": 3, "path_with_namespace": "acme/rocket-ui", "default_branch": "main"});
    harness.reply("GET /projects/acme%2Frocket-ui", project).settle().await;
    let says = |harness: &Harness, job: &str, words: &str| {
        assert!(harness.line_with(&format!(" {job}  ")).contains(words), "{job}: {words}\n{}", harness.picture());
    };
    harness.press("z");
    says(&harness, "ship", "waiting for stage test: lock, model, flags and 1 more");
    says(&harness, "flags", "waiting for the jobs that it needs");
    says(&harness, "model", "waiting for a runner with the tags gpu");
    says(&harness, "lock", "waiting for another job of its resource group");
    says(&harness, "publish", "waiting for stage build: later");
    says(&harness, "later", "starts after a delay");
    says(&harness, "upload", "waiting for manual job second gate of stage check");
    // What was read elsewhere tells more.
    let runners = json!([{"id": 7, "description": "mill", "active": true, "online": true, "status": "online"}]);
    harness.reply("GET /projects/acme%2Frocket-ui/runners", runners);
    harness.reply("GET /runners/7", json!({"id": 7, "active": true, "online": true, "tag_list": ["cpu"]}));
    harness.press(":").type_text("runners").press("Enter").settle().await;
    harness.pass(1).settle().await;
    harness.press(":").type_text("jobs").press("Enter").settle().await;
    harness.press("z");
    says(&harness, "model", "waiting for a runner: no runner that is online has the tags gpu");
}

#[tokio::test]
async fn jobs_are_listed_by_pipeline_and_stage() {
    let harness = open(80, 24).await;
    let lines = harness.lines();
    let at = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap_or_else(|| panic!("no {words}"));
    assert!(at("pipeline 318  main 9f3c2ab0  ● running") < at("build"));
    assert!(at("build") < at("screens") && at("screens") < at("production"));
    assert!(at("production") < at("pipeline 317"));
    assert!(harness.line_with("bench").contains("● running"));
    assert!(harness.line_with("bench").contains("1m 00s"));
    assert!(harness.line_with("retried").contains("unit"));
}

#[tokio::test]
async fn clocks_tick_for_running_jobs_and_an_idle_list_does_not_wake_up() {
    let mut harness = open(80, 24).await;
    harness.pass(1);
    assert!(harness.line_with("bench").contains("1m 01s"), "{}", harness.picture());
    assert!(harness.app.wake_at().is_some());
    let quiet: Vec<Value> = world().into_iter().filter(|job| job["status"] == "success").collect();
    harness.reply(JOBS, &quiet).pass(2).settle().await;
    harness.expect_no("bench");
    harness.pass(10);
    assert_eq!(harness.app.wake_at(), None, "nothing runs, but the app still wakes up");
}

#[tokio::test]
async fn a_marked_job_on_two_pages_is_retried_once() {
    // New jobs that were created between the requests move a job to the next page.
    let mut harness = open(80, 24).await;
    let twice: Vec<Value> = world().into_iter().chain([one(22, 318, "test", "screens", "failed")]).collect();
    harness.reply(JOBS, twice).press("r").settle().await;
    harness.press("G Space").press("/").type_text("screens").press("Enter Space").settle().await;
    harness.expect("2 marked").press("R").settle().await;
    let sent: Vec<&String> = harness.asked.iter().filter(|line| line.starts_with("POST")).collect();
    assert_eq!(sent, ["POST /projects/acme%2Frocket-ui/jobs/22/retry {}"], "it waits for the first answer");
    harness.expect("Retry 2 jobs").expect("0 of 2 done");
}

#[tokio::test]
async fn jobs_are_marked_on_the_board_too() {
    let mut harness = open(140, 30).await;
    harness.press("l l Space").expect("1 marked");
    harness.press("Space").settle().await;
    harness.expect("2 marked").press("h Space").settle().await;
    harness.expect("3 marked");
    harness.press("R").settle().await;
    let sent: Vec<&String> = harness.asked.iter().filter(|line| line.starts_with("POST")).collect();
    assert_eq!(sent.len(), 1, "one after the other: {sent:?}");
    harness.expect("Retry 3 jobs");
}

#[tokio::test]
async fn running_jobs_are_polled_and_the_selection_stays_on_its_job() {
    let mut harness = open(80, 24).await;
    harness.press("j j");
    assert!(harness.line_with("screens").starts_with('▌') || harness.line_with("retried").starts_with('▌'));
    let selected = harness.lines().into_iter().find(|line| line.starts_with('▌')).expect("a selection");
    let name = if selected.contains("unit") { "retried" } else { "screens" };
    let mut more = vec![one(40, 320, "build", "compile", "pending"), one(39, 319, "build", "compile", "created")];
    more.extend(world());
    harness.reply(JOBS, more).pass(2).settle().await;
    harness.expect("pipeline 320");
    assert!(harness.line_with(name).starts_with('▌'), "{}", harness.picture());
    let before = harness.asked.len();
    harness.pass(2).settle().await;
    assert!(harness.asked[before..].iter().any(|line| line.starts_with(JOBS)), "{:?}", harness.asked);
}

#[tokio::test]
async fn actions_apply_to_marked_jobs_and_report_failures() {
    let mut harness = open(80, 24).await;
    // The rows: build compile, unit, unit (retried), screens.
    harness.press("j j j Space").expect("1 marked");
    harness.press("k k k k Space").expect("2 marked");
    harness.reply("POST /projects/acme%2Frocket-ui/jobs/20/retry", one(24, 318, "build", "compile", "pending"));
    harness.fail("POST /projects/acme%2Frocket-ui/jobs/22/retry", 403, "403 Forbidden");
    harness.press("R").settle().await;
    harness.expect("Retry 2 jobs").expect("1 of 2 done, 1 failed").expect("403").press("Esc");
    let sent: Vec<&String> = harness.asked.iter().filter(|line| line.starts_with("POST")).collect();
    assert_eq!(
        sent,
        ["POST /projects/acme%2Frocket-ui/jobs/22/retry {}", "POST /projects/acme%2Frocket-ui/jobs/20/retry {}"]
    );
    harness.expect_no("marked");
    harness.press("g g P");
    harness.expect("only manual jobs can be played");
}

#[tokio::test]
async fn canceling_and_erasing_ask_for_confirmation_with_the_job_name() {
    let mut harness = open(80, 24).await;
    harness.press("/").type_text("bench").press("Enter X");
    harness.expect("Cancel #23 bench?");
    harness.press("n");
    assert!(!harness.asked.iter().any(|line| line.starts_with("POST")), "{:?}", harness.asked);
    harness.press("X y");
    assert!(harness.asked.iter().any(|line| line.ends_with("/jobs/23/cancel")), "{:?}", harness.asked);
    harness.press("Esc / C-u").type_text("screens").press("Enter Delete");
    harness.expect("Erase #22 screens? Its trace will be permanently").expect("deleted.");
}

#[tokio::test]
async fn declining_a_question_keeps_the_marks() {
    let mut harness = open(80, 24).await;
    harness.press("/").type_text("bench").press("Enter Space").expect("1 marked");
    harness.press("X").expect("Cancel #23 bench?");
    harness.press("n").expect("1 marked");
    harness.press("X y").expect_no("marked");
}

#[tokio::test]
async fn jobs_behind_a_manual_job_are_not_polled() {
    let mut harness = open(80, 24).await;
    let mut waits = one(30, 321, "deploy", "production", "created");
    waits["pipeline"]["status"] = json!("manual");
    harness.reply(JOBS, [waits]).pass(2).settle().await;
    harness.expect("pipeline 321");
    harness.pass(10);
    assert_eq!(harness.app.wake_at(), None, "nothing runs, but the app still wakes up");
}

#[tokio::test]
async fn the_filter_keeps_matching_jobs_and_an_empty_tab_says_so() {
    let mut harness = open(80, 24).await;
    harness.press("/").type_text("screens").press("Enter");
    harness.expect("screens").expect_no("compile");
    harness.press("Esc");
    harness.expect("compile");
    harness.reply("GET /projects/acme%2Frocket-ui/jobs?scope%5B%5D=manual", Vec::<Value>::new());
    harness.reply("GET /projects/acme%2Frocket-ui/jobs?scope[]=manual", Vec::<Value>::new());
    harness.press("6").settle().await;
    harness.expect("No job is in that state.");
}

#[tokio::test]
async fn a_word_of_the_filter_can_be_a_status_and_without_a_match_the_board_is_empty() {
    let mut harness = open(160, 30).await;
    harness.press("/").type_text("running").press("Enter");
    assert!(head(&harness).contains("1 of 8 "), "{}", harness.picture());
    harness.expect("bench").expect("Pipeline 318 ─").press("/ C-u").type_text("nothing-like-it").press("Enter");
    harness.expect_no("Pipeline 318 ─").expect_no("deploy");
}

/// Returns the first line of the screen.
fn head(harness: &Harness) -> String {
    harness.lines().remove(0)
}

#[tokio::test]
async fn the_header_counts_the_visible_jobs() {
    let mut harness = open(120, 24).await;
    assert!(head(&harness).contains("jobs  8 "), "{}", harness.picture());
    harness.press("/").type_text("screens").press("Enter");
    assert!(head(&harness).contains("screens  1 of 8 "), "{}", harness.picture());
    harness.press("/ C-u").type_text("nothing-like-it").press("Enter");
    assert!(head(&harness).contains("0 of 8 "), "{}", harness.picture());
}

#[tokio::test]
async fn a_job_on_two_pages_is_counted_once() {
    let mut harness = Begin::at(place()).size(120, 24).open();
    // A job was added between the pages: the last job of the first page is also the first of the second.
    let mut all: Vec<Value> = (0..100).map(|n| one(1000 - n, 318, "test", &format!("job-{n}"), "success")).collect();
    all.push(all[99].clone());
    all.push(one(7, 318, "test", "the-last", "success"));
    harness.reply(JOBS, all).settle().await;
    harness.press("G").settle().await;
    harness.press("g g").expect("the-last");
    assert!(head(&harness).contains("jobs  101 "), "{}", harness.picture());
}

#[tokio::test]
async fn a_wide_screen_shows_the_pipeline_as_a_navigable_board() {
    let mut harness = open(160, 30).await;
    harness.expect("Pipeline 318 ─").expect("by ada");
    let head = harness.line_with(" deploy ");
    assert!(head.contains("build") && head.contains("test"), "{head}");
    harness.press("l l j");
    harness.press("Enter");
    assert_eq!(harness.app.place().item.as_deref(), Some("22"), "{}", harness.picture());
    harness.press("q").settle().await;
    harness.press("h h");
    harness.click_on("production");
    let environment = json!({"id": 1, "name": "production"});
    harness.reply("GET /projects/acme%2Frocket-ui/environments", [environment]);
    harness.reply("GET /projects/acme%2Frocket-ui/deployments", json!([])).settle().await;
    harness.press("M-p").expect("Play #24 production with variables? This deploys to").press("n");
    harness.press("P").expect("Play #24 production? This deploys to production.").press("y");
    assert!(harness.asked.iter().any(|line| line.ends_with("/jobs/24/play {}")), "{:?}", harness.asked);
}

#[tokio::test]
async fn the_wheel_over_the_list_leaves_the_focus_on_the_board() {
    let mut harness = open(160, 30).await;
    harness.press("l").wheel_on("pipeline 317", true).press("l j Enter");
    assert_eq!(harness.app.place().item.as_deref(), Some("22"), "{}", harness.picture());
}

#[tokio::test]
async fn details_of_the_selected_job_are_shown_below_the_board() {
    let mut harness = Begin::at(place().item(318)).size(160, 40).open();
    let mut of_318: Vec<Value> = world().into_iter().filter(|job| job["pipeline"]["id"] == 318).collect();
    of_318[2]["coverage"] = json!(85.54);
    of_318[2]["queued_duration"] = json!(7.0);
    let mut before: Vec<Value> = (1..6).map(|id| one(id, id, "test", "bench", "success")).collect();
    for (took, job) in before.iter_mut().enumerate() {
        job["duration"] = json!(60 + 10 * took);
    }
    harness.reply(OF_318, of_318).reply("GET /projects/acme%2Frocket-ui/jobs?scope[]=success", before);
    harness.settle().await;
    harness.expect("#20 compile ─").press("Tab l j j").settle().await;
    assert!(harness.line_with("#23  1m 00s").starts_with('▌'), "{}", harness.picture());
    harness.expect("✓ unit          2m 00s    ▷");
    harness.expect("#23 bench ─").expect("Coverage   85.5 %").expect("Queued     7s").expect("mill-3 #3");
    harness.expect("Median     1m 20s").expect("Draw only visible rows");
    // Without room below the board, the median is shown under the job itself.
    harness.resize(160, 12);
    harness.expect("median 1m 20s").expect_no("Coverage");
    harness.resize(80, 24);
    harness.expect("#23 bench ─").expect("Median     1m 20s");
}

#[tokio::test]
async fn typing_a_filter_moves_the_cursor_to_the_first_match_for_good() {
    let mut harness = open(80, 24).await;
    harness.press("j j j j j").press("/").type_text("ref:main name:unit");
    assert!(harness.lines().iter().find(|line| line.starts_with('▌')).expect("a cursor").contains("#25"));
    harness.press("Enter Esc").settle().await;
    assert!(harness.line_with("#25").starts_with('▌'), "{}", harness.picture());
    harness.expect("production");
}

#[tokio::test]
async fn errors_are_shown_in_place_of_the_jobs() {
    let mut harness = Begin::at(place()).open();
    harness.fail(JOBS, 403, "403 Forbidden").settle().await;
    harness.expect("Not allowed").expect("403 Forbidden");
}

#[tokio::test]
async fn an_error_above_known_jobs_takes_one_line() {
    let mut harness = open(80, 24).await;
    harness.unreachable(JOBS).pass(2).settle().await;
    harness.expect("bench").expect("Server unreachable");
}

#[tokio::test]
async fn a_refused_list_is_not_polled_and_no_clock_ticks() {
    for (status, words) in [(404, "Not found"), (403, "Not allowed"), (401, "Not signed in")] {
        let mut harness = open(80, 24).await;
        harness.press("j").fail(JOBS, status, "no more").pass(2).settle().await;
        harness.expect("bench").expect(words);
        let before = harness.asked.len();
        harness.pass(10).pass(60).settle().await;
        assert!(!harness.asked[before..].iter().any(|line| line.starts_with(JOBS)), "{:?}", harness.asked);
        assert_eq!(harness.app.wake_at(), None, "{status}: nothing is live, but the app still wakes up");
    }
}

#[tokio::test]
async fn the_jobs_can_be_drawn_at_any_size() {
    let mut harness = open(160, 40).await;
    for (width, height) in [(44, 12), (60, 13), (100, 12), (119, 20), (120, 12), (121, 60), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab").resize(width, height);
        harness.press("z Tab z");
    }
}

#[tokio::test]
async fn the_jobs_screen_matches_its_snapshots() {
    insta::assert_snapshot!("jobs_80", open(80, 24).await.picture());
    insta::assert_snapshot!("jobs_160", open(160, 30).await.picture());
}

#[tokio::test]
async fn variables_of_a_manual_job_are_sent_but_never_stored() {
    let mut harness = Begin::at(place()).size(120, 30).open();
    harness.reply(
        "GET /projects/acme%2Frocket-ui/jobs",
        [one(7, 3, "deploy", "ship", "manual"), one(6, 3, "test", "unit", "success")],
    );
    for list in ["deployments", "environments"] {
        harness.reply(&format!("GET /projects/acme%2Frocket-ui/{list}"), json!([]));
    }
    harness.settle().await;
    harness.press("/").type_text("unit").press("Enter M-p").expect("only manual jobs can be played").press("Esc");
    harness.press("/").type_text("ship").press("Enter").settle().await;
    harness.press("M-p").expect("Play #7 ship");
    harness.press("Enter").type_text("TOKEN=s3cret").press("Enter").type_text("LOUD=a b").press("C-o");
    assert!(harness.kept.values().all(|text| !text.contains("s3cret")), "{:?}", harness.kept);
    harness.press("Esc");
    let play = "POST /projects/acme%2Frocket-ui/jobs/7/play";
    harness.reply(play, one(7, 3, "deploy", "ship", "started")).press("C-s").settle().await;
    let line = harness.asked.iter().rfind(|line| line.starts_with(play)).cloned().unwrap_or_default();
    let sent = r#""job_variables_attributes":[{"key":"TOKEN","value":"s3cret"},{"key":"LOUD","value":"a b"}]"#;
    assert!(line.contains(sent), "{line}");
    assert_eq!(harness.app.place().pane, "job");
    assert!(harness.kept.values().all(|text| !text.contains("s3cret")), "{:?}", harness.kept);
}
