//! The rights that operations of the server alone require, in a private project with members of every role.

use crate::{Server, json};
use reqwest::{Method, Response};

/// A world with a private project, whose members have the names of their roles, and a stranger.
const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [
    { username = "root", admin = true },
    { username = "owner" },
    { username = "maintainer" },
    { username = "developer" },
    { username = "reporter" },
    { username = "guest" },
    { username = "stranger" },
    { username = "external", external = true },
    { username = "blocked", blocked = true, token = "of-blocked" },
]

[[projects]]
path = "owner/shut"
visibility = "private"
members = { maintainer = "maintainer", developer = "developer", reporter = "reporter", guest = "guest" }
files = """
-- a.txt --
one
"""
script = """
from 2026-11-02
to 2026-11-20
owner: Begin
  + a.txt
branch louder
owner: Say it louder
  ~ a.txt
    < one
    > ONE
"""

[[merge_requests]]
project = "owner/shut"
iid = 1
title = "Louder"
source = "louder"
author = "owner"
created = "1d"

[[issues]]
project = "owner/shut"
iid = 1
title = "Open"
author = "owner"
created = "1d"

[[issues]]
project = "owner/shut"
iid = 2
title = "Secret"
confidential = true
author = "owner"
created = "1d"

[[scripts]]
name = "hello"
text = "$ true"

[[templates]]
name = "one"
jobs = [{ name = "hello", stage = "test", script = "hello" }]

[[pipelines]]
project = "owner/shut"
ref_name = "louder"
template = "one"
user = "owner"
created = "1h"
"#;

/// The members by rising rights.
const ROLES: [&str; 5] = ["guest", "reporter", "developer", "maintainer", "owner"];

