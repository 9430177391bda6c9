//! Lists of branches and tags, cached until something in the repository changes them.
//!
//! Reading 100,000 packed refs takes libgit2 a tenth of a second each time. Stock git may write to the same folders, so
//! a cached list is used only if the loose refs, read again, are the same as before and `packed-refs` is the same file.

use super::{Git, Head, TagHead, lossy};
use crate::backend::cache::{Cache, CacheTable, Weight};
use crate::backend::reject::Reject;
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
const TICK: Duration = Duration::from_secs(2);

/// A sorted list, and the state of the repository when it was read.
pub type Listed<T> = (Arc<RefsState>, Arc<Vec<T>>);

impl<T> Weight for Listed<T> {
    fn weight(&self) -> usize {
        1 + self.1.len() / 16 + self.0.single.len() / 16
    }
}

/// The state that a list of refs depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct RefsState {
    /// The stamp of `packed-refs`; `None` if the file does not exist.
    packed: Option<Stamp>,
    /// The loose refs and their targets, sorted.
    single: Vec<(PathBuf, Oid)>,
}

/// A fingerprint of the state of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stamp {
    size: u64,
    modified: SystemTime,
    /// The device, the inode, and the seconds and nanoseconds of the last status change.
    identity: [i64; 4],
}

impl Stamp {
    pub fn of(file: &Metadata) -> io::Result<Stamp> {
        Ok(Stamp { size: file.len(), modified: file.modified()?, identity: identity(file) })
    }

    /// Returns whether a later write cannot produce the same stamp.
    fn is_old(&self, now: SystemTime) -> bool {
        let [.., seconds, _] = self.identity;
        let since = Duration::from_secs(seconds.try_into().unwrap_or_default());
        let Some(changed) = SystemTime::UNIX_EPOCH.checked_add(since) else { return false };
        // A time in the future does not count as old.
        now.duration_since(self.modified.max(changed)).is_ok_and(|age| age > TICK)
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
        let mut single = Vec::new();
        // Read loose refs first: git packs a ref before it removes its file.
        singles(&repository.join(folder), &mut single)?;
        single.sort();
        let packed = match fs::metadata(repository.join("packed-refs")) {
            Ok(file) => Some(Stamp::of(&file).ok().filter(|stamp| stamp.is_old(now))?),
            Err(why) if why.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        Some(RefsState { packed, single })
    }
}

/// Adds the loose refs below a folder. Returns `None` if one is symbolic, invalid or not readable.
fn singles(folder: &Path, out: &mut Vec<(PathBuf, Oid)>) -> Option<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Some(()),
        Err(_) => return None,
    };
    for entry in entries {
        let entry = entry.ok()?;
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if kind.is_dir() {
            singles(&path, out)?;
        } else if !path.as_os_str().as_encoded_bytes().ends_with(b".lock") {
            let text = kind.is_file().then(|| fs::read(&path).ok()).flatten()?;
            let id = Oid::from_str(std::str::from_utf8(text.trim_ascii()).ok()?).ok()?;
            out.push((path, id));
        }
    }
    Some(())
}

