//! Labels of the local server: of projects and groups, with their counts and assignments.

use crate::{Server, each, json};
use labscope::backend::{Options, WorldKind};
use serde_json::json as value;

const AT: &str = "/projects/acme%2Frocket-ui/labels";

async fn demo() -> Server {
    Server::with(Options { world: WorldKind::Demo, ..Options::default() }).await
}

#[tokio::test]
async fn a_project_lists_its_own_and_group_labels_with_counts() {
    let server = demo().await;
    let list = server.read("ada", &format!("{AT}?with_counts=true")).await;
    let names = each(&list, "name");
    assert_eq!(names[..2], ["bug", "design"], "by name");
    assert!(names.contains(&"security") && names.len() == 8, "{names:?}");
    let bug = &list[0];
    assert_eq!((&bug["open_issues_count"], &bug["closed_issues_count"]), (&3.into(), &1.into()));
    assert_eq!((&bug["open_merge_requests_count"], &bug["is_project_label"]), (&1.into(), &true.into()));
    assert_eq!((&bug["color"], &bug["text_color"]), (&"#d9534f".into(), &"#FFFFFF".into()));
    assert!(server.read("ada", AT).await[0].get("open_issues_count").is_none());
    let own = server.read("ada", &format!("{AT}?include_ancestor_groups=false")).await;
    assert_eq!(own.as_array().unwrap().len(), 6);
    assert_eq!(each(&server.read("ada", &format!("{AT}?search=WRONG")).await, "name"), ["bug"], "by description");
    let group = server.read("ada", "/groups/acme%2Ftools/labels").await;
    assert_eq!(each(&group, "name"), ["good-first-issue", "security"]);
    assert_eq!(json(server.get("", AT).await, 401).await["message"], "401 Unauthorized");
}

#[tokio::test]
async fn renaming_or_deleting_a_label_updates_everything_that_has_it() {
    let server = demo().await;
    let form = [("name", "flicker"), ("color", "orange"), ("description", "It blinks"), ("priority", "3")];
    let made = json(server.post("ada", AT, &form).await, 201).await;
    assert_eq!((&made["color"], &made["priority"]), (&"#ffa500".into(), &3.into()));
    let again = json(server.post("ada", AT, &[("name", "flicker"), ("color", "#fff")]).await, 409).await;
    assert_eq!(again["message"], "Label already exists");
    let taken = json(server.post("ada", AT, &[("name", "security"), ("color", "#fff")]).await, 409).await;
    assert_eq!(taken["message"], "Label already exists", "group labels count");
    let wrong = json(server.post("ada", AT, &[("name", "x"), ("color", "odd one")]).await, 400).await;
    assert_eq!(wrong["message"], value!({"color": ["must be a valid color code"]}));
    let changed =
        json(server.put("ada", &format!("{AT}/bug"), &[("new_name", "defect"), ("color", "#0f0")]).await, 200).await;
    assert_eq!((&changed["name"], &changed["color"]), (&"defect".into(), &"#00ff00".into()));
    let issue = server.read("ada", "/projects/acme%2Frocket-ui/issues/38").await;
    assert_eq!(issue["labels"], value!(["defect", "design"]));
    let request = server.read("ada", "/projects/acme%2Frocket-ui/merge_requests/41").await;
    assert_eq!(request["labels"], value!(["defect", "needs-review"]));
    assert_eq!(server.delete("ada", &format!("{AT}/defect")).await.status(), 204);
    let issue = server.read("ada", "/projects/acme%2Frocket-ui/issues/38").await;
    assert_eq!(issue["labels"], value!(["design"]));
    let cleared = json(server.put("ada", &format!("{AT}/{}", made["id"]), &[("priority", "")]).await, 200).await;
    assert_eq!(cleared["priority"], value!(null));
}

