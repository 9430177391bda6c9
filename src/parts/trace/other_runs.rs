//! The other jobs of the pipeline of a trace, which may include a later run of the same job.

use super::Viewer;
use crate::api::jobs::{Job, ListPipelineJobs};
use crate::app::command::Disabled;
use crate::app::pane::View;
use crate::store::Rows;
use jiff::Timestamp;

/// The maximum age of a retry, in seconds, for a new run to count as its result.
const AGAIN: i64 = 60;

/// A retry that the user requested: the newest run that was known then, and the time.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    known: u64,
    asked: Timestamp,
}

impl Viewer {
    /// Returns the request for the jobs of the same pipeline.
    pub fn siblings_query(&self, job: &Job) -> Option<ListPipelineJobs> {
        let pipeline_id = job.pipeline.as_ref()?.id;
        Some(ListPipelineJobs { id: self.project.clone(), pipeline_id, scope: None })
    }

    /// Returns the loaded jobs of the same pipeline.
    pub fn siblings<'a>(&self, view: &View<'a>) -> Option<Rows<'a, Job>> {
        Some(view.store.list(&self.siblings_query(self.job(view)?)?))
    }

    /// Returns the ID of the newest run of the same job, if it is later than this one.
    pub fn newer(&self, view: &View) -> Option<u64> {
        let job = self.job(view)?;
        let rows = self.siblings(view)?;
        let later = rows.iter().filter(|other| other.name == job.name && other.stage == job.stage);
        later.map(|other| other.id).filter(|id| *id > self.id).max()
    }

    /// Returns an error unless there is a later run of the same job.
    pub fn outdated(&self, view: &View) -> Result<(), Disabled> {
        self.newer(view).map(|_| ()).ok_or_else(|| "there is no later run of this job".into())
    }

    /// Returns the hint about a later run.
    pub fn newer_words(&self, view: &View) -> Option<String> {
        self.newer(view).map(|id| format!("retried as #{id} (.)"))
    }

    /// Records that the user requested a retry; [`Viewer::came_again`] then returns the new run once.
    pub fn asked_again(&mut self, view: &View) {
        self.again = Some(Retry { known: self.newer(view).unwrap_or(self.id), asked: view.here });
    }

    /// Cancels the switch to the run that a retry creates.
    pub fn stay(&mut self) {
        self.again = None;
    }

    /// Returns the run that a retry created, once it exists.
    pub fn came_again(&mut self, view: &View) -> Option<u64> {
        // A retry without a result must not switch to a run that appears much later.
        let again = self.again.filter(|again| view.here.duration_since(again.asked).as_secs() < AGAIN);
        let come = again.and_then(|again| self.newer(view).filter(|id| *id > again.known));
        self.again = again.filter(|_| come.is_none());
        come
    }
}
