//! Links between issues and dependencies of merge requests. Statuses and messages take their form from the services of the
//! server.

use crate::{Server, WORLD, each, json};
use reqwest::Method;
use serde_json::{Value, json as value};

const REQUEST: &str = "/projects/1/merge_requests/1";

async fn server() -> Server {
    let server = Server::of(WORLD, &Default::default()).await;
    for title in ["One", "Two", "Three"] {
        json(server.post("ada", "/projects/1/issues", &[("title", title)]).await, 201).await;
    }
    server
}

async fn link(server: &Server, user: &str, from: u64, to: &str, kind: &str, status: u16) -> Value {
    let form = [("target_project_id", "1"), ("target_issue_iid", to), ("link_type", kind)];
    json(server.post(user, &format!("/projects/1/issues/{from}/links"), &form).await, status).await
}

async fn links(server: &Server, iid: u64) -> Vec<(String, String)> {
    let list = server.read("ada", &format!("/projects/1/issues/{iid}/links")).await;
    each(&list, "title").into_iter().zip(each(&list, "link_type")).map(|(a, b)| (a.into(), b.into())).collect()
}

#[tokio::test]
async fn a_link_is_seen_from_both_issues_until_it_is_removed() {
    let server = server().await;
    let made = link(&server, "ada", 1, "2", "blocks", 201).await;
    assert_eq!(
        (&made["source_issue"]["iid"], &made["target_issue"]["iid"], &made["link_type"]),
        (&1.into(), &2.into(), &"blocks".into())
    );
    assert_eq!(links(&server, 1).await, [("Two".to_owned(), "blocks".to_owned())]);
    assert_eq!(links(&server, 2).await, [("One".to_owned(), "is_blocked_by".to_owned())]);
    let again = link(&server, "ada", 2, "1", "relates_to", 409).await;
    assert_eq!(again["message"], "Issue(s) already assigned");
    assert_eq!(link(&server, "ada", 1, "9", "relates_to", 404).await["message"], "404 Not found");
    link(&server, "ada", 1, "1", "relates_to", 422).await;
    let refused = link(&server, "eve", 1, "3", "relates_to", 403).await;
    assert!(refused["message"].as_str().unwrap().starts_with("Couldn't link issue."), "{refused}");
    let id = server.read("ada", "/projects/1/issues/2/links").await[0]["issue_link_id"].clone();
    let one = server.read("ada", &format!("/projects/1/issues/2/links/{id}")).await;
    assert_eq!((&one["source_issue"]["iid"], &one["link_type"]), (&1.into(), &"blocks".into()));
    let other = json(server.get("ada", &format!("/projects/1/issues/3/links/{id}")).await, 404).await;
    assert_eq!(other["message"], "404 Not found");
    json(server.get("", &format!("/projects/1/issues/2/links/{id}")).await, 401).await;
    let path = format!("/projects/1/issues/2/links/{id}");
    // Who may not remove it is told that there is none.
    assert_eq!(json(server.delete("eve", &path).await, 404).await["message"], "No Issue Link found");
    assert_eq!(json(server.delete("ada", &path).await, 200).await["link_type"], "blocks");
    assert!(links(&server, 1).await.is_empty());
    json(server.delete("ada", &path).await, 404).await;
    let notes = server.read("ada", "/projects/1/issues/1/notes?sort=desc").await;
    assert_eq!(each(&notes, "body"), ["removed the relation with #2", "marked this issue as blocking #2"]);
}

#[tokio::test]
async fn a_link_without_a_project_stays_in_that_of_the_issue() {
    let server = server().await;
    let send = |body| server.call("ada", Method::POST, "/projects/1/issues/3/links").json(&body).send();
    let made = json(send(value!({"target_project_id": null, "target_issue_iid": "1"})).await.unwrap(), 201).await;
    assert_eq!((&made["target_issue"]["iid"], &made["target_issue"]["project_id"]), (&1.into(), &1.into()));
    let refused = json(send(value!({"target_issue_iid": "2"})).await.unwrap(), 400).await;
    assert_eq!(refused["error"], "target_project_id is missing");
}

