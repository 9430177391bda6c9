//! Overlays on top of a place: a stack that is drawn from the bottom, and whose top gets the keys.

pub mod batch;
pub mod chooser;
pub mod columns;
pub mod composer;
pub mod confirm;
pub mod edit_conflict;
pub mod editor;
pub mod form;
mod key_hints;
pub mod markdown_input;
pub mod output;
pub mod picker;
mod picker_preview;
pub mod prompt;
pub mod query;
pub mod themes;
pub mod transfers;
pub mod value_picker;

use super::context::Cx;
use super::keymap::Key;
use super::pointer::Pointer;
use super::text_key::DraftKey;
use super::view::View;
use api::Error;
use api::client::Progress;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use store::{Value, Want};
use tui_textarea::{CursorMove, TextArea};

/// The state of an overlay after a key, or another event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterEvent {
    KeepOpen,
    Close,
}

/// The text that keys type into an overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEntry {
    /// Keys are commands.
    None,
    /// A line: Enter ends it.
    Line,
    /// Lines: Enter begins another.
    Lines,
}

impl TextEntry {
    /// Returns whether a key changes the text, and does nothing else.
    pub fn takes(self, key: Key) -> bool {
        match self {
            TextEntry::None => false,
            TextEntry::Line => key.typed().is_some() || key.code == KeyCode::Backspace,
            TextEntry::Lines => TextEntry::Line.takes(key) || key.code == KeyCode::Enter,
        }
    }
}

/// Translates a key for a text area, which has keys of its own: `C-z` is undo wherever text is typed, and `C-u`,
/// `C-Backspace` and `C-j` do what they do in a shell.
fn for_text_area(key: Key) -> KeyEvent {
    let with = |c: char, ctrl: bool| Key { code: KeyCode::Char(c), ctrl, alt: false, shift: false };
    let key = match (key.code, key.ctrl) {
        (KeyCode::Char('z'), true) => with('u', true),
        (KeyCode::Char('u'), true) => with('j', true),
        (KeyCode::Char('j'), true) => Key { code: KeyCode::Enter, ..with(' ', false) },
        (KeyCode::Backspace, true) => with('w', true),
        _ => key,
    };
    let mut modifiers = KeyModifiers::NONE;
    modifiers.set(KeyModifiers::CONTROL, key.ctrl);
    modifiers.set(KeyModifiers::ALT, key.alt);
    modifiers.set(KeyModifiers::SHIFT, key.shift);
    KeyEvent::new(key.code, modifiers)
}

/// Moves the cursor of a text area to a line and a character in it, both from 0. It extends a selection.
fn move_cursor(area: &mut TextArea, row: usize, column: usize) {
    let fits = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
    area.move_cursor(CursorMove::Jump(fits(row), fits(column)));
}

/// Handles a press or a drag of the mouse at a line and a character of a text area: a drag selects text.
fn select_to(area: &mut TextArea, pointer: Pointer, (row, column): (usize, usize)) {
    match pointer {
        Pointer::Press { .. } => area.cancel_selection(),
        _ if !area.is_selecting() => area.start_selection(),
        _ => {}
    }
    move_cursor(area, row, column);
}

/// Returns the selected text of a text area.
fn selected_text(area: &TextArea) -> Option<String> {
    let ((from, left), (to, right)) = area.selection_range()?;
    let lines = area.lines().get(from..=to)?;
    let byte = |line: &str, column: usize| line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let part = |(index, line): (usize, &String)| {
        let start = if index == 0 { byte(line, left) } else { 0 };
        let end = if index == to - from { byte(line, right) } else { line.len() };
        line.get(start..end).unwrap_or_default().to_owned()
    };
    let words = lines.iter().enumerate().map(part).collect::<Vec<_>>().join("\n");
    (!words.is_empty()).then_some(words)
}

/// A layer on top of a place.
pub trait Overlay {
    /// Returns the data needed from the server.
    fn wants(&self, _view: &View) -> Vec<Want> {
        Vec::new()
    }
    /// Draws the overlay over `screen`, the whole terminal; returns the position of the cursor, if it has one.
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)>;
    /// Handles a key; the top overlay gets all keys.
    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent;
    /// Records that no key opened the overlay.
    fn opened_itself(&mut self) {}
    /// Returns the kind of text that is typed now. Only an overlay that handles pasted text types any.
    fn text_entry(&self) -> TextEntry {
        TextEntry::None
    }
    /// Handles pasted text.
    fn paste(&mut self, _text: &str, _cx: &mut Cx) {}
    /// Returns whether another overlay may open on top by itself, because nothing is typed here.
    fn allows_popups(&self) -> bool {
        false
    }
    /// Returns the key of the comment that is being typed in the overlay.
    fn writing(&self) -> Option<&DraftKey> {
        None
    }
    /// Handles a mouse event.
    fn pointer(&mut self, _pointer: Pointer, _cx: &mut Cx) -> AfterEvent {
        AfterEvent::KeepOpen
    }
    /// Handles a change of the data that the overlay may show.
    fn changed(&mut self, _cx: &mut Cx) {}
    /// Returns whether the overlay itself tells which of its reads failed.
    fn tells_failed_reads(&self) -> bool {
        false
    }
    /// Returns whether the overlay shows a secret, which must disappear in time even where nothing else changes by itself.
    fn shows_secret(&self) -> bool {
        false
    }
    /// Returns whether the overlay has served its purpose, so that it closes by itself.
    fn is_done(&self) -> bool {
        false
    }
    /// Records that the write with that number, requested by this overlay, is being sent.
    fn sending(&mut self, _number: u64) {}
    /// Records how much of the files of a write was sent.
    fn progress(&mut self, _number: u64, _progress: Progress) {}
    /// Handles the end of a write; returns `None` if the write is not this overlay's.
    fn sent(&mut self, _number: u64, _outcome: &Result<Value, Error>, _cx: &mut Cx) -> Option<AfterEvent> {
        None
    }
    /// Sends again what may have succeeded: the user was asked (`confirm::send_again`).
    fn send_again(&mut self, _cx: &mut Cx) {}
    /// Handles the text from the user's editor.
    fn edited(&mut self, _text: String, _cx: &mut Cx) -> AfterEvent {
        AfterEvent::KeepOpen
    }
    /// Handles that the user's editor could not be run.
    fn not_edited(&mut self, _why: &str) {}
    /// Handles the end of the program while the text is in the user's editor: the text is saved, and nothing is sent.
    fn interrupted(&mut self, text: String, cx: &mut Cx) -> AfterEvent {
        self.edited(text, cx)
    }
}
