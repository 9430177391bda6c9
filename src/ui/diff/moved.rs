//! Detection of blocks of lines that were moved within a file or to another file.

use super::{DiffLine, FileDiff, Kind};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// Minimum number of letters and digits in a block. Shorter text repeats too often.
const MIN_LETTERS: usize = 24;
/// Minimum number of lines in a block.
const MIN_LINES: usize = 2;
/// Maximum number of occurrences of a removed line to examine. A line that was removed in more places does not identify
/// a block.
const MAX_OCCURRENCES: usize = 8;
/// Maximum length in bytes of lines to compare.
const MAX_LINE_BYTES: u32 = 1000;

/// The lines of moved blocks by file, sorted and non-overlapping.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moved {
    files: HashMap<usize, Vec<Range<usize>>>,
}

impl Moved {
    /// Returns whether a line of a file belongs to a moved block.
    pub fn contains(&self, file: usize, line: usize) -> bool {
        let Some(ranges) = self.files.get(&file) else { return false };
        let at = ranges.partition_point(|range| range.end <= line);
        ranges.get(at).is_some_and(|range| range.contains(&line))
    }

    fn sort(&mut self) {
        for ranges in self.files.values_mut() {
            ranges.sort_by_key(|range| range.start);
            let mut joined: Vec<Range<usize>> = Vec::new();
            for range in ranges.drain(..) {
                match joined.last_mut() {
                    Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                    _ => joined.push(range),
                }
            }
            *ranges = joined;
        }
    }
}

/// Returns the text of a line for comparison, without indentation, since moved code is often reindented.
fn body<'a>(file: &'a FileDiff, line: &DiffLine) -> &'a str {
    file.text(line).trim()
}

fn letters(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_alphanumeric).count()
}

fn key(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Finds the moved blocks in all files until `canceled` returns true. Runs on a worker thread.
pub fn moved(files: &[Arc<FileDiff>], canceled: &dyn Fn() -> bool) -> Moved {
    let mut removed_lines: HashMap<u64, Vec<(usize, usize)>> = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        if canceled() {
            return Moved::default();
        }
        let removed = file.lines.iter().enumerate().filter(|(_, l)| l.kind == Kind::Removed && l.len <= MAX_LINE_BYTES);
        for (index, line) in removed {
            let text = body(file, line);
            if letters(text) > 3 {
                let occurrences = removed_lines.entry(key(text)).or_default();
                if occurrences.len() <= MAX_OCCURRENCES {
                    occurrences.push((at, index));
                }
            }
        }
    }
    let mut moved = Moved::default();
    for (at, file) in files.iter().enumerate() {
        if canceled() {
            return Moved::default();
        }
        let mut index = 0;
        while let Some(line) = file.lines.get(index) {
            let mut step = 1;
            if line.kind == Kind::Added && line.len <= MAX_LINE_BYTES {
                let occurrences = removed_lines
                    .get(&key(body(file, line)))
                    .filter(|occurrences| occurrences.len() <= MAX_OCCURRENCES);
                let blocks = occurrences
                    .into_iter()
                    .flatten()
                    .filter_map(|(from, start)| Some((run(file, index, files.get(*from)?, *start)?, *from, *start)));
                if let Some((len, from, start)) = blocks.max_by_key(|(len, ..)| *len) {
                    moved.files.entry(at).or_default().push(index..index + len);
                    moved.files.entry(from).or_default().push(start..start + len);
                    step = len;
                }
            }
            index += step;
        }
    }
    moved.sort();
    moved
}

/// Returns the number of equal lines from `new_start` and from `old_start` on, if they are enough for a block.
fn run(file: &FileDiff, new_start: usize, old: &FileDiff, old_start: usize) -> Option<usize> {
    let (mut len, mut weight) = (0, 0);
    let added = file.lines.get(new_start..)?.iter().take_while(|line| line.kind == Kind::Added);
    let removed = old.lines.get(old_start..)?.iter().take_while(|line| line.kind == Kind::Removed);
    for (new, old_line) in added.zip(removed) {
        let text = body(file, new);
        if text != body(old, old_line) {
            break;
        }
        len += 1;
        weight += letters(text);
    }
    (len >= MIN_LINES && weight >= MIN_LETTERS).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{Source, parse};

    fn file(lines: &[String]) -> Arc<FileDiff> {
        let removed = lines.iter().filter(|line| line.starts_with('-')).count();
        let added = lines.iter().filter(|line| line.starts_with('+')).count();
        let diff = format!("@@ -1,{removed} +1,{added} @@\n{}\n", lines.join("\n"));
        Arc::new(parse(Source { old_path: "t".into(), new_path: "t".into(), diff, ..Source::default() }))
    }

    /// Returns a block of the given number of unique lines.
    fn block(sign: char, name: &str, lines: usize) -> Vec<String> {
        (0..lines).map(|line| format!("{sign}let {name}_{line} = the_value_of({line});")).collect()
    }

    fn moved_lines(files: &[Arc<FileDiff>]) -> Vec<usize> {
        let moved = moved(files, &|| false);
        (0..files[0].lines.len()).filter(|line| moved.contains(0, *line)).collect()
    }

    #[test]
    fn swapped_blocks_are_both_detected() {
        let parts = [block('-', "a", 5), block('-', "b", 5), block('+', "b", 5), block('+', "a", 5)];
        assert_eq!(moved_lines(&[file(&parts.concat())]), (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn moved_blocks_have_a_minimum_length() {
        let of = |lines| moved_lines(&[file(&[block('-', "a", lines), block('+', "a", lines)].concat())]).len();
        assert_eq!([MIN_LINES - 1, MIN_LINES].map(of), [0, 2 * MIN_LINES]);
    }

    #[test]
    fn overlong_lines_are_not_compared() {
        let of = |length: usize| {
            let lines: Vec<String> = (0..MIN_LINES).map(|line| format!("{line}{}", "x".repeat(length - 1))).collect();
            let [removed, added] =
                ['-', '+'].map(|sign| lines.iter().map(move |line| format!("{sign}{line}")).collect());
            let parts: [Vec<String>; 2] = [removed, added];
            moved_lines(&[file(&parts.concat())]).len()
        };
        assert_eq!([MAX_LINE_BYTES as usize, MAX_LINE_BYTES as usize + 1].map(of), [2 * MIN_LINES, 0]);
    }
}
