//! Tables: aligned columns, and a selection that stays on its item when the rows change. Only the visible rows are
//! built.
//!
//! The column by which people tell rows apart is never dropped, and gets the room for its texts before a column with a
//! `drop_order` is shown: for all short ones, and for three of four of the long ones, so that one long title does not take
//! a column from all rows (`arrange`). A state shrinks to its sign instead of being dropped (`TableColumn::shrinks`). The
//! table measures what it draws: `ListState::needed_width` is the width that shows these texts in full. If that is more
//! than the list's share, the panels beside it give way, down to their minimum (`Panels::giving_way`).
//! `tests/panes/lists.rs` checks all lists at four widths.

use super::drawn::Drawn;
use super::viewport::Viewport;
use crate::line::{self, Line};
use crate::theme::{Role, Theme};
use crate::{cursor_hint, glyph, scroll_bar, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

/// The width of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A fixed number of screen columns.
    Fixed(u16),
    /// The width of the widest cell seen, within these limits. An empty column is omitted.
    Fit { min: u16, max: u16 },
    /// A share by weight of the remaining space, at least `min`.
    Fill { min: u16, weight: u16 },
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// The title. A table without titles has no header line.
    pub title: &'static str,
    pub size: Size,
    /// Whether the text is right-aligned, as for numbers and ages.
    pub right: bool,
    /// The order in which columns are dropped from a narrow table: the highest number first, 0 never.
    pub priority: u8,
    /// Whether text is cut in the middle, as for paths.
    pub middle: bool,
    /// Whether it shrinks to the first word of its cells, a sign or a number, instead of being dropped.
    pub shrinks: bool,
    /// The sort order, if the rows are sorted by this column: `true` for descending.
    pub sorted: Option<bool>,
}

impl TableColumn {
    /// Creates a left-aligned column that is never dropped and whose text is cut at its end.
    pub const fn new(title: &'static str, size: Size) -> TableColumn {
        TableColumn { title, size, right: false, priority: 0, middle: false, shrinks: false, sorted: None }
    }

    /// Marks the column in the header as the one the rows are sorted by; `down` for descending.
    pub const fn sorted(self, down: bool) -> TableColumn {
        let width = self.title.len() as u16 + 1;
        let size = match self.size {
            Size::Fixed(fixed) if fixed < width => Size::Fixed(width),
            size => size,
        };
        TableColumn { sorted: Some(down), size, ..self }
    }

    /// Returns the header text.
    fn head(&self) -> Cow<'static, str> {
        match self.sorted {
            Some(down) if !self.title.is_empty() => {
                format!("{}{}", self.title, if down { glyph::down() } else { glyph::up() }).into()
            }
            _ => self.title.into(),
        }
    }

    /// Aligns the text to the right.
    pub const fn right(self) -> TableColumn {
        TableColumn { right: true, ..self }
    }

    /// Sets the priority for dropping the column from a narrow table: the highest number is dropped first.
    pub const fn drop_order(self, priority: u8) -> TableColumn {
        TableColumn { priority, ..self }
    }

    /// Shrinks the column to the first word of its cells, a sign or a number, instead of dropping it.
    pub const fn shrinks(self) -> TableColumn {
        TableColumn { shrinks: true, ..self }
    }

    /// Cuts text in the middle.
    pub const fn cut_in_middle(self) -> TableColumn {
        TableColumn { middle: true, ..self }
    }
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableRow<'a> {
    /// The cells, one per column. If the row has fewer, the last one extends to the right edge.
    pub cells: Vec<Line<'a>>,
    /// Whether the whole row is secondary, as for archived, merged or stale items.
    pub dim: bool,
    /// Whether the row is marked with Space.
    pub marked: bool,
    /// Whether the row is a section heading: the first cell over the whole width, followed by a rule.
    pub heading: bool,
    /// The index of the row's columns, in a table whose sections have different ones. A heading shows their titles.
    pub layout: usize,
}

impl<'a> TableRow<'a> {
    /// Creates an ordinary row.
    pub fn new(cells: Vec<Line<'a>>) -> TableRow<'a> {
        TableRow { cells, ..TableRow::default() }
    }

    /// Creates a section heading. The caller decides whether it is selectable; see [`ListState::leave_headings`].
    pub fn heading(text: impl Into<Cow<'a, str>>) -> TableRow<'a> {
        TableRow { cells: vec![(text, Role::TitleDim).into()], heading: true, ..TableRow::default() }
    }

    /// Sets the columns of the row, in a table whose sections have different ones.
    pub fn layout(self, layout: usize) -> TableRow<'a> {
        TableRow { layout, ..self }
    }

    /// Sets whether the row is secondary.
    pub fn dim(self, dim: bool) -> TableRow<'a> {
        TableRow { dim, ..self }
    }

    /// Adds a word in accessible mode if the row is marked, which otherwise only a tint shows.
    fn with_mark_text(mut self) -> TableRow<'a> {
        if self.marked
            && glyph::is_accessible()
            && let Some(cell) = self.cells.iter_mut().find(|cell| cell.spans.iter().any(|span| span.text.len() > 2))
        {
            cell.spans.insert(0, ("marked ", Role::Warning).into());
        }
        self
    }

    /// Sets whether the row is marked.
    pub fn marked(self, marked: bool) -> TableRow<'a> {
        TableRow { marked, ..self }
    }
}

/// The viewport of a list, whose cursor is the selection, and the marks.
#[derive(Clone, Debug)]
pub struct ListState {
    viewport: Viewport,
    /// The key of the selected item as of the last [`ListState::sync`], with its row; outdated on another row.
    key: Option<(usize, String)>,
    marked: BTreeSet<String>,
    header: Drawn<usize>,
    len: Drawn<usize>,
    /// The areas of the column titles, with their column indexes.
    header_areas: RefCell<Vec<(usize, Rect)>>,
    /// The natural widths seen so far, so that columns do not jump while scrolling.
    widths: RefCell<NaturalWidths>,
    needed_width: Drawn<u16>,
    /// The number of lines of each row, of which there are several in accessible mode alone.
    lines: Drawn<usize>,
}

/// Moves are those of the viewport.
impl Deref for ListState {
    type Target = Viewport;

    fn deref(&self) -> &Viewport {
        &self.viewport
    }
}

impl DerefMut for ListState {
    fn deref_mut(&mut self) -> &mut Viewport {
        &mut self.viewport
    }
}

