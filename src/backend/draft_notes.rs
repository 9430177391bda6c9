//! Draft notes, which only their author can see until they are published.

use super::call::{Call, Outcome, ReadCall, WriteCall, ok};
use super::discussions;
use super::mount::Mount;
use super::notes::{self, NoteTarget};
use super::positions;
use super::records::{self, Noteable, ReviewState};
use super::rejection::Rejection;
use super::world::World;
use crate::api::draft_notes::*;
use crate::api::notes::{NewPosition, Position};
use crate::api::{Id, NoContent};
use serde_json::json;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListDraftNotes>(list)
        .write::<CreateDraftNote>(create)
        .write::<UpdateDraftNote>(update)
        .write::<DeleteDraftNote>(delete)
        .write::<PublishDraftNote>(publish_one)
        .write::<PublishReview>(publish_all)
}

/// Returns the merge request as a note target, its ID, and the ID of the caller.
fn target<W: Deref<Target = World>>(call: &Call<W>, id: &Id, iid: u64) -> Result<(NoteTarget, u64, u64), Rejection> {
    let on = notes::merge_request(call, id, iid)?;
    let Noteable::MergeRequest(mr) = on.on else { return Err(Rejection::no_record()) };
    let user = call.signed_in()?.id;
    Ok((on, mr, user))
}

impl World {
    /// Returns a user's drafts on a merge request, oldest first.
    fn drafts(&self, mr: u64, user: u64) -> impl Iterator<Item = &records::DraftNote> {
        self.draft_notes.iter().filter(move |draft| draft.merge_request == mr && draft.author == user)
    }
}

fn show(draft: &records::DraftNote) -> DraftNote {
    let on = Noteable::MergeRequest(draft.merge_request);
    DraftNote {
        id: draft.id,
        author_id: draft.author,
        merge_request_id: draft.merge_request,
        resolve_discussion: draft.resolves,
        discussion_id: draft.thread.map(|thread| discussions::hash(on, thread)),
        note: draft.note.clone(),
        commit_id: draft.commit_id.clone(),
        line_code: draft.line_code.clone(),
        // A comment without a position has one with all fields null.
        position: Some(draft.position.clone().unwrap_or_default()),
    }
}

fn list(call: &ReadCall, input: ListDraftNotes) -> Outcome<Vec<DraftNote>> {
    let (_, mr, user) = target(call, &input.id, input.merge_request_iid)?;
    ok(call.world.drafts(mr, user).map(show).collect())
}

/// Parses a position, and returns it with the code of its line, if it has one: it need not be in the diff.
fn parse_position(
    call: &WriteCall,
    mr: u64,
    position: &Option<NewPosition>,
) -> Result<(Option<Position>, Option<String>), Rejection> {
    let Some(position) = position.as_ref().map(positions::read).transpose()? else { return Ok((None, None)) };
    let mr = call.world.merge_requests.get(mr).ok_or_else(Rejection::no_record)?;
    let git = call.git(call.world.projects.get(mr.target_project).ok_or_else(Rejection::no_record)?)?;
    // Makes the commits of a fork readable.
    call.diff_ends(mr, &git);
    let line_code = positions::check(&git, &position).ok().flatten();
    Ok((Some(position), line_code))
}

