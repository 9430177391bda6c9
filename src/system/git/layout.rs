//! Finds what makes git write to another place than the folder of a clone.

use super::config;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The maximum number of files of a git folder that are looked at.
const MAX_FILES: usize = 50_000;
/// The maximum number of bytes that are read of a file that git keeps.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// Describes the parts of a clone that lead elsewhere. A repository that another folder owns, and a symbolic link in a
/// git folder, make git change files that the clone's author chose.
pub fn links(folder: &Path, git_dir: &Path, common_dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    if !owns(folder, git_dir, common_dir) {
        found.push(format!("{} = {}", folder.join(".git").display(), common_dir.display()));
    }
    let mut left = MAX_FILES;
    let mut folders: Vec<PathBuf> = Vec::new();
    for top in [git_dir, common_dir] {
        if folders.first().is_none_or(|first| first != top) {
            folders.push(top.to_owned());
        }
    }
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for entry in entries.flatten() {
            left = left.saturating_sub(1);
            if left == 0 {
                found.push(format!("{} = more than {MAX_FILES} files", git_dir.display()));
                return found;
            }
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            // Hooks are not run.
            if kind.is_symlink() && entry.file_name() != "hooks" {
                let target = fs::read_link(&path).unwrap_or_default();
                found.push(format!("{} = {}", path.display(), target.display()));
            } else if kind.is_dir() && is_written(&path, git_dir, common_dir) {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns whether a file in the working tree `folder` belongs to git. Both paths are canonical.
pub fn is_in_git_folder(folder: &Path, file: &Path) -> bool {
    let is_git = |part: Component| part.as_os_str().eq_ignore_ascii_case(".git");
    if file.strip_prefix(folder).unwrap_or(file).components().any(is_git) {
        return true;
    }
    // A file of this name leads to the folder.
    let named = small_file(&folder.join(".git"));
    let path = named.as_deref().and_then(|text| text.strip_prefix("gitdir:")).map(|path| folder.join(path.trim()));
    path.and_then(|path| path.canonicalize().ok()).is_some_and(|git_dir| file.starts_with(git_dir))
}

/// Returns whether git writes to files below a folder whose names the clone can choose. Objects are named by their
/// content, and hooks are not run.
fn is_written(path: &Path, git_dir: &Path, common_dir: &Path) -> bool {
    let below = path.strip_prefix(git_dir).or_else(|_| path.strip_prefix(common_dir)).unwrap_or(path);
    below.components().next().is_some_and(|first| {
        ["refs", "logs", "info", "rebase-merge", "rebase-apply", "sequencer"]
            .iter()
            .any(|name| first.as_os_str() == *name)
    })
}

/// Returns whether the repository belongs to the working tree: it is its `.git` folder, or names it in turn, as linked
/// worktrees and submodules do.
fn owns(folder: &Path, git_dir: &Path, common_dir: &Path) -> bool {
    let at = folder.join(".git");
    let Ok(found) = fs::symlink_metadata(&at) else { return false };
    if found.is_dir() {
        return git_dir == at && common_dir == git_dir;
    }
    if !found.is_file() {
        return false;
    }
    let backlink = small_file(&git_dir.join("gitdir"));
    let is_back = |text: String| git_dir.join(text.trim_end()).canonicalize().is_ok_and(|path| path == at);
    let is_worktree = git_dir.parent() == Some(&common_dir.join("worktrees"));
    if backlink.is_some_and(is_back) {
        return is_worktree;
    }
    // Git reported this working tree, so the setting names it.
    common_dir == git_dir && names_worktree(&git_dir.join("config"))
}

/// Returns the text of a file of a few lines; `None` if it is anything else.
fn small_file(path: &Path) -> Option<String> {
    // A pipe would block.
    fs::symlink_metadata(path).ok().filter(Metadata::is_file)?;
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

fn names_worktree(configuration: &Path) -> bool {
    let text = small_file(configuration).unwrap_or_default();
    config::parse(&text).iter().any(|entry| entry.section == "core" && entry.key == "worktree")
}

#[cfg(test)]
mod tests {
    use super::{is_in_git_folder, names_worktree};
    use std::fs;

    #[test]
    fn files_of_git_are_told_from_those_of_the_working_tree() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("it is there");
        for folder in ["clone/.git", "clone/sub/.git", "separate/meta"] {
            fs::create_dir_all(root.join(folder)).expect("created");
        }
        fs::write(root.join("separate/.git"), "gitdir: meta\n").expect("written");
        let is_git = |folder: &str, file: &str| is_in_git_folder(&root.join(folder), &root.join(folder).join(file));
        for file in [".git/config", ".GIT/hooks/post-checkout", "sub/.git/config", ".git"] {
            assert!(is_git("clone", file), "{file}");
        }
        assert!(is_git("separate", "meta/config"));
        for file in ["a", ".gitignore", "src/.github/x", "git/config"] {
            assert!(!is_git("clone", file), "{file}");
        }
        assert!(!is_git("separate", "a"));
    }

    #[test]
    fn only_the_setting_of_git_names_a_working_tree() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config");
        let names = |text: &str| {
            fs::write(&file, text).expect("written");
            names_worktree(&file)
        };
        assert!(names("[core]\n\tworkTree = /x\n") && names("[Core] worktree = /x\n"));
        assert!(!names("[mine]\nworktree = /x\n") && !names("[core]\n; worktree = /x\n") && !names(""));
        assert!(!names_worktree(folder.path()));
    }
}
