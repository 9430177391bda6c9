//! Writing, editing and deleting notes of a merge request, resolving threads, and submitting reviews.

use super::{Mr, Tab};
use crate::api::Noteable;
use crate::api::decisions::{Approvals, Approve};
use crate::api::notes::{DeleteNote, Note, Suggestion};
use crate::api::users::User;
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::{DiffPosition, DraftThread};
use crate::app::overlay::composer::rows_on_lines;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::panes::mr::conversation::{self, UnderCursor};
use crate::panes::mr::inline_comments::COMMIT_NOTEABLE_TYPE;
use crate::parts::changed_files::keys::ShowsChanges;
use crate::parts::changed_files::{CommentAnchor, ImagePoint};
use crate::parts::reactions::Reactions;
use crate::parts::review::diff_comments::{position_of, quoted_position_of};
use crate::parts::review::drafts::CommentTarget;
use crate::parts::review::position::new_position;
use crate::parts::review::suggestions;
use crate::parts::review::{publish, threads};
use crate::parts::{list, review};
use crate::store::Write;
use crate::ui::text;

/// The reason why thread commands are disabled.
const NO_THREADS: &str = "this server has no threads";

fn ask_for_point(path: &str, ImagePoint { width, height, x, y }: ImagePoint, cx: &mut Cx) {
    let label = format!("x, y in {} ({width} × {height}; empty: the whole file)", text::fit(path, 30));
    cx.ask(label, format!("{x}, {y}"), |pane: &mut Mr, typed, cx| pane.comment_on_point(typed.trim(), cx));
}

/// The comment or draft under the cursor. It is built for a single key press and not stored.
#[allow(clippy::large_enum_variant)]
pub(super) enum Target {
    /// A note, or a comment on a commit.
    Comment {
        note: Option<u64>,
        author: Option<User>,
        position: Option<DiffPosition>,
        head: String,
        body: String,
        discussion: Option<String>,
        suggestions: Vec<Suggestion>,
    },
    /// A draft, by its key.
    Draft(String),
}

impl Target {
    fn of(note: &Note) -> Target {
        let (position, rest) = threads::place(note);
        let head = note.body.get(..note.body.len() - rest.len()).unwrap_or_default().to_owned();
        // The ID of a comment on a commit is not the ID of a note.
        let number = Some(note.id).filter(|_| note.noteable_type != COMMIT_NOTEABLE_TYPE);
        Target::Comment {
            note: number,
            author: note.author.clone(),
            position,
            head,
            body: rest.to_owned(),
            discussion: note.discussion_id.clone(),
            suggestions: note.suggestions.clone().unwrap_or_default(),
        }
    }
}

impl Mr {
    pub(super) fn target(&self, view: &View) -> Option<Target> {
        let notes = self.reads.notes(view);
        match self.tab {
            Tab::Overview => match self.conversation.at_cursor() {
                UnderCursor::Note(index) => conversation::note_at(&notes, &self.comments.notes, index).map(Target::of),
                UnderCursor::Draft(index) => self.drafts.drafts().get(index).map(|(key, _)| Target::Draft(key.clone())),
                UnderCursor::System | UnderCursor::Other => None,
            },
            Tab::Changes => {
                if let Some(key) = self.diff_comments.draft(&self.changes) {
                    return Some(Target::Draft(key.to_owned()));
                }
                let (thread, comment) = self.diff_comments.comment(&self.changes)?;
                match comment.note.and_then(|id| notes.iter().find(|note| note.id == id)) {
                    Some(note) => Some(Target::of(note)),
                    None => Some(Target::Comment {
                        note: comment.note,
                        author: comment.author.clone(),
                        position: Some(thread.position.clone()),
                        head: String::new(),
                        body: comment.body.clone(),
                        discussion: None,
                        suggestions: Vec::new(),
                    }),
                }
            }
            Tab::Commits | Tab::Pipelines => None,
        }
    }

    pub(super) fn can_comment(&self, view: &View) -> Result<(), Disabled> {
        if !view.session.signed_in {
            return Err("you are not signed in".into());
        }
        if view.me().is_none() {
            return Err("your account has not loaded yet".into());
        }
        self.reads.known(view).map(|_| ()).ok_or_else(|| "it has not loaded yet".into())
    }

    /// Returns the reactions to the note under the cursor, else to the merge request.
    pub(super) fn reactions(&self, view: &View) -> Result<Reactions, Disabled> {
        if self.tab == Tab::Overview && self.conversation.at_cursor() == UnderCursor::System {
            return Err("system notes cannot have reactions".into());
        }
        match self.target(view) {
            None => Ok(Reactions::to(self.reads.noteable(), None)),
            Some(Target::Comment { note: Some(note), .. }) => Ok(Reactions::to(self.reads.noteable(), Some(note))),
            Some(Target::Comment { note: None, .. }) => Err("comments of a commit have no reactions".into()),
            Some(Target::Draft(_)) => Err("this draft has not been sent yet".into()),
        }
    }

