//! Editor for a whole file: typing, searching, undo; saved while it is typed, and returned byte for byte.

mod buffer;
mod saving;
mod text_format;

use super::markdown_input::Handled;
use super::markdown_input::attach::Attacher;
use super::markdown_input::upload::DraftFiles;
use super::picker::edit;
use super::{AfterEvent, Overlay, TextEntry, key_hints};
use crate::action::Action;
use crate::clip::Clip;
use crate::context::Cx;
use crate::keymap::Key;
use crate::pointer::Pointer;
use crate::tone::Tone;
use crate::view::View;
use api::client::Progress;
use api::{Error, Id};
use buffer::TextBuffer;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use saving::Saving;
use std::borrow::Cow;
use store::{Load, Value, Want};
use ui::input::Input;
use ui::line::Line;
use ui::theme::Role;
use ui::{glyph, line, popup, state, text};

/// The maximum size of a text in bytes: each key scans the whole text.
const MAX_BYTES: usize = 1 << 20;
/// The maximum number of lines of a text.
const MAX_LINES: usize = 60_000;

/// The source of an edited text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name of the state of the file that the text begins with, such as the hash of its blob; one line.
    pub name: String,
    /// The text.
    pub bytes: Vec<u8>,
}

/// A document to edit: the source of its text, and its destination.
pub trait Document {
    /// Returns the path that the user knows it by, which also determines the language.
    fn path(&self) -> &str;
    /// Returns the key under which the text is saved while it is typed.
    fn key(&self) -> &str;
    /// Returns the effect of C-s, in a word.
    fn verb(&self) -> &'static str;
    /// Returns the project to which files are uploaded that are attached to the text; `None` if it takes none.
    fn uploads_to(&self) -> Option<&Id> {
        None
    }
    /// Returns whether an unchanged text is worth saving, such as a new file that is empty.
    fn takes_unchanged(&self) -> bool {
        false
    }
    /// Returns whether saving sends the text: it is then kept until the server has it, by the write that carries its
    /// key.
    fn is_sent(&self) -> bool {
        false
    }
    /// Returns the load to fetch again before saving, so that nobody's text is replaced unseen.
    fn check_load(&self) -> Option<Load> {
        None
    }
    /// Returns the message to show when the document opens.
    fn note(&self) -> Option<String> {
        None
    }
    /// Returns the data needed before the document can be edited.
    fn wants(&self, _view: &View) -> Vec<Want> {
        Vec::new()
    }
    /// Returns the text, once it is known, or the reason why it cannot be edited.
    fn read(&self, view: &View) -> Option<Result<Origin, String>>;
    /// Saves the text that was made from `origin`.
    ///
    /// # Errors
    /// Returns the reason why it cannot be saved; the text is then kept as a draft.
    fn save(&self, origin: &str, text: String, cx: &mut Cx) -> Result<(), String>;
}

enum State {
    /// The text is being loaded.
    Reading,
    /// The text cannot be edited, for this reason.
    Refused(String),
    /// The text is open in the user's editor.
    External { origin: String, text: String },
    /// The text is edited here.
    Here(Box<TextBuffer>),
}

/// The purpose of the input line at the bottom.
enum LinePrompt {
    Find,
    Line,
}

/// An editor for a file, over the whole screen.
pub struct Editor {
    document: Box<dyn Document>,
    state: State,
    /// Whether to open the text in the user's editor as soon as it is known.
    is_external: bool,
    /// Why the user's editor could not be run.
    failure: Option<String>,
    attacher: Attacher,
    files: DraftFiles,
    ask: Option<(LinePrompt, Input)>,
    /// The message in place of the keys, until the next key.
    note: Option<String>,
    /// The draft that is saved on disk already.
    kept: Option<String>,
    saving: Option<Saving>,
    /// Whether the text is saved.
    done: bool,
}

impl Editor {
    /// Creates an editor for `document`.
    pub fn new(document: Box<dyn Document>) -> Editor {
        let note = document.note();
        let attacher = Attacher::new(document.uploads_to().cloned());
        Editor {
            document,
            state: State::Reading,
            is_external: false,
            failure: None,
            attacher,
            files: DraftFiles::default(),
            ask: None,
            note,
            kept: None,
            saving: None,
            done: false,
        }
    }

    /// Creates an editor that opens `document` in the user's editor.
    pub fn external(document: Box<dyn Document>) -> Editor {
        Editor { is_external: true, ..Editor::new(document) }
    }

