//! Authentication and authorization: which users may call which endpoints.

use crate::{Server, WORLD, each, json};
use labscope::backend::{Modes, Options, Version, WorldKind};
use reqwest::Method;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

#[tokio::test]
async fn an_unknown_token_gets_401_on_every_endpoint() {
    let server = Server::empty().await;
    for path in ["/projects", "/user", "/groups"] {
        let reply = server.call("", Method::GET, path).header("PRIVATE-TOKEN", "nobody").send().await.unwrap();
        assert_eq!(json(reply, 401).await["message"], "401 Unauthorized");
    }
}

#[tokio::test]
async fn a_token_is_accepted_as_header_bearer_or_parameter() {
    let server = Server::empty().await;
    let token = server.token("ada").to_owned();
    let bearer = server.call("", Method::GET, "/user").bearer_auth(&token).send().await.unwrap();
    assert_eq!(json(bearer, 200).await["username"], "ada");
    assert_eq!(server.read("", &format!("/user?private_token={token}")).await["username"], "ada");
    assert_eq!(json(server.get("", "/user").await, 401).await["message"], "401 Unauthorized");
}

#[tokio::test]
async fn a_token_is_limited_by_its_scopes_and_expiry_date() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(TOKENS, &passed).await;
    let own = server.read("reader", "/personal_access_tokens/self").await;
    assert_eq!((&own["scopes"], &own["expires_at"]), (&json!(["read_api"]), &json!("2026-11-21")));
    assert_eq!(own["created_at"], "2026-11-20T16:00:00.000Z");
    assert_eq!(server.read("root", "/personal_access_tokens/self").await["scopes"], json!(["api"]));
    let refused = json(server.post("reader", "/projects", &[("name", "mine")]).await, 403).await;
    assert_eq!((&refused["error"], &refused["scope"]), (&json!("insufficient_scope"), &json!("api")));
    let refused = json(server.get("pusher", "/user").await, 403).await;
    assert_eq!(refused["scope"], "api read_api");
    passed.store(86_400, Ordering::Relaxed);
    let refused = json(server.get("reader", "/user").await, 401).await;
    assert_eq!(refused["error"], "invalid_token");
    assert!(refused["error_description"].as_str().unwrap().starts_with("Token is expired."), "{refused}");
}

const TOKENS: &str = r#"
now = "2026-11-20T16:00:00Z"
[[users]]
username = "root"
admin = true
[[users]]
username = "reader"
token = "reads"
token_scopes = ["read_api"]
token_expires = "2026-11-21T00:00:00Z"
[[users]]
username = "pusher"
token = "pushes"
token_scopes = ["write_repository"]
"#;

#[tokio::test]
async fn administrators_see_more_user_fields_than_others() {
    let server = Server::empty().await;
    let all = server.read("root", "/users").await;
    assert_eq!(each(&all, "username"), ["ada", "root"]);
    assert_eq!(all[1]["is_admin"], true);
    let brief = server.read("ada", "/users?username=ROOT").await;
    assert!(brief[0]["locked"].is_boolean() && brief[0].get("created_at").is_none(), "{brief}");
    assert_eq!(json(server.get("", "/users").await, 403).await["message"], "Not authorized to access /api/v4/users");
    assert_eq!(json(server.get("ada", "/runners/all").await, 403).await["message"], "403 Forbidden");
}

#[tokio::test]
async fn administrators_can_use_sudo() {
    let server = Server::empty().await;
    assert_eq!(server.read("root", "/user?sudo=ada").await["username"], "ada");
    let refused = json(server.get("ada", "/user?sudo=root").await, 403).await;
    assert_eq!(refused["message"], "403 Forbidden - Must be admin to use sudo");
    let missing = json(server.get("root", "/user?sudo=123").await, 404).await;
    assert_eq!(missing["message"], "404 User with ID or username '123' Not Found");
}

