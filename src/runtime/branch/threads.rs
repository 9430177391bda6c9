//! The lines that threads are about, as they are in the clone: where they are now, whether they changed, and the commit that
//! changed them. Files are only read: of commits by their SHAs, and in the working tree.

use crate::api::commit_data::{CommitData, ReadClone};
use crate::app::clone::{LineInClone, ThreadLine};
use crate::domain::edits::{Edit, edits, lines};
use crate::system::files;
use crate::system::git::{GitClone, is_in_git_folder};
use std::collections::BTreeMap;
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
    let mut found = BTreeMap::new();
    for thread in threads.iter().take(MAX_THREADS) {
        if let Some(line) = line_in_clone(git, folder, head, read_clone, thread) {
            found.insert(thread.discussion.clone(), line);
        }
    }
    found
}

fn line_in_clone(
    git: &GitClone,
    folder: &Path,
    head: &str,
    read_clone: &ReadClone,
    thread: &ThreadLine,
) -> Option<LineInClone> {
    let ThreadLine { path, sha, lines: (first, last), .. } = thread;
    let at = |commit: &str| read_clone(&CommitData::File { commit: commit.to_owned(), path: path.clone() });
    let base = at(sha)?;
    let commented = (*first as usize).checked_sub(1)?..*last as usize;
    let here = working_file(folder, path)?;
    let moved = follow(&base, &here, commented.clone());
    let text = |file: &[u8], range: &Range<usize>| {
        let line = lines(file).get(range.clone()).and_then(|lines| lines.last().copied()).unwrap_or_default();
        String::from_utf8_lossy(line).trim_end().to_owned()
    };
    let mut line = LineInClone {
        line: u32::try_from(moved.lines.start + 1).ok()?,
        is_changed: moved.is_changed,
        before: text(&base, &commented),
        now: text(&here, &moved.lines),
        commit: None,
    };
    let at_head = at(head)?;
    if sha != head && follow(&base, &at_head, commented.clone()).is_changed {
        line.commit = changed_by(git, (sha, head), path, &at, (base, commented));
    }
    Some(line)
}

/// Returns the SHA and the title of the last commit that changed the lines.
fn changed_by(
    git: &GitClone,
    (sha, head): (&str, &str),
    path: &str,
    at: &dyn Fn(&str) -> Option<Vec<u8>>,
    (mut file, mut commented): (Vec<u8>, Range<usize>),
) -> Option<(String, String)> {
    let is_sha = |sha: &str| !sha.is_empty() && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_sha(sha) || !is_sha(head) {
        return None;
    }
    let most = format!("--max-count={MAX_COMMITS}");
    let range = format!("{sha}..{head}");
    let log = ["log", "--format=%H %s", "--no-show-signature", "--no-patch", "--topo-order", &most, &range, "--"];
    let listed = git.run(&log, &[&format!(":(top,literal){path}")]).ok()?;
    let mut last = None;
    // They are listed from the newest on.
    for (commit, title) in listed.lines().rev().filter_map(|line| line.split_once(' ')) {
        let Some(next) = at(commit) else { continue };
        let moved = follow(&file, &next, commented);
        if moved.is_changed {
            last = Some((commit.to_owned(), title.to_owned()));
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
struct Moved {
    lines: Range<usize>,
    /// Whether any of them was changed or removed.
    is_changed: bool,
}

/// Finds lines of a file, by their indexes, in another version of it. Lines that were changed are where the change is.
fn follow(old: &[u8], new: &[u8], commented: Range<usize>) -> Moved {
    let edits = edits(lines(old), lines(new), TIME_LIMIT);
    let touches = |edit: &&Edit| edit.old.start < commented.end && commented.start < edit.old.end;
    let mut touched = edits.iter().filter(touches);
    let (Some(first), last) = (touched.next(), touched.next_back()) else {
        return Moved { lines: commented, is_changed: true };
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
    Moved { lines: start..to.max(start), is_changed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_followed_and_changes_of_them_are_told() {
        let old = b"one\ntwo\nthree\nfour\n";
        let at = |new: &str, from: usize, to: usize| {
            let Moved { lines, is_changed } = follow(old, new.as_bytes(), from - 1..to);
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
