//! Selections in a file: marked lines, the word to search for, and the line fragment of a link.

use super::{Blame, BlameStep, BlobView, Mode, TreeSource};
use crate::app::view::View;
use crate::ui::code::{Content, Text};
use crate::ui::{text, words};
use std::ops::Range;

/// The maximum size of the marked lines that are copied, in bytes.
const MAX_COPIED_BYTES: usize = 4 * 1024 * 1024;

impl BlobView {
    /// Toggles line wrap; returns whether long lines are now wrapped.
    pub fn toggle_wrap(&mut self) -> bool {
        self.wrap = !self.wrap;
        self.doc.wrap = self.wrap;
        self.doc.left = 0;
        self.wrap
    }

    /// Toggles blame.
    pub fn toggle_blame(&mut self, source: &TreeSource, view: &View) {
        let (Some(Content::Text(text)), Some(file)) = (self.content(view), &self.file) else { return };
        self.blame = match self.blame {
            Some(_) => None,
            None => Some(Blame::new(source, &file.path, &file.sha, text.clone())),
        };
    }

    /// Turns blame off; returns whether it was on.
    pub fn hide_blame(&mut self) -> bool {
        self.blame.take().is_some()
    }

    /// Returns whether blame is on.
    pub fn is_blamed(&self) -> bool {
        self.blame.is_some()
    }

    /// Returns the blame of the line under the cursor, if it is shown and known.
    pub fn author(&self, view: &View) -> Option<&BlameStep> {
        let blame = self.blame.as_ref().filter(|_| self.mode(view) == Some(Mode::Source))?;
        blame.owner(self.doc.at(self.len(view)))
    }

    /// Starts a marked range at the cursor, or clears the current one.
    pub fn toggle_mark(&mut self, view: &View) {
        let here = self.doc.at(self.len(view));
        self.mark = if self.mark.is_some() { None } else { Some(here) };
    }

    /// Clears the marked range; returns whether there was one.
    pub fn clear_mark(&mut self) -> bool {
        self.mark.take().is_some()
    }

    /// Returns the marked lines, from 0.
    pub fn marked(&self, view: &View) -> Option<Range<usize>> {
        let mark = self.mark.filter(|_| self.mode(view) == Some(Mode::Source))?;
        let cursor = self.doc.at(self.len(view));
        Some(mark.min(cursor)..mark.max(cursor) + 1)
    }

    /// Returns the marked lines, or the line under the cursor, from 0.
    pub fn lines_here(&self, view: &View) -> Range<usize> {
        let here = self.doc.at(self.len(view));
        self.marked(view).unwrap_or(here..here + 1)
    }

    /// Returns the text of the marked lines, or of the line under the cursor.
    pub fn text_here(&self, view: &View) -> Option<String> {
        let Some(Content::Text(lines)) = self.content(view).filter(|_| self.mode(view) == Some(Mode::Source)) else {
            return None;
        };
        let mut copied = String::new();
        for line in self.lines_here(view) {
            if !copied.is_empty() {
                copied.push('\n');
            }
            let line = lines.line(line);
            if copied.len() + line.len() > MAX_COPIED_BYTES {
                break;
            }
            copied.push_str(line);
        }
        Some(copied)
    }

    /// Returns the URL fragment of the marked lines or of the line under the cursor: `#L10`, `#L10-12`.
    pub fn fragment(&self, view: &View) -> Option<String> {
        match self.marked(view) {
            Some(lines) if lines.len() > 1 => Some(format!("#L{}-{}", lines.start + 1, lines.end)),
            Some(lines) => Some(format!("#L{}", lines.start + 1)),
            None => self.line(view).map(|line| format!("#L{line}")),
        }
    }

    /// Searches for the next or the previous word of the line under the cursor, as a whole word; returns the word.
    pub fn search_word(&mut self, forward: bool, view: &View) -> Option<String> {
        let lines = self.source_lines(view)?;
        let line = self.doc.at(lines.len());
        let words = words::ranges(lines.line(line));
        let count = words.len();
        let index = match (self.word_index(line, &words, view), forward) {
            (None, _) => 0,
            (Some(at), true) => (at + 1) % count.max(1),
            (Some(at), false) => (at + count.max(1) - 1) % count.max(1),
        };
        let word = lines.line(line).get(words.get(index)?.clone())?.to_owned();
        self.set_word(line, index, &word, view);
        Some(word)
    }

    /// Returns the words of the marked lines; without any, the word of the line under the cursor that was searched for
    /// last, or else all its words.
    pub fn words(&self, view: &View) -> Vec<String> {
        let Some(lines) = self.source_lines(view) else { return Vec::new() };
        if let Some(marked) = self.marked(view) {
            return words::searchable(marked.map(|line| lines.line(line).into()), "");
        }
        let line = self.doc.at(lines.len());
        let ranges = words::ranges(lines.line(line));
        let range = self.word_index(line, &ranges, view).and_then(|at| ranges.get(at).cloned());
        match range.and_then(|range| lines.line(line).get(range)) {
            Some(word) => vec![word.to_owned()],
            None => words::searchable([lines.line(line).into()], ""),
        }
    }

    /// Returns the index of the word that was searched for last among the words of a line.
    fn word_index(&self, line: usize, words: &[Range<usize>], view: &View) -> Option<usize> {
        let last = self.word.filter(|(at, _)| *at == line).map(|(_, word)| word);
        // After a jump, the word that was found is the one under the cursor.
        let found = self.current.and_then(|current| self.found(view)?.matches.get(current)).filter(|m| m.line == line);
        last.or_else(|| found.and_then(|hit| words.iter().position(|word| word.contains(&hit.range.start))))
    }

    /// Returns the lines of the source, if that is shown.
    pub(super) fn source_lines<'a>(&self, view: &View<'a>) -> Option<&'a Text> {
        match self.content(view).filter(|_| self.mode(view) == Some(Mode::Source)) {
            Some(Content::Text(lines)) => Some(lines),
            _ => None,
        }
    }

    /// Searches for the word at a column of the screen.
    pub(super) fn search_word_at(&mut self, line: usize, column: u16, view: &View) {
        let Some(Content::Text(lines)) = self.content(view).filter(|_| self.mode(view) == Some(Mode::Source)) else {
            return;
        };
        if self.doc.wraps() {
            return;
        }
        let gutter = 1 + crate::ui::code::gutter(lines);
        let Some(column) = usize::from(column).checked_sub(usize::from(self.area.get().x) + gutter) else { return };
        let source = lines.line(line);
        let column = column + self.doc.left;
        let words = words::ranges(source);
        let at = words.iter().position(|word| text::columns(source, word.clone()).contains(&column));
        let word = at.and_then(|at| source.get(words.get(at)?.clone())).map(str::to_owned);
        if let (Some(at), Some(word)) = (at, word) {
            self.set_word(line, at, &word, view);
        }
    }

    fn set_word(&mut self, line: usize, index: usize, word: &str, view: &View) {
        self.set_query(&format!(r"\b(?-i:{})\b", regex::escape(word)), view);
        self.origin = line;
        self.word = Some((line, index));
    }
}
