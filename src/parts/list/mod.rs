//! The common part of all list panes: rows from pages of the server, filter, selection, wheel and clicks, and
//! placeholders for lists without rows.

pub mod columns;
pub mod detail;
pub mod pane;
pub mod prelude;
pub mod query_list;
pub mod request_limit;
pub mod scope;
pub mod sheet;
pub mod source;

use crate::api::Fault;
use crate::api::identity::GetMetadata;
use crate::app::command_info::Disabled;
use crate::app::features;
use crate::app::motion::Motion;
use crate::app::pane::Breadcrumb;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::parts::project;
use crate::store::{Cut, Derived, Load, Revision, Rows, Want};
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::table::{self, ListState, TableColumn, TableRow};
use crate::ui::theme::Role;
use crate::ui::{glyph, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The maximum number of rows that a local filter searches; the breadcrumbs show if there are more.
const MAX_FILTERED_ROWS: usize = 3_000;
/// The maximum number of pages that are searched for a row to reveal.
const MAX_REVEAL_PAGES: u32 = 50;

/// A list from the pages of an endpoint, with a filter.
///
/// The filter may be part of the request, in a query made of [`Listing::filter_text`]: then the rows of
/// [`Listing::shown`] stay, dimmed, until the reply arrives. Or it is applied to the loaded rows: see
/// [`Listing::narrow`].
#[derive(Default)]
pub struct Listing {
    /// The selection.
    pub state: ListState,
    more_pages: u32,
    area: Drawn<Rect>,
    /// The filter as typed, and the one whose rows are shown.
    filter_text: String,
    shown: String,
    visible_rows: VisibleRows,
    /// The selected row and the scroll offset before the filter was set.
    before: (usize, usize),
    reveal: Option<Reveal>,
}

/// A line of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListLine {
    /// The heading of a group of rows, by an ID that the pane chooses. The cursor skips it, except in accessible mode,
    /// where it is read like a row.
    Heading(u64),
    /// A row, by its index among the loaded rows.
    Row(usize),
}

/// Lines, and the number of rows among them.
#[derive(Clone)]
struct VisibleLines {
    all: Vec<ListLine>,
    rows: usize,
}

impl VisibleLines {
    const NONE: &VisibleLines = &VisibleLines { all: Vec::new(), rows: 0 };

    fn new(all: Vec<ListLine>) -> VisibleLines {
        let rows = all.iter().filter(|line| matches!(line, ListLine::Row(_))).count();
        VisibleLines { all, rows }
    }
}

/// The visible lines, if those are not all rows in the server's order.
#[derive(Default)]
struct VisibleRows {
    /// The lines of the rows that match the filter, by its words.
    filtered: Derived<String, VisibleLines>,
    /// The lines of the rows in a local order, by the name of the order and the filter's words.
    sorted: Derived<(String, String), VisibleLines>,
}

impl VisibleRows {
    /// Returns the visible lines; `None` for all rows. Lines computed from other rows are not used: the result is empty
    /// then.
    fn of<T: 'static>(&self, rows: &Rows<'_, T>) -> Option<&VisibleLines> {
        let lines = match (self.sorted.is_set(), self.filtered.is_set()) {
            (true, _) => self.sorted.get(rows.revision),
            (false, true) => self.filtered.get(rows.revision),
            (false, false) => return None,
        };
        Some(lines.unwrap_or(VisibleLines::NONE))
    }

    /// Returns the visible line at `index`.
    fn line<T: 'static>(&self, rows: &Rows<'_, T>, index: usize) -> Option<ListLine> {
        self.of(rows).map_or(Some(ListLine::Row(index)), |lines| lines.all.get(index).copied())
    }

    /// Returns the visible row at `index`; `None` for a heading.
    fn at<'a, T: 'static>(&self, rows: &Rows<'a, T>, index: usize) -> Option<&'a T> {
        match self.line(rows, index)? {
            ListLine::Row(row) => rows.get(row),
            ListLine::Heading(_) => None,
        }
    }

    /// Returns the key of the visible line at `index`.
    fn key<T: 'static>(&self, rows: &Rows<'_, T>, index: usize, key: impl Fn(&T) -> String) -> String {
        match self.line(rows, index) {
            Some(ListLine::Heading(id)) => format!("heading {id}"),
            _ => self.at(rows, index).map(key).unwrap_or_default(),
        }
    }

    /// Returns whether the cursor can be on the line at `index`. Only arranged lines have headings, and they are not
    /// sorted.
    fn is_stop(&self, index: usize) -> bool {
        let line = self.filtered.latest().and_then(|lines| lines.all.get(index));
        glyph::is_accessible() || !matches!(line, Some(ListLine::Heading(_)))
    }
}

