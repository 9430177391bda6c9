//! Composer for a text of several lines: saved while it is typed, sent once, and shown again if sending failed.

pub mod choice;
mod current;

use super::markdown_input::upload::DraftFiles;
use super::markdown_input::{Handled, MAX_ERROR_LINES, MarkdownInput, TextContext};
use super::{AfterEvent, Overlay, TextEntry, key_hints};
use crate::action::{Action, FollowUp};
use crate::clip::Clip;
use crate::context::Cx;
use crate::keymap::Key;
use crate::outbox::{Draft, DraftNoteChange, DraftState, DraftThread, NoteableExt, Progress};
use crate::overlay::chooser::Chooser;
use crate::overlay::edit_conflict::EditConflict;
use crate::pointer::Pointer;
use crate::text_key::DraftKey;
use crate::tone::Tone;
use crate::view::View;
use api::identity::{GetMetadata, Metadata};
use api::{Error, Id, client};
use choice::ChoiceField;
use crossterm::event::KeyCode;
use current::Current;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use store::{Canceled, Derive, Load, Value, Want, Work, Write};
use ui::code::Budget;
use ui::doc::{self, DocState};
use ui::line::Line;
use ui::markdown::{self, Rendered};
use ui::theme::{Role, Theme};
use ui::{cursor_hint, glyph, popup, state, text};

/// The message for M-s if the text is not a comment on changes.
const NO_REVIEW: &str = "This is not part of a review: C-s posts it.";

/// The message for M-s if the text is an internal note.
const NO_INTERNAL_REVIEW: &str = "An internal note is not part of a review: C-s posts it.";
/// The first version whose servers keep internal notes apart; earlier ones would show them to everybody.
const INTERNAL_NOTES_SINCE: (u32, u32) = (15, 0);

/// A function that creates the write for the text, given the current text on the server if that is checked.
pub type Make = Box<dyn Fn(String, Option<&str>) -> Write>;

/// The destination of the text.
enum Purpose {
    /// The text is sent as it is; a callback may follow on the reply.
    Send(Make, Option<FollowUp>),
    /// The text is sent with a value that is chosen beside it.
    SendChosen(Box<ChoiceField>),
    /// The text is a comment, which the outbox sends: now, or with the others of a review.
    Comment(DraftKey, Box<Draft>),
}

enum State {
    Typing,
    /// Checking whether somebody else changed the text in the meantime.
    Checking,
    /// Showing the conflict with somebody else's change, with the current text on the server.
    Conflict(Box<EditConflict>, Option<String>),
    /// Uploading the files of the text.
    Uploading,
    /// Waiting for the number of the write, or for its reply.
    Sending(Option<u64>),
    /// The comment was handed to the outbox.
    Posted,
    /// The text was not sent, for this reason.
    Failed(String),
    /// The server has received the text.
    Done,
}

/// A preview of the text, rendered in the background.
struct TextPreview {
    text: Arc<str>,
    /// The identity of the text.
    identity: String,
    scroll: DocState,
}

/// A text to render.
struct RenderPreview {
    key: String,
    text: Arc<str>,
    width: usize,
    theme: Theme,
}

impl Derive for RenderPreview {
    type Output = Rendered;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, canceled: Canceled<'_>) -> Rendered {
        markdown::render(&self.text, self.width, &self.theme, &Budget::new(canceled))
    }

    fn preview(&self) -> Option<Rendered> {
        let render = || markdown::render(&self.text, self.width, &self.theme, &Budget::none());
        markdown::has_code(&self.text).then(render)
    }
}

/// A text to be sent to the server.
pub struct Composer {
    title: String,
    /// The key under which the text is saved until the server has it, unless it is a comment.
    key: String,
    input: MarkdownInput,
    /// The files of a text that is no comment; the outbox uploads those of comments.
    files: DraftFiles,
    /// The project to which they are uploaded.
    project: Option<Id>,
    purpose: Purpose,
    state: State,
    /// Whether no key was pressed since the text was not sent.
    is_failure_new: bool,
    preview: Option<TextPreview>,
    /// The selection of the value beside the text.
    choosing: Option<Chooser>,
    current: Option<Current>,
    /// The note as somebody else changed it in the meantime.
    theirs: Vec<String>,
    /// The text that is saved under `key` already.
    kept: String,
}

