//! Real commits out of a short script: how the demo world's repositories came to be.
//!
//! A script is read from top to bottom; each line does one thing on the branch that is checked out:
//!
//! ```text
//! from 2025-01-13              first and last day; commits spread over the working hours between
//! to 2026-11-20
//! ada: Start the crate         a commit by that user; what follows, indented, is its content
//!   | More of the message.
//!   * src/lib.rs 2             the next two blocks of the file become visible (one, without a number)
//!   * CHANGELOG.md @3-4        its third and fourth block become visible
//!   + README.md                the whole file; `= PATH` takes it from another path of the archive
//!   - old.rs                   the file goes
//!   > a.rs b.rs                the file moves
//!   x run.sh                   it becomes executable
//!   @ link target              a symbolic link
//!   ~ src/lib.rs               the lines after `<` become those after `>`; `~ PATH undo` takes it back
//!     < let a = 1;
//!     > let a = 2;
//!   ! PATH                     the file has exactly the lines after `>`
//!   # assets/i-{}.svg 20 icon  twenty files from a rule
//!   m vendor/lib 1c3f…         a submodule at a commit of another repository
//! branch feature/rows          a branch from here, or `from BRANCH`, checked out
//! on main                      another branch is checked out
//! ada merges feature/rows: Merge branch 'feature/rows'
//! tag v0.1.0                   a light tag; `tag v0.1.0 ada: Message` an annotated one
//! drop feature/rows            the branch goes, its commits stay
//! season terminals             hundreds of commits by a rule ([`season`](super::season))
//! ```
//!
//! Replaying keeps, for each branch, which blocks of which files are visible and which replacements hold. Merges join
//! these sets, so that a script cannot conflict by accident, and the last commit of `main` is close to the archive.

use super::archive::{Archive, Source};
use super::{generate, season};
use git2::{ObjectType, Oid};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use std::rc::Rc;

/// An author of commits.
#[derive(Clone, Debug)]
pub struct Person {
    /// As the script calls them.
    pub username: String,
    /// As commits name them.
    pub name: String,
    /// As commits address them.
    pub email: String,
    /// Minutes east of UTC: a commit carries its author's own offset.
    pub offset: i32,
}

/// A repository in memory: objects and refs.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Everything that is reachable, in the order in which it was made.
    pub objects: Vec<(Oid, ObjectType, Vec<u8>)>,
    /// Heads by name.
    pub branches: BTreeMap<String, Oid>,
    /// Tags by name: the tag object or the commit, and the commit.
    pub tags: BTreeMap<String, (Oid, Oid)>,
    /// Commits, oldest first.
    pub commits: Vec<Commit>,
}

/// What other parts of the world need to know of a commit.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Its hash.
    pub id: Oid,
    /// Parents' hashes.
    pub parents: Vec<Oid>,
    /// The username of its author.
    pub author: String,
    /// Seconds since 1970.
    pub time: i64,
    /// First line of the message.
    pub title: String,
}

/// A mistake in a script.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Mistake {
    /// Line of the script, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl History {
    /// The newest commit that both have; parents stand before their children, so the one that stands last.
    pub fn base(&self, a: Oid, b: Oid) -> Option<Oid> {
        let (ours, theirs) = (self.ancestors(a), self.ancestors(b));
        ours.intersection(&theirs).last().and_then(|i| self.commits.get(*i)).map(|c| c.id)
    }

    /// The commit `steps` before another, first parents only.
    pub fn back(&self, from: Oid, steps: usize) -> Option<Oid> {
        (0..steps).try_fold(from, |id, _| self.commits.iter().find(|c| c.id == id)?.parents.first().copied())
    }

    /// Returns when a commit was made.
    pub fn time(&self, id: Oid) -> Option<jiff::Timestamp> {
        let commit = self.commits.iter().find(|c| c.id == id)?;
        jiff::Timestamp::from_second(commit.time).ok()
    }

    fn ancestors(&self, id: Oid) -> BTreeSet<usize> {
        let index: HashMap<Oid, usize> = self.commits.iter().enumerate().map(|(i, c)| (c.id, i)).collect();
        let mut seen = BTreeSet::new();
        let mut todo = vec![id];
        while let Some(index) = todo.pop().and_then(|id| index.get(&id).copied()) {
            if seen.insert(index) {
                todo.extend(self.commits.get(index).into_iter().flat_map(|c| c.parents.iter().copied()));
            }
        }
        seen
    }
}

