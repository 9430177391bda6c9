//! Signing in a device with OAuth: the code, the page, the token, and its refresh.

use crate::{Server, json};
use labscope::backend::{Modes, Options, Version};
use reqwest::{Client, Method, Response};
use serde_json::{Value, json as value};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Posts a form to a path at the root of the server.
pub async fn post(server: &Server, path: &str, form: &[(&str, &str)]) -> Response {
    let client = Client::builder().no_proxy().build().unwrap();
    client.post(format!("{}{path}", server.running.base_url)).form(form).send().await.unwrap()
}

async fn begin(server: &Server) -> (String, String) {
    begin_with(server, "api").await
}

/// Begins to sign in a device; returns the device code and the user code.
pub async fn begin_with(server: &Server, scope: &str) -> (String, String) {
    let form = [("client_id", "labscope"), ("scope", scope)];
    let code = json(post(server, "/oauth/authorize_device", &form).await, 200).await;
    let page = format!("{}/oauth/device", server.running.base_url);
    assert_eq!((code["verification_uri"].as_str(), code["expires_in"].as_i64()), (Some(page.as_str()), Some(300)));
    let text = |name: &str| code[name].as_str().unwrap().to_owned();
    assert_eq!(text("verification_uri_complete"), format!("{page}?user_code={}", text("user_code")));
    (text("device_code"), text("user_code"))
}

/// Asks for the token of a device.
pub async fn poll(server: &Server, device_code: &str) -> Response {
    let form = [("grant_type", GRANT), ("device_code", device_code), ("client_id", "labscope")];
    post(server, "/oauth/token", &form).await
}

/// Authorizes a device with the token of a user.
pub async fn allow(server: &Server, code: &str, user: &str) -> Response {
    post(server, "/oauth/device", &[("user_code", code), ("token", server.token(user))]).await
}

#[tokio::test]
async fn a_device_gets_a_token_after_a_user_authorized_it() {
    let server = Server::empty().await;
    let (device, code) = begin(&server).await;
    assert_eq!(code.len(), 8);
    assert_eq!(json(poll(&server, &device).await, 400).await["error"], "authorization_pending");
    assert_eq!(allow(&server, &code, "nobody").await.status(), 401);
    assert_eq!(allow(&server, "00000000", "ada").await.status(), 404);
    assert_eq!(allow(&server, &code.to_lowercase(), "ada").await.status(), 200);
    let grant = json(poll(&server, &device).await, 200).await;
    assert_eq!((grant["token_type"].as_str(), grant["scope"].as_str()), (Some("Bearer"), Some("api")));
    assert_eq!(grant["expires_in"], 7200);
    let access = grant["access_token"].as_str().unwrap();
    let me = server.call("", Method::GET, "/user").bearer_auth(access).send().await.unwrap();
    assert_eq!(json(me, 200).await["username"], "ada");
    let own = server.call("", Method::GET, "/personal_access_tokens/self").bearer_auth(access).send().await.unwrap();
    assert!(json(own, 400).await["message"].as_str().unwrap().contains("personal access token"));
    let info = async |token: &str| {
        let client = Client::builder().no_proxy().build().unwrap();
        let asked = client.get(format!("{}/oauth/token/info", server.running.base_url)).bearer_auth(token);
        asked.send().await.unwrap()
    };
    let known = json(info(access).await, 200).await;
    assert_eq!((&known["scope"], &known["scopes"]), (&value!(["api"]), &value!(["api"])));
    assert!((7000..=7200).contains(&known["expires_in_seconds"].as_i64().unwrap()), "{known}");
    assert_eq!(json(info(server.token("ada")).await, 401).await["error"], "invalid_token", "it is not an OAuth token");
    assert_eq!(json(poll(&server, &device).await, 400).await["error"], "invalid_grant", "a code can be used once");
}

#[tokio::test]
async fn refreshing_a_token_revokes_the_previous_pair() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of("[[users]]\nusername = \"root\"\nadmin = true\n", &passed).await;
    let (device, code) = begin(&server).await;
    allow(&server, &code, "root").await;
    let first = json(poll(&server, &device).await, 200).await;
    passed.store(7200, Ordering::Relaxed);
    let access = first["access_token"].as_str().unwrap();
    let late = server.call("", Method::GET, "/user").bearer_auth(access).send().await.unwrap();
    assert!(late.headers()["www-authenticate"].to_str().unwrap().contains("error=\"invalid_token\""));
    assert_eq!(json(late, 401).await["error"], "invalid_token");
    let refresh = first["refresh_token"].as_str().unwrap();
    let form = [("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", "labscope")];
    let second = json(post(&server, "/oauth/token", &form).await, 200).await;
    let access = second["access_token"].as_str().unwrap();
    let me = server.call("", Method::GET, "/user").bearer_auth(access).send().await.unwrap();
    assert_eq!(json(me, 200).await["username"], "root");
    assert_eq!(json(post(&server, "/oauth/token", &form).await, 400).await["error"], "invalid_grant");
}

