//! The journal: texts that the user typed, on disk until the server has them. Each is a file of its own, written
//! completely and then synced.
//!
//! A dedicated thread writes them in the order in which they were typed; from then on, they survive the program however
//! it ends. State files are written in the same way. If several versions of one text are waiting, only the last is
//! written. A text that cannot be written stays in memory and is retried. A second thread syncs the written files, so
//! that a slow disk does not delay the next key. Until a file is synced, a hard link keeps its previous version, in
//! case of a power failure.

use super::state_files;
use crate::app::outbox::Claim;
use crate::app::state::{Kept, StateFile};
use crate::app::text_key::DiskKey;
use crate::system::files;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// The delay before retrying a failed write.
const RETRY_DELAY: Duration = Duration::from_secs(3);
/// The start of the first line of a saved text.
const MAGIC: &str = "labscope-kept-1";

/// A request to the writing thread.
enum JournalJob {
    Save(String, Option<String>),
    /// A state file of an account.
    State(String, StateFile),
    /// Answered when everything before it was written or failed to be.
    Written(oneshot::Sender<()>),
    /// Answered when everything before it was synced or failed to be.
    Synced(oneshot::Sender<()>),
    /// Answered with who may send the text.
    Claim(String, oneshot::Sender<Claim>),
}

/// A request to the syncing thread.
enum SyncRequest {
    /// The file with this name was changed or removed.
    File(String),
    /// Answered when syncing everything before it was attempted.
    Synced(oneshot::Sender<()>),
}

/// The texts that no other program may send while this one runs: the locked claim files, by the names of the texts'
/// files.
type ClaimedTexts = HashMap<String, fs::File>;

/// A writer of texts on a dedicated thread, so that a slow disk blocks nothing else.
pub struct JournalWriter {
    jobs: Sender<JournalJob>,
    threads: [JoinHandle<()>; 2],
}

impl JournalWriter {
    /// Starts the threads. `on_change` is called with the error when texts can no longer be written, and again when
    /// they can. It returns whether the report was delivered.
    pub fn start(
        folder: PathBuf,
        on_change: impl Fn(Result<(), String>) -> bool + Clone + Send + 'static,
    ) -> JournalWriter {
        let ((jobs, inbox), (written, to_sync)) = (channel(), channel());
        let syncing = {
            let (folder, on_change) = (folder.clone(), on_change.clone());
            std::thread::spawn(move || sync(&to_sync, &folder, &on_change))
        };
        let writing = std::thread::spawn(move || work(&inbox, &written, &folder, &on_change));
        JournalWriter { jobs, threads: [writing, syncing] }
    }

    /// Saves `text` under `key`, or drops the saved text if it is `None`.
    pub fn save(&self, key: String, text: Option<String>) {
        let _ = self.jobs.send(JournalJob::Save(key, text));
    }

    pub fn save_state(&self, account: &str, file: StateFile) {
        let _ = self.jobs.send(JournalJob::State(account.to_owned(), file));
    }

    /// Resolves when everything saved so far is written, so that it survives the program, or has failed.
    pub fn written(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.jobs.send(JournalJob::Written(sender));
        receiver
    }

    /// Resolves when everything saved so far is synced to disk, or has failed.
    pub fn synced(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.jobs.send(JournalJob::Synced(sender));
        receiver
    }

    /// Claims the text `key` for sending, once everything saved so far was attempted. The claim lasts until the text is
    /// dropped or the program ends: it is a file lock, which the system releases however the program ends.
    pub fn claim(&self, key: String) -> oneshot::Receiver<Claim> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.jobs.send(JournalJob::Claim(key, sender));
        receiver
    }

    /// Stops the threads when everything is written or has failed once more. Blocks.
    pub fn finish(self) {
        drop(self.jobs);
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// The last status reported to the user: whether texts can be written.
struct ErrorReporter<'a, T> {
    folder: &'a Path,
    on_change: &'a T,
    is_failing: bool,
}

