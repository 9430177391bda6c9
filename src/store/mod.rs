//! The store of data from the server: replies with their age, growing documents, and results of computations.
//!
//! # Lists, page by page
//!
//! A pane wants a number of pages, and has a reason for the next one on the screen: its end is near the viewport, or a
//! row is sought. `Store::due` bounds them all. Between two actions of the user, a list grows by at most 50 pages
//! (`MAX_UNASKED_PAGES`). It ends where the server sends an earlier page again or several empty ones, and where it is
//! too large. `Rows::cut` names the reason, and the list shows it (`more_words`). Where a server names the next page
//! by a cursor in its link instead of by number, each request takes the cursor of the page before it
//! (`Store::link_to`), and nothing else of the link. Where it names no page at all, a full page may have a next one
//! (`NextPage::Possible`), and the list ends if that has no new rows. Code that loads a list to its end, up to a number
//! of pages, uses `Rows::pages_to_end`. The file finder keeps a page as one compact row (`Load::compact`), because a
//! tree may have a million files.

pub mod range_read;
mod resource;
mod revision;
mod rows;
pub mod want;

use api::client::Progress;
use api::endpoint::Request;
use api::error::SERVER;
use api::{Endpoint, Error, Fault, Host};
use domain::growing::Sink;
use jiff::{SignedDuration, Timestamp};
pub use range_read::{AnyRangeRead, RangeRead};
pub use resource::{Cut, ParsedReply, digest, row_ids};
use resource::{Entry, Resource};
pub use revision::{Derived, Revision};
pub use rows::{LoadedRows, Remote, Rows};
use std::any::Any;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
pub use want::{
    Canceled, Derive, Follow, KnownPart, ListQuery, Load, PER_PAGE, RowOf, Task, TaskKey, Value, Want, Work,
    WorkResult, Write,
};

/// The age of replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freshness {
    /// The time at which the oldest reply that can change was received.
    pub oldest: Option<Timestamp>,
    /// Whether a known reply could not be refreshed.
    pub is_outdated: bool,
    /// Whether one failed, see [`Store::first_error`].
    pub has_failed: bool,
}

/// The maximum number of replies, and of results, that are kept although they are not in use.
const MAX_ENTRIES: usize = 600;
/// The maximum size of the replies in memory, in bytes by [`Load::weigh`].
const MAX_REPLY_BYTES: usize = 256 << 20;
/// The maximum number of growing documents, and of their bytes in memory together.
const MAX_DOCUMENTS: usize = 24;
const MAX_DOCUMENT_BYTES: usize = 256 << 20;
/// The maximum number of long replies that are kept as far as they were received.
const MAX_PARTIALS: usize = 4;
/// The age up to which the status of a growing document is not read again before the document.
const JUST_NOW: SignedDuration = SignedDuration::from_secs(2);
/// The maximum total size of the results in bytes, by their estimated weight.
const MAX_RESULT_BYTES: usize = 256 << 20;
/// The maximum number of remembered failures; beyond it, all are dropped and retried where they are still wanted.
const MAX_FAILURES: usize = 1_000;
/// The number of seconds after which nothing is added to a document that is complete by its status.
const SETTLED_SECONDS: f64 = 10.0;

struct Stream {
    sink: Box<dyn Sink>,
    /// The request for its status, and what that says, see [`Follow`].
    status: Request,
    completed_at: fn(&Value) -> Option<Timestamp>,
    /// Creates an empty document.
    new_sink: fn() -> Box<dyn Sink>,
    /// The end of the document and its size, until everything before it was received.
    end: Option<(Box<dyn Sink>, u64)>,
    is_complete: bool,
    /// The error that ended the download.
    error: Option<Error>,
    /// The error with which the download goes on.
    retried: Option<Error>,
    /// The time at which the document was last as long as that of the server.
    read_at: Option<Timestamp>,
    /// The server's time at which the document was requested, if its status was not known then, until it is.
    requested_at: Option<Timestamp>,
    used: Cell<u64>,
}