/// A row to select, wherever it is in the list.
struct Reveal {
    key: String,
    /// The revision of the list that was searched last.
    searched: Option<Revision>,
    /// Whether the row may be missing until the list changes.
    expected: bool,
}

impl Listing {
    /// Returns the number of pages that are needed.
    pub fn pages(&self) -> u32 {
        1 + self.more_pages
    }

    /// Resets the list to its top for other rows, with the same filter.
    pub fn restart(&mut self) {
        let filter_text = std::mem::take(&mut self.filter_text);
        *self = Listing { shown: filter_text.clone(), filter_text, ..Listing::default() };
    }

    /// Creates a list with the filter `text`.
    pub fn with_filter(text: &str) -> Listing {
        Listing { filter_text: text.to_owned(), shown: text.to_owned(), ..Listing::default() }
    }

    /// Selects the row with `key`, loading pages until it is found, up to a limit.
    pub fn reveal(&mut self, key: impl Into<String>) {
        self.reveal = Some(Reveal { key: key.into(), searched: None, expected: false });
    }

    /// Selects the row with `key` once the list has it, because it is just being created.
    pub fn reveal_new(&mut self, key: impl Into<String>) {
        self.reveal = Some(Reveal { key: key.into(), searched: None, expected: true });
    }

    // ---- filter

    /// Returns the filter as typed, for the request.
    pub fn filter_text(&self) -> &str {
        &self.filter_text
    }

    /// Returns the filter whose rows are shown.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns whether the rows that are shown are those of an earlier filter.
    pub fn is_filter_pending(&self) -> bool {
        self.shown != self.filter_text
    }

    /// Returns the delay before a new filter is sent, so that not every keystroke is a request.
    pub fn filter_delay(&self) -> Duration {
        Duration::from_millis(if self.filter_text.is_empty() { 0 } else { 120 })
    }

    /// Changes the filter; `here` is the key of the selected row, which stays selected when the filter is cleared.
    pub fn set_filter(&mut self, text: &str, here: Option<String>) {
        if self.filter_text == text {
            return;
        }
        if self.filter_text.is_empty() {
            self.before = (self.state.selected(), self.state.top());
        }
        self.filter_text = text.to_owned();
        self.more_pages = 0;
        self.reveal = None;
        if text.is_empty()
            && let Some(key) = here
        {
            self.reveal(key);
        }
    }

