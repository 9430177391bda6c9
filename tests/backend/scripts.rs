//! Traces scripted by a world file: of any size, in bursts, after a pause, truncated, or erased.

use crate::{Server, header, json};
use reqwest::Method;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A world with one job that starts two seconds after the first request and prints `script`.
const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [{ username = "root", admin = true }, { username = "ada" }]
[[projects]]
path = "ada/hello"
visibility = "public"
files = "-- a --\na\n"
script = '''
from 2026-11-02
to 2026-11-20
ada: Begin
  + a
'''
[[runners]]
name = "here"
shared = true
contacted = "1m"
[[artifacts]]
name = "left"
files = [{ path = "report.xml", text = "<testsuites/>" }]
[[scripts]]
name = "work"
status = "STATUS"
artifacts = "left"
text = '''
SCRIPT
'''
[[templates]]
name = "one"
jobs = [{ name = "work", stage = "test", script = "work" }]
[[schedules]]
project = "ada/hello"
refs = ["main"]
template = "one"
user = "ada"
pause = 100000
head_start = 0
"#;

struct Live {
    server: Server,
    passed: Arc<AtomicI64>,
}

impl Live {
    async fn start(script: &str, status: &str) -> Live {
        let passed = Arc::new(AtomicI64::new(0));
        let world = WORLD.replace("STATUS", status).replace("SCRIPT", script);
        let server = Server::of(&world, &passed).await;
        assert_eq!(server.read("ada", "/projects/1/jobs/1").await["status"], "pending");
        Live { server, passed }
    }

    /// Returns the server, with its clock `second` seconds after the job started.
    fn at(&self, second: i64) -> &Server {
        self.passed.store(2 + second, Ordering::Relaxed);
        &self.server
    }

    async fn trace(&self, second: i64) -> Vec<u8> {
        let reply = self.at(second).get("ada", "/projects/1/jobs/1/trace").await;
        assert_eq!(reply.status(), 200);
        reply.bytes().await.unwrap().to_vec()
    }

    async fn status(&self, second: i64) -> String {
        self.at(second).read("ada", "/projects/1/jobs/1").await["status"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_trace_can_grow_in_bursts_pause_and_shrink() {
    let script = "@0x1000 burst {i}\n@60 after a minute\n@10\n@clear\n@0 from the start\n@5 done \\xff";
    let live = Live::start(script, "failed").await;
    let burst = live.trace(0).await;
    assert!(burst.starts_with(b"burst 1\nburst 2\n") && burst.ends_with(b"burst 1000\n"));
    assert_eq!(live.trace(59).await, burst);
    assert!(live.trace(61).await.ends_with(b"burst 1000\nafter a minute\n"));
    assert_eq!(live.trace(71).await, b"from the start\n");
    assert_eq!(live.status(71).await, "running");
    assert_eq!(live.trace(80).await, b"from the start\ndone \xff\n");
    let job = live.at(80).read("ada", "/projects/1/jobs/1").await;
    assert_eq!(job["status"], "failed");
    assert_eq!(job["artifacts_file"]["filename"], "artifacts.zip", "failed jobs keep their report");
}

#[tokio::test]
async fn the_tail_of_a_trace_of_gigabytes_can_be_read() {
    let script = "@0.000002x30000000 {i} prints without ever taking a breath, line after line after line after line";
    let live = Live::start(script, "success").await;
    let tail = |second: i64, from: u64| {
        let server = live.at(second);
        async move {
            let call = server.call("ada", Method::GET, "/projects/1/jobs/1/trace");
            call.header("range", format!("bytes={from}-")).send().await.unwrap()
        }
    };
    let length =
        |reply: &reqwest::Response| header(reply, "content-range").rsplit('/').next().unwrap().parse::<u64>().unwrap();
    let beyond = tail(1, u64::MAX).await;
    assert_eq!(beyond.status(), 416);
    assert!(length(&beyond) > 30 << 20, "tens of megabytes a second: {}", length(&beyond));
    assert_eq!(live.status(1).await, "running");
    let whole = length(&tail(90, u64::MAX).await);
    assert!(whole > 2 << 30, "{whole}");
    let end = tail(90, whole - 12).await;
    assert_eq!(end.status(), 206);
    assert_eq!(end.bytes().await.unwrap(), &b" after line\n"[..]);
    assert_eq!(live.status(90).await, "success");
    // A client that stops reading causes no more work.
    let plain = live.server.call("ada", Method::GET, "/projects/1/jobs/1/trace").header("accept-encoding", "identity");
    let mut reply = plain.send().await.unwrap();
    assert_eq!(header(&reply, "content-length"), whole.to_string());
    assert!(reply.chunk().await.unwrap().unwrap().starts_with(b"1 prints without"));
}

#[tokio::test]
async fn a_job_can_be_canceled_retried_and_erased() {
    let live = Live::start("@1 one\n@1 two\n@100 three", "success").await;
    assert_eq!(live.trace(3).await, b"one\ntwo\n");
    json(live.at(3).post("ada", "/projects/1/jobs/1/cancel", &[]).await, 201).await;
    let words = live.trace(500).await;
    assert!(words.starts_with(b"one\ntwo\n\n\x1b[31;1mERROR: Job failed: canceled"), "{words:?}");
    let again = json(live.at(500).post("ada", "/projects/1/jobs/1/retry", &[]).await, 201).await;
    assert_eq!(again["status"], "pending");
    let path = format!("/projects/1/jobs/{}", again["id"]);
    assert_eq!(live.at(500).get("ada", &format!("{path}/trace")).await.status(), 404, "it has not started");
    assert_eq!(live.at(700).read("ada", &path).await["status"], "success");
    let trace = live.server.get("ada", &format!("{path}/trace")).await;
    assert_eq!(trace.text().await.unwrap(), "one\ntwo\nthree\n");
    assert_eq!(live.server.get("ada", &format!("{path}/artifacts")).await.status(), 200);
    json(live.server.post("ada", &format!("{path}/erase"), &[]).await, 201).await;
    assert_eq!(live.server.get("ada", &format!("{path}/trace")).await.status(), 404);
    assert_eq!(live.server.get("ada", &format!("{path}/artifacts")).await.status(), 404);
}

#[tokio::test]
async fn retrying_a_running_job_cancels_it() {
    let live = Live::start("@1 one\n@100 two", "success").await;
    assert_eq!(live.status(3).await, "running");
    for id in 2..=3 {
        let again = json(live.server.post("ada", "/projects/1/jobs/1/retry", &[]).await, 201).await;
        assert_eq!((again["id"].as_u64(), again["status"].as_str()), (Some(id), Some("pending")));
        assert!(again["finished_at"].is_null());
    }
    assert_eq!(live.status(50).await, "canceled");
    let running = live.server.read("ada", "/projects/1/jobs?scope=running").await;
    assert_eq!((running.as_array().unwrap().len(), running[0]["id"].as_u64()), (1, Some(3)));
    assert_eq!(running[0]["duration"].to_string(), "45", "whole seconds");
}

#[tokio::test]
async fn a_job_erased_while_running_leaves_no_artifacts() {
    let live = Live::start("@1 one\n@100 two", "success").await;
    assert_eq!(live.status(3).await, "running");
    json(live.server.post("root", "/projects/1/jobs/1/erase", &[]).await, 201).await;
    assert_eq!(live.status(200).await, "success");
    assert!(live.server.read("ada", "/projects/1/jobs/1").await["artifacts_file"].is_null());
    assert_eq!(live.server.get("ada", "/projects/1/jobs/1/artifacts").await.status(), 404);
}
