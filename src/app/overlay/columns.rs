//! Selection of the columns of a list, their order, and the column to sort by; every choice is saved at once.

use super::{AfterEvent, Overlay};
use crate::action::Action;
use crate::context::Cx;
use crate::keymap::Key;
use crate::pointer::{OnList, Pointer};
use crate::state::{ColumnChoice, SettingsChange};
use crate::view::View;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;
use ui::line::Line;
use ui::theme::Role;
use ui::{glyph, popup, table, text};

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
    /// The columns in their default order.
    offered: Vec<ColumnOffer>,
    /// The columns in the order in which they are listed.
    arranged: Vec<ColumnOffer>,
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
        let (arranged, list, area) = (Vec::new(), table::ListState::new(), Cell::default());
        let mut columns = ColumnsList { place, offered, arranged, choice, standard, list, area };
        columns.arrange();
        columns
    }

    /// Arranges the visible columns in their order, and after each of them the hidden ones that follow it by default.
    fn arrange(&mut self) {
        let find = |name: &String| self.offered.iter().find(|offer| offer.name == name).copied();
        self.arranged = self.choice.columns.iter().filter_map(find).collect();
        let mut before = None;
        for offer in &self.offered {
            let place = |name: &str| self.arranged.iter().position(|known| known.name == name);
            let to = before.and_then(place).map_or(0, |at| at + 1);
            if place(offer.name).is_none() {
                self.arranged.insert(to, *offer);
            }
            before = Some(offer.name);
        }
    }

    fn current(&self) -> Option<ColumnOffer> {
        self.arranged.get(self.list.selected()).copied()
    }

    fn keep(&mut self, cx: &mut Cx) {
        let choice = Some(self.choice.clone()).filter(|choice| *choice != self.standard);
        cx.act(Action::Settings(SettingsChange::Columns { place: self.place.to_owned(), choice }));
    }

    /// Moves the column under the cursor by one position.
    fn carry(&mut self, down: bool) {
        let at = self.list.selected();
        let to = if down { at + 1 } else { at.wrapping_sub(1) };
        if at.max(to) < self.arranged.len() {
            self.arranged.swap(at, to);
            let place = |name: &String| self.arranged.iter().position(|offer| offer.name == name);
            self.choice.columns.sort_by_cached_key(place);
            self.list.select(to, self.arranged.len());
        }
    }

    /// Shows or hides the column under the cursor, and saves that.
    fn toggle(&mut self, cx: &mut Cx) {
        if let Some(ColumnOffer { name, .. }) = self.current() {
            self.choice.toggle(name, self.arranged.iter().map(|offer| offer.name));
            self.keep(cx);
        }
    }

    fn row(&self, index: usize) -> table::TableRow<'static> {
        let Some(offer) = self.arranged.get(index).copied() else { return table::TableRow::default() };
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
        let height = popup::saturating_rows(self.arranged.len() + 2).min(screen.height.saturating_sub(4));
        let inner = popup::draw(buf, screen, theme, "Columns", 66.min(screen.width.saturating_sub(4)), height);
        let body = Rect { height: inner.height.saturating_sub(2), ..inner };
        self.area.set(body);
        let columns = [
            table::TableColumn::new("", table::Size::Fixed(1)),
            table::TableColumn::new("", table::Size::Fit { min: 8, max: 20 }),
            table::TableColumn::new("", table::Size::Fill { min: 10, weight: 1 }),
            table::TableColumn::new("", table::Size::Fit { min: 8, max: 28 }).right().drop_order(1),
        ];
        table::draw(buf, body, theme, true, &self.list, &columns, self.arranged.len(), &|index| self.row(index));
        let foot = Rect { y: inner.bottom().saturating_sub(1), height: inner.height.min(1), ..inner };
        let keys = [("Space", " show  "), ("s", " sort  "), ("J K", " move  "), ("0", " reset  "), ("Esc", " close")];
        let line: Line = keys.into_iter().flat_map(|(name, words)| [(name, Role::Key), (words, Role::Dim)]).collect();
        line.draw(buf, foot, theme);
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let len = self.arranged.len();
        match key.code {
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q' | '|') => return AfterEvent::Close,
            KeyCode::Char('c') if key.ctrl => return AfterEvent::Close,
            KeyCode::Up | KeyCode::Char('k') => self.list.move_by(-1, len),
            KeyCode::Down | KeyCode::Char('j') => self.list.move_by(1, len),
            KeyCode::Char(' ' | 'x') => self.toggle(cx),
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
        match pointer.on_list(&mut self.list, self.area.get(), self.arranged.len()) {
            OnList::Outside => return AfterEvent::Close,
            OnList::Row(..) => self.toggle(cx),
            OnList::Scrolled | OnList::Nothing => {}
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
        let mut toggle = |name| choice.toggle(name, ["name", "age"]);
        toggle("age");
        toggle("name");
        toggle("age");
        assert_eq!(choice.columns, ["age"]);
    }

    #[test]
    fn a_column_is_shown_again_where_it_was() {
        let mut choice =
            ColumnChoice { columns: ["a", "b", "c"].map(str::to_owned).to_vec(), ..ColumnChoice::default() };
        for (name, rest) in [("a", ["b", "c"]), ("b", ["a", "c"]), ("c", ["a", "b"])] {
            choice.toggle(name, ["a", "b", "x", "c"]);
            assert_eq!(choice.columns, rest);
            choice.toggle(name, ["a", "b", "x", "c"]);
            assert_eq!(choice.columns, ["a", "b", "c"]);
        }
        choice.toggle("x", ["a", "b", "x", "c"]);
        assert_eq!(choice.columns, ["a", "b", "x", "c"]);
    }
}
