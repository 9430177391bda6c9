//! Settings of projects and groups that are stored and shown, and change nothing else here.

use super::params::{self, Inputs};
use super::records::Settings;
use super::rejection::Rejection;
use api::input::InputReader;
use serde_json::Value;

/// The kind of the values of a setting.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Flag,
    Number,
    Text,
    Texts,
    OneOf(&'static [&'static str]),
}

use Kind::{Flag, Number, OneOf, Text, Texts};

/// The words for who may use a feature.
const ACCESS: Kind = OneOf(&["disabled", "private", "enabled"]);

/// The settings of a project (GitLab 19, `lib/api/helpers/projects_helpers.rb`).
pub const OF_PROJECT: &[(&str, Kind)] = &[
    ("allow_merge_on_skipped_pipeline", Flag),
    ("analytics_access_level", ACCESS),
    ("auto_cancel_pending_pipelines", OneOf(&["disabled", "enabled"])),
    ("auto_devops_deploy_strategy", OneOf(&["continuous", "manual", "timed_incremental"])),
    ("auto_devops_enabled", Flag),
    ("autoclose_referenced_issues", Flag),
    ("build_git_strategy", OneOf(&["fetch", "clone"])),
    ("build_timeout", Number),
    ("builds_access_level", ACCESS),
    ("ci_allow_fork_pipelines_to_run_in_parent_project", Flag),
    ("ci_default_git_depth", Number),
    ("ci_delete_pipelines_in_seconds", Number),
    ("ci_forward_deployment_enabled", Flag),
    ("ci_forward_deployment_rollback_allowed", Flag),
    ("ci_id_token_sub_claim_components", Texts),
    ("ci_pipeline_variables_minimum_override_role", OneOf(&["no_one_allowed", "developer", "maintainer", "owner"])),
    ("ci_push_repository_for_job_token_allowed", Flag),
    ("ci_separated_caches", Flag),
    ("container_registry_access_level", ACCESS),
    // The former name of the next one, with the opposite meaning.
    ("emails_disabled", Flag),
    ("emails_enabled", Flag),
    ("enforce_auth_checks_on_uploads", Flag),
    ("environments_access_level", ACCESS),
    ("external_authorization_classification_label", Text),
    ("feature_flags_access_level", ACCESS),
    ("forking_access_level", ACCESS),
    ("group_runners_enabled", Flag),
    ("infrastructure_access_level", ACCESS),
    ("issue_branch_template", Text),
    ("issues_access_level", ACCESS),
    ("keep_latest_artifact", Flag),
    ("merge_commit_template", Text),
    ("merge_requests_access_level", ACCESS),
    ("model_experiments_access_level", ACCESS),
    ("model_registry_access_level", ACCESS),
    ("monitor_access_level", ACCESS),
    ("mr_default_target_self", Flag),
    ("packages_enabled", Flag),
    ("pages_access_level", OneOf(&["disabled", "private", "enabled", "public"])),
    ("releases_access_level", ACCESS),
    ("remove_source_branch_after_merge", Flag),
    ("repository_access_level", ACCESS),
    ("restrict_user_defined_variables", Flag),
    ("security_and_compliance_access_level", ACCESS),
    ("service_desk_enabled", Flag),
    ("snippets_access_level", ACCESS),
    ("squash_commit_template", Text),
    ("squash_option", OneOf(&["never", "always", "default_on", "default_off"])),
    ("suggestion_commit_message", Text),
    ("warn_about_potentially_unwanted_characters", Flag),
    ("wiki_access_level", ACCESS),
];

/// The settings of a group (GitLab 19, `lib/api/helpers/groups_helpers.rb`).
pub const OF_GROUP: &[(&str, Kind)] = &[
    ("auto_devops_enabled", Flag),
    ("default_branch", Text),
    ("default_branch_protection", Number),
    // The former name of the next one, with the opposite meaning.
    ("emails_disabled", Flag),
    ("emails_enabled", Flag),
    ("mentions_disabled", Flag),
    ("project_creation_level", OneOf(&["noone", "owner", "maintainer", "developer", "administrator"])),
    ("require_two_factor_authentication", Flag),
    (
        "shared_runners_setting",
        OneOf(&["disabled_and_unoverridable", "disabled_and_overridable", "disabled_with_override", "enabled"]),
    ),
    ("subgroup_creation_level", OneOf(&["owner", "maintainer"])),
    ("two_factor_grace_period", Number),
];

/// Returns the settings that a request gives; null resets a number or a text.
///
/// # Errors
/// Fails with 400 if a value is not of the kind of its setting.
pub fn given(given: &Inputs, known: &[(&str, Kind)]) -> Result<Settings, Rejection> {
    let read = |inputs: &mut InputReader, (name, kind): &(&str, Kind)| {
        let is_reset = matches!(kind, Number | Text) && given.get(*name).is_some_and(Value::is_null);
        let value = match kind {
            Flag => inputs.take::<Option<bool>>(name).map(Value::from),
            Number => inputs.take::<Option<u64>>(name).map(Value::from),
            Text | OneOf(_) => inputs.take::<Option<String>>(name).map(Value::from),
            Texts => inputs.take::<Option<Vec<String>>>(name).map(Value::from),
        };
        Some(((*name).to_owned(), value.or(is_reset.then_some(Value::Null))?))
    };
    let read = |inputs: &mut InputReader| known.iter().filter_map(|setting| read(inputs, setting)).collect();
    let mut out: Settings = params::read_with(given, read)?;
    for (name, kind) in known {
        if let (OneOf(words), Some(word)) = (kind, out.get(*name).and_then(Value::as_str))
            && !words.contains(&word)
        {
            return Err(Rejection::no_valid_value(name));
        }
    }
    if let Some(Value::Bool(disabled)) = out.remove("emails_disabled") {
        out.insert("emails_enabled".into(), (!disabled).into());
    }
    Ok(out)
}

/// Stored settings, with the usual values of those that were not set.
pub struct Shown<'s>(pub &'s Settings);

impl Shown<'_> {
    pub fn flag(&self, name: &str, usual: bool) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(usual)
    }

    pub fn number(&self, name: &str, usual: Option<u64>) -> Option<u64> {
        self.0.get(name).map_or(usual, Value::as_u64)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).map(str::to_owned)
    }

    pub fn word(&self, name: &str, usual: &str) -> String {
        self.text(name).unwrap_or_else(|| usual.to_owned())
    }

    pub fn texts(&self, name: &str, usual: &[&str]) -> Vec<String> {
        let stored = self.0.get(name).and_then(Value::as_array);
        match stored {
            Some(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => usual.iter().map(|text| (*text).to_owned()).collect(),
        }
    }
}
