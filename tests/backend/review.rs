//! Merge requests and what people say of them.

use crate::{Server, WORLD, each, json};
use reqwest::Method;
use serde_json::{Value, json as value};

const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";

async fn server() -> Server {
    Server::of(WORLD, &Default::default()).await
}

#[tokio::test]
async fn a_request_is_read_with_its_commits_and_changes() {
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
    assert!(diff.starts_with("--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,3 +1,3 @@\n fn main() {\n-"), "{diff}");
    assert_eq!(each(&server.read("bo", &format!("{REQUEST}/participants")).await, "username"), ["ada", "bo"]);
    let pipelines = server.read("bo", &format!("{REQUEST}/pipelines")).await;
    assert_eq!(pipelines[0]["sha"], request["sha"]);
    assert_eq!(json(server.get("", REQUEST).await, 401).await["message"], "401 Unauthorized");
    let missing = server.get("bo", "/projects/ada%2Fhello/merge_requests/9").await;
    assert_eq!(json(missing, 404).await["message"], "404 Not found");
}

#[tokio::test]
async fn lists_are_narrowed() {
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
async fn a_request_is_closed_reopened_and_says_so() {
    let server = server().await;
    let closed = json(server.put("ada", REQUEST, &[("state_event", "close")]).await, 200).await;
    assert_eq!((closed["state"].as_str(), closed["closed_by"]["username"].as_str()), (Some("closed"), Some("ada")));
    json(server.put("ada", REQUEST, &[("state_event", "reopen"), ("assignee_id", "3")]).await, 200).await;
    let open = json(server.put("bo", REQUEST, &[("labels", "")]).await, 200).await;
    assert_eq!((open["state"].as_str(), &open["labels"]), (Some("opened"), &value!([])));
    assert_eq!(open["assignee"]["username"], "bo");
    let notes = server.read("ada", &format!("{REQUEST}/notes?sort=asc")).await;
    let said = each(&notes, "body");
    assert_eq!(said, ["Why?", "closed", "assigned to @bo", "reopened", "removed ~\"sound\" label"]);
    assert_eq!(notes[1]["system"], true);
    let none = json(server.put("ada", REQUEST, &[]).await, 400).await;
    assert!(none["error"].as_str().unwrap().ends_with("are missing, at least one parameter must be provided"));
    assert_eq!(json(server.put("eve", REQUEST, &[("title", "x")]).await, 403).await["message"], "403 Forbidden");
}

#[tokio::test]
async fn a_note_is_written_changed_and_deleted_by_its_author() {
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
async fn a_request_is_made_once() {
    let server = server().await;
    let branch = [("branch", "quiet"), ("ref", "louder")];
    json(server.post("bo", "/projects/ada%2Fhello/repository/branches", &branch).await, 201).await;
    let default = server.read("bo", "/projects/ada%2Fhello").await["default_branch"].as_str().unwrap().to_owned();
    let form = value!({"source_branch": "quiet", "target_branch": default, "title": "WIP: Quiet", "labels": "a, b"});
    let send = |form: Value| {
        let call = server.call("bo", Method::POST, "/projects/ada%2Fhello/merge_requests").json(&form);
        async move { call.send().await.unwrap() }
    };
    let made = json(send(form.clone()).await, 201).await;
    assert_eq!((made["iid"].as_u64(), made["work_in_progress"].as_bool()), (Some(2), Some(true)));
    assert_eq!(made["labels"], value!(["a", "b"]));
    let again = json(send(form).await, 409).await;
    assert_eq!(again["message"], value!(["Cannot Create: This merge request already exists: [\"WIP: Quiet\"]"]));
    let same = value!({"source_branch": "quiet", "target_branch": "quiet", "title": "x"});
    let same = json(send(same).await, 422).await;
    assert_eq!(same["error"], value!(["You can not use same project/branch for source and target"]));
}

#[tokio::test]
async fn a_discussion_of_code_is_found_by_those_who_read_the_code() {
    let guest = WORLD.replace("members = { bo = \"developer\" }", "members = { bo = \"developer\", eve = \"guest\" }");
    let server = Server::of(&guest, &Default::default()).await;
    json(server.put("ada", "/projects/ada%2Fhello", &[("visibility", "private")]).await, 200).await;
    assert_eq!(server.read("eve", "/projects/ada%2Fhello").await["name"].as_str(), Some("hello"));
    let search = "/projects/ada%2Fhello/-/search?scope=notes&search=why";
    assert_eq!(each(&server.read("ada", search).await, "body"), ["Why?"]);
    assert_eq!(server.read("eve", search).await, value!([]));
}
