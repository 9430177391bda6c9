//! The rights that operations of the server alone require, in a private project with members of every role.

use crate::{Server, json};
use reqwest::Method;

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
    ("401 GET access_tokens/9", "maintainer"),
    ("401 POST access_tokens/9/rotate", "maintainer"),
    ("400 DELETE access_tokens/10", "maintainer"),
    ("GET triggers", "maintainer"),
    ("POST triggers description=x", "maintainer"),
    ("GET triggers/1", "maintainer"),
    ("PUT triggers/1 description=y", "maintainer"),
    ("DELETE triggers/1", "maintainer"),
    ("GET pipelines/1/variables", "maintainer"),
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
    let (method, rest) = call.split_once(' ').unwrap();
    let (path, form) = rest.split_once(' ').unwrap_or((rest, ""));
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let path = format!("/projects/owner%2Fshut/{path}");
    let request = server.call(user, method, path.trim_end_matches('/'));
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(form.to_owned());
    // A redirect is an answer, too.
    request.send().await.unwrap().status().as_u16()
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
        let at = ROLES.iter().position(|role| role == least).unwrap();
        for role in &ROLES[..at] {
            assert_eq!(status(&server, role, call).await, below, "{call} by {role}");
        }
        let allowed = status(&server, least, call).await;
        assert!((200..400).contains(&allowed) || allowed == 400, "{call} by {least}: {allowed}");
    }
}
