//! Texts that a person typed, on disk until the server has them: one file each, written whole and synced.
//!
//! A thread of its own writes them in the order in which they were typed, as fast as the disk takes them; of several
//! states of one text that wait, only the last is written. What the disk refuses stays in memory and is tried again.

use crate::app::outbox::Claim;
use crate::system::files;
use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long to wait before what could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(3);
/// What the first line of a kept text begins with.
const MAGIC: &str = "labscope-kept-1";

/// What the thread is told.
enum Job {
    Keep(String, Option<String>),
    /// Answered when everything before it was tried.
    Reached(oneshot::Sender<()>),
    /// Answered with whose the text is to send.
    Claim(String, oneshot::Sender<Claim>),
}

/// Texts that no other program may send while this one runs: the locked files that say so, by the names of the texts' files.
type Held = HashMap<String, fs::File>;

/// Writes texts, on a thread of its own: a slow disk holds up nobody.
pub struct Keeper {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
}

impl Keeper {
    /// Begins; `told` hears why the disk refuses a text, and that it takes them again. It says whether it could be told.
    pub fn start(folder: PathBuf, told: impl Fn(Result<(), String>) -> bool + Send + 'static) -> Keeper {
        let (jobs, inbox) = channel();
        let thread = std::thread::spawn(move || work(&inbox, &folder, &told));
        Keeper { jobs, thread }
    }

    /// Keeps `text` under `key`; `None` drops it.
    pub fn keep(&self, key: String, text: Option<String>) {
        let _ = self.jobs.send(Job::Keep(key, text));
    }

    /// Resolves when all that was to be kept until now is on disk, or was refused by it.
    pub fn reached(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.jobs.send(Job::Reached(sender));
        receiver
    }

    /// Whether the text `key` is ours to send, once all that was to be kept until now was tried. It stays ours until it is
    /// dropped, or the program ends: a lock on a file says so, which goes with the program, whatever ends it.
    pub fn claim(&self, key: String) -> oneshot::Receiver<Claim> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.jobs.send(Job::Claim(key, sender));
        receiver
    }

    /// Ends it, when all is written or was refused once more. Blocks.
    pub fn finish(self) {
        drop(self.jobs);
        let _ = self.thread.join();
    }
}

