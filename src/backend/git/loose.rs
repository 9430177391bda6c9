//! Checks the object folders of a repository before libgit2 and git read them: to open a pipe that is in the place of an
//! object waits without end.

use super::refs::FileFingerprint;
use crate::rejection::Rejection;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use system::git_folder;

/// The maximum number of object folders of which something is remembered; then all is forgotten.
const MAX_REMEMBERED: usize = 64;

/// The folders with objects that were found to be right, by object folder, and their state then.
static CHECKED: Mutex<Option<HashMap<PathBuf, Fingerprints>>> = Mutex::new(None);

type Fingerprints = HashMap<PathBuf, FileFingerprint>;

/// Checks the folders with loose objects, packs and their lists. A folder is read again only if it has changed.
///
/// # Errors
/// Fails with [`Rejection::damaged`] if something is not a regular file.
pub(super) fn check(objects: &Path) -> Result<(), Rejection> {
    let now = SystemTime::now();
    let mut all = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    if all.len() >= MAX_REMEMBERED && !all.contains_key(objects) {
        all.clear();
    }
    let known = all.entry(objects.to_owned()).or_default();
    for folder in git_folder::object_folders(objects) {
        let Ok(fingerprint) = fs::metadata(&folder).and_then(|found| FileFingerprint::of(&found)) else { continue };
        if known.get(&folder) == Some(&fingerprint) {
            continue;
        }
        git_folder::check_kinds(&folder).map_err(Rejection::damaged)?;
        // A later change within the same tick of the clock would not be noticed.
        if fingerprint.is_old(now) {
            known.insert(folder, fingerprint);
        }
    }
    Ok(())
}
