//! Follows a job, a pipeline or a merge request until its outcome is known, and tells each change in a line.

use crate::api::client::Client;
use crate::api::error::Error;
use crate::api::jobs::{GetJob, Job, ListPipelineJobs};
use crate::api::merge_requests::{GetMergeRequest, MergeRequest, MergeRequestState};
use crate::api::pipelines::GetPipeline;
use crate::api::pipelines::resources::{Pipeline, Status};
use crate::app::watch::{self, Followed};
use crate::ui::text;
use futures::TryStreamExt;
use std::collections::HashMap;
use std::time::Duration;

/// The number of times in a row that the server may fail to answer.
const MAX_FAILURES: u32 = 20;
/// The time after which an open merge request without a live pipeline is read again.
const IDLE_INTERVAL: Duration = Duration::from_secs(15);
/// The number of jobs on a page.
const PER_PAGE: u32 = 100;

/// The end of what was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The job or pipeline passed, or the merge request was merged or has a pipeline that passed.
    Success,
    Failed,
    /// Canceled, skipped or closed, or waiting for a manual job.
    Canceled,
    /// A pipeline has a status that is not known here.
    Unknown,
}

/// The state of what is followed, as far as it is told.
#[derive(Debug, Default)]
struct State {
    /// The names of the parts and their states in words.
    parts: Vec<(String, String)>,
    /// The parts that are not told when they are seen for the first time at the start.
    quiet: Vec<String>,
    outcome: Option<Outcome>,
    /// The time after which it is read again.
    interval: Duration,
}

