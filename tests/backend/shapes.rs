//! The fields of every reply, per view: exactly those that the specification lists, or those of servers of today, and of
//! the right types.
//!
//! A shape is a list of names. A plain name is a string, `name#` an integer, `name~` a number, `name!` a boolean,
//! `name@` a timestamp with an offset, `name%` a date; `name{…}` is an object with those fields, `name{}` one with
//! integers under any names. `[]` after a name makes it an array, `?` allows null, and `^` allows the field to be
//! absent, but not to be null unless combined with `?`. If a name occurs twice, the second one counts. The fields after a
//! `+` are sent by servers of today, and left out if only the specification is served.

use crate::{Server, json};
use labscope::backend::{Clock, Modes, Options, Version, WorldKind};
use reqwest::Method;
use serde_json::{Value, json as value};
use std::collections::{BTreeMap, BTreeSet};

const BRIEF: &str = "id# name username state avatar_url? web_url + locked! public_email?";
const SINGLE: &str = "BRIEF created_at@ bio? location? messenger_id network_profile microblog_account website_url
    organization + job_title? pronouns? bot! followers# following# local_time? work_information? linkedin twitter";
const OWN: &str = "SINGLE email last_sign_in_at@? confirmed_at@ theme_id# last_activity_on% color_scheme_id#
    projects_limit# current_sign_in_at@? identities[]{provider extern_uid} can_create_group! can_create_project!
    two_factor_enabled! external! + private_profile! commit_email preferred_language namespace_id#";
const ADMIN: &str = "OWN is_admin! + note? created_by{BRIEF}?";
const AUTHOR: &str = "BRIEF email created_at@";
const SSH_KEY: &str = "id# title key created_at@ + expires_at@? last_used_at@? usage_type";
const GPG_KEY: &str = "id# key created_at@";
const RUNNER: &str = "id# description name? active! is_shared! online! status + paused! runner_type ip_address";
const RUNNER_DETAIL: &str = "RUNNER architecture? contacted_at@ platform?
    projects[]{id# name name_with_namespace path path_with_namespace} token revision? tag_list[] version? access_level
    run_untagged! locked!";
const PIPELINE: &str = "id# ref sha status + iid# project_id# source created_at@ updated_at@ web_url";
const PIPELINE_DETAIL: &str = "PIPELINE + before_sha tag! yaml_errors? user{BRIEF}? started_at@? finished_at@?
    committed_at@? duration#? queued_duration#? coverage? name? archived! detailed_status{icon text label group tooltip
    has_details! details_path illustration? favicon}";
const JOB: &str = "id# name stage status ref tag! coverage~? created_at@ started_at@? finished_at@? duration~?
    artifacts_file{filename size#}?^ runner{RUNNER}? user{SINGLE}?
    commit{author_email author_name created_at@ id message short_id title + COMMIT} pipeline{PIPELINE} +
    web_url allow_failure! failure_reason^ queued_duration#? erased_at@? artifacts[]{file_type size# filename
    file_format?} artifacts_expire_at@? tag_list[] archived! project{ci_job_token_scope_enabled!}
    runner_manager{RUNNER_MANAGER}?";
const RUNNER_MANAGER: &str = "id# system_id version? revision? platform? architecture? created_at@ contacted_at@?
    ip_address status job_execution_status";
const COMMIT: &str = "id short_id title message author_name author_email committer_name committer_email authored_date@
    committed_date@ created_at@ parent_ids[] + web_url trailers{} extended_trailers{}";
const SHORT_COMMIT: &str = "id short_id title author_name author_email created_at@ + COMMIT";
const DIFF: &str = "diff old_path new_path a_mode? b_mode new_file! renamed_file! deleted_file! + collapsed! too_large!
    generated_file!";
const STATUS: &str = "id# sha ref? status name target_url? description? coverage~? allow_failure! created_at@
    started_at@? finished_at@? author{BRIEF} + pipeline_id#";
const NOTE: &str = "id# body attachment? author{AUTHOR} created_at@ updated_at@ system! noteable_id# noteable_type
    noteable_iid# type^ resolvable!^ resolved!^ resolved_by{BRIEF}^ resolved_at@^ position{POSITION}^
    suggestions[]{SUGGESTION}^ + type? resolvable! resolved_by{BRIEF}?^ resolved_at@?^ project_id#? confidential! internal!
    imported! imported_from commands_changes{}";
const POSITION: &str = "base_sha start_sha head_sha position_type old_path new_path old_line#? new_line#?
    line_range{start{line_code type?} end{line_code type?}}^";
