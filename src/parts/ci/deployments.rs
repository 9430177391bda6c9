//! Functions that all views of deployments share: what runs one again, who may deploy, and why a job waits.

use crate::api::Id;
use crate::api::deployments::{CreateDeploymentApproval, Deployment, ListDeployments};
use crate::api::environments::{ListProtectedEnvironments, ProtectedEnvironment};
use crate::api::jobs::{Job, RetryJob};
use crate::api::pipelines::resources::Status;
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::prompt::Prompt;
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::ci;
use crate::parts::text::dates::time_ago;
use crate::store::{Load, Want, Write};
use crate::ui::text;

/// The status of a deployment that waits for approvals.
const BLOCKED: &str = "blocked";

/// Returns the query for the deployments of a project, newest first.
pub fn query(project: &Id) -> ListDeployments {
    ListDeployments { id: project.clone(), order_by: Some("id".into()), sort: Some("desc".into()) }
}

/// Returns the status of a deployment or, on servers that do not send one, the status of its job.
pub fn status(deployment: &Deployment) -> &str {
    let job = deployment.deployable.as_ref().map_or("", |job| job.status.as_str());
    deployment.status.as_deref().filter(|status| !status.is_empty()).unwrap_or(job)
}

/// Returns the name of the environment of a deployment, or an empty string.
pub fn environment(deployment: &Deployment) -> &str {
    deployment.environment.as_ref().map_or("", |environment| environment.name.as_str())
}

/// Returns the deployed version for questions: the ref, the short SHA and the title of the commit.
fn version(deployment: &Deployment) -> String {
    let commit = deployment.deployable.as_ref().and_then(|job| job.commit.as_ref());
    let title = commit.map(|commit| format!(" \"{}\"", text::fit(&commit.title, 60))).unwrap_or_default();
    let (name, sha) = (text::sanitize(&deployment.r#ref).into_owned(), text::head(&deployment.sha, 8));
    format!("{name} {sha}{title}")
}

/// Returns an error unless a deployment can run again: its job is run again.
pub fn can_run_again(deployment: &Deployment) -> Result<(), Disabled> {
    match &deployment.deployable {
        Some(job) => ci::JobAction::Retry.check(job),
        None => Err("its job is gone, so it cannot run again".into()),
    }
}

/// Asks to run a deployment again: the version that the environment has now, `current`, is deployed once more, an older
/// one is rolled back to.
pub fn ask_run_again(project: &Id, deployment: &Deployment, current: Option<&Deployment>, cx: &mut Cx) {
    let Some(job) = &deployment.deployable else { return };
    let name = text::sanitize(environment(deployment)).into_owned();
    let named = format!("#{} {}", job.id, text::sanitize(&job.name));
    let ago = time_ago(&cx.view, deployment.created_at.as_ref());
    let (title, question) = match current.filter(|current| current.id > deployment.id) {
        Some(current) => (
            "Roll back",
            format!(
                "Roll back {name} to {}, deployed {ago}? It has {} now. The job {named} runs again.",
                version(deployment),
                version(current)
            ),
        ),
        None => ("Re-deploy", format!("Re-deploy {} to {name}? The job {named} runs again.", version(deployment))),
    };
    let retry = RetryJob { id: project.clone(), job_id: job.id, inputs: None };
    let write = Write::new(&retry, format!("{} {name}", title.to_lowercase()));
    cx.act(App::confirm(title, question, Action::Send(write)));
}

/// Returns an error unless a deployment waits for approvals.
pub fn can_decide(view: &View, deployment: &Deployment) -> Result<(), Disabled> {
    match status(deployment) {
        BLOCKED if view.store.is_unsupported::<CreateDeploymentApproval>() => {
            Err("this server has no approvals of deployments".into())
        }
        BLOCKED => Ok(()),
        _ => Err("only a blocked deployment waits for approval".into()),
    }
}

/// Asks for a comment, and approves or rejects a deployment.
pub fn ask_decision(project: &Id, deployment: &Deployment, approve: bool, cx: &mut Cx) {
    let (id, deployment_id) = (project.clone(), deployment.id);
    let name = text::sanitize(environment(deployment)).into_owned();
    let (status, verb) = if approve { ("approved", "Approve") } else { ("rejected", "Reject") };
    let label = format!("{verb} {} for {name}; comment (optional)", version(deployment));
    let prompt = Prompt::then(label, "", move |comment| {
        let comment = Some(comment.trim().to_owned()).filter(|comment| !comment.is_empty());
        let decision = CreateDeploymentApproval { id: id.clone(), deployment_id, status: status.to_owned(), comment };
        Action::Send(Write::new(&decision, format!("{} the deployment to {name}", verb.to_lowercase())))
    });
    cx.open(prompt);
}

/// Returns the request for the protected environments, if the server has them.
pub fn want_protected(view: &View, project: &Id) -> Option<Want> {
    let list = ListProtectedEnvironments { id: project.clone() };
    (!view.store.is_unsupported::<ListProtectedEnvironments>()).then(|| Load::list(&list, 1).optional().into())
}

/// Returns the protection of an environment, if it is protected and that is known.
pub fn protection<'a>(view: &View<'a>, project: &Id, name: &str) -> Option<&'a ProtectedEnvironment> {
    view.store.list(&ListProtectedEnvironments { id: project.clone() }).iter().find(|known| known.name == name)
}

