//! Searching the text of all files, at the speed of a scan over their bytes.

use super::FileDiff;
use crate::ui::search::{self, MATCHES};
use regex::{Regex, RegexBuilder};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// A place that a search found: it stays the same when rows move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub file: usize,
    /// A line of the file; `None` for its name.
    pub line: Option<usize>,
    /// Bytes of its text.
    pub range: Range<usize>,
}

impl Hit {
    fn at(&self) -> (usize, Option<usize>) {
        (self.file, self.line)
    }
}

/// What a search found, from the first file on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub hits: Vec<Hit>,
    /// There are more than are listed.
    pub capped: bool,
}

impl Found {
    /// Returns what was found in one line, or in the name of a file.
    pub fn on(&self, file: usize, line: Option<usize>) -> &[Hit] {
        let start = self.before(file, line);
        let end = self.hits.partition_point(|hit| hit.at().cmp(&(file, line)) != Ordering::Greater);
        self.hits.get(start..end).unwrap_or_default()
    }

    /// Returns how many were found before a line, or before the name of a file.
    pub fn before(&self, file: usize, line: Option<usize>) -> usize {
        self.hits.partition_point(|hit| hit.at() < (file, line))
    }

    /// Returns how many were found in a file.
    pub fn count(&self, file: usize) -> usize {
        self.before(file + 1, None) - self.before(file, None)
    }

    fn take(&mut self, file: usize, line: Option<usize>, text: &str, pattern: &Regex) -> bool {
        for hit in pattern.find_iter(text).filter(|hit| !hit.is_empty()) {
            if self.hits.len() == MATCHES {
                self.capped = true;
                return false;
            }
            self.hits.push(Hit { file, line, range: hit.range() });
        }
        true
    }
}

/// Looks for what the user typed in the names and the lines of all files, until enough was found or `canceled` says so.
pub fn search(files: &[Arc<FileDiff>], query: &str, canceled: &dyn Fn() -> bool) -> Found {
    let mut found = Found::default();
    let Some(pattern) = search::pattern(query) else { return found };
    let scan = scanner(query, &pattern);
    for (at, file) in files.iter().enumerate() {
        if canceled() || !found.take(at, None, &file.title(), &pattern) {
            break;
        }
        let whole = match &scan {
            // What was brought into sight is no part of the diff's text.
            Some(scan) if file.blob.is_none() && in_order(file) => scan_file(&mut found, at, file, scan, &pattern),
            _ => file.lines.iter().enumerate().all(|(index, line)| {
                (index % 512 != 0 || !canceled()) && found.take(at, Some(index), file.text(line), &pattern)
            }),
        };
        if !whole {
            break;
        }
    }
    found
}

/// Returns whether the lines stand as they do in the diff's text: not where whitespace was left out, which pairs them
/// again.
fn in_order(file: &FileDiff) -> bool {
    file.lines.is_sorted_by_key(|line| line.start)
}

/// The pattern for the text of a whole diff; `None` if it asks for the start or end of a text, which a line is not
/// there.
fn scanner(query: &str, pattern: &Regex) -> Option<Regex> {
    if query.contains(['^', '$']) || query.contains("\\A") || query.contains("\\z") || pattern.is_match("") {
        return None;
    }
    RegexBuilder::new(pattern.as_str()).case_insensitive(!query.chars().any(char::is_uppercase)).build().ok()
}

/// Scans the diff's text as one, and looks closer where something is found; `false` where enough was found.
fn scan_file(found: &mut Found, at: usize, file: &FileDiff, scan: &Regex, pattern: &Regex) -> bool {
    let text = file.source.diff.as_str();
    let mut from = 0;
    while let Some(hit) = scan.find_at(text, from) {
        let begins = |line: &super::Line| line.start as usize;
        let index = file.lines.partition_point(|line| begins(line) <= hit.start() + 1);
        let line = index.checked_sub(1).and_then(|index| Some((index, file.lines.get(index)?)));
        if let Some((index, line)) = line
            && hit.start() <= begins(line) + line.len as usize
            && !found.take(at, Some(index), file.text(line), pattern)
        {
            return false;
        }
        // On to the next line.
        let rest = text.as_bytes().get(hit.start()..).unwrap_or_default();
        let Some(end) = memchr::memchr(b'\n', rest) else { break };
        from = hit.start() + end + 1;
    }
    true
}