const SUGGESTION: &str = "id# from_line# to_line# appliable! applied! from_content to_content";
const DISCUSSION: &str = "id individual_note! resolvable! resolved! notes[]{NOTE resolvable!}";
const DRAFT_NOTE: &str =
    "id# author_id# merge_request_id# resolve_discussion! discussion_id? note commit_id? line_code?
    position{base_sha? start_sha? head_sha? position_type? old_path? new_path? old_line#? new_line#?}";
const VERSION: &str = "id# head_commit_sha base_commit_sha start_commit_sha created_at@ merge_request_id# state real_size + patch_id_sha?";
const NOTE_OBJECT: &str = "id# title file_name author{AUTHOR} expires_at@? updated_at@ created_at@";
const NAMESPACE: &str = "id# name path kind full_path + parent_id#? web_url avatar_url?";
const GROUP: &str = "id# name path description visibility lfs_enabled! avatar_url? web_url request_access_enabled!
    full_name full_path parent_id#? + archived! created_at@ ldap_cn? marked_for_deletion_on? share_with_group_lock!
    require_two_factor_authentication! two_factor_grace_period# project_creation_level subgroup_creation_level
    auto_devops_enabled!? emails_disabled! emails_enabled! mentions_disabled!? default_branch? default_branch_protection#
    shared_runners_setting organization_id#";
const GROUP_DETAIL: &str = "GROUP shared_runners_minutes_limit#? projects[]{PROJECT} shared_projects[]{PROJECT} +
    membership_lock! shared_with_groups[]{}";
const PROJECT: &str = "id# description? default_branch?^ visibility ssh_url_to_repo http_url_to_repo web_url tag_list[]
    owner{id# name created_at@^ + BRIEF}^ forked_from_project{FOUND_PROJECT}^
    name name_with_namespace path path_with_namespace issues_enabled!
    merge_requests_enabled! jobs_enabled! wiki_enabled! snippets_enabled! resolve_outdated_diff_discussions!
    container_registry_enabled! archived! shared_runners_enabled! public_jobs! only_allow_merge_if_pipeline_succeeds!
    only_allow_merge_if_all_discussions_are_resolved! printing_merge_requests_link_enabled! request_access_enabled!
    open_issues_count#^ creator_id# forks_count#^ star_count# approvals_before_merge# created_at@ last_activity_at@
    namespace{NAMESPACE} import_status import_error?^
    permissions{project_access{access_level# notification_level#}? group_access{access_level# notification_level#}?}^
    avatar_url? runners_token^ shared_with_groups[]{group_id# group_name group_access_level# + group_full_path expires_at%?} repository_storage^
    _links{self issues^ merge_requests^ repo_branches labels events members + cluster_agents} + ADDED";
const ADDED: &str =
    "topics[] readme_url?^ empty_repo! lfs_enabled! updated_at@ ci_config_path?^ merge_method squash_option
    can_create_merge_request_in! remove_source_branch_after_merge! allow_merge_on_skipped_pipeline!
    autoclose_referenced_issues! suggestion_commit_message? merge_commit_template? squash_commit_template?
    issue_branch_template? packages_enabled! emails_disabled! emails_enabled! service_desk_enabled!
    service_desk_address?^ printing_merge_request_link_enabled! enforce_auth_checks_on_uploads!
    warn_about_potentially_unwanted_characters! mr_default_target_self!^ external_authorization_classification_label
    repository_object_format marked_for_deletion_at? marked_for_deletion_on? issues_access_level repository_access_level
    merge_requests_access_level forking_access_level wiki_access_level builds_access_level snippets_access_level
    pages_access_level analytics_access_level container_registry_access_level security_and_compliance_access_level
    releases_access_level environments_access_level feature_flags_access_level infrastructure_access_level
    monitor_access_level model_experiments_access_level model_registry_access_level SETTINGS";
/// The fields of a project for its maintainers alone.
const SETTINGS: &str = "import_url?^ import_type?^ ci_default_git_depth#^ ci_delete_pipelines_in_seconds#?^
    ci_forward_deployment_enabled!^ ci_forward_deployment_rollback_allowed!^ ci_id_token_sub_claim_components[]^
    ci_job_token_scope_enabled!^ ci_separated_caches!^ ci_allow_fork_pipelines_to_run_in_parent_project!^
    ci_pipeline_variables_minimum_override_role^ ci_push_repository_for_job_token_allowed!^
    group_runners_enabled!^ build_git_strategy^ build_timeout#^ auto_cancel_pending_pipelines^
    auto_devops_enabled!^ auto_devops_deploy_strategy^ keep_latest_artifact!^ restrict_user_defined_variables!^
    runner_token_expiration_interval#?^";
const STATISTICS: &str = "statistics{commit_count# storage_size# repository_size# lfs_objects_size#
    job_artifacts_size#}";
const FOUND_PROJECT: &str = "id# description? name name_with_namespace path path_with_namespace created_at@
    default_branch?^ tag_list[] ssh_url_to_repo http_url_to_repo web_url avatar_url? star_count# forks_count#^
    last_activity_at@ + topics[] readme_url?^ visibility namespace{NAMESPACE} repository_storage^";
const SIMPLE_PROJECT: &str = "id# name path web_url + FOUND_PROJECT";
const TIME_STATS: &str = "time_estimate# total_time_spent# human_time_estimate? human_total_time_spent?";
const MILESTONE: &str = "id# iid# project_id# title description state created_at@ updated_at@ due_date%? start_date%? +
    expired! web_url";
const ISSUE: &str = "id# iid# project_id# title description state created_at@ updated_at@ closed_at@? labels[]
    milestone{MILESTONE}? assignees[]{BRIEF} assignee{BRIEF}? author{BRIEF} user_notes_count# upvotes# downvotes#
    due_date%? confidential! discussion_locked!? web_url time_stats{TIME_STATS} + closed_by{BRIEF}? issue_type
    references{REFERENCES} task_completion_status{TASKS} type severity start_date%? merge_requests_count# has_tasks!
    task_status^ moved_to_id#? imported! imported_from service_desk_reply_to? _links{self notes award_emoji project
    closed_as_duplicate_of?}";
const REFERENCES: &str = "short relative full";
const TASKS: &str = "count# completed_count#";
const REQUEST: &str = "id# iid# project_id# source_project_id# target_project_id# title description state created_at@
    updated_at@ target_branch source_branch upvotes# downvotes# author{BRIEF} assignee{BRIEF}? labels[]
    work_in_progress! milestone{MILESTONE}? merge_when_pipeline_succeeds! merge_status sha merge_commit_sha?
    user_notes_count# changes_count^ should_remove_source_branch!? force_remove_source_branch! squash! web_url
    discussion_locked!? time_stats{TIME_STATS} approvals_before_merge#? subscribed!^ allow_maintainer_to_push!^ +
    detailed_merge_status has_conflicts! blocking_discussions_resolved! assignees[]{BRIEF} reviewers[]{BRIEF} draft!
    merge_user{BRIEF}? merge_after@? squash_commit_sha? squash_on_merge! prepared_at@ reference references{REFERENCES}
    task_completion_status{TASKS} imported! imported_from allow_collaboration!^ merged_by{BRIEF}? merged_at@?
    closed_by{BRIEF}? closed_at@?";
const REQUEST_SINGLE: &str = "REQUEST changes_count subscribed! closed_at@? latest_build_started_at@? latest_build_finished_at@?
    first_deployed_to_production_at@? pipeline{PIPELINE}? merged_by{BRIEF}? merged_at@? closed_by{BRIEF}? + user{can_merge!}
    merge_error? diff_refs{base_sha head_sha start_sha} head_pipeline{PIPELINE_DETAIL}? first_contribution!";
const APPROVALS: &str = "user_has_approved! user_can_approve! approved! approved_by[]{user{BRIEF} approved_at@}
    approvals_required# approvals_left#";
const TAG: &str = "name message? commit{COMMIT} release{tag_name description}? + target protected! created_at@?";
const BRANCH: &str = "name merged! protected! developers_can_push! developers_can_merge!
    commit{author_email author_name authored_date@ committed_date@ committer_email committer_name id short_id title
    message parent_ids[] + COMMIT} + default! can_push! web_url";
const DEPLOYMENT: &str =
    "id# iid# ref sha created_at@ user{BRIEF} environment{id# name external_url + slug} deployable{JOB}
    + status updated_at@";
const HOOK: &str = "id# url created_at@ push_events! tag_push_events! merge_requests_events! enable_ssl_verification! +
    name? description? alert_status disabled_until@? repository_update_events! push_events_branch_filter?
    branch_filter_strategy url_variables[] custom_headers[]";
const SNIPPET: &str =
    "id# title file_name description author{AUTHOR} updated_at@ created_at@ web_url + visibility raw_url
    files[]{path raw_url} imported! imported_from";
const LICENSE: &str = "starts_at% expires_at% licensee{Name Company Email} user_limit# active_users# add_ons{}";
const BLOB_HIT: &str = "basename data filename id? ref startline# project_id#";
const COMPARISON: &str = "commit{SHORT_COMMIT} commits[]{SHORT_COMMIT} diffs[]{DIFF} compare_timeout!
    compare_same_ref! + web_url";

/// The shapes by name; a shape can contain others.
const NAMED: &[(&str, &str)] = &[
    ("BRIEF", BRIEF),
    ("SINGLE", SINGLE),
    ("OWN", OWN),
    ("ADMIN", ADMIN),
    ("NAMESPACE", NAMESPACE),
    ("ADDED", ADDED),
    ("SETTINGS", SETTINGS),
    ("AUTHOR", AUTHOR),
    ("SSH_KEY", SSH_KEY),
    ("GPG_KEY", GPG_KEY),
    ("RUNNER", RUNNER),
    ("RUNNER_DETAIL", RUNNER_DETAIL),
    ("PIPELINE", PIPELINE),
    ("PIPELINE_DETAIL", PIPELINE_DETAIL),
    ("JOB", JOB),
    ("RUNNER_MANAGER", RUNNER_MANAGER),
    ("COMMIT", COMMIT),
    ("SHORT_COMMIT", SHORT_COMMIT),
    ("DIFF", DIFF),
    ("STATUS", STATUS),
    ("NOTE", NOTE),
    ("POSITION", POSITION),
    ("SUGGESTION", SUGGESTION),
    ("DISCUSSION", DISCUSSION),
    ("DRAFT_NOTE", DRAFT_NOTE),
    ("VERSION", VERSION),
    ("NOTE_OBJECT", NOTE_OBJECT),
    ("GROUP", GROUP),
    ("GROUP_DETAIL", GROUP_DETAIL),
    ("PROJECT", PROJECT),
    ("STATISTICS", STATISTICS),
    ("FOUND_PROJECT", FOUND_PROJECT),
    ("SIMPLE_PROJECT", SIMPLE_PROJECT),
    ("TIME_STATS", TIME_STATS),
    ("MILESTONE", MILESTONE),
    ("ISSUE", ISSUE),
    ("REFERENCES", REFERENCES),
    ("TASKS", TASKS),
    ("REQUEST", REQUEST),
    ("REQUEST_SINGLE", REQUEST_SINGLE),
    ("APPROVALS", APPROVALS),
    ("TAG", TAG),
    ("BRANCH", BRANCH),
    ("DEPLOYMENT", DEPLOYMENT),
    ("HOOK", HOOK),
    ("SNIPPET", SNIPPET),
    ("LICENSE", LICENSE),
    ("BLOB_HIT", BLOB_HIT),
    ("COMPARISON", COMPARISON),
];

/// The type of a value.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Moment,
    Day,
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        let text = value.as_str();
        match self {
            Kind::Text => text.is_some(),
            Kind::Integer => value.is_u64() || value.is_i64(),
            Kind::Number => value.is_number(),
            Kind::Boolean => value.is_boolean(),
            Kind::Moment => text.is_some_and(|text| text.parse::<jiff::Timestamp>().is_ok()),
            Kind::Day => text.is_some_and(|text| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()),
        }
    }
}

#[derive(Clone, Debug)]
struct Field {
    kind: Kind,
    /// The shape of an object.
    inner: Option<Shape>,
    is_list: bool,
    may_be_null: bool,
    may_be_absent: bool,
}

impl Field {
    fn check(&self, value: &Value, place: &str) {
        if value.is_null() {
            assert!(self.may_be_null, "{place} is null");
        } else if self.is_list {
            let rows = value.as_array().unwrap_or_else(|| panic!("{place} is not an array: {value}"));
            rows.iter().enumerate().for_each(|(at, row)| self.check_one(row, &format!("{place}[{at}]")));
        } else {
            self.check_one(value, place);
        }
    }

    fn check_one(&self, value: &Value, place: &str) {
        match &self.inner {
            Some(inner) => inner.check(value, place),
            None => assert!(self.kind.fits(value), "{place} is not {:?}: {value}", self.kind),
        }
    }
}

/// Fields by name.
#[derive(Clone, Debug, Default)]
struct Shape(BTreeMap<String, Field>);

impl Shape {
    /// Reads a shape as servers of the specification send it, or as those of `today` do.
    fn read(text: &str, today: bool) -> Shape {
        let mut shape = Shape::default();
        let (specified, added) = parts(text);
        shape.add(specified, today);
        if today {
            shape.add(added, today);
        }
        shape
    }

    fn add(&mut self, text: &str, today: bool) {
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            if let Some((_, named)) = NAMED.iter().find(|(name, _)| *name == word) {
                self.0.extend(Shape::read(named, today).0);
            } else {
                assert!(!word.is_empty(), "a name is missing before {rest}");
                let mut field =
                    Field { kind: Kind::Text, inner: None, is_list: false, may_be_null: false, may_be_absent: false };
                while let Some(mark) = rest.chars().next().filter(|c| !c.is_whitespace()) {
                    let mut length = 1;
                    match mark {
                        '#' => field.kind = Kind::Integer,
                        '~' => field.kind = Kind::Number,
                        '!' => field.kind = Kind::Boolean,
                        '@' => field.kind = Kind::Moment,
                        '%' => field.kind = Kind::Day,
                        '?' => field.may_be_null = true,
                        '^' => field.may_be_absent = true,
                        '[' => (field.is_list, length) = (true, 2),
                        '{' => {
                            let mut depth = 0;
                            let close = rest.find(|c| {
                                depth += i32::from(c == '{') - i32::from(c == '}');
                                depth == 0
                            });
                            length = close.expect("a shape that ends") + 1;
                            field.inner = Some(Shape::read(&rest[1..length - 1], today));
                        }
                        _ => panic!("unknown mark {mark} after {word}"),
                    }
                    rest = &rest[length..];
                }
                self.0.insert(word.to_owned(), field);
            }
            rest = rest.trim_start();
        }
    }

    fn check(&self, value: &Value, place: &str) {
        let map = value.as_object().unwrap_or_else(|| panic!("{place} is not an object: {value}"));
        if self.0.is_empty() {
            assert!(map.values().all(|value| Kind::Integer.fits(value)), "{place}: {value}");
            return;
        }
        let (there, wanted): (BTreeSet<&String>, BTreeSet<&String>) = (map.keys().collect(), self.0.keys().collect());
        let extra: Vec<_> = there.difference(&wanted).collect();
        let missing: Vec<_> = wanted.difference(&there).filter(|name| !self.0[**name].may_be_absent).collect();
        assert!(extra.is_empty() && missing.is_empty(), "{place}: unexpected {extra:?}, missing {missing:?}");
        for (name, value) in map {
            self.0[name].check(value, &format!("{place}.{name}"));
        }
    }
}

/// Splits a shape into the fields of the specification and those after the plus. A plus inside braces is left alone.
fn parts(text: &str) -> (&str, &str) {
    let mut depth = 0;
    let plus = text.find(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0 && c == '+'
    });
    plus.map_or((text, ""), |plus| (&text[..plus], &text[plus + 1..]))
}

