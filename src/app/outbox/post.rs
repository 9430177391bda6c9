//! Carries out the steps of the outbox: checks the server through the store, sends writes, and saves to disk.

use super::{Claim, Claimed, Draft, DraftNoteChange, DraftState, DraftThread, Evidence, NoteNow, Step, Verdict};
use crate::App;
use crate::action::{Action, Effect, FollowUp, Published, ReviewSubmission, follow_up};
use crate::context::Cx;
use crate::outbox::NoteableExt;
use crate::overlay::confirm::Confirm;
use crate::publishing::{AfterSending, check_after};
use crate::text_key::DraftKey;
use crate::tone::Tone;
use crate::uploads::{self, Attachment};
use crate::view::View;
use crate::writes::SentText;
use api::commits::{CommitComment, ListCommitComments};
use api::decisions::GetApprovals;
use api::discussions::Discussion;
use api::draft_notes::{PublishDraftNote, PublishReview};
use api::endpoint::Endpoint;
use api::identity::{GetMetadata, Metadata};
use api::merge_requests::ListReviewers;
use api::notes::{DeleteNote, Note, NoteReply};
use api::users::GetCurrentUser;
use api::{Error, Fault, Noteable};
use domain::quick_actions;
use std::path::PathBuf;
use std::rc::Rc;
use store::{Load, Rows, Value, Want, Write};
use ui::text;

/// The releases since which an approval, and the summary of a review, can publish the draft notes.
const APPROVAL_PUBLISHES_SINCE: (u32, u32) = (18, 6);
const SUMMARY_PUBLISHES_SINCE: (u32, u32) = (19, 2);
/// The maximum number of pages searched for a comment.
const MAX_PAGES: u32 = 20;

/// Returns the known notes of an object whose notes have IDs, newest first, and the load for them.
fn notes_of<'a>(view: &View<'a>, on: &Noteable) -> Option<(Rows<'a, Note>, Load)> {
    Some((on.notes(view, true)?, on.load_notes(true, 1)?))
}

fn comments_of(project: &api::Id, sha: &str) -> ListCommitComments {
    ListCommitComments { id: project.clone(), sha: sha.to_owned() }
}

/// Returns the requests that show the verdicts on a merge request: the approvals, and the states of the reviewers.
fn verdicts_on(on: &Noteable) -> Option<(GetApprovals, ListReviewers)> {
    let Noteable::MergeRequest { project, iid } = on else { return None };
    let (id, merge_request_iid) = (project.clone(), *iid);
    Some((GetApprovals { id: id.clone(), merge_request_iid }, ListReviewers { id, merge_request_iid }))
}

/// Returns whether the user's review has the verdict of a draft, and the comments that it publishes, once the server has
/// been asked again.
fn has_verdict(view: &View, draft: &Draft, verdict: &Verdict, me: u64) -> Option<Result<bool, Error>> {
    let (approvals, reviewers) = verdicts_on(&draft.on)?;
    if let Verdict::Approve { .. } = verdict {
        let reply = view.store.get(&approvals);
        if !view.store.is_fresh(&approvals.request()) {
            return None;
        }
        let is_published = match draft.on.list_draft_notes().filter(|_| draft.publishes.is_some()) {
            None => true,
            Some(list) => {
                let rows = view.store.list(&list);
                if let Err(error) = fresh(&rows)? {
                    return Some(Err(error));
                }
                rows.is_empty()
            }
        };
        return Some(match (reply.value, reply.error) {
            (_, Some(error)) => Err(error.clone()),
            (value, None) => Ok(is_published && value.is_some_and(|approvals| approvals.is_mine())),
        });
    }
    let rows = view.store.list(&reviewers);
    let own = || rows.iter().find(|reviewer| reviewer.user.id == me).map_or("", |reviewer| reviewer.state.as_str());
    Some(fresh(&rows)?.map(|()| verdict.is_given_by(own())))
}

