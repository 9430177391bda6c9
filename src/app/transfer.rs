//! Transfers: downloads to a file in the background, with their request, progress and rate.

use api::Request;
use jiff::Timestamp;
use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;
use ui::{glyph, text};

/// The number of seconds over which the rate is measured: long enough to be steady, short enough to be current.
const RATE_SECONDS: f64 = 6.0;
/// The maximum number of measurements in the window.
const MAX_SAMPLES: usize = 64;
/// The maximum number of listed transfers; beyond that, ended ones are removed.
const MAX_LISTED: usize = 50;

/// A download that can be saved.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTransfer {
    /// The request that returns the bytes.
    pub request: Request,
    /// The suggested name of the file, as given by a server or a path; see [`file_name`].
    pub name: String,
    /// The number of bytes, if known: any other number is an error.
    pub size: Option<u64>,
    /// The way to unpack the bytes after the download; `None` to keep them as a file.
    pub unpack: Option<Unpack>,
}

/// A callback that receives the number of unpacked bytes and the total, and returns whether to continue.
pub type OnUnpackProgress<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// A function that unpacks a folder of an archive into another one, which is new and empty; the error is the reason.
pub type Unpacker =
    fn(archive: &File, folder: &str, into: &Path, tell: OnUnpackProgress<'_>) -> Result<Unpacked, String>;

/// An archive that is unpacked instead of kept.
#[derive(Clone)]
pub struct Unpack {
    /// The folder of the archive to unpack; empty for the whole archive.
    pub folder: String,
    /// The function that unpacks it, on a worker thread.
    pub run: Unpacker,
}

impl PartialEq for Unpack {
    fn eq(&self, other: &Unpack) -> bool {
        self.folder == other.folder
    }
}

impl std::fmt::Debug for Unpack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Unpack({:?})", self.folder)
    }
}

/// The result of unpacking an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// The number of unpacked files.
    pub files: usize,
    /// The number of bytes in them.
    pub bytes: u64,
    /// The entries that were skipped, and why: `../x (unsafe path)`.
    pub left_out: Vec<String>,
}

impl NewTransfer {
    /// Creates a download of the reply to `request`, under the name `name`.
    pub fn new(request: Request, name: &str) -> NewTransfer {
        NewTransfer { request, name: file_name(name), size: None, unpack: None }
    }

    /// Sets the expected number of bytes.
    pub fn size(mut self, bytes: u64) -> NewTransfer {
        self.size = Some(bytes);
        self
    }

    /// Unpacks `folder` of the archive, instead of keeping the archive.
    pub fn unpacked(mut self, folder: &str, run: Unpacker) -> NewTransfer {
        self.unpack = Some(Unpack { folder: folder.to_owned(), run });
        self
    }
}

/// Returns a file name that is valid on every system, made from a name given by a server: the last part of a path,
/// sanitized by [`plain_name`], and never a hidden file.
pub fn file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
    let name = plain_name(last);
    // File systems limit the number of bytes, and a prefix and a suffix may be added.
    let fits = name.char_indices().take_while(|(at, c)| at + c.len_utf8() <= 200).count();
    let name: String = name.chars().take(fits).collect();
    let name = name.trim_matches([' ', '.']);
    if name.is_empty() { "download".into() } else { name.to_owned() }
}

/// Sanitizes one part of a path that a server or an archive gives: replaces everything that hides, reorders, or has a
/// meaning for a file system.
pub fn plain_name(name: &str) -> String {
    let fit = |c: char| if c.is_control() || text::is_invisible(c) || "<>:\"/\\|?*".contains(c) { '_' } else { c };
    let name: String = name.chars().map(fit).collect();
    // These are devices on some systems, whatever follows the first dot.
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = |port: &str| stem.strip_prefix(port).is_some_and(|n| matches!(n.as_bytes(), [b'1'..=b'9']));
    let is_device = matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT");
    if is_device { format!("_{name}") } else { name }
}

/// A download with its destination on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct TransferSpec {
    /// The download.
    pub download: NewTransfer,
    /// The path of the file or folder, as typed by the user.
    pub path: String,
    /// Whether an existing file may be replaced.
    pub replace: bool,
}

/// An event of a transfer, sent by the runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum TransferEvent {
    /// A file with that name already exists.
    Exists(String),
    /// Bytes arrive, after the `from` bytes of an earlier attempt; `total` if the server reports how many there will
    /// be.
    Began { from: u64, total: Option<u64> },
    /// This many bytes are on disk.
    Received(u64),
    /// The file is complete, under that name.
    Done { path: String, bytes: u64 },
    /// Everything has arrived, and this many bytes of it will be unpacked.
    Unpacking(u64),
    /// The archive is unpacked, into that folder.
    Unpacked { path: String, unpacked: Unpacked },
    /// The transfer failed, for this reason.
    Failed(String),
}

