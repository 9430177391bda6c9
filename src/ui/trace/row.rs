//! A line of a trace as shown on the screen.

use super::Stamp;
use crate::ansi;
use crate::doc::DocLine;
use crate::layers::blend;
use crate::theme::{Role, Theme};
use crate::{glyph, text};
use domain::source_location;
use ratatui::style::{Modifier, Style};
use std::ops::Range;

/// A line for the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRow {
    /// The number of the line, counted from 0.
    pub line: usize,
    /// The timestamp, if the runner provides it.
    pub time: Option<Stamp>,
    pub text: ansi::TerminalLine,
    /// The section heading, if this line is one.
    pub heading: Option<Heading>,
    /// Whether the line is spilled and not in memory yet.
    pub is_spilled: bool,
}

/// The content of a section heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub folded: bool,
    pub depth: usize,
    pub seconds: Option<u64>,
}

/// The layout of rows.
#[derive(Clone, Debug)]
pub struct RowLayout {
    /// The number of digits of line numbers; 0 hides them.
    pub numbers: usize,
    /// Whether there is a column for the time of day.
    pub times: bool,
    /// The width to the right of the gutter, for aligning durations with its end.
    pub width: usize,
}

impl RowLayout {
    /// Returns the width of the gutter in columns.
    pub fn gutter(&self) -> usize {
        let numbers = if self.numbers > 0 { self.numbers + 2 } else { 0 };
        numbers + if self.times { 10 } else { 0 }
    }
}

impl TraceRow {
    /// Converts the row for drawing. `matches` are ranges of its text with the role to mark them.
    pub fn draw(&self, theme: &Theme, layout: &RowLayout, matches: &[(Range<usize>, Role)]) -> DocLine<'_> {
        let mut line = DocLine::default();
        if layout.numbers > 0 {
            let number = format!("{:>1$}  ", self.line + 1, layout.numbers);
            line.gutter.push(number, Role::LineNumber);
        }
        if layout.times {
            let time = self.time.map(|time| time.to_string()).unwrap_or_default();
            let time = time.get(11..19).unwrap_or_default();
            line.gutter.push(format!("{time:<8}  "), Role::Dim);
        }
        if self.is_spilled {
            line.text.push(glyph::ellipsis(), Role::Faint);
            return line;
        }
        let Some(heading) = &self.heading else {
            let named: Vec<(Range<usize>, Style)> = source_location::in_line(&self.text.text)
                .map(|found| (found.range, Style::new().add_modifier(Modifier::UNDERLINED)))
                .collect();
            line.text = blend(&self.text.text, theme.style(Role::Text), &[&self.text.layer(theme), &named]);
            if self.text.cut {
                line.text.push("  (line truncated)", Role::Warning);
            }
            line.marks = matches.iter().map(|(range, role)| (range.clone(), theme.style(*role))).collect();
            return line;
        };
        let mark = if heading.folded { glyph::folded() } else { glyph::unfolded() };
        let mark = format!("{}{mark} ", "  ".repeat(heading.depth.min(8)));
        let shift = mark.len();
        let took = heading.seconds.map(|seconds| text::duration(seconds as f64)).unwrap_or_default();
        let room = layout.width.saturating_sub(text::width(&mark) + text::width(&took) + 1);
        let gap = room.saturating_sub(text::width_up_to(&self.text.text, room)) + 1;
        line.text.push(mark, Role::Accent);
        line.text.extend(blend(&self.text.text, theme.style(Role::Title), &[&self.text.layer(theme)]));
        line.text.push(" ".repeat(gap), Style::new());
        line.text.push(took, Role::Dim);
        let shifted = |range: &Range<usize>| range.start + shift..range.end + shift;
        line.marks = matches.iter().map(|(range, role)| (shifted(range), theme.style(*role))).collect();
        line
    }
}
