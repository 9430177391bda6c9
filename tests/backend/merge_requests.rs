//! Merge requests of the local server: filters of lists, changes, and locked discussions.

use crate::{Server, WORLD, add_file, each, json};
use serde_json::{Value, json as value};

const REQUEST: &str = "/projects/1/merge_requests/1";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

async fn id(server: &Server, name: &str) -> String {
    server.read("root", &format!("/users?username={name}")).await[0]["id"].to_string()
}

/// Returns the number of merge requests that match a filter.
async fn found(server: &Server, filter: &str) -> usize {
    let list = server.read("ada", &format!("/projects/1/merge_requests?{filter}")).await;
    list.as_array().map_or(0, Vec::len)
}

/// Returns the body of the latest note.
async fn said(server: &Server) -> Value {
    server.read("ada", &format!("{REQUEST}/notes?sort=desc")).await[0]["body"].clone()
}

#[tokio::test]
async fn each_filter_matches_only_what_it_names() {
    let server = server().await;
    let (bo, eve) = (id(&server, "bo").await, id(&server, "eve").await);
    let made = json(server.post("ada", "/projects/1/milestones", &[("title", "Next")]).await, 201).await;
    let milestone = made["id"].to_string();
    let change = [("assignee_id", &*bo), ("milestone_id", &*milestone)];
    json(server.put("ada", REQUEST, &change).await, 200).await;
    let filters = [
        (format!("assignee_id={bo}"), format!("assignee_id={eve}")),
        ("milestone=Next".into(), "milestone=Later".into()),
        ("milestone=Any".into(), "milestone=None".into()),
        ("target_branch=main".into(), "target_branch=louder".into()),
        ("source_branch=louder".into(), "source_branch=main".into()),
        ("not[milestone]=Later".into(), "not[milestone]=Next".into()),
        (format!("not[assignee_id]={eve}"), format!("not[assignee_id]={bo}")),
        ("not[labels]=light".into(), "not[labels]=light,sound".into()),
        ("wip=no".into(), "wip=yes".into()),
    ];
    for (here, not_here) in filters {
        assert_eq!((found(&server, &here).await, found(&server, &not_here).await), (1, 0), "{here}, {not_here}");
    }
}

#[tokio::test]
async fn empty_parameters_remove_the_assignee_and_the_milestone() {
    let server = server().await;
    let bo = id(&server, "bo").await;
    let made = json(server.post("ada", "/projects/1/milestones", &[("title", "Next")]).await, 201).await;
    let milestone = made["id"].to_string();
    let change = [("assignee_id", &*bo), ("milestone_id", &*milestone)];
    let changed = json(server.put("ada", REQUEST, &change).await, 200).await;
    assert_eq!((&changed["assignee"]["username"], &changed["milestone"]["title"]), (&"bo".into(), &"Next".into()));
    assert_eq!(said(&server).await, "changed milestone to %\"Next\"");
    // Parameters that are absent stay unchanged.
    let titled = json(server.put("ada", REQUEST, &[("title", "Loudest")]).await, 200).await;
    assert_eq!((&titled["assignee"]["username"], &titled["milestone"]["title"]), (&"bo".into(), &"Next".into()));
    let emptied = json(server.put("ada", REQUEST, &[("milestone_id", "")]).await, 200).await;
    assert_eq!((&emptied["assignee"]["username"], &emptied["milestone"]), (&"bo".into(), &Value::Null));
    assert_eq!(said(&server).await, "removed milestone");
    let emptied = json(server.put("ada", REQUEST, &[("assignee_id", "")]).await, 200).await;
    assert_eq!(emptied["assignee"], Value::Null);
    assert_eq!(said(&server).await, "removed assignee");
}

#[tokio::test]
async fn a_merge_request_lists_the_pipelines_of_its_source_branch() {
    let server = server().await;
    json(server.post("ada", "/projects/1/pipeline", &[("ref", "main")]).await, 201).await;
    let own = || server.read("ada", "/projects/1/merge_requests/1/pipelines");
    assert_eq!(each(&own().await, "ref"), ["louder"]);
    json(server.post("ada", "/projects/1/pipeline", &[("ref", "louder")]).await, 201).await;
    assert_eq!(each(&own().await, "ref"), ["louder", "louder"]);
    // Pipelines of another branch at the same commit are not included.
    let branch = [("branch", "copy"), ("ref", "louder")];
    json(server.post("ada", "/projects/1/repository/branches", &branch).await, 201).await;
    json(server.post("ada", "/projects/1/pipeline", &[("ref", "copy")]).await, 201).await;
    assert_eq!(each(&own().await, "ref"), ["louder", "louder"]);
}

