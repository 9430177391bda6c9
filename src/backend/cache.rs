//! Caches of values computed from repositories: values that never change because commits do not, and lists of refs,
//! which record what they depend on.

use super::git::{CachedRefs, Format, GitRef, Listing, Log, LogQuery, RefTarget, TagRef};
use super::rejection::Rejection;
use api::commits::{Commit, DiffEntry};
use api::repository::Contributor;
use git2::Oid;
use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum weight of a table, in entries of the usual size; a full table is cleared as a whole.
const MAX_WEIGHT: usize = 20_000;
/// The maximum number of cached logs.
const MAX_LOGS: usize = 64;
/// The maximum size of all cached logs in bytes.
const MAX_LOG_BYTES: usize = 256 << 20;

/// The relation of two heads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relation {
    /// The merge base.
    pub base: Option<Oid>,
    /// Whether one can be merged into the other without conflicts.
    pub is_clean: bool,
}

/// The caches, one table for each kind of value.
#[derive(Debug, Default)]
pub struct Cache {
    /// Relations of target and source commits.
    pub relations: CacheTable<(Oid, Oid), Relation>,
    /// The commits of a head that are not in the history of another one, by that one and the head.
    pub between: CacheTable<(Oid, Oid), Arc<Vec<Oid>>>,
    /// Numbers of files that differ between two commits.
    pub change_counts: CacheTable<(Oid, Oid), usize>,
    /// The changed files of commits: otherwise each page of them would compare all.
    pub changes: CacheTable<Oid, Arc<Vec<DiffEntry>>>,
    /// Hashes of the changes between two commits.
    pub patch_ids: CacheTable<(Oid, Oid), Option<Oid>>,
    /// Numbers of lines that commits add and delete.
    pub line_counts: CacheTable<Oid, (u64, u64)>,
    /// Logs, as far as they have been requested.
    pub logs: LogCache,
    /// Numbers of commits in the history of a commit, including itself.
    pub commit_counts: CacheTable<Oid, u64>,
    /// Contributors to the history of a commit.
    pub contributors: CacheTable<Oid, Arc<Vec<Contributor>>>,
    /// Tree entries by tree, path in it, and whether the listing is recursive: otherwise each page of a long list would
    /// walk the tree again.
    pub trees: CacheTable<(Oid, String, bool), Arc<Listing>>,
    /// API representations of commits.
    pub commits: CacheTable<Oid, Arc<Commit>>,
    /// The subset of some commits that is in the history of another, by that commit and the list.
    pub ancestors: CacheTable<(Oid, Vec<Oid>), Arc<HashSet<Oid>>>,
    /// Names and targets of branches, by repository folder.
    pub branch_targets: CacheTable<PathBuf, CachedRefs<RefTarget>>,
    /// Branches by repository folder.
    pub branches: CacheTable<PathBuf, CachedRefs<GitRef>>,
    /// Tags by repository folder.
    pub tags: CacheTable<PathBuf, CachedRefs<TagRef>>,
    /// Sizes of archives in bytes, by commit, format and top-level folder.
    pub archive_sizes: CacheTable<(Oid, Format, String), u64>,
}

/// The share of a table that a value takes up.
pub trait Weight {
    /// Returns the weight in entries of the usual size.
    fn weight(&self) -> usize {
        1
    }
}

impl Weight for Relation {}
impl Weight for Option<Oid> {}
impl Weight for u64 {}
impl Weight for usize {}
impl Weight for (u64, u64) {}
impl Weight for Arc<Vec<Contributor>> {
    fn weight(&self) -> usize {
        1 + self.len() / 16
    }
}

impl Weight for Arc<Vec<Oid>> {
    fn weight(&self) -> usize {
        1 + self.len() / 16
    }
}

impl Weight for Arc<Vec<DiffEntry>> {
    fn weight(&self) -> usize {
        1 + self.iter().map(|entry| 1 + entry.diff.len() / 512).sum::<usize>()
    }
}

impl Weight for Arc<Commit> {
    fn weight(&self) -> usize {
        1 + self.message.len() / 512
    }
}

