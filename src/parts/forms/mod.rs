//! Forms: the order of their fields, completion and defaults, and the place to go to after the server accepted the
//! input.

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
pub mod schedule;
pub mod snippet;
pub mod user;
pub mod variable;

use crate::api::projects::Visibility;
use crate::app::overlay::form::{Form, Widget};

/// Adds the visibility levels to a form, with their meaning.
fn visibility(form: Form) -> Form {
    form.field("visibility", |field| {
        field
            .widget(Widget::Choice(Visibility::KNOWN))
            .help("private: members only; internal: everyone signed in; public: everyone.");
    })
}

/// Checks the last part of a project or group path against the characters that servers accept.
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
