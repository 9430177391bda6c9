//! Documents with wrapped lines. Only the visible lines are measured.

use super::{DocLine, DocState, ScreenRow, WalkStart, row_line};

use crate::line::Span;
use crate::theme::Theme;
use crate::{cursor_hint, glyph, scroll_bar, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Maximum length in bytes of a line that is wrapped at character boundaries. Longer lines are wrapped at fixed
/// columns, which requires no walk over all of the line.
const MAX_EXACT_BYTES: usize = 32 * 1024;

/// The scroll position within wrapped lines, in addition to [`DocState`].
#[derive(Clone, Debug, Default)]
pub struct Wrapping {
    /// The number of rows of the first line above the viewport.
    pub(super) skip: Cell<usize>,
    /// The column of the cursor's line that the next frame shows.
    pub(super) wanted: Cell<Option<usize>>,
    /// The number of rows of the cursor's line above and below the viewport.
    pub(super) hidden: Cell<(usize, usize)>,
    /// In accessible mode, the cursor's line, its row of that line, and the number of rows.
    row: Cell<(usize, usize, usize)>,
    /// The line shown in each visible row.
    pub(super) rows: RefCell<Vec<usize>>,
    /// The measured widths of long lines, by line number and size in bytes.
    measured: RefCell<VecDeque<((usize, usize), usize)>>,
    /// The start of the first visible row, by line number and size in bytes, so that the next frame can resume there.
    resume_at: Cell<((usize, usize), WalkStart)>,
}

/// The number of long lines whose width is cached, more than fit on a screen.
const MAX_MEASURED_LINES: usize = 128;

impl Wrapping {
    /// Scrolls by rows within a line that is taller than the viewport. Returns whether it did.
    pub(super) fn scroll_within(&self, by: isize) -> bool {
        let (above, below) = self.hidden.get();
        let rows = by.unsigned_abs();
        // Several steps may be made before the next frame, so the hidden rows are updated here.
        match by {
            1.. if below > 0 => {
                let rows = rows.min(below);
                self.skip.set(self.skip.get() + rows);
                self.hidden.set((above + rows, below - rows));
            }
            ..=-1 if above > 0 => {
                let rows = rows.min(above).min(self.skip.get());
                self.skip.set(self.skip.get() - rows);
                self.hidden.set((above - rows, below + rows));
            }
            _ => return false,
        }
        true
    }

    /// Moves the cursor to the next or the previous row of its line in accessible mode. Returns whether there is one.
    pub(super) fn step_row(&self, by: isize) -> bool {
        let (line, row, rows) = self.row.get();
        let to = row.checked_add_signed(by).filter(|row| *row < rows);
        // The next line begins at its first row.
        self.row.set((line, to.unwrap_or(0), to.map_or(0, |_| rows)));
        to.is_some()
    }

    /// Returns the cursor's row of its line, which was drawn in `rows` rows, and records them.
    fn cursor_row(&self, line: usize, rows: usize) -> usize {
        let (before, row, _) = self.row.get();
        let row = if before == line { row.min(rows.saturating_sub(1)) } else { 0 };
        self.row.set((line, row, rows));
        row
    }

    /// Returns the width of a long line in columns, cached by line number and size in bytes.
    fn columns(&self, line: &DocLine, key: (usize, usize)) -> usize {
        let mut measured = self.measured.borrow_mut();
        if let Some((_, columns)) = measured.iter().find(|(known, _)| *known == key) {
            return *columns;
        }
        let columns = line.text.width();
        measured.push_back((key, columns));
        let excess = measured.len().saturating_sub(MAX_MEASURED_LINES);
        measured.drain(..excess);
        columns
    }

    /// Returns the line shown in each visible row.
    pub fn rows(&self) -> Vec<usize> {
        self.rows.borrow().clone()
    }

    /// Returns the number of rows of a page: one less than visible.
    pub(super) fn page(&self) -> isize {
        self.rows.borrow().len().saturating_sub(1).max(1) as isize
    }
}

fn bytes_of(line: &DocLine) -> usize {
    line.text.len()
}

/// Returns the indentation of the rows after the first one. What is heard has none.
fn hang(line: &DocLine) -> usize {
    line.hang.filter(|_| !glyph::is_accessible()).unwrap_or(0).into()
}

/// The columns at which the rows of a line start.
enum RowStarts {
    At(Vec<usize>),
    Every(usize, usize),
}

impl RowStarts {
    fn of(line: &DocLine, index: usize, width: usize, wrapping: &Wrapping) -> RowStarts {
        let bytes = bytes_of(line);
        if bytes <= width && line.text.spans.iter().all(|span| span.text.is_ascii() && !span.text.contains('\t')) {
            return RowStarts::At(vec![0]);
        }
        if bytes > MAX_EXACT_BYTES {
            return RowStarts::Every(width, wrapping.columns(line, (index, bytes)).div_ceil(width).max(1));
        }
        let mut starts = vec![0];
        let (mut column, mut start, mut width) = (0, 0, width);
        // In accessible mode, words are not divided, if they are shorter than a row.
        let by_words = line.hang.is_some() || glyph::is_accessible();
        let further = width.saturating_sub(hang(line)).max(1);
        let mut word = 0;
        for Span { text: span, .. } in &line.text.spans {
            let mut walk = text::cells_at(span, column);
            for piece in walk.by_ref() {
                if piece.column + piece.width > start + width {
                    // A first row with nothing but what the others are indented by, such as a name, would be wasted.
                    let least = if starts.len() == 1 { hang(line) } else { start };
                    start = if word > least { word } else { piece.column };
                    starts.push(start);
                    width = further;
                }
                if piece.symbol == " " && by_words {
                    word = piece.column + piece.width;
                }
            }
            column = walk.column();
        }
        RowStarts::At(starts)
    }

    fn len(&self) -> usize {
        match self {
            RowStarts::At(starts) => starts.len(),
            RowStarts::Every(_, rows) => *rows,
        }
    }

    /// Returns the row that shows a column.
    fn row_at(&self, column: usize) -> usize {
        match self {
            RowStarts::At(starts) => starts.partition_point(|start| *start <= column).saturating_sub(1),
            RowStarts::Every(width, rows) => (column / width).min(rows.saturating_sub(1)),
        }
    }

    fn start(&self, row: usize) -> usize {
        match self {
            RowStarts::At(starts) => starts.get(row).copied().unwrap_or(0),
            RowStarts::Every(width, _) => row * width,
        }
    }
}

/// Draws the visible rows; see [`super::draw`].
#[allow(clippy::too_many_arguments)]
pub(super) fn draw<'a>(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    focused: bool,
    state: &DocState,
    len: usize,
    before: u16,
    line: &dyn Fn(usize) -> DocLine<'a>,
) {
    if len == 0 {
        return;
    }
    let wrapping = &state.wrapping;
    let (height, width) = (usize::from(area.height), usize::from(area.width.saturating_sub(before + 1)).max(1));
    let rows_of = |index: usize| RowStarts::of(&line(index), index, width, wrapping).len();
    let cursor = state.at(len);
    let (mut top, mut skip) = window(state.top().min(cursor), wrapping.skip.get(), cursor, height, rows_of);
    if let Some(column) = wrapping.wanted.take() {
        let breaks = RowStarts::of(&line(cursor), cursor, width, wrapping);
        let row = breaks.row_at(column);
        // The cursor's line begins at the top if it is higher than the viewport.
        if breaks.len() > height && !(top == cursor && (skip..skip + height).contains(&row)) {
            (top, skip) = (cursor, row.saturating_sub(height / 2).min(breaks.len() - height));
        }
    }
    state.set_top(top);
    let cursor_row = if glyph::is_accessible() { wrapping.cursor_row(cursor, rows_of(cursor)) } else { 0 };
    let mut visible = Vec::with_capacity(height);
    let (mut index, mut from, mut y) = (top, skip, area.y);
    while index < len && y < area.bottom() {
        let built = line(index);
        let breaks = RowStarts::of(&built, index, width, wrapping);
        if index == top {
            from = from.min(breaks.len().saturating_sub(1));
            if index == cursor && glyph::is_accessible() {
                from = from.clamp((cursor_row + 1).saturating_sub(height), cursor_row);
            }
            wrapping.skip.set(from);
        }
        let shown = (breaks.len() - from).min(usize::from(area.bottom() - y));
        if index == cursor && !glyph::is_accessible() {
            wrapping.hidden.set((from, breaks.len() - from - shown));
        }
        // A row starts at the end of the one above; the first visible row possibly where it started in the last frame.
        let key = (index, bytes_of(&built));
        let (known, resume_at) = wrapping.resume_at.get();
        let can_resume = known == key && key.1 > MAX_EXACT_BYTES && resume_at.column <= breaks.start(from);
        let mut start = if can_resume { resume_at } else { WalkStart::default() };
        for row in from..from + shown {
            let place = ScreenRow {
                area: Rect { y, height: 1, ..area },
                before: if row > 0 { before + hang(&built) as u16 } else { before },
                left: breaks.start(row),
                right: (row + 1 < breaks.len()).then(|| breaks.start(row + 1)),
                has_cursor: state.shows_cursor() && index == cursor,
                first: row == 0,
                wrapped: true,
            };
            if place.has_cursor && focused && row == from.max(cursor_row) {
                cursor_hint::set_selected(area.x, y);
            }
            let (begin, end) = row_line(buf, theme, focused, &place, &built, start);
            if index == top && row == from {
                wrapping.resume_at.set((key, begin));
            }
            start = end;
            visible.push(index);
            y += 1;
        }
        (index, from) = (index + 1, 0);
    }
    // Paging moves by whole visible lines.
    state.set_height((index - top).max(1));
    state.width.set(width);
    *wrapping.rows.borrow_mut() = visible;
    scroll_bar::draw(buf, area, theme, top, area.height.into(), len);
}

