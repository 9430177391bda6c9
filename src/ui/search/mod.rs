//! Searching in viewers: parsing the query and collecting a limited number of matches.

mod literals;
mod multiline;

pub use literals::Literals;
pub use multiline::MultilineRegex;

use regex::{Regex, RegexBuilder};
use std::ops::Range;

/// Maximum number of matches that a search returns.
pub const MAX_MATCHES: usize = 10_000;
/// Number of lines between two checks for cancellation.
const CANCEL_CHECK_INTERVAL: usize = 256;

/// A match of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The line or row, counted from 0.
    pub line: usize,
    /// The matched bytes of the line.
    pub range: Range<usize>,
}

/// The matches of a search, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    pub matches: Vec<Match>,
    /// Whether there are more matches than listed.
    pub capped: bool,
}

/// Parses a query: a regular expression, or plain text if it is not a valid one. The search is case-sensitive if the
/// query contains an upper-case letter.
pub fn pattern(query: &str) -> Option<Regex> {
    if query.is_empty() {
        return None;
    }
    build(query, query).or_else(|_| build(&regex::escape(query), query)).ok()
}

/// Returns whether a query is a valid regular expression.
pub fn is_expression(query: &str) -> bool {
    build(query, query).is_ok()
}

fn build(expression: &str, query: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(expression).case_insensitive(!case_matters(query)).size_limit(1 << 20).build()
}

fn case_matters(query: &str) -> bool {
    query.chars().any(char::is_uppercase)
}

/// Searches numbered lines until they end, [`MAX_MATCHES`] is reached, or `canceled` returns true.
pub fn lines<T: AsRef<str>>(
    lines: impl Iterator<Item = (usize, T)>,
    pattern: &Regex,
    canceled: &dyn Fn() -> bool,
) -> Matches {
    let mut found = Matches::default();
    for (done, (line, text)) in lines.enumerate() {
        if done % CANCEL_CHECK_INTERVAL == 0 && canceled() {
            break;
        }
        for hit in pattern.find_iter(text.as_ref()).filter(|hit| !hit.is_empty()) {
            if found.matches.len() == MAX_MATCHES {
                found.capped = true;
                return found;
            }
            found.matches.push(Match { line, range: hit.range() });
        }
    }
    found
}

impl Matches {
    /// Returns the index of the match after the cursor, or before it, around the end: `current` is the match gone to
    /// last, of which there may be several in the line of the cursor.
    pub fn step(&self, line: usize, current: Option<usize>, forward: bool) -> Option<usize> {
        let count = self.matches.len();
        let on_it = current.filter(|at| self.matches.get(*at).is_some_and(|hit| hit.line == line));
        let next = match (on_it, forward) {
            (Some(at), true) => at + 1,
            (Some(at), false) => at + count - 1,
            (None, true) => self.matches.partition_point(|hit| hit.line <= line),
            (None, false) => (self.matches.partition_point(|hit| hit.line < line) + count).saturating_sub(1),
        };
        next.checked_rem(count)
    }

    /// Returns the matches on one line.
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
    fn a_query_is_a_pattern_or_text_with_smart_case() {
        assert!(pattern("fo+").unwrap().is_match("a FOO"));
        assert!(!pattern("Foo").unwrap().is_match("foo"));
        assert!(pattern("fn (").unwrap().is_match("fn (x"));
        assert!(pattern("").is_none());
    }

    #[test]
    fn a_bounded_search_is_marked() {
        let found = lines((0..9000).map(|i| (i, "aa")), &pattern("a").unwrap(), &|| false);
        assert_eq!(found.matches.len(), MAX_MATCHES);
        assert!(found.capped);
        assert_eq!(found.on(3).len(), 2);
        assert!(lines([(0, "a")].into_iter(), &pattern("a").unwrap(), &|| true).matches.is_empty());
    }
}
