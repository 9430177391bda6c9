//! Forms for groups: creating, editing, moving a project in, and LDAP links.

use super::{check_path, visibility};
use crate::api::groups::{
    AddLdapLink, CreateGroup, DeleteGroup, DeleteLdapLink, DeleteLdapProviderLink, GetGroup, Group, LdapGroupLink,
    TransferProject, UpdateGroup,
};
use crate::api::input::{Input, InputKind};
use crate::api::{Endpoint, Id};
use crate::app::action::Action;
use crate::app::complete::Complete;
use crate::app::overlay::confirm::Confirm;
use crate::app::overlay::form::{Form, Widget};
use crate::app::overlay::picker::{Item, Picker};
use crate::app::place::Place;
use crate::app::view::View;
use crate::store::Write;
use crate::ui::text::sanitize;

/// Inputs with shorter labels and help texts.
const FIELD_TEXTS: &[(&str, &str, &str)] = &[
    ("name", "name", ""),
    ("path", "path", "The last part of the group's address."),
    ("lfs_enabled", "large files (LFS)", "For its projects."),
    ("request_access_enabled", "access by request", "Others can request access."),
    ("membership_lock", "lock membership", "yes: no members can be added to its projects."),
    ("share_with_group_lock", "prevent sharing", "yes: its projects cannot be shared with other groups."),
    ("shared_runners_minutes_limit", "runner minutes", "On shared runners, each month; for administrators."),
    ("parent_id", "parent group", ""),
];

fn settings<E: Endpoint>(title: String, what: String, key: String) -> Form {
    let form = Form::of::<E>(title, what, key)
        .first(&["name", "path", "parent_id", "visibility", "description"])
        .field("path", |field| _ = field.check(check_path))
        .field("description", |field| _ = field.widget(Widget::Long));
    let form = FIELD_TEXTS
        .iter()
        .fold(form, |form, (name, label, help)| form.field(name, |field| _ = field.label(label).help(help)));
    visibility(form)
}

/// Returns the form for a new group, in `parent` if it is given.
pub fn create(parent: Option<&str>) -> Form {
    settings::<CreateGroup>("New group".into(), "create the group".into(), "new group".into())
        .field("parent_id", |field| {
            field.widget(Widget::Named(Complete::Groups)).default("none: a top-level group");
            field.text(parent.unwrap_or_default());
        })
        .propose(
            |_, _| Vec::new(),
            |_, texts| {
                // The path follows the name until the user types one.
                let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
                let path: String = texts.get("name").chars().map(plain).collect();
                let parts: Vec<&str> = path.split('-').filter(|part| !part.is_empty()).collect();
                vec![("path", parts.join("-"))]
            },
        )
        .then(|created: &Group| Some(Action::GoToPlace(Place::new("groups").group(created.full_path.as_str()))))
}

/// Returns the form for the settings of a group.
pub fn edit(path: &str, view: &View) -> Form {
    let id = Id::from(path);
    settings::<UpdateGroup>(
        format!("Settings of {}", sanitize(path)),
        "change the group".into(),
        format!("group {path}"),
    )
    .fixed("id", &id)
    .of_current(view, GetGroup { id, with_custom_attributes: None }, |_| Vec::new())
}

/// Returns the form that moves a project into a group, for administrators.
pub fn transfer_project(path: &str) -> Form {
    let to = path.to_owned();
    Form::of::<TransferProject>(
        format!("Move a project into {}", sanitize(path)),
        "move the project",
        format!("transfer {path}"),
    )
    .fixed("id", path)
    .field("project_id", |field| {
        field.label("project").widget(Widget::Line(Complete::Projects));
        field.help("Its URL changes; update the remotes of clones.");
    })
    .then(move |_: &Group| Some(Action::GoToPlace(Place::new("groups").group(to.as_str()))))
}

/// Returns the action that asks for the path of a group before it is deleted.
pub fn delete(group: &Group) -> Action {
    let path = if group.full_path.is_empty() { group.path.clone() } else { group.full_path.clone() };
    let write = Write::new(&DeleteGroup { id: Id::from(group.id) }, format!("delete group {path}"));
    let question = format!(
        "Delete the group {} with the groups and projects in it, their repositories, issues, merge requests and jobs? This cannot be undone. Type the path of the group:",
        sanitize(&path)
    );
    let confirm = Confirm::new("Delete a group", question, Action::Send(write)).typing(path);
    Action::OpenOverlay(Box::new(confirm))
}

// ---- LDAP links

const LINK_LEVELS: &[&str] = &["10", "20", "30", "40", "50"];

/// Returns the form that links a group to an LDAP group, whose members become members here.
pub fn link(path: &str) -> Form {
    Form::of::<AddLdapLink>(
        format!("Add an LDAP link to {}", sanitize(path)),
        "add the link",
        format!("directory link {path}"),
    )
    .fixed("id", path)
    .first(&["cn", "provider", "group_access"])
    .field("cn", |field| _ = field.label("LDAP group").help("The common name (cn) of the LDAP group."))
    .field("provider", |field| {
        field.help("The LDAP provider, as named in the server's configuration.").text("ldapmain");
    })
    .field("group_access", |field| {
        field.label("level").widget(Widget::Choice(LINK_LEVELS)).text("30");
        field.help("10 guest, 20 reporter, 30 developer, 40 maintainer, 50 owner.");
    })
}

/// The inputs that identify a link that is not listed.
const UNLISTED: &[Input] = &[
    Input { name: "cn", kind: InputKind::Text, required: true, help: "The LDAP group." },
    Input { name: "provider", kind: InputKind::Text, required: false, help: "Empty: any provider." },
];

fn removal(path: &str, cn: &str, provider: &str) -> Action {
    let (id, cn) = (Id::from(path), cn.to_owned());
    let what = format!("remove the link to {cn}");
    let question =
        format!("Remove the link of {} to {}? Members added through it are removed.", sanitize(path), sanitize(&cn));
    let write = match provider {
        "" => Write::new(&DeleteLdapLink { id, cn }, what),
        provider => Write::new(&DeleteLdapProviderLink { id, provider: provider.to_owned(), cn }, what),
    };
    Action::OpenOverlay(Box::new(Confirm::new("Remove an LDAP link", question, Action::Send(write))))
}

/// Returns the action that asks for the link to remove, or a form for its name if the server lists none.
pub fn unlink(path: &str, links: &[LdapGroupLink]) -> Result<Action, Box<Form>> {
    if links.is_empty() {
        let path = path.to_owned();
        let title = format!("Remove an LDAP link of {}", sanitize(&path));
        let word = |inputs: &serde_json::Map<String, serde_json::Value>, name: &str| {
            inputs.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
        };
        let key = format!("directory link to remove {path}");
        let form = Form::acting(title, "remove the link", key, UNLISTED, move |inputs| {
            Ok(removal(&path, &word(&inputs, "cn"), &word(&inputs, "provider")))
        });
        return Err(Box::new(form));
    }
    let item = |link: &LdapGroupLink| {
        let cn = link.cn.clone().unwrap_or_default();
        let detail = format!("{} from {}", crate::domain::roles::role(link.group_access), sanitize(&link.provider));
        Item::act(cn.clone(), removal(path, &cn, &link.provider)).detail(detail)
    };
    let title = format!("Remove an LDAP link of {}", sanitize(path));
    Ok(Action::OpenOverlay(Box::new(Picker::new(title, links.iter().map(item).collect()))))
}
