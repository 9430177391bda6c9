//! Access tokens of projects and groups, with the users that they act as, and those of people.

use crate::{Server, WORLD, each, json};
use labscope::backend::{Modes, Options, Version, WorldKind};
use reqwest::Method;
use serde_json::{Value, json as value};

const AT: &str = "/projects/1/access_tokens";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

async fn create(server: &Server, user: &str, body: Value) -> reqwest::Response {
    server.call(user, Method::POST, AT).json(&body).send().await.unwrap()
}

/// Sends a request with a token.
async fn with(server: &Server, token: &Value, method: Method, path: &str) -> reqwest::Response {
    server.call("", method, path).header("private-token", token.as_str().unwrap()).send().await.unwrap()
}

#[tokio::test]
async fn a_token_acts_as_a_member_of_its_project_alone() {
    let server = server().await;
    json(server.post("bo", "/projects", &[("name", "Other"), ("visibility", "private")]).await, 201).await;
    let body = value!({"name": "Bot", "scopes": ["api"], "access_level": 30, "expires_at": "2026-12-24"});
    let made = json(create(&server, "ada", body).await, 201).await;
    let token = &made["token"];
    assert!(token.as_str().unwrap().starts_with("glpat-"), "{made}");
    assert_eq!((&made["access_level"], &made["expires_at"]), (&value!(30), &value!("2026-12-24")));
    assert_eq!((&made["active"], &made["revoked"], &made["scopes"]), (&value!(true), &value!(false), &value!(["api"])));

    let user = json(with(&server, token, Method::GET, "/user").await, 200).await;
    assert!(user["username"].as_str().unwrap().starts_with("project_1_bot_"), "{user}");
    assert_eq!((&user["id"], &user["name"]), (&made["user_id"], &value!("Bot")));
    let branch = "/projects/1/repository/branches?branch=by-bot&ref=main";
    json(with(&server, token, Method::POST, branch).await, 201).await;
    json(with(&server, token, Method::GET, AT).await, 401).await;
    // Only such users may take the approvals of others back.
    let request = "/projects/1/merge_requests/1";
    json(server.post("bo", &format!("{request}/approve"), &[]).await, 201).await;
    let reset = format!("{request}/reset_approvals");
    for user in ["ada", "bo", "root"] {
        assert_eq!(server.put(user, &reset, &[]).await.status(), 401, "{user}");
    }
    assert_eq!(with(&server, token, Method::PUT, &reset).await.status(), 202);
    assert_eq!(server.read("bo", &format!("{request}/approvals")).await["approved_by"], value!([]));
    json(with(&server, token, Method::GET, "/projects/bo%2Fother").await, 404).await;

    let listed = server.read("ada", AT).await;
    assert_eq!(each(&listed, "name"), ["Bot"]);
    assert!(listed[0].get("token").is_none(), "{listed}");
    let one = format!("{AT}/{}", made["id"]);
    assert_eq!(server.read("ada", &one).await["id"], made["id"]);
    let rotated = json(server.post("ada", &format!("{one}/rotate"), &[]).await, 200).await;
    assert_eq!(rotated["expires_at"], "2026-11-27");
    json(with(&server, token, Method::GET, "/user").await, 401).await;
    json(with(&server, &rotated["token"], Method::GET, "/user").await, 200).await;
    assert_eq!(server.delete("ada", &format!("{AT}/{}", rotated["id"])).await.status(), 204);
    json(with(&server, &rotated["token"], Method::GET, "/user").await, 401).await;
    json(server.get("ada", &one).await, 404).await;
}

#[tokio::test]
async fn personal_tokens_are_listed_replaced_and_revoked() {
    let server = server().await;
    let at = "/personal_access_tokens";
    let own = server.read("ada", &format!("{at}/self")).await;
    assert_eq!(server.read("ada", at).await, value!([own]));
    assert_eq!(server.read("ada", &format!("{at}?state=inactive")).await, value!([]));
    json(server.get("ada", &format!("{at}?state=x")).await, 400).await;
    let all = server.read("root", at).await.as_array().unwrap().len();
    assert!(all > 1, "administrators see all");
    let others = server.read("root", &format!("{at}/self")).await["id"].clone();
    for path in [format!("{at}/{others}"), format!("{at}?user_id=1"), format!("{at}/999")] {
        json(server.get("ada", &path).await, 401).await;
    }
    json(server.post("ada", &format!("{at}/{others}/rotate"), &[]).await, 401).await;
    assert_eq!(server.delete("ada", &format!("{at}/{others}")).await.status(), 401);
    json(server.get("root", &format!("{at}/999")).await, 404).await;
    json(server.get("", at).await, 401).await;
    let wrong = [("expires_at", "2020-01-01")];
    json(server.post("ada", &format!("{at}/self/rotate"), &wrong).await, 400).await;

    let rotated = json(server.post("ada", &format!("{at}/self/rotate"), &[]).await, 200).await;
    assert_eq!((&rotated["name"], &rotated["expires_at"]), (&own["name"], &value!("2026-11-27")));
    json(server.get("ada", "/user").await, 401).await;
    let again = format!("{at}/{}/rotate", rotated["id"]);
    let again = json(with(&server, &rotated["token"], Method::POST, &again).await, 200).await;
    json(with(&server, &rotated["token"], Method::GET, "/user").await, 401).await;
    let token = &again["token"];
    assert_eq!(json(with(&server, token, Method::GET, "/user").await, 200).await["username"], "ada");
    assert_eq!(with(&server, token, Method::DELETE, &format!("{at}/self")).await.status(), 204);
    json(with(&server, token, Method::GET, "/user").await, 401).await;
}