#[tokio::test]
async fn only_members_can_comment_on_a_locked_merge_request() {
    let server = server().await;
    let notes = format!("{REQUEST}/notes");
    json(server.post("eve", &notes, &[("body", "Before")]).await, 201).await;
    json(server.put("ada", REQUEST, &[("discussion_locked", "true")]).await, 200).await;
    assert_eq!(server.post("eve", &notes, &[("body", "After")]).await.status(), 403);
    json(server.post("bo", &notes, &[("body", "After")]).await, 201).await;
}

#[tokio::test]
async fn reviewers_get_one_to_do_and_users_without_access_are_not_assigned() {
    let server = server().await;
    let (bo, eve) = (id(&server, "bo").await, id(&server, "eve").await);
    for _ in 0..2 {
        json(server.put("ada", REQUEST, &[("reviewer_ids[]", &bo)]).await, 200).await;
        let todos = server.read("bo", "/todos").await;
        assert_eq!(each(&todos, "action_name"), ["review_requested"]);
    }
    let assignee = async |visibility: &str, who: &str| {
        json(server.put("ada", "/projects/1", &[("visibility", visibility)]).await, 200).await;
        let changed = json(server.put("ada", REQUEST, &[("assignee_id", who)]).await, 200).await;
        changed["assignee"]["username"].clone()
    };
    assert_eq!(assignee("public", &eve).await, "eve");
    assert_eq!(assignee("private", &bo).await, "bo");
    assert_eq!(assignee("private", &eve).await, Value::Null);
}

#[tokio::test]
async fn a_project_without_merge_requests_refuses_them() {
    let server = server().await;
    json(server.put("ada", REQUEST, &[("state_event", "close")]).await, 200).await;
    let form = [
        ("title", "Again"),
        ("source_branch", "louder"),
        ("target_branch", "main"),
        ("allow_maintainer_to_push", "true"),
    ];
    let create = async |status: u16| json(server.post("ada", "/projects/1/merge_requests", &form).await, status).await;
    json(server.put("ada", "/projects/1", &[("merge_requests_enabled", "false")]).await, 200).await;
    create(403).await;
    json(server.put("ada", "/projects/1", &[("merge_requests_enabled", "true")]).await, 200).await;
    let made = create(201).await;
    // There are no notes yet, and no fork that maintainers could push to.
    assert_eq!((&made["user_notes_count"], made.get("allow_maintainer_to_push")), (&0.into(), None));
}

#[tokio::test]
async fn a_fork_can_open_a_merge_request_in_its_origin_but_other_projects_cannot() {
    let server = server().await;
    let fork = json(server.post("eve", "/projects/1/fork", &[]).await, 201).await;
    server.read("eve", &format!("/projects/{}", fork["id"])).await;
    let other = json(server.post("eve", "/projects", &[("name", "other")]).await, 201).await;
    let form = [("title", "Again"), ("source_branch", "louder"), ("target_branch", "main"), ("target_project_id", "1")];
    let from = async |project: &Value| {
        let path = format!("/projects/{}/merge_requests", project["id"]);
        server.post("eve", &path, &form).await.status().as_u16()
    };
    assert_eq!((from(&fork).await, from(&other).await), (201, 422));
}

#[tokio::test]
async fn whoever_commented_takes_part_but_not_through_system_notes_or_elsewhere() {
    let server = server().await;
    let at = format!("{REQUEST}/participants");
    json(server.post("eve", "/projects/1/issues", &[("title", "Elsewhere")]).await, 201).await;
    json(server.post("eve", "/projects/1/issues/1/notes", &[("body", "Here")]).await, 201).await;
    json(server.put("root", REQUEST, &[("title", "Loudest")]).await, 200).await;
    assert_eq!(each(&server.read("ada", &at).await, "username"), ["ada", "bo"]);
}

