//! Attaching a file to a text: its path, completed from the local folders, and the upload.

use super::Handled;
use super::upload::Upload;
use crate::context::Cx;
use crate::keymap::Key;
use crate::local_paths::{self, ListFolder};
use crate::overlay::picker::edit;
use crate::tone::Tone;
use crate::uploads::{self, Attachment};
use crate::view::View;
use api::client::Progress;
use api::uploads::CreateUpload;
use api::{Error, Fault, Id};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use store::{Value, Want, Work};
use tui_textarea::TextArea;
use ui::form::{self, FieldSuggestion};
use ui::input::Input;
use ui::line::Line;
use ui::text;
use ui::theme::Role;

/// The maximum number of lines for the reason why a text was not sent or a file not attached.
pub const MAX_ERROR_LINES: usize = 4;
/// The message after a path was pasted.
const PASTED: &str = "M-u attaches the file in place of its path.";
/// The maximum number of offered names.
const MAX_OFFERED: usize = 50;
/// The maximum length in bytes of a pasted text that may be a path.
const MAX_PATH_BYTES: usize = 4096;

/// The path of a file that is being chosen.
struct PathEntry {
    input: Input,
    /// The names that continue the path.
    names: Vec<String>,
    selected: usize,
    /// The time at which the entry was opened, in seconds: folders are read once for each.
    opened_at: i64,
    /// The pasted path that the link replaces; put back if nothing is attached.
    replaced: String,
}

/// The decision about the path.
enum Step {
    KeepOpen,
    Cancel,
    Attach(String),
}

impl PathEntry {
    /// Begins with the path that was just pasted, or with none.
    fn new(pasted: String, view: &View) -> PathEntry {
        let typed = pasted.trim().trim_start_matches("file://").to_owned();
        let mut entry = PathEntry {
            input: Input::new(typed),
            names: Vec::new(),
            selected: 0,
            opened_at: view.local_now.as_second(),
            replaced: pasted,
        };
        entry.refresh(view);
        entry
    }

    /// Returns the folder of the typed path, with its slash, and the start of a name in it.
    fn split(&self) -> (&str, &str) {
        local_paths::split(self.input.text())
    }

    fn listing(&self) -> ListFolder {
        ListFolder { folder: self.split().0.to_owned(), at: self.opened_at }
    }

    /// Finds the names that continue the path.
    fn refresh(&mut self, view: &View) {
        let start = self.split().1;
        let names = self.listing().names(view.store, start).filter(|name| *name != start);
        self.names = names.take(MAX_OFFERED).cloned().collect();
        self.selected = self.selected.min(self.names.len().saturating_sub(1));
    }

    /// Handles a key.
    fn key_pressed(&mut self, key: Key, view: &View) -> Step {
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => return Step::Cancel,
            (KeyCode::Enter, _) => {
                let typed = self.input.text().trim().to_owned();
                return if typed.is_empty() { Step::KeepOpen } else { Step::Attach(typed) };
            }
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) => self.selected = self.selected.saturating_sub(1),
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) => {
                self.selected = (self.selected + 1).min(self.names.len().saturating_sub(1));
            }
            (KeyCode::Tab, _) => {
                if let Some(name) = self.names.get(self.selected) {
                    let path = format!("{}{name}", self.split().0);
                    self.input.set(path);
                }
                self.selected = 0;
            }
            _ => {
                if edit(&mut self.input, key) {
                    self.selected = 0;
                }
            }
        }
        self.refresh(view);
        Step::KeepOpen
    }

    /// Adds pasted text to the path.
    fn paste(&mut self, pasted: &str, view: &View) {
        self.input.paste(pasted);
        self.refresh(view);
    }

    /// Draws the path on a line, and the names above or below it; returns the cell of the cursor.
    fn draw(&self, view: &View, screen: Rect, line: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let used = Line::new("Attach ", Role::Dim).draw(buf, line, view.theme);
        let field = Rect { x: line.x + used, width: line.width.saturating_sub(used), ..line };
        let cursor = self.input.draw(buf, field, view.theme, true, "path of a file; Tab completes, Enter uploads");
        let offers: Vec<FieldSuggestion> =
            self.names.iter().map(|name| FieldSuggestion { value: name, note: "" }).collect();
        let before = text::width(self.split().0).min(usize::from(field.width));
        let anchor = Rect { x: field.x + before as u16, width: 1, ..field };
        form::draw_suggestions(buf, screen, view.theme, anchor, &offers, self.selected);
        form::draw_inline_suggestion(
            buf,
            screen,
            view.theme,
            cursor.unwrap_or((field.x, field.y)),
            &offers,
            self.selected,
        );
        cursor
    }
}

