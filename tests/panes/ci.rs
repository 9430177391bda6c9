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
            "allow_failure": false, "needs": needs, "tag_list": ["gpu"], "except": null,
            "only": {"refs": ["branches", "tags"]}})
    };
    let lint = json!({"valid": true, "errors": [], "warnings": ["jobs:pack may allow multiple pipelines"],
        "merged_yaml": "---\npack:\n  script: make\n",
        "includes": [{"type": "local", "location": "ci/x.yml", "context_project": "a/b"}],
        "jobs": [job("pack", "build", Value::Null), job("test it", "test", json!([{"name": "pack", "artifacts": true,
            "optional": false}]))]});
    let mut harness = open(lint, "include: ci/x.yml\npack:\n  script: make\n").await;
    harness.expect(".gitlab-ci.yml: valid").expect("ci/x.yml").expect("build").expect("test it").expect("needs  pack");
    harness.expect("on gpu").expect("line 2: jobs:pack may allow").press("2").expect("include: ci/x.yml");
    harness.press("}").expect("! jobs:pack may allow multiple pipelines").press("3").expect("script: make");
    assert_eq!(harness.app.place().tab.as_deref(), Some("merged"));
    for (width, height) in [(60, 12), (20, 6), (10, 3)] {
        harness.resize(width, height).press("1 j 2 j 3 G");
    }
}

#[tokio::test]
async fn enter_opens_an_included_file_and_the_definition_of_a_job() {
    let job = |name: &str| json!({"name": name, "stage": "test", "script": ["make"], "when": "on_success"});
    let include = |kind: &str, location: &str, blob: Value, extra: Value| {
        json!({"type": kind, "location": location, "context_project": "a/b", "context_sha": "9f3c2ab0d1e2",
            "blob": blob, "raw": "https://gitlab.test/r", "extra": extra})
    };
    let lint = json!({"valid": true, "errors": [], "warnings": ["unit may run twice"],
        "merged_yaml": "---\nlate:\n  script: make\n  rules:\n  - if: $DEEP\nunit:\n  script: make\n",
        "includes": [
            include("local", "ci/x.yml", json!("http://demo.test/a/b/-/blob/9f3c2ab0d1e2/ci/x.yml"), json!({})),
            include("file", "t/y.yml", Value::Null, json!({"project": "ops/ci", "ref": "v1\u{1b}[2J"})),
        ],
        "jobs": [job("unit"), job("late: [a, b]"), job("gone")]});
    let mut harness = open(lint, "include: ci/x.yml\nvariables: {A: b}\nunit:\n  script: make\n").await;
    assert!(harness.line_with("t/y.yml").contains("ops/ci  v1"), "{}", harness.picture());
    harness.expect("rules  - if: $DEEP").press("}");
    assert!(harness.line_with("line 3: unit may run twice").starts_with('▌'), "{}", harness.picture());
    harness.press("}").expect("There are no more messages.");
    harness.press("g g").press("j j j j");
    assert!(harness.line_with("ci/x.yml").starts_with('▌'), "{}", harness.picture());
    harness.press("Enter");
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.path.as_deref()), ("files", Some("ci/x.yml")));
    assert_eq!(place.git_ref.as_ref().map(|at| at.short()), Some("9f3c2ab0d1e2"));
    harness.press("C-o").press("j Enter");
    assert_eq!(harness.browsed(), ["https://gitlab.test/r"]);
    harness.press("j j j Enter");
    assert_eq!(harness.app.place().tab.as_deref(), Some("written"));
    assert!(harness.line_with("unit:").starts_with('▌'), "{}", harness.picture());
    harness.press("1 j j Enter");
    assert_eq!(harness.app.place().tab.as_deref(), Some("merged"));
    assert!(harness.line_with("late:").starts_with('▌'), "{}", harness.picture());
    harness.press("1 G k Enter").expect("The definition of gone was not found.");
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
    harness.expect("No CI configuration: main has no file .gitlab-ci.yml").expect("no configuration");
    harness.expect("e creates it").press("2").expect("No CI configuration").press("Enter");
}

