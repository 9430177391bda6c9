//! The other jobs of the pipeline of a trace, which may include a later run of the same job.

use super::Viewer;
use crate::api::jobs::{Job, ListPipelineJobs};
use crate::api::pipelines::resources::Status;
use crate::app::command_info::Disabled;
use crate::app::view::View;
use crate::parts::ci::deployments;
use crate::parts::ci::job_waits::{self, Blocker};
use crate::store::Rows;
use jiff::Timestamp;

/// The maximum age of a retry, in seconds, for a new run to count as its result.
const MAX_RETRY_AGE: i64 = 60;

/// A retry that the user requested: the newest run that was known then, and the time.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    known: u64,
    requested: Timestamp,
}

impl Viewer {
    /// Returns the request for the jobs of the same pipeline.
    pub fn siblings_query(&self, job: &Job) -> Option<ListPipelineJobs> {
        let pipeline_id = job.pipeline.as_ref()?.id;
        Some(ListPipelineJobs::all(self.project.clone(), pipeline_id))
    }

    /// Returns the loaded jobs of the same pipeline.
    pub fn siblings<'a>(&self, view: &View<'a>) -> Option<Rows<'a, Job>> {
        Some(view.store.list(&self.siblings_query(self.job(view)?)?))
    }

    /// Returns why the job does not run yet.
    pub fn waits(&self, view: &View, job: &Job) -> Option<String> {
        let blocker = self.siblings(view).filter(|_| job.status == Status::Created);
        let blocker = blocker.and_then(|siblings| Blocker::of_jobs(siblings.iter()));
        let reason = deployments::waiting_reason(view, &self.project, job);
        reason.or_else(|| job_waits::phrase(view, &self.project, job, blocker.as_ref()))
    }

    /// Returns the ID of the newest run of the same job, if it is later than this one.
    pub fn newer(&self, view: &View) -> Option<u64> {
        let job = self.job(view)?;
        let rows = self.siblings(view)?;
        let later = rows.iter().filter(|other| other.name == job.name && other.stage == job.stage);
        later.map(|other| other.id).filter(|id| *id > self.id).max()
    }

    /// Returns an error unless there is a later run of the same job.
    pub fn need_newer_run(&self, view: &View) -> Result<(), Disabled> {
        self.newer(view).map(|_| ()).ok_or_else(|| "there is no later run of this job".into())
    }

    /// Returns the hint about a later run.
    pub fn newer_words(&self, view: &View) -> Option<String> {
        self.newer(view).map(|id| format!("retried as #{id} (.)"))
    }

    /// Records that the user requested a retry; [`Viewer::take_retried_run`] then returns the new run once.
    pub fn retry_requested(&mut self, view: &View) {
        self.retry = Some(Retry { known: self.newer(view).unwrap_or(self.id), requested: view.local_now });
    }

    /// Cancels the switch to the run that a retry creates.
    pub fn cancel_retry_switch(&mut self) {
        self.retry = None;
    }

    /// Returns the run that a retry created, once it exists.
    pub fn take_retried_run(&mut self, view: &View) -> Option<u64> {
        // A retry without a result must not switch to a run that appears much later.
        let retry = self.retry.filter(|retry| view.local_now.duration_since(retry.requested).as_secs() < MAX_RETRY_AGE);
        let come = retry.and_then(|retry| self.newer(view).filter(|id| *id > retry.known));
        self.retry = retry.filter(|_| come.is_none());
        come
    }
}
