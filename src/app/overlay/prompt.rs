//! A line of text at the bottom: the search text of `/`, and short questions of panes.

use super::picker::edit;
use super::{AfterEvent, Overlay, TextEntry, key_hints};
use crate::action::Action;
use crate::context::{Cx, Here};
use crate::keymap::Key;
use crate::view::View;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use store::Want;
use ui::form::{self, FieldSuggestion};
use ui::input::Input;
use ui::line::Line;
use ui::theme::Role;
use ui::{popup, search, text};

impl Cx<'_> {
    /// Asks for a line of text, and continues with it in the current pane.
    pub fn ask<P: 'static>(
        &mut self,
        label: impl Into<String>,
        text: impl Into<String>,
        then: impl Fn(&mut P, String, &mut Cx) + Clone + 'static,
    ) {
        let prompt = Prompt::ask(self.here, label, text, then);
        self.open(prompt);
    }
}

/// The purpose of the line.
enum Purpose {
    /// Every change is passed to the pane's filter or search.
    Seek,
    /// Enter requests the action that this function returns for the text.
    Act(Box<dyn Fn(String) -> Action>),
}

/// A source of completions for the typed text.
pub trait Completions {
    /// Returns the data needed for the completions.
    fn wants(&self, view: &View, typed: &str) -> Vec<Want>;
    /// Returns the full texts that begin with `typed`.
    fn complete(&self, view: &View, typed: &str) -> Vec<String>;
}

/// The result of checking the whole text, typed or pasted, before it is shown.
pub enum Accepted {
    /// The text is accepted.
    Text,
    /// The text must not be shown: the line is cleared, and shows the reason.
    Refused(String),
    /// The text is the complete answer, which is accepted immediately.
    Whole,
}

/// A function that checks a text before it is shown.
pub type AcceptText = fn(&str) -> Accepted;

/// The maximum number of completions shown at once.
const MAX_SHOWN: usize = 8;

/// The completions of the line.
struct Completion {
    source: Box<dyn Completions>,
    /// The texts that begin with `typed`.
    texts: Vec<String>,
    /// The text typed by hand; the line may contain a completion of it.
    typed: String,
    chosen: Option<usize>,
}

/// A line of text in place of the footer.
pub struct Prompt {
    label: String,
    input: Input,
    what: Purpose,
    before: String,
    completion: Option<Completion>,
    take: Option<AcceptText>,
    /// The reason why the last text was refused.
    refused: Option<String>,
    /// Whether a text was refused while it was typed, so that more of it may follow.
    locked: bool,
    /// Whether a first `/` is left out, because the place opened the prompt before that key did.
    skips_slash: bool,
    done: bool,
    /// The note in the label on the kind of search; `None` where no regular expression is searched.
    kind: Option<&'static str>,
}

/// Returns the note on the kind of search for a text.
fn kind_of(text: &str) -> &'static str {
    if search::is_expression(text) { " (regular expression)" } else { " (text)" }
}

impl Prompt {
    /// Creates the prompt of `/`, with the current search or filter text.
    pub fn seek(label: &str, filter_text: String) -> Prompt {
        Prompt {
            label: label.to_owned(),
            input: Input::new(filter_text.clone()),
            what: Purpose::Seek,
            before: filter_text,
            completion: None,
            take: None,
            refused: None,
            locked: false,
            skips_slash: false,
            done: false,
            kind: None,
        }
    }

    /// Leaves out a first `/`: the place opened the prompt, which that key usually does.
    pub fn opened_by_place(mut self) -> Prompt {
        self.skips_slash = true;
        self
    }

    /// Selects the text, so that what is typed replaces it.
    pub fn preselected(mut self) -> Prompt {
        self.input.select();
        self
    }

    /// Says whether the text is searched as a regular expression.
    pub fn expression(mut self) -> Prompt {
        self.kind = Some(kind_of(self.input.text()));
        self
    }

