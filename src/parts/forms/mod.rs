//! The forms of places: what is asked first, what is offered for it, and where to go when the server has taken it.

pub mod commit;
pub mod group;
pub mod hook;
pub mod issue;
pub mod label;
pub mod member;
pub mod merge_request;
pub mod milestone;
pub mod notification;
pub mod pipeline;
pub mod project;
pub mod protection_rule;
pub mod refs;
pub mod release;
pub mod snippet;
pub mod user;

use crate::api::projects::Visibility;
use crate::api::users::GetCurrentUser;
use crate::app::command::Disabled;
use crate::app::overlay::form::{Form, Widget};
use crate::app::pane::View;

/// Returns why only somebody who is signed in may do this.
pub fn signed_in(view: &View) -> Result<(), Disabled> {
    if view.session.signed_in { Ok(()) } else { Err("you are not signed in".into()) }
}

/// Returns why only an administrator may do this; while nobody knows, the server may say no.
pub fn administrator(view: &View) -> Result<(), Disabled> {
    signed_in(view)?;
    match view.me().and_then(|me| me.is_admin.flatten()) {
        Some(false) => Err("for administrators only".into()),
        _ => Ok(()),
    }
}

/// Returns whether it makes sense to ask for what administrators alone see: not before it is known who asks, nor where
/// that is somebody else. A server that does not say who asks is asked.
pub fn asks_as_administrator(view: &View) -> bool {
    let unknown = {
        let me = view.store.get(&GetCurrentUser::default());
        me.value.is_none() && me.error.is_none()
    };
    !unknown && administrator(view).is_ok()
}

/// Returns who may see it, as words to choose from.
fn visibility(form: Form) -> Form {
    form.field("visibility", |field| {
        field
            .widget(Widget::Choice(Visibility::KNOWN))
            .help("private: members only; internal: everyone signed in; public: everyone.");
    })
}

/// The last part of an address: what servers take in a path.
fn check_path(path: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    match path {
        _ if !path.chars().all(fits) => Err("only letters, digits, _ - and .".into()),
        _ if path.starts_with('-') || path.ends_with('.') || path.ends_with(".git") || path.ends_with(".atom") => {
            Err("must not start with - or end in . .git or .atom".into())
        }
        _ => Ok(()),
    }
}
