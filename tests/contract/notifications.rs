//! Notification settings.

use crate::sample::{group, project, word};
use labscope::api::Scope;
use labscope::api::notifications::*;

requests! {
    GetNotifications {} => "GET /notification_settings";
    UpdateNotifications {
        level: word("custom"),
        notification_email: word("a@b"),
        new_note: Some(true),
        new_issue: Some(true),
        reopen_issue: Some(true),
        close_issue: Some(true),
        reassign_issue: Some(true),
        new_merge_request: Some(true),
        reopen_merge_request: Some(true),
        close_merge_request: Some(true),
        reassign_merge_request: Some(true),
        merge_merge_request: Some(true),
        failed_pipeline: Some(true),
        success_pipeline: Some(true),
    } => "PUT /notification_settings | close_issue=true&close_merge_request=true&failed_pipeline=true&level=custom\
          &merge_merge_request=true&new_issue=true&new_merge_request=true&new_note=true&notification_email=a@b\
          &reassign_issue=true&reassign_merge_request=true&reopen_issue=true&reopen_merge_request=true\
          &success_pipeline=true";
    GetScopedNotifications { scope: group() } => "GET /groups/acme%2Fui/notification_settings";
    UpdateScopedNotifications { scope: Scope::Group(5.into()), level: word("watch"), ..Default::default() } =>
        "PUT /groups/5/notification_settings | level=watch";
    GetScopedNotifications { scope: project() } => "GET /projects/acme%2Fui/notification_settings";
    UpdateScopedNotifications { scope: Scope::Project(5.into()), new_note: Some(false), ..Default::default() } =>
        "PUT /projects/5/notification_settings | new_note=false";
}

samples! {
    NotificationSettings => r#"{"level": "participating", "notification_email": "admin@example.com"}"#;
    NotificationSettings => r#"{"level": "custom", "events": {"new_note": true, "new_issue": false,
        "reopen_issue": false, "close_issue": false, "reassign_issue": false, "new_merge_request": false,
        "reopen_merge_request": false, "close_merge_request": false, "reassign_merge_request": false,
        "merge_merge_request": false, "failed_pipeline": false, "success_pipeline": false}}"#;
}
