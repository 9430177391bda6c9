//! Reading parts of large remote files. If the server supports ranges, only those are requested; otherwise everything
//! is downloaded, large files to an unnamed temporary file.

use super::executor::MsgSender;
use super::tasks;
use super::workers;
use crate::api::client::{ByteRange, Client, Download, Progress};
use crate::api::error::Unreadable;
use crate::api::{Error, Fault};
use crate::app::action::{Msg, Outcome};
use crate::domain::parts::{Parts, Step};
use crate::store::AnyRangeRead;
use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

/// The size in bytes above which a download is stored on disk.
const MAX_MEMORY_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum number of requests of one reader. One that needs more would never finish.
const MAX_REQUESTS: usize = 16;
/// The memory that reading an archive takes, in bytes at most: its list, or a file.
const ARCHIVE_BYTES: usize = 128 << 20;
/// The time between two progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// The result of a download.
enum FetchResult {
    Parts(Parts),
    TooLarge(u64),
}

/// Performs `range_read` and returns its result.
pub async fn read_ranges(client: &Client, range_read: &AnyRangeRead, sender: &MsgSender) -> Result<Outcome, Error> {
    if !range_read.delay.is_zero() {
        tokio::time::sleep(range_read.delay).await;
    }
    let first = client.download_range(&range_read.request, range_read.begin.clone()).await?;
    let mut version = first.etag();
    let mut parts = match download(first, None, range_read, sender).await? {
        FetchResult::Parts(parts) => parts,
        FetchResult::TooLarge(bytes) => return Ok(Outcome::Computed((range_read.too_large)(bytes).into())),
    };
    let mut downloaded = 0;
    for _ in 0..MAX_REQUESTS {
        let (read, stop, here) = (range_read.read.clone(), sender.stop.clone(), parts.clone());
        let task = workers::run(ARCHIVE_BYTES, move || read(&here, &|| stop.is_stopped()));
        let range =
            match task.await.map_err(|_| unreadable(range_read, "internal error; --log FILE has the details"))? {
                Step::Done(value) => return Ok(Outcome::Computed(value.into())),
                Step::Need(range) => range.start..range.end.min(parts.total()),
            };
        if range.is_empty() || parts.is_whole() {
            return Err(unreadable(range_read, "the file is truncated"));
        }
        downloaded += range.end - range.start;
        if downloaded > range_read.max_bytes {
            return Ok(Outcome::Computed((range_read.too_large)(downloaded).into()));
        }
        let next = client.download_range(&range_read.request, ByteRange::Span(range)).await?;
        // Parts of two versions do not fit together, even if these are equally long.
        let known = Some(parts).filter(|_| next.etag() == version);
        version = next.etag();
        parts = match download(next, known, range_read, sender).await? {
            FetchResult::Parts(parts) => parts,
            FetchResult::TooLarge(bytes) => return Ok(Outcome::Computed((range_read.too_large)(bytes).into())),
        };
    }
    Err(unreadable(range_read, "too many internal references"))
}

fn unreadable(range_read: &AnyRangeRead, why: &str) -> Error {
    let fault = Fault::Unreadable(Unreadable { field: ".".into(), reason: why.to_owned() });
    Error { tried: range_read.request.line(), fault }
}

/// Downloads the bytes of a reply and adds them to the parts in `known`.
async fn download(
    mut download: Download,
    known: Option<Parts>,
    range_read: &AnyRangeRead,
    sender: &MsgSender,
) -> Result<FetchResult, Error> {
    let expected = download.length.unwrap_or(0);
    if expected > range_read.max_bytes {
        return Ok(FetchResult::TooLarge(expected));
    }
    let disk = |error: std::io::Error| Error {
        tried: range_read.request.line(),
        fault: Fault::Disk(format!("cannot write a temporary file: {error}")),
    };
    let mut bytes: Vec<u8> = Vec::with_capacity(expected.min(MAX_MEMORY_BYTES) as usize);
    let mut file = None;
    let mut done = 0;
    let mut last_report = Instant::now();
    while let Some(chunk) = download.chunk().await? {
        done += chunk.len() as u64;
        if done > range_read.max_bytes {
            return Ok(FetchResult::TooLarge(done));
        }
        bytes.extend_from_slice(&chunk);
        if download.total_size.is_none() && bytes.len() as u64 > MAX_MEMORY_BYTES {
            file = Some(append(file.take(), std::mem::take(&mut bytes)).await.map_err(disk)?);
        }
        if last_report.elapsed() >= PROGRESS_INTERVAL {
            last_report = Instant::now();
            let progress = Progress { done, total: download.length };
            sender.send(Msg::RangeReadProgress(range_read.key.clone(), progress)).await;
        }
    }
    if download.length.is_some_and(|length| length != done) {
        let message = format!("received {done} bytes instead of {expected}");
        return Err(Error { tried: range_read.request.line(), fault: Fault::Cut(message) });
    }
    Ok(FetchResult::Parts(match (download.total_size, file) {
        (Some(total), _) => {
            let mut parts = known.filter(|known| known.total() == total).unwrap_or_else(|| Parts::of(total));
            parts.add(download.start, bytes.into());
            parts
        }
        (None, None) => Parts::whole(bytes.into()),
        (None, file) => Parts::file(append(file, bytes).await.map_err(disk)?, done),
    }))
}