impl<'a, T: Fn(Result<(), String>) -> bool> ErrorReporter<'a, T> {
    fn new(folder: &'a Path, on_change: &'a T) -> ErrorReporter<'a, T> {
        ErrorReporter { folder, on_change, is_failing: false }
    }

    /// Reports the outcome if it changed.
    fn report(&mut self, outcome: io::Result<()>) {
        let report = outcome.map_err(|error| format!("{error}, in {}", self.folder.display()));
        let is_failing = report.is_err();
        if is_failing != self.is_failing && (self.on_change)(report) {
            self.is_failing = is_failing;
        }
    }
}

/// Returns the next job, or `None` after a timeout if something waits to be retried. Returns an error when all senders
/// are gone.
fn next<T>(inbox: &Receiver<T>, waits: bool) -> Result<Option<T>, RecvTimeoutError> {
    match waits {
        true => match inbox.recv_timeout(RETRY_DELAY) {
            Err(RecvTimeoutError::Timeout) => Ok(None),
            other => other.map(Some),
        },
        false => inbox.recv().map(Some).map_err(RecvTimeoutError::from),
    }
}

fn work(
    inbox: &Receiver<JournalJob>,
    written: &Sender<SyncRequest>,
    folder: &Path,
    on_change: &impl Fn(Result<(), String>) -> bool,
) {
    let mut queue: VecDeque<(String, Option<String>)> = VecDeque::new();
    let mut reporter = ErrorReporter::new(folder, on_change);
    let mut claimed = ClaimedTexts::new();
    let mut open = true;
    while open {
        let (mut waiting, mut synced, mut claims) = (Vec::new(), Vec::new(), Vec::new());
        match next(inbox, !queue.is_empty()) {
            Ok(first) => {
                for job in first.into_iter().chain(inbox.try_iter()) {
                    match job {
                        JournalJob::Save(key, text) => push(&mut queue, key, text),
                        JournalJob::State(account, file) => {
                            push(
                                &mut queue,
                                DiskKey::State { file: file.name(), account: &account }.to_string(),
                                Some(file.to_json()),
                            );
                        }
                        JournalJob::Written(sender) => waiting.push(sender),
                        JournalJob::Synced(sender) => synced.push(sender),
                        JournalJob::Claim(key, sender) => claims.push((key, sender)),
                    }
                }
            }
            Err(_) => open = false,
        }
        reporter.report(write(&mut queue, written, folder, &mut claimed));
        for sender in waiting {
            let _ = sender.send(());
        }
        for sender in synced {
            let _ = written.send(SyncRequest::Synced(sender));
        }
        for (key, sender) in claims {
            // If the text could not be written, the files do not tell who may send it.
            let unwritten = queue.iter().any(|(waiting, _)| *waiting == key);
            let _ = sender.send(if unwritten { Claim::Ours(None) } else { claim(folder, &key, &mut claimed) });
        }
    }
}

/// Runs the syncing thread.
fn sync(inbox: &Receiver<SyncRequest>, folder: &Path, on_change: &impl Fn(Result<(), String>) -> bool) {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut reporter = ErrorReporter::new(folder, on_change);
    let mut open = true;
    while open {
        let mut synced = Vec::new();
        match next(inbox, !names.is_empty()) {
            Ok(first) => {
                for job in first.into_iter().chain(inbox.try_iter()) {
                    match job {
                        SyncRequest::File(name) => _ = names.insert(name),
                        SyncRequest::Synced(sender) => synced.push(sender),
                    }
                }
            }
            Err(_) => open = false,
        }
        reporter.report(sync_all(&mut names, folder));
        for sender in synced {
            let _ = sender.send(());
        }
    }
}

/// Syncs the files with these names and then their folder. Clears the names on success.
pub(super) fn sync_all(names: &mut BTreeSet<String>, folder: &Path) -> io::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    for name in &*names {
        match sync_file(folder, name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // The removal of a missing file is on disk when the folder is synced.
            _ => {}
        }
    }
    sync_folder(folder)?;
    names.clear();
    Ok(())
}

