//! Pipelines, and the status of jobs and pipelines. Commits, jobs and merge requests contain them, too.

use crate::users::User;
use crate::{Nullable, Time};
use serde::{Deserialize, Deserializer};

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
    /// The statuses by which lists of jobs and pipelines can be filtered; servers may add more.
    pub const LISTED: &'static [&'static str] = &[
        "running",
        "pending",
        "success",
        "failed",
        "canceled",
        "skipped",
        "manual",
        "created",
        "scheduled",
        "preparing",
        "waiting_for_resource",
        "waiting_for_callback",
        "canceling",
    ];

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
    /// A pipeline. Lists and other resources contain only some of the fields.
    pub struct Pipeline {
        id: u64,
        sha: String,
        /// The ref: a branch or tag, or `refs/merge-requests/N/head`.
        r#ref: String,
        status: Status,
    }
    unspecified {
        /// The number within the project.
        iid: Option<u64>,
        project_id: Option<u64>,
        /// The source: one of [`SOURCES`](super::SOURCES), or a newer value.
        source: Option<String>,
        name: Nullable<String>,
        /// Whether `ref` is a tag.
        tag: Option<bool>,
        before_sha: Option<String>,
        /// The error in the CI configuration.
        yaml_errors: Nullable<String>,
        user: Nullable<User>,
        created_at: Option<Time>,
        updated_at: Option<Time>,
        started_at: Nullable<Time>,
        finished_at: Nullable<Time>,
        committed_at: Nullable<Time>,
        /// The duration in seconds, once the pipeline has finished.
        #[serde(serialize_with = "crate::types::whole_seconds")]
        duration: Nullable<f64>,
        /// The time in the queue, in seconds.
        #[serde(serialize_with = "crate::types::whole_seconds")]
        queued_duration: Nullable<f64>,
        /// The test coverage in percent.
        #[serde(deserialize_with = "percent")]
        coverage: Nullable<String>,
        web_url: Option<String>,
    }
    served {
        detailed_status: Option<DetailedStatus>,
        archived: Option<bool>,
    }
}

crate::resource! {
    /// The status of a pipeline in words, with its icon and page.
    pub struct DetailedStatus {
        icon: String,
        text: String,
        label: String,
        group: String,
        tooltip: String,
        has_details: bool,
        details_path: String,
        illustration: Option<String>,
        favicon: String,
    }
}

/// Reads a percentage, which servers send as text, or as a number in some versions.
fn percent<'de, D: Deserializer<'de>>(d: D) -> Result<Nullable<String>, D::Error> {
    let text = match Option::<serde_json::Value>::deserialize(d)? {
        Some(serde_json::Value::String(text)) => Some(text),
        Some(serde_json::Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    Ok(text.into())
}
