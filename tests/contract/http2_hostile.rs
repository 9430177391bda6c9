//! Hostile servers with HTTP/2, frame by frame: what is no frame, what breaks a rule, and what never ends. Every request fails
//! within the time limits, in bounded memory, and the next one on an honest connection succeeds.

use crate::client::at;
use crate::http2_server::tls;
use labscope::api::client::{Client, Server, TlsFiles};
use labscope::api::projects::GetProject;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::server::TlsStream;
use url::Url;

/// The time that a request may take, with all its repetitions, on a busy machine. One attempt waits half a second.
const WITHIN: Duration = Duration::from_secs(60);
/// The bytes that a server sends on one connection at most: a client that reads on without end would take far longer.
const MAX_SENT: usize = 1 << 30;
/// The memory that the process may gain, in KiB.
const MAX_GROWTH: u64 = 400 << 10;

// The types of frames (RFC 9113, section 6), and the flags of their ends.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// The head of a reply with status 200, as a compressed block.
const OK: &[u8] = &[0x88];

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short payload").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A field of a head: its name and value in full, not to be remembered.
fn field(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).expect("a short text");
    [&[0, length(name)], name.as_bytes(), &[length(value)], value.as_bytes()].concat()
}

/// What a server sends after the first request: once, and then again and again.
struct Attack {
    name: &'static str,
    first: Vec<u8>,
    again: Vec<u8>,
}

fn attacks() -> Vec<Attack> {
    let attack = |name, first: Vec<u8>, again: Vec<u8>| Attack { name, first, again };
    let head = frame(HEADERS, END_HEADERS, 1, OK);
    let many_fields = field("a", &"b".repeat(100)).repeat(100);
    // A field that is remembered, and then named by one byte each time: 47 MB in 16 KiB.
    let mut bomb = [&[0x40, 1, b'a', 0x7f, 0xbd, 0x1d][..], &[b'b'; 3_900]].concat();
    bomb.extend(std::iter::repeat_n(0xbe, 12_000));
    vec![
        attack("text instead of frames", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), vec![]),
        attack("noise", (0..9_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect(), vec![]),
        attack("settings without end", vec![], frame(SETTINGS, 0, 0, &[])),
        attack("settings that are wrong", frame(SETTINGS, 0, 0, &[0, 4, 0xff, 0xff, 0xff, 0xff]), vec![]),
        attack("pings without end", vec![], frame(PING, 0, 0, &[7; 8])),
        attack("a head without end", frame(HEADERS, 0, 1, OK), frame(CONTINUATION, 0, 1, &many_fields)),
        attack("an empty head without end", frame(HEADERS, 0, 1, OK), frame(CONTINUATION, 0, 1, &[])),
        attack("a head that unpacks to far more", frame(HEADERS, END_HEADERS, 1, &[OK, &bomb].concat()), vec![]),
        attack("a continuation of nothing", frame(CONTINUATION, END_HEADERS, 1, OK), vec![]),
        attack("early hints without end", vec![], frame(HEADERS, END_HEADERS, 1, &[0x08, 3, b'1', b'0', b'3'])),
        attack(
            "a request that it pushes",
            frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82, 0x84, 0x87]),
            vec![],
        ),
        attack("more data than is allowed", head.clone(), frame(DATA, 0, 1, &[b' '; 16_384])),
        attack("empty data without end", head.clone(), frame(DATA, 0, 1, &[])),
        attack("padding without end", head.clone(), frame(DATA, 8, 1, &[[255].as_slice(), &[0; 255]].concat())),
        attack("trailers without end", head.clone(), frame(HEADERS, END_HEADERS, 1, &field("a", "b"))),
        attack("data before the head", frame(DATA, 0, 1, b"{}"), vec![]),
        attack("data for another request", head.clone(), frame(DATA, 0, 99, b"{}")),
        attack("a frame that is too large", vec![0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1], vec![b' '; 9_000]),
        attack("a window that overflows", frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]).repeat(2), vec![]),
        attack("a window of nothing", frame(WINDOW_UPDATE, 0, 0, &[0; 4]), vec![]),
        attack("windows without end", vec![], frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
        attack("resets without end", vec![], frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])),
        attack("priorities without end", vec![], frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 1])),
        attack("frames of no known kind without end", vec![], frame(0xfa, 0, 0, &[0; 100])),
        attack("a goodbye with endless words", frame(GOAWAY, 0, 0, &[0; 16_000]), frame(GOAWAY, 0, 0, &[0; 16_000])),
        attack("a stream of its own", frame(HEADERS, END_HEADERS, 2, OK), vec![]),
        attack("half a frame", head[..4].to_vec(), vec![]),
        attack("half a reply", [head.clone(), frame(DATA, 0, 1, b"{\"id\":7,")].concat(), vec![]),
        attack("nothing", vec![], vec![]),
    ]
}

