//! Texts that the user typed, on disk until the server has them: one file each, written whole, then synced.
//!
//! A thread of its own writes them in the order in which they were typed: from then on they outlive the program,
//! however it ends. The files of the state are written in the same way. Of several states of one text that wait, only
//! the last is written. What the disk refuses stays in memory and is tried again. A second thread syncs what was
//! written, so that a slow disk does not hold up the next letter; until a file is synced, a link keeps the state of it
//! that was, for a power cut.

use super::state_files;
use crate::app::outbox::Claim;
use crate::app::state::{Kept, StateFile};
use crate::system::files;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long to wait before what could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(3);
/// What the first line of a saved text begins with.
const MAGIC: &str = "labscope-kept-1";

/// What the thread is told.
enum Job {
    Keep(String, Option<String>),
    /// A file of the state of an account.
    State(String, StateFile),
    /// Answered when everything before it was written, or refused by the disk.
    Written(oneshot::Sender<()>),
    /// Answered when everything before it was synced, or refused by the disk.
    Reached(oneshot::Sender<()>),
    /// Answered with whose the text is to send.
    Claim(String, oneshot::Sender<Claim>),
}

/// What the thread that syncs is told.
enum Written {
    /// The file of that name is another now, or gone.
    File(String),
    /// Answered when everything before it was tried.
    Reached(oneshot::Sender<()>),
}

/// Texts that no other program may send while this one runs: the locked files that say so, by the names of the texts'
/// files.
type ClaimedTexts = HashMap<String, fs::File>;

/// Writes texts, on a thread of its own: a slow disk holds up nobody.
pub struct JournalWriter {
    jobs: Sender<Job>,
    threads: [JoinHandle<()>; 2],
}

impl JournalWriter {
    /// Begins; `told` hears why the disk refuses a text, and that it takes them again. It says whether it could be
    /// told.
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

    /// Keeps `text` under `key`; `None` drops it.
    pub fn keep(&self, key: String, text: Option<String>) {
        let _ = self.jobs.send(Job::Keep(key, text));
    }

    /// Writes a file of the state of an account.
    pub fn keep_state(&self, account: &str, file: StateFile) {
        let _ = self.jobs.send(Job::State(account.to_owned(), file));
    }

    /// Resolves when all that was to be kept until now is written, so that it outlives the program, or was refused.
    pub fn written(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.jobs.send(Job::Written(sender));
        receiver
    }

    /// Resolves when all that was to be kept until now is on disk, or was refused by it.
    pub fn reached(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.jobs.send(Job::Reached(sender));
        receiver
    }

    /// Returns whether the text `key` is ours to send, once all that was to be kept until now was tried. It stays ours
    /// until it is dropped, or the program ends: a lock on a file says so, which goes with the program, whatever ends
    /// it.
    pub fn claim(&self, key: String) -> oneshot::Receiver<Claim> {
        let (sender, receiver) = oneshot::channel();
        let _ = self.jobs.send(Job::Claim(key, sender));
        receiver
    }

    /// Ends it, when all is written or was refused once more. Blocks.
    pub fn finish(self) {
        drop(self.jobs);
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// What the user was told last: whether the disk takes texts.
struct News<'a, T> {
    folder: &'a Path,
    on_change: &'a T,
    refuses: bool,
}

impl<'a, T: Fn(Result<(), String>) -> bool> News<'a, T> {
    fn new(folder: &'a Path, on_change: &'a T) -> News<'a, T> {
        News { folder, on_change, refuses: false }
    }

    /// Tells it where it is news.
    fn tell(&mut self, outcome: io::Result<()>) {
        let news = outcome.map_err(|error| format!("{}: {error}", self.folder.display()));
        let refuses = news.is_err();
        if refuses != self.refuses && (self.on_change)(news) {
            self.refuses = refuses;
        }
    }
}

/// The next job; after a while none, where something waits to be tried again. An error where nobody gives any more.
fn next<T>(inbox: &Receiver<T>, waits: bool) -> Result<Option<T>, RecvTimeoutError> {
    match waits {
        true => match inbox.recv_timeout(AGAIN) {
            Err(RecvTimeoutError::Timeout) => Ok(None),
            other => other.map(Some),
        },
        false => inbox.recv().map(Some).map_err(RecvTimeoutError::from),
    }
}

