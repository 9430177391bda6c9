//! Following a trace on servers and lines that do not do what they should: what is held in the end is what the server
//! has, each byte once, or the error that says why not.

use crate::client::at;
use labscope::api::client::{Client, Server};
use labscope::api::jobs::{GetJob, GetTrace, Job};
use labscope::api::{Endpoint, Error, Fault};
use labscope::app::action::{Effect, Msg};
use labscope::runtime::executor::Executor;
use labscope::store::{Follow, HeldState, Load, Sink, Ticket, Value, Want};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use url::Url;

/// Bytes that are sent as they are, and what is done with the connection then.
enum Raw {
    Close(String),
    Stall(String),
}

/// An answer that is as long as it says.
fn whole(status: &str, headers: &str, body: &str) -> Raw {
    promised(status, headers, body.len(), body)
}

/// An answer that says that it is `length` bytes long; then the connection is closed.
fn promised(status: &str, headers: &str, length: usize, body: &str) -> Raw {
    Raw::Close(format!(
        "HTTP/1.1 {status}\r\n{headers}content-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}

/// The bytes of `text` from `from` on, as a server does that honors ranges.
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

/// What a server answers, by the byte that is asked for.
type Turn = Box<dyn Fn(usize) -> Raw + Send + Sync>;

async fn asked(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8_lossy(&request).to_lowercase())
}

/// A server of one job, whose trace is answered as `turns` say, one after the other, the last again and again. The job
/// runs until all but the last one were taken.
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
                    // Until the client gives up.
                    let _ = stream.read_u8().await;
                }
            });
        }
    });
    url
}

/// Collects what comes, as a trace does.
#[derive(Default)]
struct Heard {
    text: String,
    restarts: usize,
}

struct Nothing;

impl Sink for Nothing {
    fn push(&mut self, _bytes: &[u8]) {}
    fn reset(&mut self) {}
    fn held(&self) -> u64 {
        0
    }
}

fn is_over(value: &Value) -> bool {
    value.downcast_ref::<Job>().is_some_and(|job| job.status.is_finished())
}

async fn follow(turns: Vec<Turn>) -> (Heard, Result<(), Error>) {
    go_on(turns, HeldState::default()).await
}

/// Follows on from what is held.
async fn go_on(turns: Vec<Turn>, held: HeldState) -> (Heard, Result<(), Error>) {
    let url = serve(turns).await;
    let mut server: Server = at(&url);
    server.timeouts.read = Duration::from_millis(200);
    let (sender, mut inbox) = mpsc::channel(64);
    let mut executor = Executor::new(Box::new(move || Client::new(server)), sender, None, None);
    let request = GetTrace { id: 1_u64.into(), job_id: 7 }.request();
    let status = Load::one(&GetJob { id: 1_u64.into(), job_id: 7 });
    let follow = Follow { request: request.clone(), status, over: is_over, sink: || Box::new(Nothing) };
    executor.take(Effect::Start(Ticket::Follow(request), Want::Follow(follow), held));
    let mut heard = Heard::default();
    loop {
        let next = tokio::time::timeout(Duration::from_secs(60), inbox.recv()).await.expect("it goes on");
        let Some(msg) = next.expect("the executor is there").heard() else { continue };
        match msg {
            Msg::Bytes { bytes, restart, .. } => {
                if restart {
                    heard.text.clear();
                    heard.restarts += 1;
                }
                heard.text.push_str(&String::from_utf8_lossy(&bytes));
            }
            Msg::Arrived(Ticket::Follow(_), outcome) => return (heard, outcome.map(|_| ())),
            _ => {}
        }
    }
}

/// Follows; what is held then, where it ended well and nothing began again.
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
async fn a_trace_whose_connection_stalls_goes_on_from_the_byte_that_is_held() {
    let stalls = |_| Raw::Stall("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\none\n".into());
    assert_eq!(held(vec![turn(stalls), turn(|from| ranged("one\ntwo\n", from))]).await, "one\ntwo\n");
}

#[tokio::test]
async fn a_trace_whose_connection_closes_early_goes_on_from_the_byte_that_is_held() {
    let early = |from: usize| promised("200 OK", "", 800, &"one\ntwo\n"[from..from + 2]);
    let part = |from: usize| {
        assert_eq!(from, 2);
        promised("206 Partial Content", "content-range: bytes 2-7/8\r\n", 6, "e\n")
    };
    assert_eq!(held(vec![turn(early), turn(part), turn(|from| ranged("one\ntwo\n", from))]).await, "one\ntwo\n");
}

