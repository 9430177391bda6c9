//! Commits, their comments, statuses and signatures, and the creation of commits (specification, "Commits and commit
//! statuses").

use crate::merge_requests::MergeRequest;
use crate::pipelines::resources::Pipeline;
use crate::users::User;
use crate::views::COMMENT_AUTHOR_FIELDS;
use crate::{Id, Nullable, Time};
use std::collections::BTreeMap;

crate::resource! {
    /// A commit. The specification's short commit is the same with fewer fields.
    pub struct Commit {
        /// The full SHA.
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
        /// Numbers of added and deleted lines; only for a single commit and in the reply to its creation.
        stats: Option<Stats>,
        /// The status of the last pipeline; only for a single commit.
        status: Nullable<String>,
        last_pipeline: Nullable<Pipeline>,
        /// The ID of the project; only in search results.
        project_id: Option<u64>,
    }
    unspecified {
        web_url: Option<String>,
    }
    served {
        /// The trailers of the message, each with its last value.
        trailers: Option<BTreeMap<String, String>>,
        extended_trailers: Option<BTreeMap<String, Vec<String>>>,
    }
}

impl Commit {
    /// Returns the short SHA; a prefix of the full SHA if the server sent none.
    pub fn short(&self) -> &str {
        if self.short_id.is_empty() { self.id.get(..8).unwrap_or(&self.id) } else { &self.short_id }
    }

    /// Returns the message without its first line.
    pub fn body(&self) -> &str {
        self.message.split_once('\n').map_or("", |(_, rest)| rest.trim_matches(['\r', '\n']))
    }

    pub fn is_merge(&self) -> bool {
        self.parent_ids.len() > 1
    }

    /// Returns the author date, or else the creation or committer date.
    pub fn date(&self) -> Option<&Time> {
        self.authored_date.as_ref().or(self.created_at.as_ref()).or(self.committed_date.as_ref())
    }
}

crate::resource! {
    /// Numbers of added and deleted lines.
    pub struct Stats {
        additions: u64,
        deletions: u64,
        total: u64,
    }
}

crate::resource! {
    /// The signature of a commit, as verified by the server.
    pub struct CommitSignature {
        /// `PGP`, `X509` or `SSH`.
        signature_type: String,
        /// `verified`, `unverified`, `unknown_key`, ….
        verification_status: String,
    }
    unspecified {
        gpg_key_primary_keyid: Option<String>,
        gpg_key_user_name: Option<String>,
        gpg_key_user_email: Option<String>,
        key: Option<SignatureKey>,
        x509_certificate: Option<SignatureCertificate>,
    }
}

crate::resource! {
    /// The SSH key of a signature.
    pub struct SignatureKey {
        title: String,
    }
}

crate::resource! {
    /// The X.509 certificate of a signature.
    pub struct SignatureCertificate {
        subject: String,
        email: String,
    }
}

crate::resource! {
    /// The changes of one file: the hunks of a unified diff, without the `diff --git` header.
    pub struct DiffEntry {
        /// The hunks; empty for binary, renamed, collapsed and too large files.
        diff: String,
        old_path: String,
        new_path: String,
        /// The file mode before the change: six octal digits.
        a_mode: Option<String>,
        b_mode: Option<String>,
        new_file: bool,
        renamed_file: bool,
        deleted_file: bool,
    }
    unspecified {
        /// Whether the server omitted the diff because it is long.
        collapsed: Option<bool>,
        /// Whether the server omitted the diff because it is too large to compute.
        too_large: Option<bool>,
        generated_file: Option<bool>,
    }
}

impl DiffEntry {
    /// Returns the path of the file: the new one, or the old one of a deleted file.
    pub fn path(&self) -> &str {
        if self.deleted_file || self.new_path.is_empty() { &self.old_path } else { &self.new_path }
    }

    /// Returns whether the server sent changes of lines: not for binary files, and none that it omitted.
    pub fn has_lines(&self) -> bool {
        !self.diff.is_empty() && !self.diff.starts_with("Binary files ")
    }

    /// Returns whether the server omitted the diff because of its size.
    pub fn is_withheld(&self) -> bool {
        self.diff.is_empty() && (self.too_large == Some(true) || self.collapsed == Some(true))
    }

    /// Returns the numbers of added and deleted lines, counted in the diff.
    pub fn counts(&self) -> (usize, usize) {
        let mut counts = (0, 0);
        let mut in_hunk = false;
        for line in self.diff.lines() {
            match line.as_bytes().first() {
                // Before the first hunk, `---` and `+++` are file headers.
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
        /// On current servers.
        Skipped = "skipped",
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
        pipeline_id: Option<u64>,
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

crate::input_object! {
    /// A change of one file, as part of a new commit.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct CommitAction {
        /// `create`, `delete`, `move`, `update`, or `chmod` (since 11.0).
        pub action: String,
        /// The path of the file after the commit.
        pub file_path: String,
        /// The path of a moved file before the commit.
        pub previous_path: Option<String>,
        /// The text, or its base64; required for all actions but `delete`.
        pub content: Option<String>,
        /// `text` (default) or `base64`.
        pub encoding: Option<String>,
        /// The last known commit of the file: the server refuses the change if there is a newer one.
        pub last_commit_id: Option<String>,
        /// Whether the file is a program, for `chmod`.
        pub execute_filemode: Option<bool>,
    }
}

crate::endpoints! {
    section "Commits and commit statuses";

    /// Lists the commits of a branch or tag, newest first.
    GET "/projects/{id}/repository/commits" => Vec<Commit>, about Commits;
    struct ListCommits {
        id: Id,
        /// Branch, tag or range (`A..B`); the default branch if absent.
        ref_name: Option<String>,
        since: Option<Time>,
        until: Option<Time>,
        /// Only commits that changed this file or folder.
        path: Option<String>,
        /// Include all commits of the repository.
        all: Option<bool>,
        /// Part of the author's name or email address; older servers ignore it.
        author: Option<String>,
        /// Follow only the first parents of merges; older servers ignore it.
        first_parent: Option<bool>,
    }

    /// Creates a commit with several changes.
    JSON POST "/projects/{id}/repository/commits" => Commit,
    outdates [Commits, Repository, Branches, Project, MergeRequest, Changes, CiConfig];
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
    GET "/projects/{id}/repository/commits/{sha}" => Commit, about Commit;
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
    outdates [Commits, Repository, Branches, Project, MergeRequest, Changes];
    struct CherryPick {
        id: Id,
        sha: String,
        branch: String,
        /// The message of the new commit (since 14.0).
        message: Option<String>,
        /// Whether to try only (since 13.3); earlier versions commit all the same.
        dry_run: Option<bool>,
    }

    /// Reverts a commit on a branch (since 11.5).
    UNSPECIFIED POST "/projects/{id}/repository/commits/{sha}/revert" => Commit,
    outdates [Commits, Repository, Branches, Project, MergeRequest, Changes];
    struct RevertCommit {
        id: Id,
        sha: String,
        branch: String,
        /// Whether to try only (since 13.3); earlier versions commit all the same.
        dry_run: Option<bool>,
    }

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
    GET "/projects/{id}/repository/commits/{sha}/comments" => Vec<CommitComment>, about CommitComments,
    views ["author": COMMENT_AUTHOR_FIELDS];
    struct ListCommitComments { id: Id, sha: String }

    /// Comments on a commit, or on a line of its diff.
    POST "/projects/{id}/repository/commits/{sha}/comments" => CommitComment,
    outdates [CommitComments];
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
    GET "/projects/{id}/repository/commits/{sha}/statuses" => Vec<CommitStatus>, about Commit;
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
    outdates [Commit];
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
