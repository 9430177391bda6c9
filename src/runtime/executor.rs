//! Runs the effects that the app requests in the background, and reports their outcomes.
//!
//! # From a want to the screen
//!
//! 1. `settle` finds that a want is missing or too old in the store, and returns `Effect::Start` with a `Task`
//!    (`src/store/want.rs`).
//! 2. The executor sends an earlier reply from disk, if there is one, and requests the new
//!    one from the client, naming the entity tag of what is known: if the server has nothing newer, the known reply is
//!    the answer. Otherwise it is checked to be what was requested (`src/api/expected.rs`): a blob by its SHA, an
//!    object by its ID, an archive by its first bytes, and none may be a web page. Then the body becomes a typed value
//!    outside the loop. Messages of tasks that were canceled meanwhile are dropped. Of the requests for the columns of
//!    a list, a few are sent at the same time, so that others do not wait for them. All requests to a server keep one
//!    pace (`src/api/client/pace.rs`): if it refuses requests for being too many, or is away, they wait in a queue by
//!    `Priority`, one of them tries, and the others share its outcome. A server with HTTP/2 gets one connection
//!    (`shared_connection.rs` beside it), and one of which nothing is known yet, too. The store paces what failed:
//!    requests of a route that the server cannot answer wait for one attempt, and after three failures in a row those
//!    of all routes do (`Store::record_reachability`).
//! 3. `Msg::Arrived` brings the value, and `Store::record_reply` keeps it with its age. It gets a new revision if its
//!    bytes changed.
//! 4. `settle` calls `Pane::changed`. A list filters and sorts its rows again if their revision changed, and keeps the
//!    selection on its row by key (`Listing::sync`).
//! 5. The frame builds the cells of the visible rows from the reply itself.

use super::branch::{head, push};
use super::cache::{self, Cache};
use super::capabilities::Capabilities;
use super::checkout;
use super::clipboard;
use super::desktop;
use super::follow::{self, Backpressure};
use super::journal::JournalWriter;
use super::open;
use super::run;
use super::tasks;
use super::terminal;
use super::workers;
use crate::api::client::{OnPart, OnProgress, Priority};
use crate::api::endpoint::Request;
use crate::api::error::Unreadable;
use crate::api::expected::ExpectedReply;
use crate::api::partial_reply::CutReply;
use crate::api::{Error, Fault, Host};
use crate::app::action::{Effect, Msg, Outcome, StopFlag};
use crate::app::clip::Clip;
use crate::app::custom::{RunEvent, RunSpec, Show};
use crate::app::outbox::Claim;
use crate::app::session::CustomSection;
use crate::app::tone::Tone;
use crate::app::transfer::TransferEvent;
use crate::runtime::connections::{self, Connect, Connection, Connections, ServerConnection};
use crate::runtime::download::{self, PartNames};
use crate::runtime::range_reader;
use crate::store::want::Reader;
use crate::store::{Load, ParsedReply, Task, TaskKey, Work, Write};
use futures::FutureExt;
use jiff::Timestamp;
use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinHandle};

/// The size in bytes above which a body is parsed on a worker thread.
const LARGE_BODY_BYTES: usize = 64 * 1024;
/// The memory that parsing takes, in bytes for each byte of the body.
const PARSED_BYTES_PER_BYTE: usize = 4;
/// The memory that a reply from a clone takes, in bytes.
const MAX_CLONE_BYTES: usize = 64 << 20;
/// The time between two reports of the progress of an upload.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of requests that are sent at the same time, of those of which there are many: on the one connection of
/// HTTP/2, those of the rows of a screen; otherwise, a fifth, since each takes a connection.
const MAX_OF_MANY: usize = 30;
const OF_HTTP1: u32 = 5;
/// The time that texts get to reach the disk when the program ends.
const MAX_FINISH_WAIT: Duration = Duration::from_millis(500);
/// Maximum time for which a frame waits for typed text to be written.
const MAX_WRITE_WAIT: Duration = Duration::from_millis(200);

/// A task in flight.
struct RunningTask {
    abort: AbortHandle,
    stop: StopFlag,
    /// Whether a stream should pause reading.
    hold: watch::Sender<bool>,
    /// Notified when a request should no longer wait for others.
    forward: Arc<Notify>,
}

impl RunningTask {
    fn stop(&self) {
        self.stop.stop();
        self.abort.abort();
    }
}

/// A sender of a task's messages to the app.
pub(super) struct MsgSender {
    pub(super) sender: mpsc::Sender<Msg>,
    pub(super) stop: StopFlag,
}

