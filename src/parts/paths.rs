//! Completion of paths, of a branch and of the local file system.

use crate::api::Id;
use crate::api::local_file::{self, Unreadable};
use crate::api::repository::ListTree;
use crate::app::local_paths::{self, ListFolder, split};
use crate::app::overlay::prompt::Completions;
use crate::app::view::View;
use crate::store::{Canceled, Derive, Load, Want, Work};
use std::path::PathBuf;

/// The number of pages of a folder that are loaded for completion.
const MAX_PAGES: u32 = 5;

/// The paths of a branch.
pub struct BranchPaths {
    pub project: Id,
    pub branch: String,
}

impl BranchPaths {
    fn listing(&self, typed: &str) -> ListTree {
        let folder = split(typed).0.trim_end_matches('/');
        ListTree {
            id: self.project.clone(),
            path: Some(folder.to_owned()).filter(|folder| !folder.is_empty()),
            r#ref: Some(self.branch.clone()),
            ..ListTree::default()
        }
    }
}

impl Completions for BranchPaths {
    fn wants(&self, _view: &View, typed: &str) -> Vec<Want> {
        vec![Load::list(&self.listing(typed), MAX_PAGES).optional().into()]
    }

    fn complete(&self, view: &View, typed: &str) -> Vec<String> {
        let entries = view.store.list(&self.listing(typed));
        let fits = entries.iter().filter(|entry| entry.path.starts_with(typed));
        fits.map(|entry| if entry.is_folder() { format!("{}/", entry.path) } else { entry.path.clone() }).collect()
    }
}

/// The local paths; `~/` is the home directory.
pub struct LocalPaths;

/// Returns the local path for a typed one.
pub fn local(typed: &str) -> PathBuf {
    local_paths::path(if typed.is_empty() { "." } else { typed })
}

impl LocalPaths {
    fn listing(typed: &str) -> ListFolder {
        ListFolder { folder: split(typed).0.to_owned(), at: 0 }
    }
}

impl Completions for LocalPaths {
    fn wants(&self, _view: &View, typed: &str) -> Vec<Want> {
        vec![Work::new(LocalPaths::listing(typed)).into()]
    }

    fn complete(&self, view: &View, typed: &str) -> Vec<String> {
        let (folder, start) = split(typed);
        LocalPaths::listing(typed).names(view.store, start).map(|name| format!("{folder}{name}")).collect()
    }
}

/// A computation that reads a local file.
pub struct ReadFile {
    /// The path as it was typed.
    pub typed: String,
    /// A number that gives each read its own key.
    pub generation: u64,
    /// The maximum size in bytes; a larger file is not read.
    pub largest: u64,
}

/// Returns the key of the contents of a local file.
pub fn file_key(typed: &str, generation: u64) -> String {
    format!("file {typed} of this machine, {generation}")
}

impl Derive for ReadFile {
    type Output = Result<Vec<u8>, String>;

    fn key(&self) -> String {
        file_key(&self.typed, self.generation)
    }

    fn run(&self, _: Canceled<'_>) -> Result<Vec<u8>, String> {
        let path = local(&self.typed);
        local_file::read_named(&path, self.largest).map_err(|why| match why {
            Unreadable::Failed(e) => format!("{} cannot be read: {e}.", path.display()),
            Unreadable::NotAFile => format!("{} is not a file.", path.display()),
            Unreadable::TooLarge(length) => {
                let (size, most) = (crate::ui::text::bytes(length), crate::ui::text::bytes(self.largest));
                format!("{} is {size}, more than the limit of {most}.", path.display())
            }
        })
    }
}
