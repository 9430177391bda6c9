//! Noteables: the objects that can be commented on, and the operations on their notes, which are the same for merge
//! requests, issues, snippets and epics.

use crate::api::discussions::{
    CreateIssueDiscussion, CreateMergeRequestDiscussion, CreateSnippetDiscussion, ListIssueDiscussions,
    ListMergeRequestDiscussions, ListSnippetDiscussions, ReplyToIssueDiscussion, ReplyToMergeRequestDiscussion,
    ReplyToSnippetDiscussion, ResolveIssueDiscussion, ResolveMergeRequestDiscussion,
};
use crate::api::draft_notes::ListDraftNotes;
use crate::api::notes::{
    DeleteEpicNote, DeleteIssueNote, DeleteMergeRequestNote, DeleteSnippetNote, GetEpicNote, GetIssueNote,
    GetMergeRequestNote, GetSnippetNote, ListEpicNotes, ListIssueNotes, ListMergeRequestNotes, ListSnippetNotes,
    NewPosition, Note, NoteReply, UpdateEpicNote, UpdateIssueNote, UpdateMergeRequestNote, UpdateSnippetNote,
};
use crate::api::{Error, Id};
use crate::app::view::View;
use crate::store::{Load, Rows, Write};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// An object that can be commented on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Noteable {
    MergeRequest { project: Id, iid: u64 },
    Commit { project: Id, sha: String },
    Issue { project: Id, iid: u64 },
    Snippet { project: Id, id: u64 },
    Epic { group: Id, id: u64 },
}

