//! What changed, file by file: a list of files beside their diffs. Shared by the places of a merge request and of a commit.

use super::list::failure;
use crate::api::Error;
use crate::api::commits::DiffEntry;
use crate::api::merge_requests::MergeRequest;
use crate::app::command::Motion;
use crate::app::pane::{Pointer, Seek, View};
use crate::store::{Cancelled, Derive, Want, Work};
use crate::ui::diff::{self, DiffDoc, FileDiff, HunkStyles, Place, Source};
use crate::ui::doc::{self, DocState, SIDEWAYS};
use crate::ui::panels::{self, Ask, Panels};
use crate::ui::search::{self, Found, Match};
use crate::ui::table::{self, Cell, Column, ListState, Row, Size};
use crate::ui::theme::Role;
use crate::ui::{line, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell as Shared;
use std::ops::Range;
use std::sync::Arc;

/// The panel of the list of files.
const FILES: usize = 0;
/// The panel of the diffs.
const DIFF: usize = 1;

/// The reply that holds the entries, as it lies in the store.
#[derive(Clone)]
pub enum Entries {
    /// Of a commit, or of a comparison.
    List(Arc<Vec<DiffEntry>>),
    /// Of a merge request: the answer to its changes.
    MergeRequest(Arc<MergeRequest>),
}

impl Entries {
    /// The files, in the server's order.
    pub fn files(&self) -> &[DiffEntry] {
        match self {
            Entries::List(files) => files,
            Entries::MergeRequest(merge_request) => {
                merge_request.changes.as_ref().and_then(Option::as_ref).map(Vec::as_slice).unwrap_or_default()
            }
        }
    }
}

/// What is shown: the entries, and a name that is another one whenever they are.
#[derive(Clone)]
pub struct Input {
    /// The request line and when the reply came.
    pub identity: String,
    /// The reply.
    pub entries: Entries,
}

/// Where the diff of a file stands, for links and copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The file's name now, or before it was deleted.
    pub path: String,
    /// The line in the new file, or else in the old one, from 1.
    pub line: Option<u32>,
}

/// The list of files and their diffs: selection, scrolling, search.
pub struct Changes {
    panels: Panels,
    list: ListState,
    scroll: DocState,
    /// The identity of what `doc` was made of.
    identity: String,
    /// Counts foldings: they move rows, so that what was found stands elsewhere.
    folds: u32,
    doc: Option<DiffDoc>,
    /// The files that fit the filter.
    shown: Vec<usize>,
    filter: String,
    query: String,
    found: Option<Found>,
    /// The row where the search began: the first match is looked for from there.
    origin: usize,
    /// A match is still to be gone to, once it is known where it is.
    jump: bool,
    /// A place is still to be gone to, once the files are read.
    wanted: Option<Spot>,
    areas: Shared<[Rect; 2]>,
    /// Something beside it has the focus.
    aside: bool,
}

impl Default for Changes {
    fn default() -> Changes {
        Changes {
            panels: Panels::new(2),
            list: ListState::new(),
            scroll: DocState::new(),
            identity: String::new(),
            folds: 0,
            doc: None,
            shown: Vec::new(),
            filter: String::new(),
            query: String::new(),
            found: None,
            origin: 0,
            jump: false,
            wanted: None,
            areas: Shared::default(),
            aside: false,
        }
    }
}

/// Parses all files of a reply.
struct Parse(Input);

fn parse_key(identity: &str) -> String {
    format!("diff of {identity}")
}

impl Derive for Parse {
    type Output = DiffDoc;

    fn key(&self) -> String {
        parse_key(&self.0.identity)
    }

    fn run(&self, cancelled: Cancelled<'_>) -> DiffDoc {
        let files = self.0.entries.files().iter().take_while(|_| !cancelled());
        DiffDoc::new(files.map(|entry| Arc::new(diff::parse(source(entry)))).collect())
    }
}

fn source(entry: &DiffEntry) -> Source {
    Source {
        old_path: entry.old_path.clone(),
        new_path: entry.new_path.clone(),
        diff: entry.diff.clone(),
        is_new: entry.new_file,
        is_renamed: entry.renamed_file,
        is_deleted: entry.deleted_file,
        too_large: entry.too_large == Some(true),
        collapsed: entry.collapsed == Some(true),
    }
}

