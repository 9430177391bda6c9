//! The files that differ between two trees, within the bounds of a tree budget. Folders are read as bytes and cached:
//! neighboring commits share most of them, and libgit2 would parse each again for each commit.

use super::Git;
use super::object::damaged;
use super::tree::{MAX_FOLDER_BYTES, TreeBudget};
use crate::rejection::Rejection;
use git2::{ObjectType, Oid};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

/// The maximum size in bytes of the cached folders.
const MAX_CACHED_BYTES: usize = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry<'f> {
    pub name: &'f [u8],
    /// The mode, as in [`std::os::unix::fs::MetadataExt::mode`].
    pub mode: u32,
    pub id: Oid,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Folder,
    File,
    Link,
    Module,
}

impl<'f> Entry<'f> {
    /// Parses the first entry of a folder and returns the rest; `None` at the end or if it is damaged.
    fn parse(folder: &'f [u8]) -> Option<(Entry<'f>, &'f [u8])> {
        let (mode, after) = folder.split_at_checked(memchr::memchr(b' ', folder)?)?;
        let (name, after) = after.get(1..)?.split_at_checked(memchr::memchr(0, after)?.checked_sub(1)?)?;
        let (id, rest) = after.get(1..)?.split_at_checked(20)?;
        let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
        Some((Entry { name, mode, id: Oid::from_bytes(id).ok()? }, rest))
    }

    pub fn kind(&self) -> Kind {
        match self.mode & 0o170_000 {
            0o040_000 => Kind::Folder,
            0o120_000 => Kind::Link,
            0o160_000 => Kind::Module,
            _ => Kind::File,
        }
    }

    /// Compares entries in git's order.
    fn order(&self, other: &Entry<'_>) -> Ordering {
        let end = |entry: &Entry<'_>| (entry.kind() == Kind::Folder).then_some(b'/');
        self.name.iter().copied().chain(end(self)).cmp(other.name.iter().copied().chain(end(other)))
    }
}

/// A pair of folders that are being compared, of which one may be missing.
struct OpenPair {
    old: Rc<[u8]>,
    new: Rc<[u8]>,
    /// The positions of the next entries.
    old_at: usize,
    new_at: usize,
    /// The length of the path to the folder.
    path: usize,
}

/// A file before and after a change; the path is relative to the roots.
pub(super) struct FileChange<'f> {
    pub path: &'f [u8],
    pub old: Option<Entry<'f>>,
    pub new: Option<Entry<'f>>,
}

/// Compares trees, and caches the folders that it has read.
pub(super) struct TreeComparison<'g> {
    git: &'g Git,
    folders: HashMap<Oid, Rc<[u8]>>,
    bytes: usize,
}

impl<'g> TreeComparison<'g> {
    pub fn new(git: &'g Git) -> TreeComparison<'g> {
        TreeComparison { git, folders: HashMap::new(), bytes: 0 }
    }

    /// Calls `visit` with the files that differ between two trees, by path, until it breaks. Returns whether all were
    /// visited: not if the bounds are exceeded.
    ///
    /// # Errors
    /// Fails if a folder cannot be read, and with 499 after cancellation.
    pub fn files(
        &mut self,
        old: Option<Oid>,
        new: Option<Oid>,
        visit: &mut dyn FnMut(FileChange<'_>) -> ControlFlow<()>,
    ) -> Result<bool, Rejection> {
        let (mut budget, mut is_complete, mut path) = (TreeBudget::new(), true, Vec::new());
        let mut open = vec![self.pair(old, new, 0)?];
        while let Some(pair) = open.last_mut() {
            let (old_folder, new_folder) = (pair.old.clone(), pair.new.clone());
            let next = |folder: &'_ [u8], at: usize| folder.get(at..).map_or(0, <[u8]>::len);
            let parsed = (
                old_folder.get(pair.old_at..).and_then(Entry::parse),
                new_folder.get(pair.new_at..).and_then(Entry::parse),
            );
            let rest = |parsed: &Option<(Entry<'_>, &[u8])>, folder: &[u8], at: usize| {
                parsed.as_ref().map_or(at, |(_, rest)| at + next(folder, at) - rest.len())
            };
            let (old_next, new_next) =
                (rest(&parsed.0, &old_folder, pair.old_at), rest(&parsed.1, &new_folder, pair.new_at));
            let (before, after) = (parsed.0.map(|(entry, _)| entry), parsed.1.map(|(entry, _)| entry));
            let order = match (&before, &after) {
                (None, None) => {
                    open.pop();
                    continue;
                }
                (Some(before), Some(after)) => before.order(after),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
            };
            let before = before.filter(|_| order.is_le());
            let after = after.filter(|_| order.is_ge());
            (pair.old_at, pair.new_at) = (
                if before.is_some() { old_next } else { pair.old_at },
                if after.is_some() { new_next } else { pair.new_at },
            );
            let Some(entry) = before.or(after).filter(|_| before != after) else { continue };
            path.truncate(pair.path);
            path.extend_from_slice(entry.name);
            if budget.take(path.len()).is_none() {
                return Ok(false);
            }
            if entry.kind() != Kind::Folder {
                if visit(FileChange { path: &path, old: before, new: after }).is_break() {
                    return Ok(false);
                }
                continue;
            }
            // Only the mode of the folder differs.
            let ids = (before.map(|entry| entry.id), after.map(|entry| entry.id));
            if ids.0 == ids.1 {
                continue;
            }
            self.git.stop.check()?;
            if !budget.allows(open.len())? {
                is_complete = false;
                continue;
            }
            path.push(b'/');
            open.push(self.pair(ids.0, ids.1, path.len())?);
        }
        Ok(is_complete)
    }

    fn pair(&mut self, old: Option<Oid>, new: Option<Oid>, path: usize) -> Result<OpenPair, Rejection> {
        Ok(OpenPair { old: self.folder(old)?, new: self.folder(new)?, old_at: 0, new_at: 0, path })
    }

    fn folder(&mut self, id: Option<Oid>) -> Result<Rc<[u8]>, Rejection> {
        let Some(id) = id else { return Ok(Rc::default()) };
        if let Some(known) = self.folders.get(&id) {
            return Ok(known.clone());
        }
        self.git.check_size(id, MAX_FOLDER_BYTES)?;
        let odb = self.git.repo().odb()?;
        let object = odb.read(id)?;
        if object.kind() != ObjectType::Tree {
            return Err(damaged(format!("{id} is not a folder")).into());
        }
        let bytes: Rc<[u8]> = object.data().into();
        self.bytes += bytes.len();
        if self.bytes > MAX_CACHED_BYTES {
            self.folders.clear();
            self.bytes = bytes.len();
        }
        self.folders.insert(id, bytes.clone());
        Ok(bytes)
    }
}
