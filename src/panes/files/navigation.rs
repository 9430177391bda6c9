//! Navigation to files: remembered folders and recent files, the file finder, and web addresses with an ambiguous end of
//! the ref.

use super::find::Finder;
use super::tree::FileTree;
use super::{BLOB, Files, TREE};
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::state::{MAX_PATHS, RecentProject, RecentsChange};
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::repository::blob::File;
use crate::parts::repository::ref_split::{self, Reading};

impl Files {
    /// Opens or closes a folder, and saves the open folders for the next session.
    pub(super) fn fold(&mut self, path: &str, open: bool, cx: &mut Cx) {
        self.reopened = true;
        self.tree.set_open(path, open);
        self.keep_folders(cx);
    }

    /// Saves which folders are open.
    pub(super) fn keep_folders(&self, cx: &mut Cx) {
        let folders = self.tree.open_folders().take(MAX_PATHS).map(str::to_owned).collect();
        cx.act(Action::Recents(RecentsChange::OpenFolders { project: self.project(), folders }));
    }

    /// Saves the shown file as the most recently opened one.
    pub(super) fn remember(&mut self, cx: &mut Cx) {
        let Some(file) = self.blob.file() else { return };
        cx.act(Action::Recents(RecentsChange::OpenFile { project: self.project(), path: file.path.clone() }));
    }

    /// Returns the key under which the recent files of the project are saved.
    fn project(&self) -> String {
        self.source.project.as_str().to_owned()
    }

    /// Returns the saved folders and recent files of this project.
    pub(super) fn recent<'a>(&self, view: &View<'a>) -> Option<&'a RecentProject> {
        view.recents.project(self.source.project.as_str())
    }

    pub(super) fn find(&mut self, cx: &mut Cx) {
        let recent = self.recent(&cx.view).map(|recent| recent.files.clone()).unwrap_or_default();
        let finder = Finder::new(&self.source, recent, &cx.view);
        cx.open(finder);
    }

    /// Shows the file that the finder found.
    pub(super) fn open_found(&mut self, file: File, cx: &mut Cx) {
        // The line is that of the previous file.
        (self.line, self.section) = (None, None);
        self.tree.reveal(&file.path);
        self.chosen = true;
        self.blob.show(Some(file));
        self.panels.set_focus(BLOB);
        self.entered = true;
        self.remember(cx);
    }

    /// Goes to the parent folder of the current row of the tree.
    pub(super) fn above(&mut self, cx: &mut Cx) {
        self.panels.set_focus(TREE);
        if !self.tree.select_above() {
            cx.say(Tone::Info, "There is no parent folder.");
        }
        self.tree.forget_missing();
        self.tree_moved();
    }

    /// Decides where the ref of a web address ends, once the refs are known; if that is still ambiguous, asks.
    pub(super) fn decide_split(&mut self, cx: &mut Cx) {
        let Some(existing) = self.split.as_ref().and_then(|split| split.existing(&cx.view)) else { return };
        self.split = None;
        if let Some(reading) = existing.first() {
            self.read_as(reading.clone());
        }
        if existing.len() > 1 {
            ref_split::ask(existing, cx, Self::read_as);
        }
    }

    /// Shows the ref and path of a web address.
    pub(super) fn read_as(&mut self, reading: Reading) {
        self.source.git_ref = Some(reading.git_ref);
        self.chosen = reading.path.is_some();
        self.tree = FileTree::at(reading.path.as_deref());
        self.blob.show(None);
    }
}
