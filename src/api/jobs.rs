//! CI jobs: status, traces and artifacts (specification, "Jobs").

use crate::commits::Commit;
use crate::pipelines::NewVariable;
use crate::pipelines::resources::{Pipeline, Status};
use crate::projects::ProjectBrief;
use crate::runners::{Runner, RunnerManager};
use crate::types::{Presence, Specified};
use crate::users::Profile;
use crate::views::COMMIT_WITH_MESSAGE;
use crate::{GitRef, Id, Nullable, Raw, Time};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

crate::resource! {
    /// The archive of a job's artifacts.
    pub struct ArtifactsFile {
        filename: String,
        /// The size in bytes.
        size: u64,
    }
}

crate::resource! {
    /// A job of a pipeline.
    pub struct Job {
        id: u64,
        name: String,
        stage: String,
        status: Status,
        r#ref: String,
        /// Whether `ref` is a tag.
        tag: bool,
        coverage: Option<f64>,
        created_at: Option<Time>,
        started_at: Option<Time>,
        finished_at: Option<Time>,
        /// The duration in seconds; the elapsed time while the job runs.
        #[serde(serialize_with = "crate::types::whole_seconds")]
        duration: Option<f64>,
        runner: Option<Runner>,
        user: Option<Box<Profile>>,
        commit: Option<Commit>,
        pipeline: Option<Pipeline>,
    }
    views {
        /// The archive of the artifacts; null or absent without artifacts.
        artifacts_file: Nullable<ArtifactsFile>,
        /// The download URL of the artifacts; returned when a job is erased or its artifacts are kept.
        download_url: Nullable<String>,
        project: Option<JobProject>,
        /// The pipeline that a trigger job started, possibly in another project; null if it has not started one yet.
        /// Absent for other jobs.
        downstream_pipeline: Nullable<Pipeline>,
    }
    unspecified {
        web_url: Option<String>,
        allow_failure: Option<bool>,
        /// The reason why the job failed: `script_failure`, `runner_system_failure`, ….
        failure_reason: Option<String>,
        /// The time in the queue, in seconds.
        #[serde(serialize_with = "crate::types::whole_seconds")]
        queued_duration: Nullable<f64>,
        erased_at: Nullable<Time>,
        artifacts_expire_at: Nullable<Time>,
        artifacts: Option<Vec<Artifact>>,
        tag_list: Option<Vec<String>>,
    }
    served {
        archived: Option<bool>,
        runner_manager: Nullable<RunnerManager>,
    }
}

/// The project of a job: one of its settings, or its names in the list of a runner's jobs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum JobProject {
    Settings { ci_job_token_scope_enabled: bool },
    Brief(Box<ProjectBrief>),
}

impl<'de> Deserialize<'de> for JobProject {
    /// Reads the names, which are empty if there are only settings.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JobProject, D::Error> {
        Ok(JobProject::Brief(Box::new(ProjectBrief::deserialize(deserializer)?)))
    }
}

impl Specified for JobProject {}

impl ListPipelineJobs {
    /// Returns the request for all jobs of a pipeline, with those that were retried.
    pub fn all(id: Id, pipeline_id: u64) -> ListPipelineJobs {
        ListPipelineJobs { id, pipeline_id, scope: None, include_retried: Some(true) }
    }
}

