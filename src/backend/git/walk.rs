//! A log that is walked on demand and can be continued later.
//!
//! The order is that of `git log --date-order`: newest first by committer date, and no commit before all of its
//! children. To be sure that a commit has no further children, git reads the whole history unless there is a
//! commit-graph file. With the file, this walk does the same as git, as that is cheap. Without it, the walk reads
//! [`READ_AHEAD`] commits ahead: a parent is listed too early only if its date is so wrong that more commits than that
//! lie between it and its child.
//!
//! The tests compare both ways with stock git.
//!
//! # From a query to its page
//!
//! 1. `Git::log_page` (`src/backend/git/history.rs`) takes the log of a query from the cache, or starts one. A `Log`
//!    owns its walk, holds no repository handle, and walks only as far as it is read. The next page continues from
//!    there. Cached logs are bounded in number and in bytes, and the least recently used are evicted first. No request
//!    walks a whole log only to count it.
//! 2. Walking a path works like `git log -- PATH`: if a merge has the same object at the path as one of its parents,
//!    only that parent is followed.
//! 3. Merge bases, comparisons and containment (`src/backend/git/graph.rs`) stop by generation number where it is
//!    known, otherwise by date with some slack.
//! 4. Blame (`src/backend/git/blame.rs`) follows the lines of a file on the same graph, through renames, and compares
//!    only versions that differ.
//! 5. Trees are read by one walk (`src/backend/git/tree.rs`) or compared by one (`src/backend/git/tree_changes.rs`),
//!    both within the bounds of a `TreeBudget`. libgit2 has no such bounds, so it compares or merges only trees that
//!    were measured before. Pack indexes are checked before libgit2 uses them (`src/backend/git/pack_index.rs`).
//! 6. Results that depend only on commits (changed lines, contributors, the number of commits) are cached by commit
//!    and never expire.

use super::commit_graph::UNKNOWN;
use super::graph::Graph;
use super::history::LogQuery;
use super::{Git, history};
use crate::rejection::Rejection;
use git2::Oid;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// The number of commits that are read ahead if there is no commit-graph file. Among the 80,000 commits of git itself,
/// the maximum distance by which a commit follows its parent by date is 58.
const READ_AHEAD: usize = 256;
/// The maximum number of folders whose entry on the path is cached.
const MAX_CACHED_FOLDERS: usize = 4_096;
/// The approximate size of a commit in memory, in bytes.
const NODE_BYTES: usize = 256;

/// A log, as far as it has been walked.
#[derive(Debug)]
pub struct Log {
    walk: Walk,
    since: Option<i64>,
    until: Option<i64>,
    author: Option<String>,
    /// The commits of a range that have not been walked yet.
    range: Option<HashSet<Oid>>,
    /// The commits found so far.
    pub found: Vec<Oid>,
    pub is_complete: bool,
    /// The number of consecutive commits that were too old.
    old: usize,
}

impl Log {
    pub fn new(git: &Git, query: &LogQuery) -> Result<Log, Rejection> {
        let walk = Walk::new(git, &query.from, query.path.as_deref(), query.first_parent)?;
        let (since, until, author) = (query.since, query.until, query.author.clone());
        let range = match (query.from.first(), query.without) {
            (Some(tip), Some(without)) => Some(git.history(*tip, without)?.iter().map(|node| node.id).collect()),
            _ => None,
        };
        let is_complete = range.as_ref().is_some_and(HashSet::is_empty);
        Ok(Log { walk, since, until, author, range, found: Vec::new(), is_complete, old: 0 })
    }

    /// Continues until `count` commits have been found, or all.
    ///
    /// # Errors
    /// Fails if a commit is missing, and with 499 after cancellation. The walk can be continued then.
    pub fn advance_to(&mut self, git: &Git, count: usize) -> Result<(), Rejection> {
        while self.found.len() < count && !self.is_complete {
            let Some(step) = self.walk.next(git)? else {
                self.is_complete = true;
                break;
            };
            let is_early = self.since.is_some_and(|since| step.seconds < since);
            let is_late = self.until.is_some_and(|until| step.seconds > until);
            let is_inside = self.range.as_mut().is_none_or(|range| range.remove(&step.id));
            if step.is_hit && is_inside && !is_early && !is_late && self.is_by_author(git, step.id)? {
                self.found.push(step.id);
            }
            self.old = if self.since.is_some_and(|since| history::is_long_before(step.seconds, since)) {
                self.old + 1
            } else {
                0
            };
            let is_left = self.range.as_ref().is_some_and(HashSet::is_empty);
            self.is_complete = is_left || self.old == history::MAX_OLD_IN_A_ROW;
        }
        Ok(())
    }

