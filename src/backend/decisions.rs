//! Approving, merging (at once or after the pipeline) and rebasing merge requests.

use super::branches;
use super::call::{Answer, Call, Outcome, ReadCall, WriteCall, ok};
use super::commits::non_blank;
use super::git::{Author, Git, GitRef, NewMerge};
use super::merge_requests::{DiffEnds, is_draft, is_pipeline_of};
use super::modes::Version;
use super::mount::Mount;
use super::records::{
    MergeMethod, MergeParams, MergeRequest, Namespace, Note, Noteable, Pipeline, Range, ReviewState, State, Status,
    level,
};
use super::rejection::Rejection;
use super::world::World;
use super::{draft_notes, members, notes, runner, schedules};
use crate::auth::Rights;
use crate::presenters::time;
use api::decisions::*;
use api::json;
use api::merge_requests::MergeRequest as View;
use api::merge_requests::{ListReviewers, Reviewer};
use api::{Id, NoContent};
use git2::Oid;
use jiff::Timestamp;
use serde_json::json;
use std::ops::Deref;

/// The status of a merge request that can be merged.
const MERGEABLE: &str = "mergeable";
/// The status of a merge request whose branches conflict.
const CONFLICT: &str = "conflict";
/// The status of a merge request that must be rebased first.
const NEED_REBASE: &str = "need_rebase";
/// The status of a merge request whose pipeline must succeed and has not finished.
const STILL_RUNNING: &str = "ci_still_running";
/// The status of a merge request whose threads must be resolved first.
const NOT_RESOLVED: &str = "discussions_not_resolved";
/// The status of a merge request without the required approvals.
const NOT_APPROVED: &str = "not_approved";
/// The merge error after a failed rebase.
const REBASE_FAILED: &str = "Rebase failed: Rebase locally, resolve all conflicts, then push the branch.";

pub fn mount(mount: Mount) -> Mount {
    mount
        .read_signed_in::<GetApprovals>(approvals)
        .read_signed_in::<GetApprovalState>(approval_state)
        .read_signed_in::<ListReviewers>(reviewers)
        .write::<Approve>(approve)
        .write::<Unapprove>(unapprove)
        .write::<Merge>(merge)
        .write::<CancelAutoMerge>(cancel_auto_merge_and_show)
        .write::<CancelMergeWhenPipelineSucceeds>(cancel)
        .write::<RebaseMergeRequest>(rebase)
        .read_signed_in::<GetMergeRef>(merge_ref)
        .write::<ResetApprovals>(reset_approvals)
}

api::resource! {
    /// The commit that a merge would create.
    pub struct MergeRef {
        commit_id: String,
    }
}

api::endpoints! {
    unspecified section "Merging";

    /// Merges the branches of a merge request for a trial (since 12.x).
    GET "/projects/{id}/merge_requests/{merge_request_iid}/merge_ref" => MergeRef;
    struct GetMergeRef { id: Id, merge_request_iid: u64 }

    /// Cancels an automatic merge; the operation of all versions.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/cancel_merge_when_pipeline_succeeds" => AutoMergeCanceled;
    struct CancelMergeWhenPipelineSucceeds { id: Id, merge_request_iid: u64 }

    /// Takes all approvals back (since 15.4). Only the bots of access tokens of projects and groups may.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/reset_approvals" => NoContent;
    struct ResetApprovals { id: Id, merge_request_iid: u64 }
}

fn reset_approvals(call: &mut WriteCall, input: ResetApprovals) -> Outcome<NoContent> {
    let (project, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    let token = call.rights.token.and_then(|token| call.world.tokens.get(token));
    let is_bot = token.is_some_and(|token| token.project.or(token.group).is_some());
    if !is_bot || call.rights.level(call.world, project) < level::DEVELOPER {
        return Err(Rejection::unauthorized());
    }
    let (id, user) = (mr.id, call.require_user()?.id);
    call.change(id, user, |mr| {
        for user in std::mem::take(&mut mr.approvals).into_keys() {
            mr.set_review(user, ReviewState::Unapproved);
        }
    })?;
    Ok(Answer::new(NoContent).status(202))
}

fn merge_ref(call: &ReadCall, input: GetMergeRef) -> Outcome<MergeRef> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let refused = || Rejection::bad_request("Merge request is not mergeable");
    let open = Some(mr).filter(|mr| mr.state == State::Opened);
    let (target, ends) = open.and_then(|mr| call.heads(mr, &git)).ok_or_else(refused)?;
    let author = call.world.users.get(mr.author);
    let (name, email) = author.map(|user| (user.name.clone(), user.email.clone())).unwrap_or_default();
    // The same branches make the same commit, however often they are tried.
    let committer = Author { name, email, at: mr.created_at };
    let message = format!("Merge {} into {target}", ends.head);
    let DiffEnds { base, head } = ends;
    let method = MergeMethod::Merge;
    let new = NewMerge { target, base, head, method, squash: None, message: &message, committer };
    let commit = git.merge(&new)?.ok_or_else(refused)?.tip;
    ok(MergeRef { commit_id: commit.to_string() })
}

