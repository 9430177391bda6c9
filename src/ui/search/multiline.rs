//! A regular expression for searching the text of many lines at once. It finds the same matches as a search of each
//! line, at the full speed of the regex engine.

use super::{Literals, case_matters};
use regex_automata::meta::{self, Regex};
use regex_automata::{Anchored, Input};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange};
use regex_syntax::hir::{Hir, HirKind, Look, Repetition};
use std::ops::Range;

/// The maximum size in bytes of the automaton of a query, the same as for the expression of one line.
const MAX_AUTOMATON_BYTES: usize = 1 << 20;

/// An expression whose matches lie within single lines of a multi-line text.
#[derive(Clone, Debug)]
pub struct MultilineRegex {
    regex: Regex,
    literals: Option<Literals>,
}

impl MultilineRegex {
    /// Compiles a query: a regular expression, or plain text if it is not a valid one, as [`super::pattern`] parses it.
    pub fn query(query: &str) -> Option<MultilineRegex> {
        if query.is_empty() {
            return None;
        }
        let build = |text: &str| MultilineRegex::new(text, !case_matters(query), MAX_AUTOMATON_BYTES);
        build(query).or_else(|| build(&regex::escape(query)))
    }

    /// Compiles an expression whose automaton takes at most `size` bytes.
    pub fn new(expression: &str, any_case: bool, size: usize) -> Option<MultilineRegex> {
        let hir = ParserBuilder::new().case_insensitive(any_case).build().parse(expression).ok()?;
        let config = meta::Config::new().nfa_size_limit(Some(size));
        let hir = within_lines(hir);
        let regex = meta::Builder::new().configure(config).build_from_hir(&hir).ok()?;
        Some(MultilineRegex { regex, literals: Literals::among_escapes(&hir) })
    }

    /// Returns what every match begins with in terminal output; `None` if that is unknown.
    pub fn literals(&self) -> Option<&Literals> {
        self.literals.as_ref()
    }

    /// Returns the non-empty matches. Each line of `text` ends with a line feed, including the last one.
    pub fn matches<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        self.regex.find_iter(text).map(|hit| hit.range()).filter(|range| !range.is_empty())
    }

    /// Returns the position of the first match in `text` at or after `from`, which is the start of a line. The match
    /// may be empty.
    pub fn first(&self, text: &[u8], from: usize) -> Option<usize> {
        let input = Input::new(text).range(from..).anchored(Anchored::No);
        self.regex.search(&input).map(|hit| hit.start()).filter(|at| *at < text.len())
    }
}

/// Rewrites an expression so that it never matches a line feed and its text anchors match at the ends of each line.
fn within_lines(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(Look::Start) => Hir::look(Look::StartLF),
        HirKind::Look(Look::End) => Hir::look(Look::EndLF),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(Repetition { min, max, greedy, sub }) => {
            Hir::repetition(Repetition { min, max, greedy, sub: Box::new(within_lines(*sub)) })
        }
        HirKind::Capture(capture) => within_lines(*capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(within_lines).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(within_lines).collect()),
    }
}