#[tokio::test]
async fn invalid_clients_scopes_and_expired_codes_are_refused() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of("[[users]]\nusername = \"root\"\nadmin = true\n", &passed).await;
    for (form, status, error) in [
        ([("client_id", "other"), ("scope", "api")], 401, "invalid_client"),
        ([("client_id", "labscope"), ("scope", "")], 400, "invalid_scope"),
        ([("client_id", "labscope"), ("scope", "api sudo")], 400, "invalid_scope"),
    ] {
        let refused = json(post(&server, "/oauth/authorize_device", &form).await, status).await;
        assert_eq!(refused["error"], error);
    }
    let (device, code) = begin(&server).await;
    passed.store(301, Ordering::Relaxed);
    assert_eq!(allow(&server, &code, "root").await.status(), 404);
    assert_eq!(json(poll(&server, &device).await, 400).await["error"], "expired_token");
    let client = Client::builder().no_proxy().build().unwrap();
    let page = format!("{}/oauth/device?user_code=%22%3E%3Cscript%3E", server.running.base_url);
    let page = client.get(page).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("value=\"&quot;&gt;&lt;script&gt;\""), "{page}");
}

#[tokio::test]
async fn an_old_server_has_no_device_authorization() {
    let server = Server::with(Options { modes: Modes::of(Version::V10_6), ..Options::default() }).await;
    let form = [("client_id", "labscope"), ("scope", "api")];
    assert_eq!(post(&server, "/oauth/authorize_device", &form).await.status(), 404);
}

const PEOPLE: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [
    { username = "root", admin = true },
    { username = "late", token = "of-late", token_expires = "2026-11-20T16:00:05Z" },
    { username = "soon", token = "of-soon", token_expires = "2026-11-20T17:00:10Z" },
    { username = "out", token = "of-out", blocked = true },
    { username = "self", token = "of-self", token_scopes = ["read_user"] },
    { username = "reader", token = "of-reader", token_scopes = ["read_api"] },
    { username = "writer", token = "of-writer", token_scopes = ["api"] },
]
"#;

#[tokio::test]
async fn a_device_gets_no_scope_that_the_approving_token_does_not_have() {
    let server = Server::of(PEOPLE, &Arc::default()).await;
    let scopes = ["api", "read_api", "read_user"];
    for (user, allowed) in [
        ("root", &scopes[..]),
        ("writer", &scopes[..]),
        ("reader", &scopes[1..]),
        ("self", &scopes[2..]),
        ("late", &[]),
        ("out", &[]),
    ] {
        for scope in scopes {
            let (device, code) = begin_with(&server, scope).await;
            let status = allow_with(&server, &code, user).await.status().as_u16();
            if allowed.contains(&scope) {
                assert_eq!(status, 200, "{user} {scope}");
                let granted = json(poll(&server, &device).await, 200).await;
                assert_eq!(granted["scope"], scope, "{user}");
            } else {
                assert!([401, 403].contains(&status), "{user} {scope}: {status}");
                assert_eq!(json(poll(&server, &device).await, 400).await["error"], "authorization_pending");
            }
        }
    }
    let (device, code) = begin_with(&server, "read_user read_api read_user").await;
    assert_eq!(allow_with(&server, &code, "self").await.status(), 403);
    assert_eq!(allow_with(&server, &code, "reader").await.status(), 200);
    assert_eq!(json(poll(&server, &device).await, 200).await["scope"], "read_api read_user");
}

/// Authorizes a device with the token that the world gives to a user.
async fn allow_with(server: &Server, code: &str, user: &str) -> Response {
    let own = format!("of-{user}");
    let token = if user == "root" { server.token("root") } else { &own };
    post(server, "/oauth/device", &[("user_code", code), ("token", token)]).await
}

#[tokio::test]
async fn the_token_of_a_device_does_not_outlive_the_approving_token() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(PEOPLE, &passed).await;
    let (device, code) = begin(&server).await;
    assert_eq!(allow_with(&server, &code, "soon").await.status(), 200);
    let granted = json(poll(&server, &device).await, 200).await;
    assert_eq!(granted["expires_in"], 3600);
    let refresh = |token: &Value| {
        let token = token["refresh_token"].as_str().unwrap().to_owned();
        let server = &server;
        async move {
            let form = [("grant_type", "refresh_token"), ("refresh_token", &*token), ("client_id", "labscope")];
            post(server, "/oauth/token", &form).await
        }
    };
    passed.store(1800, Ordering::Relaxed);
    let renewed = json(refresh(&granted).await, 200).await;
    assert_eq!(renewed["expires_in"], 1800);
    passed.store(3601, Ordering::Relaxed);
    assert_eq!(json(refresh(&renewed).await, 400).await["error"], "invalid_grant");
}

