//! A single-line text input for filters, prompts and the command line. It does not handle keys; callers invoke editing
//! operations.
//!
//! The text areas of the composer cannot replace it: they move and delete by `char` instead of grapheme, and their words
//! end at any punctuation, while `C-w` deletes parts of paths here.

use crate::line::Line;
use crate::theme::{Role, Theme};
use crate::{glyph, line, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use unicode_segmentation::UnicodeSegmentation;

/// The text and the cursor position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    text: String,
    /// In bytes, always on a grapheme boundary.
    cursor: usize,
    /// Whether the whole text is selected, so that what is typed replaces it.
    is_selected: bool,
}

impl Input {
    /// Creates an input containing `text`, with the cursor at its end.
    pub fn new(text: impl Into<String>) -> Input {
        let text = text.into();
        Input { cursor: text.len(), text, is_selected: false }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the cursor position in bytes.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Replaces the text and moves the cursor to its end.
    pub fn set(&mut self, text: impl Into<String>) {
        *self = Input::new(text);
    }

    /// Replaces the text and moves the cursor to byte `cursor`, or to the next grapheme boundary.
    pub fn set_at(&mut self, text: impl Into<String>, cursor: usize) {
        self.text = text.into();
        self.cursor = self.boundary_from(cursor.min(self.text.len()));
    }

    /// Clears the text.
    pub fn clear(&mut self) {
        self.set("");
    }

    /// Selects the whole text until the next key.
    pub fn select(&mut self) {
        self.is_selected = !self.text.is_empty();
    }

    /// Ends the selection, before the cursor is moved.
    fn deselect(&mut self) {
        self.is_selected = false;
    }

    /// Removes the text if it is selected; returns whether it was.
    fn remove_selected(&mut self) -> bool {
        let was = std::mem::take(&mut self.is_selected);
        if was {
            self.clear();
        }
        was
    }

    /// Inserts a character at the cursor. Control characters are ignored.
    pub fn insert(&mut self, c: char) {
        if !c.is_control() {
            self.remove_selected();
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
            // A combining mark joins the character before it.
            self.cursor = self.boundary_from(self.cursor);
        }
    }

    /// Inserts pasted text at the cursor. Line breaks and tabs become spaces.
    pub fn paste(&mut self, pasted: &str) {
        let one_line: String = pasted
            .trim_end_matches(['\r', '\n'])
            .replace("\r\n", " ")
            .chars()
            .map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c })
            .filter(|c| !c.is_control())
            .collect();
        self.remove_selected();
        self.text.insert_str(self.cursor, &one_line);
        self.cursor = self.boundary_from(self.cursor + one_line.len());
    }

    /// Deletes the character before the cursor.
    pub fn backspace(&mut self) {
        if !self.remove_selected() {
            self.remove_from(self.before());
        }
    }

    /// Deletes the character under the cursor.
    pub fn delete(&mut self) {
        if self.remove_selected() {
            return;
        }
        let end = self.after();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Deletes the word before the cursor (`C-w`).
    pub fn delete_word(&mut self) {
        self.deselect();
        self.remove_from(self.word_start());
    }

    /// Deletes the word after the cursor (`M-d`).
    pub fn delete_next_word(&mut self) {
        self.deselect();
        let start = self.cursor;
        self.word_right();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Deletes everything before the cursor (`C-u`).
    pub fn delete_to_start(&mut self) {
        self.deselect();
        self.remove_from(0);
    }

    /// Deletes everything from the cursor to the end (`C-k`).
    pub fn delete_to_end(&mut self) {
        self.deselect();
        self.text.truncate(self.cursor);
    }

    /// Moves the cursor one character to the left.
    pub fn left(&mut self) {
        self.deselect();
        self.cursor = self.before();
    }

    /// Moves the cursor one character to the right.
    pub fn right(&mut self) {
        self.deselect();
        self.cursor = self.after();
    }

    /// Moves the cursor to the start of the word.
    pub fn word_left(&mut self) {
        self.deselect();
        self.cursor = self.word_start();
    }

    /// Moves the cursor past the end of the word.
    pub fn word_right(&mut self) {
        self.deselect();
        let rest = self.text.get(self.cursor..).unwrap_or_default();
        let gap = rest.len() - rest.trim_start().len();
        let word = rest.trim_start().find(char::is_whitespace).unwrap_or(rest.len() - gap);
        self.cursor = (self.cursor + gap + word).min(self.text.len());
    }

    /// Moves the cursor to the start.
    pub fn home(&mut self) {
        self.deselect();
        self.cursor = 0;
    }

    /// Moves the cursor to the end.
    pub fn end(&mut self) {
        self.deselect();
        self.cursor = self.text.len();
    }

    /// Draws the text on the first line of `area` with the background of an input field: if `focused`, with the cursor as a
    /// reversed cell, scrolled so that it is visible. Draws `placeholder` if the text is empty. Returns the cell of the
    /// cursor.
    pub fn draw(
        &self,
        buf: &mut Buffer,
        area: Rect,
        theme: &Theme,
        focused: bool,
        placeholder: &str,
    ) -> Option<(u16, u16)> {
        let area = Rect { height: area.height.min(1), ..area }.intersection(buf.area);
        if area.is_empty() {
            return None;
        }
        buf.set_style(area, theme.style(Role::Input));
        let room = usize::from(area.width);
        let at = text::width(self.text.get(..self.cursor).unwrap_or_default());
        // The cursor may be on a wide character or after the last one.
        let under = text::cells(self.text.get(self.cursor..).unwrap_or_default()).next().map_or(1, |p| p.width);
        let left = (at + under).saturating_sub(room);
        let style = theme.style(if self.is_selected { Role::Marked } else { Role::Input });
        if self.text.is_empty() || !focused {
            let words = if self.text.is_empty() { (placeholder, theme.style(Role::Dim)) } else { (&*self.text, style) };
            Line::from([words]).draw(buf, area, theme);
        } else {
            let mut walk = text::cells(&self.text);
            walk.skip_to(left);
            for piece in walk {
                let Some(column) = piece.column.checked_sub(left) else { continue };
                if column + piece.width > room {
                    break;
                }
                line::set(buf, area.x + column as u16, area.y, &piece.symbol, piece.width, style);
            }
        }
        if !focused {
            return None;
        }
        let x = area.x + at.saturating_sub(left).min(room - 1) as u16;
        if let Some(cell) = buf.cell_mut((x, area.y)).filter(|_| glyph::has_bar()) {
            cell.set_style(style.add_modifier(Modifier::REVERSED));
        }
        Some((x, area.y))
    }

    fn remove_from(&mut self, start: usize) {
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    fn before(&self) -> usize {
        let head = self.text.get(..self.cursor).unwrap_or_default();
        head.grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        let tail = self.text.get(self.cursor..).unwrap_or_default();
        self.cursor + tail.graphemes(true).next().map_or(0, str::len)
    }

    fn word_start(&self) -> usize {
        let head = self.text.get(..self.cursor).unwrap_or_default().trim_end();
        head.char_indices().rev().find(|(_, c)| c.is_whitespace() || matches!(c, '/')).map_or(0, |(at, c)| {
            let start = at + c.len_utf8();
            // Directly after a slash, only the slash is deleted; the next deletion removes the word before it.
            if start == head.len() { at } else { start }
        })
    }

    /// Returns the first grapheme boundary at or after `at`.
    fn boundary_from(&self, at: usize) -> usize {
        let ends = self.text.grapheme_indices(true).map(|(start, grapheme)| start + grapheme.len());
        std::iter::once(0).chain(ends).find(|end| *end >= at).unwrap_or(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Input {
        let mut input = Input::default();
        text.chars().for_each(|c| input.insert(c));
        input
    }

    fn field(input: &Input, width: u16) -> (String, Option<(u16, u16)>) {
        let area = Rect::new(0, 0, width, 1);
        let mut buf = Buffer::empty(area);
        let cursor = input.draw(&mut buf, area, &Theme::plain(), true, "filter");
        (buf.content().iter().map(|c| c.symbol()).collect(), cursor)
    }

    #[test]
    fn editing_works_by_whole_characters() {
        let mut input = typed("aé世👩‍💻");
        input.backspace();
        assert_eq!(input.text(), "aé世");
        input.left();
        input.insert('x');
        assert_eq!(input.text(), "aéx世");
        input.home();
        input.delete();
        assert_eq!(input.text(), "éx世");
        input.end();
        input.right();
        input.delete();
        assert_eq!((input.text(), input.cursor()), ("éx世", input.text().len()));
        input.insert('\u{1b}');
        assert_eq!(input.text(), "éx世");
    }

    #[test]
    fn without_the_focus_the_beginning_is_shown() {
        let area = Rect::new(0, 0, 8, 1);
        let mut buf = Buffer::empty(area);
        Input::new("one two three").draw(&mut buf, area, &Theme::plain(), false, "");
        assert_eq!(buf.content().iter().map(|c| c.symbol()).collect::<String>(), "one two…");
    }

    #[test]
    fn a_combining_mark_joins_the_letter_before_it() {
        let mut input = typed("e\u{301}f");
        input.left();
        input.left();
        assert_eq!(input.cursor(), 0);
    }

    #[test]
    fn words_are_deleted_at_once() {
        let mut input = typed("group/project one two ");
        input.delete_word();
        assert_eq!(input.text(), "group/project one ");
        input.delete_word();
        input.delete_word();
        assert_eq!(input.text(), "group/");
        input.delete_word();
        assert_eq!(input.text(), "group");
        input.delete_word();
        assert_eq!(input.text(), "");
        input.delete_word();
        let mut input = typed("one two");
        input.word_left();
        input.delete_to_start();
        assert_eq!(input.text(), "two");
        input.word_right();
        assert_eq!(input.cursor(), 3);
        input.home();
        input.delete_to_end();
        assert!(input.is_empty());
    }

    #[test]
    fn pasted_lines_are_joined() {
        let mut input = typed("ab");
        input.left();
        input.paste("x\r\ny\tz\u{1b}[0m\n");
        assert_eq!((input.text(), input.cursor()), ("ax y z[0mb", 9));
    }

    #[test]
    fn the_cursor_is_always_visible() {
        assert_eq!(field(&typed("abc"), 6), ("abc   ".into(), Some((3, 0))));
        assert_eq!(field(&typed("abcdefgh"), 4), ("fgh ".into(), Some((3, 0))));
        assert_eq!(field(&typed("世界世界"), 4).1, Some((3, 0)));
        assert_eq!(field(&Input::default(), 8), ("filter  ".into(), Some((0, 0))));
        for width in 0..6 {
            let mut input = typed("a世b👩‍💻\u{202e}c");
            for _ in 0..6 {
                let (_, cursor) = field(&input, width);
                assert!(cursor.is_none_or(|(x, _)| x < width));
                input.left();
            }
        }
    }
}
