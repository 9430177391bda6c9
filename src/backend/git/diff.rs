//! The differences between two trees as the API represents them: hunks below `---` and `+++`, without `diff --git`.

use super::lines::LineCounter;
use super::tree_changes::{Entry, FileChange, Kind, TreeComparison};
use super::{Git, lossy};
use crate::rejection::{Rejection, is_partial};
use api::commits::DiffEntry;
use git2::{Delta, Diff, DiffFindOptions, DiffOptions, FileMode, Oid, Patch, Tree};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The maximum size in bytes of a file that is diffed; larger ones are reported as too large.
pub(super) const MAX_FILE_BYTES: i64 = 8 << 20;
/// The maximum length in bytes of the diff of one file.
const MAX_FILE_DIFF_BYTES: usize = 2 << 20;
/// The maximum length in bytes of all diffs together: a reply is in memory as a whole.
const MAX_TOTAL_DIFF_BYTES: usize = 32 << 20;
/// The maximum number of files that are listed.
const MAX_FILES: usize = 5_000;
/// The maximum number of deleted files whose content is compared with that of each added file, to detect renames.
const RENAME_LIMIT: usize = 400;
/// The maximum number of pairs of files whose hashes are compared. That is all that identical files need, so that git has
/// no limit for them.
const MAX_EXACT_PAIRS: usize = 100_000_000;

/// The least similarity of a deleted and an added file that makes them one renamed file, in percent: that of Gitaly,
/// while git's own is 50.
const RENAME_THRESHOLD: u16 = 30;

/// The maximum number of pairs of files whose content is compared to detect renames, and the maximum size of all these
/// files.
const MAX_RENAME_PAIRS: usize = 4_000_000;
const MAX_RENAME_BYTES: usize = 2 << 30;
/// The maximum size in bytes of a file that is compared to detect renames.
const MAX_RENAMED_FILE_BYTES: usize = 256 << 20;

/// The extent of the differences between two trees.
pub(super) struct Extent {
    /// The first files that differ.
    first: Vec<ChangedFile>,
    /// The number of files that differ, as far as they were visited.
    count: usize,
    /// Whether the bounds of trees are exceeded.
    pub is_cut: bool,
    /// The maximum number of deleted files whose hashes are compared with that of each added file; `None` if no file was
    /// renamed without a change.
    exact_limit: Option<usize>,
    /// Whether the other added and deleted files are too many or too large to be compared with each other.
    renames_are_costly: bool,
}

/// A file that differs between two trees: its path, and its modes and objects before and after.
struct ChangedFile {
    path: Vec<u8>,
    old: Option<(u32, Oid)>,
    new: Option<(u32, Oid)>,
}

/// The changes between two trees.
pub struct Changes {
    pub entries: Vec<DiffEntry>,
    /// The number of changed files, including those left out.
    pub count: usize,
    /// Whether a limit for all files together was reached; a single large file is only marked as too large.
    pub overflow: bool,
}

