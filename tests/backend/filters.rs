//! Filters and attributes of lists, and deletions that affect only what they name.

use crate::{Server, WORLD, add_file, each, header, json};
use labscope::backend::{Modes, Options, Version, WorldKind};
use reqwest::Method;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

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

#[tokio::test]
async fn notes_are_filtered_by_those_that_people_wrote() {
    let server = server().await;
    for request in ["merge_requests/1", "issues/1"] {
        if request.starts_with("issues") {
            json(server.post("ada", &format!("{PROJECT}/issues"), &[("title", "One")]).await, 201).await;
            json(server.post("ada", &format!("{PROJECT}/issues/1/notes"), &[("body", "Why?")]).await, 201).await;
        }
        json(server.put("ada", &format!("{PROJECT}/{request}"), &[("labels", "loud")]).await, 200).await;
        let notes = async |filter: &str| {
            listed(&server, "ada", &format!("{PROJECT}/{request}/notes?activity_filter={filter}"), "body").await
        };
        assert_eq!(notes("only_comments").await, ["Why?"], "{request}");
        let activity = notes("only_activity").await;
        assert!(!activity.is_empty() && !activity.contains(&"Why?".to_owned()), "{request}: {activity:?}");
        assert_eq!(notes("all_notes").await.len(), activity.len() + 1, "{request}");
        let refused = server.get("ada", &format!("{PROJECT}/{request}/notes?activity_filter=x")).await;
        assert_eq!(json(refused, 400).await["error"], "activity_filter does not have a valid value");
    }
    let old =
        Server::with(Options { world: WorldKind::Demo, modes: Modes::of(Version::V17), ..Options::default() }).await;
    let path = "/projects/acme%2Frocket-ui/merge_requests/42/notes?per_page=100";
    let all = old.read("ada", path).await;
    assert_eq!(old.read("ada", &format!("{path}&activity_filter=only_comments")).await, all);
}

#[tokio::test]
async fn deployments_are_filtered_by_environment_status_and_time() {
    let server = demo().await;
    let path = "/projects/acme%2Frocket-ui/deployments?per_page=100";
    let all = server.read("ada", path).await;
    let all = all.as_array().unwrap();
    let status =
        async |filter: &str, wanted: u16| json(server.get("ada", &format!("{path}&{filter}")).await, wanted).await;
    let named = |row: &&Value| row["environment"]["name"] == "staging";
    let staging = status("environment=staging", 200).await;
    assert_eq!(staging.as_array().unwrap().len(), all.iter().filter(named).count());
    assert!((1..all.len()).contains(&staging.as_array().unwrap().len()));
    let blocked = status("status=blocked", 200).await;
    assert!(each(&blocked, "status").iter().all(|status| *status == "blocked") && blocked[0].is_object(), "{blocked}");
    let (first, last) = (&all[0]["created_at"], &all[all.len() - 1]["created_at"]);
    let (first, last) = (first.as_str().unwrap(), last.as_str().unwrap());
    for filter in [
        format!("order_by=updated_at&updated_after={last}&updated_before={last}"),
        format!("order_by=finished_at&status=success&finished_after={first}&finished_before={first}"),
    ] {
        let rows = status(&filter, 200).await;
        assert!((1..all.len()).contains(&rows.as_array().unwrap().len()), "{filter}: {rows}");
    }
    let wrong = status("status=x", 400).await;
    assert_eq!(wrong["error"], "status does not have a valid value");
    for (filter, why) in [
        (format!("finished_after={first}"), "`finished_at` filter and `finished_at` sorting must be paired"),
        ("order_by=finished_at".into(), "`finished_at` filter and `finished_at` sorting must be paired"),
        (
            format!("order_by=finished_at&finished_after={first}"),
            "`finished_at` filter must be combined with `success` status filter.",
        ),
        (
            format!("finished_after={first}&updated_after={first}"),
            "Both `updated_at` filter and `finished_at` filter can not be specified",
        ),
    ] {
        assert_eq!(status(&filter, 400).await["message"], format!("400 Bad request - {why}"), "{filter}");
    }
}