/// Applies what is due by now: jobs progress, merge requests that wait for them are merged, and memberships expire.
/// Returns when the next change is due.
pub fn advance(call: &mut WriteCall) -> Option<Timestamp> {
    let active = call.world.top_level_pipelines().filter(|pipeline| pipeline.status.goes_on());
    let active: Vec<u64> = active.map(|pipeline| pipeline.id).collect();
    let scheduled = schedules::advance(call);
    let next = [runner::advance(call.world, call.now), members::remove_expired(call.world, call.now), scheduled]
        .into_iter()
        .flatten()
        .min();
    for pipeline in active {
        call.world.add_pipeline_failure_todos(pipeline, call.now);
    }
    let pending = call.world.merge_requests.iter().filter_map(|mr| Some((mr.id, mr.auto_merge.clone()?)));
    for (id, params) in pending.collect::<Vec<_>>() {
        if let Some(reason) = auto_merge(call, id, &params) {
            cancel_auto_merge(call, id, params.user, reason);
        }
    }
    next
}

impl<W: Deref<Target = World>> Call<W> {
    /// Returns whether open threads keep a merge request from being merged: only if its project asks for that (GitLab,
    /// `MergeRequest#mergeable_discussions_state?`).
    pub fn has_blocking_threads(&self, mr: &MergeRequest) -> bool {
        let target = self.world.projects.get(mr.target_project);
        target.is_some_and(|project| project.only_allow_merge_if_all_discussions_are_resolved)
            && self.world.has_unresolved(Noteable::MergeRequest(mr.id))
    }

