//! Snippets that belong to no project, and the numbers of what waits for a user.

use crate::{Server, WORLD, each, json};
use reqwest::Method;
use serde_json::{Value, json as value};

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

async fn create(server: &Server, user: &str, body: Value) -> reqwest::Response {
    server.call(user, Method::POST, "/snippets").json(&body).send().await.unwrap()
}

#[tokio::test]
async fn a_snippet_without_a_project_is_created_from_its_content_or_its_files() {
    let server = server().await;
    let body = value!({"title": "A", "file_name": "a.txt", "content": "one", "visibility": "internal"});
    let made = json(create(&server, "bo", body).await, 201).await;
    assert_eq!((&made["file_name"], &made["author"]["username"]), (&"a.txt".into(), &"bo".into()));
    assert_eq!(made["web_url"], format!("{}/-/snippets/{}", server.running.base_url, made["id"]));
    let files = value!([{"file_path": "b.txt", "content": "two"}]);
    let other = json(create(&server, "bo", value!({"title": "B", "files": files})).await, 201).await;
    let raw = |id: &Value| format!("/snippets/{id}/raw");
    assert_eq!(server.get("bo", &raw(&other["id"])).await.text().await.unwrap(), "two");
    assert_eq!(each(&server.read("bo", "/snippets").await, "title"), ["B", "A"]);
    assert_eq!(server.read("eve", "/snippets").await, value!([]));

    let missing = json(create(&server, "bo", value!({"title": "C"})).await, 400).await;
    assert_eq!(missing["error"], "files, content are missing, exactly one parameter must be provided");
    json(create(&server, "", value!({"title": "C", "content": "x"})).await, 401).await;
    for (user, internal, private) in [("", 404, 404), ("eve", 200, 404), ("root", 200, 200)] {
        assert_eq!(server.get(user, &raw(&made["id"])).await.status(), internal, "{user}");
        assert_eq!(server.get(user, &format!("/snippets/{}", other["id"])).await.status(), private, "{user}");
    }
    assert_eq!(server.read("bo", "/projects/1/snippets").await, value!([]));
    let path = format!("/snippets/{}", made["id"]);
    json(server.put("eve", &path, &[("content", "x")]).await, 403).await;
    assert_eq!(json(server.put("bo", &path, &[("content", "new"), ("title", "Z")]).await, 200).await["title"], "Z");
    assert_eq!(server.get("bo", &raw(&made["id"])).await.text().await.unwrap(), "new");
    json(server.delete("eve", &format!("/snippets/{}", made["id"])).await, 403).await;
    assert_eq!(server.delete("bo", &format!("/snippets/{}", made["id"])).await.status(), 204);
    json(server.get("bo", &format!("/snippets/{}", made["id"])).await, 404).await;
}

#[tokio::test]
async fn user_counts_are_of_what_the_caller_can_read() {
    let server = server().await;
    let bo = server.read("root", "/users?username=bo").await[0]["id"].to_string();
    let form = [("assignee_id", &*bo), ("reviewer_ids[]", &*bo)];
    json(server.put("ada", "/projects/1/merge_requests/1", &form).await, 200).await;
    let form = [("title", "Slow"), ("assignee_ids[]", &*bo)];
    json(server.post("ada", "/projects/1/issues", &form).await, 201).await;
    let counts = server.read("bo", "/user_counts").await;
    let expected = value!({"merge_requests": 1, "assigned_issues": 1, "assigned_merge_requests": 1,
        "review_requested_merge_requests": 1, "todos": 3});
    assert_eq!(counts, expected);
    assert_eq!(server.delete("ada", &format!("/projects/1/members/{bo}")).await.status(), 204);
    json(server.put("ada", "/projects/1", &[("visibility", "private")]).await, 200).await;
    let counts = server.read("bo", "/user_counts").await;
    assert!(counts.as_object().unwrap().values().all(|count| *count == 0), "{counts}");
    json(server.get("", "/user_counts").await, 401).await;
}
