//! Asking before something that cannot be undone; names what will be lost.

use super::{Overlay, Stay};
use crate::app::action::Action;
use crate::app::keymap::Key;
use crate::app::pane::{Cx, View};
use crate::ui::theme::Role;
use crate::ui::{line, popup, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A question with yes and no; no is what Enter alone does not say.
pub struct Confirm {
    title: String,
    question: String,
    yes: Option<Action>,
}

impl Confirm {
    /// Asks `question`; `yes` is done only on `y`.
    pub fn new(title: impl Into<String>, question: impl Into<String>, yes: Action) -> Confirm {
        Confirm { title: title.into(), question: question.into(), yes: Some(yes) }
    }
}

impl Overlay for Confirm {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = 60.min(screen.width);
        let lines = text::wrap(&self.question, width.saturating_sub(4).into(), 8);
        let inner = popup::draw(buf, screen, theme, &self.title, width, lines.len() as u16 + 4);
        for (row, words) in lines.iter().take(inner.height.saturating_sub(2) as usize).enumerate() {
            let at = Rect { y: inner.y + row as u16, height: 1, ..inner };
            line::draw(buf, at, &[(words.as_str(), theme.style(Role::Text))]);
        }
        if inner.height > 0 {
            let at = Rect { y: inner.bottom() - 1, height: 1, ..inner };
            let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
            line::draw(buf, at, &[("y", key), (" yes   ", dim), ("n", key), (" no", dim)]);
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
            KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => Stay::Close,
            KeyCode::Char('c') if key.ctrl => Stay::Close,
            _ => Stay::Open,
        }
    }
}
