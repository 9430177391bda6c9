//! Resources as servers send them, for the scripted replies of several tests. Each is a small valid reply; a test adds
//! the fields that it is about by [`With::with`].

use serde_json::{Value, json};

/// The time at which the resources were created, two hours before the tests' clock.
const CREATED: &str = "2026-06-15T10:00:00Z";

/// A resource whose fields can be changed.
pub trait With {
    /// Adds `fields`, an object, and replaces those that are there.
    fn with(self, fields: Value) -> Self;
}

impl With for Value {
    fn with(mut self, fields: Value) -> Value {
        let Value::Object(fields) = fields else { panic!("no object: {fields}") };
        for (name, value) in fields {
            self[name] = value;
        }
        self
    }
}

pub fn user(id: u64, username: &str) -> Value {
    json!({"id": id, "username": username, "name": username.to_uppercase(), "state": "active"})
}

/// Returns a public project; its name is the last part of its path.
pub fn project(id: u64, path: &str) -> Value {
    let name = path.rsplit('/').next();
    json!({"id": id, "name": name, "path": name, "path_with_namespace": path, "default_branch": "main",
        "visibility": "public", "last_activity_at": CREATED})
}

/// Returns a commit by Ada without parents, of a full SHA.
pub fn commit(sha: &str, title: &str, date: &str) -> Value {
    json!({"id": sha, "short_id": sha.get(..8), "title": title, "message": title, "parent_ids": [],
        "author_name": "Ada", "author_email": "ada@acme.test", "authored_date": date, "created_at": date,
        "committer_name": "Ada", "committer_email": "ada@acme.test", "committed_date": date})
}

/// Returns an entry of a tree with a mode: a folder, a submodule or a file.
pub fn tree_entry(path: &str, mode: &str) -> Value {
    let kind = match mode {
        "040000" => "tree",
        "160000" => "commit",
        _ => "blob",
    };
    json!({"id": blob_id(path), "name": path.rsplit('/').next(), "path": path, "type": kind, "mode": mode})
}

/// Returns an entry of a tree for a file.
pub fn file(path: &str) -> Value {
    tree_entry(path, "100644")
}

/// Returns an entry of a tree for a folder.
pub fn folder(path: &str) -> Value {
    tree_entry(path, "040000")
}

/// Returns the ID of the blob of a [`tree_entry`].
pub fn blob_id(path: &str) -> String {
    format!("sha-of-{}", path.replace('/', "-"))
}

pub fn merge_request(iid: u64, title: &str, state: &str) -> Value {
    json!({
        "id": 1000 + iid, "iid": iid, "project_id": 7, "title": title, "state": state,
        "description": format!("Why **{title}** matters."),
        "created_at": "2026-06-13T12:00:00Z", "updated_at": "2026-06-15T09:00:00Z",
        "web_url": format!("http://demo.test/acme/rocket-ui/merge_requests/{iid}"),
        "source_branch": format!("feature/{iid}"), "target_branch": "main",
        "author": {"id": 2, "username": "bo"}, "labels": ["ui", "speed"], "user_notes_count": 3,
        "merge_status": "can_be_merged", "source_project_id": 7, "target_project_id": 7,
    })
}

pub fn issue(iid: u64, title: &str, state: &str) -> Value {
    json!({"id": 1000 + iid, "iid": iid, "project_id": 7, "title": title, "state": state,
        "description": format!("Why **{title}** matters."), "labels": [], "author": {"id": 2, "username": "bo"},
        "created_at": "2026-06-13T12:00:00Z", "updated_at": "2026-06-15T09:00:00Z",
        "web_url": format!("http://demo.test/acme/rocket-ui/-/issues/{iid}")})
}

/// Returns a file of the changes of a commit or a merge request.
pub fn changed_file(path: &str, diff: &str) -> Value {
    json!({"old_path": path, "new_path": path, "diff": diff})
}

/// Returns a note by `author`: `ada` has the ID 1, everybody else 2.
pub fn note(id: u64, author: &str, body: &str) -> Value {
    let number = if author == "ada" { 1 } else { 2 };
    json!({"id": id, "body": body, "author": {"id": number, "username": author}, "system": false,
        "created_at": CREATED, "updated_at": CREATED})
}

/// Returns a pipeline whose SHA is its ID after zeros.
pub fn pipeline(id: u64, git_ref: &str, status: &str) -> Value {
    json!({"id": id, "project_id": 7, "ref": git_ref, "sha": format!("{id:0>40}"), "status": status, "source": "web",
        "created_at": "2026-06-15T11:58:00Z", "updated_at": "2026-06-15T11:59:30Z"})
}

/// Returns a job of the stage test that was created ten minutes ago, and has not been started.
pub fn job(id: u64, name: &str, status: &str) -> Value {
    json!({"id": id, "name": name, "stage": "test", "status": status, "ref": "main",
        "created_at": "2026-06-15T11:50:00Z"})
}

pub fn label(id: u64, name: &str, color: &str) -> Value {
    json!({"id": id, "name": name, "color": color, "description": format!("About {name}."), "is_project_label": true})
}

/// Returns a branch that is not merged. The one with the name main is the default branch.
pub fn branch(name: &str, commit: Value) -> Value {
    json!({"name": name, "commit": commit, "merged": false, "protected": false, "default": name == "main"})
}

/// Returns a deployment by a job with this status, of the commit whose SHA repeats `sha`.
pub fn deployment(id: u64, environment: &str, sha: char, status: &str) -> Value {
    let sha = sha.to_string().repeat(40);
    let commit = commit(&sha, "Draw only visible rows", "2026-06-15T08:00:00Z");
    let job = job(id + 1000, &format!("to {environment}"), status);
    json!({"id": id, "iid": id + 100, "ref": "main", "sha": sha, "created_at": "2026-06-15T09:00:00Z",
        "user": {"id": 1, "username": "ada", "name": "Ada"},
        "environment": {"id": 4, "name": environment, "external_url": format!("https://{environment}.example.org")},
        "deployable": job.with(json!({"stage": "deploy", "commit": commit}))})
}
