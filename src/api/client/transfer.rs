//! Transfers with progress: downloads that resume where they were interrupted, and uploads.

use super::exchange::{
    ByteRange, Call, MAX_RETRIES, content_range, content_type, cut_error, off_thread, wait_before_retry,
};
use super::payload::Payload;
use super::{Client, Response};
use crate::endpoint::Request;
use crate::error::{Error, Fault};
use crate::expected::ExpectedReply;
use crate::page::PageInfo;
use bytes::Bytes;
use reqwest::header::{ACCEPT_RANGES, ETAG, HeaderMap, HeaderValue};
use std::fs::TryLockError;
use std::io::{self, ErrorKind, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use system::files;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufWriter};

/// The number of bytes before the end of a partial download that are fetched again, to verify that the content is the
/// same.
const OVERLAP: u64 = 64 * 1024;

/// The size of the write buffer, in bytes.
const BUFFER: usize = 256 * 1024;

/// The progress of a transfer, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of bytes received or sent, including those of earlier attempts. It decreases when a download restarts
    /// because the server has a different version now.
    pub done: u64,
    /// The total size, if the server sent it.
    pub total: Option<u64>,
}

/// A callback for progress. It is called often (for each chunk of some kilobytes), so it must not block.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// A reply whose body is read as it arrives.
#[derive(Debug)]
pub struct Download {
    /// The offset of the first byte of the body: the requested offset, or 0 if the server sends everything.
    pub start: u64,
    /// The length of the body, if the server sent it.
    pub length: Option<u64>,
    /// The total size of the resource, if [`Client::download_range`] requested a part and the server sent that part.
    pub total_size: Option<u64>,
    /// The `Content-Type` header, if the server sent one.
    pub content_type: Option<String>,
    /// Whether the server sent everything although a part was requested.
    pub(super) ignores_range: bool,
    /// Whether the server says that it sends parts on request (`Accept-Ranges`).
    pub accepts_ranges: bool,
    /// The content that the first bytes must begin, until they have arrived.
    expected: Option<ExpectedReply>,
    /// The bytes that were read to find out what the server sends.
    pub(super) unread: Option<Bytes>,
    /// The reply; `None` if there is nothing to read.
    reply: Option<reqwest::Response>,
    /// The request line, for errors.
    tried: String,
    read_timeout: Duration,
}

impl Download {
    /// Returns the next bytes, or `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(bytes) = self.unread.take() {
            return Ok(Some(bytes));
        }
        let Some(reply) = &mut self.reply else { return Ok(None) };
        let chunk = reply.chunk().await.map_err(|e| cut_error(&e, self.tried.clone(), self.read_timeout))?;
        if let (Some(chunk), Some(expected)) = (&chunk, self.expected.take()) {
            let checked = expected.check_beginning(chunk, self.content_type.as_deref());
            checked.map_err(|fault| Error { tried: self.tried.clone(), fault })?;
        }
        Ok(chunk)
    }

    /// Returns whether the server has no bytes at the requested offset (416 Range Not Satisfiable).
    pub fn is_out_of_range(&self) -> bool {
        self.reply.is_none()
    }

    /// Sets the offset of the first byte, of a reply that does not tell it.
    pub(super) fn at(self, start: u64) -> Download {
        Download { start, expected: None, ..self }
    }

    /// Reads the rest.
    pub(super) async fn read_all(mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// Returns the offset of the end of the body, if the server sent its length.
    pub fn end(&self) -> Option<u64> {
        self.length.and_then(|length| self.start.checked_add(length))
    }

    /// Returns the strong `ETag` of this version, which identifies its exact bytes.
    pub fn etag(&self) -> Option<HeaderValue> {
        self.reply.as_ref().and_then(|reply| strong_etag(reply.headers()))
    }
}

fn strong_etag(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(ETAG).filter(|tag| tag.as_bytes().first() == Some(&b'"')).cloned()
}