#[tokio::test]
async fn reasons_are_those_of_the_version() {
    let world = "now = \"2026-11-20T16:00:00Z\"\nusers = [{ username = \"root\", admin = true },\n\
                 { username = \"out\", token = \"of-out\", blocked = true }]\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.toml");
    std::fs::write(&file, world).unwrap();
    for (version, blocked) in [
        (Version::V19, "403 Forbidden - Your account has been blocked."),
        (Version::V10_6, "403 Forbidden  - User is blocked"),
    ] {
        let (world, modes) = (WorldKind::File(file.clone()), Modes::of(version));
        let server = Server::with(Options { world, modes, ..Options::default() }).await;
        let request = server.call("", Method::GET, "/projects").header("private-token", "of-out");
        assert_eq!(json(request.send().await.unwrap(), 403).await["message"], blocked);
    }
    for (version, why) in [
        (Version::V19, "400 Bad request - Unplayable Job"),
        (Version::V10_6, "400 (Bad request) \"Unplayable Job\" not given"),
    ] {
        let modes = Modes::of(version);
        let server = Server::with(Options { world: WorldKind::Demo, modes, ..Options::default() }).await;
        let project = "/projects/acme%2Frocket-ui";
        let jobs = server.read("ada", &format!("{project}/jobs?scope=success")).await;
        let path = format!("{project}/jobs/{}/play", jobs[0]["id"]);
        assert_eq!(json(server.post("ada", &path, &[]).await, 400).await["message"], why);
        let status = if version == Version::V10_6 { 200 } else { 401 };
        assert_eq!(server.get("", &format!("{project}/snippets")).await.status(), status);
    }
}

#[tokio::test]
async fn a_user_name_must_not_be_blank() {
    let server = Server::empty().await;
    let form = [("name", " "), ("username", "new"), ("email", "new@example.com"), ("password", "long enough")];
    let refused = json(server.post("root", "/users", &form).await, 400).await;
    assert_eq!(refused["message"]["name"][0], "can't be blank");
    let id = server.read("root", "/user").await["id"].as_u64().unwrap();
    json(server.put("root", &format!("/users/{id}"), &form[..1]).await, 400).await;
}

#[tokio::test]
async fn hidden_projects_are_404_and_forbidden_changes_are_403() {
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
async fn malformed_input_gets_a_400_with_a_json_error() {
    let server = Server::empty().await;
    assert_eq!(json(server.get("ada", "/projects/%FF").await, 400).await["error"], "id is invalid");
    let deep = format!("name{}=x", "[b]".repeat(100_000));
    let call = server.call("ada", Method::POST, "/projects");
    let refused = call.header("content-type", "application/x-www-form-urlencoded").body(deep).send().await.unwrap();
    assert_eq!(json(refused, 400).await["error"], "name is invalid");
    assert_eq!(server.read("ada", "/user").await["username"], "ada", "the server still answers");
}

#[tokio::test]
async fn a_private_snippet_is_only_visible_to_its_author() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let form = [("title", "Mine"), ("file_name", "f"), ("code", "secret words"), ("visibility", "private")];
    let made = json(server.post("bo", "/projects/1/snippets", &form).await, 201).await;
    let path = format!("/projects/1/snippets/{}", made["id"]);
    // A member, the project's owner, and an anonymous caller.
    for who in ["ada", "eve", ""] {
        let listed = server.get(who, "/projects/1/snippets").await;
        match who {
            "" => assert_eq!(listed.status(), 401),
            _ => assert_eq!(json(listed, 200).await, serde_json::json!([]), "{who}"),
        }
        assert_eq!(server.get(who, &path).await.status(), 404, "{who}");
        assert_eq!(server.get(who, &format!("{path}/raw")).await.status(), 404, "{who}");
    }
    assert_eq!(server.read("ada", "/search?scope=snippet_titles&search=Mine").await, serde_json::json!([]));
    assert_eq!(server.get("bo", &format!("{path}/raw")).await.text().await.unwrap(), "secret words");
}

#[tokio::test]
async fn email_addresses_are_only_shown_to_signed_in_users() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let form = [("title", "Ours"), ("file_name", "f"), ("code", "x"), ("visibility", "public")];
    let made = json(server.post("ada", "/projects/1/snippets", &form).await, 201).await;
    let path = format!("/projects/1/snippets/{}", made["id"]);
    assert_eq!(server.read("eve", &path).await["author"]["email"], "ada@example.com");
    assert_eq!(server.read("", &path).await["author"].get("email"), None);
    let comment = "/projects/1/repository/commits/main/comments";
    json(server.post("ada", comment, &[("note", "x")]).await, 201).await;
    assert_eq!(server.read("", comment).await[0]["author"].get("email"), None);
    for path in
        [format!("{path}/notes"), "/projects/1/issues/1/notes".into(), "/projects/1/merge_requests/1/notes".into()]
    {
        assert_eq!(server.get("", &path).await.status(), 401, "{path}");
    }
}

