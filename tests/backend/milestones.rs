//! Milestones of the local server: of projects and groups, their contents, and changes to them.

use crate::{Server, each, json};
use labscope::backend::{Options, WorldKind};
use serde_json::{Value, json as value};

const AT: &str = "/projects/acme%2Frocket-ui/milestones";

async fn demo() -> Server {
    Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await
}

#[tokio::test]
async fn milestones_can_be_filtered_and_list_their_contents() {
    let server = demo().await;
    assert_eq!(each(&server.read("ada", AT).await, "title"), ["0.3", "0.4", "Later"], "earliest due date first");
    let active = server.read("ada", &format!("{AT}?state=active&include_ancestors=true")).await;
    assert_eq!(each(&active, "title"), ["0.4", "Winter break", "Later"]);
    assert_eq!((&active[0]["expired"], &active[0]["due_date"]), (&false.into(), &"2026-12-11".into()));
    assert!(active[1]["project_id"].is_null() && active[1]["group_id"].is_u64(), "{}", active[1]);
    assert!(active[0]["web_url"].as_str().unwrap().ends_with("/acme/rocket-ui/-/milestones/2"));
    assert_eq!(each(&server.read("ada", &format!("{AT}?search=MOUSE")).await, "title"), ["Later"]);
    assert_eq!(each(&server.read("ada", &format!("{AT}?title=0.3")).await, "state"), ["closed"]);
    let one = format!("{AT}/{}", active[0]["id"]);
    let issues = server.read("ada", &format!("{one}/issues")).await;
    assert_eq!(each(&issues, "title"), ["Columns collide in a terminal of 40 columns"]);
    let requests = server.read("ada", &format!("{one}/merge_requests?per_page=100")).await;
    assert!(each(&requests, "title").contains(&"Theme file errors name the key"), "{requests}");
    assert_eq!(each(&server.read("ada", "/groups/acme/milestones").await, "title"), ["Winter break"]);
    let below = server.read("ada", "/groups/acme%2Ftools/milestones?include_ancestors=true").await;
    assert_eq!(each(&below, "title"), ["Winter break"]);
    assert_eq!(
        json(server.get("ada", &format!("{AT}/999/issues")).await, 404).await["message"],
        "404 Milestone Not Found"
    );
    assert_eq!(json(server.get("", AT).await, 401).await["message"], "401 Unauthorized");
}

#[tokio::test]
async fn a_milestone_can_be_created_changed_closed_and_deleted() {
    let server = demo().await;
    let form = [("title", "0.5"), ("start_date", "2027-01-01"), ("due_date", "2027-03-01"), ("description", "Mouse")];
    let made = json(server.post("ada", AT, &form).await, 201).await;
    assert_eq!(
        (&made["iid"], &made["state"], &made["start_date"]),
        (&4.into(), &"active".into(), &"2027-01-01".into())
    );
    let again = json(server.post("ada", AT, &[("title", "0.5")]).await, 400).await;
    assert_eq!(again["message"], value!({"title": ["0.5 has already been taken"]}));
    let one = format!("{AT}/{}", made["id"]);
    let early = json(server.put("ada", &one, &[("due_date", "2026-01-01")]).await, 400).await;
    assert_eq!(early["message"], value!({"due_date": ["must be greater than start date"]}));
    let none = json(server.put("ada", &one, &[]).await, 400).await;
    assert!(none["error"].as_str().unwrap().starts_with("title, description"), "{none}");
    let changed = json(server.put("ada", &one, &[("start_date", ""), ("state_event", "close")]).await, 200).await;
    assert_eq!((&changed["start_date"], &changed["state"]), (&Value::Null, &"closed".into()));
    let open = json(server.put("ada", &one, &[("state_event", "activate")]).await, 200).await;
    assert_eq!(open["state"], "active");
    let (issue, id) = ("/projects/acme%2Frocket-ui/issues/41", made["id"].to_string());
    assert_eq!(json(server.put("ada", issue, &[("milestone_id", &id)]).await, 200).await["milestone"]["title"], "0.5");
    assert_eq!(server.delete("ada", &one).await.status(), 204);
    assert_eq!(server.read("ada", issue).await["milestone"], Value::Null);
    let refused = json(server.post("fay", "/projects/docs%2Fhandbook/milestones", &[("title", "x")]).await, 403).await;
    assert_eq!(refused["message"], "403 Forbidden");
}

