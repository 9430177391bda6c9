//! Decisions on merge requests: approving, merging, rebasing. Not in the specification, but current servers have them,
//! and servers of that version have some.

use crate::json;
use crate::merge_requests::MergeRequest;
use crate::types::Specified;
use crate::users::User;
use crate::{Id, NoContent, Time};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

crate::resource! {
    /// An approval by a user.
    pub struct Approval {
        user: User,
    }
    unspecified {
        approved_at: Option<Time>,
    }
}

crate::resource! {
    /// The approvals of a merge request, and whether the caller can approve. Enterprise servers also send the number of
    /// approvals that are missing.
    pub struct Approvals {}
    unspecified {
        approved_by: Option<Vec<Approval>>,
        user_has_approved: Option<bool>,
        user_can_approve: Option<bool>,
        /// Whether all approval rules are met, on enterprise servers. That includes having no rules, so it does not
        /// mean that anybody approved.
        approved: Option<bool>,
        approvals_required: Option<u64>,
        approvals_left: Option<u64>,
    }
}

crate::resource! {
    /// The approval rules of a merge request. Only enterprise servers have rules.
    pub struct ApprovalState {}
    unspecified {
        rules: Option<Vec<ApprovalRule>>,
    }
}

crate::resource! {
    /// A rule for required approvals.
    pub struct ApprovalRule {
        id: u64,
        name: String,
        /// `regular`, `any_approver`, `code_owner`, `report_approver`, ….
        rule_type: String,
        approvals_required: u64,
        approved: bool,
        approved_by: Vec<User>,
    }
    unspecified {
        /// The section of the CODEOWNERS file that the rule comes from.
        section: Option<String>,
        eligible_approvers: Option<Vec<User>>,
    }
}

impl Approvals {
    /// Returns the users who approved.
    pub fn by(&self) -> impl Iterator<Item = &User> {
        self.approved_by.iter().flatten().map(|approval| &approval.user)
    }

    /// Returns whether the caller has approved.
    pub fn is_mine(&self) -> bool {
        self.user_has_approved == Some(true)
    }
}

crate::resource! {
    /// The result of canceling auto-merge on servers before 19.5. A failure is reported in a successful reply.
    pub struct AutoMergeCanceled {}
    unspecified {
        /// `success` or `error`.
        status: Option<String>,
        message: Option<String>,
        /// The HTTP status that matches the failure.
        http_status: Option<u64>,
    }
}

/// The reply to canceling auto-merge: the merge request, or only the result on servers before 19.5.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AutoMergeReply {
    MergeRequest(Box<MergeRequest>),
    Canceled(AutoMergeCanceled),
}

impl Specified for AutoMergeReply {}

impl<'de> Deserialize<'de> for AutoMergeReply {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AutoMergeReply, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let read = match value.get("iid") {
            Some(_) => json::from_part(&value).map(AutoMergeReply::MergeRequest),
            None => json::from_part(&value).map(AutoMergeReply::Canceled),
        };
        read.map_err(serde::de::Error::custom)
    }
}

crate::resource! {
    /// The state of a rebase.
    pub struct Rebase {}
    unspecified {
        rebase_in_progress: Option<bool>,
    }
}

crate::endpoints! {
    unspecified section "Merge requests";

    /// Gets the approvals of a merge request.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/approvals" => Approvals, about Approvals;
    struct GetApprovals { id: Id, merge_request_iid: u64 }

    /// Gets the approval rules of a merge request; enterprise servers only, since 12.3.
    GET "/projects/{id}/merge_requests/{merge_request_iid}/approval_state" => ApprovalState, about Approvals;
    struct GetApprovalState { id: Id, merge_request_iid: u64 }

    /// Approves a merge request. A 401 can also mean that the caller may not approve, or has already approved.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/approve" => Approvals,
    outdates [Approvals, Reviewers, MergeRequest, Notes, Participants];
    struct Approve {
        id: Id,
        merge_request_iid: u64,
        /// The SHA of the reviewed head; 409 if the head is different now.
        sha: Option<String>,
        /// Whether the caller's draft notes are published first. Servers before 18.6 ignore it.
        publish_review: Option<bool>,
    }

    /// Revokes the caller's approval; 404 if there is none.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/unapprove" => NoContent,
    outdates [Approvals, Reviewers, MergeRequest, Notes];
    struct Unapprove { id: Id, merge_request_iid: u64 }

    /// Merges, or sets auto-merge. A 401 means that the caller may not merge; 405, 406 and 422 that the merge request
    /// cannot be merged.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/merge" => MergeRequest,
    outdates [MergeRequest, Changes, MergeRequests, Notes, Branches, Commits, Events];
    struct Merge {
        id: Id,
        merge_request_iid: u64,
        merge_commit_message: Option<String>,
        squash_commit_message: Option<String>,
        squash: Option<bool>,
        should_remove_source_branch: Option<bool>,
        /// The SHA of the reviewed head; 409 if the head is different now.
        sha: Option<String>,
        /// Merge when the pipeline succeeds; the name on servers before 17.11.
        merge_when_pipeline_succeeds: Option<bool>,
        /// Merge when the pipeline succeeds; the name on later servers.
        auto_merge: Option<bool>,
    }

    /// Cancels auto-merge (since 19.5). For older servers, the client requests `/cancel_merge_when_pipeline_succeeds`.
    POST "/projects/{id}/merge_requests/{merge_request_iid}/cancel_auto_merge" => AutoMergeReply,
    outdates [MergeRequest, MergeRequests, Notes];
    struct CancelAutoMerge { id: Id, merge_request_iid: u64 }

    /// Starts to rebase the source branch onto the target branch.
    PUT "/projects/{id}/merge_requests/{merge_request_iid}/rebase" => Rebase,
    outdates [MergeRequest, Changes, Pipelines, Branches];
    struct RebaseMergeRequest { id: Id, merge_request_iid: u64 }
}
