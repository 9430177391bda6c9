//! Confirmation of an action that cannot be undone; names what will be lost, in a list if there are many items.

use super::picker::edit;
use super::{AfterEvent, Overlay, TextEntry};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::view::View;
use crate::ui::input::Input;
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{cursor_hint, glyph, line, popup, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::Cell;

/// A yes-or-no question; Enter alone confirms it only if that loses nothing.
pub struct Confirm {
    title: String,
    question: String,
    /// The affected items, one per line.
    things: Vec<String>,
    /// The index of the first visible item.
    top: usize,
    /// The number of items that the last drawing had room for.
    room: Cell<usize>,
    /// The text to type as a confirmation, and what has been typed of it.
    typed: Option<(String, Input)>,
    yes: Option<Action>,
    /// The key that asked again confirms it, as Enter does, because nothing is lost.
    asked_by: Option<char>,
}

impl Confirm {
    /// Creates a confirmation that asks `question`; `yes` is performed only on `y`.
    pub fn new(title: impl Into<String>, question: impl Into<String>, yes: Action) -> Confirm {
        Confirm {
            title: title.into(),
            question: question.into(),
            things: Vec::new(),
            top: 0,
            room: Cell::new(0),
            typed: None,
            yes: Some(yes),
            asked_by: None,
        }
    }

    /// Lets Enter and the key that asked confirm it, for an action that loses nothing.
    pub fn by_enter_or(mut self, key: char) -> Confirm {
        self.asked_by = Some(key);
        self
    }

    /// Lists the affected items.
    pub fn naming(mut self, things: Vec<String>) -> Confirm {
        self.things = things;
        self
    }

    /// Requires `name` to be typed first, for an action with far-reaching effects.
    pub fn typing(mut self, name: impl Into<String>) -> Confirm {
        self.typed = Some((name.into(), Input::default()));
        self
    }

    fn done(&mut self, cx: &mut Cx) -> AfterEvent {
        if let Some(action) = self.yes.take() {
            cx.act(action);
        }
        AfterEvent::Close
    }

    /// Handles a key for the name to type.
    fn key_typed(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let Some((name, input)) = &mut self.typed else { return AfterEvent::KeepOpen };
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => AfterEvent::Close,
            (KeyCode::Enter, _) if input.text().trim() == name => self.done(cx),
            (KeyCode::Enter, _) => AfterEvent::KeepOpen,
            (KeyCode::Down, _) => {
                self.scroll(1);
                AfterEvent::KeepOpen
            }
            (KeyCode::Up, _) => {
                self.scroll(-1);
                AfterEvent::KeepOpen
            }
            _ => {
                edit(input, key);
                AfterEvent::KeepOpen
            }
        }
    }

    /// Draws the line for the name to type, and the effect of Enter.
    fn draw_typed(&self, view: &View, inner: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let (name, input) = self.typed.as_ref()?;
        let (theme, foot) = (view.theme, Rect { y: inner.bottom().saturating_sub(1), height: 1, ..inner });
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        let fits = input.text().trim() == name;
        let enter = if fits { " confirm   " } else { " confirm once typed   " };
        Line::from([("Enter", if fits { key } else { dim }), (enter, dim), ("Esc", key), (" no", dim)])
            .draw(buf, foot, theme);
        let at = Rect { y: foot.y.saturating_sub(2).max(inner.y), ..foot };
        input.draw(buf, at, theme, true, &text::sanitize(name))
    }

    fn scroll(&mut self, by: isize) {
        let last = self.things.len().saturating_sub(self.room.get());
        self.top = self.top.saturating_add_signed(by).min(last);
    }
}

impl Overlay for Confirm {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = if glyph::is_accessible() { screen.width } else { 60.min(screen.width) };
        let keys = if glyph::is_accessible() && self.typed.is_none() { " y: yes, n: no." } else { "" };
        let lines = text::wrap(&format!("{}{keys}", self.question), width.saturating_sub(4).into(), 8);
        let rest = usize::from(screen.height).saturating_sub(lines.len() + 7);
        let room = self.things.len().min(rest);
        self.room.set(room);
        // A blank line above the keys, above the list of items, and above the input line.
        let rest = 2 + if room > 0 { room as u16 + 1 } else { 0 } + if self.typed.is_some() { 2 } else { 0 };
        let inner = popup::draw(buf, screen, theme, &self.title, width, lines.len() as u16 + rest);
        for (row, words) in lines.iter().take(inner.height.saturating_sub(2) as usize).enumerate() {
            let at = Rect { y: inner.y + row as u16, height: 1, ..inner };
            Line::new(words.as_str(), Role::Text).draw(buf, at, theme);
        }
        cursor_hint::set_selected(inner.x, inner.y);
        let below = inner.y + lines.len() as u16 + 1;
        for (row, thing) in self.things.iter().skip(self.top).take(room).enumerate() {
            let at = Rect { y: below + row as u16, height: 1, ..inner };
            if at.y + 1 < inner.bottom() {
                Line::from([("  ", Role::Dim), (thing, Role::Ref)]).draw_cut(buf, at, theme, line::Cut::Middle);
            }
        }
        if self.typed.is_some() {
            return self.draw_typed(view, inner, buf);
        }
        if inner.height > 0 {
            let at = Rect { y: inner.bottom() - 1, height: 1, ..inner };
            let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
            let mut yes = Line::new("y", key);
            if let Some(letter) = self.asked_by {
                yes = yes.and(format!(" {letter} {}", glyph::enter()), key);
            }
            let mut spans = yes.and(" yes   ", dim).and("n", key).and(" no", dim);
            if self.things.len() > room {
                spans.extend([("   j k", key), (" scroll", dim)]);
            }
            spans.draw(buf, at, theme);
        }
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        if self.typed.is_some() {
            return self.key_typed(key, cx);
        }
        match key.code {
            KeyCode::Char('y' | 'Y') => self.done(cx),
            KeyCode::Enter if self.asked_by.is_some() => self.done(cx),
            KeyCode::Char(letter) if self.asked_by == Some(letter) && !key.ctrl => self.done(cx),
            KeyCode::Char('j') | KeyCode::Down => {
                self.scroll(1);
                AfterEvent::KeepOpen
            }
            KeyCode::Char('k') | KeyCode::Up => {
                self.scroll(-1);
                AfterEvent::KeepOpen
            }
            KeyCode::PageDown => {
                self.scroll(self.room.get() as isize);
                AfterEvent::KeepOpen
            }
            KeyCode::PageUp => {
                self.scroll(-(self.room.get() as isize));
                AfterEvent::KeepOpen
            }
            KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => AfterEvent::Close,
            KeyCode::Char('c') if key.ctrl => AfterEvent::Close,
            _ => AfterEvent::KeepOpen,
        }
    }

    fn text_entry(&self) -> TextEntry {
        if self.typed.is_some() { TextEntry::Line } else { TextEntry::None }
    }

    fn paste(&mut self, text: &str, _cx: &mut Cx) {
        if let Some((_, input)) = &mut self.typed {
            input.paste(text);
        }
    }
}
