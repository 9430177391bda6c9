//! Comments on their way: sent one after the other, and never twice.
//!
//! Before a comment goes out, what the server has is looked at, and both are kept on disk: that it is being sent, and
//! what was there before. Where no answer comes, or the program ends in the middle, the next look tells whether it
//! arrived. This file is the plain machine that decides; [`post`](self) beside it carries out what it says.

mod draft;
mod noteable;
mod position;
mod post;

pub use draft::{Draft, DraftNoteChange, DraftThread, State};
pub use noteable::{NoteNow, Noteable};
pub use position::DiffPosition;

use super::action::{Action, Tone};
use super::past_tense::past_tense;
use crate::api::{Error, Fault};
use jiff::{SignedDuration, Timestamp};
use std::collections::{HashSet, VecDeque};

/// How long to wait after a call that had no answer before looking: the server may still be at it.
const SETTLE: SignedDuration = SignedDuration::from_secs(3);
/// How long a server that names no time is given that has too many requests.
const PAUSE: SignedDuration = SignedDuration::from_secs(30);
/// How long to wait before what the server has is looked at again, where that failed in passing, and how often.
const AGAIN: SignedDuration = SignedDuration::from_secs(4);
const TRIES: u32 = 3;

/// What the server has, as far as it tells whether a comment arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The highest number of a note; where comments have no numbers, how many are the same as this one.
    pub mark: u64,
    /// Whether this comment is there since it went out.
    pub arrived: bool,
    /// What a note that is to be changed says now, where somebody else changed it in the meantime.
    pub changed: Option<String>,
}

/// Whether a draft is ours to send: another labscope of the same account may be at it, or have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Ours, and what is on disk of it, if there is a disk that says so.
    Ours(Option<String>),
    /// Another program has it, and may be sending it.
    Elsewhere,
    /// It is not on disk any more: another program sent it, or dropped it.
    Gone,
}

/// The same, compared with what is known of the draft here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// Ours, in this state.
    Ours(State),
    /// It says something else on disk by now.
    Other,
    Elsewhere,
    Gone,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Make sure that no other program sends it.
    Claim(String),
    /// See what the server has.
    Look(String),
    /// Send it.
    Send(String),
    /// Keep how far it has come.
    Keep(String, State),
    /// Somebody else changed the note: it says this now, and only sending it again puts the draft in its place.
    Conflict(String, String),
    /// The server has it: nothing has to be kept any more.
    Drop(String),
    /// Tell the user.
    Say(Tone, String),
}

/// Where in line a comment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Others come first, or the server asked for a pause.
    Waiting,
    /// Whether another program has it is being found out.
    Claiming,
    /// Whether it arrived is being looked up.
    Looking,
    /// It is on its way.
    Sending,
}

#[derive(Clone, Debug)]
struct Job {
    key: String,
    /// What it is on: a mark of one thing says nothing of another.
    on: Noteable,
    /// What is being done, as in "could not {what}".
    what: String,
    /// Only find out whether it arrived; send nothing.
    only_look: bool,
    /// How often what the server has could not be looked at.
    failed: u32,
    /// It was looked for already, right after the start.
    looked: bool,
    /// It changes a note, or is to be a draft note: what the server has is looked at first.
    looks_first: bool,
}

/// What became of the comments of a batch.
#[derive(Clone, Debug, Default)]
struct BatchSummary {
    sent: usize,
    not: usize,
    /// Why the last one was not sent.
    why: String,
    what: String,
}

/// A review that is submitted.
pub struct Submission {
    /// The keys of its comments that are kept here.
    pub keys: Vec<String>,
    /// A comment on the whole, which is kept from now on under that key.
    pub summary: Option<(String, Draft)>,
    /// Whether the server keeps comments until they are published.
    pub as_draft_notes: bool,
    /// What is done once the server has all of them.
    pub then: Option<Box<Action>>,
}

/// The line of comments to be sent. It does nothing by itself: what happened is told to it, and it says what to do.
#[derive(Default)]
pub struct Outbox {
    queue: VecDeque<Job>,
    current: Option<(Job, Progress)>,
    /// Nothing is done before this.
    paused: Option<Timestamp>,
    /// The number of the newest note of a thing, while it is known.
    newest: Option<(Noteable, u64)>,
    tally: BatchSummary,
    /// The drafts that are on the server now.
    sent: HashSet<String>,
}

