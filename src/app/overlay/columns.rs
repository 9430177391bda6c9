//! Selection of the columns of a list, their order, and the column to sort by; every choice is saved at once.

use super::{AfterEvent, Overlay};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::pointer::Pointer;
use crate::app::state::{ColumnChoice, SettingsChange};
use crate::app::view::View;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{glyph, popup, table, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;

/// The side that sorts by a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorter {
    /// The column is not sortable.
    None,
    /// The server, so that all rows are sorted.
    Server,
    /// labscope, which sorts only the loaded rows.
    Loaded,
}

/// A column that a list offers.
#[derive(Clone, Copy, Debug)]
pub struct ColumnOffer {
    /// The name of the column, as it is saved.
    pub name: &'static str,
    /// The title above its cells; empty if it has none.
    pub title: &'static str,
    /// The side that sorts by the column.
    pub sorter: Sorter,
    /// Whether the column is a date, which is sorted with the newest first.
    pub newest_first: bool,
}

/// The list of columns.
pub struct ColumnsList {
    /// The place that the columns belong to.
    place: &'static str,
    offered: Vec<ColumnOffer>,
    choice: ColumnChoice,
    standard: ColumnChoice,
    list: table::ListState,
    area: Cell<Rect>,
}

impl ColumnsList {
    /// Creates a list of the columns `offered`, with the current choice and the default one.
    pub fn new(
        place: &'static str,
        offered: Vec<ColumnOffer>,
        choice: ColumnChoice,
        standard: ColumnChoice,
    ) -> ColumnsList {
        let (list, area) = (table::ListState::new(), Cell::default());
        let mut columns = ColumnsList { place, offered, choice, standard, list, area };
        columns.arrange();
        columns
    }

    /// Puts the visible columns first, in their order.
    fn arrange(&mut self) {
        let place = |name: &str| self.choice.columns.iter().position(|column| column == name).unwrap_or(usize::MAX);
        self.offered.sort_by_key(|offer| place(offer.name));
    }

    fn current(&self) -> Option<ColumnOffer> {
        self.offered.get(self.list.selected()).copied()
    }

    fn keep(&mut self, cx: &mut Cx) {
        let choice = Some(self.choice.clone()).filter(|choice| *choice != self.standard);
        cx.act(Action::Settings(SettingsChange::Columns { place: self.place.to_owned(), choice }));
    }

    /// Moves the column under the cursor by one position; a hidden column has no position.
    fn carry(&mut self, down: bool) {
        let Some(ColumnOffer { name, .. }) = self.current() else { return };
        let Some(at) = self.choice.columns.iter().position(|column| column == name) else { return };
        let to = if down { at + 1 } else { at.wrapping_sub(1) };
        if to < self.choice.columns.len() {
            self.choice.columns.swap(at, to);
            self.arrange();
            self.list.select(to, self.offered.len());
        }
    }

    fn row(&self, index: usize) -> table::TableRow<'static> {
        let Some(offer) = self.offered.get(index).copied() else { return table::TableRow::default() };
        let ColumnOffer { name, title, sorter, newest_first } = offer;
        let shown = self.choice.columns.iter().any(|column| column == name);
        let mark = if shown { glyph::or_word(glyph::done(), "shown") } else { " " };
        let words = match (newest_first, self.choice.down) {
            (true, true) => "newest first",
            (true, false) => "oldest first",
            (false, true) => "largest first",
            (false, false) => "smallest first",
        };
        let sign = if self.choice.down {
            glyph::or_word(glyph::down(), "descending")
        } else {
            glyph::or_word(glyph::up(), "ascending")
        };
        let sorts = self.choice.order.as_deref() == Some(name);
        let sorted = if sorts { format!("{sign} {words}") } else { String::new() };
        let by = match sorter {
            Sorter::None => "not sortable",
            Sorter::Server => "sorted by the server",
            Sorter::Loaded => "sorted locally (loaded rows)",
        };
        table::TableRow::new(vec![
            (mark, Role::Success).into(),
            (text::capitalize(if title.is_empty() { name } else { title }), if shown { Role::Text } else { Role::Dim })
                .into(),
            (sorted, Role::Accent).into(),
            (by, Role::Dim).into(),
        ])
    }
}

