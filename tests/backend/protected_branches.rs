//! Rules that protect branches by name or by pattern.

use crate::{Server, WORLD, each, json};

const PROJECT: &str = "/projects/1";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

async fn commit(server: &Server, who: &str, branch: &str) -> u16 {
    let body = serde_json::json!({"branch": branch, "commit_message": "Try",
        "actions": [{"action": "create", "file_path": format!("{who}.txt"), "content": "x"}]});
    let call = server.call(who, reqwest::Method::POST, &format!("{PROJECT}/repository/commits"));
    call.json(&body).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_pattern_protects_all_matching_branches() {
    let server = server().await;
    let at = format!("{PROJECT}/protected_branches");
    let form = [("name", "release/*"), ("push_access_level", "0"), ("merge_access_level", "30")];
    assert_eq!(json(server.post("bo", &at, &form).await, 403).await["message"], "403 Forbidden");
    let made = json(server.post("ada", &at, &form).await, 201).await;
    assert_eq!(made["push_access_levels"][0]["access_level_description"], "No one");
    assert_eq!(made["merge_access_levels"][0]["access_level"], 30);
    assert_eq!(
        json(server.post("ada", &at, &form).await, 409).await["message"],
        "Protected branch 'release/*' already exists"
    );
    json(server.post("ada", &at, &[("name", "x"), ("push_access_level", "35")]).await, 400).await;
    assert!(each(&server.read("ada", &at).await, "name").contains(&"release/*"));

    let branches = format!("{PROJECT}/repository/branches");
    json(server.post("ada", &branches, &[("branch", "release/1"), ("ref", "main")]).await, 201).await;
    let branch = server.read("ada", &format!("{branches}/release%2F1")).await;
    assert_eq!((&branch["protected"], &branch["developers_can_merge"]), (&true.into(), &true.into()));
    assert!(matches!(commit(&server, "ada", "release/1").await, 400 | 403), "nobody may push, not even owners");
    assert_eq!(server.delete("ada", &format!("{branches}/release%2F1")).await.status(), 403);

    assert_eq!(server.delete("ada", &format!("{at}/release%2F*")).await.status(), 204);
    assert_eq!(server.delete("ada", &format!("{at}/release%2F*")).await.status(), 404);
    assert_eq!(commit(&server, "ada", "release/1").await, 201);
}

#[tokio::test]
async fn permission_to_merge_does_not_include_permission_to_push() {
    let server = server().await;
    let at = format!("{PROJECT}/protected_branches");
    server.delete("ada", &format!("{at}/main")).await;
    let form = [("name", "main"), ("push_access_level", "40"), ("merge_access_level", "30")];
    let made = json(server.post("ada", &at, &form).await, 201).await;
    assert!(matches!(commit(&server, "bo", "main").await, 400 | 403), "a developer may not push");
    let access = made["merge_access_levels"][0]["id"].clone();
    let change = async |level: u8, id: serde_json::Value| {
        let body = serde_json::json!({"allowed_to_merge": [{"id": id, "access_level": level}]});
        let call = server.call("ada", reqwest::Method::PATCH, &format!("{at}/main")).json(&body);
        let reply = call.send().await.unwrap();
        let status = reply.status().as_u16();
        (status, reply.json::<serde_json::Value>().await.unwrap())
    };
    let merge = || server.put("bo", "/projects/1/merge_requests/1/merge", &[]);
    assert_eq!(change(30, 999.into()).await.0, 422, "a level of another rule");
    let (status, rule) = change(0, access.clone()).await;
    assert_eq!((status, &rule["merge_access_levels"][0]["access_level_description"]), (200, &"No one".into()));
    assert_eq!(merge().await.status(), 401, "nobody may merge");
    assert_eq!(change(30, access).await.0, 200);
    assert_eq!(json(merge().await, 200).await["state"], "merged");
    let unknown = server.call("ada", reqwest::Method::PATCH, &format!("{at}/other")).json(&serde_json::json!({}));
    assert_eq!(unknown.send().await.unwrap().status(), 404);
    let nobody = [("name", "x"), ("merge_access_level", "0")];
    let made = json(server.post("ada", &at, &nobody).await, 201).await;
    assert_eq!(made["merge_access_levels"][0]["access_level_description"], "No one");
}
