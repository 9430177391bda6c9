//! The lines of the jobs list: jobs grouped by pipeline and stage, or by their first error. They are rebuilt only when the
//! rows, the query or the errors change.

use crate::api::jobs::Job;
use crate::api::pipelines::resources::{Pipeline, Status};
use crate::panes::jobs::job_query::JobQuery;
use crate::parts::ci::job_waits::Blocker;
use crate::parts::ci::trace::FirstError;
use crate::parts::ci::{self, JobRun, RunTimes};
use crate::parts::list::ListLine;
use crate::store::{Revision, Rows};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobLine {
    /// The heading of a pipeline, by its index in [`Lines::pipelines`].
    Pipeline(usize),
    /// The heading of an error, by its index in [`Lines::errors`].
    Error(usize),
    /// A job, and whether it is the first of its stage.
    Job(JobRun, bool),
}

/// The jobs of one pipeline: what its heading shows.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineGroup {
    /// The pipeline; `None` for jobs without one.
    pub brief: Option<Pipeline>,
    /// When its jobs ran.
    pub times: RunTimes,
}

/// The headings of the list.
#[derive(Clone, Debug, PartialEq)]
pub enum Grouping {
    /// None: the jobs of one pipeline.
    Stages,
    Pipelines,
    /// The first error of each job, by ID; `None` while it is read.
    Errors(HashMap<u64, Option<Arc<FirstError>>>),
}

/// The jobs of a pipeline that failed with the same error.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorGroup {
    /// The error of the first of them; `None` while it is read.
    pub error: Option<Arc<FirstError>>,
    pub jobs: usize,
}

/// The lines of the list, in order.
#[derive(Debug, Default)]
pub struct Lines {
    lines: Vec<JobLine>,
    pub pipelines: Vec<PipelineGroup>,
    pub errors: Vec<ErrorGroup>,
    /// The stages that hold up created jobs, by the ID of their pipeline.
    blockers: HashMap<u64, Blocker>,
    /// The row of each job, by ID.
    row_by_id: HashMap<u64, usize>,
    /// The last row whose job can change without user action.
    pub last_changing_row: Option<usize>,
    /// Whether one of the jobs is running.
    pub any_running: bool,
    /// The number of times that the lines were rebuilt.
    pub generation: u64,
    inputs: Option<(Revision, usize, JobQuery, Grouping)>,
}

impl Lines {
    /// Rebuilds the lines if the rows, the query or the grouping changed; `is_whole` tells whether the rows are those of
    /// all statuses.
    pub fn refresh(&mut self, rows: &Rows<'_, Job>, query: &JobQuery, grouping: Grouping, is_whole: bool) {
        let inputs = (rows.revision, rows.len(), query.clone(), grouping);
        if self.inputs.as_ref() == Some(&inputs) {
            return;
        }
        let mut jobs_by_pipeline: BTreeMap<std::cmp::Reverse<Option<u64>>, Vec<(usize, &Job)>> = BTreeMap::new();
        let (mut row_by_id, mut last_changing_row, mut any_running) = (HashMap::new(), None, false);
        for (row, job) in rows.iter().enumerate() {
            // A job can be on two pages if new jobs arrived between the requests.
            if row_by_id.insert(job.id, row).is_some() {
                continue;
            }
            if ci::may_change(job) {
                last_changing_row = Some(row);
            }
            any_running |= job.status.is_running();
            if query.matches(job) {
                let pipeline = job.pipeline.as_ref().map(|p| p.id);
                jobs_by_pipeline.entry(std::cmp::Reverse(pipeline)).or_default().push((row, job));
            }
        }
        self.lines.clear();
        self.pipelines.clear();
        self.errors.clear();
        let (_, _, _, grouping) = &inputs;
        for jobs in jobs_by_pipeline.into_values() {
            let Some(&(_, first)) = jobs.first() else { continue };
            let stages = ci::stages(jobs.into_iter());
            let newest = stages.iter().flat_map(|stage| &stage.jobs).filter(|run| !run.is_retried);
            let times = RunTimes::of(newest.filter_map(|run| rows.get(run.index)));
            let has_heading = *grouping == Grouping::Pipelines;
            self.lines.extend(has_heading.then_some(JobLine::Pipeline(self.pipelines.len())));
            self.pipelines.push(PipelineGroup { brief: first.pipeline.clone(), times });
            if let Grouping::Errors(errors) = grouping {
                self.group_by_error(stages.into_iter().flat_map(|stage| stage.jobs), errors);
                continue;
            }
            for stage in stages {
                let first = stage.jobs.first().copied();
                self.lines.extend(stage.jobs.into_iter().map(|run| JobLine::Job(run, Some(run) == first)));
            }
        }
        self.blockers = if is_whole { blockers(rows) } else { HashMap::new() };
        self.row_by_id = row_by_id;
        self.last_changing_row = last_changing_row;
        self.any_running = any_running;
        self.generation += 1;
        self.inputs = Some(inputs);
    }

