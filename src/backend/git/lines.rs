//! Counts the lines that commits added and deleted. Neighboring commits share most of their folders, and each folder is
//! read only once for all of them.

use super::Git;
use super::diff::MAX_FILE_BYTES;
use super::tree_changes::{Kind, TreeComparison};
use crate::rejection::Rejection;
use git2::{DiffOptions, Oid, Patch};
use std::ops::ControlFlow;

/// A counter of the lines that commits change.
pub(super) struct LineCounter<'g> {
    git: &'g Git,
    trees: TreeComparison<'g>,
}

/// A blob before and after a change.
type Change = (Option<Oid>, Option<Oid>);

/// The files that differ between two trees.
enum Files {
    All(Vec<Change>),
    /// There could be renames, or an entry is a submodule or changes its type.
    Mixed,
    /// The bounds of trees are exceeded.
    TooMany,
}

impl<'g> LineCounter<'g> {
    pub fn new(git: &'g Git) -> LineCounter<'g> {
        LineCounter { git, trees: TreeComparison::new(git) }
    }

    /// Returns the numbers of lines that a commit added and deleted compared to its first parent; `None` if the changes
    /// exceed the bounds of trees.
    pub fn count(&mut self, id: Oid) -> Result<Option<(u64, u64)>, Rejection> {
        let git = self.git;
        let (tree, parent) = git.raw_commit(id, |raw| (raw.tree, raw.parents.first().copied()))?;
        // A parent that is missing in a shallow clone counts as empty.
        let old = parent.filter(|id| git.has_commit(*id)).map(|id| git.raw_commit(id, |raw| raw.tree)).transpose()?;
        let files = match self.changed_files(old, tree)? {
            Files::All(files) => files,
            Files::Mixed => return git.diff_stats(id),
            Files::TooMany => return Ok(None),
        };
        let mut lines = (0, 0);
        for change in files {
            git.stop.check()?;
            let (added, deleted) = self.changed_lines(change)?;
            lines = (lines.0 + added, lines.1 + deleted);
        }
        Ok(Some(lines))
    }

    fn changed_files(&mut self, old: Option<Oid>, new: Oid) -> Result<Files, Rejection> {
        let mut files = Vec::new();
        let (mut has_added, mut has_deleted, mut is_mixed) = (false, false, false);
        let is_complete = self.trees.files(old, Some(new), &mut |change| {
            let kinds = [change.old, change.new].map(|entry| entry.map(|entry| entry.kind()));
            let ids = (change.old.map(|entry| entry.id), change.new.map(|entry| entry.id));
            has_added |= change.old.is_none();
            has_deleted |= change.new.is_none();
            is_mixed |= has_added && has_deleted
                || kinds.contains(&Some(Kind::Module))
                || matches!(kinds, [Some(before), Some(after)] if before != after);
            // If the IDs are the same, only the mode differs.
            if ids.0 != ids.1 {
                files.push(ids);
            }
            if is_mixed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(match (is_mixed, is_complete) {
            (true, _) => Files::Mixed,
            (false, true) => Files::All(files),
            (false, false) => Files::TooMany,
        })
    }

    /// Returns the numbers of lines added and deleted between two blobs, of which one may be missing.
    fn changed_lines(&self, (old, new): Change) -> Result<(u64, u64), Rejection> {
        for id in [old, new].into_iter().flatten() {
            // The content of a large file is not read.
            if self.git.header(id)?.0 as u64 > MAX_FILE_BYTES as u64 {
                return Ok((0, 0));
            }
        }
        let find = |id: Option<Oid>| id.map(|id| self.git.repo().find_blob(id)).transpose();
        let (old, new) = (find(old)?, find(new)?);
        let mut options = DiffOptions::new();
        options.context_lines(0);
        let options = Some(&mut options);
        let (patch, is_turned) = match (&old, &new) {
            (Some(old), Some(new)) => (Patch::from_blobs(old, None, new, None, options)?, false),
            (Some(one), None) | (None, Some(one)) => {
                (Patch::from_blob_and_buffer(one, None, &[], None, options)?, old.is_none())
            }
            (None, None) => return Ok((0, 0)),
        };
        let (_, added, deleted) = patch.line_stats()?;
        let (added, deleted) = (added as u64, deleted as u64);
        Ok(if is_turned { (deleted, added) } else { (added, deleted) })
    }
}
