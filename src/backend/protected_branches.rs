//! Protection rules for branches.

use super::call::{Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::records::{ProtectedBranch, level};
use super::rejection::Rejection;
use api::protected_branches::*;
use api::{Id, NoContent};

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListProtectionRules>(list)
        .read_signed_in::<GetProtectionRule>(get)
        .write::<CreateProtectionRule>(create)
        .write::<UpdateProtectionRule>(update)
        .write::<DeleteProtectionRule>(delete)
}

api::endpoints! {
    unspecified section "Protected branches";

    /// Gets a protection rule by its name or pattern.
    GET "/projects/{id}/protected_branches/{name}" => ProtectionRule;
    struct GetProtectionRule { id: Id, name: String }
}

/// The ID of the single access level that a rule has for pushing, and for merging.
const ACCESS_LEVEL_ID: u64 = 1;

/// Describes who has an access level.
pub fn describe(level: u8) -> &'static str {
    match level {
        0 => "No one",
        level::DEVELOPER => "Developers + Maintainers",
        _ => "Maintainers",
    }
}

fn show(rule: &ProtectedBranch) -> ProtectionRule {
    let access = |level: u8| {
        vec![BranchAccess {
            id: Some(ACCESS_LEVEL_ID),
            access_level: Some(level.into()),
            access_level_description: describe(level).into(),
            ..BranchAccess::default()
        }]
    };
    ProtectionRule {
        id: Some(rule.id).filter(|id| *id > 0),
        name: rule.name.clone(),
        push_access_levels: access(rule.push_level()),
        merge_access_levels: access(rule.merge_level()),
        allow_force_push: Some(rule.allow_force_push),
        ..ProtectionRule::default()
    }
}

fn list(call: &ReadCall, input: ListProtectionRules) -> Outcome<Vec<ProtectionRule>> {
    let project = call.project_as(&input.id, level::REPORTER)?;
    let mut rows: Vec<&ProtectedBranch> = project.protected_branches.iter().collect();
    rows.sort_by_key(|rule| &rule.name);
    call.page(rows, show)
}

fn get(call: &ReadCall, input: GetProtectionRule) -> Outcome<ProtectionRule> {
    let project = call.project_as(&input.id, level::REPORTER)?;
    let rule = project.protected_branches.iter().find(|rule| rule.name == input.name);
    ok(show(rule.ok_or_else(Rejection::record_not_found)?))
}

/// Parses the access level of a rule; 40 by default.
pub fn access_level(name: &str, level: Option<u64>) -> Result<u8, Rejection> {
    match level {
        None | Some(40) => Ok(level::MAINTAINER),
        Some(30) => Ok(level::DEVELOPER),
        Some(0) => Ok(0),
        Some(_) => Err(Rejection::no_valid_value(name)),
    }
}

/// Parses the name or pattern of a new rule.
pub fn new_name(typed: &str) -> Result<String, Rejection> {
    match typed.trim() {
        "" => Err(Rejection::error(400, "name is empty")),
        name => Ok(name.to_owned()),
    }
}

fn create(call: &mut WriteCall, input: CreateProtectionRule) -> Outcome<ProtectionRule> {
    let id = call.project_as(&input.id, level::MAINTAINER)?.id;
    let push = access_level("push_access_level", input.push_access_level)?;
    let merge = access_level("merge_access_level", input.merge_access_level)?;
    let name = new_name(&input.name)?;
    let project = call.world.projects.get_mut(id).ok_or_else(Rejection::record_not_found)?;
    if project.protected_branches.iter().any(|rule| rule.name == name) {
        return Err(Rejection::conflict(format!("Protected branch '{name}' already exists")));
    }
    let rule = ProtectedBranch {
        name,
        developers_can_push: push == level::DEVELOPER,
        developers_can_merge: merge == level::DEVELOPER,
        nobody_can_push: push == 0,
        nobody_can_merge: merge == 0,
        allow_force_push: input.allow_force_push == Some(true),
        ..ProtectedBranch::default()
    };
    ok(show(&project.protect(rule)))
}

/// Returns the new access level of a rule; `None` if it does not change.
fn changed(name: &str, changes: Option<Vec<AccessChange>>) -> Result<Option<u8>, Rejection> {
    let mut level = None;
    for change in changes.unwrap_or_default() {
        if change.id != Some(ACCESS_LEVEL_ID) {
            return Err(Rejection::message(
                422,
                format!("{name}: this server supports a single access level, with the ID {ACCESS_LEVEL_ID}"),
            ));
        }
        level = Some(access_level(name, Some(change.access_level))?);
    }
    Ok(level)
}

fn update(call: &mut WriteCall, input: UpdateProtectionRule) -> Outcome<ProtectionRule> {
    let id = call.project_as(&input.id, level::MAINTAINER)?.id;
    let push = changed("allowed_to_push", input.allowed_to_push)?;
    let merge = changed("allowed_to_merge", input.allowed_to_merge)?;
    let project = call.world.projects.get_mut(id).ok_or_else(Rejection::record_not_found)?;
    let rule = project.protected_branches.iter_mut().find(|rule| rule.name == input.name);
    let rule = rule.ok_or_else(|| Rejection::message(404, "404 Not found"))?;
    if let Some(push) = push {
        (rule.developers_can_push, rule.nobody_can_push) = (push == level::DEVELOPER, push == 0);
    }
    if let Some(merge) = merge {
        (rule.developers_can_merge, rule.nobody_can_merge) = (merge == level::DEVELOPER, merge == 0);
    }
    rule.allow_force_push = input.allow_force_push.unwrap_or(rule.allow_force_push);
    ok(show(rule))
}

fn delete(call: &mut WriteCall, input: DeleteProtectionRule) -> Outcome<NoContent> {
    let id = call.project_as(&input.id, level::MAINTAINER)?.id;
    let project = call.world.projects.get_mut(id).ok_or_else(Rejection::record_not_found)?;
    let at = project.protected_branches.iter().position(|rule| rule.name == input.name);
    project.protected_branches.remove(at.ok_or_else(|| Rejection::message(404, "404 Not found"))?);
    ok(NoContent)
}
