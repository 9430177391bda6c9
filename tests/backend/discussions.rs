//! Threads: positions on lines, replies, and resolving.

use crate::{Server, each, header, json};
use reqwest::{Method, Response};
use serde_json::{Value, json as value};
use std::fmt::Write;

const PROJECT: &str = "/projects/ada%2Fhello";
const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";
const HEAD: &str = "abcdef0123456789abcdef0123456789abcdef01";

/// Returns a world with a merge request that replaces the tenth of thirty lines with two lines.
pub fn world() -> String {
    let mut lines = String::new();
    (1..=30).for_each(|n| _ = writeln!(lines, "line {n}"));
    format!(
        r#"
now = "2026-11-20T16:00:00Z"
users = [
    {{ username = "root", admin = true }},
    {{ username = "ada", name = "Ada Sommer" }},
    {{ username = "bo", name = "Bo Lind" }},
    {{ username = "cem" }},
    {{ username = "eve" }},
]

[[projects]]
path = "ada/hello"
visibility = "public"
members = {{ bo = "developer", cem = "reporter" }}
files = """
-- src/text.txt --
{lines}"""
script = """
from 2026-11-02
to 2026-11-20
bo: Write lines
  + src/text.txt
branch louder
bo: Say it louder
  ~ src/text.txt
    < line 10
    > LINE 10
    > and more
"""

[[merge_requests]]
project = "ada/hello"
iid = 1
title = "Louder"
description = "So that all hear."
source = "louder"
author = "bo"
created = "1d"
notes = [["cem", "2h", "Why?"], ["*bo", "1h", "changed the description"]]

[[issues]]
project = "ada/hello"
iid = 1
title = "Too quiet"
author = "eve"
created = "2d"
notes = [["bo", "1d", "Is it?"]]

[[snippets]]
project = "ada/hello"
title = "A snippet"
file_name = "a.txt"
content = "a"
visibility = "public"
author = "ada"
created = "2d"
notes = [["bo", "1d", "Nice."]]
"#
    )
}

pub async fn server() -> Server {
    Server::of(&world(), &Default::default()).await
}

pub async fn post_json(server: &Server, user: &str, path: &str, body: &Value) -> Response {
    server.call(user, Method::POST, path).json(body).send().await.unwrap()
}

/// Commits a text to a file on the source branch.
async fn push(server: &Server, path: &str, text: &str) -> String {
    let body = value!({"branch": "louder", "commit_message": "Push",
        "actions": [{"action": "update", "file_path": path, "content": text}]});
    let made = json(post_json(server, "bo", &format!("{PROJECT}/repository/commits"), &body).await, 201).await;
    made["id"].as_str().unwrap().to_owned()
}

/// Returns a position in the latest version.
pub async fn position(server: &Server, more: Value) -> Value {
    let refs = server.read("ada", REQUEST).await["diff_refs"].clone();
    let mut position = value!({"position_type": "text", "old_path": "src/text.txt", "new_path": "src/text.txt"});
    for part in [refs, more] {
        position.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
    }
    position
}

async fn says(reply: Response, status: u16) -> String {
    json(reply, status).await["message"].as_str().unwrap().to_owned()
}

/// Starts a thread on lines of the diff.
pub async fn comment(server: &Server, user: &str, more: Value) -> Response {
    let position = position(server, more).await;
    post_json(server, user, &format!("{REQUEST}/discussions"), &value!({"body": "Here", "position": position})).await
}