#[tokio::test]
async fn merge_requests_of_archived_projects_are_left_out_on_request() {
    let server = server().await;
    json(server.post("ada", &format!("{PROJECT}/archive"), &[]).await, 201).await;
    let path = "/merge_requests?scope=all";
    assert_eq!(listed(&server, "ada", path, "title").await, ["Louder"]);
    assert_eq!(listed(&server, "ada", &format!("{path}&non_archived=false"), "title").await, ["Louder"]);
    assert!(listed(&server, "ada", &format!("{path}&non_archived=true"), "title").await.is_empty());
}

#[tokio::test]
async fn what_was_closed_and_opened_again_is_in_the_events() {
    let passed = Arc::new(AtomicI64::new(0));
    let server = Server::of(WORLD, &passed).await;
    json(server.post("ada", &format!("{PROJECT}/issues"), &[("title", "One")]).await, 201).await;
    for (subject, kind) in [("issues/1", "Issue"), ("merge_requests/1", "MergeRequest")] {
        for change in ["close", "reopen"] {
            json(server.put("bo", &format!("{PROJECT}/{subject}"), &[("state_event", change)]).await, 200).await;
        }
        let events = server.read("ada", &format!("{PROJECT}/events?per_page=100")).await;
        let of_bo = |event: &&Value| event["target_type"] == kind && event["author_username"] == "bo";
        let mut actions: Vec<&str> = events
            .as_array()
            .unwrap()
            .iter()
            .filter(of_bo)
            .map(|event| event["action_name"].as_str().unwrap())
            .collect();
        actions.sort_unstable();
        assert_eq!(actions, ["closed", "opened"], "{subject}");
    }
    passed.store(60, Ordering::Relaxed);
    json(server.put("bo", &format!("{PROJECT}/issues/1"), &[("state_event", "close")]).await, 200).await;
    let closed = server.read("bo", "/events?action=closed&target_type=issue&per_page=100").await;
    assert_eq!(closed.as_array().unwrap().len(), 2, "each once: {closed}");
    let form = [("body", "So?")];
    json(server.post("ada", &format!("{PROJECT}/merge_requests/1/discussions"), &form).await, 201).await;
    let events = server.read("ada", "/events?action=commented").await;
    assert_eq!(each(&events, "target_type"), ["DiscussionNote"]);
    // Comments are whole notes, and what an event is not about is absent.
    let note = &events[0]["note"];
    assert_eq!(
        (&note["body"], &note["type"], &note["system"]),
        (&"So?".into(), &"DiscussionNote".into(), &false.into())
    );
    assert!(events[0].get("push_data").is_none() && closed[0].get("note").is_none(), "{events} {closed}");
}

#[tokio::test]
async fn commits_to_a_protected_branch_are_forbidden() {
    for (version, status, message) in [
        (Version::V19, 403, "403 Forbidden - You are not allowed to push into this branch"),
        (Version::V10_6, 400, "You are not allowed to push into this branch"),
    ] {
        let modes = Modes::of(version);
        let server = Server::with(Options { world: WorldKind::Demo, modes, ..Options::default() }).await;
        let at = "/projects/acme%2Frocket-ui/repository/commits/main/cherry_pick";
        let reply = json(server.post("cem", at, &[("branch", "main")]).await, status).await;
        assert_eq!(reply["message"], message);
        let refused = server.call("ada", Method::GET, "/user").header("sudo", "bo").send().await.unwrap();
        let spaces = if version == Version::V10_6 { "  " } else { " " };
        assert_eq!(json(refused, 403).await["message"], format!("403 Forbidden{spaces}- Must be admin to use sudo"));
    }
}

#[tokio::test]
async fn more_than_ten_thousand_records_are_not_counted() {
    let users: String = (0..10_000).map(|number| format!("{{ username = \"u{number}\" }},\n")).collect();
    let world = format!("users = [\n{{ username = \"root\", admin = true }},\n{users}]\n");
    let server = Server::of(&world, &Default::default()).await;
    let reply = server.get("root", "/users?per_page=100&page=100").await;
    assert_eq!((header(&reply, "x-total"), header(&reply, "x-next-page")), ("absent", "101"));
    assert!(!header(&reply, "link").contains("last"), "{}", header(&reply, "link"));
    let reply = server.get("root", "/users?per_page=100&page=101").await;
    assert_eq!(header(&reply, "x-next-page"), "");
    assert_eq!(json(reply, 200).await.as_array().map(Vec::len), Some(1));
}

