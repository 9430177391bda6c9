//! Lines that comments are on: what is set in below them, what the user marked, and what is meant by the cursor.

use super::{Changes, DIFF, FILES};
use crate::ui::diff::{FileDiff, Inset, Kind, Line, Place, Side};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// What a comment would be on: a file, a line, or the marked lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentAnchor {
    /// The file's path now and before; both the same where it was not renamed.
    pub path: String,
    pub old_path: String,
    /// The side on which the lines are counted.
    pub side: Side,
    /// The lines on that side, from 1; `None` if the file as a whole is meant.
    pub lines: Option<RangeInclusive<u32>>,
    /// The lines of the old file among the marked ones, where those of the new file do not stand for them.
    pub removed: Option<RangeInclusive<u32>>,
    /// The numbers of the last of them in the old and in the new file, if it is in both.
    pub old_line: Option<u32>,
    pub new_line: Option<u32>,
    /// The first and the last of them, if they are several.
    pub ends: Option<(LineEnd, LineEnd)>,
    /// The point that is meant, if the file is an image.
    pub point: Option<ImagePoint>,
    /// The file, and which of its lines these are.
    file: usize,
    within: Range<usize>,
}

impl CommentAnchor {
    /// The same file, and a point of it; all of it where there is none.
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
    /// Returns the same image with the point that a text names, as in `120, 40`; `None` if the image has no such point.
    pub fn read(self, text: &str) -> Option<ImagePoint> {
        let (x, y) = text.split_once([',', ' '])?;
        let (x, y) = (x.trim().parse().ok()?, y.trim_matches([',', ' ']).parse().ok()?);
        (x < self.width && y < self.height).then_some(ImagePoint { x, y, ..self })
    }
}

/// A line at the end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineEnd {
    /// Its number in the old file; of an added line that of the next old one.
    pub old: u32,
    /// Its number in the new file; of a removed line that of the next new one.
    pub new: u32,
    pub kind: Kind,
}

impl LineEnd {
    /// The line of a file at an index.
    fn of(file: &FileDiff, at: usize) -> Option<LineEnd> {
        let hunk = file.hunks.iter().find(|hunk| hunk.lines.contains(&at))?;
        let (above, below) = (file.lines.get(hunk.lines.start..at)?, file.lines.get(at..hunk.lines.end)?);
        let number = |side: Side| {
            let next = below.iter().find_map(|line| line.number(side));
            next.or_else(|| above.iter().rev().find_map(|line| line.number(side)).map(|last| last.saturating_add(1)))
        };
        let kind = file.lines.get(at)?.kind;
        Some(LineEnd { old: number(Side::Old).unwrap_or(0), new: number(Side::New).unwrap_or(0), kind })
    }
}

impl Changes {
    /// Sets rows in between the lines: those of the last revision stay until another one comes, so that this may be
    /// called after every update.
    pub fn set_insets(&mut self, revision: u64, make: impl FnOnce() -> Vec<Inset>) {
        if self.insets.0 == revision {
            return;
        }
        self.insets = (revision, Arc::new(make()));
        self.commented = self.insets.1.iter().map(|inset| inset.path.clone()).collect();
        self.set_all_insets();
    }

    /// Sets in what people said, below the pictures; the cursor stays where it was, on the screen too.
    pub(super) fn set_all_insets(&mut self) {
        let key = self.inset().map(|(inset, row)| (inset.key.clone(), row));
        let place = self.doc.as_ref().and_then(|doc| doc.place(self.row()));
        let all = match self.shown_pictures.is_empty() {
            true => self.insets.1.clone(),
            false => {
                let pictures = self.shown_pictures.iter().map(|(inset, _)| inset);
                Arc::new(pictures.chain(self.insets.1.iter()).cloned().collect())
            }
        };
        let Some(doc) = &mut self.doc else { return };
        let before = self.scroll.at(doc.len());
        doc.set_insets(all);
        let place = match (key, place) {
            (Some((key, row)), _) => doc.inset(&key).map(|place| match place {
                Place::Inset { file, inset, .. } => Place::Inset { file, inset, row },
                other => other,
            }),
            (None, place) => place,
        };
        let now = place.and_then(|place| doc.row(place)).unwrap_or(before);
        self.scroll.cursor = now;
        self.scroll.top.set((self.scroll.top.get() + now).saturating_sub(before));
    }

    /// Columns that the rows of insets have, as of the last draw.
    pub fn inset_width(&self) -> usize {
        self.inset_columns.get()
    }

