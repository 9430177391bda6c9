//! Things that take a while: downloads that go on where they were cut, and uploads; both tell how far they are.

use super::exchange::{Call, MAX_RETRIES, Slice, content_range, content_type, cut, pause_for};
use super::payload::Payload;
use super::{Client, Response};
use crate::api::endpoint::Request;
use crate::api::error::{Error, Fault};
use crate::api::page::PageInfo;
use crate::system::files;
use bytes::Bytes;
use reqwest::header::{ETAG, HeaderMap, HeaderValue};
use std::fs::TryLockError;
use std::io::{self, ErrorKind, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufWriter};

/// How much of what is held is fetched again, to see that it is the same thing that goes on.
const OVERLAP: u64 = 64 * 1024;

/// Bytes that are gathered before they are written.
const BUFFER: usize = 256 * 1024;

/// How far a transfer is, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is here, or what went out; what an earlier try brought is counted in. It falls when a download begins
    /// again, because the server has another version now.
    pub done: u64,
    /// All there is, if the server said.
    pub total: Option<u64>,
}

/// Hears of progress, often (each chunk of some kilobytes): it must not wait.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// A reply whose body is read as it comes.
#[derive(Debug)]
pub struct Download {
    /// The offset of the first byte that comes: where the caller asked to start, or 0 where the server sends all.
    pub start: u64,
    /// Bytes to come, if the server said.
    pub length: Option<u64>,
    /// Bytes of the whole thing, if a server that sends a part of it said so.
    pub whole: Option<u64>,
    /// `Content-Type`, if the server named one.
    pub content_type: Option<String>,
    /// Absent where there is nothing to come.
    reply: Option<reqwest::Response>,
    tried: String,
    read_timeout: Duration,
}

impl Download {
    /// The next bytes; `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let Some(reply) = &mut self.reply else { return Ok(None) };
        reply.chunk().await.map_err(|e| cut(&e, self.tried.clone(), self.read_timeout))
    }

    /// Returns whether there is nothing to come: the server has no such part.
    pub fn is_nothing(&self) -> bool {
        self.reply.is_none()
    }

    /// Bytes in all, if the server said.
    pub fn total(&self) -> Option<u64> {
        self.length.and_then(|length| self.start.checked_add(length))
    }

    /// The name of this version, if it stands for the very bytes.
    fn version(&self) -> Option<HeaderValue> {
        self.reply.as_ref().and_then(|reply| strong(reply.headers()))
    }
}

fn strong(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(ETAG).filter(|tag| tag.as_bytes().first() == Some(&b'"')).cloned()
}

impl Client {
    /// Downloads into the file `part`, which is whole and on the disk afterwards; how many bytes it has.
    ///
    /// Dropping the future cancels it, and what was written stays (all but the last few hundred kilobytes): the same
    /// call goes on there later, if the server gives ranges and what comes again of the end of the part is the same;
    /// else it begins again. A connection that breaks is taken up again, as long as that brings something. While it
    /// runs nobody else fills that part.
    ///
    /// `on_progress` hears how far it is, from the first byte on. An error of the disk is [`Fault::Disk`].
    pub async fn fill(&self, request: &Request, part: &Path, on_progress: &OnProgress) -> Result<u64, Error> {
        let disk = |e: io::Error| Error { tried: request.line(), fault: Fault::Disk(trouble(part, &e)) };
        let opened = Part::open(part).await.map_err(disk)?;
        let (mut best, mut tries) = (opened.held, 0);
        let mut filling = Filling { client: self, request, on_progress, disk: &disk, part: opened };
        let outcome = loop {
            match filling.go_on().await {
                Ok(()) => break Ok(()),
                Err(error) if tries < MAX_RETRIES && matches!(error.fault, Fault::Cut(_) | Fault::Timeout(_)) => {
                    // A server that never gives ranges, and always ends in the middle, must not be asked forever.
                    (best, tries) = if filling.part.held > best { (filling.part.held, 0) } else { (best, tries + 1) };
                    pause_for(self.server.timeouts.retry * 2_u32.pow(tries)).await;
                }
                Err(error) => break Err(error),
            }
        };
        // Whatever ended it: what came is kept for the next time.
        let bytes = filling.part.held;
        let kept = filling.part.keep().await;
        if outcome.is_err() && bytes == 0 {
            let _ = tokio::fs::remove_file(part).await;
        }
        outcome?;
        kept.map_err(disk)?;
        Ok(bytes)
    }

