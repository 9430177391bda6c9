//! Updates of repositories that are applied after the records of the same write are on disk.

use super::records::RefUpdate;
use super::store::repository_path;
use git2::{Oid, Repository};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The beginning of the names of folders with pushed objects that are not accepted yet, as git names them.
pub const QUARANTINE: &str = "tmp_objdir-incoming-";

/// The number of updates of refs from which they are applied together.
const MANY: usize = 20;

/// The ref updates of a write, in order; shared with the repositories that it opens.
#[derive(Clone, Debug, Default)]
pub struct RefUpdates(Arc<Mutex<PlannedUpdates>>);

#[derive(Debug, Default)]
struct PlannedUpdates {
    all: Vec<RefUpdate>,
    /// The targets of the refs, by project and name.
    targets: HashMap<u64, HashMap<String, Option<Oid>>>,
}

impl RefUpdates {
    fn planning(&self) -> MutexGuard<'_, PlannedUpdates> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn push(&self, ref_update: RefUpdate) {
        let mut planned = self.planning();
        if let RefUpdate::Ref { project, name, to, .. } = &ref_update {
            let to = to.as_ref().and_then(|id| Oid::from_str(id).ok());
            planned.targets.entry(*project).or_default().insert(name.clone(), to);
        }
        planned.all.push(ref_update);
    }

    /// Removes and returns all updates.
    pub fn take(&self) -> Vec<RefUpdate> {
        std::mem::take(&mut *self.planning()).all
    }

    /// Returns the planned target of a ref: `None` if there is no update for it, `Some(None)` if it will be deleted.
    pub fn planned(&self, of: u64, ref_name: &str) -> Option<Option<Oid>> {
        self.planning().targets.get(&of)?.get(ref_name).copied()
    }
}

/// Returns the update that undoes another one, or [`RefUpdate::Nothing`]: a removed repository cannot be restored.
pub fn inverse(ref_update: &RefUpdate) -> RefUpdate {
    match ref_update.clone() {
        RefUpdate::Ref { project, name, from, to } => RefUpdate::Ref { project, name, from: to, to: from },
        _ => RefUpdate::Nothing,
    }
}

/// Applies an update. An update that has been applied before changes nothing, so it can be repeated after a restart.
pub fn apply(ref_update: &RefUpdate, repositories: &Path) -> Result<(), git2::Error> {
    let open = |project: &u64| Repository::open_bare(repository_path(repositories, *project));
    match ref_update {
        RefUpdate::Nothing => Ok(()),
        RefUpdate::Ref { project, name, from, to } => {
            let id = |text: &Option<String>| text.as_ref().map(|text| Oid::from_str(text)).transpose();
            set_ref(&open(project)?, name, id(from)?, id(to)?)
        }
        RefUpdate::Head { project, branch } => open(project)?.set_head(&format!("refs/heads/{branch}")),
        RefUpdate::Remove { project } => {
            let path = repository_path(repositories, *project);
            match std::fs::remove_dir_all(&path) {
                Err(error) if path.exists() => Err(git2::Error::from_str(&error.to_string())),
                _ => Ok(()),
            }
        }
    }
}

/// Applies updates in order, many of the refs of a repository together.
///
/// # Errors
/// Returns the number of the updates of which some may have been applied, and the reason.
pub fn apply_all(ref_updates: &[RefUpdate], repositories: &Path) -> Result<(), (usize, git2::Error)> {
    let project = |ref_update: &RefUpdate| match ref_update {
        RefUpdate::Ref { project, .. } => Some(*project),
        _ => None,
    };
    let mut tried = 0;
    for part in ref_updates.chunk_by(|one, next| project(one).is_some() && project(one) == project(next)) {
        tried += part.len();
        let together = part.first().and_then(project).filter(|_| part.len() >= MANY);
        let applied = match together {
            Some(project) => apply_together(part, &repository_path(repositories, project)),
            None => part.iter().try_for_each(|ref_update| apply(ref_update, repositories)),
        };
        applied.map_err(|why| (tried, why))?;
    }
    Ok(())
}

/// Applies updates of the refs of one repository.
fn apply_together(ref_updates: &[RefUpdate], repository: &Path) -> Result<(), git2::Error> {
    let id = |text: &Option<String>| text.as_ref().map(|text| Oid::from_str(text)).transpose();
    let changes: Result<Vec<_>, git2::Error> = ref_updates
        .iter()
        .filter_map(|ref_update| match ref_update {
            RefUpdate::Ref { name, from, to, .. } => Some((name, from, to)),
            _ => None,
        })
        .map(|(name, from, to)| Ok((name.as_str(), id(from)?, id(to)?)))
        .collect();
    super::git::update_refs(&Repository::open_bare(repository)?, &changes?)
}

