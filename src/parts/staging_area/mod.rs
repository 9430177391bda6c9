//! Changes of files that wait to be committed: a small index for each server, person, project and branch, kept on disk.
//!
//! The list and its texts are kept apart: the list is small and written often, a text is written once. A text is on
//! disk before a list names it, and leaves it after no list does.

pub mod document;
pub mod file_actions;
pub mod merge;
pub mod paths;

use super::project;
use crate::api::endpoint::encode;
use crate::api::{Endpoint, Id};
use crate::app::action::Action;
use crate::app::pane::{Cx, View};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// The form in which a list is kept; one of another form is left alone.
const VERSION: u32 = 1;
/// Bytes of one file that are staged.
pub const LARGEST: usize = 10 << 20;
/// Bytes of all files of a list.
pub const ALL: u64 = 32 << 20;

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Create,
    Update,
    Delete,
    Move,
}

impl Kind {
    /// The word of the API.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Create => "create",
            Kind::Update => "update",
            Kind::Delete => "delete",
            Kind::Move => "move",
        }
    }
}

/// A text that a change brings, kept under a key of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Another number whenever it is another text.
    pub revision: u64,
    /// Its size as a file.
    pub bytes: u64,
    /// What is kept is the base64 of it.
    pub base64: bool,
}

/// One change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What is done.
    pub kind: Kind,
    /// The file, where the commit leaves it.
    pub path: String,
    /// Where a moved file was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The blob that it was made from; none for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The last commit of the file, as it was when it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_commit: Option<String>,
    /// What it brings; none where a file goes, or is moved as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

impl Change {
    /// Returns where the file is before the commit.
    pub fn source(&self) -> &str {
        self.from.as_deref().unwrap_or(&self.path)
    }
}

/// The list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staging {
    version: u32,
    /// The number of the next text.
    next: u64,
    /// In the order in which they were made.
    pub changes: Vec<Change>,
    /// The new branch to commit to; none for the branch of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<String>,
    /// Name and mail of the author, if it is not the user who commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<(String, String)>,
    /// What the server said to the last try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Default for Staging {
    fn default() -> Staging {
        Staging { version: VERSION, next: 1, changes: Vec::new(), onto: None, author: None, refused: None }
    }
}

impl Staging {
    /// The change that leaves something at `path`, or takes it away.
    pub fn at(&self, path: &str) -> Option<&Change> {
        self.changes.iter().find(|change| change.path == path)
    }

    fn position(&self, path: &str) -> Option<usize> {
        self.changes.iter().position(|change| change.path == path)
    }

    fn bytes(&self) -> u64 {
        self.changes.iter().filter_map(|change| change.content.as_ref()).map(|content| content.bytes).sum()
    }
}

/// What is put into a list.
pub enum StagedFile {
    /// A text.
    Text(String),
    /// Other bytes, as base64, and how many they are.
    Base64(String, u64),
}

impl StagedFile {
    /// Bytes as they are best kept.
    pub fn of(bytes: Vec<u8>) -> StagedFile {
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => StagedFile::Text(text),
            Ok(text) => StagedFile::Base64(STANDARD.encode(&text), text.len() as u64),
            Err(error) => StagedFile::Base64(STANDARD.encode(error.as_bytes()), error.as_bytes().len() as u64),
        }
    }
}

/// Where a list is kept, and what it is a list for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagingKey {
    key: String,
    /// The project, by its path where that is known.
    pub project: Id,
    /// The branch that files were read from, and that a commit goes to.
    pub branch: String,
}

/// The beginning of the keys of all lists of a project.
fn prefix(view: &View, id: &Id) -> Option<(String, Id)> {
    // Saved texts belong to an account: before it is known, none are.
    view.me()?;
    let path = project::project(view, id).map(|p| p.path_with_namespace.as_str()).filter(|path| !path.is_empty());
    let project = path.map_or_else(|| id.clone(), Id::from);
    Some((format!("{} staged {project}@", view.session.server), project))
}

impl StagingKey {
    /// The desk of a branch; `None` while it is not known who is signed in.
    pub fn of(view: &View, project: &Id, branch: &str) -> Option<StagingKey> {
        let (prefix, project) = prefix(view, project)?;
        Some(StagingKey { key: format!("{prefix}{branch}"), project, branch: branch.to_owned() })
    }

    /// Branches of a project that have a list, by name.
    pub fn branches(view: &View, project: &Id) -> Vec<String> {
        let Some((prefix, _)) = prefix(view, project) else { return Vec::new() };
        let names = view.drafts.keys().filter_map(|key| key.strip_prefix(&prefix));
        // What belongs to a list has its key and a blank before its own; no ref holds a blank.
        let mut names: Vec<String> = names.filter(|name| !name.contains(' ')).map(str::to_owned).collect();
        names.sort();
        names
    }