impl Git {
    /// Compares two trees; `None` instead of a diff if their differences exceed the bounds of trees. libgit2 has no
    /// bounds, so it compares only what was measured before.
    fn diff<'a>(
        &'a self,
        old: Option<&Tree<'a>>,
        new: Option<&Tree<'a>>,
    ) -> Result<(Option<Diff<'a>>, Extent), Rejection> {
        let extent = self.extent(old, new)?;
        if extent.is_cut {
            return Ok((None, extent));
        }
        let mut options = DiffOptions::new();
        options.max_size(MAX_FILE_BYTES).context_lines(3).indent_heuristic(true);
        let mut diff = self.repo.diff_tree_to_tree(old, new, Some(&mut options))?;
        extent.find_renames(&mut diff, RENAME_THRESHOLD)?;
        Ok((Some(diff), extent))
    }

    /// Returns the hash of the changes between two commits, wherever they are in their files; `None` if nothing changed, or
    /// too much. It is that of `git patch-id --stable` unless a file is binary, empty, or renamed with changes (libgit2 1.9).
    pub fn patch_id(&self, from: Oid, to: Oid) -> Result<Option<Oid>, Rejection> {
        let (old, new) = (self.tree(from)?, self.tree(to)?);
        let diff = self.diff(Some(&old), Some(&new))?.0.filter(|diff| diff.deltas().len() > 0);
        Ok(diff.map(|diff| diff.patchid(None)).transpose()?)
    }

    /// Measures the differences between two trees.
    pub(super) fn extent(&self, old: Option<&Tree<'_>>, new: Option<&Tree<'_>>) -> Result<Extent, Rejection> {
        let (mut first, mut count) = (Vec::new(), 0);
        let (mut added, mut deleted) = (Vec::new(), Vec::new());
        let id = |tree: Option<&Tree<'_>>| tree.map(Tree::id);
        let is_complete = TreeComparison::new(self).files(id(old), id(new), &mut |FileChange { path, old, new }| {
            count += 1;
            match (old, new) {
                (None, Some(entry)) if entry.kind() != Kind::Module => added.push(entry.id),
                (Some(entry), None) if entry.kind() != Kind::Module => deleted.push(entry.id),
                _ => {}
            }
            if first.len() < MAX_FILES {
                let parts = |entry: Entry<'_>| (entry.mode, entry.id);
                first.push(ChangedFile { path: path.to_vec(), old: old.map(parts), new: new.map(parts) });
            }
            ControlFlow::Continue(())
        })?;
        let exact_limit = MAX_EXACT_PAIRS / added.len().max(1);
        let has_exact = drop_common(&mut added, &mut deleted);
        let renames_are_costly = is_complete && self.renames_are_costly(&added, &deleted)?;
        Ok(Extent {
            first,
            count,
            is_cut: !is_complete,
            exact_limit: has_exact.then_some(exact_limit),
            renames_are_costly,
        })
    }

    fn renames_are_costly(&self, added: &[Oid], deleted: &[Oid]) -> Result<bool, Rejection> {
        if added.is_empty() || deleted.is_empty() {
            return Ok(false);
        }
        if added.len().saturating_mul(deleted.len().min(RENAME_LIMIT)) > MAX_RENAME_PAIRS {
            return Ok(true);
        }
        let mut bytes = 0usize;
        for id in added.iter().chain(deleted) {
            self.stop.check()?;
            // A damaged file cannot be compared. It is reported when it is read.
            let size = match self.header(*id) {
                Ok((size, _)) => size,
                Err(error) if is_partial(&error) => return Err(error.into()),
                Err(_) => usize::MAX,
            };
            bytes = bytes.saturating_add(size);
            if size > MAX_RENAMED_FILE_BYTES || bytes > MAX_RENAME_BYTES {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn tree_of(&self, commit: Option<Oid>) -> Result<Option<Tree<'_>>, Rejection> {
        // A parent that is missing in a shallow clone counts as empty.
        let Some(commit) = commit.filter(|id| self.has_commit(*id)) else { return Ok(None) };
        Ok(Some(self.tree(commit)?))
    }

    /// Returns the changes from one commit to another, or from an empty tree if there is no first one.
    pub fn changes(&self, old: Option<Oid>, new: Oid) -> Result<Changes, Rejection> {
        self.changes_within(old, new, MAX_TOTAL_DIFF_BYTES)
    }

    /// Returns the changes with a limit of `bytes_left` for all diffs together; the last diff may exceed it.
    pub(super) fn changes_within(
        &self,
        old: Option<Oid>,
        new: Oid,
        mut bytes_left: usize,
    ) -> Result<Changes, Rejection> {
        let (old, new) = (self.tree_of(old)?, self.tree_of(Some(new))?);
        let (diff, extent) = self.diff(old.as_ref(), new.as_ref())?;
        let count = diff.as_ref().map_or(extent.count, |diff| diff.deltas().len());
        let one = |at| {
            self.stop.check()?;
            let entry = match (&diff, extent.first.get(at)) {
                (Some(diff), _) => {
                    self.check_files(diff, at)?;
                    entry(diff, at, bytes_left)?
                }
                (None, Some(file)) => self.entry_of(file, bytes_left)?,
                (None, None) => DiffEntry::default(),
            };
            bytes_left -= entry.diff.len().min(bytes_left);
            Ok(entry)
        };
        let entries = (0..count.min(MAX_FILES)).map(one).collect::<Result<Vec<_>, Rejection>>()?;
        let overflow = extent.is_cut || count > MAX_FILES || bytes_left == 0;
        Ok(Changes { entries, count, overflow })
    }

    /// Returns the changes from one commit to another as git prints them.
    ///
    /// # Errors
    /// Fails with 413 if they are too large.
    pub fn patch(&self, old: Oid, new: Oid) -> Result<Vec<u8>, Rejection> {
        let too_large = || Rejection::too_large(&format!("the diff exceeds {MAX_TOTAL_DIFF_BYTES} bytes"));
        let (old, new) = (self.tree_of(Some(old))?, self.tree_of(Some(new))?);
        let (Some(diff), _) = self.diff(old.as_ref(), new.as_ref())? else { return Err(too_large()) };
        let mut text = Vec::new();
        for at in 0..diff.deltas().len() {
            self.stop.check()?;
            self.check_files(&diff, at)?;
            if let Some(mut patch) = Patch::from_diff(&diff, at)? {
                text.extend_from_slice(&patch.to_buf()?);
            }
            if text.len() > MAX_TOTAL_DIFF_BYTES {
                return Err(too_large());
            }
        }
        Ok(text)
    }

    /// Checks the files of a change before libgit2 reads them.
    fn check_files(&self, diff: &Diff<'_>, at: usize) -> Result<(), Rejection> {
        let Some(delta) = diff.get_delta(at) else { return Ok(()) };
        for file in [delta.old_file(), delta.new_file()] {
            if file.exists() && file.mode() != FileMode::Commit {
                self.header(file.id())?;
            }
        }
        Ok(())
    }

    /// Returns the entry of a file of a diff that is cut, without detecting renames.
    fn entry_of(&self, file: &ChangedFile, bytes_left: usize) -> Result<DiffEntry, Rejection> {
        let path = lossy(&file.path);
        let mode = |side: Option<(u32, Oid)>| Some(format!("{:o}", side.map_or(0, |(mode, _)| mode)));
        let mut out = DiffEntry {
            old_path: path.clone(),
            new_path: path.clone(),
            a_mode: mode(file.old),
            b_mode: mode(file.new),
            new_file: file.old.is_none(),
            deleted_file: file.new.is_none(),
            ..empty_entry()
        };
        let mut texts = Vec::new();
        for side in [file.old, file.new] {
            let is_module = side.is_some_and(|(mode, _)| mode & 0o170_000 == 0o160_000);
            let Some((_, id)) = side.filter(|_| !is_module) else {
                texts.push(Vec::new());
                continue;
            };
            if bytes_left == 0 || self.header(id)?.0 as u64 > MAX_FILE_BYTES as u64 {
                out.too_large = Some(true);
                return Ok(out);
            }
            texts.push(self.read_blob(id)?.content().to_vec());
        }
        let mut options = DiffOptions::new();
        options.context_lines(3).indent_heuristic(true);
        let [old, new] = texts.as_slice() else { return Ok(out) };
        let mut patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
        let text = patch.to_buf()?;
        let name = |prefix: &str, exists: bool| match exists {
            true => format!("{prefix}/{path}"),
            false => "/dev/null".to_owned(),
        };
        let (old_name, new_name) = (name("a", !out.new_file), name("b", !out.deleted_file));
        if text.len() > MAX_FILE_DIFF_BYTES {
            out.too_large = Some(true);
        } else if let Some(start) = memchr::memmem::find(&text, b"\n@@ ") {
            let hunks = trim_headers(lossy(text.get(start + 1..).unwrap_or_default()));
            out.diff = format!("--- {old_name}\n+++ {new_name}\n{hunks}");
        } else if memchr::memmem::find(&text, b"\nBinary files ").is_some() {
            out.diff = format!("Binary files {old_name} and {new_name} differ\n");
        }
        Ok(out)
    }

    /// Returns the number of files that changed from one commit to another, as far as the bounds of trees allow.
    pub fn count_changes(&self, old: Oid, new: Oid) -> Result<usize, Rejection> {
        let (old, new) = (self.tree_of(Some(old))?, self.tree_of(Some(new))?);
        let (diff, extent) = self.diff(old.as_ref(), new.as_ref())?;
        Ok(diff.map_or(extent.count, |diff| diff.deltas().len()))
    }

    /// Returns the changes of a commit compared to its first parent.
    pub fn commit_changes(&self, id: Oid) -> Result<Changes, Rejection> {
        self.changes(self.find_commit(id)?.parent(), id)
    }

    /// Returns the numbers of lines that a commit added and deleted compared to its first parent; `None` if the changes
    /// exceed the bounds of trees.
    pub fn line_counts(&self, id: Oid) -> Result<Option<(u64, u64)>, Rejection> {
        LineCounter::new(self).count(id)
    }

    /// Counts lines by a whole diff, which [`Git::line_counts`] avoids if no file can have been renamed.
    pub(super) fn diff_stats(&self, id: Oid) -> Result<Option<(u64, u64)>, Rejection> {
        let parent = self.find_commit(id)?.parent();
        let (old, new) = (self.tree_of(parent)?, self.tree_of(Some(id))?);
        let (Some(diff), _) = self.diff(old.as_ref(), new.as_ref())? else { return Ok(None) };
        let mut lines = (0, 0);
        for at in 0..diff.deltas().len() {
            self.stop.check()?;
            self.check_files(&diff, at)?;
            let Some(patch) = Patch::from_diff(&diff, at)? else { continue };
            let (_, added, deleted) = patch.line_stats()?;
            lines = (lines.0 + added as u64, lines.1 + deleted as u64);
        }
        Ok(Some(lines))
    }
}

impl Extent {
    /// Marks renamed files in a diff of the two trees. Like git, it pairs identical files first, so that none of them is
    /// taken for a changed one.
    pub fn find_renames(&self, diff: &mut Diff<'_>, threshold: u16) -> Result<(), git2::Error> {
        let mut find = DiffFindOptions::new();
        find.renames(true).rename_threshold(threshold).dont_ignore_whitespace(true);
        if let Some(limit) = self.exact_limit {
            diff.find_similar(Some(find.rename_limit(limit).exact_match_only(true)))?;
        }
        if !self.renames_are_costly {
            diff.find_similar(Some(find.rename_limit(RENAME_LIMIT).exact_match_only(false)))?;
        }
        Ok(())
    }
}

/// Removes what two lists have in common, and returns whether that is anything.
fn drop_common(one: &mut Vec<Oid>, other: &mut Vec<Oid>) -> bool {
    let (mut left, before) = (HashMap::<Oid, usize>::new(), one.len());
    other.iter().for_each(|id| *left.entry(*id).or_default() += 1);
    let mut take = |id: &Oid| left.get_mut(id).filter(|count| **count > 0).map(|count| *count -= 1).is_some();
    one.retain(|id| !take(id));
    other.retain(take);
    one.len() < before
}

/// Removes the blanks at the end of the headers of hunks, as git does: libgit2 leaves them where it cuts a header.
fn trim_headers(diff: String) -> String {
    let is_cut = |line: &str| line.starts_with("@@ ") && line.ends_with([' ', '\t']);
    if !diff.lines().any(is_cut) {
        return diff;
    }
    let trimmed = |line: &str| match line.strip_suffix('\n') {
        Some(text) if is_cut(text) => format!("{}\n", text.trim_end_matches([' ', '\t'])),
        _ => line.to_owned(),
    };
    diff.split_inclusive('\n').map(trimmed).collect()
}

/// Returns an entry whose diff is neither too large nor left out.
fn empty_entry() -> DiffEntry {
    let (collapsed, too_large, generated_file) = (Some(false), Some(false), Some(false));
    DiffEntry { collapsed, too_large, generated_file, ..DiffEntry::default() }
}

/// Returns the entry of one file, without its diff if no bytes are left.
fn entry(diff: &Diff<'_>, at: usize, bytes_left: usize) -> Result<DiffEntry, Rejection> {
    let Some(delta) = diff.get_delta(at) else { return Ok(DiffEntry::default()) };
    let path = |file: git2::DiffFile<'_>| file.path_bytes().map(lossy).unwrap_or_default();
    let mode = |file: git2::DiffFile<'_>| format!("{:o}", u32::from(file.mode()));
    let (old_file, new_file) = (delta.old_file(), delta.new_file());
    let mut out = DiffEntry {
        old_path: path(delta.old_file()),
        new_path: path(delta.new_file()),
        a_mode: Some(mode(old_file)),
        b_mode: Some(mode(new_file)),
        new_file: delta.status() == Delta::Added,
        renamed_file: delta.status() == Delta::Renamed,
        deleted_file: delta.status() == Delta::Deleted,
        ..empty_entry()
    };
    if bytes_left == 0 {
        out.too_large = Some(true);
        return Ok(out);
    }
    let patch = Patch::from_diff(diff, at)?;
    // The size of a file is known only now; the content of a large one was not read.
    let largest = delta.old_file().size().max(delta.new_file().size());
    if i64::try_from(largest).is_ok_and(|size| size > MAX_FILE_BYTES) {
        out.too_large = Some(true);
        return Ok(out);
    }
    if let Some(mut patch) = patch {
        let text = patch.to_buf()?;
        let text: &[u8] = &text;
        // A pure rename or mode change has neither.
        let starts = ["\n--- ", "\nBinary files "];
        let mut starts = starts.into_iter().filter_map(|start| memchr::memmem::find(text, start.as_bytes()));
        if text.len() > MAX_FILE_DIFF_BYTES {
            out.too_large = Some(true);
        } else if let Some(start) = starts.next() {
            out.diff = trim_headers(lossy(text.get(start + 1..).unwrap_or_default()));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::{Dice, has_git, write_commit};
    use git2::Repository;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// Returns the changes of a commit as git prints them: the renames, and the diffs of files.
    fn of_git(repository: &Path, commit: &str) -> Vec<String> {
        let arguments = ["diff-tree", "-r", "-p", "--root", "--no-commit-id", "--no-color", "--no-ext-diff", "-M30%"];
        let output = Command::new("git")
            .arg("-C")
            .arg(repository)
            .args(["-c", "core.quotePath=false"])
            .args(arguments)
            .args(["-m", "--first-parent", commit])
            .output()
            .unwrap();
        let text = lossy(&output.stdout);
        let text = format!("\n{text}");
        let files = text.split("\ndiff --git ").skip(1);
        files
            .filter_map(|file| Some(format!("{}{}", renames(file), file.get(file.find("\n--- ")? + 1..)?.trim_end())))
            .collect()
    }

    /// Removes the tab by which git ends a name with blanks.
    fn without_tab(line: &str) -> &str {
        let is_name = line.starts_with("--- ") || line.starts_with("+++ ");
        if is_name { line.trim_end_matches('\t') } else { line }
    }

    fn renames(head: &str) -> String {
        head.lines()
            .take_while(|line| !line.starts_with("@@"))
            .filter(|line| line.starts_with("rename "))
            .map(|line| format!("{line}\n"))
            .collect()
    }

    fn of_labscope(git: &Git, commit: Oid) -> Vec<String> {
        let changes = git.commit_changes(commit).unwrap();
        let text = |entry: &DiffEntry| {
            let rename = format!("rename from {}\nrename to {}\n", entry.old_path, entry.new_path);
            format!("{}{}", if entry.renamed_file { &rename } else { "" }, entry.diff.trim_end())
        };
        changes.entries.iter().filter(|entry| !entry.diff.is_empty()).map(text).collect()
    }

    /// Returns the number of diffs of files that equal those of git, and that of all, in the latest commits of a
    /// repository.
    fn compare(repository: &Path, commits: usize) -> (usize, usize) {
        let git = Git::open(git2::Repository::open(repository).unwrap().path(), None).unwrap();
        let list = Command::new("git")
            .arg("-C")
            .arg(repository)
            .args(["rev-list", "--no-merges", "-n", &commits.to_string(), "HEAD"])
            .output();
        let (mut equal, mut all) = (0, 0);
        for commit in lossy(&list.unwrap().stdout).lines() {
            let theirs = of_git(repository, commit);
            let mut ours = of_labscope(&git, Oid::from_str(commit).unwrap());
            all += theirs.len();
            for diff in theirs {
                let same = |ours: &String| ours.lines().map(without_tab).eq(diff.lines().map(without_tab));
                match ours.iter().position(same) {
                    Some(at) => {
                        equal += 1;
                        ours.swap_remove(at);
                    }
                    None => println!("{commit}: {}", diff.lines().next().unwrap_or_default()),
                }
            }
        }
        (equal, all)
    }

    #[test]
    fn diffs_equal_those_of_git() {
        if !has_git() {
            return;
        }
        // Other repositories: LABSCOPE_REPOSITORIES=/path/one:/path/two.
        for repository in std::env::split_paths(&std::env::var_os("LABSCOPE_REPOSITORIES").unwrap_or_default())
            .filter(|path| *path != PathBuf::new())
        {
            let (equal, all) = compare(&repository, 500);
            println!("{}: {equal} of {all} diffs of files are equal", repository.display());
            assert!(equal * 100 >= all * 99, "{equal} of {all}");
        }
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        let mut dice = Dice(7);
        // Blocks with few different lines, so that changes can be placed in several ways.
        let line = |n: usize| {
            ["fn a() {", "    let x = 1;", "    if x {", "        y();", "    }", "}", "", "/// A word."][n % 8]
        };
        let mut lines: Vec<&str> = (0..120).map(line).collect();
        let mut parent = None;
        for n in 0..60 {
            for _ in 0..1 + dice.below(4) {
                let at = dice.below(lines.len() - 8);
                match dice.below(2) {
                    0 => drop(lines.drain(at..at + dice.below(8))),
                    _ => drop(lines.splice(at..at, (at..at + 8 + dice.below(8)).map(line))),
                }
            }
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let parents: Vec<Oid> = parent.into_iter().collect();
            parent = Some(write_commit(&repo, n, 1_500_000_000 + n as i64, &parents, &[("a.rs", &text)]));
        }
        repo.reference("refs/heads/main", parent.unwrap(), true, "").unwrap();
        repo.set_head("refs/heads/main").unwrap();
        let (equal, all) = compare(folder.path(), 100);
        assert!(equal == all && all > 50, "{equal} of {all}");
    }

    #[test]
    fn headers_that_are_cut_end_without_blanks() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn name( \n+@@ kept \n - x \n";
        assert_eq!(trim_headers(diff.into()), "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ fn name(\n+@@ kept \n - x \n");
    }
}
