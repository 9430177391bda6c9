//! Malformed traces: shrinking, erased while viewed, binary, misnested, or full of escapes; and servers that ignore
//! ranges.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use crate::scripted::{Scripted, answer};
use labscope::app::Place;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const JOB: &str = "GET /projects/acme%2Frocket-ui/jobs/7";
const TRACE: &str = "GET /projects/acme%2Frocket-ui/jobs/7/trace";

fn job(status: &str) -> Value {
    fixtures::job(7, "unit", status).with(json!({"started_at": "2026-06-15T11:58:29Z"}))
}

fn begin() -> Begin {
    Begin::at(Place::new("job").project("acme/rocket-ui").item(7))
}

async fn open(status: &str, trace: impl Into<Vec<u8>>) -> Harness {
    let mut harness = begin().open();
    harness.reply(JOB, job(status)).reply_raw(TRACE, trace).settle().await;
    harness
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_shown_once_without_ranges_and_a_rewritten_trace_restarts() {
    let turn = Arc::new(AtomicUsize::new(0));
    let turns = turn.clone();
    let server = Scripted::minded(move |asked| {
        // Long enough for a range request.
        let after = |word: &str, text: &str| format!("{}{text}", format!("{word}\n").repeat(100));
        let said = |word: &str, text: &str| answer(200, after(word, text)).with("content-type", "text/plain");
        if asked.line.contains("/trace") {
            // First the whole trace for any range, then a different, shorter trace, then a part from the wrong offset.
            return match turns.fetch_add(1, Ordering::SeqCst) {
                0 => said("begun", "one\ntwo\n"),
                1 => said("begun", "one\ntwo\nthree\n"),
                2 | 3 => said("other", "anew\n"),
                4 => answer(206, "odd\n").with("content-range", "bytes 900-903/904"),
                _ => said("other", "anew\nthe end\n"),
            };
        }
        let status = if turns.load(Ordering::SeqCst) > 5 { "success" } else { "running" };
        match asked.line.contains("/jobs/7") {
            true => answer(200, job(status).to_string()).with("content-type", "application/json"),
            false => answer(404, "{\"message\":\"404 Not found\"}").with("content-type", "application/json"),
        }
    })
    .await;
    let mut harness = begin().server(server.url.as_str(), "token").open();
    harness.until("three").await;
    assert_eq!(harness.lines().iter().filter(|line| line.contains("two")).count(), 1, "{}", harness.picture());
    harness.until("anew").await;
    harness.expect("The trace of #7 was rewritten");
    harness.expect_no("three");
    harness.until("the end").await;
    harness.expect_no("odd").expect("102 lines");
    let ranges = server.asked().iter().filter(|asked| !asked.header("range").is_empty()).count();
    assert!(ranges > 0, "ranges were requested");
}

#[tokio::test]
async fn a_trace_erased_while_viewed_is_reported_and_every_key_is_safe() {
    let mut harness = open("running", "one\ntwo\n").await;
    harness.press("k Space");
    let erased = job("failed").with(json!({"erased_at": "2026-06-15T11:59:30Z"}));
    harness.reply(JOB, erased).reply_raw(TRACE, "").settle().await;
    harness.expect("The trace was erased");
    harness.press("j k g g G e E ( ) f T W Z & Esc L 3 Enter Space Enter n N y Esc O s Esc").settle().await;
}

#[tokio::test]
async fn binary_traces_and_misnested_sections_can_be_shown() {
    let mut bytes = b"caf\xe9 \xff\xfe bad\x00bytes\n".to_vec();
    bytes.extend(b"section_end:1:never\r\x1b[0Kafter an end\n");
    bytes.extend(b"section_start:1:a\r\x1b[0Kouter\nsection_start:2:b\r\x1b[0Kinner\nin both\n");
    bytes.extend(b"section_end:3:a\r\x1b[0Kbeside\nsection_end:4:b\r\x1b[0Klast\n");
    bytes.extend(b"section_start:99999999999999999999999:x\r\x1b[0Kno section\n");
    let mut harness = open("success", bytes).await;
    harness.expect("after an end").expect("in both").expect("beside").expect("last").expect("no section").expect("caf");
    harness.press("g g } Enter").expect("▸ outer").expect_no("in both").expect("beside");
    harness.press("Enter } Enter").expect("▸ inner").expect("▾ outer");
}

#[tokio::test]
async fn megabytes_of_escapes_do_not_affect_other_lines() {
    let mut bytes = b"before\n".to_vec();
    bytes.extend(b"\x1b[31m\x1b[1m".repeat(300_000));
    bytes.extend(b"\n\x1b[0mplain again\n");
    bytes.extend(b"\x1b]0;title".repeat(50_000));
    bytes.extend(b"\nstill here\n");
    bytes.extend((0..2000).flat_map(|n| format!("\r{n}%").into_bytes()));
    bytes.extend(b"\n");
    let mut harness = open("success", bytes).await;
    harness.expect("before").expect("plain again").expect("still here").expect("1999%");
    harness.press("/").type_text("again").settle().await;
    harness.expect("1 of 1");
    assert!(!harness.picture().contains('\u{1b}'));
}

#[tokio::test]
async fn a_job_that_starts_in_the_future_has_run_for_zero_seconds() {
    let ahead = job("running").with(json!({"started_at": "2026-06-15T12:05:00Z"}));
    let mut harness = begin().open();
    harness.reply(JOB, ahead).reply_raw(TRACE, "x\n").settle().await;
    harness.expect("running 0s");
}
