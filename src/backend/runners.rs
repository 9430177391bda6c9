//! Runners.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records::{self, RunnerAccess, Status, level};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::optional_time;
use api::NoContent;
use api::jobs::{Job, JobProject};
use api::projects::ProjectBrief;
use api::runners::*;
use jiff::SignedDuration;
use std::collections::HashMap;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListRunners>(list)
        .read_signed_in::<ListAllRunners>(all)
        .read_signed_in::<GetRunner>(get)
        .write::<UpdateRunner>(update)
        .write::<DeleteRunner>(delete)
        .read_signed_in::<ListRunnerJobs>(jobs)
        .read_signed_in::<ListProjectRunners>(of_project)
        .write::<EnableRunner>(enable)
        .write::<DisableRunner>(disable)
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns whether a runner has contacted the server within the last hour.
    fn is_online(&self, runner: &records::Runner) -> bool {
        runner.contacted_at.is_some_and(|at| self.now.duration_since(at) < SignedDuration::from_hours(1))
    }

    /// Returns the representation in lists.
    pub fn show_runner(&self, runner: &records::Runner) -> Runner {
        let online = self.is_online(runner);
        let status = match (runner.active, online) {
            (false, _) => RunnerStatus::Paused,
            (true, true) => RunnerStatus::Online,
            (true, false) => RunnerStatus::Offline,
        };
        Runner {
            id: runner.id,
            description: Some(runner.description.clone()),
            name: runner.name.clone(),
            active: runner.active,
            is_shared: runner.is_shared,
            online: Some(online),
            status,
            paused: Some(!runner.active),
            runner_type: Some(if runner.is_shared { "instance_type" } else { "project_type" }.into()),
            ip_address: Some(String::new()),
            ..Runner::default()
        }
    }

    /// Returns the representation of the program that runs the jobs of a runner.
    pub fn show_runner_manager(&self, runner: &records::Runner) -> RunnerManager {
        let busy = || {
            let running = self.world.jobs.iter().filter(|job| job.status == Status::Running);
            running.filter_map(|job| job.runner).collect()
        };
        let is_active = self.busy_runners.get_or_init(busy).contains(&runner.id);
        RunnerManager {
            id: runner.id,
            system_id: Some(format!("s_{:012x}", runner.id)),
            version: runner.version.clone().into(),
            revision: runner.revision.clone().into(),
            platform: runner.platform.clone().into(),
            architecture: runner.architecture.clone().into(),
            created_at: optional_time(runner.contacted_at),
            contacted_at: optional_time(runner.contacted_at).into(),
            ip_address: Some("127.0.0.1".into()),
            status: Some(if self.is_online(runner) { "online" } else { "offline" }.into()),
            job_execution_status: Some(if is_active { "active" } else { "idle" }.into()),
        }
    }

    fn show_runner_detail(&self, runner: &records::Runner) -> Runner {
        let seen = |id: &u64| {
            let project = self.world.projects.get(*id)?;
            self.rights.can_see_project(&self.world, project).then(|| self.project_brief(project))
        };
        // The token of a shared runner is for administrators, that of a project runner also for maintainers of its
        // projects.
        let secret = self.rights.admin || self.maintains_runner(runner);
        Runner {
            architecture: runner.architecture.clone().into(),
            contacted_at: optional_time(runner.contacted_at).into(),
            platform: runner.platform.clone().into(),
            projects: Some(runner.projects.iter().filter_map(seen).collect()),
            token: secret.then(|| runner.token.clone()),
            revision: runner.revision.clone().into(),
            tag_list: Some(runner.tag_list.clone()),
            version: runner.version.clone().into(),
            access_level: Some(runner.access_level.as_str().into()),
            run_untagged: Some(runner.run_untagged),
            locked: Some(runner.locked),
            ..self.show_runner(runner)
        }
    }

    /// Returns whether the caller is a maintainer of a project of the runner.
    fn maintains_runner(&self, runner: &records::Runner) -> bool {
        let maintains = |id: &u64| {
            let project = self.world.projects.get(*id);
            project.is_some_and(|project| self.rights.in_project(&self.world, project) >= level::MAINTAINER)
        };
        runner.projects.iter().any(maintains)
    }

    /// Returns the runner with an ID if the caller may view it (anyone may view shared runners) or change it.
    fn runner(&self, id: u64, to_change: bool) -> Result<&records::Runner, Rejection> {
        self.require_user()?;
        let runner = self.world.runners.get(id).ok_or_else(|| Rejection::not_found("Runner"))?;
        let may = self.rights.admin
            || (!to_change && runner.is_shared)
            || (!runner.is_shared && self.maintains_runner(runner));
        if may { Ok(runner) } else { Err(Rejection::forbidden()) }
    }
}

fn in_scope(call: &ReadCall, scope: &str, runner: &records::Runner) -> bool {
    match scope {
        "active" => runner.active,
        "paused" => !runner.active,
        "online" => call.is_online(runner),
        "specific" => !runner.is_shared,
        "shared" => runner.is_shared,
        _ => true,
    }
}

fn list(call: &ReadCall, input: ListRunners) -> Outcome<Vec<Runner>> {
    call.require_user()?;
    let scope = call.choice_or_first("scope", input.scope.as_deref(), &["", "active", "paused", "online"])?;
    let available =
        |runner: &records::Runner| !runner.is_shared && (call.rights.admin || call.maintains_runner(runner));
    let own = |runner: &&records::Runner| available(runner) && in_scope(call, scope, runner);
    call.page(call.world.runners.iter().filter(own).collect(), |runner| call.show_runner(runner))
}

