//! Navigation to files: remembered folders and recent files, the file finder, and URLs with an ambiguous end of the
//! ref.

use super::find::Finder;
use super::tree::Tree;
use super::{Files, TREE};
use crate::api::branches::ListBranches;
use crate::api::tags::ListTags;
use crate::app::action::Action;
use crate::app::context::Cx;
use crate::app::place::Place;
use crate::app::state::{MAX_PATHS, RecentProject, RecentsChange};
use crate::app::view::View;
use crate::parts::project;

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
        let finder = Finder::new(self.source.clone(), recent, &cx.view);
        cx.act(Action::OpenOverlay(Box::new(finder)));
    }

    /// Goes to the parent folder of the current row of the tree.
    pub(super) fn above(&mut self, _cx: &mut Cx) {
        self.panels.set_focus(TREE);
        self.tree.select_above();
        self.tree.forget_missing();
        self.tree_moved();
    }

    /// Returns the requests for the branches and tags that the ref of an ambiguous URL may be.
    pub(super) fn refs(&self) -> Option<(ListBranches, ListTags)> {
        let first = self.joined.as_ref()?.split('/').next()?.to_owned();
        let id = self.source.project.clone();
        Some((ListBranches { id: id.clone(), search: Some(first) }, ListTags { id, order_by: None, sort: None }))
    }

    /// Resolves an ambiguous URL. At first, the first path component is taken as the ref. If that ref does not exist,
    /// the longest branch or tag name that is a prefix of the path is used.
    pub(super) fn part(&mut self, view: &View) {
        if view.store.list(&self.root()).is_loaded {
            self.joined = None;
        }
        let Some(((branches, tags), joined)) = self.refs().zip(self.joined.clone()) else { return };
        if !project::is_missing(view, &self.root()) {
            return;
        }
        let (branches, tags) = (view.store.list(&branches), view.store.list(&tags));
        if !((branches.is_loaded || branches.error.is_some()) && (tags.is_loaded || tags.error.is_some())) {
            return;
        }
        let names = branches.iter().map(|b| &b.name).chain(tags.iter().map(|t| &t.name));
        let fits =
            |name: &&String| joined.strip_prefix(name.as_str()).is_some_and(|r| r.is_empty() || r.starts_with('/'));
        let longest = names.filter(fits).max_by_key(|name| name.len()).cloned();
        self.joined = None;
        if let Some(name) = longest {
            let path = joined.get(name.len() + 1..).unwrap_or_default().to_owned();
            self.source.git_ref = Some(name);
            self.tree = Tree::at(Some(path.as_str()).filter(|p| !p.is_empty()));
            self.chosen = !path.is_empty();
        }
    }
}

/// Returns the ref and path of a place as one string, in case the ref is longer than assumed.
pub(super) fn joined(place: &Place) -> Option<String> {
    let (git_ref, path) = (place.git_ref.as_deref()?, place.path.as_deref()?);
    (!path.is_empty()).then(|| format!("{git_ref}/{path}"))
}