    /// Returns the `detailed_merge_status`: the first reason why a merge request cannot be merged. `git` is the
    /// target's repository.
    pub fn merge_status(&self, mr: &MergeRequest, git: Option<&Git>) -> &'static str {
        if mr.state != State::Opened {
            return "not_open";
        }
        // Approvals are checked before all else (GitLab, `EE::MergeRequest.mergeable_state_checks`).
        if self.approvals_required(mr).is_some_and(|required| (mr.approvals.len() as u64) < required) {
            return NOT_APPROVED;
        }
        if is_draft(&mr.title, self.version) {
            return "draft_status";
        }
        let project = self.world.projects.get(mr.target_project);
        let Some((project, git, (target, ends))) =
            project.zip(git).and_then(|(project, git)| Some((project, git, self.heads(mr, git)?)))
        else {
            return "commits_status";
        };
        if self.has_blocking_threads(mr) {
            NOT_RESOLVED
        } else if self.is_blocked(mr) {
            "merge_request_blocked"
        } else if !self.relation(git, target, ends.head).is_clean {
            CONFLICT
        } else if project.merge_method != MergeMethod::Merge && ends.base != target {
            NEED_REBASE
        } else {
            let pipeline = self.head_pipeline(mr, ends.head).map(|pipeline| pipeline.status);
            match pipeline {
                _ if !project.only_allow_merge_if_pipeline_succeeds => MERGEABLE,
                Some(Status::Success) => MERGEABLE,
                Some(status) if status.goes_on() => STILL_RUNNING,
                _ => "ci_must_pass",
            }
        }
    }

    /// Returns the head of the target branch and the ends of an open merge request's diff; `None` if there is nothing
    /// to merge.
    fn heads(&self, mr: &MergeRequest, git: &Git) -> Option<(Oid, DiffEnds)> {
        let target = git.branch_head(&mr.target_branch)?;
        let head = self.source_head(mr, Some(git))?;
        let ends = self.diff_ends(mr, git).filter(|ends| ends.head == head && ends.base != head)?;
        Some((target, ends))
    }

    /// Returns the latest pipeline for the head of the source branch.
    fn head_pipeline(&self, mr: &MergeRequest, head: Oid) -> Option<&Pipeline> {
        let sha = head.to_string();
        let is_it = |p: &&Pipeline| is_pipeline_of(p, mr) && p.sha == sha;
        self.world.top_level_pipelines().rev().find(is_it)
    }

    /// Returns whether the caller may merge a merge request.
    pub fn can_merge(&self, mr: &MergeRequest) -> bool {
        let project = self.world.projects.get(mr.target_project);
        project.is_some_and(|project| self.rights.can_merge_into(&self.world, project, &mr.target_branch))
    }

    /// Returns whether the caller may approve a merge request and has not done so yet.
    fn can_approve(&self, mr: &MergeRequest) -> bool {
        let Some((user, project)) = self.rights.user.zip(self.world.projects.get(mr.target_project)) else {
            return false;
        };
        let takes_part = mr.author == user || mr.assignees().any(|id| id == user);
        mr.state == State::Opened
            && !project.archived
            && !mr.approvals.contains_key(&user)
            && (takes_part || self.rights.level(&self.world, project) >= level::DEVELOPER)
    }

    /// Returns the number of required approvals, if the merge request or its project sets one.
    fn approvals_required(&self, mr: &MergeRequest) -> Option<u64> {
        let of_project = self.world.projects.get(mr.target_project).map(|project| project.approvals_before_merge);
        mr.approvals_before_merge.or(of_project).filter(|required| *required > 0)
    }

    fn show_approvals(&self, mr: &MergeRequest) -> Approvals {
        let required = self.approvals_required(mr);
        let mut rows: Vec<(Timestamp, u64)> = mr.approvals.iter().map(|(user, at)| (*at, *user)).collect();
        rows.sort_unstable();
        let has_times = self.version >= Version::V18;
        let show = |(at, user): (Timestamp, u64)| {
            let approved_at = has_times.then(|| time(at));
            Approval { user: self.user_summary(user), approved_at }
        };
        Approvals {
            approved: Some(!rows.is_empty()),
            approved_by: Some(rows.into_iter().map(show).collect()),
            user_has_approved: Some(self.rights.user.is_some_and(|user| mr.approvals.contains_key(&user))),
            user_can_approve: Some(self.can_approve(mr)),
            approvals_required: required,
            approvals_left: required.map(|required| required.saturating_sub(mr.approvals.len() as u64)),
        }
    }
}

/// Returns a single rule if approvals are required: anyone may give them.
fn approval_state(call: &ReadCall, input: GetApprovalState) -> Outcome<ApprovalState> {
    let (_, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    let rule = call.approvals_required(mr).map(|required| ApprovalRule {
        id: mr.id,
        name: "All Members".into(),
        rule_type: "any_approver".into(),
        approvals_required: required,
        approved: mr.approvals.len() as u64 >= required,
        approved_by: mr.approvals.keys().map(|user| call.user_summary(*user)).collect(),
        ..ApprovalRule::default()
    });
    ok(ApprovalState { rules: Some(rule.into_iter().collect()) })
}

/// Checks that the head of a merge request is the one that the caller has seen.
fn check_sha(seen: &Option<String>, head: Option<Oid>) -> Result<(), Rejection> {
    let head = head.map(|head| head.to_string()).unwrap_or_default();
    match seen {
        Some(seen) if !seen.is_empty() && *seen != head => {
            Err(Rejection::conflict(format!("SHA does not match HEAD of source branch: {head}")))
        }
        _ => Ok(()),
    }
}

impl WriteCall<'_> {
    /// Adds a system note to a merge request.
    pub fn add_system_note(&mut self, mr: u64, author: u64, body: impl Into<String>) {
        self.add_system_note_on(Noteable::MergeRequest(mr), author, body);
    }

    /// Adds a system note to an issue, a merge request or another noteable object.
    pub fn add_system_note_on(&mut self, on: Noteable, author: u64, body: impl Into<String>) {
        self.world.notes.add(Note {
            on,
            body: body.into(),
            author,
            created_at: self.now,
            updated_at: self.now,
            system: true,
            ..Note::default()
        });
    }

    /// Changes a merge request on behalf of a user, who is subscribed to it. Returns the changed merge request.
    fn change(&mut self, id: u64, by: u64, change: impl FnOnce(&mut MergeRequest)) -> Result<MergeRequest, Rejection> {
        let now = self.now;
        let mr = self.world.merge_requests.get_mut(id).ok_or_else(Rejection::record_not_found)?;
        change(mr);
        mr.updated_at = mr.updated_at.max(now);
        mr.subscribers.insert(by);
        Ok(mr.clone())
    }
}