/// The state of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub enum TransferState {
    /// Requested; nothing has arrived yet.
    Waiting,
    /// Bytes are arriving.
    Running,
    /// Everything has arrived and is being unpacked.
    Unpacking,
    /// The user is asked whether a file may be replaced.
    Asking,
    /// Stopped by the user; the bytes received so far are kept.
    Stopped,
    /// Failed, for this reason; the bytes received so far are kept.
    Failed(String),
    /// The file is complete.
    Done,
}

/// A transfer.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The number that identifies the transfer between app and runtime.
    pub number: u64,
    /// The download and its destination.
    pub spec: TransferSpec,
    /// The number of bytes on disk.
    pub received: u64,
    /// The total number of bytes, if known.
    pub total: Option<u64>,
    /// The current state.
    pub state: TransferState,
    samples: VecDeque<(Timestamp, u64)>,
}

impl Transfer {
    /// Returns whether the transfer is in progress.
    pub fn is_running(&self) -> bool {
        matches!(self.state, TransferState::Waiting | TransferState::Running | TransferState::Unpacking)
    }

    /// Returns the recent rate in bytes per second; `None` if there is too little data.
    pub fn rate(&self, now: Timestamp) -> Option<f64> {
        let (first, from) = self.samples.front()?;
        let seconds = now.duration_since(*first).as_secs_f64();
        (seconds > 0.3).then(|| self.received.saturating_sub(*from) as f64 / seconds)
    }

    /// Returns the completed fraction, from 0 to 1; `None` if the total is not known.
    pub fn fraction(&self) -> Option<f64> {
        self.total.filter(|total| *total > 0).map(|total| self.received as f64 / total as f64)
    }

    /// Formats bytes, rate and time left: `12.4 of 80.0 MB · 3.1 MB/s · 22s left`.
    pub fn facts(&self, now: Timestamp) -> String {
        let received = text::bytes(self.received);
        let mut facts = match self.total {
            Some(total) => {
                let total = text::bytes(total);
                let same =
                    received.rsplit_once(' ').filter(|(_, unit)| total.ends_with(unit)).map(|(number, _)| number);
                format!("{} of {total}", same.unwrap_or(&received))
            }
            None => received.clone(),
        };
        if let Some(rate) = self.rate(now).filter(|_| self.is_running()) {
            facts.push_str(&format!("{}{}/s", glyph::separator(), text::bytes(rate as u64)));
            if let Some(left) = self.total.map(|total| total.saturating_sub(self.received) as f64 / rate.max(1.0)) {
                let left = text::duration(left.ceil());
                facts.push_str(&format!("{}{left} left", glyph::separator()));
            }
        }
        facts
    }

    fn sample(&mut self, now: Timestamp) {
        self.samples.push_back((now, self.received));
        while self.samples.len() > MAX_SAMPLES
            || self.samples.len() > 2
                && self.samples.front().is_some_and(|(at, _)| now.duration_since(*at).as_secs_f64() > RATE_SECONDS)
        {
            self.samples.pop_front();
        }
    }
}

/// The transfers since the start, newest last.
#[derive(Default)]
pub struct Transfers {
    list: Vec<Transfer>,
    last: u64,
}

impl Transfers {
    /// Returns all transfers, oldest first.
    pub fn list(&self) -> &[Transfer] {
        &self.list
    }

    /// Returns the transfers in progress.
    pub fn running(&self) -> impl DoubleEndedIterator<Item = &Transfer> {
        self.list.iter().filter(|t| t.is_running())
    }

    /// Returns the transfer with that number.
    pub fn get(&self, number: u64) -> Option<&Transfer> {
        self.list.iter().find(|t| t.number == number)
    }

    /// Adds a transfer, and returns its number.
    pub fn begin(&mut self, spec: TransferSpec) -> u64 {
        self.last += 1;
        if self.list.len() >= MAX_LISTED
            && let Some(over) = self.list.iter().position(|t| !t.is_running())
        {
            self.list.remove(over);
        }
        let (number, total) = (self.last, spec.download.size);
        let samples = VecDeque::new();
        self.list.push(Transfer { number, spec, received: 0, total, state: TransferState::Waiting, samples });
        number
    }

    /// Restarts a transfer that is not in progress, or resumes it where it stopped; returns its spec.
    pub fn restart(&mut self, number: u64, replace: bool) -> Option<TransferSpec> {
        let transfer = self.list.iter_mut().find(|t| t.number == number && !t.is_running())?;
        transfer.spec.replace |= replace;
        transfer.state = TransferState::Waiting;
        transfer.samples.clear();
        Some(transfer.spec.clone())
    }

