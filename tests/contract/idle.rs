//! Proxies and servers with HTTP/1.1 that close connections between requests: a request that crosses the end of its
//! connection is repeated if it is a read, and never if it is a write.

use crate::client::at;
use labscope::api::Fault;
use labscope::api::branches::CreateBranch;
use labscope::api::client::Client;
use labscope::api::projects::GetProject;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

/// A server that answers one request on each connection, which it promises to keep.
struct Impatient {
    url: Url,
    asked: Arc<Mutex<Vec<String>>>,
    /// The number of connections that both sides have closed.
    ended: Arc<AtomicUsize>,
}

impl Impatient {
    /// Starts a server that closes its connections after the reply, or only when another request arrives.
    async fn start(waits_for_request: bool) -> Impatient {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = Url::parse(&format!("http://{}", listener.local_addr().expect("an address"))).expect("a URL");
        let (asked, ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let server = Impatient { url, asked: asked.clone(), ended: ended.clone() };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (asked, ended) = (asked.clone(), ended.clone());
                tokio::spawn(async move {
                    answer_once(stream, &asked, waits_for_request).await;
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        server
    }

    fn client(&self) -> Client {
        Client::new(at(&self.url)).expect("a client")
    }

    /// Returns the methods of all requests.
    fn methods(&self) -> Vec<String> {
        let asked = self.asked.lock().expect("it is not held");
        asked.iter().map(|request| request.split(' ').next().unwrap_or_default().to_owned()).collect()
    }

    /// Waits until `count` connections have ended.
    async fn ended(&self, count: usize) {
        let all_ended = async {
            while self.ended.load(Ordering::Relaxed) < count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), all_ended).await.expect("the client closes the connection");
    }
}

/// Returns a reply after which the connection stays open.
fn kept_reply() -> String {
    let body = r#"{"id":7,"name":"b"}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: keep-alive";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

async fn answer_once(mut stream: TcpStream, asked: &Mutex<Vec<String>>, waits_for_request: bool) -> Option<()> {
    let record = |request| asked.lock().expect("it is not held").push(request);
    record(read_request(&mut stream).await?);
    stream.write_all(kept_reply().as_bytes()).await.ok()?;
    if waits_for_request {
        record(read_request(&mut stream).await?);
    }
    stream.shutdown().await.ok()?;
    stream.read_to_end(&mut Vec::new()).await.ok().map(drop)
}

/// Reads a request with its body, if that has a length.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    loop {
        if stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return Some(String::from_utf8_lossy(&request).into_owned());
        }
    }
}

fn project() -> GetProject {
    GetProject { id: "a/b".into(), ..GetProject::default() }
}

fn create_branch() -> CreateBranch {
    CreateBranch { id: 1_u64.into(), branch: "next".into(), r#ref: "main".into() }
}

#[tokio::test]
async fn a_connection_that_ended_while_idle_is_not_used() {
    let server = Impatient::start(false).await;
    let client = server.client();
    for round in 1..5 {
        client.call(&project()).await.expect("a project");
        server.ended(2 * round - 1).await;
        client.call(&create_branch()).await.expect("a write is sent on a new connection");
        server.ended(2 * round).await;
    }
    assert_eq!(server.methods(), ["GET", "POST"].repeat(4));
}

#[tokio::test]
async fn a_request_that_crosses_the_end_of_its_connection_is_repeated_if_it_is_a_read() {
    let server = Impatient::start(true).await;
    let client = server.client();
    client.call(&project()).await.expect("a project");
    client.call(&project()).await.expect("it is asked for again");
    assert_eq!(server.methods(), ["GET", "GET", "GET"]);
    let error = client.call(&create_branch()).await.expect_err("it may have been done");
    assert!(
        matches!(&error.fault, Fault::Cut(why) if why.ends_with("closed the connection without a reply")),
        "{error}"
    );
    assert!(error.write_advice().starts_with("It may have succeeded"), "{error}");
    assert_eq!(server.methods(), ["GET", "GET", "GET", "POST"]);
    client.call(&create_branch()).await.expect("the user sends it again");
}

/// After a computer has slept, or a router has forgotten the connections, nothing answers on them. One request finds that out.
#[tokio::test]
async fn after_a_request_without_an_answer_the_next_one_opens_a_connection() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = Url::parse(&format!("http://{}", listener.local_addr().expect("an address"))).expect("a URL");
    let all_open = Arc::new(tokio::sync::Barrier::new(3));
    tokio::spawn(async move {
        for number in 0.. {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let all_open = all_open.clone();
            tokio::spawn(async move {
                read_request(&mut stream).await?;
                if number < 3 {
                    all_open.wait().await;
                }
                stream.write_all(kept_reply().as_bytes()).await.ok()?;
                // What arrives later is read, and never answered.
                stream.read_to_end(&mut Vec::new()).await.ok()
            });
        }
    });
    let client = Client::new(at(&url)).expect("a client");
    let project = project();
    let three = futures::future::join_all([(); 3].map(|()| client.call(&project))).await;
    assert!(three.iter().all(Result::is_ok));
    let error = client.call(&project).await.expect_err("no answer");
    assert!(matches!(error.fault, Fault::Timeout(_)), "{error}");
    client.call(&project).await.expect("a project, on a new connection");
}

/// A second place finds the connections of the first one idle, and uses them.
#[tokio::test]
async fn idle_connections_are_used_before_new_ones_are_opened() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = Url::parse(&format!("http://{}", listener.local_addr().expect("an address"))).expect("a URL");
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    // Eight requests at a time: none is answered before all are there.
    let all_sent = Arc::new(tokio::sync::Barrier::new(8));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            let all_sent = all_sent.clone();
            tokio::spawn(async move {
                while read_request(&mut stream).await.is_some() {
                    all_sent.wait().await;
                    let _ = stream.write_all(kept_reply().as_bytes()).await;
                }
            });
        }
    });
    let client = Client::new(at(&url)).expect("a client");
    let project = project();
    for place in 0..4 {
        let all = futures::future::join_all([(); 8].map(|()| client.call(&project))).await;
        assert!(all.iter().all(Result::is_ok), "{place}: {all:?}");
    }
    assert_eq!(opened.load(Ordering::Relaxed), 8);
}
