//! Expanding hidden lines: a file with more of its lines, taken from its current content.

use super::parse::finish;
use super::{DiffLine, FileDiff, Kind};
use crate::code::Text;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The number of lines of a hunk compared to verify that a text is the one that the diff was made from.
const VERIFIED_LINES: usize = 8;

/// The hidden lines to expand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// The last lines of the hidden range, just above the hunk below the bar.
    Up(u32),
    /// The first lines of the hidden range, just below the hunk above the bar.
    Down(u32),
    /// This many lines at both ends.
    Both(u32),
    All,
}

impl FileDiff {
    /// Returns the range of new line numbers hidden before `hunk`, the end excluded. For the last bar, it extends to
    /// the end of `blob`.
    fn gap(&self, blob: &Text, hunk: usize) -> Option<(u32, u32)> {
        let from = match hunk.checked_sub(1) {
            Some(before) => self.ends(before)?.1,
            None => 1,
        };
        let at = self.hunks.get(hunk)?;
        // A hunk may claim a position beyond the end of the file.
        let end = u32::try_from(blob.len()).ok()?.checked_add(1)?;
        let to = if at.is_rest { end } else { at.starts.1 };
        (from <= to && to <= end).then_some((from, to))
    }

    /// Returns the old and the new number of the line after a hunk.
    pub(super) fn ends(&self, hunk: usize) -> Option<(u32, u32)> {
        let at = self.hunks.get(hunk)?;
        let lines = self.lines.get(at.lines.clone())?;
        let count = |side: fn(&DiffLine) -> Option<NonZeroU32>| lines.iter().filter_map(side).count() as u32;
        Some((at.starts.0.checked_add(count(|l| l.old))?, at.starts.1.checked_add(count(|l| l.new))?))
    }

    /// Returns whether `blob` is the file that the hunks were made from, as far as the lines near a bar can tell.
    fn fits(&self, blob: &Text, hunk: usize) -> bool {
        let near = [hunk.checked_sub(1), Some(hunk)].into_iter().flatten().filter_map(|at| self.hunks.get(at));
        near.filter_map(|at| self.lines.get(at.lines.clone())).all(|lines| {
            let known = lines.iter().filter_map(|line| Some((line.new()?, line)));
            known.take(VERIFIED_LINES).all(|(number, line)| blob.line(number as usize - 1) == self.text(line))
        })
    }

    /// Returns a copy of the file with `lines` more unchanged lines at both ends of each hunk. Returns `None` if `blob`
    /// is not the text that the diff was made from.
    pub fn with_context(&self, blob: &Arc<Text>, lines: u32) -> Option<FileDiff> {
        let mut file = self.clone();
        for hunk in (0..self.hunks.len()).filter(|hunk| self.hunks.get(*hunk).is_some_and(|at| at.hidden != Some(0))) {
            file = file.expanded(blob, hunk, Expansion::Both(lines))?.0;
        }
        Some(file)
    }

    /// Returns a copy of the file with more of the lines hidden before `hunk`, the number of lines appended to the
    /// previous hunk, and the number prepended to this one. Returns `None` if `blob` is not the text that the diff was
    /// made from.
    pub fn expanded(&self, blob: &Arc<Text>, hunk: usize, expansion: Expansion) -> Option<(FileDiff, u32, u32)> {
        if !self.fits(blob, hunk) {
            return None;
        }
        let (from, to) = self.gap(blob, hunk)?;
        let is_rest = self.hunks.get(hunk)?.is_rest;
        let hidden = to - from;
        let (appended, prepended) = match expansion {
            Expansion::All if is_rest => (hidden, 0),
            Expansion::All => (0, hidden),
            Expansion::Up(lines) | Expansion::Both(lines) if hunk == 0 => (0, lines.min(hidden)),
            _ if is_rest => match expansion {
                Expansion::Up(lines) | Expansion::Down(lines) | Expansion::Both(lines) => (lines.min(hidden), 0),
                Expansion::All => (hidden, 0),
            },
            Expansion::Down(lines) if hunk == 0 => (0, lines.min(hidden)),
            Expansion::Up(lines) => (0, lines.min(hidden)),
            Expansion::Down(lines) => (lines.min(hidden), 0),
            Expansion::Both(lines) => (lines.min(hidden), lines.min(hidden - lines.min(hidden))),
        };
        // The difference between old and new line numbers in the gap.
        let (old, new) = match hunk.checked_sub(1) {
            Some(before) => self.ends(before)?,
            None => (1, 1),
        };
        let line = |number: u32| DiffLine {
            kind: Kind::Context,
            old: u32::try_from((u64::from(number) + u64::from(old)).saturating_sub(new.into()))
                .ok()
                .and_then(NonZeroU32::new),
            new: NonZeroU32::new(number),
            start: DiffLine::IN_BLOB,
            len: 0,
        };
        let mut file =
            FileDiff { lines: Vec::with_capacity(self.lines.len() + (prepended + appended) as usize), ..self.clone() };
        file.blob = Some(blob.clone());
        file.revision += 1;
        for (at, place) in file.hunks.iter_mut().enumerate() {
            let start = file.lines.len();
            if at == hunk {
                file.lines.extend((to - prepended..to).map(line));
                place.starts = (place.starts.0.saturating_sub(prepended), place.starts.1.saturating_sub(prepended));
            }
            file.lines.extend_from_slice(self.lines.get(place.lines.clone()).unwrap_or_default());
            if at + 1 == hunk {
                file.lines.extend((from..from + appended).map(line));
            }
            place.lines = start..file.lines.len();
        }
        finish(&mut file);
        Some((file, appended, prepended))
    }
}
