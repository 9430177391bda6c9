//! The keys of this place and the keys of every place, printed from the command table.

use super::{Overlay, Stay};
use crate::app::command::Motion;
use crate::app::keymap::Key;
use crate::app::pane::{Cx, Pointer, View};
use crate::ui::theme::Role;
use crate::ui::{line, popup, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;

/// A row of the help: a heading, or keys and what they do.
pub enum Row {
    /// Above a group.
    Heading(String),
    /// Keys, and what they do.
    Keys(String, String),
}

/// The key table on top of a place.
pub struct Help {
    rows: Vec<Row>,
    top: Cell<usize>,
}

impl Help {
    /// Shows `rows`.
    pub fn new(rows: Vec<Row>) -> Help {
        Help { rows, top: Cell::new(0) }
    }

    fn scroll(&self, rows: isize) {
        self.top.set(self.top.get().saturating_add_signed(rows).min(self.rows.len()));
    }
}

impl Overlay for Help {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = 76.min(screen.width.saturating_sub(4)).max(30);
        let height = popup::rows(self.rows.len() + 2).min(screen.height.saturating_sub(2));
        let inner = popup::draw(buf, screen, theme, "Keys", width, height);
        let visible = inner.height as usize;
        let top = self.top.get().min(self.rows.len().saturating_sub(visible));
        self.top.set(top);
        for (offset, row) in self.rows.iter().skip(top).take(visible).enumerate() {
            let at = Rect { y: inner.y + offset as u16, height: 1, ..inner };
            match row {
                Row::Heading(title) => line::draw(buf, at, &[(title.as_str(), theme.style(Role::Title))]),
                Row::Keys(keys, what) => line::draw(
                    buf,
                    at,
                    &[
                        (text::pad(&format!("  {keys}"), 24), theme.style(Role::Key)),
                        (what.clone(), theme.style(Role::Text)),
                    ],
                ),
            };
        }
        None
    }

    fn key(&mut self, key: Key, _cx: &mut Cx) -> Stay {
        let page = 15;
        let motion = match (key.code, key.ctrl) {
            (KeyCode::Char('j') | KeyCode::Down, _) => Motion::Down,
            (KeyCode::Char('k') | KeyCode::Up, _) => Motion::Up,
            (KeyCode::Char('d'), true) | (KeyCode::PageDown | KeyCode::Char(' '), _) => Motion::PageDown,
            (KeyCode::Char('u'), true) | (KeyCode::PageUp, _) => Motion::PageUp,
            (KeyCode::Char('g') | KeyCode::Home, _) => Motion::First,
            (KeyCode::Char('G') | KeyCode::End, _) => Motion::Last,
            _ => return Stay::Close,
        };
        self.scroll(motion.rows(page).unwrap_or(0));
        Stay::Open
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) -> Stay {
        match pointer {
            Pointer::Wheel { rows, .. } => {
                self.scroll(rows.into());
                Stay::Open
            }
            Pointer::Press { .. } => Stay::Close,
            Pointer::Drag { .. } | Pointer::Release => Stay::Open,
        }
    }
}
