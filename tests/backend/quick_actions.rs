//! Quick actions in comments, and the verdicts of reviews. The answers take their form from the code of the server:
//! 202 with the results and no note if nothing else was written, and a public note for a command that it does not know.

use crate::discussions::{post_json, world};
use crate::{Server, each, json};
use labscope::backend::{Clock, Modes, Options, Version, WorldKind};
use reqwest::Method;
use serde_json::{Value, json as value};

const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";
const ISSUE: &str = "/projects/ada%2Fhello/issues/1";

async fn server(version: Version) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.toml");
    std::fs::write(&file, world()).unwrap();
    let now = "2026-11-20T16:00:10Z".parse().unwrap();
    let (world, clock) = (WorldKind::File(file), Clock::new(move || now));
    let server = Server::with(Options { world, clock, modes: Modes::of(version), ..Options::default() }).await;
    let label = [("name", "big bug"), ("color", "#112233")];
    if version != Version::V10_6 {
        json(server.post("ada", "/projects/ada%2Fhello/labels", &label).await, 201).await;
    }
    server
}

async fn say(server: &Server, user: &str, on: &str, body: &str, status: u16) -> Value {
    json(server.post(user, &format!("{on}/notes"), &[("body", body)]).await, status).await
}

async fn notes(server: &Server, on: &str) -> Vec<String> {
    let notes = server.read("ada", &format!("{on}/notes?per_page=100")).await;
    let written = notes.as_array().unwrap().iter().filter(|note| note["system"] == false);
    written.map(|note| note["body"].as_str().unwrap().to_owned()).collect()
}

async fn id(server: &Server, user: &str) -> Value {
    server.read("ada", &format!("/users?username={user}")).await[0]["id"].clone()
}