fn work(
    inbox: &Receiver<Job>,
    written: &Sender<Written>,
    folder: &Path,
    on_change: &impl Fn(Result<(), String>) -> bool,
) {
    let mut queue: VecDeque<(String, Option<String>)> = VecDeque::new();
    let mut news = News::new(folder, on_change);
    let mut held = ClaimedTexts::new();
    let mut open = true;
    while open {
        let (mut waiting, mut reached, mut claims) = (Vec::new(), Vec::new(), Vec::new());
        match next(inbox, !queue.is_empty()) {
            Ok(first) => {
                for job in first.into_iter().chain(inbox.try_iter()) {
                    match job {
                        Job::Keep(key, text) => push(&mut queue, key, text),
                        Job::State(account, file) => {
                            push(&mut queue, StateFile::key(file.name(), &account), Some(file.to_json()));
                        }
                        Job::Written(sender) => waiting.push(sender),
                        Job::Reached(sender) => reached.push(sender),
                        Job::Claim(key, sender) => claims.push((key, sender)),
                    }
                }
            }
            Err(_) => open = false,
        }
        news.tell(write(&mut queue, written, folder, &mut held));
        for sender in waiting {
            let _ = sender.send(());
        }
        for sender in reached {
            let _ = written.send(Written::Reached(sender));
        }
        for (key, sender) in claims {
            // What the disk does not take says nothing of who has it.
            let unwritten = queue.iter().any(|(waiting, _)| *waiting == key);
            let _ = sender.send(if unwritten { Claim::Ours(None) } else { claim(folder, &key, &mut held) });
        }
    }
}

/// Syncs what was written.
fn sync(inbox: &Receiver<Written>, folder: &Path, on_change: &impl Fn(Result<(), String>) -> bool) {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut news = News::new(folder, on_change);
    let mut open = true;
    while open {
        let mut reached = Vec::new();
        match next(inbox, !names.is_empty()) {
            Ok(first) => {
                for job in first.into_iter().chain(inbox.try_iter()) {
                    match job {
                        Written::File(name) => _ = names.insert(name),
                        Written::Reached(sender) => reached.push(sender),
                    }
                }
            }
            Err(_) => open = false,
        }
        news.tell(sync_all(&mut names, folder));
        for sender in reached {
            let _ = sender.send(());
        }
    }
}

/// Syncs the files of these names, and their folder; those that are done are taken out.
pub(super) fn sync_all(names: &mut BTreeSet<String>, folder: &Path) -> io::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    for name in &*names {
        match synced(folder, name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // One that is gone is so when the folder is on disk.
            _ => {}
        }
    }
    synced_folder(folder)?;
    names.clear();
    Ok(())
}

/// Syncs a file, and keeps a link to what is on disk now, until a later state of it is.
fn synced(folder: &Path, name: &str) -> io::Result<()> {
    let (path, last, link) = (folder.join(name), synced_of(folder, name), link_of(folder, name));
    let _ = fs::remove_file(&link);
    // Of a disk that knows no links, the file itself has to do.
    let linked = fs::hard_link(&path, &link).is_ok();
    let outcome = fs::File::open(if linked { &link } else { &path }).and_then(|file| file.sync_all());
    match (linked, &outcome) {
        (true, Ok(())) => fs::rename(&link, &last)?,
        (true, Err(_)) => _ = fs::remove_file(&link),
        (false, _) => {}
    }
    // It may have been dropped in the middle.
    if !path.try_exists().unwrap_or(true) {
        let _ = fs::remove_file(&last);
    }
    outcome
}

/// The state of a text's file that is known to be on disk. It begins with a dot: it is no text itself.
fn synced_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".synced-{name}"))
}

/// The state that is being synced.
fn link_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".link-{name}"))
}

/// Puts a text in line; an older state of it is passed over where nothing was kept in between.
fn push(queue: &mut VecDeque<(String, Option<String>)>, key: String, text: Option<String>) {
    match queue.back_mut() {
        Some(last) if last.0 == key => last.1 = text,
        _ => queue.push_back((key, text)),
    }
}

/// Writes what waits, in order, until the disk refuses one: nothing behind it is written, or dropped, before it.
fn write(
    queue: &mut VecDeque<(String, Option<String>)>,
    written: &Sender<Written>,
    folder: &Path,
    held: &mut ClaimedTexts,
) -> io::Result<()> {
    while let Some((key, text)) = queue.front() {
        keep(folder, key, text.as_deref())?;
        let _ = written.send(Written::File(file_name(key)));
        if text.is_none() {
            release(folder, key, held);
        }
        queue.pop_front();
    }
    Ok(())
}

