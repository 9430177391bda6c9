//! The staging area: changes of files to be committed, for each server, account, project and branch, saved on disk.
//!
//! The list of changes and their texts are stored separately: the list is small and written often, a text is written
//! once. A text is saved before a list refers to it, and removed after no list does.

pub mod document;
pub mod merge;

use crate::api::endpoint::encode;
use crate::api::{Endpoint, Id};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::view::View;
use crate::parts::project;
use crate::ui::glyph;
use crate::ui::theme::Role;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// The version of the list's format; lists of other versions are left alone.
const VERSION: u32 = 1;
/// The maximum size of a staged file, in bytes.
pub const MAX_FILE_BYTES: usize = 10 << 20;
/// The maximum size of all staged files of a list, in bytes.
pub const MAX_TOTAL_BYTES: u64 = 32 << 20;

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Create,
    Update,
    Delete,
    Move,
}

impl ChangeKind {
    /// Returns the API's name of the action.
    pub fn word(self) -> &'static str {
        match self {
            ChangeKind::Create => "create",
            ChangeKind::Update => "update",
            ChangeKind::Delete => "delete",
            ChangeKind::Move => "move",
        }
    }

    /// Returns the sign in front of a changed file.
    pub fn sign(self) -> (&'static str, Role) {
        match self {
            ChangeKind::Create => (glyph::or_word("A", "added"), Role::Added),
            ChangeKind::Update => (glyph::or_word("M", "modified"), Role::Dim),
            ChangeKind::Delete => (glyph::or_word("D", "deleted"), Role::Removed),
            ChangeKind::Move => (glyph::or_word("R", "renamed"), Role::Accent),
        }
    }
}

/// The content of a change, stored under its own key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedContent {
    /// A number that identifies the text.
    pub revision: u64,
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// Whether the stored text is base64.
    pub base64: bool,
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedChange {
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The path of the file after the commit.
    pub path: String,
    /// The previous path of a moved file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The blob that the change is based on; `None` for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The last commit of the file when it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_commit: Option<String>,
    /// The new content; `None` for a deletion, or a move without changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<StagedContent>,
}

impl StagedChange {
    /// Returns the path of the file before the commit.
    pub fn source(&self) -> &str {
        self.from.as_deref().unwrap_or(&self.path)
    }
}

/// The list of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staging {
    version: u32,
    /// The number of the next text.
    next: u64,
    /// The changes, in the order in which they were staged.
    pub changes: Vec<StagedChange>,
    /// The new branch to commit to; `None` for the branch of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<String>,
    /// The name and email address of the author, if it is not the user who commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<(String, String)>,
    /// The server's message about the last failed commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether that commit may have been made although its reply was lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_done: bool,
}

impl Default for Staging {
    fn default() -> Staging {
        Staging {
            version: VERSION,
            next: 1,
            changes: Vec::new(),
            onto: None,
            author: None,
            refused: None,
            may_be_done: false,
        }
    }
}

impl Staging {
    /// Returns the change that writes or deletes the file at `path`.
    pub fn at(&self, path: &str) -> Option<&StagedChange> {
        self.changes.iter().find(|change| change.path == path)
    }

    fn position(&self, path: &str) -> Option<usize> {
        self.changes.iter().position(|change| change.path == path)
    }

