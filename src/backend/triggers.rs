//! Pipeline triggers: tokens that start pipelines of a project without a user's own token.

use super::auth::{self, Rights};
use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::pipelines::{self, pipeline_error, show_by_id};
use super::presenters::{optional_time, time};
use super::records::{PipelineTrigger, Variable, level};
use super::rejection::Rejection;
use super::world::World;
use api::pipelines::resources::Pipeline;
use api::types::Specified;
use api::users::User;
use api::{Id, NoContent, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ops::Deref;

/// The start of each token, as on current servers.
const PREFIX: &str = "glptt-";
/// The number of characters of a token, after the prefix, that others than its owner see.
const SHORT: usize = 4;
/// The event of webhooks that must not start pipelines: they would start each other without end.
const PIPELINE_HOOK: &str = "Pipeline Hook";

pub fn mount(mount: Mount) -> Mount {
    mount
        .write_by_input::<RunTrigger>(run)
        .also_write_by_input::<RunTrigger>("/projects/{id}/ref/{ref}/trigger/pipeline", run)
        .read_signed_in::<ListTriggers>(list)
        .read_signed_in::<GetTrigger>(get)
        .write::<CreateTrigger>(create)
        .write::<UpdateTrigger>(update)
        .write::<DeleteTrigger>(delete)
}

/// A token that starts pipelines.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trigger {
    id: u64,
    /// The whole token for its owner, and its start for others.
    token: String,
    description: String,
    created_at: Option<Time>,
    updated_at: Option<Time>,
    last_used: Option<Time>,
    expires_at: Option<Time>,
    owner: User,
}

impl Specified for Trigger {}

api::endpoints! {
    unspecified section "Pipeline triggers";

    /// Runs a pipeline by the token of a trigger or of a running job. The caller needs no other token.
    POST "/projects/{id}/trigger/pipeline" => Pipeline;
    struct RunTrigger {
        id: Id,
        r#ref: String,
        token: String,
        variables: Option<BTreeMap<String, String>>,
        /// Values of the inputs of the configuration (since 17.11).
        inputs: Option<Map<String, Value>>,
    }

    /// Lists the triggers of a project.
    GET "/projects/{id}/triggers" => Vec<Trigger>;
    struct ListTriggers { id: Id }

    /// Gets a trigger.
    GET "/projects/{id}/triggers/{trigger_id}" => Trigger;
    struct GetTrigger { id: Id, trigger_id: u64 }

    /// Creates a trigger, which starts pipelines as the caller.
    POST "/projects/{id}/triggers" => Trigger;
    struct CreateTrigger { id: Id, description: String }

    /// Changes the description of one's own trigger.
    PUT "/projects/{id}/triggers/{trigger_id}" => Trigger;
    struct UpdateTrigger { id: Id, trigger_id: u64, description: Option<String> }

    /// Deletes a trigger.
    DELETE "/projects/{id}/triggers/{trigger_id}" => NoContent;
    struct DeleteTrigger { id: Id, trigger_id: u64 }
}

fn show<W: Deref<Target = World>>(call: &Call<W>, trigger: &PipelineTrigger) -> Trigger {
    let secret = trigger.token.as_str();
    let short = || secret.trim_start_matches(PREFIX).chars().take(SHORT).collect();
    Trigger {
        id: trigger.id,
        token: if call.rights.user == Some(trigger.owner) { secret.to_owned() } else { short() },
        description: trigger.description.clone(),
        created_at: Some(time(trigger.created_at)),
        updated_at: Some(time(trigger.updated_at)),
        last_used: optional_time(trigger.last_used),
        expires_at: None,
        owner: call.user_summary(trigger.owner),
    }
}

/// Returns a trigger of a project whose triggers the caller may manage.
fn find<W: Deref<Target = World>>(call: &Call<W>, id: &Id, trigger: u64) -> Result<PipelineTrigger, Rejection> {
    let project = call.project_as(id, level::MAINTAINER)?.id;
    let found = call.world.pipeline_triggers.get(trigger).filter(|trigger| trigger.project == project);
    found.cloned().ok_or_else(Rejection::record_not_found)
}

