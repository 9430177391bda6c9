//! Operations that write discussions: threads on merge requests, issues and snippets. Not in the specification; available for
//! issues and snippets since 10.6, and for merge requests since 10.8. Threads on snippets cannot be resolved.

pub mod reads;

pub use reads::*;

use crate::api::Id;
use crate::api::merge_requests::{
    GetMergeRequest, GetMergeRequestChanges, ListMergeRequestCommits, ListMergeRequests, ListParticipants,
    ListProjectMergeRequests,
};
use crate::api::notes::reads::{
    ListIssueNotes, ListMergeRequestNotes, ListSnippetNotes, NewPosition, Note, Suggestion,
};

crate::endpoints! {
    unspecified section "Discussions";

    /// Starts a thread on a merge request, or on lines of its diff.
    JSON POST "/projects/{id}/merge_requests/{merge_request_iid}/discussions" => Discussion,
    touches [
        ListMergeRequestDiscussions, ListMergeRequestNotes, ListParticipants, GetMergeRequest, ListProjectMergeRequests,
    ];
    struct CreateMergeRequestDiscussion {
        id: Id,
        merge_request_iid: u64,
        body: String,
        position: Option<NewPosition>,
        /// The SHA of the commit that the position refers to, for threads on a single commit.
        commit_id: Option<String>,
    }

    /// Replies to a thread on a merge request.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/discussions/{discussion_id}/notes" => Note,
    touches [
        ListMergeRequestDiscussions, ListMergeRequestNotes, ListParticipants, GetMergeRequest, ListProjectMergeRequests,
    ];
    struct ReplyToMergeRequestDiscussion { id: Id, merge_request_iid: u64, discussion_id: String, body: String }

    /// Resolves or reopens a thread on a merge request.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/discussions/{discussion_id}" => Discussion,
    touches [ListMergeRequestDiscussions, ListMergeRequestNotes, GetMergeRequest, ListMergeRequests, ListProjectMergeRequests];
    struct ResolveMergeRequestDiscussion {
        id: Id,
        merge_request_iid: u64,
        discussion_id: String,
        /// `true` resolves the thread, `false` reopens it.
        resolved: bool,
    }

    /// Starts a thread on an issue.
    JSON POST "/projects/{id}/issues/{issue_iid}/discussions" => Discussion,
    touches [ListIssueDiscussions, ListIssueNotes];
    struct CreateIssueDiscussion { id: Id, issue_iid: u64, body: String }

    /// Replies to a thread on an issue.
    POST "/projects/{id}/issues/{issue_iid}/discussions/{discussion_id}/notes" => Note,
    touches [ListIssueDiscussions, ListIssueNotes];
    struct ReplyToIssueDiscussion { id: Id, issue_iid: u64, discussion_id: String, body: String }

    /// Resolves or reopens a thread on an issue (since 16.4).
    PUT "/projects/{id}/issues/{issue_iid}/discussions/{discussion_id}" => Discussion,
    touches [ListIssueDiscussions, ListIssueNotes];
    struct ResolveIssueDiscussion {
        id: Id,
        issue_iid: u64,
        discussion_id: String,
        /// `true` resolves the thread, `false` reopens it.
        resolved: bool,
    }

    /// Starts a thread on a snippet.
    JSON POST "/projects/{id}/snippets/{snippet_id}/discussions" => Discussion,
    touches [ListSnippetDiscussions, ListSnippetNotes];
    struct CreateSnippetDiscussion { id: Id, snippet_id: u64, body: String }

    /// Replies to a thread on a snippet.
    POST "/projects/{id}/snippets/{snippet_id}/discussions/{discussion_id}/notes" => Note,
    touches [ListSnippetDiscussions, ListSnippetNotes];
    struct ReplyToSnippetDiscussion { id: Id, snippet_id: u64, discussion_id: String, body: String }

    /// Commits a suggestion to the source branch. A 400 carries the reason why it does not apply.
    PUT "/suggestions/{id}/apply" => Suggestion,
    touches [
        ListMergeRequestDiscussions, ListMergeRequestNotes, GetMergeRequest, GetMergeRequestChanges, ListMergeRequestCommits,
    ];
    struct ApplySuggestion { id: u64, commit_message: Option<String> }

    /// Commits several suggestions to the source branch in one commit.
    JSON PUT "/suggestions/batch_apply" => Vec<Suggestion>,
    touches [
        ListMergeRequestDiscussions, ListMergeRequestNotes, GetMergeRequest, GetMergeRequestChanges, ListMergeRequestCommits,
    ];
    struct ApplySuggestions { ids: Vec<u64>, commit_message: Option<String> }
}
