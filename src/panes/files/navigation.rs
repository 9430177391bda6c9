//! Ways to a file: folders that stay open from day to day, files opened lately, finding by letters, and addresses that
//! do not say where their ref ends.

use super::find::Finder;
use super::tree::Tree;
use super::{Files, TREE};
use crate::api::branches::ListBranches;
use crate::api::tags::ListTags;
use crate::app::action::Action;
use crate::app::pane::{Cx, View};
use crate::app::place::Place;
use crate::app::state::{MOST_PATHS, RecentProject, RecentsChange};
use crate::parts::project;

impl Files {
    /// Opens or closes a folder, also for the next time.
    pub(super) fn fold(&mut self, path: &str, open: bool, cx: &mut Cx) {
        self.reopened = true;
        self.tree.set_open(path, open);
        self.keep_folders(cx);
    }

    /// Remembers which folders are open.
    pub(super) fn keep_folders(&self, cx: &mut Cx) {
        let folders = self.tree.open_folders().take(MOST_PATHS).map(str::to_owned).collect();
        cx.act(Action::Recents(RecentsChange::OpenFolders { project: self.project(), folders }));
    }

    /// The file in view is the one opened last.
    pub(super) fn remember(&mut self, cx: &mut Cx) {
        let Some(file) = self.blob.file() else { return };
        cx.act(Action::Recents(RecentsChange::OpenFile { project: self.project(), path: file.path.clone() }));
    }

    /// The project, as its recent files are kept.
    fn project(&self) -> String {
        self.source.project.as_str().to_owned()
    }

    /// Returns what was open in this project.
    pub(super) fn recent<'a>(&self, view: &View<'a>) -> Option<&'a RecentProject> {
        view.recents.project(self.source.project.as_str())
    }

    pub(super) fn find(&mut self, cx: &mut Cx) {
        let recent = self.recent(&cx.view).map(|recent| recent.files.clone()).unwrap_or_default();
        let finder = Finder::new(self.source.clone(), recent, &cx.view);
        cx.act(Action::Open(Box::new(finder)));
    }

    /// The folder that the file or row is in.
    pub(super) fn above(&mut self, _cx: &mut Cx) {
        self.panels.set_focus(TREE);
        self.tree.select_above();
        self.tree.forget_missing();
        self.tree_moved();
    }

    /// Returns where refs that an address may mean are listed.
    pub(super) fn refs(&self) -> Option<(ListBranches, ListTags)> {
        let first = self.joined.as_ref()?.split('/').next()?.to_owned();
        let id = self.source.project.clone();
        Some((ListBranches { id: id.clone(), search: Some(first) }, ListTags { id, order_by: None, sort: None }))
    }

    /// An address does not say where its ref ends and its path begins: the first name is taken for the ref, and where
    /// there is none of that name, the longest that the address begins with.
    pub(super) fn part(&mut self, view: &View) {
        if view.store.list(&self.root()).known {
            self.joined = None;
        }
        let Some(((branches, tags), joined)) = self.refs().zip(self.joined.clone()) else { return };
        if !project::is_missing(view, &self.root()) {
            return;
        }
        let (branches, tags) = (view.store.list(&branches), view.store.list(&tags));
        if !((branches.known || branches.error.is_some()) && (tags.known || tags.error.is_some())) {
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

/// The ref and the path of a place as they stand in an address, where the ref may end elsewhere.
pub(super) fn joined(place: &Place) -> Option<String> {
    let (git_ref, path) = (place.git_ref.as_deref()?, place.path.as_deref()?);
    (!path.is_empty()).then(|| format!("{git_ref}/{path}"))
}
