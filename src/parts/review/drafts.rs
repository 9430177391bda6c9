//! Drafts of comments on a merge request or a commit: the pending review, editing and sending.

use super::{position, state_of};
use crate::api::Noteable;
use crate::api::draft_notes::{DeleteDraftNote, DraftNote, ListDraftNotes, PublishDraftNote};
use crate::api::issues::GetIssue;
use crate::api::merge_requests::GetMergeRequest;
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::{DiffPosition, Draft, DraftNoteChange, DraftState, DraftThread, NoteableExt, Progress};
use crate::app::overlay::composer::Composer;
use crate::app::publishing::check_after;
use crate::app::text_key::DraftKey;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::parts::review::draft_list::DraftList;
use crate::parts::review::thread_layout::LaidOutDraft;
use crate::parts::review::{suggestions, threads};
use crate::store::{Revision, Write};
use crate::ui::{glyph, text};
use std::collections::HashSet;
use std::fmt;

/// The target of a comment.
#[derive(Clone, Debug, Default)]
pub struct CommentTarget {
    /// The lines of the changes; `None` for the whole.
    pub position: Option<DiffPosition>,
    /// The thread that the comment starts or continues; `None` for an individual comment.
    pub thread: Option<DraftThread>,
}

impl From<Option<DiffPosition>> for CommentTarget {
    fn from(position: Option<DiffPosition>) -> CommentTarget {
        CommentTarget { position, thread: None }
    }
}

/// The identity of a draft of a review.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DraftId {
    /// A draft that is saved here.
    Saved(DraftKey),
    /// A draft note on the server, by its ID.
    OnServer(u64),
}

impl fmt::Display for DraftId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DraftId::Saved(key) => write!(f, "{key}"),
            DraftId::OnServer(id) => write!(f, "draft note {id}"),
        }
    }
}

impl DraftId {
    /// Returns the key of the draft, if it is saved here.
    pub fn key(&self) -> Option<&DraftKey> {
        if let DraftId::Saved(key) = self { Some(key) } else { None }
    }

    /// Returns the progress of sending it; `None` if it is not being sent.
    pub fn progress(&self, view: &View) -> Option<Progress> {
        view.outbox.progress(self.key()?)
    }
}

/// Returns the drafts that are saved here, except for those that the server has published and that are only looked for.
pub fn saved<'a>(on: &Noteable, view: &View<'a>) -> Vec<(&'a DraftKey, &'a Draft)> {
    let mut drafts = on.drafts(view.drafts);
    drafts.retain(|(key, _)| !view.outbox.was_published(key));
    drafts
}

/// Returns the draft notes on the server as drafts with keys of their own, except for those with a local change.
pub fn draft_notes(on: &Noteable, view: &View) -> Vec<(DraftId, Draft)> {
    let Some(list) = on.list_draft_notes() else { return Vec::new() };
    let changed: HashSet<u64> = on
        .drafts(view.drafts)
        .into_iter()
        .filter_map(|(_, draft)| match draft.draft_note {
            Some(DraftNoteChange::Update { id, .. }) => Some(id),
            _ => None,
        })
        .collect();
    let notes = view.store.list(&list);
    let unchanged = notes.iter().filter(|note| !changed.contains(&note.id));
    unchanged.map(|note| (DraftId::OnServer(note.id), of_draft_note(on, note))).collect()
}

/// Converts a draft note to a draft that updates it.
fn of_draft_note(on: &Noteable, note: &DraftNote) -> Draft {
    let position = note.position.as_ref().and_then(position::of_draft_note).map(Box::new);
    let named = DiffPosition::parse_note(&note.note);
    let (diff_position, text) = match (&position, named, &note.position) {
        (Some(_), _, Some(position)) => (threads::from_api(position), note.note.as_str()),
        (_, Some((position, rest)), _) => (Some(position), rest),
        _ => (None, note.note.as_str()),
    };
    let reply = note.discussion_id.clone().filter(|_| position.is_none());
    let thread = match (position, reply) {
        (Some(position), _) => Some(DraftThread::New { position: Some(position), commit_id: note.commit_id.clone() }),
        (None, Some(discussion)) => Some(DraftThread::Reply { discussion, resolved: note.resolve_discussion }),
        (None, None) => None,
    };
    Draft {
        position: diff_position,
        thread,
        draft_note: Some(DraftNoteChange::Update { id: note.id, publish: false }),
        text: text.to_owned(),
        state: DraftState::Kept,
        ..Draft::new(on.clone())
    }
}

