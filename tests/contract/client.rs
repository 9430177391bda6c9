//! The behavior of the client towards slow, unusual, broken, and unreachable servers.

use crate::scripted::{Scripted, answer};
use labscope::api::branches::{CreateBranch, DeleteBranch, ListBranches};
use labscope::api::client::{Client, Server, Timeouts, TlsFiles};
use labscope::api::commits::{CommitAction, CreateCommit};
use labscope::api::decisions::Merge;
use labscope::api::endpoint::Method;
use labscope::api::jobs::GetTrace;
use labscope::api::merge_requests::GetMergeRequestChanges;
use labscope::api::page::NextPage;
use labscope::api::projects::GetProject;
use labscope::api::{Endpoint, Fault};
use std::time::Duration;
use url::Url;

pub fn at(url: &Url) -> Server {
    let timeouts =
        Timeouts { connect: Duration::from_secs(5), read: Duration::from_millis(500), retry_delay: Duration::ZERO };
    Server { token: Some("s3cret-token".into()), timeouts, ..Server::new(url.clone()) }
}

pub fn client(server: &Scripted) -> Client {
    Client::new(at(&server.url)).expect("a client")
}

fn project() -> GetProject {
    GetProject { id: "a/b".into(), ..GetProject::default() }
}

fn create_branch() -> CreateBranch {
    CreateBranch { id: 1_u64.into(), branch: "über/rows".into(), r#ref: "main".into() }
}

fn create_branch_of_old_path() -> CreateBranch {
    CreateBranch { id: "acme/rocket".into(), ..create_branch() }
}

#[tokio::test]
async fn a_read_sends_the_token_and_decodes_the_reply() {
    let server = Scripted::start([answer(200, r#"{"id":7,"name":"b","new":[1]}"#)]).await;
    let project = client(&server).call(&project()).await.expect("a project");
    assert_eq!((project.id, project.name.as_str()), (7, "b"));
    let asked = &server.asked()[0];
    assert_eq!(asked.line, "GET /api/v4/projects/a%2Fb");
    assert_eq!(asked.header("private-token"), "s3cret-token");
    assert_eq!(asked.header("accept"), "application/json");
    assert_eq!(asked.header("accept-encoding"), "gzip");
}

#[tokio::test]
async fn an_oauth_token_is_sent_as_bearer_and_to_no_other_host() {
    let other = Scripted::start([answer(200, r#"{"id":7,"name":"b"}"#)]).await;
    let there = format!("{}api/v4/projects/7", other.url);
    let server = Scripted::start([answer(302, "").with("location", &there)]).await;
    let client = Client::new(Server { oauth: true, ..at(&server.url) }).expect("a client");
    client.call(&project()).await.expect("a project");
    let asked = &server.asked()[0];
    assert_eq!((asked.header("authorization"), asked.header("private-token")), ("Bearer s3cret-token", ""));
    assert_eq!(other.asked()[0].header("authorization"), "");
}

#[tokio::test]
async fn writes_send_forms_and_commits_send_json() {
    let server = Scripted::start([answer(201, "{}"), answer(201, "{}")]).await;
    let client = client(&server);
    client.call(&create_branch()).await.expect("a branch");
    let commit = CreateCommit {
        id: 1_u64.into(),
        branch: "main".into(),
        commit_message: "Say why".into(),
        actions: vec![CommitAction { action: "delete".into(), file_path: "a".into(), ..CommitAction::default() }],
        ..CreateCommit::default()
    };
    client.call(&commit).await.expect("a commit");
    let asked = server.asked();
    assert_eq!(asked[0].header("content-type"), "application/x-www-form-urlencoded");
    assert_eq!(asked[0].body, "branch=%C3%BCber%2Frows&ref=main");
    assert_eq!(asked[1].header("content-type"), "application/json");
    let body = r#"{"actions":[{"action":"delete","file_path":"a"}],"branch":"main","commit_message":"Say why"}"#;
    assert_eq!(asked[1].body, body);
}

#[tokio::test]
async fn rate_limited_reads_and_writes_are_retried_after_the_delay() {
    let limited = || answer(429, "Retry later\n").with("retry-after", "0");
    let server = Scripted::start([limited(), answer(200, "{}"), limited(), answer(201, "{}")]).await;
    let client = client(&server);
    client.call(&project()).await.expect("read at the second try");
    client.call(&create_branch()).await.expect("written at the second try");
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test]
async fn a_rate_limit_with_a_long_delay_is_reported_at_once() {
    let server = Scripted::start([answer(429, "").with("retry-after", "600")]).await;
    let error = client(&server).call(&project()).await.unwrap_err();
    assert_eq!(error.fault, Fault::Limited("", Some(Duration::from_secs(600))));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_bad_gateway_is_retried_for_reads_but_not_for_writes() {
    let bad = || answer(502, "<html><head><title>502 Bad\u{7} Gateway</title></head></html>");
    let server = Scripted::start([bad(), answer(200, "{}"), bad(), answer(201, "{}")]).await;
    let client = client(&server);
    client.call(&project()).await.expect("read at the second try");
    let error = client.call(&create_branch()).await.unwrap_err();
    assert_eq!(error.fault, Fault::Server(502, "502 Bad Gateway".into()));
    assert_eq!(error.tried, "POST /projects/1/repository/branches");
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_bad_gateway_with_a_long_delay_is_reported_at_once() {
    for status in [502, 503, 504] {
        let server = Scripted::start((0..9).map(|_| answer(status, "busy").with("retry-after", "600"))).await;
        let error = client(&server).call(&project()).await.unwrap_err();
        assert_eq!(error.fault, Fault::Server(status, "busy".into()));
        assert_eq!(server.asked().len(), 1, "{status}: retried too early");
    }
}

#[tokio::test]
async fn a_read_is_retried_at_most_three_times() {
    let server = Scripted::start((0..9).map(|_| answer(503, "busy"))).await;
    let error = client(&server).call(&project()).await.unwrap_err();
    assert_eq!(error.fault, Fault::Server(503, "busy".into()));
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test]
async fn an_internal_server_error_is_not_retried() {
    let server = Scripted::start([answer(500, r#"{"message":"500 Internal Server Error"}"#)]).await;
    let error = client(&server).call(&project()).await.unwrap_err();
    assert_eq!(error.fault, Fault::Server(500, "500 Internal Server Error".into()));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_redirect_to_another_host_drops_the_token() {
    let storage = Scripted::start([answer(200, "bytes")]).await;
    let there = storage.url.join("/signed?key=1").expect("an address");
    let server = Scripted::start([answer(302, "").with("location", there.as_str())]).await;
    let trace = GetTrace { id: 1_u64.into(), job_id: 2 };
    let raw = client(&server).call(&trace).await.expect("the bytes of the storage");
    assert_eq!(raw.bytes, b"bytes");
    let asked = &storage.asked()[0];
    assert_eq!(asked.line, "GET /signed?key=1");
    assert!(!asked.headers.contains_key("private-token"));
}

#[tokio::test]
async fn a_redirect_within_the_server_keeps_the_token() {
    let moved = answer(301, "").with("location", "/api/v4/projects/7");
    let server = Scripted::start([moved, answer(200, r#"{"id":7}"#)]).await;
    assert_eq!(client(&server).call(&project()).await.expect("the moved project").id, 7);
    assert_eq!(server.asked()[1].header("private-token"), "s3cret-token");
}

#[tokio::test]
async fn a_write_to_a_project_that_was_moved_goes_to_where_it_is_now() {
    let refused = answer(405, r#"{"message":"405 Non GET methods are not allowed for moved projects"}"#);
    let moved = answer(301, "").with("location", "/api/v4/projects/7");
    let branch = r#"{"name":"b"}"#;
    let found = answer(200, r#"{"id":7}"#);
    let server = Scripted::start([refused, moved, found, answer(201, branch), answer(201, branch)]).await;
    let client = client(&server);
    for _ in 0..2 {
        assert_eq!(client.call(&create_branch_of_old_path()).await.expect("the branch").name, "b");
    }
    let lines: Vec<String> = server.asked().iter().map(|asked| asked.line.clone()).collect();
    let begin = |line: &str| line.split("/repository").next().unwrap_or_default().to_owned();
    assert_eq!(begin(&lines[0]), "POST /api/v4/projects/acme%2Frocket", "{lines:?}");
    assert_eq!(lines[1..3], ["GET /api/v4/projects/acme%2Frocket", "GET /api/v4/projects/7"]);
    assert_eq!((&*begin(&lines[3]), &*begin(&lines[4])), ("POST /api/v4/projects/7", "POST /api/v4/projects/7"));
}

#[tokio::test]
async fn a_server_that_moved_to_another_host_is_named() {
    for status in [401, 404] {
        let other = Scripted::start([answer(status, r#"{"message":"Unauthorized"}"#)]).await;
        let there = other.url.join("/api/v4/projects/7").expect("an address");
        let server = Scripted::start([answer(301, "").with("location", there.as_str())]).await;
        let error = client(&server).call(&project()).await.unwrap_err();
        let address = other.url.as_str().trim_end_matches('/');
        assert!(error.message().contains(&format!("the server has moved to {address}")), "{error}");
        assert!(!other.asked()[0].headers.contains_key("private-token"));
    }
}

#[tokio::test]
async fn a_write_follows_a_project_only_on_the_same_server() {
    let other = Scripted::start([answer(200, r#"{"id":7}"#)]).await;
    let refused = || answer(405, r#"{"message":"405 Non GET methods are not allowed for moved projects"}"#);
    let there = other.url.join("/api/v4/projects/7").expect("an address");
    let moved = answer(301, "").with("location", there.as_str());
    let server = Scripted::start([refused(), moved]).await;
    let error = client(&server).call(&create_branch_of_old_path()).await.unwrap_err();
    assert!(error.message().contains("moved projects"), "{error}");
    assert_eq!(server.asked().len(), 2);
    assert!(other.asked().iter().all(|asked| !asked.headers.contains_key("private-token")));
}

#[tokio::test]
async fn a_moved_project_whose_new_path_is_hidden_is_explained() {
    let refused = || answer(405, r#"{"message":"405 Non GET methods are not allowed for moved projects"}"#);
    let merge = Merge { id: "a/b".into(), merge_request_iid: 1, ..Merge::default() };
    for status in [404, 403] {
        let hidden = || answer(status, r#"{"message":"404 Project Not Found"}"#);
        let server = Scripted::start([refused(), hidden(), refused(), hidden()]).await;
        let client = client(&server);
        let branch = client.call(&create_branch_of_old_path()).await.unwrap_err();
        let merge = client.call(&merge).await.unwrap_err();
        for error in [branch, merge] {
            let words = error.message();
            assert!(words.contains("not allowed for moved projects; the new path could not be found: "), "{words}");
            assert!(words.contains("404 Project Not Found"), "{words}");
            assert!(error.write_advice().contains("Open the project by its new path"), "{error}");
        }
    }
    // A project that was not moved: the server has another reason.
    let protected = answer(405, r#"{"message":"Protected branch cant be removed"}"#);
    let server = Scripted::start([protected, answer(200, r#"{"id":7}"#)]).await;
    let error = client(&server).call(&create_branch_of_old_path()).await.unwrap_err();
    assert_eq!(error.message(), "405: Protected branch cant be removed");
}

#[tokio::test]
async fn a_project_that_takes_over_an_old_path_is_noticed() {
    let moved = answer(301, "").with("location", "/api/v4/projects/7");
    let server = Scripted::start([
        moved,
        answer(200, r#"{"id":7}"#),
        answer(200, "[]"),
        answer(200, r#"{"id":9}"#),
        answer(200, "[]"),
    ])
    .await;
    let client = client(&server);
    let ids = [7, 9];
    for id in ids {
        assert_eq!(client.call(&project()).await.expect("a project").id, id);
        client.call(&ListBranches { id: "a/b".into(), search: None }).await.expect("branches");
    }
    let lines: Vec<String> = server.asked().into_iter().map(|asked| asked.line.replace("GET /api/v4", "")).collect();
    assert_eq!(
        lines,
        [
            "/projects/a%2Fb",
            "/projects/7",
            "/projects/7/repository/branches",
            "/projects/a%2Fb",
            "/projects/a%2Fb/repository/branches"
        ]
    );
}

#[tokio::test]
async fn a_redirect_to_https_stops_and_names_the_address() {
    let there = "https://127.0.0.1";
    for (status, place, address) in [
        (301, "https://127.0.0.1/api/v4/projects/acme%2Fweb", there),
        (302, "https://127.0.0.1/users/sign_in", there),
        (303, "https://127.0.0.1:8443/users/sign_in", "https://127.0.0.1:8443"),
        (307, "HTTPS://me:pw@127.0.0.1/gitlab/api/v4/projects/acme%2Fweb?a=b#c", "https://127.0.0.1/gitlab"),
        (308, "https://127.0.0.1:443/", there),
    ] {
        let redirect = || answer(status, "").with("location", place);
        let server = Scripted::start([redirect(), redirect()]).await;
        let read = client(&server).call(&project()).await.unwrap_err();
        let write = client(&server).call(&create_branch()).await.unwrap_err();
        for error in [read, write] {
            assert_eq!(error.fault, Fault::NeedsHttps(address.into()), "{error}");
            assert!(error.to_string().contains(&format!("redirects to {address};")), "{error}");
            assert!(error.to_string().contains("--host, LABSCOPE_HOST, or as url in the configuration"), "{error}");
        }
        assert_eq!(server.asked().len(), 2, "nothing more is sent");
    }
    // Another host that has the same path is the server, too.
    let place = "https://git.example/api/v4/projects/a%2Fb";
    let server = Scripted::start([answer(301, "").with("location", place)]).await;
    let error = client(&server).call(&project()).await.unwrap_err();
    assert_eq!(error.fault, Fault::NeedsHttps("https://git.example".into()), "{error}");
}

#[tokio::test]
async fn a_redirect_loop_ends() {
    let server = Scripted::start((0..20).map(|_| answer(302, "").with("location", "/api/v4/again"))).await;
    let error = client(&server).call(&project()).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Refused(302, _)), "{error}");
    assert_eq!(server.asked().len(), 6);
}

#[tokio::test]
async fn a_write_does_not_follow_redirects() {
    let server = Scripted::start([answer(307, "").with("location", "http://other.invalid/")]).await;
    let error = client(&server).call(&create_branch()).await.unwrap_err();
    assert!(error.message().contains("other.invalid"), "{error}");
}

#[tokio::test]
async fn a_read_whose_reply_is_cut_is_repeated_once() {
    let cut = || answer(200, r#"{"id":"#).cut();
    let server = Scripted::start([cut(), answer(200, r#"{"id":1}"#), cut(), cut(), cut(), answer(200, "{}")]).await;
    let client = client(&server);
    assert_eq!(client.call(&project()).await.expect("at the second try").id, 1);
    assert!(matches!(client.call(&project()).await.expect_err("cut twice").fault, Fault::Cut(_)));
    assert_eq!(server.asked().len(), 4);
    // A write may have been done.
    assert!(matches!(client.call(&create_branch()).await.expect_err("cut").fault, Fault::Cut(_)));
    assert_eq!(server.asked().len(), 5);
}

#[tokio::test]
async fn a_reply_that_is_not_json_is_described() {
    for (body, said) in [("", "the reply is empty"), ("hello there", "the reply is not JSON: hello there")] {
        let server = Scripted::start([answer(200, body)]).await;
        let error = client(&server).call(&project()).await.unwrap_err();
        let Fault::Unreadable(unreadable) = &error.fault else { panic!("{error}") };
        assert_eq!((unreadable.field.as_str(), unreadable.reason.as_str()), (".", said));
    }
}

#[tokio::test]
async fn a_decoding_error_names_the_field() {
    let big = format!(r#"[{}{{"name":"x","commit":{{"parent_ids":x}}}}]"#, r#"{"name":"y"},"#.repeat(30_000));
    for body in [r#"[{"name":"x","commit":{"parent_ids":x}}]"#, &big] {
        let server = Scripted::start([answer(200, body)]).await;
        let error = client(&server).call(&ListBranches::default()).await.unwrap_err();
        let Fault::Unreadable(unreadable) = &error.fault else { panic!("{error}") };
        assert!(unreadable.field.ends_with("].commit.parent_ids"), "{error}");
    }
}

#[tokio::test]
async fn each_error_status_maps_to_its_own_fault() {
    let not_found = r#"{"message":"404 Project Not Found"}"#;
    for (status, body, fault) in [
        (401, r#"{"message":"401 Unauthorized"}"#, Fault::Unauthorized("401 Unauthorized".into())),
        (403, r#"{"message":"403 Forbidden"}"#, Fault::Denied("403 Forbidden".into())),
        (404, not_found, Fault::Missing("404 Project Not Found".into())),
        (409, r#"{"message":"Release already exists"}"#, Fault::Refused(409, "Release already exists".into())),
    ] {
        let server = Scripted::start([answer(status, body)]).await;
        assert_eq!(client(&server).call(&project()).await.unwrap_err().fault, fault);
    }
}

#[tokio::test]
async fn read_only_mode_sends_no_writes() {
    let server = Scripted::start([answer(200, "{}")]).await;
    let client = Client::new(Server { read_only: true, ..at(&server.url) }).expect("a client");
    let delete = DeleteBranch { id: 1_u64.into(), branch: "main".into() };
    assert_eq!(client.call(&delete).await.unwrap_err().fault, Fault::ReadOnly);
    assert_eq!(client.raw(Method::POST, "/projects", &[]).await.unwrap_err().fault, Fault::ReadOnly);
    assert!(server.asked().is_empty());
    client.call(&project()).await.expect("reads go through");
}

#[tokio::test]
async fn a_refused_connection_names_the_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let place = listener.local_addr().expect("an address");
    drop(listener);
    let url = Url::parse(&format!("http://{place}")).expect("an address");
    let error = Client::new(at(&url)).expect("a client").call(&project()).await.unwrap_err();
    assert_eq!(error.fault, Fault::Offline(format!("connection refused by {place}")));
}

#[tokio::test]
async fn a_closed_connection_counts_as_offline() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = Url::parse(&format!("http://{}", listener.local_addr().expect("an address"))).expect("an address");
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let error = Client::new(at(&url)).expect("a client").call(&project()).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Offline(_)), "{error}");
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let mut server = at(&Url::parse(&format!("http://{}", listener.local_addr().expect("an address"))).expect("a URL"));
    server.timeouts.read = Duration::from_millis(20);
    let error = Client::new(server).expect("a client").call(&project()).await.unwrap_err();
    assert_eq!(error.fault, Fault::Timeout(Duration::from_millis(20)));
}

#[tokio::test]
async fn https_to_a_server_without_tls_fails() {
    let server = Scripted::start([]).await;
    let mut url = server.url.clone();
    url.set_scheme("https").expect("a scheme");
    let error = Client::new(at(&url)).expect("a client").call(&project()).await.unwrap_err();
    assert!(matches!(&error.fault, Fault::Tls(said) if said.contains("does not use TLS")), "{error}");
}

#[test]
fn an_invalid_ca_file_is_named() {
    let url = Url::parse("https://h.invalid").expect("an address");
    let tls = |path: &str| TlsFiles { ca_cert: Some(path.into()), ..TlsFiles::default() };
    let server = Server { tls: tls("/nonexistent/ca.pem"), ..Server::new(url.clone()) };
    let error = Client::new(server).unwrap_err();
    assert!(matches!(error.fault, Fault::Tls(_)) && error.message().contains("/nonexistent/ca.pem"), "{error}");
    let server = Server { tls: tls(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")), ..Server::new(url) };
    assert!(Client::new(server).unwrap_err().message().contains("contains no certificate in PEM format"));
}

async fn fetched(client: &Client, from: u64) -> (u64, String) {
    let request = GetTrace { id: 1_u64.into(), job_id: 2 }.request();
    let mut download = client.stream(&request, from, &[]).await.expect("a trace");
    let mut text = Vec::new();
    while let Some(chunk) = download.chunk().await.expect("a chunk") {
        text.extend_from_slice(&chunk);
    }
    (download.start, String::from_utf8(text).expect("text"))
}

#[tokio::test]
async fn a_download_resumes_if_the_server_supports_ranges() {
    let server = Scripted::start([
        answer(200, "hello"),
        answer(206, "world").with("content-range", "bytes 5-9/10"),
        answer(200, "helloworld"),
        answer(416, "").with("content-range", "bytes */10"),
        answer(416, "").with("content-range", "bytes */3"),
        answer(200, "new"),
    ])
    .await;
    let client = client(&server);
    assert_eq!(fetched(&client, 0).await, (0, "hello".into()));
    assert_eq!(fetched(&client, 5).await, (5, "world".into()));
    assert_eq!(fetched(&client, 5).await, (0, "helloworld".into()), "without ranges, everything is sent");
    assert_eq!(fetched(&client, 10).await, (10, String::new()), "there is nothing new");
    assert_eq!(fetched(&client, 10).await, (0, "new".into()), "the trace has shrunk");
    let ranges: Vec<String> = server.asked().iter().map(|asked| asked.header("range").to_owned()).collect();
    assert_eq!(ranges, ["", "bytes=5-", "bytes=5-", "bytes=10-", "bytes=10-", ""]);
}

/// Returns the offset of the reply to a request for the text after its first `known` bytes, whose last 100 are
/// requested again.
async fn start_of_tail(client: &Client, text: &str, known: usize) -> u64 {
    let request = GetTrace { id: 1_u64.into(), job_id: 2 }.request();
    let from = known - 100;
    let overlap = &text.as_bytes()[from..known];
    let mut download = client.stream(&request, from as u64, overlap).await.expect("a trace");
    let mut received = Vec::new();
    while let Some(chunk) = download.chunk().await.expect("a chunk") {
        received.extend_from_slice(&chunk);
    }
    assert_eq!(received, &text.as_bytes()[download.start as usize..]);
    download.start
}

#[tokio::test]
async fn a_server_that_ignores_ranges_is_asked_once_for_byte_offset() {
    let text: &'static str = (0..100).map(|n| format!("line {n}\n")).collect::<String>().leak();
    for knows_offsets in [true, false] {
        let server = Scripted::minded(move |asked| {
            let part = |name: &str| asked.line.split(&format!("{name}=")).nth(1)?.split('&').next()?.parse().ok();
            let (from, limit) = (part("byte_offset").unwrap_or(0), part("byte_limit").unwrap_or(usize::MAX));
            let (from, limit) = if knows_offsets { (from, limit) } else { (0, usize::MAX) };
            answer(200, &text.as_bytes()[from..from.saturating_add(limit).min(text.len())])
        })
        .await;
        let client = client(&server);
        let starts = [
            start_of_tail(&client, text, 300).await,
            start_of_tail(&client, text, 400).await,
            start_of_tail(&client, text, 500).await,
        ];
        let asked: Vec<(String, bool)> = server
            .asked()
            .iter()
            .map(|asked| {
                let query = asked.line.split_once('?').map_or("", |(_, query)| query).to_owned();
                (query, asked.header("accept-encoding").contains("gzip"))
            })
            .collect();
        let asked: Vec<(&str, bool)> = asked.iter().map(|(query, gzip)| (query.as_str(), *gzip)).collect();
        let probe = "byte_offset=300&byte_limit=100";
        match knows_offsets {
            true => {
                assert_eq!(starts, [0, 300, 400]);
                let expected = [("", true), (probe, true), ("byte_offset=300", true), ("byte_offset=400", true)];
                assert_eq!(asked, expected);
            }
            // Whole replies are compressed.
            false => {
                assert_eq!(starts, [0, 0, 0]);
                // The answer to the probe is the whole text: it is used.
                assert_eq!(asked, [("", true), (probe, true), ("", true)]);
            }
        }
    }
}

#[tokio::test]
async fn a_truncated_download_is_an_error() {
    let server = Scripted::start([answer(200, "hel").cut()]).await;
    let request = GetTrace { id: 1_u64.into(), job_id: 2 }.request();
    let mut download = client(&server).stream(&request, 0, &[]).await.expect("a trace");
    assert_eq!(download.length, Some(13));
    let mut outcome = download.chunk().await;
    while let Ok(Some(_)) = outcome {
        outcome = download.chunk().await;
    }
    assert!(matches!(outcome.unwrap_err().fault, Fault::Cut(_)));
}

#[tokio::test]
async fn a_raw_call_returns_the_reply_as_is() {
    let server = Scripted::start([
        answer(404, r#"{"message":"404 Not found"}"#),
        answer(200, "[]").with("x-next-page", "2"),
        answer(201, "{}"),
    ])
    .await;
    let client = client(&server);
    let field = [("name".to_owned(), "a b".to_owned())];
    let missing = client.raw(Method::GET, "projects/9?x=1", &field).await.expect("a reply");
    assert_eq!((missing.status, missing.body.as_ref()), (404, br#"{"message":"404 Not found"}"#.as_slice()));
    let list = client.raw(Method::GET, "/api/v4/projects", &[]).await.expect("a reply");
    assert_eq!(list.page.next, Some(NextPage::Number(2)));
    client.raw(Method::POST, "/projects", &field).await.expect("a reply");
    let asked = server.asked();
    assert_eq!(asked[0].line, "GET /api/v4/projects/9?x=1&name=a+b");
    assert_eq!(asked[1].line, "GET /api/v4/projects");
    assert_eq!((asked[2].line.as_str(), asked[2].body.as_str()), ("POST /api/v4/projects", "name=a+b"));
}

#[tokio::test]
async fn a_name_of_dots_cannot_change_the_path() {
    let server = Scripted::start([answer(204, "")]).await;
    let delete = DeleteBranch { id: 1_u64.into(), branch: "..".into() };
    assert!(matches!(client(&server).call(&delete).await.unwrap_err().fault, Fault::Refused(400, _)));
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn errors_and_debug_output_never_contain_the_token() {
    let server = Scripted::start([answer(500, "")]).await;
    let client = client(&server);
    let error = client.call(&project()).await.unwrap_err();
    assert!(!format!("{error} {error:?} {client:?}").contains("s3cret"));
}

#[tokio::test]
async fn a_compressed_reply_that_decodes_to_too_much_memory_is_refused() {
    let many = format!("[{}{{}}]", "{},".repeat(1_000_000));
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, many.as_bytes()).expect("memory takes it");
    let packed = packer.finish().expect("memory takes it");
    assert!(packed.len() < 100_000);
    let server = Scripted::start([answer(200, packed).with("content-encoding", "gzip")]).await;
    let error = client(&server).call(&ListBranches::default()).await.unwrap_err();
    assert_eq!(error.fault, Fault::TooLarge("the reply contains more than 100000 objects".into()));
    assert!(!error.is_temporary(), "it is not retried");
}

#[tokio::test]
async fn a_missing_token_scope_is_named() {
    let body = r#"{"error":"insufficient_scope","error_description":"higher privileges","scope":"api read_api"}"#;
    let other = r#"{"error":"insufficient_granular_scope","error_description":"no"}"#;
    let server = Scripted::start([answer(403, body), answer(403, other)]).await;
    let client = client(&server);
    let error = client.call(&project()).await.expect_err("too narrow");
    assert_eq!(error.fault, Fault::Scope(vec!["api".into(), "read_api".into()]));
    assert_eq!(
        error.to_string(),
        "Token scope missing: the token lacks the scope api or read_api (GET /projects/a%2Fb). \
         Create a token with that scope, and store it with labscope auth login."
    );
    let error = client.call(&project()).await.expect_err("too narrow");
    assert_eq!(error.fault, Fault::Denied("no".into()));
}

/// The refusals of fine-grained tokens, as GitLab 19.4 sends them (seen on gitlab.com and on a community edition), and
/// 18.10, whose specs have them (spec/support/shared_examples/requests/api/granular_token_shared_examples.rb).
#[tokio::test]
async fn a_missing_token_permission_is_named() {
    let body = |text: &str| format!(r#"{{"error":"insufficient_granular_scope","error_description":"{text}"}}"#);
    let now = body(
        "Access denied: This operation requires a fine-grained personal access token with the following project \
         permissions: [Merge Request: Read, Work Item: Create].",
    );
    let before = body(
        "Access denied: Your Personal Access Token lacks the required permissions: [read_project] for \\\"a/b\\\".",
    );
    let none = body("Granular tokens are not yet supported");
    let server = Scripted::start([answer(403, now), answer(403, before), answer(403, none)]).await;
    let client = client(&server);
    let error = client.call(&project()).await.expect_err("not permitted");
    assert_eq!(error.fault, Fault::Permission(vec!["Merge Request: Read".into(), "Work Item: Create".into()]));
    assert_eq!(
        error.to_string(),
        "Token permission missing: it takes a fine-grained token with Merge Request: Read, Work Item: Create \
         (GET /projects/a%2Fb). Create a token that has it, too, and store it with labscope auth login."
    );
    assert!(!error.is_temporary());
    let error = client.call(&project()).await.expect_err("not permitted");
    assert_eq!(error.fault, Fault::Permission(vec!["read_project".into()]));
    let error = client.call(&project()).await.expect_err("not permitted");
    assert_eq!(error.fault, Fault::Denied("Granular tokens are not yet supported".into()));
    assert_eq!(error.advice(), "");
}

/// GitLab announces its limits in the headers of all replies (lib/gitlab/middleware/rack_attack_headers.rb).
#[tokio::test]
async fn a_limit_that_json_announces_is_not_exceeded() {
    for status in [200, 404, 429] {
        let reply = answer(status, r#"{"id":1}"#).with("content-type", "application/json").with("retry-after", "86400");
        let used_up = reply.with("ratelimit-remaining", "0").with("ratelimit-reset", "32503680000");
        let server = Scripted::start([used_up]).await;
        let client = client(&server);
        let _ = client.call(&project()).await;
        let branches = ListBranches { id: 1_u64.into(), search: None };
        let error = client.call(&branches).await.expect_err("used up");
        assert!(matches!(error.fault, Fault::Limited("", Some(_))), "{status}: {error}");
        assert_eq!(server.asked().len(), 1, "{status}");
    }
}

/// GitLab limits single endpoints in this way, such as searches to 30 a minute (lib/api/helpers/rate_limiter.rb): the reply is
/// JSON, and other requests go on.
#[tokio::test]
async fn a_limit_of_an_endpoint_stops_no_other_request() {
    let server = Scripted::minded(|asked| match asked.line.contains("/branches") {
        true => answer(429, r#"{"message":{"error":"This endpoint has been requested too many times."}}"#)
            .with("content-type", "application/json")
            .with("retry-after", "20"),
        false => answer(200, r#"{"id":1}"#),
    })
    .await;
    let client = client(&server);
    let branches = ListBranches { id: 1_u64.into(), search: None };
    let others = async {
        while server.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        for _ in 0..3 {
            client.call(&project()).await.expect("at once");
        }
    };
    tokio::select! {
        limited = client.call(&branches) => panic!("{limited:?}"),
        outcome = tokio::time::timeout(Duration::from_secs(10), others) => outcome.expect("the others are sent"),
    }
}

/// GitLab 19 can limit reads of changes on its own, to 300 a minute (doc/administration/settings/rate_limits.md); other
/// reads go on.
#[tokio::test]
async fn a_limit_of_the_reads_of_changes_stops_no_other_read() {
    let limited =
        answer(429, r#"{"message":{"error":"This endpoint has been requested too many times. Try again later."}}"#)
            .with("retry-after", "3600")
            .with("ratelimit-name", "diffs")
            .with("ratelimit-remaining", "0")
            .with("ratelimit-reset", "32503680000");
    let ok = || answer(200, r#"{"id":1}"#);
    let server = Scripted::start([limited, ok(), ok()]).await;
    let client = client(&server);
    let changes = GetMergeRequestChanges { id: 1_u64.into(), merge_request_iid: 2 };
    let error = client.call(&changes).await.expect_err("limited");
    assert!(matches!(error.fault, Fault::Limited(route, _) if !route.is_empty()), "{error}");
    for _ in 0..2 {
        client.call(&project()).await.expect("at once");
    }
    // Until then, the changes are not asked for again.
    assert!(
        matches!(client.call(&changes).await.expect_err("limited").fault, Fault::Limited(route, _) if !route.is_empty())
    );
    assert_eq!(server.asked().len(), 3);
}
