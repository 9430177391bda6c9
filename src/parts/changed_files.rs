//! What changed, file by file: a tree of files beside their diffs. Shared by the places of a merge request, of a
//! commit, and of a comparison.

mod anchor;
mod expansion;
mod files;
mod input;
pub mod keys;
mod navigation;

pub use anchor::{CommentAnchor, ImagePoint, LineEnd};
pub use input::{Entries, Input, Revisions};

use super::list::failure;
use crate::api::Error;
use crate::app::command::Disabled;
use crate::app::pane::View;
use crate::app::state::ViewedFiles;
use crate::store::{Want, Work};
use crate::ui::diff::{
    self, DiffDoc, DiffOptions, DrawnPictures, FileDiff, Found, HunkStyles, Inset, Layout, Moved, Place, Side,
};
use crate::ui::doc::DocState;
use crate::ui::panels::{self, PanelRequest, Panels};
use crate::ui::table::ListState;
use crate::ui::theme::Role;
use crate::ui::{glyph, line, state, text};
use files::Node;
use input::{AllFiles, Colors, FindMoves, Parse, Pictures, Search, colors_key, moves_key, parse_key, search_key};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::{Cell as Shared, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The panel of the list of files.
const FILES: usize = 0;
/// The panel of the diffs.
const DIFF: usize = 1;
/// Columns from which the sides stand beside each other by themselves.
const WIDE: u16 = 116;
/// Rows that a list above a diff has at least: enough to say that no file matches.
const MIN_ROWS: usize = 3;
const ASKS: [PanelRequest; 2] = [PanelRequest { min: 28, weight: 1 }, PanelRequest { min: 50, weight: 3 }];

/// Where the diff of a file stands, for links and copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLocation {
    /// The file's name now, or before it was deleted.
    pub path: String,
    /// The line in the new file, or else in the old one, from 1.
    pub line: Option<u32>,
    /// Whether it is the old one.
    pub old: bool,
}

/// The list of files and their diffs: selection, scrolling, search.
#[derive(Default)]
pub struct Changes {
    panels: Panels,
    list: ListState,
    scroll: DocState,
    /// The name of what `doc` was made of, and how many of its parts.
    identity: String,
    parts: usize,
    /// Counts files that were put in the place of others.
    replaced: u32,
    doc: Option<DiffDoc>,
    /// The files that fit the filter, and the rows of their tree.
    shown: Vec<usize>,
    nodes: Vec<Node>,
    /// Folders of the tree that are folded.
    folders: BTreeSet<String>,
    filter: String,
    query: String,
    found: Option<Found>,
    /// Where the search began: the first match is looked for from there.
    origin: (usize, Option<usize>),
    /// A match is still to be gone to, once it is known where it is.
    jump: bool,
    /// A place is still to be gone to, once the files are read.
    wanted: Option<FileLocation>,
    areas: Shared<[Rect; 2]>,
    /// The row in each line of the diff's panel, as of the last draw.
    drawn: RefCell<Vec<usize>>,
    /// Columns of the rows of insets, as of the last draw.
    inset_columns: Shared<usize>,
    /// The columns that both panels have, if that is not the whole screen.
    width: Option<u16>,
    /// Something beside it has the focus.
    aside: bool,
    /// What is set in between the lines, and its revision.
    insets: (u64, Arc<Vec<Inset>>),
    /// The files that have some of them.
    commented: HashSet<String>,
    /// The file and the line where a range of marked lines begins; it ends at the cursor.
    mark: Option<(usize, usize)>,
    /// How the sides stand, if the user chose it.
    layout: Option<Layout>,
    /// Long lines go on below.
    wrap: bool,
    /// Whitespace alone is no change.
    without_spaces: bool,
    revisions: Option<Revisions>,
    ask: Option<expansion::ExpandRequest>,
    /// Pictures that are being drawn, and those that are shown.
    pictures: Option<Pictures>,
    shown_pictures: Vec<(Inset, Arc<DrawnPictures>)>,
    /// Why something could not be shown.
    trouble: Option<String>,
    viewed: ViewedFiles,
    viewed_now: usize,
    kept_under: String,
    ready: bool,
}

