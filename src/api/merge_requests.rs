//! Merge requests (specification, "Merge requests").

use crate::api::commits::resources::{Commit, DiffEntry};
use crate::api::decisions::ListReviewers;
use crate::api::discussions::ListMergeRequestDiscussions;
use crate::api::jobs::PipelineBrief;
use crate::api::notes::ListMergeRequestNotes;
use crate::api::projects::GetProject;
use crate::api::users::User;
use crate::api::views::COMMIT_WITH_MESSAGE;
use crate::api::{Id, Known, Time};
use std::collections::BTreeMap;

crate::open_enum! {
    /// The states of a merge request.
    pub enum MergeRequestState {
        Opened = "opened",
        Closed = "closed",
        Merged = "merged",
        Reopened = "reopened",
        Locked = "locked",
    }
}

crate::resource! {
    /// Time planned and spent, in seconds and in words.
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
        /// A date.
        due_date: Option<Time>,
        /// A date.
        start_date: Option<Time>,
    }
    newer {
        web_url: String,
        /// Its group, if it belongs to one.
        group_id: u64,
        /// Whether its due date has passed.
        expired: bool,
    }
}

crate::resource! {
    /// A merge request. The view `simple` is `id` to `updated_at` and `web_url`; lists and the single view say more.
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
        /// The fork, if it comes from one; null where the fork is gone.
        source_project_id: u64,
        target_project_id: u64,
        target_branch: String,
        source_branch: String,
        upvotes: u64,
        downvotes: u64,
        author: User,
        assignee: User,
        labels: Vec<String>,
        work_in_progress: bool,
        milestone: Milestone,
        merge_when_pipeline_succeeds: bool,
        /// `can_be_merged`, `cannot_be_merged`, `unchecked`, `checking`, ….
        merge_status: String,
        /// The head of the source branch.
        sha: String,
        merge_commit_sha: String,
        user_notes_count: u64,
        /// A number, or `1000+`: any number may be followed by a plus.
        changes_count: String,
        should_remove_source_branch: bool,
        force_remove_source_branch: bool,
        squash: bool,
        discussion_locked: bool,
        time_stats: TimeStats,
        approvals_before_merge: u64,
        subscribed: bool,
        allow_maintainer_to_push: bool,
        closed_at: Time,
        closed_by: User,
        merged_at: Time,
        merged_by: User,
        latest_build_started_at: Time,
        latest_build_finished_at: Time,
        first_deployed_to_production_at: Time,
        pipeline: PipelineBrief,
        /// The answer to [`GetChanges`] alone.
        changes: Vec<DiffEntry>,
    }
    newer {
        draft: bool,
        assignees: Vec<User>,
        reviewers: Vec<User>,
        /// `mergeable`, `conflict`, `draft_status`, `ci_must_pass`, ….
        detailed_merge_status: String,
        has_conflicts: bool,
        blocking_discussions_resolved: bool,
        head_pipeline: PipelineBrief,
        references: References,
        diff_refs: DiffRefs,
        merge_error: String,
        /// Told where [`GetMergeRequest`] asks for it.
        rebase_in_progress: bool,
        /// What the caller may do, in the single view.
        user: Abilities,
        /// Of the changes: files are missing from them.
        overflow: bool,
    }
}

crate::resource! {
    /// What the caller may do with a merge request.
    pub struct Abilities {
        can_merge: bool,
    }
}

crate::resource! {
    /// How to write of a merge request or issue, from near and far: `!5`, `group/project!5`.
    pub struct References {
        short: String,
        relative: String,
        full: String,
    }
}

crate::resource! {
    /// The commits between which the changes are taken.
    pub struct DiffRefs {
        base_sha: Option<String>,
        head_sha: Option<String>,
        start_sha: Option<String>,
    }
}

impl GetMergeRequest {
    /// Reads a merge request with all that is known of it.
    pub fn new(id: Id, iid: u64) -> GetMergeRequest {
        GetMergeRequest { id, merge_request_iid: iid, include_rebase_in_progress: Some(true) }
    }
}

impl MergeRequest {
    /// Returns whether its author says that it is not ready.
    pub fn is_draft(&self) -> bool {
        let explicit = self.draft.or(self.work_in_progress.flatten());
        explicit.unwrap_or_else(|| {
            let title = self.title.to_lowercase();
            ["wip:", "[wip]", "draft:", "[draft]", "(draft)"].iter().any(|mark| title.starts_with(mark))
        })
    }

    /// Returns whether it can still be merged or closed.
    pub fn is_open(&self) -> bool {
        matches!(self.state, MergeRequestState::Opened | MergeRequestState::Reopened | MergeRequestState::Locked)
    }

    /// Returns how many files it changes, in the server's words (`1000+`), where it said.
    pub fn changes_count(&self) -> Option<&str> {
        self.changes_count.known().map(String::as_str)
    }

    /// The branch that it brings, or nothing in a simple view.
    pub fn source_branch(&self) -> &str {
        self.source_branch.known().map_or("", String::as_str)
    }

    /// The branch that it goes to, or nothing in a simple view.
    pub fn target_branch(&self) -> &str {
        self.target_branch.known().map_or("", String::as_str)
    }

    /// Returns whether it can be merged, in the server's word: the detailed one where it gives one.
    pub fn merge_status(&self) -> Option<&str> {
        self.detailed_merge_status.as_deref().or(self.merge_status.known().map(String::as_str))
    }

    /// Returns who made it.
    pub fn author(&self) -> Option<&User> {
        self.author.known()
    }

