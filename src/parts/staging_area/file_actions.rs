//! Actions on files in a place: edit, add, move, delete and upload, all for the staging area of the branch.

use super::document::StagedDocument;
use super::paths::{self, BranchPaths, LocalPaths, ReadFile};
use super::{Base, MAX_FILE_BYTES, StagedFile, StagingArea, last_commit};
use crate::api::branches::{Branch, ListBranches};
use crate::api::projects::Project;
use crate::api::tags::{ListTags, Tag};
use crate::api::{GitRef, Id, RefKind};
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::editor::Editor;
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::project;
use crate::store::{Want, Work};
use crate::ui::glyph;
use crate::ui::text::{bytes, count, sanitize};
use crate::ui::theme::Role;

/// The position in a file tree.
#[derive(Clone, Debug, Default)]
pub struct FileContext {
    /// The project.
    pub project: Id,
    /// The ref that is shown; `None` for the default branch.
    pub git_ref: Option<GitRef>,
    /// The path under the cursor.
    pub path: Option<String>,
    /// The blob, if the path is a file.
    pub blob: Option<String>,
    /// Whether the file is a symbolic link.
    pub is_link: bool,
}

impl FileContext {
    fn branch(&self, view: &View) -> Option<String> {
        project::branch_at(view, &self.project, self.git_ref.as_ref())
    }

    /// Returns the staging area of the branch.
    pub fn staging_area(&self, view: &View) -> Option<StagingArea> {
        StagingArea::of(view, &self.project, &self.branch(view)?)
    }

    /// Returns the current folder, with a trailing slash.
    fn folder(&self) -> String {
        match (&self.path, &self.blob) {
            (Some(path), None) => format!("{path}/"),
            (Some(path), Some(_)) => path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default().to_owned(),
            (None, _) => String::new(),
        }
    }

    /// Returns whether files can be changed here, or the reason why not.
    pub fn can_change(&self, view: &View) -> Result<(), Disabled> {
        if !view.session.signed_in {
            return Err("you are not signed in".into());
        }
        if self.git_ref.as_ref().is_some_and(GitRef::is_sha) {
            return Err("this is a commit; ‹files.ref› chooses a branch".into());
        }
        if self.git_ref.as_ref().is_some_and(|name| self.is_tag(view, name)) {
            return Err("this is a tag; ‹files.ref› chooses a branch".into());
        }
        if project::project(view, &self.project).is_some_and(Project::is_archived) {
            return Err("the project is archived".into());
        }
        let is_empty = project::project(view, &self.project).is_some_and(Project::is_empty);
        let branch = self.branch(view).ok_or(match is_empty {
            true => "the repository has no branches; push a first commit",
            false => "the default branch has not loaded yet",
        })?;
        let staging_area = StagingArea::of(view, &self.project, &branch);
        staging_area.map(|_| ()).ok_or_else(|| "your account has not loaded yet".into())
    }

    /// Returns whether a ref is a tag: by its kind, else by the loaded lists.
    fn is_tag(&self, view: &View, name: &GitRef) -> bool {
        let tags = view.store.list::<Tag, _>(&ListTags { id: self.project.clone(), ..ListTags::default() });
        let branches = view.store.list::<Branch, _>(&ListBranches { id: self.project.clone(), search: None });
        match name.kind() {
            Some(kind) => kind == RefKind::Tag,
            None => {
                tags.iter().any(|tag| tag.name == name.as_str())
                    && branches.iter().all(|branch| branch.name != name.as_str())
            }
        }
    }

    fn base(&self, staging_area: &StagingArea, view: &View) -> Base {
        let path = self.path.as_deref().unwrap_or_default();
        Base {
            blob: self.blob.clone(),
            last_commit: last_commit(view, &staging_area.project, &staging_area.branch, path),
        }
    }

    /// Opens the file under the cursor in the editor, or in an external one if `outside` is true.
    pub fn edit(&self, outside: bool, cx: &mut Cx) {
        let (Some(staging_area), Some(path)) = (self.staging_area(&cx.view), &self.path) else { return };
        open_document(StagedDocument::new(staging_area, path, self.blob.clone()).link(self.is_link), outside, cx);
    }

    /// Asks for the path of a new file.
    pub fn add(&self, cx: &mut Cx) {
        self.ask("new file", self.folder(), FileAnswer::Add, cx);
    }

    /// Asks for the new path of the file under the cursor.
    pub fn rename(&self, cx: &mut Cx) {
        self.ask("move to", self.path.clone().unwrap_or_default(), FileAnswer::Move, cx);
    }

