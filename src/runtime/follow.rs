//! Reads a document that grows on the server, and holds back where it comes faster than it can be taken in.

use super::executor::{self, MsgSender};
use crate::api::client::{Client, Download};
use crate::api::{Error, Fault};
use crate::app::action::Msg;
use crate::runtime::connections::ServerConnection;
use crate::store::{Follow, HeldState};
use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// How long a stream rests after new bytes, at first.
const QUICK: Duration = Duration::from_millis(400);
/// How long it rests at most while nothing comes.
const SLOW: Duration = Duration::from_secs(5);
/// How long it rests at most where a server sends everything each time.
const SELDOM: Duration = Duration::from_secs(30);
/// How much of the end of a document is kept to tell whether a server that sends everything sends the same.
const TAIL: usize = 4096;
/// How much of that is asked for again where a server sends parts: another document has other bytes there.
const OVERLAP: usize = 512;
/// Bytes of all streams that are told and not heard yet: what waits takes memory, too.
pub(super) const UNHEARD: usize = 8 << 20;

/// What a stream waits for before it says more.
pub(super) struct Flow {
    /// Whether what came has no room at the moment.
    pub held_up: watch::Receiver<bool>,
    /// What may be told before some of it is heard, in bytes.
    pub unheard: Arc<Semaphore>,
}

/// Bytes on their way; when nobody has them any more, others may follow.
struct Delivered {
    bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Delivered {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Flow {
    /// Waits until there is room for `bytes`, and takes it.
    async fn take(&mut self, bytes: Bytes) -> Bytes {
        // Whoever could hold it up is gone with the executor, and this task with both.
        let _ = self.held_up.wait_for(|hold| !hold).await;
        let size = u32::try_from(bytes.len().min(UNHEARD)).unwrap_or(u32::MAX);
        let room = self.unheard.clone().acquire_many_owned(size).await.ok();
        Bytes::from_owner(Delivered { bytes, _room: room })
    }
}

/// Reads a growing document until its status says that nothing more will come.
pub(super) async fn stream(
    line: &ServerConnection,
    follow: &Follow,
    held: HeldState,
    flow: Flow,
    sender: &MsgSender,
) -> Result<(), Error> {
    let client = line.client().await?;
    let mut at = Position { follow, sender, flow, held: held.amount, tail: held.tail, resent: false };
    let mut rest = QUICK;
    loop {
        // The status first: if it says that all is written, the bytes read after it are all there are.
        let status = executor::reply(line, &follow.status, &follow.status.request, None).await;
        let over = status.as_ref().is_ok_and(|arrival| (follow.over)(&arrival.value));
        let failed = status.as_ref().err().cloned();
        let mut asked = failed.as_ref().map_or(Duration::ZERO, asked_for);
        if let Some(clock) = line.clock() {
            let _ = sender.sender.send(clock).await;
        }
        sender.tell(Msg::Learned(follow.status.request.clone(), status)).await;
        if let Some(error) = failed.filter(|e| !e.is_passing()) {
            return Err(error);
        }
        let before = at.held;
        let began = Instant::now();
        match at.catch_up(&client).await {
            Ok(grown) => {
                rest = if grown { QUICK } else { (rest * 3 / 2).min(SLOW) };
                if at.resent {
                    // Megabytes for a few new lines: most of the time neither server nor network works for this.
                    rest = rest.max((began.elapsed() * 4).min(SELDOM));
                }
                if over {
                    return Ok(());
                }
            }
            // A trace that is not there yet is an empty one.
            Err(error) if error.is_passing() || error.is_missing() && !over => {
                asked = asked.max(asked_for(&error));
                // What broke off after it brought something is taken up soon.
                rest = if at.held > before { QUICK } else { (rest * 2).min(SLOW) };
            }
            Err(error) => return Err(error),
        }
        tokio::time::sleep(rest.max(asked)).await;
    }
}

/// The pause that a server asks for.
fn asked_for(error: &Error) -> Duration {
    if let Fault::Limited(Some(pause)) = error.fault { pause } else { Duration::ZERO }
}

/// How much of a document is known, and how it ends.
struct Position<'a> {
    follow: &'a Follow,
    sender: &'a MsgSender,
    flow: Flow,
    held: u64,
    /// The last bytes that are held, as far as they are known.
    tail: Vec<u8>,
    /// Whether the server sent everything again, the last time.
    resent: bool,
}

impl Position<'_> {
    /// Brings what is new; whether anything was.
    async fn catch_up(&mut self, client: &Client) -> Result<bool, Error> {
        let known = self.held;
        // The last bytes once more: a document that was written again, and is longer by now, has others there.
        let from = known.saturating_sub(self.tail.len().min(OVERLAP) as u64);
        let mut download = client.stream(&self.follow.request, from).await?;
        if download.start > known || download.is_nothing() && from < known {
            // Something between is missing, or what was there is not: all of it tells.
            download = client.stream(&self.follow.request, 0).await?;
        }
        self.resent = download.start < from;
        // What is known must be the beginning of what comes, and is skipped.
        let check_from = known.saturating_sub(self.tail.len() as u64);
        let mut seen = download.start;
        let mut compared: Vec<u8> = Vec::new();
        while seen < known {
            let Some(chunk) = download.chunk().await? else {
                // Shorter than what is held: it was written again.
                return self.restart(client).await;
            };
            let end = seen + chunk.len() as u64;
            let from = check_from.saturating_sub(seen).min(chunk.len() as u64) as usize;
            let to = (known.min(end) - seen) as usize;
            compared.extend(chunk.get(from..to.max(from)).unwrap_or_default());
            seen = end;
            if end >= known {
                // A server may have begun in the middle of the tail.
                if !self.tail.ends_with(&compared) {
                    return self.restart(client).await;
                }
                let new = chunk.slice(to..);
                let grown = !new.is_empty();
                self.push(new, false).await;
                return Ok(self.append(&mut download).await? || grown);
            }
        }
        self.append(&mut download).await
    }

    async fn restart(&mut self, client: &Client) -> Result<bool, Error> {
        let mut download = client.stream(&self.follow.request, 0).await?;
        (self.held, self.tail) = (0, Vec::new());
        self.push(Bytes::new(), true).await;
        self.append(&mut download).await?;
        Ok(true)
    }

    async fn append(&mut self, download: &mut Download) -> Result<bool, Error> {
        let mut grown = false;
        while let Some(chunk) = download.chunk().await? {
            grown |= !chunk.is_empty();
            self.push(chunk, false).await;
        }
        Ok(grown)
    }

    async fn push(&mut self, bytes: Bytes, restart: bool) {
        if bytes.is_empty() && !restart {
            return;
        }
        // Before they are counted: what is never told is not held.
        let bytes = self.flow.take(bytes).await;
        self.held += bytes.len() as u64;
        self.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default());
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        // A full channel holds the reading up, and with it the server.
        self.sender.tell(Msg::Bytes { request: self.follow.request.clone(), bytes, restart }).await;
    }
}