/// Checks an object, or each object of an array, against a shape.
fn check(value: &Value, shape: &str, today: bool, place: &str) {
    let (shape, one) = (Shape::read(shape, today), std::slice::from_ref(value));
    let rows = value.as_array().map_or(one, Vec::as_slice);
    assert!(!rows.is_empty(), "{place}: nothing to check");
    rows.iter().enumerate().for_each(|(at, row)| shape.check(row, &format!("{place}[{at}]")));
}

#[test]
fn shapes_reject_values_of_the_wrong_type() {
    let fits = |shape: &'static str, value: Value| std::panic::catch_unwind(|| check(&value, shape, true, "")).is_ok();
    let shape = "a# b? c@ d[]{e! f%}? g^";
    let right =
        value!({"a": 1, "b": null, "c": "2018-01-01T00:00:00.000+02:00", "d": [{"e": true, "f": "2018-01-01"}]});
    assert!(fits(shape, right.clone()));
    let others = [
        ("/a", value!("1")),
        ("/a", value!(1.5)),
        ("/a", value!(null)),
        ("/b", value!(1)),
        ("/c", value!("2018-01-01T00:00:00")),
        ("/c", value!("2018-01-01")),
        ("/d", value!({})),
        ("/d/0", value!(null)),
        ("/d/0/e", value!("true")),
        ("/d/0/f", value!("2018-01-01T00:00:00Z")),
        ("/g", value!(null)),
    ];
    for (place, other) in others {
        let mut wrong = right.clone();
        wrong["g"] = value!("there");
        assert!(fits(shape, wrong.clone()));
        *wrong.pointer_mut(place).unwrap() = other;
        assert!(!fits(shape, wrong), "{place}");
    }
}

