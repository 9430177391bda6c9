//! The details of one deployment: environment, commit, user and job.

use crate::api::deployments::Deployment;
use crate::api::{GitRef, Id};
use crate::app::place::Place;
use crate::app::view::View;
use crate::parts::ci;
use crate::parts::ci::deployments::{environment, status};
use crate::parts::facts::{Details, LinkTarget};
use crate::parts::text::dates;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};

/// Returns the URL of the environment, if it is an HTTP or HTTPS URL.
pub fn link(deployment: &Deployment) -> Option<String> {
    let url = deployment.environment.as_ref()?.external_url.clone()?;
    (url.starts_with("https://") || url.starts_with("http://")).then_some(url)
}

/// Writes the details of a deployment.
pub fn fill_facts(details: &mut Details, deployment: &Deployment, project: &Id, view: &View) {
    let place = |pane: &str| Place::new(pane).project(project.clone());
    let word = status(deployment);
    if !word.is_empty() {
        let (status, role) = glyph::labeled(word);
        details.field("status", Line::new(status, role), None);
    }
    let approvals = deployment.approvals.as_deref().unwrap_or_default();
    if let Some(missing) = deployment.pending_approval_count.filter(|missing| *missing > 0 || !approvals.is_empty()) {
        let words = if missing == 0 { "complete".to_owned() } else { format!("{missing} more needed") };
        let role = if missing == 0 { Role::Success } else { Role::Warning };
        details.field("approvals", Line::new(words, role), None);
    }
    for approval in approvals {
        let name = approval.user.as_ref().map_or("somebody", |user| user.username.as_str()).to_owned();
        let role = if approval.status == "approved" { Role::Success } else { Role::Failed };
        let mut pieces = Line::new(format!("{} ", approval.status), role).and(format!("by {name}"), Role::User);
        let comment = approval.comment.as_deref().filter(|comment| !comment.is_empty());
        pieces.extend(comment.map(|comment| (format!("  {comment}"), Role::Dim)));
        details.field("", pieces, None);
    }
    details.field("environment", Line::new(environment(deployment).to_owned(), Role::Text), None);
    if let Some(url) = deployment.environment.as_ref().and_then(|environment| environment.external_url.clone()) {
        let link = link(deployment).map(LinkTarget::Page);
        details.field("address", Line::new(url, Role::Link), link);
    }
    let when = |time: Option<&crate::api::Time>| {
        let ago = dates::time_ago(view, time);
        let between = if ago.is_empty() { "" } else { "  " };
        time.map(|time| Line::new(ago, Role::Text).and(format!("{between}{}", dates::date(time)), Role::Dim))
    };
    if let Some(pieces) = when(deployment.created_at.as_ref()) {
        details.field("created", pieces, None);
    }
    if let Some(pieces) = when(deployment.updated_at.as_ref()) {
        details.field("updated", pieces, None);
    }
    if let Some(user) = &deployment.user {
        let name = Line::new(user.username.clone(), Role::User).and(format!("  {}", user.name), Role::Dim);
        details.field("deployer", name, None);
    }
    let is_tag = deployment.deployable.as_ref().map(|job| job.tag);
    let ref_lead = LinkTarget::Place(place("commits").at(GitRef::of_pipeline(&deployment.r#ref, is_tag)));
    details.field("ref", Line::new(deployment.r#ref.clone(), Role::Ref), Some(ref_lead));
    let commit = deployment.deployable.as_ref().and_then(|job| job.commit.as_ref());
    let mut pieces = Line::new(text::head(&deployment.sha, 8), Role::Ref);
    pieces.extend(commit.map(|commit| (format!("  {}", commit.title), Role::Text)));
    details.field("commit", pieces, Some(LinkTarget::Place(place("commit").item(&deployment.sha))));
    let files = LinkTarget::Place(place("files").at(deployment.sha.clone()));
    details.field("files", Line::new("Browse files", Role::Text), Some(files));
    let Some(job) = &deployment.deployable else {
        return details.field("job", Line::new("gone", Role::Dim), None);
    };
    let (sign, role) = ci::sign(job);
    let named = Line::new(format!("{sign} "), role).and(format!("#{} {}", job.id, job.name), Role::Text);
    details.field("job", named, Some(LinkTarget::Place(place("job").item(job.id))));
    let duration = ci::duration(job, view.now);
    if !duration.is_empty() {
        details.field("duration", Line::new(duration, Role::Text), None);
    }
    if let Some(pipeline) = &job.pipeline {
        let link = LinkTarget::Place(place("jobs").item(pipeline.id));
        details.field("pipeline", Line::new(format!("#{}", pipeline.id), Role::Text), Some(link));
    }
    if let Some(runner) = &job.runner {
        details.field("runner", Line::new(runner.label(), Role::Text), Some(LinkTarget::Place(place("runners"))));
    }
    if job.has_artifacts() {
        let link = LinkTarget::Place(place("artifacts").item(job.id));
        details.field("artifacts", Line::new("browse", Role::Text), Some(link));
    }
}
