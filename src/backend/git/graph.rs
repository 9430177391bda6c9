//! Walks of the graph of commits, in the order of `git log --date-order`: newest first by committer date, and no commit
//! before all of its children.

use super::Git;
use crate::backend::reject::Reject;
use git2::Oid;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Hidden commits that are looked at after the last that could still matter: clocks are not exact. As many as git.
const SLOP: usize = 5;

/// A commit in the graph.
pub(super) struct Node {
    pub id: Oid,
    pub tree: Oid,
    pub parents: Vec<Oid>,
    /// When it was committed, since 1970.
    pub seconds: i64,
    /// Whether it is in the history of a commit that is left out.
    is_hidden: bool,
    is_queued: bool,
}

/// The commits that were met so far, and those to visit next.
pub(super) struct Graph<'g> {
    git: &'g Git,
    nodes: Vec<Node>,
    places: HashMap<Oid, usize>,
    /// By date, then in the order in which they were met.
    queue: BinaryHeap<(i64, Reverse<usize>)>,
    /// How many in the queue are not hidden.
    visible: usize,
}

impl<'g> Graph<'g> {
    /// A graph whose walk begins at some commits.
    pub fn new(git: &'g Git, from: impl IntoIterator<Item = Oid>) -> Result<Graph<'g>, Reject> {
        let mut graph = Graph { git, nodes: Vec::new(), places: HashMap::new(), queue: BinaryHeap::new(), visible: 0 };
        for id in from {
            graph.meet(id)?;
        }
        Ok(graph)
    }

    /// Leaves out a commit and its history.
    fn leave_out(&mut self, id: Oid) -> Result<(), Reject> {
        let place = self.meet(id)?;
        self.hide(place);
        Ok(())
    }

    /// The place of a commit; a new one is queued.
    fn meet(&mut self, id: Oid) -> Result<usize, Reject> {
        if let Some(place) = self.places.get(&id) {
            return Ok(*place);
        }
        let place = self.nodes.len();
        let node = self.git.raw_commit(id, |raw| Node {
            id,
            tree: raw.tree,
            seconds: raw.seconds(),
            parents: raw.parents,
            is_hidden: false,
            is_queued: true,
        })?;
        self.queue.push((node.seconds, Reverse(place)));
        self.nodes.push(node);
        self.places.insert(id, place);
        self.visible += 1;
        Ok(place)
    }

    /// Hides a commit and what is known of its history.
    fn hide(&mut self, place: usize) {
        let mut next = vec![place];
        while let Some(place) = next.pop() {
            let Some(node) = self.nodes.get_mut(place).filter(|node| !node.is_hidden) else { continue };
            node.is_hidden = true;
            self.visible = self.visible.saturating_sub(usize::from(node.is_queued));
            next.extend(node.parents.iter().filter_map(|parent| self.places.get(parent)));
        }
    }

    /// Visits the newest commit that waits; its parents wait from then on.
    ///
    /// # Errors
    /// Where a parent is missing, and 499 where nobody waits any more.
    pub fn visit(&mut self) -> Result<Option<usize>, Reject> {
        let Some((_, Reverse(place))) = self.queue.pop() else { return Ok(None) };
        self.git.stop.go_on()?;
        let Some(node) = self.nodes.get_mut(place) else { return Ok(None) };
        node.is_queued = false;
        let (parents, is_hidden) = (node.parents.clone(), node.is_hidden);
        self.visible = self.visible.saturating_sub(usize::from(!is_hidden));
        for parent in parents {
            let parent = self.meet(parent)?;
            if is_hidden {
                self.hide(parent);
            }
        }
        Ok(Some(place))
    }

    pub fn node(&self, place: usize) -> Option<&Node> {
        self.nodes.get(place)
    }

    /// A commit that was met.
    pub fn find(&self, id: Oid) -> Option<&Node> {
        self.node(*self.places.get(&id)?)
    }

    /// The places of those parents of a commit that were met.
    fn parents(&self, place: usize) -> impl Iterator<Item = usize> {
        let ids = self.node(place).map(|node| node.parents.as_slice()).unwrap_or_default();
        ids.iter().filter_map(|id| self.places.get(id).copied())
    }

    /// Returns whether one that waits may still lead to a commit, not hidden yet, that was made at `seconds`.
    fn may_reach(&self, seconds: i64) -> bool {
        self.visible > 0 || self.queue.peek().is_some_and(|(newest, _)| *newest >= seconds)
    }

    /// Visits everything but what is hidden.
    fn visit_all(&mut self) -> Result<Vec<usize>, Reject> {
        let (mut found, mut last, mut slop) = (Vec::new(), i64::MAX, SLOP);
        while slop > 0
            && let Some(place) = self.visit()?
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
        // Some were hidden after they were visited.
        found.retain(|place| self.node(*place).is_some_and(|node| !node.is_hidden));
        Ok(found)
    }

    /// Puts commits in order.
    fn sorted(&self, found: &[usize]) -> Vec<usize> {
        // How many children are not in the order yet, and one more; nothing for what is not to be in it.
        let mut waits = vec![0usize; self.nodes.len()];
        let mut add = |place: usize, is_new: bool| {
            if let Some(count) = waits.get_mut(place).filter(|count| is_new || **count > 0) {
                *count += 1;
            }
        };
        found.iter().for_each(|place| add(*place, true));
        found.iter().flat_map(|place| self.parents(*place)).for_each(|parent| add(parent, false));
        let mut met = 0usize;
        let mut entry = |place: usize| {
            met += 1;
            (self.node(place).map_or(0, |node| node.seconds), Reverse(met), place)
        };
        let tips = found.iter().filter(|place| waits.get(**place) == Some(&1));
        let mut ready: BinaryHeap<_> = tips.map(|place| entry(*place)).collect();
        let mut order = Vec::with_capacity(found.len());
        while let Some((_, _, place)) = ready.pop() {
            order.push(place);
            for parent in self.parents(place) {
                let Some(count) = waits.get_mut(parent).filter(|count| **count > 0) else { continue };
                *count -= 1;
                if *count == 1 {
                    ready.push(entry(parent));
                }
            }
        }
        order
    }
}

/// Commits in order.
pub(super) struct History<'g> {
    pub graph: Graph<'g>,
    order: Vec<usize>,
}

