//! Notes on issues, snippets, merge requests and epics: the same operations on four kinds of objects.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok, stable_sort};
use super::modes::Version;
use super::mount::Mount;
use super::records::{self, NoteKind, Noteable, level};
use super::rejection::Rejection;
use super::suggestions;
use super::world::World;
use crate::presenters::{optional_time, time};
use api::notes::*;
use api::{self, Id, NoContent, Nullable};
use domain::emoji;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListNotes>(list)
        .read_signed_in::<GetNote>(get)
        .write::<UpdateNote>(|call, e| {
            let target = target(call, &e.on)?;
            update(call, &target, e.note_id, e.body)
        })
        .write::<DeleteNote>(|call, e| {
            let target = target(call, &e.on)?;
            delete(call, &target, e.note_id)
        })
}

/// The object that notes are on, and the caller's permissions there.
pub struct NoteTarget {
    pub noteable: Noteable,
    /// The IID, for kinds whose notes include it.
    pub iid: Option<u64>,
    kind: &'static str,
    title: String,
    /// The filename of a snippet; empty for other kinds.
    file_name: String,
    /// The ID of the author.
    pub author: u64,
    /// The caller's access level in the project or group.
    pub level: u8,
    /// Whether only members may comment.
    pub is_members_only: bool,
}

/// Returns the object that notes are on.
///
/// # Errors
/// Fails with 404 if it does not exist or is not visible to the caller, and with 401 if nobody is signed in.
pub fn target<W: Deref<Target = World>>(call: &Call<W>, on: &api::Noteable) -> Result<NoteTarget, Rejection> {
    match on {
        api::Noteable::MergeRequest { project, iid } => merge_request(call, project, *iid),
        api::Noteable::Issue { project, iid } => issue(call, project, *iid),
        api::Noteable::Snippet { project, id } => snippet(call, project, *id),
        api::Noteable::Epic { group, id } => epic(call, group, *id),
        api::Noteable::Commit { .. } => Err(Rejection::record_not_found()),
    }
}

fn issue<W: Deref<Target = World>>(call: &Call<W>, id: &Id, iid: u64) -> Result<NoteTarget, Rejection> {
    let project = call.project(id)?;
    call.require_user()?;
    let level = call.rights.level(&call.world, project);
    let found = call.world.issues.iter().find(|issue| issue.project == project.id && issue.iid == iid);
    let issue =
        found.filter(|issue| call.rights.can_read_issue(&call.world, issue)).ok_or_else(Rejection::record_not_found)?;
    Ok(NoteTarget {
        noteable: Noteable::Issue(issue.id),
        iid: Some(issue.iid),
        kind: "Issue",
        title: issue.title.clone(),
        file_name: String::new(),
        author: issue.author,
        level,
        is_members_only: issue.discussion_locked == Some(true) || project.archived,
    })
}

fn snippet<W: Deref<Target = World>>(call: &Call<W>, id: &Id, snippet: u64) -> Result<NoteTarget, Rejection> {
    let project = call.project(id)?;
    call.require_user()?;
    let found = call.world.snippets.get(snippet).filter(|snippet| snippet.project == project.id);
    let seen = |snippet: &&records::Snippet| call.rights.can_see_snippet(&call.world, project, snippet);
    let snippet = found.filter(seen).ok_or_else(Rejection::record_not_found)?;
    Ok(NoteTarget {
        noteable: Noteable::Snippet(snippet.id),
        iid: None,
        kind: "Snippet",
        title: snippet.title.clone(),
        file_name: snippet.file_name.clone(),
        author: snippet.author,
        level: call.rights.level(&call.world, project),
        is_members_only: project.archived,
    })
}

