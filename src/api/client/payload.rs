//! Bodies of write requests: a form, JSON, or a multipart form with files, which are read while they are sent.

use super::transfer::{OnProgress, Progress};
use bytes::Bytes;
use futures::stream::try_unfold;
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::error::Error as StdError;
use std::fmt;
use std::hash::BuildHasher;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tokio::io::AsyncReadExt;
use url::form_urlencoded;

/// The number of bytes passed to the connection at a time.
const CHUNK: usize = 64 * 1024;

/// The body of a write request, in pieces. It can be sent repeatedly: files are opened anew each time.
#[derive(Clone)]
pub(super) struct Payload {
    content_type: String,
    pieces: Vec<Piece>,
    on_progress: Option<OnProgress>,
}

#[derive(Clone)]
enum Piece {
    Bytes(Bytes),
    File { path: PathBuf, length: u64 },
}

impl fmt::Debug for Payload {
    /// Formats type and size only, because a form may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes", self.content_type, self.length())
    }
}

impl Payload {
    /// Creates a URL-encoded form.
    pub fn form(fields: &[(String, String)]) -> Payload {
        let text = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        Payload::of("application/x-www-form-urlencoded".into(), vec![Piece::Bytes(text.into())])
    }

    pub fn json(text: &str) -> Payload {
        Payload::of("application/json".into(), vec![Piece::Bytes(Bytes::copy_from_slice(text.as_bytes()))])
    }

    /// Creates a multipart form of fields and files. Fails if the size of a file cannot be read.
    pub async fn multipart(fields: &[(String, String)], files: &[(&str, &Path)]) -> io::Result<Payload> {
        // The boundary is random, so that no file can contain it on purpose.
        let [first, second] = [(); 2].map(|()| RandomState::new().hash_one(fields.len()));
        let boundary = format!("labscope-{first:016x}{second:016x}");
        let mut pieces = Vec::new();
        let mut text = String::new();
        for (name, value) in fields {
            let name = quoted(name);
            text += &format!("--{boundary}\r\ncontent-disposition: form-data; name={name}\r\n\r\n{value}\r\n");
        }
        for (name, path) in files {
            let (_, length) = open_file(path).await.map_err(|e| with_path(path, &e))?;
            if length > MAX_FILE_BYTES {
                let (size, most) = (length >> 20, MAX_FILE_BYTES >> 20);
                let why = format!("it is {size} MB, and at most {most} MB are uploaded");
                return Err(with_path(path, &io::Error::new(ErrorKind::FileTooLarge, why)));
            }
            let file = quoted(&path.file_name().unwrap_or_default().to_string_lossy());
            text += &format!("--{boundary}\r\ncontent-disposition: form-data; name={}; ", quoted(name));
            text += &format!("filename={file}\r\ncontent-type: application/octet-stream\r\n\r\n");
            pieces.push(Piece::Bytes(std::mem::take(&mut text).into()));
            pieces.push(Piece::File { path: path.to_path_buf(), length });
            text.push_str("\r\n");
        }
        text += &format!("--{boundary}--\r\n");
        pieces.push(Piece::Bytes(text.into()));
        Ok(Payload::of(format!("multipart/form-data; boundary={boundary}"), pieces))
    }

    fn of(content_type: String, pieces: Vec<Piece>) -> Payload {
        Payload { content_type, pieces, on_progress: None }
    }

    /// Sets a callback that is notified of the number of bytes sent.
    pub fn with_progress(mut self, on_progress: OnProgress) -> Payload {
        self.on_progress = Some(on_progress);
        self
    }

    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        let length = |piece: &Piece| match piece {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::File { length, .. } => *length,
        };
        self.pieces.iter().map(length).sum()
    }

    /// Returns the body to send; each call starts at the beginning.
    pub fn body(&self) -> reqwest::Body {
        if let ([Piece::Bytes(bytes)], None) = (self.pieces.as_slice(), &self.on_progress) {
            return bytes.clone().into();
        }
        let total = self.length();
        let sending = Sending { pieces: self.pieces.iter().cloned().collect(), open: None, done: 0 };
        let on_progress = self.on_progress.clone();
        reqwest::Body::wrap_stream(try_unfold((sending, on_progress), move |(mut sending, on_progress)| async move {
            let Some(chunk) = sending.next().await? else { return Ok::<_, io::Error>(None) };
            if let Some(on_progress) = &on_progress {
                on_progress(Progress { done: sending.done, total: Some(total) });
            }
            Ok(Some((chunk, (sending, on_progress))))
        }))
    }
}

/// A payload that is being sent.
struct Sending {
    pieces: VecDeque<Piece>,
    /// The file that is being read, its path, and the number of bytes left.
    open: Option<(tokio::fs::File, PathBuf, u64)>,
    done: u64,
}

impl Sending {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        loop {
            if let Some((file, path, left)) = &mut self.open {
                let mut chunk = vec![0; CHUNK.min(usize::try_from(*left).unwrap_or(CHUNK))];
                if chunk.is_empty() {
                    self.open = None;
                    continue;
                }
                let read = file.read(&mut chunk).await.map_err(|e| with_path(path, &e))?;
                if read == 0 {
                    return Err(with_path(path, &io::Error::new(ErrorKind::UnexpectedEof, "it became shorter")));
                }
                chunk.truncate(read);
                *left -= read as u64;
                self.done += read as u64;
                return Ok(Some(chunk.into()));
            }
            match self.pieces.pop_front() {
                None => return Ok(None),
                Some(Piece::File { path, length }) => {
                    let (file, _) = open_file(&path).await.map_err(|e| with_path(&path, &e))?;
                    self.open = Some((file, path, length));
                }
                Some(Piece::Bytes(mut bytes)) => {
                    let chunk = bytes.split_to(bytes.len().min(CHUNK));
                    if !bytes.is_empty() {
                        self.pieces.push_front(Piece::Bytes(bytes));
                    }
                    if !chunk.is_empty() {
                        self.done += chunk.len() as u64;
                        return Ok(Some(chunk));
                    }
                }
            }
        }
    }
}

/// Opens a regular file; returns its length, too. Something else may have taken its place since it was checked.
async fn open_file(path: &Path) -> io::Result<(tokio::fs::File, u64)> {
    let mut options = tokio::fs::OpenOptions::new();
    options.read(true);
    // Opening a pipe would wait for a writer.
    #[cfg(unix)]
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = options.open(path).await?;
    let found = file.metadata().await?;
    match () {
        () if found.is_file() => Ok((file, found.len())),
        () if found.is_dir() => Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder")),
        () => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// The maximum size of an uploaded file, in bytes: ten times what servers accept unless an administrator raised it.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// An error for a file that could not be read; its message contains the path.
#[derive(Debug)]
struct UnreadableFile(String);

impl fmt::Display for UnreadableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for UnreadableFile {}

fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), UnreadableFile(format!("{} cannot be read: {error}", path.display())))
}

/// Returns the message about the file that could not be read, if that is why a call failed.
pub(super) fn unreadable_file(error: &(dyn StdError + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(current) = cause {
        let inner = current.downcast_ref::<io::Error>().and_then(|io| io.get_ref());
        if let Some(unreadable) = inner.and_then(|inner| inner.downcast_ref::<UnreadableFile>()) {
            return Some(unreadable.to_string());
        }
        cause = current.source();
    }
    None
}

/// Quotes a name for a header; quotes and line breaks are encoded as in HTML forms.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A"))
}
