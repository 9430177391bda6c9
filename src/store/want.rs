//! What a pane needs, as data: the app compares it with what is known and starts or cancels the difference.

use super::parts::AnyRangeRead;
use crate::api::endpoint::Request;
use crate::api::error::Unreadable;
use crate::api::{Endpoint, Host, Reply};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A value of any type, shared between the task that made it, the store, and whoever looks at it.
pub type Value = Arc<dyn Any + Send + Sync>;

/// Whether the work is no longer wanted.
pub type Canceled<'a> = &'a dyn Fn() -> bool;

/// Entries a page that lists ask for: the most that servers give.
pub const PER_PAGE: u32 = 100;

/// Something that a visible pane needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// A reply, or the first pages of a list.
    Load(Load),
    /// A document that grows while it is watched.
    Follow(Follow),
    /// Something computed off the loop from what is known.
    Work(Work),
    /// Something read from parts of a large thing of the server.
    Parts(AnyRangeRead),
}

impl Want {
    /// The server that is meant, if it is another than the one at hand.
    pub fn host(&self) -> Option<&Host> {
        match self {
            Want::Load(load) => load.request.host.as_ref(),
            Want::Follow(follow) => follow.request.host.as_ref(),
            Want::Parts(reader) => reader.request.host.as_ref(),
            Want::Work(_) => None,
        }
    }
}

/// Names one thing in flight: what is started, canceled, and answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ticket {
    /// A page of a reply; 0 for a reply that has no pages.
    Load(Request, u32),
    /// A stream.
    Follow(Request),
    /// A computation, by its key.
    Work(String),
    /// The parts of a large thing, by the key of what is made of them.
    Parts(String),
}

/// A reader of replies: the value, and how many rows it holds where it is a list.
pub type Reader = fn(&[u8], Option<&str>) -> Result<(Value, usize), Unreadable>;

/// A reply that is needed. Two are equal when their requests are.
#[derive(Clone)]
pub struct Load {
    /// The request without a page.
    pub request: Request,
    /// How many pages of a list are needed; 0 for a reply that is no list.
    pub pages: u32,
    /// Ask again when the reply is older than this.
    pub every: Option<Duration>,
    /// How many pages may be asked for at once.
    pub concurrency: u32,
    /// Wait this long before asking, so that a filter that is being typed does not ask at each letter.
    pub delay: Duration,
    /// [`Endpoint::IMMUTABLE_BY`].
    pub immutable_by: Option<&'static str>,
    /// Reads the reply.
    pub read: Reader,
}

impl Load {
    /// The one reply of `endpoint`.
    pub fn one<E: Endpoint>(endpoint: &E) -> Load {
        Load {
            request: endpoint.request(),
            pages: 0,
            concurrency: 1,
            every: None,
            delay: Duration::ZERO,
            immutable_by: E::IMMUTABLE_BY,
            read: |body, kind| E::Output::read(body, kind).map(|value| (Arc::new(value) as Value, 1)),
        }
    }

    /// The first `pages` pages of the list that `endpoint` names, as many as there are.
    pub fn list<T: Send + Sync + 'static, E: Endpoint<Output = Vec<T>>>(endpoint: &E, pages: u32) -> Load
    where
        Vec<T>: Reply,
    {
        Load {
            pages: pages.max(1),
            read: |body, kind| {
                <Vec<T> as Reply>::read(body, kind).map(|rows| {
                    let len = rows.len();
                    (Arc::new(rows) as Value, len)
                })
            },
            ..Load::one(endpoint)
        }
    }

    /// The same, asked of another server than the one at hand, if one is named.
    pub fn at(mut self, host: Option<&Host>) -> Load {
        self.request = self.request.at(host);
        self
    }

    /// Returns whether the reply stays the same forever: what is named by its hash is never another thing.
    pub fn is_lasting(&self) -> bool {
        let Some(slot) = self.immutable_by else { return false };
        let is_slot = |part: &str| part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) == Some(slot);
        let is_hash = |part: &str| part.len() >= 40 && part.bytes().all(|b| b.is_ascii_hexdigit());
        let mut parts = self.request.route.split('/').zip(self.request.path.split('/'));
        parts.any(|(name, value)| is_slot(name) && is_hash(value))
    }

    /// Ask again whenever the reply is older than `age`.
    pub fn every(mut self, age: Duration) -> Load {
        self.every = Some(age);
        self
    }

    /// Ask for up to `pages` pages at once, before it is known that there are so many.
    pub fn concurrency(mut self, pages: u32) -> Load {
        self.concurrency = pages.max(1);
        self
    }

    /// Ask only when it has been wanted for that long.
    pub fn after(mut self, delay: Duration) -> Load {
        self.delay = delay;
        self
    }
}

