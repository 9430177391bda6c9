//! Servers with HTTP/2 that reset streams, end connections, and send half of a reply: a read is repeated, a write never,
//! and the error says what is known about it.

use crate::client::at;
use crate::http2_server::Http2Server;
use crate::http2_server::Reaction::{self, *};
use h2::Reason;
use labscope::api::branches::{CreateBranch, ListBranches};
use labscope::api::client::Client;
use labscope::api::projects::GetProject;
use labscope::api::{Error, Fault};
use labscope::app::action::{Effect, Msg};
use labscope::runtime::executor::Executor;
use labscope::store::{Load, Task};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::mpsc;

const PROJECT: &str = r#"{"id":7,"name":"b"}"#;
const BRANCH: &str = r#"{"name":"next"}"#;

/// Starts a server that reacts to the requests in their order, and at last to all others.
async fn server(reactions: impl IntoIterator<Item = Reaction>, last: Reaction) -> Http2Server {
    let reactions: Mutex<VecDeque<Reaction>> = Mutex::new(reactions.into_iter().collect());
    Http2Server::start(move |_| reactions.lock().expect("it is not held").pop_front().unwrap_or(last.clone())).await
}

fn client(server: &Http2Server) -> Client {
    Client::new(server.trusted(at(&server.url))).expect("a client")
}

async fn read(client: &Client) -> Result<u64, Error> {
    client.call(&GetProject { id: "a/b".into(), ..GetProject::default() }).await.map(|project| project.id)
}

