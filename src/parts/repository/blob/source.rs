//! The project and the ref of a repository tree.

use crate::api::repository::ListTree;
use crate::api::{GitRef, Id};
use crate::app::view::View;

/// A repository tree: a project at a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeSource {
    pub project: Id,
    /// The branch, tag or commit; `None` for the default branch.
    pub git_ref: Option<GitRef>,
}

impl TreeSource {
    /// Returns the ref as it is requested.
    pub fn ref_name(&self) -> Option<String> {
        self.git_ref.as_ref().map(|name| name.as_str().to_owned())
    }

    /// Returns the request that lists a folder; the root is the empty path.
    pub fn listing(&self, folder: &str) -> ListTree {
        ListTree {
            id: self.project.clone(),
            path: Some(folder.to_owned()).filter(|p| !p.is_empty()),
            r#ref: self.ref_name(),
            ..ListTree::default()
        }
    }

    /// Returns the request that lists a folder with the last commit of each entry (since 19.4; older servers leave it out).
    pub fn listing_with_commits(&self, folder: &str) -> ListTree {
        ListTree { with_last_commit: Some(true), ..self.listing(folder) }
    }

    /// Returns the request for a folder whose reply is known or on its way, so that none is listed twice: the one with
    /// the last commits unless more entries are known without them.
    pub fn known_listing(&self, view: &View, folder: &str) -> ListTree {
        let (with_commits, listing) = (self.listing_with_commits(folder), self.listing(folder));
        let (rows, alone) = (view.store.list(&with_commits), view.store.list(&listing));
        let is_awaited = rows.is_loading() && rows.error.is_none() && !alone.is_loaded;
        if is_awaited || rows.is_loaded && rows.len() >= alone.len() { with_commits } else { listing }
    }
}
