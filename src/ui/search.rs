//! What searches in viewers have in common: how a query is read, and how many matches are kept.

mod across;

pub use across::Across;

use regex::{Regex, RegexBuilder};
use std::ops::Range;

/// Matches that one search keeps.
pub const MATCHES: usize = 10_000;
/// Lines between two looks at whether the search is still wanted.
const PATIENCE: usize = 256;

/// A place that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Line or row, from 0.
    pub line: usize,
    /// Bytes of its text.
    pub range: Range<usize>,
}

/// What a search found, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub matches: Vec<Match>,
    /// There are more than are listed.
    pub capped: bool,
}

/// Reads what the user typed: a regular expression, or the plain text where it is none; letter case counts where there
/// is an upper-case letter.
pub fn pattern(query: &str) -> Option<Regex> {
    if query.is_empty() {
        return None;
    }
    let build = |text: &str| RegexBuilder::new(text).case_insensitive(!case_matters(query)).size_limit(1 << 20).build();
    build(query).or_else(|_| build(&regex::escape(query))).ok()
}

fn case_matters(query: &str) -> bool {
    query.chars().any(char::is_uppercase)
}

/// Looks through numbered lines until there are no more, enough was found, or `canceled` says so.
pub fn lines<T: AsRef<str>>(
    lines: impl Iterator<Item = (usize, T)>,
    pattern: &Regex,
    canceled: &dyn Fn() -> bool,
) -> Found {
    let mut found = Found::default();
    for (done, (line, text)) in lines.enumerate() {
        if done % PATIENCE == 0 && canceled() {
            break;
        }
        for hit in pattern.find_iter(text.as_ref()).filter(|hit| !hit.is_empty()) {
            if found.matches.len() == MATCHES {
                found.capped = true;
                return found;
            }
            found.matches.push(Match { line, range: hit.range() });
        }
    }
    found
}

impl Found {
    /// The matches of one line.
    pub fn on(&self, line: usize) -> &[Match] {
        let start = self.matches.partition_point(|m| m.line < line);
        let end = self.matches.partition_point(|m| m.line <= line);
        self.matches.get(start..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_an_expression_or_plain_text_and_minds_upper_case_letters() {
        assert!(pattern("fo+").unwrap().is_match("a FOO"));
        assert!(!pattern("Foo").unwrap().is_match("foo"));
        assert!(pattern("fn (").unwrap().is_match("fn (x"));
        assert!(pattern("").is_none());
    }

    #[test]
    fn a_search_is_bounded_and_says_so() {
        let found = lines((0..9000).map(|i| (i, "aa")), &pattern("a").unwrap(), &|| false);
        assert_eq!(found.matches.len(), MATCHES);
        assert!(found.capped);
        assert_eq!(found.on(3).len(), 2);
        assert!(lines([(0, "a")].into_iter(), &pattern("a").unwrap(), &|| true).matches.is_empty());
    }
}
