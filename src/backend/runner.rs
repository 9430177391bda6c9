//! The life of jobs: the actions on them, and the simulated runner of the demo.
//!
//! No task runs behind a running job. Its trace and its end follow from its start and its [`Script`], so [`advance`]
//! brings the world up to any time, however long ago the last request was.

use super::demo::script;
use super::records::{
    Artifacts, Bridge, Deployment, Environment, Job, JobWhen, PARENT_PIPELINE, Pipeline, Planned, Runner, RunnerAccess,
    Script, Status,
};
use super::variables;
use super::world::World;
use jiff::{SignedDuration, Timestamp};
use std::io::{self, Write};
use std::sync::Arc;

/// The seconds that a job waits for its runner.
const QUEUE_SECONDS: i64 = 2;
/// The maximum number of transitions per call: a pipeline has about ten jobs with three each.
const MAX_TRANSITIONS: usize = 400;

/// Advances jobs with scripts, their pipelines, and the schedules to `now`. Returns the time of the next transition if
/// nothing else changes; `None` if there is none.
pub fn advance(world: &mut World, now: Timestamp) -> Option<Timestamp> {
    let mut next = make_due_transitions(world, now);
    let mut pauses = None;
    for id in world.schedules.iter().map(|schedule| schedule.id).collect::<Vec<_>>() {
        match start_next(world, id, now) {
            ScheduleStep::Started => next = make_due_transitions(world, now),
            ScheduleStep::At(at) => pauses = earliest(pauses, Some(at)),
            ScheduleStep::Never => {}
        }
    }
    earliest(next, pauses)
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}

/// Makes all transitions that are due. Returns the time of the next one.
fn make_due_transitions(world: &mut World, now: Timestamp) -> Option<Timestamp> {
    for _ in 0..MAX_TRANSITIONS {
        if start_downstream(world, now) {
            continue;
        }
        let live = world.jobs.iter().filter(|job| job.script.is_some() && !job.retried && job.status.goes_on());
        let mut next = None;
        let due = live.filter_map(|job| Some((job.id, next_of(world, job)?))).find(|(_, (_, at))| {
            next = earliest(next, Some(*at));
            *at <= now
        });
        let Some((id, (status, at))) = due else { return next };
        let coverage = world.jobs.get(id).and_then(|job| script_of(world, job)).and_then(|script| script.coverage);
        let left = world.jobs.get(id).and_then(|job| artifacts(world, job, at));
        let Some(job) = world.jobs.get_mut(id) else { return Some(now) };
        job.status = status;
        match status {
            Status::Scheduled => job.scheduled_at = Some(at),
            Status::Pending => job.queued_at = Some(at),
            Status::Running => job.started_at = Some(at),
            _ if status.is_finished() => {
                job.finished_at = Some(at);
                job.coverage = coverage.filter(|_| status == Status::Success);
                // Artifacts of an erased job stay erased.
                job.artifacts = left.filter(|_| job.erased_at.is_none());
            }
            _ => {}
        }
        let (pipeline, job) = (job.pipeline, job.clone());
        if status == Status::Running {
            let runner = runner_for(world, &job);
            if let Some(job) = world.jobs.get_mut(id) {
                job.runner = runner;
            }
            if let Some(runner) = runner.and_then(|id| world.runners.get_mut(id)) {
                runner.contacted_at = runner.contacted_at.max(Some(at));
            }
        }
        match status {
            Status::Success => deploy(world, &job, at),
            Status::Manual => block(world, &job, at),
            _ => {}
        }
        world.update_pipeline_status(pipeline);
    }
    Some(now)
}

/// Returns the next transition of a job, and its time.
fn next_of(world: &World, job: &Job) -> Option<(Status, Timestamp)> {
    Some(match job.status {
        Status::Created => {
            let earlier = match &job.needs {
                Some(needs) => needed_jobs(world, job, needs)?,
                None => earlier_stages(world, job.pipeline, &job.stage, job.created_at)?,
            };
            let (is_due, at) = match earlier {
                EarlierStages::Passed(at) => (job.when != JobWhen::OnFailure, at),
                EarlierStages::Broken(at) => (job.when != JobWhen::OnSuccess, at),
            };
            match is_due {
                true if job.manual || needs_approval(world, job) => (Status::Manual, at),
                true if job.delay.is_some() => (Status::Scheduled, at),
                true => (Status::Pending, at),
                false => (Status::Skipped, at),
            }
        }
        Status::Scheduled => {
            let delay = i64::try_from(job.delay.unwrap_or_default()).unwrap_or(i64::MAX);
            (Status::Pending, saturating_add(job.scheduled_at?, SignedDuration::from_secs(delay)))
        }
        Status::Pending => {
            runner_for(world, job)?;
            (
                Status::Running,
                saturating_add(job.queued_at.unwrap_or(job.created_at), SignedDuration::from_secs(QUEUE_SECONDS)),
            )
        }
        Status::Running => {
            let script = script_of(world, job)?;
            let length = script::Script::parse(&script.text).duration();
            (
                script.status,
                saturating_add(job.started_at?, SignedDuration::from_nanos(i64::try_from(length).unwrap_or(i64::MAX))),
            )
        }
        _ => return None,
    })
}

