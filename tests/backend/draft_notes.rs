//! Reviews: draft notes, and requested reviewers.

use crate::discussions::{comment, position, post_json, server};
use crate::{Server, each, json};
use reqwest::{Method, Response};
use serde_json::{Value, json as value};

const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";

async fn draft(server: &Server, user: &str, body: Value) -> Response {
    post_json(server, user, &format!("{REQUEST}/draft_notes"), &body).await
}

async fn threads(server: &Server) -> Vec<Value> {
    server.read("eve", &format!("{REQUEST}/discussions?per_page=100")).await.as_array().unwrap().clone()
}

/// Returns the username and review state of each reviewer.
async fn reviews(server: &Server) -> Vec<(String, String)> {
    let list = server.read("eve", &format!("{REQUEST}/reviewers")).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(|row| (text(&row["user"]["username"]), text(&row["state"]))).collect()
}

#[tokio::test]
async fn draft_notes_are_private_to_their_author_until_published() {
    let server = server().await;
    let list = format!("{REQUEST}/draft_notes");
    let place = position(&server, value!({"new_line": 11})).await;
    let made = json(draft(&server, "cem", value!({"note": "On a line", "position": place})).await, 201).await;
    assert_eq!((&made["note"], &made["position"]["new_line"]), (&value!("On a line"), &value!(11)));
    assert!(made["line_code"].as_str().unwrap().ends_with("_11_11") && made["discussion_id"].is_null(), "{made}");
    let general = json(draft(&server, "cem", value!({"note": "In general"})).await, 201).await;
    assert!(general["position"]["head_sha"].is_null() && general["position"]["new_line"].is_null(), "{general}");
    assert_eq!(each(&server.read("cem", &list).await, "note"), ["On a line", "In general"]);
    // Drafts are invisible to everybody else, including administrators.
    for user in ["bo", "ada", "root"] {
        assert_eq!(server.read(user, &list).await, value!([]));
        let one = format!("{list}/{}", made["id"]);
        assert_eq!(json(server.put(user, &one, &[("note", "Mine")]).await, 404).await["message"], "404 Not found");
        assert_eq!(server.delete(user, &one).await.status(), 404);
        assert_eq!(server.put(user, &format!("{one}/publish"), &[]).await.status(), 404);
    }
    assert_eq!(threads(&server).await.len(), 2);
    assert_eq!(server.read("bo", REQUEST).await["user_notes_count"], 1);

    // An update keeps a position that it repeats, and clears one that it omits.
    let one = format!("{list}/{}", made["id"]);
    let body = value!({"note": "On this line", "position": place});
    let kept = json(server.call("cem", Method::PUT, &one).json(&body).send().await.unwrap(), 200).await;
    assert_eq!((&kept["note"], &kept["position"]["new_line"]), (&value!("On this line"), &value!(11)));
    let lost = json(server.put("cem", &format!("{list}/{}", general["id"]), &[("note", "Generally")]).await, 200).await;
    assert!(lost["position"]["new_line"].is_null());
    assert_eq!(json(server.put("cem", &one, &[]).await, 400).await["error"], "note is missing");

    assert_eq!(server.put("cem", &format!("{one}/publish"), &[]).await.status(), 204);
    assert_eq!(each(&server.read("cem", &list).await, "note"), ["Generally"]);
    let published = threads(&server).await.pop().unwrap();
    assert_eq!(
        (&published["notes"][0]["type"], &published["notes"][0]["body"]),
        (&value!("DiffNote"), &value!("On this line"))
    );
    let all = format!("{list}/bulk_publish");
    for _ in 0..2 {
        assert_eq!(server.post("cem", &all, &[]).await.status(), 204);
    }
    let published = threads(&server).await.pop().unwrap();
    assert_eq!(
        (&published["notes"][0]["body"], &published["notes"][0]["resolvable"]),
        (&value!("Generally"), &value!(true))
    );
    assert_eq!(published["notes"][0]["author"]["username"], "cem");
    assert_eq!(server.read("cem", &list).await, value!([]));
}

