//! Operations that write notes: comments on issues, snippets, merge requests and epics (specification, "Notes").

pub mod reads;

pub use reads::*;

use crate::api::discussions::reads::{ListIssueDiscussions, ListMergeRequestDiscussions, ListSnippetDiscussions};
use crate::api::issues::{GetIssue, ListProjectIssues};
use crate::api::merge_requests::{GetMergeRequest, ListParticipants, ListProjectMergeRequests};
use crate::api::todos::ListTodos;
use crate::api::{Id, NoContent, Time};

crate::endpoints! {
    section "Notes";

    /// Comments on an issue.
    POST "/projects/{id}/issues/{issue_iid}/notes" => NoteReply,
    touches [ListIssueDiscussions, ListIssueNotes, GetIssue, ListProjectIssues, ListTodos];
    struct CreateIssueNote { id: Id, issue_iid: u64, body: String, created_at: Option<Time> }

    /// Updates a note of an issue.
    PUT "/projects/{id}/issues/{issue_iid}/notes/{note_id}" => Note,
    touches [ListIssueDiscussions, ListIssueNotes, GetIssueNote];
    struct UpdateIssueNote { id: Id, issue_iid: u64, note_id: u64, body: String }

    /// Deletes a note of an issue.
    DELETE "/projects/{id}/issues/{issue_iid}/notes/{note_id}" => NoContent,
    touches [ListIssueDiscussions, ListIssueNotes, GetIssueNote];
    struct DeleteIssueNote { id: Id, issue_iid: u64, note_id: u64 }

    /// Comments on a snippet.
    POST "/projects/{id}/snippets/{snippet_id}/notes" => NoteReply,
    touches [ListSnippetDiscussions, ListSnippetNotes];
    struct CreateSnippetNote { id: Id, snippet_id: u64, body: String }

    /// Updates a note of a snippet.
    PUT "/projects/{id}/snippets/{snippet_id}/notes/{note_id}" => Note,
    touches [ListSnippetDiscussions, ListSnippetNotes, GetSnippetNote];
    struct UpdateSnippetNote { id: Id, snippet_id: u64, note_id: u64, body: String }

    /// Deletes a note of a snippet.
    DELETE "/projects/{id}/snippets/{snippet_id}/notes/{note_id}" => NoContent,
    touches [ListSnippetDiscussions, ListSnippetNotes, GetSnippetNote];
    struct DeleteSnippetNote { id: Id, snippet_id: u64, note_id: u64 }

    /// Comments on a merge request.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/notes" => NoteReply,
    touches [
        ListMergeRequestDiscussions, ListMergeRequestNotes, ListParticipants, GetMergeRequest, ListProjectMergeRequests,
        ListTodos,
    ];
    struct CreateMergeRequestNote { id: Id, merge_request_iid: u64, body: String }

    /// Updates a note of a merge request.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}" => Note,
    touches [ListMergeRequestDiscussions, ListMergeRequestNotes, GetMergeRequestNote];
    struct UpdateMergeRequestNote { id: Id, merge_request_iid: u64, note_id: u64, body: String }

    /// Deletes a note of a merge request.
    DELETE "/projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}" => NoContent,
    touches [ListMergeRequestDiscussions, ListMergeRequestNotes, GetMergeRequestNote, GetMergeRequest, ListProjectMergeRequests];
    struct DeleteMergeRequestNote { id: Id, merge_request_iid: u64, note_id: u64 }

    /// Comments on an epic.
    POST "/groups/{id}/epics/{epic_id}/notes" => NoteReply,
    touches [ListEpicNotes];
    struct CreateEpicNote { id: Id, epic_id: u64, body: String }

    /// Updates a note of an epic.
    PUT "/groups/{id}/epics/{epic_id}/notes/{note_id}" => Note,
    touches [ListEpicNotes, GetEpicNote];
    struct UpdateEpicNote { id: Id, epic_id: u64, note_id: u64, body: String }

    /// Deletes a note of an epic.
    DELETE "/groups/{id}/epics/{epic_id}/notes/{note_id}" => NoContent,
    touches [ListEpicNotes, GetEpicNote];
    struct DeleteEpicNote { id: Id, epic_id: u64, note_id: u64 }
}