/// Takes the right to send the text `key`, where no other program has it, and reads what is there of it.
fn claim(folder: &Path, key: &str, held: &mut ClaimedTexts) -> Claim {
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

/// How the name of a file begins that is being written.
const UNFINISHED: &str = ".draft-";
/// How old such a file is before nobody can be writing it any more.
const LEFTOVER_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Gives that right back. Whoever takes it then finds no text.
fn release(folder: &Path, key: &str, held: &mut ClaimedTexts) {
    let name = file_name(key);
    if held.remove(&name).is_some() {
        let _ = fs::remove_file(claim_of(folder, &name));
    }
}

/// The file whose lock says who has a text. It begins with a dot: it is no text itself.
fn claim_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".claim-{name}"))
}

/// Keeps `text` under `key` in `folder`; `None` drops it. It is not synced yet.
///
/// # Errors
/// Those of the disk; what was kept under the key before is still there.
pub(super) fn keep(folder: &Path, key: &str, text: Option<&str>) -> io::Result<()> {
    let name = file_name(key);
    let path = folder.join(&name);
    let Some(text) = text else {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => {
                let _ = fs::remove_file(link_of(folder, &name));
                let _ = fs::remove_file(synced_of(folder, &name));
                outcome
            }
        };
    };
    private(folder)?;
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    // The first line tells the key, so that the file's name may be shortened, and what the text must add up to.
    writeln!(file, "{MAGIC} {:016x} {}", sum(key, text), key.replace(['\n', '\r'], " "))?;
    file.write_all(text.as_bytes())?;
    file.persist(&path).map_err(|e| e.error)?;
    Ok(())
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
fn synced_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

/// All that is kept in a folder.
#[derive(Debug, Default)]
pub struct SavedTexts {
    /// What can be read.
    pub kept: Kept,
    /// Files that are not as they were written. They are left alone.
    pub damaged: Vec<PathBuf>,
}

/// Reads all that is kept in `folder`.
pub fn load(folder: &Path) -> SavedTexts {
    let (mut kept, mut damaged) = (Kept::default(), Vec::new());
    let Ok(entries) = fs::read_dir(folder) else { return SavedTexts::default() };
    for entry in entries.flatten() {
        // What begins with a dot was cut off while it was written: the state before it is there whole.
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            remove_leftover(&entry);
            continue;
        }
        let is_state = state_files::is_state(&name);
        match whole(&entry.path()).or_else(|| whole(&synced_of(folder, &name))) {
            // What was set aside has another name than its key says.
            Some((key, _)) if name.strip_suffix(state_files::BACKUP) == Some(&file_name(&key)) => {}
            Some((key, text)) if is_state => state_files::read(&mut kept, &key, &text, &entry.path()),
            Some((key, text)) if key.starts_with("account ") => kept.account = text,
            Some((key, text)) => _ = kept.texts.insert(key, text),
            None if is_state && name.ends_with(state_files::BACKUP) => {}
            None if is_state => state_files::set_aside(&entry.path()),
            None => damaged.push(entry.path()),
        }
    }
    damaged.sort();
    state_files::migrate(folder, &mut kept);
    SavedTexts { kept, damaged }
}

/// Removes what a killed program began to write, once it is too old for another program to be writing it now.
fn remove_leftover(entry: &fs::DirEntry) {
    let written = entry.metadata().and_then(|data| data.modified()).ok();
    let is_old = written.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > LEFTOVER_AGE);
    if is_old && entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
        let _ = fs::remove_file(entry.path());
    }
}

/// Key and text of the file at `path`, if it is as it was written.
fn whole(path: &Path) -> Option<(String, String)> {
    let content = fs::read_to_string(path).ok()?;
    read(&content).map(|(key, text)| (key.to_owned(), text.to_owned()))
}

/// Key and text of a file, if they are what was written.
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

