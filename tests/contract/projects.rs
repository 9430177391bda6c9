//! Projects.

use crate::sample::{acme, word};
use labscope::api::projects::*;
use std::collections::BTreeMap;

requests! {
    ListProjects {
        archived: Some(true),
        visibility: word("public"),
        order_by: word("last_activity_at"),
        sort: word("asc"),
        search: word("x y"),
        simple: Some(true),
        owned: Some(true),
        membership: Some(true),
        starred: Some(true),
        statistics: Some(true),
        with_custom_attributes: Some(true),
        with_issues_enabled: Some(true),
        with_merge_requests_enabled: Some(true),
        custom_attributes: Some(BTreeMap::from([("k".to_owned(), "v".to_owned())])),
    } => "GET /projects?archived=true&custom_attributes[k]=v&membership=true&order_by=last_activity_at&owned=true\
          &search=x%20y&simple=true&sort=asc&starred=true&statistics=true&visibility=public\
          &with_custom_attributes=true&with_issues_enabled=true&with_merge_requests_enabled=true";
    GetProject { id: acme(), statistics: Some(true), with_custom_attributes: Some(false) } =>
        "GET /projects/acme%2Fui?statistics=true&with_custom_attributes=false";
    ListProjectUsers { id: 1.into(), search: word("jo") } => "GET /projects/1/users?search=jo";
    GetLanguages { id: acme() } => "GET /projects/acme%2Fui/languages";
    StarProject { id: acme() } => "POST /projects/acme%2Fui/star";
    ForkProject {
        id: acme(),
        namespace_path: word("a/b"),
        name: word("N"),
        path: word("n"),
        description: word("d"),
        visibility: word("private"),
    } => "POST /projects/acme%2Fui/fork | description=d&name=N&namespace_path=a/b&path=n&visibility=private";
    UnstarProject { id: acme() } => "POST /projects/acme%2Fui/unstar";
    CreateProject {
        name: word("New"),
        path: word("new"),
        namespace_id: Some(2),
        default_branch: word("main"),
        description: word("d"),
        issues_enabled: Some(true),
        merge_requests_enabled: Some(true),
        jobs_enabled: Some(true),
        wiki_enabled: Some(true),
        snippets_enabled: Some(true),
        resolve_outdated_diff_discussions: Some(true),
        container_registry_enabled: Some(true),
        shared_runners_enabled: Some(true),
        visibility: word("private"),
        import_url: word("https://h/x.git"),
        public_jobs: Some(true),
        only_allow_merge_if_pipeline_succeeds: Some(true),
        only_allow_merge_if_all_discussions_are_resolved: Some(true),
        lfs_enabled: Some(true),
        request_access_enabled: Some(true),
        tag_list: Some(vec!["a".into(), "b".into()]),
        // A file is a separate part of the form and has no text representation.
        avatar: Some(labscope::api::types::File),
        printing_merge_request_link_enabled: Some(true),
        ci_config_path: word("ci.yml"),
        repository_storage: word("default"),
        approvals_before_merge: Some(1),
    } => "POST /projects | approvals_before_merge=1&ci_config_path=ci.yml&container_registry_enabled=true\
          &default_branch=main&description=d&import_url=https://h/x.git&issues_enabled=true&jobs_enabled=true\
          &lfs_enabled=true&merge_requests_enabled=true&name=New&namespace_id=2\
          &only_allow_merge_if_all_discussions_are_resolved=true&only_allow_merge_if_pipeline_succeeds=true\
          &path=new&printing_merge_request_link_enabled=true&public_jobs=true&repository_storage=default\
          &request_access_enabled=true&resolve_outdated_diff_discussions=true&shared_runners_enabled=true\
          &snippets_enabled=true&tag_list[]=a&tag_list[]=b&visibility=private&wiki_enabled=true";
    CreateUserProject { user_id: 3, name: "New".into(), path: word("new"), ..CreateUserProject::default() } =>
        "POST /projects/user/3 | name=New&path=new";
    UpdateProject { id: 1.into(), name: word("N"), description: word(""), ..UpdateProject::default() } =>
        "PUT /projects/1 | description=&name=N";
}

