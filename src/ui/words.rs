//! The words of a line of code or output, as one searches for them.

use super::text;
use regex::Regex;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// The number of bytes of a line that are searched for words.
const MAX_SEARCHED_BYTES: usize = 64 * 1024;
/// The maximum number of words to choose from.
const MAX_WORDS: usize = 200;

static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\w+").ok());

/// Returns the byte ranges of the words of a line.
pub fn ranges(line: &str) -> Vec<Range<usize>> {
    let line = text::head_bytes(line, MAX_SEARCHED_BYTES);
    WORD.as_ref().map(|word| word.find_iter(line).map(|found| found.range()).collect()).unwrap_or_default()
}

/// Returns the words of lines that are worth a search, each once, in order: names, but neither numbers nor single
/// letters. If some contain what was searched for last, only those.
pub fn searchable<'a>(lines: impl IntoIterator<Item = Cow<'a, str>>, last: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    'lines: for line in lines {
        for word in ranges(&line).into_iter().filter_map(|range| line.get(range)) {
            if all.len() >= MAX_WORDS {
                break 'lines;
            }
            let is_name = word.chars().nth(1).is_some() && word.chars().any(char::is_alphabetic);
            if is_name && all.iter().all(|known| known != word) {
                all.push(word.to_owned());
            }
        }
    }
    let last = last.to_lowercase();
    let found = |word: &String| !last.is_empty() && word.to_lowercase().contains(&last);
    if all.iter().any(found) {
        all.retain(found);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searchable(line: &str, last: &str) -> Vec<String> {
        super::searchable([line.into()], last)
    }

    #[test]
    fn names_are_worth_a_search_and_numbers_are_not() {
        assert_eq!(searchable("let x = rows.get(12, rows_of(größe));", ""), ["let", "rows", "get", "rows_of", "größe"]);
        assert_eq!(searchable("let x = rows.get(12, rows_of(x));", "ROWS"), ["rows", "rows_of"]);
        assert_eq!(searchable("rows", "other"), ["rows"]);
        assert_eq!(searchable("  } 12 -- x", ""), Vec::<String>::new());
    }

    #[test]
    fn a_line_of_a_megabyte_and_many_lines_have_few_words() {
        let line: String = (0..200_000).map(|n| format!("w{n} ")).collect();
        assert_eq!(searchable(&line, "").len(), MAX_WORDS);
        let lines = (0..1_000).map(|n| format!("w{n}").into());
        assert_eq!(super::searchable(lines, "").len(), MAX_WORDS, "however many lines are marked");
    }
}
