//! Every place against every failure of the connection or of the bytes of a reply, over loopback: known content stays, the
//! failure is reported, keys still work, requests are not repeated, the token stays with its server, and everything
//! recovers with the server. Each run covers a sample.
//!
//! A proxy stands between the app and the demo world. While the server fails, the clock of the runtime is paused, so that
//! timeouts and pauses before retries cost no time.

use crate::faults::body;
use crate::harness::{Begin, Harness};
use crate::monkey::place_of;
use crate::sample::Sample;
use crate::served::demo;
use labscope::api::client::{Server, Timeouts};
use labscope::panes::PANES;
use secrecy::SecretString;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// The maximum number of times that a request may be sent while the server fails.
const MAX_SENT: usize = 3;
/// The number of lines that may change: each panel may show the failure in one, and one counts what is running.
const MAX_LOST: usize = 3;
/// How often a place is settled before the test gives up.
const MAX_ROUNDS: usize = 10;
/// Short enough for the harness, which waits 20 seconds for a reply.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// A failure of the server, as it looks on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Failure {
    /// Nothing listens on the port.
    RefusedConnection,
    /// The request is read and never answered.
    StallBeforeReply,
    /// The reply stops in the middle of the body, and the connection stays open.
    StallInBody,
    /// The connection is closed without a reply.
    EarlyClose,
    /// The connection is closed in the middle of the body.
    TruncatedBody,
    /// `Content-Length` is shorter than the body.
    WrongLength,
    NotJson,
    /// The page of a sign-in, with status 200.
    SignInPage,
    /// Half of the body, without a length that would tell.
    CutWithoutLength,
    /// A web page of a proxy, with status 502.
    HtmlBadGateway,
    /// A status with a JSON message, and the value of `Retry-After`.
    Status(u16, Option<&'static str>),
    /// A redirect to the same address.
    RedirectLoop,
    /// A redirect to another server.
    OtherHost,
    /// A reply in `Content-Encoding: gzip` that is none.
    CorruptGzip,
}

use Failure::*;

/// All failures, with the titles under which they may be reported.
const FAILURES: &[(Failure, &[&str])] = &[
    (RefusedConnection, &["Server unreachable"]),
    (StallBeforeReply, &["Timed out"]),
    (StallInBody, &["Timed out"]),
    (EarlyClose, &["Server unreachable", "Incomplete reply"]),
    (TruncatedBody, &["Incomplete reply"]),
    (WrongLength, &["Unexpected reply", "Incomplete reply"]),
    (NotJson, &["Unexpected reply"]),
    (SignInPage, &["Unexpected reply"]),
    (CutWithoutLength, &["Unexpected reply", "Incomplete reply"]),
    (HtmlBadGateway, &["Server error"]),
    (Status(401, None), &["Not signed in"]),
    (Status(403, None), &["Not allowed"]),
    (Status(404, None), &["Not found", "Not supported by this server"]),
    (Status(409, None), &["Rejected by the server"]),
    (Status(429, Some("600")), &["Too many requests"]),
    (Status(429, None), &["Too many requests"]),
    (Status(500, None), &["Server error"]),
    (Status(503, None), &["Server error"]),
    (RedirectLoop, &["Unexpected reply", "Server error", "Rejected by the server", "Server unreachable"]),
    (OtherHost, &["Rejected by the server", "Server unreachable", "Not signed in", "Unexpected reply", "Server error"]),
    (CorruptGzip, &["Unexpected reply", "Incomplete reply"]),
];

impl Failure {
    /// Returns whether the content may disappear: the server says that it is gone or hidden.
    fn is_refusal(self) -> bool {
        matches!(self, Status(401 | 403 | 404 | 409, _))
    }
}

/// What the proxy and its connections share.
#[derive(Default)]
struct Shared {
    failure: Mutex<Option<Failure>>,
    /// The text in the addresses of the requests that fail; empty for all.
    failing: Mutex<&'static str>,
    /// The replies of the healthy server, by request line.
    replies: Mutex<HashMap<String, Vec<u8>>>,
    /// The requests that reached the other server, with their headers.
    elsewhere: Mutex<Vec<String>>,
}

/// A proxy in front of the demo world that fails on demand.
struct Proxy {
    address: SocketAddr,
    /// The address that [`OtherHost`] redirects to.
    other: SocketAddr,
    upstream: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
    other_accepting: JoinHandle<()>,
}

