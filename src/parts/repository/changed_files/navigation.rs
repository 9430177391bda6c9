//! Navigation in changes: keys, mouse, search, and display options.

use super::tree::Node;
use super::{Changes, DIFF, FILES};
use crate::app::action::Action;
use crate::app::clip::Clip;
use crate::app::context::Cx;
use crate::app::motion::Motion;
use crate::app::pane::{CodeHere, Pane, SearchMode};
use crate::app::pointer::{self, Pointer};
use crate::app::state::{DiffSettings, SettingsChange};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::store::Want;
use crate::ui::diff::{DiffDoc, Layout, RowContent, Side};
use crate::ui::panels::{self, Panels};
use crate::ui::{glyph, text, words};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

impl Pane for Changes {
    fn wants(&self, view: &View) -> Vec<Want> {
        self.works(view)
    }

    fn view(&self, view: &View, area: Rect, buf: &mut Buffer) {
        self.draw(view, area, buf);
    }

    fn motion(&mut self, motion: Motion, _cx: &mut Cx) {
        self.expansions.error = None;
        if self.panels.focus() == FILES {
            match motion {
                Motion::Right if self.fold_folder(Some(true)) => {}
                Motion::Right => self.enter_list(),
                Motion::Left => self.leave_folder(),
                other => self.move_list(other),
            }
        } else {
            self.move_diff(motion);
        }
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) {
        let [files, diff] = self.drawn.areas.get();
        match pointer {
            Pointer::Press { column, row, double } if files.contains((column, row).into()) => {
                self.panels.set_focus(FILES);
                let at = row.checked_sub(files.y + 1).and_then(|y| self.tree.list.row_at(y));
                if let Some(index) = at {
                    self.tree.select(index);
                    self.follow_list();
                    if double {
                        self.enter();
                    }
                }
            }
            Pointer::Press { column, row, double } if diff.contains((column, row).into()) => {
                self.panels.set_focus(DIFF);
                let at =
                    row.checked_sub(diff.y + 1).and_then(|y| self.drawn.rows.borrow().get(usize::from(y)).copied());
                let goes = at.is_some_and(|at| self.selection.drag.press(at, self.is_marked(at)));
                if let Some(at) = at.filter(|_| goes) {
                    self.clear_selection();
                    self.set_side(if column < diff.x + diff.width / 2 { Side::Old } else { Side::New });
                    self.go_to(Some(at), false);
                    if double {
                        self.enter();
                    }
                }
            }
            // A drag marks the lines from where it began.
            Pointer::Drag { row, .. } => {
                // Below the heading.
                let y = pointer::row_in(Rect { y: diff.y + 1, height: diff.height.saturating_sub(1), ..diff }, row);
                let at = self.drawn.rows.borrow().get(usize::from(y)).copied();
                if let Some((at, from)) = at.and_then(|at| Some((at, self.selection.drag.drag(at)?))) {
                    self.go_to(Some(from), false);
                    self.clear_selection();
                    self.toggle_selection();
                    self.go_to(Some(at), false);
                }
            }
            Pointer::Release => {
                if let Some(at) = self.selection.drag.release().filter(|_| self.has_selection()) {
                    self.clear_selection();
                    self.go_to(Some(at), false);
                }
            }
            Pointer::Wheel { column, row, rows } if files.contains((column, row).into()) => {
                self.move_list(Motion::Wheel(rows));
            }
            Pointer::Wheel { rows, .. } => self.move_diff(Motion::Wheel(rows)),
            _ => {}
        }
    }

    fn enter(&mut self, _cx: &mut Cx) {
        Changes::enter(self);
    }

    fn panels(&mut self) -> Option<&mut Panels> {
        Some(Changes::panels(self))
    }

    fn search(&self) -> Option<(SearchMode, String)> {
        Some(match self.panels.focus() {
            FILES => (SearchMode::Filter, self.tree.filter.clone()),
            _ => (SearchMode::Expression, self.search.query.clone()),
        })
    }

    fn begin_search(&mut self, _view: &View) {
        self.search.origin = self.doc.as_ref().map(|doc| self.search_position(doc)).unwrap_or_default();
        self.search.is_jump_pending = false;
    }

    fn set_filter_text(&mut self, words: &str, _cx: &mut Cx) {
        if self.panels.focus() == FILES {
            if self.tree.filter != words {
                self.tree.filter = words.to_owned();
                self.rebuild_tree();
                if words.is_empty() {
                    self.follow_diff();
                } else {
                    self.first_file();
                }
            }
        } else {
            self.search.query = words.to_owned();
            self.search.found = None;
            self.search.is_jump_pending = !words.is_empty();
        }
    }

    fn next_match(&mut self, forward: bool, cx: &mut Cx) {
        self.begin_search(&cx.view);
        self.go_to_match(forward, false);
    }