    /// Creates a prompt that continues with the text in the pane of `here`.
    pub fn ask<P: 'static>(
        here: Here,
        label: impl Into<String>,
        text: impl Into<String>,
        then: impl Fn(&mut P, String, &mut Cx) + Clone + 'static,
    ) -> Prompt {
        Prompt::then(label, text, move |text| {
            let then = then.clone();
            here.then(move |pane, cx| then(pane, text, cx))
        })
    }

    /// Creates a prompt that requests the action that `then` returns.
    pub fn then(
        label: impl Into<String>,
        text: impl Into<String>,
        then: impl Fn(String) -> Action + 'static,
    ) -> Prompt {
        Prompt {
            label: label.into(),
            what: Purpose::Act(Box::new(then)),
            before: String::new(),
            ..Prompt::seek("", text.into())
        }
    }

    /// Adds completion with Tab.
    pub fn complete(mut self, source: Box<dyn Completions>) -> Prompt {
        let typed = self.input.text().to_owned();
        self.completion = Some(Completion { source, texts: Vec::new(), typed, chosen: None });
        self
    }

    /// Checks every text with `take` before it is shown.
    pub fn taking(mut self, take: AcceptText) -> Prompt {
        self.take = Some(take);
        self
    }

    /// Checks a text before it is shown; returns `false` if it must not be inserted.
    fn let_in(&mut self, text: &str, cx: &mut Cx) -> bool {
        self.refused = None;
        match self.take.map(|take| take(text)) {
            None | Some(Accepted::Text) => return true,
            Some(Accepted::Refused(why)) => {
                self.input.set("");
                self.refused = Some(why);
            }
            Some(Accepted::Whole) => {
                self.done = true;
                self.answer(text.to_owned(), cx);
            }
        }
        false
    }

    fn answer(&self, text: String, cx: &mut Cx) {
        match &self.what {
            Purpose::Act(then) => cx.act(then(text)),
            Purpose::Seek => {}
        }
    }

    /// Handles Tab: inserts the common prefix of all completions, then each of them in turn.
    fn turn(&mut self, forward: bool) {
        let Some(completion) = self.completion.as_mut().filter(|c| !c.texts.is_empty()) else { return };
        let shared = common(&completion.texts);
        if completion.chosen.is_none() && shared.len() > completion.typed.len() {
            completion.typed = shared.to_owned();
            return self.input.set(shared.to_owned());
        }
        let len = completion.texts.len();
        let next = match (completion.chosen, forward) {
            (None, true) => 0,
            (None, false) => len - 1,
            (Some(at), true) => (at + 1) % len,
            (Some(at), false) => (at + len - 1) % len,
        };
        completion.chosen = Some(next);
        if let Some(text) = completion.texts.get(next) {
            self.input.set(text.clone());
        }
    }

    /// Returns the completions to offer; a single one that is typed in full already is no help.
    fn offered(&self) -> Option<&Completion> {
        let typed = self.input.text();
        self.completion.as_ref().filter(|completion| match completion.texts.as_slice() {
            [] => false,
            [only] => only != typed,
            _ => true,
        })
    }

    fn draw_completions(&self, view: &View, row: Rect, buf: &mut Buffer) {
        let Some(completion) = self.offered() else { return };
        let (theme, len) = (view.theme, completion.texts.len());
        let seen = len.min(MAX_SHOWN).min(usize::from(row.y));
        if seen == 0 {
            return;
        }
        let first = completion.chosen.map_or(0, |at| (at + 1).saturating_sub(seen));
        let area = Rect { y: row.y - seen as u16, height: seen as u16, ..row };
        popup::clear(buf, area, theme);
        for (y, (index, text)) in (area.y..).zip(completion.texts.iter().enumerate().skip(first).take(seen)) {
            let at = Rect { y, height: 1, ..area };
            let role = if completion.chosen == Some(index) { Role::Accent } else { Role::Text };
            let more = if index + 1 == first + seen && first + seen < len {
                format!("  {} more", len - first - seen)
            } else {
                String::new()
            };
            Line::from([("   ", Role::Dim), (text, role), (&more, Role::Dim)]).draw(buf, at, theme);
        }
    }

    fn changed_text(&mut self, cx: &mut Cx) {
        self.kind = self.kind.map(|_| kind_of(self.input.text()));
        if let Some(completion) = &mut self.completion {
            (completion.typed, completion.chosen) = (self.input.text().to_owned(), None);
            completion.texts = completion.source.complete(&cx.view, &completion.typed);
        }
        if matches!(self.what, Purpose::Seek) {
            cx.act(Action::SetFilter(self.input.text().to_owned()));
        }
    }
}