impl Composer {
    /// Creates a composer with `text`, which may be what was saved under `key`.
    pub fn new(title: impl Into<String>, key: impl Into<String>, text: &str, make: Make) -> Composer {
        Composer::of(title.into(), key.into(), text, Purpose::Send(make, None), None)
    }

    /// Creates a composer for a text that is sent with a value that is chosen beside it.
    pub fn with_choice(title: impl Into<String>, key: impl Into<String>, text: &str, choice: ChoiceField) -> Composer {
        Composer::of(title.into(), key.into(), text, Purpose::SendChosen(Box::new(choice)), None)
    }

    /// Sets the callback for the server's reply.
    pub fn then(mut self, then: FollowUp) -> Composer {
        if let Purpose::Send(_, follows) = &mut self.purpose {
            *follows = Some(then);
        }
        self
    }

    /// Creates a composer for a comment, which is saved as a draft under `key` from the first letter on.
    pub fn comment(title: impl Into<String>, key: DraftKey, draft: Draft) -> Composer {
        let context = TextContext::comment(&draft.on);
        let text = draft.text.clone();
        let attachments = draft.attachments.clone();
        let mut composer =
            Composer::of(title.into(), String::new(), &text, Purpose::Comment(key, Box::new(draft)), context);
        composer.input.set_attachments(attachments);
        // The initial text, such as a quote, is saved with the first letter.
        composer.kept.clone_from(&text);
        composer
    }

    /// Moves the cursor to a byte offset of the text.
    pub fn at(mut self, byte: usize) -> Composer {
        self.input.move_to(byte);
        self
    }

    /// Completes names in the text and attaches files to it: those that were saved with it, and more.
    pub fn in_context(mut self, context: TextContext, view: &View) -> Composer {
        self.project = Some(context.project.clone());
        self.files = DraftFiles::read(&self.key, view);
        self.input = MarkdownInput::new(&self.text(), placeholder(&self.purpose), Some(context));
        self.input.set_attachments(self.files.kept().to_vec());
        self
    }

    fn of(title: String, key: String, text: &str, purpose: Purpose, context: Option<TextContext>) -> Composer {
        Composer {
            title,
            key,
            input: MarkdownInput::new(text, placeholder(&purpose), context),
            files: DraftFiles::default(),
            project: None,
            purpose,
            state: State::Typing,
            is_failure_new: false,
            preview: None,
            choosing: None,
            current: None,
            theirs: Vec::new(),
            kept: text.to_owned(),
        }
    }

    fn text(&self) -> String {
        self.input.text()
    }

    fn fail(&mut self, why: String) {
        self.state = State::Failed(why);
        self.is_failure_new = true;
    }

    fn keep(&mut self, cx: &mut Cx) {
        let text = self.text();
        if text == self.kept {
            return;
        }
        if let Purpose::Comment(_, draft) = &mut self.purpose {
            draft.text.clone_from(&text);
            draft.attachments = self.input.attachments(&text);
            // A changed text is no longer the one that was refused.
            if let DraftState::Failed { before: None, .. } = draft.state {
                draft.state = DraftState::Begun;
            }
        }
        let is_empty = text.trim().is_empty();
        if !matches!(self.purpose, Purpose::Comment(..)) {
            self.files.keep(&self.key, self.input.attachments(&text), cx);
        }
        cx.act(match &self.purpose {
            Purpose::Comment(key, _) if is_empty => Action::DeleteDraft(key.clone()),
            Purpose::Comment(key, draft) => Action::SaveDraft(key.clone(), draft.clone()),
            Purpose::Send(..) | Purpose::SendChosen(_) => {
                Action::SaveText(self.key.clone(), Some(text.clone()).filter(|_| !is_empty))
            }
        });
        self.kept = text;
    }

