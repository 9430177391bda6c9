//! Events, derived from pushes and from the dates of merge requests, issues and comments.

use super::call::{Outcome, ReadCall, stable_sort};
use super::milestones::day;
use super::mount::Mount;
use super::params;
use super::presenters::time;
use super::records::{MergeRequest, NoteKind, Noteable, Push};
use super::users;
use super::world::World;
use api::Feed;
use api::events::*;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

pub fn mount(mount: Mount) -> Mount {
    mount.read::<ListEvents>(list)
}

/// The kinds of events. An ID is that of the record and the kind.
const KINDS: u64 = 8;

/// The words for types of targets.
const TARGET_TYPES: &[&str] =
    &["", "issue", "milestone", "merge_request", "note", "project", "snippet", "user", "wiki", "design", "epic"];

/// An event before it is shown.
struct Happened<'w> {
    kind: u64,
    record: u64,
    at: Timestamp,
    author: u64,
    action: &'static str,
    about: About<'w>,
}

/// The object of an event.
#[derive(Clone, Copy)]
enum About<'w> {
    /// A merge request, an issue or another object, and the ID of the comment on it.
    Noteable(Noteable, Option<u64>),
    Push(&'w Push),
}

/// Returns the events of merge requests, issues, comments and pushes, in no order.
fn all(world: &World) -> impl Iterator<Item = Happened<'_>> {
    let event = |kind, record, at, author, action, on| {
        let about = About::Noteable(on, None);
        Happened { kind, record, at, author, action, about }
    };
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
        about: About::Noteable(note.on, Some(note.id)),
        ..event(5, note.id, note.created_at, note.author, "commented on", note.on)
    });
    let pushes = world.pushes.iter().map(|push| Happened {
        kind: 6,
        record: push.id,
        at: push.created_at,
        author: push.author,
        action: match (&push.before, &push.after) {
            (_, None) => "deleted",
            (None, _) => "pushed new",
            _ => "pushed to",
        },
        about: About::Push(push),
    });
    // What was closed and opened again, of which the record itself tells only the last state.
    let states = world.notes.iter().filter(|note| note.system).filter_map(move |note| {
        let closed_at = match note.on {
            Noteable::MergeRequest(id) => world.merge_requests.get(id).and_then(|mr| mr.closed_at),
            Noteable::Issue(id) => world.issues.get(id).and_then(|issue| issue.closed_at),
            Noteable::Snippet(_) | Noteable::Epic(_) => return None,
        };
        let action = match note.body.as_str() {
            "reopened" => "opened",
            "closed" if closed_at != Some(note.created_at) => "closed",
            _ => return None,
        };
        Some(event(7, note.id, note.created_at, note.author, action, note.on))
    });
    requests.chain(issues.flatten()).chain(notes).chain(pushes).chain(states)
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
    let kind = call.choice_or_first("target_type", input.target_type.as_deref(), TARGET_TYPES)?.replace('_', "");
    let (before, after, sort): (Option<String>, Option<String>, Option<String>) =
        params::read_with(&call.inputs, |inputs| (inputs.take("before"), inputs.take("after"), inputs.take("sort")))?;
    let start = |day: Option<Date>| day.and_then(|day| Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp()));
    let before = start(day("before", &before.unwrap_or_default())?);
    let after = day("after", &after.unwrap_or_default())?;
    let after = start(after.and_then(|day| day.tomorrow().ok()));
    let descending = call.descending(sort.as_deref(), "desc")?;
    let fits = |event: &Happened| {
        let (in_project, target_type, is_pushed) = match event.about {
            About::Push(push) => (push.project, "", action == "pushed"),
            About::Noteable(on, note) => match target(world, on) {
                Some((in_project, target_type, ..)) => {
                    (in_project, if note.is_some() { "Note" } else { target_type }, false)
                }
                None => return false,
            },
        };
        project.is_none_or(|project| project == in_project)
            && author.is_none_or(|author| author == event.author)
            && before.is_none_or(|before| event.at < before)
            && after.is_none_or(|after| after <= event.at)
            && (action.is_empty() || is_pushed || action == event.action)
            && (kind.is_empty() || kind.eq_ignore_ascii_case(target_type))
            && can_read(call, event.about)
    };
    let mut events: Vec<Happened> = all(world).filter(fits).collect();
    stable_sort(&mut events, descending, |event| (event.at, event.record, event.kind));
    call.page(events, |event| show(call, &event))
}

fn can_read(call: &ReadCall, about: About) -> bool {
    match about {
        About::Noteable(on, note) => {
            let note = note.and_then(|id| call.world.notes.get(id));
            call.rights.can_read_noteable(call.world, on)
                && note.is_none_or(|note| call.rights.can_read_note(call.world, note))
        }
        About::Push(push) => call.world.projects.get(push.project).is_some_and(|project| {
            call.rights.can_see_project(call.world, project) && call.rights.can_read_code(call.world, project)
        }),
    }
}

fn show(call: &ReadCall, event: &Happened) -> Event {
    let author = call.user_summary(event.author);
    let shown = Event {
        id: event.record.wrapping_mul(KINDS).wrapping_add(event.kind),
        action_name: event.action.to_owned(),
        author_id: Some(event.author),
        author_username: Some(author.username.clone()),
        author: Some(author),
        created_at: Some(time(event.at)),
        ..Event::default()
    };
    match event.about {
        About::Noteable(on, note) => with_noteable(call, shown, on, note),
        About::Push(push) => Event { project_id: Some(push.project), push_data: Some(show_push(push)), ..shown },
    }
}

fn show_push(push: &Push) -> PushData {
    let (ref_type, name) = match push.name.strip_prefix("refs/tags/") {
        Some(tag) => ("tag", tag),
        None => ("branch", push.name.strip_prefix("refs/heads/").unwrap_or(&push.name)),
    };
    let action = match (&push.before, &push.after) {
        (_, None) => "removed",
        (None, _) => "created",
        _ => "pushed",
    };
    PushData {
        commit_count: push.commits,
        action: action.to_owned(),
        ref_type: ref_type.to_owned(),
        commit_from: push.before.clone(),
        commit_to: push.after.clone(),
        r#ref: Some(name.to_owned()),
        commit_title: push.title.clone(),
    }
}

/// Adds the object of an event, and the comment on it.
fn with_noteable(call: &ReadCall, event: Event, on: Noteable, note: Option<u64>) -> Event {
    let target = target(call.world, on);
    let note = note.and_then(|id| call.world.notes.get(id));
    let named = target.map(|(_, target_type, iid, _)| (target_type, iid));
    let (Noteable::MergeRequest(id) | Noteable::Issue(id) | Noteable::Snippet(id) | Noteable::Epic(id)) = on;
    let (target_type, target_id, target_iid) = match note {
        Some(note) => {
            let kind = match note.kind {
                NoteKind::Single => "Note",
                NoteKind::Thread => "DiscussionNote",
                NoteKind::Diff => "DiffNote",
            };
            (Some(kind), note.id, Some(note.id))
        }
        None => (named.map(|(target_type, _)| target_type), id, named.map(|(_, iid)| iid)),
    };
    Event {
        project_id: target.map(|(project, ..)| project),
        target_id: Some(target_id),
        target_iid,
        target_type: target_type.map(str::to_owned),
        target_title: target.map(|(.., title)| title.to_owned()),
        note: note.map(|note| Box::new(call.search_result_note(note))),
        ..event
    }
}
