//! Documents: a scrollable view whose lines are built only when visible. Used for blobs, diffs, traces and help.

mod wrap;

use super::drawn::Drawn;
use super::viewport::Viewport;
use crate::line::{self, Line, Paint, Span};
use crate::theme::{self, Role, Theme};
use crate::{cursor_hint, glyph, hyperlink, scroll_bar, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::borrow::Cow;

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

pub use wrap::Wrapping;

/// The number of columns of one step of horizontal scrolling.
pub const SCROLL_COLUMNS: usize = 8;

/// A line of a document. Its text is sanitized when drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocLine<'a> {
    /// Text to the left that is not scrolled horizontally: numbers, signs.
    pub gutter: Line<'static>,
    pub text: Line<'a>,
    /// A style for the whole width.
    pub fill: Option<Style>,
    /// Styles for parts of the text, such as matches of a search, as byte ranges of the text.
    pub marks: Vec<(Range<usize>, Style)>,
    /// The number of columns by which further rows of a wrapped line are indented, if it is wrapped between words.
    pub hang: Option<u16>,
    /// Links, as byte ranges of the text. A target is a web address, a path relative to the text, or a
    /// reference as written (`!12`, `@user`).
    pub links: Vec<(Range<usize>, Arc<str>)>,
}

impl<'a> DocLine<'a> {
    /// Creates a line of one look.
    pub fn new(text: impl Into<Cow<'a, str>>, paint: impl Into<Paint>) -> DocLine<'a> {
        Line::new(text, paint).into()
    }

    /// Returns the line with `prefix` before its text. Marks and links stay on their words.
    pub fn after(self, prefix: Line<'a>) -> DocLine<'a> {
        let shift = prefix.len();
        let shifted = |range: Range<usize>| range.start + shift..range.end + shift;
        let mut text = prefix;
        text.extend(self.text);
        DocLine {
            text,
            marks: self.marks.into_iter().map(|(range, style)| (shifted(range), style)).collect(),
            links: self.links.into_iter().map(|(range, target)| (shifted(range), target)).collect(),
            ..self
        }
    }

    /// Tints the line as one that was marked; in accessible mode, a word says so.
    pub fn mark(&mut self, theme: &Theme) {
        self.fill = Some(self.fill.unwrap_or_default().patch(theme.style(Role::Marked)));
        if glyph::is_accessible() {
            self.gutter.push("marked", Role::Dim);
        }
    }

    /// Returns the line as it is heard: the sign of a diff is a word before the text, the rest of the gutter follows it.
    fn in_words(mut self) -> DocLine<'a> {
        let mut sign = None;
        for Span { text, paint } in std::mem::take(&mut self.gutter) {
            let words = match text.trim() {
                "" => continue,
                "+" => {
                    sign = Some(("added ", paint));
                    continue;
                }
                "-" => {
                    sign = Some(("removed ", paint));
                    continue;
                }
                // Offsets of bytes begin with zeros.
                number if !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit()) => {
                    format!("L{number}")
                }
                words => words.to_owned(),
            };
            let gap = if self.text.is_empty() { "" } else { "  " };
            self.text.push(format!("{gap}{words}"), paint);
        }
        match sign {
            Some(sign) => self.after([sign].into()),
            None => self,
        }
    }

    /// Returns the same line without copying its text.
    pub fn borrowed(&self) -> DocLine<'_> {
        DocLine {
            gutter: self.gutter.clone(),
            text: self.text.borrowed(),
            fill: self.fill,
            marks: self.marks.clone(),
            hang: self.hang,
            links: self.links.clone(),
        }
    }
}

impl<'a> From<Line<'a>> for DocLine<'a> {
    fn from(text: Line<'a>) -> DocLine<'a> {
        DocLine { text, ..DocLine::default() }
    }
}

/// The number of lines kept visible above and below the cursor.
const MARGIN: usize = 3;

/// The viewport of a document.
#[derive(Clone, Debug)]
pub struct DocState {
    pub viewport: Viewport,
    /// The number of columns scrolled horizontally.
    pub left: usize,
    /// The number of visible text columns at the last draw.
    pub width: Drawn<usize>,
    /// Whether the cursor's line is tinted.
    pub cursor_line: bool,
    /// Whether long lines are wrapped.
    pub wrap: bool,
    /// Whether the cursor is at a column, as in an editor, so that accessible mode changes nothing.
    pub in_columns: bool,
    /// The position within wrapped lines.
    pub wrapping: Wrapping,
}

