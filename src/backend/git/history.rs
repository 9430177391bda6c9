//! Commit logs: the history of refs and paths, containment of commits, and contributors.

use super::commit_graph::UNKNOWN;
use super::graph::{Graph, Node};
use super::lines::LineCounter;
use super::walk::{Log, Walk};
use super::{Git, GitRef};
use crate::cache::Cache;
use crate::rejection::Rejection;
use api::repository::Contributor;
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
const COUNT_BATCH: usize = 32;
/// The assumed difference between the clocks of committers: one day, in seconds.
const CLOCK_SKEW: i64 = 24 * 60 * 60;
/// The number of consecutive commits that are too old after which a walk ends.
pub(super) const MAX_OLD_IN_A_ROW: usize = 64;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogQuery {
    /// The commits to start from; several for the history of all refs.
    pub from: Vec<Oid>,
    /// The commit whose history is left out.
    pub without: Option<Oid>,
    /// The file or folder that commits must have changed.
    pub path: Option<String>,
    /// The earliest committer date, inclusive, in seconds since 1970.
    pub since: Option<i64>,
    /// The latest committer date, inclusive, in seconds since 1970.
    pub until: Option<i64>,
    /// A part of the author as git shows it: `Ada Sommer <ada@example.com>`.
    pub author: Option<String>,
    /// Whether only the first parents of merges are followed.
    pub first_parent: bool,
}

/// A page of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub commits: Vec<Oid>,
    /// The length of the whole log; known only if the page reaches its end, because counting walks the whole history.
    pub total: Option<usize>,
    /// Whether there are commits after the page.
    pub has_more: bool,
}

impl Git {
    /// Returns one page of a log, newest first.
    pub fn log(&self, query: &LogQuery, skip: usize, take: usize) -> Result<Page, Rejection> {
        let mut log = Log::new(self, query)?;
        log.advance_to(self, skip.saturating_add(take).saturating_add(1))?;
        Ok(page(&log, skip, take))
    }

    /// Returns the last commit in the history of `commit` that changed a path.
    pub fn last_change(&self, commit: Oid, path: &str) -> Result<Option<Oid>, Rejection> {
        let query = LogQuery { from: vec![commit], path: Some(path.to_owned()), ..LogQuery::default() };
        Ok(self.log(&query, 0, 1)?.commits.first().copied())
    }

    /// Returns a page like [`Git::log`], but caches the walk, so that the next page continues there.
    pub fn log_page(&self, query: &LogQuery, skip: usize, take: usize, cache: &Cache) -> Result<Page, Rejection> {
        // The logs that are worth keeping are those that are read page by page.
        if self.repo.is_shallow() || query.without.is_some() {
            return self.log(query, skip, take);
        }
        cache.logs.with(
            query,
            || Log::new(self, query),
            |log| {
                log.advance_to(self, skip.saturating_add(take).saturating_add(1))?;
                Ok(page(log, skip, take))
            },
        )
    }

    /// Returns the commits of `to` that are not in the history of `from`, newest first, and whether there are more than
    /// `max`.
    pub fn between(&self, from: Oid, to: Oid, max: usize) -> Result<(Vec<Oid>, bool), Rejection> {
        let history = self.history(to, from)?;
        Ok((history.iter().take(max).map(|node| node.id).collect(), history.len() > max))
    }

    /// Returns whether `commit` is `head` or in its history.
    pub fn history_contains(&self, head: Oid, commit: Oid) -> bool {
        self.history(commit, head).is_ok_and(|rest| rest.len() == 0)
    }

    /// Returns those of `heads` that have a commit in their history.
    pub fn heads_containing(&self, heads: &[GitRef], commit: Oid) -> Result<Vec<GitRef>, Rejection> {
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
        let contains = |head: &&GitRef| graph.place(head.commit).is_some_and(|place| descendants.contains(&place));
        Ok(heads.iter().filter(contains).cloned().collect())
    }

