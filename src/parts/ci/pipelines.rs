//! Functions that all views of pipelines share: requests, places, durations and actions.

use crate::api::jobs::Job;
use crate::api::pipelines::resources::{Pipeline, Status};
use crate::api::pipelines::{
    CancelPipeline, DeletePipeline, GetPipeline, ListPipelineBridges, ListPipelines, RetryPipeline,
};
use crate::api::{Error, Id, Time};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::ci::{self, POLL_INTERVAL, RunTimes};
use crate::parts::text::dates;
use crate::store::{Load, Remote, Rows, Want, Write};
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use jiff::Timestamp;

/// Returns the request for a pipeline with all its fields.
pub fn query(project: &Id, pipeline_id: u64) -> GetPipeline {
    GetPipeline { id: project.clone(), pipeline_id }
}

/// Returns the pipeline as far as it is loaded.
pub fn known<'a>(view: &View<'a>, project: &Id, pipeline_id: u64) -> Remote<'a, Pipeline> {
    view.store.get(&query(project, pipeline_id))
}

/// Returns the place of a pipeline: its jobs, with the board of its stages.
pub fn place(project: &Id, pipeline: u64) -> Place {
    Place::new("jobs").project(project.clone()).item(pipeline)
}

/// Returns the place of a pipeline's test report.
pub fn tests(project: &Id, pipeline: u64) -> Place {
    Place::new("tests").project(project.clone()).item(pipeline)
}

/// Returns the request for the trigger jobs of a pipeline.
pub fn triggers(project: &Id, pipeline_id: u64, scope: Option<Vec<String>>) -> ListPipelineBridges {
    ListPipelineBridges { id: project.clone(), pipeline_id, scope }
}

/// Returns the request for the trigger jobs, if the server has them; it is repeated while something is running.
pub fn want_triggers(view: &View, triggers: &ListPipelineBridges, is_live: bool) -> Option<Want> {
    if view.store.is_unsupported::<ListPipelineBridges>() {
        return None;
    }
    let rows = view.store.list(triggers);
    let goes_on = |job: &Job| job.downstream().is_some_and(|child| child.status.is_live());
    let is_live = rows.error.is_none() && (is_live || rows.iter().any(goes_on));
    Some(Load::list(triggers, 1).refresh_after(is_live.then_some(POLL_INTERVAL)).optional().into())
}

/// Returns the jobs of a pipeline followed by its trigger jobs, once those are loaded: never only the trigger jobs, so that
/// the cursor starts on the first job.
pub fn with_triggers<'a>(view: &View<'a>, jobs: Rows<'a, Job>, triggers: &ListPipelineBridges) -> Rows<'a, Job> {
    let triggers = view.store.list(triggers);
    if !jobs.is_loaded || triggers.is_empty() || triggers.error.is_some() {
        jobs
    } else {
        Rows::chain(vec![jobs, triggers])
    }
}

/// Returns the place of the pipeline that a trigger job started, which may be in another project.
pub fn downstream_place(project: &Id, job: &Job) -> Option<Place> {
    let child = job.downstream()?;
    // A path is more readable than an ID, and most downstream pipelines are in the same project.
    let is_own = child.source.as_deref() == Some(CHILD_SOURCE) || child.project_id.is_none();
    let project = if is_own { project.clone() } else { child.project_id.map(Id::from).unwrap_or_default() };
    Some(place(&project, child.id))
}

/// Returns why a trigger job has no downstream pipeline.
pub fn no_downstream_words(job: &Job) -> String {
    match (job.status.as_str(), job.failure_reason.as_deref()) {
        ("failed", Some(reason)) if !reason.is_empty() => {
            format!("It failed before it started a pipeline: {}.", text::sanitize(reason).replace('_', " "))
        }
        ("failed", _) => "It failed before it started a pipeline.".to_owned(),
        ("canceled" | "skipped", _) => format!("It was {} before it started a pipeline.", job.status.as_str()),
        _ => "It has not started its pipeline yet.".to_owned(),
    }
}

/// Returns the text after the name of a trigger job: the downstream pipeline and its status.
pub fn downstream_words(job: &Job) -> Option<(String, Role)> {
    let child = job.downstream()?;
    let (status, role) = glyph::labeled(child.status.as_str());
    Some((format!("{} pipeline {} {status}", glyph::or_word(glyph::folded(), ""), child.id), role))
}

