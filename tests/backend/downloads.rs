//! Repository archives and job artifacts.

use crate::{Server, header, json};
use reqwest::Method;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A world of jobs with artifacts, one of them with a file of 50 million bytes.
pub const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [{ username = "root", admin = true }, { username = "ada", name = "Ada" }, { username = "eve" }]

[[projects]]
path = "ada/hello"
visibility = "public"
files = """
-- docs/ünï côde.md --
# Words
-- run.sh --
#!/bin/sh
echo hello
-- src/main.rs --
fn main() {}
"""
script = """
from 2026-11-02
to 2026-11-20
ada: Begin
  + src/main.rs; + run.sh; + docs/ünï côde.md
  x run.sh
  @ latest src/main.rs
branch a/b
ada: More
  ! more.txt
    > more
"""

[[runners]]
name = "here"
shared = true
contacted = "1m"

[[artifacts]]
name = "kept"
expires = "1d"
files = [
    { path = "report.xml", text = "<testsuites/>" },
    { path = "pictures/a chart.png", rule = "chart" },
    { path = "../climbs.txt", text = "out" },
    { path = "bomb.bin", zeros = 50000000 },
]

[[artifacts]]
name = "broken"
damaged = true
files = [{ path = "report.xml", text = "<testsuites/>" }]

[[scripts]]
name = "works"
artifacts = "kept"
text = "@1 working\n@1 my token is {token}\n@60 done"

[[scripts]]
name = "breaks"
artifacts = "broken"
text = "hello"

[[templates]]
name = "two"
jobs = [{ name = "work", stage = "a", script = "works" }, { name = "break", stage = "a", script = "breaks" }]

[[templates]]
name = "live"
jobs = [{ name = "work", stage = "a", script = "works" }]

[[pipelines]]
project = "ada/hello"
ref_name = "a/b"
template = "two"
user = "ada"
created = "1h"

[[schedules]]
project = "ada/hello"
refs = ["main"]
template = "live"
user = "ada"
pause = 10000
head_start = 10
"#;

/// The files of an archive by path: the mode, and the content or the target of the link.
type Files = BTreeMap<String, (u32, String)>;

fn tar(bytes: impl Read) -> Files {
    let mut archive = tar::Archive::new(bytes);
    let mut out = Files::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_string_lossy().into_owned();
        let link = entry.link_name().unwrap().map(|target| target.to_string_lossy().into_owned());
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        out.insert(path, (entry.header().mode().unwrap(), link.unwrap_or(text)));
    }
    out
}

#[tokio::test]
async fn an_archive_can_be_downloaded_in_every_format() {
    let server = Server::of(WORLD, &Default::default()).await;
    let fetch = |query: String| {
        let server = &server;
        async move {
            let reply = server.get("", &format!("/projects/ada%2Fhello/repository/archive{query}")).await;
            assert_eq!(reply.status(), 200, "{query}");
            let named = header(&reply, "content-disposition").to_owned();
            (named, reply.bytes().await.unwrap().to_vec())
        }
    };
    let branches = server.read("ada", "/projects/1/repository/branches").await;
    let (a_b, main) = (branches[0]["commit"]["id"].as_str().unwrap(), branches[1]["commit"]["id"].as_str().unwrap());
    let folder = format!("hello-main-{main}");
    let expected: Files = [
        ("/", 0o775, ""),
        ("/docs/", 0o775, ""),
        ("/docs/ünï côde.md", 0o664, "# Words\n"),
        ("/latest", 0o777, "src/main.rs"),
        ("/run.sh", 0o775, "#!/bin/sh\necho hello\n"),
        ("/src/", 0o775, ""),
        ("/src/main.rs", 0o664, "fn main() {}\n"),
    ]
    .map(|(path, mode, text)| (format!("{folder}{path}"), (mode, text.to_owned())))
    .into();

    for word in ["", "?format=tar.gz", ".tar.gz", ".tgz"] {
        let (named, bytes) = fetch(word.into()).await;
        assert_eq!(named, format!("attachment; filename=\"{folder}.tar.gz\""));
        assert_eq!(tar(flate2::read::GzDecoder::new(Cursor::new(bytes))), expected, "{word}");
    }
    for word in ["tar.bz2", "tbz", "tbz2", "tb2", "bz2"] {
        let (named, bytes) = fetch(format!("?format={word}")).await;
        assert_eq!(named, format!("attachment; filename=\"{folder}.tar.bz2\""));
        assert_eq!(tar(bzip2::read::BzDecoder::new(Cursor::new(bytes))), expected, "{word}");
    }
    assert_eq!(tar(Cursor::new(fetch("?format=tar".into()).await.1)), expected);
    let mut zip = zip::ZipArchive::new(Cursor::new(fetch(".zip".into()).await.1)).unwrap();
    let mut files = Files::new();
    for at in 0..zip.len() {
        let mut file = zip.by_index(at).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        let name = file.name().unwrap().into_owned();
        files.insert(name, (file.unix_mode().unwrap() & 0o777, text));
    }
    assert_eq!(files, expected);

    let (named, bytes) = fetch("?sha=a%2Fb&format=tar".into()).await;
    assert_eq!(named, format!("attachment; filename=\"hello-a-b-{a_b}.tar\""), "slashes in the ref become dashes");
    assert!(tar(Cursor::new(bytes)).contains_key(&format!("hello-a-b-{a_b}/more.txt")));
    let wrong = json(server.get("", "/projects/1/repository/archive?format=rar").await, 400).await;
    assert_eq!(wrong["error"], "format does not have a valid value");
    let missing = json(server.get("", "/projects/1/repository/archive?sha=nowhere").await, 404).await;
    assert_eq!(missing["message"], "404 File Not Found");
}

