//! Tags and releases.

use crate::sample::word;
use labscope::api::tags::*;

requests! {
    ListTags { id: 1.into(), search: word("v1"), order_by: word("name"), sort: word("asc") } =>
        "GET /projects/1/repository/tags?order_by=name&search=v1&sort=asc";
    GetTag { id: 1.into(), tag_name: "v1.0/rc".into() } => "GET /projects/1/repository/tags/v1.0%2Frc";
    CreateTag {
        id: 1.into(),
        tag_name: "v1".into(),
        r#ref: "main".into(),
        message: word("m"),
        release_description: word("r"),
    } => "POST /projects/1/repository/tags | message=m&ref=main&release_description=r&tag_name=v1";
    DeleteTag { id: 1.into(), tag_name: "v1".into() } => "DELETE /projects/1/repository/tags/v1";
    CreateTagRelease { id: 1.into(), tag_name: "v1".into(), description: "d".into() } =>
        "POST /projects/1/repository/tags/v1/release | description=d";
    UpdateTagRelease { id: 1.into(), tag_name: "v1".into(), description: "d".into() } =>
        "PUT /projects/1/repository/tags/v1/release | description=d";
}

samples! {
    Tag => r#"{
        "commit": {"author_name": "John Smith", "author_email": "john@example.com",
            "authored_date": "2012-05-28T04:42:42-07:00", "committed_date": "2012-05-28T04:42:42-07:00",
            "committer_name": "Jack Smith", "committer_email": "jack@example.com",
            "id": "2695effb5807a22ff3d138d593fd856244e155e7", "short_id": "2695effb",
            "title": "Initial commit", "message": "Initial commit",
            "parent_ids": ["2a4b78934375d7f53875269ffd4f45fd83a84ebe"]},
        "release": {"tag_name": "1.0.0", "description": "Amazing release. Wow"}, "name": "v1.0.0", "message": null
    }"#;
    Tag => r#"{"name": "v2", "message": "annotated", "release": null, "protected": true}"#;
}