/// Evaluates `$made` with `$name` as the operation for that kind of object; `None` for a commit, whose comments are not
/// notes.
macro_rules! operation {
    ($thing:expr, [$request:ident $issue:ident $snippet:ident $epic:ident] { $($field:ident: $value:expr),* }, $name:ident => $made:expr) => {
        match $thing {
            Noteable::MergeRequest { project, iid } => {
                let $name = $request { id: project.clone(), merge_request_iid: *iid, $($field: $value),* };
                Some($made)
            }
            Noteable::Issue { project, iid } => {
                let $name = $issue { id: project.clone(), issue_iid: *iid, $($field: $value),* };
                Some($made)
            }
            Noteable::Snippet { project, id } => {
                let $name = $snippet { id: project.clone(), snippet_id: *id, $($field: $value),* };
                Some($made)
            }
            Noteable::Epic { group, id } => {
                let $name = $epic { id: group.clone(), epic_id: *id, $($field: $value),* };
                Some($made)
            }
            Noteable::Commit { .. } => None,
        }
    };
}

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

    /// Returns the prefix of the keys of its drafts.
    fn prefix(&self) -> String {
        match self {
            Noteable::Commit { project, sha } => format!("draft {project}@{sha} "),
            other => format!("draft {} ", other.name()),
        }
    }

    /// Returns whether comments on it can be collected in a review, to be sent together.
    pub fn is_reviewed(&self) -> bool {
        matches!(self, Noteable::MergeRequest { .. } | Noteable::Commit { .. })
    }

    /// Returns a key for another draft, sorted after those that are saved: it contains the time and random digits, so
    /// that two processes never use the same key.
    pub fn new_key(&self, kept: &HashMap<String, String>, now: Timestamp) -> String {
        let prefix = self.prefix();
        let numbers = kept.keys().filter_map(|key| key.strip_prefix(&prefix)?.parse::<u64>().ok());
        let chance = RandomState::new().build_hasher().finish() % 100_000;
        let number = u64::try_from(now.as_millisecond()).unwrap_or(0).saturating_mul(100_000).saturating_add(chance);
        format!("{prefix}{}", number.max(numbers.max().unwrap_or(0).saturating_add(1)))
    }

    /// Returns the keys of its drafts among all saved texts, oldest first.
    pub fn keys(&self, kept: &HashMap<String, String>) -> Vec<String> {
        let prefix = self.prefix();
        let number = |key: &str| key.strip_prefix(&prefix).and_then(|number| number.parse::<u64>().ok());
        let mut keys: Vec<(u64, &String)> = kept.keys().filter_map(|key| Some((number(key)?, key))).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, key)| key.clone()).collect()
    }

    /// Returns whether the server supports threads on it, as far as is known.
    pub fn has_threads(&self, view: &View) -> bool {
        match self {
            Noteable::MergeRequest { .. } => !view.store.is_unsupported::<ListMergeRequestDiscussions>(),
            Noteable::Issue { .. } => !view.store.is_unsupported::<ListIssueDiscussions>(),
            Noteable::Snippet { .. } => !view.store.is_unsupported::<ListSnippetDiscussions>(),
            Noteable::Commit { .. } | Noteable::Epic { .. } => false,
        }
    }

    /// Returns the load for the first pages of its notes, oldest first; by thread, if the server supports threads.
    pub fn load_conversation(&self, view: &View, pages: u32) -> Option<Load> {
        match self {
            Noteable::MergeRequest { project: id, iid } if self.has_threads(view) => Some(Load::rows_of_entries(
                &ListMergeRequestDiscussions { id: id.clone(), merge_request_iid: *iid },
                pages,
            )),
            Noteable::Issue { project: id, iid } if self.has_threads(view) => {
                Some(Load::rows_of_entries(&ListIssueDiscussions { id: id.clone(), issue_iid: *iid }, pages))
            }
            Noteable::Snippet { project: id, id: snippet_id } if self.has_threads(view) => {
                Some(Load::rows_of_entries(&ListSnippetDiscussions { id: id.clone(), snippet_id: *snippet_id }, pages))
            }
            _ => self.load_notes(false, pages),
        }
    }

    /// Returns the notes of that conversation that are known.
    pub fn conversation<'a>(&self, view: &View<'a>) -> Rows<'a, Note> {
        match self.load_conversation(view, 1) {
            Some(load) => view.store.rows_of(&load.request),
            None => Rows::chain(Vec::new()),
        }
    }

    /// Returns the write that starts a thread; `None` if the object has no threads.
    pub fn start_thread(
        &self,
        body: String,
        position: Option<NewPosition>,
        commit_id: Option<String>,
    ) -> Option<Write> {
        let what = format!("start a thread on {}", self.short());
        match self {
            Noteable::MergeRequest { project: id, iid } => {
                let (id, merge_request_iid) = (id.clone(), *iid);
                let create = CreateMergeRequestDiscussion { id, merge_request_iid, body, position, commit_id };
                Some(Write::new(&create, what))
            }
            Noteable::Issue { project: id, iid } => {
                Some(Write::new(&CreateIssueDiscussion { id: id.clone(), issue_iid: *iid, body }, what))
            }
            Noteable::Snippet { project: id, id: snippet_id } => {
                Some(Write::new(&CreateSnippetDiscussion { id: id.clone(), snippet_id: *snippet_id, body }, what))
            }
            Noteable::Commit { .. } | Noteable::Epic { .. } => None,
        }
    }

    /// Returns the write that replies in a thread; `None` if the object has no threads.
    pub fn reply(&self, discussion_id: String, body: String) -> Option<Write> {
        let what = format!("reply on {}", self.short());
        match self {
            Noteable::MergeRequest { project: id, iid } => {
                let (id, merge_request_iid) = (id.clone(), *iid);
                Some(Write::new(&ReplyToMergeRequestDiscussion { id, merge_request_iid, discussion_id, body }, what))
            }
            Noteable::Issue { project: id, iid } => {
                Some(Write::new(&ReplyToIssueDiscussion { id: id.clone(), issue_iid: *iid, discussion_id, body }, what))
            }
            Noteable::Snippet { project: id, id: snippet_id } => {
                let (id, snippet_id) = (id.clone(), *snippet_id);
                Some(Write::new(&ReplyToSnippetDiscussion { id, snippet_id, discussion_id, body }, what))
            }
            Noteable::Commit { .. } | Noteable::Epic { .. } => None,
        }
    }

    /// Returns the write that resolves or reopens a thread; `None` if threads cannot be resolved.
    pub fn resolve(&self, discussion_id: String, resolved: bool) -> Option<Write> {
        let what = format!("{} a thread of {}", if resolved { "resolve" } else { "reopen" }, self.short());
        match self {
            Noteable::MergeRequest { project: id, iid } => {
                let (id, merge_request_iid) = (id.clone(), *iid);
                let resolve = ResolveMergeRequestDiscussion { id, merge_request_iid, discussion_id, resolved };
                Some(Write::new(&resolve, what))
            }
            Noteable::Issue { project: id, iid } => {
                let (id, issue_iid) = (id.clone(), *iid);
                Some(Write::new(&ResolveIssueDiscussion { id, issue_iid, discussion_id, resolved }, what))
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

    /// Returns the known notes, sorted by creation time.
    pub fn notes<'a>(&self, view: &View<'a>, newest_first: bool) -> Option<Rows<'a, Note>> {
        let (sort, order_by) = order(newest_first);
        operation!(self, [ListMergeRequestNotes ListIssueNotes ListSnippetNotes ListEpicNotes]
            { sort: sort, order_by: order_by }, list => view.store.list(&list))
    }

    /// Returns the load for the first pages of its notes.
    pub fn load_notes(&self, newest_first: bool, pages: u32) -> Option<Load> {
        let (sort, order_by) = order(newest_first);
        operation!(self, [ListMergeRequestNotes ListIssueNotes ListSnippetNotes ListEpicNotes]
            { sort: sort, order_by: order_by }, list => Load::list(&list, pages))
    }

    /// Returns the load for one of its notes.
    pub fn load_note(&self, note_id: u64) -> Option<Load> {
        operation!(self, [GetMergeRequestNote GetIssueNote GetSnippetNote GetEpicNote]
            { note_id: note_id }, get => Load::single(&get))
    }

    /// Returns the current state of one of its notes.
    pub fn note<'a>(&self, view: &View<'a>, note_id: u64) -> NoteNow<'a> {
        let Some(load) = self.load_note(note_id) else { return NoteNow::Here(None) };
        if !view.store.is_fresh(&load.request) {
            return NoteNow::Coming;
        }
        // Servers reply with a note where the specification shows another object.
        let plain = view.store.read_as::<Note>(&load.request);
        let reply = view.store.read_as::<NoteReply>(&load.request);
        match (plain.or(reply.and_then(NoteReply::note)), view.store.error_of(&load.request)) {
            (_, Some(error)) => NoteNow::Failed(error),
            (note, None) => NoteNow::Here(note),
        }
    }

    /// Returns the write that edits one of its notes.
    pub fn update(&self, note_id: u64, body: String) -> Option<Write> {
        let what = format!("edit a note on {}", self.short());
        operation!(self, [UpdateMergeRequestNote UpdateIssueNote UpdateSnippetNote UpdateEpicNote]
            { note_id: note_id, body: body }, update => Write::new(&update, what))
    }

    /// Returns the write that deletes one of its notes.
    pub fn delete(&self, note_id: u64) -> Option<Write> {
        let what = format!("delete a note on {}", self.short());
        operation!(self, [DeleteMergeRequestNote DeleteIssueNote DeleteSnippetNote DeleteEpicNote]
            { note_id: note_id }, delete => Write::new(&delete, what))
    }
}

fn order(newest_first: bool) -> (Option<String>, Option<String>) {
    (Some(if newest_first { "desc" } else { "asc" }.to_owned()), Some("created_at".to_owned()))
}
