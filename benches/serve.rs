//! Benchmarks the local server and the client: requests per second against a bare handler that returns the same bytes,
//! all pages of a long list against one page at a time, and decoding a large reply into its types against plain
//! `serde_json`.
//!
//! With the arguments `bare DIR`, this is the bare server that both are measured against. If `taskset` is
//! available, each server is pinned to one core and the client runs on the other.

use crate::support;
use crate::support::Table;
use crate::support::served::{Connection, LABSCOPE, Process, git};
use axum::Router;
use axum::http::{Uri, header};
use axum::response::IntoResponse;
use futures::TryStreamExt;
use labscope::api::branches::ListBranches;
use labscope::api::merge_requests::{GetMergeRequestChanges, MergeRequest};
use std::collections::HashMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const BRANCHES: usize = 100_000;
/// The number of concurrent connections.
const CONNECTIONS: usize = 8;
/// The duration of each measurement.
const WHILE: Duration = Duration::from_millis(600);
const CHANGES: &str = "/api/v4/projects/1/merge_requests/7/changes";

/// The requests that are measured.
const ASKED: &[(&str, &str)] = &[
    ("a project", "/api/v4/projects/local%2Fmany"),
    ("100 branches", "/api/v4/projects/local%2Fmany/repository/branches?per_page=100"),
    ("100 commits", "/api/v4/projects/local%2Fmany/repository/commits?per_page=100"),
    ("a tree of 100", "/api/v4/projects/local%2Fmany/repository/tree?path=src&per_page=100"),
];
/// The route of blobs by SHA.
const BLOBS: &str = "/api/v4/projects/local%2Fmany/repository/blobs";

/// Returns the microseconds per request with several concurrent connections.
fn rate(server: &Process, target: &str) -> f64 {
    let until = Instant::now() + WHILE;
    let asked: usize = std::thread::scope(|scope| {
        let ask = || {
            let (mut connection, mut asked) = (Connection::open(server, target), 0);
            while Instant::now() < until {
                connection.ask();
                asked += 1;
            }
            asked
        };
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().expect("it asks")).sum()
    });
    WHILE.as_secs_f64() * 1e6 / asked.max(1) as f64
}

/// Creates a repository of 120 commits, 100 files, and many branches, spread evenly over the commits.
fn repository(folder: &Path) {
    fs::create_dir_all(folder).expect("a folder");
    git(folder, &["init", "-q", "-b", "main"], b"");
    let mut history = String::new();
    for commit in 0..120 {
        let message = format!("Change {commit}\n");
        history.push_str(&format!(
            "commit refs/heads/main\ncommitter Ada <ada@example.org> {} +0000\ndata {}\n{message}",
            1_700_000_000 + commit * 3600,
            message.len()
        ));
        let (path, text) = match commit {
            0 => ("src/long.rs".to_owned(), "let value = compute(1, 2);\n".repeat(1_100)),
            n => (format!("src/file_{:03}.rs", n % 100), format!("fn change_{n}() {{}}\n")),
        };
        history.push_str(&format!("M 100644 inline {path}\ndata {}\n{text}", text.len()));
    }
    git(folder, &["fast-import", "--quiet"], history.as_bytes());
    let commits = git(folder, &["rev-list", "main"], b"");
    let commits: Vec<&str> = commits.lines().collect();
    let mut packed = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    for (n, commit) in (0..BRANCHES).zip(commits.iter().cycle()) {
        packed.push_str(&format!("{commit} refs/heads/branch/{n:06}\n"));
    }
    fs::write(folder.join(".git/packed-refs"), packed).expect("written");
}

/// Returns the reply of a merge request with 20 MB of changes.
fn changes() -> Vec<u8> {
    let hunk =
        "-    let value = compute(old_name, \"of a file\");\n+    let value = compute(new_name, \"of a file\");\n";
    let files: Vec<serde_json::Value> = (0..2_000)
        .map(|n| {
            let path = format!("src/part{}/file_{n:05}.rs", n / 50);
            serde_json::json!({"old_path": path, "new_path": path, "diff": format!("@@ -1,100 +1,100 @@\n{}", hunk.repeat(100)),
                "new_file": false, "renamed_file": false, "deleted_file": false, "a_mode": "100644", "b_mode": "100644"})
        })
        .collect();
    let whole = serde_json::json!({"id": 1, "iid": 7, "project_id": 1, "title": "Large", "state": "opened",
        "source_branch": "a", "target_branch": "b", "sha": "abc", "changes": files});
    serde_json::to_vec(&whole).expect("JSON")
}

