//! Filters and attributes of lists, and deletions that affect only what they name.

use crate::{Server, WORLD, add_file, each, json};
use labscope::backend::{Options, WorldKind};
use serde_json::Value;

const PROJECT: &str = "/projects/1";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

async fn demo() -> Server {
    Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await
}

/// Returns a field of each row of a list, as text.
async fn listed(server: &Server, user: &str, path: &str, field: &str) -> Vec<String> {
    each(&server.read(user, path).await, field).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn each_filter_of_projects_leaves_out_what_does_not_match() {
    let server = server().await;
    for (name, visibility) in [("inner", "internal"), ("closed", "private")] {
        json(server.post("ada", "/projects", &[("name", name), ("visibility", visibility)]).await, 201).await;
    }
    json(server.post("bo", "/projects", &[("name", "other"), ("visibility", "public")]).await, 201).await;
    let found = async |filter: &str| {
        let mut names = listed(&server, "ada", &format!("/projects?{filter}"), "path").await;
        names.sort_unstable();
        names
    };
    assert_eq!(found("visibility=internal").await, ["inner"]);
    assert_eq!(found("visibility=private").await, ["closed"]);
    assert_eq!(found("owned=true").await, ["closed", "hello", "inner"]);
    assert_eq!(found("membership=true").await, ["closed", "hello", "inner"]);
}

#[tokio::test]
async fn a_project_name_starts_with_a_letter_digit_or_underscore() {
    let server = server().await;
    for (name, status) in [("-dash", 400), (" space", 400), ("a/b", 400), ("_score", 201), ("9 lives", 201)] {
        let form = [("name", name), ("path", &*format!("p{}", name.len()))];
        let reply = json(server.post("ada", "/projects", &form).await, status).await;
        assert_eq!(reply["message"]["name"].is_array(), status == 400, "{name}: {reply}");
    }
    for (length, status) in [(255, 200), (256, 400)] {
        json(server.put("ada", PROJECT, &[("path", &*"x".repeat(length))]).await, status).await;
    }
}

#[tokio::test]
async fn settings_of_a_project_appear_in_its_representation() {
    let server = server().await;
    assert_eq!(server.read("ada", PROJECT).await["wiki_enabled"], true);
    let changed = json(server.put("ada", PROJECT, &[("wiki_enabled", "false")]).await, 200).await;
    assert_eq!(changed["wiki_enabled"], false);
    let level =
        async || server.read("ada", PROJECT).await["permissions"]["project_access"]["notification_level"].clone();
    assert_eq!(level().await, 3, "global");
    for (name, number) in [("watch", 2), ("mention", 4), ("disabled", 0)] {
        let path = format!("{PROJECT}/notification_settings");
        json(server.put("ada", &path, &[("level", name)]).await, 200).await;
        assert_eq!(level().await, number, "{name}");
    }
}

#[tokio::test]
async fn groups_are_filtered_by_custom_attributes_and_show_them_to_administrators() {
    let server = demo().await;
    let found = |filter: &'static str| {
        let server = &server;
        async move { listed(server, "root", &format!("/groups?{filter}"), "path").await }
    };
    assert_eq!(found("custom_attributes[cost-centre]=1200").await.len(), 1);
    assert_eq!(found("custom_attributes[cost-centre]=1201").await, [""; 0]);
    assert_eq!(found("custom_attributes[unknown]=1200").await, [""; 0]);
    let shows = async |user: &str, flag: bool| {
        let groups = server.read(user, &format!("/groups?with_custom_attributes={flag}")).await;
        groups.as_array().unwrap().iter().filter(|group| group.get("custom_attributes").is_some()).count()
    };
    assert_eq!((shows("root", false).await, shows("ada", true).await), (0, 0));
    assert!(shows("root", true).await > 1);
    let one = async |flag: bool| server.read("root", &format!("/groups/acme?with_custom_attributes={flag}")).await;
    assert_eq!(
        (one(false).await.get("custom_attributes"), one(true).await["custom_attributes"][0]["value"].as_str()),
        (None, Some("1200"))
    );
}

#[tokio::test]
async fn deleting_a_group_keeps_the_notification_settings_of_others() {
    let server = server().await;
    for name in ["red", "blue"] {
        json(server.post("ada", "/groups", &[("name", name), ("path", name)]).await, 201).await;
        let path = format!("/groups/{name}/notification_settings");
        json(server.put("ada", &path, &[("level", "watch")]).await, 200).await;
    }
    assert_eq!(server.delete("ada", "/groups/red").await.status(), 204);
    assert_eq!(server.read("ada", "/groups/blue/notification_settings").await["level"], "watch");
}