impl Outbox {
    /// Puts a draft in line to be sent; one that is in line already stays where it is.
    pub fn post(&mut self, key: &str, draft: &Draft) {
        self.line_up(key, draft, false);
    }

    /// Puts a draft in line that may have arrived, to find out.
    pub fn resolve(&mut self, key: &str, draft: &Draft) {
        if draft.state.before().is_some() {
            self.line_up(key, draft, true);
        }
    }

    fn line_up(&mut self, key: &str, draft: &Draft, only_look: bool) {
        if let Some(job) = self.queue.iter_mut().find(|job| job.key == key) {
            job.only_look &= only_look;
        } else if self.current.as_ref().is_none_or(|(job, _)| job.key != key) {
            let what = draft.write().what;
            let (on, looks_first) = (draft.on.clone(), draft.edits.is_some() || draft.draft_note.is_some());
            self.queue.push_back(Job {
                key: key.to_owned(),
                on,
                what,
                only_look,
                failed: 0,
                looked: false,
                looks_first,
            });
        }
    }

    /// Sends nothing more than what is on its way.
    pub fn stop(&mut self) {
        self.queue.clear();
        self.paused = None;
        self.current = self.current.take().filter(|(_, progress)| *progress == Progress::Sending);
    }

    /// Returns whether the draft of that key is on the server now.
    pub fn has_sent(&self, key: &str) -> bool {
        self.sent.contains(key)
    }

    /// Returns where in line a draft is; `None` if it is not.
    pub fn progress(&self, key: &str) -> Option<Progress> {
        match &self.current {
            Some((job, progress)) if job.key == key => Some(*progress),
            _ => self.queue.iter().any(|job| job.key == key).then_some(Progress::Waiting),
        }
    }

    /// Returns whether there is anything in line.
    pub fn is_busy(&self) -> bool {
        self.current.is_some() || !self.queue.is_empty()
    }

    /// The draft that is being looked for.
    pub fn looking(&self) -> Option<&str> {
        self.current.as_ref().filter(|(_, progress)| *progress == Progress::Looking).map(|(job, _)| job.key.as_str())
    }

    /// Returns when there is something to do again, if that is a matter of time.
    pub fn wake(&self) -> Option<Timestamp> {
        self.paused.filter(|_| self.current.is_none() && !self.queue.is_empty())
    }

    /// Begins with the next in line, where nothing else is done.
    pub fn begin(&mut self, now: Timestamp, is_kept: impl Fn(&str) -> bool) -> Vec<Step> {
        if self.current.is_some() || self.paused.is_some_and(|until| now < until) {
            return Vec::new();
        }
        self.paused = None;
        while let Some(job) = self.queue.pop_front() {
            // What was dropped in the meantime is not sent.
            if !is_kept(&job.key) {
                continue;
            }
            let key = job.key.clone();
            self.current = Some((job, Progress::Claiming));
            return vec![Step::Claim(key)];
        }
        self.close()
    }

    /// Whose the draft `key` is to send was found out.
    pub fn claimed(&mut self, key: &str, claimed: Claimed) -> Vec<Step> {
        let is_it = |(job, progress): &(Job, Progress)| job.key == key && *progress == Progress::Claiming;
        if !self.current.as_ref().is_some_and(is_it) {
            return Vec::new();
        }
        let Some((job, _)) = self.current.take() else { return Vec::new() };
        let key = job.key.clone();
        match claimed {
            Claimed::Ours(state) => {
                let uncertain = state.before().is_some();
                let mark = self.newest.as_ref().filter(|(on, _)| *on == job.on).map(|(_, mark)| *mark);
                match mark.filter(|_| !uncertain && !job.looks_first) {
                    Some(mark) => {
                        self.current = Some((job, Progress::Sending));
                        vec![Step::Keep(key.clone(), State::Sending { before: mark }), Step::Send(key)]
                    }
                    None => {
                        self.current = Some((job, Progress::Looking));
                        vec![Step::Look(key)]
                    }
                }
            }
            // What another program is at is not touched.
            Claimed::Elsewhere if job.only_look => Vec::new(),
            Claimed::Elsewhere => {
                self.count(&job, Some("another running labscope has it"));
                Vec::new()
            }
            Claimed::Other => {
                self.count(&job, Some("another labscope changed it: check it first"));
                Vec::new()
            }
            // Any of one's own notes that says the same is what became of it.
            Claimed::Gone => {
                self.current = Some((Job { only_look: true, ..job }, Progress::Looking));
                let why = "another labscope sent or deleted it".to_owned();
                vec![Step::Keep(key.clone(), State::Unknown { before: 0, why }), Step::Look(key)]
            }
        }
    }