/// Works out the colours of one hunk.
struct Colours {
    identity: String,
    file: usize,
    hunk: usize,
    diff: Arc<FileDiff>,
}

fn colours_key(identity: &str, file: usize, hunk: usize) -> String {
    format!("colours of file {file}, hunk {hunk} of {identity}")
}

impl Derive for Colours {
    type Output = HunkStyles;

    fn key(&self) -> String {
        colours_key(&self.identity, self.file, self.hunk)
    }

    fn run(&self, _: Cancelled<'_>) -> HunkStyles {
        diff::highlight_hunk(&self.diff, self.hunk)
    }
}

/// Looks through all rows.
struct Search {
    identity: String,
    folds: u32,
    query: String,
    doc: DiffDoc,
}

fn search_key(identity: &str, folds: u32, query: &str) -> String {
    format!("search for {query} in {identity}, folded {folds}")
}

impl Derive for Search {
    type Output = Found;

    fn key(&self) -> String {
        search_key(&self.identity, self.folds, &self.query)
    }

    fn run(&self, cancelled: Cancelled<'_>) -> Found {
        search::pattern(&self.query).map(|pattern| self.doc.search(&pattern, cancelled)).unwrap_or_default()
    }
}

impl Changes {
    /// What has to be worked out for what is looked at.
    pub fn wants(&self, view: &View, input: Option<&Input>) -> Vec<Want> {
        let Some(input) = input else { return Vec::new() };
        let Some(doc) = self.doc.as_ref().filter(|_| self.identity == input.identity) else {
            return vec![Work::new(Parse(input.clone())).into()];
        };
        let mut wants = Vec::new();
        let missing = doc.missing(self.in_sight(doc)).or_else(|| doc.missing(self.near(view, doc)));
        if let Some((file, hunk)) = missing
            && let Some(diff) = doc.files().get(file)
        {
            let work = Colours { identity: self.identity.clone(), file, hunk, diff: diff.clone() };
            wants.push(Work::new(work).into());
        }
        if !self.query.is_empty() && self.found.is_none() {
            let (identity, query) = (self.identity.clone(), self.query.clone());
            wants.push(Work::new(Search { identity, folds: self.folds, query, doc: doc.clone() }).into());
        }
        wants
    }

    /// The rows that were drawn last.
    fn in_sight(&self, doc: &DiffDoc) -> Range<usize> {
        let top = self.scroll.top.get();
        top..(top + self.scroll.height.get()).min(doc.len())
    }

    /// The rows around the cursor: wherever the window goes with it, it lies in these.
    fn near(&self, view: &View, doc: &DiffDoc) -> Range<usize> {
        let (at, height) = (self.scroll.at(doc.len()), usize::from(view.size.1));
        at.saturating_sub(height)..(at + height).min(doc.len())
    }

    /// After an update: takes what was worked out, keeps list and diff at the same file.
    pub fn sync(&mut self, view: &View, input: Option<&Input>) {
        let Some(input) = input else { return };
        if self.identity != input.identity {
            if let Some(doc) = view.store.made::<DiffDoc>(&parse_key(&input.identity)) {
                self.take(input, doc.clone());
            } else if self.doc.is_none() {
                self.filter_files(input.entries.files().iter().map(DiffEntry::path));
            }
        }
        let Some(doc) = &mut self.doc else { return };
        let (identity, height) = (&self.identity, self.scroll.height.get().max(usize::from(view.size.1)));
        let at = self.scroll.at(doc.len());
        let mut from = at.saturating_sub(height);
        // What was worked out meanwhile is taken hunk by hunk; what is not there yet ends the walk.
        while let Some((file, hunk)) = doc.missing(from..at + height) {
            let Some(styles) = view.store.made::<HunkStyles>(&colours_key(identity, file, hunk)) else {
                let Some(next) = doc.row(Place::Hunk { file, hunk }).and_then(|row| doc.next_hunk(row)) else { break };
                from = next;
                continue;
            };
            doc.insert(file, hunk, styles.clone());
        }
        if !self.query.is_empty() && self.found.is_none() {
            self.found = view.store.made::<Found>(&search_key(identity, self.folds, &self.query)).cloned();
            if self.found.is_some() && std::mem::take(&mut self.jump) {
                self.go_to_match(true, true);
            }
        }
    }

