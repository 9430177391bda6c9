//! Endpoints for administrators: hooks and the license.

use crate::{Server, each, json};
use std::io::{Read, Write};

#[tokio::test]
async fn a_hook_can_be_added_tested_and_removed() {
    let receiver = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/told", receiver.local_addr().unwrap());
    let received = std::thread::spawn(move || {
        let (mut stream, _) = receiver.accept().unwrap();
        let mut text = String::new();
        let mut buffer = [0; 4096];
        while !text.contains("event_name") {
            let read = stream.read(&mut buffer).unwrap();
            text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        text
    });
    let server = Server::empty().await;
    let hook = json(server.post("root", "/hooks", &[("url", &url), ("token", "secret")]).await, 201).await;
    assert_eq!((hook["push_events"].as_bool(), hook.get("token")), (Some(false), None));
    assert_eq!(json(server.get("ada", "/hooks").await, 403).await["message"], "403 Forbidden");
    let sample = server.read("root", "/hooks/1").await;
    assert_eq!(sample["event_name"], "project_create");
    let received = received.join().unwrap().to_lowercase();
    assert!(received.contains("x-gitlab-token: secret") && received.contains("x-gitlab-event: system hook"));
    assert_eq!(server.delete("root", "/hooks/1").await.status(), 204);
    assert_eq!(each(&server.read("root", "/hooks").await, "url"), [] as [&str; 0]);
    assert_eq!(json(server.get("root", "/hooks/1").await, 404).await["message"], "404 System hook Not Found");
}

#[tokio::test]
async fn the_license_is_null_until_one_is_installed() {
    let server = Server::empty().await;
    assert!(server.read("root", "/license").await.is_null());
    let text = server.running.license.clone();
    let license = json(server.post("root", "/license", &[("license", &text)]).await, 201).await;
    assert_eq!(license["licensee"]["Company"], "Acme Terminal Works");
    assert_eq!(server.read("root", "/license").await["user_limit"], 10_000);
    let refused = json(server.post("root", "/license", &[("license", "rubbish")]).await, 400).await;
    assert_eq!(refused["message"], "The license key is invalid.");
}
