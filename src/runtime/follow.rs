//! Following a document that grows on the server, with backpressure when it grows faster than it can be processed.

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

/// The initial pause of a stream after new bytes.
const QUICK: Duration = Duration::from_millis(400);
/// The maximum pause while no new bytes arrive.
const SLOW: Duration = Duration::from_secs(5);
/// The maximum pause for a server that sends the whole document each time.
const SELDOM: Duration = Duration::from_secs(30);
/// The number of bytes kept of the end of a document, to detect whether a server that sends everything sends the same
/// document.
const TAIL: usize = 4096;
/// The number of these bytes requested again from a server that supports ranges: another document has other bytes
/// there.
const OVERLAP: usize = 512;
/// Maximum number of bytes of all streams that were sent to the app but not handled yet, since queued bytes take
/// memory, too.
pub(super) const UNHEARD: usize = 8 << 20;

/// The conditions that a stream waits for before it sends more.
pub(super) struct Flow {
    /// Whether the stream is paused because there is no room for more bytes.
    pub held_up: watch::Receiver<bool>,
    /// The number of bytes that may be sent before the app handles some.
    pub unheard: Arc<Semaphore>,
}

/// Bytes on their way to the app. Dropping them makes room for others.
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
    /// Waits until there is room for `bytes`, and reserves it.
    async fn take(&mut self, bytes: Bytes) -> Bytes {
        // This fails only if the executor is gone, and then this task is, too.
        let _ = self.held_up.wait_for(|hold| !hold).await;
        let size = u32::try_from(bytes.len().min(UNHEARD)).unwrap_or(u32::MAX);
        let room = self.unheard.clone().acquire_many_owned(size).await.ok();
        Bytes::from_owner(Delivered { bytes, _room: room })
    }
}

/// Reads a growing document until its status says that it is complete.
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
        // The status is read first: if it says that the document is complete, the bytes read afterwards are all there
        // are.
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
                    // Resending megabytes for a few new lines is expensive, so most of the time neither server nor
                    // network should be busy with it.
                    rest = rest.max((began.elapsed() * 4).min(SELDOM));
                }
                if over {
                    return Ok(());
                }
            }
            // A missing trace is treated as empty.
            Err(error) if error.is_passing() || error.is_missing() && !over => {
                asked = asked.max(asked_for(&error));
                // A transfer that was interrupted after some bytes is resumed soon.
                rest = if at.held > before { QUICK } else { (rest * 2).min(SLOW) };
            }
            Err(error) => return Err(error),
        }
        tokio::time::sleep(rest.max(asked)).await;
    }
}

/// Returns the pause that the server requests.
fn asked_for(error: &Error) -> Duration {
    if let Fault::Limited(Some(pause)) = error.fault { pause } else { Duration::ZERO }
}

/// The known length of a document and its last bytes.
struct Position<'a> {
    follow: &'a Follow,
    sender: &'a MsgSender,
    flow: Flow,
    held: u64,
    /// The last known bytes.
    tail: Vec<u8>,
    /// Whether the server sent the whole document the last time.
    resent: bool,
}

impl Position<'_> {
    /// Reads the new bytes, and returns whether there were any.
    async fn catch_up(&mut self, client: &Client) -> Result<bool, Error> {
        let known = self.held;
        // The last bytes are requested again: a document that was rewritten, and is longer by now, has others there.
        let from = known.saturating_sub(self.tail.len().min(OVERLAP) as u64);
        let mut download = client.stream(&self.follow.request, from).await?;
        if download.start > known || download.is_nothing() && from < known {
            // Either bytes in between are missing, or the known ones no longer exist. Reading everything shows which.
            download = client.stream(&self.follow.request, 0).await?;
        }
        self.resent = download.start < from;
        // The known bytes must be a prefix of the document, and are skipped.
        let check_from = known.saturating_sub(self.tail.len() as u64);
        let mut seen = download.start;
        let mut compared: Vec<u8> = Vec::new();
        while seen < known {
            let Some(chunk) = download.chunk().await? else {
                // The document is shorter than the known part, so it was rewritten.
                return self.restart(client).await;
            };
            let end = seen + chunk.len() as u64;
            let from = check_from.saturating_sub(seen).min(chunk.len() as u64) as usize;
            let to = (known.min(end) - seen) as usize;
            compared.extend(chunk.get(from..to.max(from)).unwrap_or_default());
            seen = end;
            if end >= known {
                // The server's reply may start in the middle of the tail.
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
        // Waits before counting, because bytes that are never sent must not be counted.
        let bytes = self.flow.take(bytes).await;
        self.held += bytes.len() as u64;
        self.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default());
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        // A full channel pauses reading, and thereby the server.
        self.sender.tell(Msg::Bytes { request: self.follow.request.clone(), bytes, restart }).await;
    }
}
