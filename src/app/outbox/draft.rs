//! Drafts: comments that the server does not have yet, with their object, their text, and the progress of sending them.
//! A draft is saved as JSON under its own key from the first letter on.

use crate::outbox::NoteableExt;
use crate::outbox::position::DiffPosition;
use crate::past_tense::past_tense;
use crate::uploads::Attachment;
use crate::view::View;
use api::commits::{CommitComment, CreateCommitComment};
use api::decisions::Approve;
use api::discussions::is_resolved;
use api::draft_notes::{CreateDraftNote, DraftNote, PublishReview, UpdateDraftNote};
use api::notes::{CreateNote, NewPosition, Note};
use api::topic::Topic;
use api::{Endpoint, Id, Noteable};
use domain::quick_actions;
use domain::waiting_for::REQUESTED_CHANGES;
use serde::{Deserialize, Serialize};
use store::Write;

/// The progress of a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftState {
    /// Started, and not sent.
    #[default]
    Begun,
    /// Waiting for the other comments of its review.
    Kept,
    /// Sent, without a reply yet. `before` is the mark of [`super::Evidence`] before that.
    Sending { before: u64 },
    /// Sent, and it is not known whether it arrived.
    Unknown { before: u64, why: String },
    /// Refused, or not arrived. If it was sent and may still arrive, `before` is the mark before that.
    Failed {
        why: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
    },
}

impl DraftState {
    /// Returns the mark of [`super::Evidence`] before the draft was sent, if it may have arrived since.
    pub fn before(&self) -> Option<u64> {
        match self {
            DraftState::Sending { before } | DraftState::Unknown { before, .. } => Some(*before),
            DraftState::Failed { before, .. } => *before,
            DraftState::Begun | DraftState::Kept => None,
        }
    }
}

/// The thread that a comment starts or continues, on servers that support threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftThread {
    /// A new thread: on lines of the changes, or on the whole.
    New {
        position: Option<Box<NewPosition>>,
        /// The commit that the lines belong to, if a single commit is discussed.
        #[serde(default)]
        commit_id: Option<String>,
    },
    /// A reply in a thread, which is resolved afterwards or not.
    Reply { discussion: String, resolved: bool },
}

/// The effect of a comment on the draft notes on the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftNoteChange {
    /// The comment becomes a draft note.
    Create,
    /// The comment changes a draft note, which is then published if `publish` is set.
    Update { id: u64, publish: bool },
}

/// The verdict of a review. It is sent after the comments of the review, and never twice: the server is asked for the
/// state of the review before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// An approval of the commit that was reviewed.
    Approve {
        sha: Option<String>,
    },
    RequestChanges,
    /// Takes back a request for changes.
    Withdraw,
}

impl Verdict {
    /// Returns the verdict in words.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Approve { .. } => "Approve",
            Verdict::RequestChanges => "Request changes",
            Verdict::Withdraw => "Withdraw the request for changes",
        }
    }

    /// Returns whether a review in this state, as the server names it, has this verdict.
    pub fn is_given_by(&self, state: &str) -> bool {
        match self {
            Verdict::Approve { .. } => state == "approved",
            Verdict::RequestChanges => state == REQUESTED_CHANGES,
            Verdict::Withdraw => state != REQUESTED_CHANGES,
        }
    }

    /// Returns what is done with the verdict, as in "could not {what}"; `name` is that of the merge request.
    pub fn what(&self, name: &str) -> String {
        match self {
            Verdict::Approve { .. } => format!("approve {name}"),
            Verdict::RequestChanges => format!("request changes on {name}"),
            Verdict::Withdraw => format!("withdraw the request for changes on {name}"),
        }
    }

    /// Returns the message that it was given.
    fn done(&self, name: &str) -> String {
        match self {
            Verdict::Approve { .. } => format!("Submitted your review of {name}: approved"),
            Verdict::RequestChanges => format!("Submitted your review of {name}: requested changes"),
            Verdict::Withdraw => past_tense(&self.what(name)),
        }
    }

    /// Returns the write that sends the verdict alone. The quick actions are for servers before 19.2, which cannot
    /// receive it with the review.
    fn write(&self, on: &Noteable, publishes: bool) -> Option<Write> {
        let Noteable::MergeRequest { project, iid } = on.clone() else { return None };
        let name = on.short();
        let what = self.what(&name);
        let word = match self {
            Verdict::Approve { sha } => {
                let publish_review = publishes.then_some(true);
                let approve = Approve { id: project, merge_request_iid: iid, sha: sha.clone(), publish_review };
                let write = Write::new(&approve, what);
                return Some(if publishes { Write { outdates: PublishReview::OUTDATES, ..write } } else { write });
            }
            Verdict::RequestChanges => REQUESTED_CHANGES,
            Verdict::Withdraw => "reviewed",
        };
        let create = CreateNote { on: on.clone(), body: format!("/submit_review {word}"), ..CreateNote::default() };
        Some(Write { outdates: BY_QUICK_ACTIONS, ..Write::new(&create, what) })
    }
}

