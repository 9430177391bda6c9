//! The pipeline's reports about the changed lines: marks in the diff, the words for the line under the cursor, and a
//! summary of the new lines.

use super::Changes;
use crate::domain::line_reports::{Kind as ReportKind, LineReport, LineReports};
use crate::ui::diff::{Kind, RowContent};
use crate::ui::text::sanitize;
use crate::ui::theme::Role;
use crate::ui::{glyph, text};
use std::sync::Arc;

/// The numbers of the new lines that reports say something about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    /// The lines that tests could reach, and those that they reached.
    measured: usize,
    covered: usize,
    problems: usize,
    /// Whether one of the problems is worse than minor.
    has_serious: bool,
}

/// The reports about the lines of the shown files.
#[derive(Default)]
pub(super) struct ShownReports {
    lines: Option<Arc<LineReports>>,
    /// The name of the files in which the new lines were counted, and their numbers.
    counted: String,
    totals: Totals,
}

impl ShownReports {
    /// Lets the new lines be counted again.
    pub fn outdate(&mut self) {
        self.counted.clear();
    }
}

/// Returns what is known about a line, in words.
fn words(report: &LineReport) -> String {
    let coverage = report.coverage.map(|coverage| match coverage.branches {
        _ if !coverage.is_covered => "not covered".to_owned(),
        Some((taken, all)) if coverage.is_partial() => format!("covered, {taken} of {all} branches"),
        _ => "covered".to_owned(),
    });
    let problems = report.problems.iter().map(|problem| {
        let severity = if problem.severity.is_empty() { "problem" } else { &problem.severity };
        let check = match problem.description.contains(&problem.check) {
            true => String::new(),
            false => format!(" ({})", problem.check),
        };
        format!("{severity}: {}{check}", problem.description)
    });
    let words: Vec<String> = problems.chain(coverage).collect();
    sanitize(&words.join(glyph::separator())).into_owned()
}

impl Changes {
    /// Sets the reports about the lines of the shown files.
    pub fn set_line_reports(&mut self, reports: Option<Arc<LineReports>>) {
        if self.reports.lines.as_ref().map(Arc::as_ptr) != reports.as_ref().map(Arc::as_ptr) {
            self.reports.lines = reports;
            self.reports.outdate();
            self.sync_line_reports();
        }
    }

    /// Counts the new lines that reports say something about, if the files or the reports changed.
    pub(super) fn sync_line_reports(&mut self) {
        let name = self.all_files_name();
        let Some(doc) = self.doc.as_mut().filter(|_| self.reports.counted != name) else { return };
        self.reports.counted = name;
        doc.set_line_reports(self.reports.lines.clone());
        self.reports.totals = Totals::default();
        let Some(reports) = &self.reports.lines else { return };
        for file in doc.files() {
            let Some(lines) = reports.file(file.path()) else { continue };
            let added = file.lines.iter().filter(|line| line.kind == Kind::Added).filter_map(|line| line.new());
            for report in added.filter_map(|line| lines.get(&line)) {
                let totals = &mut self.reports.totals;
                totals.measured += usize::from(report.coverage.is_some());
                totals.covered += usize::from(report.coverage.is_some_and(|coverage| coverage.is_covered));
                totals.problems += report.problems.len();
                totals.has_serious |= report.problems.iter().any(|problem| problem.is_serious());
            }
        }
    }

    /// Returns the summary of the new lines, in at most `width` columns if it can be said so short; `None` if no report says
    /// anything about them.
    pub(super) fn report_summary(&self, width: u16) -> Option<(String, Role)> {
        let reports = self.reports.lines.as_ref()?;
        let Totals { measured, covered, problems, has_serious } = self.reports.totals;
        // The percentage is rounded down: 100 % means all.
        let coverage = (measured > 0).then(|| format!("{}% covered", covered * 100 / measured));
        let problems = reports.has(ReportKind::CodeQuality).then(|| text::count_noun(problems as u64, "problem"));
        let facts: Vec<String> = coverage.into_iter().chain(problems).collect();
        let mut summary = format!(" New lines: {}", facts.join(", "));
        if text::width(&summary) > usize::from(width) {
            summary = summary.replace(" covered", "");
        }
        let role = if has_serious { Role::Warning } else { Role::Dim };
        (!facts.is_empty()).then_some((summary, role))
    }

    /// Returns what reports say about the line under the cursor, if it is a new one.
    pub(super) fn report_words(&self) -> Option<String> {
        let (doc, reports) = (self.doc.as_ref()?, self.reports.lines.as_ref()?);
        let RowContent::Line { file, line, .. } = doc.content(self.row())? else { return None };
        let file = doc.files().get(file)?;
        let line = file.lines.get(line).filter(|line| line.kind == Kind::Added)?.new()?;
        Some(format!("Line {line}: {}", words(reports.line(file.path(), line)?)))
    }
}