fn work(inbox: &Receiver<Job>, folder: &Path, told: &impl Fn(Result<(), String>) -> bool) {
    let mut queue: VecDeque<(String, Option<String>)> = VecDeque::new();
    // What the person was told last: whether the disk takes texts.
    let mut said: Option<String> = None;
    let mut held = Held::new();
    let mut open = true;
    while open {
        let first = if queue.is_empty() {
            inbox.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            inbox.recv_timeout(AGAIN)
        };
        let (mut waiting, mut claims) = (Vec::new(), Vec::new());
        match first {
            Ok(job) => {
                for job in std::iter::once(job).chain(inbox.try_iter()) {
                    match job {
                        Job::Keep(key, text) => push(&mut queue, key, text),
                        Job::Reached(sender) => waiting.push(sender),
                        Job::Claim(key, sender) => claims.push((key, sender)),
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => open = false,
        }
        let outcome = write(&mut queue, folder, &mut held);
        let now = outcome.err().map(|error| format!("{}: {error}", folder.display()));
        if now.is_some() != said.is_some() && told(now.clone().map_or(Ok(()), Err)) {
            said = now;
        }
        for sender in waiting {
            let _ = sender.send(());
        }
        for (key, sender) in claims {
            // What the disk does not take says nothing of who has it.
            let unwritten = queue.iter().any(|(waiting, _)| *waiting == key);
            let _ = sender.send(if unwritten { Claim::Ours(None) } else { claim(folder, &key, &mut held) });
        }
    }
}

/// Puts a text in line; an older state of it is passed over where nothing was kept in between.
fn push(queue: &mut VecDeque<(String, Option<String>)>, key: String, text: Option<String>) {
    match queue.back_mut() {
        Some(last) if last.0 == key => last.1 = text,
        _ => queue.push_back((key, text)),
    }
}

/// Writes what waits, in order, until the disk refuses one: nothing behind it is written, or dropped, before it.
fn write(queue: &mut VecDeque<(String, Option<String>)>, folder: &Path, held: &mut Held) -> io::Result<()> {
    while let Some((key, text)) = queue.front() {
        keep(folder, key, text.as_deref())?;
        if text.is_none() {
            release(folder, key, held);
        }
        queue.pop_front();
    }
    Ok(())
}

/// Takes the right to send the text `key`, where no other program has it, and reads what is there of it.
fn claim(folder: &Path, key: &str, held: &mut Held) -> Claim {
    let name = file_name(key);
    if !held.contains_key(&name) {
        let mut options = fs::File::options();
        options.write(true);
        if let Ok(file) = private(folder).and_then(|()| files::open(&claim_of(folder, &name), &options)) {
            match file.try_lock() {
                Ok(()) => _ = held.insert(name.clone(), file),
                Err(fs::TryLockError::WouldBlock) => return Claim::Elsewhere,
                // A disk that knows no locks holds nobody up.
                Err(fs::TryLockError::Error(_)) => {}
            }
        }
    }
    match fs::read_to_string(folder.join(&name)) {
        Ok(content) => Claim::Ours(read(&content).map(|(_, text)| text.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            release(folder, key, held);
            Claim::Gone
        }
        Err(_) => Claim::Ours(None),
    }
}

/// Gives that right back. Whoever takes it then finds no text.
fn release(folder: &Path, key: &str, held: &mut Held) {
    let name = file_name(key);
    if held.remove(&name).is_some() {
        let _ = fs::remove_file(claim_of(folder, &name));
    }
}

/// The file whose lock says who has a text. It begins with a dot: it is no text itself.
fn claim_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".claim-{name}"))
}

/// Keeps `text` under `key` in `folder`; `None` drops it.
///
/// # Errors
/// Those of the disk; what was kept under the key before is still there.
pub fn keep(folder: &Path, key: &str, text: Option<&str>) -> io::Result<()> {
    let path = folder.join(file_name(key));
    let Some(text) = text else {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => synced(folder),
        };
    };
    private(folder)?;
    let mut file = tempfile::Builder::new().prefix(".draft-").tempfile_in(folder)?;
    // The first line tells the key, so that the file's name may be shortened, and what the text must add up to.
    writeln!(file, "{MAGIC} {:016x} {}", sum(key, text), key.replace(['\n', '\r'], " "))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|e| e.error)?;
    synced(folder)
}