    /// Puts a content in the list, which is that of a new file if `base` is `None`.
    fn put(&mut self, path: &str, base: Option<Base>, content: StagedContent) {
        match self.position(path).and_then(|at| self.changes.get_mut(at)) {
            Some(change) => {
                // A file staged for deletion gets the new content instead.
                if change.kind == ChangeKind::Delete {
                    change.kind = ChangeKind::Update;
                }
                change.content = Some(content);
                // The content was merged with a newer version of the file.
                if let Some(base) = base {
                    change.rebase(base);
                }
            }
            None => {
                let (kind, base) = match base {
                    Some(base) => (ChangeKind::Update, base),
                    None => (ChangeKind::Create, Base::default()),
                };
                let change = StagedChange {
                    kind,
                    path: path.to_owned(),
                    from: None,
                    base: base.blob,
                    last_commit: base.last_commit,
                    content: Some(content),
                };
                self.changes.push(change);
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.changes.iter().filter_map(|change| change.content.as_ref()).map(|content| content.bytes).sum()
    }
}

/// The content to be staged.
pub enum StagedFile {
    /// A text.
    Text(String),
    /// Binary data as base64, with its size in bytes.
    Base64(String, u64),
}

impl StagedFile {
    /// Returns bytes in their best form for storage.
    pub fn of(bytes: Vec<u8>) -> StagedFile {
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => StagedFile::Text(text),
            Ok(text) => StagedFile::Base64(STANDARD.encode(&text), text.len() as u64),
            Err(error) => StagedFile::Base64(STANDARD.encode(error.as_bytes()), error.as_bytes().len() as u64),
        }
    }
}

/// The staging area of a branch: the storage key of its list of changes, with the project and the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagingArea {
    key: String,
    /// The project, by its path if that is known.
    pub project: Id,
    /// The branch that files are read from, and that commits go to.
    pub branch: String,
}

/// Returns the prefix of the keys of all lists of a project, and the project by its path.
fn prefix(view: &View, id: &Id) -> Option<(String, Id)> {
    // Saved texts belong to an account, so that there are none before it is known.
    view.me()?;
    let path = project::project(view, id).map(|p| p.path_with_namespace.as_str()).filter(|path| !path.is_empty());
    let project = path.map_or_else(|| id.clone(), Id::from);
    Some((format!("{} staged {project}@", view.session.server), project))
}

impl StagingArea {
    /// Returns the staging area of a branch; `None` while the current user is unknown.
    pub fn of(view: &View, project: &Id, branch: &str) -> Option<StagingArea> {
        let (prefix, project) = prefix(view, project)?;
        Some(StagingArea { key: format!("{prefix}{branch}"), project, branch: branch.to_owned() })
    }

    /// Returns the branches of a project with a saved list, sorted by name.
    pub fn branches(view: &View, project: &Id) -> Vec<String> {
        let Some((prefix, _)) = prefix(view, project) else { return Vec::new() };
        let names = view.drafts.plain_keys().filter_map(|key| key.strip_prefix(&prefix));
        // The keys of a list's other data have a space after the key of the list; a ref contains no spaces.
        let mut names: Vec<String> = names.filter(|name| !name.contains(' ')).map(str::to_owned).collect();
        names.sort();
        names
    }

    /// Returns the key of other data of the list.
    pub fn key(&self, what: &str) -> String {
        format!("{} {what}", self.key)
    }

    /// Returns the key of a file's text while it is being edited.
    pub fn typed_key(&self, path: &str) -> String {
        self.key(&format!("typed {}", encode(path)))
    }

    fn text_key(&self, revision: u64) -> String {
        self.key(&format!("text {revision}"))
    }