#[tokio::test]
async fn a_directory_link_is_deleted_by_its_name_and_provider() {
    let server = server().await;
    json(server.post("ada", "/groups", &[("name", "red"), ("path", "red")]).await, 201).await;
    let at = |rest: &str| format!("/groups/red/ldap_group_links{rest}");
    let link = async |cn: &str, provider: &str| {
        let form = [("cn", cn), ("group_access", "30"), ("provider", provider)];
        server.post("ada", &at(""), &form).await.status().as_u16()
    };
    assert_eq!(
        (link("staff", "main").await, link("staff", "second").await, link("guests", "main").await),
        (201, 201, 201)
    );
    assert_eq!(link("staff", "main").await, 409, "the same name and provider");
    assert_eq!(server.delete("ada", &at("/second/staff")).await.status(), 204);
    assert_eq!(link("staff", "main").await, 409, "the link of the other provider is kept");
    assert_eq!(server.delete("ada", &at("/second/guests")).await.status(), 404);
    assert_eq!(server.delete("ada", &at("/guests")).await.status(), 204);
    assert_eq!((link("guests", "main").await, link("staff", "main").await), (201, 409));
}

#[tokio::test]
async fn users_are_found_by_an_identity_which_can_be_replaced() {
    let server = demo().await;
    let found = async |provider: &str, uid: &str| {
        let query = format!("/users?provider={provider}&extern_uid={uid}");
        listed(&server, "root", &query, "username").await
    };
    let uid = "uid%3Dada,ou%3Dpeople,dc%3Dacme,dc%3Dexample";
    assert_eq!(found("ldapmain", uid).await, ["ada"]);
    assert_eq!(found("ldapmain", "uid%3Dbo").await, [""; 0]);
    assert_eq!(found("saml", uid).await, [""; 0]);
    let ada = server.read("root", "/users?username=ada").await[0]["id"].to_string();
    let set = async |provider: &str, uid: &str| {
        let form = [("provider", provider), ("extern_uid", uid)];
        json(server.put("root", &format!("/users/{ada}"), &form).await, 200).await["identities"].clone()
    };
    assert_eq!(set("saml", "7").await.as_array().map(Vec::len), Some(2));
    let identities = set("saml", "8").await;
    let names: Vec<&Value> = identities.as_array().unwrap().iter().map(|identity| &identity["extern_uid"]).collect();
    assert_eq!(names, ["uid=ada,ou=people,dc=acme,dc=example", "8"]);
}

#[tokio::test]
async fn deleting_a_snippet_or_group_keeps_what_belongs_to_others() {
    let server = server().await;
    let at = |rest: &str| format!("{PROJECT}/snippets{rest}");
    for title in ["one", "two"] {
        let form = [("title", title), ("file_name", "x"), ("code", "x"), ("visibility", "public")];
        let made = json(server.post("ada", &at(""), &form).await, 201).await;
        let notes = at(&format!("/{}/notes", made["id"]));
        json(server.post("bo", &notes, &[("body", title)]).await, 201).await;
    }
    assert_eq!(server.delete("ada", &at("/1")).await.status(), 204);
    assert_eq!(listed(&server, "ada", &at("/2/notes"), "body").await, ["two"]);
    assert_eq!(listed(&server, "ada", &format!("{PROJECT}/merge_requests/1/notes"), "body").await, ["Why?"]);

    let group = json(server.post("ada", "/groups", &[("name", "red"), ("path", "red")]).await, 201).await;
    let form = [("name", "gone"), ("namespace_id", &*group["id"].to_string())];
    json(server.post("ada", "/projects", &form).await, 201).await;
    assert_eq!(server.delete("ada", "/groups/red").await.status(), 204);
    assert_eq!(listed(&server, "ada", "/projects", "path").await, ["hello"]);
    assert_eq!(server.read("ada", &format!("{PROJECT}/pipelines")).await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn merged_branches_of_open_merge_requests_are_kept() {
    let server = server().await;
    let branches = async || listed(&server, "ada", &format!("{PROJECT}/repository/branches"), "name").await;
    let make = async |name: &str, start: &str| {
        let form = [("branch", name), ("ref", start)];
        json(server.post("ada", &format!("{PROJECT}/repository/branches"), &form).await, 201).await;
    };
    for name in ["target", "closed", "source"] {
        make(name, "main").await;
    }
    let request = async |source: &str, target: &str| {
        let form = [("title", source), ("source_branch", source), ("target_branch", target)];
        json(server.post("ada", &format!("{PROJECT}/merge_requests"), &form).await, 201).await["iid"].clone()
    };
    request("source", "main").await;
    request("louder", "target").await;
    let closed = request("closed", "main").await;
    let path = format!("{PROJECT}/merge_requests/{closed}");
    json(server.put("ada", &path, &[("state_event", "close")]).await, 200).await;
    // All three are behind the default branch now.
    add_file(&server, "ada", PROJECT, "main").await;
    json(server.delete("ada", &format!("{PROJECT}/repository/merged_branches")).await, 202).await;
    assert_eq!(branches().await, ["louder", "main", "source", "target"]);
}