#[tokio::test]
async fn a_length_that_is_too_short_costs_nothing_but_another_call() {
    let short = |_| promised("200 OK", "", 3, "one\ntwo\n");
    assert_eq!(held(vec![turn(short), turn(|from| ranged("one\ntwo\n", from))]).await, "one\ntwo\n");
}

#[tokio::test]
async fn a_server_that_ignores_ranges_sends_all_of_it_and_what_is_new_is_taken() {
    let all = |text: &'static str| turn(move |_| whole("200 OK", "", text));
    assert_eq!(held(vec![all("one\n"), all("one\n"), all("one\ntwo\n")]).await, "one\ntwo\n");
    let (heard, outcome) = follow(vec![all("one\n"), all("other\ntwo\n")]).await;
    assert!(outcome.is_ok());
    assert_eq!((heard.text.as_str(), heard.restarts), ("other\ntwo\n", 1), "it was written anew");
}

#[tokio::test]
async fn a_part_that_begins_elsewhere_than_was_asked_is_put_where_it_belongs() {
    let text: &'static str = lines("line", 400).leak();
    let known = 3000;
    let first = || turn(move |_| whole("200 OK", "", &text[..known]));
    // Before: what is known of it is passed over. Behind: the gap is filled.
    for begin in [5, 100, known - 512, known - 4, known] {
        assert_eq!(held(vec![first(), turn(move |_| part(text, begin))]).await, text, "{begin}");
    }
    let behind = move |from| if from == 0 { whole("200 OK", "", text) } else { part(text, known + 10) };
    assert_eq!(held(vec![first(), turn(behind)]).await, text);
}

