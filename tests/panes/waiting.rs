//! Who merge requests wait for, in lists, on Home and in queries; asking for a review again; and stacks.

use crate::fixtures::{With, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

const LIST: &str = "GET /projects/acme%2Frocket-ui/merge_requests";
const WRITE: &str = "/projects/acme%2Frocket-ui/merge_requests";

fn reviewed(iid: u64, title: &str) -> Value {
    merge_request(iid, title, "opened")
        .with(json!({"reviewers": [user(1, "ada"), user(4, "dora")], "detailed_merge_status": "mergeable"}))
}

fn states(ada: &str, dora: &str) -> Value {
    json!([{"user": user(1, "ada"), "state": ada}, {"user": user(4, "dora"), "state": dora}])
}

fn rows() -> [Value; 4] {
    [
        reviewed(42, "Draw only visible rows"),
        reviewed(41, "Cut columns"),
        reviewed(40, "Name the key"),
        merge_request(39, "Draft: Retry reads", "opened"),
    ]
}

async fn list(query: &str, width: u16) -> Harness {
    let mut harness = Begin::at(Place::new("mrs").project("acme/rocket-ui").query(query)).size(width, 30).open();
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(LIST, rows())
        .reply(&format!("{LIST}/42/reviewers"), states("unreviewed", "approved"))
        .reply(&format!("{LIST}/41/reviewers"), states("reviewed", "requested_changes"))
        .reply(&format!("{LIST}/40/reviewers"), states("reviewed", "review_started"));
    harness.settle().await;
    harness
}

#[tokio::test]
async fn a_wide_list_shows_who_each_waits_for() {
    let mut harness = Begin::at(Place::new("mrs").project("acme/rocket-ui")).size(240, 30).open();
    let others = reviewed(38, "Rows of others").with(json!({"reviewers": [user(4, "dora")]}));
    let blocked = reviewed(37, "Blocked").with(json!({"detailed_merge_status": "requested_changes"}));
    let running = reviewed(36, "Running").with(json!({"detailed_merge_status": "ci_still_running"}));
    let mut all = rows().to_vec();
    all.extend([others, blocked, running]);
    harness.reply("GET /user", user(1, "ada")).reply(LIST, all).settle().await;
    harness.expect("Waiting for");
    for (title, words) in
        [("!42  D", " me "), ("!39", " bo "), ("!38", " dora "), ("!37", " bo "), ("!36", " pipeline ")]
    {
        let line = harness.line_with(title);
        assert!(line.contains(words), "{words} in {line}");
    }
    assert!(harness.line_with("!37").contains("changes requested"), "{}", harness.picture());
    // This is what the list says: no reviewers are requested.
    assert!(!harness.asked.iter().any(|line| line.contains("/reviewers")), "{:?}", harness.asked);
}

fn pipeline(id: u64, status: &str, created: &str) -> Value {
    json!({"id": id, "ref": "main", "sha": "9f3c2ab8", "status": status, "created_at": created})
}

#[tokio::test]
async fn a_team_shows_who_waits_for_whom_and_since_when_branches_fail() {
    let mut harness = Begin::at(Place::new("team").group("acme")).size(100, 24).open();
    let named = |iid, title, author: Value, created: &str| {
        reviewed(iid, title).with(json!({"author": author, "created_at": created, "reviewers": [user(4, "dora")],
            "references": {"full": format!("acme/rocket-ui!{iid}")}}))
    };
    let rows = [
        named(42, "One", user(2, "bo"), "2026-06-01T12:00:00Z"),
        named(41, "Two", user(2, "bo"), "2026-06-14T12:00:00Z").with(json!({"reviewers": [user(1, "ada")]})),
        named(40, "Three", user(2, "bo"), "2026-06-14T12:00:00Z"),
        named(39, "Four", user(4, "dora"), "2026-06-13T12:00:00Z")
            .with(json!({"detailed_merge_status": "ci_still_running"})),
    ];
    let project = |id: u64, path: &str| json!({"id": id, "path_with_namespace": path, "default_branch": "main"});
    let of = |path: &str| format!("GET /projects/acme%2F{path}/pipelines?ref=main");
    harness
        .reply("GET /user", user(1, "ada"))
        .reply("GET /groups/acme/merge_requests", rows)
        .reply(
            "GET /groups/acme/projects",
            [
                project(1, "acme/rocket-ui"),
                project(2, "acme/cli"),
                project(3, "acme/closed").with(json!({"jobs_enabled": false})),
            ],
        )
        .reply(
            &of("rocket-ui"),
            [
                pipeline(9, "running", "2026-06-15T11:50:00Z"),
                pipeline(8, "failed", "2026-06-15T09:00:00Z"),
                pipeline(7, "failed", "2026-06-12T12:00:00Z"),
                pipeline(6, "success", "2026-06-10T12:00:00Z"),
            ],
        )
        .reply(&of("cli"), [pipeline(5, "success", "2026-06-15T09:00:00Z")])
        // Without CI/CD, nothing is asked.
        .fail(&of("closed"), 403, "403 Forbidden");
    for _ in 0..3 {
        harness.settle().await.pass(1);
    }
    harness.expect("3 people with open merge requests").expect("Blocking");
    // The person; open ones, the oldest; who they wait for; whose wait for the person.
    let words = |harness: &Harness, name: &str| {
        harness.line_with(name).split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert!(words(&harness, "bo ").ends_with("bo 3 2w dora 2, ada 1"), "{}", harness.picture());
    assert!(words(&harness, "pipeline 1").ends_with("dora 1 2d pipeline 1 bo 2"), "{}", harness.picture());
    assert!(words(&harness, "ada   ").ends_with("ada bo 1"), "{}", harness.picture());
    assert!(words(&harness, "acme/rocket-ui").ends_with("acme/rocket-ui 3d main #8 failed"), "{}", harness.picture());
    harness.expect_no("acme/cli").expect_no("acme/closed").expect_no("Forbidden");
    harness.press("/").type_text("dor").press("Enter").settle().await;
    harness.expect("1 person with").expect_no("acme/rocket-ui").press("Esc").settle().await;
    // The states of reviewers are not read.
    assert!(!harness.asked.iter().any(|line| line.contains("/reviewers")), "{:?}", harness.asked);
    harness.press("g g Enter");
    assert_eq!(harness.app.place(), Place::new("mrs").group("acme").query("author:bo"));
    harness.press("q j w");
    assert_eq!(harness.app.place(), Place::new("mrs").group("acme").query("waiting:@dora"));
    // Ada has opened none.
    harness.press("q j Enter");
    assert_eq!(harness.app.place(), Place::new("mrs").group("acme").query("waiting:@ada"));
    harness.press("q G w").expect("No person is selected").press("Enter");
    assert_eq!(harness.app.place(), Place::new("jobs").project("acme/rocket-ui").item(8));
}

#[tokio::test]
async fn a_team_of_a_project_is_read_from_its_lists() {
    let mut harness = Begin::at(Place::new("team").project("acme/rocket-ui")).size(80, 24).open();
    let project = json!({"id": 7, "path_with_namespace": "acme/rocket-ui", "default_branch": "main"});
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(LIST, rows())
        .reply("GET /projects/acme%2Frocket-ui", project)
        .reply("GET /projects/acme%2Frocket-ui/pipelines?ref=main", [pipeline(8, "failed", "2026-06-12T12:00:00Z")]);
    for _ in 0..3 {
        harness.settle().await.pass(1);
    }
    // No successful one is known: it may have failed for longer.
    harness.expect("2 people with").expect("3d+").expect("main  #8 failed");
    assert!(harness.line_with("bo ").contains("ada 3"), "{}", harness.picture());
    harness.fail(LIST, 500, "broken").press("r").settle().await;
    harness.expect("broken").expect("main  #8 failed");
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("j j k");
    }
    let mut harness = Begin::at(Place::new("team").project("acme/rocket-ui")).size(80, 24).open();
    harness.fail(LIST, 403, "403 Forbidden").fail("GET /projects/acme%2Frocket-ui", 403, "403 Forbidden");
    harness.settle().await;
    harness.expect("Forbidden");
}

#[tokio::test]
async fn a_team_without_merge_requests_says_so() {
    let mut harness = Begin::at(Place::new("team").project("acme/rocket-ui")).size(80, 24).open();
    let project = json!({"id": 7, "path_with_namespace": "acme/rocket-ui", "default_branch": "main"});
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(LIST, json!([]))
        .reply("GET /projects/acme%2Frocket-ui", project)
        .reply("GET /projects/acme%2Frocket-ui/pipelines?ref=main", json!([]));
    for _ in 0..3 {
        harness.settle().await.pass(1);
    }
    harness.expect("No open merge requests.").expect_no("No matches");
    harness.press("/").type_text("ada").press("Enter").expect("No matches.");
}

#[tokio::test]
async fn several_people_are_counted_behind_the_first() {
    let mut harness = Begin::at(Place::new("mrs").project("acme/rocket-ui")).size(240, 30).open();
    let several = reviewed(38, "Rows of others").with(json!({"reviewers": [user(4, "dora"), user(5, "eli")]}));
    let states =
        json!([{"user": user(4, "dora"), "state": "unreviewed"}, {"user": user(5, "eli"), "state": "review_started"}]);
    harness.reply("GET /user", user(1, "ada")).reply(LIST, [several]).settle().await;
    harness.reply(&format!("{LIST}/38/reviewers"), states).settle().await;
    harness.expect("dora +1");
}

#[tokio::test]
async fn a_query_keeps_what_waits_for_the_user() {
    let mut harness = list("waiting:me", 100).await;
    harness
        .expect("Draw only visible rows")
        .expect_no("Cut columns")
        .expect_no("Name the key")
        .expect_no("Retry reads");
    assert!(!harness.asked.iter().any(|line| line.contains("waiting")), "{:?}", harness.asked);
    let mut harness = list("waiting:author", 100).await;
    harness.expect("Cut columns").expect("Retry reads").expect_no("Draw only");
    // Names are of those who have to act, not of all reviewers.
    let mut harness = list("waiting:@dora", 100).await;
    harness.expect("Name the key").expect_no("Draw only").expect_no("Cut columns").expect_no("Retry reads");
    let mut harness = list("waiting:@bo", 100).await;
    harness.expect("Cut columns").expect("Retry reads").expect_no("Draw only").expect_no("Name the key");
    let mut harness = list("waiting:@ada", 100).await;
    harness.expect("Draw only visible rows").expect_no("Cut columns");
    let mut harness = list("", 100).await;
    harness.press("/").type_text("waiting:nobody").settle().await;
    harness.expect("waiting must be one of me, author, reviewers, pipeline");
}

#[tokio::test]
async fn a_server_without_reviewers_states_shows_what_the_list_says() {
    let mut harness = list("", 240).await;
    for iid in [40, 41, 42] {
        harness.unsupported(&format!("{LIST}/{iid}/reviewers"));
    }
    harness.press("r").settle().await;
    assert!(harness.line_with("!42  D").contains(" me "), "{}", harness.picture());
}

async fn one(request: Value, reviews: Value) -> Harness {
    let mr = format!("{LIST}/42");
    let mut harness = Begin::at(Place::new("mr").project("acme/rocket-ui").item(42)).size(120, 40).open();
    harness.reply("GET /user", user(1, "ada")).reply(&mr, request).reply(&format!("{mr}/reviewers"), reviews);
    for part in ["notes", "participants", "commits", "pipelines"] {
        harness.reply(&format!("{mr}/{part}"), json!([]));
    }
    harness.reply(&format!("{mr}/approvals"), json!({"approved_by": [], "user_can_approve": true}));
    harness.reply("GET /projects/acme%2Frocket-ui/users", [user(1, "ada"), user(4, "dora"), user(5, "eli")]);
    harness.settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET ")).cloned().collect()
}

#[tokio::test]
async fn reviewers_who_are_done_are_asked_again_at_once() {
    let reviewed = reviewed(42, "Draw only visible rows");
    let mut harness = one(reviewed.clone(), states("unreviewed", "requested_changes")).await;
    harness.expect("dora requested changes");
    let post = format!("POST {WRITE}/42/notes");
    let told = json!({"commands_changes": {"reviewer_ids": [1, 4]}, "summary": ["Requested a review from @dora."]});
    harness.reply(&post, told).reply(&format!("{LIST}/42/reviewers"), states("unreviewed", "unreviewed"));
    harness.press("@").settle().await;
    harness.expect("Request review of !42").expect("1 marked").press("C-s").settle().await;
    assert_eq!(sent(&harness), [format!("{post} body=/request_review @dora")]);
    harness.expect("Requested a review from @dora.").expect_no("requested changes");

    // A refusal is shown, and a command that the server does not know is deleted.
    let mut harness = one(reviewed.clone(), states("reviewed", "approved")).await;
    let told = json!({"commands_changes": {}, "summary": ["Could not apply request_review command."]});
    harness.reply(&post, told).press("@").settle().await.press("C-s").settle().await;
    harness.expect("Could not apply request_review command.");
    assert_eq!(sent(&harness), [format!("{post} body=/request_review @ada @dora")]);
    let text = json!({"id": 88, "body": "/request_review @ada @dora", "author": user(1, "ada")});
    harness.reply(&post, text).reply_raw(&format!("DELETE {WRITE}/42/notes/88"), "");
    harness.press("@").settle().await.press("C-s").settle().await;
    harness.expect("the server does not know /request_review").expect("comment, which was deleted");
    assert_eq!(sent(&harness).last(), Some(&format!("DELETE {WRITE}/42/notes/88")));
    // It is not tried a second time.
    let before = sent(&harness).len();
    harness.press("@").settle().await.expect("The server does not know /request_review");
    assert_eq!(sent(&harness).len(), before);
    for (status, words) in [(401, "401"), (403, "Forbidden"), (404, "Not found"), (422, "bad"), (500, "broken")] {
        let mut harness = one(reviewed.clone(), states("reviewed", "approved")).await;
        harness.fail(&post, status, words).press("@").settle().await.press("C-s").settle().await;
        harness.expect("Could not request a review of !42");
        assert_eq!(sent(&harness).len(), 1, "{status}: {:?}", sent(&harness));
    }
}

#[tokio::test]
async fn the_picker_of_people_asks_a_reviewer_again() {
    let mut harness = one(reviewed(42, "Draw only visible rows"), states("unreviewed", "requested_changes")).await;
    let post = format!("POST {WRITE}/42/notes");
    harness.reply(&post, json!({"commands_changes": {}, "summary": ["Requested a review from @dora."]}));
    harness
        .press("P")
        .settle()
        .await
        .expect_no("@ ask again")
        .press("Up")
        .expect("@ ask again")
        .press("@")
        .settle()
        .await;
    assert_eq!(sent(&harness), [format!("{post} body=/request_review @dora")]);
    harness.expect("Requested a review from @dora.").expect("Reviewers and assignees");
    // Ada has not reviewed: the key is the beginning of a name.
    harness
        .press("Up")
        .expect_no("@ ask again")
        .press("@")
        .type_text("eli")
        .settle()
        .await
        .expect("eli")
        .expect_no("not listed");
    assert_eq!(sent(&harness).len(), 1);
}

fn layer(iid: u64, source: &str, target: &str) -> Value {
    merge_request(iid, &format!("Layer {iid}"), "opened").with(json!({"source_branch": source, "target_branch": target,
        "sha": "9f3c2abd001100112233445566778899aabbccdd", "detailed_merge_status": "mergeable",
        "user": {"can_merge": true}}))
}

/// Replies with the open merge requests from a branch, or into one.
fn serve_layers(harness: &mut Harness, layers: &[Value]) {
    for branch in ["a", "b", "c", "d", "main"] {
        let from: Vec<&Value> = layers.iter().filter(|layer| layer["source_branch"] == branch).collect();
        let into: Vec<&Value> = layers.iter().filter(|layer| layer["target_branch"] == branch).collect();
        harness.reply(&format!("{LIST}?source_branch={branch}&state=opened"), json!(from));
        harness.reply(&format!("{LIST}?state=opened&target_branch={branch}"), json!(into));
    }
}

#[tokio::test]
async fn a_stack_is_shown_and_walked_and_what_is_above_is_retargeted() {
    let layers = [layer(41, "a", "main"), layer(42, "b", "a"), layer(43, "c", "b"), layer(44, "d", "b")];
    let mut harness = one(layers[1].clone(), json!([])).await;
    serve_layers(&mut harness, &layers);
    harness.press("r").settle().await;
    let line = harness.line_with("Stack");
    let at = |words: &str| line.find(words).unwrap_or_else(|| panic!("{words} in {line}"));
    assert!(at("!43") < at("!42") && at("!42") < at("!41") && at("!41") < at("main"), "{line}");
    assert!(line.contains("!44"), "{line}");
    harness.reply(&format!("PUT {WRITE}/42/merge"), layers[1].clone().with(json!({"state": "merged"})));
    harness
        .reply(&format!("PUT {WRITE}/43"), layer(43, "c", "a"))
        .reply(&format!("PUT {WRITE}/44"), layer(44, "d", "a"));
    harness.press("M").expect("retargets !43 and !44 to a");
    harness.press("C-s").settle().await;
    let sent = sent(&harness);
    assert!(sent[0].starts_with(&format!("PUT {WRITE}/42/merge")), "{sent:?}");
    assert_eq!(sent[1..], [format!("PUT {WRITE}/43 target_branch=a"), format!("PUT {WRITE}/44 target_branch=a")]);
    harness.expect("Retargeted !44 to a");
    let mut harness = one(layers[1].clone(), json!([])).await;
    serve_layers(&mut harness, &layers);
    harness.press("r").settle().await;
    harness.reply(&format!("{LIST}/41"), layers[0].clone()).press("<").settle().await;
    assert_eq!(harness.app.place().item.as_deref(), Some("41"));
    harness.press(">").settle().await;
    assert_eq!(harness.app.place().item.as_deref(), Some("42"));
}

#[tokio::test]
async fn a_circle_is_cut_and_a_single_layer_is_no_stack() {
    let layers = [layer(41, "a", "b"), layer(42, "b", "a")];
    let mut harness = one(layers[1].clone(), json!([])).await;
    serve_layers(&mut harness, &layers);
    harness.press("r").settle().await;
    let line = harness.line_with("Stack");
    assert!(line.contains("!42 →  !41 →  b"), "{line}");
    let mut harness = one(layer(42, "b", "main"), json!([])).await;
    serve_layers(&mut harness, &[layer(42, "b", "main")]);
    harness.press("r").settle().await;
    harness.expect_no("Stack").press(">").expect("No open merge request targets its branch");
    harness.press("<").expect("It targets no other one's branch");
}

#[tokio::test]
async fn the_list_shows_stacks_as_a_tree() {
    let mut harness = Begin::at(Place::new("mrs").project("acme/rocket-ui")).size(120, 30).open();
    let rows = [layer(43, "c", "b"), layer(50, "x", "main"), layer(42, "b", "a"), layer(41, "a", "main")];
    harness.reply("GET /user", user(1, "ada")).reply(LIST, rows).settle().await;
    let lines: Vec<String> = harness.lines().into_iter().filter(|line| line.contains("⊙  !")).collect();
    let order: Vec<&str> = ["50", "41", "42", "43"].into_iter().collect();
    for (line, iid) in lines.iter().zip(order) {
        assert!(line.contains(&format!("Layer {iid}")), "{lines:?}");
    }
    assert!(lines[2].contains("↳ Layer 42") && lines[3].contains("  ↳ Layer 43"), "{lines:?}");
}

#[tokio::test]
async fn what_a_server_does_not_know_is_not_offered_again() {
    let mut harness = one(reviewed(42, "Draw only visible rows"), states("reviewed", "approved")).await;
    harness.unsupported(&format!("POST {WRITE}/42/subscribe")).unsupported(&format!("POST {WRITE}/42/unsubscribe"));
    harness.press("b").settle().await.press("Enter").settle().await;
    let before = sent(&harness).len();
    assert_eq!(before, 1);
    harness.press("b").settle().await.expect("The server does not support this");
    assert_eq!(sent(&harness).len(), before);
}

#[tokio::test]
async fn a_merge_request_that_is_being_checked_is_asked_for_again() {
    let checking = reviewed(42, "Draw only visible rows").with(json!({"detailed_merge_status": "checking"}));
    let mut harness = one(checking, states("reviewed", "approved")).await;
    let single = |harness: &Harness| {
        harness.asked.iter().filter(|line| line.split('?').next() == Some(&*format!("{LIST}/42"))).count()
    };
    let mut counts = vec![single(&harness)];
    for _ in 0..12 {
        harness.pass(1).settle().await;
        counts.push(single(&harness));
    }
    let first = counts[0];
    // After 1, 2 and 4 seconds.
    let expected = [0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3];
    assert_eq!(counts.iter().map(|count| count - first).collect::<Vec<_>>(), expected);
}
