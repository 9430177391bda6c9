//! Events: what happened in a project, or what a user did. Not in the specification, although servers of that version
//! support them.

use crate::Time;
use crate::notes::Note;
use crate::users::User;

crate::resource! {
    /// The push of an event.
    pub struct PushData {
        commit_count: u64,
        /// `created`, `pushed` or `removed`.
        action: String,
        /// `branch` or `tag`.
        ref_type: String,
        r#ref: Option<String>,
        commit_from: Option<String>,
        commit_to: Option<String>,
        commit_title: Option<String>,
    }
}

crate::resource! {
    /// An event.
    pub struct Event {
        id: u64,
        project_id: Option<u64>,
        /// The verb: `opened`, `closed`, `accepted` (merged), `commented on`, `pushed to`, and others.
        action_name: String,
        target_id: Option<u64>,
        /// The number of the target; for a comment, the ID of the note.
        target_iid: Option<u64>,
        /// `Issue`, `MergeRequest`, `Note`, `DiffNote`, `Milestone`, and others; null for a push.
        target_type: Option<String>,
        target_title: Option<String>,
        /// The user who caused it; absent if the account was deleted.
        author: Option<User>,
        author_username: Option<String>,
        created_at: Option<Time>,
    }
    views {
        /// The comment; absent if it is none.
        note: Option<Box<Note>>,
        /// Absent if it is no push.
        push_data: Option<PushData>,
    }
    served {
        author_id: Option<u64>,
    }
}

impl Event {
    /// Returns the name of the user who caused it; empty if the account was deleted.
    pub fn author_name(&self) -> &str {
        let known = self.author.as_ref().map(|author| author.username.as_str());
        known.or(self.author_username.as_deref()).unwrap_or_default()
    }
}

/// The values of `action`.
pub const ACTIONS: &[&str] = &[
    "created",
    "updated",
    "closed",
    "reopened",
    "pushed",
    "commented",
    "merged",
    "joined",
    "left",
    "destroyed",
    "expired",
    "approved",
];

crate::endpoints! {
    unspecified section "Events";

    /// Lists the events of a project, of a user, or of the current user, the latest first.
    GET "/events" of on: Feed [project, user, own] => Vec<Event>, about Events;
    struct ListEvents {
        /// One of [`ACTIONS`].
        action: Option<String>,
        /// The type of the target, in snake case: `merge_request`.
        target_type: Option<String>,
    }
}
