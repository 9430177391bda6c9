//! The lines that threads are about, as they are in the clone: where they are now, whether they changed, and the commit that
//! changed them. Files are only read: of commits by their SHAs, and in the working tree.

use crate::api::commit_data::{CommitData, ReadClone};
use crate::app::clone::{LineInClone, ThreadLine};
use crate::domain::edits::{Edit, edits, lines};
use crate::system::files;
use crate::system::git::{GitClone, is_in_git_folder};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// The maximum number of threads that are read, and of commits for each of them.
const MAX_THREADS: usize = 100;
const MAX_COMMITS: usize = 50;
/// The maximum number of bytes of a file.
const MAX_BYTES: u64 = 4 << 20;
/// The maximum time for comparing two versions of a file.
const TIME_LIMIT: Duration = Duration::from_millis(200);

/// Returns the lines of threads as they are in the clone, by the IDs of the threads. Those of files or commits that the clone
/// lacks are left out.
pub fn read(
    git: &GitClone,
    folder: &Path,
    head: &str,
    read_clone: &ReadClone,
    threads: &[ThreadLine],
) -> BTreeMap<String, LineInClone> {
    let (mut found, mut renames) = (BTreeMap::new(), HashMap::new());
    for thread in threads.iter().take(MAX_THREADS) {
        let mut new_path = |sha: &str, path: &str| {
            let renamed = renames.entry(sha.to_owned()).or_insert_with(|| renamed(git, sha));
            renamed.get(path).cloned()
        };
        if let Some(line) = line_in_clone(git, folder, head, read_clone, &mut new_path, thread) {
            found.insert(thread.discussion.clone(), line);
        }
    }
    found
}

/// A function that returns the path that a file of a commit was renamed to.
type NewPath<'a> = dyn FnMut(&str, &str) -> Option<String> + 'a;

fn line_in_clone(
    git: &GitClone,
    folder: &Path,
    head: &str,
    read_clone: &ReadClone,
    new_path: &mut NewPath,
    thread: &ThreadLine,
) -> Option<LineInClone> {
    let ThreadLine { path, sha, lines: (first, last), removed_in, .. } = thread;
    let read =
        |commit: &str, path: &str| read_clone(&CommitData::File { commit: commit.to_owned(), path: path.to_owned() });
    let base = read(sha, path)?;
    let commented = (*first as usize).checked_sub(1)?..*last as usize;
    let (path_here, here) = match working_file(folder, path) {
        Some(here) => (path.clone(), here),
        None => {
            let path = new_path(sha, path)?;
            let here = working_file(folder, &path)?;
            (path, here)
        }
    };
    let moved = follow(&base, &here, commented.clone());
    let text = |file: &[u8], range: &Range<usize>| {
        let line = lines(file).get(range.clone()).and_then(|lines| lines.last().copied()).unwrap_or_default();
        String::from_utf8_lossy(line).trim_end().to_owned()
    };
    let is_removed = removed_in.is_some();
    let line = LineInClone {
        line: u32::try_from(moved.lines.start + 1).ok()?,
        is_changed: moved.is_changed != is_removed,
        before: if is_removed { String::new() } else { text(&base, &commented) },
        now: if is_removed && moved.is_changed { String::new() } else { text(&here, &moved.lines) },
        commit: None,
        path: path_here,
    };
    // The file may have either name in the commits between.
    let at = |commit: &str| read(commit, &line.path).or_else(|| read(commit, path));
    let from = removed_in.as_deref().unwrap_or(sha);
    let at_head = at(head)?;
    let is_done = from != head && follow(&base, &at_head, commented.clone()).is_changed != is_removed;
    let range = is_done.then(|| commits(git, (from, head), &[path, &line.path])).flatten().unwrap_or_default();
    let commit = changed_by(&range, &at, (base, commented), is_removed);
    Some(LineInClone { commit, ..line })
}

/// Returns the new paths of the files that were renamed since a commit, in later commits or in the index.
fn renamed(git: &GitClone, sha: &str) -> HashMap<String, String> {
    let compare = ["diff-index", "--cached", "-r", "-z", "--name-status", "--find-renames", "--diff-filter=R"];
    let listed = Some(sha).filter(|sha| is_sha(sha)).and_then(|sha| git.run(&compare, &[sha]).ok()).unwrap_or_default();
    // A status, the old path and the new one.
    let mut fields = listed.split('\0').map(str::to_owned);
    let next = || Some((fields.next()?, fields.next()?, fields.next()?));
    std::iter::from_fn(next).map(|(_, old, new)| (old, new)).collect()
}

