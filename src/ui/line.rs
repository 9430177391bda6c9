//! Lines of styled text: drawing them into an area, cutting them to its width, and aligning left and right parts.

use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, text};
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
    pub fn extend(&mut self, text: &str, paint: impl Into<Paint>) {
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

    /// Returns the width in columns.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| text::width(&span.text)).sum()
    }
}

impl<'a, T: Into<Cow<'a, str>>, P: Into<Paint>> From<(T, P)> for Line<'a> {
    fn from((text, paint): (T, P)) -> Line<'a> {
        Line::new(text, paint)
    }
}

impl<'a, S: Into<Span<'a>>> FromIterator<S> for Line<'a> {
    fn from_iter<I: IntoIterator<Item = S>>(spans: I) -> Line<'a> {
        Line { spans: spans.into_iter().map(Into::into).collect() }
    }
}

/// A builder of lines from pieces of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spans<'a>(pub Vec<(Cow<'a, str>, Style)>);

impl<'a> Spans<'a> {
    /// Creates an empty line.
    pub fn new() -> Spans<'a> {
        Spans::default()
    }

    /// Appends text.
    pub fn text(mut self, text: impl Into<Cow<'a, str>>, style: Style) -> Spans<'a> {
        self.0.push((text.into(), style));
        self
    }

    /// Appends `columns` spaces.
    pub fn space(self, columns: usize) -> Spans<'a> {
        self.text(" ".repeat(columns), Style::new())
    }

    /// Returns the width in columns.
    pub fn width(&self) -> usize {
        width(&self.0)
    }
}

impl<'a> std::ops::Deref for Spans<'a> {
    type Target = [(Cow<'a, str>, Style)];
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// The position at which a line that is too long is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// At the end, as for titles.
    End,
    /// In the middle, as for paths.
    Middle,
}

/// Returns the total width of all spans in columns.
pub fn width<T: AsRef<str>>(spans: &[(T, Style)]) -> usize {
    spans.iter().map(|(text, _)| text::width(text.as_ref())).sum()
}

/// Draws spans on the first line of `area`, cutting the line at its width with `…`. Returns the number of columns used.
/// Styles are applied on top of the cells' styles, so that a tint drawn before remains visible.
pub fn draw<T: AsRef<str>>(buf: &mut Buffer, area: Rect, spans: &[(T, Style)]) -> u16 {
    draw_cut(buf, area, spans, Cut::End)
}

/// Draws spans like [`draw`], cutting a line that is too long at `cut`.
pub fn draw_cut<T: AsRef<str>>(buf: &mut Buffer, area: Rect, spans: &[(T, Style)], cut: Cut) -> u16 {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return 0;
    }
    let room = usize::from(area.width);
    let total = spans.iter().try_fold(0, |sum, (text, _)| {
        let sum = sum + text::width_up_to(text.as_ref(), room + 1);
        if sum > room { Err(sum) } else { Ok(sum) }
    });
    let mut pen = Pen { x: area.x, y: area.y, end: area.right() };
    if total.is_ok() {
        pen.all(buf, spans);
        return pen.x - area.x;
    }
    let bytes: usize = spans.iter().map(|(text, _)| text.as_ref().len()).sum();
    // A longer line is not a path, and finding its end would require walking all of it.
    let tail =
        if cut == Cut::Middle && room >= 5 && bytes < 64 * 1024 { tail(spans, (room - 1) * 3 / 5) } else { vec![] };
    let tail_width = tail.iter().map(|(_, width, _)| *width as u16).sum::<u16>();
    pen.end = area.right() - 1 - tail_width;
    let style = pen.all(buf, spans);
    pen.end += 1;
    pen.put(buf, glyph::ellipsis(), 1, style);
    pen.end = area.right();
    for (symbol, width, style) in &tail {
        pen.put(buf, symbol, *width, *style);
    }
    pen.x - area.x
}

/// Draws `left` from the left edge and `right` up to the right edge. If both do not fit, `left` is cut. A right part
/// that would take the whole line is omitted. Returns the areas of both parts.
pub fn pair<T: AsRef<str>, U: AsRef<str>>(
    buf: &mut Buffer,
    area: Rect,
    left: &[(T, Style)],
    right: &[(U, Style)],
) -> (Rect, Rect) {
    let mut wide = width(right).min(usize::from(u16::MAX)) as u16;
    if wide.saturating_add(2) > area.width {
        wide = 0;
    }
    let before = Rect { width: area.width - wide - wide.min(1), ..area };
    let behind = Rect { x: area.right() - wide, width: wide, ..area };
    draw(buf, before, left);
    draw(buf, behind, right);
    (before, behind)
}

/// Returns the last `room` columns of the spans.
fn tail<T: AsRef<str>>(spans: &[(T, Style)], room: usize) -> Vec<(String, usize, Style)> {
    let mut out = Vec::new();
    let mut used = 0;
    'spans: for (text, style) in spans.iter().rev() {
        let pieces: Vec<_> = text::cells(text.as_ref()).collect();
        for piece in pieces.into_iter().rev() {
            if used + piece.width > room {
                break 'spans;
            }
            used += piece.width;
            out.push((piece.symbol.into_owned(), piece.width, *style));
        }
    }
    out.reverse();
    out
}