    /// The key of something that belongs to the list.
    pub fn key(&self, what: &str) -> String {
        format!("{} {what}", self.key)
    }

    /// The key under which the text of a file is kept while it is typed.
    pub fn typed_key(&self, path: &str) -> String {
        self.key(&format!("typed {}", encode(path)))
    }

    fn text_key(&self, revision: u64) -> String {
        self.key(&format!("text {revision}"))
    }

    /// The list as it is kept; empty where there is none.
    pub fn raw<'a>(&self, view: &View<'a>) -> &'a str {
        view.drafts.get(&self.key).map(String::as_str).unwrap_or_default()
    }

    /// The list.
    ///
    /// # Errors
    /// In words, if it is kept in a form that this labscope does not know; it must not be written then.
    pub fn read(&self, view: &View) -> Result<Staging, String> {
        let raw = self.raw(view);
        if raw.is_empty() {
            return Ok(Staging::default());
        }
        let known = serde_json::from_str::<Staging>(raw).ok().filter(|staging| staging.version == VERSION);
        known.ok_or_else(|| {
            format!("Changes staged for {} were saved by another version of labscope and are left alone.", self.branch)
        })
    }

    /// The saved text of a change.
    pub fn text<'a>(&self, view: &View<'a>, content: &Content) -> Option<&'a str> {
        view.drafts.get(&self.text_key(content.revision)).map(String::as_str)
    }

    /// The bytes of a change.
    pub fn bytes(&self, view: &View, content: &Content) -> Option<Vec<u8>> {
        let text = self.text(view, content)?;
        if content.base64 { STANDARD.decode(text).ok() } else { Some(text.as_bytes().to_vec()) }
    }

    /// Keeps the list, and drops the texts that it no longer names.
    pub fn write(&self, staging: &Staging, cx: &mut Cx) {
        let before = self.read(&cx.view).unwrap_or_default();
        // An empty list is none; where a new branch was named, that is not worth keeping.
        let text = if staging.changes.is_empty() { None } else { serde_json::to_string(staging).ok() };
        cx.act(Action::Keep(self.key.clone(), text));
        let named =
            |revision| staging.changes.iter().filter_map(|c| c.content.as_ref()).any(|c| c.revision == revision);
        for content in before.changes.iter().filter_map(|change| change.content.as_ref()) {
            if !named(content.revision) {
                cx.act(Action::Keep(self.text_key(content.revision), None));
            }
        }
    }

    fn keep(&self, staging: &mut Staging, put: StagedFile, cx: &mut Cx) -> Result<Content, String> {
        let (text, bytes, base64) = match put {
            StagedFile::Text(text) => {
                let bytes = text.len() as u64;
                (text, bytes, false)
            }
            StagedFile::Base64(text, bytes) => (text, bytes, true),
        };
        let size = crate::ui::text::bytes(bytes);
        if bytes > LARGEST as u64 {
            return Err(format!(
                "{size} exceeds the limit of a staged file ({}).",
                crate::ui::text::bytes(LARGEST as u64)
            ));
        }
        if staging.bytes() + bytes > ALL {
            let all = crate::ui::text::bytes(ALL);
            return Err(format!(
                "{size} more would exceed the limit of {all} for all staged files: commit some first."
            ));
        }
        let revision = staging.next;
        staging.next += 1;
        cx.act(Action::Keep(self.text_key(revision), Some(text)));
        Ok(Content { revision, bytes, base64 })
    }

    /// Stages the content of a file: new where `base` names no blob that it was made from.
    ///
    /// # Errors
    /// In words: a list that cannot be read, or bounds.
    pub fn put(&self, path: &str, base: Option<Base>, put: StagedFile, cx: &mut Cx) -> Result<(), String> {
        let mut staging = self.read(&cx.view)?;
        let content = Some(self.keep(&mut staging, put, cx)?);
        match staging.position(path).and_then(|at| staging.changes.get_mut(at)) {
            Some(change) => {
                // What was to go comes back with another content.
                if change.kind == Kind::Delete {
                    change.kind = Kind::Update;
                }
                change.content = content;
                // Merged with what somebody else made of it in the meantime.
                if let Some(base) = base {
                    change.rebase(base);
                }
            }
            None => {
                let (kind, base) = match base {
                    Some(base) => (Kind::Update, base),
                    None => (Kind::Create, Base::default()),
                };
                let change = Change {
                    kind,
                    path: path.to_owned(),
                    from: None,
                    base: base.blob,
                    last_commit: base.last_commit,
                    content,
                };
                staging.changes.push(change);
            }
        }
        staging.refused = None;
        self.write(&staging, cx);
        Ok(())
    }

    /// Stages that a file goes.
    ///
    /// # Errors
    /// In words: a list that cannot be read.
    pub fn delete(&self, path: &str, base: Base, cx: &mut Cx) -> Result<(), String> {
        let mut staging = self.read(&cx.view)?;
        let gone = |path: &str, base: Base| Change {
            kind: Kind::Delete,
            path: path.to_owned(),
            from: None,
            base: base.blob,
            last_commit: base.last_commit,
            content: None,
        };
        match staging.position(path).map(|at| staging.changes.remove(at)) {
            Some(change) if change.kind == Kind::Create => {}
            Some(change) => {
                let base = Base { blob: change.base.clone(), last_commit: change.last_commit.clone() };
                staging.changes.push(gone(change.source(), base));
            }
            None => staging.changes.push(gone(path, base)),
        }
        staging.refused = None;
        self.write(&staging, cx);
        Ok(())
    }

    /// Stages that a file moves.
    ///
    /// # Errors
    /// In words: a list that cannot be read, or a path that is staged already.
    pub fn rename(&self, from: &str, to: &str, base: Base, cx: &mut Cx) -> Result<(), String> {
        let mut staging = self.read(&cx.view)?;
        if staging.at(to).is_some() {
            return Err(format!("{} is already staged.", crate::ui::text::sanitize(to)));
        }
        match staging.position(from).and_then(|at| staging.changes.get_mut(at)) {
            Some(change) => match change.kind {
                Kind::Delete => return Err(format!("{} is staged for deletion.", crate::ui::text::sanitize(from))),
                Kind::Create => change.path = to.to_owned(),
                Kind::Update => {
                    (change.kind, change.from) = (Kind::Move, Some(from.to_owned()));
                    change.path = to.to_owned();
                }
                // Back where it was, it is not moved.
                Kind::Move if change.from.as_deref() == Some(to) => {
                    (change.kind, change.from) = (Kind::Update, None);
                    change.path = to.to_owned();
                }
                Kind::Move => change.path = to.to_owned(),
            },
            None => staging.changes.push(Change {
                kind: Kind::Move,
                path: to.to_owned(),
                from: Some(from.to_owned()),
                base: base.blob,
                last_commit: base.last_commit,
                content: None,
            }),
        }
        staging.changes.retain(|change| change.kind != Kind::Update || change.content.is_some());
        staging.refused = None;
        self.write(&staging, cx);
        Ok(())
    }

    /// Stages a move over a file that is there: what is moved goes, and the other file gets its content.
    ///
    /// # Errors
    /// In words: a list that cannot be read, or bounds.
    pub fn over(&self, change: &Change, base: Base, put: StagedFile, cx: &mut Cx) -> Result<(), String> {
        let mut staging = self.read(&cx.view)?;
        staging.changes.retain(|other| other != change);
        let content = Some(self.keep(&mut staging, put, cx)?);
        let gone = Change {
            kind: Kind::Delete,
            path: change.source().to_owned(),
            from: None,
            content: None,
            ..change.clone()
        };
        let path = change.path.clone();
        let there =
            Change { kind: Kind::Update, path, from: None, base: base.blob, last_commit: base.last_commit, content };
        staging.changes.extend([gone, there]);
        staging.refused = None;
        self.write(&staging, cx);
        Ok(())
    }

    /// Changes the list as `change` does; what cannot be read is left alone.
    pub fn update(&self, cx: &mut Cx, change: impl FnOnce(&mut Staging)) {
        if let Ok(mut staging) = self.read(&cx.view) {
            change(&mut staging);
            self.write(&staging, cx);
        }
    }
}

