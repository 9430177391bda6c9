//! The needs of a pane, as data: the app compares them with the store, and starts or cancels requests accordingly.

use super::range_read::AnyRangeRead;
use super::resource::ParsedReply;
use api::client::Priority;
use api::commit_data::{CommitData, ReadClone};
use api::discussions::Discussion;
use api::endpoint::Request;
use api::error::Unreadable;
use api::expected::is_full_id;
use api::notes::Note;
use api::partial_reply::CutReply;
use api::reply_limits;
use api::{Endpoint, Host, Reply, Topic};
use domain::growing::Sink;
use jiff::Timestamp;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A shared value of any type.
pub type Value = Arc<dyn Any + Send + Sync>;

/// Returns whether the work is no longer wanted.
pub type Canceled<'a> = &'a dyn Fn() -> bool;

/// The number of rows per page: the maximum that servers allow.
pub const PER_PAGE: u32 = 100;
/// The maximum number of pages by which a list grows between two actions of the user.
pub const MAX_UNASKED_PAGES: u32 = 50;
/// The maximum size of a list in memory, in bytes by [`Load::weigh`]; the page that exceeds it is the last one.
pub const MAX_LIST_BYTES: usize = 128 << 20;
/// The approximate size in memory of an object of a reply besides its text, in bytes.
const OBJECT_BYTES: usize = 256;

/// A piece of data that a visible pane needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// A reply, or the first pages of a list.
    Load(Load),
    /// A growing document.
    Follow(Box<Follow>),
    /// A computation outside the event loop.
    Work(Work),
    /// A value read from parts of a large remote file.
    RangeRead(AnyRangeRead),
}

impl Want {
    /// Multiplies the polling interval by `times`, if there is one.
    pub fn slow_down(&mut self, times: u32) {
        if let Want::Load(load) = self {
            load.refresh_after = load.refresh_after.map(|refresh_after| refresh_after.saturating_mul(times));
        }
    }

    /// Requests what is known only when the user asks for it.
    pub fn stop_polling(&mut self) {
        if let Want::Load(load) = self {
            load.refresh_after = None;
        }
    }
}

/// A part of a want that is started at once: what to do, and what the store has already.
#[derive(Clone, Debug, PartialEq)]
// Tasks are few: boxing the large ones would only make them harder to read.
#[allow(clippy::large_enum_variant)]
pub enum Task {
    /// Requests a page of a list; page 0 for a reply that is not a list.
    Load {
        load: Load,
        page: u32,
        /// The query of the server's link to the page, if it does not count pages.
        link: Option<String>,
        /// The reply that the store has, so that it is not looked up on disk, and not sent again if it did not change.
        known: Option<ParsedReply>,
    },
    /// Downloads a growing document, from the end of the known part.
    Follow(Follow, KnownPart),
    /// Runs a computation.
    Work(Work),
    /// Reads a value from parts of a large remote file.
    RangeRead(AnyRangeRead),
}

impl Task {
    pub fn key(&self) -> TaskKey {
        match self {
            Task::Load { load, page, .. } => TaskKey::Load(load.request.clone(), *page),
            Task::Follow(follow, _) => TaskKey::Follow(follow.request.clone()),
            Task::Work(work) => TaskKey::Work(work.key.clone()),
            Task::RangeRead(read) => TaskKey::RangeRead(read.key.clone()),
        }
    }

    pub fn priority(&self) -> Priority {
        match self {
            Task::Load { load, .. } => load.priority,
            _ => Priority::Page,
        }
    }

    /// Shortens the delay before the request.
    pub fn begin_earlier(&mut self, time: Duration) {
        let delay = match self {
            Task::Load { load, .. } => &mut load.delay,
            Task::RangeRead(read) => &mut read.delay,
            Task::Follow(..) | Task::Work(_) => return,
        };
        *delay = delay.saturating_sub(time);
    }

    /// Returns the server, if it is not the current one.
    pub fn host(&self) -> Option<&Host> {
        match self {
            Task::Load { load, .. } => load.request.host.as_ref(),
            Task::Follow(follow, _) => follow.request.host.as_ref(),
            Task::RangeRead(read) => read.request.host.as_ref(),
            Task::Work(_) => None,
        }
    }
}