async fn demo(version: Version) -> Server {
    let now: jiff::Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
    let clock = Clock::new(move || now);
    Server::with(Options { world: WorldKind::Demo, clock, modes: Modes::of(version), ..Options::default() }).await
}

/// Returns whether a reply says that there is no such operation.
fn is_unknown(status: u16, body: &Value) -> bool {
    status == 404 && body["error"] == "404 Not Found"
}

#[tokio::test]
async fn reads_return_exactly_the_fields_of_their_view() {
    check_reads(true).await;
}

#[tokio::test]
async fn reads_of_the_specification_return_exactly_its_fields() {
    check_reads(false).await;
}

async fn check_reads(today: bool) {
    let server = demo(if today { Version::default() } else { Version::V10_6 }).await;
    let rocket = "/projects/acme%2Frocket-ui";
    let at = |path: &str| format!("{rocket}{path}");
    let first = |path: String, key: &'static str| {
        let server = &server;
        async move { server.read("root", &path).await[0][key].to_string().trim_matches('"').to_owned() }
    };
    let head = first(at("/repository/commits"), "id").await;
    let deployment = first(at("/deployments"), "id").await;
    let job = first(at("/jobs?scope=success"), "id").await;
    let pipeline = server.read("root", &at(&format!("/jobs/{job}"))).await["pipeline"]["id"].to_string();
    let snippet = first(at("/snippets"), "id").await;
    let fps = server.read("root", &at("/snippets")).await;
    let fps = fps.as_array().unwrap().iter().find(|row| row["file_name"] == "fps.rs").unwrap()["id"].to_string();
    let snippet_note = first(at(&format!("/snippets/{fps}/notes")), "id").await;
    let epic_note = first("/groups/acme/epics/1/notes".into(), "id").await;
    let issue_note = first(at("/issues/38/notes"), "id").await;
    let request_note = first(at("/merge_requests/42/notes"), "id").await;
    let blob = server.read("root", &at("/repository/tree")).await;
    let blob =
        blob.as_array().unwrap().iter().find(|row| row["type"] == "blob").unwrap()["id"].as_str().unwrap().to_owned();
    let rows = at("/repository/commits/feature%2Frows");
    let build = server.read("root", &at("/repository/commits?ref_name=feature%2Frows")).await[2]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let with = |shape: &str, more: &str| format!("{shape} {more}");
    let checks: Vec<(&str, String, String)> = vec![
        // Runners.
        ("ada", "/runners".into(), "RUNNER".into()),
        ("root", "/runners/all".into(), "RUNNER".into()),
        ("root", "/runners/3".into(), "RUNNER_DETAIL".into()),
        ("eli", "/runners/1".into(), with("RUNNER_DETAIL", "token^")),
        ("root", "/runners/1/jobs".into(), with("JOB", "project{id# description name name_with_namespace path path_with_namespace created_at@}")),
        ("ada", at("/runners"), "RUNNER".into()),
        // Search.
        ("ada", "/search?scope=projects&search=a".into(), "FOUND_PROJECT".into()),
        ("ada", "/search?scope=issues&search=a".into(), "ISSUE".into()),
        ("ada", "/search?scope=merge_requests&search=a".into(), "REQUEST".into()),
        ("ada", "/search?scope=milestones&search=0".into(), "MILESTONE".into()),
        ("ada", "/search?scope=snippet_titles&search=a".into(), with("SNIPPET", "project_id#")),
        ("ada", "/groups/acme/-/search?scope=issues&search=a".into(), "ISSUE".into()),
        ("ada", at("/-/search?scope=blobs&search=fn"), "BLOB_HIT".into()),
        ("ada", at("/-/search?scope=commits&search=rows"), with("COMMIT", "project_id#")),
        ("ada", at("/-/search?scope=notes&search=a"), with("NOTE", "noteable_iid#?")),
        // Commits and statuses.
        ("", at("/repository/commits"), "COMMIT".into()),
        ("", at(&format!("/repository/commits/{head}")), with("COMMIT", "stats{additions# deletions# total#} last_pipeline{PIPELINE}? status? + project_id#")),
        ("", format!("{rows}/refs"), "type name".into()),
        ("", format!("{rows}/diff"), "DIFF".into()),
        ("", at(&format!("/repository/commits/{build}/comments")), "note author{id# username email^ name state created_at@ + BRIEF} path? line#? line_type? created_at@".into()),
        ("", at(&format!("/repository/commits/{head}/statuses")), "STATUS".into()),
        // Notes.
        ("ada", at("/issues/38/notes"), "NOTE".into()),
        ("ada", at(&format!("/issues/38/notes/{issue_note}")), "NOTE".into()),
        ("ada", at("/merge_requests/42/notes"), "NOTE".into()),
        ("ada", at("/merge_requests/42/discussions?per_page=100"), "DISCUSSION".into()),
        ("ada", at("/issues/42/discussions"), "DISCUSSION".into()),
        ("ada", at(&format!("/snippets/{fps}/discussions")), DISCUSSION.replace("NOTE", "NOTE noteable_iid#?")),
        ("ada", at("/merge_requests/42/draft_notes"), "DRAFT_NOTE".into()),
        ("ada", at("/merge_requests/42/versions"), "VERSION".into()),
        ("ada", at("/merge_requests/42/reviewers"), "user{BRIEF} state created_at@".into()),
        ("ada", at(&format!("/merge_requests/42/notes/{request_note}")), "NOTE".into()),
        ("ada", at(&format!("/snippets/{fps}/notes")), with("NOTE", "noteable_iid#?")),
        ("ada", at(&format!("/snippets/{fps}/notes/{snippet_note}")), "NOTE_OBJECT".into()),
        ("ada", "/groups/acme/epics/1/notes".into(), with("NOTE", "noteable_iid#?")),
        ("ada", format!("/groups/acme/epics/1/notes/{epic_note}"), "NOTE_OBJECT".into()),
        // Users.
        ("ada", "/users".into(), "BRIEF".into()),
        ("root", "/users".into(), "ADMIN".into()),
        ("ada", "/users/2".into(), "SINGLE".into()),
        ("root", "/users/2".into(), "ADMIN shared_runners_minutes_limit#?".into()),
        ("root", "/users/2?with_custom_attributes=true".into(), "ADMIN shared_runners_minutes_limit#? custom_attributes[]{key value}".into()),
        ("ada", "/user".into(), "OWN".into()),
        ("root", "/user".into(), "ADMIN shared_runners_minutes_limit#?".into()),
        ("ada", "/user/keys".into(), "SSH_KEY".into()),
        ("ada", "/user/keys/1".into(), "SSH_KEY".into()),
        ("root", "/users/2/keys".into(), "SSH_KEY".into()),
        ("ada", "/user/gpg_keys".into(), "GPG_KEY".into()),
        ("ada", "/user/gpg_keys/1".into(), "GPG_KEY".into()),
        ("root", "/users/2/gpg_keys".into(), "GPG_KEY".into()),
        ("root", "/users/2/gpg_keys/1".into(), "GPG_KEY".into()),
        ("root", "/keys/1".into(), "SSH_KEY user{ADMIN shared_runners_minutes_limit#?}".into()),
        ("root", "/users/ada/projects".into(), with("PROJECT", "owner{id# name created_at@^ + BRIEF} repository_storage runners_token")),
        // Groups.
        ("", "/groups".into(), "GROUP".into()),
        ("root", "/groups?statistics=true".into(), with("GROUP", "statistics{storage_size# repository_size# lfs_objects_size# job_artifacts_size#}")),
        ("ada", "/groups?search=acme".into(), "id# name path description + GROUP".into()),
        ("ada", "/groups/acme/subgroups".into(), "GROUP".into()),
        ("ada", "/groups/acme/projects".into(), "PROJECT".into()),
        ("ada", "/groups/acme".into(), "GROUP_DETAIL".into()),
        // Tags.
        ("", at("/repository/tags"), "TAG".into()),
        ("", at("/repository/tags/v0.3.2"), "TAG".into()),
        // Merge requests.
        ("ada", "/merge_requests?scope=all".into(), "REQUEST".into()),
        ("ada", at("/merge_requests"), "REQUEST".into()),
        ("ada", at("/merge_requests?view=simple"), "id# iid# project_id# title description state created_at@ updated_at@ web_url".into()),
        ("ada", at("/merge_requests/42"), "REQUEST_SINGLE".into()),
        ("ada", at("/merge_requests/34"), "REQUEST_SINGLE".into()),
        ("ada", at("/merge_requests/42/participants"), "BRIEF".into()),
        ("ada", at("/merge_requests/42/commits"), with("SHORT_COMMIT", "message")),
        ("ada", at("/merge_requests/42/approvals"), "APPROVALS".into()),
        ("ada", at("/merge_requests/42/changes"), "REQUEST_SINGLE changes[]{DIFF}".into()),
        ("ada", at("/merge_requests/42/pipelines"), "PIPELINE".into()),
        // Projects.
        ("", "/projects".into(), if today { "FOUND_PROJECT" } else { "PROJECT" }.into()),
        ("ada", "/projects".into(), "PROJECT".into()),
        ("ada", "/projects?simple=true".into(), "SIMPLE_PROJECT".into()),
        ("", rocket.into(), if today { "FOUND_PROJECT" } else { "PROJECT" }.into()),
        ("ada", format!("{rocket}?statistics=true"), with("PROJECT", STATISTICS)),
        ("ada", at("/users"), "BRIEF".into()),
        ("ada", at("/members"), with("BRIEF", "access_level# created_at@ expires_at%? + membership_state")),
        ("ada", at("/members/all"), with("BRIEF", "access_level# created_at@ expires_at%? + membership_state")),
        // Deployments.
        ("ada", at("/deployments"), "DEPLOYMENT".into()),
        ("ada", at(&format!("/deployments/{deployment}")), "DEPLOYMENT".into()),
        // Repository browsing.
        ("", at("/repository/tree"), "id name type path mode".into()),
        ("", at(&format!("/repository/blobs/{blob}")), "size# encoding content sha".into()),
        ("", at("/repository/compare?from=main&to=feature%2Frows"), "COMPARISON".into()),
        ("", at("/repository/contributors"), "name email commits# additions# deletions#".into()),
        // Branches.
        ("", at("/repository/branches"), "BRANCH".into()),
        ("", at("/repository/branches/feature%2Frows"), "BRANCH".into()),
        // Hooks, snippets, license, notifications.
        ("root", "/hooks".into(), "HOOK".into()),
        ("root", "/hooks/3".into(), "project_id# owner_email owner_name name path event_name".into()),
        ("ada", at("/snippets"), "SNIPPET".into()),
        ("ada", at(&format!("/snippets/{snippet}")), "SNIPPET".into()),
        ("root", at(&format!("/snippets/{fps}/user_agent_detail")), "user_agent ip_address spam_check_submitted! + akismet_submitted!".into()),
        ("root", "/license".into(), "LICENSE".into()),
        ("ada", "/notification_settings".into(), "level notification_email".into()),
        ("ada", "/groups/acme/notification_settings".into(), "level".into()),
        ("ada", at("/notification_settings"), "level events{new_note! new_issue! reopen_issue! close_issue! reassign_issue! new_merge_request! reopen_merge_request! close_merge_request! reassign_merge_request! merge_merge_request! failed_pipeline! success_pipeline!}".into()),
        // Jobs.
        ("ada", at("/jobs?per_page=100"), "JOB".into()),
        ("ada", at(&format!("/pipelines/{pipeline}/jobs")), "JOB".into()),
        ("ada", at(&format!("/jobs/{job}")), "JOB".into()),
    ];
    let mut mistakes = Vec::new();
    for (who, path, shape) in checks {
        let reply = server.get(who, &path).await;
        let (status, reply) = (reply.status().as_u16(), reply.json().await.unwrap());
        let place = format!("{path} by {who:?}");
        if today || !is_unknown(status, &reply) {
            assert_eq!(status, 200, "{place}: {reply}");
            let found = std::panic::catch_unwind(|| check(&reply, &shape, today, &place));
            mistakes.extend(found.err().map(|_| place));
        }
    }
    assert_eq!(mistakes, Vec::<String>::new());
}