/// Reads a request or a reply up to the end of its headers and the body that `Content-Length` announces.
async fn read_message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    let end = loop {
        if let Some(at) = message.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut message).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&message[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    while message.len() < end + length.unwrap_or(0) {
        if stream.read_buf(&mut message).await.ok()? == 0 {
            return None;
        }
    }
    Some(message)
}

/// Sends a request to the demo world and returns its reply. The connection is closed after it, and nothing is compressed.
async fn forward(upstream: SocketAddr, request: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(request);
    let dropped = ["accept-encoding:", "connection:"];
    let is_dropped = |line: &str| dropped.iter().any(|name| line.to_ascii_lowercase().starts_with(name));
    let (head, body) = text.split_once("\r\n\r\n")?;
    let head: Vec<&str> = head.split("\r\n").filter(|line| !is_dropped(line)).collect();
    let mut stream = TcpStream::connect(upstream).await.ok()?;
    stream.write_all(format!("{}\r\nConnection: close\r\n\r\n{body}", head.join("\r\n")).as_bytes()).await.ok()?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.ok()?;
    Some(reply)
}

/// Returns a reply with a body and a status line such as `200 OK`.
fn reply(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}", body.len())
        .into_bytes()
}

/// Returns the bytes that a failing server sends in place of the reply `good`; none for no reply.
fn broken(failure: Failure, good: Vec<u8>, target: &str, other: SocketAddr) -> Vec<u8> {
    let json = "Content-Type: application/json\r\n";
    let head = String::from_utf8_lossy(&good).to_ascii_lowercase();
    if failure == NotJson && !head.contains("content-type: application/json") {
        // Raw content may be any text.
        return good;
    }
    let body = good.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(good.len(), |at| at + 4);
    let half = body + (good.len() - body) / 2;
    match failure {
        RefusedConnection | StallBeforeReply | EarlyClose => Vec::new(),
        StallInBody | TruncatedBody => good[..half].to_vec(),
        WrongLength => {
            let text = String::from_utf8_lossy(&good[body..]).into_owned();
            let length = text.len().saturating_sub(2).max(1);
            format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n{json}\r\n{text}").into_bytes()
        }
        NotJson => reply("200 OK", json, "Welcome!"),
        SignInPage => {
            reply("200 OK", "Content-Type: text/html\r\n", "<!DOCTYPE html><title>Sign in</title>Sign in first")
        }
        CutWithoutLength if !head.contains("content-type: application/json") && !target.contains("/blobs/") => good,
        // The chunks tell that they are cut.
        CutWithoutLength if head.contains("transfer-encoding: chunked") => good[..half].to_vec(),
        CutWithoutLength => {
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{json}\r\n");
            [head.as_bytes(), &good[body..half]].concat()
        }
        HtmlBadGateway => {
            reply("502 Bad Gateway", "Content-Type: text/html\r\n", "<html><title>502 Bad Gateway</title></html>")
        }
        Status(status, pause) => {
            let pause = pause.map(|seconds| format!("Retry-After: {seconds}\r\n")).unwrap_or_default();
            reply(&format!("{status} Failed"), &format!("{json}{pause}"), r#"{"message":"it failed"}"#)
        }
        RedirectLoop => reply("302 Found", &format!("Location: {target}\r\n"), ""),
        OtherHost => reply("302 Found", &format!("Location: http://{other}/elsewhere\r\n"), ""),
        CorruptGzip => reply("200 OK", &format!("{json}Content-Encoding: gzip\r\n"), "this is not compressed"),
    }
}

impl Shared {
    /// Answers one request, as the demo world does or as the current failure demands.
    async fn answer(&self, mut stream: TcpStream, upstream: SocketAddr, other: SocketAddr) -> Option<()> {
        let request = read_message(&mut stream).await?;
        let line = String::from_utf8_lossy(request.split(|byte| *byte == b'\r').next()?).into_owned();
        let failure = self.failure.lock().unwrap().filter(|_| line.contains(*self.failing.lock().unwrap()));
        let Some(failure) = failure else {
            let reply = forward(upstream, &request).await?;
            stream.write_all(&reply).await.ok()?;
            self.replies.lock().unwrap().insert(line, reply);
            return Some(());
        };
        let known = self.replies.lock().unwrap().get(&line).cloned();
        let good = known.unwrap_or_else(|| reply("200 OK", "Content-Type: application/json\r\n", "[{}]"));
        let target = line.split(' ').nth(1).unwrap_or("/");
        stream.write_all(&broken(failure, good, target, other)).await.ok()?;
        if matches!(failure, StallBeforeReply | StallInBody) {
            std::future::pending::<()>().await;
        }
        Some(())
    }
}

/// Listens on a port of this computer, also one that was in use a moment ago.
fn listen(address: SocketAddr) -> TcpListener {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_reuseaddr(true).expect("an option");
    socket.bind(address).expect("a free port");
    socket.listen(64).expect("a listener")
}

impl Proxy {
    /// Starts a healthy proxy in front of `upstream`.
    fn start(upstream: SocketAddr) -> Proxy {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (listener, others) = (listen(any), listen(any));
        let address = listener.local_addr().expect("an address");
        let other = others.local_addr().expect("an address");
        let shared = Arc::new(Shared::default());
        let recorded = shared.clone();
        let other_accepting = tokio::spawn(async move {
            while let Ok((mut stream, _)) = others.accept().await {
                if let Some(request) = read_message(&mut stream).await {
                    recorded.elsewhere.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
                    let _ = stream.write_all(&reply("401 Unauthorized", "", "")).await;
                }
            }
        });
        let mut proxy = Proxy { address, other, upstream, shared, accepting: None, other_accepting };
        proxy.accept(listener);
        proxy
    }

    fn accept(&mut self, listener: TcpListener) {
        let (shared, upstream, other) = (self.shared.clone(), self.upstream, self.other);
        self.accepting = Some(tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = shared.clone();
                tokio::spawn(async move { shared.answer(stream, upstream, other).await });
            }
        }));
    }

    /// Fails from now on, or recovers.
    async fn set(&mut self, failure: Option<Failure>) {
        *self.shared.failure.lock().unwrap() = failure;
        if failure == Some(RefusedConnection) {
            if let Some(accepting) = self.accepting.take() {
                accepting.abort();
                let _ = accepting.await;
            }
        } else if self.accepting.is_none() {
            self.accept(listen(self.address));
        }
    }

    /// Returns the app at a place, on the server behind the proxy.
    fn open(&self, id: &str, token: &str) -> Harness {
        Begin::at(place_of(id)).size(120, 40).on(self.server(token)).open()
    }

    /// Returns the server behind the proxy.
    fn server(&self, token: &str) -> Server {
        let mut server = Server::new(format!("http://{}", self.address).parse().expect("an address"));
        server.token = Some(SecretString::from(token.to_owned()));
        server.timeouts = Timeouts { read: READ_TIMEOUT, ..Timeouts::default() };
        server
    }
}

