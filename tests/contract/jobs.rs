//! Jobs.

use crate::sample::{acme, word};
use labscope::api::Endpoint;
use labscope::api::jobs::*;
use labscope::api::pipelines::NewVariable;
use labscope::api::pipelines::resources::Status;

requests! {
    ListJobs { id: acme(), scope: Some(vec!["pending".into(), "running".into()]) } =>
        "GET /projects/acme%2Fui/jobs?scope[]=pending&scope[]=running";
    ListPipelineJobs { id: 1.into(), pipeline_id: 6, scope: Some(vec!["manual".into()]), include_retried: None } =>
        "GET /projects/1/pipelines/6/jobs?scope[]=manual";
    ListPipelineJobs { id: 1.into(), pipeline_id: 6, include_retried: Some(true), scope: None } =>
        "GET /projects/1/pipelines/6/jobs?include_retried=true";
    GetJob { id: 1.into(), job_id: 8 } => "GET /projects/1/jobs/8";
    GetArtifacts { id: 1.into(), job_id: 8, file_type: word("cobertura"), job_token: word("t") } =>
        "GET /projects/1/jobs/8/artifacts?file_type=cobertura&job_token=t";
    GetRefArtifacts { id: 1.into(), ref_name: "feature/a".into(), job: "test".into(), job_token: None } =>
        "GET /projects/1/jobs/artifacts/feature%2Fa/download?job=test";
    GetArtifactFile { id: 1.into(), job_id: 5, artifact_path: "some/release/file ü.pdf".into() } =>
        "GET /projects/1/jobs/5/artifacts/some/release/file%20%C3%BC.pdf";
    GetTrace { id: 1.into(), job_id: 8 } => "GET /projects/1/jobs/8/trace";
    CancelJob { id: 1.into(), job_id: 8 } => "POST /projects/1/jobs/8/cancel";
    RetryJob { id: 1.into(), job_id: 8, inputs: Some(serde_json::Map::from_iter([("n".into(), 3.into())])) } =>
        r#"POST /projects/1/jobs/8/retry | {"inputs":{"n":3}}"#;
    EraseJob { id: 1.into(), job_id: 8 } => "POST /projects/1/jobs/8/erase";
    KeepArtifacts { id: 1.into(), job_id: 8 } => "POST /projects/1/jobs/8/artifacts/keep";
    PlayJob {
        id: 1.into(),
        job_id: 8,
        job_variables_attributes: Some(vec![
            NewVariable { key: "A".into(), value: "1".into(), variable_type: None },
            NewVariable { key: "B".into(), value: "x y".into(), variable_type: None },
        ]),
        job_inputs: Some(serde_json::Map::from_iter([("env".into(), "prod".into())])),
    } => r#"POST /projects/1/jobs/8/play | {"job_inputs":{"env":"prod"},"job_variables_attributes":[{"key":"A","value":"1"},{"key":"B","value":"x y"}]}"#;
}

samples! {
    Job => r#"{
        "id": 7, "name": "teaspoon", "stage": "test", "status": "failed", "ref": "master", "tag": false,
        "coverage": null, "created_at": "2015-12-24T15:51:21.802Z", "started_at": "2015-12-24T17:54:27.722Z",
        "finished_at": "2015-12-24T17:54:27.895Z", "duration": 41,
        "artifacts_file": {"filename": "artifacts.zip", "size": 1000}, "download_url": null,
        "runner": {"id": 1, "description": "shell", "name": null, "active": true, "is_shared": true, "online": true,
            "status": "online"},
        "user": {"id": 1, "name": "Administrator", "username": "root", "state": "active", "avatar_url": "http://a",
            "web_url": "http://h/root", "created_at": "2015-12-21T13:14:24.077Z", "bio": null, "location": null,
            "messenger_id": "", "network_profile": "", "microblog_account": "", "website_url": "", "organization": ""},
        "commit": {"author_email": "admin@example.com", "author_name": "Administrator",
            "created_at": "2015-12-24T16:51:14.000+01:00", "id": "0ff3ae198f8601a285adcf5c0fff204ee6fba5fd",
            "message": "Test the CI integration.", "short_id": "0ff3ae19", "title": "Test the CI integration."},
        "pipeline": {"id": 6, "ref": "master", "sha": "0ff3ae198f8601a285adcf5c0fff204ee6fba5fd", "status": "pending"},
        "project": {"id": 1, "description": null, "name": "p", "name_with_namespace": "a / p", "path": "p",
            "path_with_namespace": "a/p", "created_at": "2016-01-05T15:33:18.068Z"}
    }"#;
    Job => r#"{"id": 8, "status": "waiting_for_resource", "duration": 41.172918, "queued_duration": 0.01,
        "allow_failure": true, "failure_reason": "script_failure", "web_url": "https://h/-/jobs/8",
        "runner": null, "user": null, "commit": null, "artifacts_file": null}"#;
}

#[test]
fn a_status_is_live_if_it_can_change_on_its_own() {
    for word in ["created", "pending", "running", "preparing", "canceling", "waiting_for_resource"] {
        assert!(Status::from(word).is_live(), "{word}");
    }
    for word in ["success", "failed", "canceled", "skipped", "manual", "scheduled", "quite_new"] {
        assert!(!Status::from(word).is_live(), "{word}");
    }
}

#[test]
fn variable_values_of_a_manual_job_are_not_printed() {
    let secret = NewVariable { key: "A".into(), value: "s3cret".into(), variable_type: None };
    let play = PlayJob { id: 1.into(), job_id: 8, job_variables_attributes: Some(vec![secret]), job_inputs: None };
    assert!(!format!("{play:?} {}", play.request().line()).contains("s3cret"));
    let alone = PlayJob { job_variables_attributes: None, ..play };
    assert_eq!(alone.request().line(), "POST /projects/1/jobs/8/play");
}