/// Syncs a file, and keeps a hard link to this version until a later version is synced.
fn sync_file(folder: &Path, name: &str) -> io::Result<()> {
    let (path, last, link) = (folder.join(name), synced_path(folder, name), link_path(folder, name));
    let _ = fs::remove_file(&link);
    // On a file system without links, the file itself is synced.
    let linked = fs::hard_link(&path, &link).is_ok();
    let outcome = files::open_regular(if linked { &link } else { &path }).and_then(|file| file.sync_all());
    match (linked, &outcome) {
        (true, Ok(())) => fs::rename(&link, &last)?,
        (true, Err(_)) => _ = fs::remove_file(&link),
        (false, _) => {}
    }
    // The text may have been dropped meanwhile.
    if !path.try_exists().unwrap_or(true) {
        let _ = fs::remove_file(&last);
    }
    outcome
}

/// Returns the path of the last synced version of a text's file. Its name starts with a dot, since it is not a text
/// itself.
fn synced_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".synced-{name}"))
}

/// Returns the path of the version being synced.
fn link_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".link-{name}"))
}

/// Enqueues a text. It replaces an older version if nothing was enqueued in between.
fn push(queue: &mut VecDeque<(String, Option<String>)>, key: String, text: Option<String>) {
    match queue.back_mut() {
        Some(last) if last.0 == key => last.1 = text,
        _ => queue.push_back((key, text)),
    }
}

/// Writes the queue in order until an error occurs. Later texts are neither written nor dropped before that one.
fn write(
    queue: &mut VecDeque<(String, Option<String>)>,
    written: &Sender<SyncRequest>,
    folder: &Path,
    claimed: &mut ClaimedTexts,
) -> io::Result<()> {
    while let Some((key, text)) = queue.front() {
        save(folder, key, text.as_deref())?;
        let _ = written.send(SyncRequest::File(file_name(key)));
        if text.is_none() {
            release(folder, key, claimed);
        }
        queue.pop_front();
    }
    Ok(())
}

/// Claims the text `key` for sending, unless another program has claimed it, and reads its content.
fn claim(folder: &Path, key: &str, claimed: &mut ClaimedTexts) -> Claim {
    let name = file_name(key);
    if !claimed.contains_key(&name) {
        let mut options = fs::File::options();
        options.write(true);
        if let Ok(file) = create_private_folder(folder).and_then(|()| files::open(&claim_path(folder, &name), &options))
        {
            match file.try_lock() {
                Ok(()) => _ = claimed.insert(name.clone(), file),
                Err(fs::TryLockError::WouldBlock) => return Claim::Elsewhere,
                // A file system without locks must not prevent sending.
                Err(fs::TryLockError::Error(_)) => {}
            }
        }
    }
    match files::read_text(&folder.join(&name), MAX_FILE) {
        Ok(content) => Claim::Ours(read(&content).map(|(_, text)| text.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            release(folder, key, claimed);
            Claim::Gone
        }
        Err(_) => Claim::Ours(None),
    }
}

/// The maximum size of a file that is read, in bytes.
const MAX_FILE: u64 = 64 << 20;
/// The prefix of the name of a file that is being written.
const UNFINISHED: &str = ".draft-";
/// The age at which no program can be writing such a file any more.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Releases the claim. A program that claims the text afterwards finds that it is gone.
fn release(folder: &Path, key: &str, claimed: &mut ClaimedTexts) {
    let name = file_name(key);
    if claimed.remove(&name).is_some() {
        let _ = fs::remove_file(claim_path(folder, &name));
    }
}

/// Returns the path of the file whose lock claims a text. Its name starts with a dot, since it is not a text itself.
fn claim_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".claim-{name}"))
}

