//! The drafts on objects that can be commented on, and the operations on their notes.

use crate::outbox::Draft;
use crate::text_key::DraftKey;
use crate::texts::TypedTexts;
use crate::view::View;
use api::discussions::{CreateDiscussion, ListDiscussions, ReplyToDiscussion, ResolveDiscussion};
use api::notes::{DeleteNote, GetNote, ListNotes, NewPosition, Note, NoteReply, UpdateNote};
use api::{Endpoint, Error, Noteable};
use jiff::Timestamp;
use std::hash::{BuildHasher, Hasher, RandomState};
use store::{Load, Rows, Write};

/// The current state of a note on the server, as far as it is known.
pub enum NoteNow<'a> {
    /// The note is being fetched, or will be.
    Coming,
    /// The reply of the server; `None` if it contains no text.
    Here(Option<&'a Note>),
    /// The note cannot be fetched.
    Failed(&'a Error),
}

/// The drafts on an object, and the operations on its notes.
pub trait NoteableExt {
    /// Returns the object.
    fn on(&self) -> &Noteable;

    /// Returns a key for another draft, sorted after those that are saved: it contains the time and random digits, so
    /// that two processes never use the same key.
    fn new_key(&self, texts: &TypedTexts, now: Timestamp) -> DraftKey {
        let last = self.drafts(texts).last().map(|(key, _)| key.number().saturating_add(1));
        let chance = RandomState::new().build_hasher().finish() % 100_000;
        let number = u64::try_from(now.as_millisecond()).unwrap_or(0).saturating_mul(100_000).saturating_add(chance);
        DraftKey::new(self.on().clone(), number.max(last.unwrap_or(0)))
    }

    /// Returns its drafts among all saved texts, with their keys, oldest first.
    fn drafts<'a>(&self, texts: &'a TypedTexts) -> Vec<(&'a DraftKey, &'a Draft)> {
        let mut drafts: Vec<(&DraftKey, &Draft)> = texts.drafts().filter(|(key, _)| key.on() == self.on()).collect();
        drafts.sort_unstable_by_key(|(key, _)| key.number());
        drafts
    }

    /// Returns whether the server supports threads on it, as far as is known.
    fn has_threads(&self, view: &View) -> bool {
        threads(self.on(), view).is_some()
    }

    /// Returns the load for the first pages of its notes, oldest first; by thread, if the server supports threads.
    fn load_conversation(&self, view: &View, pages: u32) -> Option<Load> {
        match threads(self.on(), view) {
            Some(list) => Some(Load::rows_of_entries::<_, Note, _>(&list, pages)),
            None => self.load_notes(false, pages),
        }
    }

    /// Returns the notes of that conversation that are known.
    fn conversation<'a>(&self, view: &View<'a>) -> Rows<'a, Note> {
        match self.load_conversation(view, 1) {
            Some(load) => view.store.rows_of(&load.request),
            None => Rows::chain(Vec::new()),
        }
    }

    /// Returns the write that starts a thread.
    fn start_thread(&self, body: String, position: Option<NewPosition>, commit_id: Option<String>) -> Write {
        let create = CreateDiscussion { on: self.on().clone(), body, position, commit_id };
        Write::new(&create, format!("start a thread on {}", self.on().short()))
    }

    /// Returns the write that replies in a thread.
    fn reply(&self, discussion_id: String, body: String) -> Write {
        let reply = ReplyToDiscussion { on: self.on().clone(), discussion_id, body };
        Write::new(&reply, format!("reply on {}", self.on().short()))
    }

    /// Returns the write that resolves or reopens a thread; `None` if threads cannot be resolved.
    fn resolve(&self, discussion_id: String, resolved: bool) -> Option<Write> {
        let what = format!("{} a thread of {}", if resolved { "resolve" } else { "reopen" }, self.on().short());
        match self.on() {
            Noteable::MergeRequest { .. } | Noteable::Issue { .. } => {
                Some(Write::new(&ResolveDiscussion { on: self.on().clone(), discussion_id, resolved }, what))
            }
            Noteable::Commit { .. } | Noteable::Snippet { .. } | Noteable::Epic { .. } => None,
        }
    }

    /// Returns whether the server has replied with its draft notes.
    fn has_draft_notes(&self, view: &View) -> bool {
        self.on().list_draft_notes().is_some_and(|list| view.store.list(&list).is_loaded)
    }

    /// Returns the ID of the newest note that is known; 0 if none is.
    fn newest_note(&self, view: &View) -> u64 {
        let listed = self.notes(view, true).into_iter().flat_map(|rows| rows.iter()).map(|note| note.id);
        self.conversation(view).iter().map(|note| note.id).chain(listed).max().unwrap_or(0)
    }

    /// Returns the known notes, sorted by creation time.
    fn notes<'a>(&self, view: &View<'a>, newest_first: bool) -> Option<Rows<'a, Note>> {
        Some(view.store.list(&list_notes(self.on(), newest_first)?))
    }

    /// Returns the load for the first pages of its notes.
    fn load_notes(&self, newest_first: bool, pages: u32) -> Option<Load> {
        Some(Load::list(&list_notes(self.on(), newest_first)?, pages))
    }

    /// Returns the load for one of its notes.
    fn load_note(&self, note_id: u64) -> Option<Load> {
        self.on().has_notes().then(|| Load::single(&GetNote { on: self.on().clone(), note_id }))
    }

    /// Returns the current state of one of its notes.
    fn note<'a>(&self, view: &View<'a>, note_id: u64) -> NoteNow<'a> {
        let Some(load) = self.load_note(note_id) else { return NoteNow::Here(None) };
        if !view.store.is_fresh(&load.request) {
            return NoteNow::Coming;
        }
        // Servers reply with a note where the specification shows another object.
        let note = view.store.read_as::<NoteReply>(&load.request).and_then(NoteReply::note);
        match (note, view.store.error_of(&load.request)) {
            (_, Some(error)) => NoteNow::Failed(error),
            (note, None) => NoteNow::Here(note),
        }
    }

    /// Returns the write that edits one of its notes.
    fn update(&self, note_id: u64, body: String) -> Option<Write> {
        let what = format!("edit a comment on {}", self.on().short());
        self.on().has_notes().then(|| Write::new(&UpdateNote { on: self.on().clone(), note_id, body }, what))
    }

    /// Returns the write that deletes one of its notes.
    fn delete(&self, note_id: u64) -> Option<Write> {
        let what = format!("delete a comment on {}", self.on().short());
        self.on().has_notes().then(|| Write::new(&DeleteNote { on: self.on().clone(), note_id }, what))
    }
}

impl NoteableExt for Noteable {
    fn on(&self) -> &Noteable {
        self
    }
}

/// Returns the request for its threads; `None` if it has none, or if the server does not support them, as far as is
/// known.
fn threads(on: &Noteable, view: &View) -> Option<ListDiscussions> {
    let list = ListDiscussions { on: on.clone() };
    let has_threads = match on {
        Noteable::MergeRequest { .. } | Noteable::Issue { .. } | Noteable::Snippet { .. } => true,
        Noteable::Commit { .. } | Noteable::Epic { .. } => false,
    };
    (has_threads && !view.store.is_unsupported_route(list.route())).then_some(list)
}

/// Returns the request for its notes, sorted by creation time.
fn list_notes(on: &Noteable, newest_first: bool) -> Option<ListNotes> {
    let sort = Some(if newest_first { "desc" } else { "asc" }.to_owned());
    let list = ListNotes { on: on.clone(), sort, order_by: Some("created_at".to_owned()) };
    on.has_notes().then_some(list)
}
