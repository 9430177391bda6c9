//! The store of data from the server: replies with their age, growing documents, and results of computations.

pub mod range_read;
pub mod want;

use crate::api::client::{Etag, Progress};
use crate::api::endpoint::Request;
use crate::api::page::NextPage;
use crate::api::{Endpoint, Error, Fault, Host};
use jiff::Timestamp;
pub use range_read::{AnyRangeRead, RangeRead};
use std::any::Any;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
pub use want::{
    Canceled, Derive, Follow, KnownPart, ListQuery, Load, PER_PAGE, Sink, Task, TaskKey, Value, Want, Work, WorkResult,
    Write,
};

/// The maximum number of replies, and of results, that are kept although they are not in use.
const MAX_ENTRIES: usize = 600;
/// The maximum number of consecutive pages without rows after which a list is not continued.
const MAX_EMPTY_PAGES: usize = 3;
/// The maximum size of the replies in memory, in bytes by [`Load::weigh`].
const MAX_REPLY_BYTES: usize = 256 << 20;
/// The maximum number of growing documents, and of their bytes in memory together.
const MAX_DOCUMENTS: usize = 24;
const MAX_DOCUMENT_BYTES: usize = 256 << 20;
/// The maximum total size of the results in bytes, by their estimated weight.
const MAX_RESULT_BYTES: usize = 256 << 20;
/// The maximum number of remembered failures; beyond it, all are dropped and retried where they are still wanted.
const MAX_FAILURES: usize = 1_000;

/// Identifies one state of the rows of one or several lists; no two states of any lists share a revision. A value
/// derived from rows is stored with their revision, see [`Derived`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

impl Revision {
    /// Returns the revision of several lists chained together.
    fn chain(parts: impl Iterator<Item = Revision>) -> Revision {
        let mut hasher = DefaultHasher::new();
        parts.for_each(|part| hasher.write_u64(part.0));
        Revision(hasher.finish())
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A value derived from the rows of a list and from other inputs `K`. It can be read only with the revision it was
/// derived from, so that the rows of one list are never combined with the order or filter of another.
#[derive(Clone, Debug)]
pub struct Derived<K, T> {
    value: Option<(Revision, K, T)>,
}

impl<K, T> Default for Derived<K, T> {
    fn default() -> Derived<K, T> {
        Derived { value: None }
    }
}

impl<K: PartialEq, T> Derived<K, T> {
    /// Recomputes the value if the rows or the inputs changed, and returns whether it did.
    pub fn update(&mut self, revision: Revision, key: K, make: impl FnOnce() -> T) -> bool {
        let is_current = self.value.as_ref().is_some_and(|(from, of, _)| (*from, of) == (revision, &key));
        if !is_current {
            self.value = Some((revision, key, make()));
        }
        !is_current
    }

    pub fn clear(&mut self) {
        self.value = None;
    }

    /// Returns whether there is a value, of any revision.
    pub fn is_set(&self) -> bool {
        self.value.is_some()
    }

    /// Returns the inputs of the current value.
    pub fn key(&self) -> Option<&K> {
        self.value.as_ref().map(|(_, key, _)| key)
    }

    /// Returns the value, of any revision.
    pub fn latest(&self) -> Option<&T> {
        self.value.as_ref().map(|(.., value)| value)
    }

    /// Returns the value, if it was derived from the rows of this revision.
    pub fn get(&self, revision: Revision) -> Option<&T> {
        self.value.as_ref().filter(|(from, ..)| *from == revision).map(|(.., value)| value)
    }
}

#[derive(Clone)]
pub struct ParsedReply {
    pub value: Value,
    /// The number of rows of a list.
    pub len: usize,
    /// The next page, if any.
    pub next: Option<NextPage>,
    /// The number of rows of the whole list, if the server counts them.
    pub total: Option<u64>,
    /// A hash of the body, see [`digest`]; 0 if unknown.
    pub digest: u64,
    /// The server's name of this state of the reply, by which it can say that it has not changed.
    pub etag: Option<Etag>,
    /// The size in memory in bytes, see [`Load::weigh`].
    pub size: usize,
}

/// The reason why a list is not continued although the server has more rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cut {
    /// The list grew by many pages since the user did something. The next action continues it.
    Paused,
    /// The list takes as much memory as a list may.
    Size,
    /// The server sends an earlier page again, or pages without rows.
    Repeats,
}

/// Hashes the body of a reply.
pub fn digest(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    hasher.finish().max(1)
}

impl ParsedReply {
    /// Returns whether both replies have the same rows, and the same say about how many follow. Links to the same page
    /// may differ.
    fn is_same_reply(&self, other: &ParsedReply) -> bool {
        let facts = |reply: &ParsedReply| (reply.digest, reply.next.is_some(), reply.total);
        self.digest != 0 && facts(self) == facts(other)
    }

    /// Returns the query of the link to the next page, if the server does not count pages.
    fn link(&self) -> Option<&String> {
        match &self.next {
            Some(NextPage::Query(query)) => Some(query),
            Some(NextPage::Number(_)) | None => None,
        }
    }
}

/// Equal by what is known of the reply without its value.
impl PartialEq for ParsedReply {
    fn eq(&self, other: &ParsedReply) -> bool {
        let facts = |reply: &ParsedReply| (reply.digest, reply.len, reply.total);
        facts(self) == facts(other) && (&self.next, &self.etag) == (&other.next, &other.etag)
    }
}

impl std::fmt::Debug for ParsedReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ParsedReply({} rows, next {:?})", self.len, self.next)
    }
}

#[derive(Default)]
struct Entry {
    known: Option<(ParsedReply, Timestamp)>,
    /// The time at which the current value was first received.
    since: Option<Timestamp>,
    /// The number of replies so far.
    replies: usize,
    stale: bool,
    is_loading: bool,
    /// Whether the entry became stale while loading, so that the pending reply may be older than the change.
    was_invalidated: bool,
}

/// Everything received for one request: one entry per page.
#[derive(Default)]
struct Resource {
    entries: Vec<Entry>,
    /// The errors of the last attempts with their time, by the index of the page; few pages of a list fail.
    errors: BTreeMap<usize, (Error, Timestamp)>,
    /// `starts[i]` is the index of the first row of page `i`; there is one more element than consecutive pages.
    starts: Vec<usize>,
    revision: Revision,
    /// The first revision whose rows are a prefix of the current rows; the same holds for all later revisions.
    extends: Revision,
    /// The digests of the consecutive pages with rows.
    digests: HashSet<u64>,
    /// The number of consecutive pages without rows at the end.
    empty_pages: usize,
    /// Whether the page after the consecutive ones is an earlier page again.
    has_repeat: bool,
    /// The size in bytes, see [`Load::weigh`].
    size: usize,
    used: Cell<u64>,
    /// The action of the user during which the list was last wanted, and the number of pages at that time.
    action: Cell<(u64, usize)>,
    /// The limits of the last [`Load`]: pages per action, and bytes.
    limits: Cell<Option<(u32, usize)>>,
}

impl Resource {
    /// Updates the revision and the row counts after a page arrived; `is_new_page` if the page is new.
    fn revise(&mut self, revision: Revision, is_new_page: bool) {
        self.revision = revision;
        if !is_new_page {
            self.extends = revision;
            self.starts.clear();
            self.digests.clear();
            (self.empty_pages, self.has_repeat) = (0, false);
        }
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.count_pages();
    }

    /// Counts the rows of the consecutive pages that are not counted yet.
    fn count_pages(&mut self) {
        let first = self.starts.len().saturating_sub(1);
        for entry in self.entries.iter().skip(first) {
            let Some((reply, _)) = &entry.known else { break };
            if reply.len == 0 {
                self.empty_pages += 1;
            } else if reply.digest == 0 || self.digests.insert(reply.digest) {
                self.empty_pages = 0;
            } else {
                self.has_repeat = true;
                break;
            }
            let start = self.starts.last().copied().unwrap_or(0);
            self.starts.push(start.saturating_add(reply.len));
        }
        if self.has_repeat {
            self.truncate(self.starts.len().saturating_sub(1));
        }
        let sizes = self.entries.iter().filter_map(|entry| entry.known.as_ref()).map(|(arrival, _)| arrival.size);
        self.size = sizes.fold(0, usize::saturating_add);
    }

    fn truncate(&mut self, pages: usize) {
        self.entries.truncate(pages);
        self.errors.split_off(&pages);
    }

