//! Changed files: a tree of files beside their diffs. Used for merge requests, commits and comparisons.

mod anchor;
mod expansion;
mod files;
mod input;
pub mod keys;
mod line_reports;
mod navigation;
mod tree;

pub use anchor::{CommentAnchor, ImagePoint, RangeEndpoint};
pub use input::{ChangedFiles, Entries, FilesSinceReview, Revisions, viewed_mark};

use crate::api::Error;
use crate::app::command_info::Disabled;
use crate::app::state::DiffSettings;
use crate::app::view::View;
use crate::parts::list::draw_error;
use crate::parts::text::line_drag::LineDrag;
use crate::store::{Want, Work};
use crate::ui::diff::{
    self, DiffDoc, DiffMatches, DiffOptions, FileDiff, HunkStyles, Inset, Kind, Layout, Moved, RowContent, Side,
};
use crate::ui::doc::DocState;
use crate::ui::drawn::{self, Drawn};
use crate::ui::line::Line;
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::theme::Role;
use crate::ui::{glyph, state, text};
use expansion::Expansions;
use files::Viewed;
use input::{AllFiles, FindMoves, HighlightHunk, ParseDiff, SearchDiff, colors_key, moves_key, parse_key, search_key};
use line_reports::ShownReports;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
use tree::ChangedFilesTree;

/// The index of the panel with the file list.
const FILES: usize = 0;
/// The index of the panel with the diffs.
const DIFF: usize = 1;
/// The minimum width at which the sides are shown side by side by default, in columns.
const WIDE: u16 = 116;
/// The minimum width of the screen at which this does not depend on the width of the lines.
const ALWAYS_SPLIT: u16 = 200;
/// The minimum number of rows of a list above a diff: enough to say that no file matches.
const MIN_ROWS: usize = 3;
/// The height of a diff above which a line below it is for what reports say about the line under the cursor, and the
/// maximum number of lines of that.
const MIN_REPORTED_HEIGHT: u16 = 8;
const MAX_REPORT_LINES: usize = 3;
const PANEL_WIDTHS: [PanelRequest; 2] = [PanelRequest { min: 28, weight: 1 }, PanelRequest { min: 50, weight: 3 }];

/// A location in a diff, for links and for copying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLocation {
    /// The current path of the file, or its path before it was deleted.
    pub path: String,
    /// The line in the new file, or else in the old one, from 1.
    pub line: Option<u32>,
    /// Whether `line` is in the old file. Of a deleted file, every location is.
    pub old: bool,
}

/// The state of the file list and the diffs: selection, scrolling, search.
#[derive(Default)]
pub struct Changes {
    panels: Panels,
    tree: ChangedFilesTree,
    viewed: Viewed,
    scroll: DocState,
    source: DiffSource,
    /// The parsed files.
    doc: Option<DiffDoc>,
    search: DiffSearch,
    selection: Selection,
    expansions: Expansions,
    /// The rows inserted between the lines, and their revision.
    insets: (u64, Arc<Vec<Inset>>),
    reports: ShownReports,
    /// The display options that the user or the configuration chose.
    settings: DiffSettings,
    beside: Beside,
    drawn: LastDraw,
}

/// The changed files, and how far they are parsed.
#[derive(Default)]
struct DiffSource {
    /// The changed files, and the error of the last request for them.
    input: Option<ChangedFiles>,
    error: Option<Error>,
    /// The identity of the input that was parsed, and the number of its parts that are in the document.
    identity: String,
    parts: usize,
    ignores_whitespace: bool,
    /// The location to move to once its file is parsed.
    wanted: Option<FileLocation>,
}

/// The panel beside the two, if there is one.
#[derive(Default)]
struct Beside {
    /// The width that it leaves for both panels together, in columns; `None` if there is no such panel.
    width: Option<u16>,
    is_focused: bool,
}