/// Identifies one task in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TaskKey {
    /// A page of a list; page 0 for a reply that is not a list.
    Load(Request, u32),
    /// A growing document.
    Follow(Request),
    /// A computation, by its key.
    Work(String),
    /// A range read, by the key of its result.
    RangeRead(String),
}

/// Parses a reply: the value, and its number of rows if it is a list.
pub type Reader = fn(&[u8], Option<&str>) -> Result<(Value, usize), Unreadable>;

/// A reply that is needed. Equal by request and number of pages.
#[derive(Clone)]
pub struct Load {
    /// The request without a page.
    pub request: Request,
    /// The number of pages needed; 0 for a reply that is not a list.
    pub pages: u32,
    /// The age after which the reply is requested again.
    pub refresh_after: Option<Duration>,
    /// The maximum number of pages requested concurrently.
    pub concurrency: u32,
    /// The time without an action of the user before the request is sent, so that typing a filter does not send one per
    /// character, and rows that are only passed by are not read.
    pub delay: Duration,
    /// The requests before which it is sent. Of those for columns, few are sent at the same time.
    pub priority: Priority,
    /// See [`Endpoint::IMMUTABLE_BY`].
    pub immutable_by: Option<&'static str>,
    /// Whether each entry of the reply consists of several rows, so that the server's total does not count rows.
    pub splits_entries: bool,
    /// Whether the reply may be missing, see [`Load::optional`].
    pub is_optional: bool,
    /// The maximum number of pages that are requested between two actions of the user.
    pub max_unasked_pages: u32,
    /// The maximum size of the list in bytes.
    pub max_bytes: usize,
    /// Returns the size in memory of the value, in bytes, where the estimate of [`Load::weigh`] is far from it.
    pub weight: Option<fn(&Value) -> usize>,
    /// Cuts a part of a long reply so that it can be shown before the whole is there; see [`Store::partial`](super::Store::partial).
    pub cut: Option<CutReply>,
    /// The content of the reply, if a clone can give it.
    pub in_clone: Option<CommitData>,
    pub read: Reader,
}

/// Returns the rows of a reply, and their number.
fn counted_rows<T: Send + Sync + 'static>(rows: impl IntoIterator<Item = T>) -> (Value, usize) {
    let rows: Vec<T> = rows.into_iter().collect();
    let len = rows.len();
    (Arc::new(rows), len)
}

/// Parses a list, with each entry split into its rows.
fn read_split<T, U: RowOf<T>>(body: &[u8], kind: Option<&str>) -> Result<(Value, usize), Unreadable>
where
    Vec<T>: Reply,
{
    <Vec<T> as Reply>::read(body, kind).map(|entries| counted_rows(entries.into_iter().flat_map(U::rows)))
}

/// A row of a list whose entries may contain several.
pub trait RowOf<Entry>: Sized + Send + Sync + 'static {
    /// Returns the rows of an entry.
    fn rows(entry: Entry) -> Vec<Self>;
}

impl RowOf<Discussion> for Note {
    fn rows(discussion: Discussion) -> Vec<Note> {
        let (id, mut notes) = (discussion.id, discussion.notes);
        for note in &mut notes {
            note.discussion_id = Some(id.clone());
        }
        notes
    }
}

impl Load {
    pub fn single<E: Endpoint>(endpoint: &E) -> Load {
        Load {
            request: endpoint.request(),
            pages: 0,
            concurrency: 1,
            refresh_after: None,
            delay: Duration::ZERO,
            priority: Priority::Page,
            immutable_by: E::IMMUTABLE_BY,
            splits_entries: false,
            is_optional: false,
            max_unasked_pages: MAX_UNASKED_PAGES,
            max_bytes: MAX_LIST_BYTES,
            weight: None,
            cut: None,
            in_clone: None,
            read: |body, kind| E::Output::read(body, kind).map(|value| (Arc::new(value) as Value, 1)),
        }
    }

