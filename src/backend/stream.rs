//! Bodies that are written while they are sent, so that nothing large is held in memory.

use axum::body::{Body, Bytes};
use futures::{StreamExt, stream};
use std::io::{self, BufWriter, Write};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

/// Bytes that travel at once.
const CHUNK: usize = 64 << 10;
/// Chunks that may wait for a slow reader; then the writer waits.
const WAITING: usize = 4;

/// How long a reader may take nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes a body from a byte on, piece by piece.
pub type Writer = Box<dyn FnOnce(u64, &mut dyn Write) -> io::Result<()> + Send>;

/// A body in the making.
pub struct Stream {
    pub content_type: String,
    /// Bytes in all, where that is known before.
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
}

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nobody listens any more, or somebody holds a thread for nothing: the writer ends here.
        let sent = self.to.send_timeout(Bytes::copy_from_slice(bytes), PATIENCE);
        self.runtime.block_on(sent).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
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

    /// The body; it is written on a thread that may wait, and `permit` is held as long. A failure breaks the connection,
    /// so that a part is never taken for the whole.
    pub fn body(self, permit: OwnedSemaphorePermit) -> Body {
        let (sender, receiver) = mpsc::channel(WAITING);
        let runtime = Handle::current();
        let writing = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let mut out = BufWriter::with_capacity(CHUNK, Sender { to: sender, runtime });
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