#[tokio::test]
async fn artifacts_can_be_downloaded_as_an_archive_or_by_file() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(WORLD, &passed).await;
    let job = server.read("ada", "/projects/1/jobs/1").await;
    assert_eq!(
        (job["name"].as_str(), job["artifacts_file"]["filename"].as_str()),
        (Some("work"), Some("artifacts.zip"))
    );
    let reply = server.get("ada", "/projects/1/jobs/1/artifacts").await;
    assert_eq!(
        (header(&reply, "content-type"), header(&reply, "content-length").parse().ok()),
        ("application/zip", job["artifacts_file"]["size"].as_u64())
    );
    let whole = reply.bytes().await.unwrap();
    let by_ref = server.get("ada", "/projects/1/jobs/artifacts/a%2Fb/download?job=work").await;
    assert_eq!(by_ref.bytes().await.unwrap(), whole);
    let missing = server.get("ada", "/projects/1/jobs/artifacts/a%2Fb/download?job=nothing").await;
    assert_eq!(json(missing, 404).await["message"], "404 Not found");
    let no_job = server.get("ada", "/projects/1/jobs/artifacts/main/download").await;
    assert_eq!(json(no_job, 400).await["error"], "job is missing");

    let file = |path: &'static str| {
        let server = &server;
        async move { server.get("ada", &format!("/projects/1/jobs/1/artifacts/{path}")).await }
    };
    let report = file("report.xml").await;
    assert_eq!((report.status().as_u16(), header(&report, "content-type")), (200, "text/xml"));
    assert_eq!(report.text().await.unwrap(), "<testsuites/>");
    let picture = file("pictures/a%20chart.png").await;
    assert_eq!(header(&picture, "content-type"), "image/png");
    assert!(picture.bytes().await.unwrap().starts_with(b"\x89PNG"));
    assert_eq!(file("bomb.bin").await.bytes().await.unwrap().len(), 50_000_000);
    assert_eq!(json(file("pictures").await, 404).await["message"], "404 Not found");
    assert_eq!(json(file("nowhere.txt").await, 404).await["message"], "404 Not found");
    for path in ["..%2Fclimbs.txt", "%2Fetc%2Fpasswd", "a%00b"] {
        assert_eq!(json(file(path).await, 400).await["message"], "400 (Bad request)", "{path}");
    }
    let broken = json(server.get("ada", "/projects/1/jobs/2/artifacts/report.xml").await, 404).await;
    assert_eq!(broken["message"], "404 Not found");

    // Artifacts expire unless they are kept.
    passed.store(2 * 24 * 3600, Ordering::Relaxed);
    assert_eq!(json(server.get("ada", "/projects/1/jobs/1/artifacts").await, 404).await["message"], "404 Not found");
    assert!(server.read("ada", "/projects/1/jobs/1").await["artifacts_file"].is_null());
    passed.store(0, Ordering::Relaxed);
    let kept = json(server.post("ada", "/projects/1/jobs/1/artifacts/keep", &[]).await, 200).await;
    assert!(kept["download_url"].as_str().unwrap().ends_with("/api/v4/projects/1/jobs/1/artifacts"));
    passed.store(2 * 24 * 3600, Ordering::Relaxed);
    assert_eq!(server.get("ada", "/projects/1/jobs/1/artifacts").await.bytes().await.unwrap(), whole);
    json(server.post("ada", "/projects/1/jobs/1/erase", &[]).await, 201).await;
    assert_eq!(server.get("ada", "/projects/1/jobs/1/artifacts").await.status(), 404);
}

