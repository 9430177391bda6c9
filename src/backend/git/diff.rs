//! The differences between two trees as the API represents them: hunks below `---` and `+++`, without `diff --git`.

use super::lines::LineCounter;
use super::{Git, lossy};
use crate::api::commits::DiffEntry;
use crate::backend::rejection::Rejection;
use git2::{Delta, Diff, DiffFindOptions, DiffOptions, Oid, Patch, Tree};

/// The maximum size in bytes of a file that is diffed; larger ones are reported as too large.
pub(super) const MAX_FILE_BYTES: i64 = 8 << 20;
/// The maximum length in bytes of the diff of one file.
const MAX_FILE_DIFF_BYTES: usize = 2 << 20;
/// The maximum length in bytes of all diffs together: a reply is in memory as a whole.
const MAX_TOTAL_DIFF_BYTES: usize = 32 << 20;
/// The maximum number of files that are listed.
const MAX_FILES: usize = 5_000;
/// The maximum number of deleted files that are compared with each added file, to detect renames.
const RENAME_LIMIT: usize = 400;

/// The changes between two trees.
pub struct Changes {
    pub entries: Vec<DiffEntry>,
    /// The number of changed files, including those left out.
    pub count: usize,
    /// Whether a limit for all files together was reached; a single large file is only marked as too large.
    pub overflow: bool,
}

impl Git {
    fn diff<'a>(&'a self, old: Option<&Tree<'a>>, new: Option<&Tree<'a>>) -> Result<Diff<'a>, Rejection> {
        let mut options = DiffOptions::new();
        options.max_size(MAX_FILE_BYTES).context_lines(3);
        let mut diff = self.repo.diff_tree_to_tree(old, new, Some(&mut options))?;
        let mut find = DiffFindOptions::new();
        diff.find_similar(Some(find.renames(true).rename_limit(RENAME_LIMIT)))?;
        Ok(diff)
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
        let diff = self.diff(old.as_ref(), new.as_ref())?;
        let count = diff.deltas().len();
        let one = |at| {
            self.stop.check()?;
            let entry = entry(&diff, at, bytes_left)?;
            bytes_left -= entry.diff.len().min(bytes_left);
            Ok(entry)
        };
        let entries = (0..count.min(MAX_FILES)).map(one).collect::<Result<Vec<_>, Rejection>>()?;
        Ok(Changes { entries, count, overflow: count > MAX_FILES || bytes_left == 0 })
    }

    /// Returns the number of files that changed from one commit to another.
    pub fn count_changes(&self, old: Oid, new: Oid) -> Result<usize, Rejection> {
        let (old, new) = (self.tree_of(Some(old))?, self.tree_of(Some(new))?);
        Ok(self.diff(old.as_ref(), new.as_ref())?.deltas().len())
    }

    /// Returns the changes of a commit compared to its first parent.
    pub fn commit_changes(&self, id: Oid) -> Result<Changes, Rejection> {
        self.changes(self.find_commit(id)?.parent(), id)
    }

    /// Returns the numbers of lines that a commit added and deleted compared to its first parent.
    pub fn line_counts(&self, id: Oid) -> Result<(u64, u64), Rejection> {
        LineCounter::new(self).count(id)
    }

    /// Counts lines by a whole diff, which [`Git::line_counts`] avoids if no file can have been renamed.
    pub(super) fn diff_stats(&self, id: Oid) -> Result<(u64, u64), Rejection> {
        let parent = self.find_commit(id)?.parent();
        let (old, new) = (self.tree_of(parent)?, self.tree_of(Some(id))?);
        let stats = self.diff(old.as_ref(), new.as_ref())?.stats()?;
        Ok((stats.insertions() as u64, stats.deletions() as u64))
    }
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
        ..DiffEntry::default()
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
    // Binary files have no patch; a pure rename or mode change has a patch without hunks.
    if let Some(mut patch) = patch
        && patch.num_hunks() > 0
    {
        let text = patch.to_buf()?;
        let text: &[u8] = &text;
        if text.len() > MAX_FILE_DIFF_BYTES {
            out.too_large = Some(true);
        } else if let Some(start) = memchr::memmem::find(text, b"\n--- ") {
            out.diff = lossy(text.get(start + 1..).unwrap_or_default());
        }
    }
    Ok(out)
}
