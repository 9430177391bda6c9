//! Draft notes, which only their author can see until they are published.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::discussions;
use super::modes::Version;
use super::mount::Mount;
use super::notes::{self, NoteTarget};
use super::positions;
use super::quick_actions;
use super::records::{self, Noteable, ReviewState};
use super::rejection::Rejection;
use super::world::World;
use api::draft_notes::*;
use api::notes::{NewPosition, Position};
use api::{Id, NoContent};
use serde_json::json;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListDraftNotes>(list)
        .read_signed_in::<GetDraftNote>(get)
        .write::<CreateDraftNote>(create)
        .write::<UpdateDraftNote>(update)
        .write::<DeleteDraftNote>(delete)
        .write::<PublishDraftNote>(publish_one)
        .write::<PublishReview>(publish_all)
}

api::endpoints! {
    unspecified section "Draft notes";

    /// Gets a draft note of the caller.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}" => DraftNote;
    struct GetDraftNote { id: Id, merge_request_iid: u64, draft_note_id: u64 }
}

/// Returns the merge request as a note target, its ID, and the ID of the caller.
fn find_target<W: Deref<Target = World>>(
    call: &Call<W>,
    id: &Id,
    iid: u64,
) -> Result<(NoteTarget, u64, u64), Rejection> {
    let target = notes::merge_request(call, id, iid)?;
    let Noteable::MergeRequest(mr) = target.noteable else { return Err(Rejection::record_not_found()) };
    let user = call.require_user()?.id;
    Ok((target, mr, user))
}

impl World {
    /// Returns a user's draft notes on a merge request, oldest first.
    fn draft_notes_of(&self, mr: u64, user: u64) -> impl Iterator<Item = &records::DraftNote> {
        self.draft_notes.iter().filter(move |draft_note| draft_note.merge_request == mr && draft_note.author == user)
    }
}

fn show(draft_note: &records::DraftNote) -> DraftNote {
    let noteable = Noteable::MergeRequest(draft_note.merge_request);
    DraftNote {
        id: draft_note.id,
        author_id: draft_note.author,
        merge_request_id: draft_note.merge_request,
        resolve_discussion: draft_note.resolves,
        discussion_id: draft_note.thread.map(|thread| discussions::discussion_id(noteable, thread)),
        note: draft_note.note.clone(),
        commit_id: draft_note.commit_id.clone(),
        line_code: draft_note.line_code.clone(),
        // A comment without a position has one with all fields null.
        position: Some(draft_note.position.clone().unwrap_or_default()),
    }
}

fn list(call: &ReadCall, input: ListDraftNotes) -> Outcome<Vec<DraftNote>> {
    let (_, mr, user) = find_target(call, &input.id, input.merge_request_iid)?;
    ok(call.world.draft_notes_of(mr, user).map(show).collect())
}

fn get(call: &ReadCall, input: GetDraftNote) -> Outcome<DraftNote> {
    let (_, mr, user) = find_target(call, &input.id, input.merge_request_iid)?;
    ok(show(find(call, mr, user, input.draft_note_id)?))
}

/// Parses a position, and returns it with the code of its line, if it has one: it need not be in the diff.
fn parse_position(
    call: &WriteCall,
    mr: u64,
    position: &Option<NewPosition>,
) -> Result<(Option<Position>, Option<String>), Rejection> {
    let Some(position) = position.as_ref().map(positions::to_record).transpose()? else { return Ok((None, None)) };
    let mr = call.world.merge_requests.get(mr).ok_or_else(Rejection::record_not_found)?;
    let git = call.git(call.world.projects.get(mr.target_project).ok_or_else(Rejection::record_not_found)?)?;
    call.make_fork_commits_available(mr, &git);
    let line_code = positions::line_code(&git, &position).ok().flatten();
    Ok((Some(position), line_code))
}

fn create(call: &mut WriteCall, input: CreateDraftNote) -> Outcome<DraftNote> {
    let (target, mr, user) = find_target(call, &input.id, input.merge_request_iid)?;
    notes::authorize_write(call, &target)?;
    let refuse = |why: &str| Rejection::bad_request(json!({ "base": [why] }));
    check_note(&input.note)?;
    let discussion_id = input.in_reply_to_discussion_id.filter(|id| !id.is_empty());
    let thread = discussion_id.map(|id| {
        discussions::find(call, target.noteable, &id).map_err(|_| refuse("Thread to reply to cannot be found"))
    });
    let thread = thread.transpose()?;
    let resolves = input.resolve_discussion == Some(true);
    if let Some(thread) = thread {
        if call.world.thread(target.noteable, thread).any(|note| note.system) {
            return Err(refuse("Thread to reply to cannot be found"));
        }
        if resolves && !discussions::can_resolve(call, &target, thread)? {
            return Err(refuse("User is not allowed to resolve thread"));
        }
        if call.world.draft_notes_of(mr, user).any(|draft_note| draft_note.thread == Some(thread)) {
            return Err(Rejection::bad_request(json!({ "author_id": ["has already been taken"] })));
        }
    }
    let (position, line_code) = parse_position(call, mr, &input.position)?;
    let id = call.world.draft_notes.add(records::DraftNote {
        merge_request: mr,
        author: user,
        note: input.note,
        thread,
        resolves,
        position,
        commit_id: input.commit_id,
        line_code,
        created_at: call.now,
        ..records::DraftNote::default()
    });
    set_review(call, mr, user, ReviewState::Started);
    ok(show(find(call, mr, user, id)?))
}

