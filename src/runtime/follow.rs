//! Following a document that grows on the server, with backpressure when it grows faster than it can be processed.
//!
//! # From the server to the screen
//!
//! 1. The job pane wants `Follow(trace)` and `Load(job)`.
//! 2. If the job is not known yet, both are requested at once, and the trace is complete if the job had finished some
//!    time before its request. Otherwise, the executor first reads the status, so that it never misses the last bytes,
//!    unless the place has just read it. It then reads the trace from a few bytes before the first missing one. Of a
//!    long trace, the end comes first, and then what is around the cursor there. A server that supports ranges or
//!    `byte_offset` sends the tail (`src/api/client/tails.rs` finds out which), and other servers send everything,
//!    compressed. The executor compares known bytes and skips them. If they differ, or if the trace is shorter than
//!    before, the trace was rewritten, and the executor reads it from the start. It polls at short intervals while
//!    bytes arrive, and at longer ones otherwise. Pauses grow with the cost of whole replies and with the time for which
//!    an announced limit must last, and the bar shows the age of the text. The status is read again when no bytes came,
//!    or after some seconds.
//! 3. Chunks pass through a channel that is bounded in messages and bytes. If the runner writes timestamps, the
//!    document joins its entries to lines first (`src/ui/trace/entries.rs`). It extends its line index, and one frame
//!    is drawn. A full document (`Sink::is_full`) pauses its stream (`Effect::SetPaused`) until part of it is on disk.
//! 4. The view requests the visible rows, and only those are parsed.
//! 5. When a trace exceeds `trace.memory`, full blocks of lines with their line starts go to an unnamed temporary
//!    file, oldest first. The pane wants this as work. Work also reads visible blocks back. Searches read spilled
//!    blocks as they reach them, and remove the colors only from lines that may have a match
//!    (`src/ui/search/literals.rs`). When the trace has grown, they continue where they stopped.
//! 6. Leaving the pane drops the want, which ends the task. Watched jobs (`src/app/watch_list.rs`) are a want of the
//!    app itself.
//! 7. A failed job is compared with the last successful run (`src/parts/ci/trace/compare.rs`), whose trace is followed,
//!    too. Work hashes the lines of both (`src/ui/trace/compare.rs`) in the form of `src/domain/log_line.rs`, which
//!    leaves out what differs in every run, and keeps only ranges of new lines and the start of what is missing. Its
//!    memory does not depend on the sizes of the traces.

use super::executor::{self, MsgSender};
use crate::api::client::{Client, Download};
use crate::api::{Error, Fault};
use crate::app::action::Msg;
use crate::runtime::connections::ServerConnection;
use crate::store::{Follow, KnownPart};
use bytes::Bytes;
use jiff::Timestamp;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

/// The initial pause of a stream after new bytes.
const MIN_PAUSE: Duration = Duration::from_millis(400);
/// The maximum pause while no new bytes arrive, and the maximum age of the status.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// The maximum pause for a server that sends the whole document each time, if it is small, and if it is large or gone.
const MAX_SMALL_RESEND_PAUSE: Duration = Duration::from_secs(10);
const MAX_RESEND_PAUSE: Duration = Duration::from_secs(30);
/// The size of a large document, in bytes.
const LARGE: u64 = 4 << 20;
/// The number of new bytes in a reply after which more may have been there already.
const LARGE_PART: u64 = 64 << 10;
/// The number of bytes per second that whole documents may cost on average.
const RESEND_RATE: u64 = 128 << 10;
/// The number of bytes kept of the end of a document, to detect whether a server that sends everything sends the same
/// document.
const TAIL: usize = 4096;
/// The size from which the end of a document is read before the rest, in bytes.
const LARGE_WITH_END: u64 = 1 << 20;
/// The sizes of that end, in bytes: that of the last screens, and then of what is around the cursor. GitLab sends at most 500
/// KiB (`lib/api/ci/jobs.rb`).
const ENDS: [usize; 2] = [64 << 10, 500 << 10];
/// The time for which the start of a document waits for its end.
const MAX_END_WAIT: Duration = Duration::from_millis(500);
/// The number of these bytes requested again from a server that supports ranges: another document has other bytes
/// there.
const OVERLAP: usize = 512;
/// Maximum number of bytes of all streams that were sent to the app but not handled yet, since queued bytes take
/// memory, too.
pub(super) const MAX_QUEUED_BYTES: usize = 8 << 20;

/// The pause before the next request of a stream, which grows while nothing arrives.
struct Pause(Duration);

