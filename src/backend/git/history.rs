//! Commit logs: the history of refs and paths, containment of commits, and contributors.

use super::graph::{Graph, History, Node};
use super::{Git, Head};
use crate::api::repository::Contributor;
use crate::backend::cache::Cache;
use crate::backend::reject::Reject;
use git2::Oid;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The most commits whose containment is cached together: one page of branches.
const MAX_CACHED_COMMITS: usize = 100;
/// The number of commits that the list of contributors counts.
const CONTRIBUTOR_COMMITS: usize = 2_000;
/// The assumed difference between the clocks of committers: one day, in seconds.
const CLOCK_SKEW: i64 = 24 * 60 * 60;
/// After this many commits in a row that are too old, a walk ends.
const MAX_OLD_IN_A_ROW: usize = 64;

/// Which commits to list.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// The commits to start from; several for the history of all refs.
    pub from: Vec<Oid>,
    /// Excludes these commits and their history.
    pub without: Vec<Oid>,
    /// Only commits that changed this file or folder.
    pub path: Option<String>,
    /// The earliest committer date, inclusive, in seconds since 1970.
    pub since: Option<i64>,
    /// The latest committer date, inclusive, in seconds since 1970.
    pub until: Option<i64>,
}

/// One page of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub commits: Vec<Oid>,
    /// The length of the whole log; known only where the page reaches its end, as counting walks the whole history.
    pub total: Option<usize>,
    /// Whether there are commits after the page.
    pub more: bool,
}

impl Git {
    /// Returns one page of a log, newest first.
    pub fn log(&self, query: &LogQuery, skip: usize, take: usize) -> Result<Page, Reject> {
        let history = self.history(&query.from, &query.without)?;
        let mut path_filter = query.path.as_ref().map(|path| PathFilter::new(self, path, &history, &query.from));
        let mut page = Page { commits: Vec::new(), total: None, more: false };
        let mut found = 0;
        for node in history.iter() {
            self.stop.go_on()?;
            // The filter has to see every commit: those outside the bounds decide which parents it follows.
            let is_touched = path_filter.as_mut().is_none_or(|filter| filter.accepts(node));
            let is_early = query.since.is_some_and(|since| node.seconds < since);
            let is_late = query.until.is_some_and(|until| node.seconds > until);
            if !is_touched || is_early || is_late {
                continue;
            }
            if found >= skip && page.commits.len() < take {
                page.commits.push(node.id);
            } else if found >= skip {
                page.more = true;
                return Ok(page);
            }
            found += 1;
        }
        page.total = Some(found);
        Ok(page)
    }

    /// Like [`Git::log`], but caches the commits that were found, so that the next page does not start over.
    pub fn log_page(&self, query: &LogQuery, skip: usize, take: usize, cache: &Cache) -> Result<Page, Reject> {
        // For the log of all refs, the key (every head) would be larger than the result.
        let is_cacheable = query.without.is_empty() && (query.path.is_some() || query.from.len() == 1);
        if !is_cacheable || self.repo.is_shallow() {
            return self.log(query, skip, take);
        }
        let key = (query.from.clone(), query.path.clone().unwrap_or_default(), query.since, query.until);
        let end = skip.saturating_add(take);
        let known = cache.logs.get(&key).filter(|(found, is_whole)| *is_whole || found.len() > end);
        let (found, is_whole) = match known {
            Some(known) => known,
            None => {
                // Reads twice as far as needed, so that reading page after page stays cheap.
                let log = self.log(query, 0, end.saturating_mul(2).saturating_add(1))?;
                let entry = (Arc::new(log.commits), !log.more);
                cache.logs.put(key, entry.clone());
                entry
            }
        };
        let commits: Vec<Oid> = found.iter().skip(skip).take(take).copied().collect();
        let more = found.len() > end;
        Ok(Page { commits, total: (is_whole && !more).then_some(found.len()), more })
    }

    /// Returns the commits of `to` that are not in the history of `from`, newest first, and whether there are more than
    /// `most`.
    pub fn between(&self, from: Oid, to: Oid, most: usize) -> Result<(Vec<Oid>, bool), Reject> {
        let history = self.history(&[to], &[from])?;
        Ok((history.iter().take(most).map(|node| node.id).collect(), history.len() > most))
    }

    /// Returns whether `commit` is `holder` or in its history.
    pub fn holds(&self, holder: Oid, commit: Oid) -> bool {
        self.history(&[commit], &[holder]).is_ok_and(|rest| rest.len() == 0)
    }

    /// Returns those of `heads` that have a commit in their history.
    pub fn heads_that_hold(&self, heads: &[Head], commit: Oid) -> Result<Vec<Head>, Reject> {
        let seconds = self.raw_commit(commit, |raw| raw.seconds())?;
        // Pairs of parent and child, of all commits that are new enough to descend from the commit.
        let mut edges: Vec<(Oid, Oid)> = Vec::new();
        self.walk_since(heads.iter().map(|head| head.commit), seconds, |node| {
            edges.extend(node.parents.iter().map(|parent| (*parent, node.id)));
            true
        })?;
        edges.sort_unstable();
        let mut descendants = HashSet::from([commit]);
        let mut next = vec![commit];
        while let Some(parent) = next.pop() {
            let first = edges.partition_point(|(id, _)| *id < parent);
            for (_, child) in edges.iter().skip(first).take_while(|(id, _)| *id == parent) {
                if descendants.insert(*child) {
                    next.push(*child);
                }
            }
        }
        Ok(heads.iter().filter(|head| descendants.contains(&head.commit)).cloned().collect())
    }

