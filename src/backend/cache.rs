//! What was worked out of repositories: what is true for good, as commits never change, and lists of refs, which say what
//! they depend on.

use super::git::{Format, Head, Listed, TagHead};
use super::reject::Reject;
use crate::api::commits::Commit;
use crate::api::repository::TreeEntry;
use git2::Oid;
use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What is kept of a kind at most, in entries of the usual size; then that kind is forgotten as a whole.
const MOST: usize = 20_000;

/// How one head relates to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relation {
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
    pub meetings: CacheTable<(Oid, Oid), Relation>,
    /// Two commits to the number of files between them.
    pub counts: CacheTable<(Oid, Oid), usize>,
    /// A commit to the lines that it added and deleted.
    pub lines: CacheTable<Oid, (u64, u64)>,
    /// Logs of a path or of a ref, as far as somebody asked.
    pub logs: CacheTable<LogKey, Found>,
    /// A tree, a path in it and whether all below is meant, to what is there: each page of a long list would walk it again.
    pub trees: CacheTable<(Oid, String, bool), Arc<Vec<TreeEntry>>>,
    /// A commit to how it is shown.
    pub commits: CacheTable<Oid, Arc<Commit>>,
    /// A commit and others, in order, to which of them are in its history.
    pub held: CacheTable<(Oid, Vec<Oid>), Arc<HashSet<Oid>>>,
    /// The folder of a repository to its branches.
    pub heads: CacheTable<PathBuf, Listed<Head>>,
    /// The same for tags.
    pub tags: CacheTable<PathBuf, Listed<TagHead>>,
    /// A commit, how it is packed and below which folder, to the bytes of the archive.
    pub lengths: CacheTable<(Oid, Format, String), u64>,
}

/// How much of a table something takes.
pub trait Weight {
    /// In entries of the usual size.
    fn weight(&self) -> usize {
        1
    }
}

impl Weight for Relation {}
impl Weight for u64 {}
impl Weight for usize {}
impl Weight for (u64, u64) {}
impl Weight for Found {
    fn weight(&self) -> usize {
        1 + self.0.len() / 64
    }
}

impl Weight for Arc<Commit> {
    fn weight(&self) -> usize {
        1 + self.message.len() / 512
    }
}

impl Weight for Arc<HashSet<Oid>> {
    fn weight(&self) -> usize {
        // Its key may be as long as a page.
        8
    }
}

impl Weight for Arc<Vec<TreeEntry>> {
    fn weight(&self) -> usize {
        1 + self.len() / 16
    }
}

/// A table of what is known, and how much that is.
#[derive(Debug)]
pub struct CacheTable<K, V>(Mutex<(HashMap<K, V>, usize)>);

impl<K, V> Default for CacheTable<K, V> {
    fn default() -> CacheTable<K, V> {
        CacheTable(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone + Weight> CacheTable<K, V> {
    /// Returns what is known of `key`.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.get(key).cloned()
    }

    /// Remembers a value.
    pub fn put(&self, key: K, value: V) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, held) = &mut *guard;
        if *held + value.weight() > MOST {
            known.clear();
            *held = 0;
        }
        *held += value.weight();
        let replaced = known.insert(key, value);
        *held -= replaced.map_or(0, |value| value.weight());
    }

    /// Returns what is known of `key`, or what `make` makes.
    pub fn or_make(&self, key: K, make: impl FnOnce() -> Result<V, Reject>) -> Result<V, Reject> {
        if let Some(value) = self.get(&key) {
            return Ok(value);
        }
        let value = make()?;
        self.put(key, value.clone());
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_logs_fill_a_table_sooner_than_short_ones() {
        let cache = Cache::default();
        let key = |n: i64| (Vec::new(), String::new(), Some(n), None);
        let log = (Arc::new(vec![Oid::ZERO_SHA1; 640_000]), true);
        assert!(log.weight() > MOST / 3);
        (0..3).for_each(|n| cache.logs.put(key(n), log.clone()));
        assert!(cache.logs.get(&key(0)).is_none() && cache.logs.get(&key(2)).is_some());
        // One that is put again takes no more than before.
        (0..9).for_each(|_| cache.logs.put(key(2), log.clone()));
        (0..9).for_each(|n| cache.counts.put((Oid::ZERO_SHA1, Oid::ZERO_SHA1), n));
        assert!(cache.logs.get(&key(2)).is_some());
    }
}
