//! Does what the app asks for in the background, and brings back what came of it.

use super::journal;
use crate::api::client::Client;
use crate::api::error::Unreadable;
use crate::api::{Error, Fault};
use crate::app::action::{Effect, Msg, Outcome, Tone};
use crate::store::want::Reader;
use crate::store::{Arrival, Follow, Load, PER_PAGE, Ticket, Want, Work, Write};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle};

/// Bodies above this size are read on a worker.
const LARGE: usize = 64 * 1024;
/// How long a stream rests after new bytes, at first.
const QUICK: Duration = Duration::from_millis(400);
/// How long it rests at most while nothing comes.
const SLOW: Duration = Duration::from_secs(5);
/// How much of the end of a document is kept to tell whether a server that sends everything sends the same.
const TAIL: usize = 4096;

type Connect = Box<dyn FnOnce() -> Result<Client, Error> + Send>;

/// The client, made when it is first needed and on a worker.
///
/// Shared, so that whoever waits goes on with it: a call that is cancelled while the client is made must not take it
/// from all others.
#[derive(Clone)]
struct Line {
    connecting: Shared<BoxFuture<'static, Result<Client, Error>>>,
}

impl Line {
    fn new(connect: Connect) -> Line {
        let connecting = async { tokio::task::spawn_blocking(connect).await.unwrap_or_else(|_| Err(gone("connect"))) };
        Line { connecting: connecting.boxed().shared() }
    }

    async fn client(&self) -> Result<Client, Error> {
        self.connecting.clone().await
    }
}

fn gone(tried: &str) -> Error {
    Error { tried: tried.to_owned(), fault: Fault::Offline("the connection could not be set up".into()) }
}

struct Task {
    abort: AbortHandle,
    cancelled: Arc<AtomicBool>,
}

/// Runs effects. Dropping it ends everything that is in flight.
pub struct Executor {
    line: Line,
    sender: mpsc::Sender<Msg>,
    tasks: HashMap<Ticket, Task>,
    writes: Vec<JoinHandle<()>>,
    drafts: Option<PathBuf>,
    keeper: Option<std::sync::mpsc::Sender<(String, Option<String>)>>,
    keeping: Option<std::thread::JoinHandle<()>>,
}

impl Executor {
    /// An executor that brings what came of it to `sender`.
    pub fn new(connect: Connect, sender: mpsc::Sender<Msg>, drafts: Option<PathBuf>) -> Executor {
        let line = Line::new(connect);
        Executor { line, sender, tasks: HashMap::new(), writes: Vec::new(), drafts, keeper: None, keeping: None }
    }

    /// Takes an effect in.
    pub fn take(&mut self, effect: Effect) {
        match effect {
            Effect::Start(ticket, want, held) => self.start(ticket, want, held),
            Effect::Cancel(ticket) => {
                if let Some(task) = self.tasks.remove(&ticket) {
                    task.cancelled.store(true, Ordering::Relaxed);
                    task.abort.abort();
                }
            }
            Effect::Send(number, write) => {
                self.writes.retain(|task| !task.is_finished());
                let (line, sender) = (self.line.clone(), self.sender.clone());
                self.writes.push(tokio::spawn(async move {
                    let outcome = send(&line, &write).await;
                    let _ = sender.send(Msg::Sent(number, outcome)).await;
                }));
            }
            Effect::Keep(key, text) => self.keep(key, text),
            // The loop does these itself: they concern the terminal.
            Effect::Copy(_) | Effect::Browse(_) | Effect::Edit { .. } | Effect::Suspend | Effect::Quit => {}
        }
    }

    /// Waits, for a moment, until texts are on disk and writes that went out have been answered.
    pub async fn finish(&mut self) {
        drop(self.keeper.take());
        if let Some(keeping) = self.keeping.take() {
            let _ = tokio::task::spawn_blocking(move || keeping.join()).await;
        }
        let writes = std::mem::take(&mut self.writes);
        let _ = tokio::time::timeout(Duration::from_secs(3), futures::future::join_all(writes)).await;
        for task in self.tasks.values() {
            task.cancelled.store(true, Ordering::Relaxed);
            task.abort.abort();
        }
    }

