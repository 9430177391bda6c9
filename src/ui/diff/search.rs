//! Searching the text of all files, at the speed of a scan over their bytes.

use super::FileDiff;
use crate::search::{self, Literals, MAX_MATCHES};
use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// The number of files without a match between two checks for cancellation.
const CANCEL_CHECK_INTERVAL: usize = 64;

/// A match of a search, by file and line: it stays valid when files are folded, until lines are expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffMatch {
    pub file: usize,
    /// The index of a line of the file, or `None` for its name.
    pub line: Option<usize>,
    /// The matched bytes of the text.
    pub range: Range<usize>,
}

impl DiffMatch {
    fn at(&self) -> (usize, Option<usize>) {
        (self.file, self.line)
    }
}

/// The matches of a search, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffMatches {
    pub matches: Vec<DiffMatch>,
    /// Whether there are more matches than listed.
    pub capped: bool,
}

impl DiffMatches {
    /// Returns the matches in a line, or in the name of a file.
    pub fn on(&self, file: usize, line: Option<usize>) -> &[DiffMatch] {
        let start = self.before(file, line);
        let end = self.matches.partition_point(|hit| hit.at().cmp(&(file, line)) != Ordering::Greater);
        self.matches.get(start..end).unwrap_or_default()
    }

    /// Returns the number of matches before a line, or before the name of a file.
    pub fn before(&self, file: usize, line: Option<usize>) -> usize {
        self.matches.partition_point(|hit| hit.at() < (file, line))
    }

    /// Returns the number of matches in a file.
    pub fn count(&self, file: usize) -> usize {
        self.before(file + 1, None) - self.before(file, None)
    }

    /// Adds the matches in a text; returns `false` when there are too many.
    fn add_matches(&mut self, file: usize, line: Option<usize>, text: &str, pattern: &Regex) -> bool {
        for hit in pattern.find_iter(text).filter(|hit| !hit.is_empty()) {
            if self.matches.len() == MAX_MATCHES {
                self.capped = true;
                return false;
            }
            self.matches.push(DiffMatch { file, line, range: hit.range() });
        }
        true
    }
}

/// Searches the names and the lines of all files for a query, until the maximum number of matches is found or
/// `canceled` returns true.
pub fn search(files: &[Arc<FileDiff>], query: &str, canceled: &dyn Fn() -> bool) -> DiffMatches {
    let mut found = DiffMatches::default();
    let Some(pattern) = search::pattern(query) else { return found };
    let scan = scanner(query, &pattern);
    let any_case = !query.chars().any(char::is_uppercase);
    let parsed = ParserBuilder::new().case_insensitive(any_case).build().parse(pattern.as_str());
    let literals = parsed.ok().and_then(|parsed| Literals::of(&parsed));
    for (at, file) in files.iter().enumerate() {
        if literals.as_ref().is_some_and(|literals| !may_match(file, literals)) {
            // The check costs more than such a file.
            if at % CANCEL_CHECK_INTERVAL == 0 && canceled() {
                break;
            }
            continue;
        }
        if canceled() || !found.add_matches(at, None, &file.title(), &pattern) {
            break;
        }
        let whole = match &scan {
            // Expanded lines are not part of the diff's text.
            Some(scan) if file.blob.is_none() && in_order(file) => scan_file(&mut found, at, file, scan, &pattern),
            _ => file.lines.iter().enumerate().all(|(index, line)| {
                (index % 512 != 0 || !canceled()) && found.add_matches(at, Some(index), file.text(line), &pattern)
            }),
        };
        if !whole {
            break;
        }
    }
    found
}

/// Returns whether the name of a file or a line of it may have a match that begins with one of the literals.
fn may_match(file: &FileDiff, literals: &Literals) -> bool {
    let source = &file.source;
    // Expanded lines are not part of the diff's text, and the title of a renamed file has more than one path.
    file.blob.is_some()
        || source.old_path != source.new_path
        || literals.find(source.diff.as_bytes(), 0).is_some()
        || literals.find(source.new_path.as_bytes(), 0).is_some()
}

/// Returns whether the lines are in the order of the diff's text. They are not if whitespace changes are hidden, since
/// that pairs lines differently.
fn in_order(file: &FileDiff) -> bool {
    file.lines.is_sorted_by_key(|line| line.start)
}

/// Compiles the pattern for scanning the text of a whole diff. Returns `None` if it refers to the start or end of a
/// text, since lines are not separate texts there, or if it matches the empty text, which is everywhere.
fn scanner(query: &str, pattern: &Regex) -> Option<Regex> {
    if query.contains(['^', '$']) || query.contains("\\A") || query.contains("\\z") || pattern.is_match("") {
        return None;
    }
    RegexBuilder::new(pattern.as_str()).case_insensitive(!query.chars().any(char::is_uppercase)).build().ok()
}

/// Scans the diff's text as a whole and examines the lines with matches. Returns `false` when the maximum is reached.
fn scan_file(found: &mut DiffMatches, at: usize, file: &FileDiff, scan: &Regex, pattern: &Regex) -> bool {
    let text = file.source.diff.as_str();
    let mut from = 0;
    while let Some(hit) = scan.find_at(text, from) {
        // A line starts after its sign, which a match may include.
        let begins = |line: &super::DiffLine| line.start as usize;
        let index = file.lines.partition_point(|line| begins(line) <= hit.start() + 1);
        let line = index.checked_sub(1).and_then(|index| Some((index, file.lines.get(index)?)));
        if let Some((index, line)) = line
            && hit.start() <= begins(line) + line.len as usize
            && !found.add_matches(at, Some(index), file.text(line), pattern)
        {
            return false;
        }
        // Continues with the next line.
        let rest = text.as_bytes().get(hit.start()..).unwrap_or_default();
        let Some(end) = memchr::memchr(b'\n', rest) else { break };
        from = hit.start() + end + 1;
    }
    true
}
