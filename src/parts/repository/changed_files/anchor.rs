//! Anchors of comments: insets below lines, the marked range, and the lines that a comment at the cursor refers to.

use super::tree::Node;
use super::{Changes, DIFF, FILES};
use crate::ui::diff::{self, DiffLine, FileDiff, Inset, Kind, RowContent, Side};
use ratatui::layout::Rect;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// The target of a comment: a file, a line, or the marked lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentAnchor {
    /// The current and the previous path of the file; both are the same unless it was renamed.
    pub path: String,
    pub old_path: String,
    /// The side that the line numbers refer to.
    pub side: Side,
    /// The lines on that side, from 1; `None` for the file as a whole.
    pub lines: Option<RangeInclusive<u32>>,
    /// The marked lines of the old file that are removed, if `lines` are of the new file and do not include them.
    pub removed_lines: Option<RangeInclusive<u32>>,
    /// The numbers of the last line in the old and in the new file, as far as it is in them.
    pub old_line: Option<u32>,
    pub new_line: Option<u32>,
    /// The first and the last line, if there are several.
    pub line_range: Option<(RangeEndpoint, RangeEndpoint)>,
    /// The point in the image, if the file is one.
    pub point: Option<ImagePoint>,
    /// The index of the file, and the range of its lines.
    file: usize,
    within: Range<usize>,
}

impl CommentAnchor {
    /// Returns the anchor of the file at the index `at`, or of lines of it, by their indexes; `choose` decides on the side.
    fn of(file: &FileDiff, at: usize, within: Range<usize>, choose: impl Fn(&[&DiffLine]) -> Side) -> CommentAnchor {
        let source = &file.source;
        let mut anchor = CommentAnchor {
            path: file.path().to_owned(),
            old_path: if source.old_path.is_empty() { file.path() } else { &source.old_path }.to_owned(),
            side: Side::New,
            lines: None,
            removed_lines: None,
            old_line: None,
            new_line: None,
            line_range: None,
            point: None,
            file: at,
            within,
        };
        let lines = file.lines.get(anchor.within.clone()).unwrap_or_default();
        // The marker for a missing newline at the end of the file is not a line of it.
        let lines: Vec<&DiffLine> = lines.iter().filter(|line| line.old().or(line.new()).is_some()).collect();
        anchor.side = choose(&lines);
        let ends = |side: Side, counts: &dyn Fn(&DiffLine) -> bool| {
            let mut numbers = lines.iter().filter(|line| counts(line)).filter_map(|line| line.number(side));
            let first = numbers.next()?;
            Some(first..=numbers.next_back().unwrap_or(first))
        };
        anchor.lines = ends(anchor.side, &|_| true);
        anchor.removed_lines = ends(Side::Old, &|line| line.new().is_none()).filter(|_| anchor.side == Side::New);
        if let Some(last) = lines.iter().rfind(|line| line.number(anchor.side).is_some()) {
            (anchor.old_line, anchor.new_line) = (last.old(), last.new());
        }
        let is_on_side = |at: &usize| file.lines.get(*at).is_some_and(|line| line.number(anchor.side).is_some());
        let mut indices = anchor.within.clone().filter(is_on_side);
        if let (Some(first), Some(last)) = (indices.next(), indices.next_back()) {
            anchor.line_range = RangeEndpoint::of(file, first).zip(RangeEndpoint::of(file, last));
        }
        anchor
    }

    /// Returns the anchor of lines by their numbers on one side; `None` if the changes do not show the first and the last.
    pub fn at_lines(
        files: &[Arc<FileDiff>],
        path: &str,
        side: Side,
        lines: RangeInclusive<u32>,
    ) -> Option<CommentAnchor> {
        let is_it = |file: &Arc<FileDiff>| match side {
            Side::New => file.path() == path && !file.source.is_deleted,
            Side::Old => file.source.old_path == path || file.path() == path,
        };
        let at = files.iter().position(is_it)?;
        let file = files.get(at)?;
        let index = |number: u32| file.lines.iter().position(|line| line.number(side) == Some(number));
        let (first, last) = (index(*lines.start())?, index(*lines.end())?);
        // Lines that are in both files are lines of the new one.
        let side = |lines: &[&DiffLine]| match lines.iter().all(|line| line.new().is_some()) {
            true => Side::New,
            false => side,
        };
        Some(CommentAnchor::of(file, at, first..last + 1, side))
    }