/// A list as it is asked for, of one request or of several whose rows follow on one another; made once when what is asked
/// for changes, and looked up without being made again.
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
    /// The list that `endpoint` names.
    pub fn new<E: Endpoint<Output = Vec<T>>>(endpoint: &E) -> ListQuery<T>
    where
        Vec<T>: Reply,
    {
        ListQuery::chain([endpoint])
    }

    /// The lists that the endpoints name, one behind the other.
    pub fn chain<'a, E: Endpoint<Output = Vec<T>> + 'a>(endpoints: impl IntoIterator<Item = &'a E>) -> ListQuery<T>
    where
        Vec<T>: Reply,
    {
        ListQuery { loads: endpoints.into_iter().map(|endpoint| Load::list(endpoint, 1)).collect(), row: PhantomData }
    }
}

impl<T> ListQuery<T> {
    /// Its requests, without a page.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.loads.iter().map(|load| &load.request)
    }

    /// The first `pages` pages of each list, as many as there are; asked for when wanted for as long as `rest`, and again
    /// when the reply is older than `every`.
    pub fn wants(&self, pages: u32, rest: Duration, every: Option<Duration>) -> impl Iterator<Item = Want> {
        self.loads.iter().map(move |load| Load { pages: pages.max(1), delay: rest, every, ..load.clone() }.into())
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

/// A document that takes bytes as they come.
pub trait Sink: Any + Send {
    /// More bytes, cut anywhere.
    fn push(&mut self, bytes: &[u8]);
    /// What was held is no longer true: the document starts again.
    fn reset(&mut self);
    /// Returns how many bytes it was given.
    fn held(&self) -> u64;
    /// The last of them, some hundred: what comes next must follow on these.
    fn tail(&self) -> &[u8] {
        &[]
    }
    /// Returns whether no more should come until some of what is held was put elsewhere.
    fn is_full(&self) -> bool {
        false
    }
}

/// What is known of something that is started: bytes of a stream, or whether there was a reply before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldState {
    /// How much.
    pub amount: u64,
    /// The last bytes of a stream.
    pub tail: Vec<u8>,
}

impl From<u64> for HeldState {
    fn from(amount: u64) -> HeldState {
        HeldState { amount, tail: Vec::new() }
    }
}

/// A document that grows on the server, and the reply that tells whether it still does. Equal by request.
#[derive(Clone)]
pub struct Follow {
    /// Where the bytes come from.
    pub request: Request,
    /// What tells whether it still grows; read before the bytes, so that the last ones are never missed.
    pub status: Load,
    /// Whether that reply says that nothing more will come.
    pub over: fn(&Value) -> bool,
    /// Makes the document.
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

/// A computation over known things: highlighting, parsing, ranking.
pub trait Derive: Send + Sync + 'static {
    /// What it makes.
    type Output: Send + Sync + 'static;
    /// Names the result; the same key means the same result, so it holds what the input's identity is.
    fn key(&self) -> String;
    /// Makes it, on a worker; looks now and then whether it is still wanted.
    fn run(&self, canceled: Canceled<'_>) -> Self::Output;
}

/// The body of a computation.
pub type Run = Arc<dyn Fn(Canceled<'_>) -> Value + Send + Sync>;

/// A [`Derive`] without its type. Equal by key.
#[derive(Clone)]
pub struct Work {
    /// Names the result.
    pub key: String,
    /// Makes it.
    pub run: Run,
}

impl Work {
    /// The computation `derive`.
    pub fn new<D: Derive>(derive: D) -> Work {
        Work { key: derive.key(), run: Arc::new(move |canceled| Arc::new(derive.run(canceled)) as Value) }
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
        Want::Follow(follow)
    }
}

impl From<AnyRangeRead> for Want {
    fn from(reader: AnyRangeRead) -> Want {
        Want::Parts(reader)
    }
}

impl From<Work> for Want {
    fn from(work: Work) -> Want {
        Want::Work(work)
    }
}

/// A change to send. It is never sent twice by itself.
#[derive(Clone)]
pub struct Write {
    /// The call.
    pub request: Request,
    /// Routes whose replies its success makes stale.
    pub touches: &'static [&'static str],
    /// Reads the reply.
    pub read: Reader,
    /// What is being done, for the footer: `comment on !12`.
    pub what: String,
    /// The command that takes it back, and what that does: `resumes it`.
    pub undo: Option<(&'static str, &'static str)>,
    /// Files of this machine that go along, by the names of their inputs.
    pub files: Vec<(&'static str, PathBuf)>,
}

impl Write {
    /// The change that `endpoint` makes; `what` names it for the user, as in "could not {what}".
    pub fn new<E: Endpoint>(endpoint: &E, what: impl Into<String>) -> Write {
        Write {
            request: endpoint.request(),
            touches: E::TOUCHES,
            read: |body, kind| E::Output::read(body, kind).map(|value| (Arc::new(value) as Value, 1)),
            what: what.into(),
            undo: None,
            files: Vec::new(),
        }
    }

    /// The same change, which `command` takes back; `words` say what that does.
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
