//! A scrollable view of a diff: the visible rows, unified or side by side, with long lines cut or wrapped.

use super::draw::{RenderedRow, render_row};
use super::{DiffDoc, Layout, RowContent, Side};
use crate::doc::{self, DocLine, DocState};
use crate::line::{Paint, Span};
use crate::theme::{self, Role, Theme};
use crate::{cursor_hint, glyph, line, scroll_bar, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::ops::Range;

/// Maximum number of screen rows of a wrapped line. The rest is reached by scrolling horizontally.
const MAX_WRAPPED_ROWS: usize = 12;

/// The options for drawing a diff.
pub struct DiffOptions<'a> {
    pub theme: &'a Theme,
    pub focused: bool,
    /// Whether long lines are wrapped; `None` to wrap only those that are side by side.
    pub wrap: Option<bool>,
    /// A function that returns the highlighted byte ranges of a line's text, and their styles.
    pub marks: &'a dyn Fn(RowContent) -> Vec<(Range<usize>, Style)>,
    /// The marked lines: the index of the file and the range of lines.
    pub marked: Option<(usize, Range<usize>)>,
}

impl DiffOptions<'_> {
    fn wraps(&self, drawn: &RenderedRow) -> bool {
        self.wrap.unwrap_or(matches!(drawn, RenderedRow::Sides(..)))
    }
}

/// The areas of the columns.
struct Columns {
    /// The text of full-width rows, after their gutter.
    whole: Rect,
    gutter: u16,
    /// The text of both sides in the side-by-side layout.
    sides: [Rect; 2],
    side_gutter: u16,
}

/// Returns the gutter width of the unified layout in columns: two numbers and a sign. In accessible mode, they are not
/// before the text.
pub fn gutter(doc: &DiffDoc) -> u16 {
    if glyph::is_accessible() { 0 } else { (2 * doc.digits + 4) as u16 }
}

impl Columns {
    fn of(doc: &DiffDoc, area: Rect) -> Columns {
        // The first column shows the cursor marker, the last one the scroll thumb.
        let inner = Rect { x: area.x.saturating_add(1), width: area.width.saturating_sub(2), ..area };
        let behind = |area: Rect, gutter: u16| Rect {
            x: area.x.saturating_add(gutter.min(area.width)),
            width: area.width.saturating_sub(gutter),
            ..area
        };
        let gutter = gutter(doc).min(inner.width);
        let side_gutter = (doc.digits + 3) as u16;
        let half = inner.width.saturating_sub(1) / 2;
        let left = Rect { width: half, ..inner };
        let right = Rect { x: inner.x + half + 1, width: inner.width.saturating_sub(half + 1), ..inner };
        Columns {
            whole: behind(inner, gutter),
            gutter,
            sides: [behind(left, side_gutter), behind(right, side_gutter)],
            side_gutter,
        }
    }

    fn room(&self, layout: Layout) -> usize {
        let width = match layout {
            Layout::Unified => self.whole.width,
            Layout::Split => self.sides[0].width.min(self.sides[1].width),
        };
        usize::from(width)
    }
}

/// Returns the number of columns for the text of a side, side by side in an area of `width` columns.
pub fn side_width(doc: &DiffDoc, width: u16) -> usize {
    Columns::of(doc, Rect::new(0, 0, width, 1)).room(Layout::Split)
}

/// Draws the visible rows. Returns the row shown on each line of the area, for mouse clicks.
pub fn draw(buf: &mut Buffer, area: Rect, doc: &DiffDoc, state: &DocState, options: &DiffOptions) -> Vec<usize> {
    let area = area.intersection(buf.area);
    if glyph::is_accessible() {
        let line = |at| {
            let (content, drawn) = render_row(doc, at, options.theme)?;
            match decorate(doc, options, at, content, drawn) {
                RenderedRow::FullWidth { line, .. } => Some(line),
                RenderedRow::Sides(..) => None,
            }
        };
        let line = |at| line(at).unwrap_or_default();
        doc::draw(buf, area, options.theme, options.focused, state, doc.len(), 0, &line);
        return state.wrapping.rows();
    }
    let columns = Columns::of(doc, area);
    state.width.set(columns.room(doc.layout_at(state.at(doc.len()))));
    let may_wrap = options.wrap.unwrap_or(doc.has_sides());
    let height = usize::from(area.height);
    let height_of = |at: usize| match render_row(doc, at, options.theme) {
        Some((_, drawn)) if options.wraps(&drawn) => drawn_height(&drawn, &columns, state.left).min(height.max(1)),
        _ => 1,
    };
    let top =
        if may_wrap { wrapped_window(state, doc.len(), height, height_of) } else { state.window(doc.len(), height) };
    let mut shown = Vec::new();
    let mut y = area.y;
    for at in top..doc.len() {
        let Some(room) = area.bottom().checked_sub(y).filter(|room| *room > 0) else { break };
        let Some((content, drawn)) = render_row(doc, at, options.theme) else { break };
        let lines = if options.wraps(&drawn) { drawn_height(&drawn, &columns, state.left) as u16 } else { 1 };
        let lines = lines.clamp(1, room);
        let place_area = Rect { y, height: lines, ..area };
        draw_row(buf, place_area, &columns, doc, state, options, (at, content, drawn));
        shown.extend(std::iter::repeat_n(at, usize::from(lines)));
        y += lines;
    }
    if may_wrap && !shown.is_empty() {
        // Pages are counted in rows of the document.
        state.set_height((shown.last().copied().unwrap_or(top) + 1 - top).max(1));
    }
    scroll_bar::draw(buf, area, options.theme, top, area.height.into(), doc.len());
    shown
}