    /// Records that the server was looked at; `state` is that of the draft in question.
    pub fn looked(&mut self, evidence: Evidence, state: &State, now: Timestamp) -> Vec<Step> {
        let Some((job, _)) = self.current.take() else { return Vec::new() };
        let key = job.key.clone();
        match state.before() {
            Some(_) if evidence.arrived => {
                self.count(&job, None);
                vec![Step::Drop(key)]
            }
            Some(before) if job.only_look => {
                let why = match state {
                    // The program ended a moment ago, maybe: the server may still be at it.
                    State::Sending { .. } if !job.looked => {
                        self.pause(now, SETTLE);
                        self.queue.push_front(Job { looked: true, ..job });
                        return Vec::new();
                    }
                    State::Unknown { why, .. } => why.as_str(),
                    State::Failed { .. } => return Vec::new(),
                    _ => "labscope ended before the server answered",
                };
                let why = format!("{why}; it has not arrived");
                self.count(&job, Some(&why));
                vec![Step::Keep(key, State::Failed { why, before: Some(before) })]
            }
            None if job.only_look => Vec::new(),
            None if evidence.changed.is_some() => {
                let now = evidence.changed.unwrap_or_default();
                self.count(&job, Some("somebody else has changed the note"));
                vec![Step::Conflict(key, now)]
            }
            // Sent again, it counts as arrived where either of them is found.
            before => {
                let before = before.unwrap_or(evidence.mark);
                self.current = Some((job, Progress::Sending));
                vec![Step::Keep(key.clone(), State::Sending { before }), Step::Send(key)]
            }
        }
    }

    /// The draft `key` was dropped while it was found out whose it is.
    pub fn forget_claim(&mut self, key: &str) {
        self.current = self.current.take().filter(|(job, progress)| job.key != key || *progress != Progress::Claiming);
    }

    /// The draft that is being looked for is not kept any more.
    pub fn forget(&mut self) {
        self.current = None;
    }

    /// The server cannot be asked what it has. Where that may pass it is tried again, but not forever: words
    /// that are to go out must not do so by themselves when nobody thinks of them any more.
    pub fn look_failed(&mut self, error: &Error, state: &State, now: Timestamp) -> Vec<Step> {
        let Some((job, _)) = self.current.take() else { return Vec::new() };
        if error.is_passing() && job.failed < TRIES {
            let pause = match &error.fault {
                Fault::Limited(after) => pause_of(*after),
                _ => AGAIN,
            };
            self.pause(now, pause);
            self.queue.push_front(Job { failed: job.failed + 1, ..job });
            return Vec::new();
        }
        // What was looked for in vain before is what it was.
        if job.only_look && matches!(state, State::Failed { .. }) {
            return Vec::new();
        }
        let why = reason(error);
        self.count(&job, Some(&why));
        self.give_up_for(error, &job.on);
        let state = match state {
            // Who is out of reach now is asked again, later.
            State::Sending { before } | State::Unknown { before, .. } if error.is_passing() => {
                State::Unknown { before: *before, why }
            }
            state => State::Failed { why, before: state.before() },
        };
        vec![Step::Keep(job.key, state)]
    }

    /// Does nothing for so long.
    fn pause(&mut self, now: Timestamp, pause: SignedDuration) {
        self.paused = Some(now.checked_add(pause).unwrap_or(Timestamp::MAX));
    }