fn approvals(call: &ReadCall, input: GetApprovals) -> Outcome<Approvals> {
    let (_, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    ok(call.show_approvals(mr))
}

fn reviewers(call: &ReadCall, input: ListReviewers) -> Outcome<Vec<Reviewer>> {
    let (_, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    call.page(mr.reviewers.iter().collect(), |reviewer| Reviewer {
        user: call.user_summary(reviewer.user),
        state: reviewer.state.as_str().into(),
        created_at: Some(time(reviewer.created_at)),
    })
}

pub fn approve(call: &mut WriteCall, input: Approve) -> Outcome<Approvals> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let (id, user, now) = (mr.id, call.require_user()?.id, call.now);
    check_sha(&input.sha, call.source_head(mr, Some(&git)))?;
    if input.publish_review == Some(true) && call.version >= Version::V18 {
        let target = notes::merge_request(call, &input.id, input.merge_request_iid)?;
        draft_notes::publish_own(call, &target, id, user)?;
    }
    let mr = call.world.merge_requests.get(id).ok_or_else(Rejection::record_not_found)?;
    if mr.approvals.contains_key(&user) && call.version >= Version::V19 {
        // The review has been published all the same.
        return Ok(Answer::new(call.show_approvals(mr)).status(304));
    }
    if !call.can_approve(mr) {
        return Err(Rejection::unauthorized());
    }
    let mr = call.change(id, user, |mr| {
        mr.approvals.insert(user, now);
        mr.set_review(user, ReviewState::Approved);
    })?;
    call.add_system_note(id, user, "approved this merge request");
    call.world.mark_todos_done(Noteable::MergeRequest(id), user);
    call.record_merge_request_event(&mr, "approved");
    ok(call.show_approvals(&mr))
}

pub fn unapprove(call: &mut WriteCall, input: Unapprove) -> Outcome<NoContent> {
    let (_, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    let (id, user) = (mr.id, call.require_user()?.id);
    if !mr.approvals.contains_key(&user) {
        let is_new = call.version >= Version::V19;
        return Err(if is_new { Rejection::not_modified() } else { Rejection::message(404, "404 Not Found") });
    }
    let mr = call.change(id, user, |mr| {
        mr.approvals.remove(&user);
        mr.set_review(user, ReviewState::Unapproved);
    })?;
    call.add_system_note(id, user, "unapproved this merge request");
    call.record_merge_request_event(&mr, "unapproved");
    let left = json::to_value(&call.show_approvals(&mr)).map_err(Rejection::internal_error)?;
    Ok(Answer::new(NoContent).status(201).with_body(left))
}

pub fn merge(call: &mut WriteCall, input: Merge) -> Outcome<View> {
    let (_, mr, git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let (id, user) = (mr.id, call.require_user()?.id);
    // The setting of a group (since 19.2) is for its subgroups, too.
    let requires_sha = match call.world.projects.get(mr.target_project).map(|project| project.namespace) {
        Some(Namespace::Group(group)) => call.world.group_chain(group).iter().any(|above| above.require_sha_for_merge),
        _ => false,
    };
    if requires_sha && input.sha.as_deref().unwrap_or_default().is_empty() {
        return Err(Rejection::message(400, "SHA must be provided when merging"));
    }
    if !call.can_merge(mr) {
        return Err(Rejection::unauthorized());
    }
    let head = call.source_head(mr, Some(&git));
    let pipeline = head.and_then(|head| call.head_pipeline(mr, head)).map(|pipeline| pipeline.status);
    let is_auto = input.auto_merge == Some(true) || input.merge_when_pipeline_succeeds == Some(true);
    let waits = is_auto && pipeline.is_some_and(Status::goes_on);
    match call.merge_status(mr, Some(&git)) {
        CONFLICT | NEED_REBASE => return Err(cannot_merge()),
        MERGEABLE if !is_auto || waits || pipeline == Some(Status::Success) => {}
        STILL_RUNNING | NOT_RESOLVED | NOT_APPROVED if waits => {}
        _ => return Err(Rejection::message(405, "405 Method Not Allowed")),
    }
    check_sha(&input.sha, head)?;
    let params = MergeParams {
        user,
        sha: head.map(|head| head.to_string()).unwrap_or_default(),
        merge_message: non_blank(input.merge_commit_message),
        squash_message: non_blank(input.squash_commit_message),
    };
    let mr = call.change(id, user, |mr| {
        mr.squash |= input.squash == Some(true);
        mr.should_remove_source_branch = input.should_remove_source_branch.or(mr.should_remove_source_branch);
        mr.auto_merge = waits.then(|| params.clone());
    })?;
    let mr = if waits {
        let short = params.sha.get(..8).unwrap_or_default();
        call.add_system_note(id, user, format!("enabled an automatic merge when the pipeline for {short} succeeds"));
        mr
    } else {
        merge_now(call, &mr, &git, &params)?
    };
    ok(call.show_merge_request_detail(&mr, &git)?)
}

/// Returns the 422 for a merge that git cannot do.
fn cannot_merge() -> Rejection {
    Rejection::message(422, "Branch cannot be merged")
}

/// Merges a merge request that is known to be mergeable. Returns the changed merge request.
fn merge_now(
    call: &mut WriteCall,
    mr: &MergeRequest,
    git: &Git,
    params: &MergeParams,
) -> Result<MergeRequest, Rejection> {
    let (target, ends) = call.heads(mr, git).ok_or_else(cannot_merge)?;
    let project = call.world.projects.get(mr.target_project).ok_or_else(Rejection::record_not_found)?;
    if mr.source_project != mr.target_project {
        git.copy_missing_objects(ends.head, target)?;
    }
    let usual = || {
        let path = call.world.project_path(project);
        let (source, target) = (&mr.source_branch, &mr.target_branch);
        format!("Merge branch '{source}' into '{target}'\n\n{}\n\nSee merge request {path}!{}", mr.title, mr.iid)
    };
    let message = params.merge_message.clone().unwrap_or_else(usual);
    let squash = params.squash_message.as_ref().unwrap_or(&mr.title);
    let merged = git.merge(&NewMerge {
        target,
        base: ends.base,
        head: ends.head,
        method: project.merge_method,
        squash: mr.squash.then(|| (squash.as_str(), call.commit_author(mr.author))),
        message: &message,
        committer: call.commit_author(params.user),
    })?;
    let merged = merged.ok_or_else(cannot_merge)?;
    git.move_branch(&mr.target_branch, target, merged.tip)?;
    let (now, user, target_project) = (call.now, params.user, mr.target_project);
    let mr = call.change(mr.id, user, |mr| {
        mr.range = Some(Range { base: ends.base.to_string(), head: ends.head.to_string() });
        mr.state = State::Merged;
        (mr.merged_at, mr.merged_by) = (Some(now), Some(user));
        mr.merge_commit_sha = merged.merge_commit.map(|id| id.to_string());
        mr.squash_commit_sha = merged.squash_commit.map(|id| id.to_string());
        (mr.auto_merge, mr.merge_error) = (None, None);
    })?;
    call.add_system_note(mr.id, user, "merged");
    call.world.mark_todos_done(Noteable::MergeRequest(mr.id), user);
    branches::record_project_activity(call.world, target_project, now)?;
    call.record_push(target_project, git, &format!("refs/heads/{}", mr.target_branch), Some(target), Some(merged.tip));
    call.record_merge_request_event(&mr, "merge");
    if mr.force_remove_source_branch || mr.should_remove_source_branch == Some(true) {
        remove_source(call, &mr, ends.head);
    }
    Ok(mr)
}

impl WriteCall<'_> {
    /// Marks open merge requests as merged whose head a push has brought into their target branch. `(before, after)` are
    /// the heads of the branch.
    pub fn close_merged(&mut self, project: u64, git: &Git, branch: &str, (before, after): (Oid, Oid)) {
        let Some(user) = self.rights.user else { return };
        let is_into = |mr: &&MergeRequest| {
            mr.state == State::Opened && mr.target_project == project && mr.target_branch == branch
        };
        let range = |mr: &MergeRequest| {
            let version = self.world.versions_of(mr.id).next_back()?;
            let head = Oid::from_str(&version.head).ok()?;
            let is_brought = git.history_contains(after, head) && !git.history_contains(before, head);
            let range = Range { base: version.base.clone(), head: version.head.clone() };
            is_brought.then_some((mr.id, range))
        };
        let merged: Vec<(u64, Range)> = self.world.merge_requests.iter().filter(is_into).filter_map(range).collect();
        let now = self.now;
        for (id, range) in merged {
            let merge = |mr: &mut MergeRequest| {
                (mr.range, mr.state) = (Some(range), State::Merged);
                (mr.merged_at, mr.merged_by) = (Some(now), Some(user));
                (mr.auto_merge, mr.merge_error) = (None, None);
            };
            let Ok(mr) = self.change(id, user, merge) else { continue };
            self.add_system_note(id, user, "merged");
            self.world.mark_todos_done(Noteable::MergeRequest(id), user);
            self.record_merge_request_event(&mr, "merge");
        }
    }
}

/// Removes the source branch after a merge, if that is possible and allowed. A failure does not affect the merge.
fn remove_source(call: &mut WriteCall, mr: &MergeRequest, commit: Oid) {
    let Some(project) = call.world.projects.get(mr.source_project).cloned() else { return };
    let name = mr.source_branch.clone();
    let is_kept = project.default_branch.as_ref() == Some(&name) || project.is_protected(&name);
    if is_kept || !call.rights.can_push_to(call.world, &project, &name) {
        return;
    }
    let Ok(git) = call.git(&project) else { return };
    let ref_name = format!("refs/heads/{name}");
    if branches::remove(call.world, &git, &call.repositories, project.id, &GitRef { name, commit }).is_ok() {
        call.record_push(project.id, &git, &ref_name, Some(commit), None);
        retarget(call, mr, &git);
    }
}

/// Lets the open merge requests into a removed branch target the branch that it was merged into.
fn retarget(call: &mut WriteCall, mr: &MergeRequest, git: &Git) {
    let is_above = |upper: &&MergeRequest| {
        upper.state == State::Opened
            && upper.target_project == mr.target_project
            && mr.source_project == mr.target_project
            && upper.target_branch == mr.source_branch
    };
    let above: Vec<u64> = call.world.merge_requests.iter().filter(is_above).map(|upper| upper.id).collect();
    let Some(user) = call.rights.user else { return };
    for id in above {
        let Ok(upper) = call.change(id, user, |upper| upper.target_branch.clone_from(&mr.target_branch)) else {
            continue;
        };
        let words = format!("changed target branch from `{}` to `{}`", mr.source_branch, mr.target_branch);
        call.add_system_note(id, user, words);
        call.add_version(&upper, git);
    }
}

/// Merges once the pipeline has succeeded. Returns the reason if that has become impossible.
fn auto_merge(call: &mut WriteCall, id: u64, params: &MergeParams) -> Option<&'static str> {
    let mr = call.world.merge_requests.get(id)?.clone();
    let project = call.world.projects.get(mr.target_project).cloned()?;
    if mr.state != State::Opened {
        return Some("the merge request was closed");
    }
    let Ok(git) = call.git(&project) else { return None };
    let Some(head) = call.source_head(&mr, Some(&git)).filter(|head| head.to_string() == params.sha) else {
        return Some("the source branch was updated");
    };
    match call.head_pipeline(&mr, head).map(|pipeline| pipeline.status) {
        Some(Status::Success) => {}
        Some(status) if status.goes_on() => return None,
        _ => return Some("the pipeline did not succeed"),
    }
    call.rights = Rights::of(call.world, params.user);
    let status = call.merge_status(&mr, Some(&git));
    if matches!(status, NOT_RESOLVED | NOT_APPROVED) {
        return None;
    }
    let is_ready = call.can_merge(&mr) && status == MERGEABLE;
    if is_ready && merge_now(call, &mr, &git, params).is_ok() {
        return None;
    }
    Some("the branch cannot be merged")
}

/// Cancels an automatic merge that has become impossible.
fn cancel_auto_merge(call: &mut WriteCall, id: u64, user: u64, reason: &str) {
    if call.change(id, user, |mr| mr.auto_merge = None).is_ok() {
        call.add_system_note(id, user, format!("aborted the automatic merge because {reason}"));
    }
}

fn cancel(call: &mut WriteCall, input: CancelMergeWhenPipelineSucceeds) -> Outcome<AutoMergeCanceled> {
    let (_, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    let (id, user) = (mr.id, call.require_user()?.id);
    if mr.author != user && !call.can_merge(mr) {
        return Err(Rejection::unauthorized());
    }
    if mr.auto_merge.is_none() {
        let why = json!({ "message": "Can't cancel the automatic merge", "status": "error", "http_status": 406 });
        return Ok(Answer::new(AutoMergeCanceled::default()).with_body(why));
    }
    call.change(id, user, |mr| mr.auto_merge = None)?;
    call.add_system_note(id, user, "canceled the automatic merge");
    ok(AutoMergeCanceled { status: Some("success".into()), ..AutoMergeCanceled::default() })
}

/// Cancels an automatic merge; unlike the older operation, it replies with the merge request.
fn cancel_auto_merge_and_show(call: &mut WriteCall, input: CancelAutoMerge) -> Outcome<AutoMergeReply> {
    if call.version < Version::V19 {
        return Err(Rejection::error(404, "404 Not Found"));
    }
    let (_, mr, _) = call.merge_request(&input.id, input.merge_request_iid)?;
    if mr.author != call.require_user()?.id && !call.can_merge(mr) {
        return Err(Rejection::forbidden());
    }
    if mr.auto_merge.is_none() {
        return Err(Rejection::conflict("Can't cancel the automatic merge"));
    }
    let (id, merge_request_iid) = (input.id.clone(), input.merge_request_iid);
    cancel(call, CancelMergeWhenPipelineSucceeds { id, merge_request_iid })?;
    let (_, mr, git) = call.merge_request(&input.id, merge_request_iid)?;
    ok(AutoMergeReply::MergeRequest(Box::new(call.show_merge_request_detail(mr, &git)?)))
}

/// Rebases before it replies, although the reply says that the rebase is in progress.
pub fn rebase(call: &mut WriteCall, input: RebaseMergeRequest) -> Outcome<Rebase> {
    let (target_project, mr, target_git) = call.merge_request(&input.id, input.merge_request_iid)?;
    let (mr, target_project, user) = (mr.clone(), target_project.id, call.require_user()?.id);
    let forbidden = |why: &str| Rejection::message(403, format!("403 Forbidden - {why}"));
    let source = call.world.projects.get(mr.source_project).cloned();
    let head = call.source_head(&mr, Some(&target_git));
    let Some((source, head)) = source.zip(head) else {
        return Err(forbidden("Source branch does not exist"));
    };
    let is_invited = mr.allow_maintainer_to_push && call.can_merge(&mr);
    if !is_invited && !call.rights.can_push_to(call.world, &source, &mr.source_branch) {
        return Err(forbidden("Cannot push to source branch"));
    }
    if source.is_protected(&mr.source_branch) {
        return Err(forbidden("Source branch is protected from force push"));
    }
    if mr.state != State::Opened {
        return Err(Rejection::conflict("409 Conflict: Resource lock"));
    }
    let git = call.git(&source)?;
    let rebased = match call.heads(&mr, &target_git) {
        Some((target, ends)) if ends.base != target => {
            if source.id != target_project {
                let objects = super::store::repository_path(&call.repositories, target_project).join("objects");
                git.add_alternate(&objects).ok_or_else(Rejection::record_not_found)?;
                git.copy_missing_objects(target, head)?;
            }
            git.rebase(head, target, &call.commit_author(user))?
        }
        _ => Some(head),
    };
    call.change(mr.id, user, |mr| mr.merge_error = rebased.is_none().then(|| REBASE_FAILED.to_owned()))?;
    if let Some(tip) = rebased.filter(|tip| *tip != head) {
        git.move_branch(&mr.source_branch, head, tip)?;
        branches::record_project_activity(call.world, source.id, call.now)?;
        call.record_push(source.id, &git, &format!("refs/heads/{}", mr.source_branch), Some(head), Some(tip));
    }
    Ok(Answer::new(Rebase { rebase_in_progress: Some(true) }).status(202))
}