#[tokio::test]
async fn tokens_are_for_maintainers_and_not_above_their_own_level() {
    let server = server().await;
    for user in ["bo", "eve"] {
        json(server.get(user, AT).await, 401).await;
        let refused = json(create(&server, user, value!({"name": "Bot", "scopes": ["api"]})).await, 400).await;
        let why = "400 Bad request - User does not have permission to create project access token";
        assert_eq!(refused["message"], why);
    }
    json(server.get("", AT).await, 401).await;
    let bo = server.read("root", "/users?username=bo").await[0]["id"].to_string();
    json(server.put("ada", &format!("/projects/1/members/{bo}"), &[("access_level", "40")]).await, 200).await;
    json(create(&server, "bo", value!({"name": "Bot", "scopes": ["api"], "access_level": 50})).await, 400).await;
    let owner =
        json(create(&server, "ada", value!({"name": "Bot", "scopes": ["api"], "access_level": 50})).await, 201).await;
    json(server.post("bo", &format!("{AT}/{}/rotate", owner["id"]), &[]).await, 400).await;
    json(server.post("eve", &format!("{AT}/{}/rotate", owner["id"]), &[]).await, 401).await;
    json(server.post("root", &format!("{AT}/99/rotate"), &[]).await, 404).await;
    let kept = json(server.delete("eve", &format!("{AT}/{}", owner["id"])).await, 400).await;
    assert_eq!(kept["message"], "400 Bad request - eve cannot delete Bot");
    for (body, why) in [
        (value!({"name": "Bot", "scopes": ["sudo"]}), "scopes does not have a valid value"),
        (value!({"name": "Bot", "scopes": []}), "scopes does not have a valid value"),
        (value!({"name": "Bot", "scopes": ["api"], "access_level": 33}), "access_level does not have a valid value"),
        (value!({"scopes": ["api"]}), "name is missing"),
    ] {
        assert_eq!(json(create(&server, "ada", body).await, 400).await["error"], why);
    }
    let past =
        json(create(&server, "ada", value!({"name": "Bot", "scopes": ["api"], "expires_at": "2026-11-20"})).await, 400)
            .await;
    assert_eq!(past["message"]["expires_at"][0], "must be in the future");
}

#[tokio::test]
async fn a_token_of_a_group_acts_as_a_member_of_the_group() {
    let server = server().await;
    let group = json(server.post("ada", "/groups", &[("name", "Team"), ("path", "team")]).await, 201).await;
    let form = [("name", "Tool"), ("namespace_id", &group["id"].to_string()), ("visibility", "private")];
    json(server.post("ada", "/projects", &form).await, 201).await;
    let at = "/groups/team/access_tokens";
    let body = value!({"name": "Bot", "scopes": ["read_api"], "access_level": 20});
    let send = |user| server.call(user, Method::POST, at).json(&body).send();
    let made = json(send("ada").await.unwrap(), 201).await;
    assert_eq!((&made["resource_type"], &made["resource_id"]), (&"group".into(), &group["id"]));
    let user = json(with(&server, &made["token"], Method::GET, "/user").await, 200).await;
    assert!(user["username"].as_str().unwrap().starts_with("group_"), "{user}");
    json(with(&server, &made["token"], Method::GET, "/projects/team%2Ftool").await, 200).await;
    json(with(&server, &made["token"], Method::POST, "/projects/team%2Ftool/star").await, 403).await;

    assert_eq!(each(&server.read("ada", at).await, "name"), ["Bot"]);
    assert_eq!(server.read("ada", &format!("{at}?state=inactive")).await, value!([]));
    assert_eq!(server.read("ada", &format!("{at}?search=bo")).await.as_array().unwrap().len(), 1);
    let bo = server.read("root", "/users?username=bo").await[0]["id"].to_string();
    let form = [("user_id", &*bo), ("access_level", "40")];
    json(server.post("ada", "/groups/team/members", &form).await, 201).await;
    let one = format!("{at}/{}", made["id"]);
    // Those of groups are for owners.
    json(server.get("bo", at).await, 401).await;
    json(send("bo").await.unwrap(), 400).await;
    json(server.post("bo", &format!("{one}/rotate"), &[]).await, 401).await;
    assert_eq!(server.delete("bo", &one).await.status(), 400);
    json(server.get("", at).await, 401).await;
    let rotated = json(server.post("ada", &format!("{one}/rotate"), &[]).await, 200).await;
    json(with(&server, &made["token"], Method::GET, "/user").await, 401).await;
    assert_eq!(server.delete("ada", &format!("{at}/{}", rotated["id"])).await.status(), 204);
    json(with(&server, &rotated["token"], Method::GET, "/user").await, 401).await;

    let last = json(send("ada").await.unwrap(), 201).await;
    assert_eq!(server.delete("ada", "/groups/team").await.status(), 204);
    json(with(&server, &last["token"], Method::GET, "/user").await, 401).await;
}

