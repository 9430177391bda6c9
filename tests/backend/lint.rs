//! Checks of CI configurations.

use crate::{Server, WORLD, each, json};
use reqwest::Method;
use serde_json::{Value, json as value};

const AT: &str = "/projects/1/ci/lint";
const CONTENT: &str = "pack:\n  stage: build\n  script:\n    - make\n    - make test\n";

async fn lint(server: &Server, user: &str, body: Value) -> reqwest::Response {
    server.call(user, Method::POST, AT).json(&body).send().await.unwrap()
}

#[tokio::test]
async fn a_configuration_is_checked_without_running_it() {
    let server = Server::of(WORLD, &Default::default()).await;
    let valid = json(lint(&server, "bo", value!({"content": CONTENT, "include_jobs": true})).await, 200).await;
    assert_eq!((&valid["valid"], &valid["errors"], &valid["warnings"]), (&value!(true), &value!([]), &value!([])));
    let merged = "---\npack:\n  stage: build\n  script:\n  - make\n  - make test\n";
    assert_eq!(valid["merged_yaml"], merged);
    let job = &valid["jobs"][0];
    assert_eq!((&job["name"], &job["stage"], &job["when"]), (&"pack".into(), &"build".into(), &"on_success".into()));
    assert_eq!(job["script"], value!(["make", "make test"]));
    for content in ["pack:\n  scrpt: make\n", ": :\n  -", "[1]", ""] {
        let invalid = json(lint(&server, "bo", value!({"content": content})).await, 200).await;
        assert_eq!((&invalid["valid"], invalid.get("jobs")), (&value!(false), None), "{content}");
        assert!(!invalid["errors"].as_array().unwrap().is_empty(), "{content}");
    }
    let rules = "pack:\n  script: make\n  rules:\n    - if: $CI_COMMIT_TAG\n";
    for (trial, valid) in [(false, true), (true, false)] {
        let checked = json(lint(&server, "bo", value!({"content": rules, "dry_run": trial})).await, 200).await;
        assert_eq!(checked["valid"], valid, "{checked}");
    }
    assert_eq!(json(lint(&server, "bo", value!({})).await, 400).await["error"], "content is missing");
    json(lint(&server, "eve", value!({"content": CONTENT})).await, 403).await;
    json(lint(&server, "", value!({"content": CONTENT})).await, 401).await;
    let pipelines = server.read("ada", "/projects/1/pipelines").await;
    assert_eq!(pipelines.as_array().unwrap().len(), 1, "nothing was run");
}

#[tokio::test]
async fn the_configuration_of_a_commit_is_checked() {
    let server = Server::of(WORLD, &Default::default()).await;
    let none = server.read("", AT).await;
    assert_eq!((&none["valid"], &none["merged_yaml"]), (&value!(false), &value!(null)));
    let form = [("branch", "louder"), ("commit_message", "Test"), ("content", CONTENT)];
    json(server.post("ada", "/projects/1/repository/files/.gitlab-ci.yml", &form).await, 201).await;
    let valid = server.read("", &format!("{AT}?content_ref=louder&include_jobs=true")).await;
    assert_eq!((&valid["valid"], each(&valid["jobs"], "name")), (&value!(true), vec!["pack"]));
    let missing = json(server.get("", &format!("{AT}?content_ref=gone")).await, 404).await;
    assert_eq!(missing["message"], "404 Commit Not Found");
    let both = json(server.get("", &format!("{AT}?content_ref=main&sha=main")).await, 400).await;
    assert_eq!(both["error"], "sha, content_ref are mutually exclusive");
    let both = json(server.get("", &format!("{AT}?dry_run_ref=main&ref=main")).await, 400).await;
    assert_eq!(both["error"], "ref, dry_run_ref are mutually exclusive");
}