async fn review(server: &Server, user: &str) -> Option<String> {
    let list = server.read("ada", &format!("{REQUEST}/reviewers")).await;
    let own = list.as_array().unwrap().iter().find(|row| row["user"]["username"] == user)?;
    Some(own["state"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn commands_alone_are_answered_with_their_results_and_leave_no_note() {
    let server = server(Version::V19).await;
    let before = notes(&server, REQUEST).await;
    let done = say(&server, "ada", REQUEST, "/assign @cem\n/label ~\"big bug\"", 202).await;
    assert_eq!(done["summary"], value!(["Assigned @cem. Added ~big bug label."]));
    assert_eq!(done["commands_changes"]["assignee_ids"], value!([id(&server, "cem").await]));
    assert!(done.get("id").is_none(), "{done}");
    let request = server.read("ada", REQUEST).await;
    assert_eq!((&request["labels"], &request["assignee"]["username"]), (&value!(["big bug"]), &value!("cem")));
    assert_eq!(notes(&server, REQUEST).await, before);

    // A thread answers in the same way.
    let body = value!({"body": "/unlabel"});
    let reply = json(post_json(&server, "ada", &format!("{REQUEST}/discussions"), &body).await, 202).await;
    assert_eq!(reply, value!({"commands_changes": {}, "summary": ["Removed all labels."]}));
    assert_eq!(notes(&server, REQUEST).await, before);
}

#[tokio::test]
async fn a_text_loses_its_commands_and_unknown_ones_stay_public() {
    let server = server(Version::V19).await;
    let note = say(&server, "ada", ISSUE, "Done.\n/close\n/made_up x", 201).await;
    assert_eq!(note["body"], "Done.\n/made_up x");
    assert_eq!(server.read("ada", ISSUE).await["state"], "closed");
    let code = "```\n/reopen\n```";
    assert_eq!(say(&server, "ada", ISSUE, code, 201).await["body"], code);
    assert_eq!(say(&server, "ada", ISSUE, "/approve", 201).await["body"], "/approve", "not on issues");
    assert_eq!(server.read("ada", ISSUE).await["state"], "closed");
    say(&server, "ada", ISSUE, "/due in 3 days", 202).await;
    assert_eq!(server.read("ada", ISSUE).await["due_date"], "2026-11-23");
}

#[tokio::test]
async fn refused_commands_are_told_and_those_not_understood_fail() {
    let server = server(Version::V19).await;
    let refused = say(&server, "eve", REQUEST, "/close", 202).await;
    assert_eq!(refused["summary"], value!(["Could not apply close command."]));
    assert_eq!(server.read("ada", REQUEST).await["state"], "opened");
    for body in ["/assign @nobody", "/label ~nothing", "/milestone %none", "/assign"] {
        let message = say(&server, "ada", REQUEST, body, 400).await;
        assert_eq!(message["message"], "400 Bad request - Failed to apply commands.", "{body}");
    }
    let told = say(&server, "ada", REQUEST, "/merge", 202).await;
    assert!(told["summary"][0].as_str().unwrap().contains("requires the SHA"), "{told}");
    let stale = [("body", "/merge"), ("merge_request_diff_head_sha", "0123456789")];
    let told = json(server.post("ada", &format!("{REQUEST}/notes"), &stale).await, 202).await;
    assert!(told["summary"][0].as_str().unwrap().contains("has been updated"), "{told}");
    assert_eq!(server.get("", &format!("{REQUEST}/notes")).await.status(), 401);
    assert_eq!(
        json(server.post("", &format!("{REQUEST}/notes"), &[("body", "/close")]).await, 401).await["message"],
        "401 Unauthorized"
    );
}

#[tokio::test]
async fn the_oldest_version_has_no_quick_actions() {
    let server = server(Version::V10_6).await;
    assert_eq!(say(&server, "ada", REQUEST, "/close", 201).await["body"], "/close");
    assert_eq!(server.read("ada", REQUEST).await["state"], "opened");
}

#[tokio::test]
async fn a_verdict_is_published_with_the_review_since_19() {
    for version in [Version::V18, Version::V19] {
        let server = server(version).await;
        json(server.put("ada", REQUEST, &[("reviewer_ids[]", &id(&server, "cem").await.to_string())]).await, 200).await;
        let publish = format!("{REQUEST}/draft_notes/bulk_publish");
        let draft = [("note", "Not yet.")];
        json(server.post("cem", &format!("{REQUEST}/draft_notes"), &draft).await, 201).await;
        // Publishing alone sets no state.
        assert_eq!(server.post("cem", &publish, &[]).await.status(), 204);
        assert_eq!(review(&server, "cem").await.as_deref(), Some("review_started"));
        let state = [("reviewer_state", "requested_changes")];
        assert_eq!(server.post("cem", &publish, &state).await.status(), 204, "also without drafts");
        let is_new = version == Version::V19;
        let expected = if is_new { "requested_changes" } else { "review_started" };
        assert_eq!(review(&server, "cem").await.as_deref(), Some(expected));
        if !is_new {
            let told = say(&server, "cem", REQUEST, "/submit_review requested_changes", 202).await;
            assert_eq!(told, value!({"commands_changes": {}, "summary": ["Submitted the current review."]}));
            assert_eq!(review(&server, "cem").await.as_deref(), Some("requested_changes"));
        }
        say(&server, "cem", REQUEST, "/submit_review reviewed", 202).await;
        assert_eq!(review(&server, "cem").await.as_deref(), Some("reviewed"));

        // Somebody else becomes a reviewer since 19; the author never does.
        for user in ["ada", "bo"] {
            say(&server, user, REQUEST, "/submit_review requested_changes", 202).await;
        }
        assert_eq!(review(&server, "ada").await.as_deref(), is_new.then_some("requested_changes"));
        assert_eq!(review(&server, "bo").await, None);
        let refused = say(&server, "bo", REQUEST, "/request_changes", 202).await;
        assert_eq!(refused["summary"], value!(["Could not apply request_changes command."]));
    }
}

#[tokio::test]
async fn requesting_changes_takes_the_own_approval_back() {
    let server = server(Version::V19).await;
    assert_eq!(
        say(&server, "ada", REQUEST, "/approve", 202).await["summary"],
        value!(["Approved the current merge request."])
    );
    assert_eq!(
        say(&server, "ada", REQUEST, "/approve", 202).await["summary"],
        value!(["Could not apply approve command."])
    );
    say(&server, "ada", REQUEST, "/submit_review requested_changes", 202).await;
    let approvals = server.read("ada", &format!("{REQUEST}/approvals")).await;
    assert_eq!((&approvals["user_has_approved"], &approvals["approved_by"]), (&value!(false), &value!([])));
    // A server without a license shows it and blocks nothing.
    assert_eq!(server.read("ada", REQUEST).await["detailed_merge_status"], "mergeable");
}

#[tokio::test]
async fn a_reviewer_who_is_asked_again_starts_anew() {
    let server = server(Version::V19).await;
    json(server.put("bo", REQUEST, &[("reviewer_ids[]", &id(&server, "ada").await.to_string())]).await, 200).await;
    json(server.post("ada", &format!("{REQUEST}/approve"), &[]).await, 201).await;
    assert_eq!(server.call("ada", Method::POST, "/todos/mark_as_done").send().await.unwrap().status(), 204);
    let told = say(&server, "bo", REQUEST, "/request_review @ada @cem", 202).await;
    assert_eq!(told["summary"], value!(["Requested a review from @ada and @cem."]));
    assert_eq!(told["commands_changes"]["reviewer_ids"], value!([id(&server, "ada").await, id(&server, "cem").await]));
    assert_eq!(review(&server, "ada").await.as_deref(), Some("unreviewed"));
    assert_eq!(review(&server, "cem").await.as_deref(), Some("unreviewed"));
    let approvals = server.read("ada", &format!("{REQUEST}/approvals")).await;
    assert_eq!(approvals["approved_by"], value!([]), "the approval is lost");
    assert_eq!(each(&server.read("ada", "/todos").await, "action_name"), ["review_requested"]);
    let refused = say(&server, "eve", REQUEST, "/request_review @bo", 202).await;
    assert_eq!(refused["summary"], value!(["Could not apply request_review command."]));
}

#[tokio::test]
async fn commands_in_drafts_run_when_they_are_published() {
    let server = server(Version::V19).await;
    let draft = [("note", "Well.\n/label ~\"big bug\"")];
    json(server.post("bo", &format!("{REQUEST}/draft_notes"), &draft).await, 201).await;
    assert_eq!(server.read("bo", REQUEST).await["labels"], value!([]));
    server.post("bo", &format!("{REQUEST}/draft_notes/bulk_publish"), &[]).await;
    assert_eq!(server.read("bo", REQUEST).await["labels"], value!(["big bug"]));
    assert!(notes(&server, REQUEST).await.contains(&"Well.".to_owned()));
}

#[tokio::test]
async fn descriptions_may_contain_quick_actions() {
    let server = server(Version::V19).await;
    let text = "Rows flicker.\n/label ~\"big bug\"\n/assign @cem\n/nothing";
    let issue = [("title", "Rows"), ("description", text)];
    let issue = json(server.post("ada", "/projects/ada%2Fhello/issues", &issue).await, 201).await;
    assert_eq!(issue["description"], "Rows flicker.\n/nothing");
    assert_eq!((&issue["labels"], &issue["assignee"]["username"]), (&value!(["big bug"]), &value!("cem")));
    // Only a description that is new is executed.
    let title = [("title", "Rows flicker")];
    let path = format!("/projects/ada%2Fhello/issues/{}", issue["iid"]);
    assert_eq!(json(server.put("ada", &path, &title).await, 200).await["description"], "Rows flicker.\n/nothing");
    let request = json(server.put("ada", REQUEST, &[("description", "/close\nNo more.")]).await, 200).await;
    assert_eq!((&request["description"], &request["state"]), (&value!("No more."), &value!("closed")));
    let old = self::server(Version::V10_6).await;
    let request = json(old.put("ada", REQUEST, &[("description", "/close")]).await, 200).await;
    assert_eq!((&request["description"], &request["state"]), (&value!("/close"), &value!("opened")));
}