    /// The inset under the cursor, and which of its rows.
    pub fn inset(&self) -> Option<(&Inset, usize)> {
        let doc = self.doc.as_ref()?;
        match doc.place(self.row())? {
            Place::Inset { inset, row, .. } => Some((doc.insets().get(inset)?, row)),
            _ => None,
        }
    }

    /// The insets that are on the screen, whole or in part.
    pub fn insets_in_sight(&self) -> Vec<&Inset> {
        let Some(doc) = &self.doc else { return Vec::new() };
        let inset = |row: usize| match doc.place(row)? {
            Place::Inset { inset, .. } => Some(inset),
            _ => None,
        };
        let mut insets: Vec<usize> = self.in_sight(doc).filter_map(inset).collect();
        insets.dedup();
        insets.into_iter().filter_map(|inset| doc.insets().get(inset)).collect()
    }

    /// Goes to the inset of a name; `false` where it has no place.
    pub fn go_to_inset(&mut self, key: &str) -> bool {
        let row = self.doc.as_ref().and_then(|doc| doc.row(doc.inset(key)?));
        self.panels.set_focus(DIFF);
        self.go_to(row, false);
        row.is_some()
    }

    /// Goes to the next inset that is meant, or to the one before, in this file or another; `false` where there is
    /// none.
    pub fn turn_inset(&mut self, forward: bool, is_meant: impl Fn(&str) -> bool) -> bool {
        let from = self.row();
        let row = self.doc.as_ref().and_then(|doc| {
            let rows = std::iter::successors(doc.turn_inset(from, forward), |row| doc.turn_inset(*row, forward));
            let key = |row: usize| match doc.place(row)? {
                Place::Inset { inset, .. } => doc.insets().get(inset).map(|inset| inset.key.as_str()),
                _ => None,
            };
            rows.into_iter().find(|row| key(*row).is_some_and(&is_meant))
        });
        self.go_to(row, false);
        row.is_some()
    }

    /// Scrolls so far that the cursor does not stand in the last `rows` of the screen, which something covers.
    pub fn leave_below(&mut self, rows: u16) {
        let Some(len) = self.doc.as_ref().map(|doc| doc.len()) else { return };
        let (at, seen) = (self.scroll.at(len), self.scroll.height.get().saturating_sub(rows.into()));
        let top = self.scroll.top.get().max((at + 1).saturating_sub(seen.max(1)));
        self.scroll.top.set(top);
    }

    /// Begins to mark lines at the cursor, or ends it.
    pub fn mark(&mut self) {
        let line = match self.doc.as_ref().and_then(|doc| doc.place(self.row())) {
            Some(Place::Line { file, line, .. }) => Some((file, line)),
            _ => None,
        };
        self.mark = if self.mark.is_some() { None } else { line };
    }

    /// No line is marked any more.
    pub fn end_mark(&mut self) {
        self.mark = None;
    }

    /// A mark is of one file: it ends where the cursor leaves that.
    pub(super) fn keep_mark_in_file(&mut self) {
        if let Some((file, _)) = self.mark
            && self.file() != Some(file)
        {
            self.mark = None;
        }
    }

    /// The marked lines as places in the lines of a file, if any.
    pub(super) fn marked(&self) -> Option<(usize, Range<usize>)> {
        let (file, from) = self.mark?;
        if self.file() != Some(file) {
            return None;
        }
        let to = self.line_near(self.row(), file)?;
        Some((file, from.min(to)..from.max(to) + 1))
    }

    /// The line of a file at a row, or the nearest before it: a range may end on what is set in below its last line.
    pub(super) fn line_near(&self, row: usize, file: usize) -> Option<usize> {
        let doc = self.doc.as_ref()?;
        let from = doc.row(Place::File { file })?;
        (from..=row).rev().map_while(|row| doc.place(row)).find_map(|place| match place {
            Place::Line { file: at, line, .. } if at == file => Some(line),
            _ => None,
        })
    }

    /// Returns what a comment would be on: all marked lines, on the side that has all of them; on the new side, with
    /// the removed ones beside, where neither has.
    pub fn anchor(&self) -> Option<CommentAnchor> {
        self.anchor_by(|lines| {
            let has_all = |side: Side| lines.iter().all(|line| line.number(side).is_some());
            if !has_all(Side::New) && has_all(Side::Old) { Side::Old } else { Side::New }
        })
    }

