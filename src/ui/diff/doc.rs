//! The files of a diff as one document of rows: one for each file, hunk, line, and row of an inset.

use super::inset::{At, Inset, Side};
use super::rows::{Base, FileRow, Rows};
use super::styles::PIECE_LINES;
use super::{FileDiff, FileKey, HunkStyles, Moved, pairs};
use domain::line_reports::LineReports;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// The layout of the two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Both sides in one column.
    #[default]
    Unified,
    /// The sides next to each other.
    Split,
}

/// The content of a row. Indexes start at 0; lines are indexed within their file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowContent {
    File {
        file: usize,
    },
    /// The reason why a file has no content to show.
    Note {
        file: usize,
    },
    /// The bar before a hunk that tells what is hidden there.
    Hunk {
        file: usize,
        hunk: usize,
    },
    Line {
        file: usize,
        hunk: usize,
        line: usize,
    },
    /// A row of an inset; `inset` is an index into the insets of the whole document.
    Inset {
        file: usize,
        inset: usize,
        row: usize,
    },
}

impl RowContent {
    pub fn file(self) -> usize {
        match self {
            RowContent::File { file }
            | RowContent::Note { file }
            | RowContent::Hunk { file, .. }
            | RowContent::Line { file, .. }
            | RowContent::Inset { file, .. } => file,
        }
    }
}

/// A part of a hunk that is highlighted at once: the file, the hunk and the piece.
pub type HunkPiece = (usize, usize, usize);

/// The changed files, addressed by rows.
#[derive(Clone, Debug, Default)]
pub struct DiffDoc {
    /// The files, shared with background work on all of them.
    files: Arc<Vec<Arc<FileDiff>>>,
    /// The numbers of added and removed lines in all files.
    additions: usize,
    deletions: usize,
    folded: BTreeSet<usize>,
    rows: Vec<Rows>,
    /// The first row of each file, followed by the total number of rows.
    starts: Vec<usize>,
    pub(super) digits: usize,
    styles: HashMap<HunkPiece, Arc<HunkStyles>>,
    insets: Arc<Vec<Inset>>,
    /// The index of each inset by its key, and the file in which each is placed.
    names: HashMap<String, usize>,
    inset_files: Vec<Option<usize>>,
    layout: Layout,
    /// The number of columns for the text of a side; files with wider lines are unified. `None` for any width.
    side_width: Option<usize>,
    /// Whether any file is shown side by side.
    has_sides: bool,
    /// The selected side, for rows with a line on both sides.
    side: Side,
    moved: Option<Arc<Moved>>,
    /// The reports about the new lines.
    pub(super) line_reports: Option<Arc<LineReports>>,
}

impl DiffDoc {
    pub fn new(files: Vec<Arc<FileDiff>>) -> DiffDoc {
        let mut doc = DiffDoc::default();
        doc.extend(files);
        doc
    }

    /// Sets the reports about the new lines, which are marked with them.
    pub fn set_line_reports(&mut self, reports: Option<Arc<LineReports>>) {
        self.line_reports = reports;
    }

    /// Appends files. Files with a reason to be folded are folded, unless there is only one file.
    pub fn extend(&mut self, files: Vec<Arc<FileDiff>>) {
        let first = self.files.len();
        let alone = first + files.len() == 1;
        let highest = files.iter().map(|file| file.highest()).max().unwrap_or(0);
        self.digits = self.digits.max(highest.max(100).ilog10() as usize + 1);
        Arc::make_mut(&mut self.files).extend(files);
        for at in first..self.files.len() {
            if !alone && self.files.get(at).is_some_and(|file| file.fold_reason().is_some()) {
                self.folded.insert(at);
            }
            self.rows.push(self.rows_of(at));
        }
        self.count_changed_lines();
        if self.insets.is_empty() {
            self.count();
        } else {
            self.set_insets(self.insets.clone());
        }
    }