/// The topics that quick actions may outdate: any property of a merge request or an issue.
pub const BY_QUICK_ACTIONS: &[Topic] = &[
    Topic::Notes,
    Topic::DraftNotes,
    Topic::Participants,
    Topic::MergeRequest,
    Topic::MergeRequests,
    Topic::Changes,
    Topic::Approvals,
    Topic::Reviewers,
    Topic::Issue,
    Topic::Issues,
    Topic::IssueLinks,
    Topic::Todos,
    Topic::Events,
];

/// A comment that the server does not have yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The object of the comment.
    pub on: Noteable,
    /// The position in the changes.
    #[serde(default, rename = "spot")]
    pub position: Option<DiffPosition>,
    /// The thread of the comment; `None` for a comment outside of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<DraftThread>,
    /// The effect on the draft notes, if the comment goes to the review on the server instead of being posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft_note: Option<DraftNoteChange>,
    /// The ID of the note to edit, and the beginning of its body that is not part of `text`.
    #[serde(default)]
    pub edits: Option<(u64, String)>,
    /// The text of that note when editing started, or when the user was last shown the changes of others.
    #[serde(default)]
    pub base: Option<String>,
    /// The verdict that the draft stands for, instead of a comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The state of the review, if sending the draft also publishes the draft notes: with an approval (since 18.6), or with
    /// a summary (since 19.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publishes: Option<String>,
    /// Whether only members from reporters on may see the comment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub internal: bool,
    /// The custom command that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The text, in Markdown.
    pub text: String,
    /// The files to upload before it is sent, whose links replace their marks in the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default)]
    pub state: DraftState,
}

impl Draft {
    /// Creates the draft of a verdict.
    pub fn of_verdict(on: Noteable, verdict: Verdict) -> Draft {
        Draft { text: verdict.name().to_owned(), verdict: Some(verdict), state: DraftState::Kept, ..Draft::new(on) }
    }

    /// Creates an empty draft.
    pub fn new(on: Noteable) -> Draft {
        Draft {
            on,
            position: None,
            thread: None,
            draft_note: None,
            edits: None,
            base: None,
            verdict: None,
            publishes: None,
            internal: false,
            program: None,
            text: String::new(),
            attachments: Vec::new(),
            state: DraftState::Begun,
        }
    }

    /// Parses a saved text; returns `None` if it is not a draft.
    pub fn read(kept: &str) -> Option<Draft> {
        serde_json::from_str(kept).ok()
    }

    /// Returns the JSON to be saved.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the body to be sent to the server.
    pub fn body(&self) -> String {
        match (&self.edits, &self.position, &self.on) {
            (Some((_, head)), ..) => format!("{head}{}", self.text),
            // The server stores the position.
            _ if self.thread.is_some() => self.text.clone(),
            (None, Some(position), Noteable::Commit { .. })
                if position.removed.is_none() && position.lines.is_some_and(|(a, b)| a == b) =>
            {
                self.text.clone()
            }
            (None, Some(position), _) => format!("{}{}", position.note_header().unwrap_or_default(), self.text),
            (None, None, _) => self.text.clone(),
        }
    }