pub fn merge_request<W: Deref<Target = World>>(call: &Call<W>, id: &Id, iid: u64) -> Result<NoteTarget, Rejection> {
    let project = call.project(id)?;
    call.require_user()?;
    if !call.rights.can_read_code(&call.world, project) {
        return Err(Rejection::forbidden());
    }
    let found = call.world.merge_requests.iter().find(|mr| mr.target_project == project.id && mr.iid == iid);
    let mr = found.ok_or_else(Rejection::record_not_found)?;
    Ok(NoteTarget {
        noteable: Noteable::MergeRequest(mr.id),
        iid: Some(mr.iid),
        kind: "MergeRequest",
        title: mr.title.clone(),
        file_name: String::new(),
        author: mr.author,
        level: call.rights.level(&call.world, project),
        is_members_only: mr.discussion_locked == Some(true) || project.archived,
    })
}

fn epic<W: Deref<Target = World>>(call: &Call<W>, id: &Id, epic: u64) -> Result<NoteTarget, Rejection> {
    let group = call.group(id)?;
    call.require_user()?;
    let found = call.world.epics.get(epic).filter(|epic| epic.group == group.id);
    let epic = found.ok_or_else(Rejection::record_not_found)?;
    Ok(NoteTarget {
        noteable: Noteable::Epic(epic.id),
        iid: None,
        kind: "Epic",
        title: epic.title.clone(),
        file_name: String::new(),
        author: epic.author,
        level: call.rights.group_level(&call.world, group.id),
        is_members_only: false,
    })
}

/// Converts a note to its API representation; newer fields are present only where they apply.
pub fn show<W: Deref<Target = World>>(call: &Call<W>, target: &NoteTarget, note: &records::Note) -> Note {
    let noteable_id = match note.on {
        Noteable::MergeRequest(id) | Noteable::Issue(id) | Noteable::Snippet(id) | Noteable::Epic(id) => id,
    };
    let kind = match note.kind {
        NoteKind::Single => None,
        NoteKind::Thread => Some("DiscussionNote"),
        NoteKind::Diff => Some("DiffNote"),
    };
    let is_resolvable = note.is_resolvable();
    let (resolved_by, resolved_at) = match is_resolvable {
        true => (note.resolved_by.map(|user| call.user_summary(user)).into(), optional_time(note.resolved_at).into()),
        false => (Nullable::default(), Nullable::default()),
    };
    Note {
        id: note.id,
        body: note.body.clone(),
        attachment: note.attachment.clone(),
        author: Some(call.user_with_email(note.author)),
        created_at: Some(time(note.created_at)),
        updated_at: Some(time(note.updated_at)),
        system: note.system,
        noteable_id: Some(noteable_id),
        noteable_type: target.kind.into(),
        noteable_iid: target.iid,
        r#type: kind.map(str::to_owned).into(),
        position: note.position.clone(),
        commit_id: note.commit_id.clone(),
        resolvable: Some(is_resolvable),
        resolved: is_resolvable.then_some(note.resolved_at.is_some()),
        resolved_by,
        resolved_at,
        project_id: call.world.project_of(note.on).map(|project| project.id).into(),
        confidential: Some(note.internal),
        internal: Some(note.internal),
        imported: Some(false),
        imported_from: Some("none".into()),
        commands_changes: Some(BTreeMap::new()),
        suggestions: call.show_suggestions(note),
        ..Note::default()
    }
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns the comments on an object that the caller may read, without system notes.
    pub fn user_notes(&self, on: Noteable) -> impl Iterator<Item = &records::Note> {
        let is_shown =
            move |note: &&records::Note| note.on == on && !note.system && self.rights.can_read_note(&self.world, note);
        self.world.notes.iter().filter(is_shown)
    }

    /// Returns the representation in search results.
    pub fn search_result_note(&self, note: &records::Note) -> Note {
        let (kind, iid) = match note.on {
            Noteable::MergeRequest(id) => ("MergeRequest", self.world.merge_requests.get(id).map(|mr| mr.iid)),
            Noteable::Issue(id) => ("Issue", self.world.issues.get(id).map(|issue| issue.iid)),
            Noteable::Snippet(_) => ("Snippet", None),
            Noteable::Epic(_) => ("Epic", None),
        };
        let (title, file_name) = (String::new(), String::new());
        show(
            self,
            &NoteTarget { noteable: note.on, iid, kind, title, file_name, author: 0, level: 0, is_members_only: false },
            note,
        )
    }
}

