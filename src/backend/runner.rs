//! How jobs live: what a person may do with one, and what the demo's runner does with it as time goes by.
//!
//! There is no task behind a running job. What it has printed and whether it has ended follow from when it started and
//! what its [`Script`] says, so [`advance`] brings the world up to any moment, however long nobody looked.

use super::demo::script;
use super::records::{Artifacts, Bridge, Deployment, Environment, Job, PARENT, Pipeline, Planned, Script, Status};
use super::world::World;
use jiff::{SignedDuration, Timestamp};
use std::io::{self, Write};
use std::sync::Arc;

/// Seconds that a job waits for its runner.
const QUEUE: i64 = 2;
/// Transitions that one call makes at most: a pipeline has some ten jobs with three each.
const MOST: usize = 400;

/// Brings jobs with scripts, their pipelines and traces, and the schedules up to `now`. When something happens by
/// itself next, if nobody changes anything before; `None` if nothing will.
pub fn advance(world: &mut World, now: Timestamp) -> Option<Timestamp> {
    let mut next = settle(world, now);
    let mut pauses = None;
    for id in world.schedules.iter().map(|schedule| schedule.id).collect::<Vec<_>>() {
        match start_next(world, id, now) {
            ScheduleStep::Started => next = settle(world, now),
            ScheduleStep::At(at) => pauses = earliest(pauses, Some(at)),
            ScheduleStep::Never => {}
        }
    }
    earliest(next, pauses)
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}

/// Makes every transition that is due; when the next one is.
fn settle(world: &mut World, now: Timestamp) -> Option<Timestamp> {
    let is_live = |status| matches!(status, Status::Created | Status::Pending | Status::Running);
    for _ in 0..MOST {
        if start_downstream(world, now) {
            continue;
        }
        let live = world.jobs.iter().filter(|job| job.script.is_some() && !job.retried && is_live(job.status));
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
            Status::Pending => job.queued_at = Some(at),
            Status::Running => job.started_at = Some(at),
            _ if status.is_finished() => {
                job.finished_at = Some(at);
                job.coverage = coverage.filter(|_| status == Status::Success);
                // What was erased stays so.
                job.artifacts = left.filter(|_| job.erased_at.is_none());
            }
            _ => {}
        }
        let (pipeline, job) = (job.pipeline, job.clone());
        if status == Status::Running {
            let runner = job.runner.or_else(|| any_runner(world, &job));
            if let Some(job) = world.jobs.get_mut(id) {
                job.runner = runner;
            }
            if let Some(runner) = runner.and_then(|id| world.runners.get_mut(id)) {
                runner.contacted_at = runner.contacted_at.max(Some(at));
            }
        }
        if status == Status::Success {
            deploy(world, &job, at);
        }
        world.settle_pipeline(pipeline);
    }
    Some(now)
}

/// The next transition of a job, and its moment.
fn next_of(world: &World, job: &Job) -> Option<(Status, Timestamp)> {
    Some(match job.status {
        Status::Created => match before(world, job.pipeline, &job.stage, job.created_at)? {
            EarlierStages::Passed(at) if job.manual => (Status::Manual, at),
            EarlierStages::Passed(at) => (Status::Pending, at),
            EarlierStages::Broken(at) => (Status::Skipped, at),
        },
        Status::Pending => {
            let runner = job.runner.or_else(|| any_runner(world, job))?;
            if !world.runners.get(runner)?.active {
                return None;
            }
            (Status::Running, later(job.queued_at.unwrap_or(job.created_at), SignedDuration::from_secs(QUEUE)))
        }
        Status::Running => {
            let script = script_of(world, job)?;
            let length = script::Script::parse(&script.text).duration();
            (
                script.status,
                later(job.started_at?, SignedDuration::from_nanos(i64::try_from(length).unwrap_or(i64::MAX))),
            )
        }
        _ => return None,
    })
}

/// A moment so long after another, or before it: at the end of time where it would be behind that. World files name any
/// moment.
pub fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(at)
}

/// How the stages before a job's own ended, and when.
enum EarlierStages {
    Passed(Timestamp),
    Broken(Timestamp),
}

/// Returns where a stage stands in its pipeline: where its first job stands; retried ones hold the place of their
/// followers.
fn stage_rank(world: &World, pipeline: u64, name: &str) -> Option<u64> {
    let jobs = world.jobs.iter().filter(|job| job.pipeline == pipeline && job.stage == name).map(|job| job.id);
    let of_stage = |bridge: &&Bridge| bridge.pipeline == pipeline && bridge.stage == name;
    jobs.chain(world.bridges.iter().filter(of_stage).map(|bridge| bridge.id)).min()
}