#[tokio::test]
async fn the_file_is_where_the_project_says() {
    let lint = json!({"valid": true, "errors": [], "warnings": [], "merged_yaml": "---\n", "includes": []});
    for (path, line) in [
        (json!("ci/main.yml"), "GET /projects/a%2Fb/repository/files/ci%2Fmain.yml/raw?ref=main"),
        (json!(""), "GET /projects/a%2Fb/repository/files/.gitlab-ci.yml/raw?ref=main"),
        (json!(null), "GET /projects/a%2Fb/repository/files/.gitlab-ci.yml/raw?ref=main"),
    ] {
        let mut harness = Begin::at(Place::new("ci").project("a/b")).size(120, 20).open();
        let project = json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main", "ci_config_path": path});
        harness.reply("GET /projects/a%2Fb", project).reply(LINT, &lint).reply_raw(line, "pack: {script: x}\n");
        harness.settle().await;
        harness.press("2").expect("pack: {script: x}");
    }
    // One that is elsewhere is not read, but still checked.
    for path in ["ci.yml@ops/ci:main", "https://h.test/ci.yml"] {
        let mut harness = Begin::at(Place::new("ci").project("a/b")).size(120, 20).open();
        let project = json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main", "ci_config_path": path});
        harness.reply("GET /projects/a%2Fb", project).reply(LINT, &lint).settle().await;
        harness.expect("valid").press("2").expect("The file cannot be read.").press("Enter");
        harness.expect("The configuration is not in this repository.");
        assert!(!harness.asked.iter().any(|line| line.contains("/raw")), "{:?}", harness.asked);
    }
}