/// Moves that depend on neither wrapping nor columns are those of the viewport.
impl Deref for DocState {
    type Target = Viewport;

    fn deref(&self) -> &Viewport {
        &self.viewport
    }
}

impl DerefMut for DocState {
    fn deref_mut(&mut self) -> &mut Viewport {
        &mut self.viewport
    }
}

impl Default for DocState {
    fn default() -> DocState {
        DocState {
            viewport: Viewport::new(MARGIN),
            left: 0,
            width: Drawn::new(0),
            cursor_line: true,
            wrap: false,
            in_columns: false,
            wrapping: Wrapping::default(),
        }
    }
}

impl DocState {
    /// Creates a state at the first line.
    pub fn new() -> DocState {
        DocState::default()
    }

    /// Creates a state with the cursor on `line`, counted from 0.
    pub fn on(line: usize) -> DocState {
        let mut state = DocState::default();
        state.set_cursor(line);
        state
    }

    /// Creates a state that follows the end.
    pub fn following() -> DocState {
        let mut viewport = Viewport::new(MARGIN);
        viewport.follow = true;
        DocState { viewport, ..DocState::default() }
    }

    /// Returns whether the cursor's line is distinguishable from the others. In accessible mode it always is.
    pub(super) fn shows_cursor(&self) -> bool {
        self.cursor_line || glyph::is_accessible()
    }

    /// Returns whether lines are drawn as they are heard: in accessible mode, unless the cursor is at a column.
    fn is_in_words(&self) -> bool {
        glyph::is_accessible() && !self.in_columns
    }

    /// Returns whether long lines are wrapped. Those that are heard are, so that nothing is cut.
    pub fn wraps(&self) -> bool {
        self.wrap || self.is_in_words()
    }

    /// Moves the cursor by `by` lines, or within a wrapped line that is higher than the viewport. In accessible mode, a
    /// single step goes to the next row of a wrapped line, because readers say one row.
    pub fn move_by(&mut self, by: isize, len: usize) {
        if by.abs() == 1 && self.wrapping.step_row(by) {
            return;
        }
        if !self.scroll_within_line(by) {
            self.viewport.move_by(by, len);
        }
    }

    /// Moves by whole pages.
    pub fn page_by(&mut self, pages: isize, len: usize) {
        if !self.scroll_within_line(pages.saturating_mul(self.wrapping.page())) {
            self.viewport.page_by(pages, len);
        }
    }

    /// Moves by half pages.
    pub fn half_page_by(&mut self, halves: isize, len: usize) {
        if !self.scroll_within_line(halves.saturating_mul(self.wrapping.page() / 2 + 1)) {
            self.viewport.half_page_by(halves, len);
        }
    }

    fn scroll_within_line(&self, rows: isize) -> bool {
        self.wrap && self.wrapping.scroll_within(rows)
    }

    /// Moves to the first line and column.
    pub fn first(&mut self) {
        self.wrapping = Wrapping::default();
        self.left = 0;
        self.viewport.first();
    }

    /// Scrolls horizontally by `by` columns.
    pub fn scroll_columns_by(&mut self, by: isize) {
        self.left = self.left.saturating_add_signed(by);
    }

    /// Moves to the last line, and to the end of it if it is wrapped.
    pub fn last(&mut self, len: usize) {
        self.wrapping.wanted.set(self.wrap.then_some(usize::MAX));
        self.viewport.last(len);
    }

    /// Scrolls to make `columns` of the cursor's line visible, for a match far to the right.
    pub fn show_columns(&mut self, columns: Range<usize>) {
        if self.wraps() {
            return self.wrapping.wanted.set(Some(columns.start));
        }
        let width = self.width.get().max(1);
        if columns.start < self.left || columns.end > self.left + width {
            let whole = columns.end.saturating_sub(columns.start).min(width);
            // Returns to the start of the line if that is enough; otherwise the columns are placed a third of the way
            // in.
            self.left = if columns.end <= width { 0 } else { columns.start.saturating_sub((width - whole) / 3) };
        }
    }