#[tokio::test]
async fn a_group_milestone_is_usable_in_projects_but_changed_in_the_group() {
    let server = demo().await;
    let made = json(server.post("ada", "/groups/acme/milestones", &[("title", "2027")]).await, 201).await;
    let id = made["id"].to_string();
    let form = [("milestone_id", id.as_str())];
    let issue = json(server.put("ada", "/projects/acme%2Ftools%2Fcli/issues/5", &form).await, 200).await;
    assert_eq!((&issue["milestone"]["title"], &issue["milestone"]["group_id"]), (&"2027".into(), &made["group_id"]));
    let inside = server.read("ada", &format!("/groups/acme/milestones/{id}/issues")).await;
    assert_eq!(each(&inside, "title").len(), 1);
    assert_eq!(server.read("ada", &format!("/groups/acme/milestones/{id}/merge_requests")).await, value!([]));
    assert_eq!(
        json(server.put("ada", &format!("{AT}/{id}"), &form).await, 404).await["message"],
        "404 Milestone Not Found"
    );
    let changed =
        json(server.put("ada", &format!("/groups/acme/milestones/{id}"), &[("title", "Next year")]).await, 200).await;
    assert_eq!(changed["title"], "Next year");
    assert_eq!(server.delete("ada", &format!("/groups/acme/milestones/{id}")).await.status(), 204);
}

#[tokio::test]
async fn the_iid_of_a_deleted_milestone_is_not_given_again() {
    let server = demo().await;
    for at in [AT, "/groups/acme/milestones"] {
        let listed = server.read("ada", at).await;
        let iid = |milestone: &Value| milestone["iid"].as_u64().unwrap();
        let last = listed.as_array().unwrap().iter().max_by_key(|milestone| iid(milestone)).unwrap();
        assert_eq!(server.delete("ada", &format!("{at}/{}", last["id"])).await.status(), 204);
        let made = json(server.post("ada", at, &[("title", "After it")]).await, 201).await;
        assert_eq!(iid(&made), iid(last) + 1, "{at}");
        assert_eq!(server.delete("ada", &format!("{at}/{}", made["id"])).await.status(), 204);
        let made = json(server.post("ada", at, &[("title", "After both")]).await, 201).await;
        assert_eq!(iid(&made), iid(last) + 2, "{at}");
    }
}

#[tokio::test]
async fn a_milestone_is_read_by_its_number_where_it_belongs() {
    let server = Server::of(crate::WORLD, &Default::default()).await;
    let made = json(server.post("ada", "/projects/1/milestones", &[("title", "Next")]).await, 201).await;
    let path = format!("/projects/1/milestones/{}", made["id"]);
    assert_eq!(server.read("eve", &path).await, made);
    let missing = json(server.get("eve", "/projects/1/milestones/77").await, 404).await;
    assert_eq!(missing["message"], "404 Milestone Not Found");
    let group = json(server.post("root", "/groups", &[("name", "Acme"), ("path", "acme")]).await, 201).await;
    let path = format!("/groups/{}/milestones", group["id"]);
    let of_group = json(server.post("root", &path, &[("title", "Next")]).await, 201).await;
    assert_eq!(server.read("root", &format!("{path}/{}", of_group["id"])).await, of_group);
    json(server.get("root", &format!("/projects/1/milestones/{}", of_group["id"])).await, 404).await;
    json(server.get("eve", &format!("{path}/{}", of_group["id"])).await, 404).await;
}