#[tokio::test]
async fn reopening_after_new_commits_adds_a_version() {
    let server = server().await;
    let versions = async || server.read("ada", &format!("{REQUEST}/versions")).await.as_array().map(Vec::len);
    let update = async |name: &str, value: &str| {
        json(server.put("ada", REQUEST, &[(name, value)]).await, 200).await;
    };
    update("title", "Loudest").await;
    update("state_event", "close").await;
    add_file(&server, "ada", "/projects/1", "louder").await;
    assert_eq!(versions().await, Some(1), "a push does not change a closed merge request");
    update("state_event", "reopen").await;
    assert_eq!(versions().await, Some(2));
}

#[tokio::test]
async fn a_closed_merge_request_of_a_fork_keeps_its_changes() {
    let server = server().await;
    let fork = json(server.post("eve", "/projects/1/fork", &[]).await, 201).await["id"].clone();
    add_file(&server, "eve", &format!("/projects/{fork}"), "louder").await;
    let form =
        [("title", "Forked"), ("source_branch", "louder"), ("target_branch", "main"), ("target_project_id", "1")];
    json(server.post("eve", &format!("/projects/{fork}/merge_requests"), &form).await, 201).await;
    let at = "/projects/1/merge_requests/2";
    json(server.put("eve", at, &[("state_event", "close")]).await, 200).await;
    assert_eq!(server.read("ada", at).await["changes_count"], "2");
    let changes = server.read("ada", &format!("{at}/changes")).await;
    assert_eq!(each(&changes["changes"], "new_path"), ["new", "src/main.rs"]);
}

#[tokio::test]
async fn lists_have_what_clients_of_today_read() {
    let server = server().await;
    add_file(&server, "ada", "/projects/1", "main").await;
    json(server.post("ada", "/projects/1/milestones", &[("title", "Past"), ("due_date", "2026-01-31")]).await, 201)
        .await;
    let milestone = server.read("ada", "/projects/1/milestones").await[0]["id"].to_string();
    let change =
        [("title", "Draft: Louder"), ("description", "- [x] Shout\n- [ ] Listen"), ("milestone_id", &milestone)];
    json(server.put("ada", REQUEST, &change).await, 200).await;
    let row = server.read("ada", "/projects/1/merge_requests").await[0].clone();
    let base = &server.running.base_url;
    assert_eq!(row["web_url"], format!("{base}/ada/hello/-/merge_requests/1"));
    assert_eq!(row["references"], value!({"short": "!1", "relative": "!1", "full": "ada/hello!1"}));
    assert_eq!((&row["draft"], &row["detailed_merge_status"]), (&true.into(), &"draft_status".into()));
    assert_eq!(row["task_completion_status"], value!({"count": 2, "completed_count": 1}));
    let milestone = (&row["milestone"]["web_url"], &row["milestone"]["expired"]);
    assert_eq!(milestone, (&format!("{base}/ada/hello/-/milestones/1").into(), &true.into()));
    for field in ["merged_at", "closed_at", "merge_user", "merged_by", "squash_commit_sha", "merge_after"] {
        assert_eq!(row.get(field), Some(&Value::Null), "{field}");
    }

    let diverged = server.read("ada", &format!("{REQUEST}?include_diverged_commits_count=true")).await;
    assert_eq!((&diverged["diverged_commits_count"], &diverged["merge_error"]), (&1.into(), &Value::Null));
    let head = &diverged["head_pipeline"];
    assert_eq!((&head["user"]["username"], &head["detailed_status"]["text"]), (&"ada".into(), &"Passed".into()));
    assert_eq!(server.read("ada", REQUEST).await.get("diverged_commits_count"), None);

    json(server.put("ada", REQUEST, &[("title", "Louder")]).await, 200).await;
    let merged = json(server.put("ada", &format!("{REQUEST}/merge"), &[("squash", "true")]).await, 200).await;
    assert_eq!(merged["merge_user"]["username"], "ada");
    let squashed = merged["squash_commit_sha"].as_str().unwrap();
    let commit = server.read("ada", &format!("/projects/1/repository/commits/{squashed}")).await;
    assert_eq!(commit["title"], "Louder");
}

#[tokio::test]
async fn a_version_has_its_commits_and_its_changes() {
    let server = server().await;
    let versions = server.read("ada", &format!("{REQUEST}/versions")).await;
    let one = server.read("ada", &format!("{REQUEST}/versions/{}", versions[0]["id"])).await;
    assert_eq!(one["head_commit_sha"], versions[0]["head_commit_sha"]);
    assert_eq!(each(&one["commits"], "title"), ["Say it louder"]);
    assert_eq!(each(&one["diffs"], "new_path"), ["src/main.rs"]);
    let missing = json(server.get("ada", &format!("{REQUEST}/versions/77")).await, 404).await;
    assert_eq!(missing["message"], "404 Not found");
}

