//! Changes within a line: the removed words of the old line and the added words of the new line.

use domain::edits::edits;
use std::ops::Range;
use std::time::Duration;

/// Maximum length in bytes of a line to compare.
const MAX_LINE_BYTES: usize = 2 * 1024;
/// Maximum number of words of a line to compare.
const MAX_WORDS: usize = 600;
/// Time limit for comparing two lines. When it expires, the rest counts as changed.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// Byte ranges of a line.
pub type Ranges = Vec<Range<u32>>;

/// Returns the changed byte ranges of the old and the new line, or `None` if the lines are too long or have little in
/// common, in which case the whole lines count as changed.
pub fn changed(old: &str, new: &str) -> Option<(Ranges, Ranges)> {
    if old.len() > MAX_LINE_BYTES || new.len() > MAX_LINE_BYTES {
        return None;
    }
    let (old_words, new_words) = (words(old), words(new));
    if old_words.len() > MAX_WORDS || new_words.len() > MAX_WORDS {
        return None;
    }
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let mut common = 0;
    let mut at = (0, 0);
    for edit in edits(&old_words, &new_words, TIME_LIMIT) {
        let (old_text, new_text) = (old_words.get(edit.old)?, new_words.get(edit.new)?);
        let end = (at.0 + length(old_text), at.1 + length(new_text));
        if edit.is_equal {
            common += old_text.iter().filter(|word| !is_blank(word)).map(|word| word.len()).sum::<usize>();
        } else {
            add(&mut removed, at.0..end.0, old);
            add(&mut added, at.1..end.1, new);
        }
        at = end;
    }
    let solid = |line: &str| line.chars().filter(|c| !c.is_whitespace()).map(char::len_utf8).sum::<usize>();
    (common * 3 >= solid(old).max(solid(new))).then_some((removed, added))
}

/// Splits a line into words: identifiers and numbers, runs of whitespace, and every other character by itself.
fn words(line: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' => 1,
        _ if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = 0;
    for (at, c) in line.char_indices() {
        let this = kind(c);
        if at > start && (this != last || this == 0) {
            words.extend(line.get(start..at));
            start = at;
        }
        last = this;
    }
    words.extend(line.get(start..).filter(|word| !word.is_empty()));
    words
}

fn length(words: &[&str]) -> usize {
    words.iter().map(|word| word.len()).sum()
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Adds a range, or extends the previous one if only whitespace separates them.
fn add(ranges: &mut Vec<Range<u32>>, range: Range<usize>, line: &str) {
    if range.is_empty() {
        return;
    }
    let (start, end) = (range.start as u32, range.end as u32);
    match ranges.last_mut() {
        Some(last) if line.get(last.end as usize..range.start).is_some_and(is_blank) => last.end = end,
        _ => ranges.push(start..end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(old: &str, new: &str) -> Option<(Vec<String>, Vec<String>)> {
        let cut = |line: &str, ranges: Vec<Range<u32>>| {
            ranges.into_iter().map(|r| line[r.start as usize..r.end as usize].to_owned()).collect()
        };
        changed(old, new).map(|(removed, added)| (cut(old, removed), cut(new, added)))
    }

    #[test]
    fn only_changed_words_are_reported() {
        let (removed, added) =
            seen("fn rows(&self) -> Vec<Row> {", "fn rows(&self, window: Range) -> Vec<Row> {").unwrap();
        assert!(removed.is_empty());
        assert_eq!(added, [", window: Range"]);
        let (removed, added) = seen("let é = old_name + 1;", "let é = new_name + 1;").unwrap();
        assert_eq!((removed, added), (vec!["old_name".to_owned()], vec!["new_name".to_owned()]));
    }

    #[test]
    fn dissimilar_lines_have_no_changed_words() {
        assert_eq!(seen("completely different", "return 7;"), None);
        assert_eq!(seen(&"a".repeat(5000), "a"), None);
        assert_eq!(seen("", ""), Some((vec![], vec![])));
    }
}
