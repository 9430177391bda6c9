//! Discussions: notes by thread, on merge requests, issues and snippets.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::modes::Version;
use super::mount::Mount;
use super::notes::{self, NoteTarget};
use super::positions;
use super::records::{self, NoteKind, Noteable, level};
use super::rejection::Rejection;
use super::suggestions;
use super::world::World;
use api::NoContent;
use api::discussions::*;
use api::notes::{Note, Position};
use sha1::{Digest, Sha1};
use std::collections::BTreeMap;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListDiscussions>(|call, e| list(call, &notes::target(call, &e.on)?))
        .write::<ResolveDiscussion>(|call, e| {
            let target = notes::target(call, &e.on)?;
            resolve(call, &target, &e.discussion_id, e.resolved)
        })
        .read_signed_in::<GetDiscussion>(|call, e| {
            let target = notes::target(call, &e.on)?;
            ok(show(call, &target, find(call, target.noteable, &e.discussion_id)?))
        })
        .read_signed_in::<ListDiscussionNotes>(|call, e| {
            let target = notes::target(call, &e.on)?;
            let thread = find(call, target.noteable, &e.discussion_id)?;
            call.page(show(call, &target, thread).notes, |note| note)
        })
        .read_signed_in::<GetDiscussionNote>(|call, e| {
            let target = notes::target(call, &e.on)?;
            let note = note_of(call, &target, &e.discussion_id, e.note_id)?;
            ok(notes::show(call, &target, notes::find(call, &target, note)?))
        })
        .write::<UpdateDiscussionNote>(update_note)
        .write::<DeleteDiscussionNote>(|call, e| {
            let target = notes::target(call, &e.on)?;
            let note = note_of(call, &target, &e.discussion_id, e.note_id)?;
            notes::delete(call, &target, note)
        })
        .write::<ApplySuggestion>(suggestions::apply_one)
        .write::<ApplySuggestions>(suggestions::apply_all)
}

api::endpoints! {
    unspecified section "Discussions";

    /// Gets a thread.
    GET "/discussions/{discussion_id}" of on: Noteable [merge_request, issue, snippet] => Discussion;
    struct GetDiscussion { discussion_id: String }

    /// Lists the notes of a thread, oldest first.
    GET "/discussions/{discussion_id}/notes" of on: Noteable [merge_request, issue, snippet] => Vec<Note>;
    struct ListDiscussionNotes { discussion_id: String }

    /// Gets a note of a thread.
    GET "/discussions/{discussion_id}/notes/{note_id}" of on: Noteable [merge_request, issue, snippet] => Note;
    struct GetDiscussionNote { discussion_id: String, note_id: u64 }

    /// Changes the text of a note of a thread, or resolves the thread.
    PUT "/discussions/{discussion_id}/notes/{note_id}" of on: Noteable [merge_request, issue, snippet] => Note;
    struct UpdateDiscussionNote {
        discussion_id: String,
        note_id: u64,
        body: Option<String>,
        resolved: Option<bool>,
    }

    /// Deletes a note of a thread.
    DELETE "/discussions/{discussion_id}/notes/{note_id}" of on: Noteable [merge_request, issue, snippet] => NoContent;
    struct DeleteDiscussionNote { discussion_id: String, note_id: u64 }
}

