//! Finds the commit that introduced each line of a file, like `git blame`: a line is followed from a commit to its
//! parents while the diff leaves it unchanged, and through renames of the file.

use super::Git;
use super::graph::Graph;
use super::object::damaged;
use super::walk::PathFilter;
use crate::rejection::{Rejection, is_partial};
use git2::{DiffOptions, ObjectType, Oid, Patch};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The size in bytes of the blocks that are compared at the end of files, as in git.
const BLOCK: usize = 1024;
/// The least similarity that makes two files one renamed file, in percent: that of git.
const RENAME_THRESHOLD: u16 = 50;

/// The maximum size in bytes of a file whose lines are traced.
const MAX_BLAMED_BYTES: usize = 64 << 20;
/// The number of times that lines are traced to the same commit. Dates that are out of order cause a few; a history that
/// leads back to itself, which only a damaged repository has, causes any number.
const MAX_VISITS: usize = 1_000;

/// A run of consecutive lines: its position in the requested file, and in the file that it was traced to.
#[derive(Clone, Copy)]
struct LineRun {
    at: usize,
    from: usize,
    len: usize,
}

/// The lines that are still being traced.
struct UntracedLines<'g> {
    git: &'g Git,
    graph: Graph,
    /// The paths that the file has had.
    paths: Vec<PathFilter>,
    /// The lines to trace, by the commit's place in the graph and the index of the path there.
    pending: HashMap<(usize, usize), Vec<LineRun>>,
    /// The number of times that each key of `pending` was reached.
    visits: HashMap<(usize, usize), usize>,
    /// The keys of `pending` by generation and date, so that most commits are processed once.
    queue: BinaryHeap<(u64, i64, Reverse<usize>, usize)>,
}

impl Git {
    /// Returns the commits that introduced the lines of a file, each with its number of consecutive lines.
    ///
    /// # Errors
    /// Fails if a commit is missing, with 413 if the file is too large, and with 499 after cancellation.
    pub fn blame(&self, commit: Oid, path: &str) -> Result<Vec<(Oid, usize)>, Rejection> {
        let graph = Graph::new(self, [commit])?;
        let paths = vec![PathFilter::new(self, path, &[commit])];
        let (pending, visits, queue) = (HashMap::new(), HashMap::new(), BinaryHeap::new());
        let mut blame = UntracedLines { git: self, graph, paths, pending, visits, queue };
        let start = blame.graph.place(commit).ok_or_else(Rejection::record_not_found)?;
        let blob = blame.file_at(start, 0, None)?.ok_or_else(|| Rejection::not_found("File"))?;
        self.check_size(blob, MAX_BLAMED_BYTES)?;
        let text = self.read_blob(blob)?;
        let lines = text.content().split_inclusive(|byte| *byte == b'\n').count();
        if lines == 0 {
            return Ok(Vec::new());
        }
        blame.enqueue((start, 0), vec![LineRun { at: 0, from: 0, len: lines }]);
        let mut found = Vec::new();
        while let Some((commit, runs)) = blame.next()? {
            found.extend(runs.into_iter().map(|run| (run.at, run.len, commit)));
        }
        found.sort_unstable_by_key(|(at, ..)| *at);
        let mut parts: Vec<(Oid, usize)> = Vec::new();
        for (_, len, commit) in found {
            match parts.last_mut() {
                Some((last, lines)) if *last == commit => *lines += len,
                _ => parts.push((commit, len)),
            }
        }
        Ok(parts)
    }
}