    /// Creates a load of up to `pages` pages of the list `endpoint`.
    pub fn list<T: Send + Sync + 'static, E: Endpoint<Output = Vec<T>>>(endpoint: &E, pages: u32) -> Load
    where
        Vec<T>: Reply,
    {
        Load::rows::<T, E>(endpoint, pages, |body, kind| <Vec<T> as Reply>::read(body, kind).map(counted_rows))
    }

    /// Creates a load of up to `pages` pages of the list `endpoint`, with each entry split into its rows.
    pub fn rows_of_entries<T, U: RowOf<T>, E: Endpoint<Output = Vec<T>>>(endpoint: &E, pages: u32) -> Load
    where
        Vec<T>: Reply,
    {
        Load { splits_entries: true, ..Load::rows::<U, E>(endpoint, pages, read_split::<T, U>) }
    }

    /// Creates a load of up to `pages` pages of the list `endpoint`, with each entry converted to a row of another type.
    pub fn list_as<U: Send + Sync + 'static, T: Into<U>, E: Endpoint<Output = Vec<T>>>(endpoint: &E, pages: u32) -> Load
    where
        Vec<T>: Reply,
    {
        Load::rows::<U, E>(endpoint, pages, |body, kind| {
            <Vec<T> as Reply>::read(body, kind).map(|entries| counted_rows(entries.into_iter().map(Into::<U>::into)))
        })
    }

    /// Creates a load of up to `pages` pages of the list `endpoint`, with each page converted to one row of a compact
    /// type; `weight` returns the size of the rows of a page in bytes. For lists that are always loaded to their end, up
    /// to `max_bytes`.
    pub fn compact<U: From<Vec<T>> + Send + Sync + 'static, T: 'static, E: Endpoint<Output = Vec<T>>>(
        endpoint: &E,
        pages: u32,
        max_bytes: usize,
        weight: fn(&Value) -> usize,
    ) -> Load
    where
        Vec<T>: Reply,
    {
        let load = Load::rows::<U, E>(endpoint, pages, |body, kind| {
            <Vec<T> as Reply>::read(body, kind).map(|page| {
                let rows = if page.is_empty() { Vec::new() } else { vec![U::from(page)] };
                counted_rows(rows)
            })
        });
        Load { splits_entries: true, max_bytes, weight: Some(weight), ..load }
    }

    /// Creates a load of up to `pages` pages whose rows of the type `U` are parsed by `read`.
    fn rows<U: 'static, E: Endpoint>(endpoint: &E, pages: u32, read: Reader) -> Load {
        let load = Load::single(endpoint);
        Load { request: load.request.read_as::<Vec<U>>(), pages: pages.max(1), read, ..load }
    }

    /// Estimates the size in memory of a reply, in bytes: a few bytes of JSON may become a large value.
    pub fn weigh(&self, body: &[u8], kind: Option<&str>, value: &Value) -> usize {
        let is_json = kind.is_some_and(|kind| kind.contains("json"));
        let objects = if is_json { reply_limits::objects(body) } else { 0 };
        let estimate = || body.len().saturating_add(objects.saturating_mul(OBJECT_BYTES));
        self.weight.map_or_else(estimate, |weight| weight(value))
    }

    /// Returns the request for a page, by the query of the link to it if the server does not count pages. Page 0 is a
    /// reply that is not a list.
    pub fn page(&self, page: u32, link: Option<&str>) -> Request {
        let request = self.request.clone();
        match link {
            _ if page == 0 => request,
            Some(query) => request.at_link(query, PER_PAGE),
            None => request.at_page(page, PER_PAGE),
        }
    }

    /// Directs the request to another server, if `host` is set.
    pub fn at(mut self, host: Option<&Host>) -> Load {
        self.request = self.request.at(host);
        self
    }

    /// Returns whether the reply never changes, because its path contains the full SHA.
    pub fn is_lasting(&self) -> bool {
        let Some(slot) = self.immutable_by else { return false };
        let is_slot = |part: &str| part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) == Some(slot);
        let mut parts = self.request.route.split('/').zip(self.request.path.split('/'));
        parts.any(|(name, value)| is_slot(name) && is_full_id(value))
    }

    /// Marks the reply as optional: if it is missing, the place stays open.
    pub fn optional(mut self) -> Load {
        self.is_optional = true;
        self
    }

    /// Reads the reply from the clone that labscope was started in, if that has the commits, instead of from the server.
    pub fn or_in_clone(mut self, data: CommitData) -> Load {
        self.in_clone = Some(data);
        self
    }

    /// Returns the reply from the clone. Reads from the disk.
    pub fn read_clone(&self, read: &ReadClone) -> Option<ParsedReply> {
        let data = self.in_clone.as_ref()?;
        let kind = (!matches!(data, CommitData::File { .. })).then_some("application/json");
        ParsedReply::read(self, &read(data)?, kind).ok()
    }

    /// Makes what is received of a long reply available before the whole is there.
    pub fn in_parts(mut self, cut: CutReply) -> Load {
        self.cut = Some(cut);
        self
    }

    /// Requests the reply again when it is older than `age`, if there is one.
    pub fn refresh_after(self, age: impl Into<Option<Duration>>) -> Load {
        Load { refresh_after: age.into(), ..self }
    }

    /// Allows up to `pages` concurrent requests for pages, before the total is known.
    pub fn concurrency(mut self, pages: u32) -> Load {
        self.concurrency = pages.max(1);
        self
    }

    /// Delays the request until it has been wanted, or the user has done nothing, for that long.
    pub fn after(mut self, delay: Duration) -> Load {
        self.delay = delay;
        if !delay.is_zero() {
            self.priority = self.priority.max(Priority::Preview);
        }
        self
    }
}

