//! Functions that all views of jobs share: appearance, order and actions.

pub mod board;
pub mod ci_file;
pub mod deployments;
pub mod job_commands;
pub mod job_details;
pub mod job_waits;
pub mod pipeline_marks;
pub mod pipeline_stages;
pub mod pipeline_variables;
pub mod pipelines;
pub mod source_lookup;
pub mod test_report;
pub mod trace;

use crate::api::environments::ListEnvironments;
use crate::api::jobs::{CancelJob, EraseJob, Job, KeepArtifacts, PlayJob, RetryJob};
use crate::api::pipelines::resources::Status;
use crate::api::{Error, Id, Time};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::batch;
use crate::app::place::Place;
use crate::app::view::View;
use crate::app::watch::{Followed, Watched};
use crate::parts::text::dates;
use crate::store::{Load, Want, Write};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{chart, glyph, text};
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

/// The interval at which running jobs are polled.
pub const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Returns whether a job may change without user action. In a pipeline that waits for a manual job, the later jobs stay
/// `created` until a user acts.
pub fn may_change(job: &Job) -> bool {
    let stands = job.pipeline.as_ref().is_some_and(|pipeline| !pipeline.status.is_live());
    job.status.is_live() && !(job.status == Status::Created && stands)
}

/// An action on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobAction {
    Retry,
    Cancel,
    Play,
    Erase,
    KeepArtifacts,
}

impl JobAction {
    fn verb(self) -> &'static str {
        match self {
            JobAction::Retry => "retry",
            JobAction::Cancel => "cancel",
            JobAction::Play => "play",
            JobAction::Erase => "erase",
            JobAction::KeepArtifacts => "keep the artifacts of",
        }
    }

    /// Returns whether the user has to confirm the action, because something is lost.
    pub fn needs_confirmation(self) -> bool {
        matches!(self, JobAction::Cancel | JobAction::Erase)
    }

    /// Returns whether the job's status allows the action, or the reason why not.
    pub fn check(self, job: &Job) -> Result<(), Disabled> {
        let word = status_word(&job.status);
        let refuse = |why: &str| Err(Disabled::Owned(format!("#{} is {word}: {why}", job.id)));
        match self {
            JobAction::Cancel | JobAction::Erase | JobAction::KeepArtifacts if job.is_trigger() => trigger_refusal(job),
            JobAction::Retry if job.status.is_live() => refuse("only finished jobs can be retried"),
            JobAction::Retry if matches!(job.status, Status::Success | Status::Failed | Status::Canceled) => Ok(()),
            JobAction::Retry => refuse("it has not run yet"),
            JobAction::Cancel if job.status == Status::Canceling => refuse("it is already being canceled"),
            JobAction::Cancel if job.status.is_live() || job.status == Status::Scheduled => Ok(()),
            JobAction::Cancel => refuse("it is not running"),
            JobAction::Play if matches!(job.status, Status::Manual | Status::Scheduled) => Ok(()),
            JobAction::Play => refuse("only manual jobs can be played"),
            JobAction::Erase if job.erased_at.is_some() => {
                Err(Disabled::Owned(format!("#{} is already erased", job.id)))
            }
            JobAction::Erase if matches!(job.status, Status::Success | Status::Failed | Status::Canceled) => Ok(()),
            JobAction::Erase => refuse("only finished jobs can be erased"),
            JobAction::KeepArtifacts if job.has_artifacts() => Ok(()),
            JobAction::KeepArtifacts => Err(Disabled::Owned(format!("#{} has no artifacts", job.id))),
        }
    }

    /// Returns the write for a job.
    fn write(self, project: &Id, job: &Job) -> Write {
        let (id, job_id) = (project.clone(), job.id);
        let what = format!("{} #{} {}", self.verb(), job.id, text::sanitize(&job.name));
        match self {
            JobAction::Retry => Write::new(&RetryJob { id, job_id, inputs: None }, what),
            JobAction::Cancel => Write::new(&CancelJob { id, job_id }, what),
            JobAction::Play => Write::new(&PlayJob { id, job_id, ..PlayJob::default() }, what),
            JobAction::Erase => Write::new(&EraseJob { id, job_id }, what),
            JobAction::KeepArtifacts => Write::new(&KeepArtifacts { id, job_id }, what),
        }
    }

    fn title(self) -> &'static str {
        match self {
            JobAction::Retry => "Retry",
            JobAction::Cancel => "Cancel",
            JobAction::Play => "Play",
            JobAction::Erase => "Erase",
            JobAction::KeepArtifacts => "Keep the artifacts of",
        }
    }

    /// Applies the action to those of `jobs` that allow it, and performs `then`. If something is lost, the user is asked
    /// first.
    pub fn apply(self, project: &Id, jobs: &[&Job], then: Option<Action>, cx: &mut Cx) {
        let able: Vec<&Job> = jobs.iter().copied().filter(|job| self.check(job).is_ok()).collect();
        let writes: Vec<Write> = able.iter().map(|job| self.write(project, job)).collect();
        let title = format!("{} {} jobs", self.title(), writes.len());
        let send = Action::All(std::iter::once(batch::send(title, writes)).chain(then).collect());
        let deploys = match self {
            JobAction::Play => deployment_words(&cx.view, project, &able),
            _ => None,
        };
        if !self.needs_confirmation() && deploys.is_none() {
            return cx.act(send);
        }
        let names: Vec<String> = able.iter().map(|job| format!("#{} {}", job.id, text::sanitize(&job.name))).collect();
        let whom = match names.as_slice() {
            [] => return,
            [one] => one.clone(),
            many => format!("{} jobs, {}", many.len(), many.join(", ")),
        };
        let (title, mut question, past) = match self {
            JobAction::Erase => ("Erase", format!("Erase {whom}? {} permanently deleted.", losses(&able)), "erased"),
            JobAction::Play => ("Play", format!("Play {whom}? {}", deploys.unwrap_or_default()), "played"),
            _ => ("Cancel", format!("Cancel {whom}? The output so far is kept."), "canceled"),
        };
        let left = jobs.len().saturating_sub(able.len());
        if left > 0 {
            let others = text::count_noun(left as u64, "other marked job");
            question.push_str(&format!(" {others} cannot be {past}."));
        }
        cx.act(App::confirm(title, question, send));
    }
}