    /// Returns the list as it is saved; empty if there is none.
    pub fn raw<'a>(&self, view: &View<'a>) -> &'a str {
        view.drafts.plain(&self.key).unwrap_or_default()
    }

    /// Parses the list.
    ///
    /// # Errors
    /// Returns a message if the list was saved in an unknown format; it must not be overwritten then.
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

    /// Returns the saved text of a content.
    pub fn text<'a>(&self, view: &View<'a>, content: &StagedContent) -> Option<&'a str> {
        view.drafts.plain(&self.text_key(content.revision))
    }

    /// Returns the bytes of a content.
    pub fn bytes(&self, view: &View, content: &StagedContent) -> Option<Vec<u8>> {
        let text = self.text(view, content)?;
        if content.base64 { STANDARD.decode(text).ok() } else { Some(text.as_bytes().to_vec()) }
    }

    /// Saves the list, and removes the texts that it no longer refers to.
    pub fn write(&self, staging: &Staging, cx: &mut Cx) {
        let before = self.read(&cx.view).unwrap_or_default();
        // An empty list is removed, even if a new branch was named in it.
        let text = if staging.changes.is_empty() { None } else { serde_json::to_string(staging).ok() };
        cx.act(Action::SaveText(self.key.clone(), text));
        let named =
            |revision| staging.changes.iter().filter_map(|c| c.content.as_ref()).any(|c| c.revision == revision);
        for content in before.changes.iter().filter_map(|change| change.content.as_ref()) {
            if !named(content.revision) {
                cx.act(Action::SaveText(self.text_key(content.revision), None));
            }
        }
    }

    fn keep(&self, staging: &mut Staging, put: StagedFile, cx: &mut Cx) -> Result<StagedContent, String> {
        let (text, bytes, base64) = match put {
            StagedFile::Text(text) => {
                let bytes = text.len() as u64;
                (text, bytes, false)
            }
            StagedFile::Base64(text, bytes) => (text, bytes, true),
        };
        let size = crate::ui::text::bytes(bytes);
        if bytes > MAX_FILE_BYTES as u64 {
            return Err(format!(
                "{size} exceeds the limit of a staged file ({}).",
                crate::ui::text::bytes(MAX_FILE_BYTES as u64)
            ));
        }
        if staging.bytes() + bytes > MAX_TOTAL_BYTES {
            let all = crate::ui::text::bytes(MAX_TOTAL_BYTES);
            return Err(format!(
                "{size} more would exceed the limit of {all} for all staged files: commit some first."
            ));
        }
        let revision = staging.next;
        staging.next += 1;
        cx.act(Action::SaveText(self.text_key(revision), Some(text)));
        Ok(StagedContent { revision, bytes, base64 })
    }

    /// Stages the content of a file, which is a new file if `base` is `None`.
    ///
    /// # Errors
    /// Returns a message if the list cannot be read or a size limit is exceeded.
    pub fn put(&self, path: &str, base: Option<Base>, put: StagedFile, cx: &mut Cx) -> Result<(), String> {
        self.put_all([(path.to_owned(), (base, put))], cx)
    }

    /// Stages the contents of several files, each as [`put`](StagingArea::put) does.
    ///
    /// # Errors
    /// Returns a message if the list cannot be read or a size limit is exceeded.
    pub fn put_all(
        &self,
        files: impl IntoIterator<Item = (String, (Option<Base>, StagedFile))>,
        cx: &mut Cx,
    ) -> Result<(), String> {
        let mut staging = self.read(&cx.view)?;
        for (path, (base, put)) in files {
            let content = self.keep(&mut staging, put, cx)?;
            staging.put(&path, base, content);
        }
        staging.refused = None;
        self.write(&staging, cx);
        Ok(())
    }

    /// Stages the deletion of a file.
    ///
    /// # Errors
    /// Returns a message if the list cannot be read.
    pub fn delete(&self, path: &str, base: Base, cx: &mut Cx) -> Result<(), String> {
        let mut staging = self.read(&cx.view)?;
        let deletion = |path: &str, base: Base| StagedChange {
            kind: ChangeKind::Delete,
            path: path.to_owned(),
            from: None,
            base: base.blob,
            last_commit: base.last_commit,
            content: None,
        };
        match staging.position(path).map(|at| staging.changes.remove(at)) {
            Some(change) if change.kind == ChangeKind::Create => {}
            Some(change) => {
                let base = Base { blob: change.base.clone(), last_commit: change.last_commit.clone() };
                staging.changes.push(deletion(change.source(), base));
            }
            None => staging.changes.push(deletion(path, base)),
        }
        staging.refused = None;
        self.write(&staging, cx);
        Ok(())
    }

    /// Stages a move of a file.
    ///
    /// # Errors
    /// Returns a message if the list cannot be read, or `to` is already staged, or `from` is staged for deletion.
    pub fn rename(&self, from: &str, to: &str, base: Base, cx: &mut Cx) -> Result<(), String> {
        let mut staging = self.read(&cx.view)?;
        if staging.at(to).is_some() {
            return Err(format!("{} is already staged.", crate::ui::text::sanitize(to)));
        }
        match staging.position(from).and_then(|at| staging.changes.get_mut(at)) {
            Some(change) => match change.kind {
                ChangeKind::Delete => {
                    return Err(format!("{} is staged for deletion.", crate::ui::text::sanitize(from)));
                }
                ChangeKind::Create => change.path = to.to_owned(),
                ChangeKind::Update => {
                    (change.kind, change.from) = (ChangeKind::Move, Some(from.to_owned()));
                    change.path = to.to_owned();
                }
                // Moving a file back to its previous path undoes the move.
                ChangeKind::Move if change.from.as_deref() == Some(to) => {
                    (change.kind, change.from) = (ChangeKind::Update, None);
                    change.path = to.to_owned();
                }
                ChangeKind::Move => change.path = to.to_owned(),
            },
            None => staging.changes.push(StagedChange {
                kind: ChangeKind::Move,
                path: to.to_owned(),
                from: Some(from.to_owned()),
                base: base.blob,
                last_commit: base.last_commit,
                content: None,
            }),
        }
        staging.changes.retain(|change| change.kind != ChangeKind::Update || change.content.is_some());
        staging.refused = None;
        self.write(&staging, cx);
        Ok(())
    }

    /// Stages a move over an existing file: the source is deleted, and the existing file gets the content.
    ///
    /// # Errors
    /// Returns a message if the list cannot be read or a size limit is exceeded.
    pub fn move_over(&self, change: &StagedChange, base: Base, put: StagedFile, cx: &mut Cx) -> Result<(), String> {
        let mut staging = self.read(&cx.view)?;
        staging.changes.retain(|other| other != change);
        let content = Some(self.keep(&mut staging, put, cx)?);
        let deletion = StagedChange {
            kind: ChangeKind::Delete,
            path: change.source().to_owned(),
            from: None,
            content: None,
            ..change.clone()
        };
        let path = change.path.clone();
        let update = StagedChange {
            kind: ChangeKind::Update,
            path,
            from: None,
            base: base.blob,
            last_commit: base.last_commit,
            content,
        };
        staging.changes.extend([deletion, update]);
        staging.refused = None;
        self.write(&staging, cx);
        Ok(())
    }

    /// Applies `change` to the list; a list that cannot be read is left alone.
    pub fn update(&self, cx: &mut Cx, change: impl FnOnce(&mut Staging)) {
        if let Ok(mut staging) = self.read(&cx.view) {
            change(&mut staging);
            self.write(&staging, cx);
        }
    }
}