    fn is_loading(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_loading)
    }

    /// Returns whether a known page could not be asked again.
    fn failed_to_refresh(&self) -> bool {
        self.errors.keys().any(|index| self.entries.get(*index).is_some_and(|entry| entry.known.is_some()))
    }

    /// Returns the error of the first page that failed.
    fn error(&self) -> Option<&Error> {
        self.errors.first_key_value().map(|(_, (error, _))| error)
    }

    /// Returns the entries of the consecutive pages.
    fn counted(&self) -> &[Entry] {
        self.entries.get(..self.starts.len().saturating_sub(1)).unwrap_or_default()
    }

    /// Returns the reason why the page at `index` is not requested, if it is a further page; `action` is the current
    /// action of the user.
    fn cut(&self, index: usize, action: u64) -> Option<Cut> {
        let (max_pages, max_bytes) = self.limits.get()?;
        let (then, pages) = self.action.get();
        let pages = if then == action { pages } else { self.entries.len() };
        match index {
            0 => None,
            _ if self.has_repeat || self.empty_pages >= MAX_EMPTY_PAGES => Some(Cut::Repeats),
            _ if self.size >= max_bytes => Some(Cut::Size),
            _ if index >= pages.saturating_add(max_pages as usize) => Some(Cut::Paused),
            _ => None,
        }
    }
}

struct Stream {
    sink: Box<dyn Sink>,
    is_complete: bool,
    error: Option<Error>,
    /// Whether the server no longer has the document.
    is_removed: bool,
    /// The time at which the document was last as long as that of the server.
    read_at: Option<Timestamp>,
    used: Cell<u64>,
}

struct CachedResult {
    result: WorkResult,
    /// Whether the computation has not finished yet.
    is_preview: bool,
    used: Cell<u64>,
}

/// The failure to reach the server.
struct Unreachable {
    error: Error,
    at: Timestamp,
    /// The number of failed attempts, with pauses in between.
    attempts: u32,
}

/// All data from the server. Only the app changes it; panes read it.
#[derive(Default)]
pub struct Store {
    resources: HashMap<Request, Resource>,
    streams: HashMap<Request, Stream>,
    results: HashMap<String, CachedResult>,
    /// Keys of failed computations, which are not retried.
    failed_work: HashSet<String>,
    /// Progress of range reads, by key.
    progress: HashMap<String, Progress>,
    /// Errors of failed range reads, by key.
    failed: HashMap<String, Error>,
    /// The number of turns of the event loop, by which the least recently used data is dropped first.
    turn: u64,
    /// The number of actions of the user.
    action: u64,
    /// The size of all replies in bytes.
    reply_bytes: usize,
    /// The number of changes so far; the source of revisions.
    generation: u64,
    /// The time of the last reply from the server.
    last_contact: Option<Timestamp>,
    /// The last failure to reach the server, if nothing has been received since.
    unreachable: Option<Unreachable>,
    /// The time until which the server asked not to be sent anything.
    asked_to_wait: Option<Timestamp>,
    /// Whether it has answered nothing since it asked that.
    is_limited: bool,
    /// Routes that the server does not support, with its message.
    unsupported: HashMap<&'static str, String>,
}

/// The state of one reply.
pub struct Remote<'a, T> {
    /// The current or last known value.
    pub value: Option<&'a T>,
    /// The value as a shared pointer, to keep it or to pass it to a worker.
    shared: Option<&'a Value>,
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

impl<T: Send + Sync + 'static> Remote<'_, T> {
    /// Returns the value as a shared pointer.
    pub fn arc(&self) -> Option<Arc<T>> {
        self.shared.cloned().and_then(|value| value.downcast::<T>().ok())
    }
}

/// The loaded rows of a list, or of several lists chained together.
pub struct Rows<'a, T> {
    parts: Vec<&'a Resource>,
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
    extends: Revision,
    kind: std::marker::PhantomData<&'a T>,
}

impl Resource {
    fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    fn pages(&self) -> u32 {
        self.starts.len().saturating_sub(1) as u32
    }

    fn get<T: 'static>(&self, index: usize) -> Option<&T> {
        let page = self.starts.partition_point(|start| *start <= index).checked_sub(1)?;
        let (arrival, _) = self.entries.get(page)?.known.as_ref()?;
        arrival.value.downcast_ref::<Vec<T>>()?.get(index - self.starts.get(page)?)
    }
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
        LoadedRows { parts: self.parts.clone().into_iter(), entries: Default::default(), page: Default::default() }
    }
}

/// An iterator over the loaded rows of a list.
#[derive(Clone)]
pub struct LoadedRows<'a, T> {
    parts: std::vec::IntoIter<&'a Resource>,
    entries: std::slice::Iter<'a, Entry>,
    page: std::slice::Iter<'a, T>,
}

