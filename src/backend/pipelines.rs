//! Pipelines: listing and filtering, running, retrying, canceling, deleting.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok, stable_sort};
use super::ci::{NO_INPUTS, NewPipeline};
use super::git::Git;
use super::jobs::scope;
use super::modes::Version;
use super::mount::Mount;
use super::records::{self, Bridge, Job, Planned, Project, State, Status, level};
use super::rejection::Rejection;
use super::runner::{self, PipelinePlan};
use super::world::World;
use crate::presenters::{Bounds, optional_time, time};
use api::pipelines::resources::{DetailedStatus, Pipeline};
use api::pipelines::*;
use api::{Id, NoContent};
use domain::ci_config::Inputs;
use git2::Oid;
use jiff::Timestamp;
use serde_json::json;
use std::collections::HashMap;
use std::ops::Deref;

/// The maximum length of the name of a pipeline, in characters.
const MAX_NAME: usize = 255;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListPipelines>(list)
        .read_signed_in::<GetPipeline>(get)
        .write::<CreatePipeline>(create)
        .write::<RetryPipeline>(retry)
        .write::<CancelPipeline>(cancel)
        .write::<DeletePipeline>(delete)
        .read_signed_in::<ListPipelineVariables>(variables)
        .read_signed_in::<ListPipelineBridges>(trigger_jobs)
        .also_read_signed_in::<ListPipelineBridges>("/projects/{id}/pipelines/{pipeline_id}/bridges", bridges)
        .read_signed_in::<GetLatestPipeline>(latest)
        .write::<SetPipelineMetadata>(set_metadata)
        .write::<CreateMergeRequestPipeline>(create_for_merge_request)
}

api::endpoints! {
    unspecified section "Pipelines";

    /// Gets the latest pipeline of the head of a branch or tag (since 12.3).
    GET "/projects/{id}/pipelines/latest" => Pipeline;
    struct GetLatestPipeline {
        id: Id,
        /// The default branch if absent.
        r#ref: Option<String>,
    }

    /// Names a pipeline (since 16.6).
    PUT "/projects/{id}/pipelines/{pipeline_id}/metadata" => Pipeline;
    struct SetPipelineMetadata { id: Id, pipeline_id: u64, name: String }

    /// Runs a pipeline of a merge request (since 12.3).
    POST "/projects/{id}/merge_requests/{merge_request_iid}/pipelines" => Pipeline;
    struct CreateMergeRequestPipeline { id: Id, merge_request_iid: u64 }
}

fn source(pipeline: &records::Pipeline) -> &str {
    match pipeline.source.as_str() {
        "" if pipeline.external => "external",
        "" => "push",
        other => other,
    }
}

fn updated_at(pipeline: &records::Pipeline) -> Timestamp {
    pipeline.finished_at.or(pipeline.started_at).unwrap_or(pipeline.created_at).max(pipeline.created_at)
}