/// The version of a file that a change is based on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base {
    /// The SHA of the blob.
    pub blob: Option<String>,
    /// The last commit that changed the file.
    pub last_commit: Option<String>,
}

impl StagedChange {
    /// Changes the base of the change to another version of the file.
    pub fn rebase(&mut self, base: Base) {
        match (self.kind, &base.blob) {
            // The file exists by now: it is updated, not created.
            (ChangeKind::Create, Some(_)) => self.kind = ChangeKind::Update,
            // The file no longer exists: it is created again.
            (ChangeKind::Update | ChangeKind::Move, None) => (self.kind, self.from) = (ChangeKind::Create, None),
            _ => {}
        }
        (self.base, self.last_commit) = (base.blob, base.last_commit);
    }
}

/// Returns the request for the history of a file on a branch, whose first commit is the last that changed it.
pub fn history(project: &Id, branch: &str, path: &str) -> crate::api::commits::ListCommits {
    crate::api::commits::ListCommits {
        id: project.clone(),
        ref_name: Some(branch.to_owned()),
        path: Some(path.to_owned()),
        ..Default::default()
    }
}

/// Returns the last commit of a file on a branch, if it is loaded.
pub fn last_commit(view: &View, project: &Id, branch: &str, path: &str) -> Option<String> {
    view.store.list(&history(project, branch, path)).get(0).map(|commit| commit.id.clone())
}

/// Returns the message of a failed request, if it failed.
pub fn failure<E: Endpoint>(view: &View, endpoint: &E) -> Option<String> {
    let error = view.store.error_of(&endpoint.request())?;
    Some(error.to_string())
}