/// Scrolls a viewport of `height` screen lines, in which a row may take several, so that the cursor is visible. Returns
/// its first row.
fn wrapped_window(state: &DocState, len: usize, height: usize, height_of: impl Fn(usize) -> usize) -> usize {
    let cursor = state.at(len);
    let margin = if height > 14 { 2 } else { 0 };
    let mut top = state.top().min(cursor.saturating_sub(margin));
    if cursor - top > height {
        top = cursor - height;
    }
    let last = (cursor + margin).min(len.saturating_sub(1));
    let mut used: usize = (top..=last).map(&height_of).sum();
    while used > height && top < cursor {
        used -= height_of(top);
        top += 1;
    }
    state.set_top(top);
    state.set_height(height);
    top
}

fn drawn_height(drawn: &RenderedRow, columns: &Columns, left: usize) -> usize {
    match drawn {
        RenderedRow::FullWidth { fixed: true, .. } => 1,
        RenderedRow::FullWidth { line, .. } => line_height(line, left, usize::from(columns.whole.width)),
        RenderedRow::Sides(old, new) => [old, new]
            .into_iter()
            .zip(columns.sides)
            .map(|(line, side)| line.as_ref().map_or(1, |line| line_height(line, left, usize::from(side.width))))
            .max()
            .unwrap_or(1),
    }
}

/// Returns the number of screen rows that a wrapped line takes.
fn line_height(line: &DocLine, left: usize, room: usize) -> usize {
    let bytes: usize = line.text.len();
    if room == 0 || bytes <= room / 8 {
        return 1;
    }
    let mut wrap = Wrap::new(room);
    walk(line, left, |_, _, width| wrap.put(width).is_some_and(|(row, _)| row < MAX_WRAPPED_ROWS));
    (wrap.row + 1).min(MAX_WRAPPED_ROWS)
}

/// The positions of the symbols of a wrapped line.
struct Wrap {
    room: usize,
    row: usize,
    column: usize,
}

impl Wrap {
    fn new(room: usize) -> Wrap {
        Wrap { room, row: 0, column: 0 }
    }

    /// Returns the row and the column of the next symbol, or `None` if it is wider than the line.
    fn put(&mut self, width: usize) -> Option<(usize, usize)> {
        if width > self.room {
            return None;
        }
        if self.column + width > self.room {
            self.row += 1;
            self.column = 0;
        }
        let at = (self.row, self.column);
        self.column += width;
        Some(at)
    }
}

/// Walks the symbols of a line from column `left` on, while `each` returns true. `each` receives the symbol, its byte
/// offset in all spans with its look, and its width.
fn walk(line: &DocLine, left: usize, mut each: impl FnMut(&str, (usize, Paint), usize) -> bool) {
    let (mut column, mut byte) = (0, 0);
    for Span { text: span, paint } in &line.text.spans {
        let mut cells = text::cells_at(span, column);
        cells.skip_to(left);
        for piece in cells.by_ref() {
            if piece.column < left {
                continue;
            }
            if !each(&piece.symbol, (byte + piece.at.start, *paint), piece.width) {
                return;
            }
        }
        column = cells.column();
        byte += span.len();
    }
}