    fn start(&mut self, ticket: Ticket, want: Want, held: u64) {
        // Tasks that ended by themselves are only remembered by name.
        self.tasks.retain(|_, task| !task.abort.is_finished());
        let (line, sender) = (self.line.clone(), self.sender.clone());
        let cancelled = Arc::new(AtomicBool::new(false));
        let flag = cancelled.clone();
        let name = ticket.clone();
        let task = tokio::spawn(async move {
            let inner = name.clone();
            let to = sender.clone();
            let outcome = async move {
                match want {
                    Want::Load(load) => {
                        let page = match &inner {
                            Ticket::Load(_, page) => *page,
                            Ticket::Follow(_) | Ticket::Work(_) => 0,
                        };
                        reply(&line, &load, page).await.map(Outcome::Reply)
                    }
                    Want::Follow(follow) => stream(&line, &follow, held, &to).await.map(|()| Outcome::End),
                    Want::Work(work) => make(work, flag).await,
                }
            };
            // Whatever happens, what was started is answered: else it would be waited for forever.
            let outcome = AssertUnwindSafe(outcome).catch_unwind().await.unwrap_or_else(|_| Err(crashed(&name)));
            let _ = sender.send(Msg::Arrived(name, outcome)).await;
        });
        self.tasks.insert(ticket, Task { abort: task.abort_handle(), cancelled });
    }

    /// Texts go to disk in order, on a thread of their own: a slow disk holds up nobody.
    fn keep(&mut self, key: String, text: Option<String>) {
        let Some(folder) = self.drafts.clone() else { return };
        let sender = self.sender.clone();
        let keeper = self.keeper.get_or_insert_with(|| {
            let (keeper, inbox) = std::sync::mpsc::channel::<(String, Option<String>)>();
            self.keeping = Some(std::thread::spawn(move || {
                while let Ok(first) = inbox.recv() {
                    // Of what was typed meanwhile only the last state matters.
                    let mut latest = HashMap::from([first]);
                    latest.extend(inbox.try_iter());
                    for (key, text) in latest {
                        if let Err(error) = journal::keep(&folder, &key, text.as_deref()) {
                            let words = format!("The text could not be kept in {}: {error}", folder.display());
                            let _ = sender.try_send(Msg::Say(Tone::Bad, words));
                        }
                    }
                }
            }));
            keeper
        });
        let _ = keeper.send((key, text));
    }
}

async fn reply(line: &Line, load: &Load, page: u32) -> Result<Arrival, Error> {
    if !load.delay.is_zero() {
        tokio::time::sleep(load.delay).await;
    }
    let client = line.client().await?;
    let request = if page == 0 { load.request.clone() } else { load.request.clone().at_page(page, PER_PAGE) };
    let response = client.send(&request).await?;
    let info = response.page;
    let (value, len) = read(load.read, response.body, response.content_type, &request.line()).await?;
    Ok(Arrival { value, len, next: info.next, total: info.total })
}

async fn read(
    reader: Reader,
    body: bytes::Bytes,
    content_type: Option<String>,
    tried: &str,
) -> Result<(crate::store::Value, usize), Error> {
    let outcome = if body.len() > LARGE {
        let read = move || reader(&body, content_type.as_deref());
        tokio::task::spawn_blocking(read)
            .await
            .unwrap_or_else(|_| Err(Unreadable { field: ".".into(), reason: "the reader gave up".into() }))
    } else {
        reader(&body, content_type.as_deref())
    };
    outcome.map_err(|unreadable| Error { tried: tried.to_owned(), fault: Fault::Unreadable(unreadable) })
}

async fn send(line: &Line, write: &Write) -> Result<crate::store::Value, Error> {
    let client = line.client().await?;
    let response = client.send(&write.request).await?;
    read(write.read, response.body, response.content_type, &write.request.line()).await.map(|(value, _)| value)
}

/// Runs a computation on a worker. One that is cancelled is aborted before its answer is looked at.
async fn make(work: Work, cancelled: Arc<AtomicBool>) -> Result<Outcome, Error> {
    let name = Ticket::Work(work.key.clone());
    let made = tokio::task::spawn_blocking(move || (work.run)(&|| cancelled.load(Ordering::Relaxed))).await;
    made.map(Outcome::Made).map_err(|_| crashed(&name))
}

/// The answer to something that panicked on its way.
fn crashed(ticket: &Ticket) -> Error {
    let tried = match ticket {
        Ticket::Load(request, _) | Ticket::Follow(request) => request.line(),
        Ticket::Work(_) => "prepare what is shown".into(),
    };
    let reason = "labscope failed at it; --log FILE says where".to_owned();
    Error { tried, fault: Fault::Unreadable(Unreadable { field: ".".into(), reason }) }
}

