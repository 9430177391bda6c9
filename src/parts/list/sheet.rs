//! A table in an overlay with a line above and a line below it.

use crate::app::keymap::Key;
use crate::app::motion::Motion;
use crate::app::overlay::AfterEvent;
use crate::app::pointer::Pointer;
use crate::app::view::View;
use crate::ui::drawn::Drawn;
use crate::ui::line::Line;
use crate::ui::popup;
use crate::ui::table::{self, ListState, TableColumn, TableRow};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The contents of a sheet for one frame.
pub struct Contents<'a> {
    pub title: &'a str,
    pub columns: &'a [TableColumn],
    /// The number of rows.
    pub len: usize,
    pub row: &'a dyn Fn(usize) -> TableRow<'a>,
    /// The reason why there are no rows, and what to do.
    pub empty: (&'a str, &'a str),
    /// The line below the table.
    pub foot: Line<'a>,
}

/// The position in a table.
#[derive(Default)]
pub struct Sheet {
    list: ListState,
    area: Drawn<Rect>,
}

impl Sheet {
    /// Draws the overlay. Returns the line above the table, which the caller draws.
    pub fn draw(&self, view: &View, screen: Rect, buf: &mut Buffer, contents: &Contents<'_>) -> Rect {
        let height = popup::saturating_rows(contents.len.max(4).saturating_add(5)).min(screen.height.saturating_sub(4));
        let width = (screen.width * 4 / 5).clamp(40, 110);
        let inner = popup::draw(buf, screen, view.theme, contents.title, width, height);
        let body = Rect { y: inner.y.saturating_add(2), height: inner.height.saturating_sub(4), ..inner };
        match contents.len {
            0 => view.draw_empty(buf, body, contents.empty.0, contents.empty.1),
            len => self.draw_table(view, body, buf, contents.columns, len, contents.row),
        }
        let foot = Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        contents.foot.draw(buf, foot, view.theme);
        Rect { height: inner.height.min(1), ..inner }
    }

    /// Draws only the table.
    pub fn draw_table<'a>(
        &self,
        view: &View,
        area: Rect,
        buf: &mut Buffer,
        columns: &[TableColumn],
        len: usize,
        row: &dyn Fn(usize) -> TableRow<'a>,
    ) {
        self.area.set(area);
        table::draw(buf, area, view.theme, true, &self.list, columns, len, row);
    }

    /// Moves in a table of `len` rows; returns `false` if the key is for something else.
    pub fn key(&mut self, key: Key, len: usize) -> bool {
        let motion = match key.code {
            KeyCode::Up => Motion::Up,
            KeyCode::Down => Motion::Down,
            KeyCode::PageUp => Motion::PageUp,
            KeyCode::PageDown => Motion::PageDown,
            _ => return false,
        };
        motion.apply(&mut self.list, len);
        true
    }

    /// Returns the index of the selected row.
    pub fn selected(&self) -> usize {
        self.list.selected()
    }

    /// Moves like [`Sheet::key`], and with letters, where nothing is typed.
    pub fn letter_key(&mut self, key: Key, len: usize) {
        match key.code {
            KeyCode::Char('j') => Motion::Down.apply(&mut self.list, len),
            KeyCode::Char('k') => Motion::Up.apply(&mut self.list, len),
            _ => _ = self.key(key, len),
        }
    }

    /// Scrolls with the wheel, and selects the row under a click.
    pub fn pointer(&mut self, pointer: Pointer, len: usize) -> AfterEvent {
        pointer.on_list(&mut self.list, self.area.get(), len);
        AfterEvent::KeepOpen
    }
}