/// A search in the diffs.
#[derive(Default)]
struct DiffSearch {
    query: String,
    found: Option<DiffMatches>,
    /// The position where the search started, from which the first match is searched.
    origin: (usize, Option<usize>),
    /// Whether to move to a match once the search is finished.
    is_jump_pending: bool,
}

/// The marked lines.
#[derive(Default)]
struct Selection {
    /// The file and the line where the range starts; it ends at the cursor.
    start: Option<(usize, usize)>,
    drag: LineDrag,
}

/// Facts that the last draw found out.
#[derive(Default)]
struct LastDraw {
    areas: Drawn<[Rect; 2]>,
    /// The row on each line of the diff panel.
    rows: RefCell<Vec<usize>>,
    /// The width of the inset rows, in columns.
    inset_columns: Drawn<usize>,
}

impl Changes {
    /// Creates the panels on first use, since `Default` cannot set their number. One starts in the diffs.
    fn ensure_panels(&mut self) {
        if self.panels.count() == 0 {
            self.panels = Panels::new(2);
            self.panels.set_focus(DIFF);
        }
    }

    /// Returns the identity of the input, with the way in which it is parsed.
    fn name(&self, input: &ChangedFiles) -> String {
        let how = if self.source.ignores_whitespace { ", whitespace ignored" } else { "" };
        format!("{}{how}", input.identity)
    }

    /// Returns all files in their current state, for computations on all of them.
    fn all_files(&self, doc: &DiffDoc) -> AllFiles {
        AllFiles { identity: self.all_files_name(), files: doc.shared_files() }
    }

    /// Returns a name for all files in their current state. It changes whenever one of them does, also by expansion.
    pub fn all_files_name(&self) -> String {
        format!("{}, {} parts, {} others", self.source.identity, self.source.parts, self.expansions.replaced)
    }

    /// Returns the computations that the visible part needs.
    fn works(&self, view: &View) -> Vec<Want> {
        let Some(input) = &self.source.input else { return Vec::new() };
        let parse = |part: usize| {
            let (identity, entries) = (self.name(input), input.entries.clone());
            Work::new(ParseDiff { identity, entries, part, ignores_whitespace: self.source.ignores_whitespace }).into()
        };
        let Some(doc) = self.doc.as_ref().filter(|_| self.source.identity == self.name(input)) else {
            return vec![parse(0)];
        };
        let mut wants = Vec::new();
        let missing = doc.missing(self.visible_rows(doc)).or_else(|| doc.missing(self.near(view, doc)));
        if let Some(piece) = missing
            && let Some(diff) = doc.files().get(piece.0)
        {
            let identity = self.source.identity.clone();
            wants.push(Work::new(HighlightHunk { identity, piece, diff: diff.clone() }).into());
        }
        if self.source.parts < input.entries.parts() {
            wants.push(parse(self.source.parts));
        } else if !self.search.query.is_empty() && self.search.found.is_none() {
            wants.push(Work::new(SearchDiff { files: self.all_files(doc), query: self.search.query.clone() }).into());
        } else if missing.is_none() && !doc.knows_moved() {
            wants.push(Work::new(FindMoves(self.all_files(doc))).into());
        }
        wants.extend(self.expansion_wants(view));
        wants
    }

    /// Returns the range of rows that were drawn last.
    fn visible_rows(&self, doc: &DiffDoc) -> Range<usize> {
        let top = self.scroll.top();
        top..(top + self.scroll.height()).min(doc.len())
    }

    /// Returns the rows around the cursor, which include any viewport that contains it.
    fn near(&self, view: &View, doc: &DiffDoc) -> Range<usize> {
        let (at, height) = (self.scroll.at(doc.len()), usize::from(view.size.1));
        at.saturating_sub(height)..(at + height).min(doc.len())
    }

    /// Sets the changed files, or `None` while they are not loaded.
    pub fn set_input(&mut self, input: Option<ChangedFiles>) {
        self.source.input = input;
    }

    /// Returns the changed files, once they are loaded.
    pub fn input(&self) -> Option<&ChangedFiles> {
        self.source.input.as_ref()
    }

