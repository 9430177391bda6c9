//! What a user is told by mail, everywhere, in a group, in a project (specification, "Notification settings").

use crate::api::{Id, Named};

crate::open_enum! {
    /// How much a user is told.
    pub enum Level {
        Disabled = "disabled",
        Participating = "participating",
        Watch = "watch",
        Global = "global",
        Mention = "mention",
        Custom = "custom",
    }
}

/// The events that a custom level turns on and off.
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
    /// A level, and what goes with it.
    pub struct NotificationSettings {
        level: Level,
    }
    views {
        /// The global settings alone.
        notification_email: String,
        /// Of the level custom alone; names as in [`EVENTS`], and those of newer servers. A server may write null.
        events: Named<Option<bool>>,
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

    /// Reads the global settings.
    GET "/notification_settings" => NotificationSettings;
    struct GetNotifications {}

    /// Changes the global settings.
    PUT "/notification_settings" => NotificationSettings,
    touches [GetNotifications];
    struct UpdateNotifications {
        /// A word of [`Level`].
        level: Option<String>,
        notification_email: Option<String>,
        ..
    }

    /// Reads the settings in a group.
    GET "/groups/{id}/notification_settings" => NotificationSettings;
    struct GetGroupNotifications { id: Id }

    /// Changes the settings in a group.
    PUT "/groups/{id}/notification_settings" => NotificationSettings,
    touches [GetGroupNotifications];
    struct UpdateGroupNotifications {
        id: Id,
        /// A word of [`Level`].
        level: Option<String>,
        ..
    }

    /// Reads the settings in a project.
    GET "/projects/{id}/notification_settings" => NotificationSettings;
    struct GetProjectNotifications { id: Id }

    /// Changes the settings in a project.
    PUT "/projects/{id}/notification_settings" => NotificationSettings,
    touches [GetProjectNotifications];
    struct UpdateProjectNotifications {
        id: Id,
        /// A word of [`Level`].
        level: Option<String>,
        ..
    }
}