/// Saves `text` under `key` in `folder`, or drops the saved text if it is `None`. Does not sync.
///
/// # Errors
///
/// Returns the error of the file system. The text saved under the key before is then unchanged.
pub(super) fn save(folder: &Path, key: &str, text: Option<&str>) -> io::Result<()> {
    let name = file_name(key);
    let path = folder.join(&name);
    let Some(text) = text else {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => {
                let _ = fs::remove_file(link_path(folder, &name));
                let _ = fs::remove_file(synced_path(folder, &name));
                outcome
            }
        };
    };
    create_private_folder(folder)?;
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    // The first line contains the key, since the file's name may be truncated, and a checksum.
    writeln!(file, "{MAGIC} {:016x} {}", sum(key, text), key.replace(['\n', '\r'], " "))?;
    file.write_all(text.as_bytes())?;
    file.persist(&path).map_err(|e| e.error)?;
    Ok(())
}

/// Creates the folder with access for its owner only.
pub(super) fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Syncs the folder, without which a renamed or removed file may reappear after a power failure.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

#[derive(Debug, Default)]
pub struct SavedTexts {
    /// The readable texts.
    pub kept: Kept,
    /// Files that are damaged. They are left alone.
    pub damaged: Vec<PathBuf>,
}

pub fn load(folder: &Path) -> SavedTexts {
    let (mut kept, mut damaged) = (Kept::default(), Vec::new());
    let Ok(entries) = fs::read_dir(folder) else { return SavedTexts::default() };
    for entry in entries.flatten() {
        // Files whose name starts with a dot are not texts; those being written when the program ended still have their
        // complete previous version.
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            remove_leftover(&entry);
            continue;
        }
        let is_state = state_files::is_state(&name);
        match read_file(&entry.path()).or_else(|| read_file(&synced_path(folder, &name))) {
            // The name of a file that was set aside differs from that of its key.
            Some((key, _)) if name.strip_suffix(state_files::BACKUP) == Some(&file_name(&key)) => {}
            Some((key, text)) if is_state => state_files::read(&mut kept, &key, &text, &entry.path()),
            Some((key, text)) => match DiskKey::parse(&key) {
                Some(DiskKey::Account { .. }) => kept.account = text,
                _ => _ = kept.texts.insert(key, text),
            },
            None if is_state && name.ends_with(state_files::BACKUP) => {}
            None if is_state => state_files::set_aside(&entry.path()),
            None => damaged.push(entry.path()),
        }
    }
    damaged.sort();
    state_files::migrate(folder, &mut kept);
    SavedTexts { kept, damaged }
}

/// Removes an unfinished file of a killed program, once it is too old for another program to be writing it.
fn remove_leftover(entry: &fs::DirEntry) {
    let written = entry.metadata().and_then(|data| data.modified()).ok();
    let is_old = written.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > LEFTOVER_AGE);
    if is_old && entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
        let _ = fs::remove_file(entry.path());
    }
}

/// Returns the key and the text of the file at `path`, if it is undamaged.
fn read_file(path: &Path) -> Option<(String, String)> {
    let content = files::read_text(path, MAX_FILE).ok()?;
    read(&content).map(|(key, text)| (key.to_owned(), text.to_owned()))
}

/// Returns the key and the text of a file's content, if the checksum matches.
fn read(content: &str) -> Option<(&str, &str)> {
    let (head, text) = content.split_once('\n')?;
    let (sum_said, key) = head.strip_prefix(MAGIC)?.strip_prefix(' ')?.split_once(' ')?;
    (u64::from_str_radix(sum_said, 16).ok()? == sum(key, text)).then_some((key, text))
}