impl Default for ListState {
    fn default() -> ListState {
        ListState {
            viewport: Viewport::new(MARGIN),
            key: None,
            marked: BTreeSet::new(),
            header: Drawn::new(0),
            len: Drawn::new(0),
            header_areas: RefCell::default(),
            widths: RefCell::default(),
            needed_width: Drawn::new(0),
            lines: Drawn::new(1),
        }
    }
}

impl ListState {
    /// Creates a state with the first row selected.
    pub fn new() -> ListState {
        ListState::default()
    }

    /// Forgets the widths seen so far, because other rows are listed now.
    pub fn reset_widths(&self) {
        self.widths.take();
        self.lines.set(1);
    }

    /// Returns the width that shows the texts of the rows in full, with the columns that matter, as of the last draw; 0
    /// before it. Panels beside the table give way to it.
    pub fn needed_width(&self) -> u16 {
        self.needed_width.get()
    }

    /// Returns the index of the selected row, which may not be loaded yet.
    pub fn selected(&self) -> usize {
        self.cursor()
    }

    /// If the selected row is not selectable, as a heading, moves to the next selectable row downwards or upwards, or
    /// in the other direction if there is none.
    pub fn leave_headings(&mut self, len: usize, down: bool, selectable: impl Fn(usize) -> bool) {
        if len == 0 || selectable(self.selected()) {
            return;
        }
        let below = (self.selected() + 1..len).find(|i| selectable(*i));
        let above = (0..self.selected().min(len)).rev().find(|i| selectable(*i));
        if let Some(index) = if down { below.or(above) } else { above.or(below) } {
            self.select(index, len);
        }
    }

    /// Keeps the selection on the same item after the list changed. Call it after every update. It computes one key if
    /// nothing changed; otherwise it searches outwards from the old position. If the item is gone, the selected index
    /// stays the same.
    pub fn sync(&mut self, len: usize, key_of: impl Fn(usize) -> String) {
        self.sync_loading(len, true, &key_of);
    }

    /// Keeps the selection like [`ListState::sync`], for a list that may still be loading page by page: an item that is
    /// not found is given up only if `is_complete`. Returns whether it was given up.
    pub fn sync_loading(&mut self, len: usize, is_complete: bool, key_of: &dyn Fn(usize) -> String) -> bool {
        if len == 0 {
            // The key is kept: a list is empty for a while when it is loaded again.
            return false;
        }
        let (selected, at) = (self.selected(), self.at(len));
        let key = self.key.take().filter(|(row, _)| *row == selected).map(|(_, key)| key);
        let found = match &key {
            None => Some(at),
            Some(key) => (0..len)
                .flat_map(|d| [at.checked_add(d).filter(|i| *i < len), at.checked_sub(d).filter(|_| d > 0)])
                .flatten()
                .find(|i| key_of(*i) == *key),
        };
        let to = found.unwrap_or(at);
        // New rows above push the list down; scroll so that the selected row stays in place on the screen.
        if key.is_some() && found.is_some_and(|found| found != selected) && self.top() > 0 {
            self.set_top((self.top() + to).saturating_sub(selected));
        }
        self.set_cursor(to);
        let is_lost = found.is_none();
        let kept = key.filter(|_| is_lost && !is_complete);
        self.key = Some((to, kept.unwrap_or_else(|| key_of(to))));
        is_lost && is_complete
    }

    /// Selects the row at `index` with the row `top` first on the screen. The rows may not be loaded yet.
    pub fn restore(&mut self, index: usize, top: usize) {
        self.set_cursor(index);
        self.key = None;
        self.set_top(top);
    }

    /// Returns to the first row because the rows were replaced. Marks are kept.
    pub fn reset_to_top(&mut self) {
        self.restore(0, 0);
    }

    /// Selects the item with `key` at the next [`ListState::sync`], such as a link target or a new item.
    pub fn select_key(&mut self, key: impl Into<String>) {
        self.key = Some((self.selected(), key.into()));
    }

    /// Returns the number of visible rows at the last draw, or before the first one the height of the screen.
    pub fn rows_on(&self, screen: u16) -> usize {
        Some(self.height()).filter(|height| *height > 0).unwrap_or(screen.into())
    }

    /// Returns the row at `y`, counted from the top of the area of the last draw, or `None` for the header and below
    /// the last row.
    pub fn row_at(&self, y: u16) -> Option<usize> {
        self.visible_row(usize::from(y).checked_sub(self.header.get())? / self.lines.get(), self.len.get())
    }

    /// Returns the areas of the column titles at the last draw with their column indexes. An area includes the gap
    /// after the column.
    pub fn header_areas(&self) -> Vec<(usize, Rect)> {
        self.header_areas.borrow().clone()
    }

    /// Toggles the mark of the item with `key`.
    pub fn toggle_mark(&mut self, key: impl Into<String>) {
        let key = key.into();
        if !self.marked.remove(&key) {
            self.marked.insert(key);
        }
    }

    /// Returns the keys of the marked items.
    pub fn marked(&self) -> &BTreeSet<String> {
        &self.marked
    }

    /// Returns whether the item with `key` is marked.
    pub fn is_marked(&self, key: &str) -> bool {
        self.marked.contains(key)
    }

    /// Clears all marks, and returns whether there were any.
    pub fn clear_marks(&mut self) -> bool {
        !std::mem::take(&mut self.marked).is_empty()
    }
}

/// The number of rows kept visible above and below the selection.
const MARGIN: usize = 2;

/// The number of screen columns between two columns of the table.
const GAP: u16 = 2;
/// The number of screen columns that the text of a title gets, or as many as it has, before columns that can be dropped
/// are shown.
const FULL_TITLE: u16 = 60;
/// The maximum width of a state of which only the sign or the number is shown.
const MAX_SIGN_WIDTH: u16 = 3;
/// The maximum width of a title that is never cut for the sake of other columns, in columns.
const SHORT_TITLE: usize = 40;
/// The minimum width to which a column is cut before it is dropped.
const MIN_CUT_WIDTH: u16 = 8;
/// The maximum natural width of a column. Longer texts are cut in any case.
const MAX_NATURAL_WIDTH: usize = 255;
/// The greatest priority for dropping of the columns that a panel beside the table must leave room for.
const NEEDED_PRIORITY: u8 = 2;
/// The maximum number of lines of a row in accessible mode, enough for a title of 255 characters and its facts.
const MAX_LINES: usize = 6;
const EMPTY: &[TableColumn] = &[];
/// The width of the selection marker and a space.
const MARKER_WIDTH: u16 = 2;

