//! Events, derived from the dates of merge requests, issues and comments. Pushes are not recorded.

use super::call::{Outcome, ReadCall};
use super::mount::Mount;
use super::presenters::time;
use super::records::{MergeRequest, Noteable};
use super::users;
use super::world::World;
use crate::api::Feed;
use crate::api::events::*;
use jiff::Timestamp;

pub fn mount(mount: Mount) -> Mount {
    mount.read::<ListEvents>(list)
}

/// The kinds of events. An ID is that of the record and the kind.
const KINDS: u64 = 8;

/// An event before it is shown.
struct Happened {
    kind: u64,
    record: u64,
    at: Timestamp,
    author: u64,
    action: &'static str,
    on: Noteable,
    /// The ID of the comment, for a comment.
    note: Option<u64>,
}

/// Returns the events of merge requests, issues and comments, in no order.
fn all(world: &World) -> impl Iterator<Item = Happened> + '_ {
    let event = |kind, record, at, author, action, on| Happened { kind, record, at, author, action, on, note: None };
    let of_request = move |mr: &MergeRequest| {
        let on = Noteable::MergeRequest(mr.id);
        let merged = mr.merged_at.map(|at| event(1, mr.id, at, mr.merged_by.unwrap_or(mr.author), "accepted", on));
        let closed = mr.closed_at.map(|at| event(2, mr.id, at, mr.closed_by.unwrap_or(mr.author), "closed", on));
        [Some(event(0, mr.id, mr.created_at, mr.author, "opened", on)), merged, closed]
    };
    let requests = world.merge_requests.iter().flat_map(of_request).flatten();
    let issues = world.issues.iter().flat_map(move |issue| {
        let on = Noteable::Issue(issue.id);
        let closed =
            issue.closed_at.map(|at| event(4, issue.id, at, issue.closed_by.unwrap_or(issue.author), "closed", on));
        [Some(event(3, issue.id, issue.created_at, issue.author, "opened", on)), closed]
    });
    let notes = world.notes.iter().filter(|note| !note.system).map(move |note| Happened {
        note: Some(note.id),
        ..event(5, note.id, note.created_at, note.author, "commented on", note.on)
    });
    requests.chain(issues.flatten()).chain(notes)
}

/// Returns the project, type, number and title of the object of an event.
fn target(world: &World, on: Noteable) -> Option<(u64, &'static str, u64, &str)> {
    Some(match on {
        Noteable::MergeRequest(id) => {
            let mr = world.merge_requests.get(id)?;
            (mr.target_project, "MergeRequest", mr.iid, &mr.title)
        }
        Noteable::Issue(id) => {
            let issue = world.issues.get(id)?;
            (issue.project, "Issue", issue.iid, &issue.title)
        }
        Noteable::Snippet(id) => {
            let snippet = world.snippets.get(id)?;
            (snippet.project, "Snippet", snippet.id, &snippet.title)
        }
        Noteable::Epic(_) => return None,
    })
}

fn list(call: &ReadCall, input: ListEvents) -> Outcome<Vec<Event>> {
    let world = call.world;
    let (project, author) = match &input.on {
        Feed::Project(id) => (Some(call.project(id)?.id), None),
        Feed::User(id) => (None, Some(users::named(world, id)?.id)),
        Feed::Own => (None, Some(call.require_user()?.id)),
    };
    let actions: Vec<&str> = std::iter::once("").chain(ACTIONS.iter().copied()).collect();
    let action = match call.choice_or_first("action", input.action.as_deref(), &actions)? {
        "created" => "opened",
        "merged" => "accepted",
        "commented" => "commented on",
        other => other,
    };
    let kind = input.target_type.as_deref().unwrap_or_default().replace('_', "");
    let fits = |event: &Happened| {
        let Some((in_project, target_type, ..)) = target(world, event.on) else { return false };
        let target_type = if event.note.is_some() { "Note" } else { target_type };
        project.is_none_or(|project| project == in_project)
            && author.is_none_or(|author| author == event.author)
            && (action.is_empty() || action == event.action)
            && (kind.is_empty() || kind.eq_ignore_ascii_case(target_type))
            && call.rights.can_read_noteable(world, event.on)
    };
    let mut events: Vec<Happened> = all(world).filter(fits).collect();
    events.sort_by_key(|event| std::cmp::Reverse((event.at, event.record, event.kind)));
    call.page(events, |event| show(call, &event))
}

fn show(call: &ReadCall, event: &Happened) -> Event {
    let target = target(call.world, event.on);
    let note = event.note.and_then(|id| call.world.notes.get(id));
    let author = call.user_summary(event.author);
    let on = target.map(|(_, target_type, iid, _)| (target_type, iid));
    let (target_type, target_id, target_iid) = match (note, event.on) {
        (Some(note), _) => (Some("Note"), Some(note.id), Some(note.id)),
        (None, Noteable::MergeRequest(id) | Noteable::Issue(id) | Noteable::Snippet(id) | Noteable::Epic(id)) => {
            (on.map(|(target_type, _)| target_type), Some(id), on.map(|(_, iid)| iid))
        }
    };
    Event {
        id: event.record.wrapping_mul(KINDS).wrapping_add(event.kind),
        project_id: target.map(|(project, ..)| project),
        action_name: event.action.to_owned(),
        target_id,
        target_iid,
        target_type: target_type.map(str::to_owned),
        target_title: target.map(|(.., title)| title.to_owned()),
        author_username: Some(author.username.clone()),
        author: Some(author),
        created_at: Some(time(event.at)),
        note: note.map(|note| EventNote {
            id: note.id,
            body: note.body.clone(),
            noteable_type: on.map_or("", |(noteable_type, _)| noteable_type).to_owned(),
            noteable_iid: on.map(|(_, iid)| iid),
            noteable_id: target_id,
        }),
        push_data: None,
    }
}