/// How the stages before that of a job that was made at `at` ended; `None` while one of them goes on.
fn before(world: &World, pipeline: u64, stage: &str, at: Timestamp) -> Option<EarlierStages> {
    let own = stage_rank(world, pipeline, stage);
    let mut at = at;
    let mut broken = false;
    for other in world.pipeline_jobs(pipeline).filter(|other| stage_rank(world, pipeline, &other.stage) < own) {
        match other.status {
            Status::Created | Status::Pending | Status::Running => return None,
            Status::Failed | Status::Canceled | Status::Skipped if !other.allow_failure => broken = true,
            _ => {}
        }
        at = at.max(other.finished_at.unwrap_or(at));
    }
    Some(if broken { EarlierStages::Broken(at) } else { EarlierStages::Passed(at) })
}

/// Lets the first trigger job whose turn has come by `now` start its pipeline, or skips it; whether there was one.
fn start_downstream(world: &mut World, now: Timestamp) -> bool {
    let waits = world.bridges.iter().filter(|bridge| bridge.status == Status::Created && !bridge.retried);
    let due = waits.filter_map(|bridge| match before(world, bridge.pipeline, &bridge.stage, bridge.created_at)? {
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
    world.settle_pipeline(bridge.pipeline);
    true
}

/// Starts the pipeline of a trigger job, which has done its work with that.
pub fn trigger(world: &mut World, bridge: &Bridge, at: Timestamp) -> Option<u64> {
    let parent = world.pipelines.get(bridge.pipeline)?;
    let plan = PipelinePlan {
        project: parent.project,
        user: bridge.user.or(parent.user).unwrap_or_default(),
        ref_name: parent.ref_name.clone(),
        sha: parent.sha.clone(),
        tag: parent.tag,
        at,
        source: PARENT.into(),
    };
    let child = start(world, &plan, &bridge.jobs);
    if let Some(bridge) = world.bridges.get_mut(bridge.id) {
        bridge.status = Status::Success;
        bridge.finished_at = Some(at);
        bridge.downstream = Some(child);
    }
    Some(child)
}

/// Starts a trigger job again, as a new one in its place. Answers the new number.
pub fn retry_bridge(world: &mut World, id: u64, user: u64, now: Timestamp) -> Option<u64> {
    let old = world.bridges.get(id)?.clone();
    world.bridges.get_mut(id)?.retried = true;
    let new = Bridge {
        id: world.jobs.draw_id(),
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
    world.settle_pipeline(pipeline);
    Some(id)
}

fn script_of<'w>(world: &'w World, job: &Job) -> Option<&'w Script> {
    let name = job.script.as_deref()?;
    world.scripts.iter().find(|script| script.name == name)
}

/// Returns what a job leaves that ends at `at`.
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

/// A runner that may take the job: its own project's, or a shared one.
fn any_runner(world: &World, job: &Job) -> Option<u64> {
    let mut runners = world.runners.iter().filter(|runner| {
        runner.active
            && runner.contacted_at.is_some()
            && (runner.is_shared || runner.projects.contains(&job.project))
            && job.tag_list.iter().all(|tag| runner.tag_list.contains(tag))
    });
    runners.next().map(|runner| runner.id)
}

/// What a job printed: worked out when it is read.
pub struct Trace {
    script: Arc<Script>,
    facts: script::Facts,
    run: script::Run,
    /// What comes after what the script printed.
    end: &'static [u8],
}

/// The last words of a job that was canceled while it ran.
const CANCELED: &[u8] = b"\n\x1b[31;1mERROR: Job failed: canceled\n\x1b[0;m";

/// Returns what a job has printed by `now`; `None` for one that has not begun, was erased, or has no script.
pub fn trace(world: &World, job: &Job, now: Timestamp) -> Option<Trace> {
    if job.erased_at.is_some() {
        return None;
    }
    let started = job.started_at?;
    let script = world.scripts.share(script_of(world, job)?.id)?.clone();
    let nanos = |end: Timestamp| u128::try_from(end.duration_since(started).as_nanos()).unwrap_or(0);
    let own = script::Script::parse(&script.text).duration();
    let (elapsed, total) = match (job.status, job.finished_at) {
        // One that was canceled ran at the pace of its script.
        (Status::Canceled, Some(end)) => (Some(nanos(end)).filter(|elapsed| *elapsed < own), own),
        // One of the past took as long as its record says.
        (_, Some(end)) => (None, nanos(end)),
        (_, None) => (Some(nanos(now)), own),
    };
    let end: &[u8] = if job.status == Status::Canceled && elapsed.is_some() { CANCELED } else { b"" };
    let runner = job.runner.and_then(|id| world.runners.get(id));
    let facts = script::Facts {
        id: job.id,
        sha: job.sha.clone(),
        ref_name: job.ref_name.clone(),
        project: world.projects.get(job.project).map(|project| world.project_path(project)).unwrap_or_default(),
        runner: runner.map_or_else(|| "none".into(), |runner| runner.description.clone()),
        token: super::auth::job_token(world, job.id).unwrap_or_default(),
    };
    Some(Trace { script, facts, run: script::Run { started, elapsed, total }, end })
}

impl Trace {
    /// Bytes in all.
    pub fn length(&self) -> u64 {
        script::Script::parse(&self.script.text).len(&self.facts, &self.run) + self.end.len() as u64
    }

    /// Writes it from a place on.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, from: u64, out: &mut dyn Write) -> io::Result<()> {
        let printed = script::Script::parse(&self.script.text);
        printed.write(&self.facts, &self.run, from, out)?;
        let skip = from.saturating_sub(printed.len(&self.facts, &self.run));
        out.write_all(self.end.get(usize::try_from(skip).unwrap_or(usize::MAX)..).unwrap_or_default())
    }
}

