//! Forms for the notification settings: global, of a group, of a project.

use crate::api::notifications::{
    EVENTS, GetNotifications, GetScopedNotifications, Level, NotificationSettings, UpdateNotifications,
    UpdateScopedNotifications,
};
use crate::api::{Endpoint, Scope};
use crate::app::overlay::form::{Form, Widget};
use crate::app::view::View;
use crate::ui::text::sanitize;

/// Returns the meaning of a level.
pub fn meaning(level: &Level) -> &'static str {
    match level {
        Level::Disabled => "nothing at all",
        Level::Participating => "threads you participate in, and mentions",
        Level::Watch => "everything that happens",
        Level::Global => "your global setting",
        Level::Mention => "only mentions of you",
        Level::Custom => "threads you participate in, and the selected events",
        Level::Other(_) => "an unknown level",
    }
}

/// The events, in words that are clearer than their names.
const LABELS: &[(&str, &str)] = &[
    ("new_note", "comments"),
    ("new_issue", "issues opened"),
    ("reopen_issue", "issues reopened"),
    ("close_issue", "issues closed"),
    ("reassign_issue", "issues reassigned"),
    ("new_merge_request", "merge requests opened"),
    ("reopen_merge_request", "merge requests reopened"),
    ("close_merge_request", "merge requests closed unmerged"),
    ("reassign_merge_request", "merge requests reassigned"),
    ("merge_merge_request", "merge requests merged"),
    ("failed_pipeline", "pipelines failed"),
    ("success_pipeline", "pipelines succeeded"),
    // Newer servers have these, which the form cannot set.
    ("push_to_merge_request", "merge requests pushed to"),
    ("fixed_pipeline", "pipelines fixed"),
    ("new_release", "releases created"),
    ("issue_due", "issues due tomorrow"),
    ("moved_project", "projects moved"),
    ("new_epic", "epics opened"),
    ("change_reviewer_merge_request", "reviewers changed"),
    ("merge_when_pipeline_succeeds", "auto-merge set"),
    ("approver", "merge requests you may approve"),
];

/// Returns the words for an event: its name, if it has none.
pub fn event(name: &str) -> String {
    let label = LABELS.iter().find(|(known, _)| *known == name).map(|(_, label)| (*label).to_owned());
    label.unwrap_or_else(|| name.replace('_', " "))
}

/// The levels of a group or a project.
const SCOPED_LEVELS: &[&str] = Level::KNOWN;
/// The global levels, which have nothing to inherit from.
const GLOBAL_LEVELS: &[&str] = &["disabled", "participating", "watch", "mention", "custom"];

/// Returns the texts of the event fields, from the server's settings.
fn fields(settings: &NotificationSettings) -> Vec<(&'static str, String)> {
    let events = settings.events.as_ref();
    let text = |name: &'static str| {
        let on = events.and_then(|events| events.0.get(name).copied().flatten());
        (name, on.map_or("", |on| if on { "yes" } else { "no" }).to_owned())
    };
    EVENTS.iter().copied().map(text).collect()
}

fn settings<E: Endpoint>(title: String, key: String, levels: &'static [&'static str]) -> Form {
    let form = Form::of::<E>(title, "change the notifications", key).first(&["level", "notification_email"]).field(
        "level",
        |field| {
            field.widget(Widget::Choice(levels));
            field.help("watch: everything; participating: yours; mention: your name; custom: the events below.");
        },
    );
    LABELS.iter().fold(form, |form, (name, label)| {
        form.field(name, |field| {
            field.label(label).default("inherit").help("Applies if the level is custom.");
        })
    })
}

/// Returns the form for the global settings.
pub fn global(view: &View) -> Form {
    settings::<UpdateNotifications>("Notifications everywhere".into(), "notifications".into(), GLOBAL_LEVELS)
        .field("notification_email", |field| _ = field.label("email").help("Where emails go: one of your addresses."))
        .of_current(view, GetNotifications {}, fields)
}

/// Returns the form for the settings of the project or group `name`.
pub fn scoped(scope: Scope, name: &str, view: &View) -> Form {
    let title = format!("Notifications in {}", sanitize(name));
    let key = match &scope {
        Scope::Project(id) => format!("notifications of project {id}"),
        Scope::Group(id) => format!("notifications of group {id}"),
    };
    settings::<UpdateScopedNotifications>(title, key, SCOPED_LEVELS).fixed("scope", scope.to_string()).of_current(
        view,
        GetScopedNotifications { scope },
        fields,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_label() {
        for name in EVENTS {
            assert!(LABELS.iter().any(|(known, _)| *known == name), "{name}");
        }
        for level in Level::KNOWN {
            assert!(!matches!(Level::from(*level), Level::Other(_)), "{level}");
        }
    }
}
