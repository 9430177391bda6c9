//! The reply to one request, and the rows of lists, as panes read them.

use super::resource::{Cut, Entry, Resource};
use super::revision::Revision;
use super::want::Value;
use api::Error;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// The state of one reply.
pub struct Remote<'a, T> {
    /// The current or last known value.
    pub value: Option<&'a T>,
    /// The value as a shared pointer, to keep it or to pass it to a worker.
    pub(super) shared: Option<&'a Value>,
    /// The time at which it was received.
    pub at: Option<Timestamp>,
    /// The time at which this value was first received; an identical reply does not change it.
    pub since: Option<Timestamp>,
    /// The number of replies so far.
    pub replies: usize,
    /// The error of the last attempt.
    pub error: Option<&'a Error>,
    /// Whether a request is in flight.
    pub is_loading: bool,
    /// Whether the reply is neither stale nor loading.
    pub is_settled: bool,
}

/// Returns the error if it is permanent: after such errors, requests are not retried automatically.
fn permanent(error: Option<&Error>) -> Option<&Error> {
    error.filter(|error| !error.is_temporary())
}

impl<'a, T> Remote<'a, T> {
    /// Returns the error if it is permanent, for example because the value was deleted or is hidden from the user.
    pub fn refused(&self) -> Option<&'a Error> {
        permanent(self.error)
    }
}

/// The longest pause before a server is asked again for what it is working out.
const MAX_RECHECK: SignedDuration = SignedDuration::from_secs(4);

/// Returns the pause before a server is asked again for what it is working out: 1, 2 and 4 seconds after the first
/// reply that said so. `None` once that has taken too long.
fn recheck_after(since: Option<Timestamp>, at: Option<Timestamp>) -> Option<Duration> {
    let pause = at?.duration_since(since?) + SignedDuration::from_secs(1);
    Duration::try_from(pause).ok().filter(|_| pause <= MAX_RECHECK)
}

impl<T> Remote<'_, T> {
    /// Returns the pause before the server is asked again, if this value says that it is working something out.
    pub fn recheck_after(&self) -> Option<Duration> {
        recheck_after(self.since, self.at)
    }
}

impl<T> Rows<'_, T> {
    /// Returns the pause before the server is asked again, if a row says that the server is working something out.
    pub fn recheck_after(&self) -> Option<Duration> {
        recheck_after(self.since, self.at)
    }
}

impl<T: Send + Sync + 'static> Remote<'_, T> {
    /// Returns the value as a shared pointer.
    pub fn arc(&self) -> Option<Arc<T>> {
        self.shared.cloned().and_then(|value| value.downcast::<T>().ok())
    }
}

/// The loaded rows of a list, or of several lists chained together.
pub struct Rows<'a, T> {
    pub(super) parts: Vec<&'a Resource>,
    pub has_more: bool,
    /// Whether the first page was ever received.
    pub is_loaded: bool,
    /// The error of the last attempt.
    pub error: Option<&'a Error>,
    /// The reason why the list is not continued, if the server has more rows.
    pub cut: Option<Cut>,
    /// The number of rows of the whole list, if the server counts them.
    pub total: Option<u64>,
    /// The time at which the first page was received.
    pub at: Option<Timestamp>,
    /// The time at which the current first page was first received.
    pub since: Option<Timestamp>,
    /// The revision of these rows; values derived from another revision are outdated.
    pub revision: Revision,
    pub(super) extends: Revision,
    pub(super) kind: std::marker::PhantomData<&'a T>,
}

impl<'a, T> Rows<'a, T> {
    /// Returns the error if it is permanent, for example because the list was deleted or is hidden from the user.
    pub fn refused(&self) -> Option<&'a Error> {
        permanent(self.error)
    }
}