#[tokio::test]
async fn quick_actions_link_issues() {
    let server = server().await;
    for (body, summary) in [
        ("/relate #2", "Added #2 as a linked item related to this issue."),
        ("/blocked_by #3", "Added #3 as a linked item blocking this issue."),
        ("/relate #2", "Could not apply relate command."),
        ("/unlink #2", "Removed linked item #2."),
    ] {
        let done = json(server.post("ada", "/projects/1/issues/1/notes", &[("body", body)]).await, 202).await;
        assert_eq!(done["summary"], value!([summary]), "{body}");
    }
    assert_eq!(links(&server, 1).await, [("Three".to_owned(), "is_blocked_by".to_owned())]);
    json(server.post("ada", "/projects/1/issues/1/notes", &[("body", "/relate #9")]).await, 400).await;
}

#[tokio::test]
async fn a_merge_request_waits_for_those_that_block_it() {
    let server = server().await;
    let form = [("source_branch", "main"), ("target_branch", "louder"), ("title", "Back")];
    let other = json(server.post("ada", "/projects/1/merge_requests", &form).await, 201).await;
    let id = other["id"].to_string();
    let add = |user: &'static str, status: u16| {
        let (server, id) = (&server, id.clone());
        async move {
            let form = [("blocking_merge_request_id", id.as_str())];
            json(server.post(user, &format!("{REQUEST}/blocks"), &form).await, status).await
        }
    };
    let made = add("ada", 201).await;
    assert_eq!(made["blocking_merge_request"]["title"], "Back");
    add("ada", 409).await;
    add("eve", 403).await;
    let unknown = [("blocking_merge_request_id", "999")];
    json(server.post("ada", &format!("{REQUEST}/blocks"), &unknown).await, 404).await;
    let iid = other["iid"].to_string();
    let names = "blocking_merge_request_id, blocking_merge_request_iid are";
    for (form, status, message) in [
        (vec![("blocking_merge_request_iid", &*iid)], 409, "Block already exists".to_owned()),
        (vec![("blocking_merge_request_iid", &*iid), ("blocking_project_id", "ada/hello")], 409, String::new()),
        (vec![("blocking_merge_request_iid", "99")], 404, "Blocking merge request not found".into()),
        (vec![("blocking_merge_request_iid", "1"), ("blocking_project_id", "ada/nothing")], 404, String::new()),
        (
            vec![("blocking_merge_request_iid", "1"), ("blocking_merge_request_id", "1")],
            400,
            format!("{names} mutually exclusive"),
        ),
        (vec![], 400, format!("{names} missing, exactly one parameter must be provided")),
    ] {
        let refused = json(server.post("ada", &format!("{REQUEST}/blocks"), &form).await, status).await;
        let said = refused["message"].as_str().or(refused["error"].as_str()).unwrap();
        assert!(message.is_empty() || said == message, "{form:?}: {said}");
    }
    assert_eq!(server.read("ada", REQUEST).await["detailed_merge_status"], "merge_request_blocked");
    json(server.put("ada", &format!("{REQUEST}/merge"), &[]).await, 405).await;
    let blockees = server.read("ada", &format!("/projects/1/merge_requests/{}/blockees", other["iid"])).await;
    assert_eq!(blockees[0]["blocked_merge_request"]["iid"], 1);
    let path = format!("{REQUEST}/blocks/{}", made["id"]);
    assert_eq!(server.read("ada", &path).await["id"], made["id"]);
    json(server.get("ada", &format!("{REQUEST}/blocks/99")).await, 404).await;
    json(server.get("", &path).await, 401).await;
    assert_eq!(server.delete("ada", &path).await.status(), 204);
    assert_eq!(server.read("ada", &format!("{REQUEST}/blocks")).await, value!([]));
    assert_ne!(server.read("ada", REQUEST).await["detailed_merge_status"], "merge_request_blocked");
}
