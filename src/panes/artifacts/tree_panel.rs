//! The panel with the tree of an archive, or with the files that match a filter.

use super::archive::{self, Archive, FindNames};
use super::reads::ArtifactReads;
use super::tree::VisibleNode;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{Pane, SearchMode};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::store::{Want, Work};
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::table::{self, ListState, Size, TableColumn};
use crate::ui::theme::Role;
use crate::ui::{glyph, panels, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;

const COLUMNS: &[TableColumn] = &[
    TableColumn::new("", Size::Fill { min: 12, weight: 1 }).cut_in_middle(),
    TableColumn::new("", Size::Fit { min: 0, max: 18 }).right(),
];

/// The tree of an archive.
pub struct TreePanel {
    reads: ArtifactReads,
    list: ListState,
    open: BTreeSet<u32>,
    rows: Vec<VisibleNode>,
    /// Whether the folders that start open have been opened.
    is_initialized: bool,
    /// The filter.
    name: String,
    area: Drawn<Rect>,
}

impl TreePanel {
    /// Creates the panel without rows.
    pub fn new(reads: ArtifactReads) -> TreePanel {
        TreePanel {
            reads,
            list: ListState::new(),
            open: BTreeSet::new(),
            rows: Vec::new(),
            is_initialized: false,
            name: String::new(),
            area: Drawn::default(),
        }
    }

    /// Returns the files that match the filter; `None` without a filter or before the search has finished.
    fn found<'a>(&self, view: &View<'a>) -> Option<&'a Vec<u32>> {
        if self.name.trim().is_empty() {
            return None;
        }
        view.store.result(&archive::names_key(&self.reads.key(), &self.name))
    }

    /// Returns the number of rows of the tree, or of the matching files.
    fn len(&self, view: &View) -> usize {
        self.found(view).map_or(self.rows.len(), Vec::len)
    }

    fn node_at(&self, view: &View, index: usize) -> Option<u32> {
        match self.found(view) {
            Some(found) => found.get(index).copied(),
            None => self.rows.get(index).map(|visible| visible.node),
        }
    }

    /// Returns the node under the cursor.
    pub fn current(&self, view: &View) -> Option<u32> {
        self.node_at(view, self.list.selected())
    }

    /// Returns whether the node under the cursor is a folder.
    fn is_folder(&self, view: &View, index: u32) -> bool {
        self.reads.node(view, index).is_some_and(|node| node.folder)
    }

    /// Opens or closes a folder.
    pub fn set_open(&mut self, index: u32, open: bool, view: &View) {
        if open {
            self.open.insert(index);
        } else {
            self.open.remove(&index);
        }
        self.update_rows(view);
    }

    /// Opens or closes the folder under the cursor; returns whether a file is there instead.
    pub fn toggle_folder(&mut self, view: &View) -> bool {
        let Some((index, node)) = self.current(view).and_then(|index| Some((index, self.reads.node(view, index)?)))
        else {
            return false;
        };
        if node.folder {
            self.set_open(index, !self.open.contains(&index), view);
        }
        !node.folder
    }

    /// Closes all folders.
    pub fn close_all(&mut self, view: &View) {
        self.open.clear();
        self.update_rows(view);
    }

    /// Updates the visible rows after folders were opened or closed.
    fn update_rows(&mut self, view: &View) {
        if let Some(archive) = self.reads.archive(view) {
            self.rows = archive.tree.visible_nodes(&self.open);
        }
    }

    /// Opens the folders that start open, once the archive is loaded.
    fn initialize(&mut self, view: &View) {
        let Some(archive) = self.reads.archive(view).filter(|_| !self.is_initialized) else { return };
        self.is_initialized = true;
        self.open = archive.tree.initially_open();
        self.update_rows(view);
    }

    /// Selects a node and opens the folders that contain it.
    pub fn select(&mut self, index: u32, view: &View) {
        let Some(archive) = self.reads.archive(view) else { return };
        let mut at = index;
        while let Some(parent) = archive.tree.parent(at) {
            self.open.insert(parent);
            at = parent;
        }
        self.update_rows(view);
        if let Some(row) = self.rows.iter().position(|visible| visible.node == index) {
            self.list.select(row, self.rows.len());
        }
    }

    /// Goes to the next or the previous file; returns `false` if there is none.
    pub fn step_file(&mut self, forward: bool, view: &View) -> bool {
        let len = self.len(view);
        let at = self.list.selected();
        let is_file = |row: &usize| {
            let node = self.node_at(view, *row).and_then(|index| self.reads.node(view, index));
            node.is_some_and(|node| !node.folder)
        };
        let next = if forward { (at + 1..len).find(is_file) } else { (0..at).rev().find(is_file) };
        if let Some(row) = next {
            self.list.select(row, len);
        }
        next.is_some()
    }

    /// Scrolls by the wheel.
    pub fn scroll_by(&mut self, rows: i16, view: &View) {
        let len = self.len(view);
        self.list.scroll_by(rows.into(), len);
    }

    /// Selects the row at a line of the screen; returns `false` if there is none.
    pub fn click(&mut self, row: u16, view: &View) -> bool {
        let index = row.checked_sub(self.area.get().y).and_then(|y| self.list.row_at(y));
        let len = self.len(view);
        if let Some(index) = index {
            self.list.select(index, len);
        }
        index.is_some()
    }

    /// Returns whether the tree was last drawn at that cell.
    pub fn contains(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }

    /// Forgets the clickable area, because the tree may not be drawn.
    pub fn hide(&self) {
        self.area.set(Rect::default());
    }

    /// Draws the panel with its title.
    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer, focused: bool) {
        let Some(archive) = self.reads.archive(view) else { return };
        let area = panels::title(buf, area, view.theme, focused, "Artifacts", &facts(archive));
        let area = match warning(view, archive) {
            Some(words) if area.height > 4 => {
                let line = Rect { height: 1, ..area };
                let words = format!(" {} {words}", glyph::warning());
                Line::new(words, Role::Warning).draw(buf, line, view.theme);
                Rect { y: area.y + 1, height: area.height - 1, ..area }
            }
            _ => area,
        };
        self.area.set(area);
        if archive.list.entries.is_empty() {
            return view.draw_empty(buf, area, "This archive is empty.", "");
        }
        if !self.name.trim().is_empty() {
            let Some(found) = self.found(view) else { return state::skeleton(buf, area, view.theme) };
            if found.is_empty() {
                return view.draw_empty(
                    buf,
                    area,
                    "No file matches the filter.",
                    "‹seek› changes it, ‹escape› clears it",
                );
            }
            return table::draw(buf, area, view.theme, focused, &self.list, COLUMNS, found.len(), &|row| {
                let node = found.get(row).copied().unwrap_or_default();
                archive.tree.found_row(node, self.reads.entry(view, node))
            });
        }
        table::draw(buf, area, view.theme, focused, &self.list, COLUMNS, self.rows.len(), &|row| {
            let Some(visible) = self.rows.get(row).copied() else { return table::TableRow::default() };
            archive.tree.row(visible, self.open.contains(&visible.node), self.reads.entry(view, visible.node))
        });
    }
}

