//! Forms for new branches, and for new tags with their message and release.

use crate::api::branches::CreateBranch;
use crate::api::issues::Issue;
use crate::api::releases::CreateRelease;
use crate::api::tags::{CreateTag, Tag};
use crate::api::{GitRef, Id};
use crate::app::action::Action;
use crate::app::complete::Complete;
use crate::app::overlay::form::{Field, Form, Widget};
use crate::app::overlay::markdown_input::TextContext;
use crate::parts::repository::ref_choices::invalid_reason;
use crate::store::Write;
use serde_json::Value;

/// Returns the form for a branch for an issue, named as servers name it.
pub fn branch_of_issue(id: &Id, from: &GitRef, issue: &Issue) -> Form {
    create_branch(id, from).field("branch", |field| _ = field.text(branch_name(issue)))
}

/// Returns the proposed name of the branch for an issue: `7-tables-forget-their-last-column`.
fn branch_name(issue: &Issue) -> String {
    let mut name = issue.iid.to_string();
    let words = issue.title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words {
        if name.len() + word.len() + 1 > MAX_NAME_BYTES {
            break;
        }
        name.push('-');
        name.push_str(&word.to_lowercase());
    }
    name
}

/// The maximum length of a proposed name, in bytes.
const MAX_NAME_BYTES: usize = 60;

/// Returns the form for a new branch that starts at `from`.
pub fn create_branch(id: &Id, from: &GitRef) -> Form {
    Form::of::<CreateBranch>(format!("New branch in {id}"), "create the branch", format!("new branch {id}"))
        .fixed("id", id)
        .field("branch", |field| _ = field.label("name").help("").check(check_name))
        .field("ref", |field| {
            ref_field(field.label("create from"), id, from);
        })
}

/// Makes a field one for a ref that proposes `offered`. It shows and takes short names; as long as the name stays the
/// proposed one, its kind is sent along.
pub fn ref_field(field: &mut Field, id: &Id, offered: &GitRef) {
    let proposed = offered.clone();
    field.widget(Widget::Line(Complete::Refs(id.clone()))).text(offered.short()).parsed(move |typed| {
        let name = if typed == proposed.short() { proposed.as_str() } else { typed };
        Ok(Value::from(name))
    });
}

/// Returns the key of the draft of a tag's release.
pub fn release_key(project: &Id, tag: &str) -> String {
    format!("release {project} {tag}")
}

/// Returns the form for a new tag of `at`.
pub fn create_tag(id: &Id, at: &GitRef) -> Form {
    Form::of::<CreateTag>(format!("New tag in {id}"), "create the tag", format!("new tag {id}"))
        .fixed("id", id)
        .first(&["tag_name", "ref", "message", "release_description"])
        .field("tag_name", |field| _ = field.label("name").help("").check(check_name))
        .field("ref", |field| {
            ref_field(field.label("create from"), id, at);
        })
        .field("message", |field| {
            field.widget(Widget::Long).help("Creates an annotated tag; empty creates a lightweight one.");
        })
        .field("release_description", |field| {
            field
                .label("release")
                .markdown(Some(TextContext::project(id)))
                .help("Markdown. If the server does not accept it here, it is sent after the tag is created.");
        })
        .also({
            let id = id.clone();
            move |tag: &Tag, typed| {
                let description = typed.get("release_description").to_owned();
                // Current servers create the tag without the release.
                if tag.release.is_some() || description.is_empty() {
                    return Vec::new();
                }
                let (key, what) = (release_key(&id, &tag.name), format!("release {}", tag.name));
                let write = CreateRelease {
                    id: id.clone(),
                    tag_name: tag.name.clone(),
                    description: Some(description.clone()),
                    ..CreateRelease::default()
                };
                let write = Write::new(&write, what);
                vec![Action::SaveText(key.clone(), Some(description)), Action::SendSaved(key, write)]
            }
        })
}

/// Checks the name of a ref by git's rules; an empty name is accepted because it is still being typed.
///
/// # Errors
/// Fails with the reason why git does not accept it.
pub fn check_name(name: &str) -> Result<(), String> {
    match invalid_reason(name).filter(|_| !name.is_empty()) {
        Some(why) => Err(why.to_owned()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_after_its_issue() {
        let name = |title: &str| branch_name(&Issue { iid: 7, title: title.into(), ..Issue::default() });
        assert_eq!(name("Tables: forget their *last* column!"), "7-tables-forget-their-last-column");
        assert_eq!(name("…"), "7");
        assert_eq!(name("Größe ändern"), "7-größe-ändern");
        let long = name(&"word ".repeat(50));
        assert!(long.len() <= MAX_NAME_BYTES && long.ends_with("word"), "{long}");
        assert!(check_name(&name("a..b ~^:? [x].lock")).is_ok());
    }
}