impl Default for Pause {
    fn default() -> Pause {
        Pause(MIN_PAUSE)
    }
}

impl Pause {
    /// Adapts the pause to a reply: whether it had new bytes, and the cost if the server sent the whole document.
    fn after_reply(&mut self, grown: bool, resent: Option<Resent>) {
        self.0 = if grown { MIN_PAUSE } else { (self.0 * 3 / 2).min(MAX_PAUSE) };
        self.0 = self.0.max(resent.map_or(Duration::ZERO, Resent::pause));
    }

    /// Adapts the pause to a document that the server no longer has.
    fn after_removal(&mut self) {
        self.0 = (self.0 * 2).min(MAX_RESEND_PAUSE);
    }

    /// Adapts the pause to a failure. A transfer that was interrupted after some bytes is resumed soon.
    fn after_failure(&mut self, grown: bool) {
        self.0 = if grown { MIN_PAUSE } else { (self.0 * 2).min(MAX_PAUSE) };
    }
}

/// A whole document that was sent for the new bytes at its end.
#[derive(Clone, Copy, Debug)]
struct Resent {
    bytes: u64,
    /// The time until it was received.
    took: Duration,
}

impl Resent {
    /// Returns the pause that it is worth: most of the time neither server nor network should be busy with it.
    fn pause(self) -> Duration {
        let most = if self.bytes < LARGE { MAX_SMALL_RESEND_PAUSE } else { MAX_RESEND_PAUSE };
        let by_size = Duration::from_millis(self.bytes.saturating_mul(1000) / RESEND_RATE);
        (self.took * 4).max(by_size).min(most)
    }
}

/// The conditions that a stream waits for before it sends more.
pub(super) struct Backpressure {
    /// Whether the stream is paused, until the document has written its bytes to disk.
    pub paused: watch::Receiver<bool>,
    /// The number of bytes that may be sent before the app handles some.
    pub queue_capacity: Arc<Semaphore>,
}