#[tokio::test]
async fn authentication_is_checked_before_parameters() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    for path in [
        "/search",
        "/merge_requests?author_id=x",
        "/user?page=abc",
        "/runners?scope=x",
        "/projects/1/jobs?scope=x&page=y",
        "/hooks?page=x",
        "/projects/1/jobs/1/artifacts/a",
    ] {
        assert_eq!(json(server.get("", path).await, 401).await["message"], "401 Unauthorized", "{path}");
    }
    let broken = server.call("", Method::GET, "/projects").header("PRIVATE-TOKEN", &b"\xff\xfe"[..]);
    assert_eq!(broken.send().await.unwrap().status(), 401);
    let token = server.token("ada").to_owned();
    let empty = server.call("", Method::GET, "/user").header("PRIVATE-TOKEN", "").bearer_auth(token);
    assert_eq!(json(empty.send().await.unwrap(), 200).await["username"], "ada");
}

#[tokio::test]
async fn statistics_in_lists_need_an_admin_and_of_one_project_a_member() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let has = |value: &serde_json::Value| value.get("statistics").is_some();
    assert!(has(&server.read("root", "/projects?statistics=true").await[0]));
    assert!(!has(&server.read("ada", "/projects?statistics=true").await[0]));
    assert!(has(&server.read("bo", "/projects/1?statistics=true").await));
    assert!(!has(&server.read("eve", "/projects/1?statistics=true").await));
}

#[tokio::test]
async fn a_delete_fails_if_the_resource_changed_since_the_given_date() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let notes = "/projects/1/merge_requests/1/notes";
    let note = json(server.post("bo", notes, &[("body", "Words")]).await, 201).await;
    let delete = |path: String, since: &'static str| {
        server.call("bo", Method::DELETE, &path).header("If-Unmodified-Since", since).send()
    };
    let path = format!("{notes}/{}", note["id"]);
    let refused = delete(path.clone(), "Fri, 20 Nov 2026 15:00:00 GMT").await.unwrap();
    assert_eq!(json(refused, 412).await["message"], "412 Precondition Failed");
    let branch = "/projects/1/repository/branches/louder".to_owned();
    assert_eq!(delete(branch, "Mon, 02 Nov 2020 00:00:00 GMT").await.unwrap().status(), 412);
    assert_eq!(delete(path, "Fri, 20 Nov 2026 16:00:10 GMT").await.unwrap().status(), 204);
}

#[tokio::test]
async fn a_head_request_tells_whether_a_branch_exists() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let head = |name: &str| server.call("", Method::HEAD, &format!("/projects/1/repository/branches/{name}")).send();
    assert_eq!(head("main").await.unwrap().status(), 204);
    assert_eq!(head("nowhere").await.unwrap().status(), 404);
}

#[tokio::test]
async fn guests_cannot_search_merge_requests_of_a_private_project() {
    let world = WORLD.replace("members = { bo = \"developer\" }", "members = { bo = \"developer\", eve = \"guest\" }");
    let server = Server::of(&world, &Default::default()).await;
    json(server.put("ada", "/projects/ada%2Fhello", &[("visibility", "private")]).await, 200).await;
    for search in ["/search?", "/projects/ada%2Fhello/-/search?"] {
        let search = format!("{search}scope=merge_requests&search=louder");
        assert_eq!(each(&server.read("bo", &search).await, "title"), ["Louder"], "{search}");
        assert_eq!(server.read("eve", &search).await, json!([]), "{search}");
    }
    assert_eq!(server.read("eve", "/merge_requests?scope=all").await, json!([]));
    assert!(server.get("eve", "/projects/ada%2Fhello/merge_requests/1").await.status().is_client_error());
}

#[tokio::test]
async fn external_users_do_not_see_internal_projects() {
    let world = WORLD.replace("{ username = \"eve\" }", "{ username = \"eve\", external = true }");
    let server = Server::of(&world, &Default::default()).await;
    json(server.put("ada", "/projects/ada%2Fhello", &[("visibility", "internal")]).await, 200).await;
    assert_eq!(each(&server.read("bo", "/projects").await, "name"), ["hello"]);
    assert_eq!(server.read("eve", "/projects").await, json!([]));
    let hidden = json(server.get("eve", "/projects/ada%2Fhello").await, 404).await;
    assert_eq!(hidden["message"], "404 Project Not Found");
}

#[tokio::test]
async fn a_protected_branch_cannot_be_deleted() {
    let server = Server::of(WORLD, &Default::default()).await;
    let branches = "/projects/ada%2Fhello/repository/branches";
    json(server.put("ada", &format!("{branches}/louder/protect"), &[]).await, 200).await;
    for user in ["ada", "root"] {
        assert!(server.delete(user, &format!("{branches}/louder")).await.status().is_client_error(), "{user}");
    }
    assert_eq!(server.read("ada", &format!("{branches}/louder")).await["protected"], true);
    json(server.put("ada", &format!("{branches}/louder/unprotect"), &[]).await, 200).await;
    assert!(server.delete("ada", &format!("{branches}/louder")).await.status().is_success());
}