    /// Returns whether the comment can be internal: a new one on an issue, a merge request or an epic, outside of threads.
    pub fn can_be_internal(&self) -> bool {
        matches!(self.on, Noteable::Issue { .. } | Noteable::MergeRequest { .. } | Noteable::Epic { .. })
            && self.thread.is_none()
            && self.position.is_none()
            && self.edits.is_none()
            && self.draft_note.is_none()
    }

    /// Returns the line of the diff that a comment on a commit is placed on.
    fn line(&self) -> Option<u32> {
        self.position.as_ref().and_then(DiffPosition::line)
    }

    /// Returns whether the text consists of quick actions alone, so that the server creates no note for it.
    pub fn is_silent(&self) -> bool {
        let (rest, commands) = quick_actions::split(&self.text, |name| quick_actions::find(name).is_some());
        self.verdict.is_none() && rest.is_empty() && !commands.is_empty()
    }

    /// Returns the write that sends the draft.
    pub fn write(&self) -> Write {
        let write = self.plain_write();
        let has_actions = !quick_actions::split(&self.text, |name| quick_actions::find(name).is_some()).1.is_empty();
        let runs = self.edits.is_none() && self.draft_note.is_none() && self.verdict.is_none();
        if has_actions && runs { Write { outdates: BY_QUICK_ACTIONS, ..write } } else { write }
    }

    /// Returns the message that the server has it.
    pub fn done(&self) -> String {
        match &self.verdict {
            Some(verdict) => verdict.done(&self.on.short()),
            None => past_tense(&self.write().what),
        }
    }

    fn plain_write(&self) -> Write {
        if let Some(write) = self.verdict.as_ref().and_then(|verdict| verdict.write(&self.on, self.publishes.is_some()))
        {
            return write;
        }
        if let (Noteable::MergeRequest { project, iid }, Some(state)) = (&self.on, &self.publishes) {
            let (id, merge_request_iid, note) = (project.clone(), *iid, Some(self.body()));
            let publish = PublishReview { id, merge_request_iid, reviewer_state: Some(state.clone()), note };
            return Write::new(&publish, format!("submit your review of !{iid}"));
        }
        let change = self.edits.as_ref().and_then(|(note, _)| self.on.update(*note, self.body()));
        if let Some(write) = change.or_else(|| self.draft_note_write()) {
            return write;
        }
        match (&self.on, &self.thread) {
            (Noteable::Commit { project, sha }, _) => self.comment(project.clone(), sha.clone()),
            (Noteable::Epic { .. }, _) | (_, None) => {
                let internal = self.internal.then_some(true);
                self.note(&CreateNote { on: self.on.clone(), body: self.body(), internal, ..CreateNote::default() })
            }
            (_, Some(DraftThread::New { position, commit_id })) => {
                self.on.start_thread(self.body(), position.as_deref().cloned(), commit_id.clone())
            }
            (_, Some(DraftThread::Reply { discussion, .. })) => self.on.reply(discussion.clone(), self.body()),
        }
    }

    /// Returns the thread that the comment replies to, if that can be resolved and is not, as far as is known.
    pub fn unresolved_thread(&self, view: &View) -> Option<&str> {
        let Some(DraftThread::Reply { discussion, .. }) = &self.thread else { return None };
        let notes = self.on.conversation(view);
        let of_thread = notes.iter().filter(|note| note.discussion_id.as_ref() == Some(discussion));
        (self.edits.is_none() && is_resolved(of_thread) == Some(false)).then_some(discussion)
    }

    /// Returns the write that resolves its thread, after the reply has arrived. A draft note resolves it when it is
    /// published.
    pub fn resolving(&self, view: &View) -> Option<Write> {
        let resolves = matches!(self.thread, Some(DraftThread::Reply { resolved: true, .. }));
        let discussion = self.unresolved_thread(view).filter(|_| resolves && self.draft_note.is_none())?;
        self.on.resolve(discussion.to_owned(), true)
    }