    fn take(&mut self, input: &Input, doc: DiffDoc) {
        // The same line of the same file, where a newer reply still has it.
        let spot = self.wanted.take().or_else(|| self.spot());
        self.identity = input.identity.clone();
        self.found = None;
        if let Some(spot) = spot
            && let Some(file) = doc.files().iter().position(|file| file.path() == spot.path)
        {
            let line = spot.line.and_then(|line| doc.row_of_line(file, line, false));
            let row = line.or_else(|| doc.row(Place::File { file })).unwrap_or(0);
            self.scroll.goto(row, doc.len());
        }
        self.filter_files(doc.files().iter().map(|file| file.path()));
        self.doc = Some(doc);
        self.follow_diff();
    }

    /// Goes to a file and line, now or once they are known.
    pub fn show(&mut self, spot: Spot) {
        self.panels.set_focus(DIFF);
        // What was parsed is taken again, from the store.
        self.identity.clear();
        self.wanted = Some(spot);
    }

    fn filter_files<'a>(&mut self, paths: impl Iterator<Item = &'a str>) {
        let words = self.filter.to_lowercase();
        let fits = |path: &str| words.is_empty() || path.to_lowercase().contains(&words);
        self.shown = paths.enumerate().filter(|(_, path)| fits(path)).map(|(index, _)| index).collect();
        self.list.select(self.list.selected(), self.shown.len());
    }

    /// Which files there are, and how many lines came and went in all.
    fn summary(&self, input: &Input) -> (String, String) {
        let files = input.entries.files().len();
        let count = if self.filter.is_empty() {
            text::count(files as u64)
        } else {
            format!("{}/{} /{}", self.shown.len(), text::count(files as u64), self.filter)
        };
        let lines = self
            .doc
            .as_ref()
            .map(|doc| format!("+{} −{}", text::count(doc.additions() as u64), text::count(doc.deletions() as u64)));
        (format!("Files {count}"), lines.unwrap_or_default())
    }

    /// Draws both panels, or what stands where there is nothing to show.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, input: Option<&Input>, error: Option<&Error>) {
        let Some(input) = input else {
            return match error {
                Some(error) => failure(view, area, buf, error),
                None => state::skeleton(buf, area, view.theme),
            };
        };
        if input.entries.files().is_empty() {
            return state::empty(buf, area, view.theme, "No file is changed.", "r asks again");
        }
        let foot = u16::from(error.is_some());
        let body = Rect { height: area.height.saturating_sub(foot), ..area };
        let asks = [Ask { min: 28, weight: 3 }, Ask { min: 50, weight: 7 }];
        let places = self.panels.layout(body, &asks);
        self.panels.rules(buf, view.theme);
        let place = |index: usize| places.get(index).copied().flatten();
        self.areas.set([place(FILES).unwrap_or_default(), place(DIFF).unwrap_or_default()]);
        if let Some(place) = place(FILES) {
            self.draw_files(view, place, buf, input);
        }
        if let Some(place) = place(DIFF) {
            self.draw_diff(view, place, buf);
        }
        if let Some(error) = error {
            let words = format!(" {}: {} · r tries again", error.title(), error.said());
            let at = Rect { y: body.bottom(), height: foot, ..area };
            line::draw(buf, at, &[(words, view.theme.style(Role::Failed))]);
        }
    }

    fn draw_files(&self, view: &View, area: Rect, buf: &mut Buffer, input: &Input) {
        let focused = self.panels.focus() == FILES && !self.aside;
        let (left, right) = self.summary(input);
        let body = panels::title(buf, area, view.theme, focused, &left, &right);
        if self.shown.is_empty() {
            return state::empty(buf, body, view.theme, "No file fits the filter.", "/ changes it, Esc ends it");
        }
        let columns = [
            Column::new("", Size::Fixed(1)),
            Column::new("", Size::Fill { min: 12, weight: 1 }).middle(),
            Column::new("", Size::Fit { min: 2, max: 7 }).right(),
            Column::new("", Size::Fit { min: 2, max: 7 }).right(),
        ];
        let files = input.entries.files();
        table::draw(buf, body, view.theme, focused, &self.list, &columns, self.shown.len(), |row| {
            let Some(index) = self.shown.get(row) else { return Row::default() };
            let Some(entry) = files.get(*index) else { return Row::default() };
            let parsed = self.doc.as_ref().and_then(|doc| doc.files().get(*index));
            file_row(entry, parsed.map(|file| (file.additions, file.deletions)))
        });
    }

    fn draw_diff(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let focused = self.panels.focus() == DIFF && !self.aside;
        let Some(doc) = &self.doc else {
            let body = panels::title(buf, area, theme, focused, "", "");
            return state::skeleton(buf, body, theme);
        };
        let file = self.file();
        let title = file.and_then(|at| doc.files().get(at)).map(|file| file.title()).unwrap_or_default();
        let right = match self.matches() {
            Some(words) => words,
            None => format!("{}/{}", file.map_or(0, |at| at + 1), text::count(doc.files().len() as u64)),
        };
        let body = panels::title(buf, area, theme, focused, &title, &right);
        let (at, current) = (theme.style(Role::Match), theme.style(Role::MatchCurrent));
        let cursor = self.scroll.at(doc.len());
        let gutter = doc.gutter() as u16;
        doc::draw(buf, body, theme, focused, &self.scroll, doc.len(), gutter, |row| {
            let mut line = doc.draw(row, theme);
            if let Some(found) = &self.found {
                let style = if row == cursor { current } else { at };
                line.marks = found.on(row).iter().map(|m| (m.range.clone(), style)).collect();
            }
            line
        });
    }

    /// What the search found, in few words; `None` where nothing is sought.
    fn matches(&self) -> Option<String> {
        if self.query.is_empty() {
            return None;
        }
        let Some(found) = &self.found else { return Some(format!("/{}", self.query)) };
        let cursor = self.row();
        let before = found.matches.partition_point(|m| m.line < cursor);
        let here = found.matches.get(before).is_some_and(|m| m.line == cursor);
        let all = format!("{}{}", text::count(found.matches.len() as u64), if found.capped { "+" } else { "" });
        Some(match (found.matches.is_empty(), here) {
            (true, _) => format!("/{} not found", self.query),
            (_, true) => format!("/{} {}/{all}", self.query, before + 1),
            (_, false) => format!("/{} {all}", self.query),
        })
    }

    fn len(&self) -> usize {
        self.doc.as_ref().map_or(0, DiffDoc::len)
    }

    fn row(&self) -> usize {
        self.scroll.at(self.len())
    }

    /// The file at the cursor of the diff.
    fn file(&self) -> Option<usize> {
        self.doc.as_ref()?.place(self.row()).map(Place::file)
    }

    /// The file and line under the cursor.
    pub fn spot(&self) -> Option<Spot> {
        let doc = self.doc.as_ref()?;
        let place = doc.place(self.row())?;
        let file = doc.files().get(place.file())?;
        let line = match place {
            Place::Line { line, .. } => file.lines.get(line).and_then(|line| line.new.or(line.old)),
            _ => None,
        };
        Some(Spot { path: file.path().to_owned(), line })
    }

    /// The text of the line under the cursor, where it is a line of a file.
    pub fn line_text(&self) -> Option<String> {
        let doc = self.doc.as_ref()?;
        let row = self.row();
        matches!(doc.place(row)?, Place::Line { .. }).then(|| doc.text(row).into_owned())
    }

    /// Both panels.
    pub fn panels(&mut self) -> &mut Panels {
        &mut self.panels
    }

    /// Whether something beside it has the focus, so that it is drawn quietly.
    pub fn set_aside(&mut self, aside: bool) {
        self.aside = aside;
    }

    /// Moves in the panel that has the focus.
    pub fn motion(&mut self, motion: Motion) {
        if self.panels.focus() == FILES {
            match motion {
                Motion::Right => self.enter(),
                Motion::Left => {}
                other => self.move_list(other),
            }
        } else {
            self.move_diff(motion);
        }
    }

    fn move_list(&mut self, motion: Motion) {
        let (len, before) = (self.shown.len(), self.list.selected());
        match motion {
            Motion::PageUp => self.list.page_by(-1, len),
            Motion::PageDown => self.list.page_by(1, len),
            Motion::Wheel(rows) => return self.list.scroll_by(rows.into(), len),
            other => other.apply(&mut self.list, len),
        }
        if before != self.list.selected() {
            self.follow_list();
        }
    }

    fn move_diff(&mut self, motion: Motion) {
        let len = self.len();
        match motion {
            // At the left edge, left means the list.
            Motion::Left if self.scroll.left == 0 => self.panels.set_focus(FILES),
            Motion::Left => self.scroll.left_by(-(SIDEWAYS as isize)),
            Motion::Right => self.scroll.left_by(SIDEWAYS as isize),
            Motion::Up => self.scroll.move_by(-1, len),
            Motion::Down => self.scroll.move_by(1, len),
            Motion::First => self.scroll.first(),
            Motion::Last => self.scroll.last(len),
            Motion::HalfUp => self.scroll.half_page_by(-1, len),
            Motion::HalfDown => self.scroll.half_page_by(1, len),
            Motion::PageUp => self.scroll.page_by(-1, len),
            Motion::PageDown => self.scroll.page_by(1, len),
            Motion::Wheel(rows) => self.scroll.scroll_by(rows.into(), len),
        }
        self.follow_diff();
    }

    /// The diff goes to the file that is selected in the list, its heading on top.
    fn follow_list(&mut self) {
        let file = self.shown.get(self.list.selected()).copied();
        if let Some((doc, file)) = self.doc.as_ref().zip(file)
            && let Some(row) = doc.row(Place::File { file })
        {
            self.scroll.goto(row, doc.len());
            self.scroll.top.set(row);
        }
    }

    /// The list selects the file at the cursor of the diff.
    fn follow_diff(&mut self) {
        if let Some(file) = self.file()
            && let Ok(index) = self.shown.binary_search(&file)
        {
            self.list.select(index, self.shown.len());
        }
    }

    fn go_to(&mut self, row: Option<usize>, on_top: bool) {
        let Some(row) = row else { return };
        self.scroll.goto(row, self.len());
        if on_top {
            self.scroll.top.set(row);
        }
        self.follow_diff();
    }

    /// To the next file, or to the one before.
    pub fn turn_file(&mut self, forward: bool) {
        let row = self.row();
        let next = |doc: &DiffDoc| if forward { doc.next_file(row) } else { doc.previous_file(row) };
        self.go_to(self.doc.as_ref().and_then(next), true);
    }

    /// To the next hunk, or to the one before, in this file or another.
    pub fn turn_hunk(&mut self, forward: bool) {
        let row = self.row();
        let next = |doc: &DiffDoc| if forward { doc.next_hunk(row) } else { doc.previous_hunk(row) };
        self.go_to(self.doc.as_ref().and_then(next), false);
    }

    /// Folds the file at the cursor to its heading, or unfolds it.
    pub fn fold(&mut self) {
        let Some(file) = self.file() else { return };
        let Some(doc) = &mut self.doc else { return };
        let row = doc.row(Place::File { file });
        let folded = doc.is_folded(file);
        doc.fold(file, !folded);
        self.found = None;
        self.folds += 1;
        self.go_to(row, false);
    }

    /// From the list to the diff of its file; on the heading of a file, folds it.
    pub fn enter(&mut self) {
        let heading = |doc: &DiffDoc| matches!(doc.place(self.row()), Some(Place::File { .. }));
        if self.panels.focus() == FILES {
            self.follow_list();
            self.panels.set_focus(DIFF);
        } else if self.doc.as_ref().is_some_and(heading) {
            self.fold();
        }
    }

    /// Clicks and the wheel.
    pub fn pointer(&mut self, pointer: Pointer) {
        let [files, diff] = self.areas.get();
        match pointer {
            Pointer::Press { column, row, double } if files.contains((column, row).into()) => {
                self.panels.set_focus(FILES);
                let at = row.checked_sub(files.y + 1).and_then(|y| self.list.row_at(y));
                if let Some(index) = at {
                    self.list.select(index, self.shown.len());
                    self.follow_list();
                    if double {
                        self.enter();
                    }
                }
            }
            Pointer::Press { column, row, .. } if diff.contains((column, row).into()) => {
                self.panels.set_focus(DIFF);
                let len = self.len();
                let at = row.checked_sub(diff.y + 1).and_then(|y| self.scroll.line_at(y, len));
                if let Some(line) = at {
                    self.scroll.goto(line, len);
                    self.follow_diff();
                }
            }
            Pointer::Wheel { column, row, rows } if files.contains((column, row).into()) => {
                self.move_list(Motion::Wheel(rows));
            }
            Pointer::Wheel { rows, .. } => self.move_diff(Motion::Wheel(rows)),
            _ => {}
        }
    }

    /// `/` filters the list of files, and searches in the diffs.
    pub fn seek(&self) -> Seek {
        if self.panels.focus() == FILES { Seek::Filter } else { Seek::Search }
    }

    /// What is sought in the panel that has the focus.
    pub fn sought(&self) -> String {
        if self.panels.focus() == FILES { self.filter.clone() } else { self.query.clone() }
    }

    /// The text being sought changed.
    pub fn set_sought(&mut self, words: &str, input: Option<&Input>) {
        if self.panels.focus() == FILES {
            if self.filter != words {
                self.filter = words.to_owned();
                if let Some(input) = input {
                    self.filter_files(input.entries.files().iter().map(DiffEntry::path));
                    self.follow_list();
                }
            }
        } else if self.query != words {
            if self.query.is_empty() {
                self.origin = self.row();
            }
            self.query = words.to_owned();
            self.found = None;
            self.jump = !words.is_empty();
        }
    }

    /// To the next match, or to the one before, around the ends.
    pub fn seek_next(&mut self, forward: bool) {
        self.origin = self.row();
        self.go_to_match(forward, false);
    }

    fn go_to_match(&mut self, forward: bool, here: bool) {
        let Some(found) = &self.found else { return };
        let from = self.origin;
        let behind = found.matches.partition_point(|m| if here { m.line < from } else { m.line <= from });
        let before = found.matches.partition_point(|m| m.line < from);
        let to: Option<Match> = if forward {
            found.matches.get(behind).or(found.matches.first()).cloned()
        } else {
            before.checked_sub(1).and_then(|i| found.matches.get(i)).or(found.matches.last()).cloned()
        };
        let Some(to) = to else { return };
        self.go_to(Some(to.line), false);
        if let Some(doc) = &self.doc {
            self.scroll.show_columns(text::columns(&doc.text(to.line), to.range));
        }
    }

    /// Esc: ends a search or a filter, or goes from the diff back to the list where only one of them is seen.
    pub fn escape(&mut self, view: &View, input: Option<&Input>) -> bool {
        if !self.sought().is_empty() {
            self.set_sought("", input);
            return true;
        }
        let alone = view.size.0 < panels::TWO || self.panels.zoomed();
        if self.panels.focus() == DIFF && alone {
            self.panels.set_focus(FILES);
            return true;
        }
        false
    }
}

