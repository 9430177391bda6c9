//! Writing, editing and deleting notes of a merge request, resolving threads, and submitting reviews.

use super::Mr;
use super::tab::Target;
use crate::api::decisions::Approvals;
use crate::api::notes::DeleteNote;
use crate::app::App;
use crate::app::action::Action;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::{DiffPosition, DraftThread};
use crate::app::overlay::composer::rows_on_lines;
use crate::app::view::View;
use crate::parts::changed_files::keys::ShowsChanges;
use crate::parts::reactions::Reactions;
use crate::parts::review::drafts::CommentTarget;
use crate::parts::review::publish::{self, Verdicts};
use crate::parts::review::threads;
use crate::parts::{list, review};
use crate::store::Write;
use crate::ui::text;

/// The reason why thread commands are disabled.
const NO_THREADS: &str = "this server has no threads";

impl Mr {
    /// Returns the comment or draft under the cursor.
    pub(super) fn target(&self, view: &View) -> Option<Target> {
        self.part().target(view)
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
        match self.target(view) {
            None => Ok(Reactions::to(self.reads.noteable(), None)),
            Some(Target::Comment { note: Some(note), .. }) => Ok(Reactions::to(self.reads.noteable(), Some(note))),
            Some(Target::Comment { note: None, .. }) => Err("comments of a commit have no reactions".into()),
            Some(Target::Draft(_)) => Err("this draft has not been sent yet".into()),
            Some(Target::System) => Err("system notes cannot have reactions".into()),
        }
    }

    pub(super) fn has_note(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let note = self.target(view).filter(|target| matches!(target, Target::Comment { .. }));
        list::need(note, &self.reads.notes(view), "select a comment first").map(|_| ())
    }

    pub(super) fn can_edit_note(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let me = view.me().map(|me| me.id);
        match self.target(view) {
            Some(Target::Draft(_)) => Ok(()),
            Some(Target::Comment { note: None, .. }) => Err("the comments of a commit cannot be changed".into()),
            Some(Target::Comment { author, .. }) if author.as_ref().map(|author| author.id) == me => Ok(()),
            Some(Target::Comment { .. }) => Err("somebody else wrote this comment".into()),
            Some(Target::System) | None => self.has_note(view),
        }
    }

    /// Returns whether [`Mr::comment_here`] can comment, or why not.
    pub(super) fn can_comment_here(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        match (self.shown_changes(), self.commented(view)) {
            (Ok(changes), None) => changes.can_comment_here(view),
            _ => Ok(()),
        }
    }

    /// Returns the comment or draft that a comment at the cursor continues; `None` if lines are marked.
    fn commented(&self, view: &View) -> Option<Target> {
        let marks_lines = self.shown_changes().is_ok_and(|changes| changes.changes.has_selection());
        self.target(view).filter(|target| !marks_lines && !matches!(target, Target::System))
    }

    /// Opens the composer for the thread under the cursor, else for the lines there, else for the merge request.
    pub(super) fn comment_here(&mut self, cx: &mut Cx) {
        match self.commented(&cx.view) {
            Some(Target::Draft(id)) => self.drafts.open(&id, cx),
            Some(_) => self.reply(cx),
            None if self.shown_changes().is_ok() => self.changes.comment_here(false, cx),
            None => self.comment(cx),
        }
    }

    /// Returns whether a suggestion can be made for these lines, or why not.
    pub(super) fn can_suggest(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        self.shown_changes()?.can_suggest(view)
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

    pub(super) fn reply(&mut self, cx: &mut Cx) {
        let Some(Target::Comment { author, position, body, .. }) = self.target(&cx.view) else { return };
        if let Some((discussion, resolved)) = self.thread(&cx.view) {
            let resolved = resolved == Some(true);
            let place = CommentTarget { position, thread: Some(DraftThread::Reply { discussion, resolved }) };
            let on = self.reads.stored_noteable(&cx.view);
            self.changes().keep_cursor_above(rows_on_lines(cx.view.size.1));
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
            Some(Target::Draft(id)) => self.drafts.open(&id, cx),
            Some(Target::Comment { note: Some(note), head, body, .. }) => {
                let on = self.reads.stored_noteable(&cx.view);
                self.drafts.edit(on, note, &head, &body, cx);
            }
            _ => {}
        }
    }

    pub(super) fn delete(&mut self, cx: &mut Cx) {
        match self.target(&cx.view) {
            Some(Target::Draft(id)) => self.drafts.confirm_delete(&id, cx),
            Some(Target::Comment { note: Some(note_id), body, .. }) => {
                let comment = text::fit(body.lines().next().unwrap_or_default(), 80);
                let delete = DeleteNote { on: self.reads.noteable(), note_id };
                let write = Write::new(&delete, format!("delete a comment on !{}", self.reads.iid));
                let question = format!("Delete your comment \"{comment}\"? This cannot be undone.");
                cx.act(App::confirm("Delete comment", question, Action::Send(write)));
            }
            _ => {}
        }
    }

    /// Asks how to submit the review.
    pub(super) fn submit_review(&mut self, cx: &mut Cx) {
        let on = self.reads.stored_noteable(&cx.view);
        let view = cx.view;
        let approve = match self.reads.given_approvals(&view).is_some_and(Approvals::is_mine) {
            true => Err("you have approved it already".into()),
            false => self.can_approve(&view),
        };
        let request_changes = self.can_request_changes(&view);
        let sha = self.reads.known(&view).and_then(|known| (*known.sha).clone());
        let has_requested = self.has_requested_changes(&view);
        publish::submit(&on, &self.drafts, Verdicts { approve, request_changes, sha, has_requested }, cx);
    }

    /// Returns whether there is a review to submit: comments, or a verdict on an open merge request.
    pub(super) fn can_submit_review(&self, view: &View) -> Result<(), Disabled> {
        let drafts = self.drafts.can_send(view);
        if drafts.is_ok() || view.me().is_none() || self.open_merge_request(view).is_err() { drafts } else { Ok(()) }
    }

    /// Withdraws the user's request for changes.
    pub(super) fn withdraw(&mut self, cx: &mut Cx) {
        let on = self.reads.stored_noteable(&cx.view);
        publish::withdraw(&on, cx).into_iter().for_each(|action| cx.act(action));
    }

    pub(super) fn list_drafts(&mut self, cx: &mut Cx) {
        let on = self.reads.stored_noteable(&cx.view);
        self.drafts.list(&on, cx);
    }
}