fn environments(project: &Id) -> ListEnvironments {
    ListEnvironments { id: project.clone(), search: None, states: None }
}

/// Returns the wants that tell to which environments jobs deploy, if one of `jobs` can be played.
pub fn environment_wants<'a>(view: &View, project: &Id, jobs: impl IntoIterator<Item = &'a Job>) -> Vec<Want> {
    let mut jobs = jobs.into_iter();
    if !jobs.any(|job| JobAction::Play.check(job).is_ok()) {
        return Vec::new();
    }
    let lists = [Load::list(&deployments::query(project), 1).into(), Load::list(&environments(project), 1).into()];
    lists.into_iter().chain(deployments::want_protected(view, project)).collect()
}

/// Returns the environment to which a job deploys, as far as it is known. Servers do not list the environment of a job
/// that has not run: it is that of earlier runs, or the one with the same name.
pub fn environment_of(view: &View, project: &Id, job: &Job) -> Option<String> {
    let (ran, known) = (view.store.list(&deployments::query(project)), view.store.list(&environments(project)));
    let earlier = ran.iter().find(|row| row.deployable.as_ref().is_some_and(|ran| ran.name == job.name));
    let earlier = earlier.and_then(|row| row.environment.as_ref()).map(|environment| environment.name.clone());
    earlier.or_else(|| known.iter().find(|row| row.name == job.name).map(|row| row.name.clone()))
}

/// Returns whether a job was started by the user, or deploys: an environment may be open to those who are no developers.
pub fn is_own(view: &View, project: &Id, job: &Job) -> bool {
    view.is_me(job.user.as_ref().map(|user| user.id)) || environment_of(view, project, job).is_some()
}

/// Returns a sentence about the environments to which the jobs deploy, or may deploy as long as that is not known;
/// `None` if they deploy to none.
pub fn deployment_words(view: &View, project: &Id, jobs: &[&Job]) -> Option<String> {
    let (ran, known) = (view.store.list(&deployments::query(project)), view.store.list(&environments(project)));
    let mut names: Vec<String> = jobs.iter().filter_map(|job| environment_of(view, project, job)).collect();
    names.dedup();
    let is_pending = |is_loaded: bool, error: Option<&Error>| !is_loaded && error.is_none();
    match names.is_empty() {
        false => Some(format!("This deploys to {}.", text::sanitize(&names.join(", ")))),
        true if is_pending(ran.is_loaded, ran.error) || is_pending(known.is_loaded, known.error) => {
            Some("This may deploy: the environments are still loading.".to_owned())
        }
        true => None,
    }
}