impl Changes {
    /// The panels are made when they are first needed: their number is no default.
    fn made(&mut self) {
        if !std::mem::replace(&mut self.ready, true) {
            self.panels = Panels::new(2);
        }
    }

    /// The name of what is shown, with how it is read.
    fn name(&self, input: &Input) -> String {
        let how = if self.without_spaces { ", whitespace ignored" } else { "" };
        format!("{}{how}", input.identity)
    }

    /// Everything as it stands, for work on all files.
    fn whole(&self, doc: &DiffDoc) -> AllFiles {
        AllFiles { identity: self.whole_name(), files: doc.shared_files() }
    }

    /// Names the files as they stand: another one whenever any of them is, by what was expanded too.
    pub fn whole_name(&self) -> String {
        format!("{}, {} parts, {} others", self.identity, self.parts, self.replaced)
    }

    /// Returns what has to be worked out for what is looked at.
    pub fn wants(&self, view: &View, input: Option<&Input>) -> Vec<Want> {
        let Some(input) = input else { return Vec::new() };
        let parse = |part: usize| {
            let (identity, entries) = (self.name(input), input.entries.clone());
            Work::new(Parse { identity, entries, part, without_spaces: self.without_spaces }).into()
        };
        let Some(doc) = self.doc.as_ref().filter(|_| self.identity == self.name(input)) else { return vec![parse(0)] };
        let mut wants = Vec::new();
        let missing = doc.missing(self.in_sight(doc)).or_else(|| doc.missing(self.near(view, doc)));
        if let Some(piece) = missing
            && let Some(diff) = doc.files().get(piece.0)
        {
            let identity = self.identity.clone();
            wants.push(Work::new(Colors { identity, piece, diff: diff.clone() }).into());
        }
        if self.parts < input.entries.parts() {
            wants.push(parse(self.parts));
        } else if !self.query.is_empty() && self.found.is_none() {
            wants.push(Work::new(Search { whole: self.whole(doc), query: self.query.clone() }).into());
        } else if missing.is_none() && !doc.knows_moved() {
            wants.push(Work::new(FindMoves(self.whole(doc))).into());
        }
        wants.extend(self.more_wants(view));
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
        self.made();
        self.take_look(view);
        let Some(input) = input else { return };
        let name = self.name(input);
        if self.identity != name
            && let Some(files) = view.store.result::<Vec<Arc<FileDiff>>>(&parse_key(&name, 0))
        {
            self.take(name.clone(), files.clone());
        }
        if self.identity == name {
            self.take_parts(view);
            if self.parts >= input.entries.parts() {
                self.wanted = None;
            }
        }
        self.arrange(view);
        self.take_colors(view);
        let whole = self.whole_name();
        if !self.query.is_empty() && self.found.is_none() {
            self.found = view.store.result::<Found>(&search_key(&whole, &self.query)).cloned();
            if self.found.is_some() && std::mem::take(&mut self.jump) {
                self.go_to_match(true, true);
            }
        }
        if let Some(doc) = self.doc.as_mut().filter(|doc| !doc.knows_moved())
            && let Some(moved) = view.store.result::<Arc<Moved>>(&moves_key(&whole))
        {
            doc.set_moved(moved.clone());
        }
        self.more_sync(view);
        self.take_pictures(view);
    }

    fn take(&mut self, name: String, files: Vec<Arc<FileDiff>>) {
        // The same line of the same file, where a newer reply still has it.
        let spot = self.wanted.take().or_else(|| self.spot());
        let first = self.doc.is_none();
        let side = self.doc.as_ref().map(DiffDoc::side).unwrap_or_default();
        let mut doc = DiffDoc::new(files);
        doc.set_side(side);
        doc.set_insets(self.insets.1.clone());
        (self.mark, self.found, self.ask) = (None, None, None);
        self.shown_pictures.clear();
        (self.identity, self.parts) = (name, 1);
        self.fold_viewed(&mut doc, 0);
        if let Some(spot) = spot {
            // What is not there may come with the next part.
            self.wanted = (!self.go_to_spot(&mut doc, &spot, first)).then_some(spot);
        }
        self.doc = Some(doc);
        self.plant();
        self.follow_diff();
    }