/// A call and the lowest role that may make it. `GET x?a=b` and `POST x a=b` have inputs. Those with a lower role get a
/// 403, or the status before the method.
const CALLS: &[(&str, &str)] = &[
    ("GET repository/files/a.txt?ref=main", "reporter"),
    ("GET repository/files/a.txt/raw?ref=main", "reporter"),
    ("GET repository/files/a.txt/blame?ref=main", "reporter"),
    ("POST repository/files/b.txt branch=louder&commit_message=x&content=x", "developer"),
    ("PUT repository/files/b.txt branch=louder&commit_message=x&content=y", "developer"),
    ("DELETE repository/files/b.txt?branch=louder&commit_message=x", "developer"),
    ("GET repository/merge_base?refs=main,louder", "reporter"),
    ("POST repository/commits/louder/revert branch=louder&dry_run=true", "developer"),
    ("GET protected_branches/main", "reporter"),
    ("GET merge_requests/1/versions/1", "reporter"),
    ("GET merge_requests/1/diffs", "reporter"),
    ("GET merge_requests/1/raw_diffs", "reporter"),
    ("GET merge_requests/1/closes_issues", "reporter"),
    ("GET merge_requests/1/related_issues", "reporter"),
    ("GET merge_requests/1/blocks", "reporter"),
    ("GET merge_requests/1/blockees", "reporter"),
    ("GET issues/1/links", "guest"),
    ("GET merge_requests/1/merge_ref", "reporter"),
    ("POST merge_requests/1/pipelines", "developer"),
    ("POST merge_requests/1/subscribe", "developer"),
    ("POST merge_requests/1/unsubscribe", "developer"),
    ("POST merge_requests/1/todo", "reporter"),
    ("GET merge_requests/1/time_stats", "reporter"),
    ("POST merge_requests/1/time_estimate duration=1h", "developer"),
    ("POST merge_requests/1/add_spent_time duration=1h", "developer"),
    ("GET issues/1/time_stats", "guest"),
    ("POST issues/1/reset_time_estimate", "reporter"),
    ("POST issues/1/reset_spent_time", "reporter"),
    ("POST issues/1/subscribe", "guest"),
    ("POST issues/1/todo", "guest"),
    ("404 POST issues/2/subscribe", "reporter"),
    ("404 POST issues/2/unsubscribe", "reporter"),
    ("404 POST issues/2/todo", "reporter"),
    ("GET members/all/2", "guest"),
    ("GET members/2", "guest"),
    ("GET labels/bug", "guest"),
    ("GET milestones/1", "guest"),
    ("GET releases/v1", "guest"),
    ("GET releases/permalink/latest", "guest"),
    ("GET releases/v1/assets/links/1", "guest"),
    ("GET forks", "guest"),
    ("GET uploads", "maintainer"),
    ("PUT pipelines/1/metadata name=x", "developer"),
    ("GET variables", "maintainer"),
    ("POST variables key=A&value=x", "maintainer"),
    ("PUT variables/A value=y", "maintainer"),
    ("DELETE variables/A", "maintainer"),
    ("401 GET access_tokens", "maintainer"),
    ("400 POST access_tokens name=x&scopes[]=api", "maintainer"),
    ("401 GET access_tokens/10", "maintainer"),
    ("401 POST access_tokens/10/rotate", "maintainer"),
    ("400 DELETE access_tokens/11", "maintainer"),
    ("GET triggers", "maintainer"),
    ("POST triggers description=x", "maintainer"),
    ("GET triggers/1", "maintainer"),
    ("PUT triggers/1 description=y", "maintainer"),
    ("DELETE triggers/1", "maintainer"),
    ("GET pipelines/1/variables", "maintainer"),
    ("GET pipelines/1/jobs?include_retried=true", "reporter"),
    ("GET jobs/1/trace", "reporter"),
    ("GET deployments", "reporter"),
    ("GET environments", "reporter"),
    ("GET events", "guest"),
    ("GET protected_tags", "maintainer"),
    ("POST protected_tags name=v*", "maintainer"),
    ("GET protected_tags/v*", "maintainer"),
    ("DELETE protected_tags/v*", "maintainer"),
    ("404 GET issues/2", "reporter"),
    ("404 GET issues/2/notes", "reporter"),
    ("404 POST issues/2/notes body=x", "reporter"),
    ("404 GET issues/2/discussions", "reporter"),
    ("404 GET issues/2/links", "reporter"),
    ("404 GET issues/2/participants", "reporter"),
    ("404 GET issues/2/award_emoji", "reporter"),
    ("404 GET issues/2/time_stats", "reporter"),
    ("404 GET issues/2/closed_by", "reporter"),
    ("404 GET issues/2/related_merge_requests", "reporter"),
    ("GET pipeline_schedules", "reporter"),
    ("POST pipeline_schedules description=x&ref=louder&cron=0 0 * * *", "developer"),
    ("GET pipeline_schedules/1", "reporter"),
    ("POST pipeline_schedules/1/play", "developer"),
    ("PUT pipeline_schedules/1 active=false", "developer"),
    ("POST pipeline_schedules/1/variables key=A&value=x", "developer"),
    ("POST pipeline_schedules/1/take_ownership", "maintainer"),
    ("DELETE pipeline_schedules/1", "maintainer"),
    ("GET ci/lint", "reporter"),
    ("POST ci/lint content=x", "developer"),
    ("GET templates/issues", "reporter"),
    ("GET repository/changelog?version=1.0.0&from=main", "reporter"),
    ("POST repository/changelog version=1.0.0&from=main&branch=louder", "developer"),
    ("GET repository/commits/main/discussions", "reporter"),
    ("POST repository/commits/main/discussions body=x", "reporter"),
    ("POST archive", "owner"),
    ("POST unarchive", "owner"),
    ("PUT transfer namespace=owner", "owner"),
    ("DELETE merge_requests/1", "owner"),
    ("DELETE ", "owner"),
];

/// Returns the status of a call.
async fn status(server: &Server, user: &str, call: &str) -> u16 {
    // A redirect is an answer, too.
    send(server, user, call).await.status().as_u16()
}

async fn send(server: &Server, user: &str, call: &str) -> Response {
    let (method, rest) = call.split_once(' ').unwrap();
    let (path, form) = rest.split_once(' ').unwrap_or((rest, ""));
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let path = format!("/projects/owner%2Fshut/{path}");
    let request = server.call(user, method, path.trim_end_matches('/'));
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(form.to_owned());
    request.send().await.unwrap()
}

