//! Finds the git folder of a path, and checks the files in it before a library opens them: somebody else may have put a
//! pipe, a device or an endless file in the place of any of them.

use super::files;
use super::git::config;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The maximum size of a file that contains one path or ref, in bytes.
const MAX_LINE: u64 = 4 << 10;
/// The maximum size of a file that lists refs or commits, in bytes.
const MAX_LIST: u64 = 64 << 20;
/// The maximum number of entries of `refs`.
const MAX_ENTRIES: usize = 500_000;
/// The maximum depth of folders below `refs`.
const MAX_DEPTH: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFolder {
    /// The folder with `HEAD`.
    pub git: PathBuf,
    /// The folder that worktrees share, with `config`, `refs` and `objects`.
    pub common: PathBuf,
    /// The root of the working tree; a bare repository has none.
    pub work_tree: Option<PathBuf>,
}

/// Finds the git folder of a path in it or in one of its parents, as git does: a folder `.git`, a file `.git` that names
/// one, or a bare repository. Returns `None` if there is none.
///
/// # Errors
/// Returns a message with the path if a file is not a regular one, or not readable.
pub fn discover(from: &Path) -> Result<Option<GitFolder>, String> {
    let Ok(from) = from.canonicalize() else { return Ok(None) };
    for folder in from.ancestors() {
        let inside = folder.join(".git");
        let git = match std::fs::metadata(&inside) {
            Ok(found) if found.is_dir() => Some(inside).filter(|inside| inside.join("HEAD").exists()),
            Ok(_) => link(&inside)?.filter(|git| git.join("HEAD").exists()),
            Err(_) => None,
        };
        if let Some(git) = git {
            let common = common(&git)?;
            return Ok(Some(GitFolder { git, common, work_tree: Some(folder.to_owned()) }));
        }
        let is_bare = ["objects", "refs"].iter().all(|name| folder.join(name).is_dir());
        if is_bare && folder.join("HEAD").exists() {
            return Ok(Some(GitFolder { git: folder.to_owned(), common: common(folder)?, work_tree: None }));
        }
    }
    Ok(None)
}

/// Returns the folder that a file `.git` names.
fn link(path: &Path) -> Result<Option<PathBuf>, String> {
    let text = read_line(path)?;
    Ok(text.strip_prefix("gitdir:").map(|target| files::folder_of(path).join(target.trim())))
}

fn common(git: &Path) -> Result<PathBuf, String> {
    let file = git.join("commondir");
    Ok(if file.exists() { git.join(read_line(&file)?.trim()) } else { git.to_owned() })
}

fn read_line(path: &Path) -> Result<String, String> {
    files::read_text(path, MAX_LINE).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

impl GitFolder {
    /// Returns the entries of the clone's own configuration, with those that it includes.
    ///
    /// # Errors
    /// Returns a message with the path of a file that is not a regular one, too large, or not readable.
    pub fn config(&self) -> Result<Vec<config::ConfigEntry>, String> {
        let mut entries = config::read(&self.common.join("config"), &self.git)?;
        let is_on = |entry: &config::ConfigEntry| entry.key == "worktreeconfig" && entry.value == "true";
        if entries.iter().any(|entry| entry.section == "extensions" && is_on(entry)) {
            entries.extend(config::read(&self.git.join("config.worktree"), &self.git)?);
        }
        Ok(entries)
    }

    /// Checks that everything a library reads when it opens the clone is a regular file of a sensible size.
    ///
    /// # Errors
    /// Returns a message with the path of the first file that is not.
    pub fn check(&self) -> Result<(), String> {
        self.config()?;
        let common = [
            ("HEAD", MAX_LINE),
            ("packed-refs", MAX_LIST),
            ("shallow", MAX_LIST),
            ("info/grafts", MAX_LIST),
            ("info/attributes", MAX_LIST),
            ("info/exclude", MAX_LIST),
            ("objects/info/alternates", MAX_LIST),
            ("objects/info/commit-graph", u64::MAX),
            ("objects/info/commit-graphs/commit-graph-chain", MAX_LIST),
        ];
        for (name, limit) in common {
            check_file(&self.common.join(name), limit)?;
        }
        for name in ["HEAD", "gitdir", "commondir"] {
            check_file(&self.git.join(name), MAX_LINE)?;
        }
        let mut left = MAX_ENTRIES;
        check_folder(&self.common.join("refs"), MAX_LIST, 0, &mut left)?;
        object_folders(&self.common.join("objects")).iter().try_for_each(|folder| check_kinds(folder))
    }
}

/// Returns the folders in an object folder whose files are read: those of loose objects, packs, and lists of both.
pub fn object_folders(objects: &Path) -> Vec<PathBuf> {
    let is_loose = |name: &OsStr| name.len() == 2 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit);
    let entries = std::fs::read_dir(objects).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let loose = entries.filter(|name| is_loose(name)).map(|name| objects.join(name));
    ["pack", "info", "info/commit-graphs"].iter().map(|name| objects.join(name)).chain(loose).collect()
}

