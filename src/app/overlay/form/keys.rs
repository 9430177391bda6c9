//! Keyboard and mouse input of a form.

use super::{Form, Look, State, ValueAction, Widget};
use crate::action::Action;
use crate::context::Cx;
use crate::keymap::Key;
use crate::overlay::AfterEvent;
use crate::overlay::chooser::ChooserStep;
use crate::overlay::markdown_input::{Handled, MarkdownInput};
use crate::overlay::picker::edit;
use crate::pointer::Pointer;
use crate::tone::Tone;
use crossterm::event::KeyCode;
use ui::scroll_bar;

impl Form {
    // ---- long texts

    /// Opens the focused long text for writing.
    pub(super) fn open_text(&mut self) {
        if self.is_sending() || matches!(self.state, State::Done) {
            return;
        }
        self.cancel_submission();
        let Some(field) = self.focused() else { return };
        let placeholder = if self.is_letter() { field.help.clone() } else { String::new() };
        let mut input = MarkdownInput::new("", placeholder, field.context.clone());
        input.hide(field.is_hidden);
        input.set_attachments(self.attachments.clone());
        self.focus.writing = Some(input);
        self.show_text();
    }

    /// Puts the text of the focused field into the input.
    pub(super) fn show_text(&mut self) {
        let (Some(field), Some(input)) = (self.fields.get(self.focus.field), &mut self.focus.writing) else { return };
        // A value keeps the line break at its end.
        match field.is_kept {
            true => input.set(&field.input.text().lines().collect::<Vec<_>>().join("\n")),
            false => input.set(field.input.text()),
        }
    }

    /// Cancels a submission that has not been sent: a user who continues typing does not want to send the text yet.
    fn cancel_submission(&mut self) {
        if matches!(self.state, State::Checking | State::Resolving) {
            self.state = State::Typing;
        }
    }

    /// Copies the written text to its field.
    fn written(&mut self, cx: &mut Cx) {
        let Some(input) = &self.focus.writing else { return };
        let text = input.text();
        let mut attached = input.attachments(&text);
        attached.retain(|attachment| !self.attachments.contains(attachment));
        self.attachments.append(&mut attached);
        if let Some(field) = self.focused_mut() {
            field.input.set(text);
        }
        self.changed_text(cx);
    }

    /// Copies the text that is being written to its field if it changed; returns whether the key or event was handled.
    pub(super) fn take_written(&mut self, handled: Handled, cx: &mut Cx) -> bool {
        if handled == Handled::Changed {
            self.written(cx);
        }
        handled != Handled::No
    }

    fn edit_externally(&mut self, cx: &mut Cx) {
        self.cancel_submission();
        if let Some(field) = self.focused() {
            if !field.is_kept {
                return cx.say(Tone::Warning, "An editor would store this text: type it here.");
            }
            let text = field.input.text().to_owned();
            self.focus.external = Some((self.focus.field, text.clone()));
            cx.act(Action::Edit { text, suffix: ".md".into() });
        }
    }

    /// Applies the text from the user's editor.
    pub(super) fn take_edited(&mut self, text: &str, cx: &mut Cx) {
        let Some((index, before)) = self.focus.external.take() else { return };
        // Editors end files with a line break.
        let text = text.trim_end();
        if text == before.trim_end() {
            return;
        }
        self.go_to(index);
        if let Some(field) = self.focused_mut() {
            field.input.set(text);
        }
        self.show_text();
        self.changed_text(cx);
    }

    /// Returns the switch that the key turns on and off.
    fn switch_of(&self, key: Key) -> Option<usize> {
        let KeyCode::Char(letter) = key.code else { return None };
        self.fields.iter().position(|field| field.switch == Some(letter)).filter(|_| key.alt && !key.ctrl)
    }

    /// Turns on the switch at `index`, and the others off; if it is on, the first one takes its place.
    fn turn_switch(&mut self, index: usize, cx: &mut Cx) {
        let Some(field) = self.fields.get(index) else { return };
        if let Some(why) = &field.disabled {
            let words = format!("{}: {why}", field.label);
            return cx.say(Tone::Warning, words);
        }
        let first = self.fields.iter().position(|field| field.switch.is_some());
        let chosen = if field.is_on() { first.unwrap_or(index) } else { index };
        for (at, field) in self.fields.iter_mut().enumerate().filter(|(_, field)| field.switch.is_some()) {
            field.input.set(if at == chosen { "yes" } else { "" });
        }
        self.changed_text(cx);
    }

