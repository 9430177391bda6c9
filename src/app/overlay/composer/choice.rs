//! A value that is chosen beside the text, such as the branch of a commit.

use super::{Composer, Purpose};
use crate::action::{Action, FollowUp};
use crate::context::Cx;
use crate::keymap::Key;
use crate::overlay::AfterEvent;
use crate::overlay::chooser::{Chooser, ChooserStep};
use crate::view::View;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use store::Write;
use ui::line::Line;
use ui::text;
use ui::theme::Role;

/// A chosen value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub value: String,
    /// Whether the value does not exist yet.
    pub is_new: bool,
}

/// A function that creates the write for the text and the chosen value, and what follows on the reply.
pub type MakeChosen = Box<dyn Fn(String, &Chosen) -> (Write, FollowUp)>;

/// A value that is chosen beside the text.
pub struct ChoiceField {
    pub label: &'static str,
    /// The letter that opens the selection, with Alt.
    pub letter: char,
    /// The word for C-s.
    pub verb: &'static str,
    pub chosen: Chosen,
    /// The words after a new value.
    pub new_words: String,
    /// Returns the selection, given the value that is set.
    pub list: Box<dyn Fn(&str) -> Chooser>,
    /// Returns the action that records another value.
    pub record: Box<dyn Fn(&Chosen) -> Action>,
    pub make: MakeChosen,
}

impl Composer {
    pub(super) fn choice(&self) -> Option<&ChoiceField> {
        match &self.purpose {
            Purpose::SendChosen(choice) => Some(choice),
            Purpose::Send(..) | Purpose::Comment(..) => None,
        }
    }

    /// Opens the selection if the key is for it; returns `false` if it is not.
    pub(super) fn open_choice(&mut self, key: Key, view: &View) -> bool {
        let letter = key.alt && !key.ctrl;
        let Some(choice) = self.choice().filter(|choice| letter && key.code == KeyCode::Char(choice.letter)) else {
            return false;
        };
        let mut chooser = (choice.list)(&choice.chosen.value);
        chooser.refresh(view);
        self.choosing = Some(chooser);
        true
    }

    /// Continues after a key or a click in the selection.
    pub(super) fn take_step(&mut self, step: ChooserStep, cx: &mut Cx) -> AfterEvent {
        let Some(chooser) = self.choosing.as_ref().filter(|_| step != ChooserStep::Stay) else {
            return AfterEvent::KeepOpen;
        };
        let taken = chooser.values().first().cloned().filter(|_| step != ChooserStep::Back);
        let is_new = chooser.has_new_value();
        if let (Some(value), Purpose::SendChosen(choice)) = (taken, &mut self.purpose)
            && choice.chosen.value != value
        {
            choice.chosen = Chosen { value, is_new };
            cx.act((choice.record)(&choice.chosen));
        }
        self.choosing = None;
        if step == ChooserStep::Save { self.submit(false, cx) } else { AfterEvent::KeepOpen }
    }

    /// Draws the chosen value and the key that changes it.
    pub(super) fn draw_choice(&self, view: &View, area: Rect, buf: &mut Buffer) {
        let Some(choice) = self.choice() else { return };
        let value = text::sanitize(&choice.chosen.value).into_owned();
        let mut line = Line::new(format!("{}  ", choice.label), Role::Dim).and(value, Role::Ref);
        if choice.chosen.is_new {
            line.push(format!("  {}", text::sanitize(&choice.new_words)), Role::Warning);
        }
        line.push(format!("  M-{}", choice.letter), Role::Key);
        line.push(" change", Role::Dim);
        line.draw(buf, area, view.theme);
    }
}
