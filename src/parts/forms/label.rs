//! Forms for creating and editing labels of a project or a group.

use crate::api::labels::{CreateGroupLabel, CreateLabel, Label, UpdateGroupLabel, UpdateLabel, rgb};
use crate::api::{Endpoint, Id};
use crate::app::action::Action;
use crate::app::overlay::form::Form;

/// The name of the created or changed label, as a message to the pane.
pub struct NewLabel(pub String);

fn check_color(text: &str) -> Result<(), String> {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic());
    if is_name || rgb(text).is_some() {
        Ok(())
    } else {
        Err("is not a color: use #rrggbb or a name such as orange".into())
    }
}

fn fields<E: Endpoint>(title: String, what: String, key: String, id: &Id) -> Form {
    Form::of::<E>(title, what, key)
        .fixed("id", id)
        .first(&["name", "new_name", "color", "description", "priority"])
        .field("color", |field| _ = field.check(check_color).help("#rrggbb, or a name such as orange."))
        .field("priority", |field| _ = field.default("none").help("The lower, the more important."))
        .then(|answer| Some(Action::answer(NewLabel(answer.downcast_ref::<Label>()?.name.clone()))))
}

/// Returns the form for a new label of a project, or of a group.
pub fn create(id: &Id, in_group: bool) -> Form {
    let (title, what, key) = (format!("New label in {id}"), "create the label".to_owned(), format!("new label {id}"));
    match in_group {
        true => fields::<CreateGroupLabel>(title, what, key, id),
        false => fields::<CreateLabel>(title, what, key, id),
    }
}

/// Returns the form that edits a label of a project, or of a group.
pub fn edit(id: &Id, in_group: bool, label: &Label) -> Form {
    let (title, what) = (format!("Edit label {}", label.name), format!("change label {}", label.name));
    let key = format!("label {id} {}", label.id);
    let form = match in_group {
        true => fields::<UpdateGroupLabel>(title, what, key, id),
        false => fields::<UpdateLabel>(title, what, key, id),
    };
    let priority = label.priority.map(|priority| priority.to_string()).unwrap_or_default();
    form.fixed("label_id", label.id.to_string())
        .fixed("name", &label.name)
        .field("new_name", |field| _ = field.label("name").required(true).before(label.name.as_str()))
        .field("color", |field| _ = field.required(true).before(label.color.as_str()))
        .field("description", |field| _ = field.before(label.description.clone().unwrap_or_default()))
        .field("priority", |field| _ = field.before(priority))
}