    /// Updates the state after a store update, with the error of the last request for the changed files: takes finished
    /// results, and keeps the list and the diff at the same file.
    pub fn sync(&mut self, view: &View, error: Option<&Error>) {
        self.ensure_panels();
        self.load_settings(view);
        if self.source.error.as_ref() != error {
            self.source.error = error.cloned();
        }
        let known = self.source.input.as_ref().map(|input| (self.name(input), input.entries.parts()));
        let Some((name, parts)) = known else { return };
        if self.source.identity != name
            && let Some(files) = view.store.result::<Vec<Arc<FileDiff>>>(&parse_key(&name, 0))
        {
            self.replace_document(name.clone(), files.clone());
        }
        if self.source.identity == name {
            self.take_parts(view);
            if self.source.parts >= parts {
                self.source.wanted = None;
            }
        }
        self.arrange(view);
        self.take_colors(view);
        let whole = self.all_files_name();
        if !self.search.query.is_empty() && self.search.found.is_none() {
            self.search.found = view.store.result::<DiffMatches>(&search_key(&whole, &self.search.query)).cloned();
            self.measure_numbers();
            if self.search.found.is_some() && std::mem::take(&mut self.search.is_jump_pending) {
                self.go_to_match(true, true);
            }
        }
        if let Some(doc) = self.doc.as_mut().filter(|doc| !doc.knows_moved())
            && let Some(moved) = view.store.result::<Arc<Moved>>(&moves_key(&whole))
        {
            doc.set_moved(moved.clone());
        }
        self.sync_expansion(view);
        self.sync_line_reports();
        self.take_pictures(view);
    }

    fn replace_document(&mut self, name: String, files: Vec<Arc<FileDiff>>) {
        // Stay on the same line of the same file, if the newer reply still has it.
        let location = self.source.wanted.take().or_else(|| self.location());
        let first = self.doc.is_none();
        let starts = first && location.is_none() && self.panels.focus() == DIFF;
        let side = self.doc.as_ref().map(DiffDoc::side).unwrap_or_default();
        let mut doc = DiffDoc::new(files);
        doc.set_side(side);
        doc.set_insets(self.insets.1.clone());
        (self.selection.start, self.search.found) = (None, None);
        self.expansions.restart();
        self.reports.outdate();
        (self.source.identity, self.source.parts) = (name, 1);
        self.fold_viewed(&mut doc, 0);
        if let Some(location) = location {
            // A location that is missing here may be in the next part.
            self.source.wanted = (!self.go_to_location(&mut doc, &location, first)).then_some(location);
        }
        self.doc = Some(doc);
        self.rebuild_tree();
        self.fold_reviewed();
        if starts {
            self.go_to_first_change();
        }
        self.follow_diff();
    }

    /// Moves to the first changed line of the files that are not folded.
    fn go_to_first_change(&mut self) {
        let Some(doc) = &self.doc else { return };
        let shown = doc.files().iter().enumerate().filter(|(at, _)| !doc.is_folded(*at));
        let change = |(at, file): (usize, &Arc<FileDiff>)| {
            let line = file.lines.iter().position(|line| line.kind != Kind::Context)?;
            doc.row(RowContent::Line { file: at, hunk: file.hunk_of(line)?, line })
        };
        if let Some(row) = shown.into_iter().find_map(change) {
            self.scroll.goto(row, doc.len());
        }
    }

    /// Starts in the list of files instead.
    pub fn start_in_list(mut self) -> Changes {
        self.panels().set_focus(FILES);
        self
    }

