//! Blame: the commit that last changed each line of a file, from the server, or computed from the commits that changed
//! the file, its content at each of them, and the differences between them. Servers before 12.2 have no blame endpoint.
//!
//! The history is used in the order in which the server lists it, newest first, one version after the other. Where
//! branches ran in parallel, a line may be attributed to the commit that was listed last.

use super::source::TreeSource;
use crate::api::commits::{Commit, GetCommitDiff, ListCommits};
use crate::api::repository::{BlameRange, GetBlame, GetRawBlob, ListTree, TreeEntry};
use crate::api::{Id, Raw, Time};
use crate::app::view::View;
use crate::domain::edits::edits;
use crate::parts::list::more_words;
use crate::store::{Canceled, Derive, Load, Rows, Want, Work};
use crate::ui::code::Text;
use crate::ui::{glyph, text};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// The maximum number of commits that are read.
const MAX_COMMITS: usize = 1000;
/// The number of versions that are prefetched beyond the current one.
const PREFETCHED: usize = 4;
/// The maximum number of pages of a folder that are searched for the file.
const MAX_PAGES: u32 = 30;
/// The maximum size of a version that is compared, in bytes.
const MAX_COMPARED_BYTES: usize = 16 * 1024 * 1024;
/// The maximum time for comparing two versions, after which the rest counts as changed.
const DIFF_TIMEOUT: Duration = Duration::from_secs(3);

/// A version of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct BlameStep {
    /// The SHA of the commit.
    pub sha: String,
    pub title: String,
    pub author: String,
    pub when: Option<Time>,
    /// The path of the file in that commit.
    path: String,
    parent: Option<String>,
}

impl BlameStep {
    /// Returns the commit before this one, and the path of the file there as far as it is known.
    pub fn before(&self) -> Option<(&str, &str)> {
        Some((self.parent.as_deref()?, &self.path))
    }

    /// Returns the request for the changes of the commit, which may have renamed or added the file.
    pub fn changes(&self, project: &Id) -> GetCommitDiff {
        GetCommitDiff { id: project.clone(), sha: self.sha.clone() }
    }
}

/// The lines of the file that are attributed so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlamedLines {
    /// For each line of the file, the step that added it.
    owners: Vec<Option<u32>>,
    /// The current version: for each line its hash, and the line of the file that it corresponds to.
    lines: Vec<(u64, Option<u32>)>,
    /// The number of lines without a known step.
    left: usize,
}

impl BlamedLines {
    fn start(version: &Text) -> BlamedLines {
        let lines: Vec<_> = numbers(version).enumerate().map(|(at, number)| (number, Some(at as u32))).collect();
        BlamedLines { owners: vec![None; lines.len()], left: lines.len(), lines }
    }

    /// Moves from the current version, which `step` created, to the one before it. Lines that are not in `before` are
    /// attributed to the step.
    fn step_back(&self, step: u32, before: Option<&Text>) -> BlamedLines {
        let mut next = BlamedLines { lines: Vec::new(), ..self.clone() };
        let older: Vec<u64> = before.map(|text| numbers(text).collect()).unwrap_or_default();
        next.lines = older.iter().map(|number| (*number, None)).collect();
        let newer = self.lines.iter().map(|(number, _)| *number);
        for edit in edits(older, newer, DIFF_TIMEOUT) {
            let lines = self.lines.get(edit.new).unwrap_or_default();
            if edit.is_equal {
                let older = next.lines.get_mut(edit.old).unwrap_or_default();
                older.iter_mut().zip(lines).for_each(|(old, (_, line))| old.1 = *line);
                continue;
            }
            for (_, line) in lines {
                if let Some(owner) = line.and_then(|line| next.owners.get_mut(line as usize)) {
                    *owner = Some(step);
                    next.left -= 1;
                }
            }
        }
        next
    }
}

/// Returns the step for a commit in which the file had that path.
fn step_of(commit: &Commit, path: &str) -> BlameStep {
    // The blame endpoint returns only the message.
    let first = commit.message.lines().next().unwrap_or_default();
    BlameStep {
        sha: commit.id.clone(),
        title: if commit.title.is_empty() { first.to_owned() } else { commit.title.clone() },
        author: commit.author_name.clone(),
        when: commit.date().cloned(),
        path: path.to_owned(),
        parent: commit.parent_ids.first().cloned(),
    }
}