    /// The point of the picture under the cursor: in the middle of its row. `None` where there is no picture.
    pub fn image_point(&self) -> Option<ImagePoint> {
        let (inset, row) = self.inset()?;
        let (_, drawn) = self.shown_pictures.iter().find(|(shown, _)| shown.key == inset.key)?;
        let ((width, height), rows) = (drawn.size, u32::from(drawn.rows).max(1));
        // The first row is the title.
        let row = u32::try_from(row).ok()?.checked_sub(1)?.min(rows - 1);
        let y = u64::from(height) * u64::from(row * 2 + 1) / u64::from(rows * 2);
        Some(ImagePoint { width, height, x: width / 2, y: y as u32 })
    }

    /// Returns what a suggestion would be on: those of the marked lines that are in the new file, where some are.
    pub fn anchor_to_change(&self) -> Option<CommentAnchor> {
        let has_new = |lines: &[&Line]| lines.is_empty() || lines.iter().any(|line| line.new().is_some());
        let anchor = self.anchor_by(|lines| if has_new(lines) { Side::New } else { Side::Old })?;
        Some(CommentAnchor { removed: None, ..anchor })
    }

    fn anchor_by(&self, choose: impl Fn(&[&Line]) -> Side) -> Option<CommentAnchor> {
        let doc = self.doc.as_ref()?;
        let row = self.row();
        let place = doc.place(row)?;
        let (at, lines) = match self.marked() {
            Some((file, lines)) => (file, Some(lines)),
            None => match place {
                _ if self.panels.focus() == FILES => (place.file(), None),
                Place::Line { file, line, .. } => (file, Some(line..line + 1)),
                Place::Inset { file, .. } => (file, self.line_near(row, file).map(|line| line..line + 1)),
                other => (other.file(), None),
            },
        };
        let file = doc.files().get(at)?;
        let source = &file.source;
        let mut anchor = CommentAnchor {
            path: file.path().to_owned(),
            old_path: if source.old_path.is_empty() { file.path() } else { &source.old_path }.to_owned(),
            side: Side::New,
            lines: None,
            removed: None,
            old_line: None,
            new_line: None,
            ends: None,
            point: None,
            file: at,
            within: lines.unwrap_or(0..0),
        };
        let lines = file.lines.get(anchor.within.clone()).unwrap_or_default();
        // What says that a file ends without a line end is no line of it.
        let lines: Vec<&Line> = lines.iter().filter(|line| line.old().or(line.new()).is_some()).collect();
        anchor.side = choose(&lines);
        let ends = |side: Side, counts: &dyn Fn(&Line) -> bool| {
            let mut numbers = lines.iter().filter(|line| counts(line)).filter_map(|line| line.number(side));
            let first = numbers.next()?;
            Some(first..=numbers.next_back().unwrap_or(first))
        };
        anchor.lines = ends(anchor.side, &|_| true);
        anchor.removed = ends(Side::Old, &|line| line.new().is_none()).filter(|_| anchor.side == Side::New);
        if let Some(last) = lines.iter().rfind(|line| line.number(anchor.side).is_some()) {
            (anchor.old_line, anchor.new_line) = (last.old(), last.new());
        }
        let is_on_side = |at: &usize| file.lines.get(*at).is_some_and(|line| line.number(anchor.side).is_some());
        let mut indices = anchor.within.clone().filter(is_on_side);
        if let (Some(first), Some(last)) = (indices.next(), indices.next_back()) {
            anchor.ends = LineEnd::of(file, first).zip(LineEnd::of(file, last));
        }
        Some(anchor)
    }

    /// Returns what the lines of an anchor say, one each: the last of them as far as nothing is hidden in between,
    /// `most` at most.
    pub fn text_of(&self, anchor: &CommentAnchor, most: usize) -> Vec<String> {
        let Some(file) = self.doc.as_ref().and_then(|doc| doc.files().get(anchor.file)) else { return Vec::new() };
        let lines = file.lines.get(anchor.within.clone()).unwrap_or_default();
        let on_side = lines.iter().rev().filter_map(|line| Some((line.number(anchor.side)?, line)));
        let mut below = None;
        let joined = on_side.take_while(|(number, _)| {
            let joined = below.is_none_or(|below| number.checked_add(1) == Some(below));
            below = Some(*number);
            joined
        });
        let mut text: Vec<String> = joined.take(most).map(|(_, line)| file.text(line).to_owned()).collect();
        text.reverse();
        text
    }
}