/// Returns the loads that are needed to tell whether the draft arrived.
fn loads_for(view: &View, draft: &Draft) -> Vec<Want> {
    let draft_notes = draft.on.list_draft_notes().filter(|_| draft.verdict.is_some() && draft.publishes.is_some());
    let loads = load_for(view, draft).into_iter().chain(draft_notes.map(|list| Load::list(&list, 1)));
    loads.map(Want::from).collect()
}

fn load_for(view: &View, draft: &Draft) -> Option<Load> {
    if let Some(verdict) = &draft.verdict {
        let (approvals, reviewers) = verdicts_on(&draft.on)?;
        return Some(match verdict {
            Verdict::Approve { .. } => Load::single(&approvals),
            Verdict::RequestChanges | Verdict::Withdraw => Load::list(&reviewers, 1),
        });
    }
    // An edit is found in the note itself.
    if let Some((note, _)) = &draft.edits {
        return draft.on.load_note(*note);
    }
    if let Some(list) = draft.on.list_draft_notes().filter(|_| draft.draft_note.is_some()) {
        return Some(Load::list(&list, 1));
    }
    match (&draft.on, notes_of(view, &draft.on)) {
        (Noteable::Commit { project, sha }, _) => {
            let comments = comments_of(project, sha);
            let rows: Rows<CommitComment> = view.store.list(&comments);
            Some(Load::list(&comments, rows.pages_to_end(MAX_PAGES)))
        }
        (_, Some((rows, load))) => {
            let pages = if has_all(&rows, draft.state.before()) { rows.pages() } else { rows.pages_to_end(MAX_PAGES) };
            Some(Load { pages: pages.max(1), ..load })
        }
        (_, None) => None,
    }
}

/// Returns whether all notes since `before` are known.
fn has_all(rows: &Rows<Note>, before: Option<u64>) -> bool {
    let oldest = rows.len().checked_sub(1).and_then(|last| rows.get(last)).map(|note| note.id);
    rows.is_loaded && (!rows.has_next(MAX_PAGES) || before.is_none_or(|before| oldest.is_some_and(|id| id <= before)))
}

/// Returns the state of the server once it has been fetched again, or the error if that failed; `None` while it is
/// being fetched.
fn evidence(view: &View, draft: &Draft) -> Option<Result<Evidence, Error>> {
    // The user must be known first: otherwise no note would count as the user's own.
    let Some(me) = view.me().map(|me| me.id) else {
        return view.store.get(&GetCurrentUser::default()).error.cloned().map(Err);
    };
    if let Some(verdict) = &draft.verdict {
        let has = has_verdict(view, draft, verdict, me)?;
        return Some(has.map(|arrived| Evidence { arrived, ..Evidence::default() }));
    }
    if let Some((note, _)) = &draft.edits {
        return match draft.on.note(view, *note) {
            NoteNow::Coming => None,
            NoteNow::Failed(error) => Some(Err(error.clone())),
            NoteNow::Here(note) => {
                let arrived = note.is_some_and(|note| draft.is(note, me));
                let changed = note.and_then(|note| draft.conflict(&note.body));
                Some(Ok(Evidence { arrived, changed, ..Evidence::default() }))
            }
        };
    }
    if let Some(list) = draft.on.list_draft_notes().filter(|_| draft.draft_note.is_some()) {
        let rows = view.store.list(&list);
        return Some(fresh(&rows)?.map(|()| {
            let mark = rows.iter().map(|note| note.id).max().unwrap_or(0);
            let before = draft.state.before().unwrap_or(u64::MAX);
            let arrived = rows.iter().any(|note| draft.is_draft_note(note, before));
            Evidence { mark, arrived, ..Evidence::default() }
        }));
    }
    match (&draft.on, notes_of(view, &draft.on)) {
        (_, Some((rows, _))) => fresh(&rows)
            .map(|fresh| {
                fresh?;
                let mark = rows.iter().map(|note| note.id).max().unwrap_or(0);
                let since = draft.state.before().unwrap_or(u64::MAX);
                let arrived = rows.iter().any(|note| note.id > since && draft.is(note, me));
                Ok(Evidence { mark, arrived, is_silent: draft.is_silent(), ..Evidence::default() })
            })
            .filter(|outcome| outcome.is_err() || has_all(&rows, draft.state.before())),
        (Noteable::Commit { project, sha }, None) => {
            let rows = view.store.list(&comments_of(project, sha));
            fresh(&rows)
                .map(|fresh| {
                    fresh?;
                    let mark = rows.iter().filter(|comment| draft.is_comment(comment, me)).count() as u64;
                    let arrived = draft.state.before().is_some_and(|before| mark > before);
                    Ok(Evidence { mark, arrived, ..Evidence::default() })
                })
                .filter(|outcome| outcome.is_err() || !rows.has_next(MAX_PAGES))
        }
        (_, None) => None,
    }
}