async fn write(client: &Client) -> Result<String, Error> {
    let create = CreateBranch { id: 1_u64.into(), branch: "next".into(), r#ref: "main".into() };
    client.call(&create).await.map(|branch| branch.name)
}

#[tokio::test]
async fn requests_share_a_connection() {
    let server = server([], Answer(200, PROJECT)).await;
    let client = client(&server);
    read(&client).await.expect("a project");
    let replies = futures::future::join_all((0..20).map(|_| read(&client))).await;
    assert!(replies.iter().all(|reply| reply == &Ok(7)), "{replies:?}");
    assert_eq!((server.asked().len(), server.connections()), (21, 1));
}

/// The ways in which a request ends without a reply, with the words for them.
const ENDS: [(Reaction, &str); 6] = [
    (Reset(Reason::REFUSED_STREAM), "did not process the request"),
    (Reset(Reason::INTERNAL_ERROR), "aborted the request: unexpected internal error encountered"),
    (Reset(Reason::ENHANCE_YOUR_CALM), "aborted the request: detected excessive load generating behavior"),
    (GoAway(Reason::NO_ERROR), "the connection"),
    (GoAway(Reason::INTERNAL_ERROR), "the connection"),
    (Close, "closed the connection without a reply"),
];

#[tokio::test]
async fn a_read_is_repeated_as_often_as_with_any_server() {
    for (end, words) in ENDS {
        let server = server([Answer(200, PROJECT), end.clone()], Answer(200, PROJECT)).await;
        let client = client(&server);
        read(&client).await.expect("a project");
        read(&client).await.unwrap_or_else(|error| panic!("{end:?}: {error}"));
        assert_eq!(server.asked().len(), 3, "{end:?}: it is repeated once");
        let server = self::server([], end.clone()).await;
        let error = read(&self::client(&server)).await.expect_err("no reply");
        assert!(matches!(error.fault, Fault::Offline(_)), "{end:?}: {error}");
        assert!(error.message().starts_with("localhost:") && error.message().contains(words), "{end:?}: {error}");
        assert_eq!(server.asked().len(), 4, "{end:?}");
    }
}

#[tokio::test]
async fn a_write_is_sent_once_and_the_error_says_whether_it_may_have_succeeded() {
    for (end, words) in ENDS {
        let server = server([Answer(200, PROJECT), end.clone()], Answer(201, BRANCH)).await;
        let client = client(&server);
        read(&client).await.expect("a project");
        let error = write(&client).await.expect_err("no reply");
        let is_unprocessed = matches!(end, Reset(Reason::REFUSED_STREAM));
        assert_eq!(matches!(error.fault, Fault::Offline(_)), is_unprocessed, "{end:?}: {error}");
        assert_eq!(error.write_advice().starts_with("It may have succeeded"), !is_unprocessed, "{end:?}: {error}");
        assert!(error.message().contains(words), "{end:?}: {error}");
        assert_eq!(server.asked().len(), 2, "{end:?}: it is sent once");
        assert_eq!(write(&client).await.as_deref(), Ok("next"), "{end:?}: the user sends it again");
    }
}

#[tokio::test]
async fn a_connection_that_ends_while_idle_is_replaced_unnoticed() {
    for _ in 0..5 {
        let server = server([LastAnswer(PROJECT), LastAnswer(PROJECT)], Answer(201, BRANCH)).await;
        let client = client(&server);
        read(&client).await.expect("a project");
        server.ended(1).await;
        read(&client).await.expect("a project");
        server.ended(2).await;
        assert_eq!(write(&client).await.as_deref(), Ok("next"));
        assert_eq!((server.asked().len(), server.connections()), (3, 3));
    }
}

#[tokio::test]
async fn a_connection_that_is_gone_without_a_word_is_replaced() {
    let server = server([Answer(200, PROJECT), Freeze], Answer(200, PROJECT)).await;
    let client = client(&server);
    read(&client).await.expect("a project");
    assert_eq!(read(&client).await, Ok(7), "before the read times out");
    assert_eq!((server.asked().len(), server.connections()), (3, 2));
    let server = self::server([Answer(200, PROJECT), Freeze], Answer(201, BRANCH)).await;
    let client = self::client(&server);
    read(&client).await.expect("a project");
    let error = write(&client).await.expect_err("it may have been done");
    assert!(error.message().ends_with("does not answer on the open connection"), "{error}");
    assert!(error.write_advice().starts_with("It may have succeeded"), "{error}");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn the_first_requests_open_one_connection_although_nothing_is_known_of_the_server() {
    let server = server([], Answer(200, PROJECT)).await;
    let client = client(&server);
    let burst = || futures::future::join_all((0..20).map(|_| read(&client)));
    assert!(burst().await.iter().all(Result::is_ok));
    assert_eq!((server.asked().len(), server.connections()), (20, 1));
    assert!(client.is_http2());
}

/// Requests eight lists at once in a session that keeps its replies in a folder.
async fn hold_session(server: &Http2Server, replies: &Path) {
    let (sender, mut inbox) = mpsc::channel(64);
    let settings = server.trusted(at(&server.url));
    let connect = Box::new(move || Client::new(settings));
    let mut executor = Executor::new(connect, sender, None, Some(replies.to_owned()));
    for id in 1..=8_u64 {
        let load = Load::list(&ListBranches { id: id.into(), search: None }, 1);
        executor.take(Effect::Start(Task::Load { load, page: 1, link: None, known: None }));
    }
    let mut arrived = 0;
    while arrived < 8 {
        let next = tokio::time::timeout(Duration::from_secs(60), inbox.recv()).await.expect("it answers");
        let msg = next.expect("the executor is there").unless_stopped();
        arrived += usize::from(matches!(msg, Some(Msg::Arrived(_, Ok(_)))));
    }
    let is_noted = async {
        while !replies.join("http2").exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), is_noted).await.expect("the server is known");
    executor.finish().await;
}

#[tokio::test]
async fn the_requests_of_each_session_share_a_connection() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let server = server([], Answer(200, r#"[{"name":"main"}]"#)).await;
    for connections in [1, 2] {
        hold_session(&server, &folder.path().join("replies")).await;
        assert_eq!(server.connections(), connections);
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_fails_at_all_requests_at_once() {
    let address = std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    let url = format!("https://{}", address.expect("a free port"));
    let mut settings = at(&url.parse().expect("a URL"));
    settings.timeouts.retry_delay = Duration::from_millis(1);
    let client = Client::new(settings).expect("a client");
    let burst = futures::future::join_all((0..20).map(|_| read(&client))).await;
    assert!(burst.iter().all(|reply| matches!(reply, Err(Error { fault: Fault::Offline(_), .. }))), "{burst:?}");
}

#[tokio::test]
async fn once_a_server_has_shown_http2_a_lost_connection_is_replaced_by_one() {
    let server = server([Answer(200, PROJECT), Close], Answer(200, PROJECT)).await;
    let client = client(&server);
    read(&client).await.expect("a project");
    write(&client).await.expect_err("the connection ends");
    server.ended(1).await;
    let burst = futures::future::join_all((0..20).map(|_| read(&client))).await;
    assert!(burst.iter().all(Result::is_ok), "{burst:?}");
    assert_eq!((server.asked().len(), server.connections()), (22, 2));
}

#[tokio::test]
async fn a_server_that_has_lost_http2_is_reached_all_the_same() {
    let server = crate::scripted::Scripted::minded(|_| crate::scripted::answer(200, PROJECT)).await;
    let client = Client::new(at(&server.url)).expect("a client");
    client.expect_http2(true);
    let burst = futures::future::join_all((0..20).map(|_| read(&client))).await;
    assert!(burst.iter().all(Result::is_ok), "{burst:?}");
    assert!(!client.is_http2());
}

#[tokio::test]
async fn half_of_a_reply_is_an_error() {
    let halves = [Half(r#"{"id":"#), Half(r#"{"id":"#), Half(r#"{"name":"#)];
    let server = server(halves, Answer(200, PROJECT)).await;
    let client = client(&server);
    let error = read(&client).await.expect_err("half of a reply");
    assert_eq!(error.fault, Fault::Cut("the server aborted the reply".into()));
    assert_eq!(server.asked().len(), 2, "it is repeated once");
    let error = write(&client).await.expect_err("half of a reply");
    assert!(error.write_advice().starts_with("It may have succeeded"), "{error}");
    assert_eq!(read(&client).await, Ok(7), "other requests are not affected");
    assert_eq!((server.asked().len(), server.connections()), (4, 1));
}
