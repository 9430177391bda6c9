//! Approving, merging and rebasing merge requests.

use crate::sample::word;
use labscope::api::decisions::*;

requests! {
    GetApprovals { id: 1.into(), merge_request_iid: 5 } => "GET /projects/1/merge_requests/5/approvals";
    GetApprovalState { id: 1.into(), merge_request_iid: 5 } => "GET /projects/1/merge_requests/5/approval_state";
    Approve { id: 1.into(), merge_request_iid: 5, sha: word("8888"), publish_review: Some(true) }
        => "POST /projects/1/merge_requests/5/approve | publish_review=true&sha=8888";
    Unapprove { id: 1.into(), merge_request_iid: 5 } => "POST /projects/1/merge_requests/5/unapprove";
    Merge {
        id: 1.into(),
        merge_request_iid: 5,
        merge_commit_message: word("m"),
        squash_commit_message: word("s"),
        squash: Some(true),
        should_remove_source_branch: Some(true),
        sha: word("8888"),
        merge_when_pipeline_succeeds: Some(true),
        auto_merge: Some(true),
    } => "PUT /projects/1/merge_requests/5/merge | auto_merge=true&merge_commit_message=m\
          &merge_when_pipeline_succeeds=true&sha=8888&should_remove_source_branch=true&squash=true\
          &squash_commit_message=s";
    CancelAutoMerge { id: 1.into(), merge_request_iid: 5 }
        => "POST /projects/1/merge_requests/5/cancel_auto_merge";
    RebaseMergeRequest { id: 1.into(), merge_request_iid: 5 } => "PUT /projects/1/merge_requests/5/rebase";
}

samples! {
    Approvals => r#"{"user_has_approved": true, "user_can_approve": false, "approved": true, "approved_by": [
        {"user": {"id": 1, "username": "admin", "name": "Administrator", "state": "active", "avatar_url": null,
            "web_url": "https://h/admin"}, "approved_at": "2025-04-29T08:46:00Z"}],
        "approvals_required": 2, "approvals_left": 1}"#;
    ApprovalState => r#"{"rules": [{"id": 1, "name": "Ruby", "rule_type": "regular", "approvals_required": 2,
        "approved": false, "approved_by": [{"id": 4, "username": "bo", "name": "Bo", "state": "active",
            "avatar_url": null, "web_url": "https://h/bo"}], "section": "Backend", "eligible_approvers": []}]}"#;
    AutoMergeCanceled => r#"{"status": "error", "message": "Can't cancel the automatic merge", "http_status": 406}"#;
    Rebase => r#"{"rebase_in_progress": true}"#;
}
