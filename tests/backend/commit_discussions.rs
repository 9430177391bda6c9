//! Threads of comments on commits.

use crate::{Server, WORLD, each, json};
use reqwest::Method;
use serde_json::{Value, json as value};

const COMMIT: &str = "/projects/1/repository/commits/louder";

async fn post(server: &Server, user: &str, body: Value) -> reqwest::Response {
    let path = format!("{COMMIT}/discussions");
    server.call(user, Method::POST, &path).json(&body).send().await.unwrap()
}

#[tokio::test]
async fn comments_on_a_commit_form_threads() {
    let server = Server::of(WORLD, &Default::default()).await;
    json(server.post("bo", &format!("{COMMIT}/comments"), &[("note", "Fine.")]).await, 201).await;
    let made = json(post(&server, "eve", value!({"body": "Why?"})).await, 201).await;
    let note = &made["notes"][0];
    assert_eq!((&made["individual_note"], &note["type"]), (&value!(false), &value!("DiscussionNote")));
    assert_eq!((&note["noteable_type"], &note["resolvable"]), (&value!("Commit"), &value!(false)));
    let all = server.read("ada", &format!("{COMMIT}/discussions")).await;
    assert_eq!((&all[0]["individual_note"], &all[1]), (&value!(true), &made));
    assert_eq!(each(&server.read("", &format!("{COMMIT}/comments")).await, "note"), ["Fine.", "Why?"]);

    let path = format!("{COMMIT}/discussions/{}", made["id"].as_str().unwrap());
    assert_eq!(server.read("bo", &path).await, made);
    let reply = json(server.post("bo", &format!("{path}/notes"), &[("body", "So.")]).await, 201).await;
    let one = format!("{path}/notes/{}", reply["id"]);
    assert_eq!(server.read("eve", &one).await["body"], "So.");
    json(server.put("eve", &one, &[("body", "No.")]).await, 403).await;
    assert_eq!(json(server.put("bo", &one, &[("body", "So it is.")]).await, 200).await["body"], "So it is.");
    json(server.delete("eve", &one).await, 403).await;
    assert_eq!(server.delete("bo", &one).await.status(), 204);
    json(server.get("bo", &one).await, 404).await;
    let single = format!("{COMMIT}/discussions/{}/notes", all[0]["id"].as_str().unwrap());
    json(server.post("bo", &single, &[("body", "x")]).await, 400).await;
    let empty = json(post(&server, "bo", value!({"body": " "})).await, 400).await;
    assert_eq!(empty["message"], "400 Bad request - Note {:note=>[\"can't be blank\"]}");
    json(post(&server, "", value!({"body": "x"})).await, 401).await;
}

#[tokio::test]
async fn a_thread_on_a_commit_has_a_position_in_its_diff() {
    let server = Server::of(WORLD, &Default::default()).await;
    let commit = server.read("", COMMIT).await;
    let (head, base) = (&commit["id"], &commit["parent_ids"][0]);
    let position = value!({"position_type": "text", "base_sha": base, "start_sha": base, "head_sha": head,
        "old_path": "src/main.rs", "new_path": "src/main.rs", "new_line": 2});
    let made = json(post(&server, "bo", value!({"body": "Here", "position": position})).await, 201).await;
    assert_eq!(made["notes"][0]["type"], "DiffNote");
    assert_eq!(made["notes"][0]["position"]["new_line"], 2);
    let comment = server.read("", &format!("{COMMIT}/comments")).await;
    assert_eq!((&comment[0]["path"], &comment[0]["line"]), (&value!("src/main.rs"), &value!(2)));
    let mut wrong = position.clone();
    wrong["new_line"] = value!(77);
    json(post(&server, "bo", value!({"body": "Here", "position": wrong})).await, 400).await;
}