impl<'a, T: 'static> Iterator for LoadedRows<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some(row) = self.page.next() {
                return Some(row);
            }
            // The rows of a part end at its first page that is not loaded.
            match self.entries.next().and_then(|entry| entry.known.as_ref()) {
                Some((reply, _)) => {
                    self.page = reply.value.downcast_ref::<Vec<T>>().map(|rows| rows.iter()).unwrap_or_default();
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

/// The current state of a growing document.
pub struct GrowingDocument<'a, S> {
    /// The document.
    pub sink: &'a S,
    pub is_complete: bool,
    /// The error that stopped the download, if any.
    pub error: Option<&'a Error>,
    /// Whether the server no longer has the document, although it may have it again.
    pub is_removed: bool,
    /// The time at which the document was last as long as that of the server.
    pub read_at: Option<Timestamp>,
}

impl Store {
    /// Returns the state of the reply to `endpoint`.
    pub fn get<E: Endpoint>(&self, endpoint: &E) -> Remote<'_, E::Output> {
        let resource = self.resources.get(&endpoint.request());
        let entry = resource.and_then(|r| {
            r.used.set(self.turn);
            r.entries.first()
        });
        let shared = entry.and_then(|e| e.known.as_ref()).map(|(a, _)| &a.value);
        Remote {
            value: shared.and_then(|v| v.downcast_ref()),
            shared,
            at: entry.and_then(|e| e.known.as_ref()).map(|(_, at)| *at),
            since: entry.and_then(|e| e.since),
            replies: entry.map_or(0, |e| e.replies),
            error: resource.and_then(Resource::error),
            is_loading: entry.is_some_and(|e| e.is_loading),
            is_settled: entry.is_some_and(|e| !e.is_loading && !e.stale),
        }
    }

    /// Returns the loaded rows of the list `endpoint`.
    pub fn list<T: 'static, E: Endpoint<Output = Vec<T>>>(&self, endpoint: &E) -> Rows<'_, T> {
        self.list_at(None, endpoint)
    }

    /// Returns the loaded rows like [`Store::list`], of another server if `host` is set.
    pub fn list_at<T: 'static, E: Endpoint<Output = Vec<T>>>(&self, host: Option<&Host>, endpoint: &E) -> Rows<'_, T> {
        self.rows_of(&endpoint.request().at(host))
    }

    pub fn rows<T: 'static>(&self, query: &ListQuery<T>) -> Rows<'_, T> {
        let mut lists: Vec<Rows<'_, T>> = query.requests().map(|request| self.rows_of(request)).collect();
        match lists.len() {
            1 => lists.remove(0),
            _ => Rows::chain(lists),
        }
    }

    /// Returns the loaded rows of one request.
    pub fn rows_of<T: 'static>(&self, request: &Request) -> Rows<'_, T> {
        let resource = self.resources.get(request);
        let entries = resource.map(|r| r.entries.as_slice()).unwrap_or_default();
        if let Some(r) = resource {
            r.used.set(self.turn);
        }
        let known = resource.map_or(0, |r| r.starts.len().saturating_sub(1));
        let last = known.checked_sub(1).and_then(|i| entries.get(i)).and_then(|e| e.known.as_ref());
        let has_more = last.is_some_and(|(a, _)| a.next.is_some());
        Rows {
            parts: resource.into_iter().collect(),
            has_more,
            cut: resource.filter(|_| has_more).and_then(|r| self.cut(r, known)),
            is_loaded: known > 0,
            error: resource.and_then(Resource::error),
            total: entries.first().and_then(|e| e.known.as_ref()).and_then(|(a, _)| a.total),
            at: entries.first().and_then(|e| e.known.as_ref()).map(|(_, at)| *at),
            since: entries.first().and_then(|e| e.since),
            revision: resource.map_or_else(Revision::default, |r| r.revision),
            extends: resource.map_or_else(Revision::default, |r| r.extends),
            kind: std::marker::PhantomData,
        }
    }

    pub fn growing<S: Sink>(&self, request: &Request) -> Option<GrowingDocument<'_, S>> {
        let stream = self.streams.get(request)?;
        stream.used.set(self.turn);
        let sink = (stream.sink.as_ref() as &dyn Any).downcast_ref::<S>()?;
        let error = stream.error.as_ref();
        let is_removed = stream.is_removed || error.is_some_and(Error::is_missing);
        Some(GrowingDocument { sink, is_complete: stream.is_complete, error, is_removed, read_at: stream.read_at })
    }

    /// Returns the result of a computation, if it has finished.
    pub fn result<T: 'static>(&self, key: &str) -> Option<&T> {
        let known = self.results.get(key)?;
        known.used.set(self.turn);
        known.result.value.downcast_ref()
    }

    /// Returns the result of a computation as a shared pointer, if it has finished.
    pub fn shared_result<T: Send + Sync + 'static>(&self, key: &str) -> Option<Arc<T>> {
        let known = self.results.get(key)?;
        known.used.set(self.turn);
        known.result.value.clone().downcast().ok()
    }

    /// Returns the progress of a range read that is running.
    pub fn progress(&self, key: &str) -> Option<Progress> {
        self.progress.get(key).copied()
    }

    /// Returns the error of a failed range read.
    pub fn failed(&self, key: &str) -> Option<&Error> {
        self.failed.get(key)
    }

    /// Returns whether a page of a list (counted from 1) or a single reply (page 0) is loaded.
    pub fn knows(&self, request: &Request, page: u32) -> bool {
        self.known_reply(request, page).is_some()
    }

    /// Returns the reply with a page of a list (counted from 1), or a single reply (page 0), if it is loaded.
    pub fn known_reply(&self, request: &Request, page: u32) -> Option<&ParsedReply> {
        let entry = self.resources.get(request)?.entries.get(index_of(page))?;
        entry.known.as_ref().map(|(reply, _)| reply)
    }

    /// Returns whether the server reported that it does not support the operation; such requests are not sent again.
    pub fn is_unsupported<E: Endpoint>(&self) -> bool {
        E::ROUTES.iter().any(|route| self.is_unsupported_route(route.path))
    }

    /// Returns whether the server reported that it does not support a route of an operation.
    pub fn is_unsupported_route(&self, route: &str) -> bool {
        self.unsupported.contains_key(route)
    }

    /// Returns the error of the last attempt of a request, if it failed.
    pub fn error_of(&self, request: &Request) -> Option<&Error> {
        self.resources.get(request)?.error()
    }

    /// Returns whether a request was answered or failed, and is neither stale nor loading.
    pub fn is_fresh(&self, request: &Request) -> bool {
        let Some(resource) = self.resources.get(request) else { return false };
        let entry = resource.entries.first();
        entry.is_some_and(|e| !e.stale && !e.is_loading && (e.known.is_some() || resource.errors.contains_key(&0)))
    }

    /// Iterates over all values of type `T` from the current server, in lists or alone, with their requests. This takes
    /// time proportional to the size of the store.
    pub fn known<T: 'static>(&self) -> impl Iterator<Item = (&Request, &T)> {
        self.resources.iter().filter(|(request, _)| request.host.is_none()).flat_map(|(request, resource)| {
            let known = resource.entries.iter().filter_map(|entry| entry.known.as_ref());
            known.flat_map(move |(arrival, _)| {
                let rows = arrival.value.downcast_ref::<Vec<T>>().map(Vec::as_slice).unwrap_or_default();
                rows.iter().chain(arrival.value.downcast_ref::<T>()).map(move |thing| (request, thing))
            })
        })
    }

    /// Returns whether a request is in flight.
    pub fn is_loading(&self, request: &Request) -> bool {
        self.resources.get(request).is_some_and(Resource::is_loading)
    }

    /// Returns whether a request of any of `wants` is in flight.
    pub fn is_any_loading(&self, wants: &[Want]) -> bool {
        wants.iter().any(|want| matches!(want, Want::Load(load) if self.is_loading(&load.request)))
    }

    /// Returns the reply to a request whose [`Load`] has a custom reader.
    pub fn read_as<T: 'static>(&self, request: &Request) -> Option<&T> {
        let resource = self.resources.get(request)?;
        resource.used.set(self.turn);
        let (arrival, _) = resource.entries.first()?.known.as_ref()?;
        arrival.value.downcast_ref()
    }

    /// Returns a number that changes whenever a reply or an error changes.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the size of all replies in bytes, see [`Load::weigh`].
    pub fn reply_bytes(&self) -> usize {
        self.reply_bytes
    }

    /// Returns the time of the last reply from the server.
    pub fn last_contact(&self) -> Option<Timestamp> {
        self.last_contact
    }

    /// Returns the connection error while the server is unreachable.
    pub fn unreachable(&self) -> Option<&Error> {
        self.unreachable.as_ref().map(|unreachable| &unreachable.error)
    }

    /// Returns whether a page waits for the outcome of another request: of the next attempt, while the server cannot be
    /// reached or refuses requests for being too many.
    pub fn waits_for_attempt(&self, request: &Request, page: u32) -> bool {
        let index = index_of(page);
        let resource = self.resources.get(request).filter(|resource| resource.errors.contains_key(&index));
        let entry = resource.and_then(|resource| resource.entries.get(index));
        let is_gone = self.is_limited || self.unreachable.is_some();
        // What the user asks for is tried at once, unless the server asked to wait.
        request.host.is_none() && is_gone && entry.is_some_and(|entry| self.is_limited || !entry.stale)
    }

    /// Returns the reason why the page at `index` of a list is not requested.
    fn cut(&self, resource: &Resource, index: usize) -> Option<Cut> {
        let is_full = || index > 0 && self.reply_bytes >= MAX_REPLY_BYTES;
        resource.cut(index, self.action).or_else(|| is_full().then_some(Cut::Size))
    }

    // ---- changes by the app

    /// Records that the user did something: every list may grow again.
    pub fn record_action(&mut self) {
        self.action += 1;
    }

    /// Returns the page of `load` to request at `now`, or else the time when the next request is due.
    pub fn due(&self, load: &Load, now: Timestamp) -> (Option<u32>, Option<Timestamp>) {
        let resource = self.resources.get(&load.request);
        // A wanted resource counts as used, even if nobody reads it in this turn.
        if let Some(resource) = resource {
            resource.used.set(self.turn);
            resource.limits.set(Some((load.max_unasked_pages, load.max_bytes)));
            if resource.action.get().0 != self.action {
                resource.action.set((self.action, resource.entries.len()));
            }
        }
        let first = if load.pages == 0 { 0 } else { 1 };
        let mut wake = None;
        let mut loading = 0;
        let known = resource.and_then(|r| r.entries.first()).and_then(|e| e.known.as_ref());
        let total = known.and_then(|(arrival, _)| arrival.total);
        // Only the page before it has the link to a page.
        let is_linked = known.is_some_and(|(arrival, _)| arrival.link().is_some());
        let concurrency = if is_linked { 1 } else { load.concurrency };
        // A server may send fewer rows per page than requested.
        let rows =
            known.filter(|(a, _)| a.next.is_some() && a.len > 0).map_or(u64::from(PER_PAGE), |(a, _)| a.len as u64);
        for index in 0..load.pages.max(1) as usize {
            let page = first + index as u32;
            if index > 0 && total.is_some_and(|total| index as u64 * rows >= total) {
                break;
            }
            let entry = resource.and_then(|r| r.entries.get(index));
            let error = resource.and_then(|r| r.errors.get(&index));
            let is_new = entry.is_none_or(|entry| entry.known.is_none() && error.is_none());
            if is_new && resource.is_some_and(|r| self.cut(r, index).is_some()) {
                break;
            }
            let Some(entry) = entry else { return (Some(page), None) };
            if entry.is_loading {
                loading += 1;
                if loading >= concurrency {
                    return (None, wake);
                }
                continue;
            }
            if let Some((error, at)) = error {
                if entry.stale {
                    return (Some(page), None);
                }
                if error.is_temporary() {
                    // Temporary errors are retried after a delay, or when the server allows it. All that could not reach
                    // the server wait for the same attempt.
                    let (at, seconds) = match (&error.fault, &self.unreachable) {
                        (Fault::Limited(Some(wait)), _) => (*at, wait.as_secs_f64().max(RETRY_SECONDS)),
                        (fault, Some(last)) if is_unreachable(fault) => (last.at.max(*at), last.pause()),
                        _ => (*at, RETRY_SECONDS),
                    };
                    match later(at, seconds) {
                        due if due <= now => return (Some(page), None),
                        due => wake = earliest(wake, Some(due)),
                    }
                }
                return (None, wake);
            }
            let Some((arrival, at)) = &entry.known else { return (Some(page), None) };
            if entry.stale {
                return (Some(page), None);
            }
            if let Some(refresh_after) = load.refresh_after {
                match later(*at, refresh_after.as_secs_f64()) {
                    due if due <= now => return (Some(page), None),
                    due => wake = earliest(wake, Some(due)),
                }
            }
            if arrival.next.is_none() {
                break;
            }
        }
        (None, wake)
    }

    /// Returns whether the stream of `follow` is incomplete.
    pub fn follows(&self, follow: &Follow) -> bool {
        self.streams.get(&follow.request).is_none_or(|s| !s.is_complete && s.error.is_none())
    }

    /// Returns whether the result `key` is missing, or only a preview of it is there.
    pub fn is_result_missing(&self, key: &str) -> bool {
        self.results.get(key).is_none_or(|result| result.is_preview)
            && !self.failed_work.contains(key)
            && !self.failed.contains_key(key)
    }

    /// Returns the state of a document before its request starts: the number of bytes received and the tail.
    pub fn known_part(&self, request: &Request) -> KnownPart {
        let state = |s: &Stream| KnownPart { received: s.sink.received(), tail: s.sink.tail().to_vec() };
        self.streams.get(request).map(state).unwrap_or_default()
    }

    /// Returns the query of the link to a page, if the server does not count pages: the page before it has the link.
    pub fn link_to(&self, request: &Request, page: u32) -> Option<&String> {
        let before = self.resources.get(request)?.entries.get(page.checked_sub(2)? as usize)?;
        before.known.as_ref().and_then(|(reply, _)| reply.link())
    }

    /// Returns whether the download of a stream should pause.
    pub fn is_full(&self, request: &Request) -> bool {
        self.streams.get(request).is_some_and(|s| s.sink.is_full())
    }

    /// Records that a request was started or canceled.
    pub fn set_loading(&mut self, task: &TaskKey, loading: bool) {
        match task {
            TaskKey::Load(request, page) => {
                let index = index_of(*page);
                if let Some(entry) = self.resource(request, index).entries.get_mut(index) {
                    entry.is_loading = loading;
                }
            }
            TaskKey::RangeRead(key) => drop(self.progress.remove(key)),
            TaskKey::Follow(_) | TaskKey::Work(_) => {}
        }
    }

    pub fn record_reply(&mut self, request: &Request, page: u32, outcome: Result<ParsedReply, Error>, now: Timestamp) {
        // Replies of other servers say nothing about the current one.
        if request.host.is_none() {
            self.record_reachability(outcome.as_ref().err(), now);
            match &outcome {
                Err(Error { fault: Fault::Unsupported(message), .. }) => {
                    self.unsupported.insert(request.route, message.clone());
                }
                Err(Error { fault: Fault::Limited(wait), .. }) => {
                    // The client has tried again after a short pause.
                    let seconds = wait.map_or(RETRY_SECONDS, |wait| wait.as_secs_f64().max(RETRY_SECONDS));
                    self.asked_to_wait = self.asked_to_wait.max(Some(later(now, seconds)));
                    self.is_limited = true;
                }
                Ok(_) => self.is_limited = false,
                Err(_) => {}
            }
        }
        let index = index_of(page);
        let resource = self.resource(request, index);
        let Some(entry) = resource.entries.get_mut(index) else { return };
        entry.is_loading = false;
        entry.stale = std::mem::take(&mut entry.was_invalidated);
        let mut changed = false;
        let mut is_new_page = false;
        // Whether an error appeared or disappeared.
        let error_changed;
        match outcome {
            Ok(arrival) => {
                error_changed = resource.errors.remove(&index).is_some();
                entry.replies += 1;
                match &mut entry.known {
                    // The body is identical, so derived values stay valid.
                    Some((known, at)) if known.is_same_reply(&arrival) => {
                        (known.next, known.etag) = (arrival.next, arrival.etag);
                        *at = now;
                    }
                    known => {
                        is_new_page = known.is_none();
                        *known = Some((arrival, now));
                        entry.since = Some(now);
                        changed = true;
                    }
                }
            }
            Err(error) => {
                error_changed = true;
                resource.errors.insert(index, (error, now));
            }
        }
        // A reply without a next page ends the list, which may have become shorter.
        let is_last = entry.known.as_ref().is_some_and(|(reply, _)| reply.next.is_none());
        if is_last && !resource.errors.contains_key(&index) {
            is_new_page &= resource.entries.len() == index + 1;
            changed |= resource.entries.len() > index + 1;
            resource.truncate(index + 1);
        }
        self.generation += u64::from(error_changed);
        if changed {
            self.revise(request, is_new_page);
        }
    }

    /// Updates the revision, the row counts and the sizes after a page of `request` arrived; `is_new_page` if the page
    /// is new.
    fn revise(&mut self, request: &Request, is_new_page: bool) {
        let Some(resource) = self.resources.get_mut(request) else { return };
        self.generation += 1;
        self.reply_bytes = self.reply_bytes.saturating_sub(resource.size);
        resource.revise(Revision(self.generation), is_new_page);
        self.reply_bytes = self.reply_bytes.saturating_add(resource.size);
    }

    /// Fails a page without a request if its route is known to be unsupported, or if the server asked to wait; returns
    /// whether it did.
    pub fn fail_unasked(&mut self, request: &Request, page: u32, now: Timestamp) -> bool {
        if request.host.is_some() {
            return false;
        }
        let wait =
            self.asked_to_wait.filter(|until| now < *until).map(|until| until.duration_since(now).unsigned_abs());
        let fault = match (self.unsupported.get(request.route), wait) {
            (Some(message), _) => Fault::Unsupported(message.clone()),
            (None, Some(wait)) => Fault::Limited(Some(wait)),
            (None, None) => return false,
        };
        let error = Error { tried: request.line(), fault };
        self.generation += 1;
        let index = index_of(page);
        let resource = self.resource(request, index);
        if let Some(entry) = resource.entries.get_mut(index) {
            entry.stale = false;
            resource.errors.insert(index, (error, now));
        }
        true
    }

    /// Adds a cached reply received `at`, unless a reply is already known.
    pub fn add_cached(&mut self, request: &Request, page: u32, arrival: ParsedReply, at: Timestamp) {
        let index = index_of(page);
        let entry = self.resource(request, index).entries.get_mut(index);
        let Some(entry) = entry.filter(|entry| entry.known.is_none()) else { return };
        entry.known = Some((arrival, at));
        entry.since = Some(at);
        self.revise(request, true);
    }

    /// Returns the time at which the oldest reply of `wants` that can change was received.
    pub fn oldest(&self, wants: &[Want]) -> Option<Timestamp> {
        let loads = wants.iter().filter_map(|want| if let Want::Load(load) = want { Some(load) } else { None });
        let loads = loads.filter(|load| !load.is_lasting());
        let entries = loads.filter_map(|load| self.resources.get(&load.request)).flat_map(|r| &r.entries);
        entries.filter_map(|entry| entry.known.as_ref()).map(|(_, at)| *at).min()
    }

    /// Returns whether a known reply of `wants` could not be refreshed.
    pub fn failed_to_refresh(&self, wants: &[Want]) -> bool {
        let loads = wants.iter().filter_map(|want| if let Want::Load(load) = want { Some(load) } else { None });
        loads.filter_map(|load| self.resources.get(&load.request)).any(Resource::failed_to_refresh)
    }

    /// Returns whether the server has more rows of a list of `wants` than were loaded.
    pub fn has_more(&self, wants: &[Want]) -> bool {
        let loads = wants.iter().filter_map(|want| if let Want::Load(load) = want { Some(load) } else { None });
        let last = |load: &Load| self.resources.get(&load.request)?.counted().last()?.known.as_ref();
        loads.filter_map(last).any(|(reply, _)| reply.next.is_some())
    }

    /// Returns the error of a reply of `wants` that is not optional, unless the server only does not have the data.
    pub fn first_error(&self, wants: &[Want]) -> Option<&Error> {
        let loads = wants.iter().filter_map(|want| if let Want::Load(load) = want { Some(load) } else { None });
        let mut errors = loads.filter(|load| !load.is_optional).filter_map(|load| self.error_of(&load.request));
        errors.find(|error| !matches!(error.fault, Fault::Missing(_) | Fault::Unsupported(_)))
    }

    /// Records whether the server is reachable.
    pub fn record_reachability(&mut self, error: Option<&Error>, now: Timestamp) {
        match error {
            // These errors do not come from the network and say nothing about the server.
            Some(Error { fault: Fault::ReadOnly | Fault::Disk(_), .. }) => {}
            Some(e) if is_unreachable(&e.fault) => {
                let attempts = match &self.unreachable {
                    // Requests that were sent together fail together.
                    Some(last) if now < later(last.at, RETRY_SECONDS) => last.attempts,
                    Some(last) => last.attempts.saturating_add(1),
                    None => 1,
                };
                self.unreachable = Some(Unreachable { error: e.clone(), at: now, attempts });
            }
            _ => {
                self.unreachable = None;
                self.last_contact = Some(now);
            }
        }
    }

    /// Creates the document of `follow` unless it exists.
    pub fn open_stream(&mut self, follow: &Follow) {
        let turn = self.turn;
        self.streams.entry(follow.request.clone()).or_insert_with(|| Stream {
            sink: (follow.sink)(),
            is_complete: false,
            error: None,
            is_removed: false,
            read_at: None,
            used: Cell::new(turn),
        });
    }

    /// Records whether the server no longer has the document of a stream, which stays readable.
    pub fn record_removal(&mut self, request: &Request, is_removed: bool) {
        if let Some(stream) = self.streams.get_mut(request) {
            stream.is_removed = is_removed;
        }
    }

    /// Records that a stream has all that the server had.
    pub fn record_stream_read(&mut self, request: &Request, now: Timestamp) {
        if let Some(stream) = self.streams.get_mut(request) {
            stream.read_at = Some(now);
        }
    }

    /// Appends bytes to a stream; `restart` clears it first.
    pub fn append_to_stream(&mut self, request: &Request, bytes: &[u8], restart: bool) {
        if let Some(stream) = self.streams.get_mut(request) {
            if restart {
                stream.sink.reset();
            }
            stream.sink.push(bytes);
            (stream.error, stream.is_removed) = (None, false);
        }
    }

    /// Records the end of a stream, or the error that ended it.
    pub fn end_stream(&mut self, request: &Request, error: Option<Error>) {
        if let Some(stream) = self.streams.get_mut(request) {
            stream.is_complete = error.is_none();
            stream.error = error;
        }
    }

    /// Stores the result of a computation. The part of its key before a tab identifies its subject: a newer result
    /// replaces the older one of the same subject.
    pub fn record_result(&mut self, key: String, result: WorkResult) {
        if let Some((of, _)) = key.split_once('\t') {
            self.results.retain(|known, _| known.split_once('\t').is_none_or(|(older, _)| older != of));
        }
        self.progress.remove(&key);
        self.insert_result(key, result, false);
    }

    /// Records the first result of a computation that continues.
    pub fn record_preview(&mut self, key: String, result: WorkResult) {
        self.insert_result(key, result, true);
    }

    fn insert_result(&mut self, key: String, result: WorkResult, is_preview: bool) {
        let used = Cell::new(self.turn);
        self.results.insert(key, CachedResult { result, is_preview, used });
    }

    pub fn record_progress(&mut self, key: String, progress: Progress) {
        self.progress.insert(key, progress);
    }

    pub fn record_range_error(&mut self, key: String, error: Error) {
        self.progress.remove(&key);
        if self.failed.len() >= MAX_FAILURES {
            self.failed.clear();
        }
        self.failed.insert(key, error);
    }

    /// Records that the computation `key` failed; it is not retried.
    pub fn record_work_error(&mut self, key: String) {
        if self.failed_work.len() >= MAX_FAILURES {
            self.failed_work.clear();
        }
        self.failed_work.insert(key);
    }

    /// Marks all replies that a write has outdated as stale, and lets their streams continue.
    pub fn invalidate(&mut self, write: &Write) {
        let is_outdated = |read: &Request| read.is_outdated_by(&write.request, write.outdates);
        for (_, stream) in self.streams.iter_mut().filter(|(request, _)| is_outdated(request)) {
            stream.is_complete = false;
            stream.error = None;
        }
        for (request, resource) in &mut self.resources {
            if is_outdated(request) && request.host.is_none() {
                for entry in &mut resource.entries {
                    entry.stale = true;
                    entry.was_invalidated = entry.is_loading;
                }
            }
        }
    }

    /// Marks replies of `wants` older than `before` as stale: they stay visible and are requested again.
    pub fn invalidate_older(&mut self, wants: &[Want], before: Timestamp) {
        for want in wants {
            let Want::Load(load) = want else { continue };
            let Some(resource) = self.resources.get_mut(&load.request).filter(|_| !load.is_lasting()) else { continue };
            let Resource { entries, errors, .. } = resource;
            for (index, entry) in entries.iter_mut().enumerate().filter(|(_, entry)| !entry.is_loading) {
                let failed_at = errors.get(&index).map(|(_, at)| *at);
                let of = entry.known.as_ref().map(|(_, at)| *at).max(failed_at);
                entry.stale |= of.is_some_and(|at| at < before);
            }
        }
    }

    /// Marks the replies of `wants` as stale, so that they are requested again.
    pub fn refresh(&mut self, wants: &[Want]) {
        self.asked_to_wait = None;
        for want in wants {
            match want {
                Want::Load(load) => {
                    self.unsupported.remove(load.request.route);
                    if let Some(resource) = self.resources.get_mut(&load.request) {
                        for entry in &mut resource.entries {
                            entry.stale = true;
                            entry.was_invalidated = entry.is_loading;
                        }
                    }
                }
                Want::Follow(follow) => {
                    if let Some(stream) = self.streams.get_mut(&follow.request) {
                        stream.is_complete = false;
                        stream.error = None;
                    }
                }
                Want::RangeRead(reader) => drop(self.failed.remove(&reader.key)),
                Want::Work(_) => {}
            }
        }
    }

    /// Starts a turn and evicts the least recently used entries beyond the limits.
    pub fn turn(&mut self) {
        self.turn += 1;
        let turn = self.turn;
        evict(&mut self.resources, (MAX_ENTRIES, MAX_REPLY_BYTES), turn, |r| (r.used.get(), r.size));
        self.reply_bytes = self.resources.values().fold(0, |sum, resource| sum.saturating_add(resource.size));
        let in_memory = |stream: &Stream| usize::try_from(stream.sink.in_memory()).unwrap_or(usize::MAX);
        evict(&mut self.streams, (MAX_DOCUMENTS, MAX_DOCUMENT_BYTES), turn, |s| (s.used.get(), in_memory(s)));
        evict(&mut self.results, (MAX_ENTRIES, MAX_RESULT_BYTES), turn, |m| (m.used.get(), m.result.weight));
    }

    /// Returns what was received for `request`, with an entry for the page at `index` if the one before is there.
    fn resource(&mut self, request: &Request, index: usize) -> &mut Resource {
        let turn = self.turn;
        let resource = self.resources.entry(request.clone()).or_default();
        resource.used.set(turn);
        // Pages are requested in order, so at most one entry is new.
        if resource.entries.len() == index {
            resource.entries.push(Entry::default());
        }
        resource
    }
}