fn list(call: &ReadCall, input: ListNotes) -> Outcome<Vec<Note>> {
    let target = target(call, &input.on)?;
    let by = call.choice_or_first("order_by", input.order_by.as_deref(), &["created_at", "updated_at"])?;
    let descending = call.descending(input.sort.as_deref(), "desc")?;
    let wanted = activity_filter(call)?;
    let fits = |note: &&records::Note| {
        note.on == target.noteable
            && wanted.is_none_or(|wants_activity| wants_activity == note.system)
            && call.rights.can_read_note(call.world, note)
    };
    let mut rows: Vec<&records::Note> = call.world.notes.iter().filter(fits).collect();
    // Notes with the same time are sorted by ID.
    match by {
        "updated_at" => stable_sort(&mut rows, descending, |note| (note.updated_at, note.id)),
        _ => stable_sort(&mut rows, descending, |note| (note.created_at, note.id)),
    }
    call.page(rows, |note| show(call, &target, note))
}

/// Returns whether only system notes are wanted, or only comments; `None` for both (since 18).
fn activity_filter(call: &ReadCall) -> Result<Option<bool>, Rejection> {
    const INPUT: &str = "activity_filter";
    if call.version < Version::V18 {
        return Ok(None);
    }
    let word = call.inputs.get(INPUT).and_then(Value::as_str);
    Ok(match call.choice_or_first(INPUT, word, &["all_notes", "only_comments", "only_activity"])? {
        "only_comments" => Some(false),
        "only_activity" => Some(true),
        _ => None,
    })
}

/// Returns a note on an object.
///
/// # Errors
/// Fails with 404 if it is on another one, is hidden from the caller, or does not exist.
pub fn find<'a, W: Deref<Target = World>>(
    call: &'a Call<W>,
    target: &NoteTarget,
    id: u64,
) -> Result<&'a records::Note, Rejection> {
    let is_shown = |note: &&records::Note| note.on == target.noteable && call.rights.can_read_note(&call.world, note);
    call.world.notes.get(id).filter(is_shown).ok_or_else(|| Rejection::not_found("Note"))
}

/// Returns a note. The API represents one on a snippet or an epic in the shape of a snippet.
fn get(call: &ReadCall, input: GetNote) -> Outcome<NoteReply> {
    let target = target(call, &input.on)?;
    let note = find(call, &target, input.note_id)?;
    ok(match target.noteable {
        Noteable::MergeRequest(_) | Noteable::Issue(_) => NoteReply::Note(Box::new(show(call, &target, note))),
        Noteable::Snippet(_) | Noteable::Epic(_) => NoteReply::Object(Box::new(NoteObject {
            id: note.id,
            title: Some(target.title.clone()),
            file_name: Some(target.file_name.clone()),
            author: Some(call.user_with_email(note.author)),
            expires_at: None,
            updated_at: Some(time(note.updated_at)),
            created_at: Some(time(note.created_at)),
        })),
    })
}

/// Checks that the caller may comment. Returns the ID of the caller.
pub fn authorize_write(call: &WriteCall, target: &NoteTarget) -> Result<u64, Rejection> {
    let author = call.require_user()?.id;
    if target.is_members_only && target.level < level::GUEST { Err(Rejection::forbidden()) } else { Ok(author) }
}

/// Returns whether a new comment is to be internal. It is public without a word if the caller may not write such
/// (GitLab, `app/services/notes/build_service.rb`).
pub fn is_internal(call: &WriteCall, target: &NoteTarget) -> Result<bool, Rejection> {
    let is_internal = call.option("internal")?.or(call.option("confidential")?);
    let asks = is_internal == Some(true) && call.version >= Version::V17;
    Ok(asks && target.level >= level::PLANNER && !matches!(target.noteable, Noteable::Snippet(_)))
}

