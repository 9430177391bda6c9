//! Milestones of projects and groups. Not in the specification, although servers of that version support them.

use crate::issues::Issue;
use crate::merge_requests::{MergeRequest, Milestone};
use crate::{NoContent, Time};

crate::endpoints! {
    unspecified section "Milestones";

    /// Lists the milestones.
    GET "/milestones" of scope: Scope [project, group] => Vec<Milestone>, about Milestones;
    struct ListMilestones {
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

    /// Creates a milestone.
    POST "/milestones" of scope: Scope [project, group] => Milestone,
    outdates [Milestones];
    struct CreateMilestone {
        title: String,
        description: Option<String>,
        start_date: Option<Time>,
        due_date: Option<Time>,
    }

    /// Updates, closes or reopens a milestone.
    PUT "/milestones/{milestone_id}" of scope: Scope [project, group] => Milestone,
    outdates [Milestones, Issues, Issue, MergeRequests, MergeRequest];
    struct UpdateMilestone {
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

    /// Deletes a milestone.
    DELETE "/milestones/{milestone_id}" of scope: Scope [project, group] => NoContent,
    outdates [Milestones, Issues, Issue, MergeRequests, MergeRequest];
    struct DeleteMilestone { milestone_id: u64 }

    /// Lists the issues of a milestone.
    GET "/milestones/{milestone_id}/issues" of scope: Scope [project, group] => Vec<Issue>;
    struct ListMilestoneIssues { milestone_id: u64 }

    /// Lists the merge requests of a milestone.
    GET "/milestones/{milestone_id}/merge_requests" of scope: Scope [project, group] => Vec<MergeRequest>;
    struct ListMilestoneMergeRequests { milestone_id: u64 }
}
