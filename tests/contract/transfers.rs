//! Downloads to files and uploads: progress, resuming, and leftovers.

use crate::client::client;
use crate::scripted::{Answer, Asked, Scripted, answer};
use labscope::api::client::{OnProgress, Progress};
use labscope::api::commits::{CommitAction, CreateCommit};
use labscope::api::endpoint::{Method, Request};
use labscope::api::jobs::{GetArtifactFile, GetArtifacts};
use labscope::api::repository::GetRawBlob;
use labscope::api::users::CreateUser;
use labscope::api::{Endpoint, Error, Fault};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

fn artifacts() -> Request {
    GetArtifactFile { id: 1_u64.into(), job_id: 2, artifact_path: "numbers.txt".into() }.request()
}

/// Returns a progress callback and the list that it fills.
fn ear() -> (OnProgress, Arc<Mutex<Vec<Progress>>>) {
    let heard: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let ear = heard.clone();
    (Arc::new(move |progress| ear.lock().expect("no one panics").push(progress)), heard)
}

/// Returns 300 kB of text in which no two places are alike.
fn content() -> String {
    (0..50_000).map(|number| format!("{number:05}\n")).collect()
}

/// Answers from the requested offset up to `end`.
fn ranged(asked: &Asked, content: &str, end: usize) -> Answer {
    let from = asked.header("range").trim_start_matches("bytes=").trim_end_matches('-').parse::<usize>().unwrap_or(0);
    let total = content.len();
    let part = answer(if from == 0 { 200 } else { 206 }, &content[from..end.max(from)]);
    let part =
        if from == 0 { part } else { part.with("content-range", &format!("bytes {from}-{}/{total}", total - 1)) };
    if end < total { part.cut() } else { part }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn part(&self) -> PathBuf {
        self.0.path().join(".artifacts.zip.part")
    }

    async fn fill(&self, server: &Scripted) -> (Result<u64, Error>, Vec<Progress>) {
        self.fill_with(&artifacts(), server).await
    }

    async fn fill_with(&self, request: &Request, server: &Scripted) -> (Result<u64, Error>, Vec<Progress>) {
        let (told, heard) = ear();
        let saved = client(server).download_into(request, &self.part(), &told).await;
        let heard = heard.lock().expect("no one panics").clone();
        (saved, heard)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.part()).expect("it is there")
    }
}

#[tokio::test]
async fn a_download_reports_progress_and_writes_the_whole_file() {
    let folder = Folder::new();
    let server = Scripted::start([answer(200, content()).with("content-type", "application/zip")]).await;
    let (saved, heard) = folder.fill(&server).await;
    let total = content().len() as u64;
    assert_eq!(saved.expect("saved"), total);
    assert_eq!(folder.text(), content());
    assert_eq!(heard.first(), Some(&Progress { done: 0, total: Some(total) }));
    assert_eq!(heard.last(), Some(&Progress { done: total, total: Some(total) }));
    assert!(heard.is_sorted_by_key(|progress| progress.done));
    assert_eq!(server.asked()[0].header("accept-encoding"), "identity", "bytes are counted uncompressed");
}

#[tokio::test]
async fn a_broken_download_resumes_where_it_broke() {
    let folder = Folder::new();
    let server = Scripted::minded(|asked| {
        let end = if asked.header("range").is_empty() { 200_000 } else { content().len() };
        ranged(asked, &content(), end).with("etag", "\"v1\"")
    })
    .await;
    let (saved, _) = folder.fill(&server).await;
    assert_eq!(saved.expect("saved"), content().len() as u64);
    assert_eq!(folder.text(), content());
    let asked = server.asked();
    assert_eq!(asked[1].header("if-range"), "\"v1\"");
    assert!(asked[1].header("range").starts_with("bytes="), "{asked:?}");
}