/// Returns the write that deletes a draft note.
pub fn delete_draft_note(on: &Noteable, draft_note_id: u64) -> Option<Write> {
    let ListDraftNotes { id, merge_request_iid } = on.list_draft_notes()?;
    let delete = DeleteDraftNote { id, merge_request_iid, draft_note_id };
    Some(Write::new(&delete, format!("delete a comment of your review of {}", on.short())))
}

/// Returns the action that publishes a draft note, and then looks for it.
pub fn publish_draft_note(on: &Noteable, draft_note_id: u64, view: &View) -> Option<Action> {
    let ListDraftNotes { id, merge_request_iid } = on.list_draft_notes()?;
    let publish = PublishDraftNote { id, merge_request_iid, draft_note_id };
    let known = draft_notes(on, view).into_iter().find(|(known, _)| *known == DraftId::OnServer(draft_note_id));
    let check = check_after(known.into_iter().map(|(_, draft)| draft).collect(), on.newest_note(view));
    Some(Action::SendThen(None, Write::new(&publish, format!("publish a comment on {}", on.short())), check))
}

/// The drafts on an object, as of the last update.
#[derive(Default)]
pub struct Drafts {
    drafts: Vec<(DraftId, Draft)>,
    /// The revision of the server's list of draft notes.
    of_server: Revision,
    /// The number of changes of the drafts.
    revision: u64,
    /// The keys of drafts that were sent and for which a check on the server was already requested.
    resolved: HashSet<DraftKey>,
    /// The messages about moved drafts that were already shown.
    announced: HashSet<String>,
}

impl Drafts {
    /// Returns an empty state for another object, which keeps the checks and messages already made.
    pub fn cleared(self) -> Drafts {
        Drafts { drafts: Vec::new(), ..self }
    }

    /// Returns the drafts with their keys, oldest first.
    pub fn drafts(&self) -> &[(DraftId, Draft)] {
        &self.drafts
    }

    /// Returns a number that changes whenever the drafts do.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the drafts with their states.
    pub fn drafted(&self, view: &View) -> Vec<LaidOutDraft> {
        let drafted = |(id, draft): &(DraftId, Draft)| LaidOutDraft {
            id: id.clone(),
            // The composer shows the text that is being typed, so that the rows beside it need no new layout with each
            // keystroke.
            draft: match view.writing.is_some() && view.writing == id.key() {
                true => Draft { text: String::new(), ..draft.clone() },
                false => draft.clone(),
            },
            state: state_of(view, id, draft),
        };
        self.drafts.iter().map(drafted).collect()
    }

    /// Updates the drafts after a store update.
    pub fn read(&mut self, on: &Noteable, view: &View) {
        let local = saved(on, view);
        let known = self.drafts.iter().filter_map(|(id, draft)| Some((id.key()?, draft)));
        let same = known.eq(local.iter().copied());
        let of_server = on.list_draft_notes().map(|list| view.store.list(&list).revision).unwrap_or_default();
        if !same || of_server != self.of_server {
            self.revision += 1;
            self.of_server = of_server;
            let local = local.into_iter().map(|(key, draft)| (DraftId::Saved(key.clone()), draft.clone()));
            self.drafts = local.chain(draft_notes(on, view)).collect();
        }
    }

    /// Updates the drafts after a store update, and requests the state of drafts for which it is unknown.
    pub fn sync(&mut self, on: &Noteable, cx: &mut Cx) {
        self.read(on, &cx.view);
        // The check needs the current user.
        if cx.view.me().is_none() || cx.view.session.offline {
            return;
        }
        let sent =
            self.drafts.iter().filter(|(_, draft)| draft.state.before().is_some()).filter_map(|(id, _)| id.key());
        let new: Vec<DraftKey> = sent.filter(|key| !self.resolved.contains(*key)).cloned().collect();
        if !new.is_empty() {
            self.resolved.extend(new.iter().cloned());
            cx.act(Action::CheckDrafts(new));
        }
    }