    /// Starts with the text typed before, if there is any, else with the file.
    fn begin(&mut self, view: &View) {
        let kept = view.drafts.plain(self.document.key()).map(str::to_owned);
        self.files = DraftFiles::read(self.document.key(), view);
        self.attacher.set_waiting(self.files.kept().to_vec());
        let Some(read) = self.document.read(view) else { return };
        let (origin, original) = match read.and_then(readable) {
            Ok(known) => known,
            Err(why) => {
                // The typed text is shown all the same, to be read and copied, even if it cannot be saved.
                let typed = kept.as_deref().and_then(|kept| kept.split_once('\n'));
                let Some((origin, typed)) = typed else { return self.state = State::Refused(why) };
                self.note = Some(format!("{why} This is your saved text."));
                let (origin, typed) = (origin.to_owned(), typed.to_owned());
                self.state = State::open_here(self.document.path(), origin, String::new(), Some(typed));
                self.kept = kept;
                return;
            }
        };
        let (origin, typed) = match kept.as_deref().and_then(|kept| kept.split_once('\n')) {
            Some((name, typed)) => (name.to_owned(), Some(typed.to_owned())),
            None => (origin, None),
        };
        self.kept = kept;
        self.state = if self.is_external {
            State::External { origin, text: typed.unwrap_or(original) }
        } else {
            State::open_here(self.document.path(), origin, original, typed)
        };
    }

    fn suffix(&self) -> Cow<'static, str> {
        let name = self.document.path().rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        let plain = |e: &&str| !e.is_empty() && e.len() <= 12 && e.bytes().all(|b| b.is_ascii_alphanumeric());
        ending.filter(plain).map_or("".into(), |ending| format!(".{ending}").into())
    }

    /// Saves the typed text as a draft; an unchanged text needs no draft.
    fn keep(&mut self, cx: &mut Cx) {
        let State::Here(buffer) = &self.state else { return };
        let text = buffer.is_modified().then(|| format!("{}\n{}", buffer.origin, buffer.text()));
        if text != self.kept {
            let files = text.as_ref().map(|text| self.attacher.waiting(text)).unwrap_or_default();
            self.files.keep(self.document.key(), files, cx);
            cx.act(Action::SaveText(self.document.key().to_owned(), text.clone()));
            self.kept = text;
        }
    }

    fn save(&mut self, origin: &str, text: String, cx: &mut Cx) -> AfterEvent {
        let sent = self.document.is_sent();
        if sent {
            cx.act(Action::SaveText(self.document.key().to_owned(), Some(format!("{origin}\n{text}"))));
        }
        let next = self.attacher.waiting(&text).into_iter().next();
        if let (Some(attachment), Some(project)) = (next, self.document.uploads_to()) {
            self.files.upload(project, &attachment, cx);
            self.saving = Some(Saving::Uploading { origin: origin.to_owned(), text });
            return AfterEvent::KeepOpen;
        }
        match self.document.save(origin, text, cx) {
            Ok(()) => {
                if !sent && self.kept.take().is_some() {
                    cx.act(Action::SaveText(self.document.key().to_owned(), None));
                }
                AfterEvent::Close
            }
            Err(why) => {
                self.note = Some(why);
                AfterEvent::KeepOpen
            }
        }
    }

    fn save_here(&mut self, cx: &mut Cx) -> AfterEvent {
        let State::Here(buffer) = &self.state else { return AfterEvent::KeepOpen };
        if !buffer.is_modified() && !self.document.takes_unchanged() {
            cx.say(Tone::Info, "No changes.");
            return AfterEvent::Close;
        }
        let (origin, text) = (buffer.origin.clone(), buffer.text());
        self.check_and_save(origin, text, cx)
    }

    fn close(&mut self, cx: &mut Cx) -> AfterEvent {
        self.keep(cx);
        if self.kept.is_some() {
            let path = text::sanitize(self.document.path()).into_owned();
            cx.say_draft_saved(&format!("{path} opens with it next time"));
        }
        AfterEvent::Close
    }

    fn key_in_prompt(&mut self, key: Key) {
        let (Some((ask, input)), State::Here(buffer)) = (&mut self.ask, &mut self.state) else { return };
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
                if matches!(ask, LinePrompt::Find) {
                    buffer.find("");
                }
                self.ask = None;
            }
            (KeyCode::Enter, _) => {
                let line = input.text().trim().parse::<usize>();
                match (ask, line) {
                    (LinePrompt::Find, _) => {}
                    (LinePrompt::Line, Ok(line)) => buffer.go_to(line.saturating_sub(1), 0),
                    (LinePrompt::Line, Err(_)) => {
                        self.note = Some(format!("Invalid line number \"{}\".", text::sanitize(input.text())));
                    }
                }
                self.ask = None;
            }
            (KeyCode::Down, _) | (KeyCode::Char('g' | 'n'), true) => buffer.next_match(true),
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) => buffer.next_match(false),
            _ => {
                if edit(input, key) && matches!(ask, LinePrompt::Find) {
                    buffer.find(input.text());
                }
            }
        }
    }

    fn draw_foot(&self, view: &View, screen: Rect, area: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        if let Some(cursor) = self.attacher.draw(view, screen, area, buf) {
            return cursor;
        }
        if let Some(status) = self.attacher.status() {
            Line::new(format!(" {status}"), Role::Running).draw(buf, area, theme);
            return None;
        }
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        if let Some((ask, input)) = &self.ask {
            let label = match ask {
                LinePrompt::Find => " find ",
                LinePrompt::Line => " line ",
            };
            let used = Line::new(label, key).draw(buf, area, theme);
            let rest = Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area };
            return input.draw(buf, rest, theme, true, "");
        }
        if let Some(status) = self.files.status() {
            Line::new(format!(" {status}"), Role::Running).draw(buf, area, theme);
            return None;
        }
        if self.saving.is_some() {
            Line::new(" checking for changes…", Role::Running).draw(buf, area, theme);
            return None;
        }
        let note = self.note.as_deref().or(self.attacher.hint());
        if let (Some(note), State::Here(_) | State::External { .. }) = (note, &self.state) {
            Line::new(format!(" {}", view.with_keys(note)), Role::Warning).draw(buf, area, theme);
            return None;
        }
        if !matches!(self.state, State::Here(_)) {
            Line::from([(" Esc", key), (" close", dim)]).draw(buf, area, theme);
            return None;
        }
        let mut words = vec![("C-s", self.document.verb()), ("Esc", "close")];
        words.extend(self.attacher.takes_files().then_some(("M-u", "attach")));
        words.extend([("C-f", "find"), ("C-g", "next"), ("C-l", "line"), ("C-z", "undo"), ("C-y", "redo")]);
        words.push(("C-o", "$EDITOR"));
        let least = ["C-y", "C-g", "C-l", "C-f", "C-z", "M-u", "C-o"];
        let area = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(1), ..area };
        let keys = key_hints::fitting(words, &least, area.width);
        keys.draw(buf, area, theme);
        None
    }
}