    /// Returns who is to see it through: one on old servers, any number on newer ones.
    pub fn assignees(&self) -> &[User] {
        match (&self.assignees, self.assignee.known()) {
            (Some(all), _) => all,
            (None, Some(one)) => std::slice::from_ref(one),
            (None, None) => &[],
        }
    }

    /// Its labels.
    pub fn labels(&self) -> &[String] {
        self.labels.known().map_or(&[], Vec::as_slice)
    }

    /// The latest pipeline of its head, where the view names one.
    pub fn pipeline(&self) -> Option<&PipelineBrief> {
        self.head_pipeline.as_ref().or(self.pipeline.known())
    }

    /// Returns whether the changes stop before the end.
    pub fn is_overflowing(&self) -> bool {
        self.overflow == Some(true) || self.changes_count().is_some_and(|count| count.ends_with('+'))
    }

    /// Returns whether it comes from a fork.
    pub fn is_from_fork(&self) -> bool {
        match (&self.source_project_id, &self.target_project_id) {
            (Some(source), Some(target)) => source != target,
            _ => false,
        }
    }
}

crate::endpoints! {
    section "Merge requests";

    common {
        /// `opened`, `closed`, `merged` or `all`.
        state: Option<String>,
        /// `created_at` (where absent) or `updated_at`.
        order_by: Option<String>,
        /// `asc` or `desc` (where absent).
        sort: Option<String>,
        /// A milestone's title.
        milestone: Option<String>,
        /// `simple` for few fields.
        view: Option<String>,
        /// Separated by commas.
        labels: Option<String>,
        created_after: Option<Time>,
        created_before: Option<Time>,
        updated_after: Option<Time>,
        updated_before: Option<Time>,
        author_id: Option<u64>,
        assignee_id: Option<u64>,
        my_reaction_emoji: Option<String>,
        source_branch: Option<String>,
        target_branch: Option<String>,
        /// Part of a title or description.
        search: Option<String>,
        /// Where to search: `title` or `description`; since 11.8.
        r#in: Option<String>,
        /// Since 13.8.
        reviewer_username: Option<String>,
        /// Enterprise servers alone; others pass over it.
        approved_by_usernames: Option<Vec<String>>,
        /// `yes` for drafts, `no` for others.
        wip: Option<String>,
        /// What is left out, by the names of other inputs; since 12.3.
        not: Option<BTreeMap<String, String>>,
    }

    /// Lists merge requests everywhere: the caller's own, unless `scope` is `all`.
    GET "/merge_requests" => Vec<MergeRequest>;
    struct ListMergeRequests {
        /// `created-by-me` (where absent), `assigned-to-me` or `all`.
        scope: Option<String>,
        ..
    }

    /// Lists the merge requests of a project.
    GET "/projects/{id}/merge_requests" => Vec<MergeRequest>;
    struct ListProjectMergeRequests {
        id: Id,
        iids: Option<Vec<u64>>,
        /// `created-by-me`, `assigned-to-me` or `all`.
        scope: Option<String>,
        ..
    }

    /// Reads one merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}" => MergeRequest;
    struct GetMergeRequest {
        id: Id,
        merge_request_iid: u64,
        /// Whether to tell whether it is being rebased.
        include_rebase_in_progress: Option<bool>,
    }

    /// Lists everyone who took part.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/participants" => Vec<User>;
    struct ListParticipants { id: Id, merge_request_iid: u64 }

    /// Lists its commits, newest first.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/commits" => Vec<Commit>,
    views ["": COMMIT_WITH_MESSAGE];
    struct ListMergeRequestCommits { id: Id, merge_request_iid: u64 }

    /// Reads it with its changes.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/changes" => MergeRequest;
    struct GetChanges { id: Id, merge_request_iid: u64 }

    /// Lists its pipelines.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/pipelines" => Vec<PipelineBrief>;
    struct ListMergeRequestPipelines { id: Id, merge_request_iid: u64 }

    /// Creates a merge request.
    POST "/projects/{id}/merge_requests" => MergeRequest,
    touches [ListMergeRequests, ListProjectMergeRequests, GetProject];
    struct CreateMergeRequest {
        /// The project that holds the source branch.
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
        /// Instead of `assignee_id` on servers since 12.2.
        assignee_ids: Option<Vec<u64>>,
        /// Since 13.9.
        reviewer_ids: Option<Vec<u64>>,
    }

    /// Changes, closes or reopens a merge request.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}" => MergeRequest,
    touches [
        ListMergeRequests, ListProjectMergeRequests, GetMergeRequest, GetChanges, ListMergeRequestDiscussions,
        ListMergeRequestNotes, ListParticipants, ListReviewers,
    ];
    struct UpdateMergeRequest {
        id: Id,
        merge_request_iid: u64,
        target_branch: Option<String>,
        title: Option<String>,
        /// 0 takes it from everybody.
        assignee_id: Option<u64>,
        /// 0 takes it out of its milestone.
        milestone_id: Option<u64>,
        description: Option<String>,
        /// `close` or `reopen`.
        state_event: Option<String>,
        /// Separated by commas; nothing clears them.
        labels: Option<String>,
        remove_source_branch: Option<bool>,
        squash: Option<bool>,
        discussion_locked: Option<bool>,
        allow_maintainer_to_push: Option<bool>,
        /// Instead of `assignee_id` on servers since 12.2; 0 alone takes it from everybody.
        assignee_ids: Option<Vec<u64>>,
        /// Since 13.9; 0 alone asks nobody.
        reviewer_ids: Option<Vec<u64>>,
    }
}
