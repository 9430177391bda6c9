//! Writing and sending comments on a commit: on lines, on a file, or on the whole commit.

use super::{ChangesTab, CommitPane};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::DiffPosition;
use crate::app::view::View;
use crate::parts::review;
use crate::parts::review::drafts::CommentTarget;

impl CommitPane {
    pub(super) fn can_comment(&self, view: &View) -> Result<(), Disabled> {
        if !view.session.signed_in {
            return Err("you are not signed in".into());
        }
        if view.me().is_none() {
            return Err("your account has not loaded yet".into());
        }
        self.reads.commit(view).value.map(|_| ()).ok_or_else(|| "it has not loaded yet".into())
    }

    /// Returns whether [`CommitPane::comment_here`] can comment, or why not.
    pub(super) fn can_comment_here(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        match self.shown_changes() {
            Ok(changes) if changes.part().is_none() => changes.can_comment_here(view),
            _ => Ok(()),
        }
    }

    /// Opens the composer for the thread under the cursor, else for the lines there, else for the commit.
    pub(super) fn comment_here(&mut self, cx: &mut Cx) {
        match self.shown_changes().map(ChangesTab::part) {
            Ok(None) => self.changes.comment_here(cx),
            _ if self.part().draft().is_some() => self.edit(cx),
            _ if self.part().comment(&cx.view).is_some() => self.reply(cx),
            Ok(Some(_)) => {}
            Err(_) => self.comment(cx),
        }
    }

    pub(super) fn has_comment(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        self.part().comment(view).map(|_| ()).ok_or_else(|| "select a comment first".into())
    }

    pub(super) fn has_draft(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let none = "there is no draft under the cursor; comments on a commit cannot be edited";
        self.part().draft().map(|_| ()).ok_or_else(|| none.into())
    }

    pub(super) fn comment(&mut self, cx: &mut Cx) {
        self.drafts.comment(self.reads.noteable(&cx.view), CommentTarget::default(), "", cx);
    }

    pub(super) fn reply(&mut self, cx: &mut Cx) {
        let Some(comment) = self.part().comment(&cx.view) else { return };
        let begin = review::quoted_reply(comment.body, comment.author);
        let position = comment.position.map(|position| DiffPosition { quote: Vec::new(), ..position });
        self.drafts.comment(self.reads.noteable(&cx.view), position.into(), &begin, cx);
    }

    pub(super) fn edit(&mut self, cx: &mut Cx) {
        if let Some(id) = self.part().draft() {
            self.drafts.open(id, cx);
        }
    }

    pub(super) fn drop_draft(&mut self, cx: &mut Cx) {
        if let Some(id) = self.part().draft() {
            self.drafts.confirm_delete(id, cx);
        }
    }
}