/// Lets time pass until nothing is left to load.
async fn settle(app: &mut Harness) {
    for _ in 0..MAX_ROUNDS {
        app.settle().await;
        app.pass(1);
        if !app.is_loading() {
            return;
        }
    }
    panic!("it loads on and on\n{}", app.picture());
}

/// Refreshes a place while the server fails, and returns what is wrong, if anything.
async fn problem_while_failing(proxy: &Proxy, app: &mut Harness, failure: Failure, titles: &[&str]) -> Option<String> {
    let (known, here) = (body(app), app.app.place().pane);
    let mut before = app.asked.len();
    app.press("r").settle().await;
    // The clock is paused and may pass the limit of a request before a busy machine delivers the reply: it is read again.
    if app.shows("Timed out") && !titles.contains(&"Timed out") {
        before = app.asked.len();
        app.press("r").settle().await;
    }
    let is_reported = titles.iter().any(|title| app.shows(title)) || app.shows("unreachable");
    if app.asked.len() > before && !is_reported {
        return Some("the failure is not reported".into());
    }
    let now = body(app);
    let is_note = |line: &str| ["No ", "Nothing ", "There "].iter().any(|words| line.contains(words));
    let lost: Vec<&String> = known.iter().filter(|line| !is_note(line) && !now.contains(line)).collect();
    if !failure.is_refusal() && lost.len() > MAX_LOST {
        return Some(format!("this is not shown any more: {lost:?}"));
    }
    for key in ["j", "k", "?", "Esc", "a", "Esc", "j", "k"] {
        app.press(key).pass(1).settle().await;
    }
    let mut sent: HashMap<&String, usize> = HashMap::new();
    app.asked[before..].iter().for_each(|line| *sent.entry(line).or_default() += 1);
    if let Some((line, count)) = sent.iter().find(|(_, count)| **count > MAX_SENT) {
        return Some(format!("{line} was sent {count} times in ten seconds"));
    }
    let leak = |request: &String| request.to_ascii_lowercase().contains("private-token");
    if let Some(request) = proxy.shared.elsewhere.lock().unwrap().iter().find(|request| leak(request)) {
        return Some(format!("the token went to another server: {request}"));
    }
    let is_left = app.app.place().pane != here && failure != Status(404, None);
    is_left.then(|| format!("it left for {}", app.app.place().pane))
}

