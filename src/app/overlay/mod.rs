//! What lies on top of a place: a stack, top first for keys, bottom first for drawing.

pub mod batch;
pub mod columns;
pub mod composer;
pub mod confirm;
pub mod edit_conflict;
pub mod editor;
pub mod form;
pub mod output;
pub mod picker;
pub mod prompt;
pub mod query;
pub mod themes;
pub mod transfers;

use super::keymap::Key;
use super::pane::{Cx, Pointer, View};
use crate::api::Error;
use crate::store::{Value, Want};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Whether an overlay stays after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterKey {
    Open,
    Close,
}

/// A key as an area of text takes it: `C-z` undoes wherever something is typed.
fn undoing(key: Key) -> Key {
    match key {
        Key { code: KeyCode::Char('z'), ctrl: true, .. } => Key { code: KeyCode::Char('u'), ..key },
        key => key,
    }
}

/// A layer on top of a place.
pub trait Overlay {
    /// Returns what it needs from the server.
    fn wants(&self, _view: &View) -> Vec<Want> {
        Vec::new()
    }
    /// Draws it over `screen`, the whole terminal; says where the cursor stands, if it has one.
    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)>;
    /// A key; all keys come here while it is on top.
    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterKey;
    /// Pasted text.
    fn paste(&mut self, _text: &str, _cx: &mut Cx) {}
    /// Returns whether what comes by itself may be laid over it: nobody types there.
    fn gives_way(&self) -> bool {
        false
    }
    /// The key of the comment that is being typed in it.
    fn writing(&self) -> Option<&str> {
        None
    }
    /// The mouse.
    fn pointer(&mut self, _pointer: Pointer, _cx: &mut Cx) -> AfterKey {
        AfterKey::Open
    }
    /// Something that it may show has changed.
    fn changed(&mut self, _cx: &mut Cx) {}
    /// Returns whether what it was opened for is done, so that it goes by itself.
    fn is_done(&self) -> bool {
        false
    }
    /// The write of that number, asked for by this overlay, goes out.
    fn sending(&mut self, _number: u64) {}
    /// A write ended; `None` if it is not this overlay's.
    fn sent(&mut self, _number: u64, _outcome: &Result<Value, Error>, _cx: &mut Cx) -> Option<AfterKey> {
        None
    }
    /// The user's own editor came back.
    fn edited(&mut self, _text: String, _cx: &mut Cx) -> AfterKey {
        AfterKey::Open
    }
    /// The program ends while the user's own editor has the text: what it wrote is kept, and nothing is sent.
    fn interrupted(&mut self, text: String, cx: &mut Cx) -> AfterKey {
        self.edited(text, cx)
    }
}
