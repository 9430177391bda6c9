//! The literals that the matches of an expression begin with. Text without any of them has no match, and finding them is
//! many times as fast as preparing the text for the expression.

use regex_automata::util::prefilter::Prefilter;
use regex_automata::{MatchKind, Span};
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::Extractor;

/// The maximum number of literals that are searched together.
const MAX_LITERALS: usize = 64;
/// The least number of bytes of a literal; shorter ones are found too often.
const MIN_BYTES: usize = 2;
/// The maximum number of bytes by which several literals are told apart.
const MAX_BYTES: usize = 4;

/// Literals, one of which each match begins with.
#[derive(Clone, Debug)]
pub struct Literals(Prefilter);

impl Literals {
    /// Returns the literals of an expression; `None` if it has none, or too many.
    pub fn of(hir: &Hir) -> Option<Literals> {
        let all = prefixes(hir)?;
        match all.as_slice() {
            [one] => build(vec![one.clone()]),
            _ => shortened(&|len| all.iter().map(|literal| literal.iter().copied().take(len).collect()).collect()),
        }
    }

    /// Returns what the literals can look like in terminal output, where escape sequences may lie between their letters.
    /// Only visible ASCII characters count: text with others must be searched in any case.
    pub fn among_escapes(hir: &Hir) -> Option<Literals> {
        let all = prefixes(hir)?;
        shortened(&|len| {
            let mut out = Vec::new();
            for literal in all.iter().filter(|literal| literal.is_ascii()) {
                let visible: Vec<u8> = literal.iter().copied().take_while(u8::is_ascii_graphic).take(len).collect();
                out.extend((1..visible.len()).map(|end| [visible.get(..end).unwrap_or_default(), b"\x1b"].concat()));
                out.push(visible);
            }
            out
        })
    }

    /// Returns literals that are given; `None` if there are none, or too many.
    pub fn any(all: impl Iterator<Item = &'static str>) -> Option<Literals> {
        build(all.map(|literal| literal.as_bytes().to_vec()).collect())
    }

    /// Returns the position of the first literal in `text` at or after `from`.
    pub fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let span = Span { start: from.min(text.len()), end: text.len() };
        self.0.find(text, span).map(|found| found.start)
    }
}

fn prefixes(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let found = Extractor::new().extract(hir);
    Some(found.literals()?.iter().map(|literal| literal.as_bytes().to_vec()).collect())
}

/// Builds the literals that `make` returns for a length in bytes, which is as large as their number allows.
fn shortened(make: &dyn Fn(usize) -> Vec<Vec<u8>>) -> Option<Literals> {
    (MIN_BYTES..=MAX_BYTES).rev().find_map(|len| build(make(len)))
}

fn build(mut literals: Vec<Vec<u8>>) -> Option<Literals> {
    // The engine looks for the low halves of the first bytes, in groups of literals, in this order. In the order of the
    // bytes, 32 literals take twice the time.
    literals.sort_by_cached_key(|literal| {
        (literal.iter().map(|byte| byte & 15).take(4).collect::<Vec<u8>>(), literal.clone())
    });
    literals.dedup();
    let is_useful =
        (1..=MAX_LITERALS).contains(&literals.len()) && literals.iter().all(|literal| literal.len() >= MIN_BYTES);
    let built = is_useful.then(|| Prefilter::new(MatchKind::LeftmostFirst, &literals));
    built.flatten().map(Literals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::ParserBuilder;

    fn hir(query: &str) -> Hir {
        ParserBuilder::new().case_insensitive(true).build().parse(query).unwrap()
    }

    #[test]
    fn a_match_begins_with_a_literal() {
        for query in
            ["warn", "warn\\w*: .* 9", "^warn|fail", "three_hundred_and_something", "\\bskip", "(?-i)Exactly this"]
        {
            let literals = Literals::of(&hir(query)).unwrap_or_else(|| panic!("{query}"));
            for text in ["a WARNing: x 9", "fails", "Three_Hundred_and_something", "ſKip", "Exactly this"] {
                let pattern = regex::RegexBuilder::new(query).case_insensitive(true).build().unwrap();
                let hit = pattern.find(text).map(|hit| hit.start());
                assert!(hit.is_none() || literals.find(text.as_bytes(), 0).is_some(), "{query} in {text}");
            }
            assert_eq!(literals.find(b"nothing of the kind", 0), None, "{query}");
        }
    }

    #[test]
    fn an_expression_that_can_begin_with_anything_has_no_literals() {
        for query in ["", "x*", "\\d+ errors", ".*error", "a", "[^x]y", "^$", "a|longer"] {
            assert!(Literals::of(&hir(query)).is_none(), "{query}");
            assert!(Literals::among_escapes(&hir(query)).is_none(), "{query}");
        }
        assert!(Literals::among_escapes(&hir("a b")).is_none(), "too little before the blank");
    }

    #[test]
    fn escape_sequences_may_lie_between_letters() {
        let literals = Literals::among_escapes(&hir("warning")).unwrap();
        for text in ["WARNING", "w\x1b[1marning", "wa\x1b[1mrning", "war\x1b[1mning", "warn\x1b[1ming"] {
            assert_eq!(literals.find(text.as_bytes(), 0), Some(0), "{text:?}");
        }
        assert_eq!(literals.find(b"w arning \x1b[0m", 0), None);
    }
}
