//! A server that is killed at any moment keeps everything it acknowledged, and leaves nothing half done.

use crate::header;
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// A `labscope serve` process over a data folder.
struct Process {
    child: Child,
    url: String,
    token: String,
    client: Client,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(data: &Path, ready: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_labscope"));
    command.args(["serve", "--world", "empty", "--data"]).arg(data).arg("--ready-file").arg(ready);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Process {
    async fn start(data: &Path) -> Process {
        let ready = data.with_extension("ready");
        let _ = std::fs::remove_file(&ready);
        let mut child = serve(data, &ready).spawn().expect("the program starts");
        loop {
            if let Ok(text) = std::fs::read_to_string(&ready) {
                let told: Value = serde_json::from_str(&text).expect("the file is written whole");
                let [url, token] = [&told["base_url"], &told["tokens"]["ada"]].map(|v| v.as_str().unwrap().to_owned());
                return Process { child, url, token, client: Client::builder().no_proxy().build().unwrap() };
            }
            assert!(child.try_wait().unwrap().is_none(), "it ended before it was ready");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn caller(&self) -> Caller {
        Caller { url: self.url.clone(), token: self.token.clone(), client: self.client.clone() }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[derive(Clone)]
struct Caller {
    url: String,
    token: String,
    client: Client,
}

impl Caller {
    /// Returns `None` if the server was killed before it answered.
    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Option<Response> {
        let request = self.client.request(method, format!("{}/api/v4{path}", self.url));
        let request = request.header("PRIVATE-TOKEN", &self.token);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        request.send().await.ok()
    }

    async fn read(&self, path: &str) -> Value {
        let reply = self.send(Method::GET, path, None).await.expect("an answer");
        let (status, text) = (reply.status(), reply.text().await.unwrap());
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Returns all pages of a list.
    async fn all(&self, path: &str) -> Vec<Value> {
        let mut out = Vec::new();
        let mut page = "1".to_owned();
        while !page.is_empty() {
            let mark = if path.contains('?') { '&' } else { '?' };
            let path = format!("{path}{mark}per_page=100&page={page}");
            let reply = self.send(Method::GET, &path, None).await.expect("an answer");
            page = header(&reply, "x-next-page").to_owned();
            let rows: Vec<Value> = reply.json().await.unwrap();
            out.extend(rows);
        }
        out
    }
}

/// The writes of all writers that were answered with success.
#[derive(Clone, Default)]
struct Acknowledged {
    commits: Vec<(u64, String, String)>,
    branches: Vec<(u64, String)>,
    gone_branches: Vec<(u64, String)>,
    tags: Vec<(u64, String)>,
    projects: Vec<(u64, String)>,
}

impl Acknowledged {
    fn count(&self) -> usize {
        self.commits.len() + self.branches.len() + self.gone_branches.len() + self.tags.len() + self.projects.len()
    }
}

/// Writes continuously until the server is killed. All names begin with `mark`, which no other writer uses.
async fn write(caller: Caller, mark: String, done: Arc<Mutex<Acknowledged>>) -> Option<()> {
    let made = |method, path: String, body| {
        let caller = &caller;
        async move {
            let reply = caller.send(method, &path, Some(body)).await?;
            let (status, text) = (reply.status(), reply.text().await.ok()?);
            assert!(status.is_success(), "{path}: {status} {text}");
            Some(serde_json::from_str::<Value>(&text).unwrap_or_default())
        }
    };
    for n in 0.. {
        let name = format!("{mark}-{n}");
        let project = made(Method::POST, "/projects".into(), json!({ "name": name })).await?;
        let id = project["id"].as_u64()?;
        done.lock().unwrap().projects.push((id, name));
        for i in 0..3 {
            let action =
                json!({ "action": "create", "file_path": format!("{i}.txt"), "content": format!("{mark} {i}\n") });
            let body = json!({ "branch": "master", "commit_message": format!("Add {i}"), "actions": [action] });
            let commit = made(Method::POST, format!("/projects/{id}/repository/commits"), body).await?;
            let sha = commit["id"].as_str()?.to_owned();
            done.lock().unwrap().commits.push((id, "master".into(), sha));
        }
        let repository = format!("/projects/{id}/repository");
        for branch in ["a/one", "two"] {
            let body = json!({ "branch": branch, "ref": "master" });
            made(Method::POST, format!("{repository}/branches"), body).await?;
            done.lock().unwrap().branches.push((id, branch.into()));
        }
        let body = json!({ "tag_name": "v1", "ref": "master", "message": "One" });
        made(Method::POST, format!("{repository}/tags"), body).await?;
        done.lock().unwrap().tags.push((id, "v1".into()));
        made(Method::DELETE, format!("{repository}/branches/two"), json!({})).await?;
        done.lock().unwrap().gone_branches.push((id, "two".into()));
    }
    None
}

/// Checks the invariants of a world whose server was killed.
async fn is_whole(caller: &Caller, data: &Path, done: &Acknowledged) {
    let projects = caller.all("/projects").await;
    let known: Vec<u64> = projects.iter().map(|project| project["id"].as_u64().unwrap()).collect();
    for (id, name) in &done.projects {
        assert!(known.contains(id), "project {id} {name} is lost");
    }
    for project in &projects {
        let id = project["id"].as_u64().unwrap();
        let branches = caller.all(&format!("/projects/{id}/repository/branches")).await;
        let branches: Vec<&str> = branches.iter().map(|branch| branch["name"].as_str().unwrap()).collect();
        assert_eq!(project["default_branch"].is_null(), branches.is_empty(), "project {id}: {branches:?}");
        let commits = caller.all(&format!("/projects/{id}/repository/commits")).await;
        for (_, branch, sha) in done.commits.iter().filter(|(of, ..)| *of == id) {
            assert!(commits.iter().any(|commit| commit["id"] == sha.as_str()), "{sha} on {branch} of {id} is lost");
        }
        for (_, branch) in done.branches.iter().filter(|(of, _)| *of == id) {
            let was_to_go = branch == "two";
            assert!(branches.contains(&branch.as_str()) || was_to_go, "branch {branch} of {id} is lost");
        }
        for (_, branch) in done.gone_branches.iter().filter(|(of, _)| *of == id) {
            assert!(!branches.contains(&branch.as_str()), "branch {branch} of {id} is back");
        }
        let tags = caller.all(&format!("/projects/{id}/repository/tags")).await;
        assert!(tags.iter().all(|tag| tag["message"] == "One"), "incomplete tag in {id}");
        for (_, name) in done.tags.iter().filter(|(of, _)| *of == id) {
            assert!(tags.iter().any(|tag| tag["name"] == name.as_str()), "tag {name} of {id} is lost");
        }
        whole_repository(&data.join(format!("repositories/{id}.git")));
    }
}

/// Checks that every object reachable from a ref can be read.
fn whole_repository(path: &Path) {
    let repo = git2::Repository::open_bare(path).unwrap();
    for reference in repo.references().unwrap() {
        let commit = reference.unwrap().peel_to_commit().unwrap();
        let mut walk = repo.revwalk().unwrap();
        walk.push(commit.id()).unwrap();
        for id in walk {
            let tree = repo.find_commit(id.unwrap()).unwrap().tree().unwrap();
            tree.walk(git2::TreeWalkMode::PreOrder, |_, entry| {
                repo.find_object(entry.id(), entry.kind()).unwrap();
                git2::TreeWalkResult::Ok
            })
            .unwrap();
        }
    }
}

/// Returns whether git is installed.
fn git() -> bool {
    Command::new("git").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[tokio::test]
async fn a_killed_server_keeps_acknowledged_writes_and_nothing_half_done() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let place: TempDir = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let done = Arc::new(Mutex::new(Acknowledged::default()));
    let mut seed: u64 = 7;
    for round in 0..8 {
        let process = Process::start(&data).await;
        let before = done.lock().unwrap().clone();
        is_whole(&process.caller(), &data, &before).await;
        let writers: Vec<_> =
            (0..4).map(|i| tokio::spawn(write(process.caller(), format!("w{round}-{i}"), done.clone()))).collect();
        // Kills the server at some point during the writes.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wanted = before.count() + 3 + (seed >> 33) as usize % 40;
        while done.lock().unwrap().count() < wanted {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        process.kill();
        for writer in writers {
            assert!(writer.await.expect("no write is refused").is_none());
        }
    }
    let process = Process::start(&data).await;
    let caller = process.caller();
    let all = done.lock().unwrap().clone();
    is_whole(&caller, &data, &all).await;

    let second = serve(&data, &place.path().join("second")).output().unwrap();
    let words = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && words.contains("is in use by another labscope"), "{words}");

    if !git() {
        eprintln!("skipped: there is no git on this machine to clone and check the repositories with");
        return;
    }
    let project = caller.all("/projects").await.into_iter().rev().find(|project| !project["default_branch"].is_null());
    let id = project.expect("a project with a commit")["id"].as_u64().unwrap();
    for entry in std::fs::read_dir(data.join("repositories")).unwrap().flatten() {
        let fsck = Command::new("git").arg("--git-dir").arg(entry.path()).args(["fsck", "--full", "--strict"]).output();
        let fsck = fsck.unwrap();
        assert!(fsck.status.success(), "{:?}: {}", entry.path(), String::from_utf8_lossy(&fsck.stderr));
    }
    let clone = place.path().join("clone");
    let from = data.join(format!("repositories/{id}.git"));
    let cloned = Command::new("git").args(["clone", "--quiet"]).arg(&from).arg(&clone).output().unwrap();
    assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
    let log = caller.read(&format!("/projects/{id}/repository/commits")).await;
    let head = Command::new("git").arg("-C").arg(&clone).args(["rev-parse", "HEAD"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&head.stdout).trim(), log[0]["id"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(clone.join("0.txt")).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn repositories_without_a_project_are_removed_at_the_start() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let place: TempDir = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let process = Process::start(&data).await;
    let form = json!({ "name": "kept" });
    let made = process.caller().send(Method::POST, "/projects", Some(form)).await.expect("an answer");
    let id = made.json::<Value>().await.unwrap()["id"].as_u64().unwrap();
    process.kill();
    let repository = |name: &str| data.join("repositories").join(name);
    // Killed while the second repository was created.
    for name in ["9.git/objects", "notes", "x.git"] {
        std::fs::create_dir_all(repository(name)).unwrap();
    }
    let _process = Process::start(&data).await;
    let there = [&*format!("{id}.git"), "9.git", "notes", "x.git"].map(|name| repository(name).exists());
    assert_eq!(there, [true, false, true, true]);
}

#[tokio::test]
async fn a_killed_server_keeps_approvals_and_merges() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let place: TempDir = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let process = Process::start(&data).await;
    let caller = process.caller();
    let write = async |method, path: &str, body| {
        let reply = caller.send(method, path, Some(body)).await.expect("an answer");
        let (status, text) = (reply.status(), reply.text().await.unwrap());
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let id = write(Method::POST, "/projects", json!({ "name": "kept" })).await["id"].as_u64().unwrap();
    let at = |path: &str| format!("/projects/{id}{path}");
    for (branch, start) in [("main", None), ("one", Some("main")), ("two", Some("main"))] {
        let action = json!({ "action": "create", "file_path": format!("{branch}.txt"), "content": branch });
        let mut body = json!({ "branch": branch, "commit_message": "Add", "actions": [action] });
        if let Some(start) = start {
            body["start_branch"] = start.into();
        }
        write(Method::POST, &at("/repository/commits"), body).await;
    }
    for branch in ["one", "two"] {
        let body = json!({ "source_branch": branch, "target_branch": "main", "title": branch });
        write(Method::POST, &at("/merge_requests"), body).await;
    }
    let approved = write(Method::POST, &at("/merge_requests/1/approve"), json!({})).await;
    let body = json!({ "should_remove_source_branch": true });
    let merged = write(Method::PUT, &at("/merge_requests/2/merge"), body).await;
    process.kill();

    let process = Process::start(&data).await;
    let caller = process.caller();
    let approvals = caller.read(&at("/merge_requests/1/approvals")).await;
    assert_eq!(approvals["approved_by"].as_array().unwrap().len(), 1);
    assert_eq!(approvals["approved_by"][0]["approved_at"], approved["approved_by"][0]["approved_at"]);
    let request = caller.read(&at("/merge_requests/2")).await;
    assert_eq!((&request["state"], &request["merge_commit_sha"]), (&json!("merged"), &merged["merge_commit_sha"]));
    let branches = caller.read(&at("/repository/branches")).await;
    let heads: Vec<(&Value, &Value)> =
        branches.as_array().unwrap().iter().map(|branch| (&branch["name"], &branch["commit"]["id"])).collect();
    assert_eq!((heads[0], heads.len()), ((&json!("main"), &merged["merge_commit_sha"]), 2));
    whole_repository(&data.join(format!("repositories/{id}.git")));
}