/// Adds a duration to a time, saturating at the end of time: world files may contain any time.
pub fn saturating_add(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(at)
}

/// The outcome of the stages before a job's own, and the time when they ended.
enum EarlierStages {
    Passed(Timestamp),
    Broken(Timestamp),
}

/// Returns the position of a stage in its pipeline: the ID of its first job. Retried jobs count, so that the order of
/// stages does not change.
fn stage_rank(world: &World, pipeline: u64, name: &str) -> Option<u64> {
    let jobs = world.jobs.iter().filter(|job| job.pipeline == pipeline && job.stage == name).map(|job| job.id);
    let of_stage = |bridge: &&Bridge| bridge.pipeline == pipeline && bridge.stage == name;
    jobs.chain(world.bridges.iter().filter(of_stage).map(|bridge| bridge.id)).min()
}

/// Returns the outcome of the stages before `stage` for a job that was created at `at`; `None` while one of them is
/// running.
fn earlier_stages(world: &World, pipeline: u64, stage: &str, at: Timestamp) -> Option<EarlierStages> {
    let own = stage_rank(world, pipeline, stage);
    // A job that is skipped because of a failure follows the job that failed.
    let earlier = world.pipeline_jobs(pipeline).filter(|other| stage_rank(world, pipeline, &other.stage) < own);
    outcome(earlier, at, |status| matches!(status, Status::Failed | Status::Canceled))
}

/// Returns the outcome of the jobs that a job needs; `None` while one of them is running.
fn needed_jobs(world: &World, job: &Job, needs: &[String]) -> Option<EarlierStages> {
    let needed = world.pipeline_jobs(job.pipeline).filter(|other| needs.contains(&other.name));
    outcome(needed, job.created_at, |status| matches!(status, Status::Failed | Status::Canceled | Status::Skipped))
}

/// Returns the outcome of jobs, for one that was created at `at`; `None` while one of them is running or holds up others.
fn outcome<'w>(
    jobs: impl Iterator<Item = &'w Job>,
    mut at: Timestamp,
    is_broken: impl Fn(Status) -> bool,
) -> Option<EarlierStages> {
    let mut broken = false;
    for other in jobs {
        match other.status {
            status if status.goes_on() => return None,
            Status::Manual if other.is_blocking => return None,
            status if is_broken(status) && !other.allow_failure => broken = true,
            _ => {}
        }
        at = at.max(other.finished_at.unwrap_or(at));
    }
    Some(if broken { EarlierStages::Broken(at) } else { EarlierStages::Passed(at) })
}

/// Starts the pipeline of the first trigger job that is due by `now`, or skips the job. Returns whether there was one.
fn start_downstream(world: &mut World, now: Timestamp) -> bool {
    let waits = world.bridges.iter().filter(|bridge| bridge.status == Status::Created && !bridge.retried);
    let due =
        waits.filter_map(|bridge| match earlier_stages(world, bridge.pipeline, &bridge.stage, bridge.created_at)? {
            EarlierStages::Passed(at) if at <= now => Some((bridge.clone(), Some(at))),
            EarlierStages::Broken(at) if at <= now => Some((bridge.clone(), None)),
            _ => None,
        });
    let Some((bridge, at)) = due.into_iter().next() else { return false };
    match at {
        Some(at) => _ = trigger(world, &bridge, at),
        None => {
            if let Some(bridge) = world.bridges.get_mut(bridge.id) {
                bridge.status = Status::Skipped;
            }
        }
    }
    world.update_pipeline_status(bridge.pipeline);
    true
}

/// Starts the pipeline of a trigger job, which succeeds with that. Returns the ID of the pipeline.
pub fn trigger(world: &mut World, bridge: &Bridge, at: Timestamp) -> Option<u64> {
    let parent = world.pipelines.get(bridge.pipeline)?;
    let plan = PipelinePlan {
        project: parent.project,
        user: bridge.user.or(parent.user).unwrap_or_default(),
        ref_name: parent.ref_name.clone(),
        sha: parent.sha.clone(),
        tag: parent.tag,
        at,
        source: PARENT_PIPELINE.into(),
    };
    let child = start(world, &plan, &bridge.jobs);
    if let Some(bridge) = world.bridges.get_mut(bridge.id) {
        bridge.status = Status::Success;
        bridge.finished_at = Some(at);
        bridge.downstream = Some(child);
    }
    Some(child)
}

