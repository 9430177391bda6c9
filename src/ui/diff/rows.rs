//! The rows of one file: its heading, its hunks with a bar before each, and the insets between them. Rows are found by
//! bisection, since a file may have a million lines and thousands of insets.

use super::{FileDiff, Layout};

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
pub enum FileRow {
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

/// A number of rows in each layout, so that toggling the layout does not visit all hunks.
#[derive(Clone, Copy, Debug, Default)]
struct PerLayout {
    unified: usize,
    split: usize,
}

impl PerLayout {
    fn same(rows: usize) -> PerLayout {
        PerLayout { unified: rows, split: rows }
    }

    fn get(self, layout: Layout) -> usize {
        match layout {
            Layout::Unified => self.unified,
            Layout::Split => self.split,
        }
    }
}

/// The start of a hunk.
#[derive(Clone, Copy, Debug, Default)]
struct HunkStart {
    /// The row of its bar if it has one, else of its first line.
    row: PerLayout,
    has_bar: bool,
}

/// The rows of one file.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    layout: Layout,
    hunks: Vec<HunkStart>,
    /// The number of rows without insets.
    base: PerLayout,
    placed: Vec<PlacedInset>,
}

impl Rows {
    /// Creates the rows of a folded file: the heading alone.
    pub fn folded() -> Rows {
        Rows { base: PerLayout::same(1), ..Rows::default() }
    }

    /// Creates the rows of a file.
    pub fn of(file: &FileDiff, layout: Layout) -> Rows {
        if file.lines.is_empty() {
            return Rows { base: PerLayout::same(2), ..Rows::default() };
        }
        let mut base = PerLayout::same(1);
        let hunks = file.hunks.iter().map(|hunk| {
            let start = HunkStart { row: base, has_bar: hunk.hidden != Some(0) };
            base.unified += usize::from(start.has_bar) + hunk.lines.len();
            base.split += usize::from(start.has_bar) + hunk.pairs.len();
            start
        });
        let hunks = hunks.collect();
        Rows { layout, hunks, base, placed: Vec::new() }
    }

    /// Changes the layout. The insets keep their rows and must be set again.
    pub fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
    }

    /// Returns the layout of the two sides.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    fn base_len(&self) -> usize {
        self.base.get(self.layout)
    }

    /// Returns the row of a hunk's bar if it has one, else of its first line.
    fn hunk_row(&self, hunk: &HunkStart) -> usize {
        hunk.row.get(self.layout)
    }

    fn first_line(&self, hunk: &HunkStart) -> usize {
        self.hunk_row(hunk) + usize::from(hunk.has_bar)
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
        self.base_len() + self.placed.last().map_or(0, PlacedInset::end)
    }

    fn base_row(&self, base: Base) -> Option<usize> {
        let row = match base {
            Base::Heading => 0,
            Base::Note => 1,
            Base::Bar(hunk) => self.hunk_row(self.hunks.get(hunk)?),
            Base::Row(hunk, row) => self.first_line(self.hunks.get(hunk)?) + row,
        };
        (row < self.base_len()).then_some(row)
    }

    /// Returns the row of a content, or the heading if it is folded away.
    pub fn row(&self, content: FileRow) -> usize {
        match content {
            FileRow::Base(base) => {
                let row = self.base_row(base).unwrap_or(0);
                let before = self.placed.partition_point(|placed| placed.below < row);
                row + before.checked_sub(1).and_then(|last| self.placed.get(last)).map_or(0, PlacedInset::end)
            }
            FileRow::Inset(inset, row) => {
                let placed = self.placed.iter().find(|placed| placed.inset == inset);
                placed.map_or(0, |placed| placed.start() + row.min(placed.height.saturating_sub(1)))
            }
        }
    }

    /// Returns the content of a row.
    pub fn content(&self, row: usize) -> FileRow {
        let last = self.placed.partition_point(|placed| placed.start() <= row);
        let row = match last.checked_sub(1).and_then(|last| self.placed.get(last)) {
            Some(placed) if row < placed.start() + placed.height => {
                return FileRow::Inset(placed.inset, row - placed.start());
            }
            Some(placed) => row - placed.end(),
            None => row,
        };
        if row == 0 {
            return FileRow::Base(Base::Heading);
        }
        let Some(hunk) = self.hunks.partition_point(|hunk| self.hunk_row(hunk) <= row).checked_sub(1) else {
            return FileRow::Base(Base::Note);
        };
        let first_line = self.hunks.get(hunk).map_or(0, |hunk| self.first_line(hunk));
        FileRow::Base(match row.checked_sub(first_line) {
            Some(row) => Base::Row(hunk, row),
            None => Base::Bar(hunk),
        })
    }

    /// Returns the row at which a hunk starts: its bar or its first line.
    pub fn hunk(&self, hunk: usize) -> usize {
        let has_bar = self.hunks.get(hunk).is_some_and(|start| start.has_bar);
        self.row(FileRow::Base(if has_bar { Base::Bar(hunk) } else { Base::Row(hunk, 0) }))
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