    /// Saves the comment as it is, with this state.
    fn keep_as(&mut self, state: DraftState, cx: &mut Cx) {
        let text = self.text();
        if let Purpose::Comment(key, draft) = &mut self.purpose {
            draft.text.clone_from(&text);
            draft.state = state;
            cx.act(Action::SaveDraft(key.clone(), draft.clone()));
            self.kept = text;
        }
    }

    /// Returns whether the comment is an internal note; `None` if it cannot be one.
    fn internal(&self) -> Option<bool> {
        match &self.purpose {
            Purpose::Comment(_, draft) if draft.can_be_internal() => Some(draft.internal),
            _ => None,
        }
    }

    fn toggle_internal(&mut self, cx: &mut Cx) {
        let has_text = !self.text().trim().is_empty();
        if let Purpose::Comment(key, draft) = &mut self.purpose {
            draft.internal = !draft.internal;
            if has_text {
                cx.act(Action::SaveDraft(key.clone(), draft.clone()));
            }
        }
    }

    /// Returns whether the comment is a reply in a thread that can be resolved with it.
    fn can_resolve(&self, view: &View) -> bool {
        match &self.purpose {
            Purpose::Comment(_, draft) => draft.unresolved_thread(view).is_some(),
            Purpose::Send(..) | Purpose::SendChosen(_) => false,
        }
    }

    /// Posts the reply, after which its thread is resolved.
    fn submit_and_resolve(&mut self, cx: &mut Cx) -> AfterEvent {
        if let Purpose::Comment(_, draft) = &mut self.purpose
            && let Some(DraftThread::Reply { resolved, .. }) = &mut draft.thread
        {
            *resolved = true;
        }
        self.submit(false, cx)
    }

    fn is_on_lines(&self) -> bool {
        matches!(&self.purpose, Purpose::Comment(_, draft) if draft.position.is_some())
    }

    fn is_busy(&self) -> bool {
        matches!(self.state, State::Checking | State::Uploading | State::Sending(_) | State::Posted | State::Done)
    }

    /// Sends the text, or adds it to the review of its object, starting one if there is none.
    fn submit(&mut self, to_review: bool, cx: &mut Cx) -> AfterEvent {
        if self.is_busy() {
            return AfterEvent::KeepOpen;
        }
        let text = self.text();
        if text.trim().is_empty() {
            cx.say(Tone::Warning, "Nothing to send yet.");
            return AfterEvent::KeepOpen;
        }
        self.preview = None;
        match &self.purpose {
            Purpose::Send(..) | Purpose::SendChosen(_) if to_review => cx.say(Tone::Warning, NO_REVIEW),
            Purpose::Comment(_, draft) if to_review && !draft.on.is_reviewed() => cx.say(Tone::Warning, NO_REVIEW),
            Purpose::Send(..) | Purpose::SendChosen(_) => {
                self.keep(cx);
                match &self.current {
                    Some(current) => {
                        self.state = State::Checking;
                        cx.act(Action::Reload(vec![current.load.clone().into()]));
                    }
                    None => self.send(cx),
                }
            }
            Purpose::Comment(_, draft) if to_review && draft.internal => cx.say(Tone::Warning, NO_INTERNAL_REVIEW),
            Purpose::Comment(_, draft) if draft.internal && !has_internal_notes(&cx.view) => {
                let words = match cx.view.store.get(&GetMetadata {}).value {
                    Some(_) => "This server has no internal notes: everybody would see it. M-i makes it public.",
                    None => "It is not known whether this server has internal notes. M-i makes it public.",
                };
                cx.say(Tone::Warning, words);
            }
            Purpose::Comment(key, draft) => {
                let key = key.clone();
                let has_draft_notes = draft.edits.is_none() && draft.on.has_draft_notes(&cx.view);
                let change = match draft.draft_note.clone() {
                    Some(DraftNoteChange::Update { id, .. }) => {
                        Some(DraftNoteChange::Update { id, publish: !to_review })
                    }
                    _ => Some(DraftNoteChange::Create).filter(|_| to_review && has_draft_notes),
                };
                // If the comment may have arrived already, that must be found out first.
                let uncertain = draft.state.before().is_some();
                let state = match to_review {
                    _ if uncertain => draft.state.clone(),
                    true => DraftState::Kept,
                    false => DraftState::Begun,
                };
                // A comment that may have been posted already must not be posted by adding it to a review.
                let is_draft_note = if uncertain { draft.draft_note.is_some() } else { change.is_some() };
                if let Purpose::Comment(_, draft) = &mut self.purpose
                    && !uncertain
                {
                    draft.draft_note = change;
                }
                self.keep_as(state, cx);
                if to_review {
                    match is_draft_note && !cx.view.session.offline {
                        true => cx.act(Action::SendDrafts(vec![key])),
                        false => cx.say(Tone::Good, "Added to your review."),
                    }
                    return AfterEvent::Close;
                }
                self.state = State::Posted;
                cx.act(Action::SendDrafts(vec![key]));
            }
        }
        AfterEvent::KeepOpen
    }

