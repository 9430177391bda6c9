//! What all list panes share: rows over pages of the server, filter, selection, wheel and click, and the states without
//! rows.

use crate::api::Fault;
use crate::api::identity::GetMetadata;
use crate::app::command::{Disabled, Motion};
use crate::app::hits::Hit;
use crate::app::pane::{Breadcrumb, Pointer, View};
use crate::store::{Derived, Load, Revision, Rows, Want};
use crate::ui::table::{self, Column, ListState, Row};
use crate::ui::theme::Role;
use crate::ui::{glyph, line, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use std::cmp::Ordering;
use std::time::Duration;

/// Rows among which a filter looks where the server does not; the crumbs say so where there are more.
const FILTERED: usize = 3_000;
/// Pages that are looked through for a thing before its place in the list is given up.
const HUNTED: u32 = 50;

/// A list over the pages of one endpoint, and the filter of it.
///
/// A filter is either asked of the server, by a query made of [`Listing::filter_text`]: then the rows of
/// [`Listing::shown`] stay, dim, until the others are there. Or it keeps some of the rows that are known: see
/// [`Listing::narrow`].
#[derive(Default)]
pub struct Listing {
    /// The selection.
    pub state: ListState,
    more_pages: u32,
    area: Cell<Rect>,
    /// The filter as it is typed, and the one whose rows are shown.
    filter_text: String,
    shown: String,
    picks: VisibleRows,
    /// Row and top of the screen before the filter.
    before: (usize, usize),
    reveal: Option<Reveal>,
}

/// Which rows of the server are seen, and in which order, if that is not simply all of them.
#[derive(Default)]
struct VisibleRows {
    /// The rows that fit the filter, by the words that were looked for.
    fitting: Derived<String, Vec<usize>>,
    /// The rows in an order of one's own, by the name of the order and those words.
    sorted: Derived<(String, String), Vec<usize>>,
}

impl VisibleRows {
    /// Indices of the rows that are seen; `None` for all of them. What was picked from other rows picks none of these.
    fn of<T: 'static>(&self, rows: &Rows<'_, T>) -> Option<&[usize]> {
        let picked = match (self.sorted.is_set(), self.fitting.is_set()) {
            (true, _) => self.sorted.get(rows.revision),
            (false, true) => self.fitting.get(rows.revision),
            (false, false) => return None,
        };
        Some(picked.map_or(&[], Vec::as_slice))
    }

    /// The row that is seen as the row `index`.
    fn at<'a, T: 'static>(&self, rows: &Rows<'a, T>, index: usize) -> Option<&'a T> {
        match self.of(rows) {
            Some(picked) => rows.get(*picked.get(index)?),
            None => rows.get(index),
        }
    }
}

/// A thing that is to be selected, wherever in the list it is.
struct Reveal {
    key: String,
    /// The revision of the list that was looked through.
    searched: Option<Revision>,
    /// It may not be there before the list changes.
    expected: bool,
}

impl Listing {
    /// Returns how many pages are needed for what is looked at.
    pub fn pages(&self) -> u32 {
        1 + self.more_pages
    }

    /// Begins again at the top, with the same filter: another list.
    pub fn restart(&mut self) {
        let filter_text = std::mem::take(&mut self.filter_text);
        *self = Listing { shown: filter_text.clone(), filter_text, ..Listing::default() };
    }

    /// Asked for `text` from the beginning.
    pub fn asked(text: &str) -> Listing {
        Listing { filter_text: text.to_owned(), shown: text.to_owned(), ..Listing::default() }
    }

    /// Selects the thing with `key`, loading on until it is found, as far as is reasonable.
    pub fn reveal(&mut self, key: impl Into<String>) {
        self.reveal = Some(Reveal { key: key.into(), searched: None, expected: false });
    }

    /// Selects the thing with `key` once the list has it: it is being made.
    pub fn reveal_new(&mut self, key: impl Into<String>) {
        self.reveal = Some(Reveal { key: key.into(), searched: None, expected: true });
    }

    // ---- the filter

    /// The filter as it is typed: what to ask for.
    pub fn filter_text(&self) -> &str {
        &self.filter_text
    }

    /// The filter whose rows are known: what to show.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns whether what is shown is what was sought before.
    pub fn is_behind(&self) -> bool {
        self.shown != self.filter_text
    }

    /// Returns how long what is sought rests before the server is asked: not at each letter.
    pub fn rest(&self) -> Duration {
        Duration::from_millis(if self.filter_text.is_empty() { 0 } else { 120 })
    }

    /// Another filter; `here` is the key of what is selected, at which the list goes on when the filter ends.
    pub fn seek(&mut self, text: &str, here: Option<String>) {
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

    /// Ends the filter; `false` where there is none.
    pub fn clear_filter(&mut self, here: Option<String>) -> bool {
        let filtered = !self.filter_text.is_empty();
        self.seek("", here);
        filtered
    }

    /// After an update, of a filter that the server does: `rows` are those of what is sought.
    pub fn answered<T: 'static>(&mut self, rows: &Rows<'_, T>) {
        if self.is_behind() && (rows.known || rows.error.is_some()) {
            self.turn();
        }
    }

    /// After an update, of a filter that the server does not know: keeps the rows that fit; `fits` is given the sought
    /// words in lower case.
    pub fn narrow<T: 'static>(&mut self, rows: &Rows<'_, T>, fits: impl Fn(&T, &str) -> bool) {
        if self.is_behind() {
            self.turn();
        }
        let words = self.filter_text.to_lowercase();
        self.narrow_to(rows, &words, |row| fits(row, &words));
    }

    /// After an update, of a filter that the server does in part: keeps the rows that fit what else is looked for,
    /// which `words` names; all where that is nothing.
    pub fn narrow_to<T: 'static>(&mut self, rows: &Rows<'_, T>, words: &str, fits: impl Fn(&T) -> bool) {
        if words.is_empty() {
            return self.picks.fitting.clear();
        }
        self.picks.fitting.update(rows.revision, words.to_owned(), || {
            let fitting = rows.iter().take(FILTERED).enumerate().filter(|(_, row)| fits(row));
            fitting.map(|(index, _)| index).collect()
        });
    }

    /// Shows what is sought.
    fn turn(&mut self) {
        self.shown.clone_from(&self.filter_text);
        self.state.rewind();
        if self.filter_text.is_empty() {
            // Until the thing is found, or where it is not, one is where one was.
            self.state.goto(self.before.0, self.before.1);
        }
    }

    /// Returns how many rows there are to see.
    pub fn len<T: 'static>(&self, rows: &Rows<'_, T>) -> usize {
        self.picks.of(rows).map_or_else(|| rows.len(), <[usize]>::len)
    }

    /// After an update, behind the filter: sorts the rows that are loaded; `by` names the order.
    pub fn order<T: 'static>(&mut self, rows: &Rows<'_, T>, by: &str, compare: impl Fn(&T, &T) -> Ordering) {
        let words = self.picks.fitting.key().cloned().unwrap_or_default();
        let fitting = &self.picks.fitting;
        self.picks.sorted.update(rows.revision, (by.to_owned(), words), || {
            let all: Vec<&T> = rows.iter().take(FILTERED).collect();
            let mut indices = match fitting.get(rows.revision) {
                Some(fitting) => fitting.clone(),
                None => (0..all.len()).collect(),
            };
            // Stable, so that rows that are alike stay in the server's order.
            indices.sort_by(|a, b| match (all.get(*a), all.get(*b)) {
                (Some(a), Some(b)) => compare(a, b),
                _ => Ordering::Equal,
            });
            indices
        });
    }

    /// The rows are in the server's order.
    pub fn unorder(&mut self) {
        self.picks.sorted.clear();
    }

    /// The row that is seen as the row `index`.
    pub fn at<'a, T: 'static>(&self, rows: &Rows<'a, T>, index: usize) -> Option<&'a T> {
        self.picks.at(rows, index)
    }

    /// The selected row.
    pub fn selected<'a, T: 'static>(&self, rows: &Rows<'a, T>) -> Option<&'a T> {
        self.at(rows, self.state.selected())
    }

    /// The way to the list: the filter, and how many rows are shown.
    pub fn breadcrumbs<T: 'static>(&self, rows: &Rows<'_, T>) -> Vec<Breadcrumb> {
        let mut breadcrumbs = Vec::new();
        if !self.filter_text.is_empty() {
            breadcrumbs.push(Breadcrumb::new(format!("/{}", self.filter_text), Role::Match));
        }
        breadcrumbs.extend(self.count(rows).map(|count| Breadcrumb::new(count, Role::Dim)));
        breadcrumbs
    }

    /// Returns how many rows are shown, see [`count`]; `None` while nothing is known.
    pub fn count<T: 'static>(&self, rows: &Rows<'_, T>) -> Option<String> {
        // An order of one's own shows no more than it sorts.
        let cut = self.picks.sorted.is_set() && rows.len() > FILTERED;
        let searched = (self.picks.fitting.is_set() || cut).then(|| rows.len().min(FILTERED));
        count(rows, self.len(rows), searched)
    }

    // ---- moving and drawing

    /// After an update: keeps the selection on its thing, and asks for more rows near the end. Says whether the thing
    /// is no longer there.
    pub fn sync<T: 'static>(&mut self, rows: &Rows<'_, T>, key: impl Fn(&T) -> String) -> bool {
        self.follow(rows, &key);
        let len = self.len(rows);
        let whole = rows.settled(self.pages());
        let picks = &self.picks;
        let lost = self.state.sync_while(len, whole, |index| picks.at(rows, index).map(&key).unwrap_or_default());
        let near = self.state.selected().max(self.state.top()) + self.state.height() * 2;
        if rows.more && near >= len && rows.len() < FILTERED.max(len + 1) {
            self.more_pages = self.more_pages.max(rows.pages());
        }
        lost
    }

    /// Looks for what is to be selected.
    fn follow<T: 'static>(&mut self, rows: &Rows<'_, T>, key: impl Fn(&T) -> String) {
        let Some(reveal) = self.reveal.as_mut().filter(|reveal| reveal.searched != Some(rows.revision)) else { return };
        if !rows.known || self.shown != self.filter_text {
            return;
        }
        let changed = reveal.searched.replace(rows.revision).is_some();
        let (wanted, expected) = (reveal.key.clone(), reveal.expected && !changed);
        let found = match self.picks.of(rows) {
            Some(picked) => picked.iter().position(|i| rows.get(*i).map(&key).as_ref() == Some(&wanted)),
            None => rows.iter().position(|row| key(row) == wanted),
        };
        match found {
            Some(index) => {
                // It may stand where the selected one stood before.
                self.state.select(index, self.len(rows));
                self.state.want(wanted);
                self.reveal = None;
            }
            None if rows.more && rows.pages() < HUNTED && !expected => {
                self.more_pages = self.more_pages.max(rows.pages());
            }
            None if !expected && rows.settled(self.pages()) => self.reveal = None,
            None => {}
        }
    }

    /// Moves the selection.
    pub fn motion(&mut self, motion: Motion, len: usize) {
        self.reveal = None;
        motion.apply(&mut self.state, len);
    }

    /// The wheel and clicks; `true` where a row is to be opened (a second click on it).
    pub fn pointer(&mut self, pointer: Pointer, len: usize) -> bool {
        match pointer {
            Pointer::Wheel { rows, .. } => self.motion(Motion::Wheel(rows), len),
            Pointer::Press { column, row, double } => {
                let area = self.area.get();
                if area.contains((column, row).into())
                    && let Some(index) = self.state.row_at(row - area.y)
                {
                    self.reveal = None;
                    self.state.select(index, len);
                    return double;
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
        false
    }

    /// The rows were drawn there by the pane itself.
    pub fn drawn_at(&self, area: Rect) {
        self.area.set(area);
    }

    /// The width of the last drawn area.
    pub fn width(&self) -> u16 {
        self.area.get().width
    }

    /// Returns whether the last drawn area holds that cell.
    pub fn holds(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }

    /// Draws the rows, or what stands where there are none: `empty` says why and what to press.
    #[allow(clippy::too_many_arguments)]
    pub fn draw<T: 'static>(
        &self,
        view: &View,
        area: Rect,
        buf: &mut Buffer,
        focused: bool,
        rows: &Rows<'_, T>,
        columns: &[Column],
        row: impl Fn(&T) -> Row,
        empty: (&str, &str),
    ) {
        self.draw_indexed(view, area, buf, focused, rows, columns, |_, thing| row(thing), empty);
    }

    /// Like [`Listing::draw`], of rows that depend on where they stand in the whole list.
    #[allow(clippy::too_many_arguments)]
    pub fn draw_indexed<T: 'static>(
        &self,
        view: &View,
        area: Rect,
        buf: &mut Buffer,
        focused: bool,
        rows: &Rows<'_, T>,
        columns: &[Column],
        row: impl Fn(usize, &T) -> Row,
        empty: (&str, &str),
    ) {
        self.area.set(area);
        if rows.is_empty() {
            return without_rows(view, area, buf, rows, empty);
        }
        let body = trouble(view, area, buf, rows.error);
        let len = self.len(rows);
        if len == 0 {
            let (why, hint) = match rows.more {
                true if rows.loading => ("Looking further…", "Esc clears the filter"),
                true => ("Nothing among the rows read so far matches the filter.", "/ changes it, Esc clears it"),
                false => ("Nothing matches the filter.", "/ changes it, Esc clears it"),
            };
            return state::empty(buf, body, view.theme, why, hint);
        }
        // Rows of another filter than the one that is typed are quiet until the server has answered.
        let behind = self.is_behind();
        table::draw(buf, body, view.theme, focused, &self.state, columns, len, |index| {
            let Some(thing) = self.at(rows, index) else { return Row::default() };
            let drawn = row(index, thing);
            let dim = drawn.dim || behind;
            drawn.dim(dim)
        });
        for (index, head) in self.state.heads() {
            view.hits.add(head, Hit::Column(index));
        }
    }
}