/// Returns the first line of the viewport and the number of its rows above it, such that the cursor's line is visible.
fn window(top: usize, skip: usize, cursor: usize, height: usize, rows_of: impl Fn(usize) -> usize) -> (usize, usize) {
    let own = rows_of(cursor);
    if top == cursor {
        return (cursor, skip.min(own.saturating_sub(1)));
    }
    let mut used = 0;
    for line in top..cursor {
        used += rows_of(line) - if line == top { skip.min(rows_of(line).saturating_sub(1)) } else { 0 };
        if used >= height {
            break;
        }
    }
    // A line taller than the viewport starts at its top.
    if used + own <= height || used < height && own > height && used == 0 {
        return (top, skip);
    }
    if own >= height {
        return (cursor, 0);
    }
    let mut room = height - own;
    let mut first = cursor;
    while room > 0 && first > top {
        let rows = rows_of(first - 1);
        first -= 1;
        if rows > room {
            return (first, rows - room);
        }
        room -= rows;
    }
    (first, 0)
}

#[cfg(test)]
mod tests {
    use super::super::{DocLine, DocState, draw};
    use crate::line::Line;
    use crate::theme::Theme;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    fn screen(width: u16, height: u16, state: &DocState, lines: &[&str]) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &Theme::plain(), true, state, lines.len(), 2, &|i| DocLine {
            gutter: Line::new(format!("{i}"), Style::new()),
            ..DocLine::new(lines[i], Style::new())
        });
        let rows = buf.content().chunks(usize::from(width.max(1)));
        rows.map(|row| row.iter().map(|c| c.symbol()).collect::<String>().trim_end().to_string()).collect()
    }

    fn wrapped() -> DocState {
        DocState { wrap: true, cursor_line: false, ..DocState::new() }
    }

    #[test]
    fn a_long_line_is_wrapped_below() {
        let state = wrapped();
        assert_eq!(screen(8, 4, &state, &["abcdefghij", "x"]), [" 0 abcd", "   efgh", "   ij", " 1 x"]);
        // A wide character that does not fit moves to the next row.
        assert_eq!(screen(8, 3, &state, &["abc世界d"])[..2], [" 0 abc", "   世 界"]);
    }

    #[test]
    fn a_long_word_begins_beside_the_name_of_its_row() {
        let area = Rect::new(0, 0, 15, 3);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &Theme::plain(), true, &wrapped(), 1, 0, &|_| DocLine {
            hang: Some(5),
            ..DocLine::new("web  abcdefghijkl mno", Style::new())
        });
        let rows = buf.content().chunks(15);
        let rows: Vec<String> =
            rows.map(|row| row.iter().map(|c| c.symbol()).collect::<String>().trim_end().to_string()).collect();
        assert_eq!(rows, [" web  abcdefgh", "      ijkl mno", ""]);
    }

    #[test]
    fn text_with_a_hanging_indent_is_wrapped_between_words() {
        let area = Rect::new(0, 0, 19, 5);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &Theme::plain(), true, &wrapped(), 2, 0, &|i| DocLine {
            hang: Some(5),
            ..DocLine::new(["who  ada and bo, who wrote it", "x"][i], Style::new())
        });
        let rows = buf.content().chunks(19);
        let rows: Vec<String> =
            rows.map(|row| row.iter().map(|c| c.symbol()).collect::<String>().trim_end().to_owned()).collect();
        assert_eq!(rows, [" who  ada and bo,", "      who wrote it", " x", "", ""]);
    }

    #[test]
    fn the_cursor_stays_visible_and_long_lines_scroll_by_rows() {
        let mut state = wrapped();
        let lines = ["abcdefgh", "1234", "ABCDEFGHIJKLMNOPQRST"];
        screen(8, 3, &state, &lines);
        state.move_by(1, 3);
        assert_eq!(screen(8, 3, &state, &lines), [" 0 abcd", "   efgh", " 1 1234"]);
        state.move_by(1, 3);
        assert_eq!(screen(8, 3, &state, &lines), [" 2 ABCD", "   EFGH", "   IJKL"]);
        state.move_by(1, 3);
        assert_eq!(screen(8, 3, &state, &lines), ["   EFGH", "   IJKL", "   MNOP"]);
        state.move_by(1, 3);
        state.move_by(1, 3);
        assert_eq!(screen(8, 3, &state, &lines)[2], "   QRST");
        state.move_by(-1, 3);
        assert_eq!(screen(8, 3, &state, &lines)[2], "   MNOP");
        assert_eq!(state.line_at(1, 3), Some(2));
    }

    #[test]
    fn wrapped_rows_continue_exactly_where_the_previous_row_ended() {
        for (text, width) in [("日本語\u{202e}x\t日本語\u{301}é\tend".repeat(3), 5), ("a\u{202e}".repeat(9), 3)]
        {
            let lines = [text.as_str()];
            let state = wrapped();
            let all = screen(width + 4, 60, &state, &lines);
            // Each row drawn first, without a walk over the rows before it, is the same.
            for (row, drawn) in all.iter().enumerate().take_while(|(_, row)| !row.trim().is_empty()) {
                let state = wrapped();
                state.wrapping.skip.set(row);
                assert_eq!(screen(width + 4, 1, &state, &lines)[0].get(3..), drawn.get(3..), "row {row} of {text:?}");
            }
        }
    }

    #[test]
    fn a_long_line_is_not_walked_again_for_each_frame() {
        let long = "日本語".repeat(40_000);
        let mut state = wrapped();
        let lines = [long.as_str()];
        screen(14, 4, &state, &lines);
        for _ in 0..20_000 {
            state.move_by(1, 1);
        }
        let deep = screen(14, 4, &state, &lines);
        let (at, start) = state.wrapping.resume_at.get();
        assert_eq!((at, start.column), ((0, long.len()), 10 * 20_000));
        assert_eq!(screen(14, 4, &state, &lines), deep);
    }

    #[test]
    fn a_huge_line_can_be_paged() {
        let long = "0123456789".repeat(1_000_000);
        let mut state = wrapped();
        let lines = [long.as_str()];
        assert_eq!(screen(14, 2, &state, &lines), [" 0 0123456789", "   0123456789"]);
        state.page_by(1, 1);
        screen(14, 2, &state, &lines);
        assert!(state.wrapping.skip.get() > 0);
    }

    #[test]
    fn a_column_far_down_in_a_line_is_shown_and_the_end_is_the_end_of_the_line() {
        for long in ["abcd".repeat(2_000), "abcd".repeat(20_000)] {
            let text = format!("{long}XYZ{long}END!");
            let (mut state, lines) = (wrapped(), ["first", text.as_str()]);
            screen(8, 4, &state, &lines);
            state.goto(1, 2);
            state.show_columns(long.len()..long.len() + 3);
            assert!(screen(8, 4, &state, &lines).contains(&"   XYZa".to_owned()));
            state.last(2);
            assert_eq!(screen(8, 4, &state, &lines)[3], "   ND!");
            assert_eq!(screen(8, 4, &state, &lines)[3], "   ND!");
            state.first();
            assert_eq!(screen(8, 4, &state, &lines)[0], " 0 firs");
        }
    }

    #[test]
    fn tiny_areas_do_not_panic() {
        for width in 0..8 {
            for height in 0..4 {
                let mut state = wrapped();
                for by in [1, 1, 1, -1, 5, -5] {
                    screen(width, height, &state, &["世界\tabc\u{301}", "", "xxxxxxxxxxxxxxxx"]);
                    state.move_by(by, 3);
                }
            }
        }
    }
}