/// Reads a growing document until its status says that nothing more will come.
async fn stream(line: &Line, follow: &Follow, held: u64, sender: &mpsc::Sender<Msg>) -> Result<(), Error> {
    let client = line.client().await?;
    let mut at = Position { held, tail: None };
    let mut rest = QUICK;
    loop {
        // The status first: if it says that all is written, the bytes read after it are all there are.
        let status = reply(line, &follow.status, 0).await;
        let over = status.as_ref().is_ok_and(|arrival| (follow.over)(&arrival.value));
        let failed = status.as_ref().err().cloned();
        let _ = sender.send(Msg::Learned(follow.status.request.clone(), status)).await;
        if let Some(error) = failed.filter(|e| !e.is_passing()) {
            return Err(error);
        }
        match at.catch_up(&client, follow, sender).await {
            Ok(grown) => {
                rest = if grown { QUICK } else { (rest * 3 / 2).min(SLOW) };
                if over {
                    return Ok(());
                }
            }
            // A trace that is not there yet is an empty one.
            Err(error) if error.is_missing() && !over => rest = (rest * 2).min(SLOW),
            Err(error) if error.is_passing() => rest = SLOW,
            Err(error) => return Err(error),
        }
        tokio::time::sleep(rest).await;
    }
}

/// How much of a document is known, and how it ends.
struct Position {
    held: u64,
    /// The last bytes that are held; unknown when a stream goes on where an earlier one was left.
    tail: Option<Vec<u8>>,
}

impl Position {
    /// Brings what is new; whether anything was.
    async fn catch_up(&mut self, client: &Client, follow: &Follow, sender: &mpsc::Sender<Msg>) -> Result<bool, Error> {
        let mut download = client.stream(&follow.request, self.held).await?;
        if download.start == self.held {
            return self.append(&mut download, follow, sender, false).await;
        }
        // The server sends everything again: what is known must be its beginning, and is skipped.
        let known = self.held;
        let check_from = known.saturating_sub(self.tail.as_ref().map_or(0, |t| t.len() as u64));
        let mut seen = download.start;
        let mut compared: Vec<u8> = Vec::new();
        while seen < known {
            let Some(chunk) = download.chunk().await? else {
                // Shorter than what is held: it was written anew.
                return self.restart(client, follow, sender).await;
            };
            let end = seen + chunk.len() as u64;
            let from = check_from.saturating_sub(seen).min(chunk.len() as u64) as usize;
            let to = (known.min(end) - seen) as usize;
            compared.extend(chunk.get(from..to.max(from)).unwrap_or_default());
            seen = end;
            if end >= known {
                if self.tail.as_ref().is_some_and(|tail| *tail != compared) {
                    return self.restart(client, follow, sender).await;
                }
                let new = chunk.slice(to..);
                let grown = !new.is_empty();
                self.push(&new, follow, sender, false).await;
                return Ok(self.append(&mut download, follow, sender, false).await? || grown);
            }
        }
        Ok(false)
    }

    async fn restart(&mut self, client: &Client, follow: &Follow, sender: &mpsc::Sender<Msg>) -> Result<bool, Error> {
        self.held = 0;
        self.tail = Some(Vec::new());
        let mut download = client.stream(&follow.request, 0).await?;
        self.append(&mut download, follow, sender, true).await
    }

    async fn append(
        &mut self,
        download: &mut crate::api::client::Download,
        follow: &Follow,
        sender: &mpsc::Sender<Msg>,
        mut restart: bool,
    ) -> Result<bool, Error> {
        let mut grown = false;
        if restart {
            self.push(&[], follow, sender, true).await;
        }
        while let Some(chunk) = download.chunk().await? {
            grown |= !chunk.is_empty();
            self.push(&chunk, follow, sender, false).await;
            restart = false;
        }
        Ok(grown || restart)
    }

    async fn push(&mut self, bytes: &[u8], follow: &Follow, sender: &mpsc::Sender<Msg>, restart: bool) {
        if bytes.is_empty() && !restart {
            return;
        }
        if self.held == 0 {
            self.tail.get_or_insert_default();
        }
        self.held += bytes.len() as u64;
        if let Some(tail) = &mut self.tail {
            tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default());
            let surplus = tail.len().saturating_sub(TAIL);
            tail.drain(..surplus);
        }
        // A full channel holds the reading up, and with it the server.
        let _ = sender.send(Msg::Bytes { request: follow.request.clone(), bytes: bytes.to_vec(), restart }).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::client::Server;
    use tokio::sync::oneshot;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_call_that_is_cancelled_while_connecting_leaves_the_connection_to_others() {
        let (began, begun) = oneshot::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let line = Line::new(Box::new(move || {
            let _ = began.send(());
            let _ = released.recv();
            Client::new(Server::new("http://127.0.0.1:9/".parse().expect("an address")))
        }));
        let first = tokio::spawn({
            let line = line.clone();
            async move { line.client().await }
        });
        begun.await.expect("connecting begins with the first call");
        first.abort();
        assert!(first.await.is_err_and(|e| e.is_cancelled()));
        release.send(()).expect("still connecting");
        assert!(line.client().await.is_ok());
    }
}
