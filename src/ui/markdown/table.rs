//! Tables of Markdown and of HTML, with aligned columns. Cells are wrapped, and columns that do not fit beside each
//! other follow below.

use super::flow::{Piece, Word, lines};
use crate::theme::{Role, Theme};
use crate::{glyph, text};
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
    rows: Vec<Vec<Cell>>,
    /// Whether the first row is the heading.
    has_heading: bool,
    /// The number of further rows that a cell of the rows so far takes, for each column.
    taken: Vec<usize>,
}

#[derive(Default)]
struct Cell {
    pieces: Vec<Piece>,
    /// The number of columns; 0 if a cell to the left extends to this one.
    span: usize,
    /// Its own alignment, in HTML.
    alignment: Option<Alignment>,
}

/// The attributes of a cell of HTML.
pub struct CellShape {
    pub alignment: Option<Alignment>,
    pub is_heading: bool,
    /// The number of columns and of rows.
    pub span: (usize, usize),
}

impl Table {
    /// Creates a table of Markdown, whose first row is the heading.
    pub fn new(alignments: Vec<Alignment>) -> Table {
        Table { alignments, rows: Vec::new(), has_heading: true, taken: Vec::new() }
    }

    /// Creates a table of HTML, whose cells tell how they are aligned and whether they are headings.
    pub fn of_html() -> Table {
        Table { has_heading: false, ..Table::new(Vec::new()) }
    }

    /// Returns whether no row has begun.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Starts a row.
    pub fn start_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Adds a cell to the current row.
    pub fn push_cell(&mut self, pieces: Vec<Piece>) {
        if let Some(row) = self.rows.last_mut().filter(|row| row.len() < MAX_CELLS) {
            row.push(Cell { pieces, span: 1, alignment: None });
        }
    }

    /// Adds a cell of HTML to the current row, after the columns that cells of the rows above take.
    pub fn push_html_cell(&mut self, pieces: Vec<Piece>, shape: &CellShape) {
        let is_first_row = self.rows.len() == 1;
        let Some(row) = self.rows.last_mut() else { return };
        while let Some(taken) = self.taken.get_mut(row.len()).filter(|taken| **taken > 0) {
            *taken -= 1;
            row.push(Cell { span: 1, ..Cell::default() });
        }
        let start = row.len();
        let end = start.saturating_add(shape.span.0.max(1)).min(MAX_CELLS);
        if start >= end {
            // The note below the table says that there are more.
            return self.alignments.resize(MAX_CELLS + 1, Alignment::None);
        }
        row.push(Cell { pieces, span: end - start, alignment: shape.alignment });
        row.resize_with(end, Cell::default);
        self.has_heading |= is_first_row && shape.is_heading;
        if self.alignments.len() < end {
            self.alignments.resize(end, Alignment::None);
            self.taken.resize(end, 0);
        }
        if let Some(taken) = self.taken.get_mut(start..end) {
            taken.fill(shape.span.1.saturating_sub(1));
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

    /// Returns the widths that columns need on one line, each up to `limit`.
    fn needed(&self, columns: Range<usize>, limit: usize) -> Vec<usize> {
        let mut needed = vec![1; columns.len()];
        for row in &self.rows {
            for (cell, widest) in row.iter().skip(columns.start).zip(needed.iter_mut()) {
                if cell.span <= 1 {
                    *widest = (*widest).max(cell_width(&cell.pieces, limit));
                }
            }
        }
        // What a cell of several columns needs beyond theirs widens the last of them.
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate().skip(columns.start).filter(|(_, cell)| cell.span > 1) {
                let start = at - columns.start;
                let end = (start + cell.span).min(needed.len());
                let Some(theirs) = needed.get_mut(start..end) else { break };
                let gaps = GAP * theirs.len().saturating_sub(1);
                let missing =
                    cell_width(&cell.pieces, limit + gaps).saturating_sub(theirs.iter().sum::<usize>() + gaps);
                if let Some(last) = theirs.last_mut() {
                    *last += missing;
                }
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
        let is_broken = |row: &Vec<Cell>| {
            let mut cells = row.iter().skip(columns.start).take(columns.len());
            cells.any(|cell| cell.pieces.contains(&Piece::Break))
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
            // The alignment, the width and the lines of each cell.
            let mut cells = Vec::with_capacity(widths.len());
            let mut at = 0;
            while let Some(rest) = widths.get(at..).filter(|rest| !rest.is_empty()) {
                let cell = row.get(columns.start + at);
                let span = cell.map_or(1, |cell| cell.span).clamp(1, rest.len());
                let width = rest.iter().take(span).sum::<usize>() + GAP * (span - 1);
                let words = lines(cell.map(|cell| cell.pieces.as_slice()).unwrap_or_default(), width).into_iter();
                let own = cell.and_then(|cell| cell.alignment.as_ref());
                cells.push((own.or(self.alignments.get(columns.start + at)), width, words));
                at += span;
            }
            let is_heading = row_index == 0 && self.has_heading;
            let height = cells.iter().map(|(.., words)| words.len()).max().unwrap_or(0).max(1);
            let mut out = Vec::with_capacity(height + 1);
            if row_index > usize::from(self.has_heading) && is_tall {
                out.push(rule());
            }
            for _ in 0..height {
                let mut line = Vec::new();
                let last = cells.len().saturating_sub(1);
                for (at, (alignment, width, cell)) in cells.iter_mut().enumerate() {
                    if at > 0 {
                        line.push(span(format!(" {} ", glyph::or_word(glyph::divider(), "|")), rule_style));
                    }
                    let mut words = cell.next().unwrap_or_default();
                    if is_heading {
                        words.iter_mut().for_each(|word| word.style = word.style.add_modifier(Modifier::BOLD));
                    }
                    let used: usize = words.iter().map(|word| text::width_up_to(&word.text, *width)).sum();
                    let padding = width.saturating_sub(used);
                    let before = match alignment {
                        _ if words.is_empty() => 0,
                        Some(Alignment::Right) => padding,
                        Some(Alignment::Center) => padding / 2,
                        _ => 0,
                    };
                    line.push(span(" ".repeat(before), Style::new()));
                    line.extend(words);
                    if at < last {
                        line.push(span(" ".repeat(padding - before), Style::new()));
                    }
                }
                out.push(line);
            }
            if is_heading && !glyph::is_accessible() {
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
