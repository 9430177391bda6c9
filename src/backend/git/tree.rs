//! Folders of a commit. Everything that reads trees does so within the bounds of a [`TreeBudget`]: a few small objects
//! can describe a tree that is nested without end, or that has more entries than any memory.

use super::{Git, lossy};
use crate::rejection::Rejection;
use api::repository::{EntryKind, TreeEntry as View};
use git2::{ObjectType, Oid, Tree, TreeEntry};
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum nesting depth of folders. File systems allow less, and git stops at the same depth; the author of a tree
/// can nest it arbitrarily deep.
const MAX_DEPTH: usize = 2_048;
/// The maximum number of entries that are read of a tree, or of the differences of two. Chromium has 500,000.
const MAX_ENTRIES: usize = 600_000;
/// The maximum length of all paths together, in bytes.
const MAX_PATH_BYTES: usize = 128 << 20;
/// The time that reading a tree may take.
const MAX_TIME: Duration = Duration::from_secs(30);
/// The maximum size of the object of a folder in bytes; an entry has about 40.
pub(super) const MAX_FOLDER_BYTES: usize = 64 << 20;

/// The entries of a folder, as far as they were read.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub entries: Vec<View>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// The rest of the bounds of a walk.
pub(super) struct TreeBudget {
    entries: usize,
    path_bytes: usize,
    /// The time until which folders are entered; `None` for a walk at the pace of its reader.
    end: Option<Instant>,
}

impl TreeBudget {
    pub fn new() -> TreeBudget {
        TreeBudget { entries: MAX_ENTRIES, path_bytes: MAX_PATH_BYTES, end: Some(Instant::now() + MAX_TIME) }
    }

    /// Returns whether a folder may be entered at that depth.
    ///
    /// # Errors
    /// Fails with 422 after the time for the whole tree.
    pub fn allows(&self, depth: usize) -> Result<bool, Rejection> {
        let is_late = self.end.is_some_and(|end| Instant::now() > end);
        if is_late { Err(Rejection::unprocessable("Reading the tree takes too long")) } else { Ok(depth < MAX_DEPTH) }
    }

    /// Takes an entry with a path of that length; `None` if the bounds are exceeded.
    pub fn take(&mut self, path_bytes: usize) -> Option<()> {
        self.entries = self.entries.checked_sub(1)?;
        self.path_bytes = self.path_bytes.checked_sub(path_bytes)?;
        Some(())
    }
}

