//! A data folder: everything that was acknowledged survives the end of the process.

use crate::{Server, each, json};
use labscope::backend::{Options, start};
use std::path::Path;

fn at(folder: &Path) -> Options {
    Options { data: Some(folder.to_path_buf()), ..Options::default() }
}

#[tokio::test]
async fn data_survives_a_restart_and_ids_continue() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::with(at(folder.path())).await;
    let token = server.token("ada").to_owned();
    json(server.post("ada", "/projects", &[("name", "One")]).await, 201).await;
    json(server.post("ada", "/projects", &[("name", "Two")]).await, 201).await;
    server.running.stop().await;

    let server = Server::with(at(folder.path())).await;
    assert_eq!(server.token("ada"), token, "tokens survive a restart");
    assert_eq!(each(&server.read("ada", "/projects").await, "name"), ["Two", "One"]);
    let three = json(server.post("ada", "/projects", &[("name", "Three")]).await, 201).await;
    assert_eq!(three["id"], 3);
}

#[tokio::test]
async fn a_folder_or_port_in_use_gets_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::with(at(folder.path())).await;
    let error = start(at(folder.path())).await.unwrap_err().to_string();
    assert!(error.contains("is in use by another labscope"), "{error}");
    let listen = server.running.base_url.trim_start_matches("http://").parse().unwrap();
    let error = start(Options { listen, ..Options::default() }).await.unwrap_err().to_string();
    assert!(error.contains("is in use; stop the program that listens there"), "{error}");
}

#[tokio::test]
async fn a_server_without_a_data_folder_leaves_no_files_behind() {
    let server = Server::empty().await;
    let project = json(server.post("ada", "/projects", &[("name", "One")]).await, 201).await;
    assert_eq!(project["id"], 1);
    // Other servers have temporary folders, too; this branch identifies ours.
    let branch = format!("only-here-{}", std::process::id());
    let actions = serde_json::json!([{"action": "create", "file_path": "a", "content": "a"}]);
    let commit = serde_json::json!({"branch": branch, "commit_message": "One", "actions": actions});
    let made = server.call("ada", reqwest::Method::POST, "/projects/1/repository/commits").json(&commit);
    json(made.send().await.unwrap(), 201).await;
    let is_there = || {
        let mut entries = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let head = std::path::Path::new("repositories/1.git/refs/heads").join(&branch);
        entries.any(|entry| entry.path().join(&head).exists())
    };
    assert!(is_there());
    server.running.stop().await;
    assert!(!is_there());
}