/// The name of the file of the text `key`.
pub(super) fn file_name(key: &str) -> String {
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
        assert_eq!(load(folder.path()).kept.texts.get(key).map(String::as_str), Some("one\ntwo"));
        keep(folder.path(), key, None).expect("dropped");
        assert!(load(folder.path()).kept.texts.is_empty());
        keep(folder.path(), key, None).expect("dropping twice is no error");
    }

    #[test]
    fn what_a_killed_program_began_to_write_is_removed_once_it_is_old() {
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
        assert_eq!(kept.kept.texts.into_iter().collect::<Vec<_>>(), [("a".to_owned(), "whole".to_owned())]);
        assert_eq!(kept.damaged, [cut.clone(), folder.path().join("c")]);
        assert!(cut.exists());
    }

    #[test]
    fn a_state_that_a_power_cut_spoils_gives_way_to_the_one_that_was_synced() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let at = |name: &str| folder.path().join(name);
        keep(folder.path(), "a", Some("one")).expect("kept");
        sync_all(&mut BTreeSet::from(["a".to_owned()]), folder.path()).expect("synced");
        keep(folder.path(), "a", Some("one and two")).expect("kept");
        assert_eq!(load(folder.path()).kept.texts["a"], "one and two", "it is there before it is synced");
        fs::remove_file(at("a")).expect("removed");
        fs::write(at("a"), "").expect("written");
        let kept = load(folder.path());
        assert_eq!((kept.kept.texts["a"].as_str(), kept.damaged.len()), ("one", 0));
        // What is dropped leaves nothing behind, whatever is synced when.
        keep(folder.path(), "a", None).expect("dropped");
        sync_all(&mut BTreeSet::from(["a".to_owned()]), folder.path()).expect("synced");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn a_text_outlives_the_program_before_it_is_synced_and_is_synced_before_it_is_sent() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let keeper = JournalWriter::start(folder.path().to_owned(), |_| true);
        for words in ["o", "on", "one"] {
            keeper.keep("a".into(), Some(words.into()));
            keeper.written().blocking_recv().expect("written");
            assert_eq!(load(folder.path()).kept.texts["a"], words);
        }
        keeper.reached().blocking_recv().expect("synced");
        assert_eq!(whole(&synced_of(folder.path(), "a")).map(|(_, text)| text).as_deref(), Some("one"));
        keeper.finish();
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
        let keeper = JournalWriter::start(place.clone(), move |news| {
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
        assert_eq!(load(&place).kept.texts.get("new").map(String::as_str), Some("the text, longer"));
        assert!(matches!(heard.lock().expect("not poisoned").as_slice(), [Err(_), Ok(())]));
    }

    #[test]
    fn a_text_is_sent_by_one_program_alone() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let start = || JournalWriter::start(folder.path().to_owned(), |_| true);
        let claim = |keeper: &JournalWriter| keeper.claim("draft".into()).blocking_recv().expect("answered");
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
        assert_eq!(load(folder.path()).kept.texts.len(), 1);
    }

    #[test]
    fn what_another_program_sends_stays_its_own_though_the_text_is_dropped_here() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let start = || JournalWriter::start(folder.path().to_owned(), |_| true);
        let claim = |keeper: &JournalWriter| keeper.claim("draft".into()).blocking_recv().expect("answered");
        let (one, two, three) = (start(), start(), start());
        one.keep("draft".into(), Some("words".into()));
        assert_eq!(claim(&one), Claim::Ours(Some("words".into())));
        two.keep("draft".into(), None);
        two.reached().blocking_recv().expect("tried");
        one.keep("draft".into(), Some("words".into()));
        one.reached().blocking_recv().expect("tried");
        assert_eq!(claim(&three), Claim::Elsewhere);
        // Sent, it leaves nothing behind.
        one.keep("draft".into(), None);
        for keeper in [one, two, three] {
            keeper.finish();
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    /// A text whose file cannot be written, since a folder has its name.
    #[test]
    fn while_the_disk_refuses_one_text_what_is_on_it_of_others_still_holds() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let (told, news) = channel();
        let keeper = JournalWriter::start(folder.path().to_owned(), move |change| told.send(change).is_ok());
        let claim = |key: &str| keeper.claim(key.into()).blocking_recv().expect("answered");
        keeper.keep("written".into(), Some("words".into()));
        keeper.keep("older".into(), Some("of before".into()));
        keeper.reached().blocking_recv().expect("tried");
        fs::create_dir_all(folder.path().join("refused")).expect("in the way");
        keeper.keep("refused".into(), Some("words".into()));
        keeper.keep("older".into(), Some("of now".into()));
        assert_eq!(claim("written"), Claim::Ours(Some("words".into())));
        assert_eq!(claim("older"), Claim::Ours(None), "what is on disk of it says nothing");
        assert!(matches!(news.recv(), Ok(Err(_))));
        // It is tried again without a word from anybody.
        fs::remove_dir(folder.path().join("refused")).expect("out of the way");
        let again = news.recv_timeout(Duration::from_secs(60));
        assert!(matches!(again, Ok(Ok(()))), "the disk takes texts again, and nobody says so: {again:?}");
        assert_eq!(load(folder.path()).kept.texts.len(), 3);
        keeper.finish();
    }
}