    /// Returns those of `commits` that are `root` or in its history.
    pub fn held_by(&self, root: Oid, mut commits: Vec<Oid>, cache: &Cache) -> Result<Arc<HashSet<Oid>>, Reject> {
        commits.sort_unstable();
        commits.dedup();
        let key = (root, commits);
        if let Some(held) = cache.held.get(&key) {
            return Ok(held);
        }
        let times = key.1.iter().filter_map(|id| self.raw_commit(*id, |raw| raw.seconds()).ok());
        let Some(oldest) = times.min() else { return Ok(Arc::default()) };
        let mut remaining: HashSet<Oid> = key.1.iter().copied().collect();
        let mut held = HashSet::new();
        let is_whole = self.walk_since([root], oldest, |node| {
            held.extend(remaining.take(&node.id));
            !remaining.is_empty()
        })?;
        let held = Arc::new(held);
        // A history with missing objects may be completed later, and large requests are not repeated.
        if is_whole && !self.repo.is_shallow() && key.1.len() <= MAX_CACHED_COMMITS {
            cache.held.put(key, held.clone());
        }
        Ok(held)
    }

    /// Visits the history of `from`, newest first, until `visit` returns `false` or all that is left is older than
    /// `oldest`. Returns `false` if a commit could not be read.
    fn walk_since(
        &self,
        from: impl IntoIterator<Item = Oid>,
        oldest: i64,
        mut visit: impl FnMut(&Node) -> bool,
    ) -> Result<bool, Reject> {
        let mut graph = Graph::new(self, from)?;
        let mut old = 0;
        loop {
            self.stop.go_on()?;
            // A damaged object ends the history.
            let Ok(place) = graph.visit() else { return Ok(false) };
            let Some(node) = place.and_then(|place| graph.node(place)) else { return Ok(true) };
            // One commit with a wrong date does not end the walk.
            old = if node.seconds < oldest.saturating_sub(CLOCK_SKEW) { old + 1 } else { 0 };
            if !visit(node) || old == MAX_OLD_IN_A_ROW {
                return Ok(true);
            }
        }
    }

    /// Returns the number of commits of the default branch.
    pub fn count_commits(&self) -> Result<u64, Reject> {
        let Some(head) = self.default_head() else { return Ok(0) };
        let mut graph = Graph::new(self, [head])?;
        let mut count = 0;
        while graph.visit()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Returns the authors of the latest commits of the default branch, without merges, in the order of their first commit.
    pub fn contributors(&self, cache: &Cache) -> Result<Vec<Contributor>, Reject> {
        let Some(head) = self.default_head() else { return Ok(Vec::new()) };
        let history = self.history(&[head], &[])?;
        let mut contributors: Vec<Contributor> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for node in history.iter().filter(|node| node.parents.len() < 2).take(CONTRIBUTOR_COMMITS) {
            self.stop.go_on()?;
            let author = self.find_commit(node.id)?.author;
            let place = *places.entry(author.email.to_lowercase()).or_insert_with(|| {
                // The newest commit comes first and gives the name.
                contributors.push(Contributor { name: author.name, email: author.email, ..Contributor::default() });
                contributors.len() - 1
            });
            if let Some(contributor) = contributors.get_mut(place) {
                let (additions, deletions) = cache.lines.or_make(node.id, || self.line_counts(node.id))?;
                contributor.commits += 1;
                contributor.additions += additions;
                contributor.deletions += deletions;
            }
        }
        contributors.reverse();
        Ok(contributors)
    }
}

/// Selects the commits that changed a path, as `git log -- PATH` does: where a merge has the same object at the path as
/// one of its parents, only that parent is followed. The object of each commit is looked up once and cached.
struct PathFilter<'a> {
    git: &'a Git,
    graph: &'a Graph<'a>,
    /// The components of the path, as the repository spells them.
    names: Vec<Vec<u8>>,
    /// The object at the path, by commit.
    objects: HashMap<Oid, Option<Oid>>,
    /// Commits in the history of the path that were not visited yet.
    pending: HashSet<Oid>,
}

impl<'a> PathFilter<'a> {
    fn new(git: &'a Git, path: &str, history: &'a History<'a>, from: &[Oid]) -> PathFilter<'a> {
        let names = match from.first().and_then(|at| git.tree(*at).ok()) {
            Some(tree) => git.raw_names(&tree, path),
            None => path.split('/').filter(|name| !name.is_empty()).map(|name| name.as_bytes().to_vec()).collect(),
        };
        let pending = from.iter().copied().collect();
        PathFilter { git, graph: &history.graph, names, objects: HashMap::new(), pending }
    }

    /// Returns whether a commit is in the history of the path and differs there from each of its parents. Call it for
    /// every commit, in the order of the history.
    fn accepts(&mut self, node: &Node) -> bool {
        if !self.pending.remove(&node.id) {
            return false;
        }
        let own = self.object_at(node.id);
        // Only its children look a commit up, and they were visited before it.
        self.objects.remove(&node.id);
        for parent in &node.parents {
            if self.object_at(*parent) == own {
                self.pending.insert(*parent);
                return false;
            }
        }
        self.pending.extend(&node.parents);
        !node.parents.is_empty() || own.is_some()
    }

    /// Returns the ID of the object that a commit has at the path.
    fn object_at(&mut self, id: Oid) -> Option<Oid> {
        if let Some(object) = self.objects.get(&id) {
            return *object;
        }
        let object = self.find_object(id);
        self.objects.insert(id, object);
        object
    }

    fn find_object(&self, id: Oid) -> Option<Oid> {
        let mut object = self.graph.find(id)?.tree;
        for name in &self.names {
            object = self.git.repo.find_tree(object).ok()?.get_name_bytes(name)?.id();
        }
        Some(object)
    }
}
