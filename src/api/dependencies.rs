//! Dependencies of merge requests: one cannot be merged before another. Not in the specification; only enterprise servers
//! have them.

use crate::merge_requests::MergeRequest;
use crate::{Id, NoContent};

crate::resource! {
    /// A dependency of one merge request on another.
    pub struct Dependency {
        id: u64,
        project_id: u64,
    }
    unspecified {
        /// The one that must be merged first; absent if the caller may not see it.
        blocking_merge_request: Option<Box<MergeRequest>>,
        /// The one that waits.
        blocked_merge_request: Option<Box<MergeRequest>>,
    }
}

crate::endpoints! {
    unspecified section "Dependencies";

    /// Lists the merge requests that must be merged before a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/blocks" => Vec<Dependency>, about Dependencies;
    struct ListBlockingMergeRequests { id: Id, merge_request_iid: u64 }

    /// Lists the merge requests that wait for a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/blockees" => Vec<Dependency>, about Dependencies;
    struct ListBlockedMergeRequests { id: Id, merge_request_iid: u64 }

    /// Lets a merge request wait for another one.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/blocks" => Dependency,
    outdates [Dependencies, MergeRequest, MergeRequests];
    struct AddDependency {
        id: Id,
        merge_request_iid: u64,
        /// The ID of the other one, which is unique on the server.
        blocking_merge_request_id: Option<u64>,
        /// Its number in a project, instead of the ID.
        blocking_merge_request_iid: Option<u64>,
        /// The project of the number; that of the first merge request if absent.
        blocking_project_id: Option<Id>,
    }

    /// Removes a dependency.
    DELETE "/projects/{id}/merge_requests/{merge_request_iid}/blocks/{block_id}" => NoContent,
    outdates [Dependencies, MergeRequest, MergeRequests];
    struct RemoveDependency { id: Id, merge_request_iid: u64, block_id: u64 }
}