#[tokio::test]
async fn every_note_belongs_to_a_thread_and_pages_count_threads() {
    let server = server().await;
    let list = format!("{REQUEST}/discussions");
    let first = server.read("eve", &list).await;
    assert_eq!(first.as_array().unwrap().len(), 2);
    assert_eq!((&first[0]["individual_note"], &first[0]["notes"][0]["body"]), (&value!(true), &value!("Why?")));
    assert_eq!((&first[0]["notes"][0]["resolvable"], &first[0]["notes"][0]["type"]), (&value!(false), &Value::Null));
    assert_eq!((&first[1]["notes"][0]["system"], &first[1]["individual_note"]), (&value!(true), &value!(true)));
    let id = first[0]["id"].as_str().unwrap().to_owned();
    assert!(id.len() == 40 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");

    let made = json(post_json(&server, "eve", &list, &value!({"body": "And how?"})).await, 201).await;
    assert_eq!((&made["individual_note"], &made["notes"][0]["type"]), (&value!(false), &value!("DiscussionNote")));
    assert_eq!((&made["notes"][0]["resolvable"], &made["notes"][0]["resolved"]), (&value!(true), &value!(false)));
    let thread = format!("{list}/{}/notes", made["id"].as_str().unwrap());
    let reply = json(server.post("bo", &thread, &[("body", "So.")]).await, 201).await;
    assert_eq!((&reply["type"], &reply["author"]["username"]), (&value!("DiscussionNote"), &value!("bo")));
    // Threads are listed oldest first; pages count threads, and replies are nested in their thread.
    let page = server.get("eve", &format!("{list}?per_page=1&page=3")).await;
    assert_eq!((header(&page, "x-total"), header(&page, "x-next-page")), ("3", ""));
    let page = json(page, 200).await;
    assert_eq!((page[0]["id"].clone(), each(&page[0]["notes"], "body")), (made["id"].clone(), vec!["And how?", "So."]));
    // In the list of notes, each note has the same type as in its thread.
    let notes = server.read("eve", &format!("{REQUEST}/notes?sort=asc")).await;
    assert_eq!(each(&notes, "body"), ["Why?", "changed the description", "And how?", "So."]);
    assert_eq!(each(&notes, "type"), ["", "", "DiscussionNote", "DiscussionNote"]);
    assert!(notes[0]["resolvable"] == false && notes[2]["resolvable"] == true, "{notes}");

    // A reply turns a single comment into a thread with the same ID.
    json(server.post("ada", &format!("{list}/{id}/notes"), &[("body", "Because")]).await, 201).await;
    let first = server.read("eve", &list).await[0].clone();
    assert_eq!((&first["id"], &first["individual_note"]), (&value!(id), &value!(false)));
    assert_eq!(each(&first["notes"], "body"), ["Why?", "Because"]);
    let system = format!("{list}/{}/notes", server.read("eve", &list).await[1]["id"].as_str().unwrap());
    let refused = says(server.post("ada", &system, &[("body", "x")]).await, 400).await;
    assert!(refused.contains("system notes"), "{refused}");
    let blank = says(server.post("ada", &list, &[("body", " ")]).await, 400).await;
    assert_eq!(blank, "400 Bad request - Note {:note=>[\"can't be blank\"]}");
    assert_eq!(json(server.post("ada", &list, &[]).await, 400).await["error"], "body is missing");
    let unknown = server.post("ada", &format!("{list}/{HEAD}/notes"), &[("body", "x")]).await;
    assert_eq!(says(unknown, 404).await, "404 Discussion Not Found");
    assert_eq!(says(server.get("", &list).await, 401).await, "401 Unauthorized");

    // Deleting the last note deletes the thread.
    for note in made["notes"].as_array().unwrap().iter().chain([&reply]) {
        assert_eq!(server.delete("ada", &format!("{REQUEST}/notes/{}", note["id"])).await.status(), 204);
    }
    assert_eq!(server.read("eve", &list).await.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_thread_with_an_invalid_position_is_refused() {
    let server = server().await;
    for (lines, kept) in [
        (value!({"new_line": 10}), (Value::Null, value!(10))),
        (value!({"new_line": 11}), (Value::Null, value!(11))),
        (value!({"old_line": 10}), (value!(10), Value::Null)),
        (value!({"old_line": 9, "new_line": 9}), (value!(9), value!(9))),
        (value!({"old_line": 11, "new_line": 12}), (value!(11), value!(12))),
        // Lines outside of the hunks.
        (value!({"old_line": 1, "new_line": 1}), (value!(1), value!(1))),
        (value!({"old_line": 25, "new_line": 26}), (value!(25), value!(26))),
        (value!({"position_type": "file"}), (Value::Null, Value::Null)),
    ] {
        let made = json(comment(&server, "eve", lines.clone()).await, 201).await;
        let note = &made["notes"][0];
        assert_eq!((&note["type"], &made["individual_note"]), (&value!("DiffNote"), &value!(false)), "{lines}");
        assert_eq!((&note["position"]["old_line"], &note["position"]["new_line"]), (&kept.0, &kept.1), "{lines}");
        assert_eq!(note["position"]["new_path"], "src/text.txt");
    }
    let refs = server.read("ada", REQUEST).await["diff_refs"].clone();
    for lines in [
        value!({"new_line": 9}),
        value!({"old_line": 9}),
        value!({"old_line": 10, "new_line": 10}),
        value!({"old_line": 25, "new_line": 25}),
        value!({"old_line": 31, "new_line": 32}),
        value!({"new_line": 999}),
        value!({"new_line": 10, "new_path": "src/other.txt"}),
        value!({"new_line": 10, "head_sha": HEAD}),
        value!({"new_line": 10, "base_sha": refs["head_sha"]}),
    ] {
        let refused = says(comment(&server, "eve", lines.clone()).await, 400).await;
        let text = "400 Bad request - Note {:line_code=>[\"can't be blank\", \"must be a valid line code\"]}";
        assert_eq!(refused, text, "{lines}");
    }
    assert!(says(comment(&server, "eve", value!({})).await, 400).await.contains("is incomplete"));
    let missing = comment(&server, "eve", value!({"new_line": 10, "head_sha": ""})).await;
    assert_eq!(json(missing, 400).await["error"], "position[head_sha] is missing");
    let unknown = comment(&server, "eve", value!({"new_line": 10, "position_type": "sound"})).await;
    assert_eq!(json(unknown, 400).await["error"], "position[position_type] does not have a valid value");
    // Open threads block only if the project asks for that (`MergeRequest#mergeable_discussions_state?`).
    assert_eq!(server.read("eve", REQUEST).await["blocking_discussions_resolved"], true);
    let asks = [("only_allow_merge_if_all_discussions_are_resolved", "true")];
    json(server.put("ada", PROJECT, &asks).await, 200).await;
    assert_eq!(server.read("eve", REQUEST).await["blocking_discussions_resolved"], false);
}

#[tokio::test]
async fn a_thread_moves_with_its_line_and_becomes_outdated_without_it() {
    let server = server().await;
    let versions = format!("{REQUEST}/versions");
    let range = |first: u32, last: u32| {
        let end =
            |line: u32| value!({"line_code": labscope::api::notes::line_code("src/text.txt", 11, line), "type": "new"});
        value!({"new_line": last, "line_range": {"start": end(first), "end": end(last)}})
    };
    let ids = [
        json(comment(&server, "eve", value!({"new_line": 10})).await, 201).await,
        json(comment(&server, "eve", range(10, 11)).await, 201).await,
        json(comment(&server, "eve", value!({"old_line": 10})).await, 201).await,
        json(comment(&server, "eve", value!({"old_line": 20, "new_line": 21})).await, 201).await,
    ]
    .map(|made| made["id"].as_str().unwrap().to_owned());
    let before = server.read("ada", REQUEST).await["diff_refs"].clone();
    let text = server
        .get("ada", &format!("{PROJECT}/repository/blobs/{}/raw", blob(&server).await))
        .await
        .text()
        .await
        .unwrap();
    let head = push(&server, "src/text.txt", &format!("new\n{}", text.replace("line 20\n", "LINE 20\n"))).await;
    let listed = server.read("eve", &versions).await;
    assert_eq!(each(&listed, "head_commit_sha"), [&*head, before["head_sha"].as_str().unwrap()]);
    assert_eq!((&listed[0]["state"], &listed[0]["real_size"]), (&value!("collected"), &value!("1")));
    assert_eq!(server.read("ada", REQUEST).await["diff_refs"]["head_sha"], value!(head));
    let threads = server.read("eve", &format!("{REQUEST}/discussions?per_page=100")).await;
    let positions = ids.map(|id| {
        let thread = threads.as_array().unwrap().iter().find(|thread| thread["id"] == id).unwrap();
        thread["notes"][0]["position"].clone()
    });
    let [added, several, removed, context] = &positions;
    assert_eq!((&added["new_line"], &added["head_sha"]), (&value!(11), &value!(head)));
    assert_eq!((&several["new_line"], &several["head_sha"]), (&value!(12), &value!(head)));
    assert!(several["line_range"]["start"]["line_code"].as_str().unwrap().ends_with("_11_11"), "{several}");
    assert_eq!((&removed["old_line"], &removed["head_sha"]), (&value!(10), &value!(head)));
    // The line was changed.
    assert_eq!((&context["new_line"], &context["head_sha"]), (&value!(21), &before["head_sha"]));

    // A thread created on an older version moves to the current position of its line.
    let mut old = value!({"new_line": 11});
    old.as_object_mut().unwrap().extend(before.as_object().unwrap().clone());
    let late = json(comment(&server, "eve", old).await, 201).await["notes"][0]["position"].clone();
    assert_eq!((&late["new_line"], &late["head_sha"]), (&value!(12), &value!(head)));
}

#[tokio::test]
async fn outdated_threads_are_resolved_if_the_project_says_so() {
    let server = server().await;
    json(server.put("ada", PROJECT, &[("resolve_outdated_diff_discussions", "true")]).await, 200).await;
    for line in [10, 11] {
        json(comment(&server, "cem", value!({"new_line": line})).await, 201).await;
    }
    let path = format!("{PROJECT}/repository/blobs/{}/raw", blob(&server).await);
    let text = server.get("ada", &path).await.text().await.unwrap();
    push(&server, "src/text.txt", &text.replace("LINE 10", "Line 10")).await;
    let threads = server.read("eve", &format!("{REQUEST}/discussions?per_page=100")).await;
    let notes = threads.as_array().unwrap().iter().map(|thread| &thread["notes"][0]);
    let notes: Vec<&Value> = notes.filter(|note| note["type"] == "DiffNote").collect();
    assert_eq!((&notes[0]["resolved"], &notes[0]["resolved_by"]["username"]), (&value!(true), &value!("bo")));
    assert_eq!((&notes[1]["resolved"], &notes[1]["position"]["new_line"]), (&value!(false), &value!(11)));
}

/// Returns the blob SHA of the file on the source branch.
async fn blob(server: &Server) -> String {
    let tree = server.read("ada", &format!("{PROJECT}/repository/tree?path=src&ref=louder")).await;
    tree[0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn threads_can_be_resolved_by_their_author_and_developers() {
    let server = server().await;
    let list = format!("{REQUEST}/discussions");
    let made = json(comment(&server, "cem", value!({"new_line": 10})).await, 201).await;
    let thread = format!("{list}/{}", made["id"].as_str().unwrap());
    let reply = format!("{thread}/notes");
    json(server.post("bo", &reply, &[("body", "Done")]).await, 201).await;
    assert_eq!(says(server.put("eve", &thread, &[("resolved", "true")]).await, 403).await, "403 Forbidden");
    // The author of the thread, the author of the merge request, and a developer.
    for user in ["cem", "bo", "ada"] {
        let resolved = json(server.put(user, &thread, &[("resolved", "true")]).await, 200).await;
        for note in resolved["notes"].as_array().unwrap() {
            assert_eq!((&note["resolved"], &note["resolved_by"]["username"]), (&value!(true), &value!(user)));
        }
        assert_eq!(server.read("eve", REQUEST).await["blocking_discussions_resolved"], true);
        let again = json(server.post("eve", &reply, &[("body", "Is it?")]).await, 201).await;
        assert_eq!(again["resolved"], true, "a reply leaves it resolved");
        let open = json(server.put(user, &thread, &[("resolved", "false")]).await, 200).await;
        assert!(open["notes"].as_array().unwrap().iter().all(|note| note["resolved"] == false));
    }
    let notes = server.read("eve", &format!("{REQUEST}/notes?per_page=100")).await;
    assert_eq!(each(&notes, "body").iter().filter(|body| **body == "resolved all threads").count(), 3);
    let single = server.read("eve", &list).await[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        says(server.put("ada", &format!("{list}/{single}"), &[("resolved", "true")]).await, 403).await,
        "403 Forbidden"
    );
    assert_eq!(json(server.put("ada", &thread, &[]).await, 400).await["error"], "resolved is missing");
}

#[tokio::test]
async fn issue_threads_can_be_resolved_but_snippet_threads_cannot() {
    let server = server().await;
    let list = format!("{PROJECT}/issues/1/discussions");
    let made = json(post_json(&server, "cem", &list, &value!({"body": "How quiet?"})).await, 201).await;
    let thread = format!("{list}/{}", made["id"].as_str().unwrap());
    json(server.post("eve", &format!("{thread}/notes"), &[("body", "Very.")]).await, 201).await;
    let resolved = json(server.put("eve", &thread, &[("resolved", "true")]).await, 200).await;
    assert_eq!(each(&resolved["notes"], "body"), ["How quiet?", "Very."]);
    assert_eq!((&resolved["notes"][1]["resolved"], &resolved["notes"][0]["noteable_iid"]), (&value!(true), &value!(1)));
    assert_eq!(server.read("eve", &list).await.as_array().unwrap().len(), 2);

    let list = format!("{PROJECT}/snippets/1/discussions");
    let made = json(post_json(&server, "cem", &list, &value!({"body": "Short."})).await, 201).await;
    assert_eq!(
        (&made["notes"][0]["type"], &made["notes"][0]["resolvable"]),
        (&value!("DiscussionNote"), &value!(false))
    );
    let thread = format!("{list}/{}", made["id"].as_str().unwrap());
    json(server.post("ada", &format!("{thread}/notes"), &[("body", "It is.")]).await, 201).await;
    let single = format!("{list}/{}/notes", server.read("eve", &list).await[0]["id"].as_str().unwrap());
    let refused = says(server.post("ada", &single, &[("body", "x")]).await, 400).await;
    assert_eq!(refused, "400 Bad request - Discussion can not be replied to.");
    assert!(server.put("ada", &thread, &[("resolved", "true")]).await.status().is_client_error());
}

#[tokio::test]
async fn a_project_can_require_resolved_threads_for_a_merge() {
    let server = server().await;
    let form = [("only_allow_merge_if_all_discussions_are_resolved", "true")];
    json(server.put("ada", PROJECT, &form).await, 200).await;
    let made = json(comment(&server, "cem", value!({"new_line": 10})).await, 201).await;
    assert_eq!(server.read("ada", REQUEST).await["detailed_merge_status"], "discussions_not_resolved");
    let merge = format!("{REQUEST}/merge");
    assert_eq!(says(server.put("ada", &merge, &[]).await, 405).await, "405 Method Not Allowed");
    let thread = format!("{REQUEST}/discussions/{}", made["id"].as_str().unwrap());
    json(server.put("bo", &thread, &[("resolved", "true")]).await, 200).await;
    assert_eq!(json(server.put("ada", &merge, &[]).await, 200).await["state"], "merged");
}

#[tokio::test]
async fn a_thread_on_one_commit_moves_to_the_full_diff_without_commit_id() {
    let server = server().await;
    let first = server.read("ada", REQUEST).await["diff_refs"].clone();
    let path = format!("{PROJECT}/repository/blobs/{}/raw", blob(&server).await);
    let text = server.get("ada", &path).await.text().await.unwrap();
    let second = push(&server, "src/text.txt", &format!("first of all\n{text}")).await;
    // The line added by the pushed commit, relative to its parent.
    let between = value!({"base_sha": first["head_sha"], "start_sha": first["head_sha"], "head_sha": second,
        "position_type": "text", "old_path": "src/text.txt", "new_path": "src/text.txt", "new_line": 1});
    let body = value!({"body": "Here", "position": between});
    let made = json(post_json(&server, "ada", &format!("{REQUEST}/discussions"), &body).await, 201).await;
    let refs = server.read("ada", REQUEST).await["diff_refs"].clone();
    let at = &made["notes"][0]["position"];
    assert_eq!((&at["base_sha"], &at["head_sha"], &at["new_line"]), (&refs["base_sha"], &refs["head_sha"], &value!(1)));
    // A line of the first commit now has a different number.
    let older = value!({"base_sha": first["base_sha"], "start_sha": first["base_sha"], "head_sha": first["head_sha"],
        "position_type": "text", "old_path": "src/text.txt", "new_path": "src/text.txt", "new_line": 11});
    let body = value!({"body": "There", "position": older});
    let made = json(post_json(&server, "ada", &format!("{REQUEST}/discussions"), &body).await, 201).await;
    let at = &made["notes"][0]["position"];
    assert_eq!((&at["head_sha"], &at["new_line"]), (&refs["head_sha"], &value!(12)));
    // With a `commit_id`, the thread and its replies stay on that commit.
    let body = value!({"body": "There", "position": older, "commit_id": first["head_sha"]});
    let made = json(post_json(&server, "ada", &format!("{REQUEST}/discussions"), &body).await, 201).await;
    let thread = format!("{REQUEST}/discussions/{}", made["id"].as_str().unwrap());
    let reply = json(server.post("bo", &format!("{thread}/notes"), &[("body", "Yes")]).await, 201).await;
    for note in [&made["notes"][0], &reply] {
        let at = &note["position"];
        assert_eq!((&note["commit_id"], &at["head_sha"]), (&first["head_sha"], &first["head_sha"]), "{note}");
        assert_eq!(at["new_line"], 11);
    }
}

#[tokio::test]
async fn a_thread_on_an_image_keeps_its_coordinates() {
    let server = server().await;
    let point = value!({"position_type": "image", "width": 64, "height": 48, "x": 12, "y": 30});
    let made = json(comment(&server, "ada", point).await, 201).await;
    let at = &made["notes"][0]["position"];
    assert_eq!((&at["position_type"], &at["x"], &at["y"]), (&value!("image"), &value!(12), &value!(30)));
}

#[tokio::test]
async fn a_thread_and_its_notes_are_read_changed_and_deleted_by_their_ids() {
    let server = server().await;
    for path in [REQUEST, "/projects/1/issues/1", "/projects/1/snippets/1"] {
        let list = format!("{path}/discussions");
        let made = json(post_json(&server, "eve", &list, &value!({"body": "Why?"})).await, 201).await;
        let thread = format!("{list}/{}", made["id"].as_str().unwrap());
        assert_eq!(server.read("cem", &thread).await, made, "{path}");
        let reply = json(server.post("bo", &format!("{thread}/notes"), &[("body", "So.")]).await, 201).await;
        assert_eq!(each(&server.read("cem", &format!("{thread}/notes")).await, "body"), ["Why?", "So."]);
        let note = format!("{thread}/notes/{}", reply["id"]);
        assert_eq!(server.read("cem", &note).await["body"], "So.");
        json(server.put("eve", &note, &[("body", "No.")]).await, 403).await;
        assert_eq!(json(server.put("bo", &note, &[("body", "So it is.")]).await, 200).await["body"], "So it is.");
        let both = json(server.put("bo", &note, &[("body", "x"), ("resolved", "true")]).await, 400).await;
        assert_eq!(both["error"], "body, resolved are mutually exclusive");
        json(server.put("bo", &note, &[]).await, 400).await;
        if path == REQUEST {
            assert_eq!(json(server.put("bo", &note, &[("resolved", "true")]).await, 200).await["resolved"], true);
        }
        let other = server.read("bo", &list).await[0]["id"].as_str().unwrap().to_owned();
        json(server.get("bo", &format!("{list}/{other}/notes/{}", reply["id"])).await, 404).await;
        json(server.delete("eve", &note).await, 403).await;
        assert_eq!(server.delete("bo", &note).await.status(), 204);
        json(server.get("bo", &note).await, 404).await;
        let missing = json(server.get("bo", &format!("{list}/{}", "0".repeat(40))).await, 404).await;
        assert_eq!(missing["message"], "404 Discussion Not Found");
    }
}
