//! The ends of growing texts. Servers that ignore `Range` are asked once if they know `byte_offset` (GitLab 19), which is
//! told by the content of the reply: it must begin with the bytes that are known there. Others send the whole text, which is
//! compressed then.

use super::exchange::{ByteRange, Call};
use super::transfer::Download;
use super::{Client, Request};
use crate::error::Error;
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
        if self.tails.way() == Way::Unknown
            && overlap.len() >= MIN_OVERLAP
            && let Some(whole) = self.check_offset(&call, from, overlap).await?
        {
            return Ok(whole);
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

    /// Reads the last `limit` bytes of a text while the whole one is being downloaded. `size` is that of the text, unless the
    /// server did not tell it, as of a compressed one; `accepts_ranges` is what it said. Returns the bytes and the size, or
    /// `None` if the server does not send them alone; no text is read twice to find that out.
    pub async fn end_of(
        &self,
        request: &Request,
        size: Option<u64>,
        accepts_ranges: bool,
        limit: usize,
    ) -> Result<Option<(Vec<u8>, u64)>, Error> {
        if self.tails.way() == Way::Whole {
            return Ok(None);
        }
        let length = Some(limit as u64);
        let size = match size {
            Some(size) => size,
            None => {
                let download = self.download_range(request, ByteRange::Tail(limit as u64)).await?;
                match (download.total_size, download.length) {
                    (Some(total), sent)
                        if sent == length && download.start.checked_add(limit as u64) == Some(total) =>
                    {
                        return Ok(Some((download.read_all().await?, total)));
                    }
                    // A server without ranges sends everything, which tells the size, and is not read.
                    (None, Some(size)) => size,
                    _ => return Ok(None),
                }
            }
        };
        let mut call = self.build_call(request)?;
        let Some(from) = size.checked_sub(limit as u64) else { return Ok(None) };
        let by_range = accepts_ranges && self.tails.way() == Way::Range;
        // The length tells whether it is the end, and compressed replies have none.
        call.range.disable_compression = true;
        match by_range {
            true => call.range.from = from,
            // Servers that ignore the inputs send everything, which is not read.
            false => call.target = with_part(&call.target, from, Some(limit)),
        }
        let download = self.open(call).await?;
        if download.length != length || by_range && download.start != from {
            // It ignores the range or the offset, or the text has another size by now.
            return Ok(None);
        }
        Ok(Some((download.at(from).read_all().await?, size)))
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

    /// Finds out if the server knows `byte_offset`: it is asked for as many bytes as are known. Returns the whole text if it
    /// sends that.
    async fn check_offset(&self, call: &Call, from: u64, overlap: &[u8]) -> Result<Option<Download>, Error> {
        let target = with_part(&call.target, from, Some(overlap.len()));
        let mut download = self.open(Call { target, ..call.clone() }).await?;
        let mut received: Vec<u8> = Vec::new();
        while received.len() <= overlap.len() {
            let Some(chunk) = download.chunk().await? else { break };
            received.extend_from_slice(&chunk);
        }
        // A shorter reply is of a text that was replaced, and tells nothing.
        if received == overlap {
            self.tails.set(Way::Offset);
        } else if received.len() > overlap.len() {
            self.tails.set(Way::Whole);
            // It may be from the offset on, without a limit.
            let is_whole = !received.starts_with(overlap);
            download.unread = Some(received.into());
            return Ok(is_whole.then_some(download));
        }
        Ok(None)
    }
}

fn with_part(target: &str, from: u64, limit: Option<usize>) -> String {
    let sign = if target.contains('?') { '&' } else { '?' };
    let limit = limit.map_or_else(String::new, |limit| format!("&byte_limit={limit}"));
    format!("{target}{sign}byte_offset={from}{limit}")
}
