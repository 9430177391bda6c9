//! Groups: a tree whose groups load when opened, and the actions on a group.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

fn group(id: u64, path: &str, parent: Option<u64>) -> Value {
    let name = path.rsplit('/').next().unwrap_or(path);
    json!({"id": id, "name": name, "path": name, "full_path": path, "full_name": path, "parent_id": parent,
        "visibility": "public", "description": format!("About {name}"), "web_url": format!("http://demo.test/{path}")})
}

fn project(id: u64, path: &str) -> Value {
    fixtures::project(id, path).with(json!({
        "name": path, "visibility": "private", "description": "Draws.", "last_activity_at": "2026-06-15T09:00:00Z",
    }))
}

async fn at(place: Place, admin: bool, width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(place).size(width, height).open();
    let mut acme = group(1, "acme", None);
    acme["ldap_group_links"] = json!([{"cn": "developers", "group_access": 30, "provider": "ldapmain"}]);
    harness
        .reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": admin}))
        .reply("GET /groups", [group(1, "acme", None), group(2, "acme/tools", Some(1)), group(3, "docs", None)])
        .reply("GET /groups/acme", acme)
        .reply("GET /groups/docs", group(3, "docs", None))
        .reply("GET /groups/acme%2Ftools", group(2, "acme/tools", Some(1)))
        .reply("GET /groups/acme/subgroups", [group(2, "acme/tools", Some(1))])
        .reply("GET /groups/acme/projects", [project(7, "acme/rocket-ui")])
        .reply("GET /groups/acme%2Ftools/subgroups", json!([]))
        .reply("GET /groups/acme%2Ftools/projects", [project(8, "acme/tools/cli")])
        .reply("GET /groups/docs/subgroups", json!([]))
        .reply("GET /groups/docs/projects", json!([]))
        .settle()
        .await;
    harness
}

fn sent(harness: &Harness, verb: &str) -> Vec<String> {
    harness.asked.iter().filter(|line| line.starts_with(verb)).cloned().collect()
}

#[tokio::test]
async fn opening_a_group_lists_its_subgroups_and_projects() {
    let mut harness = at(Place::new("groups"), false, 120, 30).await;
    harness.expect("▸ acme").expect("▸ docs").expect_no("rocket-ui").expect("developers");
    harness.press("Enter").settle().await;
    harness.expect("▾ acme").expect("▸ tools").expect("rocket-ui").expect("3h");
    harness.press("j l").settle().await;
    harness.expect("cli").press("h").expect_no("cli").press("h h").expect("▸ acme").expect_no("rocket-ui");
    harness.press("G Enter").settle().await;
    harness.expect("nothing you can see");
    harness.press("g g l j j Enter");
    assert_eq!(harness.app.place(), Place::new("files").project("acme/rocket-ui"));
}

#[tokio::test]
async fn a_nested_group_can_be_opened_by_path_and_a_name_may_be_a_user() {
    let harness = at(Place::new("groups").group("acme/tools"), false, 120, 30).await;
    assert_eq!(harness.app.place(), Place::new("groups").group("acme/tools"));
    assert!(harness.line_with("▾ tools").starts_with('▌'), "{}", harness.picture());
    let mut harness = Begin::at(Place::new("groups").group("bo")).open();
    harness
        .fail("GET /groups/bo", 404, "404 Group Not Found")
        .reply("GET /groups", [group(1, "acme", None)])
        .reply("GET /users?username=bo", [json!({"id": 2, "username": "bo", "state": "active"})])
        .settle()
        .await;
    assert_eq!(harness.app.place(), Place::new("user").item("bo"));
}

