//! The project and the ref of a repository tree.

use crate::api::Id;
use crate::api::repository::ListTree;

/// A repository tree: a project at a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub project: Id,
    /// The branch, tag or commit; `None` for the default branch.
    pub git_ref: Option<String>,
}

impl Source {
    /// Returns the request that lists a folder; the root is the empty path.
    pub fn listing(&self, folder: &str) -> ListTree {
        ListTree {
            id: self.project.clone(),
            path: Some(folder.to_owned()).filter(|p| !p.is_empty()),
            r#ref: self.git_ref.clone(),
            recursive: None,
        }
    }
}
