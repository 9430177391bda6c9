//! The comments on the commits of a merge request, which are shown among its notes.

use super::reads::MergeRequestReads;
use crate::api::commits::{CommitComment, ListCommitComments};
use crate::app::view::View;
use crate::store::Rows;

/// The maximum number of commits whose comments are loaded.
const MAX_COMMITS: usize = 10;

/// Returns the lists of comments on the newest commits.
pub fn lists(reads: &MergeRequestReads, view: &View) -> Vec<ListCommitComments> {
    let commits = view.store.list(&reads.commits());
    let newest = commits.iter().take(MAX_COMMITS);
    newest.map(|commit| ListCommitComments { id: reads.project.clone(), sha: commit.id.clone() }).collect()
}

/// Returns the loaded comments on the newest commits, with the SHA of each commit.
pub fn loaded<'a>(reads: &MergeRequestReads, view: &View<'a>) -> Vec<(String, Rows<'a, CommitComment>)> {
    lists(reads, view).into_iter().map(|list| (list.sha.clone(), view.store.list(&list))).collect()
}
