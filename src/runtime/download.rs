//! Downloads to files. Interrupted ones are resumed, a file gets its name only when it is complete, and an existing
//! file is replaced only with the user's consent. An archive can be unpacked into a new folder instead.
//!
//! 1. `Action::AskTransferPath` names a request and a file. The app asks for the path, numbers the download and adds
//!    it to its transfers.
//! 2. The bytes are streamed to a hidden file next to the target, with progress. The name of the hidden file is
//!    derived from the request and from a secret in the user's own folder, so nobody else can plant such a file or a
//!    link (`src/system/files.rs`). An interrupted download resumes from there, even days later.
//! 3. When the size is right, the file gets its final name. It never replaces an existing file unless the user
//!    confirmed it.
//! 4. The last line shows bytes, rate and time left. Esc stops the download, and `g d` lists all downloads.

use super::journal;
use super::tasks;
use crate::api::client::{Client, OnProgress, Progress};
use crate::app::action::{Msg, StopFlag};
use crate::app::local_paths;
use crate::app::transfer::{TransferEvent, TransferSpec, Unpack, file_name};
use crate::system::files;
use crate::ui::text;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::fs;
use tokio::sync::mpsc;

/// The time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(200);

/// The secret in the names of part files, which contain incomplete downloads. The folder may be a clone of a
/// repository, whose authors must not be able to plant a file that a download would continue.
#[derive(Clone, Copy, Debug)]
pub struct PartNames(u64);

impl PartNames {
    /// Reads the secret from `folder`, or creates it there. Without a folder, the secret is that of this process.
    pub fn load(folder: Option<&Path>) -> PartNames {
        static NUMBER: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("parts"));
        let Some(folder) = folder else { return PartNames(*NUMBER) };
        // The leading dot distinguishes it from saved texts in the same folder.
        let path = folder.join(".parts");
        let known = files::read_text(&path, 1 << 10).ok();
        if let Some(number) = known.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()) {
            return PartNames(number);
        }
        let text = format!("{:016x}\n", *NUMBER);
        if let Err(error) = journal::create_private_folder(folder).and_then(|()| files::write(&path, text.as_bytes())) {
            tracing::debug!("{}: {error}", path.display());
        }
        PartNames(*NUMBER)
    }

    /// Returns the part file next to `path`. Its name depends on the request, so that only the same download is
    /// resumed.
    fn file(self, path: &Path, spec: &TransferSpec) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        (self.0, &spec.download.request).hash(&mut hasher);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.with_file_name(format!(".{name}.{:016x}.part", hasher.finish()))
    }
}

/// Performs `spec` and sends its events, with the number of the transfer, to `sender`.
pub async fn transfer(
    client: &Client,
    number: u64,
    spec: TransferSpec,
    part_names: PartNames,
    sender: &mpsc::Sender<Msg>,
) {
    let event = match CheckedDownload::begin(&spec, part_names).await {
        Ok(download) => download.run(client, number, sender).await,
        Err(event) => event,
    };
    let _ = sender.send(Msg::Transfer(number, event)).await;
}

/// A download whose target has been checked.
struct CheckedDownload<'a> {
    spec: &'a TransferSpec,
    path: PathBuf,
    part: PathBuf,
}

/// Returns the path of the target file. If the path names a folder, it is a file in that folder.
async fn target_path(spec: &TransferSpec) -> PathBuf {
    let mut path = local_paths::path(&spec.path);
    let is_folder = || async { fs::metadata(&path).await.is_ok_and(|found| found.is_dir()) };
    if spec.path.ends_with(std::path::is_separator) || is_folder().await {
        path.push(file_name(&spec.download.name));
    }
    path
}

impl<'a> CheckedDownload<'a> {
    /// Checks the target.
    ///
    /// # Errors
    ///
    /// Returns the event to send if the target exists or its folder cannot be used.
    async fn begin(spec: &'a TransferSpec, part_names: PartNames) -> Result<CheckedDownload<'a>, TransferEvent> {
        let path = target_path(spec).await;
        let folder = files::folder_of(&path);
        match fs::metadata(folder).await {
            Ok(folder) if folder.is_dir() => {}
            Ok(_) => return Err(TransferEvent::Failed(format!("{} is not a folder", folder.display()))),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Err(TransferEvent::Failed(format!("folder not found: {}", folder.display())));
            }
            Err(e) => return Err(TransferEvent::Failed(format!("cannot access {}: {e}", folder.display()))),
        }
        let exists = fs::symlink_metadata(&path).await.is_ok();
        if exists && spec.download.unpack.is_some() {
            return Err(TransferEvent::Failed(format!("{} already exists: choose another name", path.display())));
        }
        if exists && !spec.replace {
            return Err(TransferEvent::Exists(path.display().to_string()));
        }
        let part = part_names.file(&path, spec);
        Ok(CheckedDownload { spec, path, part })
    }

