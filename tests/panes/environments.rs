//! Environments of a project.

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
    let mut harness = Begin::at(Place::new("environments").project("a/b")).size(140, 30).open();
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
    harness.expect("gone").press("X").expect("it is stopped already");
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
