//! Deployments.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok, stable_sort};
use super::environments::slug;
use super::git::Git;
use super::mount::Mount;
use super::params;
use super::records::{self, Approval, Project, level};
use super::rejection::Rejection;
use super::runner;
use super::world::World;
use crate::presenters::{Bounds, time};
use api::deployments::*;
use api::{Id, Time};
use jiff::Timestamp;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListDeployments>(list)
        .read_signed_in::<GetDeployment>(get)
        .write::<CreateDeploymentApproval>(decide)
}

/// Returns a project if the caller may read its deployments: only reporters may, if jobs are not public.
pub fn project<'a>(call: &'a ReadCall, id: &Id) -> Result<&'a Project, Rejection> {
    let project = call.project_code(id)?;
    call.require_user()?;
    let hidden = project.public_jobs_disabled && call.rights.level(call.world, project) < level::REPORTER;
    if hidden { Err(Rejection::forbidden()) } else { Ok(project) }
}

fn status_of(deployment: &records::Deployment) -> &str {
    if deployment.is_success() { "success" } else { &deployment.status }
}

/// Converts a deployment to its API representation.
pub fn show(call: &ReadCall, git: Option<&Git>, deployment: &records::Deployment) -> Deployment {
    let environment = call.world.environments.get(deployment.environment).map(|environment| Environment {
        id: environment.id,
        name: environment.name.clone(),
        external_url: environment.external_url.clone(),
        slug: Some(slug(environment)),
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
        status: Some(status_of(deployment).to_owned()),
        updated_at: Some(time(updated_at(deployment))),
        ..Deployment::default()
    }
}

/// The filters of current servers.
struct Filters {
    environment: Option<String>,
    status: Option<String>,
    updated_after: Option<Time>,
    updated_before: Option<Time>,
    finished_after: Option<Time>,
    finished_before: Option<Time>,
}

impl Filters {
    fn has_updated(&self) -> bool {
        self.updated_after.is_some() || self.updated_before.is_some()
    }

    fn has_finished(&self) -> bool {
        self.finished_after.is_some() || self.finished_before.is_some()
    }

    /// Checks that the filters of times go with the order, without which a server would search long.
    fn check(&self, by: &str) -> Result<(), Rejection> {
        let why = match (self.has_updated(), self.has_finished()) {
            (true, true) => "Both `updated_at` filter and `finished_at` filter can not be specified",
            (_, finished) if finished != (by == "finished_at") => {
                "`finished_at` filter and `finished_at` sorting must be paired"
            }
            (_, true) if self.status.as_deref() != Some("success") => {
                "`finished_at` filter must be combined with `success` status filter."
            }
            _ => return Ok(()),
        };
        Err(Rejection::bad_request_because(why))
    }
}

/// Returns the time of the last change.
fn updated_at(deployment: &records::Deployment) -> Timestamp {
    deployment.approvals.last().map_or(deployment.created_at, |last| last.created_at)
}

fn list(call: &ReadCall, input: ListDeployments) -> Outcome<Vec<Deployment>> {
    let orders: &[&str] = match call.only_specified() {
        true => &["id", "iid", "created_at", "ref"],
        false => &["id", "iid", "created_at", "ref", "updated_at", "finished_at"],
    };
    let by = call.choice_or_first("order_by", input.order_by.as_deref(), orders)?;
    let descending = call.descending(input.sort.as_deref(), "asc")?;
    let project = project(call, &input.id)?;
    let filters = params::read_with(&call.inputs, |inputs| Filters {
        environment: inputs.take("environment"),
        status: inputs.take("status"),
        updated_after: inputs.take("updated_after"),
        updated_before: inputs.take("updated_before"),
        finished_after: inputs.take("finished_after"),
        finished_before: inputs.take("finished_before"),
    })?;
    let statuses = ["", "created", "running", "success", "failed", "canceled", "skipped", "blocked"];
    let status = call.choice_or_first("status", filters.status.as_deref(), &statuses)?;
    if !call.only_specified() {
        filters.check(by)?;
    }
    let updated = Bounds::new("updated", &filters.updated_after, &filters.updated_before)?;
    let finished = Bounds::new("finished", &filters.finished_after, &filters.finished_before)?;
    let wanted = filters.environment.as_deref().filter(|name| !name.is_empty());
    let environment = |row: &records::Deployment| call.world.environments.get(row.environment);
    let fits = |row: &&records::Deployment| {
        let is_wanted = (status.is_empty() || status_of(row) == status)
            && wanted.is_none_or(|name| environment(row).is_some_and(|environment| environment.name == name))
            && updated.contains(updated_at(row))
            && finished.contains(row.created_at);
        row.project == project.id && (is_wanted || call.only_specified())
    };
    let mut rows: Vec<_> = call.world.deployments.iter().filter(fits).collect();
    match by {
        "updated_at" => stable_sort(&mut rows, descending, |row| updated_at(row)),
        // A deployment takes no time.
        "finished_at" => stable_sort(&mut rows, descending, |row| row.created_at),
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
    let mut shown = show(call, call.git(project).ok().as_ref(), deployment);
    let environment = call.world.environments.get(deployment.environment);
    if let Some(environment) = environment.filter(|environment| environment.required_approvals > 0) {
        let missing = environment.required_approvals.saturating_sub(approvals(deployment));
        shown.pending_approval_count = Some(if deployment.status == BLOCKED { missing } else { 0 });
        shown.approvals = Some(deployment.approvals.iter().map(|one| show_approval(call, one)).collect());
    }
    ok(shown)
}

const BLOCKED: &str = "blocked";

fn show_approval<W: Deref<Target = World>>(call: &Call<W>, approval: &Approval) -> DeploymentApproval {
    DeploymentApproval {
        user: Some(call.user_summary(approval.user)),
        status: if approval.is_rejection { "rejected" } else { "approved" }.to_owned(),
        comment: approval.comment.clone(),
        created_at: Some(time(approval.created_at)),
    }
}

/// Returns the number of approvals that a deployment has.
fn approvals(deployment: &records::Deployment) -> u64 {
    deployment.approvals.iter().filter(|one| !one.is_rejection).count() as u64
}

/// Approves or rejects a deployment. A second decision of the same user replaces the first. With enough approvals, its job
/// can be played; a rejection fails it.
fn decide(call: &mut WriteCall, input: CreateDeploymentApproval) -> Outcome<DeploymentApproval> {
    let project = call.project_as(&input.id, level::MAINTAINER)?.id;
    let user = call.require_user()?.id;
    let is_rejection = match input.status.as_str() {
        "approved" => false,
        "rejected" => true,
        _ => return Err(Rejection::error(400, "status does not have a valid value")),
    };
    let now = call.now;
    let found = call.world.deployments.get(input.deployment_id).filter(|row| row.project == project).cloned();
    let deployment = found.ok_or_else(Rejection::record_not_found)?;
    if deployment.status != BLOCKED {
        return Err(Rejection::message(400, "This deployment is not waiting for approvals."));
    }
    let required = call.world.environments.get(deployment.environment).map_or(1, |one| one.required_approvals);
    let approval = Approval { user, is_rejection, comment: input.comment, created_at: now };
    if let Some(row) = call.world.deployments.get_mut(deployment.id) {
        row.approvals.retain(|one| one.user != user);
        row.approvals.push(approval.clone());
        if is_rejection {
            row.status = "failed".into();
        } else if approvals(row) >= required {
            row.status = "created".into();
        }
    }
    if let Some(job) = deployment.job.filter(|_| is_rejection) {
        runner::reject(call.world, job, now);
    }
    ok(show_approval(call, &approval))
}
