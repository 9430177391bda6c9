//! The commit graph, as far as it has been walked: newest first or, if a commit-graph file provides generations, by
//! those, so that no commit is visited before its children. Without the file, commit dates that are out of order are
//! tolerated.

use super::Git;
use super::commit_graph::{CommitGraph, GraphCommit, UNKNOWN};
use crate::rejection::Rejection;
use git2::Oid;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

/// The number of hidden commits that are visited after the last one that could still matter, because commit dates are
/// inexact; the same as in git.
const SLOP: usize = 5;

/// A commit in the graph.
#[derive(Debug)]
pub(super) struct Node {
    pub id: Oid,
    pub tree: Oid,
    /// The committer date, in seconds since 1970.
    pub seconds: i64,
    /// The generation, greater than that of each parent, or [`UNKNOWN`].
    pub generation: u64,
    parents: Parents,
    stage: WalkStage,
    /// Whether it is in the history of an excluded commit.
    is_hidden: bool,
}

impl Node {
    pub fn is_merge(&self) -> bool {
        match &self.parents {
            Parents::Named(ids) => ids.len() > 1,
            Parents::Known(places) => places.len() > 1,
            Parents::InFile(_) => false,
        }
    }
}

#[derive(Debug)]
enum Parents {
    /// The parents of the commit at this place of the file.
    InFile(u32),
    Named(Vec<Oid>),
    /// The places of the parents in the graph.
    Known(Vec<usize>),
}