    /// Uploads the next file of the text; returns `false` if there is none.
    fn upload_next(&mut self, cx: &mut Cx) -> bool {
        let next = self.input.attachments(&self.text()).into_iter().next();
        let (Some(attachment), Some(project)) = (next, &self.project) else { return false };
        self.files.upload(project, &attachment, cx);
        self.state = State::Uploading;
        true
    }

    /// Sends the current text, after its files.
    fn send(&mut self, cx: &mut Cx) {
        if self.upload_next(cx) {
            return;
        }
        let (write, then) = match &self.purpose {
            Purpose::Send(make, then) => {
                let base = self.current.as_ref().and_then(|current| current.base.as_deref());
                (make(self.text(), base), then.clone())
            }
            Purpose::SendChosen(choice) => {
                let (write, then) = (choice.make)(self.text(), &choice.chosen);
                (write, Some(then))
            }
            Purpose::Comment(..) => return,
        };
        let key = self.key.clone();
        self.state = State::Sending(None);
        cx.act(match then {
            Some(then) => Action::SendThen(Some(key), write, then),
            None => Action::SendSaved(key, write),
        });
    }

    fn toggle_preview(&mut self) {
        self.preview = match self.preview.take() {
            Some(_) => None,
            None => {
                let text = self.text();
                let mut hasher = DefaultHasher::new();
                text.hash(&mut hasher);
                let identity = format!("preview {:016x} of {} bytes", hasher.finish(), text.len());
                let scroll = DocState { cursor_line: false, ..DocState::new() };
                Some(TextPreview { text: text.into(), identity, scroll })
            }
        };
    }

    /// Saves the text if it changed; returns whether the key or event was handled.
    fn take(&mut self, handled: Handled, cx: &mut Cx) -> bool {
        if handled == Handled::Changed {
            self.keep(cx);
        }
        handled != Handled::No
    }

