//! The comparison of the trace of a failed job with that of a run that succeeded. Only hashes of lines are kept, and
//! ranges of lines that the other trace lacks, so traces of any size are compared in bounded memory.

use super::{Section, Trace};
use crate::text;
use domain::log_line::{self, Normalizer};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// The maximum number of different lines of the other trace that are known: about 72 MB, and as much again for a moment
/// while the table grows.
const MAX_KNOWN: usize = 3_600_000;
/// The place of a line of the other trace that the trace lacks.
const UNSEEN: u32 = u32::MAX;
/// The maximum number of different lines that name problems, which are counted.
const MAX_COUNTED: usize = 100_000;
/// The maximum number of lines in a comparison that differ.
const MAX_NEW_LINES: usize = 200_000;
/// The maximum size of the texts of missing lines that are kept, and that of each, in bytes.
const MAX_MISSING_BYTES: usize = 1 << 20;
const MAX_MISSING_LINE: usize = 2_000;
/// Of at most this many new lines, it is not told that they replace as many others or fewer.
const MAX_REPLACED: usize = 3;
/// Hunks with at most this many equal lines between them are one.
const MAX_GAP: u32 = 3;
/// If the first problem of a hunk is further from its start, the start is of less interest.
const MAX_WAY: u32 = 40;
/// The number of lines shown before such a problem.
const BEFORE_PROBLEM: u32 = 5;
/// The sections in which the runner executes the user's script.
const SCRIPTS: &[&str] = &["step_script", "build_script"];

/// Lines that differ, with few equal ones between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewLines {
    pub lines: Range<u32>,
    /// The equal lines among them, in order.
    equal: Vec<u32>,
    /// The first line that names a problem.
    problem: Option<u32>,
    /// Whether that is only the runner's own message.
    is_verdict: bool,
}

impl NewLines {
    /// Creates consecutive lines that differ.
    pub fn of(lines: Range<u32>) -> NewLines {
        NewLines { lines, ..NewLines::default() }
    }
}

/// Lines that only the other trace has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// The line before which they are missing.
    pub line: u32,
    pub count: u32,
    /// The first of them, as far as there is room for all.
    pub texts: Vec<String>,
}

impl Missing {
    fn add(&mut self, other: Missing) {
        // Without a gap: after a text that is not known, no other is.
        if self.texts.len() == self.count as usize {
            self.texts.extend(other.texts);
        }
        self.count = self.count.saturating_add(other.count);
    }
}

/// The reason why a comparison is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutReason {
    /// The other trace has too many different lines: lines that count as new may be among the rest of them.
    OtherTooLong,
    /// Too many lines differ: those from this line on were not compared.
    From(u32),
}

impl CutReason {
    /// Returns the reason in words.
    pub fn words(self) -> String {
        match self {
            CutReason::OtherTooLong => format!(
                "The last success has more than {} different lines: lines marked as new may be in its rest.",
                text::count(MAX_KNOWN as u64)
            ),
            CutReason::From(_) => format!(
                "More than {} lines are new: what follows them was not compared.",
                text::count(MAX_NEW_LINES as u64)
            ),
        }
    }
}

/// The lines of a trace that another trace lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The differences, in order.
    pub hunks: Vec<NewLines>,
    /// The number of lines that differ. Counted once: there may be many hunks, and each frame shows it.
    pub new_lines: usize,
    /// The lines that only the other trace has, in order.
    pub missing: Vec<Missing>,
    /// The line to show first.
    pub first: Option<u32>,
    /// The reason why not all lines were compared.
    pub cut: Option<CutReason>,
}

impl Comparison {
    /// Returns whether a line differs.
    pub fn is_new(&self, line: u32) -> bool {
        let at = self.hunks.partition_point(|hunk| hunk.lines.end <= line);
        let hunk = self.hunks.get(at).filter(|hunk| hunk.lines.contains(&line));
        hunk.is_some_and(|hunk| hunk.equal.binary_search(&line).is_err())
    }

    /// Returns whether a line was compared at all.
    pub fn is_compared(&self, line: u32) -> bool {
        !matches!(self.cut, Some(CutReason::From(from)) if line >= from)
    }

    /// Returns the index of the lines of the other trace that are missing before a line.
    pub fn missing_before(&self, line: u32) -> Option<usize> {
        self.missing.binary_search_by_key(&line, |missing| missing.line).ok()
    }

