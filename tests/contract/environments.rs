//! Environments.

use crate::sample::{acme, word};
use labscope::api::environments::*;

requests! {
    ListEnvironments { id: acme(), search: word("rev"), states: word("stopped") } =>
        "GET /projects/acme%2Fui/environments?search=rev&states=stopped";
    GetEnvironment { id: 1.into(), environment_id: 7 } => "GET /projects/1/environments/7";
    StopEnvironment { id: 1.into(), environment_id: 7 } => "POST /projects/1/environments/7/stop";
    ListProtectedEnvironments { id: 1.into() } => "GET /projects/1/protected_environments";
}

samples! {
    ProjectEnvironment => r#"{"id": 1, "name": "review/fix-foo", "slug": "review-fix-foo-dfjre3", "description": "x",
        "external_url": "https://review-fix-foo.example.com", "state": "available", "tier": "development",
        "created_at": "2019-05-25T18:55:13.252Z", "updated_at": "2019-05-27T18:55:13.252Z",
        "auto_stop_at": "2019-06-03T18:55:13.252Z",
        "last_deployment": {"id": 100, "iid": 34, "ref": "fdroid", "sha": "416d8ea11849050d3d1f5104cf8cf51053e790ab",
            "created_at": "2019-03-25T18:55:13.252Z", "status": "success", "user": null, "environment": null,
            "deployable": null}}"#;
    ProtectedEnvironment => r#"{"name": "production", "deploy_access_levels": [{"id": 12, "access_level": 40,
        "access_level_description": "Maintainers", "user_id": null, "group_id": null}], "required_approval_count": 0,
        "approval_rules": [{"id": 38, "user_id": 42, "group_id": null, "access_level": null,
            "access_level_description": "user42", "required_approvals": 1}]}"#;
    ProjectEnvironment => r#"{"id": 2, "name": "production", "external_url": null}"#;
}
