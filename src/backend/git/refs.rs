//! Lists of branches and tags, cached until something in the repository changes them.
//!
//! Stock git may write to the same folders, so a cached list is used only if the loose refs, read again, are the same as
//! before and `packed-refs` is the same file. The files are read here: libgit2 builds a table of all refs for each list.

use super::object::id_of;
use super::{Git, GitRef, RefTarget, TagRef, lossy};
use crate::cache::{Cache, CacheTable, Weight};
use crate::rejection::Rejection;
use git2::{ErrorCode, Oid, Repository};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use system::files;

/// The age that a modification must have to be trusted: a later one within the same tick of the file system's clock
/// would go unnoticed. Ticks take up to 10 ms, or two seconds (FAT) if the file system has no fractions of a second.
const RACY_WINDOW: Duration = Duration::from_millis(20);
const COARSE_RACY_WINDOW: Duration = Duration::from_secs(3);

/// A sorted list, and the state of the repository when it was read.
pub type CachedRefs<T> = (Arc<RefsState>, Arc<Vec<T>>);

impl<T> Weight for CachedRefs<T> {
    fn weight(&self) -> usize {
        1 + self.1.len() / 16 + self.0.loose.len() / 16
    }
}

/// The name of a ref in bytes, and the object that it points to.
pub(super) type RawRef = (Vec<u8>, Oid);

/// The state that a list of refs depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct RefsState {
    /// The fingerprint of `packed-refs`; `None` if the file does not exist.
    packed: Option<FileFingerprint>,
    /// The loose refs by full name, sorted.
    loose: Vec<RawRef>,
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
    pub fn is_old(&self, now: SystemTime) -> bool {
        let [.., seconds, nanoseconds] = self.identity;
        let since = Duration::new(seconds.try_into().unwrap_or_default(), nanoseconds.try_into().unwrap_or_default());
        let Some(changed) = SystemTime::UNIX_EPOCH.checked_add(since) else { return false };
        let window = if has_fraction(self.modified) { RACY_WINDOW } else { COARSE_RACY_WINDOW };
        // A time in the future does not count as old.
        now.duration_since(self.modified.max(changed)).is_ok_and(|age| age > window)
    }
}

/// Returns whether a time has a fraction of a second.
fn has_fraction(time: SystemTime) -> bool {
    time.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|since| since.subsec_nanos() > 0)
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
    /// Returns the state of the refs below a folder such as `refs/heads`; `None` if it cannot be read here, because a ref
    /// is symbolic or invalid.
    fn read(repository: &Path, folder: &str) -> Option<RefsState> {
        let mut loose = Vec::new();
        // Read loose refs first: git packs a ref before it removes its file.
        read_loose_refs(&repository.join(folder), folder.as_bytes(), &mut loose)?;
        loose.sort();
        let packed = match fs::metadata(repository.join(PACKED_REFS)) {
            Ok(file) => Some(FileFingerprint::of(&file).ok()?),
            Err(why) if why.kind() == io::ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        Some(RefsState { packed, loose })
    }

    /// Returns whether a later change cannot have the same state.
    fn is_old(&self, now: SystemTime) -> bool {
        self.packed.as_ref().is_none_or(|packed| packed.is_old(now))
    }

    /// Returns the loose and the packed refs below the folder by full name, sorted; `None` if `packed-refs` is invalid.
    fn refs(&self, repository: &Path, folder: &str) -> Option<Vec<RawRef>> {
        let mut refs = self.loose.clone();
        if let Some(packed) = &self.packed {
            if packed.size > MAX_PACKED_REFS {
                return None;
            }
            let file = files::open_regular(&repository.join(PACKED_REFS)).ok()?.take(MAX_PACKED_REFS);
            let reader = BufReader::with_capacity(READ_SIZE, file);
            parse_packed_refs(reader, format!("{folder}/").as_bytes(), &mut refs)?;
        }
        if !refs.is_sorted_by(|(a, _), (b, _)| a < b) {
            // The sort is stable: a loose ref stays before the packed one that it replaces.
            refs.sort_by(|(a, _), (b, _)| a.cmp(b));
            refs.dedup_by(|(later, _), (earlier, _)| later == earlier);
        }
        Some(refs)
    }
}

pub(super) const PACKED_REFS: &str = "packed-refs";
/// The maximum size of `packed-refs`, in bytes; libgit2 reads a larger one.
pub(super) const MAX_PACKED_REFS: u64 = 1 << 30;
/// The number of bytes that are read at a time: reading a large file at once spends more time on fresh memory.
const READ_SIZE: usize = 256 << 10;
/// The maximum size of a loose ref, in bytes.
const MAX_REF: u64 = 4 << 10;