/// Draws the visible rows of a list of `len` rows. `row` is called only for those. The last column of the area is
/// reserved for the scroll thumb, the first for the selection marker.
#[allow(clippy::too_many_arguments)]
pub fn draw<'a>(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    focused: bool,
    state: &ListState,
    columns: &[TableColumn],
    len: usize,
    row: &dyn Fn(usize) -> TableRow<'a>,
) {
    // Rows have priority over titles: at least three of them, if there are so many.
    let enough = usize::from(area.intersection(buf.area).height) > len.clamp(1, 3);
    let header = enough && columns.iter().any(|c| !c.title.is_empty()) && !glyph::is_accessible();
    draw_rows(buf, area, theme, focused, state, header, &[columns], len, row);
}

/// Draws a list like [`draw`] whose sections have different columns: those of `layouts` at [`TableRow::layout`]. The
/// headings of the first section of a layout shows their titles.
#[allow(clippy::too_many_arguments)]
pub fn draw_sections<'a>(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    focused: bool,
    state: &ListState,
    layouts: &[&[TableColumn]],
    len: usize,
    row: &dyn Fn(usize) -> TableRow<'a>,
) {
    draw_rows(buf, area, theme, focused, state, false, layouts, len, row);
}

#[allow(clippy::too_many_arguments)]
fn draw_rows<'a>(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    focused: bool,
    state: &ListState,
    header: bool,
    layouts: &[&[TableColumn]],
    len: usize,
    row: &dyn Fn(usize) -> TableRow<'a>,
) {
    let area = area.intersection(buf.area);
    let header = u16::from(header);
    state.header.set(usize::from(header));
    state.header_areas.borrow_mut().clear();
    let body = Rect { y: area.y + header, height: area.height - header, ..area };
    state.len.set(len);
    let lines = state.lines.get().min(usize::from(body.height).max(1));
    let height = usize::from(body.height) / lines;
    let top = state.window(len, height);
    if area.is_empty() {
        return;
    }
    let rows: Vec<TableRow> = (top..len).take(height).map(row).map(TableRow::with_mark_text).collect();
    if glyph::is_accessible() {
        return draw_joined(buf, body, theme, focused, state, layouts, rows);
    }
    let room = area.width.saturating_sub(MARKER_WIDTH + 1);
    let natural = natural(state, area.width, layouts, &rows);
    let needed = layouts.iter().zip(&natural).map(|(columns, natural)| needed(columns, natural)).max().unwrap_or(0);
    state.needed_width.set(u16::try_from(needed).unwrap_or(u16::MAX).saturating_add(MARKER_WIDTH + 1));
    let widths: Vec<Vec<Option<u16>>> =
        layouts.iter().zip(&natural).map(|(columns, natural)| arrange(columns, natural, room)).collect();
    let layout =
        |index: usize| layouts.get(index).copied().zip(widths.get(index)).unwrap_or((&[], const { &Vec::new() }));

    if header > 0 {
        let (columns, widths) = layout(0);
        *state.header_areas.borrow_mut() = header_areas(area, widths);
        cells(buf, Rect { height: 1, ..area }, theme, columns, widths, &titles(columns));
    }
    let mut titled = BTreeSet::new();
    for ((i, mut row), y) in rows.into_iter().enumerate().zip(body.y..) {
        let line = Rect { y, height: 1, ..area };
        let (columns, widths) = layout(row.layout);
        if row.heading {
            // The next sections with the same columns need no titles.
            let has_titles = columns.iter().any(|column| !column.title.is_empty());
            let heads = titled.insert(row.layout) && layouts.len() > 1 && has_titles;
            let mut width = area.width;
            if heads {
                // The heading is shown in full, and the titles to the right of it.
                let end = line.x + MARKER_WIDTH + row.cells.iter().map(Line::width).sum::<usize>() as u16;
                let areas = header_areas(area, widths);
                let is_beside = |index| areas.iter().any(|(at, title)| *at == index && title.x >= end);
                let mut shown = titles(columns);
                for (at, title) in shown.iter_mut().enumerate() {
                    if !is_beside(at) {
                        *title = Line::empty();
                    }
                }
                let first = areas.iter().find(|(index, _)| shown.get(*index).is_some_and(|title| title.width() > 0));
                width = first.map_or(width, |(_, first)| first.x.saturating_sub(line.x + 1));
                cells(buf, line, theme, columns, widths, &shown);
            }
            heading(buf, Rect { width, ..line }, theme, std::mem::take(&mut row.cells), !heads);
        } else {
            if row.dim {
                row.cells.iter_mut().flat_map(|cell| &mut cell.spans).for_each(|span| span.paint = Role::Dim.into());
            }
            cells(buf, line, theme, columns, widths, &row.cells);
        }
        if row.marked {
            buf.set_style(line, theme.style(Role::Marked));
            // Without a tint, a marked row is bold, as a title is.
            line::set(buf, area.x + 1, y, glyph::marked(), 1, theme.style(Role::Warning));
        }
        if top + i == state.at(len) {
            buf.set_style(line, theme.style(if focused { Role::Selected } else { Role::SelectedDim }));
            let mark = theme.style(if focused { Role::Mark } else { Role::Faint });
            line::set(buf, area.x, y, glyph::mark(), 1, mark);
            if focused {
                cursor_hint::set_selected(area.x, y);
            }
        }
    }
    scroll_bar::draw(buf, body, theme, top, body.height.into(), len);
}

/// Returns the cells of the header.
fn titles(columns: &[TableColumn]) -> Vec<Line<'static>> {
    let role = |column: &TableColumn| if column.sorted.is_some() { Role::TitleDim } else { Role::Dim };
    columns.iter().map(|column| Line::new(column.head(), role(column))).collect()
}

/// Draws a heading: its text, followed by a rule to the right edge unless the titles of columns follow.
fn heading(buf: &mut Buffer, area: Rect, theme: &Theme, cells: Vec<Line>, rule: bool) {
    let place =
        Rect { x: area.x.saturating_add(MARKER_WIDTH), width: area.width.saturating_sub(MARKER_WIDTH + 1), ..area };
    let used = cells.into_iter().flatten().collect::<Line>().draw(buf, place, theme);
    let rule = (place.x + used + 1..place.right()).skip(usize::from(used == 0)).filter(|_| rule);
    for x in rule {
        line::set(buf, x, area.y, glyph::rule(), 1, theme.style(Role::Faint));
    }
}

