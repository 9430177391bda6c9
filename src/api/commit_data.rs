//! Replies that commits determine: a clone that has the commits gives them as well as the server does.

use std::sync::Arc;

/// The content of a reply, by the full SHAs of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitData {
    /// The bytes of a file at a commit.
    File { commit: String, path: String },
    /// A [`Comparison`](super::repository::Comparison) of two commits as they are.
    Comparison { from: String, to: String },
    /// A [`VersionDetail`](super::versions::VersionDetail) without what only the server knows.
    Version { base: String, head: String },
    /// The list of the [changes](super::commits::DiffEntry) of a commit.
    Changes { commit: String },
}

/// A function that returns the body of a reply from the clone; `None` if the clone lacks one of the objects, or reading them
/// would take too long. It reads from the disk.
pub type ReadClone = Arc<dyn Fn(&CommitData) -> Option<Vec<u8>> + Send + Sync>;