    /// Moves to a file and line; returns `false` if the document does not have the file.
    fn go_to_location(&mut self, doc: &mut DiffDoc, location: &FileLocation, first: bool) -> bool {
        let files = doc.files();
        let find = |is_it: &dyn Fn(&FileDiff) -> bool| files.iter().position(|file| is_it(file));
        let file = find(&|file| file.path() == location.path && file.source.is_deleted == location.old)
            .or_else(|| find(&|file| file.path() == location.path))
            .or_else(|| find(&|file| file.source.old_path == location.path));
        let Some(file) = file else { return false };
        if files.get(file).is_some_and(|file| file.is_left_out()) {
            // There is nothing to see in it.
            self.scroll.goto(0, doc.len());
            return true;
        }
        if !first || location.line.is_some() {
            doc.fold(file, false);
        }
        let side = if location.old { Side::Old } else { Side::New };
        let line = location.line.and_then(|line| doc.row_of_line(file, line, side));
        let row = line.or_else(|| doc.row(RowContent::File { file })).unwrap_or(0);
        self.scroll.goto(row, doc.len());
        true
    }

    /// Appends further parsed parts to the document.
    fn take_parts(&mut self, view: &View) {
        let before = self.source.parts;
        while let Some(files) =
            view.store.result::<Vec<Arc<FileDiff>>>(&parse_key(&self.source.identity, self.source.parts))
        {
            let Some(mut doc) = self.doc.take() else { return };
            let from = doc.files().len();
            doc.extend(files.clone());
            self.fold_viewed(&mut doc, from);
            // If the user has moved in the meantime, the cursor stays there.
            if let Some(location) = self.source.wanted.take()
                && !(self.scroll.cursor() == 0 && self.go_to_location(&mut doc, &location, false))
            {
                self.source.wanted = Some(location);
            }
            self.doc = Some(doc);
            self.source.parts += 1;
        }
        if self.source.parts != before {
            self.search.found = None;
            self.rebuild_tree();
            self.follow_diff();
        }
    }

    /// Folds the viewed files, from index `from` on, but not reviewed ones that are shown on request.
    fn fold_viewed(&self, doc: &mut DiffDoc, from: usize) {
        let is_folded = |file: &FileDiff| self.is_viewed(file) && file.is_left_out() == file.is_reviewed();
        let viewed = doc.files().iter().enumerate().skip(from).filter(|(_, file)| is_folded(file));
        let viewed: Vec<usize> = viewed.map(|(at, _)| at).collect();
        doc.fold_all(viewed, true);
    }

    /// Sets the layout that fits the width, or that the user chose; the cursor stays on its line. The width is that of
    /// the next draw, because the last one may have had another size, or there may have been none yet.
    fn arrange(&mut self, view: &View) {
        let whole = Rect::new(0, 0, self.beside.width.unwrap_or(view.size.0), 1);
        let diff = self.panels.areas(whole, &self.widths(whole.width)).get(DIFF).copied().flatten();
        let width = diff.unwrap_or(whole).width;
        let Some(doc) = &mut self.doc else { return };
        let (layout, side_width) = match self.settings.layout.filter(|_| !glyph::is_accessible()) {
            Some(chosen) => (chosen, None),
            None if width < WIDE => (Layout::Unified, None),
            None => (Layout::Split, (view.size.0 < ALWAYS_SPLIT).then(|| diff::side_width(doc, width))),
        };
        let before = self.scroll.at(doc.len());
        let place = doc.content(before);
        if !doc.set_layout(layout, side_width) {
            return;
        }
        let now = place.and_then(|place| doc.row(place)).unwrap_or(0);
        self.scroll.set_cursor(now);
        let above = before.saturating_sub(self.scroll.top());
        self.scroll.set_top(now.saturating_sub(above));
    }

    /// Takes the finished colors around the cursor, piece by piece.
    fn take_colors(&mut self, view: &View) {
        let Some(doc) = &mut self.doc else { return };
        let height = self.scroll.height().max(usize::from(view.size.1));
        let at = self.scroll.at(doc.len());
        let mut from = at.saturating_sub(height);
        while let Some(piece) = doc.missing(from..at + height) {
            let revision = doc.files().get(piece.0).map_or(0, |file| file.revision);
            match view.store.result::<HunkStyles>(&colors_key(&self.source.identity, piece, revision)) {
                Some(styles) => doc.insert(piece, styles.clone()),
                // A piece that is not ready is skipped, because one of another hunk may be.
                None => {
                    let row = doc.row(RowContent::Hunk { file: piece.0, hunk: piece.1 });
                    let Some(next) = row.and_then(|row| doc.next_hunk(row.max(from))) else { break };
                    from = next;
                }
            }
        }
    }