fn is_sha(sha: &str) -> bool {
    !sha.is_empty() && sha.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Lists the commits that changed one of the paths, each with its SHA and title, the newest first.
fn commits(git: &GitClone, (sha, head): (&str, &str), paths: &[&str]) -> Option<Vec<(String, String)>> {
    if !is_sha(sha) || !is_sha(head) {
        return None;
    }
    let most = format!("--max-count={MAX_COMMITS}");
    let range = format!("{sha}..{head}");
    let log = ["log", "--format=%H %s", "--no-show-signature", "--no-patch", "--topo-order", &most, &range, "--"];
    let paths: Vec<String> = paths.iter().map(|path| format!(":(top,literal){path}")).collect();
    let listed = git.run(&log, &paths.iter().map(String::as_str).collect::<Vec<_>>()).ok()?;
    let commit = |line: &str| line.split_once(' ').map(|(sha, title)| (sha.to_owned(), title.to_owned()));
    Some(listed.lines().filter_map(commit).collect())
}

/// Returns the last of `commits` that changed the lines; of lines that were removed, the one that brought them back.
fn changed_by(
    commits: &[(String, String)],
    at: &dyn Fn(&str) -> Option<Vec<u8>>,
    (mut file, mut commented): (Vec<u8>, Range<usize>),
    is_removed: bool,
) -> Option<(String, String)> {
    let (mut last, mut was_gone) = (None, true);
    for commit in commits.iter().rev() {
        let Some(next) = at(&commit.0) else { continue };
        let moved = follow(&file, &next, commented.clone());
        if is_removed {
            if was_gone && !moved.is_changed {
                last = Some(commit.clone());
            }
            was_gone = moved.is_changed;
            continue;
        }
        if moved.is_changed {
            last = Some(commit.clone());
        }
        (file, commented) = (next, moved.lines);
    }
    last
}

/// Reads a file of the working tree; `None` if it is none, or leads out of it.
fn working_file(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let (folder, file) = (folder.canonicalize().ok()?, folder.join(path).canonicalize().ok()?);
    let is_inside = file.starts_with(&folder) && !is_in_git_folder(&folder, &file);
    files::read(&file, MAX_BYTES).ok().filter(|_| is_inside)
}

/// Lines in another version of a file.
#[derive(Debug, PartialEq, Eq)]
struct MovedLines {
    lines: Range<usize>,
    /// Whether any of them was changed or removed.
    is_changed: bool,
}

/// Finds lines of a file, by their indexes, in another version of it. Lines that were changed are where the change is.
fn follow(old: &[u8], new: &[u8], commented: Range<usize>) -> MovedLines {
    let edits = edits(lines(old), lines(new), TIME_LIMIT);
    let touches = |edit: &&Edit| edit.old.start < commented.end && commented.start < edit.old.end;
    let mut touched = edits.iter().filter(touches);
    let (Some(first), last) = (touched.next(), touched.next_back()) else {
        return MovedLines { lines: commented, is_changed: true };
    };
    let last = last.unwrap_or(first);
    // Of several lines that were changed, each is taken for the one at its place.
    let is_paired = |edit: &Edit| edit.is_equal || edit.old.len() == edit.new.len();
    let from = |edit: &Edit, line: usize| match is_paired(edit) {
        true => edit.new.start + line.saturating_sub(edit.old.start),
        false => edit.new.start,
    };
    let to = match is_paired(last) {
        true => from(last, commented.end),
        false => last.new.end,
    };
    let is_changed = edits.iter().filter(touches).any(|edit| !edit.is_equal);
    let start = from(first, commented.start);
    MovedLines { lines: start..to.max(start), is_changed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_followed_and_changes_of_them_are_told() {
        let old = b"one\ntwo\nthree\nfour\n";
        let at = |new: &str, from: usize, to: usize| {
            let MovedLines { lines, is_changed } = follow(old, new.as_bytes(), from - 1..to);
            (lines.start + 1, lines.end, is_changed)
        };
        assert_eq!(at("one\ntwo\nthree\nfour\n", 2, 2), (2, 2, false));
        assert_eq!(at("zero\nhalf\none\ntwo\nthree\nfour\n", 2, 3), (4, 5, false));
        assert_eq!(at("one\n2\nthree\nfour\n", 2, 2), (2, 2, true));
        assert_eq!(at("one\n2\n2.5\nthree\nfour\n", 2, 2), (2, 3, true));
        assert_eq!(at("one\n2\n2.5\nthree\nfour\n", 3, 3), (4, 4, false));
        assert_eq!(at("one\n2\n3\nfour\n", 3, 3), (3, 3, true));
        assert_eq!(at("one\nthree\nfour\n", 2, 2), (2, 1, true));
        assert_eq!(at("", 4, 4), (1, 0, true));
        assert_eq!(at("one\n", 9, 9), (9, 9, true), "a line that the file never had");
    }
}
