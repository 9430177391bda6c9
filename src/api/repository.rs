//! Trees, blobs, archives, comparisons and contributors of a repository (specification, "Repository browsing").

use crate::api::commits::resources::{Commit, DiffEntry};
use crate::api::views::SHORT_COMMIT;
use crate::api::{Id, Raw};
use base64::Engine as _;

crate::open_enum! {
    /// What a tree entry is.
    pub enum EntryKind {
        Tree = "tree",
        Blob = "blob",
        /// A submodule.
        Commit = "commit",
    }
}

crate::resource! {
    /// A file, folder or submodule of a tree.
    pub struct TreeEntry {
        /// Its hash.
        id: String,
        name: String,
        r#type: EntryKind,
        /// From the root of the repository.
        path: String,
        /// Six octal digits.
        mode: String,
    }
}

impl TreeEntry {
    /// Returns whether it can be opened further.
    pub fn is_folder(&self) -> bool {
        self.r#type == EntryKind::Tree
    }

    /// Returns whether it is a file that may be run.
    pub fn is_executable(&self) -> bool {
        self.mode == "100755"
    }

    /// Returns whether it points to another path.
    pub fn is_link(&self) -> bool {
        self.mode == "120000"
    }
}

crate::resource! {
    /// A blob with its content.
    pub struct Blob {
        size: u64,
        /// `base64`.
        encoding: String,
        content: String,
        sha: String,
    }
}

impl Blob {
    /// A blob as it goes on the wire.
    pub fn new(sha: impl Into<String>, bytes: &[u8]) -> Blob {
        Blob {
            size: bytes.len() as u64,
            encoding: "base64".into(),
            content: base64::engine::general_purpose::STANDARD.encode(bytes),
            sha: sha.into(),
        }
    }

    /// The content; `None` if it is not the base64 that it claims to be.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        if self.encoding != "base64" {
            return Some(self.content.clone().into_bytes());
        }
        // Some servers break the lines.
        let compact: Vec<u8> = self.content.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        base64::engine::general_purpose::STANDARD.decode(compact).ok()
    }
}

crate::resource! {
    /// What lies between two refs.
    pub struct Comparison {
        /// The newest of the commits.
        commit: Option<Commit>,
        commits: Vec<Commit>,
        diffs: Vec<DiffEntry>,
        /// The server gave up before the end.
        compare_timeout: bool,
        compare_same_ref: bool,
    }
    newer {
        web_url: String,
    }
}

crate::resource! {
    /// The user of the history, and how much they did.
    pub struct Contributor {
        name: String,
        email: String,
        commits: u64,
        additions: u64,
        deletions: u64,
    }
}

crate::resource! {
    /// Lines of a file that one commit brought, in the order of the file.
    pub struct BlameRange {
        commit: Option<Commit>,
        lines: Vec<String>,
    }
}

crate::endpoints! {
    section "Repository browsing";

    /// Lists a folder.
    GET "/projects/{id}/repository/tree" => Vec<TreeEntry>;
    struct ListTree {
        id: Id,
        /// The folder; the root where absent.
        path: Option<String>,
        /// A ref; the default branch where absent.
        r#ref: Option<String>,
        /// All that is below it, too.
        recursive: Option<bool>,
    }

    /// Reads a blob with its size.
    GET "/projects/{id}/repository/blobs/{sha}" => Blob, immutable by sha;
    struct GetBlob { id: Id, sha: String }

    /// Reads the bytes of a blob.
    GET "/projects/{id}/repository/blobs/{sha}/raw" => Raw, immutable by sha;
    struct GetRawBlob { id: Id, sha: String }

    /// Reads the bytes of the file at a path.
    NEWER GET "/projects/{id}/repository/files/{path}/raw" => Raw;
    struct GetRawFile {
        id: Id,
        path: String,
        /// A commit, tag or branch; the default branch where absent.
        r#ref: Option<String>,
        /// Whether a pointer of Git LFS is answered by the file that it stands for.
        lfs: Option<bool>,
    }

    /// Tells which commit brought which lines of a file; since 12.2.
    NEWER GET "/projects/{id}/repository/files/{path}/blame" => Vec<BlameRange>;
    struct GetBlame { id: Id, path: String, r#ref: String }

    /// Fetches the whole tree of a commit as an archive.
    GET "/projects/{id}/repository/archive" => Raw;
    struct GetArchive {
        id: Id,
        /// A commit, tag or branch; the default branch where absent.
        sha: Option<String>,
        /// `tar.gz` (where absent), `tar.bz2`, `tbz`, `tbz2`, `tb2`, `bz2`, `tar` or `zip`.
        format: Option<String>,
    }

    /// Compares two refs.
    GET "/projects/{id}/repository/compare" => Comparison,
    views ["commit": SHORT_COMMIT, "commits": SHORT_COMMIT];
    struct Compare {
        id: Id,
        from: String,
        to: String,
        /// Servers of today: whether the trees are compared as they are, not with where the two parted; `false` where
        /// absent. Others do not look at it.
        straight: Option<bool>,
    }

    /// Lists who made the history.
    GET "/projects/{id}/repository/contributors" => Vec<Contributor>;
    struct ListContributors {
        id: Id,
        /// `name`, `email` or `commits`; by date of commit where absent.
        order_by: Option<String>,
        /// `asc` (where absent) or `desc`.
        sort: Option<String>,
    }
}
