//! Environments.

use crate::sample::{acme, word};
use labscope::api::environments::*;

requests! {
    ListEnvironments { id: acme(), search: word("rev"), states: word("stopped") } =>
        "GET /projects/acme%2Fui/environments?search=rev&states=stopped";
    GetEnvironment { id: 1.into(), environment_id: 7 } => "GET /projects/1/environments/7";
    StopEnvironment { id: 1.into(), environment_id: 7 } => "POST /projects/1/environments/7/stop";
}

samples! {
    ProjectEnvironment => r#"{"id": 1, "name": "review/fix-foo", "slug": "review-fix-foo-dfjre3", "description": "x",
        "external_url": "https://review-fix-foo.example.com", "state": "available", "tier": "development",
        "created_at": "2019-05-25T18:55:13.252Z", "updated_at": "2019-05-27T18:55:13.252Z",
        "auto_stop_at": "2019-06-03T18:55:13.252Z",
        "last_deployment": {"id": 100, "iid": 34, "ref": "fdroid", "sha": "416d8ea11849050d3d1f5104cf8cf51053e790ab",
            "created_at": "2019-03-25T18:55:13.252Z", "status": "success", "user": null, "environment": null,
            "deployable": null}}"#;
    ProjectEnvironment => r#"{"id": 2, "name": "production", "external_url": null}"#;
}