/// Attaches files to a text: asks for their paths, uploads them, and inserts the links.
pub struct Attacher {
    /// The project to which files are uploaded; `None` if the text takes none.
    project: Option<Id>,
    /// The path of a file to attach, while it is typed.
    entry: Option<PathEntry>,
    /// The file that is being uploaded.
    upload: Option<Upload>,
    /// The reason why a file was not attached.
    error: Option<String>,
    /// A path that was just pasted, before the cursor.
    pasted: String,
    /// The files that are uploaded when the draft is sent.
    waiting: Vec<Attachment>,
}

impl Attacher {
    pub fn new(project: Option<Id>) -> Attacher {
        Attacher { project, entry: None, upload: None, error: None, pasted: String::new(), waiting: Vec::new() }
    }

    pub fn takes_files(&self) -> bool {
        self.project.is_some()
    }

    pub fn set_waiting(&mut self, attachments: Vec<Attachment>) {
        self.waiting = attachments;
    }

    /// Returns the files whose mark is in the text.
    pub fn waiting(&self, text: &str) -> Vec<Attachment> {
        let is_in_text = |attachment: &&Attachment| text.contains(&attachment.mark);
        self.waiting.iter().filter(is_in_text).cloned().collect()
    }

    /// Forgets a file that is uploaded.
    pub fn forget_attachment(&mut self, attachment: &Attachment) {
        self.waiting.retain(|known| known != attachment);
    }

    /// Inserts the mark of a file that is uploaded when the text is sent.
    fn attach_later(&mut self, typed: &str, area: &mut TextArea) -> Handled {
        let text = area.lines().join("\n");
        let is_used = |mark: &str| text.contains(mark) || self.waiting.iter().any(|known| known.mark == mark);
        let attachment = Attachment::new(typed, is_used);
        let mark = attachment.mark.clone();
        self.waiting.push(attachment);
        insert(area, &mark)
    }

    /// Returns whether the path of a file is being typed.
    pub fn is_choosing(&self) -> bool {
        self.entry.is_some()
    }

    pub fn want(&self) -> Option<Want> {
        self.entry.as_ref().map(|entry| Work::new(entry.listing()).into())
    }

    pub fn changed(&mut self, view: &View) {
        if let Some(entry) = &mut self.entry {
            entry.refresh(view);
        }
    }

    /// Forgets the error and the pasted path, because the user types on.
    pub fn forget(&mut self) {
        self.error = None;
        self.pasted.clear();
    }

    pub fn key_pressed(&mut self, key: Key, area: &mut TextArea, cx: &mut Cx) -> Handled {
        if let Some(entry) = &mut self.entry {
            let step = entry.key_pressed(key, &cx.view);
            return self.take_step(step, area, cx);
        }
        let is_attach = key.alt && !key.ctrl && key.code == KeyCode::Char('u');
        let Some(upload) = &mut self.upload else {
            if is_attach {
                return self.open(area, cx);
            }
            return Handled::No;
        };
        if upload.key_pressed(key, cx) { Handled::Unchanged } else { Handled::No }
    }

    /// Asks for the path of a file; a path that was just pasted is taken from the text.
    fn open(&mut self, area: &mut TextArea, cx: &mut Cx) -> Handled {
        if self.project.is_none() {
            self.error = Some("Files can be attached only to texts in a project.".into());
            return Handled::Unchanged;
        }
        if cx.view.store.is_unsupported::<CreateUpload>() {
            self.error = Some("The server does not support attachments.".into());
            return Handled::Unchanged;
        }
        self.error = None;
        let pasted = std::mem::take(&mut self.pasted);
        for _ in pasted.chars() {
            area.delete_char();
        }
        self.entry = Some(PathEntry::new(pasted, &cx.view));
        Handled::Unchanged
    }

