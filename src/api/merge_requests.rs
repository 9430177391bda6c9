//! Merge requests (specification, "Merge requests").

use crate::commits::{Commit, DiffEntry};
use crate::labels::ItemLabel;
use crate::pipelines::resources::Pipeline;
use crate::users::User;
use crate::views::COMMIT_WITH_MESSAGE;
use crate::{Id, Nullable, Time};
use std::collections::BTreeMap;

crate::open_enum! {
    /// The state of a merge request.
    pub enum MergeRequestState {
        Opened = "opened",
        Closed = "closed",
        Merged = "merged",
        Reopened = "reopened",
        Locked = "locked",
    }
}

crate::resource! {
    /// Estimated and spent time, in seconds and as text.
    pub struct TimeStats {
        time_estimate: u64,
        total_time_spent: u64,
        human_time_estimate: Option<String>,
        human_total_time_spent: Option<String>,
    }
}

crate::resource! {
    /// A milestone of a project or group.
    pub struct Milestone {
        id: u64,
        iid: u64,
        project_id: Option<u64>,
        title: String,
        description: Option<String>,
        /// `active` or `closed`.
        state: String,
        created_at: Option<Time>,
        updated_at: Option<Time>,
        /// The due date, without a time.
        due_date: Option<Time>,
        /// The start date, without a time.
        start_date: Option<Time>,
    }
    unspecified {
        web_url: Option<String>,
        /// The ID of the group, for group milestones.
        group_id: Option<u64>,
        /// Whether the due date has passed.
        expired: Option<bool>,
    }
}

crate::resource! {
    /// A merge request. The view `simple` contains the fields from `id` to `updated_at`, and `web_url`; lists and the
    /// single view contain more.
    pub struct MergeRequest {
        id: u64,
        iid: u64,
        project_id: u64,
        title: String,
        description: Option<String>,
        state: MergeRequestState,
        created_at: Option<Time>,
        updated_at: Option<Time>,
        web_url: String,
    }
    views {
        /// The ID of the source project, which differs from the target project for forks; null if the fork was deleted.
        source_project_id: Nullable<u64>,
        target_project_id: Option<u64>,
        target_branch: Option<String>,
        source_branch: Option<String>,
        upvotes: Option<u64>,
        downvotes: Option<u64>,
        author: Option<User>,
        assignee: Nullable<User>,
        labels: Option<Vec<ItemLabel>>,
        work_in_progress: Option<bool>,
        milestone: Nullable<Milestone>,
        merge_when_pipeline_succeeds: Option<bool>,
        /// `can_be_merged`, `cannot_be_merged`, `unchecked`, `checking`, ….
        merge_status: Option<String>,
        /// The SHA of the head of the source branch.
        sha: Nullable<String>,
        merge_commit_sha: Nullable<String>,
        user_notes_count: Option<u64>,
        /// The number of changed files; if followed by a plus, as in `1000+`, there are more.
        changes_count: Option<String>,
        should_remove_source_branch: Nullable<bool>,
        force_remove_source_branch: Option<bool>,
        squash: Option<bool>,
        discussion_locked: Nullable<bool>,
        time_stats: Option<TimeStats>,
        approvals_before_merge: Nullable<u64>,
        subscribed: Option<bool>,
        allow_maintainer_to_push: Option<bool>,
        closed_at: Nullable<Time>,
        closed_by: Nullable<User>,
        merged_at: Nullable<Time>,
        merged_by: Nullable<User>,
        latest_build_started_at: Nullable<Time>,
        latest_build_finished_at: Nullable<Time>,
        first_deployed_to_production_at: Nullable<Time>,
        pipeline: Nullable<Pipeline>,
        /// The diff; only in replies to [`GetMergeRequestChanges`].
        changes: Option<Vec<DiffEntry>>,
    }
    unspecified {
        draft: Option<bool>,
        assignees: Option<Vec<User>>,
        reviewers: Option<Vec<User>>,
        /// `mergeable`, `conflict`, `draft_status`, `ci_must_pass`, ….
        detailed_merge_status: Option<String>,
        has_conflicts: Option<bool>,
        blocking_discussions_resolved: Option<bool>,
        head_pipeline: Nullable<Pipeline>,
        references: Option<References>,
        diff_refs: Nullable<DiffRefs>,
        merge_error: Nullable<String>,
        /// The commit that its commits were squashed to.
        squash_commit_sha: Nullable<String>,
        /// The time before which it cannot be merged.
        merge_after: Nullable<Time>,
        /// Whether a rebase is running; only sent if [`GetMergeRequest`] asks for it.
        rebase_in_progress: Option<bool>,
        /// The permissions of the caller; only in the single view.
        user: Option<Abilities>,
        /// Whether files are missing from `changes`.
        overflow: Option<bool>,
    }
    served {
        /// The user who merged it, or who requested the automatic merge.
        merge_user: Nullable<User>,
        squash_on_merge: Option<bool>,
        /// The time from which it can be merged.
        prepared_at: Nullable<Time>,
        /// The short one of the references.
        reference: Option<String>,
        task_completion_status: Option<TaskStatus>,
        imported: Option<bool>,
        imported_from: Option<String>,
        /// The new name of `allow_maintainer_to_push`; only for forks.
        allow_collaboration: Option<bool>,
        first_contribution: Option<bool>,
        /// The number of commits of the target branch that the source branch lacks; only sent if the caller asks for it.
        diverged_commits_count: Option<u64>,
    }
}

