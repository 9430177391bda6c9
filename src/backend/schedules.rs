//! Schedules of pipelines: at the times of a cron expression, and on demand.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::modes::Version;
use super::mount::Mount;
use super::params;
use super::pipelines::{self, check_variable};
use super::presenters::{optional_time, time};
use super::records::{self, PipelineSchedule, Project, level};
use super::rejection::Rejection;
use super::world::World;
use crate::auth::Rights;
use api::pipelines::resources::Pipeline;
use api::pipelines::{ListPipelines, NewVariable, PipelineVariable};
use api::schedules::*;
use api::variables::SecretText;
use api::{Id, NoContent};
use domain::cron::Cron;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use std::ops::Deref;

/// The maximum number of inputs of a schedule.
const MAX_INPUTS: usize = 20;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListSchedules>(list)
        .read_signed_in::<GetSchedule>(get)
        .read_signed_in::<ListSchedulePipelines>(pipelines_of)
        .write::<CreateSchedule>(create)
        .write::<UpdateSchedule>(update)
        .write::<DeleteSchedule>(delete)
        .write::<TakeOwnership>(take_ownership)
        .write::<PlaySchedule>(play)
        .write::<CreateScheduleVariable>(create_variable)
        .write::<UpdateScheduleVariable>(update_variable)
        .write::<DeleteScheduleVariable>(delete_variable)
}

fn show<W: Deref<Target = World>>(call: &Call<W>, schedule: &PipelineSchedule) -> Schedule {
    Schedule {
        id: schedule.id,
        description: schedule.description.clone(),
        r#ref: schedule.ref_name.clone(),
        cron: schedule.cron.clone(),
        cron_timezone: schedule.cron_timezone.clone(),
        next_run_at: optional_time(schedule.next_run_at),
        active: schedule.active,
        created_at: Some(time(schedule.created_at)),
        updated_at: Some(time(schedule.updated_at)),
        owner: Some(call.user_summary(schedule.owner)),
        ..Schedule::default()
    }
}

fn show_detail<W: Deref<Target = World>>(call: &Call<W>, project: &Project, id: u64) -> Outcome<Schedule> {
    let schedule = call.world.pipeline_schedules.get(id).ok_or_else(missing)?;
    let last = schedule.pipelines.last().and_then(|id| call.world.pipelines.get(*id));
    let sees = is_owner(call, schedule) || call.rights.level(&call.world, project) >= level::MAINTAINER;
    ok(Schedule {
        last_pipeline: last.map(|pipeline| call.show_pipeline(pipeline)).into(),
        variables: sees.then(|| schedule.variables.iter().map(pipelines::show_variable).collect()),
        inputs: Some(schedule.inputs.iter().map(show_input).collect()),
        ..show(call, schedule)
    })
}

fn show_input((name, value): (&String, &Value)) -> ScheduleInput {
    ScheduleInput { name: name.clone(), value: value.clone() }
}

/// Applies the changes of inputs.
fn set_inputs(schedule: &mut PipelineSchedule, inputs: Vec<NewInput>) -> Result<(), Rejection> {
    for input in inputs {
        match input.destroy {
            Some(true) => _ = schedule.inputs.remove(&input.name),
            _ => _ = schedule.inputs.insert(input.name, input.value.unwrap_or_default()),
        }
    }
    match schedule.inputs.len() {
        0..=MAX_INPUTS => Ok(()),
        _ => Err(Rejection::bad_request(json!({ "inputs": [format!("exceed the limit of {MAX_INPUTS}.")] }))),
    }
}

fn missing() -> Rejection {
    Rejection::not_found("Pipeline Schedule")
}

fn is_owner<W: Deref<Target = World>>(call: &Call<W>, schedule: &PipelineSchedule) -> bool {
    call.rights.user == Some(schedule.owner) || call.rights.admin
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns a project and one of its schedules, if the caller may read its jobs.
    fn schedule(&self, id: &Id, schedule: u64) -> Result<(&Project, &PipelineSchedule), Rejection> {
        let project = self.project_jobs(id)?;
        let found = self.world.pipeline_schedules.get(schedule).filter(|row| row.project == project.id);
        Ok((project, found.ok_or_else(missing)?))
    }
}

fn list(call: &ReadCall, input: ListSchedules) -> Outcome<Vec<Schedule>> {
    let scope = call.choice_or_first("scope", input.scope.as_deref(), &["", "active", "inactive"])?.to_owned();
    let project = call.project_jobs(&input.id)?.id;
    let fits =
        |row: &&PipelineSchedule| row.project == project && (scope.is_empty() || row.active == (scope == "active"));
    call.page(call.world.pipeline_schedules.iter().filter(fits).collect(), |row| show(call, row))
}

fn get(call: &ReadCall, input: GetSchedule) -> Outcome<Schedule> {
    let (project, schedule) = call.schedule(&input.id, input.pipeline_schedule_id)?;
    show_detail(call, project, schedule.id)
}

