//! Interrupted downloads resume where they stopped: the client against the local server through a proxy that drops
//! connections.

use crate::{Server, header};
use labscope::api::Endpoint;
use labscope::api::client::{Client, OnProgress, Server as Address};
use labscope::api::endpoint::Request;
use labscope::api::jobs::{GetArtifactFile, GetArtifacts};
use labscope::api::repository::{GetArchive, GetRawBlob};
use reqwest::Method;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [{ username = "root", admin = true }, { username = "ada", name = "Ada" }]
[[projects]]
path = "ada/hello"
visibility = "public"
files = "-- a --\na\n"
script = """
from 2026-11-02
to 2026-11-20
ada: Begin
  + a
"""
[[runners]]
name = "here"
shared = true
contacted = "1m"
[[artifacts]]
name = "kept"
files = [{ path = "zeros.bin", zeros = 900000 }, { path = "chart.png", rule = "chart" }]
[[scripts]]
name = "works"
artifacts = "kept"
text = "done"
[[templates]]
name = "one"
jobs = [{ name = "work", stage = "a", script = "works" }]
[[pipelines]]
project = "ada/hello"
ref_name = "main"
template = "one"
user = "ada"
created = "1h"
"#;

/// Returns incompressible bytes.
fn noise(length: usize) -> Vec<u8> {
    let mut seed = 7u64;
    let next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Starts a proxy to `server` that drops the first connection after `after` bytes of replies; returns its address and
/// the number of connections.
async fn line_that_breaks(server: &Server, after: u64) -> (String, Arc<AtomicUsize>) {
    let to = server.running.base_url.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            let far = TcpStream::connect(&to).await.unwrap();
            tokio::spawn(async move {
                let ((mut near_in, mut near_out), (far_in, mut far_out)) = (near.into_split(), far.into_split());
                let asks = tokio::spawn(async move { copy(&mut near_in, &mut far_out).await });
                let mut answers = far_in.take(if is_first { after } else { u64::MAX });
                let _ = copy(&mut answers, &mut near_out).await;
                let _ = near_out.shutdown().await;
                asks.abort();
            });
        }
    });
    (address, count)
}

#[tokio::test]
async fn every_download_resumes_where_the_connection_broke() {
    let server = Server::of(WORLD, &Default::default()).await;
    let content = noise(700_000);
    let base64 = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &content);
    let actions =
        serde_json::json!([{"action": "create", "file_path": "noise", "content": base64, "encoding": "base64"}]);
    let body = serde_json::json!({"branch": "main", "commit_message": "Noise", "actions": actions});
    let commits = server.call("ada", Method::POST, "/projects/1/repository/commits").json(&body);
    crate::json(commits.send().await.unwrap(), 201).await;
    let tree = server.read("ada", "/projects/1/repository/tree").await;
    let blob = tree.as_array().unwrap().iter().find(|row| row["name"] == "noise").unwrap()["id"].as_str().unwrap();
    let id = || 1_u64.into();
    let archive = |format: &str| GetArchive { id: id(), sha: None, format: Some(format.into()) }.request();
    let file = GetArtifactFile { id: id(), job_id: 1, artifact_path: "zeros.bin".into() };
    let downloads: Vec<(&str, Request)> = vec![
        ("raw", GetRawBlob { id: id(), sha: blob.into() }.request()),
        ("tar", archive("tar")),
        ("tar.gz", archive("tar.gz")),
        ("zip", archive("zip")),
        ("file", file.request()),
    ];
    for (what, request) in downloads {
        let whole = server.call("ada", Method::GET, &request.target()).header("accept-encoding", "identity");
        let whole = whole.send().await.unwrap();
        assert!(header(&whole, "etag").starts_with('"'), "{what}");
        assert_eq!(header(&whole, "accept-ranges"), "bytes", "{what}");
        let whole = whole.bytes().await.unwrap();
        let (address, asked) = line_that_breaks(&server, 400_000).await;
        let mut address = Address::new(address.parse().unwrap());
        address.token = Some(server.token("ada").to_owned().into());
        address.timeouts.retry_delay = std::time::Duration::from_millis(1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("there");
        let furthest = Arc::new(AtomicUsize::new(0));
        let heard = furthest.clone();
        let fell = Arc::new(AtomicUsize::new(0));
        let has_fallen = fell.clone();
        let told: OnProgress = Arc::new(move |progress| {
            let done = usize::try_from(progress.done).unwrap();
            if heard.fetch_max(done, Ordering::Relaxed) > done {
                has_fallen.fetch_add(1, Ordering::Relaxed);
            }
        });
        Client::new(address)
            .unwrap()
            .download_into(&request, &path, &told)
            .await
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(std::fs::read(&path).unwrap() == whole, "{what}: other bytes");
        assert_eq!(asked.load(Ordering::Relaxed), 2, "{what}");
        assert_eq!(fell.load(Ordering::Relaxed), 0, "{what}: it restarted");
    }
}

#[tokio::test]
async fn a_range_of_an_outdated_version_gets_the_whole_file() {
    let server = Server::of(WORLD, &Default::default()).await;
    let path = GetArtifacts { id: 1_u64.into(), job_id: 1, ..GetArtifacts::default() }.request().target();
    let part =
        |tag: String| server.call("ada", Method::GET, &path).header("range", "bytes=10-19").header("if-range", tag);
    let whole = server.get("ada", &path).await;
    let tag = header(&whole, "etag").to_owned();
    let whole = whole.bytes().await.unwrap();
    let same = part(tag).send().await.unwrap();
    assert_eq!(
        (same.status().as_u16(), header(&same, "content-range")),
        (206, &*format!("bytes 10-19/{}", whole.len()))
    );
    assert_eq!(same.bytes().await.unwrap(), whole[10..20]);
    let other = part("\"another\"".into()).send().await.unwrap();
    assert_eq!((other.status().as_u16(), other.bytes().await.unwrap()), (200, whole));
}
