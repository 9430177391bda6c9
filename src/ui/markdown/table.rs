//! Markdown tables, with aligned columns. Cells are wrapped, and columns that do not fit beside each other follow below.

use super::flow::{Piece, Word, lines};
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, text};
use pulldown_cmark::Alignment;
use ratatui::style::{Modifier, Style};
use std::ops::Range;

/// The width of the gap between two cells, in terminal columns.
const GAP: usize = 3;
/// Minimum width of a wrapped cell in terminal columns, if there is room.
const MIN_CELL_WIDTH: usize = 8;

/// Maximum number of cells kept of a row.
const MAX_CELLS: usize = 256;

/// A table during parsing.
pub struct Table {
    alignments: Vec<Alignment>,
    /// The cells of each row. The first row is the heading.
    rows: Vec<Vec<Vec<Piece>>>,
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
        if let Some(row) = self.rows.last_mut().filter(|row| row.len() < MAX_CELLS) {
            row.push(pieces);
        }
    }

    /// Formats the table lazily as lines of at most `width` terminal columns: as many columns as fit, then the next ones
    /// below, each part under a line that counts them.
    pub fn lines(&self, width: usize, theme: &Theme) -> impl Iterator<Item = Vec<Word>> {
        let kept = self.alignments.len().min(MAX_CELLS);
        let omitted = self.alignments.len() - kept;
        let note =
            move |note: String| lines(&[Piece::Text { text: note, style: theme.style(Role::Dim), link: None }], width);
        let end = (omitted > 0).then(|| note(format!("{} {omitted} more columns: {}", glyph::ellipsis(), super::REST)));
        let parts = self.parts(kept, width);
        let several = parts.len() > 1;
        let parts = parts.into_iter().flat_map(move |columns| {
            let count = if columns.len() > 1 {
                format!("columns {} to {} of {kept}", columns.start + 1, columns.end)
            } else {
                format!("column {} of {kept}", columns.end)
            };
            let title = several.then(|| note(count)).into_iter().flatten();
            title.chain(self.part(columns, width, theme))
        });
        parts.chain(end.into_iter().flatten())
    }

    /// Splits the columns into parts that fit into `width`.
    fn parts(&self, count: usize, width: usize) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut used = 0;
        for (column, needed) in self.needed(0..count, MIN_CELL_WIDTH).into_iter().enumerate() {
            match parts.last_mut() {
                Some(part) if used + GAP + needed <= width => {
                    part.end = column + 1;
                    used += GAP + needed;
                }
                _ => {
                    parts.push(column..column + 1);
                    used = needed;
                }
            }
        }
        parts
    }

    /// Returns the widths that columns need on one line, up to `limit`.
    fn needed(&self, columns: Range<usize>, limit: usize) -> Vec<usize> {
        let mut needed = vec![1; columns.len()];
        for row in &self.rows {
            for (cell, widest) in row.iter().skip(columns.start).zip(needed.iter_mut()) {
                *widest = (*widest).max(cell_width(cell, limit));
            }
        }
        needed
    }

    /// Formats some columns as lines.
    fn part(&self, columns: Range<usize>, width: usize, theme: &Theme) -> impl Iterator<Item = Vec<Word>> {
        let rule_style = theme.style(Role::Faint);
        let span = |text: String, style: Style| Word { text, style, link: None };
        let room = width.saturating_sub(GAP * (columns.len().saturating_sub(1))).max(1);
        let needed = self.needed(columns.clone(), room + 1);
        let is_broken = |row: &Vec<Vec<Piece>>| {
            row.iter().skip(columns.start).take(columns.len()).any(|cell| cell.contains(&Piece::Break))
        };
        let widths = limited(needed.clone(), room);
        // Where rows take several lines, lines separate them.
        let is_tall =
            needed.iter().zip(&widths).any(|(needed, width)| needed > width) || self.rows.iter().any(is_broken);
        let cross = if glyph::is_ascii() { "-+-" } else { "─┼─" };
        let rules: Vec<String> = widths.iter().map(|width| glyph::rule().repeat(*width)).collect();
        let rule = move || match glyph::is_accessible() {
            true => Vec::new(),
            false => vec![span(rules.join(cross), rule_style)],
        };
        self.rows.iter().enumerate().flat_map(move |(row_index, row)| {
            let mut cells: Vec<_> = widths
                .iter()
                .enumerate()
                .map(|(at, width)| {
                    lines(row.get(columns.start + at).map(Vec::as_slice).unwrap_or_default(), *width).into_iter()
                })
                .collect();
            let height = cells.iter().map(ExactSizeIterator::len).max().unwrap_or(0).max(1);
            let mut out = Vec::with_capacity(height + 1);
            if row_index > 1 && is_tall {
                out.push(rule());
            }
            for _ in 0..height {
                let mut line = Vec::new();
                for (at, (cell, width)) in cells.iter_mut().zip(&widths).enumerate() {
                    if at > 0 {
                        line.push(span(format!(" {} ", glyph::or_word(glyph::divider(), "|")), rule_style));
                    }
                    let mut words = cell.next().unwrap_or_default();
                    if row_index == 0 {
                        words.iter_mut().for_each(|word| word.style = word.style.add_modifier(Modifier::BOLD));
                    }
                    let used: usize = words.iter().map(|word| text::width_up_to(&word.text, *width)).sum();
                    let padding = width.saturating_sub(used);
                    let before = match self.alignments.get(columns.start + at) {
                        _ if words.is_empty() => 0,
                        Some(Alignment::Right) => padding,
                        Some(Alignment::Center) => padding / 2,
                        _ => 0,
                    };
                    line.push(span(" ".repeat(before), Style::new()));
                    line.extend(words);
                    if at + 1 < widths.len() {
                        line.push(span(" ".repeat(padding - before), Style::new()));
                    }
                }
                out.push(line);
            }
            if row_index == 0 && !glyph::is_accessible() {
                out.push(rule());
            }
            out
        })
    }
}

/// Returns the width of the widest line of a cell, up to `limit`.
fn cell_width(cell: &[Piece], limit: usize) -> usize {
    let (mut widest, mut line) = (0, 0);
    for piece in cell {
        match piece {
            Piece::Break => line = 0,
            Piece::Text { text, .. } => line = (line + text::width_up_to(text, limit)).min(limit),
        }
        widest = widest.max(line);
    }
    widest
}

/// Limits widths to a common maximum, so that together they take at most `room`.
fn limited(needed: Vec<usize>, room: usize) -> Vec<usize> {
    let total = |limit: usize| needed.iter().map(|width| (*width).min(limit)).sum::<usize>();
    let (mut low, mut high) = (1, room.max(1));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if total(middle) <= room { low = middle } else { high = middle - 1 }
    }
    needed.into_iter().map(|width| width.min(low)).collect()
}
