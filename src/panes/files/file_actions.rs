//! Actions on files in a place: edit, add, move, delete and upload, all for the staging area of the branch.

use super::Files;
use crate::api::branches::{Branch, ListBranches};
use crate::api::projects::Project;
use crate::api::tags::{ListTags, Tag};
use crate::api::{GitRef, Id, RefKind};
use crate::app::App;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::prompt::Prompt;
use crate::app::pane::Breadcrumb;
use crate::app::place::Place;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::paths::{self, BranchPaths, LocalPaths, ReadFile};
use crate::parts::project;
use crate::parts::repository::staging_area::document::{StagedDocument, open};
use crate::parts::repository::staging_area::{
    Base, MAX_FILE_BYTES, StagedChange, StagedFile, StagingArea, last_commit,
};
use crate::store::{Want, Work};
use crate::ui::glyph;
use crate::ui::text::{bytes, count, sanitize};
use crate::ui::theme::Role;
use std::borrow::Cow;

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
        if self.git_ref.as_ref().is_some_and(GitRef::is_sha) {
            return Err("this is a commit; ‹files.ref› chooses a branch".into());
        }
        if self.git_ref.as_ref().is_some_and(|name| self.is_tag(view, name)) {
            return Err("this is a tag; ‹files.ref› chooses a branch".into());
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

    fn delete_now(&self, cx: &mut Cx) {
        let (Some(staging_area), Some(path)) = (self.staging_area(&cx.view), &self.path) else { return };
        let base = self.base(&staging_area, &cx.view);
        match staging_area.delete(path, base, cx) {
            Ok(()) => say_staged(&format!("Staged: delete {}", sanitize(path)), cx),
            Err(why) => cx.say(Tone::Warning, why),
        }
    }

    /// Opens the file under the cursor in the editor, or in an external one if `outside` is true.
    pub fn edit(&self, outside: bool, cx: &mut Cx) {
        let (Some(staging_area), Some(path)) = (self.staging_area(&cx.view), &self.path) else { return };
        StagedDocument::new(staging_area, path, self.blob.clone()).link(self.is_link).open(outside, cx);
    }

    fn base(&self, staging_area: &StagingArea, view: &View) -> Base {
        let path = self.path.as_deref().unwrap_or_default();
        Base {
            blob: self.blob.clone(),
            last_commit: last_commit(view, &staging_area.project, &staging_area.branch, path),
        }
    }
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

/// The state of a file action with several steps.
#[derive(Default)]
pub struct FileAction {
    /// The path of the local file to upload.
    local: Option<String>,
    /// The path of the local file that is being read, and its target path.
    reading: Option<(String, String)>,
    /// The number of files read.
    generation: u64,
    /// The saved list of changes when it was last read, and the changes.
    staged: (String, Vec<StagedChange>),
}

impl FileAction {
    /// Reads the local file, to stage it at a path of the branch.
    fn read(&mut self, path: &str) {
        self.generation += 1;
        self.reading = self.local.take().map(|local| (local, path.to_owned()));
    }

    /// Returns the computation that reads the local file.
    pub fn wants(&self) -> Option<Want> {
        let (typed, _) = self.reading.as_ref()?;
        Some(
            Work::new(ReadFile { typed: typed.clone(), generation: self.generation, largest: MAX_FILE_BYTES as u64 })
                .into(),
        )
    }

    /// Updates the state after a store update: reads the staged changes, and stages a file that was read.
    pub fn changed(&mut self, context: &FileContext, cx: &mut Cx) {
        let staging_area = context.staging_area(&cx.view);
        let raw = staging_area.as_ref().map(|staging_area| staging_area.raw(&cx.view)).unwrap_or_default();
        if self.staged.0 != raw {
            self.staged = (raw.to_owned(), self.staged(context, &cx.view).into_owned());
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

    /// Returns the staged changes of the branch.
    pub fn staged(&self, context: &FileContext, view: &View) -> Cow<'_, [StagedChange]> {
        let Some(staging_area) = context.staging_area(view) else { return Cow::default() };
        match staging_area.raw(view) == self.staged.0 {
            true => Cow::Borrowed(&self.staged.1),
            false => staging_area.read(view).map(|staging| staging.changes).unwrap_or_default().into(),
        }
    }

    /// Returns the breadcrumb with the number of staged changes of the branch.
    pub fn breadcrumb(&self, context: &FileContext, view: &View) -> Option<Breadcrumb> {
        let len = self.staged(context, view).len();
        (len > 0).then(|| Breadcrumb::new(format!("{} {} staged", glyph::draft(), count(len as u64)), Role::Warning))
    }
}

impl Files {
    /// Asks for a path in the branch, with `text` as a start, and continues with it if it is valid.
    fn ask_path(&self, label: &str, text: String, cx: &mut Cx, then: fn(&mut Files, StagingArea, &str, &mut Cx)) {
        let context = self.context();
        let Some(branch) = context.branch(&cx.view) else { return };
        let prompt = Prompt::ask(cx.here, label, text, move |files: &mut Files, typed, cx| {
            let path = typed.trim().trim_start_matches('/');
            if let Some(why) = invalid_reason(path) {
                return cx.say(Tone::Warning, format!("Invalid path \"{}\": {why}.", sanitize(path)));
            }
            if let Some(staging_area) = files.context().staging_area(&cx.view) {
                then(files, staging_area, path, cx);
            }
        });
        cx.open(prompt.complete(Box::new(BranchPaths { project: context.project, branch })));
    }

    /// Asks for the path of a new file, and opens an editor for it.
    pub(super) fn ask_new_file(&mut self, cx: &mut Cx) {
        let folder = self.context().folder();
        self.ask_path("new file", folder, cx, |_, staging_area, path, cx| open(staging_area, path, None, false, cx));
    }

    /// Asks for the new path of the file under the cursor, and stages the move.
    pub(super) fn ask_new_path(&mut self, cx: &mut Cx) {
        let path = self.context().path.unwrap_or_default();
        self.ask_path("move to", path, cx, |files, staging_area, path, cx| {
            let context = files.context();
            let Some(from) = context.path.as_deref().filter(|from| *from != path) else { return };
            match staging_area.rename(from, path, context.base(&staging_area, &cx.view), cx) {
                Ok(()) => say_staged(&format!("Staged: move {} to {}", sanitize(from), sanitize(path)), cx),
                Err(why) => cx.say(Tone::Warning, why),
            }
        });
    }

    /// Stages the deletion of the file under the cursor; asks first if staged content would be lost.
    pub(super) fn delete(&mut self, cx: &mut Cx) {
        let context = self.context();
        let (Some(staging_area), Some(path)) = (context.staging_area(&cx.view), &context.path) else { return };
        let Some(size) = staged_size(&staging_area, path, &cx.view) else { return context.delete_now(cx) };
        let question = format!("Delete {}? Your changes ({size}) exist nowhere else.", sanitize(path));
        let path = path.clone();
        let delete = cx.here.then(move |files: &mut Files, cx| {
            // Delete only the file that the user was asked about, not the one under the cursor now.
            let context = files.context();
            if context.path.as_ref() == Some(&path) {
                context.delete_now(cx);
            }
        });
        cx.act(App::confirm("Delete a file", question, delete));
    }

    /// Asks for the local file to upload, then for its path in the branch.
    pub(super) fn ask_upload(&mut self, cx: &mut Cx) {
        let prompt = Prompt::ask(cx.here, "upload", "", |files: &mut Files, typed, cx| {
            let local = typed.trim();
            if local.is_empty() {
                return;
            }
            files.staging.local = Some(local.to_owned());
            let name = local.rsplit('/').next().unwrap_or(local);
            let path = format!("{}{name}", files.context().folder());
            files.ask_path("upload as", path, cx, |files, staging_area, path, cx| {
                let Some(size) = staged_size(&staging_area, path, &cx.view) else { return files.staging.read(path) };
                let question = format!("Replace {}? The staged file ({size}) exists nowhere else.", sanitize(path));
                let path = path.to_owned();
                let replace = cx.here.then(move |files: &mut Files, _| files.staging.read(&path));
                cx.act(App::confirm("Upload over a staged file", question, replace));
            });
        });
        cx.open(prompt.complete(Box::new(LocalPaths)));
    }
}

/// Returns the place of the branch's staging area.
pub fn place(context: &FileContext) -> Place {
    let git_ref = context.git_ref.clone().filter(|name| name.branch_name().is_some());
    Place { git_ref, ..Place::new("stage").project(context.project.clone()) }
}