/// Returns the areas of the titles of visible columns, each including the gap after it.
fn header_areas(area: Rect, widths: &[Option<u16>]) -> Vec<(usize, Rect)> {
    let mut x = area.x.saturating_add(MARKER_WIDTH);
    let mut header_areas = Vec::new();
    for (index, width) in widths.iter().enumerate() {
        let Some(width) = width else { continue };
        let head = Rect { x, y: area.y, width: width + GAP, height: 1 };
        header_areas.push((index, head.intersection(area)));
        x = x.saturating_add(width + GAP);
    }
    header_areas
}

fn is_blank(line: &Line) -> bool {
    line.spans.iter().all(|span| span.text.trim().is_empty())
}

/// Draws rows in accessible mode: the cells of each one after the other, in as many lines as the longest row needs.
fn draw_joined(
    buf: &mut Buffer,
    area: Rect,
    theme: &Theme,
    focused: bool,
    state: &ListState,
    layouts: &[&[TableColumn]],
    rows: Vec<TableRow>,
) {
    let width = area.width.saturating_sub(1);
    let columns = |row: &TableRow| layouts.get(row.layout).copied().unwrap_or(EMPTY);
    let texts: Vec<Vec<Line>> = rows.iter().map(|row| joined(columns(row), &row.cells, width.into())).collect();
    let (first, len) = (state.top(), state.len.get());
    let needed = texts.iter().map(Vec::len).max().unwrap_or(1).min(MAX_LINES);
    let lines = needed.max(state.lines.get()).min(usize::from(area.height)).max(1);
    state.lines.set(lines);
    let top = state.window(len, usize::from(area.height) / lines);
    let shown = rows.iter().zip(texts).enumerate().skip(top.saturating_sub(first));
    for ((index, (row, texts)), y) in shown.zip((area.y..area.bottom()).step_by(lines)) {
        let whole = Rect { y, height: (lines as u16).min(area.bottom() - y), ..area };
        if row.marked {
            buf.set_style(whole, theme.style(Role::Marked));
        }
        if first + index == state.at(len) {
            buf.set_style(whole, theme.style(if focused { Role::Selected } else { Role::SelectedDim }));
            if focused {
                cursor_hint::set_selected(area.x, y);
            }
        }
        for (text, y) in texts.iter().zip(y..whole.bottom()) {
            text.draw(buf, Rect { y, width, height: 1, ..area }, theme);
        }
    }
}

/// Returns the cells one after the other, in accessible mode: what matters first, without the gaps of empty cells, and
/// in several lines of `width` columns if there is not enough room.
fn joined<'a>(columns: &[TableColumn], texts: &[Line<'a>], width: usize) -> Vec<Line<'a>> {
    // Ages and numbers follow what has words, except for the number of the item.
    let priority =
        |index: &usize| columns.get(*index).map(|column| (column.right && column.priority > 0, column.priority));
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(priority);
    let mut lines = vec![Line::empty()];
    for text in order.into_iter().filter_map(|index| texts.get(index)).filter(|text| !is_blank(text)) {
        let used = lines.last().map_or(0, Line::width);
        match lines.last_mut() {
            Some(last) if used == 0 && text.width() <= width => *last = text.clone(),
            Some(last) if used > 0 && used + usize::from(GAP) + text.width() <= width => {
                last.push("  ", Role::Dim);
                last.extend(text.clone());
            }
            _ => {
                lines.retain(|line| !line.is_empty());
                let paint = text.spans.first().map_or(Role::Text.into(), |span| span.paint);
                let pieces = text::wrap(&text.plain_text(), width, MAX_LINES);
                lines.extend(pieces.into_iter().map(|piece| Line::new(piece, paint)));
            }
        }
    }
    lines
}

fn cells(buf: &mut Buffer, area: Rect, theme: &Theme, columns: &[TableColumn], widths: &[Option<u16>], texts: &[Line]) {
    let end = area.right().saturating_sub(1);
    let mut x = area.x.saturating_add(MARKER_WIDTH);
    for (index, ((column, width), text)) in columns.iter().zip(widths).zip(texts).enumerate() {
        let Some(width) = *width else { continue };
        let width = width.min(end.saturating_sub(x));
        if width == 0 {
            continue;
        }
        let more = if column.right { 0 } else { overflow_width(index, columns, widths, texts) };
        let reach = width.saturating_add(more).min(end.saturating_sub(x));
        let taken = if column.right { text.width().min(usize::from(width)) as u16 } else { reach };
        let place = Rect { x: if column.right { x + width - taken } else { x }, width: taken, ..area };
        let sign = (column.shrinks && text.width() > usize::from(width)).then(|| sign(text, width));
        sign.as_ref().unwrap_or(text).draw_cut(
            buf,
            place,
            theme,
            if column.middle { line::CutPosition::Middle } else { line::CutPosition::End },
        );
        x = x.saturating_add(width + GAP);
    }
}

/// Returns the extra width that a cell may use to its right. The last cell of a row may use all of the rest, a filling
/// one the width of the empty cells after it.
fn overflow_width(index: usize, columns: &[TableColumn], widths: &[Option<u16>], texts: &[Line]) -> u16 {
    let behind = index + 1;
    if behind == texts.len() {
        return if behind < columns.len() { u16::MAX } else { 0 };
    }
    if !columns.get(index).is_some_and(|column| matches!(column.size, Size::Fill { .. })) {
        return 0;
    }
    let is_empty = |cell: &usize| texts.get(*cell).is_some_and(Line::is_empty);
    let empty = (behind..texts.len()).take_while(is_empty);
    empty.filter_map(|cell| widths.get(cell).copied().flatten()).map(|width| width + GAP).sum()
}

/// Returns the first word of a cell, such as the sign of a state, in at most `width` columns; signs one after the other are
/// kept together, because one of several tells something else.
fn sign(text: &Line, width: u16) -> Line<'static> {
    if text.spans.len() > 1 && !text.spans.iter().any(|span| span.text.contains(' ')) {
        return text.spans.iter().map(|span| (span.text.to_string(), span.paint)).collect();
    }
    let first = text.spans.first().map(|span| (span.text.split(' ').next().unwrap_or_default(), span.paint));
    first.map(|(word, paint)| (text::head(word, width.into()), paint)).into_iter().collect()
}

/// The widths that a column wants.
#[derive(Clone, Copy, Debug, Default)]
struct Natural {
    /// The width of the widest cell seen, or of the title if that is wider.
    widest: u16,
    /// The width of the short cells, and of three of four of a screen.
    typical: u16,
    /// The width of the widest sign, if the column shrinks to it.
    sign: u16,
}

