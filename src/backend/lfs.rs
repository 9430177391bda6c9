//! Git LFS: the paths where git stores the files that pointers refer to.

use domain::lfs::LfsPointer;
use std::path::{Path, PathBuf};

/// Returns the path of the file in a repository that a pointer blob refers to; `None` for any other blob.
pub fn path(repository: &Path, blob: &[u8]) -> Option<PathBuf> {
    let oid = LfsPointer::read(blob)?.oid;
    Some(repository.join("lfs/objects").join(oid.get(0..2)?).join(oid.get(2..4)?).join(&oid))
}