/// Returns the index of a page of a list (counted from 1) or of a single reply (page 0).
fn index_of(page: u32) -> usize {
    page.saturating_sub(1) as usize
}

/// The delay in seconds before a wanted request is retried after a temporary error.
const RETRY_SECONDS: f64 = 10.0;
/// The maximum number of times that the delay doubles while the server cannot be reached.
const MAX_DOUBLINGS: u32 = 4;

/// Returns whether a request did not reach the server.
fn is_unreachable(fault: &Fault) -> bool {
    matches!(fault, Fault::Offline(_) | Fault::Timeout(_) | Fault::Tls(_))
}

impl Unreachable {
    /// Returns the number of seconds until the next attempt.
    fn pause(&self) -> f64 {
        RETRY_SECONDS * f64::from(2_u32.pow(self.attempts.saturating_sub(1).min(MAX_DOUBLINGS)))
    }
}

fn later(at: Timestamp, seconds: f64) -> Timestamp {
    at.checked_add(jiff::SignedDuration::from_millis((seconds * 1000.0) as i64)).unwrap_or(Timestamp::MAX)
}

/// Returns the earlier of two times, or the one that is set.
pub fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Evicts the least recently used entries, down to half of the limits, if the limit of entries or bytes is exceeded.
/// Entries used in the last turn are kept, because they would be requested again at once. `of` returns the turn in
/// which a value was last used, and its size in bytes.
fn evict<K: Eq + std::hash::Hash, V>(
    map: &mut HashMap<K, V>,
    (max_entries, max_bytes): (usize, usize),
    turn: u64,
    of: impl Fn(&V) -> (u64, usize),
) {
    let bytes = map.values().fold(0_usize, |sum, value| sum.saturating_add(of(value).1));
    if map.len() <= max_entries && bytes <= max_bytes {
        return;
    }
    let mut all: Vec<(u64, usize)> = map.values().map(&of).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    let (mut count, mut bytes) = (0, 0_usize);
    let too_much = all.iter().find(|(_, size)| {
        (count, bytes) = (count + 1, bytes.saturating_add(*size));
        count > max_entries / 2 || bytes > max_bytes / 2
    });
    let gone = too_much.map_or(0, |(used, _)| *used);
    map.retain(|_, value| of(value).0 > gone || of(value).0 + 1 >= turn);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Fault;
    use crate::api::branches::{Branch, CreateBranch, ListBranches};
    use crate::api::tags::CreateTag;
    use std::time::Duration;

    struct Heavy(usize);

    impl Derive for Heavy {
        type Output = usize;
        fn key(&self) -> String {
            format!("heavy {}", self.0)
        }
        fn run(&self, _: Canceled<'_>) -> usize {
            self.0
        }
        fn weight(&self, _: &usize) -> usize {
            MAX_RESULT_BYTES / 8
        }
    }

    #[test]
    fn results_are_evicted_by_weight() {
        let mut store = Store::default();
        for number in 0..40 {
            let work = Work::new(Heavy(number));
            store.record_result(work.key.clone(), (work.run)(&|| false));
            store.turn();
            assert!(
                store.results.values().map(|known| known.result.weight).sum::<usize>() <= MAX_RESULT_BYTES,
                "after {number}"
            );
        }
        assert_eq!(store.result::<usize>("heavy 39"), Some(&39), "the latest stays");
        assert!(store.is_result_missing("heavy 0"));
    }

    #[test]
    fn a_preview_is_shown_until_the_result_is_there() {
        let mut store = Store::default();
        let result = |number: usize| WorkResult::from(Arc::new(number) as Value);
        store.record_preview("text".into(), result(1));
        assert_eq!((store.result::<usize>("text"), store.is_result_missing("text")), (Some(&1), true));
        store.record_result("text".into(), result(2));
        assert_eq!((store.result::<usize>("text"), store.is_result_missing("text")), (Some(&2), false));
    }

    #[test]
    fn failures_are_bounded() {
        let mut store = Store::default();
        (0..10 * MAX_FAILURES).for_each(|number| store.record_work_error(format!("work {number}")));
        assert!(
            store.failed_work.len() <= MAX_FAILURES
                && !store.is_result_missing(&format!("work {}", 10 * MAX_FAILURES - 1))
        );
    }

    fn rows(names: &[&str], next: Option<u32>) -> ParsedReply {
        let rows: Vec<Branch> = names.iter().map(|n| Branch { name: (*n).to_string(), ..Branch::default() }).collect();
        ParsedReply {
            len: rows.len(),
            digest: digest(names.join(" ").as_bytes()),
            etag: None,
            size: names.len(),
            value: Arc::new(rows),
            next: next.map(NextPage::Number),
            total: None,
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a second of the test's clock")
    }

    #[test]
    fn pages_are_chained_and_requested_in_order() {
        let list = ListBranches { id: "1".into(), search: None };
        let load = Load::list(&list, 3);
        let mut store = Store::default();
        assert_eq!(store.due(&load, at(0)).0, Some(1));
        store.record_reply(&load.request, 1, Ok(rows(&["a", "b"], Some(2))), at(0));
        assert_eq!(store.due(&load, at(0)).0, Some(2));
        store.record_reply(&load.request, 2, Ok(rows(&["c"], None)), at(0));
        assert_eq!(store.due(&load, at(0)).0, None);
        let known = store.list(&list);
        let names: Vec<_> = (0..known.len()).filter_map(|i| known.get(i)).map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(known.get(3).is_none());
        assert!(!known.has_more);
    }

    /// Answers everything that is due for `load` with the pages that `page` returns, and returns the number of requests.
    fn answer_all(store: &mut Store, load: &Load, page: impl Fn(u32) -> ParsedReply) -> u32 {
        let mut count = 0;
        while let Some(number) = store.due(load, at(0)).0 {
            count += 1;
            assert!(count <= 10_000, "it never ends");
            store.record_reply(&load.request, number, Ok(page(number)), at(0));
        }
        count
    }

    fn endless() -> (Store, ListBranches, Load) {
        let list = ListBranches { id: "1".into(), search: None };
        let load = Load::list(&list, u32::MAX);
        (Store::default(), list, load)
    }

    #[test]
    fn a_list_grows_by_a_bounded_number_of_pages_between_two_actions() {
        let (mut store, list, load) = endless();
        let page = |number: u32| rows(&[&format!("branch-{number}")], Some(number + 1));
        let count = answer_all(&mut store, &load, page);
        assert_eq!(count, want::MAX_UNASKED_PAGES);
        let known = store.list(&list);
        assert_eq!((known.has_more, known.cut, known.has_next(u32::MAX)), (true, Some(Cut::Paused), false));
        store.record_action();
        assert_eq!(store.list(&list).cut, None);
        assert_eq!(answer_all(&mut store, &load, page), want::MAX_UNASKED_PAGES);
        // Refreshing is not growing.
        store.refresh(&[load.clone().into()]);
        assert_eq!(answer_all(&mut store, &load, page), 2 * want::MAX_UNASKED_PAGES);
        assert_eq!(store.list(&list).pages(), 2 * want::MAX_UNASKED_PAGES);
    }

    #[test]
    fn a_list_without_page_numbers_follows_the_links_in_order() {
        let list = ListBranches { id: "1".into(), search: Some("x".into()) };
        let load = Load::list(&list, u32::MAX).concurrency(4);
        let link = |token: u32| Some(NextPage::Query(format!("search=other&page_token={token}&page=1&per_page=20")));
        let page = |number: u32, next| ParsedReply { next, ..rows(&[&format!("branch-{number}")], None) };
        let mut store = Store::default();
        store.record_reply(&load.request, 1, Ok(page(1, link(1))), at(0));
        assert_eq!((store.list(&list).has_more, store.due(&load, at(0)).0), (true, Some(2)));
        let line = "GET /projects/1/repository/branches?search=x&page_token=1&per_page=100";
        assert_eq!(load.page(2, store.link_to(&load.request, 2).map(String::as_str)).line(), line);
        store.set_loading(&TaskKey::Load(load.request.clone(), 2), true);
        assert_eq!(store.due(&load, at(0)).0, None, "the link to the third page is on the second");
        store.record_reply(&load.request, 2, Ok(page(2, None)), at(0));
        assert_eq!((store.list(&list).len(), store.list(&list).has_more), (2, false));
        let revision = store.list(&list).revision;
        store.record_reply(&load.request, 1, Ok(page(1, link(7))), at(1));
        assert_eq!(store.list(&list).revision, revision, "another link to the same page is no change");
        assert_eq!(store.link_to(&load.request, 2), Some(&"search=other&page_token=7&page=1&per_page=20".to_owned()));
        // A server whose links lead back or nowhere is not followed for ever.
        let mut store = Store::default();
        assert_eq!(answer_all(&mut store, &load, |number| page(number % 3, link(number))), 4);
        assert_eq!(store.list(&list).cut, Some(Cut::Repeats));
    }

    #[test]
    fn a_list_ends_where_pages_repeat_or_stay_empty() {
        let (mut store, list, load) = endless();
        let cycle = |number: u32| rows(&[["a", "b", "c"][number as usize % 3]], Some(number + 1));
        assert_eq!(answer_all(&mut store, &load, cycle), 4);
        let known = store.list(&list);
        let names: Vec<&str> = known.iter().map(|branch| branch.name.as_str()).collect();
        assert_eq!((names, known.cut), (vec!["b", "c", "a"], Some(Cut::Repeats)));
        // Rows that moved to the next page between two requests look like a repeated page, until they are refreshed.
        store.refresh(&[load.clone().into()]);
        answer_all(&mut store, &load, |number| {
            rows(&[["d", "b", "c"][number as usize % 3]], (number < 3).then_some(number + 1))
        });
        assert_eq!((store.list(&list).len(), store.list(&list).cut), (3, None));
        let (mut store, list, load) = endless();
        let empty = |number: u32| rows(if number == 1 { &["a"] } else { &[] }, Some(number + 1));
        assert_eq!(answer_all(&mut store, &load, empty), 1 + MAX_EMPTY_PAGES as u32);
        assert_eq!((store.list(&list).len(), store.list(&list).cut), (1, Some(Cut::Repeats)));
    }

    #[test]
    fn a_list_ends_when_it_is_too_large() {
        let (mut store, list, load) = endless();
        let page = |number: u32| ParsedReply {
            size: load.max_bytes / 4,
            ..rows(&[&format!("branch-{number}")], Some(number + 1))
        };
        assert_eq!(answer_all(&mut store, &load, page), 4);
        assert_eq!(store.list(&list).cut, Some(Cut::Size));
        store.record_action();
        assert_eq!(answer_all(&mut store, &load, page), 0, "no key loads more");
        // All lists together are bounded, too.
        for id in 2..20_u64 {
            let load = Load::list(&ListBranches { id: id.into(), search: None }, u32::MAX);
            answer_all(&mut store, &load, page);
        }
        assert!(store.reply_bytes() < MAX_REPLY_BYTES + 20 * load.max_bytes / 4, "{}", store.reply_bytes());
    }

    #[test]
    fn many_small_objects_weigh_more_than_their_text() {
        let load = Load::list(&ListBranches { id: "1".into(), search: None }, 1);
        let body = format!("[{}{{}}]", "{},".repeat(50_000));
        let (value, _) = (load.read)(body.as_bytes(), None).expect("a list");
        assert!(load.weigh(body.as_bytes(), Some("application/json"), &value) > 10 << 20);
        assert_eq!(load.weigh(body.as_bytes(), Some("text/plain"), &value), body.len());
    }

    #[test]
    fn revisions_are_unique_and_detect_appends() {
        let list = |search: &str| ListBranches { id: "1".into(), search: Some(search.into()) };
        let mut store = Store::default();
        store.record_reply(&list("a").request(), 1, Ok(rows(&["a"], Some(2))), at(0));
        store.record_reply(&list("b").request(), 1, Ok(rows(&["b"], None)), at(0));
        let first = store.list(&list("a")).revision;
        assert_ne!(first, store.list(&list("b")).revision);
        store.record_reply(&list("a").request(), 2, Ok(rows(&["c"], None)), at(0));
        assert_ne!(store.list(&list("a")).revision, first);
        assert!(store.list(&list("a")).extends(first), "a second page leaves the first rows as they were");
        store.record_reply(&list("a").request(), 1, Ok(rows(&["x"], Some(2))), at(0));
        assert!(!store.list(&list("a")).extends(first), "another first page is another list");
    }

    #[test]
    fn derived_values_require_their_revision() {
        let list = |search: &str| ListBranches { id: "1".into(), search: Some(search.into()) };
        let mut store = Store::default();
        store.record_reply(&list("a").request(), 1, Ok(rows(&["a"], None)), at(0));
        store.record_reply(&list("b").request(), 1, Ok(rows(&["b"], None)), at(0));
        let (a, b) = (store.list(&list("a")).revision, store.list(&list("b")).revision);
        let mut order = Derived::default();
        assert!(order.update(a, "name", || vec![0]));
        assert!(!order.update(a, "name", || vec![9]), "it is made once");
        assert_eq!((order.get(a), order.get(b)), (Some(&vec![0]), None));
        assert!(order.update(a, "age", || vec![1]) && order.update(b, "age", || vec![2]));
        assert_eq!((order.get(a), order.get(b)), (None, Some(&vec![2])));
    }

    #[test]
    fn writes_make_touched_replies_stale_and_keep_their_rows() {
        let list = ListBranches { id: "1".into(), search: None };
        let load = Load::list(&list, 1);
        let mut store = Store::default();
        store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
        store.invalidate(&Write::new(&CreateBranch { id: "1".into(), ..Default::default() }, "create"));
        assert_eq!(store.due(&load, at(0)).0, Some(1));
        assert_eq!(store.list(&list).len(), 1);
    }

    #[test]
    fn temporary_errors_are_retried_and_denials_are_not() {
        let list = ListBranches { id: "1".into(), search: None };
        let load = Load::list(&list, 1);
        let mut store = Store::default();
        let error = |fault| Error { tried: "GET /x".into(), fault };
        store.record_reply(&load.request, 1, Err(error(Fault::Offline("gone".into()))), at(0));
        assert_eq!(store.due(&load, at(1)), (None, Some(at(10))));
        assert_eq!(store.due(&load, at(10)).0, Some(1));
        assert!(store.unreachable().is_some());
        store.record_reply(&load.request, 1, Err(error(Fault::Denied("no".into()))), at(11));
        assert_eq!(store.due(&load, at(1000)), (None, None));
        assert!(store.unreachable().is_none());
    }

    #[test]
    fn errors_change_the_generation() {
        let list = ListBranches { id: "1".into(), search: None };
        let mut store = Store::default();
        let mut is_news = |outcome| {
            let (before, revision) = (store.generation(), store.list(&list).revision);
            store.record_reply(&list.request(), 1, outcome, at(0));
            (store.generation() != before, store.list(&list).revision != revision)
        };
        let error = || Err(Error { tried: "GET /x".into(), fault: Fault::Offline("gone".into()) });
        assert_eq!(is_news(Ok(rows(&["a"], None))), (true, true));
        assert_eq!(is_news(Ok(rows(&["a"], None))), (false, false), "the same rows again");
        assert_eq!(is_news(error()), (true, false), "the rows stay");
        assert_eq!(is_news(Ok(rows(&["a"], None))), (true, false));
    }

    #[test]
    fn a_requested_pause_is_respected() {
        let load = Load::list(&ListBranches { id: "1".into(), search: None }, 1);
        let mut store = Store::default();
        let fault = Fault::Limited(Some(Duration::from_secs(600)));
        store.record_reply(&load.request, 1, Err(Error { tried: "GET /x".into(), fault }), at(0));
        assert_eq!(store.due(&load, at(10)), (None, Some(at(600))));
        assert_eq!(store.due(&load, at(600)).0, Some(1));
    }

    #[test]
    fn local_refusals_do_not_change_reachability() {
        let mut store = Store::default();
        let error = |fault| Error { tried: "POST /x".into(), fault };
        store.record_reachability(Some(&error(Fault::Offline("gone".into()))), at(0));
        store.record_reachability(Some(&error(Fault::ReadOnly)), at(1));
        assert!(store.unreachable().is_some() && store.last_contact().is_none());
    }

    #[test]
    fn all_pages_of_a_server_with_small_pages_are_requested() {
        let load = Load::list(&ListBranches { id: "1".into(), search: None }, 9);
        let mut store = Store::default();
        for page in 1..=3 {
            assert_eq!(store.due(&load, at(0)).0, Some(page));
            let names = [format!("a{page}"), format!("b{page}")];
            let rows = rows(&[&names[0], &names[1]], (page < 3).then_some(page + 1));
            let rows = ParsedReply { total: Some(6), ..rows };
            store.record_reply(&load.request, page, Ok(rows), at(0));
        }
        assert_eq!(store.due(&load, at(0)).0, None);
    }

    #[test]
    fn used_entries_are_not_evicted() {
        let load = |n: usize| Load::list(&ListBranches { id: n.to_string().into(), search: None }, 1);
        let mut store = Store::default();
        for n in 0..3 * MAX_ENTRIES {
            store.record_reply(&load(n).request, 1, Ok(rows(&["a"], None)), at(0));
        }
        let looked_at = |store: &Store| {
            let all = (MAX_ENTRIES..3 * MAX_ENTRIES)
                .map(|n| store.list(&ListBranches { id: n.to_string().into(), search: None }));
            all.filter(|rows| rows.is_loaded).count()
        };
        for _ in 0..3 {
            assert_eq!(looked_at(&store), 2 * MAX_ENTRIES);
            store.turn();
        }
        assert!(!store.list(&ListBranches { id: "0".into(), search: None }).is_loaded);
    }

    #[test]
    fn large_unused_entries_are_evicted() {
        let list = |n: usize| ListBranches { id: n.to_string().into(), search: None };
        let mut store = Store::default();
        for n in 0..4 {
            let large = ParsedReply { size: MAX_REPLY_BYTES / 3, ..rows(&["a"], None) };
            store.record_reply(&Load::list(&list(n), 1).request, 1, Ok(large), at(0));
            store.turn();
        }
        let known: Vec<bool> = (0..4).map(|n| store.list(&list(n)).is_loaded).collect();
        assert_eq!(known, [false, false, false, true], "half the room stays free for what comes");
    }

    #[test]
    fn old_replies_are_refreshed_and_identical_ones_keep_the_revision() {
        let list = ListBranches { id: "1".into(), search: None };
        let load = Load::list(&list, 1);
        let mut store = Store::default();
        store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
        store.invalidate_older(&[load.clone().into()], at(0));
        assert_eq!(store.due(&load, at(1)).0, None);
        store.invalidate_older(&[load.clone().into()], at(1));
        assert_eq!(store.due(&load, at(1)).0, Some(1));
        let revision = store.list(&list).revision;
        store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(2));
        let known = store.list(&list);
        assert_eq!((known.revision, known.since, known.at), (revision, Some(at(0)), Some(at(2))));
        store.record_reply(&load.request, 1, Ok(rows(&["b"], None)), at(3));
        assert_eq!(store.list(&list).since, Some(at(3)));
        assert_ne!(store.list(&list).revision, revision);
    }

    #[test]
    fn polled_replies_become_due() {
        let list = ListBranches { id: "1".into(), search: None };
        let load = Load::list(&list, 1).refresh_after(Duration::from_secs(3));
        let mut store = Store::default();
        store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
        assert_eq!(store.due(&load, at(1)), (None, Some(at(3))));
        assert_eq!(store.due(&load, at(3)).0, Some(1));
    }

    #[test]
    fn writes_invalidate_requests_in_flight() {
        let list = ListBranches { id: "1".into(), search: None };
        let load = Load::list(&list, 1);
        let mut store = Store::default();
        store.set_loading(&TaskKey::Load(load.request.clone(), 1), true);
        store.invalidate(&Write::new(&CreateBranch { id: "1".into(), ..Default::default() }, "create"));
        store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
        assert!(!store.is_fresh(&load.request) && !store.list(&list).is_settled(1), "it may be older than the change");
        assert_eq!(store.due(&load, at(0)).0, Some(1));
        store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(0));
        assert!(store.is_fresh(&load.request) && store.list(&list).is_settled(1));
        store.invalidate(&Write::new(&CreateTag { id: "1".into(), ..Default::default() }, "create"));
        assert_eq!(store.due(&load, at(0)).0, None, "another topic says nothing of it");
    }

    #[test]
    fn a_shorter_list_drops_old_rows() {
        let list = ListBranches { id: "1".into(), search: None };
        let load = Load::list(&list, 3);
        let mut store = Store::default();
        for (page, name) in [(1, "a"), (2, "b"), (3, "c")] {
            store.record_reply(&load.request, page, Ok(rows(&[name], (page < 3).then_some(page + 1))), at(0));
        }
        let before = store.list(&list).revision;
        assert_eq!((store.list(&list).len(), store.list(&list).has_more), (3, false));
        store.record_reply(&load.request, 2, Ok(rows(&["b"], None)), at(1));
        let known = store.list(&list);
        assert_eq!((known.len(), known.has_more, known.get(2).is_none()), (2, false, true));
        assert!(!known.extends(before), "what was derived from three rows is not of these");
        assert_eq!(store.due(&load, at(1)).0, None);
    }

    #[test]
    fn concurrent_pages_stay_within_the_total() {
        let load = Load::list(&ListBranches { id: "1".into(), search: None }, 9).concurrency(2);
        let mut store = Store::default();
        let many = vec!["a"; PER_PAGE as usize];
        store.record_reply(&load.request, 1, Ok(ParsedReply { total: Some(500), ..rows(&many, Some(2)) }), at(0));
        for page in [2, 3] {
            assert_eq!(store.due(&load, at(0)).0, Some(page));
            store.set_loading(&TaskKey::Load(load.request.clone(), page), true);
        }
        assert_eq!(store.due(&load, at(0)).0, None, "two are on their way");
        for page in 2..=5 {
            store.record_reply(&load.request, page, Ok(rows(&many, Some(page + 1))), at(0));
        }
        assert_eq!(store.due(&load, at(0)).0, None, "five pages hold all that the server counts");
    }

    #[test]
    fn failed_refresh_marks_replies_outdated() {
        let list = ListBranches { id: "1".into(), search: None };
        let load = Load::list(&list, 1);
        let wants = [Want::from(load.clone())];
        let mut store = Store::default();
        let error = || Err(Error { tried: "GET /x".into(), fault: Fault::Offline("gone".into()) });
        store.record_reply(&load.request, 1, error(), at(0));
        assert!(!store.failed_to_refresh(&wants), "nothing is shown that could be old");
        store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(1));
        assert_eq!((store.failed_to_refresh(&wants), store.last_contact()), (false, Some(at(1))));
        store.record_reply(&load.request, 1, error(), at(2));
        assert_eq!((store.failed_to_refresh(&wants), store.last_contact()), (true, Some(at(1))));
        assert_eq!(store.oldest(&wants), Some(at(1)));
    }

    #[test]
    fn unsupported_routes_are_not_requested_until_refresh() {
        let list = |id: &str| ListBranches { id: id.into(), search: None };
        let (load, other) = (Load::list(&list("1"), 1), Load::list(&list("2"), 1));
        let mut store = Store::default();
        assert!(!store.fail_unasked(&other.request, 1, at(0)));
        let fault = Fault::Unsupported("404 Not Found".into());
        store.record_reply(&load.request, 1, Err(Error { tried: "GET /x".into(), fault }), at(0));
        assert!(store.is_unsupported::<ListBranches>() && store.fail_unasked(&other.request, 1, at(0)));
        assert!(store.error_of(&other.request).is_some());
        store.refresh(&[other.clone().into()]);
        assert!(!store.is_unsupported::<ListBranches>() && !store.fail_unasked(&other.request, 1, at(0)));
        assert_eq!(store.due(&other, at(0)).0, Some(1));
    }

    #[test]
    fn every_request_keeps_the_pause_that_the_server_asked_for() {
        let list = |id: &str| Load::list(&ListBranches { id: id.into(), search: None }, 1);
        let (load, other) = (list("1"), list("2"));
        let mut store = Store::default();
        let fault = Fault::Limited(Some(std::time::Duration::from_secs(60)));
        store.record_reply(&load.request, 1, Err(Error { tried: "GET /x".into(), fault }), at(0));
        assert_eq!(store.due(&other, at(10)).0, Some(1));
        assert!(store.fail_unasked(&other.request, 1, at(10)));
        let said = store.error_of(&other.request).map(|error| error.message());
        assert_eq!(said.as_deref(), Some("the server asks to wait 50 s"));
        assert_eq!(store.due(&other, at(11)), (None, Some(at(60))));
        assert_eq!(store.due(&other, at(60)).0, Some(1));
        assert!(!store.fail_unasked(&other.request, 1, at(60)));
        // One request tries whether the pause was long enough, also if the user asks for it.
        store.refresh(&[load.clone().into(), other.clone().into()]);
        assert!(!store.fail_unasked(&load.request, 1, at(20)) && store.waits_for_attempt(&load.request, 1));
        store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(20));
        assert!(!store.waits_for_attempt(&other.request, 1));
    }

    #[test]
    fn all_wait_for_one_attempt_to_reach_the_server_with_growing_pauses() {
        let list = |id: &str| Load::list(&ListBranches { id: id.into(), search: None }, 1);
        let (load, other) = (list("1"), list("2"));
        let mut store = Store::default();
        let gone = || Err(Error { tried: "GET /x".into(), fault: Fault::Offline("gone".into()) });
        store.record_reply(&load.request, 1, gone(), at(0));
        store.record_reply(&other.request, 1, gone(), at(1));
        for (failed, next) in [(11, 31), (31, 71), (71, 151), (151, 311), (311, 471), (471, 631)] {
            assert_eq!(store.due(&other, at(failed)).0, Some(1), "{failed}");
            store.record_reply(&load.request, 1, gone(), at(failed));
            assert_eq!(store.due(&other, at(failed)), (None, Some(at(next))), "{failed}");
        }
        store.record_reply(&load.request, 1, Ok(rows(&["a"], None)), at(600));
        assert_eq!(store.due(&other, at(600)).0, Some(1), "the server is back");
    }

    #[test]
    fn entries_are_evicted_only_beyond_the_limits() {
        let list = |n: usize| ListBranches { id: n.to_string().into(), search: None };
        let after = |count: usize, size: usize| {
            let mut store = Store::default();
            for n in 0..count {
                let large = ParsedReply { size, ..rows(&["a"], None) };
                store.record_reply(&Load::list(&list(n), 1).request, 1, Ok(large), at(0));
            }
            (0..3).for_each(|_| store.turn());
            (0..count).filter(|n| store.list(&list(*n)).is_loaded).count()
        };
        assert_eq!((after(2, MAX_REPLY_BYTES / 3), after(MAX_ENTRIES, 1)), (2, MAX_ENTRIES));
        assert_eq!(after(2, MAX_REPLY_BYTES / 3 * 2), 0);
    }

    #[test]
    fn failures_do_not_replace_each_other() {
        let mut store = Store::default();
        for number in 0..10 {
            store.record_work_error(format!("work {number}"));
            store.record_range_error(
                format!("parts {number}"),
                Error { tried: String::new(), fault: Fault::Offline("gone".into()) },
            );
        }
        assert!(!store.is_result_missing("work 0") && !store.is_result_missing("work 9"));
        assert!(store.failed("parts 0").is_some() && !store.is_result_missing("parts 9"));
        for number in 0..10 * MAX_FAILURES {
            let error = Error { tried: String::new(), fault: Fault::Offline("gone".into()) };
            store.record_range_error(format!("parts {number}"), error);
        }
        assert!(store.failed.len() <= MAX_FAILURES);
    }

    #[test]
    fn chained_lists_are_known_once_each_has_a_reply_or_an_error() {
        let list = |search: &str| ListBranches { id: "1".into(), search: Some(search.into()) };
        let (a, b) = (list("a"), list("b"));
        let mut store = Store::default();
        let both = |store: &Store| Rows::chain(vec![store.list(&a), store.list(&b)]).is_loaded;
        assert!(!both(&store) && !Rows::<Branch>::chain(Vec::new()).is_loaded, "nothing has answered");
        assert!(!store.knows(&a.request(), 1));
        store.set_loading(&TaskKey::Load(a.request(), 1), true);
        assert!(store.is_loading(&a.request()) && !store.is_loading(&b.request()) && !store.knows(&a.request(), 1));
        store.record_reply(&a.request(), 1, Ok(rows(&["a"], None)), at(0));
        assert!(!both(&store) && store.knows(&a.request(), 1) && !store.knows(&a.request(), 2));
        let denied = Error { tried: "GET /x".into(), fault: Fault::Denied(String::new()) };
        store.record_reply(&b.request(), 1, Err(denied), at(0));
        assert!(both(&store) && store.list(&b).refused().is_some() && store.list(&a).refused().is_none());
        let gone = Error { tried: "GET /x".into(), fault: Fault::Offline("gone".into()) };
        store.record_reply(&b.request(), 1, Err(gone), at(0));
        assert!(store.list(&b).refused().is_none(), "a server that is gone refuses nothing");
    }
}