#[derive(Clone, Debug)]
struct Entry {
    content: Content,
    swaps: Vec<(String, String)>,
    mode: u32,
    id: Oid,
}

#[derive(Clone, Debug)]
enum Content {
    Blocks { source: String, shown: BTreeSet<usize> },
    Whole { source: String },
    Text(Rc<str>),
}

type Tree = BTreeMap<String, Rc<Entry>>;

const FILE: u32 = 0o100644;
const EXECUTABLE: u32 = 0o100755;
const LINK: u32 = 0o120000;
const SUBMODULE: u32 = 0o160000;

/// Blocks of a file that become visible.
enum Which {
    Next(usize),
    Range(usize, usize),
}

impl Which {
    fn read(word: &str) -> Option<Which> {
        let Some(range) = word.strip_prefix('@') else { return word.parse().ok().map(Which::Next) };
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(Which::Range(first.parse().ok()?, last.parse().ok()?))
    }
}

struct Draft {
    line: usize,
    author: String,
    message: String,
    merges: Option<String>,
    ops: Vec<(usize, String, String, String)>,
}

struct Replay<'a> {
    archive: &'a Archive,
    people: &'a [Person],
    out: History,
    known: HashSet<Oid>,
    /// Blobs that no commit holds yet: a file may change several times before it is committed.
    loose: HashMap<Oid, Vec<u8>>,
    trees: Vec<Tree>,
    index: HashMap<Oid, usize>,
    branch: String,
    times: std::vec::IntoIter<i64>,
}

/// Runs a script over the files of an archive.
pub fn replay(script: &str, archive: &Archive, people: &[Person]) -> Result<History, Mistake> {
    let script = with_seasons(script)?;
    let lines: Vec<&str> = script.lines().collect();
    let commits = lines.iter().filter(|line| is_commit(line)).count();
    let mut days = [None, None];
    for (slot, word) in days.iter_mut().zip(["from ", "to "]) {
        for (at, line) in lines.iter().enumerate() {
            if let Some(day) = line.strip_prefix(word) {
                let day: jiff::civil::Date = day.trim().parse().map_err(|e| mistake(at, format!("{e}")))?;
                *slot = Some(day);
            }
        }
    }
    let [Some(first), Some(last)] = days else { return Err(mistake(0, "needs `from DAY` and `to DAY`")) };
    let mut replay = Replay {
        archive,
        people,
        out: History::default(),
        known: HashSet::new(),
        loose: HashMap::new(),
        trees: Vec::new(),
        index: HashMap::new(),
        branch: "main".to_owned(),
        times: spread(first, last, commits).into_iter(),
    };
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let number = at;
        at += 1;
        if line.trim().is_empty() || line.starts_with("from ") || line.starts_with("to ") || line.starts_with("//") {
            continue;
        }
        if is_commit(line) {
            let start = at;
            while lines.get(at).is_some_and(|l| l.starts_with("  ")) {
                at += 1;
            }
            let draft = draft(number, line, lines.get(start..at).unwrap_or_default());
            replay.commit(draft)?;
        } else {
            replay.step(number, line)?;
        }
    }
    Ok(replay.out)
}

/// The script with its seasons written out.
fn with_seasons(script: &str) -> Result<Cow<'_, str>, Mistake> {
    if !script.contains("season ") {
        return Ok(Cow::Borrowed(script));
    }
    let mut out = String::new();
    for (at, line) in script.lines().enumerate() {
        match line.strip_prefix("season ") {
            Some(rule) => out += &season::script(rule).ok_or_else(|| mistake(at, format!("no season {rule}")))?,
            None => out.extend([line, "\n"]),
        }
    }
    Ok(Cow::Owned(out))
}

fn mistake(line: usize, what: impl Into<String>) -> Mistake {
    Mistake { line: line + 1, what: what.into() }
}

