//! Work on a trace other than drawing: searches and disk access off the event loop.

use crate::domain::log_line;
use crate::parts::ci::trace::spill_file;
use crate::store::{Canceled, Derive};
use crate::ui::search::{Matches, MultilineRegex};
use crate::ui::trace::{Comparison, MatchingLines, Patterns, Section, Trace};
use std::sync::{Arc, Mutex};

/// The maximum number of lines with errors, or with warnings, that are kept.
const MAX_ERROR_LINES: usize = 10_000;
/// The maximum size of the text for the pager, in bytes.
const MAX_PAGER_BYTES: usize = 256 << 20;

/// The approximate size of a difference between traces, in bytes.
const HUNK_BYTES: usize = 64;

/// A result, and the number of lines up to which it remains valid when the trace grows.
pub struct StablePrefix<T> {
    pub result: T,
    pub settled: usize,
}

/// A computation that searches a trace for a query.
pub struct SearchTrace {
    /// The identity of the part of the trace that was known at the start.
    pub identity: String,
    pub trace: Trace,
    pub query: String,
    /// The result for an earlier, shorter part.
    pub before: Option<Arc<StablePrefix<Matches>>>,
}

/// Returns the key of a search result.
pub fn search_key(identity: &str, query: &str) -> String {
    format!("trace search {identity} {query}")
}

impl Derive for SearchTrace {
    type Output = StablePrefix<Matches>;

    fn key(&self) -> String {
        search_key(&self.identity, &self.query)
    }

    fn run(&self, canceled: Canceled<'_>) -> StablePrefix<Matches> {
        let (from, mut known) = self.before.as_ref().map_or((0, Matches::default()), |b| (b.settled, b.result.clone()));
        known.matches.truncate(known.matches.partition_point(|hit| hit.line < from));
        let pattern = MultilineRegex::query(&self.query);
        let result = pattern.map(|pattern| self.trace.search(&pattern, from, known, canceled)).unwrap_or_default();
        StablePrefix { result, settled: self.trace.final_lines() }
    }
}

/// A computation that finds the matching lines.
pub struct KeepMatches {
    /// The identity of the part of the trace that was known at the start.
    pub identity: String,
    pub trace: Trace,
    pub query: String,
    pub before: Option<Arc<StablePrefix<Vec<u32>>>>,
}

/// Returns the key of the matching lines.
pub fn only_key(identity: &str, query: &str) -> String {
    format!("trace lines {identity} {query}")
}

impl Derive for KeepMatches {
    type Output = StablePrefix<Vec<u32>>;

    fn key(&self) -> String {
        only_key(&self.identity, &self.query)
    }

    fn run(&self, canceled: Canceled<'_>) -> StablePrefix<Vec<u32>> {
        let (from, mut known) = self.before.as_ref().map_or((0, Vec::new()), |b| (b.settled, b.result.clone()));
        known.truncate(known.partition_point(|line| (*line as usize) < from));
        let pattern = MultilineRegex::query(&self.query);
        let result = pattern.map(|pattern| self.trace.filter(&pattern, from, known, canceled)).unwrap_or_default();
        StablePrefix { result, settled: self.trace.final_lines() }
    }
}

/// A computation that finds the lines that look like errors or warnings.
pub struct FindErrors {
    /// The identity of the part of the trace that was known at the start.
    pub identity: String,
    pub trace: Trace,
    pub patterns: Patterns,
    pub warnings: bool,
}

/// The lines that look like errors or warnings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorLines {
    pub lines: Vec<usize>,
    /// The lines that look like consequences of those.
    pub consequences: Vec<usize>,
    /// Whether they are only hints, which are no errors if the job passed.
    pub are_hints: bool,
    /// The line to show first for a failed job: the reason, as far as it is known.
    pub failure: Option<usize>,
    /// The last line of the job's own output, if no line looks like an error.
    pub last_output: Option<usize>,
}

/// Returns the key of the lines with errors or warnings.
pub fn errors_key(identity: &str, warnings: bool) -> String {
    format!("trace {} {identity}", if warnings { "warnings" } else { "errors" })
}

impl Derive for FindErrors {
    type Output = ErrorLines;

    fn key(&self) -> String {
        errors_key(&self.identity, self.warnings)
    }

    fn run(&self, canceled: Canceled<'_>) -> ErrorLines {
        let pattern = if self.warnings { &self.patterns.warnings } else { &self.patterns.errors };
        let MatchingLines { mut lines, hints: mut consequences, are_hints } =
            self.trace.matching_lines(pattern, MAX_ERROR_LINES, canceled);
        // The runner's own message is a reason only if there is no other.
        let verdict =
            lines.last().and_then(|line| self.trace.read_text(*line)).filter(|text| log_line::is_verdict(text));
        if verdict.is_some_and(|text| lines.len() > 1 || !log_line::gives_reason(&text)) {
            lines.pop();
        }
        let text_of = |line: &usize| self.trace.read_text(*line);
        consequences.pop_if(|line| text_of(line).is_some_and(|text| log_line::is_verdict(&text)));
        let failure = failure(&self.trace, &lines);
        let last_output = if failure.is_none() { last_output(&self.trace) } else { None };
        ErrorLines { lines, consequences, are_hints, failure, last_output }
    }
}