    /// Moves drafts whose lines are elsewhere in newer changes, and reports it.
    pub fn follow(&mut self, moved: &[(DraftId, DiffPosition)], orphaned: usize, head: &str, cx: &mut Cx) {
        let mut count = 0;
        for (id, position) in moved {
            let Some((_, draft)) = self.drafts.iter().find(|(known, _)| known == id) else { continue };
            let at_rest =
                matches!(draft.state, DraftState::Begun | DraftState::Kept | DraftState::Failed { before: None, .. });
            // The server moves its own draft notes.
            if at_rest
                && let Some(key) = id.key()
                && cx.view.outbox.progress(key).is_none()
                && draft.position.as_ref() != Some(position)
            {
                let draft = Draft { position: Some(position.clone()), ..draft.clone() };
                cx.act(Action::SaveDraft(key.clone(), Box::new(draft)));
                count += 1;
            }
        }
        let drafts = |count: usize| if count == 1 { "1 draft".to_owned() } else { format!("{count} drafts") };
        let words = match (count, orphaned) {
            (0, 0) => return,
            (0, orphaned) => {
                format!("The changes were updated: the lines of {} no longer exist.", drafts(orphaned))
            }
            (moved, 0) => format!("The changes were updated: {} moved with their lines.", drafts(moved)),
            (moved, orphaned) => format!(
                "The changes were updated: {} moved with their lines; the lines of {} no longer exist.",
                drafts(moved),
                drafts(orphaned)
            ),
        };
        if self.announced.insert(format!("{head} {orphaned}")) || count > 0 {
            cx.say(Tone::Warning, words);
        }
    }

    /// Opens the composer for a comment on an object or a place in its changes. A draft that was begun there is
    /// continued, with `begin` appended.
    pub fn comment(&self, on: Noteable, place: CommentTarget, begin: &str, cx: &mut Cx) {
        self.begin(on, place, begin, begin.len(), cx);
    }

    /// Opens the composer for a suggestion, with the cursor at the end of the suggested lines.
    pub fn suggest(&self, on: Noteable, place: CommentTarget, block: &str, cx: &mut Cx) {
        self.begin(on, place, block, suggestions::end_of_lines(block), cx);
    }

    /// Opens the composer; `caret` is the position of the cursor in `begin`.
    fn begin(&self, on: Noteable, place: CommentTarget, begin: &str, caret: usize, cx: &mut Cx) {
        let lines = |position: &DiffPosition| (position.path.clone(), position.old, position.lines, position.removed);
        let discussion = |thread: &Option<DraftThread>| match thread {
            Some(DraftThread::Reply { discussion, .. }) => Some(discussion.clone()),
            _ => None,
        };
        let fits = |(id, draft): &&(DraftId, Draft)| {
            draft.edits.is_none()
                && !matches!(draft.state, DraftState::Kept)
                && id.progress(&cx.view).is_none()
                && draft.position.as_ref().map(lines) == place.position.as_ref().map(lines)
                && discussion(&draft.thread) == discussion(&place.thread)
                && (place.position.is_some() || draft.thread.is_some() == place.thread.is_some())
        };
        let (id, mut draft) = match self.drafts.iter().find(fits) {
            Some(known) => known.clone(),
            None => {
                let CommentTarget { position, thread } = place;
                (DraftId::Saved(on.new_key(cx.view.drafts, cx.view.now)), Draft { position, thread, ..Draft::new(on) })
            }
        };
        let known = draft.text.find(begin.trim_end()).filter(|_| !begin.is_empty());
        let from = known.unwrap_or_else(|| {
            if !begin.is_empty() && !draft.text.is_empty() {
                draft.text.push_str("\n\n");
            }
            draft.text.push_str(begin);
            draft.text.len() - begin.len()
        });
        // A caret at the end of `begin` goes to the end of the draft, which may have more text by now.
        let at = if caret < begin.len() { from + caret } else { draft.text.len() };
        compose_at(id, draft, at, cx);
    }

    /// Opens the composer for an existing note; `head` is the part of the note before the edited text.
    pub fn edit(&self, on: Noteable, note: u64, head: &str, body: &str, cx: &mut Cx) {
        let begun =
            self.drafts.iter().find(|(_, draft)| draft.edits.as_ref().is_some_and(|(edited, _)| *edited == note));
        let (id, draft) = match begun {
            Some(known) => known.clone(),
            None => {
                let (edits, base) = (Some((note, head.to_owned())), Some(format!("{head}{body}")));
                let key = on.new_key(cx.view.drafts, cx.view.now);
                (DraftId::Saved(key), Draft { edits, base, text: body.to_owned(), ..Draft::new(on) })
            }
        };
        compose(id, draft, cx);
    }

    /// Returns a draft, and its identity.
    pub fn get(&self, id: &DraftId) -> Option<(DraftId, Draft)> {
        self.drafts.iter().find(|(known, _)| known == id).cloned()
    }

    /// Opens a draft in the composer.
    pub fn open(&self, id: &DraftId, cx: &mut Cx) {
        if let Some((id, draft)) = self.get(id) {
            compose(id, draft, cx);
        }
    }

    /// Asks for confirmation before deleting a draft.
    pub fn confirm_delete(&self, id: &DraftId, cx: &mut Cx) {
        if let Some((id, draft)) = self.get(id) {
            confirm_delete(&id, &draft).into_iter().for_each(|action| cx.act(action));
        }
    }

