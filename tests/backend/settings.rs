//! Settings: every one that a project or a group shows is stored (GitLab 19, `lib/api/helpers/projects_helpers.rb` and
//! `groups_helpers.rb`, which name the inputs of an update).

use crate::{Server, WORLD, json};
use reqwest::Method;
use serde_json::{Value, json as value};

async fn update(server: &Server, path: &str, body: &Value, status: u16) -> Value {
    json(server.call("ada", Method::PUT, path).json(body).send().await.unwrap(), status).await
}

/// Sets each setting, and looks at it in the reply, in the object and in its list.
async fn check(server: &Server, path: &str, list: &str, settings: Value) {
    for (name, set) in settings.as_object().unwrap() {
        let before = server.read("ada", path).await[name].clone();
        assert_ne!(before, *set, "{name} would not change");
        assert_eq!(update(server, path, &value!({ name: set }), 200).await[name], *set, "{name}");
        assert_eq!(server.read("ada", path).await[name], *set, "{name}");
        assert_eq!(server.read("ada", list).await[0][name], *set, "{name}");
    }
}

#[tokio::test]
async fn the_settings_of_a_project_are_stored_as_they_are_shown() {
    let server = Server::of(WORLD, &Default::default()).await;
    let mut settings = value!({
        "allow_merge_on_skipped_pipeline": true,
        "auto_cancel_pending_pipelines": "disabled",
        "auto_devops_deploy_strategy": "manual",
        "auto_devops_enabled": true,
        "autoclose_referenced_issues": false,
        "build_git_strategy": "clone",
        "build_timeout": 600,
        "ci_allow_fork_pipelines_to_run_in_parent_project": false,
        "ci_config_path": "ci/main.yml",
        "ci_default_git_depth": 7,
        "ci_delete_pipelines_in_seconds": 86400,
        "ci_forward_deployment_enabled": false,
        "ci_forward_deployment_rollback_allowed": false,
        "ci_id_token_sub_claim_components": ["project_path"],
        "ci_pipeline_variables_minimum_override_role": "owner",
        "ci_push_repository_for_job_token_allowed": true,
        "ci_separated_caches": false,
        "description": "Says hello.",
        "emails_enabled": false,
        "enforce_auth_checks_on_uploads": false,
        "external_authorization_classification_label": "x",
        "group_runners_enabled": false,
    });
    let more = value!({
        "import_url": "https://example.com/a.git",
        "issue_branch_template": "%{id}",
        "keep_latest_artifact": false,
        "lfs_enabled": false,
        "merge_commit_template": "%{title}",
        "merge_method": "ff",
        "only_allow_merge_if_all_discussions_are_resolved": true,
        "only_allow_merge_if_pipeline_succeeds": true,
        "packages_enabled": true,
        "printing_merge_request_link_enabled": false,
        "public_jobs": false,
        "remove_source_branch_after_merge": true,
        "request_access_enabled": false,
        "resolve_outdated_diff_discussions": true,
        "restrict_user_defined_variables": true,
        "service_desk_enabled": true,
        "shared_runners_enabled": false,
        "squash_commit_template": "%{title}",
        "squash_option": "always",
        "suggestion_commit_message": "Apply",
        "topics": ["loud"],
        "visibility": "internal",
        "warn_about_potentially_unwanted_characters": false,
    });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    for feature in "analytics builds container_registry environments feature_flags forking infrastructure issues \
                    merge_requests model_experiments model_registry monitor pages releases repository \
                    security_and_compliance snippets wiki"
        .split_ascii_whitespace()
    {
        settings[format!("{feature}_access_level")] = value!("private");
    }
    check(&server, "/projects/1", "/projects", settings).await;
    // What was set once stays when something else is set, and null resets a text.
    let later = update(&server, "/projects/1", &value!({"suggestion_commit_message": null}), 200).await;
    assert_eq!((&later["suggestion_commit_message"], &later["build_timeout"]), (&Value::Null, &value!(600)));
    let seen = server.read("bo", "/projects/1").await;
    assert!(seen.get("build_timeout").is_none() && seen["squash_option"] == "always", "for maintainers alone: {seen}");
    // A new project takes them, too.
    let form = [("name", "new"), ("squash_option", "never"), ("builds_access_level", "disabled")];
    let made = json(server.post("ada", "/projects", &form).await, 201).await;
    assert_eq!((&made["squash_option"], &made["jobs_enabled"]), (&value!("never"), &value!(false)));
}