/// Returns whether the rows are up to date, or the error if they could not be fetched; `None` while they are being
/// fetched.
fn fresh<T: 'static>(rows: &Rows<T>) -> Option<Result<(), Error>> {
    if !rows.is_settled(u32::MAX) {
        return None;
    }
    match rows.error {
        Some(error) => Some(Err(error.clone())),
        None => rows.is_loaded.then_some(Ok(())),
    }
}

/// The reply to a comment.
struct PostReply<'r> {
    /// The ID of the note; 0 if there is none.
    id: u64,
    note: Option<&'r Note>,
    /// The results of quick actions.
    summary: Option<&'r Vec<String>>,
}

impl<'r> PostReply<'r> {
    fn of(reply: &'r Value) -> PostReply<'r> {
        if let Some(thread) = reply.downcast_ref::<Discussion>() {
            let note = thread.notes.last();
            return PostReply { id: note.map_or(0, |note| note.id), note, summary: thread.summary.as_ref() };
        }
        let created = reply.downcast_ref::<NoteReply>();
        let note = reply.downcast_ref().or_else(|| created?.note());
        let id = note.map(|note| note.id).or_else(|| created.map(NoteReply::id));
        PostReply { id: id.unwrap_or(0), note, summary: note.and_then(|note| note.summary.as_ref()) }
    }
}

/// Returns the first command of a sent text that the server did not know, and so shows as text.
fn unknown_command<'t>(draft: &'t Draft, reply: &PostReply) -> Option<&'t str> {
    let shown = reply.note.filter(|note| note.id > 0)?;
    let sent = quick_actions::split(&draft.text, |name| quick_actions::find(name).is_some()).1;
    let is_text = |name: &str| {
        shown.body.lines().filter_map(quick_actions::command_of).any(|command| command.name.eq_ignore_ascii_case(name))
    };
    sent.into_iter().map(|command| command.name).find(|name| is_text(name))
}

impl App {
    /// Queues drafts to be sent.
    pub(crate) fn post(&mut self, keys: &[DraftKey]) {
        for key in keys {
            if let Some(draft) = self.saved.draft(key) {
                self.outbox.post(key, draft);
            }
        }
    }

    /// Finds out whether drafts that were sent have arrived.
    pub(crate) fn check_drafts(&mut self, keys: &[DraftKey]) {
        for key in keys {
            if let Some(draft) = self.saved.draft(key) {
                self.outbox.check(key, draft);
            }
        }
    }

    /// See [`Action::CheckPublished`].
    pub(crate) fn check_published(&mut self, drafts: Vec<Draft>, before: u64, effects: &mut Vec<Effect>) {
        let Some(mut key) = drafts.first().map(|draft| draft.on.new_key(&self.saved.drafts, self.clock.now())) else {
            return;
        };
        for draft in drafts {
            let why = "the server published the review without this comment".to_owned();
            let draft = Draft { draft_note: None, state: DraftState::Unknown { before, why }, ..draft };
            self.outbox.check_published(&key, &draft);
            self.act(Action::SaveDraft(key.clone(), Box::new(draft)), effects);
            key = key.next();
        }
    }