impl Weight for Arc<HashSet<Oid>> {
    fn weight(&self) -> usize {
        // The key can be as long as a page.
        8
    }
}

impl Weight for Arc<Listing> {
    fn weight(&self) -> usize {
        1 + self.entries.len() / 16
    }
}

/// A map and the total weight of its values.
#[derive(Debug)]
pub struct CacheTable<K, V>(Mutex<(HashMap<K, V>, usize)>);

impl<K, V> Default for CacheTable<K, V> {
    fn default() -> CacheTable<K, V> {
        CacheTable(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone + Weight> CacheTable<K, V> {
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.get(key).cloned()
    }

    pub fn put(&self, key: K, value: V) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (map, total) = &mut *guard;
        if *total + value.weight() > MAX_WEIGHT {
            map.clear();
            *total = 0;
        }
        *total += value.weight();
        let replaced = map.insert(key, value);
        *total -= replaced.map_or(0, |value| value.weight());
    }

    /// Returns the cached value of `key`, or computes and stores it with `make`.
    pub fn get_or_try_init(&self, key: K, make: impl FnOnce() -> Result<V, Rejection>) -> Result<V, Rejection> {
        if let Some(value) = self.get(&key) {
            return Ok(value);
        }
        let value = make()?;
        self.put(key, value.clone());
        Ok(value)
    }
}

/// Logs that can be continued; the most recently used is last.
#[derive(Debug, Default)]
pub struct LogCache(Mutex<Vec<CachedLog>>);

#[derive(Debug)]
struct CachedLog {
    query: LogQuery,
    log: Arc<Mutex<Log>>,
    /// The size in bytes after the last use.
    weight: usize,
}

impl LogCache {
    /// Continues the log of a query, or starts one.
    pub fn with<T>(
        &self,
        query: &LogQuery,
        make: impl FnOnce() -> Result<Log, Rejection>,
        proceed: impl FnOnce(&mut Log) -> Result<T, Rejection>,
    ) -> Result<T, Rejection> {
        let log = match self.get(query) {
            Some(log) => log,
            None => {
                let new = Arc::new(Mutex::new(make()?));
                // Another thread may have added it in the meantime.
                self.get(query).unwrap_or_else(|| {
                    self.insert(query, &new, 0);
                    new
                })
            }
        };
        let mut guard = log.lock().unwrap_or_else(PoisonError::into_inner);
        let result = proceed(&mut guard);
        let weight = guard.weight() + query.from.len() * size_of::<Oid>();
        drop(guard);
        self.insert(query, &log, weight);
        result
    }

    fn get(&self, query: &LogQuery) -> Option<Arc<Mutex<Log>>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(all.iter().find(|cached| cached.query == *query && !cached.log.is_poisoned())?.log.clone())
    }

    /// Stores a log as the most recently used one, and evicts the oldest ones.
    fn insert(&self, query: &LogQuery, log: &Arc<Mutex<Log>>, weight: usize) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|cached| cached.query != *query);
        all.push(CachedLog { query: query.clone(), log: log.clone(), weight });
        let mut left = MAX_LOG_BYTES;
        let fits = |cached: &CachedLog| {
            left = left.checked_sub(cached.weight)?;
            Some(())
        };
        let cached = all.iter().rev().take(MAX_LOGS).map_while(fits).count();
        let gone = all.len() - cached;
        all.drain(..gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::repository::TreeEntry;

    #[test]
    fn full_table_is_cleared() {
        let cache: CacheTable<u64, Arc<Listing>> = CacheTable::default();
        let entries = vec![TreeEntry::default(); MAX_WEIGHT * 6];
        let list = Arc::new(Listing { entries, is_cut: false });
        assert!(list.weight() > MAX_WEIGHT / 3);
        (0..3).for_each(|n| cache.put(n, list.clone()));
        assert!(cache.get(&0).is_none() && cache.get(&2).is_some());
        // Replacing an entry does not increase the total.
        (0..9).for_each(|_| cache.put(2, list.clone()));
        assert!(cache.get(&2).is_some());
    }
}
