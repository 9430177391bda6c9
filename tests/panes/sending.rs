//! A review sent over HTTP to a server that misbehaves halfway: nothing is sent twice, and nothing is lost.

use crate::fixtures::{merge_request, user};
use crate::harness::{Begin, Harness};
use crate::scripted::{Answer, Asked, Scripted, answer};
use labscope::app::Place;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Returns the server's reaction to a post by its number; others are accepted.
fn fate(post: usize) -> Fate {
    match post {
        2 => Fate::Limited,
        4 => Fate::TakenAndBroken,
        5 => Fate::TakenAndFailed,
        7 => Fate::Failed,
        _ => Fate::Taken,
    }
}

enum Fate {
    Taken,
    Limited,
    /// The note is accepted, but the reply breaks off.
    TakenAndBroken,
    /// The note is accepted, but the reply reports a failure.
    TakenAndFailed,
    Failed,
}

/// The bodies of accepted notes, and the number of posts received.
type Notes = Arc<Mutex<(Vec<String>, usize)>>;

fn json_of(status: u16, body: &serde_json::Value) -> Answer {
    answer(status, body.to_string()).with("content-type", "application/json")
}

fn mind(asked: &Asked, notes: &Notes) -> Answer {
    let (method, path) = asked.line.split_once(' ').unwrap_or_default();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let Some(rest) = path.strip_prefix("/api/v4") else { return answer(404, "{}") };
    let mut notes = notes.lock().expect("no test panics while it holds this");
    let note = |id: usize, body: &str| {
        json!({"id": id + 1, "body": body, "author": {"id": 1, "username": "ada"}, "system": false,
            "created_at": "2026-06-15T10:00:00Z", "updated_at": "2026-06-15T10:00:00Z"})
    };
    match (method, rest) {
        ("GET", "/user") => json_of(200, &user(1, "ada")),
        ("GET", path) if path.ends_with("/notes") => {
            let mut all: Vec<_> = notes.0.iter().enumerate().map(|(at, body)| note(at, body)).collect();
            if query.contains("sort=desc") {
                all.reverse();
            }
            json_of(200, &json!(all))
        }
        ("POST", path) if path.ends_with("/notes") => {
            notes.1 += 1;
            let fate = fate(notes.1);
            let form: Vec<(String, String)> = url::form_urlencoded::parse(asked.body.as_bytes()).into_owned().collect();
            let body = form.into_iter().find(|(name, _)| name == "body").map(|(_, body)| body).unwrap_or_default();
            if !matches!(fate, Fate::Limited | Fate::Failed) {
                notes.0.push(body.clone());
            }
            let made = note(notes.0.len().saturating_sub(1), &body);
            match fate {
                Fate::Taken => json_of(201, &made),
                Fate::Limited => json_of(429, &json!({"message": "slowly"})).with("retry-after", "40"),
                Fate::TakenAndBroken => json_of(201, &made).cut(),
                Fate::TakenAndFailed => json_of(500, &json!({"message": "out of ink"})),
                Fate::Failed => json_of(500, &json!({"message": "no paper"})),
            }
        }
        ("GET", path) if path.ends_with("/merge_requests/42") => json_of(200, &merge_request(42, "Rows", "opened")),
        ("GET", path) if path.ends_with("/discussions") || path.ends_with("/draft_notes") => {
            json_of(404, &json!({"error": "404 Not Found"}))
        }
        ("GET", _) => json_of(200, &json!([])),
        _ => answer(405, "{}"),
    }
}

fn drafts(harness: &Harness) -> Vec<&String> {
    harness.kept.iter().filter(|(key, _)| key.contains(" draft ")).map(|(_, kept)| kept).collect()
}

#[tokio::test]
async fn ten_drafts_arrive_exactly_once_on_a_misbehaving_server() {
    let notes = Notes::default();
    let known = notes.clone();
    let server = Scripted::minded(move |asked| mind(asked, &known)).await;
    let mut begin = Begin::at(Place::new("mr").project("acme/rocket-ui").item(42)).size(120, 40);
    let on = json!({"merge_request": {"project": "acme/rocket-ui", "iid": 42}});
    for number in 0..10 {
        let draft = json!({"on": on, "text": format!("Comment {number}."), "state": "kept"}).to_string();
        begin.drafts.insert(format!("@ada draft acme/rocket-ui!42 {number}"), draft);
    }
    begin.account = "ada".into();
    let mut harness = begin.server(server.url.as_str(), "token").open();
    harness.settle().await;
    harness.press("S").press("C-s").settle().await;
    // The second post was rate limited: nothing is sent until the requested delay is over.
    harness.expect("waiting to be sent");
    for _ in 0..20 {
        harness.pass(5).settle().await;
    }
    // A note that did not arrive is reported as not sent, and is only sent again on request.
    let sent = notes.lock().expect("not poisoned").1;
    harness.expect("not sent: Server error: 500: no paper");
    harness.press("S").press("C-s").settle().await;
    for _ in 0..4 {
        harness.pass(5).settle().await;
    }
    let (mut there, posts) = notes.lock().expect("not poisoned").clone();
    assert_eq!((sent, posts), (11, 12), "ten, one rate limited, and one resent on request");
    there.sort();
    let all: Vec<String> = (0..10).map(|number| format!("Comment {number}.")).collect();
    assert_eq!(there, all);
    assert!(harness.kept.keys().all(|key| !key.contains(" draft ")), "{:?}", drafts(&harness));
}