    /// Finds out whether any draft arrived that was being sent, once it is known whose notes are the user's own.
    pub(crate) fn check_all_drafts(&mut self) {
        if !self.session.offline {
            let keys: Vec<DraftKey> = self.saved.drafts.drafts().map(|(key, _)| key.clone()).collect();
            self.check_drafts(&keys);
        }
    }

    /// Returns the number of comments that wait to be sent, for the first line of the screen; `None` if none waits.
    pub(crate) fn waiting_comments(&self) -> Option<String> {
        let count = self.outbox.unsent().count();
        (count > 0 && self.outbox.is_held_up())
            .then(|| format!("{} waiting", text::count_noun(count as u64, "comment")))
    }

    /// Asks for confirmation if comments wait to be sent; returns whether any does.
    pub(crate) fn confirm_quit_if_unsent(&mut self) -> bool {
        let count = self.outbox.unsent().count();
        if count > 0 {
            let (have, stay) = if count == 1 { ("has", "It stays") } else { ("have", "They stay") };
            let question = format!(
                "{} {have} not been sent. {stay} among your drafts. Quit?",
                text::count_noun(count as u64, "comment")
            );
            self.overlays.push(Box::new(Confirm::new("Quit", question, Action::QuitAnyway)));
        }
        count > 0
    }

    /// Records in the drafts that wait that the program ended before they were sent.
    pub(crate) fn keep_unsent(&mut self, effects: &mut Vec<Effect>) {
        let keys: Vec<DraftKey> = self.outbox.unsent().cloned().collect();
        for key in keys {
            if let Some(draft) = self.saved.draft(&key).filter(|draft| draft.state.before().is_none()).cloned() {
                let state = DraftState::Failed { why: "labscope ended before it was sent".to_owned(), before: None };
                self.act(Action::SaveDraft(key, Box::new(Draft { state, ..draft })), effects);
            }
        }
    }

    /// Says how many comments were not sent before the program started. After a crash, nothing tells those that waited
    /// to be sent from those that were being written.
    pub(crate) fn tell_unsent(&mut self) {
        let count = self.saved.drafts.drafts().filter(|(_, draft)| draft.state.before().is_none()).count();
        if count > 0 {
            let (have, them) = if count == 1 { ("has", "it") } else { ("have", "them") };
            self.say(
                Tone::Info,
                format!("{} {have} not been sent: ‹drafts› lists {them}.", text::count_noun(count as u64, "comment")),
            );
        }
    }

    /// Returns the wants of the outbox.
    pub(crate) fn outbox_wants(&self, view: &View) -> Vec<Want> {
        let draft = self.outbox.checking().and_then(|key| self.saved.draft(key));
        let mut wants = draft.map(|draft| loads_for(view, draft)).unwrap_or_default();
        wants.extend(
            self.writes
                .publishing
                .after_sending
                .iter()
                .filter_map(|after| Some(after.published.as_ref()?.first.clone().into())),
        );
        wants
    }

