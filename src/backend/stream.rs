//! Bodies that are written while they are sent, so that nothing large is held in memory.

use super::reject::Reject;
use axum::body::{Body, Bytes};
use futures::{StreamExt, stream};
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc};

/// Bytes that travel at once.
const CHUNK: usize = 64 << 10;
/// Chunks that may wait for a slow reader; then the writer waits.
const WAITING: usize = 4;

/// The bodies that are being written. Each holds a thread until its reader has it all.
pub struct Streams {
    most: usize,
    stall: Duration,
    places: Mutex<Vec<Arc<Place>>>,
}

/// One body among them.
struct Place {
    /// Whose it is; `None` for all who have not signed in.
    caller: Option<u64>,
    /// Since when its writer has waited for its reader.
    stalled: Mutex<Option<Instant>>,
    /// Ends the writer while it waits.
    cut: Notify,
}

impl Place {
    fn stalled(&self) -> MutexGuard<'_, Option<Instant>> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to write a body; its place is free again when this is dropped.
pub struct Permit {
    place: Arc<Place>,
    streams: Arc<Streams>,
}

impl Streams {
    /// Room for `most` bodies, half of them for one caller. One whose writer has waited for `stall` gives way to
    /// another.
    pub fn new(most: usize, stall: Duration) -> Streams {
        Streams { most, stall, places: Mutex::default() }
    }

    fn places(&self) -> MutexGuard<'_, Vec<Arc<Place>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a body of `caller`. Where there is none, the body whose reader has taken nothing for the longest
    /// ends.
    ///
    /// # Errors
    /// 503 where all are read.
    pub fn admit(self: &Arc<Self>, caller: Option<u64>) -> Result<Permit, Reject> {
        let mut places = self.places();
        let own = places.iter().filter(|place| place.caller == caller).count();
        let has_enough = own * 2 >= self.most;
        if has_enough || places.len() >= self.most {
            let gives_way = |place: &Place| !has_enough || place.caller == caller;
            let rivals = places.iter().enumerate().filter(|(_, place)| gives_way(place));
            let stalled = rivals.filter_map(|(at, place)| Some(((*place.stalled())?, at)));
            match stalled.min() {
                Some((since, at)) if since.elapsed() >= self.stall => places.swap_remove(at).cut.notify_one(),
                _ => return Err(Reject::busy()),
            }
        }
        let place = Arc::new(Place { caller, stalled: Mutex::default(), cut: Notify::new() });
        places.push(place.clone());
        Ok(Permit { place, streams: self.clone() })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.streams.places().retain(|place| !Arc::ptr_eq(place, &self.place));
    }
}

/// Writes a body from a byte on, piece by piece.
pub type Writer = Box<dyn FnOnce(u64, &mut dyn Write) -> io::Result<()> + Send>;

/// A body in the making.
pub struct Stream {
    pub content_type: String,
    /// Bytes in all, if that is known before.
    pub length: Option<u64>,
    pub write: Writer,
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
    /// Hands a chunk on; `false` where nobody reads any more, or another body has the place.
    fn send(&self, chunk: Bytes) -> bool {
        let chunk = match self.to.try_send(chunk) {
            Ok(()) => return true,
            Err(TrySendError::Closed(_)) => return false,
            Err(TrySendError::Full(chunk)) => chunk,
        };
        let place = &self.permit.place;
        *place.stalled() = Some(Instant::now());
        let is_sent = self.runtime.block_on(async {
            tokio::select! {
                sent = self.to.send(chunk) => sent.is_ok(),
                () = place.cut.notified() => false,
            }
        });
        *place.stalled() = None;
        is_sent
    }
}

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A buffer hands on at once what is larger than itself; a reader who does not read holds copies of a few
        // chunks.
        let bytes = bytes.get(..CHUNK).unwrap_or(bytes);
        // What packs archives tries again to bring them to an end.
        self.has_failed = self.has_failed || !self.send(Bytes::copy_from_slice(bytes));
        if self.has_failed { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    /// A body that `write` writes.
    pub fn new(
        content_type: impl Into<String>,
        length: Option<u64>,
        write: impl FnOnce(u64, &mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> Stream {
        Stream { content_type: content_type.into(), length, write: Box::new(write) }
    }

    /// The body; it is written on a thread that may wait, and `permit` is held as long. A failure breaks the
    /// connection, so that a part is never taken for the whole.
    pub fn body(self, permit: Permit) -> Body {
        let (sender, receiver) = mpsc::channel(WAITING);
        let runtime = Handle::current();
        let writing = tokio::task::spawn_blocking(move || {
            let sender = Sender { to: sender, runtime, permit, has_failed: false };
            let mut out = BufWriter::with_capacity(CHUNK, sender);
            let written = (self.write)(0, &mut out).and_then(|()| out.flush());
            // After a failure, what is left in the buffer is of no use to anybody.
            drop(out.into_parts());
            written
        });
        let chunks = stream::unfold((receiver, Some(writing)), async |(mut receiver, mut writing)| {
            if let Some(chunk) = receiver.recv().await {
                return Some((Ok(chunk), (receiver, writing)));
            }
            let failed = writing.take()?.await.unwrap_or_else(|panic| Err(io::Error::other(panic))).err()?;
            tracing::warn!("an answer broke off: {failed}");
            Some((Err(failed), (receiver, writing)))
        });
        // What compresses asks again after the end.
        Body::from_stream(chunks.fuse())
    }
}
