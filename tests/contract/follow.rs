//! Following a trace on misbehaving servers and connections: in the end, either the received text equals the server's,
//! each byte once, or there is an error with the reason.

use crate::client::at;
use crate::scripted::{Answer, Asked, Scripted, answer};
use jiff::Timestamp;
use labscope::api::client::{Client, Server};
use labscope::api::jobs::{GetJob, GetTrace, Job, ListPipelineJobs};
use labscope::api::pipelines::CreatePipeline;
use labscope::api::{Endpoint, Error, Fault};
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::backend::{Clock, Modes, Options, Version, WorldKind, start};
use labscope::domain::growing::Sink;
use labscope::runtime::executor::Executor;
use labscope::store::{Follow, KnownPart, Load, Task, TaskKey, Value};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use url::Url;

/// A raw reply, and what happens to the connection afterwards.
enum Raw {
    Close(String),
    Stall(String),
}

/// Returns a reply with the correct length.
fn whole(status: &str, headers: &str, body: &str) -> Raw {
    promised(status, headers, body.len(), body)
}

/// Returns a reply that declares a length of `length` bytes and then closes the connection.
fn promised(status: &str, headers: &str, length: usize, body: &str) -> Raw {
    Raw::Close(format!(
        "HTTP/1.1 {status}\r\n{headers}content-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}

/// Returns the bytes of `text` starting at `from`, as a server that supports ranges does.
fn ranged(text: &str, from: usize) -> Raw {
    let total = text.len();
    match from {
        0 => whole("200 OK", "", text),
        from if from >= total => whole("416 Range", &format!("content-range: bytes */{total}\r\n"), ""),
        from => part(text, from),
    }
}

fn part(text: &str, from: usize) -> Raw {
    let header = format!("content-range: bytes {from}-{}/{}\r\n", text.len() - 1, text.len());
    whole("206 Partial Content", &header, &text[from..])
}

/// The reply of a server, by the offset of the requested range.
type Turn = Box<dyn Fn(usize) -> Raw + Send + Sync>;

async fn asked(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8_lossy(&request).to_lowercase())
}

/// Serves one job. Its trace requests are answered by `turns`, one after the other, and then always by the last one.
/// The job is running until all turns except for the last one were used.
async fn serve(turns: Vec<Turn>) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address")).parse().expect("a URL");
    let taken = Arc::new(Mutex::new(0_usize));
    let turns = Arc::new(turns);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (turns, taken) = (turns.clone(), taken.clone());
            tokio::spawn(async move {
                let Some(request) = asked(&mut stream).await else { return };
                let from = request.lines().find_map(|line| line.strip_prefix("range: bytes="));
                let from = from.and_then(|from| from.trim_end_matches('-').parse().ok()).unwrap_or(0);
                let last = turns.len() - 1;
                let raw = if request.contains("/trace") {
                    let turn = {
                        let mut taken = taken.lock().expect("no test panics while it holds this");
                        *taken += 1;
                        *taken - 1
                    };
                    turns[turn.min(last)](from)
                } else {
                    let over = *taken.lock().expect("no test panics while it holds this") >= last;
                    let status = if over { "success" } else { "running" };
                    whole("200 OK", "", &format!(r#"{{"id":7,"name":"n","stage":"s","status":"{status}"}}"#))
                };
                let (text, stall) = match raw {
                    Raw::Close(text) => (text, false),
                    Raw::Stall(text) => (text, true),
                };
                let _ = stream.write_all(text.as_bytes()).await;
                if stall {
                    // Stalls until the client gives up.
                    let _ = stream.read_u8().await;
                }
            });
        }
    });
    url
}

/// Collects the received text, as a trace does.
#[derive(Default)]
struct Heard {
    text: String,
    restarts: usize,
    /// The titles of the errors that were told while the trace was read again.
    failures: Vec<String>,
    /// The ends that came before the rest, each with the size of the trace.
    ends: Vec<(String, u64)>,
    /// The server's time of a request that was not preceded by one for the status.
    requested_at: Option<Timestamp>,
}

struct Nothing;

impl Sink for Nothing {
    fn push(&mut self, _bytes: &[u8]) {}
    fn reset(&mut self) {}
    fn received(&self) -> u64 {
        0
    }
}

fn completed_at(value: &Value) -> Option<Timestamp> {
    value.downcast_ref::<Job>().filter(|job| job.status.is_finished()).map(|_| Timestamp::MAX)
}