fn pipelines_of(call: &ReadCall, input: ListSchedulePipelines) -> Outcome<Vec<Pipeline>> {
    let schedule = call.schedule(&input.id, input.pipeline_schedule_id)?.1;
    let filters: ListPipelines = match call.version >= Version::V18 {
        true => params::read(&call.inputs)?,
        false => ListPipelines { id: input.id, ..ListPipelines::default() },
    };
    let sort = input.sort.or_else(|| Some("asc".into()));
    pipelines::list_among(call, ListPipelines { sort, order_by: None, ..filters }, |pipeline| {
        schedule.pipelines.contains(&pipeline.id)
    })
}

/// Returns the full name of a branch or tag on which the caller may run pipelines.
fn check_ref(call: &WriteCall, project: &Project, name: &str) -> Result<String, Rejection> {
    let git = call.git(project)?;
    let (short, _, tag) = call.ref_of(&git, name)?;
    if !tag && !call.rights.can_merge_into(call.world, project, &short) {
        return Err(Rejection::forbidden());
    }
    Ok(format!("refs/{}/{short}", if tag { "tags" } else { "heads" }))
}

/// Returns the next time of a schedule; `None` if it is inactive.
///
/// # Errors
/// Fails with 400 for an invalid cron expression or time zone.
pub fn next_run(schedule: &PipelineSchedule, now: Timestamp) -> Result<Option<Timestamp>, Rejection> {
    let invalid = |field: &str| Rejection::bad_request(json!({ field: [" is invalid syntax"] }));
    let cron = Cron::parse(&schedule.cron).ok_or_else(|| invalid("cron"))?;
    let zone = TimeZone::get(&schedule.cron_timezone).map_err(|_| invalid("cron_timezone"))?;
    Ok(cron.next(now, &zone).filter(|_| schedule.active))
}

/// Checks a new or changed schedule and stores it.
fn save(call: &mut WriteCall, project: &Project, mut schedule: PipelineSchedule) -> Outcome<Schedule> {
    if schedule.description.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "description": ["can't be blank"] })));
    }
    schedule.next_run_at = next_run(&schedule, call.now)?;
    schedule.updated_at = call.now;
    let id = call.world.pipeline_schedules.add(schedule);
    show_detail(call, project, id)
}

fn create(call: &mut WriteCall, input: CreateSchedule) -> Outcome<Schedule> {
    let project = pipelines::authorize(call, &input.id)?;
    let mut schedule = PipelineSchedule {
        project: project.id,
        description: input.description,
        ref_name: check_ref(call, &project, &input.r#ref)?,
        cron: input.cron,
        cron_timezone: input.cron_timezone.unwrap_or_else(|| "UTC".into()),
        active: input.active.unwrap_or(true),
        owner: call.require_user()?.id,
        created_at: call.now,
        ..PipelineSchedule::default()
    };
    set_inputs(&mut schedule, input.inputs.unwrap_or_default())?;
    save(call, &project, schedule)
}

/// Returns a project and one of its schedules, if it belongs to the caller.
fn own(call: &WriteCall, id: &Id, schedule: u64) -> Result<(Project, PipelineSchedule), Rejection> {
    let project = pipelines::authorize(call, id)?;
    let schedule = call.schedule(id, schedule)?.1;
    if is_owner(call, schedule) { Ok((project, schedule.clone())) } else { Err(Rejection::forbidden()) }
}

fn update(call: &mut WriteCall, input: UpdateSchedule) -> Outcome<Schedule> {
    let (project, mut schedule) = own(call, &input.id, input.pipeline_schedule_id)?;
    if let Some(name) = &input.r#ref {
        schedule.ref_name = check_ref(call, &project, name)?;
    }
    schedule.description = input.description.unwrap_or(schedule.description);
    schedule.cron = input.cron.unwrap_or(schedule.cron);
    schedule.cron_timezone = input.cron_timezone.unwrap_or(schedule.cron_timezone);
    schedule.active = input.active.unwrap_or(schedule.active);
    set_inputs(&mut schedule, input.inputs.unwrap_or_default())?;
    save(call, &project, schedule)
}

fn delete(call: &mut WriteCall, input: DeleteSchedule) -> Outcome<NoContent> {
    let project = pipelines::authorize(call, &input.id)?;
    let schedule = call.schedule(&input.id, input.pipeline_schedule_id)?.1;
    let (id, at) = (schedule.id, schedule.updated_at);
    if !is_owner(call, schedule) && call.rights.level(call.world, &project) < level::MAINTAINER {
        return Err(Rejection::forbidden());
    }
    call.check_unmodified(at)?;
    call.world.pipeline_schedules.remove(id);
    ok(NoContent)
}

fn take_ownership(call: &mut WriteCall, input: TakeOwnership) -> Outcome<Schedule> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.clone();
    let mut schedule = call.schedule(&input.id, input.pipeline_schedule_id)?.1.clone();
    let user = call.require_user()?.id;
    if schedule.owner == user {
        return Ok(show_detail(call, &project, schedule.id)?.status(200));
    }
    schedule.owner = user;
    save(call, &project, schedule)
}