    async fn run(&self, client: &Client, number: u64, sender: &mpsc::Sender<Msg>) -> TransferEvent {
        let received = match client
            .download_into(&self.spec.download.request, &self.part, &report_progress(number, sender.clone()))
            .await
        {
            Ok(received) => received,
            Err(error) => return TransferEvent::Failed(error.message()),
        };
        match self.spec.download.size {
            Some(known) if known != received => {
                let _ = fs::remove_file(&self.part).await;
                TransferEvent::Failed(format!("received {} instead of {}", byte_count(received), byte_count(known)))
            }
            _ => match self.spec.download.unpack.clone() {
                Some(unpack) => self.unpack(unpack, number, sender).await,
                None => self.finish(received).await,
            },
        }
    }

    /// Renames the part file to the target.
    async fn finish(&self, bytes: u64) -> TransferEvent {
        let (part, path, replace) = (self.part.clone(), self.path.clone(), self.spec.replace);
        let named = tasks::block(move || {
            if replace {
                return std::fs::rename(&part, &path);
            }
            // Another program may have created the target in the meantime.
            let part = tempfile::TempPath::try_from_path(part)?;
            part.persist_noclobber(path).map_err(|e| {
                let _ = e.path.keep();
                e.error
            })
        });
        match named.await {
            Ok(Ok(())) => TransferEvent::Done { path: self.path.display().to_string(), bytes },
            Ok(Err(e)) if e.kind() == ErrorKind::AlreadyExists => {
                TransferEvent::Exists(self.path.display().to_string())
            }
            Ok(Err(e)) => {
                TransferEvent::Failed(format!("download complete, but could not rename {}: {e}", self.part.display()))
            }
            Err(e) => TransferEvent::Failed(e.to_string()),
        }
    }

    /// Unpacks the archive to a hidden folder and renames that when complete. A failure leaves nothing behind.
    async fn unpack(&self, unpack: Unpack, number: u64, sender: &mpsc::Sender<Msg>) -> TransferEvent {
        let guard = StopWorkerOnDrop(StopFlag::default());
        let (stop, sender) = (guard.0.clone(), sender.clone());
        let (part, path) = (self.part.clone(), self.path.clone());
        let unpacked = tasks::block(move || {
            let failed = |what: &Path, error: std::io::Error| format!("{} cannot be written: {error}", what.display());
            let archive = std::fs::File::open(&part).map_err(|error| failed(&part, error))?;
            let partial = hidden_folder(&path).map_err(|error| failed(&path, error))?;
            let (mut reported, mut has_begun) = (Instant::now(), false);
            let mut on_progress = |done: u64, total: u64| {
                if !std::mem::replace(&mut has_begun, true) {
                    let _ = sender.blocking_send(Msg::Transfer(number, TransferEvent::Unpacking(total)));
                }
                if reported.elapsed() >= REPORT_INTERVAL {
                    reported = Instant::now();
                    let _ = sender.blocking_send(Msg::Transfer(number, TransferEvent::Received(done)));
                }
                !stop.is_stopped()
            };
            let unpacked = (unpack.run)(&archive, &unpack.folder, partial.path(), &mut on_progress)?;
            if stop.is_stopped() {
                return Err("it was canceled".into());
            }
            std::fs::rename(partial.path(), &path).map_err(|error| failed(&path, error))?;
            // After renaming, it must not be removed on drop.
            let _ = partial.keep();
            let _ = std::fs::remove_file(&part);
            Ok::<_, String>(unpacked)
        });
        let path = self.path.display().to_string();
        match unpacked.await {
            Ok(Ok(unpacked)) => TransferEvent::Unpacked { path, unpacked },
            Ok(Err(why)) => TransferEvent::Failed(why),
            Err(error) => TransferEvent::Failed(error.to_string()),
        }
    }
}

/// Reports progress to `sender` at intervals. If its queue is full, the report is repeated with the next bytes.
fn report_progress(number: u64, sender: mpsc::Sender<Msg>) -> OnProgress {
    let last: Mutex<Option<(Instant, Progress)>> = Mutex::new(None);
    Arc::new(move |now| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        // Either this is the first report, or the download started over because the server has another version.
        let began = last.is_none_or(|(_, before)| before.total != now.total || now.done < before.done);
        let event = match *last {
            Some((at, _)) if !began && at.elapsed() < REPORT_INTERVAL => return,
            _ if began => TransferEvent::Began { from: now.done, total: now.total },
            _ => TransferEvent::Received(now.done),
        };
        if sender.try_send(Msg::Transfer(number, event)).is_ok() {
            *last = Some((Instant::now(), now));
        }
    })
}