    /// Returns whether a difference ends before a line.
    pub fn ends_hunk(&self, line: u32) -> bool {
        self.hunks.binary_search_by_key(&line, |hunk| hunk.lines.end).is_ok()
    }

    /// Returns the size of what it keeps besides the hunks, in bytes.
    pub fn missing_bytes(&self) -> usize {
        let texts = self.missing.iter().flat_map(|missing| &missing.texts).map(|text| text.len() + size_of::<String>());
        texts.sum::<usize>() + self.missing.len() * size_of::<Missing>()
    }

    /// Moves the missing lines within a hunk to its end: they were replaced by its lines.
    fn gather_missing(&mut self) {
        let mut gathered: Vec<Missing> = Vec::new();
        for mut missing in std::mem::take(&mut self.missing) {
            let at = self.hunks.partition_point(|hunk| hunk.lines.end < missing.line);
            let within = self.hunks.get(at).filter(|hunk| hunk.lines.start <= missing.line);
            missing.line = within.map_or(missing.line, |hunk| hunk.lines.end);
            match gathered.last_mut().filter(|last| last.line == missing.line) {
                Some(known) => known.add(missing),
                None => gathered.push(missing),
            }
        }
        gathered.retain(|missing| {
            let at = self.hunks.partition_point(|hunk| hunk.lines.end < missing.line);
            let hunk = self.hunks.get(at).filter(|hunk| hunk.lines.end == missing.line);
            let new = hunk.map_or(0, |hunk| hunk.lines.len().saturating_sub(hunk.equal.len()));
            new > MAX_REPLACED || missing.count as usize > new
        });
        self.missing = gathered;
    }
}

/// The scope of the lines from a line on: a hash of the name of the section that contains them.
struct Scope {
    from: usize,
    hash: u64,
}

/// Returns the hash of the name of a section; numbers in it may differ between runs.
fn scope_of(section: &Section, normalizer: &mut Normalizer) -> u64 {
    normalizer.fingerprint(0, &section.name.replace('_', " ")).map_or_else(
        || {
            let mut hasher = DefaultHasher::new();
            section.name.hash(&mut hasher);
            hasher.finish()
        },
        |name| name.hash,
    )
}

/// Returns the scopes of a trace in order. Sections that are not in both traces belong to the scope around them.
fn scopes(trace: &Trace, shared: &HashSet<u64>, normalizer: &mut Normalizer) -> Vec<Scope> {
    let mut scopes = vec![Scope { from: 0, hash: 0 }];
    let mut open: Vec<(usize, u64)> = Vec::new();
    for section in trace.sections() {
        while let Some((end, _)) = open.last().copied().filter(|(end, _)| *end <= section.line) {
            open.pop();
            scopes.push(Scope { from: end, hash: open.last().map_or(0, |(_, hash)| *hash) });
        }
        let around = open.last().map_or(0, |(_, hash)| *hash);
        let hash = Some(scope_of(section, normalizer)).filter(|hash| shared.contains(hash)).unwrap_or(around);
        scopes.push(Scope { from: section.line, hash });
        open.push((section.end.unwrap_or(usize::MAX), hash));
    }
    while let Some((end, _)) = open.pop() {
        scopes.push(Scope { from: end, hash: open.last().map_or(0, |(_, hash)| *hash) });
    }
    scopes
}

/// Follows the scopes while lines are visited in order.
struct ScopeCursor {
    scopes: Vec<Scope>,
    at: usize,
}

impl ScopeCursor {
    fn hash(&mut self, line: usize) -> u64 {
        while self.scopes.get(self.at + 1).is_some_and(|next| next.from <= line) {
            self.at += 1;
        }
        self.scopes.get(self.at).map_or(0, |scope| scope.hash)
    }
}

/// The lines of the other trace.
#[derive(Default)]
struct Known {
    /// The first line of the trace that is the same, by hash.
    lines: HashMap<u64, u32>,
    /// The number of times that a line occurs, if it names a problem.
    problems: HashMap<u64, u32>,
    /// The words of progress that occur, as bits.
    progress: u64,
    is_cut: bool,
}

