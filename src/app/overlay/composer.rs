//! Writing a text of several lines: kept while it is typed, sent once, shown again where sending failed.

use super::{Overlay, Stay};
use crate::api::Error;
use crate::app::action::{Action, Tone};
use crate::app::keymap::Key;
use crate::app::pane::{Cx, View};
use crate::store::{Value, Write};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::theme::Role;
use crate::ui::{line, markdown, popup, text};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;
use std::cell::RefCell;
use tui_textarea::{CursorMove, TextArea, WrapMode};

/// Makes the write that sends the text.
pub type Make = Box<dyn Fn(String) -> Write>;

enum State {
    Typing,
    /// Its write waits for its number, or has it.
    Sending(Option<u64>),
    Failed(Error),
}

/// The text as it will look.
struct Preview {
    lines: Vec<DocLine<'static>>,
    scroll: DocState,
    /// The size of the screen that it was made for.
    size: (u16, u16),
}

/// A text on its way to the server.
pub struct Composer {
    title: String,
    /// Under which the text is kept until the server has it.
    key: String,
    /// Drawing scrolls it, so that the cursor stays in sight.
    area: RefCell<TextArea<'static>>,
    make: Make,
    state: State,
    preview: Option<Preview>,
    /// What is kept on disk under `key` already.
    kept: String,
}

impl Composer {
    /// Begins with `text`, which may be what was kept under `key`.
    pub fn new(title: impl Into<String>, key: impl Into<String>, text: &str, make: Make) -> Composer {
        let mut composer = Composer {
            title: title.into(),
            key: key.into(),
            area: RefCell::default(),
            make,
            state: State::Typing,
            preview: None,
            kept: text.to_owned(),
        };
        composer.set(text);
        composer
    }

    fn set(&mut self, text: &str) {
        let mut area = TextArea::from(text.lines());
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.set_placeholder_text("Markdown. C-s sends, Esc closes and keeps the text.");
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        self.area = RefCell::new(area);
    }

    fn text(&self) -> String {
        self.area.borrow().lines().join("\n")
    }

    fn rendered(&self, view: &View) -> Preview {
        // What is left of the popup beside its border, less the columns of mark and thumb.
        let width = (size(view.size.0, view.size.1).0 + 4).min(view.size.0).saturating_sub(6);
        let lines = markdown::render(&self.text(), width.into(), view.theme).lines;
        Preview { lines, scroll: DocState { cursor_line: false, ..DocState::new() }, size: view.size }
    }

    fn keep(&mut self, cx: &mut Cx) {
        let text = self.text();
        if text != self.kept {
            cx.act(Action::Keep(self.key.clone(), Some(text.clone()).filter(|t| !t.trim().is_empty())));
            self.kept = text;
        }
    }
}

/// Columns and rows that it asks for on a screen.
fn size(width: u16, height: u16) -> (u16, u16) {
    ((width / 4 * 3).clamp(40, 100), (height / 5 * 3).clamp(8, 24))
}

