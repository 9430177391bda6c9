//! Fields of replies: what is decoded is used.

use crate::source::files;
use std::collections::HashSet;

/// Fields that labscope decodes and nothing uses yet, each with its type. Others are not added: a field that nobody
/// uses can only make a reply harder to read.
const UNUSED: &[&str] = &[
    "ApprovalRule.eligible_approvers",
    "CommitSignature.gpg_key_user_email",
    "Label.description_html",
    "Runner.maximum_timeout",
];

/// Returns the fields that are declared in the `resource!` blocks of a file and decoded, as `Type.field`.
fn declared(text: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut name = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("    pub struct ") {
            name = rest.strip_suffix(" {");
        } else if line == "}" || line == "    served {" {
            name = None;
        } else if let (Some(name), Some((field, _))) =
            (name, line.strip_prefix("        ").and_then(|l| l.split_once(": ")))
            && field.strip_prefix("r#").unwrap_or(field).chars().all(|c| c.is_ascii_lowercase() || c == '_')
        {
            fields.push(format!("{name}.{}", field.strip_prefix("r#").unwrap_or(field)));
        }
    }
    fields
}

/// Returns all words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn decoded_fields_are_used() {
    let files = files();
    let mut used: HashSet<&str> = HashSet::new();
    for file in &files {
        if file.room() == "api" {
            // A declaration is no use, but access to a field is.
            used.extend(file.code.split('.').skip(1).filter_map(|rest| words(rest).next()));
        } else {
            used.extend(words(&file.code));
        }
    }
    let all = files.iter().filter(|file| file.room() == "api").flat_map(|file| declared(&file.code));
    let is_used = |field: &String| field.split_once('.').is_some_and(|(_, name)| used.contains(name));
    let mut unused: Vec<String> = all.filter(|field| !is_used(field)).collect();
    unused.sort();
    assert_eq!(unused, UNUSED, "fields that are decoded and never used");
}
