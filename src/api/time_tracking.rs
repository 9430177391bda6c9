//! The estimated and the spent time of merge requests and issues. Not in the specification, although servers of that version
//! support them.

use crate::merge_requests::TimeStats;

crate::endpoints! {
    unspecified section "Time tracking";

    /// Sets the estimated time.
    POST "/time_estimate" of on: Noteable [merge_request, issue] => TimeStats,
    outdates [MergeRequest, MergeRequests, Issue, Issues, Notes];
    struct SetTimeEstimate {
        /// The time in GitLab's words, such as `3h30m`.
        duration: String,
    }

    /// Removes the estimated time.
    POST "/reset_time_estimate" of on: Noteable [merge_request, issue] => TimeStats,
    outdates [MergeRequest, MergeRequests, Issue, Issues, Notes];
    struct ResetTimeEstimate {}

    /// Adds spent time.
    POST "/add_spent_time" of on: Noteable [merge_request, issue] => TimeStats,
    outdates [MergeRequest, MergeRequests, Issue, Issues, Notes];
    struct AddSpentTime {
        /// The time in GitLab's words, such as `3h30m`; with a minus, it is taken off.
        duration: String,
        summary: Option<String>,
    }

    /// Removes all spent time.
    POST "/reset_spent_time" of on: Noteable [merge_request, issue] => TimeStats,
    outdates [MergeRequest, MergeRequests, Issue, Issues, Notes];
    struct ResetSpentTime {}
}
