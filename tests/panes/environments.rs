//! Environments of a project.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const LIST: &str = "GET /projects/a%2Fb/environments?states=available";

fn environment(id: u64, name: &str, state: &str) -> Value {
    json!({"id": id, "name": name, "state": state, "tier": "staging", "external_url": format!("https://{name}.h.test"),
        "updated_at": "2026-06-15T09:00:00Z"})
}

async fn open() -> Harness {
    open_at(140).await
}

async fn open_at(width: u16) -> Harness {
    let mut harness = Begin::at(Place::new("environments").project("a/b")).size(width, 30).open();
    harness.reply(LIST, [environment(4, "staging", "available"), environment(5, "odd\u{1b}[31m", "frozen")]);
    let mut whole = environment(4, "staging", "available");
    whole["last_deployment"] = json!({"id": 9, "iid": 2, "ref": "main", "sha": "abcdef0123456789", "status": "success",
        "user": {"id": 1, "username": "bo"}, "created_at": "2026-06-15T09:00:00Z",
        "deployable": {"id": 77, "name": "deploy", "status": "success"}});
    harness.reply("GET /projects/a%2Fb/environments/4", whole).settle().await;
    harness.pass(1).settle().await;
    harness
}

#[tokio::test]
async fn an_environment_shows_its_deployment_and_is_stopped_after_confirmation() {
    let mut harness = open().await;
    harness.expect("https://staging.h.test").expect("main  abcdef01").expect("#77 deploy").expect("bo  3h ago");
    harness.press("X").expect("Stop the environment staging of a/b?").press("n");
    harness.reply("POST /projects/a%2Fb/environments/4/stop", environment(4, "staging", "stopped"));
    harness.press("X").press("y").settle().await;
    let stops = harness.asked.iter().filter(|line| line.ends_with("/stop")).count();
    assert_eq!(stops, 1, "{:?}", harness.asked);
    harness.reply("GET /projects/a%2Fb/environments?states=stopped", [environment(6, "gone", "stopped")]);
    harness.press("2").settle().await;
    harness.expect("gone").press("X").expect("It is stopped already");
}

#[tokio::test]
async fn commands_need_no_room_for_the_details() {
    let mut harness = open_at(80).await;
    harness.expect("staging").expect_no("#77 deploy").press("R").expect("Re-deploy main abcdef01").press("n");
    harness.press("u");
    assert_eq!(harness.app.place().pane, "compare", "{}", harness.picture());
}

#[tokio::test]
async fn enter_opens_the_deployments_of_an_environment() {
    let mut harness = open().await;
    harness.press("Enter").settle().await;
    assert!(harness.asked.iter().any(|line| line.starts_with("GET /projects/a%2Fb/deployments")));
}

#[tokio::test]
async fn missing_support_for_environments_differs_from_an_empty_list() {
    let mut harness = Begin::at(Place::new("environments").project("a/b")).size(100, 20).open();
    harness.unsupported(LIST).settle().await;
    harness.expect("Not supported by this server");
    let mut harness = Begin::at(Place::new("environments").project("a/b")).size(100, 20).open();
    harness.reply(LIST, json!([])).settle().await;
    harness.expect("There are no environments.");
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height).press("j z k z");
    }
}

#[tokio::test]
async fn an_environment_can_be_stopped_on_a_real_server() {
    let server = demo().await;
    let place = Place::new("environments").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(140, 30).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("production").expect("staging").press("j X").press("y");
    app.until("Stopped environment staging").await;
    server.stop().await;
}

const PROTECTED: &str = "GET /projects/a%2Fb/protected_environments";

fn deployment(id: u64, status: &str, sha: char, job_status: &str) -> Value {
    let commit = json!({"id": sha.to_string().repeat(40), "title": "Burn less"});
    let job = fixtures::job(id + 70, "deploy", job_status).with(json!({"stage": "deploy", "commit": commit}));
    fixtures::deployment(id, "staging", sha, job_status).with(json!({"status": status, "deployable": job}))
}

#[tokio::test]
async fn the_deployed_commit_is_compared_with_its_branch_and_deployed_again() {
    let mut harness = open().await;
    harness.press("R").expect("Re-deploy main abcdef01 to staging?").press("n");
    harness.reply("POST /projects/a%2Fb/jobs/77/retry", json!({"id": 78})).press("R").press("y").settle().await;
    assert_eq!(harness.asked.iter().filter(|line| line.ends_with("/77/retry {}")).count(), 1, "{:?}", harness.asked);
    harness.press("u");
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.item.as_deref()), ("compare", Some("abcdef0123456789...main")));
}

