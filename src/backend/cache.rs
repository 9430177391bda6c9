//! What was worked out of repositories and is true for good: commits never change.

use super::reject::Reject;
use git2::Oid;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Entries of a kind that are kept at most; then that kind is forgotten as a whole.
const MOST: usize = 20_000;

/// How one head relates to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// The newest commit that both have.
    pub base: Option<Oid>,
    /// Whether the one can be merged into the other without a conflict.
    pub is_clean: bool,
}

/// Commits of a log, from the newest, and whether there are no more.
pub type Found = (Arc<Vec<Oid>>, bool);
/// Where a log begins, its path, and its bounds in time.
pub type LogKey = (Vec<Oid>, String, Option<i64>, Option<i64>);

/// One table a kind.
#[derive(Debug, Default)]
pub struct Cache {
    /// Target and source to how they meet.
    pub meetings: Known<(Oid, Oid), Meeting>,
    /// Two commits to the number of files between them.
    pub counts: Known<(Oid, Oid), usize>,
    /// A commit to the lines that it added and deleted.
    pub lines: Known<Oid, (u64, u64)>,
    /// Logs of a path, as far as somebody asked.
    pub logs: Known<LogKey, Found>,
}

/// A table of what is known.
#[derive(Debug)]
pub struct Known<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Known<K, V> {
    fn default() -> Known<K, V> {
        Known(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone> Known<K, V> {
    /// What is known of `key`.
    pub fn get(&self, key: &K) -> Option<V> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Remembers a value.
    pub fn put(&self, key: K, value: V) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, value);
    }

    /// What is known of `key`, or what `make` makes.
    pub fn or_make(&self, key: K, make: impl FnOnce() -> Result<V, Reject>) -> Result<V, Reject> {
        if let Some(value) = self.get(&key) {
            return Ok(value);
        }
        let value = make()?;
        self.put(key, value.clone());
        Ok(value)
    }
}