/// Retries a trigger job by adding a new one that replaces it. Returns the new ID.
pub fn retry_bridge(world: &mut World, id: u64, user: u64, now: Timestamp) -> Option<u64> {
    let old = world.bridges.get(id)?.clone();
    world.bridges.get_mut(id)?.retried = true;
    let new = Bridge {
        id: world.jobs.next_id(),
        status: Status::Created,
        user: Some(user),
        created_at: now,
        finished_at: None,
        retried: false,
        downstream: None,
        ..old
    };
    let pipeline = new.pipeline;
    let id = world.bridges.add(new);
    world.update_pipeline_status(pipeline);
    Some(id)
}

fn script_of<'w>(world: &'w World, job: &Job) -> Option<&'w Script> {
    let name = job.script.as_deref()?;
    world.scripts.iter().find(|script| script.name == name)
}

/// Returns the artifacts of a job that ends at `at`.
pub fn artifacts(world: &World, job: &Job, at: Timestamp) -> Option<Artifacts> {
    let archive = world.archives.get(script_of(world, job)?.archive?)?;
    let expire_at = archive.expires_in.and_then(|seconds| at.checked_add(SignedDuration::from_secs(seconds)).ok());
    Some(Artifacts {
        filename: "artifacts.zip".into(),
        size: archive.bytes.len() as u64,
        expire_at,
        archive: archive.id,
    })
}

/// Returns whether a runner is active and its settings allow the job: its tags, whether it runs untagged jobs, and
/// whether it runs jobs of refs that are not protected.
fn takes(world: &World, runner: &Runner, job: &Job) -> bool {
    let is_protected = || {
        world.projects.get(job.project).is_some_and(|project| match job.tag {
            true => project.is_tag_protected(&job.ref_name),
            false => project.is_protected(&job.ref_name),
        })
    };
    runner.active
        && runner.contacted_at.is_some()
        && (runner.run_untagged || !job.tag_list.is_empty())
        && job.tag_list.iter().all(|tag| runner.tag_list.contains(tag))
        && (runner.access_level == RunnerAccess::NotProtected || is_protected())
}

/// Returns the ID of the runner of a job: the one that the world file names, else the first one that takes the job and
/// is enabled in its project, or shared unless the project has disabled shared runners.
fn runner_for(world: &World, job: &Job) -> Option<u64> {
    let project = world.projects.get(job.project)?;
    let serves = |runner: &Runner| match job.runner {
        Some(named) => runner.id == named,
        None => runner.projects.contains(&project.id) || (runner.is_shared && !project.shared_runners_disabled),
    };
    world.runners.iter().find(|runner| serves(runner) && takes(world, runner, job)).map(|runner| runner.id)
}

/// The trace of a job, generated when it is read.
pub struct GeneratedTrace {
    script: Arc<Script>,
    placeholders: script::Placeholders,
    playback: script::Playback,
    /// The text after the output of the script.
    end: &'static [u8],
}

/// The end of the trace of a job that was canceled while it ran.
const CANCELED: &[u8] = b"\n\x1b[31;1mERROR: Job failed: canceled\n\x1b[0;m";

/// Returns the trace of a job up to `now`; `None` if it has not started, was erased, or has no script.
pub fn trace(world: &World, job: &Job, now: Timestamp) -> Option<GeneratedTrace> {
    if job.erased_at.is_some() {
        return None;
    }
    let started = job.started_at?;
    let mut script = world.scripts.get_arc(script_of(world, job)?.id)?.clone();
    if let Some(text) = variables::mask(world, job, &script.text) {
        script = Arc::new(Script { text, ..(*script).clone() });
    }
    let nanos = |end: Timestamp| u128::try_from(end.duration_since(started).as_nanos()).unwrap_or(0);
    let own = script::Script::parse(&script.text).duration();
    let (elapsed, total) = match (job.status, job.finished_at) {
        // A canceled job ran at the pace of its script.
        (Status::Canceled, Some(end)) => (Some(nanos(end)).filter(|elapsed| *elapsed < own), own),
        // A job from the past took as long as its record says.
        (_, Some(end)) => (None, nanos(end)),
        (_, None) => (Some(nanos(now)), own),
    };
    let end: &[u8] = if job.status == Status::Canceled && elapsed.is_some() { CANCELED } else { b"" };
    let runner = job.runner.and_then(|id| world.runners.get(id));
    let placeholders = script::Placeholders {
        id: job.id,
        sha: job.sha.clone(),
        ref_name: job.ref_name.clone(),
        project: world.projects.get(job.project).map(|project| world.project_path(project)).unwrap_or_default(),
        runner: runner.map_or_else(|| "none".into(), |runner| runner.description.clone()),
        token: super::auth::job_token(world, job.id).unwrap_or_default(),
    };
    Some(GeneratedTrace { script, placeholders, playback: script::Playback { started, elapsed, total }, end })
}

