//! Merge requests and their notes.

use crate::{Server, WORLD, each, json};
use labscope::backend::{Clock, Options};
use reqwest::Method;
use serde_json::{Value, json as value};

const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

#[tokio::test]
async fn a_merge_request_has_its_commits_and_changes() {
    let server = server().await;
    let request = server.read("bo", REQUEST).await;
    assert_eq!(request["title"], "Louder");
    assert_eq!(
        (request["merge_status"].as_str(), request["changes_count"].as_str()),
        (Some("can_be_merged"), Some("1"))
    );
    assert_eq!((request["state"].as_str(), request["user_notes_count"].as_u64()), (Some("opened"), Some(1)));
    assert_eq!(each(&server.read("bo", &format!("{REQUEST}/commits")).await, "title"), ["Say it louder"]);
    let changes = server.read("bo", &format!("{REQUEST}/changes")).await;
    let diff = changes["changes"][0]["diff"].as_str().unwrap();
    assert!(diff.starts_with("@@ -1,3 +1,3 @@\n fn main() {\n-"), "{diff}");
    assert_eq!(each(&server.read("bo", &format!("{REQUEST}/participants")).await, "username"), ["ada", "bo"]);
    let pipelines = server.read("bo", &format!("{REQUEST}/pipelines")).await;
    assert_eq!(pipelines[0]["sha"], request["sha"]);
    assert_eq!(json(server.get("", REQUEST).await, 401).await["message"], "401 Unauthorized");
    let missing = server.get("bo", "/projects/ada%2Fhello/merge_requests/9").await;
    assert_eq!(json(missing, 404).await["message"], "404 Not found");
}

#[tokio::test]
async fn merge_request_lists_can_be_filtered() {
    let server = server().await;
    let titles = |user: &'static str, query: &'static str| {
        let server = &server;
        async move {
            let list = server.read(user, query).await;
            list.as_array().unwrap().len()
        }
    };
    assert_eq!(titles("ada", "/merge_requests").await, 1, "one's own");
    assert_eq!(titles("bo", "/merge_requests").await, 0);
    assert_eq!(titles("bo", "/merge_requests?scope=all").await, 1);
    let list = "/projects/ada%2Fhello/merge_requests";
    assert_eq!(titles("bo", list).await, 1);
    assert_eq!(titles("bo", "/projects/ada%2Fhello/merge_requests?state=closed").await, 0);
    assert_eq!(titles("bo", "/projects/ada%2Fhello/merge_requests?labels=sound&search=HEAR").await, 1);
    assert_eq!(titles("bo", "/projects/ada%2Fhello/merge_requests?labels=sound,light").await, 0);
    assert_eq!(titles("bo", "/projects/ada%2Fhello/merge_requests?iids[]=1&iids[]=7").await, 1);
    let wrong = json(server.get("bo", &format!("{list}?state=gone")).await, 400).await;
    assert_eq!(wrong["error"], "state does not have a valid value");
}

#[tokio::test]
async fn closing_and_reopening_a_merge_request_adds_system_notes() {
    let server = server().await;
    let closed = json(server.put("ada", REQUEST, &[("state_event", "close")]).await, 200).await;
    assert_eq!((closed["state"].as_str(), closed["closed_by"]["username"].as_str()), (Some("closed"), Some("ada")));
    json(server.put("ada", REQUEST, &[("state_event", "reopen"), ("assignee_id", "3")]).await, 200).await;
    let open = json(server.put("bo", REQUEST, &[("labels", "")]).await, 200).await;
    assert_eq!((open["state"].as_str(), &open["labels"]), (Some("opened"), &value!([])));
    assert_eq!(open["assignee"]["username"], "bo");
    let notes = server.read("ada", &format!("{REQUEST}/notes?sort=asc")).await;
    let message = each(&notes, "body");
    assert_eq!(message, ["Why?", "closed", "assigned to @bo", "reopened", "removed ~\"sound\" label"]);
    assert_eq!(notes[1]["system"], true);
    let none = json(server.put("ada", REQUEST, &[]).await, 400).await;
    assert!(none["error"].as_str().unwrap().ends_with("are missing, at least one parameter must be provided"));
    assert_eq!(json(server.put("eve", REQUEST, &[("title", "x")]).await, 403).await["message"], "403 Forbidden");
}

#[tokio::test]
async fn only_its_author_can_change_a_note() {
    let server = server().await;
    let notes = format!("{REQUEST}/notes");
    let note = json(server.post("bo", &notes, &[("body", "Fine *by* me")]).await, 201).await;
    assert_eq!((note["noteable_type"].as_str(), note["noteable_iid"].as_u64()), (Some("MergeRequest"), Some(1)));
    let one = format!("{notes}/{}", note["id"]);
    assert_eq!(json(server.put("eve", &one, &[("body", "No")]).await, 403).await["message"], "403 Forbidden");
    assert_eq!(json(server.put("bo", &one, &[("body", "Fine")]).await, 200).await["body"], "Fine");
    assert_eq!(each(&server.read("bo", &notes).await, "body"), ["Fine", "Why?"], "newest first");
    assert_eq!(server.delete("bo", &one).await.status(), 204);
    assert_eq!(json(server.get("bo", &one).await, 404).await["message"], "404 Note Not Found");
    assert_eq!(json(server.post("bo", &notes, &[]).await, 400).await["error"], "body is missing");
}

