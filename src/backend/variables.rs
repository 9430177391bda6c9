//! CI/CD variables of projects, groups and the instance.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records::{CiVariable, Job, Scope, level};
use super::rejection::Rejection;
use super::world::World;
use api::variables::{
    ALL_ENVIRONMENTS, CreateVariable, DeleteVariable, GetVariable, ListVariables, SecretText, UpdateVariable, Variable,
    VariableFilter,
};
use api::{self, NoContent, VariableOwner};
use domain::ci_variables;
use serde_json::json;
use std::ops::Deref;

/// The maximum length of a key, in characters.
const MAX_KEY: usize = 255;
/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 255;
/// The maximum length of a value of the instance, in characters.
const MAX_INSTANCE_VALUE: usize = 10_000;
/// The text that stands for a masked value.
const MASK: &str = "[MASKED]";

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListVariables>(list)
        .read_signed_in::<GetVariable>(get)
        .write::<CreateVariable>(create)
        .write::<UpdateVariable>(update)
        .write::<DeleteVariable>(delete)
}

fn show(variable: &CiVariable) -> Variable {
    Variable {
        variable_type: if variable.is_file { "file" } else { "env_var" }.into(),
        key: variable.key.clone(),
        value: Some(SecretText(variable.value.clone())).filter(|_| !variable.hidden),
        hidden: Some(variable.hidden),
        protected: variable.protected,
        masked: variable.masked,
        raw: Some(variable.raw),
        // Those of the instance are for all environments.
        environment_scope: variable.place.map(|_| variable.environment_scope.clone()),
        description: variable.description.clone().into(),
    }
}

/// Returns the project or group, if the caller may manage its variables; `None` for the instance.
fn place<W: Deref<Target = World>>(call: &Call<W>, owner: &VariableOwner) -> Result<Option<Scope>, Rejection> {
    match owner {
        VariableOwner::Project(id) => call.scope_as(&api::Scope::Project(id.clone()), level::MAINTAINER).map(Some),
        VariableOwner::Group(id) => call.scope_as(&api::Scope::Group(id.clone()), level::OWNER).map(Some),
        VariableOwner::Instance => call.require_admin().map(|()| None),
    }
}

/// Returns the ID of the variable with a key.
fn find<W: Deref<Target = World>>(
    call: &Call<W>,
    place: Option<Scope>,
    key: &str,
    filter: Option<VariableFilter>,
) -> Result<u64, Rejection> {
    let scope = filter.and_then(|filter| filter.environment_scope);
    let fits = |row: &&CiVariable| {
        row.place == place && row.key == key && scope.as_ref().is_none_or(|scope| row.environment_scope == *scope)
    };
    let mut found = call.world.ci_variables.iter().filter(fits).map(|row| row.id);
    let kind = match place {
        Some(Scope::Project(_)) => "Variable",
        Some(Scope::Group(_)) => "GroupVariable",
        None => "InstanceVariable",
    };
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(id),
        (None, _) => Err(Rejection::not_found(kind)),
        (Some(_), Some(_)) => Err(Rejection::conflict(
            "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
        )),
    }
}

fn list(call: &ReadCall, input: ListVariables) -> Outcome<Vec<Variable>> {
    let place = place(call, &input.owner)?;
    call.page(call.world.ci_variables.iter().filter(|row| row.place == place).collect(), show)
}

fn get(call: &ReadCall, input: GetVariable) -> Outcome<Variable> {
    let place = place(call, &input.owner)?;
    answer(call, find(call, place, &input.key, input.filter)?)
}

fn answer<W: Deref<Target = World>>(call: &Call<W>, id: u64) -> Outcome<Variable> {
    ok(show(call.world.ci_variables.get(id).ok_or_else(|| Rejection::not_found("Variable"))?))
}