async fn follow(turns: Vec<Turn>) -> (Heard, Result<(), Error>) {
    go_on(turns, KnownPart::default()).await
}

/// Resumes following from `held`.
async fn go_on(turns: Vec<Turn>, held: KnownPart) -> (Heard, Result<(), Error>) {
    let mut server: Server = at(&serve(turns).await);
    server.timeouts.read = Duration::from_millis(200);
    follow_job(server, 7, held).await
}

/// Follows the trace of a job of a server from `held` on.
async fn follow_job(server: Server, job_id: u64, held: KnownPart) -> (Heard, Result<(), Error>) {
    let (sender, mut inbox) = mpsc::channel(64);
    let mut executor = Executor::new(Box::new(move || Client::new(server)), sender, None, None);
    let request = GetTrace { id: 1_u64.into(), job_id }.request();
    let status = Load::single(&GetJob { id: 1_u64.into(), job_id });
    let follow = Follow { request: request.clone(), status, completed_at, sink: || Box::new(Nothing) };
    executor.take(Effect::Start(Task::Follow(follow, held)));
    let mut heard = Heard::default();
    loop {
        let next = tokio::time::timeout(Duration::from_secs(60), inbox.recv()).await.expect("it goes on");
        let Some(msg) = next.expect("the executor is there").unless_stopped() else { continue };
        match msg {
            Msg::Bytes { bytes, restart, .. } => {
                if restart {
                    heard.text.clear();
                    heard.restarts += 1;
                }
                heard.text.push_str(&String::from_utf8_lossy(&bytes));
            }
            Msg::StreamFailed(_, error) => heard.failures.push(error.title().to_owned()),
            Msg::StreamEnd { bytes, size, .. } => heard.ends.push((String::from_utf8_lossy(&bytes).into_owned(), size)),
            Msg::Arrived(TaskKey::Follow(_), Ok(Outcome::End(requested_at))) => {
                heard.requested_at = requested_at;
                return (heard, Ok(()));
            }
            Msg::Arrived(TaskKey::Follow(_), outcome) => return (heard, outcome.map(|_| ())),
            _ => {}
        }
    }
}

/// Follows a trace and returns its text; the follow must succeed without a restart.
async fn held(turns: Vec<Turn>) -> String {
    let (heard, outcome) = follow(turns).await;
    outcome.expect("it ends well");
    assert_eq!(heard.restarts, 0);
    heard.text
}

fn turn(answer: impl Fn(usize) -> Raw + Send + Sync + 'static) -> Turn {
    Box::new(answer)
}

#[tokio::test]
async fn a_stalled_trace_resumes_where_it_stopped() {
    let stalls = |_| Raw::Stall("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\none\n".into());
    assert_eq!(held(vec![turn(stalls), turn(|from| ranged("one\ntwo\n", from))]).await, "one\ntwo\n");
}

#[tokio::test]
async fn a_trace_cut_short_resumes_where_it_stopped() {
    let early = |from: usize| promised("200 OK", "", 800, &"one\ntwo\n"[from..from + 2]);
    let part = |from: usize| {
        assert_eq!(from, 2);
        promised("206 Partial Content", "content-range: bytes 2-7/8\r\n", 6, "e\n")
    };
    assert_eq!(held(vec![turn(early), turn(part), turn(|from| ranged("one\ntwo\n", from))]).await, "one\ntwo\n");
}

#[tokio::test]
async fn a_content_length_that_is_too_short_only_costs_a_request() {
    let short = |_| promised("200 OK", "", 3, "one\ntwo\n");
    assert_eq!(held(vec![turn(short), turn(|from| ranged("one\ntwo\n", from))]).await, "one\ntwo\n");
}

#[tokio::test]
async fn only_new_bytes_are_taken_from_a_server_that_ignores_ranges() {
    let all = |text: &'static str| turn(move |_| whole("200 OK", "", text));
    assert_eq!(held(vec![all("one\n"), all("one\n"), all("one\ntwo\n")]).await, "one\ntwo\n");
    let (heard, outcome) = follow(vec![all("one\n"), all("other\ntwo\n")]).await;
    assert!(outcome.is_ok());
    assert_eq!((heard.text.as_str(), heard.restarts), ("other\ntwo\n", 1), "the trace was rewritten");
}

