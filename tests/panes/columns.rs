//! Columns chosen by the user, and sorting.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::state::ColumnChoice;
use labscope::app::state::{AccountState, SettingsChange, StateChange};
use serde_json::{Value, json};

fn project(id: u64, path: &str, stars: u64) -> Value {
    fixtures::project(id, path).with(json!({"description": "Words of it", "star_count": stars, "forks_count": 3}))
}

async fn open(width: u16) -> Harness {
    let mut harness = Begin::at(Place::new("projects")).size(width, 24).open();
    harness.reply("GET /projects", [project(1, "a/low", 1), project(2, "b/high", 9), project(3, "c/none", 0)]);
    harness.settle().await;
    harness
}

fn paths(harness: &Harness) -> Vec<String> {
    let words = |line: &String| line.trim_start_matches(['▌', ' ']).split_whitespace().next().map(str::to_owned);
    harness.lines().iter().filter_map(words).filter(|word| word.contains("/")).take(3).collect()
}

#[tokio::test]
async fn columns_can_be_shown_hidden_and_moved_persistently() {
    let mut harness = open(120).await;
    harness.expect("Words of it").expect("Stars").expect_no("Forks");
    harness.press("|").expect("Columns").expect("sorted locally (loaded rows)").press("j Space");
    harness.press("Esc").settle().await;
    harness.expect_no("Words of it");
    let columns = |harness: &Harness, place: &str| harness.states[""].settings.columns.get(place).cloned();
    let chosen = columns(&harness, "projects").expect("a choice").columns;
    assert!(!chosen.iter().any(|column| column == "description"), "{chosen:?}");
    harness.press("| 0 Esc").expect("Words of it");
    assert_eq!(columns(&harness, "projects"), None);
}

#[tokio::test]
async fn a_hidden_column_is_shown_again_where_it_was() {
    let mut harness = open(140).await;
    let titles = |harness: &Harness| harness.lines()[2].split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let before = titles(&harness);
    // Hidden in one go, and while the list is closed; then also after the columns were moved.
    harness.press("| j Space Esc").expect_no("Words of it").press("| j Space Esc");
    assert_eq!(titles(&harness), before);
    assert!(!harness.states[""].settings.columns.contains_key("projects"), "the choice is the default one");
    harness.press("| j J Esc").settle().await;
    let moved = titles(&harness);
    assert_ne!(moved, before);
    harness.press("| j j Space Space Esc").settle().await;
    assert_eq!(titles(&harness), moved);
    // What is hidden by default is listed where it will be shown.
    harness.press("|");
    let at = |harness: &Harness, words: &str| harness.lines().iter().rposition(|line| line.contains(words));
    assert!(
        at(&harness, "Stars") < at(&harness, "Forks") && at(&harness, "Forks") < at(&harness, "Updated"),
        "{}",
        harness.picture()
    );
}

#[tokio::test]
async fn configured_columns_are_shown_until_the_user_chooses_others() {
    let mut begin = Begin::at(Place::new("projects")).size(120, 24);
    let names = ["path", "forks", "no such column"].map(str::to_owned).to_vec();
    begin.columns.insert("projects".into(), names);
    let mut harness = begin.open();
    harness.reply("GET /projects", [project(1, "a/low", 1)]);
    harness.settle().await.expect("Forks").expect_no("Stars").expect_no("Words of it");
    harness.press("| j j j j j j Space Esc").settle().await;
    harness.expect_no("Forks").press("| 0 Esc").expect("Forks").expect_no("Stars");
}

#[tokio::test]
async fn clicks_on_a_title_cycle_through_ascending_descending_and_unsorted() {
    let mut harness = open(120).await;
    harness.press("j");
    harness.click_on("Stars");
    assert_eq!(paths(&harness), ["c/none", "a/low", "b/high"]);
    harness.expect("Stars↑");
    harness.pass(2).click_on("Stars");
    assert_eq!(paths(&harness), ["b/high", "a/low", "c/none"]);
    // The same row stays selected.
    assert!(harness.line_with("▌").contains("b/high"), "{}", harness.picture());
    harness.pass(2).click_on("Stars");
    assert_eq!(paths(&harness), ["a/low", "b/high", "c/none"]);
}

#[tokio::test]
async fn the_first_click_on_a_date_column_sorts_newest_first() {
    const LIST: &str = "GET /projects/acme%2Frocket-ui/repository/branches";
    let on = |name: &str, day: u8| {
        let mut branch = branch(name, "ada");
        for date in ["authored_date", "committed_date"] {
            branch["commit"][date] = json!(format!("2026-06-{day:02}T09:00:00Z"));
        }
        branch
    };
    let mut harness = Begin::at(Place::new("branches").project("acme/rocket-ui")).size(120, 24).open();
    harness.reply(LIST, [on("middle", 7), on("newest", 9), on("oldest", 2)]).settle().await;
    let first =
        |harness: &Harness| harness.lines()[2].split_whitespace().find(|word| word.len() > 4).map(str::to_owned);
    harness.click_on("Updated").settle().await;
    assert_eq!(first(&harness).as_deref(), Some("newest"), "{}", harness.picture());
    harness.pass(2).click_on("Updated").settle().await;
    assert_eq!(first(&harness).as_deref(), Some("oldest"), "{}", harness.picture());
    harness.pass(2).click_on("Updated").settle().await;
    assert_eq!(first(&harness).as_deref(), Some("middle"), "{}", harness.picture());
}

