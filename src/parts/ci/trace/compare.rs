//! The comparison of a failed job's trace with that of the last successful run: what is new is shown, what is equal is
//! folded.

use super::last_success::{LastSuccess, last_success};
use super::work::{Compare, compare_key};
use super::{Viewer, completed_at};
use crate::api::Endpoint;
use crate::api::jobs::{GetJob, GetTrace, Job};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::ci;
use crate::parts::text::dates::time_ago;
use crate::store::{Follow, GrowingDocument, Load, Want, Work};
use crate::ui::doc::DocLine;
use crate::ui::glyph;
use crate::ui::line::Line;
use crate::ui::text;
use crate::ui::theme::Role;
use crate::ui::trace::{Comparison, Trace};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The numbers of equal lines shown before and after a difference.
const LINES_BEFORE: u32 = 2;
const LINES_AFTER: u32 = 1;
/// Fewer equal lines than this are not folded.
const MIN_FOLDED: u32 = 5;
/// The maximum number of lines that one fold shows when it is opened.
const MAX_UNFOLDED: u32 = 10_000;

/// The maximum number of lines missing in one place that are shown without being asked for.
const MAX_MISSING_SHOWN: usize = 3;

/// A row of the comparison: a line, a number of equal lines from that line on, or what the last success has before that
/// line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ComparedRow {
    pub line: u32,
    pub kind: RowKind,
}

/// The kind of a row of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    Line,
    Folded(u32),
    /// A line of the last success, by the places where lines are missing and the lines missing there.
    MissingLine {
        group: u32,
        at: u32,
    },
    /// Further lines of the last success, of which the first `shown` are above.
    Missing {
        group: u32,
        shown: u32,
    },
}

/// The comparison with the last successful run, which may still be searched or read.
#[derive(Default)]
pub(super) struct ShownComparison {
    result: Option<Arc<Comparison>>,
    /// The last success, once it was compared. A later one does not change what is shown.
    other: Option<Box<Job>>,
    pub rows: Vec<ComparedRow>,
    /// The rows at which differences begin.
    starts: Vec<usize>,
    /// The first lines of the folds that were opened.
    unfolded: BTreeSet<u32>,
    /// The places where lines are missing that were opened.
    opened: BTreeSet<u32>,
}

impl ShownComparison {
    /// Builds the rows of a trace of `len` lines; `headings` are the lines of the headings of its sections.
    fn arrange(&mut self, len: usize, headings: impl Fn(u32) -> Option<u32>) {
        let Some(result) = &self.result else { return };
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        self.rows.clear();
        let rows = &mut self.rows;
        let unfolded = &self.unfolded;
        let mut at = 0;
        let opened = &self.opened;
        let missing = |line: u32| -> Vec<ComparedRow> {
            let Some(index) = result.missing_before(line) else { return Vec::new() };
            let Some((missing, group)) = result.missing.get(index).zip(u32::try_from(index).ok()) else {
                return Vec::new();
            };
            let is_short = missing.count as usize <= MAX_MISSING_SHOWN;
            let shown = if is_short || opened.contains(&group) { missing.texts.len() } else { 0 };
            let shown = u32::try_from(shown).unwrap_or(u32::MAX);
            let row = |kind: RowKind| ComparedRow { line: line.min(len.saturating_sub(1)), kind };
            let rest = (missing.count > shown).then(|| row(RowKind::Missing { group, shown }));
            (0..shown).map(|at| row(RowKind::MissingLine { group, at })).chain(rest).collect()
        };
        let mut show = |lines: std::ops::Range<u32>| {
            let (from, to) = (lines.start.clamp(at, len), lines.end.clamp(at, len));
            let fold = |from: u32, to: u32, rows: &mut Vec<ComparedRow>| {
                if from < to {
                    rows.push(ComparedRow { line: from, kind: RowKind::Folded(to - from) });
                }
            };
            let shown = |line: u32| missing(line).into_iter().chain([ComparedRow { line, kind: RowKind::Line }]);
            let gap = from - at;
            let shown_to = if gap < MIN_FOLDED {
                from
            } else if unfolded.contains(&at) {
                from.min(at.saturating_add(MAX_UNFOLDED))
            } else {
                at
            };
            rows.extend((at..shown_to).flat_map(shown));
            fold(shown_to, from, rows);
            rows.extend((from..to).flat_map(shown));
            at = to;
        };
        let mut gaps = result.missing.iter().map(|missing| missing.line).peekable();
        for hunk in &result.hunks {
            while let Some(line) = gaps.next_if(|line| *line < hunk.lines.start) {
                show(line.saturating_sub(1)..line.saturating_add(1));
            }
            if let Some(heading) = headings(hunk.lines.start) {
                show(heading..heading + 1);
            }
            show(hunk.lines.start.saturating_sub(LINES_BEFORE)..hunk.lines.end.saturating_add(LINES_AFTER));
        }
        gaps.for_each(|line| show(line.saturating_sub(1)..line.saturating_add(1)));
        show(len..len);
        rows.extend(missing(len));
        let mut hunks = result.hunks.iter().map(|hunk| hunk.lines.start).peekable();
        let is_start = |(index, row): (usize, &ComparedRow)| {
            let is_start = match row.kind {
                RowKind::Line => hunks.next_if_eq(&row.line).is_some(),
                RowKind::Folded(_) => false,
                RowKind::MissingLine { group, at: first } | RowKind::Missing { group, shown: first } => {
                    let line = result.missing.get(group as usize).map(|missing| missing.line);
                    first == 0 && line.is_some_and(|line| !result.ends_hunk(line))
                }
            };
            is_start.then_some(index)
        };
        self.starts = rows.iter().enumerate().filter_map(is_start).collect();
    }

