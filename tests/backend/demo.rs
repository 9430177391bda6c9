//! The demo world over HTTP: everything in it can be read.

use crate::{Server, json};
use labscope::backend::{Options, WorldKind};
use serde_json::Value;

#[tokio::test]
async fn every_list_and_every_item_of_the_demo_can_be_read() {
    let server = Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await;
    let mut paths: Vec<String> = [
        "/projects",
        "/groups",
        "/users",
        "/runners",
        "/runners/all",
        "/merge_requests?scope=all",
        "/user",
        "/user/keys",
        "/user/gpg_keys",
        "/notification_settings",
    ]
    .map(str::to_owned)
    .to_vec();
    for scope in ["projects", "issues", "merge_requests", "milestones", "snippet_titles", "users", "groups"] {
        paths.push(format!("/search?scope={scope}&search=a"));
    }
    let ids = |list: &Value, key: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|row| row[key].to_string().trim_matches('"').to_owned()).collect()
    };
    for user in ids(&server.read("root", "/users?per_page=100").await, "id") {
        paths.extend(["", "/keys", "/gpg_keys", "/projects"].map(|rest| format!("/users/{user}{rest}")));
    }
    for runner in ids(&server.read("root", "/runners/all").await, "id") {
        paths.extend(["", "/jobs"].map(|rest| format!("/runners/{runner}{rest}")));
    }
    for group in ids(&server.read("root", "/groups?per_page=100").await, "id") {
        let rest = ["", "/subgroups", "/projects", "/notification_settings", "/-/search?scope=issues&search=e"];
        paths.extend(rest.map(|rest| format!("/groups/{group}{rest}")));
    }
    for project in server.read("root", "/projects?per_page=100&statistics=true").await.as_array().unwrap() {
        let at = format!("/projects/{}", project["id"]);
        let lists = [
            "",
            "/users",
            "/jobs?per_page=100",
            "/merge_requests?per_page=100",
            "/snippets",
            "/deployments",
            "/runners",
            "/repository/branches",
            "/repository/tags",
            "/repository/commits",
            "/repository/contributors",
            "/notification_settings",
            "/-/search?scope=blobs&search=fn",
            "/-/search?scope=commits&search=a",
            "/-/search?scope=notes&search=a",
        ];
        paths.extend(lists.map(|rest| format!("{at}{rest}")));
        if !project["default_branch"].is_null() {
            paths.push(format!("{at}/repository/tree?recursive=true"));
        }
        for mr in ids(&server.read("root", &format!("{at}/merge_requests?per_page=100")).await, "iid") {
            let rest = ["", "/commits", "/changes", "/notes", "/participants", "/pipelines"];
            paths.extend(rest.map(|rest| format!("{at}/merge_requests/{mr}{rest}")));
        }
        for job in ids(&server.read("root", &format!("{at}/jobs?per_page=100")).await, "id") {
            paths.push(format!("{at}/jobs/{job}"));
        }
    }
    for path in &paths {
        let reply = server.get("root", path).await;
        json(reply, 200).await;
    }
    assert!(paths.len() > 200, "{}", paths.len());
}