    /// Sends a write with files, by the names of their inputs, and tells how much of it went out.
    ///
    /// Without files the request goes out as [`Client::send`] would send it: for a commit of many megabytes. Files are
    /// read as they are sent. Dropping the future cancels it; whether the server did anything then is not known.
    pub async fn upload(
        &self,
        request: &Request,
        files: &[(&str, &Path)],
        on_progress: OnProgress,
    ) -> Result<Response, Error> {
        let mut call = self.call_of(request)?;
        let payload = match call.payload.take() {
            Some(payload) if files.is_empty() => payload,
            _ => {
                let parts = Payload::parts(&request.fields, files).await;
                parts.map_err(|e| call.failed(Fault::Disk(e.to_string())))?
            }
        };
        call.payload = Some(payload.with_progress(on_progress));
        self.fetch(&call).await
    }

    /// Starts a download whose first `from` bytes are known already: a trace that grows.
    ///
    /// A server that honors ranges sends what is new, another sends all: [`Download::start`] tells which.
    pub async fn stream(&self, request: &Request, from: u64) -> Result<Download, Error> {
        let mut call = self.call_of(request)?;
        call.part.from = from;
        self.open(call).await
    }

    /// Starts the download of a part of something that does not change.
    ///
    /// A server that honors ranges sends that part and says how much there is in all ([`Download::whole`]); another
    /// sends everything: [`Download::whole`] is absent then.
    pub async fn slice(&self, request: &Request, slice: Slice) -> Result<Download, Error> {
        let mut call = self.call_of(request)?;
        call.part.slice = Some(slice);
        call.part.plain = true;
        let mut reply = self.exchange(&call).await?;
        if reply.status() == 416 {
            // There is no such part, of nothing at all for one: then all of it tells.
            call.part.slice = None;
            reply = self.exchange(&call).await?;
        }
        let reply = self.accepted(reply, &call).await?;
        let (start, whole) = match (reply.status().as_u16(), content_range(reply.headers())) {
            (206, Some((Some(first), Some(total)))) => (first, Some(total)),
            (206, _) => {
                let said = "the server sent a partial reply without its range".to_owned();
                return Err(call.failed(Fault::Cut(said)));
            }
            _ => (0, None),
        };
        Ok(Download { whole, ..self.download(Some(reply), start, &call) })
    }

    /// Puts the body of a reply into a file.
    pub(super) async fn keep(&self, mut reply: reqwest::Response, call: &Call, path: &Path) -> Result<Response, Error> {
        let disk = |e: io::Error| call.failed(Fault::Disk(format!("{} cannot be written: {e}", path.display())));
        // A pipe or a device is written to; nothing could take its place.
        let part = if files::is_special(path) { None } else { Some(files::temporary_for(path).map_err(disk)?) };
        let mut file = match &part {
            Some(part) => File::from_std(part.as_file().try_clone().map_err(disk)?),
            None => File::options().write(true).open(path).await.map_err(disk)?,
        };
        let (status, page) = (reply.status().as_u16(), PageInfo::from_headers(reply.headers()));
        let content_type = content_type(reply.headers());
        let written = async {
            while let Some(chunk) = reply.chunk().await.map_err(|e| cut(&e, call.line(), self.server.timeouts.read))? {
                file.write_all(&chunk).await.map_err(disk)?;
            }
            file.flush().await.map_err(disk)
        };
        written.await?;
        if let Some(part) = part {
            part.persist(path).map_err(|e| disk(e.error))?;
        }
        Ok(Response { status, body: Bytes::new(), content_type, page })
    }

    async fn open(&self, mut call: Call) -> Result<Download, Error> {
        let from = call.part.from;
        let mut reply = self.exchange(&call).await?;
        if reply.status() == 416 {
            let total = content_range(reply.headers()).and_then(|(_, total)| total);
            if total.is_none_or(|total| total == from) {
                return Ok(self.download(None, from, &call));
            }
            // It is shorter than it was: begin again.
            call.part.from = 0;
            reply = self.exchange(&call).await?;
        }
        let reply = self.accepted(reply, &call).await?;
        let start = match (reply.status().as_u16(), content_range(reply.headers())) {
            (206, Some((first, _))) => first.unwrap_or(from),
            (206, None) => from,
            _ => 0,
        };
        Ok(self.download(Some(reply), start, &call))
    }

    fn download(&self, reply: Option<reqwest::Response>, start: u64, call: &Call) -> Download {
        Download {
            start,
            length: reply.as_ref().map_or(Some(0), reqwest::Response::content_length),
            whole: None,
            content_type: reply.as_ref().and_then(|reply| content_type(reply.headers())),
            reply,
            tried: call.line(),
            read_timeout: self.server.timeouts.read,
        }
    }
}

