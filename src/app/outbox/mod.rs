//! The outbox: sends comments one after the other, and never twice.
//!
//! This module is the pure state machine that decides; `post.rs` next to it carries out its steps.
//!
//! # From a line to a comment on the server
//!
//! 1. `c` takes the line under the cursor or the selected lines of the changes, `R` the thread under the cursor
//!    (`src/parts/comments/mod.rs`), and the composer opens a `Draft` for them. From its first character, the draft is saved
//!    under its own key, as JSON: the object and a number (`DraftKey`). On disk, the current account precedes the key
//!    (`src/app/text_key.rs`). Text typed before the account is known belongs to no account, and goes to the first
//!    account that is known.
//! 2. A draft states what it becomes: a plain note, a new thread with a position (`src/parts/review/position.rs`: the
//!    three commits of the changes, and the line numbers in both files), a reply in a thread, an edited note, or a
//!    draft note on the server.
//! 3. `C-s` posts the draft. `M-s` adds it to the review: as a draft note if the server supports them, otherwise on
//!    disk. The outbox sends drafts one after the other (`Action::SendDrafts`).
//! 4. Before sending a draft, the outbox locks a file next to it, so that no other program sends it (`Effect::Claim`),
//!    and reads the draft again. If another program sent, deleted or changed it, the outbox does not send it.
//!    Otherwise it writes the ID of the newest note, or of the newest draft note, on the server to the draft. `Send`
//!    waits for the journal, which syncs the draft to disk before the request. If no reply comes, or if the program is
//!    killed, the notes that the server lists since then show whether the comment arrived. At startup, the outbox
//!    checks this for every draft that was being sent. Each is either removed or becomes a draft again. Files that
//!    were attached without a network are uploaded once the draft is locked, before anything of it is sent: each link
//!    is saved in the draft in place of its mark (`src/app/uploads.rs`). Forms, the editor and other composers do the
//!    same when their texts are sent (`DraftFiles` in `src/app/overlay/markdown_input/upload.rs`).
//! 5. `S` submits the review (`src/parts/review/publish.rs`). The summary becomes another draft, which is posted as a
//!    plain note: as a draft note it would become a thread that has to be resolved. The outbox sends the drafts on
//!    this computer. Once the server has all of them (`Action::SubmitReview`), the draft notes are published.
//!    Publishing again publishes nothing twice. The server may drop some of them without a word, so they become drafts
//!    until their notes are found (`src/app/publishing.rs`). The verdict (`Verdict` in `src/app/outbox/draft.rs`) is
//!    one more draft, which the outbox sends last. It leaves no note: whether it arrived is read from the approvals or
//!    from the states of the reviewers, before it is sent and after. Servers before 19.2 ignore the state that is sent
//!    with the review, and get it as a quick action (`src/domain/quick_actions.rs`).
//! 6. Servers before 10.8 have no threads on merge requests. They say so once, in reply to the first request. On these
//!    servers a note has no position, so its first line names it (`src/app/outbox/position.rs`). When labscope reads
//!    such a note, it finds the position again: by commit and line number, or in other versions by the text of the
//!    lines. If a server refuses a position, the draft takes the same form when it is sent again.
//! 7. `Noteable::conversation` reads the notes of a merge request, issue or snippet by thread if the server has
//!    threads, otherwise as a plain list. Panes do not know the difference. `src/parts/comments/conversation/` shows them below
//!    the facts and the description of every kind of object. In a diff, threads are collected and rendered off the
//!    loop, and laid out as rows that the diff inserts between its lines. The rows of a thread are the same in both
//!    (`src/parts/review/thread_frame.rs`).

mod draft;
mod noteable;
mod position;
mod post;

pub use draft::{BY_QUICK_ACTIONS, Draft, DraftNoteChange, DraftState, DraftThread, Verdict};
pub use noteable::{NoteNow, NoteableExt};
pub use position::DiffPosition;

use super::text_key::DraftKey;
use super::tone::Tone;
use api::error::wait_words;
use api::{Error, Fault, Noteable};
use jiff::{SignedDuration, Timestamp};
use std::collections::{HashSet, VecDeque};

/// The time to wait before checking the server after a request without a reply: it may still be processing the request.
const CHECK_DELAY: SignedDuration = SignedDuration::from_secs(3);
/// The pause after too many requests, if the server does not name a time.
const DEFAULT_PAUSE: SignedDuration = SignedDuration::from_secs(30);
/// The time to wait before the server is checked again after a temporary error, and the maximum number of retries.
const RETRY_DELAY: SignedDuration = SignedDuration::from_secs(4);
const MAX_RETRIES: u32 = 3;