    /// Submits a review. Comments that are in flight, or have arrived since the review was opened, are not sent again.
    pub(crate) fn submit(&mut self, review: ReviewSubmission, effects: &mut Vec<Effect>) {
        let ReviewSubmission { mut keys, mut summary, as_draft_notes, mut verdict, publish, published } = review;
        let then = self.publication(publish, published.is_none(), &mut summary, &mut verdict, effects);
        if let Some((key, draft)) = verdict {
            // It replaces a verdict of this merge request that was not sent.
            let before = draft.on.drafts(&self.saved.drafts).into_iter().filter(|(_, known)| known.verdict.is_some());
            let before = before.filter(|(key, _)| self.outbox.progress(key).is_none());
            let before: Vec<DraftKey> = before.map(|(key, _)| key.clone()).collect();
            for key in before {
                self.act(Action::DeleteDraft(key), effects);
            }
            self.act(Action::SaveDraft(key, Box::new(draft)), effects);
        }
        keys.retain(|key| self.saved.draft(key).is_some());
        let unsent = |key: &DraftKey| {
            let draft = self.saved.draft(key)?;
            // A comment that may have arrived is looked for in the form in which it was sent.
            let waits = self.outbox.progress(key).is_none() && draft.state.before().is_none();
            waits.then(|| (key.clone(), draft.clone()))
        };
        let mut drafts: Vec<(DraftKey, Draft)> = keys.iter().filter_map(unsent).collect();
        for (_, draft) in &mut drafts {
            draft.publishes = None;
            let has_place = draft.position.is_some() || draft.thread.is_some();
            if as_draft_notes && has_place && draft.edits.is_none() && draft.draft_note.is_none() {
                draft.draft_note = Some(DraftNoteChange::Create);
            }
        }
        // Like other comments without a place, the summary is a plain note: as a draft note, it would become a thread that
        // has to be resolved.
        if let Some((key, draft)) = summary {
            keys.push(key.clone());
            drafts.push((key, draft));
        }
        for (key, mut draft) in drafts {
            draft.state = DraftState::Kept;
            self.act(Action::SaveDraft(key, Box::new(draft)), effects);
        }
        self.post(&keys);
        self.writes.publishing.after_sending.extend(then.map(|then| AfterSending { keys, then, published }));
    }

    /// Returns the action that publishes the draft notes with `publish`, and then sends the verdict. Where the server can, an
    /// approval publishes them itself, or the summary does, which is then saved and taken out of `summary`.
    /// `is_alone` if there is nothing else than the verdict.
    fn publication(
        &mut self,
        publish: Option<PublishReview>,
        is_alone: bool,
        summary: &mut Option<(DraftKey, Draft)>,
        verdict: &mut Option<(DraftKey, Draft)>,
        effects: &mut Vec<Effect>,
    ) -> Option<Action> {
        let then = verdict.as_ref().map(|(key, _)| key.clone());
        let send = |key| Action::SendDrafts(vec![key]);
        let Some(publish) = publish else { return then.map(send) };
        let release = self.store.get(&GetMetadata {}).value.and_then(Metadata::release).unwrap_or_default();
        let approval = verdict
            .as_mut()
            .map(|(_, draft)| draft)
            .filter(|draft| matches!(draft.verdict, Some(Verdict::Approve { .. })));
        if let Some(draft) = approval {
            if release >= APPROVAL_PUBLISHES_SINCE {
                draft.publishes = Some("approved".to_owned());
                return then.map(send);
            }
        } else if release >= SUMMARY_PUBLISHES_SINCE {
            // A summary of quick actions alone would be refused after the draft notes have been published.
            if let Some((key, mut draft)) = summary.take_if(|(_, draft)| !draft.is_silent()) {
                (draft.publishes, draft.state) = (publish.reviewer_state, DraftState::Kept);
                self.act(Action::SaveDraft(key.clone(), Box::new(draft)), effects);
                return Some(Action::SendDrafts([key].into_iter().chain(then).collect()));
            }
        }
        let name = format!("!{}", publish.merge_request_iid);
        let alone = verdict.as_ref().filter(|_| is_alone).and_then(|(_, draft)| draft.verdict.as_ref());
        let what = alone.map_or_else(|| format!("submit your review of {name}"), |verdict| verdict.what(&name));
        let then_send = follow_up::<PublishReview>(move |outcome, cx| {
            let Some(key) = then.clone() else { return };
            // The verdict belongs to the comments: it is given again with them.
            cx.act(if outcome.is_ok() { send(key) } else { Action::DeleteDraft(key) });
        });
        Some(Action::SendThen(None, Write::new(&publish, what), then_send))
    }

