//! Search.

use crate::sample::{group, project};
use labscope::api::issues::Issue;
use labscope::api::search::*;

requests! {
    Search { scope: "projects".into(), search: "a&b".into() } => "GET /search?scope=projects&search=a%26b";
    SearchWithin { within: group(), scope: "issues".into(), search: "x".into() } =>
        "GET /groups/acme%2Fui/-/search?scope=issues&search=x";
    SearchWithin { within: project(), scope: "blobs".into(), search: "x".into() } =>
        "GET /projects/acme%2Fui/-/search?scope=blobs&search=x";
}

samples! {
    Issue => r#"{
        "id": 83, "iid": 1, "project_id": 12, "title": "Add file", "description": "Add first file",
        "state": "opened", "created_at": "2018-01-24T06:02:15.514Z", "updated_at": "2018-02-06T12:36:23.263Z",
        "closed_at": null, "labels": [], "milestone": null,
        "assignees": [{"id": 20, "name": "C", "username": "c", "state": "active", "avatar_url": null,
            "web_url": "http://h/c"}],
        "assignee": {"id": 20, "name": "C", "username": "c", "state": "active", "avatar_url": null,
            "web_url": "http://h/c"},
        "author": {"id": 1, "name": "Administrator", "username": "root", "state": "active", "avatar_url": null,
            "web_url": "http://h/root"},
        "user_notes_count": 9, "upvotes": 0, "downvotes": 0, "due_date": null, "confidential": false,
        "discussion_locked": null, "web_url": "http://h/-/issues/1",
        "time_stats": {"time_estimate": 0, "total_time_spent": 0, "human_time_estimate": null,
            "human_total_time_spent": null}
    }"#;
    BlobHit => r#"{"basename": "README", "data": "```\n\n## Installation", "filename": "README.md", "id": null,
        "ref": "master", "startline": 46, "project_id": 6}"#;
}

#[test]
fn the_kind_of_a_search_result_is_recognized_by_its_fields() {
    let hit = |text: &str| serde_json::from_str::<Hit>(text).expect("a hit");
    let kinds = [
        (r#"{"basename": "README", "project_id": 6}"#, "blob"),
        (r#"{"id": "abc", "short_id": "abc", "project_id": 6}"#, "commit"),
        (r#"{"id": 6, "path_with_namespace": "a/b"}"#, "project"),
        (r#"{"id": 6, "body": "x", "noteable_type": "Issue"}"#, "note"),
        (r#"{"id": 6, "iid": 1, "source_branch": "x", "author": null}"#, "merge request"),
        (r#"{"id": 50, "title": "Sample file", "file_name": "file.rb", "author": null, "project_id": 9}"#, "snippet"),
        (r#"{"id": 44, "iid": 4, "title": "v4", "state": "active", "start_date": null}"#, "milestone"),
        (r#"{"id": 83, "iid": 1, "title": "x", "confidential": false}"#, "issue"),
        (r#"{"id": 1, "username": "root"}"#, "user"),
        (r#"{"id": 4, "name": "Rows", "full_name": "Acme / Rows", "full_path": "acme/rows"}"#, "group"),
        (r#"{"quite": "new"}"#, "other"),
    ];
    for (text, kind) in kinds {
        let found = match hit(text) {
            Hit::Blob(_) => "blob",
            Hit::Commit(_) => "commit",
            Hit::Project(_) => "project",
            Hit::Note(_) => "note",
            Hit::MergeRequest(_) => "merge request",
            Hit::Snippet(_) => "snippet",
            Hit::User(_) => "user",
            Hit::Group(_) => "group",
            Hit::Issue(_) => "issue",
            Hit::Milestone(_) => "milestone",
            Hit::Other(_) => "other",
        };
        assert_eq!(found, kind, "{text}");
    }
}
