//! Issues of the local server: lists and filters, creating, changing, closing, and permissions.

use crate::{Server, WORLD, each, json};
use labscope::backend::{Options, WorldKind};
use serde_json::{Value, json as value};

const AT: &str = "/projects/acme%2Frocket-ui/issues";

async fn demo() -> Server {
    Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await
}

async fn numbers(server: &Server, user: &str, path: &str) -> Vec<u64> {
    let list = server.read(user, path).await;
    list.as_array().unwrap().iter().map(|row| row["iid"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn each_filter_narrows_the_issue_list_of_a_project() {
    let server = demo().await;
    let bo = server.read("bo", "/user").await["id"].clone();
    let eli = server.read("eli", "/user").await["id"].clone();
    for (query, wanted) in [
        (String::new(), vec![41, 42, 43, 38, 40, 31]),
        ("state=opened&order_by=title&sort=asc".into(), vec![38, 41, 40, 43, 42]),
        ("state=closed".into(), vec![31]),
        ("labels=bug,design".into(), vec![38]),
        ("labels=None".into(), vec![]),
        ("milestone=0.4".into(), vec![38]),
        ("milestone=None&state=opened".into(), vec![41, 43]),
        ("milestone=Started&state=opened".into(), vec![38]),
        (format!("author_id={eli}"), vec![38, 31]),
        (format!("assignee_id={bo}"), vec![42]),
        ("assignee_id=0&state=opened".into(), vec![41, 40]),
        ("assignee_username[]=ada".into(), vec![43]),
        ("author_username=cem".into(), vec![41]),
        ("due_date=any&order_by=due_date&sort=asc".into(), vec![43, 38]),
        ("due_date=0&state=closed".into(), vec![31]),
        ("confidential=true".into(), vec![43]),
        ("search=mouse".into(), vec![40]),
        ("search=shift&in=title".into(), vec![]),
        ("iids[]=38&iids[]=41".into(), vec![41, 38]),
        ("not[labels]=bug".into(), vec![42, 40]),
        ("not[author_username]=eli&state=opened&not[milestone]=Later".into(), vec![41, 43]),
        ("scope=assigned_to_me".into(), vec![43]),
        ("issue_type=incident".into(), vec![]),
    ] {
        assert_eq!(numbers(&server, "ada", &format!("{AT}?{query}")).await, wanted, "{query}");
    }
    for (query, error) in [("state=odd", "state"), ("order_by=odd", "order_by"), ("due_date=odd", "due_date")] {
        let wrong = json(server.get("ada", &format!("{AT}?{query}")).await, 400).await;
        assert_eq!(wrong["error"], format!("{error} does not have a valid value"));
    }
}

#[tokio::test]
async fn a_group_lists_issues_of_its_subgroups_and_a_user_their_own() {
    let server = demo().await;
    let group = server.read("ada", "/groups/acme/issues?state=opened&per_page=100").await;
    let paths: std::collections::BTreeSet<&str> =
        group.as_array().unwrap().iter().map(|row| row["references"]["full"].as_str().unwrap()).collect();
    assert!(paths.contains("acme/rocket-ui#42") && paths.contains("acme/tools/cli#5"), "{paths:?}");
    assert_eq!(each(&server.read("ada", "/issues").await, "title").len(), 1, "written by ada");
    assert_eq!(numbers(&server, "ada", "/issues?scope=assigned-to-me").await, [43]);
    assert!(numbers(&server, "eli", "/issues?scope=all&per_page=100").await.len() > 6);
    // A confidential issue is only visible to its participants and to members.
    assert!(!numbers(&server, "root", AT).await.is_empty());
    let fay = server.get("fay", &format!("{AT}/43")).await;
    assert!(matches!(fay.status().as_u16(), 200 | 404));
    assert_eq!(json(server.get("", AT).await, 401).await["message"], "401 Unauthorized");
}

#[tokio::test]
async fn label_details_are_returned_on_request() {
    let server = demo().await;
    let plain = server.read("ada", &format!("{AT}/38")).await;
    assert_eq!(plain["labels"], value!(["bug", "design"]));
    let list = server.read("ada", &format!("{AT}?iids[]=38&with_labels_details=true")).await;
    assert_eq!(list[0]["labels"][0]["color"], "#d9534f");
}

#[tokio::test]
async fn an_issue_can_be_created_changed_closed_and_reopened() {
    let server = demo().await;
    let cem = server.read("cem", "/user").await["id"].to_string();
    let form = [
        ("title", "Rows flicker"),
        ("description", "- [x] seen\n- [ ] fixed"),
        ("labels", "bug,flicker"),
        ("assignee_ids[]", &cem),
        ("due_date", "2026-12-24"),
    ];
    let made = json(server.post("ada", AT, &form).await, 201).await;
    assert_eq!((&made["iid"], &made["state"], &made["due_date"]), (&44.into(), &"opened".into(), &"2026-12-24".into()));
    assert_eq!(made["labels"], value!(["bug", "flicker"]));
    assert_eq!(made["task_completion_status"], value!({"count": 2, "completed_count": 1}));
    assert_eq!(server.read("cem", "/todos?type=Issue").await[0]["target"]["iid"], 44);
    let one = format!("{AT}/44");
    let form = [("title", "Rows do flicker"), ("assignee_ids[]", "0"), ("due_date", ""), ("labels", "bug")];
    let changed = json(server.put("ada", &one, &form).await, 200).await;
    assert_eq!((&changed["title"], &changed["due_date"]), (&"Rows do flicker".into(), &Value::Null));
    assert_eq!((&changed["assignees"], &changed["labels"]), (&value!([]), &value!(["bug"])));
    let closed = json(server.put("cem", &one, &[("state_event", "close")]).await, 200).await;
    assert_eq!((&closed["state"], &closed["closed_by"]["username"]), (&"closed".into(), &"cem".into()));
    json(server.put("cem", &one, &[("state_event", "close")]).await, 200).await;
    let open = json(server.put("cem", &one, &[("state_event", "reopen")]).await, 200).await;
    assert_eq!((&open["state"], &open["closed_at"]), (&"opened".into(), &Value::Null));
    let notes = server.read("ada", &format!("{one}/notes?sort=asc")).await;
    let said = each(&notes, "body");
    assert_eq!(
        said,
        [
            "changed title from **Rows flicker** to **Rows do flicker**",
            "unassigned @cem",
            "removed ~\"flicker\" label",
            "removed due date",
            "closed",
            "reopened",
        ]
    );
}

#[tokio::test]
async fn missing_fields_and_missing_permissions_are_reported() {
    let server = demo().await;
    let blank = json(server.post("ada", AT, &[("title", " ")]).await, 400).await;
    assert_eq!(blank["message"], value!({"title": ["can't be blank"]}));
    assert_eq!(json(server.post("ada", AT, &[]).await, 400).await["error"], "title is missing");
    let nothing = json(server.put("ada", &format!("{AT}/38"), &[]).await, 400).await;
    assert!(nothing["error"].as_str().unwrap().starts_with("title, description"), "{nothing}");
    assert_eq!(
        json(server.put("ada", &format!("{AT}/999"), &[("title", "x")]).await, 404).await["message"],
        "404 Not found"
    );
    // Any user may create an issue in a public project, but not set its planning fields.
    let form = [("title", "Hello"), ("labels", "bug"), ("due_date", "2026-12-24")];
    let at = "/projects/docs%2Fhandbook/issues";
    let made = json(server.post("fay", at, &form).await, 201).await;
    assert_eq!((&made["labels"], &made["due_date"]), (&value!([]), &Value::Null));
    let one = format!("{at}/{}", made["iid"]);
    assert_eq!(json(server.put("eli", &one, &[("title", "x")]).await, 403).await["message"], "403 Forbidden");
    json(server.put("fay", &one, &[("title", "Hello!")]).await, 200).await;
}

#[tokio::test]
async fn an_issue_lists_its_merge_requests_and_participants() {
    let server = demo().await;
    let iids = async |user: &str, path: &str| numbers(&server, user, &format!("{AT}/{path}")).await;
    assert_eq!(iids("ada", "31/closed_by").await.len(), 1);
    let closing = iids("ada", "38/closed_by").await;
    let related = iids("ada", "38/related_merge_requests").await;
    assert!(closing.len() == 1 && related.contains(&closing[0]), "{closing:?} {related:?}");
    assert!(iids("ada", "41/closed_by").await.is_empty());
    let people = server.read("ada", &format!("{AT}/38/participants")).await;
    let names = each(&people, "username");
    assert!(names.contains(&"eli") && names.len() > 1, "{names:?}");
    for part in ["related_merge_requests", "closed_by", "participants"] {
        assert_eq!(json(server.get("ada", &format!("{AT}/999/{part}")).await, 404).await["message"], "404 Not found");
        assert_eq!(server.get("", &format!("{AT}/38/{part}")).await.status(), 401, "{part}");
    }
}

#[tokio::test]
async fn an_issue_is_deleted_with_its_notes_by_an_owner_only() {
    let server = demo().await;
    let path = format!("{AT}/38");
    assert_eq!(json(server.delete("bo", &path).await, 403).await["message"], "403 Forbidden");
    assert_eq!(server.delete("root", &path).await.status(), 204);
    assert_eq!(server.get("ada", &path).await.status(), 404);
    assert!(!numbers(&server, "ada", AT).await.contains(&38));
}

#[tokio::test]
async fn the_iid_of_a_deleted_issue_is_not_given_again() {
    let server = demo().await;
    let last = numbers(&server, "ada", &format!("{AT}?per_page=100")).await.into_iter().max().unwrap();
    assert_eq!(server.delete("root", &format!("{AT}/{last}")).await.status(), 204);
    assert_eq!(json(server.post("ada", AT, &[("title", "Next")]).await, 201).await["iid"], last + 1);
}

#[tokio::test]
async fn the_same_milestone_again_adds_no_system_note() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    json(server.post("ada", "/projects/1/milestones", &[("title", "Next")]).await, 201).await;
    json(server.post("ada", "/projects/1/issues", &[("title", "Quiet")]).await, 201).await;
    for _ in 0..2 {
        json(server.put("ada", "/projects/1/issues/1", &[("milestone_id", "1")]).await, 200).await;
        let notes = server.read("ada", "/projects/1/issues/1/notes").await;
        assert_eq!(each(&notes, "body"), ["changed milestone to %\"Next\""]);
    }
}

#[tokio::test]
async fn an_issue_has_what_clients_of_today_read() {
    let server = Server::of(WORLD, &Default::default()).await;
    let form = [("title", "Too quiet"), ("description", "- [ ] Shout")];
    let made = json(server.post("ada", "/projects/1/issues", &form).await, 201).await;
    json(server.put("ada", "/projects/1/merge_requests/1", &[("description", "Closes #1")]).await, 200).await;
    let base = &server.running.base_url;
    assert_eq!(made["web_url"], format!("{base}/ada/hello/-/issues/1"));
    assert_eq!(made["_links"]["notes"], format!("{base}/api/v4/projects/1/issues/1/notes"));
    assert_eq!(
        (&made["type"], &made["issue_type"], &made["severity"]),
        (&"ISSUE".into(), &"issue".into(), &"UNKNOWN".into())
    );
    assert_eq!((&made["has_tasks"], &made["task_status"]), (&true.into(), &"0 of 1 checklist items completed".into()));
    assert_eq!((&made["subscribed"], &made["merge_requests_count"]), (&true.into(), &0.into()));
    let row = server.read("eve", "/projects/1/issues").await[0].clone();
    assert_eq!((row.get("subscribed"), &row["merge_requests_count"]), (None, &1.into()));
    assert_eq!((&row["closed_by"], &row["moved_to_id"]), (&Value::Null, &Value::Null));
}