/// Follows something until it has an outcome. `tell` gets a line for each change; `interval` replaces the time between
/// two reads.
///
/// # Errors
/// Returns the error of the server if it refuses, and if it does not answer at the start or for long; and that of `tell`.
pub async fn follow<E: From<Error>>(
    client: &Client,
    followed: &Followed,
    interval: Option<Duration>,
    mut tell: impl FnMut(&str) -> Result<(), E>,
) -> Result<Outcome, E> {
    let mut told: Option<HashMap<String, String>> = None;
    let (mut failures, mut pause) = (0, IDLE_INTERVAL);
    loop {
        match read(client, followed).await {
            Ok(state) => {
                if failures > 0 {
                    tell("The server answers again")?;
                }
                for line in changes(&mut told, &state) {
                    tell(&line)?;
                }
                if let Some(outcome) = state.outcome {
                    return Ok(outcome);
                }
                (failures, pause) = (0, state.interval);
            }
            Err(error) if error.is_temporary() && told.is_some() && failures < MAX_FAILURES => {
                failures += 1;
                if failures == 1 {
                    let why = text::sanitize(error.message().trim_end_matches('.')).into_owned();
                    tell(&format!("{}: {why}; trying again", error.title()))?;
                }
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(interval.unwrap_or(pause)).await;
    }
}

/// Returns a line for each part whose state is another one than was told.
fn changes(told: &mut Option<HashMap<String, String>>, state: &State) -> Vec<String> {
    let is_first = told.is_none();
    let told = told.get_or_insert_default();
    let mut lines = Vec::new();
    for (name, words) in &state.parts {
        let before = told.insert(name.clone(), words.clone());
        if before.as_ref() != Some(words) && !(is_first && state.quiet.contains(name)) {
            lines.push(format!("{name}: {words}"));
        }
    }
    lines
}

async fn read(client: &Client, followed: &Followed) -> Result<State, Error> {
    match followed {
        Followed::Job { project, id } => {
            let job = client.call(&GetJob { id: project.clone(), job_id: *id }).await?;
            Ok(of_job(&job))
        }
        Followed::Pipeline { project, id } => {
            let query = ListPipelineJobs { id: project.clone(), pipeline_id: *id, scope: None, include_retried: None };
            let pages = client.all(query, PER_PAGE).map_ok(|page| page.items);
            let jobs: Vec<Job> = pages.try_concat().await?;
            let pipeline = client.call(&GetPipeline { id: project.clone(), pipeline_id: *id }).await?;
            Ok(of_pipeline(&pipeline, &jobs))
        }
        Followed::MergeRequest { project, iid } => {
            Ok(of_merge_request(&client.call(&GetMergeRequest::new(project.clone(), *iid)).await?))
        }
    }
}

/// Returns the name of a job and its state in words.
fn part_of(job: &Job) -> (String, String) {
    let name = format!("#{} {}", job.id, text::sanitize(&job.name));
    let mut words = status_words(&job.status);
    if job.status.is_finished() {
        words.extend(job.duration.map(|seconds| format!(" after {}", text::duration(seconds))));
        let reason = job.failure_reason.as_deref().filter(|_| job.status == Status::Failed);
        words.extend(reason.map(|reason| format!(" ({})", text::sanitize(&reason.replace('_', " ")))));
    }
    (name, words)
}

fn status_words(status: &Status) -> String {
    match status {
        Status::Manual => "waiting for a manual action".to_owned(),
        other => text::sanitize(&other.as_str().replace('_', " ")).into_owned(),
    }
}

fn outcome_of(status: &Status) -> Outcome {
    match status {
        Status::Success => Outcome::Success,
        Status::Failed => Outcome::Failed,
        Status::Other(_) => Outcome::Unknown,
        _ => Outcome::Canceled,
    }
}

fn of_job(job: &Job) -> State {
    State {
        parts: vec![part_of(job)],
        outcome: job.status.is_finished().then(|| outcome_of(&job.status)),
        interval: watch::interval(&job.status),
        ..State::default()
    }
}

fn of_pipeline(pipeline: &Pipeline, jobs: &[Job]) -> State {
    let mut parts: Vec<(String, String)> = jobs.iter().map(part_of).collect();
    // At the start, only jobs that run or failed are news.
    let is_news = |status: &Status| status.is_running() || *status == Status::Failed;
    let quiet = jobs.iter().zip(&parts).filter(|(job, _)| !is_news(&job.status)).map(|(_, (name, _))| name.clone());
    let quiet = quiet.collect();
    parts.push((format!("pipeline {}", pipeline.id), status_words(&pipeline.status)));
    // A pipeline that waits for a manual job has ended, too. One that is scheduled starts by itself.
    let is_over = !pipeline.status.is_live() && pipeline.status != Status::Scheduled;
    State {
        parts,
        quiet,
        outcome: is_over.then(|| outcome_of(&pipeline.status)),
        interval: watch::interval(&pipeline.status),
    }
}

fn of_merge_request(request: &MergeRequest) -> State {
    let pipeline = request.pipeline();
    let pipeline_state = pipeline.map(|pipeline| of_pipeline(pipeline, &[]));
    let words = match &request.state {
        MergeRequestState::Opened | MergeRequestState::Reopened => "open",
        other => other.as_str(),
    };
    let mut parts = vec![(format!("!{}", request.iid), text::sanitize(words).into_owned())];
    // With auto-merge, a pipeline that passed is not the end yet.
    let merges_itself = request.merge_when_pipeline_succeeds == Some(true);
    let of_pipeline = pipeline_state.as_ref().and_then(|state| state.outcome);
    let outcome = match &request.state {
        MergeRequestState::Merged => Some(Outcome::Success),
        MergeRequestState::Closed => Some(Outcome::Canceled),
        _ => of_pipeline.filter(|outcome| !merges_itself || *outcome != Outcome::Success),
    };
    let interval =
        pipeline.filter(|pipeline| pipeline.status.is_live()).map(|pipeline| watch::interval(&pipeline.status));
    parts.extend(pipeline_state.into_iter().flat_map(|state| state.parts));
    State { parts, outcome, interval: interval.unwrap_or(IDLE_INTERVAL), ..State::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u64, name: &str, status: Status) -> Job {
        Job { id, name: name.into(), status, duration: Some(72.0), ..Job::default() }
    }

    #[test]
    fn each_change_is_told_once() {
        let mut told = None;
        let pipeline = |status| Pipeline { id: 9, status, ..Pipeline::default() };
        let mut at = |status, jobs: &[Job]| {
            let state = of_pipeline(&pipeline(status), jobs);
            (changes(&mut told, &state), state.outcome)
        };
        let first =
            [job(1, "build", Status::Success), job(2, "test", Status::Running), job(3, "lint", Status::Created)];
        let (lines, outcome) = at(Status::Running, &first);
        assert_eq!(
            (lines.as_slice(), outcome),
            (["#2 test: running", "pipeline 9: running"].map(String::from).as_slice(), None)
        );
        assert_eq!(at(Status::Running, &first), (vec![], None));
        let failed = Job { failure_reason: Some("script_failure".into()), ..job(2, "test", Status::Failed) };
        let (lines, outcome) = at(Status::Failed, &[failed, job(3, "lint", Status::Skipped)]);
        let expected =
            ["#2 test: failed after 1m 12s (script failure)", "#3 lint: skipped after 1m 12s", "pipeline 9: failed"];
        assert_eq!((lines, outcome), (expected.map(String::from).to_vec(), Some(Outcome::Failed)));
    }

    #[test]
    fn the_outcome_follows_from_the_status() {
        for (status, outcome) in [
            (Status::Success, Some(Outcome::Success)),
            (Status::Failed, Some(Outcome::Failed)),
            (Status::Canceled, Some(Outcome::Canceled)),
            (Status::Skipped, Some(Outcome::Canceled)),
            (Status::Canceling, None),
            (Status::WaitingForCallback, None),
            (Status::Pending, None),
            (Status::Scheduled, None),
        ] {
            assert_eq!(of_job(&job(1, "a", status.clone())).outcome, outcome, "{status:?}");
            assert_eq!(of_pipeline(&Pipeline { status, ..Pipeline::default() }, &[]).outcome, outcome);
        }
        // A job can wait for somebody; a pipeline with nothing else to run has ended.
        assert_eq!(of_job(&job(1, "a", Status::Manual)).outcome, None);
        let unknown = Pipeline { status: Status::Other("dreaming".into()), ..Pipeline::default() };
        assert_eq!(of_pipeline(&unknown, &[]).outcome, Some(Outcome::Unknown));
        let manual = Pipeline { status: Status::Manual, ..Pipeline::default() };
        assert_eq!(of_pipeline(&manual, &[]).outcome, Some(Outcome::Canceled));
    }

    #[test]
    fn a_merge_request_ends_with_its_pipeline_or_when_it_is_merged_or_closed() {
        let request = |state, status: Option<Status>, auto| MergeRequest {
            iid: 4,
            state,
            head_pipeline: status.map(|status| Pipeline { id: 9, status, ..Pipeline::default() }).into(),
            merge_when_pipeline_succeeds: Some(auto),
            ..MergeRequest::default()
        };
        let (open, merged, closed) = (MergeRequestState::Opened, MergeRequestState::Merged, MergeRequestState::Closed);
        for (state, status, auto, outcome) in [
            (open.clone(), None, false, None),
            (open.clone(), Some(Status::Running), false, None),
            (open.clone(), Some(Status::Success), false, Some(Outcome::Success)),
            (open.clone(), Some(Status::Success), true, None),
            (open, Some(Status::Failed), true, Some(Outcome::Failed)),
            (merged, Some(Status::Running), false, Some(Outcome::Success)),
            (closed, None, false, Some(Outcome::Canceled)),
        ] {
            assert_eq!(of_merge_request(&request(state, status, auto)).outcome, outcome);
        }
        let state = of_merge_request(&request(MergeRequestState::Opened, Some(Status::Running), false));
        assert_eq!(changes(&mut None, &state), ["!4: open", "pipeline 9: running"]);
    }
}
