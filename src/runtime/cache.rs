//! The disk cache of replies: a page is first drawn with what was last known of it, before the server answers or
//! without a server.
//!
//! When a request is due for the first time, the executor looks for its reply from an earlier session on disk and
//! shows it with its age. It still sends the request. Cache files are kept per server and token and bounded in size. A
//! reply is written after it was read, and checked again when it is read from disk. A reply that contains a token is
//! never written. A refusal (403 or 404) removes the reply and those below its path, `auth logout` those of the
//! server, and `labscope cache clear` all. An empty file beside them says that the server has HTTP/2. `--offline` only
//! omits the last step, the client. Replies of the embedded server are not cached.

use crate::api::client::{Etag, Response};
use crate::api::endpoint::Request;
use crate::api::page::NextPage;
use crate::system::files;
use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::SystemTime;

/// Maximum size in bytes of a cached reply. Larger ones are faster to request than to cache.
pub(super) const MAX_REPLY_BYTES: usize = 4 << 20;
/// Maximum size in bytes of a cache folder. The oldest files are removed to make room.
const MAX_FOLDER_BYTES: u64 = 256 << 20;
/// Maximum number of replies waiting to be written. If the disk is slower than the server, some are not cached.
const QUEUE_LEN: usize = 64;
/// Maximum size in bytes of these replies together.
const MAX_QUEUED_BYTES: usize = 16 << 20;

/// The header before the body in a file.
#[derive(Debug, Serialize, Deserialize)]
struct CacheHead {
    /// The request line, which verifies that the file belongs to the request despite its hashed name.
    request: String,
    at: Timestamp,
    content_type: Option<String>,
    next: Option<NextPage>,
    total: Option<u64>,
    #[serde(default)]
    etag: Option<Etag>,
}

/// The name of the file in a folder of a server that says whether it has HTTP/2. An empty one says that it has.
const HTTP2_FILE: &str = "http2";
/// The content of the file for a server without HTTP/2.
const NO_HTTP2: &str = "no";

/// A change of the folder.
enum CacheChange {
    /// Notes whether the server has HTTP/2.
    Http2(bool),
    /// Writes a reply with its header to a file.
    Write(PathBuf, CacheHead, Bytes),
    /// Removes the reply in a file to a request, by its line, and all that are below its path.
    Remove(PathBuf, String),
    /// Renews the date of the reply in a file to a request, by its line, if the file exists.
    Renew(PathBuf, String, Timestamp),
}

#[derive(Debug)]
pub struct CachedReply {
    /// The decompressed body.
    pub body: Bytes,
    /// The `Content-Type`, if the server sent one.
    pub content_type: Option<String>,
    /// The next page, if any.
    pub next: Option<NextPage>,
    /// The total number of rows in the list, if the server counts them.
    pub total: Option<u64>,
    /// The entity tag, if the server sent one.
    pub etag: Option<Etag>,
    /// The time at which the reply arrived.
    pub at: Timestamp,
}

/// The cached replies of one server to one user: a file each, in a folder that only its owner can read.
pub struct Cache {
    folder: PathBuf,
    /// Whether the server had HTTP/2 the last time, if there was one.
    has_http2: Option<bool>,
    /// The writing thread, once there is something to write.
    writer: Option<(SyncSender<CacheChange>, JoinHandle<()>)>,
    /// The size in bytes of the replies that wait to be written.
    queued_bytes: Arc<AtomicUsize>,
}

impl Cache {
    /// Creates a cache in `folder`, which need not exist yet.
    pub fn new(folder: PathBuf) -> Cache {
        let has_http2 = fs::read_to_string(folder.join(HTTP2_FILE)).ok().map(|content| content != NO_HTTP2);
        Cache { folder, has_http2, writer: None, queued_bytes: Arc::default() }
    }

    /// Returns whether the server had HTTP/2 the last time, if there was one.
    pub fn has_http2(&self) -> Option<bool> {
        self.has_http2
    }

    /// Records whether the server has HTTP/2, for the next session.
    pub fn record_http2(&mut self, has_http2: bool) {
        if self.has_http2 != Some(has_http2) && self.sender().try_send(CacheChange::Http2(has_http2)).is_ok() {
            self.has_http2 = Some(has_http2);
        }
    }

