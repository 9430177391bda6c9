//! Environments.

use super::call::{Outcome, ReadCall, WriteCall, ok};
use super::deployments;
use super::mount::Mount;
use super::records::{self, Deployment, level};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::{contains_ignore_case, time};
use api::environments::*;

/// The tiers of environments, by parts of their names.
const TIERS: &[(&str, &str)] =
    &[("prod", "production"), ("stag", "staging"), ("test", "testing"), ("dev", "development")];

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListEnvironments>(list)
        .read_signed_in::<GetEnvironment>(get)
        .write::<StopEnvironment>(stop)
        .read_signed_in::<ListProtectedEnvironments>(list_protected)
}

/// Returns the first and the last successful deployment, if there are any.
fn deployments_of<'a>(
    world: &'a World,
    environment: &records::Environment,
) -> Option<(&'a Deployment, &'a Deployment)> {
    let id = environment.id;
    let mut all = world.deployments.iter().filter(move |row| row.environment == id && row.is_success());
    let first = all.next()?;
    Some((first, all.max_by_key(|row| row.id).unwrap_or(first)))
}

/// Returns the name for use in URLs and domain names.
pub fn slug(environment: &records::Environment) -> String {
    environment.name.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

fn show(world: &World, environment: &records::Environment) -> ProjectEnvironment {
    let ends = deployments_of(world, environment);
    let name = environment.name.to_lowercase();
    let tier = TIERS.iter().find(|(part, _)| name.contains(part)).map_or("other", |(_, tier)| tier);
    ProjectEnvironment {
        id: environment.id,
        name: environment.name.clone(),
        external_url: environment.external_url.clone(),
        slug: Some(slug(environment)),
        state: Some(if environment.is_stopped { "stopped" } else { "available" }.to_owned()),
        tier: Some(tier.to_owned()),
        created_at: ends.map(|(first, _)| time(first.created_at)),
        updated_at: ends.map(|(_, last)| time(last.created_at)),
        ..ProjectEnvironment::default()
    }
}

fn list(call: &ReadCall, input: ListEnvironments) -> Outcome<Vec<ProjectEnvironment>> {
    let project = deployments::project(call, &input.id)?.id;
    let states = ["", "available", "stopping", "stopped"];
    let state = call.choice_or_first("states", input.states.as_deref(), &states)?.to_owned();
    let wanted: Option<String> = call.option("name")?;
    if wanted.is_some() && input.search.is_some() {
        return Err(Rejection::error(400, "name, search are mutually exclusive"));
    }
    if input.search.as_ref().is_some_and(|part| part.chars().count() < 3) {
        return Err(Rejection::error(400, "search is too short (minimum is 3 characters)"));
    }
    let found = |row: &&records::Environment| {
        row.project == project
            && wanted.as_ref().is_none_or(|name| row.name == *name)
            && input.search.as_ref().is_none_or(|part| contains_ignore_case(&row.name, part))
            && (state.is_empty() || state == if row.is_stopped { "stopped" } else { "available" })
    };
    let mut rows: Vec<&records::Environment> = call.world.environments.iter().filter(found).collect();
    rows.sort_by_key(|row| &row.name);
    call.page(rows, |row| show(call.world, row))
}

fn get(call: &ReadCall, input: GetEnvironment) -> Outcome<ProjectEnvironment> {
    let project = deployments::project(call, &input.id)?;
    let found = call.world.environments.get(input.environment_id).filter(|row| row.project == project.id);
    let environment = found.ok_or_else(Rejection::record_not_found)?;
    let git = call.git(project).ok();
    let last = deployments_of(call.world, environment).map(|(_, last)| last);
    ok(ProjectEnvironment {
        last_deployment: last.map(|row| Box::new(deployments::show(call, git.as_ref(), row))),
        ..show(call.world, environment)
    })
}

fn stop(call: &mut WriteCall, input: StopEnvironment) -> Outcome<ProjectEnvironment> {
    let project = call.project_as(&input.id, level::DEVELOPER)?.id;
    let found = call.world.environments.get_mut(input.environment_id).filter(|row| row.project == project);
    let environment = found.ok_or_else(Rejection::record_not_found)?;
    if std::mem::replace(&mut environment.is_stopped, true) {
        return Err(Rejection::message(400, "400 Bad request - environment is not available"));
    }
    let environment = environment.clone();
    Ok(super::call::Answer::new(show(call.world, &environment)).status(200))
}

fn list_protected(call: &ReadCall, input: ListProtectedEnvironments) -> Outcome<Vec<ProtectedEnvironment>> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let is_protected = |row: &&records::Environment| row.project == project && row.required_approvals > 0;
    let mut rows: Vec<&records::Environment> = call.world.environments.iter().filter(is_protected).collect();
    rows.sort_by_key(|row| &row.name);
    call.page(rows, |row| ProtectedEnvironment {
        name: row.name.clone(),
        deploy_access_levels: vec![DeployAccess {
            access_level: Some(level::MAINTAINER.into()),
            access_level_description: "Maintainers".into(),
            id: Some(row.id),
            ..DeployAccess::default()
        }],
        required_approval_count: Some(row.required_approvals),
        approval_rules: Some(Vec::new()),
    })
}