/// The requests of a list: one, or several whose rows are chained. Build it once when the query changes.
pub struct ListQuery<T> {
    loads: Vec<Load>,
    row: PhantomData<fn() -> T>,
}

impl<T> Clone for ListQuery<T> {
    fn clone(&self) -> ListQuery<T> {
        ListQuery { loads: self.loads.clone(), row: PhantomData }
    }
}

impl<T: Send + Sync + 'static> ListQuery<T> {
    pub fn new<E: Endpoint<Output = Vec<T>>>(endpoint: &E) -> ListQuery<T>
    where
        Vec<T>: Reply,
    {
        ListQuery::chain([endpoint])
    }

    /// Creates a query of several lists whose rows are chained.
    pub fn chain<'a, E: Endpoint<Output = Vec<T>> + 'a>(endpoints: impl IntoIterator<Item = &'a E>) -> ListQuery<T>
    where
        Vec<T>: Reply,
    {
        ListQuery { loads: endpoints.into_iter().map(|endpoint| Load::list(endpoint, 1)).collect(), row: PhantomData }
    }

    /// Creates a query of the list `endpoint`, with each entry converted to a row of another type.
    pub fn converted<U: Into<T>, E: Endpoint<Output = Vec<U>>>(endpoint: &E) -> ListQuery<T>
    where
        Vec<U>: Reply,
    {
        ListQuery { loads: vec![Load::list_as::<T, U, E>(endpoint, 1)], row: PhantomData }
    }

    /// Creates a query of a single object as the only row.
    pub fn one<U: Reply + Into<T>, E: Endpoint<Output = U>>(endpoint: &E) -> ListQuery<T> {
        let load =
            Load::rows::<T, E>(endpoint, 1, |body, kind| U::read(body, kind).map(|one| counted_rows([one.into()])));
        ListQuery { loads: vec![Load { pages: 0, ..load }], row: PhantomData }
    }

    /// Splits each entry into its rows.
    pub fn split<U: RowOf<T>>(self) -> ListQuery<U>
    where
        Vec<T>: Reply,
    {
        let split = |load: Load| Load {
            request: load.request.clone().read_as::<Vec<U>>(),
            splits_entries: true,
            read: read_split::<T, U>,
            ..load
        };
        ListQuery { loads: self.loads.into_iter().map(split).collect(), row: PhantomData }
    }

    /// Chains the rows of another query.
    pub fn and(mut self, other: ListQuery<T>) -> ListQuery<T> {
        self.loads.extend(other.loads);
        self
    }
}

