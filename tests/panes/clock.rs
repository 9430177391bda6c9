//! Servers whose clock differs from the local one: ages are correct, and live clocks tick.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use jiff::{SignedDuration, Timestamp};
use labscope::app::Place;
use labscope::app::action::Msg;
use serde_json::{Value, json};

const PROJECT: &str = "acme/rocket-ui";
const JOB: &str = "GET /projects/acme%2Frocket-ui/jobs/7";
const OFF: [i64; 4] = [600, -600, 365 * 86_400, -365 * 86_400];

/// Returns the time `seconds` before the tests' fixed time, by a clock that is `off` seconds ahead.
fn before(seconds: i64, off: i64) -> String {
    let noon: Timestamp = "2026-06-15T12:00:00Z".parse().expect("a time");
    (noon + SignedDuration::from_secs(off - seconds)).to_string()
}

fn job(off: i64) -> Value {
    fixtures::job(7, "bench", "running").with(json!({
        "created_at": before(600, off), "started_at": before(91, off), "duration": 91.4, "queued_duration": 509.0,
        "pipeline": {"id": 318, "ref": "main", "sha": "9f3c2ab0d1e2", "status": "running"},
        "commit": {"id": "9f3c2ab0d1e2", "short_id": "9f3c2ab0", "title": "Rows", "author_name": "Bo",
            "created_at": before(7200, off)},
        "artifacts_file": {"filename": "bench.zip", "size": 120000},
        "artifacts_expire_at": before(-3 * 86_400 - 60, off),
    }))
}

/// Opens a running job on a wide screen, by a clock that is `off` seconds ahead; `known` tells whether the offset is
/// known.
async fn open(off: i64, known: bool) -> Harness {
    let mut harness = Begin::at(Place::new("job").project(PROJECT).item(7)).size(160, 45).open();
    if known {
        harness.send(Msg::ClockOffset(SignedDuration::from_secs(off)));
    }
    harness.reply(JOB, job(off)).reply_raw(&format!("{JOB}/trace"), "one\n").settle().await;
    harness
}

#[tokio::test]
async fn a_live_clock_ticks_with_the_clock_of_its_server() {
    for off in OFF {
        let mut harness = open(off, true).await;
        harness.expect("● running 1m 31s").expect("in 3d").expect("8m 29s");
        assert!(harness.line_with("Authored").trim_end().ends_with("2h ago"), "{}", harness.picture());
        for next in ["1m 32s", "1m 33s", "1m 34s"] {
            harness.pass(1).expect(&format!("● running {next}"));
        }
        harness.expect_no("in 10m").expect_no("in 1y");
    }
}

#[tokio::test]
async fn an_unknown_clock_offset_causes_no_absurd_times() {
    // A server without `Date` headers whose clock is ahead: by the local clock, the job starts in the future.
    let mut harness = open(600, false).await;
    harness.expect("● running 1m 31s").expect_no("-0m").expect_no("in 8m ago");
    harness.pass(2).expect("● running 1m 31s");
    // With a server clock that is behind, the job seems to have been running for longer.
    open(-600, false).await.expect("● running 11m 31s");
}

#[tokio::test]
async fn the_last_contact_of_a_runner_has_the_correct_age() {
    for off in OFF {
        let mut harness = Begin::at(Place::new("runners")).size(160, 45).open();
        harness.send(Msg::ClockOffset(SignedDuration::from_secs(off)));
        let runner = json!({"id": 3, "description": "mill-3", "status": "online", "active": true, "online": true,
            "contacted_at": before(300, off), "is_shared": true, "runner_type": "instance_type"});
        harness.reply("GET /runners", [runner.clone()]).reply("GET /runners/3", runner);
        harness.reply("GET /runners/3/jobs", json!([])).settle().await;
        harness.expect("mill-3").expect("5m").expect_no("in 5m").expect_no("in 15m").expect_no("1y");
    }
}

#[tokio::test]
async fn the_rate_of_a_download_uses_the_local_clock() {
    let place = Place::new("job").project(PROJECT).item(7);
    let mut harness = Begin::at(place).size(80, 24).hold(|_| false).open();
    harness.reply(JOB, job(0)).reply_raw(&format!("{JOB}/trace"), "one\n").settle().await;
    harness.press("s").press("Enter");
    let number = harness.transfers().first().expect("it is saved").0;
    use labscope::app::transfer::TransferEvent;
    for held in [0, 2_000_000, 4_000_000] {
        harness.send(Msg::Transfer(number, TransferEvent::Received(held)));
        harness.pass(1);
        harness.send(Msg::ClockOffset(SignedDuration::from_secs(600)));
    }
    harness.expect("1.3 MB/s");
}

#[tokio::test]
async fn a_clock_that_is_set_back_stops_nothing() {
    for back in [2, 60, 3_600, 365 * 86_400] {
        let mut harness = open(0, true).await;
        harness.pass(1).expect("● running 1m 32s");
        harness.pass(-back).expect("● running 1m 32s");
        harness.pass(1).expect("● running 1m 33s").pass(1).expect("● running 1m 34s");
    }
}