#[tokio::test]
async fn sorting_is_done_by_the_server_if_possible() {
    let mut harness = open(120).await;
    harness.click_on("Project ");
    assert!(harness.asked.iter().any(|line| line.contains("order_by=path&sort=asc")), "{:?}", harness.asked);
    harness.settle().await;
    harness.press("/").type_text("sort:name").press("Enter");
    harness.settle().await;
    harness.expect_no("Project↑");
}

#[tokio::test]
async fn a_locally_sorted_list_says_that_only_loaded_rows_are_sorted() {
    let mut harness = Begin::at(Place::new("projects")).size(120, 24).open();
    let many: Vec<Value> = (1..=250).map(|id| project(id, &format!("a/p{id:03}"), id)).collect();
    harness.reply("GET /projects", many).settle().await;
    harness.click_on("Stars").settle().await;
    harness.expect("sorted locally by stars (loaded rows)");
}

#[tokio::test]
async fn unknown_columns_in_the_settings_are_ignored() {
    let mut begin = Begin::at(Place::new("projects")).size(80, 24);
    let choice = ColumnChoice { columns: vec!["nothing".into()], order: Some("x".into()), down: false };
    let mut state = AccountState::default();
    state.apply(&StateChange::Settings(SettingsChange::Columns { place: "projects".into(), choice: Some(choice) }));
    begin.states.insert(String::new(), state);
    let mut harness = begin.open();
    harness.reply("GET /projects", [project(1, "a/low", 1)]).settle().await;
    harness.expect("a/low").expect("public");
    for (width, height) in [(20, 8), (40, 10), (10, 3)] {
        harness.resize(width, height);
        harness.press("| j Space Esc | 0 Esc");
    }
}

#[tokio::test]
async fn runners_and_users_have_configurable_columns() {
    let runner = |id: u64, name: &str| json!({"id": id, "description": name, "active": true, "is_shared": true, "status": "online"});
    let mut harness = Begin::at(Place::new("runners")).size(160, 24).open();
    harness.reply("GET /runners", [runner(1, "mill"), runner(2, "attic")]).settle().await;
    harness.expect("Type").expect_no("address").click_on("Runner ").settle().await;
    harness.expect("Runner↑");
    assert!(harness.line_with("▌").contains("mill") && harness.lines()[4].contains("attic"), "{}", harness.picture());
    harness.press("|").expect("IP address").press("Esc");
    let user =
        |id: u64, name: &str| json!({"id": id, "username": name, "name": name, "state": "active", "web_url": ""});
    let mut harness = Begin::at(Place::new("users")).size(80, 24).open();
    harness.reply("GET /users", [user(2, "cem"), user(9, "bo")]).settle().await;
    harness.expect_no("#9").press("|").press("j j j j j j j j Space Esc").settle().await;
    harness.expect("#9").click_on("ID").settle().await;
    harness.expect("ID↑");
    assert!(harness.states[""].settings.columns.contains_key("users"), "{:?}", harness.states);
}

fn branch(name: &str, author: &str) -> Value {
    let sha = "9f3c2ab8".repeat(5);
    let commit = fixtures::commit(&sha, &format!("Work on {name}"), "2026-06-15T09:00:00Z");
    fixtures::branch(name, commit.with(json!({"author_name": author})))
}

#[tokio::test]
async fn filtering_locally_sorted_branches_shows_the_rows_of_the_server() {
    const LIST: &str = "GET /projects/acme%2Frocket-ui/repository/branches";
    let mut harness = Begin::at(Place::new("branches").project("acme/rocket-ui")).size(120, 24).open();
    harness.reply(LIST, [branch("main", "ada"), branch("old", "bo"), branch("feature/rows", "cem")]);
    harness.reply(&format!("{LIST}?search=fe"), [branch("feature/rows", "cem"), branch("feature/z", "dee")]);
    harness.settle().await;
    harness.click_on("Author ").settle().await;
    harness.expect("Author↑").pass(2).click_on("Author↑").settle().await;
    harness.press("/").type_text("fe").press("Enter").settle().await;
    assert!(
        harness.lines()[2].contains("feature/z") && harness.lines()[3].contains("feature/rows"),
        "{}",
        harness.picture()
    );
    assert_eq!(harness.lines()[4].trim(), "", "{}", harness.picture());
}

#[tokio::test]
async fn a_filter_of_deployments_survives_a_change_of_the_order() {
    const LIST: &str = "GET /projects/acme%2Frocket-ui/deployments";
    let deployment = |id: u64, environment: &str| {
        json!({"id": id, "iid": id, "ref": "main", "sha": "9f3c2ab89f3c2ab89f3c2ab89f3c2ab89f3c2ab8",
            "created_at": "2026-06-15T09:00:00Z", "user": {"id": 1, "username": "ada", "name": "Ada"},
            "environment": {"id": 4, "name": environment, "external_url": null}, "status": "success"})
    };
    let mut harness = Begin::at(Place::new("deployments").project("acme/rocket-ui")).size(160, 24).open();
    let down = [deployment(3, "production"), deployment(2, "staging"), deployment(1, "staging")];
    let up = [deployment(1, "staging"), deployment(2, "staging"), deployment(3, "production")];
    harness.reply(&format!("{LIST}?order_by=id&sort=desc"), down);
    harness.reply(&format!("{LIST}?order_by=id&sort=asc"), up);
    harness.settle().await;
    harness.press("Tab /").type_text("staging").press("Enter").settle().await;
    harness.press("/").type_text(" sort:id-asc").press("Enter").settle().await;
    harness.expect("2 of 3").expect("✓ success  #1  staging").expect("✓ success  #2  staging");
    assert!(!harness.lines().iter().any(|line| line.contains("✓ success  #3")), "{}", harness.picture());
}