/// The orders of GitLab 19.5 (`doc/api/openapi/openapi_v3.yaml`).
#[tokio::test]
async fn lists_have_the_orders_of_today() {
    let server = demo().await;
    let orders = [
        ("/merge_requests?scope=all", "label_priority milestone_due popularity priority title merged_at"),
        ("/projects", "similarity star_count storage_size repository_size wiki_size packages_size"),
        ("/groups", "id similarity"),
    ];
    for (path, words) in orders {
        let usual = listed(&server, "root", path, "id").await.len();
        for word in words.split(' ') {
            let and = if path.contains('?') { '&' } else { '?' };
            assert_eq!(
                listed(&server, "root", &format!("{path}{and}order_by={word}"), "id").await.len(),
                usual,
                "{word}"
            );
        }
        let and = if path.contains('?') { '&' } else { '?' };
        let refused = json(server.get("root", &format!("{path}{and}order_by=size")).await, 400).await;
        assert_eq!(refused["error"], "order_by does not have a valid value");
    }
    let requests = "/projects/acme%2Frocket-ui/merge_requests?per_page=100&sort=asc&order_by";
    let titles = listed(&server, "ada", &format!("{requests}=title"), "title").await;
    assert!(titles.is_sorted_by_key(|title| title.to_lowercase()) && titles.len() > 3);
    let merged = server.read("ada", &format!("{requests}=merged_at")).await;
    let merged: Vec<&Value> = merged.as_array().unwrap().iter().map(|row| &row["merged_at"]).collect();
    let first_open = merged.iter().position(|at| at.is_null()).unwrap();
    assert!(first_open > 0 && merged[first_open..].iter().all(|at| at.is_null()), "what is not merged comes last");
    assert!(merged[..first_open].is_sorted_by_key(|at| at.as_str()), "{merged:?}");
    let stars = server.read("root", "/projects?order_by=star_count&per_page=100").await;
    let stars: Vec<u64> = stars.as_array().unwrap().iter().map(|row| row["star_count"].as_u64().unwrap()).collect();
    assert!(stars.is_sorted_by(|a, b| a >= b) && stars[0] > 0, "{stars:?}");
    let groups = server.read("root", "/groups?order_by=id&sort=desc").await;
    assert!(groups.as_array().unwrap().is_sorted_by(|a, b| a["id"].as_u64() > b["id"].as_u64()));
}

/// GitLab 19.5: `app/finders/releases_finder.rb`, and the orders of statuses (`doc/api/commits.md`).
#[tokio::test]
async fn releases_and_statuses_have_the_orders_of_today() {
    let server = demo().await;
    for (path, orders, usual) in [
        ("/projects/acme%2Frocket-ui/releases", ["released_at", "created_at"], "desc"),
        ("/projects/acme%2Frocket-ui/repository/commits/main/statuses", ["id", "pipeline_id"], "asc"),
    ] {
        for order in orders {
            let key = if path.ends_with("releases") { "tag_name" } else { "id" };
            let of = async |sort: &str| listed(&server, "ada", &format!("{path}?order_by={order}{sort}"), key).await;
            let (up, mut down) = (of("&sort=asc").await, of("&sort=desc").await);
            assert_eq!(of("").await, if usual == "asc" { up.clone() } else { down.clone() }, "{path} {order}");
            down.reverse();
            assert!(up.len() > 1 && up == down, "{path} {order}: {up:?} {down:?}");
        }
        for (name, value) in [("order_by", "name"), ("sort", "up")] {
            let refused = json(server.get("ada", &format!("{path}?{name}={value}")).await, 400).await;
            assert_eq!(refused["error"], format!("{name} does not have a valid value"), "{path}");
        }
    }
}