impl<T> ListQuery<T> {
    /// Returns the requests, without a page.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.loads.iter().map(|load| &load.request)
    }

    /// Returns the loads of the first page of each list.
    pub fn into_loads(self) -> Vec<Load> {
        self.loads
    }

    /// Returns the loads of up to `pages` pages of each list.
    pub fn loads(&self, pages: u32) -> impl Iterator<Item = Load> {
        // A single object has no pages.
        let pages_of = move |load: &Load| if load.pages == 0 { 0 } else { pages.max(1) };
        self.loads.iter().map(move |load| Load { pages: pages_of(load), ..load.clone() })
    }

    /// Returns the wants for up to `pages` pages of each list: requested after they have been wanted for `delay`, and
    /// again when the reply is older than `refresh_after`.
    pub fn wants(&self, pages: u32, delay: Duration, refresh_after: Option<Duration>) -> impl Iterator<Item = Want> {
        self.loads(pages).map(move |load| Load { delay, refresh_after, ..load }.into())
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Load) -> bool {
        self.request == other.request && self.pages == other.pages
    }
}

impl fmt::Debug for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Load({}, {} pages)", self.request.line(), self.pages)
    }
}

/// The part of a growing document that the store has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownPart {
    /// The number of bytes.
    pub received: u64,
    /// The last bytes.
    pub tail: Vec<u8>,
    /// Whether the document is complete, if its status was just read.
    pub is_complete: Option<bool>,
    /// Whether its status was never read.
    pub is_new: bool,
}

/// A growing document, and the status that tells whether it is complete. Equal by request.
#[derive(Clone)]
pub struct Follow {
    /// The request for the bytes.
    pub request: Request,
    /// The request for the status, which the place wants, too. It is read before the bytes, so that the last bytes are never
    /// missed. If it was never read, both are requested at once, and the bytes are complete if they were requested later
    /// than `completed_at`.
    pub status: Load,
    /// Returns the time since which the document is complete by its status, if it is: the maximum if the server does not say
    /// since when.
    pub completed_at: fn(&Value) -> Option<Timestamp>,
    pub sink: fn() -> Box<dyn Sink>,
}

impl PartialEq for Follow {
    fn eq(&self, other: &Follow) -> bool {
        self.request == other.request
    }
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Follow({})", self.request.line())
    }
}

/// The weight of a small result, in bytes.
const LIGHT: usize = 4096;
/// The memory of a computation without large input, in bytes at most.
pub const SMALL_WORK_BYTES: usize = 8 << 20;

/// A computation, such as highlighting, parsing or ranking.
pub trait Derive: Send + Sync + 'static {
    type Output: Send + Sync + 'static;
    /// Returns the key of the result. The same key means the same result, so it must identify the input.
    fn key(&self) -> String;
    /// Computes the result on a worker; long computations check regularly whether they were canceled.
    fn run(&self, canceled: Canceled<'_>) -> Self::Output;
    /// Returns a first result that takes little time, to be shown until [`Derive::run`] has finished.
    fn preview(&self) -> Option<Self::Output> {
        None
    }
    /// Returns about how many bytes of memory the computation takes while it runs: all that run at the same time have a
    /// common bound. It must be overridden if the input can be large.
    fn memory(&self) -> usize {
        SMALL_WORK_BYTES
    }
    /// Returns the approximate size of the result in bytes: results are evicted when their total exceeds a limit.
    fn weight(&self, _result: &Self::Output) -> usize {
        LIGHT
    }
}

#[derive(Clone)]
pub struct WorkResult {
    pub value: Value,
    /// The size in bytes, see [`Derive::weight`].
    pub weight: usize,
}

impl fmt::Debug for WorkResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkResult({} bytes)", self.weight)
    }
}

impl From<Value> for WorkResult {
    /// Wraps a small result.
    fn from(value: Value) -> WorkResult {
        WorkResult { value, weight: LIGHT }
    }
}

