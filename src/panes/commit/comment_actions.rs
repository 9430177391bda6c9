//! Writing and sending comments on a commit: on lines, on a file, or on the whole commit.

use super::{ChangesTab, CommitPane};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::DiffPosition;
use crate::app::view::View;
use crate::parts::review;
use crate::parts::review::drafts::CommentTarget;
use crate::parts::review::thread_layout::InsetPart;

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
            Ok(Some(InsetPart::Draft(_))) => self.edit(cx),
            Ok(Some(InsetPart::Comment(..))) => self.reply(cx),
            Ok(None) => self.changes.comment_here(cx),
            Err(_) if self.details.draft().is_some() => self.edit(cx),
            Err(_) if self.details.comment(&cx.view).is_some() => self.reply(cx),
            Err(_) => self.comment(cx),
        }
    }

    pub(super) fn has_comment(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let has_comment = match self.shown_changes() {
            Ok(changes) => changes.comment().is_some(),
            Err(_) => self.details.comment(view).is_some(),
        };
        if has_comment { Ok(()) } else { Err("select a comment first".into()) }
    }

    /// Returns the key of the draft under the cursor.
    fn draft(&self) -> Option<&str> {
        match self.shown_changes() {
            Ok(changes) => changes.draft(),
            Err(_) => self.details.draft(),
        }
    }

    pub(super) fn has_draft(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        let none = "there is no draft under the cursor; comments on a commit cannot be edited";
        self.draft().map(|_| ()).ok_or_else(|| none.into())
    }

    pub(super) fn comment(&mut self, cx: &mut Cx) {
        self.drafts.comment(self.reads.noteable(&cx.view), CommentTarget::default(), "", cx);
    }

    pub(super) fn reply(&mut self, cx: &mut Cx) {
        let (position, begin) = match self.shown_changes() {
            Ok(changes) => {
                let Some((position, comment)) = changes.reply_to() else { return };
                (Some(position), review::quoted_reply(&comment.body, comment.author.as_ref()))
            }
            Err(_) => {
                let Some((position, body, note)) = self.details.comment(&cx.view) else { return };
                let position = position.map(|position| DiffPosition { quote: Vec::new(), ..position });
                (position, review::quoted_reply(body, note.author.as_ref()))
            }
        };
        self.drafts.comment(self.reads.noteable(&cx.view), position.into(), &begin, cx);
    }

    pub(super) fn edit(&mut self, cx: &mut Cx) {
        if let Some(key) = self.draft() {
            self.drafts.open(key, cx);
        }
    }

    pub(super) fn drop_draft(&mut self, cx: &mut Cx) {
        if let Some(key) = self.draft() {
            self.drafts.confirm_delete_by_key(key, cx);
        }
    }
}
