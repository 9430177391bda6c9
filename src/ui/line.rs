//! Lines of styled text: drawing them into an area, cutting them to its width, and aligning left and right parts.

use crate::theme::{Role, Theme};
use crate::{glyph, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::borrow::Cow;

/// The look of a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paint {
    /// A role of the theme, looked up when the span is drawn.
    Role(Role),
    /// A color from a server, such as that of a label: red, green and blue.
    Tint([u8; 3]),
    /// A finished style, such as that of highlighted code.
    Style(Style),
}

impl Paint {
    /// Returns the style in `theme`. A tint that the terminal cannot draw looks like a label.
    pub fn style(self, theme: &Theme) -> Style {
        match self {
            Paint::Role(role) => theme.style(role),
            Paint::Tint(color) => {
                let label = theme.style(Role::Label);
                theme.pixel(color).map_or(label, |color| label.fg(color))
            }
            Paint::Style(style) => style,
        }
    }
}

impl From<Role> for Paint {
    fn from(role: Role) -> Paint {
        Paint::Role(role)
    }
}

impl From<Style> for Paint {
    fn from(style: Style) -> Paint {
        Paint::Style(style)
    }
}

/// Text of one look. It is sanitized when drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Span<'a> {
    pub text: Cow<'a, str>,
    pub paint: Paint,
}

impl<'a, T: Into<Cow<'a, str>>, P: Into<Paint>> From<(T, P)> for Span<'a> {
    fn from((text, paint): (T, P)) -> Span<'a> {
        Span { text: text.into(), paint: paint.into() }
    }
}

/// A line of styled text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line<'a> {
    pub spans: Vec<Span<'a>>,
}

impl<'a> Line<'a> {
    /// Creates an empty line.
    pub const fn empty() -> Line<'a> {
        Line { spans: Vec::new() }
    }

    /// Creates a line of one look.
    pub fn new(text: impl Into<Cow<'a, str>>, paint: impl Into<Paint>) -> Line<'a> {
        Line { spans: vec![(text, paint).into()] }
    }

    /// Creates a line of ordinary text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Line<'a> {
        Line::new(text, Role::Text)
    }

    /// Returns the line with more text.
    pub fn and(mut self, text: impl Into<Cow<'a, str>>, paint: impl Into<Paint>) -> Line<'a> {
        self.push(text, paint);
        self
    }

    /// Returns the line with more text in a color from a server.
    pub fn tinted(self, text: impl Into<Cow<'a, str>>, color: [u8; 3]) -> Line<'a> {
        self.and(text, Paint::Tint(color))
    }

    /// Appends text.
    pub fn push(&mut self, text: impl Into<Cow<'a, str>>, paint: impl Into<Paint>) {
        self.spans.push((text, paint).into());
    }

    /// Appends text, and joins it to the last span if that has the same look.
    pub fn push_joined(&mut self, text: &str, paint: impl Into<Paint>) {
        let paint = paint.into();
        match self.spans.last_mut() {
            Some(last) if last.paint == paint => last.text.to_mut().push_str(text),
            _ => self.push(text.to_owned(), paint),
        }
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.spans.iter().all(|span| span.text.is_empty())
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.spans.iter().map(|span| span.text.len()).sum()
    }

    /// Returns the plain text.
    pub fn plain_text(&self) -> String {
        self.spans.iter().map(|span| &*span.text).collect()
    }

    /// Returns the same line without copying its text.
    pub fn borrowed(&self) -> Line<'_> {
        self.spans.iter().map(|span| (&*span.text, span.paint)).collect()
    }

    /// Returns the width in columns.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| text::width(&span.text)).sum()
    }
}

