//! Reads what commits contain from the clone that labscope was started in, so that the server need not be asked.
//!
//! Only objects are read, by the IDs that the server names; neither refs nor settings. The clone may be somebody else's:
//! its folders are checked before they are opened, sizes and times have limits, and what was read is used only if its
//! hash is its ID. Everything that is missing, as in a shallow or a partial clone, is left to the server.

use super::git::{Changes, Git};
use super::rejection::Rejection;
use super::stop::Stop;
use super::temp_folder::TempFolder;
use api::commit_data::{CommitData, ReadClone};
use api::commits::{Commit, DiffEntry};
use api::repository::Comparison;
use api::versions::{MergeRequestVersion, VersionDetail};
use git2::{Oid, Repository};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use system::git_folder;

/// The maximum time for one reply; then the server is asked.
const MAX_TIME: Duration = Duration::from_secs(5);
/// The maximum number of commits of a comparison or a version.
const MAX_COMMITS: usize = 5_000;

/// Returns a function that reads from the clone that contains a folder. The clone is opened when something is read.
pub fn clone_reader(folder: PathBuf) -> ReadClone {
    let bare = OnceLock::new();
    Arc::new(move |data| {
        let bare = bare.get_or_init(|| with_objects_of(&folder)).as_ref()?;
        let git = Git::open(bare.path(), None).ok()?.verifying().with_stop(&Stop::default().within(MAX_TIME));
        read(&git, data).ok().flatten()
    })
}

/// Creates an empty repository that has the objects of a clone as its alternate.
fn with_objects_of(folder: &Path) -> Option<TempFolder> {
    let found = git_folder::discover(folder).ok()??;
    let objects = found.common.join("objects").canonicalize().ok()?;
    // A line break would end the name in the list of alternates.
    let objects = objects.to_str().filter(|path| !path.contains('\n'))?;
    let bare = TempFolder::new().ok()?;
    Repository::init_bare(bare.path()).ok()?;
    std::fs::create_dir_all(bare.path().join("objects/info")).ok()?;
    std::fs::write(bare.path().join("objects/info/alternates"), format!("{objects}\n")).ok()?;
    Some(bare)
}

fn read(git: &Git, data: &CommitData) -> Result<Option<Vec<u8>>, Rejection> {
    let commit = |sha: &str| Oid::from_str(sha).ok().filter(|id| sha.len() == 40 && git.has_commit(*id));
    Ok(match data {
        CommitData::File { commit: at, path } => match commit(at) {
            Some(at) => git.file(&git.tree(at)?, path)?.map(|(_, bytes)| bytes),
            None => None,
        },
        CommitData::Comparison { from, to } => {
            let Some((from, to)) = commit(from).zip(commit(to)) else { return Ok(None) };
            let Some((mut commits, diffs)) = between(git, from, to)? else { return Ok(None) };
            commits.reverse();
            json(&Comparison { commit: commits.last().cloned(), commits, diffs, ..Comparison::default() })
        }
        CommitData::Version { base, head } => {
            let Some((base, head)) = commit(base).zip(commit(head)) else { return Ok(None) };
            let Some((commits, diffs)) = between(git, base, head)? else { return Ok(None) };
            let [base, head] = [base, head].map(|id| Some(id.to_string()));
            let state = "collected".to_owned();
            let version = MergeRequestVersion {
                base_commit_sha: base,
                head_commit_sha: head,
                state,
                ..MergeRequestVersion::default()
            };
            json(&VersionDetail { version, commits, diffs })
        }
        CommitData::Changes { commit: sha } => {
            let Some(sha) = commit(sha) else { return Ok(None) };
            // A parent that is missing would count as empty.
            let parent = git.find_commit(sha)?.parent();
            match parent.is_none_or(|parent| git.has_commit(parent)) {
                true => whole(git.commit_changes(sha)?).and_then(|entries| json(&entries)),
                false => None,
            }
        }
    })
}

/// Commits, and the changes that they make together.
type ComparedCommits = (Vec<Commit>, Vec<DiffEntry>);

/// Returns the commits of `to` that are not in the history of `from`, newest first, and the changes from one to the other;
/// `None` if there are too many.
fn between(git: &Git, from: Oid, to: Oid) -> Result<Option<ComparedCommits>, Rejection> {
    let (ids, is_cut) = git.between(from, to, MAX_COMMITS)?;
    let Some(entries) = whole(git.changes(Some(from), to)?).filter(|_| !is_cut) else { return Ok(None) };
    Ok(Some((ids.into_iter().map(|id| git.show(id)).collect::<Result<_, _>>()?, entries)))
}

/// Returns the changes if none are left out.
fn whole(changes: Changes) -> Option<Vec<DiffEntry>> {
    (!changes.overflow).then_some(changes.entries)
}

