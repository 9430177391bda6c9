//! Rules that protect branches.

use crate::sample::acme;
use labscope::api::protected_branches::*;

requests! {
    ListProtectionRules { id: acme() } => "GET /projects/acme%2Fui/protected_branches";
    CreateProtectionRule {
        id: 1.into(),
        name: "release/*".into(),
        push_access_level: Some(0),
        merge_access_level: Some(30),
        allow_force_push: Some(true),
    } => "POST /projects/1/protected_branches | allow_force_push=true&merge_access_level=30&name=release/*\
          &push_access_level=0";
    UpdateProtectionRule {
        id: 1.into(),
        name: "release/*".into(),
        allowed_to_push: Some(vec![AccessChange { id: Some(7), access_level: 0 }]),
        allowed_to_merge: Some(vec![AccessChange { id: None, access_level: 30 }]),
        allow_force_push: Some(false),
    } => r#"PATCH /projects/1/protected_branches/release%2F%2A | {"allow_force_push":false,"allowed_to_merge":[{"access_level":30}],"allowed_to_push":[{"access_level":0,"id":7}]}"#;
    DeleteProtectionRule { id: 1.into(), name: "release/*".into() } => "DELETE /projects/1/protected_branches/release%2F%2A";
}

samples! {
    ProtectionRule => r#"{"id": 1, "name": "release/*",
        "push_access_levels": [{"id": 1, "access_level": 40, "access_level_description": "Maintainers", "user_id": 5,
            "group_id": 6, "deploy_key_id": 7}],
        "merge_access_levels": [{"access_level": null, "access_level_description": "Ada"}],
        "allow_force_push": false, "code_owner_approval_required": true, "inherited": false}"#;
    ProtectionRule => r#"{"name": "main", "push_access_levels": [], "merge_access_levels": []}"#;
}
