//! Lists of branches and tags, cached until something in the repository changes them.
//!
//! Reading 100,000 packed refs takes libgit2 a tenth of a second each time. Stock git may write to the same folders, so
//! a cached list is used only if the loose refs, read again, are the same as before and `packed-refs` is the same file.

use super::{Git, GitRef, TagRef, lossy};
use crate::backend::cache::{Cache, CacheTable, Weight};
use crate::backend::rejection::Rejection;
use crate::system::files;
use git2::{ErrorCode, Oid, Reference, ReferenceType};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The age that a modification must have to be trusted: a later one within the same tick of the file system's clock
/// would go unnoticed.
const RACY_WINDOW: Duration = Duration::from_secs(2);

/// A sorted list, and the state of the repository when it was read.
pub type CachedRefs<T> = (Arc<RefsState>, Arc<Vec<T>>);

impl<T> Weight for CachedRefs<T> {
    fn weight(&self) -> usize {
        1 + self.1.len() / 16 + self.0.loose.len() / 16
    }
}

/// The state that a list of refs depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct RefsState {
    /// The fingerprint of `packed-refs`; `None` if the file does not exist.
    packed: Option<FileFingerprint>,
    /// The loose refs and their targets, sorted.
    loose: Vec<(PathBuf, Oid)>,
}

/// A fingerprint of the state of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileFingerprint {
    size: u64,
    modified: SystemTime,
    /// The device, the inode, and the seconds and nanoseconds of the last status change.
    identity: [i64; 4],
}

impl FileFingerprint {
    pub fn of(file: &Metadata) -> io::Result<FileFingerprint> {
        Ok(FileFingerprint { size: file.len(), modified: file.modified()?, identity: identity(file) })
    }

    /// Returns whether a later write cannot produce the same fingerprint.
    fn is_old(&self, now: SystemTime) -> bool {
        let [.., seconds, _] = self.identity;
        let since = Duration::from_secs(seconds.try_into().unwrap_or_default());
        let Some(changed) = SystemTime::UNIX_EPOCH.checked_add(since) else { return false };
        // A time in the future does not count as old.
        now.duration_since(self.modified.max(changed)).is_ok_and(|age| age > RACY_WINDOW)
    }
}

#[cfg(unix)]
fn identity(file: &Metadata) -> [i64; 4] {
    use std::os::unix::fs::MetadataExt;
    [file.dev().cast_signed(), file.ino().cast_signed(), file.ctime(), file.ctime_nsec()]
}

#[cfg(not(unix))]
fn identity(_file: &Metadata) -> [i64; 4] {
    [0; 4]
}

impl RefsState {
    /// Returns the state of the refs below `refs/heads` or `refs/tags`; `None` if it cannot be determined reliably.
    fn read(repository: &Path, folder: &str, now: SystemTime) -> Option<RefsState> {
        let mut loose = Vec::new();
        // Read loose refs first: git packs a ref before it removes its file.
        read_loose_refs(&repository.join(folder), &mut loose)?;
        loose.sort();
        let packed = match fs::metadata(repository.join("packed-refs")) {
            Ok(file) => Some(FileFingerprint::of(&file).ok().filter(|fingerprint| fingerprint.is_old(now))?),
            Err(why) if why.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        Some(RefsState { packed, loose })
    }
}

/// The maximum size of a loose ref, in bytes.
const MAX_REF: u64 = 4 << 10;

/// Adds the loose refs below a folder. Returns `None` if one is symbolic, invalid or not readable.
fn read_loose_refs(folder: &Path, out: &mut Vec<(PathBuf, Oid)>) -> Option<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Some(()),
        Err(_) => return None,
    };
    for entry in entries {
        let entry = entry.ok()?;
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if kind.is_dir() {
            read_loose_refs(&path, out)?;
        } else if !path.as_os_str().as_encoded_bytes().ends_with(b".lock") {
            let text = kind.is_file().then(|| files::read(&path, MAX_REF).ok()).flatten()?;
            let id = Oid::from_str(std::str::from_utf8(text.trim_ascii()).ok()?).ok()?;
            out.push((path, id));
        }
    }
    Some(())
}

/// Returns the object that a ref points to, possibly through others.
pub(super) fn end_of(found: &Reference<'_>) -> Result<Option<Oid>, git2::Error> {
    // `resolve` looks a direct ref up again, on disk.
    Ok(if found.kind() == Some(ReferenceType::Direct) { found.target() } else { found.resolve()?.target() })
}

