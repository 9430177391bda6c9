//! The text of the editor: lines and cursor, search matches, syntax colors, and the visible part.

use crate::keymap::Key;
use crate::overlay::editor::text_format::TextFormat;
use crate::overlay::markdown_input::Handled;
use crate::overlay::{for_text_area, select_to, selected_text};
use crate::pointer::{self, Pointer};
use crate::view::View;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use store::{Canceled, Derive, Want, Work};
use tui_textarea::{CursorMove, TextArea};
use ui::code::{self, Language, Spans};
use ui::doc::{self, DocLine, DocState};
use ui::layers::blend;
use ui::line::Line;
use ui::search::{self, Match};
use ui::theme::Role;
use ui::{glyph, text};

/// The maximum number of steps that can be undone.
const MAX_UNDO: usize = 2_000;
/// The number of lines above the viewport at which highlighting starts.
const LINES_ABOVE: usize = 120;

/// A text that is being edited.
pub struct TextBuffer {
    /// The name of the version that the text was made from.
    pub origin: String,
    /// Whether the text is a draft that was saved before.
    pub is_restored: bool,
    path: String,
    original: String,
    format: TextFormat,
    area: TextArea<'static>,
    modified: bool,
    scroll: DocState,
    query: String,
    found: Vec<Match>,
    capped: bool,
    colors: KnownColors,
    drawn: Cell<Rect>,
}

/// The colors of some lines, as last computed.
#[derive(Default)]
struct KnownColors {
    first: usize,
    lines: Vec<Spans>,
    /// The key of the text that they were computed from.
    key: String,
    /// The number of lines of that text.
    len: usize,
}

/// A computation of the colors of the lines around the viewport.
struct HighlightViewport {
    key: String,
    path: String,
    first_line: String,
    lines: Vec<String>,
}

impl Derive for HighlightViewport {
    type Output = Vec<Spans>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Vec<Spans> {
        match Language::detect(&self.path, &self.first_line) {
            Some(language) => {
                let budget = code::Budget::new(canceled);
                code::highlight_lines(language, self.lines.iter().map(String::as_str), &budget)
            }
            None => Vec::new(),
        }
    }
}

/// Returns the byte offset of the character `column` of a line, or the end of a line that is shorter.
fn byte(line: &str, column: usize) -> usize {
    line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
}

/// Returns a text area with these lines.
fn area_of(lines: Vec<String>) -> TextArea<'static> {
    let mut area = TextArea::new(lines);
    area.set_max_histories(MAX_UNDO);
    area.set_tab_length(text::TAB as u8);
    // Indent as the file does, with spaces or with tabs.
    area.set_hard_tab_indent(area.lines().iter().any(|line| line.starts_with('\t')));
    area
}

impl TextBuffer {
    pub fn new(path: &str, origin: String, original: String, typed: Option<String>) -> TextBuffer {
        let (format, lines) = TextFormat::of(typed.as_ref().unwrap_or(&original));
        let area = area_of(lines);
        TextBuffer {
            origin,
            is_restored: typed.is_some(),
            path: path.to_owned(),
            modified: typed.is_some_and(|typed| typed != original),
            original,
            format,
            area,
            scroll: DocState { in_columns: true, ..DocState::new() },
            query: String::new(),
            found: Vec::new(),
            capped: false,
            colors: KnownColors::default(),
            drawn: Cell::default(),
        }
    }

    /// Returns the whole text, as it is to be saved.
    pub fn text(&self) -> String {
        self.format.join(self.area.lines())
    }

    /// Returns whether the text differs from the original one.
    pub fn is_modified(&self) -> bool {
        self.modified
    }

    /// Returns the original text.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// Replaces the original version, by its name and text.
    pub fn rebase(&mut self, origin: String, original: String) {
        (self.origin, self.original) = (origin, original);
        self.modified = self.text() != self.original;
    }

    fn cursor(&self) -> (usize, usize) {
        let at = self.area.cursor();
        (at.0, at.1)
    }

    /// Returns the text of the line under the cursor.
    fn line(&self) -> &str {
        self.area.lines().get(self.cursor().0).map(String::as_str).unwrap_or_default()
    }

