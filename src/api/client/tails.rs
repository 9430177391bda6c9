//! The ends of growing texts. Servers that ignore `Range` are asked once if they know `byte_offset` (GitLab 19), which is
//! told by the content of the reply: it must begin with the bytes that are known there. Others send the whole text, which is
//! compressed then.

use super::exchange::Call;
use super::transfer::Download;
use super::{Client, Request};
use crate::api::error::Error;
use std::sync::atomic::{AtomicU8, Ordering};

/// The minimum number of known bytes that tell if a server knows `byte_offset`.
const MIN_OVERLAP: usize = 64;

/// The way in which a server sends the end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Way {
    /// By `Range`, as far as is known.
    Range,
    /// Without `Range`; `byte_offset` was not tried.
    Unknown,
    Offset,
    /// Only with the whole text.
    Whole,
}

/// The way of the server, once that was found out.
#[derive(Debug, Default)]
pub(super) struct Tails(AtomicU8);

impl Tails {
    fn way(&self) -> Way {
        let ways = [Way::Range, Way::Unknown, Way::Offset, Way::Whole];
        ways.into_iter().find(|way| *way as u8 == self.0.load(Ordering::Relaxed)).unwrap_or(Way::Range)
    }

    fn set(&self, way: Way) {
        self.0.store(way as u8, Ordering::Relaxed);
    }
}

impl Client {
    /// Starts a download of a growing text from the offset `from` on, where the bytes `overlap` are known: a trace.
    ///
    /// If the server can, it sends only these bytes and the new ones, otherwise everything: see [`Download::start`].
    pub async fn stream(&self, request: &Request, from: u64, overlap: &[u8]) -> Result<Download, Error> {
        let mut call = self.build_call(request)?;
        if from == 0 {
            return self.open(call).await;
        }
        if self.tails.way() == Way::Unknown && overlap.len() >= MIN_OVERLAP {
            self.check_offset(&call, from, overlap).await?;
        }
        match self.tails.way() {
            Way::Unknown if overlap.len() >= MIN_OVERLAP => self.open(call).await,
            Way::Range | Way::Unknown => {
                call.range.from = from;
                let download = self.open(call).await?;
                if download.ignores_range {
                    self.tails.set(Way::Unknown);
                }
                Ok(download)
            }
            Way::Offset => {
                let part = Call { target: with_part(&call.target, from, None), ..call };
                Ok(self.open(part).await?.at(from))
            }
            // Without `Range`, the client accepts a compressed reply.
            Way::Whole => self.open(call).await,
        }
    }

    /// Reads the last `limit` bytes of a text of `size` bytes while the whole one is being downloaded; `accepts_ranges` is
    /// what the server said then. Returns `None` if it does not send them alone; no text is read twice to find that out.
    pub async fn end_of(
        &self,
        request: &Request,
        size: u64,
        accepts_ranges: bool,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, Error> {
        let mut call = self.build_call(request)?;
        let Some(from) = size.checked_sub(limit as u64) else { return Ok(None) };
        let by_range = accepts_ranges && self.tails.way() == Way::Range;
        // The length tells whether it is the end, and compressed replies have none.
        call.range.disable_compression = true;
        match self.tails.way() {
            Way::Whole => return Ok(None),
            _ if by_range => call.range.from = from,
            // Servers that ignore the inputs send everything, which is not read.
            Way::Range | Way::Unknown | Way::Offset => call.target = with_part(&call.target, from, Some(limit)),
        }
        let mut download = self.open(call).await?;
        if download.length != Some(limit as u64) || by_range && download.start != from {
            // It ignores the range or the offset, or the text has another size by now.
            return Ok(None);
        }
        download = download.at(from);
        let mut bytes: Vec<u8> = Vec::with_capacity(limit);
        while let Some(chunk) = download.chunk().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes))
    }

    /// Returns whether the server sends texts in parts, which may be shorter than was requested.
    pub fn sends_parts(&self) -> bool {
        self.tails.way() == Way::Offset
    }

    /// Forgets how the server sends the end of a text, after it sent other bytes than were requested.
    pub fn forget_tails(&self) {
        if self.tails.way() == Way::Offset {
            self.tails.set(Way::Unknown);
        }
    }

    /// Finds out if the server knows `byte_offset`: it is asked for as many bytes as are known.
    async fn check_offset(&self, call: &Call, from: u64, overlap: &[u8]) -> Result<(), Error> {
        let target = with_part(&call.target, from, Some(overlap.len()));
        let mut download = self.open(Call { target, ..call.clone() }).await?.at(from);
        let mut received: Vec<u8> = Vec::new();
        // The rest of a longer reply is not read.
        while received.len() <= overlap.len() {
            let Some(chunk) = download.chunk().await? else { break };
            received.extend_from_slice(&chunk);
        }
        if received == overlap {
            self.tails.set(Way::Offset);
        } else if received.len() > overlap.len() {
            self.tails.set(Way::Whole);
        }
        // A shorter reply is of a text that was replaced, and tells nothing.
        Ok(())
    }
}

fn with_part(target: &str, from: u64, limit: Option<usize>) -> String {
    let sign = if target.contains('?') { '&' } else { '?' };
    let limit = limit.map_or_else(String::new, |limit| format!("&byte_limit={limit}"));
    format!("{target}{sign}byte_offset={from}{limit}")
}