impl Overlay for ColumnsList {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let height = popup::saturating_rows(self.offered.len() + 2).min(screen.height.saturating_sub(4));
        let inner = popup::draw(buf, screen, theme, "Columns", 66.min(screen.width.saturating_sub(4)), height);
        let body = Rect { height: inner.height.saturating_sub(2), ..inner };
        self.area.set(body);
        let columns = [
            table::TableColumn::new("", table::Size::Fixed(1)),
            table::TableColumn::new("", table::Size::Fit { min: 8, max: 20 }),
            table::TableColumn::new("", table::Size::Fill { min: 10, weight: 1 }),
            table::TableColumn::new("", table::Size::Fit { min: 8, max: 28 }).right().drop_order(1),
        ];
        table::draw(buf, body, theme, true, &self.list, &columns, self.offered.len(), &|index| self.row(index));
        let foot = Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        let keys = [("Space", " show  "), ("s", " sort  "), ("J K", " move  "), ("0", " reset  "), ("Esc", " close")];
        let line: Line = keys.into_iter().flat_map(|(name, words)| [(name, Role::Key), (words, Role::Dim)]).collect();
        line.draw(buf, foot, theme);
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let len = self.offered.len();
        match key.code {
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q' | '|') => return AfterEvent::Close,
            KeyCode::Char('c') if key.ctrl => return AfterEvent::Close,
            KeyCode::Up | KeyCode::Char('k') => self.list.move_by(-1, len),
            KeyCode::Down | KeyCode::Char('j') => self.list.move_by(1, len),
            KeyCode::Char(' ' | 'x') => {
                if let Some(ColumnOffer { name, .. }) = self.current() {
                    self.choice.toggle(name);
                    self.keep(cx);
                }
            }
            KeyCode::Char('s') => {
                if let Some(offer) = self.current().filter(|offer| offer.sorter != Sorter::None) {
                    self.choice.turn(offer.name, offer.newest_first);
                    self.keep(cx);
                }
            }
            KeyCode::Char(letter @ ('J' | 'K')) => {
                self.carry(letter == 'J');
                self.keep(cx);
            }
            KeyCode::Char('0') => {
                self.choice = self.standard.clone();
                self.arrange();
                self.keep(cx);
            }
            _ => {}
        }
        AfterEvent::KeepOpen
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        let len = self.offered.len();
        match pointer {
            Pointer::Wheel { rows, .. } => self.list.move_by(rows.into(), len),
            Pointer::Press { column, row, .. } => {
                let area = self.area.get();
                if !area.contains((column, row).into()) {
                    return AfterEvent::Close;
                }
                if let Some(index) = self.list.row_at(row - area.y) {
                    self.list.select(index, len);
                    if let Some(ColumnOffer { name, .. }) = self.current() {
                        self.choice.toggle(name);
                        self.keep(cx);
                    }
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
        AfterEvent::KeepOpen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_cycles_through_ascending_descending_none() {
        let mut choice = ColumnChoice::default();
        let mut directions = Vec::new();
        for _ in 0..4 {
            choice.turn("stars", false);
            directions.push(choice.order.as_ref().map(|_| choice.down));
        }
        assert_eq!(directions, [Some(false), Some(true), None, Some(false)]);
        choice.turn("age", true);
        assert_eq!((choice.order.as_deref(), choice.down), (Some("age"), true));
        choice.turn("age", true);
        assert_eq!((choice.order.as_deref(), choice.down), (Some("age"), false));
        choice.turn("age", true);
        assert_eq!(choice.order, None);
    }

    #[test]
    fn the_last_column_stays() {
        let mut choice = ColumnChoice { columns: vec!["name".into()], ..ColumnChoice::default() };
        choice.toggle("age");
        choice.toggle("name");
        choice.toggle("age");
        assert_eq!(choice.columns, ["age"]);
    }
}