fn list(call: &ReadCall, input: ListTriggers) -> Outcome<Vec<Trigger>> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let rows = call.world.pipeline_triggers.iter().filter(|trigger| trigger.project == project).collect();
    call.page(rows, |trigger| show(call, trigger))
}

fn get(call: &ReadCall, input: GetTrigger) -> Outcome<Trigger> {
    ok(show(call, &find(call, &input.id, input.trigger_id)?))
}

fn create(call: &mut WriteCall, input: CreateTrigger) -> Outcome<Trigger> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let (owner, now) = (call.require_user()?.id, call.now);
    let secret = auth::secret().ok_or_else(|| Rejection::internal_error("no random numbers"))?;
    let mut trigger = PipelineTrigger {
        project,
        owner,
        token: format!("{PREFIX}{secret}"),
        description: input.description,
        created_at: now,
        updated_at: now,
        ..PipelineTrigger::default()
    };
    trigger.id = call.world.pipeline_triggers.add(trigger.clone());
    ok(show(call, &trigger))
}

fn update(call: &mut WriteCall, input: UpdateTrigger) -> Outcome<Trigger> {
    let mut trigger = find(call, &input.id, input.trigger_id)?;
    if call.rights.user != Some(trigger.owner) {
        let why = "The current user is not authorized to update the pipeline trigger token";
        return Err(Rejection::forbidden_because(why));
    }
    trigger.description = input.description.unwrap_or(trigger.description);
    trigger.updated_at = call.now;
    call.world.pipeline_triggers.add(trigger.clone());
    ok(show(call, &trigger))
}

fn delete(call: &mut WriteCall, input: DeleteTrigger) -> Outcome<NoContent> {
    let trigger = find(call, &input.id, input.trigger_id)?;
    call.check_unmodified(trigger.updated_at)?;
    call.world.pipeline_triggers.remove(trigger.id);
    ok(NoContent)
}

fn run(call: &mut WriteCall, input: RunTrigger) -> Outcome<Pipeline> {
    if call.headers.get("x-gitlab-event").is_some_and(|event| event.as_bytes() == PIPELINE_HOOK.as_bytes()) {
        return Err(Rejection::forbidden());
    }
    let is_it = |trigger: &&PipelineTrigger| auth::constant_time_eq(&trigger.token, &input.token);
    let trigger = call.world.pipeline_triggers.iter().find(is_it).cloned();
    // The token proves the right to know that the project exists, but only that of the project does.
    let (rights, source) = match &trigger {
        Some(trigger) => (Rights::of(call.world, trigger.owner), "trigger"),
        None => (auth::of_job(call.world, &input.token).map_err(|_| Rejection::record_not_found())?, "pipeline"),
    };
    call.rights = rights;
    let project = call.project(&input.id).map_err(|_| Rejection::record_not_found())?.clone();
    if trigger.as_ref().is_some_and(|trigger| trigger.project != project.id) {
        return Err(Rejection::record_not_found());
    }
    let is_allowed = call.rights.level(call.world, &project) >= level::DEVELOPER && !call.require_user()?.blocked;
    if project.jobs_disabled {
        return Err(pipeline_error("Pipelines are disabled!"));
    }
    if !is_allowed || project.archived {
        return Err(pipeline_error("Insufficient permissions to create a new pipeline"));
    }
    let payload = json!({ "id": input.id.as_str(), "ref": input.r#ref, "variables": input.variables });
    let given = input.variables.unwrap_or_default().into_iter();
    let mut variables: Vec<Variable> = given.map(|(key, value)| Variable { key, value, is_file: false }).collect();
    variables.push(Variable { key: "TRIGGER_PAYLOAD".into(), value: payload.to_string(), is_file: true });
    let inputs = input.inputs.unwrap_or_default().into_iter().collect();
    let id = pipelines::run_on(call, &project, &input.r#ref, source, variables, &inputs)?;
    if let Some(mut trigger) = trigger {
        trigger.last_used = Some(call.now);
        call.world.pipeline_triggers.add(trigger);
    }
    show_by_id(call, id)
}
