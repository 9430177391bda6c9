//! The folder of a server that keeps nothing: it goes with the server, and one that was left behind goes with the next.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// How the names of these folders begin.
const PREFIX: &str = "labscope-";
/// Held as long as the server is there: the system lets go of it, however the server ends.
const LOCK: &str = "in-use.lock";

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub struct Temporary {
    // In this order: the lock is held until the folder is gone.
    folder: TempDir,
    _lock: File,
}

impl Temporary {
    /// Makes one.
    ///
    /// # Errors
    /// What the disk says.
    pub fn new() -> io::Result<Temporary> {
        let root = std::env::temp_dir();
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&root)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(folder.path().join(LOCK))?;
        lock.lock()?;
        remove_left(&root);
        Ok(Temporary { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders of servers that came to a hard end: nobody holds their locks any more.
fn remove_left(root: &Path) {
    let Ok(entries) = std::fs::read_dir(root) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())) {
        let path = entry.path();
        // A folder without the file is not one of these, or only just being made.
        let Ok(lock) = OpenOptions::new().write(true).open(path.join(LOCK)) else { continue };
        if lock.try_lock().is_ok()
            && let Err(error) = std::fs::remove_dir_all(&path)
        {
            tracing::debug!("{} stays behind: {error}", path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hard_end_left_is_removed_and_what_is_in_use_stays() {
        let root = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let folder = root.path().join(name);
            std::fs::create_dir_all(folder.join("repositories")).unwrap();
            File::create(folder.join(LOCK)).unwrap()
        };
        let used = make("labscope-used");
        used.lock().unwrap();
        drop(make("labscope-left"));
        drop(make("another-left"));
        std::fs::create_dir(root.path().join("labscope-mine")).unwrap();
        remove_left(root.path());
        let mut left: Vec<_> = std::fs::read_dir(root.path()).unwrap().flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, ["another-left", "labscope-mine", "labscope-used"]);
    }
}