#[tokio::test]
async fn a_trace_that_is_gone_for_a_while_keeps_what_is_held_and_goes_on() {
    let gone = || turn(|_| whole("404 Not Found", "", r#"{"message":"404 Not found"}"#));
    let first = || turn(|from| ranged("one\n", from));
    assert_eq!(held(vec![first(), gone(), turn(|from| ranged("one\ntwo\n", from))]).await, "one\ntwo\n");
    let (heard, outcome) = follow(vec![first(), gone(), gone()]).await;
    assert_eq!(heard.text, "one\n", "it was erased, and what is here can still be read");
    assert!(outcome.is_err_and(|error| error.is_missing()));
}

#[tokio::test]
async fn a_trace_that_shrinks_begins_again() {
    let (heard, outcome) =
        follow(vec![turn(|from| ranged("one\ntwo\n", from)), turn(|from| ranged("new\n", from))]).await;
    assert!(outcome.is_ok());
    assert_eq!((heard.text.as_str(), heard.restarts), ("new\n", 1));
}

#[tokio::test]
async fn trouble_of_the_server_passes_and_a_refusal_ends_it() {
    let first = || turn(|from| ranged("one\n", from));
    let status = |status: &'static str, headers: &'static str| turn(move |_| whole(status, headers, "<html>no</html>"));
    let last = turn(|from| ranged("one\ntwo\n", from));
    let limited = status("429 Too Many Requests", "retry-after: 0\r\n");
    let bad = status("500 Internal Server Error", "");
    assert_eq!(held(vec![first(), bad, limited, last]).await, "one\ntwo\n");
    let (heard, outcome) = follow(vec![first(), status("403 Forbidden", ""), first()]).await;
    assert_eq!(heard.text, "one\n");
    assert!(matches!(outcome, Err(Error { fault: Fault::Denied(_), .. })), "{outcome:?}");
}

/// Lines enough that their beginning is far from their end.
fn lines(word: &str, count: usize) -> String {
    (0..count).map(|line| format!("{word} {line}\n")).collect()
}

#[tokio::test]
async fn a_trace_that_is_written_anew_and_longer_begins_again_where_ranges_are_honored() {
    let (old, new) = (lines("old", 400), lines("anew", 4000));
    for (first, then) in [(&old, &new), (&lines("old", 3), &lines("anew", 4))] {
        let (was, is) = (first.clone(), then.clone());
        let (heard, outcome) =
            follow(vec![turn(move |from| ranged(&was, from)), turn(move |from| ranged(&is, from))]).await;
        assert!(outcome.is_ok());
        assert_eq!((&heard.text, heard.restarts), (then, 1));
    }
    // Left, and looked at again after it was written again: the last bytes that are held tell.
    let held = |text: &str| HeldState { amount: text.len() as u64, tail: text.as_bytes()[text.len() - 512..].to_vec() };
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
async fn what_is_held_costs_a_few_bytes_again_each_time_and_no_more() {
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
async fn a_server_that_sends_no_part_at_all_is_asked_for_everything() {
    let (short, long) = (lines("line", 400), lines("line", 410));
    let expected = long.clone();
    // It refuses every range, and does not say how much there is.
    let whole_only = |text: String| {
        turn(move |from| if from == 0 { whole("200 OK", "", &text) } else { whole("416 Range", "", "") })
    };
    assert_eq!(held(vec![whole_only(short), whole_only(long)]).await, expected);
    // Shrunk to the very byte that is asked for, and longer than that and still shorter than what is held.
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
async fn a_long_trace_waits_for_who_takes_it_in() {
    let text = lines("a line of many, each of them as long as this one", 1_000_000);
    let total = text.len();
    let url = serve(vec![turn(move |from| ranged(&text, from))]).await;
    let (sender, mut inbox) = mpsc::channel(4096);
    let mut executor = Executor::new(Box::new(move || Client::new(at(&url))), sender, None, None);
    let request = GetTrace { id: 1_u64.into(), job_id: 7 }.request();
    let status = Load::one(&GetJob { id: 1_u64.into(), job_id: 7 });
    let follow = Follow { request: request.clone(), status, over: is_over, sink: || Box::new(Nothing) };
    let ticket = Ticket::Follow(request);
    executor.take(Effect::Start(ticket.clone(), Want::Follow(follow), HeldState::default()));
    // What is told and not heard is kept within bounds, however much there would be room for in the channel.
    let mut unheard = Vec::new();
    let size = |msg: &Msg| match msg {
        Msg::Of(_, msg) => match &**msg {
            Msg::Bytes { bytes, .. } => bytes.len(),
            _ => 0,
        },
        _ => 0,
    };
    let mut waiting = 0;
    while let Some(msg) = {
        // What comes at all, and then until nothing more does.
        let patience = Duration::from_millis(if waiting < 1 << 20 { 60_000 } else { 500 });
        tokio::time::timeout(patience, inbox.recv()).await.ok().flatten()
    } {
        waiting += size(&msg);
        unheard.push(msg);
    }
    assert!((1 << 20..=8 << 20).contains(&waiting), "{waiting} of {total}");
    // Told to wait, it says nothing more, though there is room now; then it goes on.
    executor.take(Effect::Hold(ticket.clone(), true));
    unheard.clear();
    let mut more = 0;
    while let Ok(Some(msg)) = tokio::time::timeout(Duration::from_millis(300), inbox.recv()).await {
        more += size(&msg);
    }
    // One piece had its room already.
    assert!(more < 1 << 20, "{more}");
    executor.take(Effect::Hold(ticket, false));
    let mut all = waiting + more;
    while let Some(msg) = tokio::time::timeout(Duration::from_secs(60), inbox.recv()).await.expect("it goes on") {
        all += size(&msg);
        if matches!(msg.heard(), Some(Msg::Arrived(..))) {
            break;
        }
    }
    assert_eq!(all, total);
}

#[tokio::test]
async fn how_far_the_clock_of_a_server_is_ahead_is_told_before_what_it_dated() {
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
        let load = Load::one(&GetJob { id: 1_u64.into(), job_id: 7 });
        let ticket = Ticket::Load(load.request.clone(), 0);
        let began = std::time::Instant::now();
        executor.take(Effect::Start(ticket, load.into(), HeldState::default()));
        let first = inbox.recv().await.and_then(Msg::heard);
        let Some(Msg::Clock(ahead)) = first else { panic!("{first:?}") };
        // A date has whole seconds, and is as old as the way took.
        let near = 1000 + i128::try_from(began.elapsed().as_millis()).unwrap_or(i128::MAX);
        assert!((ahead.as_millis() - i128::from(off) * 1000).abs() <= near, "{ahead} of {off}");
        assert!(matches!(inbox.recv().await.and_then(Msg::heard), Some(Msg::Arrived(_, Ok(_)))));
    }
}
