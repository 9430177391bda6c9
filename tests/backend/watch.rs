//! Jobs, their traces, and runners over time.

use crate::{Server, WORLD, each, header, json};
use reqwest::Method;
use serde_json::json as value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

#[tokio::test]
async fn a_manual_job_runs_after_it_is_played() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(WORLD, &passed).await;
    let jobs = server.read("bo", "/projects/1/jobs").await;
    assert_eq!(each(&jobs, "status"), ["manual", "success"]);
    assert_eq!(each(&server.read("bo", "/projects/1/jobs?scope[]=manual").await, "name"), ["ship"]);
    assert_eq!(each(&server.read("bo", "/projects/1/jobs?scope=success").await, "name"), ["hello"]);
    let wrong = json(server.get("bo", "/projects/1/jobs?scope=lost").await, 400).await;
    assert_eq!(wrong["message"], "Scope contains invalid value(s)");
    assert_eq!(jobs[0]["commit"]["title"], "Say it louder");

    let job = format!("/projects/1/jobs/{}", jobs[0]["id"]);
    let unwritten = server.get("bo", &format!("{job}/trace")).await;
    assert_eq!(json(unwritten, 404).await["message"], "404 Not found");
    assert_eq!(json(server.post("eve", &format!("{job}/play"), &[]).await, 403).await["message"], "403 Forbidden");
    let played = json(server.post("bo", &format!("{job}/play"), &[]).await, 200).await;
    assert_eq!(played["status"], "started");
    assert_eq!(server.read("bo", &job).await["status"], "pending");

    passed.store(5, Ordering::Relaxed);
    assert_eq!(server.read("bo", &job).await["status"], "running");
    let first = server.get("bo", &format!("{job}/trace")).await.bytes().await.unwrap();
    assert!(!first.is_empty());
    passed.store(60, Ordering::Relaxed);
    assert_eq!(server.read("bo", &job).await["status"], "success");
    let whole = server.get("bo", &format!("{job}/trace")).await;
    assert_eq!(header(&whole, "content-type"), "text/plain");
    let whole = whole.bytes().await.unwrap();
    assert!(whole.len() > first.len() && whole.starts_with(&first));

    let tail =
        server.call("bo", Method::GET, &format!("{job}/trace")).header("range", format!("bytes={}-", first.len()));
    let tail = tail.send().await.unwrap();
    assert_eq!(tail.status(), 206);
    assert_eq!(header(&tail, "content-range"), format!("bytes {}-{}/{}", first.len(), whole.len() - 1, whole.len()));
    assert_eq!(tail.bytes().await.unwrap(), whole.slice(first.len()..));
    let beyond = server.call("bo", Method::GET, &format!("{job}/trace")).header("range", "bytes=999999-");
    assert_eq!(beyond.send().await.unwrap().status(), 416);

    let again = json(server.post("bo", &format!("{job}/retry"), &[]).await, 201).await;
    assert_eq!((again["status"].as_str(), &again["finished_at"]), (Some("pending"), &value!(null)));
    let stopped = json(server.post("bo", &format!("/projects/1/jobs/{}/cancel", again["id"]), &[]).await, 201).await;
    assert_eq!(stopped["status"], "canceled");
    let erased = json(server.post("ada", &format!("{job}/erase"), &[]).await, 201).await;
    assert_eq!((erased["status"].as_str(), &erased["download_url"]), (Some("success"), &value!(null)));
    assert_eq!(server.get("bo", &format!("{job}/trace")).await.status(), 404, "it is erased");
    assert_eq!(json(server.get("bo", "/projects/1/jobs/999").await, 404).await["message"], "404 Not found");
}

#[tokio::test]
async fn runners_can_be_listed_read_and_changed() {
    let server = Server::of(WORLD, &Default::default()).await;
    let all = server.read("root", "/runners/all").await;
    assert_eq!((all[0]["description"].as_str(), all[0]["status"].as_str()), (Some("here"), Some("online")));
    assert_eq!(server.read("ada", "/runners").await, value!([]));
    assert_eq!(each(&server.read("ada", "/projects/1/runners").await, "description"), ["here"]);
    assert_eq!(json(server.get("eve", "/projects/1/runners").await, 403).await["message"], "403 Forbidden");
    let form = [("active", "0"), ("tag_list[]", "fast"), ("tag_list[]", "linux")];
    let changed = json(server.put("root", "/runners/1", &form).await, 200).await;
    assert_eq!((changed["status"].as_str(), &changed["tag_list"]), (Some("paused"), &value!(["fast", "linux"])));
    assert_eq!(json(server.put("ada", "/runners/1", &form).await, 403).await["message"], "403 Forbidden");
    let scope = json(server.get("root", "/runners/all?scope=lost").await, 400).await;
    assert_eq!(scope["error"], "scope does not have a valid value");
}
