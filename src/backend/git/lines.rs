//! Counts the lines that commits added and deleted. Neighboring commits share most of their folders, and each folder is
//! read only once for all of them; libgit2 would parse it again for each commit.

use super::Git;
use super::diff::MAX_FILE_BYTES;
use crate::backend::rejection::Rejection;
use git2::{Blob, DiffOptions, ObjectType, Oid, Patch};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum size in bytes of the cached folders.
const MAX_CACHED_BYTES: usize = 16 << 20;

/// A counter of the lines that commits change.
pub(super) struct LineCounter<'g> {
    git: &'g Git,
    folders: HashMap<Oid, Rc<[u8]>>,
    bytes: usize,
}

/// A blob before and after a change.
type Change = (Option<Oid>, Option<Oid>);

/// An entry of a folder.
#[derive(Clone, Copy, PartialEq)]
struct Entry<'f> {
    name: &'f [u8],
    kind: Kind,
    id: Oid,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Folder,
    File,
    Link,
    Module,
}

impl Entry<'_> {
    /// Compares entries in git's order.
    fn order(&self, other: &Entry<'_>) -> Ordering {
        let end = |entry: &Entry<'_>| (entry.kind == Kind::Folder).then_some(b'/');
        self.name.iter().copied().chain(end(self)).cmp(other.name.iter().copied().chain(end(other)))
    }
}

/// Parses the entries of a folder, up to the first damaged one.
fn entries(mut rest: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    std::iter::from_fn(move || {
        let (mode, after) = rest.split_at_checked(memchr::memchr(b' ', rest)?)?;
        let (name, after) = after.get(1..)?.split_at_checked(memchr::memchr(0, after)?.checked_sub(1)?)?;
        let (id, after) = after.get(1..)?.split_at_checked(20)?;
        rest = after;
        let kind = match mode {
            b"40000" | b"040000" => Kind::Folder,
            b"120000" => Kind::Link,
            b"160000" => Kind::Module,
            _ => Kind::File,
        };
        Some(Entry { name, kind, id: Oid::from_bytes(id).ok()? })
    })
}

impl<'g> LineCounter<'g> {
    pub fn new(git: &'g Git) -> LineCounter<'g> {
        LineCounter { git, folders: HashMap::new(), bytes: 0 }
    }

    /// Returns the numbers of lines that a commit added and deleted compared to its first parent.
    pub fn count(&mut self, id: Oid) -> Result<(u64, u64), Rejection> {
        let git = self.git;
        let (tree, parent) = git.raw_commit(id, |raw| (raw.tree, raw.parents.first().copied()))?;
        // A parent that is missing in a shallow clone counts as empty.
        let old = parent.filter(|id| git.has_commit(*id)).map(|id| git.raw_commit(id, |raw| raw.tree)).transpose()?;
        let Some(files) = self.changed_files(old, tree)? else { return git.diff_stats(id) };
        let mut lines = (0, 0);
        for change in files {
            git.stop.check()?;
            let (added, deleted) = self.changed_lines(change)?;
            lines = (lines.0 + added, lines.1 + deleted);
        }
        Ok(lines)
    }

    /// Returns the files that differ between two folders; `None` if there could be renames, or if an entry is a
    /// submodule or changes its type.
    fn changed_files(&mut self, old: Option<Oid>, new: Oid) -> Result<Option<Vec<Change>>, Rejection> {
        let (mut files, mut todo) = (Vec::new(), vec![(old, Some(new))]);
        let (mut has_added, mut has_deleted) = (false, false);
        while let Some((old, new)) = todo.pop() {
            self.git.stop.check()?;
            let (old, new) = (self.folder(old)?, self.folder(new)?);
            let (mut old, mut new) = (entries(&old).peekable(), entries(&new).peekable());
            loop {
                let order = match (old.peek(), new.peek()) {
                    (None, None) => break,
                    (Some(a), Some(b)) if a == b => {
                        old.next();
                        new.next();
                        continue;
                    }
                    (Some(a), Some(b)) => a.order(b),
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                };
                let before = if order.is_le() { old.next() } else { None };
                let after = if order.is_ge() { new.next() } else { None };
                let kinds = [before, after].map(|entry| entry.map(|entry| entry.kind));
                let ids = (before.map(|entry| entry.id), after.map(|entry| entry.id));
                match kinds {
                    [Some(Kind::Module), _] | [_, Some(Kind::Module)] => return Ok(None),
                    [Some(before), Some(after)] if before != after => return Ok(None),
                    // Only the mode differs.
                    _ if ids.0 == ids.1 => continue,
                    [Some(Kind::Folder), _] | [_, Some(Kind::Folder)] => {
                        todo.push(ids);
                        continue;
                    }
                    _ => files.push(ids),
                }
                has_added |= before.is_none();
                has_deleted |= after.is_none();
                if has_added && has_deleted {
                    return Ok(None);
                }
            }
        }
        Ok(Some(files))
    }

    /// Returns the bytes of a folder.
    fn folder(&mut self, id: Option<Oid>) -> Result<Rc<[u8]>, Rejection> {
        let Some(id) = id else { return Ok(Rc::default()) };
        if let Some(known) = self.folders.get(&id) {
            return Ok(known.clone());
        }
        let odb = self.git.repo().odb()?;
        let object = odb.read(id)?;
        if object.kind() != ObjectType::Tree {
            return Err(Rejection::internal_error("the object is not a tree"));
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

    /// Returns the numbers of lines added and deleted between two blobs, of which one may be missing.
    fn changed_lines(&self, (old, new): Change) -> Result<(u64, u64), Rejection> {
        let find = |id: Option<Oid>| id.map(|id| self.git.repo().find_blob(id)).transpose();
        let (old, new) = (find(old)?, find(new)?);
        let is_large = |blob: &Option<Blob<'_>>| blob.as_ref().is_some_and(|b| b.size() as u64 > MAX_FILE_BYTES as u64);
        if is_large(&old) || is_large(&new) {
            return Ok((0, 0));
        }
        let mut options = DiffOptions::new();
        options.context_lines(0);
        let options = Some(&mut options);
        let (patch, is_turned) = match (&old, &new) {
            (Some(old), Some(new)) => (Patch::from_blobs(old, None, new, None, options)?, false),
            (Some(one), None) | (None, Some(one)) => {
                (Patch::from_blob_and_buffer(one, None, &[], None, options)?, old.is_none())
            }
            (None, None) => return Ok((0, 0)),
        };
        let (_, added, deleted) = patch.line_stats()?;
        let (added, deleted) = (added as u64, deleted as u64);
        Ok(if is_turned { (deleted, added) } else { (added, deleted) })
    }
}