    /// Returns the position of the cursor, the number of lines, and the peculiarities of the text.
    pub fn facts(&self) -> String {
        let (row, column) = self.cursor();
        let lines = self.area.lines().len();
        let many = if lines == 1 { "" } else { "s" };
        let mut facts =
            vec![format!("{}:{}", row + 1, column + 1), format!("{} line{many}", text::count(lines as u64))];
        facts.extend(self.format.facts().into_iter().map(str::to_owned));
        if !self.query.is_empty() {
            let here = self.found.iter().position(|m| m.line == row && m.range.start == byte(self.line(), column));
            let more = if self.capped { "+" } else { "" };
            let words = match here {
                _ if self.found.is_empty() => "not found".to_owned(),
                Some(at) => format!("{} of {}{more}", at + 1, self.found.len()),
                None => format!("{}{more} found", self.found.len()),
            };
            facts.insert(0, words);
        }
        facts.join(glyph::separator())
    }

    /// Returns the selected text.
    pub fn selected(&self) -> Option<String> {
        selected_text(&self.area)
    }

    /// Ends the selection; returns `false` if there was none.
    pub fn end_selection(&mut self) -> bool {
        let was = self.area.is_selecting();
        self.area.cancel_selection();
        was
    }

    /// Handles a key that types, moves, or edits.
    pub fn key(&mut self, key: Key) {
        let page = self.scroll.height().saturating_sub(1).max(1);
        let (row, column) = self.cursor();
        match (key.code, key.ctrl) {
            (KeyCode::PageDown, _) => self.go_to(row + page, column),
            (KeyCode::PageUp, _) => self.go_to(row.saturating_sub(page), column),
            (KeyCode::Home, true) => self.go_to(0, 0),
            (KeyCode::End, true) => self.go_to(usize::MAX, usize::MAX),
            // Replacing the whole text takes two steps, removing and inserting: undo or redo both, so that the empty
            // text is never shown.
            (KeyCode::Char('z'), true) => _ = self.area.undo() && self.area.is_empty() && self.area.undo(),
            (KeyCode::Char('y'), true) => _ = self.area.redo() && self.area.is_empty() && self.area.redo(),
            (KeyCode::Char('v'), true) => _ = self.area.paste(),
            (KeyCode::Char('r'), true) => {}
            (KeyCode::Enter, _) | (KeyCode::Char('j'), true) => {
                // Indent the new line like this one, but not beyond the cursor.
                let indent =
                    self.line().chars().take(column).take_while(|c| matches!(c, ' ' | '\t')).collect::<String>();
                self.area.insert_newline();
                if !indent.is_empty() {
                    self.area.insert_str(indent);
                }
            }
            _ => {
                self.area.input(for_text_area(key));
            }
        }
        self.after(row);
    }

    /// Inserts pasted text at the cursor.
    pub fn insert(&mut self, words: &str) {
        let (row, _) = self.cursor();
        self.area.insert_str(words);
        self.after(row);
    }

    /// Attaches a file with a function that may change the text at the cursor.
    pub fn attach(&mut self, change: impl FnOnce(&mut TextArea) -> Handled) -> Handled {
        let (row, _) = self.cursor();
        let handled = change(&mut self.area);
        if handled != Handled::No {
            self.after(row);
        }
        handled
    }

    /// Replaces the whole text, in one step that can be undone.
    pub fn replace(&mut self, whole: &str) {
        let (row, column) = self.cursor();
        let (format, lines) = TextFormat::of(whole);
        self.format = format;
        // The text area drops one CR at the end of each inserted line.
        let doubled = |line: String| if line.ends_with('\r') { line + "\r" } else { line };
        let lines: Vec<String> = lines.into_iter().map(doubled).collect();
        self.area.select_all();
        self.area.insert_str(lines.join("\n"));
        self.area.cancel_selection();
        self.go_to(row, column);
        self.after(row);
    }

    /// Updates the state after a change or a move; `row` is the previous row of the cursor.
    fn after(&mut self, row: usize) {
        let text = self.text();
        self.modified = text != self.original;
        let lines = self.area.lines().len();
        self.colors.shift(row, lines);
        if !self.query.is_empty() {
            self.update_matches();
        }
        self.show_cursor();
    }

    fn show_cursor(&mut self) {
        let (row, column) = self.cursor();
        self.scroll.set_cursor(row);
        let line = self.line();
        let at = text::width(line.get(..byte(line, column)).unwrap_or_default());
        self.scroll.show_columns(at..at + 1);
    }