    fn rows_of(&self, at: usize) -> Rows {
        let Some(file) = self.files.get(at).filter(|_| !self.folded.contains(&at)) else { return Rows::folded() };
        Rows::of(file, self.layout_of(file))
    }

    /// Returns the layout of a file: one whose changes are on one side only gets the whole width.
    fn layout_of(&self, file: &FileDiff) -> Layout {
        let fits = self.side_width.is_none_or(|width| file.widest <= width);
        if file.is_one_sided() || !fits { Layout::Unified } else { self.layout }
    }

    /// Returns the layout of the file at a row.
    pub fn layout_at(&self, row: usize) -> Layout {
        let file = self.content(row).and_then(|content| self.rows.get(content.file()));
        file.map_or(self.layout, Rows::layout)
    }

    /// Returns whether any file is shown side by side.
    pub fn has_sides(&self) -> bool {
        self.has_sides
    }

    /// Sets the layout of the two sides. `side_width` is the number of columns for the text of a side, and files with
    /// wider lines are unified; `None` for any width. Returns whether something changed.
    pub fn set_layout(&mut self, layout: Layout, side_width: Option<usize>) -> bool {
        if (self.layout, self.side_width) == (layout, side_width) {
            return false;
        }
        (self.layout, self.side_width) = (layout, side_width);
        let layouts: Vec<Layout> = self.files.iter().map(|file| self.layout_of(file)).collect();
        self.rows.iter_mut().zip(layouts).for_each(|(rows, layout)| rows.set_layout(layout));
        if self.insets.is_empty() {
            self.count();
        } else {
            self.set_insets(self.insets.clone());
        }
        true
    }

    /// Returns the selected side, for rows with a line on both sides.
    pub fn side(&self) -> Side {
        self.side
    }

    pub fn set_side(&mut self, side: Side) {
        self.side = side;
    }

    /// Sets the lines that belong to moved blocks.
    pub fn set_moved(&mut self, moved: Arc<Moved>) {
        self.moved = Some(moved);
    }

    pub fn knows_moved(&self) -> bool {
        self.moved.is_some()
    }

    pub(super) fn is_moved(&self, file: usize, line: usize) -> bool {
        self.moved.as_ref().is_some_and(|moved| moved.contains(file, line))
    }

    /// Replaces a file by a version with more or other lines. `expanded` is the index of a hunk, the number of lines
    /// appended to the hunk before it, and the number prepended to it. Lines keep their colors until they are
    /// highlighted again.
    pub fn replace(&mut self, at: usize, file: Arc<FileDiff>, expanded: Option<(usize, u32, u32)>) {
        let (hunk, appended, prepended) = expanded
            .map_or((usize::MAX, 0, 0), |(hunk, appended, prepended)| (hunk, appended as usize, prepended as usize));
        let mut styles = HashMap::new();
        self.styles.retain(|key, value| {
            if key.0 == at && expanded.is_some() && key.2 == 0 && value.lines.len() + prepended + appended < PIECE_LINES
            {
                let (before, after) = match key.1 {
                    this if this == hunk => (prepended, 0),
                    this if this + 1 == hunk => (0, appended),
                    _ => (0, 0),
                };
                let expanded = if before + after > 0 { Arc::new(value.padded(before, after)) } else { value.clone() };
                styles.insert(*key, expanded);
            }
            key.0 != at
        });
        self.styles.extend(styles);
        // The indexes of moved lines are no longer valid.
        self.moved = None;
        self.digits = self.digits.max(file.highest().max(100).ilog10() as usize + 1);
        if let Some(slot) = Arc::make_mut(&mut self.files).get_mut(at) {
            *slot = file;
        }
        self.count_changed_lines();
        self.arrange(at);
        self.count();
    }

    /// Recomputes the numbers of added and removed lines.
    fn count_changed_lines(&mut self) {
        self.additions = self.files.iter().map(|file| file.additions).sum();
        self.deletions = self.files.iter().map(|file| file.deletions).sum();
    }

