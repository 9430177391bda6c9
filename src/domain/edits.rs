//! Edits that turn one sequence into another, and unified diffs of two texts.

use similar::DiffOp;
use similar::algorithms::{Capture, Replace, myers};
use std::collections::HashMap;
use std::fmt::Write;
use std::hash::Hash;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The number of unchanged lines around a change, as in git.
const CONTEXT: usize = 3;

/// A part of both sequences, either equal or replaced. One range of a replaced part may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub old: Range<usize>,
    pub new: Range<usize>,
    pub is_equal: bool,
}

impl From<DiffOp> for Edit {
    fn from(operation: DiffOp) -> Edit {
        let is_equal = matches!(operation, DiffOp::Equal { .. });
        Edit { old: operation.old_range(), new: operation.new_range(), is_equal }
    }
}

/// Lists the parts of two sequences in order. Together they cover both sequences. If comparing takes longer than
/// `time_limit`, there are fewer and larger parts than necessary.
pub fn edits<T: Eq + Hash>(
    old: impl IntoIterator<Item = T>,
    new: impl IntoIterator<Item = T>,
    time_limit: Duration,
) -> Vec<Edit> {
    let (old, new) = number(old, new);
    compare(&old, &new, time_limit)
}

/// Returns the hunks of the changes between two texts as git prints them. If comparing takes longer than `time_limit`,
/// they are larger than necessary.
pub fn unified_diff(old: &str, new: &str, time_limit: Duration) -> String {
    let [old, new] = [old, new].map(|text| lines(text.as_bytes()));
    hunks(&old, &new, &edits(&old, &new, time_limit), &[])
}

/// Splits a text into its lines, each with its line feed.
pub fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// A part of both sequences that is printed even where it is equal, with the section name of its hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub old: Range<usize>,
    pub new: Range<usize>,
    pub name: String,
}

/// Returns the hunks of the changes that `edits` found between two texts, and of `sections`. Bytes that are not UTF-8
/// become replacement characters.
pub fn hunks(old: &[&[u8]], new: &[&[u8]], edits: &[Edit], sections: &[Section]) -> String {
    let changed = edits.iter().filter(|edit| !edit.is_equal).map(|edit| (edit.old.clone(), edit.new.clone(), ""));
    let named = sections.iter().map(|section| (section.old.clone(), section.new.clone(), section.name.as_str()));
    let mut parts: Vec<(Range<usize>, Range<usize>, &str)> = changed.chain(named).collect();
    parts.sort_by_key(|(old, new, _)| (old.start, new.start));
    // Parts with little between them share a hunk.
    let mut joined: Vec<(Range<usize>, Range<usize>, &str)> = Vec::new();
    for part in parts {
        match joined.last_mut().filter(|last| part.0.start <= last.0.end.saturating_add(2 * CONTEXT)) {
            Some(last) => {
                (last.0.end, last.1.end) = (last.0.end.max(part.0.end), last.1.end.max(part.1.end));
                last.2 = if last.2.is_empty() { part.2 } else { last.2 };
            }
            None => joined.push(part),
        }
    }
    let mut out = String::new();
    for (in_old, in_new, name) in joined {
        let before = CONTEXT.min(in_old.start).min(in_new.start);
        let after = CONTEXT.min(old.len().saturating_sub(in_old.end)).min(new.len().saturating_sub(in_new.end));
        let in_old = in_old.start - before..in_old.end + after;
        let in_new = in_new.start - before..in_new.end + after;
        let name = if name.is_empty() { String::new() } else { format!(" {name}") };
        // Writing to a string does not fail.
        _ = writeln!(out, "@@ -{} +{} @@{name}", span(in_old.clone()), span(in_new.clone()));
        let from = edits.partition_point(|edit| edit.old.end < in_old.start);
        let here = edits.iter().skip(from).take_while(|edit| edit.old.start <= in_old.end);
        for edit in here {
            let within = edit.old.start.max(in_old.start)..edit.old.end.min(in_old.end);
            if edit.is_equal {
                add(&mut out, ' ', old.get(within));
            } else if edit.new.start >= in_new.start && edit.new.end <= in_new.end {
                add(&mut out, '-', old.get(within));
                add(&mut out, '+', new.get(edit.new.clone()));
            }
        }
    }
    out
}

/// The header of a hunk, such as `@@ -40,7 +40,9 @@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HunkHeader {
    /// The first line and the number of lines in the old and in the new text.
    pub old: (u32, u32),
    pub new: (u32, u32),
    /// The length of the header in bytes, without the name of the section.
    pub len: usize,
}

impl HunkHeader {
    /// Parses the header at the start of a line.
    pub fn parse(line: &str) -> Option<HunkHeader> {
        let rest = line.strip_prefix("@@ -")?;
        let (old, rest) = rest.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let side = |text: &str| -> Option<(u32, u32)> {
            match text.split_once(',') {
                Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
                None => Some((text.parse().ok()?, 1)),
            }
        };
        let len = "@@ -".len() + old.len() + " +".len() + new.len() + " @@".len();
        Some(HunkHeader { old: side(old)?, new: side(new)?, len })
    }
}

/// Maps equal items to equal numbers, so that the comparison is compiled once for all item types.
fn number<T: Eq + Hash>(old: impl IntoIterator<Item = T>, new: impl IntoIterator<Item = T>) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<T, u32> = HashMap::new();
    let mut number = |item: T| {
        let next = numbers.len() as u32;
        *numbers.entry(item).or_insert(next)
    };
    (old.into_iter().map(&mut number).collect(), new.into_iter().map(&mut number).collect())
}