#[tokio::test]
async fn settings_with_two_names_agree() {
    let server = Server::of(WORLD, &Default::default()).await;
    let features = [
        ("issues", "issues"),
        ("merge_requests", "merge_requests"),
        ("builds", "jobs"),
        ("wiki", "wiki"),
        ("snippets", "snippets"),
        ("container_registry", "container_registry"),
    ];
    for (level, flag) in features {
        let (level, flag) = (format!("{level}_access_level"), format!("{flag}_enabled"));
        for (set, word, enabled) in [
            (value!({ &level: "disabled" }), "disabled", false),
            (value!({ &level: "private" }), "private", true),
            (value!({ &flag: false }), "disabled", false),
            (value!({ &flag: true }), "enabled", true),
        ] {
            let shown = update(&server, "/projects/1", &set, 200).await;
            assert_eq!((&shown[&level], &shown[&flag]), (&value!(word), &value!(enabled)), "{set}");
        }
    }
    for (set, name, expected) in [
        (value!({"emails_disabled": true}), "emails_enabled", value!(false)),
        (value!({"emails_enabled": true}), "emails_disabled", value!(false)),
        (value!({"public_builds": false}), "public_jobs", value!(false)),
        (value!({"tag_list": "a,b"}), "topics", value!(["a", "b"])),
    ] {
        assert_eq!(update(&server, "/projects/1", &set, 200).await[name], expected, "{set}");
    }
}

#[tokio::test]
async fn a_value_of_the_wrong_kind_is_refused() {
    let server = Server::of(WORLD, &Default::default()).await;
    json(server.post("ada", "/groups", &[("name", "red"), ("path", "red")]).await, 201).await;
    for (path, set, why) in [
        ("/projects/1", value!({"squash_option": "sometimes"}), "squash_option does not have a valid value"),
        ("/projects/1", value!({"merge_method": "octopus"}), "merge_method does not have a valid value"),
        ("/projects/1", value!({"wiki_access_level": "public"}), "wiki_access_level does not have a valid value"),
        ("/projects/1", value!({"build_timeout": "long"}), "build_timeout is invalid"),
        ("/projects/1", value!({"keep_latest_artifact": "perhaps"}), "keep_latest_artifact is invalid"),
        (
            "/groups/red",
            value!({"subgroup_creation_level": "guest"}),
            "subgroup_creation_level does not have a valid value",
        ),
    ] {
        assert_eq!(update(&server, path, &set, 400).await["error"], why);
    }
}

#[tokio::test]
async fn the_settings_of_a_group_are_stored_as_they_are_shown() {
    let server = Server::of(WORLD, &Default::default()).await;
    json(server.post("ada", "/groups", &[("name", "red"), ("path", "red")]).await, 201).await;
    let settings = value!({
        "auto_devops_enabled": true,
        "default_branch": "trunk",
        "default_branch_protection": 1,
        "emails_enabled": false,
        "mentions_disabled": true,
        "project_creation_level": "maintainer",
        "require_two_factor_authentication": true,
        "shared_runners_setting": "disabled_and_unoverridable",
        "subgroup_creation_level": "owner",
        "two_factor_grace_period": 8,
    });
    check(&server, "/groups/red", "/groups", settings).await;
}

/// `lib/api/entities/project.rb` exposes the addresses only if the features are on.
#[tokio::test]
async fn features_that_are_off_have_no_address() {
    let server = Server::of(WORLD, &Default::default()).await;
    for (flag, link) in [("issues_enabled", "issues"), ("merge_requests_enabled", "merge_requests")] {
        assert!(server.read("ada", "/projects/1").await["_links"][link].is_string(), "{link}");
        let shown = update(&server, "/projects/1", &value!({ flag: false }), 200).await;
        assert_eq!(shown["_links"].get(link), None, "{link}");
    }
}