    fn escape(&mut self, cx: &mut Cx) -> bool {
        if self.expansions.error.take().is_some() || self.cancel_expansion() || self.selection.start.take().is_some() {
            return true;
        }
        if self.search().is_some_and(|(_, text)| !text.is_empty()) {
            self.set_filter_text("", cx);
            return true;
        }
        let alone = cx.view.size.0 < panels::TWO_PANELS_WIDTH || self.panels.zoomed();
        if self.panels.focus() == DIFF && alone {
            self.panels.set_focus(FILES);
            return true;
        }
        false
    }

    fn code(&self, _view: &View) -> CodeHere {
        CodeHere { words: words::searchable(self.lines_here(), &self.search.query), ..CodeHere::default() }
    }

    fn copies(&self, _view: &View) -> Vec<Clip> {
        let line = || self.line_text().map(|text| Clip::code_line("line", text));
        let text = self.marked_copy().or_else(line);
        text.into_iter().chain(self.location().map(|location| Clip::line("path", location.path))).collect()
    }
}

impl Changes {
    /// Returns the marked lines as a text to copy.
    pub fn marked_copy(&self) -> Option<Clip> {
        self.selected_lines().map(|_| Clip::lines("marked lines", self.lines_here().join("\n")))
    }

    /// Folds the selected folder, or moves to the parent folder of the row.
    fn leave_folder(&mut self) {
        if self.fold_folder(Some(false)) {
            return;
        }
        if let Some(above) = self.tree.parent() {
            self.tree.select(above);
            self.follow_list();
        }
    }

    fn move_list(&mut self, motion: Motion) {
        let (len, before) = (self.tree.nodes.len(), self.tree.list.selected());
        motion.apply(&mut self.tree.list, len);
        if before != self.tree.list.selected() && !matches!(motion, Motion::Wheel(_)) {
            self.follow_list();
        }
    }

    fn move_diff(&mut self, motion: Motion) {
        let len = self.len();
        let split = self.layout_here() == Layout::Split;
        let side = self.doc.as_ref().map(DiffDoc::side).unwrap_or_default();
        match motion {
            // From the new side to the old one, and from there to the list.
            Motion::Left if self.scroll.left == 0 && split && side == Side::New => self.set_side(Side::Old),
            Motion::Left if self.scroll.left == 0 => self.panels.set_focus(FILES),
            Motion::Right if split && side == Side::Old => self.set_side(Side::New),
            other => other.scroll(&mut self.scroll, len),
        }
        let step = match motion {
            Motion::Up => -1,
            Motion::Down => 1,
            _ => 0,
        };
        let (doc, row) = (self.doc.as_ref(), self.row());
        if step != 0 && doc.is_some_and(|doc| doc.is_border(row)) {
            // Below the last line, the cursor stays in the thread.
            let step = if row + 1 == len { -1 } else { step };
            self.scroll.move_by(step, len);
        }
        self.follow_diff();
    }

    fn set_side(&mut self, side: Side) {
        if let Some(doc) = &mut self.doc {
            doc.set_side(side);
        }
    }

    /// Moves the diff to the file that is selected in the list, with its heading at the top.
    pub(super) fn follow_list(&mut self) {
        let file = self.tree.first_file();
        if let Some((doc, file)) = self.doc.as_ref().zip(file)
            && let Some(row) = doc.row(RowContent::File { file })
        {
            self.scroll.goto(row, doc.len());
            self.scroll.set_top(row);
        }
        self.clear_selection_outside_file();
    }

    /// Selects the file at the cursor of the diff in the list.
    pub(super) fn follow_diff(&mut self) {
        self.clear_selection_outside_file();
        let node = self.file().and_then(|file| self.tree.node_of(file));
        if let Some(node) = node {
            self.tree.select(node);
        }
    }

    pub(super) fn go_to(&mut self, row: Option<usize>, on_top: bool) {
        let Some(row) = row else { return };
        self.expansions.error = None;
        let len = self.len();
        self.scroll.goto(row, len);
        if on_top {
            self.scroll.set_top(row);
        }
        self.follow_diff();
    }

    /// Moves to the next or the previous file.
    pub fn step_file(&mut self, forward: bool) {
        let row = self.row();
        let next = |doc: &DiffDoc| if forward { doc.next_file(row) } else { doc.previous_file(row) };
        self.go_to(self.doc.as_ref().and_then(next), true);
    }

    /// Moves to the next or the previous hunk, in this file or another.
    pub fn step_hunk(&mut self, forward: bool) {
        let row = self.row();
        let next = |doc: &DiffDoc| if forward { doc.next_hunk(row) } else { doc.previous_hunk(row) };
        self.go_to(self.doc.as_ref().and_then(next), false);
    }

    /// Folds or unfolds the file at the cursor.
    pub fn fold(&mut self) {
        let Some(file) = self.file() else { return };
        let Some(doc) = &mut self.doc else { return };
        let folded = doc.is_folded(file);
        doc.fold(file, !folded);
        let row = doc.row(RowContent::File { file });
        self.selection.start = None;
        self.go_to(row, false);
    }

