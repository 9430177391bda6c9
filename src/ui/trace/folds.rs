//! Folding of the sections of a trace, and the mapping between lines and screen rows.

use super::{Section, Trace};
use std::collections::BTreeSet;

/// A range of hidden lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HiddenLines {
    start: usize,
    /// The end of the range, exclusive. It is `usize::MAX` for an open section, so that growth requires no update.
    end: usize,
    /// The number of hidden lines before `start`.
    before: usize,
}

/// The folded sections of a trace. Call [`Folds::refresh`] after more output arrives to include new sections.
#[derive(Clone, Debug, Default)]
pub struct Folds {
    /// The heading lines of sections that the user toggled from the runner's default.
    toggled: BTreeSet<usize>,
    hidden: Vec<HiddenLines>,
    revision: Option<u64>,
}

impl Folds {
    /// Returns whether `section` is folded, so that only its heading is shown.
    pub fn is_folded(&self, section: &Section) -> bool {
        section.collapsed != self.toggled.contains(&section.line)
    }

    /// Updates the folds if the trace's sections changed.
    pub fn refresh(&mut self, trace: &Trace) {
        if self.revision != Some(trace.sections.revision) {
            self.rebuild(trace);
        }
    }

    /// Folds or unfolds the innermost section around `line`. Returns its heading line.
    pub fn toggle(&mut self, trace: &Trace, line: usize) -> Option<usize> {
        let section = innermost(trace, line)?;
        if !self.toggled.remove(&section.line) {
            self.toggled.insert(section.line);
        }
        self.rebuild(trace);
        Some(section.line)
    }

    /// Folds or unfolds all sections.
    pub fn set_all(&mut self, trace: &Trace, folded: bool) {
        self.toggled = trace.sections().iter().filter(|s| s.collapsed != folded).map(|s| s.line).collect();
        self.rebuild(trace);
    }

    /// Unfolds the sections that hide `line`.
    pub fn reveal(&mut self, trace: &Trace, line: usize) {
        for section in trace.sections().iter().filter(|s| contains_line(s, line) && s.line != line) {
            if self.is_folded(section) && !self.toggled.remove(&section.line) {
                self.toggled.insert(section.line);
            }
        }
        self.rebuild(trace);
    }

    fn rebuild(&mut self, trace: &Trace) {
        self.revision = Some(trace.sections.revision);
        self.hidden.clear();
        let mut before = 0;
        let mut reached = 0;
        // Headings are in order and sections are nested, so sections within a hidden range are skipped.
        for section in trace.sections() {
            let (start, end) = (section.line + 1, section.end.unwrap_or(usize::MAX));
            let hidden = section.collapsed != self.toggled.contains(&section.line);
            if hidden && start >= reached && end > start {
                self.hidden.push(HiddenLines { start, end, before });
                before += end - start;
                reached = end;
            }
        }
    }

    /// Returns the number of screen rows of the trace.
    pub fn rows(&self, trace: &Trace) -> usize {
        let lines = trace.len_lines();
        let gone = self.hidden.last().map_or(0, |last| last.before + last.end.min(lines).saturating_sub(last.start));
        lines.saturating_sub(gone)
    }

    /// Returns the line shown in a row.
    pub fn line(&self, row: usize) -> usize {
        let at = self.hidden.partition_point(|h| h.start - h.before <= row);
        match at.checked_sub(1).and_then(|at| self.hidden.get(at)) {
            Some(last) => row.saturating_add(last.before).saturating_add(last.end - last.start),
            None => row,
        }
    }

    /// Returns the row of a line. For a hidden line, this is the row of the heading that hides it.
    pub fn row(&self, line: usize) -> usize {
        let at = self.hidden.partition_point(|h| h.start <= line);
        match at.checked_sub(1).and_then(|at| self.hidden.get(at)) {
            Some(last) if line < last.end => (last.start - last.before).saturating_sub(1),
            Some(last) => line - last.before - (last.end - last.start),
            None => line,
        }
    }
}

fn contains_line(section: &Section, line: usize) -> bool {
    section.line <= line && section.end.is_none_or(|end| line < end)
}

fn innermost(trace: &Trace, line: usize) -> Option<&Section> {
    let sections = trace.sections();
    let upto = sections.partition_point(|s| s.line <= line);
    sections.iter().take(upto).rev().find(|s| contains_line(s, line))
}
