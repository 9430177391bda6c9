//! The rows of one file: its heading, its hunks with a bar before each, and the insets between them. Rows are found by
//! bisection, since a file may have a million lines and thousands of insets.

use super::FileDiff;

/// The content of a row of a file, without insets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Heading,
    Note,
    /// The bar before a hunk that tells how much is hidden there.
    Bar(usize),
    /// A row of a hunk: the index of the hunk, and the row in it.
    Row(usize, usize),
}

/// The content of a row of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Base(Base),
    /// A row of an inset: the inset's index in the document, and the row in it.
    Inset(usize, usize),
}

/// An inset with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PlacedInset {
    /// The row that it is below, counted without insets.
    below: usize,
    inset: usize,
    height: usize,
    /// The number of rows of the insets before it.
    before: usize,
}

impl PlacedInset {
    fn start(&self) -> usize {
        self.below + 1 + self.before
    }

    fn end(&self) -> usize {
        self.before + self.height
    }
}

/// The row layout of one file.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The row of each hunk, or of its bar if it has one.
    hunks: Vec<usize>,
    /// Whether each hunk has a bar.
    bars: Vec<bool>,
    /// The number of rows without insets.
    base: usize,
    placed: Vec<PlacedInset>,
}

impl Rows {
    /// Creates the rows of a folded file: the heading alone.
    pub fn folded() -> Rows {
        Rows { base: 1, ..Rows::default() }
    }

    /// Creates the rows of a file. `count` returns the number of rows of a hunk.
    pub fn of(file: &FileDiff, count: impl Fn(usize) -> usize) -> Rows {
        let mut rows = Rows { base: 1, ..Rows::default() };
        if file.lines.is_empty() {
            rows.base += 1;
            return rows;
        }
        for (at, hunk) in file.hunks.iter().enumerate() {
            let bar = hunk.hidden != Some(0);
            rows.hunks.push(rows.base);
            rows.bars.push(bar);
            rows.base += usize::from(bar) + count(at);
        }
        rows
    }

    /// Sets the insets: the row that each is below, its index, and its height.
    pub fn set(&mut self, mut insets: Vec<(Base, usize, usize)>) {
        insets.sort_by_key(|(base, ..)| self.base_row(*base));
        let mut before = 0;
        self.placed.clear();
        for (base, inset, height) in insets {
            let Some(below) = self.base_row(base) else { continue };
            self.placed.push(PlacedInset { below, inset, height, before });
            before += height;
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.base + self.placed.last().map_or(0, PlacedInset::end)
    }

    fn base_row(&self, base: Base) -> Option<usize> {
        let row = match base {
            Base::Heading => 0,
            Base::Note => 1,
            Base::Bar(hunk) => *self.hunks.get(hunk)?,
            Base::Row(hunk, row) => self.hunks.get(hunk)? + usize::from(*self.bars.get(hunk)?) + row,
        };
        (row < self.base).then_some(row)
    }

    /// Returns the row of a slot, or the heading if the slot is folded away.
    pub fn row(&self, slot: Slot) -> usize {
        match slot {
            Slot::Base(base) => {
                let row = self.base_row(base).unwrap_or(0);
                let before = self.placed.partition_point(|placed| placed.below < row);
                row + before.checked_sub(1).and_then(|last| self.placed.get(last)).map_or(0, PlacedInset::end)
            }
            Slot::Inset(inset, row) => {
                let placed = self.placed.iter().find(|placed| placed.inset == inset);
                placed.map_or(0, |placed| placed.start() + row.min(placed.height.saturating_sub(1)))
            }
        }
    }

    /// Returns the content of a row.
    pub fn slot(&self, row: usize) -> Slot {
        let last = self.placed.partition_point(|placed| placed.start() <= row);
        let row = match last.checked_sub(1).and_then(|last| self.placed.get(last)) {
            Some(placed) if row < placed.start() + placed.height => {
                return Slot::Inset(placed.inset, row - placed.start());
            }
            Some(placed) => row - placed.end(),
            None => row,
        };
        if row == 0 {
            return Slot::Base(Base::Heading);
        }
        let Some(hunk) = self.hunks.partition_point(|start| *start <= row).checked_sub(1) else {
            return Slot::Base(Base::Note);
        };
        let start = self.hunks.get(hunk).copied().unwrap_or(0);
        let bar = usize::from(self.bars.get(hunk).copied().unwrap_or(false));
        Slot::Base(match (row - start).checked_sub(bar) {
            Some(row) => Base::Row(hunk, row),
            None => Base::Bar(hunk),
        })
    }

    /// Returns the row at which a hunk starts: its bar or its first line.
    pub fn hunk(&self, hunk: usize) -> usize {
        let bar = self.bars.get(hunk).copied().unwrap_or(false);
        self.row(Slot::Base(if bar { Base::Bar(hunk) } else { Base::Row(hunk, 0) }))
    }

    /// Returns the indexes of the insets placed in this file.
    pub fn insets(&self) -> impl Iterator<Item = usize> {
        self.placed.iter().map(|placed| placed.inset)
    }

    /// Returns the start of the next inset below a row, or of the last one above it.
    pub fn adjacent_inset(&self, row: Option<usize>, forward: bool) -> Option<usize> {
        let starts = |placed: &&PlacedInset| placed.height > 0;
        let mut all = self.placed.iter().filter(starts).map(PlacedInset::start);
        if forward {
            all.find(|start| row.is_none_or(|row| *start > row))
        } else {
            all.take_while(|start| row.is_none_or(|row| *start < row)).last()
        }
    }
}
