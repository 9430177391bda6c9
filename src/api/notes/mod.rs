//! Operations that write notes: comments on issues, snippets, merge requests and epics (specification, "Notes").

pub mod reads;

pub use reads::*;

use crate::api::discussions::reads::ListDiscussions;
use crate::api::issues::{GetIssue, ListScopedIssues};
use crate::api::merge_requests::{GetMergeRequest, ListParticipants, ListProjectMergeRequests};
use crate::api::todos::ListTodos;
use crate::api::{NoContent, Time};

crate::endpoints! {
    section "Notes";

    /// Writes a comment.
    POST "/notes" of on: Noteable [merge_request, issue, snippet, epic] => NoteReply,
    touches [
        ListDiscussions, ListNotes, ListParticipants, GetMergeRequest, ListProjectMergeRequests, GetIssue,
        ListScopedIssues, ListTodos,
    ];
    struct CreateNote {
        body: String,
        /// The time of the comment, if not now; only on issues.
        created_at: Option<Time>,
    }

    /// Updates a note.
    PUT "/notes/{note_id}" of on: Noteable [merge_request, issue, snippet, epic] => Note,
    touches [ListDiscussions, ListNotes, GetNote];
    struct UpdateNote { note_id: u64, body: String }

    /// Deletes a note.
    DELETE "/notes/{note_id}" of on: Noteable [merge_request, issue, snippet, epic] => NoContent,
    touches [ListDiscussions, ListNotes, GetNote, GetMergeRequest, ListProjectMergeRequests];
    struct DeleteNote { note_id: u64 }
}
