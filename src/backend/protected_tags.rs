//! Protection rules for tags.

use super::call::{Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::protected_branches::{access_level, describe, new_name};
use super::records::{ProtectedTag, level};
use super::rejection::Rejection;
use api::types::Specified;
use api::{Id, NoContent};
use serde::{Deserialize, Serialize};

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListProtectedTags>(list)
        .read_signed_in::<GetProtectedTag>(get)
        .write::<ProtectTag>(create)
        .write::<UnprotectTag>(delete)
}

/// The access level that a rule for tags requires.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct TagAccess {
    id: u64,
    access_level: u64,
    access_level_description: String,
}

/// A rule for tags, by its name or pattern.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TagRule {
    name: String,
    create_access_levels: Vec<TagAccess>,
}

impl Specified for TagRule {}

api::endpoints! {
    unspecified section "Protected tags";

    /// Lists the protection rules of tags.
    GET "/projects/{id}/protected_tags" => Vec<TagRule>;
    struct ListProtectedTags { id: Id }

    /// Gets a protection rule by its name or pattern.
    GET "/projects/{id}/protected_tags/{name}" => TagRule;
    struct GetProtectedTag { id: Id, name: String }

    /// Protects the tags of a name or pattern.
    POST "/projects/{id}/protected_tags" => TagRule;
    struct ProtectTag {
        id: Id,
        name: String,
        /// 0 for nobody, 30 for developers, 40 for maintainers; 40 by default.
        create_access_level: Option<u64>,
    }

    /// Removes a protection rule.
    DELETE "/projects/{id}/protected_tags/{name}" => NoContent;
    struct UnprotectTag { id: Id, name: String }
}

fn show(rule: &ProtectedTag) -> TagRule {
    let access = TagAccess {
        id: rule.id,
        access_level: rule.create_level.into(),
        access_level_description: describe(rule.create_level).to_owned(),
    };
    TagRule { name: rule.name.clone(), create_access_levels: vec![access] }
}

fn list(call: &ReadCall, input: ListProtectedTags) -> Outcome<Vec<TagRule>> {
    let project = call.project_as(&input.id, level::MAINTAINER)?;
    call.page(project.protected_tags.iter().collect(), show)
}

fn get(call: &ReadCall, input: GetProtectedTag) -> Outcome<TagRule> {
    let project = call.project_as(&input.id, level::MAINTAINER)?;
    let rule = project.protected_tags.iter().find(|rule| rule.name == input.name);
    ok(show(rule.ok_or_else(Rejection::record_not_found)?))
}

fn create(call: &mut WriteCall, input: ProtectTag) -> Outcome<TagRule> {
    let id = call.project_as(&input.id, level::MAINTAINER)?.id;
    let create_level = access_level("create_access_level", input.create_access_level)?;
    let name = new_name(&input.name)?;
    let project = call.world.projects.get_mut(id).ok_or_else(Rejection::record_not_found)?;
    if project.protected_tags.iter().any(|rule| rule.name == name) {
        return Err(Rejection::message(422, vec!["Name has already been taken"]));
    }
    let last = project.protected_tags.iter().map(|known| known.id).max().unwrap_or(0);
    let rule = ProtectedTag { id: last + 1, name, create_level };
    project.protected_tags.push(rule.clone());
    ok(show(&rule))
}

fn delete(call: &mut WriteCall, input: UnprotectTag) -> Outcome<NoContent> {
    let id = call.project_as(&input.id, level::MAINTAINER)?.id;
    let project = call.world.projects.get_mut(id).ok_or_else(Rejection::record_not_found)?;
    let at = project.protected_tags.iter().position(|rule| rule.name == input.name);
    project.protected_tags.remove(at.ok_or_else(Rejection::record_not_found)?);
    ok(NoContent)
}