impl Known {
    fn add(&mut self, scope: u64, line: &str, normalizer: &mut Normalizer) {
        let Some(found) = normalizer.fingerprint(scope, line) else { return };
        if let Some(word) = found.progress {
            self.progress |= 1_u64.checked_shl(word.into()).unwrap_or_default();
        }
        if self.lines.len() >= MAX_KNOWN {
            self.is_cut = true;
            return;
        }
        self.lines.insert(found.hash, UNSEEN);
        if self.problems.len() < MAX_COUNTED && log_line::names_problem(line) {
            *self.problems.entry(found.hash).or_default() += 1;
        }
    }

    /// Returns whether the line `at` is one that the other trace lacks; `None` if it has no words. A problem that occurs
    /// more often than there is new.
    fn lacks(&mut self, scope: u64, (at, line): (u32, &str), normalizer: &mut Normalizer) -> Option<bool> {
        let found = normalizer.fingerprint(scope, line)?;
        let Some(first) = self.lines.get_mut(&found.hash) else {
            // The other run had it cached.
            let is_cold = found.progress.is_some_and(|word| self.progress & (1_u64 << word.min(63)) == 0);
            return Some(!is_cold || log_line::names_problem(line));
        };
        *first = at.min(*first);
        Some(match self.problems.get_mut(&found.hash) {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        })
    }
}

impl Known {
    /// Returns the lines of the other trace that the trace lacks. Progress is left out: it depends on what was cached.
    fn missing_lines(
        &self,
        other: &Trace,
        places: &mut ScopeCursor,
        normalizer: &mut Normalizer,
        canceled: &dyn Fn() -> bool,
    ) -> Vec<Missing> {
        let (mut missing, mut at, mut room): (Vec<Missing>, u32, usize) = (Vec::new(), 0, MAX_MISSING_BYTES);
        other.each_page(0, None, canceled, |page| {
            for (line, text) in page.lines_with_numbers() {
                let Some(found) = normalizer.fingerprint(places.hash(line), text) else { continue };
                match self.lines.get(&found.hash) {
                    Some(&UNSEEN) if found.progress.is_none() && !log_line::is_verdict(text) => {
                        let kept = head(text);
                        let is_kept = kept.len() <= room;
                        room = if is_kept { room - kept.len() } else { 0 };
                        let texts = is_kept.then(|| kept.to_owned()).into_iter().collect();
                        let one = Missing { line: at, count: 1, texts };
                        match missing.last_mut().filter(|last| last.line == at) {
                            Some(last) => last.add(one),
                            None => missing.push(one),
                        }
                    }
                    Some(&UNSEEN) | None => {}
                    Some(&first) => at = at.max(first.saturating_add(1)),
                }
            }
            missing.len() < MAX_NEW_LINES
        });
        missing
    }
}