struct CachedResult {
    result: WorkResult,
    /// Whether the computation has not finished yet.
    is_preview: bool,
    used: Cell<u64>,
}

/// The received part of a long reply.
struct PartialReply {
    value: Value,
    received: u64,
    size: Option<u64>,
}

/// The part of a long reply that can be shown before the whole is there, or after its connection broke.
pub struct Partial<T> {
    pub value: Arc<T>,
    /// The number of bytes that were received.
    pub received: u64,
    /// The number of all bytes, if the server sent it.
    pub size: Option<u64>,
}

/// The failures of a route, or of the server as a whole.
struct Failures {
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
    /// The received parts of long replies, the latest last.
    partials: Vec<(Request, PartialReply)>,
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
    /// The failures of the server since it last answered, and those of routes since a request of them was last answered.
    failures: HashMap<&'static str, Failures>,
    /// The number of requests in a row that the server failed to answer.
    failed_in_a_row: usize,
    /// The times until which the server asked not to be sent anything, or nothing of a route.
    asked_to_wait: HashMap<&'static str, Timestamp>,
    /// The time until which it asked to wait when it refused a request, also a change.
    wait_until: Option<Timestamp>,
    /// Whether it has answered nothing since it asked that.
    is_limited: bool,
    /// Routes that the server does not support, with its message.
    unsupported: HashMap<&'static str, String>,
}

