//! Templates for a text: files of the user, and the description templates of the project.

use super::{Handled, TextContext};
use crate::complete::{self, Complete};
use crate::context::Cx;
use crate::keymap::Key;
use crate::overlay::chooser::{Chooser, ChooserStep};
use crate::pointer::Pointer;
use crate::tone::Tone;
use crate::view::View;
use api::repository::GetRawBlob;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use store::{Load, Want};
use tui_textarea::TextArea;

/// The selection of a template, which is inserted at the cursor.
pub(super) struct TemplateInserter {
    /// The templates to choose from.
    offered: Complete,
    chooser: Option<Chooser>,
    /// The file of the project that is being read.
    reading: Option<GetRawBlob>,
}

impl TemplateInserter {
    pub fn new(context: &TextContext) -> TemplateInserter {
        let folder = context.on.and_then(complete::template_folder);
        let offered = Complete::Templates { project: context.project.clone(), folder, has_own: true };
        TemplateInserter { offered, chooser: None, reading: None }
    }

    pub fn is_choosing(&self) -> bool {
        self.chooser.is_some()
    }

    pub fn wants(&self, view: &View) -> Vec<Want> {
        let list = self.chooser.iter().flat_map(|chooser| chooser.wants(view));
        list.chain(self.reading.iter().map(|file| Load::single(file).into())).collect()
    }

    /// Handles `M-t`, and all keys while a template is chosen.
    pub fn key_pressed(&mut self, key: Key, area: &mut TextArea, cx: &mut Cx) -> Handled {
        if let Some(chooser) = &mut self.chooser {
            let step = chooser.key(key, None, &cx.view);
            return self.take_step(step, area, cx);
        }
        if !key.alt || key.ctrl || key.code != KeyCode::Char('t') {
            return Handled::No;
        }
        let chooser = Chooser::new(self.offered.clone(), false, Vec::new(), None).alone();
        let chooser = self.chooser.insert(chooser.hinting("Yours: templates/NAME.md beside the configuration"));
        chooser.refresh(&cx.view);
        Handled::Unchanged
    }

    pub fn pointer(&mut self, pointer: Pointer, area: &mut TextArea, cx: &mut Cx) -> Handled {
        let Some(chooser) = &mut self.chooser else { return Handled::No };
        let step = chooser.pointer(pointer, None, &cx.view);
        self.take_step(step, area, cx)
    }

    /// Takes pasted text as a filter; returns `false` if no template is being chosen.
    pub fn take_paste(&mut self, text: &str, view: &View) -> bool {
        self.chooser.as_mut().map(|chooser| chooser.type_text(text, view)).is_some()
    }

    fn take_step(&mut self, step: ChooserStep, area: &mut TextArea, cx: &mut Cx) -> Handled {
        let Some(chooser) = &mut self.chooser else { return Handled::No };
        let chosen = match step {
            ChooserStep::Stay => {
                chooser.refresh(&cx.view);
                return Handled::Unchanged;
            }
            ChooserStep::Back => None,
            ChooserStep::Done | ChooserStep::Next(_) | ChooserStep::Save => chooser.taken().map(str::to_owned),
        };
        self.chooser = None;
        let Some(name) = chosen else { return Handled::Unchanged };
        if let Some(own) = cx.view.session.templates.get(&name) {
            area.insert_str(own);
            return Handled::Changed;
        }
        self.reading = self.offered.template(&name, &cx.view);
        if self.reading.is_none() {
            cx.say(Tone::Warning, format!("Insert template: there is none named {name}"));
        }
        self.changed(area, cx)
    }

    /// Lists what has arrived, and inserts the chosen template as soon as it is there.
    pub fn changed(&mut self, area: &mut TextArea, cx: &mut Cx) -> Handled {
        if let Some(chooser) = &mut self.chooser {
            chooser.refresh(&cx.view);
        }
        let Some(file) = &self.reading else { return Handled::Unchanged };
        let read = cx.view.store.get(file);
        if let Some(raw) = read.value {
            area.insert_str(lines_of(&raw.bytes));
            self.reading = None;
            return Handled::Changed;
        }
        if let Some(error) = read.error {
            cx.say(Tone::Bad, format!("Insert template: {error}"));
            self.reading = None;
        }
        Handled::Unchanged
    }

    /// Draws the templates, if one is being chosen, and returns the cell of the cursor.
    pub fn draw(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<Option<(u16, u16)>> {
        Some(self.chooser.as_ref()?.draw(view, screen, buf, "Insert template", "insert", None))
    }
}

/// Returns the text of a file, with line feeds only.
fn lines_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n").trim_end().to_owned()
}