fn check(world: &World, variable: &CiVariable) -> Result<(), Rejection> {
    let refused = |field: &str, why: &str| Err(Rejection::bad_request(json!({ field: [why] })));
    let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if variable.key.is_empty() || !variable.key.chars().all(is_key) {
        return refused("key", "can contain only letters, digits and '_'.");
    }
    if variable.key.len() > MAX_KEY {
        return refused("key", "is too long (maximum is 255 characters)");
    }
    if variable.description.as_ref().is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        return refused("description", &format!("is too long (maximum is {MAX_DESCRIPTION} characters)"));
    }
    if variable.place.is_none() && variable.value.chars().count() > MAX_INSTANCE_VALUE {
        let why = format!("The value of the provided variable exceeds the {MAX_INSTANCE_VALUE} character limit");
        return refused("value", &why);
    }
    if variable.masked && ci_variables::why_unmaskable(&variable.value, variable.raw).is_some() {
        return refused("value", "is invalid");
    }
    let same = |other: &CiVariable| {
        other.id != variable.id
            && other.place == variable.place
            && other.key == variable.key
            && other.environment_scope == variable.environment_scope
    };
    if world.ci_variables.iter().any(same) {
        return refused("key", &format!("({}) has already been taken", variable.key));
    }
    Ok(())
}

fn is_file(call: &WriteCall, kind: Option<&str>) -> Result<bool, Rejection> {
    Ok(call.choice_or_first("variable_type", kind, &["env_var", "file"])? == "file")
}

fn create(call: &mut WriteCall, input: CreateVariable) -> Outcome<Variable> {
    let place = place(call, &input.owner)?;
    let hidden = input.masked_and_hidden == Some(true);
    let variable = CiVariable {
        id: 0,
        place,
        key: input.key,
        value: input.value.0,
        is_file: is_file(call, input.variable_type.as_deref())?,
        protected: input.protected == Some(true),
        masked: hidden || input.masked == Some(true),
        hidden,
        raw: input.raw == Some(true),
        environment_scope: input
            .environment_scope
            .filter(|scope| !scope.is_empty())
            .unwrap_or_else(|| ALL_ENVIRONMENTS.into()),
        description: input.description,
    };
    check(call.world, &variable)?;
    let id = call.world.ci_variables.add(variable);
    answer(call, id)
}

fn update(call: &mut WriteCall, input: UpdateVariable) -> Outcome<Variable> {
    let place = place(call, &input.owner)?;
    let id = find(call, place, &input.key, input.filter)?;
    let mut variable = call.world.ci_variables.get(id).ok_or_else(|| Rejection::not_found("Variable"))?.clone();
    if input.variable_type.is_some() {
        variable.is_file = is_file(call, input.variable_type.as_deref())?;
    }
    variable.value = input.value.map_or(variable.value, |value| value.0);
    variable.protected = input.protected.unwrap_or(variable.protected);
    if variable.hidden && input.masked == Some(false) {
        let why = "The visibility setting cannot be changed for masked and hidden variables.";
        return Err(Rejection::bad_request(json!({ "base": [why] })));
    }
    variable.masked = input.masked.unwrap_or(variable.masked);
    variable.raw = input.raw.unwrap_or(variable.raw);
    variable.environment_scope = input.environment_scope.unwrap_or(variable.environment_scope);
    variable.description = input.description.or(variable.description);
    check(call.world, &variable)?;
    call.world.ci_variables.add(variable);
    answer(call, id)
}

fn delete(call: &mut WriteCall, input: DeleteVariable) -> Outcome<NoContent> {
    let place = place(call, &input.owner)?;
    let id = find(call, place, &input.key, input.filter)?;
    call.world.ci_variables.remove(id);
    ok(NoContent)
}

/// Replaces the values of masked variables that a job has in a text.
pub fn mask(world: &World, job: &Job, text: &str) -> Option<String> {
    let groups = world.projects.get(job.project).map(|project| world.groups_above(project)).unwrap_or_default();
    let has = |row: &&CiVariable| match row.place {
        Some(Scope::Project(id)) => id == job.project,
        Some(Scope::Group(id)) => groups.contains(&id),
        None => true,
    };
    let masked = world.ci_variables.iter().filter(|row| row.masked).filter(has);
    let mut values: Vec<&str> = masked.map(|row| row.value.as_str()).filter(|value| text.contains(value)).collect();
    // One value may be part of another.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    (!values.is_empty()).then(|| values.into_iter().fold(text.to_owned(), |text, value| text.replace(value, MASK)))
}
