//! Writes that wait for a few seconds, in which they can be taken back. If the program is killed, none of them is done.

use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;
use store::Write;

/// The time for which writes wait.
const WAIT: SignedDuration = SignedDuration::from_secs(5);

/// Writes that wait together.
struct Waiting {
    due: Timestamp,
    writes: Vec<Write>,
    what: String,
}

/// The writes that wait, and those that did.
#[derive(Default)]
pub struct WaitingWrites {
    waiting: Vec<Waiting>,
    /// The requests that wait or did, unless they were taken back or failed: places show their result.
    begun: BTreeSet<String>,
    /// The number of changes of the requests that have begun.
    version: u64,
}

impl WaitingWrites {
    /// Returns whether a write has begun to wait, and was neither taken back nor has it failed.
    pub fn has_begun(&self, write: &Write) -> bool {
        !self.begun.is_empty() && self.begun.contains(&write.request.line())
    }

    /// Returns a number that changes with the results of [`WaitingWrites::has_begun`].
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns whether a write waits that can be taken back.
    pub fn can_take_back(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns the time at which the next write is due.
    pub(super) fn wake(&self) -> Option<Timestamp> {
        self.waiting.iter().map(|waiting| waiting.due).min()
    }

    /// Adds writes, which `what` describes together; returns when they are due.
    pub(super) fn add(&mut self, writes: Vec<Write>, what: String, now: Timestamp) -> Timestamp {
        let due = now.checked_add(WAIT).unwrap_or(now);
        self.begun.extend(writes.iter().map(|write| write.request.line()));
        self.version += 1;
        self.waiting.push(Waiting { due, writes, what });
        due
    }

    /// Takes back the last writes that wait, and returns their description.
    pub(super) fn take_back(&mut self) -> Option<String> {
        let Waiting { writes, what, .. } = self.waiting.pop()?;
        writes.iter().for_each(|write| self.forget(write));
        Some(what)
    }

    /// Forgets a write that was taken back or failed.
    pub(super) fn forget(&mut self, write: &Write) {
        self.version += u64::from(self.begun.remove(&write.request.line()));
    }

    /// Removes and returns the writes that are due at a time.
    pub(super) fn take_due(&mut self, at: Timestamp) -> Vec<Write> {
        let due: Vec<Waiting> = self.waiting.extract_if(.., |waiting| waiting.due <= at).collect();
        due.into_iter().flat_map(|waiting| waiting.writes).collect()
    }
}