#[tokio::test]
async fn a_blocked_deployment_is_approved_or_rejected_with_a_comment() {
    let mut harness = Begin::at(Place::new("environments").project("a/b")).size(140, 30).open();
    harness.reply(LIST, [environment(4, "staging", "available")]);
    harness.reply("GET /projects/a%2Fb/environments/4", environment(4, "staging", "available"));
    let access = json!([{"access_level": 40, "access_level_description": "Maintainers"}]);
    harness
        .reply(PROTECTED, json!([{"name": "staging", "deploy_access_levels": access, "required_approval_count": 2}]));
    harness.reply("GET /projects/a%2Fb/deployments", [deployment(9, "blocked", 'b', "manual")]).settle().await;
    harness.pass(1).settle().await;
    harness.expect("Maintainers may deploy, after 2 approvals").expect("main  bbbbbbbb  waits for approval");
    harness.press("R").expect("Nothing was deployed to it yet");
    let approval = "POST /projects/a%2Fb/deployments/9/approval";
    harness.fail(approval, 403, "403 Forbidden").press("M-a").expect("Approve main bbbbbbbb \"Burn less\" for staging");
    harness.type_text("looks fine").press("Enter").settle().await;
    harness.expect("403 Forbidden");
    harness.reply(approval, json!({"status": "rejected"})).press("M-x").press("Enter").settle().await;
    let sent: Vec<&String> = harness.asked.iter().filter(|line| line.starts_with(approval)).collect();
    assert!(sent[0].contains("status=approved") && sent[0].contains("comment=looks fine"), "{sent:?}");
    assert!(sent.len() == 2 && sent[1].contains("status=rejected") && !sent[1].contains("comment"), "{sent:?}");
}

#[tokio::test]
async fn a_roll_back_names_both_versions() {
    let mut harness = Begin::at(Place::new("deployments").project("a/b")).size(180, 30).open();
    let rows = [
        deployment(3, "blocked", 'c', "manual"),
        deployment(2, "success", 'b', "success"),
        deployment(1, "success", 'a', "success"),
    ];
    harness.reply("GET /projects/a%2Fb/deployments", rows).settle().await;
    harness.press("R").expect("it has not run yet");
    harness.press("j R").expect("Re-deploy main bbbbbbbb").press("n").press("j R");
    harness.expect("Roll back staging to main aaaaaaaa").expect("It has").press("n");
    harness.press("u");
    assert_eq!(harness.app.place().item, Some(format!("{}...main", "a".repeat(40))));
}

#[tokio::test]
async fn a_job_of_a_protected_environment_says_why_it_waits() {
    let mut harness = Begin::at(Place::new("job").project("a/b").item(79)).size(100, 24).open();
    let job = json!({"id": 79, "name": "deploy", "stage": "deploy", "status": "manual", "ref": "main",
        "pipeline": {"id": 3, "ref": "main", "sha": "b", "status": "manual"}});
    harness.reply("GET /projects/a%2Fb/jobs/79", job);
    harness.reply("GET /projects/a%2Fb/deployments", [deployment(9, "blocked", 'b', "manual")]);
    harness.reply("GET /projects/a%2Fb/environments", [environment(4, "staging", "available")]);
    harness.reply(
        PROTECTED,
        json!([{"name": "staging", "required_approval_count": 1,
        "deploy_access_levels": [{"access_level": 40, "access_level_description": "Maintainers"}]}]),
    );
    harness.settle().await;
    harness.expect("Its deployment to staging waits for approval: Maintainers may deploy,").expect("after 1 approval.");
    harness.press("D");
    assert_eq!(harness.app.place(), Place::new("deployments").project("a/b").item(9));
    // On a server without protected environments, the job is just manual.
    let mut harness = Begin::at(Place::new("job").project("a/b").item(79)).size(100, 24).open();
    let job = json!({"id": 79, "name": "other", "stage": "deploy", "status": "manual", "ref": "main"});
    harness.reply("GET /projects/a%2Fb/jobs/79", job).unsupported(PROTECTED).settle().await;
    harness.expect("This job is manual.").press("D").expect("No deployment of this job waits for approval");
}
