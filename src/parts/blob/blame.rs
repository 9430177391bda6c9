//! Who wrote each line of a file: as the server tells it, or computed from its history: the commits that changed it,
//! its content at each of them, and what differs between one and the next. Servers before 12.2 do not tell it
//! themselves.
//!
//! The history is taken as the server lists it, newest first, one version after the other; where lines of work ran side
//! by side, a line may be given to the one that was listed last.

use super::source::Source;
use crate::api::commits::{Commit, GetCommitDiff, ListCommits};
use crate::api::repository::{BlameRange, GetBlame, GetRawBlob, ListTree, TreeEntry};
use crate::api::{Raw, Time};
use crate::app::pane::View;
use crate::store::{Canceled, Derive, Load, Rows, Want, Work};
use crate::ui::code::Text;
use crate::ui::edits::edits;
use crate::ui::{glyph, text};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// Commits that are read at most.
const MOST: usize = 1000;
/// Versions that are fetched ahead of the one at hand.
const AHEAD: usize = 4;
/// Pages of a folder that are looked through for the file.
const PAGES: u32 = 30;
/// Bytes of a version that is compared.
const LARGEST: usize = 16 * 1024 * 1024;
/// How long two versions are compared before the rest counts as changed.
const PATIENCE: Duration = Duration::from_secs(3);

/// A version of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct BlameStep {
    /// The commit.
    pub sha: String,
    pub title: String,
    pub author: String,
    pub when: Option<Time>,
    /// Its path then.
    path: String,
    parent: Option<String>,
}

/// Which lines of the file are told so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlamedLines {
    /// For each line of the file, the step that brought it.
    owners: Vec<Option<u32>>,
    /// The version at hand: a number for each line, and the line of the file that it is.
    lines: Vec<(u64, Option<u32>)>,
    /// Lines that no step is known for.
    left: usize,
}

impl BlamedLines {
    fn start(version: &Text) -> BlamedLines {
        let lines: Vec<_> = numbers(version).enumerate().map(|(at, number)| (number, Some(at as u32))).collect();
        BlamedLines { owners: vec![None; lines.len()], left: lines.len(), lines }
    }

