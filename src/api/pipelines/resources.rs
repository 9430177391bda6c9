//! The status of jobs and pipelines, and pipelines as part of commits and merge requests, which operations on pipelines
//! return in turn.

use crate::api::Time;

crate::open_enum! {
    /// The status of a job or a pipeline, including those of newer servers.
    pub enum Status {
        Created = "created",
        WaitingForResource = "waiting_for_resource",
        Preparing = "preparing",
        WaitingForCallback = "waiting_for_callback",
        Pending = "pending",
        Running = "running",
        /// Returned in the reply to playing a job.
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
    /// Returns whether the status can change on its own, so that screens keep polling.
    pub fn is_live(&self) -> bool {
        use Status::*;
        matches!(
            self,
            Created | WaitingForResource | Preparing | WaitingForCallback | Pending | Running | Started | Canceling
        )
    }

    /// Returns whether a runner executes the job, so that its trace may grow.
    pub fn is_running(&self) -> bool {
        matches!(self, Status::Running | Status::Started | Status::Canceling)
    }

    pub fn is_finished(&self) -> bool {
        matches!(self, Status::Success | Status::Failed | Status::Canceled | Status::Skipped)
    }
}

crate::resource! {
    /// A pipeline as part of other resources.
    pub struct PipelineBrief {
        id: u64,
        sha: String,
        r#ref: String,
        status: Status,
    }
    unspecified {
        iid: u64,
        project_id: u64,
        source: String,
        created_at: Time,
        updated_at: Time,
        web_url: String,
    }
}
