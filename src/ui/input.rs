//! One line of text that is being typed: filters, prompts, the command line. It knows no keys; callers name what to do.

use crate::ui::theme::{Role, Theme};
use crate::ui::{line, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use unicode_segmentation::UnicodeSegmentation;

/// The text and the place of the cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    text: String,
    /// In bytes, always between two graphemes.
    cursor: usize,
}

impl Input {
    /// With `text` in it, the cursor at its end.
    pub fn new(text: impl Into<String>) -> Input {
        let text = text.into();
        Input { cursor: text.len(), text }
    }

    /// Returns what was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether nothing was typed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The cursor, in bytes from the start.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Puts other text in, the cursor at its end.
    pub fn set(&mut self, text: impl Into<String>) {
        *self = Input::new(text);
    }

    /// Puts other text in, the cursor at `cursor` bytes from the start, or at the nearest place that it can have.
    pub fn set_at(&mut self, text: impl Into<String>, cursor: usize) {
        self.text = text.into();
        self.cursor = self.boundary_from(cursor.min(self.text.len()));
    }

    /// Takes all text away.
    pub fn clear(&mut self) {
        self.set("");
    }

    /// Types one character; control characters are nothing to type.
    pub fn insert(&mut self, c: char) {
        if !c.is_control() {
            self.text.insert(self.cursor, c);
            self.cursor += c.len_utf8();
            // A combining mark joins what stands before it.
            self.cursor = self.boundary_from(self.cursor);
        }
    }

    /// Puts pasted text in; line ends and tabs become spaces.
    pub fn paste(&mut self, pasted: &str) {
        let one_line: String = pasted
            .trim_end_matches(['\r', '\n'])
            .replace("\r\n", " ")
            .chars()
            .map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c })
            .filter(|c| !c.is_control())
            .collect();
        self.text.insert_str(self.cursor, &one_line);
        self.cursor = self.boundary_from(self.cursor + one_line.len());
    }

    /// Removes the character before the cursor.
    pub fn backspace(&mut self) {
        self.remove_from(self.before());
    }

    /// Removes the character under the cursor.
    pub fn delete(&mut self) {
        let end = self.after();
        self.text.replace_range(self.cursor..end, "");
    }

    /// Removes the word before the cursor (`C-w`).
    pub fn delete_word(&mut self) {
        self.remove_from(self.word_start());
    }

    /// Removes all before the cursor (`C-u`).
    pub fn delete_to_start(&mut self) {
        self.remove_from(0);
    }

    /// Removes all from the cursor on (`C-k`).
    pub fn delete_to_end(&mut self) {
        self.text.truncate(self.cursor);
    }

    /// One character to the left.
    pub fn left(&mut self) {
        self.cursor = self.before();
    }

    /// One character to the right.
    pub fn right(&mut self) {
        self.cursor = self.after();
    }

    /// To the start of the word.
    pub fn word_left(&mut self) {
        self.cursor = self.word_start();
    }

    /// Past the end of the word.
    pub fn word_right(&mut self) {
        let rest = self.text.get(self.cursor..).unwrap_or_default();
        let gap = rest.len() - rest.trim_start().len();
        let word = rest.trim_start().find(char::is_whitespace).unwrap_or(rest.len() - gap);
        self.cursor = (self.cursor + gap + word).min(self.text.len());
    }

    /// To the start.
    pub fn home(&mut self) {
        self.cursor = 0;
    }

    /// To the end.
    pub fn end(&mut self) {
        self.cursor = self.text.len();
    }

    /// Draws the text on the first line of `area`, over a field's background, scrolled so that the cursor is seen; the
    /// cursor as a reversed cell, where `focused`; `placeholder` where nothing was typed. Gives the cell of the cursor.
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
        // The cursor may be a wide character, or stand after the last one.
        let under = text::cells(self.text.get(self.cursor..).unwrap_or_default()).next().map_or(1, |p| p.width);
        let left = (at + under).saturating_sub(room);
        let style = theme.style(Role::Input);
        if self.text.is_empty() {
            line::draw(buf, area, &[(placeholder, theme.style(Role::Dim))]);
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
        if let Some(cell) = buf.cell_mut((x, area.y)) {
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
            // Right after a slash the slash goes too, with the word before it at the next stroke.
            if start == head.len() { at } else { start }
        })
    }

    /// The first boundary between graphemes at or after `at`.
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
    fn typing_moving_and_removing_go_by_whole_characters() {
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
    fn a_mark_joins_the_letter_before_the_cursor() {
        let mut input = typed("e\u{301}f");
        input.left();
        input.left();
        assert_eq!(input.cursor(), 0);
    }

    #[test]
    fn words_go_at_once() {
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
    fn pasted_lines_become_one() {
        let mut input = typed("ab");
        input.left();
        input.paste("x\r\ny\tz\u{1b}[0m\n");
        assert_eq!((input.text(), input.cursor()), ("ax y z[0mb", 9));
    }

    #[test]
    fn the_cursor_is_always_seen() {
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
