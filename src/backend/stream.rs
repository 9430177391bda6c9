//! Response bodies that are generated while they are sent, so that nothing large is kept in memory.

use super::rejection::Rejection;
use axum::body::{Body, Bytes};
use futures::{StreamExt, stream};
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc};

/// The size of a chunk in bytes.
const CHUNK: usize = 64 << 10;
/// The number of chunks that are buffered for a slow reader before the writer waits.
const MAX_BUFFERED_CHUNKS: usize = 4;

/// The bodies that are being streamed. Each occupies a thread until its reader has received everything.
pub struct Streams {
    max: usize,
    stall: Duration,
    slots: Mutex<Vec<Arc<Slot>>>,
}

/// The slot of one streamed body.
struct Slot {
    /// The user it is for; `None` for all anonymous callers together.
    caller: Option<u64>,
    /// The time since when the writer has been waiting for the reader.
    stalled: Mutex<Option<Instant>>,
    /// A signal that ends a waiting writer.
    cut: Notify,
}

impl Slot {
    fn stalled(&self) -> MutexGuard<'_, Option<Instant>> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Permission to stream a body; its slot is freed when this is dropped.
pub struct Permit {
    slot: Arc<Slot>,
    streams: Arc<Streams>,
}

impl Streams {
    /// Allows up to `max` bodies, and half of them for one caller. One that has stalled for `stall` can be displaced
    /// by another.
    pub fn new(max: usize, stall: Duration) -> Streams {
        Streams { max, stall, slots: Mutex::default() }
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a slot for a body of `caller`. If none is free, the body whose reader has stalled for the longest time
    /// is ended.
    ///
    /// # Errors
    /// Fails with 503 if no body has stalled long enough.
    pub fn admit(self: &Arc<Self>, caller: Option<u64>) -> Result<Permit, Rejection> {
        let mut slots = self.slots();
        let own = slots.iter().filter(|slot| slot.caller == caller).count();
        let has_enough = own * 2 >= self.max;
        if has_enough || slots.len() >= self.max {
            let gives_way = |slot: &Slot| !has_enough || slot.caller == caller;
            let rivals = slots.iter().enumerate().filter(|(_, slot)| gives_way(slot));
            let stalled = rivals.filter_map(|(at, slot)| Some(((*slot.stalled())?, at)));
            match stalled.min() {
                Some((since, at)) if since.elapsed() >= self.stall => slots.swap_remove(at).cut.notify_one(),
                _ => return Err(Rejection::busy()),
            }
        }
        let slot = Arc::new(Slot { caller, stalled: Mutex::default(), cut: Notify::new() });
        slots.push(slot.clone());
        Ok(Permit { slot, streams: self.clone() })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.streams.slots().retain(|slot| !Arc::ptr_eq(slot, &self.slot));
    }
}

/// A function that writes a body, starting at a byte offset.
pub type BodyWriter = Box<dyn FnOnce(u64, &mut dyn Write) -> io::Result<()> + Send>;

/// A body that has not been written yet.
pub struct Stream {
    pub content_type: String,
    /// The total length in bytes, if known in advance.
    pub length: Option<u64>,
    pub write: BodyWriter,
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("content_type", &self.content_type).finish_non_exhaustive()
    }
}

struct Sender {
    to: mpsc::Sender<Bytes>,
    runtime: Handle,
    permit: Permit,
    has_failed: bool,
}

impl Sender {
    /// Sends a chunk. Returns `false` if the reader has disconnected or another body has taken the slot.
    fn send(&self, chunk: Bytes) -> bool {
        let chunk = match self.to.try_send(chunk) {
            Ok(()) => return true,
            Err(TrySendError::Closed(_)) => return false,
            Err(TrySendError::Full(chunk)) => chunk,
        };
        let slot = &self.permit.slot;
        *slot.stalled() = Some(Instant::now());
        let is_sent = self.runtime.block_on(async {
            tokio::select! {
                sent = self.to.send(chunk) => sent.is_ok(),
                () = slot.cut.notified() => false,
            }
        });
        *slot.stalled() = None;
        is_sent
    }
}

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A `BufWriter` passes on writes larger than its buffer unchanged. Limit them, so that at most a few chunks are
        // in memory while the reader is slow.
        let bytes = bytes.get(..CHUNK).unwrap_or(bytes);
        // After a failure, archive writers write again to finish the archive: keep failing.
        self.has_failed = self.has_failed || !self.send(Bytes::copy_from_slice(bytes));
        if self.has_failed { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    /// Creates a body that `write` generates.
    pub fn new(
        content_type: impl Into<String>,
        length: Option<u64>,
        write: impl FnOnce(u64, &mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> Stream {
        Stream { content_type: content_type.into(), length, write: Box::new(write) }
    }

    /// Converts it to an HTTP body. It is written on a blocking thread, which keeps `permit` until it is done. A
    /// failure breaks the connection, so that an incomplete body is not taken for a complete one.
    pub fn body(self, permit: Permit) -> Body {
        let (sender, receiver) = mpsc::channel(MAX_BUFFERED_CHUNKS);
        let runtime = Handle::current();
        let writing = tokio::task::spawn_blocking(move || {
            let sender = Sender { to: sender, runtime, permit, has_failed: false };
            let mut out = BufWriter::with_capacity(CHUNK, sender);
            let written = (self.write)(0, &mut out).and_then(|()| out.flush());
            // After a failure, discard the rest of the buffer instead of writing it on drop.
            drop(out.into_parts());
            written
        });
        let chunks = stream::unfold((receiver, Some(writing)), async |(mut receiver, mut writing)| {
            if let Some(chunk) = receiver.recv().await {
                return Some((Ok(chunk), (receiver, writing)));
            }
            let failed = writing.take()?.await.unwrap_or_else(|panic| Err(io::Error::other(panic))).err()?;
            tracing::warn!("a streamed reply failed: {failed}");
            Some((Err(failed), (receiver, writing)))
        });
        // The compression layer polls again after the end.
        Body::from_stream(chunks.fuse())
    }
}
