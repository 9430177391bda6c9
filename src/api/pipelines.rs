//! Pipelines: listed, run, retried, canceled, deleted. Not in the specification; servers of its age have most of it,
//! too.

use crate::api::endpoint::{InputKind, InputType};
use crate::api::jobs::{GetJob, Job, ListJobs, ListPipelineJobs, Status};
use crate::api::merge_requests::{GetMergeRequest, ListMergeRequestPipelines};
use crate::api::users::User;
use crate::api::views::COMMIT_WITH_MESSAGE;
use crate::api::{Id, Nothing, Time};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

crate::resource! {
    /// A pipeline. Lists leave out who started it and how long it took.
    pub struct Pipeline {
        id: u64,
        sha: String,
        /// A branch or tag, or `refs/merge-requests/N/head`.
        r#ref: String,
        status: Status,
    }
    newer {
        /// Its number in the project.
        iid: u64,
        project_id: u64,
        /// A word of [`SOURCES`], or a later one.
        source: String,
        name: String,
        /// Whether `ref` is a tag.
        tag: bool,
        before_sha: String,
        /// What is wrong with the CI file.
        yaml_errors: String,
        user: User,
        created_at: Time,
        updated_at: Time,
        started_at: Time,
        finished_at: Time,
        committed_at: Time,
        /// In seconds, once it has finished.
        duration: f64,
        /// In seconds.
        queued_duration: f64,
        /// In percent.
        #[serde(deserialize_with = "percent")]
        coverage: String,
        web_url: String,
    }
}

/// Servers write it as a text, and some wrote a number.
fn percent<'de, D: Deserializer<'de>>(d: D) -> Result<Option<String>, D::Error> {
    Ok(match Option::<serde_json::Value>::deserialize(d)? {
        Some(serde_json::Value::String(text)) => Some(text),
        Some(serde_json::Value::Number(number)) => Some(number.to_string()),
        _ => None,
    })
}

crate::resource! {
    /// A variable that a pipeline was run with.
    pub struct Variable {
        key: String,
        value: String,
        /// `env_var` or `file`.
        variable_type: String,
    }
    newer {
        raw: bool,
    }
}

/// A variable to run a pipeline with. Its value may be a secret, and is not printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewVariable {
    pub key: String,
    pub value: String,
    /// `env_var` where absent, or `file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable_type: Option<String>,
}

impl fmt::Debug for NewVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=***", self.key)
    }
}

impl InputType for Vec<NewVariable> {
    const KIND: InputKind = InputKind::Other;
}

/// What starts pipelines, as lists are filtered; servers add more.
pub const SOURCES: &[&str] = &[
    "push",
    "web",
    "trigger",
    "schedule",
    "api",
    "external",
    "pipeline",
    "chat",
    "webide",
    "merge_request_event",
    "external_pull_request_event",
    "parent_pipeline",
];

/// Groups of pipelines that servers list by.
pub const SCOPES: &[&str] = &["running", "pending", "finished", "branches", "tags"];

crate::endpoints! {
    newer section "Pipelines";

    /// Lists a project's pipelines, newest first, without those that other pipelines started.
    GET "/projects/{id}/pipelines" => Vec<Pipeline>;
    struct ListPipelines {
        id: Id,
        /// A word of [`SCOPES`].
        scope: Option<String>,
        /// A word of [`Status`].
        status: Option<String>,
        r#ref: Option<String>,
        sha: Option<String>,
        /// A word of [`SOURCES`].
        source: Option<String>,
        /// Who started it.
        username: Option<String>,
        /// Whether its CI file is wrong.
        yaml_errors: Option<bool>,
        updated_after: Option<Time>,
        updated_before: Option<Time>,
        /// `id` (where absent), `status`, `ref`, `updated_at` or `user_id`.
        order_by: Option<String>,
        /// `desc` (where absent) or `asc`.
        sort: Option<String>,
    }

    /// Reads one pipeline.
    GET "/projects/{id}/pipelines/{pipeline_id}" => Pipeline;
    struct GetPipeline { id: Id, pipeline_id: u64 }

    /// Runs a pipeline on a branch or tag.
    JSON POST "/projects/{id}/pipeline" => Pipeline,
    touches [ListPipelines, ListJobs, ListMergeRequestPipelines, GetMergeRequest];
    struct CreatePipeline {
        id: Id,
        /// A branch or tag.
        r#ref: String,
        /// What its jobs know beside the project's own variables; servers before 11.0 ignore it.
        variables: Option<Vec<NewVariable>>,
    }

    /// Retries the failed and canceled jobs of a pipeline.
    POST "/projects/{id}/pipelines/{pipeline_id}/retry" => Pipeline,
    touches [
        ListPipelines, GetPipeline, ListJobs, ListPipelineJobs, ListPipelineBridges, GetJob,
        ListMergeRequestPipelines, GetMergeRequest,
    ];
    struct RetryPipeline { id: Id, pipeline_id: u64 }

    /// Cancels the jobs of a pipeline that have not finished.
    POST "/projects/{id}/pipelines/{pipeline_id}/cancel" => Pipeline,
    touches [
        ListPipelines, GetPipeline, ListJobs, ListPipelineJobs, ListPipelineBridges, GetJob,
        ListMergeRequestPipelines, GetMergeRequest,
    ];
    struct CancelPipeline { id: Id, pipeline_id: u64 }

    /// Deletes a pipeline with its jobs, their traces and artifacts.
    DELETE "/projects/{id}/pipelines/{pipeline_id}" => Nothing,
    touches [ListPipelines, ListJobs, ListPipelineJobs, ListMergeRequestPipelines];
    struct DeletePipeline { id: Id, pipeline_id: u64 }

    /// Lists the trigger jobs of a pipeline, each with the pipeline that it started.
    GET "/projects/{id}/pipelines/{pipeline_id}/bridges" => Vec<Job>,
    views ["commit": COMMIT_WITH_MESSAGE];
    struct ListPipelineBridges {
        id: Id,
        pipeline_id: u64,
        /// Values of [`Status`]; all if absent.
        scope: Option<Vec<String>>,
    }

    /// Lists the variables that a pipeline was run with.
    GET "/projects/{id}/pipelines/{pipeline_id}/variables" => Vec<Variable>;
    struct ListPipelineVariables { id: Id, pipeline_id: u64 }
}
