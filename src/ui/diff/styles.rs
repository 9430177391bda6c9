//! The colors of a hunk: its syntax on both sides, and the words that changed. For a worker; drawing does without until
//! then.

use super::{FileDiff, Kind};
use crate::ui::code::{Language, Spans, highlight_lines};
use crate::ui::words;
use std::ops::Range;

/// Lines of a piece: what a worker colors at a time.
pub const PIECE: usize = 1024;
/// Lines above a piece that are read for its syntax.
const RUN_UP: usize = 64;

/// For every line of a piece of a hunk, in order: its syntax, and the words that changed in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HunkStyles {
    pub lines: Vec<(Spans, Vec<Range<u32>>)>,
    /// Some lines came since: their colors are still to be worked out.
    pub stale: bool,
}

impl HunkStyles {
    /// The same with room for lines that came before and after.
    pub(super) fn grown(&self, before: usize, after: usize) -> HunkStyles {
        let blank = |lines: usize| std::iter::repeat_n(Default::default(), lines);
        let lines = blank(before).chain(self.lines.iter().cloned()).chain(blank(after)).collect();
        HunkStyles { lines, stale: true }
    }
}

/// The colors of a line, and its parts that changed.
type LineStyles = (Spans, Vec<Range<u32>>);

/// The lines of a piece of a hunk, as places in the lines of the file.
fn piece_of(file: &FileDiff, hunk: usize, piece: usize) -> Range<usize> {
    let Some(hunk) = file.hunks.get(hunk) else { return 0..0 };
    let start = hunk.lines.start + piece * PIECE;
    start.min(hunk.lines.end)..hunk.lines.end.min(start + PIECE)
}

/// Works out the colors of a piece of a hunk, from the hunk's own text alone.
pub fn highlight_hunk(file: &FileDiff, hunk: usize, piece: usize) -> HunkStyles {
    let range = piece_of(file, hunk, piece);
    let mut styles = HunkStyles { lines: vec![Default::default(); range.len()], stale: false };
    let mut put = |at: usize, set: &mut dyn FnMut(&mut LineStyles)| {
        if let Some(place) = at.checked_sub(range.start).and_then(|at| styles.lines.get_mut(at)) {
            set(place);
        }
    };
    let first = file.lines.first().filter(|line| line.new() == Some(1)).map(|line| file.text(line)).unwrap_or_default();
    if let Some(language) = Language::detect(file.path(), first) {
        let above = file.hunks.get(hunk).map_or(0, |hunk| range.start.saturating_sub(RUN_UP).max(hunk.lines.start));
        // Lines of both sides take their colors from the new one.
        for side in [Kind::Removed, Kind::Added] {
            let on =
                |at: &usize| file.lines.get(*at).is_some_and(|line| line.kind == side || line.kind == Kind::Context);
            let places: Vec<usize> = (above..range.end).filter(on).collect();
            let text = places.iter().filter_map(|at| file.lines.get(*at)).map(|line| file.text(line));
            for (at, spans) in places.iter().zip(highlight_lines(language, text)) {
                put(*at, &mut |place| place.0.clone_from(&spans));
            }
        }
    }
    let pairs = file.hunks.get(hunk).and_then(|hunk| file.pairs.get(hunk.pairs.clone())).unwrap_or_default();
    let begin = pairs.partition_point(|pair| pair.before(range.start));
    for pair in pairs.get(begin..).unwrap_or_default() {
        let (Some(old), Some(new)) = (pair.left(), pair.right()) else { continue };
        if old.min(new) >= range.end {
            break;
        }
        let (Some(from), Some(to)) = (file.lines.get(old), file.lines.get(new)) else { continue };
        if old == new || from.kind != Kind::Removed || to.kind != Kind::Added {
            continue;
        }
        let Some((gone, came)) = words::changed(file.text(from), file.text(to)) else { continue };
        put(old, &mut |place| place.1.clone_from(&gone));
        put(new, &mut |place| place.1.clone_from(&came));
    }
    styles
}
