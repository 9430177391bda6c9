//! Pipelines: listing, running, retrying, canceling, deleting. Not in the specification, although servers of that
//! version support most of it.

pub mod resources;

use crate::jobs::Job;
use crate::pipelines::resources::Pipeline;
use crate::{Id, NoContent, Time};
use serde_json::{Map, Value};
use std::fmt;

crate::resource! {
    /// A variable of a pipeline.
    pub struct PipelineVariable {
        key: String,
        value: String,
        /// The type: `env_var` or `file`.
        variable_type: String,
    }
    unspecified {
        raw: Option<bool>,
    }
}

crate::input_object! {
    default
    /// A variable for a new pipeline. Its value may be a secret, so it is not printed.
    #[derive(Clone, Default, PartialEq, Eq)]
    pub struct NewVariable {
        pub key: String,
        pub value: String,
        /// The type: `env_var` (default) or `file`.
        pub variable_type: Option<String>,
    }
}

impl fmt::Debug for NewVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=***", self.key)
    }
}

/// The sources of pipelines that lists can be filtered by; servers may add more.
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
    "ondemand_dast_scan",
    "ondemand_dast_validation",
    "security_orchestration_policy",
    "container_registry_push",
    "duo_workflow",
    "pipeline_execution_policy_schedule",
    "dependency_management_security_update",
    "unknown",
];

/// The scopes of pipelines that lists can be filtered by.
pub const SCOPES: &[&str] = &["running", "pending", "finished", "branches", "tags"];

crate::endpoints! {
    unspecified section "Pipelines";

    /// Lists the pipelines of a project, newest first, without child pipelines.
    GET "/projects/{id}/pipelines" => Vec<Pipeline>, about Pipelines;
    struct ListPipelines {
        id: Id,
        /// One of [`SCOPES`].
        scope: Option<String>,
        /// One of the values of [`Status`](resources::Status).
        status: Option<String>,
        r#ref: Option<String>,
        sha: Option<String>,
        /// One of [`SOURCES`].
        source: Option<String>,
        /// Username of the user who started the pipeline.
        username: Option<String>,
        /// Whether the CI configuration is invalid.
        yaml_errors: Option<bool>,
        updated_after: Option<Time>,
        updated_before: Option<Time>,
        /// `id` (default), `status`, `ref`, `updated_at` or `user_id`.
        order_by: Option<String>,
        /// `asc` or `desc` (default).
        sort: Option<String>,
    }

    /// Gets a single pipeline.
    GET "/projects/{id}/pipelines/{pipeline_id}" => Pipeline, about Pipeline;
    struct GetPipeline { id: Id, pipeline_id: u64 }

    /// Runs a pipeline on a branch or tag.
    JSON POST "/projects/{id}/pipeline" => Pipeline,
    outdates [Pipelines, Jobs, MergeRequest];
    struct CreatePipeline {
        id: Id,
        /// Branch or tag.
        r#ref: String,
        /// Variables in addition to those of the project; servers before 11.0 ignore them.
        variables: Option<Vec<NewVariable>>,
        /// Values of the inputs of the configuration (since 17.10).
        inputs: Option<Map<String, Value>>,
    }

    /// Retries the failed and canceled jobs of a pipeline.
    POST "/projects/{id}/pipelines/{pipeline_id}/retry" => Pipeline,
    outdates [Pipelines, Pipeline, Jobs, TriggerJobs, Job, MergeRequest];
    struct RetryPipeline { id: Id, pipeline_id: u64 }

    /// Cancels the unfinished jobs of a pipeline.
    POST "/projects/{id}/pipelines/{pipeline_id}/cancel" => Pipeline,
    outdates [Pipelines, Pipeline, Jobs, TriggerJobs, Job, MergeRequest];
    struct CancelPipeline { id: Id, pipeline_id: u64 }

    /// Deletes a pipeline with its jobs, their traces and artifacts.
    DELETE "/projects/{id}/pipelines/{pipeline_id}" => NoContent,
    outdates [Pipelines, Jobs];
    struct DeletePipeline { id: Id, pipeline_id: u64 }

    /// Lists the trigger jobs of a pipeline, each with the pipeline that it started (since 19.2). For older servers, the
    /// client requests `/bridges`.
    GET "/projects/{id}/pipelines/{pipeline_id}/trigger_jobs" => Vec<Job>, about TriggerJobs;
    struct ListPipelineBridges {
        id: Id,
        pipeline_id: u64,
        /// Job statuses to include; all if absent. See [`Status`](resources::Status).
        scope: Option<Vec<String>>,
    }

    /// Lists the variables of a pipeline.
    GET "/projects/{id}/pipelines/{pipeline_id}/variables" => Vec<PipelineVariable>;
    struct ListPipelineVariables { id: Id, pipeline_id: u64 }
}
