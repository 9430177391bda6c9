//! Deciding on merge requests: approving, merging, rebasing. Not in the specification; today's servers have them, and
//! those of its age have some.

use crate::api::branches::{GetBranch, ListBranches};
use crate::api::commits::ListCommits;
use crate::api::discussions::ListMergeRequestDiscussions;
use crate::api::merge_requests::{
    GetChanges, GetMergeRequest, ListMergeRequestCommits, ListMergeRequestPipelines, ListMergeRequests,
    ListParticipants, ListProjectMergeRequests, MergeRequest,
};
use crate::api::notes::ListMergeRequestNotes;
use crate::api::users::User;
use crate::api::{Id, Nothing, Time};

crate::resource! {
    /// One person's approval.
    pub struct Approval {
        user: User,
    }
    newer {
        approved_at: Time,
    }
}

crate::resource! {
    /// Who approved a merge request, and who may. Enterprise servers say how many approvals are missing.
    pub struct Approvals {}
    newer {
        approved_by: Vec<Approval>,
        user_has_approved: bool,
        user_can_approve: bool,
        /// Not whether somebody approved it: enterprise servers say that all rules are met, also where there are none.
        approved: bool,
        approvals_required: u64,
        approvals_left: u64,
    }
}

crate::resource! {
    /// What has to be approved by whom. Only enterprise servers have rules.
    pub struct ApprovalState {}
    newer {
        rules: Vec<ApprovalRule>,
    }
}

crate::resource! {
    /// Approvals that are needed.
    pub struct ApprovalRule {
        id: u64,
        name: String,
        /// `regular`, `any_approver`, `code_owner`, `report_approver`, ….
        rule_type: String,
        approvals_required: u64,
        approved: bool,
        approved_by: Vec<User>,
    }
    newer {
        /// The part of the file of code owners that it comes from.
        section: String,
        eligible_approvers: Vec<User>,
    }
}

impl Approvals {
    /// Who approved it.
    pub fn by(&self) -> impl Iterator<Item = &User> {
        self.approved_by.iter().flatten().map(|approval| &approval.user)
    }

    /// Returns whether the caller has approved it.
    pub fn is_mine(&self) -> bool {
        self.user_has_approved == Some(true)
    }
}

crate::resource! {
    /// Someone whose review is requested, and how far it is.
    pub struct Reviewer {
        user: User,
        /// `unreviewed`, `review_started`, `reviewed`, `requested_changes`, `approved` or `unapproved`.
        state: String,
        created_at: Option<Time>,
    }
}

crate::resource! {
    /// What became of an auto-merge that was canceled. A server that cannot cancel it says so in a successful reply.
    pub struct AutoMergeCanceled {}
    newer {
        /// `success` or `error`.
        status: String,
        message: String,
        /// The status that the refusal would have had.
        http_status: u64,
    }
}

crate::resource! {
    /// A rebase that runs.
    pub struct Rebase {}
    newer {
        rebase_in_progress: bool,
    }
}

crate::endpoints! {
    newer section "Merge requests";

    /// Reads who approved a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/approvals" => Approvals;
    struct GetApprovals { id: Id, merge_request_iid: u64 }

    /// Reads what has to be approved by whom; enterprise servers, since 12.3.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/approval_state" => ApprovalState;
    struct GetApprovalState { id: Id, merge_request_iid: u64 }

    /// Lists whose review is requested; since 15.3.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/reviewers" => Vec<Reviewer>;
    struct ListReviewers { id: Id, merge_request_iid: u64 }

    /// Approves a merge request. 401 also says that the caller may not, or has done so already.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/approve" => Approvals,
    touches [GetApprovals, GetApprovalState, ListReviewers, GetMergeRequest, ListMergeRequestDiscussions, ListMergeRequestNotes, ListParticipants];
    struct Approve {
        id: Id,
        merge_request_iid: u64,
        /// The head that was read; 409 where it is another one now.
        sha: Option<String>,
    }

    /// Takes the caller's approval back; 404 where there is none.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/unapprove" => Nothing,
    touches [GetApprovals, GetApprovalState, ListReviewers, GetMergeRequest, ListMergeRequestDiscussions, ListMergeRequestNotes];
    struct Unapprove { id: Id, merge_request_iid: u64 }

    /// Merges, or sets auto-merge. 401 says that the caller may not merge; 405, 406 and 422 that it cannot be merged.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/merge" => MergeRequest,
    touches [
        GetMergeRequest, GetChanges, ListMergeRequests, ListProjectMergeRequests, ListMergeRequestDiscussions, ListMergeRequestNotes, ListBranches,
        GetBranch, ListCommits,
    ];
    struct Merge {
        id: Id,
        merge_request_iid: u64,
        merge_commit_message: Option<String>,
        squash_commit_message: Option<String>,
        squash: Option<bool>,
        should_remove_source_branch: Option<bool>,
        /// The head that was read; 409 where it is another one now.
        sha: Option<String>,
        /// Once the pipeline has succeeded, as servers before 17.11 call it.
        merge_when_pipeline_succeeds: Option<bool>,
        /// The same, as later servers call it.
        auto_merge: Option<bool>,
    }

    /// Cancels auto-merge.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/cancel_merge_when_pipeline_succeeds" => AutoMergeCanceled,
    touches [GetMergeRequest, ListMergeRequests, ListProjectMergeRequests, ListMergeRequestDiscussions, ListMergeRequestNotes];
    struct CancelAutoMerge { id: Id, merge_request_iid: u64 }

    /// Begins to rebase the source branch onto the target branch.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/rebase" => Rebase,
    touches [GetMergeRequest, GetChanges, ListMergeRequestCommits, ListMergeRequestPipelines, ListBranches, GetBranch];
    struct RebaseMergeRequest { id: Id, merge_request_iid: u64 }
}