/// The evidence on the server of whether a comment arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The highest ID of a note; for comments without IDs, the number of comments equal to this one.
    pub mark: u64,
    /// Whether this comment has appeared since it was sent.
    pub arrived: bool,
    /// The current text of the note to be edited, if somebody else changed it in the meantime.
    pub changed: Option<String>,
    /// Whether the draft leaves no trace that could be found: it consists of quick actions.
    pub is_silent: bool,
}

/// The right to send a draft: another labscope of the same account may be sending it, or have sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// This process may send the draft; its content is the draft on disk, if there is a disk to read it from.
    Ours(Option<String>),
    /// The draft belongs to another process, which may be sending it.
    Elsewhere,
    /// The draft is no longer on disk: another process sent or deleted it.
    Gone,
}

/// A [`Claim`], compared with the draft that is known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// This process may send the draft, which is in this state.
    Ours(DraftState),
    /// The draft on disk has other content by now.
    Other,
    Elsewhere,
    Gone,
}

/// A step to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Makes sure that no other process sends the draft.
    Claim(DraftKey),
    /// Checks the server for the draft.
    Check(DraftKey),
    /// Sends the draft.
    Send(DraftKey),
    /// Saves the state of the draft.
    Keep(DraftKey, DraftState),
    /// Reports that somebody else changed the note, with its current text; the draft replaces that only if it is sent
    /// again.
    Conflict(DraftKey, String),
    /// Deletes the draft, because the server has it.
    Drop(DraftKey),
    /// Shows a message to the user.
    Say(Tone, String),
}

/// The progress of a draft in the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Others are sent first, or the server asked for a pause.
    Waiting,
    /// The outbox is finding out whether another process has the draft.
    Claiming,
    /// The files of the draft are being uploaded.
    Uploading,
    /// The outbox is checking whether the draft arrived.
    Checking,
    /// The draft is in flight.
    Sending,
}

#[derive(Clone, Debug)]
struct OutboxJob {
    key: DraftKey,
    /// A description of the write, as in "could not {what}".
    what: String,
    /// The message that the server has it.
    done: String,
    /// Whether to only find out if the draft arrived, without sending it.
    check_only: bool,
    /// The number of failed checks of the server.
    failed: u32,
    /// Whether the server was checked already, right after the start.
    was_checked: bool,
    /// Whether the server is checked before the draft is sent: it edits a note, becomes a draft note, or is a verdict.
    checks_first: bool,
    is_verdict: bool,
    /// Whether the server has published it, so that only its absence is told.
    was_published: bool,
    /// The words of the server about what was sent, once it has answered: the results of quick actions.
    answer: Option<String>,
}

/// The results of the comments of a batch.
#[derive(Clone, Debug, Default)]
struct BatchSummary {
    sent: usize,
    failed: usize,
    /// The reason why the last unsent comment was not sent.
    why: String,
    what: String,
    done: String,
    /// The words of the server about the last comment: the results of quick actions.
    answer: Option<String>,
    /// Whether the last one was a verdict.
    is_verdict: bool,
    /// The number of those that the server had published before they were looked for.
    published: usize,
}

/// The queue of comments to be sent. It does nothing by itself: it is notified of events, and returns the steps to
/// carry out.
#[derive(Default)]
pub struct Outbox {
    queue: VecDeque<OutboxJob>,
    current: Option<(OutboxJob, Progress)>,
    /// The time before which nothing is done.
    paused: Option<Timestamp>,
    /// The ID of the newest note of an object, while that is known: it says nothing about other objects.
    newest: Option<(Noteable, u64)>,
    tally: BatchSummary,
    /// The drafts that the server has by now.
    sent: HashSet<DraftKey>,
}

impl Outbox {
    /// Queues a draft to be sent; a draft that is queued already keeps its place.
    pub fn post(&mut self, key: &DraftKey, draft: &Draft) {
        self.enqueue(key, draft, false);
    }

    /// Queues a draft that may have arrived, to find out whether it did.
    pub fn check(&mut self, key: &DraftKey, draft: &Draft) {
        if draft.state.before().is_some() || draft.verdict.is_some() {
            self.enqueue(key, draft, true);
        }
    }