/// Returns the reason why a trigger job has no runner, trace or artifacts.
fn trigger_refusal(job: &Job) -> Result<(), Disabled> {
    Err(Disabled::Owned(format!("#{} is a trigger job: ‹.open› opens its downstream pipeline", job.id)))
}

/// Returns whether a job has a trace, or the reason why not.
pub fn has_trace(job: &Job) -> Result<(), Disabled> {
    if job.is_trigger() { trigger_refusal(job) } else { Ok(()) }
}

/// Returns the first half of a sentence about what erasing deletes.
fn losses(jobs: &[&Job]) -> String {
    let kept: Vec<String> = jobs
        .iter()
        .filter_map(|job| job.artifacts_file.as_ref())
        .map(|file| format!("{} ({})", text::sanitize(&file.filename), text::bytes(file.size)))
        .collect();
    match (jobs.len(), kept.is_empty()) {
        (1, true) => "Its trace will be".into(),
        (_, true) => "Their traces will be".into(),
        (1, false) => format!("Its trace and its artifacts, {}, will be", kept.join(", ")),
        (_, false) => format!("Their traces and the artifacts {} will be", kept.join(", ")),
    }
}

/// Returns a status as it is displayed.
pub fn status_word(status: &Status) -> String {
    status.as_str().replace('_', " ")
}

/// Returns the glyph and the role of a job: a failure that is allowed is only a warning.
pub fn sign(job: &Job) -> (&'static str, Role) {
    if job.is_forgiven() {
        (glyph::or_word(glyph::warning(), "failure allowed"), Role::Warning)
    } else {
        glyph::status(job.status.as_str())
    }
}

/// Returns the cell with the glyph and the name of a job's status.
pub fn status_cell(job: &Job) -> Line<'static> {
    Line::from(match job.is_forgiven() {
        true => (format!("{} allowed to fail", glyph::or_word(glyph::warning(), "failed,")), Role::Warning),
        false => glyph::labeled(job.status.as_str()),
    })
}

fn instant(time: Option<&Time>) -> Option<Timestamp> {
    time.and_then(Time::instant)
}

/// Returns the duration of a job, or the time that it has been running at `now`, in seconds.
pub fn seconds(job: &Job, now: Timestamp) -> Option<f64> {
    let started = instant(job.started_at.as_ref());
    if job.status.is_running() {
        // If the clock of the server is unknown, the job may seem not to have begun yet; use its own duration then.
        let since = started.map(|from| now.duration_since(from).as_secs_f64());
        return since.filter(|since| *since >= 0.0).or(job.duration).or(since.map(|_| 0.0));
    }
    job.duration.or_else(|| {
        let until = instant(job.finished_at.as_ref())?;
        Some(until.duration_since(started?).as_secs_f64().max(0.0))
    })
}

/// Returns the duration as text; empty if the job never ran.
pub fn duration(job: &Job, now: Timestamp) -> String {
    if let Some(since) = dates::since(instant(job.started_at.as_ref()).filter(|_| job.status.is_running()), now) {
        return since;
    }
    seconds(job, now).map(text::duration).unwrap_or_default()
}

/// When the jobs of a pipeline ran.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunTimes {
    /// When the first one began.
    pub began: Option<Timestamp>,
    /// The time during which at least one of them ran, in seconds, as GitLab counts the duration of a pipeline; `None` if
    /// none has ended.
    pub seconds: Option<f64>,
}

impl RunTimes {
    /// Returns the times of the newest run of each job.
    pub fn of<'a>(newest: impl IntoIterator<Item = &'a Job>) -> RunTimes {
        let newest: Vec<&Job> = newest.into_iter().collect();
        let has_run = |job: &&&Job| matches!(job.status, Status::Success | Status::Failed | Status::Canceled);
        let period = |job: &&Job| instant(job.started_at.as_ref()).zip(instant(job.finished_at.as_ref()));
        let mut periods: Vec<_> = newest.iter().filter(has_run).filter_map(period).collect();
        periods.sort_unstable();
        let (mut until, mut seconds) = (periods.first().map(|(from, _)| *from), None);
        for (from, to) in periods {
            let more = to.duration_since(from.max(until.unwrap_or(from))).as_secs_f64().max(0.0);
            (seconds, until) = (Some(seconds.unwrap_or(0.0) + more), until.max(Some(to)));
        }
        RunTimes { began: newest.iter().filter_map(|job| instant(job.started_at.as_ref())).min(), seconds }
    }
}

