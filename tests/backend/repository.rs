//! Commits that are made over HTTP, and that stock git reads.

use crate::{Server, json};
use reqwest::Method;
use serde_json::{Value, json as value};

async fn commit(server: &Server, body: Value) -> reqwest::Response {
    server.call("ada", Method::POST, "/projects/1/repository/commits").json(&body).send().await.unwrap()
}

#[tokio::test]
async fn files_are_created_changed_moved_and_deleted_in_commits() {
    let server = Server::empty().await;
    json(server.post("ada", "/projects", &[("name", "Notes")]).await, 201).await;
    let first = value!({"branch": "master", "commit_message": "Begin", "actions": [
        {"action": "create", "file_path": "a.txt", "content": "one\n"},
        {"action": "create", "file_path": "deep/b.bin", "content": "AAE=", "encoding": "base64"},
    ]});
    let first = json(commit(&server, first).await, 201).await;
    assert_eq!(first["stats"]["additions"], 1);
    assert_eq!(server.read("ada", "/projects/1").await["default_branch"], "master");

    let second = value!({"branch": "next", "start_branch": "master", "commit_message": "Go on", "actions": [
        {"action": "update", "file_path": "a.txt", "content": "two\n", "last_commit_id": first["id"]},
        {"action": "move", "file_path": "c.bin", "previous_path": "deep/b.bin"},
    ]});
    let second = json(commit(&server, second).await, 201).await;
    let tree = server.read("ada", "/projects/1/repository/tree?ref=next&recursive=1").await;
    assert_eq!(crate::each(&tree, "path"), ["a.txt", "c.bin"]);

    let refused = |action: Value| {
        let body = value!({"branch": "master", "commit_message": "x", "actions": [action]});
        let server = &server;
        async move { json(commit(server, body).await, 400).await["message"].as_str().unwrap().to_owned() }
    };
    let create = value!({"action": "create", "file_path": "a.txt", "content": ""});
    assert_eq!(refused(create).await, "A file with this name already exists");
    let delete = value!({"action": "delete", "file_path": "z.txt"});
    assert_eq!(refused(delete).await, "A file with this name doesn't exist");
    let escape = value!({"action": "create", "file_path": "../x", "content": ""});
    assert_eq!(refused(escape).await, "Path cannot include directory traversal");
    let stale = value!({"action": "update", "file_path": "a.txt", "content": "", "last_commit_id": "0123"});
    assert_eq!(refused(stale).await, "The file has changed since you started editing it: a.txt");

    let pick = format!("/projects/1/repository/commits/{}/cherry_pick", second["id"].as_str().unwrap());
    let picked = json(server.post("ada", &pick, &[("branch", "master")]).await, 201).await;
    assert!(
        picked["message"]
            .as_str()
            .unwrap()
            .ends_with(&format!("(cherry picked from commit {})", second["id"].as_str().unwrap()))
    );
    assert_eq!(
        json(server.post("ada", &pick, &[("branch", "nowhere")]).await, 404).await["message"],
        "404 Branch Not Found"
    );
    let again = json(server.post("ada", &pick, &[("branch", "master")]).await, 400).await;
    assert!(again["message"].as_str().unwrap().starts_with("Sorry, we cannot cherry-pick this commit automatically."));
}
