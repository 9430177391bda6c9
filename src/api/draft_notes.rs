//! Draft notes: the comments of a review, visible only to their author until they are published. Not in the
//! specification; available since 15.9, with positions since 16.3.

use crate::notes::{NewPosition, Position};
use crate::{Id, NoContent};

crate::resource! {
    /// A comment of the caller's unpublished review.
    pub struct DraftNote {
        id: u64,
        author_id: u64,
        merge_request_id: u64,
        /// Whether publishing the note resolves its thread; otherwise it reopens it.
        resolve_discussion: bool,
        /// The ID of the thread that the note replies to.
        discussion_id: Option<String>,
        /// The text in Markdown.
        note: String,
        commit_id: Option<String>,
        line_code: Option<String>,
        /// The position in the diff; all its fields are null for a general comment.
        position: Option<Position>,
    }
}

crate::endpoints! {
    unspecified section "Draft notes";

    /// Lists the caller's draft notes, without pagination.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes" => Vec<DraftNote>, about DraftNotes;
    struct ListDraftNotes { id: Id, merge_request_iid: u64 }

    /// Adds a comment to the caller's review. The server does not check whether the line is in the diff.
    JSON POST "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes" => DraftNote,
    outdates [DraftNotes];
    struct CreateDraftNote {
        id: Id,
        merge_request_iid: u64,
        note: String,
        position: Option<NewPosition>,
        /// The SHA of the commit that the position refers to, for comments on a single commit.
        commit_id: Option<String>,
        in_reply_to_discussion_id: Option<String>,
        /// Whether publishing the note resolves the thread.
        resolve_discussion: Option<bool>,
    }

    /// Updates a draft note; omitting the position removes it.
    JSON PUT "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}" => DraftNote,
    outdates [DraftNotes];
    struct UpdateDraftNote {
        id: Id,
        merge_request_iid: u64,
        draft_note_id: u64,
        note: String,
        position: Option<NewPosition>,
    }

    /// Deletes a draft note.
    DELETE "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}" => NoContent,
    outdates [DraftNotes];
    struct DeleteDraftNote { id: Id, merge_request_iid: u64, draft_note_id: u64 }

    /// Publishes one draft note.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}/publish" => NoContent,
    outdates [DraftNotes, Notes, Participants, MergeRequest, MergeRequests];
    struct PublishDraftNote { id: Id, merge_request_iid: u64, draft_note_id: u64 }

    /// Publishes all draft notes of the caller; succeeds even if there are none. Servers before 19.2 ignore the state, and
    /// all of them ignore one that is not allowed.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes/bulk_publish" => NoContent,
    outdates [DraftNotes, Notes, Participants, MergeRequest, MergeRequests, Approvals, Reviewers];
    struct PublishReview {
        id: Id,
        merge_request_iid: u64,
        /// The verdict of the review: `reviewed` or `requested_changes`.
        reviewer_state: Option<String>,
        /// A comment on the whole, posted after the draft notes. Servers before 19.2 ignore it.
        note: Option<String>,
    }
}
