//! Forms for creating and editing rules that protect branches.

use crate::api::Id;
use crate::api::protected_branches::{BranchAccess, CreateProtectionRule, ProtectionRule, UpdateProtectionRule};
use crate::app::action::Action;
use crate::app::complete::Complete;
use crate::app::overlay::form::{Form, Widget};
use crate::app::tone::Tone;
use crate::ui::text::sanitize;
use serde_json::{Value, json};

/// The choices of who may push or merge, as on the web page, with their access levels.
const LEVELS: &[(&str, u64)] = &[("Maintainers", 40), ("Developers + Maintainers", 30), ("No one", 0)];
const LEVEL_NAMES: &[&str] = &["Maintainers", "Developers + Maintainers", "No one"];

fn level(words: &str) -> Result<Value, String> {
    let found = LEVELS.iter().find(|(known, _)| *known == words);
    found.map(|(_, level)| json!(level)).ok_or_else(|| format!("must be one of {}", LEVEL_NAMES.join(", ")))
}

fn words(level: u64) -> Option<&'static str> {
    LEVELS.iter().find(|(_, known)| *known == level).map(|(words, _)| *words)
}

/// Returns the names of those who are allowed.
pub fn allowed(levels: &[BranchAccess]) -> String {
    let one = |access: &BranchAccess| match (access.access_level_description.as_str(), access.access_level) {
        ("", Some(level)) => words(level).map_or_else(|| format!("level {level}"), str::to_owned),
        ("", None) => "somebody".to_owned(),
        (description, _) => description.to_owned(),
    };
    let all: Vec<String> = levels.iter().map(one).collect();
    if all.is_empty() { "No one".to_owned() } else { all.join(", ") }
}

/// Returns the single role that is allowed, and the ID of its access entry; `None` if it is not a single role.
fn role(levels: &[BranchAccess]) -> Option<(&'static str, Option<u64>)> {
    match levels {
        [] => Some(("No one", None)),
        [access] if access.user_id.is_none() && access.group_id.is_none() && access.deploy_key_id.is_none() => {
            Some((words(access.access_level?)?, Some(access.id?)))
        }
        _ => None,
    }
}

/// Returns the form for a new rule.
pub fn create(id: &Id) -> Form {
    let (title, key) = (format!("Protect branches of {id}"), format!("protect branches of {id}"));
    Form::of::<CreateProtectionRule>(title, "protect the branches", key)
        .fixed("id", id)
        .first(&["name", "push_access_level", "merge_access_level", "allow_force_push"])
        .field("name", |field| {
            field.label("branch or pattern").widget(Widget::Line(Complete::Branches(id.clone())));
            field.help("release/* matches every branch with that prefix.");
        })
        .field("push_access_level", |field| {
            field.label("allowed to push").widget(Widget::Choice(LEVEL_NAMES)).parsed(level).text("Maintainers");
        })
        .field("merge_access_level", |field| {
            field.label("allowed to merge").widget(Widget::Choice(LEVEL_NAMES)).parsed(level).text("Maintainers");
        })
        .field("allow_force_push", |field| _ = field.label("force push").default("no"))
}

/// Returns the form that edits a rule. A single role can be changed; several roles, users, groups and keys are only
/// shown.
pub fn edit(id: &Id, rule: &ProtectionRule) -> Form {
    let name = sanitize(&rule.name);
    let (title, what) = (format!("Edit rule {name} of {id}"), format!("change the rule {name}"));
    let force = if rule.allow_force_push == Some(true) { "yes" } else { "no" };
    let mut form = Form::of::<UpdateProtectionRule>(title, what, format!("rule {id} {name}"))
        .fixed("id", id)
        .fixed("name", &rule.name)
        .field("allow_force_push", |field| {
            field.label("force push").required(true).before(force);
            field.help("Editing a rule needs GitLab 15.6 or later.");
        });
    let mut before = Vec::new();
    for (input, label, levels) in [
        ("allowed_to_push", "allowed to push", &rule.push_access_levels),
        ("allowed_to_merge", "allowed to merge", &rule.merge_access_levels),
    ] {
        form = match role(levels) {
            Some((words, access)) => {
                before.push((input, label, words));
                form.field(input, |field| {
                    field.label(label).widget(Widget::Choice(LEVEL_NAMES)).required(true).before(words);
                    field.help("Changing this needs a Premium license on the server.");
                    field.parsed(move |words| Ok(json!([{ "id": access, "access_level": level(words)? }])));
                })
            }
            None => form.without(&[input]).fact(label, allowed(levels)),
        };
    }
    form.also(move |rule: &ProtectionRule, typed| {
        let now = |input| match input {
            "allowed_to_push" => role(&rule.push_access_levels),
            _ => role(&rule.merge_access_levels),
        };
        // Servers without the license report success without changing anything.
        let ignored = before
            .iter()
            .filter(|(input, _, words)| typed.get(input) != *words && now(input).is_some_and(|(now, _)| now == *words));
        let labels: Vec<&str> = ignored.map(|(_, label, _)| *label).collect();
        let why = format!("Not changed: {}. This server needs a Premium license for that.", labels.join(" and "));
        if labels.is_empty() { Vec::new() } else { vec![Action::Say(Tone::Warning, why)] }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_level() {
        assert!(LEVEL_NAMES.iter().all(|words| level(words).is_ok()) && LEVEL_NAMES.len() == LEVELS.len());
    }
}