/// The current state of a growing document.
pub struct GrowingDocument<'a, S> {
    /// The document.
    pub sink: &'a S,
    /// Its end and its size, until everything before that was received.
    pub end: Option<(&'a S, u64)>,
    pub is_complete: bool,
    /// The error that ended the download, or with which it is tried again.
    pub error: Option<&'a Error>,
    /// Whether an error ended the download.
    pub is_stopped: bool,
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
        let has_more = resource.is_some_and(Resource::has_more);
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
        let error = stream.error.as_ref().or(stream.retried.as_ref());
        let is_removed = error.is_some_and(Error::is_missing);
        let end = stream.end.as_ref();
        let end = end.and_then(|(end, size)| Some(((end.as_ref() as &dyn Any).downcast_ref::<S>()?, *size)));
        let (is_complete, is_stopped) = (stream.is_complete, stream.error.is_some());
        Some(GrowingDocument { sink, end, is_complete, error, is_stopped, is_removed, read_at: stream.read_at })
    }

    /// Returns what was received of the reply to `endpoint`, unless the whole is there.
    pub fn partial<E: Endpoint>(&self, endpoint: &E) -> Option<Partial<E::Output>>
    where
        E::Output: Send + Sync + 'static,
    {
        let request = endpoint.request();
        let (_, partial) = self.partials.iter().find(|(known, _)| *known == request)?;
        let value = partial.value.clone().downcast().ok()?;
        Some(Partial { value, received: partial.received, size: partial.size })
    }

    /// Records what was received of a reply so far.
    pub fn record_partial(&mut self, request: &Request, value: Value, received: u64, size: Option<u64>) {
        self.partials.retain(|(known, _)| known != request);
        if self.partials.len() >= MAX_PARTIALS {
            self.partials.remove(0);
        }
        self.partials.push((request.clone(), PartialReply { value, received, size }));
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
        self.are_fresh(request, 1)
    }

    /// Returns whether that is so for each of the first `pages` pages that are known.
    pub fn are_fresh(&self, request: &Request, pages: u32) -> bool {
        let Some(resource) = self.resources.get(request) else { return false };
        let mut entries = resource.entries.iter().take(pages.max(1) as usize);
        let is_answered =
            resource.entries.first().is_some_and(|e| e.known.is_some() || resource.errors.contains_key(&0));
        is_answered && entries.all(|e| !e.stale && !e.is_loading)
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
        self.failures.get(SERVER).map(|failures| &failures.error).filter(|error| is_unreachable(&error.fault))
    }

    /// Returns whether a page waits for the outcome of another request: of the next attempt, while the server cannot be
    /// reached, fails at everything or at requests of this route, or refuses requests for being too many.
    pub fn waits_for_attempt(&self, request: &Request, page: u32) -> bool {
        let index = index_of(page);
        let resource = self.resources.get(request).filter(|resource| resource.errors.contains_key(&index));
        let entry = resource.and_then(|resource| resource.entries.get(index));
        let is_gone = self.is_limited || self.failures_of(request.route).next().is_some();
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
    ///
    /// A page is requested if it is not known, or not any more ([`Store::turn`]), and again if it is stale: because a write
    /// outdated it ([`Store::invalidate`]), it was old when a place was opened or gone back to, got the focus or showed
    /// another tab, or when the server answered again ([`Store::invalidate_older`]), rows moved between pages, or it was
    /// asked for ([`Store::refresh`]): by the user, by a place or an overlay that needs the present state before it writes,
    /// by the outbox, or at the end of a custom command. It is also requested again when it gets older than the place
    /// allows ([`Load::refresh_after`]), and some time after a failure that may pass.
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
                    // Temporary errors are retried after a delay, or when the server allows it. All that fails for the
                    // same reason waits for the same attempt.
                    let next = match &error.fault {
                        Fault::Limited(_, wait) => later(*at, seconds_to_wait(*wait)),
                        _ => self.next_attempt(load.request.route, *at),
                    };
                    match next {
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
        self.streams
            .get(&follow.request)
            .is_none_or(|s| !s.is_complete && s.error.is_none() && s.requested_at.is_none())
    }

    /// Decides whether the streams that were read before their status was known have everything, as soon as it is.
    fn settle_streams(&mut self) {
        for stream in self.streams.values_mut().filter(|stream| stream.requested_at.is_some()) {
            let status = self.resources.get(&stream.status).and_then(|known| known.entries.first()?.known.as_ref());
            let Some((reply, _)) = status else { continue };
            let requested_at = stream.requested_at.take();
            stream.is_complete = (stream.completed_at)(&reply.value)
                .zip(requested_at)
                .is_some_and(|(completed_at, requested_at)| later(completed_at, SETTLED_SECONDS) < requested_at);
        }
    }

    /// Returns whether the result `key` is missing, or only a preview of it is there.
    pub fn is_result_missing(&self, key: &str) -> bool {
        self.results.get(key).is_none_or(|result| result.is_preview)
            && !self.failed_work.contains(key)
            && !self.failed.contains_key(key)
    }

    /// Returns the state of a document before its request starts: the number of bytes received and the tail.
    pub fn known_part(&self, follow: &Follow, now: Timestamp) -> KnownPart {
        let status = self.resources.get(&follow.status.request).and_then(|known| known.entries.first()?.known.as_ref());
        let is_complete = status.and_then(|(reply, at)| {
            let is_complete = (follow.completed_at)(&reply.value).is_some();
            (is_complete || now.duration_since(*at) < JUST_NOW).then_some(is_complete)
        });
        let stream = self.streams.get(&follow.request);
        let (received, tail) = stream.map(|s| (s.sink.received(), s.sink.tail().to_vec())).unwrap_or_default();
        KnownPart { received, tail, is_complete, is_new: status.is_none() }
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
            self.record_reachability(request.route, outcome.as_ref().err(), now);
            match &outcome {
                Err(Error { fault: Fault::Unsupported(message), .. }) => {
                    self.record_unsupported(request.route, message.clone());
                }
                Err(Error { fault: Fault::Limited(route, wait), .. }) => {
                    // For some versions of the server, the client sends it to another route.
                    let route = if *route == SERVER { SERVER } else { request.route };
                    self.ask_to_wait(route, *wait, now);
                    self.is_limited |= route == SERVER;
                }
                Ok(_) => self.is_limited = false,
                Err(_) => {}
            }
        }
        self.keep_reply(request, page, outcome, now);
    }

    fn ask_to_wait(&mut self, route: &'static str, wait: Option<Duration>, now: Timestamp) {
        let until = self.asked_to_wait.entry(route).or_insert(now);
        *until = later(now, seconds_to_wait(wait)).max(*until);
    }

    /// Keeps a reply or an error, whoever it is from.
    pub fn keep_reply(&mut self, request: &Request, page: u32, outcome: Result<ParsedReply, Error>, now: Timestamp) {
        self.insert_reply(request, page, outcome, now);
        self.settle_streams();
    }

    fn insert_reply(&mut self, request: &Request, page: u32, outcome: Result<ParsedReply, Error>, now: Timestamp) {
        // If the connection broke, what was received before stays.
        if outcome.as_ref().err().is_none_or(|error| !error.is_temporary()) {
            self.partials.retain(|(known, _)| known != request);
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
            if let Some(resource) = self.resources.get_mut(request).filter(|_| page > 0) {
                resource.reread_moved(index, now);
            }
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

    /// Records that the server asked to wait.
    pub fn record_pause(&mut self, wait: Duration, now: Timestamp) {
        self.wait_until = self.wait_until.max(Some(later(now, wait.as_secs_f64())));
    }

    /// Returns the time until which the server asked to wait the last time.
    pub fn wait_until(&self) -> Option<Timestamp> {
        self.wait_until
    }

    /// Returns the time that is left of what the server asked to wait before requests of a route, or of all, in whole
    /// seconds.
    pub fn time_to_wait(&self, route: &str, now: Timestamp) -> Option<Duration> {
        let of_all = self.wait_until.filter(|_| route == SERVER);
        let until = of_all.max(self.asked_to_wait.get(route).copied()).filter(|until| now < *until)?;
        Some(Duration::from_secs(until.duration_since(now).unsigned_abs().as_secs_f64().ceil() as u64))
    }

    /// Fails a page without a request if its route is known to be unsupported, or if the server asked to wait; returns
    /// whether it did.
    pub fn fail_unasked(&mut self, request: &Request, page: u32, now: Timestamp) -> bool {
        if request.host.is_some() {
            return false;
        }
        let until = |route| self.asked_to_wait.get(route).filter(|until| now < **until);
        let wait = |route| Some(Fault::Limited(route, Some(until(route)?.duration_since(now).unsigned_abs())));
        let unsupported = self.unsupported.get(request.route).map(|message| Fault::Unsupported(message.clone()));
        let limited = || [SERVER, request.route].into_iter().find_map(wait);
        let Some(fault) = unsupported.or_else(limited) else { return false };
        let error = Error { tried: format!("{}, not sent", request.line()), fault };
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

    /// Returns the age of the replies of `wants`.
    pub fn freshness(&self, wants: &[Want]) -> Freshness {
        let mut freshness = Freshness { has_failed: self.first_error(wants).is_some(), ..Freshness::default() };
        for (load, resource) in loads(wants).filter_map(|load| Some((load, self.resources.get(&load.request)?))) {
            freshness.is_outdated |= resource.failed_to_refresh();
            let known = resource.entries.iter().filter_map(|entry| entry.known.as_ref());
            let oldest = known.map(|(_, at)| *at).min().filter(|_| !load.is_lasting());
            freshness.oldest = freshness.oldest.into_iter().chain(oldest).min();
        }
        freshness
    }

    /// Returns whether the server has more rows of a list of `wants` than were loaded.
    pub fn has_more(&self, wants: &[Want]) -> bool {
        loads(wants).filter_map(|load| self.resources.get(&load.request)).any(Resource::has_more)
    }

    /// Returns the error of a reply of `wants` that is not optional, unless the server only does not have the data.
    pub fn first_error(&self, wants: &[Want]) -> Option<&Error> {
        let mut errors = loads(wants).filter(|load| !load.is_optional).filter_map(|load| self.error_of(&load.request));
        errors.find(|error| !matches!(error.fault, Fault::Missing(_) | Fault::Unsupported(_)))
    }

    /// Records that the server does not support a route, or a quick action, by its name; `why` is what it said.
    pub fn record_unsupported(&mut self, route: &'static str, why: String) {
        self.unsupported.insert(route, why);
    }

    /// Records whether the server can be reached, answers requests of a route, and asks to wait.
    pub fn record_reachability(&mut self, route: &'static str, error: Option<&Error>, now: Timestamp) {
        if let Some(Error { fault: Fault::Limited(SERVER, Some(wait)), .. }) = error {
            self.wait_until = Some(later(now, wait.as_secs_f64()));
        }
        match error {
            // These errors do not come from the network and say nothing about the server.
            Some(Error { fault: Fault::ReadOnly | Fault::Disk(_), .. }) => {}
            Some(e) if is_unreachable(&e.fault) => self.record_failure(SERVER, e, now),
            Some(e @ Error { fault: Fault::Server(..) | Fault::Cut(_), .. }) => {
                self.last_contact = Some(now);
                if self.unreachable().is_some() {
                    self.failures.remove(SERVER);
                }
                self.failed_in_a_row += 1;
                self.record_failure(route, e, now);
                if self.failed_in_a_row >= MAX_FAILED_IN_A_ROW {
                    self.record_failure(SERVER, e, now);
                }
            }
            _ => {
                self.failures.remove(SERVER);
                self.failures.remove(route);
                self.failed_in_a_row = 0;
                self.last_contact = Some(now);
            }
        }
    }

    fn record_failure(&mut self, route: &'static str, error: &Error, now: Timestamp) {
        let attempts = match self.failures.get(route) {
            // Requests that were sent together fail together.
            Some(last) if now < later(last.at, RETRY_SECONDS) => last.attempts,
            Some(last) => last.attempts.saturating_add(1),
            None => 1,
        };
        self.failures.insert(route, Failures { error: error.clone(), at: now, attempts });
    }

    /// Returns the failures for which requests of a route wait.
    fn failures_of(&self, route: &'static str) -> impl Iterator<Item = &Failures> {
        [SERVER, route].into_iter().filter_map(|route| self.failures.get(route))
    }

    /// Returns the time of the next attempt of a request that failed at a time.
    fn next_attempt(&self, route: &'static str, failed_at: Timestamp) -> Timestamp {
        let shared = self.failures_of(route).map(|failures| later(failures.at, failures.pause()));
        shared.fold(later(failed_at, RETRY_SECONDS), Timestamp::max)
    }

    /// Creates the document of `follow` unless it exists.
    pub fn open_stream(&mut self, follow: &Follow) {
        let turn = self.turn;
        self.streams.entry(follow.request.clone()).or_insert_with(|| Stream {
            sink: (follow.sink)(),
            status: follow.status.request.clone(),
            completed_at: follow.completed_at,
            new_sink: follow.sink,
            end: None,
            is_complete: false,
            error: None,
            retried: None,
            read_at: None,
            requested_at: None,
            used: Cell::new(turn),
        });
    }

    /// Records the last bytes of a stream and its size, before everything else has been received. They begin in a line, which
    /// is left out.
    pub fn record_stream_end(&mut self, request: &Request, bytes: &[u8], size: u64) {
        let Some(stream) = self.streams.get_mut(request).filter(|stream| stream.sink.received() < size) else { return };
        let Some(line) = bytes.iter().position(|byte| *byte == b'\n').and_then(|at| bytes.get(at + 1..)) else {
            return;
        };
        let mut end = (stream.new_sink)();
        end.push(line);
        stream.end = Some((end, size));
    }

    /// Records the error of a stream that is read again. What was received stays readable.
    pub fn record_stream_failure(&mut self, request: &Request, error: Error) {
        if let Some(stream) = self.streams.get_mut(request) {
            stream.retried = Some(error);
        }
    }

    /// Records that a stream has all that the server had.
    pub fn record_stream_read(&mut self, request: &Request, now: Timestamp) {
        if let Some(stream) = self.streams.get_mut(request) {
            (stream.read_at, stream.retried) = (Some(now), None);
            // What the server said about its size may be wrong.
            stream.end = None;
        }
    }

    /// Appends bytes to a stream; `restart` clears it first.
    pub fn append_to_stream(&mut self, request: &Request, bytes: &[u8], restart: bool) {
        if let Some(stream) = self.streams.get_mut(request) {
            if restart {
                stream.sink.reset();
            }
            stream.sink.push(bytes);
            let received = stream.sink.received();
            stream.end.take_if(|(_, size)| restart || received >= *size);
            (stream.error, stream.retried) = (None, None);
        }
    }

    /// Records the end of a stream, or the error that ended it. With the server's time of its request, its status decides
    /// whether it is complete.
    pub fn end_stream(&mut self, request: &Request, outcome: Result<Option<Timestamp>, Error>) {
        if let Some(stream) = self.streams.get_mut(request) {
            (stream.requested_at, stream.error) = match outcome {
                Ok(requested_at) => (requested_at, None),
                Err(error) => (None, Some(error)),
            };
            stream.retried = None;
            stream.is_complete = stream.error.is_none() && stream.requested_at.is_none();
            stream.end.take_if(|_| stream.error.is_none());
        }
        self.settle_streams();
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
            let Some(resource) = self.resources.get_mut(&load.request) else { continue };
            let Resource { entries, errors, .. } = resource;
            for (index, entry) in entries.iter_mut().enumerate().filter(|(_, entry)| !entry.is_loading) {
                let failed_at = errors.get(&index).map(|(_, at)| *at);
                // Of what never changes, only failures get old.
                let known_at = entry.known.as_ref().filter(|_| !load.is_lasting()).map(|(_, at)| *at);
                let of = known_at.max(failed_at);
                entry.stale |= of.is_some_and(|at| at < before);
            }
        }
    }

    /// Marks the replies of `wants` as stale, so that they are requested again.
    pub fn refresh(&mut self, wants: &[Want]) {
        self.asked_to_wait.clear();
        self.wait_until = None;
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

/// Returns the loads among `wants`.
fn loads(wants: &[Want]) -> impl Iterator<Item = &Load> {
    wants.iter().filter_map(|want| if let Want::Load(load) = want { Some(load) } else { None })
}

/// Returns the index of a page of a list (counted from 1) or of a single reply (page 0).
fn index_of(page: u32) -> usize {
    page.saturating_sub(1) as usize
}

/// The delay in seconds before a wanted request is retried after a temporary error.
const RETRY_SECONDS: f64 = 10.0;
/// The maximum number of times that the delay doubles while the server fails.
const MAX_DOUBLINGS: u32 = 4;
/// The number of requests in a row that a server fails to answer, after which it is taken to fail at all of them.
const MAX_FAILED_IN_A_ROW: usize = 3;

/// Returns the number of seconds before what was refused for being too many is requested again, after the `wait` that the
/// server asked for. The client has tried again after a short one.
fn seconds_to_wait(wait: Option<Duration>) -> f64 {
    wait.map_or(RETRY_SECONDS, |wait| wait.as_secs_f64().max(RETRY_SECONDS))
}

/// Returns whether a request did not reach the server.
fn is_unreachable(fault: &Fault) -> bool {
    matches!(fault, Fault::Offline(_) | Fault::Timeout(_) | Fault::Tls(_))
}

impl Failures {
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
mod tests;
