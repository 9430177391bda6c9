//! Operations that write discussions: threads on merge requests, issues and snippets. Not in the specification; available for
//! issues and snippets since 10.6, and for merge requests since 10.8. Threads on snippets cannot be resolved.

pub mod reads;

pub use reads::*;

use crate::api::merge_requests::{
    GetMergeRequest, GetMergeRequestChanges, ListMergeRequestCommits, ListMergeRequests, ListParticipants,
    ListProjectMergeRequests,
};
use crate::api::notes::reads::{ListNotes, NewPosition, Note, Suggestion};

crate::endpoints! {
    unspecified section "Discussions";

    /// Starts a thread, in a merge request also on lines of its diff.
    JSON POST "/discussions" of on: Noteable [merge_request, issue, snippet] => Discussion,
    touches [ListDiscussions, ListNotes, ListParticipants, GetMergeRequest, ListProjectMergeRequests];
    struct CreateDiscussion {
        body: String,
        /// The lines; only in merge requests.
        position: Option<NewPosition>,
        /// The SHA of the commit that the position refers to, for threads on a single commit.
        commit_id: Option<String>,
    }

    /// Replies to a thread.
    POST "/discussions/{discussion_id}/notes" of on: Noteable [merge_request, issue, snippet] => Note,
    touches [ListDiscussions, ListNotes, ListParticipants, GetMergeRequest, ListProjectMergeRequests];
    struct ReplyToDiscussion { discussion_id: String, body: String }

    /// Resolves or reopens a thread; on issues since 16.4.
    PUT "/discussions/{discussion_id}" of on: Noteable [merge_request, issue] => Discussion,
    touches [ListDiscussions, ListNotes, GetMergeRequest, ListMergeRequests, ListProjectMergeRequests];
    struct ResolveDiscussion {
        discussion_id: String,
        /// `true` resolves the thread, `false` reopens it.
        resolved: bool,
    }

    /// Commits a suggestion to the source branch. A 400 carries the reason why it does not apply.
    PUT "/suggestions/{id}/apply" => Suggestion,
    touches [
        ListDiscussions, ListNotes, GetMergeRequest, GetMergeRequestChanges, ListMergeRequestCommits,
    ];
    struct ApplySuggestion { id: u64, commit_message: Option<String> }

    /// Commits several suggestions to the source branch in one commit.
    JSON PUT "/suggestions/batch_apply" => Vec<Suggestion>,
    touches [
        ListDiscussions, ListNotes, GetMergeRequest, GetMergeRequestChanges, ListMergeRequestCommits,
    ];
    struct ApplySuggestions { ids: Vec<u64>, commit_message: Option<String> }
}