/// Returns why a part cannot be written, and what became of it.
fn trouble(part: &Path, error: &io::Error) -> String {
    let shown = part.display();
    match error.kind() {
        ErrorKind::StorageFull => format!("the disk is full; the partial download is kept in {shown}"),
        ErrorKind::QuotaExceeded => format!("your disk quota is used up; the partial download is kept in {shown}"),
        ErrorKind::PermissionDenied => format!("no permission to write {shown}"),
        ErrorKind::ReadOnlyFilesystem => format!("{shown} is on a read-only disk"),
        ErrorKind::WouldBlock => format!("{shown} is already being written"),
        _ => format!("{shown} cannot be written: {error}"),
    }
}

/// The part of a download that is here.
struct Part {
    file: BufWriter<File>,
    held: u64,
    /// Which version it is of, as far as a server said in this call.
    version: Option<HeaderValue>,
}

impl Part {
    async fn open(path: &Path) -> io::Result<Part> {
        let file = files::open_or_replace(path)?;
        // Two that write into one would leave holes. A disk that knows no locks holds nobody up.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let held = file.metadata()?.len();
        Ok(Part { file: BufWriter::with_capacity(BUFFER, File::from_std(file)), held, version: None })
    }

    /// The last bytes that are held, from `from` on; the next write goes behind them.
    async fn tail(&mut self, from: u64) -> io::Result<Vec<u8>> {
        let mut tail = Vec::new();
        self.file.seek(SeekFrom::Start(from)).await?;
        self.file.read_to_end(&mut tail).await?;
        Ok(tail)
    }

    async fn clear(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0)).await?;
        self.file.get_ref().set_len(0).await?;
        self.held = 0;
        Ok(())
    }

    async fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await?;
        self.held += bytes.len() as u64;
        Ok(())
    }

    async fn keep(&mut self) -> io::Result<()> {
        self.file.flush().await?;
        self.file.get_ref().sync_all().await
    }
}

/// A download into a part.
struct Filling<'a, D> {
    client: &'a Client,
    request: &'a Request,
    on_progress: &'a OnProgress,
    disk: &'a D,
    part: Part,
}

impl<D: Fn(io::Error) -> Error> Filling<'_, D> {
    /// Fetches what is missing.
    async fn go_on(&mut self) -> Result<(), Error> {
        // What was written so far must be in the file before it is looked at.
        self.part.file.flush().await.map_err(self.disk)?;
        let from = self.part.held.saturating_sub(OVERLAP);
        if from > 0 {
            let mut download = self.open(from).await?;
            (self.on_progress)(Progress { done: self.part.held, total: download.total() });
            if download.start == from && self.matches(&mut download, from).await? {
                return self.append(download).await;
            }
            if download.start == 0 {
                self.part.clear().await.map_err(self.disk)?;
                return self.append(download).await;
            }
        }
        // What is held belongs to something else, or is too little to tell.
        self.part.clear().await.map_err(self.disk)?;
        self.part.version = None;
        let download = self.open(0).await?;
        self.append(download).await
    }

    async fn open(&self, from: u64) -> Result<Download, Error> {
        let mut call = self.client.call_of(self.request)?;
        call.part.from = from;
        call.part.same = self.part.version.clone();
        call.part.plain = true;
        self.client.open(call).await
    }

    /// Returns whether what comes is what the part ends with; the first bytes behind it are appended.
    async fn matches(&mut self, download: &mut Download, from: u64) -> Result<bool, Error> {
        let tail = self.part.tail(from).await.map_err(self.disk)?;
        let mut known = tail.as_slice();
        while !known.is_empty() {
            let Some(chunk) = download.chunk().await? else { return Ok(false) };
            let (again, new) = chunk.split_at(chunk.len().min(known.len()));
            let Some(rest) = known.strip_prefix(again) else { return Ok(false) };
            known = rest;
            self.part.push(new).await.map_err(self.disk)?;
        }
        Ok(true)
    }

    async fn append(&mut self, mut download: Download) -> Result<(), Error> {
        let total = download.total();
        self.part.version = download.version();
        (self.on_progress)(Progress { done: self.part.held, total });
        while let Some(chunk) = download.chunk().await? {
            self.part.push(&chunk).await.map_err(self.disk)?;
            (self.on_progress)(Progress { done: self.part.held, total });
        }
        Ok(())
    }
}
