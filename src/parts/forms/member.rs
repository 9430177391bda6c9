//! Forms for adding members to a project or a group, and for changing their roles.

use crate::api::members::{AddMember, Member, UpdateMember};
use crate::api::{Endpoint, Scope};
use crate::app::complete::Complete;
use crate::app::overlay::form::{Form, Widget};
use crate::domain::roles;
use serde_json::{Value, json};

fn level(role: &str) -> Result<Value, String> {
    let level = roles::level(role).or_else(|| role.parse().ok());
    level.map(|level| json!(level)).ok_or_else(|| format!("must be one of {}", roles::ROLE_NAMES.join(", ")))
}

fn fields<E: Endpoint>(scope: &Scope, title: String, what: String, key: String) -> Form {
    Form::of::<E>(title, what, key)
        .fixed("scope", scope.to_string())
        .first(&["user_id", "access_level", "expires_at"])
        .field("access_level", |field| {
            field.label("role").widget(Widget::Choice(roles::ROLE_NAMES)).parsed(level);
        })
        .field("expires_at", |field| {
            field.label("expires").widget(Widget::Date).default("never").help("");
        })
}

/// Returns the form for a new member.
pub fn add(scope: &Scope) -> Form {
    let id = scope.id();
    let (title, what, key) = (format!("Add member to {id}"), "add the member".to_owned(), format!("new member {id}"));
    fields::<AddMember>(scope, title, what, key)
        .field("user_id", |field| {
            field.label("user").widget(Widget::Named(Complete::Users(None)));
        })
        .field("access_level", |field| _ = field.text("Developer"))
}

/// Returns the form that changes the role of a member.
pub fn edit(scope: &Scope, member: &Member) -> Form {
    let id = scope.id();
    let title = format!("Change role of {} in {id}", member.username);
    let (what, key) = (format!("change the role of {}", member.username), format!("member {id} {}", member.id));
    fields::<UpdateMember>(scope, title, what, key)
        .fixed("user_id", member.id)
        .of_object(member)
        .field("access_level", |field| _ = field.required(true).before(roles::role(member.access_level)))
}
