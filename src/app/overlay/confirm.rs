//! Asking before something that cannot be undone; names what will be lost, one by one where it is many.

use super::{Overlay, Stay};
use crate::app::action::Action;
use crate::app::keymap::Key;
use crate::app::pane::{Cx, View};
use crate::ui::theme::Role;
use crate::ui::{line, popup, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;

/// A question with yes and no; no is what Enter alone does not say.
pub struct Confirm {
    title: String,
    question: String,
    /// What it is about, a thing a line.
    things: Vec<String>,
    /// The first of them in sight.
    top: usize,
    /// How many of them the last drawing had room for.
    room: Cell<usize>,
    yes: Option<Action>,
}

impl Confirm {
    /// Asks `question`; `yes` is done only on `y`.
    pub fn new(title: impl Into<String>, question: impl Into<String>, yes: Action) -> Confirm {
        Confirm {
            title: title.into(),
            question: question.into(),
            things: Vec::new(),
            top: 0,
            room: Cell::new(0),
            yes: Some(yes),
        }
    }

    /// With the things that it is about.
    pub fn naming(mut self, things: Vec<String>) -> Confirm {
        self.things = things;
        self
    }

    fn scroll(&mut self, by: isize) {
        let last = self.things.len().saturating_sub(self.room.get());
        self.top = self.top.saturating_add_signed(by).min(last);
    }
}

impl Overlay for Confirm {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = 60.min(screen.width);
        let lines = text::wrap(&self.question, width.saturating_sub(4).into(), 8);
        let rest = usize::from(screen.height).saturating_sub(lines.len() + 7);
        let room = self.things.len().min(rest);
        self.room.set(room);
        let rest = if room > 0 { room as u16 + 3 } else { 4 };
        let inner = popup::draw(buf, screen, theme, &self.title, width, lines.len() as u16 + rest);
        for (row, words) in lines.iter().take(inner.height.saturating_sub(2) as usize).enumerate() {
            let at = Rect { y: inner.y + row as u16, height: 1, ..inner };
            line::draw(buf, at, &[(words.as_str(), theme.style(Role::Text))]);
        }
        let below = inner.y + lines.len() as u16 + 1;
        for (row, thing) in self.things.iter().skip(self.top).take(room).enumerate() {
            let at = Rect { y: below + row as u16, height: 1, ..inner };
            if at.y + 1 < inner.bottom() {
                line::draw_cut(
                    buf,
                    at,
                    &[("  ", theme.style(Role::Dim)), (thing, theme.style(Role::Ref))],
                    line::Cut::Middle,
                );
            }
        }
        if inner.height > 0 {
            let at = Rect { y: inner.bottom() - 1, height: 1, ..inner };
            let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
            let mut spans = vec![("y", key), (" yes   ", dim), ("n", key), (" no", dim)];
            if self.things.len() > room {
                spans.extend([("   j k", key), (" the others", dim)]);
            }
            line::draw(buf, at, &spans);
        }
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> Stay {
        match key.code {
            KeyCode::Char('y' | 'Y') => {
                if let Some(action) = self.yes.take() {
                    cx.act(action);
                }
                Stay::Close
            }
            KeyCode::Char('j') | KeyCode::Down => {
                self.scroll(1);
                Stay::Open
            }
            KeyCode::Char('k') | KeyCode::Up => {
                self.scroll(-1);
                Stay::Open
            }
            KeyCode::PageDown => {
                self.scroll(self.room.get() as isize);
                Stay::Open
            }
            KeyCode::PageUp => {
                self.scroll(-(self.room.get() as isize));
                Stay::Open
            }
            KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => Stay::Close,
            KeyCode::Char('c') if key.ctrl => Stay::Close,
            _ => Stay::Open,
        }
    }
}