#[tokio::test]
async fn a_user_has_one_draft_reply_per_thread_which_may_resolve_it() {
    let server = server().await;
    let thread = json(comment(&server, "ada", value!({"new_line": 10})).await, 201).await["id"].clone();
    let answer =
        |resolves: bool| value!({"note": "So", "in_reply_to_discussion_id": thread, "resolve_discussion": resolves});
    let made = json(draft(&server, "bo", answer(true)).await, 201).await;
    assert_eq!((&made["discussion_id"], &made["resolve_discussion"]), (&thread, &value!(true)));
    let again = json(draft(&server, "bo", answer(false)).await, 400).await;
    assert_eq!(again["message"], value!({"author_id": ["has already been taken"]}));
    let unknown = json(draft(&server, "bo", value!({"note": "x", "in_reply_to_discussion_id": "ab"})).await, 400).await;
    assert_eq!(unknown["message"], value!({"base": ["Thread to reply to cannot be found"]}));
    let system = threads(&server).await.swap_remove(1);
    let body = value!({"note": "x", "in_reply_to_discussion_id": system["id"]});
    assert_eq!(json(draft(&server, "bo", body).await, 400).await["message"], unknown["message"]);
    let refused = json(draft(&server, "eve", answer(true)).await, 400).await;
    assert_eq!(refused["message"], value!({"base": ["User is not allowed to resolve thread"]}));
    assert_eq!(
        json(draft(&server, "bo", value!({"note": " "})).await, 400).await["message"],
        value!({"note": ["can't be blank"]})
    );
    let publish = format!("{REQUEST}/draft_notes/bulk_publish");
    assert_eq!(server.post("bo", &publish, &[]).await.status(), 204);
    let state = async || {
        let found = threads(&server).await.into_iter().find(|row| row["id"] == thread).unwrap();
        found["notes"].as_array().unwrap().iter().map(|note| note["resolved"] == true).collect::<Vec<_>>()
    };
    assert_eq!(state().await, [true, true]);
    json(draft(&server, "eve", answer(false)).await, 201).await;
    assert_eq!(server.post("eve", &publish, &[]).await.status(), 204);
    assert_eq!(state().await, [false, false, false], "it is reopened");
}

#[tokio::test]
async fn a_draft_on_a_line_outside_the_changes_vanishes_when_published() {
    let server = server().await;
    let place = position(&server, value!({"new_line": 3})).await;
    let made = json(draft(&server, "bo", value!({"note": "Lost", "position": place})).await, 201).await;
    assert!(made["line_code"].is_null(), "{made}");
    assert_eq!(server.put("bo", &format!("{REQUEST}/draft_notes/{}/publish", made["id"]), &[]).await.status(), 204);
    assert_eq!(threads(&server).await.len(), 2);
    assert_eq!(server.read("bo", &format!("{REQUEST}/draft_notes")).await, value!([]));
}

#[tokio::test]
async fn the_state_of_a_reviewer_follows_their_actions() {
    let server = server().await;
    let id = async |user: &str| server.read("ada", &format!("/users?username={user}")).await[0]["id"].clone();
    let (bo, cem) = (id("bo").await, id("cem").await);
    let set =
        async |body: Value| json(server.call("ada", Method::PUT, REQUEST).json(&body).send().await.unwrap(), 200).await;
    let request = set(value!({"reviewer_ids": [cem, bo], "assignee_ids": [bo, cem]})).await;
    assert_eq!(each(&request["reviewers"], "username"), ["cem", "bo"]);
    assert_eq!(
        (each(&request["assignees"], "username"), &request["assignee"]["username"]),
        (vec!["bo", "cem"], &value!("bo"))
    );
    let state = |user: &str, state: &str| (user.to_owned(), state.to_owned());
    assert_eq!(reviews(&server).await, [state("cem", "unreviewed"), state("bo", "unreviewed")]);

    let made = json(draft(&server, "cem", value!({"note": "x"})).await, 201).await;
    assert_eq!(reviews(&server).await[0], state("cem", "review_started"));
    server.delete("cem", &format!("{REQUEST}/draft_notes/{}", made["id"])).await;
    assert_eq!(reviews(&server).await[0], state("cem", "unreviewed"));
    json(draft(&server, "cem", value!({"note": "x"})).await, 201).await;
    let publish = format!("{REQUEST}/draft_notes/bulk_publish");
    server.post("cem", &publish, &[]).await;
    assert_eq!(reviews(&server).await[0], state("cem", "review_started"), "publishing alone sets no state");
    server.post("cem", &publish, &[("reviewer_state", "reviewed")]).await;
    assert_eq!(reviews(&server).await[0], state("cem", "reviewed"));
    json(server.post("bo", &format!("{REQUEST}/approve"), &[]).await, 201).await;
    assert_eq!(reviews(&server).await[1], state("bo", "approved"));
    json(server.post("bo", &format!("{REQUEST}/unapprove"), &[]).await, 201).await;
    assert_eq!(reviews(&server).await[1], state("bo", "unapproved"));

    // Changing the list of reviewers keeps the state of those who remain.
    set(value!({"reviewer_ids": [cem]})).await;
    assert_eq!(reviews(&server).await, [state("cem", "reviewed")]);
    let none = json(server.put("ada", REQUEST, &[("reviewer_ids[]", "0"), ("assignee_ids[]", "0")]).await, 200).await;
    assert_eq!((&none["reviewers"], &none["assignees"], &none["assignee"]), (&value!([]), &value!([]), &Value::Null));
    let notes = server.read("eve", &format!("{REQUEST}/notes?sort=asc&per_page=100")).await;
    for body in ["requested review from @cem and @bo", "removed review request for @bo", "assigned to @bo and @cem"] {
        assert!(each(&notes, "body").contains(&body), "{body}: {notes}");
    }
}