    /// Moves the cursor to a line and a character in it, from 0, clamped to the text.
    pub fn go_to(&mut self, row: usize, column: usize) {
        let row = row.min(self.area.lines().len().saturating_sub(1));
        let fits = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        self.area.move_cursor(CursorMove::Jump(fits(row), 0));
        // A jump goes no further than this; the rest is moved step by step.
        for _ in usize::from(u16::MAX)..row {
            self.area.move_cursor(CursorMove::Down);
        }
        self.area.move_cursor(CursorMove::Jump(fits(self.area.cursor().0), fits(column)));
        for _ in usize::from(u16::MAX)..column.min(self.line().chars().count()) {
            self.area.move_cursor(CursorMove::Forward);
        }
        self.scroll.goto(row, self.area.lines().len());
        self.show_cursor();
    }

    /// Returns the search text.
    pub fn search_text(&self) -> &str {
        &self.query
    }

    /// Searches for `query` and goes to the first match from the cursor on; an empty text ends the search.
    pub fn find(&mut self, query: &str) {
        self.query = query.to_owned();
        self.update_matches();
        let (row, column) = self.cursor();
        let at = byte(self.line(), column);
        let next = self.found.partition_point(|m| (m.line, m.range.start) < (row, at));
        self.go_to_match(next);
    }

    fn update_matches(&mut self) {
        let Some(pattern) = search::pattern(&self.query) else {
            return self.found.clear();
        };
        let found = search::lines(self.area.lines().iter().enumerate(), &pattern, &|| false);
        (self.found, self.capped) = (found.matches, found.capped);
    }

    fn go_to_match(&mut self, index: usize) {
        let Some(hit) = self.found.get(index).or(self.found.first()).cloned() else { return };
        let line = self.area.lines().get(hit.line).map(String::as_str).unwrap_or_default();
        let column = line.get(..hit.range.start).map_or(0, |before| before.chars().count());
        let columns = text::columns(line, hit.range.clone());
        self.go_to(hit.line, column);
        self.scroll.show_columns(columns);
    }

    /// Goes to the next or the previous match, wrapping around.
    pub fn next_match(&mut self, forward: bool) {
        let (row, column) = self.cursor();
        let here = (row, byte(self.line(), column));
        let place = |m: &Match| (m.line, m.range.start);
        let to = if forward {
            self.found.partition_point(|m| place(m) <= here)
        } else {
            let before = self.found.partition_point(|m| place(m) < here);
            before.checked_sub(1).unwrap_or(self.found.len().saturating_sub(1))
        };
        self.go_to_match(to);
    }

    pub fn pointer(&mut self, pointer: Pointer) {
        let (area, len) = (self.drawn.get(), self.area.lines().len());
        match pointer {
            Pointer::Wheel { rows, .. } => {
                let (_, column) = self.cursor();
                self.scroll.scroll_by(rows.into(), len);
                let row = self.scroll.at(len);
                self.go_to(row, column);
            }
            Pointer::Press { column, row, .. } if !area.contains((column, row).into()) => {}
            Pointer::Press { column, row, .. } | Pointer::Drag { column, row } => {
                let Some(line) = self.scroll.line_at(pointer::row_in(area, row), len) else { return };
                let text = self.area.lines().get(line).map(String::as_str).unwrap_or_default();
                let x = usize::from(column.saturating_sub(area.x)) + self.scroll.left;
                let at =
                    text::cells(text).find(|piece| piece.column + piece.width > x).map_or(text.len(), |p| p.at.start);
                let column = text.get(..at).map_or(0, |before| before.chars().count());
                let here = self.cursor();
                select_to(&mut self.area, pointer, here);
                self.go_to(line, column);
            }
            Pointer::Release => {}
        }
    }

    /// Returns the lines whose colors are needed: the viewport, and some lines above and below it.
    fn around(&self, view: &View) -> Range<usize> {
        let height = self.scroll.height().max(usize::from(view.size.1));
        let row = self.cursor().0;
        row.saturating_sub(height + LINES_ABOVE)..(row + height).min(self.area.lines().len())
    }

    fn colors_key(&self, view: &View) -> (String, Range<usize>) {
        let around = self.around(view);
        let mut hasher = DefaultHasher::new();
        self.area.lines().get(around.clone()).unwrap_or_default().hash(&mut hasher);
        (format!("typed {} {:x} {}", around.start, hasher.finish(), self.path), around)
    }

