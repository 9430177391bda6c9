//! Deployments.

use super::call::{Outcome, ReadCall, ok, stable_sort};
use super::git::Git;
use super::mount::Mount;
use super::records::{self, Project, level};
use super::rejection::Rejection;
use crate::api::Id;
use crate::api::deployments::*;
use crate::backend::presenters::time;

pub fn mount(mount: Mount) -> Mount {
    mount.read_signed_in::<ListDeployments>(list).read_signed_in::<GetDeployment>(get)
}

/// Returns a project if the caller may read its deployments: only reporters may, if jobs are not public.
pub fn project<'a>(call: &'a ReadCall, id: &Id) -> Result<&'a Project, Rejection> {
    let project = call.project_code(id)?;
    call.require_user()?;
    let hidden = project.public_jobs_disabled && call.rights.level(call.world, project) < level::REPORTER;
    if hidden { Err(Rejection::forbidden()) } else { Ok(project) }
}

/// Converts a deployment to its API representation.
pub fn show(call: &ReadCall, git: Option<&Git>, deployment: &records::Deployment) -> Deployment {
    let environment = call.world.environments.get(deployment.environment).map(|environment| Environment {
        id: environment.id,
        name: environment.name.clone(),
        external_url: environment.external_url.clone(),
        ..Environment::default()
    });
    let job = deployment.job.and_then(|id| call.world.jobs.get(id));
    Deployment {
        id: deployment.id,
        iid: deployment.iid,
        r#ref: deployment.ref_name.clone(),
        sha: deployment.sha.clone(),
        created_at: Some(time(deployment.created_at)),
        user: Some(call.user_summary(deployment.user)),
        environment,
        deployable: job.map(|job| Box::new(call.show_job(job, git))),
        ..Deployment::default()
    }
}

fn list(call: &ReadCall, input: ListDeployments) -> Outcome<Vec<Deployment>> {
    let by = call.choice_or_first("order_by", input.order_by.as_deref(), &["id", "iid", "created_at", "ref"])?;
    let descending = call.descending(input.sort.as_deref(), "asc")?;
    let project = project(call, &input.id)?;
    let mut rows: Vec<_> = call.world.deployments.iter().filter(|row| row.project == project.id).collect();
    match by {
        "iid" => stable_sort(&mut rows, descending, |row| row.iid),
        "created_at" => stable_sort(&mut rows, descending, |row| row.created_at),
        "ref" => stable_sort(&mut rows, descending, |row| row.ref_name.clone()),
        _ => stable_sort(&mut rows, descending, |row| row.id),
    }
    let git = call.git(project).ok();
    call.page(rows, |row| show(call, git.as_ref(), row))
}

fn get(call: &ReadCall, input: GetDeployment) -> Outcome<Deployment> {
    let project = project(call, &input.id)?;
    let found = call.world.deployments.get(input.deployment_id).filter(|row| row.project == project.id);
    let deployment = found.ok_or_else(Rejection::record_not_found)?;
    ok(show(call, call.git(project).ok().as_ref(), deployment))
}