#[tokio::test]
async fn absent_and_restricted_fields_are_omitted() {
    let server = demo(Version::V10_6).await;
    let rocket = "/projects/acme%2Frocket-ui";
    let own = "/projects/ada%2Fdotfiles";
    let guarded = ["owner", "permissions", "runners_token", "repository_storage"];
    for (who, path, fields) in [
        ("", rocket, &[][..]),
        ("ada", rocket, &["permissions", "runners_token"]),
        ("root", rocket, &["permissions", "runners_token", "repository_storage"]),
        ("ada", own, &["owner", "permissions", "runners_token"]),
        ("root", own, &guarded),
    ] {
        let project = server.read(who, path).await;
        let there: Vec<_> = guarded.into_iter().filter(|name| project.get(name).is_some()).collect();
        assert_eq!(there, fields, "{path} by {who:?}");
    }
    assert!(server.read("eli", "/runners/1").await.get("token").is_none());
    assert!(server.read("root", "/runners/1").await["token"].is_string());
    let note = server.call("ada", Method::POST, "/groups/acme/epics/1/notes").json(&value!({"body": "Yes"}));
    let note = json(note.send().await.unwrap(), 201).await;
    let note = server.read("ada", &format!("/groups/acme/epics/1/notes/{}", note["id"])).await;
    assert_eq!(note["file_name"], "", "empty, although there is no file");
}