crate::resource! {
    /// The number of tasks in a description, and of completed ones.
    pub struct TaskStatus {
        count: u64,
        completed_count: u64,
    }
}

crate::resource! {
    /// The permissions of the caller for a merge request.
    pub struct Abilities {
        can_merge: bool,
    }
}

crate::resource! {
    /// References to a merge request or issue, from short to full: `!5`, `group/project!5`.
    pub struct References {
        short: String,
        relative: String,
        full: String,
    }
}

crate::resource! {
    /// The commits between which the diff is computed.
    pub struct DiffRefs {
        base_sha: Option<String>,
        head_sha: Option<String>,
        start_sha: Option<String>,
    }
}

impl GetMergeRequest {
    /// Creates a request for a merge request that includes whether a rebase is running.
    pub fn new(id: Id, iid: u64) -> GetMergeRequest {
        GetMergeRequest { id, merge_request_iid: iid, include_rebase_in_progress: Some(true) }
    }
}

/// The marks of a draft that a title begins with, in any case (GitLab, `Gitlab::Regex#merge_request_draft`).
pub const DRAFT_MARKS: &[&str] = &["draft:", "[draft]", "(draft)"];
/// The marks of servers until 14.
pub const WIP_MARKS: &[&str] = &["wip:", "[wip]"];

/// Returns the length in bytes of the mark that a title begins with.
pub fn draft_mark(title: &str, marks: &[&str]) -> Option<usize> {
    let begins_with = |mark: &&str| title.get(..mark.len()).is_some_and(|head| head.eq_ignore_ascii_case(mark));
    marks.iter().copied().find(begins_with).map(str::len)
}

impl MergeRequest {
    /// Returns whether the author marked the merge request as a draft.
    pub fn is_draft(&self) -> bool {
        let explicit = self.draft.or(self.work_in_progress);
        explicit.unwrap_or_else(|| self.draft_mark().is_some())
    }

    /// Returns the title without the mark of a draft. A mark that the server does not take for one is a part of the title.
    pub fn title_without_mark(&self) -> &str {
        let mark = self.draft_mark().filter(|_| self.is_draft());
        self.title.get(mark.unwrap_or(0)..).unwrap_or_default().trim_start()
    }

    fn draft_mark(&self) -> Option<usize> {
        draft_mark(&self.title, DRAFT_MARKS).or_else(|| draft_mark(&self.title, WIP_MARKS))
    }

    /// Returns whether the merge request can still be merged or closed.
    pub fn is_open(&self) -> bool {
        matches!(self.state, MergeRequestState::Opened | MergeRequestState::Reopened | MergeRequestState::Locked)
    }

    /// Returns the number of changed files as the server sent it (`1000+`), if it did.
    pub fn changes_count(&self) -> Option<&str> {
        self.changes_count.as_deref()
    }

    /// Returns the source branch; empty in the simple view.
    pub fn source_branch(&self) -> &str {
        self.source_branch.as_deref().unwrap_or_default()
    }

    /// Returns the target branch; empty in the simple view.
    pub fn target_branch(&self) -> &str {
        self.target_branch.as_deref().unwrap_or_default()
    }

    /// Returns the merge status, detailed if the server sent that.
    pub fn merge_status(&self) -> Option<&str> {
        self.detailed_merge_status.as_deref().or(self.merge_status.as_deref())
    }

    pub fn author(&self) -> Option<&User> {
        self.author.as_ref()
    }

