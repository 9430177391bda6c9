//! Markdown tables, with aligned columns that are cut if they do not fit.

use super::flow::{Piece, Word, lines};
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, text};
use pulldown_cmark::Alignment;
use ratatui::style::{Modifier, Style};

/// The number of columns between two cells.
const GAP: usize = 3;
/// Minimum width of a cell, if there is room.
const MIN_CELL_WIDTH: usize = 3;

/// Maximum number of cells kept of a row, more than any screen shows.
const MAX_CELLS: usize = 256;

/// A table during parsing.
pub struct Table {
    alignments: Vec<Alignment>,
    /// The cells of each row, as lines of words. The first row is the heading.
    rows: Vec<Vec<Vec<Word>>>,
}

impl Table {
    pub fn new(alignments: Vec<Alignment>) -> Table {
        Table { alignments, rows: Vec::new() }
    }

    /// Starts a row.
    pub fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Adds a cell to the current row.
    pub fn cell(&mut self, pieces: Vec<Piece>) {
        // A break in a cell becomes a space, since a row is one line.
        let blank = |piece: Piece| match piece {
            Piece::Break => Piece::Text { text: " ".into(), style: Style::new(), link: None },
            text => text,
        };
        let pieces: Vec<Piece> = pieces.into_iter().map(blank).collect();
        if let Some(row) = self.rows.last_mut().filter(|row| row.len() < MAX_CELLS) {
            row.push(lines(&pieces, usize::MAX).into_iter().next().unwrap_or_default());
        }
    }

    /// Formats the table lazily as lines of at most `width` columns.
    pub fn lines(self, width: usize, theme: &Theme) -> impl Iterator<Item = Vec<Word>> {
        let rule = theme.style(Role::Faint);
        let plain = |text: String, style: Style| Word { text, style, link: None };
        let count = self.alignments.len().min((width + GAP) / (MIN_CELL_WIDTH + GAP)).max(1);
        let widths = widths(&self.rows, count, width.saturating_sub(GAP * (count - 1)));
        let alignments = self.alignments;
        self.rows.into_iter().enumerate().flat_map(move |(number, row)| {
            let mut line = Vec::new();
            let mut cells = row.into_iter();
            for (column, columns) in widths.iter().enumerate() {
                if column > 0 {
                    line.push(plain(format!(" {} ", glyph::or_word(glyph::divider(), "|")), rule));
                }
                let (mut words, used) = cut(cells.next().unwrap_or_default(), *columns);
                if number == 0 {
                    words.iter_mut().for_each(|word| word.style = word.style.add_modifier(Modifier::BOLD));
                }
                let blank = columns.saturating_sub(used);
                let before = match alignments.get(column) {
                    Some(Alignment::Right) => blank,
                    Some(Alignment::Center) => blank / 2,
                    _ => 0,
                };
                line.push(plain(" ".repeat(before), Style::new()));
                line.extend(words);
                if column + 1 < widths.len() {
                    line.push(plain(" ".repeat(blank - before), Style::new()));
                }
            }
            let parts = || widths.iter().map(|columns| glyph::rule().repeat(*columns)).collect::<Vec<_>>();
            let cross = if glyph::is_ascii() { "-+-" } else { "─┼─" };
            let below = (number == 0 && !glyph::is_accessible()).then(|| vec![plain(parts().join(cross), rule)]);
            std::iter::once(line).chain(below)
        })
    }
}

/// Returns the widths of the columns: what their cells need, with a common upper limit if that is too much.
fn widths(rows: &[Vec<Vec<Word>>], count: usize, room: usize) -> Vec<usize> {
    let mut needed = vec![1; count];
    for row in rows {
        for (cell, widest) in row.iter().zip(needed.iter_mut()) {
            let width: usize = cell.iter().map(|word| text::width_up_to(&word.text, room + 1)).sum();
            *widest = (*widest).max(width.min(room.max(1)));
        }
    }
    let total = |limit: usize| needed.iter().map(|width| (*width).min(limit)).sum::<usize>();
    let (mut low, mut high) = (1, room.max(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if total(middle) <= room { low = middle } else { high = middle - 1 }
    }
    needed.iter().map(|width| (*width).min(low)).collect()
}

/// Cuts words to a width, and returns them with the width that they take.
fn cut(words: Vec<Word>, width: usize) -> (Vec<Word>, usize) {
    let full: usize = words.iter().map(|word| text::width_up_to(&word.text, width + 1)).sum();
    if full <= width {
        return (words, full);
    }
    let mut out: Vec<Word> = Vec::new();
    let mut left = width.saturating_sub(1);
    let mut used = 0;
    for word in words {
        let kept = text::head(&word.text, left);
        let columns = text::width(&kept);
        let whole = kept.len() == word.text.len();
        (left, used) = (left - columns.min(left), used + columns);
        out.push(Word { text: kept, ..word });
        if !whole {
            break;
        }
    }
    if let Some(last) = out.last_mut() {
        last.text.push_str(glyph::cut());
    }
    (out, used + 1)
}