/// Notes that a job put its commit into its environment.
pub fn deploy(world: &mut World, job: &Job, at: Timestamp) {
    let Some(name) = &job.environment else { return };
    let known = world.environments.iter().find(|e| e.project == job.project && e.name == *name).map(|e| e.id);
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
    });
}

/// What a schedule does.
enum ScheduleStep {
    /// It started a pipeline.
    Started,
    /// It starts one then.
    At(Timestamp),
    /// Nothing, until something else happens.
    Never,
}

/// Starts a schedule's next pipeline where the last one has ended and its pause is over.
fn start_next(world: &mut World, id: u64, now: Timestamp) -> ScheduleStep {
    let Some(schedule) = world.schedules.get(id).cloned() else { return ScheduleStep::Never };
    if world.projects.get(schedule.project).is_none() {
        return ScheduleStep::Never;
    }
    let earliest = later(now, -SignedDuration::from_secs(schedule.head_start.into()));
    let at = match schedule.pipeline {
        None => earliest,
        Some(last) => {
            let unfinished = |job: &Job| matches!(job.status, Status::Created | Status::Pending | Status::Running);
            if world.pipeline_jobs(last).any(unfinished) {
                // The jobs tell.
                return ScheduleStep::Never;
            }
            let end = world.pipeline_jobs(last).filter_map(|job| job.finished_at).max();
            let pause = SignedDuration::from_secs(schedule.pause.into());
            // Where nobody looked for a day, one pipeline is started, not a day of them.
            let next = end.map_or(now, |end| later(end, pause)).max(earliest);
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

/// What the jobs of a new pipeline have in common.
#[derive(Clone)]
pub struct PipelinePlan {
    /// The project.
    pub project: u64,
    /// Who started it.
    pub user: u64,
    /// Branch or tag.
    pub ref_name: String,
    /// The commit.
    pub sha: String,
    /// Whether the ref is a tag.
    pub tag: bool,
    /// When it was made.
    pub at: Timestamp,
    /// What started it; empty: a push.
    pub source: String,
}

/// Makes a pipeline whose jobs are all created and wait for their stage.
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
            let id = world.jobs.draw_id();
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
            tag_list: job.tag_list.clone(),
            environment: job.environment.clone(),
            script: job.script.clone(),
            ..Job::default()
        });
    }
    pipeline
}

/// Cancels a job, from any status (specification, "Job").
pub fn cancel(world: &mut World, id: u64, now: Timestamp) {
    let Some(job) = world.jobs.get_mut(id) else { return };
    job.status = Status::Canceled;
    job.finished_at = job.finished_at.or(Some(now));
    let pipeline = job.pipeline;
    world.settle_pipeline(pipeline);
}

/// Runs a job again, as a new one that takes the place of all of its name; those that have not ended are canceled.
/// Answers the new number, `None` if there is no such job.
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
        // One that is gone takes no more jobs.
        runner: old.runner.filter(|runner| world.runners.get(*runner).is_some()),
        ..old.clone()
    });
    // What was skipped because of the old one gets its chance again.
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
    world.settle_pipeline(old.pipeline);
    Some(new)
}

