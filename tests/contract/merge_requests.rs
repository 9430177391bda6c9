//! Merge requests.

use crate::sample::{acme, time, word};
use labscope::api::merge_requests::*;

requests! {
    ListMergeRequests {
        state: word("opened"),
        order_by: word("updated_at"),
        sort: word("asc"),
        milestone: word("v1"),
        view: word("simple"),
        labels: word("a,b"),
        created_after: time(),
        created_before: time(),
        updated_after: time(),
        updated_before: time(),
        scope: word("all"),
        author_id: Some(1),
        assignee_id: Some("None".into()),
        my_reaction_emoji: word("star"),
        source_branch: word("s"),
        target_branch: word("t"),
        search: word("x"),
        r#in: word("title"),
        reviewer_username: word("bo"),
        reviewer_id: Some(3.into()),
        approved_by_usernames: Some(vec!["ada".into()]),
        approved_by_ids: word("Any"),
        wip: word("no"),
        not: Some([("labels".to_owned(), "c".to_owned())].into()),
        with_labels_details: Some(true),
    } => "GET /merge_requests?approved_by_ids=Any&approved_by_usernames[]=ada&assignee_id=None&author_id=1&created_after=2018-01-01T00%3A00%3A00Z\
          &created_before=2018-01-01T00%3A00%3A00Z&in=title&labels=a%2Cb&milestone=v1&my_reaction_emoji=star\
          &not[labels]=c&order_by=updated_at&reviewer_id=3&reviewer_username=bo&scope=all&search=x&sort=asc&source_branch=s&state=opened&target_branch=t\
          &updated_after=2018-01-01T00%3A00%3A00Z&updated_before=2018-01-01T00%3A00%3A00Z&view=simple&wip=no&with_labels_details=true";
    ListProjectMergeRequests {
        id: acme(),
        iids: Some(vec![42, 43]),
        scope: word("assigned-to-me"),
        ..ListProjectMergeRequests::default()
    } => "GET /projects/acme%2Fui/merge_requests?iids[]=42&iids[]=43&scope=assigned-to-me";
    ListGroupMergeRequests {
        id: "acme/tools".into(),
        scope: word("all"),
        non_archived: Some(false),
        state: word("opened"),
        ..ListGroupMergeRequests::default()
    } => "GET /groups/acme%2Ftools/merge_requests?non_archived=false&scope=all&state=opened";
    GetMergeRequest { id: 1.into(), merge_request_iid: 5, include_rebase_in_progress: Some(true) }
        => "GET /projects/1/merge_requests/5?include_rebase_in_progress=true";
    ListParticipants { id: 1.into(), merge_request_iid: 5 } => "GET /projects/1/merge_requests/5/participants";
    ListMergeRequestCommits { id: 1.into(), merge_request_iid: 5 } => "GET /projects/1/merge_requests/5/commits";
    GetMergeRequestChanges { id: 1.into(), merge_request_iid: 5 } => "GET /projects/1/merge_requests/5/changes";
    ListMergeRequestPipelines { id: 1.into(), merge_request_iid: 5 } => "GET /projects/1/merge_requests/5/pipelines";
    CreateMergeRequest {
        id: 1.into(),
        source_branch: "s".into(),
        target_branch: "t".into(),
        title: "T".into(),
        assignee_id: Some(2),
        description: word("d"),
        target_project_id: Some(3),
        labels: word("a,b"),
        milestone_id: Some(4),
        remove_source_branch: Some(true),
        approvals_before_merge: Some(1),
        squash: Some(true),
        allow_maintainer_to_push: Some(true),
        assignee_ids: Some(vec![2, 3]),
        reviewer_ids: Some(vec![4]),
    } => "POST /projects/1/merge_requests | allow_maintainer_to_push=true&approvals_before_merge=1&assignee_id=2\
          &assignee_ids[]=2&assignee_ids[]=3&description=d&labels=a,b&milestone_id=4&remove_source_branch=true\
          &reviewer_ids[]=4&source_branch=s&squash=true&target_branch=t&target_project_id=3&title=T";
    UpdateMergeRequest {
        id: 1.into(),
        merge_request_iid: 5,
        state_event: word("close"),
        assignee_id: Some(0),
        labels: word(""),
        ..UpdateMergeRequest::default()
    } => "PUT /projects/1/merge_requests/5 | assignee_id=0&labels=&state_event=close";
    ListReviewers { id: 1.into(), merge_request_iid: 5 } => "GET /projects/1/merge_requests/5/reviewers";
}

