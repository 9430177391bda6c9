//! CI/CD variables of projects and groups.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::params;
use super::records::{CiVariable, Job, Scope, level};
use super::rejection::Rejection;
use super::world::World;
use crate::api::{self, NoContent};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::ops::Deref;

/// The minimum length of a value that can be masked, in characters.
const MIN_MASKED: usize = 8;
/// The maximum length of a key, in characters.
const MAX_KEY: usize = 255;
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

crate::resource! {
    /// A CI/CD variable.
    pub struct Variable {
        /// `env_var` or `file`.
        variable_type: String,
        key: String,
        /// The value; null for ever if it is hidden.
        value: Option<String>,
        hidden: bool,
        protected: bool,
        masked: bool,
        /// Whether references to other variables in the value are kept as they are.
        raw: bool,
        environment_scope: String,
        description: Option<String>,
    }
}

crate::endpoints! {
    unspecified section "Variables";

    /// Lists the variables of a project or group.
    GET "/variables" of scope: Scope [project, group] => Vec<Variable>;
    struct ListVariables {}

    /// Gets a variable.
    GET "/variables/{key}" of scope: Scope [project, group] => Variable;
    struct GetVariable { key: String }

    /// Creates a variable.
    POST "/variables" of scope: Scope [project, group] => Variable;
    struct CreateVariable {
        key: String,
        value: String,
        /// `env_var` (default) or `file`.
        variable_type: Option<String>,
        protected: Option<bool>,
        masked: Option<bool>,
        masked_and_hidden: Option<bool>,
        raw: Option<bool>,
        environment_scope: Option<String>,
        description: Option<String>,
    }

    /// Changes a variable.
    PUT "/variables/{key}" of scope: Scope [project, group] => Variable;
    struct UpdateVariable {
        key: String,
        value: Option<String>,
        variable_type: Option<String>,
        protected: Option<bool>,
        masked: Option<bool>,
        raw: Option<bool>,
        /// The new scope.
        environment_scope: Option<String>,
        description: Option<String>,
    }

    /// Deletes a variable.
    DELETE "/variables/{key}" of scope: Scope [project, group] => NoContent;
    struct DeleteVariable { key: String }
}

/// The input that tells variables with the same key apart.
#[derive(Deserialize)]
struct ScopeFilter {
    filter: Option<BTreeMap<String, String>>,
}

fn show(variable: &CiVariable) -> Variable {
    Variable {
        variable_type: if variable.is_file { "file" } else { "env_var" }.into(),
        key: variable.key.clone(),
        value: Some(variable.value.clone()).filter(|_| !variable.hidden),
        hidden: variable.hidden,
        protected: variable.protected,
        masked: variable.masked,
        raw: variable.raw,
        environment_scope: variable.environment_scope.clone(),
        description: variable.description.clone(),
    }
}

/// Returns the project or group, if the caller may manage its variables.
fn place<W: Deref<Target = World>>(call: &Call<W>, scope: &api::Scope) -> Result<Scope, Rejection> {
    match scope {
        api::Scope::Project(_) => call.scope_as(scope, level::MAINTAINER),
        api::Scope::Group(_) => call.scope_as(scope, level::OWNER),
    }
}

/// Returns the ID of the variable with a key.
fn find<W: Deref<Target = World>>(call: &Call<W>, place: Scope, key: &str) -> Result<u64, Rejection> {
    let filter = params::read::<ScopeFilter>(&call.inputs)?.filter.unwrap_or_default();
    let scope = filter.get("environment_scope");
    let fits = |row: &&CiVariable| {
        row.place == place && row.key == key && scope.is_none_or(|scope| row.environment_scope == *scope)
    };
    let mut found = call.world.ci_variables.iter().filter(fits).map(|row| row.id);
    let kind = if matches!(place, Scope::Group(_)) { "GroupVariable" } else { "Variable" };
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(id),
        (None, _) => Err(Rejection::not_found(kind)),
        (Some(_), Some(_)) => Err(Rejection::conflict(
            "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'",
        )),
    }
}