impl MsgSender {
    /// Sends a message. Waits while the queue is full.
    pub async fn send(&self, msg: Msg) {
        let _ = self.sender.send(Msg::FromTask(self.stop.clone(), Box::new(msg))).await;
    }
}

/// A function that adds a custom section to the configuration, or removes it, by its name.
pub type Configure = Arc<dyn Fn(&str, Option<&CustomSection>) -> Result<(), String> + Send + Sync>;

/// The executor of effects. Dropping it cancels everything in flight.
pub struct Executor {
    connections: Connections,
    /// The current server.
    here: Host,
    sender: mpsc::Sender<Msg>,
    tasks: HashMap<TaskKey, RunningTask>,
    writes: Vec<JoinHandle<()>>,
    /// The transfers, by their numbers.
    transfers: HashMap<u64, AbortHandle>,
    /// The writes that upload files, by their numbers.
    uploads: HashMap<u64, AbortHandle>,
    /// The running commands of the configuration.
    runs: HashMap<u64, AbortHandle>,
    drafts: Option<PathBuf>,
    journal: Option<JournalWriter>,
    /// A receiver that resolves when the latest text is written.
    unwritten: Option<oneshot::Receiver<()>>,
    configure: Option<Configure>,
    /// The number of bytes that streams may still send before the app handles some.
    queue_capacity: Arc<Semaphore>,
    /// The number of requests for columns that may still be sent, of which there are many.
    many: Arc<Semaphore>,
    /// The last reported difference in milliseconds by which the server's clock is ahead of ours.
    ahead: Arc<AtomicI64>,
}

impl Executor {
    /// Creates an executor for one server that sends messages to `sender`.
    ///
    /// Saved texts go to the folder `drafts`, replies to the folder `replies`, if any.
    pub fn new(
        connect: Connect,
        sender: mpsc::Sender<Msg>,
        drafts: Option<PathBuf>,
        replies: Option<PathBuf>,
    ) -> Executor {
        let here = Host::new("");
        let connections = Connections::new(connections::no_other_servers());
        Executor::on(connections.with(here.clone(), Connection::new(connect, replies)), here, sender, drafts)
    }

    /// Creates an executor for the server `here`.
    pub fn on(connections: Connections, here: Host, sender: mpsc::Sender<Msg>, drafts: Option<PathBuf>) -> Executor {
        Executor {
            connections,
            here,
            sender,
            tasks: HashMap::new(),
            writes: Vec::new(),
            transfers: HashMap::new(),
            uploads: HashMap::new(),
            runs: HashMap::new(),
            drafts,
            journal: None,
            unwritten: None,
            configure: None,
            queue_capacity: Arc::new(Semaphore::new(follow::MAX_QUEUED_BYTES)),
            many: Arc::new(Semaphore::new(MAX_OF_MANY)),
            ahead: Arc::default(),
        }
    }

    /// Returns the connection to a server. For the current server, its clock is reported.
    fn connection(&self, host: Option<&Host>) -> ServerConnection {
        match host {
            Some(host) => self.connections.to(host),
            None => self.connections.to(&self.here).with_clock(self.ahead.clone()),
        }
    }

    /// Sets the function that writes custom sections.
    pub fn configured(mut self, configure: Option<Configure>) -> Executor {
        self.configure = configure;
        self
    }