/// Returns the seconds between two times.
pub fn seconds(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<f64> {
    Some(to?.duration_since(from?).as_secs().max(0) as f64)
}

/// Returns the seconds in which at least one of several periods is running.
fn covered_seconds(mut periods: Vec<(Timestamp, Timestamp)>) -> f64 {
    periods.sort();
    let (mut sum, mut until) = (jiff::SignedDuration::ZERO, Timestamp::MIN);
    for (from, to) in periods {
        sum += to.max(until).duration_since(from.max(until));
        until = until.max(to);
    }
    sum.as_secs() as f64
}

/// Returns the words for a status that servers show on their pages: icon, text, label.
fn status_words(status: Status) -> (&'static str, &'static str, &'static str) {
    match status {
        Status::Created => ("status_created", "Created", "created"),
        Status::Pending => ("status_pending", "Pending", "pending"),
        Status::Running => ("status_running", "Running", "running"),
        Status::Failed => ("status_failed", "Failed", "failed"),
        Status::Success => ("status_success", "Passed", "passed"),
        Status::Canceled => ("status_canceled", "Canceled", "canceled"),
        Status::Skipped => ("status_skipped", "Skipped", "skipped"),
        Status::Manual => ("status_manual", "Blocked", "waiting for manual action"),
        Status::Scheduled => ("status_scheduled", "Scheduled", "waiting for delayed job"),
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the representation in lists and inside other objects.
    pub fn show_pipeline(&self, pipeline: &records::Pipeline) -> Pipeline {
        let project = self.world.projects.get(pipeline.project);
        Pipeline {
            id: pipeline.id,
            sha: pipeline.sha.clone(),
            r#ref: pipeline.ref_name.clone(),
            status: pipeline.status.as_str().into(),
            iid: Some(pipeline.iid).filter(|iid| *iid > 0),
            project_id: Some(pipeline.project),
            source: Some(source(pipeline).to_owned()),
            created_at: Some(time(pipeline.created_at)),
            updated_at: Some(time(updated_at(pipeline))),
            web_url: project.map(|project| self.project_page(project, &format!("pipelines/{}", pipeline.id))),
            ..Pipeline::default()
        }
    }

    /// Returns the full representation.
    pub fn show_pipeline_detail(&self, pipeline: &records::Pipeline) -> Pipeline {
        let covered: Vec<f64> = self.world.pipeline_jobs(pipeline.id).filter_map(|job| job.coverage).collect();
        let coverage = covered.iter().sum::<f64>() / covered.len().max(1) as f64;
        Pipeline {
            tag: Some(pipeline.tag),
            before_sha: Some("0".repeat(40)),
            name: pipeline.name.clone().into(),
            yaml_errors: pipeline.yaml_errors.clone().into(),
            user: pipeline.user.map(|user| self.user_summary(user)).into(),
            started_at: optional_time(pipeline.started_at).into(),
            finished_at: optional_time(pipeline.finished_at).into(),
            committed_at: None.into(),
            duration: self.pipeline_duration(pipeline).into(),
            queued_duration: seconds(Some(pipeline.created_at), pipeline.started_at).into(),
            coverage: (!covered.is_empty()).then(|| format!("{coverage:.2}")).into(),
            detailed_status: Some(self.detailed_status(pipeline)),
            archived: Some(false),
            ..self.show_pipeline(pipeline)
        }
    }

    /// Returns the seconds in which jobs of a finished pipeline ran; the time before a manual job was started does not
    /// count.
    fn pipeline_duration(&self, pipeline: &records::Pipeline) -> Option<f64> {
        let finished_at = pipeline.finished_at?;
        let period = |job: &Job| Some((job.started_at?, job.finished_at.unwrap_or(finished_at)));
        let periods: Vec<_> = self.world.pipeline_jobs(pipeline.id).filter_map(period).collect();
        if periods.is_empty() {
            return seconds(pipeline.started_at, Some(finished_at));
        }
        Some(covered_seconds(periods))
    }

    fn detailed_status(&self, pipeline: &records::Pipeline) -> DetailedStatus {
        let forgiven = |job: &Job| job.status == Status::Failed && job.allow_failure;
        let warns = pipeline.status == Status::Success && self.world.pipeline_jobs(pipeline.id).any(forgiven);
        let (icon, text, label) = match status_words(pipeline.status) {
            _ if warns => ("status_warning", "Warning", "passed with warnings"),
            words => words,
        };
        let path = self.world.projects.get(pipeline.project).map(|project| self.world.project_path(project));
        DetailedStatus {
            icon: icon.into(),
            text: text.into(),
            label: label.into(),
            group: if warns { "success-with-warnings" } else { pipeline.status.as_str() }.into(),
            tooltip: label.into(),
            has_details: true,
            details_path: format!("/{}/-/pipelines/{}", path.unwrap_or_default(), pipeline.id),
            illustration: None,
            favicon: format!("/assets/ci_favicons/favicon_{icon}.png"),
        }
    }

    /// Returns a project and one of its pipelines, if the caller may read its jobs.
    pub fn pipeline(&self, id: &Id, pipeline: u64) -> Result<(&Project, &records::Pipeline), Rejection> {
        let project = self.project_jobs(id)?;
        let found = self.world.pipelines.get(pipeline).filter(|pipeline| pipeline.project == project.id);
        Ok((project, found.ok_or_else(Rejection::record_not_found)?))
    }

    /// Finds a branch or tag by short or full name. Returns its short name, its commit, and whether it is a tag.
    pub fn ref_of(&self, git: &Git, name: &str) -> Result<(String, Oid, bool), Rejection> {
        let branch = |name: &str| Some((name.to_owned(), git.branch_head(name)?, false));
        let tag = |name: &str| Some((name.to_owned(), git.tag(name)?.commit, true));
        let found = match (name.strip_prefix("refs/heads/"), name.strip_prefix("refs/tags/")) {
            (Some(name), _) => branch(name),
            (_, Some(name)) => tag(name),
            (None, None) => match (branch(name), tag(name)) {
                (Some(_), Some(_)) => return Err(pipeline_error("Ref is ambiguous")),
                (branch, tag) => branch.or(tag),
            },
        };
        found.ok_or_else(|| pipeline_error("Reference not found"))
    }
}

/// Checks the name and type of a variable.
pub fn check_variable(call: &WriteCall, variable: &NewVariable) -> Result<(), Rejection> {
    let kind = variable.variable_type.as_deref();
    call.choice_or_first("variables[variable_type]", kind, &["", "env_var", "file"])?;
    let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if variable.key.is_empty() || !variable.key.chars().all(is_key) {
        return Err(pipeline_error("Variables key can contain only letters, digits and '_'."));
    }
    Ok(())
}

/// Returns a 400 with the reason why a pipeline cannot be run.
pub fn pipeline_error(why: &str) -> Rejection {
    Rejection::bad_request(json!({ "base": [why] }))
}

/// Returns the latest pipeline of each existing branch or tag.
fn newest_by_ref(call: &ReadCall, project: &Project, tags: bool) -> Result<HashMap<String, u64>, Rejection> {
    let git = call.git(project)?;
    let names: Vec<String> = if tags {
        git.tags(&call.cache)?.iter().map(|tag| tag.name.clone()).collect()
    } else {
        git.branch_targets(&call.cache)?.iter().map(|branch| branch.name.clone()).collect()
    };
    let mut newest: HashMap<String, u64> = names.into_iter().map(|name| (name, 0)).collect();
    for pipeline in call.world.top_level_pipelines().filter(|p| p.project == project.id && p.tag == tags) {
        if let Some(id) = newest.get_mut(&pipeline.ref_name) {
            *id = pipeline.id;
        }
    }
    Ok(newest)
}

/// Lists the pipelines of a project; unlike other lists, with their names (GitLab, `lib/api/ci/pipelines.rb`, which
/// presents `PipelineBasicWithMetadata`).
fn list(call: &ReadCall, input: ListPipelines) -> Outcome<Vec<Pipeline>> {
    let mut answer = list_among(call, input, |_| true)?;
    for row in &mut answer.body {
        row.name = call.world.pipelines.get(row.id).and_then(|pipeline| pipeline.name.clone()).into();
    }
    Ok(answer)
}

/// Lists the pipelines of a project that fit the filters and are wanted.
pub fn list_among(
    call: &ReadCall,
    input: ListPipelines,
    wanted: impl Fn(&records::Pipeline) -> bool,
) -> Outcome<Vec<Pipeline>> {
    let any =
        |words: &[&'static str]| -> Vec<&'static str> { std::iter::once("").chain(words.iter().copied()).collect() };
    let scope = call.choice_or_first("scope", input.scope.as_deref(), &any(SCOPES))?.to_owned();
    let statuses = any(api::pipelines::resources::Status::KNOWN);
    let status = call.choice_or_first("status", input.status.as_deref(), &statuses)?.to_owned();
    let by = ["id", "status", "ref", "updated_at", "user_id"];
    let by = call.choice_or_first("order_by", input.order_by.as_deref(), &by)?.to_owned();
    let descending = call.descending(input.sort.as_deref(), "desc")?;
    let updated = Bounds::new("updated", &input.updated_after, &input.updated_before)?;
    let project = call.project_jobs(&input.id)?;
    let newest = match scope.as_str() {
        "branches" => Some(newest_by_ref(call, project, false)?),
        "tags" => Some(newest_by_ref(call, project, true)?),
        _ => None,
    };
    let started_by = |pipeline: &records::Pipeline, name: &str| {
        pipeline.user.and_then(|id| call.world.users.get(id)).is_some_and(|user| user.username == name)
    };
    let is = |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|w| w.is_empty() || w == value);
    let fits = |pipeline: &&records::Pipeline| {
        pipeline.project == project.id
            && wanted(pipeline)
            && (!pipeline.is_child() || input.source.as_deref() == Some(records::PARENT_PIPELINE))
            && match scope.as_str() {
                "running" => pipeline.status == Status::Running,
                "pending" => pipeline.status == Status::Pending,
                "finished" => pipeline.status.is_finished(),
                _ => newest.as_ref().is_none_or(|newest| newest.get(&pipeline.ref_name) == Some(&pipeline.id)),
            }
            && (status.is_empty() || pipeline.status.as_str() == status)
            && is(&input.r#ref, &pipeline.ref_name)
            && is(&input.sha, &pipeline.sha)
            && is(&input.source, source(pipeline))
            && input.username.as_deref().is_none_or(|name| name.is_empty() || started_by(pipeline, name))
            && input.yaml_errors.is_none_or(|wanted| wanted == pipeline.yaml_errors.is_some())
            && updated.contains(updated_at(pipeline))
    };
    let mut rows: Vec<&records::Pipeline> = call.world.pipelines.iter().filter(fits).collect();
    match by.as_str() {
        "status" => stable_sort(&mut rows, descending, |row| row.status.as_str()),
        "ref" => stable_sort(&mut rows, descending, |row| row.ref_name.clone()),
        "updated_at" => stable_sort(&mut rows, descending, |row| updated_at(row)),
        "user_id" => stable_sort(&mut rows, descending, |row| row.user),
        _ => stable_sort(&mut rows, descending, |row| row.id),
    }
    call.page(rows, |pipeline| call.show_pipeline(pipeline))
}

fn get(call: &ReadCall, input: GetPipeline) -> Outcome<Pipeline> {
    let (_, pipeline) = call.pipeline(&input.id, input.pipeline_id)?;
    ok(call.show_pipeline_detail(pipeline))
}

/// Returns the project if the caller may run jobs in it.
pub fn authorize(call: &WriteCall, id: &Id) -> Result<Project, Rejection> {
    let project = call.project_as(id, level::DEVELOPER)?;
    if project.archived || project.jobs_disabled { Err(Rejection::forbidden()) } else { Ok(project.clone()) }
}

/// Returns the jobs for a new pipeline of a project without a CI configuration: those of the project's schedule, or else of
/// its latest pipeline with jobs, as a world file defines them.
fn planned(world: &World, project: u64, ref_name: &str) -> Vec<Planned> {
    if let Some(schedule) = world.schedules.iter().find(|schedule| schedule.project == project) {
        return schedule.jobs.clone();
    }
    let has_jobs = |pipeline: &&records::Pipeline| {
        pipeline.project == project && world.pipeline_jobs(pipeline.id).next().is_some()
    };
    let newest = |on_ref: bool| {
        world.top_level_pipelines().rev().filter(has_jobs).find(|pipeline| !on_ref || pipeline.ref_name == ref_name)
    };
    let Some(last) = newest(true).or_else(|| newest(false)) else { return Vec::new() };
    let mut jobs: Vec<&Job> = world.jobs.iter().filter(|job| job.pipeline == last.id).collect();
    // A retried job keeps its first position, with the properties of its latest run.
    let mut out: Vec<Planned> = Vec::new();
    jobs.sort_by_key(|job| job.id);
    for job in jobs {
        let plan = Planned {
            name: job.name.clone(),
            stage: job.stage.clone(),
            script: job.script.clone(),
            manual: job.manual,
            is_blocking: job.is_blocking,
            when: job.when,
            delay: job.delay,
            needs: job.needs.clone(),
            allow_failure: job.allow_failure,
            environment: job.environment.clone(),
            runner: None,
            tag_list: job.tag_list.clone(),
            triggers: Vec::new(),
        };
        match out.iter_mut().find(|known| known.name == plan.name) {
            Some(known) => *known = plan,
            None => out.push(plan),
        }
    }
    for bridge in world.pipeline_bridges(last.id) {
        let (name, stage, triggers) = (bridge.name.clone(), bridge.stage.clone(), bridge.jobs.clone());
        let at = out.iter().rposition(|plan| plan.stage == stage).map_or(out.len(), |at| at + 1);
        out.insert(at, Planned { name, stage, triggers, ..Planned::default() });
    }
    out
}

fn create(call: &mut WriteCall, input: CreatePipeline) -> Outcome<Pipeline> {
    let project = authorize(call, &input.id)?;
    let mut variables = Vec::new();
    for variable in input.variables.unwrap_or_default() {
        check_variable(call, &variable)?;
        let is_file = variable.variable_type.as_deref() == Some("file");
        variables.push(records::Variable { key: variable.key, value: variable.value, is_file });
    }
    let inputs = input.inputs.unwrap_or_default().into_iter().collect();
    let id = run_on(call, &project, &input.r#ref, "api", variables, &inputs)?;
    show_by_id(call, id)
}

/// Runs a pipeline as the caller on a branch or tag, by short or full name. Returns its ID.
///
/// # Errors
/// Fails with 400 if there is no such ref, if the caller may not run pipelines on it, and if there are no jobs to run.
pub fn run_on(
    call: &mut WriteCall,
    project: &Project,
    name: &str,
    source: &str,
    variables: Vec<records::Variable>,
    inputs: &Inputs,
) -> Result<u64, Rejection> {
    let user = call.require_user()?.id;
    let git = call.git(project)?;
    let (ref_name, commit, tag) = call.ref_of(&git, name)?;
    if !tag && !call.rights.can_merge_into(call.world, project, &ref_name) {
        return Err(pipeline_error(&format!(
            "You do not have sufficient permission to run a pipeline on '{ref_name}'. Please select a different branch \
             or contact your administrator for assistance."
        )));
    }
    run(call, project, (ref_name, commit, tag), (user, source), variables, inputs)
}

/// Runs a pipeline on a branch or tag: its short name, its commit, and whether it is a tag. `user` and `source` start it.
/// Returns its ID.
///
/// # Errors
/// Fails with 400 if there are no jobs to run.
pub fn run(
    call: &mut WriteCall,
    project: &Project,
    (ref_name, commit, tag): (String, Oid, bool),
    (user, source): (u64, &str),
    variables: Vec<records::Variable>,
    inputs: &Inputs,
) -> Result<u64, Rejection> {
    let (is_tag, base) = (tag, None);
    let new = NewPipeline { ref_name: &ref_name, is_tag, commit, base, source, variables: &variables, inputs };
    let git = call.git(project)?;
    let configured = call.configured_jobs(project, &git, &new).transpose().map_err(|why| pipeline_error(&why))?;
    let jobs = configured.unwrap_or_else(|| planned(call.world, project.id, &ref_name));
    if jobs.is_empty() {
        return Err(pipeline_error("Missing CI config file"));
    }
    let (sha, at, source) = (commit.to_string(), call.now, source.to_owned());
    let plan = PipelinePlan { project: project.id, user, ref_name, sha, tag, at, source };
    let id = runner::start(call.world, &plan, &jobs);
    if let Some(pipeline) = call.world.pipelines.get_mut(id) {
        pipeline.variables = variables;
    }
    Ok(id)
}

fn latest(call: &ReadCall, input: GetLatestPipeline) -> Outcome<Pipeline> {
    let project = call.project_jobs(&input.id)?;
    let git = call.git(project)?;
    let name = input.r#ref.filter(|name| !name.is_empty()).or_else(|| project.default_branch.clone());
    let name = name.unwrap_or_default();
    let head = git.branch_head(&name).or_else(|| git.tag(&name).map(|tag| tag.commit)).map(|id| id.to_string());
    let is_it = |p: &&records::Pipeline| p.project == project.id && p.ref_name == name && Some(&p.sha) == head.as_ref();
    let found = call.world.top_level_pipelines().rev().find(is_it);
    // GitLab names no object here.
    let pipeline = found.ok_or_else(|| Rejection::message(403, "403 Forbidden"))?;
    ok(call.show_pipeline_detail(pipeline))
}

fn set_metadata(call: &mut WriteCall, input: SetPipelineMetadata) -> Outcome<Pipeline> {
    authorize(call, &input.id)?;
    let id = call.pipeline(&input.id, input.pipeline_id)?.1.id;
    if input.name.chars().count() > MAX_NAME {
        let why = format!("Failed to update pipeline - Name is too long (maximum is {MAX_NAME} characters)");
        return Err(Rejection::bad_request(why));
    }
    if let Some(pipeline) = call.world.pipelines.get_mut(id) {
        pipeline.name = Some(input.name).filter(|name| !name.is_empty());
    }
    show_by_id(call, id)
}

fn create_for_merge_request(call: &mut WriteCall, input: CreateMergeRequestPipeline) -> Outcome<Pipeline> {
    let (_, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    let (source, ref_name, is_open) = (mr.source_project, mr.source_branch.clone(), mr.state == State::Opened);
    let project = authorize(call, &source.into())?;
    let mr = mr.clone();
    let git = call.git(&project)?;
    let not_possible = || Rejection::message(405, "405 Method Not Allowed");
    let commit = git.branch_head(&ref_name).filter(|_| is_open).ok_or_else(not_possible)?;
    let user = call.require_user()?.id;
    let id = match call.is_configured(&project, &git, commit) {
        true => call.start_merge_request_pipeline(&mr).ok_or_else(not_possible)?,
        false => run(call, &project, (ref_name, commit, false), (user, "merge_request_event"), Vec::new(), NO_INPUTS)?,
    };
    Ok(show_by_id(call, id)?.status(200))
}

pub fn show_by_id(call: &WriteCall, id: u64) -> Outcome<Pipeline> {
    let pipeline = call.world.pipelines.get(id).ok_or_else(Rejection::record_not_found)?;
    ok(call.show_pipeline_detail(pipeline))
}

fn retry(call: &mut WriteCall, input: RetryPipeline) -> Outcome<Pipeline> {
    authorize(call, &input.id)?;
    let (id, user) = (call.pipeline(&input.id, input.pipeline_id)?.1.id, call.require_user()?.id);
    runner::retry_pipeline(call.world, id, user, call.now);
    show_by_id(call, id)
}

fn cancel(call: &mut WriteCall, input: CancelPipeline) -> Outcome<Pipeline> {
    authorize(call, &input.id)?;
    let id = call.pipeline(&input.id, input.pipeline_id)?.1.id;
    runner::cancel_pipeline(call.world, id, call.now);
    Ok(show_by_id(call, id)?.status(200))
}

fn delete(call: &mut WriteCall, input: DeletePipeline) -> Outcome<NoContent> {
    call.project_as(&input.id, level::OWNER)?;
    let (_, pipeline) = call.pipeline(&input.id, input.pipeline_id)?;
    call.check_unmodified(updated_at(pipeline))?;
    let id = pipeline.id;
    runner::remove_pipeline(call.world, id);
    Ok(Answer::new(NoContent))
}

fn variables(call: &ReadCall, input: ListPipelineVariables) -> Outcome<Vec<PipelineVariable>> {
    let (project, pipeline) = call.pipeline(&input.id, input.pipeline_id)?;
    let level = call.rights.level(call.world, project);
    let is_own = pipeline.user.is_some() && pipeline.user == call.rights.user;
    if level < level::DEVELOPER || level < level::MAINTAINER && !is_own {
        return Err(Rejection::forbidden());
    }
    ok(pipeline.variables.iter().map(show_variable).collect())
}

pub fn show_variable(variable: &records::Variable) -> PipelineVariable {
    PipelineVariable {
        key: variable.key.clone(),
        value: variable.value.clone(),
        variable_type: if variable.is_file { "file" } else { "env_var" }.into(),
        raw: Some(false),
    }
}

fn trigger_jobs(call: &ReadCall, input: ListPipelineBridges) -> Outcome<Vec<api::jobs::Job>> {
    if call.version < Version::V19 {
        return Err(Rejection::error(404, "404 Not Found"));
    }
    bridges(call, input)
}

fn bridges(call: &ReadCall, input: ListPipelineBridges) -> Outcome<Vec<api::jobs::Job>> {
    let scope = scope(input.scope.as_ref())?;
    let (project, pipeline) = call.pipeline(&input.id, input.pipeline_id)?;
    let fits = |bridge: &&Bridge| scope.as_ref().is_none_or(|scope| scope.contains(&bridge.status));
    let mut rows: Vec<&Bridge> = call.world.pipeline_bridges(pipeline.id).filter(fits).collect();
    stable_sort(&mut rows, true, |bridge| bridge.id);
    let git = call.git(project).ok();
    call.page(rows, |bridge| call.show_bridge(bridge, git.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_periods_do_not_count() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let seconds = |periods: &[(i64, i64)]| covered_seconds(periods.iter().map(|(a, b)| (at(*a), at(*b))).collect());
        assert_eq!(seconds(&[(0, 10), (5, 20), (100, 130)]), 50.0);
        assert_eq!(seconds(&[(5, 6), (0, 10)]), 10.0);
        assert_eq!(seconds(&[]), 0.0);
    }
}
