//! The folder of a server without a data folder: it is removed with the server, and leftovers are removed by the next
//! one.

use std::fs::{DirEntry, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::TempDir;

/// The prefix of the folders' names.
const PREFIX: &str = "labscope-";
/// The name of the lock file. The system releases the lock however the server ends.
const LOCK: &str = "in-use.lock";

/// A folder that is removed on drop.
#[derive(Debug)]
pub struct TempFolder {
    // Fields drop in order: the lock must outlive the folder.
    folder: TempDir,
    _lock: File,
}

impl TempFolder {
    /// Creates a folder that only its owner can access: it contains private repositories.
    ///
    /// # Errors
    /// Fails if the file system does.
    pub fn new() -> io::Result<TempFolder> {
        TempFolder::new_in(&std::env::temp_dir())
    }

    fn new_in(root: &Path) -> io::Result<TempFolder> {
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(root)?;
        // Locked before it gets its name: a server that starts at the same time must not take this folder for a
        // leftover.
        let unnamed = folder.path().join("in-use.new");
        let lock = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&unnamed)?;
        lock.lock()?;
        std::fs::rename(&unnamed, folder.path().join(LOCK))?;
        remove_stale(root, lock.metadata()?.uid());
        Ok(TempFolder { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        remove_contents(self.folder.path());
    }
}

/// Removes everything in a folder but its lock, which goes last, so that the next server can finish an interrupted
/// removal.
fn remove_contents(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name() != LOCK) {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let path = entry.path();
        let outcome = if is_folder { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        if let Err(error) = outcome {
            tracing::debug!("could not remove {}: {error}", path.display());
        }
    }
}

/// Removes the folders that killed servers of the user `owner` left behind: their locks are free.
///
/// The folder `root` is world-writable, so an entry with such a name can be anything.
fn remove_stale(root: &Path, owner: u32) {
    let Ok(entries) = std::fs::read_dir(root) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())) {
        // A folder without the lock file is unrelated, or is just being created.
        let Some(lock) = open_lock(&entry, owner) else { continue };
        if lock.try_lock().is_err() {
            continue;
        }
        remove_contents(&entry.path());
        if let Err(error) = std::fs::remove_dir_all(entry.path()) {
            tracing::debug!("could not remove {}: {error}", entry.path().display());
        }
    }
}

/// Opens the lock file in a folder of `owner`: a regular file of theirs. Never blocks, and follows no links.
fn open_lock(folder: &DirEntry, owner: u32) -> Option<File> {
    // Metadata of the entry itself, not of the target of a link.
    folder.metadata().ok().filter(|meta| meta.is_dir() && meta.uid() == owner)?;
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let lock = OpenOptions::new().write(true).custom_flags(flags).open(folder.path().join(LOCK)).ok()?;
    let meta = lock.metadata().ok()?;
    (meta.is_file() && meta.uid() == owner).then_some(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sorted names in a folder.
    fn names(root: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(root).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn owner(root: &Path) -> u32 {
        std::fs::metadata(root).unwrap().uid()
    }

    #[test]
    fn stale_folders_are_removed_and_locked_ones_stay() {
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
        remove_stale(root.path(), owner(root.path()));
        assert_eq!(names(root.path()), ["another-left", "labscope-mine", "labscope-used"]);
    }

    #[test]
    fn lock_is_removed_last() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("repositories/1.git")).unwrap();
        std::fs::write(root.path().join("repositories/1.git/HEAD"), "ref").unwrap();
        std::fs::write(root.path().join("file"), "").unwrap();
        std::fs::write(root.path().join(LOCK), "").unwrap();
        remove_contents(root.path());
        assert_eq!(names(root.path()), [LOCK]);
    }

    #[test]
    fn folder_is_private_and_removed_on_drop() {
        let root = tempfile::tempdir().unwrap();
        let first = TempFolder::new_in(root.path()).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(first.path()), mode(&first.path().join(LOCK))), (0o700, 0o600));
        assert_eq!(names(first.path()), [LOCK]);
        let second = TempFolder::new_in(root.path()).unwrap();
        assert!(first.path().exists(), "it is in use");
        drop((first, second));
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn special_files_in_place_of_locks_are_ignored() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = root.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        let pipe = folder("labscope-pipe").join(LOCK);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let read = folder("labscope-read").join(LOCK);
        assert!(std::process::Command::new("mkfifo").arg(&read).status().unwrap().success());
        // Opening a pipe that has a reader succeeds at once, but it is not a lock file.
        let _reader = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&read).unwrap();
        std::fs::write(root.path().join("kept"), "").unwrap();
        std::os::unix::fs::symlink("../kept", folder("labscope-file").join(LOCK)).unwrap();
        std::fs::write(folder("elsewhere").join(LOCK), "").unwrap();
        std::os::unix::fs::symlink("elsewhere", root.path().join("labscope-link")).unwrap();
        std::fs::write(folder("labscope-plain").join(LOCK), "").unwrap();
        let all = names(root.path());
        remove_stale(root.path(), owner(root.path()) + 1);
        assert_eq!(names(root.path()), all, "they are another user's");
        drop(TempFolder::new_in(root.path()).unwrap());
        let left: Vec<_> = all.into_iter().filter(|name| name != "labscope-plain").collect();
        assert_eq!(names(root.path()), left);
        assert!(root.path().join("elsewhere").join(LOCK).exists());
    }
}
