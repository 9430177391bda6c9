//! Namespaces: the places where a user may create projects.

use crate::{Server, WORLD, each, json};

#[tokio::test]
async fn namespaces_are_ones_own_and_those_of_groups() {
    let server = Server::of(WORLD, &Default::default()).await;
    for (path, visibility) in [("acme", "public"), ("hidden", "private")] {
        let form = [("name", path), ("path", path), ("visibility", visibility)];
        json(server.post("root", "/groups", &form).await, 201).await;
    }
    assert_eq!(each(&server.read("ada", "/namespaces").await, "full_path"), ["ada"]);
    let ada = server.read("root", "/users?username=ada").await[0]["id"].to_string();
    json(server.post("root", "/groups/acme/members", &[("user_id", &*ada), ("access_level", "40")]).await, 201).await;
    assert_eq!(each(&server.read("ada", "/namespaces").await, "full_path"), ["acme", "ada"]);
    assert_eq!(each(&server.read("ada", "/namespaces?search=CM").await, "kind"), ["group"]);
    assert!(each(&server.read("root", "/namespaces").await, "full_path").contains(&"eve"));
    let own = server.read("ada", "/namespaces/ada").await;
    assert_eq!(server.read("ada", &format!("/namespaces/{}", own["id"])).await, own);
    assert_eq!(server.read("eve", "/namespaces/acme").await["kind"], "group");
    for path in ["hidden", "ada", "77"] {
        let missing = json(server.get("eve", &format!("/namespaces/{path}")).await, 404).await;
        assert_eq!(missing["message"], "404 Namespace Not Found", "{path}");
    }
    json(server.get("", "/namespaces").await, 401).await;
}