impl GeneratedTrace {
    /// Returns the total length in bytes.
    pub fn length(&self) -> u64 {
        script::Script::parse(&self.script.text).len(&self.placeholders, &self.playback) + self.end.len() as u64
    }

    /// Writes the trace, starting at a byte offset.
    ///
    /// # Errors
    /// Fails if the writer does.
    pub fn write(&self, from: u64, out: &mut dyn Write) -> io::Result<()> {
        let printed = script::Script::parse(&self.script.text);
        printed.write(&self.placeholders, &self.playback, from, out)?;
        let skip = from.saturating_sub(printed.len(&self.placeholders, &self.playback));
        out.write_all(self.end.get(usize::try_from(skip).unwrap_or(usize::MAX)..).unwrap_or_default())
    }
}

/// Returns the ID of the environment of a job, if it exists.
fn environment_of(world: &World, job: &Job) -> Option<u64> {
    let name = job.environment.as_ref()?;
    world.environments.iter().find(|e| e.project == job.project && e.name == *name).map(|e| e.id)
}

/// Returns whether a job deploys to an environment whose deployments need approvals.
fn needs_approval(world: &World, job: &Job) -> bool {
    let environment = environment_of(world, job).and_then(|id| world.environments.get(id));
    environment.is_some_and(|environment| environment.required_approvals > 0)
}

/// Returns the status of the deployment of a job: `blocked` while it waits for approvals.
fn deployment_status(world: &World, job: u64) -> Option<&str> {
    world.deployments.iter().rev().find(|row| row.job == Some(job)).map(|row| row.status.as_str())
}

/// Adds the deployment of a job that waits for approvals, if its environment needs them.
pub fn block(world: &mut World, job: &Job, at: Timestamp) {
    if needs_approval(world, job) {
        add_deployment(world, job, at, "blocked");
    }
}

/// Adds a deployment of a job's commit to its environment, or completes the one that was approved.
pub fn deploy(world: &mut World, job: &Job, at: Timestamp) {
    let waiting = world.deployments.iter().find(|row| row.job == Some(job.id)).map(|row| row.id);
    match waiting.and_then(|id| world.deployments.get_mut(id)) {
        Some(approved) => approved.status.clear(),
        None => add_deployment(world, job, at, ""),
    }
}

fn add_deployment(world: &mut World, job: &Job, at: Timestamp, status: &str) {
    let Some(name) = &job.environment else { return };
    let known = environment_of(world, job);
    if let Some(environment) = known.and_then(|id| world.environments.get_mut(id)) {
        environment.is_stopped = false;
    }
    let environment = known.unwrap_or_else(|| {
        let external_url = Some(format!("https://{name}.acme.example"));
        world.environments.add(Environment {
            project: job.project,
            name: name.clone(),
            external_url,
            ..Environment::default()
        })
    });
    let iid = world.deployments.iter().filter(|d| d.project == job.project).map(|d| d.iid).max().unwrap_or(0) + 1;
    world.deployments.add(Deployment {
        id: 0,
        iid,
        project: job.project,
        environment,
        ref_name: job.ref_name.clone(),
        sha: job.sha.clone(),
        user: job.user.unwrap_or(0),
        job: Some(job.id),
        created_at: at,
        status: status.to_owned(),
        approvals: Vec::new(),
    });
}

/// Fails the job of a deployment that was rejected.
pub fn reject(world: &mut World, id: u64, now: Timestamp) {
    let Some(job) = world.jobs.get_mut(id) else { return };
    (job.status, job.started_at, job.finished_at) = (Status::Failed, None, Some(now));
    let pipeline = job.pipeline;
    world.update_pipeline_status(pipeline);
}

/// The outcome of a step of a schedule.
enum ScheduleStep {
    Started,
    /// The next pipeline starts at that time.
    At(Timestamp),
    /// No step will follow until something else changes.
    Never,
}