fn compare(old: &[u32], new: &[u32], time_limit: Duration) -> Vec<Edit> {
    let deadline = Instant::now().checked_add(time_limit);
    let mut hook = Replace::new(Capture::new());
    let Ok(()) = myers::diff_deadline(&mut hook, old, 0..old.len(), new, 0..new.len(), deadline);
    let changes = hook.into_inner().into_ops().into_iter().map(Edit::from).filter(|edit| !edit.is_equal).collect();
    let (mut all, mut at) = (Vec::new(), (0, 0));
    let end = Edit { old: old.len()..old.len(), new: new.len()..new.len(), is_equal: false };
    for change in slid_down(changes, old, new).into_iter().chain([end]) {
        let equal = Edit { old: at.0..change.old.start, new: at.1..change.new.start, is_equal: true };
        at = (change.old.end, change.new.end);
        all.extend([equal, change].into_iter().filter(|edit| !edit.old.is_empty() || !edit.new.is_empty()));
    }
    all
}

/// Moves insertions and deletions as far down as equal items allow, as git does, so that a change is found at the same
/// place whatever else changed. Changes that meet become one.
fn slid_down(changes: Vec<Edit>, old: &[u32], new: &[u32]) -> Vec<Edit> {
    // The last change is the first one.
    let mut slid: Vec<Edit> = Vec::new();
    for mut change in changes.into_iter().rev() {
        loop {
            let end = slid.last().map_or((old.len(), new.len()), |next| (next.old.start, next.new.start));
            if (change.old.end, change.new.end) == end
                && let Some(next) = slid.pop()
            {
                (change.old.end, change.new.end) = (next.old.end, next.new.end);
                continue;
            }
            let (range, items) = match (change.old.is_empty(), change.new.is_empty()) {
                (true, false) => (&change.new, new),
                (false, true) => (&change.old, old),
                _ => break,
            };
            // The item after the change is the same in both sequences.
            if change.old.end >= end.0 || items.get(range.start) != items.get(range.end) {
                break;
            }
            for range in [&mut change.old, &mut change.new] {
                *range = range.start + 1..range.end + 1;
            }
        }
        slid.push(change);
    }
    slid.reverse();
    slid
}

/// Formats the lines of a hunk for its header: the first line, counted from 1, and the number of lines unless it is 1.
/// For an empty span, the line before it is given.
fn span(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => lines.end.to_string(),
        len => format!("{},{len}", lines.start.saturating_add(1)),
    }
}

fn add(out: &mut String, sign: char, lines: Option<&[&[u8]]>) {
    for line in lines.unwrap_or_default() {
        out.push(sign);
        out.push_str(&String::from_utf8_lossy(line));
        if !line.ends_with(b"\n") {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME_LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn edits_cover_both_sequences_in_order() {
        let edit = |old, new, is_equal| Edit { old, new, is_equal };
        let found = edits(["a", "b", "c", "d"], ["a", "x", "c", "d", "e"], TIME_LIMIT);
        let expected =
            [edit(0..1, 0..1, true), edit(1..2, 1..2, false), edit(2..4, 2..4, true), edit(4..4, 4..5, false)];
        assert_eq!(found, expected);
        assert_eq!(edits([0; 0], [0; 0], TIME_LIMIT), []);
    }

    #[test]
    fn an_unrelated_change_does_not_move_a_deletion() {
        let deleted = |new: [&str; 5]| {
            let all = edits(["x", "a", "b", "b", "b", "c"], new, TIME_LIMIT);
            all.into_iter().find(|edit| edit.new.is_empty()).map(|edit| edit.old)
        };
        // The last of the equal lines, as in git 2.47.
        assert_eq!(deleted(["x", "a", "b", "b", "c"]), Some(4..5));
        assert_eq!(deleted(["Z", "a", "b", "b", "c"]), Some(4..5));
        // Changes that meet become one.
        assert_eq!(
            edits(["b", "b", "c"], ["b", "d"], TIME_LIMIT).last(),
            Some(&Edit { old: 1..3, new: 1..2, is_equal: false })
        );
    }

    #[test]
    fn without_patience_the_edits_still_cover_both_sequences() {
        let old: Vec<usize> = (0..5000).map(|n| n * 7 % 501).collect();
        let new: Vec<usize> = (0..5000).map(|n| n * 11 % 503).collect();
        let (mut at, mut rebuilt) = ((0, 0), Vec::new());
        for edit in edits(&old, &new, Duration::ZERO) {
            assert_eq!((edit.old.start, edit.new.start), at);
            at = (edit.old.end, edit.new.end);
            rebuilt.extend_from_slice(if edit.is_equal { &old[edit.old] } else { &new[edit.new] });
        }
        assert_eq!((at, rebuilt), ((old.len(), new.len()), new));
    }

    #[test]
    fn a_unified_diff_matches_git() {
        let diff = |old, new| unified_diff(old, new, TIME_LIMIT);
        assert_eq!(diff("a\nb\n", "a\nc\n"), "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(diff("", "a\n"), "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(diff("a\nb\n", ""), "@@ -1,2 +0,0 @@\n-a\n-b\n");
        assert_eq!(diff("a\n", "a"), "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
        assert_eq!(diff("same\n", "same\n"), "");
        // A carriage return alone does not end a line.
        assert_eq!(diff("a\rb\n", "a\rc\n"), "@@ -1 +1 @@\n-a\rb\n+a\rc\n");
        let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("5\n6\n", "5\nsix\n").replace("19\n", "");
        let expected =
            "@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n@@ -16,5 +16,4 @@\n 16\n 17\n 18\n-19\n 20\n";
        assert_eq!(diff(&old, &new), expected);
    }
}
