//! One line of text at the bottom: what `/` seeks, and short questions of panes.

use super::picker::edit;
use super::{Overlay, Stay};
use crate::app::action::Action;
use crate::app::keymap::Key;
use crate::app::pane::{Cx, View};
use crate::ui::input::Input;
use crate::ui::line;
use crate::ui::theme::Role;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What the line is for.
enum For {
    /// Each letter goes to the pane's filter or search.
    Seek,
    /// Enter answers the pane under this tag.
    Answer(&'static str),
}

/// A line of text in the place of the footer.
pub struct Prompt {
    label: String,
    input: Input,
    what: For,
    before: String,
}

impl Prompt {
    /// The line of `/`; begins with what is sought now.
    pub fn seek(label: &str, sought: String) -> Prompt {
        Prompt { label: label.to_owned(), input: Input::new(sought.clone()), what: For::Seek, before: sought }
    }

    /// Asks for a line, which answers the pane under `tag`.
    pub fn ask(label: impl Into<String>, tag: &'static str, text: impl Into<String>) -> Prompt {
        Prompt { label: label.into(), input: Input::new(text), what: For::Answer(tag), before: String::new() }
    }

    fn changed_text(&self, cx: &mut Cx) {
        if matches!(self.what, For::Seek) {
            cx.act(Action::Sought(self.input.text().to_owned()));
        }
    }
}

impl Overlay for Prompt {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let row = Rect { y: screen.bottom().saturating_sub(1), height: 1.min(screen.height), ..screen };
        buf.set_style(row, theme.style(Role::Input));
        let spaces = " ".repeat(row.width as usize);
        line::draw(buf, row, &[(spaces.as_str(), theme.style(Role::Input))]);
        let used = line::draw(buf, row, &[(format!(" {} ", self.label), theme.style(Role::Key))]);
        let at = Rect { x: row.x + used, width: row.width.saturating_sub(used), ..row };
        self.input.draw(buf, at, theme, true, "")
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> Stay {
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
                if matches!(self.what, For::Seek) {
                    cx.act(Action::Sought(self.before.clone()));
                }
                Stay::Close
            }
            (KeyCode::Enter, _) => {
                if let For::Answer(tag) = self.what {
                    cx.act(Action::Answer(tag, self.input.text().to_owned()));
                }
                Stay::Close
            }
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) if matches!(self.what, For::Seek) => {
                cx.act(Action::SeekNext(false));
                Stay::Open
            }
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) if matches!(self.what, For::Seek) => {
                cx.act(Action::SeekNext(true));
                Stay::Open
            }
            (KeyCode::Backspace, _) if self.input.is_empty() => Stay::Close,
            _ => {
                if edit(&mut self.input, key) {
                    self.changed_text(cx);
                }
                Stay::Open
            }
        }
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        self.input.paste(text);
        self.changed_text(cx);
    }
}
