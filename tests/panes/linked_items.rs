//! Linked items: issues that a merge request closes, dependencies of merge requests, and links between issues.

use crate::fixtures::{With, issue, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

const MR: &str = "/projects/acme%2Frocket-ui/merge_requests/42";
const ISSUE: &str = "/projects/acme%2Frocket-ui/issues/7";

async fn open(pane: &str, path: &str, of: Value, replies: &[(&str, Value)]) -> Harness {
    let number = path.rsplit('/').next().expect("a number");
    let mut harness = Begin::at(Place::new(pane).project("acme/rocket-ui").item(number)).size(120, 44).open();
    harness.reply("GET /user", user(1, "ada")).reply(&format!("GET {path}"), of);
    harness.reply(&format!("GET {path}/notes"), json!([]));
    for (below, reply) in replies {
        harness.reply(&format!("GET {path}/{below}"), reply);
    }
    harness.settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET ")).cloned().collect()
}

fn request(iid: u64, title: &str) -> Value {
    merge_request(iid, title, "opened")
}

/// A dependency with its ends as the server sends them: the one that the user may not see is left out.
fn dependency(id: u64, blocking: Option<Value>, blocked: Value) -> Value {
    let mut row = json!({"id": id, "project_id": 7, "blocked_merge_request": blocked});
    if let Some(blocking) = blocking {
        row["blocking_merge_request"] = blocking;
    }
    row
}

async fn dependent() -> Harness {
    let own = request(42, "Draw only visible rows");
    let replies = [
        ("closes_issues", json!([issue(7, "Slow tables", "opened")])),
        ("related_issues", json!([issue(7, "Slow tables", "opened"), issue(9, "Wide tables", "closed")])),
        ("blocks", json!([dependency(5, Some(request(40, "Split the table")), own.clone()), dependency(6, None, own)])),
        ("blockees", json!([])),
    ];
    let own = request(42, "Draw only visible rows").with(json!({"description": "Closes #7, see #9."}));
    open("mr", MR, own, &replies).await
}

#[tokio::test]
async fn issues_that_nothing_mentions_are_not_asked_for() {
    let own = request(42, "Draw only visible rows");
    let reads = |harness: &Harness| {
        let last = |line: &String| {
            line.rsplit('/').next().and_then(|last| last.split('?').next()).unwrap_or_default().to_owned()
        };
        harness.asked.iter().map(last).filter(|last| last.ends_with("_issues")).collect::<Vec<_>>()
    };
    let mut harness = open("mr", MR, own.clone(), &[]).await;
    assert_eq!(reads(&harness), [""; 0]);
    let note = json!([{"id": 1, "body": "as in ABC-12", "author": user(1, "ada"), "system": false}]);
    harness.reply(&format!("GET {MR}/notes"), note).press("r").settle().await;
    assert_eq!(reads(&harness), ["related_issues"]);
    let commit = json!([{"id": "1a2b3c4d", "title": "Draw", "message": "Draw\n\nFixes #7"}]);
    let harness = open("mr", MR, own, &[("commits", commit)]).await;
    assert_eq!(reads(&harness), ["closes_issues", "related_issues"]);
}

#[tokio::test]
async fn what_a_merge_request_closes_and_waits_for_is_listed_and_opens() {
    let mut harness = dependent().await;
    harness.expect("Closes").expect("#7 Slow tables").expect("Mentions").expect("#9 Wide tables");
    harness.expect("Blocked by").expect("!40 Split the table").expect("a merge request that you may not see");
    harness.press("m").expect("Open linked item").expect("closed, mentions").type_text("Split").press("Enter");
    assert_eq!(harness.app.place(), Place::new("mr").project("acme/rocket-ui").item(40));
}

#[tokio::test]
async fn dependencies_are_added_by_title_or_reference_and_removed() {
    let mut harness = dependent().await;
    let list = "GET /projects/acme%2Frocket-ui/merge_requests?order_by=updated_at&state=opened";
    harness.reply(list, json!([request(42, "Draw only visible rows"), request(44, "Third")]));
    harness
        .reply("GET /projects/acme%2Fother/merge_requests/3?include_rebase_in_progress=true", request(3, "Far away"));
    harness.reply(&format!("POST {MR}/blocks"), json!({"id": 8}));
    harness.press("&").settle().await.expect("!42 is blocked by").expect("!44 Third");
    harness.press("Enter").settle().await.expect("Let !42 wait for !44");
    harness.press("&").type_text("acme/other!3").settle().await;
    harness.expect("Far away").press("Enter").settle().await.expect("Let !42 wait for acme/other!3");
    harness.reply_raw(&format!("DELETE {MR}/blocks/5"), "");
    harness.press(": ").type_text("remove dependency").press("Enter").expect("Remove dependency of !42");
    harness.press("Enter").settle().await.expect("Removed the dependency of !42 on !40");
    let [first, second] = [1044, 1003].map(|id| format!("POST {MR}/blocks blocking_merge_request_id={id}"));
    assert_eq!(sent(&harness), [first, second, format!("DELETE {MR}/blocks/5")]);
}

#[tokio::test]
async fn servers_without_dependencies_say_so() {
    let mut harness = open("mr", MR, request(42, "Draw only visible rows"), &[]).await;
    harness.press("&").expect("This server has no dependencies of merge requests");
    harness.press("m").expect("Nothing is linked to it");
    let line = format!("GET {MR}/blocks");
    let asked = |harness: &Harness| harness.asked.iter().filter(|asked| **asked == line).count();
    let before = asked(&harness);
    harness.pass(60).settle().await;
    assert_eq!(asked(&harness), before);
    // An enterprise server without the license refuses them; that is no reason for a message.
    let mut harness = open("mr", MR, request(42, "Draw only visible rows"), &[]).await;
    harness.fail(&line, 403, "403 Forbidden").press("r").settle().await.expect_no("403 Forbidden");
}

fn linked(iid: u64, title: &str, id: u64, kind: &str) -> Value {
    issue(iid, title, "opened").with(json!({"issue_link_id": id, "link_type": kind}))
}

#[tokio::test]
async fn issues_are_linked_listed_and_unlinked() {
    let rows = [linked(9, "Wide tables", 31, "is_blocked_by"), linked(12, "Tables", 32, "relates_to")];
    let mut harness = open("issue", ISSUE, issue(7, "Slow tables", "opened"), &[("links", json!(rows))]).await;
    harness.expect("Blocked by").expect("#9 Wide tables").expect("Relates to").expect("#12 Tables");
    harness.press("m").expect("open, blocked by").press("Enter");
    assert_eq!(harness.app.place().item.as_deref(), Some("9"));
    harness.press("q").settle().await;
    let list = "GET /projects/acme%2Frocket-ui/issues?order_by=updated_at";
    harness.reply(list, json!([issue(7, "Slow tables", "opened"), issue(15, "Fast tables", "opened")]));
    harness.reply(&format!("POST {ISSUE}/links"), json!({"link_type": "blocks"}));
    harness.press("&").settle().await.expect("Link #7 to").expect("#15 Fast tables").press("Enter");
    harness.expect("Relates to #15").expect("Is blocked by #15").press("Down Enter").settle().await;
    harness.expect("Linked #7 to #15");
    harness.reply(&format!("DELETE {ISSUE}/links/31"), json!({"link_type": "is_blocked_by"}));
    harness.press(": ").type_text("unlink issue").press("Enter").expect("Remove link of #7");
    harness.press("Enter").settle().await.expect("Removed the link between #7 and #9");
    let created = "link_type=blocks target_issue_iid=15 target_project_id=acme/rocket-ui";
    assert_eq!(sent(&harness), [format!("POST {ISSUE}/links {created}"), format!("DELETE {ISSUE}/links/31")]);
}

#[tokio::test]
async fn a_refused_link_says_why() {
    let mut harness = open("issue", ISSUE, issue(7, "Slow tables", "opened"), &[("links", json!([]))]).await;
    let list = "GET /projects/acme%2Frocket-ui/issues?order_by=updated_at";
    harness.reply(list, json!([issue(15, "Fast tables", "opened")]));
    harness.fail(&format!("POST {ISSUE}/links"), 409, "Issue(s) already assigned");
    harness.press("&").settle().await.press("Enter Enter").settle().await;
    harness.expect("Could not link #7 to #15: 409: Issue(s) already assigned");
    let mut harness = open("issue", ISSUE, issue(7, "Slow tables", "opened"), &[]).await;
    harness.press("&").expect("This server has no links of issues");
}
