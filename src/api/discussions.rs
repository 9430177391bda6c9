//! Discussions: threads on merge requests, issues and snippets. Not in the specification; available for
//! issues and snippets since 10.6, and for merge requests since 10.8. Threads on snippets cannot be resolved.

use crate::notes::{NewPosition, Note, Suggestion};

crate::resource! {
    /// A thread: a note with its replies.
    pub struct Discussion {
        /// The ID: 40 hexadecimal digits.
        id: String,
        /// Whether the thread is a single comment; a reply turns it into a thread.
        individual_note: bool,
        /// The notes, oldest first.
        notes: Vec<Note>,
    }
    unspecified {
        /// The results of quick actions, if the text had nothing else: then there is no thread.
        summary: Option<Vec<String>>,
    }
    served {
        /// Whether the thread can be resolved, and whether it is; its notes say so, too.
        resolvable: Option<bool>,
        resolved: Option<bool>,
    }
}

/// Returns whether the thread of these notes is resolved; `None` if it cannot be.
pub fn is_resolved<'a>(notes: impl IntoIterator<Item = &'a Note>) -> Option<bool> {
    let resolvable = notes.into_iter().filter(|note| note.resolvable == Some(true));
    resolvable.map(|note| note.resolved == Some(true)).reduce(|all, one| all && one)
}

crate::endpoints! {
    unspecified section "Discussions";

    /// Lists the threads, oldest first, including single comments and system notes.
    GET "/discussions" of on: Noteable [merge_request, issue, snippet] => Vec<Discussion>, about Notes;
    struct ListDiscussions {}

    /// Starts a thread, in a merge request also on lines of its diff.
    JSON POST "/discussions" of on: Noteable [merge_request, issue, snippet] => Discussion,
    outdates [Notes, Participants, MergeRequest, MergeRequests, Issue, Issues, Todos, Events];
    struct CreateDiscussion {
        body: String,
        /// The lines; only in merge requests.
        position: Option<NewPosition>,
        /// The SHA of the commit that the position refers to, for threads on a single commit.
        commit_id: Option<String>,
    }

    /// Replies to a thread.
    POST "/discussions/{discussion_id}/notes" of on: Noteable [merge_request, issue, snippet] => Note,
    outdates [Notes, Participants, MergeRequest, MergeRequests, Issue, Issues, Todos, Events];
    struct ReplyToDiscussion { discussion_id: String, body: String }

    /// Resolves or reopens a thread; on issues since 16.4.
    PUT "/discussions/{discussion_id}" of on: Noteable [merge_request, issue] => Discussion,
    outdates [Notes, MergeRequest, MergeRequests];
    struct ResolveDiscussion {
        discussion_id: String,
        /// `true` resolves the thread, `false` reopens it.
        resolved: bool,
    }

    /// Commits a suggestion to the source branch. A 400 carries the reason why it does not apply.
    PUT "/suggestions/{id}/apply" => Suggestion,
    outdates [Notes, MergeRequest, Changes];
    struct ApplySuggestion { id: u64, commit_message: Option<String> }

    /// Commits several suggestions to the source branch in one commit.
    JSON PUT "/suggestions/batch_apply" => Vec<Suggestion>,
    outdates [Notes, MergeRequest, Changes];
    struct ApplySuggestions { ids: Vec<u64>, commit_message: Option<String> }
}