    fn is_by_author(&self, git: &Git, commit: Oid) -> Result<bool, Rejection> {
        let Some(wanted) = &self.author else { return Ok(true) };
        let author = git.find_commit(commit)?.author;
        Ok(format!("{} <{}>", author.name, author.email).contains(wanted))
    }

    /// Returns the approximate size in memory, in bytes.
    pub fn weight(&self) -> usize {
        self.walk.graph.len().saturating_mul(NODE_BYTES).saturating_add(self.found.len().saturating_mul(20))
    }

    #[cfg(test)]
    pub fn commits_read(&self) -> usize {
        self.walk.graph.len()
    }
}

/// A commit of the walk.
pub(super) struct Step {
    pub id: Oid,
    pub seconds: i64,
    pub is_merge: bool,
    /// Whether it changed the path.
    is_hit: bool,
}

/// The state of a commit in the walk.
#[derive(Debug, Clone, Copy, Default)]
struct NodeState {
    /// The number of children that have not been returned yet.
    pending_children: usize,
    /// The ticket of its valid queue entry; 0 for none.
    ticket: usize,
    is_done: bool,
    is_hit: bool,
}

/// A walk through histories in date order.
#[derive(Debug)]
pub(super) struct Walk {
    graph: Graph,
    path: Option<PathFilter>,
    /// Whether only the first parents of merges are followed.
    first_parent: bool,
    states: Vec<NodeState>,
    /// The commits that can come next, by date, then in the order in which they were queued.
    ready: BinaryHeap<(i64, Reverse<usize>, usize)>,
    tickets: usize,
    visited: usize,
    done: usize,
}

impl Walk {
    /// Starts a walk through the histories of some commits. With a path, it simplifies like `git log -- PATH`: if a
    /// merge has the same object at the path as one of its parents, only that parent is followed.
    pub fn new(git: &Git, from: &[Oid], path: Option<&str>, first_parent: bool) -> Result<Walk, Rejection> {
        let graph = Graph::new(git, from.iter().copied())?;
        let path = path.map(|path| PathFilter::new(git, path, from));
        let (states, ready) = (vec![NodeState::default(); graph.len()], BinaryHeap::new());
        let mut walk = Walk { graph, path, first_parent, states, ready, tickets: 0, visited: 0, done: 0 };
        let seconds = |place: &usize| walk.graph.node(*place).map_or(0, |node| node.seconds);
        let mut tips: Vec<usize> = (0..walk.graph.len()).collect();
        tips.sort_by_key(|place| (Reverse(seconds(place)), *place));
        tips.into_iter().for_each(|place| walk.push(place));
        Ok(walk)
    }

    /// Queues a commit if all of its known children have been returned.
    fn push(&mut self, place: usize) {
        let Some(state) = self.states.get_mut(place).filter(|state| state.pending_children == 0 && !state.is_done)
        else {
            return;
        };
        self.tickets += 1;
        state.ticket = self.tickets;
        let seconds = self.graph.node(place).map_or(0, |node| node.seconds);
        self.ready.push((seconds, Reverse(self.tickets), place));
    }

    /// Returns the next commit.
    ///
    /// # Errors
    /// Fails as [`Log::advance_to`] does.
    pub fn next(&mut self, git: &Git) -> Result<Option<Step>, Rejection> {
        while let Some((_, Reverse(ticket), place)) = self.ready.peek().copied() {
            git.stop.check()?;
            if self.states.get(place).is_none_or(|state| state.ticket != ticket) {
                // Another child has been found since.
                self.ready.pop();
            } else if let Some(unknown) = self.unknown_before(place) {
                self.visit(git, unknown)?;
            } else if !self.graph.is_visited(place) {
                self.visit(git, place)?;
            } else {
                self.ready.pop();
                return Ok(self.emit(place));
            }
        }
        Ok(None)
    }

    /// Returns the commit to visit next if the one at `place` may have children that are not known yet.
    fn unknown_before(&mut self, place: usize) -> Option<usize> {
        let generation = self.graph.node(place)?.generation;
        let next = self.graph.next()?;
        let may_come = match self.graph.node(next)?.generation {
            UNKNOWN => self.visited < self.done.saturating_add(READ_AHEAD),
            known => known > generation,
        };
        may_come.then_some(next)
    }

