//! Differences between servers of 2018 and of today, operation by operation; both are supported.

use crate::client::client;
use crate::sample::word;
use crate::scripted::{Answer, Scripted, answer};
use labscope::api::branches::Branch;
use labscope::api::client::Client;
use labscope::api::commits::{Commit, CommitStatus, DiffEntry};
use labscope::api::decisions::CancelAutoMerge;
use labscope::api::deployments::Deployment;
use labscope::api::endpoint::Reply;
use labscope::api::error::error_message;
use labscope::api::groups::{DeleteGroup, Group};
use labscope::api::hooks::{Hook, HookTest, TestHook};
use labscope::api::identity::GetMetadata;
use labscope::api::jobs::{Job, PlayJob};
use labscope::api::labels::{DeleteLabel, UpdateLabel};
use labscope::api::license::{GetLicense, License};
use labscope::api::members::ListAllMembers;
use labscope::api::merge_requests::{CreateMergeRequest, MergeRequest, MergeRequestState};
use labscope::api::notes::{CreateNote, Note};
use labscope::api::notifications::NotificationSettings;
use labscope::api::pipelines::ListPipelineBridges;
use labscope::api::pipelines::resources::{Pipeline, Status};
use labscope::api::projects::{GetProject, Project, StarProject};
use labscope::api::releases::{CreateRelease, UpdateRelease};
use labscope::api::repository::{Comparison, EntryKind, ListTree, TreeEntry};
use labscope::api::runners::{Runner, RunnerStatus};
use labscope::api::search::{Hit, SearchWithin};
use labscope::api::snippets::{CreateSnippet, Snippet, UpdateSnippet};
use labscope::api::tags::Tag;
use labscope::api::users::{Profile, SshKey};
use labscope::api::{Endpoint, Fault, Noteable, Scope};
use serde_json::Value;

fn read<T: Reply>(text: &str) -> T {
    T::read(text.as_bytes(), None).unwrap_or_else(|e| panic!("{}: {}\n{text}", e.field, e.reason))
}

/// Checks the old and the new format of a resource.
fn both<T: Reply>(old: &str, new: &str, check: impl Fn(T)) {
    check(read(old));
    check(read(new));
}

async fn one(status: u16, body: &str) -> (Scripted, Client) {
    let server = Scripted::start([answer(status, body)]).await;
    let client = client(&server);
    (server, client)
}

