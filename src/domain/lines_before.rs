//! Following lines of a file back through the diff of a change.

use super::edits::HunkHeader;
use std::ops::Range;

/// Where lines were before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinesBefore {
    /// Whether the change touched them.
    pub is_changed: bool,
    /// The numbers of the lines, from 1; none if the change added all of them.
    pub lines: Range<u32>,
}

/// Parts of both texts that replace each other; one of them may be empty.
type Block = (Range<u32>, Range<u32>);

/// Returns where lines of the new text of a diff were in the old one. Like `git log -L`, lines of which a part was
/// replaced come from all that the part replaced.
pub fn lines_before(diff: &str, lines: &Range<u32>) -> LinesBefore {
    let blocks = blocks(diff);
    let last = lines.end.saturating_sub(1).max(lines.start);
    let touches = |(_, new): &Block| match new.is_empty() {
        // Lines were removed within.
        true => lines.start < new.start && new.start <= last,
        false => new.start <= last && lines.start < new.end,
    };
    // A line that is in both texts.
    let unchanged = |line: u32| {
        let before = blocks.iter().rev().find(|(_, new)| new.end <= line);
        before.map_or(line, |(old, new)| (line - new.end).saturating_add(old.end))
    };
    let block = |line: u32| blocks.iter().find(|(_, new)| new.contains(&line));
    let start = block(lines.start).map_or_else(|| unchanged(lines.start), |(old, _)| old.start);
    let end = block(last).map_or_else(|| unchanged(last).saturating_add(1), |(old, _)| old.end);
    LinesBefore { is_changed: blocks.iter().any(touches), lines: start..end.max(start) }
}

fn blocks(diff: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut old, mut new, mut old_left, mut new_left) = (1_u32, 1_u32, 0_u32, 0_u32);
    for line in diff.split('\n') {
        if old_left == 0 && new_left == 0 {
            if let Some(hunk) = HunkHeader::parse(line) {
                // A side without lines is named by the line before it.
                let first = |(start, count): (u32, u32)| start.saturating_add(u32::from(count == 0));
                (old, new, old_left, new_left) = (first(hunk.old), first(hunk.new), hunk.old.1, hunk.new.1);
            }
            continue;
        }
        let (is_old, is_new) = match line.bytes().next() {
            Some(b'\\') => continue,
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            _ => (1, 1),
        };
        if (is_old, is_new) != (1, 1) {
            let is_next = |(before, after): &&mut Block| (before.end, after.end) == (old, new);
            match blocks.last_mut().filter(|block| is_next(block)) {
                Some((before, after)) => {
                    (before.end, after.end) = (old.saturating_add(is_old), new.saturating_add(is_new))
                }
                None => blocks.push((old..old.saturating_add(is_old), new..new.saturating_add(is_new))),
            }
        }
        (old, new) = (old.saturating_add(is_old), new.saturating_add(is_new));
        (old_left, new_left) = (old_left.saturating_sub(is_old), new_left.saturating_sub(is_new));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::unified_diff;
    use std::time::Duration;

    fn before(old: &str, new: &str, lines: Range<u32>) -> (bool, Range<u32>) {
        let lined = |words: &str| {
            words.split(' ').filter(|word| !word.is_empty()).map(|word| format!("{word}\n")).collect::<String>()
        };
        let diff = unified_diff(&lined(old), &lined(new), Duration::from_secs(5));
        let LinesBefore { is_changed, lines } = lines_before(&diff, &lines);
        (is_changed, lines)
    }

    #[test]
    fn lines_are_followed_through_changes_above_and_around_them() {
        // Lines above were added and removed.
        assert_eq!(before("a b c d e", "x y a b c d e", 5..7), (false, 3..5));
        assert_eq!(before("a b c d e", "c d e", 1..3), (false, 3..5));
        assert_eq!(before("a b c d e", "a b c d e f", 1..3), (false, 1..3));
        // One of them was replaced, added or removed.
        assert_eq!(before("a b c d e", "a b X d e", 2..4), (true, 2..4));
        assert_eq!(before("a b c d e", "a b X c d e", 2..5), (true, 2..4));
        assert_eq!(before("a b c d e", "a b d e", 2..4), (true, 2..5));
        // Lines beside them were removed.
        assert_eq!(before("a b c d e", "a b d e", 1..3), (false, 1..3));
        assert_eq!(before("a b c d e", "a b d e", 3..5), (false, 4..6));
        // A part of what was replaced is marked.
        assert_eq!(before("a b c d", "a X Y d", 3..4), (true, 2..4));
        // All of them were added.
        assert_eq!(before("a b", "a x y b", 2..4), (true, 2..2));
        assert_eq!(before("", "a b", 1..3), (true, 1..1));
    }

    #[test]
    fn a_text_that_is_no_diff_changes_nothing() {
        for diff in ["", "+a\n-b\n", "@@ -1 @@\n", "@@ -4294967295,9 +4294967295,9 @@\n+\n-\n \n"] {
            let LinesBefore { is_changed, lines } = lines_before(diff, &(3..5));
            assert_eq!((is_changed, lines), (false, 3..5), "{diff:?}");
        }
        // The numbers of a hunk at the end of all numbers.
        let huge = lines_before("@@ -4294967295,2 +4294967295,2 @@\n-a\n+b\n", &(1..u32::MAX));
        assert!(!huge.is_changed || huge.lines.start == 1);
    }
}