    /// Recomputes the first row of each file.
    fn count(&mut self) {
        let mut row = 0;
        self.starts.clear();
        for rows in &self.rows {
            self.starts.push(row);
            row += rows.len();
        }
        self.starts.push(row);
        self.has_sides = self.rows.iter().any(|rows| rows.layout() == Layout::Split);
    }

    /// Rebuilds the rows of a file and its insets.
    fn arrange(&mut self, at: usize) {
        let Some(file) = self.files.get(at).cloned() else { return };
        let mut rows = self.rows_of(at);
        let key = file.key();
        let insets = self.insets.iter().enumerate().filter(|(_, inset)| inset.file == key);
        self.place_insets(&mut rows, at, insets);
        for slot in self.inset_files.iter_mut().filter(|slot| **slot == Some(at)) {
            *slot = None;
        }
        self.put(at, rows);
    }

    /// Stores the rows of a file and records that its insets are placed there.
    fn put(&mut self, at: usize, rows: Rows) {
        for inset in rows.insets() {
            if let Some(slot) = self.inset_files.get_mut(inset) {
                *slot = Some(at);
            }
        }
        if let Some(slot) = self.rows.get_mut(at) {
            *slot = rows;
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn files(&self) -> &[Arc<FileDiff>] {
        &self.files
    }

    /// Returns the files, shared.
    pub fn shared_files(&self) -> Arc<Vec<Arc<FileDiff>>> {
        self.files.clone()
    }

    pub fn additions(&self) -> usize {
        self.additions
    }

    pub fn deletions(&self) -> usize {
        self.deletions
    }

    pub fn is_folded(&self, file: usize) -> bool {
        self.folded.contains(&file)
    }

    /// Folds a file to its heading, or unfolds it.
    pub fn fold(&mut self, file: usize, folded: bool) {
        self.fold_all([file], folded);
    }

    /// Folds files to their headings, or unfolds them. Rows are counted only once.
    pub fn fold_all(&mut self, files: impl IntoIterator<Item = usize>, folded: bool) {
        for file in files {
            if folded {
                self.folded.insert(file);
            } else {
                self.folded.remove(&file);
            }
            self.arrange(file);
        }
        self.count();
    }

    /// Replaces all insets. The order of `insets` is kept. The cost is that of the files with insets.
    pub fn set_insets(&mut self, insets: Arc<Vec<Inset>>) {
        let mut touched: BTreeSet<usize> = (0..self.rows.len()).filter(|at| self.has_insets(*at)).collect();
        self.insets = insets;
        self.names = self.insets.iter().enumerate().map(|(at, inset)| (inset.key.clone(), at)).collect();
        self.inset_files = vec![None; self.insets.len()];
        let mut by_file: HashMap<&FileKey, Vec<(usize, &Inset)>> = HashMap::new();
        for (index, inset) in self.insets.iter().enumerate() {
            by_file.entry(&inset.file).or_default().push((index, inset));
        }
        let mut changed = Vec::new();
        for (at, file) in self.files.iter().enumerate() {
            let here = by_file.get(&file.key()).cloned().unwrap_or_default();
            if here.is_empty() && !touched.remove(&at) {
                continue;
            }
            let mut rows = self.rows_of(at);
            self.place_insets(&mut rows, at, here.into_iter());
            changed.push((at, rows));
        }
        for (at, rows) in changed {
            self.put(at, rows);
        }
        self.count();
    }

    fn has_insets(&self, file: usize) -> bool {
        self.rows.get(file).is_some_and(|rows| rows.adjacent_inset(None, true).is_some())
    }

    /// Returns the insets in the order in which they were set.
    pub fn insets(&self) -> &[Inset] {
        &self.insets
    }

    /// Returns the place of the inset with a key, or `None` if its line is not among the rows.
    pub fn inset(&self, key: &str) -> Option<RowContent> {
        let inset = *self.names.get(key)?;
        let file = self.inset_files.get(inset).copied().flatten()?;
        Some(RowContent::Inset { file, inset, row: 0 })
    }

    /// Returns whether a row is only the border of an inset.
    pub fn is_border(&self, row: usize) -> bool {
        let Some(RowContent::Inset { inset, row, .. }) = self.content(row) else { return false };
        self.insets.get(inset).is_some_and(|inset| inset.ends_with_border && row + 1 == inset.lines.len())
    }

    /// Returns the content of `row`.
    pub fn content(&self, row: usize) -> Option<RowContent> {
        let file = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
        let diff = self.files.get(file)?;
        let content = self.rows.get(file)?.content(row - self.starts.get(file)?);
        Some(match content {
            FileRow::Inset(inset, row) => RowContent::Inset { file, inset, row },
            FileRow::Base(Base::Heading) => RowContent::File { file },
            FileRow::Base(Base::Note) => RowContent::Note { file },
            FileRow::Base(Base::Bar(hunk)) => RowContent::Hunk { file, hunk },
            FileRow::Base(Base::Row(hunk, row)) => {
                let line = match self.rows.get(file)?.layout() {
                    Layout::Unified => diff.hunks.get(hunk)?.lines.start + row,
                    Layout::Split => {
                        let (left, right) = self.sides(file, hunk, row)?;
                        if self.side == Side::Old { left.or(right)? } else { right.or(left)? }
                    }
                };
                RowContent::Line { file, hunk, line }
            }
        })
    }

    /// Returns the old and the new line in a row of a hunk in the side-by-side layout.
    fn sides(&self, file: usize, hunk: usize, row: usize) -> Option<(Option<usize>, Option<usize>)> {
        let diff = self.files.get(file)?;
        let pair = diff.pairs.get(diff.hunks.get(hunk)?.pairs.clone())?.get(row)?;
        Some((pair.left(), pair.right()))
    }

    /// Returns the file, the hunk, and the old and the new line in a row. Returns `None` for rows that are not lines,
    /// and in the unified layout.
    pub(super) fn side_by_side(&self, row: usize) -> Option<(usize, usize, Option<usize>, Option<usize>)> {
        let file = self.starts.partition_point(|start| *start <= row).checked_sub(1)?;
        let rows = self.rows.get(file)?;
        match rows.content(row - self.starts.get(file)?) {
            FileRow::Base(Base::Row(hunk, row)) if rows.layout() == Layout::Split => {
                let (left, right) = self.sides(file, hunk, row)?;
                Some((file, hunk, left, right))
            }
            _ => None,
        }
    }

    /// Returns the row of a line in its hunk.
    fn row_in_hunk(&self, file: &FileDiff, hunk: usize, line: usize) -> Option<usize> {
        let at = file.hunks.get(hunk)?;
        match self.layout_of(file) {
            Layout::Unified => line.checked_sub(at.lines.start),
            Layout::Split => {
                let all = file.pairs.get(at.pairs.clone())?;
                let right = pairs::row_of(all, line, false);
                let is_right = all.get(right).is_some_and(|pair| pair.right() == Some(line));
                Some(if is_right { right } else { pairs::row_of(all, line, true) })
            }
        }
    }

    /// Returns the row of a place, or the row of its file if it is folded.
    pub fn row(&self, content: RowContent) -> Option<usize> {
        let file = self.files.get(content.file())?;
        let rows = self.rows.get(content.file())?;
        let within = match content {
            RowContent::File { .. } => 0,
            RowContent::Note { .. } => rows.row(FileRow::Base(Base::Note)),
            RowContent::Hunk { hunk, .. } => rows.hunk(hunk),
            RowContent::Line { hunk, line, .. } => {
                rows.row(FileRow::Base(Base::Row(hunk, self.row_in_hunk(file, hunk, line)?)))
            }
            RowContent::Inset { inset, row, .. } => rows.row(FileRow::Inset(inset, row)),
        };
        Some(self.starts.get(content.file())? + within)
    }

    /// Returns the row of a line of a file by its number on a side.
    pub fn row_of_line(&self, file: usize, number: u32, side: Side) -> Option<usize> {
        let diff = self.files.get(file)?;
        let line = diff.lines.iter().position(|line| line.number(side) == Some(number))?;
        self.row(RowContent::Line { file, hunk: diff.hunk_of(line)?, line })
    }

    /// Returns the row of the next file's heading.
    pub fn next_file(&self, row: usize) -> Option<usize> {
        let next = self.starts.partition_point(|start| *start <= row);
        self.starts.get(next).copied().filter(|_| next < self.files.len())
    }

    /// Returns the row of the heading of this file, or of the previous file if `row` is the heading.
    pub fn previous_file(&self, row: usize) -> Option<usize> {
        let before = self.starts.partition_point(|start| *start < row).checked_sub(1)?;
        self.starts.get(before.min(self.files.len().checked_sub(1)?)).copied()
    }

    /// Returns the number of hunks of a file that have lines.
    fn hunks(&self, file: usize) -> usize {
        self.files
            .get(file)
            .map_or(0, |file| file.hunks.len() - usize::from(file.hunks.last().is_some_and(|h| h.is_rest)))
    }

    /// Returns the next row at which a hunk starts.
    pub fn next_hunk(&self, row: usize) -> Option<usize> {
        let file = self.content(row)?.file();
        (file..self.files.len()).filter(|at| !self.folded.contains(at)).find_map(|at| {
            let (rows, start) = (self.rows.get(at)?, *self.starts.get(at)?);
            let hunks = self.hunks(at);
            let next = first(hunks, |hunk| start + rows.hunk(hunk) > row)?;
            Some(start + rows.hunk(next))
        })
    }

    /// Returns the previous row at which a hunk starts.
    pub fn previous_hunk(&self, row: usize) -> Option<usize> {
        let file = self.content(row)?.file();
        (0..=file).rev().filter(|at| !self.folded.contains(at)).find_map(|at| {
            let (rows, start) = (self.rows.get(at)?, *self.starts.get(at)?);
            let hunks = self.hunks(at);
            let behind = first(hunks, |hunk| start + rows.hunk(hunk) >= row).unwrap_or(hunks);
            Some(start + rows.hunk(behind.checked_sub(1)?))
        })
    }

    /// Returns the row at which the next or the previous inset starts.
    pub fn adjacent_inset(&self, row: usize, forward: bool) -> Option<usize> {
        let file = self.content(row)?.file();
        let adjacent = |at: usize| {
            let start = *self.starts.get(at)?;
            let within = (at == file).then(|| row - start);
            Some(start + self.rows.get(at)?.adjacent_inset(within, forward)?)
        };
        if forward { (file..self.files.len()).find_map(adjacent) } else { (0..=file).rev().find_map(adjacent) }
    }

    /// Returns the first piece of a hunk among `rows` that is not highlighted, to be requested from a worker.
    pub fn missing(&self, rows: Range<usize>) -> Option<HunkPiece> {
        let lacks = |key: &HunkPiece| self.styles.get(key).is_none_or(|styles| styles.stale);
        rows.take_while(|row| *row < self.len()).find_map(|row| {
            let RowContent::Line { file, hunk, line } = self.content(row)? else { return None };
            let start = self.files.get(file)?.hunks.get(hunk)?.lines.start;
            let other = self.side_by_side(row).and_then(|(_, _, left, right)| left.filter(|_| right.is_some()));
            let pieces = [Some(line), other].into_iter().flatten();
            pieces.map(|line| (file, hunk, line.saturating_sub(start) / PIECE_LINES)).find(lacks)
        })
    }

    /// Stores the colors of a piece of a hunk.
    pub fn insert(&mut self, piece: HunkPiece, styles: HunkStyles) {
        self.styles.insert(piece, Arc::new(styles));
    }

    pub(super) fn styles(
        &self,
        file: usize,
        hunk: usize,
        line: usize,
    ) -> Option<&(crate::code::Spans, Vec<Range<u32>>)> {
        let within = line.checked_sub(self.files.get(file)?.hunks.get(hunk)?.lines.start)?;
        self.styles.get(&(file, hunk, within / PIECE_LINES))?.lines.get(within % PIECE_LINES)
    }

    /// Returns the section of a row: the nearest line above it that starts one, or else what the server sent for its
    /// hunk.
    pub fn section(&self, row: usize) -> Option<&str> {
        let (file, hunk, line) = match self.content(row)? {
            RowContent::Line { file, hunk, line } => (file, hunk, Some(line)),
            RowContent::Hunk { file, hunk } => (file, hunk, None),
            _ => return None,
        };
        let diff = self.files.get(file)?;
        let start = diff.hunks.get(hunk)?.lines.start;
        let lines =
            line.and_then(|line| diff.lines.get(start.max(line.saturating_sub(200))..=line)).unwrap_or_default();
        let begins = |text: &&str| {
            let mut letters = text.chars();
            let opens = letters.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$' | '#' | '['));
            let ends = text.trim_end().ends_with([';', ',']);
            opens && !ends && text.len() < 500 && text.chars().any(char::is_whitespace)
        };
        let heads = lines.iter().rev().filter(|line| line.new().is_some()).map(|line| diff.text(line));
        let found = heads.into_iter().find(begins).unwrap_or_else(|| diff.section(hunk));
        Some(found.trim()).filter(|text| !text.is_empty())
    }

    /// Returns the text of a row, to which the byte ranges of matches refer.
    pub fn text(&self, row: usize) -> Cow<'_, str> {
        let Some(content) = self.content(row) else { return Cow::Borrowed("") };
        let Some(file) = self.files.get(content.file()) else { return Cow::Borrowed("") };
        match content {
            RowContent::File { .. } => Cow::Owned(file.title()),
            RowContent::Note { .. } => file.note().unwrap_or_default().1,
            RowContent::Hunk { hunk, .. } => Cow::Owned(file.bar(hunk)),
            RowContent::Line { line, .. } => {
                Cow::Borrowed(file.lines.get(line).map(|line| file.text(line)).unwrap_or_default())
            }
            RowContent::Inset { inset, row, .. } => {
                let line = self.insets.get(inset).and_then(|inset| inset.lines.get(row));
                Cow::Owned(line.map(|line| line.text.plain_text()).unwrap_or_default())
            }
        }
    }

    /// Places insets among the rows of a file. Insets whose line is missing are omitted.
    fn place_insets<'a>(&self, rows: &mut Rows, at: usize, insets: impl Iterator<Item = (usize, &'a Inset)>) {
        let insets: Vec<(usize, &Inset)> = insets.collect();
        let Some(file) = self.files.get(at).filter(|_| !insets.is_empty() && !self.folded.contains(&at)) else {
            return rows.set(Vec::new());
        };
        // One pass over the lines finds the positions of all insets.
        let mut wanted: HashMap<(Side, u32), Option<usize>> = HashMap::new();
        for (_, inset) in &insets {
            if let At::Line(side, number) = inset.at {
                wanted.insert((side, number), None);
            }
        }
        if !wanted.is_empty() {
            for (at, line) in file.lines.iter().enumerate() {
                for side in [Side::Old, Side::New] {
                    let slot = line.number(side).and_then(|number| wanted.get_mut(&(side, number)));
                    if let Some(slot) = slot.filter(|slot| slot.is_none()) {
                        *slot = Some(at);
                    }
                }
            }
        }
        let base = |inset: &Inset| match inset.at {
            At::File => Some(Base::Heading),
            At::Line(side, number) => {
                let line = wanted.get(&(side, number)).copied().flatten()?;
                let hunk = file.hunk_of(line)?;
                Some(Base::Row(hunk, self.row_in_hunk(file, hunk, line)?))
            }
        };
        rows.set(insets.iter().filter_map(|(at, inset)| Some((base(inset)?, *at, inset.lines.len()))).collect());
    }
}

/// Returns the first number below `len` for which `holds` is true. It must be true for all following numbers.
fn first(len: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    (low < len).then_some(low)
}
