//! To-dos: what creates them, what completes them, and who sees them.

use crate::{Server, WORLD, each, json};
use labscope::backend::{Options, WorldKind};
use serde_json::Value;
use std::sync::Arc;

const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";

async fn server(more: &str) -> Server {
    Server::of(&format!("{WORLD}{more}"), &Arc::default()).await
}

/// Returns the reasons of the pending to-dos, newest first.
async fn todo(server: &Server, user: &str) -> Vec<String> {
    each(&server.read(user, "/todos").await, "action_name").into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_mention_is_pending_until_the_user_replies() {
    let server = server("").await;
    assert!(todo(&server, "bo").await.is_empty());
    let note = json(server.post("ada", &format!("{REQUEST}/notes"), &[("body", "Why not, @bo?")]).await, 201).await;
    let list = server.read("bo", "/todos").await;
    let first = &list[0];
    assert_eq!((&first["action_name"], &first["state"]), (&"mentioned".into(), &"pending".into()));
    assert_eq!((&first["target_type"], &first["target"]["iid"]), (&"MergeRequest".into(), &1.into()));
    assert_eq!((&first["body"], &first["author"]["username"]), (&"Why not, @bo?".into(), &"ada".into()));
    assert_eq!(first["project"]["path_with_namespace"], "ada/hello");
    let url = first["target_url"].as_str().unwrap();
    assert_eq!(first["target"]["references"]["full"], "ada/hello!1");
    assert!(url.ends_with(&format!("/ada/hello/-/merge_requests/1#note_{}", note["id"])), "{url}");
    // A second mention adds no to-do, and neither does mentioning yourself.
    json(server.post("ada", &format!("{REQUEST}/notes"), &[("body", "Well, @bo and @ada?")]).await, 201).await;
    assert_eq!(todo(&server, "bo").await, ["mentioned"]);
    assert!(todo(&server, "ada").await.is_empty());
    json(server.post("bo", &format!("{REQUEST}/notes"), &[("body", "@ada Because.")]).await, 201).await;
    assert!(todo(&server, "bo").await.is_empty());
    assert_eq!(todo(&server, "ada").await, ["directly_addressed"]);
    assert_eq!(each(&server.read("bo", "/todos?state=done").await, "state"), ["done"]);
}

#[tokio::test]
async fn mentions_in_edited_texts_create_one_to_do() {
    let server = server("").await;
    json(server.put("ada", REQUEST, &[("description", "For @bo, not `@eve`.")]).await, 200).await;
    json(server.put("ada", REQUEST, &[("description", "For @bo, indeed.")]).await, 200).await;
    assert_eq!(todo(&server, "bo").await, ["mentioned"]);
    assert!(todo(&server, "eve").await.is_empty());
    let note = json(server.post("ada", &format!("{REQUEST}/notes"), &[("body", "Who?")]).await, 201).await;
    let note = format!("{REQUEST}/notes/{}", note["id"]);
    json(server.put("ada", &note, &[("body", "Who, @eve?")]).await, 200).await;
    assert_eq!(todo(&server, "eve").await, ["mentioned"]);
    assert_eq!(server.delete("ada", &note).await.status(), 204);
    assert!(todo(&server, "eve").await.is_empty());
}

#[tokio::test]
async fn an_assignment_is_pending_until_approval_or_close() {
    let server = server("").await;
    let bo = server.read("bo", "/user").await["id"].to_string();
    json(server.put("ada", REQUEST, &[("assignee_id", &bo)]).await, 200).await;
    assert_eq!(todo(&server, "bo").await, ["assigned"]);
    json(server.post("bo", &format!("{REQUEST}/approve"), &[]).await, 201).await;
    assert!(todo(&server, "bo").await.is_empty());
    json(server.put("ada", REQUEST, &[("assignee_id", "0")]).await, 200).await;
    json(server.put("ada", REQUEST, &[("assignee_id", &bo)]).await, 200).await;
    assert_eq!(todo(&server, "bo").await, ["assigned"]);
    json(server.put("bo", REQUEST, &[("state_event", "close")]).await, 200).await;
    assert!(todo(&server, "bo").await.is_empty());
}

#[tokio::test]
async fn a_failed_pipeline_creates_a_to_do_for_the_author() {
    let more = r#"
[[scripts]]
name = "broken"
status = "failed"
text = """
$ cargo test
@2 no
"""

[[templates]]
name = "fails"
jobs = [{ name = "unit", stage = "test", script = "broken" }]

[[schedules]]
project = "ada/hello"
refs = ["louder"]
template = "fails"
user = "bo"
pause = 1000
"#;
    let passed = Arc::default();
    let server = Server::of(&format!("{WORLD}{more}"), &passed).await;
    assert!(todo(&server, "ada").await.is_empty());
    passed.store(30, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(todo(&server, "ada").await, ["build_failed"]);
    assert!(todo(&server, "bo").await.is_empty());
}

#[tokio::test]
async fn users_can_only_mark_their_own_to_dos_as_done() {
    let more = r#"
[[todos]]
user = "bo"
author = "ada"
action = "review_requested"
target = "ada/hello!1"
created = "2h"

[[todos]]
user = "bo"
author = "ada"
action = "unmergeable"
target = "ada/hello!1"
created = "1h"
"#;
    let server = server(more).await;
    let all = server.read("bo", "/todos").await;
    assert_eq!(each(&all, "action_name"), ["unmergeable", "review_requested"]);
    let first = format!("/todos/{}/mark_as_done", all[0]["id"]);
    assert_eq!(json(server.post("ada", &first, &[]).await, 404).await["message"], "404 Not found");
    assert_eq!(json(server.post("bo", &first, &[]).await, 201).await["state"], "done");
    assert_eq!(json(server.post("bo", &first, &[]).await, 201).await["state"], "done", "again");
    assert_eq!(todo(&server, "bo").await, ["review_requested"]);
    assert_eq!(server.post("bo", "/todos/mark_as_done", &[]).await.status(), 204);
    assert!(todo(&server, "bo").await.is_empty());
    assert_eq!(json(server.get("", "/todos").await, 401).await["message"], "401 Unauthorized");
}

#[tokio::test]
async fn each_filter_narrows_the_to_dos_of_the_demo() {
    let server = Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await;
    let read = async |query: &str| server.read("ada", &format!("/todos?per_page=100&{query}")).await;
    let all = read("").await;
    let kinds: std::collections::BTreeSet<&str> = each(&all, "action_name").into_iter().collect();
    assert!(kinds.len() >= 4, "{kinds:?}");
    assert!(!each(&read("state=done").await, "id").is_empty());
    let narrowed = |list: &Value, fits: &dyn Fn(&Value) -> bool| {
        let rows = list.as_array().unwrap();
        assert!(!rows.is_empty() && rows.len() < all.as_array().unwrap().len() && rows.iter().all(fits), "{list}");
    };
    narrowed(&read("action=build_failed").await, &|row| row["action_name"] == "build_failed");
    narrowed(&read("type=Issue").await, &|row| row["target_type"] == "Issue");
    let project = &all[0]["project"]["id"];
    narrowed(&read(&format!("project_id={project}")).await, &|row| row["project"]["id"] == *project);
    let author = &all[0]["author"]["id"];
    narrowed(&read(&format!("author_id={author}")).await, &|row| row["author"]["id"] == *author);
    let tools = server.read("ada", "/groups/acme%2Ftools").await["id"].to_string();
    narrowed(&read(&format!("group_id={tools}")).await, &|row| {
        row["project"]["path_with_namespace"].as_str().unwrap().starts_with("acme/tools/")
    });
    let wrong = json(server.get("ada", "/todos?action=odd").await, 400).await;
    assert_eq!(wrong["error"], "action does not have a valid value");
}

#[tokio::test]
async fn a_to_do_for_something_that_is_hidden_by_now_cannot_be_marked() {
    let server = server("").await;
    json(server.post("ada", &format!("{REQUEST}/notes"), &[("body", "Why, @eve?")]).await, 201).await;
    let id = server.read("eve", "/todos").await[0]["id"].to_string();
    json(server.put("ada", "/projects/ada%2Fhello", &[("visibility", "private")]).await, 200).await;
    assert_eq!(server.read("eve", "/todos").await, serde_json::json!([]));
    let refused = server.post("eve", &format!("/todos/{id}/mark_as_done"), &[]).await;
    assert_eq!(json(refused, 404).await["message"], "404 Not found");
    json(server.put("ada", "/projects/ada%2Fhello", &[("visibility", "public")]).await, 200).await;
    assert_eq!(each(&server.read("eve", "/todos").await, "state"), ["pending"]);
    let done = json(server.post("eve", &format!("/todos/{id}/mark_as_done"), &[]).await, 201).await;
    assert_eq!(done["state"], "done");
}
