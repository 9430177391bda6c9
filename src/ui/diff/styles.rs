//! The colours of a hunk: its syntax on both sides, and the words that changed. For a worker; drawing does without until then.

use super::{FileDiff, Kind};
use crate::ui::code::{Language, Spans, highlight_lines};
use crate::ui::words;
use std::ops::Range;

/// Lines of a hunk beyond which it stays plain.
const LINES: usize = 5000;

/// For every line of a hunk, in order: its syntax, and the words that changed in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HunkStyles {
    pub lines: Vec<(Spans, Vec<Range<u32>>)>,
}

/// Works out the colours of one hunk, from its own text alone.
pub fn highlight_hunk(file: &FileDiff, hunk: usize) -> HunkStyles {
    let lines = file.hunks.get(hunk).and_then(|hunk| file.lines.get(hunk.lines.clone())).unwrap_or_default();
    let lines = lines.get(..lines.len().min(LINES)).unwrap_or_default();
    let mut styles = HunkStyles { lines: vec![Default::default(); lines.len()] };
    let first = lines.first().filter(|line| line.new == Some(1)).map(|line| file.text(line)).unwrap_or_default();
    if let Some(language) = Language::detect(file.path(), first) {
        // Lines of both sides take their colours from the new one.
        for side in [Kind::Removed, Kind::Added] {
            let on = |at: &usize| lines.get(*at).is_some_and(|line| line.kind == side || line.kind == Kind::Context);
            let places: Vec<usize> = (0..lines.len()).filter(on).collect();
            let text = places.iter().filter_map(|at| lines.get(*at)).map(|line| file.text(line));
            for (at, spans) in places.iter().zip(highlight_lines(language, text)) {
                if let Some((place, _)) = styles.lines.get_mut(*at) {
                    *place = spans;
                }
            }
        }
    }
    for (old, new) in pairs(lines.iter().map(|line| line.kind)) {
        let (Some(from), Some(to)) = (lines.get(old), lines.get(new)) else { continue };
        let Some((gone, came)) = words::changed(file.text(from), file.text(to)) else { continue };
        for (at, ranges) in [(old, gone), (new, came)] {
            if let Some((_, place)) = styles.lines.get_mut(at) {
                *place = ranges;
            }
        }
    }
    styles
}

/// Removed lines and the added lines that took their places: the first with the first, where some follow the others.
pub(super) fn pairs(kinds: impl Iterator<Item = Kind>) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut removed, mut added): (Vec<usize>, Vec<usize>) = Default::default();
    let mut flush = |removed: &mut Vec<usize>, added: &mut Vec<usize>| {
        pairs.extend(removed.drain(..).zip(added.drain(..)));
        removed.clear();
        added.clear();
    };
    for (at, kind) in kinds.enumerate() {
        match kind {
            Kind::Removed => {
                if !added.is_empty() {
                    flush(&mut removed, &mut added);
                }
                removed.push(at);
            }
            Kind::Added => added.push(at),
            Kind::NoNewline => {}
            Kind::Context | Kind::Plain => flush(&mut removed, &mut added),
        }
    }
    flush(&mut removed, &mut added);
    pairs
}