/// Returns a hash of each line, without its line ending.
fn numbers(text: &Text) -> impl Iterator<Item = u64> {
    (0..text.len()).map(|line| {
        let mut hasher = DefaultHasher::new();
        text.line(line).hash(&mut hasher);
        hasher.finish()
    })
}

/// The computation of one step.
struct BlameWork {
    key: String,
    /// The result so far; `None` for the first step.
    so_far: Option<Arc<BlamedLines>>,
    /// The current file.
    now: Arc<Text>,
    step: u32,
    /// The version before; `None` if the step created the file.
    before: Option<Arc<Raw>>,
}

impl Derive for BlameWork {
    type Output = Arc<BlamedLines>;
    fn key(&self) -> String {
        self.key.clone()
    }
    fn run(&self, _: Canceled<'_>) -> Arc<BlamedLines> {
        let before = self.before.as_ref().filter(|raw| raw.bytes.len() <= MAX_COMPARED_BYTES);
        let before = before.map(|raw| Text::new(raw.bytes.clone()));
        let start = || Arc::new(BlamedLines::start(&self.now));
        let so_far = self.so_far.clone().unwrap_or_else(start);
        Arc::new(so_far.step_back(self.step, before.as_ref()))
    }
}

/// The blame of a file, as far as it is computed.
pub struct Blame {
    source: TreeSource,
    /// The hash and the path of the file, which identify it.
    name: String,
    now: Arc<Text>,
    /// The request to the server's blame endpoint.
    endpoint: GetBlame,
    /// The ref and the path that the history is currently listed for.
    from: (Option<String>, String),
    pages: u32,
    /// The number of commits of that list that were processed.
    taken: usize,
    steps: Vec<BlameStep>,
    /// Whether the list is complete and the file has no older path.
    history_complete: bool,
    /// The hash of the file at each step; `None` if it does not exist there.
    blobs: HashMap<usize, Option<String>>,
    folder_pages: HashMap<usize, u32>,
    done: usize,
    traced: Option<Arc<BlamedLines>>,
    failed: Option<String>,
}

impl Blame {
    /// Starts the blame of the file `now` at `source`.
    pub fn new(source: &TreeSource, path: &str, sha: &str, now: Arc<Text>) -> Blame {
        let failed = (now.bytes_len() > MAX_COMPARED_BYTES).then(|| "the file is too large for blame".to_owned());
        Blame {
            source: source.clone(),
            name: format!("{sha} {path}"),
            now,
            endpoint: GetBlame {
                id: source.project.clone(),
                path: path.to_owned(),
                r#ref: source.ref_name().unwrap_or_else(|| "HEAD".to_owned()),
            },
            from: (source.ref_name(), path.to_owned()),
            pages: 1,
            taken: 0,
            steps: Vec::new(),
            history_complete: false,
            blobs: HashMap::new(),
            folder_pages: HashMap::new(),
            done: 0,
            traced: None,
            failed,
        }
    }

    /// Returns the step that added a line of the file, if known.
    pub fn owner(&self, line: usize) -> Option<&BlameStep> {
        let owner = (*self.traced.as_ref()?.owners.get(line)?)?;
        self.steps.get(owner as usize)
    }

    /// Returns whether the blame is complete or gave up.
    fn is_over(&self) -> bool {
        let is_traced = self.traced.as_ref().is_some_and(|traced| traced.left == 0);
        self.failed.is_some()
            || is_traced
            || self.done >= MAX_COMMITS
            || self.history_complete && self.done >= self.steps.len()
    }

    /// Returns the progress or the result in a few words.
    pub fn message(&self) -> String {
        let done = text::count(self.done as u64);
        let more = if self.history_complete { "" } else { "+" };
        match &self.failed {
            Some(why) => format!("blame: {why}"),
            None if self.done >= MAX_COMMITS => {
                format!("blame of the last {done} commits; older lines are not attributed")
            }
            None if self.blobs.is_empty() && self.is_over() => {
                format!("blame, {done} commit{}", if self.done == 1 { "" } else { "s" })
            }
            None if self.is_over() => {
                format!("blame, computed from {done} commit{}", if self.done == 1 { "" } else { "s" })
            }
            None if self.steps.is_empty() => "blame: reading the history".into(),
            None => {
                format!("blame {} {done} of {}{more} commits", glyph::alive(), text::count(self.steps.len() as u64))
            }
        }
    }

