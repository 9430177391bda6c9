//! Forks.

use crate::{Server, WORLD, each, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

#[tokio::test]
async fn a_fork_has_the_branches_of_its_origin_after_the_import() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(WORLD, &passed).await;
    let origin = server.read("eve", "/projects/1").await;
    let made = json(server.post("eve", "/projects/1/fork", &[]).await, 201).await;
    assert_eq!(made["forked_from_project"]["id"], 1);
    assert_eq!((&made["import_status"], &made["path"]), (&"started".into(), &origin["path"]));
    let fork = format!("/projects/{}", made["id"]);
    passed.store(10, Ordering::Relaxed);
    assert_eq!(server.read("eve", &fork).await["import_status"], "finished");
    let branches = server.read("eve", &format!("{fork}/repository/branches")).await;
    assert_eq!(each(&branches, "name"), each(&server.read("eve", "/projects/1/repository/branches").await, "name"));
    // A push to the fork does not affect its origin.
    let form = [("branch", "mine"), ("ref", "main")];
    json(server.post("eve", &format!("{fork}/repository/branches"), &form).await, 201).await;
    assert_eq!(server.get("eve", "/projects/1/repository/branches/mine").await.status(), 404);

    let taken = json(server.post("eve", "/projects/1/fork", &[]).await, 409).await;
    assert!(taken["message"].to_string().contains("has already been taken"), "{taken}");
    let missing = json(server.post("eve", "/projects/1/fork", &[("namespace_path", "nowhere")]).await, 404).await;
    assert_eq!(missing["message"], "404 Target Namespace Not Found");
    let form = [("path", "other"), ("name", "Other"), ("visibility", "private")];
    let other = json(server.post("eve", "/projects/1/fork", &form).await, 201).await;
    assert_eq!((&other["path"], &other["visibility"]), (&"other".into(), &"private".into()));
    assert_eq!(server.post("", "/projects/1/fork", &[]).await.status(), 401);
}

#[tokio::test]
async fn whoever_forks_into_a_group_gets_no_role_beyond_that_of_the_group() {
    let server = Server::of(WORLD, &Arc::default()).await;
    let group = json(server.post("ada", "/groups", &[("name", "team"), ("path", "team")]).await, 201).await;
    let fork = json(server.post("ada", "/projects/1/fork", &[("namespace_path", "team")]).await, 201).await;
    let made = [("name", "own"), ("namespace_id", &*group["id"].to_string())];
    let made = json(server.post("ada", "/projects", &made).await, 201).await;
    for project in [fork, made] {
        let at = format!("/projects/{}/members", project["id"]);
        assert_eq!(each(&server.read("ada", &at).await, "username"), [""; 0]);
        assert_eq!(each(&server.read("ada", &format!("{at}/all")).await, "username"), ["ada"]);
    }
}