    /// Runs an effect. Returns it if it concerns the terminal, another server, or quitting.
    pub fn take(&mut self, effect: Effect) -> Option<Effect> {
        match effect {
            Effect::Start(task) => self.start(task),
            Effect::Cancel(task) => {
                if let Some(task) = self.tasks.remove(&task) {
                    task.stop();
                }
            }
            Effect::MoveForward(task) => {
                if let Some(task) = self.tasks.get(&task) {
                    task.forward.notify_one();
                }
            }
            Effect::SetPaused(task, hold) => {
                if let Some(task) = self.tasks.get(&task) {
                    task.hold.send_replace(hold);
                }
            }
            Effect::Send(number, write) => {
                self.writes.retain(|task| !task.is_finished());
                let (connection, sender) = (self.connection(write.request.host.as_ref()), self.sender.clone());
                let synced = self.journal.as_ref().map(JournalWriter::synced);
                let has_files = !write.files.is_empty();
                let on_progress = upload_progress(number, &sender);
                let task = tasks::spawn(async move {
                    // Typed text, and the fact that it is being sent, must be on disk before it is sent.
                    if let Some(synced) = synced {
                        let _ = synced.await;
                    }
                    let outcome = send(&connection, &write, on_progress).await;
                    let _ = sender.send(Msg::Sent(number, outcome)).await;
                });
                self.uploads.retain(|_, upload| !upload.is_finished());
                if has_files {
                    self.uploads.insert(number, task.abort_handle());
                }
                self.writes.push(task);
            }
            Effect::StopUpload(number, tried) => {
                if let Some(upload) = self.uploads.remove(&number) {
                    upload.abort();
                    let (sender, fault) = (self.sender.clone(), Fault::Disk("the upload was stopped".to_owned()));
                    tasks::spawn(async move { sender.send(Msg::Sent(number, Err(Error { tried, fault }))).await });
                }
            }
            Effect::Transfer(number, spec) => {
                let (connection, sender) = (self.connection(spec.download.request.host.as_ref()), self.sender.clone());
                let drafts = self.drafts.clone();
                let task = tasks::spawn(async move {
                    let part_names = PartNames::load(drafts.as_deref());
                    match connection.client().await {
                        Ok(client) => download::transfer(&client, number, spec, part_names, &sender).await,
                        Err(error) => {
                            let _ = sender.send(Msg::Transfer(number, TransferEvent::Failed(error.message()))).await;
                        }
                    }
                });
                self.transfers.retain(|_, save| !save.is_finished());
                self.transfers.insert(number, task.abort_handle());
            }
            Effect::StopTransfer(number) => {
                if let Some(task) = self.transfers.remove(&number) {
                    task.abort();
                }
            }
            Effect::ForgetTransfer(spec) => {
                let drafts = self.drafts.clone();
                tasks::spawn(async move { download::remove_part(spec, PartNames::load(drafts.as_deref())).await });
            }
            Effect::SaveText(key, text) => {
                let written = self.journal().map(|journal| {
                    journal.save(key, text);
                    journal.written()
                });
                self.unwritten = written;
            }
            Effect::SaveState(account, file) => {
                if let Some(journal) = self.journal() {
                    journal.save_state(&account, file);
                }
            }
            Effect::Claim(key, on_disk) => {
                let claim = self.journal().map(|journal| journal.claim(on_disk));
                let sender = self.sender.clone();
                tasks::spawn(async move {
                    // If nothing is saved, no other program can have claimed it.
                    let claim = match claim {
                        Some(claim) => claim.await.unwrap_or(Claim::Ours(None)),
                        None => Claim::Ours(None),
                    };
                    let _ = sender.send(Msg::Claimed(key, claim)).await;
                });
            }
            Effect::WriteSection(name, section) => self.configure(name, section),
            Effect::CheckOut(checkout) => {
                let (sender, trusted) = (self.sender.clone(), self.trusted_clones());
                tasks::block(move || {
                    let outcome = checkout::run(&checkout, trusted.as_deref());
                    let _ = sender.blocking_send(Msg::CheckedOut(checkout, outcome));
                });
            }
            Effect::ReadHead(clone) => {
                let (sender, read_clone) = (self.sender.clone(), self.connection(None).clone_reader);
                tasks::block(move || {
                    let _ = sender.blocking_send(Msg::HeadRead(head::read(&clone, read_clone.as_ref())));
                });
            }
            Effect::Push(number, push) => {
                let task = tasks::spawn(push::push(number, push, self.trusted_clones(), self.sender.clone()));
                self.runs.insert(number, task.abort_handle());
            }
            Effect::StartCustomCommand(_, RunSpec { show: Show::Terminal, .. }) => return Some(effect),
            Effect::StartCustomCommand(number, spec) => {
                self.runs.retain(|_, task| !task.is_finished());
                let task = tasks::spawn(run::run(number, spec, self.sender.clone()));
                self.runs.insert(number, task.abort_handle());
            }
            Effect::StopCustomCommand(number) => {
                if let Some(task) = self.runs.remove(&number) {
                    task.abort();
                    let sender = self.sender.clone();
                    tasks::spawn(async move {
                        let ended = RunEvent::Ended(Err("was canceled".to_owned()));
                        let _ = sender.send(Msg::CustomCommand(number, ended)).await;
                    });
                }
            }
            Effect::Copy(_)
            | Effect::EditFile(_)
            | Effect::EditList(..)
            | Effect::Notify(_)
            | Effect::Browse(_)
            | Effect::Edit { .. }
            | Effect::Pager(_)
            | Effect::SwitchServer(..)
            | Effect::SwitchBack
            | Effect::Suspend => return Some(effect),
        }
        None
    }