    /// Goes to a file and line, where the document has the file.
    fn go_to_spot(&mut self, doc: &mut DiffDoc, spot: &FileLocation, first: bool) -> bool {
        let Some(file) = doc.files().iter().position(|file| file.path() == spot.path) else { return false };
        if !first || spot.line.is_some() {
            doc.fold(file, false);
        }
        let side = if spot.old { Side::Old } else { Side::New };
        let line = spot.line.and_then(|line| doc.row_of_line(file, line, side));
        let row = line.or_else(|| doc.row(Place::File { file })).unwrap_or(0);
        self.scroll.goto(row, doc.len());
        true
    }

    /// More parts, behind the files that are there.
    fn take_parts(&mut self, view: &View) {
        let before = self.parts;
        while let Some(files) = view.store.result::<Vec<Arc<FileDiff>>>(&parse_key(&self.identity, self.parts)) {
            let Some(mut doc) = self.doc.take() else { return };
            let from = doc.files().len();
            doc.extend(files.clone());
            self.fold_viewed(&mut doc, from);
            // Whoever moved on in the meantime stays there.
            if let Some(spot) = self.wanted.take()
                && !(self.scroll.cursor == 0 && self.go_to_spot(&mut doc, &spot, false))
            {
                self.wanted = Some(spot);
            }
            self.doc = Some(doc);
            self.parts += 1;
        }
        if self.parts != before {
            self.found = None;
            self.plant();
            self.follow_diff();
        }
    }

    /// What was viewed needs no room.
    fn fold_viewed(&self, doc: &mut DiffDoc, from: usize) {
        if self.viewed.is_empty() {
            return;
        }
        let viewed = doc.files().iter().enumerate().skip(from).filter(|(_, file)| self.is_viewed(file));
        let viewed: Vec<usize> = viewed.map(|(at, _)| at).collect();
        doc.fold_all(viewed, true);
    }

    /// Lays the sides as the width asks for, or as the user chose; the cursor stays on its line. The width is that of
    /// the next draw: what was drawn last may have been of another size, or of nothing yet.
    fn arrange(&mut self, view: &View) {
        let whole = Rect::new(0, 0, self.width.unwrap_or(view.size.0), 1);
        let diff = self.panels.places(whole, &ASKS).get(DIFF).copied().flatten();
        let width = diff.unwrap_or(whole).width;
        let by_width = if width >= WIDE { Layout::Split } else { Layout::Unified };
        let layout = self.layout.filter(|_| !glyph::words()).unwrap_or(by_width);
        let Some(doc) = self.doc.as_mut().filter(|doc| doc.layout() != layout) else { return };
        let before = self.scroll.at(doc.len());
        let place = doc.place(before);
        doc.set_layout(layout);
        let now = place.and_then(|place| doc.row(place)).unwrap_or(0);
        self.scroll.cursor = now;
        let above = before.saturating_sub(self.scroll.top.get());
        self.scroll.top.set(now.saturating_sub(above));
    }

    /// What was worked out in the meantime is taken piece by piece.
    fn take_colors(&mut self, view: &View) {
        let Some(doc) = &mut self.doc else { return };
        let height = self.scroll.height.get().max(usize::from(view.size.1));
        let at = self.scroll.at(doc.len());
        let mut from = at.saturating_sub(height);
        while let Some(piece) = doc.missing(from..at + height) {
            let revision = doc.files().get(piece.0).map_or(0, |file| file.revision);
            match view.store.result::<HunkStyles>(&colors_key(&self.identity, piece, revision)) {
                Some(styles) => doc.insert(piece, styles.clone()),
                // What is not there yet is passed over: that of another hunk may be.
                None => {
                    let row = doc.row(Place::Hunk { file: piece.0, hunk: piece.1 });
                    let Some(next) = row.and_then(|row| doc.next_hunk(row.max(from))) else { break };
                    from = next;
                }
            }
        }
    }

    /// Goes to a file and line, now or once they are known.
    pub fn show(&mut self, spot: FileLocation) {
        self.made();
        self.panels.set_focus(DIFF);
        // What was parsed is taken again, from the store.
        self.identity.clear();
        self.wanted = Some(spot);
    }