#[tokio::test]
async fn a_second_merge_request_for_the_same_branches_is_refused() {
    let server = server().await;
    let branch = [("branch", "quiet"), ("ref", "louder")];
    json(server.post("bo", "/projects/ada%2Fhello/repository/branches", &branch).await, 201).await;
    let default = server.read("bo", "/projects/ada%2Fhello").await["default_branch"].as_str().unwrap().to_owned();
    let form = value!({"source_branch": "quiet", "target_branch": default, "title": "(draft) Quiet", "labels": "a, b"});
    let send = |form: Value| {
        let call = server.call("bo", Method::POST, "/projects/ada%2Fhello/merge_requests").json(&form);
        async move { call.send().await.unwrap() }
    };
    let made = json(send(form.clone()).await, 201).await;
    assert_eq!((made["iid"].as_u64(), made["work_in_progress"].as_bool()), (Some(2), Some(true)));
    assert_eq!(made["labels"], value!(["a", "b"]));
    let again = json(send(form).await, 409).await;
    let why = "Another open merge request already exists for this source branch: !2";
    assert_eq!(again["message"], value!([why]));
    let same = value!({"source_branch": "quiet", "target_branch": "quiet", "title": "x"});
    let same = json(send(same).await, 422).await;
    assert_eq!(same["error"], value!(["You can not use same project/branch for source and target"]));
}

#[tokio::test]
async fn notes_on_code_are_only_found_by_users_who_can_read_the_code() {
    let guest = WORLD.replace("members = { bo = \"developer\" }", "members = { bo = \"developer\", eve = \"guest\" }");
    let server = Server::of(&guest, &Default::default()).await;
    json(server.put("ada", "/projects/ada%2Fhello", &[("visibility", "private")]).await, 200).await;
    assert_eq!(server.read("eve", "/projects/ada%2Fhello").await["name"].as_str(), Some("hello"));
    let search = "/projects/ada%2Fhello/-/search?scope=notes&search=why";
    assert_eq!(each(&server.read("ada", search).await, "body"), ["Why?"]);
    assert_eq!(server.read("eve", search).await, value!([]));
}

#[tokio::test]
async fn a_merge_request_keeps_its_changes_when_the_target_is_deleted() {
    let server = server().await;
    json(server.post("ada", "/projects/1/repository/branches", &[("branch", "base"), ("ref", "main")]).await, 201)
        .await;
    json(server.put("ada", REQUEST, &[("target_branch", "base")]).await, 200).await;
    assert_eq!(server.delete("ada", "/projects/1/repository/branches/base").await.status(), 204);
    let changes = server.read("ada", &format!("{REQUEST}/changes")).await;
    assert_eq!((changes["changes_count"].as_str(), changes["changes"].as_array().unwrap().len()), (Some("1"), 1));
}

#[tokio::test]
async fn a_merge_request_keeps_its_changes_when_the_fork_is_deleted() {
    let now: jiff::Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
    let clock = labscope::backend::Clock::new(move || now);
    let world = labscope::backend::WorldKind::Demo;
    let server = Server::with(labscope::backend::Options { world, clock, ..Default::default() }).await;
    let path = "/projects/acme%2Frocket-ui/merge_requests/45";
    let before = server.read("ada", &format!("{path}/changes")).await;
    assert!(!before["changes"].as_array().unwrap().is_empty());
    let same = |now: &Value| assert_eq!((&now["changes"], &now["sha"]), (&before["changes"], &before["sha"]));
    let branch = "/projects/eli%2Frocket-ui/repository/branches/docs-typos";
    assert_eq!(server.delete("eli", branch).await.status(), 204);
    same(&server.read("ada", &format!("{path}/changes")).await);
    json(server.post("root", "/groups", &[("name", "Gone"), ("path", "gone")]).await, 201).await;
    json(server.post("root", "/groups/gone/projects/eli%2Frocket-ui", &[]).await, 201).await;
    assert_eq!(server.delete("root", "/groups/gone").await.status(), 204);
    assert_eq!(server.get("root", "/projects/gone%2Frocket-ui").await.status(), 404);
    same(&server.read("ada", &format!("{path}/changes")).await);
    assert!(server.read("ada", path).await["source_project_id"].is_null());
}