fn is_commit(line: &str) -> bool {
    let Some((head, _)) = line.split_once(": ") else { return false };
    let mut words = head.split(' ');
    let first = words.next().unwrap_or_default();
    !first.is_empty()
        && first != "tag"
        && first.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && matches!((words.next(), words.next(), words.next()), (None, ..) | (Some("merges"), Some(_), None))
}

/// `count` moments in working hours, growing, spread over the days.
fn spread(first: jiff::civil::Date, last: jiff::civil::Date, count: usize) -> Vec<i64> {
    let start = first.at(8, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).map(|z| z.timestamp().as_second()).unwrap_or(0);
    let end = last.at(15, 40, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).map(|z| z.timestamp().as_second()).unwrap_or(0);
    const DAY: i64 = 86_400;
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut out: Vec<i64> = (0..count as i64)
        .map(|i| {
            // Denser towards the end, as a project that lives is: what is new is hours old, not weeks.
            let left = (count as i64 - 1 - i) as f64 / (count as f64 - 1.0).max(1.0);
            let even = end - ((end - start) as f64 * left.powf(1.7)) as i64;
            let mut day = even.div_euclid(DAY);
            // 1970-01-01 was a Thursday; work of a weekend is dated to the Friday before it.
            day -= match (day + 4).rem_euclid(7) {
                6 => 1,
                0 => 2,
                _ => 0,
            };
            let second = 7 * 3600 + (generate::next(&mut seed) % (9 * 3600)) as i64;
            (day * DAY + second).clamp(start, end)
        })
        .collect();
    if let Some(newest) = out.last_mut() {
        *newest = end;
    }
    out.sort_unstable();
    out
}

fn draft(line: usize, head: &str, body: &[&str]) -> Draft {
    let (head, title) = head.split_once(": ").unwrap_or((head, ""));
    let (author, merges) = match head.split_once(" merges ") {
        Some((author, branch)) => (author, Some(branch.to_owned())),
        None => (head, None),
    };
    let mut message = title.to_owned();
    let mut ops: Vec<(usize, String, String, String)> = Vec::new();
    for (offset, text) in body.iter().enumerate() {
        let text = text.get(2..).unwrap_or_default();
        let take = |into: &mut String, rest: &str| {
            if !into.is_empty() {
                into.push('\n');
            }
            into.push_str(rest.strip_prefix(' ').unwrap_or(rest));
        };
        if let Some(rest) = text.strip_prefix('|') {
            if !message.contains('\n') {
                message.push('\n');
            }
            message.push('\n');
            message.push_str(rest.strip_prefix(' ').unwrap_or(rest));
        } else if let Some(rest) = text.strip_prefix("  <") {
            if let Some((_, _, old, _)) = ops.last_mut() {
                take(old, rest);
            }
        } else if let Some(rest) = text.strip_prefix("  >") {
            if let Some((_, _, _, new)) = ops.last_mut() {
                take(new, rest);
            }
        } else {
            for op in text.split("; ") {
                ops.push((line + 1 + offset, op.trim().to_owned(), String::new(), String::new()));
            }
        }
    }
    message.push('\n');
    Draft { line, author: author.to_owned(), message, merges, ops }
}