    /// Returns those of `commits` that are `root` or in its history.
    pub fn ancestors_among(
        &self,
        root: Oid,
        mut commits: Vec<Oid>,
        cache: &Cache,
    ) -> Result<Arc<HashSet<Oid>>, Rejection> {
        commits.sort_unstable();
        commits.dedup();
        let key = (root, commits);
        if let Some(found) = cache.ancestors.get(&key) {
            return Ok(found);
        }
        let mut remaining: HashSet<Oid> = key.1.iter().copied().collect();
        let mut found = HashSet::new();
        let (_, is_complete) = self.walk_down_to([root], &key.1, |graph, place| {
            found.extend(graph.node(place).and_then(|node| remaining.take(&node.id)));
            !remaining.is_empty()
        })?;
        let found = Arc::new(found);
        // A history with missing objects may be completed later, and large requests are not repeated.
        if is_complete && !self.repo.is_shallow() && key.1.len() <= MAX_CACHED_COMMITS {
            cache.ancestors.put(key, found.clone());
        }
        Ok(found)
    }

    /// Visits the history of `from` until `visit` returns `false` or none of the remaining commits can lead to one of
    /// `targets`. Also returns whether all commits on the way could be read.
    fn walk_down_to(
        &self,
        from: impl IntoIterator<Item = Oid>,
        targets: &[Oid],
        mut visit: impl FnMut(&Graph, usize) -> bool,
    ) -> Result<(Graph, bool), Rejection> {
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
                    self.stop.check()?;
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
                graph.drop_unknown();
            }
        }
        Ok((graph, ends.len() == targets.len()))
    }

    /// Returns the number of commits of the default branch.
    pub fn count_commits(&self, cache: &Cache) -> Result<u64, Rejection> {
        let Some(head) = self.default_head() else { return Ok(0) };
        cache.commit_counts.get_or_try_init(head, || {
            let mut graph = Graph::new(self, [head])?;
            let mut count = 0;
            while graph.visit(self)?.is_some() {
                count += 1;
            }
            Ok(count)
        })
    }

    /// Returns the authors of the latest commits of the default branch, without merges, ordered by their first commit.
    pub fn contributors(&self, cache: &Cache) -> Result<Arc<Vec<Contributor>>, Rejection> {
        let Some(head) = self.default_head() else { return Ok(Arc::default()) };
        cache.contributors.get_or_try_init(head, || self.count_contributors(head, cache).map(Arc::new))
    }

    fn count_contributors(&self, head: Oid, cache: &Cache) -> Result<Vec<Contributor>, Rejection> {
        let (mut walk, mut commits) = (Walk::new(self, &[head], None, false)?, Vec::new());
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
                let (additions, deletions) =
                    cache.line_counts.get_or_try_init(commit, || count(&mut counter, commit))?;
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
    fn count_lines(&self, commits: &[Oid], cache: &Cache) -> Result<(), Rejection> {
        let uncounted: Vec<Oid> = commits.iter().copied().filter(|id| cache.line_counts.get(id).is_none()).collect();
        let batches = Mutex::new(uncounted.chunks(COUNT_BATCH));
        let threads = available_parallelism().map_or(1, NonZero::get).min(uncounted.len() / COUNT_BATCH);
        let (path, stop) = (self.repo.path(), &self.stop);
        let count_batches = || {
            let Ok(git) = Git::open(path, None).map(|git| git.with_stop(stop)) else { return };
            let mut counter = LineCounter::new(&git);
            loop {
                let batch = batches.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(batch) = batch.filter(|_| stop.check().is_ok()) else { return };
                for id in batch {
                    _ = cache.line_counts.get_or_try_init(*id, || count(&mut counter, *id));
                }
            }
        };
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(count_batches))));
        self.stop.check()
    }
}

/// Counts the changed lines of a commit; none if the changes exceed the bounds of trees.
fn count(counter: &mut LineCounter<'_>, commit: Oid) -> Result<(u64, u64), Rejection> {
    Ok(counter.count(commit)?.unwrap_or_default())
}

/// Returns whether a time is so much earlier than another that clock skew alone does not explain it.
pub(super) fn is_long_before(seconds: i64, other: i64) -> bool {
    seconds < other.saturating_sub(CLOCK_SKEW)
}

fn page(log: &Log, skip: usize, take: usize) -> Page {
    let found = &log.found;
    let has_more = found.len() > skip.saturating_add(take);
    let commits = found.iter().skip(skip).take(take).copied().collect();
    Page { commits, total: (log.is_complete && !has_more).then_some(found.len()), has_more }
}
