//! Requests of which there are many, such as those for the cells of a list, leave room for the user's next action.

use crate::client::at;
use crate::http2_server::{Http2Server, Reaction};
use labscope::api::client::{Client, Priority, Server, Timeouts};
use labscope::api::jobs::GetJob;
use labscope::api::users::GetCurrentUser;
use labscope::app::action::Effect;
use labscope::runtime::executor::Executor;
use labscope::store::{Load, Task, TaskKey};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// Accepts a connection and reads its request, which is never answered.
async fn next_request(listener: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = listener.accept().await.expect("a connection");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        assert_ne!(stream.read_buf(&mut head).await.expect("a request"), 0, "it ends early");
    }
    (stream, String::from_utf8_lossy(&head).into_owned())
}

#[tokio::test]
async fn the_next_action_does_not_wait_for_the_cells_of_a_list() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address")).parse().expect("a URL");
    let (sender, _inbox) = mpsc::channel(64);
    let mut executor = Executor::new(Box::new(move || Client::new(at(&url))), sender, None, None);
    let start = |load: Load| Effect::Start(Task::Load { load, page: 0, link: None, known: None });
    let cell = |job_id| Load { priority: Priority::Columns, ..Load::single(&GetJob { id: 1_u64.into(), job_id }) };
    for job_id in 1..=20 {
        executor.take(start(cell(job_id)));
    }
    let all = async {
        let (mut open, mut queued) = (Vec::new(), Vec::from_iter(1..=20));
        for _ in 0..6 {
            let (stream, head) = next_request(&listener).await;
            assert!(head.contains("/jobs/"), "{head}");
            queued.retain(|job| !head.contains(&format!("/jobs/{job} ")));
            open.push(stream);
        }
        executor.take(start(Load::single(&GetCurrentUser::default())));
        let (stream, head) = next_request(&listener).await;
        assert!(head.starts_with("GET /api/v4/user "), "{head}");
        open.push(stream);
        // The last row is selected.
        let job = queued.pop().expect("a request that waits");
        executor.take(Effect::MoveForward(TaskKey::Load(cell(job).request, 0)));
        let (_stream, head) = next_request(&listener).await;
        assert!(head.contains(&format!("/jobs/{job} ")), "{head}");
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("all are sent");
}

/// With HTTP/2, the requests for the rows of a screen take one round trip: all are sent before the first one is answered.
#[tokio::test]
async fn the_cells_of_a_screen_are_sent_together_over_http2() {
    let server = Http2Server::start(|_| Reaction::Silence).await;
    let trusted = Server { timeouts: Timeouts::default(), ..server.trusted(at(&server.url)) };
    let (sender, _inbox) = mpsc::channel(64);
    let mut executor = Executor::new(Box::new(move || Client::new(trusted)), sender, None, None);
    for job_id in 1..=40 {
        let load = Load { priority: Priority::Columns, ..Load::single(&GetJob { id: 1_u64.into(), job_id }) };
        executor.take(Effect::Start(Task::Load { load, page: 0, link: None, known: None }));
    }
    let all = async {
        while server.asked().len() < 30 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("a screen of requests");
    executor.take(Effect::Start(Task::Load {
        load: Load::single(&GetCurrentUser::default()),
        page: 0,
        link: None,
        known: None,
    }));
    let next = async {
        while server.asked().last().is_none_or(|line| line != "GET /api/v4/user") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), next).await.expect("the next action");
    assert_eq!((server.asked().len(), server.connections()), (31, 1), "the others wait");
}