#[tokio::test]
async fn a_single_draft_note_is_read_by_its_author_only() {
    let server = server().await;
    let made = json(draft(&server, "cem", value!({"note": "In general"})).await, 201).await;
    let path = format!("{REQUEST}/draft_notes/{}", made["id"]);
    assert_eq!(server.read("cem", &path).await, made);
    for user in ["bo", "root"] {
        assert_eq!(json(server.get(user, &path).await, 404).await["message"], "404 Not found");
    }
}

#[tokio::test]
async fn the_summary_of_a_review_is_a_plain_note_and_its_state_is_kept() {
    let server = server().await;
    let id = server.read("root", "/users?username=cem").await[0]["id"].to_string();
    json(server.put("ada", REQUEST, &[("reviewer_ids[]", &id)]).await, 200).await;
    let all = format!("{REQUEST}/draft_notes/bulk_publish");
    let odd = json(server.post("cem", &all, &[("reviewer_state", "amazed")]).await, 400).await;
    assert_eq!(odd["error"], "reviewer_state does not have a valid value");
    let form = [("note", "Not yet."), ("reviewer_state", "requested_changes")];
    assert_eq!(server.post("cem", &all, &form).await.status(), 204);
    let mut written = threads(&server).await;
    written.retain(|thread| thread["notes"][0]["system"] == false);
    let summary = written.pop().unwrap();
    assert_eq!((&summary["individual_note"], &summary["notes"][0]["body"]), (&value!(true), &value!("Not yet.")));
    assert_eq!(summary["notes"][0]["resolvable"], false);
    assert_eq!(server.read("cem", &format!("{REQUEST}/reviewers")).await[0]["state"], "requested_changes");
}

/// `lib/api/merge_request_approvals.rb` publishes the drafts before it looks at the approval (18.6).
#[tokio::test]
async fn an_approval_publishes_the_review_if_asked() {
    let server = server().await;
    let (list, approve) = (format!("{REQUEST}/draft_notes"), format!("{REQUEST}/approve"));
    let drafts = async || each(&server.read("bo", &list).await, "note").len();
    let approved = async || server.read("bo", &format!("{REQUEST}/approvals")).await["user_has_approved"] == true;
    json(draft(&server, "bo", value!({"note": "One thing"})).await, 201).await;
    json(server.post("bo", &approve, &[("publish_review", "false")]).await, 201).await;
    assert_eq!((drafts().await, approved().await), (1, true), "not asked");
    let again = server.post("bo", &approve, &[("publish_review", "true")]).await;
    assert_eq!((again.status().as_u16(), drafts().await), (304, 0), "already approved, and published all the same");
    json(server.post("bo", &format!("{REQUEST}/unapprove"), &[]).await, 201).await;
    json(draft(&server, "bo", value!({"note": "Another"})).await, 201).await;
    json(server.post("bo", &approve, &[("publish_review", "true")]).await, 201).await;
    assert_eq!((drafts().await, approved().await), (0, true));
    let said: Vec<Value> = threads(&server).await.iter().map(|thread| thread["notes"][0]["body"].clone()).collect();
    assert!(said.contains(&value!("One thing")) && said.contains(&value!("Another")), "{said:?}");
    // Who may not approve publishes nothing either.
    json(draft(&server, "eve", value!({"note": "Mine"})).await, 201).await;
    json(server.post("eve", &approve, &[("publish_review", "true")]).await, 401).await;
    assert_eq!(each(&server.read("eve", &list).await, "note"), ["Mine"]);
}