/// The sections in which the runner works after the script of a job that failed.
const AFTER_SCRIPT: &[&str] =
    &["after_script", "archive_cache_on_failure", "upload_artifacts_on_failure", "cleanup_file_variables"];

/// The maximum number of lines at the end of a trace that are searched for the job's own output.
const MAX_END_LINES: usize = 1_000;

/// Returns the sections around a line, innermost first.
fn sections_around(trace: &Trace, line: usize) -> impl Iterator<Item = &Section> {
    let contains = move |section: &&Section| section.line <= line && section.end.is_none_or(|end| line < end);
    trace.sections().iter().rev().filter(contains)
}

fn is_after_script(trace: &Trace, line: usize) -> bool {
    sections_around(trace, line).any(|section| AFTER_SCRIPT.contains(&section.name.as_str()))
}

/// Returns the first error of the last section that has one. What follows the script counts only if nothing else does.
fn failure(trace: &Trace, lines: &[usize]) -> Option<usize> {
    let last = lines.iter().rev().find(|line| !is_after_script(trace, **line)).or(lines.last()).copied()?;
    let section = |line: usize| sections_around(trace, line).next().map(|section| section.line);
    let within = section(last);
    lines.iter().copied().filter(|line| *line <= last).find(|line| section(*line) == within)
}

/// Returns the last line that the script of a job wrote, before the runner's own messages.
fn last_output(trace: &Trace) -> Option<usize> {
    let is_output = |line: &usize| {
        let is_heading = trace.sections().binary_search_by_key(line, |section| section.line).is_ok();
        let text = trace.read_text(*line).unwrap_or_default();
        !is_heading && !text.trim().is_empty() && !log_line::is_verdict(&text) && !is_after_script(trace, *line)
    };
    (0..trace.len_lines()).rev().take(MAX_END_LINES).find(is_output)
}

/// A computation that compares the trace of a failed job with that of a run that succeeded.
pub struct Compare {
    /// The identity of both traces.
    pub identity: String,
    pub failed: Trace,
    pub passed: Trace,
    /// The names that differ between the runs: refs and commits.
    pub names: Vec<String>,
}

/// Returns the key of the comparison of two traces.
pub fn compare_key(failed: &str, passed: &str) -> String {
    format!("trace comparison {failed} {passed}")
}

impl Derive for Compare {
    type Output = Comparison;

    fn key(&self) -> String {
        self.identity.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Comparison {
        self.failed.compare(&self.passed, &self.names, canceled)
    }

    fn weight(&self, result: &Comparison) -> usize {
        result.hunks.len().saturating_mul(HUNK_BYTES).saturating_add(result.missing_bytes())
    }
}

/// A computation that moves the parts of a trace that exceed the memory limit to disk.
pub struct Spill {
    /// The name of the trace, whatever its length, so that spilling continues while it grows.
    pub name: String,
    pub trace: Trace,
    pub keep: u64,
}

impl Derive for Spill {
    type Output = ();

    fn key(&self) -> String {
        format!("trace put away {}\t{}", self.name, self.trace.spill_revision())
    }

    fn run(&self, _canceled: Canceled<'_>) {
        self.trace.spill(self.keep, spill_file::create);
    }
}

/// A computation that reads the visible parts back from disk.
pub struct ReadBack {
    pub name: String,
    pub trace: Trace,
    pub blocks: Vec<usize>,
}

impl Derive for ReadBack {
    type Output = ();

    fn key(&self) -> String {
        format!("trace window {}\t{:?} {}", self.name, self.blocks, self.trace.spill_revision())
    }

    fn run(&self, _canceled: Canceled<'_>) {
        self.trace.read_back(&self.blocks);
    }
}

/// A computation that returns the trace as plain text for the pager.
pub struct PlainText {
    pub identity: String,
    pub trace: Trace,
    /// The number of requests for the text, because each text is moved out of the store and has to be computed again.
    pub generation: usize,
}

/// Returns the key of the plain text.
pub fn plain_key(identity: &str, generation: usize) -> String {
    format!("trace text {identity} {generation}")
}

impl Derive for PlainText {
    /// The pager takes the text out, because it may be large and would otherwise stay in the store.
    type Output = Mutex<Option<String>>;

    fn key(&self) -> String {
        plain_key(&self.identity, self.generation)
    }

    fn memory(&self) -> usize {
        2 * usize::try_from(self.trace.bytes_len()).unwrap_or(usize::MAX).min(MAX_PAGER_BYTES)
    }

