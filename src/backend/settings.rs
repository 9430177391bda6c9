//! Settings of projects and groups that are stored and shown, and change nothing else here.

use super::params::{self, Inputs};
use super::records::Settings;
use super::rejection::Rejection;
use api::input::InputReader;
use serde_json::{Map, Value};

/// A kind of values, with the one that a setting has before it is set.
#[derive(Clone, Copy, Debug)]
pub enum SettingKind {
    Flag(bool),
    /// A flag that is null before it is set.
    OptionalFlag,
    Number(Option<u64>),
    Text(Option<&'static str>),
    Texts(&'static [&'static str]),
    OneOf(&'static str, &'static [&'static str]),
}

use SettingKind::{Flag, Number, OneOf, OptionalFlag, Text, Texts};

/// The people who see a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Readers {
    All,
    Maintainers,
}

use Readers::{All, Maintainers};

/// A setting: its name, the values that it takes, and who sees it.
pub type Setting = (&'static str, SettingKind, Readers);

/// The words for who may use a feature.
const ACCESS: &[&str] = &["disabled", "private", "enabled"];
/// A feature that its users may use.
const ON: SettingKind = OneOf("enabled", ACCESS);
/// A feature that nobody may use.
const OFF: SettingKind = OneOf("disabled", ACCESS);

/// The settings of a project (GitLab 19, `lib/api/helpers/projects_helpers.rb`).
pub const OF_PROJECT: &[Setting] = &[
    ("allow_merge_on_skipped_pipeline", Flag(false), All),
    ("analytics_access_level", ON, All),
    ("auto_cancel_pending_pipelines", OneOf("enabled", &["disabled", "enabled"]), Maintainers),
    ("auto_devops_deploy_strategy", OneOf("continuous", &["continuous", "manual", "timed_incremental"]), Maintainers),
    ("auto_devops_enabled", Flag(false), Maintainers),
    ("autoclose_referenced_issues", Flag(true), All),
    ("build_git_strategy", OneOf("fetch", &["fetch", "clone"]), Maintainers),
    ("build_timeout", Number(Some(3_600)), Maintainers),
    ("builds_access_level", ON, All),
    ("ci_allow_fork_pipelines_to_run_in_parent_project", Flag(true), Maintainers),
    ("ci_default_git_depth", Number(Some(20)), Maintainers),
    ("ci_delete_pipelines_in_seconds", Number(None), Maintainers),
    ("ci_forward_deployment_enabled", Flag(true), Maintainers),
    ("ci_forward_deployment_rollback_allowed", Flag(true), Maintainers),
    ("ci_id_token_sub_claim_components", Texts(&["project_path", "ref_type", "ref"]), Maintainers),
    (
        "ci_pipeline_variables_minimum_override_role",
        OneOf("developer", &["no_one_allowed", "developer", "maintainer", "owner"]),
        Maintainers,
    ),
    ("ci_push_repository_for_job_token_allowed", Flag(false), Maintainers),
    ("ci_separated_caches", Flag(true), Maintainers),
    ("container_registry_access_level", ON, All),
    // The former name of the next one, with the opposite meaning.
    ("emails_disabled", Flag(false), All),
    ("emails_enabled", Flag(true), All),
    ("enforce_auth_checks_on_uploads", Flag(true), All),
    ("environments_access_level", ON, All),
    ("external_authorization_classification_label", Text(Some("")), All),
    ("feature_flags_access_level", OFF, All),
    ("forking_access_level", ON, All),
    ("group_runners_enabled", Flag(true), Maintainers),
    ("infrastructure_access_level", OFF, All),
    ("issue_branch_template", Text(None), All),
    ("issues_access_level", ON, All),
    ("keep_latest_artifact", Flag(true), Maintainers),
    ("merge_commit_template", Text(None), All),
    ("merge_requests_access_level", ON, All),
    ("model_experiments_access_level", OFF, All),
    ("model_registry_access_level", OFF, All),
    ("monitor_access_level", OFF, All),
    ("mr_default_target_self", Flag(false), All),
    ("packages_enabled", Flag(false), All),
    ("pages_access_level", OneOf("disabled", &["disabled", "private", "enabled", "public"]), All),
    ("releases_access_level", ON, All),
    ("remove_source_branch_after_merge", Flag(false), All),
    ("repository_access_level", ON, All),
    ("restrict_user_defined_variables", Flag(false), Maintainers),
    ("security_and_compliance_access_level", OFF, All),
    ("service_desk_enabled", Flag(false), All),
    ("snippets_access_level", ON, All),
    ("squash_commit_template", Text(None), All),
    ("squash_option", OneOf("default_off", &["never", "always", "default_on", "default_off"]), All),
    ("suggestion_commit_message", Text(None), All),
    ("warn_about_potentially_unwanted_characters", Flag(true), All),
    ("wiki_access_level", ON, All),
];

/// The settings of a group (GitLab 19, `lib/api/helpers/groups_helpers.rb`).
pub const OF_GROUP: &[Setting] = &[
    ("auto_devops_enabled", OptionalFlag, All),
    ("default_branch", Text(None), All),
    ("default_branch_protection", Number(Some(2)), All),
    // The former name of the next one, with the opposite meaning.
    ("emails_disabled", Flag(false), All),
    ("emails_enabled", Flag(true), All),
    ("mentions_disabled", OptionalFlag, All),
    (
        "project_creation_level",
        OneOf("developer", &["noone", "owner", "maintainer", "developer", "administrator"]),
        All,
    ),
    ("require_two_factor_authentication", Flag(false), All),
    (
        "shared_runners_setting",
        OneOf(
            "enabled",
            &["disabled_and_unoverridable", "disabled_and_overridable", "disabled_with_override", "enabled"],
        ),
        All,
    ),
    ("subgroup_creation_level", OneOf("maintainer", &["owner", "maintainer"]), All),
    ("two_factor_grace_period", Number(Some(48)), All),
];

/// Returns the settings that a request gives; null resets a number or a text.
///
/// # Errors
/// Fails with 400 if a value is not of the kind of its setting.
pub fn given(given: &Inputs, known: &[Setting]) -> Result<Settings, Rejection> {
    let read = |inputs: &mut InputReader, (name, kind, _): &Setting| {
        let is_reset = matches!(kind, Number(_) | Text(_)) && given.get(*name).is_some_and(Value::is_null);
        let value = match kind {
            Flag(_) | OptionalFlag => inputs.take::<Option<bool>>(name).map(Value::from),
            Number(_) => inputs.take::<Option<u64>>(name).map(Value::from),
            Text(_) | OneOf(..) => inputs.take::<Option<String>>(name).map(Value::from),
            Texts(_) => inputs.take::<Option<Vec<String>>>(name).map(Value::from),
        };
        Some(((*name).to_owned(), value.or(is_reset.then_some(Value::Null))?))
    };
    let read = |inputs: &mut InputReader| known.iter().filter_map(|setting| read(inputs, setting)).collect();
    let mut out: Settings = params::read_with(given, read)?;
    for (name, kind, _) in known {
        if let (OneOf(_, words), Some(word)) = (kind, out.get(*name).and_then(Value::as_str))
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

/// Returns the settings that are shown, with the usual values of those that were not set. Maintainers see all of them.
pub fn shown(set: &Settings, known: &[Setting], is_maintainer: bool) -> Map<String, Value> {
    let usual = |kind: &SettingKind| match kind {
        Flag(usual) => (*usual).into(),
        OptionalFlag => Value::Null,
        Number(usual) => (*usual).into(),
        Text(usual) => (*usual).into(),
        Texts(usual) => (*usual).into(),
        OneOf(usual, _) => (*usual).into(),
    };
    let seen = known.iter().filter(|(_, _, readers)| is_maintainer || *readers == All);
    let value = |name: &str, kind: &SettingKind| set.get(name).cloned().unwrap_or_else(|| usual(kind));
    let mut out: Map<String, Value> = seen.map(|(name, kind, _)| ((*name).to_owned(), value(name, kind))).collect();
    let emails = out.get("emails_enabled").and_then(Value::as_bool).unwrap_or(true);
    out.insert("emails_disabled".into(), (!emails).into());
    out
}