/// Returns how many rows a list shows, in words; `None` while nothing is known. Every header that counts rows says it
/// so.
///
/// `shown` counts the rows on the screen and those that scrolling brings: `12`; `119` or `100+` if the server has more
/// than is read. Where a filter keeps some of the first `searched` rows: `3 of 119`, `3 of 100+`.
pub fn count<T: 'static>(rows: &Rows<'_, T>, shown: usize, searched: Option<usize>) -> Option<String> {
    let words = match (searched, rows.total) {
        (Some(searched), _) => {
            let all = at_least(searched, rows.more || searched < rows.len());
            format!("{} of {all}", text::count(shown as u64))
        }
        (None, Some(total)) if rows.more => text::count(total),
        (None, _) => at_least(shown, rows.more),
    };
    rows.known.then_some(words)
}

/// Returns a number, with a plus where there are more: `100+`.
pub fn at_least(count: usize, more: bool) -> String {
    format!("{}{}", text::count(count as u64), if more { "+" } else { "" })
}

/// An error beside what is known: a line at the bottom. Gives what is left for the content.
pub fn trouble(view: &View, area: Rect, buf: &mut Buffer, error: Option<&crate::api::Error>) -> Rect {
    let Some(error) = error else { return area };
    let at = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    let words = format!(" {}: {} · r retries", error.title(), text::sanitize(&error.message()));
    line::draw(buf, at, &[(words, view.theme.style(Role::Failed))]);
    Rect { height: area.height.saturating_sub(1), ..area }
}