impl Overlay for Composer {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let (width, height) = size(screen.width, screen.height);
        let title = if self.preview.is_some() { format!("{} · preview", self.title) } else { self.title.clone() };
        let inner = popup::draw(buf, screen, theme, &title, width, height);
        if inner.height < 3 {
            return None;
        }
        let body = Rect { height: inner.height - 2, ..inner };
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        let mut cursor = None;
        if let Some(preview) = &self.preview {
            doc::draw(buf, body, theme, true, &preview.scroll, preview.lines.len(), 0, |index| {
                preview.lines.get(index).cloned().unwrap_or_default()
            });
        } else {
            let mut area = self.area.borrow_mut();
            area.set_style(theme.style(Role::Overlay));
            area.set_cursor_line_style(theme.style(Role::Overlay));
            area.set_selection_style(theme.style(Role::Marked));
            area.set_placeholder_style(theme.style(Role::Dim));
            (&*area).render(body, buf);
            if matches!(self.state, State::Typing | State::Failed(_)) {
                let (at, (top, left)) = (area.screen_cursor(), area.scroll_offset());
                let offset = |value: usize, from: u16| (value as u16).checked_sub(from);
                cursor = offset(at.col, left).zip(offset(at.row, top)).map(|(x, y)| (body.x + x, body.y + y));
            }
        }
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        match &self.state {
            State::Typing => {
                line::draw(
                    buf,
                    foot,
                    &[
                        ("C-s", key),
                        (" send  ", dim),
                        ("C-r", key),
                        (" preview  ", dim),
                        ("C-o", key),
                        (" $EDITOR  ", dim),
                        ("Esc", key),
                        (" close, kept", dim),
                    ],
                );
            }
            State::Sending(_) => {
                line::draw(buf, foot, &[("sending…", theme.style(Role::Running))]);
            }
            State::Failed(error) => {
                let words =
                    format!("Not sent. {}: {}. C-s tries again; the text is kept.", error.title(), error.said());
                line::draw(buf, foot, &[(text::shown(&words).into_owned(), theme.style(Role::Failed))]);
            }
        }
        cursor.filter(|(x, y)| body.contains((*x, *y).into()))
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> Stay {
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
                self.keep(cx);
                if !self.text().trim().is_empty() {
                    cx.say(Tone::Info, "The text is kept: the same key opens it again.");
                }
                return Stay::Close;
            }
            (KeyCode::Char('s'), true) => {
                let text = self.text();
                if matches!(self.state, State::Sending(_)) {
                    return Stay::Open;
                }
                if text.trim().is_empty() {
                    cx.say(Tone::Warning, "There is nothing to send yet.");
                    return Stay::Open;
                }
                self.keep(cx);
                self.state = State::Sending(None);
                self.preview = None;
                cx.act(Action::SendKept(self.key.clone(), (self.make)(text)));
            }
            (KeyCode::Char('r'), true) => {
                self.preview = if self.preview.is_some() { None } else { Some(self.rendered(&cx.view)) };
            }
            (KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown, _) if self.preview.is_some() => {
                if let Some(preview) = &mut self.preview {
                    let page = preview.scroll.height.get().max(1) as isize;
                    let rows = match key.code {
                        KeyCode::Up => -1,
                        KeyCode::Down => 1,
                        KeyCode::PageUp => -page,
                        _ => page,
                    };
                    preview.scroll.scroll_by(rows, preview.lines.len());
                }
            }
            _ if matches!(self.state, State::Sending(_)) => {}
            (KeyCode::Char('o'), true) => {
                self.keep(cx);
                cx.act(Action::Edit { tag: "", text: self.text(), suffix: ".md" });
            }
            _ => {
                let mut modifiers = KeyModifiers::NONE;
                modifiers.set(KeyModifiers::CONTROL, key.ctrl);
                modifiers.set(KeyModifiers::ALT, key.alt);
                modifiers.set(KeyModifiers::SHIFT, key.shift);
                self.preview = None;
                self.area.get_mut().input(KeyEvent::new(key.code, modifiers));
                self.keep(cx);
            }
        }
        Stay::Open
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        if !matches!(self.state, State::Sending(_)) {
            self.area.get_mut().insert_str(text.replace("\r\n", "\n").replace('\r', "\n"));
            self.keep(cx);
        }
    }

    fn changed(&mut self, view: &View) {
        if self.preview.as_ref().is_some_and(|preview| preview.size != view.size) {
            self.preview = Some(self.rendered(view));
        }
    }

    fn sending(&mut self, number: u64) {
        if matches!(self.state, State::Sending(None)) {
            self.state = State::Sending(Some(number));
        }
    }

    fn sent(&mut self, number: u64, outcome: &Result<Value, Error>) -> Option<Stay> {
        if !matches!(self.state, State::Sending(Some(n)) if n == number) {
            return None;
        }
        match outcome {
            Ok(_) => Some(Stay::Close),
            Err(error) => {
                self.state = State::Failed(error.clone());
                Some(Stay::Open)
            }
        }
    }

    fn edited(&mut self, text: String, cx: &mut Cx) {
        self.set(&text);
        self.keep(cx);
    }
}