    /// Queues a draft that the server has published, to find out whether it did so without a word.
    pub fn check_published(&mut self, key: &DraftKey, draft: &Draft) {
        self.enqueue(key, draft, true);
        if let Some(job) = self.queue.iter_mut().find(|job| job.key == *key) {
            job.was_published = true;
        }
    }

    fn enqueue(&mut self, key: &DraftKey, draft: &Draft, check_only: bool) {
        if let Some(job) = self.queue.iter_mut().find(|job| job.key == *key) {
            job.check_only &= check_only;
        } else if self.current.as_ref().is_none_or(|(job, _)| job.key != *key) {
            let (what, done) = (draft.write().what, draft.done());
            let is_verdict = draft.verdict.is_some();
            let checks_first = draft.edits.is_some() || draft.draft_note.is_some() || is_verdict;
            self.queue.push_back(OutboxJob {
                key: key.clone(),
                what,
                done,
                check_only,
                failed: 0,
                was_checked: false,
                checks_first,
                is_verdict,
                was_published: false,
                answer: None,
            });
        }
    }

    /// Sends nothing more than what is in flight.
    pub fn stop(&mut self) {
        self.queue.clear();
        self.paused = None;
        self.current = self.current.take().filter(|(_, progress)| *progress == Progress::Sending);
    }

    /// Returns whether the server has the draft with that key by now.
    pub fn has_sent(&self, key: &DraftKey) -> bool {
        self.sent.contains(key)
    }

    /// Returns the progress of a draft; `None` if it is not in the outbox.
    pub fn progress(&self, key: &DraftKey) -> Option<Progress> {
        match &self.current {
            Some((job, progress)) if job.key == *key => Some(*progress),
            _ => self.queue.iter().any(|job| job.key == *key).then_some(Progress::Waiting),
        }
    }

    /// Returns whether a draft was published by the server and is only looked for, so that it is none for the user.
    pub fn was_published(&self, key: &DraftKey) -> bool {
        let current = self.current.iter().map(|(job, _)| job);
        current.chain(&self.queue).any(|job| job.was_published && job.key == *key)
    }

    /// Returns whether any draft is queued or in progress.
    pub fn is_busy(&self) -> bool {
        self.current.is_some() || !self.queue.is_empty()
    }

    /// Returns the drafts of which nothing was sent yet, and that are to be sent.
    pub fn unsent(&self) -> impl Iterator<Item = &DraftKey> {
        let current = self.current.iter().filter(|(_, progress)| *progress != Progress::Sending).map(|(job, _)| job);
        current.chain(&self.queue).filter(|job| !job.check_only).map(|job| &job.key)
    }

    /// Returns whether it waits: as long as the server asked for, or for a server that could not be reached.
    pub fn is_held_up(&self) -> bool {
        let current = self.current.iter().map(|(job, _)| job);
        self.paused.is_some() || current.chain(&self.queue).any(|job| job.failed > 0)
    }

    /// Returns the draft that the server is being checked for.
    pub fn checking(&self) -> Option<&DraftKey> {
        self.current.as_ref().filter(|(_, progress)| *progress == Progress::Checking).map(|(job, _)| &job.key)
    }

    /// Returns the time at which there is something to do again, if that depends only on time.
    pub fn wake(&self) -> Option<Timestamp> {
        self.paused.filter(|_| self.current.is_none() && !self.queue.is_empty())
    }

    /// Starts with the next draft in the queue, if no other is in progress.
    pub fn begin(&mut self, now: Timestamp, is_kept: impl Fn(&DraftKey) -> bool) -> Vec<Step> {
        if self.current.is_some() || self.paused.is_some_and(|until| now < until) {
            return Vec::new();
        }
        self.paused = None;
        while let Some(job) = self.queue.pop_front() {
            // A draft that was deleted in the meantime is not sent.
            if !is_kept(&job.key) {
                continue;
            }
            let key = job.key.clone();
            self.current = Some((job, Progress::Claiming));
            return vec![Step::Claim(key)];
        }
        self.close()
    }

    /// Returns whether the draft `key` is the current one, before anything of it was sent.
    fn is_preparing(&self, key: &DraftKey) -> bool {
        let before = |progress| matches!(progress, Progress::Claiming | Progress::Uploading);
        self.current.as_ref().is_some_and(|(job, progress)| job.key == *key && before(*progress))
    }

