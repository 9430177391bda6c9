//! Bodies that are written while they are sent, so that nothing large is held in memory.

use axum::body::{Body, Bytes};
use futures::{StreamExt, stream};
use std::io::{self, BufWriter, Write};
use tokio::sync::mpsc;

/// Bytes that travel at once.
const CHUNK: usize = 64 << 10;
/// Chunks that may wait for a slow reader; then the writer waits.
const WAITING: usize = 4;

/// Writes a body, piece by piece.
pub type Writer = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send>;

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

struct Sender(mpsc::Sender<io::Result<Bytes>>);

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nobody listens any more: the writer ends here.
        self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes))).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    /// The body; it is written on a thread that may wait. A failure breaks the connection, so that a part is never
    /// taken for the whole.
    pub fn body(self) -> Body {
        let (sender, receiver) = mpsc::channel(WAITING);
        let failed = sender.clone();
        tokio::task::spawn_blocking(move || {
            let mut out = BufWriter::with_capacity(CHUNK, Sender(sender));
            if let Err(error) = (self.write)(&mut out).and_then(|()| out.flush()) {
                // What is left in the buffer is of no use to anybody.
                drop(out.into_parts());
                let _ = failed.blocking_send(Err(error));
            }
        });
        let chunks = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
        // What compresses asks again after the end.
        Body::from_stream(chunks.fuse())
    }
}
