//! Replacing lines of a text: bytes outside of the replaced lines never change, and new lines end as the old ones do.

use std::ops::Range;

/// The mark with which some programs start a UTF-8 file; it is no part of the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// New lines, without line endings, in place of a range of lines, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEdit<'a> {
    pub lines: Range<usize>,
    pub new: Vec<&'a str>,
}

/// Splits a text into lines with their line endings. Only a line feed ends a line.
pub fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Splits a line into its text and its line ending, which is empty for a last line without one.
pub fn ending(line: &str) -> (&str, &str) {
    let text = line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line);
    line.split_at_checked(text.len()).unwrap_or((line, ""))
}

/// Returns the lines of a text without line endings and without a byte order mark.
pub fn bare(text: &str) -> Vec<&str> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    split(text).into_iter().map(|line| ending(line).0).collect()
}

/// Returns the text that replaces some of the `lines` of [`split`], with their line endings.
pub fn new_text(lines: &[&str], edit: &LineEdit) -> String {
    let old = lines.get(edit.lines.clone()).unwrap_or_default();
    // The last line of a file may have no line ending. Lines that are no longer the last one end as the one before.
    let above = edit.lines.start.checked_sub(1).and_then(|at| lines.get(at));
    let usual = old.iter().chain(above).map(|line| ending(line).1).find(|ending| !ending.is_empty()).unwrap_or("\n");
    let mut text = String::new();
    if edit.lines.start == 0 && old.first().is_some_and(|line| line.starts_with(BYTE_ORDER_MARK)) {
        text.push(BYTE_ORDER_MARK);
    }
    for (at, line) in edit.new.iter().enumerate() {
        text.push_str(if at == 0 && !text.is_empty() { line.trim_start_matches(BYTE_ORDER_MARK) } else { line });
        if at + 1 == edit.new.len() {
            text.push_str(old.last().map_or(usual, |last| ending(last).1));
        } else {
            let same = old.get(at).map(|line| ending(line).1).filter(|ending| !ending.is_empty());
            text.push_str(same.unwrap_or(usual));
        }
    }
    text
}

/// Replaces lines of a text. The edits are sorted by line and do not overlap.
pub fn replace(text: &str, edits: &[LineEdit]) -> String {
    let lines = split(text);
    let texts: Vec<(Range<usize>, String)> =
        edits.iter().map(|edit| (edit.lines.clone(), new_text(&lines, edit))).collect();
    splice(text, texts.iter().map(|(lines, text)| (lines.clone(), text.as_str())))
}

/// Replaces ranges of lines, counted from 0, by texts as they are. The ranges are sorted and do not overlap.
pub fn splice<'a>(text: &str, edits: impl IntoIterator<Item = (Range<usize>, &'a str)>) -> String {
    let lines = split(text);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (range, new) in edits {
        out.extend(lines.get(at..range.start).unwrap_or_default().iter().copied());
        out.push_str(new);
        at = range.end;
    }
    out.extend(lines.get(at..).unwrap_or_default().iter().copied());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, edits: &[(Range<usize>, &[&str])]) -> String {
        let edits: Vec<LineEdit> =
            edits.iter().map(|(lines, new)| LineEdit { lines: lines.clone(), new: new.to_vec() }).collect();
        replace(text, &edits)
    }

    #[test]
    fn new_lines_end_as_the_lines_that_they_replace() {
        assert_eq!(replaced("a\nb\nc\nd\n", &[(0..1, &["A", "AA"]), (2..4, &[])]), "A\nAA\nb\n");
        assert_eq!(replaced("a\r\nb\r\nc\r\n", &[(1..2, &["B", "BB"])]), "a\r\nB\r\nBB\r\nc\r\n");
        assert_eq!(replaced("a\r\nb\nc\r\n", &[(0..3, &["A", "B", "C"])]), "A\r\nB\nC\r\n", "mixed line endings stay");
        assert_eq!(replaced("a\r\nb\nc\n", &[(1..2, &["B", "BB"])]), "a\r\nB\nBB\nc\n");
        assert_eq!(replaced("a\rb\nc\n", &[(0..1, &["x\ry"])]), "x\ry\nc\n", "a carriage return alone ends no line");
    }

    #[test]
    fn a_missing_line_end_stays_missing() {
        assert_eq!(replaced("a\nb", &[(1..2, &["B"])]), "a\nB");
        assert_eq!(replaced("a\r\nb", &[(1..2, &["B", "BB"])]), "a\r\nB\r\nBB");
        assert_eq!(replaced("a", &[(0..1, &["A", "AA"])]), "A\nAA");
        assert_eq!(replaced("a\nb", &[(1..2, &[])]), "a\n", "the line above is not changed");
        assert_eq!(replaced("a\nb", &[(0..1, &["A"])]), "A\nb");
    }

    #[test]
    fn a_byte_order_mark_stays_at_the_start() {
        assert_eq!(replaced("\u{feff}a\r\nb\r\n", &[(0..1, &["A"])]), "\u{feff}A\r\nb\r\n");
        assert_eq!(replaced("\u{feff}a\n", &[(0..1, &["\u{feff}A"])]), "\u{feff}A\n");
        assert_eq!(replaced("\u{feff}a\nb\n", &[(0..1, &[])]), "\u{feff}b\n");
        assert_eq!(bare("\u{feff}a\r\nb\rc\n"), ["a", "b\rc"]);
    }

    #[test]
    fn unchanged_lines_keep_every_byte() {
        let text = "\u{feff}one\r\ntwo\n\r\n\tfour \r\r\nfive\u{2028}\u{0}\nlast";
        let lines = split(text).len();
        for at in 0..lines {
            let line = split(text)[at];
            let same = bare(text)[at];
            assert_eq!(replaced(text, &[(at..at + 1, &[same])]), text, "{line:?}");
        }
    }
}