fn file_row(entry: &DiffEntry, counts: Option<(usize, usize)>) -> Row {
    let (mark, role) = match entry {
        e if e.new_file => ("A", Role::Added),
        e if e.deleted_file => ("D", Role::Removed),
        e if e.renamed_file => ("R", Role::Accent),
        _ => ("M", Role::Dim),
    };
    let path = entry.path();
    let split = path.rfind('/').map_or(0, |at| at + 1);
    let (folder, name) = path.split_at(split);
    let binary = entry.diff.is_empty() || entry.diff.starts_with("Binary files ");
    let (added, removed) = match counts {
        Some((0, 0)) if entry.is_withheld() => ("large".to_owned(), String::new()),
        Some((0, 0)) if entry.renamed_file && entry.diff.is_empty() => (String::new(), String::new()),
        Some((0, 0)) if binary => ("bin".to_owned(), String::new()),
        Some((added, removed)) => (format!("+{added}"), format!("−{removed}")),
        None => (String::new(), String::new()),
    };
    let count_role = if added.starts_with('+') { Role::Added } else { Role::Dim };
    Row::new(vec![
        (mark, role).into(),
        Cell::from((folder.to_owned(), Role::Dim)).and(name.to_owned(), Role::Text),
        (added, count_role).into(),
        (removed, Role::Removed).into(),
    ])
}
