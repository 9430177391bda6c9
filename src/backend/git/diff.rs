//! What changed between two trees, in the text of the interface: hunks below `---` and `+++`, no `diff --git`.

use super::lines::LineCounter;
use super::{Git, lossy};
use crate::api::commits::DiffEntry;
use crate::backend::reject::Reject;
use git2::{Delta, Diff, DiffFindOptions, DiffOptions, Oid, Patch, Tree};

/// Files of which no text is made: they count as too large.
pub(super) const LARGEST_FILE: i64 = 8 << 20;
/// The longest text of one file.
const LONGEST_TEXT: usize = 2 << 20;
/// The longest text of all files together: an answer is in memory as a whole.
const LONGEST_DIFF: usize = 32 << 20;
/// How many files are told of.
const MOST_FILES: usize = 5_000;
/// Beyond this many pairs of added and deleted files renames are not looked for: it takes too long.
const RENAME_LIMIT: usize = 400;

/// The changes between two trees.
pub struct Changes {
    pub entries: Vec<DiffEntry>,
    /// How many files changed, those left out too.
    pub count: usize,
    /// Whether files, or the texts of some, were left out.
    pub overflow: bool,
}

impl Git {
    fn diff<'a>(&'a self, old: Option<&Tree<'a>>, new: Option<&Tree<'a>>) -> Result<Diff<'a>, Reject> {
        let mut options = DiffOptions::new();
        options.max_size(LARGEST_FILE).context_lines(3);
        let mut diff = self.repo.diff_tree_to_tree(old, new, Some(&mut options))?;
        let mut find = DiffFindOptions::new();
        diff.find_similar(Some(find.renames(true).rename_limit(RENAME_LIMIT)))?;
        Ok(diff)
    }

    fn tree_of(&self, commit: Option<Oid>) -> Result<Option<Tree<'_>>, Reject> {
        // A parent that a shallow clone does not have counts as empty.
        let Some(commit) = commit.filter(|id| self.has_commit(*id)) else { return Ok(None) };
        Ok(Some(self.tree(commit)?))
    }

    /// Returns what changed from one commit to another; from nothing where there is no first one.
    pub fn changes(&self, old: Option<Oid>, new: Oid) -> Result<Changes, Reject> {
        self.changes_within(old, new, LONGEST_DIFF)
    }

    /// The same, with so much room for the texts of all files together.
    pub(super) fn changes_within(&self, old: Option<Oid>, new: Oid, mut left: usize) -> Result<Changes, Reject> {
        let (old, new) = (self.tree_of(old)?, self.tree_of(Some(new))?);
        let diff = self.diff(old.as_ref(), new.as_ref())?;
        let count = diff.deltas().len();
        let one = |at| {
            self.stop.go_on()?;
            let entry = entry(&diff, at, left)?;
            left -= entry.diff.len().min(left);
            Ok(entry)
        };
        let entries = (0..count.min(MOST_FILES)).map(one).collect::<Result<Vec<_>, Reject>>()?;
        Ok(Changes { entries, count, overflow: count > MOST_FILES || left == 0 })
    }

    /// Returns how many files changed from one commit to another.
    pub fn count_changes(&self, old: Oid, new: Oid) -> Result<usize, Reject> {
        let (old, new) = (self.tree_of(Some(old))?, self.tree_of(Some(new))?);
        Ok(self.diff(old.as_ref(), new.as_ref())?.deltas().len())
    }

    /// Returns what a commit changed against its first parent.
    pub fn commit_changes(&self, id: Oid) -> Result<Changes, Reject> {
        self.changes(self.find_commit(id)?.parent(), id)
    }

    /// Lines that a commit added and deleted against its first parent.
    pub fn line_counts(&self, id: Oid) -> Result<(u64, u64), Reject> {
        LineCounter::new(self).count(id)
    }

    /// The same, where files may have got new names.
    pub(super) fn compared_line_counts(&self, id: Oid) -> Result<(u64, u64), Reject> {
        let parent = self.find_commit(id)?.parent();
        let (old, new) = (self.tree_of(parent)?, self.tree_of(Some(id))?);
        let stats = self.diff(old.as_ref(), new.as_ref())?.stats()?;
        Ok((stats.insertions() as u64, stats.deletions() as u64))
    }
}

/// One file; its text where there is room for it.
fn entry(diff: &Diff<'_>, at: usize, room: usize) -> Result<DiffEntry, Reject> {
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
    let largest = delta.old_file().size().max(delta.new_file().size());
    if room == 0 || i64::try_from(largest).is_ok_and(|size| size > LARGEST_FILE) {
        out.too_large = Some(true);
        return Ok(out);
    }
    // Binary files have no patch; of a rename or a change of mode alone the patch has no hunk.
    if let Some(mut patch) = Patch::from_diff(diff, at)?
        && patch.num_hunks() > 0
    {
        let text = patch.to_buf()?;
        let text: &[u8] = &text;
        if text.len() > LONGEST_TEXT {
            out.too_large = Some(true);
        } else if let Some(start) = memchr::memmem::find(text, b"\n--- ") {
            out.diff = lossy(text.get(start + 1..).unwrap_or_default());
        }
    }
    Ok(out)
}
