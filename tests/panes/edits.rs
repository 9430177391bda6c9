//! Concurrent edits: in every form, the second person sees the first one's changes before overwriting them.

use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

/// An edit form: its place, the keys that open it and make a change, the request that reads the resource, the reply,
/// and a field that somebody else changes in the meantime.
struct Edit {
    place: Place,
    keys: &'static str,
    typed: &'static str,
    url: &'static str,
    thing: Value,
    theirs: (&'static str, Value),
}

fn edits() -> Vec<Edit> {
    let user =
        json!({"id": 2, "username": "bo", "name": "Bo", "state": "active", "email": "bo@x.test", "is_admin": false});
    let group = json!({"id": 3, "name": "Acme", "path": "acme", "full_path": "acme", "description": "Makes.", "visibility": "public"});
    let runner = json!({"id": 3, "description": "mill", "active": true, "is_shared": false, "tag_list": ["rust"], "locked": false,
        "run_untagged": true, "access_level": "not_protected", "projects": []});
    let snippet = json!({"id": 3, "title": "Note", "file_name": "a.rs", "visibility": "private", "web_url": ""});
    let project = json!({"id": 7, "name": "rocket", "path": "rocket", "path_with_namespace": "a/b", "description": "Draws.",
        "default_branch": "main", "visibility": "private"});
    let request = json!({"id": 70, "iid": 4, "project_id": 7, "title": "Rows", "description": "All.", "state": "opened",
        "source_branch": "x", "target_branch": "main", "labels": ["ui"], "web_url": ""});
    let told = json!({"level": "global"});
    let edit = |place: Place, keys, typed, url, thing: &Value, theirs| Edit {
        place,
        keys,
        typed,
        url,
        thing: thing.clone(),
        theirs,
    };
    let here = |pane: &str| Place::new(pane).project("a/b");
    vec![
        edit(here("overview"), "e", "new", "/projects/a%2Fb", &project, ("description", json!("Quickly."))),
        edit(
            here("mr").item(4),
            "E",
            "new",
            "/projects/a%2Fb/merge_requests/4",
            &request,
            ("labels", json!(["ui", "fast"])),
        ),
        edit(
            here("snippets").item(3),
            "t",
            "new",
            "/projects/a%2Fb/snippets/3",
            &snippet,
            ("file_name", json!("b.rs")),
        ),
        edit(Place::new("runners"), "e", "new", "/runners/3", &runner, ("tag_list", json!(["rust", "gpu"]))),
        edit(Place::new("user").item("bo"), "e", "new", "/users/2", &user, ("email", json!("bo@y.test"))),
        edit(
            Place::new("groups").group("acme"),
            "e",
            "new",
            "/groups/acme",
            &group,
            ("description", json!("Makes more.")),
        ),
        edit(Place::new("notifications"), "e Space", "", "/notification_settings", &told, ("level", json!("watch"))),
        edit(
            here("notifications"),
            "e Space",
            "",
            "/projects/7/notification_settings",
            &told,
            ("level", json!("watch")),
        ),
        edit(
            Place::new("notifications").group("acme"),
            "e Space",
            "",
            "/groups/3/notification_settings",
            &told,
            ("level", json!("watch")),
        ),
    ]
}

async fn at(edit: &Edit) -> Harness {
    let mut harness = Begin::at(edit.place.clone()).size(120, 40).open();
    let all = edits();
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "name": "Ada", "is_admin": true}));
    for other in &all {
        harness.reply(&format!("GET {}", other.url), other.thing.clone());
    }
    harness.reply("GET /users", [all[4].thing.clone()]);
    harness.reply("GET /runners", [all[3].thing.clone()]);
    harness.reply("GET /groups", [all[5].thing.clone()]);
    harness.reply("GET /projects", [all[0].thing.clone()]);
    harness.reply("GET /projects/a%2Fb/snippets", [all[2].thing.clone()]);
    harness.settle().await;
    harness
}

#[tokio::test]
async fn every_edit_form_shows_concurrent_changes_before_saving() {
    for edit in edits() {
        let mut harness = at(&edit).await;
        harness.press(edit.keys).settle().await;
        assert!(harness.shows("Esc close (draft saved)"), "{}: no form\n{}", edit.url, harness.picture());
        harness.type_text(edit.typed);
        let mut theirs = edit.thing.clone();
        theirs[edit.theirs.0] = edit.theirs.1.clone();
        harness.reply(&format!("GET {}", edit.url), theirs.clone()).reply(&format!("PUT {}", edit.url), theirs);
        harness.press("C-s").settle().await;
        assert!(harness.shows("Somebody else has changed it."), "{}\n{}", edit.url, harness.picture());
        let puts = |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with("PUT")).count();
        assert_eq!(puts(&harness), 0, "{}: {:?}", edit.url, harness.asked);
        harness.press("C-s").settle().await;
        assert_eq!(puts(&harness), 1, "{}: {:?}\n{}", edit.url, harness.asked, harness.picture());
        // Only the local changes are sent; the other person's changes stay.
        let sent = harness.asked.iter().rfind(|line| line.starts_with("PUT")).cloned().unwrap_or_default();
        assert!(edit.typed.is_empty() || !sent.contains(edit.theirs.0), "{sent}");
    }
}

#[tokio::test]
async fn an_empty_switch_of_a_form_says_that_the_default_applies() {
    let mut harness = Begin::at(Place::new("mrs").project("a/b")).size(100, 40).open();
    harness.reply("GET /projects/a%2Fb/merge_requests", json!([])).settle().await;
    harness.press("+").settle().await;
    for label in ["Delete source branch", "Squash", "Allow commits"] {
        assert!(harness.line_with(label).contains("default"), "{label}\n{}", harness.picture());
    }
}