    /// Switches to the rows of a filter that is part of the request after a store update; `rows` are those of the typed
    /// filter.
    pub fn switch_when_loaded<T: 'static>(&mut self, rows: &Rows<'_, T>) {
        if self.is_filter_pending() && (rows.is_loaded || rows.error.is_some()) {
            self.show_filter();
        }
    }

    /// Applies a local filter after a store update: keeps the rows for which `fits` is true, which gets the words in
    /// lowercase.
    pub fn narrow<T: 'static>(&mut self, rows: &Rows<'_, T>, fits: impl Fn(&T, &str) -> bool) {
        if self.is_filter_pending() {
            self.show_filter();
        }
        let words = self.filter_text.to_lowercase();
        self.narrow_to(rows, &words, |row| fits(row, &words));
    }

    /// Applies the local part of a filter after a store update: keeps the rows for which `fits` is true, or all rows if
    /// `words`, which identifies the filter, is empty.
    pub fn narrow_to<T: 'static>(&mut self, rows: &Rows<'_, T>, words: &str, fits: impl Fn(&T) -> bool) {
        if words.is_empty() {
            return self.visible_rows.filtered.clear();
        }
        self.arrange(rows, words, || {
            let filtered = rows.iter().take(MAX_FILTERED_ROWS).enumerate().filter(|(_, row)| fits(row));
            filtered.map(|(index, _)| ListLine::Row(index)).collect()
        });
    }

    /// Arranges the rows after a store update: shows the lines that `arrange` returns, unless neither the rows nor
    /// `words`, which identifies the filter or what else the lines depend on, changed.
    pub fn arrange<T: 'static>(&mut self, rows: &Rows<'_, T>, words: &str, arrange: impl FnOnce() -> Vec<ListLine>) {
        if self.visible_rows.filtered.key().is_none_or(|key| key != words) {
            self.state.reset_widths();
        }
        self.visible_rows.filtered.update(rows.revision, words.to_owned(), || VisibleLines::new(arrange()));
    }

    /// Switches to the rows of the typed filter.
    fn show_filter(&mut self) {
        self.shown.clone_from(&self.filter_text);
        self.state.reset_to_top();
        self.state.reset_widths();
        if self.filter_text.is_empty() {
            // Restore the position until the row is found, or if it is not found.
            self.state.restore(self.before.0, self.before.1);
        }
    }

    /// Returns the number of visible lines.
    pub fn len<T: 'static>(&self, rows: &Rows<'_, T>) -> usize {
        self.visible_rows.of(rows).map_or_else(|| rows.len(), |lines| lines.all.len())
    }

    /// Sorts the loaded rows by their keys after a store update, once the filter is applied; `by` identifies the order.
    pub fn order<T: 'static, K: Ord>(&mut self, rows: &Rows<'_, T>, by: &str, descending: bool, key: impl Fn(&T) -> K) {
        let keys = || rows.iter().take(MAX_FILTERED_ROWS).map(&key).collect();
        self.order_by(rows.revision, by, descending, &keys);
    }

    /// The part of [`Listing::order`] that does not depend on the type of the rows, given their keys.
    fn order_by<K: Ord>(&mut self, revision: Revision, by: &str, descending: bool, keys: &dyn Fn() -> Vec<K>) {
        let words = self.visible_rows.filtered.key().cloned().unwrap_or_default();
        let filtered = &self.visible_rows.filtered;
        self.visible_rows.sorted.update(revision, (by.to_owned(), words), || {
            let keys = keys();
            let mut lines = match filtered.get(revision) {
                Some(filtered) => filtered.all.clone(),
                None => (0..keys.len()).map(ListLine::Row).collect(),
            };
            let key = |line: &ListLine| match line {
                ListLine::Row(row) => keys.get(*row),
                ListLine::Heading(_) => None,
            };
            // The sort is stable, so that equal rows stay in the server's order.
            lines.sort_by(|a, b| if descending { key(b).cmp(&key(a)) } else { key(a).cmp(&key(b)) });
            VisibleLines::new(lines)
        });
    }

    /// Restores the server's order.
    pub fn unorder(&mut self) {
        self.visible_rows.sorted.clear();
    }

    /// Returns the visible row at `index`; `None` for a heading.
    pub fn at<'a, T: 'static>(&self, rows: &Rows<'a, T>, index: usize) -> Option<&'a T> {
        self.visible_rows.at(rows, index)
    }

    /// Returns the selected row.
    pub fn selected<'a, T: 'static>(&self, rows: &Rows<'a, T>) -> Option<&'a T> {
        self.at(rows, self.state.selected())
    }

    /// Returns the breadcrumbs of the list: the filter and the number of rows.
    pub fn breadcrumbs<T: 'static>(&self, rows: &Rows<'_, T>) -> Vec<Breadcrumb> {
        let mut breadcrumbs = Vec::new();
        if !self.filter_text.is_empty() {
            breadcrumbs.push(Breadcrumb::new(format!("/{}", self.filter_text), Role::Match));
        }
        breadcrumbs.extend(self.count(rows).map(|count| Breadcrumb::new(count, Role::Dim)));
        breadcrumbs
    }

    /// Returns the number of visible rows as text, see [`count`]; `None` while nothing is loaded.
    pub fn count<T: 'static>(&self, rows: &Rows<'_, T>) -> Option<String> {
        // A local order only shows the rows that it sorts.
        let cut = self.visible_rows.sorted.is_set() && rows.len() > MAX_FILTERED_ROWS;
        let filtered = self.visible_rows.filtered.key().is_some_and(|words| !words.is_empty());
        let searched = (filtered || cut).then(|| rows.len().min(MAX_FILTERED_ROWS));
        let shown = self.visible_rows.of(rows).map_or_else(|| rows.len(), |lines| lines.rows);
        count(rows, shown, searched)
    }

    // ---- moving and drawing

    /// Updates the list after a store update: keeps the selection on its row, and requests more rows near the end.
    /// Returns whether the selected row is no longer in the list.
    pub fn sync<T: 'static>(&mut self, rows: &Rows<'_, T>, key: impl Fn(&T) -> String) -> bool {
        self.follow(rows, &key);
        let len = self.len(rows);
        let whole = rows.is_settled(self.pages());
        let visible_rows = &self.visible_rows;
        let lost = self.state.sync_loading(len, whole, &|index| visible_rows.key(rows, index, &key));
        self.skip_headings(len, true);
        let near = self.state.selected().max(self.state.top()) + self.state.height() * 2;
        if rows.has_next(u32::MAX) && near >= len && rows.len() < MAX_FILTERED_ROWS.max(len + 1) {
            self.more_pages = self.more_pages.max(rows.pages());
        }
        lost
    }

    /// Searches for the row to reveal.
    fn follow<T: 'static>(&mut self, rows: &Rows<'_, T>, key: impl Fn(&T) -> String) {
        let Some(reveal) = self.reveal.as_mut().filter(|reveal| reveal.searched != Some(rows.revision)) else { return };
        if !rows.is_loaded || self.shown != self.filter_text {
            return;
        }
        let changed = reveal.searched.replace(rows.revision).is_some();
        let (wanted, expected) = (reveal.key.clone(), reveal.expected && !changed);
        let found = match self.visible_rows.of(rows) {
            Some(lines) => (0..lines.all.len()).find(|index| self.visible_rows.key(rows, *index, &key) == wanted),
            None => rows.iter().position(|row| key(row) == wanted),
        };
        match found {
            Some(index) => {
                // It may be at the index of the row that was selected before.
                let len = self.len(rows);
                self.state.select(index, len);
                self.state.select_key(wanted);
                self.reveal = None;
            }
            None if rows.has_next(MAX_REVEAL_PAGES) && !expected => {
                self.more_pages = self.more_pages.max(rows.pages());
            }
            None if !expected && rows.is_settled(self.pages()) => self.reveal = None,
            None => {}
        }
    }

    /// Moves the selection.
    pub fn motion(&mut self, motion: Motion, len: usize) {
        self.reveal = None;
        let before = self.state.selected();
        motion.apply(&mut self.state, len);
        self.skip_headings(len, self.state.selected() >= before);
    }

    /// Selects the line at `index`.
    pub fn select(&mut self, index: usize, len: usize) {
        self.reveal = None;
        self.state.select(index, len);
    }

    /// Moves the selection from a heading to the next row downwards or upwards.
    fn skip_headings(&mut self, len: usize, down: bool) {
        let visible_rows = &self.visible_rows;
        self.state.leave_headings(len, down, |index| visible_rows.is_stop(index));
    }

    /// Handles the wheel and clicks; returns `true` if a row is to be opened, by a double click.
    pub fn pointer(&mut self, pointer: Pointer, len: usize) -> bool {
        match pointer {
            Pointer::Wheel { rows, .. } => self.motion(Motion::Wheel(rows), len),
            Pointer::Press { column, row, double } => {
                let area = self.area.get();
                if area.contains((column, row).into())
                    && let Some(index) = self.state.row_at(row - area.y)
                    && self.visible_rows.is_stop(index)
                {
                    self.select(index, len);
                    return double;
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
        false
    }

    /// Sets the area in which the pane drew the rows itself.
    pub fn drawn_at(&self, area: Rect) {
        self.area.set(area);
    }

    /// Returns the width of the last drawn area.
    pub fn width(&self) -> u16 {
        self.area.get().width
    }

    /// Returns whether the last drawn area contains a cell.
    pub fn contains(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }

    /// Draws the rows, or a placeholder if there are none: `empty` is the reason and the keys to press.
    #[allow(clippy::too_many_arguments)]
    pub fn draw<'a, T: 'static>(
        &self,
        view: &View,
        area: Rect,
        buf: &mut Buffer,
        focused: bool,
        rows: &Rows<'a, T>,
        columns: &[TableColumn],
        row: impl Fn(&'a T) -> TableRow<'a>,
        empty: (&str, &str),
    ) {
        let row = |_, item: Option<&'a T>| item.map(&row).unwrap_or_default();
        self.draw_lines(view, area, buf, focused, rows, columns, row, empty);
    }

    /// Like [`Listing::draw`], but passes the index of each line in the whole list, and `None` for a heading.
    #[allow(clippy::too_many_arguments)]
    pub fn draw_lines<'a, T: 'static>(
        &self,
        view: &View,
        area: Rect,
        buf: &mut Buffer,
        focused: bool,
        rows: &Rows<'a, T>,
        columns: &[TableColumn],
        line: impl Fn(usize, Option<&'a T>) -> TableRow<'a>,
        empty: (&str, &str),
    ) {
        self.area.set(area);
        if rows.is_empty() {
            return draw_placeholder(view, area, buf, rows, empty);
        }
        let body = draw_error_line(view, area, buf, rows.error);
        let is_filtered = self.visible_rows.filtered.key().is_some_and(|words| !words.is_empty());
        let body = if is_filtered && rows.has_more && rows.len() >= MAX_FILTERED_ROWS {
            let words = view.with_keys("only 3,000 rows are filtered; ‹go.search› searches all");
            draw_end_line(view, body, buf, &words)
        } else {
            draw_cut_line(view, body, buf, rows.cut)
        };
        let len = self.len(rows);
        if len == 0 {
            let (why, hint) = match rows.has_more {
                true if rows.is_loading() => ("Searching…", "‹escape› clears the filter"),
                _ if self.shown().is_empty() => empty,
                true => ("No matches in the rows loaded so far.", "‹seek› changes it, ‹escape› clears it"),
                false => ("No matches.", "‹seek› changes it, ‹escape› clears it"),
            };
            return view.draw_empty(buf, body, why, hint);
        }
        // The rows of an earlier filter are dimmed until the server has answered.
        let behind = self.is_filter_pending();
        table::draw(buf, body, view.theme, focused, &self.state, columns, len, &|index| {
            let drawn = line(index, self.at(rows, index));
            let dim = drawn.dim || behind;
            drawn.dim(dim)
        });
    }
}

/// Returns the number of rows that a list shows, as text; `None` while nothing is loaded. All headers use this format.
///
/// `shown` is the number of rows, including those outside the viewport: `12`; `119` or `100+` if the server has more
/// than are loaded. With a filter over the first `searched` rows: `3 of 119`, `3 of 100+`.
pub fn count<T: 'static>(rows: &Rows<'_, T>, shown: usize, searched: Option<usize>) -> Option<String> {
    let words = match (searched, rows.total) {
        (Some(searched), _) => {
            let all = at_least(searched, rows.has_more || searched < rows.len());
            format!("{} of {all}", text::count(shown as u64))
        }
        (None, Some(total)) if rows.has_more && rows.cut.is_none() => text::count(total),
        (None, _) => at_least(shown, rows.has_more),
    };
    rows.is_loaded.then_some(words)
}

/// Returns a number, with a plus sign if there are more: `100+`.
pub fn at_least(count: usize, more: bool) -> String {
    format!("{}{}", text::count(count as u64), if more { "+" } else { "" })
}

/// Draws an error in the bottom line, with the content above it; returns the area that is left.
pub fn draw_error_line(view: &View, area: Rect, buf: &mut Buffer, error: Option<&crate::api::Error>) -> Rect {
    match error {
        Some(error) => draw_error_of(view, area, buf, "", error),
        None => area,
    }
}

/// Draws an error like [`draw_error_line`]; `prefix` names what failed.
pub fn draw_error_of(view: &View, area: Rect, buf: &mut Buffer, prefix: &str, error: &crate::api::Error) -> Rect {
    view.draw_error_line(area, buf, prefix, error);
    Rect { height: area.height.saturating_sub(1), ..area }
}

/// Returns the number of comments for a column whose title says what it counts; heard alone, it needs the noun.
pub fn comment_count(count: u64) -> String {
    if glyph::is_accessible() { text::count_noun(count, "comment") } else { text::count(count) }
}

/// Returns the words for the end of a list that the server continues: that there is more, and why it is not loaded.
pub fn more_words(cut: Option<Cut>) -> &'static str {
    match cut {
        None => "more",
        Some(Cut::Paused) => "more: press a key to load it",
        Some(Cut::Size) => "more, but the list is too large to load the rest",
        Some(Cut::Repeats) => "more, but the server repeats pages or sends empty ones",
    }
}

/// Draws in the bottom line why a list is not continued, with the content above it; returns the area that is left.
pub fn draw_cut_line(view: &View, area: Rect, buf: &mut Buffer, cut: Option<Cut>) -> Rect {
    cut.map_or(area, |cut| draw_end_line(view, area, buf, more_words(Some(cut))))
}

/// Draws `words` in the bottom line, with the content above it; returns the area that is left.
fn draw_end_line(view: &View, area: Rect, buf: &mut Buffer, words: &str) -> Rect {
    if area.height <= 2 {
        return area;
    }
    let at = Rect { y: area.bottom() - 1, height: 1, ..area };
    Line::new(format!(" {} {words}", glyph::ellipsis()), Role::Warning).draw(buf, at, view.theme);
    Rect { height: area.height - 1, ..area }
}

/// Draws the placeholder of a list without rows: an error, the reason, or that it is loading.
pub fn draw_placeholder<T: 'static>(
    view: &View,
    area: Rect,
    buf: &mut Buffer,
    rows: &Rows<'_, T>,
    empty: (&str, &str),
) {
    match rows.error {
        Some(error) => draw_error(view, area, buf, error),
        None if rows.is_loaded => {
            let area = draw_cut_line(view, area, buf, rows.cut);
            view.draw_empty(buf, area, empty.0, empty.1);
        }
        None => state::skeleton(buf, area, view.theme),
    }
}

/// Returns the row of a command, or the reason why there is none: `none`, unless the list is still loading.
pub fn need<R, T: 'static>(row: Option<R>, rows: &Rows<'_, T>, none: &'static str) -> Result<R, Disabled> {
    let coming = rows.is_loading() && !rows.is_loaded;
    row.ok_or(if coming { "the list is still loading" } else { none }.into())
}