    /// Returns the line at `y`, counted from the top of the area of the last draw, or `None` below the last line.
    pub fn line_at(&self, y: u16, len: usize) -> Option<usize> {
        let (y, rows) = (usize::from(y), self.wrapping.rows.borrow());
        if rows.is_empty() { self.visible_row(y, len) } else { rows.get(y).copied() }
    }
}

/// Draws the visible lines of a document of `len` lines. `line` is called only for those, and of each line only the
/// visible part is walked if its text allows that. The first column of `area` contains the cursor marker, the next
/// `gutter_width` columns the gutter, and the last one the scroll thumb. In accessible mode, the gutter follows the text.
#[allow(clippy::too_many_arguments)]
pub fn draw<'a>(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    focused: bool,
    state: &DocState,
    len: usize,
    gutter_width: u16,
    line: &dyn Fn(usize) -> DocLine<'a>,
) {
    let area = area.intersection(buf.area);
    if state.wraps() && !area.is_empty() {
        let in_words = state.is_in_words();
        let before = if in_words { 0 } else { 1 + gutter_width.min(area.width.saturating_sub(2)) };
        let line = |index| if in_words { line(index).in_words() } else { line(index) };
        return wrap::draw(buf, area, theme, focused, state, len, before, &line);
    }
    state.wrapping.rows.borrow_mut().clear();
    let top = state.window(len, usize::from(area.height));
    let gutter_width = gutter_width.min(area.width.saturating_sub(2));
    state.width.set(usize::from(area.width.saturating_sub(2 + gutter_width)));
    if area.is_empty() {
        return;
    }
    for (i, y) in (top..len).zip(area.y..area.bottom()) {
        let place = ScreenRow {
            area: Rect { y, height: 1, ..area },
            before: 1 + gutter_width,
            left: state.left,
            right: None,
            has_cursor: state.shows_cursor() && i == state.at(len),
            first: true,
            wrapped: false,
        };
        if place.has_cursor && focused {
            cursor_hint::set_selected(area.x, y);
        }
        row_line(buf, theme, focused, &place, &line(i), WalkStart::default());
    }
    scroll_bar::draw(buf, area, theme, top, area.height.into(), len);
}

/// A row of the screen and the part of a line that it shows.
struct ScreenRow {
    area: Rect,
    /// The number of columns before the text: those of the cursor marker and of the gutter.
    before: u16,
    /// The first column of the line to show.
    left: usize,
    /// The column at which the next row starts.
    right: Option<usize>,
    /// Whether the cursor is on this row.
    has_cursor: bool,
    /// Whether the line starts on this row.
    first: bool,
    /// Whether the line continues on the next row instead of beyond the edge.
    wrapped: bool,
}

/// A position in a line from which its symbols can be walked: the byte offset in all spans, and the column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct WalkStart {
    byte: usize,
    column: usize,
}

/// Draws a row, walking its line from `from` on. Returns the start and the end of the drawn part.
fn row_line(
    buf: &mut Buffer,
    theme: &Theme,
    focused: bool,
    place: &ScreenRow,
    built: &DocLine,
    from: WalkStart,
) -> (WalkStart, WalkStart) {
    let row = place.area;
    if let Some(fill) = built.fill {
        buf.set_style(row, fill);
    }
    let selected = theme.style(if focused { Role::Selected } else { Role::SelectedDim });
    if place.has_cursor {
        buf.set_style(row, selected);
        if place.before > 0 {
            let mark = theme.style(if focused { Role::Mark } else { Role::Faint });
            line::set(buf, row.x, row.y, glyph::mark(), 1, mark);
        }
    }
    if place.first {
        let gutter = Rect { x: row.x + 1, width: place.before.saturating_sub(1), ..row };
        built.gutter.draw(buf, gutter, theme);
    }
    let before = place.before;
    let mut area = Rect { x: row.x.saturating_add(before), width: row.width.saturating_sub(before + 1), ..row };
    if let Some(right) = place.right {
        area.width = area.width.min(u16::try_from(right.saturating_sub(place.left)).unwrap_or(u16::MAX));
    }
    let drawn = text_from(buf, area, theme, (place.left, place.wrapped), built, from);
    if place.has_cursor && theme::overrides_colors(selected) {
        buf.set_style(Rect { x: row.x.saturating_add(1), width: row.width.saturating_sub(1), ..row }, selected);
    }
    drawn
}