/// The source of a pipeline that another pipeline of the same project started.
pub const CHILD_SOURCE: &str = "parent_pipeline";
/// The maximum number of pipelines of a commit that are searched for the parent of a child pipeline.
const MAX_PARENTS: usize = 5;

/// Returns the requests for the pipelines that may be the parent of a child: those of its commit.
fn parents(project: &Id, child: &Pipeline) -> [ListPipelines; 2] {
    let of_commit = ListPipelines { id: project.clone(), sha: Some(child.sha.clone()), ..ListPipelines::default() };
    [of_commit.clone(), ListPipelines { source: Some(CHILD_SOURCE.into()), ..of_commit }]
}

/// Returns the possible parents that are older than the child, up to the limit.
fn candidates<'a>(view: &View<'a>, project: &Id, child: &Pipeline) -> Vec<&'a Pipeline> {
    let [own, children] = parents(project, child).map(|list| view.store.list(&list));
    let older = own.iter().chain(children.iter()).filter(|parent| parent.id < child.id);
    older.take(MAX_PARENTS).collect()
}

/// Returns the requests that find the parent of a child pipeline, because servers do not report it.
pub fn want_upstream(view: &View, project: &Id, child: &Pipeline) -> Vec<Want> {
    if child.source.as_deref() != Some(CHILD_SOURCE) || view.store.is_unsupported::<ListPipelineBridges>() {
        return Vec::new();
    }
    let lists = parents(project, child);
    let mut wants: Vec<Want> = lists.iter().map(|list| Load::list(list, 1).optional().into()).collect();
    if upstream(view, project, child).is_none() {
        let bridges = candidates(view, project, child).into_iter().map(|parent| triggers(project, parent.id, None));
        wants.extend(bridges.map(|bridges| Load::list(&bridges, 1).optional().into()));
    }
    wants
}

/// Returns the parent of a child pipeline, once it is found.
pub fn upstream<'a>(view: &View<'a>, project: &Id, child: &Pipeline) -> Option<&'a Pipeline> {
    let started = |job: &Job| job.downstream().is_some_and(|downstream| downstream.id == child.id);
    let is_parent =
        |parent: &&Pipeline| view.store.list::<Job, _>(&triggers(project, parent.id, None)).iter().any(started);
    candidates(view, project, child).into_iter().find(is_parent)
}

/// Returns the duration, or the time since the start at `now`; empty if it never ran. Lists omit both: then the times of
/// its jobs are used, or the time between its creation and the last change until they are known.
pub fn duration(pipeline: &Pipeline, of_jobs: RunTimes, now: Timestamp) -> String {
    let at = |time: &Option<Time>| time.as_ref().and_then(Time::instant);
    let began = at(&pipeline.started_at).or(of_jobs.began).or_else(|| at(&pipeline.created_at));
    if let Some(since) = dates::since(began.filter(|_| pipeline.status.is_live()), now) {
        return since;
    }
    let ended = match &pipeline.status {
        status if status.is_live() => Some(now),
        Status::Success | Status::Failed | Status::Canceled => at(&pipeline.finished_at).or(at(&pipeline.updated_at)),
        _ => None,
    };
    let between = began.zip(ended).map(|(from, to)| to.duration_since(from).as_secs_f64().max(0.0));
    let seconds = pipeline.duration.or(of_jobs.seconds).filter(|_| !pipeline.status.is_live()).or(between);
    seconds.map(text::duration).unwrap_or_default()
}

/// Returns the source of a pipeline in words.
pub fn source(pipeline: &Pipeline) -> String {
    match pipeline.source.as_deref().unwrap_or_default() {
        "merge_request_event" => "merge request".into(),
        "external_pull_request_event" => "external pull request".into(),
        "webide" => "Web IDE".into(),
        "api" => "API".into(),
        "pipeline" => "upstream pipeline".into(),
        other => other.replace('_', " "),
    }
}

/// Returns the ref, or `!IID` for the ref of a merge request.
pub fn ref_name(pipeline: &Pipeline) -> String {
    let number = pipeline.r#ref.strip_prefix("refs/merge-requests/").and_then(|rest| rest.split('/').next());
    number.map_or_else(|| pipeline.r#ref.clone(), |iid| format!("!{iid}"))
}

/// An action on a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineAction {
    Retry,
    Cancel,
    Delete,
}