#[tokio::test]
async fn settings_of_projects_are_for_maintainers() {
    let server = demo(Version::default()).await;
    let settings: Vec<&str> =
        SETTINGS.split_whitespace().map(|field| field.trim_end_matches(['^', '?', '#', '!', '[', ']'])).collect();
    let sees = |project: &Value, name: &str| project.get(name).is_some();
    for (who, is_maintainer) in [("ada", true), ("root", true), ("eli", false), ("fay", false)] {
        for path in ["/projects/1", "/projects?search=rocket-ui", "/groups/acme/projects?search=rocket-ui"] {
            let reply = server.read(who, path).await;
            let project = reply.as_array().map_or(&reply, |rows| rows.iter().find(|row| row["id"] == 1).unwrap());
            let seen: Vec<&str> = settings.iter().copied().filter(|name| sees(project, name)).collect();
            let expected = if is_maintainer { settings.clone() } else { Vec::new() };
            assert_eq!(seen, expected, "{path} by {who}");
            // Only who gets the project alone is told of its import, and lists of groups have no permissions.
            assert_eq!(sees(project, "import_error"), is_maintainer && reply.is_object(), "{path} by {who}");
            assert_eq!(sees(project, "permissions"), !path.starts_with("/groups"), "{path} by {who}");
        }
    }
    let anonymous = server.read("", "/projects/1").await;
    assert!(!sees(&anonymous, "issues_enabled") && sees(&anonymous, "visibility"), "{anonymous}");
}

