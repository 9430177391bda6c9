//! Commits and diffs, as part of the replies of many endpoints.

use crate::api::Time;
use crate::api::pipelines::resources::PipelineBrief;

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
        stats: Stats,
        /// The status of the last pipeline; only for a single commit.
        status: String,
        last_pipeline: PipelineBrief,
        /// The ID of the project; only in search results.
        project_id: u64,
    }
    unspecified {
        web_url: String,
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

    /// Returns whether this is a merge commit.
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
        gpg_key_primary_keyid: String,
        gpg_key_user_name: String,
        gpg_key_user_email: String,
        key: SignatureKey,
        x509_certificate: SignatureCertificate,
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
        collapsed: bool,
        /// Whether the server omitted the diff because it is too large to compute.
        too_large: bool,
        generated_file: bool,
    }
}

impl DiffEntry {
    /// Returns the path of the file: the new one, or the old one of a deleted file.
    pub fn path(&self) -> &str {
        if self.deleted_file || self.new_path.is_empty() { &self.old_path } else { &self.new_path }
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
