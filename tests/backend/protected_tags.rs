//! Rules that protect tags by name or by pattern. The refusals are those of GitLab's check of tags.

use crate::{Server, WORLD, each, json};
use serde_json::json as value;

const RULES: &str = "/projects/1/protected_tags";
const TAGS: &str = "/projects/1/repository/tags";

async fn tag(server: &Server, who: &str, name: &str) -> (u16, String) {
    let reply = server.post(who, TAGS, &[("tag_name", name), ("ref", "main")]).await;
    (reply.status().as_u16(), reply.text().await.unwrap())
}

#[tokio::test]
async fn a_pattern_protects_all_matching_tags() {
    let server = Server::of(WORLD, &Default::default()).await;
    let form = [("name", "v*")];
    assert_eq!(server.post("bo", RULES, &form).await.status(), 403);
    let made = json(server.post("ada", RULES, &form).await, 201).await;
    assert_eq!(made["create_access_levels"][0]["access_level"], 40);
    assert_eq!(made["create_access_levels"][0]["access_level_description"], "Maintainers");
    let again = json(server.post("ada", RULES, &form).await, 422).await;
    assert_eq!(again["message"], value!(["Name has already been taken"]));
    json(server.post("ada", RULES, &[("name", "w*"), ("create_access_level", "35")]).await, 400).await;
    assert_eq!(each(&server.read("ada", RULES).await, "name"), ["v*"]);
    assert_eq!(server.read("ada", &format!("{RULES}/v*")).await["name"], "v*");

    let (status, why) = tag(&server, "bo", "v9").await;
    assert_eq!(status, 400);
    assert!(why.contains("You are not allowed to create this tag as it is protected."), "{why}");
    let release = server.post("bo", "/projects/1/releases", &[("tag_name", "v9"), ("ref", "main")]).await;
    assert_eq!(release.status(), 403, "a release may not bring the tag either");
    assert_eq!(tag(&server, "bo", "x9").await.0, 201);
    assert_eq!(tag(&server, "ada", "v9").await.0, 201);
    assert_eq!(server.read("ada", &format!("{TAGS}/v9")).await["protected"], true);
    assert_eq!(server.read("ada", &format!("{TAGS}/x9")).await["protected"], false);
    assert_eq!(server.delete("bo", &format!("{TAGS}/v9")).await.status(), 403);
    assert_eq!(server.delete("ada", &format!("{TAGS}/v9")).await.status(), 204);

    assert_eq!(server.delete("ada", &format!("{RULES}/v*")).await.status(), 204);
    assert_eq!(server.delete("ada", &format!("{RULES}/v*")).await.status(), 404);
    assert_eq!(tag(&server, "bo", "v9").await.0, 201);
}

#[tokio::test]
async fn tags_that_nobody_may_create_are_closed_to_owners_too() {
    let server = Server::of(WORLD, &Default::default()).await;
    let made = json(server.post("ada", RULES, &[("name", "old"), ("create_access_level", "0")]).await, 201).await;
    assert_eq!(made["create_access_levels"][0]["access_level_description"], "No one");
    assert_eq!(tag(&server, "ada", "old").await.0, 400);
}