/// Bytes on their way to the app. Dropping them makes room for others.
struct TrackedBytes {
    bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for TrackedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Backpressure {
    /// Waits until there is room for `bytes`, and reserves it.
    async fn take(&mut self, bytes: Bytes) -> Bytes {
        // This fails only if the executor is gone, and then this task is, too.
        let _ = self.paused.wait_for(|paused| !paused).await;
        let size = u32::try_from(bytes.len().min(MAX_QUEUED_BYTES)).unwrap_or(u32::MAX);
        let room = self.queue_capacity.clone().acquire_many_owned(size).await.ok();
        Bytes::from_owner(TrackedBytes { bytes, _room: room })
    }
}

/// Reads a growing document until its status says that it is complete. If that was never read, reads it once, and returns the
/// time of the server at which it was requested.
pub(super) async fn stream(
    connection: &ServerConnection,
    follow: &Follow,
    known: KnownPart,
    backpressure: Backpressure,
    sender: &MsgSender,
) -> Result<Option<Timestamp>, Error> {
    let client = connection.client().await?;
    let KnownPart { received, tail, mut is_complete, is_new } = known;
    let mut at = TracePosition { follow, sender, backpressure, known: received, tail, resent: false };
    let mut pause = Pause::default();
    // The number of reads in a row that failed, and the error that was told.
    let (mut failures, mut told) = (0, None);
    // The time of the last status, and whether the last read had new bytes.
    let (mut status_at, mut has_grown) = (Instant::now(), false);
    // The time of the next read, and the longest pause before the status is read again.
    let (mut due, mut step) = (Instant::now(), MAX_PAUSE);
    if is_new {
        // The place reads the status meanwhile.
        let requested_at = Timestamp::now();
        match at.catch_up_to_end(&client, false).await {
            Ok(_) => {
                sender.send(Msg::StreamRead(follow.request.clone())).await;
                return Ok(requested_at.saturating_add(client.clock().ahead()).ok());
            }
            Err(error) if error.is_temporary() || error.is_missing() => {}
            Err(error) => return Err(error),
        }
    }
    loop {
        // The status is read first: if it says that the document is complete, the bytes read afterwards are all there
        // are.
        let (is_complete, mut requested) = loop {
            tokio::time::sleep_until(due.min(Instant::now() + step)).await;
            let status = match is_complete.take() {
                Some(is_complete) => (is_complete, Duration::ZERO),
                None if has_grown && status_at.elapsed() < MAX_PAUSE => (false, Duration::ZERO),
                None => {
                    status_at = Instant::now();
                    read_status(connection, follow, sender).await?
                }
            };
            if status.0 || Instant::now() >= due {
                break status;
            }
            step = step.max(status.1);
        };
        let (before, began) = (at.known, Instant::now());
        let outcome = at.catch_up_to_end(&client, is_complete).await;
        has_grown = at.known > before;
        failures = if outcome.is_ok() || has_grown { 0 } else { failures + 1 };
        // A trace that is missing from the beginning is treated as empty, and a single failure is told only if the next read
        // fails, too.
        let is_missing = outcome.as_ref().is_err_and(Error::is_missing) && at.known > 0;
        let failure = outcome.as_ref().err();
        let failure = failure.filter(|error| is_missing || !error.is_missing() && failures > 1);
        if let Some(error) = failure.filter(|error| told.as_ref() != Some(*error)) {
            sender.send(Msg::StreamFailed(follow.request.clone(), error.clone())).await;
        }
        told = failure.cloned();
        match outcome {
            Ok(_) if is_complete => return Ok(None),
            Ok(grown) => {
                let resent = at.resent.then(|| Resent { bytes: at.known, took: began.elapsed() });
                pause.after_reply(grown, resent);
                sender.send(Msg::StreamRead(follow.request.clone())).await;
            }
            Err(_) if is_missing && !is_complete => pause.after_removal(),
            Err(error) if error.is_temporary() || error.is_missing() && !is_complete => {
                requested = requested.max(requested_pause(&error));
                pause.after_failure(has_grown);
            }
            Err(error) => return Err(error),
        }
        let least = requested.max(client.poll_pause());
        (due, step) = (Instant::now() + pause.0.max(least), MAX_PAUSE.max(least));
    }
}

/// Reads the status. Returns whether the document is complete, and the pause that the server requests.
async fn read_status(
    connection: &ServerConnection,
    follow: &Follow,
    sender: &MsgSender,
) -> Result<(bool, Duration), Error> {
    let status = executor::reply(connection, &follow.status, &follow.status.request, None, None, None).await;
    let is_complete = status.as_ref().is_ok_and(|arrival| (follow.completed_at)(&arrival.value).is_some());
    let failed = status.as_ref().err().cloned();
    if let Some(clock) = connection.clock_change() {
        // Directly: the time is right even if this stream was stopped meanwhile.
        let _ = sender.sender.send(clock).await;
    }
    sender.send(Msg::StreamStatus(follow.status.request.clone(), status)).await;
    match failed {
        Some(error) if !error.is_temporary() => Err(error),
        failed => Ok((is_complete, failed.as_ref().map_or(Duration::ZERO, requested_pause))),
    }
}

/// Returns the pause that the server requests.
fn requested_pause(error: &Error) -> Duration {
    match error.fault {
        Fault::Limited(_, Some(pause)) => pause,
        _ => Duration::ZERO,
    }
}

/// Sends the end of a document before the rest is received; `size` is that of the document, if it is known. It only comes
/// earlier this way: an error is told when the rest is read.
async fn send_ends(client: &Client, to: (&Follow, &MsgSender), size: Option<u64>, accepts_ranges: bool) {
    let (Follow { request, .. }, sender) = to;
    for limit in ENDS {
        let Ok(Some((bytes, size))) = client.end_of(request, size, accepts_ranges, limit).await else { return };
        sender.send(Msg::StreamEnd { request: request.clone(), bytes: bytes.into(), size }).await;
    }
}

/// The known length of a document and its last bytes.
struct TracePosition<'a> {
    follow: &'a Follow,
    sender: &'a MsgSender,
    backpressure: Backpressure,
    known: u64,
    /// The last known bytes.
    tail: Vec<u8>,
    /// Whether the server sent the whole document the last time.
    resent: bool,
}

