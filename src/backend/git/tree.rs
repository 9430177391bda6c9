//! Folders of a commit.

use super::{Git, lossy};
use crate::api::repository::{EntryKind, TreeEntry as View};
use crate::backend::rejection::Rejection;
use git2::{ObjectType, Oid, Tree, TreeEntry};

impl Git {
    /// Lists the entries of a folder: folders, then files, then submodules; with `recursive`, also those of its
    /// subfolders. A path that is not a folder has no entries.
    pub fn list(&self, root: &Tree<'_>, path: &str, recursive: bool) -> Result<Vec<View>, Rejection> {
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
        let mut walk = self.walk(&folder, recursive);
        while let Some((path, entry)) = walk.next()? {
            entries.push(to_view(&prefix, &path, &entry));
        }
        let rank = |entry: &View| match entry.r#type {
            EntryKind::Tree => 0,
            EntryKind::Blob => 1,
            _ => 2,
        };
        entries.sort_by_key(rank);
        Ok(entries)
    }

    /// Returns an iterator over a folder; with `deeper`, also over its subfolders.
    pub(super) fn walk<'g>(&'g self, folder: &Tree<'g>, deeper: bool) -> TreeWalk<'g> {
        TreeWalk { git: self, open: vec![(folder.clone(), 0, 0)], path: Vec::new(), next: None, deeper }
    }

    /// Returns the components of `path` as the repository spells them: a name displayed with replacement characters
    /// matches the original one.
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

    /// Returns the ID of an entry of a folder; `None` also if it is not a folder. Does not parse the whole folder.
    pub(super) fn entry_id(&self, folder: Oid, name: &[u8]) -> Option<Oid> {
        let odb = self.repo.odb().ok()?;
        let object = odb.read(folder).ok().filter(|object| object.kind() == ObjectType::Tree)?;
        let mut rest = object.data();
        // The format is mode, space, name, NUL, hash.
        while let Some(end) = memchr::memchr(0, rest) {
            let (entry, after) = rest.split_at_checked(end)?;
            let hash = after.get(1..21)?;
            let space = memchr::memchr(b' ', entry)?;
            if entry.get(space + 1..) == Some(name) {
                return Oid::from_bytes(hash).ok();
            }
            rest = after.get(21..)?;
        }
        None
    }

    /// Returns the hash and the bytes of a file.
    pub fn file(&self, root: &Tree<'_>, path: &str) -> Option<(Oid, Vec<u8>)> {
        let mut id = root.id();
        for name in self.raw_names(root, path) {
            id = self.repo.find_tree(id).ok()?.get_name_bytes(&name)?.id();
        }
        let blob = self.repo.find_blob(id).ok()?;
        Some((id, blob.content().to_vec()))
    }
}

/// The maximum nesting depth of folders. File systems allow less, and git stops at the same depth; the author of a tree
/// can nest it arbitrarily deep.
const MAX_DEPTH: usize = 2_048;

/// A depth-first walk over the entries of a folder, parents before children.
pub(super) struct TreeWalk<'g> {
    git: &'g Git,
    /// The open folders, the index of the next entry in each, and the length of the path to it.
    open: Vec<(Tree<'g>, usize, usize)>,
    /// The path of the current entry, relative to the start of the walk.
    path: Vec<u8>,
    /// The last visited entry, if it is a folder to descend into.
    next: Option<Oid>,
    deeper: bool,
}

impl TreeWalk<'_> {
    /// Returns the next entry and its path.
    ///
    /// # Errors
    /// Fails if a folder is missing or nested too deep, and with 499 after cancellation.
    pub fn next(&mut self) -> Result<Option<(Vec<u8>, TreeEntry<'static>)>, Rejection> {
        if let Some(id) = self.next.take() {
            self.git.stop.check()?;
            if self.open.len() == MAX_DEPTH {
                return Err(Rejection::unprocessable("The tree is nested too deeply"));
            }
            self.path.push(b'/');
            self.open.push((self.git.repo.find_tree(id)?, 0, self.path.len()));
        }
        while let Some((folder, at, length)) = self.open.last_mut() {
            let Some(entry) = folder.get(*at) else {
                self.open.pop();
                continue;
            };
            *at += 1;
            self.path.truncate(*length);
            self.path.extend_from_slice(entry.name_bytes());
            self.next = (self.deeper && entry.kind() == Some(ObjectType::Tree)).then(|| entry.id());
            return Ok(Some((self.path.clone(), entry.to_owned())));
        }
        Ok(None)
    }
}

fn to_view(prefix: &str, path: &[u8], entry: &TreeEntry<'_>) -> View {
    View {
        id: entry.id().to_string(),
        name: lossy(entry.name_bytes()),
        r#type: match entry.kind() {
            Some(ObjectType::Tree) => EntryKind::Tree,
            Some(ObjectType::Commit) => EntryKind::Commit,
            _ => EntryKind::Blob,
        },
        path: format!("{prefix}{}", lossy(path)),
        mode: format!("{:06o}", entry.filemode()),
    }
}
