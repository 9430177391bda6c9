//! Reactions to merge requests, issues and notes.

use crate::client::client;
use crate::sample::{issue, merge_request, snippet};
use crate::scripted::{Scripted, answer};
use labscope::api::award_emoji::*;
use labscope::api::{Awardable, Fault, Noteable};

fn itself(on: Noteable) -> Awardable {
    Awardable { on, note: None }
}

fn note_on(on: Noteable) -> Awardable {
    Awardable { on, note: Some(9) }
}

requests! {
    ListAwards { to: itself(merge_request(1_u64, 5)) } => "GET /projects/1/merge_requests/5/award_emoji";
    CreateAward { to: itself(merge_request(1_u64, 5)), name: "blowfish".into() }
        => "POST /projects/1/merge_requests/5/award_emoji | name=blowfish";
    DeleteAward { to: itself(merge_request(1_u64, 5)), award_id: 344 }
        => "DELETE /projects/1/merge_requests/5/award_emoji/344";
    ListAwards { to: note_on(merge_request(1_u64, 5)) }
        => "GET /projects/1/merge_requests/5/notes/9/award_emoji";
    CreateAward { to: note_on(merge_request(1_u64, 5)), name: "rocket".into() }
        => "POST /projects/1/merge_requests/5/notes/9/award_emoji | name=rocket";
    DeleteAward { to: note_on(merge_request(1_u64, 5)), award_id: 345 }
        => "DELETE /projects/1/merge_requests/5/notes/9/award_emoji/345";
    ListAwards { to: itself(issue(1_u64, 5)) } => "GET /projects/1/issues/5/award_emoji";
    CreateAward { to: itself(issue(1_u64, 5)), name: "blowfish".into() }
        => "POST /projects/1/issues/5/award_emoji | name=blowfish";
    DeleteAward { to: itself(issue(1_u64, 5)), award_id: 344 } => "DELETE /projects/1/issues/5/award_emoji/344";
    ListAwards { to: note_on(issue(1_u64, 5)) } => "GET /projects/1/issues/5/notes/9/award_emoji";
    CreateAward { to: note_on(issue(1_u64, 5)), name: "rocket".into() }
        => "POST /projects/1/issues/5/notes/9/award_emoji | name=rocket";
    DeleteAward { to: note_on(issue(1_u64, 5)), award_id: 345 }
        => "DELETE /projects/1/issues/5/notes/9/award_emoji/345";
    ListAwards { to: note_on(snippet(1_u64, 5)) }
        => "GET /projects/1/snippets/5/notes/9/award_emoji";
    CreateAward { to: note_on(snippet(1_u64, 5)), name: "rocket".into() }
        => "POST /projects/1/snippets/5/notes/9/award_emoji | name=rocket";
    DeleteAward { to: note_on(snippet(1_u64, 5)), award_id: 345 }
        => "DELETE /projects/1/snippets/5/notes/9/award_emoji/345";
}

samples! {
    AwardEmoji => r#"{"id": 4, "name": "1234", "user": {"name": "Administrator", "username": "root", "id": 1,
        "state": "active", "avatar_url": "http://www.gravatar.com/avatar/e64c7d89f26bd1972efa854d13d7dd61?s=80&d=identicon",
        "web_url": "http://gitlab.example.com/root"}, "created_at": "2016-06-15T10:09:34.206Z",
        "updated_at": "2016-06-15T10:09:34.206Z", "awardable_id": 80, "awardable_type": "Issue",
        "url": "https://gitlab.example.com/uploads/parrot.gif"}"#;
}

/// Every refused reaction gets a 404 with the reason in its message; such a reply does not mean that the server lacks
/// reactions.
#[tokio::test]
async fn a_refused_reaction_differs_from_a_server_without_reactions() {
    let create = CreateAward { to: itself(issue(1_u64, 5)), name: "thumbsup".into() };
    for (body, unsupported) in [
        (r#"{"message":"404 Award Emoji Name has already been taken Not Found"}"#, false),
        (r#"{"error":"404 Not Found"}"#, true),
    ] {
        let server = Scripted::start([answer(404, body)]).await;
        let error = client(&server).call(&create).await.unwrap_err();
        assert_eq!(matches!(error.fault, Fault::Unsupported(_)), unsupported, "{body}: {error:?}");
    }
}

/// Servers answer 401 here although the token is valid.
#[tokio::test]
async fn removing_another_users_reaction_reports_a_missing_permission() {
    let server = Scripted::start([answer(401, r#"{"message":"401 Unauthorized"}"#)]).await;
    let delete = DeleteAward { to: itself(issue(1_u64, 5)), award_id: 344 };
    let error = client(&server).call(&delete).await.unwrap_err();
    assert!(error.write_advice().starts_with("You may not do this"), "{}", error.write_advice());
}
