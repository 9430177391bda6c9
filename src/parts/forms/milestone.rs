//! Forms for creating and editing milestones of a project or group.

use crate::api::merge_requests::Milestone;
use crate::api::milestones::{CreateMilestone, UpdateMilestone};
use crate::api::{Endpoint, Scope};
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
    fields::<UpdateMilestone>(scope, title, what, key)
        .fixed("milestone_id", milestone.id)
        .without(&["state_event"])
        .of_object(milestone)
}