#[tokio::test]
async fn more_pages_of_groups_and_of_what_is_in_them_load_near_the_cursor() {
    let groups: Vec<Value> = (0..150).map(|n| group(100 + n, &format!("group-{n:03}"), None)).collect();
    let projects: Vec<Value> = (0..150).map(|n| project(500 + n, &format!("group-140/part-{n:03}"))).collect();
    let mut harness = Begin::at(Place::new("groups").group("group-140")).size(120, 30).open();
    harness
        .reply("GET /groups", groups.clone())
        .reply("GET /groups/group-140", groups[140].clone())
        .reply("GET /groups/group-140/subgroups", json!([]))
        .reply("GET /groups/group-140/projects", projects)
        .settle()
        .await;
    // It is on the second page.
    assert!(harness.line_with("▾ group-140").starts_with('▌'), "{}", harness.picture());
    harness.expect("part-000").expect(" groups  150 ");
    for _ in 0..8 {
        harness.press("PageDown").settle().await;
    }
    harness.expect("part-149").expect_no("… more").expect("▸ group-141");
    harness.press("k k k k k k k k k h h").settle().await;
    harness.expect_no("part-").expect("▸ group-140");
}

#[tokio::test]
async fn a_path_that_is_not_a_project_opens_the_group() {
    let mut harness = Begin::at(Place::new("files").project("acme/tools")).open();
    harness
        .fail("GET /projects/acme%2Ftools", 404, "404 Project Not Found")
        .fail("GET /projects/acme%2Ftools/repository/tree", 404, "404 Project Not Found")
        .reply("GET /groups/acme%2Ftools", group(2, "acme/tools", Some(1)))
        .reply("GET /groups/acme/subgroups", [group(2, "acme/tools", Some(1))])
        .reply("GET /groups/acme/projects", json!([]))
        .reply("GET /groups", [group(1, "acme", None)])
        .settle()
        .await;
    assert_eq!(harness.app.place(), Place::new("groups").group("acme/tools"));
}

#[tokio::test]
async fn a_filter_lists_matches_flat_and_queries_the_server() {
    let mut harness = at(Place::new("groups"), false, 100, 30).await;
    harness.reply("GET /groups?search=tools", [group(2, "acme/tools", Some(1))]);
    let head = |harness: &Harness| harness.lines().remove(0);
    assert!(head(&harness).starts_with(" groups  2 "), "subgroups are not listed yet: {}", head(&harness));
    harness.press("/").type_text("tools").settle().await;
    harness.press("Enter").expect("▸ acme/tools").expect_no("docs");
    assert!(head(&harness).starts_with(" groups  tools  1 "), "{}", head(&harness));
    harness.press("/ C-u").type_text("owned:yes skip:3 sort:path-desc").settle().await;
    let line = harness.asked.last().expect("a query").clone();
    assert!(line.contains("owned=true") && line.contains("order_by=path") && line.contains("skip_groups"), "{line}");
}

#[tokio::test]
async fn search_results_without_full_paths_are_opened_by_id() {
    let brief = |id: u64, path: &str| json!({"id": id, "name": path, "path": path, "description": "About it"});
    for width in [80, 120] {
        let mut harness = at(Place::new("groups"), false, width, 30).await;
        harness.reply("GET /groups?search=o", [brief(2, "tools"), brief(9, "rooms")]);
        harness.reply("GET /groups/2", group(2, "acme/tools", Some(1)));
        harness.reply("GET /groups/9", group(9, "acme/rooms", Some(1)));
        harness.reply("GET /groups/9/subgroups", [group(10, "acme/rooms/small", Some(9))]);
        harness.reply("GET /groups/9/projects", [project(11, "acme/rooms/lamp")]);
        harness.press("/").type_text("o").press("Enter").settle().await;
        harness.expect("▸ tools").expect("▸ rooms").press("j Enter").settle().await;
        harness.expect("small").expect("lamp").expect_no("404");
        // The selected group stays selected when the filter is cleared.
        harness.press("k").settle().await;
        harness.press("Esc").settle().await;
        assert!(harness.line_with("▸ tools").starts_with('▌'), "{}", harness.picture());
    }
}