fn check_note(note: &str) -> Result<(), Rejection> {
    if note.trim().is_empty() { Err(Rejection::bad_request(json!({ "note": ["can't be blank"] }))) } else { Ok(()) }
}

/// Sets the state of the caller's review, if it was requested.
fn set_review(call: &mut WriteCall, mr: u64, user: u64, state: ReviewState) {
    let state_differs = |mr: &records::MergeRequest| mr.reviewers.iter().any(|r| r.user == user && r.state != state);
    if call.world.merge_requests.get(mr).is_some_and(state_differs)
        && let Some(mr) = call.world.merge_requests.get_mut(mr)
    {
        mr.set_review(user, state);
    }
}

/// Returns a draft note of the caller; those of others do not exist for them.
fn find<W: Deref<Target = World>>(
    call: &Call<W>,
    mr: u64,
    user: u64,
    id: u64,
) -> Result<&records::DraftNote, Rejection> {
    let draft_note = call.world.draft_notes.get(id);
    draft_note
        .filter(|draft_note| draft_note.merge_request == mr && draft_note.author == user)
        .ok_or_else(Rejection::record_not_found)
}

fn update(call: &mut WriteCall, input: UpdateDraftNote) -> Outcome<DraftNote> {
    let (_, mr, user) = find_target(call, &input.id, input.merge_request_iid)?;
    let id = find(call, mr, user, input.draft_note_id)?.id;
    check_note(&input.note)?;
    let (position, line_code) = parse_position(call, mr, &input.position)?;
    if let Some(draft_note) = call.world.draft_notes.get_mut(id) {
        draft_note.note = input.note;
        // An update without a position removes it.
        (draft_note.position, draft_note.line_code) = (position, line_code);
    }
    ok(show(find(call, mr, user, id)?))
}

fn delete(call: &mut WriteCall, input: DeleteDraftNote) -> Outcome<NoContent> {
    let (_, mr, user) = find_target(call, &input.id, input.merge_request_iid)?;
    let id = find(call, mr, user, input.draft_note_id)?.id;
    call.world.draft_notes.remove(id);
    if call.world.draft_notes_of(mr, user).next().is_none() {
        set_review(call, mr, user, ReviewState::Unreviewed);
    }
    ok(NoContent)
}

fn publish_one(call: &mut WriteCall, input: PublishDraftNote) -> Outcome<NoContent> {
    let (target, mr, user) = find_target(call, &input.id, input.merge_request_iid)?;
    let id = find(call, mr, user, input.draft_note_id)?.id;
    publish(call, &target, &[id])?;
    ok(NoContent)
}

fn publish_all(call: &mut WriteCall, input: PublishReview) -> Outcome<NoContent> {
    let (target, mr, user) = find_target(call, &input.id, input.merge_request_iid)?;
    // Older versions ignore the state.
    let state = input.reviewer_state.as_deref().filter(|_| call.version >= Version::V19);
    let state = call.choice_or_first("reviewer_state", state, &["", "reviewed", "requested_changes"])?;
    let state = ReviewState::from_name(state);
    publish_own(call, &target, mr, user)?;
    if let Some(summary) = input.note.filter(|text| !text.trim().is_empty()) {
        let author = notes::authorize_write(call, &target)?;
        let (on, at) = (target.noteable, call.now);
        let internal = notes::is_internal(call, &target)?;
        let body = summary;
        let note = records::Note { on, body, author, created_at: at, updated_at: at, internal, ..Default::default() };
        notes::add(call, note);
    }
    // A verdict that is not allowed is not reported. Without one, a started review stays started.
    if let Some(state) = state {
        _ = quick_actions::set_review(call, &target, mr, user, state);
    }
    ok(NoContent)
}

/// Publishes the draft notes of a user on a merge request.
pub fn publish_own(call: &mut WriteCall, target: &NoteTarget, mr: u64, user: u64) -> Result<(), Rejection> {
    let ids: Vec<u64> = call.world.draft_notes_of(mr, user).map(|draft_note| draft_note.id).collect();
    if ids.is_empty() { Ok(()) } else { publish(call, target, &ids) }
}

/// Publishes draft notes as notes. One that cannot be published, for example because its line is not in the diff, is
/// lost silently, as on GitLab servers.
fn publish(call: &mut WriteCall, target: &NoteTarget, ids: &[u64]) -> Result<(), Rejection> {
    notes::authorize_write(call, target)?;
    for id in ids {
        let Some(mut draft_note) = call.world.draft_notes.remove(*id) else { continue };
        // Quick actions in a draft run when it is published.
        match quick_actions::execute_in(call, target, draft_note.note) {
            Ok(Ok(text)) => draft_note.note = text,
            Ok(Err(_)) | Err(_) => continue,
        }
        let published = match draft_note.thread {
            Some(thread) => discussions::reply(call, target, thread, draft_note.note).map(|_| thread),
            None => discussions::start(call, target, draft_note.note, draft_note.position, draft_note.commit_id),
        };
        let Ok(thread) = published else { continue };
        // A draft note that does not resolve its thread reopens it.
        if !draft_note.resolves || discussions::can_resolve(call, target, thread)? {
            discussions::set_resolved(call, target, thread, draft_note.resolves)?;
        }
    }
    Ok(())
}