struct Pen {
    x: u16,
    y: u16,
    end: u16,
}

impl Pen {
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
    fn all<T: AsRef<str>>(&mut self, buf: &mut Buffer, spans: &[(T, Style)]) -> Style {
        let mut last = Style::new();
        for (text, style) in spans {
            for piece in text::cells(text.as_ref()) {
                last = *style;
                if !self.put(buf, &piece.symbol, piece.width, *style) {
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

    fn shown(width: u16, draw: impl FnOnce(&mut Buffer, Rect)) -> String {
        let area = Rect::new(0, 0, width, 1);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area);
        buf.content().iter().map(|cell| cell.symbol()).collect()
    }

    fn plain(text: &str) -> Vec<(&str, Style)> {
        vec![(text, Style::new())]
    }

    #[test]
    fn a_line_is_truncated_at_the_end_or_in_the_middle() {
        assert_eq!(shown(8, |b, a| _ = draw(b, a, &plain("abcdefgh"))), "abcdefgh");
        assert_eq!(shown(8, |b, a| _ = draw(b, a, &plain("abcdefghi"))), "abcdefg…");
        let path = [("src/render/", Style::new()), ("frame.rs", Style::new().bold())];
        assert_eq!(shown(15, |b, a| _ = draw_cut(b, a, &path, Cut::Middle)), "src/re…frame.rs");
    }

    #[test]
    fn the_right_part_stays_right_aligned() {
        assert_eq!(shown(12, |b, a| _ = pair(b, a, &plain("left"), &plain("3h"))), "left      3h");
        assert_eq!(shown(12, |b, a| _ = pair(b, a, &plain("a long left part"), &plain("3h"))), "a long l… 3h");
        assert_eq!(shown(4, |b, a| _ = pair(b, a, &plain("left"), &plain("right"))), "left");
    }

    #[test]
    fn spans_are_appended() {
        let spans = Spans::new().text("main", Style::new()).space(2).text(format!("{}h", 3), Style::new());
        assert_eq!(spans.width(), 8);
        assert_eq!(shown(10, |b, a| _ = pair(b, a, &spans, &Spans::new())), "main  3h  ");
    }

    #[test]
    fn hostile_text_and_tiny_areas_are_harmless() {
        assert_eq!(shown(10, |b, a| _ = draw(b, a, &plain("\u{1b}[2J\u{202e}"))), "␛[2J<U+20…");
        for width in 0..4 {
            let out = shown(width, |b, a| _ = pair(b, a, &plain("世界"), &plain("世")));
            assert!(text::width(&out) >= usize::from(width), "{out:?}");
        }
        let mut buf = Buffer::empty(Rect::new(0, 0, 3, 1));
        draw(&mut buf, Rect::new(2, 5, 90, 4), &plain("outside"));
    }
}
