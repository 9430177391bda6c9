//! Conversion of the rows of a diff for drawing.

use super::{DiffDoc, FileDiff, Kind, Line, RowContent, Side};
use crate::ui::code;
use crate::ui::doc::DocLine;
use crate::ui::glyph;
use crate::ui::layers::blend;
use crate::ui::theme::{Role, Theme};
use ratatui::style::Style;
use std::borrow::Cow;
use std::ops::Range;

/// A row ready for drawing.
pub enum Drawn<'a> {
    /// A row of the full width. If `fixed`, it is not scrolled horizontally.
    Whole { line: DocLine<'a>, fixed: bool },
    /// The old and the new side. A side without a line stays blank.
    Sides(Option<DocLine<'a>>, Option<DocLine<'a>>),
}

/// Returns the row at index `row` and its place.
pub fn row<'a>(doc: &'a DiffDoc, row: usize, theme: &Theme) -> Option<(RowContent, Drawn<'a>)> {
    let content = doc.content(row)?;
    let file = doc.files().get(content.file())?;
    if let Some((at, hunk, left, right)) = doc.side_by_side(row) {
        let side =
            |line: Option<usize>, side: Side| line.map(|line| line_at(doc, file, (at, hunk, line), Some(side), theme));
        return Some((content, Drawn::Sides(side(left, Side::Old), side(right, Side::New))));
    }
    let blank = |text: &str| (format!("{text:>0$}  ", doc.digits * 2 + 2), theme.style(Role::Faint));
    let (line, fixed) = match content {
        RowContent::File { file: at } => (heading(file, doc.is_folded(at), theme), true),
        RowContent::Note { .. } => {
            let note = DocLine::new(file.note().unwrap_or_default(), theme.style(Role::Dim));
            (DocLine { gutter: vec![blank("")], ..note }, true)
        }
        RowContent::Hunk { hunk, .. } => {
            let words = file.bar(hunk);
            let section = file.section(hunk);
            let head = words.strip_suffix(section).unwrap_or(&words).to_owned();
            let line = DocLine {
                gutter: vec![blank("···")],
                spans: vec![(head.into(), theme.style(Role::Hunk)), (section.into(), theme.style(Role::Dim))],
                ..DocLine::default()
            };
            (line, true)
        }
        RowContent::Line { file: at, hunk, line } => (line_at(doc, file, (at, hunk, line), None, theme), false),
        RowContent::Inset { inset, row, .. } => (
            doc.insets().get(inset).and_then(|inset| inset.lines.get(row)).map(DocLine::borrowed).unwrap_or_default(),
            true,
        ),
    };
    Some((content, Drawn::Whole { line, fixed }))
}

/// Converts a line; in the side-by-side layout, only with the number of one side.
fn line_at<'a>(
    doc: &DiffDoc,
    file: &'a FileDiff,
    (at, hunk, index): (usize, usize, usize),
    side: Option<Side>,
    theme: &Theme,
) -> DocLine<'a> {
    let Some(line) = file.lines.get(index) else { return DocLine::default() };
    let (sign, role, tint, word) = match line.kind {
        Kind::Added => ('+', Role::Added, Some(Role::AddedLine), Role::AddedWord),
        Kind::Removed => ('-', Role::Removed, Some(Role::RemovedLine), Role::RemovedWord),
        Kind::Context | Kind::Plain => (' ', Role::Text, None, Role::Text),
        Kind::NoNewline => ('\\', Role::Dim, None, Role::Dim),
    };
    let tint = if tint.is_some() && doc.is_moved(at, index) { Some(Role::MovedLine) } else { tint };
    let digits = doc.digits;
    let number = |number: Option<u32>| number.map(|n| n.to_string()).unwrap_or_default();
    let numbers = match side {
        None => format!("{:>digits$} {:>digits$} ", number(line.old()), number(line.new())),
        Some(side) => format!("{:>digits$} ", number(line.number(side))),
    };
    DocLine {
        gutter: vec![(numbers, theme.style(Role::LineNumber)), (format!("{sign} "), theme.style(role))],
        spans: spans(file, line, doc.styles(at, hunk, index), word, theme),
        fill: tint.map(|tint| theme.style(tint)),
        ..DocLine::default()
    }
}

/// Returns the text of a line with its colors.
fn spans<'a>(
    file: &'a FileDiff,
    line: &Line,
    styles: Option<&(code::Spans, Vec<Range<u32>>)>,
    word: Role,
    theme: &Theme,
) -> Vec<(Cow<'a, str>, Style)> {
    let base = theme.style(if line.kind == Kind::NoNewline { Role::Dim } else { Role::Text });
    let syntax = styles.map(|(spans, _)| code::layer(spans, theme)).unwrap_or_default();
    let bytes = |range: &Range<u32>| range.start as usize..range.end as usize;
    let changed: Vec<(Range<usize>, Style)> =
        styles.iter().flat_map(|(_, words)| words).map(|range| (bytes(range), theme.style(word))).collect();
    blend(file.text(line), base, &[&syntax, &changed])
}

/// Formats the heading of a file: `src/main.rs  +31 −12  new`.
fn heading(file: &FileDiff, folded: bool, theme: &Theme) -> DocLine<'static> {
    let mark = if folded { glyph::folded() } else { glyph::unfolded() };
    let mut line = DocLine::new(file.title(), theme.style(Role::Title));
    line.gutter.push((format!("{mark} "), theme.style(Role::Accent)));
    line.fill = Some(theme.style(Role::SelectedDim));
    line.spans.push((format!("  +{}", file.additions).into(), theme.style(Role::Added)));
    line.spans.push((format!(" −{}", file.deletions).into(), theme.style(Role::Removed)));
    let source = &file.source;
    for (on, word) in [
        (source.is_new, "new"),
        (source.is_deleted, "deleted"),
        (source.is_renamed, "renamed"),
        (file.malformed, "not a valid diff"),
        (file.is_local, "compared locally"),
    ] {
        if on {
            line.spans.push((format!("  {word}").into(), theme.style(Role::Dim)));
        }
    }
    if let (Some(old), Some(new)) = (&source.old_mode, &source.new_mode)
        && old != new
        && !source.is_new
        && !source.is_deleted
    {
        line.spans.push((format!("  mode {old} {} {new}", glyph::arrow()).into(), theme.style(Role::Warning)));
    }
    if let Some(reason) = file.fold_reason().filter(|_| folded) {
        line.spans.push((format!("  {reason} (folded)").into(), theme.style(Role::Dim)));
    }
    line
}