/// Serves the files of a folder at the addresses that its list names, on one thread.
fn bare(folder: &Path) {
    let list = fs::read_to_string(folder.join("list")).expect("a list");
    let bodies: HashMap<String, bytes::Bytes> = list
        .lines()
        .enumerate()
        .map(|(n, target)| (target.to_owned(), fs::read(folder.join(n.to_string())).expect("a body").into()))
        .collect();
    let bodies = Arc::new(bodies);
    let answer = move |uri: Uri| {
        let body = bodies.get(&uri.to_string()).cloned().unwrap_or_default();
        async move { ([(header::CONTENT_TYPE, "application/json")], body).into_response() }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("an address");
        println!("http://{}", listener.local_addr().expect("an address"));
        axum::serve(listener, Router::new().fallback(answer)).await.expect("it serves");
    });
}

pub fn run(arguments: &[String]) {
    if let [word, folder] = arguments
        && word == "bare"
    {
        return bare(Path::new(folder));
    }
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("many");
    repository(&path);
    let repository = path.to_str().expect("UTF-8");
    let options = ["serve", "--world", "empty", "--repo", repository, "--ready-file", "ready.json"];
    let labscope = Process::start(LABSCOPE, &options, home.path());

    let folder = home.path().join("bodies");
    fs::create_dir(&folder).expect("a folder");
    let blob = format!("{BLOBS}/{}/raw", git(&path, &["rev-parse", "main:src/long.rs"], b""));
    let asked: Vec<(&str, &str)> = ASKED.iter().copied().chain([("a blob of 30 KB", blob.as_str())]).collect();
    let mut targets: Vec<&str> = asked.iter().map(|(_, target)| *target).collect();
    for (n, target) in targets.iter().enumerate() {
        let mut connection = Connection::open(&labscope, target);
        connection.ask();
        fs::write(folder.join(n.to_string()), &connection.body).expect("written");
    }
    let large = changes();
    fs::write(folder.join(targets.len().to_string()), &large).expect("written");
    targets.push(CHANGES);
    fs::write(folder.join("list"), targets.join("\n")).expect("written");
    let me = std::env::current_exe().expect("a program");
    let bare = Process::start(
        me.to_str().expect("UTF-8"),
        &["serve", "bare", folder.to_str().expect("UTF-8")],
        &home.path().join("bodies"),
    );

    let mut table = Table::new("a request, µs, eight at a time", &["", "bare handler", "labscope", "ratio", "limit"]);
    for (name, target) in &asked {
        let limit = if *name == "a project" { 4.0 } else { 60.0 };
        table.ratio(name, support::pair(|| rate(&bare, target), || rate(&labscope, target)), limit);
    }
    table.print();

    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let client = labscope.client();
    let list = ListBranches { id: "local/many".into(), search: None };
    let mut table = Table::new("100,000 branches, ms", &["", "a page at a time", "the stream", "ratio", "limit"]);
    let millis = |from: Instant| from.elapsed().as_secs_f64() * 1e3;
    let apart = || {
        let from = Instant::now();
        runtime.block_on(async {
            let (mut page, mut rows) = (1, 0);
            loop {
                let got = client.page(&list, page, 100).await.expect("a page");
                rows += got.items.len();
                if got.items.len() < 100 {
                    break;
                }
                page += 1;
            }
            assert!(rows >= BRANCHES, "{rows}");
        });
        millis(from)
    };
    let streamed = || {
        let from = Instant::now();
        let sum = |rows: usize, page: labscope::api::Page<Vec<_>>| async move { Ok(rows + page.items.len()) };
        let rows = runtime.block_on(client.all(list.clone(), 100).try_fold(0, sum)).expect("all pages");
        assert!(rows >= BRANCHES, "{rows}");
        millis(from)
    };
    // Measured once each, because a thousand pages take long.
    let (of_pages, of_stream) = (apart(), streamed());
    // There is no network latency to hide and the server has one core, so prefetching cannot make the stream faster.
    table.ratio("all of them", (of_pages, of_stream), 1.3);
    table.print();

    let client = bare.client();
    let changes = GetMergeRequestChanges { id: 1_u64.into(), merge_request_iid: 7 };
    let mut table = Table::new("changes of 20 MB, ms", &["", "serde_json", "labscope", "ratio", "limit"]);
    let typed = || {
        let from = Instant::now();
        black_box(runtime.block_on(client.call(&changes)).expect("changes"));
        millis(from)
    };
    let value = || {
        let from = Instant::now();
        black_box(serde_json::from_slice::<serde_json::Value>(&large).expect("JSON"));
        millis(from)
    };
    let same = || {
        let from = Instant::now();
        black_box(serde_json::from_slice::<MergeRequest>(&large).expect("JSON"));
        millis(from)
    };
    table.ratio("to a plain value", support::pair(value, typed), 3.0);
    table.ratio("to the same types", support::pair(same, typed), 4.0);
    table.print();
}