    /// Says between which versions the changes lie, so that whole files can be found.
    pub fn set_revisions(&mut self, revisions: Option<Revisions>) {
        self.revisions = revisions;
    }

    /// Draws both panels, or what stands where there is nothing to show.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, input: Option<&Input>, error: Option<&Error>) {
        let Some(input) = input else {
            return match error {
                Some(error) => failure(view, area, buf, error),
                None => state::skeleton(buf, area, view.theme),
            };
        };
        if input.entries.is_empty() {
            return state::empty(buf, area, view.theme, "No files changed.", "r refreshes");
        }
        let foot = u16::from(error.is_some());
        let body = Rect { height: area.height.saturating_sub(foot), ..area };
        let places = self.panels.layout(body, &ASKS);
        self.panels.rules(buf, view.theme);
        let place = |index: usize| places.get(index).copied().flatten();
        let (files, diff) = match (place(FILES), place(DIFF)) {
            (Some(files), None) => self.stacked(files),
            places => places,
        };
        self.areas.set([files.unwrap_or_default(), diff.unwrap_or_default()]);
        if let Some(place) = files {
            self.draw_files(view, place, buf);
        }
        if let Some(place) = diff {
            self.draw_diff(view, place, buf);
        }
        if let Some(error) = error {
            let words = format!(" {}: {} · r retries", error.title(), text::sanitize(&error.message()));
            let at = Rect { y: body.bottom(), height: foot, ..area };
            line::draw(buf, at, &[(words, view.theme.style(Role::Failed))]);
        }
    }

    /// Where the list stands alone and is short, the diff of its file stands below it.
    fn stacked(&self, area: Rect) -> (Option<Rect>, Option<Rect>) {
        let rows = 1 + self.nodes.len().max(MIN_ROWS);
        let height = u16::try_from(rows).ok().filter(|height| *height <= area.height / 2);
        let Some(height) = height.filter(|_| !self.panels.zoomed() && !glyph::words()) else {
            return (Some(area), None);
        };
        let below = Rect { y: area.y + height, height: area.height - height, ..area };
        (Some(Rect { height, ..area }), Some(below))
    }

    fn draw_diff(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let theme = view.theme;
        let focused = self.panels.focus() == DIFF && !self.aside;
        let Some(doc) = &self.doc else {
            let body = panels::title(buf, area, theme, focused, "", "");
            return state::skeleton(buf, body, theme);
        };
        let (left, right) = self.title(doc);
        let mut body = panels::title(buf, area, theme, focused, &left, &right);
        if let Some(trouble) = self.trouble.as_ref().filter(|_| body.height > 3) {
            body.height -= 1;
            let at = Rect { y: body.bottom(), height: 1, ..body };
            line::draw(buf, at, &[(format!(" {}", text::sanitize(trouble)), theme.style(Role::Warning))]);
        }
        let (match_style, current) = (theme.style(Role::Match), theme.style(Role::MatchCurrent));
        let here = doc.place(self.row());
        let marks = |place: Place| {
            let Some(found) = &self.found else { return Vec::new() };
            let hits = match place {
                Place::File { file } => found.on(file, None),
                Place::Line { file, line, .. } => found.on(file, Some(line)),
                _ => return Vec::new(),
            };
            let style = if Some(place) == here { current } else { match_style };
            hits.iter().map(|hit| (hit.range.clone(), style)).collect()
        };
        let look = DiffOptions { theme, focused, wrap: self.wrap, marks: &marks, marked: self.marked() };
        self.inset_columns.set(usize::from(body.width.saturating_sub(2 + diff::gutter(doc))));
        *self.drawn.borrow_mut() = diff::draw(buf, body, doc, &self.scroll, &look);
    }

    /// The file and the section under the cursor, and what is to know of them.
    fn title(&self, doc: &DiffDoc) -> (String, String) {
        let row = self.row();
        let at = self.file();
        let file = at.and_then(|at| doc.files().get(at));
        let mut left = file.map(|file| file.title()).unwrap_or_default();
        if let Some(section) = doc.section(row) {
            left.push_str(&format!(" {}{}", glyph::between(), text::fit(section, 60)));
        }
        let mut facts = Vec::new();
        facts.extend(self.matches(doc));
        facts.extend(self.without_spaces.then(|| "whitespace ignored".to_owned()));
        facts.extend(self.wrap.then(|| "wrapped".to_owned()));
        facts.extend(file.map(|file| format!("+{} −{}", file.additions, file.deletions)));
        facts.push(format!("{}/{}", at.map_or(0, |at| at + 1), text::count(doc.files().len() as u64)));
        (left, facts.join(glyph::between()))
    }

    /// Returns what the search found, in few words; `None` if nothing is sought.
    fn matches(&self, doc: &DiffDoc) -> Option<String> {
        if self.query.is_empty() {
            return None;
        }
        let Some(found) = &self.found else { return Some(format!("/{}", self.query)) };
        let at = self.key(doc);
        let before = found.before(at.0, at.1);
        let here = found.hits.get(before).is_some_and(|hit| (hit.file, hit.line) == at);
        let all = format!("{}{}", text::count(found.hits.len() as u64), if found.capped { "+" } else { "" });
        Some(match (found.hits.is_empty(), here) {
            (true, _) => format!("/{} not found", self.query),
            (_, true) => format!("/{} {}/{all}", self.query, before + 1),
            (_, false) => format!("/{} {all}", self.query),
        })
    }

    /// Returns where the cursor is, as the search counts: the file, and a line of it.
    fn key(&self, doc: &DiffDoc) -> (usize, Option<usize>) {
        let row = self.row();
        match doc.place(row) {
            Some(Place::Line { file, line, .. }) => (file, Some(line)),
            Some(Place::Hunk { file, hunk }) => {
                let start = doc.files().get(file).and_then(|file| file.hunks.get(hunk)).map(|hunk| hunk.lines.start);
                (file, start.and_then(|start| start.checked_sub(1)))
            }
            Some(Place::Inset { file, .. }) => (file, self.line_near(row, file)),
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

    /// The file at the cursor of the diff.
    fn file(&self) -> Option<usize> {
        self.doc.as_ref()?.place(self.row()).map(Place::file)
    }

    /// Returns whether there are changes to look at.
    pub fn is_here(&self) -> bool {
        self.doc.is_some()
    }

    /// Returns what a command is about, or why there is nothing: `none`, once the changes are here.
    pub fn need<T>(&self, here: Option<T>, none: &'static str) -> Result<T, Disabled> {
        here.ok_or(if self.is_here() { none } else { "the changes are still loading" }.into())
    }

    /// The file and line under the cursor.
    pub fn spot(&self) -> Option<FileLocation> {
        let doc = self.doc.as_ref()?;
        let place = doc.place(self.row())?;
        let file = doc.files().get(place.file())?;
        let line = match place {
            Place::Line { line, .. } => file.lines.get(line),
            _ => None,
        };
        let old = line.is_some_and(|line| line.new().is_none());
        Some(FileLocation { path: file.path().to_owned(), line: line.and_then(|line| line.new().or(line.old())), old })
    }

    /// The text of the line under the cursor, if it is a line of a file.
    pub fn line_text(&self) -> Option<String> {
        let doc = self.doc.as_ref()?;
        let row = self.row();
        matches!(doc.place(row)?, Place::Line { .. }).then(|| doc.text(row).into_owned())
    }

    /// Returns whether all that the reply holds is read.
    pub fn has_all(&self, input: &Input) -> bool {
        self.parts >= input.entries.parts()
    }

    /// The files as they are shown, parsed.
    pub fn files(&self) -> &[Arc<FileDiff>] {
        self.doc.as_ref().map(DiffDoc::files).unwrap_or_default()
    }

    /// Names what is shown: another one whenever that is.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Both panels.
    pub fn panels(&mut self) -> &mut Panels {
        self.made();
        &mut self.panels
    }

    /// Says how many columns there are for both panels, where they stand beside something else.
    pub fn set_width(&mut self, width: u16) {
        self.width = Some(width);
    }

    /// Whether something beside it has the focus, so that it is drawn quietly.
    pub fn set_aside(&mut self, aside: bool) {
        self.aside = aside;
    }
}
