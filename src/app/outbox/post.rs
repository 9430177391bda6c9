//! Carries out what the outbox says: looks through the store, sends as writes, keeps on disk.

use super::{Claim, Claimed, Draft, Evidence, NoteNow, Noteable, State, Step};
use crate::api::Error;
use crate::api::commits::{CommitComment, ListCommitComments};
use crate::api::notes::{Note, NoteReply};
use crate::app::action::{Action, Effect};
use crate::app::pane::View;
use crate::app::{App, KeptKey};
use crate::store::{Load, Rows, Value, Want};

/// Pages that are looked through for a comment at most.
const PAGES: u32 = 20;

/// The notes of a thing whose notes have numbers, newest first: what is known of them, and how they are asked for.
fn notes_of<'a>(view: &View<'a>, on: &Noteable) -> Option<(Rows<'a, Note>, Load)> {
    Some((on.notes(view, true)?, on.load_notes(true, 1)?))
}

fn comments_of(project: &crate::api::Id, sha: &str) -> ListCommitComments {
    ListCommitComments { id: project.clone(), sha: sha.to_owned() }
}

/// Returns what has to be read of the server to tell whether the draft arrived.
fn look_of(view: &View, draft: &Draft) -> Option<Load> {
    // What changes a note is found in that note.
    if let Some((note, _)) = &draft.edits {
        return draft.on.load_note(*note);
    }
    match (&draft.on, notes_of(view, &draft.on)) {
        (Noteable::Commit { project, sha }, _) => {
            let comments = comments_of(project, sha);
            let rows: Rows<CommitComment> = view.store.list(&comments);
            Some(Load::list(&comments, if rows.more { (rows.pages() + 1).min(PAGES) } else { rows.pages() }))
        }
        (_, Some((rows, load))) => {
            let pages = if has_all(&rows, draft.state.before()) { rows.pages() } else { (rows.pages() + 1).min(PAGES) };
            Some(Load { pages: pages.max(1), ..load })
        }
        (_, None) => None,
    }
}

/// Returns whether the notes that came since are all known.
fn has_all(rows: &Rows<Note>, before: Option<u64>) -> bool {
    let oldest = rows.len().checked_sub(1).and_then(|last| rows.get(last)).map(|note| note.id);
    rows.known
        && (!rows.more || rows.pages() >= PAGES || before.is_none_or(|before| oldest.is_some_and(|id| id <= before)))
}

/// Returns what the server has, once it was read again; the failure where that is of no use to try again.
fn evidence(view: &View, draft: &Draft) -> Option<Result<Evidence, Error>> {
    // Whose notes would be one's own is to be known first: else nothing counts as arrived.
    let me = view.me()?.id;
    if let Some((note, _)) = &draft.edits {
        return match draft.on.note(view, *note) {
            NoteNow::Coming => None,
            NoteNow::Failed(error) => Some(Err(error.clone())),
            NoteNow::Here(note) => {
                let arrived = note.is_some_and(|note| draft.is(note, me));
                let changed = note.and_then(|note| draft.conflict(&note.body));
                Some(Ok(Evidence { mark: 0, arrived, changed }))
            }
        };
    }
    match (&draft.on, notes_of(view, &draft.on)) {
        (_, Some((rows, _))) => fresh(&rows)
            .map(|fresh| {
                fresh?;
                let mark = rows.iter().map(|note| note.id).max().unwrap_or(0);
                let since = draft.state.before().unwrap_or(u64::MAX);
                let arrived = rows.iter().any(|note| note.id > since && draft.is(note, me));
                Ok(Evidence { mark, arrived, changed: None })
            })
            .filter(|outcome| outcome.is_err() || has_all(&rows, draft.state.before())),
        (Noteable::Commit { project, sha }, None) => {
            let rows = view.store.list(&comments_of(project, sha));
            fresh(&rows)
                .map(|fresh| {
                    fresh?;
                    let mark = rows.iter().filter(|comment| draft.is_comment(comment, me)).count() as u64;
                    let arrived = draft.state.before().is_some_and(|before| mark > before);
                    Ok(Evidence { mark, arrived, changed: None })
                })
                .filter(|outcome| outcome.is_err() || !rows.more || rows.pages() >= PAGES)
        }
        (_, None) => None,
    }
}

/// Returns whether the rows are of now; `None` while they are asked for.
fn fresh<T: 'static>(rows: &Rows<T>) -> Option<Result<(), Error>> {
    if !rows.settled(u32::MAX) {
        return None;
    }
    match rows.error {
        Some(error) => Some(Err(error.clone())),
        None => rows.known.then_some(Ok(())),
    }
}

impl App {
    /// Puts drafts in line to be sent.
    pub(in crate::app) fn post(&mut self, keys: &[String]) {
        for key in keys {
            if let Some(draft) = self.drafts.get(key).and_then(|kept| Draft::read(kept)) {
                self.outbox.post(key, &draft);
            }
        }
    }

    /// Finds out what became of drafts that went out, and may have arrived.
    pub(in crate::app) fn resolve(&mut self, keys: &[String]) {
        for key in keys {
            if let Some(draft) = self.drafts.get(key).and_then(|kept| Draft::read(kept)) {
                self.outbox.resolve(key, &draft);
            }
        }
    }

