//! Versions of merge requests.

use labscope::api::versions::*;

requests! {
    ListMergeRequestVersions { id: 1.into(), merge_request_iid: 5 } => "GET /projects/1/merge_requests/5/versions";
    GetMergeRequestVersion { id: 1.into(), merge_request_iid: 5, version_id: 110 }
        => "GET /projects/1/merge_requests/5/versions/110";
}

samples! {
    MergeRequestVersion => r#"{"id": 110, "head_commit_sha": "33e2ee8579fda5bc36accc9c6fbd0b4fefda9e30",
        "base_commit_sha": "eeb57dffe83deb686a60a71c16c32f71046868fd",
        "start_commit_sha": "eeb57dffe83deb686a60a71c16c32f71046868fd", "created_at": "2016-07-26T14:44:48.926Z",
        "merge_request_id": 105, "state": "collected", "real_size": "1"}"#;
}