impl Client {
    /// Downloads into the file `part`, which is complete and synced to disk afterwards; returns its size in bytes.
    ///
    /// Dropping the future cancels the download and keeps what was written (all but the last few hundred kilobytes).
    /// Calling this again resumes it, if the server supports ranges and the end of the partial file matches; otherwise
    /// it restarts. Broken connections are resumed as long as that makes progress. The partial file is locked while the
    /// download runs.
    ///
    /// Content that is not what was requested is removed. `on_progress` is called from the first byte on. I/O errors are
    /// returned as [`Fault::Disk`].
    pub async fn download_into(&self, request: &Request, part: &Path, on_progress: &OnProgress) -> Result<u64, Error> {
        let to_error = |e: io::Error| Error { tried: request.line(), fault: Fault::Disk(disk_error_message(part, &e)) };
        let opened = Part::open(part).await.map_err(to_error)?;
        let (mut max_len, mut retries) = (opened.len, 0);
        let mut part_download = PartDownload { client: self, request, on_progress, to_error: &to_error, part: opened };
        let outcome = loop {
            match part_download.attempt().await {
                Ok(()) => break Ok(()),
                Err(error) if retries < MAX_RETRIES && matches!(error.fault, Fault::Cut(_) | Fault::Timeout(_)) => {
                    // A server that does not support ranges and always closes the connection early must not be retried
                    // forever.
                    (max_len, retries) = if part_download.part.len > max_len {
                        (part_download.part.len, 0)
                    } else {
                        (max_len, retries + 1)
                    };
                    wait_before_retry(self.server.timeouts.retry_delay * 2_u32.pow(retries)).await;
                }
                Err(error) => break Err(error),
            }
        };
        // However the download ended, the received bytes are kept for the next attempt.
        let bytes = part_download.part.len;
        let synced = part_download.part.sync().await;
        if outcome.is_err() && bytes == 0 {
            let _ = tokio::fs::remove_file(part).await;
        }
        outcome?;
        synced.map_err(to_error)?;
        let (expected, path) = (ExpectedReply::of(request), part.to_owned());
        let checked = off_thread(usize::MAX, move || expected.check_file(&path)).await;
        let checked = checked.unwrap_or_else(|gone| Err(Fault::Disk(gone.to_string())));
        if let Err(fault) = checked {
            // Nothing of it may be continued.
            let _ = tokio::fs::remove_file(part).await;
            return Err(Error { tried: request.line(), fault });
        }
        Ok(bytes)
    }

    /// Sends a write request with files, by input name, and reports the number of bytes sent.
    ///
    /// Without files, the request is sent like [`Client::send`] does, but with progress: for commits of many megabytes.
    /// Files are read while they are sent. Dropping the future cancels the upload; whether the server has processed it
    /// is then unknown.
    pub async fn upload(
        &self,
        request: &Request,
        files: &[(&str, &Path)],
        on_progress: OnProgress,
    ) -> Result<Response, Error> {
        let mut call = self.build_call(request)?;
        let payload = match call.payload.take() {
            Some(payload) if files.is_empty() => payload,
            _ => {
                let parts = Payload::multipart(&request.fields, files).await;
                parts.map_err(|e| call.error(Fault::Disk(e.to_string())))?
            }
        };
        call.payload = Some(payload.with_progress(on_progress));
        call.short_form = None;
        self.fetch(&call).await
    }

    /// Starts the download of a part of an unchanging resource.
    ///
    /// A server that supports ranges sends only that part, and the total size ([`Download::total_size`]). Others send
    /// everything, and [`Download::total_size`] is `None`.
    pub async fn download_range(&self, request: &Request, range: ByteRange) -> Result<Download, Error> {
        let mut call = self.build_call(request)?;
        call.range.byte_range = Some(range);
        call.range.disable_compression = true;
        let mut reply = self.exchange(&call).await?;
        if reply.status() == 416 {
            // The range cannot be satisfied, for example because the resource is empty: request everything.
            call.range.byte_range = None;
            reply = self.exchange(&call).await?;
        }
        let reply = self.check_status(reply, &call).await?;
        let (start, total_size) = match (reply.status().as_u16(), content_range(reply.headers())) {
            (206, Some((Some(first), Some(total)))) => (first, Some(total)),
            (206, _) => {
                let message = "the server sent a partial reply without its range".to_owned();
                return Err(call.error(Fault::Cut(message)));
            }
            _ => (0, None),
        };
        Ok(Download { total_size, ..self.new_download(Some(reply), start, &call) })
    }