fn play(call: &mut WriteCall, input: PlaySchedule) -> Outcome<NoContent> {
    let project = pipelines::authorize(call, &input.id)?;
    let schedule = call.schedule(&input.id, input.pipeline_schedule_id)?.1.clone();
    check_ref(call, &project, &schedule.ref_name)?;
    let user = call.require_user()?.id;
    run(call, &project, &schedule, user)?;
    Ok(Answer::new(NoContent).status(201).with_body(json!({ "message": "201 Created" })))
}

/// Runs a pipeline of a schedule.
fn run(call: &mut WriteCall, project: &Project, schedule: &PipelineSchedule, user: u64) -> Result<(), Rejection> {
    let git = call.git(project)?;
    let found = call.ref_of(&git, &schedule.ref_name)?;
    let pipeline =
        pipelines::run(call, project, found, (user, "schedule"), schedule.variables.clone(), &schedule.inputs)?;
    if let Some(schedule) = call.world.pipeline_schedules.get_mut(schedule.id) {
        schedule.pipelines.push(pipeline);
    }
    Ok(())
}

/// Runs the pipelines that are due, as their owners. Returns the time of the next one.
pub fn advance(call: &mut WriteCall) -> Option<Timestamp> {
    let is_due = |row: &&PipelineSchedule| row.next_run_at.is_some_and(|at| at <= call.now);
    let due: Vec<PipelineSchedule> = call.world.pipeline_schedules.iter().filter(is_due).cloned().collect();
    for schedule in due {
        let project = call.world.projects.get(schedule.project).cloned();
        let is_active = call.world.users.get(schedule.owner).is_some_and(|owner| !owner.blocked);
        let rights = Rights::of(call.world, schedule.owner);
        let may = project.filter(|project| is_active && rights.level(call.world, project) >= level::DEVELOPER);
        // Without a configuration of its jobs, or without its branch, it is tried again the next time.
        let ran = may.as_ref().map(|project| run(call, project, &schedule, schedule.owner));
        if let Some(Err(why)) = ran {
            tracing::info!("schedule {} started no pipeline: {}", schedule.id, why.body);
        }
        let now = call.now;
        if let Some(row) = call.world.pipeline_schedules.get_mut(schedule.id) {
            row.active = may.is_some();
            row.next_run_at = next_run(row, now).ok().flatten();
        }
    }
    call.world.pipeline_schedules.iter().filter_map(|row| row.next_run_at).min()
}

/// Returns the position of a variable of a schedule.
fn position(schedule: &PipelineSchedule, key: &str) -> Result<usize, Rejection> {
    let found = schedule.variables.iter().position(|variable| variable.key == key);
    found.ok_or_else(|| Rejection::not_found("Pipeline Schedule Variable"))
}

/// Checks an input and returns the variable that it describes.
fn new_variable(
    call: &WriteCall,
    key: String,
    SecretText(value): SecretText,
    variable_type: Option<String>,
) -> Result<records::Variable, Rejection> {
    let variable = NewVariable { key, value, variable_type };
    check_variable(call, &variable)?;
    let is_file = variable.variable_type.as_deref() == Some("file");
    Ok(records::Variable { key: variable.key, value: variable.value, is_file })
}

fn create_variable(call: &mut WriteCall, input: CreateScheduleVariable) -> Outcome<PipelineVariable> {
    let (_, mut schedule) = own(call, &input.id, input.pipeline_schedule_id)?;
    let variable = new_variable(call, input.key, input.value, input.variable_type)?;
    if position(&schedule, &variable.key).is_ok() {
        return Err(Rejection::bad_request(json!({ "key": ["has already been taken"] })));
    }
    schedule.variables.push(variable.clone());
    call.world.pipeline_schedules.add(schedule);
    ok(pipelines::show_variable(&variable))
}

fn update_variable(call: &mut WriteCall, input: UpdateScheduleVariable) -> Outcome<PipelineVariable> {
    let (_, mut schedule) = own(call, &input.id, input.pipeline_schedule_id)?;
    let at = position(&schedule, &input.key)?;
    let variable = new_variable(call, input.key, input.value, input.variable_type)?;
    schedule.variables.splice(at..=at, [variable.clone()]);
    call.world.pipeline_schedules.add(schedule);
    ok(pipelines::show_variable(&variable))
}

fn delete_variable(call: &mut WriteCall, input: DeleteScheduleVariable) -> Outcome<PipelineVariable> {
    let (_, mut schedule) = own(call, &input.id, input.pipeline_schedule_id)?;
    let at = position(&schedule, &input.key)?;
    let variable = schedule.variables.remove(at);
    call.world.pipeline_schedules.add(schedule);
    Ok(Answer::new(pipelines::show_variable(&variable)).status(202))
}