/// Returns who may deploy to a protected environment, and how many approvals that needs.
pub fn protection_words(protection: &ProtectedEnvironment) -> String {
    let who: Vec<&str> =
        protection.deploy_access_levels.iter().map(|access| access.access_level_description.as_str()).collect();
    let who = if who.is_empty() { "No one".to_owned() } else { who.join(", ") };
    let rules = protection.approval_rules.as_deref().unwrap_or_default();
    let approvals = protection.required_approval_count.unwrap_or_default()
        + rules.iter().map(|rule| rule.required_approvals).sum::<u64>();
    let approvals = match approvals {
        0 => String::new(),
        count => format!(", after {}", text::count_noun(count, "approval")),
    };
    format!("{who} may deploy{approvals}")
}

/// Returns the deployment that a job waits with, if it is blocked.
pub fn blocked<'a>(view: &View<'a>, project: &Id, job: &Job) -> Option<&'a Deployment> {
    let rows = view.store.list(&query(project));
    rows.iter().find(|row| status(row) == BLOCKED && row.deployable.as_ref().is_some_and(|own| own.id == job.id))
}

/// Returns the latest deployment to an environment that is blocked.
pub fn blocked_in<'a>(view: &View<'a>, project: &Id, name: &str) -> Option<&'a Deployment> {
    let rows = view.store.list(&query(project));
    rows.iter().find(|row| status(row) == BLOCKED && environment(row) == name)
}

/// Returns the place that shows a deployment.
pub fn place(project: &Id, deployment: &Deployment) -> Place {
    Place::new("deployments").project(project.clone()).item(deployment.id)
}

/// Returns why a manual job waits, if it deploys to a protected environment.
pub fn waiting_reason(view: &View, project: &Id, job: &Job) -> Option<String> {
    if job.status != Status::Manual {
        return None;
    }
    if let Some(blocked) = blocked(view, project, job) {
        let name = text::sanitize(environment(blocked)).into_owned();
        let words = protection(view, project, environment(blocked)).map(protection_words);
        let words = words.map(|words| format!(": {}", text::sanitize(&words))).unwrap_or_default();
        return Some(format!("Its deployment to {name} waits for approval{words}."));
    }
    let name = ci::environment_of(view, project, job)?;
    let protection = protection(view, project, &name)?;
    let words = protection_words(protection);
    Some(format!("It deploys to {}, which is protected: {}.", text::sanitize(&name), text::sanitize(&words)))
}

/// Returns the comparison of what is deployed with the head of its ref, which would be deployed next.
pub fn upcoming(project: &Id, deployment: &Deployment) -> Result<Place, Disabled> {
    if deployment.deployable.as_ref().is_some_and(|job| job.tag) {
        return Err("it was deployed from a tag, which does not move".into());
    }
    if deployment.sha.is_empty() || deployment.r#ref.is_empty() {
        return Err("the deployed commit is unknown".into());
    }
    let range = format!("{}...{}", deployment.sha, deployment.r#ref);
    Ok(Place::new("compare").project(project.clone()).item(range))
}