fn list(call: &ReadCall, input: ListVariables) -> Outcome<Vec<Variable>> {
    let place = place(call, &input.scope)?;
    call.page(call.world.ci_variables.iter().filter(|row| row.place == place).collect(), show)
}

fn get(call: &ReadCall, input: GetVariable) -> Outcome<Variable> {
    let place = place(call, &input.scope)?;
    answer(call, find(call, place, &input.key)?)
}

fn answer<W: Deref<Target = World>>(call: &Call<W>, id: u64) -> Outcome<Variable> {
    ok(show(call.world.ci_variables.get(id).ok_or_else(|| Rejection::not_found("Variable"))?))
}

/// Returns whether a value can be masked: short ones, and those with spaces or more than one line, cannot be found in
/// a trace.
fn can_be_masked(variable: &CiVariable) -> bool {
    let is_plain = |c: char| match variable.raw {
        true => !c.is_whitespace(),
        false => c.is_ascii_alphanumeric() || "_+=/@:.~-".contains(c),
    };
    variable.value.chars().count() >= MIN_MASKED && variable.value.chars().all(is_plain)
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
    if variable.masked && !can_be_masked(variable) {
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
    let place = place(call, &input.scope)?;
    let hidden = input.masked_and_hidden == Some(true);
    let variable = CiVariable {
        id: 0,
        place,
        key: input.key,
        value: input.value,
        is_file: is_file(call, input.variable_type.as_deref())?,
        protected: input.protected == Some(true),
        masked: hidden || input.masked == Some(true),
        hidden,
        raw: input.raw == Some(true),
        environment_scope: input.environment_scope.filter(|scope| !scope.is_empty()).unwrap_or_else(|| "*".into()),
        description: input.description,
    };
    check(call.world, &variable)?;
    let id = call.world.ci_variables.add(variable);
    answer(call, id)
}

fn update(call: &mut WriteCall, input: UpdateVariable) -> Outcome<Variable> {
    let place = place(call, &input.scope)?;
    let id = find(call, place, &input.key)?;
    let mut variable = call.world.ci_variables.get(id).ok_or_else(|| Rejection::not_found("Variable"))?.clone();
    if input.variable_type.is_some() {
        variable.is_file = is_file(call, input.variable_type.as_deref())?;
    }
    variable.value = input.value.unwrap_or(variable.value);
    variable.protected = input.protected.unwrap_or(variable.protected);
    // A hidden value stays masked.
    variable.masked = variable.hidden || input.masked.unwrap_or(variable.masked);
    variable.raw = input.raw.unwrap_or(variable.raw);
    variable.environment_scope = input.environment_scope.unwrap_or(variable.environment_scope);
    variable.description = input.description.or(variable.description);
    check(call.world, &variable)?;
    call.world.ci_variables.add(variable);
    answer(call, id)
}

fn delete(call: &mut WriteCall, input: DeleteVariable) -> Outcome<NoContent> {
    let place = place(call, &input.scope)?;
    let id = find(call, place, &input.key)?;
    call.world.ci_variables.remove(id);
    ok(NoContent)
}

/// Replaces the values of masked variables that a job has in a text.
pub fn mask(world: &World, job: &Job, text: &str) -> Option<String> {
    let groups = world.projects.get(job.project).map(|project| world.groups_above(project)).unwrap_or_default();
    let has = |row: &&CiVariable| match row.place {
        Scope::Project(id) => id == job.project,
        Scope::Group(id) => groups.contains(&id),
    };
    let masked = world.ci_variables.iter().filter(|row| row.masked).filter(has);
    let mut values: Vec<&str> = masked.map(|row| row.value.as_str()).filter(|value| text.contains(value)).collect();
    // One value may be part of another.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    (!values.is_empty()).then(|| values.into_iter().fold(text.to_owned(), |text, value| text.replace(value, MASK)))
}
