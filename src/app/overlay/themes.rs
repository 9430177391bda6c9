//! Selection of a theme: the theme under the cursor is shown at once.

use super::{AfterEvent, Overlay};
use crate::action::Action;
use crate::context::Cx;
use crate::keymap::Key;
use crate::pointer::{OnList, Pointer};
use crate::tone::Tone;
use crate::view::View;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell as Shared;
use ui::line::Line;
use ui::table::{self, ListState, Size, TableColumn, TableRow};
use ui::theme::{BUILT_IN, Role, Theme};
use ui::{glyph, popup};

/// The list of the built-in themes.
pub struct Themes {
    list: ListState,
    /// The theme that Esc restores.
    before: Theme,
    area: Shared<Rect>,
}

impl Themes {
    /// Creates the list, with the current theme selected.
    pub fn new(view: &View) -> Themes {
        let mut list = ListState::new();
        let at = BUILT_IN.iter().position(|(name, _)| *name == view.theme.name);
        list.select(at.unwrap_or(0), BUILT_IN.len());
        Themes { list, before: view.theme.clone(), area: Shared::default() }
    }

    fn selected(&self) -> &'static str {
        BUILT_IN.get(self.list.selected()).map_or("dark", |(name, _)| name)
    }

    /// Previews the theme under the cursor.
    fn preview(&self, cx: &mut Cx) {
        if let Some(theme) = Theme::built_in(self.selected()) {
            cx.act(Action::SetTheme(Box::new(theme.with_depth(self.before.depth()))));
        }
    }

    fn keep(&self, cx: &mut Cx) -> AfterEvent {
        let name = self.selected();
        cx.say(Tone::Good, format!("Theme: {name}. To keep it, set theme = \"{name}\" in the configuration."));
        AfterEvent::Close
    }
}

impl Overlay for Themes {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let height = popup::saturating_rows(BUILT_IN.len() + 2);
        let inner = popup::draw(buf, screen, view.theme, "Themes", 36, height);
        if inner.height < 3 {
            return None;
        }
        let body = Rect { height: inner.height - 2, ..inner };
        self.area.set(body);
        let columns = [TableColumn::new("", Size::Fill { min: 10, weight: 1 })];
        table::draw(buf, body, view.theme, true, &self.list, &columns, BUILT_IN.len(), &|row| {
            TableRow::new(vec![Line::new(BUILT_IN.get(row).map_or("", |(name, _)| name), Role::Text)])
        });
        let (key, dim) = (Role::Key, Role::Dim);
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        Line::from([(glyph::enter(), key), (" use  ", dim), ("Esc", key), (" close", dim)]).draw(buf, foot, view.theme);
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let len = BUILT_IN.len();
        match (key.code, key.ctrl) {
            (KeyCode::Enter, _) => return self.keep(cx),
            (KeyCode::Esc | KeyCode::Char('q'), false) | (KeyCode::Char('c'), true) => {
                cx.act(Action::SetTheme(Box::new(self.before.clone())));
                return AfterEvent::Close;
            }
            (KeyCode::Down | KeyCode::Char('j'), _) => self.list.move_by(1, len),
            (KeyCode::Up | KeyCode::Char('k'), _) => self.list.move_by(-1, len),
            _ => return AfterEvent::KeepOpen,
        }
        self.preview(cx);
        AfterEvent::KeepOpen
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        match pointer.on_list(&mut self.list, self.area.get(), BUILT_IN.len()) {
            OnList::Row(_, true) => return self.keep(cx),
            OnList::Row(..) | OnList::Scrolled => self.preview(cx),
            OnList::Outside | OnList::Nothing => {}
        }
        AfterEvent::KeepOpen
    }
}
