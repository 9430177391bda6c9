//! The commits that changed some lines of a file. The lines are followed back through the diffs of the file's log, one
//! commit after the other.
//!
//! The log follows only the first parents of merges. So each of its commits is compared with the version before, and the
//! lines are where the diffs say. A merge stands for what its branch changed.

use crate::api::Id;
use crate::api::commit_data::CommitData;
use crate::api::commits::{Commit, DiffEntry, GetCommitDiff, ListCommits};
use crate::app::view::View;
use crate::domain::lines_before::lines_before;
use crate::parts::repository::changed_files::FileLocation;
use crate::parts::repository::commit_view::MAX_PAGES;
use crate::store::{ListQuery, Load, Rows, Want};
use crate::ui::text;
use std::collections::HashMap;
use std::ops::Range;

/// The maximum number of commits whose diffs are read.
const MAX_COMMITS: usize = 500;
/// The number of diffs that are requested at the same time.
const CONCURRENT_DIFFS: usize = 4;

/// Lines of a file, and the commits that changed them, as far as they were followed.
pub struct LineHistory {
    project: Id,
    /// The log of the path, and those of its earlier paths.
    logs: Vec<ListCommits>,
    /// The number of commits of the last log that were read, and of all.
    read: usize,
    read_in_all: usize,
    /// The path and the lines in the version before those commits.
    path: String,
    lines: Range<u32>,
    /// The commits that changed the lines, and where those are in their version.
    found: HashMap<String, FileLocation>,
    /// Whether there is nothing left to read, and the reason if it could not be read.
    end: Option<Result<(), String>>,
}

impl LineHistory {
    /// Starts at the newest version of `log`, which has a path and follows first parents.
    pub fn new(log: &ListCommits, lines: Range<u32>) -> LineHistory {
        LineHistory {
            project: log.id.clone(),
            logs: vec![log.clone()],
            read: 0,
            read_in_all: 0,
            path: log.path.clone().unwrap_or_default(),
            lines,
            found: HashMap::new(),
            end: None,
        }
    }

    /// Returns the query for the commits of the file.
    pub fn query(&self) -> ListQuery<Commit> {
        ListQuery::chain(&self.logs)
    }

    /// Returns the number of commits that were found.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// Returns where the lines are in the version of a commit that changed them.
    pub fn location(&self, commit: &str) -> Option<&FileLocation> {
        self.found.get(commit)
    }

    /// Returns the title above the commits, or the reason why there are no more, and the progress.
    pub fn heading(&self, title: &str) -> (String, String) {
        let read = format!("{} read", text::count_noun(self.read_in_all as u64, "commit"));
        match &self.end {
            None => (title.to_owned(), format!("{read} so far")),
            Some(Ok(())) => (title.to_owned(), read),
            Some(Err(why)) => (format!("{title}, incomplete: {why}"), String::new()),
        }
    }

    fn log<'a>(&self, view: &View<'a>) -> Rows<'a, Commit> {
        self.logs.last().map_or_else(|| Rows::chain(Vec::new()), |log| view.store.list(log))
    }

    fn diff(&self, commit: &Commit) -> GetCommitDiff {
        GetCommitDiff { id: self.project.clone(), sha: commit.id.clone() }
    }

    /// Returns the diffs that are read next. A clone that has the commits gives them without requests.
    pub fn wants(&self, view: &View) -> Vec<Want> {
        if self.end.is_some() {
            return Vec::new();
        }
        let commits = self.log(view);
        let next = (self.read..self.read + CONCURRENT_DIFFS).filter_map(|at| commits.get(at));
        let want = |commit: &Commit| {
            let diff = self.diff(commit);
            let pages = view.store.list(&diff).pages_to_end(MAX_PAGES);
            let data = CommitData::Changes { commit: commit.id.clone() };
            Load::list(&diff, pages).optional().or_in_clone(data).into()
        };
        next.map(want).collect()
    }

    /// Follows the lines as far as the diffs are loaded. Returns whether that led to another log.
    pub fn sync(&mut self, view: &View) -> bool {
        let logs = self.logs.len();
        while self.end.is_none() {
            if self.read_in_all >= MAX_COMMITS {
                self.end = Some(Err("the history is too long".into()));
                break;
            }
            let commits = self.log(view);
            let Some(commit) = commits.get(self.read) else {
                self.end = match commits.error {
                    Some(error) => Some(Err(error.message())),
                    None if commits.cut.is_some() => Some(Err("the history is too long".into())),
                    // The lines are older than the history.
                    None => (commits.is_loaded && !commits.has_more).then_some(Ok(())),
                };
                break;
            };
            let diff = view.store.list(&self.diff(commit));
            match diff.iter().find(|entry| entry.new_path == self.path) {
                Some(entry) => self.step(commit, entry),
                None if diff.error.is_some() => self.end = diff.error.map(|error| Err(error.message())),
                None if !diff.is_loaded || diff.has_next(MAX_PAGES) => break,
                // The commit did not change the content.
                None => self.advance(),
            }
        }
        self.logs.len() > logs
    }

    fn advance(&mut self) {
        self.read += 1;
        self.read_in_all += 1;
    }

    /// Follows the lines through a change of the file.
    fn step(&mut self, commit: &Commit, entry: &DiffEntry) {
        let is_binary = !entry.diff.is_empty() && !entry.has_lines();
        if entry.is_withheld() || is_binary {
            self.end = Some(Err(format!("there is no diff of {}", commit.short())));
            return;
        }
        let before = lines_before(&entry.diff, &self.lines);
        if before.is_changed || entry.new_file {
            let (path, line) = (self.path.clone(), Some(self.lines.start));
            self.found.insert(commit.id.clone(), FileLocation { path, line, old: false });
        }
        self.lines = before.lines;
        self.advance();
        if entry.new_file || self.lines.is_empty() {
            self.end = Some(Ok(()));
        } else if entry.old_path != entry.new_path {
            let (path, parent) = (entry.old_path.clone(), commit.parent_ids.first().cloned());
            self.path.clone_from(&path);
            let log = self.logs.last().cloned().unwrap_or_default();
            self.logs.push(ListCommits { ref_name: parent, path: Some(path), all: None, ..log });
            self.read = 0;
        }
    }
}