impl Pane for TreePanel {
    fn wants(&self, view: &View) -> Vec<Want> {
        let archive = self.reads.archive(view).filter(|_| !self.name.trim().is_empty());
        let find = |archive| FindNames { of: self.reads.key(), archive, words: self.name.clone() };
        archive.cloned().map(|archive| Work::new(find(archive)).into()).into_iter().collect()
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.draw(view, area, buf, true);
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.initialize(&cx.view);
        let len = self.len(&cx.view);
        self.list.clamp(len);
    }

    fn motion(&mut self, motion: Motion, cx: &mut Cx) {
        let view = &cx.view;
        let len = self.len(view);
        let folder = self.current(view).filter(|index| self.is_folder(view, *index));
        match (motion, folder) {
            (Motion::Right, Some(index)) if self.open.contains(&index) => self.list.move_by(1, len),
            (Motion::Right, Some(index)) => self.set_open(index, true, view),
            (Motion::Left, Some(index)) if self.open.contains(&index) => self.set_open(index, false, view),
            (Motion::Left, _) => {
                let current = self.current(view).filter(|_| self.name.is_empty());
                if let Some(parent) = current.and_then(|index| self.reads.archive(view)?.tree.parent(index)) {
                    self.select(parent, view);
                }
            }
            (other, _) => other.apply(&mut self.list, len),
        }
    }

    fn search(&self) -> Option<(SearchMode, String)> {
        Some((SearchMode::Filter, self.name.clone()))
    }

    fn set_filter_text(&mut self, text: &str, cx: &mut Cx) {
        let here = self.current(&cx.view);
        self.name = text.to_owned();
        if !text.is_empty() {
            self.list.first();
        } else if let Some(index) = here {
            self.select(index, &cx.view);
        }
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        if self.name.is_empty() {
            return cx.say(Tone::Info, "No search yet: ‹seek› starts one.");
        }
        let len = self.len(&cx.view);
        self.list.move_by(if forward { 1 } else { -1 }, len);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        let filtered = !self.name.is_empty();
        if filtered {
            self.set_filter_text("", cx);
        }
        filtered
    }
}

/// Formats the number of files of an archive and their unpacked size, the same sizes that the tree shows.
fn facts(archive: &Archive) -> String {
    let files = archive.tree.files();
    let files = match archive.list.omitted_count {
        0 => text::count_noun(files, "file"),
        _ => format!("{}+ files", text::count(files)),
    };
    format!("{files}{}{}", glyph::separator(), text::bytes(archive.tree.size()))
}

/// Returns a warning about the archive as a whole: it is damaged, has unlisted files, or has a suspicious compression
/// ratio.
fn warning(view: &View, archive: &Archive) -> Option<String> {
    if let Some(why) = archive.list.corruption {
        return Some(format!("The archive is damaged: {why}."));
    }
    if archive.list.omitted_count > 0 {
        let more = text::count(archive.list.omitted_count);
        let all = view.with_keys("‹artifacts.save_all› saves all");
        return Some(format!("{more} more files are not listed; {all}."));
    }
    let (size, packed) = (archive.tree.size(), archive.parts.total());
    let trap = size > 1024 * 1024 * 1024 && size / packed.max(1) > 200;
    trap.then(|| format!("It would unpack to {}.", text::bytes(size)))
}
