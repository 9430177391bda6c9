//! The other jobs of the pipeline of a trace: among them a later run of the same job.

use super::Viewer;
use crate::api::jobs::{Job, ListPipelineJobs};
use crate::app::command::Disabled;
use crate::app::pane::View;
use crate::store::Rows;
use jiff::Timestamp;

/// Seconds within which a new run is taken for the one that was asked for.
const AGAIN: i64 = 60;

/// It was asked to run again: the highest run that was known then, and when that was.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    known: u64,
    asked: Timestamp,
}

impl Viewer {
    /// The jobs of the same pipeline.
    pub fn siblings_query(&self, job: &Job) -> Option<ListPipelineJobs> {
        let pipeline_id = job.pipeline.as_ref()?.id;
        Some(ListPipelineJobs { id: self.project.clone(), pipeline_id, scope: None })
    }

    /// The jobs of the same pipeline, as far as they are known.
    pub fn siblings<'a>(&self, view: &View<'a>) -> Option<Rows<'a, Job>> {
        Some(view.store.list(&self.siblings_query(self.job(view)?)?))
    }

    /// The last run of the same job, if that is a later one.
    pub fn newer(&self, view: &View) -> Option<u64> {
        let job = self.job(view)?;
        let rows = self.siblings(view)?;
        let later = rows.iter().filter(|other| other.name == job.name && other.stage == job.stage);
        later.map(|other| other.id).filter(|id| *id > self.id).max()
    }

    /// Returns whether there is a later run of the same job.
    pub fn outdated(&self, view: &View) -> Result<(), Disabled> {
        self.newer(view).map(|_| ()).ok_or_else(|| "there is no later run of this job".into())
    }

    /// Returns what is said of a later run.
    pub fn newer_words(&self, view: &View) -> Option<String> {
        self.newer(view).map(|id| format!("retried as #{id} (.)"))
    }

    /// It was asked to run again: the run that comes of it is told once, by [`Viewer::came_again`].
    pub fn asked_again(&mut self, view: &View) {
        self.again = Some(Retry { known: self.newer(view).unwrap_or(self.id), asked: view.here });
    }

    /// A run that was asked for does not lead away from this one any more.
    pub fn stay(&mut self) {
        self.again = None;
    }

    /// The run that was asked for, as soon as it is there.
    pub fn came_again(&mut self, view: &View) -> Option<u64> {
        // A retry that came to nothing must not lead away long after.
        let again = self.again.filter(|again| view.here.duration_since(again.asked).as_secs() < AGAIN);
        let come = again.and_then(|again| self.newer(view).filter(|id| *id > again.known));
        self.again = again.filter(|_| come.is_none());
        come
    }
}