/// Returns the ID of a thread in the API: a hash.
pub fn discussion_id(on: Noteable, thread: u64) -> String {
    let (kind, id) = match on {
        Noteable::MergeRequest(id) => ("MergeRequest", id),
        Noteable::Issue(id) => ("Issue", id),
        Noteable::Snippet(id) => ("Snippet", id),
        Noteable::Epic(id) => ("Epic", id),
    };
    let hash = Sha1::digest(format!("{kind}/{id}/{thread}"));
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl World {
    /// Returns the notes of each thread, oldest first, by thread ID; thread IDs increase with time.
    fn threads(&self, on: Noteable) -> BTreeMap<u64, Vec<&records::Note>> {
        let mut threads: BTreeMap<u64, Vec<&records::Note>> = BTreeMap::new();
        for note in self.notes.iter().filter(|note| note.on == on) {
            threads.entry(note.thread()).or_default().push(note);
        }
        threads
    }

    /// Returns the notes of a thread, oldest first.
    pub fn thread(&self, on: Noteable, thread: u64) -> impl Iterator<Item = &records::Note> {
        self.notes.iter().filter(move |note| note.on == on && note.thread() == thread)
    }

    /// Returns the record ID of the thread with an ID of the API.
    fn find_thread(&self, on: Noteable, id: &str) -> Option<u64> {
        let mut of = self.notes.iter().filter(|note| note.on == on).map(records::Note::thread);
        of.find(|thread| discussion_id(on, *thread) == id)
    }

    /// Returns whether there is an unresolved thread.
    pub fn has_unresolved(&self, on: Noteable) -> bool {
        self.notes.iter().any(|note| note.on == on && note.is_unresolved())
    }
}

fn show<W: Deref<Target = World>>(call: &Call<W>, target: &NoteTarget, thread: u64) -> Discussion {
    let notes: Vec<&records::Note> = call.world.thread(target.noteable, thread).collect();
    show_notes(call, target, thread, &notes)
}

fn show_notes<W: Deref<Target = World>>(
    call: &Call<W>,
    target: &NoteTarget,
    thread: u64,
    notes: &[&records::Note],
) -> Discussion {
    let individual_note = notes.iter().all(|note| note.kind == NoteKind::Single);
    let notes = notes.iter().map(|note| notes::show(call, target, note)).collect();
    thread_of(call, discussion_id(target.noteable, thread), individual_note, notes)
}

/// Returns a thread of notes.
pub fn thread_of<W>(call: &Call<W>, id: String, individual_note: bool, notes: Vec<Note>) -> Discussion {
    let resolved = is_resolved(&notes);
    let since_19 = |is_so: bool| (call.version >= Version::V19).then_some(is_so);
    let (resolvable, resolved) = (since_19(resolved.is_some()), since_19(resolved == Some(true)));
    Discussion { id, individual_note, notes, summary: None, resolvable, resolved }
}

fn list(call: &ReadCall, target: &NoteTarget) -> Outcome<Vec<Discussion>> {
    let mut threads: Vec<(u64, Vec<&records::Note>)> = call.world.threads(target.noteable).into_iter().collect();
    threads.retain(|(_, notes)| notes.iter().all(|note| call.rights.can_read_note(call.world, note)));
    // Notes may be backdated.
    threads.sort_by_key(|(_, notes)| notes.first().map(|note| note.created_at));
    call.page(threads, |(thread, notes)| show_notes(call, target, thread, &notes))
}

/// Returns a 400 in the wording of GitLab servers.
fn bad_request(why: &str) -> Rejection {
    Rejection::bad_request(format!("400 Bad request - {why}"))
}

/// Starts a thread, and returns it.
pub fn create(call: &mut WriteCall, target: &NoteTarget, new: CreateDiscussion) -> Outcome<Discussion> {
    // Other objects have no lines to comment on.
    let is_request = matches!(target.noteable, Noteable::MergeRequest(_));
    let position = new.position.as_ref().filter(|_| is_request).map(positions::to_record).transpose()?;
    let id = start(call, target, new.body, position, new.commit_id.filter(|_| is_request))?;
    ok(show(call, target, id))
}

/// Starts a thread, on a line if a position is given. Returns its ID.
///
/// # Errors
/// Fails with 400 if the text is empty or the position is not in the diff.
pub fn start(
    call: &mut WriteCall,
    target: &NoteTarget,
    body: String,
    position: Option<Position>,
    commit_id: Option<String>,
) -> Result<u64, Rejection> {
    let author = notes::authorize_write(call, target)?;
    check_body(&body)?;
    let mut position = position;
    if let (Some(found), Noteable::MergeRequest(id)) = (&position, target.noteable) {
        let mr = call.world.merge_requests.get(id).ok_or_else(Rejection::record_not_found)?;
        let project = call.world.projects.get(mr.target_project).ok_or_else(Rejection::record_not_found)?;
        let git = call.git(project)?;
        call.make_fork_commits_available(mr, &git);
        // Fails if the position is not in the diff.
        positions::line_code(&git, found)?;
        // A thread on a single commit keeps its position.
        if commit_id.is_none() {
            position = Some(call.to_current_diff(mr, &git, found));
        }
    }
    let kind = if position.is_some() { NoteKind::Diff } else { NoteKind::Thread };
    let now = call.now;
    Ok(notes::add(
        call,
        records::Note {
            on: target.noteable,
            body,
            author,
            created_at: now,
            updated_at: now,
            kind,
            position,
            commit_id,
            ..records::Note::default()
        },
    ))
}

fn check_body(body: &str) -> Result<(), Rejection> {
    if body.trim().is_empty() { Err(bad_request("Note {:note=>[\"can't be blank\"]}")) } else { Ok(()) }
}

/// Returns the record ID of a thread that the caller may read.
///
/// # Errors
/// Fails with 404 if there is none.
pub fn find<W: Deref<Target = World>>(call: &Call<W>, on: Noteable, id: &str) -> Result<u64, Rejection> {
    let is_shown =
        |thread: &u64| call.world.thread(on, *thread).all(|note| call.rights.can_read_note(&call.world, note));
    call.world.find_thread(on, id).filter(is_shown).ok_or_else(|| Rejection::not_found("Discussion"))
}

/// Returns the ID of a note if it is part of a thread.
fn note_of<W: Deref<Target = World>>(
    call: &Call<W>,
    target: &NoteTarget,
    discussion: &str,
    note: u64,
) -> Result<u64, Rejection> {
    let thread = find(call, target.noteable, discussion)?;
    let found = notes::find(call, target, note)?;
    if found.thread() == thread { Ok(found.id) } else { Err(Rejection::not_found("Note")) }
}

fn update_note(call: &mut WriteCall, input: UpdateDiscussionNote) -> Outcome<Note> {
    let target = notes::target(call, &input.on)?;
    let note = note_of(call, &target, &input.discussion_id, input.note_id)?;
    match (input.body, input.resolved) {
        (Some(_), Some(_)) => return Err(Rejection::error(400, "body, resolved are mutually exclusive")),
        (None, None) => {
            return Err(Rejection::error(400, "body, resolved are missing, exactly one parameter must be provided"));
        }
        (Some(body), None) => return notes::update(call, &target, note, body),
        (None, Some(resolved)) => {
            resolve(call, &target, &input.discussion_id, resolved)?;
        }
    }
    ok(notes::show(call, &target, notes::find(call, &target, note)?))
}

/// Replies in a thread. Returns the reply.
pub fn answer(call: &mut WriteCall, target: &NoteTarget, id: &str, body: String) -> Outcome<Note> {
    let thread = find(call, target.noteable, id)?;
    let id = reply(call, target, thread, body)?;
    let note = call.world.notes.get(id).ok_or_else(|| Rejection::not_found("Note"))?;
    ok(notes::show(call, target, note))
}

/// Replies in a thread; an individual note becomes a thread. Returns the ID of the reply.
///
/// # Errors
/// Fails with 400 if the text is empty or the note cannot be replied to.
pub fn reply(call: &mut WriteCall, target: &NoteTarget, thread: u64, body: String) -> Result<u64, Rejection> {
    let author = notes::authorize_write(call, target)?;
    check_body(&body)?;
    let first =
        call.world.thread(target.noteable, thread).next().ok_or_else(|| Rejection::not_found("Discussion"))?.clone();
    if first.system {
        return Err(bad_request("Replies to system notes are not allowed."));
    }
    let is_single = first.kind == NoteKind::Single;
    if is_single && !matches!(target.noteable, Noteable::MergeRequest(_) | Noteable::Issue(_)) {
        return Err(bad_request("Discussion can not be replied to."));
    }
    if let Some(first) = call.world.notes.get_mut(first.id).filter(|_| is_single) {
        first.kind = NoteKind::Thread;
    }
    let now = call.now;
    let note = records::Note {
        on: target.noteable,
        body,
        author,
        created_at: now,
        updated_at: now,
        kind: if is_single { NoteKind::Thread } else { first.kind },
        thread: Some(thread),
        position: first.position,
        commit_id: first.commit_id,
        internal: first.internal,
        // A reply does not reopen a resolved thread.
        resolved_by: first.resolved_by,
        resolved_at: first.resolved_at,
        ..records::Note::default()
    };
    Ok(notes::add(call, note))
}

fn resolve(call: &mut WriteCall, target: &NoteTarget, id: &str, resolved: bool) -> Outcome<Discussion> {
    let thread = find(call, target.noteable, id)?;
    if !can_resolve(call, target, thread)? {
        return Err(Rejection::forbidden());
    }
    set_resolved(call, target, thread, resolved)?;
    ok(show(call, target, thread))
}

/// Returns whether the caller may resolve a thread.
pub fn can_resolve(call: &WriteCall, target: &NoteTarget, thread: u64) -> Result<bool, Rejection> {
    let user = call.require_user()?.id;
    let first = call.world.thread(target.noteable, thread).next();
    let takes_part = target.author == user || first.is_some_and(|note| note.author == user);
    let is_open = !target.is_members_only || target.level >= level::GUEST;
    let is_resolvable = call.world.thread(target.noteable, thread).any(records::Note::is_resolvable);
    Ok(is_resolvable && is_open && (takes_part || target.level >= level::DEVELOPER))
}

/// Resolves or reopens a thread without checking permissions.
pub fn set_resolved(call: &mut WriteCall, target: &NoteTarget, thread: u64, resolved: bool) -> Result<(), Rejection> {
    let (user, now) = (call.require_user()?.id, call.now);
    let differs = |note: &&records::Note| note.is_resolvable() && note.resolved_at.is_some() != resolved;
    let ids: Vec<u64> = call.world.thread(target.noteable, thread).filter(differs).map(|note| note.id).collect();
    for id in &ids {
        if let Some(note) = call.world.notes.get_mut(*id) {
            (note.resolved_by, note.resolved_at) = if resolved { (Some(user), Some(now)) } else { (None, None) };
        }
    }
    if let Noteable::MergeRequest(mr) = target.noteable
        && resolved
        && !ids.is_empty()
        && !call.world.has_unresolved(target.noteable)
    {
        call.add_system_note(mr, user, "resolved all threads");
    }
    Ok(())
}