    /// Adds to an action that publishes draft notes that these are looked for afterwards.
    fn with_check(&mut self, then: Action, published: &Published) -> Action {
        let check = check_after((published.drafts)(&self.view_of()), published.before);
        match then {
            Action::SendThen(key, write, then) => {
                let both: FollowUp = Rc::new(move |outcome, cx| {
                    then(outcome, cx);
                    check(outcome, cx);
                });
                Action::SendThen(key, write, both)
            }
            // The first one publishes the others.
            Action::SendDrafts(keys) => {
                self.writes.publishing.by_draft = keys.first().cloned().map(|key| (key, check));
                Action::SendDrafts(keys)
            }
            other => other,
        }
    }

    /// Performs the actions that waited for drafts which the server has by now; if one of the drafts could not be sent,
    /// the action is dropped. Returns whether any was performed.
    fn run_after_posting(&mut self, effects: &mut Vec<Effect>) -> bool {
        let mut has_run = false;
        for AfterSending { keys, then, published } in std::mem::take(&mut self.writes.publishing.after_sending) {
            let is_read = published.as_ref().is_none_or(|published| self.store.is_fresh(&published.first.request));
            if keys.iter().any(|key| self.outbox.progress(key).is_some()) || !is_read {
                self.writes.publishing.after_sending.push(AfterSending { keys, then, published });
            } else if keys.iter().all(|key| self.outbox.has_sent(key) || self.saved.draft(key).is_none()) {
                let then = match published {
                    Some(published) => self.with_check(then, &published),
                    None => then,
                };
                self.act(then, effects);
                has_run = true;
            } else {
                let words = "Review not submitted: some of its comments could not be sent. ‹mr.drafts› lists them.";
                self.say(Tone::Bad, words.to_owned());
            }
        }
        has_run
    }

    /// Works through the queue, as far as possible without a reply.
    pub(crate) fn deliver(&mut self, effects: &mut Vec<Effect>) {
        self.process_queue(effects);
        if self.run_after_posting(effects) {
            self.process_queue(effects);
        }
    }

    fn process_queue(&mut self, effects: &mut Vec<Effect>) {
        // Each iteration takes a draft off the queue, or waits.
        for _ in 0..100 {
            let checking = self.outbox.checking().cloned();
            let was_checking = checking.is_some();
            let steps = match checking {
                Some(key) => {
                    let Some(draft) = self.saved.draft(&key) else {
                        self.outbox.forget();
                        continue;
                    };
                    match evidence(&self.view_of(), draft) {
                        None => return,
                        Some(Ok(evidence)) => self.outbox.checked(evidence, &draft.state, self.clock.now()),
                        Some(Err(error)) => self.outbox.check_failed(&error, &draft.state, self.clock.now()),
                    }
                }
                None => {
                    let saved = &self.saved;
                    self.outbox.begin(self.clock.now(), |key| saved.draft(key).is_some())
                }
            };
            if steps.is_empty() && !was_checking {
                return;
            }
            for step in steps {
                self.step(step, effects);
            }
        }
    }