/// Starts the next pipeline of a schedule if the last one has ended and the pause is over.
fn start_next(world: &mut World, id: u64, now: Timestamp) -> ScheduleStep {
    let Some(schedule) = world.schedules.get(id).cloned() else { return ScheduleStep::Never };
    if world.projects.get(schedule.project).is_none() {
        return ScheduleStep::Never;
    }
    let earliest = saturating_add(now, -SignedDuration::from_secs(schedule.head_start.into()));
    let at = match schedule.pipeline {
        None => earliest,
        Some(last) => {
            if world.pipeline_jobs(last).any(|job| job.status.goes_on()) {
                // The transitions of its jobs determine when to look again.
                return ScheduleStep::Never;
            }
            let end = world.pipeline_jobs(last).filter_map(|job| job.finished_at).max();
            let pause = SignedDuration::from_secs(schedule.pause.into());
            // After a long time without requests, start one pipeline, not all that were missed.
            let next = end.map_or(now, |end| saturating_add(end, pause)).max(earliest);
            if next > now {
                return ScheduleStep::At(next);
            }
            next
        }
    };
    let turn = usize::try_from(schedule.turn).unwrap_or(0) % schedule.refs.len().max(1);
    let Some((ref_name, sha)) = schedule.refs.get(turn).cloned() else { return ScheduleStep::Never };
    let plan = PipelinePlan {
        project: schedule.project,
        user: schedule.user,
        ref_name,
        sha,
        tag: false,
        at,
        source: "schedule".into(),
    };
    let pipeline = start(world, &plan, &schedule.jobs);
    if let Some(schedule) = world.schedules.get_mut(id) {
        schedule.turn += 1;
        schedule.pipeline = Some(pipeline);
    }
    ScheduleStep::Started
}

/// The common properties of the jobs of a new pipeline.
#[derive(Clone)]
pub struct PipelinePlan {
    pub project: u64,
    /// The ID of the user who starts it.
    pub user: u64,
    /// The branch or tag.
    pub ref_name: String,
    pub sha: String,
    /// Whether the ref is a tag.
    pub tag: bool,
    /// The creation time.
    pub at: Timestamp,
    /// The event that started it; empty means a push.
    pub source: String,
}

/// Creates a pipeline whose jobs are all created and wait for their stage.
pub fn start(world: &mut World, plan: &PipelinePlan, jobs: &[Planned]) -> u64 {
    let pipeline = world.add_pipeline(Pipeline {
        project: plan.project,
        ref_name: plan.ref_name.clone(),
        tag: plan.tag,
        sha: plan.sha.clone(),
        user: Some(plan.user),
        created_at: plan.at,
        source: plan.source.clone(),
        ..Pipeline::default()
    });
    for job in jobs {
        if !job.triggers.is_empty() {
            let id = world.jobs.next_id();
            world.bridges.add(Bridge {
                id,
                project: plan.project,
                pipeline,
                name: job.name.clone(),
                stage: job.stage.clone(),
                user: Some(plan.user),
                created_at: plan.at,
                jobs: job.triggers.clone(),
                ..Bridge::default()
            });
            continue;
        }
        world.jobs.add(Job {
            project: plan.project,
            pipeline,
            name: job.name.clone(),
            stage: job.stage.clone(),
            ref_name: plan.ref_name.clone(),
            tag: plan.tag,
            sha: plan.sha.clone(),
            user: Some(plan.user),
            runner: job.runner,
            created_at: plan.at,
            allow_failure: job.allow_failure,
            manual: job.manual,
            is_blocking: job.is_blocking,
            when: job.when,
            delay: job.delay,
            needs: job.needs.clone(),
            tag_list: job.tag_list.clone(),
            environment: job.environment.clone(),
            script: job.script.clone(),
            ..Job::default()
        });
    }
    pipeline
}

/// Cancels a job, whatever its status (specification, "Job").
pub fn cancel(world: &mut World, id: u64, now: Timestamp) {
    let Some(job) = world.jobs.get_mut(id) else { return };
    job.status = Status::Canceled;
    job.finished_at = job.finished_at.or(Some(now));
    let pipeline = job.pipeline;
    world.update_pipeline_status(pipeline);
}

