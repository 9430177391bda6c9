//! The comments of a merge request, and submitting reviews.

use super::Mr;
use crate::api::Noteable;
use crate::api::decisions::Approvals;
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::overlay::composer::rows_on_lines;
use crate::app::view::View;
use crate::parts::changed_files::keys::ShowsChanges;
use crate::parts::comments::{ShowsComments, Target};
use crate::parts::review::drafts::Drafts;
use crate::parts::review::publish::{self, Verdicts};

impl ShowsComments for Mr {
    const WHOLE: &'static str = "Comment on merge request…";

    fn comments_on(&self, view: &View) -> Result<Noteable, Disabled> {
        self.reads.known(view).ok_or("it has not loaded yet")?;
        Ok(self.reads.noteable())
    }

    fn drafts_on(&self, view: &View) -> Result<Noteable, Disabled> {
        Ok(self.reads.stored_noteable(view))
    }

    fn drafts(&self) -> &Drafts {
        &self.drafts
    }

    fn target<'a>(&'a self, view: &View<'a>) -> Option<Target<'a>> {
        self.part().target(view)
    }

    fn can_comment_on_lines(&self, view: &View) -> Option<Result<(), Disabled>> {
        let changes = self.shown_changes().ok()?;
        let is_on_lines = changes.changes.has_selection() || self.target(view).is_none();
        is_on_lines.then(|| changes.can_comment_here(view))
    }

    fn comment_on_lines(&mut self, cx: &mut Cx) {
        self.changes.comment_here(false, cx);
    }

    fn make_room(&mut self, is_reply: bool, view: &View) {
        if is_reply {
            self.changes().keep_cursor_above(rows_on_lines(view.size.1));
        }
    }

    fn can_step(&self, _: &View) -> Result<(), Disabled> {
        self.part().has_steps()
    }

    fn step_thread(&mut self, forward: bool) -> bool {
        self.part_mut().step_thread(forward)
    }
}

impl Mr {
    /// Returns whether a suggestion can be made for these lines, or why not.
    pub(super) fn can_suggest(&self, view: &View) -> Result<(), Disabled> {
        self.can_comment(view)?;
        self.shown_changes()?.can_suggest(view)
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
        let has_requested = self.reads.has_requested_changes(&view);
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
}