    /// Returns the anchor of a whole file; `None` if it is not among the changes.
    pub fn of_file(files: &[Arc<FileDiff>], path: &str) -> Option<CommentAnchor> {
        let at = files.iter().position(|file| file.path() == path)?;
        Some(CommentAnchor::of(files.get(at)?, at, 0..0, |_| Side::New))
    }

    /// Returns the text of the lines: at most the last `limit`, up to the first gap of hidden lines.
    pub fn trailing_lines(&self, files: &[Arc<FileDiff>], limit: usize) -> Vec<String> {
        let Some(file) = files.get(self.file) else { return Vec::new() };
        let lines = file.lines.get(self.within.clone()).unwrap_or_default();
        let on_side = lines.iter().rev().filter_map(|line| Some((line.number(self.side)?, line)));
        let mut below = None;
        let joined = on_side.take_while(|(number, _)| {
            let joined = below.is_none_or(|below| number.checked_add(1) == Some(below));
            below = Some(*number);
            joined
        });
        let mut text: Vec<String> = joined.take(limit).map(|(_, line)| file.text(line).to_owned()).collect();
        text.reverse();
        text
    }

    /// Returns the anchor with a point of the image, or with the whole image if `point` is `None`.
    pub fn at_point(self, point: Option<ImagePoint>) -> CommentAnchor {
        CommentAnchor { point, ..self }
    }
}

/// A point in an image, in pixels from the left and from the top, and the size of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImagePoint {
    pub width: u32,
    pub height: u32,
    pub x: u32,
    pub y: u32,
}

impl ImagePoint {
    /// Parses a point such as `120, 40`. Returns `None` if the image has no such point.
    pub fn read(self, text: &str) -> Option<ImagePoint> {
        let (x, y) = text.split_once([',', ' '])?;
        let (x, y) = (x.trim().parse().ok()?, y.trim_matches([',', ' ']).parse().ok()?);
        (x < self.width && y < self.height).then_some(ImagePoint { x, y, ..self })
    }
}

/// The first or the last line of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeEndpoint {
    /// The line number in the old file; for an added line, that of the next old one.
    pub old: u32,
    /// The line number in the new file; for a removed line, that of the next new one.
    pub new: u32,
    pub kind: Kind,
}

impl RangeEndpoint {
    /// Returns the end for the line of a file at an index.
    fn of(file: &FileDiff, at: usize) -> Option<RangeEndpoint> {
        let hunk = file.hunks.iter().find(|hunk| hunk.lines.contains(&at))?;
        let (above, below) = (file.lines.get(hunk.lines.start..at)?, file.lines.get(at..hunk.lines.end)?);
        let number = |side: Side| {
            let next = below.iter().find_map(|line| line.number(side));
            next.or_else(|| above.iter().rev().find_map(|line| line.number(side)).map(|last| last.saturating_add(1)))
        };
        let kind = file.lines.get(at)?.kind;
        Some(RangeEndpoint { old: number(Side::Old).unwrap_or(0), new: number(Side::New).unwrap_or(0), kind })
    }
}

impl Changes {
    /// Sets the rows inserted between the lines. `make` runs only for a new revision, so this can be called after every
    /// update.
    pub fn set_insets(&mut self, revision: u64, make: impl FnOnce() -> Vec<Inset>) {
        if self.insets.0 == revision {
            return;
        }
        self.insets = (revision, Arc::new(make()));
        self.tree.comments.clear();
        for inset in self.insets.1.iter().filter(|inset| inset.comments > 0) {
            let (count, is_unresolved) = self.tree.comments.entry(inset.file.clone()).or_default();
            *count += inset.comments;
            *is_unresolved |= inset.is_unresolved;
        }
        self.measure_numbers();
        self.set_all_insets();
    }