impl<'a, T: 'static> Rows<'a, T> {
    pub fn chain(lists: Vec<Rows<'a, T>>) -> Rows<'a, T> {
        Rows {
            has_more: lists.iter().any(|list| list.has_more),
            is_loaded: !lists.is_empty() && lists.iter().all(|list| list.is_loaded || list.error.is_some()),
            error: lists.iter().find_map(|list| list.error),
            cut: lists.iter().find_map(|list| list.cut),
            total: lists.iter().map(|list| list.total).sum(),
            at: lists.iter().filter_map(|list| list.at).min(),
            since: lists.iter().filter_map(|list| list.since).max(),
            revision: Revision::chain(lists.iter().map(|list| list.revision)),
            extends: Revision::chain(lists.iter().map(|list| list.revision)),
            parts: lists.into_iter().flat_map(|list| list.parts).collect(),
            kind: std::marker::PhantomData,
        }
    }

    /// Returns whether rows were only appended since `revision` of the same list.
    pub fn extends(&self, revision: Revision) -> bool {
        (self.extends..=self.revision).contains(&revision)
    }

    /// Returns whether a page is being loaded.
    pub fn is_loading(&self) -> bool {
        self.parts.iter().any(|part| part.is_loading())
    }

    /// Returns the number of loaded rows.
    pub fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// Returns the number of loaded pages; a server may send shorter pages than requested.
    pub fn pages(&self) -> u32 {
        self.parts.iter().map(|part| part.pages()).max().unwrap_or(0)
    }

    /// Returns whether another page can be loaded, if no more than `max` pages are.
    pub fn has_next(&self, max: u32) -> bool {
        self.has_more && self.cut.is_none() && self.pages() < max
    }

    /// Returns the number of pages to want in order to load the list page by page to its end, up to `max` pages.
    pub fn pages_to_end(&self, max: u32) -> u32 {
        (self.pages() + u32::from(self.has_next(max))).clamp(1, max.max(1))
    }

    /// Returns whether rows are missing at the end and will not be loaded, if no more than `max` pages are.
    pub fn is_cut(&self, max: u32) -> bool {
        self.has_more && !self.has_next(max)
    }

    /// Returns whether no row is loaded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the row at `index`, if it is loaded.
    pub fn get(&self, index: usize) -> Option<&'a T> {
        let mut index = index;
        for part in &self.parts {
            if index < part.len() {
                return part.get(index);
            }
            index -= part.len();
        }
        None
    }

    /// Returns the shared rows of a page (of the first list, if several are chained); `index` starts at 0. The
    /// allocation stays the same until a different reply arrives.
    pub fn page(&self, index: usize) -> Option<Arc<Vec<T>>>
    where
        T: Send + Sync,
    {
        let (arrival, _) = self.parts.first()?.counted().get(index)?.known.as_ref()?;
        arrival.value.clone().downcast().ok()
    }

    /// Returns whether none of the first `pages` pages is stale or loading.
    pub fn is_settled(&self, pages: u32) -> bool {
        let entries = self.parts.iter().flat_map(|part| part.entries.iter().take(pages as usize));
        entries.into_iter().all(|entry| !entry.is_loading && !entry.stale)
    }

    /// Returns the loaded pages in order as shared pointers, for a worker.
    pub fn shared(&self) -> Vec<Arc<Vec<T>>>
    where
        T: Send + Sync,
    {
        let known = |part: &&'a Resource| part.counted().iter().map_while(|entry| entry.known.as_ref());
        let pages = self.parts.iter().flat_map(known);
        pages.filter_map(|(arrival, _)| arrival.value.clone().downcast().ok()).collect()
    }

    /// Iterates over the loaded rows in order.
    pub fn iter(&self) -> LoadedRows<'a, T> {
        LoadedRows {
            parts: self.parts.clone().into_iter(),
            entries: Default::default(),
            page: [].iter().enumerate(),
            hidden: &[],
        }
    }
}

/// An iterator over the loaded rows of a list.
#[derive(Clone)]
pub struct LoadedRows<'a, T> {
    parts: std::vec::IntoIter<&'a Resource>,
    entries: std::slice::Iter<'a, Entry>,
    page: std::iter::Enumerate<std::slice::Iter<'a, T>>,
    hidden: &'a [usize],
}

impl<'a, T: 'static> Iterator for LoadedRows<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some((index, row)) = self.page.next() {
                if self.hidden.first() == Some(&index) {
                    self.hidden = self.hidden.get(1..).unwrap_or_default();
                    continue;
                }
                return Some(row);
            }
            // The rows of a part end at its first page that is not loaded.
            match self.entries.next().and_then(|entry| Some((entry, entry.known.as_ref()?))) {
                Some((entry, (reply, _))) => {
                    let rows = reply.value.downcast_ref::<Vec<T>>().map(Vec::as_slice).unwrap_or_default();
                    (self.page, self.hidden) = (rows.iter().enumerate(), &entry.hidden);
                }
                None => {
                    let part = self.parts.next();
                    // Empty after the last part, so that the rows after a page that is not loaded never follow.
                    self.entries = part.map(|part| part.counted().iter()).unwrap_or_default();
                    part?;
                }
            }
        }
    }
}
