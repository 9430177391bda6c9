//! Dependencies of merge requests.

use labscope::api::dependencies::*;

requests! {
    ListBlockingMergeRequests { id: "a/b".into(), merge_request_iid: 4 } =>
        "GET /projects/a%2Fb/merge_requests/4/blocks";
    ListBlockedMergeRequests { id: 1.into(), merge_request_iid: 4 } => "GET /projects/1/merge_requests/4/blockees";
    AddDependency {
        id: 1.into(), merge_request_iid: 4, blocking_merge_request_id: Some(77), ..AddDependency::default()
    } =>
        "POST /projects/1/merge_requests/4/blocks | blocking_merge_request_id=77";
    RemoveDependency { id: 1.into(), merge_request_iid: 4, block_id: 5 } =>
        "DELETE /projects/1/merge_requests/4/blocks/5";
}

samples! {
    Dependency => r#"{"id": 1, "project_id": 7, "blocking_merge_request": {"id": 145, "iid": 12, "project_id": 7,
        "title": "First", "state": "opened"}, "blocked_merge_request": {"id": 146, "iid": 13, "project_id": 7,
        "title": "Second", "state": "opened"}}"#;
}