#[tokio::test]
async fn a_refresh_can_narrow_the_scopes_but_not_widen_them() {
    let server = Server::of(PEOPLE, &Arc::default()).await;
    let (device, code) = begin_with(&server, "read_api read_user").await;
    allow_with(&server, &code, "root").await;
    let granted = json(poll(&server, &device).await, 200).await;
    let refresh = granted["refresh_token"].as_str().unwrap();
    let form = |scope| {
        [("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", "labscope"), ("scope", scope)]
    };
    assert_eq!(json(post(&server, "/oauth/token", &form("api")).await, 400).await["error"], "invalid_scope");
    assert_eq!(json(post(&server, "/oauth/token", &form("read_user")).await, 200).await["scope"], "read_user");
}

#[tokio::test]
async fn a_deleted_user_gets_no_token_and_cannot_refresh_one() {
    let server = Server::of(PEOPLE, &Arc::default()).await;
    let (device, code) = begin(&server).await;
    allow_with(&server, &code, "writer").await;
    let granted = json(poll(&server, &device).await, 200).await;
    let (second, code) = begin(&server).await;
    allow_with(&server, &code, "writer").await;
    let users = server.read("root", "/users?username=writer").await;
    assert_eq!(server.delete("root", &format!("/users/{}", users[0]["id"])).await.status(), 204);
    assert_eq!(json(poll(&server, &second).await, 400).await["error"], "invalid_grant");
    let refresh = granted["refresh_token"].as_str().unwrap();
    let form = [("grant_type", "refresh_token"), ("refresh_token", refresh), ("client_id", "labscope")];
    assert_eq!(json(post(&server, "/oauth/token", &form).await, 400).await["error"], "invalid_grant");
}

#[tokio::test]
async fn a_device_that_polls_too_fast_is_told_to_slow_down() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(PEOPLE, &passed).await;
    let (device, code) = begin(&server).await;
    assert_eq!(json(poll(&server, &device).await, 400).await["error"], "authorization_pending");
    assert_eq!(json(poll(&server, &device).await, 400).await["error"], "slow_down");
    passed.store(1, Ordering::Relaxed);
    assert_eq!(json(poll(&server, &device).await, 400).await["error"], "authorization_pending");
    allow_with(&server, &code, "root").await;
    // A code that is authorized cannot be taken over by another user.
    assert_eq!(allow_with(&server, &code, "writer").await.status(), 404);
    json(poll(&server, &device).await, 200).await;
}

#[tokio::test]
async fn user_codes_cannot_be_guessed() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(PEOPLE, &passed).await;
    let (_, code) = begin(&server).await;
    // Without a token, a reply does not tell whether a code exists.
    assert_eq!(post(&server, "/oauth/device", &[("user_code", &*code), ("token", "x")]).await.status(), 401);
    assert_eq!(post(&server, "/oauth/device", &[("user_code", "0000"), ("token", "x")]).await.status(), 401);
    for guess in 0..20 {
        assert_eq!(allow_with(&server, &format!("{guess:08}"), "writer").await.status(), 404);
    }
    let refused = allow_with(&server, &code, "writer").await;
    assert_eq!(refused.status(), 429);
    assert!(refused.text().await.unwrap().contains("Too many wrong codes"));
    assert_eq!(allow_with(&server, &code, "root").await.status(), 200, "another user is not affected");
    passed.store(301, Ordering::Relaxed);
    let (_, code) = begin(&server).await;
    assert_eq!(allow_with(&server, &code, "writer").await.status(), 200);
}

#[tokio::test]
async fn the_number_of_device_codes_is_limited_and_web_pages_get_none() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(PEOPLE, &passed).await;
    let form = [("client_id", "labscope"), ("scope", "api")];
    for _ in 0..100 {
        begin(&server).await;
    }
    let refused = post(&server, "/oauth/authorize_device", &form).await;
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    passed.store(301, Ordering::Relaxed);
    begin(&server).await;
    let client = Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/oauth/authorize_device", server.running.base_url);
    let page = client.post(url).form(&form).header("origin", "https://evil.example").send().await.unwrap();
    assert_eq!(page.status(), 403);
}