    fn ask(&self, label: &str, text: String, answer: fn(String) -> FileAnswer, cx: &mut Cx) {
        let Some(branch) = self.branch(&cx.view) else { return };
        let paths = BranchPaths { project: self.project.clone(), branch };
        cx.act(Action::OpenOverlay(Box::new(Prompt::ask(label, text, answer).complete(Box::new(paths)))));
    }

    /// Stages the deletion of the file under the cursor.
    pub fn delete(&self, cx: &mut Cx) {
        let (Some(staging_area), Some(path)) = (self.staging_area(&cx.view), &self.path) else { return };
        match staged_size(&staging_area, path, &cx.view) {
            Some(size) => {
                let question = format!("Delete {}? Your changes ({size}) exist nowhere else.", sanitize(path));
                cx.act(App::confirm("Delete a file", question, Action::answer(FileAnswer::Delete(path.clone()))));
            }
            None => self.delete_now(cx),
        }
    }

    fn delete_now(&self, cx: &mut Cx) {
        let (Some(staging_area), Some(path)) = (self.staging_area(&cx.view), &self.path) else { return };
        let base = self.base(&staging_area, &cx.view);
        match staging_area.delete(path, base, cx) {
            Ok(()) => say_staged(&format!("Staged: delete {}", sanitize(path)), cx),
            Err(why) => cx.say(Tone::Warning, why),
        }
    }
}

/// Opens a file of a branch in an editor, with its staged content if there is any.
pub fn open(staging_area: StagingArea, path: &str, blob: Option<String>, outside: bool, cx: &mut Cx) {
    open_document(StagedDocument::new(staging_area, path, blob), outside, cx);
}

fn open_document(document: StagedDocument, outside: bool, cx: &mut Cx) {
    let document = Box::new(document);
    let editor = if outside { Editor::external(document) } else { Editor::new(document) };
    cx.act(Action::OpenOverlay(Box::new(editor)));
}

/// Returns the size of the staged content of a path, which would be lost with it.
fn staged_size(staging_area: &StagingArea, path: &str, view: &View) -> Option<String> {
    let staging = staging_area.read(view).ok()?;
    staging.at(path)?.content.as_ref().map(|content| bytes(content.bytes))
}

fn say_staged(what: &str, cx: &mut Cx) {
    cx.say(Tone::Good, format!("{what}; ‹go.stage› shows the staged changes."));
}

/// Returns why a path is invalid for a file, or `None` if it is valid.
fn invalid_reason(path: &str) -> Option<&'static str> {
    let bad = |name: &str| matches!(name, "" | "." | "..") || name.eq_ignore_ascii_case(".git");
    match path {
        "" => Some("it is empty"),
        _ if path.ends_with('/') => Some("it names a folder"),
        _ if path.chars().any(char::is_control) => Some("control characters are not allowed"),
        _ if path.split('/').any(bad) => Some("a part of it is empty, . or .., or .git"),
        _ => None,
    }
}

/// An answer about a file: paths, as they were typed.
pub enum FileAnswer {
    /// The path of a new file.
    Add(String),
    /// The new path of the file under the cursor.
    Move(String),
    /// The path of a local file.
    Local(String),
    /// The path to upload to, unless something is staged there.
    Upload(String),
    /// The path to upload to, whatever is staged there.
    Replace(String),
    /// The path to delete, if the cursor is still on it.
    Delete(String),
}

/// The state of a file action with several steps.
#[derive(Default)]
pub struct FileAction {
    /// The path of the local file to upload.
    local: Option<String>,
    /// The path of the local file that is being read, and its target path.
    reading: Option<(String, String)>,
    /// The number of files read.
    generation: u64,
    /// The saved list of changes when it was last counted, and the count.
    counted: (String, usize),
}

impl FileAction {
    /// Asks for the local file to upload.
    pub fn upload(&self, cx: &mut Cx) {
        cx.act(Action::OpenOverlay(Box::new(
            Prompt::ask("upload", "", FileAnswer::Local).complete(Box::new(LocalPaths)),
        )));
    }

    /// Returns the computation that reads the local file.
    pub fn wants(&self) -> Option<Want> {
        let (typed, _) = self.reading.as_ref()?;
        Some(
            Work::new(ReadFile { typed: typed.clone(), generation: self.generation, largest: MAX_FILE_BYTES as u64 })
                .into(),
        )
    }