    /// Waits until typed text is written, so that nothing is shown that a crash would lose. Waits only a moment if the
    /// disk is slow or fails.
    pub async fn written(&mut self) {
        if let Some(written) = self.unwritten.take() {
            let _ = tokio::time::timeout(MAX_WRITE_WAIT, written).await;
        }
    }

    /// Waits until texts are on disk, and briefly for writes to be answered.
    pub async fn finish(&mut self) {
        if let Some(journal) = self.journal.take() {
            // A disk that does not answer must not keep the program from ending.
            let finish = tasks::block(move || journal.finish());
            let _ = tokio::time::timeout(MAX_FINISH_WAIT, finish).await;
        }
        let writes = std::mem::take(&mut self.writes);
        let _ = tokio::time::timeout(Duration::from_secs(3), futures::future::join_all(writes)).await;
        self.transfers.values().chain(self.runs.values()).for_each(AbortHandle::abort);
        self.tasks.values().for_each(RunningTask::stop);
    }

    /// Returns the folder with the configurations of clones that the user allowed.
    fn trusted_clones(&self) -> Option<PathBuf> {
        // One folder for the clones of all servers, whose saved texts are beside each other.
        Some(self.drafts.as_deref()?.parent()?.with_file_name("trusted-clones"))
    }

    fn start(&mut self, task: Task) {
        // Tasks that ended by themselves remain in the map only by name.
        self.tasks.retain(|_, task| !task.abort.is_finished());
        let (connection, stop) = (self.connection(task.host()), StopFlag::default());
        let sender = MsgSender { sender: self.sender.clone(), stop: stop.clone() };
        let (hold, paused) = watch::channel(false);
        let backpressure = Backpressure { paused, queue_capacity: self.queue_capacity.clone() };
        let many = self.many.clone();
        let forward = Arc::new(Notify::new());
        let moves_forward = forward.clone();
        let key = task.key();
        let name = key.clone();
        let running = tasks::spawn(async move {
            let to = &sender;
            let outcome = async {
                match task {
                    Task::Load { mut load, page, link, mut known } => {
                        // The connection determines the server.
                        let request = load.page(page, link.as_deref()).at(None);
                        if let Some(reply) = clone_reply(&connection, &load).await {
                            return Ok(Outcome::FromClone(reply));
                        }
                        let cache = connection.cache().await;
                        // The store's data is newer than the disk cache.
                        if known.is_none()
                            && let Some(cache) = &cache
                            && let Some((arrival, at)) = cached_reply(cache, &load, &request).await
                        {
                            known = Some(arrival.clone());
                            to.send(Msg::Cached(name.clone(), arrival, at)).await;
                        }
                        if !load.delay.is_zero() {
                            tokio::time::sleep(load.delay).await;
                        }
                        let _permit = match load.priority {
                            Priority::Columns => tokio::select! {
                                permit = acquire_of_many(&connection, &many) => permit,
                                () = moves_forward.notified() => {
                                    load.priority = Priority::Preview;
                                    None
                                }
                            },
                            Priority::Page | Priority::Preview => None,
                        };
                        // What is known already is shown until the whole reply is there.
                        let cut = load.cut.filter(|_| known.is_none());
                        let parts = cut.map(|cut| send_parts(&name, load.read, cut, to));
                        tokio::select! {
                            outcome = reply(&connection, &load, &request, known, cache.as_deref(), parts) => {
                                outcome.map(Outcome::Reply)
                            }
                            never = tell_limits(&connection, &to.sender) => match never {},
                        }
                    }
                    Task::Follow(follow, known) => {
                        follow::stream(&connection, &follow, known, backpressure, to).await.map(Outcome::End)
                    }
                    Task::Work(work) => run_work(work, to).await,
                    Task::RangeRead(reader) => {
                        range_reader::read_ranges(&connection.client().await?, &reader, to).await
                    }
                }
            };
            // Every task reports an outcome, even if it panics; otherwise the app would wait forever.
            let outcome = AssertUnwindSafe(outcome).catch_unwind().await.unwrap_or_else(|_| Err(crashed(&name)));
            // The clock is sent first, because times in the outcome are interpreted by it.
            if let Some(clock) = connection.clock_change() {
                let _ = sender.sender.send(clock).await;
            }
            sender.send(Msg::Arrived(name, outcome)).await;
        });
        self.tasks.insert(key, RunningTask { abort: running.abort_handle(), stop, hold, forward });
    }