/// Draws the columns of a line from `left` on. If more text follows to the right and is not wrapped, the last column
/// shows `…`.
pub(super) fn text_line(buf: &mut Buffer, area: Rect, theme: &Theme, left: usize, wrapped: bool, built: &DocLine) {
    text_from(buf, area, theme, (left, wrapped), built, WalkStart::default());
}

/// Draws like [`text_line`], walking the line from `from`, which is not to the right of `left`. Returns the start and
/// the end of the drawn part.
fn text_from(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    (left, wrapped): (usize, bool),
    built: &DocLine,
    from: WalkStart,
) -> (WalkStart, WalkStart) {
    let room = usize::from(area.width);
    let (mut begin, mut here) = (None, from);
    if room == 0 {
        return (from, from);
    }
    // The column and the byte at which the current span starts; the last cell written and its width.
    let (mut column, mut byte) = (from.column, 0);
    let mut last = (0, 0);
    for Span { text: span, paint } in &built.text.spans {
        let base = paint.style(theme);
        let before = from.byte.saturating_sub(byte);
        let Some(rest) = span.get(before..).filter(|_| before < span.len()) else {
            byte += span.len();
            continue;
        };
        byte += before;
        let mut walk = text::cells_at(rest, column);
        walk.skip_to(left);
        loop {
            if let Some((at, column)) = walk.position() {
                here = WalkStart { byte: byte + at, column };
            }
            let Some(piece) = walk.next() else { break };
            let end = piece.column + piece.width;
            if end <= left {
                continue;
            }
            begin.get_or_insert(here);
            let at = byte + piece.at.start;
            let marked = built.marks.iter().rev().find(|(range, _)| range.contains(&at));
            let style = match marked {
                // The color of the text was made for the background that is replaced.
                Some((_, over)) if base.bg.is_some() && over.bg.is_some() => {
                    Style { fg: theme.style(Role::Text).fg, ..base }.patch(*over)
                }
                Some((_, over)) => base.patch(*over),
                None => base,
            };
            if end > left + room {
                if wrapped {
                    return (begin.unwrap_or(here), here);
                }
                let x = area.right() - 1;
                // Half of a wide character cannot remain before the marker.
                if let (first, 2..) = last
                    && first + 1 == x
                {
                    line::set(buf, first, area.y, " ", 1, Style::new());
                }
                line::set(buf, x, area.y, glyph::ellipsis(), 1, theme.style(Role::Faint));
                return (begin.unwrap_or(here), here);
            }
            if piece.column < left {
                // The right half of a wide character becomes a blank cell.
                for x in 0..end - left {
                    line::set(buf, area.x + x as u16, area.y, " ", 1, style);
                }
                continue;
            }
            let x = area.x + (piece.column - left) as u16;
            line::set(buf, x, area.y, &piece.symbol, piece.width, style);
            if let Some((_, target)) = built.links.iter().find(|(range, _)| range.contains(&at))
                && hyperlink::is_address(target)
            {
                hyperlink::add(x, area.y, piece.width as u16, target);
            }
            last = (x, piece.width);
        }
        column = walk.column();
        byte += rest.len();
    }
    (begin.unwrap_or(here), here)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen<'a>(
        width: u16,
        height: u16,
        state: &DocState,
        len: usize,
        line: impl Fn(usize) -> DocLine<'a>,
    ) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &Theme::plain(), true, state, len, 4, &line);
        let rows = buf.content().chunks(usize::from(width.max(1)));
        rows.map(|row| row.iter().map(|c| c.symbol()).collect::<String>().trim_end().to_string()).collect()
    }

    fn numbered(i: usize) -> DocLine<'static> {
        DocLine { gutter: Line::text(format!("{:>3}", i + 1)), ..DocLine::new(format!("line {i}"), Style::new()) }
    }

    #[test]
    fn a_million_lines_cost_no_more_than_one_screen() {
        let asked = std::cell::Cell::new(0);
        let mut state = DocState::new();
        state.last(1_000_000);
        let rows = screen(30, 10, &state, 1_000_000, |i| {
            asked.set(asked.get() + 1);
            numbered(i)
        });
        assert_eq!(asked.get(), 10);
        assert!(rows[9].starts_with("▌100 line 999999") || rows[9].contains("line 999999"), "{rows:?}");
    }

    #[test]
    fn a_huge_line_is_walked_only_where_visible() {
        let long = "0123456789".repeat(1_000_000);
        let mut state = DocState::new();
        let line = |_| DocLine::new(long.as_str(), Style::new());
        assert_eq!(screen(16, 1, &state, 1, line)[0], "▌    012345678…");
        state.scroll_columns_by(5_000_003);
        assert_eq!(screen(16, 1, &state, 1, line)[0], "▌    345678901…");
    }

    #[test]
    fn wide_characters_are_clipped_at_both_edges() {
        let mut state = DocState::new();
        let line = |_| DocLine::new("世界世界x", Style::new());
        // The buffer shows the second cell of a wide character as a space.
        assert_eq!(screen(11, 1, &state, 1, line)[0], "▌    世 界 …");
        state.scroll_columns_by(1);
        assert_eq!(screen(14, 1, &state, 1, line)[0], "▌     界 世 界 x");
        state.scroll_columns_by(7);
        assert_eq!(screen(14, 1, &state, 1, line)[0], "▌    x");
        state.scroll_columns_by(90);
        assert_eq!(screen(14, 1, &state, 1, line)[0], "▌");
    }

    #[test]
    fn matches_are_marked_across_spans_and_hostile_text_is_shown() {
        let theme = Theme::for_background(crate::theme::Background::Dark);
        let found = theme.style(Role::Match);
        let area = Rect::new(0, 0, 20, 1);
        let mut buf = Buffer::empty(area);
        let text = Line::text("\u{1b}ab").and("cd", Role::Text);
        let line = |_| DocLine { text: text.clone(), marks: vec![(2..4, found)], ..DocLine::default() };
        let state = DocState { cursor_line: false, ..DocState::new() };
        draw(&mut buf, area, &theme, true, &state, 1, 0, &line);
        let row: String = (1..6).map(|x| buf[(x, 0)].symbol()).collect();
        assert_eq!(row, "␛abcd");
        let marked: Vec<bool> = (1..6).map(|x| Some(buf[(x, 0)].bg) == found.bg).collect();
        assert_eq!(marked, [false, false, true, true, false]);
    }

    #[test]
    fn following_stays_at_the_end_until_the_cursor_moves_up() {
        let mut state = DocState::following();
        assert!(screen(30, 5, &state, 100, numbered)[4].contains("line 99"));
        assert!(screen(30, 5, &state, 200, numbered)[4].contains("line 199"));
        state.move_by(-1, 200);
        assert!(!state.follow);
        assert_eq!(state.at(300), 198);
        assert!(
            screen(30, 5, &state, 300, numbered).iter().any(|row| row.starts_with('▌') && row.contains("line 198"))
        );
    }

    #[test]
    fn going_to_a_line_centers_it() {
        let mut state = DocState::new();
        screen(30, 20, &state, 1_000, numbered);
        state.goto(500, 1_000);
        screen(30, 20, &state, 1_000, numbered);
        assert_eq!(state.top(), 490);
        state.goto(502, 1_000);
        screen(30, 20, &state, 1_000, numbered);
        assert_eq!(state.top(), 490, "in sight: nothing moves");
        assert_eq!(state.line_at(3, 1_000), Some(493));
        state.page_by(-1, 1_000);
        state.half_page_by(1, 1_000);
        state.scroll_by(-9_999, 1_000);
        screen(30, 20, &state, 1_000, numbered);
        assert_eq!(state.top(), 0);
        state.goto(9_999, 10);
        assert_eq!(state.at(10), 9);
    }

    #[test]
    fn a_match_far_to_the_right_is_scrolled_into_view() {
        let mut state = DocState::new();
        screen(46, 3, &state, 3, numbered);
        state.show_columns(10..14);
        assert_eq!(state.left, 0);
        state.show_columns(100..104);
        assert!(state.left <= 100 && 104 <= state.left + state.width.get());
        state.show_columns(2..4);
        assert_eq!(state.left, 0);
    }

    #[test]
    fn tiny_areas_do_not_panic() {
        for width in 0..12 {
            for height in 0..4 {
                for len in [0, 1, 50] {
                    for left in [0, 1, 99] {
                        let state = DocState { left, ..DocState::new() };
                        screen(width, height, &state, len, |_| DocLine::new("a世界\tb", Style::new()));
                    }
                }
            }
        }
    }
}
