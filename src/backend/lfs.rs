//! Git LFS: where stock git keeps the files that pointers stand for.

use crate::domain::lfs::Pointer;
use std::path::{Path, PathBuf};

/// The file that a blob is a pointer of, in a repository; `None` of any other blob.
pub fn path(repository: &Path, blob: &[u8]) -> Option<PathBuf> {
    let oid = Pointer::read(std::str::from_utf8(blob).ok()?)?.oid;
    Some(repository.join("lfs/objects").join(oid.get(0..2)?).join(oid.get(2..4)?).join(&oid))
}
