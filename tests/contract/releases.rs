//! Releases.

use crate::sample::{acme, word};
use labscope::api::releases::*;

requests! {
    ListReleases { id: acme() } => "GET /projects/acme%2Fui/releases";
    CreateRelease {
        id: acme(),
        tag_name: "v1/rc".into(),
        name: word("One"),
        description: word("d"),
        r#ref: word("main"),
    } => "POST /projects/acme%2Fui/releases | description=d&name=One&ref=main&tag_name=v1/rc";
    UpdateRelease { id: 1.into(), tag_name: "v1/rc".into(), name: word("One"), description: word("") } =>
        "PUT /projects/1/releases/v1%2Frc | description=&name=One";
    DeleteRelease { id: 1.into(), tag_name: "v1/rc".into() } => "DELETE /projects/1/releases/v1%2Frc";
    ListAssetLinks { id: acme(), tag_name: "v1/rc".into() } => "GET /projects/acme%2Fui/releases/v1%2Frc/assets/links";
    CreateAssetLink {
        id: 1.into(),
        tag_name: "v1".into(),
        name: "For Linux".into(),
        url: "https://h/x".into(),
        link_type: word("package"),
    } => "POST /projects/1/releases/v1/assets/links | link_type=package&name=For Linux&url=https://h/x";
    UpdateAssetLink {
        id: 1.into(),
        tag_name: "v1".into(),
        link_id: 2,
        name: word("x"),
        url: None,
        link_type: word("other"),
    } => "PUT /projects/1/releases/v1/assets/links/2 | link_type=other&name=x";
    DeleteAssetLink { id: 1.into(), tag_name: "v1".into(), link_id: 2 } =>
        "DELETE /projects/1/releases/v1/assets/links/2";
}

samples! {
    Release => r#"{
        "tag_name": "v0.2", "description": "What changed", "name": "Awesome app", "created_at": "2019-01-03T01:56:19.539Z",
        "released_at": "2019-01-03T01:56:19.539Z", "author": {"id": 1, "name": "Ada", "username": "ada",
            "state": "active", "avatar_url": "https://h/a.png", "web_url": "https://h/ada"},
        "upcoming_release": false,
        "milestones": [{"id": 51, "iid": 1, "project_id": 24, "title": "v1.0", "description": "x", "state": "closed",
            "created_at": "2019-07-12T19:45:44.256Z", "updated_at": "2019-07-12T19:45:44.256Z",
            "due_date": "2019-08-16", "start_date": "2019-07-30"}],
        "assets": {"sources": [{"format": "zip", "url": "http://h/a-v0.2.zip"}],
            "links": [{"id": 2, "name": "awesome-v0.2.msi", "url": "http://h/a.msi", "link_type": "other"}]}
    }"#;
    Release => r#"{"tag_name": "v0.1", "name": null, "description": null, "created_at": null, "released_at": null}"#;
}