/// GitLab: `lib/api/validations/types/comma_separated_to_integer_array.rb`, `lib/api/validations/validators/integer_none_any.rb`,
/// and the states of `lib/api/helpers/merge_requests_helpers.rb`.
#[tokio::test]
async fn numbers_are_listed_with_commas_and_people_are_numbers() {
    let server = demo().await;
    let iids = async |path: &str| -> Vec<String> {
        let rows = server.read("ada", path).await;
        rows.as_array().unwrap().iter().map(|row| row["iid"].to_string()).collect()
    };
    let requests = "/projects/acme%2Frocket-ui/merge_requests?per_page=100";
    let all = iids(requests).await;
    let (first, second) = (&all[0], &all[1]);
    for query in [
        format!("iids={first},{second}"),
        format!("iids[]={first},%20{second}"),
        format!("iids[]={first}&iids[]={second}"),
    ] {
        assert_eq!(iids(&format!("{requests}&{query}")).await, all[..2], "{query}");
    }
    assert_eq!(iids(&format!("{requests}&not[iids]={first},{second}")).await, all[2..]);
    let issues = "/projects/acme%2Frocket-ui/issues?per_page=100";
    let some = iids(issues).await[..2].join(",");
    assert_eq!(iids(&format!("{issues}&iids={some}")).await.join(","), some);
    for (path, name) in [(requests, "assignee_id"), (requests, "reviewer_id"), (issues, "assignee_id")] {
        for word in ["None", "any", "1", "0"] {
            iids(&format!("{path}&{name}={word}")).await;
        }
        let refused = json(server.get("ada", &format!("{path}&{name}=ada")).await, 400).await;
        assert_eq!(refused["error"], format!("{name} should be an integer, 'None' or 'Any', however got ada"));
    }
    let approved = iids(&format!("{requests}&approved_by_ids=Any")).await;
    assert!(!approved.is_empty());
    assert_eq!(iids(&format!("{requests}&approved_by_ids=99999")).await, [""; 0]);
    assert_eq!(iids(&format!("{requests}&state=locked")).await, [""; 0]);
}

#[tokio::test]
async fn commits_are_filtered_by_their_author() {
    let server = demo().await;
    let at = "/projects/acme%2Frocket-ui/repository/commits?per_page=100";
    let all = server.read("ada", at).await;
    let all = all.as_array().unwrap();
    let by = |row: &Value, part: &str| {
        format!("{} <{}>", row["author_name"].as_str().unwrap(), row["author_email"].as_str().unwrap()).contains(part)
    };
    let name = all[0]["author_name"].as_str().unwrap();
    let email = all[0]["author_email"].as_str().unwrap();
    let part = name.split(' ').next().unwrap();
    for wanted in [name, email, part] {
        let found = server.read("ada", &format!("{at}&author={wanted}")).await;
        let found: Vec<&Value> = found.as_array().unwrap().iter().collect();
        let expected: Vec<&Value> = all.iter().filter(|row| by(row, wanted)).collect();
        // There may be older ones than those of the first page.
        assert_eq!(found[..expected.len()], expected, "{wanted}");
        assert!(expected.len() < all.len() && found.iter().all(|row| by(row, wanted)), "{wanted}");
    }
    assert_eq!(listed(&server, "ada", &format!("{at}&author=nobody"), "id").await, [""; 0]);
}

