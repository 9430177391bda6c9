//! Forms for creating and editing milestones of a project or group.

use crate::api::merge_requests::Milestone;
use crate::api::milestones::{CreateMilestone, UpdateMilestone};
use crate::api::{Endpoint, Scope, Time};
use crate::app::overlay::form::{Form, Widget};
use crate::app::overlay::markdown_input::TextContext;

fn fields<E: Endpoint>(scope: &Scope, title: String, what: String, key: String) -> Form {
    Form::of::<E>(title, what, key)
        .fixed("scope", scope.to_string())
        .first(&["title", "start_date", "due_date", "description"])
        .field("title", |field| _ = field.required(true))
        .field("description", |field| _ = field.markdown(TextContext::within(scope)))
        .field("start_date", |field| _ = field.widget(Widget::Date).default("none").help(""))
        .field("due_date", |field| _ = field.widget(Widget::Date).default("none").help(""))
}

/// Returns the form for a new milestone.
pub fn create(scope: &Scope) -> Form {
    let id = scope.id();
    let (title, key) = (format!("New milestone in {id}"), format!("new milestone {id}"));
    fields::<CreateMilestone>(scope, title, "create the milestone".into(), key)
}

/// Returns the form that edits a milestone.
pub fn edit(scope: &Scope, milestone: &Milestone) -> Form {
    let (title, what) =
        (format!("Edit milestone {}", milestone.title), format!("change milestone {}", milestone.title));
    let key = format!("milestone {} {}", scope.id(), milestone.id);
    let date = |time: &Option<Time>| time.as_ref().map(Time::to_string).unwrap_or_default();
    let (start, due) = (date(&milestone.start_date), date(&milestone.due_date));
    fields::<UpdateMilestone>(scope, title, what, key)
        .fixed("milestone_id", milestone.id)
        .without(&["state_event"])
        .field("title", |field| _ = field.before(milestone.title.as_str()))
        .field("description", |field| _ = field.before(milestone.description.clone().unwrap_or_default()))
        .field("start_date", |field| _ = field.before(start))
        .field("due_date", |field| _ = field.before(due))
}
