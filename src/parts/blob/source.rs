//! The project and the ref of a repository tree.

use crate::api::repository::ListTree;
use crate::api::{GitRef, Id};

/// A repository tree: a project at a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub project: Id,
    /// The branch, tag or commit; `None` for the default branch.
    pub git_ref: Option<GitRef>,
}

impl Source {
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

    /// Returns the request that lists a folder with the last commit of each entry, which takes servers longer.
    pub fn listing_with_commits(&self, folder: &str) -> ListTree {
        ListTree { with_last_commit: Some(true), ..self.listing(folder) }
    }
}