/// Returns the name and the text of what was read, if it is valid text.
fn readable(origin: Origin) -> Result<(String, String), String> {
    if memchr::memchr(0, &origin.bytes).is_some() {
        return Err("Binary file: it contains NUL bytes. In files, ‹files.upload› uploads a replacement.".into());
    }
    match String::from_utf8(origin.bytes) {
        Ok(text) => Ok((origin.name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let before = error.as_bytes().get(..at).unwrap_or_default();
            let line = memchr::memchr_iter(b'\n', before).count() + 1;
            Err(format!(
                "Not UTF-8 (line {line}): saving would change bytes that you did not edit. \
                 In files, ‹files.upload› uploads a replacement."
            ))
        }
    }
}

impl State {
    fn open_here(path: &str, origin: String, original: String, typed: Option<String>) -> State {
        let text = typed.as_ref().unwrap_or(&original);
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        if text.len() > MAX_BYTES || lines > MAX_LINES {
            let size = text::bytes(text.len() as u64);
            return State::Refused(format!(
                "{size} in {} lines is too large for this editor; ‹.edit_outside› opens it in $EDITOR.",
                text::count(lines as u64)
            ));
        }
        State::Here(Box::new(TextBuffer::new(path, origin, original, typed)))
    }
}

impl Overlay for Editor {
    fn wants(&self, view: &View) -> Vec<Want> {
        if let Some(Saving::Checking { .. }) = self.saving {
            return self.document.check_load().into_iter().map(Want::from).collect();
        }
        match &self.state {
            State::Reading => self.document.wants(view),
            State::Here(buffer) => buffer.wants(view).into_iter().chain(self.attacher.want()).collect(),
            State::Refused(_) | State::External { .. } => Vec::new(),
        }
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        popup::clear(buf, screen, theme);
        let (head, body, foot) = rows(screen);
        let errors = self.attacher.error_lines(body.width.saturating_sub(2));
        let body = Rect { height: body.height.saturating_sub(errors.len() as u16), ..body };
        for (words, y) in errors.iter().zip(body.bottom()..foot.y) {
            Line::new(format!(" {words}"), Role::Failed).draw(buf, Rect { y, height: 1, ..body }, theme);
        }
        let mut left = Line::new(" edit ".to_owned(), Role::Dim);
        left.push(text::fit_middle(self.document.path(), usize::from(head.width / 2)), Role::Title);
        let mut right = Line::empty();
        if let State::Here(buffer) = &self.state {
            if buffer.is_modified() {
                left.push(format!("{}modified", glyph::separator()), Role::Warning);
            }
            if buffer.is_restored {
                left.push(format!("{}draft restored", glyph::separator()), Role::Dim);
            }
            right.push(format!("{} ", buffer.facts()), Role::Dim);
        }
        line::pair(buf, head, theme, &left, &right);
        let cursor = match &self.state {
            State::Reading => {
                state::skeleton(buf, body, theme);
                None
            }
            State::Refused(why) => {
                view.draw_empty(buf, body, &view.with_keys(why), "Esc closes");
                None
            }
            State::External { .. } => {
                view.draw_empty(buf, body, self.failure.as_deref().unwrap_or("Open in $EDITOR."), "Esc closes");
                None
            }
            State::Here(buffer) => buffer.draw(view, body, buf),
        };
        if let Some(Saving::Conflict { conflict, .. }) = &self.saving {
            conflict.draw(view, screen, buf, self.document.path());
            return None;
        }
        let asking = self.draw_foot(view, screen, foot, buf);
        asking.or(cursor)
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        self.note = None;
        if self.files.key_pressed(key, cx) {
            return AfterEvent::KeepOpen;
        }
        match &mut self.saving {
            Some(Saving::Conflict { conflict, .. }) => {
                return conflict.key(key).map_or(AfterEvent::KeepOpen, |choice| self.decide(choice, cx));
            }
            // Anything typed now would not be part of what is saved.
            Some(Saving::Checking { .. }) if key.code != KeyCode::Esc => return AfterEvent::KeepOpen,
            Some(Saving::Checking { .. }) => {
                self.saving = None;
                // There is no text here to return to: the user's editor is closed.
                let is_external = matches!(self.state, State::External { .. });
                return if is_external { self.close(cx) } else { AfterEvent::KeepOpen };
            }
            Some(Saving::Uploading { .. }) | None => {}
        }
        if self.ask.is_some() {
            self.key_in_prompt(key);
            return AfterEvent::KeepOpen;
        }
        let State::Here(buffer) = &mut self.state else {
            let leaves =
                key.code == KeyCode::Esc || key.typed() == Some('q') || (key.ctrl && key.code == KeyCode::Char('c'));
            return if leaves { self.close(cx) } else { AfterEvent::KeepOpen };
        };
        if self.attacher.takes_files() {
            let handled = buffer.attach(|area| self.attacher.key_pressed(key, area, cx));
            if handled != Handled::No {
                self.keep(cx);
                return AfterEvent::KeepOpen;
            }
            self.attacher.forget();
        }
        match (key.code, key.ctrl) {
            (KeyCode::Esc, _) => {
                if !buffer.end_selection() {
                    return self.close(cx);
                }
            }
            (KeyCode::Char('c'), true) => match buffer.selected() {
                Some(text) => cx.act(Action::Copy(Clip::lines("the selection", text))),
                None => return self.close(cx),
            },
            (KeyCode::Char('s'), true) => return self.save_here(cx),
            (KeyCode::Char('o'), true) => {
                let (text, suffix) = (buffer.text(), self.suffix());
                self.keep(cx);
                cx.act(Action::Edit { text, suffix });
            }
            (KeyCode::Char('f'), true) => self.ask = Some((LinePrompt::Find, Input::new(buffer.search_text()))),
            (KeyCode::Char('l'), true) => self.ask = Some((LinePrompt::Line, Input::default())),
            (KeyCode::Char('g'), true) | (KeyCode::F(3), _) => {
                if buffer.search_text().is_empty() {
                    self.ask = Some((LinePrompt::Find, Input::default()));
                } else {
                    buffer.next_match(!key.shift);
                }
            }
            _ => {
                buffer.key(key);
                self.keep(cx);
            }
        }
        AfterEvent::KeepOpen
    }

    fn text_entry(&self) -> TextEntry {
        match (&self.ask, &self.state) {
            _ if self.saving.is_some() => TextEntry::None,
            (Some(_), State::Here(_)) => TextEntry::Line,
            (None, State::Here(_)) if self.attacher.is_choosing() => TextEntry::Line,
            (None, State::Here(_)) => TextEntry::Lines,
            _ => TextEntry::None,
        }
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        match (&mut self.ask, &mut self.state) {
            _ if self.saving.is_some() => {}
            (Some((ask, input)), State::Here(buffer)) => {
                input.paste(text);
                if matches!(ask, LinePrompt::Find) {
                    buffer.find(input.text());
                }
            }
            (None, State::Here(_)) if self.attacher.take_paste(text, cx) => {}
            (None, State::Here(buffer)) => {
                buffer.insert(&text.replace("\r\n", "\n").replace('\r', "\n"));
                self.keep(cx);
            }
            _ => {}
        }
    }

    fn pointer(&mut self, pointer: Pointer, _cx: &mut Cx) -> AfterEvent {
        if let State::Here(buffer) = &mut self.state {
            self.attacher.forget();
            buffer.pointer(pointer);
        }
        AfterEvent::KeepOpen
    }

    fn changed(&mut self, cx: &mut Cx) {
        match &mut self.state {
            State::Reading => self.begin(&cx.view),
            State::Here(buffer) => {
                buffer.changed(&cx.view);
                self.attacher.changed(&cx.view);
            }
            State::Refused(_) | State::External { .. } => {}
        }
        if self.checked(cx) == AfterEvent::Close {
            self.done = true;
        }
        if let State::External { text, .. } = &self.state {
            // Only once: the text comes back to this overlay, and if the editor cannot be run, that is reported.
            if std::mem::take(&mut self.is_external) {
                cx.act(Action::Edit { text: text.clone(), suffix: self.suffix() });
            }
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn progress(&mut self, number: u64, progress: Progress) {
        self.attacher.progress(number, progress);
        self.files.progress(number, progress);
    }

    fn sending(&mut self, number: u64) {
        if !self.attacher.sending(number) {
            self.files.sending(number);
        }
    }

    fn sent(&mut self, number: u64, outcome: &Result<Value, Error>, cx: &mut Cx) -> Option<AfterEvent> {
        if let Some((attachment, linked)) = self.files.sent(number, outcome) {
            return Some(self.uploaded(&attachment, linked, cx));
        }
        let State::Here(buffer) = &mut self.state else { return None };
        let handled = buffer.attach(|area| self.attacher.sent(number, outcome, area));
        (handled != Handled::No).then(|| {
            self.keep(cx);
            AfterEvent::KeepOpen
        })
    }

    fn edited(&mut self, text: String, cx: &mut Cx) -> AfterEvent {
        match &mut self.state {
            State::External { origin, text: before } => {
                if *before == text {
                    cx.say(Tone::Info, "No changes.");
                    return AfterEvent::Close;
                }
                let origin = origin.clone();
                if self.check_and_save(origin.clone(), text.clone(), cx) == AfterEvent::KeepOpen {
                    // Not saved yet, or refused: the text is kept, so that it is not lost and can be corrected.
                    let kept = format!("{origin}\n{text}");
                    cx.act(Action::SaveText(self.document.key().to_owned(), Some(kept.clone())));
                    self.kept = Some(kept);
                    self.state = State::External { origin, text };
                    return AfterEvent::KeepOpen;
                }
                AfterEvent::Close
            }
            State::Here(buffer) => {
                buffer.replace(&text);
                self.keep(cx);
                AfterEvent::KeepOpen
            }
            State::Reading | State::Refused(_) => AfterEvent::KeepOpen,
        }
    }

    fn not_edited(&mut self, why: &str) {
        self.failure = Some(text::sanitize(why).into_owned());
    }

    fn interrupted(&mut self, text: String, cx: &mut Cx) -> AfterEvent {
        let State::External { origin, text: before } = &self.state else { return self.edited(text, cx) };
        if *before != text {
            cx.act(Action::SaveText(self.document.key().to_owned(), Some(format!("{origin}\n{text}"))));
        }
        AfterEvent::KeepOpen
    }
}

/// Splits the screen into title, text and keys.
fn rows(screen: Rect) -> (Rect, Rect, Rect) {
    let head = Rect { height: 1.min(screen.height), ..screen };
    let foot = Rect { y: screen.bottom().saturating_sub(1), height: u16::from(screen.height > 1), ..screen };
    let body = Rect { y: screen.y + head.height, height: screen.height.saturating_sub(2), ..screen };
    (head, body, foot)
}