    /// Returns the path of the cached reply to `request`, whether or not it exists.
    pub fn path(&self, request: &Request) -> PathBuf {
        // The output type is not part of the name, since the bytes are the same.
        let Request { host, method, path, fields, json, page, accept, .. } = request;
        let mut hasher = DefaultHasher::new();
        (host, method, path, fields, json, page, accept, "reply").hash(&mut hasher);
        let first = hasher.finish();
        (first, request.line()).hash(&mut hasher);
        self.folder.join(format!("{first:016x}{:016x}", hasher.finish()))
    }

    /// Schedules a reply to be cached. Replies that contain a token or variables are never cached.
    pub fn put(&mut self, request: &Request, response: &Response, now: Timestamp) {
        if response.body.len() > MAX_REPLY_BYTES || is_about_variables(request) || contains_token(&response.body) {
            return;
        }
        let head = CacheHead {
            request: request.line(),
            at: now,
            content_type: response.content_type.clone(),
            next: response.page.next.clone(),
            total: response.page.total,
            etag: response.etag.clone(),
        };
        // A reply that does not fit into the queue is not cached.
        let size = response.body.len();
        if self.queued_bytes.load(Ordering::Relaxed) + size > MAX_QUEUED_BYTES {
            return;
        }
        let change = CacheChange::Write(self.path(request), head, response.body.clone());
        self.queued_bytes.fetch_add(size, Ordering::Relaxed);
        if self.sender().try_send(change).is_err() {
            self.queued_bytes.fetch_sub(size, Ordering::Relaxed);
        }
    }

    /// Schedules the date of the cached reply to be renewed: the server said that it did not change.
    pub fn renew(&mut self, request: &Request, now: Timestamp) {
        let change = CacheChange::Renew(self.path(request), request.line(), now);
        let _ = self.sender().try_send(change);
    }

    /// Schedules the reply to `request` to be removed, and those below its path: the server no longer shows them to the
    /// user.
    pub fn remove(&mut self, request: &Request) {
        let change = CacheChange::Remove(self.path(request), request.line());
        let _ = self.sender().try_send(change);
    }

    /// Returns the sender to the writing thread, which is started when needed.
    fn sender(&mut self) -> &SyncSender<CacheChange> {
        let (sender, _) = self.writer.get_or_insert_with(|| {
            let (folder, queued_bytes) = (self.folder.clone(), self.queued_bytes.clone());
            let (sender, inbox) = sync_channel::<CacheChange>(QUEUE_LEN);
            let thread = std::thread::spawn(move || {
                let mut written = MAX_FOLDER_BYTES;
                for change in inbox {
                    let (path, head, body) = match change {
                        CacheChange::Http2(has_http2) => {
                            let content = if has_http2 { "" } else { NO_HTTP2 };
                            let _ = replace(&folder.join(HTTP2_FILE), |file| file.write_all(content.as_bytes()));
                            continue;
                        }
                        CacheChange::Remove(path, line) => {
                            // Most of what is missing was never kept.
                            if fs::remove_file(path).is_ok() {
                                remove_below(&folder, &line);
                            }
                            continue;
                        }
                        CacheChange::Write(path, head, body) => {
                            queued_bytes.fetch_sub(body.len(), Ordering::Relaxed);
                            (path, head, body)
                        }
                        CacheChange::Renew(path, line, at) => match read_file(&path, &line) {
                            Some((head, body)) => (path, CacheHead { at, ..head }, body),
                            None => continue,
                        },
                    };
                    // Checked at first, and then whenever an eighth of the room was written.
                    written += body.len() as u64;
                    if written > MAX_FOLDER_BYTES / 8 {
                        make_room(&folder, MAX_FOLDER_BYTES);
                        written = 0;
                    }
                    if let Err(error) = write(&path, &head, &body) {
                        tracing::debug!(%error, "a reply could not be kept");
                    }
                }
            });
            (sender, thread)
        });
        sender
    }