    fn take_step(&mut self, step: Step, area: &mut TextArea, cx: &mut Cx) -> Handled {
        let typed = match step {
            Step::KeepOpen => return Handled::Unchanged,
            Step::Cancel => None,
            Step::Attach(typed) => Some(typed),
        };
        let replaced = self.entry.take().map(|entry| entry.replaced).unwrap_or_default();
        match (typed, &self.project) {
            (Some(typed), Some(_)) if cx.view.session.offline => self.attach_later(&typed, area),
            (Some(typed), Some(project)) => {
                self.upload = Some(Upload::begin(project, typed, replaced, cx));
                Handled::Unchanged
            }
            _ => insert(area, &replaced),
        }
    }

    /// Takes pasted text if it belongs to the path that is typed. Remembers it if it may be the path of a file.
    pub fn take_paste(&mut self, pasted: &str, cx: &mut Cx) -> bool {
        if let Some(entry) = &mut self.entry {
            entry.paste(pasted, &cx.view);
            return true;
        }
        self.forget();
        if self.takes_files() && is_path(pasted) {
            self.pasted = pasted.to_owned();
            cx.say(Tone::Info, PASTED);
        }
        false
    }

    /// Returns the message about the path that was just pasted.
    pub fn hint(&self) -> Option<&'static str> {
        (!self.pasted.is_empty()).then_some(PASTED)
    }

    pub fn sending(&mut self, number: u64) -> bool {
        self.upload.as_mut().is_some_and(|upload| upload.sending(number))
    }

    pub fn progress(&mut self, number: u64, progress: Progress) {
        self.upload.iter_mut().for_each(|upload| upload.progress(number, progress));
    }

    pub fn sent(&mut self, number: u64, outcome: &Result<Value, Error>, area: &mut TextArea) -> Handled {
        let Some(upload) = self.upload.take_if(|upload| upload.is(number)) else { return Handled::No };
        match uploads::outcome(&upload.name, outcome) {
            Ok(markdown) => insert(area, &markdown),
            Err(_) if is_unreachable(outcome) => {
                self.error = Some(format!("The server cannot be reached: {} is uploaded on sending", upload.name));
                self.attach_later(&upload.typed, area)
            }
            Err(why) => {
                self.error = (!upload.is_stopped).then_some(why);
                insert(area, &upload.replaced)
            }
        }
    }

    /// Shows the reason why the text was not sent.
    pub fn fail(&mut self, why: String) {
        self.error = Some(why);
    }

    pub fn error_lines(&self, width: u16) -> Vec<String> {
        let words = self.error.as_ref().map(|why| format!("{}.", text::sanitize(why).trim_end_matches('.')));
        words.map(|words| text::wrap(&words, width.into(), MAX_ERROR_LINES)).unwrap_or_default()
    }

    pub fn status(&self) -> Option<String> {
        self.upload.as_ref().map(Upload::status)
    }

    pub fn draw(&self, view: &View, screen: Rect, foot: Rect, buf: &mut Buffer) -> Option<Option<(u16, u16)>> {
        self.entry.as_ref().map(|entry| entry.draw(view, screen, foot, buf))
    }
}

fn is_unreachable(outcome: &Result<Value, Error>) -> bool {
    outcome.as_ref().is_err_and(|error| matches!(error.fault, Fault::Offline(_)))
}

fn insert(area: &mut TextArea, text: &str) -> Handled {
    area.insert_str(text);
    Handled::Changed
}

/// Returns whether a pasted text looks like the absolute path of a file, as a terminal pastes a file that is dropped on it.
fn is_path(pasted: &str) -> bool {
    let pasted = pasted.trim();
    let is_absolute = pasted.starts_with('/') || pasted.starts_with("~/") || pasted.starts_with("file:///");
    is_absolute
        && pasted.len() <= MAX_PATH_BYTES
        && !pasted.contains('\n')
        && pasted.trim_start_matches('/').contains(['/', '.'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_paths_are_told_from_text() {
        for path in ["/tmp/a.png", "~/shots/b.png ", "file:///tmp/a.png", "/a.png"] {
            assert!(is_path(path), "{path}");
        }
        for text in ["/approve", "a/b", "/tmp/a\n/tmp/b", "", "~5", "see /tmp/a.png"] {
            assert!(!is_path(text), "{text}");
        }
    }
}
