//! Applies suggestions as a commit: reads the current files of the branch and shows the changed lines. The server makes
//! the commit if it knows the suggestions and would write the same bytes. Otherwise labscope does, with the last commit
//! that changed each file as its base, so that nobody's work is overwritten.

use crate::api::commits::{Commit, CommitAction, CreateCommit, ListCommits};
use crate::api::discussions::{ApplySuggestion, ApplySuggestions as ApplyBatch};
use crate::api::repository::{GetRawBlob, ListTree};
use crate::api::{Error, Fault, Id};
use crate::app::action::{Action, follow_up};
use crate::app::context::Cx;
use crate::app::keymap::Key;
use crate::app::overlay::{AfterEvent, Overlay};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::review::suggestions::{self, AppliedText, SuggestedChange};
use crate::store::{Load, Want, Write};
use crate::ui::doc::{self, DocLine, DocState};
use crate::ui::line::Line;
use crate::ui::theme::Role;
use crate::ui::{popup, state, text};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The maximum number of pages of a folder that are searched for the file.
const MAX_PAGES: u32 = 20;

enum State {
    Reading,
    /// The new texts of the files.
    Ready(Vec<NewText>),
    Refused(String),
}

/// The new text of a file, and the commit that it is based on.
struct NewText {
    applied: AppliedText,
    base_commit: String,
}

/// The suggestions for one file.
struct FileChanges {
    path: String,
    changes: Vec<SuggestedChange>,
}

/// Suggestions, from loading their files to the commit.
pub struct ApplySuggestions {
    project: Id,
    branch: String,
    files: Vec<FileChanges>,
    state: State,
    scroll: DocState,
}

impl FileChanges {
    /// Returns the commits of the changes whose lines are only known by number: the file must be the same there as it
    /// is now.
    fn by_number(&self) -> impl Iterator<Item = &str> {
        let changes = self.changes.iter().filter(|change| change.position.quote.is_empty());
        changes.map(|change| change.position.sha.as_str())
    }
}

impl ApplySuggestions {
    /// Applies `changes` to the head of a branch.
    pub fn new(project: Id, branch: String, changes: Vec<SuggestedChange>) -> ApplySuggestions {
        let mut files: Vec<FileChanges> = Vec::new();
        for change in changes {
            let path = change.position.path.clone();
            match files.iter_mut().find(|file| file.path == path) {
                Some(file) => file.changes.push(change),
                None => files.push(FileChanges { path, changes: vec![change] }),
            }
        }
        let scroll = DocState { cursor_line: false, ..DocState::new() };
        ApplySuggestions { project, branch, files, state: State::Reading, scroll }
    }

    fn changes(&self) -> impl Iterator<Item = &SuggestedChange> {
        self.files.iter().flat_map(|file| &file.changes)
    }