    fn run(&self, canceled: Canceled<'_>) -> Mutex<Option<String>> {
        let (mut text, whole) = self.trace.plain(MAX_PAGER_BYTES, canceled);
        if !whole {
            text.push_str("\n(truncated; save the trace to get all of it)\n");
        }
        Mutex::new(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_errors(trace: &Trace) -> ErrorLines {
        let patterns = Patterns::default();
        FindErrors { identity: String::new(), trace: trace.clone(), patterns, warnings: false }.run(&|| false)
    }

    #[test]
    fn the_failure_is_the_first_error_of_the_last_section_with_errors() {
        let mut trace = Trace::default();
        Trace::push(
            &mut trace,
            b"section_start:1:fetch\r\x1b[0Kfetch\nerror: mirror is slow\nsection_end:2:fetch\r\x1b[0K\n\
              section_start:3:script\r\x1b[0Kscript\nrunning\nthread 'x' panicked at src/a.rs\nerror: test failed\n\
              section_end:4:script\r\x1b[0K\nERROR: Job failed: exit code 1\n",
        );
        let found = find_errors(&trace);
        let text = |line: usize| trace.text(line).unwrap_or_default();
        assert_eq!(found.lines.len(), 3);
        assert_eq!(text(found.failure.unwrap()), "thread 'x' panicked at src/a.rs");
    }

    #[test]
    fn errors_after_the_script_are_the_failure_only_if_there_is_no_other() {
        let after = "section_start:3:after_script\r\x1b[0KRunning after_script\ncat: report.xml: No such file or directory\n\
                     section_end:4:after_script\r\x1b[0K\nERROR: Job failed: exit code 1\n";
        let failure = |script: &str| {
            let mut trace = Trace::default();
            let script =
                format!("section_start:1:step_script\r\x1b[0Kscript\n{script}\nsection_end:2:step_script\r\x1b[0K\n");
            Trace::push(&mut trace, (script + after).as_bytes());
            let found = find_errors(&trace);
            found.failure.or(found.last_output).and_then(|line| trace.text(line)).unwrap_or_default()
        };
        assert_eq!(failure("error: no rows"), "error: no rows");
        assert_eq!(failure("odd output"), "cat: report.xml: No such file or directory");
    }

    #[test]
    fn the_runner_s_message_is_the_failure_if_there_is_no_other() {
        let mut trace = Trace::default();
        Trace::push(&mut trace, b"working\nERROR: Job failed: timeout\n");
        assert_eq!(find_errors(&trace).failure, Some(1));
        // It says nothing if it only tells how the script ended.
        let mut trace = Trace::default();
        Trace::push(
            &mut trace,
            b"section_start:1:step_script\r\x1b[0Kscript\nworking\nodd output\nsection_end:2:step_script\r\x1b[0K\n\
              section_start:2:cleanup_file_variables\r\x1b[0KCleaning up\nsection_end:2:cleanup_file_variables\r\x1b[0K\n\
              \x1b[31;1mERROR: Job failed: exit code 1\n\x1b[0;m\n",
        );
        let found = find_errors(&trace);
        assert_eq!((found.lines.as_slice(), found.failure, found.last_output), (&[][..], None, Some(2)));
    }

    #[test]
    fn a_continued_search_finds_the_same_as_a_full_one() {
        let mut trace = Trace::default();
        let search = |trace: &Trace, before| {
            SearchTrace { identity: String::new(), trace: trace.clone(), query: "row".into(), before }.run(&|| false)
        };
        let only = |trace: &Trace, before| {
            KeepMatches { identity: String::new(), trace: trace.clone(), query: "row".into(), before }.run(&|| false)
        };
        let (mut found, mut lines) = (search(&trace, None), only(&trace, None));
        for piece in ["a row\nno", "thing\nro", "w of rows\n", "row"] {
            Trace::push(&mut trace, piece.as_bytes());
            found = search(&trace, Some(Arc::new(found)));
            lines = only(&trace, Some(Arc::new(lines)));
            assert_eq!(found.result, search(&trace, None).result, "{piece}");
            assert_eq!(lines.result, only(&trace, None).result, "{piece}");
        }
        assert_eq!((found.result.matches.len(), lines.result.as_slice()), (4, &[0, 2, 3][..]));
    }

    #[test]
    fn spilled_blocks_are_searched_and_read_back() {
        let mut trace = Trace::default();
        for line in 0..120_000 {
            Trace::push(
                &mut trace,
                format!("\x1b[3{}mline {line} of many, each as long as this one\n", line % 8).as_bytes(),
            );
        }
        let whole = trace.clone();
        // Two computations at the same time do not store a block twice.
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| trace.spill(1 << 20, spill_file::create));
            }
        });
        assert!(trace.disk_error().is_none() && !trace.exceeds(1 << 20));
        assert_eq!(trace.text(50_000), None, "it is on disk");
        let away = trace.spilled_blocks(50_000..50_060);
        assert_eq!(away.len(), 1);
        trace.read_back(&away);
        assert!(trace.text(50_000).unwrap().starts_with("line 50000 of many"));
        let find = |query: &str| {
            let query = query.to_owned();
            SearchTrace { identity: String::new(), trace: whole.clone(), query, before: None }.run(&|| false).result
        };
        assert_eq!(find("line 77777 ").matches.first().map(|hit| hit.line), Some(77_777));
        // Reading a lot keeps only a few blocks in memory.
        trace.read_back(&trace.spilled_blocks(0..120_000));
        assert!(trace.spilled_blocks(0..120_000).len() < 10);
    }
}