    fn visit(&mut self, git: &Git, place: usize) -> Result<(), Rejection> {
        let mut parents = self.graph.load_parents(git, place)?;
        if self.first_parent {
            parents.truncate(1);
        }
        let mut is_hit = true;
        if let Some(filter) = &mut self.path {
            (parents, is_hit) = filter.choose(git, &self.graph, place, parents);
        }
        self.graph.follow(place, parents);
        self.states.resize(self.graph.len(), NodeState::default());
        for parent in self.graph.parents(place) {
            if let Some(state) = self.states.get_mut(*parent) {
                state.pending_children += 1;
                state.ticket = 0;
            }
        }
        if let Some(state) = self.states.get_mut(place) {
            state.is_hit = is_hit;
        }
        self.visited += 1;
        Ok(())
    }

    /// Returns a commit as the next one, and queues its parents.
    fn emit(&mut self, place: usize) -> Option<Step> {
        self.done += 1;
        let state = self.states.get_mut(place)?;
        (state.is_done, state.ticket) = (true, 0);
        let is_hit = state.is_hit;
        for parent in self.graph.parents(place).to_vec() {
            if let Some(state) = self.states.get_mut(parent) {
                state.pending_children = state.pending_children.saturating_sub(1);
            }
            self.push(parent);
        }
        let node = self.graph.node(place)?;
        Some(Step { id: node.id, seconds: node.seconds, is_merge: node.is_merge(), is_hit })
    }
}

/// A filter for the commits that changed a path.
#[derive(Debug)]
pub(super) struct PathFilter {
    /// The components of the path, as the repository spells them.
    names: Vec<Vec<u8>>,
    /// The modes and objects at the path, by depth and tree of a folder on it. Neighboring commits have most folders in
    /// common.
    folders: HashMap<(usize, Oid), Option<(u32, Oid)>>,
}

impl PathFilter {
    pub fn new(git: &Git, path: &str, from: &[Oid]) -> PathFilter {
        let names = match from.first().and_then(|at| git.tree(*at).ok()) {
            Some(tree) => git.raw_names(&tree, path),
            None => path.split('/').filter(|name| !name.is_empty()).map(|name| name.as_bytes().to_vec()).collect(),
        };
        PathFilter { names, folders: HashMap::new() }
    }

    /// Creates a filter for a path as the repository spells it.
    pub fn of(path: &[u8]) -> PathFilter {
        PathFilter { names: path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect(), folders: HashMap::new() }
    }

    /// Returns the path as the repository spells it.
    pub fn path(&self) -> Vec<u8> {
        self.names.join(&b'/')
    }

    /// Returns the parents of a commit to follow, and whether the commit differs at the path from all of them.
    fn choose(&mut self, git: &Git, graph: &Graph, place: usize, parents: Vec<usize>) -> (Vec<usize>, bool) {
        let Some(root) = graph.node(place).map(|node| node.tree) else { return (parents, false) };
        let mut own = None;
        for parent in &parents {
            let Some(other) = graph.node(*parent).map(|node| node.tree) else { continue };
            let is_same = other == root || {
                let own = *own.get_or_insert_with(|| self.entry_at(git, root));
                self.entry_at(git, other) == own
            };
            if is_same {
                return (vec![*parent], false);
            }
        }
        let is_hit = !parents.is_empty() || self.object_at(git, root).is_some();
        (parents, is_hit)
    }

    /// Returns the ID of the object at the path below a root tree.
    pub fn object_at(&mut self, git: &Git, root: Oid) -> Option<Oid> {
        self.entry_at(git, root).map(|(_, id)| id)
    }

    /// Returns the object at the path with what git compares of its mode: the kind, and whether a file is executable.
    fn entry_at(&mut self, git: &Git, root: Oid) -> Option<(u32, Oid)> {
        let (mut at, mut visited) = (Some((0, root)), Vec::new());
        for (depth, name) in self.names.iter().enumerate() {
            let Some((_, folder)) = at else { break };
            if let Some(known) = self.folders.get(&(depth, folder)) {
                at = *known;
                break;
            }
            visited.push((depth, folder));
            at = git.entry(folder, name).map(|(mode, id)| (mode & 0o170_100, id));
        }
        if self.folders.len() >= MAX_CACHED_FOLDERS {
            self.folders.clear();
        }
        self.folders.extend(visited.into_iter().map(|folder| (folder, at)));
        at
    }
}
