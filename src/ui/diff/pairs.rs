//! Pairing of removed and added lines for the rows of the side-by-side layout.

use super::{DiffLine, FileDiff, Kind};
use std::ops::Range;

/// The bit of a side without a line in the row.
const ABSENT: u32 = 1 << 31;
/// Maximum number of candidate pairs in a block to compare. Larger blocks are paired in order.
const MAX_CANDIDATES: usize = 64;
/// Maximum length in bytes of lines to compare.
const MAX_COMPARED_BYTES: usize = 200;
/// The minimum similarity of two lines to be treated as one changed line.
const MIN_SIMILARITY: f32 = 0.4;

/// A row of the side-by-side layout. Each side stores the index of its line plus one, and a side without a line repeats
/// the number above, marked as absent. Thus numbers never decrease from row to row, and rows can be found by bisection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    left: u32,
    right: u32,
}

fn line(side: u32) -> Option<usize> {
    if side & ABSENT == 0 { (side as usize).checked_sub(1) } else { None }
}

impl Pair {
    /// Returns the line on the old side, as an index into the lines of the file.
    pub fn left(self) -> Option<usize> {
        line(self.left)
    }

    /// Returns the line on the new side.
    pub fn right(self) -> Option<usize> {
        line(self.right)
    }
}

impl Pair {
    /// Returns whether both sides come before a line. This is then true for all rows above, too.
    pub fn before(self, line: usize) -> bool {
        ((self.left & !ABSENT).max(self.right & !ABSENT) as usize) <= line
    }
}

/// Returns the row of a line among `pairs`.
pub fn row_of(pairs: &[Pair], line: usize, removed: bool) -> usize {
    let side = |pair: &Pair| (if removed { pair.left } else { pair.right }) & !ABSENT;
    pairs.partition_point(|pair| (side(pair) as usize) <= line)
}

/// Pairs the lines of all hunks.
pub fn pair_hunks(file: &mut FileDiff) {
    let mut pairs = Vec::with_capacity(file.lines.len());
    let mut ranges = Vec::with_capacity(file.hunks.len());
    let mut last = (0, 0);
    for hunk in &file.hunks {
        let start = pairs.len();
        for (left, right) in rows(file, hunk.lines.clone()) {
            let number = |line: Option<usize>, last: &mut u32| match line {
                Some(line) => {
                    *last = line as u32 + 1;
                    *last
                }
                None => *last | ABSENT,
            };
            pairs.push(Pair { left: number(left, &mut last.0), right: number(right, &mut last.1) });
        }
        ranges.push(start..pairs.len());
    }
    for (hunk, range) in file.hunks.iter_mut().zip(ranges) {
        hunk.pairs = range;
    }
    file.pairs = pairs;
}

type Row = (Option<usize>, Option<usize>);

fn rows(file: &FileDiff, lines: Range<usize>) -> Vec<Row> {
    let mut rows = Vec::with_capacity(lines.len());
    let (mut removed, mut added): (Vec<usize>, Vec<usize>) = Default::default();
    let mut before = Kind::Context;
    for at in lines {
        let Some(line) = file.lines.get(at) else { continue };
        match line.kind {
            Kind::Removed => {
                if !added.is_empty() {
                    pair_block(file, &mut removed, &mut added, &mut rows);
                }
                removed.push(at);
            }
            Kind::Added => added.push(at),
            // The marker belongs to the line before it.
            Kind::NoNewline if before == Kind::Removed => removed.push(at),
            Kind::NoNewline if before == Kind::Added => added.push(at),
            Kind::NoNewline | Kind::Context | Kind::Plain => {
                pair_block(file, &mut removed, &mut added, &mut rows);
                rows.push((Some(at), Some(at)));
            }
        }
        before = line.kind;
    }
    pair_block(file, &mut removed, &mut added, &mut rows);
    rows
}

/// Pairs a block of removed lines with the added lines that follow it.
fn pair_block(file: &FileDiff, removed: &mut Vec<usize>, added: &mut Vec<usize>, rows: &mut Vec<Row>) {
    let small = removed.len() * added.len() <= MAX_CANDIDATES;
    let matches = if small && removed.len() != added.len() { best_pairs(file, removed, added) } else { Vec::new() };
    let mut at = (0, 0);
    for (left, right) in matches.into_iter().chain([(removed.len(), added.len())]) {
        let (lefts, rights) = (removed.get(at.0..left).unwrap_or_default(), added.get(at.1..right).unwrap_or_default());
        for row in 0..lefts.len().max(rights.len()) {
            rows.push((lefts.get(row).copied(), rights.get(row).copied()));
        }
        if let (Some(left), Some(right)) = (removed.get(left), added.get(right)) {
            rows.push((Some(*left), Some(*right)));
        }
        at = (left + 1, right + 1);
    }
    removed.clear();
    added.clear();
}

/// Returns the pairs of similar lines, in order, that maximize the total similarity.
fn best_pairs(file: &FileDiff, removed: &[usize], added: &[usize]) -> Vec<(usize, usize)> {
    let text =
        |at: &usize| file.lines.get(*at).filter(|l| l.kind != Kind::NoNewline).map_or("", |l: &DiffLine| file.text(l));
    let width = added.len() + 1;
    let mut best = vec![0.0f32; (removed.len() + 1) * width];
    let mut similarities = vec![0.0f32; removed.len() * added.len()];
    for (i, left) in removed.iter().enumerate().rev() {
        for (j, right) in added.iter().enumerate().rev() {
            let score = similarity(text(left), text(right));
            let get = |i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0.0);
            let paired = if score >= MIN_SIMILARITY { score + get(i + 1, j + 1) } else { 0.0 };
            let value = paired.max(get(i + 1, j)).max(get(i, j + 1));
            if let Some(slot) = similarities.get_mut(i * added.len() + j) {
                *slot = score;
            }
            if let Some(slot) = best.get_mut(i * width + j) {
                *slot = value;
            }
        }
    }
    let get = |i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0.0);
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::new();
    while i < removed.len() && j < added.len() {
        let score = similarities.get(i * added.len() + j).copied().unwrap_or(0.0);
        if score >= MIN_SIMILARITY && get(i, j) <= score + get(i + 1, j + 1) {
            out.push((i, j));
            i += 1;
            j += 1;
        } else if get(i + 1, j) >= get(i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    out
}

/// Returns the fraction of the longer line that the two lines have in common at both ends.
fn similarity(left: &str, right: &str) -> f32 {
    let (left, right) = (left.trim().as_bytes(), right.trim().as_bytes());
    let longest = left.len().max(right.len());
    if longest == 0 || longest > MAX_COMPARED_BYTES {
        return 0.0;
    }
    let head = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let room = left.len().min(right.len()) - head;
    let tail = left.iter().rev().zip(right.iter().rev()).take(room).take_while(|(a, b)| a == b).count();
    (head + tail) as f32 / longest as f32
}