/// What stands where a list has no rows: why, or that it loads.
pub fn without_rows<T: 'static>(view: &View, area: Rect, buf: &mut Buffer, rows: &Rows<'_, T>, empty: (&str, &str)) {
    match rows.error {
        Some(error) => failure(view, area, buf, error),
        None if rows.known => state::empty(buf, area, view.theme, empty.0, empty.1),
        None => state::skeleton(buf, area, view.theme),
    }
}

/// The row that a command is about, or why there is none: `none`, where its list is not still to come.
pub fn need<R, T: 'static>(row: Option<R>, rows: &Rows<'_, T>, none: &'static str) -> Result<R, Disabled> {
    let coming = rows.loading && !rows.known;
    row.ok_or(if coming { "the list is still loading" } else { none }.into())
}

/// Returns what is said where the next match was asked for and there is none, or none yet.
pub fn not_found(filter_text: &str, searching: bool) -> String {
    let words = if searching { "Still searching" } else { "Not found" };
    format!("{words}: {}", text::sanitize(filter_text))
}

/// An error where the content would stand.
pub fn failure(view: &View, area: Rect, buf: &mut Buffer, error: &crate::api::Error) {
    let advice = format!("{}{}", version_note(view, error), error.advice());
    state::failure(buf, area, view.theme, error.title(), &error.tried, &error.message(), &advice);
}

