//! Milestones of projects and groups. Not in the specification, although servers of that version support them.

use crate::api::issues::{GetIssue, Issue, ListGroupIssues, ListIssues, ListProjectIssues};
use crate::api::merge_requests::{GetMergeRequest, MergeRequest, Milestone};
use crate::api::{Id, NoContent, Time};

crate::endpoints! {
    unspecified section "Milestones";

    /// Lists the milestones of a project.
    GET "/projects/{id}/milestones" => Vec<Milestone>;
    struct ListMilestones {
        id: Id,
        /// `active` or `closed`; all if absent.
        state: Option<String>,
        /// The exact title.
        title: Option<String>,
        /// Part of the title or description.
        search: Option<String>,
        iids: Option<Vec<u64>>,
        /// Whether to include milestones of ancestor groups.
        include_ancestors: Option<bool>,
    }

    /// Creates a milestone of a project.
    POST "/projects/{id}/milestones" => Milestone,
    touches [ListMilestones];
    struct CreateMilestone {
        id: Id,
        title: String,
        description: Option<String>,
        start_date: Option<Time>,
        due_date: Option<Time>,
    }

    /// Updates, closes or reopens a milestone of a project.
    PUT "/projects/{id}/milestones/{milestone_id}" => Milestone,
    touches [ListMilestones, ListIssues, ListProjectIssues, GetIssue, GetMergeRequest];
    struct UpdateMilestone {
        id: Id,
        milestone_id: u64,
        title: Option<String>,
        description: Option<String>,
        /// An empty value removes the date.
        start_date: Option<String>,
        /// An empty value removes the date.
        due_date: Option<String>,
        /// `close` or `activate`.
        state_event: Option<String>,
    }

    /// Deletes a milestone of a project.
    DELETE "/projects/{id}/milestones/{milestone_id}" => NoContent,
    touches [ListMilestones, ListIssues, ListProjectIssues, GetIssue, GetMergeRequest];
    struct DeleteMilestone { id: Id, milestone_id: u64 }

    /// Lists the issues of a milestone.
    GET "/projects/{id}/milestones/{milestone_id}/issues" => Vec<Issue>;
    struct ListMilestoneIssues { id: Id, milestone_id: u64 }

    /// Lists the merge requests of a milestone.
    GET "/projects/{id}/milestones/{milestone_id}/merge_requests" => Vec<MergeRequest>;
    struct ListMilestoneMergeRequests { id: Id, milestone_id: u64 }

    /// Lists the milestones of a group.
    GET "/groups/{id}/milestones" => Vec<Milestone>;
    struct ListGroupMilestones {
        id: Id,
        /// `active` or `closed`; all if absent.
        state: Option<String>,
        /// The exact title.
        title: Option<String>,
        /// Part of the title or description.
        search: Option<String>,
        iids: Option<Vec<u64>>,
        /// Whether to include milestones of ancestor groups.
        include_ancestors: Option<bool>,
    }

    /// Creates a milestone of a group.
    POST "/groups/{id}/milestones" => Milestone,
    touches [ListGroupMilestones, ListMilestones];
    struct CreateGroupMilestone {
        id: Id,
        title: String,
        description: Option<String>,
        start_date: Option<Time>,
        due_date: Option<Time>,
    }

    /// Updates, closes or reopens a milestone of a group.
    PUT "/groups/{id}/milestones/{milestone_id}" => Milestone,
    touches [ListGroupMilestones, ListMilestones, ListIssues, ListGroupIssues, ListProjectIssues, GetIssue];
    struct UpdateGroupMilestone {
        id: Id,
        milestone_id: u64,
        title: Option<String>,
        description: Option<String>,
        /// An empty value removes the date.
        start_date: Option<String>,
        /// An empty value removes the date.
        due_date: Option<String>,
        /// `close` or `activate`.
        state_event: Option<String>,
    }

    /// Deletes a milestone of a group.
    DELETE "/groups/{id}/milestones/{milestone_id}" => NoContent,
    touches [ListGroupMilestones, ListMilestones, ListIssues, ListGroupIssues, ListProjectIssues, GetIssue];
    struct DeleteGroupMilestone { id: Id, milestone_id: u64 }

    /// Lists the issues of a group milestone.
    GET "/groups/{id}/milestones/{milestone_id}/issues" => Vec<Issue>;
    struct ListGroupMilestoneIssues { id: Id, milestone_id: u64 }

    /// Lists the merge requests of a group milestone.
    GET "/groups/{id}/milestones/{milestone_id}/merge_requests" => Vec<MergeRequest>;
    struct ListGroupMilestoneMergeRequests { id: Id, milestone_id: u64 }
}
