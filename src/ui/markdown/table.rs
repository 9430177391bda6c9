//! Markdown tables, with aligned columns that are cut if they do not fit.

use super::flow::{Piece, Word, lines};
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, text};
use pulldown_cmark::Alignment;
use ratatui::style::{Modifier, Style};

/// The width of the gap between two cells, in terminal columns.
const GAP: usize = 3;
/// Minimum width of a cell in terminal columns, if there is room.
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
    pub fn start_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Adds a cell to the current row.
    pub fn push_cell(&mut self, pieces: Vec<Piece>) {
        // A break in a cell becomes a space, since a row is one line.
        let break_to_space = |piece: Piece| match piece {
            Piece::Break => Piece::Text { text: " ".into(), style: Style::new(), link: None },
            text => text,
        };
        let pieces: Vec<Piece> = pieces.into_iter().map(break_to_space).collect();
        if let Some(row) = self.rows.last_mut().filter(|row| row.len() < MAX_CELLS) {
            row.push(lines(&pieces, usize::MAX).into_iter().next().unwrap_or_default());
        }
    }

    /// Formats the table lazily as lines of at most `width` terminal columns.
    pub fn lines(self, width: usize, theme: &Theme) -> impl Iterator<Item = Vec<Word>> {
        let rule_style = theme.style(Role::Faint);
        let span = |text: String, style: Style| Word { text, style, link: None };
        let count = self.alignments.len().min((width + GAP) / (MIN_CELL_WIDTH + GAP)).max(1);
        let widths = widths(&self.rows, count, width.saturating_sub(GAP * (count - 1)));
        let alignments = self.alignments;
        self.rows.into_iter().enumerate().flat_map(move |(row_index, row)| {
            let mut line = Vec::new();
            let mut cells = row.into_iter();
            for (index, width) in widths.iter().enumerate() {
                if index > 0 {
                    line.push(span(format!(" {} ", glyph::or_word(glyph::divider(), "|")), rule_style));
                }
                let (mut words, used) = truncate(cells.next().unwrap_or_default(), *width);
                if row_index == 0 {
                    words.iter_mut().for_each(|word| word.style = word.style.add_modifier(Modifier::BOLD));
                }
                let padding = width.saturating_sub(used);
                let before = match alignments.get(index) {
                    Some(Alignment::Right) => padding,
                    Some(Alignment::Center) => padding / 2,
                    _ => 0,
                };
                line.push(span(" ".repeat(before), Style::new()));
                line.extend(words);
                if index + 1 < widths.len() {
                    line.push(span(" ".repeat(padding - before), Style::new()));
                }
            }
            let rule_segments = || widths.iter().map(|width| glyph::rule().repeat(*width)).collect::<Vec<_>>();
            let cross = if glyph::is_ascii() { "-+-" } else { "─┼─" };
            let heading_rule = (row_index == 0 && !glyph::is_accessible())
                .then(|| vec![span(rule_segments().join(cross), rule_style)]);
            std::iter::once(line).chain(heading_rule)
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

/// Truncates words to a width, and returns them with the width that they take.
fn truncate(words: Vec<Word>, width: usize) -> (Vec<Word>, usize) {
    let full: usize = words.iter().map(|word| text::width_up_to(&word.text, width + 1)).sum();
    if full <= width {
        return (words, full);
    }
    let mut out: Vec<Word> = Vec::new();
    let mut remaining = width.saturating_sub(1);
    let mut used = 0;
    for word in words {
        let kept = text::head(&word.text, remaining);
        let kept_width = text::width(&kept);
        let fits = kept.len() == word.text.len();
        (remaining, used) = (remaining - kept_width.min(remaining), used + kept_width);
        out.push(Word { text: kept, ..word });
        if !fits {
            break;
        }
    }
    if let Some(last) = out.last_mut() {
        last.text.push_str(glyph::ellipsis());
    }
    (out, used + 1)
}
