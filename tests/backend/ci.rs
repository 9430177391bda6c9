//! Pipelines from the CI configuration of a commit.

use crate::{Server, each, json};
use reqwest::Method;
use serde_json::{Value, json as value};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [{ username = "root", admin = true }, { username = "ada", name = "Ada Sommer" }]

[[projects]]
path = "ada/hello"
visibility = "public"
files = """
-- README.md --
Hello
"""
script = """
from 2026-11-02
to 2026-11-20
ada: Begin
  + README.md
"""

[[runners]]
name = "here"
shared = true
contacted = "1m"
"#;

const PROJECT: &str = "/projects/ada%2Fhello";

const CONFIG: &str = r#"
stages: [build, test, ship]
variables: { PLACE: production }
default:
  before_script: [echo prepare]
compile:
  stage: build
  script:
    - cargo build
    - |
      echo one
      echo two
  artifacts: { paths: [target/debug] }
unit:
  stage: test
  script: cargo test
  needs: []
lint:
  stage: test
  script: ["false"]
  allow_failure: true
  rules:
    - if: $CI_COMMIT_BRANCH
review:
  stage: test
  script: echo review
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
ship:
  stage: ship
  script: echo $PLACE
  when: manual
  environment: $PLACE
"#;

/// Writes a file on a branch, with a commit message.
async fn write(server: &Server, branch: &str, path: &str, content: &str, message: &str) -> Value {
    let known =
        server.get("ada", &format!("{PROJECT}/repository/files/{}/raw?ref={branch}", path.replace('/', "%2F"))).await;
    let action = if known.status() == 200 { "update" } else { "create" };
    let action = value!({"action": action, "file_path": path, "content": content});
    let body = value!({"branch": branch, "commit_message": message, "actions": [action]});
    let call = server.call("ada", Method::POST, &format!("{PROJECT}/repository/commits"));
    json(call.json(&body).send().await.unwrap(), 201).await
}

async fn newest(server: &Server) -> Value {
    let all = server.read("ada", &format!("{PROJECT}/pipelines")).await;
    server.read("ada", &format!("{PROJECT}/pipelines/{}", all[0]["id"])).await
}

/// Returns the jobs of a pipeline as `name status`, oldest first.
async fn jobs(server: &Server, pipeline: &Value) -> Vec<String> {
    let jobs = server.read("ada", &format!("{PROJECT}/pipelines/{}/jobs", pipeline["id"])).await;
    let word = |job: &Value, field: &str| job[field].as_str().unwrap().to_owned();
    let mut jobs: Vec<&Value> = jobs.as_array().unwrap().iter().collect();
    jobs.sort_by_key(|job| job["id"].as_u64());
    jobs.into_iter().map(|job| format!("{} {}", word(job, "name"), word(job, "status"))).collect()
}

#[tokio::test]
async fn a_commit_with_a_configuration_starts_its_jobs() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(WORLD, &passed).await;
    write(&server, "main", "x", "x", "Without a configuration").await;
    assert_eq!(server.read("ada", &format!("{PROJECT}/pipelines")).await, value!([]));
    let commit = write(&server, "main", ".gitlab-ci.yml", CONFIG, "Test everything").await;
    let pipeline = newest(&server).await;
    assert_eq!(
        (&pipeline["sha"], &pipeline["source"], &pipeline["ref"]),
        (&commit["id"], &"push".into(), &"main".into())
    );
    assert_eq!(jobs(&server, &pipeline).await, ["compile pending", "unit pending", "lint created", "ship created"]);
    // A job without needs does not wait for earlier stages.
    passed.store(4, Ordering::Relaxed);
    assert_eq!(jobs(&server, &pipeline).await, ["compile running", "unit running", "lint created", "ship created"]);
    let compile = server.read("ada", &format!("{PROJECT}/pipelines/{}/jobs", pipeline["id"])).await;
    let id = compile.as_array().unwrap().iter().find(|job| job["name"] == "compile").unwrap()["id"].clone();
    passed.store(60, Ordering::Relaxed);
    assert_eq!(jobs(&server, &pipeline).await, ["compile success", "unit success", "lint failed", "ship manual"]);
    assert_eq!(newest(&server).await["status"], "success");
    let trace = server.get("ada", &format!("{PROJECT}/jobs/{id}/trace")).await.text().await.unwrap();
    for part in [
        "$ echo prepare",
        "$ cargo build",
        "$ echo one # collapsed multi-line command",
        "target/debug",
        "Job succeeded",
    ] {
        assert!(trace.contains(part), "{part}: {trace}");
    }
    let last = server.read("ada", &format!("{PROJECT}/jobs")).await;
    let ship = last.as_array().unwrap().iter().find(|job| job["name"] == "ship").unwrap()["id"].clone();
    json(server.post("ada", &format!("{PROJECT}/jobs/{ship}/play"), &[]).await, 200).await;
    passed.store(120, Ordering::Relaxed);
    assert_eq!(jobs(&server, &pipeline).await[3], "ship success");
    let environments = server.read("ada", &format!("{PROJECT}/environments")).await;
    assert_eq!(each(&environments, "name"), ["production"]);
}