impl Line<'_> {
    /// Draws the line on the first row of `area`, and cuts it at its width with `…`. Returns the number of columns used.
    /// Styles are applied on top of the cells' styles, so that a tint drawn before remains visible.
    pub fn draw(&self, buf: &mut Buffer, area: Rect, theme: &Theme) -> u16 {
        self.draw_cut(buf, area, theme, CutPosition::End)
    }

    /// Draws the line like [`Line::draw`], and cuts it at `cut` if it is too long.
    pub fn draw_cut(&self, buf: &mut Buffer, area: Rect, theme: &Theme, cut: CutPosition) -> u16 {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return 0;
        }
        let room = usize::from(area.width);
        let total = self.spans.iter().try_fold(0, |sum, span| {
            let sum = sum + text::width_up_to(&span.text, room + 1);
            if sum > room { Err(sum) } else { Ok(sum) }
        });
        let mut pen = LinePen { x: area.x, y: area.y, end: area.right() };
        if total.is_ok() {
            pen.all(buf, theme, &self.spans);
            return pen.x - area.x;
        }
        // A longer line is not a path, and finding its end would require walking all of it.
        let has_tail = cut == CutPosition::Middle && room >= 5 && self.len() < 64 * 1024;
        let tail = if has_tail { self.tail(theme, text::tail_width(&self.plain_text(), room)) } else { vec![] };
        let tail_width = tail.iter().map(|(_, width, _)| *width as u16).sum::<u16>();
        pen.end = area.right() - 1 - tail_width;
        let style = pen.all(buf, theme, &self.spans);
        pen.end += 1;
        pen.put(buf, glyph::ellipsis(), 1, style);
        pen.end = area.right();
        for (symbol, width, style) in &tail {
            pen.put(buf, symbol, *width, *style);
        }
        pen.x - area.x
    }

    /// Returns the symbols of the last `room` columns.
    fn tail(&self, theme: &Theme, room: usize) -> Vec<(String, usize, Style)> {
        let mut out = Vec::new();
        let mut used = 0;
        'spans: for span in self.spans.iter().rev() {
            let pieces: Vec<_> = text::cells(&span.text).collect();
            for piece in pieces.into_iter().rev() {
                if used + piece.width > room {
                    break 'spans;
                }
                used += piece.width;
                out.push((piece.symbol.into_owned(), piece.width, span.paint.style(theme)));
            }
        }
        out.reverse();
        out
    }
}

impl<'a, T: Into<Cow<'a, str>>, P: Into<Paint>> From<(T, P)> for Line<'a> {
    fn from((text, paint): (T, P)) -> Line<'a> {
        Line::new(text, paint)
    }
}

impl<'a, S: Into<Span<'a>>, const N: usize> From<[S; N]> for Line<'a> {
    fn from(spans: [S; N]) -> Line<'a> {
        spans.into_iter().collect()
    }
}

impl<'a, S: Into<Span<'a>>> Extend<S> for Line<'a> {
    fn extend<I: IntoIterator<Item = S>>(&mut self, spans: I) {
        self.spans.extend(spans.into_iter().map(Into::into));
    }
}

impl<'a> IntoIterator for Line<'a> {
    type Item = Span<'a>;
    type IntoIter = std::vec::IntoIter<Span<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.spans.into_iter()
    }
}

impl<'a, S: Into<Span<'a>>> FromIterator<S> for Line<'a> {
    fn from_iter<I: IntoIterator<Item = S>>(spans: I) -> Line<'a> {
        Line { spans: spans.into_iter().map(Into::into).collect() }
    }
}

/// The position at which a line that is too long is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutPosition {
    /// At the end, as for titles.
    End,
    /// In the middle, as for paths: their folders are cut, the name only if it does not fit alone.
    Middle,
}

/// Draws `left` from the left edge and `right` up to the right edge. If both do not fit, `left` is cut. A right part
/// that would take the whole line is omitted. Returns the areas of both parts.
pub fn pair(buf: &mut Buffer, area: Rect, theme: &Theme, left: &Line, right: &Line) -> (Rect, Rect) {
    let mut wide = right.width().min(usize::from(u16::MAX)) as u16;
    if wide.saturating_add(2) > area.width {
        wide = 0;
    }
    let before = Rect { width: area.width - wide - wide.min(1), ..area };
    let behind = Rect { x: area.right() - wide, width: wide, ..area };
    left.draw(buf, before, theme);
    right.draw(buf, behind, theme);
    (before, behind)
}

struct LinePen {
    x: u16,
    y: u16,
    end: u16,
}

