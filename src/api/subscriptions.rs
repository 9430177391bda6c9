//! Subscriptions of the user to merge requests and issues. Not in the specification, although servers of that version
//! support them.

use crate::NoContent;

crate::endpoints! {
    unspecified section "Subscriptions";

    /// Subscribes the caller; 304 without a change. The reply is the merge request or issue.
    POST "/subscribe" of on: Noteable [merge_request, issue] => NoContent,
    outdates [MergeRequest, Issue];
    struct Subscribe {}

    /// Unsubscribes the caller; 304 without a change. The reply is the merge request or issue.
    POST "/unsubscribe" of on: Noteable [merge_request, issue] => NoContent,
    outdates [MergeRequest, Issue];
    struct Unsubscribe {}
}