fn all(call: &ReadCall, input: ListAllRunners) -> Outcome<Vec<Runner>> {
    call.require_admin()?;
    let words = ["", "specific", "shared", "active", "paused", "online"];
    let scope = call.choice_or_first("scope", input.scope.as_deref(), &words)?;
    let rows = call.world.runners.iter().filter(|runner| in_scope(call, scope, runner)).collect();
    call.page(rows, |runner: &records::Runner| call.show_runner(runner))
}

fn get(call: &ReadCall, input: GetRunner) -> Outcome<Runner> {
    ok(call.show_runner_detail(call.runner(input.id, false)?))
}

fn update(call: &mut WriteCall, input: UpdateRunner) -> Outcome<Runner> {
    let id = call.runner(input.id, true)?.id;
    let access = match input.access_level.as_deref() {
        None => None,
        Some(word) => Some(RunnerAccess::from_name(word).ok_or_else(|| Rejection::no_valid_value("access_level"))?),
    };
    let Some(runner) = call.world.runners.get_mut(id) else { return Err(Rejection::not_found("Runner")) };
    runner.description = input.description.unwrap_or(std::mem::take(&mut runner.description));
    runner.active = input.active.unwrap_or(runner.active);
    runner.run_untagged = input.run_untagged.unwrap_or(runner.run_untagged);
    runner.locked = input.locked.unwrap_or(runner.locked);
    runner.access_level = access.unwrap_or(runner.access_level);
    if let Some(tags) = input.tag_list {
        // An array, or a comma-separated list.
        let split = tags.iter().flat_map(|tags| tags.split(',')).map(|tag| tag.trim().to_owned());
        runner.tag_list = split.filter(|tag| !tag.is_empty()).collect();
    }
    if runner.tag_list.is_empty() && !runner.run_untagged {
        let why = "can not be empty when runner is not allowed to pick untagged jobs";
        return Err(Rejection::bad_request(serde_json::json!({ "tags_list": [why] })));
    }
    let runner = runner.clone();
    ok(call.show_runner_detail(&runner))
}

fn delete(call: &mut WriteCall, input: DeleteRunner) -> Outcome<NoContent> {
    let runner = call.runner(input.id, true)?;
    if !call.rights.admin && runner.projects.len() > 1 {
        return Err(Rejection::forbidden_because("Runner associated with more than one project"));
    }
    let id = runner.id;
    call.world.runners.remove(id);
    ok(NoContent)
}

fn jobs(call: &ReadCall, input: ListRunnerJobs) -> Outcome<Vec<Job>> {
    let id = call.runner(input.id, false)?.id;
    let words = ["", "running", "success", "failed", "canceled"];
    let status = Status::from_name(call.choice_or_first("status", input.status.as_deref(), &words)?);
    let (world, rights) = (call.world, &call.rights);
    let rows: Vec<_> = world
        .jobs
        .iter()
        .rev()
        .filter(|job| job.runner == Some(id) && status.is_none_or(|status| status == job.status))
        .filter_map(|job| Some((job, world.projects.get(job.project)?)))
        .filter(|(_, project)| rights.can_see_project(world, project) && rights.can_read_code(world, project))
        .collect();
    let mut open = HashMap::new();
    call.page(rows, |(job, project)| {
        let git = open.entry(project.id).or_insert_with(|| call.git(project).ok());
        let brief = ProjectBrief {
            description: project.description.clone().into(),
            created_at: Some(crate::presenters::time(project.created_at)),
            ..call.project_brief(project)
        };
        Job { project: Some(JobProject::Brief(Box::new(brief))), ..call.show_job(job, git.as_ref()) }
    })
}

fn of_project(call: &ReadCall, input: ListProjectRunners) -> Outcome<Vec<Runner>> {
    let project = call.project_as(&input.id, level::MAINTAINER)?;
    let serves = |runner: &&records::Runner| {
        runner.projects.contains(&project.id) || (runner.is_shared && !project.shared_runners_disabled)
    };
    call.page(call.world.runners.iter().filter(serves).collect(), |runner| call.show_runner(runner))
}

fn enable(call: &mut WriteCall, input: EnableRunner) -> Outcome<Runner> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let runner = call.world.runners.get(input.runner_id).ok_or_else(|| Rejection::not_found("Runner"))?;
    if runner.is_shared {
        return Err(Rejection::forbidden_because("Runner is shared"));
    }
    if runner.locked {
        return Err(Rejection::forbidden_because("Runner is locked"));
    }
    if !call.rights.admin && !call.maintains_runner(runner) {
        return Err(Rejection::forbidden_because("No access granted"));
    }
    if runner.projects.contains(&project) {
        return Err(Rejection::conflict("Runner was already enabled for this project"));
    }
    let id = runner.id;
    let Some(runner) = call.world.runners.get_mut(id) else { return Err(Rejection::not_found("Runner")) };
    runner.projects.insert(project);
    let runner = runner.clone();
    ok(call.show_runner(&runner))
}

fn disable(call: &mut WriteCall, input: DisableRunner) -> Outcome<NoContent> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let found = call.world.runners.get(input.runner_id).filter(|runner| runner.projects.contains(&project));
    let runner = found.ok_or_else(|| Rejection::not_found("Runner"))?;
    if runner.projects.len() == 1 {
        return Err(Rejection::forbidden_because(
            "Only one project associated with the runner. Please remove the runner instead",
        ));
    }
    let id = runner.id;
    if let Some(runner) = call.world.runners.get_mut(id) {
        runner.projects.remove(&project);
    }
    ok(NoContent)
}