impl UntracedLines<'_> {
    fn object_at(&mut self, place: usize, path: usize) -> Option<Oid> {
        let tree = self.graph.node(place)?.tree;
        self.paths.get_mut(path)?.object_at(self.git, tree)
    }

    /// Returns the blob at a path of a commit, unless it is a folder or a submodule; `known` is known to be a blob.
    ///
    /// # Errors
    /// Fails if a partial clone does not have it: its lines would be attributed to a later commit.
    fn file_at(&mut self, place: usize, path: usize, known: Option<Oid>) -> Result<Option<Oid>, Rejection> {
        let Some(id) = self.object_at(place, path) else { return Ok(None) };
        if Some(id) == known {
            return Ok(Some(id));
        }
        match self.git.header(id) {
            Ok((_, kind)) => Ok((kind == ObjectType::Blob).then_some(id)),
            Err(error) if is_partial(&error) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    /// Assigns lines to a commit, to be traced from there.
    fn enqueue(&mut self, to: (usize, usize), runs: Vec<LineRun>) {
        let Some(node) = self.graph.node(to.0).filter(|_| !runs.is_empty()) else { return };
        let (generation, seconds) = (node.generation, node.seconds);
        let pending = self.pending.entry(to).or_default();
        if pending.is_empty() {
            self.queue.push((generation, seconds, Reverse(to.0), to.1));
        }
        pending.extend(runs);
    }

    /// Traces lines until some are attributed to a commit; `None` when no lines are left.
    fn next(&mut self) -> Result<Option<(Oid, Vec<LineRun>)>, Rejection> {
        while let Some((_, _, Reverse(place), path)) = self.queue.pop() {
            self.git.stop.check()?;
            let Some(mut runs) = self.pending.remove(&(place, path)) else { continue };
            let visits = self.visits.entry((place, path)).or_default();
            *visits += 1;
            if *visits > MAX_VISITS {
                return Err(damaged("the history leads back to itself".into()).into());
            }
            let Some(own) = self.object_at(place, path) else { continue };
            let parents = self.graph.load_parents(self.git, place)?;
            let mut origins = Vec::new();
            for parent in parents {
                origins.push((parent, path, self.file_at(parent, path, Some(own))?));
            }
            // A parent with the same blob has all of its lines. Look for renames only if no parent has it.
            if !origins.iter().any(|(.., blob)| *blob == Some(own)) {
                for (parent, at, blob) in origins.iter_mut().filter(|(.., blob)| blob.is_none()) {
                    if let Some(before) = self.renamed(*parent, place, path)? {
                        (*at, *blob) = (before, self.file_at(*parent, before, Some(own))?);
                    }
                }
            }
            if let Some((parent, at, _)) = origins.iter().find(|(.., blob)| *blob == Some(own)) {
                self.enqueue((*parent, *at), runs);
                continue;
            }
            for (parent, at, blob) in origins {
                let Some(blob) = blob.filter(|_| !runs.is_empty()) else { continue };
                let common = self.common_lines(blob, own)?;
                let (passed, rest) = split(&runs, &common);
                self.enqueue((parent, at), passed);
                runs = rest;
            }
            if let Some(node) = self.graph.node(place).filter(|_| !runs.is_empty()) {
                return Ok(Some((node.id, runs)));
            }
        }
        Ok(None)
    }

    /// Returns the index of the path that a commit renamed the file from, compared to a parent.
    fn renamed(&mut self, parent: usize, place: usize, path: usize) -> Result<Option<usize>, Rejection> {
        let tree = |place: usize| self.graph.node(place).map(|node| node.tree).ok_or_else(Rejection::record_not_found);
        let (old, new) = (self.git.folder(tree(parent)?)?, self.git.folder(tree(place)?)?);
        let Some(name) = self.paths.get(path).map(PathFilter::path) else { return Ok(None) };
        let extent = self.git.extent(Some(&old), Some(&new))?;
        if extent.is_cut {
            return Ok(None);
        }
        let mut diff = self.git.repo().diff_tree_to_tree(Some(&old), Some(&new), None)?;
        extent.find_renames(&mut diff, RENAME_THRESHOLD)?;
        let before = diff.deltas().find_map(|delta| {
            let is_it = delta.new_file().path_bytes() == Some(&name) && delta.status() == git2::Delta::Renamed;
            delta.old_file().path_bytes().filter(|_| is_it).map(<[u8]>::to_vec)
        });
        let Some(before) = before else { return Ok(None) };
        if let Some(known) = self.paths.iter().position(|known| known.path() == before) {
            return Ok(Some(known));
        }
        self.paths.push(PathFilter::of(&before));
        Ok(Some(self.paths.len() - 1))
    }

    /// Returns the lines that two files have in common according to a diff: their positions in the new and the old
    /// file, and their number. The last run extends to the end.
    fn common_lines(&self, old: Oid, new: Oid) -> Result<Vec<LineRun>, Rejection> {
        self.git.check_size(old, MAX_BLAMED_BYTES)?;
        let (old, new) = (self.git.read_blob(old)?, self.git.read_blob(new)?);
        let mut options = DiffOptions::new();
        options.context_lines(0).force_text(true).indent_heuristic(true);
        let (old, new) = without_common_end(old.content(), new.content());
        let patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
        let (mut common, mut at, mut from) = (Vec::new(), 0, 0);
        for index in 0..patch.num_hunks() {
            let (hunk, _) = patch.hunk(index)?;
            // An empty side of a hunk is positioned at the line before it.
            let begin = |start: u32, lines: u32| (start as usize).saturating_sub(usize::from(lines > 0));
            let changed = begin(hunk.new_start(), hunk.new_lines());
            common.push(LineRun { at, from, len: changed.saturating_sub(at) });
            at = changed + hunk.new_lines() as usize;
            from = begin(hunk.old_start(), hunk.old_lines()) + hunk.old_lines() as usize;
        }
        common.push(LineRun { at, from, len: usize::MAX - at });
        Ok(common)
    }
}

/// Strips the common end of two files in whole blocks, as git does. This affects the result: if several identical lines
/// (such as empty ones) could match, a diff of the whole files may match others.
fn without_common_end<'f>(old: &'f [u8], new: &'f [u8]) -> (&'f [u8], &'f [u8]) {
    let blocks = old.rchunks_exact(BLOCK).zip(new.rchunks_exact(BLOCK)).take_while(|(old, new)| old == new);
    let same = blocks.count() * BLOCK;
    let tail = old.get(old.len() - same..).unwrap_or_default();
    // Keep the line that begins before the blocks whole.
    let same = same - memchr::memchr(b'\n', tail).map_or(same, |end| end + 1);
    let cut = |text: &'f [u8]| text.get(..text.len() - same).unwrap_or(text);
    (cut(old), cut(new))
}

