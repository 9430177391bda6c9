//! Writes in flight, and what follows on their replies.
//!
//! # From a command to its result
//!
//! 1. A command requests `Action::Send`, or opens a form, which requests it when it is submitted. The app numbers the
//!    write and returns `Effect::Send`. The executor sends it once.
//! 2. `Msg::Sent` brings the reply. The overlay that waits for it and the callback of the action see it first: a form
//!    closes, and the place selects the new row. Neither shows the reply itself.
//! 3. The store marks as stale what the write outdates: the reads that are about one of its topics and about the same
//!    object (`src/api/topic.rs`).
//! 4. `settle` requests the stale reads that are still wanted. Their replies have a new revision, so lists and
//!    computations follow.
//!
//! `Action::SendLater` waits before step 1, for what people may want to take back at once and the server cannot undo.

use super::action::{Action, Effect, FollowUp, Msg};
use super::context::Cx;
use super::overlay::AfterEvent;
use super::past_tense::{self, past_tense};
use super::publishing::Publishing;
use super::text_key::DraftKey;
use super::tone::Tone;
use super::tour::Event;
use super::uploads::Attachment;
use super::waiting_writes::WaitingWrites;
use super::{App, reconcile};
use api::identity::AccessToken;
use api::{Error, Fault};
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use store::{Value, Write};

/// A write in flight.
pub(super) struct Pending {
    write: Write,
    carries: SentText,
    /// The callback for the reply.
    then: Option<FollowUp>,
}

/// The saved text that a write sends, by its key.
pub(super) enum SentText {
    Nothing,
    /// No text, and no message if it succeeds: the user was told at once that it is done.
    Silent,
    /// A saved text: its key, and its content when the write was sent.
    Kept(String, Option<String>),
    /// A draft of the outbox.
    Draft(DraftKey),
    /// A file of a draft of the outbox, which is uploaded before the draft is sent.
    Attachment(DraftKey, Attachment),
}

impl SentText {
    /// Returns whether the write belongs to the outbox, which reports its results.
    fn is_of_outbox(&self) -> bool {
        matches!(self, SentText::Draft(_) | SentText::Attachment(..))
    }
}

/// The writes in flight, by number, and those that wait.
#[derive(Default)]
pub(super) struct Writes {
    pending: HashMap<u64, Pending>,
    last: u64,
    /// The keys of the saved texts that writes in flight carry.
    pub texts: HashSet<String>,
    pub waiting: WaitingWrites,
    pub publishing: Publishing,
}

impl Writes {
    /// Returns the number of writes in flight.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    fn begin(&mut self, pending: Pending) -> u64 {
        self.last += 1;
        if let SentText::Kept(key, _) = &pending.carries {
            self.texts.insert(key.clone());
        }
        self.pending.insert(self.last, pending);
        self.last
    }

    fn end(&mut self, number: u64) -> Option<Pending> {
        let pending = self.pending.remove(&number)?;
        if let SentText::Kept(key, _) = &pending.carries {
            self.texts.remove(key);
        }
        Some(pending)
    }
}

impl App {
    pub(super) fn carrying(&self, key: Option<String>) -> SentText {
        key.map_or(SentText::Nothing, |key| {
            let text = self.saved.drafts.plain(&key).map(str::to_owned);
            SentText::Kept(key, text)
        })
    }

    pub(super) fn send(&mut self, write: Write, carries: SentText, then: Option<FollowUp>, effects: &mut Vec<Effect>) {
        // Overlays do not wait for writes of the outbox.
        let is_draft = carries.is_of_outbox();
        let number = self.writes.begin(Pending { write: write.clone(), carries, then });
        if let Some(overlay) = self.overlays.last_mut().filter(|_| !is_draft) {
            overlay.sending(number);
        }
        let refused = match (self.session.read_only, self.session.offline) {
            (true, _) => Some(Fault::ReadOnly),
            (_, true) => Some(reconcile::offline()),
            _ => self
                .view_of()
                .token()
                .and_then(AccessToken::missing_scope)
                .map(|scope| Fault::Scope(vec![scope.into()])),
        };
        if let Some(fault) = refused {
            let error = Error { tried: write.request.line(), fault };
            return self.on_sent(number, Err(error), effects);
        }
        effects.push(Effect::Send(number, write));
    }

    /// Sends writes after a time for which they can be taken back with the command `undo`; `what` describes them together.
    pub(super) fn send_later(&mut self, writes: Vec<Write>, what: String, undo: &str, effects: &mut Vec<Effect>) {
        if self.session.read_only || self.session.offline {
            // It is refused at once.
            return writes.into_iter().for_each(|write| self.send(write, SentText::Nothing, None, effects));
        }
        self.say(Tone::Good, format!("{}. ‹{undo}› undoes it", past_tense(&what)));
        let due = self.writes.waiting.add(writes, what, self.clock.now());
        if let Some(message) = &mut self.messages.current {
            message.expires_at = message.expires_at.map(|_| due);
        }
    }