    /// Marks a transfer as stopped by the user; returns `false` if there is nothing to stop.
    pub fn stop(&mut self, number: u64) -> bool {
        let transfer = self.list.iter_mut().find(|t| t.number == number);
        let Some(transfer) = transfer.filter(|t| t.is_running() || t.state == TransferState::Asking) else {
            return false;
        };
        transfer.state = TransferState::Stopped;
        true
    }

    /// Removes a transfer that is not in progress from the list.
    pub fn drop(&mut self, number: u64) -> Option<Transfer> {
        let at = self.list.iter().position(|t| t.number == number && !t.is_running())?;
        Some(self.list.remove(at))
    }

    /// Applies an event. Late events of a stopped transfer change nothing.
    pub fn apply(&mut self, number: u64, news: &TransferEvent, now: Timestamp) -> Option<&Transfer> {
        let transfer = self.list.iter_mut().find(|t| t.number == number && t.is_running())?;
        match news {
            TransferEvent::Exists(path) => {
                transfer.spec.path.clone_from(path);
                transfer.state = TransferState::Asking;
            }
            TransferEvent::Began { from, total } => {
                transfer.state = TransferState::Running;
                transfer.received = *from;
                transfer.total = total.or(transfer.spec.download.size);
                transfer.samples.clear();
                transfer.sample(now);
            }
            TransferEvent::Received(bytes) => {
                transfer.received = *bytes;
                transfer.sample(now);
            }
            TransferEvent::Done { path, bytes } => {
                transfer.spec.path.clone_from(path);
                (transfer.received, transfer.total) = (*bytes, Some(*bytes));
                transfer.state = TransferState::Done;
            }
            TransferEvent::Unpacking(total) => {
                transfer.state = TransferState::Unpacking;
                (transfer.received, transfer.total) = (0, Some(*total));
                transfer.samples.clear();
                transfer.sample(now);
            }
            TransferEvent::Unpacked { path, unpacked } => {
                transfer.spec.path.clone_from(path);
                (transfer.received, transfer.total) = (unpacked.bytes, Some(unpacked.bytes));
                transfer.state = TransferState::Done;
            }
            TransferEvent::Failed(why) => transfer.state = TransferState::Failed(why.clone()),
        }
        Some(transfer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::Endpoint;
    use api::users::GetCurrentUser;

    fn spec() -> TransferSpec {
        let save = NewTransfer::new(GetCurrentUser::default().request(), "a.zip");
        TransferSpec { download: save, path: "a.zip".into(), replace: false }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn file_names_are_sanitized() {
        for (name, file) in [
            ("a/b/c.txt", "c.txt"),
            ("../../etc/passwd", "passwd"),
            ("..", "download"),
            ("", "download"),
            ("/", "download"),
            ("x\u{1b}[31m\u{202e}gpj.exe", "x_[31m_gpj.exe"),
            (".profile", "profile"),
            ("C:\\boot.ini", "boot.ini"),
            ("a\u{2028}b\u{2029}c\u{2066}d\u{2069}e\u{200e}f\u{200f}g\u{85}", "a_b_c_d_e_f_g_"),
            ("a<b>:\"|?*c", "a_b______c"),
            ("nul", "_nul"),
            ("Com1.txt", "_Com1.txt"),
            ("com0.txt", "com0.txt"),
            ("console", "console"),
        ] {
            assert_eq!(file_name(name), file, "{name:?}");
        }
        assert_eq!(file_name(&"é".repeat(300)).len(), 200);
    }

    #[test]
    fn facts_contain_bytes_rate_and_time_left() {
        let mut transfers = Transfers::default();
        let number = transfers.begin(spec());
        transfers.apply(number, &TransferEvent::Began { from: 10_000_000, total: Some(80_000_000) }, at(0));
        transfers.apply(number, &TransferEvent::Received(20_000_000), at(2));
        let transfer = transfers.get(number).unwrap();
        assert_eq!(transfer.facts(at(2)), "20.0 of 80.0 MB · 5.0 MB/s · 12s left");
        assert_eq!(transfer.fraction(), Some(0.25));
        transfers.apply(number, &TransferEvent::Done { path: "/t/a.zip".into(), bytes: 80_000_000 }, at(14));
        assert_eq!(transfers.get(number).unwrap().facts(at(14)), "80.0 of 80.0 MB");
    }

    #[test]
    fn stopped_transfers_ignore_events_and_can_be_restarted() {
        let mut transfers = Transfers::default();
        let number = transfers.begin(spec());
        assert!(transfers.stop(number));
        assert!(transfers.apply(number, &TransferEvent::Received(5), at(1)).is_none());
        assert!(transfers.restart(number, true).is_some_and(|spec| spec.replace));
        assert!(transfers.apply(number, &TransferEvent::Failed("no".into()), at(1)).is_some());
        assert_eq!(transfers.running().count(), 0);
        assert!(transfers.drop(number).is_some());
    }
}
