//! A commit and what it changed, as many endpoints answer with them.

use crate::api::Time;
use crate::api::jobs::PipelineBrief;

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
    /// The signature of a commit, as the server sees it.
    pub struct CommitSignature {
        /// `PGP`, `X509` or `SSH`.
        signature_type: String,
        /// `verified`, `unverified`, `unknown_key`, ….
        verification_status: String,
    }
    newer {
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
    /// The certificate of a signature.
    pub struct SignatureCertificate {
        subject: String,
        email: String,
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