#[tokio::test]
async fn deleting_a_group_requires_typing_its_path() {
    let mut harness = at(Place::new("groups"), false, 80, 24).await;
    harness.press("D").expect("Delete the group acme").press("y Enter").type_text("es").press("Enter");
    assert!(sent(&harness, "DELETE").is_empty());
    harness.press("C-u").type_text("acme").press("Enter");
    assert_eq!(sent(&harness, "DELETE"), ["DELETE /groups/1"]);
    harness.fail("DELETE /groups/1", 403, "403 Forbidden").settle().await;
    harness.expect("Could not delete group acme: 403 Forbidden");
}

#[tokio::test]
async fn a_new_group_gets_a_path_from_its_name_and_the_selected_parent() {
    let mut harness = at(Place::new("groups"), false, 100, 30).await;
    harness.press("+").type_text("New Things!").expect("new-things").expect("acme");
    harness.reply("POST /groups", group(9, "acme/new-things", Some(1))).press("C-s").settle().await;
    assert_eq!(sent(&harness, "POST"), ["POST /groups name=New Things! parent_id=1 path=new-things"]);
    assert_eq!(harness.app.place().pane, "groups");
}

#[tokio::test]
async fn ldap_links_can_be_added_removed_and_synced() {
    let mut harness = at(Place::new("groups"), false, 120, 30).await;
    harness.press("L").type_text("admins").press("C-s");
    assert_eq!(
        sent(&harness, "POST"),
        ["POST /groups/acme/ldap_group_links cn=admins group_access=30 provider=ldapmain"]
    );
    harness.press("Esc U").expect("Developer from ldapmain").press("Enter").expect("Members added").press("y");
    assert_eq!(sent(&harness, "DELETE"), ["DELETE /groups/acme/ldap_group_links/ldapmain/developers"]);
    harness.fail("POST /groups/acme/ldap_sync", 404, "404 Not Found").press("Y").settle().await;
    harness.expect("Could not sync the LDAP members of acme");
}

#[tokio::test]
async fn transferring_projects_and_showing_sizes_need_an_administrator() {
    let mut harness = at(Place::new("groups"), false, 100, 30).await;
    harness.press("m").expect("For administrators only").press("S").expect("For administrators only");
    let mut harness = at(Place::new("groups"), true, 120, 30).await;
    let mut acme = group(1, "acme", None);
    acme["statistics"] = json!({"storage_size": 2_500_000, "repository_size": 2_000_000});
    harness.reply("GET /groups?statistics=true", [acme]).press("S").settle().await;
    harness.expect("with sizes").expect("2.5 MB");
    harness.press("m").type_text("lab/notebook").press("C-s");
    assert_eq!(sent(&harness, "POST"), ["POST /groups/acme/projects/lab%2Fnotebook"]);
}

#[tokio::test]
async fn the_projects_of_a_group_have_their_own_query() {
    let mut harness = at(Place::new("groups"), false, 100, 30).await;
    harness.press("p").settle().await;
    assert_eq!(harness.app.place(), Place::new("projects").group("acme"));
    harness.expect("rocket-ui").expect("2 Owned").press("/").type_text("archived:no sort:name").settle().await;
    let line = harness.asked.last().expect("a query").clone();
    assert!(line.starts_with("GET /groups/acme/projects?") && line.contains("archived=false"), "{line}");
}

#[tokio::test]
async fn each_kind_of_failure_has_its_own_message() {
    for (status, words) in
        [(401, "Not signed in"), (403, "Not allowed"), (429, "Too many requests"), (500, "Server error")]
    {
        let mut harness = Begin::at(Place::new("groups")).open();
        harness.fail("GET /groups", status, "said so").settle().await;
        harness.expect(words);
    }
    let mut harness = Begin::at(Place::new("groups")).open();
    harness.reply("GET /groups", json!([])).settle().await;
    harness.expect("There are no groups here");
    let mut harness = at(Place::new("groups"), false, 100, 30).await;
    harness.fail("GET /groups/acme/projects", 500, "broken").press("Enter").settle().await;
    harness.expect("tools").expect("broken");
    for (width, height) in [(20, 6), (80, 14), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab j z k z");
    }
}

