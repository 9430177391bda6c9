//! Reactions: emoji on merge requests, issues, and notes. Not in the specification, but supported by servers of that
//! version.

use crate::api::issues::{GetIssue, ListProjectIssues};
use crate::api::merge_requests::{GetMergeRequest, ListProjectMergeRequests};
use crate::api::users::User;
use crate::api::{Id, NoContent, Time};

crate::resource! {
    /// An emoji reaction of a user.
    pub struct AwardEmoji {
        id: u64,
        /// The name without colons, as in `thumbsup`.
        name: String,
        user: Option<User>,
        created_at: Option<Time>,
        updated_at: Option<Time>,
        /// The ID of the note, merge request, issue or snippet.
        awardable_id: Option<u64>,
        /// `Note`, `MergeRequest`, `Issue` or `Snippet`.
        awardable_type: String,
    }
    unspecified {
        /// The image of a custom emoji of a group.
        url: String,
    }
}

crate::endpoints! {
    unspecified section "Award emoji";

    /// Lists the reactions to a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/award_emoji" => Vec<AwardEmoji>;
    struct ListMergeRequestAwards { id: Id, merge_request_iid: u64 }

    /// Reacts to a merge request. A 404 carries the reason if the reaction is refused.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/award_emoji" => AwardEmoji,
    touches [ListMergeRequestAwards, GetMergeRequest, ListProjectMergeRequests];
    struct CreateMergeRequestAward { id: Id, merge_request_iid: u64, name: String }

    /// Removes a reaction to a merge request. A 401 means that the reaction belongs to another user.
    DELETE "/projects/{id}/merge_requests/{merge_request_iid}/award_emoji/{award_id}" => NoContent,
    touches [ListMergeRequestAwards, GetMergeRequest, ListProjectMergeRequests];
    struct DeleteMergeRequestAward { id: Id, merge_request_iid: u64, award_id: u64 }

    /// Lists the reactions to a note of a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}/award_emoji" => Vec<AwardEmoji>;
    struct ListMergeRequestNoteAwards { id: Id, merge_request_iid: u64, note_id: u64 }

    /// Reacts to a note of a merge request.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}/award_emoji" => AwardEmoji,
    touches [ListMergeRequestNoteAwards];
    struct CreateMergeRequestNoteAward { id: Id, merge_request_iid: u64, note_id: u64, name: String }

    /// Removes a reaction to a note of a merge request.
    DELETE "/projects/{id}/merge_requests/{merge_request_iid}/notes/{note_id}/award_emoji/{award_id}" => NoContent,
    touches [ListMergeRequestNoteAwards];
    struct DeleteMergeRequestNoteAward { id: Id, merge_request_iid: u64, note_id: u64, award_id: u64 }

    /// Lists the reactions to an issue.
    GET "/projects/{id}/issues/{issue_iid}/award_emoji" => Vec<AwardEmoji>;
    struct ListIssueAwards { id: Id, issue_iid: u64 }

    /// Reacts to an issue.
    POST "/projects/{id}/issues/{issue_iid}/award_emoji" => AwardEmoji,
    touches [ListIssueAwards, GetIssue, ListProjectIssues];
    struct CreateIssueAward { id: Id, issue_iid: u64, name: String }

    /// Removes a reaction to an issue.
    DELETE "/projects/{id}/issues/{issue_iid}/award_emoji/{award_id}" => NoContent,
    touches [ListIssueAwards, GetIssue, ListProjectIssues];
    struct DeleteIssueAward { id: Id, issue_iid: u64, award_id: u64 }

    /// Lists the reactions to a note of an issue.
    GET "/projects/{id}/issues/{issue_iid}/notes/{note_id}/award_emoji" => Vec<AwardEmoji>;
    struct ListIssueNoteAwards { id: Id, issue_iid: u64, note_id: u64 }

    /// Reacts to a note of an issue.
    POST "/projects/{id}/issues/{issue_iid}/notes/{note_id}/award_emoji" => AwardEmoji,
    touches [ListIssueNoteAwards];
    struct CreateIssueNoteAward { id: Id, issue_iid: u64, note_id: u64, name: String }

    /// Removes a reaction to a note of an issue.
    DELETE "/projects/{id}/issues/{issue_iid}/notes/{note_id}/award_emoji/{award_id}" => NoContent,
    touches [ListIssueNoteAwards];
    struct DeleteIssueNoteAward { id: Id, issue_iid: u64, note_id: u64, award_id: u64 }

    /// Lists the reactions to a note of a snippet.
    GET "/projects/{id}/snippets/{snippet_id}/notes/{note_id}/award_emoji" => Vec<AwardEmoji>;
    struct ListSnippetNoteAwards { id: Id, snippet_id: u64, note_id: u64 }

    /// Reacts to a note of a snippet.
    POST "/projects/{id}/snippets/{snippet_id}/notes/{note_id}/award_emoji" => AwardEmoji,
    touches [ListSnippetNoteAwards];
    struct CreateSnippetNoteAward { id: Id, snippet_id: u64, note_id: u64, name: String }

    /// Removes a reaction to a note of a snippet.
    DELETE "/projects/{id}/snippets/{snippet_id}/notes/{note_id}/award_emoji/{award_id}" => NoContent,
    touches [ListSnippetNoteAwards];
    struct DeleteSnippetNoteAward { id: Id, snippet_id: u64, note_id: u64, award_id: u64 }
}