    /// Inserts the comments below the images; the cursor keeps its line and its position on the screen.
    pub(super) fn set_all_insets(&mut self) {
        let key = self.inset().map(|(inset, row)| (inset.key.clone(), row));
        let place = self.doc.as_ref().and_then(|doc| doc.content(self.row()));
        let all = match self.expansions.shown_pictures.is_empty() {
            true => self.insets.1.clone(),
            false => {
                let pictures = self.expansions.shown_pictures.iter().map(|(inset, _)| inset);
                Arc::new(pictures.chain(self.insets.1.iter()).cloned().collect())
            }
        };
        let Some(doc) = &mut self.doc else { return };
        let before = self.scroll.at(doc.len());
        doc.set_insets(all);
        let place = match (key, place) {
            (Some((key, row)), _) => doc.inset(&key).map(|place| match place {
                RowContent::Inset { file, inset, .. } => {
                    // A thread that was resolved has fewer rows.
                    let last = doc.insets().get(inset).map_or(0, |inset| inset.lines.len().saturating_sub(1));
                    RowContent::Inset { file, inset, row: row.min(last) }
                }
                other => other,
            }),
            (None, place) => place,
        };
        let now = place.and_then(|place| doc.row(place)).unwrap_or(before);
        self.scroll.set_cursor(now);
        self.scroll.set_top((self.scroll.top() + now).saturating_sub(before));
    }

    /// Returns the width of the inset rows in the last draw, in columns.
    pub fn inset_width(&self) -> usize {
        self.drawn.inset_columns.get()
    }

    /// Returns the inset under the cursor, and the index of its row.
    pub fn inset(&self) -> Option<(&Inset, usize)> {
        let doc = self.doc.as_ref()?;
        match doc.content(self.row())? {
            RowContent::Inset { inset, row, .. } => Some((doc.insets().get(inset)?, row)),
            _ => None,
        }
    }

    /// Returns the insets that are visible, at least in part.
    pub fn visible_insets(&self) -> Vec<&Inset> {
        let Some(doc) = &self.doc else { return Vec::new() };
        let inset = |row: usize| match doc.content(row)? {
            RowContent::Inset { inset, .. } => Some(inset),
            _ => None,
        };
        let mut insets: Vec<usize> = self.visible_rows(doc).filter_map(inset).collect();
        insets.dedup();
        insets.into_iter().filter_map(|inset| doc.insets().get(inset)).collect()
    }

    /// Returns the area of the text of insets in the last draw, and the row of an inset on each of its lines.
    pub fn drawn_insets(&self) -> (Rect, Vec<Option<(&Inset, usize)>>) {
        let area = self.drawn.areas.get()[DIFF];
        let Some(doc) = self.doc.as_ref().filter(|_| !area.is_empty()) else { return Default::default() };
        let inset = |row: &usize| match doc.content(*row)? {
            RowContent::Inset { inset, row, .. } => Some((doc.insets().get(inset)?, row)),
            _ => None,
        };
        let rows: Vec<_> = self.drawn.rows.borrow().iter().map(inset).collect();
        // The title is above the lines, and the marker of the cursor and the numbers are beside them.
        let left = area.width.min(1 + diff::gutter(doc));
        let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(area.height - 1);
        let (width, y) = (self.drawn.inset_columns.get().min(usize::from(area.width - left)) as u16, area.y + 1);
        (Rect { x: area.x + left, y, width, height }, rows)
    }

    /// Moves to the inset with a key; returns `false` if it is not in the diff.
    pub fn go_to_inset(&mut self, key: &str) -> bool {
        let row = self.doc.as_ref().and_then(|doc| doc.row(doc.inset(key)?));
        self.panels.set_focus(DIFF);
        self.go_to(row, false);
        row.is_some()
    }