    fn step(&mut self, step: Step, effects: &mut Vec<Effect>) {
        match step {
            Step::Claim(key) => {
                let on_disk = self.saved.key_on_disk(&key.to_string());
                effects.push(Effect::Claim(key, on_disk));
            }
            Step::Check(key) => {
                let wants = self.saved.draft(&key).map(|draft| loads_for(&self.view_of(), draft)).unwrap_or_default();
                self.store.refresh(&wants);
            }
            Step::Send(key) => {
                if let Some(write) = self.saved.draft(&key).map(Draft::write) {
                    self.send(write, SentText::Draft(key), None, effects);
                }
            }
            Step::Keep(key, state) => {
                if let Some(draft) = self.saved.draft(&key).cloned() {
                    self.act(Action::SaveDraft(key, Box::new(Draft { state, ..draft })), effects);
                }
            }
            Step::Conflict(key, now) => {
                if let Some(draft) = self.saved.draft(&key).cloned() {
                    let why = "Somebody else has changed the comment; send again to overwrite it".to_owned();
                    let kept = Draft { state: DraftState::Failed { why, before: None }, base: Some(now), ..draft };
                    self.act(Action::SaveDraft(key, Box::new(kept)), effects);
                }
            }
            Step::Drop(key) => {
                // A comment that arrived without a reply must also become visible.
                if let Some(draft) = self.saved.draft(&key).cloned() {
                    self.store.invalidate(&draft.write());
                    self.publish(&draft, effects);
                    let resolve = draft.resolving(&self.view_of());
                    resolve.into_iter().for_each(|write| self.act(Action::Send(write), effects));
                }
                self.act(Action::DeleteDraft(key), effects);
            }
            Step::Say(tone, words) => self.say(tone, words),
        }
    }