#[tokio::test]
async fn a_server_before_15_2_falls_back_to_the_version_endpoint() {
    let unknown = answer(404, r#"{"error":"404 Not Found"}"#);
    let server = Scripted::start([unknown, answer(200, r#"{"version":"14.10.5","revision":"a1"}"#)]).await;
    assert_eq!(client(&server).call(&GetMetadata {}).await.expect("a version").version, "14.10.5");
    let lines: Vec<String> = server.asked().iter().map(|asked| asked.line.clone()).collect();
    assert_eq!(lines, ["GET /api/v4/metadata", "GET /api/v4/version"]);
}

#[tokio::test]
async fn a_server_before_11_2_falls_back_to_direct_members() {
    let unknown = answer(400, r#"{"error":"user_id is invalid"}"#);
    let server = Scripted::start([unknown, answer(200, r#"[{"id":7,"username":"ada","access_level":30}]"#)]).await;
    let all = ListAllMembers { scope: Scope::Project("a/b".into()), query: Some("a".into()) };
    let members = client(&server).call(&all).await.expect("members");
    assert_eq!(members.iter().map(|member| member.id).collect::<Vec<_>>(), [7]);
    let lines: Vec<String> = server.asked().iter().map(|asked| asked.line.clone()).collect();
    let of = "GET /api/v4/projects/a%2Fb/members";
    assert_eq!(lines, [format!("{of}/all?query=a"), format!("{of}?query=a")]);
}

#[tokio::test]
async fn refusals_are_read_in_the_old_and_new_format() {
    for (status, old, new, said) in [
        (403, r#"{"message":"403 Forbidden  - x"}"#, r#"{"message":"403 Forbidden - x"}"#, "403 Forbidden - x"),
        (
            401,
            r#"{"message":"401 Unauthorized"}"#,
            r#"{"error":"invalid_token","error_description":"401 Unauthorized"}"#,
            "401 Unauthorized",
        ),
        (405, r#"{"message":"405 Not Allowed"}"#, r#"{"message":{"error":"405 Not Allowed"}}"#, "405 Not Allowed"),
        (410, "410 Gone", r#"{"error":"410 Gone"}"#, "410 Gone"),
        (429, "Retry later\n", r#"{"message":{"error":"Retry later"}}"#, "Retry later"),
    ] {
        assert_eq!(
            (error_message(old.as_bytes()), error_message(new.as_bytes())),
            (said.into(), said.into()),
            "{status}"
        );
    }
    let scope = r#"{"error":"insufficient_scope","error_description":"It needs more rights.","scope":"api"}"#;
    let (_server, client) = one(403, scope).await;
    let error = client.call(&PlayJob { id: 1_u64.into(), job_id: 2, ..Default::default() }).await.unwrap_err();
    assert_eq!(error.fault, Fault::Scope(vec!["api".into()]));
}

#[tokio::test]
async fn a_busy_server_is_retried() {
    let busy = answer(503, "").with("retry-after", "0");
    let limited = answer(429, r#"{"message":{"error":"too many"}}"#).with("ratelimit-reset", "1");
    let server = Scripted::start([busy, limited, answer(200, r#"{"id":1}"#)]).await;
    let project = GetProject { id: 1_u64.into(), ..GetProject::default() };
    assert_eq!(client(&server).call(&project).await.expect("at the third try").id, 1);
}

#[tokio::test]
async fn a_write_to_a_moved_project_reports_the_move() {
    let (_server, client) = one(405, r#"{"message":"Non GET methods are not allowed for moved projects"}"#).await;
    let error = client.call(&PlayJob { id: 1_u64.into(), job_id: 2, ..Default::default() }).await.unwrap_err();
    assert_eq!(error.message(), "405: Non GET methods are not allowed for moved projects");
}

#[tokio::test]
async fn any_success_status_is_accepted() {
    let deletion = DeleteGroup { id: 1_u64.into() };
    for (status, body) in [(204, ""), (202, r#"{"message":"202 Accepted"}"#), (200, "null")] {
        one(status, body).await.1.call(&deletion).await.unwrap_or_else(|e| panic!("{status}: {e}"));
    }
}

/// GitLab 10.6 has no releases of their own (lib/api/tags.rb); 14.0 removed those of tags.
/// The request that tells once whether a proxy decodes slashes, and its answer by GitLab.
const SLASHES: &str = "GET /api/v4/projects/a%2Fb";

fn no_project() -> Answer {
    answer(404, r#"{"message":"404 Project Not Found"}"#)
}

#[tokio::test]
async fn release_notes_are_written_to_the_tag_only_where_there_are_no_releases() {
    let gone = || answer(404, r#"{"error":"404 Not Found"}"#);
    let done = || answer(201, r#"{"tag_name":"v1/rc","name":"v1/rc","description":"d","created_at":null}"#);
    let server = Scripted::start([gone(), no_project(), done(), gone(), done()]).await;
    let client = client(&server);
    let create =
        CreateRelease { id: "a/b".into(), tag_name: "v1/rc".into(), description: word("d"), ..Default::default() };
    assert_eq!(client.call(&create).await.expect("created").tag_name, "v1/rc");
    let update =
        UpdateRelease { id: "a/b".into(), tag_name: "v1/rc".into(), description: word("d"), ..Default::default() };
    client.call(&update).await.expect("changed");
    let asked: Vec<(String, String)> = server.asked().into_iter().map(|asked| (asked.line, asked.body)).collect();
    let old = "/api/v4/projects/a%2Fb/repository/tags/v1%2Frc/release";
    let expected = [
        ("POST /api/v4/projects/a%2Fb/releases".into(), "description=d&tag_name=v1%2Frc"),
        (SLASHES.into(), ""),
        (format!("POST {old}"), "description=d"),
        ("PUT /api/v4/projects/a%2Fb/releases/v1%2Frc".into(), "description=d"),
        (format!("PUT {old}"), "description=d"),
    ];
    assert_eq!(asked, expected.map(|(line, body)| (line, body.to_owned())));
}

#[tokio::test]
async fn label_writes_fall_back_to_the_name_on_old_servers() {
    let gone = || answer(404, r#"{"error":"404 Not Found"}"#);
    let changed = answer(200, r#"{"id":5,"name":"bug"}"#);
    let server = Scripted::start([gone(), no_project(), changed, gone(), answer(200, "")]).await;
    let client = client(&server);
    let (scope, label_id, name) = (Scope::Project("a/b".into()), "5".to_owned(), Some("bug".to_owned()));
    let color = Some("red".to_owned());
    let update = UpdateLabel {
        scope: scope.clone(),
        label_id: label_id.clone(),
        name: name.clone(),
        color,
        ..UpdateLabel::default()
    };
    assert_eq!(client.call(&update).await.expect("changed").name, "bug");
    client.call(&DeleteLabel { scope, label_id, name }).await.expect("deleted");
    let asked: Vec<(String, String)> = server.asked().into_iter().map(|asked| (asked.line, asked.body)).collect();
    let expected = [
        ("PUT /api/v4/projects/a%2Fb/labels/5", "color=red&name=bug"),
        (SLASHES, ""),
        ("PUT /api/v4/projects/a%2Fb/labels", "color=red&name=bug"),
        ("DELETE /api/v4/projects/a%2Fb/labels/5?name=bug", ""),
        ("DELETE /api/v4/projects/a%2Fb/labels?name=bug", ""),
    ];
    assert_eq!(asked, expected.map(|(line, body)| (line.to_owned(), body.to_owned())));
}

#[tokio::test]
async fn not_modified_counts_as_success() {
    let server = Scripted::start([answer(304, ""), answer(201, r#"{"id":7,"star_count":2}"#)]).await;
    let (client, star) = (client(&server), StarProject { id: "a/b".into() });
    assert!(client.call(&star).await.expect("starred before").is_none());
    assert_eq!(client.call(&star).await.expect("starred").map(|project| project.id), Some(7));
}

#[tokio::test]
async fn a_missing_tag_or_release_is_not_looked_for_at_the_tag() {
    for body in [r#"{"message":"Tag does not exist"}"#, r#"{"message":"404 Not Found"}"#] {
        let (server, client) = one(404, body).await;
        let update = UpdateRelease { id: 1_u64.into(), tag_name: "v1".into(), ..Default::default() };
        assert!(client.call(&update).await.unwrap_err().is_missing());
        assert_eq!(server.asked().len(), 1);
    }
    // Nothing at a tag creates it.
    let (server, client) = one(404, r#"{"error":"404 Not Found"}"#).await;
    let create = CreateRelease { id: 1_u64.into(), tag_name: "v1".into(), r#ref: word("main"), ..Default::default() };
    client.call(&create).await.unwrap_err();
    assert_eq!(server.asked().len(), 1);
}

/// GitLab 19.2 renamed `bridges` to `trigger_jobs`, and 19.5 what cancels auto-merge (lib/api/ci/pipelines.rb,
/// lib/api/merge_requests.rb).
#[tokio::test]
async fn renamed_operations_are_called_by_their_old_names_on_older_servers() {
    let gone = || answer(404, r#"{"error":"404 Not Found"}"#);
    let done = answer(201, r#"{"status":"success"}"#);
    let server = Scripted::start([gone(), answer(200, "[]"), answer(200, "[]"), gone(), done]).await;
    let client = client(&server);
    let list = ListPipelineBridges { id: 1_u64.into(), pipeline_id: 2, scope: None };
    for _ in 0..2 {
        client.call(&list).await.expect("listed");
    }
    let cancel = CancelAutoMerge { id: 1_u64.into(), merge_request_iid: 3 };
    client.call(&cancel).await.expect("canceled");
    let asked: Vec<String> =
        server.asked().into_iter().map(|asked| asked.line.replace("/api/v4/projects/1", "")).collect();
    let expected = [
        "GET /pipelines/2/trigger_jobs",
        "GET /pipelines/2/bridges",
        // What is missing once is not asked for again.
        "GET /pipelines/2/bridges",
        "POST /merge_requests/3/cancel_auto_merge",
        "POST /merge_requests/3/cancel_merge_when_pipeline_succeeds",
    ];
    assert_eq!(asked, expected);
}

#[test]
fn the_text_of_a_snippet_is_sent_under_both_names() {
    let create = CreateSnippet { code: "x".into(), content: Some("x".into()), ..CreateSnippet::default() };
    let update = UpdateSnippet { code: Some("x".into()), content: Some("x".into()), ..UpdateSnippet::default() };
    let create = create.request();
    let value = |name: &str| create.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!((value("code"), value("content")), (Some("x"), Some("x")));
    let update: Value = serde_json::from_str(&update.request().json.expect("a body")).expect("JSON");
    assert_eq!((update["code"].as_str(), update["content"].as_str()), (Some("x"), Some("x")));
}

#[tokio::test]
async fn a_hook_test_returns_a_payload_or_the_hook() {
    let old = r#"{"project_id":1,"owner_email":"e","owner_name":"o","name":"Ruby","path":"ruby","event_name":"project_create"}"#;
    let test: HookTest = one(200, old).await.1.call(&TestHook { id: 3 }).await.expect("a payload");
    assert_eq!((test.event_name.as_deref(), test.id), (Some("project_create"), None));
    let new = r#"{"id":3,"url":"http://h","name":"","description":"","created_at":"2026-01-01T00:00:00.000Z",
        "push_events":false,"repository_update_events":true,"alert_status":"executable","url_variables":[]}"#;
    let test = one(200, new).await.1.call(&TestHook { id: 3 }).await.expect("the hook");
    assert_eq!((test.id, test.url.as_deref()), (Some(3), Some("http://h")));
    both(r#"{"id":3,"url":"http://h"}"#, new, |hook: Hook| assert_eq!(hook.id, 3));
}

#[tokio::test]
async fn a_license_is_read_in_the_old_and_new_format_or_as_null() {
    let old = r#"{"starts_at":"2018-01-27","expires_at":"2022-01-27","licensee":{"Name":"J"},"user_limit":100,
        "active_users":8,"add_ons":{"ExtraService":1}}"#;
    let new = r#"{"id":2,"plan":"ultimate","created_at":"2026-01-01T00:00:00.000Z","starts_at":"2026-01-27",
        "expires_at":null,"historical_max":300,"maximum_user_count":300,"licensee":{"Name":"J","Email":null},
        "add_ons":{"Code Suggestions":2},"expired":false,"overage":200,"user_limit":0,"active_users":300}"#;
    both(old, new, |license: License| assert_eq!(license.licensee.and_then(|l| l.name).as_deref(), Some("J")));
    assert_eq!(one(200, "null").await.1.call(&GetLicense {}).await.expect("none"), None);
}

#[test]
fn a_project_is_read_in_the_old_and_new_format() {
    let old = r#"{"id":1,"name":"b","path_with_namespace":"a/b","default_branch":"main","tag_list":["x"],
        "permissions":{"project_access":{"access_level":30,"notification_level":3},"group_access":null}}"#;
    let new = r#"{"id":1,"name":"b","path_with_namespace":"a/b","default_branch":"main","tag_list":["x"],"topics":["x"],
        "permissions":{"project_access":{"access_level":30,"notification_level":3},"group_access":null},
        "empty_repo":false,"readme_url":null,"issues_access_level":"enabled","ci_job_token_scope_enabled":false,
        "merge_method":"ff","squash_option":"default_off","repository_object_format":"sha1","owner":null,
        "_links":{"self":"s","cluster_agents":"c"},"container_registry_image_prefix":"p","approvals_before_merge":null}"#;
    both(old, new, |project: Project| {
        assert_eq!((project.default_branch(), project.topics()), (Some("main"), &["x".to_owned()][..]));
        assert_eq!((project.access_level(), project.is_empty()), (Some(30), false));
    });
    let hidden: Project = read(r#"{"id":1,"permissions":{"project_access":null,"group_access":null}}"#);
    assert_eq!((hidden.default_branch(), hidden.is_empty(), hidden.access_level()), (None, false, None));
    let empty: Project = read(r#"{"id":1,"default_branch":"main","empty_repo":true}"#);
    assert!(empty.is_empty());
}

#[test]
fn groups_and_users_are_read_with_added_and_removed_fields() {
    let old = r#"{"id":1,"full_path":"a","parent_id":null,"visibility":"public"}"#;
    let new = r#"{"id":1,"full_path":"a","parent_id":null,"visibility":"public","archived":false,"organization_id":1,
        "default_branch_protection_defaults":{"allowed_to_push":[{"access_level":40}]},"ldap_cn":null,"ldap_access":null,
        "marked_for_deletion_on":"2026-02-01","shared_with_groups":[],"prevent_forking_outside_group":null}"#;
    both(old, new, |group: Group| assert_eq!(group.full_path, "a"));
    let old = r#"{"id":1,"username":"u","state":"active","skype":"s","linkedin":"l","twitter":"t","bio":null}"#;
    let new = r#"{"id":1,"username":"u","state":"active","linkedin":"l","twitter":"t","bio":"","discord":"",
        "locked":false,"public_email":null,"bot":false,"namespace_id":1,"created_by":null,"scim_identities":[],
        "work_information":null,"local_time":"3:38 PM","private_profile":true,"commit_email":"e"}"#;
    both(old, new, |user: Profile| {
        assert_eq!(user.username, "u");
        assert_eq!(user.network(), Some("l"));
    });
    for state in ["deactivated", "banned", "ldap_blocked", "blocked_pending_approval"] {
        assert_eq!(read::<Profile>(&format!(r#"{{"state":"{state}"}}"#)).state, state);
    }
    let new = r#"{"id":1,"title":"t","key":"k","created_at":"2026-01-01T00:00:00Z","expires_at":null,
        "last_used_at":"2026-01-01T00:00:00Z","usage_type":"auth_and_signing"}"#;
    both(r#"{"id":1,"title":"t","key":"k","created_at":"2018-01-01T00:00:00Z"}"#, new, |key: SshKey| {
        assert_eq!(key.title, "t");
    });
}

#[test]
fn notification_settings_accept_unknown_events() {
    let new = r#"{"level":"custom","events":{"new_note":true,"new_release":false,"fixed_pipeline":true,
        "moved_project":null,"merge_when_pipeline_succeeds":false,"change_reviewer_merge_request":true}}"#;
    both(r#"{"level":"custom","events":{"new_note":true}}"#, new, |settings: NotificationSettings| {
        assert_eq!(settings.events.as_ref().and_then(|events| events.0["new_note"]), Some(true));
    });
}

#[tokio::test]
async fn a_missing_path_is_an_empty_tree_or_not_found() {
    let tree = ListTree { id: 1_u64.into(), path: Some("no".into()), ..ListTree::default() };
    assert_eq!(one(200, "[]").await.1.call(&tree).await.expect("empty"), []);
    let body = r#"{"message":"404 invalid revision or path Not Found"}"#;
    assert!(one(404, body).await.1.call(&tree).await.unwrap_err().is_missing());
    let submodule: TreeEntry = read(r#"{"id":"a","name":"m","type":"commit","path":"m","mode":"160000"}"#);
    assert_eq!(submodule.r#type, EntryKind::Commit);
}

#[test]
fn commits_branches_and_tags_are_read_with_added_fields() {
    let old = r#"{"id":"abc","title":"T","status":null,"last_pipeline":null,"stats":{"additions":1,"deletions":0,"total":1}}"#;
    let new = r#"{"id":"abc","title":"T","status":null,"last_pipeline":null,"stats":{"additions":1,"deletions":0,"total":1},
        "trailers":{"Signed-off-by":"x"},"extended_trailers":{"Signed-off-by":["x"]},"web_url":"w","project_id":1}"#;
    both(old, new, |commit: Commit| assert_eq!(commit.stats.as_ref().map(|stats| stats.total), Some(1)));
    let old =
        r#"{"name":"b","merged":false,"protected":true,"developers_can_push":false,"developers_can_merge":false}"#;
    let new = r#"{"name":"b","merged":false,"protected":true,"developers_can_push":false,"developers_can_merge":false,
        "can_push":true,"default":true,"web_url":"w"}"#;
    both(old, new, |branch: Branch| assert!(branch.protected));
    let old = r#"{"name":"v1","message":null,"release":{"tag_name":"v1","description":"d"}}"#;
    let new = r#"{"name":"v1","message":"","target":"abc","protected":false,"created_at":null,
        "release":{"tag_name":"v1","description":"d"}}"#;
    both(old, new, |tag: Tag| {
        assert_eq!(tag.message.unwrap_or_default(), "");
        assert_eq!(tag.release.and_then(|release| release.description).as_deref(), Some("d"));
    });
    assert_eq!(read::<Tag>(r#"{"name":"v1"}"#).release, None, "no right to releases");
    let old = r#"{"id":1,"status":"pending","coverage":91.5,"author":{"id":1}}"#;
    let new = r#"{"id":1,"status":"skipped","coverage":null,"author":{"id":1},"pipeline_id":5}"#;
    both(old, new, |status: CommitStatus| assert_eq!(status.id, 1));
}

#[test]
fn a_diff_withheld_by_the_server_is_recognized() {
    let old = r#"{"diff":"@@ -1 +1 @@\n-a\n+b\n","old_path":"f","new_path":"f","a_mode":"100644","b_mode":"100644"}"#;
    let new = r#"{"diff":"@@ -1 +1 @@\n-a\n+b\n","collapsed":false,"too_large":false,"old_path":"f","new_path":"f",
        "a_mode":"0","b_mode":"100644","new_file":false,"generated_file":null}"#;
    both(old, new, |entry: DiffEntry| assert_eq!((entry.counts(), entry.is_withheld()), ((1, 1), false)));
    let withheld =
        r#"{"diff":"","collapsed":false,"too_large":true,"old_path":"f","new_path":"f","generated_file":true}"#;
    assert!(read::<DiffEntry>(withheld).is_withheld());
    let old =
        r#"{"commit":{"id":"a"},"commits":[{"id":"a"}],"diffs":[],"compare_timeout":false,"compare_same_ref":false}"#;
    let new = r#"{"commit":{"id":"a","parent_ids":["b"]},"commits":[{"id":"a"}],"diffs":[],"compare_timeout":false,
        "compare_same_ref":false,"web_url":"w"}"#;
    both(old, new, |compare: Comparison| assert_eq!(compare.commits.len(), 1));
    assert_eq!(read::<Comparison>(r#"{"commit":null,"commits":[],"compare_same_ref":true}"#).commit, None);
}

#[test]
fn merge_request_accessors_use_whichever_field_the_server_sends() {
    let old = r#"{"id":1,"iid":5,"title":"WIP: t","state":"opened","assignee":{"id":2,"username":"u"},"work_in_progress":true,
        "changes_count":"7","pipeline":{"id":3,"status":"success"},"merge_status":"unchecked","source_project_id":1,
        "target_project_id":1}"#;
    let new = r#"{"id":1,"iid":5,"title":"Draft: t","state":"opened","assignee":{"id":2,"username":"u"},
        "assignees":[{"id":2,"username":"u"}],"reviewers":[],"draft":true,"work_in_progress":true,"changes_count":"7",
        "pipeline":{"id":3,"status":"success"},"head_pipeline":{"id":3,"status":"success","detailed_status":{"icon":"i"},
        "coverage":"87.50","queued_duration":1.5,"iid":2},"merge_status":"checking","merge_user":null,
        "detailed_merge_status":"a_word_of_tomorrow","references":{"short":"!5","relative":"!5","full":"a/b!5"},
        "source_project_id":1,"target_project_id":1,"task_completion_status":{"count":0,"completed_count":0},
        "imported":false,"imported_from":"none","user":{"can_merge":true},"diff_refs":null,"merge_error":null}"#;
    both(old, new, |mr: MergeRequest| {
        assert!(mr.is_draft() && mr.is_open() && !mr.is_from_fork());
        assert_eq!((mr.assignees().len(), mr.changes_count()), (1, Some("7")));
        assert_eq!(mr.pipeline().map(|pipeline| (pipeline.id, &pipeline.status)), Some((3, &Status::Success)));
    });
    let nulls = r#"{"id":1,"sha":null,"source_project_id":null,"assignee":null,"milestone":null,"changes_count":null,
        "approvals_before_merge":null,"merge_commit_sha":null,"squash_commit_sha":null,"state":"locked"}"#;
    let orphan: MergeRequest = read(nulls);
    assert_eq!((orphan.changes_count(), &orphan.state), (None, &MergeRequestState::Locked));
    let overflow = r#"{"id":1,"changes_count":"1000+","overflow":true,"changes":[]}"#;
    both(r#"{"id":1,"changes_count":"437+","changes":[]}"#, overflow, |mr: MergeRequest| assert!(mr.is_overflowing()));
    let brief = r#"{"id":3,"iid":1,"sha":"a","ref":"r","status":"waiting_for_callback","source":"parent_pipeline",
        "project_id":1,"created_at":"2026-01-01T00:00:00Z","updated_at":null,"web_url":"w"}"#;
    both(r#"{"id":3,"sha":"a","ref":"r","status":"pending"}"#, brief, |p: Pipeline| assert!(p.status.is_live()));
}

#[tokio::test]
async fn a_duplicate_merge_request_is_refused_in_the_old_and_new_format() {
    let create = CreateMergeRequest { id: 1_u64.into(), ..CreateMergeRequest::default() };
    for body in [
        r#"{"message":["Cannot Create: This merge request already exists: [\"t\"]"]}"#,
        r#"{"message":["Another open merge request already exists for this source branch: !5"]}"#,
    ] {
        let error = one(409, body).await.1.call(&create).await.unwrap_err();
        assert!(matches!(&error.fault, Fault::Refused(409, said) if said.contains("already exists")), "{error}");
    }
}

#[tokio::test]
async fn a_note_with_only_quick_actions_creates_no_note() {
    let note = CreateNote {
        on: Noteable::MergeRequest { project: 1_u64.into(), iid: 5 },
        body: "/close".into(),
        ..CreateNote::default()
    };
    let body = r#"{"commands_changes":{"state_event":"close"},"summary":["Closed this merge request."]}"#;
    assert_eq!(one(202, body).await.1.call(&note).await.expect("done").id(), 0);
    assert_eq!(one(201, r#"{"id":9,"body":"b"}"#).await.1.call(&note).await.expect("made").id(), 9);
}

#[test]
fn a_note_can_be_on_a_line_a_file_or_an_image() {
    let old = r#"{"id":1,"body":"b","attachment":null,"noteable_type":"MergeRequest","noteable_iid":2,
        "author":{"id":1,"email":"e"}}"#;
    let new = r#"{"id":1,"body":"b","type":"DiscussionNote","noteable_type":"MergeRequest","noteable_iid":2,"author":{"id":1},
        "project_id":1,"commit_id":null,"resolvable":true,"resolved":false,"resolved_by":null,"suggestions":[],
        "confidential":false,"internal":false,"imported":false,"imported_from":"none","commands_changes":{}}"#;
    both(old, new, |note: Note| assert_eq!((note.noteable_iid, note.location()), (Some(2), None)));
    let line: Note = read(
        r#"{"id":1,"type":"DiffNote","position":{"position_type":"text","old_path":"a","new_path":"b","old_line":null,
        "new_line":7,"line_range":{"start":{"line_code":"x","type":"new","old_line":null,"new_line":5}}}}"#,
    );
    assert_eq!(line.location(), Some(("b", Some(7))));
    let file: Note = read(r#"{"id":1,"position":{"position_type":"file","old_path":"a","new_path":"a"}}"#);
    assert_eq!(file.location(), Some(("a", None)));
    let picture: Note =
        read(r#"{"id":1,"position":{"position_type":"image","new_path":"p.png","width":9,"x":1.5,"y":2}}"#);
    assert_eq!(picture.location(), Some(("p.png", None)));
    let epic: Note = read(r#"{"id":1,"noteable_type":"WikiPage::Meta","noteable_iid":null}"#);
    assert_eq!(epic.noteable_iid, None);
}

#[test]
fn a_job_is_read_with_added_and_removed_fields() {
    let old = r#"{"id":1,"status":"failed","duration":41,"coverage":null,"artifacts_file":null,"runner":null,"user":{"id":1,
        "skype":""},"commit":{"id":"a"},"pipeline":{"id":6,"status":"failed"}}"#;
    let new = r#"{"id":1,"status":"failed","duration":41.172918,"queued_duration":0.01,"coverage":87.5,"allow_failure":false,
        "failure_reason":"script_failure","web_url":"w","project":{"ci_job_token_scope_enabled":false},"user":null,
        "commit":null,"runner":null,"runner_manager":null,"artifacts":[{"file_type":"trace","size":9,"filename":"job.log",
        "file_format":null}],"artifacts_expire_at":null,"archived":false,"tag_list":["x"],"erased_at":null,
        "pipeline":{"id":6,"iid":1,"status":"failed","source":"push"}}"#;
    both(old, new, |job: Job| {
        assert!(!job.has_artifacts() && !job.is_forgiven() && job.status.is_finished());
        assert_eq!(job.duration.map(f64::trunc), Some(41.0));
    });
    let bridge: Job = read(r#"{"id":2,"status":"pending","downstream_pipeline":null,"stage":"deploy"}"#);
    assert_eq!(bridge.runner, None);
    for (word, live) in [("canceling", true), ("waiting_for_resource", true), ("preparing", true), ("scheduled", false)]
    {
        let job: Job = read(&format!(r#"{{"status":"{word}"}}"#));
        assert_eq!((job.status.is_live(), job.status.to_string().as_str()), (live, word));
    }
}

#[test]
fn the_state_of_a_runner_is_read_in_the_old_and_new_format() {
    let old =
        r#"{"id":1,"description":"d","active":false,"is_shared":true,"online":true,"status":"paused","token":"t"}"#;
    let new = r#"{"id":1,"description":"d","active":false,"paused":true,"is_shared":true,"runner_type":"instance_type",
        "online":true,"status":"paused","ip_address":"","created_by":null,"job_execution_status":"idle","version":null,
        "groups":[],"maximum_timeout":null,"maintenance_note":null}"#;
    both(old, new, |runner: Runner| assert!(runner.is_paused() && runner.is_shared));
    let old = r#"{"id":1,"online":null,"status":"not_connected","name":null}"#;
    both(old, r#"{"id":1,"online":null,"status":"never_contacted"}"#, |runner: Runner| {
        assert_eq!(runner.online, None);
        assert!(matches!(runner.status, RunnerStatus::NotConnected | RunnerStatus::NeverContacted));
    });
}

#[test]
fn a_deployment_can_lack_its_job() {
    let old =
        r#"{"id":1,"iid":1,"environment":{"id":9,"name":"production","external_url":null},"deployable":{"id":3}}"#;
    let new = r#"{"id":1,"iid":1,"status":"blocked","updated_at":null,"deployable":null,
        "environment":{"id":9,"name":"production","external_url":null,"slug":"p","created_at":"2026-01-01T00:00:00Z"}}"#;
    both(old, new, |deployment: Deployment| {
        assert_eq!(deployment.environment.map(|environment| environment.name).as_deref(), Some("production"));
    });
}

#[tokio::test]
async fn a_refused_search_is_read_in_the_old_and_new_format() {
    let search = SearchWithin { within: Scope::Project(1_u64.into()), scope: "blobs".into(), search: "x".into() };
    for body in [
        r#"{"message":{"error":"Scope not supported without Elasticsearch!"}}"#,
        r#"{"message":{"error":"Scope supported only with advanced search or exact code search"}}"#,
        r#"{"error":"scope does not have a valid value"}"#,
    ] {
        let error = one(400, body).await.1.call(&search).await.unwrap_err();
        assert!(error.message().to_lowercase().contains("scope"), "{error}");
    }
    let error = one(408, r#"{"error":"Request timed out"}"#).await.1.call(&search).await.unwrap_err();
    assert_eq!(error.message(), "408: Request timed out");
}

#[test]
fn search_results_are_recognized_in_the_old_and_new_format() {
    let old =
        r#"{"basename":"a/b","data":"x","filename":"a/b.rs","id":null,"ref":"main","startline":3,"project_id":1}"#;
    let new = r#"{"basename":"a/b","data":"x","filename":"a/b.rs","path":"a/b.rs","id":null,"ref":"main","startline":3,
        "project_id":1,"group_id":null}"#;
    both(old, new, |hit: Hit| assert!(matches!(hit, Hit::Blob(blob) if blob.filename == "a/b.rs")));
    let old = r#"{"id":1,"iid":1,"project_id":1,"title":"t","confidential":false,"author":{"id":1}}"#;
    let new = r#"{"id":1,"iid":1,"project_id":1,"title":"t","confidential":false,"author":{"id":1},"type":"ISSUE",
        "issue_type":"issue","closed_by":null,"task_completion_status":{"count":0,"completed_count":0},"epic":null}"#;
    both(old, new, |hit: Hit| assert!(matches!(hit, Hit::Issue(_))));
    assert!(matches!(read::<Hit>(r#"{"id":1,"username":"u","state":"active"}"#), Hit::User(_)));
    let old = r#"{"id":1,"title":"t","file_name":"a.py","description":null}"#;
    let new = r#"{"id":1,"title":"t","file_name":null,"description":null,"visibility":"public","raw_url":"r","imported":false,
        "files":[{"path":"a.py","raw_url":"r"}],"ssh_url_to_repo":"s","http_url_to_repo":"h","project_id":1}"#;
    both(old, new, |snippet: Snippet| {
        let of_files = snippet.files.as_ref().and_then(|files| files.first()).map(|file| file.path.clone());
        assert_eq!(snippet.file_name.or(of_files).as_deref(), Some("a.py"));
    });
}