    /// Moves to the next or the previous inset whose key satisfies `is_meant`, in this file or another; returns `false`
    /// if there is none.
    pub fn step_inset(&mut self, forward: bool, is_meant: impl Fn(&str) -> bool) -> bool {
        let from = self.row();
        let row = self.doc.as_ref().and_then(|doc| {
            let rows =
                std::iter::successors(doc.adjacent_inset(from, forward), |row| doc.adjacent_inset(*row, forward));
            let key = |row: usize| match doc.content(row)? {
                RowContent::Inset { inset, .. } => doc.insets().get(inset).map(|inset| inset.key.as_str()),
                _ => None,
            };
            rows.into_iter().find(|row| key(*row).is_some_and(&is_meant))
        });
        if row.is_some() {
            self.panels.set_focus(DIFF);
        }
        self.go_to(row, false);
        row.is_some()
    }

    /// Returns whether keys move in the list of files.
    pub fn is_in_list(&self) -> bool {
        self.panels.focus() == FILES
    }

    /// Scrolls so that the cursor is not in the last `rows` rows of the viewport, which are covered.
    pub fn keep_cursor_above(&mut self, rows: u16) {
        let Some(len) = self.doc.as_ref().map(|doc| doc.len()) else { return };
        let (at, seen) = (self.scroll.at(len), self.scroll.height().saturating_sub(rows.into()));
        let top = self.scroll.top().max((at + 1).saturating_sub(seen.max(1)));
        self.scroll.set_top(top);
    }

    /// Starts a marked range at the cursor, or clears the current one.
    pub fn toggle_selection(&mut self) {
        let line = match self.doc.as_ref().and_then(|doc| doc.content(self.row())) {
            Some(RowContent::Line { file, line, .. }) => Some((file, line)),
            _ => None,
        };
        self.selection.start = if self.selection.start.is_some() { None } else { line };
    }

    /// Returns whether lines are marked.
    pub fn has_selection(&self) -> bool {
        self.selection.start.is_some()
    }

    /// Clears the marked range.
    pub fn clear_selection(&mut self) {
        self.selection.start = None;
    }

    /// Clears the marked range if the cursor has left its file.
    pub(super) fn clear_selection_outside_file(&mut self) {
        if let Some((file, _)) = self.selection.start
            && self.file() != Some(file)
        {
            self.selection.start = None;
        }
    }

    /// Returns the file and the range of its marked lines, if any.
    pub(super) fn selected_lines(&self) -> Option<(usize, Range<usize>)> {
        let (file, from) = self.selection.start?;
        if self.file() != Some(file) {
            return None;
        }
        let to = self.line_at_or_above(self.row(), file)?;
        Some((file, from.min(to)..from.max(to) + 1))
    }

    /// Returns the line of a file at a row, or the nearest before it: a range may end on an inset below its last line.
    pub(super) fn line_at_or_above(&self, row: usize, file: usize) -> Option<usize> {
        let doc = self.doc.as_ref()?;
        let from = doc.row(RowContent::File { file })?;
        (from..=row).rev().map_while(|row| doc.content(row)).find_map(|place| match place {
            RowContent::Line { file: at, line, .. } if at == file => Some(line),
            _ => None,
        })
    }

    /// Returns the anchor of a comment: the marked lines, on the side that has all of them. If neither side has, the
    /// lines are those of the new side and `removed_lines` has the others.
    pub fn anchor(&self) -> Option<CommentAnchor> {
        self.anchor_by(|lines| {
            let has_all = |side: Side| lines.iter().all(|line| line.number(side).is_some());
            if !has_all(Side::New) && has_all(Side::Old) { Side::Old } else { Side::New }
        })
    }

    /// Returns the point of the image under the cursor, in the middle of its row, or `None` if there is no image.
    pub fn image_point(&self) -> Option<ImagePoint> {
        let (inset, row) = self.inset()?;
        let (_, drawn) = self.expansions.shown_pictures.iter().find(|(shown, _)| shown.key == inset.key)?;
        let ((width, height), rows) = (drawn.size, u32::from(drawn.rows).max(1));
        // The first row is the title.
        let row = u32::try_from(row).ok()?.checked_sub(1)?.min(rows - 1);
        let y = u64::from(height) * u64::from(row * 2 + 1) / u64::from(rows * 2);
        Some(ImagePoint { width, height, x: width / 2, y: y as u32 })
    }

