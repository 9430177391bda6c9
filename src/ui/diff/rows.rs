//! The rows of one file: its heading, its hunks with a bar before each, and insets between them. Everything is found by
//! bisection: a file may have a million lines and thousands of insets.

use super::FileDiff;

/// What stands in a row of a file, insets left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Heading,
    Note,
    /// The row before a hunk that says how much lies hidden there.
    Bar(usize),
    /// A row of a hunk, by its number in it.
    Row(usize, usize),
}

/// What stands in a row of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Base(Base),
    /// A row of an inset: its number among those of the document, and the row in it.
    Inset(usize, usize),
}

/// An inset that found its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placed {
    /// The row without insets that it stands below.
    below: usize,
    inset: usize,
    height: usize,
    /// Rows of the insets before it.
    before: usize,
}

impl Placed {
    fn start(&self) -> usize {
        self.below + 1 + self.before
    }

    fn end(&self) -> usize {
        self.before + self.height
    }
}

/// The arithmetic of one file's rows.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// The row of each hunk, its bar where there is one.
    hunks: Vec<usize>,
    /// Whether each hunk has a bar.
    bars: Vec<bool>,
    /// Rows without insets.
    base: usize,
    placed: Vec<Placed>,
}

impl Rows {
    /// The heading alone.
    pub fn folded() -> Rows {
        Rows { base: 1, ..Rows::default() }
    }

    /// Returns all rows of a file, whose hunks have as many as `count` says.
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

    /// Sets insets in, each with the row that it stands below and how many rows it has.
    pub fn set(&mut self, mut insets: Vec<(Base, usize, usize)>) {
        insets.sort_by_key(|(base, ..)| self.base_row(*base));
        let mut before = 0;
        self.placed.clear();
        for (base, inset, height) in insets {
            let Some(below) = self.base_row(base) else { continue };
            self.placed.push(Placed { below, inset, height, before });
            before += height;
        }
    }

    /// Rows in all.
    pub fn len(&self) -> usize {
        self.base + self.placed.last().map_or(0, Placed::end)
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

    /// The row of what stands somewhere; of what is folded away, the heading.
    pub fn row(&self, slot: Slot) -> usize {
        match slot {
            Slot::Base(base) => {
                let row = self.base_row(base).unwrap_or(0);
                let before = self.placed.partition_point(|placed| placed.below < row);
                row + before.checked_sub(1).and_then(|last| self.placed.get(last)).map_or(0, Placed::end)
            }
            Slot::Inset(inset, row) => {
                let placed = self.placed.iter().find(|placed| placed.inset == inset);
                placed.map_or(0, |placed| placed.start() + row.min(placed.height.saturating_sub(1)))
            }
        }
    }

    /// Returns what stands in a row.
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

    /// The row where a hunk begins: its bar, or its first line.
    pub fn hunk(&self, hunk: usize) -> usize {
        let bar = self.bars.get(hunk).copied().unwrap_or(false);
        self.row(Slot::Base(if bar { Base::Bar(hunk) } else { Base::Row(hunk, 0) }))
    }

    /// The insets that found a place in this file.
    pub fn insets(&self) -> impl Iterator<Item = usize> {
        self.placed.iter().map(|placed| placed.inset)
    }

    /// The next inset that begins below a row, or the last that begins above it.
    pub fn turn_inset(&self, row: Option<usize>, forward: bool) -> Option<usize> {
        let starts = |placed: &&Placed| placed.height > 0;
        let mut all = self.placed.iter().filter(starts).map(Placed::start);
        if forward {
            all.find(|start| row.is_none_or(|row| *start > row))
        } else {
            all.take_while(|start| row.is_none_or(|row| *start < row)).last()
        }
    }
}
