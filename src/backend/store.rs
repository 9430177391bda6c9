//! Keeps the records in a folder: each write is on disk, whole, before it is answered.

use super::world::{Change, LAST, World};
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition, TableError};
use std::path::{Path, PathBuf};

/// The file of the records within a data folder.
const FILE: &str = "labscope.redb";

/// A database of one table a kind, number to JSON.
pub struct Store {
    database: Database,
    path: PathBuf,
}

/// Why a data folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has it.
    #[error("the data folder {0} is in use by another labscope; stop that one, or choose another folder")]
    InUse(String),
    /// It cannot be read or written.
    #[error("the data folder {folder} cannot be used: {why}")]
    Failed { folder: String, why: String },
}

impl Store {
    /// Opens or makes the store of a folder, and reads what it holds.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while another process has it open; otherwise what the disk or the file's damage says.
    pub fn open(folder: &Path) -> Result<(Store, World), StoreError> {
        let shown = folder.display().to_string();
        let failed = |why: String| StoreError::Failed { folder: shown.clone(), why };
        std::fs::create_dir_all(folder).map_err(|e| failed(e.to_string()))?;
        let path = folder.join(FILE);
        let database = match Database::create(&path) {
            Ok(database) => database,
            Err(DatabaseError::DatabaseAlreadyOpen) => return Err(StoreError::InUse(shown.clone())),
            Err(other) => return Err(failed(other.to_string())),
        };
        let store = Store { database, path };
        let world = store.load().map_err(failed)?;
        Ok((store, world))
    }

    fn load(&self) -> Result<World, String> {
        let text = |e: &dyn std::fmt::Display| e.to_string();
        let reading = self.database.begin_read().map_err(|e| text(&e))?;
        let mut world = World::default();
        for name in World::TABLES.iter().chain([&LAST]) {
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

    /// Writes all changes or none, and returns when they are on disk.
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

fn definition(name: &str) -> TableDefinition<'_, u64, &'static [u8]> {
    TableDefinition::new(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::records::User;

    #[test]
    fn what_was_committed_is_there_again_and_what_was_removed_is_not() {
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
    fn a_folder_in_use_is_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let _first = Store::open(folder.path()).unwrap();
        let Err(second) = Store::open(folder.path()) else { panic!("opened twice") };
        assert!(matches!(second, StoreError::InUse(_)));
        assert!(second.to_string().contains("in use by another labscope"));
    }
}