impl Natural {
    fn max(self, other: Natural) -> Natural {
        Natural {
            widest: self.widest.max(other.widest),
            typical: self.typical.max(other.typical),
            sign: self.sign.max(other.sign),
        }
    }

    /// Returns the widths for the cells of a column on one screen.
    fn of(column: &TableColumn, cells: &[&Line]) -> Natural {
        let wide = |cell: &&Line| cell.spans.iter().map(|span| text::width_up_to(&span.text, MAX_NATURAL_WIDTH)).sum();
        let mut widths: Vec<usize> = cells.iter().map(wide).filter(|width| *width > 0).collect();
        if widths.is_empty() {
            return Natural::default();
        }
        widths.sort_unstable();
        let titled = |width: usize| width.max(text::width(&column.head())).min(MAX_NATURAL_WIDTH) as u16;
        let most = widths.get((widths.len() * 3).div_ceil(4) - 1).copied().unwrap_or(0);
        let short = widths.iter().rev().find(|width| **width <= SHORT_TITLE).copied().unwrap_or(0);
        let typical = most.max(short);
        let signs = cells.iter().filter(|_| column.shrinks).map(|cell| sign(cell, MAX_SIGN_WIDTH).width());
        let sign = signs.max().unwrap_or(0) as u16;
        Natural { widest: titled(widths.last().copied().unwrap_or(0)), typical: titled(typical), sign }
    }
}

/// The natural widths of the columns of each layout, in a table of some width: the widest of all screens seen.
type NaturalWidths = (u16, Vec<Vec<Natural>>);

/// Updates the natural widths of the columns, seen since the width of the table last changed, and returns them.
fn natural(state: &ListState, width: u16, layouts: &[&[TableColumn]], rows: &[TableRow]) -> Vec<Vec<Natural>> {
    let mut seen = state.widths.borrow_mut();
    let is_same = |(widths, columns): (&Vec<Natural>, &&[TableColumn])| widths.len() == columns.len();
    if seen.0 != width || rows.is_empty() || seen.1.len() != layouts.len() || !seen.1.iter().zip(layouts).all(is_same) {
        *seen = (width, layouts.iter().map(|columns| vec![Natural::default(); columns.len()]).collect());
    }
    for (layout, (columns, known)) in layouts.iter().zip(&mut seen.1).enumerate() {
        let rows = || rows.iter().filter(|row| !row.heading && row.layout == layout);
        for (index, (column, known)) in columns.iter().zip(known).enumerate() {
            // The last cell of a row with fewer cells extends to the edge.
            let is_own = |row: &&TableRow| row.cells.len() >= columns.len() || index + 1 < row.cells.len();
            let cells: Vec<&Line> = rows().filter(is_own).filter_map(|row| row.cells.get(index)).collect();
            *known = known.max(Natural::of(column, &cells));
        }
    }
    align(layouts, &mut seen.1);
    seen.1.clone()
}

/// Gives the columns with which a layout begins like the first one the same widths.
fn align(layouts: &[&[TableColumn]], natural: &mut [Vec<Natural>]) {
    let Some(first) = layouts.first() else { return };
    let is_same =
        |at: usize, columns: &[TableColumn]| first.get(..=at).is_some_and(|own| columns.get(..=at) == Some(own));
    for (at, _) in first.iter().enumerate().take_while(|(_, column)| !matches!(column.size, Size::Fill { .. })) {
        let same = || layouts.iter().enumerate().filter(|(_, columns)| is_same(at, columns)).map(|(index, _)| index);
        let all = same().filter_map(|index| natural.get(index)?.get(at).copied());
        let widest = all.fold(Natural::default(), Natural::max);
        for index in same() {
            if let Some(width) = natural.get_mut(index).and_then(|widths| widths.get_mut(at)) {
                *width = widest;
            }
        }
    }
}

/// Returns the width of a column before the rest of the room is distributed; `None` if it is omitted. Columns that are
/// never dropped get at most `full`.
fn base_width(column: &TableColumn, natural: Natural, full: u16) -> Option<u16> {
    let Natural { widest, typical, .. } = natural;
    match column.size {
        Size::Fixed(width) => Some(width).filter(|_| widest > 0 || column.priority == 0),
        Size::Fit { .. } if widest == 0 => None,
        Size::Fit { min, max } if column.priority > 0 => Some(widest.max(min).min(max)),
        Size::Fit { min, max } => Some(widest.max(min).min(max).min(full)),
        Size::Fill { min, .. } if column.priority > 0 => Some(widest.min(min)),
        Size::Fill { .. } => Some(typical.min(full)),
    }
}

/// Returns the sum of the widths of visible columns and of the gaps between them.
fn used(widths: &[Option<u16>]) -> u32 {
    let kept = widths.iter().flatten().count() as u32;
    widths.iter().flatten().map(|w| u32::from(*w)).sum::<u32>() + kept.saturating_sub(1) * u32::from(GAP)
}

/// Returns the width of the columns that matter: of those that are never dropped, in full, and of the most important
/// others.
fn needed(columns: &[TableColumn], natural: &[Natural]) -> u32 {
    let needed = columns.iter().zip(natural).map(|(column, natural)| {
        let base = base_width(column, *natural, u16::MAX).filter(|_| column.priority <= NEEDED_PRIORITY);
        let is_full = column.priority == 0 && !matches!(column.size, Size::Fixed(_));
        let all = if matches!(column.size, Size::Fill { .. }) { natural.typical } else { natural.widest };
        base.map(|width| if is_full { width.max(all) } else { width })
    });
    used(&needed.collect::<Vec<Option<u16>>>())
}

