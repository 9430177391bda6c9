//! Pipelines.

use crate::sample::{acme, time, word};
use labscope::api::jobs::Job;
use labscope::api::pipelines::resources::Pipeline;
use labscope::api::pipelines::*;

fn variable(key: &str, value: &str, kind: Option<&str>) -> NewVariable {
    NewVariable { key: key.into(), value: value.into(), variable_type: kind.map(str::to_owned) }
}

requests! {
    ListPipelines {
        id: acme(),
        scope: word("finished"),
        status: word("failed"),
        r#ref: word("feature/a"),
        sha: word("8888"),
        source: word("web"),
        username: word("ada"),
        yaml_errors: Some(true),
        updated_after: time(),
        updated_before: time(),
        order_by: word("user_id"),
        sort: word("asc"),
    } => "GET /projects/acme%2Fui/pipelines?order_by=user_id&ref=feature%2Fa&scope=finished&sha=8888&sort=asc&source=web\
          &status=failed&updated_after=2018-01-01T00%3A00%3A00Z&updated_before=2018-01-01T00%3A00%3A00Z&username=ada\
          &yaml_errors=true";
    GetPipeline { id: 1.into(), pipeline_id: 46 } => "GET /projects/1/pipelines/46";
    CreatePipeline {
        id: 1.into(),
        r#ref: "main".into(),
        variables: Some(vec![variable("A", "1", None), variable("FILE", "x\ny", Some("file"))]),
        inputs: Some([("count".to_owned(), 3.into())].into_iter().collect()),
    } => r#"POST /projects/1/pipeline | {"inputs":{"count":3},"ref":"main","variables":[{"key":"A","value":"1"},{"key":"FILE","value":"x\ny","variable_type":"file"}]}"#;
    RetryPipeline { id: 1.into(), pipeline_id: 46 } => "POST /projects/1/pipelines/46/retry";
    CancelPipeline { id: 1.into(), pipeline_id: 46 } => "POST /projects/1/pipelines/46/cancel";
    DeletePipeline { id: 1.into(), pipeline_id: 46 } => "DELETE /projects/1/pipelines/46";
    ListPipelineBridges { id: 1.into(), pipeline_id: 46, scope: Some(vec!["failed".into(), "manual".into()]) } =>
        "GET /projects/1/pipelines/46/trigger_jobs?scope[]=failed&scope[]=manual";
    ListPipelineVariables { id: 1.into(), pipeline_id: 46 } => "GET /projects/1/pipelines/46/variables";
}

samples! {
    Pipeline => r#"{"id": 287, "iid": 144, "project_id": 21, "name": "Build pipeline", "status": "success",
        "ref": "main", "sha": "50f0acb76a40e34a4ff304f7347dcc6587da8a14", "source": "push",
        "before_sha": "8a24fb3c5877a6d0b611ca41fc86edc174593e2b", "tag": false, "yaml_errors": "jobs config is empty",
        "user": {"id": 1, "name": "Administrator", "username": "root", "state": "active", "avatar_url": null,
            "web_url": "http://h/root"},
        "created_at": "2022-09-21T01:05:07.200Z", "updated_at": "2022-09-21T01:05:50.185Z",
        "started_at": "2022-09-21T01:05:14.197Z", "finished_at": "2022-09-21T01:05:50.175Z", "committed_at": "2022-09-21T01:05:07.200Z",
        "duration": 34.5, "queued_duration": 6, "coverage": "98.29", "web_url": "https://h/p/-/pipelines/287"}"#;
    Job => r#"{"id": 7, "status": "success", "stage": "test", "name": "child", "ref": "main", "tag": false, "coverage": null,
        "created_at": "2015-12-24T15:51:21.802Z", "started_at": "2015-12-24T17:54:27.722Z",
        "finished_at": "2015-12-24T17:58:27.895Z", "duration": 240, "user": {"id": 1, "username": "root"},
        "commit": {"id": "0ff3ae198f8601a285adcf5c0fff204ee6fba5fd", "short_id": "0ff3ae19", "title": "Test the CI"},
        "pipeline": {"id": 6, "sha": "0ff3ae198f8601a285adcf5c0fff204ee6fba5fd", "ref": "main", "status": "success"},
        "allow_failure": false, "web_url": "https://h/p/-/jobs/7",
        "downstream_pipeline": {"id": 5, "iid": 3, "project_id": 9, "sha": "f62a4b2fb89754372a346f24659212eb8da13601",
            "ref": "main", "status": "pending", "source": "pipeline", "created_at": "2015-12-24T17:54:27.722Z",
            "updated_at": "2015-12-24T17:58:27.896Z", "web_url": "https://h/q/-/pipelines/5"}}"#;
    PipelineVariable => r#"{"key": "FOO", "value": "bar", "variable_type": "env_var", "raw": false}"#;
}

#[test]
fn coverage_is_read_as_a_string_or_a_number() {
    for (text, wanted) in [(r#""98.29""#, Some("98.29")), ("98.5", Some("98.5")), ("null", None), ("{}", None)] {
        let read: Pipeline = serde_json::from_str(&format!(r#"{{"coverage": {text}}}"#)).expect(text);
        assert_eq!(read.coverage.as_deref(), wanted, "{text}");
    }
}

#[test]
fn the_value_of_a_new_variable_is_not_printed() {
    let shown = format!(
        "{:?}",
        CreatePipeline { variables: Some(vec![variable("KEY", "s3cret", None)]), ..Default::default() }
    );
    assert!(shown.contains("KEY") && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn a_trigger_job_is_recognized_before_its_pipeline_starts() {
    let read = |text: &str| serde_json::from_str::<Job>(text).expect(text);
    assert!(read(r#"{"id": 7, "downstream_pipeline": null}"#).is_trigger() && !read(r#"{"id": 7}"#).is_trigger());
    assert_eq!(read(r#"{"downstream_pipeline": {"id": 5}}"#).downstream().map(|child| child.id), Some(5));
}
