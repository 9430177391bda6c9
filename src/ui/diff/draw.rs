//! Conversion of the rows of a diff for drawing.

use super::{DiffDoc, DiffLine, Endings, FileDiff, Kind, RowContent, Side};
use crate::code;
use crate::doc::DocLine;
use crate::layers::blend;
use crate::line::Line;
use crate::theme::{Role, Theme};
use crate::{glyph, text};
use domain::line_reports::LineReport;
use ratatui::style::Style;
use std::ops::Range;

/// A row ready for drawing.
pub enum RenderedRow<'a> {
    /// A row of the full width. If `fixed`, it takes one screen row: it is neither wrapped nor scrolled horizontally.
    FullWidth { line: DocLine<'a>, fixed: bool },
    /// The old and the new side. A side without a line stays blank.
    Sides(Option<DocLine<'a>>, Option<DocLine<'a>>),
}

/// Renders the row at index `row`. Returns its content, and the row ready for drawing.
pub fn render_row<'a>(doc: &'a DiffDoc, row: usize, theme: &Theme) -> Option<(RowContent, RenderedRow<'a>)> {
    let content = doc.content(row)?;
    let file = doc.files().get(content.file())?;
    if let Some((file_index, hunk, left, right)) = doc.side_by_side(row) {
        let render_side = |line: Option<usize>, side: Side| {
            line.map(|line| line_at(doc, file, (file_index, hunk, line), Some(side), theme))
        };
        return Some((content, RenderedRow::Sides(render_side(left, Side::Old), render_side(right, Side::New))));
    }
    let gutter = |text: String| Line::new(format!("{text:>0$}  ", doc.digits * 2 + 2), Role::Faint);
    let (line, fixed) = match content {
        RowContent::File { file: file_index } => (heading(file, doc.is_folded(file_index), theme), true),
        RowContent::Note { .. } => {
            let note = DocLine::new(file.note().unwrap_or_default().1, theme.style(Role::Dim));
            (DocLine { gutter: gutter(String::new()), ..note }, true)
        }
        RowContent::Hunk { hunk, .. } => {
            let text = file.bar(hunk);
            let section = file.section(hunk);
            let head = text.strip_suffix(section).unwrap_or(&text).to_owned();
            let line = DocLine {
                gutter: gutter(glyph::dot().repeat(3)),
                text: Line::new(head, Role::Hunk).and(section, Role::Dim),
                ..DocLine::default()
            };
            (line, true)
        }
        RowContent::Line { file: file_index, hunk, line } => {
            (line_at(doc, file, (file_index, hunk, line), None, theme), false)
        }
        RowContent::Inset { inset, row, .. } => (
            doc.insets().get(inset).and_then(|inset| inset.lines.get(row)).map(DocLine::borrowed).unwrap_or_default(),
            true,
        ),
    };
    Some((content, RenderedRow::FullWidth { line, fixed }))
}

/// Converts a line; in the side-by-side layout, only with the number of one side.
fn line_at<'a>(
    doc: &DiffDoc,
    file: &'a FileDiff,
    (file_index, hunk, line_index): (usize, usize, usize),
    side: Option<Side>,
    theme: &Theme,
) -> DocLine<'a> {
    let Some(line) = file.lines.get(line_index) else { return DocLine::default() };
    let (sign, sign_role, fill_role, word_role) = match line.kind {
        Kind::Added => ('+', Role::Added, Some(Role::AddedLine), Role::AddedWord),
        Kind::Removed => ('-', Role::Removed, Some(Role::RemovedLine), Role::RemovedWord),
        Kind::Context | Kind::Plain => (' ', Role::Text, None, Role::Text),
        Kind::NoNewline => ('\\', Role::Dim, None, Role::Dim),
    };
    let fill_role =
        if fill_role.is_some() && doc.is_moved(file_index, line_index) { Some(Role::MovedLine) } else { fill_role };
    // Without tints, as with sixteen colors, the line itself shows what it is: its number and its text are colored.
    let whole_role = fill_role.filter(|role| !theme.has_tint(*role)).map(|_| sign_role);
    let digits = doc.digits;
    let format_number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
    let numbers = match side {
        None if glyph::is_accessible() => format_number(line.new().or_else(|| file.shown_number(line, Side::Old))),
        None => format!(
            "{:>digits$} {:>digits$} ",
            format_number(file.shown_number(line, Side::Old)),
            format_number(line.new())
        ),
        Some(side) => format!("{:>digits$} ", format_number(file.shown_number(line, side))),
    };
    let numbers = Line::new(numbers, whole_role.unwrap_or(Role::LineNumber));
    let report = || doc.line_reports.as_ref()?.line(file.path(), line.new()?);
    let gutter = match report().filter(|_| line.kind == Kind::Added).and_then(report_mark) {
        Some((mark, role)) => numbers.and(sign.to_string(), sign_role).and(mark, role),
        None => numbers.and(format!("{sign} "), sign_role),
    };
    DocLine {
        gutter,
        text: text_of(file, line, doc.styles(file_index, hunk, line_index), word_role, whole_role, theme),
        fill: fill_role.map(|role| theme.style(role)),
        ..DocLine::default()
    }
}

