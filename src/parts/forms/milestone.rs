//! Forms for creating and editing milestones of a project or a group.

use crate::api::merge_requests::Milestone;
use crate::api::milestones::{CreateGroupMilestone, CreateMilestone, UpdateGroupMilestone, UpdateMilestone};
use crate::api::{Endpoint, Id, Time};
use crate::app::action::Action;
use crate::app::overlay::form::{Form, Widget};

/// The ID of the created or changed milestone, as a message to the pane.
pub struct NewMilestone(pub u64);

fn fields<E: Endpoint>(title: String, what: String, key: String, id: &Id) -> Form {
    Form::of::<E>(title, what, key)
        .fixed("id", id)
        .first(&["title", "start_date", "due_date", "description"])
        .field("title", |field| _ = field.required(true))
        .field("description", |field| _ = field.widget(Widget::Long))
        .field("start_date", |field| _ = field.widget(Widget::Date).default("none").help("2026-01-31, or today."))
        .field("due_date", |field| _ = field.widget(Widget::Date).default("none").help("2026-01-31, or today."))
        .then(|answer| Some(Action::answer(NewMilestone(answer.downcast_ref::<Milestone>()?.id))))
}

/// Returns the form for a new milestone of a project, or of a group.
pub fn create(id: &Id, in_group: bool) -> Form {
    let title = format!("New milestone in {id}");
    let (what, key) = ("create the milestone".to_owned(), format!("new milestone {id}"));
    match in_group {
        true => fields::<CreateGroupMilestone>(title, what, key, id),
        false => fields::<CreateMilestone>(title, what, key, id),
    }
}

/// Returns the form that edits a milestone of a project, or of a group.
pub fn edit(id: &Id, in_group: bool, milestone: &Milestone) -> Form {
    let (title, what) =
        (format!("Edit milestone {}", milestone.title), format!("change milestone {}", milestone.title));
    let key = format!("milestone {id} {}", milestone.id);
    let form = match in_group {
        true => fields::<UpdateGroupMilestone>(title, what, key, id),
        false => fields::<UpdateMilestone>(title, what, key, id),
    };
    let date = |time: &Option<Time>| time.as_ref().map(Time::to_string).unwrap_or_default();
    let (start, due) = (date(&milestone.start_date), date(&milestone.due_date));
    form.fixed("milestone_id", milestone.id)
        .without(&["state_event"])
        .field("title", |field| _ = field.before(milestone.title.as_str()))
        .field("description", |field| _ = field.before(milestone.description.clone().unwrap_or_default()))
        .field("start_date", |field| _ = field.before(start))
        .field("due_date", |field| _ = field.before(due))
}