impl Replay<'_> {
    fn step(&mut self, at: usize, line: &str) -> Result<(), Mistake> {
        if let Some(name) = line.strip_prefix("branch ") {
            let (name, from) = name.split_once(" from ").unwrap_or((name, &self.branch));
            let head = self.out.branches.get(from).copied();
            let head = head.ok_or_else(|| mistake(at, format!("no commit on {from} to branch from")))?;
            self.out.branches.insert(name.to_owned(), head);
            self.branch = name.to_owned();
        } else if let Some(name) = line.strip_prefix("on ") {
            if !self.out.branches.contains_key(name) {
                return Err(mistake(at, format!("no branch {name}")));
            }
            self.branch = name.to_owned();
        } else if let Some(name) = line.strip_prefix("drop ") {
            self.out.branches.remove(name).ok_or_else(|| mistake(at, format!("no branch {name}")))?;
        } else if let Some(rest) = line.strip_prefix("tag ") {
            let head = self.head().ok_or_else(|| mistake(at, "no commit to tag"))?;
            let Some((who, message)) = rest.split_once(": ") else {
                self.out.tags.insert(rest.to_owned(), (head, head));
                return Ok(());
            };
            let (name, author) = who.split_once(' ').ok_or_else(|| mistake(at, "`tag NAME USER: MESSAGE`"))?;
            let time = self.out.commits.iter().rev().find(|c| c.id == head).map_or(0, |c| c.time);
            let signature = self.signature(at, author, time + 600)?;
            let message = message.replace("\\n", "\n");
            let text = format!("object {head}\ntype commit\ntag {name}\ntagger {signature}\n\n{message}\n");
            let id = self.store(ObjectType::Tag, text.into_bytes(), at)?;
            self.out.tags.insert(name.to_owned(), (id, head));
        } else {
            return Err(mistake(at, format!("`{line}` is none of the things a line may be")));
        }
        Ok(())
    }

    fn head(&self) -> Option<Oid> {
        self.out.branches.get(&self.branch).copied()
    }

    fn tree_of(&self, id: Oid) -> Tree {
        self.index.get(&id).and_then(|i| self.trees.get(*i)).cloned().unwrap_or_default()
    }

    fn signature(&self, at: usize, username: &str, time: i64) -> Result<String, Mistake> {
        let Some(person) = self.people.iter().find(|p| p.username == username) else {
            return Err(mistake(at, format!("no user {username}")));
        };
        let sign = if person.offset < 0 { '-' } else { '+' };
        let minutes = person.offset.abs();
        Ok(format!("{} <{}> {time} {sign}{:02}{:02}", person.name, person.email, minutes / 60, minutes % 60))
    }

    fn store(&mut self, kind: ObjectType, bytes: Vec<u8>, at: usize) -> Result<Oid, Mistake> {
        let id = Oid::hash_object(kind, &bytes).map_err(|e| mistake(at, e.message()))?;
        if self.known.insert(id) {
            self.out.objects.push((id, kind, bytes));
        }
        Ok(id)
    }

    fn blob(&mut self, bytes: &[u8], at: usize) -> Result<Oid, Mistake> {
        let id = Oid::hash_object(ObjectType::Blob, bytes).map_err(|e| mistake(at, e.message()))?;
        if !self.known.contains(&id) {
            self.loose.entry(id).or_insert_with(|| bytes.to_vec());
        }
        Ok(id)
    }

    fn commit(&mut self, draft: Draft) -> Result<(), Mistake> {
        let head = self.head();
        let mut parents: Vec<Oid> = head.into_iter().collect();
        let mut tree = head.map(|id| self.tree_of(id)).unwrap_or_default();
        if let Some(name) = &draft.merges {
            let theirs =
                *self.out.branches.get(name).ok_or_else(|| mistake(draft.line, format!("no branch {name}")))?;
            let base = head.and_then(|ours| self.out.base(ours, theirs)).map(|id| self.tree_of(id)).unwrap_or_default();
            tree = self.join(draft.line, &base, &tree, &self.tree_of(theirs))?;
            parents.push(theirs);
        }
        for (at, op, old, new) in &draft.ops {
            self.apply(*at, op, old, new, &mut tree)?;
        }
        let root = self.write_tree(&tree, draft.line)?;
        let time = self.times.next().unwrap_or(0);
        let signature = self.signature(draft.line, &draft.author, time)?;
        let mut text = format!("tree {root}\n");
        for parent in &parents {
            let _ = writeln!(text, "parent {parent}");
        }
        let _ = write!(text, "author {signature}\ncommitter {signature}\n\n{}", draft.message);
        let id = self.store(ObjectType::Commit, text.into_bytes(), draft.line)?;
        let title = draft.message.lines().next().unwrap_or_default().to_owned();
        self.out.commits.push(Commit { id, parents, author: draft.author, time, title });
        self.index.insert(id, self.trees.len());
        self.trees.push(tree);
        self.out.branches.insert(self.branch.clone(), id);
        Ok(())
    }

    fn join(&mut self, at: usize, base: &Tree, ours: &Tree, theirs: &Tree) -> Result<Tree, Mistake> {
        let same = |a: Option<&Rc<Entry>>, b: Option<&Rc<Entry>>| match (a, b) {
            (Some(a), Some(b)) => a.id == b.id && a.mode == b.mode,
            (None, None) => true,
            _ => false,
        };
        let paths: BTreeSet<&String> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
        let mut out = Tree::new();
        for path in paths {
            let (b, o, t) = (base.get(path), ours.get(path), theirs.get(path));
            let entry = match (b, o, t) {
                _ if same(b, t) => o.cloned(),
                _ if same(b, o) => t.cloned(),
                (b, Some(o), Some(t)) => Some(Rc::new(self.join_entry(at, b.map(Rc::as_ref), o, t)?)),
                _ => return Err(mistake(at, format!("{path} goes on one side and changes on the other"))),
            };
            if let Some(entry) = entry {
                out.insert(path.clone(), entry);
            }
        }
        Ok(out)
    }

    fn join_entry(&mut self, at: usize, base: Option<&Entry>, ours: &Entry, theirs: &Entry) -> Result<Entry, Mistake> {
        let mut entry = ours.clone();
        if let (Content::Blocks { shown, .. }, Content::Blocks { shown: more, .. }) =
            (&mut entry.content, &theirs.content)
        {
            shown.extend(more);
        }
        let old = base.map(|b| b.swaps.as_slice()).unwrap_or_default();
        entry.swaps.retain(|swap| theirs.swaps.contains(swap) || !old.contains(swap));
        let new = theirs.swaps.iter().filter(|swap| !old.contains(swap) && !ours.swaps.contains(swap));
        entry.swaps.extend(new.cloned());
        self.render(at, &mut entry)?;
        Ok(entry)
    }

    fn apply(&mut self, at: usize, op: &str, old: &str, new: &str, tree: &mut Tree) -> Result<(), Mistake> {
        let (verb, rest) = op.split_once(' ').ok_or_else(|| mistake(at, format!("`{op}` is no change")))?;
        let rest = rest.trim();
        let missing = |path: &str| mistake(at, format!("{path} is not there"));
        match verb {
            "*" | "+" => {
                let (rest, from) = rest.split_once(" = ").map_or((rest, None), |(a, b)| (a, Some(b)));
                let (path, which) = match rest.rsplit_once(' ').map(|(path, word)| (path, Which::read(word))) {
                    Some((path, Some(which))) if verb == "*" => (path, which),
                    _ => (rest, if verb == "*" { Which::Next(1) } else { Which::Next(usize::MAX) }),
                };
                let mut entry = match tree.get(path) {
                    Some(entry) => entry.as_ref().clone(),
                    None => {
                        let source = from.unwrap_or(path).to_owned();
                        let content = match self.archive.get(&source) {
                            Some(Source::Text(_)) => Content::Blocks { source, shown: BTreeSet::new() },
                            Some(Source::Bytes(_)) => Content::Whole { source },
                            None => return Err(mistake(at, format!("{source} is not in the archive"))),
                        };
                        Entry { content, swaps: Vec::new(), mode: FILE, id: Oid::ZERO_SHA1 }
                    }
                };
                if let Content::Blocks { source, shown } = &mut entry.content
                    && let Some(Source::Text(blocks)) = self.archive.get(source)
                {
                    let hidden = (0..blocks.len())
                        .filter(|i| blocks.get(*i).is_some_and(|b| b.closes.is_none()))
                        .enumerate()
                        .filter(|(_, i)| !shown.contains(i));
                    let hidden: Vec<usize> = match which {
                        Which::Next(count) => hidden.map(|(_, i)| i).take(count).collect(),
                        Which::Range(first, last) => {
                            hidden.filter(|(n, _)| (first..=last).contains(&(n + 1))).map(|(_, i)| i).collect()
                        }
                    };
                    if hidden.is_empty() && verb == "*" {
                        return Err(mistake(at, format!("{path} has no more blocks")));
                    }
                    shown.extend(hidden);
                }
                self.render(at, &mut entry)?;
                tree.insert(path.to_owned(), Rc::new(entry));
            }
            "-" => {
                tree.remove(rest).ok_or_else(|| missing(rest))?;
            }
            ">" => {
                let (a, b) = rest.split_once(' ').ok_or_else(|| mistake(at, "`> OLD NEW`"))?;
                let entry = tree.remove(a).ok_or_else(|| missing(a))?;
                tree.insert(b.to_owned(), entry);
            }
            "x" => {
                let entry = tree.get_mut(rest).ok_or_else(|| missing(rest))?;
                Rc::make_mut(entry).mode = EXECUTABLE;
            }
            "!" => {
                let entry = self.plain(at, &format!("{new}\n"), FILE)?;
                tree.insert(rest.to_owned(), Rc::new(entry));
            }
            "m" => {
                let (path, commit) = rest.split_once(' ').ok_or_else(|| mistake(at, "`m PATH COMMIT`"))?;
                let id = Oid::from_str(commit).map_err(|e| mistake(at, e.message()))?;
                let entry = Entry { content: Content::Text("".into()), swaps: Vec::new(), mode: SUBMODULE, id };
                tree.insert(path.to_owned(), Rc::new(entry));
            }
            "@" => {
                let (path, target) = rest.split_once(' ').ok_or_else(|| mistake(at, "`@ LINK TARGET`"))?;
                let entry = self.plain(at, target, LINK)?;
                tree.insert(path.to_owned(), Rc::new(entry));
            }
            "~" => {
                let (path, undo) = rest.strip_suffix(" undo").map_or((rest, false), |path| (path, true));
                let mut entry = tree.get(path).ok_or_else(|| missing(path))?.as_ref().clone();
                let before = entry.swaps.len();
                if undo {
                    entry.swaps.retain(|(from, _)| from != old);
                    if entry.swaps.len() == before {
                        return Err(mistake(at, format!("{path} has no such replacement")));
                    }
                } else {
                    entry.swaps.push((old.to_owned(), new.to_owned()));
                }
                let id = entry.id;
                self.render(at, &mut entry)?;
                if entry.id == id {
                    return Err(mistake(at, format!("nothing in {path} changes")));
                }
                tree.insert(path.to_owned(), Rc::new(entry));
            }
            "#" => {
                let words: Vec<&str> = rest.split(' ').collect();
                let [pattern, count, rule] = words.as_slice() else {
                    return Err(mistake(at, "`# PATTERN COUNT RULE`"));
                };
                let count: usize = count.parse().map_err(|e| mistake(at, format!("{count}: {e}")))?;
                for i in 1..=count {
                    let text = generate::file(rule, i).ok_or_else(|| mistake(at, format!("no rule {rule}")))?;
                    let entry = self.plain(at, &text, FILE)?;
                    tree.insert(pattern.replace("{}", &format!("{i:04}")), Rc::new(entry));
                }
            }
            other => return Err(mistake(at, format!("`{other}` is no change"))),
        }
        Ok(())
    }

    fn plain(&mut self, at: usize, text: &str, mode: u32) -> Result<Entry, Mistake> {
        let id = self.blob(text.as_bytes(), at)?;
        Ok(Entry { content: Content::Text(text.into()), swaps: Vec::new(), mode, id })
    }

    /// Writes what an entry now holds.
    fn render(&mut self, at: usize, entry: &mut Entry) -> Result<(), Mistake> {
        let mut text = match &entry.content {
            Content::Whole { source } => {
                if let Some(Source::Bytes(bytes)) = self.archive.get(source) {
                    entry.id = self.blob(bytes, at)?;
                }
                return Ok(());
            }
            Content::Text(text) => text.to_string(),
            Content::Blocks { source, shown } => match self.archive.get(source) {
                Some(Source::Text(blocks)) => {
                    let there = |i: usize, closes: Option<usize>| shown.contains(&closes.unwrap_or(i));
                    blocks
                        .iter()
                        .enumerate()
                        .filter(|(i, b)| there(*i, b.closes))
                        .map(|(_, b)| b.text.as_str())
                        .collect()
                }
                _ => String::new(),
            },
        };
        for (old, new) in &entry.swaps {
            if text.contains(old.as_str()) {
                text = text.replacen(old.as_str(), new, 1);
            }
        }
        // A half-grown file may end in the blank lines that part its blocks.
        while text.ends_with("\n\n") {
            text.pop();
        }
        entry.id = self.blob(text.as_bytes(), at)?;
        Ok(())
    }

    fn write_tree(&mut self, tree: &Tree, at: usize) -> Result<Oid, Mistake> {
        let files: Vec<(&str, u32, Oid)> = tree.iter().map(|(p, e)| (p.as_str(), e.mode, e.id)).collect();
        for (_, _, id) in &files {
            if let Some(bytes) = self.loose.remove(id)
                && self.known.insert(*id)
            {
                self.out.objects.push((*id, ObjectType::Blob, bytes));
            }
        }
        self.write_folder(&files, 0, at)
    }

    /// Writes the folder that holds `files`, whose paths begin to differ at byte `skip`.
    fn write_folder(&mut self, files: &[(&str, u32, Oid)], skip: usize, at: usize) -> Result<Oid, Mistake> {
        let mut rows: Vec<(Vec<u8>, String, Oid)> = Vec::new();
        let mut rest = files;
        while let Some((path, mode, id)) = rest.first() {
            let below = path.get(skip..).unwrap_or_default();
            match below.split_once('/') {
                None => {
                    rows.push((below.as_bytes().to_vec(), format!("{mode:o} {below}"), *id));
                    rest = rest.get(1..).unwrap_or_default();
                }
                Some((folder, _)) => {
                    let depth = skip + folder.len() + 1;
                    let prefix = path.get(..depth).unwrap_or_default();
                    let end = rest.iter().take_while(|(path, ..)| path.starts_with(prefix)).count();
                    let (inside, after) = rest.split_at(end);
                    let id = self.write_folder(inside, depth, at)?;
                    // Git sorts a folder as if its name ended in a slash.
                    rows.push((format!("{folder}/").into_bytes(), format!("40000 {folder}"), id));
                    rest = after;
                }
            }
        }
        rows.sort();
        let mut bytes = Vec::new();
        for (_, row, id) in rows {
            bytes.extend_from_slice(row.as_bytes());
            bytes.push(0);
            bytes.extend_from_slice(id.as_bytes());
        }
        self.store(ObjectType::Tree, bytes, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(script: &str) -> Result<History, Mistake> {
        let archive = Archive::parse("-- a.rs --\nfn a() {}\n\nfn b() {}\n\nfn c() {}\n");
        let ada = Person { username: "ada".into(), name: "Ada".into(), email: "ada@x".into(), offset: 60 };
        replay(&format!("from 2026-01-05\nto 2026-02-06\n{script}"), &archive, &[ada])
    }

    const TWO_SIDES: &str = "ada: One\n  * a.rs\nbranch side\nada: Two\n  * a.rs\non main\nada: Word\n  ~ a.rs\n    < a()\n    > z()\n\
                             ada merges side: Merge\ntag v1 ada: First\n";

    fn file(history: &History, text: &str) -> bool {
        history.objects.iter().any(|(_, kind, bytes)| *kind == ObjectType::Blob && bytes == text.as_bytes())
    }

    #[test]
    fn a_merge_has_what_both_sides_did() {
        let history = history(TWO_SIDES).unwrap();
        assert_eq!(history.commits.len(), 4);
        assert_eq!(history.commits.last().unwrap().parents.len(), 2);
        assert!(file(&history, "fn z() {}\n\nfn b() {}\n"));
    }

    #[test]
    fn the_same_script_makes_the_same_hashes() {
        let head = |h: &History| h.branches.get("main").map(Oid::to_string);
        let (a, b) = (history(TWO_SIDES).unwrap(), history(TWO_SIDES).unwrap());
        assert_eq!(head(&a), head(&b));
        assert_eq!(head(&a).as_deref(), Some("c6fcaf5cd77bde073f385d89055a736c28191ce2"));
    }

    #[test]
    fn commits_are_dated_in_order_and_inside_the_days() {
        let history = history(TWO_SIDES).unwrap();
        let times: Vec<i64> = history.commits.iter().map(|c| c.time).collect();
        assert!(times.is_sorted());
        assert_eq!(times.last(), Some(&1_770_392_400));
    }

    #[test]
    fn a_mistake_names_its_line() {
        let error = history("ada: One\n  * b.rs\n").unwrap_err();
        assert_eq!(error.to_string(), "line 4: b.rs is not in the archive");
        assert!(history("nobody knows\n").is_err());
        assert!(history("eve: One\n  * a.rs\n").unwrap_err().to_string().contains("no user eve"));
    }
}
