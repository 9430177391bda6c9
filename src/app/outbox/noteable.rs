//! The names of objects that can be commented on, the drafts on them, and the operations on their notes.

use crate::api::discussions::{CreateDiscussion, ListDiscussions, ReplyToDiscussion, ResolveDiscussion};
use crate::api::draft_notes::ListDraftNotes;
use crate::api::notes::{DeleteNote, GetNote, ListNotes, NewPosition, Note, NoteReply, UpdateNote};
use crate::api::{Endpoint, Error, Id, Noteable};
use crate::app::outbox::Draft;
use crate::app::text_key::DraftKey;
use crate::app::texts::Texts;
use crate::app::view::View;
use crate::store::{Load, Rows, Write};
use jiff::Timestamp;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The current state of a note on the server, as far as it is known.
pub enum NoteNow<'a> {
    /// The note is being fetched, or will be.
    Coming,
    /// The reply of the server; `None` if it contains no text.
    Here(Option<&'a Note>),
    /// The note cannot be fetched.
    Failed(&'a Error),
}

impl Noteable {
    /// Returns the project of the object; epics belong to a group.
    pub fn project(&self) -> Option<&Id> {
        match self {
            Noteable::MergeRequest { project, .. }
            | Noteable::Commit { project, .. }
            | Noteable::Issue { project, .. }
            | Noteable::Snippet { project, .. } => Some(project),
            Noteable::Epic { .. } => None,
        }
    }

    /// Returns the name, with project or group: `acme/rocket-ui!42`, `acme/rocket-ui@9f3c2abd`, `acme/rocket-ui#7`,
    /// `acme/rocket-ui$3`, `acme&2`.
    pub fn name(&self) -> String {
        match self {
            Noteable::MergeRequest { project, iid } => format!("{project}!{iid}"),
            Noteable::Commit { project, sha } => format!("{project}@{}", sha.get(..8).unwrap_or(sha)),
            Noteable::Issue { project, iid } => format!("{project}#{iid}"),
            Noteable::Snippet { project, id } => format!("{project}${id}"),
            Noteable::Epic { group, id } => format!("{group}&{id}"),
        }
    }

    /// Returns the name without project or group.
    pub fn short(&self) -> String {
        match self {
            Noteable::MergeRequest { iid, .. } => format!("!{iid}"),
            Noteable::Commit { sha, .. } => sha.get(..8).unwrap_or(sha).to_owned(),
            Noteable::Issue { iid, .. } => format!("#{iid}"),
            Noteable::Snippet { id, .. } => format!("${id}"),
            Noteable::Epic { id, .. } => format!("&{id}"),
        }
    }

    /// Returns whether comments on it can be collected in a review, to be sent together.
    pub fn is_reviewed(&self) -> bool {
        matches!(self, Noteable::MergeRequest { .. } | Noteable::Commit { .. })
    }

    /// Returns a key for another draft, sorted after those that are saved: it contains the time and random digits, so
    /// that two processes never use the same key.
    pub fn new_key(&self, texts: &Texts, now: Timestamp) -> DraftKey {
        let last = self.drafts(texts).last().map(|(key, _)| key.number().saturating_add(1));
        let chance = RandomState::new().build_hasher().finish() % 100_000;
        let number = u64::try_from(now.as_millisecond()).unwrap_or(0).saturating_mul(100_000).saturating_add(chance);
        DraftKey::new(self.clone(), number.max(last.unwrap_or(0)))
    }

    /// Returns its drafts among all saved texts, with their keys, oldest first.
    pub fn drafts<'a>(&self, texts: &'a Texts) -> Vec<(&'a DraftKey, &'a Draft)> {
        let mut drafts: Vec<(&DraftKey, &Draft)> = texts.drafts().filter(|(key, _)| key.on() == self).collect();
        drafts.sort_unstable_by_key(|(key, _)| key.number());
        drafts
    }

    /// Returns the request for its threads; `None` if it has none, or if the server does not support them, as far as is
    /// known.
    fn threads(&self, view: &View) -> Option<ListDiscussions> {
        let list = ListDiscussions { on: self.clone() };
        let has_threads = match self {
            Noteable::MergeRequest { .. } | Noteable::Issue { .. } | Noteable::Snippet { .. } => true,
            Noteable::Commit { .. } | Noteable::Epic { .. } => false,
        };
        (has_threads && !view.store.is_unsupported_route(list.route())).then_some(list)
    }

    /// Returns whether the server supports threads on it, as far as is known.
    pub fn has_threads(&self, view: &View) -> bool {
        self.threads(view).is_some()
    }

    /// Returns whether it has notes: a commit has comments, which are read and written differently.
    fn has_notes(&self) -> bool {
        !matches!(self, Noteable::Commit { .. })
    }

    /// Returns the load for the first pages of its notes, oldest first; by thread, if the server supports threads.
    pub fn load_conversation(&self, view: &View, pages: u32) -> Option<Load> {
        match self.threads(view) {
            Some(list) => Some(Load::rows_of_entries(&list, pages)),
            None => self.load_notes(false, pages),
        }
    }

    /// Returns the notes of that conversation that are known.
    pub fn conversation<'a>(&self, view: &View<'a>) -> Rows<'a, Note> {
        match self.load_conversation(view, 1) {
            Some(load) => view.store.rows_of(&load.request),
            None => Rows::chain(Vec::new()),
        }
    }

    /// Returns the write that starts a thread.
    pub fn start_thread(&self, body: String, position: Option<NewPosition>, commit_id: Option<String>) -> Write {
        let create = CreateDiscussion { on: self.clone(), body, position, commit_id };
        Write::new(&create, format!("start a thread on {}", self.short()))
    }

    /// Returns the write that replies in a thread.
    pub fn reply(&self, discussion_id: String, body: String) -> Write {
        let reply = ReplyToDiscussion { on: self.clone(), discussion_id, body };
        Write::new(&reply, format!("reply on {}", self.short()))
    }

    /// Returns the write that resolves or reopens a thread; `None` if threads cannot be resolved.
    pub fn resolve(&self, discussion_id: String, resolved: bool) -> Option<Write> {
        let what = format!("{} a thread of {}", if resolved { "resolve" } else { "reopen" }, self.short());
        match self {
            Noteable::MergeRequest { .. } | Noteable::Issue { .. } => {
                Some(Write::new(&ResolveDiscussion { on: self.clone(), discussion_id, resolved }, what))
            }
            Noteable::Commit { .. } | Noteable::Snippet { .. } | Noteable::Epic { .. } => None,
        }
    }

    /// Returns the list of the draft notes that the server keeps for it; only merge requests have them.
    pub fn list_draft_notes(&self) -> Option<ListDraftNotes> {
        match self {
            Noteable::MergeRequest { project, iid } => {
                Some(ListDraftNotes { id: project.clone(), merge_request_iid: *iid })
            }
            _ => None,
        }
    }

    /// Returns whether the server has replied with its draft notes.
    pub fn has_draft_notes(&self, view: &View) -> bool {
        self.list_draft_notes().is_some_and(|list| view.store.list(&list).is_loaded)
    }

    /// Returns the request for its notes, sorted by creation time.
    fn list_notes(&self, newest_first: bool) -> Option<ListNotes> {
        let sort = Some(if newest_first { "desc" } else { "asc" }.to_owned());
        let list = ListNotes { on: self.clone(), sort, order_by: Some("created_at".to_owned()) };
        self.has_notes().then_some(list)
    }

    /// Returns the ID of the newest note that is known; 0 if none is.
    pub fn newest_note(&self, view: &View) -> u64 {
        let listed = self.notes(view, true).into_iter().flat_map(|rows| rows.iter()).map(|note| note.id);
        self.conversation(view).iter().map(|note| note.id).chain(listed).max().unwrap_or(0)
    }

    /// Returns the known notes, sorted by creation time.
    pub fn notes<'a>(&self, view: &View<'a>, newest_first: bool) -> Option<Rows<'a, Note>> {
        Some(view.store.list(&self.list_notes(newest_first)?))
    }

    /// Returns the load for the first pages of its notes.
    pub fn load_notes(&self, newest_first: bool, pages: u32) -> Option<Load> {
        Some(Load::list(&self.list_notes(newest_first)?, pages))
    }

    /// Returns the load for one of its notes.
    pub fn load_note(&self, note_id: u64) -> Option<Load> {
        self.has_notes().then(|| Load::single(&GetNote { on: self.clone(), note_id }))
    }

    /// Returns the current state of one of its notes.
    pub fn note<'a>(&self, view: &View<'a>, note_id: u64) -> NoteNow<'a> {
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
    pub fn update(&self, note_id: u64, body: String) -> Option<Write> {
        let what = format!("edit a comment on {}", self.short());
        self.has_notes().then(|| Write::new(&UpdateNote { on: self.clone(), note_id, body }, what))
    }

    /// Returns the write that deletes one of its notes.
    pub fn delete(&self, note_id: u64) -> Option<Write> {
        let what = format!("delete a comment on {}", self.short());
        self.has_notes().then(|| Write::new(&DeleteNote { on: self.clone(), note_id }, what))
    }
}