/// Appends to the file on a blocking thread, and creates the file if there is none.
async fn append(file: Option<std::fs::File>, bytes: Vec<u8>) -> std::io::Result<std::fs::File> {
    let write = move || {
        let mut file = file.map_or_else(tempfile::tempfile, Ok)?;
        file.seek(SeekFrom::End(0))?;
        file.write_all(&bytes)?;
        Ok(file)
    };
    tasks::block(write).await.unwrap_or_else(|gone| Err(std::io::Error::other(gone)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Endpoint;
    use crate::api::jobs::GetArtifactFile;
    use crate::app::action::StopFlag;
    use crate::runtime::tests::serve;
    use crate::store::{Canceled, RangeRead};
    use tokio::sync::mpsc;

    /// A reader that reads the last byte and then the first.
    struct ReadEnds {
        max_bytes: u64,
    }

    impl RangeRead for ReadEnds {
        type Output = Result<(u64, Vec<u8>), u64>;
        fn key(&self) -> String {
            "ends".into()
        }
        fn request(&self) -> crate::api::Request {
            GetArtifactFile { id: 7.into(), job_id: 1, artifact_path: "a".into() }.request()
        }
        fn begin(&self) -> ByteRange {
            ByteRange::Tail(2)
        }
        fn max_bytes(&self) -> u64 {
            self.max_bytes
        }
        fn too_large(&self, bytes: u64) -> Self::Output {
            Err(bytes)
        }
        fn read(&self, parts: &Parts, _: Canceled<'_>) -> Step<Self::Output> {
            let mut ends = Vec::new();
            for range in [0..1, parts.total() - 1..parts.total()] {
                match parts.read(range.clone()) {
                    Ok(Some(bytes)) => ends.extend_from_slice(&bytes),
                    _ => return Step::Need(range),
                }
            }
            Step::Done(Ok((parts.total(), ends)))
        }
    }

    fn reply(head: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    }

    async fn read(client: &Client, max_bytes: u64) -> Result<Result<(u64, Vec<u8>), u64>, Error> {
        let (sender, _inbox) = mpsc::channel(64);
        let sender = MsgSender { sender, stop: StopFlag::default() };
        let outcome = read_ranges(client, &AnyRangeRead::new(ReadEnds { max_bytes }), &sender).await?;
        let Outcome::Computed(made) = outcome else { panic!("a result") };
        Ok(made.value.downcast_ref::<Result<(u64, Vec<u8>), u64>>().unwrap().clone())
    }

    #[tokio::test]
    async fn servers_with_ranges_send_only_the_needed_parts() {
        let tail = reply("206 Partial Content\r\ncontent-range: bytes 98-99/100", b"yz");
        let head = reply("206 Partial Content\r\ncontent-range: bytes 0-0/100", b"a");
        let (client, heard) = serve(vec![tail, head]).await;
        assert_eq!(read(&client, 50).await, Ok(Ok((100, b"az".to_vec()))));
        let heard = heard.await.unwrap();
        assert!(heard[0].contains("range: bytes=-2\r\n") && heard[1].contains("range: bytes=0-0\r\n"), "{heard:?}");
    }

    #[tokio::test]
    async fn parts_of_a_file_that_changes_meanwhile_are_read_again() {
        let part = |version: char, range: &str, body: &[u8]| {
            reply(&format!("206 Partial Content\r\netag: \"{version}\"\r\ncontent-range: bytes {range}"), body)
        };
        let (client, _) =
            serve(vec![part('1', "98-99/100", b"yz"), part('2', "0-0/100", b"A"), part('2', "99-99/100", b"Z")]).await;
        assert_eq!(read(&client, 50).await, Ok(Ok((100, b"AZ".to_vec()))));
        let (client, _) =
            serve(vec![part('1', "98-99/100", b"yz"), part('1', "0-0/90", b"A"), part('1', "89-89/90", b"Z")]).await;
        assert_eq!(read(&client, 50).await, Ok(Ok((90, b"AZ".to_vec()))));
    }

    #[tokio::test]
    async fn servers_without_ranges_send_everything_once() {
        let (client, _) = serve(vec![reply("200 OK", b"abc")]).await;
        assert_eq!(read(&client, 50).await, Ok(Ok((3, b"ac".to_vec()))));
        let mut large = vec![b'x'; MAX_MEMORY_BYTES as usize + 5];
        large.push(b'!');
        let (client, _) = serve(vec![reply("200 OK", &large)]).await;
        assert_eq!(read(&client, u64::MAX).await, Ok(Ok((MAX_MEMORY_BYTES + 6, b"x!".to_vec()))));
    }

    #[tokio::test]
    async fn overlarge_truncated_or_wrong_replies_are_errors() {
        let (client, _) = serve(vec![reply("200 OK", &[b'x'; 60])]).await;
        assert_eq!(read(&client, 50).await, Ok(Err(60)));
        let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\n01234".to_vec();
        let (client, _) = serve(vec![cut]).await;
        assert!(matches!(read(&client, 50).await, Err(Error { fault: Fault::Cut(_), .. })));
        let (client, _) = serve(vec![reply("206 Partial Content", b"yz")]).await;
        assert!(matches!(read(&client, 50).await, Err(Error { fault: Fault::Cut(_), .. })));
        let (client, _) = serve(vec![reply("404 Not Found", b"{}")]).await;
        assert!(read(&client, 50).await.is_err_and(|error| error.is_missing()));
    }
}
