//! The lines of the jobs list: jobs grouped by pipeline and stage. They are rebuilt only when the rows change.

use crate::api::jobs::Job;
use crate::api::pipelines::resources::PipelineBrief;
use crate::panes::jobs::job_query::JobQuery;
use crate::parts::ci::{self, Slot};
use crate::parts::list::ListLine;
use crate::store::{Revision, Rows};
use crate::ui::text;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The heading of a pipeline, by its index in [`Lines::pipelines`].
    Pipeline(usize),
    /// A job, and whether it is the first of its stage.
    Job(Slot, bool),
}

/// The data of a pipeline's heading.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// The pipeline; `None` for jobs without one.
    pub brief: Option<PipelineBrief>,
    /// When the first job started and the last one finished.
    pub started: Option<Timestamp>,
    pub finished: Option<Timestamp>,
}

/// The lines of the list, in order.
#[derive(Debug, Default)]
pub struct Lines {
    lines: Vec<Line>,
    pub pipelines: Vec<Pipeline>,
    /// The row of each job, by ID.
    rows: HashMap<u64, usize>,
    /// The last row whose job can change without user action.
    pub last_live: Option<usize>,
    /// Whether one of the jobs is running.
    pub running: bool,
    inputs: Option<(Revision, usize, JobQuery)>,
}

impl Lines {
    /// Rebuilds the lines if the rows or the query changed.
    pub fn refresh(&mut self, rows: &Rows<'_, Job>, query: &JobQuery) {
        let now = (rows.revision, rows.len(), query.clone());
        if self.inputs.as_ref() == Some(&now) {
            return;
        }
        let mut all: BTreeMap<std::cmp::Reverse<Option<u64>>, Vec<(usize, &Job)>> = BTreeMap::new();
        let (mut ids, mut last_live, mut running) = (HashMap::new(), None, false);
        for (row, job) in rows.iter().enumerate() {
            // A job can be on two pages if new jobs arrived between the requests.
            if ids.insert(job.id, row).is_some() {
                continue;
            }
            if ci::may_change(job) {
                last_live = Some(row);
            }
            running |= job.status.is_running();
            if query.matches(job) {
                let pipeline = job.pipeline.as_ref().map(|p| p.id);
                all.entry(std::cmp::Reverse(pipeline)).or_default().push((row, job));
            }
        }
        self.lines.clear();
        self.pipelines.clear();
        for jobs in all.into_values() {
            let Some(&(_, first)) = jobs.first() else { continue };
            let times = |of: fn(&Job) -> Option<&crate::api::Time>| {
                jobs.iter().filter_map(move |(_, job)| of(job)?.instant()).collect::<Vec<_>>()
            };
            self.lines.push(Line::Pipeline(self.pipelines.len()));
            self.pipelines.push(Pipeline {
                brief: first.pipeline.clone(),
                started: times(|job| job.started_at.as_ref()).into_iter().min(),
                finished: times(|job| job.finished_at.as_ref()).into_iter().max(),
            });
            for stage in ci::stages(jobs.into_iter()) {
                let first = stage.jobs.first().copied();
                self.lines.extend(stage.jobs.into_iter().map(|slot| Line::Job(slot, Some(slot) == first)));
            }
        }
        self.rows = ids;
        self.last_live = last_live;
        self.running = running;
        self.inputs = Some(now);
    }

    /// Returns the lines for the list.
    pub fn arranged(&self) -> Vec<ListLine> {
        let id = |at: usize| {
            let brief = self.pipelines.get(at).and_then(|pipeline| pipeline.brief.as_ref());
            brief.map(|brief| brief.id).unwrap_or_default()
        };
        let arranged = self.lines.iter().map(|line| match line {
            Line::Pipeline(at) => ListLine::Heading(id(*at)),
            Line::Job(slot, _) => ListLine::Row(slot.row),
        });
        arranged.collect()
    }

    /// Returns the line `index`.
    pub fn get(&self, index: usize) -> Option<Line> {
        self.lines.get(index).copied()
    }

    /// Returns the row of a job.
    pub fn row_of(&self, id: u64) -> Option<usize> {
        self.rows.get(&id).copied()
    }
}

impl Pipeline {
    /// Formats the duration of the pipeline; of a live one, the time until `now`.
    pub fn duration(&self, live: bool, now: Timestamp) -> String {
        let until = if live { Some(now) } else { self.finished };
        match (self.started, until) {
            (Some(from), Some(until)) => text::duration(until.duration_since(from).as_secs_f64().max(0.0)),
            _ => String::new(),
        }
    }
}
