//! The local server over loopback, as any client sees it, with literal requests and replies.

mod access;
mod access_tokens;
mod admin;
mod award_emoji;
mod changelog;
mod ci;
mod commit_discussions;
mod conditional;
mod damaged;
mod decisions;
mod demo;
#[path = "../support/dice.rs"]
mod dice;
mod discussions;
mod downloads;
mod draft_notes;
mod durable;
mod environments;
mod files;
mod filters;
mod forks;
mod git_http;
mod gone;
mod hostile;
mod internal_notes;
mod issues;
mod keyset;
mod labels;
mod limits;
mod linked_items;
mod lint;
mod listen;
mod local;
mod members;
mod merge_requests;
mod milestones;
mod model;
mod modes;
mod namespaces;
mod oauth;
mod pipelines;
mod projects;
mod protected_branches;
mod protected_tags;
mod pushes;
mod quick_actions;
mod releases;
mod repository;
mod resume;
mod review;
mod rights;
mod routes;
#[path = "../support/sample.rs"]
mod sample;
mod schedules;
mod scripts;
mod search;
mod settings;
mod shapes;
mod snippets;
mod storage;
mod suggestions;
mod test_reports;
mod time_tracking;
mod todos;
mod triggers;
mod uploads;
mod variables;
mod watch;

use labscope::backend::{Clock, Modes, Options, RunningServer, Version, WorldKind, start};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A server with a client for it.
pub struct Server {
    pub running: RunningServer,
    client: reqwest::Client,
}

impl Server {
    /// Starts a server with the users `root` and `ada` and nothing else.
    pub async fn empty() -> Server {
        Server::with(Options::default()).await
    }

    /// Starts a server over one git repository.
    pub async fn over(path: PathBuf) -> Server {
        Server::with(Options { repos: vec![path], ..Options::default() }).await
    }

    /// Starts a server with the world in `world`, whose clock is `passed` seconds after its start.
    pub async fn of(world: &str, passed: &Arc<AtomicI64>) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("world.toml");
        std::fs::write(&file, world).unwrap();
        let passed = passed.clone();
        let clock = Clock::new(move || {
            let start: jiff::Timestamp = "2026-11-20T16:00:10Z".parse().unwrap();
            start + jiff::SignedDuration::from_secs(passed.load(Ordering::Relaxed))
        });
        Server::with(Options { world: WorldKind::File(file), clock, ..Options::default() }).await
    }

    pub async fn with(options: Options) -> Server {
        Server::around(start(options).await.unwrap_or_else(|error| panic!("{error}")))
    }

    /// Returns a client for a server that was started.
    pub fn around(running: RunningServer) -> Server {
        // reqwest is built without a TLS provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Server { running, client: reqwest::Client::builder().no_proxy().build().unwrap() }
    }

    pub fn token(&self, user: &str) -> &str {
        self.running.tokens.get(user).map_or("", String::as_str)
    }

    /// Returns a request by `user`, or an anonymous one if `user` is empty.
    pub fn call(&self, user: &str, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(method, format!("{}/api/v4{path}", self.running.base_url));
        if user.is_empty() { request } else { request.header("PRIVATE-TOKEN", self.token(user)) }
    }

    pub async fn get(&self, user: &str, path: &str) -> Response {
        self.call(user, Method::GET, path).send().await.unwrap()
    }

    /// Returns the body of a GET request, which must succeed.
    pub async fn read(&self, user: &str, path: &str) -> Value {
        json(self.get(user, path).await, 200).await
    }

    pub async fn post(&self, user: &str, path: &str, form: &[(&str, &str)]) -> Response {
        self.call(user, Method::POST, path).form(form).send().await.unwrap()
    }

    pub async fn put(&self, user: &str, path: &str, form: &[(&str, &str)]) -> Response {
        self.call(user, Method::PUT, path).form(form).send().await.unwrap()
    }

    pub async fn delete(&self, user: &str, path: &str) -> Response {
        self.call(user, Method::DELETE, path).send().await.unwrap()
    }
}

/// Returns the body of a reply, which must have the given status.
pub async fn json(reply: Response, status: u16) -> Value {
    let (got, url) = (reply.status(), reply.url().clone());
    let text = reply.text().await.unwrap();
    assert_eq!(got, StatusCode::from_u16(status).unwrap(), "{url}: {text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{url}: {error}: {text}"))
}

/// Adds a commit with the file `new` to a branch of `project`, such as `/projects/1`.
pub async fn add_file(server: &Server, user: &str, project: &str, branch: &str) {
    let body = serde_json::json!({"branch": branch, "commit_message": "Add a file",
        "actions": [{"action": "create", "file_path": "new", "content": "x"}]});
    let call = server.call(user, Method::POST, &format!("{project}/repository/commits"));
    json(call.json(&body).send().await.unwrap(), 201).await;
}

/// Returns the text of a field of every element.
pub fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|row| row[field].as_str().unwrap_or_default()).collect()
}

/// Returns a header as text.
pub fn header<'a>(reply: &'a Response, name: &str) -> &'a str {
    reply.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("absent")
}

/// A world of a project with a merge request and running jobs.
pub const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [
    { username = "root", admin = true },
    { username = "ada", name = "Ada Sommer", email = "ada@example.com" },
    { username = "bo", name = "Bo Lind" },
    { username = "eve" },
]

[[projects]]
path = "ada/hello"
visibility = "public"
members = { bo = "developer" }
files = """
-- src/main.rs --
fn main() {
    println!("hello");
}
"""
script = """
from 2026-11-02
to 2026-11-20
ada: Say hello
  + src/main.rs
branch louder
ada: Say it louder
  ~ src/main.rs
    < hello
    > HELLO
"""