    /// Starts to upload the files of the draft `key`, which this process may send. Returns `false` if the draft is not
    /// to be sent, or no longer.
    pub fn begin_upload(&mut self, key: &DraftKey) -> bool {
        let is_it = self.is_preparing(key);
        match &mut self.current {
            Some((job, progress)) if is_it && !job.check_only => {
                *progress = Progress::Uploading;
                true
            }
            _ => false,
        }
    }

    /// Handles a file of the draft `key` that was not uploaded, for this reason: the draft is not sent.
    pub fn upload_failed(&mut self, key: &DraftKey, why: String, state: &DraftState) -> Vec<Step> {
        if !self.is_preparing(key) {
            return Vec::new();
        }
        let Some((job, _)) = self.current.take() else { return Vec::new() };
        self.count(&job, Some(&why));
        vec![Step::Keep(job.key, DraftState::Failed { why, before: state.before() })]
    }

    /// Handles the answer to whether this process may send the draft `key`.
    pub fn claimed(&mut self, key: &DraftKey, claimed: Claimed) -> Vec<Step> {
        if !self.is_preparing(key) {
            return Vec::new();
        }
        let Some((job, _)) = self.current.take() else { return Vec::new() };
        let key = job.key.clone();
        match claimed {
            Claimed::Ours(state) => {
                let uncertain = state.before().is_some();
                let mark = self.newest.as_ref().filter(|(on, _)| on == job.key.on()).map(|(_, mark)| *mark);
                match mark.filter(|_| !uncertain && !job.checks_first) {
                    Some(mark) => {
                        self.current = Some((job, Progress::Sending));
                        vec![Step::Keep(key.clone(), DraftState::Sending { before: mark }), Step::Send(key)]
                    }
                    None => {
                        self.current = Some((job, Progress::Checking));
                        vec![Step::Check(key)]
                    }
                }
            }
            // A draft that another process is sending is left alone.
            Claimed::Elsewhere if job.check_only => Vec::new(),
            Claimed::Elsewhere => {
                self.count(&job, Some("another running labscope is sending it"));
                Vec::new()
            }
            Claimed::Other => {
                self.count(&job, Some("another labscope changed it: check it first"));
                Vec::new()
            }
            // Any note of the user with the same text counts as the sent draft.
            Claimed::Gone => {
                self.current = Some((OutboxJob { check_only: true, ..job }, Progress::Checking));
                let why = "another labscope sent or deleted it".to_owned();
                vec![Step::Keep(key.clone(), DraftState::Unknown { before: 0, why }), Step::Check(key)]
            }
        }
    }

    /// Handles the result of checking the server; `state` is the state of the draft in question.
    pub fn checked(&mut self, evidence: Evidence, state: &DraftState, now: Timestamp) -> Vec<Step> {
        let Some((job, _)) = self.current.take() else { return Vec::new() };
        let key = job.key.clone();
        match state.before() {
            before if evidence.arrived && (before.is_some() || job.is_verdict) => {
                self.count(&job, None);
                vec![Step::Drop(key)]
            }
            // The server answered, and the state of the review is still another one.
            _ if job.answer.is_some() => {
                let answer = job.answer.as_deref().filter(|answer| is_refusal(answer));
                let why = answer.unwrap_or("the server did not record it; it may accept it from reviewers only");
                let why = why.trim_end_matches('.').to_owned();
                self.count(&job, Some(&why));
                vec![Step::Keep(key, DraftState::Failed { why, before: None })]
            }
            Some(before) if job.check_only => {
                let why = match state {
                    // The program may have ended a moment ago: the server may still be processing the request.
                    DraftState::Sending { .. } if !job.was_checked => {
                        self.pause(now, CHECK_DELAY);
                        self.queue.push_front(OutboxJob { was_checked: true, ..job });
                        return Vec::new();
                    }
                    DraftState::Unknown { why, .. } => why.as_str(),
                    DraftState::Failed { .. } => return Vec::new(),
                    _ => "labscope ended before the server answered",
                };
                let why = match evidence.is_silent {
                    true => format!("{why}; quick actions leave no comment, so look at their effect first"),
                    false => format!("{why}; it has not arrived so far"),
                };
                self.count(&job, Some(&why));
                vec![Step::Keep(key, DraftState::Failed { why, before: Some(before) })]
            }
            None if job.check_only && job.is_verdict && !matches!(state, DraftState::Failed { .. }) => {
                let why = "labscope ended before it was sent".to_owned();
                self.count(&job, Some(&why));
                vec![Step::Keep(key, DraftState::Failed { why, before: None })]
            }
            None if job.check_only => Vec::new(),
            None if evidence.changed.is_some() => {
                let now = evidence.changed.unwrap_or_default();
                self.count(&job, Some("somebody else has changed the comment"));
                vec![Step::Conflict(key, now)]
            }
            // If it is sent again, it counts as arrived when either of the two is found.
            before => {
                let before = before.unwrap_or(evidence.mark);
                self.current = Some((job, Progress::Sending));
                vec![Step::Keep(key.clone(), DraftState::Sending { before }), Step::Send(key)]
            }
        }
    }