impl History<'_> {
    /// Newest first, and none before its children.
    pub fn iter(&self) -> impl Iterator<Item = &Node> {
        self.order.iter().filter_map(|place| self.graph.node(*place))
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }
}

impl Git {
    /// The commits that are in the history of any of `from` and of none of `without`.
    pub(super) fn history(&self, from: &[Oid], without: &[Oid]) -> Result<History<'_>, Reject> {
        let mut graph = Graph::new(self, from.iter().copied())?;
        for id in without {
            graph.leave_out(*id)?;
        }
        let found = graph.visit_all()?;
        let order = graph.sorted(&found);
        Ok(History { graph, order })
    }

    /// The best commit that both have in their history: none of the others has it in its own, and of several such it is
    /// the newest.
    pub fn merge_base(&self, one: Oid, other: Oid) -> Result<Option<Oid>, Reject> {
        let apart = self.history(&[one], &[other])?;
        if apart.len() == 0 {
            return Ok(Some(one));
        }
        // Where the one leaves its own commits, it enters what both have.
        let parents = apart.iter().flat_map(|node| &node.parents);
        let shared = parents.filter(|id| apart.graph.find(**id).is_some_and(|node| node.is_hidden));
        let mut graph = Graph::new(self, shared.copied())?;
        let candidates = graph.nodes.len();
        let oldest = graph.nodes.iter().map(|node| node.seconds).min().unwrap_or(i64::MAX);
        let mut slop = SLOP;
        while candidates > 1
            && slop > 0
            && let Some(place) = graph.visit()?
        {
            for parent in graph.parents(place).collect::<Vec<_>>() {
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
    use crate::backend::cache::Cache;
    use crate::backend::git::LogQuery;
    use crate::backend::git::tests::has_git;
    use git2::{ObjectType, Repository};
    use std::collections::HashSet;
    use std::process::Command;

    /// A fixed sequence of numbers (splitmix64).
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) % bound as u64) as usize
        }
    }

    /// How the dates of a history run from parent to child.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Dates {
        Same,
        Rising,
        Wild,
    }

    /// What was generated of a commit.
    struct Made {
        id: Oid,
        seconds: i64,
        parents: Vec<usize>,
        /// What is in the file `a`, if it is there.
        text: Option<usize>,
    }

    /// A history that was generated.
    struct World {
        folder: tempfile::TempDir,
        commits: Vec<Made>,
    }

    impl World {
        fn new(dice: &mut Dice, dates: Dates) -> World {
            let folder = tempfile::tempdir().unwrap();
            let repo = Repository::init_bare(folder.path()).unwrap();
            let odb = repo.odb().unwrap();
            let (mut commits, mut clock): (Vec<Made>, i64) = (Vec::new(), 1_500_000_000);
            for n in 0..2 + dice.below(30) {
                let count = [1, 1, 1, 1, 2, 2, 3, 0][dice.below(8)].min(n);
                let mut parents = Vec::new();
                while parents.len() < count {
                    let parent = n - 1 - dice.below(n.min(6));
                    if !parents.contains(&parent) {
                        parents.push(parent);
                    }
                }
                let inherited = parents.first().and_then(|parent| commits[*parent].text);
                let text = [inherited, inherited, Some(0), Some(1), None][dice.below(5)];
                clock += dice.below(3) as i64;
                let seconds = match dates {
                    Dates::Same => 1_500_000_000,
                    Dates::Rising => clock,
                    Dates::Wild => 1_500_000_000 + dice.below(10) as i64,
                };
                let mut tree = repo.treebuilder(None).unwrap();
                tree.insert("n", repo.blob(n.to_string().as_bytes()).unwrap(), 0o100644).unwrap();
                if let Some(text) = text {
                    tree.insert("a", repo.blob(text.to_string().as_bytes()).unwrap(), 0o100644).unwrap();
                }
                let tree = tree.write().unwrap();
                let lines: String = parents.iter().map(|p| format!("parent {}\n", commits[*p].id)).collect();
                let by = format!("Ada <ada@x> {seconds} +0000");
                let bytes = format!("tree {tree}\n{lines}author {by}\ncommitter {by}\n\n{n}\n");
                let id = odb.write(ObjectType::Commit, bytes.as_bytes()).unwrap();
                commits.push(Made { id, seconds, parents, text });
            }
            World { folder, commits }
        }

        fn git(&self) -> Git {
            Git::open(self.folder.path(), None).unwrap()
        }

        /// Returns what stock git prints, a hash a line; `None` if there is no git.
        fn stock(&self, arguments: &[String]) -> Option<Vec<Oid>> {
            let mut command = Command::new("git");
            command.args(arguments).current_dir(self.folder.path());
            command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", "/nowhere");
            let done = has_git().then(|| command.output().unwrap())?;
            assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
            let lines = String::from_utf8(done.stdout).unwrap();
            Some(lines.lines().map(|line| Oid::from_str(line).unwrap()).collect())
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

        /// Commits and all that they follow.
        fn histories(&self, from: &[usize]) -> HashSet<usize> {
            let (mut met, mut next) = (HashSet::new(), from.to_vec());
            while let Some(place) = next.pop() {
                if met.insert(place) {
                    next.extend(&self.commits[place].parents);
                }
            }
            met
        }

        /// The commits that changed `a`, where the side of a merge that was not kept counts for nothing.
        fn touching(&self, from: usize) -> HashSet<usize> {
            let (mut met, mut touching, mut next) = (HashSet::new(), HashSet::new(), vec![from]);
            while let Some(place) = next.pop() {
                let commit = &self.commits[place];
                if !met.insert(place) {
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

        /// That no commit comes before one of its children, and of those that may come next the newest does.
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

    fn each_world(mut run: impl FnMut(&World, &mut Dice, Dates)) {
        for seed in 0..45 {
            let mut dice = Dice(seed);
            let dates = [Dates::Same, Dates::Rising, Dates::Wild][seed as usize % 3];
            let world = World::new(&mut dice, dates);
            run(&world, &mut dice, dates);
        }
    }

    #[test]
    fn a_log_has_the_order_of_git_and_no_commit_before_its_children() {
        each_world(|world, dice, dates| {
            let last = world.commits.len() - 1;
            for extra in 0..3 {
                let mut tips = vec![last];
                (0..extra).for_each(|_| tips.push(dice.below(last + 1)));
                let from = world.ids(&tips);
                let query = LogQuery { from: from.clone(), ..LogQuery::default() };
                let git = world.git();
                let all = git.log(&query, 0, 99).unwrap();
                world.check(&all.commits, &world.histories(&tips));
                let page = git.log_page(&query, 3, 4, &Cache::default()).unwrap().commits;
                assert_eq!(page, all.commits.iter().skip(3).take(4).copied().collect::<Vec<_>>());
                let names: Vec<String> = from.iter().map(Oid::to_string).collect();
                if let Some(stock) = world.stock_log(&names) {
                    assert_eq!(all.commits, stock, "{dates:?}");
                }
            }
        });
    }

    #[test]
    fn what_one_commit_has_and_another_has_not_is_told_as_by_git() {
        each_world(|world, dice, dates| {
            // With clocks that go backwards git itself may err here.
            if dates == Dates::Wild {
                return;
            }
            for _ in 0..3 {
                let [from, to] = [0; 2].map(|_| dice.below(world.commits.len()));
                let (git, [one, other]) = (world.git(), [from, to].map(|place| world.commits[place].id));
                let (had, has) = (world.histories(&[from]), world.histories(&[to]));
                let (found, more) = git.between(one, other, 99).unwrap();
                world.check(&found, &has.difference(&had).copied().collect());
                assert!(!more && git.holds(other, one) == has.contains(&from));
                if let Some(stock) = world.stock_log(&[other.to_string(), format!("^{one}")]) {
                    assert_eq!(found, stock, "{dates:?}");
                }

                let shared: HashSet<usize> = had.intersection(&has).copied().collect();
                let older = shared.iter().flat_map(|place| world.commits[*place].parents.clone());
                let older = world.histories(&older.collect::<Vec<_>>());
                let best: HashSet<Oid> = shared.difference(&older).map(|place| world.commits[*place].id).collect();
                match git.merge_base(one, other).unwrap() {
                    Some(base) => assert!(best.contains(&base), "{dates:?}"),
                    None => assert!(best.is_empty(), "{dates:?}"),
                }
            }
        });
    }

    #[test]
    fn a_log_of_a_path_is_that_of_git() {
        each_world(|world, _, dates| {
            let last = world.commits.len() - 1;
            let from = world.ids(&[last]);
            let query = LogQuery { from: from.clone(), path: Some("a".into()), ..LogQuery::default() };
            let git = world.git();
            let found = git.log(&query, 0, 99).unwrap().commits;
            let touching: HashSet<Oid> =
                world.touching(last).into_iter().map(|place| world.commits[place].id).collect();
            // In the order of the whole log.
            let whole = git.log(&LogQuery { path: None, ..query }, 0, 99).unwrap().commits;
            let expected: Vec<Oid> = whole.into_iter().filter(|id| touching.contains(id)).collect();
            assert_eq!(found, expected, "{dates:?}");
            if let Some(stock) = world.stock_log(&[from[0].to_string(), "--".into(), "a".into()]) {
                assert_eq!(stock.into_iter().collect::<HashSet<_>>(), touching, "{dates:?}");
            }
        });
    }
}