impl Git {
    /// Returns all branches that point to a commit, by name.
    pub fn branches(&self, cache: &Cache) -> Result<Arc<Vec<GitRef>>, Rejection> {
        let mut commits = HashMap::new();
        let to_row = |found: &Reference<'_>, name: String| {
            let Some(target) = end_of(found)? else { return Ok(None) };
            let commit = match commits.entry(target) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(self.peel(target)?),
            };
            Ok(commit.map(|commit| GitRef { name, commit }))
        };
        self.list_refs("refs/heads", &cache.branches, |head| &head.name, to_row)
    }

    /// Returns all tags that point to a commit, by name.
    pub fn tags(&self, cache: &Cache) -> Result<Arc<Vec<TagRef>>, Rejection> {
        let to_row =
            |found: &Reference<'_>, name: String| found.target().map_or(Ok(None), |target| self.tag_at(name, target));
        self.list_refs("refs/tags", &cache.tags, |tag| &tag.name, to_row)
    }

    /// Returns the refs below a folder for which `to_row` returns a row, sorted by name.
    fn list_refs<T>(
        &self,
        folder: &str,
        table: &CacheTable<PathBuf, CachedRefs<T>>,
        name_of: fn(&T) -> &str,
        mut to_row: impl FnMut(&Reference<'_>, String) -> Result<Option<T>, git2::Error>,
    ) -> Result<Arc<Vec<T>>, Rejection> {
        let path = self.repo.path();
        let current_state = || RefsState::read(path, folder, SystemTime::now());
        let before = current_state();
        let known = table.get(path).filter(|(then, _)| before.as_ref() == Some(&**then));
        if let Some((_, list)) = known {
            return Ok(list);
        }
        let prefix = format!("{folder}/");
        let (mut rows, mut is_complete) = (Vec::new(), true);
        for reference in self.repo.references_glob(&format!("{prefix}*"))? {
            let reference = reference?;
            let name = reference.name_bytes();
            match to_row(&reference, lossy(name.strip_prefix(prefix.as_bytes()).unwrap_or(name))) {
                Ok(row) => rows.extend(row),
                // A missing object may arrive later.
                Err(why) => is_complete &= why.code() != ErrorCode::NotFound,
            }
        }
        rows.sort_by(|a, b| name_of(a).cmp(name_of(b)));
        let list = Arc::new(rows);
        // If the refs changed in the meantime, the list may be incomplete: do not cache it.
        if let Some(before) = before.filter(|before| is_complete && current_state().as_ref() == Some(before)) {
            table.put(path.to_owned(), (Arc::new(before), list.clone()));
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::git::tests::has_git;
    use std::process::Command;

    struct TestRepo {
        folder: tempfile::TempDir,
        /// The hash of an empty tree.
        empty: String,
    }

    impl TestRepo {
        fn new() -> TestRepo {
            let folder = tempfile::tempdir().unwrap();
            let repo = git2::Repository::init_bare(folder.path()).unwrap();
            let empty = repo.treebuilder(None).unwrap().write().unwrap().to_string();
            TestRepo { folder, empty }
        }

        fn run(&self, arguments: &[&str]) -> String {
            let mut command = Command::new("git");
            command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]).args(arguments);
            let done = command.current_dir(self.folder.path()).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
            assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
            String::from_utf8(done.stdout).unwrap().trim().to_owned()
        }

        fn commit(&self, message: &str) -> String {
            self.run(&["commit-tree", &self.empty, "-m", message])
        }

        fn git(&self) -> Git {
            Git::open(self.folder.path(), Some("main")).unwrap()
        }

        /// Returns the lists as read without a cache.
        fn uncached(&self) -> (Vec<GitRef>, Vec<TagRef>) {
            let (git, fresh) = (self.git(), Cache::default());
            (git.branches(&fresh).unwrap().to_vec(), git.tags(&fresh).unwrap().to_vec())
        }

        /// Returns the states, at a time when everything on disk is old.
        fn states(&self) -> [Option<RefsState>; 2] {
            let later = SystemTime::now() + 2 * RACY_WINDOW;
            ["refs/heads", "refs/tags"].map(|folder| RefsState::read(self.folder.path(), folder, later))
        }
    }

    #[test]
    fn ref_lists_are_cached_until_a_ref_changes() {
        if !has_git() {
            return;
        }
        let (repo, cache) = (TestRepo::new(), Cache::default());
        let (one, two) = (repo.commit("One"), repo.commit("Two"));
        let listed = || {
            let git = repo.git();
            let lists = (git.branches(&cache).unwrap(), git.tags(&cache).unwrap());
            assert_eq!((lists.0.to_vec(), lists.1.to_vec()), repo.uncached());
            assert!(Arc::ptr_eq(&lists.0, &git.branches(&cache).unwrap()), "read once more");
            assert!(Arc::ptr_eq(&lists.1, &git.tags(&cache).unwrap()), "read once more");
            lists.0.len() + lists.1.len()
        };
        assert_eq!(listed(), 0);
        repo.run(&["branch", "a/b", &one]);
        assert_eq!(listed(), 1);
        repo.run(&["tag", "-m", "Of a time", "v1", &one]);
        assert_eq!(listed(), 2);
        repo.git().create_branch("c", "a/b").unwrap();
        assert_eq!(listed(), 3);
        // As an editor would, without creating a new file.
        std::fs::write(repo.folder.path().join("refs/heads/c"), format!("{two}\n")).unwrap();
        assert_eq!(listed(), 3);
        repo.run(&["branch", "-D", "a/b"]);
        repo.git().delete_tag("v1").unwrap();
        assert_eq!(listed(), 1);
    }

    #[test]
    fn changes_by_stock_git_invalidate_the_cache() {
        if !has_git() {
            return;
        }
        let repo = TestRepo::new();
        let (one, two) = (repo.commit("One"), repo.commit("Two"));
        let steps: &[&[&str]] = &[
            &["branch", "a", &one],
            &["branch", "b", &one],
            &["tag", "t", &one],
            &["pack-refs", "--all"],
            &["branch", "-f", "a", &two],
            &["pack-refs", "--all"],
            &["update-ref", "refs/heads/a", &one],
            &["update-ref", "-d", "refs/heads/a"],
            &["branch", "-m", "b", "a"],
            &["pack-refs", "--all", "--no-prune"],
            &["tag", "-f", "t", &two],
            &["tag", "-d", "t"],
            &["symbolic-ref", "refs/heads/s", "refs/heads/a"],
            &["symbolic-ref", "-d", "refs/heads/s"],
            &["update-ref", "-d", "refs/heads/a"],
        ];
        let mut before = (repo.states(), repo.uncached());
        let mut reused = 0;
        for step in steps {
            repo.run(step);
            let after = (repo.states(), repo.uncached());
            let is_reused = |at: usize| after.0[at].is_some() && after.0[at] == before.0[at];
            assert!(!is_reused(0) || after.1.0 == before.1.0, "branches after {step:?}");
            assert!(!is_reused(1) || after.1.1 == before.1.1, "tags after {step:?}");
            reused += usize::from(is_reused(0)) + usize::from(is_reused(1));
            before = after;
        }
        assert!(reused > 0, "nothing is ever kept");
    }

    #[test]
    fn unreliable_ref_lists_are_not_cached() {
        if !has_git() {
            return;
        }
        let (repo, cache) = (TestRepo::new(), Cache::default());
        let one = repo.commit("One");
        repo.run(&["branch", "a", &one]);
        let is_cached = || {
            let git = repo.git();
            Arc::ptr_eq(&git.branches(&cache).unwrap(), &git.branches(&cache).unwrap())
        };
        assert!(is_cached());
        let place = repo.folder.path().join("refs/heads/x");
        // A symbolic ref, a ref whose commit is missing, and an invalid one.
        for text in ["ref: refs/remotes/origin/a\n".to_owned(), format!("{}\n", "ab".repeat(20)), "?".into()] {
            std::fs::write(&place, &text).unwrap();
            assert!(!is_cached(), "{text}");
        }
        std::fs::write(&place, "").unwrap();
        let git = repo.git();
        assert_eq!(git.branches(&cache).ok(), git.branches(&Cache::default()).ok(), "an empty file");
        std::fs::remove_file(&place).unwrap();
        assert!(is_cached());
        // A file that was just written may be written again within the same tick.
        repo.run(&["pack-refs", "--all"]);
        assert!(RefsState::read(repo.folder.path(), "refs/heads", SystemTime::now()).is_none());
        assert!(repo.states()[0].is_some());
        let past = SystemTime::now() - 2 * RACY_WINDOW;
        assert!(RefsState::read(repo.folder.path(), "refs/heads", past).is_none(), "of a time to come");
    }
}