/// Retries a job by adding a new one that replaces all of the same name; those that have not finished are canceled.
/// Returns the new ID, or `None` if the job does not exist.
pub fn retry(world: &mut World, id: u64, user: u64, now: Timestamp) -> Option<u64> {
    let old = world.jobs.get(id)?.clone();
    let replaced: Vec<u64> =
        world.pipeline_jobs(old.pipeline).filter(|job| job.name == old.name).map(|job| job.id).collect();
    for id in replaced {
        if let Some(job) = world.jobs.get_mut(id) {
            if !job.status.is_finished() && job.status != Status::Skipped {
                job.status = Status::Canceled;
                job.finished_at = Some(now);
            }
            job.retried = true;
        }
    }
    let new = world.jobs.add(Job {
        id: 0,
        status: Status::Pending,
        created_at: now,
        queued_at: Some(now),
        started_at: None,
        finished_at: None,
        erased_at: None,
        coverage: None,
        artifacts: None,
        retried: false,
        user: Some(user),
        // A runner that has been removed cannot take the job.
        runner: old.runner.filter(|runner| world.runners.get(*runner).is_some()),
        ..old.clone()
    });
    // Jobs that were skipped because of the old one can run after all.
    let own = stage_rank(world, old.pipeline, &old.stage);
    let is_later = |world: &World, stage: &str| stage_rank(world, old.pipeline, stage) > own;
    let skipped = world.pipeline_jobs(old.pipeline).filter(|job| job.status == Status::Skipped);
    let waiting: Vec<u64> = skipped.filter(|job| is_later(world, &job.stage)).map(|job| job.id).collect();
    let skipped = world.pipeline_bridges(old.pipeline).filter(|bridge| bridge.status == Status::Skipped);
    let triggers: Vec<u64> = skipped.filter(|one| is_later(world, &one.stage)).map(|one| one.id).collect();
    for id in triggers {
        if let Some(bridge) = world.bridges.get_mut(id) {
            bridge.status = Status::Created;
        }
    }
    for id in waiting {
        if let Some(job) = world.jobs.get_mut(id) {
            job.status = Status::Created;
        }
    }
    world.update_pipeline_status(old.pipeline);
    Some(new)
}

/// Cancels the unfinished jobs of a pipeline and its child pipelines.
pub fn cancel_pipeline(world: &mut World, pipeline: u64, now: Timestamp) {
    let ids: Vec<u64> = world.pipeline_jobs(pipeline).filter(|job| job.status.goes_on()).map(|job| job.id).collect();
    for id in ids {
        cancel(world, id, now);
    }
    let triggers: Vec<(u64, Option<u64>)> =
        world.pipeline_bridges(pipeline).map(|bridge| (bridge.id, bridge.downstream)).collect();
    for (id, downstream) in triggers {
        match downstream {
            Some(child) => cancel_pipeline(world, child, now),
            None => {
                if let Some(bridge) = world.bridges.get_mut(id).filter(|bridge| bridge.status == Status::Created) {
                    (bridge.status, bridge.finished_at) = (Status::Canceled, Some(now));
                }
            }
        }
    }
    world.update_pipeline_status(pipeline);
}

/// Removes a pipeline with its jobs and its child pipelines.
pub fn remove_pipeline(world: &mut World, pipeline: u64) {
    let children: Vec<u64> = world
        .bridges
        .remove_where(|bridge| bridge.pipeline == pipeline)
        .iter()
        .filter_map(|one| one.downstream)
        .collect();
    world.pipelines.remove(pipeline);
    world.jobs.remove_where(|job| job.pipeline == pipeline);
    world.commit_statuses.remove_where(|status| status.pipeline == pipeline);
    for child in children {
        remove_pipeline(world, child);
    }
}

/// Retries the failed and canceled jobs of a pipeline, stage by stage.
pub fn retry_pipeline(world: &mut World, pipeline: u64, user: u64, now: Timestamp) {
    let is_due = |job: &&Job| matches!(job.status, Status::Failed | Status::Canceled);
    let ids: Vec<u64> = world.pipeline_jobs(pipeline).filter(is_due).map(|job| job.id).collect();
    let again: Vec<u64> = ids.into_iter().filter_map(|id| retry(world, id, user, now)).collect();
    for id in again {
        if let Some(job) = world.jobs.get_mut(id) {
            // Each job waits for the stages before its own, and manual jobs wait to be started again.
            (job.status, job.queued_at) = (Status::Created, None);
        }
    }
    let is_due = |bridge: &&Bridge| bridge.status == Status::Canceled;
    let triggers: Vec<u64> = world.pipeline_bridges(pipeline).filter(is_due).map(|bridge| bridge.id).collect();
    for id in triggers {
        retry_bridge(world, id, user, now);
    }
    world.update_pipeline_status(pipeline);
}

/// Starts a manual job, or a delayed one at once. Returns `false` if the job is not waiting to be started.
pub fn play(world: &mut World, id: u64, user: u64, now: Timestamp) -> bool {
    let Some(job) = world.jobs.get(id) else { return false };
    if !matches!(job.status, Status::Manual | Status::Scheduled) || deployment_status(world, id) == Some("blocked") {
        return false;
    }
    let pipeline = job.pipeline;
    if let Some(job) = world.jobs.get_mut(id) {
        job.status = Status::Pending;
        job.queued_at = Some(now);
        job.user = Some(user);
    }
    world.update_pipeline_status(pipeline);
    true
}