/// Returns the mark of what reports say about a line: a problem, or else its coverage.
fn report_mark(report: &LineReport) -> Option<(&'static str, Role)> {
    if !report.problems.is_empty() {
        let is_serious = report.problems.iter().any(|problem| problem.is_serious());
        return Some((
            glyph::or_word(glyph::warning(), "problem"),
            if is_serious { Role::Failed } else { Role::Warning },
        ));
    }
    Some(match report.coverage? {
        coverage if coverage.is_partial() => (glyph::partly_covered(), Role::Warning),
        coverage if coverage.is_covered => (glyph::covered(), Role::Success),
        _ => (glyph::or_word(glyph::hollow(), "not covered"), Role::Failed),
    })
}

/// Returns the text of a line with its colors, or in the color of `whole_role`.
fn text_of<'a>(
    file: &'a FileDiff,
    line: &DiffLine,
    styles: Option<&(code::Spans, Vec<Range<u32>>)>,
    word_role: Role,
    whole_role: Option<Role>,
    theme: &Theme,
) -> Line<'a> {
    let base_role = if line.kind == Kind::NoNewline { Role::Dim } else { Role::Text };
    let base = theme.style(whole_role.unwrap_or(base_role));
    let syntax = styles.filter(|_| whole_role.is_none()).map(|(spans, _)| code::layer(spans, theme));
    let syntax = syntax.unwrap_or_default();
    let to_usize = |range: &Range<u32>| range.start as usize..range.end as usize;
    let changed: Vec<(Range<usize>, Style)> = styles
        .iter()
        .flat_map(|(_, changed_ranges)| changed_ranges)
        .map(|range| (to_usize(range), theme.style(word_role)))
        .collect();
    let mut text = blend(file.text(line), base, &[&syntax, &changed]);
    if file.endings.is_some() && file.ends_with_return(line) {
        text.push(text::sanitize("\r"), base.patch(theme.style(word_role)));
    }
    text
}

/// Formats the heading of a file: `src/main.rs  +31 −12  new`.
fn heading(file: &FileDiff, folded: bool, theme: &Theme) -> DocLine<'static> {
    let mark = if folded { glyph::folded() } else { glyph::unfolded() };
    let mut line = DocLine::new(file.title(), theme.style(Role::Title));
    line.gutter.push(format!("{mark} "), Role::Accent);
    line.fill = Some(theme.style(Role::SelectedDim));
    if !file.is_left_out() {
        line.text.push(format!("  {}", glyph::additions(file.additions)), Role::Added);
        line.text.push(format!(" {}", glyph::deletions(file.deletions)), Role::Removed);
    }
    let source = &file.source;
    for (on, label) in [
        (source.is_new, "new"),
        (source.is_deleted, "deleted"),
        (source.is_renamed && file.since.is_none(), "renamed"),
        (file.malformed, "not a valid diff"),
        (file.is_local && file.since.is_none(), "compared locally"),
        (file.endings == Some(Endings::Changed), "line endings changed"),
        (file.endings == Some(Endings::Mixed), "mixed line endings"),
    ] {
        if on {
            line.text.push(format!("  {label}"), Role::Dim);
        }
    }
    if let Some(since) = file.since.as_ref().filter(|_| !file.is_left_out()) {
        line.text.push(format!("  {}", since.label), Role::Warning);
    }
    if let (Some(old), Some(new)) = (&source.old_mode, &source.new_mode)
        && old != new
        && !source.is_new
        && !source.is_deleted
    {
        line.text.push(format!("  mode {old} {} {new}", glyph::arrow()), Role::Warning);
    }
    if let Some(reason) = file.fold_reason().filter(|_| folded) {
        line.text.push(format!("  {reason} (folded)"), Role::Dim);
    }
    line
}
