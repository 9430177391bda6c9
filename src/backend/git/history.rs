//! Commit logs: the history of refs and paths, containment of commits, and contributors.

use super::commit_graph::UNKNOWN;
use super::graph::{Graph, Node};
use super::lines::LineCounter;
use super::walk::{Log, Walk};
use super::{Git, Head};
use crate::api::repository::Contributor;
use crate::backend::cache::Cache;
use crate::backend::reject::Reject;
use git2::Oid;
use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, available_parallelism};

/// The maximum number of commits whose containment is cached together: one page of branches.
const MAX_CACHED_COMMITS: usize = 100;
/// The number of commits that the list of contributors covers.
const CONTRIBUTOR_COMMITS: usize = 2_000;
/// The number of commits that one thread counts at a time.
const COUNTED_TOGETHER: usize = 32;
/// The assumed difference between the clocks of committers: one day, in seconds.
const CLOCK_SKEW: i64 = 24 * 60 * 60;
/// The number of consecutive commits that are too old after which a walk ends.
pub(super) const MAX_OLD_IN_A_ROW: usize = 64;

/// A query for commits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogQuery {
    /// The commits to start from; several for the history of all refs.
    pub from: Vec<Oid>,
    /// The file or folder that commits must have changed.
    pub path: Option<String>,
    /// The earliest committer date, inclusive, in seconds since 1970.
    pub since: Option<i64>,
    /// The latest committer date, inclusive, in seconds since 1970.
    pub until: Option<i64>,
}

/// A page of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub commits: Vec<Oid>,
    /// The length of the whole log; known only if the page reaches its end, because counting walks the whole history.
    pub total: Option<usize>,
    /// Whether there are commits after the page.
    pub more: bool,
}

impl Git {
    /// Returns one page of a log, newest first.
    pub fn log(&self, query: &LogQuery, skip: usize, take: usize) -> Result<Page, Reject> {
        let mut log = Log::new(self, query)?;
        log.reach(self, skip.saturating_add(take).saturating_add(1))?;
        Ok(page(&log, skip, take))
    }

    /// Returns a page like [`Git::log`], but caches the walk, so that the next page continues there.
    pub fn log_page(&self, query: &LogQuery, skip: usize, take: usize, cache: &Cache) -> Result<Page, Reject> {
        if self.repo.is_shallow() {
            return self.log(query, skip, take);
        }
        cache.logs.with(
            query,
            || Log::new(self, query),
            |log| {
                log.reach(self, skip.saturating_add(take).saturating_add(1))?;
                Ok(page(log, skip, take))
            },
        )
    }

    /// Returns the commits of `to` that are not in the history of `from`, newest first, and whether there are more than
    /// `most`.
    pub fn between(&self, from: Oid, to: Oid, most: usize) -> Result<(Vec<Oid>, bool), Reject> {
        let history = self.history(to, from)?;
        Ok((history.iter().take(most).map(|node| node.id).collect(), history.len() > most))
    }

    /// Returns whether `commit` is `holder` or in its history.
    pub fn holds(&self, holder: Oid, commit: Oid) -> bool {
        self.history(commit, holder).is_ok_and(|rest| rest.len() == 0)
    }

    /// Returns those of `heads` that have a commit in their history.
    pub fn heads_that_hold(&self, heads: &[Head], commit: Oid) -> Result<Vec<Head>, Reject> {
        // The (parent, child) pairs of all commits that are new enough to descend from the commit.
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let tips = heads.iter().map(|head| head.commit);
        let (graph, _) = self.walk_down_to(tips, &[commit], |graph, place| {
            edges.extend(graph.parents(place).iter().map(|parent| (*parent, place)));
            true
        })?;
        edges.sort_unstable();
        let Some(place) = graph.place(commit) else { return Ok(Vec::new()) };
        let mut descendants = HashSet::from([place]);
        let mut next = vec![place];
        while let Some(parent) = next.pop() {
            let first = edges.partition_point(|(place, _)| *place < parent);
            for (_, child) in edges.iter().skip(first).take_while(|(place, _)| *place == parent) {
                if descendants.insert(*child) {
                    next.push(*child);
                }
            }
        }
        let holds = |head: &&Head| graph.place(head.commit).is_some_and(|place| descendants.contains(&place));
        Ok(heads.iter().filter(holds).cloned().collect())
    }

    /// Returns those of `commits` that are `root` or in its history.
    pub fn held_by(&self, root: Oid, mut commits: Vec<Oid>, cache: &Cache) -> Result<Arc<HashSet<Oid>>, Reject> {
        commits.sort_unstable();
        commits.dedup();
        let key = (root, commits);
        if let Some(held) = cache.held.get(&key) {
            return Ok(held);
        }
        let mut remaining: HashSet<Oid> = key.1.iter().copied().collect();
        let mut held = HashSet::new();
        let (_, is_whole) = self.walk_down_to([root], &key.1, |graph, place| {
            held.extend(graph.node(place).and_then(|node| remaining.take(&node.id)));
            !remaining.is_empty()
        })?;
        let held = Arc::new(held);
        // A history with missing objects may be completed later, and large requests are not repeated.
        if is_whole && !self.repo.is_shallow() && key.1.len() <= MAX_CACHED_COMMITS {
            cache.held.put(key, held.clone());
        }
        Ok(held)
    }

