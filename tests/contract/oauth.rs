//! Signing in with OAuth in literal requests, and tokens that are refreshed while in use.

use crate::client::{at, client};
use crate::scripted::{Scripted, answer};
use futures::FutureExt;
use jiff::Timestamp;
use labscope::api::Fault;
use labscope::api::branches::CreateBranch;
use labscope::api::client::{Client, Poll, Server, TokenSource};
use labscope::api::identity::{AccessToken, GetOwnToken};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn a_device_requests_a_code_and_polls_for_its_token() {
    let pair = r#"{"access_token":"one","token_type":"Bearer","expires_in":7200,"refresh_token":"two","scope":"api"}"#;
    let server = Scripted::start([
        answer(200, r#"{"device_code":"d-c","user_code":"0A0B0C0D","expires_in":300,"interval":7}"#),
        answer(400, r#"{"error":"authorization_pending"}"#),
        answer(400, r#"{"error":"slow_down"}"#),
        answer(200, pair),
        answer(400, r#"{"error":"invalid_grant"}"#),
        answer(400, r#"{"error":"access_denied"}"#),
        answer(401, r#"{"error":"invalid_client","error_description":"unknown client"}"#),
    ])
    .await;
    let client = client(&server);
    let code = client.request_device_code("app", "api read_user").await.expect("a code");
    assert_eq!((code.interval(), code.lifetime()), (Duration::from_secs(7), Duration::from_secs(300)));
    assert_eq!(code.pages(client.server()).0.path(), "/oauth/device");
    let poll = async || client.poll_device("app", &code.device_code).await;
    assert!(matches!(poll().await, Ok(Poll::Pending)));
    assert!(matches!(poll().await, Ok(Poll::SlowDown)));
    let Ok(Poll::Granted(grant)) = poll().await else { panic!("it is granted") };
    assert_eq!((grant.access_token.as_str(), grant.refresh_token.as_str()), ("one", "two"));
    assert!(matches!(poll().await, Ok(Poll::Expired)));
    assert!(matches!(poll().await, Ok(Poll::Denied)));
    let Err(error) = poll().await else { panic!("it fails") };
    assert_eq!(error.fault, Fault::Unauthorized("unknown client".into()));
    let asked = server.asked();
    assert_eq!(asked[0].line, "POST /oauth/authorize_device");
    assert_eq!(asked[0].body, "client_id=app&scope=api+read_user");
    assert_eq!((asked[0].header("content-type"), asked[0].header("private-token")), (FORM, ""));
    let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code";
    assert_eq!(asked[1].line, "POST /oauth/token");
    assert_eq!(asked[1].body, format!("grant_type={grant}&device_code=d-c&client_id=app"));
}

#[tokio::test]
async fn refreshing_a_token_never_shows_secrets_in_errors() {
    let server = Scripted::start([
        answer(200, r#"{"access_token":"three","expires_in":7200,"refresh_token":"four"}"#),
        answer(400, r#"{"error":"invalid_grant","error_description":"It was revoked."}"#),
        answer(200, r#"{"access_token":7,"refresh_token":"s3cret"}"#),
        answer(200, "{}"),
    ])
    .await;
    let client = client(&server);
    let renew = async || client.renew("app", "two").await;
    let Ok(grant) = renew().await else { panic!("a new pair") };
    assert_eq!((grant.access_token.as_str(), grant.expires_in), ("three", Some(7200)));
    let asked = &server.asked()[0];
    assert_eq!(asked.body, "grant_type=refresh_token&refresh_token=two&client_id=app");
    let Err(revoked) = renew().await else { panic!("it is used up") };
    assert_eq!(revoked.fault, Fault::Unauthorized("It was revoked.".into()));
    for _ in 0..2 {
        let Err(error) = renew().await else { panic!("no pair") };
        assert!(matches!(error.fault, Fault::Unreadable(_)) && !error.to_string().contains("s3cret"), "{error}");
    }
}

/// Returns the description of the client's own token.
async fn described(client: &Client) -> AccessToken {
    client.call(&GetOwnToken {}).await.expect("a token")
}

#[tokio::test]
async fn an_oauth_token_is_described_by_the_oauth_endpoint() {
    let refusal = r#"{"message":"400 Bad request - This endpoint requires token type to be a personal access token"}"#;
    let info = r#"{"resource_owner_id":1,"scope":["read_api"],"scopes":["read_api"],"expires_in":5400,
        "expires_in_seconds":5400,"application":{"uid":"a"},"created_at":1700000000}"#;
    let server = Scripted::start([answer(400, refusal), answer(200, info)]).await;
    let token = described(&Client::new(Server { oauth: true, ..at(&server.url) }).expect("a client")).await;
    assert_eq!((token.missing_scope(), token.scopes.as_slice()), (Some("api"), &["read_api".to_owned()][..]));
    let left = token.minutes_left(Timestamp::now()).expect("it expires");
    assert!((88..=90).contains(&left), "{left}");
    let asked = server.asked();
    assert_eq!(asked[1].line, "GET /oauth/token/info");
    assert!(asked[1].header("authorization").starts_with("Bearer ") && asked[1].header("private-token").is_empty());

    // A token that refreshes itself never expires from the user's point of view.
    let server = Scripted::start([answer(404, r#"{"error":"404 Not Found"}"#), answer(200, info)]).await;
    assert_eq!(described(&renewing(&server)).await.expires_at, None);

    // The OAuth endpoint is not used for personal access tokens, nor if the first request succeeds.
    let server = Scripted::start([answer(400, refusal)]).await;
    let error = client(&server).call(&GetOwnToken {}).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Refused(400, _)) && server.asked().len() == 1, "{error}");
}

/// Returns a client whose token source supplies `token-0`, and the next number each time a token is refused.
fn renewing(server: &Scripted) -> Client {
    let number = Arc::new(AtomicUsize::new(0));
    let source = TokenSource::new(move |refused: Option<SecretString>| {
        let number = number.clone();
        async move {
            let refused = refused.map(|token| token.expose_secret().to_owned());
            if refused.as_deref() == Some(&format!("token-{}", number.load(Ordering::Relaxed))) {
                number.fetch_add(1, Ordering::Relaxed);
            }
            Ok(format!("token-{}", number.load(Ordering::Relaxed)).into())
        }
        .boxed()
    });
    Client::new(Server { token: None, oauth: true, renewal: Some(source), ..at(&server.url) }).expect("a client")
}

#[tokio::test]
async fn a_write_with_an_expired_token_is_resent_once_with_a_new_token() {
    let expired = || {
        let body = r#"{"error":"invalid_token","error_description":"Token is expired."}"#;
        answer(401, body).with("www-authenticate", "Bearer realm=\"x\", error=\"invalid_token\"")
    };
    let decided = answer(401, r#"{"message":"401 Unauthorized"}"#);
    let script = [expired(), answer(201, r#"{"name":"rows"}"#), decided, expired(), expired()];
    let server = Scripted::start(script).await;
    let client = renewing(&server);
    let create = CreateBranch { id: 1_u64.into(), branch: "rows".into(), r#ref: "main".into() };
    assert_eq!(client.call(&create).await.expect("a branch").name, "rows");
    let lines: Vec<(String, String)> =
        server.asked().iter().map(|asked| (asked.header("authorization").to_owned(), asked.body.clone())).collect();
    let body = "branch=rows&ref=main".to_owned();
    assert_eq!(lines, [("Bearer token-0".to_owned(), body.clone()), ("Bearer token-1".to_owned(), body)]);
    // A missing permission does not trigger a refresh, and a refresh is tried only once.
    let error = client.call(&create).await.expect_err("refused");
    assert_eq!((error.fault, server.asked().len()), (Fault::Unauthorized("401 Unauthorized".into()), 3));
    let error = client.call(&create).await.expect_err("refused");
    assert_eq!((error.fault, server.asked().len()), (Fault::Unauthorized("Token is expired.".into()), 5));
}
