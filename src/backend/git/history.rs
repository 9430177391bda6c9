//! Logs: which commits a ref holds, which of them touch a path, and who made them.

use super::graph::{Graph, History, Node};
use super::{Git, Head};
use crate::api::repository::Contributor;
use crate::backend::cache::Cache;
use crate::backend::reject::Reject;
use git2::Oid;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The longest list of commits of which is kept where they are held: a page of branches.
const KEPT: usize = 100;
/// How many commits the list of contributors looks at.
const CONTRIBUTED: usize = 2_000;
/// A day: how far the clocks of committers may be apart.
const SKEW: i64 = 24 * 60 * 60;
/// How many commits in a row must be too old before what comes after them is taken to be so, too.
const OLD_IN_A_ROW: usize = 64;

/// Which commits to list.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// Where to start; more than one for "every commit".
    pub from: Vec<Oid>,
    /// Commits that these hold are left out.
    pub without: Vec<Oid>,
    /// Only those that changed this file or folder.
    pub path: Option<String>,
    /// Seconds since 1970, inclusive, by the date of commit.
    pub since: Option<i64>,
    pub until: Option<i64>,
}

/// One page of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub commits: Vec<Oid>,
    /// The length of the whole log, where the page reaches its end: counting on would walk it all.
    pub total: Option<usize>,
    /// Whether there are commits after the page.
    pub more: bool,
}

impl Git {
    /// One page of a log, newest first.
    pub fn log(&self, query: &LogQuery, skip: usize, take: usize) -> Result<Page, Reject> {
        let history = self.history(&query.from, &query.without)?;
        let mut touches = query.path.as_ref().map(|path| PathFilter::new(self, path, &history, &query.from));
        let mut page = Page { commits: Vec::new(), total: None, more: false };
        let mut found = 0;
        for node in history.iter() {
            self.stop.go_on()?;
            // Whether an older commit counts may follow from this one, outside the bounds or not.
            let is_touched = touches.as_mut().is_none_or(|touches| touches.by(node));
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

    /// As [`Git::log`]. What was found is kept, so that the next page does not begin again.
    pub fn log_page(&self, query: &LogQuery, skip: usize, take: usize, cache: &Cache) -> Result<Page, Reject> {
        // Of the log of all that there is, the heads would take more room than what is found.
        let is_key = query.without.is_empty() && (query.path.is_some() || query.from.len() == 1);
        if !is_key || self.repo.is_shallow() {
            return self.log(query, skip, take);
        }
        let key = (query.from.clone(), query.path.clone().unwrap_or_default(), query.since, query.until);
        let end = skip.saturating_add(take);
        let known = cache.logs.get(&key).filter(|(found, is_whole)| *is_whole || found.len() > end);
        let (found, is_whole) = match known {
            Some(known) => known,
            None => {
                // Twice as far each time, so that walking page by page stays cheap.
                let log = self.log(query, 0, end.saturating_mul(2).saturating_add(1))?;
                let made = (Arc::new(log.commits), !log.more);
                cache.logs.put(key, made.clone());
                made
            }
        };
        let commits: Vec<Oid> = found.iter().skip(skip).take(take).copied().collect();
        let more = found.len() > end;
        Ok(Page { commits, total: (is_whole && !more).then_some(found.len()), more })
    }

    /// The commits of `to` that `from` does not hold, newest first, and whether there are more than `most`.
    pub fn between(&self, from: Oid, to: Oid, most: usize) -> Result<(Vec<Oid>, bool), Reject> {
        let history = self.history(&[to], &[from])?;
        Ok((history.iter().take(most).map(|node| node.id).collect(), history.len() > most))
    }

    /// Returns whether `holder` is `commit` or has it in its history.
    pub fn holds(&self, holder: Oid, commit: Oid) -> bool {
        self.history(&[commit], &[holder]).is_ok_and(|rest| rest.len() == 0)
    }

    /// Returns which of `heads` hold a commit.
    pub fn heads_that_hold(&self, heads: &[Head], commit: Oid) -> Result<Vec<Head>, Reject> {
        let made = self.raw_commit(commit, |raw| raw.seconds())?;
        // Parent and child of all that is not too old to come after the commit.
        let mut steps: Vec<(Oid, Oid)> = Vec::new();
        self.walk_since(heads.iter().map(|head| head.commit), made, |met| {
            steps.extend(met.parents.iter().map(|parent| (*parent, met.id)));
            true
        })?;
        steps.sort_unstable();
        let mut holding = HashSet::from([commit]);
        let mut next = vec![commit];
        while let Some(parent) = next.pop() {
            let first = steps.partition_point(|(id, _)| *id < parent);
            for (_, child) in steps.iter().skip(first).take_while(|(id, _)| *id == parent) {
                if holding.insert(*child) {
                    next.push(*child);
                }
            }
        }
        Ok(heads.iter().filter(|head| holding.contains(&head.commit)).cloned().collect())
    }

    /// Returns which of `commits` are in the history of `root`, itself among it.
    pub fn held_by(&self, root: Oid, mut commits: Vec<Oid>, cache: &Cache) -> Result<Arc<HashSet<Oid>>, Reject> {
        commits.sort_unstable();
        commits.dedup();
        let key = (root, commits);
        if let Some(held) = cache.held.get(&key) {
            return Ok(held);
        }
        let times = key.1.iter().filter_map(|id| self.raw_commit(*id, |raw| raw.seconds()).ok());
        let Some(oldest) = times.min() else { return Ok(Arc::default()) };
        let mut filter_text: HashSet<Oid> = key.1.iter().copied().collect();
        let mut held = HashSet::new();
        let is_whole = self.walk_since([root], oldest, |met| {
            held.extend(filter_text.take(&met.id));
            !filter_text.is_empty()
        })?;
        let held = Arc::new(held);
        // What is missing of a history may come yet; more than a page is asked for once.
        if is_whole && !self.repo.is_shallow() && key.1.len() <= KEPT {
            cache.held.put(key, held.clone());
        }
        Ok(held)
    }

    /// Visits the commits of `from`, newest first, until `visit` has enough or they were all made before `oldest`. Tells
    /// whether all of them could be read.
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
            // Damage ends the history where it is.
            let Ok(place) = graph.visit() else { return Ok(false) };
            let Some(node) = place.and_then(|place| graph.node(place)) else { return Ok(true) };
            // A clock that went wrong once does not hide what came before it.
            old = if node.seconds < oldest.saturating_sub(SKEW) { old + 1 } else { 0 };
            if !visit(node) || old == OLD_IN_A_ROW {
                return Ok(true);
            }
        }
    }