fn json(reply: &impl Serialize) -> Option<Vec<u8>> {
    serde_json::to_vec(reply).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use git2::Signature;
    use std::fs;

    /// A clone with these versions of its files, each a commit on the one before.
    struct Clone {
        folder: tempfile::TempDir,
        commits: Vec<String>,
    }

    impl Clone {
        fn new(versions: &[&[(&str, &str)]]) -> Clone {
            let folder = tempfile::tempdir().unwrap();
            let repo = Repository::init(folder.path()).unwrap();
            let by = Signature::new("Ada", "ada@example.com", &git2::Time::new(1_700_000_000, 0)).unwrap();
            let mut commits: Vec<Oid> = Vec::new();
            for files in versions {
                let mut tree = repo.treebuilder(None).unwrap();
                for (name, text) in *files {
                    tree.insert(name, repo.blob(text.as_bytes()).unwrap(), 0o100644).unwrap();
                }
                let tree = repo.find_tree(tree.write().unwrap()).unwrap();
                let parents: Vec<_> = commits.last().map(|id| repo.find_commit(*id).unwrap()).into_iter().collect();
                let parents: Vec<_> = parents.iter().collect();
                commits.push(repo.commit(None, &by, &by, "Edit a file\n", &tree, &parents).unwrap());
            }
            Clone { folder, commits: commits.iter().map(Oid::to_string).collect() }
        }

        fn reader(&self) -> ReadClone {
            clone_reader(self.folder.path().to_owned())
        }

        /// The file of an object that is not in a pack.
        fn object(&self, id: &str) -> PathBuf {
            self.folder.path().join(".git/objects").join(&id[..2]).join(&id[2..])
        }

        fn everything(&self) -> Vec<CommitData> {
            let [from, to] = [&self.commits[0], &self.commits[1]].map(String::clone);
            vec![
                CommitData::File { commit: to.clone(), path: "a.rs".into() },
                CommitData::Comparison { from: from.clone(), to: to.clone() },
                CommitData::Version { base: from, head: to.clone() },
                CommitData::Changes { commit: to },
            ]
        }
    }

    fn two() -> Clone {
        Clone::new(&[&[("a.rs", "one\n"), ("b.rs", "same\n")], &[("a.rs", "two\n"), ("b.rs", "same\n")]])
    }

    #[test]
    fn a_clone_answers_like_the_server() {
        let clone = two();
        let read = clone.reader();
        let all: Vec<Vec<u8>> = clone.everything().iter().map(|data| read(data).unwrap()).collect();
        assert_eq!(all[0], b"two\n");
        let compared: Comparison = serde_json::from_slice(&all[1]).unwrap();
        let version: VersionDetail = serde_json::from_slice(&all[2]).unwrap();
        let changes: Vec<DiffEntry> = serde_json::from_slice(&all[3]).unwrap();
        assert_eq!(changes.iter().map(DiffEntry::path).collect::<Vec<_>>(), ["a.rs"]);
        assert!(changes[0].diff.ends_with("@@ -1 +1 @@\n-one\n+two\n"), "{:?}", changes[0].diff);
        assert_eq!((&compared.diffs, &version.diffs), (&changes, &changes));
        assert_eq!(compared.commits, version.commits);
        assert_eq!(version.commits.iter().map(|commit| &commit.id).collect::<Vec<_>>(), [&clone.commits[1]]);
        // The first commit has no parent.
        let first = CommitData::Changes { commit: clone.commits[0].clone() };
        let added: Vec<DiffEntry> = serde_json::from_slice(&read(&first).unwrap()).unwrap();
        assert!(added.len() == 2 && added.iter().all(|entry| entry.new_file));
    }

    #[test]
    fn what_is_missing_is_left_to_the_server() {
        let clone = two();
        let missing = "0123456789012345678901234567890123456789".to_owned();
        let (from, to) = (clone.commits[0].clone(), clone.commits[1].clone());
        let read = clone.reader();
        for data in [
            CommitData::File { commit: missing.clone(), path: "a.rs".into() },
            CommitData::File { commit: to.clone(), path: "none.rs".into() },
            CommitData::File { commit: to[..8].to_owned(), path: "a.rs".into() },
            CommitData::Comparison { from: missing.clone(), to: to.clone() },
            CommitData::Version { base: from.clone(), head: missing.clone() },
            CommitData::Changes { commit: missing },
            CommitData::Changes { commit: "main".into() },
        ] {
            assert_eq!(read(&data), None, "{data:?}");
        }
        // A shallow clone lacks the parent, and a partial one the files.
        fs::remove_file(clone.object(&from)).unwrap();
        let all: Vec<bool> = clone.everything().iter().map(|data| read(data).is_some()).collect();
        assert_eq!(all, [true, false, false, false]);
        let clone = two();
        let old = Oid::hash_object(git2::ObjectType::Blob, b"one\n").unwrap();
        fs::remove_file(clone.object(&old.to_string())).unwrap();
        let read = clone.reader();
        let all: Vec<bool> = clone.everything().iter().map(|data| read(data).is_some()).collect();
        assert_eq!(all, [true, false, false, false]);
        assert_eq!(clone_reader("/nowhere".into())(&clone.everything()[0]), None);
    }

    /// Somebody may have put other content in the place of an object.
    #[test]
    fn objects_with_a_wrong_hash_are_not_used() {
        let repo_of = |clone: &Clone| Repository::open(clone.folder.path()).unwrap();
        let tree = |clone: &Clone, at: usize| {
            let id = Oid::from_str(&clone.commits[at]).unwrap();
            repo_of(clone).find_commit(id).unwrap().tree_id().to_string()
        };
        let blob = |text: &[u8]| Oid::hash_object(git2::ObjectType::Blob, text).unwrap().to_string();
        for kind in ["commit", "tree", "blob"] {
            let clone = two();
            let (real, other) = match kind {
                "commit" => (clone.commits[1].clone(), clone.commits[0].clone()),
                "tree" => (tree(&clone, 1), tree(&clone, 0)),
                _ => (blob(b"two\n"), blob(b"one\n")),
            };
            fs::remove_file(clone.object(&real)).unwrap();
            fs::copy(clone.object(&other), clone.object(&real)).unwrap();
            let read = clone.reader();
            for data in clone.everything() {
                assert_eq!(read(&data), None, "{kind}: {data:?}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn pipes_in_the_place_of_objects_are_not_opened() {
        for name in ["objects/pack/x.idx", "objects/info/alternates", "objects/ab/cdef"] {
            let clone = two();
            let path = clone.folder.path().join(".git").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
            // SAFETY: the path is a valid C string.
            assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0);
            let read = clone.reader();
            assert!(clone.everything().iter().all(|data| read(data).is_none()), "{name}");
        }
    }
}