    pub fn wants(&self, view: &View) -> Vec<Want> {
        let (key, around) = self.colors_key(view);
        if self.colors.key == key || !view.store.is_result_missing(&key) {
            return Vec::new();
        }
        let lines = self.area.lines().get(around).unwrap_or_default().to_vec();
        let first_line = self.area.lines().first().cloned().unwrap_or_default();
        vec![Work::new(HighlightViewport { key, path: self.path.clone(), first_line, lines }).into()]
    }

    /// Applies colors that have been computed.
    pub fn changed(&mut self, view: &View) {
        let (key, around) = self.colors_key(view);
        if self.colors.key != key
            && let Some(lines) = view.store.result::<Vec<Spans>>(&key)
        {
            self.colors = KnownColors { first: around.start, lines: lines.clone(), key, len: self.area.lines().len() };
        }
    }

    /// Returns the selected range of a line, in bytes.
    fn selection_on(&self, row: usize, line: &str) -> Option<Range<usize>> {
        let ((from, left), (to, right)) = self.area.selection_range()?;
        if !(from..=to).contains(&row) {
            return None;
        }
        let start = if row == from { byte(line, left) } else { 0 };
        let end = if row == to { byte(line, right) } else { line.len() };
        Some(start..end)
    }

    pub fn draw(&self, view: &View, area: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let lines = self.area.lines();
        let digits = lines.len().max(100).ilog10() as usize + 1;
        let gutter = digits as u16 + 2;
        doc::draw(buf, area, theme, true, &self.scroll, lines.len(), gutter, &|row| {
            let text = lines.get(row).map(String::as_str).unwrap_or_default();
            let looks = self.colors.on(row).map(|spans| code::layer(spans, theme)).unwrap_or_default();
            let found = self.found.partition_point(|m| m.line < row);
            let here = self.found.iter().skip(found).take_while(|m| m.line == row);
            let mut marks: Vec<_> = here.map(|m| (m.range.clone(), theme.style(Role::Match))).collect();
            marks.extend(self.selection_on(row, text).map(|range| (range, theme.style(Role::Marked))));
            DocLine {
                gutter: Line::new(format!("{:>digits$}  ", row + 1), Role::LineNumber),
                text: blend(text, theme.style(Role::Text), &[&looks]),
                marks,
                ..DocLine::default()
            }
        });
        let inside = Rect { x: area.x + 1 + gutter, width: area.width.saturating_sub(2 + gutter), ..area };
        self.drawn.set(inside);
        let (row, column) = self.cursor();
        let line = self.line();
        let x = text::width(line.get(..byte(line, column)).unwrap_or_default()).checked_sub(self.scroll.left)?;
        let y = row.checked_sub(self.scroll.top())?;
        let at = (inside.x.checked_add(u16::try_from(x).ok()?)?, inside.y.checked_add(u16::try_from(y).ok()?)?);
        // After the last character of a full line, the cursor is in the column of the scrollbar thumb.
        let reach = Rect { width: inside.width + 1, ..inside };
        reach.contains(at.into()).then_some(at)
    }
}

impl KnownColors {
    /// Moves the colors after lines were inserted or removed below `row`: other lines keep their colors until new ones
    /// are known.
    fn shift(&mut self, row: usize, len: usize) {
        let at = (row + 1).saturating_sub(self.first).min(self.lines.len());
        if len > self.len {
            self.lines.splice(at..at, std::iter::repeat_n(Spans::new(), len - self.len));
        } else if len < self.len {
            let end = (at + self.len - len).min(self.lines.len());
            self.lines.drain(at..end);
        }
        self.len = len;
    }

    fn on(&self, row: usize) -> Option<&Spans> {
        self.lines.get(row.checked_sub(self.first)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_text_can_be_restored_whatever_its_line_endings() {
        for whole in ["c\nd\n", "c\r\nd\ne\n", "c\r\r\nd\n", "c\nd\r"] {
            let mut buffer = TextBuffer::new("a.txt", String::new(), "a\nb\n".into(), None);
            buffer.replace(whole);
            assert_eq!(buffer.text(), whole);
            buffer.key(Key::parse("C-z").expect("a key"));
            assert_eq!(buffer.area.lines(), ["a", "b"], "{whole:?}");
        }
    }
}