    /// Waits until all scheduled replies are on disk.
    pub fn finish(&mut self) {
        if let Some((sender, thread)) = self.writer.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// The maximum size of the header of a file, in bytes. Addresses are shorter.
const MAX_HEAD_BYTES: u64 = 64 << 10;
/// The maximum size of a file with a reply, in bytes: the largest reply that is kept in memory, and its description.
const MAX_FILE: u64 = 513 << 20;

/// Reads the reply to `request` from the file `path`, if it exists and is valid.
pub fn read(path: &Path, request: &Request) -> Option<CachedReply> {
    let (head, body) = read_file(path, &request.line())?;
    let CacheHead { at, content_type, next, total, etag, .. } = head;
    Some(CachedReply { body, content_type, next, total, etag, at })
}

/// Reads the header and the body from the file `path`, if it has the reply to the request with this line.
fn read_file(path: &Path, line: &str) -> Option<(CacheHead, Bytes)> {
    let bytes = Bytes::from(files::read(path, MAX_FILE).ok()?);
    let end = bytes.iter().position(|b| *b == b'\n')?;
    let head: CacheHead = serde_json::from_slice(bytes.get(..end)?).ok()?;
    (head.request == line).then(|| (head, bytes.slice(end + 1..)))
}

/// Creates a folder that only its owner can read, unless it exists.
///
/// # Errors
/// Returns I/O errors.
pub fn create(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes the replies to requests below the path of a request, by its line: `GET /projects/1`.
fn remove_below(folder: &Path, line: &str) {
    let (path, query) = line.split_once('?').map_or((line, None), |(path, query)| (path, Some(query)));
    let is_below = |found: &str| {
        let rest = found.strip_prefix(path).unwrap_or_default();
        rest.starts_with('/') || query.is_none() && rest.starts_with('?')
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if read_head(&entry.path()).is_some_and(|head| is_below(&head.request)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Reads only the header of a file.
fn read_head(path: &Path) -> Option<CacheHead> {
    let file = files::open_regular(path).ok()?;
    let mut line = Vec::new();
    BufReader::new(file).take(MAX_HEAD_BYTES).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
}

fn write(path: &Path, head: &CacheHead, body: &[u8]) -> io::Result<()> {
    replace(path, |file| {
        serde_json::to_writer(&mut *file, head)?;
        file.write_all(b"\n")?;
        file.write_all(body)
    })
}

/// Writes a file that only its owner can read. It is written under another name and renamed, so that readers find either
/// the old or the new one.
fn replace(path: &Path, write: impl FnOnce(&mut fs::File) -> io::Result<()>) -> io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    create(folder)?;
    let mut file = tempfile::Builder::new().prefix(".reply-").tempfile_in(folder)?;
    write(file.as_file_mut())?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Returns whether the reply contains variables, whose values may be secrets: those of projects, groups, pipelines, and
/// of a single schedule.
fn is_about_variables(request: &Request) -> bool {
    request.route.split('/').any(|part| matches!(part, "variables" | "{pipeline_schedule_id}"))
}

/// Returns whether a body contains a token. Tokens of runners and hooks are sent to users with access, and must not be
/// written to disk.
fn contains_token(body: &[u8]) -> bool {
    memchr::memmem::find(body, b"token\":").is_some()
}

/// If `folder` is larger than `max_bytes`, removes the oldest files until it has at most three quarters of that size.
fn make_room(folder: &Path, max_bytes: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let about = entry.metadata().ok()?;
            Some((about.modified().ok()?, about.len(), entry.path()))
        })
        .collect();
    let mut size: u64 = files.iter().map(|(_, len, _)| len).sum();
    if size <= max_bytes {
        return;
    }
    files.sort();
    for (_, len, path) in files {
        if size <= max_bytes / 4 * 3 {
            break;
        }
        if fs::remove_file(path).is_ok() {
            size -= len;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Endpoint;
    use crate::api::VariableOwner;
    use crate::api::branches::ListBranches;
    use crate::api::page::PageInfo;
    use crate::api::projects::GetProject;
    use crate::api::variables::{GetVariable, ListVariables};

    fn request() -> Request {
        ListBranches { id: "a/b".into(), search: None }.request().at_page(2, 100)
    }

    fn response(body: &str) -> Response {
        Response {
            status: 200,
            body: Bytes::from(body.to_owned()),
            content_type: Some("application/json".into()),
            page: PageInfo { next: Some(NextPage::Number(3)), total: Some(250), ..PageInfo::default() },
            etag: None,
        }
    }

    #[test]
    fn a_cached_reply_keeps_its_page_and_time() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut cache = Cache::new(folder.path().join("replies"));
        cache.put(&request(), &response("[{\"name\":\"x\"}]\n"), Timestamp::UNIX_EPOCH);
        cache.finish();
        let kept = read(&cache.path(&request()), &request()).expect("kept");
        assert_eq!(
            (&kept.body[..], kept.next, kept.total),
            (&b"[{\"name\":\"x\"}]\n"[..], Some(NextPage::Number(3)), Some(250))
        );
        assert_eq!(kept.at, Timestamp::UNIX_EPOCH);
        let other = request().at_page(3, 100);
        assert!(read(&cache.path(&other), &other).is_none());
        assert!(read(&cache.path(&request()), &other).is_none(), "a file of another request is not believed");
    }

    #[test]
    fn a_reply_that_did_not_change_gets_a_new_date() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut cache = Cache::new(folder.path().to_owned());
        cache.put(&request(), &response("[{\"name\":\"x\"}]"), Timestamp::UNIX_EPOCH);
        let later = Timestamp::from_second(86_400).expect("a time");
        cache.renew(&request(), later);
        // Nothing is known of this one.
        cache.renew(&request().at_page(3, 100), later);
        cache.finish();
        let kept = read(&cache.path(&request()), &request()).expect("kept");
        assert_eq!((&kept.body[..], kept.at), (&b"[{\"name\":\"x\"}]"[..], later));
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    }

    #[test]
    fn the_next_session_knows_if_the_server_has_http2() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let replies = || folder.path().join("replies");
        assert_eq!(Cache::new(replies()).has_http2(), None);
        for has_http2 in [true, false, true] {
            let mut cache = Cache::new(replies());
            assert_ne!(cache.has_http2(), Some(has_http2), "as the session before left it");
            cache.record_http2(has_http2);
            cache.finish();
            assert_eq!(Cache::new(replies()).has_http2(), Some(has_http2));
        }
    }

    #[test]
    fn what_the_server_no_longer_shows_is_removed_with_all_below() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut cache = Cache::new(folder.path().to_owned());
        let project = |id: &str| GetProject { id: id.into(), ..GetProject::default() }.request();
        let branches = |id: &str| ListBranches { id: id.into(), search: None }.request().at_page(1, 100);
        let all = [project("a/b"), branches("a/b"), project("a/bc"), branches("a/bc"), branches("a/never")];
        for request in &all {
            cache.put(request, &response("{}"), Timestamp::UNIX_EPOCH);
        }
        cache.remove(&project("a/b"));
        // Nothing was kept of it, so nothing is below it.
        cache.remove(&project("a/never"));
        cache.finish();
        let is_kept = |request: &Request| read(&cache.path(request), request).is_some();
        assert_eq!(all.each_ref().map(is_kept), [false, false, true, true, true]);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_any_of_the_files() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut cache = Cache::new(folder.path().join("replies"));
        cache.put(&request(), &response("[]"), Timestamp::UNIX_EPOCH);
        cache.record_http2(true);
        cache.finish();
        let files = fs::read_dir(folder.path().join("replies")).expect("readable").flatten();
        let modes: Vec<u32> =
            files.map(|file| file.metadata().expect("metadata").permissions().mode() & 0o777).collect();
        assert_eq!(modes, [0o600, 0o600]);
    }

    #[test]
    fn replies_with_tokens_and_truncated_files_are_not_cached() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut cache = Cache::new(folder.path().to_owned());
        cache.put(&request(), &response("{\"runners_token\": \"secret\"}"), Timestamp::UNIX_EPOCH);
        cache.finish();
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0);
        fs::write(cache.path(&request()), b"{\"request\":").expect("written");
        assert!(read(&cache.path(&request()), &request()).is_none());
    }

    #[test]
    fn replies_with_variables_are_not_cached() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let mut cache = Cache::new(folder.path().to_owned());
        let list = ListVariables { owner: VariableOwner::Instance }.request();
        let one = GetVariable { key: "A".into(), ..GetVariable::default() }.request();
        for request in [list.clone(), list.at_page(2, 100), one] {
            cache.put(&request, &response("[{\"key\": \"A\", \"value\": \"s3cret\"}]"), Timestamp::UNIX_EPOCH);
        }
        cache.finish();
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0);
    }

    #[test]
    fn the_oldest_entries_are_evicted() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        for (index, name) in ["old", "middle", "new"].into_iter().enumerate() {
            let path = folder.path().join(name);
            fs::write(&path, [0; 100]).expect("written");
            let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(index as u64);
            fs::File::options().write(true).open(&path).and_then(|f| f.set_modified(at)).expect("dated");
        }
        make_room(folder.path(), 299);
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).expect("readable").flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, ["middle", "new"]);
    }
}