impl Git {
    /// Reads the object of a folder.
    ///
    /// # Errors
    /// Fails with [`Rejection::damaged`] if it does not exist, is not a folder, or is too large.
    pub fn folder(&self, id: Oid) -> Result<Tree<'_>, Rejection> {
        self.check_size(id, MAX_FOLDER_BYTES)?;
        Ok(self.repo.find_tree(id)?)
    }

    /// Fails with 422 if a whole tree exceeds the bounds, for operations of libgit2 that have none.
    pub(super) fn check_tree(&self, id: Oid) -> Result<(), Rejection> {
        let mut walk = self.walk(&self.folder(id)?, true);
        while walk.next()?.is_some() {}
        if walk.is_cut { Err(Rejection::unprocessable("The tree is too large or nested too deeply")) } else { Ok(()) }
    }

    /// Lists the entries of a folder: folders, then files, then submodules; with `recursive`, also those of its
    /// subfolders. A path that is not a folder has no entries.
    pub fn list(&self, root: &Tree<'_>, path: &str, recursive: bool) -> Result<Listing, Rejection> {
        let names = self.raw_names(root, path);
        let mut folder = root.clone();
        for name in &names {
            let Some(id) = folder.get_name_bytes(name).filter(|e| e.kind() == Some(ObjectType::Tree)).map(|e| e.id())
            else {
                return Ok(Listing::default());
            };
            folder = self.folder(id)?;
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
        Ok(Listing { entries, is_cut: walk.is_cut })
    }

    /// Calls `add` with the size in bytes of each file of a tree, and with what `key` returns for its name. Files for which
    /// `key` returns nothing, and damaged ones, are left out.
    pub fn add_file_sizes<K>(
        &self,
        root: &Tree<'_>,
        key: &dyn Fn(&str) -> Option<K>,
        add: &mut dyn FnMut(K, usize),
    ) -> Result<(), Rejection> {
        let mut walk = self.walk(root, true);
        while let Some((_, entry)) = walk.next()? {
            if entry.kind() == Some(ObjectType::Blob)
                && let Some(key) = key(&lossy(entry.name_bytes()))
                && let Ok((size, _)) = self.header(entry.id())
            {
                add(key, size);
            }
        }
        Ok(())
    }

    /// Returns an iterator over a folder; with `deeper`, also over its subfolders.
    pub(super) fn walk<'g>(&'g self, folder: &Tree<'g>, deeper: bool) -> TreeWalk<'g> {
        let (open, budget) = (vec![(folder.clone(), 0, 0)], TreeBudget::new());
        TreeWalk { git: self, open, path: Vec::new(), next: None, deeper, budget, is_cut: false }
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
                // A file is the end of the path.
                let folder_id =
                    |entry: &TreeEntry<'_>| Some(entry.id()).filter(|_| entry.kind() == Some(ObjectType::Tree));
                next = match tree.get_name_bytes(&raw) {
                    Some(exact) => folder_id(&exact),
                    None => {
                        let is_it =
                            |entry: &TreeEntry<'_>| name.contains('\u{fffd}') && lossy(entry.name_bytes()) == name;
                        let found = tree.iter().find(is_it);
                        raw = found.as_ref().map_or(raw, |entry| entry.name_bytes().to_vec());
                        found.and_then(|entry| folder_id(&entry))
                    }
                };
            }
            folder = next.and_then(|id| self.folder(id).ok());
            out.push(raw);
        }
        out
    }

    /// Returns the mode and the ID of an entry of a folder; `None` also if it is not a folder. Does not parse the whole
    /// folder.
    pub(super) fn entry(&self, folder: Oid, name: &[u8]) -> Option<(u32, Oid)> {
        let odb = self.repo.odb().ok()?;
        let object = odb.read(folder).ok().filter(|object| object.kind() == ObjectType::Tree)?;
        let mut rest = object.data();
        // The format is mode, space, name, NUL, hash.
        while let Some(end) = memchr::memchr(0, rest) {
            let (entry, after) = rest.split_at_checked(end)?;
            let hash = after.get(1..21)?;
            let space = memchr::memchr(b' ', entry)?;
            if entry.get(space + 1..) == Some(name) {
                let mode = std::str::from_utf8(entry.get(..space)?).ok()?;
                return Some((u32::from_str_radix(mode, 8).ok()?, Oid::from_bytes(hash).ok()?));
            }
            rest = after.get(21..)?;
        }
        None
    }

    /// Returns whether the file at a path is executable.
    pub fn is_executable(&self, root: &Tree<'_>, path: &str) -> bool {
        root.get_path(Path::new(path)).is_ok_and(|entry| entry.filemode() == 0o100755)
    }

    /// Returns the hash and the bytes of a file; `None` if there is none at the path.
    ///
    /// # Errors
    /// Fails with 413 if the file is too large, and with [`Rejection::damaged`] if an object cannot be read.
    pub fn file(&self, root: &Tree<'_>, path: &str) -> Result<Option<(Oid, Vec<u8>)>, Rejection> {
        let mut at = Some((root.id(), Some(ObjectType::Tree)));
        for name in self.raw_names(root, path) {
            let Some((id, Some(ObjectType::Tree))) = at else { return Ok(None) };
            at = self.folder(id)?.get_name_bytes(&name).map(|entry| (entry.id(), entry.kind()));
        }
        match at {
            Some((id, Some(ObjectType::Blob))) => Ok(Some((id, self.read_blob(id)?.content().to_vec()))),
            _ => Ok(None),
        }
    }
}

/// A depth-first walk over the entries of a folder, parents before children. It leaves out what exceeds the bounds.
pub(super) struct TreeWalk<'g> {
    git: &'g Git,
    /// The open folders, the index of the next entry in each, and the length of the path to it.
    open: Vec<(Tree<'g>, usize, usize)>,
    /// The path of the current entry, relative to the start of the walk.
    path: Vec<u8>,
    /// The last visited entry, if it is a folder to descend into.
    next: Option<Oid>,
    deeper: bool,
    budget: TreeBudget,
    /// Whether something was left out.
    pub is_cut: bool,
}

impl TreeWalk<'_> {
    /// Removes the limit of time: the reader of an archive may be slow.
    pub fn at_any_pace(mut self) -> Self {
        self.budget.end = None;
        self
    }

    /// Returns the next entry and its path.
    ///
    /// # Errors
    /// Fails if a folder cannot be read, and with 499 after cancellation.
    pub fn next(&mut self) -> Result<Option<(Vec<u8>, TreeEntry<'static>)>, Rejection> {
        if let Some(id) = self.next.take() {
            if self.budget.allows(self.open.len())? {
                self.path.push(b'/');
                self.open.push((self.git.folder(id)?, 0, self.path.len()));
            } else {
                self.is_cut = true;
            }
        }
        self.git.stop.check()?;
        while let Some((folder, at, length)) = self.open.last_mut() {
            let Some(entry) = folder.get(*at) else {
                self.open.pop();
                continue;
            };
            *at += 1;
            self.path.truncate(*length);
            self.path.extend_from_slice(entry.name_bytes());
            if self.budget.take(self.path.len()).is_none() {
                self.is_cut = true;
                return Ok(None);
            }
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
        last_commit: None,
    }
}
