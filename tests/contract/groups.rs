//! Groups.

use crate::sample::{acme, word};
use labscope::api::groups::*;
use std::collections::BTreeMap;

requests! {
    ListGroups {
        skip_groups: Some(vec![1, 2]),
        all_available: Some(true),
        search: word("ac"),
        order_by: word("path"),
        sort: word("desc"),
        statistics: Some(true),
        with_custom_attributes: Some(true),
        owned: Some(true),
        custom_attributes: Some(BTreeMap::from([("team".to_owned(), "blue".to_owned())])),
    } => "GET /groups?all_available=true&custom_attributes[team]=blue&order_by=path&owned=true&search=ac\
          &skip_groups[]=1&skip_groups[]=2&sort=desc&statistics=true&with_custom_attributes=true";
    ListSubgroups { id: acme(), owned: Some(true), ..ListSubgroups::default() } =>
        "GET /groups/acme%2Fui/subgroups?owned=true";
    ListGroupProjects {
        id: 4.into(),
        include_subgroups: Some(true),
        archived: Some(false),
        visibility: word("public"),
        order_by: word("name"),
        sort: word("asc"),
        search: word("x"),
        simple: Some(true),
        owned: Some(true),
        starred: Some(true),
        with_custom_attributes: Some(true),
    } => "GET /groups/4/projects?archived=false&include_subgroups=true&order_by=name&owned=true&search=x&simple=true&sort=asc&starred=true\
          &visibility=public&with_custom_attributes=true";
    GetGroup { id: 4.into(), with_custom_attributes: Some(true) } => "GET /groups/4?with_custom_attributes=true";
    CreateGroup {
        name: "A".into(),
        path: "a".into(),
        description: word("d"),
        visibility: word("private"),
        lfs_enabled: Some(true),
        request_access_enabled: Some(false),
        parent_id: Some(3),
        shared_runners_minutes_limit: Some(10),
    } => "POST /groups | description=d&lfs_enabled=true&name=A&parent_id=3&path=a&request_access_enabled=false\
          &shared_runners_minutes_limit=10&visibility=private";
    TransferProject { id: 4.into(), project_id: acme() } => "POST /groups/4/projects/acme%2Fui";
    UpdateGroup {
        id: 5.into(),
        name: word("E"),
        path: word("e"),
        description: word("d"),
        membership_lock: Some(true),
        share_with_group_lock: Some(true),
        visibility: word("internal"),
        lfs_enabled: Some(true),
        request_access_enabled: Some(true),
        shared_runners_minutes_limit: Some(1),
    } => "PUT /groups/5 | description=d&lfs_enabled=true&membership_lock=true&name=E&path=e\
          &request_access_enabled=true&share_with_group_lock=true&shared_runners_minutes_limit=1&visibility=internal";
    DeleteGroup { id: 5.into() } => "DELETE /groups/5";
    SyncLdap { id: 5.into() } => "POST /groups/5/ldap_sync";
    AddLdapLink { id: 5.into(), cn: "devs".into(), group_access: 30, provider: "ldapmain".into() } =>
        "POST /groups/5/ldap_group_links | cn=devs&group_access=30&provider=ldapmain";
    DeleteLdapLink { id: 5.into(), cn: "devs".into() } => "DELETE /groups/5/ldap_group_links/devs";
    DeleteLdapProviderLink { id: 5.into(), provider: "ldapmain".into(), cn: "a/b".into() } =>
        "DELETE /groups/5/ldap_group_links/ldapmain/a%2Fb";
}

samples! {
    Group => r#"{
        "id": 1, "name": "Foobar Group", "path": "foo-bar", "description": "An interesting group",
        "visibility": "public", "lfs_enabled": true, "avatar_url": "http://h/foo.jpg", "web_url": "http://h/groups/f",
        "request_access_enabled": false, "full_name": "Foobar Group", "full_path": "foo-bar", "parent_id": null,
        "statistics": {"storage_size": 212, "repository_size": 33, "lfs_objects_size": 123, "job_artifacts_size": 57},
        "shared_runners_minutes_limit": 133, "projects": [{"id": 7, "name": "p"}], "shared_projects": []
    }"#;
}