/// Asks which version the server has, where it lacks what is shown.
pub fn version_want(error: Option<&crate::api::Error>) -> Option<Want> {
    let lacks = error.is_some_and(|error| matches!(error.fault, Fault::Unsupported(_)));
    lacks.then(|| Load::one(&GetMetadata {}).into())
}

/// Which version lacks it, as far as that is known; a sentence with a blank behind it.
fn version_note(view: &View, error: &crate::api::Error) -> String {
    let known = version_want(Some(error)).and_then(|_| view.store.get(&GetMetadata {}).value);
    let Some(found) = known.filter(|found| !found.version.is_empty()) else { return String::new() };
    let edition = if found.enterprise == Some(false) { ", Community Edition" } else { "" };
    format!("This server has version {}{edition}. ", text::sanitize(&found.version))
}

/// Returns how long ago a time of the server was: `3h`; empty where it is no date.
pub fn age(view: &View, time: Option<&crate::api::Time>) -> String {
    let Some(instant) = time.and_then(crate::api::Time::instant) else { return String::new() };
    text::ago(view.now.duration_since(instant).as_secs())
}

/// A moment as a date, for details; the text of the server where it is no date.
pub fn date(time: &crate::api::Time) -> String {
    match time.instant() {
        Some(instant) => {
            format!("{} UTC", instant.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d %H:%M"))
        }
        None => time.to_string(),
    }
}

/// The day of a moment; the text of the server where it is no date.
pub fn day(time: &crate::api::Time) -> String {
    match time.instant() {
        Some(instant) => instant.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d").to_string(),
        None => time.to_string(),
    }
}

/// An [`age`] in a sentence: `3h ago`, or `3 hours ago` where the screen is heard; empty where there is none.
pub fn ago(age: &str) -> String {
    let age = if glyph::words() { in_words(age) } else { age.to_owned() };
    match age.as_str() {
        "" => String::new(),
        "now" => "just now".into(),
        // What is to come, and what is dated ahead, as some commits are.
        _ if age.starts_with("in ") => age,
        _ => format!("{age} ago"),
    }
}

/// An [`age`] beside other words: as short as in a column, or [`ago`] where the screen is heard.
pub fn beside(age: String) -> String {
    if glyph::words() { ago(&age) } else { age }
}

/// Spells out an [`age`]: `3 hours`.
fn in_words(age: &str) -> String {
    let (before, age) = age.strip_prefix("in ").map_or(("", age), |age| ("in ", age));
    let units = [('m', "minute"), ('h', "hour"), ('d', "day"), ('w', "week"), ('y', "year")];
    let spelled = units.into_iter().find_map(|(letter, unit)| {
        let number = age.strip_suffix(letter)?.parse().ok()?;
        Some(text::things(number, unit))
    });
    format!("{before}{}", spelled.as_deref().unwrap_or(age))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Endpoint;
    use crate::api::tags::{ListTags, Tag};
    use crate::store::{Arrival, Store};
    use jiff::Timestamp;
    use std::sync::Arc;

    /// Works with one page of a list: so many rows, whether others follow, and how many the server counts.
    fn with_rows<T>(len: usize, more: bool, total: Option<u64>, run: impl FnOnce(&Rows<'_, Tag>) -> T) -> T {
        let (mut store, list) = (Store::default(), ListTags { id: "7".into(), order_by: None, sort: None });
        let value = Arc::new(vec![Tag::default(); len]);
        let page = Arrival { value, len, next: more.then_some(2), total, digest: 0, size: 0 };
        store.arrived(&list.request(), 1, Ok(page), Timestamp::UNIX_EPOCH);
        run(&store.list(&list))
    }

    #[test]
    fn a_header_counts_the_rows_that_are_shown() {
        let words = |len, more, total, shown, searched| {
            with_rows(len, more, total, |rows| count(rows, shown, searched).expect("it is known"))
        };
        assert_eq!(words(12, false, Some(12), 12, None), "12");
        // A count of the server that is older than the rows says nothing about these.
        assert_eq!(words(12, false, Some(14), 12, None), "12");
        assert_eq!(words(100, true, Some(1_190), 100, None), "1,190");
        assert_eq!(words(100, true, None, 100, None), "100+");
        assert_eq!(words(12, false, Some(12), 1, Some(12)), "1 of 12");
        assert_eq!(words(100, true, Some(119), 1, Some(100)), "1 of 100+");
    }

    #[test]
    fn an_order_of_ones_own_shows_no_more_than_it_sorts() {
        with_rows(FILTERED + 1, false, None, |rows| {
            let mut list = Listing::default();
            assert_eq!(list.count(rows).as_deref(), Some("3,001"));
            list.order(rows, "name", |a, b| a.name.cmp(&b.name));
            assert_eq!((list.len(rows), list.count(rows).as_deref()), (FILTERED, Some("3,000 of 3,000+")));
            list.narrow(rows, |_, _| false);
            list.unorder();
            assert_eq!((list.len(rows), list.count(rows).as_deref()), (FILTERED + 1, Some("3,001")));
        });
    }
}