/// Adds the loose refs below a folder, whose full name is `name`. Returns `None` if one is symbolic, invalid or not
/// readable.
fn read_loose_refs(folder: &Path, name: &[u8], out: &mut Vec<RawRef>) -> Option<()> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Some(()),
        Err(_) => return None,
    };
    for entry in entries {
        let entry = entry.ok()?;
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        let name = [name, b"/", entry.file_name().as_encoded_bytes()].concat();
        if kind.is_dir() {
            read_loose_refs(&path, &name, out)?;
        } else if !name.ends_with(b".lock") {
            let text = kind.is_file().then(|| files::read(&path, MAX_REF).ok()).flatten()?;
            let id = Oid::from_str(std::str::from_utf8(text.trim_ascii()).ok()?).ok()?;
            out.push((name, id));
        }
    }
    Some(())
}

/// Adds the packed refs whose full name begins with `prefix`. Returns `None` if the file cannot be read or a line is
/// invalid.
fn parse_packed_refs(mut file: impl BufRead, prefix: &[u8], out: &mut Vec<RawRef>) -> Option<()> {
    let (mut line, mut is_sorted) = (Vec::new(), false);
    while file.read_until(b'\n', &mut line).ok()? > 0 {
        match line.first() {
            Some(b'#') => is_sorted |= line.split(u8::is_ascii_whitespace).any(|word| word == b"sorted"),
            // The commit that the tag before leads to.
            Some(b'^') => {}
            _ => {
                let (id, name) = (line.get(..40)?, line.get(40..)?.strip_prefix(b" ")?.trim_ascii_end());
                if name.starts_with(prefix) {
                    out.push((name.to_vec(), id_of(id)?));
                } else if is_sorted && name > prefix {
                    break;
                }
            }
        }
        line.clear();
    }
    Some(())
}

/// Returns the refs below a folder such as `refs/heads` by full name, sorted. Leaves out symbolic refs that lead nowhere.
pub(super) fn read_refs(repo: &Repository, folder: &str) -> Result<Vec<RawRef>, git2::Error> {
    let path = repo.commondir();
    match RefsState::read(path, folder).and_then(|state| state.refs(path, folder)) {
        Some(refs) => Ok(refs),
        None => Ok(resolve_refs(repo, folder)?.0),
    }
}

/// Returns the name of a ref below its folder.
fn short_name(mut name: Vec<u8>, folder: &str) -> String {
    // In place: there can be many names.
    name.drain(..name.len().min(folder.len() + 1));
    String::from_utf8(name).unwrap_or_else(|invalid| lossy(invalid.as_bytes()))
}

/// Reads refs like [`read_refs`], also if they are symbolic, and returns whether all of them lead to an object.
fn resolve_refs(repo: &Repository, folder: &str) -> Result<(Vec<RawRef>, bool), git2::Error> {
    let (mut refs, mut is_complete) = (Vec::new(), true);
    for reference in repo.references_glob(&format!("{folder}/*"))? {
        // Invalid refs are left out.
        let Ok(reference) = reference else { continue };
        match reference.resolve() {
            Ok(end) => refs.extend(end.target().map(|id| (reference.name_bytes().to_vec(), id))),
            Err(why) => is_complete &= why.code() != ErrorCode::NotFound,
        }
    }
    refs.sort();
    Ok((refs, is_complete))
}

impl Git {
    /// Returns the targets of all refs by full name.
    pub fn all_refs(&self) -> Result<BTreeMap<String, Oid>, Rejection> {
        Ok(read_refs(&self.repo, "refs")?.into_iter().map(|(name, id)| (lossy(&name), id)).collect())
    }

    /// Returns the names and targets of all branches, by name. No object is read: a target can be missing, or something
    /// other than a commit.
    pub fn branch_targets(&self, cache: &Cache) -> Result<Arc<Vec<RefTarget>>, Rejection> {
        self.list_refs("refs/heads", &cache.branch_targets, |branch| &branch.name, |branch| Ok(Some(branch)))
    }

