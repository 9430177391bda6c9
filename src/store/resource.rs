//! The replies to one request, page by page.

use super::revision::Revision;
use super::want::{Load, Value};
use api::Error;
use api::client::Etag;
use api::error::Unreadable;
use api::page::NextPage;
use jiff::{SignedDuration, Timestamp};
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

/// The maximum number of consecutive pages without rows after which a list is not continued.
pub(super) const MAX_EMPTY_PAGES: usize = 3;
/// The minimum time between two moments at which pages of a list are read again because its rows have moved.
const REREAD_PAUSE: SignedDuration = SignedDuration::from_secs(10);
/// The maximum number of pages before and after one that are read again.
const MAX_REREAD_PAGES: usize = 10;

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
    /// The size in memory in bytes, see [`Load::weigh`](super::want::Load::weigh).
    pub size: usize,
    /// The IDs of the rows of a list, see [`row_ids`]; empty if unknown.
    pub ids: Vec<u64>,
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

/// Returns the IDs of the rows in the body of a list. Empty if not every one of `len` rows has a number of its own.
pub fn row_ids(body: &[u8], len: usize) -> Vec<u64> {
    #[derive(serde::Deserialize)]
    struct Row {
        id: u64,
    }
    let rows: Vec<Row> = serde_json::from_slice(body).unwrap_or_default();
    if rows.len() == len { rows.into_iter().map(|row| row.id).collect() } else { Vec::new() }
}

impl ParsedReply {
    /// Creates the reply of `len` rows, about which nothing else is known.
    pub fn new(len: usize, value: Value) -> ParsedReply {
        ParsedReply { value, len, next: None, total: None, digest: 0, etag: None, size: 0, ids: Vec::new() }
    }

    /// Parses the body of a reply to `load`.
    ///
    /// # Errors
    /// Fails if the body is not what was requested.
    pub fn read(load: &Load, body: &[u8], kind: Option<&str>) -> Result<ParsedReply, Unreadable> {
        let (value, len) = (load.read)(body, kind)?;
        let (digest, size) = (digest(body), load.weigh(body, kind, &value));
        let ids = if load.pages > 0 { row_ids(body, len) } else { Vec::new() };
        Ok(ParsedReply { digest, size, ids, ..ParsedReply::new(len, value) })
    }

    /// Returns whether both replies have the same rows, and the same say about how many follow. Links to the same page
    /// may differ.
    pub(super) fn is_same_reply(&self, other: &ParsedReply) -> bool {
        let facts = |reply: &ParsedReply| (reply.digest, reply.next.is_some(), reply.total);
        self.digest != 0 && facts(self) == facts(other)
    }