    /// Returns the keys, without the least important ones if they do not fit into `width` columns.
    fn footer(&self, view: &View, width: u16) -> Line<'static> {
        if let Some(status) = self.input.upload_status() {
            return Line::new(status, Role::Running);
        }
        if let Some(status) = self.files.status() {
            return Line::new(status, Role::Running);
        }
        match &self.state {
            State::Typing => {
                let mut words = match &self.purpose {
                    Purpose::Send(..) => vec![("C-s", "send")],
                    Purpose::SendChosen(choice) => vec![("C-s", choice.verb)],
                    Purpose::Comment(_, draft) if draft.on.is_reviewed() => {
                        vec![("C-s", "post now"), ("M-s", "add to review")]
                    }
                    Purpose::Comment(..) => vec![("C-s", "post now")],
                };
                words.extend(self.can_resolve(view).then_some(("M-r", "post and resolve")));
                words.extend(self.internal().map(|internal| ("M-i", if internal { "public" } else { "internal" })));
                words.extend(self.choice().is_none().then_some(("C-r", "preview")));
                words.extend(self.input.takes_files().then_some(("M-u", "attach")));
                words.extend(self.input.takes_templates().then_some(("M-t", "template")));
                words.extend([("C-o", "$EDITOR"), ("Esc", "save draft")]);
                key_hints::fitting(words, &["C-r", "M-t", "M-u", "C-o", "M-i", "Esc"], width)
            }
            State::Checking => Line::new("checking for changes…", Role::Running),
            State::Uploading | State::Sending(_) | State::Done => Line::new("sending…", Role::Running),
            State::Posted => {
                let words = match self.writing().and_then(|key| view.outbox.progress(key)) {
                    Some(Progress::Waiting | Progress::Claiming) => "waiting to be sent…",
                    Some(Progress::Uploading) => "uploading its files…",
                    Some(Progress::Checking) => "checking the server…",
                    Some(Progress::Sending) | None => "sending…",
                };
                Line::new(format!("{words}  C-x stops, Esc closes and continues"), Role::Running)
            }
            State::Conflict(..) => Line::empty(),
            State::Failed(_) => {
                let words = vec![("C-s", "try again"), ("C-o", "$EDITOR"), ("Esc", "save draft")];
                key_hints::fitting(words, &["C-o"], width)
            }
        }
    }

    /// Returns the reason why the text was not sent, as lines.
    fn error_lines(&self, view: &View, width: u16) -> Vec<String> {
        let State::Failed(why) = &self.state else { return self.input.error_lines(width) };
        let place = if view.drafts.failure().is_some() { "only in memory" } else { "saved" };
        let words = format!("Not sent. {}. Your text is {place}.", why.trim_end_matches('.'));
        text::wrap(&words, width.into(), MAX_ERROR_LINES)
    }

    /// Returns the lines to show above the text: the last lines of what is commented on, or the note as somebody else
    /// changed it in the meantime.
    fn quoted(&self, height: u16) -> &[String] {
        if !self.theirs.is_empty() {
            let room = usize::from(height / 2).clamp(1, 8);
            return self.theirs.get(..room.min(self.theirs.len())).unwrap_or_default();
        }
        let Purpose::Comment(_, draft) = &self.purpose else { return &[] };
        let quote = draft.position.as_ref().map(|position| position.quote.as_slice()).unwrap_or_default();
        let room = usize::from(height / 4).min(3);
        quote.get(quote.len().saturating_sub(room)..).unwrap_or_default()
    }
}

/// Returns whether the server is known to have internal notes.
fn has_internal_notes(view: &View) -> bool {
    let version = view.store.get(&GetMetadata {}).value.and_then(Metadata::release);
    version.is_some_and(|version| version >= INTERNAL_NOTES_SINCE)
}

/// Returns the text shown in place of an empty one.
fn placeholder(purpose: &Purpose) -> &'static str {
    match purpose {
        Purpose::SendChosen(_) => "The message. Esc closes and saves the draft.",
        Purpose::Send(..) | Purpose::Comment(..) => "Markdown. C-s posts, Esc closes and saves the draft.",
    }
}

/// Returns the width and height that the composer requests on a screen.
fn size(width: u16, height: u16) -> (u16, u16) {
    ((width / 4 * 3).clamp(40, 100), (height / 5 * 3).clamp(8, 24))
}

/// Returns the number of rows at the bottom of a screen that a comment on lines takes.
pub fn rows_on_lines(height: u16) -> u16 {
    (height / 5 * 2).clamp(10, 18).min(height)
}

/// Returns the width of the text in the preview: the popup without border, mark and scrollbar thumb.
fn preview_width(view: &View) -> usize {
    (size(view.size.0, view.size.1).0 + 4).min(view.size.0).saturating_sub(6).into()
}

fn preview_key(view: &View, identity: &str) -> String {
    format!("{identity} in {} columns, {}", preview_width(view), view.theme.name)
}