    /// Returns the IDs of the author and the assignees, who may change its fields.
    pub fn owners(&self) -> impl Iterator<Item = u64> {
        self.author().into_iter().chain(self.assignees()).map(|user| user.id)
    }

    /// Returns the assignees: at most one on old servers, any number on newer ones.
    pub fn assignees(&self) -> &[User] {
        match (&self.assignees, self.assignee.as_ref()) {
            (Some(all), _) => all,
            (None, Some(one)) => std::slice::from_ref(one),
            (None, None) => &[],
        }
    }

    pub fn labels(&self) -> &[ItemLabel] {
        self.labels.as_deref().unwrap_or_default()
    }

    /// Returns the latest pipeline of the head, if the view includes one.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.head_pipeline.as_ref().or(self.pipeline.as_ref())
    }

    /// Returns the merge request of a branch: the newest one that is open, else the newest one. A branch of the same name
    /// in another fork is another branch; `source` is the number of the project with the branch, or `None` if that is the
    /// project of the list.
    pub fn of_branch<'a>(
        requests: impl Iterator<Item = &'a MergeRequest>,
        branch: &str,
        source: Option<u64>,
    ) -> Option<&'a MergeRequest> {
        let is_own = |request: &&MergeRequest| match (*request.source_project_id, source) {
            (Some(of), Some(source)) => of == source,
            _ => !request.is_from_fork(),
        };
        // A list reply may not be filtered by an old server.
        let is_here = |request: &&MergeRequest| request.source_branch() == branch;
        requests.filter(is_here).filter(is_own).max_by_key(|request| (request.is_open(), request.id))
    }

    /// Returns whether `changes` are incomplete because they are too large. A server may list more files than it counts.
    pub fn is_overflowing(&self) -> bool {
        let counted = self.changes_count().and_then(|count| count.strip_suffix('+')?.parse::<usize>().ok());
        let listed = self.changes.as_ref().map_or(0, Vec::len);
        self.overflow == Some(true) || counted.is_some_and(|counted| listed <= counted)
    }

    /// Returns whether the source branch is in another project, which may have been deleted.
    pub fn is_from_fork(&self) -> bool {
        match (*self.source_project_id, self.target_project_id) {
            (Some(source), Some(target)) => source != target,
            _ => self.source_project_id.is_null(),
        }
    }
}

crate::resource! {
    /// A requested reviewer, and the state of the review.
    pub struct Reviewer {
        user: User,
        /// `unreviewed`, `review_started`, `reviewed`, `requested_changes`, `approved` or `unapproved`.
        state: String,
        created_at: Option<Time>,
    }
}