    /// Writes a section to the configuration, if possible. This is a small file that is rarely written.
    fn configure(&self, name: String, section: Option<CustomSection>) {
        let Some(configure) = self.configure.clone() else { return };
        let sender = self.sender.clone();
        tasks::block(move || {
            if let Err(why) = configure(&name, section.as_ref()) {
                let words = format!("The section was not saved to the configuration: {why}");
                let _ = sender.blocking_send(Msg::Say(Tone::Bad, words));
            }
        });
    }

    /// Shows a desktop notification.
    pub fn notify(&self, text: String) {
        let sender = self.sender.clone();
        tasks::block(move || {
            if let Err(why) = desktop::show(&text) {
                // This replaces the message in the last line, so it repeats that message.
                let words = format!("{text}. The desktop notification failed: {why}");
                let _ = sender.blocking_send(Msg::Say(Tone::Warning, words));
            }
        });
    }

    /// Copies a text with a program of the desktop, off the loop, unless the terminal is known to support copying.
    /// Reports the outcome.
    pub fn copy(&self, clip: Clip, terminal: &Capabilities) {
        let commands = clipboard::copy_commands(terminal, terminal::environment);
        let sender = self.sender.clone();
        tasks::spawn(async move {
            let outcome = match commands {
                Some(commands) => clipboard::copy(&commands, &clip.text).await.map(Some),
                None => Ok(None),
            };
            let _ = sender.send(Msg::Copied(clip.name, outcome)).await;
        });
    }

    /// Opens a page in the browser, off the loop, because a missing browser is reported late.
    pub fn browse(&self, url: String) {
        let sender = self.sender.clone();
        tasks::spawn(async move {
            if let Err(why) = open::browser(&url).await {
                let _ = sender.send(Msg::Say(Tone::Bad, why)).await;
            }
        });
    }

    /// Returns the journal writer, if texts are saved.
    fn journal(&mut self) -> Option<&JournalWriter> {
        let folder = self.drafts.clone()?;
        let sender = self.sender.clone();
        let on_change = move |outcome| sender.try_send(Msg::DiskStatus(outcome)).is_ok();
        Some(self.journal.get_or_insert_with(|| JournalWriter::start(folder, on_change)))
    }
}

/// Returns the reply from the disk cache and the time at which it arrived, or `None` if it cannot be read.
async fn cached_reply(cache: &Mutex<Cache>, load: &Load, request: &Request) -> Option<(ParsedReply, Timestamp)> {
    let path = cache.lock().unwrap_or_else(PoisonError::into_inner).path(request);
    let (request, load) = (request.clone(), load.clone());
    let read = move || {
        let cached = cache::read(&path, &request)?;
        let kind = cached.content_type.as_deref();
        // Files on a disk can be damaged or replaced as well as replies.
        ExpectedReply::of(&request).check(&cached.body, kind).ok()?;
        let reply = ParsedReply::read(&load, &cached.body, kind).ok()?;
        let total = cached.total.filter(|_| !load.splits_entries);
        Some((ParsedReply { next: cached.next, total, etag: cached.etag, ..reply }, cached.at))
    };
    workers::run(PARSED_BYTES_PER_BYTE * cache::MAX_REPLY_BYTES, read).await.ok().flatten()
}

/// Waits until a request may be sent of which there are many.
async fn acquire_of_many<'a>(connection: &ServerConnection, many: &'a Semaphore) -> Option<SemaphorePermit<'a>> {
    let is_http2 = connection.client().await.is_ok_and(|client| client.is_http2());
    many.acquire_many(if is_http2 { 1 } else { OF_HTTP1 }).await.ok()
}

/// Returns the reply from the clone, if it has the commits.
async fn clone_reply(connection: &ServerConnection, load: &Load) -> Option<ParsedReply> {
    let read = connection.clone_reader.clone().filter(|_| load.in_clone.is_some())?;
    let load = load.clone();
    workers::run(MAX_CLONE_BYTES, move || load.read_clone(&read)).await.ok().flatten()
}

/// Reports each pause that the server asks for.
async fn tell_limits(connection: &ServerConnection, sender: &mpsc::Sender<Msg>) -> Infallible {
    let Ok(client) = connection.client().await else { return std::future::pending().await };
    loop {
        let pause = client.limited().await;
        let _ = sender.send(Msg::Limited(pause)).await;
        tokio::time::sleep(pause).await;
    }
}

