//! Stores the records in a folder: each write is on disk as a whole before it is answered.

use super::world::{Change, LAST_IDS, World};
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, StorageError, TableDefinition, TableError};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use system::{files, panics};

/// The name of the database file within a data folder.
const FILE: &str = "labscope.redb";
/// The name of the folder with the git repositories within a data folder.
pub const REPOSITORIES: &str = "repositories";

pub fn repository_path(repositories: &Path, project: u64) -> PathBuf {
    repositories.join(format!("{project}.git"))
}

/// A database with one table per kind of record, mapping IDs to JSON.
pub struct Store {
    database: Database,
    path: PathBuf,
}

/// A reason why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A folder that another process is using.
    #[error("the data folder {0} is in use by another labscope; stop that one, or choose another folder")]
    InUse(String),
    /// A file that is not as it was written.
    #[error("the data file {file} is damaged: {why}; restore it from a backup, or choose another folder")]
    Damaged { file: String, why: String },
    /// A folder that cannot be read or written.
    #[error("the data folder {folder} cannot be used: {why}")]
    Failed { folder: String, why: String },
}

impl Store {
    /// Opens or creates the store in a folder, and loads its records.
    ///
    /// # Errors
    /// Fails with [`StoreError::InUse`] while another process has it open, and otherwise if the file cannot be read or
    /// is damaged.
    pub fn open(folder: &Path) -> Result<(Store, World), StoreError> {
        let shown = folder.display().to_string();
        let failed = |why: String| StoreError::Failed { folder: shown.clone(), why };
        let path = folder.join(FILE);
        let file = make_private(folder, &path).map_err(|e| failed(e.to_string()))?;
        let damaged = |why: String| StoreError::Damaged { file: path.display().to_string(), why };
        // redb checks its file in many places, but not in all: some damage makes it panic.
        let opened = panics::catch(|| {
            let database = match Database::builder().create_file(file) {
                Ok(database) => database,
                Err(DatabaseError::DatabaseAlreadyOpen) => return Err(StoreError::InUse(shown.clone())),
                Err(DatabaseError::Storage(StorageError::Corrupted(why))) => return Err(damaged(why)),
                Err(other) => return Err(failed(other.to_string())),
            };
            let store = Store { database, path: path.clone() };
            let world = store.load().map_err(damaged)?;
            Ok((store, world))
        });
        opened.unwrap_or_else(|why| Err(damaged(why)))
    }

    fn load(&self) -> Result<World, String> {
        let text = |e: &dyn std::fmt::Display| e.to_string();
        let reading = self.database.begin_read().map_err(|e| text(&e))?;
        let mut world = World::default();
        for name in World::TABLES.iter().chain([&LAST_IDS]) {
            let table = match reading.open_table(definition(name)) {
                Ok(table) => table,
                Err(TableError::TableDoesNotExist(_)) => continue,
                Err(other) => return Err(text(&other)),
            };
            for row in table.iter().map_err(|e| text(&e))? {
                let (id, bytes) = row.map_err(|e| text(&e))?;
                world.load(name, id.value(), bytes.value()).map_err(|e| format!("{name}: {e}"))?;
            }
        }
        Ok(world)
    }

    /// Writes all changes atomically, and returns when they are on disk.
    pub fn commit(&self, changes: &[Change]) -> Result<(), String> {
        self.write(changes).map_err(|e| format!("{}: {e}", self.path.display()))
    }

    fn write(&self, changes: &[Change]) -> Result<(), redb::Error> {
        let writing = self.database.begin_write()?;
        for of_table in changes.chunk_by(|a, b| a.table == b.table) {
            let Some(first) = of_table.first() else { continue };
            let mut table = writing.open_table(definition(first.table))?;
            for change in of_table {
                match &change.row {
                    Some(row) => table.insert(change.id, row.as_slice())?,
                    None => table.remove(change.id)?,
                };
            }
        }
        writing.commit()?;
        Ok(())
    }
}

/// Creates the folder and the file if they do not exist, and makes them private, because they contain tokens.
///
/// A folder that also contains other files serves another purpose as well, and keeps its mode.
fn make_private(folder: &Path, file: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Created before the database writes to it, so that it is never readable by others.
    let opened = files::open(file, OpenOptions::new().read(true).write(true).mode(0o600))
        .map_err(|error| io::Error::new(error.kind(), format!("{FILE}: {error}")))?;
    let repositories = folder.join(REPOSITORIES);
    DirBuilder::new().recursive(true).mode(0o700).create(&repositories)?;
    if fs::symlink_metadata(&repositories)?.is_symlink() {
        return Err(io::Error::other(format!("{REPOSITORIES} is a symbolic link")));
    }
    let mut only_ours = true;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        only_ours &= name == FILE || name == REPOSITORIES;
    }
    let folder = only_ours.then_some((folder, 0o700));
    for (path, mode) in [(file, 0o600), (repositories.as_path(), 0o700)].into_iter().chain(folder) {
        let found = fs::metadata(path)?.permissions().mode();
        // Only the owner can change the mode of files that belong to another user.
        if found & 0o077 != 0
            && let Err(error) = fs::set_permissions(path, Permissions::from_mode(mode))
        {
            tracing::warn!("{} remains readable by others: {error}", path.display());
        }
    }
    Ok(opened)
}