    /// Moves to a file and line, now or once they are known.
    pub fn show(&mut self, location: FileLocation) {
        self.ensure_panels();
        self.panels.set_focus(DIFF);
        // This makes the next update take the parsed files from the store again.
        self.source.identity.clear();
        self.source.wanted = Some(location);
    }

    /// Sets the revisions that the changes lie between, so that whole files can be found.
    pub fn set_revisions(&mut self, revisions: Option<Revisions>) {
        self.expansions.revisions = revisions;
    }

    /// Draws both panels, or a placeholder if there is nothing to show.
    fn draw(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let error = self.source.error.as_ref();
        let Some(input) = &self.source.input else {
            return match error {
                Some(error) => draw_error(view, area, buf, error),
                None => state::skeleton(buf, area, view.theme),
            };
        };
        if input.entries.is_empty() {
            return view.draw_empty(buf, area, "No files changed.", "‹refresh› refreshes");
        }
        let foot = u16::from(error.is_some());
        let body = Rect { height: area.height.saturating_sub(foot), ..area };
        let places = self.panels.layout(body, &self.widths(body.width));
        self.panels.draw_dividers(buf, view.theme);
        let place = |index: usize| places.get(index).copied().flatten();
        let (files, diff) = match (place(FILES), place(DIFF)) {
            (Some(files), None) => self.stacked(files),
            places => places,
        };
        self.drawn.areas.set([files.unwrap_or_default(), diff.unwrap_or_default()]);
        if let Some(place) = files {
            self.draw_files(view, place, buf);
        }
        if let Some(place) = diff {
            self.draw_diff(view, place, buf);
        }
        if let Some(error) = error {
            view.draw_error_line(Rect { y: body.bottom(), height: foot, ..area }, buf, "", error);
        }
    }

    /// Returns the areas of the panels where only the list has room: if it is short, the diff of its file goes below
    /// it.
    fn stacked(&self, area: Rect) -> (Option<Rect>, Option<Rect>) {
        let rows = 1 + self.tree.nodes.len().max(MIN_ROWS);
        let height = u16::try_from(rows).ok().filter(|height| *height <= area.height / 2);
        let Some(height) = height.filter(|_| !self.panels.zoomed() && !glyph::is_accessible()) else {
            return (Some(area), None);
        };
        let below = Rect { y: area.y + height, height: area.height - height, ..area };
        (Some(Rect { height, ..area }), Some(below))
    }

    fn draw_diff(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let focused = self.panels.focus() == DIFF && !self.beside.is_focused;
        let Some(doc) = &self.doc else {
            let body = panels::title(buf, area, theme, focused, "", "");
            return state::skeleton(buf, body, theme);
        };
        let (left, right) = self.title(doc);
        let mut body = panels::title(buf, area, theme, focused, &left, &right);
        if let Some(error_message) = self.expansions.error.as_ref().filter(|_| body.height > 3) {
            body.height -= 1;
            let at = Rect { y: body.bottom(), height: 1, ..body };
            Line::new(format!(" {}", text::sanitize(&view.with_keys(error_message))), Role::Warning)
                .draw(buf, at, theme);
        }
        if let Some((summary, _)) = self.report_summary(u16::MAX).filter(|_| body.height > MIN_REPORTED_HEIGHT) {
            // The summary is in the list, if that is shown, too.
            let is_alone = self.drawn.areas.get().first().is_some_and(|files| files.is_empty());
            let others = if is_alone { summary.trim() } else { "" };
            let words = self.report_words().unwrap_or_else(|| others.to_owned());
            let lines = text::wrap(&words, usize::from(body.width.saturating_sub(2)), MAX_REPORT_LINES);
            body.height -= lines.len().max(1) as u16;
            for (y, line) in (body.bottom()..).zip(lines) {
                Line::new(format!(" {line}"), Role::Dim).draw(buf, Rect { y, height: 1, ..body }, theme);
            }
        }
        let (match_style, current) = (theme.style(Role::Match), theme.style(Role::MatchCurrent));
        let here = doc.content(self.row());
        let marks = |place: RowContent| {
            let Some(found) = &self.search.found else { return Vec::new() };
            let hits = match place {
                RowContent::File { file } => found.on(file, None),
                RowContent::Line { file, line, .. } => found.on(file, Some(line)),
                _ => return Vec::new(),
            };
            let style = if Some(place) == here { current } else { match_style };
            hits.iter().map(|hit| (hit.range.clone(), style)).collect()
        };
        let look =
            DiffOptions { theme, focused, wrap: self.settings.wraps, marks: &marks, marked: self.selected_lines() };
        self.drawn.inset_columns.set(usize::from(body.width.saturating_sub(2 + diff::gutter(doc))));
        let rows = diff::draw(buf, body, doc, &self.scroll, &look);
        if self.drawn.rows.replace(rows.clone()) != rows {
            drawn::record_change();
        }
    }

