//! Emoji reactions to merge requests, issues and notes.

use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::mount::Mount;
use super::notes::{self, NoteTarget};
use super::records::{self, Noteable};
use super::rejection::Rejection;
use super::world::World;
use crate::presenters::time;
use api::NoContent;
use api::award_emoji::*;
use domain::emoji;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::ops::Deref;

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<ListAwards>(|call, e| list(call, &notes::target(call, &e.to.on)?, e.to.note))
        .write::<CreateAward>(|call, e| {
            let target = notes::target(call, &e.to.on)?;
            create(call, &target, e.to.note, &e.name)
        })
        .write::<DeleteAward>(|call, e| {
            let target = notes::target(call, &e.to.on)?;
            delete(call, &target, e.to.note, e.award_id)
        })
}

impl World {
    /// Returns the reactions to an object, or to a note on it.
    pub fn awards_of(&self, on: Noteable, note: Option<u64>) -> impl Iterator<Item = &records::Award> + Clone {
        self.awards.iter().filter(move |award| award.on == on && award.note == note)
    }

    /// Returns the numbers of upvotes and downvotes of an object.
    pub fn votes(&self, on: Noteable) -> (u64, u64) {
        let count = |name: &str| self.awards_of(on, None).filter(|award| award.name == name).count() as u64;
        (count("thumbsup"), count("thumbsdown"))
    }

    /// Returns whether a user has reacted with an emoji.
    pub fn has_award(&self, on: Noteable, note: Option<u64>, name: &str, user: u64) -> bool {
        self.awards_of(on, note).any(|award| award.name == name && award.user == user)
    }

    /// Adds a reaction unless it exists. Returns its ID.
    pub fn react(&mut self, on: Noteable, note: Option<u64>, name: &str, user: u64, at: Timestamp) -> Option<u64> {
        if self.has_award(on, note, name, user) {
            return None;
        }
        Some(self.awards.add(records::Award { id: 0, on, note, name: name.to_owned(), user, created_at: at }))
    }

    /// Migrates the reactions that older data folders stored inside merge requests and issues.
    pub fn migrate_reactions(&mut self) {
        let requests = self.merge_requests.iter().filter(|mr| !mr.reactions.is_empty());
        let requests = requests.map(|mr| (Noteable::MergeRequest(mr.id), mr.updated_at, mr.reactions.clone()));
        let issues = self.issues.iter().filter(|issue| !issue.reactions.is_empty());
        let issues = issues.map(|issue| (Noteable::Issue(issue.id), issue.updated_at, issue.reactions.clone()));
        for (on, at, reactions) in requests.chain(issues).collect::<Vec<_>>() {
            for (name, user) in reactions.iter().flat_map(|(name, users)| users.iter().map(move |user| (name, *user))) {
                self.react(on, None, name, user, at);
            }
            match on {
                Noteable::MergeRequest(id) => _ = self.merge_requests.get_mut(id).map(|mr| mr.reactions.clear()),
                Noteable::Issue(id) => _ = self.issues.get_mut(id).map(|issue| issue.reactions.clear()),
                Noteable::Snippet(_) | Noteable::Epic(_) => {}
            }
        }
    }

    /// Removes the reactions to notes that have been deleted.
    pub fn remove_awards_of_notes(&mut self, notes: &BTreeSet<u64>) {
        self.awards.remove_where(|award| award.note.is_some_and(|note| notes.contains(&note)));
    }
}

fn show<W: Deref<Target = World>>(call: &Call<W>, award: &records::Award) -> AwardEmoji {
    let (id, kind) = match (award.note, award.on) {
        (Some(note), _) => (note, "Note"),
        (None, Noteable::MergeRequest(id)) => (id, "MergeRequest"),
        (None, Noteable::Issue(id)) => (id, "Issue"),
        (None, Noteable::Snippet(id)) => (id, "Snippet"),
        (None, Noteable::Epic(id)) => (id, "Epic"),
    };
    AwardEmoji {
        id: award.id,
        name: award.name.clone(),
        user: Some(call.user_with_email(award.user)),
        created_at: Some(time(award.created_at)),
        updated_at: Some(time(award.created_at)),
        awardable_id: Some(id),
        awardable_type: kind.into(),
        ..AwardEmoji::default()
    }
}

/// Checks that the object has such a note.
fn check_note<W: Deref<Target = World>>(
    call: &Call<W>,
    target: &NoteTarget,
    note: Option<u64>,
) -> Result<(), Rejection> {
    let Some(id) = note else { return Ok(()) };
    notes::find(call, target, id).map(|_| ()).map_err(|_| Rejection::record_not_found())
}

fn list(call: &ReadCall, target: &NoteTarget, note: Option<u64>) -> Outcome<Vec<AwardEmoji>> {
    check_note(call, target, note)?;
    call.page(call.world.awards_of(target.noteable, note).collect(), |award| show(call, award))
}

/// Adds a reaction. All errors are a 404, with the reason in the message.
fn create(call: &mut WriteCall, target: &NoteTarget, note: Option<u64>, name: &str) -> Outcome<AwardEmoji> {
    check_note(call, target, note)?;
    let is_system = note.and_then(|id| call.world.notes.get(id)).is_some_and(|note| note.system);
    let user = notes::authorize_write(call, target)
        .ok()
        .filter(|_| !is_system)
        .ok_or_else(|| Rejection::not_found("Award Emoji"))?;
    let refuse = |why: &str| Rejection::not_found(&format!("Award Emoji {why}"));
    let name = emoji::find(name).ok_or_else(|| refuse("Name is not a valid emoji name"))?.name;
    let now = call.now;
    let id = call
        .world
        .react(target.noteable, note, name, user, now)
        .ok_or_else(|| refuse("Name has already been taken"))?;
    call.world.mark_todos_done(target.noteable, user);
    let award = call.world.awards.get(id).ok_or_else(|| Rejection::not_found("Award Emoji"))?;
    ok(show(call, award))
}

fn delete(call: &mut WriteCall, target: &NoteTarget, note: Option<u64>, id: u64) -> Outcome<NoContent> {
    check_note(call, target, note)?;
    let (caller, is_admin) = (call.require_user()?.id, call.require_user()?.admin);
    let award = call.world.awards.get(id).filter(|award| award.on == target.noteable && award.note == note);
    let award = award.ok_or_else(|| Rejection::not_found("Award Emoji"))?;
    if award.user != caller && !is_admin {
        return Err(Rejection::unauthorized());
    }
    call.check_unmodified(award.created_at)?;
    call.world.awards.remove(id);
    Ok(Answer::new(NoContent))
}