/// Erases a job's trace and artifacts.
pub fn erase(world: &mut World, id: u64, now: Timestamp) {
    if let Some(job) = world.jobs.get_mut(id) {
        job.artifacts = None;
        job.erased_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Project, ProtectedBranch, Schedule};

    fn printed(world: &World, job: u64, now: Timestamp) -> String {
        let trace = trace(world, world.jobs.get(job).unwrap(), now).unwrap();
        let mut out = Vec::new();
        trace.write(0, &mut out).unwrap();
        assert_eq!(trace.length(), out.len() as u64);
        let mut tail = Vec::new();
        trace.write(out.len() as u64 - 3, &mut tail).unwrap();
        assert_eq!(tail, out[out.len() - 3..]);
        String::from_utf8(out).unwrap()
    }

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    /// Returns a world with two stages and a manual job; each script takes ten seconds.
    fn world(unit: Status) -> World {
        let mut world = World::default();
        let contacted_at = Some(time(0));
        let runner = Runner { active: true, is_shared: true, run_untagged: true, contacted_at, ..Runner::default() };
        world.runners.add(runner);
        for (name, status) in [("ok", Status::Success), ("unit", unit)] {
            let text = "@1 first\n@9 last".to_owned();
            world.scripts.add(Script { name: name.into(), text, status, ..Script::default() });
        }
        let job = |name: &str, stage: &str, script: &str| Planned {
            name: name.into(),
            stage: stage.into(),
            script: Some(script.into()),
            manual: name == "deploy",
            ..Planned::default()
        };
        let jobs = vec![job("compile", "build", "ok"), job("unit", "test", "unit"), job("deploy", "deploy", "ok")];
        let refs = vec![("main".into(), "1".repeat(40))];
        let project = world.projects.add(Project::default());
        world.schedules.add(Schedule { project, refs, jobs, pause: 20, head_start: 5, ..Schedule::default() });
        world
    }

    fn statuses(world: &World) -> Vec<(&str, &str)> {
        world.jobs.iter().map(|job| (job.name.as_str(), job.status.as_str())).collect()
    }

    #[test]
    fn pipeline_advances_stage_by_stage() {
        let mut world = world(Status::Success);
        advance(&mut world, time(0));
        assert_eq!(statuses(&world), [("compile", "running"), ("unit", "created"), ("deploy", "created")]);
        assert_eq!(printed(&world, 1, time(0)), "first\n", "it has been running for three seconds");
        advance(&mut world, time(8));
        assert_eq!(statuses(&world), [("compile", "success"), ("unit", "pending"), ("deploy", "created")]);
        assert_eq!(printed(&world, 1, time(99)), "first\nlast\n");
        advance(&mut world, time(19));
        assert_eq!(statuses(&world), [("compile", "success"), ("unit", "success"), ("deploy", "manual")]);
        assert_eq!(world.pipelines.get(1).unwrap().status, Status::Success);
        assert!(play(&mut world, 3, 1, time(20)) && !play(&mut world, 3, 1, time(20)));
        advance(&mut world, time(32));
        assert_eq!(world.jobs.get(3).unwrap().status, Status::Success);
    }

    /// GitLab: `Ci::ProcessBuildService` schedules a delayed job once its stage has come, and `Ci::PlayBuildService` starts
    /// it at once.
    #[test]
    fn a_delayed_job_is_scheduled_and_then_runs() {
        for plays in [false, true] {
            let mut world = world(Status::Success);
            world.schedules.get_mut(1).unwrap().jobs[1].delay = Some(60);
            advance(&mut world, time(0));
            advance(&mut world, time(8));
            assert_eq!(statuses(&world), [("compile", "success"), ("unit", "scheduled"), ("deploy", "created")]);
            assert_eq!(world.pipelines.get(1).unwrap().status, Status::Scheduled);
            if plays {
                assert!(play(&mut world, 2, 1, time(9)));
                advance(&mut world, time(12));
            } else {
                advance(&mut world, time(60));
                assert_eq!(world.jobs.get(2).unwrap().status, Status::Scheduled);
                advance(&mut world, time(71));
            }
            assert_eq!(world.jobs.get(2).unwrap().status, Status::Running, "{plays}");
            cancel_pipeline(&mut world, 1, time(72));
            assert_eq!(world.jobs.get(2).unwrap().status, Status::Canceled);
        }
    }

    #[test]
    fn advance_returns_the_time_of_the_next_change() {
        let mut world = world(Status::Success);
        let (mut at, mut steps) = (time(0), 0);
        while steps < 20 {
            let next = advance(&mut world, at).expect("a schedule goes on for ever");
            assert!(next > at);
            let _ = world.take_changes();
            let (mut before, mut then) = (world.clone(), world.clone());
            advance(&mut before, saturating_add(next, SignedDuration::from_nanos(-1)));
            assert!(before.take_changes().is_empty(), "before {next}");
            advance(&mut then, next);
            assert!(!then.take_changes().is_empty(), "at {next}");
            (at, steps) = (next, steps + 1);
        }
    }

    #[test]
    fn rare_and_frequent_advances_agree() {
        let (mut often, mut late) = (world(Status::Success), world(Status::Success));
        advance(&mut late, time(0));
        for second in 0..=25 {
            advance(&mut often, time(second));
        }
        advance(&mut late, time(25));
        let jobs = |world: &World| world.jobs.iter().cloned().collect::<Vec<_>>();
        assert_eq!(jobs(&often), jobs(&late));
    }

    #[test]
    fn failure_skips_later_jobs_and_retry_restores_them() {
        let mut world = world(Status::Failed);
        advance(&mut world, time(0));
        advance(&mut world, time(20));
        assert_eq!(statuses(&world), [("compile", "success"), ("unit", "failed"), ("deploy", "skipped")]);
        let new = retry(&mut world, 2, 1, time(21)).unwrap();
        assert_eq!(world.jobs.get(new).unwrap().status, Status::Pending);
        assert_eq!(world.jobs.get(3).unwrap().status, Status::Created);
        assert_eq!(world.pipelines.get(1).unwrap().status, Status::Running);
    }

    #[test]
    fn long_pause_starts_one_pipeline() {
        let mut world = world(Status::Success);
        advance(&mut world, time(0));
        advance(&mut world, time(86_400));
        assert_eq!(world.pipelines.len(), 2);
        assert_eq!(world.jobs.get(4).unwrap().status, Status::Running);
    }

    #[test]
    fn canceled_job_trace_ends_with_a_message() {
        let mut world = world(Status::Success);
        advance(&mut world, time(0));
        cancel(&mut world, 1, time(1));
        advance(&mut world, time(5));
        let trace = printed(&world, 1, time(5));
        assert!(trace.starts_with("first\n") && trace.contains("canceled") && !trace.contains("last"));
        assert_eq!(statuses(&world), [("compile", "canceled"), ("unit", "skipped"), ("deploy", "skipped")]);
        erase(&mut world, 1, time(6));
        assert!(super::trace(&world, world.jobs.get(1).unwrap(), time(7)).is_none());
    }

    #[test]
    fn paused_runner_takes_no_jobs() {
        let mut world = world(Status::Success);
        world.runners.get_mut(1).unwrap().active = false;
        advance(&mut world, time(0));
        advance(&mut world, time(60));
        assert_eq!(world.jobs.get(1).unwrap().status, Status::Pending);
    }

    #[test]
    fn a_runner_takes_only_the_jobs_that_its_settings_and_the_project_allow() {
        let is_taken = |change: &dyn Fn(&mut World)| {
            let mut world = world(Status::Success);
            change(&mut world);
            advance(&mut world, time(0));
            advance(&mut world, time(60));
            world.jobs.get(1).unwrap().started_at.is_some()
        };
        fn runner(world: &mut World) -> &mut Runner {
            world.runners.get_mut(1).unwrap()
        }
        fn project(world: &mut World) -> &mut Project {
            world.projects.get_mut(1).unwrap()
        }
        fn need_tag(world: &mut World) {
            for job in &mut world.schedules.get_mut(1).unwrap().jobs {
                job.tag_list = vec!["gpu".into()];
            }
        }
        let rule = |name: &str| ProtectedBranch { name: name.into(), ..ProtectedBranch::default() };
        assert!(is_taken(&|_| {}));
        assert!(!is_taken(&|world| runner(world).run_untagged = false));
        assert!(!is_taken(&need_tag));
        assert!(is_taken(&|world| {
            need_tag(world);
            runner(world).tag_list = vec!["gpu".into()];
            runner(world).run_untagged = false;
        }));
        assert!(!is_taken(&|world| runner(world).access_level = RunnerAccess::RefProtected));
        assert!(is_taken(&|world| {
            runner(world).access_level = RunnerAccess::RefProtected;
            project(world).protected_branches.push(rule("main"));
        }));
        assert!(!is_taken(&|world| project(world).shared_runners_disabled = true));
        assert!(is_taken(&|world| {
            project(world).shared_runners_disabled = true;
            runner(world).projects.insert(1);
        }));
        // The settings of a runner that the world file names count, too.
        assert!(!is_taken(&|world| {
            for job in &mut world.schedules.get_mut(1).unwrap().jobs {
                job.runner = Some(1);
            }
            runner(world).run_untagged = false;
        }));
    }
}
