//! What all list panes share: rows over pages of the server, selection, wheel and click, and the states without rows.

use crate::app::command::Motion;
use crate::app::pane::{Pointer, View};
use crate::store::Rows;
use crate::ui::table::{self, Column, ListState, Row};
use crate::ui::theme::Role;
use crate::ui::{line, state, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;

/// A list over the pages of one endpoint.
#[derive(Default)]
pub struct Listing {
    /// The selection.
    pub state: ListState,
    more_pages: u32,
    area: Cell<Rect>,
}

impl Listing {
    /// How many pages are needed for what is looked at.
    pub fn pages(&self) -> u32 {
        1 + self.more_pages
    }

    /// Begins again at the top: another filter, another list.
    pub fn restart(&mut self) {
        *self = Listing::default();
    }

    /// Begins again, at the thing with `key` where that is known: a filter ended.
    pub fn restart_at(&mut self, key: Option<String>) {
        self.restart();
        if let Some(key) = key {
            self.state.want(key);
        }
    }

    /// After an update: keeps the selection on its thing, and asks for more rows near the end.
    pub fn sync<T: 'static>(&mut self, rows: &Rows<'_, T>, key: impl Fn(&T) -> String) {
        let len = rows.len();
        self.state.sync(len, |index| rows.get(index).map(&key).unwrap_or_default());
        let near = self.state.selected().max(self.state.top()) + self.state.height() * 2;
        if rows.more && near >= len {
            self.more_pages = self.more_pages.max(rows.pages());
        }
    }

    /// The selected row.
    pub fn selected<'a, T: 'static>(&self, rows: &Rows<'a, T>) -> Option<&'a T> {
        rows.get(self.state.selected())
    }

    /// Moves the selection.
    pub fn motion(&mut self, motion: Motion, len: usize) {
        match motion {
            Motion::PageUp => self.state.page_by(-1, len),
            Motion::PageDown => self.state.page_by(1, len),
            Motion::Wheel(rows) => self.state.scroll_by(rows.into(), len),
            other => other.apply(&mut self.state, len),
        }
    }

    /// The wheel and clicks; `true` where a row is to be opened (a second click on it).
    pub fn pointer(&mut self, pointer: Pointer, len: usize) -> bool {
        match pointer {
            Pointer::Wheel { rows, .. } => self.state.scroll_by(rows.into(), len),
            Pointer::Press { column, row, double } => {
                let area = self.area.get();
                if area.contains((column, row).into())
                    && let Some(index) = self.state.row_at(row - area.y)
                {
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

    /// Whether the last drawn area holds that cell.
    pub fn holds(&self, column: u16, row: u16) -> bool {
        self.area.get().contains((column, row).into())
    }

    /// Draws the rows, or what stands where there are none.
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
        self.area.set(area);
        if rows.is_empty() {
            return without_rows(view, area, buf, rows, empty);
        }
        let body = trouble(view, area, buf, rows.error);
        table::draw(buf, body, view.theme, focused, &self.state, columns, rows.len(), |index| {
            rows.get(index).map(&row).unwrap_or_default()
        });
    }
}

/// An error beside what is known: a line at the bottom. Gives what is left for the content.
pub fn trouble(view: &View, area: Rect, buf: &mut Buffer, error: Option<&crate::api::Error>) -> Rect {
    let Some(error) = error else { return area };
    let at = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    let words = format!(" {}: {} · r tries again", error.title(), text::shown(&error.said()));
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

/// An error where the content would stand.
pub fn failure(view: &View, area: Rect, buf: &mut Buffer, error: &crate::api::Error) {
    state::failure(buf, area, view.theme, error.title(), &error.tried, &error.said(), error.advice());
}

/// How long ago a time of the server was: `3h`; empty where it is no date.
pub fn age(view: &View, time: Option<&crate::api::Time>) -> String {
    let Some(instant) = time.and_then(crate::api::Time::instant) else { return String::new() };
    text::ago(view.now.duration_since(instant).as_secs())
}

/// An [`age`] in a sentence: `3h ago`; empty where there is none.
pub fn ago(age: &str) -> String {
    match age {
        "" => String::new(),
        "now" => "just now".into(),
        age => format!("{age} ago"),
    }
}
