//! The scopes and the expiry of a token, reported before a write is tried.

use crate::harness::{Begin, Harness};
use labscope::api::Fault;
use labscope::app::Place;
use serde_json::{Value, json};

const TOKEN: &str = "GET /personal_access_tokens/self";

async fn labels(token: Option<Value>) -> Harness {
    let mut harness = Begin::at(Place::new("labels").project("a/b")).size(120, 20).open();
    let bug = json!({"id": 1, "name": "bug", "color": "#d9534f", "is_project_label": true});
    harness.reply("GET /projects/a%2Fb/labels?with_counts=true", [bug]);
    if let Some(token) = token {
        harness.reply(TOKEN, token);
    }
    harness.settle().await;
    harness
}

fn asked(harness: &Harness) -> usize {
    harness.asked.iter().filter(|line| *line == TOKEN).count()
}

#[tokio::test]
async fn a_read_only_token_is_reported_before_any_write() {
    let mut harness = labels(Some(json!({"id": 3, "scopes": ["read_api", "read_user"]}))).await;
    harness.expect("read-only token");
    for key in ["+", "e", "D"] {
        harness.press(key).expect("The token lacks the scope api");
        harness.press("j");
    }
    harness.press("a").expect("The token lacks the scope api").press("Esc");
    assert!(harness.asked.iter().all(|line| line.starts_with("GET ")), "{:?}", harness.asked);
}

#[tokio::test]
async fn a_token_for_the_account_alone_is_not_said_to_read() {
    let mut harness = labels(Some(json!({"id": 3, "scopes": ["read_user"]}))).await;
    harness.expect("token cannot read projects").expect_no("read-only token");
}

#[tokio::test]
async fn tokens_with_write_or_unknown_scopes_are_not_restricted() {
    for scopes in [json!(["api"]), json!(["read_api", "granular"]), json!([])] {
        let mut harness = labels(Some(json!({"id": 3, "scopes": scopes}))).await;
        harness.press("+").expect("New label in a/b");
        assert!(!harness.shows("read-only"), "{}", harness.picture());
    }
}

#[tokio::test]
async fn the_expiry_of_a_token_is_announced_once_a_week_before() {
    for (date, says) in [
        ("2026-06-22", "Your token expires in 7 days (2026-06-22). Create another: labscope auth login"),
        ("2026-06-16", "Your token expires tomorrow (2026-06-16)."),
        ("2026-06-23", ""),
        // OAuth tokens live for hours.
        ("2026-06-15T12:20:00.000Z", "Your token expires in 20 min. Create another: labscope auth login"),
        ("2026-06-15T13:30:00.000Z", ""),
        ("nonsense", ""),
    ] {
        let mut harness = labels(Some(json!({"id": 3, "scopes": ["api"], "expires_at": date}))).await;
        assert_eq!(harness.shows("Your token expires"), !says.is_empty(), "{}", harness.picture());
        assert!(harness.shows(says), "{}", harness.picture());
        harness.pass(7).press("r").settle().await;
        assert!(!harness.shows("Your token expires"), "{}", harness.picture());
        assert_eq!(asked(&harness), 1, "{:?}", harness.asked);
    }
}

#[tokio::test]
async fn a_server_without_token_details_is_asked_once_and_restricts_nothing() {
    let mut harness = labels(None).await;
    harness.press("r").settle().await;
    harness.press("+").expect("New label in a/b");
    assert_eq!(asked(&harness), 1, "{:?}", harness.asked);
}

#[tokio::test]
async fn a_scope_reported_missing_by_the_server_is_named() {
    let mut harness = Begin::at(Place::new("labels").project("a/b")).size(120, 20).refusing(|_| true).open();
    let bug = json!({"id": 1, "name": "bug", "color": "#d9534f", "is_project_label": true});
    harness.reply("GET /projects/a%2Fb/labels?with_counts=true", [bug]).settle().await;
    harness.press("D y");
    harness.refuse(Fault::Scope(vec!["api".into()]));
    harness.expect("the token lacks the scope api");
}