/// Adds a comment; one that consists of an emoji alone is a reaction.
pub fn create(call: &mut WriteCall, target: NoteTarget, body: String, at: Option<Timestamp>) -> Outcome<NoteReply> {
    let author = authorize_write(call, &target)?;
    if body.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "note": ["can't be blank"] })));
    }
    let now = at.unwrap_or(call.now);
    if let Some(emoji) = emoji::find_alone(&body)
        && matches!(target.noteable, Noteable::MergeRequest(_) | Noteable::Issue(_))
    {
        call.world.react(target.noteable, None, emoji.name, author, now);
        call.world.mark_todos_done(target.noteable, author);
        return ok(NoteReply::Object(Box::new(NoteObject {
            id: 0,
            title: Some(target.title),
            file_name: Some(target.file_name),
            author: Some(call.user_with_email(author)),
            expires_at: None,
            updated_at: Some(time(now)),
            created_at: Some(time(now)),
        })));
    }
    let note = records::Note {
        on: target.noteable,
        body,
        author,
        created_at: now,
        updated_at: now,
        internal: is_internal(call, &target)?,
        ..records::Note::default()
    };
    let id = add(call, note);
    let note = find(call, &target, id)?;
    ok(NoteReply::Note(Box::new(show(call, &target, note))))
}

/// Adds a note. Returns its ID.
pub fn add(call: &mut WriteCall, note: records::Note) -> u64 {
    record_activity(call.world, note.on, note.created_at, note.author);
    let (on, text, now, author) = (note.on, note.body.clone(), note.created_at, note.author);
    let id = call.world.notes.add(note);
    call.world.mark_todos_done(on, author);
    call.world.add_mention_todos(on, Some(id), ("", &text), author, now);
    suggestions::refresh(call, id);
    id
}

/// Updates the time of the last change of a merge request or issue, and subscribes a commenter to it.
fn record_activity(world: &mut World, on: Noteable, now: Timestamp, by: u64) {
    match on {
        Noteable::MergeRequest(id) => {
            if let Some(mr) = world.merge_requests.get_mut(id) {
                mr.updated_at = mr.updated_at.max(now);
                mr.subscribers.insert(by);
            }
        }
        Noteable::Issue(id) => {
            if let Some(issue) = world.issues.get_mut(id) {
                issue.updated_at = issue.updated_at.max(now);
                issue.subscribers.insert(by);
            }
        }
        Noteable::Snippet(_) | Noteable::Epic(_) => {}
    }
}

/// Checks that the caller may change a note: their own, or any note for maintainers, but no system notes. Returns its
/// ID.
fn authorize_edit(call: &WriteCall, target: &NoteTarget, id: u64) -> Result<u64, Rejection> {
    let caller = call.require_user()?.id;
    let note = find(call, target, id)?;
    let may = (note.author == caller || target.level >= level::MAINTAINER) && !note.system;
    if may { Ok(note.id) } else { Err(Rejection::forbidden()) }
}

pub fn update(call: &mut WriteCall, target: &NoteTarget, id: u64, body: String) -> Outcome<Note> {
    let id = authorize_edit(call, target, id)?;
    if body.trim().is_empty() {
        return Err(Rejection::bad_request(json!({ "note": ["can't be blank"] })));
    }
    let (now, caller) = (call.now, call.require_user()?.id);
    if let Some(note) = call.world.notes.get_mut(id) {
        let before = std::mem::replace(&mut note.body, body.clone());
        note.updated_at = now;
        call.world.add_mention_todos(target.noteable, Some(id), (&before, &body), caller, now);
    }
    suggestions::refresh(call, id);
    ok(show(call, target, find(call, target, id)?))
}

pub fn delete(call: &mut WriteCall, target: &NoteTarget, id: u64) -> Outcome<NoContent> {
    let id = authorize_edit(call, target, id)?;
    call.check_unmodified(find(call, target, id)?.updated_at)?;
    call.world.remove_notes(|note| note.id == id);
    Ok(Answer::new(NoContent))
}
