//! Merges and rebases, and transfer of objects from forks. No work tree is needed.

use super::change::Author;
use super::{Commit, Git};
use crate::records::MergeMethod;
use crate::rejection::Rejection;
use git2::{Index, Oid, Tree};
use std::io::Write;

/// The maximum number of commits that are rebased.
const MAX_REBASED: usize = 5_000;

pub struct NewMerge<'a> {
    /// The head of the target branch.
    pub target: Oid,
    /// The merge base.
    pub base: Oid,
    /// The head of the source branch.
    pub head: Oid,
    pub method: MergeMethod,
    /// The message and the author of the squash commit; `None` keeps all commits.
    pub squash: Option<(&'a str, Author)>,
    pub message: &'a str,
    pub committer: Author,
}

/// The commits of a merge.
pub struct MergeCommits {
    /// The new head of the target branch.
    pub tip: Oid,
    pub merge_commit: Option<Oid>,
    pub squash_commit: Option<Oid>,
}

impl Git {
    /// Returns whether `source` can be merged into `target` without conflicts.
    pub fn merges_cleanly(&self, target: Oid, source: Oid) -> bool {
        self.merged(target, source).is_ok_and(|index| !index.has_conflicts())
    }

    fn merged(&self, target: Oid, source: Oid) -> Result<Index, Rejection> {
        for commit in [target, source] {
            self.check_tree(self.find_commit(commit)?.tree_id)?;
        }
        if let Some(base) = self.merge_base(target, source)? {
            self.check_tree(self.find_commit(base)?.tree_id)?;
        }
        let (target, source) = (self.repo.find_commit(target)?, self.repo.find_commit(source)?);
        Ok(self.repo.merge_commits(&target, &source, None)?)
    }

    /// Writes the tree of an index; `None` if it has conflicts.
    fn write_clean(&self, mut index: Index) -> Result<Option<Oid>, git2::Error> {
        if index.has_conflicts() { Ok(None) } else { index.write_tree_to(&self.repo).map(Some) }
    }

    /// Returns the tree after applying the changes of a commit to another tree; `None` if they conflict.
    pub(super) fn apply_commit(&self, commit: &Commit, onto: &Tree<'_>) -> Result<Option<Oid>, Rejection> {
        let (before, after) = self.ends_of(commit)?;
        self.apply_changes(&before, &after, onto)
    }

    /// Returns the tree after reverting the changes of a commit in another tree; `None` if they conflict.
    pub(super) fn unapply_commit(&self, commit: &Commit, onto: &Tree<'_>) -> Result<Option<Oid>, Rejection> {
        let (before, after) = self.ends_of(commit)?;
        self.apply_changes(&after, &before, onto)
    }

    /// Returns the trees before and after a commit.
    fn ends_of(&self, commit: &Commit) -> Result<(Tree<'_>, Tree<'_>), Rejection> {
        let before = match commit.parent() {
            Some(parent) => self.tree(parent)?,
            None => self.empty_tree()?,
        };
        Ok((before, self.folder(commit.tree_id)?))
    }

    fn apply_changes(&self, before: &Tree<'_>, after: &Tree<'_>, onto: &Tree<'_>) -> Result<Option<Oid>, Rejection> {
        for tree in [before, onto, after] {
            self.check_tree(tree.id())?;
        }
        Ok(self.write_clean(self.repo.merge_trees(before, onto, after, None)?)?)
    }

    /// Creates the commits of a merge; `None` if the branches conflict, or the source must be rebased first. Does not
    /// move branches.
    pub fn merge(&self, new: &NewMerge<'_>) -> Result<Option<MergeCommits>, Rejection> {
        let is_ahead = new.base == new.target;
        if new.method != MergeMethod::Merge && !is_ahead {
            return Ok(None);
        }
        let committer = new.committer.signature();
        let source = match &new.squash {
            Some((message, author)) => {
                let tree = self.find_commit(new.head)?.tree_id;
                self.write_commit((&author.signature(), &committer), message, tree, &[new.base])?
            }
            None => new.head,
        };
        let squash_commit = new.squash.is_some().then_some(source);
        if new.method == MergeMethod::FastForward {
            return Ok(Some(MergeCommits { tip: source, merge_commit: None, squash_commit }));
        }
        let Some(tree) = self.write_clean(self.merged(new.target, source)?)? else { return Ok(None) };
        let id = self.write_commit((&committer, &committer), new.message, tree, &[new.target, source])?;
        Ok(Some(MergeCommits { tip: id, merge_commit: Some(id), squash_commit }))
    }

    /// Rebases the commits of `head` onto `onto`, without merges and without commits that change nothing there. Returns
    /// the last new commit; `None` if one conflicts. Does not move branches.
    pub fn rebase(&self, head: Oid, onto: Oid, committer: &Author) -> Result<Option<Oid>, Rejection> {
        let (commits, has_more) = self.between(onto, head, MAX_REBASED)?;
        if has_more {
            return Ok(None);
        }
        let (committer, mut tip) = (committer.signature(), onto);
        for id in commits.into_iter().rev() {
            self.stop.check()?;
            let commit = self.find_commit(id)?;
            if commit.parents.len() > 1 {
                continue;
            }
            let onto = self.tree(tip)?;
            let Some(tree) = self.apply_commit(&commit, &onto)? else { return Ok(None) };
            if tree != onto.id() {
                tip = self.write_commit((&commit.author, &committer), &commit.message, tree, &[tip])?;
            }
        }
        Ok(Some(tip))
    }

    /// Copies the objects that are reachable from `head` but not from `known` from the alternate repositories.
    pub fn copy_missing_objects(&self, head: Oid, known: Oid) -> Result<(), Rejection> {
        // libgit2 recurses into folders.
        for commit in self.history(head, known)?.iter() {
            self.check_tree(commit.tree)?;
        }
        let mut walk = self.repo.revwalk()?;
        walk.push(head)?;
        walk.hide(known)?;
        let mut pack = self.repo.packbuilder()?;
        pack.insert_walk(&mut walk)?;
        if pack.object_count() == 0 {
            return Ok(());
        }
        let odb = self.repo.odb()?;
        let mut writer = odb.packwriter()?;
        let mut failure = None;
        pack.foreach(|bytes| match writer.write_all(bytes) {
            Ok(()) => true,
            Err(error) => {
                failure = Some(error);
                false
            }
        })?;
        if let Some(error) = failure {
            return Err(Rejection::internal_error(error));
        }
        writer.commit()?;
        Ok(())
    }
}