    /// Writes the body of a reply to a file.
    pub(super) async fn write_to_file(
        &self,
        mut reply: reqwest::Response,
        call: &Call,
        path: &Path,
    ) -> Result<Response, Error> {
        let to_error = |e: io::Error| call.error(Fault::Disk(format!("{} cannot be written: {e}", path.display())));
        // Pipes and devices are written to directly, because they must not be replaced.
        let part = if files::is_special(path) { None } else { Some(files::temporary_for(path).map_err(to_error)?) };
        let mut file = match &part {
            Some(part) => File::from_std(part.as_file().try_clone().map_err(to_error)?),
            None => File::options().write(true).open(path).await.map_err(to_error)?,
        };
        let (status, page) = (reply.status().as_u16(), PageInfo::from_headers(reply.headers()));
        let content_type = content_type(reply.headers());
        while let Some(chunk) =
            reply.chunk().await.map_err(|e| cut_error(&e, call.line(), self.server.timeouts.read))?
        {
            file.write_all(&chunk).await.map_err(to_error)?;
        }
        file.flush().await.map_err(to_error)?;
        if let Some(part) = part {
            part.persist(path).map_err(|e| to_error(e.error))?;
        }
        Ok(Response { status, body: Bytes::new(), content_type, page, etag: None })
    }

    pub(super) async fn open(&self, mut call: Call) -> Result<Download, Error> {
        let from = call.range.from;
        let mut reply = self.exchange(&call).await?;
        if reply.status() == 416 {
            let total = content_range(reply.headers()).and_then(|(_, total)| total);
            if total.is_none_or(|total| total == from) {
                return Ok(self.new_download(None, from, &call));
            }
            // The resource is shorter than before: restart.
            call.range.from = 0;
            reply = self.exchange(&call).await?;
        }
        let reply = self.check_status(reply, &call).await?;
        let start = match (reply.status().as_u16(), content_range(reply.headers())) {
            (206, Some((first, _))) => first.unwrap_or(from),
            (206, None) => from,
            _ => 0,
        };
        let ignores_range = call.range.from > 0 && reply.status() == 200;
        Ok(Download { ignores_range, ..self.new_download(Some(reply), start, &call) })
    }

    fn new_download(&self, reply: Option<reqwest::Response>, start: u64, call: &Call) -> Download {
        Download {
            start,
            length: reply.as_ref().map_or(Some(0), reqwest::Response::content_length),
            total_size: None,
            ignores_range: false,
            unread: None,
            accepts_ranges: reply.as_ref().is_some_and(|reply| {
                reply.headers().get(ACCEPT_RANGES).is_some_and(|unit| unit.as_bytes().eq_ignore_ascii_case(b"bytes"))
            }),
            expected: (start == 0).then(|| call.expected.clone()),
            content_type: reply.as_ref().and_then(|reply| content_type(reply.headers())),
            reply,
            tried: call.line(),
            read_timeout: self.server.timeouts.read,
        }
    }
}

/// Returns the reason why a partial file cannot be written, and whether it was kept.
fn disk_error_message(part: &Path, error: &io::Error) -> String {
    let path = part.display();
    match error.kind() {
        ErrorKind::StorageFull => format!("the disk is full; the partial download is kept in {path}"),
        ErrorKind::QuotaExceeded => format!("your disk quota is used up; the partial download is kept in {path}"),
        ErrorKind::PermissionDenied => format!("no permission to write {path}"),
        ErrorKind::ReadOnlyFilesystem => format!("{path} is on a read-only disk"),
        ErrorKind::WouldBlock => format!("{path} is already being written"),
        _ => format!("{path} cannot be written: {error}"),
    }
}

