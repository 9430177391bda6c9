//! The remains of deleted users, groups and projects.

use crate::{Server, WORLD, each, json};
use serde_json::{Value, json as value};

async fn id_of(server: &Server, name: &str) -> String {
    server.read("root", &format!("/users?username={name}")).await[0]["id"].to_string()
}

#[tokio::test]
async fn contributions_of_a_deleted_user_move_to_the_ghost_user() {
    let server = Server::of(WORLD, &Default::default()).await;
    let request = "/projects/1/merge_requests/1";
    json(server.post("bo", &format!("{request}/notes"), &[("body", ":thumbsup:")]).await, 201).await;
    json(server.post("bo", "/projects/1/repository/commits/main/comments", &[("note", "Fine")]).await, 201).await;
    let bo = id_of(&server, "bo").await;
    json(server.put("ada", request, &[("assignee_id", &bo)]).await, 200).await;
    assert_eq!(server.read("ada", request).await["upvotes"], 1);
    assert_eq!(server.delete("root", &format!("/users/{bo}")).await.status(), 204);

    let notes = server.read("ada", &format!("{request}/notes?sort=asc")).await;
    let ghost = &notes[0]["author"];
    assert_eq!((ghost["username"].as_str(), ghost["name"].as_str()), (Some("ghost"), Some("Ghost User")));
    assert_eq!(server.read("ada", &format!("/users/{}", ghost["id"])).await["username"], "ghost");
    let comments = server.read("ada", "/projects/1/repository/commits/main/comments").await;
    assert_eq!(comments[0]["author"]["id"], ghost["id"]);
    let after = server.read("ada", request).await;
    assert_eq!((after["upvotes"].as_u64(), &after["assignee"]), (Some(0), &Value::Null));
    // The next deleted user shares the same ghost user.
    let ada = id_of(&server, "ada").await;
    json(server.post("root", "/groups", &[("name", "G"), ("path", "g")]).await, 201).await;
    json(server.post("root", "/groups/g/projects/1", &[]).await, 201).await;
    assert_eq!(server.delete("root", &format!("/users/{ada}")).await.status(), 204);
    assert_eq!(server.read("root", "/projects/g%2Fhello/merge_requests/1").await["author"]["id"], ghost["id"]);
}

#[tokio::test]
async fn a_hard_delete_removes_the_contributions_of_a_user() {
    let server = Server::of(WORLD, &Default::default()).await;
    let form = [("source_branch", "louder"), ("target_branch", "main"), ("title", "Bo's")];
    json(server.put("ada", "/projects/1/merge_requests/1", &[("state_event", "close")]).await, 200).await;
    let made = json(server.post("bo", "/projects/1/merge_requests", &form).await, 201).await;
    assert_eq!(made["iid"], 2);
    json(server.post("ada", "/projects/1/merge_requests/2/notes", &[("body", "Of another")]).await, 201).await;
    json(server.post("bo", "/projects/1/repository/commits/main/comments", &[("note", "Fine")]).await, 201).await;
    json(server.post("bo", "/projects/1/statuses/main", &[("state", "success")]).await, 201).await;
    let bo = id_of(&server, "bo").await;
    assert_eq!(server.delete("root", &format!("/users/{bo}?hard_delete=true")).await.status(), 204);
    assert_eq!(server.get("ada", "/projects/1/merge_requests/2").await.status(), 404);
    assert_eq!(server.read("ada", "/projects/1/repository/commits/main/comments").await, value!([]));
    assert_eq!(server.read("ada", "/projects/1/-/search?scope=notes&search=another").await, value!([]));
    assert_eq!(server.read("root", "/users?search=ghost").await, value!([]), "no ghost user is created");
    let again = json(server.post("ada", "/projects/1/merge_requests", &form).await, 201).await;
    assert_eq!(again["iid"], 3, "numbers are not reused");
}

#[tokio::test]
async fn deleting_a_group_removes_its_shares_and_pipelines() {
    let passed = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(0));
    let world = WORLD.to_owned()
        + r#"
[[schedules]]
project = "ada/hello"
refs = ["main"]
template = "one"
user = "ada"
pause = 1
head_start = 0
"#;
    let server = Server::of(&world, &passed).await;
    json(server.post("root", "/groups", &[("name", "G"), ("path", "g")]).await, 201).await;
    json(server.post("root", "/groups/g/projects/1", &[]).await, 201).await;
    assert_eq!(server.delete("root", "/groups/g").await.status(), 204);
    passed.store(10_000, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(server.read("root", "/runners/1/jobs").await, value!([]));
    assert_eq!(server.read("root", "/projects").await, value!([]));
}

#[tokio::test]
async fn a_user_cannot_exceed_their_project_limit() {
    let server = Server::empty().await;
    let ada = id_of(&server, "ada").await;
    json(server.put("root", &format!("/users/{ada}"), &[("projects_limit", "1")]).await, 200).await;
    json(server.post("ada", "/projects", &[("name", "One")]).await, 201).await;
    let refused = json(server.post("ada", "/projects", &[("name", "Two")]).await, 403).await;
    assert!(refused["error"][0].as_str().unwrap().starts_with("Your project limit is 1 projects!"));
    // Projects of a group do not count.
    let group = json(server.post("ada", "/groups", &[("name", "G"), ("path", "g")]).await, 201).await;
    let form = [("name", "Three"), ("namespace_id", &*group["id"].to_string())].map(|(a, b)| (a, b.to_owned()));
    let call = server.call("ada", reqwest::Method::POST, "/projects").form(&form);
    json(call.send().await.unwrap(), 201).await;
    assert_eq!(each(&server.read("ada", "/projects?order_by=id&sort=asc").await, "name"), ["One", "Three"]);
}

#[tokio::test]
async fn namespace_ids_of_users_are_not_reused_after_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let options = || labscope::backend::Options {
        world: labscope::backend::WorldKind::Empty,
        data: Some(place.path().join("data")),
        ..Default::default()
    };
    let new = [("email", "x@example.com"), ("username", "x"), ("name", "X"), ("reset_password", "true")];
    {
        let server = Server::with(options()).await;
        json(server.post("root", "/users", &new).await, 201).await;
        server.running.stop().await;
    }
    let server = Server::with(options()).await;
    let group = json(server.post("root", "/groups", &[("name", "G"), ("path", "g")]).await, 201).await;
    let made = json(
        server.post("root", &format!("/projects/user/{}", id_of(&server, "x").await), &[("name", "P")]).await,
        201,
    )
    .await;
    assert_ne!(made["namespace"]["id"], group["id"]);
}
