//! A picker of one value that the server lists or that is typed, such as a ref. It sends nothing: an action continues with
//! the value.

use super::chooser::{Chooser, ChooserStep};
use super::{AfterEvent, Overlay, TextEntry};
use crate::action::Action;
use crate::complete::Complete;
use crate::context::Cx;
use crate::keymap::Key;
use crate::pointer::Pointer;
use crate::view::View;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use store::Want;

/// A function that returns the action that continues with a value.
type Continue = Box<dyn Fn(&str) -> Action>;

/// A picker of one value.
pub struct ValuePicker {
    title: String,
    chooser: Chooser,
    proceed: Continue,
}

impl ValuePicker {
    /// Creates a picker among the values of `complete`, of which `current` is chosen now. `proceed` gets the full name of a
    /// listed ref, and other values as they are.
    pub fn new(
        title: impl Into<String>,
        complete: Complete,
        current: Option<String>,
        view: &View,
        proceed: impl Fn(&str) -> Action + 'static,
    ) -> ValuePicker {
        ValuePicker::of(title.into(), Chooser::new(complete, false, current.into_iter().collect(), None), view, proceed)
    }

    /// Creates a picker like [`ValuePicker::new`], where no value can be chosen, too: it has this name, and `proceed` gets
    /// an empty text.
    pub fn or_none(
        title: impl Into<String>,
        complete: Complete,
        (current, none): (Option<String>, &str),
        view: &View,
        proceed: impl Fn(&str) -> Action + 'static,
    ) -> ValuePicker {
        let chooser = Chooser::new(complete, false, current.into_iter().collect(), Some(none.to_owned()));
        ValuePicker::of(title.into(), chooser, view, proceed)
    }

    fn of(title: String, chooser: Chooser, view: &View, proceed: impl Fn(&str) -> Action + 'static) -> ValuePicker {
        let mut chooser = chooser.alone();
        chooser.refresh(view);
        ValuePicker { title, chooser, proceed: Box::new(proceed) }
    }

    /// Sets the words in the empty filter.
    pub fn hinting(self, hint: &'static str) -> ValuePicker {
        ValuePicker { chooser: self.chooser.hinting(hint), ..self }
    }

    fn take_step(&mut self, step: ChooserStep, cx: &mut Cx) -> AfterEvent {
        let value = match step {
            ChooserStep::Back => return AfterEvent::Close,
            ChooserStep::Stay => None,
            ChooserStep::Done | ChooserStep::Next(_) | ChooserStep::Save => self.chooser.taken(),
        };
        if let Some(value) = value {
            cx.act((self.proceed)(value));
            return AfterEvent::Close;
        }
        self.chooser.refresh(&cx.view);
        AfterEvent::KeepOpen
    }
}

impl Overlay for ValuePicker {
    fn wants(&self, view: &View) -> Vec<Want> {
        self.chooser.wants(view)
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        self.chooser.draw(view, screen, buf, &self.title, "", None)
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let step = self.chooser.key(key, None, &cx.view);
        self.take_step(step, cx)
    }

    fn text_entry(&self) -> TextEntry {
        TextEntry::Line
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        self.chooser.type_text(text, &cx.view);
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        let step = self.chooser.pointer(pointer, None, &cx.view);
        self.take_step(step, cx)
    }

    fn changed(&mut self, cx: &mut Cx) {
        self.chooser.refresh(&cx.view);
    }
}