#[tokio::test]
async fn writes_return_exactly_the_fields_of_their_view() {
    check_writes(true).await;
}

#[tokio::test]
async fn writes_of_the_specification_return_exactly_its_fields() {
    check_writes(false).await;
}

async fn check_writes(today: bool) {
    let server = demo(if today { Version::default() } else { Version::V10_6 }).await;
    let rocket = "/projects/acme%2Frocket-ui";
    let send = |who: &'static str, method: Method, path: String, body: Value| {
        let call = server.call(who, method, &path).json(&body);
        async move {
            let reply = call.send().await.unwrap();
            (reply.status().as_u16(), reply.json::<Value>().await.unwrap())
        }
    };
    let (post, put) = (Method::POST, Method::PUT);
    let at = |path: &str| format!("{rocket}{path}");
    let checks: Vec<(&'static str, Method, String, Value, u16, String)> = vec![
        (
            "root",
            put.clone(),
            "/runners/1".into(),
            value!({"description": "mill-3, again"}),
            200,
            "RUNNER_DETAIL".into(),
        ),
        ("root", post.clone(), "/projects/1/runners".into(), value!({"runner_id": 6}), 201, "RUNNER".into()),
        (
            "ada",
            post.clone(),
            at("/repository/commits"),
            value!({"branch": "feature/mouse", "commit_message": "Say so",
            "actions": [{"action": "create", "file_path": "SAID.md", "content": "said\n"}]}),
            201,
            "COMMIT stats{additions# deletions# total#} status?".into(),
        ),
        (
            "ada",
            post.clone(),
            at("/repository/commits/feature%2Fmouse/cherry_pick"),
            value!({"branch": "feature/rows"}),
            201,
            "COMMIT".into(),
        ),
        (
            "ada",
            post.clone(),
            at("/repository/commits/main/comments"),
            value!({"note": "So be it"}),
            201,
            "note author{BRIEF} path? line#? line_type? created_at@".into(),
        ),
        ("ada", post.clone(), at("/statuses/main"), value!({"state": "success"}), 201, "STATUS".into()),
        ("ada", post.clone(), at("/issues/38/notes"), value!({"body": "Yes"}), 201, "NOTE".into()),
        ("ada", post.clone(), at("/issues/38/notes"), value!({"body": ":tada:"}), 201, "NOTE_OBJECT".into()),
        ("ada", post.clone(), at("/merge_requests/42/notes"), value!({"body": "Yes"}), 201, "NOTE".into()),
        (
            "ada",
            post.clone(),
            "/groups/acme/epics/1/notes".into(),
            value!({"body": "Yes"}),
            201,
            "NOTE noteable_iid#?".into(),
        ),
        (
            "root",
            post.clone(),
            "/users".into(),
            value!({"email": "new@acme.example", "username": "new", "name": "New", "reset_password": true}),
            201,
            "ADMIN confirmed_at@? last_activity_on%? shared_runners_minutes_limit#?".into(),
        ),
        (
            "root",
            put.clone(),
            "/users/3".into(),
            value!({"bio": "Here"}),
            200,
            "ADMIN shared_runners_minutes_limit#?".into(),
        ),
        (
            "ada",
            post.clone(),
            "/groups".into(),
            value!({"name": "New", "path": "new-group"}),
            201,
            "GROUP_DETAIL".into(),
        ),
        ("ada", put.clone(), "/groups/acme".into(), value!({"description": "More"}), 200, "GROUP_DETAIL".into()),
        (
            "ada",
            post.clone(),
            "/groups/acme/ldap_group_links".into(),
            value!({"cn": "x", "group_access": 30, "provider": "ldapmain"}),
            201,
            "cn group_access# provider".into(),
        ),
        ("root", post.clone(), "/groups/docs/projects/ada%2Fdotfiles".into(), value!({}), 201, "GROUP_DETAIL".into()),
        (
            "ada",
            post.clone(),
            at("/repository/tags"),
            value!({"tag_name": "v9", "ref": "main", "message": "Nine"}),
            201,
            "TAG".into(),
        ),
        (
            "ada",
            post.clone(),
            at("/repository/tags/v9/release"),
            value!({"description": "Nine"}),
            201,
            "tag_name description".into(),
        ),
        (
            "ada",
            put.clone(),
            at("/repository/tags/v9/release"),
            value!({"description": "Ninth"}),
            200,
            "tag_name description".into(),
        ),
        (
            "ada",
            post.clone(),
            at("/repository/branches"),
            value!({"branch": "new", "ref": "main"}),
            201,
            "BRANCH".into(),
        ),
        ("ada", put.clone(), at("/repository/branches/new/protect"), value!({}), 200, "BRANCH".into()),
        ("ada", put.clone(), at("/repository/branches/new/unprotect"), value!({}), 200, "BRANCH".into()),
        (
            "ada",
            post.clone(),
            at("/merge_requests"),
            value!({"source_branch": "sixel", "target_branch": "main", "title": "Again"}),
            201,
            "REQUEST_SINGLE".into(),
        ),
        (
            "ada",
            put.clone(),
            at("/merge_requests/42"),
            value!({"title": "Only visible rows"}),
            200,
            "REQUEST_SINGLE".into(),
        ),
        ("ada", post.clone(), at("/merge_requests/42/approve"), value!({}), 201, "APPROVALS".into()),
        ("ada", post.clone(), at("/merge_requests/42/unapprove"), value!({}), 201, "APPROVALS".into()),
        ("ada", put.clone(), at("/merge_requests/43/rebase"), value!({}), 202, "rebase_in_progress!".into()),
        ("ada", put.clone(), at("/merge_requests/45/merge"), value!({"squash": true}), 200, "REQUEST_SINGLE".into()),
        (
            "ada",
            post.clone(),
            at("/merge_requests/42/cancel_merge_when_pipeline_succeeds"),
            value!({}),
            201,
            "status message http_status#".into(),
        ),
        ("ada", post.clone(), "/projects".into(), value!({"name": "new"}), 201, "PROJECT".into()),
        ("root", post.clone(), "/projects/user/3".into(), value!({"name": "new"}), 201, "PROJECT".into()),
        ("ada", put.clone(), "/projects/ada%2Fnew".into(), value!({"name": "newer"}), 200, "PROJECT".into()),
        (
            "ada",
            post.clone(),
            at("/snippets"),
            value!({"title": "t", "file_name": "f", "code": "c", "visibility": "public"}),
            201,
            "SNIPPET".into(),
        ),
        (
            "root",
            post.clone(),
            "/hooks".into(),
            value!({"url": "http://localhost:9/x", "token": "secret"}),
            201,
            "HOOK".into(),
        ),
        ("root", post.clone(), "/license".into(), value!({"license": server.running.license}), 201, "LICENSE".into()),
        (
            "ada",
            put.clone(),
            "/notification_settings".into(),
            value!({"level": "watch"}),
            200,
            "level notification_email".into(),
        ),
        ("ada", put.clone(), at("/notification_settings"), value!({"level": "mention"}), 200, "level".into()),
        (
            "ada",
            post.clone(),
            "/user/keys".into(),
            value!({"title": "t", "key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGEtbmV3LWtleS10aGF0LW5vYm9keS1oYXMteWV0Li4u"}),
            201,
            "SSH_KEY".into(),
        ),
    ];
    for (who, method, path, body, status, shape) in checks {
        let place = format!("{method} {path} by {who}");
        // Releases of tags are gone since 14.0.
        let is_gone = today && path.ends_with("/release");
        let (sent, answer) = send(who, method, path, body).await;
        if is_gone {
            assert_eq!(sent, 404, "{place}: {answer}");
            continue;
        }
        if !today && is_unknown(sent, &answer) {
            continue;
        }
        assert_eq!(sent, status, "{place}: {answer}");
        check(&answer, &shape, today, &place);
        assert!(!answer.to_string().contains("\"secret\""), "{place}: a secret came back");
    }
    let jobs = server.read("root", &at("/jobs?scope=success")).await;
    let job = at(&format!("/jobs/{}", jobs[0]["id"]));
    for (action, shape) in [("retry", "JOB"), ("erase", "JOB download_url?"), ("cancel", "JOB")] {
        let (status, answer) = send("root", post.clone(), format!("{job}/{action}"), value!({})).await;
        assert_eq!(status, 201, "{action}: {answer}");
        check(&answer, shape, today, action);
    }
}
