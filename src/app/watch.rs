//! Watched jobs and pipelines: what to poll of each, and how it ended.

use super::tone::Tone;
use super::view::View;
use api::Id;
use api::jobs::{GetJob, Job, ListPipelineJobs};
use api::pipelines::resources::Status;
use std::time::Duration;
use store::{Load, Want};
use ui::text;

/// The polling interval while a job or pipeline is running.
const RUNNING_INTERVAL: Duration = Duration::from_secs(3);
/// The polling interval while it is not running yet.
const WAITING_INTERVAL: Duration = Duration::from_secs(15);
/// The maximum number of failed jobs named in a notification.
const MAX_NAMED_JOBS: usize = 4;

/// A watched job or pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum Watched {
    /// A job, and its name for the user.
    Job { project: Id, id: u64, name: String },
    /// A pipeline.
    Pipeline { project: Id, id: u64 },
}

/// Returns the time after which the status of a job or pipeline is read again.
pub fn interval(status: &Status) -> Duration {
    if status.is_running() { RUNNING_INTERVAL } else { WAITING_INTERVAL }
}

/// A job, pipeline or merge request that `labscope watch` follows.
#[derive(Clone, Debug, PartialEq)]
pub enum Followed {
    Job { project: Id, id: u64 },
    Pipeline { project: Id, id: u64 },
    MergeRequest { project: Id, iid: u64 },
}

/// The end of a watched job or pipeline.
pub(super) struct Ending {
    pub tone: Tone,
    pub words: String,
}

impl Watched {
    fn job(&self) -> Option<GetJob> {
        match self {
            Watched::Job { project, id, .. } => Some(GetJob { id: project.clone(), job_id: *id }),
            Watched::Pipeline { .. } => None,
        }
    }

    fn jobs(&self) -> Option<ListPipelineJobs> {
        match self {
            Watched::Pipeline { project, id } => Some(ListPipelineJobs::all(project.clone(), *id)),
            Watched::Job { .. } => None,
        }
    }

    /// Returns the name shown to the user.
    pub(super) fn name(&self) -> String {
        match self {
            Watched::Job { id, name, .. } => format!("#{id} {}", text::sanitize(name)),
            Watched::Pipeline { id, .. } => format!("pipeline {id}"),
        }
    }

    /// Returns its status, if known.
    fn status<'a>(&self, view: &View<'a>) -> Option<&'a Status> {
        if let Some(query) = self.job() {
            return view.store.get(&query).value.map(|job| &job.status);
        }
        let rows = view.store.list(&self.jobs()?);
        rows.iter().find_map(|job| job.pipeline.as_ref()).map(|pipeline| &pipeline.status)
    }

    pub(super) fn want(&self, view: &View) -> Option<Want> {
        let load = match (self.job(), self.jobs()) {
            (Some(query), _) => Load::single(&query),
            (None, Some(query)) => Load::list(&query, 1),
            (None, None) => return None,
        };
        Some(self.status(view).map_or(load.clone(), |status| load.refresh_after(interval(status))).into())
    }

    /// Returns how it ended, if it has; a pipeline that waits for a manual job also counts as ended.
    pub(super) fn end(&self, view: &View) -> Option<Ending> {
        let status = self.status(view)?;
        let over = if self.job().is_some() { status.is_finished() } else { !status.is_live() };
        if !over {
            return None;
        }
        let (tone, word) = match status {
            Status::Success => (Tone::Good, "passed".to_owned()),
            Status::Failed => (Tone::Bad, "failed".to_owned()),
            Status::Manual => (Tone::Warning, "is waiting for a manual job".to_owned()),
            other => (Tone::Warning, format!("is {}", other.as_str().replace('_', " "))),
        };
        let mut words = format!("{} {word}", self.name());
        if let Some(job) = self.job().and_then(|query| view.store.get(&query).value) {
            words.extend(job.duration.map(|seconds| format!(" after {}", text::duration(seconds))));
        }
        if let Some(query) = self.jobs().filter(|_| *status == Status::Failed) {
            let failed = |job: &&Job| job.status == Status::Failed && job.allow_failure != Some(true);
            let rows = view.store.list(&query);
            let names: Vec<String> =
                rows.iter().filter(failed).map(|job| text::sanitize(&job.name).into_owned()).collect();
            let more = if names.len() > MAX_NAMED_JOBS { ", \u{2026}" } else { "" };
            if !names.is_empty() {
                words.push_str(&format!(": {}{more}", names.get(..MAX_NAMED_JOBS).unwrap_or(&names).join(", ")));
            }
        }
        Some(Ending { tone, words })
    }
}
