//! Counts the open repositories. A read that never ends, such as of a file on a network that is gone, keeps its thread: it must
//! not take the threads of all other requests.

use crate::rejection::Rejection;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of handles of one repository, and of all together: a quarter and half of the threads that requests
/// have.
const MAX_OF_ONE: usize = 128;
const MAX: usize = 256;

/// The number of handles by repository.
static OPEN: Mutex<Option<HashMap<PathBuf, usize>>> = Mutex::new(None);

fn all() -> MutexGuard<'static, Option<HashMap<PathBuf, usize>>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A handle of a repository; it is counted until it is dropped.
pub struct Handle(PathBuf);

impl Handle {
    /// Counts a handle of the repository at `path`.
    ///
    /// # Errors
    /// Fails with 503 if there are too many.
    pub fn new(path: &Path) -> Result<Handle, Rejection> {
        let mut all = all();
        let all = all.get_or_insert_default();
        if all.values().sum::<usize>() >= MAX || all.get(path).is_some_and(|count| *count >= MAX_OF_ONE) {
            return Err(Rejection::busy());
        }
        *all.entry(path.to_owned()).or_default() += 1;
        Ok(Handle(path.to_owned()))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut all = all();
        let all = all.get_or_insert_default();
        if let Some(count) = all.get_mut(&self.0) {
            *count = count.saturating_sub(1);
        }
        all.retain(|_, count| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_does_not_take_all_threads() {
        let (one, other) = (Path::new("/none/1.git"), Path::new("/none/2.git"));
        let mut handles: Vec<Handle> = (0..MAX_OF_ONE).map(|_| Handle::new(one).unwrap()).collect();
        assert_eq!(Handle::new(one).err().map(|why| why.status), Some(503));
        handles.push(Handle::new(other).unwrap());
        handles.remove(0);
        handles.push(Handle::new(one).unwrap());
        drop(handles);
        assert!(all().iter().flatten().all(|(path, _)| !path.starts_with("/none")));
    }
}
