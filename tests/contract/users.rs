//! Users and keys.

use crate::sample::{time, word};
use labscope::api::users::*;
use std::collections::BTreeMap;

requests! {
    ListUsers {
        active: Some(true),
        blocked: Some(true),
        search: word("jo"),
        username: word("john"),
        extern_uid: word("1"),
        provider: word("ldap"),
        external: Some(true),
        created_after: time(),
        created_before: time(),
        custom_attributes: Some(BTreeMap::from([("k".to_owned(), "v".to_owned())])),
        with_custom_attributes: Some(true),
        order_by: word("name"),
        sort: word("asc"),
    } => "GET /users?active=true&blocked=true&created_after=2018-01-01T00%3A00%3A00Z\
          &created_before=2018-01-01T00%3A00%3A00Z&custom_attributes[k]=v&extern_uid=1&external=true&order_by=name\
          &provider=ldap&search=jo&sort=asc&username=john&with_custom_attributes=true";
    GetUser { id: 1, with_custom_attributes: Some(true) } => "GET /users/1?with_custom_attributes=true";
    CreateUser {
        email: "a@b".into(),
        username: "a".into(),
        name: "A".into(),
        password: word("p"),
        reset_password: Some(false),
        messenger_id: word("m"),
        network_profile: word("n"),
        microblog_account: word("b"),
        website_url: word("w"),
        organization: word("o"),
        projects_limit: Some(10),
        extern_uid: word("1"),
        provider: word("ldap"),
        bio: word("x"),
        avatar: Some(labscope::api::types::File),
        location: word("l"),
        admin: Some(false),
        can_create_group: Some(true),
        skip_confirmation: Some(true),
        external: Some(false),
        shared_runners_minutes_limit: Some(5),
    } => "POST /users | admin=false&bio=x&can_create_group=true&email=a@b&extern_uid=1&external=false&location=l\
          &messenger_id=m&microblog_account=b&name=A&network_profile=n&organization=o&password=p&projects_limit=10\
          &provider=ldap&reset_password=false&shared_runners_minutes_limit=5&skip_confirmation=true&username=a\
          &website_url=w";
    UpdateUser { id: 1, email: word("a@b"), skip_reconfirmation: Some(true), ..UpdateUser::default() } =>
        "PUT /users/1 | email=a@b&skip_reconfirmation=true";
    DeleteUser { id: 1, hard_delete: Some(true) } => "DELETE /users/1?hard_delete=true";
    GetCurrentUser { sudo: Some(4) } => "GET /user?sudo=4";
    ListKeys {} => "GET /user/keys";
    ListUserKeys { id: 2.into() } => "GET /users/2/keys";
    GetKey { key_id: 3 } => "GET /user/keys/3";
    AddKey { title: "t".into(), key: "ssh-rsa AAAA".into() } => "POST /user/keys | key=ssh-rsa AAAA&title=t";
    AddUserKey { id: 2, title: "t".into(), key: "k".into() } => "POST /users/2/keys | key=k&title=t";
    DeleteKey { key_id: 3 } => "DELETE /user/keys/3";
    DeleteUserKey { id: 2, key_id: 3 } => "DELETE /users/2/keys/3";
    ListGpgKeys {} => "GET /user/gpg_keys";
    GetGpgKey { key_id: 3 } => "GET /user/gpg_keys/3";
    AddGpgKey { key: "-----BEGIN".into() } => "POST /user/gpg_keys | key=-----BEGIN";
    DeleteGpgKey { key_id: 3 } => "DELETE /user/gpg_keys/3";
    ListUserGpgKeys { id: 2 } => "GET /users/2/gpg_keys";
    GetUserGpgKey { id: 2, key_id: 3 } => "GET /users/2/gpg_keys/3";
    LookUpKey { id: 1 } => "GET /keys/1";
    ListUserProjects { user_id: "john".into(), starred: Some(true), ..ListUserProjects::default() } =>
        "GET /users/john/projects?starred=true";
}

samples! {
    User => r#"{"id": 1, "username": "john_smith", "name": "John Smith", "state": "active",
        "avatar_url": "http://h/cd8.jpeg", "web_url": "http://h/john_smith"}"#;
    Profile => r#"{
        "id": 1, "username": "john_smith", "email": "john@example.com", "name": "John Smith", "state": "active",
        "avatar_url": "http://h/index.jpg", "web_url": "http://h/john_smith", "created_at": "2012-05-23T08:00:58Z",
        "is_admin": false, "bio": null, "location": null, "messenger_id": "", "network_profile": "",
        "microblog_account": "", "website_url": "", "organization": "", "last_sign_in_at": "2012-06-01T11:41:01Z",
        "confirmed_at": "2012-05-23T09:05:22Z", "theme_id": 1, "last_activity_on": "2012-05-23",
        "color_scheme_id": 2, "projects_limit": 100, "current_sign_in_at": null,
        "identities": [{"provider": "github", "extern_uid": "2435223452345"}], "can_create_group": true,
        "can_create_project": true, "two_factor_enabled": true, "external": false,
        "shared_runners_minutes_limit": 133
    }"#;
    SshKey => r#"{"id": 1, "title": "Sample key 25", "key": "ssh-rsa AAAAB3", "created_at": "2015-09-03T07:24:44.627Z",
        "user": {"id": 25, "name": "John Smith", "username": "john_smith", "theme_id": 2, "color_scheme_id": 1}}"#;
    GpgKey => r#"{"id": 1, "key": "-----BEGIN PGP PUBLIC KEY BLOCK-----", "created_at": "2017-09-05T09:17:46.264Z"}"#;
}

#[test]
fn alternative_names_of_social_accounts_are_read() {
    // The local server sends both, since the specification has other names than real servers.
    for text in [
        r#"{"id": 1, "skype": "s", "linkedin": "l", "twitter": "t"}"#,
        r#"{"id": 1, "messenger_id": "s", "network_profile": "l", "microblog_account": "t"}"#,
        r#"{"messenger_id": "s", "skype": "s", "linkedin": "l", "network_profile": "l", "twitter": "t", "microblog_account": "t"}"#,
    ] {
        let user: Profile = serde_json::from_str(text).expect("a user");
        assert_eq!([user.messenger(), user.network(), user.microblog()], [Some("s"), Some("l"), Some("t")], "{text}");
    }
}