    fn row_at(&self, row: usize) -> Option<ComparedRow> {
        self.rows.get(row).or(self.rows.last()).copied()
    }

    /// Returns the line of a row.
    pub fn line_of(&self, row: usize) -> usize {
        self.row_at(row).map_or(0, |row| row.line as usize)
    }

    /// Returns the row that shows or hides a line.
    pub fn row_of(&self, line: usize) -> usize {
        let row = self.rows.partition_point(|row| row.line as usize <= line).saturating_sub(1);
        // The last line may precede lines that are missing at the end.
        let before = self.rows.get(..=row).unwrap_or_default();
        before.iter().rposition(|row| !row.is_missing()).unwrap_or(row)
    }
}

impl ComparedRow {
    /// Returns whether the row is of the last success alone.
    fn is_missing(self) -> bool {
        matches!(self.kind, RowKind::Missing { .. } | RowKind::MissingLine { .. })
    }
}

impl Viewer {
    /// Returns the rows of the comparison, once it is known. A filter has its own rows.
    pub(super) fn compared(&self) -> Option<&ShownComparison> {
        self.comparison.as_ref().filter(|shown| shown.result.is_some())
    }

    /// Returns an error unless the job failed and has a trace.
    pub fn need_comparison(&self, view: &View) -> Result<(), Disabled> {
        ci::can_compare(self.job(view).ok_or("the job has not loaded yet")?)?;
        self.need_text(view)
    }

    /// Shows or leaves the comparison with the last successful run.
    pub fn toggle_comparison(&mut self, cx: &mut Cx) {
        if self.comparison.is_none() {
            self.start_comparison();
            return;
        }
        self.leave_comparison(cx);
    }

    /// Returns whether the comparison is shown, or is to be shown when it is known.
    pub fn is_compared(&self) -> bool {
        self.comparison.is_some()
    }

    /// Shows the comparison with the last successful run, as soon as both traces are known.
    pub fn start_comparison(&mut self) {
        self.comparison = Some(ShownComparison::default());
        (self.jump, self.opened) = (None, true);
    }

    /// Shows the whole trace at the same line; returns `false` if it is shown already.
    pub(super) fn leave_comparison(&mut self, cx: &mut Cx) -> bool {
        let line = self.line(&cx.view);
        let Some(shown) = self.comparison.take() else { return false };
        if let Some(trace) = self.trace(&cx.view).filter(|_| shown.result.is_some()) {
            self.goto(trace, line);
        }
        true
    }