    /// Returns the keys of the local drafts that submitting the review sends: all that are complete.
    pub fn to_send(&self) -> Vec<DraftKey> {
        let ready = |draft: &Draft| draft.state != DraftState::Begun && draft.verdict.is_none();
        let ready = self.drafts.iter().filter(|(_, draft)| ready(draft));
        ready.filter_map(|(id, _)| id.key().cloned()).collect()
    }

    /// Returns an error unless there is a review to send.
    pub fn can_send(&self, view: &View) -> Result<(), Disabled> {
        if view.me().is_none() {
            return Err("your account has not loaded yet".into());
        }
        let on_server = self.drafts.iter().filter(|(id, _)| id.key().is_none()).count();
        match on_server + self.to_send().iter().filter(|key| view.outbox.progress(key).is_none()).count() {
            0 if self.drafts.is_empty() => Err("there are no drafts".into()),
            0 => Err("no draft is ready: M-s in the composer adds one".into()),
            _ => Ok(()),
        }
    }

    /// Sends the review and opens the list of drafts to show the progress.
    pub fn send(&self, on: &Noteable, cx: &mut Cx) {
        cx.act(Action::SendDrafts(self.to_send()));
        self.list(on, cx);
    }

    /// Opens the list of drafts.
    pub fn list(&self, on: &Noteable, cx: &mut Cx) {
        cx.open(DraftList::new(on.clone()));
    }
}

/// Opens the composer on a draft, with the cursor at its end.
pub fn compose(id: DraftId, draft: Draft, cx: &mut Cx) {
    let end = draft.text.len();
    compose_at(id, draft, end, cx);
}

/// Returns whether the server accepts comments on a merge request or an issue only from members of the project.
fn is_locked(on: &Noteable, view: &View) -> bool {
    match on {
        Noteable::MergeRequest { project, iid } => {
            let get = GetMergeRequest::new(project.clone(), *iid);
            view.store.get(&get).value.is_some_and(|one| *one.discussion_locked == Some(true))
        }
        Noteable::Issue { project, iid } => {
            let get = GetIssue { id: project.clone(), issue_iid: *iid };
            view.store.get(&get).value.is_some_and(|issue| issue.discussion_locked == Some(true))
        }
        Noteable::Commit { .. } | Noteable::Snippet { .. } | Noteable::Epic { .. } => false,
    }
}

/// Opens the composer on a draft, with the cursor at a byte of its text.
fn compose_at(id: DraftId, draft: Draft, at: usize, cx: &mut Cx) {
    if draft.verdict.is_some() {
        return cx.say(Tone::Info, "A verdict has no text: s in the list of drafts sends it, D deletes it.");
    }
    if id.progress(&cx.view).is_some() {
        return cx.say(Tone::Warning, "This draft is being sent.");
    }
    // The change of a draft note on the server is saved under a local key.
    let key = match id {
        DraftId::Saved(key) => key,
        DraftId::OnServer(_) => draft.on.new_key(cx.view.drafts, cx.view.now),
    };
    let name = draft.on.short();
    let title = match (&draft.edits, &draft.position, &draft.thread) {
        (Some(_), ..) => format!("Edit comment on {name}"),
        (None, Some(position), Some(DraftThread::Reply { .. })) => format!("Reply on {}", position.label()),
        (None, Some(position), _) => format!("Comment on {}", position.label()),
        (None, None, Some(DraftThread::Reply { .. })) => format!("Reply on {name}"),
        (None, None, Some(DraftThread::New { .. })) => format!("Start a thread on {name}"),
        (None, None, None) => format!("Comment on {name}"),
    };
    let title = match is_locked(&draft.on, &cx.view) {
        true => format!("{title}{}locked: only members can comment", glyph::separator()),
        false => title,
    };
    cx.open(Composer::comment(title, key, draft).at(at));
}

/// Returns the action that asks for confirmation before deleting a draft.
pub fn confirm_delete(id: &DraftId, draft: &Draft) -> Option<Action> {
    let excerpt = text::fit(draft.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), 80);
    let sent = if draft.is_uncertain() { " It may have arrived anyway." } else { "" };
    let question = format!("Delete the draft \"{}\"? This cannot be undone.{sent}", text::sanitize(&excerpt));
    let delete = match id {
        DraftId::Saved(key) => Action::DeleteDraft(key.clone()),
        DraftId::OnServer(id) => Action::Send(delete_draft_note(&draft.on, *id)?),
    };
    Some(App::confirm("Delete draft", question, delete))
}
