//! Signing in a device with OAuth: the code, the page, the token, and its refresh.

use crate::{Server, json};
use labscope::backend::Options;
use reqwest::{Client, Method, Response};
use serde_json::json as value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

async fn post(server: &Server, path: &str, form: &[(&str, &str)]) -> Response {
    let client = Client::builder().no_proxy().build().unwrap();
    client.post(format!("{}{path}", server.running.base_url)).form(form).send().await.unwrap()
}

async fn begin(server: &Server) -> (String, String) {
    let form = [("client_id", "labscope"), ("scope", "api")];
    let code = json(post(server, "/oauth/authorize_device", &form).await, 200).await;
    let page = format!("{}/oauth/device", server.running.base_url);
    assert_eq!((code["verification_uri"].as_str(), code["expires_in"].as_i64()), (Some(page.as_str()), Some(300)));
    let text = |name: &str| code[name].as_str().unwrap().to_owned();
    assert_eq!(text("verification_uri_complete"), format!("{page}?user_code={}", text("user_code")));
    (text("device_code"), text("user_code"))
}

async fn poll(server: &Server, device_code: &str) -> Response {
    let form = [("grant_type", GRANT), ("device_code", device_code), ("client_id", "labscope")];
    post(server, "/oauth/token", &form).await
}

async fn allow(server: &Server, code: &str, user: &str) -> Response {
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
    let server = Server::with(Options { only_specified: true, ..Options::default() }).await;
    let form = [("client_id", "labscope"), ("scope", "api")];
    assert_eq!(post(&server, "/oauth/authorize_device", &form).await.status(), 404);
}