/// 19.4 has artifacts of other types than the archive; jobs here have reports about lines.
#[tokio::test]
async fn artifacts_are_downloaded_by_their_kind() {
    let server = demo().await;
    let jobs = server.read("ada", "/projects/1/jobs?per_page=100").await;
    let with = jobs.as_array().unwrap().iter().find(|job| job["artifacts_file"].is_object()).unwrap();
    let at = format!("/projects/1/jobs/{}/artifacts", with["id"]);
    let whole = server.get("ada", &at).await.bytes().await.unwrap();
    let archive = server.get("ada", &format!("{at}?file_type=archive")).await;
    assert_eq!((archive.status().as_u16(), archive.bytes().await.unwrap()), (200, whole));
    assert_eq!(server.get("ada", &format!("{at}?file_type=junit")).await.status(), 404);
    let of_type =
        |job: &&Value, kind: &str| job["artifacts"].as_array().unwrap().iter().any(|one| one["file_type"] == kind);
    let unit = jobs.as_array().unwrap().iter().find(|job| of_type(job, "cobertura")).expect("a job with a report");
    let report = &unit["artifacts"][1];
    assert_eq!((&report["filename"], &report["file_format"]), (&"cobertura.xml.gz".into(), &"gzip".into()));
    let of_unit = format!("/projects/1/jobs/{}/artifacts?file_type=cobertura", unit["id"]);
    let packed = server.get("ada", &of_unit).await.bytes().await.unwrap();
    assert_eq!(packed.len() as u64, report["size"]);
    assert!(packed.starts_with(&[0x1f, 0x8b]), "packed with gzip, as runners upload it");
    let unknown = json(server.get("ada", &format!("{at}?file_type=tar")).await, 400).await;
    assert_eq!(unknown["error"], "file_type does not have a valid value");
}

#[tokio::test]
async fn the_projects_that_are_shared_with_a_group_are_listed() {
    let server = demo().await;
    let projects = server.read("root", "/projects?per_page=100").await;
    let shared = projects.as_array().unwrap().iter().find(|row| row["shared_with_groups"][0].is_object()).unwrap();
    let group = &shared["shared_with_groups"][0];
    let path = group["group_full_path"].as_str().unwrap().replace('/', "%2F");
    assert_eq!(server.read("root", &format!("/groups/{path}")).await["id"], group["group_id"]);
    let at = format!("/groups/{path}/projects/shared");
    assert_eq!(listed(&server, "root", &at, "path").await, [shared["path"].as_str().unwrap()]);
    assert_eq!(listed(&server, "root", &format!("{at}?search=nothing-like-it"), "path").await, [""; 0]);
}

/// The action since 11.0 (`lib/api/commits.rb`).
#[tokio::test]
async fn a_commit_makes_a_file_a_program() {
    let server = server().await;
    let commit = async |action: Value, status: u16| {
        let body = serde_json::json!({"branch": "louder", "commit_message": "x", "actions": [action]});
        let call = server.call("ada", Method::POST, "/projects/1/repository/commits");
        json(call.json(&body).send().await.unwrap(), status).await
    };
    let mode = async || server.read("ada", "/projects/1/repository/tree?ref=louder&path=src").await[0]["mode"].clone();
    assert_eq!(mode().await, "100644");
    for (is_program, expected) in [(true, "100755"), (false, "100644")] {
        let action = serde_json::json!({"action": "chmod", "file_path": "src/main.rs", "execute_filemode": is_program});
        commit(action, 201).await;
        assert_eq!(mode().await, expected);
    }
    let missing = serde_json::json!({"action": "chmod", "file_path": "none", "execute_filemode": true});
    assert_eq!(commit(missing, 400).await["message"], "A file with this name doesn't exist");
}

#[tokio::test]
async fn events_and_labels_have_the_fields_of_today() {
    let server = demo().await;
    let events = server.read("ada", "/projects/1/events").await;
    for event in events.as_array().unwrap() {
        assert_eq!(event["author_id"], event["author"]["id"]);
    }
    let form = [("name", "odd"), ("color", "#ff0000"), ("description", "a <b> & \"c\"")];
    let made = json(server.post("ada", "/projects/1/labels", &form).await, 201).await;
    assert_eq!(made["description_html"], "a &lt;b&gt; &amp; &quot;c&quot;");
}

/// `lib/api/ci/pipelines.rb` presents `PipelineBasicWithMetadata`, and other lists `PipelineBasic`.
#[tokio::test]
async fn the_list_of_pipelines_has_their_names() {
    let server = server().await;
    json(server.put("ada", "/projects/1/pipelines/1/metadata", &[("name", "Nightly")]).await, 200).await;
    let rows = server.read("ada", "/projects/1/pipelines").await;
    assert_eq!(rows[0]["name"], "Nightly");
    let of_request = server.read("ada", "/projects/1/merge_requests/1/pipelines").await;
    assert_eq!((&of_request[0]["id"], of_request[0].get("name")), (&rows[0]["id"], None));
}