/// Creates a hidden folder next to `path` that is removed on drop.
fn hidden_folder(path: &Path) -> std::io::Result<tempfile::TempDir> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of an ordinary new folder, limited by the umask.
        builder.permissions(std::fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(files::folder_of(path))
}

/// A guard that stops a worker when its future is dropped.
struct StopWorkerOnDrop(StopFlag);

impl Drop for StopWorkerOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Removes the part file of a canceled transfer.
pub async fn remove_part(spec: TransferSpec, part_names: PartNames) {
    let _ = fs::remove_file(part_names.file(&target_path(&spec).await, &spec)).await;
}

fn byte_count(count: u64) -> String {
    format!("{} bytes", text::count(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::endpoint::Endpoint;
    use crate::api::repository::GetRawFile;
    use crate::app::transfer::{NewTransfer, OnUnpackProgress, Unpacked};
    use crate::runtime::tests::serve;

    const PART_NAMES: PartNames = PartNames(7);

    fn spec(folder: &Path, path: &str) -> TransferSpec {
        let request = GetRawFile { id: 7.into(), path: "a.bin".into(), ..GetRawFile::default() }.request();
        TransferSpec {
            download: NewTransfer::new(request, "a.bin"),
            path: folder.join(path).display().to_string(),
            replace: false,
        }
    }

    async fn end(client: &Client, spec: TransferSpec) -> TransferEvent {
        let (sender, mut inbox) = mpsc::channel(64);
        transfer(client, 1, spec, PART_NAMES, &sender).await;
        drop(sender);
        let mut last = None;
        while let Some(Msg::Transfer(1, news)) = inbox.recv().await {
            last = Some(news);
        }
        last.unwrap()
    }

    fn whole(body: &str) -> String {
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    }

    #[tokio::test]
    async fn a_file_appears_only_once_complete() {
        let folder = tempfile::tempdir().unwrap();
        let (client, _) = serve(vec![whole("0123456789")]).await;
        let path = folder.path().join("a.bin").display().to_string();
        assert_eq!(end(&client, spec(folder.path(), "")).await, TransferEvent::Done { path, bytes: 10 });
        assert_eq!(std::fs::read(folder.path().join("a.bin")).unwrap(), b"0123456789");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn existing_files_are_not_overwritten_unasked() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x"), "mine").unwrap();
        let (client, _) = serve(vec![whole("new")]).await;
        let mut spec = spec(folder.path(), "x");
        assert!(matches!(end(&client, spec.clone()).await, TransferEvent::Exists(_)));
        assert_eq!(std::fs::read_to_string(folder.path().join("x")).unwrap(), "mine");
        spec.replace = true;
        assert!(matches!(end(&client, spec).await, TransferEvent::Done { bytes: 3, .. }));
        assert_eq!(std::fs::read_to_string(folder.path().join("x")).unwrap(), "new");
    }

    fn long() -> String {
        (0..40_000).map(|n| format!("{n:05}")).collect()
    }

    fn rest(body: &str, from: usize) -> String {
        let (total, rest) = (body.len(), &body[from..]);
        let (length, last) = (rest.len(), total - 1);
        let head = format!("content-range: bytes {from}-{last}/{total}\r\ncontent-length: {length}");
        format!("HTTP/1.1 206 Partial Content\r\n{head}\r\nconnection: close\r\n\r\n{rest}")
    }

    #[tokio::test]
    async fn an_interrupted_download_is_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let body = long();
        let broken = whole(&body)[..130_000].to_owned();
        let held = 130_000 - (whole(&body).len() - body.len());
        let from = held - 64 * 1024;
        let (client, heard) = serve(vec![broken, rest(&body, from)]).await;
        assert!(matches!(end(&client, spec(folder.path(), "x")).await, TransferEvent::Done { bytes: 200_000, .. }));
        assert!(std::fs::read_to_string(folder.path().join("x")).unwrap() == body);
        assert!(heard.await.unwrap()[1].contains(&format!("range: bytes={from}-")));
    }

    #[tokio::test]
    async fn a_partial_file_of_another_version_is_not_resumed() {
        let folder = tempfile::tempdir().unwrap();
        let spec = spec(folder.path(), "x");
        let (old, new) = (long().replace('7', "x"), long());
        std::fs::write(PART_NAMES.file(&folder.path().join("x"), &spec), &old[..100_000]).unwrap();
        let (client, _) = serve(vec![rest(&new, 100_000 - 64 * 1024), whole(&new)]).await;
        assert!(matches!(end(&client, spec).await, TransferEvent::Done { bytes: 200_000, .. }));
        assert!(std::fs::read_to_string(folder.path().join("x")).unwrap() == new);
    }

    #[tokio::test]
    async fn concurrent_downloads_to_one_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let spec = spec(folder.path(), "x");
        let other = std::fs::File::create(PART_NAMES.file(&folder.path().join("x"), &spec)).unwrap();
        other.lock().unwrap();
        let (client, _) = serve::<String>(vec![]).await;
        let TransferEvent::Failed(why) = end(&client, spec).await else { panic!("two write into one") };
        assert!(why.ends_with("is already being written"), "{why}");
    }

    #[test]
    fn partial_files_have_unguessable_stable_names() {
        let folder = tempfile::tempdir().unwrap();
        let (path, spec) = (folder.path().join("x"), spec(folder.path(), "x"));
        let file = |part_names: PartNames| part_names.file(&path, &spec);
        let ours = folder.path().join("data");
        let first = PartNames::load(Some(&ours));
        assert_eq!(file(first), file(PartNames::load(Some(&ours))));
        std::fs::write(ours.join(".parts"), "00000000000000ff").unwrap();
        let another = PartNames::load(Some(&ours));
        assert_eq!(file(another), file(PartNames(255)));
        assert_ne!(file(first), file(another));
    }

    #[test]
    fn a_dropped_progress_report_is_sent_with_the_next_bytes() {
        let (sender, mut inbox) = mpsc::channel(1);
        sender.try_send(Msg::Quit).unwrap();
        let on_progress = report_progress(1, sender);
        on_progress(Progress { done: 0, total: Some(100) });
        assert!(matches!(inbox.try_recv(), Ok(Msg::Quit)));
        on_progress(Progress { done: 10, total: Some(100) });
        let began = TransferEvent::Began { from: 10, total: Some(100) };
        assert!(matches!(inbox.try_recv(), Ok(Msg::Transfer(1, news)) if news == began));
    }

    #[tokio::test]
    async fn wrong_sizes_and_missing_folders_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let (client, _) = serve(vec![whole("012")]).await;
        let mut spec = spec(folder.path(), "y");
        spec.download.size = Some(4);
        let TransferEvent::Failed(why) = end(&client, spec.clone()).await else {
            panic!("it is shorter than it should be")
        };
        assert_eq!(why, "received 3 bytes instead of 4 bytes");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        spec.path = folder.path().join("none/y").display().to_string();
        assert!(matches!(end(&client, spec).await, TransferEvent::Failed(why) if why.starts_with("folder not found")));
    }

    fn unpacked(
        archive: &std::fs::File,
        folder: &str,
        into: &Path,
        tell: OnUnpackProgress<'_>,
    ) -> Result<Unpacked, String> {
        let text = std::io::read_to_string(archive).map_err(|error| error.to_string())?;
        if !tell(0, 4) || text == "trap" {
            return Err("a trap".into());
        }
        std::fs::write(into.join(folder), text).map_err(|error| error.to_string())?;
        Ok(Unpacked { files: 1, bytes: 4, left_out: vec!["../x (unsafe path)".into()] })
    }

    #[tokio::test]
    async fn an_archive_is_unpacked_only_once_complete() {
        let folder = tempfile::tempdir().unwrap();
        let mut spec = spec(folder.path(), "out");
        spec.download = spec.download.unpacked("inner", unpacked);
        let (client, _) = serve(vec![whole("text"), whole("trap")]).await;
        let TransferEvent::Unpacked { path, unpacked } = end(&client, spec.clone()).await else {
            panic!("it is unpacked")
        };
        assert_eq!((path, unpacked.files), (folder.path().join("out").display().to_string(), 1));
        assert_eq!(std::fs::read_to_string(folder.path().join("out/inner")).unwrap(), "text");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the archive itself is gone");
        // In an existing folder, a new one is created.
        std::fs::create_dir(folder.path().join("out/a.bin")).unwrap();
        let TransferEvent::Failed(why) = end(&client, spec.clone()).await else {
            panic!("nothing is put into a folder")
        };
        assert!(why.ends_with("out/a.bin already exists: choose another name"), "{why}");
        spec.path = folder.path().join("other").display().to_string();
        assert_eq!(end(&client, spec.clone()).await, TransferEvent::Failed("a trap".into()));
        assert!(!folder.path().join("other").exists());
        remove_part(spec, PART_NAMES).await;
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing stays");
    }
}