    fn key_writing(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let Some(input) = &mut self.focus.writing else { return AfterEvent::KeepOpen };
        let handled = match input.take_insert_key(key, cx) {
            Handled::No => input.take_name_key(key, &cx.view),
            handled => handled,
        };
        if self.take_written(handled, cx) {
            return AfterEvent::KeepOpen;
        }
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) if self.is_letter() => return self.leave(cx),
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => self.focus.writing = None,
            (KeyCode::Char('s'), true) => {
                if !self.is_letter() {
                    self.focus.writing = None;
                }
                self.submit(cx);
            }
            (KeyCode::Char('o'), true) => self.edit_externally(cx),
            (KeyCode::Char('t'), true) if self.hide_or_show() => {}
            // A tab in a masked text would not be noticed.
            (KeyCode::Tab, _) if self.focused().is_some_and(|field| field.is_hidden) => {
                self.focus.writing = None;
                self.go_by(if key.shift { -1 } else { 1 });
            }
            _ => {
                if let Some(input) = &mut self.focus.writing {
                    input.type_key(key, &cx.view);
                }
                self.written(cx);
            }
        }
        AfterEvent::KeepOpen
    }

    /// Hides or shows the text of the focused field; returns `false` if the text cannot be secret.
    fn hide_or_show(&mut self) -> bool {
        let field =
            self.fields.get_mut(self.focus.field).filter(|field| !field.is_kept && field.widget == Widget::Long);
        if let Some(field) = field {
            field.is_hidden = !field.is_hidden;
            if let Some(input) = &mut self.focus.writing {
                input.hide(field.is_hidden);
            }
            return true;
        }
        false
    }

    // ---- field keys

    /// Applies the chosen values to the field, and goes where the selection continues.
    fn take_step(&mut self, step: ChooserStep, cx: &mut Cx) -> AfterEvent {
        if let (Some(chooser), Some(field)) = (&self.focus.choosing, self.fields.get_mut(self.focus.field))
            && field.chosen() != chooser.values()
        {
            field.set_chosen(chooser.values());
            self.changed_text(cx);
        }
        match step {
            ChooserStep::Stay => {}
            ChooserStep::Back if self.is_picker() => return self.leave(cx),
            ChooserStep::Back => self.focus.choosing = None,
            ChooserStep::Done if self.is_picker() => self.submit(cx),
            ChooserStep::Done => self.go_by(1),
            ChooserStep::Next(forward) => self.go_by(if forward { 1 } else { -1 }),
            ChooserStep::Save => {
                if !self.is_picker() {
                    self.focus.choosing = None;
                }
                self.submit(cx);
            }
        }
        AfterEvent::KeepOpen
    }

    /// Handles a key while values are chosen.
    fn key_choosing(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        let unknown = self.unknown(&cx.view);
        let is_typed = |action: &&ValueAction| key.typed().is_some_and(|typed| action.key.chars().eq([typed]));
        let of_value = self.value_action().filter(is_typed).zip(self.focus.choosing.as_ref());
        if let Some(action) = of_value.and_then(|(action, chooser)| (action.act)(&cx.view, chooser.selected()?)) {
            cx.act(action);
            return AfterEvent::KeepOpen;
        }
        let Some(chooser) = &mut self.focus.choosing else { return AfterEvent::KeepOpen };
        let step = match self.state {
            State::Sending(_) | State::Verifying(_) if key.code != KeyCode::Esc => ChooserStep::Stay,
            _ => chooser.key(key, unknown, &cx.view),
        };
        self.take_step(step, cx)
    }

    fn key_field(&mut self, key: Key, cx: &mut Cx) {
        if key.ctrl && key.code == KeyCode::Char('t') && self.hide_or_show() {
            return;
        }
        let Some(field) = self.focused_mut() else { return };
        match (&field.widget, key.code) {
            (Widget::YesNo | Widget::Choice(_), KeyCode::Char(' ') | KeyCode::Right) => field.turn(true),
            (Widget::YesNo | Widget::Choice(_), KeyCode::Left) => field.turn(false),
            (Widget::YesNo | Widget::Choice(_), KeyCode::Backspace | KeyCode::Delete) => {
                field.input.set(field.before.clone());
            }
            (Widget::YesNo | Widget::Choice(_), KeyCode::Char(c)) if !key.ctrl => field.turn_to(c.to_ascii_lowercase()),
            (Widget::YesNo | Widget::Choice(_), _) => {}
            (Widget::Number, KeyCode::Char('+')) => field.step(true),
            (Widget::Number, KeyCode::Char('-')) => field.step(false),
            (Widget::Long, KeyCode::Char('o')) if key.ctrl => return self.edit_externally(cx),
            (Widget::Long, KeyCode::Char(letter))
                if key.typed().is_some() || (letter == 'u' && key.alt && field.context.is_some()) =>
            {
                self.open_text();
                _ = self.key_writing(key, cx);
                return;
            }
            (Widget::Long, _) => {}
            _ if field.has_choices() => match (key.typed(), key.code, key.ctrl) {
                (Some(typed), ..) => return self.choose(typed.encode_utf8(&mut [0; 4]), &cx.view),
                (_, KeyCode::Char('u'), true) => field.input.clear(),
                (_, KeyCode::Backspace | KeyCode::Delete, _) | (_, KeyCode::Char('h' | 'w'), true) => {
                    let mut values = field.chosen();
                    values.pop();
                    field.set_chosen(&values);
                }
                _ => return,
            },
            _ => {
                if !edit(&mut field.input, key) {
                    return;
                }
            }
        }
        self.changed_text(cx);
    }

    pub(super) fn take_key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        if self.files.key_pressed(key, cx) {
            return AfterEvent::KeepOpen;
        }
        if let State::Conflict(conflict, _) = &mut self.state {
            if let Some(choice) = conflict.key(key) {
                self.decide(choice, cx);
            }
            return AfterEvent::KeepOpen;
        }
        if self.is_locked(&cx.view) {
            let closes = key.code == KeyCode::Esc || key.ctrl && key.code == KeyCode::Char('c');
            return if closes { self.leave(cx) } else { AfterEvent::KeepOpen };
        }
        if let Some(index) = self.switch_of(key).filter(|_| !self.is_sending()) {
            self.turn_switch(index, cx);
            return AfterEvent::KeepOpen;
        }
        if self.focus.writing.is_some() {
            return self.key_writing(key, cx);
        }
        if self.focus.choosing.is_some() {
            let after = self.key_choosing(key, cx);
            self.follow_choices(&cx.view);
            return after;
        }
        let busy = self.is_sending();
        let page = self.layout.borrow().rows.len().max(1);
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => return self.leave(cx),
            (KeyCode::Char('s'), true) => self.submit(cx),
            (KeyCode::Tab, _) => self.go_by(if key.shift { -1 } else { 1 }),
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) => self.go_by(1),
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) => self.go_by(-1),
            (KeyCode::PageDown, _) => self.go_to(self.focus.field + page),
            (KeyCode::PageUp, _) => self.go_to(self.focus.field.saturating_sub(page)),
            (KeyCode::Enter, _) => match self.focused() {
                Some(field) if field.widget == Widget::Long => self.open_text(),
                Some(field) if field.has_choices() && !busy => self.choose("", &cx.view),
                _ if self.fields.len() == 1 => self.submit(cx),
                _ => self.go_by(1),
            },
            _ if busy => {}
            (KeyCode::Char('z'), true) => self.swap_replaced(cx),
            _ => self.key_field(key, cx),
        }
        AfterEvent::KeepOpen
    }

    pub(super) fn take_paste(&mut self, text: &str, cx: &mut Cx) {
        if self.is_sending() || matches!(self.state, State::Conflict(..)) || self.is_locked(&cx.view) {
            return;
        }
        let long = self.focused_mut().is_some_and(|field| field.widget == Widget::Long);
        if long && self.focus.writing.is_none() {
            self.open_text();
        }
        if let Some(input) = &mut self.focus.writing {
            let handled = input.paste(text, cx);
            self.take_written(handled, cx);
            return;
        }
        if let Some(chooser) = &mut self.focus.choosing {
            return chooser.type_text(text, &cx.view);
        }
        if self.focused().is_some_and(|field| field.has_choices()) {
            return self.choose(text, &cx.view);
        }
        if let Some(field) = self.focused_mut().filter(|f| !matches!(f.widget, Widget::YesNo | Widget::Choice(_))) {
            field.input.paste(text);
            self.changed_text(cx);
        }
    }

    pub(super) fn take_pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        if self.is_sending() || matches!(self.state, State::Conflict(..)) || self.is_locked(&cx.view) {
            return AfterEvent::KeepOpen;
        }
        if self.focus.writing.is_some() {
            let hit = match (&self.look, pointer) {
                (Look::Letter(switches), Pointer::Press { column, row, .. }) => {
                    let switches = switches.borrow();
                    switches.iter().find(|(_, area)| area.contains((column, row).into())).map(|(index, _)| *index)
                }
                _ => None,
            };
            match hit {
                Some(index) => self.turn_switch(index, cx),
                None => {
                    let handled = self.focus.writing.as_mut().map_or(Handled::No, |input| input.pointer(pointer, cx));
                    self.take_written(handled, cx);
                }
            }
            return AfterEvent::KeepOpen;
        }
        let unknown = self.unknown(&cx.view);
        if let Some(chooser) = &mut self.focus.choosing {
            let step = chooser.pointer(pointer, unknown, &cx.view);
            let after = self.take_step(step, cx);
            self.follow_choices(&cx.view);
            return after;
        }
        match pointer {
            Pointer::Wheel { rows, .. } => {
                let by = rows / scroll_bar::WHEEL_ROWS;
                self.go_to(self.focus.field.saturating_add_signed(by.into()));
            }
            Pointer::Press { row, .. } => {
                let hit =
                    self.layout.borrow().rows.iter().find(|(_, y, took)| (*y..y + took).contains(&row)).map(|r| r.0);
                if let Some(index) = hit {
                    let again = index == self.focus.field;
                    self.go_to(index);
                    match self.fields.get_mut(index) {
                        Some(field) if again && matches!(field.widget, Widget::YesNo | Widget::Choice(_)) => {
                            field.turn(true);
                            self.changed_text(cx);
                        }
                        Some(field) if again && field.widget == Widget::Long => self.open_text(),
                        Some(field) if again && field.has_choices() => self.choose("", &cx.view),
                        _ => {}
                    }
                }
            }
            Pointer::Drag { .. } | Pointer::Release => {}
        }
        AfterEvent::KeepOpen
    }
}