impl TracePosition<'_> {
    /// Reads the new bytes up to the end, and returns whether there were any. Servers that send parts of texts limit their
    /// size (500 KiB in GitLab 19.5), so after a large one, or if nothing else will follow, the next one is requested.
    async fn catch_up_to_end(&mut self, client: &Client, is_complete: bool) -> Result<bool, Error> {
        let mut has_grown = false;
        loop {
            let before = self.known;
            let grown = self.catch_up(client).await?;
            has_grown |= grown;
            let is_large = self.known.saturating_sub(before) >= LARGE_PART;
            if !(grown && client.sends_parts() && (is_complete || is_large)) {
                return Ok(has_grown);
            }
        }
    }

    /// Reads the new bytes, and returns whether there were any.
    async fn catch_up(&mut self, client: &Client) -> Result<bool, Error> {
        let known = self.known;
        // The last bytes are requested again: a document that was rewritten, and is longer by now, has others there.
        let overlap = self.tail.get(self.tail.len().saturating_sub(OVERLAP)..).unwrap_or_default();
        let from = known.saturating_sub(overlap.len() as u64);
        let mut download = client.stream(&self.follow.request, from, overlap).await?;
        if download.start > known || download.is_out_of_range() && from < known {
            // Either bytes in between are missing, or the known ones no longer exist. Reading everything shows which.
            download = client.stream(&self.follow.request, 0, &[]).await?;
        }
        self.resent = download.start < from;
        if known == 0 {
            return self.append_with_end(client, &mut download).await;
        }
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
        client.forget_tails();
        let mut download = client.stream(&self.follow.request, 0, &[]).await?;
        // Nothing replaces the known text: the server removed it.
        let Some(first) = download.chunk().await? else {
            let fault = Fault::Missing("the server has no text of it any more".into());
            return Err(Error { tried: self.follow.request.line(), fault });
        };
        (self.known, self.tail) = (0, Vec::new());
        self.push(first, true).await;
        self.append(&mut download).await?;
        Ok(true)
    }

    /// Appends a whole document, of which the end comes first if it is long.
    async fn append_with_end(&mut self, client: &Client, download: &mut Download) -> Result<bool, Error> {
        let size = download.end();
        // If the size is not known, the beginning shows that it is long.
        while size.is_none() && self.known < LARGE_WITH_END {
            let Some(chunk) = download.chunk().await? else { return Ok(self.known > 0) };
            self.push(chunk, false).await;
        }
        if size.is_some_and(|size| size < LARGE_WITH_END) {
            return self.append(download).await;
        }
        let known = self.known;
        let mut ends = pin!(send_ends(client, (self.follow, self.sender), size, download.accepts_ranges));
        // Otherwise, the app would get them after many megabytes from the start.
        let grown = match tokio::time::timeout(MAX_END_WAIT, &mut ends).await {
            Ok(()) => self.append(download).await,
            Err(_) => tokio::join!(self.append(download), ends).0,
        };
        Ok(grown? || known > 0)
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
        let bytes = self.backpressure.take(bytes).await;
        self.known += bytes.len() as u64;
        self.tail.extend_from_slice(bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default());
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        // A full channel pauses reading, and thereby the server.
        self.sender.send(Msg::Bytes { request: self.follow.request.clone(), bytes, restart }).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_grows_up_to_a_limit_until_bytes_arrive() {
        let mut pause = Pause::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            pause.after_reply(false, None);
            pauses.push(pause.0.as_millis());
        }
        assert_eq!(pauses, [600, 900, 1350, 2025, 3037, 4556, 5000, 5000]);
        pause.after_reply(true, None);
        assert_eq!(pause.0, MIN_PAUSE);
    }

    #[test]
    fn failures_without_progress_double_the_pause_up_to_a_limit() {
        let mut pause = Pause::default();
        let mut pauses = Vec::new();
        for _ in 0..5 {
            pause.after_failure(false);
            pauses.push(pause.0.as_millis());
        }
        assert_eq!(pauses, [800, 1600, 3200, 5000, 5000]);
        pause.after_failure(true);
        assert_eq!(pause.0, MIN_PAUSE);
    }

    #[test]
    fn a_removed_document_is_asked_for_less_and_less_often() {
        let mut pause = Pause::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            pause.after_removal();
            pauses.push(pause.0.as_millis());
        }
        assert_eq!(pauses, [800, 1600, 3200, 6400, 12800, 25600, 30000, 30000]);
    }

    #[test]
    fn a_server_that_sends_everything_again_is_asked_less_often() {
        let mut pause = Pause::default();
        let mut after = |bytes: u64, seconds: u64| {
            pause.after_reply(true, Some(Resent { bytes, took: Duration::from_secs(seconds) }));
            pause.0
        };
        assert_eq!(after(1000, 0), MIN_PAUSE, "a short text costs little");
        assert_eq!(after(512 << 10, 0), Duration::from_secs(4));
        assert_eq!(after(1000, 2), Duration::from_secs(8));
        assert_eq!([after(3 << 20, 1), after(1000, 60)], [MAX_SMALL_RESEND_PAUSE; 2]);
        assert_eq!([after(40 << 20, 1), after(4 << 20, 60)], [MAX_RESEND_PAUSE; 2]);
        // In half a minute, a text of a megabyte is read five times at most, and one of 40 MB once.
        pause.after_reply(true, None);
        assert_eq!(pause.0, MIN_PAUSE);
    }
}
