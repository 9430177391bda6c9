//! How jobs live: what a person may do with one, and what the demo's runner does with it as time goes by.
//!
//! There is no task behind a running job. What it has printed and whether it has ended follow from when it started and
//! what its [`Script`] says, so [`advance`] brings the world up to any moment, however long nobody looked.

use super::demo::script;
use super::records::{Deployment, Environment, Job, Pipeline, Planned, Script, Status, Trace};
use super::world::World;
use jiff::{SignedDuration, Timestamp};

/// Seconds that a job waits for its runner.
const QUEUE: i64 = 2;
/// Transitions that one call makes at most: a pipeline has some ten jobs with three each.
const MOST: usize = 400;

/// Brings jobs with scripts, their pipelines and traces, and the schedules up to `now`.
pub fn advance(world: &mut World, now: Timestamp) {
    settle(world, now);
    for id in world.schedules.iter().map(|schedule| schedule.id).collect::<Vec<_>>() {
        if start_next(world, id, now) {
            settle(world, now);
        }
    }
    let running: Vec<u64> = world
        .jobs
        .iter()
        .filter(|job| job.status == Status::Running && job.script.is_some())
        .map(|job| job.id)
        .collect();
    for id in running {
        print(world, id, now, false);
    }
}

/// Makes every transition that is due.
fn settle(world: &mut World, now: Timestamp) {
    let is_live = |status| matches!(status, Status::Created | Status::Pending | Status::Running);
    for _ in 0..MOST {
        let due = world
            .jobs
            .iter()
            .filter(|job| job.script.is_some() && !job.retried && is_live(job.status))
            .find_map(|job| Some((job.id, due(world, job, now)?)));
        let Some((id, (status, at))) = due else { return };
        if status.is_finished() {
            print(world, id, at, true);
        }
        let coverage = world.jobs.get(id).and_then(|job| script_of(world, job)).and_then(|script| script.coverage);
        let Some(job) = world.jobs.get_mut(id) else { return };
        job.status = status;
        match status {
            Status::Pending => job.queued_at = Some(at),
            Status::Running => job.started_at = Some(at),
            _ if status.is_finished() => {
                job.finished_at = Some(at);
                job.coverage = coverage.filter(|_| status == Status::Success);
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
}

/// The next transition of a job and its moment, where that has come.
fn due(world: &World, job: &Job, now: Timestamp) -> Option<(Status, Timestamp)> {
    let (status, at) = match job.status {
        Status::Created => match before(world, job)? {
            Before::Passed(at) if job.manual => (Status::Manual, at),
            Before::Passed(at) => (Status::Pending, at),
            Before::Broken(at) => (Status::Skipped, at),
        },
        Status::Pending => {
            let runner = job.runner.or_else(|| any_runner(world, job))?;
            if !world.runners.get(runner)?.active {
                return None;
            }
            (Status::Running, job.queued_at.unwrap_or(job.created_at) + SignedDuration::from_secs(QUEUE))
        }
        Status::Running => {
            let script = script_of(world, job)?;
            let length = script::Script::parse(&script.text).duration();
            (script.status, job.started_at? + SignedDuration::from_millis(length as i64))
        }
        _ => return None,
    };
    (at <= now).then_some((status, at))
}

/// How the stages before a job's own ended, and when.
enum Before {
    Passed(Timestamp),
    Broken(Timestamp),
}

/// `None` while a stage before the job's own goes on.
fn before(world: &World, job: &Job) -> Option<Before> {
    // A stage stands where its first job stands; retried ones hold the place of their followers.
    let stage =
        |name: &str| world.jobs.iter().filter(|j| j.pipeline == job.pipeline && j.stage == name).map(|j| j.id).min();
    let own = stage(&job.stage);
    let mut at = job.created_at;
    let mut broken = false;
    for other in world.pipeline_jobs(job.pipeline).filter(|other| stage(&other.stage) < own) {
        match other.status {
            Status::Created | Status::Pending | Status::Running => return None,
            Status::Failed | Status::Canceled | Status::Skipped if !other.allow_failure => broken = true,
            _ => {}
        }
        at = at.max(other.finished_at.unwrap_or(at));
    }
    Some(if broken { Before::Broken(at) } else { Before::Passed(at) })
}

fn script_of<'w>(world: &'w World, job: &Job) -> Option<&'w Script> {
    let name = job.script.as_deref()?;
    world.scripts.iter().find(|script| script.name == name)
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

/// What a job has printed by `now`, or all of it.
pub fn trace(world: &World, job: &Job, now: Timestamp, whole: bool) -> Option<Vec<u8>> {
    let script = script::Script::parse(&script_of(world, job)?.text);
    let started = job.started_at?;
    let elapsed = if whole { u64::MAX } else { u64::try_from(now.duration_since(started).as_millis()).unwrap_or(0) };
    let project = world.projects.get(job.project).map(|project| world.project_path(project)).unwrap_or_default();
    let runner = job.runner.and_then(|id| world.runners.get(id)).map_or("none", |runner| runner.description.as_str());
    let facts = script::Facts { id: job.id, sha: &job.sha, ref_name: &job.ref_name, project: &project, runner };
    let length = match job.finished_at {
        // A job of the past took as long as its record says.
        Some(finished) if whole => u64::try_from(finished.duration_since(started).as_millis()).unwrap_or(0),
        _ => script.duration(),
    };
    Some(script.print(&facts, started, elapsed, length))
}

fn print(world: &mut World, id: u64, now: Timestamp, whole: bool) {
    let Some(bytes) = world.jobs.get(id).and_then(|job| trace(world, job, now, whole)) else { return };
    if world.traces.get(id).map_or(0, |trace| trace.bytes.len()) != bytes.len() {
        world.traces.add(Trace { id, bytes });
    }
}

/// Notes that a job put its commit into its environment.
pub fn deploy(world: &mut World, job: &Job, at: Timestamp) {
    let Some(name) = &job.environment else { return };
    let known = world.environments.iter().find(|e| e.project == job.project && e.name == *name).map(|e| e.id);
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

/// Starts a schedule's next pipeline where the last one has ended and its pause is over.
fn start_next(world: &mut World, id: u64, now: Timestamp) -> bool {
    let Some(schedule) = world.schedules.get(id).cloned() else { return false };
    let at = match schedule.pipeline {
        None => now - SignedDuration::from_secs(schedule.head_start.into()),
        Some(last) => {
            let unfinished = |job: &Job| matches!(job.status, Status::Created | Status::Pending | Status::Running);
            if world.pipeline_jobs(last).any(unfinished) {
                return false;
            }
            let end = world.pipeline_jobs(last).filter_map(|job| job.finished_at).max();
            let pause = SignedDuration::from_secs(schedule.pause.into());
            // Where nobody looked for a day, one pipeline is started, not a day of them.
            let next =
                end.map_or(now, |end| end + pause).max(now - SignedDuration::from_secs(schedule.head_start.into()));
            if next > now {
                return false;
            }
            next
        }
    };
    let turn = usize::try_from(schedule.turn).unwrap_or(0) % schedule.refs.len().max(1);
    let Some((ref_name, sha)) = schedule.refs.get(turn).cloned() else { return false };
    let plan = Plan { project: schedule.project, user: schedule.user, ref_name, sha, tag: false, at };
    let pipeline = start(world, &plan, &schedule.jobs);
    if let Some(schedule) = world.schedules.get_mut(id) {
        schedule.turn += 1;
        schedule.pipeline = Some(pipeline);
    }
    true
}

/// What the jobs of a new pipeline have in common.
pub struct Plan {
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
}

/// Makes a pipeline whose jobs are all created and wait for their stage.
pub fn start(world: &mut World, plan: &Plan, jobs: &[Planned]) -> u64 {
    let pipeline = world.pipelines.add(Pipeline {
        project: plan.project,
        ref_name: plan.ref_name.clone(),
        tag: plan.tag,
        sha: plan.sha.clone(),
        user: Some(plan.user),
        created_at: plan.at,
        ..Pipeline::default()
    });
    for job in jobs {
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

/// Cancels a job: from any status (specification, "Job"), and one that runs says so in its trace.
pub fn cancel(world: &mut World, id: u64, now: Timestamp) {
    if world.jobs.get(id).is_some_and(|job| job.status == Status::Running) {
        print(world, id, now, false);
        let mut bytes = world.traces.get(id).map(|trace| trace.bytes.clone()).unwrap_or_default();
        bytes.extend_from_slice(b"\n\x1b[31;1mERROR: Job failed: canceled\n\x1b[0;m");
        world.traces.add(Trace { id, bytes });
    }
    let Some(job) = world.jobs.get_mut(id) else { return };
    job.status = Status::Canceled;
    job.finished_at = job.finished_at.or(Some(now));
    let pipeline = job.pipeline;
    world.settle_pipeline(pipeline);
}

/// Runs a job again, as a new one that takes its place; answers the new number, `None` where there is no such job.
pub fn retry(world: &mut World, id: u64, user: u64, now: Timestamp) -> Option<u64> {
    let old = world.jobs.get_mut(id)?;
    old.retried = true;
    let old = old.clone();
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
        ..old.clone()
    });
    // What was skipped because of the old one gets its chance again.
    let stage = |world: &World, name: &str| {
        world.jobs.iter().filter(|j| j.pipeline == old.pipeline && j.stage == name).map(|j| j.id).min()
    };
    let own = stage(world, &old.stage);
    let waiting: Vec<u64> = world
        .pipeline_jobs(old.pipeline)
        .filter(|job| job.status == Status::Skipped && stage(world, &job.stage) > own)
        .map(|job| job.id)
        .collect();
    for id in waiting {
        if let Some(job) = world.jobs.get_mut(id) {
            job.status = Status::Created;
        }
    }
    world.settle_pipeline(old.pipeline);
    Some(new)
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
    world.traces.remove(id);
    world.archives.remove(id);
    if let Some(job) = world.jobs.get_mut(id) {
        job.artifacts = None;
        job.erased_at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::records::{Runner, Schedule};

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
        world.schedules.add(Schedule { refs, jobs, pause: 20, head_start: 5, ..Schedule::default() });
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
        assert_eq!(world.traces.get(1).unwrap().bytes, b"first\n", "it has been running for three seconds");
        advance(&mut world, time(8));
        assert_eq!(statuses(&world), [("compile", "success"), ("unit", "pending"), ("deploy", "created")]);
        assert_eq!(world.traces.get(1).unwrap().bytes, b"first\nlast\n");
        advance(&mut world, time(19));
        assert_eq!(statuses(&world), [("compile", "success"), ("unit", "success"), ("deploy", "manual")]);
        assert_eq!(world.pipelines.get(1).unwrap().status, Status::Success);
        assert!(play(&mut world, 3, 1, time(20)) && !play(&mut world, 3, 1, time(20)));
        advance(&mut world, time(32));
        assert_eq!(world.jobs.get(3).unwrap().status, Status::Success);
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
        let trace = String::from_utf8(world.traces.get(1).unwrap().bytes.clone()).unwrap();
        assert!(trace.starts_with("first\n") && trace.contains("canceled") && !trace.contains("last"));
        assert_eq!(statuses(&world), [("compile", "canceled"), ("unit", "skipped"), ("deploy", "skipped")]);
        erase(&mut world, 1, time(6));
        assert!(world.traces.get(1).is_none());
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