#[tokio::test]
async fn administrators_create_personal_tokens_and_users_weak_ones() {
    let server = server().await;
    let ada = server.read("ada", "/user").await["id"].clone();
    let of_ada = format!("/users/{ada}/personal_access_tokens");
    let send = |user: &'static str, path: String, body: Value| {
        let call = server.call(user, Method::POST, &path).json(&body);
        async move { call.send().await.unwrap() }
    };
    let body = value!({"name": "Script", "scopes": ["read_api"], "description": "Reads"});
    json(send("ada", of_ada.clone(), body.clone()).await, 403).await;
    json(send("", of_ada.clone(), body.clone()).await, 401).await;
    let made = json(send("root", of_ada.clone(), body.clone()).await, 201).await;
    assert_eq!((&made["user_id"], &made["description"]), (&ada, &"Reads".into()));
    assert!(made["expires_at"].is_string(), "{made}");
    assert_eq!(json(with(&server, &made["token"], Method::GET, "/user").await, 200).await["id"], ada);
    json(with(&server, &made["token"], Method::POST, "/projects/1/star").await, 403).await;
    json(send("root", "/users/999/personal_access_tokens".into(), body).await, 404).await;
    for scopes in [value!([]), value!(["everything"])] {
        json(send("root", of_ada.clone(), value!({"name": "x", "scopes": scopes})).await, 400).await;
    }

    let own = "/user/personal_access_tokens".to_owned();
    let weak = json(send("ada", own.clone(), value!({"name": "Turns", "scopes": ["self_rotate"]})).await, 201).await;
    assert_eq!(weak["expires_at"], "2026-11-21");
    json(with(&server, &weak["token"], Method::GET, "/projects").await, 403).await;
    let refused = json(send("ada", own, value!({"name": "x", "scopes": ["api"]})).await, 400).await;
    assert_eq!(refused["error"], "scopes does not have a valid value");
}

/// Creates a fine-grained token, as GitLab 19.2 lets users do (`POST /user/personal_access_tokens`).
async fn fine_grained(server: &Server, permissions: &[&str]) -> reqwest::Response {
    let scopes = value!([{ "access": "all_memberships", "permissions": permissions }]);
    let body = value!({ "name": "Fine", "granular_scopes": scopes });
    server.call("ada", Method::POST, "/user/personal_access_tokens").json(&body).send().await.unwrap()
}

#[tokio::test]
async fn a_fine_grained_token_does_what_it_has_permissions_for() {
    let of = |version| Options { world: WorldKind::Demo, modes: Modes::of(version), ..Options::default() };
    json(fine_grained(&Server::with(of(Version::V18)).await, &["read_project"]).await, 400).await;
    let server = Server::with(of(Version::V19)).await;
    let made = json(fine_grained(&server, &["read_project", "create_branch"]).await, 201).await;
    assert_eq!(made["scopes"], value!(["granular"]));
    let token = &made["token"];
    json(with(&server, token, Method::GET, "/projects/acme%2Frocket-ui").await, 200).await;
    let branch = "/projects/acme%2Frocket-ui/repository/branches?branch=fine&ref=main";
    json(with(&server, token, Method::POST, branch).await, 201).await;
    let comment = "/projects/acme%2Frocket-ui/merge_requests/42/notes";
    for (method, path, permission) in [
        (Method::GET, "/projects/acme%2Frocket-ui/merge_requests", "project permissions: [Merge Request: Read]"),
        (Method::POST, comment, "project permissions: [Work Item: Create]"),
        (Method::GET, "/user", "user permissions: [User: Read]"),
        (Method::GET, "/personal_access_tokens/self", "user permissions: [Personal Access Token: Read]"),
        (Method::GET, "/metadata", "instance permissions: [Metadata: Read]"),
    ] {
        let refused = json(with(&server, token, method, path).await, 403).await;
        assert_eq!(refused["error"], "insufficient_granular_scope", "{path}");
        assert!(refused["error_description"].as_str().unwrap().contains(permission), "{path}: {refused}");
    }
    json(fine_grained(&server, &["read_everything"]).await, 400).await;
}