#[tokio::test]
async fn operations_of_the_server_alone_require_what_gitlab_requires() {
    let server = Server::of(WORLD, &Default::default()).await;
    let project = "/projects/owner%2Fshut";
    json(server.post("owner", &format!("{project}/labels"), &[("name", "bug"), ("color", "red")]).await, 201).await;
    json(server.post("owner", &format!("{project}/protected_branches"), &[("name", "main")]).await, 201).await;
    json(server.post("owner", &format!("{project}/milestones"), &[("title", "Next")]).await, 201).await;
    let form = [("tag_name", "v1"), ("ref", "main")];
    json(server.post("owner", &format!("{project}/releases"), &form).await, 201).await;
    let form = [("name", "a"), ("url", "https://acme.example/a")];
    json(server.post("owner", &format!("{project}/releases/v1/assets/links"), &form).await, 201).await;
    for (call, least) in CALLS {
        let (first, rest) = call.split_once(' ').unwrap();
        let (below, call) = first.parse().map_or((403, *call), |status: u16| (status, rest));
        assert!([401, 404].contains(&status(&server, "", call).await), "{call} without a token");
        for user in ["stranger", "external"] {
            assert_eq!(status(&server, user, call).await, 404, "{call} by {user}");
        }
        assert_eq!(status(&server, "blocked", call).await, 403, "{call} by a blocked user");
        let at = ROLES.iter().position(|role| role == least).unwrap();
        for role in &ROLES[..at] {
            assert_eq!(status(&server, role, call).await, below, "{call} by {role}");
        }
        let allowed = status(&server, least, call).await;
        assert!((200..400).contains(&allowed) || allowed == 400, "{call} by {least}: {allowed}");
    }
}

/// Calls with wrong inputs by someone who may make them, and the status and the reason of the refusal.
const MISTAKES: &[(&str, u16, &str)] = &[
    ("POST variables key=A", 400, "value is missing"),
    ("POST variables key=A B&value=x", 400, "can contain only letters, digits and '_'."),
    ("POST variables key=A&value=x&masked=true", 400, "is invalid"),
    ("POST variables key=A&value=x&variable_type=y", 400, "variable_type does not have a valid value"),
    ("PUT variables/A value=x", 404, "404 Variable Not Found"),
    ("DELETE variables/A", 404, "404 Variable Not Found"),
    ("POST pipeline_schedules description=x", 400, "ref is missing, cron is missing"),
    ("POST pipeline_schedules description=x&ref=main&cron=* *", 400, "is invalid syntax"),
    ("POST pipeline_schedules description=x&ref=gone&cron=0 0 * * *", 400, "Reference not found"),
    ("PUT pipeline_schedules/9 cron=x", 404, "404 Pipeline Schedule Not Found"),
    ("POST pipeline_schedules/9/play", 404, "404 Pipeline Schedule Not Found"),
    ("GET pipeline_schedules?scope=x", 400, "scope does not have a valid value"),
    ("POST protected_tags", 400, "name is missing"),
    ("POST protected_tags name=v*&create_access_level=33", 400, "create_access_level does not have a valid value"),
    ("DELETE protected_tags/v*", 404, "404 Not found"),
    ("POST deployments/9/approval status=maybe", 400, "status does not have a valid value"),
    ("POST deployments/9/approval status=approved", 404, "404 Not found"),
    ("GET templates/licenses", 400, "type does not have a valid value"),
    ("GET templates/issues/Bug", 404, "404 Template Not Found"),
    ("GET templates/issues/..%2Fa.txt", 404, "404 Template Not Found"),
    ("POST ci/lint", 400, "content is missing"),
    ("GET ci/lint?content_ref=gone", 404, "404 Commit Not Found"),
    ("GET events?action=x", 400, "action does not have a valid value"),
    ("GET events?target_type=x", 400, "target_type does not have a valid value"),
    ("GET events?before=x", 400, "before is invalid"),
    ("GET events?sort=x", 400, "sort does not have a valid value"),
    ("POST uploads", 400, "file is missing"),
    ("GET uploads/9", 404, "404 Not found"),
    ("GET uploads/x", 400, "upload_id is invalid"),
    ("POST triggers", 400, "description is missing"),
    ("GET triggers/9", 404, "404 Not found"),
    ("GET access_tokens?state=x", 400, "state does not have a valid value"),
    ("DELETE access_tokens/99", 404, "404 project Access Token Not Found"),
    ("POST merge_requests/1/cancel_auto_merge", 409, "Can't cancel the automatic merge"),
    ("GET merge_requests/1/diffs?unidiff=x", 400, "unidiff is invalid"),
    ("GET pipelines/1/jobs?include_retried=x", 400, "include_retried is invalid"),
    ("GET repository/tree?path=gone", 404, "404 invalid revision or path Not Found"),
];