#[tokio::test]
async fn an_update_is_validated_like_a_creation() {
    let server = server().await;
    let same = json(server.put("ada", REQUEST, &[("target_branch", "louder")]).await, 422).await;
    assert_eq!(same["error"], value!(["You can not use same project/branch for source and target"]));
    let none = json(server.put("ada", REQUEST, &[("target_branch", "nowhere")]).await, 400).await;
    assert_eq!(none["message"], value!(["Target branch \"nowhere\" does not exist"]));
    json(server.put("ada", REQUEST, &[("state_event", "close")]).await, 200).await;
    let form = [("source_branch", "louder"), ("target_branch", "main"), ("title", "Once more")];
    json(server.post("ada", "/projects/1/merge_requests", &form).await, 201).await;
    let twice = json(server.put("ada", REQUEST, &[("state_event", "reopen")]).await, 409).await;
    assert!(twice["message"][0].as_str().unwrap().contains("Another open merge request already exists"));
    assert_eq!(server.read("ada", REQUEST).await["state"], "closed");
}

#[tokio::test]
async fn required_approvals_are_inherited_and_can_only_be_raised() {
    let server = server().await;
    let made = |branch: &'static str, approvals: &'static str| {
        let server = &server;
        async move {
            let form = [("branch", branch), ("ref", "louder")];
            json(server.post("ada", "/projects/1/repository/branches", &form).await, 201).await;
            let mut form = vec![("source_branch", branch), ("target_branch", "main"), ("title", "x")];
            if !approvals.is_empty() {
                form.push(("approvals_before_merge", approvals));
            }
            json(server.post("ada", "/projects/1/merge_requests", &form).await, 201).await["approvals_before_merge"]
                .clone()
        }
    };
    assert_eq!(made("a", "3").await, 0, "zero switches them off");
    json(server.put("ada", "/projects/1", &[("approvals_before_merge", "2")]).await, 200).await;
    assert_eq!(made("b", "").await, 2);
    assert_eq!(made("c", "1").await, 2);
    assert_eq!(made("d", "3").await, 3);
}

#[tokio::test]
async fn changes_count_is_capped_at_one_thousand() {
    let server = server().await;
    let counted = |made: usize| {
        let server = &server;
        async move {
            let files =
                (0..made).map(|n| value!({"action": "create", "file_path": format!("f/{made}/{n}"), "content": "x"}));
            let actions = Value::Array(files.collect());
            let commit = value!({"branch": "louder", "commit_message": "Many", "actions": actions});
            let call = server.call("ada", Method::POST, "/projects/1/repository/commits").json(&commit);
            json(call.send().await.unwrap(), 201).await;
            server.read("bo", REQUEST).await["changes_count"].clone()
        }
    };
    // Including the file that the branch already changes.
    assert_eq!(counted(999).await, "1000");
    assert_eq!(counted(1).await, "1000+");
}

#[tokio::test]
async fn time_filters_include_the_timestamp_they_are_given() {
    let start: jiff::Timestamp = "2026-11-20T16:00:10.123456789Z".parse().unwrap();
    let server = Server::with(Options { clock: Clock::new(move || start), ..Options::default() }).await;
    json(server.post("ada", "/projects", &[("name", "Notes")]).await, 201).await;
    let begin = value!({"branch": "master", "commit_message": "x",
        "actions": [{"action": "create", "file_path": "a", "content": "x"}]});
    let commits = server.call("ada", Method::POST, "/projects/1/repository/commits").json(&begin);
    json(commits.send().await.unwrap(), 201).await;
    json(server.post("ada", "/projects/1/repository/branches", &[("branch", "b"), ("ref", "master")]).await, 201).await;
    let form = [("source_branch", "b"), ("target_branch", "master"), ("title", "x")];
    let request = json(server.post("ada", "/projects/1/merge_requests", &form).await, 201).await;
    let form = [("name", "Cem"), ("email", "cem@x"), ("username", "cem"), ("password", "long enough")];
    let user = json(server.post("root", "/users", &form).await, 201).await;
    let own = |record: &Value, field: &str| record[field].as_str().unwrap().to_owned();
    for (path, record, fields) in [
        ("/projects/1/merge_requests", &request, &["created", "updated"][..]),
        ("/merge_requests?scope=all", &request, &["created", "updated"]),
        ("/users?search=cem", &user, &["created"]),
    ] {
        for field in fields {
            let at = own(record, &format!("{field}_at"));
            assert_eq!(at, "2026-11-20T16:00:10.123Z");
            let ask = |bounds: String| {
                let path = format!("{path}{}{bounds}", if path.contains('?') { "&" } else { "?" });
                let server = &server;
                async move { server.read("root", &path).await.as_array().unwrap().len() }
            };
            assert_eq!(ask(format!("{field}_after={at}&{field}_before={at}")).await, 1, "{path} {field}");
            assert_eq!(ask(format!("{field}_after=2026-11-20T16:00:10.124Z")).await, 0, "{path} {field}");
            assert_eq!(ask(format!("{field}_before=2026-11-20T16:00:10.122Z")).await, 0, "{path} {field}");
        }
    }
}
