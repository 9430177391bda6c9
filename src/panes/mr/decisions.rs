//! Approving a merge request, merging it, rebasing it, and calling it a draft or ready.

use super::Mr;
use crate::api::decisions::{
    Approvals, Approve, AutoMergeCanceled, CancelAutoMerge, GetApprovals, ListReviewers, Merge, RebaseMergeRequest,
    Unapprove,
};
use crate::api::merge_requests::{MergeRequest, MergeRequestState, UpdateMergeRequest};
use crate::app::App;
use crate::app::action::{Action, FollowUp, Tone};
use crate::app::command::Disabled;
use crate::app::overlay::form::{Form, Widget};
use crate::app::pane::{Cx, View};
use crate::domain::merge_status::{self, Obstacle};
use crate::parts::review;
use crate::store::Write;
use crate::ui::text::sanitize;
use std::rc::Rc;

impl Mr {
    pub(super) fn approvals_of(&self) -> GetApprovals {
        GetApprovals { id: self.project.clone(), merge_request_iid: self.iid }
    }

    pub(super) fn reviewers_of(&self) -> ListReviewers {
        ListReviewers { id: self.project.clone(), merge_request_iid: self.iid }
    }

    pub(super) fn approvals<'a>(&self, view: &View<'a>) -> Option<&'a Approvals> {
        view.store.get(&self.approvals_of()).value
    }

    /// The merge request, where it is open; else why nothing can be decided.
    pub(super) fn undecided<'a>(&self, view: &View<'a>) -> Result<&'a MergeRequest, Disabled> {
        match self.known(view) {
            None => Err("the merge request is still loading".into()),
            Some(known) if known.state == MergeRequestState::Merged => Err("it is merged".into()),
            Some(known) if !known.is_open() => Err("it is closed".into()),
            Some(known) => Ok(known),
        }
    }

    pub(super) fn can_approve(&self, view: &View) -> Result<(), Disabled> {
        self.undecided(view)?;
        if view.store.is_unsupported::<GetApprovals>() {
            return Err("this server has no approvals".into());
        }
        let approvals = view.store.get(&self.approvals_of());
        let approvals = approvals.value.ok_or_else(|| match approvals.error {
            Some(error) => Disabled::from(error.message()),
            None => "the approvals are still loading".into(),
        })?;
        if !approvals.is_mine() && approvals.user_can_approve == Some(false) {
            return Err("you may not approve it".into());
        }
        Ok(())
    }

    /// Approves the head that is shown, or takes the approval back.
    pub(super) fn approve(&mut self, cx: &mut Cx) {
        let Ok(known) = self.undecided(&cx.view) else { return };
        let (id, merge_request_iid) = (self.project.clone(), self.iid);
        let is_mine = self.approvals(&cx.view).is_some_and(Approvals::is_mine);
        cx.act(Action::Send(if is_mine {
            Write::new(&Unapprove { id, merge_request_iid }, format!("revoke the approval of !{}", self.iid))
        } else {
            let sha = known.sha.clone().flatten();
            Write::new(&Approve { id, merge_request_iid, sha }, format!("approve !{}", self.iid))
        }));
    }

    pub(super) fn can_merge(&self, view: &View) -> Result<(), Disabled> {
        let known = self.undecided(view)?;
        if is_auto_merged(known) {
            return Ok(());
        }
        if known.user.as_ref().is_some_and(|user| !user.can_merge) {
            return Err(format!("you may not merge into {}", sanitize(known.target_branch())).into());
        }
        match known.merge_status().map(merge_status::explain) {
            Some((words, Obstacle::Blocked)) => Err(format!("it {words}").into()),
            _ => Ok(()),
        }
    }

    /// Asks how to merge; where auto-merge is set, whether to cancel it.
    pub(super) fn merge(&mut self, cx: &mut Cx) {
        let Ok(known) = self.undecided(&cx.view) else { return };
        if is_auto_merged(known) {
            let question = format!("Cancel auto-merge of !{}? It stays open.", self.iid);
            return cx.act(App::confirm("Cancel auto-merge", question, self.cancel_auto_merge()));
        }
        let waits = self.pipeline(&cx.view).is_some_and(|pipeline| pipeline.status.is_live());
        self.merge_form(known, waits).open(cx);
    }

    /// The form of a merge; `waits` where there is a pipeline to wait for.
    fn merge_form(&self, known: &MergeRequest, waits: bool) -> Form {
        let iid = self.iid;
        let yes = |on: Option<Option<bool>>| if on.flatten() == Some(true) { "yes" } else { "no" };
        let title = format!("Merge !{iid} into {}", sanitize(known.target_branch()));
        let mut form = Form::of::<Merge>(title, format!("merge !{iid}"), format!("merge {}!{iid}", self.project))
            .fixed("id", &self.project)
            .fixed("merge_request_iid", iid)
            .fact("title", review::title(known))
            .without(&["merge_when_pipeline_succeeds"])
            .first(&["auto_merge", "squash", "should_remove_source_branch", "merge_commit_message"])
            .field("squash", |field| {
                field.label("squash commits").text(yes(known.squash)).help("All commits become one.");
            })
            .field("should_remove_source_branch", |field| {
                field.label("delete source branch").text(yes(known.force_remove_source_branch)).help("");
            })
            .field("merge_commit_message", |field| {
                field.label("merge commit").widget(Widget::Long).default("the server's message").help("");
            })
            .field("squash_commit_message", |field| {
                field.label("squash commit").widget(Widget::Long).default("the server's message").help("");
            })
            .then(move |answer| {
                let answer = answer.downcast_ref::<MergeRequest>()?;
                let waits = answer.is_open() && is_auto_merged(answer);
                let words = format!("Auto-merge is set: !{iid} is merged when its pipeline succeeds");
                waits.then_some(Action::Say(Tone::Good, words))
            });
        form = match known.sha.clone().flatten() {
            Some(sha) => form.fixed("sha", sha),
            None => form.without(&["sha"]),
        };
        if waits {
            form.field("auto_merge", |field| {
                field
                    .label("auto-merge")
                    .text("yes")
                    .help("Merges once the running pipeline has succeeded; no merges at once.")
                    .also("merge_when_pipeline_succeeds");
            })
        } else {
            form.without(&["auto_merge"])
        }
    }

    /// Cancels auto-merge. Servers say in a successful reply that they could not.
    fn cancel_auto_merge(&self) -> Action {
        let iid = self.iid;
        let cancel = CancelAutoMerge { id: self.project.clone(), merge_request_iid: iid };
        let check: FollowUp = Rc::new(move |outcome, cx| {
            let answer = outcome.as_ref().ok().and_then(|answer| answer.downcast_ref::<AutoMergeCanceled>());
            if let Some(answer) = answer.filter(|answer| answer.status.as_deref() == Some("error")) {
                let why = answer.message.as_deref().unwrap_or("the server refused");
                cx.say(Tone::Bad, format!("Could not cancel auto-merge of !{iid}: {}.", sanitize(why)));
            }
        });
        Action::SendThen(None, Write::new(&cancel, format!("cancel auto-merge of !{iid}")), check)
    }

    pub(super) fn can_rebase(&self, view: &View) -> Result<(), Disabled> {
        let known = self.undecided(view)?;
        if known.rebase_in_progress == Some(true) {
            return Err("it is being rebased".into());
        }
        Ok(())
    }

    pub(super) fn rebase(&mut self, cx: &mut Cx) {
        let Ok(known) = self.undecided(&cx.view) else { return };
        let (source, target) = (sanitize(known.source_branch()), sanitize(known.target_branch()));
        let question = format!("Rebase {source} onto {target}? Its commits are written anew on the server.");
        let rebase = RebaseMergeRequest { id: self.project.clone(), merge_request_iid: self.iid };
        let send = Action::Send(Write::new(&rebase, format!("begin to rebase !{}", self.iid)));
        cx.act(App::confirm("Rebase", question, send));
    }

    /// Marks it as a draft, or as ready: both are told by its title.
    pub(super) fn toggle_draft(&mut self, cx: &mut Cx) {
        let Ok(known) = self.undecided(&cx.view) else { return };
        let title = review::title(known);
        // Servers that know of drafts call them so.
        let mark = if known.draft.is_some() { "Draft" } else { "WIP" };
        let (title, what) = match known.is_draft() {
            true => (title.to_owned(), format!("mark !{} as ready", self.iid)),
            false => (format!("{mark}: {title}"), format!("mark !{} as draft", self.iid)),
        };
        let update = UpdateMergeRequest {
            id: self.project.clone(),
            merge_request_iid: self.iid,
            title: Some(title),
            ..UpdateMergeRequest::default()
        };
        cx.act(Action::Send(Write::new(&update, what)));
    }
}

/// Returns whether it is merged as soon as its pipeline has succeeded.
fn is_auto_merged(known: &MergeRequest) -> bool {
    known.merge_when_pipeline_succeeds.flatten() == Some(true)
}
