//! The files that both a merge request and its target branch changed, if they conflict.

use super::reads::MergeRequestReads;
use crate::api::commits::DiffEntry;
use crate::api::repository::CompareRefs;
use crate::app::view::View;
use crate::domain::merge_status;
use crate::store::{Load, Want};
use jiff::Timestamp;
use std::collections::HashSet;

/// The files changed by both the merge request and the target branch, if they conflict.
#[derive(Default)]
pub struct CommonChanges {
    /// When the two replies that this was computed from were received: of the target branch and of the merge request.
    inputs: Option<(Option<Timestamp>, Option<Timestamp>)>,
    pub paths: Vec<String>,
}

/// Returns the query for the changes of the target branch since the merge request was branched off; `None` without a
/// conflict.
fn target_changes(reads: &MergeRequestReads, view: &View) -> Option<CompareRefs> {
    let known = reads.known(view).filter(|known| known.is_open())?;
    if !known.merge_status().is_some_and(merge_status::is_conflict) {
        return None;
    }
    let from = known.diff_refs.as_ref()?.base_sha.clone().filter(|sha| !sha.is_empty())?;
    Some(CompareRefs { id: reads.project.clone(), from, to: known.target_branch().to_owned(), straight: Some(true) })
}

/// Returns the requests for the changes of both, if they conflict.
pub fn wants(reads: &MergeRequestReads, view: &View) -> Vec<Want> {
    let Some(compare) = target_changes(reads, view) else { return Vec::new() };
    [Load::single(&compare), Load::single(&reads.changes())].into_iter().map(|load| load.optional().into()).collect()
}

impl CommonChanges {
    /// Updates the files that both branches changed since they diverged. The API does not tell which of them conflict.
    pub fn sync(&mut self, reads: &MergeRequestReads, view: &View) {
        let theirs = target_changes(reads, view).map(|compare| view.store.get(&compare));
        let ours = view.store.get(&reads.changes());
        let inputs = theirs.as_ref().map(|theirs| (theirs.since, ours.since));
        if self.inputs == inputs {
            return;
        }
        let theirs = theirs.and_then(|theirs| theirs.value);
        let ours = ours.value.and_then(|changed| changed.changes.as_ref());
        let mut paths = Vec::new();
        if let (Some(theirs), Some(ours)) = (theirs, ours) {
            let ends = |entry: &DiffEntry| [entry.old_path.clone(), entry.new_path.clone()];
            let touched: HashSet<String> = theirs.diffs.iter().flat_map(ends).collect();
            let both =
                ours.iter().filter(|entry| touched.contains(&entry.old_path) || touched.contains(&entry.new_path));
            paths.extend(both.map(|entry| entry.new_path.clone()));
        }
        *self = CommonChanges { inputs, paths };
    }
}
