//! One line of a trace as it stands on the screen.

use super::refs;
use crate::ui::ansi;
use crate::ui::doc::DocLine;
use crate::ui::layers::blend;
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, text};
use ratatui::style::{Modifier, Style};
use std::ops::Range;

/// One line for the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number of the line, from 0.
    pub line: usize,
    /// When it was written, `2026-06-21T00:00:00.123456Z`, where the runner says so.
    pub time: Option<String>,
    pub text: ansi::Line,
    /// This line is the heading of a section.
    pub heading: Option<Heading>,
    /// The line is on the shelf, and not at hand yet.
    pub away: bool,
}

/// What the heading of a section shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub folded: bool,
    pub depth: usize,
    pub seconds: Option<u64>,
}

/// How rows are laid out.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Digits of the line number; 0 hides it.
    pub numbers: usize,
    /// A column for the time of day.
    pub times: bool,
    /// Columns right of the gutter, for what stands at their end.
    pub width: usize,
}

impl Layout {
    /// Columns that the gutter takes.
    pub fn gutter(&self) -> usize {
        let numbers = if self.numbers > 0 { self.numbers + 2 } else { 0 };
        numbers + if self.times { 10 } else { 0 }
    }
}

impl Row {
    /// The row as it is drawn; `matches` are ranges of its text with the role that marks them.
    pub fn draw(&self, theme: &Theme, layout: &Layout, matches: &[(Range<usize>, Role)]) -> DocLine<'_> {
        let mut line = DocLine::default();
        if layout.numbers > 0 {
            let number = format!("{:>1$}  ", self.line + 1, layout.numbers);
            line.gutter.push((number, theme.style(Role::LineNumber)));
        }
        if layout.times {
            let time = self.time.as_deref().and_then(|time| time.get(11..19)).unwrap_or_default();
            line.gutter.push((format!("{time:<8}  "), theme.style(Role::Dim)));
        }
        if self.away {
            line.spans.push((glyph::cut().into(), theme.style(Role::Faint)));
            return line;
        }
        let Some(heading) = &self.heading else {
            let named: Vec<(Range<usize>, Style)> = refs::all(&self.text.text)
                .map(|found| (found.range, Style::new().add_modifier(Modifier::UNDERLINED)))
                .collect();
            line.spans = blend(&self.text.text, theme.style(Role::Text), &[&self.text.layer(theme), &named]);
            if self.text.cut {
                line.spans.push(("  (line truncated)".into(), theme.style(Role::Warning)));
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
        line.spans.push((mark.into(), theme.style(Role::Accent)));
        line.spans.extend(blend(&self.text.text, theme.style(Role::Title), &[&self.text.layer(theme)]));
        line.spans.push((" ".repeat(gap).into(), Style::new()));
        line.spans.push((took.into(), theme.style(Role::Dim)));
        let shifted = |range: &Range<usize>| range.start + shift..range.end + shift;
        line.marks = matches.iter().map(|(range, role)| (shifted(range), theme.style(*role))).collect();
        line
    }
}