    /// Handles Enter: in the list, moves to the diff of the file; on the heading of a file, folds it; on a bar, expands
    /// it.
    pub fn enter(&mut self) {
        let heading = |doc: &DiffDoc| matches!(doc.content(self.row()), Some(RowContent::File { .. }));
        if self.panels.focus() == FILES {
            self.enter_list();
        } else if self.doc.as_ref().is_some_and(heading) {
            self.fold();
        } else {
            self.expand_all();
        }
    }

    /// Toggles between the unified and the side-by-side layout. A file whose changes are on one side only looks the same in
    /// both, so what was chosen counts and is named, or else the layout of the other files.
    pub fn toggle_layout(&mut self, cx: &mut Cx) {
        if glyph::is_accessible() {
            return cx.say(Tone::Info, "In accessible mode a line of the screen is a line of one side.");
        }
        let doc = self.doc.as_ref();
        let file = self.file().and_then(|file| doc?.files().get(file));
        let is_one_sided = file.is_some_and(|file| file.is_one_sided());
        let is_split = match self.settings.layout {
            Some(chosen) => chosen == Layout::Split,
            None if is_one_sided => doc.is_some_and(DiffDoc::has_sides),
            None => self.layout_here() == Layout::Split,
        };
        if is_one_sided {
            let on = if is_split { "off" } else { "on" };
            cx.say(Tone::Info, format!("Side by side is {on}. The changes of this file are on one side only."));
        }
        let layout = if is_split { Layout::Unified } else { Layout::Split };
        self.save_settings(DiffSettings { layout: Some(layout), ..cx.view.settings.diff }, cx);
    }

    /// Toggles line wrap.
    pub fn toggle_wrap(&mut self, cx: &mut Cx) {
        let wraps = self.settings.wraps.unwrap_or(self.layout_here() == Layout::Split);
        self.save_settings(DiffSettings { wraps: Some(!wraps), ..cx.view.settings.diff }, cx);
    }

    /// Returns the layout of the file at the cursor.
    fn layout_here(&self) -> Layout {
        self.doc.as_ref().map(|doc| doc.layout_at(self.row())).unwrap_or_default()
    }

    /// Saves the display options, which apply to all places with changes and to later sessions.
    fn save_settings(&mut self, diff: DiffSettings, cx: &mut Cx) {
        self.settings = diff;
        cx.act(Action::Settings(SettingsChange::Diff(diff)));
    }

    /// Applies the saved display options, else those of the configuration.
    pub(super) fn load_settings(&mut self, view: &View) {
        let (chosen, configured) = (view.settings.diff, &view.session.diff);
        self.settings =
            DiffSettings { layout: chosen.layout.or(configured.layout), wraps: chosen.wraps.or(configured.wraps) };
        self.expansions.context = configured.context;
    }

    /// Toggles whether whitespace changes are ignored.
    pub fn toggle_whitespace(&mut self) {
        self.source.ignores_whitespace = !self.source.ignores_whitespace;
    }

    /// Returns whether the line at a row is marked.
    fn is_marked(&self, row: usize) -> bool {
        let (Some((file, lines)), Some(doc)) = (self.selected_lines(), self.doc.as_ref()) else { return false };
        matches!(doc.content(row), Some(RowContent::Line { file: at, line, .. }) if at == file && lines.contains(&line))
    }

    /// Selects the first file of the list, skipping folders.
    fn first_file(&mut self) {
        let first = self.tree.nodes.iter().position(|node| matches!(node, Node::File { .. }));
        self.tree.select(first.unwrap_or(0));
        self.follow_list();
    }

    pub(super) fn go_to_match(&mut self, forward: bool, here: bool) {
        let Some(found) = &self.search.found else { return };
        let from = self.search.origin;
        let before = found.before(from.0, from.1);
        let behind = if here { before } else { before + found.on(from.0, from.1).len() };
        let to = if forward {
            found.matches.get(behind).or(found.matches.first())
        } else {
            before.checked_sub(1).and_then(|at| found.matches.get(at)).or(found.matches.last())
        };
        let (file, line, range) = match to.cloned() {
            Some(to) => (to.file, to.line, to.range),
            // Nothing matches what was typed so far.
            None if here => (from.0, from.1, 0..0),
            None => return,
        };
        let Some(doc) = &mut self.doc else { return };
        let place = match line {
            None => Some(RowContent::File { file }),
            Some(line) => {
                if doc.is_folded(file) {
                    doc.fold(file, false);
                }
                let hunk = doc.files().get(file).and_then(|file| file.hunk_of(line));
                hunk.map(|hunk| RowContent::Line { file, hunk, line })
            }
        };
        if let Some(RowContent::Line { file, line, .. }) = place {
            let side = doc.files().get(file).and_then(|file| file.lines.get(line)).map(|line| line.side());
            doc.set_side(side.unwrap_or_default());
        }
        let row = place.and_then(|place| doc.row(place));
        self.go_to(row, false);
        if let (Some(doc), Some(row)) = (&self.doc, row) {
            self.scroll.show_columns(text::columns(&doc.text(row), range));
        }
    }
}