#[tokio::test]
async fn a_refused_check_leaves_the_file_readable() {
    let mut harness = Begin::at(Place::new("ci").project("a/b")).size(120, 20).open();
    harness.reply("GET /projects/a%2Fb", json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main"}));
    harness.reply_raw("GET /projects/a%2Fb/repository/files/.gitlab-ci.yml/raw?ref=main", "pack:\n  script: make\n");
    harness.fail(LINT, 403, "403 Forbidden").settle().await;
    harness.expect("403 Forbidden").press("2").expect("script: make");
    harness.press("3").expect("403 Forbidden").press("2 Enter");
    assert_eq!(harness.app.place().path.as_deref(), Some(".gitlab-ci.yml"));
    let lint = json!({"valid": true, "errors": [], "warnings": [], "merged_yaml": "---\npack:\n  script: make\n",
        "includes": [], "jobs": []});
    let mut harness = Begin::at(Place::new("ci").project("a/b")).size(120, 20).open();
    harness.reply("GET /projects/a%2Fb", json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main"}));
    let file = "GET /projects/a%2Fb/repository/files/.gitlab-ci.yml/raw?ref=main";
    harness.fail(file, 403, "403 Forbidden").reply(LINT, lint).settle().await;
    harness.expect(".gitlab-ci.yml: valid").press("2").expect("The file cannot be read.").press("3").expect("make");
}

#[tokio::test]
async fn a_configuration_of_a_megabyte_is_shown() {
    let letters = |n: usize| format!("{n:04}").bytes().map(|b| char::from(b - b'0' + b'a')).collect::<String>();
    let job = |n: usize| {
        format!("job-{}:\n  stage: test\n  rules:\n  - if: $A == \"{}\"\n  script: make\n", letters(n), "x".repeat(440))
    };
    let written: String = (0..2_000).map(job).collect();
    assert!(written.len() > 1_000_000);
    let errors: Vec<String> = (0..2_000).map(|n| format!("jobs:job-{}:script is odd", letters(n))).collect();
    let jobs: Vec<Value> = (0..2_000)
        .map(
            |n| json!({"name": format!("job-{}", letters(n)), "stage": letters(n / 2), "script": ["make"], "when": ""}),
        )
        .collect();
    let includes = json!({"type": "local", "location": "ci/same.yml", "context_project": "a/b"});
    let lint = json!({"valid": false, "errors": errors, "warnings": [], "merged_yaml": format!("---\n{written}"),
        "includes": vec![includes; 500], "jobs": jobs});
    let mut harness = open(lint, &written).await;
    harness.expect(".gitlab-ci.yml: invalid").expect("line 5: jobs:job-aaaa:script is odd").press("2 }");
    harness.expect("jobs:job-aaaa:script is odd").press("G").expect("job-bjjj").press("1 G");
    harness.expect("job-bjjj").press("3 G").expect("script: make");
    for (width, height) in [(60, 12), (20, 6), (10, 3)] {
        harness.resize(width, height).press("1 j 2 j 3 G");
    }
}

/// The form of the reply is that of the server's own presenter: needs are objects, `only` and `except` are maps, and
/// rules are in the merged text alone.
#[tokio::test]
async fn rules_policies_and_needs_are_shown_as_they_are_written() {
    let job = |name: &str, only: Value, needs: Value| {
        json!({"name": name, "stage": "test", "before_script": [], "script": ["make"], "after_script": [],
            "tag_list": [], "only": only, "except": null, "environment": null, "when": "on_success",
            "allow_failure": false, "needs": needs})
    };
    let optional = json!([{"name": "pack", "artifacts": false, "optional": true}]);
    let lint = json!({"valid": true, "errors": [], "warnings": [], "includes": [],
        "merged_yaml": "---\npack:\n  script: make\n  rules:\n  - if: $CI_COMMIT_TAG \u{1b}[2J\n    when: manual\nold:\n  script: make\n",
        "jobs": [job("pack", Value::Null, json!([])),
            job("old", json!({"refs": ["main", "/^v/"], "variables": ["$DEEP"]}), optional),
            job("plain", json!({"refs": ["branches", "tags"]}), Value::Null)]});
    let mut harness = open(lint, "include: ci/x.yml\nplain:\n  script: make\n  rules: *usual\n").await;
    harness.expect("needs  nothing: starts at once").expect("rules  - if: $CI_COMMIT_TAG").expect("when: manual");
    harness.expect("needs  pack (optional)").expect("only   main, /^v/, if $DEEP").expect("rules  *usual");
    harness.expect_no("branches, tags");
}

#[tokio::test]
async fn an_old_server_that_checks_another_branch_says_so() {
    let lint = json!({"valid": true, "errors": [], "warnings": ["jobs:pack may run twice"], "merged_yaml": "---\n",
        "includes": [], "jobs": []});
    for (version, query) in [("15.11.2-ee", ""), ("16.7.0", "&sha=next"), ("17.0.0", "content_ref=next&")] {
        let mut harness = Begin::at(Place::new("ci").project("a/b").at("next")).size(140, 30).open();
        harness.reply("GET /projects/a%2Fb", json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main"}));
        harness.reply_raw("GET /projects/a%2Fb/repository/files/.gitlab-ci.yml/raw?ref=next", "pack:\n  script: x\n");
        harness.reply("GET /metadata", json!({"version": version, "revision": "x"}));
        let line = match query.strip_prefix('&') {
            Some(after) => format!("{LINT}?include_jobs=true&{after}"),
            None => format!("{LINT}?{query}include_jobs=true"),
        };
        harness.reply(&line, &lint).settle().await;
        let is_old = query.is_empty();
        assert_eq!(harness.shows("This is the configuration of main: this server checks only"), is_old, "{version}");
        assert_eq!(harness.shows("line 1: jobs:pack"), !is_old, "{}", harness.picture());
    }
}

#[tokio::test]
async fn typed_inputs_are_kept_and_values_of_variables_are_not() {
    let written = "spec:\n  inputs:\n    stage:\n      default: blue\n---\nvariables:\n  TOKEN:\n    value: ''\n    \
                   description: A token.\njob:\n  script: x\n";
    let lint = json!({"valid": true, "errors": [], "warnings": [], "merged_yaml": "---\n", "includes": []});
    let mut harness = open(lint, written).await;
    harness.press("+").settle().await;
    harness.expect("stage (input)").expect("blue").press("Tab Tab C-u").type_text("green").press("Tab");
    harness.expect("A token. Not stored on this machine.").type_text("s3cret").press("Esc");
    harness.expect("The field \"TOKEN\" is not saved");
    let kept: String = harness.kept.values().cloned().collect();
    assert!(kept.contains("green") && !kept.contains("s3cret"), "{kept}");
    harness.press("+").settle().await;
    harness
        .expect("green")
        .expect_no("s3cret")
        .press("Tab")
        .press("Esc")
        .expect("Draft saved")
        .press("+")
        .settle()
        .await;
    harness.expect("green").press("C-s").settle().await;
    let sent = harness.asked.iter().find(|line| line.starts_with("POST")).expect("a pipeline");
    assert!(sent.contains("\"inputs\":{\"stage\":\"green\"}"), "{sent}");
}

#[tokio::test]
async fn the_demo_has_a_configuration_with_inputs() {
    let server = demo().await;
    let mut app = Begin::at(Place::new("ci").project("acme/infra/deploy")).size(140, 50);
    app = app.server(&server.base_url, server.tokens.get("dora").expect("a token"));
    let mut app = app.open();
    app.settle().await;
    app.expect("valid").expect("ci/checks.yml").expect("roll-out").expect("needs  syntax").press("3").settle().await;
    app.press("1 j j j Enter").settle().await;
    // The address of this server is not that of the session.
    let opened = app.browsed().pop().expect("an address");
    assert!(opened.contains("/acme/infra/deploy/-/blob/") && opened.ends_with("/ci/checks.yml"), "{opened}");
    app.press("3").settle().await;
    app.expect("ansible --version").press("+").settle().await;
    app.expect("stage (input)").expect("ticket (input)").expect("NOTIFY").expect("staging");
    // What the configuration does not allow is refused before anything is sent, and what the server refuses is told.
    app.press("S-Tab S-Tab S-Tab C-u").type_text("none").press("C-s").expect("does not match ^OPS-");
    assert!(!app.asked.iter().any(|line| line.starts_with("POST")), "{:?}", app.asked);
    app.press("C-u").type_text("OPS-7").press("C-s").settle().await;
    assert_eq!(app.app.place().pane, "jobs", "{}", app.picture());
    server.stop().await;
}