/// Sends `request`, a page of `load`, and returns the reply: the `known` one if the server says that it did not change.
pub(super) async fn reply(
    connection: &ServerConnection,
    load: &Load,
    request: &Request,
    known: Option<ParsedReply>,
    cache: Option<&Mutex<Cache>>,
    parts: Option<OnPart>,
) -> Result<ParsedReply, Error> {
    let client = connection.client().await?.with_priority(load.priority).with_parts(parts);
    let cache = || cache.map(|cache| cache.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(had_http2) = cache().and_then(|cache| cache.has_http2()) {
        client.expect_http2(had_http2);
    }
    let etag = known.as_ref().and_then(|known| known.etag.as_ref());
    let response = match client.send_unless_known(request, etag).await {
        Ok(response) => response,
        Err(error) => {
            if let Some(mut cache) = cache().filter(|_| error.is_withheld()) {
                cache.remove(request);
            }
            return Err(error);
        }
    };
    if let Some(mut cache) = cache() {
        cache.record_http2(client.is_http2());
    }
    if let Some(known) = known.filter(|_| response.status == 304) {
        if let Some(mut cache) = cache() {
            cache.renew(request, Timestamp::now());
        }
        // The list may have grown on other pages. Servers that do not say so again have only the known number.
        let total = response.page.total.filter(|_| !load.splits_entries).or(known.total);
        return Ok(ParsedReply { total, next: response.page.next.or(known.next), ..known });
    }
    let kept = response.clone();
    let (info, load, kind, etag) = (response.page, load.clone(), response.content_type, response.etag);
    let tried = request.line();
    let outcome = read(response.body, &tried, move |body| {
        let reply = ParsedReply::read(&load, body, kind.as_deref())?;
        let total = info.total.filter(|_| !load.splits_entries);
        Ok(ParsedReply { next: info.next, total, etag, ..reply })
    })
    .await;
    // What cannot be read may be half of a reply.
    if let Some(mut cache) = cache().filter(|_| outcome.is_ok()) {
        cache.put(request, &kept, Timestamp::now());
    }
    outcome
}

/// Returns a callback that sends what has been received of a long reply to the app, and leaves out what there is no time for.
fn send_parts(task: &TaskKey, read: Reader, cut: CutReply, to: &MsgSender) -> OnPart {
    let (task, sender, stop) = (task.clone(), to.sender.clone(), to.stop.clone());
    let is_busy = Arc::new(AtomicBool::new(false));
    OnPart::new(move |bytes, size| {
        if is_busy.swap(true, Ordering::Relaxed) {
            return;
        }
        let (task, sender, stop, is_busy) = (task.clone(), sender.clone(), stop.clone(), is_busy.clone());
        let (bytes, received) = (bytes.to_vec(), bytes.len() as u64);
        tasks::spawn(async move {
            let memory = bytes.len().saturating_mul(PARSED_BYTES_PER_BYTE);
            let value = workers::run(memory, move || cut(bytes).and_then(|part| read(&part, None).ok())).await;
            if let Ok(Some((value, _))) = value {
                let part = Msg::Partial { task, value, received, size };
                let _ = sender.send(Msg::FromTask(stop, Box::new(part))).await;
            }
            is_busy.store(false, Ordering::Relaxed);
        });
    })
}

/// Reads a body, on a worker if it is large.
async fn read<T: Send + 'static>(
    body: bytes::Bytes,
    tried: &str,
    read: impl FnOnce(&[u8]) -> Result<T, Unreadable> + Send + 'static,
) -> Result<T, Error> {
    let size = body.len();
    let read = move || read(&body);
    let outcome = if size > LARGE_BODY_BYTES {
        workers::run(size.saturating_mul(PARSED_BYTES_PER_BYTE), read).await.unwrap_or_else(|_| {
            Err(Unreadable { field: ".".into(), reason: "internal error; --log FILE has the details".into() })
        })
    } else {
        read()
    };
    outcome.map_err(|unreadable| Error { tried: tried.to_owned(), fault: Fault::Unreadable(unreadable) })
}

/// Returns a callback that reports the progress of an upload, and leaves out what the app has no time for.
fn upload_progress(number: u64, sender: &mpsc::Sender<Msg>) -> OnProgress {
    let (sender, last) = (sender.clone(), Mutex::new(None::<Instant>));
    Arc::new(move |progress| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_end = progress.total == Some(progress.done);
        if is_end || last.is_none_or(|last| last.elapsed() >= PROGRESS_INTERVAL) {
            *last = Some(Instant::now());
            let _ = sender.try_send(Msg::Uploading(number, progress));
        }
    })
}

async fn send(
    connection: &ServerConnection,
    write: &Write,
    on_progress: OnProgress,
) -> Result<crate::store::Value, Error> {
    let client = connection.client().await?;
    let response = if write.files.is_empty() {
        client.send(&write.request).await?
    } else {
        let files: Vec<(&str, &Path)> = write.files.iter().map(|(name, path)| (*name, path.as_path())).collect();
        client.upload(&write.request, &files, on_progress).await?
    };
    let (reader, kind) = (write.read, response.content_type);
    read(response.body, &write.request.line(), move |body| reader(body, kind.as_deref()).map(|(value, _)| value)).await
}