    /// Returns the write for the draft notes, if the comment goes there.
    fn draft_note_write(&self) -> Option<Write> {
        let Noteable::MergeRequest { project, iid } = &self.on else { return None };
        let (id, merge_request_iid, note) = (project.clone(), *iid, self.body());
        let (position, commit_id) = match &self.thread {
            Some(DraftThread::New { position, commit_id }) => (position.as_deref().cloned(), commit_id.clone()),
            _ => (None, None),
        };
        Some(match self.draft_note.as_ref()? {
            DraftNoteChange::Create => {
                let reply = match &self.thread {
                    Some(DraftThread::Reply { discussion, resolved }) => Some((discussion.clone(), *resolved)),
                    _ => None,
                };
                let (in_reply_to_discussion_id, resolve_discussion) = reply.unzip();
                let create = CreateDraftNote {
                    id,
                    merge_request_iid,
                    note,
                    position,
                    commit_id,
                    in_reply_to_discussion_id,
                    resolve_discussion,
                };
                Write::new(&create, format!("add a comment to your review of !{iid}"))
            }
            DraftNoteChange::Update { id: draft_note_id, .. } => {
                let update = UpdateDraftNote { id, merge_request_iid, draft_note_id: *draft_note_id, note, position };
                Write::new(&update, format!("change a comment of your review of !{iid}"))
            }
        })
    }

    /// Returns whether `note` is this draft on the server; `before` is the ID of the newest draft note before it was
    /// sent.
    pub fn is_draft_note(&self, note: &DraftNote, before: u64) -> bool {
        let is_it = match self.draft_note {
            Some(DraftNoteChange::Update { id, .. }) => note.id == id,
            _ => note.id > before,
        };
        is_it && same(&note.note, &self.body())
    }

    fn note<E: Endpoint<Output: Send + Sync + 'static>>(&self, create: &E) -> Write {
        Write::new(create, format!("comment on {}", self.on.short()))
    }

    /// Returns the path, line and side of the diff that a comment on a commit is placed on.
    fn line_in_commit(&self) -> Option<(&str, u64, &'static str)> {
        let position = self.position.as_ref()?;
        Some((&position.path, self.line()?.into(), if position.old { "old" } else { "new" }))
    }

    /// Returns the write that sends a comment on a commit, which is not a note.
    fn comment(&self, project: Id, sha: String) -> Write {
        let place = self.line_in_commit();
        let what = format!("comment on {}", sha.get(..8).unwrap_or(&sha));
        let create = CreateCommitComment {
            id: project,
            sha,
            note: self.body(),
            path: place.map(|(path, ..)| path.to_owned()),
            line: place.map(|(_, line, _)| line),
            line_type: place.map(|(.., side)| side.to_owned()),
        };
        Write::new(&create, what)
    }

    /// Returns the current text of the note, if it is neither the text before the edit nor the edited text.
    pub fn conflict(&self, now: &str) -> Option<String> {
        let base = self.base.as_ref().filter(|_| self.edits.is_some())?;
        (!same(now, base) && !same(now, &self.body())).then(|| now.to_owned())
    }

    /// Returns whether `note` is this draft on the server; `me` is the ID of the user.
    pub fn is(&self, note: &Note, me: u64) -> bool {
        note.author.as_ref().is_some_and(|author| author.id == me) && !note.system && same(&note.body, &self.body())
    }

    /// Returns whether a comment on a commit, which has no ID, is this draft on the server.
    pub fn is_comment(&self, comment: &CommitComment, me: u64) -> bool {
        let mine = comment.author.as_ref().is_some_and(|author| author.id == me);
        let sent = self.line_in_commit();
        let place = sent.as_ref().is_some_and(|(path, line, side)| {
            comment.path.as_deref() == Some(*path)
                && comment.line == Some(*line)
                && comment.line_type.as_deref().is_none_or(|there| there == *side)
        });
        // A server that cannot place it on the line places it on the commit.
        mine && same(&comment.note, &self.body()) && (comment.line.is_none() || place)
    }

    /// Returns whether it is unknown if the draft reached the server.
    pub fn is_uncertain(&self) -> bool {
        matches!(self.state, DraftState::Sending { .. } | DraftState::Unknown { .. })
    }
}