    /// Returns the title of the diff panel: the file and the section under the cursor on the left, facts on the right.
    fn title(&self, doc: &DiffDoc) -> (String, String) {
        let row = self.row();
        // In accessible mode, the title does not follow the cursor: the rows name their file.
        let at = self.file().filter(|_| !glyph::is_accessible());
        let file = at.and_then(|at| doc.files().get(at));
        let mut left = file.map(|file| file.title()).unwrap_or_default();
        if let Some(section) = doc.section(row).filter(|_| at.is_some()) {
            left.push_str(&format!(" {}{}", glyph::separator(), text::fit(section, 60)));
        }
        let mut facts = Vec::new();
        facts.extend(self.matches(doc));
        facts.extend(self.source.ignores_whitespace.then(|| "whitespace ignored".to_owned()));
        facts.extend((self.settings.wraps == Some(true)).then(|| "wrapped".to_owned()));
        facts.extend(
            file.map(|file| format!("{} {}", glyph::additions(file.additions), glyph::deletions(file.deletions))),
        );
        let count = doc.files().len() as u64;
        facts.push(match at {
            None if glyph::is_accessible() => text::count_noun(count, "file"),
            at => format!("{}/{}", at.map_or(0, |at| at + 1), text::count(count)),
        });
        (left, facts.join(glyph::separator()))
    }

    /// Returns a summary of the search, or `None` without a query.
    fn matches(&self, doc: &DiffDoc) -> Option<String> {
        if self.search.query.is_empty() {
            return None;
        }
        let Some(found) = &self.search.found else { return Some(format!("/{}", self.search.query)) };
        let at = self.search_position(doc);
        let before = found.before(at.0, at.1);
        let here = found.matches.get(before).is_some_and(|hit| (hit.file, hit.line) == at);
        let all = format!("{}{}", text::count(found.matches.len() as u64), if found.capped { "+" } else { "" });
        Some(match (found.matches.is_empty(), here && !glyph::is_accessible()) {
            (true, _) => format!("/{} not found", self.search.query),
            (_, true) => format!("/{} {}/{all}", self.search.query, before + 1),
            (_, false) => format!("/{} {all}", self.search.query),
        })
    }

    /// Returns the position of the cursor in the terms of a search: the file, and a line of it.
    fn search_position(&self, doc: &DiffDoc) -> (usize, Option<usize>) {
        let row = self.row();
        match doc.content(row) {
            Some(RowContent::Line { file, line, .. }) => (file, Some(line)),
            Some(RowContent::Hunk { file, hunk }) => {
                let start = doc.files().get(file).and_then(|file| file.hunks.get(hunk)).map(|hunk| hunk.lines.start);
                (file, start.and_then(|start| start.checked_sub(1)))
            }
            Some(RowContent::Inset { file, .. }) => (file, self.line_at_or_above(row, file)),
            Some(place) => (place.file(), None),
            None => (0, None),
        }
    }