    /// Handles the deletion of the draft `key` before it was sent.
    pub fn forget_claim(&mut self, key: &DraftKey) {
        if self.is_preparing(key) {
            self.current = None;
        }
    }

    /// Handles the deletion of the draft that the server is being checked for.
    pub fn forget(&mut self) {
        self.current = None;
    }

    /// Handles a failure to check the server. A temporary error is retried, but not forever: a comment must not be sent
    /// by itself long after the user has forgotten it.
    pub fn check_failed(&mut self, error: &Error, state: &DraftState, now: Timestamp) -> Vec<Step> {
        let Some((job, _)) = self.current.take() else { return Vec::new() };
        if error.is_temporary() && job.failed < MAX_RETRIES {
            let pause = match &error.fault {
                Fault::Limited(_, after) => pause_of(*after),
                _ => RETRY_DELAY,
            };
            self.pause(now, pause);
            self.queue.push_front(OutboxJob { failed: job.failed + 1, ..job });
            return Vec::new();
        }
        // A draft that was looked for in vain before keeps its state.
        if job.check_only && matches!(state, DraftState::Failed { .. }) {
            return Vec::new();
        }
        let why = reason(error);
        self.count(&job, Some(&why));
        self.give_up_for(error, job.key.on());
        let state = match state {
            // A server that cannot be reached now is checked again later.
            DraftState::Sending { before } | DraftState::Unknown { before, .. } if error.is_temporary() => {
                DraftState::Unknown { before: *before, why }
            }
            state => DraftState::Failed { why, before: state.before() },
        };
        vec![Step::Keep(job.key, state)]
    }

    /// Pauses the outbox for the given time.
    fn pause(&mut self, now: Timestamp, pause: SignedDuration) {
        self.paused = Some(now.checked_add(pause).unwrap_or(Timestamp::MAX));
    }

    /// Stores the words of the server about what was sent, the results of quick actions, before [`Outbox::answered`].
    pub fn take_answer(&mut self, words: String) {
        if let Some((job, _)) = &mut self.current {
            job.answer = Some(words);
        }
    }

    /// Handles the end of the request that sent the draft: the ID of the note, or 0 if the server does not name it.
    pub fn answered(&mut self, outcome: Result<u64, &Error>, state: &DraftState, now: Timestamp) -> Vec<Step> {
        let Some((job, _)) = self.current.take() else { return Vec::new() };
        let error = match outcome {
            // The answer to a quick action does not say whether the state of the review changed.
            Ok(_) if job.is_verdict && job.answer.is_some() => {
                let key = job.key.clone();
                self.current = Some((job, Progress::Checking));
                return vec![Step::Check(key)];
            }
            Ok(number) => {
                // The ID of an edited note or of a draft note says nothing about the newest note.
                if !job.checks_first {
                    self.newest = (number > 0).then(|| (job.key.on().clone(), number));
                }
                self.count(&job, None);
                return vec![Step::Drop(job.key)];
            }
            Err(error) => error,
        };
        let (key, why) = (job.key.clone(), reason(error));
        match &error.fault {
            // Refused before anything was done: send the same again when the server allows it.
            Fault::Limited(_, after) => {
                let pause = pause_of(*after);
                self.pause(now, pause);
                self.queue.push_front(job);
                let words = format!("Too many requests: retrying in {}.", wait_words(pause.unsigned_abs()));
                vec![Step::Keep(key, DraftState::Kept), Step::Say(Tone::Warning, words)]
            }
            Fault::Tls(_)
            | Fault::NeedsHttps(_)
            | Fault::Unauthorized(_)
            | Fault::Denied(_)
            | Fault::Scope(_)
            | Fault::Permission(_)
            | Fault::Missing(_)
            | Fault::Unsupported(_)
            | Fault::Refused(..)
            | Fault::Gateway(..)
            | Fault::Storage(_)
            | Fault::Disk(_)
            | Fault::ReadOnly => {
                self.count(&job, Some(&why));
                self.give_up_for(error, job.key.on());
                vec![Step::Keep(key, DraftState::Failed { why, before: None })]
            }
            // The comment may or may not have arrived.
            Fault::Offline(_)
            | Fault::Timeout(_)
            | Fault::Server(..)
            | Fault::Unreadable(_)
            | Fault::Replaced(_)
            | Fault::Cut(_)
            | Fault::TooLarge(_) => {
                let before = state.before().unwrap_or(0);
                self.pause(now, CHECK_DELAY);
                self.newest = None;
                self.queue.push_front(OutboxJob { check_only: true, ..job });
                vec![Step::Keep(key, DraftState::Unknown { before, why })]
            }
        }
    }