    /// Takes the last writes back that wait.
    pub(super) fn take_back(&mut self) {
        if let Some(what) = self.writes.waiting.take_back() {
            self.say(Tone::Info, format!("Canceled: {what}"));
        }
    }

    /// Sends the writes that are due at a time.
    pub(super) fn send_due(&mut self, at: Timestamp, effects: &mut Vec<Effect>) {
        for write in self.writes.waiting.take_due(at) {
            self.send(write, SentText::Silent, None, effects);
        }
    }

    /// Takes what arrived while the program ended. Returns what the user must know of writes: those that failed, and those
    /// without a reply.
    pub fn end(&mut self, arrived: impl IntoIterator<Item = Msg>) -> Vec<String> {
        let mut problems = Vec::new();
        for msg in arrived {
            if let Msg::Sent(number, outcome) = msg {
                let has_failed = outcome.is_err();
                self.on_sent(number, outcome, &mut Vec::new());
                problems.extend(self.messages.current.take().filter(|_| has_failed).map(|message| message.words));
            }
        }
        // Drafts are on disk with what is known of them.
        let open = self.writes.pending.values().filter(|pending| !pending.carries.is_of_outbox());
        problems
            .extend(open.map(|pending| format!("The server did not reply to this in time: {}", pending.write.what)));
        problems
    }

    /// Stops a write that uploads files.
    pub(super) fn stop_upload(&self, number: u64, effects: &mut Vec<Effect>) {
        if let Some(pending) = self.writes.pending.get(&number) {
            effects.push(Effect::StopUpload(number, pending.write.request.line()));
        }
    }

    /// Stops the uploads of files of drafts.
    pub(super) fn stop_attachments(&self, effects: &mut Vec<Effect>) {
        let is_one = |pending: &Pending| matches!(pending.carries, SentText::Attachment(..));
        let numbers = self.writes.pending.iter().filter(|(_, pending)| is_one(pending)).map(|(number, _)| *number);
        numbers.for_each(|number| self.stop_upload(number, effects));
    }

    pub(super) fn on_sent(&mut self, number: u64, outcome: Result<Value, Error>, effects: &mut Vec<Effect>) {
        let Some(pending) = self.writes.end(number) else { return };
        self.store.record_reachability(pending.write.request.route, outcome.as_ref().err(), self.clock.now());
        if let Err(Error { fault: Fault::Unsupported(why), .. }) = &outcome {
            self.store.record_unsupported(pending.write.request.route, why.clone());
        }
        let mut shown = false;
        let mut overlays = std::mem::take(&mut self.overlays);
        let before = overlays.len();
        let mut cx = Cx::new(self.view_of(), self.nav.here());
        overlays.retain_mut(|overlay| {
            let stay = overlay.sent(number, &outcome, &mut cx);
            shown |= stay == Some(AfterEvent::KeepOpen);
            stay != Some(AfterEvent::Close)
        });
        let actions = cx.actions;
        self.set_overlays(overlays, before);
        // What may have changed is asked for again.
        if outcome.as_ref().err().is_none_or(Error::is_uncertain) {
            self.store.invalidate(&pending.write);
        }
        if outcome.is_err() {
            self.writes.waiting.forget(&pending.write);
        }
        if outcome.is_ok() {
            let (method, route) = (pending.write.request.method, pending.write.request.route);
            self.tour_event(
                |event| matches!(event, Event::Sent(known, end) if *known == method && route.ends_with(end)),
            );
        }
        match &outcome {
            // The outbox reports the results of its own writes.
            _ if pending.carries.is_of_outbox() => {}
            Ok(_) if matches!(pending.carries, SentText::Silent) => {}
            Ok(reply) => {
                // A text that was edited after the write was sent is kept.
                if let SentText::Kept(key, sent) = &pending.carries
                    && self.saved.drafts.plain(key) == sent.as_deref()
                {
                    self.act(Action::SaveText(key.clone(), None), effects);
                }
                let undo = pending.write.undo.map(|(command, words)| format!(". ‹{command}› {words}"));
                self.say(
                    Tone::Good,
                    format!("{}{}", past_tense::outcome(&pending.write.what, reply), undo.unwrap_or_default()),
                );
            }
            Err(error) if !shown => {
                let kept = if matches!(pending.carries, SentText::Kept(..)) { " Your text is saved." } else { "" };
                let said = error.message();
                let words = format!("Could not {}: {said}.{kept} {}", pending.write.what, error.write_advice());
                self.say(Tone::Bad, words.trim_end().to_owned());
            }
            Err(_) => {}
        }
        for action in actions {
            self.act(action, effects);
        }
        match &pending.carries {
            SentText::Draft(key) => self.delivered(key, &outcome, effects),
            SentText::Attachment(key, attachment) => self.attached(key, attachment, &outcome, effects),
            SentText::Nothing | SentText::Silent | SentText::Kept(..) => {}
        }
        if let Some(then) = pending.then {
            let mut cx = Cx::new(self.view_of(), self.nav.here());
            then(&outcome, &mut cx);
            for action in cx.actions {
                self.act_or_defer(action, effects);
            }
        }
    }
}