impl Parents {
    fn file_place(&self) -> Option<u32> {
        if let Parents::InFile(at) = self { Some(*at) } else { None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum WalkStage {
    Known,
    Queued,
    Visited,
}

/// The commits that have been found so far, and those to visit next. Each method needs a handle of the same repository.
#[derive(Debug)]
pub(super) struct Graph {
    file: Option<Arc<CommitGraph>>,
    nodes: Vec<Node>,
    places: HashMap<Oid, usize>,
    /// The commits to visit: by generation, then by date, then in the order in which they were found.
    queue: BinaryHeap<(u64, i64, Reverse<usize>)>,
    /// The number of commits in the queue that are not hidden.
    visible: usize,
}

impl Graph {
    /// Creates a graph whose walk starts at `from`.
    pub fn new(git: &Git, from: impl IntoIterator<Item = Oid>) -> Result<Graph, Rejection> {
        let (file, nodes) = (git.commit_graph().cloned(), Vec::new());
        let mut graph = Graph { file, nodes, places: HashMap::new(), queue: BinaryHeap::new(), visible: 0 };
        for id in from {
            let place = graph.intern(git, id)?;
            graph.enqueue(place);
        }
        Ok(graph)
    }

    /// Excludes a commit and its history.
    fn exclude(&mut self, git: &Git, id: Oid) -> Result<(), Rejection> {
        let place = self.intern(git, id)?;
        self.enqueue(place);
        self.hide(place);
        Ok(())
    }

    /// Returns the place of a commit, adding it to the graph if necessary but not to the walk.
    fn intern(&mut self, git: &Git, id: Oid) -> Result<usize, Rejection> {
        if let Some(place) = self.places.get(&id) {
            return Ok(*place);
        }
        let found = self.file.as_ref().and_then(|file| Some((file.find(id)?, file)));
        if let Some((at, commit)) = found.and_then(|(at, file)| Some((at, file.commit(at)?))) {
            return Ok(self.add_from_file(at, commit));
        }
        let (tree, seconds, parents) = git.raw_commit(id, |raw| (raw.tree, raw.seconds(), raw.parents))?;
        let parents = Parents::Named(parents);
        Ok(self.add(Node {
            id,
            tree,
            seconds,
            generation: UNKNOWN,
            parents,
            stage: WalkStage::Known,
            is_hidden: false,
        }))
    }

    fn add_from_file(&mut self, at: u32, GraphCommit { id, tree, seconds, generation }: GraphCommit) -> usize {
        let parents = Parents::InFile(at);
        self.add(Node { id, tree, seconds, generation, parents, stage: WalkStage::Known, is_hidden: false })
    }

    fn add(&mut self, node: Node) -> usize {
        let place = self.nodes.len();
        self.places.insert(node.id, place);
        self.nodes.push(node);
        place
    }

    /// Queues a commit unless that has been done before.
    fn enqueue(&mut self, place: usize) {
        let Some(node) = self.nodes.get_mut(place).filter(|node| node.stage == WalkStage::Known) else { return };
        node.stage = WalkStage::Queued;
        self.visible += usize::from(!node.is_hidden);
        self.queue.push((node.generation, node.seconds, Reverse(place)));
    }

    /// Hides a commit and the part of its history that is known.
    fn hide(&mut self, place: usize) {
        let mut next = vec![place];
        while let Some(place) = next.pop() {
            let Some(node) = self.nodes.get_mut(place).filter(|node| !node.is_hidden) else { continue };
            node.is_hidden = true;
            self.visible = self.visible.saturating_sub(usize::from(node.stage == WalkStage::Queued));
            if let (Parents::Known(parents), WalkStage::Visited) = (&node.parents, node.stage) {
                next.extend(parents);
            }
        }
    }

    /// Returns the places of all parents of a commit that has not been visited yet.
    ///
    /// # Errors
    /// Fails if a parent is missing.
    pub fn load_parents(&mut self, git: &Git, place: usize) -> Result<Vec<usize>, Rejection> {
        let Some(node) = self.nodes.get(place) else { return Ok(Vec::new()) };
        let named = match &node.parents {
            Parents::Known(known) => return Ok(known.clone()),
            Parents::Named(ids) => Some(ids.clone()),
            Parents::InFile(_) => None,
        };
        let (id, at) = (node.id, node.parents.file_place());
        let parents = match at.and_then(|at| self.parents_from_file(at)) {
            Some(parents) => parents,
            // Also used if the file is damaged.
            None => {
                let ids = named.map_or_else(|| git.raw_commit(id, |raw| raw.parents), Ok)?;
                ids.into_iter().map(|id| self.intern(git, id)).collect::<Result<_, _>>()?
            }
        };
        if let Some(node) = self.nodes.get_mut(place) {
            node.parents = Parents::Known(parents.clone());
        }
        Ok(parents)
    }

    /// Returns the parents of the commit at a place of the file.
    fn parents_from_file(&mut self, at: u32) -> Option<Vec<usize>> {
        let file = self.file.clone()?;
        let child = file.commit(at)?.generation;
        let mut parents = Vec::new();
        for at in file.parents(at)? {
            let found = file.commit(at)?;
            // A damaged file may lead in circles.
            if child != UNKNOWN && found.generation >= child {
                return None;
            }
            let known = self.places.get(&found.id).copied();
            parents.push(known.unwrap_or_else(|| self.add_from_file(at, found)));
        }
        Some(parents)
    }

    /// Visits a commit, and queues those of its parents that the walk follows.
    pub fn follow(&mut self, place: usize, parents: Vec<usize>) {
        let Some(node) = self.nodes.get_mut(place) else { return };
        self.visible = self.visible.saturating_sub(usize::from(node.stage == WalkStage::Queued && !node.is_hidden));
        node.stage = WalkStage::Visited;
        let is_hidden = node.is_hidden;
        for parent in &parents {
            self.enqueue(*parent);
            if is_hidden {
                self.hide(*parent);
            }
        }
        if let Some(node) = self.nodes.get_mut(place) {
            node.parents = Parents::Known(parents);
        }
    }

    /// Visits the next commit, and queues its parents.
    ///
    /// # Errors
    /// Fails if a parent is missing, and with 499 after cancellation. The visit can be retried then.
    pub fn visit(&mut self, git: &Git) -> Result<Option<usize>, Rejection> {
        git.stop.check()?;
        let Some(place) = self.next() else { return Ok(None) };
        let parents = self.load_parents(git, place)?;
        self.follow(place, parents);
        Ok(Some(place))
    }

    /// Returns the next commit to visit.
    pub fn next(&mut self) -> Option<usize> {
        while let Some((.., Reverse(place))) = self.queue.peek() {
            if self.nodes.get(*place).is_some_and(|node| node.stage == WalkStage::Queued) {
                return Some(*place);
            }
            self.queue.pop();
        }
        None
    }

    /// Returns the generation of the next commit to visit, which is the maximum of all that remain.
    pub fn next_generation(&mut self) -> Option<u64> {
        let place = self.next()?;
        Some(self.node(place)?.generation)
    }

    /// Drops all queued commits whose generation is unknown.
    pub fn drop_unknown(&mut self) {
        self.queue.retain(|(generation, ..)| *generation != UNKNOWN);
    }

    pub fn is_visited(&self, place: usize) -> bool {
        self.node(place).is_some_and(|node| node.stage == WalkStage::Visited)
    }

    /// Returns the number of commits that have been read.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn node(&self, place: usize) -> Option<&Node> {
        self.nodes.get(place)
    }

    pub fn place(&self, id: Oid) -> Option<usize> {
        self.places.get(&id).copied()
    }

    /// Returns the places of the parents that the walk follows; none before the commit has been visited.
    pub fn parents(&self, place: usize) -> &[usize] {
        match self.node(place) {
            Some(Node { parents: Parents::Known(parents), stage: WalkStage::Visited, .. }) => parents,
            _ => &[],
        }
    }

    /// Returns whether a queued commit may lead to a commit of `seconds` that is not hidden yet.
    fn may_reach(&self, seconds: i64) -> bool {
        self.visible > 0 || self.queue.peek().is_some_and(|(_, newest, _)| *newest >= seconds)
    }

    /// Returns whether all queued commits are hidden, and none of them can hide a visited commit.
    fn is_settled(&mut self) -> bool {
        self.visible == 0 && self.next_generation().is_none_or(|generation| generation != UNKNOWN)
    }

    /// Visits all commits that are not hidden.
    fn visit_all(&mut self, git: &Git) -> Result<Vec<usize>, Rejection> {
        let (mut found, mut last, mut slop) = (Vec::new(), i64::MAX, SLOP);
        while slop > 0
            && !self.is_settled()
            && let Some(place) = self.visit(git)?
        {
            match self.node(place) {
                Some(node) if !node.is_hidden => {
                    last = node.seconds;
                    found.push(place);
                }
                _ if self.may_reach(last) => slop = SLOP,
                _ => slop -= 1,
            }
        }
        // Some were hidden after they had been visited.
        found.retain(|place| self.node(*place).is_some_and(|node| !node.is_hidden));
        Ok(found)
    }

    /// Sorts commits like `git log --date-order`: newest first, and no commit before all of its children.
    fn sorted(&self, found: &[usize]) -> Vec<usize> {
        // The number of children that are not in the order yet, plus one; 0 for commits that are not to be sorted.
        let mut pending = vec![0usize; self.nodes.len()];
        let mut add = |place: usize, is_new: bool| {
            if let Some(count) = pending.get_mut(place).filter(|count| is_new || **count > 0) {
                *count += 1;
            }
        };
        found.iter().for_each(|place| add(*place, true));
        found.iter().flat_map(|place| self.parents(*place)).for_each(|parent| add(*parent, false));
        let seconds = |place: usize| self.node(place).map_or(0, |node| node.seconds);
        let mut tips: Vec<usize> = found.iter().copied().filter(|place| pending.get(*place) == Some(&1)).collect();
        tips.sort_by_key(|place| (Reverse(seconds(*place)), *place));
        let mut queued = 0usize;
        let mut entry = |place: usize| {
            queued += 1;
            (seconds(place), Reverse(queued), place)
        };
        let mut ready: BinaryHeap<_> = tips.into_iter().map(&mut entry).collect();
        let mut order = Vec::with_capacity(found.len());
        while let Some((_, _, place)) = ready.pop() {
            order.push(place);
            for parent in self.parents(place) {
                let Some(count) = pending.get_mut(*parent).filter(|count| **count > 0) else { continue };
                *count -= 1;
                if *count == 1 {
                    ready.push(entry(*parent));
                }
            }
        }
        order
    }
}

/// A sorted set of commits.
pub(super) struct History {
    graph: Graph,
    order: Vec<usize>,
}

impl History {
    /// Returns the commits, newest first, and none before its children.
    pub fn iter(&self) -> impl Iterator<Item = &Node> {
        self.order.iter().filter_map(|place| self.graph.node(*place))
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }
}

impl Git {
    /// Returns the commits in the history of `from` that are not in that of `without`.
    pub(super) fn history(&self, from: Oid, without: Oid) -> Result<History, Rejection> {
        let mut graph = Graph::new(self, [from])?;
        graph.exclude(self, without)?;
        let found = graph.visit_all(self)?;
        let order = graph.sorted(&found);
        Ok(History { graph, order })
    }

    /// Returns the best common ancestor: one that is not an ancestor of another common ancestor, and the newest of
    /// several such.
    pub fn merge_base(&self, one: Oid, other: Oid) -> Result<Option<Oid>, Rejection> {
        let History { graph: exclusive, order } = self.history(one, other)?;
        if order.is_empty() {
            return Ok(Some(one));
        }
        // The parents of exclusive commits that are not exclusive themselves are common ancestors.
        let parents = order.iter().flat_map(|place| exclusive.parents(*place));
        let shared = parents.filter_map(|place| exclusive.node(*place)).filter(|node| node.is_hidden);
        let mut graph = Graph::new(self, shared.map(|node| node.id))?;
        let candidates = graph.nodes.len();
        let oldest = graph.nodes.iter().map(|node| node.seconds).min().unwrap_or(i64::MAX);
        let lowest = graph.nodes.iter().map(|node| node.generation).min().unwrap_or(UNKNOWN);
        let mut slop = SLOP;
        while candidates > 1
            && slop > 0
            && graph.next_generation().is_some_and(|generation| generation == UNKNOWN || generation > lowest)
            && let Some(place) = graph.visit(self)?
        {
            for parent in graph.parents(place).to_vec() {
                graph.hide(parent);
            }
            slop = if graph.may_reach(oldest) { SLOP } else { slop - 1 };
        }
        let best = graph.nodes.iter().take(candidates).filter(|node| !node.is_hidden).rev();
        Ok(best.max_by_key(|node| node.seconds).map(|node| node.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use crate::git::tests::{Dice, has_git, stock, write_commit};
    use crate::git::{GitRef, LogQuery};
    use git2::Repository;
    use std::collections::HashSet;

    /// The distribution of the dates of a generated history.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Dates {
        Same,
        Rising,
        Wild,
    }

    /// The commit-graph files that git wrote for a history.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum GraphFile {
        Nothing,
        /// Generations that are corrected dates, the default since git 2.36.
        Dated,
        Levels,
        /// A file with half of the commits.
        Half,
        /// A chain of two files.
        Chain,
    }

    /// A generated commit.
    struct TestCommit {
        id: Oid,
        seconds: i64,
        parents: Vec<usize>,
        /// The content of the file `a`, if it exists.
        text: Option<usize>,
    }

    /// A generated history.
    struct TestHistory {
        folder: tempfile::TempDir,
        commits: Vec<TestCommit>,
    }

    impl TestHistory {
        fn new(dice: &mut Dice, dates: Dates) -> TestHistory {
            let folder = tempfile::tempdir().unwrap();
            let repo = Repository::init_bare(folder.path()).unwrap();
            let (mut commits, mut clock): (Vec<TestCommit>, i64) = (Vec::new(), 1_500_000_000);
            for n in 0..2 + dice.below(30) {
                let count = [1, 1, 1, 1, 2, 2, 3, 0][dice.below(8)].min(n);
                let parents = dice.parents(n, count, 6);
                let inherited = parents.first().and_then(|parent| commits[*parent].text);
                let text = *dice.pick(&[&inherited, &inherited, &Some(0), &Some(1), &None]);
                clock += dice.below(3) as i64;
                let seconds = match dates {
                    Dates::Same => 1_500_000_000,
                    Dates::Rising => clock,
                    Dates::Wild => 1_500_000_000 + dice.below(10) as i64,
                };
                let (number, written) = (n.to_string(), text.map(|text| text.to_string()));
                let files = std::iter::once(("n", &*number)).chain(written.as_deref().map(|text| ("a", text)));
                let above: Vec<Oid> = parents.iter().map(|parent| commits[*parent].id).collect();
                let id = write_commit(&repo, n, seconds, &above, &files.collect::<Vec<_>>());
                commits.push(TestCommit { id, seconds, parents, text });
            }
            TestHistory { folder, commits }
        }

        fn git(&self) -> Git {
            Git::open(self.folder.path(), None).unwrap()
        }

        /// Writes a commit-graph file, or a chain of two, with stock git.
        fn write_file(&self, written: GraphFile) {
            let repo = Repository::open_bare(self.folder.path()).unwrap();
            let write = |commit: &TestCommit, options: &[&str]| {
                repo.reference("refs/heads/main", commit.id, true, "").unwrap();
                let command = [&["-c", "core.commitGraph=true"], options, &["--reachable"]].concat();
                self.stock(&command.into_iter().map(String::from).collect::<Vec<_>>());
            };
            let (half, last) = (&self.commits[self.commits.len() / 2], self.commits.last().unwrap());
            match written {
                GraphFile::Nothing => {}
                GraphFile::Dated => write(last, &["commit-graph", "write"]),
                GraphFile::Levels => write(last, &["-c", "commitGraph.generationVersion=1", "commit-graph", "write"]),
                GraphFile::Half => write(half, &["commit-graph", "write"]),
                GraphFile::Chain => {
                    for commit in [half, last] {
                        write(commit, &["commit-graph", "write", "--split=no-merge"]);
                    }
                }
            }
            let is_read = self.git().commit_graph().is_some();
            assert_eq!(is_read, has_git() && written != GraphFile::Nothing, "{written:?}");
        }

        /// Returns the hashes that stock git prints, one per line; `None` if git is not installed.
        fn stock(&self, arguments: &[String]) -> Option<Vec<Oid>> {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            has_git().then(|| stock(self.folder.path(), &arguments))
        }

        fn stock_log(&self, rest: &[String]) -> Option<Vec<Oid>> {
            self.stock(&[&["log", "--date-order", "--format=%H"].map(String::from), rest].concat())
        }

        fn place(&self, id: Oid) -> usize {
            self.commits.iter().position(|commit| commit.id == id).unwrap()
        }

        fn ids(&self, places: &[usize]) -> Vec<Oid> {
            places.iter().map(|place| self.commits[*place].id).collect()
        }

        /// Returns commits and all of their ancestors.
        fn ancestors_of(&self, from: &[usize]) -> HashSet<usize> {
            let (mut seen, mut next) = (HashSet::new(), from.to_vec());
            while let Some(place) = next.pop() {
                if seen.insert(place) {
                    next.extend(&self.commits[place].parents);
                }
            }
            seen
        }

        /// Returns the commits that changed `a`, ignoring the side of a merge that was not kept.
        fn touching(&self, from: usize) -> HashSet<usize> {
            let (mut seen, mut touching, mut next) = (HashSet::new(), HashSet::new(), vec![from]);
            while let Some(place) = next.pop() {
                let commit = &self.commits[place];
                if !seen.insert(place) {
                    continue;
                }
                if let Some(same) = commit.parents.iter().find(|p| self.commits[**p].text == commit.text) {
                    next.push(*same);
                } else {
                    next.extend(&commit.parents);
                    if !commit.parents.is_empty() || commit.text.is_some() {
                        touching.insert(place);
                    }
                }
            }
            touching
        }

        /// Checks that no commit comes before one of its children, and that the newest of the possible next commits
        /// always comes first.
        fn check(&self, order: &[Oid], expected: &HashSet<usize>) {
            let order: Vec<usize> = order.iter().map(|id| self.place(*id)).collect();
            assert_eq!((order.len(), &order.iter().copied().collect::<HashSet<_>>()), (expected.len(), expected));
            let is_free =
                |place: usize, rest: &[usize]| !rest.iter().any(|c| self.commits[*c].parents.contains(&place));
            for (at, place) in order.iter().enumerate() {
                let rest = &order[at..];
                assert!(is_free(*place, rest), "{place} comes before a child");
                let newest = rest.iter().filter(|other| is_free(**other, rest)).map(|c| self.commits[*c].seconds).max();
                assert_eq!(Some(self.commits[*place].seconds), newest, "a newer commit comes after {place}");
            }
        }
    }

    fn for_each_history(mut run: impl FnMut(&TestHistory, &mut Dice, Dates)) {
        let written = [GraphFile::Nothing, GraphFile::Dated, GraphFile::Levels, GraphFile::Half, GraphFile::Chain];
        for seed in 0..75 {
            let mut dice = Dice(seed);
            let dates = [Dates::Same, Dates::Rising, Dates::Wild][seed as usize % 3];
            let history = TestHistory::new(&mut dice, dates);
            history.write_file(written[seed as usize / 3 % 5]);
            run(&history, &mut dice, dates);
        }
    }

    #[test]
    fn log_order_matches_git() {
        for_each_history(|history, dice, dates| {
            let last = history.commits.len() - 1;
            for extra in 0..3 {
                let mut tips = vec![last];
                (0..extra).for_each(|_| tips.push(dice.below(last + 1)));
                let from = history.ids(&tips);
                let query = LogQuery { from: from.clone(), ..LogQuery::default() };
                let git = history.git();
                let all = git.log(&query, 0, 99).unwrap();
                history.check(&all.commits, &history.ancestors_of(&tips));
                let page = git.log_page(&query, 3, 4, &Cache::default()).unwrap().commits;
                assert_eq!(page, all.commits.iter().skip(3).take(4).copied().collect::<Vec<_>>());
                let names: Vec<String> = from.iter().map(Oid::to_string).collect();
                if let Some(stock) = history.stock_log(&names) {
                    assert_eq!(all.commits, stock, "{dates:?}");
                }
            }
        });
    }

    #[test]
    fn exclusive_commits_match_git() {
        for_each_history(|history, dice, dates| {
            // Git itself may give wrong results here if dates are out of order.
            if dates == Dates::Wild {
                return;
            }
            for _ in 0..3 {
                let [from, to] = [0; 2].map(|_| dice.below(history.commits.len()));
                let (git, [one, other]) = (history.git(), [from, to].map(|place| history.commits[place].id));
                let (had, has) = (history.ancestors_of(&[from]), history.ancestors_of(&[to]));
                let (found, more) = git.between(one, other, 99).unwrap();
                history.check(&found, &has.difference(&had).copied().collect());
                assert!(!more && git.history_contains(other, one) == has.contains(&from));
                if let Some(stock) = history.stock_log(&[other.to_string(), format!("^{one}")]) {
                    assert_eq!(found, stock, "{dates:?}");
                }

                let (all, cache) = (history.commits.iter().map(|commit| commit.id), Cache::default());
                let ancestors = git.ancestors_among(other, all.collect(), &cache).unwrap();
                assert_eq!(*ancestors, has.iter().map(|place| history.commits[*place].id).collect(), "{dates:?}");
                assert_eq!(git.ancestors_among(other, vec![one], &cache).unwrap().contains(&one), has.contains(&from));
                let heads = [one, other].map(|commit| GitRef { name: commit.to_string(), commit });
                let containing = git.heads_containing(&heads, one).unwrap();
                assert_eq!((containing.len() == 2, containing.first()), (has.contains(&from), heads.first()));

                let shared: HashSet<usize> = had.intersection(&has).copied().collect();
                let older = shared.iter().flat_map(|place| history.commits[*place].parents.clone());
                let older = history.ancestors_of(&older.collect::<Vec<_>>());
                let best: HashSet<Oid> = shared.difference(&older).map(|place| history.commits[*place].id).collect();
                match git.merge_base(one, other).unwrap() {
                    Some(base) => assert!(best.contains(&base), "{dates:?}"),
                    None => assert!(best.is_empty(), "{dates:?}"),
                }
            }
        });
    }

    #[test]
    fn path_log_matches_git() {
        for_each_history(|history, _, dates| {
            let last = history.commits.len() - 1;
            let from = history.ids(&[last]);
            let query = LogQuery { from: from.clone(), path: Some("a".into()), ..LogQuery::default() };
            let found = history.git().log(&query, 0, 99).unwrap().commits;
            let touching: HashSet<Oid> =
                history.touching(last).into_iter().map(|place| history.commits[place].id).collect();
            assert_eq!(found.iter().copied().collect::<HashSet<_>>(), touching, "{dates:?}");
            if let Some(stock) = history.stock_log(&[from[0].to_string(), "--".into(), "a".into()]) {
                assert_eq!(found, stock, "{dates:?}");
            }
        });
    }
}