#[tokio::test]
async fn a_partial_file_of_an_earlier_download_is_reused() {
    let folder = Folder::new();
    std::fs::write(folder.part(), &content()[..250_000]).expect("written");
    let server = Scripted::minded(|asked| ranged(asked, &content(), content().len())).await;
    let (saved, heard) = folder.fill(&server).await;
    assert_eq!(saved.expect("saved"), content().len() as u64);
    assert_eq!(server.asked()[0].header("range"), format!("bytes={}-", 250_000 - 64 * 1024));
    assert_eq!(folder.text(), content());
    assert_eq!(heard[0], Progress { done: 250_000, total: Some(content().len() as u64) });
    assert_eq!(server.asked()[0].header("if-range"), "", "the version is not stored");
}

#[tokio::test]
async fn a_partial_file_with_other_content_is_replaced() {
    for old in ["x".repeat(250_000), content().repeat(3)] {
        let folder = Folder::new();
        std::fs::write(folder.part(), old).expect("written");
        let server = Scripted::minded(|asked| match asked.header("range") {
            "" => answer(200, content()),
            range if range > "bytes=3" && range.len() > "bytes=300000".len() => {
                answer(416, "").with("content-range", &format!("bytes */{}", content().len()))
            }
            _ => ranged(asked, &content(), content().len()),
        })
        .await;
        let (saved, _) = folder.fill(&server).await;
        assert_eq!(saved.expect("saved"), content().len() as u64);
        assert_eq!(server.asked().last().map(|asked| asked.header("range").to_owned()).as_deref(), Some(""));
        assert_eq!(folder.text(), content());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_pipes_in_place_of_the_partial_file_are_not_followed() {
    use std::process::Command;
    for planted in ["link", "link to nothing", "hard link", "pipe"] {
        let folder = Folder::new();
        let profile = folder.0.path().join("profile");
        std::fs::write(&profile, &content()[..250_000]).expect("written");
        match planted {
            "link" => std::os::unix::fs::symlink(&profile, folder.part()).expect("linked"),
            "link to nothing" => std::os::unix::fs::symlink("nothing", folder.part()).expect("linked"),
            "hard link" => std::fs::hard_link(&profile, folder.part()).expect("linked"),
            _ => assert!(Command::new("mkfifo").arg(folder.part()).status().expect("it is there").success()),
        }
        let server = Scripted::minded(|asked| ranged(asked, &content(), content().len())).await;
        let (saved, _) = folder.fill(&server).await;
        assert_eq!(saved.expect("saved"), content().len() as u64, "{planted}");
        assert_eq!(server.asked()[0].header("range"), "", "{planted}: it is restarted");
        assert_eq!(std::fs::read_to_string(&profile).expect("there"), content()[..250_000], "{planted}");
        assert!(!folder.0.path().join("nothing").exists(), "{planted}");
        assert!(std::fs::symlink_metadata(folder.part()).expect("there").is_file(), "{planted}");
        assert_eq!(folder.text(), content(), "{planted}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_raw_call_writes_to_a_temporary_file_with_a_random_name() {
    let folder = Folder::new();
    let profile = folder.0.path().join("profile");
    std::fs::write(&profile, "mine").expect("written");
    let planted = format!(".out.{}.part", std::process::id());
    std::os::unix::fs::symlink(&profile, folder.0.path().join(planted)).expect("linked");
    let server = Scripted::start([answer(200, "theirs")]).await;
    let out = folder.0.path().join("out");
    let sent = client(&server).raw_into(Method::GET, "projects", &[], &out).await;
    assert_eq!(sent.expect("sent").status, 200);
    assert_eq!(std::fs::read_to_string(&profile).expect("there"), "mine");
    assert_eq!(std::fs::read_to_string(&out).expect("there"), "theirs");
}

#[tokio::test]
async fn a_download_without_ranges_is_restarted_a_limited_number_of_times() {
    let folder = Folder::new();
    let server = Scripted::minded(|_| answer(200, &content()[..100_000]).cut()).await;
    let (failed, _) = folder.fill(&server).await;
    assert!(matches!(failed.expect_err("never whole").fault, Fault::Cut(_)));
    assert!(server.asked().len() > 3, "{}", server.asked().len());
    assert!(folder.part().exists(), "the partial file stays");
}

#[tokio::test]
async fn a_refused_download_leaves_no_file() {
    let folder = Folder::new();
    let server = Scripted::start([answer(404, r#"{"message":"404 Not found"}"#)]).await;
    let (failed, heard) = folder.fill(&server).await;
    assert_eq!(failed.expect_err("refused").fault, Fault::Missing("404 Not found".into()));
    assert!(heard.is_empty());
    assert!(!folder.part().exists());
}

#[tokio::test]
async fn a_missing_target_folder_is_named() {
    let server = Scripted::start([]).await;
    let (told, _) = ear();
    let path = PathBuf::from("/nonexistent/folder/file");
    let error = client(&server).download_into(&artifacts(), &path, &told).await.expect_err("no folder");
    assert!(matches!(&error.fault, Fault::Disk(said) if said.contains("/nonexistent/folder/file")), "{error}");
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_download_redirected_to_storage_resumes_without_the_token() {
    let folder = Folder::new();
    let storage = Scripted::minded(|asked| {
        let end = if asked.header("range").is_empty() { 200_000 } else { content().len() };
        ranged(asked, &content(), end)
    })
    .await;
    let there = storage.url.join("/signed?key=1").expect("an address").to_string();
    let server = Scripted::minded(move |_| answer(302, "").with("location", &there)).await;
    let (saved, _) = folder.fill(&server).await;
    saved.expect("saved");
    assert_eq!(folder.text(), content());
    assert_eq!(storage.asked().len(), 2);
    assert!(storage.asked().iter().all(|asked| !asked.headers.contains_key("private-token")));
}

#[tokio::test]
async fn dropping_a_download_stops_it_and_keeps_the_partial_file() {
    let folder = Folder::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    // Promises ten bytes, sends five, and stalls.
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a caller");
        let mut asked = [0; 1024];
        tokio::io::AsyncReadExt::read(&mut stream, &mut asked).await.expect("it asks");
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello";
        tokio::io::AsyncWriteExt::write_all(&mut stream, head).await.expect("it listens");
        std::future::pending::<()>().await;
    });
    let mut server = crate::client::at(&url::Url::parse(&url).expect("an address"));
    server.timeouts.read = std::time::Duration::from_secs(60);
    let client = labscope::api::Client::new(server).expect("a client");
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let sender = Mutex::new(Some(sender));
    let told: OnProgress = Arc::new(move |progress: Progress| {
        if progress.done == 5
            && let Some(sender) = sender.lock().expect("no one panics").take()
        {
            sender.send(()).expect("it is waited for");
        }
    });
    let (request, part) = (artifacts(), folder.part());
    tokio::select! {
        _ = client.download_into(&request, &part, &told) => panic!("it cannot be whole"),
        came = receiver => came.expect("five bytes came"),
    }
    assert!(part.exists());
}

#[tokio::test]
async fn an_upload_sends_files_and_fields_and_reports_progress() {
    let folder = Folder::new();
    let picture = folder.0.path().join("me \"x\".png");
    std::fs::write(&picture, "p".repeat(200_000)).expect("written");
    let server = Scripted::start([answer(201, r#"{"id":7}"#)]).await;
    let user = CreateUser { username: "jane".into(), name: "Jane ü".into(), ..CreateUser::default() };
    let (told, heard) = ear();
    let files = [("avatar", picture.as_path())];
    let response = client(&server).upload(&user.request(), &files, told).await.expect("sent");
    assert_eq!(response.status, 201);
    let asked = &server.asked()[0];
    assert_eq!(asked.line, "POST /api/v4/users");
    let boundary = asked.header("content-type").strip_prefix("multipart/form-data; boundary=").expect("a boundary");
    let parts: Vec<&str> = asked.body.split(&format!("--{boundary}")).collect();
    assert!(parts.contains(&"\r\ncontent-disposition: form-data; name=\"name\"\r\n\r\nJane ü\r\n"), "{parts:?}");
    let file = parts.iter().find(|part| part.contains("\"avatar\"")).expect("the file");
    assert!(file.contains("filename=\"me %22x%22.png\"\r\n"), "{}", &file[..200]);
    assert!(file.ends_with(&format!("\r\n\r\n{}\r\n", "p".repeat(200_000))));
    assert_eq!(parts.last(), Some(&"--\r\n"));
    let total = asked.body.len() as u64;
    assert_eq!(asked.header("content-length"), total.to_string());
    let heard = heard.lock().expect("no one panics").clone();
    assert!(heard.len() > 3 && heard.is_sorted_by_key(|progress| progress.done));
    assert_eq!(heard.last(), Some(&Progress { done: total, total: Some(total) }));
}

#[tokio::test]
async fn a_large_commit_reports_progress_and_is_resent_after_a_rate_limit() {
    let limited = answer(429, "Retry later\n").with("retry-after", "0");
    let server = Scripted::start([limited, answer(201, "{}")]).await;
    let content = Some("x".repeat(300_000));
    let action = CommitAction { action: "create".into(), file_path: "big".into(), content, ..CommitAction::default() };
    let commit = CreateCommit { id: 1_u64.into(), actions: vec![action], ..CreateCommit::default() };
    let (told, heard) = ear();
    client(&server).upload(&commit.request(), &[], told).await.expect("sent at the second try");
    let asked = server.asked();
    assert_eq!(asked[1].header("content-type"), "application/json");
    assert!(asked[0].body == asked[1].body && asked[1].body.len() > 300_000);
    let total = asked[1].body.len() as u64;
    assert_eq!(heard.lock().expect("no one panics").last(), Some(&Progress { done: total, total: Some(total) }));
}

#[tokio::test]
async fn an_unreadable_file_is_named_and_nothing_is_sent() {
    let server = Scripted::start([]).await;
    let (told, _) = ear();
    let path = PathBuf::from("/nonexistent/me.png");
    let user = CreateUser::default().request();
    let error = client(&server).upload(&user, &[("avatar", &path)], told.clone()).await.expect_err("no file");
    assert!(matches!(&error.fault, Fault::Disk(said) if said.contains("/nonexistent/me.png")), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let (pipe, large) = (folder.path().join("pipe"), folder.path().join("large"));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    // The file is sparse: it takes no room.
    std::fs::File::create(&large).and_then(|file| file.set_len(5 << 30)).expect("created");
    for (path, why) in [(folder.path(), "a folder"), (&pipe, "regular file"), (&large, "5120 MB")] {
        let error = client(&server).upload(&user, &[("avatar", path)], told.clone()).await.expect_err("refused");
        assert!(matches!(&error.fault, Fault::Disk(said) if said.contains(why)), "{error}");
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_sent_arrives_as_announced_or_not_at_all() {
    type Change = fn(&Path) -> std::io::Result<()>;
    let pipe: Change = |path| {
        std::fs::remove_file(path)?;
        std::process::Command::new("mkfifo").arg(path).status().map(drop)
    };
    let folder: Change = |path| std::fs::remove_file(path).and_then(|()| std::fs::create_dir(path));
    let changes: [(Change, Option<&str>); 5] = [
        (|path| std::fs::OpenOptions::new().append(true).open(path)?.write_all(b"grown"), None),
        (|path| std::fs::OpenOptions::new().write(true).open(path)?.set_len(1), Some("it became shorter")),
        (|path| std::fs::remove_file(path), Some("No such file")),
        (pipe, Some("it is not a regular file")),
        (folder, Some("it is a folder")),
    ];
    for (change, why) in changes {
        let server = Scripted::start([answer(201, "{}")]).await;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log.txt");
        std::fs::write(&path, content()).expect("written");
        let (first, changed) = (std::sync::atomic::AtomicBool::new(true), path.clone());
        // The first progress is told before the file is opened.
        let told: OnProgress = Arc::new(move |_| {
            if first.swap(false, std::sync::atomic::Ordering::Relaxed) {
                change(&changed).expect("the file is there");
            }
        });
        let user = CreateUser::default().request();
        let outcome = client(&server).upload(&user, &[("avatar", &path)], told).await;
        match why {
            None => {
                assert_eq!(outcome.expect("sent").status, 201);
                let body = &server.asked()[0].body;
                assert!(body.contains(&content()) && !body.contains("grown"));
            }
            Some(why) => {
                let error = outcome.expect_err("not sent");
                assert!(matches!(&error.fault, Fault::Disk(said) if said.contains(why)), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn a_download_of_something_else_is_refused_and_leaves_no_file() {
    let blob = |sha: &str| GetRawBlob { id: 1_u64.into(), sha: sha.into() }.request();
    // The ID of a blob with the text `hello` and a line break.
    let hello = blob("ce013625030ba8dba906f756967f9e9ca394464a");
    let archive = GetArtifacts { id: 1_u64.into(), job_id: 2, ..GetArtifacts::default() }.request();
    let page = answer(200, "<!doctype html><title>Sign in</title>");
    let typed = page.clone().with("content-type", "text/html");
    for (request, reply, words) in [
        (&hello, answer(200, "hello"), "the reply is not the file: its 5 bytes have the SHA"),
        (&hello, typed.clone(), "a web page, not the file: Sign in; you may need to sign in again"),
        (&hello, page.clone(), "the reply is not the file"),
        (&archive, typed.clone(), "a web page, not the archive: Sign in; you may need to sign in again"),
        (&archive, page.clone(), "a web page, not the archive: Sign in; you may need to sign in again"),
        (&archive, answer(200, "{}"), "the reply is not a zip archive"),
        (&archive, answer(200, ""), "the reply is not a zip archive"),
        (&artifacts(), typed, "a web page, not the file: Sign in; you may need to sign in again"),
    ] {
        let folder = Folder::new();
        let (saved, _) = folder.fill_with(request, &Scripted::start([reply]).await).await;
        let why = saved.expect_err(words).message();
        assert!(why.contains(words) && !folder.part().exists(), "{words}: {why}");
    }
    let folder = Folder::new();
    let (saved, _) = folder.fill_with(&hello, &Scripted::start([answer(200, "hello\n")]).await).await;
    assert_eq!(saved, Ok(6));
    // A file of an artifact may be a web page.
    let report = answer(200, "<!doctype html><title>Coverage</title>").with("content-type", "text/html");
    let report = report.with("content-disposition", "attachment; filename=\"index.html\"");
    let (saved, _) = Folder::new().fill(&Scripted::start([report]).await).await;
    assert_eq!(saved, Ok(38));
}

#[tokio::test]
async fn a_page_in_place_of_the_rest_keeps_what_was_received() {
    let content = content();
    let page = answer(200, "<html><title>Sign in</title>").with("content-type", "text/html");
    let (begin, whole) = (content.clone(), content.clone());
    let calls = Mutex::new(0);
    let server = Scripted::minded(move |asked| {
        let mut calls = calls.lock().expect("no one panics");
        *calls += 1;
        match *calls {
            1 => ranged(asked, &begin, 200_000),
            2 => page.clone(),
            _ => ranged(asked, &whole, whole.len()),
        }
    })
    .await;
    let folder = Folder::new();
    let (saved, _) = folder.fill(&server).await;
    assert!(saved.expect_err("a page").message().contains("a web page"));
    assert!(content.starts_with(&folder.text()) && folder.text().len() > 100_000);
    assert_eq!(folder.fill(&server).await.0, Ok(content.len() as u64));
    assert_eq!(folder.text(), content);
}

#[tokio::test]
async fn a_storage_that_refuses_or_cannot_be_reached_is_named_and_not_the_server() {
    let xml = r#"<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"#;
    let storage = Scripted::minded(move |_| answer(403, xml).with("content-type", "application/xml")).await;
    let refused = (storage.url.clone(), "403: Request has expired".to_owned());
    let gone = ("http://127.0.0.1:1".parse().expect("an address"), "connection refused by 127.0.0.1:1".to_owned());
    for (storage, words) in [refused, gone] {
        let there = storage.join("/signed?key=s3cret").expect("an address").to_string();
        let server = Scripted::minded(move |_| answer(302, "").with("location", &there)).await;
        let error = Folder::new().fill(&server).await.0.expect_err("no file");
        assert_eq!(error.title(), "Storage error");
        let host = format!("127.0.0.1:{}", storage.port().expect("a port"));
        let message = error.message();
        assert!(message.contains(&words) && message.contains(&host) && !message.contains("s3cret"), "{message}");
        assert!(!error.is_temporary() && server.asked().len() == 1, "{error}");
    }
}
