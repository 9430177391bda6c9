//! Email notification settings of the user: global, by group, and by project (specification, "Notification settings").

use crate::Named;

crate::open_enum! {
    /// A notification level.
    pub enum Level {
        Disabled = "disabled",
        Participating = "participating",
        Watch = "watch",
        Global = "global",
        Mention = "mention",
        Custom = "custom",
    }
}

/// The events that can be enabled and disabled if the level is custom.
pub const EVENTS: [&str; 12] = [
    "new_note",
    "new_issue",
    "reopen_issue",
    "close_issue",
    "reassign_issue",
    "new_merge_request",
    "reopen_merge_request",
    "close_merge_request",
    "reassign_merge_request",
    "merge_merge_request",
    "failed_pipeline",
    "success_pipeline",
];

crate::resource! {
    /// A notification level and its details.
    pub struct NotificationSettings {
        level: Level,
    }
    views {
        /// The email address; only in the global settings.
        notification_email: Option<String>,
        /// The enabled events; only if the level is custom. The names are those in [`EVENTS`], and others on newer
        /// servers. A server may send null.
        events: Option<Named<Option<bool>>>,
    }
}

crate::endpoints! {
    section "Notification settings";

    common {
        new_note: Option<bool>,
        new_issue: Option<bool>,
        reopen_issue: Option<bool>,
        close_issue: Option<bool>,
        reassign_issue: Option<bool>,
        new_merge_request: Option<bool>,
        reopen_merge_request: Option<bool>,
        close_merge_request: Option<bool>,
        reassign_merge_request: Option<bool>,
        merge_merge_request: Option<bool>,
        failed_pipeline: Option<bool>,
        success_pipeline: Option<bool>,
    }

    /// Gets the global settings.
    GET "/notification_settings" => NotificationSettings, about Notifications;
    struct GetNotifications {}

    /// Updates the global settings.
    PUT "/notification_settings" => NotificationSettings,
    outdates [Notifications];
    struct UpdateNotifications {
        /// `disabled`, `participating`, `watch`, `global`, `mention` or `custom`.
        level: Option<String>,
        notification_email: Option<String>,
        ..
    }

    /// Gets the settings for a project or group.
    GET "/notification_settings" of scope: Scope [project, group] => NotificationSettings, about ScopedNotifications;
    struct GetScopedNotifications {}

    /// Updates the settings for a project or group.
    PUT "/notification_settings" of scope: Scope [project, group] => NotificationSettings,
    outdates [ScopedNotifications];
    struct UpdateScopedNotifications {
        /// `disabled`, `participating`, `watch`, `global`, `mention` or `custom`.
        level: Option<String>,
        ..
    }
}