samples! {
    Project => r#"{
        "id": 3, "description": null, "default_branch": "master", "visibility": "private",
        "ssh_url_to_repo": "git@h:d/p.git", "http_url_to_repo": "http://h/d/p.git", "web_url": "http://h/d/p",
        "tag_list": ["example"], "owner": {"id": 3, "name": "D", "created_at": "2013-09-30T13:46:02Z"}, "name": "P",
        "name_with_namespace": "D / P", "path": "p", "path_with_namespace": "d/p", "issues_enabled": true,
        "merge_requests_enabled": true, "jobs_enabled": true, "wiki_enabled": true, "snippets_enabled": false,
        "resolve_outdated_diff_discussions": false, "container_registry_enabled": false, "archived": false,
        "shared_runners_enabled": true, "public_jobs": true, "only_allow_merge_if_pipeline_succeeds": false,
        "only_allow_merge_if_all_discussions_are_resolved": false, "printing_merge_requests_link_enabled": true,
        "request_access_enabled": false, "open_issues_count": 1, "creator_id": 3, "forks_count": 0, "star_count": 0,
        "approvals_before_merge": 0, "created_at": "2013-09-30T13:46:02Z", "last_activity_at": "2013-09-30T13:46:02Z",
        "namespace": {"id": 3, "name": "D", "path": "d", "kind": "group", "full_path": "d"},
        "import_status": "none", "import_error": null,
        "permissions": {"project_access": {"access_level": 10, "notification_level": 3},
            "group_access": {"access_level": 50, "notification_level": 3}},
        "avatar_url": "http://h/a.png", "runners_token": "b8bc4a7a29eb76ea83cf79e4908c2b",
        "shared_with_groups": [{"group_id": 4, "group_name": "T", "group_access_level": 30}],
        "repository_storage": "default",
        "statistics": {"commit_count": 37, "storage_size": 1038090, "repository_size": 1038090,
            "lfs_objects_size": 0, "job_artifacts_size": 0},
        "_links": {"self": "http://h/api/v4/projects", "issues": "i", "merge_requests": "m", "repo_branches": "r",
            "labels": "l", "events": "e", "members": "m"}
    }"#;
    Project => r#"{"id": 6, "topics": ["a"], "empty_repo": true, "default_branch": null,
        "forked_from_project": {"id": 1, "path_with_namespace": "a/b"}}"#;
}

#[test]
fn project_accessors_use_whichever_field_the_server_sends() {
    let read = |text: &str| serde_json::from_str::<Project>(text).expect("a project");
    assert_eq!(read(r#"{"tag_list": ["a"]}"#).topics(), ["a"]);
    assert_eq!(read(r#"{"tag_list": ["a"], "topics": ["b"]}"#).topics(), ["b"]);
    assert!(read(r#"{"default_branch": null}"#).is_empty());
    assert!(!read(r#"{"default_branch": "main", "empty_repo": false}"#).is_empty());
    assert!(!read("{}").is_empty(), "an absent field does not mean empty");
    let access = r#"{"permissions": {"project_access": null, "group_access": {"access_level": 30}}}"#;
    assert_eq!(read(access).access_level(), Some(30));
}

#[test]
fn an_absent_field_is_treated_like_null() {
    let null = r#"{"owner": null, "permissions": null, "runners_token": null, "repository_storage": null}"#;
    for text in ["{}", null] {
        let project: Project = serde_json::from_str(text).expect("a project");
        assert!(project.owner.as_ref().is_none() && project.permissions.as_ref().is_none(), "{text}");
        assert!(project.runners_token.as_ref().is_none() && project.repository_storage.as_ref().is_none(), "{text}");
        assert_eq!(project.access_level(), None, "{text}");
    }
}