/// Returns the start of a line that is kept.
fn head(line: &str) -> &str {
    let end = (0..=MAX_MISSING_LINE.min(line.len())).rev().find(|at| line.is_char_boundary(*at));
    line.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Collects the lines that differ.
#[derive(Default)]
struct Hunks {
    hunks: Vec<NewLines>,
    count: usize,
    /// The equal lines with words since the last line that differs, up to one more than may be in a gap.
    gap: Vec<u32>,
}

impl Hunks {
    /// Adds an equal line.
    fn skip(&mut self, line: u32) {
        if self.gap.len() <= MAX_GAP as usize {
            self.gap.push(line);
        }
    }

    /// Adds a line that differs; returns `false` if there are too many.
    fn add(&mut self, line: u32, text: &str) -> bool {
        self.count += 1;
        let gap = std::mem::take(&mut self.gap);
        let is_near = |hunk: &&mut NewLines| line.saturating_sub(hunk.lines.end) <= MAX_GAP;
        let hunk = match self.hunks.last_mut().filter(is_near) {
            Some(hunk) => {
                hunk.equal.extend(gap);
                hunk
            }
            None => {
                self.hunks.push(NewLines::of(line..line));
                let Some(hunk) = self.hunks.last_mut() else { return false };
                hunk
            }
        };
        hunk.lines.end = line + 1;
        // The runner's own message counts only where there is no other.
        if (hunk.problem.is_none() || hunk.is_verdict) && log_line::names_problem(text) {
            let is_verdict = log_line::is_verdict(text);
            if hunk.problem.is_none() || !is_verdict {
                (hunk.problem, hunk.is_verdict) = (Some(line), is_verdict);
            }
        }
        self.count < MAX_NEW_LINES
    }
}

impl Trace {
    /// Returns the lines of this trace of a failed job that `other` lacks, ignoring what differs in every run, and
    /// `names`: the refs and commits of both. Sections are aligned by name.
    pub fn compare(&self, other: &Trace, names: &[String], canceled: &dyn Fn() -> bool) -> Comparison {
        let mut normalizer = Normalizer::new(names.iter().cloned());
        let hashes = |trace: &Trace, normalizer: &mut Normalizer| -> HashSet<u64> {
            trace.sections().iter().map(|section| scope_of(section, normalizer)).collect()
        };
        let own = hashes(self, &mut normalizer);
        let shared: HashSet<u64> = hashes(other, &mut normalizer).intersection(&own).copied().collect();
        let cursor = |trace: &Trace, normalizer: &mut Normalizer| ScopeCursor {
            scopes: scopes(trace, &shared, normalizer),
            at: 0,
        };
        let mut known = Known::default();
        let mut places = cursor(other, &mut normalizer);
        other.each_page(0, None, canceled, |page| {
            for (line, text) in page.lines_with_numbers() {
                known.add(places.hash(line), text, &mut normalizer);
            }
            true
        });
        let mut hunks = Hunks::default();
        let mut places = cursor(self, &mut normalizer);
        let mut stopped_at = None;
        self.each_page(0, None, canceled, |page| {
            for (line, text) in page.lines_with_numbers() {
                let Ok(at) = u32::try_from(line) else { return false };
                match known.lacks(places.hash(line), (at, text), &mut normalizer) {
                    Some(true) if !hunks.add(at, text) => {
                        stopped_at = Some(CutReason::From(at.saturating_add(1)));
                        return false;
                    }
                    Some(false) => hunks.skip(at),
                    Some(true) | None => {}
                }
            }
            true
        });
        let cut = stopped_at.or(known.is_cut.then_some(CutReason::OtherTooLong));
        // Of what was not compared to its end, nothing is known to be missing.
        let missing = match cut {
            Some(_) => Vec::new(),
            None => known.missing_lines(other, &mut cursor(other, &mut normalizer), &mut normalizer, canceled),
        };
        let first = self.first_of(&hunks.hunks);
        let new_lines = hunks.hunks.iter().map(|hunk| hunk.lines.len().saturating_sub(hunk.equal.len())).sum();
        let mut comparison = Comparison { hunks: hunks.hunks, new_lines, missing, first, cut };
        comparison.gather_missing();
        comparison
    }

    /// Returns the line to show first: the start of the first difference with a problem, in the section that failed.
    fn first_of(&self, hunks: &[NewLines]) -> Option<u32> {
        let outer = |line: u32| {
            let line = line as usize;
            self.sections().iter().find(|s| s.depth == 0 && s.line <= line && s.end.is_none_or(|end| line < end))
        };
        let name = |hunk: &&NewLines| outer(hunk.problem.unwrap_or(hunk.lines.start)).map(|section| section.line);
        let with_problem = || hunks.iter().filter(|hunk| hunk.problem.is_some());
        let in_script = with_problem().find(|hunk| {
            outer(hunk.problem.unwrap_or_default()).is_some_and(|section| SCRIPTS.contains(&section.name.as_str()))
        });
        let last = with_problem().rfind(|hunk| !hunk.is_verdict).or_else(|| with_problem().next_back());
        let chosen = in_script.or_else(|| {
            let within = last.as_ref().map(name);
            with_problem().find(|hunk| Some(name(hunk)) == within)
        });
        let hunk = chosen.or(hunks.first())?;
        let way = |problem: u32| problem - hunk.lines.start;
        Some(match hunk.problem.filter(|problem| way(*problem) > MAX_WAY) {
            Some(problem) => problem - BEFORE_PROBLEM,
            None => hunk.lines.start,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Trace {
        let mut trace = Trace::default();
        trace.push(text.as_bytes());
        trace
    }

    fn new_lines(failed: &str, passed: &str) -> Vec<String> {
        let (failed, passed) = (trace(failed), trace(passed));
        let found = failed.compare(&passed, &[], &|| false);
        (0..failed.len_lines()).filter(|line| found.is_new(*line as u32)).filter_map(|line| failed.text(line)).collect()
    }

    #[test]
    fn a_line_of_another_section_is_new() {
        let section = |name: &str, text: &str| {
            format!("section_start:1:{name}\r\x1b[0K{name}\n{text}\nsection_end:2:{name}\r\x1b[0K\n")
        };
        let passed = section("build", "make all") + &section("test", "run tests");
        let failed = section("build", "make all") + &section("test", "make all");
        assert_eq!(new_lines(&failed, &passed), ["make all"]);
        // A section that only one of them has is compared with the rest.
        let failed = section("build", "make all") + "run tests\n";
        assert_eq!(new_lines(&failed, &(section("build", "make all") + &section("other", "run tests"))), [""; 0]);
    }

    #[test]
    fn a_problem_that_occurs_more_often_is_new() {
        let line = "error: connection refused\n";
        assert_eq!(new_lines(&line.repeat(3), &line.repeat(2)).len(), 1);
        assert_eq!(new_lines(&"waiting\n".repeat(3), "waiting\n"), [""; 0]);
    }

    #[test]
    fn progress_is_only_new_if_the_other_trace_has_some_of_its_kind() {
        assert_eq!(new_lines("Compiling a v1\nCompiling b v1\n", "Finished\n"), [""; 0]);
        assert_eq!(
            new_lines("Compiling a v1\nCompiling b v2\n", "Compiling a v1\nCompiling b v1\n"),
            ["Compiling b v2"]
        );
    }

    #[test]
    fn lines_of_the_other_trace_alone_are_counted_where_they_are_missing() {
        let missing = |failed: &str, passed: &str| -> Vec<(u32, u32)> {
            let found = trace(failed).compare(&trace(passed), &[], &|| false).missing;
            found.iter().map(|missing| (missing.line, missing.count)).collect()
        };
        let steps = "begin work\nfetch data\nread cache\nwrite out\nend work\n";
        assert_eq!(missing("begin work\nwrite out\nend work\n", steps), [(1, 2)]);
        assert_eq!(missing("begin work\nboom\nworse\nend work\n", steps), [(3, 3)], "replaced lines");
        assert_eq!(missing("begin work\nboom\nread cache\nwrite out\nend work\n", steps), [], "line for line");
        assert_eq!(missing("begin work\nfetch data\n", steps), [(2, 3)], "the end");
        assert_eq!(missing("write out\n", steps), [(0, 3), (1, 1)], "the start");
        assert_eq!(missing(steps, &format!("{steps}Compiling a v1\n")), [], "progress");
        assert_eq!(missing("end work\nbegin work\n", "begin work\nend work\n"), []);
        let found = trace("begin work\nwrite out\n").compare(&trace(steps), &[], &|| false);
        assert_eq!((found.missing_before(1), found.missing_before(0)), (Some(0), None));
        assert_eq!(found.missing[0].texts, ["fetch data", "read cache"]);
    }

    #[test]
    fn the_texts_of_missing_lines_are_bounded() {
        let word = |n: u32| "y".repeat(n as usize);
        let passed: String = (0..2_400).map(|n| format!("\u{1b}[31mline é{}\u{1b}[0m\n", word(n))).collect();
        let found = trace("begin\n").compare(&trace(&format!("begin\n{passed}")), &[], &|| false);
        let [missing] = &found.missing[..] else { panic!("one place") };
        assert!(missing.count == 2_400 && missing.texts.len() < missing.count as usize, "{}", missing.count);
        assert!(found.missing_bytes() < 2 << 20 && !missing.texts[0].contains('\u{1b}'));
        assert!(missing.texts.iter().all(|text| text.len() <= MAX_MISSING_LINE));
    }

    #[test]
    fn large_traces_that_differ_everywhere_are_cut() {
        let failed: String =
            (0..300_000).map(|n| format!("line {}\n", "x".repeat(n % 97) + &n.to_string().replace('0', "o"))).collect();
        let found = trace(&failed).compare(&trace("nothing\n"), &[], &|| false);
        assert_eq!((found.cut, found.new_lines), (Some(CutReason::From(MAX_NEW_LINES as u32)), MAX_NEW_LINES));
        assert!(found.is_compared(0) && !found.is_compared(MAX_NEW_LINES as u32));
        assert!(found.cut.unwrap().words().contains("200,000 lines are new"));
    }
}
