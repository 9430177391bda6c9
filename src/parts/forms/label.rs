//! Forms for creating and editing labels of a project or group.

use crate::api::labels::{CreateLabel, Label, UpdateLabel, rgb};
use crate::api::{Endpoint, Scope};
use crate::app::overlay::form::Form;

fn check_color(text: &str) -> Result<(), String> {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic());
    if is_name || rgb(text).is_some() {
        Ok(())
    } else {
        Err("is not a color: use #rrggbb or a name such as orange".into())
    }
}

fn fields<E: Endpoint>(scope: &Scope, title: String, what: String, key: String) -> Form {
    let form = Form::of::<E>(title, what, key)
        .fixed("scope", scope.to_string())
        .first(&["name", "new_name", "color", "description", "priority"])
        .field("color", |field| _ = field.check(check_color).help("#rrggbb, or a name such as orange."));
    match scope {
        Scope::Project(_) => {
            form.field("priority", |field| _ = field.default("none").help("The lower, the more important."))
        }
        Scope::Group(_) => form.without(&["priority"]),
    }
}

/// Returns the form for a new label.
pub fn create(scope: &Scope) -> Form {
    let id = scope.id();
    fields::<CreateLabel>(scope, format!("New label in {id}"), "create the label".into(), format!("new label {id}"))
}

/// Returns the form that edits a label.
pub fn edit(scope: &Scope, label: &Label) -> Form {
    let (title, what) = (format!("Edit label {}", label.name), format!("change label {}", label.name));
    let key = format!("label {} {}", scope.id(), label.id);
    fields::<UpdateLabel>(scope, title, what, key)
        .fixed("label_id", label.id.to_string())
        .fixed("name", &label.name)
        .of_object(label)
        .field("new_name", |field| _ = field.label("name").required(true).before(label.name.as_str()))
        .field("color", |field| _ = field.required(true))
}
