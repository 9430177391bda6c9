//! Limits of the server: body sizes, idle connections, clients that do not read their replies, and host names.

use crate::{Server, WORLD, downloads, header, json};
use labscope::backend::{Clock, Limits, Modes, Options, WorldKind};
use reqwest::{Method, Response};
use serde_json::json as value;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A timeout that no test reaches.
const NEVER: Duration = Duration::from_secs(3_600);
/// A timeout that a test waits for.
const SOON: Duration = Duration::from_millis(50);
/// The maximum time that a test waits for something.
const WITHIN: Duration = Duration::from_secs(60);

/// Starts a server with these limits and a world of jobs with artifacts.
async fn server(limits: Limits) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.toml");
    std::fs::write(&file, downloads::WORLD).unwrap();
    let clock = Clock::new(|| "2026-11-20T16:00:10Z".parse().unwrap());
    Server::with(Options { world: WorldKind::File(file), limits, clock, ..Options::default() }).await
}

fn patient() -> Limits {
    Limits { head: NEVER, body: NEVER, reply: NEVER, stall: NEVER, ..Limits::default() }
}

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.running.base_url.trim_start_matches("http://")).await.unwrap()
}

/// Returns everything received until the server closes the connection.
async fn until_closed(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = stream.read_to_end(&mut text);
    tokio::time::timeout(WITHIN, read).await.expect("the connection is closed").unwrap();
    String::from_utf8(text).unwrap()
}

/// A file that is larger than all buffers along the way.
const LARGE: &str = "/projects/1/jobs/1/artifacts/bomb.bin";

/// Starts a download that is never read.
async fn unread(server: &Server, user: &str) -> Response {
    let reply = server.get(user, LARGE).await;
    assert_eq!(reply.status(), 200);
    reply
}

/// Requests the first bytes of the same file.
async fn beginning(server: &Server, user: &str) -> Response {
    server.call(user, Method::GET, LARGE).header("range", "bytes=0-9").send().await.unwrap()
}

/// Retries until the server has a free stream.
async fn until_admitted(server: &Server, user: &str) {
    let start = Instant::now();
    loop {
        let reply = beginning(server, user).await;
        if reply.status() == 206 {
            return;
        }
        assert_eq!((reply.status().as_u16(), header(&reply, "retry-after")), (503, "1"));
        assert!(start.elapsed() < WITHIN, "{user} gets no free stream");
    }
}

