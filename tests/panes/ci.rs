//! The CI configuration: jobs, messages at their lines, includes, and the merged text.

use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const LINT: &str = "GET /projects/a%2Fb/ci/lint";

async fn open(lint: Value, written: &str) -> Harness {
    let mut harness = Begin::at(Place::new("ci").project("a/b")).size(120, 40).open();
    harness.reply("GET /projects/a%2Fb", json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main"}));
    harness.reply_raw("GET /projects/a%2Fb/repository/files/.gitlab-ci.yml/raw?ref=main", written);
    harness.reply(LINT, lint).settle().await;
    harness
}

#[tokio::test]
async fn jobs_are_shown_by_stage_with_their_needs() {
    let job = |name: &str, stage: &str, needs: Value| {
        json!({"name": name, "stage": stage, "script": ["make \u{1b}[2J", "two\nlines"], "when": "on_success",
            "allow_failure": false, "needs": needs, "tag_list": ["gpu"]})
    };
    let lint = json!({"valid": true, "errors": [], "warnings": ["jobs:pack may allow multiple pipelines"],
        "merged_yaml": "---\npack:\n  script: make\n",
        "includes": [{"type": "local", "location": "ci/x.yml", "context_project": "a/b"}],
        "jobs": [job("pack", "build", Value::Null), job("test it", "test", json!(["pack"]))]});
    let mut harness = open(lint, "include: ci/x.yml\npack:\n  script: make\n").await;
    harness.expect(".gitlab-ci.yml: valid").expect("ci/x.yml").expect("build").expect("test it").expect("needs pack");
    harness.expect("on gpu").expect("line 2: jobs:pack may allow").press("2").expect("include: ci/x.yml");
    harness.press("}").expect("! jobs:pack may allow multiple pipelines").press("3").expect("script: make");
    assert_eq!(harness.app.place().tab.as_deref(), Some("merged"));
    for (width, height) in [(60, 12), (20, 6), (10, 3)] {
        harness.resize(width, height).press("1 j 2 j 3 G");
    }
}

#[tokio::test]
async fn errors_are_shown_below_the_lines_that_they_are_about() {
    let lint = json!({"valid": false, "errors": ["jobs:pack config contains unknown keys: scrpt"], "warnings": [],
        "merged_yaml": null, "includes": []});
    let mut harness = open(lint, "stages: [a]\npack:\n  stage: a\n  scrpt: make\nlast: x\n").await;
    harness.expect("invalid").expect("line 4: jobs:pack config contains unknown keys").press("2");
    let lines = harness.lines();
    let at = lines.iter().position(|line| line.contains("scrpt: make")).expect("the line");
    assert!(lines[at + 1].contains("unknown keys: scrpt"), "{}", harness.picture());
    harness.press("3").expect("The server did not merge it.").press("2 } Enter");
    assert_eq!(harness.app.place().path.as_deref(), Some(".gitlab-ci.yml"));
}

#[tokio::test]
async fn a_missing_file_and_a_refusal_are_told() {
    let mut harness = Begin::at(Place::new("ci").project("a/b")).size(120, 20).open();
    harness.reply("GET /projects/a%2Fb", json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main"}));
    harness.fail(LINT, 404, "404 Commit Not Found").settle().await;
    harness.expect("404 Commit Not Found");
    let lint = json!({"valid": false, "errors": ["Please provide content of .gitlab-ci.yml"], "warnings": []});
    let mut harness = Begin::at(Place::new("ci").project("a/b")).size(120, 20).open();
    harness.reply("GET /projects/a%2Fb", json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main"}));
    harness.reply(LINT, lint).fail(
        "GET /projects/a%2Fb/repository/files/.gitlab-ci.yml/raw?ref=main",
        404,
        "404 File Not Found",
    );
    harness.settle().await;
    harness.expect("Please provide content").press("2").expect("The file cannot be read.");
}

#[tokio::test]
async fn the_demo_has_a_configuration_with_inputs() {
    let server = demo().await;
    let mut app = Begin::at(Place::new("ci").project("acme/infra/deploy")).size(140, 50);
    app = app.server(&server.base_url, server.tokens.get("dora").expect("a token"));
    let mut app = app.open();
    app.settle().await;
    app.expect("valid").expect("ci/checks.yml").expect("roll-out").expect("needs syntax").press("3").settle().await;
    app.expect("ansible --version").press("+").settle().await;
    app.expect("stage (input)").expect("ticket (input)").expect("NOTIFY").expect("staging").press("C-s").settle().await;
    assert_eq!(app.app.place().pane, "jobs", "{}", app.picture());
    server.stop().await;
}
