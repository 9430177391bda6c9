//! What a trace needs beside being drawn: taking bytes from the store, and looking through all of it off the loop.

use crate::store::{Cancelled, Derive, Sink};
use crate::ui::search::{self, Found};
use crate::ui::trace::Trace;

impl Sink for Trace {
    fn push(&mut self, bytes: &[u8]) {
        Trace::push(self, bytes);
    }

    fn reset(&mut self) {
        Trace::reset(self);
    }

    fn held(&self) -> u64 {
        self.bytes_len()
    }
}

/// Lines with errors that are kept.
const ERRORS: usize = 10_000;

/// Looks for a text in a trace.
pub struct Search {
    /// Names the trace as far as it was known.
    pub of: String,
    pub trace: Trace,
    pub query: String,
}

/// The name of a search's result.
pub fn search_key(of: &str, query: &str) -> String {
    format!("trace search {of} {query}")
}

impl Derive for Search {
    type Output = Found;

    fn key(&self) -> String {
        search_key(&self.of, &self.query)
    }

    fn run(&self, cancelled: Cancelled<'_>) -> Found {
        search::pattern(&self.query).map(|pattern| self.trace.search(&pattern, cancelled)).unwrap_or_default()
    }
}

/// Looks for the lines of a trace that look like errors.
pub struct Errors {
    /// Names the trace as far as it was known.
    pub of: String,
    pub trace: Trace,
}

/// The lines that look like errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorLines {
    pub lines: Vec<usize>,
    /// The one that a person wants to see first.
    pub failure: Option<usize>,
}

/// The name of its result.
pub fn errors_key(of: &str) -> String {
    format!("trace errors {of}")
}

impl Derive for Errors {
    type Output = ErrorLines;

    fn key(&self) -> String {
        errors_key(&self.of)
    }

    fn run(&self, cancelled: Cancelled<'_>) -> ErrorLines {
        let mut lines = Vec::new();
        let mut from = 0;
        while let Some(line) = self.trace.next_error(from).filter(|_| lines.len() < ERRORS && !cancelled()) {
            // A line that goes on from another may be found again under the same number.
            if lines.last().is_none_or(|last| *last < line) {
                lines.push(line);
            }
            from = line.max(from) + 1;
        }
        ErrorLines { failure: failure(&self.trace, &lines), lines }
    }
}

/// The first error of the last part that has one; what the runner itself says at the end only where nothing else is.
fn failure(trace: &Trace, lines: &[usize]) -> Option<usize> {
    let verdict = |line: usize| trace.text(line).is_some_and(|text| text.contains("Job failed"));
    let own = |line: &&usize| !verdict(**line);
    let last = lines.iter().rev().take(8).find(own).or(lines.last()).copied()?;
    let section = |line: usize| {
        trace.sections().iter().rev().find(|s| s.line <= line && s.end.is_none_or(|end| line < end)).map(|s| s.line)
    };
    let within = section(last);
    lines.iter().copied().filter(|line| *line <= last).find(|line| section(*line) == within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failure_is_the_first_error_of_the_part_that_failed_last() {
        let mut trace = Trace::default();
        Trace::push(
            &mut trace,
            b"section_start:1:fetch\r\x1b[0Kfetch\nerror: mirror is slow\nsection_end:2:fetch\r\x1b[0K\n\
              section_start:3:script\r\x1b[0Kscript\nrunning\nthread 'x' panicked at src/a.rs\nerror: test failed\n\
              section_end:4:script\r\x1b[0K\nERROR: Job failed: exit code 1\n",
        );
        let found = Errors { of: String::new(), trace: trace.clone() }.run(&|| false);
        let text = |line: usize| trace.text(line).unwrap_or_default();
        assert_eq!(found.lines.len(), 4);
        assert_eq!(text(found.failure.unwrap()), "thread 'x' panicked at src/a.rs");
    }

    #[test]
    fn the_runner_s_verdict_is_shown_where_there_is_nothing_else() {
        let mut trace = Trace::default();
        Trace::push(&mut trace, b"working\nERROR: Job failed: timeout\n");
        assert_eq!(Errors { of: String::new(), trace }.run(&|| false).failure, Some(1));
    }
}