fn definition(name: &str) -> TableDefinition<'_, u64, &'static [u8]> {
    TableDefinition::new(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::User;
    use crate::sample::length;

    #[test]
    fn committed_rows_survive_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        {
            let (store, mut world) = Store::open(folder.path()).unwrap();
            assert!(world.users.is_empty());
            world.users.add(User { username: "ada".into(), ..User::default() });
            world.users.add(User { username: "eve".into(), ..User::default() });
            store.commit(&world.take_changes()).unwrap();
            world.users.remove(2);
            store.commit(&world.take_changes()).unwrap();
        }
        let (_store, mut world) = Store::open(folder.path()).unwrap();
        assert_eq!(world.users.iter().map(|u| u.username.as_str()).collect::<Vec<_>>(), ["ada"]);
        assert_eq!(world.users.add(User::default()), 3);
    }

    #[test]
    fn damaged_data_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        {
            let (store, mut world) = Store::open(folder.path()).unwrap();
            for n in 0..300 {
                world.users.add(User { username: format!("user{n}"), ..User::default() });
            }
            store.commit(&world.take_changes()).unwrap();
            world.users.remove(2);
            store.commit(&world.take_changes()).unwrap();
        }
        let whole = fs::read(folder.path().join(FILE)).unwrap();
        let (mut reported, mut seed) = (0, 0x9e37_79b9_7f4a_7c15_u64);
        let mut below = |sides: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % sides
        };
        // The bytes that are not zero are where the structure is.
        let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
        for round in 0..length(60) {
            let mut bytes = whole.clone();
            for _ in 0..=below(3) {
                let at = if round % 3 == 0 { below(400) } else { used[below(used.len())] };
                bytes[at] = [0, 1, 0x7f, 0x80, 0xff, bytes[at].wrapping_add(1)][below(6)];
            }
            if round % 10 == 9 {
                bytes.truncate(below(bytes.len()));
            }
            let place = tempfile::tempdir().unwrap();
            fs::write(place.path().join(FILE), bytes).unwrap();
            // Damage in what is no longer used is not noticed.
            match Store::open(place.path()) {
                Ok((store, _)) => drop(panics::catch(|| drop(store))),
                Err(why) => {
                    assert!(why.to_string().starts_with("the data "), "{why}");
                    reported += 1;
                }
            }
        }
        assert!(reported > 0, "no damage was found");
    }

    #[test]
    fn stored_data_is_private() {
        let place = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let open = |folder: &Path| drop(Store::open(folder).unwrap());
        let folder = place.path().join("made");
        open(&folder);
        assert_eq!((mode(&folder), mode(&folder.join(FILE)), mode(&folder.join(REPOSITORIES))), (0o700, 0o600, 0o700));

        // As an earlier version would have left them.
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(folder.join(FILE), Permissions::from_mode(0o644)).unwrap();
        open(&folder);
        assert_eq!((mode(&folder), mode(&folder.join(FILE))), (0o700, 0o600));

        let shared = place.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::write(shared.join("notes.txt"), "of somebody").unwrap();
        fs::set_permissions(&shared, Permissions::from_mode(0o755)).unwrap();
        open(&shared);
        assert_eq!((mode(&shared), mode(&shared.join(FILE)), mode(&shared.join(REPOSITORIES))), (0o755, 0o600, 0o700));
    }

    #[test]
    fn symlinks_in_the_folder_are_not_followed() {
        for name in [FILE, REPOSITORIES] {
            let place = tempfile::tempdir().unwrap();
            let (folder, elsewhere) = (place.path().join("data"), place.path().join("elsewhere"));
            fs::create_dir(&folder).unwrap();
            if name == FILE {
                fs::write(&elsewhere, "").unwrap()
            } else {
                fs::create_dir(&elsewhere).unwrap()
            }
            std::os::unix::fs::symlink(&elsewhere, folder.join(name)).unwrap();
            let Err(error) = Store::open(&folder) else { panic!("{name} was followed") };
            assert!(error.to_string().contains(name) && error.to_string().ends_with("is a symbolic link"), "{error}");
            assert!(elsewhere.is_dir() || fs::read(&elsewhere).unwrap().is_empty());
        }
    }

    #[test]
    fn folder_in_use_is_rejected_with_a_message() {
        let folder = tempfile::tempdir().unwrap();
        let _first = Store::open(folder.path()).unwrap();
        let Err(second) = Store::open(folder.path()) else { panic!("opened twice") };
        assert!(matches!(second, StoreError::InUse(_)));
        assert!(second.to_string().contains("in use by another labscope"));
    }
}