    /// Handles the answer to whether this process may send the draft `key`. The draft on disk takes precedence.
    pub(crate) fn on_claimed(&mut self, key: &DraftKey, claim: Claim, effects: &mut Vec<Effect>) {
        let Some(known) = self.saved.draft(key).cloned() else {
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
                    self.saved.drafts.set_draft(key.clone(), Some(there));
                    if same { Claimed::Ours(state) } else { Claimed::Other }
                }
            },
        };
        let is_ours = matches!(claimed, Claimed::Ours(_));
        if !(is_ours && self.upload_next(key, effects)) {
            self.proceed(key, claimed, effects);
        }
    }

    /// Continues with the draft `key` once it is known who may send it, and its files are uploaded.
    fn proceed(&mut self, key: &DraftKey, claimed: Claimed, effects: &mut Vec<Effect>) {
        for step in self.outbox.claimed(key, claimed) {
            self.step(step, effects);
        }
    }

    /// Uploads the next file of the draft `key`. Returns `false` if there is none left.
    fn upload_next(&mut self, key: &DraftKey, effects: &mut Vec<Effect>) -> bool {
        let draft = self.saved.draft(key).filter(|draft| !draft.attachments.is_empty());
        let Some((on, attachment)) = draft.and_then(|draft| Some((&draft.on, draft.attachments.first()?.clone())))
        else {
            return false;
        };
        let Some(project) = on.project().cloned().filter(|_| self.outbox.begin_upload(key)) else { return false };
        let write = uploads::write(&project, PathBuf::from(&attachment.path));
        self.send(write, SentText::Attachment(key.clone(), attachment), None, effects);
        true
    }

    /// Handles the end of the upload of a file of the draft `key`: the link to it is in the draft before anything else
    /// happens.
    pub(crate) fn attached(
        &mut self,
        key: &DraftKey,
        attachment: &Attachment,
        outcome: &Result<Value, Error>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(mut draft) = self.saved.draft(key).cloned() else { return self.outbox.forget_claim(key) };
        match uploads::outcome(&attachment.name(), outcome) {
            Ok(markdown) => {
                draft.text = draft.text.replace(&attachment.mark, &markdown);
                draft.attachments.retain(|other| other != attachment);
                let state = draft.state.clone();
                self.act(Action::SaveDraft(key.clone(), Box::new(draft)), effects);
                if !self.upload_next(key, effects) {
                    self.proceed(key, Claimed::Ours(state), effects);
                }
            }
            Err(why) => {
                for step in self.outbox.upload_failed(key, why, &draft.state) {
                    self.step(step, effects);
                }
            }
        }
    }

    /// Handles the refusal of the draft `key`: if its thread, or being a draft note, was the problem, that is left out
    /// the next time.
    fn refused(&mut self, key: &DraftKey, error: &Error, effects: &mut Vec<Effect>) {
        let Some(mut draft) = self.saved.draft(key).cloned() else { return };
        let next = match (&error.fault, &draft.draft_note, &draft.thread) {
            (Fault::Unsupported(_), Some(DraftNoteChange::Create), _)
            | (Fault::Missing(_), Some(DraftNoteChange::Update { .. }), _) => {
                draft.draft_note = None;
                "it is kept on this computer"
            }
            (Fault::Refused(..), _, Some(DraftThread::New { position: Some(_), .. }))
            | (Fault::Missing(_) | Fault::Unsupported(_), None, Some(_)) => {
                draft.thread = None;
                "send it again to post it as a plain comment"
            }
            _ => return,
        };
        if let DraftState::Failed { why, .. } = &mut draft.state {
            *why = format!("{}; {next}", why.trim_end_matches('.'));
        }
        self.act(Action::SaveDraft(key.clone(), Box::new(draft)), effects);
    }

    /// Publishes the draft note that `draft` changed, if that is wanted.
    fn publish(&mut self, draft: &Draft, effects: &mut Vec<Effect>) {
        if let (
            Some(DraftNoteChange::Update { id: draft_note_id, publish: true }),
            Noteable::MergeRequest { project, iid },
        ) = (&draft.draft_note, &draft.on)
        {
            let (id, merge_request_iid) = (project.clone(), *iid);
            let publish = PublishDraftNote { id, merge_request_iid, draft_note_id: *draft_note_id };
            let write = Write::new(&publish, format!("publish a comment on !{iid}"));
            let check = check_after(vec![draft.clone()], draft.on.newest_note(&self.view_of()));
            self.act(Action::SendThen(None, write, check), effects);
        }
    }

    /// Tells the outbox what the server says about the quick actions of a draft.
    fn take_summary(&mut self, draft: &Draft, reply: &Value, effects: &mut Vec<Effect>) {
        let reply = PostReply::of(reply);
        match (&draft.verdict, reply.summary.map(|summary| summary.join(" ").trim().to_owned())) {
            (Some(Verdict::Approve { .. }), _) => {}
            // A server that does not know the command has posted it as a comment.
            (Some(_), _) if reply.id > 0 => {
                let delete = DeleteNote { on: draft.on.clone(), note_id: reply.id };
                let write = Write::new(&delete, format!("delete a comment on {}", draft.on.short()));
                self.act(Action::Send(write), effects);
                self.outbox.take_answer("Could not apply submit_review command: the server does not know it".into());
            }
            (Some(_), summary) => self.outbox.take_answer(summary.unwrap_or_default()),
            (None, Some(summary)) => self.outbox.take_answer(summary),
            (None, None) => {
                if let Some(name) = unknown_command(draft, &reply) {
                    let (what, name) = (draft.on.short(), name.to_owned());
                    let words =
                        format!("Could not apply /{name}: the server does not know it. {what} shows it as text.");
                    self.outbox.take_answer(words);
                }
            }
        }
    }

    /// Handles the end of the write that sent the draft `key`.
    pub(crate) fn delivered(&mut self, key: &DraftKey, outcome: &Result<Value, Error>, effects: &mut Vec<Effect>) {
        if let Some((_, check)) = self.writes.publishing.by_draft.take_if(|(publishing, _)| *publishing == *key) {
            let mut cx = Cx::new(self.view_of(), self.nav.here());
            check(outcome, &mut cx);
            for action in cx.actions {
                self.act(action, effects);
            }
        }
        let draft = self.saved.draft(key).cloned();
        if let (Ok(reply), Some(draft)) = (outcome, &draft) {
            self.take_summary(draft, reply, effects);
        }
        let state = draft.map(|draft| draft.state);
        let outcome = outcome.as_ref().map(|reply| PostReply::of(reply).id);
        let steps = self.outbox.answered(outcome, &state.unwrap_or_default(), self.clock.now());
        for step in steps {
            self.step(step, effects);
        }
        if let Err(error) = outcome {
            self.refused(key, error, effects);
        }
    }
}