/// Runs a computation on a worker thread, and sends its preview if it has one. A canceled one is aborted before its
/// result is used.
async fn run_work(work: Work, to: &MsgSender) -> Result<Outcome, Error> {
    let (name, memory) = (TaskKey::Work(work.key.clone()), work.memory);
    let (stop, sender, of_preview) = (to.stop.clone(), to.sender.clone(), name.clone());
    let compute = move || {
        if let Some(preview) = (work.preview)() {
            let preview = Msg::Preview(of_preview, preview);
            let _ = sender.blocking_send(Msg::FromTask(stop.clone(), Box::new(preview)));
        }
        (work.run)(&|| stop.is_stopped())
    };
    let result = workers::run(memory, compute).await;
    result.map(Outcome::Computed).map_err(|_| crashed(&name))
}

fn crashed(task: &TaskKey) -> Error {
    let tried = match task {
        TaskKey::Load(request, _) | TaskKey::Follow(request) => request.line(),
        TaskKey::Work(_) | TaskKey::RangeRead(_) => "prepare the view".into(),
    };
    let reason = "internal error; --log FILE has the details".to_owned();
    Error { tried, fault: Fault::Unreadable(Unreadable { field: ".".into(), reason }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn next_message(inbox: &mut mpsc::Receiver<Msg>) -> Msg {
        match inbox.recv().await {
            Some(Msg::FromTask(stop, msg)) if !stop.is_stopped() => *msg,
            other => panic!("{other:?}"),
        }
    }

    struct Colored;

    impl crate::store::Derive for Colored {
        type Output = &'static str;

        fn key(&self) -> String {
            "text".into()
        }

        fn preview(&self) -> Option<&'static str> {
            Some("plain")
        }

        fn run(&self, _: crate::store::Canceled<'_>) -> &'static str {
            "colored"
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_preview_of_a_computation_comes_before_its_result() {
        let (sender, mut inbox) = mpsc::channel(8);
        let gone = || Err(Error { tried: "connect".into(), fault: Fault::Offline("gone".into()) });
        let mut executor = Executor::new(Box::new(gone), sender, None, None);
        let task = TaskKey::Work("text".into());
        executor.take(Effect::Start(Task::Work(Work::new(Colored))));
        let text = |result: &crate::store::WorkResult| result.value.downcast_ref::<&str>().copied();
        let Msg::Preview(of, preview) = next_message(&mut inbox).await else { panic!("no preview") };
        assert_eq!((of, text(&preview)), (task, Some("plain")));
        let Msg::Arrived(_, Ok(Outcome::Computed(result))) = next_message(&mut inbox).await else {
            panic!("no result")
        };
        assert_eq!(text(&result), Some("colored"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_kept_comes_before_the_server_and_without_it() {
        use crate::api::branches::{Branch, ListBranches};
        use crate::api::client::Response;
        use crate::api::page::PageInfo;
        let folder = tempfile::tempdir().expect("a folder for the test");
        let load = Load::list(&ListBranches { id: "a/b".into(), search: None }, 1);
        let body = bytes::Bytes::from_static(b"[{\"name\":\"main\"}]");
        let response = Response { status: 200, body, content_type: None, page: PageInfo::default(), etag: None };
        let mut cache = Cache::new(folder.path().to_owned());
        cache.put(&load.page(1, None), &response, Timestamp::UNIX_EPOCH);
        cache.finish();

        let (sender, mut inbox) = mpsc::channel(8);
        let gone = || Err(Error { tried: "connect".into(), fault: Fault::Offline("gone".into()) });
        let mut executor = Executor::new(Box::new(gone), sender, None, Some(folder.path().to_owned()));
        let task = |known| Task::Load { load: load.clone(), page: 1, link: None, known };
        executor.take(Effect::Start(task(None)));
        let Msg::Cached(about, arrival, at) = next_message(&mut inbox).await else { panic!("nothing was recalled") };
        assert_eq!((about, at), (task(None).key(), Timestamp::UNIX_EPOCH));
        let rows = arrival.value.downcast_ref::<Vec<Branch>>().expect("branches");
        assert_eq!(rows.first().map(|b| b.name.as_str()), Some("main"));
        assert!(matches!(next_message(&mut inbox).await, Msg::Arrived(_, Err(_))));
        // The second time, the store already has the data.
        executor.take(Effect::Start(task(Some(arrival))));
        assert!(matches!(next_message(&mut inbox).await, Msg::Arrived(_, Err(_))));
    }

    /// The ID of a blob with the text `hello` and a line break.
    const HELLO: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

    fn whole(kind: &str, body: &str) -> String {
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}")
    }

    /// Returns the messages of a load until its end, with a server that sends `reply`; `None` for one that is gone.
    async fn run(folder: &Path, load: &Load, reply: Option<String>) -> Vec<Msg> {
        let (sender, mut inbox) = mpsc::channel(8);
        let client = match reply {
            Some(reply) => Ok(crate::runtime::tests::serve(vec![reply]).await.0),
            None => Err(Error { tried: "connect".into(), fault: Fault::Offline("gone".into()) }),
        };
        let mut executor = Executor::new(Box::new(|| client), sender, None, Some(folder.to_owned()));
        executor.take(Effect::Start(Task::Load { load: load.clone(), page: 0, link: None, known: None }));
        let mut messages = Vec::new();
        while !matches!(messages.last(), Some(Msg::Arrived(..))) {
            let message = next_message(&mut inbox).await;
            if !matches!(message, Msg::ClockOffset(_)) {
                messages.push(message);
            }
        }
        executor.connections.finish().await;
        messages
    }

    fn kept(folder: &Path) -> usize {
        let replies = std::fs::read_dir(folder).expect("readable").flatten();
        replies.filter(|file| file.file_name() != "http2").count()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_what_has_its_hash_or_is_whole_is_kept_and_read_from_disk() {
        use crate::api::commits::GetCommitDiff;
        use crate::api::repository::GetRawBlob;
        let blob = Load::single(&GetRawBlob { id: "a/b".into(), sha: HELLO.into() });
        let diff = Load::single(&GetCommitDiff { id: "a/b".into(), sha: HELLO.into() });
        let (page, text, json) = ("<html><title>Sign in</title>", "text/plain", "application/json");
        // None has a length, so a cut one looks complete.
        for (load, bad, good) in [
            (&blob, whole(text, "hell"), whole(text, "hello\n")),
            (&blob, whole("text/html", page), whole(text, "hello\n")),
            (&blob, whole(text, page), whole(text, "hello\n")),
            (&diff, whole(json, r#"[{"diff": "", "new_pa"#), whole(json, "[]")),
            (&diff, whole(json, r#"{"message": "sign in"}"#), whole(json, "[]")),
            (&diff, whole("text/html", page), whole(json, "[]")),
        ] {
            let folder = tempfile::tempdir().expect("a folder for the test");
            let messages = run(folder.path(), load, Some(bad.clone())).await;
            assert!(matches!(&messages[..], [Msg::Arrived(_, Err(_))]), "{bad}: {messages:?}");
            assert_eq!(kept(folder.path()), 0, "{bad}");
            let messages = run(folder.path(), load, Some(good.clone())).await;
            assert!(matches!(&messages[..], [Msg::Arrived(_, Ok(_))]), "{good}: {messages:?}");
            assert_eq!(kept(folder.path()), 1, "{good}");
            let messages = run(folder.path(), load, None).await;
            assert!(matches!(&messages[..], [Msg::Cached(..), Msg::Arrived(_, Err(_))]), "{messages:?}");
            // The file on disk is damaged, or was kept by a version that believed everything.
            for file in std::fs::read_dir(folder.path()).expect("readable").flatten() {
                let content = std::fs::read_to_string(file.path()).expect("text");
                std::fs::write(file.path(), content.replace("hello", "hell").replace("[]", "[")).expect("written");
            }
            let messages = run(folder.path(), load, None).await;
            assert!(matches!(&messages[..], [Msg::Arrived(_, Err(_))]), "{messages:?}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_refused_is_not_kept_any_longer() {
        use crate::api::repository::GetRawBlob;
        let blob = Load::single(&GetRawBlob { id: "a/b".into(), sha: HELLO.into() });
        for (status, is_removed) in [("403 Forbidden", true), ("404 Not Found", true), ("500 Oops", false)] {
            let folder = tempfile::tempdir().expect("a folder for the test");
            run(folder.path(), &blob, Some(whole("text/plain", "hello\n"))).await;
            assert_eq!(kept(folder.path()), 1);
            let refusal = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
            run(folder.path(), &blob, Some(refusal)).await;
            assert_eq!(kept(folder.path()) == 0, is_removed, "{status}");
        }
    }
}
