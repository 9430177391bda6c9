//! Subscriptions of the caller to merge requests and issues.

use super::call::{Answer, Outcome, WriteCall};
use super::mount::Mount;
use super::notes;
use super::records::{Noteable, level};
use super::rejection::Rejection;
use api::json;
use api::subscriptions::*;
use api::{self, NoContent};

pub fn mount(mount: Mount) -> Mount {
    mount.write::<Subscribe>(|call, e| set(call, &e.on, true)).write::<Unsubscribe>(|call, e| set(call, &e.on, false))
}

/// Subscribes the caller, or ends the subscription; answers with the object.
pub fn set(call: &mut WriteCall, on: &api::Noteable, subscribes: bool) -> Outcome<NoContent> {
    let target = notes::target(call, on)?;
    let (on, user) = (target.noteable, call.require_user()?.id);
    let may_update = target.author == user || target.level >= level::DEVELOPER;
    if matches!(on, Noteable::MergeRequest(_)) && !may_update {
        return Err(Rejection::forbidden());
    }
    let subscribers = match on {
        Noteable::MergeRequest(id) => call.world.merge_requests.get_mut(id).map(|mr| &mut mr.subscribers),
        Noteable::Issue(id) => call.world.issues.get_mut(id).map(|issue| &mut issue.subscribers),
        Noteable::Snippet(_) | Noteable::Epic(_) => None,
    };
    let subscribers = subscribers.ok_or_else(Rejection::record_not_found)?;
    let is_changed = if subscribes { subscribers.insert(user) } else { subscribers.remove(&user) };
    if !is_changed {
        return Err(Rejection::not_modified());
    }
    let shown = match on {
        Noteable::MergeRequest(id) => {
            let mr = call.world.merge_requests.get(id).ok_or_else(Rejection::record_not_found)?;
            let project = call.world.projects.get(mr.target_project).ok_or_else(Rejection::record_not_found)?;
            let git = call.git(project)?;
            json::to_value(&call.show_merge_request_detail(mr, &git)?)
        }
        Noteable::Issue(id) => {
            let issue = call.world.issues.get(id).ok_or_else(Rejection::record_not_found)?;
            json::to_value(&call.show_issue_detail(issue))
        }
        Noteable::Snippet(_) | Noteable::Epic(_) => return Err(Rejection::record_not_found()),
    };
    Ok(Answer::new(NoContent).status(201).with_body(shown.unwrap_or_default()))
}