impl LinePen {
    /// Writes one symbol if it fits entirely.
    fn put(&mut self, buf: &mut Buffer, symbol: &str, width: usize, style: Style) -> bool {
        let Some(next) = u16::try_from(width).ok().and_then(|w| self.x.checked_add(w)).filter(|next| *next <= self.end)
        else {
            return false;
        };
        set(buf, self.x, self.y, symbol, width, style);
        self.x = next;
        true
    }

    /// Writes spans up to the end and returns the style of the last symbol.
    fn all(&mut self, buf: &mut Buffer, theme: &Theme, spans: &[Span]) -> Style {
        let mut last = Style::new();
        for span in spans {
            let style = span.paint.style(theme);
            for piece in text::cells(&span.text) {
                last = style;
                if !self.put(buf, &piece.symbol, piece.width, style) {
                    return last;
                }
            }
        }
        last
    }
}

/// Writes one symbol of `width` columns. The cells behind a wide symbol keep the style but have no text.
pub fn set(buf: &mut Buffer, x: u16, y: u16, symbol: &str, width: usize, style: Style) {
    for (i, x) in (x..).take(width).enumerate() {
        if let Some(cell) = buf.cell_mut((x, y)) {
            cell.set_symbol(if i == 0 { symbol } else { " " }).set_style(style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(width: u16, draw: impl FnOnce(&mut Buffer, Rect, &Theme)) -> String {
        let area = Rect::new(0, 0, width, 1);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &Theme::plain());
        buf.content().iter().map(|cell| cell.symbol()).collect()
    }

    fn shown_pair(width: u16, left: &str, right: &str) -> String {
        shown(width, |b, a, t| _ = pair(b, a, t, &Line::text(left), &Line::text(right)))
    }

    #[test]
    fn a_line_is_truncated_at_the_end_or_in_the_middle() {
        assert_eq!(shown(8, |b, a, t| _ = Line::text("abcdefgh").draw(b, a, t)), "abcdefgh");
        assert_eq!(shown(8, |b, a, t| _ = Line::text("abcdefghi").draw(b, a, t)), "abcdefg…");
        let path = Line::text("src/render/").and("frame.rs", Style::new().bold());
        assert_eq!(shown(15, |b, a, t| _ = path.draw_cut(b, a, t, CutPosition::Middle)), "src/r…/frame.rs");
    }

    #[test]
    fn the_right_part_stays_right_aligned() {
        assert_eq!(shown_pair(12, "left", "3h"), "left      3h");
        assert_eq!(shown_pair(12, "a long left part", "3h"), "a long l… 3h");
        assert_eq!(shown_pair(4, "left", "right"), "left");
    }

    #[test]
    fn text_of_one_look_is_joined() {
        let mut line = Line::empty();
        line.push_joined("ma", Role::Ref);
        line.push_joined("in", Role::Ref);
        line.push_joined("  ", Role::Text);
        assert_eq!(line, Line::new("main", Role::Ref).and("  ", Role::Text));
        assert_eq!(line.width(), 6);
    }

    #[test]
    fn a_tint_needs_a_terminal_with_colors() {
        let (theme, plain) = (Theme::for_background(crate::theme::Background::Dark), Theme::plain());
        let tint = Paint::Tint([255, 0, 0]);
        assert_eq!(tint.style(&theme).fg, theme.pixel([255, 0, 0]));
        assert_eq!(tint.style(&plain), plain.style(Role::Label));
    }

    #[test]
    fn hostile_text_and_tiny_areas_are_harmless() {
        assert_eq!(shown(10, |b, a, t| _ = Line::text("\u{1b}[2J\u{202e}").draw(b, a, t)), "␛[2J<U+20…");
        for width in 0..4 {
            let out = shown_pair(width, "世界", "世");
            assert!(text::width(&out) >= usize::from(width), "{out:?}");
        }
        let mut buf = Buffer::empty(Rect::new(0, 0, 3, 1));
        Line::text("outside").draw(&mut buf, Rect::new(2, 5, 90, 4), &Theme::plain());
    }
}