/// What a change is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// The hash of the blob.
    pub blob: Option<String>,
    /// The last commit that changed the file.
    pub last_commit: Option<String>,
}

impl Change {
    /// The same change, made of another state of the file.
    pub fn rebase(&mut self, base: Base) {
        match (self.kind, &base.blob) {
            // The file is there already: it is changed, not made.
            (Kind::Create, Some(_)) => self.kind = Kind::Update,
            // It is gone: it is made again.
            (Kind::Update | Kind::Move, None) => (self.kind, self.from) = (Kind::Create, None),
            _ => {}
        }
        (self.base, self.last_commit) = (base.blob, base.last_commit);
    }
}

/// The last commit of a file on a branch: the first of its history.
pub fn history(project: &Id, branch: &str, path: &str) -> crate::api::commits::ListCommits {
    crate::api::commits::ListCommits {
        id: project.clone(),
        ref_name: Some(branch.to_owned()),
        path: Some(path.to_owned()),
        ..Default::default()
    }
}

/// The last commit of a file on a branch, if it is known.
pub fn last_commit(view: &View, project: &Id, branch: &str, path: &str) -> Option<String> {
    view.store.list(&history(project, branch, path)).get(0).map(|commit| commit.id.clone())
}

/// Returns whether asking for what `endpoint` names failed, and how, in words.
pub fn failure<E: Endpoint>(view: &View, endpoint: &E) -> Option<String> {
    let error = view.store.error_of(&endpoint.request())?;
    Some(format!("{}: {} ({}). {}", error.title(), error.message(), error.tried, error.advice()))
}
