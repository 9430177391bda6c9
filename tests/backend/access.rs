//! Who may call what.

use crate::{Server, each, json};
use reqwest::Method;

#[tokio::test]
async fn an_unknown_token_is_refused_everywhere() {
    let server = Server::empty().await;
    for path in ["/projects", "/user", "/groups"] {
        let reply = server.call("", Method::GET, path).header("PRIVATE-TOKEN", "nobody").send().await.unwrap();
        assert_eq!(json(reply, 401).await["message"], "401 Unauthorized");
    }
}

#[tokio::test]
async fn a_token_is_taken_in_a_header_or_a_parameter() {
    let server = Server::empty().await;
    let token = server.token("ada").to_owned();
    let bearer = server.call("", Method::GET, "/user").bearer_auth(&token).send().await.unwrap();
    assert_eq!(json(bearer, 200).await["username"], "ada");
    assert_eq!(server.read("", &format!("/user?private_token={token}")).await["username"], "ada");
    assert_eq!(json(server.get("", "/user").await, 401).await["message"], "401 Unauthorized");
}

#[tokio::test]
async fn an_administrator_sees_more_of_users_than_others() {
    let server = Server::empty().await;
    let all = server.read("root", "/users").await;
    assert_eq!(each(&all, "username"), ["ada", "root"]);
    assert_eq!(all[1]["is_admin"], true);
    let brief = server.read("ada", "/users?username=ROOT").await;
    assert_eq!(brief[0].as_object().unwrap().len(), 6, "{brief}");
    assert_eq!(json(server.get("", "/users").await, 403).await["message"], "Not authorized to access /api/v4/users");
    assert_eq!(json(server.get("ada", "/runners/all").await, 403).await["message"], "403 Forbidden");
}

#[tokio::test]
async fn an_administrator_acts_as_another() {
    let server = Server::empty().await;
    assert_eq!(server.read("root", "/user?sudo=ada").await["username"], "ada");
    let refused = json(server.get("ada", "/user?sudo=root").await, 403).await;
    assert_eq!(refused["message"], "403 Forbidden  - Must be admin to use sudo");
    let missing = json(server.get("root", "/user?sudo=123").await, 404).await;
    assert_eq!(missing["message"], "404 User with ID or username '123' Not Found");
}

#[tokio::test]
async fn what_is_hidden_does_not_exist_and_what_is_not_allowed_is_refused() {
    let server = Server::empty().await;
    let form = [("name", "Secret"), ("visibility", "private")];
    let secret = json(server.post("root", "/projects", &form).await, 201).await;
    let path = format!("/projects/{}", secret["id"]);
    assert_eq!(json(server.get("ada", &path).await, 404).await["message"], "404 Project Not Found");
    assert_eq!(json(server.get("", "/projects/root%2Fsecret").await, 404).await["message"], "404 Project Not Found");
    assert_eq!(server.read("root", "/projects/root%2fsecret").await["name"], "Secret");

    json(server.put("root", &path, &[("visibility", "public")]).await, 200).await;
    assert_eq!(server.read("", &path).await["name"], "Secret");
    let refused = json(server.put("ada", &path, &[("name", "Mine")]).await, 403).await;
    assert_eq!(refused["message"], "403 Forbidden");
    assert_eq!(json(server.put("", &path, &[("name", "Mine")]).await, 401).await["message"], "401 Unauthorized");
}

#[tokio::test]
async fn input_that_cannot_be_read_is_refused_in_the_usual_shape() {
    let server = Server::empty().await;
    assert_eq!(json(server.get("ada", "/projects/%FF").await, 400).await["error"], "id is invalid");
    let deep = format!("name{}=x", "[b]".repeat(100_000));
    let call = server.call("ada", Method::POST, "/projects");
    let refused = call.header("content-type", "application/x-www-form-urlencoded").body(deep).send().await.unwrap();
    assert_eq!(json(refused, 400).await["error"], "name is invalid");
    assert_eq!(server.read("ada", "/user").await["username"], "ada", "and the server is there");
}
