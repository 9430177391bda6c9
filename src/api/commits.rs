//! Commits, what people and machines said of them, and their making (specification, "Commits and commit statuses").

pub mod resources;

use crate::api::branches::{GetBranch, ListBranches};
use crate::api::endpoint::{InputKind, InputType};
use crate::api::merge_requests::{GetChanges, GetMergeRequest, ListMergeRequestCommits, MergeRequest};
use crate::api::projects::GetProject;
use crate::api::repository::{Compare, ListContributors, ListTree};
use crate::api::users::User;
use crate::api::views::COMMENT_AUTHOR;
use crate::api::{Id, Time};
pub use resources::{Commit, CommitSignature, DiffEntry, Stats};
use serde::{Deserialize, Serialize};

crate::resource! {
    /// What the user said of a commit, or of a line of its diff.
    pub struct CommitComment {
        note: String,
        author: Option<User>,
        path: Option<String>,
        line: Option<u64>,
        /// `new` or `old`.
        line_type: Option<String>,
        created_at: Option<Time>,
    }
}

crate::open_enum! {
    /// The states of a commit status.
    pub enum StatusState {
        Pending = "pending",
        Running = "running",
        Success = "success",
        Failed = "failed",
        Canceled = "canceled",
    }
}

crate::resource! {
    /// What a machine said of a commit.
    pub struct CommitStatus {
        id: u64,
        sha: String,
        r#ref: Option<String>,
        status: StatusState,
        name: String,
        target_url: Option<String>,
        description: Option<String>,
        coverage: Option<f64>,
        allow_failure: bool,
        created_at: Option<Time>,
        started_at: Option<Time>,
        finished_at: Option<Time>,
        author: Option<User>,
    }
    newer {
        pipeline_id: u64,
    }
}

crate::resource! {
    /// A branch or tag that holds a commit.
    pub struct CommitRef {
        /// `branch` or `tag`.
        r#type: String,
        name: String,
    }
}

/// One change of a file in a commit to be made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommitAction {
    /// `create`, `delete`, `move` or `update`.
    pub action: String,
    /// The file, where the commit leaves it.
    pub file_path: String,
    /// Where a moved file was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_path: Option<String>,
    /// The text, or its base64; all but `delete` need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// `text` (where absent) or `base64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The last commit that the author knows of the file: a newer one makes the server refuse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_commit_id: Option<String>,
}

impl InputType for Vec<CommitAction> {
    const KIND: InputKind = InputKind::Other;
}

crate::endpoints! {
    section "Commits and commit statuses";

    /// Lists the commits that a branch or tag holds, newest first.
    GET "/projects/{id}/repository/commits" => Vec<Commit>;
    struct ListCommits {
        id: Id,
        /// A branch or tag; the default branch where absent.
        ref_name: Option<String>,
        since: Option<Time>,
        until: Option<Time>,
        /// Only those that changed this file or folder.
        path: Option<String>,
        /// Every commit of the repository.
        all: Option<bool>,
        /// Servers of today: a part of the author's name or address. Others do not look at it.
        author: Option<String>,
    }

    /// Makes a commit of several changes.
    JSON POST "/projects/{id}/repository/commits" => Commit,
    touches [
        ListCommits, ListTree, ListBranches, GetBranch, ListContributors, Compare, GetProject, GetMergeRequest,
        ListMergeRequestCommits, GetChanges,
    ];
    struct CreateCommit {
        id: Id,
        branch: String,
        commit_message: String,
        /// Where a new branch starts.
        start_branch: Option<String>,
        actions: Vec<CommitAction>,
        author_email: Option<String>,
        author_name: Option<String>,
    }

    /// Reads the commit of a hash, branch or tag.
    GET "/projects/{id}/repository/commits/{sha}" => Commit;
    struct GetCommit { id: Id, sha: String, stats: Option<bool> }

    /// Lists branches and tags that hold a commit.
    GET "/projects/{id}/repository/commits/{sha}/refs" => Vec<CommitRef>;
    struct ListCommitRefs {
        id: Id,
        sha: String,
        /// `branch`, `tag` or `all`.
        r#type: Option<String>,
    }

    /// Applies a commit to another branch.
    POST "/projects/{id}/repository/commits/{sha}/cherry_pick" => Commit,
    touches [
        ListCommits, ListTree, ListBranches, GetBranch, ListContributors, Compare, GetProject, GetMergeRequest,
        ListMergeRequestCommits, GetChanges,
    ];
    struct CherryPick { id: Id, sha: String, branch: String }

    /// Reads what a commit changed.
    GET "/projects/{id}/repository/commits/{sha}/diff" => Vec<DiffEntry>, immutable by sha;
    struct GetCommitDiff { id: Id, sha: String }

    /// Lists the merge requests that brought a commit; since 10.7.
    NEWER GET "/projects/{id}/repository/commits/{sha}/merge_requests" => Vec<MergeRequest>;
    struct ListCommitMergeRequests { id: Id, sha: String }

    /// Reads the signature of a commit; since 11.9. One that is not signed has none: 404.
    NEWER GET "/projects/{id}/repository/commits/{sha}/signature" => CommitSignature;
    struct GetCommitSignature { id: Id, sha: String }

    /// Lists what people said of a commit.
    GET "/projects/{id}/repository/commits/{sha}/comments" => Vec<CommitComment>,
    views ["author": COMMENT_AUTHOR];
    struct ListCommitComments { id: Id, sha: String }

    /// Comments on a commit, or on a line of its diff.
    POST "/projects/{id}/repository/commits/{sha}/comments" => CommitComment,
    touches [ListCommitComments];
    struct CreateCommitComment {
        id: Id,
        /// The whole hash, where a line is meant.
        sha: String,
        note: String,
        path: Option<String>,
        line: Option<u64>,
        /// `new` or `old`.
        line_type: Option<String>,
    }

    /// Lists what machines said of a commit.
    GET "/projects/{id}/repository/commits/{sha}/statuses" => Vec<CommitStatus>;
    struct ListCommitStatuses {
        id: Id,
        sha: String,
        r#ref: Option<String>,
        stage: Option<String>,
        name: Option<String>,
        /// All, not only the latest of each name.
        all: Option<bool>,
    }

    /// Adds the status of a commit under a name, or updates it.
    POST "/projects/{id}/statuses/{sha}" => CommitStatus,
    touches [ListCommitStatuses, GetCommit];
    struct SetCommitStatus {
        id: Id,
        sha: String,
        /// A word of [`StatusState`].
        state: String,
        r#ref: Option<String>,
        name: Option<String>,
        /// Another word for `name`.
        context: Option<String>,
        target_url: Option<String>,
        description: Option<String>,
        coverage: Option<f64>,
    }
}
