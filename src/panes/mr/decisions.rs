//! Decisions on a merge request: approving, merging, rebasing, toggling the draft state, and reverting or picking it.

use super::Mr;
use super::merge_checks::{CheckState, MergeCheck};
use crate::api::decisions::{
    Approve, AutoMergeReply, CancelAutoMerge, GetApprovals, Merge, RebaseMergeRequest, Unapprove,
};
use crate::api::endpoint::Endpoint;
use crate::api::merge_requests::{MergeRequest, MergeRequestState, UpdateMergeRequest};
use crate::app::App;
use crate::app::action::{Action, follow_up};
use crate::app::command_info::Disabled;
use crate::app::context::Cx;
use crate::app::outbox::NoteableExt;
use crate::app::overlay::form::{Form, Widget};
use crate::app::permission;
use crate::app::tone::Tone;
use crate::app::view::View;
use crate::domain::stack::is_on;
use crate::parts::items::merge_requests;
use crate::parts::repository::apply_commits::{self, CommitNames, Operation};
use crate::store::{Load, Write};
use crate::ui::text::sanitize;

impl Mr {
    /// Returns the merge request if it is open, else why no decision is possible.
    pub(super) fn open_merge_request<'a>(&self, view: &View<'a>) -> Result<&'a MergeRequest, Disabled> {
        match self.reads.need(view)? {
            known if known.state == MergeRequestState::Merged => Err("it is merged".into()),
            known if !known.is_open() => Err("it is closed".into()),
            known => Ok(known),
        }
    }

    pub(super) fn can_approve(&self, view: &View) -> Result<(), Disabled> {
        self.open_merge_request(view)?;
        if view.store.is_unsupported::<GetApprovals>() {
            return Err("this server has no approvals".into());
        }
        let approvals = view.store.get(&self.reads.approvals());
        let approvals = approvals.value.ok_or_else(|| match approvals.error {
            Some(error) => Disabled::from(error.message()),
            None => "the approvals are still loading".into(),
        })?;
        if !approvals.is_mine() && approvals.user_can_approve == Some(false) {
            return Err("you may not approve it".into());
        }
        Ok(())
    }

    /// Returns whether the user can request changes, or why not.
    pub(super) fn can_request_changes(&self, view: &View) -> Result<(), Disabled> {
        let known = self.open_merge_request(view)?;
        if !self.reads.noteable().has_draft_notes(view) {
            return Err("this server does not record it".into());
        }
        let me = view.me().map(|me| me.id);
        if known.author().map(|author| author.id) == me {
            return Err("you wrote it".into());
        }
        Ok(())
    }

    /// Returns whether the user can withdraw a request for changes, or why not.
    pub(super) fn can_withdraw(&self, view: &View) -> Result<(), Disabled> {
        self.open_merge_request(view)?;
        if !self.reads.has_requested_changes(view) {
            return Err("you have not requested changes".into());
        }
        let drafts = self.reads.stored_noteable(view).list_draft_notes().map_or(0, |list| view.store.list(&list).len());
        if drafts > 0 {
            return Err("your drafts would be published with it: ‹mr.send› does both".into());
        }
        Ok(())
    }

    /// Approves the shown head commit, or revokes the approval.
    pub(super) fn approve(&mut self, cx: &mut Cx) {
        let Ok(known) = self.open_merge_request(&cx.view) else { return };
        let (id, merge_request_iid) = (self.reads.project.clone(), self.reads.iid);
        cx.act(Action::Send(if self.reads.has_approved(&cx.view) {
            Write::new(&Unapprove { id, merge_request_iid }, format!("revoke the approval of !{}", self.reads.iid))
        } else {
            let sha = (*known.sha).clone();
            Write::new(
                &Approve { id, merge_request_iid, sha, publish_review: None },
                format!("approve !{}", self.reads.iid),
            )
        }));
    }

    pub(super) fn can_merge(&self, view: &View) -> Result<(), Disabled> {
        let known = self.open_merge_request(view)?;
        if is_auto_merged(known) {
            return Ok(());
        }
        match &known.user {
            Some(user) if !user.can_merge => {
                Err(format!("you may not merge into {}", sanitize(known.target_branch())).into())
            }
            Some(_) => Ok(()),
            None => permission::PUSH.check(view, Some(&self.reads.project), || false),
        }
    }

    /// Opens the merge form, or the list of the merge checks that do not pass; if auto-merge is set, asks whether to cancel
    /// it.
    pub(super) fn merge(&mut self, cx: &mut Cx) {
        let Ok(known) = self.open_merge_request(&cx.view) else { return };
        if is_auto_merged(known) {
            let question = format!("Cancel auto-merge of !{}? It stays open.", self.reads.iid);
            return cx.act(App::confirm("Cancel auto-merge", question, self.cancel_auto_merge()));
        }
        let checks = self.reads.merge_checks(&cx.view);
        if checks.iter().any(|check| check.state == CheckState::Failed) {
            return self.open_merge_checks(cx);
        }
        self.open_merge_form(cx);
    }

    pub(super) fn open_merge_form(&mut self, cx: &mut Cx) {
        let Ok(known) = self.open_merge_request(&cx.view) else { return };
        let request = self.reads.merge_request().request();
        if known.sha.is_none() && !cx.view.store.is_fresh(&request) {
            // Servers may refuse to merge what was not named (since 19.2).
            let words =
                format!("The head commit of !{} is not known yet: loading it. Then merge again.", self.reads.iid);
            cx.act(Action::Reload(vec![Load::single(&self.reads.merge_request()).into()]));
            return cx.say(Tone::Warning, words);
        }
        let checks = self.reads.merge_checks(&cx.view);
        // Servers since 17.5 wait for other checks as well.
        let waits = self.reads.pipeline(&cx.view).is_some_and(|pipeline| pipeline.status.is_live())
            || checks.iter().any(|check| check.state == CheckState::Failed);
        self.merge_form(&cx.view, known, checks, waits).open(cx);
    }

    /// Returns the merge form; `waits` if a running pipeline or a check allows auto-merge.
    fn merge_form(&self, view: &View, known: &MergeRequest, checks: Vec<MergeCheck>, waits: bool) -> Form {
        let iid = self.reads.iid;
        let retargets = self.retargets(view, known);
        let yes = |on: Option<bool>| if on == Some(true) { "yes" } else { "no" };
        let title = format!("Merge !{iid} into {}", sanitize(known.target_branch()));
        let mut form = Form::of::<Merge>(title, format!("merge !{iid}"), format!("merge {}!{iid}", self.reads.project))
            .fixed("id", &self.reads.project)
            .fixed("merge_request_iid", iid)
            .fact("title", merge_requests::title(known));
        for (index, check) in checks.iter().enumerate() {
            form = form.fact(if index == 0 { "checks" } else { "" }, check.line().plain_text());
        }
        if !retargets.is_empty() {
            let uppers: Vec<String> = retargets.iter().map(|(iid, _)| format!("!{iid}")).collect();
            let later = if waits { ", unless it merges later" } else { "" };
            let words = format!("retargets {} to {}{later}", uppers.join(" and "), sanitize(known.target_branch()));
            form = form.fact("stack", words);
        }
        form = form
            .without(&["merge_when_pipeline_succeeds"])
            .first(&["auto_merge", "squash", "should_remove_source_branch", "merge_commit_message"])
            .field("squash", |field| {
                field.label("squash commits").text(yes(known.squash)).help("All commits become one.");
            })
            .field("should_remove_source_branch", |field| {
                field.label("delete source branch").text(yes(known.force_remove_source_branch)).help("");
            })
            .field("merge_commit_message", |field| {
                field.label("merge commit").widget(Widget::Long).default("default message").help("");
            })
            .field("squash_commit_message", |field| {
                field.label("squash commit").widget(Widget::Long).default("default message").help("");
            })
            .then(move |answer: &MergeRequest| {
                if !answer.is_open() {
                    return (!retargets.is_empty()).then(|| {
                        Action::All(retargets.iter().map(|(_, write)| Action::Send(write.clone())).collect())
                    });
                }
                let waits = answer.is_open() && is_auto_merged(answer);
                let words = format!("Auto-merge on: !{iid} will merge when all checks pass");
                waits.then_some(Action::Say(Tone::Good, words))
            });
        form = form.verified(self.reads.merge_request(), |now| {
            now.state == MergeRequestState::Merged || now.is_open() && is_auto_merged(now)
        });
        form = match (*known.sha).clone() {
            Some(sha) => form.fixed("sha", sha),
            None => form.without(&["sha"]),
        };
        if waits {
            form.field("auto_merge", |field| {
                field
                    .label("auto-merge")
                    .text("yes")
                    .help("Yes: merge when all checks pass. No: merge now.")
                    .also("merge_when_pipeline_succeeds");
            })
        } else {
            form.without(&["auto_merge"])
        }
    }

    /// Returns the numbers of what is stacked directly on it, with the writes that let each target its target branch once
    /// it is merged. Servers do so by themselves only if they delete its branch.
    fn retargets(&self, view: &View, known: &MergeRequest) -> Vec<(u64, Write)> {
        let target = known.target_branch();
        let stack = self.reads.stack(view);
        let retarget = |upper: &&MergeRequest| {
            let update = UpdateMergeRequest {
                id: self.reads.project.clone(),
                merge_request_iid: upper.iid,
                target_branch: Some(target.to_owned()),
                ..UpdateMergeRequest::default()
            };
            (upper.iid, Write::new(&update, format!("retarget !{} to {}", upper.iid, sanitize(target))))
        };
        stack.above.iter().filter(|upper| is_on(upper, known)).map(retarget).collect()
    }

    /// Returns the action that cancels auto-merge. Servers report a failure in a successful reply.
    fn cancel_auto_merge(&self) -> Action {
        let iid = self.reads.iid;
        let cancel = CancelAutoMerge { id: self.reads.project.clone(), merge_request_iid: iid };
        let check = follow_up::<CancelAutoMerge>(move |outcome, cx| {
            if let Ok(AutoMergeReply::Canceled(answer)) = outcome
                && answer.status.as_deref() == Some("error")
            {
                let why = answer.message.as_deref().unwrap_or("the server refused");
                cx.say(Tone::Bad, format!("Could not cancel auto-merge of !{iid}: {}.", sanitize(why)));
            }
        });
        Action::SendThen(None, Write::new(&cancel, format!("cancel auto-merge of !{iid}")), check)
    }

    pub(super) fn can_rebase(&self, view: &View) -> Result<(), Disabled> {
        let known = self.open_merge_request(view)?;
        if known.rebase_in_progress == Some(true) {
            return Err("it is being rebased".into());
        }
        self.can_push_to_source(known, view)
    }

    /// Returns an error if the user is known not to have the right to push to the source branch.
    pub(super) fn can_push_to_source(&self, known: &MergeRequest, view: &View) -> Result<(), Disabled> {
        // The role in a fork is not known; its maintainers may let those of the target branch push.
        let own = Some(&self.reads.project).filter(|_| !known.is_from_fork());
        permission::PUSH.check(view, own, || false)
    }

    pub(super) fn rebase(&mut self, cx: &mut Cx) {
        let Ok(known) = self.open_merge_request(&cx.view) else { return };
        let (source, target) = (sanitize(known.source_branch()), sanitize(known.target_branch()));
        let question = format!("Rebase {source} onto {target}? Its commits are rewritten on the server.");
        let rebase = RebaseMergeRequest { id: self.reads.project.clone(), merge_request_iid: self.reads.iid };
        let send = Action::Send(Write::new(&rebase, format!("start rebase of !{}", self.reads.iid)));
        cx.act(App::confirm("Rebase", question, send));
    }

    /// Returns the commits that brought it into its target branch, or why there are none.
    pub(super) fn merged_commits(&self, operation: Operation, view: &View) -> Result<CommitNames, Disabled> {
        let known = self.reads.need(view)?;
        let own = view.store.list(&self.reads.commits());
        let commits = apply_commits::commits_of(operation, known, own.iter())?;
        if commits.len() > 1 && own.has_more {
            return Err("it has more commits than are loaded".into());
        }
        Ok(commits)
    }

    /// Asks for the branch on which it is picked or reverted.
    pub(super) fn apply_to_branch(&mut self, operation: Operation, cx: &mut Cx) {
        let view = cx.view;
        let (Some(known), Ok(commits)) = (self.reads.known(&view), self.merged_commits(operation, &view)) else {
            return;
        };
        let target = Some(known.target_branch()).filter(|_| operation == Operation::Revert);
        apply_commits::ask(operation, &self.reads.project, commits, target, cx);
    }

    /// Marks the merge request as draft or as ready, by changing its title.
    pub(super) fn toggle_draft(&mut self, cx: &mut Cx) {
        let Ok(known) = self.open_merge_request(&cx.view) else { return };
        let title = merge_requests::title(known);
        // Servers that send the field `draft` use the prefix `Draft`; older ones use `WIP`.
        let mark = if known.draft.is_some() { "Draft" } else { "WIP" };
        let (title, what) = match known.is_draft() {
            true => (title.to_owned(), format!("mark !{} as ready", self.reads.iid)),
            false => (format!("{mark}: {title}"), format!("mark !{} as draft", self.reads.iid)),
        };
        let update = UpdateMergeRequest {
            id: self.reads.project.clone(),
            merge_request_iid: self.reads.iid,
            title: Some(title),
            ..UpdateMergeRequest::default()
        };
        cx.act(Action::Send(Write::new(&update, what)));
    }
}

/// Returns whether auto-merge is set.
fn is_auto_merged(known: &MergeRequest) -> bool {
    known.merge_when_pipeline_succeeds == Some(true)
}