/// Returns the message for a search without a next match, or without one yet.
pub fn not_found(filter_text: &str, searching: bool) -> String {
    let words = if searching { "Still searching" } else { "Not found" };
    format!("{words}: {}", text::sanitize(filter_text))
}

/// Draws an error in place of the content, or that the project does not have what was asked for.
pub fn draw_error(view: &View, area: Rect, buf: &mut Buffer, error: &crate::api::Error) {
    if let Some(feature) = features::off(view.store, error) {
        return view.draw_empty(buf, area, &format!("{}.", feature.off()), "");
    }
    let advice = format!("{}{}", version_note(view, error), advice(view, error));
    state::failure(buf, area, view.theme, error.title(), &error.tried, &view.as_of_now(error).message(), advice.trim());
}

/// Returns what to do about an error of a read; empty if nothing is known to help.
pub fn advice(view: &View, error: &crate::api::Error) -> String {
    let is_passing = matches!(error.fault, Fault::Offline(_) | Fault::Timeout(_) | Fault::Cut(_) | Fault::Replaced(_));
    let retries = if is_passing { view.with_keys("‹refresh› retries.") } else { "".into() };
    format!("{} {retries}", error.advice()).trim().to_owned()
}

/// Returns the request that tells why the server refused what is shown: for its version if it does not support it, or
/// for the project if that may not have it.
pub fn reason_want(error: Option<&crate::api::Error>) -> Option<Want> {
    let error = error?;
    match error.fault {
        Fault::Unsupported(_) => Some(Load::single(&GetMetadata {}).into()),
        _ => features::needed(error).map(|(_, id)| project::want(&id)),
    }
}