    fn len(&self) -> usize {
        self.doc.as_ref().map_or(0, DiffDoc::len)
    }

    fn row(&self) -> usize {
        self.scroll.at(self.len())
    }

    /// Returns the index of the file at the cursor of the diff.
    fn file(&self) -> Option<usize> {
        self.doc.as_ref()?.content(self.row()).map(RowContent::file)
    }

    /// Returns the file at the cursor.
    pub fn current_file(&self) -> Option<&FileDiff> {
        self.files().get(self.file()?).map(|file| &**file)
    }

    /// Returns an error with the reason if the changes are not loaded.
    pub fn need_loaded(&self) -> Result<(), Disabled> {
        match (&self.doc, &self.source.error) {
            (Some(_), _) => Ok(()),
            (None, Some(_)) => Err("the changes could not be loaded: ‹refresh› tries again".into()),
            (None, None) => Err("the changes are still loading".into()),
        }
    }

    /// Returns the target of a command, or the reason why there is none: `none` once the changes are loaded.
    pub fn need<T>(&self, here: Option<T>, none: &'static str) -> Result<T, Disabled> {
        self.need_loaded()?;
        here.ok_or(none.into())
    }

    /// Returns the file and line under the cursor.
    pub fn location(&self) -> Option<FileLocation> {
        let doc = self.doc.as_ref()?;
        let place = doc.content(self.row())?;
        let file = doc.files().get(place.file())?;
        let line = match place {
            RowContent::Line { line, .. } => file.lines.get(line),
            _ => None,
        };
        let old = line.map_or(file.source.is_deleted, |line| line.new().is_none());
        Some(FileLocation { path: file.path().to_owned(), line: line.and_then(|line| line.new().or(line.old())), old })
    }

    /// Returns the text of the line under the cursor, if it is a line of a file.
    pub fn line_text(&self) -> Option<String> {
        let doc = self.doc.as_ref()?;
        let row = self.row();
        matches!(doc.content(row)?, RowContent::Line { .. }).then(|| doc.text(row).into_owned())
    }

    /// Returns the texts of the marked lines, or else of the line under the cursor, if it is a line of a file.
    fn lines_here(&self) -> Vec<Cow<'_, str>> {
        let marked = self.selected_lines().and_then(|(file, lines)| Some((self.files().get(file)?, lines)));
        match marked {
            Some((file, lines)) => {
                file.lines.get(lines).unwrap_or_default().iter().map(|line| file.text(line).into()).collect()
            }
            None => self.line_text().map(Cow::Owned).into_iter().collect(),
        }
    }

    /// Returns whether all parts of the reply are parsed.
    pub fn has_all(&self) -> bool {
        self.source.input.as_ref().is_some_and(|input| self.source.parts >= input.entries.parts())
    }

    /// Returns whether all files of the reply are shown, or there are none.
    pub fn shows_all(&self) -> bool {
        let shows = |input: &ChangedFiles| {
            input.entries.is_empty() || self.source.identity == self.name(input) && self.has_all()
        };
        self.source.input.as_ref().is_some_and(shows)
    }

    /// Returns the parsed files in their current state.
    pub fn files(&self) -> &[Arc<FileDiff>] {
        self.doc.as_ref().map(DiffDoc::files).unwrap_or_default()
    }

    /// Returns the identity of the input that is shown; it changes whenever that does.
    pub fn identity(&self) -> &str {
        &self.source.identity
    }

    /// Returns both panels.
    pub fn panels(&mut self) -> &mut Panels {
        self.ensure_panels();
        &mut self.panels
    }

    /// Leaves both panels together `width` columns beside another panel, which may have the focus.
    pub fn put_beside(&mut self, width: usize, is_focused: bool) {
        self.beside = Beside { width: u16::try_from(width).ok(), is_focused };
    }
}