/// Returns the time of the last event of a job.
pub fn last_event(job: &Job) -> Option<&Time> {
    job.finished_at.as_ref().or(job.started_at.as_ref()).or(job.created_at.as_ref())
}

/// Returns the durations of successful runs of the same job among `rows`, oldest first, in seconds.
pub fn earlier_durations<'a>(rows: impl Iterator<Item = &'a Job>, job: &Job, now: Timestamp) -> Vec<f64> {
    let same = rows.filter(|other| other.name == job.name && other.status == Status::Success && other.id != job.id);
    let mut duration: Vec<f64> = same.filter_map(|other| seconds(other, now)).take(20).collect();
    duration.reverse();
    duration
}

/// Returns the median of earlier durations, and a chart of them in `room` columns. Returns `None` without durations.
pub fn median_duration(before: &[f64], room: usize) -> Option<(String, String)> {
    let mut sorted = before.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied()?;
    let (least, most) = (sorted.first().copied().unwrap_or_default(), sorted.last().copied().unwrap_or_default());
    // Bars start a little below the minimum, to show the differences. If there are hardly any, there is no chart.
    let apart: Vec<f64> = before.iter().map(|duration| duration - least * 0.9).collect();
    let chart = if most > least * 1.05 {
        chart::sparkline(&apart, room, "durations of earlier runs, the last one on the right")
    } else {
        String::new()
    };
    Some((text::duration(median), chart))
}

/// Returns the short SHA of a job's commit.
pub fn short_sha(job: &Job) -> String {
    match (&job.commit, &job.pipeline) {
        (Some(commit), _) => commit.short().to_owned(),
        (None, Some(pipeline)) => pipeline.sha.chars().take(8).collect(),
        (None, None) => String::new(),
    }
}

/// Returns when the artifacts expire, if they do.
pub fn expiry(job: &Job) -> Option<Timestamp> {
    instant(job.artifacts_expire_at.as_ref())
}

/// Returns the URL of a job.
pub fn url(view: &View, project: &Id, job: &Job) -> String {
    match job.web_url.as_ref().filter(|url| !url.is_empty()) {
        Some(url) => url.clone(),
        None => crate::parts::project::page(view, project, &format!("/-/jobs/{}", job.id)),
    }
}

/// The maximum number of traces that are shown together.
pub const MAX_TRACES: usize = 6;

/// The tab of a job's place that compares its trace with that of the last successful run.
pub const COMPARISON: &str = "compare";

/// Returns the place that compares the trace of a failed job with that of the last successful run.
pub fn comparison(project: &Id, job: &Job) -> Place {
    Place::new("job").project(project.clone()).item(job.id).tab(COMPARISON)
}

/// Returns an error unless a job failed, so that it can be compared.
pub fn can_compare(job: &Job) -> Result<(), Disabled> {
    has_trace(job)?;
    match job.status {
        Status::Failed | Status::Canceled => Ok(()),
        _ => Err("only failed jobs are compared".into()),
    }
}

/// Returns the place that shows several traces.
pub fn traces(project: &Id, ids: impl Iterator<Item = u64>) -> Place {
    let ids: Vec<String> = ids.take(MAX_TRACES).map(|id| id.to_string()).collect();
    Place::new("traces").project(project.clone()).item(ids.join(","))
}

/// Returns the job as an object to watch.
pub fn watched(project: &Id, job: &Job) -> Watched {
    Watched::Job { project: project.clone(), id: job.id, name: job.name.clone() }
}

/// Returns the job, pipeline or merge request that a place shows.
pub fn followed(place: &Place) -> Option<Followed> {
    let (project, number) = (place.project.clone()?, place.item.as_deref()?.parse().ok()?);
    match place.pane.as_str() {
        "job" => Some(Followed::Job { project, id: number }),
        "jobs" => Some(Followed::Pipeline { project, id: number }),
        "mr" => Some(Followed::MergeRequest { project, iid: number }),
        _ => None,
    }
}

/// Returns the request for the path of a project that is only known by its ID.
pub fn want_path(project: &Id) -> Option<Want> {
    project.number().map(|_| crate::parts::project::want(project))
}