/// Returns a sentence with the server's version, if it is known and the server does not support what is shown. It ends
/// with a space.
fn version_note(view: &View, error: &crate::api::Error) -> String {
    let lacks = matches!(error.fault, Fault::Unsupported(_));
    let known = if lacks { view.store.get(&GetMetadata {}).value } else { None };
    let Some(found) = known.filter(|found| !found.version.is_empty()) else { return String::new() };
    let edition = if found.enterprise == Some(false) { ", Community Edition" } else { "" };
    format!("This server has version {}{edition}. ", text::sanitize(&found.version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Endpoint;
    use crate::api::page::NextPage;
    use crate::api::tags::{ListTags, Tag};
    use crate::store::{ParsedReply, Store};
    use jiff::Timestamp;
    use std::sync::Arc;

    /// Runs `run` with one page of a list: the number of rows, whether more follow, and the total of the server.
    fn with_rows<T>(len: usize, more: bool, total: Option<u64>, run: impl FnOnce(&Rows<'_, Tag>) -> T) -> T {
        let (mut store, list) = (Store::default(), ListTags { id: "7".into(), ..ListTags::default() });
        let value = Arc::new(vec![Tag::default(); len]);
        let page = ParsedReply { next: more.then_some(NextPage::Number(2)), total, ..ParsedReply::new(len, value) };
        store.record_reply(&list.request(), 1, Ok(page), Timestamp::UNIX_EPOCH);
        run(&store.list(&list))
    }

    #[test]
    fn a_header_counts_the_rows_that_are_shown() {
        let words = |len, more, total, shown, searched| {
            with_rows(len, more, total, |rows| count(rows, shown, searched).expect("it is known"))
        };
        assert_eq!(words(12, false, Some(12), 12, None), "12");
        // The server's total may be older than the rows, and is ignored then.
        assert_eq!(words(12, false, Some(14), 12, None), "12");
        assert_eq!(words(100, true, Some(1_190), 100, None), "1,190");
        assert_eq!(words(100, true, None, 100, None), "100+");
        assert_eq!(words(12, false, Some(12), 1, Some(12)), "1 of 12");
        assert_eq!(words(100, true, Some(119), 1, Some(100)), "1 of 100+");
    }

    #[test]
    fn the_cursor_skips_headings_and_they_are_not_counted() {
        use ListLine::{Heading, Row};
        with_rows(3, false, None, |rows| {
            let mut list = Listing::default();
            list.arrange(rows, "", || vec![Heading(8), Row(2), Heading(7), Row(0), Row(1)]);
            list.sync(rows, |tag| tag.name.clone());
            assert_eq!((list.len(rows), list.count(rows).as_deref()), (5, Some("3")));
            assert_eq!(list.state.selected(), 1);
            list.motion(Motion::Down, 5);
            assert_eq!(list.state.selected(), 3);
            list.motion(Motion::Up, 5);
            assert_eq!(list.state.selected(), 1);
            list.motion(Motion::Up, 5);
            assert_eq!((list.state.selected(), list.selected(rows).is_some()), (1, true));
            list.arrange(rows, "words", || vec![Heading(7), Row(0)]);
            assert_eq!(list.count(rows).as_deref(), Some("1 of 3"));
        });
    }

    #[test]
    fn local_order_shows_only_sorted_rows() {
        with_rows(MAX_FILTERED_ROWS + 1, false, None, |rows| {
            let mut list = Listing::default();
            assert_eq!(list.count(rows).as_deref(), Some("3,001"));
            list.order(rows, "name", false, |tag| tag.name.clone());
            assert_eq!((list.len(rows), list.count(rows).as_deref()), (MAX_FILTERED_ROWS, Some("3,000 of 3,000+")));
            list.narrow(rows, |_, _| false);
            list.unorder();
            assert_eq!((list.len(rows), list.count(rows).as_deref()), (MAX_FILTERED_ROWS + 1, Some("3,001")));
        });
    }
}