/// Returns the 64-bit FNV-1a checksum of key and text, which is the same in every version of the program.
fn sum(key: &str, text: &str) -> u64 {
    let bytes = key.bytes().chain([b'\n']).chain(text.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

pub(super) fn file_name(key: &str) -> String {
    let mut name = crate::api::endpoint::encode(key);
    // A leading dot marks unfinished files.
    if name.starts_with('.') {
        name.replace_range(..1, "%2E");
    }
    if name.len() > 180 {
        // Long keys differ at their end; a checksum of the whole key keeps them apart.
        name.truncate(150);
        name.push_str(&format!("-{:016x}", sum(key, "")));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_text_is_kept_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let key = "http://h note a/b!12";
        save(folder.path(), key, Some("one\ntwo")).expect("kept");
        assert_eq!(load(folder.path()).kept.texts.get(key).map(String::as_str), Some("one\ntwo"));
        save(folder.path(), key, None).expect("dropped");
        assert!(load(folder.path()).kept.texts.is_empty());
        save(folder.path(), key, None).expect("dropping twice is no error");
    }

    #[test]
    fn old_unfinished_files_are_removed() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let (old, new) = (folder.path().join(".draft-old"), folder.path().join(".draft-new"));
        let claim = folder.path().join(".claim-old");
        for path in [&old, &new, &claim] {
            fs::write(path, "begun").expect("begun");
        }
        let long_ago = std::time::SystemTime::now() - 2 * LEFTOVER_AGE;
        for path in [&old, &claim] {
            let file = fs::File::options().write(true).open(path).expect("it is there");
            file.set_modified(long_ago).expect("made old");
        }
        load(folder.path());
        assert_eq!([old.exists(), new.exists(), claim.exists()], [false, true, true]);
    }

    #[test]
    fn a_damaged_file_is_kept_and_reported() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        save(folder.path(), "a", Some("whole")).expect("kept");
        save(folder.path(), "b", Some("a text that will be cut")).expect("kept");
        let cut = folder.path().join("b");
        let content = fs::read_to_string(&cut).expect("it is there");
        fs::write(&cut, &content[..content.len() - 4]).expect("cut");
        fs::write(folder.path().join("c"), [0xff, 0xfe]).expect("not text");
        fs::write(folder.path().join(".draft-x"), "begun").expect("begun");
        let kept = load(folder.path());
        assert_eq!(kept.kept.texts.into_iter().collect::<Vec<_>>(), [("a".to_owned(), "whole".to_owned())]);
        assert_eq!(kept.damaged, [cut.clone(), folder.path().join("c")]);
        assert!(cut.exists());
    }

    #[test]
    fn after_a_power_cut_the_synced_state_is_used() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let at = |name: &str| folder.path().join(name);
        save(folder.path(), "a", Some("one")).expect("kept");
        sync_all(&mut BTreeSet::from(["a".to_owned()]), folder.path()).expect("synced");
        save(folder.path(), "a", Some("one and two")).expect("kept");
        assert_eq!(load(folder.path()).kept.texts["a"], "one and two", "it is there before it is synced");
        fs::remove_file(at("a")).expect("removed");
        fs::write(at("a"), "").expect("written");
        let kept = load(folder.path());
        assert_eq!((kept.kept.texts["a"].as_str(), kept.damaged.len()), ("one", 0));
        // Dropping a text leaves nothing behind, even if it is synced afterwards.
        save(folder.path(), "a", None).expect("dropped");
        sync_all(&mut BTreeSet::from(["a".to_owned()]), folder.path()).expect("synced");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_text_survives_the_program_and_is_synced_before_sending() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let journal = JournalWriter::start(folder.path().to_owned(), |_| true);
        for words in ["o", "on", "one"] {
            journal.save("a".into(), Some(words.into()));
            journal.written().blocking_recv().expect("written");
            assert_eq!(load(folder.path()).kept.texts["a"], words);
        }
        journal.synced().blocking_recv().expect("synced");
        assert_eq!(read_file(&synced_path(folder.path(), "a")).map(|(_, text)| text).as_deref(), Some("one"));
        journal.finish();
    }

    #[test]
    fn long_keys_have_distinct_files() {
        let long = "x".repeat(300);
        assert_ne!(file_name(&format!("{long}1")), file_name(&format!("{long}2")));
        assert!(!file_name(".key").starts_with('.'));
    }

    /// Uses a folder that cannot be created until the file in its place is removed.
    #[test]
    fn failed_writes_are_retried_in_order_and_reported_once() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let place = folder.path().join("drafts");
        fs::write(&place, "in the way").expect("written");
        let heard: Arc<Mutex<Vec<Result<(), String>>>> = Arc::default();
        let ears = heard.clone();
        let journal = JournalWriter::start(place.clone(), move |news| {
            ears.lock().expect("not poisoned").push(news);
            true
        });
        journal.save("new".into(), Some("the text".into()));
        journal.save("old".into(), None);
        journal.synced().blocking_recv().expect("tried");
        journal.save("new".into(), Some("the text, longer".into()));
        journal.synced().blocking_recv().expect("tried");
        assert!(matches!(heard.lock().expect("not poisoned").as_slice(), [Err(_)]));
        fs::remove_file(&place).expect("out of the way");
        journal.finish();
        assert_eq!(load(&place).kept.texts.get("new").map(String::as_str), Some("the text, longer"));
        assert!(matches!(heard.lock().expect("not poisoned").as_slice(), [Err(_), Ok(())]));
    }

    #[test]
    fn a_text_is_sent_by_one_process_only() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let start = || JournalWriter::start(folder.path().to_owned(), |_| true);
        let claim = |journal: &JournalWriter| journal.claim("draft".into()).blocking_recv().expect("answered");
        let (one, two) = (start(), start());
        one.save("draft".into(), Some("words".into()));
        assert_eq!(claim(&one), Claim::Ours(Some("words".into())));
        assert_eq!(claim(&one), Claim::Ours(Some("words".into())));
        assert_eq!(claim(&two), Claim::Elsewhere);
        // A text that was sent and dropped by the first is gone for the second.
        one.save("draft".into(), None);
        one.synced().blocking_recv().expect("tried");
        assert_eq!(claim(&two), Claim::Gone);
        one.save("draft".into(), Some("other words".into()));
        assert_eq!(claim(&one), Claim::Ours(Some("other words".into())));
        // When a program ends, even by being killed, its claims are released.
        one.finish();
        assert_eq!(claim(&two), Claim::Ours(Some("other words".into())));
        two.finish();
        assert_eq!(load(folder.path()).kept.texts.len(), 1);
    }

    #[test]
    fn a_text_sent_by_another_process_stays_claimed() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let start = || JournalWriter::start(folder.path().to_owned(), |_| true);
        let claim = |journal: &JournalWriter| journal.claim("draft".into()).blocking_recv().expect("answered");
        let (one, two, three) = (start(), start(), start());
        one.save("draft".into(), Some("words".into()));
        assert_eq!(claim(&one), Claim::Ours(Some("words".into())));
        two.save("draft".into(), None);
        two.synced().blocking_recv().expect("tried");
        one.save("draft".into(), Some("words".into()));
        one.synced().blocking_recv().expect("tried");
        assert_eq!(claim(&three), Claim::Elsewhere);
        // Sending leaves nothing behind.
        one.save("draft".into(), None);
        for journal in [one, two, three] {
            journal.finish();
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    /// Uses a text whose file cannot be written because a folder has its name.
    #[test]
    fn a_failed_write_does_not_affect_other_texts() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let (told, news) = channel();
        let journal = JournalWriter::start(folder.path().to_owned(), move |change| told.send(change).is_ok());
        let claim = |key: &str| journal.claim(key.into()).blocking_recv().expect("answered");
        journal.save("written".into(), Some("words".into()));
        journal.save("older".into(), Some("of before".into()));
        journal.synced().blocking_recv().expect("tried");
        fs::create_dir_all(folder.path().join("refused")).expect("in the way");
        journal.save("refused".into(), Some("words".into()));
        journal.save("older".into(), Some("of now".into()));
        assert_eq!(claim("written"), Claim::Ours(Some("words".into())));
        assert_eq!(claim("older"), Claim::Ours(None), "what is on disk of it says nothing");
        assert!(matches!(news.recv(), Ok(Err(_))));
        // Writing is retried without a further request.
        fs::remove_dir(folder.path().join("refused")).expect("out of the way");
        let again = news.recv_timeout(Duration::from_secs(60));
        assert!(matches!(again, Ok(Ok(()))), "the disk takes texts again, and nobody says so: {again:?}");
        assert_eq!(load(folder.path()).kept.texts.len(), 3);
        journal.finish();
    }
}
