//! The stack that a merge request belongs to: what is below and above it, each level found with one request.

use crate::api::Id;
use crate::api::merge_requests::{ListProjectMergeRequests, MergeRequest};
use crate::app::view::View;
use crate::domain::stack::is_on;
use crate::store::{Load, Want};
use std::collections::{HashSet, VecDeque};

/// The maximum number of merge requests below, and above.
const MAX_LAYERS: usize = 10;

/// The stack of a merge request, as far as it is loaded.
#[derive(Default)]
pub struct Stack<'a> {
    /// The merge requests below, the nearest first.
    pub below: Vec<&'a MergeRequest>,
    /// The merge requests above, the nearest first.
    pub above: Vec<&'a MergeRequest>,
    lists: Vec<ListProjectMergeRequests>,
}

/// The open merge requests of a project with this source branch, or this target branch.
fn list(project: &Id, source: Option<&str>, target: Option<&str>) -> ListProjectMergeRequests {
    ListProjectMergeRequests {
        id: project.clone(),
        state: Some("opened".into()),
        source_branch: source.map(str::to_owned),
        target_branch: target.map(str::to_owned),
        ..ListProjectMergeRequests::default()
    }
}

impl<'a> Stack<'a> {
    /// Finds the stack of an open merge request of `project`. Circles are cut.
    pub fn of(view: &View<'a>, project: &Id, request: &'a MergeRequest) -> Stack<'a> {
        let mut stack = Stack::default();
        if !request.is_open() || request.source_branch().is_empty() {
            return stack;
        }
        let mut seen = HashSet::from([request.iid]);
        let mut lowest = request;
        while stack.below.len() < MAX_LAYERS && !lowest.target_branch().is_empty() {
            let below = list(project, Some(lowest.target_branch()), None);
            let found = view.store.list(&below).iter().find(|lower| is_on(lowest, lower) && !seen.contains(&lower.iid));
            stack.lists.push(below);
            let Some(lower) = found else { break };
            seen.insert(lower.iid);
            stack.below.push(lower);
            lowest = lower;
        }
        let mut waiting = VecDeque::from([request]);
        while let Some(lower) = waiting.pop_front().filter(|_| stack.above.len() < MAX_LAYERS) {
            if lower.is_from_fork() {
                continue;
            }
            let above = list(project, None, Some(lower.source_branch()));
            for upper in view.store.list(&above).iter().filter(|upper| is_on(upper, lower)) {
                if stack.above.len() < MAX_LAYERS && seen.insert(upper.iid) {
                    stack.above.push(upper);
                    waiting.push_back(upper);
                }
            }
            stack.lists.push(above);
        }
        stack
    }

    /// Returns whether there is anything below or above.
    pub fn is_empty(&self) -> bool {
        self.below.is_empty() && self.above.is_empty()
    }

    /// Returns the requests that find it.
    pub fn wants(&self) -> Vec<Want> {
        self.lists.iter().map(|list| Load::list(list, 1).optional().into()).collect()
    }
}