/// Returns whether a server that was sent `sent` may return `shown`: it trims the ends, and removes lines with quick
/// actions.
fn same(shown: &str, sent: &str) -> bool {
    let lines = |text: &str, all: bool| -> Vec<String> {
        let kept = text.lines().map(str::trim_end).filter(|line| all || !line.starts_with('/'));
        kept.map(str::to_owned).collect()
    };
    let shown = shown.trim();
    let whole = lines(sent.trim(), true).join("\n");
    lines(shown, true).join("\n") == whole || shown == lines(sent, false).join("\n").trim() && !shown.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_key::DraftKey;
    use crate::texts::TypedTexts;
    use jiff::Timestamp;

    fn thing() -> Noteable {
        Noteable::MergeRequest { project: "a/b".into(), iid: 4 }
    }

    #[test]
    fn drafts_round_trip() {
        let mut draft = Draft::new(thing());
        draft.text = "one\n\"two\"".into();
        draft.position = Some(DiffPosition { path: "a".into(), lines: Some((1, 2)), ..DiffPosition::default() });
        draft.state = DraftState::Unknown { before: 7, why: "cut".into() };
        assert_eq!(Draft::read(&draft.to_json()), Some(draft));
    }

    #[test]
    fn draft_keys_are_unique_per_object() {
        let mut texts = TypedTexts::default();
        let add = |texts: &mut TypedTexts, key: &DraftKey| {
            texts.set_draft(key.clone(), Some(Draft::new(key.on().clone())));
        };
        let first = thing().new_key(&texts, Timestamp::UNIX_EPOCH);
        add(&mut texts, &first);
        add(&mut texts, &DraftKey::new(Noteable::MergeRequest { project: "a/b".into(), iid: 41 }, 9));
        let second = thing().new_key(&texts, Timestamp::UNIX_EPOCH);
        assert_ne!(
            first,
            thing().new_key(&TypedTexts::default(), Timestamp::UNIX_EPOCH),
            "another program takes another one"
        );
        add(&mut texts, &second);
        let keys: Vec<&DraftKey> = thing().drafts(&texts).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, [&first, &second]);
    }

    #[test]
    fn trimmed_notes_are_recognized() {
        assert!(same("Yes.", "Yes.  \n\n"));
        assert!(same("a\nb", "a\r\nb\r\n"));
        assert!(same("Done.", "Done.\n/label ~bug"));
        assert!(!same("", "/label ~bug"));
        assert!(!same("Yes", "Yes."));
    }

    #[test]
    fn equal_texts_on_different_lines_are_different_comments() {
        let sha = "9f3c2abd00112233445566778899aabbccddeeff";
        let mut draft = Draft::new(Noteable::Commit { project: "a/b".into(), sha: sha.into() });
        draft.text = "Why?".into();
        draft.position =
            Some(DiffPosition { path: "x.rs".into(), sha: sha.into(), lines: Some((3, 3)), ..DiffPosition::default() });
        let comment = |place: serde_json::Value| {
            let mut comment = serde_json::json!({"note": "Why?", "author": {"id": 1, "username": "ada"}});
            comment.as_object_mut().expect("an object").extend(place.as_object().expect("an object").clone());
            serde_json::from_value::<CommitComment>(comment).expect("a comment")
        };
        let at = |path: &str, line: u64, side: &str| {
            draft.is_comment(&comment(serde_json::json!({"path": path, "line": line, "line_type": side})), 1)
        };
        assert!(at("x.rs", 3, "new"));
        assert!(!at("y.rs", 3, "new") && !at("x.rs", 4, "new") && !at("x.rs", 3, "old"));
        // A server that does not support lines of commits.
        assert!(draft.is_comment(&comment(serde_json::json!({"path": null, "line": null})), 1));
    }

    #[test]
    fn edits_detect_conflicting_changes() {
        let mut draft = Draft::new(thing());
        (draft.edits, draft.base, draft.text) = (Some((7, String::new())), Some("one".into()), "two".into());
        assert_eq!(draft.conflict("one"), None);
        assert_eq!(draft.conflict("two"), None);
        assert_eq!(draft.conflict("three").as_deref(), Some("three"));
    }

    #[test]
    fn all_objects_except_commits_have_notes() {
        let kinds = [
            (Noteable::MergeRequest { project: "a/b".into(), iid: 4 }, "/projects/a%2Fb/merge_requests/4/notes"),
            (Noteable::Issue { project: "a/b".into(), iid: 4 }, "/projects/a%2Fb/issues/4/notes"),
            (Noteable::Snippet { project: "a/b".into(), id: 4 }, "/projects/a%2Fb/snippets/4/notes"),
            (Noteable::Epic { group: "a".into(), id: 4 }, "/groups/a/epics/4/notes"),
        ];
        for (thing, path) in kinds {
            assert_eq!(Draft::new(thing.clone()).write().request.path, path);
            let one = format!("{path}/9");
            assert_eq!(thing.update(9, "x".into()).expect("a write").request.path, one);
            assert_eq!(thing.delete(9).expect("a write").request.path, one);
            assert_eq!(thing.load_note(9).expect("a load").request.path, one);
        }
        let commit = Noteable::Commit { project: "a/b".into(), sha: "9f3c2abd00".into() };
        let comments = "/projects/a%2Fb/repository/commits/9f3c2abd00/comments";
        assert_eq!(Draft::new(commit.clone()).write().request.path, comments);
        assert!(commit.update(9, "x".into()).is_none() && commit.load_note(9).is_none());
    }

    #[test]
    fn commit_comments_have_a_line_and_ranges_a_header() {
        let sha = "9f3c2abd00112233445566778899aabbccddeeff";
        let mut draft = Draft::new(Noteable::Commit { project: "a/b".into(), sha: sha.into() });
        draft.text = "Why?".into();
        draft.position =
            Some(DiffPosition { path: "x.rs".into(), sha: sha.into(), lines: Some((3, 3)), ..DiffPosition::default() });
        assert_eq!(draft.body(), "Why?");
        let fields = draft.write().request.fields;
        assert!(fields.contains(&("line".into(), "3".into())) && fields.contains(&("path".into(), "x.rs".into())));
        draft.position.as_mut().expect("it has one").lines = Some((1, 3));
        assert_eq!(DiffPosition::parse_note(&draft.body()).expect("a place").0.lines, Some((1, 3)));
    }

    #[test]
    fn older_draft_notes_with_the_same_text_are_different() {
        let note = |id: u64, words: &str| {
            let note = serde_json::json!({"id": id, "author_id": 1, "merge_request_id": 4, "note": words});
            serde_json::from_value::<DraftNote>(note).expect("a draft note")
        };
        let mut draft = Draft::new(thing());
        (draft.text, draft.draft_note) = ("Yes.".into(), Some(DraftNoteChange::Create));
        assert!(draft.is_draft_note(&note(6, "Yes."), 5));
        assert!(!draft.is_draft_note(&note(5, "Yes."), 5) && !draft.is_draft_note(&note(4, "Yes."), 5));
        assert!(!draft.is_draft_note(&note(6, "No."), 5));
        draft.draft_note = Some(DraftNoteChange::Update { id: 3, publish: false });
        assert!(draft.is_draft_note(&note(3, "Yes."), 5));
        assert!(!draft.is_draft_note(&note(6, "Yes."), 5) && !draft.is_draft_note(&note(3, "No."), 5));
    }

    #[test]
    fn only_drafts_without_a_reply_are_uncertain() {
        let mut draft = Draft::new(thing());
        assert!(!draft.is_uncertain(), "it is only written");
        draft.state = DraftState::Unknown { before: 7, why: "cut".into() };
        assert!(draft.is_uncertain());
    }
}