    /// Goes from the version at hand, which `step` made, to the one before it: what is not there is the step's.
    fn back(&self, step: u32, before: Option<&Text>) -> BlamedLines {
        let mut next = BlamedLines { lines: Vec::new(), ..self.clone() };
        let older: Vec<u64> = before.map(|text| numbers(text).collect()).unwrap_or_default();
        next.lines = older.iter().map(|number| (*number, None)).collect();
        let newer = self.lines.iter().map(|(number, _)| *number);
        for edit in edits(older, newer, PATIENCE) {
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

/// A commit that had the file under that path.
fn step_of(commit: &Commit, path: &str) -> BlameStep {
    // What tells the blame says the message alone.
    let first = commit.message.lines().next().unwrap_or_default();
    BlameStep {
        sha: commit.id.clone(),
        title: if commit.title.is_empty() { first.to_owned() } else { commit.title.clone() },
        author: commit.author_name.clone(),
        when: commit.when().cloned(),
        path: path.to_owned(),
        parent: commit.parent_ids.first().cloned(),
    }
}

/// A number for each line, whatever its end.
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
    /// What is known so far; nothing at the start.
    so_far: Option<Arc<BlamedLines>>,
    /// The file as it is.
    now: Arc<Text>,
    step: u32,
    /// The version before; none where the step made the file.
    before: Option<Arc<Raw>>,
}

impl Derive for BlameWork {
    type Output = Arc<BlamedLines>;
    fn key(&self) -> String {
        self.key.clone()
    }
    fn run(&self, _: Canceled<'_>) -> Arc<BlamedLines> {
        let before = self.before.as_ref().filter(|raw| raw.bytes.len() <= LARGEST);
        let before = before.map(|raw| Text::new(raw.bytes.clone()));
        let start = || Arc::new(BlamedLines::start(&self.now));
        let so_far = self.so_far.clone().unwrap_or_else(start);
        Arc::new(so_far.back(self.step, before.as_ref()))
    }
}

/// The lines of one file, and who wrote them, as far as that is computed.
pub struct Blame {
    source: Source,
    /// Names the file: its hash and path.
    name: String,
    now: Arc<Text>,
    /// What the server tells, if it does.
    told: GetBlame,
    /// From which ref, and under which path, the history is listed now.
    from: (Option<String>, String),
    pages: u32,
    /// How many commits of that list were taken.
    taken: usize,
    steps: Vec<BlameStep>,
    /// Whether the list ended, and the file has no older name.
    whole: bool,
    /// Hash of the file at each step; nothing where it is not there.
    blobs: HashMap<usize, Option<String>>,
    folder_pages: HashMap<usize, u32>,
    done: usize,
    traced: Option<Arc<BlamedLines>>,
    failed: Option<String>,
}

impl Blame {
    /// Begins with the file as it is at `source`.
    pub fn new(source: &Source, path: &str, sha: &str, now: Arc<Text>) -> Blame {
        let failed = (now.bytes_len() > LARGEST).then(|| "the file is too large for blame".to_owned());
        Blame {
            source: source.clone(),
            name: format!("{sha} {path}"),
            now,
            told: GetBlame {
                id: source.project.clone(),
                path: path.to_owned(),
                r#ref: source.git_ref.clone().unwrap_or_else(|| "HEAD".to_owned()),
            },
            from: (source.git_ref.clone(), path.to_owned()),
            pages: 1,
            taken: 0,
            steps: Vec::new(),
            whole: false,
            blobs: HashMap::new(),
            folder_pages: HashMap::new(),
            done: 0,
            traced: None,
            failed,
        }
    }

    /// Returns who brought a line of the file; `None` while that is not known.
    pub fn owner(&self, line: usize) -> Option<&BlameStep> {
        let owner = (*self.traced.as_ref()?.owners.get(line)?)?;
        self.steps.get(owner as usize)
    }

    /// Returns whether nothing more comes.
    fn is_over(&self) -> bool {
        let is_traced = self.traced.as_ref().is_some_and(|traced| traced.left == 0);
        self.failed.is_some() || is_traced || self.done >= MOST || self.whole && self.done >= self.steps.len()
    }

    /// Returns how far it got.
    pub fn message(&self) -> String {
        let done = text::count(self.done as u64);
        let more = if self.whole { "" } else { "+" };
        match &self.failed {
            Some(why) => format!("blame: {why}"),
            None if self.done >= MOST => format!("blame of the last {done} commits; older lines are not attributed"),
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
        ListTree { id: self.source.project.clone(), path: folder, r#ref: Some(step.sha.clone()), recursive: None }
    }

    fn raw(&self, sha: &str) -> GetRawBlob {
        GetRawBlob { id: self.source.project.clone(), sha: sha.to_owned() }
    }

    /// Returns what the last listed commit did: the file may have had another name before it.
    fn origin(&self) -> Option<GetCommitDiff> {
        let last = self.steps.last()?;
        Some(GetCommitDiff { id: self.source.project.clone(), sha: last.sha.clone() })
    }

    fn listed_whole(&self, view: &View) -> bool {
        let rows: Rows<'_, Commit> = view.store.list(&self.log());
        rows.known && !rows.more && self.taken >= rows.len()
    }

    fn window(&self) -> std::ops::Range<usize> {
        self.done..self.steps.len().min(self.done + AHEAD + 1)
    }

    fn key(&self, step: usize) -> String {
        format!("blame {} {step}", self.name)
    }

    /// Returns what the next step needs beside what is known: the version before, or that there is none.
    fn before(&self, view: &View) -> Option<Option<Arc<Raw>>> {
        let older = self.done + 1;
        if older >= self.steps.len() {
            return (self.whole && older == self.steps.len()).then_some(None);
        }
        match self.blobs.get(&older)? {
            Some(sha) => view.store.get(&self.raw(sha)).arc().map(Some),
            None => Some(None),
        }
    }

    /// Returns what it needs now.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        if self.is_over() {
            return Vec::new();
        }
        let told: Rows<'_, BlameRange> = view.store.list(&self.told);
        if !told.known && told.error.is_none() {
            return view.if_supported(&self.told, 1).map(Want::from).into_iter().collect();
        }
        let mut wants: Vec<Want> = vec![Load::list(&self.log(), self.pages).into()];
        if self.listed_whole(view)
            && !self.whole
            && let Some(diff) = self.origin()
        {
            wants.push(Load::one(&diff).into());
        }
        for index in self.window() {
            let Some(step) = self.steps.get(index) else { continue };
            match self.blobs.get(&index) {
                None => {
                    let pages = self.folder_pages.get(&index).copied().unwrap_or(1);
                    wants.push(Load::list(&self.folder(step), pages).into());
                }
                Some(Some(sha)) if index > self.done => wants.push(Load::one(&self.raw(sha)).into()),
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

    /// After an update: takes in what came.
    pub fn changed(&mut self, view: &View) {
        if self.take_told(view) {
            return;
        }
        self.take_commits(view);
        self.take_blobs(view);
        // One update may hold several steps' worth of news.
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

    /// Takes what the server tells, where it is about this file; whether nothing is to be computed.
    fn take_told(&mut self, view: &View) -> bool {
        let rows: Rows<'_, BlameRange> = view.store.list(&self.told);
        if self.is_over() || !rows.known {
            return self.is_over() || rows.error.is_none() && !view.store.is_unsupported::<GetBlame>();
        }
        // A branch may have moved since the file was read.
        if rows.iter().map(|range| range.lines.len()).sum::<usize>() != self.now.len() {
            return false;
        }
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut owners = Vec::with_capacity(self.now.len());
        for range in rows.iter() {
            let Some(commit) = &range.commit else { return false };
            let number = *numbers.entry(&commit.id).or_insert_with(|| {
                self.steps.push(step_of(commit, &self.told.path));
                self.steps.len() as u32 - 1
            });
            owners.extend(range.lines.iter().map(|_| Some(number)));
        }
        (self.done, self.whole) = (self.steps.len(), true);
        self.traced = Some(Arc::new(BlamedLines { owners, lines: Vec::new(), left: 0 }));
        true
    }

    fn take_commits(&mut self, view: &View) {
        let rows: Rows<'_, Commit> = view.store.list(&self.log());
        if let Some(error) = rows.error.filter(|_| !rows.known) {
            self.failed = Some(error.message());
            return;
        }
        for index in self.taken..rows.len() {
            let Some(commit) = rows.get(index) else { break };
            self.steps.push(step_of(commit, &self.from.1));
        }
        self.taken = rows.len().max(self.taken);
        if rows.more && self.steps.len() < MOST && self.done + 2 * AHEAD > self.steps.len() {
            self.pages = rows.pages() + 1;
        }
        if self.whole || !self.listed_whole(view) {
            return;
        }
        let Some(diff) = self.origin() else {
            self.failed = rows.known.then(|| "the server lists no commits for it".into());
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
            (Some(_), _) => self.whole = true,
            (None, _) => self.whole = diff.error.is_some(),
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
                None if rows.known && rows.more && rows.pages() < PAGES => {
                    self.folder_pages.insert(index, rows.pages() + 1);
                }
                None if rows.known || rows.error.is_some() => _ = self.blobs.insert(index, None),
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
    fn each_line_belongs_to_the_step_that_brought_it() {
        let traced = BlamedLines::start(&text("a b X c d"));
        let traced = traced.back(0, Some(&text("a b c d")));
        assert_eq!((traced.owners[2], traced.left), (Some(0), 4));
        // A version that moved lines about keeps what it did not touch.
        let traced = traced.back(1, Some(&text("b c")));
        assert_eq!(traced.owners, [Some(1), None, Some(0), None, Some(1)]);
        let traced = traced.back(2, None);
        assert_eq!(traced.owners, [Some(1), Some(2), Some(0), Some(2), Some(1)]);
        assert_eq!(traced.left, 0);
    }

    #[test]
    fn an_empty_file_is_told_at_once() {
        assert_eq!(BlamedLines::start(&text("")).left, 0);
        assert_eq!(BlamedLines::start(&text("")).back(0, None).owners, []);
    }
}