#[tokio::test]
async fn changes_are_listed_by_page_and_as_a_patch() {
    let server = server().await;
    add_file(&server, "ada", "/projects/1", "louder").await;
    let page = server.get("ada", &format!("{REQUEST}/diffs?per_page=1&page=2")).await;
    assert_eq!(crate::header(&page, "x-total"), "2");
    assert_eq!(each(&json(page, 200).await, "new_path"), ["src/main.rs"]);
    let patch = server.get("ada", &format!("{REQUEST}/raw_diffs")).await;
    assert_eq!(crate::header(&patch, "content-type"), "text/plain");
    let patch = patch.text().await.unwrap();
    assert!(patch.starts_with("diff --git a/new b/new\nnew file mode 100644\n"), "{patch}");
    assert!(patch.ends_with("\n-    println!(\"hello\");\n+    println!(\"HELLO\");\n }\n"), "{patch}");
}

#[tokio::test]
async fn issues_of_a_merge_request_are_those_that_the_caller_may_read() {
    let server = server().await;
    for (title, confidential) in [("Open", "false"), ("Secret", "true"), ("Other", "false")] {
        let form = [("title", title), ("confidential", confidential)];
        json(server.post("ada", "/projects/1/issues", &form).await, 201).await;
    }
    let form = [("description", "Closes #1 and fixes #2")];
    json(server.put("ada", REQUEST, &form).await, 200).await;
    json(server.post("bo", &format!("{REQUEST}/notes"), &[("body", "See #3")]).await, 201).await;
    for (user, closed, related) in [
        ("ada", ["Open", "Secret"].as_slice(), ["Open", "Secret", "Other"].as_slice()),
        ("eve", &["Open"], &["Open", "Other"]),
    ] {
        assert_eq!(each(&server.read(user, &format!("{REQUEST}/closes_issues")).await, "title"), closed, "{user}");
        assert_eq!(each(&server.read(user, &format!("{REQUEST}/related_issues")).await, "title"), related, "{user}");
    }
}

#[tokio::test]
async fn a_subscription_is_changed_once() {
    let server = server().await;
    json(server.post("ada", "/projects/1/issues", &[("title", "Slow")]).await, 201).await;
    for (path, user) in [(REQUEST, "bo"), ("/projects/1/issues/1", "eve")] {
        let server = &server;
        let set = |what: &'static str| async move { server.post(user, &format!("{path}/{what}"), &[]).await };
        assert_eq!(json(set("subscribe").await, 201).await["iid"], 1, "{path}");
        let again = set("subscribe").await;
        assert_eq!((again.status().as_u16(), again.text().await.unwrap().as_str()), (304, ""), "{path}");
        assert_eq!(json(set("unsubscribe").await, 201).await["iid"], 1, "{path}");
        assert_eq!(set("unsubscribe").await.status(), 304, "{path}");
    }
    json(server.post("eve", &format!("{REQUEST}/subscribe"), &[]).await, 403).await;
}

#[tokio::test]
async fn a_to_do_item_is_added_once_for_the_caller() {
    let server = server().await;
    json(server.post("ada", "/projects/1/issues", &[("title", "Slow")]).await, 201).await;
    for (path, kind) in [(REQUEST, "MergeRequest"), ("/projects/1/issues/1", "Issue")] {
        let todo = json(server.post("ada", &format!("{path}/todo"), &[]).await, 201).await;
        assert_eq!((&todo["action_name"], &todo["target_type"]), (&"marked".into(), &kind.into()));
        assert_eq!(todo["author"]["username"], "ada");
        assert_eq!(server.post("ada", &format!("{path}/todo"), &[]).await.status(), 304);
        json(server.post("ada", &format!("/todos/{}/mark_as_done", todo["id"]), &[]).await, 201).await;
        json(server.post("ada", &format!("{path}/todo"), &[]).await, 201).await;
    }
    assert_eq!(server.read("eve", "/todos").await, serde_json::json!([]));
}