#[tokio::test]
async fn the_wheel_over_the_details_of_a_group_leaves_the_focus_in_the_tree() {
    let mut harness = at(Place::new("groups"), false, 120, 30).await;
    harness.wheel_on("developers", true).press("j").settle().await;
    assert!(harness.line_with("▸ docs").starts_with('▌'), "{}", harness.picture());
    harness.press("k").settle().await;
    harness.click_on("developers").press("j").settle().await;
    assert!(!harness.line_with("▸ docs").starts_with('▌'), "a click does: {}", harness.picture());
}

#[tokio::test]
async fn an_open_group_does_not_hide_that_all_groups_are_loading_or_failed() {
    let mut harness = Begin::at(Place::new("groups").group("acme")).size(100, 24).open();
    harness
        .reply("GET /groups/acme", group(1, "acme", None))
        .reply("GET /groups/acme/subgroups", json!([]))
        .reply("GET /groups/acme/projects", [project(7, "acme/rocket-ui")])
        .settle()
        .await;
    harness.expect_no("No matches").fail("GET /groups", 500, "out of ink").press("r").settle().await;
    harness.expect("out of ink").expect("Server error").expect_no("No matches");
}

#[tokio::test]
async fn the_cursor_stays_where_the_user_moved_it_while_a_group_is_searched() {
    let groups: Vec<Value> = (0..150).map(|n| group(100 + n, &format!("group-{n:03}"), None)).collect();
    let mut harness = Begin::at(Place::new("groups").group("group-140")).size(100, 24).open();
    harness.reply("GET /groups", groups.clone()).settle().await;
    harness.press("j j").reply("GET /groups/group-140", groups[140].clone()).press("r").settle().await;
    assert!(harness.line_with("▸ group-002").starts_with('▌'), "{}", harness.picture());
}

#[tokio::test]
async fn moving_right_stays_in_a_group_without_content() {
    let mut harness = at(Place::new("groups"), false, 100, 30).await;
    harness.reply("GET /groups/acme%2Ftools/projects", json!([])).press("l").settle().await;
    harness.press("j l").settle().await;
    harness.expect("nothing you can see").press("l");
    assert!(harness.line_with("▾ tools").starts_with('▌'), "{}", harness.picture());
    harness.fail("GET /groups/acme%2Ftools/projects", 500, "broken").press("r").settle().await;
    harness.press("l");
    assert!(harness.line_with("▾ tools").starts_with('▌'), "{}", harness.picture());
}

#[tokio::test]
async fn a_new_subgroup_is_selected_in_an_open_group() {
    let mut harness = at(Place::new("groups"), false, 100, 30).await;
    harness.press("Enter").settle().await;
    harness
        .reply("POST /groups", group(9, "acme/new", Some(1)))
        .reply("GET /groups/acme%2Fnew", group(9, "acme/new", Some(1)))
        .reply("GET /groups/acme%2Fnew/subgroups", json!([]))
        .reply("GET /groups/acme%2Fnew/projects", json!([]))
        .reply("GET /groups/acme/subgroups", [group(2, "acme/tools", Some(1)), group(9, "acme/new", Some(1))]);
    harness.press("+").type_text("New").press("C-s").settle().await;
    assert!(harness.line_with("▾ new").starts_with('▌'), "{}", harness.picture());
}

#[tokio::test]
async fn a_group_that_is_refused_does_not_block_the_details_of_others() {
    let mut harness = Begin::at(Place::new("groups").group("acme/secret")).size(120, 24).open();
    let mut acme = group(1, "acme", None);
    acme["ldap_group_links"] = json!([{"cn": "developers", "group_access": 30, "provider": "ldapmain"}]);
    harness
        .reply("GET /groups", [group(1, "acme", None)])
        .reply("GET /groups/acme", acme)
        .fail("GET /groups/acme%2Fsecret", 403, "403 Forbidden")
        .settle()
        .await;
    harness.expect("developers");
}