#[tokio::test]
async fn merge_requests_have_pipelines_of_their_own() {
    let server = Server::of(WORLD, &Default::default()).await;
    write(&server, "main", ".gitlab-ci.yml", CONFIG, "Test everything").await;
    let form = [("branch", "more"), ("ref", "main")];
    json(server.post("ada", &format!("{PROJECT}/repository/branches"), &form).await, 201).await;
    write(&server, "more", "more", "more", "More").await;
    let form = [("source_branch", "more"), ("target_branch", "main"), ("title", "More")];
    json(server.post("ada", &format!("{PROJECT}/merge_requests"), &form).await, 201).await;
    let pipeline = newest(&server).await;
    let of = |field: &str| pipeline[field].as_str().unwrap().to_owned();
    assert_eq!([of("source"), of("ref")], ["merge_request_event", "refs/merge-requests/1/head"]);
    assert_eq!(jobs(&server, &pipeline).await, ["review pending"]);
    write(&server, "more", "more", "again", "Again").await;
    let listed = server.read("ada", &format!("{PROJECT}/merge_requests/1/pipelines")).await;
    assert_eq!(each(&listed, "ref")[..2], ["refs/merge-requests/1/head", "more"]);
}

#[tokio::test]
async fn mistakes_and_rules_are_told() {
    let server = Server::of(WORLD, &Default::default()).await;
    write(&server, "main", ".gitlab-ci.yml", "job: { stage: nowhere, script: a }", "Break it").await;
    let pipeline = newest(&server).await;
    let why = "job job: chosen stage nowhere does not exist; available stages are .pre, build, test, deploy, .post";
    assert_eq!((&pipeline["status"], &pipeline["yaml_errors"]), (&"failed".into(), &why.into()));
    let filtered = server.read("ada", &format!("{PROJECT}/pipelines?yaml_errors=true")).await;
    assert_eq!(filtered.as_array().unwrap().len(), 1);
    let start = || server.post("ada", "/projects/ada%2Fhello/pipeline", &[("ref", "main")]);
    assert_eq!(json(start().await, 400).await["message"]["base"][0], why);
    let tags_only = "job: { script: a, only: [tags] }";
    write(&server, "main", ".gitlab-ci.yml", tags_only, "Only tags").await;
    assert_eq!(newest(&server).await["id"], pipeline["id"], "nothing runs");
    let refused = json(start().await, 400).await;
    let why = refused["message"]["base"][0].as_str().unwrap();
    assert!(why.starts_with("Pipeline will not run for the selected trigger."), "{why}");
    let form = [("tag_name", "v1"), ("ref", "main")];
    json(server.post("ada", &format!("{PROJECT}/repository/tags"), &form).await, 201).await;
    let pipeline = newest(&server).await;
    assert_eq!((&pipeline["ref"], &pipeline["tag"]), (&"v1".into(), &true.into()));
    // Variables of the request decide, too.
    let config = "job: { script: a, rules: [{ if: $MODE == 'deep' }] }\ninclude: ci/more.yml";
    write(&server, "main", "ci/more.yml", "more: { script: b }", "Add a file").await;
    write(&server, "main", ".gitlab-ci.yml", config, "Deeper").await;
    assert_eq!(jobs(&server, &newest(&server).await).await, ["more pending"]);
    let body = value!({"ref": "main", "variables": [{"key": "MODE", "value": "deep"}]});
    let call = server.call("ada", Method::POST, "/projects/ada%2Fhello/pipeline").json(&body);
    let pipeline = json(call.send().await.unwrap(), 201).await;
    assert_eq!(jobs(&server, &pipeline).await, ["more pending", "job pending"]);
    write(&server, "main", "y", "y", "Nothing [skip ci]").await;
    let pipeline = newest(&server).await;
    assert_eq!((&pipeline["status"], jobs(&server, &pipeline).await.len()), (&"skipped".into(), 0));
}
