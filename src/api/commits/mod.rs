//! Commits, their comments, statuses and signatures, and the creation of commits (specification, "Commits and commit
//! statuses").

pub mod resources;

use crate::api::branches::{GetBranch, ListBranches};
use crate::api::endpoint::{InputKind, InputType};
use crate::api::merge_requests::{GetMergeRequest, GetMergeRequestChanges, ListMergeRequestCommits, MergeRequest};
use crate::api::projects::GetProject;
use crate::api::repository::{CompareRefs, ListContributors, ListTree};
use crate::api::users::User;
use crate::api::views::COMMENT_AUTHOR_FIELDS;
use crate::api::{Id, Time};
pub use resources::{Commit, CommitSignature, DiffEntry, Stats};
use serde::{Deserialize, Serialize};

crate::resource! {
    /// A comment on a commit, or on a line of its diff.
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
    /// The state of a commit status.
    pub enum CommitStatusState {
        Pending = "pending",
        Running = "running",
        Success = "success",
        Failed = "failed",
        Canceled = "canceled",
    }
}

crate::resource! {
    /// A status of a commit, reported by CI or another service.
    pub struct CommitStatus {
        id: u64,
        sha: String,
        r#ref: Option<String>,
        status: CommitStatusState,
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
    unspecified {
        pipeline_id: u64,
    }
}

crate::resource! {
    /// A branch or tag that contains a commit.
    pub struct CommitRef {
        /// `branch` or `tag`.
        r#type: String,
        name: String,
    }
}

/// A change of one file, as part of a new commit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommitAction {
    /// `create`, `delete`, `move` or `update`.
    pub action: String,
    /// The path of the file after the commit.
    pub file_path: String,
    /// The path of a moved file before the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_path: Option<String>,
    /// The text, or its base64; required for all actions but `delete`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// `text` (default) or `base64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The last known commit of the file: the server refuses the change if there is a newer one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_commit_id: Option<String>,
}

impl InputType for Vec<CommitAction> {
    const KIND: InputKind = InputKind::Structured;
}

crate::endpoints! {
    section "Commits and commit statuses";

    /// Lists the commits of a branch or tag, newest first.
    GET "/projects/{id}/repository/commits" => Vec<Commit>;
    struct ListCommits {
        id: Id,
        /// Branch or tag; the default branch if absent.
        ref_name: Option<String>,
        since: Option<Time>,
        until: Option<Time>,
        /// Only commits that changed this file or folder.
        path: Option<String>,
        /// Include all commits of the repository.
        all: Option<bool>,
        /// Part of the author's name or email address; older servers ignore it.
        author: Option<String>,
    }

    /// Creates a commit with several changes.
    JSON POST "/projects/{id}/repository/commits" => Commit,
    touches [
        ListCommits, ListTree, ListBranches, GetBranch, ListContributors, CompareRefs, GetProject, GetMergeRequest,
        ListMergeRequestCommits, GetMergeRequestChanges,
    ];
    struct CreateCommit {
        id: Id,
        branch: String,
        commit_message: String,
        /// The starting point of a new branch.
        start_branch: Option<String>,
        actions: Vec<CommitAction>,
        author_email: Option<String>,
        author_name: Option<String>,
    }

    /// Gets a commit by SHA, branch or tag.
    GET "/projects/{id}/repository/commits/{sha}" => Commit;
    struct GetCommit { id: Id, sha: String, stats: Option<bool> }

    /// Lists the branches and tags that contain a commit.
    GET "/projects/{id}/repository/commits/{sha}/refs" => Vec<CommitRef>;
    struct ListCommitRefs {
        id: Id,
        sha: String,
        /// `branch`, `tag` or `all`.
        r#type: Option<String>,
    }

    /// Cherry-picks a commit to a branch.
    POST "/projects/{id}/repository/commits/{sha}/cherry_pick" => Commit,
    touches [
        ListCommits, ListTree, ListBranches, GetBranch, ListContributors, CompareRefs, GetProject, GetMergeRequest,
        ListMergeRequestCommits, GetMergeRequestChanges,
    ];
    struct CherryPick { id: Id, sha: String, branch: String }

    /// Gets the diff of a commit.
    GET "/projects/{id}/repository/commits/{sha}/diff" => Vec<DiffEntry>, immutable by sha;
    struct GetCommitDiff { id: Id, sha: String }

    /// Lists the merge requests that introduced a commit (since 10.7).
    UNSPECIFIED GET "/projects/{id}/repository/commits/{sha}/merge_requests" => Vec<MergeRequest>;
    struct ListCommitMergeRequests { id: Id, sha: String }

    /// Gets the signature of a commit (since 11.9); 404 if it is not signed.
    UNSPECIFIED GET "/projects/{id}/repository/commits/{sha}/signature" => CommitSignature;
    struct GetCommitSignature { id: Id, sha: String }

    /// Lists the comments on a commit.
    GET "/projects/{id}/repository/commits/{sha}/comments" => Vec<CommitComment>,
    views ["author": COMMENT_AUTHOR_FIELDS];
    struct ListCommitComments { id: Id, sha: String }

    /// Comments on a commit, or on a line of its diff.
    POST "/projects/{id}/repository/commits/{sha}/comments" => CommitComment,
    touches [ListCommitComments];
    struct CreateCommitComment {
        id: Id,
        /// The commit; for a comment on a line, its full SHA.
        sha: String,
        note: String,
        path: Option<String>,
        line: Option<u64>,
        /// `new` or `old`.
        line_type: Option<String>,
    }

    /// Lists the statuses of a commit.
    GET "/projects/{id}/repository/commits/{sha}/statuses" => Vec<CommitStatus>;
    struct ListCommitStatuses {
        id: Id,
        sha: String,
        r#ref: Option<String>,
        stage: Option<String>,
        name: Option<String>,
        /// Include all statuses, not only the latest of each name.
        all: Option<bool>,
    }

    /// Sets the status of a commit under a name.
    POST "/projects/{id}/statuses/{sha}" => CommitStatus,
    touches [ListCommitStatuses, GetCommit];
    struct SetCommitStatus {
        id: Id,
        sha: String,
        /// `pending`, `running`, `success`, `failed` or `canceled`.
        state: String,
        r#ref: Option<String>,
        name: Option<String>,
        /// Alias of `name`.
        context: Option<String>,
        target_url: Option<String>,
        description: Option<String>,
        coverage: Option<f64>,
    }
}
