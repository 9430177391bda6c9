//! Commits, what people and machines said of them, and their making (specification, "Commits and commit statuses").

use crate::api::branches::{GetBranch, ListBranches};
use crate::api::endpoint::{InputKind, InputType};
use crate::api::jobs::PipelineBrief;
use crate::api::merge_requests::{GetChanges, GetMergeRequest, ListMergeRequestCommits};
use crate::api::projects::GetProject;
use crate::api::repository::{Compare, ListContributors, ListTree};
use crate::api::users::User;
use crate::api::views::COMMENT_AUTHOR;
use crate::api::{Id, Time};
use serde::{Deserialize, Serialize};

crate::resource! {
    /// A commit. The specification's short commit is the same with fewer fields.
    pub struct Commit {
        /// The whole hash.
        id: String,
        short_id: String,
        /// The first line of the message.
        title: String,
        message: String,
        author_name: String,
        author_email: String,
        authored_date: Option<Time>,
        committer_name: String,
        committer_email: String,
        committed_date: Option<Time>,
        created_at: Option<Time>,
        parent_ids: Vec<String>,
    }
    views {
        /// Lines added and deleted: one commit, and one just made.
        stats: Stats,
        /// The state of its last pipeline: one commit.
        status: String,
        last_pipeline: PipelineBrief,
        /// Whose it is: in search results.
        project_id: u64,
    }
    newer {
        web_url: String,
    }
}

impl Commit {
    /// The name by which the user calls it: the short hash, cut from the whole where the server sent none.
    pub fn short(&self) -> &str {
        if self.short_id.is_empty() { self.id.get(..8).unwrap_or(&self.id) } else { &self.short_id }
    }

    /// The message without its first line.
    pub fn body(&self) -> &str {
        self.message.split_once('\n').map_or("", |(_, rest)| rest.trim_matches('\n'))
    }

    /// Returns whether it joins two or more lines of history.
    pub fn is_merge(&self) -> bool {
        self.parent_ids.len() > 1
    }

    /// Returns when it was made: the author's date, or the nearest thing that was sent.
    pub fn when(&self) -> Option<&Time> {
        self.authored_date.as_ref().or(self.created_at.as_ref()).or(self.committed_date.as_ref())
    }
}

crate::resource! {
    /// Lines added and deleted.
    pub struct Stats {
        additions: u64,
        deletions: u64,
        total: u64,
    }
}

crate::resource! {
    /// What changed in one file: the hunks of a unified diff, without the `diff --git` header.
    pub struct DiffEntry {
        /// Empty for binary, renamed, collapsed and too large files.
        diff: String,
        old_path: String,
        new_path: String,
        /// Six octal digits.
        a_mode: Option<String>,
        b_mode: Option<String>,
        new_file: bool,
        renamed_file: bool,
        deleted_file: bool,
    }
    newer {
        /// The server left the text out because it is long.
        collapsed: bool,
        /// The server left the text out because it is too large to make.
        too_large: bool,
        generated_file: bool,
    }
}

impl DiffEntry {
    /// The path by which to call the file: the new one, or the old one of a deleted file.
    pub fn path(&self) -> &str {
        if self.deleted_file || self.new_path.is_empty() { &self.old_path } else { &self.new_path }
    }

    /// Returns whether the server left the text out on purpose.
    pub fn is_withheld(&self) -> bool {
        self.diff.is_empty() && (self.too_large == Some(true) || self.collapsed == Some(true))
    }

    /// Lines added and deleted, counted in the text.
    pub fn counts(&self) -> (usize, usize) {
        let mut counts = (0, 0);
        let mut in_hunk = false;
        for line in self.diff.lines() {
            match line.as_bytes().first() {
                // Before the first hunk, `---` and `+++` name files.
                Some(b'@') => in_hunk = true,
                Some(b'+') if in_hunk => counts.0 += 1,
                Some(b'-') if in_hunk => counts.1 += 1,
                _ => {}
            }
        }
        counts
    }
}

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