    /// Returns the trace that is compared with.
    fn other_trace<'a>(&self, view: &View<'a>, other: &Job) -> Option<GrowingDocument<'a, Trace>> {
        view.store.growing::<Trace>(&GetTrace { id: self.project.clone(), job_id: other.id }.request())
    }

    /// Returns the computation of the comparison, if both traces are complete.
    fn compare(&self, view: &View, other: &Job) -> Option<Compare> {
        let own = view.store.growing::<Trace>(&self.request()).filter(|growing| growing.is_complete)?.sink;
        let other_trace = self.other_trace(view, other).filter(|growing| growing.is_complete)?.sink;
        let job = self.job(view)?;
        let names = [job, other].into_iter().flat_map(|job| {
            let sha = job.commit.as_ref().map(|commit| commit.id.clone()).unwrap_or_default();
            [job.r#ref.clone(), ci::short_sha(job), sha]
        });
        Some(Compare {
            identity: compare_key(&self.identity(own), &format!("{} {}", other.id, other_trace.edition())),
            failed: own.clone(),
            passed: other_trace.clone(),
            names: names.collect(),
        })
    }

    /// Returns what the comparison needs: the last successful run, its trace, and the computation.
    pub(super) fn comparison_wants(&self, view: &View) -> Vec<Want> {
        let is_open = self.comparison.as_ref().is_some_and(|shown| shown.result.is_none());
        let Some(job) = self.job(view).filter(|_| is_open) else { return Vec::new() };
        let other = match last_success(view, &self.project, job) {
            LastSuccess::Searching(want) => return vec![*want],
            LastSuccess::Found(other) => other,
            LastSuccess::Missing(_) => return Vec::new(),
        };
        let status = Load::single(&GetJob { id: self.project.clone(), job_id: other.id });
        let request = GetTrace { id: self.project.clone(), job_id: other.id }.request();
        let mut wants: Vec<Want> = vec![
            status.clone().into(),
            Follow { request, status, completed_at, sink: || Box::<Trace>::default() }.into(),
        ];
        let spill = |trace: &Trace| {
            Viewer::want_spill(view, format!("{}/{} {}", self.project, other.id, trace.edition()), trace)
        };
        wants.extend(self.other_trace(view, other).and_then(|growing| spill(growing.sink)));
        let work = self.compare(view, other).filter(|work| view.store.is_result_missing(&work.identity));
        wants.extend(work.map(|work| Want::from(Work::new(work))));
        wants
    }

    /// Shows the comparison once it is known, or says why there is none.
    pub(super) fn update_comparison(&mut self, cx: &mut Cx) {
        let view = cx.view;
        let is_open = self.comparison.as_ref().is_some_and(|shown| shown.result.is_none());
        let Some(job) = self.job(&view).filter(|_| is_open) else { return };
        let other = match last_success(&view, &self.project, job) {
            LastSuccess::Searching(_) => return,
            LastSuccess::Found(other) => other,
            LastSuccess::Missing(refs) => {
                self.comparison = None;
                let (name, refs) = (text::sanitize(&job.name), text::sanitize(&refs.join(", ")).into_owned());
                return cx.say(Tone::Warning, format!("No recent successful run of {name} on {refs} was found."));
            }
        };
        let gone = self.other_trace(&view, other).is_some_and(|growing| {
            growing.error.is_some_and(|error| !error.is_temporary())
                || growing.is_complete && growing.sink.bytes_len() == 0
        });
        if gone {
            self.comparison = None;
            return cx.say(Tone::Warning, format!("The trace of the last success, #{}, cannot be read.", other.id));
        }
        let Some(work) = self.compare(&view, other) else { return };
        let Some(result) = view.store.shared_result::<Comparison>(&work.identity) else { return };
        if result.hunks.is_empty() && result.missing.is_empty() {
            self.comparison = None;
            return cx.say(Tone::Info, format!("No line differs from the last success, #{}.", other.id));
        }
        if let Some(cut) = result.cut {
            cx.say(Tone::Warning, cut.words());
        }
        let first_missing = result.missing.first().map(|missing| missing.line.saturating_sub(1));
        let first = result.first.or(first_missing).unwrap_or_default();
        let other = Some(Box::new(other.clone()));
        self.comparison = Some(ShownComparison { result: Some(result), other, ..ShownComparison::default() });
        self.arrange_comparison(&work.failed);
        self.doc.follow = false;
        let (row, rows) = (self.row_of(first as usize), self.rows_of(&work.failed));
        self.doc.goto(row, rows);
        // What comes after the first difference is of more interest than what is before it.
        self.doc.set_top(row.saturating_sub(LINES_BEFORE as usize + 1));
    }

    fn arrange_comparison(&mut self, trace: &Trace) {
        let heading = |line: u32| {
            let sections = trace.sections();
            let before = sections.partition_point(|section| section.line <= line as usize);
            let around =
                sections.get(..before)?.iter().rev().find(|s| s.end.is_none_or(|end| (line as usize) < end))?;
            u32::try_from(around.line).ok()
        };
        if let Some(shown) = &mut self.comparison {
            shown.arrange(trace.len_lines(), heading);
        }
    }

    /// Returns the kind of a row.
    fn kind_of(&self, row: usize) -> RowKind {
        let shown = self.compared().filter(|_| !self.is_filtered());
        shown.and_then(|shown| shown.row_at(row)).map_or(RowKind::Line, |row| row.kind)
    }

    /// Returns whether a row stands for folded lines.
    pub(super) fn is_fold(&self, row: usize) -> bool {
        matches!(self.kind_of(row), RowKind::Folded(_))
    }

    /// Returns whether a row is no line of the trace.
    pub(super) fn is_stand_in(&self, row: usize) -> bool {
        self.kind_of(row) != RowKind::Line
    }

    /// Opens the fold of equal lines that hides a line.
    pub(super) fn unfold_equal(&mut self, trace: &Trace, line: usize) {
        if let Some(shown) = self.compared() {
            let row = shown.row_of(line);
            self.unfold_row(trace, row);
        }
    }

    /// Opens what a row stands for: equal lines, or lines of the last success.
    pub(super) fn unfold_row(&mut self, trace: &Trace, row: usize) {
        let Some(shown) = &mut self.comparison else { return };
        let Some(row) = shown.row_at(row) else { return };
        let is_opened = match row.kind {
            RowKind::Folded(_) => shown.unfolded.insert(row.line),
            RowKind::Missing { group, .. } => shown.opened.insert(group),
            RowKind::Line | RowKind::MissingLine { .. } => false,
        };
        if is_opened {
            self.arrange_comparison(trace);
        }
    }

    /// Moves to the next or the previous difference; returns `false` without a comparison.
    pub(super) fn step_difference(&mut self, forward: bool, cx: &mut Cx) -> bool {
        let (Some(shown), Some(trace)) = (self.compared(), self.trace(&cx.view)) else { return false };
        let at = match self.is_filtered() {
            true => shown.row_of(self.line(&cx.view)),
            false => self.doc.at(shown.rows.len()),
        };
        let mut starts = shown.starts.iter().copied();
        let next = if forward { starts.find(|start| *start > at) } else { starts.rfind(|start| *start < at) };
        let Some(row) = next else {
            cx.say(Tone::Info, if forward { "No difference below." } else { "No difference above." });
            return true;
        };
        let (line, rows) = (shown.line_of(row), shown.rows.len());
        match self.is_filtered() {
            true => self.goto(trace, line),
            false => self.doc.goto(row, rows),
        }
        true
    }

    /// Returns whether a line is new, compared with the last success; `None` without a comparison.
    pub(super) fn is_new(&self, line: usize) -> Option<bool> {
        let result = self.compared()?.result.as_ref()?;
        Some(u32::try_from(line).is_ok_and(|line| result.is_new(line)))
    }

    /// Returns what a row shows instead of a line: how many equal lines are folded, or what is missing.
    pub(super) fn stand_in(&self, row: usize) -> Option<DocLine<'static>> {
        let kind = self.kind_of(row);
        let shown = self.compared().filter(|_| kind != RowKind::Line)?;
        let result = shown.result.as_ref()?;
        let missing = |group: u32| result.missing.get(group as usize);
        Some(match kind {
            RowKind::Line => return None,
            RowKind::Folded(lines) => {
                let is_compared = result.is_compared(shown.line_of(row) as u32);
                let (word, note) = if is_compared { ("equal line", "") } else { ("line", ", not compared") };
                let words = format!("{} {}{note}", glyph::ellipsis(), text::count_noun(lines.into(), word));
                Line::new(words, Role::Hunk).into()
            }
            RowKind::MissingLine { group, at } => {
                let text = missing(group).and_then(|missing| missing.texts.get(at as usize));
                Line::new(format!("- {}", text.map_or("", String::as_str)), Role::Removed).into()
            }
            RowKind::Missing { group, shown } => {
                let rest = missing(group).map_or(0, |missing| missing.count.saturating_sub(shown));
                let words = match (shown, rest) {
                    (0, 1) => "- 1 line of the last success is missing here".to_owned(),
                    (0, rest) => {
                        let lines = text::count_noun(rest.into(), "line");
                        format!("- {lines} of the last success are missing here")
                    }
                    (_, rest) => format!("- {} {} more", glyph::ellipsis(), text::count(rest.into())),
                };
                Line::new(words, Role::Removed).into()
            }
        })
    }

    /// Returns the state of the comparison, for the bar.
    pub(super) fn comparison_words(&self, view: &View) -> Option<(String, Role)> {
        let (shown, job) = (self.comparison.as_ref()?, self.job(view)?);
        if let (Some(result), Some(other)) = (&shown.result, &shown.other) {
            let more = if result.cut.is_some() { "+" } else { "" };
            let lines = text::count_noun(result.new_lines as u64, "new line");
            let ago = time_ago(view, ci::last_event(other));
            let name = text::fit(&other.r#ref, 24);
            let words = format!("{lines}{more} since #{} on {name} {ago}", other.id);
            return Some((words.trim_end().to_owned(), Role::Added));
        }
        let other = match last_success(view, &self.project, job) {
            LastSuccess::Found(other) => other,
            LastSuccess::Searching(_) => return Some(("looking for the last success…".into(), Role::Running)),
            LastSuccess::Missing(_) => return None,
        };
        let read = self.other_trace(view, other).filter(|growing| !growing.is_complete);
        let words = match read {
            Some(growing) if let Some(error) = growing.error => format!("#{}: {}", other.id, error.title()),
            Some(growing) => format!("reading #{}, {}…", other.id, text::bytes(growing.sink.bytes_len())),
            None => format!("comparing with #{}…", other.id),
        };
        Some((words, Role::Running))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::trace::{Missing, NewLines};

    fn rows(hunks: &[std::ops::Range<u32>], unfolded: &[u32], len: usize) -> Vec<(u32, u32)> {
        rows_with(&[], hunks, unfolded, len)
    }

    fn rows_with(
        missing: &[(u32, u32)],
        hunks: &[std::ops::Range<u32>],
        unfolded: &[u32],
        len: usize,
    ) -> Vec<(u32, u32)> {
        let hunks = hunks.iter().map(|lines| NewLines::of(lines.clone())).collect();
        let counts: Vec<u32> = missing.iter().map(|(_, count)| *count).collect();
        let missing = missing.iter().map(|(line, count)| Missing { line: *line, count: *count, ..Missing::default() });
        let result = Some(Arc::new(Comparison { hunks, missing: missing.collect(), ..Comparison::default() }));
        let unfolded = unfolded.iter().copied().collect();
        let mut shown = ShownComparison { result, unfolded, ..ShownComparison::default() };
        shown.arrange(len, |line| (line > 50).then_some(40));
        let number = |kind: RowKind| match kind {
            RowKind::Line => 0,
            RowKind::Folded(lines) => lines,
            RowKind::Missing { group, shown: 0 } => 1_000_000 + counts[group as usize],
            RowKind::Missing { .. } | RowKind::MissingLine { .. } => panic!("no texts are known"),
        };
        shown.rows.iter().map(|row| (row.line, number(row.kind))).collect()
    }

    #[test]
    #[allow(clippy::single_range_in_vec_init)]
    fn equal_lines_are_folded_around_differences() {
        assert_eq!(rows(&[10..12], &[], 30), [(0, 8), (8, 0), (9, 0), (10, 0), (11, 0), (12, 0), (13, 17)]);
        assert_eq!(rows(&[3..4], &[], 8), [0, 1, 2, 3, 4, 5, 6, 7].map(|line| (line, 0)));
        let with_heading = rows(&[60..61], &[], 62);
        assert_eq!(with_heading, [(0, 40), (40, 0), (41, 17), (58, 0), (59, 0), (60, 0), (61, 0)]);
        assert_eq!(rows(&[10..11], &[0], 12).len(), 12, "opened");
        let missing = rows_with(&[(10, 3), (22, 7), (30, 1)], &[21..22], &[], 30);
        let expected = [
            (0, 9),
            (9, 0),
            (10, 1_000_003),
            (10, 0),
            (11, 8),
            (19, 0),
            (20, 0),
            (21, 0),
            (22, 1_000_007),
            (22, 0),
            (23, 6),
            (29, 0),
            (29, 1_000_001),
        ];
        assert_eq!(missing, expected);
        let opened = rows(&[50_000..50_001], &[41], 50_001);
        assert_eq!(opened.get(10_002), Some(&(10_041, 39_957)), "only some of many lines are shown");
    }
}