    /// Updates the state after a store update: counts the staged changes, and stages a file that was read.
    pub fn changed(&mut self, context: &FileContext, cx: &mut Cx) {
        let staging_area = context.staging_area(&cx.view);
        let raw = staging_area.as_ref().map(|staging_area| staging_area.raw(&cx.view)).unwrap_or_default();
        if self.counted.0 != raw {
            let len = staging_area
                .as_ref()
                .and_then(|staging_area| staging_area.read(&cx.view).ok())
                .map_or(0, |staging| staging.changes.len());
            self.counted = (raw.to_owned(), len);
        }
        let Some((typed, path)) = &self.reading else { return };
        let Some(read) = cx.view.store.result::<Result<Vec<u8>, String>>(&paths::file_key(typed, self.generation))
        else {
            return;
        };
        let (read, path) = (read.clone(), path.clone());
        self.reading = None;
        let Some(staging_area) = context.staging_area(&cx.view) else { return };
        let over = context.path.as_ref() == Some(&path) && context.blob.is_some();
        let base = over.then(|| context.base(&staging_area, &cx.view));
        match read.and_then(|bytes| staging_area.put(&path, base, StagedFile::of(bytes), cx)) {
            Ok(()) => say_staged(&format!("Staged {}", sanitize(&path)), cx),
            Err(why) => cx.say(Tone::Bad, sanitize(&why).into_owned()),
        }
    }

    /// Returns the breadcrumb with the number of staged changes of the branch.
    pub fn breadcrumb(&self, context: &FileContext, view: &View) -> Option<Breadcrumb> {
        let staging_area = context.staging_area(view)?;
        let known = staging_area.raw(view) == self.counted.0;
        let len = if known { self.counted.1 } else { staging_area.read(view).ok()?.changes.len() };
        (len > 0).then(|| Breadcrumb::new(format!("{} {} staged", glyph::draft(), count(len as u64)), Role::Warning))
    }

    /// Handles an answer.
    pub fn answer(&mut self, answer: FileAnswer, context: &FileContext, cx: &mut Cx) {
        let typed = match &answer {
            // Delete only the file that the user was asked about, not the one under the cursor now.
            FileAnswer::Delete(path) if context.path.as_ref() == Some(path) => return context.delete_now(cx),
            FileAnswer::Delete(_) => return,
            FileAnswer::Local(local) if local.trim().is_empty() => return,
            FileAnswer::Local(local) => {
                let local = local.trim();
                let name = local.rsplit('/').next().unwrap_or(local);
                self.local = Some(local.to_owned());
                return context.ask("upload as", format!("{}{name}", context.folder()), FileAnswer::Upload, cx);
            }
            FileAnswer::Add(path) | FileAnswer::Move(path) => path,
            FileAnswer::Upload(path) | FileAnswer::Replace(path) => path,
        };
        let path = typed.trim().trim_start_matches('/');
        if let Some(why) = invalid_reason(path) {
            return cx.say(Tone::Warning, format!("Invalid path \"{}\": {why}.", sanitize(path)));
        }
        let Some(staging_area) = context.staging_area(&cx.view) else { return };
        match (&answer, &context.path) {
            (FileAnswer::Add(_), _) => open(staging_area, path, None, false, cx),
            (FileAnswer::Move(_), Some(from)) if from != path => {
                let base = context.base(&staging_area, &cx.view);
                match staging_area.rename(from, path, base, cx) {
                    Ok(()) => say_staged(&format!("Staged: move {} to {}", sanitize(from), sanitize(path)), cx),
                    Err(why) => cx.say(Tone::Warning, why),
                }
            }
            (FileAnswer::Upload(_), _) if let Some(size) = staged_size(&staging_area, path, &cx.view) => {
                let question = format!("Replace {}? The staged file ({size}) exists nowhere else.", sanitize(path));
                let replace = Action::answer(FileAnswer::Replace(path.to_owned()));
                cx.act(App::confirm("Upload over a staged file", question, replace));
            }
            (FileAnswer::Upload(_) | FileAnswer::Replace(_), _) => {
                self.generation += 1;
                self.reading = self.local.take().map(|local| (local, path.to_owned()));
            }
            _ => {}
        }
    }
}

/// Returns the place of the branch's staging area.
pub fn place(context: &FileContext) -> Place {
    let git_ref = context.git_ref.clone().filter(|name| name.branch_name().is_some());
    Place { git_ref, ..Place::new("stage").project(context.project.clone()) }
}