#[tokio::test]
async fn owners_can_delete_a_merge_request_whose_number_is_not_used_again() {
    let server = server().await;
    json(server.delete("bo", REQUEST).await, 403).await;
    let gone = server.delete("ada", REQUEST).await;
    assert_eq!((gone.status().as_u16(), gone.text().await.unwrap().as_str()), (204, ""));
    json(server.get("ada", REQUEST).await, 404).await;
    let form = [("source_branch", "louder"), ("target_branch", "main"), ("title", "Again")];
    assert_eq!(json(server.post("ada", "/projects/1/merge_requests", &form).await, 201).await["iid"], 2);
}

#[tokio::test]
async fn a_trial_merge_makes_the_same_commit_each_time() {
    let server = server().await;
    let path = format!("{REQUEST}/merge_ref");
    let id = server.read("ada", &path).await["commit_id"].clone();
    assert_eq!(id.as_str().unwrap().len(), 40);
    assert_eq!(server.read("ada", &path).await["commit_id"], id);
    json(server.put("ada", REQUEST, &[("state_event", "close")]).await, 200).await;
    let refused = json(server.get("ada", &path).await, 400).await;
    assert_eq!(refused["message"], "Merge request is not mergeable");
}

#[tokio::test]
async fn a_pipeline_is_run_for_a_merge_request() {
    let server = server().await;
    let path = format!("{REQUEST}/pipelines");
    let made = json(server.post("bo", &path, &[]).await, 200).await;
    assert_eq!((&made["source"], &made["ref"]), (&"merge_request_event".into(), &"louder".into()));
    assert_eq!(server.read("ada", &path).await[0]["id"], made["id"]);
    let latest = server.read("ada", "/projects/1/pipelines/latest?ref=louder").await;
    assert_eq!(latest["id"], made["id"]);
    assert_eq!(json(server.get("ada", "/projects/1/pipelines/latest").await, 403).await["message"], "403 Forbidden");
    json(server.post("eve", &path, &[]).await, 403).await;
    json(server.put("ada", REQUEST, &[("state_event", "close")]).await, 200).await;
    assert_eq!(json(server.post("bo", &path, &[]).await, 405).await["message"], "405 Method Not Allowed");
}

#[tokio::test]
async fn people_are_found_by_name_and_reviewers_by_number() {
    let server = server().await;
    let (bo, eve) = (id(&server, "bo").await, id(&server, "eve").await);
    json(server.put("ada", REQUEST, &[("reviewer_ids[]", &*bo), ("assignee_id", &*bo)]).await, 200).await;
    let filters = [
        (format!("reviewer_id={bo}"), format!("reviewer_id={eve}")),
        ("reviewer_id=Any".into(), "reviewer_id=None".into()),
        ("author_username=ada".into(), "author_username=bo".into()),
        ("assignee_username=bo".into(), "assignee_username=ada".into()),
    ];
    for (here, not_here) in filters {
        assert_eq!((found(&server, &here).await, found(&server, &not_here).await), (1, 0), "{here}, {not_here}");
    }
    let mine = server.read("bo", "/merge_requests?scope=reviews_for_me").await;
    assert_eq!(each(&mine, "title"), ["Louder"]);
}

#[tokio::test]
async fn merge_requests_of_a_group_include_those_of_its_subgroups() {
    let server = Server::of(&WORLD.replace(
        "[[projects]]\npath = \"ada/hello\"",
        "[[groups]]\npath = \"acme\"\nvisibility = \"public\"\n[[groups]]\npath = \"acme/web\"\nvisibility = \"public\"\n\
         [[projects]]\npath = \"acme/web/hello\"",
    ).replace("project = \"ada/hello\"", "project = \"acme/web/hello\""), &Default::default()).await;
    for group in ["acme", "acme%2Fweb"] {
        let path = format!("/groups/{group}/merge_requests");
        assert_eq!(each(&server.read("eve", &path).await, "title"), ["Louder"], "{group}");
        assert_eq!(server.read("eve", &format!("{path}?state=closed")).await, serde_json::json!([]), "{group}");
    }
    json(server.put("root", "/projects/1", &[("visibility", "private")]).await, 200).await;
    assert_eq!(server.read("eve", "/groups/acme/merge_requests").await, serde_json::json!([]));
    json(server.get("", "/groups/acme/merge_requests").await, 401).await;
}