/// A partial download on disk.
struct Part {
    file: BufWriter<File>,
    len: u64,
    /// The strong `ETag` of the content, if the server sent one during this call.
    etag: Option<HeaderValue>,
}

impl Part {
    async fn open(path: &Path) -> io::Result<Part> {
        let file = files::open_or_replace(path)?;
        // Concurrent writers would corrupt the file. File systems without locks are not an error.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let len = file.metadata()?.len();
        Ok(Part { file: BufWriter::with_capacity(BUFFER, File::from_std(file)), len, etag: None })
    }

    /// Returns the bytes from offset `from` to the end; the next write appends.
    async fn tail(&mut self, from: u64) -> io::Result<Vec<u8>> {
        let mut tail = Vec::new();
        self.file.seek(SeekFrom::Start(from)).await?;
        self.file.read_to_end(&mut tail).await?;
        Ok(tail)
    }

    async fn clear(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0)).await?;
        self.file.get_ref().set_len(0).await?;
        self.len = 0;
        Ok(())
    }

    async fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    async fn sync(&mut self) -> io::Result<()> {
        self.file.flush().await?;
        self.file.get_ref().sync_all().await
    }
}

/// A download into a partial file.
struct PartDownload<'a, D> {
    client: &'a Client,
    request: &'a Request,
    on_progress: &'a OnProgress,
    /// Converts an I/O error.
    to_error: &'a D,
    part: Part,
}

impl<D: Fn(io::Error) -> Error> PartDownload<'_, D> {
    /// Attempts to download the missing bytes.
    async fn attempt(&mut self) -> Result<(), Error> {
        // Buffered bytes must be in the file before it is read.
        self.part.file.flush().await.map_err(self.to_error)?;
        let from = self.part.len.saturating_sub(OVERLAP);
        if from > 0 {
            let mut download = self.open(from).await?;
            (self.on_progress)(Progress { done: self.part.len, total: download.end() });
            if download.start == from && self.verify_overlap(&mut download, from).await? {
                return self.append(download).await;
            }
            if download.start == 0 {
                self.part.clear().await.map_err(self.to_error)?;
                return self.append(download).await;
            }
        }
        // The partial file belongs to different content, or is too short to tell.
        self.part.clear().await.map_err(self.to_error)?;
        self.part.etag = None;
        let download = self.open(0).await?;
        self.append(download).await
    }

    async fn open(&self, from: u64) -> Result<Download, Error> {
        let mut call = self.client.build_call(self.request)?;
        call.range.from = from;
        call.range.etag = self.part.etag.clone();
        call.range.disable_compression = true;
        self.client.open(call).await
    }

    /// Reads the bytes that the download repeats, and returns whether they equal the end of the partial file. Appends
    /// the bytes that follow them in the last chunk read.
    async fn verify_overlap(&mut self, download: &mut Download, from: u64) -> Result<bool, Error> {
        let tail = self.part.tail(from).await.map_err(self.to_error)?;
        let mut known = tail.as_slice();
        while !known.is_empty() {
            let Some(chunk) = download.chunk().await? else { return Ok(false) };
            let (repeated, new) = chunk.split_at(chunk.len().min(known.len()));
            let Some(rest) = known.strip_prefix(repeated) else { return Ok(false) };
            known = rest;
            self.part.push(new).await.map_err(self.to_error)?;
        }
        Ok(true)
    }

    async fn append(&mut self, mut download: Download) -> Result<(), Error> {
        let total = download.end();
        self.part.etag = download.etag();
        (self.on_progress)(Progress { done: self.part.len, total });
        while let Some(chunk) = download.chunk().await? {
            self.part.push(&chunk).await.map_err(self.to_error)?;
            (self.on_progress)(Progress { done: self.part.len, total });
        }
        Ok(())
    }
}
