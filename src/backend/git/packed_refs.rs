//! Updates many refs of a repository at once. Each loose ref is a file, and a search for refs in the way reads all of them;
//! `packed-refs` is one file, which is replaced as a whole.

use super::local::push_hex;
use super::object::id_of;
use super::refs::{MAX_PACKED_REFS, PACKED_REFS};
use super::{find_ref, lossy};
use crate::ref_updates::{changed, set_ref};
use git2::{Error, ObjectType, Oid, Repository};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use system::files;

/// The first line of the file: it has the peeled object of each tag, and is sorted.
pub(super) const HEADER: &[u8] = b"# pack-refs with: peeled fully-peeled sorted \n";
/// The word of that line for files that have the peeled object of each tag.
const FULLY_PEELED: &[u8] = b"fully-peeled";

/// An update of a ref: its full name, and its target before and after.
pub type Update<'u> = (&'u str, Option<Oid>, Option<Oid>);

/// The refs in the file: their targets, and the objects that tags lead to.
type PackedRefs = BTreeMap<Vec<u8>, (Oid, Option<Oid>)>;

/// Updates refs, except those that have the new target already. Refs that exist as files stay files.
///
/// # Errors
/// Fails if a ref has neither its old nor its new target, and if another program updates `packed-refs`. Nothing has changed
/// then, unless a file of a ref is locked, too.
pub fn update(repo: &Repository, updates: &[Update]) -> Result<(), Error> {
    let failed = |why: io::Error| Error::from_str(&format!("{PACKED_REFS} cannot be updated: {why}"));
    let mut lock = Lock::new(repo.path()).map_err(failed)?;
    let mut packed = read(repo).map_err(failed)?;
    let mut loose = Vec::new();
    for (name, from, to) in updates {
        let found = find_ref(repo, name);
        let now = found.as_ref().and_then(git2::Reference::target);
        if now == *to {
            continue;
        }
        if now != *from {
            return Err(changed(name));
        }
        let name = found.map_or_else(|| name.as_bytes().to_vec(), |found| found.name_bytes().to_vec());
        let is_loose = repo.path().join(lossy(&name)).is_file();
        match to {
            Some(id) if !is_loose => _ = packed.insert(name.clone(), (*id, peel(repo, *id))),
            Some(_) => {}
            None => _ = packed.remove(&name),
        }
        if is_loose {
            loose.push((lossy(&name), *from, *to));
        }
    }
    lock.replace(&packed).map_err(failed)?;
    loose.iter().try_for_each(|(name, from, to)| match to {
        // What was packed is gone by now, and must not come back as an older target.
        None => find_ref(repo, name).map_or(Ok(()), |mut found| found.delete()),
        Some(_) => set_ref(repo, name, *from, *to),
    })
}

/// Returns what a tag leads to; `None` for other objects.
fn peel(repo: &Repository, id: Oid) -> Option<Oid> {
    let object = repo.find_object(id, None).ok()?;
    object.as_tag()?;
    object.peel(ObjectType::Any).ok().map(|object| object.id())
}

/// Reads the file; an absent one is empty.
fn read(repo: &Repository) -> io::Result<PackedRefs> {
    let mut bytes = Vec::new();
    match files::open_regular(&repo.path().join(PACKED_REFS)) {
        Ok(file) => _ = file.take(MAX_PACKED_REFS).read_to_end(&mut bytes)?,
        Err(why) if why.kind() == io::ErrorKind::NotFound => {}
        Err(why) => return Err(why),
    }
    let invalid = || io::Error::other("it has a line that is none of a ref");
    let (mut packed, mut last, mut is_peeled) = (PackedRefs::new(), Vec::new(), false);
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match line.split_first() {
            Some((b'#', rest)) => is_peeled |= rest.split(u8::is_ascii_whitespace).any(|word| word == FULLY_PEELED),
            Some((b'^', id)) => {
                let peeled = id_of(id.trim_ascii_end()).ok_or_else(invalid)?;
                packed.get_mut(&last).ok_or_else(invalid)?.1 = Some(peeled);
            }
            _ => {
                let (id, name) = line.split_at_checked(40).ok_or_else(invalid)?;
                last = name.strip_prefix(b" ").ok_or_else(invalid)?.trim_ascii_end().to_vec();
                packed.insert(last.clone(), (id_of(id).ok_or_else(invalid)?, None));
            }
        }
    }
    if !is_peeled {
        packed.values_mut().for_each(|(id, peeled)| *peeled = peeled.take().or_else(|| peel(repo, *id)));
    }
    Ok(packed)
}

/// Adds the line of a ref.
pub(super) fn push_line(out: &mut Vec<u8>, name: &[u8], id: Oid, peeled: Option<Oid>) {
    push_hex(out, id);
    out.push(b' ');
    out.extend_from_slice(name);
    out.push(b'\n');
    if let Some(peeled) = peeled {
        out.push(b'^');
        push_hex(out, peeled);
        out.push(b'\n');
    }
}

/// The lock of the file, as git and libgit2 take it; it is given back when this is dropped.
struct Lock {
    file: File,
    path: PathBuf,
    is_replaced: bool,
}

impl Lock {
    fn new(repository: &Path) -> io::Result<Lock> {
        let path = repository.join(PACKED_REFS).with_extension("lock");
        Ok(Lock { file: File::create_new(&path)?, path, is_replaced: false })
    }

    /// Replaces the file.
    fn replace(&mut self, packed: &PackedRefs) -> io::Result<()> {
        let mut bytes = HEADER.to_vec();
        packed.iter().for_each(|(name, (id, peeled))| push_line(&mut bytes, name, *id, *peeled));
        self.file.write_all(&bytes)?;
        fs::rename(&self.path, self.path.with_extension(""))?;
        self.is_replaced = true;
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The lock of somebody else may be there after the file was replaced.
        if !self.is_replaced {
            let _ = fs::remove_file(&self.path);
        }
    }
}
