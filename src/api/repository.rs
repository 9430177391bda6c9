//! Trees, blobs, archives, comparisons and contributors of a repository (specification, "Repository browsing").

use crate::commits::{Commit, DiffEntry};
use crate::views::SHORT_COMMIT;
use crate::{Id, Raw};
use base64::Engine as _;

crate::open_enum! {
    /// The type of a tree entry.
    pub enum EntryKind {
        Tree = "tree",
        Blob = "blob",
        /// A submodule.
        Commit = "commit",
    }
}

crate::resource! {
    /// A file, folder or submodule in a tree.
    pub struct TreeEntry {
        /// The SHA of the object.
        id: String,
        name: String,
        r#type: EntryKind,
        /// The path from the root of the repository.
        path: String,
        /// The file mode: six octal digits.
        mode: String,
    }
    unspecified {
        /// The last commit that changed the entry; only on demand.
        last_commit: Option<Box<Commit>>,
    }
}

impl TreeEntry {
    pub fn is_folder(&self) -> bool {
        self.r#type == EntryKind::Tree
    }

    pub fn is_executable(&self) -> bool {
        self.mode == "100755"
    }

    /// Returns whether the entry is a symbolic link.
    pub fn is_symlink(&self) -> bool {
        self.mode == "120000"
    }
}

crate::resource! {
    /// A blob with its content.
    pub struct Blob {
        size: u64,
        /// The encoding of the content: `base64`.
        encoding: String,
        content: String,
        sha: String,
    }
}

impl Blob {
    /// Creates a blob with base64 content, as servers send it.
    pub fn new(sha: impl Into<String>, bytes: &[u8]) -> Blob {
        Blob {
            size: bytes.len() as u64,
            encoding: "base64".into(),
            content: base64::engine::general_purpose::STANDARD.encode(bytes),
            sha: sha.into(),
        }
    }

    /// Returns the content; `None` if its base64 is invalid.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        if self.encoding != "base64" {
            return Some(self.content.clone().into_bytes());
        }
        // Some servers insert line breaks.
        let compact: Vec<u8> = self.content.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        base64::engine::general_purpose::STANDARD.decode(compact).ok()
    }
}

crate::resource! {
    /// The commits and changes between two refs.
    pub struct Comparison {
        /// The newest commit.
        commit: Option<Commit>,
        commits: Vec<Commit>,
        diffs: Vec<DiffEntry>,
        /// Whether the server stopped before the comparison was complete.
        compare_timeout: bool,
        compare_same_ref: bool,
    }
    unspecified {
        web_url: Option<String>,
    }
}

crate::resource! {
    /// An author of commits, with the numbers of commits and changed lines.
    pub struct Contributor {
        name: String,
        email: String,
        commits: u64,
        additions: u64,
        deletions: u64,
    }
}

crate::resource! {
    /// Consecutive lines of a file that were last changed by the same commit; ranges are in the order of the file.
    pub struct BlameRange {
        commit: Option<Commit>,
        lines: Vec<String>,
    }
}

crate::endpoints! {
    section "Repository browsing";

    /// Lists the entries of a folder.
    GET "/projects/{id}/repository/tree" => Vec<TreeEntry>, about Repository;
    struct ListTree {
        id: Id,
        /// Folder; the root if absent.
        path: Option<String>,
        /// Ref; the default branch if absent.
        r#ref: Option<String>,
        /// Whether to include the entries of all subfolders.
        recursive: Option<bool>,
        /// Whether to include the last commit of each entry (on current servers); earlier ones ignore it.
        with_last_commit: Option<bool>,
    }

    /// Gets a blob with its size.
    GET "/projects/{id}/repository/blobs/{sha}" => Blob, immutable by sha;
    struct GetBlob { id: Id, sha: String }

    /// Gets the content of a blob.
    GET "/projects/{id}/repository/blobs/{sha}/raw" => Raw, immutable by sha;
    struct GetRawBlob { id: Id, sha: String }

    /// Gets the content of the file at a path.
    UNSPECIFIED GET "/projects/{id}/repository/files/{path}/raw" => Raw;
    struct GetRawFile {
        id: Id,
        path: String,
        /// Commit, tag or branch; the default branch if absent.
        r#ref: Option<String>,
        /// Whether to return the file itself for a Git LFS pointer.
        lfs: Option<bool>,
    }

    /// Gets the last commit of each line of a file (since 12.2).
    UNSPECIFIED GET "/projects/{id}/repository/files/{path}/blame" => Vec<BlameRange>;
    struct GetBlame { id: Id, path: String, r#ref: String }

    /// Downloads an archive of a commit's tree.
    GET "/projects/{id}/repository/archive" => Raw;
    struct GetArchive {
        id: Id,
        /// Commit, tag or branch; the default branch if absent.
        sha: Option<String>,
        /// `tar.gz` (default), `tar.bz2`, `tbz`, `tbz2`, `tb2`, `bz2`, `tar` or `zip`.
        format: Option<String>,
    }

    /// Compares two refs.
    GET "/projects/{id}/repository/compare" => Comparison, about Repository,
    views ["commit": SHORT_COMMIT, "commits": SHORT_COMMIT];
    struct CompareRefs {
        id: Id,
        from: String,
        to: String,
        /// Whether to compare the trees directly instead of from the merge base (default: no); older servers ignore it.
        straight: Option<bool>,
    }

    /// Lists the contributors.
    GET "/projects/{id}/repository/contributors" => Vec<Contributor>, about Repository;
    struct ListContributors {
        id: Id,
        /// `name`, `email` or `commits`; by commit date if absent.
        order_by: Option<String>,
        /// `asc` (default) or `desc`.
        sort: Option<String>,
    }
}