/// Checks that everything in a folder is a regular file or a folder, or a link to one.
///
/// # Errors
/// Returns a message with the path of the first that is not.
pub fn check_kinds(folder: &Path) -> Result<(), String> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return Err(format!("cannot read {}: {error}", folder.display())),
    };
    for entry in entries.flatten() {
        let is_odd = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => {
                std::fs::metadata(entry.path()).is_ok_and(|found| !found.is_file() && !found.is_dir())
            }
            kind => kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir()),
        };
        if is_odd {
            return Err(format!("{} is not a regular file", entry.path().display()));
        }
    }
    Ok(())
}

fn check_file(path: &Path, limit: u64) -> Result<(), String> {
    match std::fs::metadata(path) {
        Ok(found) => check_metadata(path, &found, limit),
        // A link to nowhere is no file, and neither is what cannot be read.
        Err(_) => Ok(()),
    }
}

fn check_metadata(path: &Path, found: &Metadata, limit: u64) -> Result<(), String> {
    match () {
        () if !found.is_file() => Err(format!("{} is not a regular file", path.display())),
        () if found.len() > limit => Err(format!("{} is larger than {}", path.display(), files::size(limit))),
        () => Ok(()),
    }
}

fn check_folder(folder: &Path, limit: u64, depth: usize, left: &mut usize) -> Result<(), String> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("cannot read {}: {error}", folder.display())),
    };
    for entry in entries.flatten() {
        *left = left.checked_sub(1).ok_or_else(|| format!("{} has too many entries", folder.display()))?;
        let path = entry.path();
        let Ok(found) = std::fs::metadata(&path) else { continue };
        if !found.is_dir() {
            check_metadata(&path, &found, limit)?;
        } else if depth < MAX_DEPTH {
            check_folder(&path, limit, depth + 1, left)?;
        } else {
            return Err(format!("{} is nested too deeply", folder.display()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn clone_at(folder: &Path) {
        for name in ["objects/pack", "objects/ab", "objects/info", "refs/heads", "info"] {
            fs::create_dir_all(folder.join(name)).expect("created");
        }
        fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").expect("written");
        fs::write(folder.join("config"), "[core]\nbare = false\n").expect("written");
    }

    #[test]
    fn clones_worktrees_and_bare_repositories_are_found() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("a path");
        let at = |name: &str| root.join(name);
        clone_at(&at("clone/.git"));
        clone_at(&at("bare.git"));
        fs::create_dir_all(at("clone/src/deep")).expect("created");
        fs::create_dir_all(at("clone/.git/worktrees/w")).expect("created");
        fs::write(at("clone/.git/worktrees/w/HEAD"), "x").expect("written");
        fs::write(at("clone/.git/worktrees/w/commondir"), "../..\n").expect("written");
        fs::create_dir_all(at("w")).expect("created");
        fs::write(at("w/.git"), "gitdir: ../clone/.git/worktrees/w\n").expect("written");
        let found = discover(&at("clone/src/deep")).expect("reads").expect("a clone");
        assert_eq!((&found.git, &found.work_tree), (&at("clone/.git"), &Some(at("clone"))));
        let tree = discover(&at("w")).expect("reads").expect("a clone");
        assert_eq!(tree.common.canonicalize().expect("there"), at("clone/.git"));
        assert_eq!(discover(&at("bare.git/refs")).expect("reads").expect("a clone").work_tree, None);
        assert!([found, tree].iter().all(|found| found.check().is_ok()));
        assert_eq!(discover(&at("nowhere")), Ok(None));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_huge_files_are_refused_at_once() {
        let objects = ["objects/pack/x.idx", "objects/pack/x.bitmap", "objects/ab/cdef", "objects/info/commit-graph"];
        let others = ["HEAD", "config", "packed-refs", "shallow", "info/grafts", "refs/heads/x"];
        for name in others.into_iter().chain(objects) {
            for kind in ["pipe", "device", "huge", "folder"] {
                // Objects may be huge, and refs are in folders.
                let is_object = name.starts_with("objects");
                if (is_object && kind == "huge") || ((is_object || name.starts_with("refs/")) && kind == "folder") {
                    continue;
                }
                let root = tempfile::tempdir().expect("a folder");
                let git = root.path().join(".git");
                clone_at(&git);
                let path = git.join(name);
                let _ = fs::remove_file(&path);
                match kind {
                    "pipe" => {
                        let text = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).expect("a path");
                        // SAFETY: the path is a valid C string.
                        assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0);
                    }
                    "device" => std::os::unix::fs::symlink("/dev/zero", &path).expect("linked"),
                    "huge" => fs::File::create(&path).and_then(|file| file.set_len(200 << 20)).expect("written"),
                    _ => fs::create_dir(&path).expect("created"),
                }
                let found = discover(root.path()).expect("reads").expect("a clone");
                let why = found.check().expect_err(&format!("{name} is a {kind}"));
                let reason = if kind == "huge" { "larger than" } else { "not a regular file" };
                assert!(why.contains(name) && why.contains(reason), "{name} {kind}: {why}");
            }
        }
    }
}