    /// The same of all of them, wherever they are: once it is known whose notes would be one's own.
    pub(in crate::app) fn resolve_all(&mut self) {
        if !self.session.offline {
            let keys: Vec<String> = self.drafts.keys().filter(|key| key.starts_with("draft ")).cloned().collect();
            self.resolve(&keys);
        }
    }

    /// What the outbox needs of the server.
    pub(in crate::app) fn outbox_wants(&self, view: &View) -> Vec<Want> {
        let draft = self.outbox.looking().and_then(|key| Draft::read(self.drafts.get(key)?));
        draft.and_then(|draft| look_of(view, &draft)).map(Want::from).into_iter().collect()
    }

    /// Goes on with what is in line, as far as that goes without an answer.
    pub(in crate::app) fn deliver(&mut self, effects: &mut Vec<Effect>) {
        // Each turn takes something out of line, or waits.
        for _ in 0..100 {
            let looking = self.outbox.looking().map(str::to_owned);
            let looked = looking.is_some();
            let steps = match looking {
                Some(key) => {
                    let Some(draft) = self.drafts.get(&key).and_then(|kept| Draft::read(kept)) else {
                        self.outbox.forget();
                        continue;
                    };
                    match evidence(&self.view_of(), &draft) {
                        None => return,
                        Some(Ok(evidence)) => self.outbox.looked(evidence, &draft.state, self.now),
                        Some(Err(error)) => self.outbox.look_failed(&error, &draft.state, self.now),
                    }
                }
                None => {
                    let drafts = &self.drafts;
                    self.outbox.begin(self.now, |key| drafts.get(key).is_some_and(|kept| Draft::read(kept).is_some()))
                }
            };
            if steps.is_empty() && !looked {
                return;
            }
            for step in steps {
                self.step(step, effects);
            }
        }
    }

    fn step(&mut self, step: Step, effects: &mut Vec<Effect>) {
        let draft = |app: &App, key: &str| app.drafts.get(key).and_then(|kept| Draft::read(kept));
        match step {
            Step::Claim(key) => {
                let on_disk = self.key_on_disk(&key);
                effects.push(Effect::Claim(key, on_disk));
            }
            Step::Look(key) => {
                if let Some(want) = draft(self, &key).and_then(|draft| look_of(&self.view_of(), &draft)) {
                    self.store.refresh(&[want.into()]);
                }
            }
            Step::Send(key) => {
                if let Some(draft) = draft(self, &key) {
                    self.send(draft.write(), KeptKey::Draft(key), None, effects);
                }
            }
            Step::Keep(key, state) => {
                if let Some(draft) = draft(self, &key) {
                    let kept = Draft { state, ..draft }.to_json();
                    self.act(Action::Keep(key, Some(kept)), effects);
                }
            }
            Step::Conflict(key, now) => {
                if let Some(draft) = draft(self, &key) {
                    let why = "Somebody else has changed the note; send again to overwrite it".to_owned();
                    let kept = Draft { state: State::Failed { why, before: None }, base: Some(now), ..draft }.to_json();
                    self.act(Action::Keep(key, Some(kept)), effects);
                }
            }
            Step::Drop(key) => {
                // One that arrived without our hearing of it is to be seen, too.
                if let Some(draft) = draft(self, &key) {
                    self.store.touch(draft.write().touches);
                }
                self.act(Action::Keep(key, None), effects);
            }
            Step::Say(tone, words) => self.say(tone, words),
        }
    }

    /// Whether the draft `key` is ours to send was found out. What is on disk of it is what holds.
    pub(in crate::app) fn claimed(&mut self, key: &str, claim: Claim, effects: &mut Vec<Effect>) {
        let Some(known) = self.drafts.get(key).and_then(|kept| Draft::read(kept)) else {
            return self.outbox.forget_claim(key);
        };
        let claimed = match claim {
            Claim::Elsewhere => Claimed::Elsewhere,
            Claim::Gone => Claimed::Gone,
            Claim::Ours(there) => match there.as_deref().and_then(Draft::read) {
                None => Claimed::Ours(known.state),
                Some(there) => {
                    let same = there.body() == known.body() && there.edits == known.edits;
                    let state = there.state.clone();
                    self.drafts.insert(key.to_owned(), there.to_json());
                    if same { Claimed::Ours(state) } else { Claimed::Other }
                }
            },
        };
        for step in self.outbox.claimed(key, claimed) {
            self.step(step, effects);
        }
    }

    /// The write that sent the draft `key` ended.
    pub(in crate::app) fn delivered(&mut self, key: &str, outcome: &Result<Value, Error>, effects: &mut Vec<Effect>) {
        let state = self.drafts.get(key).and_then(|kept| Draft::read(kept)).map(|draft| draft.state);
        let number = |value: &Value| match value.downcast_ref::<NoteReply>() {
            Some(reply) => reply.id(),
            None => 0,
        };
        let outcome = outcome.as_ref().map(number);
        let steps = self.outbox.answered(outcome, &state.unwrap_or_default(), self.now);
        for step in steps {
            self.step(step, effects);
        }
    }
}