/// The function of a computation.
pub type Run = Arc<dyn Fn(Canceled<'_>) -> WorkResult + Send + Sync>;

/// The function of a preview.
pub type Preview = Arc<dyn Fn() -> Option<WorkResult> + Send + Sync>;

/// A type-erased [`Derive`]. Equal by key.
#[derive(Clone)]
pub struct Work {
    pub key: String,
    /// The memory that it takes, see [`Derive::memory`].
    pub memory: usize,
    pub run: Run,
    /// The function that returns a first result, see [`Derive::preview`].
    pub preview: Preview,
}

impl Work {
    /// Erases the type of `derive`.
    pub fn new<D: Derive>(derive: D) -> Work {
        let (key, memory) = (derive.key(), derive.memory());
        let derive = Arc::new(derive);
        let of_preview = derive.clone();
        let finish = |derive: &D, result: D::Output| {
            let weight = derive.weight(&result);
            WorkResult { value: Arc::new(result), weight }
        };
        let preview = move || of_preview.preview().map(|result| finish(&of_preview, result));
        let run = move |canceled: Canceled<'_>| finish(&derive, derive.run(canceled));
        Work { key, memory, run: Arc::new(run), preview: Arc::new(preview) }
    }
}

impl PartialEq for Work {
    fn eq(&self, other: &Work) -> bool {
        self.key == other.key
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Work({})", self.key)
    }
}

impl From<Load> for Want {
    fn from(load: Load) -> Want {
        Want::Load(load)
    }
}

impl From<Follow> for Want {
    fn from(follow: Follow) -> Want {
        Want::Follow(Box::new(follow))
    }
}

impl From<AnyRangeRead> for Want {
    fn from(reader: AnyRangeRead) -> Want {
        Want::RangeRead(reader)
    }
}

impl From<Work> for Want {
    fn from(work: Work) -> Want {
        Want::Work(work)
    }
}

/// A write request. It is never retried automatically.
#[derive(Clone)]
pub struct Write {
    pub request: Request,
    /// The topics of the reads whose replies become stale when the write succeeds.
    pub outdates: &'static [Topic],
    pub read: Reader,
    /// A description for messages: `comment on !12`.
    pub what: String,
    /// The command that undoes the write, and a description of it: `resumes it`.
    pub undo: Option<(&'static str, &'static str)>,
    /// Local files to upload, by input name.
    pub files: Vec<(&'static str, PathBuf)>,
}

impl Write {
    /// Creates a write of `endpoint`; `what` describes it, as in "could not {what}".
    pub fn new<E: Endpoint>(endpoint: &E, what: impl Into<String>) -> Write {
        Write {
            request: endpoint.request(),
            outdates: E::OUTDATES,
            read: |body, kind| E::Output::read(body, kind).map(|value| (Arc::new(value) as Value, 1)),
            what: what.into(),
            undo: None,
            files: Vec::new(),
        }
    }

    /// Sets the command that undoes the write; `words` describes its effect.
    pub fn undone_by(mut self, command: &'static str, words: &'static str) -> Write {
        self.undo = Some((command, words));
        self
    }
}

impl PartialEq for Write {
    fn eq(&self, other: &Write) -> bool {
        self.request == other.request && self.files == other.files
    }
}

impl fmt::Debug for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Write({})", self.request.line())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::branches::ListBranches;
    use api::commits::GetCommitDiff;

    #[test]
    fn only_replies_named_by_a_full_hash_are_immutable() {
        let lasts = |sha: &str| Load::single(&GetCommitDiff { id: "a/b".into(), sha: sha.into() }).is_lasting();
        assert!(lasts(&"0123456789abcdef".repeat(4)) && lasts(&"f".repeat(40)));
        assert!(!lasts(&"f".repeat(39)), "a short hash may become another commit's");
        assert!(!lasts("main") && !lasts(&"g".repeat(40)), "a branch moves on, whatever its name");
        let branches = ListBranches { id: "f".repeat(40).into(), search: None };
        assert!(!Load::list(&branches, 1).is_lasting(), "a project with such a name changes");
    }

    #[test]
    fn wants_of_the_same_request_and_pages_are_one() {
        let of = |id: &str, pages| Load::list(&ListBranches { id: id.into(), search: None }, pages);
        assert!(of("a/b", 1) == of("a/b", 1).refresh_after(Duration::from_secs(5)));
        assert!(of("a/b", 1) != of("a/b", 2), "more pages are more to ask for");
        assert!(of("a/b", 1) != of("c/d", 1));
    }
}