    /// The end of the call that sent it: the number of the note, 0 if the server names none.
    pub fn answered(&mut self, outcome: Result<u64, &Error>, state: &State, now: Timestamp) -> Vec<Step> {
        let Some((job, _)) = self.current.take() else { return Vec::new() };
        let error = match outcome {
            Ok(number) => {
                // The number of a note that was changed, or of a draft note, says nothing of the newest.
                if !job.looks_first {
                    self.newest = (number > 0).then(|| (job.on.clone(), number));
                }
                self.count(&job, None);
                return vec![Step::Drop(job.key)];
            }
            Err(error) => error,
        };
        let (key, why) = (job.key.clone(), reason(error));
        match &error.fault {
            // Refused before anything was done: the same again, when the server allows it.
            Fault::Limited(after) => {
                let pause = pause_of(*after);
                self.pause(now, pause);
                self.queue.push_front(job);
                let words = format!("Too many requests: continuing in {} s.", pause.as_secs());
                vec![Step::Keep(key, State::Kept), Step::Say(Tone::Warning, words)]
            }
            Fault::Tls(_)
            | Fault::Unauthorized(_)
            | Fault::Denied(_)
            | Fault::Scope(_)
            | Fault::Missing(_)
            | Fault::Unsupported(_)
            | Fault::Refused(..)
            | Fault::Disk(_)
            | Fault::ReadOnly => {
                self.count(&job, Some(&why));
                self.give_up_for(error, &job.on);
                vec![Step::Keep(key, State::Failed { why, before: None })]
            }
            // Anything may have become of it.
            Fault::Offline(_)
            | Fault::Timeout(_)
            | Fault::Server(..)
            | Fault::Unreadable(_)
            | Fault::Cut(_)
            | Fault::TooLarge(_) => {
                let before = state.before().unwrap_or(0);
                self.pause(now, SETTLE);
                self.newest = None;
                self.queue.push_front(Job { only_look: true, ..job });
                vec![Step::Keep(key, State::Unknown { before, why })]
            }
        }
    }

    /// What holds for one comment holds for all that follow on the same thing, or on all things: they stay as they are.
    fn give_up_for(&mut self, error: &Error, on: &Noteable) {
        let before = self.queue.len();
        match error.fault {
            Fault::Unauthorized(_) | Fault::ReadOnly => self.queue.clear(),
            Fault::Denied(_) | Fault::Missing(_) | Fault::Unsupported(_) => self.queue.retain(|job| job.on != *on),
            // Who is not there for one is not there for the others.
            _ if error.is_passing() => self.queue.clear(),
            _ => {}
        }
        self.tally.not += before - self.queue.len();
    }

    fn count(&mut self, job: &Job, why: Option<&str>) {
        self.tally.what.clone_from(&job.what);
        match why {
            None => {
                self.tally.sent += 1;
                self.sent.insert(job.key.clone());
            }
            Some(why) => {
                self.tally.not += 1;
                self.tally.why = why.to_owned();
            }
        }
    }

    /// Says what became of a batch, once all of it is done.
    fn close(&mut self) -> Vec<Step> {
        self.newest = None;
        let BatchSummary { sent, not, why, what } = std::mem::take(&mut self.tally);
        match (sent, not) {
            (0, 0) => Vec::new(),
            (1, 0) => vec![Step::Say(Tone::Good, past_tense(&what))],
            (sent, 0) => vec![Step::Say(Tone::Good, format!("Sent {sent} comments"))],
            (0, 1) => vec![Step::Say(Tone::Bad, format!("Could not {what}: {why}. Your text is saved."))],
            (sent, not) => {
                let words = format!("Sent {sent} of {} comments. Last error: {why}. The rest is saved.", sent + not);
                vec![Step::Say(Tone::Bad, words)]
            }
        }
    }
}

/// Returns how long a server that has too many requests wants to be left alone.
fn pause_of(after: Option<std::time::Duration>) -> SignedDuration {
    after.map_or(PAUSE, |after| SignedDuration::try_from(after).unwrap_or(SignedDuration::MAX).max(AGAIN))
}

/// Without its last full stop, since it goes on in a sentence. Whether what may have arrived did, is looked for here:
/// that is no advice to the user.
fn reason(error: &Error) -> String {
    let words = format!("{}: {}", error.title(), error.message());
    match error.is_passing() {
        true => words,
        false => format!("{}. {}", words.trim_end_matches('.'), error.next().trim_end_matches('.')),
    }
}

#[cfg(test)]
mod tests;