    pub(super) fn has_note(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let note = self.target(view).filter(|target| matches!(target, Target::Comment { .. }));
        list::need(note, &self.reads.notes(view), "there is no note under the cursor").map(|_| ())
    }

    pub(super) fn can_edit_note(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let me = view.me().map(|me| me.id);
        match self.target(view) {
            Some(Target::Draft(_)) => Ok(()),
            Some(Target::Comment { note: None, .. }) => Err("the comments of a commit cannot be changed".into()),
            Some(Target::Comment { author, .. }) if author.as_ref().map(|author| author.id) == me => Ok(()),
            Some(Target::Comment { .. }) => Err("somebody else wrote this note".into()),
            None => self.has_note(view),
        }
    }

    /// Returns whether a comment can be added to the lines under the cursor of the changes, or why not.
    pub(super) fn can_comment_here(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment_at(self.changes.anchor(), view)
    }

    /// Returns whether a suggestion can be made for these lines, or why not.
    pub(super) fn can_suggest(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment_at(self.changes.suggestion_anchor(), view)
    }

    fn can_comment_at(&self, anchor: Option<CommentAnchor>, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        self.on_changes(view)?;
        let head = self.shown_head(view);
        if head.is_empty() {
            return Err("the head commit of these changes is unknown".into());
        }
        // When newer changes have arrived but are not laid out yet, the line numbers are those of the older ones.
        if !self.is_current(view) {
            return Err("the changes are still loading".into());
        }
        let anchor = self.changes.need(anchor, "there is nothing under the cursor")?;
        let position = position_of(&anchor, head);
        if position.old && !self.is_whole(view) {
            return Err("switch to all changes (u) to comment on removed lines".into());
        }
        if position.note_header().is_none() {
            return Err("the file name contains characters that a note cannot reference".into());
        }
        Ok(())
    }

    /// Opens the composer for a comment on the merge request.
    pub(super) fn comment(&mut self, cx: &mut Cx) {
        let on = self.reads.stored_noteable(&cx.view);
        self.drafts.comment(on, CommentTarget::default(), "", cx);
    }

    /// Opens the composer for a new thread on the merge request.
    pub(super) fn start_thread(&mut self, cx: &mut Cx) {
        let on = self.reads.stored_noteable(&cx.view);
        let place =
            CommentTarget { position: None, thread: Some(DraftThread::New { position: None, commit_id: None }) };
        self.drafts.comment(on, place, "", cx);
    }

    pub(super) fn can_start_thread(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        if self.reads.noteable().has_threads(view) { Ok(()) } else { Err(NO_THREADS.into()) }
    }

    /// Returns the ID of the thread under the cursor and, if it is resolvable, whether it is resolved.
    fn thread(&self, view: &View) -> Option<(String, Option<bool>)> {
        let Some(Target::Comment { discussion: Some(id), .. }) = self.target(view) else { return None };
        let notes = self.reads.notes(view);
        let resolved = threads::is_resolved(notes.iter().filter(|note| note.discussion_id.as_ref() == Some(&id)));
        Some((id, resolved))
    }

    pub(super) fn can_resolve(&self, view: &View) -> Result<(), Disabled> {
        if !self.reads.noteable().has_threads(view) {
            return Err(NO_THREADS.into());
        }
        self.can_comment(view)?;
        match self.thread(view) {
            Some((_, Some(_))) => Ok(()),
            Some((_, None)) => Err("this thread cannot be resolved".into()),
            None => list::need(None, &self.reads.notes(view), "there is no thread under the cursor"),
        }
    }

    /// Resolves or reopens the thread under the cursor.
    pub(super) fn resolve(&mut self, cx: &mut Cx) {
        let Some((discussion, Some(resolved))) = self.thread(&cx.view) else { return };
        let write = self.reads.noteable().resolve(discussion, !resolved);
        write.into_iter().for_each(|write| cx.act(Action::Send(write)));
    }

    /// Returns the thread that a comment on these lines starts; `None` on servers without threads.
    fn new_thread(&self, anchor: &CommentAnchor, view: &View) -> Option<DraftThread> {
        if !self.reads.noteable().has_threads(view) {
            return None;
        }
        let refs = self.shown_refs(view)?;
        let position = Box::new(new_position(anchor, &refs)?);
        Some(DraftThread::New { position: Some(position), commit_id: self.scope.commit().map(str::to_owned) })
    }

    /// Opens the composer for the marked lines, else for the line, file or image point under the cursor. `suggests`
    /// inserts the lines as a suggestion.
    pub(super) fn comment_here(&mut self, suggests: bool, cx: &mut Cx) {
        let anchor = if suggests { self.changes.suggestion_anchor() } else { self.changes.anchor() };
        let Some(anchor) = anchor else { return };
        let point = self.changes.image_point().filter(|_| !suggests && self.reads.noteable().has_threads(&cx.view));
        match point {
            Some(point) => ask_for_point(&anchor.path, point, cx),
            None => self.comment_on(anchor, suggests, cx),
        }
    }