impl PipelineAction {
    /// Returns whether the status allows the action, or the reason why not.
    pub fn check(self, id: u64, status: &Status) -> Result<(), Disabled> {
        let state = match status {
            Status::Success => "has passed".to_owned(),
            Status::Failed => "has failed".to_owned(),
            other => format!("is {}", ci::status_word(other)),
        };
        let refuse = |why: &str| Err(Disabled::Owned(format!("pipeline {id} {state}: {why}")));
        match self {
            // A pipeline that is running or waits for a user may have failed jobs.
            PipelineAction::Retry if matches!(status, Status::Success | Status::Skipped) => refuse("nothing failed"),
            PipelineAction::Cancel if *status == Status::Canceling => refuse("it is already being canceled"),
            PipelineAction::Cancel if !status.is_live() && !matches!(status, Status::Manual | Status::Scheduled) => {
                refuse("it is not running")
            }
            _ => Ok(()),
        }
    }

    /// Applies the action; asks for confirmation if something is lost.
    pub fn apply(self, project: &Id, id: u64, ref_name: &str, cx: &mut Cx) {
        let (project, pipeline_id) = (project.clone(), id);
        let of = if ref_name.is_empty() { String::new() } else { format!(" of {}", text::sanitize(ref_name)) };
        let what = |verb: &str| format!("{verb} pipeline {id}{of}");
        let (title, question, write) = match self {
            PipelineAction::Retry => {
                let write = Write::new(&RetryPipeline { id: project, pipeline_id }, what("retry"));
                return cx.act(Action::Send(write));
            }
            PipelineAction::Cancel => {
                let write = Write::new(&CancelPipeline { id: project, pipeline_id }, what("cancel"));
                ("Cancel", format!("Cancel pipeline {id}{of}? The output so far is kept."), write)
            }
            PipelineAction::Delete => {
                let write = Write::new(&DeletePipeline { id: project, pipeline_id }, what("delete"));
                let question =
                    format!("Delete pipeline {id}{of}? Its jobs, traces and artifacts will be permanently deleted.");
                ("Delete", question, write)
            }
        };
        cx.act(App::confirm(title, question, Action::Send(write)));
    }
}

/// Returns the placeholder if the server has no list of pipelines.
pub fn refused(error: &Error) -> Option<(String, &'static str)> {
    use crate::api::Fault;
    let why = "This server has no list of pipelines.".to_owned();
    matches!(error.fault, Fault::Unsupported(_)).then_some((why, "‹go.jobs› shows the jobs grouped by pipeline"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_pipelines_show_elapsed_time_and_finished_ones_their_duration() {
        let now: Timestamp = "2026-01-01T00:02:00Z".parse().unwrap();
        let mut one = Pipeline { status: Status::Running, ..Pipeline::default() };
        one.created_at = Some("2026-01-01T00:00:30Z".into());
        assert_eq!(duration(&one, RunTimes::default(), now), "1m 30s");
        one.status = Status::Success;
        one.updated_at = Some("2026-01-01T00:00:50Z".into());
        assert_eq!(duration(&one, RunTimes::default(), now), "20s");
        one.duration = Some(12.0).into();
        assert_eq!(duration(&one, RunTimes::default(), now), "12s");
        one = Pipeline { status: Status::Manual, ..one };
        one.duration = None.into();
        assert_eq!(duration(&one, RunTimes::default(), now), "");
    }

    #[test]
    fn disabled_actions_give_a_reason() {
        use PipelineAction::*;
        let why = |action: PipelineAction, status| action.check(7, &status).unwrap_err();
        assert_eq!(why(Retry, Status::Success), "pipeline 7 has passed: nothing failed");
        assert_eq!(why(Cancel, Status::Failed), "pipeline 7 has failed: it is not running");
        for (action, status) in [(Retry, Status::Failed), (Retry, Status::Running), (Cancel, Status::Created)] {
            assert!(action.check(7, &status).is_ok(), "{action:?} {status}");
        }
        assert!(Cancel.check(7, &Status::from("quite_new")).is_err() && Delete.check(7, &Status::Success).is_ok());
    }
}
