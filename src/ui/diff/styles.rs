//! The styles of a hunk: its syntax on both sides, and the changed words. They are computed on a worker thread; rows
//! are drawn without them until they are ready.

use super::{FileDiff, Kind};
use crate::code::{Budget, Language, Spans, highlight_lines};
use crate::word_diff;
use std::ops::Range;

/// The number of lines in a piece, which is highlighted at once.
pub const PIECE_LINES: usize = 1024;
/// The number of lines above a piece that are parsed for its syntax.
const LEADING_LINES: usize = 64;

/// The syntax and the changed words of each line in a piece of a hunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HunkStyles {
    pub lines: Vec<(Spans, Vec<Range<u32>>)>,
    /// Whether lines were added since, and need to be highlighted.
    pub stale: bool,
}

impl HunkStyles {
    /// Returns the same styles with empty entries for lines added before and after.
    pub(super) fn padded(&self, before: usize, after: usize) -> HunkStyles {
        let blank = |lines: usize| std::iter::repeat_n(Default::default(), lines);
        let lines = blank(before).chain(self.lines.iter().cloned()).chain(blank(after)).collect();
        HunkStyles { lines, stale: true }
    }
}

/// The syntax of a line, and its changed parts.
type LineStyles = (Spans, Vec<Range<u32>>);

/// Returns the lines of a piece of a hunk, as indexes into the lines of the file.
fn piece_of(file: &FileDiff, hunk: usize, piece: usize) -> Range<usize> {
    let Some(hunk) = file.hunks.get(hunk) else { return 0..0 };
    let start = hunk.lines.start + piece * PIECE_LINES;
    start.min(hunk.lines.end)..hunk.lines.end.min(start + PIECE_LINES)
}

/// Highlights a piece of a hunk until `canceled` returns true, using only the text of the hunk.
pub fn highlight_hunk(file: &FileDiff, hunk: usize, piece: usize, canceled: &dyn Fn() -> bool) -> HunkStyles {
    let budget = Budget::shared(file.color_budget.0.clone(), canceled);
    let range = piece_of(file, hunk, piece);
    let mut styles = HunkStyles { lines: vec![Default::default(); range.len()], stale: false };
    let mut put = |at: usize, set: &mut dyn FnMut(&mut LineStyles)| {
        if let Some(place) = at.checked_sub(range.start).and_then(|at| styles.lines.get_mut(at)) {
            set(place);
        }
    };
    let first = file.lines.first().filter(|line| line.new() == Some(1)).map(|line| file.text(line)).unwrap_or_default();
    if let Some(language) = Language::detect(file.path(), first) {
        let above =
            file.hunks.get(hunk).map_or(0, |hunk| range.start.saturating_sub(LEADING_LINES).max(hunk.lines.start));
        // Context lines get their colors from the new side.
        for side in [Kind::Removed, Kind::Added] {
            let on =
                |at: &usize| file.lines.get(*at).is_some_and(|line| line.kind == side || line.kind == Kind::Context);
            let places: Vec<usize> = (above..range.end).filter(on).collect();
            let text = places.iter().filter_map(|at| file.lines.get(*at)).map(|line| file.text(line));
            for (at, spans) in places.iter().zip(highlight_lines(language, text, &budget)) {
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
        if from.kind != Kind::Removed || to.kind != Kind::Added {
            continue;
        }
        let Some((removed, added)) = word_diff::changed(file.text(from), file.text(to)) else { continue };
        put(old, &mut |place| place.1.clone_from(&removed));
        put(new, &mut |place| place.1.clone_from(&added));
    }
    styles
}
