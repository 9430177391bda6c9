//! What was worked out of repositories: what is true for good, as commits never change, and lists of refs, which say
//! what they depend on.

use super::git::{Format, Head, Listed, Log, LogQuery, TagHead};
use super::reject::Reject;
use crate::api::commits::Commit;
use crate::api::repository::{Contributor, TreeEntry};
use git2::Oid;
use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What is kept of a kind at most, in entries of the usual size; then that kind is forgotten as a whole.
const MOST: usize = 20_000;
/// Logs that are kept at most.
const MOST_LOGS: usize = 64;
/// Bytes that they may take together.
const MOST_LOG_BYTES: usize = 256 << 20;

/// How one head relates to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relation {
    /// The newest commit that both have.
    pub base: Option<Oid>,
    /// Whether the one can be merged into the other without a conflict.
    pub is_clean: bool,
}

/// One table a kind.
#[derive(Debug, Default)]
pub struct Cache {
    /// Target and source to how they meet.
    pub meetings: CacheTable<(Oid, Oid), Relation>,
    /// Two commits to the number of files between them.
    pub counts: CacheTable<(Oid, Oid), usize>,
    /// A commit to the lines that it added and deleted.
    pub lines: CacheTable<Oid, (u64, u64)>,
    /// Logs, as far as somebody asked.
    pub logs: KeptLogs,
    /// A commit to how many it and its history are.
    pub sizes: CacheTable<Oid, u64>,
    /// A commit to those who made it and its history.
    pub contributors: CacheTable<Oid, Arc<Vec<Contributor>>>,
    /// A tree, a path in it and whether all below is meant, to what is there: each page of a long list would walk it
    /// again.
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
impl Weight for Arc<Vec<Contributor>> {
    fn weight(&self) -> usize {
        1 + self.len() / 16
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

/// Logs that can be gone on with, the latest at the end.
#[derive(Debug, Default)]
pub struct KeptLogs(Mutex<Vec<KeptLog>>);

#[derive(Debug)]
struct KeptLog {
    query: LogQuery,
    log: Arc<Mutex<Log>>,
    /// Bytes that it took when it was last used.
    weight: usize,
}

impl KeptLogs {
    /// Goes on with the log of a query, or begins it.
    pub fn with<T>(
        &self,
        query: &LogQuery,
        make: impl FnOnce() -> Result<Log, Reject>,
        go_on: impl FnOnce(&mut Log) -> Result<T, Reject>,
    ) -> Result<T, Reject> {
        let log = match self.known(query) {
            Some(log) => log,
            None => {
                let made = Arc::new(Mutex::new(make()?));
                // Another may have been as fast.
                self.known(query).unwrap_or_else(|| {
                    self.keep(query, &made, 0);
                    made
                })
            }
        };
        let mut guard = log.lock().unwrap_or_else(PoisonError::into_inner);
        let done = go_on(&mut guard);
        let weight = guard.weight() + query.from.len() * size_of::<Oid>();
        drop(guard);
        self.keep(query, &log, weight);
        done
    }

    fn known(&self, query: &LogQuery) -> Option<Arc<Mutex<Log>>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(all.iter().find(|kept| kept.query == *query && !kept.log.is_poisoned())?.log.clone())
    }

    /// Keeps a log as the latest; the oldest go for it.
    fn keep(&self, query: &LogQuery, log: &Arc<Mutex<Log>>, weight: usize) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|kept| kept.query != *query);
        all.push(KeptLog { query: query.clone(), log: log.clone(), weight });
        let mut left = MOST_LOG_BYTES;
        let fits = |kept: &KeptLog| {
            left = left.checked_sub(kept.weight)?;
            Some(())
        };
        let kept = all.iter().rev().take(MOST_LOGS).map_while(fits).count();
        let gone = all.len() - kept;
        all.drain(..gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_forgotten_as_a_whole_when_it_is_full() {
        let cache: CacheTable<u64, Arc<Vec<TreeEntry>>> = CacheTable::default();
        let list = Arc::new(vec![TreeEntry::default(); MOST * 6]);
        assert!(list.weight() > MOST / 3);
        (0..3).for_each(|n| cache.put(n, list.clone()));
        assert!(cache.get(&0).is_none() && cache.get(&2).is_some());
        // One that is put again takes no more than before.
        (0..9).for_each(|_| cache.put(2, list.clone()));
        assert!(cache.get(&2).is_some());
    }
}