[[merge_requests]]
project = "ada/hello"
iid = 1
title = "Louder"
description = "So that all hear."
source = "louder"
author = "ada"
labels = ["sound"]
created = "1d"
notes = [["bo", "2h", "Why?"]]

[[runners]]
name = "here"
shared = true
contacted = "1m"

[[scripts]]
name = "hello"
text = """
$ cargo run
@2 hello
@4 done
"""

[[templates]]
name = "one"
jobs = [
    { name = "hello", stage = "test", script = "hello" },
    { name = "ship", stage = "deploy", script = "hello", manual = true },
]

[[pipelines]]
project = "ada/hello"
ref_name = "louder"
template = "one"
user = "ada"
created = "1h"
outcome = { ship = "manual" }
"#;

#[tokio::test]
async fn unknown_routes_get_404_and_unknown_methods_405() {
    let server = Server::empty().await;
    assert_eq!(json(server.get("", "/nowhere").await, 404).await["error"], "404 Not Found");
    assert_eq!(json(server.delete("root", "/projects").await, 405).await["error"], "405 Not Allowed");
    for (version, path, status, why) in [
        (Version::V19, "/api/v3/projects", 410, "API V3 is no longer supported. Use API V4 instead."),
        (Version::V19, "/api/v3", 410, "API V3 is no longer supported. Use API V4 instead."),
        (Version::V19, "/api/v30/projects", 404, "404 Not Found"),
        (Version::V10_6, "/api/v3/projects", 404, "404 Not Found"),
    ] {
        let server = Server::with(Options { modes: Modes::of(version), ..Options::default() }).await;
        let url = format!("{}{path}", server.running.base_url);
        assert_eq!(json(server.client.get(url).send().await.unwrap(), status).await["error"], why, "{path}");
    }
}

/// Every row of the specification has a handler: its route gives a reply that only its handler can give.
#[tokio::test]
async fn every_endpoint_is_mounted_once() {
    let mut mounted = labscope::backend::routes(false).mounted().to_vec();
    mounted.sort_unstable();
    let mut declared: Vec<(&str, &str)> =
        labscope::backend::operations().map(|(endpoint, route)| (endpoint.name, route.path)).collect();
    declared.sort_unstable();
    assert_eq!(mounted, declared);

    let server = Server::empty().await;
    for (endpoint, route) in labscope::backend::operations() {
        let slot = |segment: &str| if segment.starts_with('{') { "7".to_owned() } else { segment.to_owned() };
        let path = route.path.split('/').map(slot).collect::<Vec<_>>().join("/");
        let reply = server.call("root", endpoint.method.clone(), &path).send().await.unwrap();
        let (status, text) = (reply.status().as_u16(), reply.text().await.unwrap());
        let line = format!("{} {path}: {status} {text}", endpoint.method);
        assert!(status < 500 && status != 405 && text != r#"{"error":"404 Not Found"}"#, "{line}");
    }
}

/// The specification has 143 rows; one of them is another row with a parameter.
#[tokio::test]
async fn an_old_server_has_exactly_the_specified_endpoints() {
    let (all, old) = (labscope::backend::routes(false), labscope::backend::routes(true));
    assert_eq!(old.mounted().len(), 142, "a newer endpoint is not marked as newer");
    assert!(all.mounted().len() > old.mounted().len());
    let server =
        Server::with(Options { world: WorldKind::Demo, modes: Modes::of(Version::V10_6), ..Options::default() }).await;
    for (endpoint, route) in labscope::backend::operations().filter(|(_, route)| route.is_unspecified) {
        let slot = |segment: &str| if segment.starts_with('{') { "1".to_owned() } else { segment.to_owned() };
        let path = route.path.split('/').map(slot).collect::<Vec<_>>().join("/");
        for user in ["ada", ""] {
            let reply = server.call(user, endpoint.method.clone(), &path).send().await.unwrap();
            let (status, text) = (reply.status().as_u16(), reply.text().await.unwrap());
            // A path that has another method in the specification is known.
            let fits = |(known, given): (&str, &str)| known == given || known.starts_with('{');
            let has_path = old.routes().iter().any(|known| {
                let known = known.path.trim_start_matches("/api/v4").split('/');
                known.clone().count() == path.split('/').count() && known.zip(path.split('/')).all(fits)
            });
            let expected = match has_path {
                true => (405, r#"{"error":"405 Not Allowed"}"#),
                false => (404, r#"{"error":"404 Not Found"}"#),
            };
            assert_eq!((status, &*text), expected, "{} {path}", endpoint.method);
        }
    }
    let request = server.read("ada", "/projects/acme%2Frocket-ui/merge_requests/42").await;
    let notes = server.read("ada", "/projects/acme%2Frocket-ui/merge_requests/42/notes").await;
    for field in ["detailed_merge_status", "reviewers", "assignees", "diff_refs", "user", "has_conflicts"] {
        assert!(request.get(field).is_none(), "{field}");
    }
    assert!(request["web_url"].as_str().unwrap().ends_with("/acme/rocket-ui/merge_requests/42"));
    for note in notes.as_array().unwrap() {
        assert!(
            ["type", "position", "resolvable", "suggestions"].iter().all(|field| note.get(field).is_none()),
            "{note}"
        );
    }
    assert_eq!((&request["merge_status"], &request["assignee"]["username"]), (&"can_be_merged".into(), &"ada".into()));
}