/// Refreshes a place after the server has recovered, and returns what is wrong, if anything. `known` is the content from
/// before the failure.
async fn problem_after_recovery(app: &mut Harness, known: &[String], titles: &[&str]) -> Option<String> {
    let mut failed_streams = app.failed_streams;
    app.press("r");
    settle(app).await;
    while titles.iter().any(|title| app.shows(title)) {
        // A trace is a stream, which may be refused before the recovery and report that only after the refresh.
        if app.failed_streams > failed_streams {
            failed_streams = app.failed_streams;
            app.press("r");
            settle(app).await;
        } else {
            app.hear().await;
        }
    }
    let again = body(app);
    let back = known.iter().filter(|line| again.contains(line)).count();
    (back * 2 < known.len()).then(|| format!("{back} of {} lines came back", known.len()))
}

#[tokio::test]
async fn every_place_survives_every_failure_on_the_wire() {
    let sample = Sample::one_in(14);
    let server = demo().await;
    let upstream = server.base_url.trim_start_matches("http://").parse().expect("an address");
    let mut proxy = Proxy::start(upstream);
    let mut problems = Vec::new();
    for (row, entry) in PANES.iter().enumerate() {
        for (column, (failure, titles)) in FAILURES.iter().enumerate() {
            if !sample.has(row * 3 + column) {
                continue;
            }
            let mut app = proxy.open(entry.place.id, &server.tokens["root"]);
            settle(&mut app).await;
            let (known, here) = (body(&app), app.app.place().pane);
            proxy.set(Some(*failure)).await;
            tokio::time::pause();
            let mut problem = problem_while_failing(&proxy, &mut app, *failure, titles).await;
            tokio::time::resume();
            proxy.set(None).await;
            if problem.is_none() && app.app.place().pane == here {
                problem = problem_after_recovery(&mut app, &known, titles).await;
            }
            problems.extend(problem.map(|why| format!("{}, {failure:?}: {why}\n{}", entry.place.id, app.picture())));
        }
    }
    proxy.other_accepting.abort();
    server.stop().await;
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n\n"));
}

/// A host that cannot be resolved, whatever the resolver: a label has 63 characters at most.
fn unresolvable() -> String {
    format!("http://{}.test", "a".repeat(64))
}

#[tokio::test]
async fn every_place_opens_without_a_server_it_can_reach_or_trust() {
    let server = demo().await;
    // The server speaks no TLS.
    let untrusted = server.base_url.replace("http://", "https://");
    tokio::time::pause();
    for (url, title) in [(unresolvable(), "Server unreachable"), (untrusted, "Untrusted connection")] {
        for entry in Sample::one_in(7).of(PANES) {
            let mut app = Begin::at(place_of(entry.place.id)).size(120, 40).server(&url, "token").open();
            app.settle().await;
            let is_reported = app.shows(title) || app.shows("✗");
            assert!(app.asked.is_empty() || is_reported, "{}: not {title}\n{}", entry.place.id, app.picture());
            // Esc closes the prompt that some places open with.
            app.press("Esc j ?").expect("Keys: ");
        }
    }
    server.stop().await;
}

/// A page or half of a file in place of a file is shown as an error, is not edited, and is requested again.
#[tokio::test]
async fn what_is_not_the_file_is_neither_shown_nor_edited() {
    let server = demo().await;
    let mut proxy = Proxy::start(server.base_url.trim_start_matches("http://").parse().expect("an address"));
    *proxy.shared.failing.lock().unwrap() = "/raw";
    for (failure, words) in
        [(SignInPage, "a web page, not the file: Sign in"), (CutWithoutLength, "the reply is not the file")]
    {
        proxy.set(Some(failure)).await;
        let place = labscope::app::place::Place::new("files").project("acme/rocket-ui").path("README.md");
        let mut app = Begin::at(place).size(120, 40).on(proxy.server(&server.tokens["root"])).open();
        settle(&mut app).await;
        app.expect("Unexpected reply").expect(words).expect_no("Sign in first");
        app.press("e");
        settle(&mut app).await;
        app.press("x C-s");
        settle(&mut app).await;
        app.expect(words).expect_no("Staged README.md");
        app.press("Esc r");
        settle(&mut app).await;
        app.expect(words);
        proxy.set(None).await;
        app.press("r");
        settle(&mut app).await;
        app.expect_no("Unexpected reply").expect("A small toolkit");
    }
    proxy.other_accepting.abort();
    server.stop().await;
}
