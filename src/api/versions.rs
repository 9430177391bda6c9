//! Versions: what the changes of a merge request were after each push. Not in the specification; since 8.12.

use crate::api::{Id, Time};

crate::resource! {
    /// The changes as of one push.
    pub struct Version {
        id: u64,
        /// The head of the source branch.
        head_commit_sha: Option<String>,
        /// The merge base.
        base_commit_sha: Option<String>,
        /// The head of the target branch at that time.
        start_commit_sha: Option<String>,
        created_at: Option<Time>,
        merge_request_id: u64,
        /// `collected`, `empty`, `overflow`, `without_files`.
        state: String,
        /// The number of files, as text.
        real_size: Option<String>,
    }
}

crate::endpoints! {
    newer section "Versions";

    /// Lists the versions of a merge request, newest first.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/versions" => Vec<Version>;
    struct ListMergeRequestVersions { id: Id, merge_request_iid: u64 }
}