samples! {
    Milestone => r#"{"id": 5, "iid": 1, "project_id": 3, "title": "v2.0", "description": "Assumenda",
        "state": "closed", "created_at": "2015-02-02T19:49:26.013Z", "updated_at": "2015-02-02T19:49:26.013Z",
        "due_date": "2018-09-22", "start_date": null}"#;
    MergeRequest => r#"{
        "id": 1, "iid": 1, "project_id": 3, "source_project_id": 2, "target_project_id": 3, "title": "test1",
        "description": "fixed login page css paddings", "state": "merged", "created_at": "2017-04-29T08:46:00Z",
        "updated_at": "2017-04-29T08:46:00Z", "target_branch": "master", "source_branch": "test1", "upvotes": 0,
        "downvotes": 0, "author": {"id": 1, "username": "admin", "name": "Administrator", "state": "active",
            "avatar_url": null, "web_url": "https://h/admin"},
        "assignee": null, "labels": ["Community", "Manage"], "work_in_progress": false,
        "milestone": {"id": 5, "title": "v2.0"}, "merge_when_pipeline_succeeds": true,
        "merge_status": "can_be_merged", "sha": "8888888888888888888888888888888888888888",
        "merge_commit_sha": null, "user_notes_count": 1, "changes_count": "1000+",
        "should_remove_source_branch": true, "force_remove_source_branch": false, "squash": false,
        "web_url": "http://h/-/merge_requests/1", "discussion_locked": null,
        "time_stats": {"time_estimate": 0, "total_time_spent": 0, "human_time_estimate": null,
            "human_total_time_spent": null},
        "approvals_before_merge": null, "subscribed": false, "allow_maintainer_to_push": false,
        "closed_at": null, "latest_build_started_at": "2018-09-07T07:27:38.472Z",
        "latest_build_finished_at": "2018-09-07T08:07:06.012Z", "first_deployed_to_production_at": null,
        "pipeline": {"id": 29626725, "sha": "2be7ddb704c7b6b83732fdd5b9f09d5a397b5f8f", "ref": "patch-28",
            "status": "success"},
        "merged_by": {"id": 87854, "name": "D", "username": "d", "state": "active", "avatar_url": "https://a",
            "web_url": "https://h/d"},
        "merged_at": "2018-09-07T11:16:17.520Z", "closed_by": null,
        "changes": [{"old_path": "VERSION", "new_path": "VERSION", "a_mode": "100644", "b_mode": "100644",
            "diff": "--- a/VERSION\n+++ b/VERSION\n@@ -1 +1 @@\n-1.9.7\n+1.9.8\n", "new_file": false,
            "renamed_file": false, "deleted_file": false}]
    }"#;
    MergeRequest => r#"{"id": 1, "iid": 1, "draft": true, "detailed_merge_status": "draft_status",
        "reviewers": [{"id": 2, "name": "B"}], "assignees": [], "head_pipeline": {"id": 3, "status": "running"},
        "references": {"short": "!1", "relative": "!1", "full": "a/b!1"}, "source_project_id": null}"#;
    Reviewer => r#"{"user": {"id": 1, "username": "sam", "name": "Sam", "state": "active", "avatar_url": null,
        "web_url": "https://h/sam"}, "state": "review_started", "created_at": "2022-07-27T17:03:27.684Z"}"#;
}

#[test]
fn a_draft_is_recognized_by_its_flags_or_title() {
    for (text, draft) in [
        (r#"{"title": "Draft: x", "draft": false}"#, false),
        (r#"{"title": "x", "draft": true}"#, true),
        (r#"{"title": "x", "work_in_progress": true}"#, true),
        (r#"{"title": "WIP: x"}"#, true),
        (r#"{"title": "Drafting: x"}"#, false),
    ] {
        let read: MergeRequest = serde_json::from_str(text).expect("a merge request");
        assert_eq!(read.is_draft(), draft, "{text}");
    }
}

#[test]
fn a_changes_count_with_a_plus_means_that_changes_are_missing() {
    let read: MergeRequest = serde_json::from_str(r#"{"changes_count": "437+"}"#).expect("a merge request");
    assert!(read.is_overflowing());
    let all = r#"{"changes_count": "1+", "changes": [{"new_path": "a"}, {"new_path": "b"}]}"#;
    let read: MergeRequest = serde_json::from_str(all).expect("a merge request");
    assert!(!read.is_overflowing(), "it lists more than it counts");
}