#[tokio::test]
async fn labels_are_also_changed_by_name_as_on_older_servers() {
    let server = demo().await;
    let changed = json(server.put("ada", AT, &[("name", "bug"), ("new_name", "defect")]).await, 200).await;
    assert_eq!(changed["name"], "defect");
    assert_eq!(server.delete("ada", &format!("{AT}?name=defect")).await.status(), 204);
    let gone = json(server.put("ada", AT, &[("name", "defect"), ("color", "red")]).await, 404).await;
    assert_eq!(gone["message"], "404 Label Not Found");
    assert_eq!(server.put("ada", AT, &[("color", "red")]).await.status(), 400);
    let of_group = json(server.put("ada", "/groups/acme/labels", &[("name", "security"), ("color", "red")]).await, 200);
    assert_eq!(of_group.await["color"], "#ff0000");
    assert_eq!(server.delete("ada", "/groups/acme/labels?name=security").await.status(), 204);
    assert_eq!(server.delete("fay", "/projects/docs%2Fhandbook/labels?name=x").await.status(), 403);
}

#[tokio::test]
async fn group_labels_are_changed_in_the_group_and_need_permission() {
    let server = demo().await;
    let gone = json(server.put("ada", &format!("{AT}/security"), &[("color", "red")]).await, 404).await;
    assert_eq!(gone["message"], "404 Label Not Found");
    let changed = json(server.put("ada", "/groups/acme/labels/security", &[("color", "red")]).await, 200).await;
    assert_eq!(changed["color"], "#ff0000");
    let none = json(server.put("ada", &format!("{AT}/bug"), &[]).await, 400).await;
    assert!(none["error"].as_str().unwrap().starts_with("new_name, color"), "{none}");
    let made =
        json(server.post("ada", "/groups/acme/labels", &[("name", "all"), ("color", "#123456")]).await, 201).await;
    assert_eq!(made["name"], "all");
    assert_eq!(server.delete("ada", "/groups/acme/labels/all").await.status(), 204);
    let at = "/projects/docs%2Fhandbook/labels";
    let refused = json(server.post("fay", at, &[("name", "x"), ("color", "#fff")]).await, 403).await;
    assert_eq!(refused["message"], "403 Forbidden");
}

#[tokio::test]
async fn a_label_is_read_by_its_number_or_its_name() {
    let server = demo().await;
    let bug = server.read("ada", &format!("{AT}/bug")).await;
    assert_eq!((&bug["name"], &bug["is_project_label"]), (&"bug".into(), &true.into()));
    assert_eq!(server.read("ada", &format!("{AT}/{}", bug["id"])).await, bug);
    assert_eq!(server.read("ada", &format!("{AT}/security")).await["name"], "security", "of a group above");
    assert_eq!(server.read("ada", "/groups/acme/labels/security").await["name"], "security");
    let missing = json(server.get("ada", &format!("{AT}/none")).await, 404).await;
    assert_eq!(missing["message"], "404 Label Not Found");
    json(server.get("", &format!("{AT}/bug")).await, 401).await;
}

#[tokio::test]
async fn subscriptions_to_a_label_are_those_of_the_caller() {
    let server = demo().await;
    for label in [format!("{AT}/bug"), format!("{AT}/security"), "/groups/acme/labels/security".to_owned()] {
        let set = async |user: &str, what: &str| server.post(user, &format!("{label}/{what}"), &[]).await;
        assert_eq!(json(set("ada", "subscribe").await, 201).await["subscribed"], true, "{label}");
        assert_eq!(set("ada", "subscribe").await.status(), 304, "{label}");
        assert_eq!(server.read("bo", &label).await["subscribed"], false);
        assert_eq!(json(set("ada", "unsubscribe").await, 201).await["subscribed"], false, "{label}");
        assert_eq!(set("ada", "unsubscribe").await.status(), 304, "{label}");
        json(set("", "subscribe").await, 401).await;
    }
    let missing = json(server.post("ada", &format!("{AT}/none/subscribe"), &[]).await, 404).await;
    assert_eq!(missing["message"], "404 Label Not Found");
}