    /// Removes the queued comments to which the same error applies: those on the same object, or all of them. Their
    /// drafts stay as they are.
    fn give_up_for(&mut self, error: &Error, on: &Noteable) {
        let before = self.queue.len();
        match error.fault {
            Fault::Unauthorized(_) | Fault::ReadOnly => self.queue.clear(),
            Fault::Denied(_) | Fault::Missing(_) | Fault::Unsupported(_) => self.queue.retain(|job| job.key.on() != on),
            // A server that cannot be reached for one comment cannot be reached for the others.
            _ if error.is_temporary() => self.queue.clear(),
            _ => {}
        }
        self.tally.failed += before - self.queue.len();
    }

    fn count(&mut self, job: &OutboxJob, why: Option<&str>) {
        // What the server published is only told if it is missing.
        if !job.was_published || why.is_some() {
            self.tally.what.clone_from(&job.what);
            self.tally.done.clone_from(&job.done);
            self.tally.answer.clone_from(&job.answer);
            self.tally.is_verdict = job.is_verdict;
        }
        self.tally.published += usize::from(job.was_published);
        match why {
            None => {
                self.tally.sent += 1;
                self.sent.insert(job.key.clone());
            }
            Some(why) => {
                // A verdict is not given without the comments before it.
                self.queue.retain(|other| job.is_verdict || !other.is_verdict || other.key.on() != job.key.on());
                self.tally.failed += 1;
                self.tally.why = why.to_owned();
            }
        }
    }

    /// Reports the results of a batch, once all of it is done.
    fn close(&mut self) -> Vec<Step> {
        self.newest = None;
        let BatchSummary { mut sent, failed, why, what, done, answer, is_verdict, published } =
            std::mem::take(&mut self.tally);
        if failed == 0 {
            // Their publication was reported.
            sent -= published.min(sent);
        }
        let answer = answer.filter(|answer| !answer.is_empty() && !is_verdict);
        let kept = if is_verdict { "It stays among your drafts." } else { "Your text is saved." };
        match (sent, failed) {
            (0, 0) => Vec::new(),
            (sent, 0) if let Some(answer) = &answer => {
                let tone = if is_refusal(answer) { Tone::Warning } else { Tone::Good };
                let words = if sent > 1 { format!("Sent {sent} comments. {answer}") } else { answer.clone() };
                vec![Step::Say(tone, words)]
            }
            (sent, 0) if sent == 1 || is_verdict => vec![Step::Say(Tone::Good, done)],
            (sent, 0) => vec![Step::Say(Tone::Good, format!("Sent {sent} comments"))],
            (0, 1) => vec![Step::Say(Tone::Bad, format!("Could not {what}: {why}. {kept}"))],
            (sent, failed) => {
                let words = format!("Sent {sent} of {} comments. Last error: {why}. The rest is saved.", sent + failed);
                vec![Step::Say(Tone::Bad, words)]
            }
        }
    }
}

/// Returns whether the results of quick actions contain a refusal.
fn is_refusal(answer: &str) -> bool {
    answer.contains("Could not apply")
}

/// Returns the pause that a server with too many requests asks for.
fn pause_of(after: Option<std::time::Duration>) -> SignedDuration {
    after.map_or(DEFAULT_PAUSE, |after| SignedDuration::try_from(after).unwrap_or(SignedDuration::MAX).max(RETRY_DELAY))
}

/// Returns the error without its final period, to be continued in a sentence. If the comment may have arrived, the outbox
/// itself checks whether it did, so the user needs no advice.
fn reason(error: &Error) -> String {
    let words = format!("{}: {}", error.title(), error.message());
    match error.is_temporary() || error.is_uncertain() {
        true => words,
        false => error.with_advice(error.write_advice()).trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests;