/// Updates a ref, unless it has the new target already.
///
/// # Errors
/// Fails if it has neither the old nor the new target.
pub fn set_ref(repo: &Repository, name: &str, from: Option<Oid>, to: Option<Oid>) -> Result<(), git2::Error> {
    let found = super::git::find_ref(repo, name);
    let now = found.as_ref().and_then(git2::Reference::target);
    if now == to {
        return Ok(());
    }
    if now != from {
        return Err(changed(name));
    }
    match (to, found) {
        (Some(id), _) => repo.reference(name, id, true, "").map(drop),
        (None, Some(mut found)) => found.delete(),
        (None, None) => Ok(()),
    }
}

/// Returns the error of a ref that has neither the old nor the new target.
pub fn changed(name: &str) -> git2::Error {
    git2::Error::from_str(&format!("{name} was changed in the meantime"))
}

/// Removes leftovers of a killed server from its repositories: stale lock files, and unfinished objects.
pub fn clean_up(repositories: &Path) -> std::io::Result<()> {
    let is_lock = |name: &[u8]| name.ends_with(b".lock");
    let is_unfinished = |name: &[u8]| name.starts_with(b"tmp_object_git2_") || name.starts_with(b"pack_git2_");
    let is_quarantine = |name: &[u8]| name.starts_with(QUARANTINE.as_bytes());
    for entry in std::fs::read_dir(repositories)? {
        let path = entry?.path();
        remove_files(&path, false, is_lock)?;
        remove_files(&path.join("refs"), true, is_lock)?;
        remove_files(&path.join("objects"), false, is_unfinished)?;
        remove_files(&path.join("objects/pack"), false, is_unfinished)?;
        remove_folders(&path.join("objects"), is_quarantine)?;
    }
    Ok(())
}

fn remove_files(folder: &Path, deeper: bool, is_left: fn(&[u8]) -> bool) -> std::io::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            if deeper {
                remove_files(&entry.path(), true, is_left)?;
            }
        } else if is_left(entry.file_name().as_encoded_bytes()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn remove_folders(folder: &Path, is_left: fn(&[u8]) -> bool) -> std::io::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() && is_left(entry.file_name().as_encoded_bytes()) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_can_be_repeated_and_moved_refs_stay() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(folder.path().join("1.git")).unwrap();
        let [a, b] = [b"a", b"b"].map(|bytes| repo.blob(bytes).unwrap());
        let ref_update = |from: Option<Oid>, to: Option<Oid>| {
            let text = |id: Oid| id.to_string();
            let name = "refs/tags/x".to_owned();
            apply(&RefUpdate::Ref { project: 1, name, from: from.map(text), to: to.map(text) }, folder.path())
        };
        ref_update(None, Some(a)).unwrap();
        ref_update(None, Some(a)).unwrap();
        assert!(ref_update(None, Some(b)).unwrap_err().message().contains("changed in the meantime"));
        ref_update(Some(a), None).unwrap();
        ref_update(Some(a), None).unwrap();
        std::fs::write(folder.path().join("1.git/refs/tags/x.lock"), "").unwrap();
        assert!(ref_update(None, Some(b)).is_err());
        clean_up(folder.path()).unwrap();
        ref_update(None, Some(b)).unwrap();
        apply(&RefUpdate::Remove { project: 1 }, folder.path()).unwrap();
        apply(&RefUpdate::Remove { project: 1 }, folder.path()).unwrap();
    }

    #[test]
    fn only_unfinished_objects_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init_bare(folder.path().join("1.git")).unwrap();
        let blob = repo.blob(b"whole").unwrap();
        let objects = folder.path().join("1.git/objects");
        let unfinished = ["tmp_object_git2_0a1b2c", "pack/pack_git2_0a1b2c"].map(|name| objects.join(name));
        let quarantine = objects.join("tmp_objdir-incoming-x/pack");
        std::fs::create_dir_all(&quarantine).unwrap();
        // Temporary packs of stock git are left alone.
        let others = ["pack/tmp_pack_x", "pack/pack-1.pack"].map(|name| objects.join(name));
        unfinished.iter().chain(&others).for_each(|path| std::fs::write(path, "half").unwrap());
        clean_up(folder.path()).unwrap();
        assert!(unfinished.iter().all(|path| !path.exists()) && !quarantine.exists());
        assert!(others.iter().all(|path| path.exists()));
        assert_eq!(repo.find_blob(blob).unwrap().content(), b"whole");
    }
}