    /// Returns the query of the link to the next page, if the server does not count pages.
    pub(super) fn link(&self) -> Option<&String> {
        if let Some(NextPage::Query(query)) = &self.next { Some(query) } else { None }
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
pub(super) struct Entry {
    pub(super) known: Option<(ParsedReply, Timestamp)>,
    /// The time at which the current value was first received.
    pub(super) since: Option<Timestamp>,
    /// The number of replies so far.
    pub(super) replies: usize,
    pub(super) stale: bool,
    pub(super) is_loading: bool,
    /// Whether the entry became stale while loading, so that the pending reply may be older than the change.
    pub(super) was_invalidated: bool,
    /// The indexes of rows that an earlier page has, too: they moved while the pages were read.
    pub(super) hidden: Vec<usize>,
}

impl Entry {
    /// Returns the index in the reply of the row that is shown at `index`.
    fn index_of_shown(&self, index: usize) -> usize {
        self.hidden.iter().fold(index, |index, hidden| index + usize::from(*hidden <= index))
    }
}

/// Everything received for one request: one entry per page.
#[derive(Default)]
pub(super) struct Resource {
    pub(super) entries: Vec<Entry>,
    /// The errors of the last attempts with their time, by the index of the page; few pages of a list fail.
    pub(super) errors: BTreeMap<usize, (Error, Timestamp)>,
    /// `starts[i]` is the index of the first row of page `i`; there is one more element than consecutive pages.
    pub(super) starts: Vec<usize>,
    pub(super) revision: Revision,
    /// The first revision whose rows are a prefix of the current rows; the same holds for all later revisions.
    pub(super) extends: Revision,
    /// The digests of the consecutive pages with rows.
    digests: HashSet<u64>,
    /// The IDs of the rows of the consecutive pages.
    ids: HashSet<u64>,
    /// The time at which neighboring pages were last found to be of another state of the list.
    moved_at: Option<Timestamp>,
    /// The number of consecutive pages without rows at the end.
    empty_pages: usize,
    /// Whether the page after the consecutive ones is an earlier page again.
    has_repeat: bool,
    /// The size in bytes, see [`Load::weigh`](super::want::Load::weigh).
    pub(super) size: usize,
    pub(super) used: Cell<u64>,
    /// The action of the user during which the list was last wanted, and the number of pages at that time.
    pub(super) action: Cell<(u64, usize)>,
    /// The limits of the last [`Load`](super::want::Load): pages per action, and bytes.
    pub(super) limits: Cell<Option<(u32, usize)>>,
}

impl Resource {
    /// Updates the revision and the row counts after a page arrived; `is_new_page` if the page is new.
    pub(super) fn revise(&mut self, revision: Revision, is_new_page: bool) {
        self.revision = revision;
        if !is_new_page {
            self.extends = revision;
            self.starts.clear();
            self.digests.clear();
            self.ids.clear();
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
        for entry in self.entries.iter_mut().skip(first) {
            let Some((reply, _)) = &entry.known else { break };
            let moved = |(index, id): (usize, &u64)| (!self.ids.insert(*id)).then_some(index);
            entry.hidden = reply.ids.iter().enumerate().filter_map(moved).collect();
            let len = reply.len.saturating_sub(entry.hidden.len());
            if len == 0 {
                self.empty_pages += 1;
            } else if reply.digest == 0 || self.digests.insert(reply.digest) {
                self.empty_pages = 0;
            } else {
                self.has_repeat = true;
                break;
            }
            let start = self.starts.last().copied().unwrap_or(0);
            self.starts.push(start.saturating_add(len));
        }
        if self.has_repeat {
            self.truncate(self.starts.len().saturating_sub(1));
        }
        let sizes = self.entries.iter().filter_map(|entry| entry.known.as_ref()).map(|(arrival, _)| arrival.size);
        self.size = sizes.fold(0, usize::saturating_add);
    }

    /// Marks the pages around the one at `index` as stale if they show another state of the list than it does: they have
    /// a row in common, or the server has counted other rows. A list that changes all the time is not followed.
    pub(super) fn reread_moved(&mut self, index: usize, now: Timestamp) {
        let is_early = self.moved_at.is_some_and(|at| now.duration_since(at) < REREAD_PAUSE);
        let total = |entry: &Entry| entry.known.as_ref().and_then(|(reply, _)| reply.total);
        let Some(of_page) = self.entries.get(index).filter(|_| !is_early).map(total) else { return };
        let is_other = |entry: &Entry| {
            !entry.hidden.is_empty() || of_page.is_some() && total(entry).is_some_and(|total| Some(total) != of_page)
        };
        if !self.counted().iter().any(is_other) {
            return;
        }
        self.moved_at = Some(now);
        let around = index.saturating_sub(MAX_REREAD_PAGES)..=index.saturating_add(MAX_REREAD_PAGES);
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if at != index && around.contains(&at) && entry.known.is_some() && !entry.is_loading {
                entry.stale = true;
            }
        }
    }

    pub(super) fn truncate(&mut self, pages: usize) {
        self.entries.truncate(pages);
        self.errors.split_off(&pages);
    }

    pub(super) fn is_loading(&self) -> bool {
        self.entries.iter().any(|entry| entry.is_loading)
    }

    /// Returns whether a known page could not be asked again.
    pub(super) fn failed_to_refresh(&self) -> bool {
        self.errors.keys().any(|index| self.entries.get(*index).is_some_and(|entry| entry.known.is_some()))
    }

    /// Returns the error of the first page that failed.
    pub(super) fn error(&self) -> Option<&Error> {
        self.errors.first_key_value().map(|(_, (error, _))| error)
    }

    /// Returns the entries of the consecutive pages.
    pub(super) fn counted(&self) -> &[Entry] {
        self.entries.get(..self.starts.len().saturating_sub(1)).unwrap_or_default()
    }

    /// Returns the reason why the page at `index` is not requested, if it is a further page; `action` is the current
    /// action of the user.
    pub(super) fn cut(&self, index: usize, action: u64) -> Option<Cut> {
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

    /// Returns whether the server has more rows. A page that only may exist does not if it has no new rows.
    pub(super) fn has_more(&self) -> bool {
        let last = self.counted().last().and_then(|entry| entry.known.as_ref());
        let is_new = !self.has_repeat && self.empty_pages == 0;
        last.and_then(|(reply, _)| reply.next.as_ref()).is_some_and(|next| next.is_named() || is_new)
    }

    pub(super) fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    pub(super) fn pages(&self) -> u32 {
        self.starts.len().saturating_sub(1) as u32
    }

    pub(super) fn get<T: 'static>(&self, index: usize) -> Option<&T> {
        let page = self.starts.partition_point(|start| *start <= index).checked_sub(1)?;
        let entry = self.entries.get(page)?;
        let (arrival, _) = entry.known.as_ref()?;
        arrival.value.downcast_ref::<Vec<T>>()?.get(entry.index_of_shown(index - self.starts.get(page)?))
    }
}
