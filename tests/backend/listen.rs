//! Hooks: subscribers are notified of events.

use crate::{Server, WORLD, json};
use reqwest::Method;
use serde_json::{Value, json as value};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

/// Accepts posts forever and forwards their bodies; closes the first `closed` connections without an answer.
fn receiver(closed: usize) -> (String, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/told", listener.local_addr().unwrap());
    let (sender, told) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten().skip(closed) {
            let mut stream = stream;
            let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
            let body = loop {
                let read = stream.read(&mut buffer).unwrap();
                bytes.extend_from_slice(&buffer[..read]);
                let Some(head) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
                if let Ok(body) = serde_json::from_slice::<Value>(&bytes[head + 4..]) {
                    break body;
                }
            };
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            if sender.send(body).is_err() {
                return;
            }
        }
    });
    (url, told)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_receives_only_the_events_it_subscribed_to() {
    let (url, told) = receiver(0);
    let (deaf, silence) = receiver(0);
    let server = Server::of(WORLD, &Default::default()).await;
    let all = [("url", url.as_str()), ("push_events", "1"), ("tag_push_events", "1"), ("merge_requests_events", "1")];
    json(server.post("root", "/hooks", &all).await, 201).await;
    json(server.post("root", "/hooks", &[("url", &deaf)]).await, 201).await;
    let next = || told.recv_timeout(Duration::from_secs(20)).expect("something happened");

    let action = value!({"action": "create", "file_path": "b.txt", "content": "b\n"});
    let commit = value!({"branch": "louder", "commit_message": "Add b", "actions": [action]});
    let call = server.call("bo", Method::POST, "/projects/1/repository/commits").json(&commit);
    let made = json(call.send().await.unwrap(), 201).await;
    let push = next();
    assert_eq!((push["event_name"].as_str(), push["ref"].as_str()), (Some("push"), Some("refs/heads/louder")));
    assert_eq!((&push["after"], push["commits"][0]["message"].as_str()), (&made["id"], Some("Add b")));
    assert_eq!(push["project"]["path_with_namespace"], "ada/hello");

    let tag = [("tag_name", "v1"), ("ref", "louder")];
    json(server.post("bo", "/projects/1/repository/tags", &tag).await, 201).await;
    let tag = next();
    assert_eq!((tag["event_name"].as_str(), tag["ref"].as_str()), (Some("tag_push"), Some("refs/tags/v1")));
    assert_eq!(tag["before"], "0".repeat(40));

    let close = [("state_event", "close")];
    json(server.put("ada", "/projects/1/merge_requests/1", &close).await, 200).await;
    let request = next();
    assert_eq!(request["object_kind"], "merge_request");
    assert_eq!(request["object_attributes"]["action"], "close");

    // A refused write triggers no hook.
    assert_eq!(server.post("bo", "/projects/1/repository/branches", &[("branch", "x")]).await.status(), 400);
    assert!(told.try_recv().is_err() && silence.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_hook_delivery_is_retried() {
    let (url, told) = receiver(1);
    let server = Server::of(WORLD, &Default::default()).await;
    json(server.post("root", "/hooks", &[("url", &url), ("push_events", "1")]).await, 201).await;
    let branch = [("branch", "again"), ("ref", "main")];
    json(server.post("bo", "/projects/1/repository/branches", &branch).await, 201).await;
    let push = told.recv_timeout(Duration::from_secs(20)).expect("it is told in the end");
    assert_eq!(push["ref"], "refs/heads/again");
}