    /// Returns how many commits the default branch has.
    pub fn count_commits(&self) -> Result<u64, Reject> {
        let Some(head) = self.default_head() else { return Ok(0) };
        let mut graph = Graph::new(self, [head])?;
        let mut count = 0;
        while graph.visit()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Returns who made the latest commits of the default branch, merges left out, in the order of their first commit.
    pub fn contributors(&self, cache: &Cache) -> Result<Vec<Contributor>, Reject> {
        let Some(head) = self.default_head() else { return Ok(Vec::new()) };
        let history = self.history(&[head], &[])?;
        let mut people: Vec<Contributor> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for node in history.iter().filter(|node| node.parents.len() < 2).take(CONTRIBUTED) {
            self.stop.go_on()?;
            let author = self.find_commit(node.id)?.author;
            let place = *places.entry(author.email.to_lowercase()).or_insert_with(|| {
                // The newest commit comes first and gives the name.
                people.push(Contributor { name: author.name, email: author.email, ..Contributor::default() });
                people.len() - 1
            });
            if let Some(person) = people.get_mut(place) {
                let (additions, deletions) = cache.lines.or_make(node.id, || self.line_counts(node.id))?;
                person.commits += 1;
                person.additions += additions;
                person.deletions += deletions;
            }
        }
        people.reverse();
        Ok(people)
    }
}

/// Tells which commits changed a path, as `git log -- PATH` does: where a merge has there what one of its parents has,
/// the history goes on with that parent alone. What a commit has there is looked up once, though each is also a parent.
struct PathFilter<'a> {
    git: &'a Git,
    graph: &'a Graph<'a>,
    /// The names on the way, as the repository writes them.
    names: Vec<Vec<u8>>,
    known: HashMap<Oid, Option<Oid>>,
    /// The commits that the history of the path goes through, as far as they are known and not asked for yet.
    follows: HashSet<Oid>,
}

impl<'a> PathFilter<'a> {
    fn new(git: &'a Git, path: &str, history: &'a History<'a>, from: &[Oid]) -> PathFilter<'a> {
        let names = match from.first().and_then(|at| git.tree(*at).ok()) {
            Some(tree) => git.raw_names(&tree, path),
            None => path.split('/').filter(|name| !name.is_empty()).map(|name| name.as_bytes().to_vec()).collect(),
        };
        let follows = from.iter().copied().collect();
        PathFilter { git, graph: &history.graph, names, known: HashMap::new(), follows }
    }

    /// Returns whether a commit is in the history of the path and differs there from each of its parents. It has to be
    /// called for all commits in their order.
    fn by(&mut self, node: &Node) -> bool {
        if !self.follows.remove(&node.id) {
            return false;
        }
        let own = self.at(node.id);
        // A commit is met again only as a parent, and those come later: it may be forgotten.
        self.known.remove(&node.id);
        for parent in &node.parents {
            if self.at(*parent) == own {
                self.follows.insert(*parent);
                return false;
            }
        }
        self.follows.extend(&node.parents);
        !node.parents.is_empty() || own.is_some()
    }

    /// Returns what a commit has at the path.
    fn at(&mut self, id: Oid) -> Option<Oid> {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let found = self.look(id);
        self.known.insert(id, found);
        found
    }

    fn look(&self, id: Oid) -> Option<Oid> {
        let mut found = self.graph.find(id)?.tree;
        for name in &self.names {
            found = self.git.repo.find_tree(found).ok()?.get_name_bytes(name)?.id();
        }
        Some(found)
    }
}