crate::endpoints! {
    section "Merge requests";

    common {
        /// `opened`, `closed`, `merged`, `locked` or `all`.
        state: Option<String>,
        /// `created_at` (default), `updated_at`, `merged_at`, `title`, ….
        order_by: Option<String>,
        /// `asc` or `desc` (default).
        sort: Option<String>,
        /// Title of a milestone.
        milestone: Option<String>,
        /// `simple` for fewer fields.
        view: Option<String>,
        /// Separated by commas.
        labels: Option<String>,
        created_after: Option<Time>,
        created_before: Option<Time>,
        updated_after: Option<Time>,
        updated_before: Option<Time>,
        author_id: Option<u64>,
        /// The ID of a user, or `None` or `Any`; servers before 12.0 know only numbers, and 0 for nobody.
        assignee_id: Option<Id>,
        my_reaction_emoji: Option<String>,
        source_branch: Option<String>,
        target_branch: Option<String>,
        /// Part of the title or description.
        search: Option<String>,
        /// The field to search: `title` or `description` (since 11.8).
        r#in: Option<String>,
        /// Username of a reviewer (since 13.8).
        reviewer_username: Option<String>,
        /// The ID of a reviewer, or `None` or `Any` (since 13.8).
        reviewer_id: Option<Id>,
        /// Usernames of approvers, on enterprise servers; others ignore it.
        approved_by_usernames: Option<Vec<String>>,
        /// `None` or `Any`, for merge requests that nobody or anybody approved; on enterprise servers.
        approved_by_ids: Option<String>,
        /// `yes` for drafts, `no` for others.
        wip: Option<String>,
        /// Filters to negate: names of other inputs, and their values (since 12.3).
        not: Option<BTreeMap<String, String>>,
        /// Whether to include the details of labels, such as colors (since 12.7).
        with_labels_details: Option<bool>,
    }

    /// Lists merge requests of all projects: the caller's own, unless `scope` is `all`.
    GET "/merge_requests" => Vec<MergeRequest>, about MergeRequests;
    struct ListMergeRequests {
        /// `created-by-me` (default), `assigned-to-me` or `all`.
        scope: Option<String>,
        ..
    }

    /// Lists the merge requests of a project.
    GET "/projects/{id}/merge_requests" => Vec<MergeRequest>, about MergeRequests;
    struct ListProjectMergeRequests {
        id: Id,
        iids: Option<Vec<u64>>,
        /// `created-by-me`, `assigned-to-me` or `all`.
        scope: Option<String>,
        ..
    }

    /// Lists the merge requests of a group and its subgroups.
    UNSPECIFIED GET "/groups/{id}/merge_requests" => Vec<MergeRequest>, about MergeRequests;
    struct ListGroupMergeRequests {
        id: Id,
        /// `created-by-me`, `assigned-to-me` or `all` (default).
        scope: Option<String>,
        /// Whether to leave out archived projects (default: yes).
        non_archived: Option<bool>,
        ..
    }

    /// Gets a single merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}" => MergeRequest, about MergeRequest;
    struct GetMergeRequest {
        id: Id,
        merge_request_iid: u64,
        /// Whether to include whether a rebase is running.
        include_rebase_in_progress: Option<bool>,
    }

    /// Lists the participants of a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/participants" => Vec<User>, about Participants;
    struct ListParticipants { id: Id, merge_request_iid: u64 }

    /// Lists the commits of a merge request, newest first.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/commits" => Vec<Commit>, about Changes,
    views ["": COMMIT_WITH_MESSAGE];
    struct ListMergeRequestCommits { id: Id, merge_request_iid: u64 }

    /// Gets a merge request with its diff.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/changes" => MergeRequest, about Changes;
    struct GetMergeRequestChanges { id: Id, merge_request_iid: u64 }

    /// Lists the pipelines of a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/pipelines" => Vec<Pipeline>, about Pipelines;
    struct ListMergeRequestPipelines { id: Id, merge_request_iid: u64 }

    /// Creates a merge request.
    POST "/projects/{id}/merge_requests" => MergeRequest,
    outdates [MergeRequests, Project, Events];
    struct CreateMergeRequest {
        /// The source project.
        id: Id,
        source_branch: String,
        target_branch: String,
        title: String,
        assignee_id: Option<u64>,
        description: Option<String>,
        target_project_id: Option<u64>,
        /// Separated by commas.
        labels: Option<String>,
        milestone_id: Option<u64>,
        remove_source_branch: Option<bool>,
        approvals_before_merge: Option<u64>,
        squash: Option<bool>,
        allow_maintainer_to_push: Option<bool>,
        /// Replaces `assignee_id` on servers since 12.2.
        assignee_ids: Option<Vec<u64>>,
        /// IDs of the reviewers (since 13.9).
        reviewer_ids: Option<Vec<u64>>,
    }

    /// Updates, closes or reopens a merge request.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}" => MergeRequest,
    outdates [MergeRequests, MergeRequest, Changes, Notes, Participants, Reviewers, Events];
    struct UpdateMergeRequest {
        id: Id,
        merge_request_iid: u64,
        target_branch: Option<String>,
        title: Option<String>,
        /// 0 removes the assignee.
        assignee_id: Option<u64>,
        /// 0 removes the milestone.
        milestone_id: Option<u64>,
        description: Option<String>,
        /// `close` or `reopen`.
        state_event: Option<String>,
        /// Separated by commas; an empty value removes all labels.
        labels: Option<String>,
        remove_source_branch: Option<bool>,
        squash: Option<bool>,
        discussion_locked: Option<bool>,
        allow_maintainer_to_push: Option<bool>,
        /// Replaces `assignee_id` on servers since 12.2; a single 0 removes all assignees.
        assignee_ids: Option<Vec<u64>>,
        /// IDs of the reviewers (since 13.9); a single 0 removes all reviewers.
        reviewer_ids: Option<Vec<u64>>,
    }

    /// Lists the requested reviewers (since 15.3).
    UNSPECIFIED GET "/projects/{id}/merge_requests/{merge_request_iid}/reviewers" => Vec<Reviewer>, about Reviewers;
    struct ListReviewers { id: Id, merge_request_iid: u64 }
}