    /// Opens the composer for the typed point of an image, or for the whole image if none was typed.
    fn comment_on_point(&mut self, typed: &str, cx: &mut Cx) {
        let Some((anchor, image)) = self.changes.anchor().zip(self.changes.image_point()) else { return };
        let point = image.read(typed);
        if point.is_none() && !typed.is_empty() {
            let words = format!("The image has no such point: it is {} × {} pixels.", image.width, image.height);
            return cx.say(Tone::Warning, words);
        }
        self.comment_on(anchor.at_point(point), false, cx);
    }

    fn comment_on(&mut self, anchor: CommentAnchor, suggests: bool, cx: &mut Cx) {
        let position = quoted_position_of(&self.changes, &anchor, self.shown_head(&cx.view));
        if suggests && (position.lines.is_none() || position.old) {
            return cx.say(Tone::Warning, "A suggestion replaces lines: mark some first.");
        }
        let above = position.lines.map_or(0, |(first, last)| last - first);
        self.changes.keep_cursor_above(rows_on_lines(cx.view.size.1));
        let on = self.reads.stored_noteable(&cx.view);
        let thread = self.new_thread(&anchor, &cx.view);
        if suggests {
            let text = self.changes.trailing_lines(&anchor, usize::MAX);
            if text.len() != above as usize + 1 {
                let words = "Some of the marked lines are hidden: ‹mr.more› expands them.";
                return cx.say(Tone::Warning, words);
            }
            let place = CommentTarget { position: Some(position), thread };
            self.drafts.suggest(on, place, &suggestions::block(&text, above), cx);
        } else {
            self.drafts.comment(on, CommentTarget { position: Some(position), thread }, "", cx);
        }
        self.changes.clear_selection();
    }

    pub(super) fn reply(&mut self, cx: &mut Cx) {
        let Some(Target::Comment { author, position, body, .. }) = self.target(&cx.view) else { return };
        if let Some((discussion, resolved)) = self.thread(&cx.view) {
            let resolved = resolved == Some(true);
            let place = CommentTarget { position, thread: Some(DraftThread::Reply { discussion, resolved }) };
            let on = self.reads.stored_noteable(&cx.view);
            self.changes.keep_cursor_above(rows_on_lines(cx.view.size.1));
            return self.drafts.comment(on, place, "", cx);
        }
        let begin = review::quoted_reply(&body, author.as_ref());
        // A reply quotes the comment, which quotes the lines already. If the position cannot be written into a note,
        // the reply goes to the merge request.
        let position = position
            .map(|position| DiffPosition { quote: Vec::new(), ..position })
            .filter(|position| position.note_header().is_some());
        let on = self.reads.stored_noteable(&cx.view);
        self.drafts.comment(on, position.into(), &begin, cx);
    }

    pub(super) fn edit(&mut self, cx: &mut Cx) {
        match self.target(&cx.view) {
            Some(Target::Draft(key)) => self.drafts.open(&key, cx),
            Some(Target::Comment { note: Some(note), head, body, .. }) => {
                let on = self.reads.stored_noteable(&cx.view);
                self.drafts.edit(on, note, &head, &body, cx);
            }
            _ => {}
        }
    }

    pub(super) fn delete(&mut self, cx: &mut Cx) {
        match self.target(&cx.view) {
            Some(Target::Draft(key)) => self.drafts.confirm_delete_by_key(&key, cx),
            Some(Target::Comment { note: Some(note_id), body, .. }) => {
                let comment = text::fit(body.lines().next().unwrap_or_default(), 80);
                let on = Noteable::MergeRequest { project: self.reads.project.clone(), iid: self.reads.iid };
                let delete = DeleteNote { on, note_id };
                let write = Write::new(&delete, format!("delete a note on !{}", self.reads.iid));
                let question = format!("Delete your note \"{comment}\"? This cannot be undone.");
                cx.act(App::confirm("Delete a note", question, Action::Send(write)));
            }
            _ => {}
        }
    }

    /// Asks how to submit the review.
    pub(super) fn submit_review(&mut self, cx: &mut Cx) {
        let on = self.reads.stored_noteable(&cx.view);
        let may_approve =
            self.can_approve(&cx.view).is_ok() && !self.approvals(&cx.view).is_some_and(Approvals::is_mine);
        let approval = self.reads.known(&cx.view).filter(|_| may_approve).map(|known| Approve {
            id: self.reads.project.clone(),
            merge_request_iid: self.reads.iid,
            sha: (*known.sha).clone(),
        });
        publish::submit(&on, &self.drafts, approval, cx);
    }

    pub(super) fn list_drafts(&mut self, cx: &mut Cx) {
        let on = self.reads.stored_noteable(&cx.view);
        self.drafts.list(&on, cx);
    }
}