impl Job {
    /// Returns the ref that the job ran for, if it is known.
    pub fn git_ref(&self) -> Option<GitRef> {
        (!self.r#ref.is_empty()).then(|| GitRef::of_pipeline(&self.r#ref, Some(self.tag)))
    }

    /// Returns whether the job has artifacts to download.
    pub fn has_artifacts(&self) -> bool {
        self.artifacts_file.is_some()
    }

    /// Returns whether the job has an artifact of a type.
    pub fn has_artifact(&self, file_type: &str) -> bool {
        self.artifacts.iter().flatten().any(|artifact| artifact.file_type == file_type)
    }

    /// Returns whether the job failed without failing its pipeline.
    pub fn is_forgiven(&self) -> bool {
        self.status == Status::Failed && self.allow_failure == Some(true)
    }

    /// Returns whether the job triggers another pipeline: such jobs have no runner, no trace and no artifacts.
    pub fn is_trigger(&self) -> bool {
        !self.downstream_pipeline.is_absent()
    }

    /// Returns the pipeline that a trigger job started.
    pub fn downstream(&self) -> Option<&Pipeline> {
        self.downstream_pipeline.as_ref()
    }

    /// Returns the project of the job, in replies that include it.
    pub fn project(&self) -> Option<&ProjectBrief> {
        match self.project.as_ref()? {
            JobProject::Brief(project) if !project.path_with_namespace.is_empty() => Some(project),
            _ => None,
        }
    }
}

crate::resource! {
    /// An artifact file of a job, on newer servers: the archive, the trace or a report.
    pub struct Artifact {
        file_type: String,
        size: u64,
        filename: String,
    }
    served {
        file_format: Nullable<String>,
    }
}

crate::endpoints! {
    section "Jobs";

    /// Lists a project's jobs, newest first.
    GET "/projects/{id}/jobs" => Vec<Job>, about Jobs,
    views ["commit": COMMIT_WITH_MESSAGE];
    struct ListJobs {
        id: Id,
        /// Job statuses to include; all if absent. See [`Status`].
        scope: Option<Vec<String>>,
    }

    /// Lists the jobs of a pipeline.
    GET "/projects/{id}/pipelines/{pipeline_id}/jobs" => Vec<Job>, about Jobs,
    views ["commit": COMMIT_WITH_MESSAGE];
    struct ListPipelineJobs {
        id: Id,
        pipeline_id: u64,
        /// Job statuses to include; all if absent. See [`Status`].
        scope: Option<Vec<String>>,
        /// Whether to include jobs that were retried (since 13.9); earlier servers always do.
        include_retried: Option<bool>,
    }

    /// Gets a single job.
    GET "/projects/{id}/jobs/{job_id}" => Job, about Job,
    views ["commit": COMMIT_WITH_MESSAGE];
    struct GetJob { id: Id, job_id: u64 }

    /// Downloads the artifacts archive of a job, or another of its artifacts.
    GET "/projects/{id}/jobs/{job_id}/artifacts" => Raw, about Artifacts;
    struct GetArtifacts {
        id: Id,
        job_id: u64,
        /// The type of the artifact, such as `cobertura` (since 19.4); earlier servers send the archive.
        file_type: Option<String>,
        /// A CI job token, for use inside a pipeline.
        job_token: Option<String>,
    }

    /// Downloads the artifacts archive of the latest successful job with the given name on a branch or tag.
    GET "/projects/{id}/jobs/artifacts/{ref_name}/download" => Raw;
    struct GetRefArtifacts {
        id: Id,
        ref_name: String,
        /// The name of the job.
        job: String,
        /// A CI job token, for use inside a pipeline.
        job_token: Option<String>,
    }

    /// Downloads a single file from the artifacts of a job.
    GET "/projects/{id}/jobs/{job_id}/artifacts/{*artifact_path}" => Raw;
    struct GetArtifactFile { id: Id, job_id: u64, artifact_path: String }

    /// Reads the trace that has been written so far.
    GET "/projects/{id}/jobs/{job_id}/trace" => Raw, about Trace;
    struct GetTrace { id: Id, job_id: u64 }

    /// Cancels a job.
    POST "/projects/{id}/jobs/{job_id}/cancel" => Job,
    outdates [Jobs, Job],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct CancelJob { id: Id, job_id: u64 }

    /// Retries a job; servers return either the same job or a new one.
    JSON POST "/projects/{id}/jobs/{job_id}/retry" => Job,
    outdates [Jobs, TriggerJobs, Job, Trace, Environments],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct RetryJob {
        id: Id,
        job_id: u64,
        /// Values of the inputs of the job, on current servers.
        inputs: Option<Map<String, Value>>,
    }

    /// Erases the artifacts and the trace of a job.
    POST "/projects/{id}/jobs/{job_id}/erase" => Job,
    outdates [Jobs, Job, Trace, Artifacts],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct EraseJob { id: Id, job_id: u64 }

    /// Keeps the artifacts of a job beyond their expiry.
    POST "/projects/{id}/jobs/{job_id}/artifacts/keep" => Job,
    outdates [Jobs, Job],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct KeepArtifacts { id: Id, job_id: u64 }

    /// Starts a manual job.
    JSON POST "/projects/{id}/jobs/{job_id}/play" => Job,
    outdates [Jobs, TriggerJobs, Job, Environments],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct PlayJob {
        id: Id,
        job_id: u64,
        /// Variables in addition to those of the project; servers before 14.9 ignore them.
        job_variables_attributes: Option<Vec<NewVariable>>,
        /// Values of the inputs of the job, on current servers.
        job_inputs: Option<Map<String, Value>>,
    }
}
