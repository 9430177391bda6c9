//! Wrapping of styled text into lines.

use crate::text;
use ratatui::style::Style;

/// Sanitized text of one style, or a line break.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text { text: String, style: Style, link: Option<usize> },
    Break,
}

impl Piece {
    /// Returns whether nothing of it can be seen.
    pub fn is_blank(&self) -> bool {
        match self {
            Piece::Break => true,
            Piece::Text { text, .. } => text.trim().is_empty(),
        }
    }
}

/// A part of a line in one style.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    pub text: String,
    pub style: Style,
    pub link: Option<usize>,
}

/// The state of wrapping: finished lines, the current line, and the word at its end, which may consist of several
/// parts.
struct Flow {
    width: usize,
    lines: Vec<Vec<Word>>,
    line: Vec<Word>,
    used: usize,
    /// The space before the word.
    blank: Option<Word>,
    word: Vec<Word>,
    word_width: usize,
}

/// Removes the spaces at the start and the end of each line.
pub fn trim_lines(pieces: &mut [Piece]) {
    let mut is_start = true;
    for piece in &mut *pieces {
        match piece {
            Piece::Break => is_start = true,
            Piece::Text { text, .. } if is_start => {
                text.drain(..text.len() - text.trim_start_matches(' ').len());
                is_start = text.is_empty();
            }
            Piece::Text { .. } => {}
        }
    }
    let mut is_end = true;
    for piece in pieces.iter_mut().rev() {
        match piece {
            Piece::Break => is_end = true,
            Piece::Text { text, .. } if is_end => {
                text.truncate(text.trim_end_matches(' ').len());
                is_end = text.is_empty();
            }
            Piece::Text { .. } => {}
        }
    }
}

/// Wraps pieces into lines of at most `width` columns, at spaces if possible.
pub fn lines(pieces: &[Piece], width: usize) -> Vec<Vec<Word>> {
    let mut flow =
        Flow { width, lines: Vec::new(), line: Vec::new(), used: 0, blank: None, word: Vec::new(), word_width: 0 };
    for piece in pieces {
        match piece {
            Piece::Break => {
                flow.end_word();
                flow.end_line();
            }
            Piece::Text { text, style, link } => {
                for part in text.split_inclusive([' ', '\n']) {
                    let word = part.trim_end_matches([' ', '\n']);
                    if !word.is_empty() {
                        flow.word_width += text::width(word);
                        join(&mut flow.word, Word { text: word.to_owned(), style: *style, link: *link });
                    }
                    if word.len() < part.len() {
                        flow.end_word();
                        flow.blank = Some(Word { text: " ".into(), style: *style, link: *link });
                    }
                }
            }
        }
    }
    flow.end_word();
    if !flow.line.is_empty() {
        flow.end_line();
    }
    flow.lines
}

/// Appends a part, merging it with the last one if style and link are the same.
fn join(parts: &mut Vec<Word>, part: Word) {
    match parts.last_mut() {
        Some(last) if (last.style, last.link) == (part.style, part.link) => last.text.push_str(&part.text),
        _ => parts.push(part),
    }
}

impl Flow {
    fn end_line(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
        self.used = 0;
        self.blank = None;
    }

    /// Adds the word to the end of the line, or to the start of the next one.
    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let blank = self.blank.take().filter(|_| self.used > 0);
        let gap = usize::from(blank.is_some());
        if self.used > 0 && self.used + gap + self.word_width > self.width {
            self.end_line();
        } else {
            blank.into_iter().for_each(|blank| join(&mut self.line, blank));
            self.used += gap;
        }
        let word = std::mem::take(&mut self.word);
        if self.used + self.word_width <= self.width {
            self.used += self.word_width;
            word.into_iter().for_each(|part| join(&mut self.line, part));
        } else {
            word.into_iter().for_each(|part| self.cut(&part));
        }
        self.word_width = 0;
    }

    /// Adds a part of a word that is longer than a line, broken anywhere.
    fn cut(&mut self, part: &Word) {
        let mut text = String::new();
        let of = |text: String| Word { text, style: part.style, link: part.link };
        for piece in text::cells(&part.text) {
            if self.used > 0 && self.used + piece.width > self.width {
                join(&mut self.line, of(std::mem::take(&mut text)));
                self.end_line();
            }
            text.push_str(&piece.symbol);
            self.used += piece.width;
        }
        join(&mut self.line, of(text));
    }
}
