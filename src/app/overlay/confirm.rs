//! Confirmation of an action that cannot be undone; names what will be lost, in a list if there are many items. Nothing is
//! cut: what does not fit is wrapped, and scrolls.

use super::picker::edit;
use super::{AfterEvent, Overlay, TextEntry};
use crate::action::Action;
use crate::context::Cx;
use crate::keymap::Key;
use crate::view::View;
use crossterm::event::KeyCode;
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::cell::{Cell, RefCell};
use ui::input::Input;
use ui::line::Line;
use ui::theme::Role;
use ui::{cursor_hint, glyph, popup, text};

/// The time for which a question that opened by itself ignores keys: they were meant for what was shown before.
const IGNORED: SignedDuration = SignedDuration::from_millis(500);
/// The maximum number of rows of a question, and of each item.
const MAX_ROWS: usize = 1000;

/// A yes-or-no question; Enter alone confirms it only if that loses nothing.
pub struct Confirm {
    title: String,
    question: String,
    /// The affected items.
    things: Vec<String>,
    /// The rows of the question and of the items in the last drawing, and their width.
    rows: RefCell<Rows>,
    /// The index of the first visible row among those that scroll.
    top: usize,
    /// The number of rows that the last drawing did not show.
    hidden: Cell<usize>,
    /// The number of rows that scrolled in the last drawing.
    room: Cell<usize>,
    /// The text to type as a confirmation, and what has been typed of it.
    typed: Option<(String, Input)>,
    yes: Option<Action>,
    /// The key that asked again confirms it, as Enter does, because nothing is lost.
    asked_by: Option<char>,
    /// Whether no key opened it.
    opened_itself: bool,
    /// The time of the first drawing.
    shown_at: Cell<Option<Timestamp>>,
}

/// Returns the question before the overlay on top sends again what may have succeeded.
pub fn send_again(title: &str) -> Confirm {
    Confirm::new(title, "It may have succeeded. Send it again?", Action::SendAgain)
}

/// A question and its items, wrapped to a width.
#[derive(Default)]
struct Rows {
    width: usize,
    question: Vec<String>,
    things: Vec<String>,
}

impl Confirm {
    /// Creates a confirmation that asks `question`; `yes` is performed only on `y`.
    pub fn new(title: impl Into<String>, question: impl Into<String>, yes: Action) -> Confirm {
        Confirm {
            title: title.into(),
            question: question.into(),
            things: Vec::new(),
            rows: RefCell::default(),
            top: 0,
            hidden: Cell::new(0),
            room: Cell::new(0),
            typed: None,
            yes: Some(yes),
            asked_by: None,
            opened_itself: false,
            shown_at: Cell::new(None),
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
        self.top = self.top.saturating_add_signed(by).min(self.hidden.get());
    }

    /// Returns whether a key was pressed before somebody could have read the question.
    fn is_too_early(&self, view: &View) -> bool {
        let is_early = |at| view.local_now.duration_since(at) < IGNORED;
        self.opened_itself && self.shown_at.get().is_none_or(is_early)
    }

    /// Wraps the question and the items to a width, if that was not done before.
    fn wrap(&self, width: usize) {
        let mut rows = self.rows.borrow_mut();
        if rows.width != width {
            let keys = if glyph::is_accessible() && self.typed.is_none() { " y: yes, n: no." } else { "" };
            let question = text::wrap(&format!("{}{keys}", self.question), width, MAX_ROWS);
            let thing = |thing: &String| text::wrap(thing, width.saturating_sub(INDENT.len()), MAX_ROWS);
            *rows = Rows { width, question, things: self.things.iter().flat_map(thing).collect() };
        }
    }
}

/// The indentation of items.
const INDENT: &str = "  ";

impl Overlay for Confirm {
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        self.shown_at.set(self.shown_at.get().or(Some(view.local_now)));
        let width = if glyph::is_accessible() { screen.width } else { 60.min(screen.width) };
        self.wrap(width.saturating_sub(4).into());
        let rows = self.rows.borrow();
        // A blank line stands between the question and the items.
        let head = rows.question.len() + usize::from(!rows.things.is_empty());
        // The border, a blank line above the keys, the keys, the input line, and a line of the place below.
        let around = if self.typed.is_some() { 7 } else { 5 };
        let most = usize::from(screen.height).saturating_sub(around).max(1);
        let height = (head + rows.things.len()).min(most);
        let around = if self.typed.is_some() { 4 } else { 2 };
        let inner = popup::draw(buf, screen, theme, &self.title, width, popup::saturating_rows(height + around));
        let height = height.min(usize::from(inner.height).saturating_sub(around));
        // A short question stays above the items.
        let fixed = if head * 2 <= height { head } else { 0 };
        let (room, all) = (height - fixed, head - fixed + rows.things.len());
        self.room.set(room);
        self.hidden.set(all.saturating_sub(room));
        let question = rows.question.iter().map(String::as_str).chain(std::iter::repeat("")).take(head);
        let question = question.map(|row| Line::new(row, Role::Text));
        let thing = |row| Line::from([(INDENT, Role::Dim), (row, Role::Ref)]);
        let things = rows.things.iter().map(|row| thing(row.as_str()));
        let scrolled = question.clone().skip(fixed).chain(things).skip(self.top.min(self.hidden.get()));
        for (row, line) in question.take(fixed).chain(scrolled.take(room)).enumerate() {
            line.draw(buf, Rect { y: inner.y + row as u16, height: 1, ..inner }, theme);
        }
        cursor_hint::set_selected(inner.x, inner.y);
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
            if self.hidden.get() > 0 {
                spans.extend([("   j k", key), (" scroll", dim)]);
            }
            spans.draw(buf, at, theme);
        }
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        if self.is_too_early(&cx.view) {
            return AfterEvent::KeepOpen;
        }
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

    fn opened_itself(&mut self) {
        self.opened_itself = true;
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