    /// Returns all branches that point to a commit, by name.
    pub fn branches(&self, cache: &Cache) -> Result<Arc<Vec<GitRef>>, Rejection> {
        let mut commits = HashMap::new();
        let to_row = |RefTarget { name, target }| {
            let commit = match commits.entry(target) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(self.peel(target)?),
            };
            Ok(commit.map(|commit| GitRef { name, commit }))
        };
        self.list_refs("refs/heads", &cache.branches, |head| &head.name, to_row)
    }

    /// Returns those of the refs that point to a commit.
    pub fn peel_refs(&self, refs: &[RefTarget]) -> Vec<GitRef> {
        let peel = |found: &RefTarget| {
            Some(GitRef { name: found.name.clone(), commit: self.peel(found.target).ok().flatten()? })
        };
        refs.iter().filter_map(peel).collect()
    }

    /// Returns all tags that point to a commit, by name.
    pub fn tags(&self, cache: &Cache) -> Result<Arc<Vec<TagRef>>, Rejection> {
        self.list_refs("refs/tags", &cache.tags, |tag| &tag.name, |tag| self.tag_at(tag.name, tag.target))
    }

    /// Returns the refs below a folder for which `to_row` returns a row, sorted by name.
    fn list_refs<T>(
        &self,
        folder: &str,
        table: &CacheTable<PathBuf, CachedRefs<T>>,
        name_of: fn(&T) -> &str,
        mut to_row: impl FnMut(RefTarget) -> Result<Option<T>, git2::Error>,
    ) -> Result<Arc<Vec<T>>, Rejection> {
        let path = self.repo.path();
        let now = SystemTime::now();
        let before = RefsState::read(path, folder);
        let known = table.get(path).filter(|(then, _)| before.as_ref() == Some(&**then));
        if let Some((_, list)) = known {
            return Ok(list);
        }
        let read = before.as_ref().and_then(|state| state.refs(path, folder));
        let (refs, mut is_complete) = match read {
            Some(refs) => (refs, true),
            None => resolve_refs(&self.repo, folder)?,
        };
        let mut rows = Vec::with_capacity(refs.len());
        for (name, target) in refs {
            match to_row(RefTarget { name: short_name(name, folder), target }) {
                Ok(row) => rows.extend(row),
                // A missing object may arrive later.
                Err(why) => is_complete &= why.code() != ErrorCode::NotFound,
            }
        }
        // Names that are not UTF-8 change their place.
        rows.sort_by(|a, b| name_of(a).cmp(name_of(b)));
        let list = Arc::new(rows);
        // If the refs changed in the meantime, the list may be incomplete: do not cache it.
        let is_reliable = |before: &RefsState| {
            is_complete && before.is_old(now) && RefsState::read(path, folder).as_ref() == Some(before)
        };
        if let Some(before) = before.filter(is_reliable) {
            table.put(path.to_owned(), (Arc::new(before), list.clone()));
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::has_git;
    use std::fs::File;
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

        fn states(&self) -> [Option<RefsState>; 2] {
            ["refs/heads", "refs/tags"].map(|folder| RefsState::read(self.folder.path(), folder))
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
        fs::write(repo.folder.path().join("refs/heads/c"), format!("{two}\n")).unwrap();
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
            fs::write(&place, &text).unwrap();
            assert!(!is_cached(), "{text}");
        }
        fs::write(&place, "").unwrap();
        let git = repo.git();
        assert_eq!(git.branches(&cache).ok(), git.branches(&Cache::default()).ok(), "an empty file");
        fs::remove_file(&place).unwrap();
        assert!(is_cached());
        // A file that was just written may be written again within the same tick, which is longer on file systems
        // without fractions of a second.
        repo.run(&["pack-refs", "--all"]);
        let packed = repo.folder.path().join(PACKED_REFS);
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
        let is_old = |modified: SystemTime, now: SystemTime| {
            File::options().append(true).open(&packed).unwrap().set_modified(modified).unwrap();
            repo.states()[0].clone().unwrap().is_old(now)
        };
        for (fraction, window) in [(Duration::ZERO, COARSE_RACY_WINDOW), (Duration::from_millis(1), RACY_WINDOW)] {
            let modified = written + fraction;
            assert!(!is_old(modified, modified + window) && is_old(modified, modified + 2 * window));
            assert!(!is_old(modified, modified - 2 * window), "of a time to come");
        }
    }

    fn listed_by_git(repo: &TestRepo) -> Vec<String> {
        let all = repo.run(&["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"]);
        all.lines().map(str::to_owned).collect()
    }

    #[test]
    fn refs_are_read_as_git_reads_them() {
        if !has_git() {
            return;
        }
        let repo = TestRepo::new();
        let (one, two) = (repo.commit("One"), repo.commit("Two"));
        for name in ["a-b", "a/b", "deep/er/x", "z"] {
            repo.run(&["update-ref", &format!("refs/heads/{name}"), &one]);
        }
        repo.run(&["tag", "-m", "Of a time", "v1", &one]);
        repo.run(&["update-ref", "refs/remotes/origin/main", &one]);
        repo.run(&["pack-refs", "--all"]);
        // Loose refs take the place of packed ones, and stand between them.
        repo.run(&["update-ref", "refs/heads/z", &two]);
        repo.run(&["update-ref", "refs/heads/b", &two]);
        repo.run(&["tag", "v0", &two]);
        let check = |what: &str| {
            let bare = Repository::open_bare(repo.folder.path()).unwrap();
            let read = ["refs/heads", "refs/tags"].map(|folder| read_refs(&bare, folder).unwrap()).concat();
            let read: Vec<String> = read.iter().map(|(name, id)| format!("{id} {}", lossy(name))).collect();
            assert_eq!(read, listed_by_git(&repo), "{what}");
        };
        check("loose and packed");
        repo.run(&["symbolic-ref", "refs/heads/s", "refs/heads/z"]);
        check("a symbolic ref");
        // An unsorted file, as other programs write it.
        repo.run(&["symbolic-ref", "-d", "refs/heads/s"]);
        let text = format!("{one} refs/heads/y\n{two} refs/heads/c\n");
        fs::write(repo.folder.path().join(PACKED_REFS), text).unwrap();
        check("an unsorted file");
        fs::write(repo.folder.path().join(PACKED_REFS), "no refs\n").unwrap();
        assert!(repo.git().branches(&Cache::default()).is_err(), "an invalid file is not an empty list");
    }
}