#[tokio::test]
async fn a_part_with_another_offset_than_requested_is_placed_correctly() {
    let text: &'static str = lines("line", 400).leak();
    let known = 3000;
    let first = || turn(move |_| whole("200 OK", "", &text[..known]));
    // A part that starts earlier: the known bytes are skipped. One that starts later: the gap is fetched.
    for begin in [5, 100, known - 512, known - 4, known] {
        assert_eq!(held(vec![first(), turn(move |_| part(text, begin))]).await, text, "{begin}");
    }
    let behind = move |from| if from == 0 { whole("200 OK", "", text) } else { part(text, known + 10) };
    assert_eq!(held(vec![first(), turn(behind)]).await, text);
}

#[tokio::test]
async fn a_trace_that_is_missing_for_a_while_keeps_its_text_and_resumes() {
    let gone = || turn(|_| whole("404 Not Found", "", r#"{"message":"404 Not found"}"#));
    let first = || turn(|from| ranged("one\n", from));
    let (heard, outcome) = follow(vec![first(), gone(), gone(), turn(|from| ranged("one\ntwo\n", from))]).await;
    assert!(outcome.is_ok());
    assert_eq!((heard.text.as_str(), heard.restarts, heard.failures), ("one\ntwo\n", 0, vec!["Not found".to_owned()]));
    let (heard, outcome) = follow(vec![first(), gone(), gone()]).await;
    assert_eq!(
        (heard.text.as_str(), heard.failures),
        ("one\n", vec!["Not found".to_owned()]),
        "an erased trace stays readable"
    );
    assert!(outcome.is_err_and(|error| error.is_missing()));
}

#[tokio::test]
async fn a_trace_without_output_yet_is_not_removed() {
    let gone = || turn(|_| whole("404 Not Found", "", r#"{"message":"404 Not found"}"#));
    let (heard, outcome) = follow(vec![gone(), gone(), turn(|from| ranged("one\n", from))]).await;
    assert!(outcome.is_ok());
    assert_eq!((heard.text.as_str(), heard.failures), ("one\n", vec![]));
}

#[tokio::test]
async fn a_trace_that_was_emptied_keeps_its_text_until_there_is_another() {
    for first in ["one\n".to_owned(), lines("one", 400)] {
        let was = first.clone();
        let first_turn = || {
            turn({
                let was = was.clone();
                move |from| ranged(&was, from)
            })
        };
        let empty = || turn(|_| whole("200 OK", "", ""));
        let (heard, outcome) = follow(vec![first_turn(), empty(), empty()]).await;
        assert_eq!((&heard.text, heard.restarts, heard.failures), (&first, 0, vec!["Not found".to_owned()]));
        assert!(outcome.is_err_and(|error| error.is_missing()));
        let (heard, outcome) = follow(vec![first_turn(), empty(), empty(), turn(|from| ranged("two\n", from))]).await;
        assert_eq!((heard.text.as_str(), heard.restarts, heard.failures), ("two\n", 1, vec!["Not found".to_owned()]));
        assert!(outcome.is_ok());
    }
}

#[tokio::test]
async fn a_trace_that_shrinks_restarts() {
    let (heard, outcome) =
        follow(vec![turn(|from| ranged("one\ntwo\n", from)), turn(|from| ranged("new\n", from))]).await;
    assert!(outcome.is_ok());
    assert_eq!((heard.text.as_str(), heard.restarts), ("new\n", 1));
}

#[tokio::test]
async fn server_errors_are_retried_and_a_refusal_ends_the_follow() {
    let first = || turn(|from| ranged("one\n", from));
    let status = |status: &'static str, headers: &'static str| turn(move |_| whole(status, headers, "<html>no</html>"));
    let last = turn(|from| ranged("one\ntwo\n", from));
    let limited = status("429 Too Many Requests", "retry-after: 0\r\n");
    let bad = status("500 Internal Server Error", "");
    assert_eq!(held(vec![first(), bad, limited, last]).await, "one\ntwo\n");
    let (heard, outcome) = follow(vec![first(), status("403 Forbidden", ""), first()]).await;
    assert_eq!(heard.text, "one\n");
    assert!(matches!(outcome, Err(Error { fault: Fault::Gateway(403, _), .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_trace_that_cannot_be_read_again_and_again_says_why() {
    let first = || turn(|from| ranged("one\n", from));
    let bad = || turn(|_| whole("500 Internal Server Error", "", "<html>no</html>"));
    let last = || turn(|from| ranged("one\ntwo\n", from));
    let (heard, outcome) = follow(vec![first(), bad(), last()]).await;
    assert_eq!((heard.text.as_str(), heard.failures.len()), ("one\ntwo\n", 0), "a single failure is no news");
    assert!(outcome.is_ok());
    let bad_turns = std::iter::repeat_with(bad).take(3);
    let (heard, outcome) = follow([first()].into_iter().chain(bad_turns).chain([last()]).collect()).await;
    assert_eq!((heard.text.as_str(), heard.failures), ("one\ntwo\n", vec!["Server error".to_owned()]));
    assert!(outcome.is_ok());
}

/// Returns so many lines that the beginning is far from the end.
const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [{ username = "root", admin = true }, { username = "ada" }]
[[projects]]
path = "ada/hello"
files = """
-- .gitlab-ci.yml --
long: { script: [COMMANDS] }
"""
script = """
from 2026-11-02
to 2026-11-20
ada: Begin
  + .gitlab-ci.yml
"""
[[runners]]
name = "here"
shared = true
contacted = "1m"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_the_local_server_is_followed_with_and_without_ranges() {
    let commands: Vec<String> = (0..60).map(|n| format!("echo part {n} of a longer output")).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("world.toml");
    std::fs::write(&file, WORLD.replace("COMMANDS", &commands.join(", "))).expect("written");
    // By `Range`, by `byte_offset`, and with the whole text each time.
    for (version, has_ranges) in [(Version::V19, true), (Version::V19, false), (Version::V17, false)] {
        // The clock of the server is fast.
        let (begin, begun) = ("2026-11-20T16:00:00Z".parse::<jiff::Timestamp>().expect("a time"), Instant::now());
        let clock = Clock::new(move || begin.saturating_add(begun.elapsed() * 10).expect("a time"));
        let modes = Modes { has_ranges, ..Modes::of(version) };
        let options = Options { world: WorldKind::File(file.clone()), clock, modes, ..Options::default() };
        let served = start(options).await.expect("a server on a free port");
        let mut server = at(&served.base_url.parse().expect("an address"));
        server.token = Some(served.tokens["ada"].clone().into());
        let client = Client::new(server.clone()).expect("a client");
        let create = CreatePipeline { id: 1_u64.into(), r#ref: "main".into(), variables: None, inputs: None };
        let pipeline_id = client.call(&create).await.expect("a pipeline").id;
        let list = ListPipelineJobs::all(1_u64.into(), pipeline_id);
        let job_id = client.call(&list).await.expect("jobs")[0].id;
        let (heard, outcome) = follow_job(server, job_id, KnownPart::default()).await;
        outcome.expect("it ends well");
        let whole = client.call(&GetTrace { id: 1_u64.into(), job_id }).await.expect("the trace");
        assert_eq!(heard.text, String::from_utf8_lossy(&whole.bytes), "{version:?} {has_ranges}");
        assert!(heard.text.contains("part 59") && heard.text.contains("Job succeeded") && heard.restarts == 0);
        served.stop().await;
    }
}

fn lines(word: &str, count: usize) -> String {
    (0..count).map(|line| format!("{word} {line}\n")).collect()
}

/// Answers the requests for a running job and for its trace, which has one more part at each read until it has `parts` of
/// them and the job has finished.
async fn growing_trace(
    parts: usize,
    text_of: impl Fn(usize) -> String + Send + Sync + 'static,
    limit: u64,
) -> Scripted {
    let reads = AtomicUsize::new(0);
    Scripted::minded(move |asked| {
        let read = if asked.line.contains("/trace") { reads.fetch_add(1, Ordering::Relaxed) + 1 } else { 0 };
        let status = if reads.load(Ordering::Relaxed) < parts { "running" } else { "success" };
        let body = match read {
            0 => format!(r#"{{"id":7,"name":"n","stage":"s","status":"{status}"}}"#),
            read => text_of(read.min(parts)),
        };
        let reset = (Timestamp::now().as_second() + 100).to_string();
        answer(200, body).with("ratelimit-remaining", &limit.to_string()).with("ratelimit-reset", &reset)
    })
    .await
}

#[tokio::test]
async fn the_status_of_a_trace_that_grows_is_rarely_read_and_before_its_last_bytes() {
    let server = growing_trace(6, |parts| lines("row", parts), 100_000).await;
    let (heard, outcome) = follow_job(at(&server.url), 7, KnownPart::default()).await;
    outcome.expect("it ends well");
    assert_eq!(heard.text, lines("row", 6));
    let asked = server.asked();
    let are_traces: Vec<bool> = asked.iter().map(|asked| asked.line.contains("/trace")).collect();
    let statuses = are_traces.iter().filter(|is_trace| !**is_trace).count();
    assert!(statuses * 3 <= asked.len() && are_traces.ends_with(&[true, false, true]), "{are_traces:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_left_of_an_announced_limit_lasts_until_it_is_reset() {
    let server = growing_trace(5, |parts| lines("row", parts), 200).await;
    let began = tokio::time::Instant::now();
    follow_job(at(&server.url), 7, KnownPart::default()).await.1.expect("it ends well");
    // Of 2 requests a second, it sends one at most.
    let sent = server.asked().len() as u32;
    assert!(began.elapsed() >= Duration::from_secs(1) * (sent - 2), "{sent} in {:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_job_is_noticed_before_a_large_trace_is_read_again() {
    let text = lines("a line of many, each of them as long as this one", 100_000);
    let server = growing_trace(2, move |parts| text.clone() + &lines("row", parts), 100_000).await;
    let began = tokio::time::Instant::now();
    follow_job(at(&server.url), 7, KnownPart::default()).await.1.expect("it ends well");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

/// GitLab 19.5 sends at most 500 KiB of a trace from an offset on (lib/api/ci/jobs.rb); what is after that must not be
/// missing when the job is finished.
#[tokio::test]
async fn the_parts_of_a_finished_trace_are_read_up_to_its_end() {
    let text = lines("row", 2000);
    let job = |status: &str| answer(200, format!(r#"{{"id":7,"name":"n","stage":"s","status":"{status}"}}"#));
    let sent = |from: usize, to: usize| answer(200, &text[from..to]);
    let (first, second, third, end) = (4_000, 8_000, 12_000, text.len());
    let server = Scripted::start([
        job("running"),
        sent(0, first),
        // It does not know `Range`.
        sent(0, second),
        // It knows `byte_offset`.
        sent(second - 512, second),
        sent(second - 512, second),
        job("success"),
        sent(second - 512, third),
        sent(third - 512, end),
        sent(end - 512, end),
    ])
    .await;
    let (heard, outcome) = follow_job(at(&server.url), 7, KnownPart::default()).await;
    outcome.expect("it ends well");
    assert_eq!((heard.text == text, heard.restarts), (true, 0));
    assert_eq!(server.asked().len(), 9);
}

/// GitLab before 19 ignores `byte_offset` (lib/api/ci/jobs.rb of 18.9 has no such parameter): the reply to the question
/// whether it knows it is the whole trace, which is not requested again.
#[tokio::test]
async fn the_whole_trace_that_answers_the_first_question_for_a_part_is_used() {
    let text = lines("row", 2000);
    let job = |status: &str| answer(200, format!(r#"{{"id":7,"name":"n","stage":"s","status":"{status}"}}"#));
    let sent = |to: usize| answer(200, &text[..to]);
    let end = text.len();
    // `Range` is ignored, then `byte_offset` is, and then nothing is asked.
    let script = [job("running"), sent(4_000), sent(8_000), sent(8_000)];
    let server = Scripted::start(script.into_iter().chain([job("success"), sent(end)])).await;
    let (heard, outcome) = follow_job(at(&server.url), 7, KnownPart::default()).await;
    outcome.expect("it ends well");
    assert_eq!((heard.text == text, heard.restarts), (true, 0));
    let traces: Vec<String> =
        server.asked().iter().map(|asked| asked.line.clone()).filter(|line| line.contains("trace")).collect();
    assert_eq!(traces.iter().filter(|line| line.contains("byte_offset")).count(), 1, "{traces:?}");
    assert_eq!(traces.len(), 4);
}

#[tokio::test]
async fn a_rewritten_longer_trace_restarts() {
    let (old, new) = (lines("old", 400), lines("anew", 4000));
    for (first, then) in [(&old, &new), (&lines("old", 3), &lines("anew", 4))] {
        let (was, is) = (first.clone(), then.clone());
        let (heard, outcome) =
            follow(vec![turn(move |from| ranged(&was, from)), turn(move |from| ranged(&is, from))]).await;
        assert!(outcome.is_ok());
        assert_eq!((&heard.text, heard.restarts), (then, 1));
    }
    // If the trace was rewritten between two visits, the kept last bytes reveal it.
    let held = |text: &str| KnownPart {
        received: text.len() as u64,
        tail: text.as_bytes()[text.len() - 512..].to_vec(),
        ..KnownPart::default()
    };
    let is = new.clone();
    let (heard, outcome) = go_on(vec![turn(move |from| ranged(&is, from))], held(&old)).await;
    assert!(outcome.is_ok());
    assert_eq!((&heard.text, heard.restarts), (&new, 1));
    let is = format!("{old}more\n");
    let (heard, outcome) = go_on(vec![turn(move |from| ranged(&is, from))], held(&old)).await;
    assert!(outcome.is_ok());
    assert_eq!((heard.text.as_str(), heard.restarts), ("more\n", 0));
}

#[tokio::test]
async fn each_poll_only_repeats_the_last_512_bytes() {
    let text = lines("line", 4000);
    let total = text.len();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let turns = (0..4).map(|_| {
        let (text, asked) = (text.clone(), asked.clone());
        turn(move |from| {
            asked.lock().expect("no test panics while it holds this").push(from);
            ranged(&text, from)
        })
    });
    assert_eq!(held(turns.collect()).await, text);
    let asked = asked.lock().expect("no test panics while it holds this").clone();
    assert!(asked[0] == 0 && asked[1..].iter().all(|from| total - from == 512), "{asked:?} of {total}");
}

#[tokio::test]
async fn a_trace_is_fetched_whole_if_the_server_rejects_ranges() {
    let (short, long) = (lines("line", 400), lines("line", 410));
    let expected = long.clone();
    // The server rejects every range without reporting the total length.
    let whole_only = |text: String| {
        turn(move |from| if from == 0 { whole("200 OK", "", &text) } else { whole("416 Range", "", "") })
    };
    assert_eq!(held(vec![whole_only(short), whole_only(long)]).await, expected);
    // The trace shrinks to the requested offset exactly, to a length above it, or far below it.
    let text = lines("line", 400);
    for left in [text.len() - 512, text.len() - 100, 5] {
        let (was, is) = (text.clone(), text[..left].to_owned());
        let (heard, outcome) =
            follow(vec![turn(move |from| ranged(&was, from)), turn(move |from| ranged(&is, from))]).await;
        assert!(outcome.is_ok());
        assert_eq!((heard.text.len(), heard.restarts), (left, 1));
    }
}

#[tokio::test]
async fn a_long_trace_is_throttled_to_its_consumer() {
    let text = lines("a line of many, each of them as long as this one", 1_000_000);
    let total = text.len();
    let url = serve(vec![turn(move |from| ranged(&text, from))]).await;
    let (sender, mut inbox) = mpsc::channel(4096);
    let mut executor = Executor::new(Box::new(move || Client::new(at(&url))), sender, None, None);
    let request = GetTrace { id: 1_u64.into(), job_id: 7 }.request();
    let status = Load::single(&GetJob { id: 1_u64.into(), job_id: 7 });
    let follow = Follow { request: request.clone(), status, completed_at, sink: || Box::new(Nothing) };
    let task = Task::Follow(follow, KnownPart::default());
    let key = task.key();
    executor.take(Effect::Start(task));
    // Messages that have not been processed are bounded, no matter how much room the channel has.
    let mut unheard = Vec::new();
    let size = |msg: &Msg| match msg {
        Msg::FromTask(_, msg) => match &**msg {
            Msg::Bytes { bytes, .. } => bytes.len(),
            _ => 0,
        },
        _ => 0,
    };
    let mut waiting = 0;
    while let Some(msg) = {
        // Waits for the first bytes, and then until no more arrive.
        let patience = Duration::from_millis(if waiting < 1 << 20 { 60_000 } else { 500 });
        tokio::time::timeout(patience, inbox.recv()).await.ok().flatten()
    } {
        waiting += size(&msg);
        unheard.push(msg);
    }
    assert!((1 << 20..=8 << 20).contains(&waiting), "{waiting} of {total}");
    // While on hold, it sends nothing more, although there is room; afterwards it continues.
    executor.take(Effect::SetPaused(key.clone(), true));
    unheard.clear();
    let mut more = 0;
    while let Ok(Some(msg)) = tokio::time::timeout(Duration::from_millis(300), inbox.recv()).await {
        more += size(&msg);
    }
    // One chunk had already reserved its room.
    assert!(more < 1 << 20, "{more}");
    executor.take(Effect::SetPaused(key, false));
    let mut all = waiting + more;
    while let Some(msg) = tokio::time::timeout(Duration::from_secs(60), inbox.recv()).await.expect("it goes on") {
        all += size(&msg);
        if matches!(msg.unless_stopped(), Some(Msg::Arrived(..))) {
            break;
        }
    }
    assert_eq!(all, total);
}

#[tokio::test]
async fn the_clock_offset_of_a_server_is_reported_before_its_reply() {
    for off in [600, -600, 365 * 86_400] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url: Url = format!("http://{}", listener.local_addr().expect("an address")).parse().expect("a URL");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                if asked(&mut stream).await.is_none() {
                    continue;
                }
                let now = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(off);
                let date = now.to_zoned(jiff::tz::TimeZone::UTC).strftime("date: %a, %d %b %Y %H:%M:%S GMT\r\n");
                let body = r#"{"id":7,"name":"n","stage":"s","status":"success"}"#;
                let Raw::Close(text) = whole("200 OK", &date.to_string(), body) else { return };
                let _ = stream.write_all(text.as_bytes()).await;
            }
        });
        let (sender, mut inbox) = mpsc::channel(64);
        let mut executor = Executor::new(Box::new(move || Client::new(at(&url))), sender, None, None);
        let load = Load::single(&GetJob { id: 1_u64.into(), job_id: 7 });
        let began = std::time::Instant::now();
        executor.take(Effect::Start(Task::Load { load, page: 0, link: None, known: None }));
        let first = inbox.recv().await.and_then(Msg::unless_stopped);
        let Some(Msg::ClockOffset(ahead)) = first else { panic!("{first:?}") };
        // A `Date` header has whole seconds, and is as old as the reply was under way.
        let near = 1000 + i128::try_from(began.elapsed().as_millis()).unwrap_or(i128::MAX);
        assert!((ahead.as_millis() - i128::from(off) * 1000).abs() <= near, "{ahead} of {off}");
        assert!(matches!(inbox.recv().await.and_then(Msg::unless_stopped), Some(Msg::Arrived(_, Ok(_)))));
    }
}

/// Answers a request for a part of a trace of some size.
type Part = Box<dyn Fn(&Asked, usize) -> Option<Answer> + Send + Sync>;

/// A way in which a server sends the whole trace.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Whole {
    WithRanges,
    WithLength,
    /// Compressed, as by a proxy in front of the server.
    WithoutLength,
}

/// A server with one finished job and its long trace.
async fn long_trace(text: &'static str, way: Whole, part: Part) -> Scripted {
    Scripted::minded(move |asked| {
        if !asked.line.contains("/trace") {
            return answer(200, r#"{"id":7,"name":"n","stage":"s","status":"success"}"#);
        }
        let is_whole = !asked.line.contains("byte_offset") && asked.header("range").is_empty();
        let is_compressed = way == Whole::WithoutLength && asked.header("accept-encoding") != "identity";
        let whole = || match way {
            Whole::WithRanges => answer(200, text).with("accept-ranges", "bytes"),
            _ if is_compressed => answer(200, text).without_length(),
            _ => answer(200, text),
        };
        part(asked, text.len()).filter(|_| !is_whole).unwrap_or_else(whole)
    })
    .await
}

#[tokio::test]
async fn the_end_of_a_long_trace_comes_first_if_the_server_can_send_it() {
    let text: &'static str = lines("a row of the output", 90_000).leak();
    // First the last screens, then what is around the cursor there.
    let ends = [64 << 10, 500 << 10].map(|size| (text[text.len() - size..].to_owned(), text.len() as u64));
    let offset = |asked: &Asked, name: &str| -> Option<usize> {
        asked.line.split(&format!("{name}=")).nth(1)?.split('&').next()?.parse().ok()
    };
    let by_range = move |asked: &Asked, size: usize| {
        let range = asked.header("range").strip_prefix("bytes=")?;
        let from = match range.strip_prefix('-') {
            Some(last) => size - last.parse::<usize>().ok()?,
            None => range.strip_suffix('-')?.parse().ok()?,
        };
        Some(answer(206, &text[from..]).with("content-range", &format!("bytes {from}-{}/{size}", size - 1)))
    };
    let by_offset = move |asked: &Asked, size: usize| {
        let (from, limit) = (offset(asked, "byte_offset")?, offset(asked, "byte_limit").unwrap_or(size));
        Some(answer(200, &text[from.min(size)..from.saturating_add(limit).min(size)]))
    };
    // The server sends less than was requested: that is not the end.
    let short = move |asked: &Asked, size: usize| {
        let from = offset(asked, "byte_offset")?;
        Some(answer(200, &text[from.min(size)..(from + 100).min(size)]))
    };
    let fails = |_: &Asked, _: usize| Some(answer(500, r#"{"message":"500 Internal Server Error"}"#));
    use Whole::*;
    let whole_as_part = move |_: &Asked, size: usize| {
        Some(answer(206, text).with("content-range", &format!("bytes 0-{}/{size}", size - 1)))
    };
    // It has grown since.
    let grown = move |asked: &Asked, size: usize| {
        let from: usize = asked.header("range").strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()?;
        let longer = format!("{}more\n", &text[from..]);
        Some(answer(206, longer).with("content-range", &format!("bytes {from}-{}/{}", size + 4, size + 5)))
    };
    /// What the server answers, in words and in fact: to a request for everything, and for a part. Then the ends that are
    /// heard, and the number of requests for the trace.
    type Case<'a> = (&'a str, Whole, Part, &'a [(String, u64)], usize);
    let cases: [Case; 12] = [
        ("everything, as if it was a part", WithRanges, Box::new(whole_as_part), &[], 2),
        ("a part of a longer text", WithRanges, Box::new(grown), &[], 2),
        ("that there is no such part", WithRanges, Box::new(|_, _| Some(answer(416, ""))), &[], 2),
        ("by range", WithRanges, Box::new(by_range), &ends, 3),
        ("by offset", WithLength, Box::new(by_offset), &ends, 3),
        ("less than was requested", WithLength, Box::new(short), &[], 2),
        ("everything, whatever is requested", WithLength, Box::new(|_, _| None), &[], 2),
        ("everything, but it claims to send parts", WithRanges, Box::new(|_, _| None), &[], 2),
        ("an error", WithLength, Box::new(fails), &[], 2),
        ("compressed, by range", WithoutLength, Box::new(by_range), &ends, 3),
        ("compressed, by offset", WithoutLength, Box::new(by_offset), &ends, 5),
        ("compressed, whatever is requested", WithoutLength, Box::new(|_, _| None), &[], 3),
    ];
    for (what, way, part, ends, requests) in cases {
        let server = long_trace(text, way, part).await;
        let (heard, outcome) = follow_job(at(&server.url), 7, KnownPart::default()).await;
        outcome.expect("it ends well");
        assert_eq!((heard.text == text, heard.restarts, heard.ends == ends), (true, 0, true), "{what}");
        let traces = server.asked().iter().filter(|asked| asked.line.contains("/trace")).count();
        assert_eq!(traces, requests, "{what}");
    }
    // A short one is read as a whole, and so is the rest of a known one.
    let server = Scripted::minded(|asked| match asked.line.contains("/trace") {
        true => answer(200, "short\n").with("accept-ranges", "bytes"),
        false => answer(200, r#"{"id":7,"name":"n","stage":"s","status":"success"}"#),
    })
    .await;
    let (heard, _) = follow_job(at(&server.url), 7, KnownPart::default()).await;
    assert_eq!((heard.text.as_str(), heard.ends.len(), server.asked().len()), ("short\n", 0, 2));
    // What the place knows of the job is not read again.
    for (is_complete, lines) in [(Some(true), vec!["trace"]), (None, vec!["7", "trace"])] {
        let server = Scripted::minded(|asked| match asked.line.contains("/trace") {
            true => answer(200, "short\n"),
            false => answer(200, r#"{"id":7,"name":"n","stage":"s","status":"success"}"#),
        })
        .await;
        let (heard, _) = follow_job(at(&server.url), 7, KnownPart { is_complete, ..KnownPart::default() }).await;
        let asked: Vec<String> = server.asked().iter().map(|asked| asked.line.clone()).collect();
        let ends: Vec<&str> = asked.iter().filter_map(|line| line.rsplit('/').next()).collect();
        assert_eq!((heard.text.as_str(), ends), ("short\n", lines));
    }
    // What it reads meanwhile is not waited for: the reading says when it began, by the clock of the server.
    let server = Scripted::minded(|_| answer(200, "short\n").with("date", "Mon, 15 Jun 2026 12:00:00 GMT")).await;
    let (heard, _) = follow_job(at(&server.url), 7, KnownPart { is_new: true, ..KnownPart::default() }).await;
    let asked: Vec<String> = server.asked().iter().map(|asked| asked.line.clone()).collect();
    assert_eq!((heard.text.as_str(), asked.len()), ("short\n", 1), "{asked:?}");
    let requested_at = heard.requested_at.expect("the time of the request");
    assert_eq!(requested_at.to_string().get(..16), Some("2026-06-15T12:00"), "{requested_at}");
}
