//! A new rule that protects branches.

use crate::api::Id;
use crate::api::protected_branches::{CreateProtectionRule, ProtectionRule};
use crate::app::action::Action;
use crate::app::complete::Complete;
use crate::app::overlay::form::{Form, Widget};
use serde_json::{Value, json};

/// The name of the rule that was made, as the pane hears it.
pub struct NewRule(pub String);

/// Who may push or merge, as the web page says it, and the level that stands for it.
const LEVELS: &[(&str, u64)] = &[("Maintainers", 40), ("Developers + Maintainers", 30), ("No one", 0)];
const WORDS: &[&str] = &["Maintainers", "Developers + Maintainers", "No one"];

fn level(words: &str) -> Result<Value, String> {
    let found = LEVELS.iter().find(|(known, _)| *known == words);
    found.map(|(_, level)| json!(level)).ok_or_else(|| format!("must be one of {}", WORDS.join(", ")))
}

/// A new rule.
pub fn create(id: &Id) -> Form {
    let (title, key) = (format!("Protect branches of {id}"), format!("protect branches of {id}"));
    Form::of::<CreateProtectionRule>(title, "protect the branches", key)
        .fixed("id", id)
        .first(&["name", "push_access_level", "merge_access_level", "allow_force_push"])
        .field("name", |field| {
            field.label("branch or pattern").widget(Widget::Line(Complete::Branches(id.clone())));
            field.help("release/* covers every branch that begins so.");
        })
        .field("push_access_level", |field| {
            field.label("who may push").widget(Widget::Choice(WORDS)).parsed(level).text("Maintainers");
        })
        .field("merge_access_level", |field| {
            field.label("who may merge").widget(Widget::Choice(WORDS)).parsed(level).text("Maintainers");
        })
        .field("allow_force_push", |field| _ = field.label("force push").default("no"))
        .then(|answer| Some(Action::answer(NewRule(answer.downcast_ref::<ProtectionRule>()?.name.clone()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_for_a_level() {
        assert!(WORDS.iter().all(|words| level(words).is_ok()) && WORDS.len() == LEVELS.len());
    }
}
