//! Jobs of pipelines: their states, traces and artifacts (specification, "Jobs").

use crate::api::commits::resources::Commit;
use crate::api::projects::ProjectBrief;
use crate::api::runners::Runner;
use crate::api::users::Profile;
use crate::api::views::COMMIT_WITH_MESSAGE;
use crate::api::{Id, Known, Raw, Time};

crate::open_enum! {
    /// The states of jobs and of pipelines, those of newer servers among them.
    pub enum Status {
        Created = "created",
        WaitingForResource = "waiting_for_resource",
        Preparing = "preparing",
        WaitingForCallback = "waiting_for_callback",
        Pending = "pending",
        Running = "running",
        /// What the answer to play shows.
        Started = "started",
        Success = "success",
        Failed = "failed",
        Canceling = "canceling",
        Canceled = "canceled",
        Skipped = "skipped",
        Manual = "manual",
        Scheduled = "scheduled",
    }
}

impl Status {
    /// Returns whether it may change by itself, so that a screen that shows it keeps looking.
    pub fn is_live(&self) -> bool {
        use Status::*;
        matches!(
            self,
            Created | WaitingForResource | Preparing | WaitingForCallback | Pending | Running | Started | Canceling
        )
    }

    /// Returns whether a runner works on it now, so that its trace may grow.
    pub fn is_running(&self) -> bool {
        matches!(self, Status::Running | Status::Started | Status::Canceling)
    }

    /// Returns whether it has come to an end.
    pub fn is_finished(&self) -> bool {
        matches!(self, Status::Success | Status::Failed | Status::Canceled | Status::Skipped)
    }
}

crate::resource! {
    /// A pipeline as other resources name it.
    pub struct PipelineBrief {
        id: u64,
        sha: String,
        r#ref: String,
        status: Status,
    }
    newer {
        iid: u64,
        project_id: u64,
        source: String,
        created_at: Time,
        updated_at: Time,
        web_url: String,
    }
}

crate::resource! {
    /// The archive of what a job kept.
    pub struct ArtifactsFile {
        filename: String,
        /// Bytes.
        size: u64,
    }
}

crate::resource! {
    /// One job of a pipeline.
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
        /// Seconds, so far or in all.
        #[serde(serialize_with = "crate::api::types::whole_seconds")]
        duration: Option<f64>,
        artifacts_file: Option<ArtifactsFile>,
        runner: Option<Runner>,
        user: Option<Box<Profile>>,
        commit: Option<Commit>,
        pipeline: Option<PipelineBrief>,
    }
    views {
        /// The answers to erase and keep.
        download_url: String,
        /// The list of a runner's jobs.
        project: ProjectBrief,
    }
    newer {
        web_url: String,
        allow_failure: bool,
        /// Of failed jobs alone: `script_failure`, `runner_system_failure`, ….
        failure_reason: String,
        /// Seconds.
        queued_duration: f64,
        erased_at: Time,
        artifacts_expire_at: Time,
        artifacts: Vec<Artifact>,
        tag_list: Vec<String>,
    }
}

impl Job {
    /// Returns whether it keeps something that can be fetched.
    pub fn has_artifacts(&self) -> bool {
        self.artifacts_file.is_some()
    }

    /// Returns whether it failed and its pipeline went on all the same.
    pub fn is_forgiven(&self) -> bool {
        self.status == Status::Failed && self.allow_failure == Some(true)
    }

    /// The project, in the views that name it.
    pub fn project(&self) -> Option<&ProjectBrief> {
        self.project.known()
    }
}

crate::resource! {
    /// One file that a job kept, of newer servers: its archive, its trace, a report.
    pub struct Artifact {
        file_type: String,
        size: u64,
        filename: String,
        file_format: Option<String>,
    }
}

crate::endpoints! {
    section "Jobs";

    /// Lists a project's jobs, newest first.
    GET "/projects/{id}/jobs" => Vec<Job>,
    views ["commit": COMMIT_WITH_MESSAGE];
    struct ListJobs {
        id: Id,
        /// Words of [`Status`]; all jobs where absent.
        scope: Option<Vec<String>>,
    }

    /// Lists the jobs of a pipeline.
    GET "/projects/{id}/pipelines/{pipeline_id}/jobs" => Vec<Job>,
    views ["commit": COMMIT_WITH_MESSAGE];
    struct ListPipelineJobs {
        id: Id,
        pipeline_id: u64,
        /// Words of [`Status`]; all jobs where absent.
        scope: Option<Vec<String>>,
    }

    /// Reads one job.
    GET "/projects/{id}/jobs/{job_id}" => Job,
    views ["commit": COMMIT_WITH_MESSAGE];
    struct GetJob { id: Id, job_id: u64 }

    /// Fetches the archive of a job's artifacts.
    GET "/projects/{id}/jobs/{job_id}/artifacts" => Raw;
    struct GetArtifacts {
        id: Id,
        job_id: u64,
        /// The token of a job, inside a pipeline.
        job_token: Option<String>,
    }

    /// Fetches the archive of the last successful job of a name on a branch or tag.
    GET "/projects/{id}/jobs/artifacts/{ref_name}/download" => Raw;
    struct GetRefArtifacts {
        id: Id,
        ref_name: String,
        /// The job's name.
        job: String,
        /// The token of a job, inside a pipeline.
        job_token: Option<String>,
    }

    /// Fetches one file of a job's artifacts.
    GET "/projects/{id}/jobs/{job_id}/artifacts/{*artifact_path}" => Raw;
    struct GetArtifactFile { id: Id, job_id: u64, artifact_path: String }

    /// Reads the trace as far as it is written.
    GET "/projects/{id}/jobs/{job_id}/trace" => Raw;
    struct GetTrace { id: Id, job_id: u64 }

    /// Stops a job.
    POST "/projects/{id}/jobs/{job_id}/cancel" => Job,
    touches [ListJobs, ListPipelineJobs, GetJob],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct CancelJob { id: Id, job_id: u64 }

    /// Runs a job again; servers answer with the same job or with a new one.
    POST "/projects/{id}/jobs/{job_id}/retry" => Job,
    touches [ListJobs, ListPipelineJobs, GetJob, GetTrace],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct RetryJob { id: Id, job_id: u64 }

    /// Removes a job's artifacts and trace.
    POST "/projects/{id}/jobs/{job_id}/erase" => Job,
    touches [ListJobs, ListPipelineJobs, GetJob, GetTrace, GetArtifacts],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct EraseJob { id: Id, job_id: u64 }

    /// Keeps a job's artifacts beyond their expiry.
    POST "/projects/{id}/jobs/{job_id}/artifacts/keep" => Job,
    touches [ListJobs, ListPipelineJobs, GetJob],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct KeepArtifacts { id: Id, job_id: u64 }

    /// Starts a manual job.
    POST "/projects/{id}/jobs/{job_id}/play" => Job,
    touches [ListJobs, ListPipelineJobs, GetJob],
    views ["commit": COMMIT_WITH_MESSAGE];
    struct PlayJob { id: Id, job_id: u64 }
}