    fn tree(&self, path: &str) -> ListTree {
        let folder = path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        ListTree { id: self.project.clone(), path: folder, r#ref: Some(self.branch.clone()), ..ListTree::default() }
    }

    fn history_of(&self, name: &str, path: &str) -> ListCommits {
        ListCommits {
            id: self.project.clone(),
            ref_name: Some(name.to_owned()),
            path: Some(path.to_owned()),
            ..ListCommits::default()
        }
    }

    /// Returns whether the lines known by number are unchanged; `None` while that is not known.
    fn is_unchanged(&self, file: &FileChanges, view: &View, base_commit: &str) -> Option<Result<(), String>> {
        for sha in file.by_number() {
            let then = view.store.list::<Commit, _>(&self.history_of(sha, &file.path));
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

    /// Returns the request for the blob of a file, once it is found.
    fn blob(&self, path: &str, view: &View) -> Option<GetRawBlob> {
        let rows = view.store.list(&self.tree(path));
        let entry = rows.iter().find(|entry| entry.path == path)?;
        Some(GetRawBlob { id: self.project.clone(), sha: entry.id.clone() })
    }

    /// Computes the new text of a file, once everything it needs is loaded and fresh.
    ///
    /// # Errors
    /// Returns the reason why the suggestions cannot be applied.
    fn read_file(&self, file: &FileChanges, view: &View) -> Option<Result<NewText, String>> {
        let tree = view.store.list(&self.tree(&file.path));
        let history = view.store.list::<Commit, _>(&self.history_of(&self.branch, &file.path));
        let failed = |error: Option<&Error>| error.filter(|error| !error.is_temporary()).map(|error| error.message());
        if let Some(why) = failed(tree.error).or_else(|| failed(history.error)) {
            return Some(Err(why));
        }
        if !tree.is_settled(u32::MAX) || !history.is_settled(1) || !tree.is_loaded || !history.is_loaded {
            return None;
        }
        let Some(blob) = self.blob(&file.path, view) else {
            let more = tree.has_next(MAX_PAGES);
            return (!more).then(|| Err(format!("{} is no longer on {}", file.path, self.branch)));
        };
        let raw = view.store.get(&blob);
        if let Some(why) = failed(raw.error) {
            return Some(Err(why));
        }
        let content = raw.value?;
        // A server converts such a file as a whole, or replaces what it cannot read.
        let text = std::str::from_utf8(&content.bytes).ok().filter(|text| !text.contains('\0'));
        let Some(before) = text else {
            return Some(Err(format!("{} is not UTF-8, so other lines would change, too", file.path)));
        };
        let base_commit = history.get(0).map(|commit| commit.id.clone()).unwrap_or_default();
        if let Err(why) = self.is_unchanged(file, view, &base_commit)? {
            return Some(Err(why));
        }
        Some(match suggestions::apply(before, &file.changes) {
            Ok(applied) if applied.text == before => Err("it is already applied".into()),
            Ok(applied) => Ok(NewText { applied, base_commit }),
            Err(why) if self.files.len() > 1 => Err(format!("{}: {why}", file.path)),
            Err(why) => Err(why),
        })
    }

    /// Computes the new texts of all files, once everything they need is loaded and fresh.
    fn read(&self, view: &View) -> Option<State> {
        let mut texts = Vec::new();
        for file in &self.files {
            match self.read_file(file, view)? {
                Ok(text) => texts.push(text),
                Err(why) => return Some(State::Refused(why)),
            }
        }
        Some(State::Ready(texts))
    }

    /// Returns the IDs of the suggestions, if the server applies them as they are shown.
    fn on_server(&self, texts: &[NewText]) -> Option<Vec<u64>> {
        let ids: Option<Vec<u64>> = self.changes().map(|change| change.on_server.as_ref().map(|(id, _)| *id)).collect();
        ids.filter(|_| texts.iter().all(|text| text.applied.is_same_on_server))
    }

    fn commit(&self, texts: &[NewText], cx: &mut Cx) {
        let count = self.changes().count();
        if let Some(ids) = self.on_server(texts) {
            let write = match ids.as_slice() {
                [id] => Write::new(&ApplySuggestion { id: *id, commit_message: None }, "apply the suggestion"),
                _ => Write::new(
                    &ApplyBatch { ids, commit_message: None },
                    format!("apply {}", text::count_noun(count as u64, "suggestion")),
                ),
            };
            return cx.act(Action::Send(write));
        }
        let many = if count == 1 { "a suggestion" } else { "suggestions" };
        let action = |(file, text): (&FileChanges, &NewText)| CommitAction {
            action: "update".into(),
            file_path: file.path.clone(),
            content: Some(text.applied.text.clone()),
            encoding: Some("text".into()),
            last_commit_id: Some(text.base_commit.clone()).filter(|base_commit| !base_commit.is_empty()),
            ..CommitAction::default()
        };
        let to = match self.files.as_slice() {
            [file] => file.path.clone(),
            files => format!("{} files", files.len()),
        };
        let create = CreateCommit {
            id: self.project.clone(),
            branch: self.branch.clone(),
            commit_message: format!("Apply {many} to {to}"),
            actions: self.files.iter().zip(texts).map(action).collect(),
            ..CreateCommit::default()
        };
        let branch = self.branch.clone();
        let what = format!("apply {many} to {to}");
        let then = follow_up::<CreateCommit>(move |outcome, cx| match outcome {
            Ok(_) => cx.act(Action::Refresh),
            Err(Error { fault: Fault::Refused(400 | 409, said), .. }) => {
                let words = format!(
                    "{branch} has moved or rejects the commit: {said}. ‹refresh› reloads it; the suggestion is kept."
                );
                cx.say(Tone::Bad, words);
            }
            Err(_) => {}
        });
        cx.act(Action::SendThen(None, Write::new(&create, what), then));
    }

    fn scroll_by(&mut self, rows: isize, view: &View) {
        let len = self.lines(view).len();
        self.scroll.scroll_by(rows, len);
    }

    /// Returns the changed lines as a small diff.
    fn lines(&self, view: &View) -> Vec<DocLine<'static>> {
        let theme = view.theme;
        let mut lines = Vec::new();
        let texts = if let State::Ready(texts) = &self.state { texts.as_slice() } else { &[] };
        for (at, file) in self.files.iter().enumerate() {
            for (index, change) in file.changes.iter().enumerate() {
                // This is what the commit does: the lines as they are now, not as the comment quotes them.
                let now = texts.get(at).and_then(|text| text.applied.replaced.get(index));
                let (name, gone) = match now {
                    Some((first, gone)) => {
                        let last = (first + gone.len()).saturating_sub(1).max(*first);
                        let numbers = if last > *first { format!("{first}-{last}") } else { first.to_string() };
                        (format!("{}:{numbers}", file.path), gone)
                    }
                    None => (change.position.name(), &change.position.quote),
                };
                lines.push(DocLine::new(name, theme.style(Role::Link)));
                let signed = |sign: char, words: &str, role: Role, fill: Role| DocLine {
                    gutter: Line::new(format!("{sign} "), role),
                    fill: Some(theme.style(fill)),
                    ..DocLine::new(words.to_owned(), theme.style(Role::Text))
                };
                lines.extend(gone.iter().map(|line| signed('-', line, Role::Removed, Role::RemovedLine)));
                let new = change.suggestion.lines.iter();
                lines.extend(new.map(|line| signed('+', line, Role::Added, Role::AddedLine)));
                lines.push(DocLine::default());
            }
        }
        if self.changes().any(|change| change.on_server.is_some())
            && let State::Ready(texts) = &self.state
            && self.on_server(texts).is_none()
        {
            let words =
                "The server would change line endings. labscope commits the lines itself: resolve the thread then.";
            lines.push(DocLine::new(words, theme.style(Role::Warning)));
        }
        lines
    }
}

impl Overlay for ApplySuggestions {
    fn wants(&self, view: &View) -> Vec<Want> {
        let mut wants = Vec::new();
        for file in &self.files {
            let tree = self.tree(&file.path);
            let rows = view.store.list(&tree);
            let blob = self.blob(&file.path, view);
            let pages = if blob.is_none() { rows.pages_to_end(MAX_PAGES) } else { rows.pages() };
            wants.push(Load::list(&tree, pages).into());
            wants.push(Load::list(&self.history_of(&self.branch, &file.path), 1).into());
            wants.extend(blob.map(|blob| Load::single(&blob).into()));
            let then = file.by_number().filter(|sha| !sha.is_empty());
            wants.extend(then.map(|sha| Load::list(&self.history_of(sha, &file.path), 1).into()));
        }
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
            State::Refused(_) | State::Ready(_) => {
                doc::draw(buf, body, theme, true, &self.scroll, lines.len(), 2, &|row| {
                    lines.get(row).cloned().unwrap_or_default()
                })
            }
        }
        match &self.state {
            State::Reading => {
                let what = match self.files.as_slice() {
                    [file] => text::sanitize(&file.path).into_owned(),
                    files => format!("{} files", files.len()),
                };
                Line::new(format!("reading the current {what}…"), dim).draw(buf, foot, theme);
            }
            State::Refused(why) => {
                let words = format!("Cannot apply it: {}.", text::sanitize(why));
                Line::new(words, Role::Failed).draw(buf, foot, theme);
            }
            State::Ready(_) => {
                Line::from([("y", key), (" commit   ", dim), ("n", key), (" no", dim)]).draw(buf, foot, theme);
            }
        }
        None
    }

    fn key(&mut self, key: Key, cx: &mut Cx) -> AfterEvent {
        match key.code {
            KeyCode::Char('y' | 'Y') => {
                if let State::Ready(texts) = &self.state {
                    self.commit(texts, cx);
                    return AfterEvent::Close;
                }
            }
            KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => return AfterEvent::Close,
            KeyCode::Char('c') if key.ctrl => return AfterEvent::Close,
            KeyCode::Down | KeyCode::Char('j') => self.scroll_by(1, &cx.view),
            KeyCode::Up | KeyCode::Char('k') => self.scroll_by(-1, &cx.view),
            _ => {}
        }
        AfterEvent::KeepOpen
    }
}
