//! Documents that grow as bytes arrive.

use std::any::Any;

/// A document that grows as bytes arrive.
pub trait Sink: Any + Send {
    /// Appends bytes; a chunk may end anywhere, even within a character.
    fn push(&mut self, bytes: &[u8]);
    /// Clears the document.
    fn reset(&mut self);
    /// Returns the number of bytes received.
    fn received(&self) -> u64;
    /// Returns how many of these bytes are in memory.
    fn in_memory(&self) -> u64 {
        self.received()
    }
    /// Returns the last few hundred bytes, after which the download continues.
    fn tail(&self) -> &[u8] {
        &[]
    }
    /// Returns whether the stream should pause until some bytes have been written to disk.
    fn is_full(&self) -> bool {
        false
    }
}