/// Makes the folder, for nobody else to look into.
pub(super) fn private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// A file that was moved into its place, or removed, is so after a power cut only when the folder is on disk.
fn synced(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

/// All texts that are kept in a folder.
#[derive(Debug, Default)]
pub struct Kept {
    /// By key.
    pub texts: HashMap<String, String>,
    /// Files that are not as they were written. They are left alone.
    pub damaged: Vec<PathBuf>,
}

/// All texts that are kept in `folder`.
pub fn load(folder: &Path) -> Kept {
    let mut kept = Kept::default();
    let Ok(entries) = fs::read_dir(folder) else { return kept };
    for entry in entries.flatten() {
        // What begins with a dot was cut off while it was written: the state before it is there whole.
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match fs::read_to_string(entry.path()).ok().as_deref().and_then(read) {
            Some((key, text)) => _ = kept.texts.insert(key.to_owned(), text.to_owned()),
            None => kept.damaged.push(entry.path()),
        }
    }
    kept.damaged.sort();
    kept
}

/// Key and text of a file, where they are what was written.
fn read(content: &str) -> Option<(&str, &str)> {
    let (head, text) = content.split_once('\n')?;
    let (sum_said, key) = head.strip_prefix(MAGIC)?.strip_prefix(' ')?.split_once(' ')?;
    (u64::from_str_radix(sum_said, 16).ok()? == sum(key, text)).then_some((key, text))
}

/// The 64-bit FNV-1a sum of key and text: the same in every version of the program.
fn sum(key: &str, text: &str) -> u64 {
    let bytes = key.bytes().chain([b'\n']).chain(text.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn file_name(key: &str) -> String {
    let mut name = crate::api::endpoint::encode(key);
    // A dot in front would mean a file that was not finished.
    if name.starts_with('.') {
        name.replace_range(..1, "%2E");
    }
    if name.len() > 180 {
        // Long keys differ at their end; a sum of the whole keeps them apart.
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
    fn a_text_is_there_again_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let key = "http://h note a/b!12";
        keep(folder.path(), key, Some("one\ntwo")).expect("kept");
        assert_eq!(load(folder.path()).texts.get(key).map(String::as_str), Some("one\ntwo"));
        keep(folder.path(), key, None).expect("dropped");
        assert!(load(folder.path()).texts.is_empty());
        keep(folder.path(), key, None).expect("dropping twice is no error");
    }

    #[test]
    fn a_damaged_file_is_left_alone_and_named() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        keep(folder.path(), "a", Some("whole")).expect("kept");
        keep(folder.path(), "b", Some("a text that will be cut")).expect("kept");
        let cut = folder.path().join("b");
        let content = fs::read_to_string(&cut).expect("it is there");
        fs::write(&cut, &content[..content.len() - 4]).expect("cut");
        fs::write(folder.path().join("c"), [0xff, 0xfe]).expect("not text");
        fs::write(folder.path().join(".draft-x"), "begun").expect("begun");
        let kept = load(folder.path());
        assert_eq!(kept.texts.into_iter().collect::<Vec<_>>(), [("a".to_owned(), "whole".to_owned())]);
        assert_eq!(kept.damaged, [cut.clone(), folder.path().join("c")]);
        assert!(cut.exists());
    }

    #[test]
    fn long_keys_that_differ_at_their_end_have_files_of_their_own() {
        let long = "x".repeat(300);
        assert_ne!(file_name(&format!("{long}1")), file_name(&format!("{long}2")));
        assert!(!file_name(".key").starts_with('.'));
    }

    /// A folder that cannot be made, until the file in its place is taken away.
    #[test]
    fn what_the_disk_refuses_is_tried_again_in_order_and_said_once() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let place = folder.path().join("drafts");
        fs::write(&place, "in the way").expect("written");
        let heard: Arc<Mutex<Vec<Result<(), String>>>> = Arc::default();
        let ears = heard.clone();
        let keeper = Keeper::start(place.clone(), move |news| {
            ears.lock().expect("not poisoned").push(news);
            true
        });
        keeper.keep("new".into(), Some("the text".into()));
        keeper.keep("old".into(), None);
        keeper.reached().blocking_recv().expect("tried");
        keeper.keep("new".into(), Some("the text, longer".into()));
        keeper.reached().blocking_recv().expect("tried");
        assert!(matches!(heard.lock().expect("not poisoned").as_slice(), [Err(_)]));
        fs::remove_file(&place).expect("out of the way");
        keeper.finish();
        assert_eq!(load(&place).texts.get("new").map(String::as_str), Some("the text, longer"));
        assert!(matches!(heard.lock().expect("not poisoned").as_slice(), [Err(_), Ok(())]));
    }

    #[test]
    fn a_text_is_sent_by_one_program_alone() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let start = || Keeper::start(folder.path().to_owned(), |_| true);
        let claim = |keeper: &Keeper| keeper.claim("draft".into()).blocking_recv().expect("answered");
        let (one, two) = (start(), start());
        one.keep("draft".into(), Some("words".into()));
        assert_eq!(claim(&one), Claim::Ours(Some("words".into())));
        assert_eq!(claim(&one), Claim::Ours(Some("words".into())));
        assert_eq!(claim(&two), Claim::Elsewhere);
        // Sent and dropped by the first, it is not there for the second.
        one.keep("draft".into(), None);
        one.reached().blocking_recv().expect("tried");
        assert_eq!(claim(&two), Claim::Gone);
        one.keep("draft".into(), Some("other words".into()));
        assert_eq!(claim(&one), Claim::Ours(Some("other words".into())));
        // What ends one program, a kill too, gives it free.
        one.finish();
        assert_eq!(claim(&two), Claim::Ours(Some("other words".into())));
        two.finish();
        assert_eq!(load(folder.path()).texts.len(), 1);
    }
}