/// Splits lines into those that are also in the old file, at their positions there, and the rest.
fn split(runs: &[LineRun], common: &[LineRun]) -> (Vec<LineRun>, Vec<LineRun>) {
    let (mut passed, mut rest) = (Vec::new(), Vec::new());
    for run in runs {
        let (mut done, end) = (run.from, run.from + run.len);
        let part = |from: usize, to: usize| LineRun { at: run.at + (from - run.from), from, len: to - from };
        let first = common.partition_point(|same| same.at + same.len <= run.from);
        for same in common.iter().skip(first).take_while(|same| same.at < end) {
            let (begin, stop) = (same.at.max(run.from), (same.at + same.len).min(end));
            if begin > done {
                rest.push(part(done, begin));
            }
            if stop > begin {
                passed.push(LineRun { from: same.from + (begin - same.at), ..part(begin, stop) });
            }
            done = stop.max(done);
        }
        if end > done {
            rest.push(part(done, end));
        }
    }
    (passed, rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::{Dice, has_git, stock, write_commit};
    use git2::Repository;

    /// A file under one of two names. Its lines have few different values, so that many are identical.
    #[derive(Clone)]
    struct File {
        name: &'static str,
        lines: Vec<usize>,
    }

    fn edited(dice: &mut Dice, mut file: File) -> File {
        for _ in 0..dice.below(4) {
            let at = dice.below(file.lines.len() + 1);
            match dice.below(3) {
                0 if at < file.lines.len() => drop(file.lines.remove(at)),
                1 if at < file.lines.len() => file.lines[at] = dice.below(40),
                _ => file.lines.insert(at, dice.below(40)),
            }
        }
        file
    }

    /// Generates a history, and returns its latest commit with the name of the file there.
    fn history(dice: &mut Dice, repo: &Repository) -> (Oid, &'static str) {
        let mut all: Vec<(Oid, File)> = Vec::new();
        for n in 0..2 + dice.below(25) {
            let count = [1, 1, 1, 1, 1, 2, 2, 3][dice.below(8)].min(n);
            let parents = dice.parents(n, count, 5);
            let start = || File { name: "a", lines: (0..30).collect() };
            let mut file = parents.first().map_or_else(start, |parent| all[*parent].1.clone());
            if let Some(other) = parents.get(1) {
                // A merge takes the beginning from one side and the end from the other.
                let other = &all[*other].1.lines;
                let cut = dice.below(file.lines.len().min(other.len()) + 1);
                file.lines.splice(cut.., other[cut..].iter().copied());
            }
            // Files are renamed without changes: the similarity threshold differs between programs.
            if count == 1 && dice.below(8) == 0 {
                file.name = if file.name == "a" { "b" } else { "a" };
            } else if count < 2 || dice.below(2) == 0 {
                file = edited(dice, file);
            }
            let text: String = file.lines.iter().map(|line| format!("line {line}\n")).collect();
            let text = if dice.below(6) == 0 { text.trim_end().to_owned() } else { text };
            let seconds = 1_500_000_000 + [n, dice.below(9)][dice.below(2)] as i64;
            let parents: Vec<Oid> = parents.iter().map(|parent| all[*parent].0).collect();
            let files = [("n", &*format!("{n} of it\n").repeat(9)), (file.name, &*text)];
            all.push((write_commit(repo, n, seconds, &parents, &files), file));
        }
        let (id, file) = all.pop().unwrap();
        (id, file.name)
    }

    #[test]
    fn blame_matches_git() {
        for seed in 0..100 {
            let (folder, mut dice) = (tempfile::tempdir().unwrap(), Dice(seed));
            let repo = Repository::init_bare(folder.path()).unwrap();
            let (commit, name) = history(&mut dice, &repo);
            let parts = Git::open(folder.path(), None).unwrap().blame(commit, name).unwrap();
            assert!(parts.windows(2).all(|pair| pair[0].0 != pair[1].0), "{seed}: {parts:?}");
            let lines: Vec<Oid> = parts.iter().flat_map(|(id, lines)| std::iter::repeat_n(*id, *lines)).collect();
            if has_git() {
                let stock = stock(folder.path(), &["blame", "-l", "-s", "--root", &commit.to_string(), "--", name]);
                assert_eq!(lines, stock, "seed {seed} in {:?}", folder.keep());
            }
        }
    }

    #[test]
    fn partial_clones_say_what_is_missing() {
        if !has_git() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (origin, clone) = (folder.path().join("origin"), folder.path().join("clone"));
        let repo = Repository::init_bare(&origin).unwrap();
        let first = write_commit(&repo, 1, 1_500_000_000, &[], &[("a", "one\ntwo\n")]);
        let second = write_commit(&repo, 2, 1_500_000_100, &[first], &[("a", "one\ntwo\nthree\n"), ("b", "x\n")]);
        repo.reference("refs/heads/main", second, true, "").unwrap();
        repo.set_head("refs/heads/main").unwrap();
        repo.config().unwrap().set_bool("uploadpack.allowFilter", true).unwrap();
        // git 2.39 and 2.55 write `remote.origin.promisor` and a `*.promisor` beside the pack, and no extension.
        let url = format!("file://{}", origin.display());
        let cloned = std::process::Command::new("git")
            .args(["clone", "--quiet", "--filter=blob:none", &url])
            .arg(&clone)
            .status();
        assert!(cloned.unwrap().success());
        let git = Git::open(&clone.join(".git"), None).unwrap();
        let told = |why: Rejection| why.body.to_string();
        let blame = told(git.blame(second, "a").unwrap_err());
        assert!(blame.contains("The clone is partial") && blame.contains("git fetch --refetch --no-filter"), "{blame}");
        let diff = told(git.commit_changes(second).map(drop).unwrap_err());
        assert!(diff.contains("The clone is partial") && !diff.contains("damaged"), "{diff}");
        // What is there is read.
        assert!(git.read_blob(Oid::hash_object(ObjectType::Blob, b"x\n").unwrap()).is_ok());
        let fetched = std::process::Command::new("git")
            .current_dir(&clone)
            .args(["fetch", "--quiet", "--refetch", "--no-filter"])
            .status();
        assert!(fetched.unwrap().success());
        let git = Git::open(&clone.join(".git"), None).unwrap();
        assert_eq!(git.blame(second, "a").unwrap(), [(first, 2), (second, 1)]);
    }

    #[test]
    fn common_ends_are_stripped_at_line_ends() {
        let tail = "line\n".repeat(500);
        let (old, new) = (format!("a\n{tail}"), format!("b\n{tail}"));
        let (left, right) = without_common_end(old.as_bytes(), new.as_bytes());
        assert_eq!((old.len() - left.len(), left.ends_with(b"\n")), (new.len() - right.len(), true));
        assert!(left.len() < 1_500 && left.len() > 400, "{}", left.len());
        assert_eq!(without_common_end(b"a", b"a"), (&b"a"[..], &b"a"[..]));
    }

    #[test]
    fn long_history_is_followed_to_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        let odb = repo.odb().unwrap();
        let mut tree = repo.treebuilder(None).unwrap();
        tree.insert("a", repo.blob(b"one\ntwo\n").unwrap(), 0o100644).unwrap();
        let tree = tree.write().unwrap();
        let mut newest: Option<Oid> = None;
        let mut first = None;
        for n in 0..5_100 {
            let parent = newest.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
            let by = format!("Ada <ada@x> {} +0000", 1_500_000_000 + n);
            let text = format!("tree {tree}\n{parent}author {by}\ncommitter {by}\n\n{n}\n");
            newest = Some(odb.write(ObjectType::Commit, text.as_bytes()).unwrap());
            first = first.or(newest);
        }
        let found = Git::open(folder.path(), None).unwrap().blame(newest.unwrap(), "a").unwrap();
        assert_eq!(found, [(first.unwrap(), 2)]);
    }

    #[test]
    fn a_history_that_leads_back_to_itself_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(folder.path()).unwrap();
        let tree = repo.treebuilder(None).and_then(|mut tree| {
            tree.insert("a", repo.blob(b"one\n").unwrap(), 0o100644).unwrap();
            tree.write()
        });
        // The hashes of objects are not verified, as in stock git, so a file can have the name of any commit.
        let [one, other] = ["11", "22"].map(|byte| byte.repeat(20));
        for (id, parent) in [(&one, &other), (&other, &one)] {
            let by = "Ada <ada@x> 1500000000 +0000";
            let text = format!("tree {}\nparent {parent}\nauthor {by}\ncommitter {by}\n\nx\n", tree.as_ref().unwrap());
            let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut packed, format!("commit {}\0{text}", text.len()).as_bytes()).unwrap();
            let place = folder.path().join("objects").join(&id[..2]);
            std::fs::create_dir_all(&place).unwrap();
            std::fs::write(place.join(&id[2..]), packed.finish().unwrap()).unwrap();
        }
        let (one, git) = (Oid::from_str(&one).unwrap(), Git::open(folder.path(), None).unwrap());
        let why = git.blame(one, "a").unwrap_err();
        assert!(why.body.to_string().contains("leads back to itself"), "{why:?}");
        assert!(git.log(&crate::git::LogQuery { from: vec![one], ..Default::default() }, 0, 9).is_ok());
    }
}
