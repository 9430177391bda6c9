//! Suggestions: notes that can be applied as commits.

use crate::discussions::{position, post_json, server};
use crate::{Server, each, json};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Method, Response};
use serde_json::{Value, json as value};

const PROJECT: &str = "/projects/ada%2Fhello";
const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";

/// Starts a thread with a suggestion; returns its note.
async fn suggest(server: &Server, place: Value, body: &str) -> Value {
    let body = value!({"body": body, "position": position(server, place).await});
    let made = post_json(server, "cem", &format!("{REQUEST}/discussions"), &body).await;
    json(made, 201).await["notes"][0].clone()
}

async fn apply(server: &Server, user: &str, suggestion: &Value) -> Response {
    server.put(user, &format!("/suggestions/{}/apply", suggestion["id"]), &[]).await
}

async fn says(reply: Response, status: u16) -> String {
    json(reply, status).await["message"].as_str().unwrap().to_owned()
}

/// Returns the lines of the file on the source branch, starting at index 1.
async fn lines(server: &Server) -> Vec<String> {
    let tree = server.read("ada", &format!("{PROJECT}/repository/tree?path=src&ref=louder")).await;
    let path = format!("{PROJECT}/repository/blobs/{}/raw", tree[0]["id"].as_str().unwrap());
    let text = server.get("ada", &path).await.text().await.unwrap();
    std::iter::once("").chain(text.lines()).map(str::to_owned).collect()
}

#[tokio::test]
async fn applying_a_suggestion_commits_to_the_source_branch() {
    let server = server().await;
    let note = suggest(&server, value!({"new_line": 11}), "So?\n\n```suggestion:-1+0\nLINE TEN\n```\n").await;
    let suggestion = &note["suggestions"][0];
    assert_eq!((&suggestion["from_line"], &suggestion["to_line"]), (&value!(10), &value!(11)));
    assert_eq!(
        (&suggestion["from_content"], &suggestion["to_content"]),
        (&value!("LINE 10\nand more\n"), &value!("LINE TEN\n"))
    );
    assert_eq!((&suggestion["appliable"], &suggestion["applied"]), (&value!(true), &value!(false)));
    assert_eq!(says(apply(&server, "cem", suggestion).await, 403).await, "403 Forbidden");
    assert_eq!(apply(&server, "", suggestion).await.status(), 401);
    let applied = json(apply(&server, "bo", suggestion).await, 200).await;
    assert_eq!(
        (&applied["id"], &applied["applied"], &applied["appliable"]),
        (&suggestion["id"], &value!(true), &value!(false))
    );
    assert_eq!(lines(&server).await[9..12], ["line 9", "LINE TEN", "line 11"]);
    let commits = server.read("ada", &format!("{REQUEST}/commits")).await;
    assert_eq!(commits[0]["title"], "Apply 1 suggestion(s) to 1 file(s)");
    assert_eq!(commits[0]["author_name"], "cem");
    // The thread is resolved, and the merge request has a new version.
    let threads = server.read("ada", &format!("{REQUEST}/discussions")).await;
    let thread = threads.as_array().unwrap().iter().find(|row| row["notes"][0]["id"] == note["id"]).unwrap();
    assert_eq!(
        (&thread["notes"][0]["resolved"], &thread["notes"][0]["suggestions"][0]["applied"]),
        (&value!(true), &value!(true))
    );
    assert_eq!(server.read("ada", &format!("{REQUEST}/versions")).await.as_array().unwrap().len(), 2);
    assert_eq!(says(apply(&server, "bo", suggestion).await, 400).await, "This suggestion has already been applied.");
    let unknown = says(apply(&server, "bo", &value!({"id": 999})).await, 404).await;
    assert_eq!(unknown, "Suggestion is not applicable as the suggestion was not found.");
}

#[tokio::test]
async fn several_suggestions_make_one_commit_unless_they_overlap() {
    let server = server().await;
    let a = suggest(&server, value!({"new_line": 10}), "```suggestion\nline ten\n```").await["suggestions"][0].clone();
    let b = suggest(&server, value!({"old_line": 14, "new_line": 15}), "```suggestion:-0+1\n```").await["suggestions"]
        [0]
    .clone();
    let c = suggest(&server, value!({"new_line": 11}), "```suggestion:-1+0\nx\n```").await["suggestions"][0].clone();
    let all = async |ids: Value| {
        let body = value!({"ids": ids, "commit_message": "All of them"});
        server.call("bo", Method::PUT, "/suggestions/batch_apply").json(&body).send().await.unwrap()
    };
    let overlap = says(all(value!([a["id"], c["id"]])).await, 400).await;
    assert!(overlap.contains("cannot overlap"), "{overlap}");
    let applied = json(all(value!([b["id"], a["id"]])).await, 200).await;
    assert!(applied.as_array().unwrap().iter().all(|row| row["applied"] == true), "{applied}");
    let now = lines(&server).await;
    assert_eq!(now[9..15], ["line 9", "line ten", "and more", "line 11", "line 12", "line 13"]);
    assert_eq!(now[15], "line 16", "lines 14 and 15 are gone");
    assert_eq!(each(&server.read("ada", &format!("{REQUEST}/commits")).await, "title")[0], "All of them");
    let changed = says(apply(&server, "bo", &c).await, 400).await;
    assert_eq!(changed, "Can't apply as these lines were changed in a more recent version.");
    assert_eq!(json(all(value!([])).await, 400).await["error"], "ids is empty");
}