/// Returns the common prefix of all texts.
fn common(texts: &[String]) -> &str {
    let Some(first) = texts.first() else { return "" };
    let shared = |text: &String| {
        first
            .char_indices()
            .zip(text.chars())
            .find(|((_, a), b)| a != b)
            .map_or(text.len().min(first.len()), |((at, _), _)| at)
    };
    first.get(..texts.iter().map(shared).min().unwrap_or(0)).unwrap_or_default()
}

impl Overlay for Prompt {
    fn wants(&self, view: &View) -> Vec<Want> {
        self.completion.as_ref().map(|c| c.source.wants(view, &c.typed)).unwrap_or_default()
    }

    fn changed(&mut self, cx: &mut Cx) {
        if let Some(completion) = self.completion.as_mut().filter(|c| c.chosen.is_none()) {
            completion.texts = completion.source.complete(&cx.view, &completion.typed);
        }
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let row = Rect { y: screen.bottom().saturating_sub(1), height: 1.min(screen.height), ..screen };
        buf.set_style(row, theme.style(Role::Input));
        let spaces = " ".repeat(row.width as usize);
        Line::new(spaces.as_str(), Role::Input).draw(buf, row, theme);
        let label = format!(" {}{} ", self.label, self.kind.unwrap_or_default());
        let used = Line::new(label, Role::Key).draw(buf, row, theme);
        let mut at = Rect { x: row.x + used, width: row.width.saturating_sub(used), ..row };
        match self.refused.as_ref().filter(|_| row.y > screen.y) {
            Some(why) => {
                at = form::draw_inline_error(buf, at, theme, why, text::width(self.input.text()));
                let above = Rect { y: row.y - 1, ..row };
                popup::clear(buf, above, theme);
                Line::new(format!(" {why}"), Role::Failed).draw(buf, above, theme);
            }
            None => self.draw_completions(view, row, buf),
        }
        at = key_hints::beside(buf, at, theme, self.input.text());
        let cursor = self.input.draw(buf, at, theme, true, "");
        if let (Some(cursor), Some(completion)) = (cursor, self.offered()) {
            let offers: Vec<FieldSuggestion> =
                completion.texts.iter().map(|value| FieldSuggestion { value, note: "" }).collect();
            form::draw_inline_suggestion(buf, row, theme, cursor, &offers, completion.chosen.unwrap_or(0));
        }
        cursor
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        match (key.code, key.ctrl) {
            (KeyCode::Char('/'), false) if std::mem::take(&mut self.skips_slash) && self.input.is_empty() => {
                AfterEvent::KeepOpen
            }
            // The rest of a text that was refused while it was typed must not be inserted either.
            _ if self.locked && key.code != KeyCode::Esc => AfterEvent::KeepOpen,
            (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
                if matches!(self.what, Purpose::Seek) {
                    cx.act(Action::RestoreFilter(self.before.clone()));
                }
                AfterEvent::Close
            }
            (KeyCode::Enter, _) | (KeyCode::Char('s'), true) => {
                self.answer(self.input.text().to_owned(), cx);
                AfterEvent::Close
            }
            (KeyCode::Up, _) | (KeyCode::Char('p'), true) if matches!(self.what, Purpose::Seek) => {
                cx.act(Action::NextMatch(false));
                AfterEvent::KeepOpen
            }
            (KeyCode::Down, _) | (KeyCode::Char('n'), true) if matches!(self.what, Purpose::Seek) => {
                cx.act(Action::NextMatch(true));
                AfterEvent::KeepOpen
            }
            (KeyCode::Tab, _) => {
                self.turn(!key.shift);
                AfterEvent::KeepOpen
            }
            _ => {
                if edit(&mut self.input, key) {
                    // The end of typed text cannot be detected, so it must be confirmed with Enter.
                    let text = self.input.text().to_owned();
                    if !matches!(self.take.map(|take| take(&text)), Some(Accepted::Whole)) {
                        self.locked = !self.let_in(&text, cx);
                    }
                    self.changed_text(cx);
                }
                AfterEvent::KeepOpen
            }
        }
    }

    fn text_entry(&self) -> TextEntry {
        TextEntry::Line
    }

    fn paste(&mut self, text: &str, cx: &mut Cx) {
        if self.let_in(text, cx) {
            self.input.paste(text);
        }
        self.changed_text(cx);
    }

    fn is_done(&self) -> bool {
        self.done
    }
}
