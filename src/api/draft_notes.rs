//! Draft notes: the comments of a review that only their author sees until they are published. Not in the
//! specification; since 15.9, with positions since 16.3.

use crate::api::decisions::GetApprovals;
use crate::api::discussions::ListMergeRequestDiscussions;
use crate::api::merge_requests::{GetMergeRequest, ListParticipants, ListProjectMergeRequests};
use crate::api::notes::{ListMergeRequestNotes, NewPosition, Position};
use crate::api::{Id, Nothing};

crate::resource! {
    /// A comment of the caller's review.
    pub struct DraftNote {
        id: u64,
        author_id: u64,
        merge_request_id: u64,
        /// Whether publishing it resolves its thread; otherwise it reopens it.
        resolve_discussion: bool,
        /// The thread that it replies to.
        discussion_id: Option<String>,
        /// Markdown.
        note: String,
        commit_id: Option<String>,
        line_code: Option<String>,
        /// All fields are null for a general comment.
        position: Option<Position>,
    }
}

crate::endpoints! {
    newer section "Draft notes";

    /// Lists the caller's draft notes, all at once.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes" => Vec<DraftNote>;
    struct ListDraftNotes { id: Id, merge_request_iid: u64 }

    /// Adds a comment to the caller's review. The server does not check whether the line is in the changes.
    JSON POST "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes" => DraftNote,
    touches [ListDraftNotes];
    struct CreateDraftNote {
        id: Id,
        merge_request_iid: u64,
        note: String,
        position: Option<NewPosition>,
        /// The commit that the position is of, where a single commit is discussed.
        commit_id: Option<String>,
        in_reply_to_discussion_id: Option<String>,
        /// Whether publishing it resolves the thread.
        resolve_discussion: Option<bool>,
    }

    /// Changes a draft note; without its position it loses it.
    JSON PUT "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}" => DraftNote,
    touches [ListDraftNotes];
    struct UpdateDraftNote {
        id: Id,
        merge_request_iid: u64,
        draft_note_id: u64,
        note: String,
        position: Option<NewPosition>,
    }

    /// Deletes a draft note.
    DELETE "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}" => Nothing,
    touches [ListDraftNotes];
    struct DeleteDraftNote { id: Id, merge_request_iid: u64, draft_note_id: u64 }

    /// Publishes one draft note.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes/{draft_note_id}/publish" => Nothing,
    touches [
        ListDraftNotes, ListMergeRequestDiscussions, ListMergeRequestNotes, ListParticipants, GetMergeRequest,
        ListProjectMergeRequests,
    ];
    struct PublishDraftNote { id: Id, merge_request_iid: u64, draft_note_id: u64 }

    /// Publishes all of the caller's draft notes; a success also where there are none.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/draft_notes/bulk_publish" => Nothing,
    touches [
        ListDraftNotes, ListMergeRequestDiscussions, ListMergeRequestNotes, ListParticipants, GetMergeRequest,
        ListProjectMergeRequests, GetApprovals,
    ];
    struct PublishReview { id: Id, merge_request_iid: u64 }
}