#[tokio::test]
async fn suggestions_need_an_open_merge_request_and_a_present_line() {
    let server = server().await;
    let none = suggest(&server, value!({"old_line": 10}), "```suggestion\nx\n```").await;
    assert_eq!(none["suggestions"], value!([]));
    let note = suggest(&server, value!({"new_line": 10}), "Hm").await;
    assert_eq!(note["suggestions"], value!([]));
    // An edited note is parsed again.
    let path = format!("{REQUEST}/notes/{}", note["id"]);
    let same = json(server.put("cem", &path, &[("body", "```suggestion\nLINE 10\n```")]).await, 200).await;
    assert_eq!(same["suggestions"][0]["appliable"], false);
    let refused = says(apply(&server, "bo", &same["suggestions"][0]).await, 400).await;
    assert_eq!(refused, "This suggestion already matches its content.");
    let other = json(server.put("cem", &path, &[("body", "```suggestion\nx\n```")]).await, 200).await;
    json(server.put("bo", REQUEST, &[("state_event", "close")]).await, 200).await;
    let closed = says(apply(&server, "bo", &other["suggestions"][0]).await, 400).await;
    assert_eq!(closed, "This merge request is closed. To apply this suggestion, edit this file directly.");
}

/// Commits a file with these bytes to the source branch, and suggests replacing one of its lines.
async fn suggest_in(server: &Server, content: &[u8], line: u32, body: &str) -> Value {
    let action = value!({"action": "create", "file_path": "src/odd.txt", "content": STANDARD.encode(content),
        "encoding": "base64"});
    let commit = value!({"branch": "louder", "commit_message": "Write", "actions": [action]});
    json(post_json(server, "ada", &format!("{PROJECT}/repository/commits"), &commit).await, 201).await;
    let place = value!({"old_path": "src/odd.txt", "new_path": "src/odd.txt", "new_line": line});
    suggest(server, place, body).await
}

async fn bytes(server: &Server) -> Vec<u8> {
    let tree = server.read("ada", &format!("{PROJECT}/repository/tree?path=src&ref=louder")).await;
    let entry = tree.as_array().unwrap().iter().find(|entry| entry["name"] == "odd.txt").unwrap();
    let path = format!("{PROJECT}/repository/blobs/{}/raw", entry["id"].as_str().unwrap());
    server.get("ada", &path).await.bytes().await.unwrap().to_vec()
}

#[tokio::test]
async fn a_suggestion_changes_no_byte_outside_of_its_lines() {
    let body = "```suggestion\nB\nBB\n```";
    for (before, after) in [
        (&b"a\r\nb\r\nc\r\n"[..], &b"a\r\nB\r\nBB\r\nc\r\n"[..]),
        (b"a\r\nb", b"a\r\nB\r\nBB"),
        (b"a\r\nb\nc\n", b"a\r\nB\nBB\nc\n"),
        ("\u{feff}a\nb\nc".as_bytes(), "\u{feff}a\nB\nBB\nc".as_bytes()),
    ] {
        let server = self::server().await;
        let note = suggest_in(&server, before, 2, body).await;
        json(apply(&server, "bo", &note["suggestions"][0]).await, 200).await;
        assert_eq!(bytes(&server).await, after, "{}", String::from_utf8_lossy(before));
    }
    let server = self::server().await;
    let note = suggest_in(&server, b"a\nb", 2, "```suggestion\n```").await;
    json(apply(&server, "bo", &note["suggestions"][0]).await, 200).await;
    assert_eq!(bytes(&server).await, b"a\n", "the line above keeps its end");
    // A file in another encoding has no suggestions.
    let server = self::server().await;
    let note = suggest_in(&server, b"a\nb\nStra\xdfe\n", 2, body).await;
    assert_eq!(note["suggestions"], value!([]));
}
