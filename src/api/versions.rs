//! Versions: the diffs of a merge request after each push. Not in the specification; available since 8.12.

use super::commits::{Commit, DiffEntry};
use super::types::Specified;
use crate::{Id, Time};
use serde::{Deserialize, Serialize};

crate::resource! {
    /// The diff of a merge request as of one push.
    pub struct MergeRequestVersion {
        id: u64,
        /// The SHA of the head of the source branch.
        head_commit_sha: Option<String>,
        /// The SHA of the merge base.
        base_commit_sha: Option<String>,
        /// The SHA of the head of the target branch at that time.
        start_commit_sha: Option<String>,
        created_at: Option<Time>,
        merge_request_id: u64,
        /// The state of the diff: `collected`, `empty`, `overflow` or `without_files`.
        state: String,
        /// The number of files, as text.
        real_size: Option<String>,
    }
    served {
        /// The hash of the changes, wherever they are in their files (`git patch-id --stable`).
        patch_id_sha: Option<String>,
    }
}

/// A version with its commits and changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VersionDetail {
    #[serde(flatten)]
    pub version: MergeRequestVersion,
    /// The commits, newest first.
    pub commits: Vec<Commit>,
    pub diffs: Vec<DiffEntry>,
}

impl Specified for VersionDetail {}

crate::endpoints! {
    unspecified section "Versions";

    /// Lists the versions of a merge request, newest first.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/versions" => Vec<MergeRequestVersion>;
    struct ListMergeRequestVersions { id: Id, merge_request_iid: u64 }

    /// Gets a version with its commits and changes.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/versions/{version_id}" => VersionDetail;
    struct GetMergeRequestVersion { id: Id, merge_request_iid: u64, version_id: u64 }
}
