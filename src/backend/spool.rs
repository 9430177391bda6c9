//! Bodies of git clients, which are too large for memory: they are on disk until they are handled. Their number and their
//! size are limited for all callers together.

use super::body::{self, MAX_DISCARDED_BYTES};
use super::limits::Limits;
use super::rejection::Rejection;
use super::slots::{Permit, Slots};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use flate2::write::GzDecoder;
use futures::StreamExt;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use system::files;
use tokio::io::{AsyncSeekExt, AsyncWriteExt};

/// The bodies that are on disk.
pub struct Spools {
    slots: Arc<Slots>,
    /// The maximum number of bytes of all bodies together.
    max_bytes: u64,
    /// The bytes by caller.
    used: Mutex<HashMap<Option<u64>, u64>>,
}

/// The room that a body takes up, until this is dropped.
struct Room {
    permit: Permit,
    spools: Arc<Spools>,
    bytes: u64,
}

/// A body that has arrived.
pub struct Spooled {
    /// The body, at its start.
    pub file: File,
    _room: Room,
}

impl Spools {
    pub fn new(limits: &Limits) -> Spools {
        let slots = Arc::new(Slots::new(limits.bodies, limits.body_stall));
        Spools { slots, max_bytes: limits.spooled_bytes, used: Mutex::default() }
    }

    /// Writes a whole body to an unnamed file in `folder`, unpacked if it is compressed. `limits` are the size in bytes,
    /// also of what is unpacked, and the time. Waits if others send too many bodies.
    ///
    /// # Errors
    /// Fails with 413 for a body that is too large, 408 if it does not arrive in time, 400 if it breaks off or is packed in
    /// another way than it says, 415 if that way is unknown, 503 if all bodies together are too large, and 500 if the disk
    /// fails.
    pub async fn receive(
        self: &Arc<Self>,
        caller: Option<u64>,
        body: Body,
        headers: &HeaderMap,
        (max_bytes, within): (u64, Duration),
        folder: &Path,
    ) -> Result<Spooled, Rejection> {
        let unpacker = match headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes) {
            None | Some(b"identity") => None,
            Some(b"gzip" | b"x-gzip") => Some(GzDecoder::new(Vec::new())),
            Some(_) => return Err(Rejection::message(415, "415 Unsupported Media Type: only gzip is supported")),
        };
        let room = Room { permit: self.slots.wait(caller).await, spools: self.clone(), bytes: 0 };
        let file = tempfile::tempfile_in(folder).map_err(Rejection::internal_error)?;
        let spool = Spool { file: file.into(), room, written: 0, max_bytes, unpacker };
        tokio::time::timeout(within, spool.fill(body)).await.map_err(|_| body::too_late(within))?
    }
}

impl Room {
    /// Takes up more bytes. One caller can have half of them.
    fn grow(&mut self, bytes: u64) -> Result<(), Rejection> {
        let mut used = self.spools.used.lock().unwrap_or_else(PoisonError::into_inner);
        let all = used.values().sum::<u64>().saturating_add(bytes);
        let own = used.entry(self.permit.caller()).or_default();
        let own_after = own.saturating_add(bytes);
        if all > self.spools.max_bytes || own_after > self.spools.max_bytes / 2 {
            return Err(Rejection::busy());
        }
        *own = own_after;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut used = self.spools.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = used.get_mut(&self.permit.caller()) {
            *own = own.saturating_sub(self.bytes);
        }
        used.retain(|_, own| *own > 0);
    }
}

/// The number of compressed bytes that are unpacked at once: at most a thousand times as many are in memory then.
const UNPACKED_AT_ONCE: usize = 4 << 10;

/// The file that a body is written to.
struct Spool {
    file: tokio::fs::File,
    room: Room,
    written: u64,
    max_bytes: u64,
    /// The decoder of a compressed body, with the bytes that it has unpacked.
    unpacker: Option<GzDecoder<Vec<u8>>>,
}

impl Spool {
    async fn fill(mut self, body: Body) -> Result<Spooled, Rejection> {
        let mut chunks = body.into_data_stream();
        let mut arrived = 0_u64;
        loop {
            let next = self.room.permit.waiting(chunks.next()).await;
            let Some(chunk) = next.ok_or_else(body::stalled)? else { break };
            let chunk = chunk.map_err(|_| body::incomplete())?;
            arrived = arrived.saturating_add(chunk.len() as u64);
            let excess = arrived.max(self.written).saturating_sub(self.max_bytes);
            if excess > MAX_DISCARDED_BYTES as u64 {
                break;
            }
            if excess == 0 {
                self.add(&chunk).await?;
            }
        }
        let is_whole = arrived.max(self.written) <= self.max_bytes;
        if let Some(mut unpacker) = self.unpacker.take().filter(|_| is_whole) {
            unpacker.try_finish().map_err(not_packed)?;
            let rest = std::mem::take(unpacker.get_mut());
            self.write(&rest).await?;
        }
        if arrived.max(self.written) > self.max_bytes {
            return Err(Rejection::too_large(&format!(
                "the request exceeds the limit of {}",
                files::size(self.max_bytes)
            )));
        }
        self.file.flush().await.map_err(Rejection::internal_error)?;
        self.file.rewind().await.map_err(Rejection::internal_error)?;
        Ok(Spooled { file: self.file.into_std().await, _room: self.room })
    }

    async fn add(&mut self, bytes: &[u8]) -> Result<(), Rejection> {
        if self.unpacker.is_none() {
            return self.write(bytes).await;
        }
        for part in bytes.chunks(UNPACKED_AT_ONCE) {
            let Some(unpacker) = &mut self.unpacker else { break };
            unpacker.write_all(part).map_err(not_packed)?;
            let unpacked = std::mem::take(unpacker.get_mut());
            self.write(&unpacked).await?;
        }
        Ok(())
    }

    /// Writes bytes, unless there are too many.
    async fn write(&mut self, bytes: &[u8]) -> Result<(), Rejection> {
        self.written = self.written.saturating_add(bytes.len() as u64);
        if self.written > self.max_bytes {
            return Ok(());
        }
        self.room.grow(bytes.len() as u64)?;
        self.file.write_all(bytes).await.map_err(Rejection::internal_error)
    }
}

fn not_packed(_: io::Error) -> Rejection {
    Rejection::message(400, "400 Bad Request: the request body is not compressed as its header says")
}