impl Git {
    /// Returns all branches that point to a commit, by name.
    pub fn branches(&self, cache: &Cache) -> Result<Arc<Vec<Head>>, Reject> {
        let mut commits = HashMap::new();
        let show = |found: &Reference<'_>, name: String| {
            // Direct refs need not be looked up again.
            let target =
                if found.kind() == Some(ReferenceType::Direct) { found.target() } else { found.resolve()?.target() };
            let Some(target) = target else { return Ok(None) };
            let commit = match commits.entry(target) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(self.peel(target)?),
            };
            Ok(commit.map(|commit| Head { name, commit }))
        };
        self.listed("refs/heads", &cache.heads, |head| &head.name, show)
    }

    /// Returns all tags that point to a commit, by name.
    pub fn tags(&self, cache: &Cache) -> Result<Arc<Vec<TagHead>>, Reject> {
        let show =
            |found: &Reference<'_>, name: String| found.target().map_or(Ok(None), |target| self.tag_at(name, target));
        self.listed("refs/tags", &cache.tags, |tag| &tag.name, show)
    }

    /// Returns the refs below a folder for which `show` returns a row, sorted by name.
    fn listed<T>(
        &self,
        folder: &str,
        table: &CacheTable<PathBuf, Listed<T>>,
        name_of: fn(&T) -> &str,
        mut show: impl FnMut(&Reference<'_>, String) -> Result<Option<T>, git2::Error>,
    ) -> Result<Arc<Vec<T>>, Reject> {
        let path = self.repo.path();
        let stand = || RefsState::read(path, folder, SystemTime::now());
        let before = stand();
        let known = table.get(path).filter(|(then, _)| before.as_ref() == Some(&**then));
        if let Some((_, list)) = known {
            return Ok(list);
        }
        let prefix = format!("{folder}/");
        let (mut rows, mut is_whole) = (Vec::new(), true);
        for reference in self.repo.references_glob(&format!("{prefix}*"))? {
            let reference = reference?;
            let name = reference.name_bytes();
            match show(&reference, lossy(name.strip_prefix(prefix.as_bytes()).unwrap_or(name))) {
                Ok(row) => rows.extend(row),
                // A missing object may arrive later.
                Err(why) => is_whole &= why.code() != ErrorCode::NotFound,
            }
        }
        rows.sort_by(|a, b| name_of(a).cmp(name_of(b)));
        let list = Arc::new(rows);
        // If the refs changed in the meantime, the list may be incomplete: do not cache it.
        if let Some(before) = before.filter(|before| is_whole && stand().as_ref() == Some(before)) {
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

    struct Made {
        folder: tempfile::TempDir,
        /// The hash of an empty tree.
        empty: String,
    }

    impl Made {
        fn new() -> Made {
            let folder = tempfile::tempdir().unwrap();
            let repo = git2::Repository::init_bare(folder.path()).unwrap();
            let empty = repo.treebuilder(None).unwrap().write().unwrap().to_string();
            Made { folder, empty }
        }

        /// Runs stock git.
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
        fn truth(&self) -> (Vec<Head>, Vec<TagHead>) {
            let (git, fresh) = (self.git(), Cache::default());
            (git.branches(&fresh).unwrap().to_vec(), git.tags(&fresh).unwrap().to_vec())
        }

        /// Returns the states, at a time when everything on disk is old.
        fn stands(&self) -> [Option<RefsState>; 2] {
            let later = SystemTime::now() + 2 * TICK;
            ["refs/heads", "refs/tags"].map(|folder| RefsState::read(self.folder.path(), folder, later))
        }
    }

    #[test]
    fn a_list_is_kept_until_a_ref_comes_moves_or_goes() {
        if !has_git() {
            return;
        }
        let (made, cache) = (Made::new(), Cache::default());
        let (one, two) = (made.commit("One"), made.commit("Two"));
        let listed = || {
            let git = made.git();
            let lists = (git.branches(&cache).unwrap(), git.tags(&cache).unwrap());
            assert_eq!((lists.0.to_vec(), lists.1.to_vec()), made.truth());
            assert!(Arc::ptr_eq(&lists.0, &git.branches(&cache).unwrap()), "read once more");
            assert!(Arc::ptr_eq(&lists.1, &git.tags(&cache).unwrap()), "read once more");
            lists.0.len() + lists.1.len()
        };
        assert_eq!(listed(), 0);
        made.run(&["branch", "a/b", &one]);
        assert_eq!(listed(), 1);
        made.run(&["tag", "-m", "Of a time", "v1", &one]);
        assert_eq!(listed(), 2);
        made.git().create_branch("c", "a/b").unwrap();
        assert_eq!(listed(), 3);
        // As an editor would, without creating a new file.
        std::fs::write(made.folder.path().join("refs/heads/c"), format!("{two}\n")).unwrap();
        assert_eq!(listed(), 3);
        made.run(&["branch", "-D", "a/b"]);
        made.git().delete_tag("v1").unwrap();
        assert_eq!(listed(), 1);
    }

    #[test]
    fn whatever_stock_git_does_to_a_list_is_seen() {
        if !has_git() {
            return;
        }
        let made = Made::new();
        let (one, two) = (made.commit("One"), made.commit("Two"));
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
        let mut before = (made.stands(), made.truth());
        let mut kept = 0;
        for step in steps {
            made.run(step);
            let after = (made.stands(), made.truth());
            let relied = |at: usize| after.0[at].is_some() && after.0[at] == before.0[at];
            assert!(!relied(0) || after.1.0 == before.1.0, "branches after {step:?}");
            assert!(!relied(1) || after.1.1 == before.1.1, "tags after {step:?}");
            kept += usize::from(relied(0)) + usize::from(relied(1));
            before = after;
        }
        assert!(kept > 0, "nothing is ever kept");
    }

    #[test]
    fn what_cannot_be_relied_on_is_not_kept() {
        if !has_git() {
            return;
        }
        let (made, cache) = (Made::new(), Cache::default());
        let one = made.commit("One");
        made.run(&["branch", "a", &one]);
        let is_kept = || {
            let git = made.git();
            Arc::ptr_eq(&git.branches(&cache).unwrap(), &git.branches(&cache).unwrap())
        };
        assert!(is_kept());
        let place = made.folder.path().join("refs/heads/x");
        // A symbolic ref, a ref whose commit is missing, and an invalid one.
        for text in ["ref: refs/remotes/origin/a\n".to_owned(), format!("{}\n", "ab".repeat(20)), "?".into()] {
            std::fs::write(&place, &text).unwrap();
            assert!(!is_kept(), "{text}");
        }
        std::fs::write(&place, "").unwrap();
        let git = made.git();
        assert_eq!(git.branches(&cache).ok(), git.branches(&Cache::default()).ok(), "an empty file");
        std::fs::remove_file(&place).unwrap();
        assert!(is_kept());
        // A file that was just written may be written again within the same tick.
        made.run(&["pack-refs", "--all"]);
        assert!(RefsState::read(made.folder.path(), "refs/heads", SystemTime::now()).is_none());
        assert!(made.stands()[0].is_some());
        let past = SystemTime::now() - 2 * TICK;
        assert!(RefsState::read(made.folder.path(), "refs/heads", past).is_none(), "of a time to come");
    }
}