    /// Visits the history of `from` until `visit` returns `false` or none of the remaining commits can lead to one of
    /// `targets`. Also returns whether all commits on the way could be read.
    fn walk_down_to(
        &self,
        from: impl IntoIterator<Item = Oid>,
        targets: &[Oid],
        mut visit: impl FnMut(&Graph, usize) -> bool,
    ) -> Result<(Graph, bool), Reject> {
        // A missing target cannot be found.
        let known = targets.iter().filter_map(|id| Graph::new(self, [*id]).ok());
        let ends: Vec<(u64, i64)> =
            known.filter_map(|graph| graph.node(0).map(|n| (n.generation, n.seconds))).collect();
        let lowest = ends.iter().map(|(generation, _)| *generation).min().unwrap_or(UNKNOWN);
        let oldest = ends.iter().map(|(_, seconds)| *seconds).min().unwrap_or(i64::MAX);
        let mut graph = Graph::new(self, from)?;
        if ends.is_empty() {
            return Ok((graph, false));
        }
        let mut old = 0;
        // Every descendant of a target has a greater generation.
        while graph.next_generation().is_some_and(|generation| generation >= lowest) {
            let place = match graph.visit(self) {
                Ok(Some(place)) => place,
                Ok(None) => break,
                Err(_) => {
                    self.stop.go_on()?;
                    // A damaged object ends the history.
                    return Ok((graph, false));
                }
            };
            if !visit(&graph, place) {
                break;
            }
            let is_old = |node: &Node| node.generation == UNKNOWN && is_long_before(node.seconds, oldest);
            // A single commit with a wrong date does not end the walk.
            old = if graph.node(place).is_some_and(is_old) { old + 1 } else { 0 };
            if old == MAX_OLD_IN_A_ROW {
                graph.give_up_unknown();
            }
        }
        Ok((graph, ends.len() == targets.len()))
    }

    /// Returns the number of commits of the default branch.
    pub fn count_commits(&self, cache: &Cache) -> Result<u64, Reject> {
        let Some(head) = self.default_head() else { return Ok(0) };
        cache.sizes.or_make(head, || {
            let mut graph = Graph::new(self, [head])?;
            let mut count = 0;
            while graph.visit(self)?.is_some() {
                count += 1;
            }
            Ok(count)
        })
    }

    /// Returns the authors of the latest commits of the default branch, without merges, ordered by their first commit.
    pub fn contributors(&self, cache: &Cache) -> Result<Arc<Vec<Contributor>>, Reject> {
        let Some(head) = self.default_head() else { return Ok(Arc::default()) };
        cache.contributors.or_make(head, || self.count_contributors(head, cache).map(Arc::new))
    }

    fn count_contributors(&self, head: Oid, cache: &Cache) -> Result<Vec<Contributor>, Reject> {
        let (mut walk, mut commits) = (Walk::new(self, &[head], None)?, Vec::new());
        while commits.len() < CONTRIBUTOR_COMMITS
            && let Some(step) = walk.next(self)?
        {
            if !step.is_merge {
                commits.push(step.id);
            }
        }
        self.count_lines(&commits, cache)?;
        let mut counter = LineCounter::new(self);
        let mut contributors: Vec<Contributor> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for commit in commits {
            let author = self.find_commit(commit)?.author;
            let place = *places.entry(author.email.to_lowercase()).or_insert_with(|| {
                // Commits are newest first; the latest one determines the name.
                contributors.push(Contributor { name: author.name, email: author.email, ..Contributor::default() });
                contributors.len() - 1
            });
            if let Some(contributor) = contributors.get_mut(place) {
                let (additions, deletions) = cache.lines.or_make(commit, || counter.count(commit))?;
                contributor.commits += 1;
                contributor.additions += additions;
                contributor.deletions += deletions;
            }
        }
        contributors.reverse();
        Ok(contributors)
    }
}

impl Git {
    /// Counts the changed lines of commits on all processors and caches them. Commits that cannot be counted are
    /// skipped.
    fn count_lines(&self, commits: &[Oid], cache: &Cache) -> Result<(), Reject> {
        let left: Vec<Oid> = commits.iter().copied().filter(|id| cache.lines.get(id).is_none()).collect();
        let batches = Mutex::new(left.chunks(COUNTED_TOGETHER));
        let threads = available_parallelism().map_or(1, NonZero::get).min(left.len() / COUNTED_TOGETHER);
        let (path, stop) = (self.repo.path(), &self.stop);
        let count = || {
            let Ok(git) = Git::open(path, None).map(|git| git.until(stop)) else { return };
            let mut counter = LineCounter::new(&git);
            loop {
                let batch = batches.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(batch) = batch.filter(|_| stop.go_on().is_ok()) else { return };
                for id in batch {
                    _ = cache.lines.or_make(*id, || counter.count(*id));
                }
            }
        };
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(count))));
        self.stop.go_on()
    }
}

/// Returns whether a time is so much earlier than another that clock skew alone does not explain it.
pub(super) fn is_long_before(seconds: i64, other: i64) -> bool {
    seconds < other.saturating_sub(CLOCK_SKEW)
}

fn page(log: &Log, skip: usize, take: usize) -> Page {
    let found = &log.found;
    let more = found.len() > skip.saturating_add(take);
    let commits = found.iter().skip(skip).take(take).copied().collect();
    Page { commits, total: (log.is_whole && !more).then_some(found.len()), more }
}