fn create(call: &mut WriteCall, input: CreateDraftNote) -> Outcome<DraftNote> {
    let (on, mr, user) = target(call, &input.id, input.merge_request_iid)?;
    notes::authorize_write(call, &on)?;
    let refuse = |why: &str| Rejection::bad_request(json!({ "base": [why] }));
    check_note(&input.note)?;
    let hash = input.in_reply_to_discussion_id.filter(|hash| !hash.is_empty());
    let thread = hash.map(|hash| {
        let found = call.world.find_thread(on.on, &hash);
        found.ok_or_else(|| refuse("Thread to reply to cannot be found"))
    });
    let thread = thread.transpose()?;
    let resolves = input.resolve_discussion == Some(true);
    if let Some(thread) = thread {
        if call.world.thread(on.on, thread).any(|note| note.system) {
            return Err(refuse("Thread to reply to cannot be found"));
        }
        if resolves && !discussions::can_resolve(call, &on, thread)? {
            return Err(refuse("User is not allowed to resolve thread"));
        }
        if call.world.drafts(mr, user).any(|draft| draft.thread == Some(thread)) {
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
    let is_other = |mr: &records::MergeRequest| mr.reviewers.iter().any(|r| r.user == user && r.state != state);
    if call.world.merge_requests.get(mr).is_some_and(is_other)
        && let Some(mr) = call.world.merge_requests.get_mut(mr)
    {
        mr.set_review(user, state);
    }
}

/// Returns a draft of the caller; drafts of others do not exist for them.
fn find<W: Deref<Target = World>>(
    call: &Call<W>,
    mr: u64,
    user: u64,
    id: u64,
) -> Result<&records::DraftNote, Rejection> {
    let draft = call.world.draft_notes.get(id);
    draft.filter(|draft| draft.merge_request == mr && draft.author == user).ok_or_else(Rejection::no_record)
}

fn update(call: &mut WriteCall, input: UpdateDraftNote) -> Outcome<DraftNote> {
    let (_, mr, user) = target(call, &input.id, input.merge_request_iid)?;
    let id = find(call, mr, user, input.draft_note_id)?.id;
    check_note(&input.note)?;
    let (position, line_code) = parse_position(call, mr, &input.position)?;
    if let Some(draft) = call.world.draft_notes.get_mut(id) {
        draft.note = input.note;
        // An update without a position removes it.
        (draft.position, draft.line_code) = (position, line_code);
    }
    ok(show(find(call, mr, user, id)?))
}

fn delete(call: &mut WriteCall, input: DeleteDraftNote) -> Outcome<NoContent> {
    let (_, mr, user) = target(call, &input.id, input.merge_request_iid)?;
    let id = find(call, mr, user, input.draft_note_id)?.id;
    call.world.draft_notes.remove(id);
    if call.world.drafts(mr, user).next().is_none() {
        set_review(call, mr, user, ReviewState::Unreviewed);
    }
    ok(NoContent)
}

fn publish_one(call: &mut WriteCall, input: PublishDraftNote) -> Outcome<NoContent> {
    let (on, mr, user) = target(call, &input.id, input.merge_request_iid)?;
    let id = find(call, mr, user, input.draft_note_id)?.id;
    publish(call, &on, &[id])?;
    if call.world.drafts(mr, user).next().is_none() {
        set_review(call, mr, user, ReviewState::Reviewed);
    }
    ok(NoContent)
}

fn publish_all(call: &mut WriteCall, input: PublishReview) -> Outcome<NoContent> {
    let (on, mr, user) = target(call, &input.id, input.merge_request_iid)?;
    let ids: Vec<u64> = call.world.drafts(mr, user).map(|draft| draft.id).collect();
    if !ids.is_empty() {
        publish(call, &on, &ids)?;
        set_review(call, mr, user, ReviewState::Reviewed);
    }
    ok(NoContent)
}

/// Publishes drafts as notes. A draft that cannot be published, for example because its line is not in the diff, is
/// lost silently, as on GitLab servers.
fn publish(call: &mut WriteCall, on: &NoteTarget, ids: &[u64]) -> Result<(), Rejection> {
    notes::authorize_write(call, on)?;
    for id in ids {
        let Some(draft) = call.world.draft_notes.remove(*id) else { continue };
        let published = match draft.thread {
            Some(thread) => discussions::reply(call, on, thread, draft.note).map(|_| thread),
            None => discussions::start(call, on, draft.note, draft.position, draft.commit_id),
        };
        let Ok(thread) = published else { continue };
        // A draft that does not resolve its thread reopens it.
        if !draft.resolves || discussions::can_resolve(call, on, thread)? {
            discussions::set_state(call, on, thread, draft.resolves)?;
        }
    }
    Ok(())
}