/// Cancels the jobs of a pipeline, and of those that it started, that have not ended.
pub fn cancel_pipeline(world: &mut World, pipeline: u64, now: Timestamp) {
    let goes_on = |job: &&Job| matches!(job.status, Status::Created | Status::Pending | Status::Running);
    let ids: Vec<u64> = world.pipeline_jobs(pipeline).filter(goes_on).map(|job| job.id).collect();
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
    world.settle_pipeline(pipeline);
}

/// Takes a pipeline away, with its jobs and those that it started.
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

/// Runs the failed and canceled jobs of a pipeline again, stage by stage.
pub fn retry_pipeline(world: &mut World, pipeline: u64, user: u64, now: Timestamp) {
    let is_due = |job: &&Job| matches!(job.status, Status::Failed | Status::Canceled);
    let ids: Vec<u64> = world.pipeline_jobs(pipeline).filter(is_due).map(|job| job.id).collect();
    let again: Vec<u64> = ids.into_iter().filter_map(|id| retry(world, id, user, now)).collect();
    for id in again {
        if let Some(job) = world.jobs.get_mut(id) {
            // Its stage begins when those before it have passed, and a manual one waits for a person again.
            (job.status, job.queued_at) = (Status::Created, None);
        }
    }
    let is_due = |bridge: &&Bridge| bridge.status == Status::Canceled;
    let triggers: Vec<u64> = world.pipeline_bridges(pipeline).filter(is_due).map(|bridge| bridge.id).collect();
    for id in triggers {
        retry_bridge(world, id, user, now);
    }
    world.settle_pipeline(pipeline);
}

/// Starts a job that waits for a person; `false` where it does not wait for one.
pub fn play(world: &mut World, id: u64, user: u64, now: Timestamp) -> bool {
    let Some(job) = world.jobs.get(id) else { return false };
    if job.status != Status::Manual {
        return false;
    }
    let pipeline = job.pipeline;
    if let Some(job) = world.jobs.get_mut(id) {
        job.status = Status::Pending;
        job.queued_at = Some(now);
        job.user = Some(user);
    }
    world.settle_pipeline(pipeline);
    true
}

/// Takes a job's trace and artifacts away.
pub fn erase(world: &mut World, id: u64, now: Timestamp) {
    if let Some(job) = world.jobs.get_mut(id) {
        job.artifacts = None;
        job.erased_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::records::{Project, Runner, Schedule};

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

    /// Two stages and a manual one; each script takes ten seconds.
    fn world(unit: Status) -> World {
        let mut world = World::default();
        let contacted_at = Some(time(0));
        world.runners.add(Runner { active: true, is_shared: true, contacted_at, ..Runner::default() });
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
    fn a_pipeline_goes_on_stage_by_stage_on_the_clock() {
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

    #[test]
    fn nothing_moves_before_the_moment_that_is_named_and_then_something_does() {
        let mut world = world(Status::Success);
        let (mut at, mut steps) = (time(0), 0);
        while steps < 20 {
            let next = advance(&mut world, at).expect("a schedule goes on for ever");
            assert!(next > at);
            let _ = world.take_changes();
            let (mut before, mut then) = (world.clone(), world.clone());
            advance(&mut before, later(next, SignedDuration::from_nanos(-1)));
            assert!(before.take_changes().is_empty(), "before {next}");
            advance(&mut then, next);
            assert!(!then.take_changes().is_empty(), "at {next}");
            (at, steps) = (next, steps + 1);
        }
    }

    #[test]
    fn looking_late_gives_what_looking_often_gives() {
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
    fn a_failure_skips_what_follows_and_a_retry_brings_it_back() {
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
    fn a_day_unseen_starts_one_pipeline() {
        let mut world = world(Status::Success);
        advance(&mut world, time(0));
        advance(&mut world, time(86_400));
        assert_eq!(world.pipelines.len(), 2);
        assert_eq!(world.jobs.get(4).unwrap().status, Status::Running);
    }

    #[test]
    fn a_canceled_job_says_so_and_prints_no_more() {
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
    fn a_paused_runner_takes_nothing() {
        let mut world = world(Status::Success);
        world.runners.get_mut(1).unwrap().active = false;
        advance(&mut world, time(0));
        advance(&mut world, time(60));
        assert_eq!(world.jobs.get(1).unwrap().status, Status::Pending);
    }
}
