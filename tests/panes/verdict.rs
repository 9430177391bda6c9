//! Verdicts of reviews: requesting changes on new and old servers, withdrawing, and what happens if the program ends in
//! between; and quick actions in comments.

use crate::fixtures::{With, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

const MR: &str = "GET /projects/acme%2Frocket-ui/merge_requests/42";
const PATH: &str = "/projects/acme%2Frocket-ui/merge_requests/42";
const HEAD: &str = "9f3c2abd001100112233445566778899aabbccdd";

fn place() -> Place {
    Place::new("mr").project("acme/rocket-ui").item(42)
}

fn request() -> Value {
    let reviewers = [user(1, "ada"), user(4, "dora")];
    merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": HEAD, "reviewers": reviewers,
        "detailed_merge_status": "mergeable", "user": {"can_merge": true}, "author": user(2, "bo")}))
}

fn reviewers(ada: &str, dora: &str) -> Value {
    json!([{"user": user(1, "ada"), "state": ada}, {"user": user(4, "dora"), "state": dora}])
}

fn serve(harness: &mut Harness, request: Value, states: Value) {
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, request)
        .reply(&format!("{MR}/reviewers"), states)
        .reply(
            &format!("{MR}/approvals"),
            json!({"approved_by": [], "user_has_approved": false, "user_can_approve": true}),
        )
        .reply(&format!("{MR}/discussions"), json!([]))
        .reply(&format!("{MR}/draft_notes"), json!([]))
        .reply(&format!("{MR}/notes"), json!([]))
        .reply(&format!("{MR}/participants"), json!([]))
        .reply(&format!("{MR}/commits"), json!([]))
        .reply(&format!("{MR}/pipelines"), json!([]));
}

async fn open(request: Value, states: Value) -> Harness {
    let mut harness = Begin::at(place()).size(120, 40).open();
    serve(&mut harness, request, states);
    harness.settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET ")).cloned().collect()
}

fn publish() -> String {
    format!("POST {PATH}/draft_notes/bulk_publish")
}

fn notes() -> String {
    format!("POST {PATH}/notes")
}