/// Distributes `room` among the columns. Returns `None` for omitted columns.
///
/// Columns that are never dropped get the room for most of their texts before others are shown. If there is not enough
/// room for that, they get [`FULL_TITLE`], or two thirds if that is more. The others are shown by their priority, the
/// last one narrower if that helps; those that shrink to a sign are shown in any case. Then texts that are still cut get
/// the rest, the most important column first. What remains is blank, to the right of filling columns.
fn arrange(columns: &[TableColumn], natural: &[Natural], room: u16) -> Vec<Option<u16>> {
    let full = if needed(columns, natural) <= u32::from(room) { u16::MAX } else { FULL_TITLE.max(room / 3 * 2) };
    let room = u32::from(room);
    let mut widths: Vec<Option<u16>> =
        columns.iter().zip(natural).map(|(column, natural)| base_width(column, *natural, full)).collect();
    let mut is_shrunk = vec![false; columns.len()];
    loop {
        let over = used(&widths).saturating_sub(room);
        let kept = columns.iter().zip(natural).zip(widths.iter_mut().zip(&mut is_shrunk));
        let kept =
            kept.filter(|((column, _), (width, is_shrunk))| column.priority > 0 && width.is_some() && !**is_shrunk);
        let last = kept.max_by_key(|((column, _), _)| column.priority).filter(|_| over > 0);
        let Some(((column, natural), (width, is_shrunk))) = last else { break };
        if column.shrinks {
            (*width, *is_shrunk) = (width.map(|width| width.min(natural.sign)), true);
            continue;
        }
        let least = match column.size {
            Size::Fit { min, .. } => min.max(MIN_CUT_WIDTH),
            Size::Fixed(_) | Size::Fill { .. } => u16::MAX,
        };
        let narrower = width.and_then(|width| width.checked_sub(over as u16)).filter(|narrower| *narrower >= least);
        *width = narrower;
        if narrower.is_some() {
            break;
        }
    }
    // Columns that cannot be dropped shrink to their minimum: first those that fill, then the others, from right to
    // left.
    let is_fill = |column: &&TableColumn| matches!(column.size, Size::Fill { .. });
    for fills in [true, false] {
        for (index, column) in columns.iter().enumerate().rev().filter(|(_, column)| is_fill(column) == fills) {
            let over = used(&widths).saturating_sub(room).min(u32::from(u16::MAX)) as u16;
            let (Size::Fit { min, .. } | Size::Fill { min, .. }) = column.size else { continue };
            if let Some(Some(width)) = widths.get_mut(index).filter(|_| !column.shrinks) {
                *width = width.saturating_sub(over).max(min).min(*width);
            }
        }
    }
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|index| columns.get(*index).map(|column| column.priority));
    for index in order {
        let free = room.saturating_sub(used(&widths));
        let is_fixed = columns.get(index).is_none_or(|column| matches!(column.size, Size::Fixed(_)) || column.shrinks);
        if let (Some(Some(width)), Some(natural)) = (widths.get_mut(index).filter(|_| !is_fixed), natural.get(index)) {
            *width += natural.widest.saturating_sub(*width).min(free as u16);
        }
    }
    let free = room.saturating_sub(used(&widths));
    let weight = |column: &TableColumn| if let Size::Fill { weight, .. } = column.size { u32::from(weight) } else { 0 };
    let total: u32 = columns.iter().zip(&widths).filter(|(_, w)| w.is_some()).map(|(c, _)| weight(c)).sum();
    let (mut left, mut weights) = (free, total);
    for (column, width) in columns.iter().zip(widths.iter_mut()) {
        let Some(width) = width else { continue };
        let weight = weight(column);
        if weight > 0 && weights > 0 {
            let share = left * weight / weights;
            *width = width.saturating_add(share as u16);
            left -= share;
            weights -= weight;
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[TableColumn] = &[
        TableColumn::new("", Size::Fixed(1)),
        TableColumn::new("Branch", Size::Fill { min: 8, weight: 1 }),
        TableColumn::new("By", Size::Fit { min: 2, max: 10 }).drop_order(2),
        TableColumn::new("Age", Size::Fit { min: 3, max: 6 }).right().drop_order(1),
    ];

    fn branch(name: &str, by: &'static str, age: &'static str) -> TableRow<'static> {
        TableRow::new(vec![
            ("✓", Role::Success).into(),
            (name.to_string(), Role::Text).into(),
            (by, Role::User).into(),
            (age, Role::Dim).into(),
        ])
    }

    fn screen(
        width: u16,
        height: u16,
        state: &ListState,
        len: usize,
        row: impl Fn(usize) -> TableRow<'static>,
    ) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &Theme::plain(), true, state, COLUMNS, len, &row);
        let rows = buf.content().chunks(usize::from(width.max(1)));
        rows.map(|row| row.iter().map(|c| c.symbol()).collect::<String>().trim_end().to_string()).collect()
    }

    #[test]
    fn an_accessible_row_has_all_cells_and_is_not_highlighted() {
        let _words = glyph::LocalAlphabet::new(glyph::Alphabet::Words);
        let mut state = ListState::new();
        let rows =
            |index: usize| [branch("main", "ada", "2h"), branch("a long name of a branch", "", "3d")][index].clone();
        let area = Rect::new(0, 0, 30, 5);
        let frame = |state: &ListState| {
            let mut buf = Buffer::empty(area);
            draw(&mut buf, area, &Theme::plain(), true, state, COLUMNS, 2, &rows);
            buf
        };
        // The row that is too long takes two lines, so all do.
        let first = frame(&state);
        let lines: Vec<String> =
            first.content().chunks(30).map(|row| row.iter().map(|cell| cell.symbol()).collect()).collect();
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        assert_eq!(lines, ["✓  main  ada  2h", "", "✓  a long name of a branch", "3d", ""]);
        assert_eq!(cursor_hint::take(), Some((0, 0)));
        state.move_by(1, 2);
        assert_eq!(frame(&state), first);
        assert_eq!(cursor_hint::take(), Some((0, 2)));
    }

    #[test]
    fn a_marked_row_has_a_sign_in_every_theme() {
        let rows = screen(40, 4, &ListState::new(), 2, |i| two(i).marked(true));
        assert!(rows[1].starts_with("▌•✓  main") && rows[2].starts_with(" •✓  "), "{rows:#?}");
    }

    #[test]
    fn text_extends_into_empty_cells_after_it() {
        const THREE: &[TableColumn] = &[
            TableColumn::new("Title", Size::Fill { min: 8, weight: 1 }),
            TableColumn::new("By", Size::Fit { min: 2, max: 10 }),
            TableColumn::new("Age", Size::Fixed(3)).right(),
        ];
        let row = |by: &'static str| {
            let title = "a title with many words";
            TableRow::new(vec![Line::text(title), Line::text(by), Line::text("3h")])
        };
        let (area, state) = (Rect::new(0, 0, 30, 3), ListState::default());
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &Theme::plain(), true, &state, THREE, 2, &|i| row(if i == 0 { "" } else { "ada" }));
        let lines: Vec<String> = buf.content().chunks(30).map(|row| row.iter().map(|c| c.symbol()).collect()).collect();
        assert_eq!(lines[1], "▌ a title with many wor…   3h ");
        assert_eq!(lines[2], "  a title with man…  ada   3h ");
    }

    fn two(i: usize) -> TableRow<'static> {
        if i == 0 { branch("main", "ada", "3h") } else { branch("世界/feature-with-a-long-name", "bo", "12w") }
    }

    #[test]
    fn a_row_with_fewer_cells_extends_to_the_edge() {
        let failed =
            || TableRow::new(vec![("✗", Role::Failed).into(), ("git.example.org did not answer", Role::Dim).into()]);
        let lines = screen(40, 4, &ListState::new(), 3, |i| if i == 2 { failed() } else { two(i) });
        assert_eq!(lines[3], "  ✗  git.example.org did not answer");
    }

    #[test]
    fn columns_are_aligned_and_ages_right_aligned() {
        assert_eq!(
            screen(52, 4, &ListState::new(), 2, two),
            [
                "     Branch                                By   Age",
                "▌ ✓  main                                  ada   3h",
                "  ✓  世 界 /feature-with-a-long-name         bo   12w",
                "",
            ]
        );
    }

    #[test]
    fn the_least_important_column_is_dropped_first() {
        let short = |_| branch("feature/rows", "ada", "3h");
        assert!(screen(30, 4, &ListState::new(), 2, short)[1].contains("ada"));
        assert!(!screen(25, 4, &ListState::new(), 2, short)[1].contains("ada"));
        assert!(screen(25, 4, &ListState::new(), 2, short)[1].ends_with("3h"));
        assert_eq!(screen(20, 4, &ListState::new(), 2, short)[1], "▌ ✓  feature/rows");
    }

    #[test]
    fn titles_are_shown_in_full_before_columns_that_can_be_dropped() {
        let long = |_| branch("feature/with-a-long-name", "ada", "3h");
        assert_eq!(screen(36, 4, &ListState::new(), 2, long)[1], "▌ ✓  feature/with-a-long-name    3h");
        assert_eq!(screen(31, 4, &ListState::new(), 2, long)[1], "▌ ✓  feature/with-a-long-name");
        // A text that is too long gives way to the others, but takes what they leave.
        let endless = |_| branch(&"x".repeat(200), "ada", "3h");
        let cut = |width| screen(width, 4, &ListState::new(), 2, endless)[1].chars().filter(|c| *c == 'x').count();
        assert_eq!((cut(60), cut(80), cut(110), cut(214)), (53, 63, 93, 197));
    }

    #[test]
    fn one_long_title_takes_no_column_from_all_rows() {
        let mixed = |row: usize| branch(&"x".repeat(if row == 3 { 200 } else { 12 }), "ada", "3h");
        let rows = screen(40, 12, &ListState::new(), 8, mixed);
        assert!(rows[1].contains("xxx  ") && rows[1].contains("ada") && rows[1].ends_with("3h"), "{rows:#?}");
        assert!(rows[4].contains("…  ada"), "{rows:#?}");
        // The panel beside it does not give way to the long one.
        let state = ListState::new();
        screen(40, 12, &state, 8, mixed);
        assert_eq!(state.needed_width(), 2 + 1 + 2 + 12 + 2 + 3 + 2 + 3 + 1);
    }

    #[test]
    fn signs_one_after_the_other_are_kept_when_a_title_makes_room() {
        const STATES: &[TableColumn] = &[
            TableColumn::new("Title", Size::Fill { min: 8, weight: 1 }),
            TableColumn::new("Checks", Size::Fit { min: 1, max: 12 }).shrinks().drop_order(2),
        ];
        let row = |index| {
            let checks: Line = if index == 0 {
                ["✓", "✗", "»"].into_iter().map(|s| (s, Role::Text)).collect()
            } else {
                Line::text("✓")
            };
            TableRow::new(vec![Line::text("a title with many words"), checks])
        };
        let area = Rect::new(0, 0, 31, 3);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &Theme::plain(), true, &ListState::new(), STATES, 2, &row);
        let rows = buf.content().chunks(31);
        let rows: Vec<String> =
            rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()).collect();
        assert_eq!(rows[1..], ["▌ a title with many words  ✓✗»", "  a title with many words  ✓"]);
        assert_eq!(rows[0], "  Title                    Che");
    }

    #[test]
    fn a_state_shrinks_to_its_sign_before_titles_are_shown_in_full() {
        const STATES: &[TableColumn] = &[
            TableColumn::new("Title", Size::Fill { min: 8, weight: 1 }),
            TableColumn::new("Approvals", Size::Fit { min: 3, max: 12 }).shrinks().drop_order(2),
            TableColumn::new("Threads", Size::Fit { min: 3, max: 12 }).shrinks().drop_order(3),
            TableColumn::new("By", Size::Fit { min: 2, max: 10 }).drop_order(1),
        ];
        let row = |_| {
            let cells = ["a title with many words", "✓ 1 of 2", "12+ open", "ada"].map(Line::text);
            TableRow::new(cells.to_vec())
        };
        let shown = |width: u16| -> Vec<String> {
            let area = Rect::new(0, 0, width, 3);
            let mut buf = Buffer::empty(area);
            draw(&mut buf, area, &Theme::plain(), true, &ListState::new(), STATES, 1, &row);
            let rows = buf.content().chunks(usize::from(width));
            rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()).collect()
        };
        assert_eq!(shown(52)[1], "▌ a title with many words  ✓ 1 of 2   12+ open  ada");
        assert_eq!(shown(39)[..2], ["  Title                    A  Thr  By", "▌ a title with many words  ✓  12+  ada"]);
        let narrow = shown(30)[1].clone();
        assert!(narrow.starts_with("▌ a title with") && narrow.ends_with("…  ✓  12+"), "{narrow}");
        assert!(shown(3)[1].starts_with('▌'));
    }

    #[test]
    fn a_column_is_cut_before_it_is_dropped() {
        let by = |_| branch("feature/rows", "a-long-name", "3h");
        assert_eq!(screen(33, 4, &ListState::new(), 2, by)[1], "▌ ✓  feature/rows  a-long-…   3h");
        let narrow = screen(32, 4, &ListState::new(), 2, by)[1].clone();
        assert!(!narrow.contains("a-long") && narrow.ends_with(" 3h"), "{narrow}");
    }

    #[test]
    fn panels_beside_a_table_know_the_width_that_shows_all_titles() {
        let state = ListState::new();
        screen(40, 4, &state, 2, |_| branch(&"x".repeat(90), "ada", "3h"));
        assert_eq!(state.needed_width(), 2 + 1 + 2 + 90 + 2 + 3 + 2 + 3 + 1);
    }

    #[test]
    fn sections_have_columns_of_their_own_and_their_headings_show_the_titles() {
        const OTHER: &[TableColumn] = &[
            TableColumn::new("", Size::Fixed(1)),
            TableColumn::new("", Size::Fill { min: 4, weight: 1 }),
            TableColumn::new("Size", Size::Fit { min: 2, max: 6 }).right(),
        ];
        let area = Rect::new(0, 0, 40, 5);
        let mut buf = Buffer::empty(area);
        let row = |i: usize| match i {
            0 => TableRow::heading("Branches"),
            1 => branch("main", "ada", "3h"),
            2 => TableRow::heading("Files").layout(1),
            _ => TableRow::new(vec![Line::text("x"), Line::text("a.rs"), Line::text("12")]).layout(1),
        };
        draw_sections(&mut buf, area, &Theme::plain(), true, &ListState::new(), &[COLUMNS, OTHER], 4, &row);
        let lines: Vec<String> = buf.content().chunks(40).map(|row| row.iter().map(|c| c.symbol()).collect()).collect();
        assert_eq!(lines[1], "  ✓  main                      ada   3h ");
        assert_eq!(lines[2].trim_end(), "  Files                            Size");
        assert_eq!(lines[3].trim_end(), "  x  a.rs                            12");
    }

    #[test]
    fn an_empty_column_takes_no_space() {
        let rows = screen(30, 4, &ListState::new(), 1, |_| branch("main", "", "3h"));
        assert_eq!(rows[0], "     Branch               Age");
    }

    #[test]
    fn column_widths_are_stable_while_scrolling() {
        let mut state = ListState::new();
        let row = |i: usize| branch("b", if i == 0 { "a-long-name" } else { "bo" }, "1d");
        let before = screen(40, 6, &state, 100, row)[0].clone();
        state.select(90, 100);
        assert_eq!(screen(40, 6, &state, 100, row)[0], before);
    }

    #[test]
    fn a_million_rows_cost_no_more_than_one_screen() {
        let asked = std::cell::Cell::new(0);
        let mut state = ListState::new();
        state.last(1_000_000);
        let rows = screen(40, 20, &state, 1_000_000, |i| {
            asked.set(asked.get() + 1);
            branch(&format!("row {i}"), "ada", "3h")
        });
        assert_eq!(asked.get(), 19);
        assert!(rows[19].starts_with("▌ ✓  row 999999") && rows[19].ends_with('▐'), "{rows:?}");
    }

    #[test]
    fn the_selection_stays_on_its_item() {
        let mut state = ListState::new();
        let before = ["a", "b", "c"];
        state.select(1, 3);
        state.sync(3, |i| before[i].into());
        let after = ["new", "a", "x", "b"];
        state.sync(4, |i| after[i].into());
        assert_eq!(state.selected(), 3);
        state.sync(0, |_| String::new());
        state.sync(3, |i| before[i].into());
        assert_eq!(state.selected(), 1);
        let without = ["a"];
        state.sync(1, |i| without[i].into());
        assert_eq!(state.selected(), 0);
        state.select_key("c");
        state.sync(3, |i| before[i].into());
        assert_eq!(state.selected(), 2);
    }

    #[test]
    fn the_viewport_stays_when_rows_are_inserted_above() {
        let mut state = ListState::new();
        state.select(50, 100);
        state.sync(100, |i| i.to_string());
        let row = |i: usize| branch(&i.to_string(), "", "");
        screen(30, 12, &state, 100, row);
        let line = state.selected() - state.top();
        state.sync(105, |i| if i < 5 { format!("new {i}") } else { (i - 5).to_string() });
        screen(30, 12, &state, 105, row);
        assert_eq!((state.selected(), state.selected() - state.top()), (55, line));
    }

    #[test]
    fn the_cursor_stays_within_the_list() {
        let mut state = ListState::new();
        state.move_by(-1, 0);
        state.move_by(5, 3);
        assert_eq!(state.selected(), 2);
        screen(30, 10, &state, 100, |_| TableRow::default());
        state.page_by(2, 100);
        assert!(state.selected() > 10);
        state.page_by(-9, 100);
        assert_eq!(state.selected(), 0);
        state.scroll_by(30, 100);
        assert!(state.selected() >= 30, "the selection stays in sight");
        state.leave_headings(100, true, |i| i % 10 == 5);
        assert_eq!(state.selected() % 10, 5);
    }

    #[test]
    fn a_click_selects_its_row() {
        let state = ListState::new();
        screen(40, 4, &state, 2, two);
        assert_eq!([0, 1, 2, 3, 9].map(|y| state.row_at(y)), [None, Some(0), Some(1), None, None]);
    }

    #[test]
    fn headings_have_a_rule_and_rows_show_marks_and_dimming() {
        let mut state = ListState::new();
        state.select(1, 2);
        let rows = screen(20, 2, &state, 2, |i| if i == 0 { TableRow::heading("build") } else { two(0).marked(true) });
        assert_eq!(rows[0], "  build ───────────");
        state.toggle_mark("a");
        state.toggle_mark("b");
        state.toggle_mark("a");
        assert!(state.is_marked("b") && !state.is_marked("a") && state.marked().len() == 1);
    }

    #[test]
    fn the_selected_row_is_tinted_and_keeps_its_colors() {
        let theme = Theme::for_background(crate::theme::Background::Dark);
        let area = Rect::new(0, 0, 40, 2);
        let mut buf = Buffer::empty(area);
        draw(&mut buf, area, &theme, true, &ListState::new(), COLUMNS, 2, &two);
        let tint = theme.style(Role::Selected).bg.unwrap();
        assert!((0..40).all(|x| buf[(x, 0)].bg == tint));
        assert_eq!(buf[(2, 0)].fg, theme.style(Role::Success).fg.unwrap());
    }

    #[test]
    fn rows_take_precedence_over_titles() {
        let titled = |height, len| screen(40, height, &ListState::new(), len, two)[0].contains("Branch");
        assert!(titled(2, 1) && titled(3, 2) && titled(4, 3) && titled(4, 100));
        assert!(!titled(1, 1) && !titled(2, 2) && !titled(3, 100));
    }

    #[test]
    fn tiny_areas_do_not_panic() {
        for width in 0..30 {
            for height in 0..6 {
                for len in [0, 1, 50] {
                    screen(width, height, &ListState::new(), len, |i| {
                        if i % 7 == 0 { TableRow::heading("世界") } else { two(i) }
                    });
                }
            }
        }
    }
}
