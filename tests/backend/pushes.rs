//! Pushes: the events of a project, and the notes on merge requests that get new commits.

use crate::discussions::{post_json, server};
use crate::{Server, json};
use reqwest::Method;
use serde_json::{Value, json as value};

const PROJECT: &str = "/projects/ada%2Fhello";
const REQUEST: &str = "/projects/ada%2Fhello/merge_requests/1";

async fn commit(server: &Server, branch: &str, title: &str) -> Value {
    let body = value!({"branch": branch, "commit_message": format!("{title}\n\nMore."),
        "actions": [{"action": "create", "file_path": title, "content": "x"}]});
    json(post_json(server, "bo", &format!("{PROJECT}/repository/commits"), &body).await, 201).await
}

async fn pushes(server: &Server, user: &str, of: &str) -> Vec<Value> {
    let events = server.read(user, &format!("{of}/events?action=pushed&per_page=100")).await;
    events.as_array().unwrap().clone()
}

/// The words of the events of GitLab's push service: `pushed new`, `pushed to` and `deleted`, with null for the target.
#[tokio::test]
async fn pushes_are_events_of_the_project_and_of_the_user() {
    let server = server().await;
    let before = pushes(&server, "ada", PROJECT).await.len();
    let first = commit(&server, "louder", "One <b>").await;
    let body = value!({"branch": "next", "ref": "main"});
    json(post_json(&server, "bo", &format!("{PROJECT}/repository/branches"), &body).await, 201).await;
    commit(&server, "next", "Two").await;
    server.call("bo", Method::DELETE, &format!("{PROJECT}/repository/branches/next")).send().await.unwrap();

    let events = pushes(&server, "ada", PROJECT).await;
    let mut words: Vec<String> = events[..events.len() - before]
        .iter()
        .map(|event| {
            let push = &event["push_data"];
            assert_eq!((&event["target_type"], &event["target_id"]), (&Value::Null, &Value::Null));
            assert_eq!((&event["author"]["username"], &push["ref_type"]), (&value!("bo"), &value!("branch")));
            let name = push["ref"].as_str().unwrap();
            format!("{} {} {name} {}", event["action_name"].as_str().unwrap(), push["action"], push["commit_count"])
        })
        .collect();
    words.sort();
    let expected = [
        "deleted \"removed\" next 0",
        "pushed new \"created\" next 0",
        "pushed to \"pushed\" louder 1",
        "pushed to \"pushed\" next 1",
    ];
    // Deletions are not among the pushes of the filter's words, but come with them on servers.
    assert_eq!(words, expected);
    let push = &events.iter().find(|event| event["push_data"]["ref"] == "louder").unwrap()["push_data"];
    assert_eq!((&push["commit_to"], &push["commit_title"]), (&first["id"], &value!("One <b>")));
    assert_eq!(push["commit_from"], first["parent_ids"][0]);
    assert_eq!(pushes(&server, "ada", "/users/bo").await.len(), events.len());
    assert!(pushes(&server, "ada", "/users/cem").await.is_empty());
}

#[tokio::test]
async fn new_commits_of_a_merge_request_are_noted() {
    let server = server().await;
    let first = commit(&server, "louder", "One <b>").await;
    let notes = server.read("ada", &format!("{REQUEST}/notes?sort=desc")).await;
    let (short, old) = (&first["id"].as_str().unwrap()[..8], first["parent_ids"][0].as_str().unwrap());
    let body = notes[0]["body"].as_str().unwrap();
    assert!(body.starts_with(&format!("added 1 commit\n\n<ul><li>{short} - One &lt;b&gt;</li></ul>")), "{body}");
    assert!(body.contains("[Compare with previous version](") && body.contains(&format!("start_sha={old}")), "{body}");
    assert_eq!((&notes[0]["system"], &notes[0]["author"]["username"]), (&value!(true), &value!("bo")));

    // After a rebase the commits of the target branch are summed up.
    commit(&server, "main", "Three").await;
    commit(&server, "main", "Four").await;
    let path = format!("{REQUEST}/rebase");
    json(server.call("ada", Method::PUT, &path).send().await.unwrap(), 202).await;
    let notes = server.read("ada", &format!("{REQUEST}/notes?sort=desc")).await;
    let body = notes[0]["body"].as_str().unwrap();
    assert!(body.starts_with("added 4 commits\n\n<ul><li>"), "{body}");
    assert!(body.contains(" - 2 commits from branch <code>main</code></li><li>"), "{body}");
    assert!(body.contains(" - Say it louder</li><li>") && body.contains(" - One &lt;b&gt;</li></ul>"), "{body}");
}