#[tokio::test]
async fn changes_are_requested_with_one_key_and_the_state_is_read_again() {
    let mut harness = open(request(), reviewers("unreviewed", "approved")).await;
    harness
        .press("S")
        .expect("Submit review of !42 · no comments")
        .expect("[x] Comment  M-c")
        .expect("[ ] Approve  M-a");
    harness.expect("[ ] Request changes  M-r").press("M-r").expect("[x] Request changes").expect("[ ] Comment");
    harness.reply(&publish(), json!({})).reply(&format!("{MR}/reviewers"), reviewers("requested_changes", "approved"));
    harness.press("C-s").settle().await;
    assert_eq!(sent(&harness), [format!("{} reviewer_state=requested_changes", publish())]);
    harness.expect("Submitted your review of !42: requested changes").expect("ada requested changes");
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn drafts_that_the_server_drops_while_publishing_are_kept_and_named() {
    let draft = |id: u64, text: &str| json!({"id": id, "author_id": 1, "merge_request_id": 42, "note": text});
    let note = |id: u64, text: &str| json!({"id": id, "body": text, "author": user(1, "ada"), "system": false});
    let mut harness = Begin::at(place()).size(120, 40).open();
    serve(&mut harness, request(), reviewers("unreviewed", "approved"));
    harness.reply(&format!("{MR}/draft_notes"), json!([draft(5, "Reuse the buffer"), draft(6, "Rename this")]));
    harness.settle().await;
    // GitLab answers 204 and drops what lies on a line that is not in the changes any more.
    harness.reply_raw(&publish(), "");
    harness.press("S").expect("2 comments").press("C-s");
    harness
        .reply(&format!("{MR}/draft_notes"), json!([]))
        .reply(&format!("{MR}/notes"), json!([note(90, "Rename this")]));
    harness.settle().await;
    harness.expect("the server published the review without this comment");
    assert_eq!(harness.kept.len(), 1, "{:?}", harness.kept);
    harness.press("K").expect("Reuse the buffer").expect_no("Rename this");
}

#[tokio::test]
async fn the_last_message_names_the_review_and_its_verdict() {
    let draft = json!({"id": 5, "author_id": 1, "merge_request_id": 42, "note": "Rename this"});
    let note = json!({"id": 90, "body": "Rename this", "author": user(1, "ada"), "system": false});
    let approved =
        json!({"approved_by": [{"user": user(1, "ada")}], "user_has_approved": true, "user_can_approve": false});
    let summary = json!({"id": 91, "body": "Fine.", "author": user(1, "ada"), "system": false});
    for version in ["19.5.0", "17.11.0"] {
        let mut harness = Begin::at(place()).size(120, 40).open();
        serve(&mut harness, request(), reviewers("unreviewed", "approved"));
        harness.reply(&format!("{MR}/draft_notes"), json!([draft]));
        harness.reply("GET /metadata", json!({"version": version, "revision": "a"})).settle().await;
        harness.reply_raw(&publish(), "").reply(&format!("POST {PATH}/approve"), approved.clone());
        harness.reply(&notes(), summary.clone());
        harness.press("S").settle().await;
        harness.type_text("Fine.").press("M-a").press("C-s");
        harness.reply(&format!("{MR}/draft_notes"), json!([])).reply(&format!("{MR}/notes"), json!([note, summary]));
        harness.settle().await;
        harness.expect("Submitted your review of !42: approved");
        assert!(harness.kept.is_empty(), "{version}: {:?}", harness.kept);
    }
}

#[tokio::test]
async fn an_older_server_gets_the_verdict_as_a_quick_action() {
    let mut harness = open(request(), reviewers("unreviewed", "approved")).await;
    // It ignores the state and says 204; the state changes with the second request.
    harness.reply(&publish(), json!({}));
    harness.reply(&notes(), json!({"commands_changes": {}, "summary": ["Submitted the current review."]}));
    harness.press("S").press("M-r").press("C-s").settle().await;
    let command = format!("{} body=/submit_review requested_changes", notes());
    assert_eq!(sent(&harness), [format!("{} reviewer_state=requested_changes", publish()), command.clone()]);
    // The state is as before: that is no success, and the verdict is kept.
    harness.expect("Could not request changes on !42: the server did not record it");
    assert_eq!(harness.kept.len(), 1, "{:?}", harness.kept);
    harness.reply(&format!("{MR}/reviewers"), reviewers("requested_changes", "approved"));
    harness.press("K").expect("Request changes").expect("verdict").press("s").settle().await;
    harness.expect("Submitted your review of !42: requested changes");
    assert_eq!(sent(&harness).len(), 2, "it had arrived meanwhile: {:?}", sent(&harness));
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn a_refused_verdict_shows_the_words_of_the_server() {
    let mut harness = open(request(), reviewers("unreviewed", "approved")).await;
    harness.reply(&publish(), json!({}));
    let told = "Could not apply submit_review command.";
    harness.reply(&notes(), json!({"commands_changes": {}, "summary": [told]}));
    harness.press("S").press("M-r").press("C-s").settle().await;
    harness
        .expect("Could not request changes on !42: Could not apply submit_review command. It stays among your drafts.");
    // A server that does not know the command shows it as a comment, which is deleted.
    let text = json!({"id": 77, "body": "/submit_review requested_changes", "author": user(1, "ada")});
    harness.reply(&notes(), text).reply_raw(&format!("DELETE {PATH}/notes/77"), "");
    harness.press("S").press("M-r").press("C-s").settle().await;
    assert_eq!(sent(&harness).last(), Some(&format!("DELETE {PATH}/notes/77")));
    assert_eq!(harness.kept.len(), 1, "one verdict replaces the other: {:?}", harness.kept);
}

#[tokio::test]
async fn a_verdict_that_fails_is_not_sent_twice() {
    for (status, words) in [(401, "401"), (403, "403"), (404, "404"), (422, "refused"), (500, "out of ink")] {
        let mut harness = open(request(), reviewers("unreviewed", "approved")).await;
        harness.reply(&publish(), json!({})).fail(&notes(), status, words);
        harness.press("S").press("M-r").press("C-s").settle().await;
        if status == 500 {
            harness.pass(10).settle().await;
        }
        harness.expect("Could not request changes on !42");
        assert_eq!(sent(&harness).len(), 2, "{status}: {:?}", sent(&harness));
        assert_eq!(harness.kept.len(), 1, "{status}: {:?}", harness.kept);
    }
    // The review itself was not published: no verdict follows.
    let mut harness = open(request(), reviewers("unreviewed", "approved")).await;
    harness.fail(&publish(), 500, "out of ink").press("S").press("M-r").press("C-s").settle().await;
    harness.pass(10).settle().await;
    assert_eq!(sent(&harness).len(), 1, "{:?}", sent(&harness));
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn after_an_end_in_between_the_verdict_is_reported_or_found() {
    // Killed before the first request and before the second one.
    for alive in 0..2 {
        let count = std::rc::Rc::new(std::cell::Cell::new(0));
        let counted = count.clone();
        let dies = move |request: &labscope::api::endpoint::Request| {
            counted.set(counted.get() + usize::from(!request.is_read()));
            !request.is_read() && counted.get() > alive
        };
        let mut harness = Begin::at(place()).size(120, 40).hold(dies).open();
        serve(&mut harness, request(), reviewers("unreviewed", "approved"));
        harness.reply(&publish(), json!({})).settle().await;
        harness.press("S").press("M-r").press("C-s").settle().await;
        let kept = std::mem::take(&mut harness.kept);
        drop(harness);
        for state in ["unreviewed", "requested_changes"] {
            let mut begin = Begin::at(place()).size(120, 40);
            (begin.drafts, begin.account) = (kept.clone(), "ada".into());
            let mut harness = begin.open();
            serve(&mut harness, request(), reviewers(state, "approved"));
            harness.settle().await;
            harness.pass(10).settle().await;
            match state {
                "unreviewed" => _ = harness.press("K").expect("not sent: labscope ended before"),
                _ => assert!(harness.kept.is_empty(), "{alive}: {:?}", harness.kept),
            }
            assert!(sent(&harness).is_empty(), "{alive} {state}: {:?}", sent(&harness));
        }
    }
}

#[tokio::test]
async fn a_request_for_changes_is_withdrawn_by_its_reviewer() {
    let mut harness = open(request(), reviewers("requested_changes", "approved")).await;
    harness.reply(&publish(), json!({})).reply(&format!("{MR}/reviewers"), reviewers("reviewed", "approved"));
    harness.press("a").type_text("Withdraw").press("Enter").settle().await;
    assert_eq!(sent(&harness), [format!("{} reviewer_state=reviewed", publish())]);
    harness.expect("Withdrew the request for changes on !42").expect("ada has reviewed");
    harness.press("a").type_text("Withdraw").expect("you have not requested changes");
}

#[tokio::test]
async fn a_request_for_changes_that_cannot_be_withdrawn_is_named() {
    let mut harness = open(request(), reviewers("requested_changes", "approved")).await;
    harness.fail(&publish(), 403, "403 Forbidden").press("a").type_text("Withdraw").press("Enter").settle().await;
    harness.expect("Could not withdraw the request for changes on !42");
}

#[tokio::test]
async fn a_verdict_that_is_not_possible_is_grey_with_the_reason() {
    let own = request().with(json!({"author": user(1, "ada")}));
    let mut harness = open(own, reviewers("unreviewed", "approved")).await;
    harness.press("S").expect("Request changes: you wrote it").press("M-r").expect("[ ] Request changes");
    let mut old = Begin::at(place()).size(120, 40).open();
    serve(&mut old, request(), reviewers("unreviewed", "approved"));
    old.unsupported(&format!("{MR}/draft_notes")).settle().await;
    old.press("S").expect("Request changes: this server does not record it").press("Esc");
}

#[tokio::test]
async fn the_merge_checks_name_who_blocks() {
    let blocked = request().with(json!({"detailed_merge_status": "requested_changes"}));
    let mut harness = open(blocked, reviewers("unreviewed", "requested_changes")).await;
    harness.expect("✗ dora requested changes  @ asks for another review");
    harness.press("M").expect("Merge checks of !42 not passed").expect("dora requested changes");
    // Without a license, it is shown and blocks nothing.
    let mut harness = open(request(), reviewers("unreviewed", "requested_changes")).await;
    harness.press("M").expect("Squash commits").expect("▲ dora requested changes");
}

#[tokio::test]
async fn quick_actions_are_completed_and_their_results_are_shown() {
    let mut harness = open(request(), reviewers("unreviewed", "approved")).await;
    let label = |name: &str| json!({"id": 1, "name": name, "color": "#3366ff", "description": "Broken"});
    harness.reply("GET /projects/acme%2Frocket-ui/labels", [label("bug"), label("big bug")]);
    harness.press("C").type_text("/lab").expect("/label").expect("~label · Add labels").press("Tab").settle().await;
    harness.expect("~bug").expect("Broken").type_text("~bi").settle().await.expect("~\"big bug\"").press("Tab");
    harness.expect("/label ~\"big bug\"").press("Esc");
    harness.reply(&notes(), json!({"commands_changes": {}, "summary": ["Added ~big bug label."]}));
    harness.press("C-s").settle().await.expect("Added ~big bug label.").expect_no("has not arrived");
    assert_eq!(sent(&harness), [format!("{} body=/label ~\"big bug\" ", notes())]);
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);

    harness.reply(&notes(), json!({"commands_changes": {}, "summary": ["Could not apply close command."]}));
    harness.press("C").type_text("/close").press("C-s").settle().await.expect("Could not apply close command.");
    harness.reply(&notes(), json!({"id": 9, "body": "/weight 3", "author": user(1, "ada")}));
    harness.press("C").type_text("/ready").press("C-s").settle().await.expect("Commented on !42");
    harness.reply(&notes(), json!({"id": 9, "body": "/rebase", "author": user(1, "ada")}));
    harness.press("C").type_text("/rebase").press("C-s").settle().await;
    harness.expect("Could not apply /rebase: the server does not know it.");
    // Text in the middle of a line is no command.
    harness.press("C").type_text("see /lab").expect_no("~label");
}

#[tokio::test]
async fn a_lost_reply_to_quick_actions_asks_to_look_at_their_effect() {
    let mut harness = open(request(), reviewers("unreviewed", "approved")).await;
    harness.unreachable(&notes()).press("C").type_text("/close").press("C-s").settle().await;
    harness.pass(10).settle().await;
    harness.expect("quick actions leave no comment");
    assert_eq!(harness.kept.len(), 1, "{:?}", harness.kept);
}