#[tokio::test]
async fn wrong_inputs_are_refused_as_gitlab_refuses_them() {
    let server = Server::of(WORLD, &Default::default()).await;
    for (call, expected, reason) in MISTAKES {
        let reply = send(&server, "owner", call).await;
        let (status, text) = (reply.status().as_u16(), reply.text().await.unwrap());
        assert!(status == *expected && text.contains(reason), "{call}: {status} {text}");
    }
    let tag = send(&server, "owner", "POST protected_tags name=v*").await;
    assert_eq!(tag.status(), 201);
    assert_eq!(send(&server, "owner", "POST protected_tags name=v*").await.status(), 422, "it is taken");
}

/// A confidential issue of a public project is in no reply for those who may not read it.
#[tokio::test]
async fn strangers_and_guests_meet_no_trace_of_a_confidential_issue() {
    let server = Server::of(WORLD, &Default::default()).await;
    let project = "/projects/owner%2Fshut";
    json(server.put("owner", project, &[("visibility", "public")]).await, 200).await;
    let issue = format!("{project}/issues/2");
    let form = [("target_project_id", "owner/shut"), ("target_issue_iid", "2")];
    json(server.post("owner", &format!("{project}/issues/1/links"), &form).await, 201).await;
    json(server.post("owner", &format!("{issue}/notes"), &[("body", "Hush @guest @stranger")]).await, 201).await;
    let milestone = json(server.post("owner", &format!("{project}/milestones"), &[("title", "Next")]).await, 201).await;
    let milestone = milestone["id"].to_string();
    let form = [("milestone_id", milestone.as_str()), ("labels", "rare")];
    json(server.put("owner", &issue, &form).await, 200).await;
    let text = [("description", "Closes #2")];
    json(server.put("owner", &format!("{project}/merge_requests/1"), &text).await, 200).await;
    let paths = [
        "issues?scope=all",
        "issues/1/links",
        "issues/1/notes",
        "events",
        "merge_requests/1/closes_issues",
        "merge_requests/1/related_issues",
        "merge_requests/1/notes",
        &format!("milestones/{milestone}/issues"),
        "search?scope=issues&search=Secret",
        "search?scope=notes&search=Hush",
    ];
    let elsewhere = ["/issues?scope=all", "/todos", "/search?scope=issues&search=Secret", "/users/owner/events"];
    let all: Vec<String> = paths.iter().map(|path| format!("{project}/{path}")).collect();
    for user in ["stranger", "external", "guest", ""] {
        for path in all.iter().map(String::as_str).chain(elsewhere) {
            let reply = server.get(user, path).await;
            let (status, text) = (reply.status().as_u16(), reply.text().await.unwrap());
            assert!(status == 200 || user.is_empty() && status == 401, "{path} by {user:?}: {status}");
            assert!(!text.contains("Secret") && !text.contains("Hush"), "{path} by {user:?}: {text}");
        }
        if !user.is_empty() {
            assert_eq!(server.read(user, project).await["open_issues_count"], 1, "{user}");
            let labels = server.read(user, &format!("{project}/labels?with_counts=true")).await;
            assert_eq!(labels[0]["open_issues_count"], 0, "{user}: {labels}");
        }
    }
    for path in &all {
        let reply = server.get("reporter", path).await.text().await.unwrap();
        let is_about_it = !path.ends_with("/issues/1/notes") && !path.ends_with("/merge_requests/1/notes");
        assert_eq!(reply.contains("Secret") || reply.contains("Hush"), is_about_it, "{path}: {reply}");
    }
}
