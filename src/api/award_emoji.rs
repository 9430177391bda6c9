//! Reactions: emoji on merge requests, issues, and notes. Not in the specification, but supported by servers of that
//! version.

use crate::users::User;
use crate::{NoContent, Time};

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
        url: Option<String>,
    }
}

crate::endpoints! {
    unspecified section "Award emoji";

    /// Lists the reactions.
    GET "/award_emoji" of to: Awardable [merge_request, issue, merge_request_note, issue_note, snippet_note]
        => Vec<AwardEmoji>, about Awards;
    struct ListAwards {}

    /// Reacts. A 404 carries the reason if the reaction is refused.
    POST "/award_emoji" of to: Awardable [merge_request, issue, merge_request_note, issue_note, snippet_note]
        => AwardEmoji,
    outdates [Awards, MergeRequest, MergeRequests, Issue, Issues];
    struct CreateAward { name: String }

    /// Removes a reaction. A 401 means that the reaction belongs to another user.
    DELETE "/award_emoji/{award_id}"
        of to: Awardable [merge_request, issue, merge_request_note, issue_note, snippet_note] => NoContent,
    outdates [Awards, MergeRequest, MergeRequests, Issue, Issues];
    struct DeleteAward { award_id: u64 }
}
