//! Folders of a commit.

use super::{Git, lossy};
use crate::api::repository::{EntryKind, TreeEntry};
use crate::backend::reject::Reject;
use git2::{ObjectType, Oid, Tree};

impl Git {
    /// The entries of a folder, folders first, then files, then submodules; all that is below, too, where
    /// `recursive`. A path that is no folder has none.
    pub fn list(&self, root: &Tree<'_>, path: &str, recursive: bool) -> Result<Vec<TreeEntry>, Reject> {
        let names = self.raw_names(root, path);
        let mut folder = root.clone();
        for name in &names {
            let Some(id) = folder.get_name_bytes(name).filter(|e| e.kind() == Some(ObjectType::Tree)).map(|e| e.id())
            else {
                return Ok(Vec::new());
            };
            folder = self.repo.find_tree(id)?;
        }
        let prefix: String = names.iter().map(|name| lossy(name) + "/").collect();
        let mut entries = Vec::new();
        self.collect(&folder, &prefix, recursive, &mut entries)?;
        let rank = |entry: &TreeEntry| match entry.r#type {
            EntryKind::Tree => 0,
            EntryKind::Blob => 1,
            _ => 2,
        };
        entries.sort_by_key(rank);
        Ok(entries)
    }

    fn collect(
        &self,
        folder: &Tree<'_>,
        prefix: &str,
        recursive: bool,
        out: &mut Vec<TreeEntry>,
    ) -> Result<(), Reject> {
        for entry in folder.iter() {
            let name = lossy(entry.name_bytes());
            let path = format!("{prefix}{name}");
            let kind = match entry.kind() {
                Some(ObjectType::Tree) => EntryKind::Tree,
                Some(ObjectType::Commit) => EntryKind::Commit,
                _ => EntryKind::Blob,
            };
            let deeper = recursive && kind == EntryKind::Tree;
            out.push(TreeEntry {
                id: entry.id().to_string(),
                name,
                r#type: kind,
                path: path.clone(),
                mode: format!("{:06o}", entry.filemode()),
            });
            if deeper {
                self.collect(&self.repo.find_tree(entry.id())?, &format!("{path}/"), true, out)?;
            }
        }
        Ok(())
    }

    /// The names on the way to `path` as the repository writes them: a name that is shown with replacement
    /// characters finds the one that it stands for.
    pub(super) fn raw_names(&self, root: &Tree<'_>, path: &str) -> Vec<Vec<u8>> {
        let mut folder = Some(root.clone());
        let mut out = Vec::new();
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            let mut raw = name.as_bytes().to_vec();
            let mut next: Option<Oid> = None;
            if let Some(tree) = &folder {
                let exact = tree.get_name_bytes(&raw).map(|entry| entry.id());
                let found = exact.or_else(|| {
                    let entry =
                        tree.iter().find(|entry| name.contains('\u{fffd}') && lossy(entry.name_bytes()) == name)?;
                    raw = entry.name_bytes().to_vec();
                    Some(entry.id())
                });
                next = found;
            }
            folder = next.and_then(|id| self.repo.find_tree(id).ok());
            out.push(raw);
        }
        out
    }

    /// The file of a path: its hash and bytes.
    pub fn file(&self, root: &Tree<'_>, path: &str) -> Option<(Oid, Vec<u8>)> {
        let mut id = root.id();
        for name in self.raw_names(root, path) {
            id = self.repo.find_tree(id).ok()?.get_name_bytes(&name)?.id();
        }
        let blob = self.repo.find_blob(id).ok()?;
        Some((id, blob.content().to_vec()))
    }
}