    fn log(&self) -> ListCommits {
        ListCommits {
            id: self.source.project.clone(),
            ref_name: self.from.0.clone(),
            path: Some(self.from.1.clone()),
            ..ListCommits::default()
        }
    }

    fn folder(&self, step: &BlameStep) -> ListTree {
        let folder = step.path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        ListTree { id: self.source.project.clone(), path: folder, r#ref: Some(step.sha.clone()), ..ListTree::default() }
    }

    fn raw(&self, sha: &str) -> GetRawBlob {
        GetRawBlob { id: self.source.project.clone(), sha: sha.to_owned() }
    }

    /// Returns the request for the diff of the last listed commit, which may have renamed the file.
    fn origin(&self) -> Option<GetCommitDiff> {
        Some(self.steps.last()?.changes(&self.source.project))
    }

    fn is_history_listed(&self, view: &View) -> bool {
        let rows: Rows<'_, Commit> = view.store.list(&self.log());
        rows.is_loaded && !rows.has_more && self.taken >= rows.len()
    }

    fn window(&self) -> std::ops::Range<usize> {
        self.done..self.steps.len().min(self.done + PREFETCHED + 1)
    }

    fn key(&self, step: usize) -> String {
        format!("blame {} {step}", self.name)
    }

    /// Returns the version before the current step, `Some(None)` if there is none, or `None` while it is not known.
    fn before(&self, view: &View) -> Option<Option<Arc<Raw>>> {
        let older = self.done + 1;
        if older >= self.steps.len() {
            return (self.history_complete && older == self.steps.len()).then_some(None);
        }
        match self.blobs.get(&older)? {
            Some(sha) => view.store.get(&self.raw(sha)).arc().map(Some),
            None => Some(None),
        }
    }

    /// Returns the requests and computations that are needed next.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        if self.is_over() {
            return Vec::new();
        }
        let rows: Rows<'_, BlameRange> = view.store.list(&self.endpoint);
        if !rows.is_loaded && rows.error.is_none() {
            return view.if_supported(&self.endpoint, 1).map(Want::from).into_iter().collect();
        }
        let mut wants: Vec<Want> = vec![Load::list(&self.log(), self.pages).into()];
        if self.is_history_listed(view)
            && !self.history_complete
            && let Some(diff) = self.origin()
        {
            wants.push(Load::single(&diff).into());
        }
        for index in self.window() {
            let Some(step) = self.steps.get(index) else { continue };
            match self.blobs.get(&index) {
                None => {
                    let pages = self.folder_pages.get(&index).copied().unwrap_or(1);
                    wants.push(Load::list(&self.folder(step), pages).optional().into());
                }
                Some(Some(sha)) if index > self.done => wants.push(Load::single(&self.raw(sha)).into()),
                Some(_) => {}
            }
        }
        if let Some(before) = self.before(view) {
            let (key, so_far, now, step) =
                (self.key(self.done), self.traced.clone(), self.now.clone(), self.done as u32);
            wants.push(Work::new(BlameWork { key, so_far, now, step, before }).into());
        }
        wants
    }

    /// Processes new results after a store update.
    pub fn changed(&mut self, view: &View) {
        if self.take_server_blame(view) {
            return;
        }
        self.take_commits(view);
        self.take_blobs(view);
        // One update may contain the results of several steps.
        while !self.is_over() {
            let same = match (self.blobs.get(&self.done), self.blobs.get(&(self.done + 1))) {
                (Some(Some(here)), Some(Some(older))) => here == older,
                _ => false,
            };
            if same {
                self.done += 1;
                continue;
            }
            let Some(traced) = view.store.result::<Arc<BlamedLines>>(&self.key(self.done)) else { break };
            self.traced = Some(traced.clone());
            self.done += 1;
        }
    }

    /// Uses the server's blame if it matches this file; returns whether nothing has to be computed locally.
    fn take_server_blame(&mut self, view: &View) -> bool {
        let rows: Rows<'_, BlameRange> = view.store.list(&self.endpoint);
        if self.is_over() || !rows.is_loaded {
            return self.is_over() || rows.error.is_none() && !view.store.is_unsupported::<GetBlame>();
        }
        // The branch may have moved since the file was read.
        if rows.iter().map(|range| range.lines.len()).sum::<usize>() != self.now.len() {
            return false;
        }
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut owners = Vec::with_capacity(self.now.len());
        for range in rows.iter() {
            let Some(commit) = &range.commit else { return false };
            let number = *numbers.entry(&commit.id).or_insert_with(|| {
                self.steps.push(step_of(commit, &self.endpoint.path));
                self.steps.len() as u32 - 1
            });
            owners.extend(range.lines.iter().map(|_| Some(number)));
        }
        (self.done, self.history_complete) = (self.steps.len(), true);
        self.traced = Some(Arc::new(BlamedLines { owners, lines: Vec::new(), left: 0 }));
        true
    }

    fn take_commits(&mut self, view: &View) {
        let rows: Rows<'_, Commit> = view.store.list(&self.log());
        if let Some(error) = rows.error.filter(|_| !rows.is_loaded) {
            self.failed = Some(error.message());
            return;
        }
        for index in self.taken..rows.len() {
            let Some(commit) = rows.get(index) else { break };
            self.steps.push(step_of(commit, &self.from.1));
        }
        self.taken = rows.len().max(self.taken);
        if let Some(cut) = rows.cut.filter(|_| self.taken >= rows.len() && self.done + 1 >= self.steps.len()) {
            self.failed = Some(format!("the history has {}", more_words(Some(cut))));
            return;
        }
        if rows.has_next(u32::MAX) && self.steps.len() < MAX_COMMITS && self.done + 2 * PREFETCHED > self.steps.len() {
            self.pages = rows.pages() + 1;
        }
        if self.history_complete || !self.is_history_listed(view) {
            return;
        }
        let Some(diff) = self.origin() else {
            self.failed = rows.is_loaded.then(|| "the server lists no commits for it".into());
            return;
        };
        let diff = view.store.get(&diff);
        let renamed = diff.value.map(|entries| {
            let entry = entries.iter().find(|e| e.new_path == self.from.1 && e.renamed_file);
            entry.map(|e| e.old_path.clone()).filter(|old| *old != self.from.1)
        });
        let parent = self.steps.last().and_then(|step| step.parent.clone());
        match (renamed, parent) {
            (Some(Some(old)), Some(parent)) => {
                self.from = (Some(parent), old);
                (self.pages, self.taken) = (1, 0);
            }
            (Some(_), _) => self.history_complete = true,
            (None, _) => self.history_complete = diff.error.is_some(),
        }
    }

    fn take_blobs(&mut self, view: &View) {
        for index in self.window() {
            if self.blobs.contains_key(&index) {
                continue;
            }
            let Some(step) = self.steps.get(index) else { continue };
            let name = step.path.rsplit('/').next().unwrap_or_default();
            let rows: Rows<'_, TreeEntry> = view.store.list(&self.folder(step));
            match rows.iter().find(|entry| entry.name == name) {
                Some(entry) => _ = self.blobs.insert(index, Some(entry.id.clone())),
                None if rows.is_loaded && rows.has_next(MAX_PAGES) => {
                    self.folder_pages.insert(index, rows.pages() + 1);
                }
                None if rows.is_loaded || rows.error.is_some() => _ = self.blobs.insert(index, None),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &str) -> Text {
        Text::new(words.replace(' ', "\n").into_bytes())
    }

    #[test]
    fn each_line_belongs_to_the_commit_that_added_it() {
        let traced = BlamedLines::start(&text("a b X c d"));
        let traced = traced.step_back(0, Some(&text("a b c d")));
        assert_eq!((traced.owners[2], traced.left), (Some(0), 4));
        // A version that moved lines keeps those that it did not change.
        let traced = traced.step_back(1, Some(&text("b c")));
        assert_eq!(traced.owners, [Some(1), None, Some(0), None, Some(1)]);
        let traced = traced.step_back(2, None);
        assert_eq!(traced.owners, [Some(1), Some(2), Some(0), Some(2), Some(1)]);
        assert_eq!(traced.left, 0);
    }

    #[test]
    fn an_empty_file_is_blamed_immediately() {
        assert_eq!(BlamedLines::start(&text("")).left, 0);
        assert_eq!(BlamedLines::start(&text("")).step_back(0, None).owners, []);
    }
}