/// Reads frames until a request has arrived.
async fn request(stream: &mut TlsStream<TcpStream>) -> Option<()> {
    stream.read_exact(&mut [0; 24]).await.ok()?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.ok()?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize]).await.ok()?;
        if head[3] == HEADERS {
            return Some(());
        }
    }
}

async fn serve(mut stream: TlsStream<TcpStream>, attack: Option<&Attack>) -> Option<()> {
    request(&mut stream).await?;
    let Some(attack) = attack else {
        let head = [OK, &field("content-type", "application/json")].concat();
        let body = frame(DATA, END_STREAM, 1, br#"{"id":7,"name":"b"}"#);
        stream.write_all(&[frame(HEADERS, END_HEADERS, 1, &head), body].concat()).await.ok()?;
        return stream.read_to_end(&mut Vec::new()).await.ok().map(drop);
    };
    stream.write_all(&attack.first).await.ok()?;
    stream.flush().await.ok()?;
    let mut sent = 0;
    let again = attack.again.repeat(1 + 16_384 / attack.again.len().max(1));
    while !again.is_empty() && sent < MAX_SENT {
        stream.write_all(&again).await.ok()?;
        sent += again.len();
    }
    stream.read_to_end(&mut Vec::new()).await.ok().map(drop)
}

/// Returns the memory of this process, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_server_fails_requests_in_bounded_time_and_memory() {
    for attack in attacks() {
        let attack = Arc::new(attack);
        let acceptor = tls::acceptor(&[b"h2"]);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let (is_honest, open) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (honest, of_server, count) = (is_honest.clone(), attack.clone(), open.clone());
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, attack, honest) = (acceptor.clone(), of_server.clone(), honest.load(Ordering::Relaxed));
                let count = count.clone();
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    count.fetch_add(1, Ordering::Relaxed);
                    serve(stream, (!honest).then_some(&*attack)).await;
                    count.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        let url = Url::parse(&format!("https://localhost:{port}")).expect("an address is a URL");
        let tls = TlsFiles { ca_cert: Some(tls::certificate()), ..TlsFiles::default() };
        let client = Client::new(Server { tls, ..at(&url) }).expect("a client");
        let before = memory();
        let read = async || client.call(&GetProject { id: "a/b".into(), ..GetProject::default() }).await;
        let reply = tokio::time::timeout(WITHIN, read()).await;
        let reply = reply.unwrap_or_else(|_| panic!("{}: the request does not end", attack.name));
        let error = reply.expect_err(attack.name);
        assert!(!error.message().chars().any(char::is_control), "{}: {error}", attack.name);
        let growth = memory().saturating_sub(before);
        assert!(growth < MAX_GROWTH, "{}: {growth} KiB", attack.name);
        is_honest.store(true, Ordering::Relaxed);
        // Requests may fail until one has found out that the connection is of no use.
        let recovers = async {
            loop {
                if let Ok(project) = read().await {
                    break project.id;
                }
            }
        };
        let id = tokio::time::timeout(WITHIN, recovers).await;
        assert_eq!(id.ok(), Some(7), "after {}", attack.name);
        // What never ends is left.
        let left = async {
            while open.load(Ordering::Relaxed) > 1 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(WITHIN, left).await.unwrap_or_else(|_| panic!("{}: the connection stays", attack.name));
        serving.abort();
    }
}