    /// Adds jobs under the headings of their errors, with the error of most jobs first.
    fn group_by_error(&mut self, runs: impl Iterator<Item = JobRun>, errors: &HashMap<u64, Option<Arc<FirstError>>>) {
        let mut groups: Vec<(Option<Arc<FirstError>>, Vec<JobRun>)> = Vec::new();
        for run in runs {
            let error = errors.get(&run.id).cloned().flatten();
            let is_same = |known: &Option<Arc<FirstError>>| match (known, &error) {
                (Some(known), Some(error)) => known.group == error.group && (known.group.is_some() || known == error),
                (None, None) => true,
                _ => false,
            };
            match groups.iter_mut().find(|(known, _)| is_same(known)) {
                Some((_, runs)) => runs.push(run),
                None => groups.push((error, vec![run])),
            }
        }
        let has_error = |error: &Option<Arc<FirstError>>| error.as_ref().is_some_and(|error| error.group.is_some());
        groups.sort_by_key(|(error, runs)| std::cmp::Reverse((has_error(error), runs.len())));
        for (error, runs) in groups {
            self.lines.push(JobLine::Error(self.errors.len()));
            self.errors.push(ErrorGroup { error, jobs: runs.len() });
            self.lines.extend(runs.into_iter().map(|run| JobLine::Job(run, true)));
        }
    }

    /// Returns the lines for the list.
    pub fn arranged(&self) -> Vec<ListLine> {
        let id = |at: usize| {
            let brief = self.pipelines.get(at).and_then(|pipeline| pipeline.brief.as_ref());
            brief.map(|brief| brief.id).unwrap_or_default()
        };
        let arranged = self.lines.iter().map(|line| match line {
            JobLine::Pipeline(at) => ListLine::Heading(id(*at)),
            JobLine::Error(at) => ListLine::Heading(*at as u64),
            JobLine::Job(run, _) => ListLine::Row(run.index),
        });
        arranged.collect()
    }

    /// Returns whether the line at `index` is the first job of a stage.
    pub fn is_first_of_stage(&self, index: usize) -> bool {
        matches!(self.get(index), Some(JobLine::Job(_, true)))
    }

    /// Returns whether the line at `index` is a job that was retried.
    pub fn is_retried(&self, index: usize) -> bool {
        matches!(self.get(index), Some(JobLine::Job(run, _)) if run.is_retried)
    }

    /// Returns what holds up the created jobs of a job's pipeline.
    pub fn blocker(&self, job: &Job) -> Option<&Blocker> {
        self.blockers.get(&job.pipeline.as_ref()?.id)
    }

    /// Returns the line `index`.
    pub fn get(&self, index: usize) -> Option<JobLine> {
        self.lines.get(index).copied()
    }

    /// Returns the row of a job.
    pub fn row_of(&self, id: u64) -> Option<usize> {
        self.row_by_id.get(&id).copied()
    }
}

/// Returns what holds up the created jobs of each pipeline.
fn blockers(rows: &Rows<'_, Job>) -> HashMap<u64, Blocker> {
    let id = |job: &Job| job.pipeline.as_ref().map(|pipeline| pipeline.id);
    let waits = rows.iter().filter(|job| job.status == Status::Created).filter_map(id);
    let mut jobs: HashMap<u64, Vec<&Job>> = waits.map(|id| (id, Vec::new())).collect();
    // The first jobs of the oldest pipeline may be on the next page.
    let oldest = rows.iter().filter_map(id).min().filter(|_| rows.has_more);
    oldest.and_then(|oldest| jobs.remove(&oldest));
    for job in rows.iter() {
        if let Some(jobs) = id(job).and_then(|id| jobs.get_mut(&id)) {
            jobs.push(job);
        }
    }
    jobs.into_iter().filter_map(|(id, jobs)| Some((id, Blocker::of_jobs(jobs.into_iter())?))).collect()
}
