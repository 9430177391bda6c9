//! The stages of pipelines as one glyph each, for lists: read from the jobs of each pipeline, together with the title of
//! its commit and its user.

use crate::api::endpoint::Request;
use crate::api::jobs::{Job, ListPipelineJobs};
use crate::api::pipelines::resources::{Pipeline, Status};
use crate::api::{Endpoint, Id, Reply};
use crate::app::view::View;
use crate::parts::ci::{self, RunTimes};
use crate::store::{Load, Value};
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use std::sync::Arc;
use std::time::Duration;

/// The polling interval of the stages of running pipelines.
const LIVE_INTERVAL: Duration = Duration::from_secs(10);
/// The maximum number of stages that are drawn.
const MAX_STAGES: usize = 10;

/// The stages of a pipeline, and what else lists show of its jobs.
pub struct PipelineSummary {
    /// The name, the sign and its role of each stage, in order.
    stages: Vec<(String, &'static str, Role)>,
    /// The title of the commit.
    pub title: String,
    /// The name of the user who started it.
    pub username: String,
    /// When its jobs ran.
    pub times: RunTimes,
}

/// Returns the rank of a status within its stage: the smallest one decides.
fn rank(job: &Job) -> u8 {
    match &job.status {
        Status::Failed if !job.is_forgiven() => 0,
        status if status.is_running() => 1,
        Status::Canceling => 2,
        status if status.is_live() && *status != Status::Created => 3,
        Status::Canceled => 4,
        Status::Failed => 5,
        Status::Success => 6,
        Status::Manual | Status::Scheduled => 7,
        Status::Created => 8,
        _ => 9,
    }
}

impl PipelineSummary {
    fn of(jobs: &[Job]) -> PipelineSummary {
        let (mut stages, mut newest) = (Vec::new(), Vec::new());
        for stage in ci::stages(jobs.iter().enumerate()) {
            let known = newest.len();
            newest.extend(stage.jobs.iter().filter(|run| !run.is_retried).filter_map(|run| jobs.get(run.index)));
            let deciding = newest.iter().skip(known).min_by_key(|job| rank(job));
            stages.extend(deciding.map(|job| ci::sign(job)).map(|(sign, role)| (stage.name, sign, role)));
        }
        let commit = jobs.iter().find_map(|job| job.commit.as_ref());
        let user = jobs.iter().find_map(|job| job.user.as_ref());
        PipelineSummary {
            stages,
            title: commit.map(|commit| commit.title.clone()).unwrap_or_default(),
            username: user.map(|user| user.username.clone()).unwrap_or_default(),
            times: RunTimes::of(newest),
        }
    }

    /// Returns the sign of each stage, or their names with the signs in words.
    fn cell(&self) -> Line<'static> {
        let shown = self.stages.iter().take(MAX_STAGES).enumerate();
        let signs = shown.map(|(index, (name, sign, role))| match glyph::is_accessible() {
            true => (format!("{}{name} {sign}", if index > 0 { ", " } else { "" }), *role),
            false => ((*sign).to_owned(), *role),
        });
        let more = (self.stages.len() > MAX_STAGES).then(|| (glyph::ellipsis().to_owned(), Role::Dim));
        signs.chain(more).collect()
    }
}

fn jobs(project: &Id, pipeline: u64) -> (ListPipelineJobs, Request) {
    let list = ListPipelineJobs::all(project.clone(), pipeline);
    let request = list.request().read_as::<PipelineSummary>();
    (list, request)
}

/// Returns the project that a pipeline runs in, which `project` lists: for a merge request from a fork, that may be the
/// fork.
pub fn project_of(pipeline: &Pipeline, project: &Id, project_id: Option<u64>) -> Id {
    let elsewhere = pipeline.project_id.filter(|id| *id > 0 && Some(*id) != project_id);
    elsewhere.map_or_else(|| project.clone(), Id::from)
}

/// Returns the request for the jobs of a pipeline of `project`; it is repeated while the pipeline runs.
pub fn load(project: &Id, pipeline: &Pipeline) -> Load {
    let (list, request) = jobs(project, pipeline.id);
    let read = |body: &[u8], kind: Option<&str>| {
        Vec::<Job>::read(body, kind).map(|jobs| (Arc::new(PipelineSummary::of(&jobs)) as Value, jobs.len()))
    };
    let age = pipeline.status.is_live().then_some(LIVE_INTERVAL);
    Load { request, read, pages: 1, ..Load::single(&list) }.refresh_after(age)
}

/// Returns the summary of a pipeline of `project`, if it is loaded.
pub fn known<'a>(view: &View<'a>, project: &Id, pipeline: &Pipeline) -> Option<&'a PipelineSummary> {
    view.store.read_as(&jobs(project, pipeline.id).1)
}

/// Returns the stages of a pipeline; nothing until they are known.
pub fn cell(view: &View, project: &Id, pipeline: &Pipeline) -> Line<'static> {
    known(view, project, pipeline).map(PipelineSummary::cell).unwrap_or_default()
}

/// Returns the stages of a pipeline, or its status until they are known.
pub fn cell_or_sign(view: &View, project: &Id, pipeline: &Pipeline) -> Line<'static> {
    let stages = cell(view, project, pipeline);
    if stages.is_empty() { glyph::compact(pipeline.status.as_str()).into() } else { stages }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_job_of_a_stage_decides_and_retried_runs_do_not_count() {
        let job = |id: u64, stage: &str, name: &str, status: Status| Job {
            id,
            stage: stage.into(),
            name: name.into(),
            status,
            ..Job::default()
        };
        let jobs = [
            job(1, "build", "compile", Status::Failed),
            job(9, "build", "compile", Status::Success),
            job(2, "test", "unit", Status::Success),
            job(3, "test", "lint", Status::Failed),
            job(4, "pack", "image", Status::Running),
            job(5, "pack", "book", Status::Success),
            job(6, "deploy", "staging", Status::Manual),
        ];
        let signs = |jobs: &[Job]| PipelineSummary::of(jobs).cell().plain_text();
        assert_eq!(signs(&jobs), "✓✗●▷");
        let forgiven = Job { allow_failure: Some(true), ..job(3, "test", "lint", Status::Failed) };
        assert_eq!(signs(&[forgiven, job(2, "test", "unit", Status::Success)]), "▲");
        assert_eq!(signs(&[]), "");
    }

    #[test]
    fn the_duration_is_the_time_in_which_jobs_ran() {
        let at = |second: i64| jiff::Timestamp::from_second(second).ok().map(|at| at.to_string().as_str().into());
        let job = |id: u64, name: &str, from: i64, to: i64| Job {
            id,
            name: name.into(),
            status: Status::Success,
            started_at: at(from),
            finished_at: at(to),
            ..Job::default()
        };
        // The example of GitLab's `Gitlab::Ci::Pipeline::Duration`: (1, 3), (2, 4) and (6, 7) take 4.
        let jobs = [job(1, "a", 1, 3), job(2, "b", 2, 4), job(3, "c", 6, 7)];
        assert_eq!(PipelineSummary::of(&jobs).times.seconds, Some(4.0));
        // A run that was retried, a job within another, and one that never ran do not count.
        let never = Job { started_at: None, ..job(7, "d", 0, 9) };
        let jobs = [job(9, "a", 10, 20), job(1, "a", 0, 5), job(2, "b", 12, 13), never];
        assert_eq!(PipelineSummary::of(&jobs).times.seconds, Some(10.0));
        assert_eq!(PipelineSummary::of(&[]).times, RunTimes::default());
    }
}