#[tokio::test]
async fn each_route_has_a_body_limit_with_a_clear_error() {
    let server = Server::of(WORLD, &Default::default()).await;
    let send = |user: &str, path: &str, body: String| {
        server.call(user, Method::POST, path).header("content-type", "application/json").body(body).send()
    };
    let file = |megabytes: usize| {
        let actions = value!([{"action": "create", "file_path": "large", "content": "CONTENT"}]);
        let commit = value!({"branch": "main", "commit_message": "Large", "actions": actions});
        commit.to_string().replace("CONTENT", &"a".repeat(megabytes << 20))
    };
    let note = |megabytes: usize| format!("{{\"body\":\"{}\"}}", "a".repeat(megabytes << 20));
    let notes = "/projects/1/merge_requests/1/notes";
    json(send("ada", notes, note(7)).await.unwrap(), 201).await;
    let refused = json(send("ada", notes, note(60)).await.unwrap(), 413).await;
    assert_eq!(refused["message"], "413 Request Entity Too Large: the request body exceeds the limit of 8 MiB");
    json(send("ada", "/projects/1/repository/commits", file(9)).await.unwrap(), 201).await;
    let refused = json(send("ada", "/projects/1/repository/commits", file(65)).await.unwrap(), 413).await;
    assert_eq!(refused["message"], "413 Request Entity Too Large: the request body exceeds the limit of 64 MiB");
    // Anonymous callers cannot send large bodies.
    let refused = json(send("", notes, note(2)).await.unwrap(), 413).await;
    assert_eq!(refused["message"], "413 Request Entity Too Large: the request body exceeds the limit of 1 MiB");
    let unknown = server.call("", Method::POST, notes).header("PRIVATE-TOKEN", "nobody's").body(note(2));
    // The headers are enough to decide, so the server does not wait for the body.
    if let Ok(reply) = unknown.send().await {
        assert_eq!(reply.status(), 401);
    }
    let many = format!("{{\"labels\":[{}1]}}", "{\"\":0},".repeat(1 << 20));
    let refused = json(send("ada", "/projects/1/merge_requests", many).await.unwrap(), 413).await;
    assert_eq!(refused["message"], "413 Request Entity Too Large: the request exceeds the limit of 100000 values");
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let server = server(Limits { head: SOON, ..patient() }).await;
    for begun in ["", "GET /api/v4/version HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
        let mut stream = connect(&server).await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        assert_eq!(until_closed(&mut stream).await, "", "{begun:?}");
    }
    // Also a connection that has already served a request.
    let mut stream = connect(&server).await;
    stream.write_all(b"GET /api/v4/projects/1 HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(until_closed(&mut stream).await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn a_body_that_does_not_arrive_times_out_with_408() {
    let server = server(Limits { body: SOON, ..patient() }).await;
    let mut stream = connect(&server).await;
    let head = format!(
        "POST /api/v4/groups HTTP/1.1\r\nHost: localhost\r\nPRIVATE-TOKEN: {}\r\nContent-Length: 10\r\n\r\nname=",
        server.token("root")
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = until_closed(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
    assert!(answer.ends_with("\"408 Request Timeout: the body did not arrive within 0.05 seconds\"}"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_do_not_read_do_not_block_others() {
    let server = server(Limits { streams: 16, ..patient() }).await;
    let mut idle = Vec::new();
    for _ in 0..8 {
        idle.push(unread(&server, "ada").await);
    }
    assert_eq!(beginning(&server, "eve").await.status(), 206);
    assert_eq!(server.get("eve", "/projects/1/jobs/1/trace").await.status(), 200);
    let archive = server.get("eve", "/projects/1/repository/archive").await;
    assert!(!archive.bytes().await.unwrap().is_empty());
    assert_eq!(server.read("ada", "/projects/1").await["name"], "hello", "only streams are limited");
    // A single caller may use half of the streams.
    assert_eq!(beginning(&server, "ada").await.status(), 503);
    idle.pop();
    until_admitted(&server, "ada").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_reply_is_dropped_when_streams_run_out() {
    let server = server(Limits { streams: 4, stall: Duration::ZERO, ..patient() }).await;
    let [first, second] = [unread(&server, "ada").await, unread(&server, "ada").await];
    // Waits until the writers of both replies are stalled.
    until_admitted(&server, "ada").await;
    // A truncated reply is not mistaken for a complete one.
    let whole = [first.bytes().await, second.bytes().await].into_iter().filter_map(Result::ok).collect::<Vec<_>>();
    assert_eq!(whole.iter().map(|bytes| bytes.len()).collect::<Vec<_>>(), [50_000_000], "one of them gave way");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_is_never_read_times_out() {
    let server = server(Limits { streams: 2, reply: SOON, ..patient() }).await;
    let _idle = unread(&server, "ada").await;
    until_admitted(&server, "ada").await;
}

#[tokio::test]
async fn a_loopback_server_rejects_other_host_names() {
    let ask = async |server: &Server, host: &str| {
        let mut stream = connect(server).await;
        let head = format!("GET /api/v4/projects/1 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        until_closed(&mut stream).await
    };
    let local = server(Limits::default()).await;
    for host in ["localhost:1", "127.0.0.1", "[::1]:80"] {
        let answer = ask(&local, host).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains(&format!("\"web_url\":\"http://{host}/ada/hello\"")), "{answer}");
    }
    let answer = ask(&local, "rebound.example").await;
    assert!(answer.starts_with("HTTP/1.1 421 Misdirected Request\r\n"), "{answer}");
    let why = "421 Misdirected Request: this server accepts only localhost and 127.0.0.1 as host, not \\\"rebound.example\\\"";
    assert!(answer.ends_with(&format!("{{\"message\":\"{why}\"}}")), "{answer}");

    // A server on a public address accepts any host name.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.toml");
    std::fs::write(&file, WORLD).unwrap();
    let options =
        Options { listen: SocketAddr::from(([0, 0, 0, 0], 0)), world: WorldKind::File(file), ..Options::default() };
    let open = Server::with(options).await;
    assert!(ask(&open, "labscope.example").await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_keep_the_server_waiting_give_way_to_new_ones() {
    let server = server(Limits { connections: 8, stall: SOON, ..patient() }).await;
    let token = server.token("ada").to_owned();
    let slow_body = format!(
        "POST /api/v4/groups HTTP/1.1\r\nHost: localhost\r\nPRIVATE-TOKEN: {token}\r\nContent-Length: 10\r\n\r\nn"
    );
    let never_read = format!("GET /api/v4{LARGE} HTTP/1.1\r\nHost: localhost\r\nPRIVATE-TOKEN: {token}\r\n\r\n");
    let once = "GET /api/v4/projects/1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for begun in ["", "GET /api/v4/version HTTP/1.1\r\nX-Slow: ", &slow_body, &never_read, once] {
        let mut silent = Vec::new();
        for _ in 0..20 {
            let mut stream = connect(&server).await;
            stream.write_all(begun.as_bytes()).await.unwrap();
            silent.push(stream);
        }
        let start = Instant::now();
        for _ in 0..3 {
            let mut stream = connect(&server).await;
            stream.write_all(once.replace("Host", "Connection: close\r\nHost").as_bytes()).await.unwrap();
            assert!(until_closed(&mut stream).await.starts_with("HTTP/1.1 200 OK\r\n"), "{begun:?}");
        }
        assert!(start.elapsed() < WITHIN / 4, "{begun:?}: {:?}", start.elapsed());
    }
    // One for which the server works stays, however many others come.
    let modes = Modes { latency: Duration::from_millis(500), ..Modes::default() };
    let slow = Server::with(Options {
        limits: Limits { connections: 2, stall: SOON, ..patient() },
        modes,
        ..Options::default()
    })
    .await;
    let mut working = connect(&slow).await;
    let head = once.replace("projects/1", "version").replace("Host", "Connection: close\r\nHost");
    working.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(SOON).await;
    let mut others = Vec::new();
    for _ in 0..20 {
        others.push(connect(&slow).await);
    }
    assert!(until_closed(&mut working).await.starts_with("HTTP/1.1 "));
}
