//! Applies suggestions as a commit: reads the current file of the branch, shows the changed lines, and commits with the
//! last commit that changed the file as its base, so that nobody's work is overwritten.

use crate::api::commits::{Commit, CommitAction, CreateCommit, ListCommits};
use crate::api::repository::{GetRawBlob, ListTree};
use crate::api::{Error, Fault, Id};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::overlay::{AfterEvent, Overlay};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::review::suggestions::{self, AppliedText, Change};
use crate::store::{Load, Want, Write};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::theme::Role;
use crate::ui::{line, popup, state, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::rc::Rc;

/// The maximum number of pages of a folder that are searched for the file.
const MAX_PAGES: u32 = 20;

enum State {
    Reading,
    /// The new text and the commit that it is based on.
    Ready {
        applied: AppliedText,
        base_commit: String,
    },
    Refused(String),
}

/// Suggestions for one file, from loading the file to the commit.
pub struct ApplySuggestions {
    project: Id,
    branch: String,
    path: String,
    changes: Vec<Change>,
    state: State,
    scroll: DocState,
}

impl ApplySuggestions {
    /// Applies `changes` of one file to the head of a branch.
    pub fn new(project: Id, branch: String, changes: Vec<Change>) -> ApplySuggestions {
        let path = changes.first().map(|change| change.position.path.clone()).unwrap_or_default();
        let scroll = DocState { cursor_line: false, ..DocState::new() };
        ApplySuggestions { project, branch, path, changes, state: State::Reading, scroll }
    }

    fn tree(&self) -> ListTree {
        let folder = self.path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        ListTree { id: self.project.clone(), path: folder, r#ref: Some(self.branch.clone()), recursive: None }
    }

    fn history(&self) -> ListCommits {
        self.history_of(&self.branch)
    }

    fn history_of(&self, name: &str) -> ListCommits {
        ListCommits {
            id: self.project.clone(),
            ref_name: Some(name.to_owned()),
            path: Some(self.path.clone()),
            ..ListCommits::default()
        }
    }

    /// Returns the commits of the changes whose lines are only known by number: the file must be the same there as it
    /// is now.
    fn by_number(&self) -> impl Iterator<Item = &str> {
        let changes = self.changes.iter().filter(|change| change.position.quote.is_empty());
        changes.map(|change| change.position.sha.as_str())
    }

    /// Returns whether the lines known by number are unchanged; `None` while that is not known.
    fn is_unchanged(&self, view: &View, base_commit: &str) -> Option<Result<(), String>> {
        for sha in self.by_number() {
            let then = view.store.list::<Commit, _>(&self.history_of(sha));
            let moved = || "the file has changed, and the comment does not quote its lines".to_owned();
            if sha.is_empty() {
                return Some(Err(moved()));
            }
            if let Some(error) = then.error.filter(|error| !error.is_temporary()) {
                return Some(Err(error.message()));
            }
            if !then.is_loaded {
                return None;
            }
            if base_commit.is_empty() || then.get(0).is_none_or(|commit| commit.id != base_commit) {
                return Some(Err(moved()));
            }
        }
        Some(Ok(()))
    }

    /// Returns the request for the blob of the file, once it is found.
    fn blob(&self, view: &View) -> Option<GetRawBlob> {
        let rows = view.store.list(&self.tree());
        let entry = rows.iter().find(|entry| entry.path == self.path)?;
        Some(GetRawBlob { id: self.project.clone(), sha: entry.id.clone() })
    }

    /// Computes the new text, once everything it needs is loaded and fresh.
    fn read(&self, view: &View) -> Option<State> {
        let tree = view.store.list(&self.tree());
        let history = view.store.list::<Commit, _>(&self.history());
        let failed = |error: Option<&Error>| error.filter(|error| !error.is_temporary()).map(|error| error.message());
        if let Some(why) = failed(tree.error).or_else(|| failed(history.error)) {
            return Some(State::Refused(why));
        }
        if !tree.is_settled(u32::MAX) || !history.is_settled(1) || !tree.is_loaded || !history.is_loaded {
            return None;
        }
        let Some(blob) = self.blob(view) else {
            let more = tree.has_next(MAX_PAGES);
            return (!more).then(|| State::Refused(format!("{} is no longer on {}", self.path, self.branch)));
        };
        let raw = view.store.get(&blob);
        if let Some(why) = failed(raw.error) {
            return Some(State::Refused(why));
        }
        let content = raw.value?;
        let Ok(before) = std::str::from_utf8(&content.bytes) else {
            return Some(State::Refused("the file is not UTF-8".into()));
        };
        let base_commit = history.get(0).map(|commit| commit.id.clone()).unwrap_or_default();
        if let Err(why) = self.is_unchanged(view, &base_commit)? {
            return Some(State::Refused(why));
        }
        Some(match suggestions::apply(before, &self.changes) {
            Ok(applied) if applied.text == before => State::Refused("it is already applied".into()),
            Ok(applied) => State::Ready { applied, base_commit },
            Err(why) => State::Refused(why),
        })
    }

    fn commit(&self, applied: &str, base_commit: &str, cx: &mut Cx) {
        let many = if self.changes.len() == 1 { "a suggestion" } else { "suggestions" };
        let create = CreateCommit {
            id: self.project.clone(),
            branch: self.branch.clone(),
            commit_message: format!("Apply {many} to {}", self.path),
            actions: vec![CommitAction {
                action: "update".into(),
                file_path: self.path.clone(),
                content: Some(applied.to_owned()),
                encoding: Some("text".into()),
                last_commit_id: Some(base_commit.to_owned()).filter(|base_commit| !base_commit.is_empty()),
                ..CommitAction::default()
            }],
            ..CreateCommit::default()
        };
        let (path, branch) = (self.path.clone(), self.branch.clone());
        let what = format!("apply {many} to {path}");
        let then = move |outcome: &Result<crate::store::Value, Error>, cx: &mut Cx| match outcome {
            Ok(_) => cx.act(Action::Refresh),
            Err(Error { fault: Fault::Refused(400 | 409, said), .. }) => {
                let words =
                    format!("{branch} has moved or rejects the commit: {said}. r reloads it; the suggestion is kept.");
                cx.say(Tone::Bad, words);
            }
            Err(_) => {}
        };
        cx.act(Action::SendThen(None, Write::new(&create, what), Rc::new(then)));
    }

    fn lines(&self, view: &View) -> Vec<DocLine<'static>> {
        let theme = view.theme;
        let mut lines = Vec::new();
        for (index, change) in self.changes.iter().enumerate() {
            lines.push(DocLine::new(change.position.name(), theme.style(Role::Link)));
            let signed = |sign: char, words: &str, role: Role, fill: Role| DocLine {
                gutter: vec![(format!("{sign} "), theme.style(role))],
                fill: Some(theme.style(fill)),
                ..DocLine::new(words.to_owned(), theme.style(Role::Text))
            };
            // The preview shows what the commit does: the lines as they are now, not as the comment quotes them.
            let gone = match &self.state {
                State::Ready { applied, .. } => applied.replaced.get(index),
                State::Reading | State::Refused(_) => Some(&change.position.quote),
            };
            let gone = gone.map(Vec::as_slice).unwrap_or_default();
            lines.extend(gone.iter().map(|line| signed('-', line, Role::Removed, Role::RemovedLine)));
            let new = change.suggestion.lines.iter();
            lines.extend(new.map(|line| signed('+', line, Role::Added, Role::AddedLine)));
            lines.push(DocLine::default());
        }
        lines
    }
}

impl Overlay for ApplySuggestions {
    fn wants(&self, view: &View) -> Vec<Want> {
        let rows = view.store.list(&self.tree());
        let blob = self.blob(view);
        let pages = if blob.is_none() { rows.pages_to_end(MAX_PAGES) } else { rows.pages() };
        let mut wants: Vec<Want> = vec![Load::list(&self.tree(), pages).into(), Load::list(&self.history(), 1).into()];
        wants.extend(blob.map(|blob| Load::single(&blob).into()));
        let then = self.by_number().filter(|sha| !sha.is_empty());
        wants.extend(then.map(|sha| Load::list(&self.history_of(sha), 1).into()));
        wants
    }

    fn changed(&mut self, cx: &mut Cx) {
        if matches!(self.state, State::Reading)
            && let Some(state) = self.read(&cx.view)
        {
            self.state = state;
        }
    }

    fn view(&self, view: &View, screen: Rect, buf: &mut Buffer) -> Option<(u16, u16)> {
        let theme = view.theme;
        let width = screen.width.saturating_sub(12).clamp(40, 110);
        let lines = self.lines(view);
        let height = popup::saturating_rows(lines.len() + 5).clamp(8, screen.height.saturating_sub(6).max(8));
        let title = format!("Commit to {}", self.branch);
        let inner = popup::draw(buf, screen, theme, &title, width, height);
        if inner.height < 4 {
            return None;
        }
        let body = Rect { height: inner.height - 2, ..inner };
        let foot = Rect { y: inner.bottom() - 1, height: 1, ..inner };
        let (key, dim) = (theme.style(Role::Key), theme.style(Role::Dim));
        match &self.state {
            State::Reading => state::skeleton(buf, body, theme),
            State::Refused(_) | State::Ready { .. } => {
                doc::draw(buf, body, theme, true, &self.scroll, lines.len(), 2, &|row| {
                    lines.get(row).cloned().unwrap_or_default()
                })
            }
        }
        match &self.state {
            State::Reading => {
                line::draw(buf, foot, &[(format!("reading the current {}…", text::sanitize(&self.path)), dim)]);
            }
            State::Refused(why) => {
                let words = format!("Cannot apply it: {}.", text::sanitize(why));
                line::draw(buf, foot, &[(words, theme.style(Role::Failed))]);
            }
            State::Ready { .. } => {
                line::draw(buf, foot, &[("y", key), (" commit   ", dim), ("n", key), (" no", dim)]);
            }
        }
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        match key.code {
            KeyCode::Char('y' | 'Y') => {
                if let State::Ready { applied, base_commit } = &self.state {
                    self.commit(&applied.text, base_commit, cx);
                    return AfterEvent::Close;
                }
            }
            KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => return AfterEvent::Close,
            KeyCode::Char('c') if key.ctrl => return AfterEvent::Close,
            KeyCode::Down | KeyCode::Char('j') => self.scroll.scroll_by(1, self.lines(&cx.view).len()),
            KeyCode::Up | KeyCode::Char('k') => self.scroll.scroll_by(-1, self.lines(&cx.view).len()),
            _ => {}
        }
        AfterEvent::KeepOpen
    }
}