/// A run of a job in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRun {
    /// The index of its row.
    pub index: usize,
    /// [`Job::id`].
    pub id: u64,
    /// Whether the job was retried: a later run precedes this one.
    pub is_retried: bool,
}

/// A stage of a pipeline with its jobs, in the order in which they run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    pub name: String,
    pub jobs: Vec<JobRun>,
}

/// Sorts the jobs of one pipeline by stage and name, both in the order of creation. Of a retried job, the newest run
/// comes first.
pub fn stages<'a>(jobs: impl Iterator<Item = (usize, &'a Job)>) -> Vec<Stage> {
    let mut all: Vec<(usize, &Job)> = jobs.collect();
    let mut stage_from: HashMap<&str, u64> = HashMap::new();
    let mut name_from: HashMap<(&str, &str), u64> = HashMap::new();
    for (_, job) in &all {
        let stage = stage_from.entry(&job.stage).or_insert(job.id);
        *stage = (*stage).min(job.id);
        let name = name_from.entry((&job.stage, &job.name)).or_insert(job.id);
        *name = (*name).min(job.id);
    }
    all.sort_by_key(|(_, job)| {
        let stage = stage_from.get(job.stage.as_str()).copied();
        let name = name_from.get(&(job.stage.as_str(), job.name.as_str())).copied();
        (stage, name, Reverse(job.id))
    });
    let mut stages: Vec<Stage> = Vec::new();
    let mut before: Option<(&str, &str)> = None;
    for (index, job) in all {
        if before.is_none_or(|(stage, _)| stage != job.stage) {
            stages.push(Stage { name: job.stage.clone(), jobs: Vec::new() });
        }
        let is_retried = before == Some((job.stage.as_str(), job.name.as_str()));
        before = Some((&job.stage, &job.name));
        if let Some(stage) = stages.last_mut() {
            stage.jobs.push(JobRun { index, id: job.id, is_retried });
        }
    }
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u64, stage: &str, name: &str, status: Status) -> Job {
        Job { id, stage: stage.into(), name: name.into(), status, ..Job::default() }
    }

    #[test]
    fn jobs_are_grouped_by_stage_with_older_runs_last() {
        let jobs = [
            job(9, "build", "compile", Status::Success),
            job(4, "deploy", "staging", Status::Manual),
            job(3, "test", "unit", Status::Success),
            job(2, "build", "assets", Status::Success),
            job(1, "build", "compile", Status::Failed),
        ];
        let stages = stages(jobs.iter().enumerate());
        let seen: Vec<(&str, Vec<(u64, bool)>)> =
            stages.iter().map(|s| (s.name.as_str(), s.jobs.iter().map(|j| (j.id, j.is_retried)).collect())).collect();
        assert_eq!(
            seen,
            [
                ("build", vec![(9, false), (1, true), (2, false)]),
                ("test", vec![(3, false)]),
                ("deploy", vec![(4, false)])
            ]
        );
    }

    #[test]
    fn disabled_actions_give_a_reason() {
        use JobAction::*;
        let allowed = |status: Status| -> Vec<JobAction> {
            let job = job(1, "s", "n", status);
            [Retry, Cancel, Play, Erase, KeepArtifacts]
                .into_iter()
                .filter(|job_action| job_action.check(&job).is_ok())
                .collect()
        };
        assert_eq!(allowed(Status::Running), [Cancel]);
        assert_eq!(allowed(Status::Failed), [Retry, Erase]);
        assert_eq!(allowed(Status::Manual), [Play]);
        assert_eq!(allowed(Status::Skipped), []);
        let why = Retry.check(&job(7, "s", "n", Status::Running)).unwrap_err();
        assert_eq!(why, "#7 is running: only finished jobs can be retried");
    }

    #[test]
    fn running_jobs_show_elapsed_time_and_finished_ones_their_duration() {
        let now: Timestamp = "2026-01-01T00:02:00Z".parse().unwrap();
        let mut one = job(1, "s", "n", Status::Running);
        one.started_at = Some("2026-01-01T00:00:30Z".into());
        assert_eq!(duration(&one, now), "1m 30s");
        one.status = Status::Success;
        one.finished_at = Some("2026-01-01T00:00:50Z".into());
        assert_eq!(duration(&one, now), "20s");
        one.duration = Some(21.4);
        assert_eq!(duration(&one, now), "21s");
    }
}
