//! Response bodies that are generated while they are sent, so that nothing large is kept in memory.

use super::slots::Permit;
use axum::body::{Body, Bytes};
use futures::{StreamExt, stream};
use std::io::{self, BufWriter, Write};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinHandle;

/// The size of a chunk in bytes.
pub const CHUNK: usize = 64 << 10;
/// The number of chunks that are buffered for a slow reader before the writer waits.
pub const MAX_BUFFERED_CHUNKS: usize = 4;

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
        self.runtime.block_on(self.permit.waiting(self.to.send(chunk))).is_some_and(|sent| sent.is_ok())
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
        body_of(receiver, writing)
    }
}

/// Returns the HTTP body of the chunks that `writing` sends. Its failure breaks the connection.
pub fn body_of(receiver: mpsc::Receiver<Bytes>, writing: JoinHandle<io::Result<()>>) -> Body {
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