    /// Returns the anchor of a suggestion: the marked lines that are in the new file, if there are any.
    pub fn suggestion_anchor(&self) -> Option<CommentAnchor> {
        let has_new = |lines: &[&DiffLine]| lines.is_empty() || lines.iter().any(|line| line.new().is_some());
        let anchor = self.anchor_by(|lines| if has_new(lines) { Side::New } else { Side::Old })?;
        Some(CommentAnchor { removed_lines: None, ..anchor })
    }

    fn anchor_by(&self, choose: impl Fn(&[&DiffLine]) -> Side) -> Option<CommentAnchor> {
        let doc = self.doc.as_ref()?;
        let row = self.row();
        let place = doc.content(row)?;
        let (at, lines) = match self.selected_lines() {
            Some((file, lines)) => (file, Some(lines)),
            None => match place {
                // A folder, or an empty list, is no file.
                _ if self.panels.focus() == FILES => match self.tree.selected()? {
                    Node::File { file, .. } => (*file, None),
                    Node::Folder { .. } => return None,
                },
                RowContent::Line { file, line, .. } => (file, Some(line..line + 1)),
                RowContent::Inset { file, .. } => (file, self.line_at_or_above(row, file).map(|line| line..line + 1)),
                other => (other.file(), None),
            },
        };
        let file = doc.files().get(at)?;
        Some(CommentAnchor::of(file, at, lines.unwrap_or(0..0), choose))
    }

    /// Returns the anchor of lines of the changes since a review among all changes of their file: of removed lines, the last
    /// one if it is removed there, and else the line below.
    pub fn anchor_in_all_changes(&self, anchor: &CommentAnchor, all: &FileDiff) -> CommentAnchor {
        let mut moved = CommentAnchor {
            path: all.path().to_owned(),
            old_path: if all.source.old_path.is_empty() { all.path() } else { &all.source.old_path }.to_owned(),
            removed_lines: None,
            line_range: None,
            ..anchor.clone()
        };
        let Some(file) = self.files().get(anchor.file) else { return moved };
        let lines = match (anchor.side, anchor.lines.clone()) {
            (_, None) => return moved,
            (Side::New, Some(lines)) => lines,
            (Side::Old, Some(lines)) => {
                let origins = file.since.as_ref().map(|since| since.origins.clone()).unwrap_or_default();
                let origin = origins.get((*lines.end() as usize).wrapping_sub(1)).map(|[_, in_base]| *in_base);
                let is_removed = |line: &&DiffLine| line.kind == Kind::Removed && line.old().is_some();
                if let Some(old) =
                    all.lines.iter().filter(is_removed).find_map(|line| line.old().filter(|old| Some(*old) == origin))
                {
                    (moved.lines, moved.old_line, moved.new_line) = (Some(old..=old), Some(old), None);
                    return moved;
                }
                let (above, below) = file.lines.split_at(anchor.within.end.min(file.lines.len()));
                let next = below.iter().find_map(DiffLine::new);
                let Some(line) = next.or_else(|| above.iter().rev().find_map(DiffLine::new)) else { return moved };
                line..=line
            }
        };
        moved.side = Side::New;
        let end = |new: u32| match all.lines.iter().position(|line| line.new() == Some(new)) {
            Some(at) => RangeEndpoint::of(all, at),
            None => all.old_of_unchanged(new).map(|old| RangeEndpoint { old, new, kind: Kind::Context }),
        };
        if lines.start() != lines.end() {
            moved.line_range = end(*lines.start()).zip(end(*lines.end()));
        }
        (moved.old_line, moved.new_line) = (all.old_of_unchanged(*lines.end()), Some(*lines.end()));
        moved.lines = Some(lines);
        moved
    }
}