impl Overlay for Composer {
    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants: Vec<Want> = self.choosing.iter().flat_map(|chooser| chooser.wants(view)).collect();
        if let Some(preview) = &self.preview {
            let key = preview_key(view, &preview.identity);
            let (text, width, theme) = (preview.text.clone(), preview_width(view), view.theme.clone());
            if view.store.is_result_missing(&key) {
                wants.push(Work::new(RenderPreview { key, text, width, theme }).into());
            }
        } else {
            wants.extend(self.input.wants(view));
        }
        wants.extend(self.current.as_ref().map(|current| current.load.clone().into()));
        wants.extend((self.internal() == Some(true)).then(|| Load::single(&GetMetadata {}).optional().into()));
        wants
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        if let State::Conflict(conflict, _) = &self.state {
            conflict.draw(view, screen, buf, &self.title);
            return None;
        }
        let (width, height) = size(screen.width, screen.height);
        // Below the lines that the comment is about, which stay visible above it.
        let (screen, height) = match self.is_on_lines() && !glyph::is_accessible() {
            true => {
                let rows = rows_on_lines(screen.height);
                (Rect { y: screen.bottom().saturating_sub(rows), height: rows, ..screen }, rows.saturating_sub(2))
            }
            false => (screen, height),
        };
        let mut title = self.title.clone();
        for (is_on, words) in [(self.internal() == Some(true), "internal note"), (self.preview.is_some(), "preview")] {
            if is_on {
                title = format!("{title}{}{words}", glyph::separator());
            }
        }
        let inner = popup::draw(buf, screen, theme, &title, width, height);
        if inner.height < 3 {
            return None;
        }
        let quoted = self.quoted(inner.height);
        for (row, words) in quoted.iter().enumerate() {
            let at = Rect { y: inner.y + row as u16, height: 1, ..inner };
            Line::from([(glyph::divider(), Role::Accent), (" ", Role::Dim), (words.as_str(), Role::Dim)])
                .draw(buf, at, theme);
        }
        let above = if quoted.is_empty() { 0 } else { quoted.len() as u16 + 1 };
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        let error_lines = self.error_lines(view, inner.width);
        let below = (error_lines.len() as u16).min(inner.height.saturating_sub(4 + above));
        let chosen = u16::from(self.choice().is_some() && inner.height > 4 + above + below);
        self.draw_choice(view, Rect { y: foot.y - below - chosen, height: chosen, ..inner }, buf);
        let below = below + chosen;
        let body = Rect { y: inner.y + above, height: inner.height.saturating_sub(2 + above + below), ..inner };
        for (words, y) in error_lines.iter().zip(foot.y - (below - chosen)..foot.y) {
            Line::new(words.as_str(), Role::Failed).draw(buf, Rect { y, height: 1, ..inner }, theme);
        }
        let mut cursor = None;
        if let Some(preview) = &self.preview {
            match view.store.result::<Rendered>(&preview_key(view, &preview.identity)) {
                Some(rendered) => {
                    doc::draw(buf, body, theme, true, &preview.scroll, rendered.lines.len(), 0, &|index| {
                        rendered.lines.get(index).map(doc::DocLine::borrowed).unwrap_or_default()
                    })
                }
                None => state::skeleton(buf, body, theme),
            }
        } else {
            cursor = self.input.draw(view, body, buf).filter(|_| !self.is_busy());
        }
        if let Some(cursor) = self.input.draw_choice(view, screen, foot, buf) {
            return cursor;
        }
        self.footer(view, foot.width).draw(buf, foot, theme);
        if self.is_busy() {
            cursor_hint::set_selected(foot.x, foot.y);
        } else if self.is_failure_new && glyph::is_accessible() {
            cursor = None;
            cursor_hint::set_selected(foot.x, foot.y - (below - chosen));
        }
        self.input.draw_names(view, body, cursor, buf);
        match (&self.choosing, self.choice()) {
            (Some(chooser), Some(choice)) => {
                let title = format!("{}{}{}", self.title, glyph::separator(), choice.label);
                chooser.draw(view, screen, buf, &title, choice.verb, None)
            }
            _ => cursor,
        }
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        self.is_failure_new = false;
        if let State::Conflict(conflict, _) = &mut self.state {
            if let Some(choice) = conflict.key(key) {
                self.decide(choice, cx);
            }
            return AfterEvent::KeepOpen;
        }
        if let Some(chooser) = &mut self.choosing {
            let step = chooser.key(key, None, &cx.view);
            return self.take_step(step, cx);
        }
        if self.files.key_pressed(key, cx) {
            return AfterEvent::KeepOpen;
        }
        if !self.is_busy() {
            let handled = self.input.take_insert_key(key, cx);
            if self.take(handled, cx) {
                self.preview = None;
                return AfterEvent::KeepOpen;
            }
        }
        if !self.is_busy() && self.open_choice(key, &cx.view) {
            return AfterEvent::KeepOpen;
        }
        if key.alt && !key.ctrl && key.code == KeyCode::Char('i') && !self.is_busy() && self.internal().is_some() {
            self.toggle_internal(cx);
            return AfterEvent::KeepOpen;
        }
        if key.alt && !key.ctrl && key.code == KeyCode::Char('r') && !self.is_busy() && self.can_resolve(&cx.view) {
            return self.submit_and_resolve(cx);
        }
        if self.preview.is_none() && !self.is_busy() {
            let handled = self.input.take_name_key(key, &cx.view);
            if self.take(handled, cx) {
                return AfterEvent::KeepOpen;
            }
        }
        match (key.code, key.ctrl) {
            (KeyCode::Char('c'), true) if self.input.selected().is_some() => {
                cx.act(Action::Copy(Clip::lines("the selection", self.input.selected().unwrap_or_default())));
            }
            (KeyCode::Esc, _) if self.input.end_selection() => {}
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
                if !self.is_busy() {
                    self.keep(cx);
                    if !self.text().trim().is_empty() {
                        cx.say_draft_saved("the same key opens it again");
                    }
                }
                return AfterEvent::Close;
            }
            (KeyCode::Char('s'), true) => return self.submit(false, cx),
            (KeyCode::Char('s'), false) if key.alt => return self.submit(true, cx),
            (KeyCode::Char('r'), true) => self.toggle_preview(),
            (KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown, _) if self.preview.is_some() => {
                if let Some(preview) = &mut self.preview {
                    let page = preview.scroll.height().max(1) as isize;
                    let rows = match key.code {
                        KeyCode::Up => -1,
                        KeyCode::Down => 1,
                        KeyCode::PageUp => -page,
                        _ => page,
                    };
                    let rendered = cx.view.store.result::<Rendered>(&preview_key(&cx.view, &preview.identity));
                    preview.scroll.scroll_by(rows, rendered.map_or(0, |rendered| rendered.lines.len()));
                }
            }
            (KeyCode::Char('x'), true) if matches!(self.state, State::Posted) => cx.act(Action::StopSendingDrafts),
            _ if self.is_busy() => {}
            (KeyCode::Char('o'), true) => {
                self.keep(cx);
                cx.act(Action::Edit { text: self.text(), suffix: ".md".into() });
            }
            _ => {
                self.preview = None;
                self.input.type_key(key, &cx.view);
                self.keep(cx);
            }
        }
        AfterEvent::KeepOpen
    }

    fn text_entry(&self) -> TextEntry {
        if self.choosing.is_some() {
            return TextEntry::Line;
        }
        let takes = !self.is_busy() && !matches!(self.state, State::Conflict(..));
        if takes { self.input.text_entry() } else { TextEntry::None }
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        if let Some(chooser) = &mut self.choosing {
            return chooser.type_text(text, &cx.view);
        }
        if !self.is_busy() && !matches!(self.state, State::Conflict(..)) {
            self.preview = None;
            let handled = self.input.paste(text, cx);
            self.take(handled, cx);
        }
    }

    fn writing(&self) -> Option<&DraftKey> {
        if let Purpose::Comment(key, _) = &self.purpose { Some(key) } else { None }
    }

    fn pointer(&mut self, pointer: Pointer, cx: &mut Cx) -> AfterEvent {
        let Some(chooser) = &mut self.choosing else {
            if self.preview.is_none() && !self.is_busy() && !matches!(self.state, State::Conflict(..)) {
                let handled = self.input.pointer(pointer, cx);
                self.take(handled, cx);
            }
            return AfterEvent::KeepOpen;
        };
        let step = chooser.pointer(pointer, None, &cx.view);
        self.take_step(step, cx)
    }

    fn changed(&mut self, cx: &mut Cx) {
        if let Some(chooser) = &mut self.choosing {
            chooser.refresh(&cx.view);
        }
        let handled = self.input.changed(cx);
        self.take(handled, cx);
        let view = &cx.view;
        if matches!(self.state, State::Checking) {
            return self.check(cx);
        }
        let Some(key) = self.writing().filter(|_| matches!(self.state, State::Posted)) else { return };
        if view.outbox.progress(key).is_some() {
            return;
        }
        // The outbox is done with the draft: it is deleted if the server has it, else it contains the reason.
        self.state = match view.drafts.draft(key).cloned() {
            None => State::Done,
            Some(kept) => {
                let why = match &kept.state {
                    DraftState::Failed { why, .. } | DraftState::Unknown { why, .. } => why.clone(),
                    DraftState::Begun | DraftState::Kept | DraftState::Sending { .. } => "Sending was canceled".into(),
                };
                // The links of files that were uploaded are in the text by now.
                if kept.text != self.kept {
                    self.input.set(&kept.text);
                    self.kept.clone_from(&kept.text);
                }
                self.input.set_attachments(kept.attachments.clone());
                if let Purpose::Comment(_, draft) = &mut self.purpose {
                    draft.state = kept.state;
                    draft.text = kept.text;
                    draft.attachments = kept.attachments;
                    if kept.base != draft.base {
                        self.theirs = kept.base.iter().flat_map(|theirs| theirs.lines()).map(str::to_owned).collect();
                        draft.base = kept.base;
                    }
                }
                self.is_failure_new = true;
                State::Failed(why)
            }
        };
    }

    fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    fn progress(&mut self, number: u64, progress: client::Progress) {
        self.input.progress(number, progress);
        self.files.progress(number, progress);
    }

    fn sending(&mut self, number: u64) {
        let is_upload = self.input.sending(number) || self.files.sending(number);
        if !is_upload && matches!(self.state, State::Sending(None)) {
            self.state = State::Sending(Some(number));
        }
    }

    fn sent(&mut self, number: u64, outcome: &Result<Value, Error>, cx: &mut Cx) -> Option<AfterEvent> {
        let handled = self.input.sent(number, outcome);
        if self.take(handled, cx) {
            return Some(AfterEvent::KeepOpen);
        }
        if let Some((attachment, linked)) = self.files.sent(number, outcome) {
            self.state = State::Typing;
            match linked {
                Ok(markdown) => {
                    self.input.link(&attachment, &markdown);
                    self.keep(cx);
                    self.send(cx);
                }
                Err(why) => self.fail(why),
            }
            return Some(AfterEvent::KeepOpen);
        }
        if !matches!(self.state, State::Sending(Some(n)) if n == number) {
            return None;
        }
        match outcome {
            Ok(_) => Some(AfterEvent::Close),
            // The callback reports the result next to what it is about; the text stays saved.
            Err(error)
                if matches!(self.purpose, Purpose::Send(_, Some(_)) | Purpose::SendChosen(_))
                    && !error.is_temporary()
                    || matches!(self.purpose, Purpose::SendChosen(_)) && error.may_have_succeeded() =>
            {
                Some(AfterEvent::Close)
            }
            Err(error) => {
                self.fail(error.with_advice(error.write_advice()));
                Some(AfterEvent::KeepOpen)
            }
        }
    }

    fn edited(&mut self, text: String, cx: &mut Cx) -> AfterEvent {
        // Editors end files with a line break.
        self.input.set(text.trim_end_matches('\n'));
        self.keep(cx);
        AfterEvent::KeepOpen
    }
}