fn draw_row(
    buf: &mut Buffer,
    area: Rect,
    columns: &Columns,
    doc: &DiffDoc,
    state: &DocState,
    options: &DiffOptions,
    (at, content, drawn): (usize, RowContent, RenderedRow),
) {
    let theme = options.theme;
    let here = state.shows_cursor() && at == state.at(doc.len());
    let within = |rect: Rect| Rect { y: area.y, height: area.height, ..rect };
    let gutter = |rect: Rect, gutter: u16| Rect { x: rect.x - gutter.min(rect.x), width: gutter, y: area.y, height: 1 };
    let drawn = decorate(doc, options, at, content, drawn);
    let wraps = options.wraps(&drawn);
    match &drawn {
        RenderedRow::FullWidth { line, .. } => {
            if let Some(fill) = line.fill {
                buf.set_style(area, fill);
            }
        }
        RenderedRow::Sides(old, new) => {
            for (line, side) in [old, new].into_iter().zip(columns.sides) {
                if let Some(fill) = line.as_ref().and_then(|line| line.fill) {
                    let whole = Rect {
                        x: side.x.saturating_sub(columns.side_gutter),
                        width: side.width + columns.side_gutter,
                        ..within(side)
                    };
                    buf.set_style(whole, fill);
                }
            }
        }
    }
    let selected = theme.style(if options.focused { Role::Selected } else { Role::SelectedDim });
    if here {
        buf.set_style(area, selected);
        if options.focused {
            cursor_hint::set_selected(area.x, area.y);
        }
    }
    let mark = theme.style(if options.focused { Role::Mark } else { Role::Faint });
    match &drawn {
        RenderedRow::FullWidth { line, .. } if matches!(content, RowContent::File { .. }) => {
            // The name of a file starts directly after its marker.
            let used = line.gutter.draw(buf, gutter(columns.whole, columns.gutter), theme);
            let back = columns.gutter.saturating_sub(used);
            let whole = Rect { x: columns.whole.x - back, width: columns.whole.width + back, ..within(columns.whole) };
            draw_text(buf, whole, options.theme, (0, wraps), line);
        }
        RenderedRow::FullWidth { line, fixed } => {
            line.gutter.draw(buf, gutter(columns.whole, columns.gutter), theme);
            let left = if *fixed { 0 } else { state.left };
            draw_text(buf, within(columns.whole), options.theme, (left, wraps), line);
        }
        RenderedRow::Sides(old, new) => {
            let middle = columns.sides[1].x.saturating_sub(columns.side_gutter + 1);
            for y in area.y..area.bottom() {
                line::set(buf, middle, y, glyph::divider(), 1, theme.style(Role::Faint));
            }
            for (line, side) in [old, new].into_iter().zip(columns.sides) {
                let Some(line) = line else { continue };
                line.gutter.draw(buf, gutter(side, columns.side_gutter), theme);
                draw_text(buf, within(side), options.theme, (state.left, wraps), line);
            }
            if here && theme::overrides_colors(selected) {
                buf.set_style(area, selected);
            }
            let on_old = old.is_some() && (new.is_none() || doc.side() == Side::Old);
            if here && !on_old {
                // The cursor is on the new side.
                line::set(buf, middle, area.y, glyph::mark(), 1, mark);
                return;
            }
        }
    }
    if here && theme::overrides_colors(selected) {
        buf.set_style(area, selected);
    }
    if here {
        line::set(buf, area.x, area.y, glyph::mark(), 1, mark);
    }
}

/// Returns a row with highlights and marks on its lines.
fn decorate<'a>(
    doc: &DiffDoc,
    options: &DiffOptions,
    at: usize,
    content: RowContent,
    mut drawn: RenderedRow<'a>,
) -> RenderedRow<'a> {
    let is_marked = |file: usize, line: usize| {
        options.marked.as_ref().is_some_and(|(in_file, lines)| *in_file == file && lines.contains(&line))
    };
    let decorate_line = |line: &mut DocLine, content: RowContent| {
        line.marks = (options.marks)(content);
        if let RowContent::Line { file, line: index, .. } = content
            && is_marked(file, index)
        {
            line.mark(options.theme);
        }
    };
    match &mut drawn {
        RenderedRow::FullWidth { line, .. } => decorate_line(line, content),
        RenderedRow::Sides(old, new) => {
            let Some((file, hunk, left, right)) = doc.side_by_side(at) else { return drawn };
            for (line, index) in [(old, left), (new, right)] {
                if let (Some(line), Some(index)) = (line, index) {
                    decorate_line(line, RowContent::Line { file, hunk, line: index });
                }
            }
        }
    }
    drawn
}

/// Draws the columns of a line from `left` on, wrapped or cut.
fn draw_text(buf: &mut Buffer, area: Rect, theme: &Theme, (left, wraps): (usize, bool), line: &DocLine) {
    if area.height <= 1 && !wraps {
        return doc::text_line(buf, area, theme, left, false, line);
    }
    let mut wrap = Wrap::new(usize::from(area.width));
    let mut cut = false;
    walk(line, left, |symbol, (byte, paint), width| {
        let Some((row, column)) = wrap.put(width) else { return false };
        if row >= usize::from(area.height) {
            cut = true;
            return false;
        }
        let marked = line.marks.iter().rev().find(|(range, _)| range.contains(&byte));
        let style = paint.style(theme);
        let style = marked.map_or(style, |(_, over)| style.patch(*over));
        line::set(buf, area.x + column as u16, area.y + row as u16, symbol, width, style);
        true
    });
    if cut && !area.is_empty() {
        line::set(buf, area.right() - 1, area.bottom() - 1, glyph::ellipsis(), 1, theme.style(Role::Faint));
    }
}
