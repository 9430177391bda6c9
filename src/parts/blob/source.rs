//! Whose files they are: the project and the ref that a tree is of.

use crate::api::Id;
use crate::api::repository::ListTree;

/// Whose tree it is: a project at a ref, the default branch where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub project: Id,
    pub git_ref: Option<String>,
}

impl Source {
    /// The listing of a folder; the root is the empty path.
    pub fn listing(&self, folder: &str) -> ListTree {
        ListTree {
            id: self.project.clone(),
            path: Some(folder.to_owned()).filter(|p| !p.is_empty()),
            r#ref: self.git_ref.clone(),
            recursive: None,
        }
    }
}