#[tokio::test]
async fn a_job_token_downloads_artifacts_while_the_job_runs() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(WORLD, &passed).await;
    json(server.put("ada", "/projects/1", &[("visibility", "private")]).await, 200).await;
    let trace = server.get("ada", "/projects/1/jobs/3/trace").await.text().await.unwrap();
    let token = trace.split("my token is ").nth(1).unwrap().trim().to_owned();
    let whole = "/projects/1/jobs/1/artifacts";
    let with_header = server.call("", Method::GET, whole).header("JOB-TOKEN", &token).send().await.unwrap();
    assert_eq!(with_header.status(), 200);
    let by_ref = format!("/projects/1/jobs/artifacts/a%2Fb/download?job=work&job_token={token}");
    assert_eq!(server.get("", &by_ref).await.status(), 200);
    let wrong = server.call("", Method::GET, whole).header("JOB-TOKEN", "nobody's").send().await.unwrap();
    assert_eq!(json(wrong, 401).await["message"], "401 Unauthorized");
    // The job token is accepted nowhere else.
    for path in ["/user", "/projects/1", "/projects/1/jobs/1/artifacts/report.xml", "/projects/1/jobs/1/trace"] {
        let reply = server.call("", Method::GET, path).header("JOB-TOKEN", &token).send().await.unwrap();
        assert!([401, 404].contains(&reply.status().as_u16()), "{path}: {}", reply.status());
    }
    passed.store(3600, Ordering::Relaxed);
    assert_eq!(server.get("", &by_ref).await.status(), 401, "the job has ended");
}

#[tokio::test]
async fn archives_are_served_at_web_addresses() {
    let server = Server::of(WORLD, &Default::default()).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = |path: String| client.get(format!("{}/{path}", server.running.base_url)).send();
    for (path, folder) in [
        ("main/hello-main.zip", "hello-main"),
        ("a/b/hello-a-b.tar.gz", "hello-a-b"),
        ("a%2Fb/hello-a-b.tar.bz2", "hello-a-b"),
        ("main/anything.tar", "hello-main"),
    ] {
        let reply = get(format!("ada/hello/-/archive/{path}")).await.unwrap();
        assert_eq!(reply.status(), 200, "{path}");
        let named = header(&reply, "content-disposition").to_owned();
        assert!(named.starts_with(&format!("attachment; filename=\"{folder}.")), "{path}: {named}");
        assert!(!reply.bytes().await.unwrap().is_empty());
    }
    for path in ["gone/hello-gone.zip", "main/hello-main.rar", "hello.zip", "main/hello-main.zip/"] {
        assert_eq!(get(format!("ada/hello/-/archive/{path}")).await.unwrap().status(), 404, "{path}");
    }
    json(server.put("ada", "/projects/1", &[("visibility", "private")]).await, 200).await;
    let path = "ada/hello/-/archive/main/hello-main.zip";
    assert_eq!(get(path.into()).await.unwrap().status(), 404);
    let with_token = get(format!("{path}?private_token={}", server.token("ada"))).await.unwrap();
    assert_eq!(with_token.status(), 200);
    assert!(server.token("ada").starts_with("glpat-") && server.token("ada").len() == 26);
}
