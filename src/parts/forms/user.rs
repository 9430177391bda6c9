//! Forms for administrators to create, edit and delete users.

use crate::api::Endpoint;
use crate::api::users::{CreateUser, DeleteUser, GetUser, Profile, UpdateUser};
use crate::app::action::Action;
use crate::app::overlay::confirm::Confirm;
use crate::app::overlay::form::{Form, Widget};
use crate::app::overlay::picker::{Item, Picker};
use crate::app::place::Place;
use crate::app::view::View;
use crate::store::Write;
use crate::ui::text::sanitize;

/// The fields that users fill in first.
const FIRST_FIELDS: &[&str] =
    &["username", "name", "email", "reset_password", "password", "skip_confirmation", "admin", "avatar"];

/// Inputs with shorter labels and help texts.
const FIELD_TEXTS: &[(&str, &str, &str)] = &[
    ("username", "username", "Also the path of the user's own projects."),
    ("email", "email", ""),
    ("skip_confirmation", "skip confirmation", "yes: the address need not be confirmed."),
    ("skip_reconfirmation", "skip confirmation", "yes: a new address need not be confirmed."),
    ("admin", "administrator", "yes: can see and change everything on this server."),
    ("external", "external", "yes: sees only the projects that the user is a member of, and public ones."),
    ("can_create_group", "can create groups", ""),
    ("projects_limit", "projects limit", "Limit of personal projects."),
    ("shared_runners_minutes_limit", "runner minutes", "On shared runners, each month; 0 means no limit."),
    ("provider", "provider", "Identity provider; needs the user's ID there."),
    ("extern_uid", "external UID", "The user's ID at the provider."),
    ("messenger_id", "Skype", "An account name. Current servers ignore it."),
    ("network_profile", "LinkedIn", "An account name."),
    ("microblog_account", "X/Mastodon", "An account name."),
    ("website_url", "website", ""),
    ("organization", "organization", ""),
    ("bio", "about", ""),
    ("avatar", "avatar", ""),
];

fn check_email(address: &str) -> Result<(), String> {
    let fits = address.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    if fits && !address.contains(char::is_whitespace) { Ok(()) } else { Err("is not an email address".into()) }
}

/// Returns a form with the fields that both forms have in common.
fn account<E: Endpoint>(title: String, what: String, key: String) -> Form {
    let form = Form::of::<E>(title, what, key)
        .first(FIRST_FIELDS)
        .field("username", |field| _ = field.check(super::check_path))
        .field("email", |field| _ = field.check(check_email))
        .field("password", |field| _ = field.widget(Widget::Secret));
    FIELD_TEXTS
        .iter()
        .fold(form, |form, (name, label, help)| form.field(name, |field| _ = field.label(label).help(help)))
}

/// Returns the form for a new user.
pub fn create() -> Form {
    account::<CreateUser>("New user".into(), "create the user".into(), "new user".into())
        .field("reset_password", |field| {
            field.label("email a link").text("yes");
            field.help("yes: the user sets the password through an emailed link; no: set it here.");
        })
        .field("admin", |field| _ = field.default("no"))
        .field("external", |field| _ = field.default("no"))
        .field("skip_confirmation", |field| _ = field.default("no"))
        .field("password", |field| _ = field.help("At least 8 characters; not needed if a link is emailed."))
        .then(|created: &Profile| Some(Action::GoToPlace(Place::new("user").item(created.username.as_str()))))
}

/// Returns the form that edits a user.
pub fn edit(user: &Profile, view: &View) -> Form {
    let name = &user.username;
    account::<UpdateUser>(format!("Edit @{}", sanitize(name)), format!("change @{name}"), format!("user {name}"))
        .fixed("id", user.id)
        .field("password", |field| {
            field.label("new password").help("At least 8 characters; the user must change it at the next sign-in.");
        })
        .of_current(view, GetUser { id: user.id, with_custom_attributes: None }, |user| {
            let yes = |flag: Option<bool>| flag.map_or("", |on| if on { "yes" } else { "no" });
            vec![("admin", yes(user.is_admin).to_owned()), ("provider", String::new()), ("extern_uid", String::new())]
        })
}

/// Returns the action that asks how a user is to be deleted, and then for the username.
pub fn delete(user: &Profile) -> Action {
    let name = user.username.clone();
    let ask = |hard: bool, question: String| {
        let write = DeleteUser { id: user.id, hard_delete: hard.then_some(true) };
        let write = Write::new(&write, format!("delete @{name}"));
        let confirm = Confirm::new("Delete a user", question, Action::Send(write)).typing(name.clone());
        Action::OpenOverlay(Box::new(confirm))
    };
    let shown_name = sanitize(&name);
    let soft = ask(
        false,
        format!(
            "Delete @{shown_name} with their own projects, keys and memberships? What they wrote elsewhere stays, as the ghost user. This cannot be undone. Type the username:"
        ),
    );
    let hard = ask(
        true,
        format!(
            "Delete @{shown_name} and everything they made: issues, merge requests, notes and snippets anywhere, their projects, and groups that nobody else owns? This cannot be undone. Type the username:"
        ),
    );
    let items = vec![
        Item::act("Delete the account", soft).detail("keeps what they wrote"),
        Item::act("Delete everything", hard).detail("including all of their contributions"),
    ];
    Action::OpenOverlay(Box::new(Picker::new(format!("Delete @{shown_name}"), items)))
}
