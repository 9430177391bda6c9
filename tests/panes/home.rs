//! Home: one list of everything that needs the user's attention.

use crate::fixtures::{With, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::session::CustomSection;
use labscope::app::state::{AccountState, RecentsChange, SettingsChange, StateChange};
use serde_json::{Value, json};

const ASSIGNED: &str =
    "GET /merge_requests?order_by=updated_at&scope=assigned-to-me&state=opened&with_labels_details=true";
const MINE: &str = "GET /merge_requests?order_by=updated_at&scope=created-by-me&state=opened&with_labels_details=true";
const RUNNING: &str = "GET /projects/acme%2Frocket-ui/jobs";

fn request(id: u64, title: &str, author: &str) -> Value {
    merge_request(id, title, "opened").with(json!({
        "author": user(id, author), "description": "", "updated_at": "2026-06-15T10:00:00Z",
    }))
}

async fn open(assigned: &[Value], jobs: &[Value]) -> Harness {
    let mut harness = Begin::at(Place::new("home")).open();
    let project = json!({"id": 7, "path_with_namespace": "acme/rocket-ui", "description": "A small toolkit"});
    harness
        .reply(ASSIGNED, assigned)
        .reply(MINE, [request(40, "Theme file errors name the key", "ada")])
        .reply(RUNNING, jobs)
        .reply("GET /projects", [project])
        .settle()
        .await;
    harness
}

#[tokio::test]
async fn home_lists_work_in_sections_and_opens_it() {
    let job = json!({"id": 1207, "name": "bench", "status": "running", "ref": "feature/rows",
        "started_at": "2026-06-15T11:58:29Z"});
    let mut harness = open(&[request(42, "Draw only visible rows", "bo")], &[job]).await;
    for words in ["Assigned to me 1", "Draw only visible rows", "Mine 1", "Running 1", "1m 31s", "Recent projects"] {
        harness.expect(words);
    }
    assert!(harness.line_with("!42").starts_with('▌'), "{}", harness.picture());
    harness.pass(1);
    harness.expect("1m 32s");
    harness.press("j j Enter");
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.item.as_deref()), ("job", Some("1207")));
    assert_eq!(place.project.map(|p| p.to_string()).as_deref(), Some("acme/rocket-ui"));
}

/// GitLab says of merge requests that are ready neither how many approvals nor how many threads they have.
#[tokio::test]
async fn approvals_and_threads_of_a_few_rows_are_counted_once() {
    let ready =
        json!({"detailed_merge_status": "mergeable", "blocking_discussions_resolved": true, "user_notes_count": 1});
    let row = |iid| request(iid, "Draw only visible rows", "bo").with(ready.clone());
    let rows = |count| (1..=count).map(row).collect::<Vec<Value>>();
    let mut harness = Begin::at(Place::new("home")).size(160, 30).open();
    let of = |iid, what: &str| format!("GET /projects/acme%2Frocket-ui/merge_requests/{iid}/{what}");
    let note = json!({"id": 1, "body": "Why?", "resolvable": true, "resolved": false});
    harness.reply(ASSIGNED, rows(9)).reply(MINE, [row(2)]);
    for iid in [1, 2, 3] {
        harness
            .reply(&of(iid, "approvals"), json!({"approvals_required": 2, "approvals_left": 1, "approved_by": [{}]}));
        harness.reply(&of(iid, "discussions"), json!([{"id": "a", "notes": [note]}]));
    }
    harness.settle().await;
    for row in ["!1 ", "!2 ", "!3 "] {
        let line = harness.line_with(row);
        assert!(line.contains("1 of 2") && line.contains("1 open"), "{}", harness.picture());
    }
    let asked = |harness: &Harness, iid| harness.asked.iter().filter(|line| **line == of(iid, "approvals")).count();
    assert_eq!((asked(&harness, 2), asked(&harness, 9)), (1, 1), "once for two sections");
    let mut many = Begin::at(Place::new("home")).size(160, 30).open();
    many.reply(ASSIGNED, rows(11)).settle().await;
    assert_eq!(asked(&many, 2), 0, "{:?}", many.asked);
}

#[tokio::test]
async fn the_names_of_projects_are_not_cut_beside_long_titles() {
    let mut harness = Begin::at(Place::new("home")).size(80, 24).open();
    let title = "Keep the cursor where it is while the list above it grows";
    let full = json!({"references": {"full": "acme/terminal-toolkit!42"}});
    harness.reply(ASSIGNED, [request(42, title, "bo").with(full)]).reply(MINE, json!([])).settle().await;
    harness.expect("!42  terminal-toolkit  Keep the cursor where it is while");
}

#[tokio::test]
async fn a_custom_section_is_asked_for_again_while_a_row_is_being_checked() {
    let section =
        |query: &str| CustomSection { name: "Pictures".into(), query: query.into(), ..CustomSection::default() };
    let mut begin = Begin::at(Place::new("home"));
    begin.sections = vec![section("state:opened label:ui")];
    let mut harness = begin.open();
    let list = "GET /merge_requests?labels=ui&order_by=updated_at&scope=all&state=opened&with_labels_details=true";
    let checking = request(41, "Draw only visible rows", "ada").with(json!({"detailed_merge_status": "checking"}));
    harness.reply(ASSIGNED, json!([])).reply(MINE, json!([])).reply("GET /projects", json!([])).reply(list, [checking]);
    harness.settle().await.expect("Pictures 1");
    let asked = |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with(list)).count();
    let mut counts = vec![asked(&harness)];
    for _ in 0..8 {
        harness.pass(1).settle().await;
        counts.push(asked(&harness));
    }
    assert_eq!(counts, [1, 2, 2, 3, 3, 3, 3, 4, 4], "after 1, 2 and 4 seconds");
}

#[tokio::test]
async fn a_mistake_in_the_query_of_a_section_is_explained_in_the_section() {
    let section =
        |name: &str, query: &str| CustomSection { name: name.into(), query: query.into(), ..CustomSection::default() };
    let open = || {
        let mut begin = Begin::at(Place::new("home"));
        begin.sections = vec![section("Mistyped", "stat:opened author:@me"), section("Theirs", "author:nobodyxyz")];
        let mut harness = begin.open();
        harness.reply(ASSIGNED, json!([])).reply(MINE, json!([])).reply("GET /projects", json!([]));
        harness
    };
    let mut harness = open();
    harness.reply("GET /users", json!([])).settle().await.pass(1).settle().await;
    harness.expect("Mistyped").expect("stat:opened: no such key; use state, scope");
    harness.expect("Theirs").expect("author:nobodyxyz: no user with that name");
    let mut harness = open();
    harness.fail("GET /users", 503, "busy").settle().await.pass(1).settle().await;
    harness.expect("stat:opened: no such key").expect_no("no user with that name");
}

#[tokio::test]
async fn a_wide_screen_shows_details_of_the_selection() {
    let described = json!({"description": "It draws **all** rows.\n\n\u{1b}[2J"});
    let described = request(42, "Draw only visible rows", "bo").with(described);
    let job = json!({"id": 1207, "name": "bench", "status": "running", "ref": "main",
        "commit": {"id": "abc", "message": "Count frames", "author_name": "Cem"}});
    let mut harness = open(&[described], &[job]).await;
    harness.expect_no("It draws all rows.").resize(220, 40).settle().await;
    harness.expect("!42 Draw only visible rows").expect("It draws all rows.");
    harness.press("j").settle().await;
    harness.expect("!40 Theme file errors name the key").expect("No description.").expect_no("It draws all rows.");
    harness.press("j").settle().await;
    harness.expect("#1207 bench").expect("Count frames").resize(160, 40).settle().await;
    harness.expect_no("Count frames");
}

#[tokio::test]
async fn empty_sections_take_one_line_and_an_idle_home_does_not_wake_up() {
    let mut harness = open(&[], &[]).await;
    harness.expect("No open merge requests need you.");
    harness.expect("No jobs run in your latest project; p pins others.");
    harness.pass(10);
    assert_eq!(harness.app.wake_at(), None);
    harness.press("/").type_text("theme").press("Enter");
    harness.expect("Theme file errors").expect_no("Assigned to me");
}

fn pin(begin: &mut Begin, projects: [&str; 2]) {
    let mut state = AccountState::default();
    for project in projects {
        state.apply(&StateChange::Settings(SettingsChange::Pin { project: project.into(), pinned: true }));
    }
    begin.states.insert(String::new(), state);
}

#[tokio::test]
async fn running_jobs_come_from_pinned_projects_if_there_are_any() {
    let mut begin = Begin::at(Place::new("home"));
    pin(&mut begin, ["a/pinned", "b/other"]);
    let mut harness = begin.open();
    let job =
        json!({"id": 9, "name": "mill", "status": "running", "ref": "main", "started_at": "2026-06-15T11:58:29Z"});
    harness.reply("GET /projects/b%2Fother/jobs", [job]).reply("GET /projects/a%2Fpinned/jobs", json!([]));
    harness.reply("GET /projects", json!([{"id": 7, "path_with_namespace": "acme/rocket-ui"}])).settle().await;
    harness.expect("other").expect("mill");
    assert!(!harness.asked.iter().any(|line| line.contains("rocket-ui/jobs")), "{:?}", harness.asked);
}

#[tokio::test]
async fn recently_visited_places_are_listed_and_can_be_filtered() {
    let mut harness = open(&[request(42, "Draw only visible rows", "bo")], &[]).await;
    harness.reply("GET /user", user(5, "ada")).settle().await;
    harness.expect_no("Recently visited").press("Enter");
    assert_eq!(harness.app.place().pane, "mr");
    harness.press("g h").expect("Recently visited").press("/").type_text("rocket-ui!42").press("Enter Enter");
    assert_eq!((harness.app.place().pane.as_str(), harness.app.place().item.as_deref()), ("mr", Some("42")));
}

#[tokio::test]
async fn a_pin_of_a_deleted_project_is_explained_and_can_be_removed() {
    let mut begin = Begin::at(Place::new("home"));
    pin(&mut begin, ["a/gone", "b/other"]);
    let mut harness = begin.open();
    harness.reply("GET /projects/b%2Fother/jobs", json!([])).fail("GET /projects/a%2Fgone/jobs", 404, "404 Not found");
    harness.reply(ASSIGNED, json!([])).reply(MINE, json!([])).reply("GET /projects", json!([])).settle().await;
    assert!(harness.line_with("not found: renamed or deleted?").contains("a/gone"), "{}", harness.picture());
    harness.expect_no("Running 1").press("Enter").expect("It no longer exists; p unpins it");
    harness.press("p").expect("Unpinned: a/gone").expect_no("renamed or deleted").settle().await;
    assert_eq!(harness.states[""].settings.pinned_projects, ["b/other"]);
    harness.expect("No jobs run in your pinned projects.");
}

#[tokio::test]
async fn recents_and_pins_follow_a_project_that_was_moved() {
    let mut begin = Begin::at(Place::new("home"));
    pin(&mut begin, ["a/old", "b/other"]);
    let state = begin.states.get_mut("").expect("a state");
    for place in [Place::new("mr").project("a/old").item(42), Place::new("issue").project("new/name").item(7)] {
        state.apply(&StateChange::Recents(RecentsChange::Visit(place)));
    }
    let mut harness = begin.open();
    harness.reply("GET /user", user(5, "ada")).settle().await;
    harness.expect("a/old");
    harness.reply("GET /projects/a%2Fold", json!({"id": 7, "path_with_namespace": "new/name"}));
    harness.press("C-p").type_text("a/old@main").press("Enter").settle().await;
    harness.press("g h").settle().await;
    harness.expect("new/name").expect_no("a/old");
    let (_, state) = harness.states.iter().find(|(account, _)| !account.is_empty()).expect("the account's state");
    assert_eq!(state.settings.pinned_projects, ["new/name", "b/other"]);
    let projects: Vec<_> = state.recents.places.iter().filter_map(|place| place.project.clone()).collect();
    assert_eq!(projects, ["new/name".into(), "new/name".into(), "new/name".into()]);
}

#[tokio::test]
async fn recently_visited_places_get_their_titles_once_known() {
    let mut begin = Begin::at(Place::new("home"));
    let mut state = AccountState::default();
    state.apply(&StateChange::Recents(RecentsChange::Visit(Place::new("mr").project("acme/rocket-ui").item(42))));
    begin.states.insert(String::new(), state);
    let mut harness = begin.open();
    harness.expect("Recently visited").expect("!42").expect_no("Draw only visible rows");
    harness.reply("GET /projects", json!([{"id": 7, "path_with_namespace": "acme/rocket-ui"}]));
    harness.reply(ASSIGNED, json!([])).reply(MINE, [request(42, "Draw only visible rows", "bo")]).settle().await;
    let lines = harness.lines();
    let lately = lines.iter().position(|line| line.contains("Recently visited")).expect("a heading");
    assert!(lines[lately + 1].contains("!42") && lines[lately + 1].contains("Draw only"), "{}", harness.picture());
}

#[tokio::test]
async fn missing_places_are_not_added_to_recently_visited() {
    let mut harness = open(&[request(42, "Draw only visible rows", "bo")], &[]).await;
    harness.reply("GET /user", user(5, "ada")).settle().await;
    harness.fail("GET /projects/acme%2Fx/merge_requests/999", 404, "404 Not found");
    harness.press("C-p").type_text("acme/x!999").press("Enter").settle().await;
    harness.expect("Showing the nearest existing");
    assert!(harness.states.values().all(|state| state.recents.places.is_empty()), "{:?}", harness.states);
    harness.press("g h").expect_no("Recently visited");
}

#[tokio::test]
async fn what_a_missing_target_begins_with_is_nearest() {
    let (x, of_x) = ("GET /projects/acme%2Fx", json!({"id": 7, "path_with_namespace": "acme/x"}));
    for (typed, missing, place) in [
        ("acme/x!42:3", vec!["GET /projects/acme%2Fx%2142%3A3"], Place::new("mr").project("acme/x").item(42)),
        (
            "acme/x!y:3",
            vec!["GET /projects/acme%2Fx%21y%3A3", "GET /projects/acme%2Fx%21y"],
            Place::new("files").project("acme/x"),
        ),
        ("acme/y", vec!["GET /projects/acme%2Fy", "GET /groups/acme%2Fy"], Place::new("groups").group("acme")),
        (
            "acme/x/y",
            vec!["GET /projects/acme%2Fx%2Fy", "GET /groups/acme%2Fx%2Fy"],
            Place::new("files").project("acme/x"),
        ),
    ] {
        let mut harness = open(&[], &[]).await;
        let acme = json!({"id": 3, "full_path": "acme", "path": "acme"});
        harness.reply(x, &of_x).reply("GET /groups", [&acme]).reply("GET /groups/acme", &acme);
        for request in missing {
            harness.fail(request, 404, "404 Not Found");
        }
        harness.press(":").type_text(typed).press("Enter").settle().await;
        assert_eq!(harness.app.place(), place, "{typed}: {}", harness.picture());
        harness.expect(&format!("Not found: {typed}. Showing the nearest existing place."));
    }
}

#[tokio::test]
async fn a_name_of_nothing_leaves_one_where_one_is() {
    let mut harness = open(&[], &[]).await;
    harness.reply("GET /groups", [json!({"id": 3, "full_path": "acme", "path": "acme"})]);
    harness.reply("GET /users?username=mrz", json!([]));
    for typed in ["mrz", "mrz/x"] {
        let place = harness.app.place();
        harness.fail("GET /groups/mrz", 404, "404 Not Found").fail("GET /projects/mrz%2Fx", 404, "404 Not Found");
        harness.fail("GET /groups/mrz%2Fx", 404, "404 Not Found");
        harness.press(":").type_text(typed).press("Enter").settle().await;
        assert_eq!(harness.app.place(), place, "{}", harness.picture());
        harness.expect(&format!("Not found: {typed}.")).expect_no("nearest").press("g m").settle().await;
    }
}

#[tokio::test]
async fn the_path_of_a_group_is_found() {
    let mut harness = open(&[], &[]).await;
    let group = json!({"id": 3, "full_path": "acme/tools", "path": "tools"});
    harness.fail("GET /projects/acme%2Ftools", 404, "404 Not Found");
    harness.reply("GET /groups/acme%2Ftools", &group).reply("GET /groups", [&group]);
    harness.press(":").type_text("acme/tools").press("Enter").settle().await;
    assert_eq!(harness.app.place(), Place::new("groups").group("acme/tools"));
    harness.expect_no("Not found");
}

#[tokio::test]
async fn the_palette_opens_a_group_of_that_name() {
    // The letters of the first are scattered over commands that cannot be run here; the second begins the name of a place.
    for (path, start) in [("acme", "projects"), ("pip", "groups")] {
        let mut harness = Begin::at(Place::new(start)).size(100, 30).open();
        let group = json!({"id": 3, "full_path": path, "path": path});
        harness.reply("GET /groups", [&group]).reply(&format!("GET /groups/{path}"), &group).settle().await;
        harness.press("g h :").type_text(path);
        assert_eq!(harness.shows("unavailable"), start == "groups", "{}", harness.picture());
        harness.press("Enter").settle().await;
        assert_eq!(harness.app.place(), Place::new("groups").group(path));
    }
}

#[tokio::test]
async fn every_section_opens_as_its_list() {
    let job = json!({"id": 1207, "name": "bench", "status": "running", "ref": "main"});
    let mut harness = open(&[request(42, "Draw only visible rows", "bo")], &[job]).await;
    let place = |harness: &Harness| (harness.app.place().pane.clone(), harness.app.place().query.clone());
    let list = |pane: &str, query: Option<&str>| (pane.to_owned(), query.map(str::to_owned));
    harness.press("s");
    assert_eq!(place(&harness), list("mrs", Some("scope:assigned-to-me")));
    harness.press("g h j s");
    assert_eq!(place(&harness), list("mrs", Some("scope:created-by-me")));
    harness.press("g h j j s");
    assert_eq!(place(&harness), list("jobs", None));
    assert_eq!(harness.app.place().project, Some("acme/rocket-ui".into()));
    harness.press("g h").double_click_on("Recent projects");
    assert_eq!(place(&harness), list("projects", Some("member:yes")));
    harness.press("g h } Enter");
    assert_eq!(place(&harness), list("mrs", Some("scope:created-by-me")));
    harness.press("g h { {");
    assert!(harness.line_with("Assigned to me").starts_with('▌'), "{}", harness.picture());
    harness.press("Enter");
    assert_eq!(place(&harness), list("mrs", Some("scope:assigned-to-me")));
    harness.press("g h g g").click_on("Mine 1").press("Enter");
    assert_eq!(place(&harness), list("mrs", Some("scope:created-by-me")));
    harness.press("g h } j");
    assert!(harness.line_with("Mine 1").starts_with(' '), "{}", harness.picture());
}

#[tokio::test]
async fn projects_are_named_by_their_paths_only_if_names_are_ambiguous() {
    let elsewhere = |id: u64, path: &str| {
        request(id, "A title", "bo").with(json!({"references": {"full": format!("{path}!{id}")}}))
    };
    let requests = [elsewhere(1, "acme/rocket-ui"), elsewhere(2, "bo/rocket-ui"), elsewhere(3, "acme/tools/cli")];
    let harness = open(&requests, &[]).await;
    assert!(harness.line_with("!2 ").contains("bo/rocket-ui"), "{}", harness.picture());
    assert!(!harness.line_with("!3 ").contains("tools"), "{}", harness.picture());
}

#[tokio::test]
async fn an_error_of_the_server_is_told_once_with_what_to_do() {
    for (status, said, advice) in
        [(401, "401 Unauthorized", "Set a valid token:"), (500, "500 Internal Server Error", "refresh to try again")]
    {
        let mut harness = Begin::at(Place::new("home")).size(80, 24).open();
        for list in [ASSIGNED, MINE, "GET /todos", "GET /projects"] {
            harness.fail(list, status, said);
        }
        harness.settle().await;
        let told = |harness: &Harness| harness.lines()[1..23].iter().filter(|line| line.contains(said)).count();
        assert_eq!(told(&harness), 1, "{}", harness.picture());
        harness.expect(advice);
        // Errors of one section only are still told.
        harness.reply("GET /projects", json!([])).press("r").settle().await;
        harness.expect(said).expect("Recent projects");
    }
}

#[tokio::test]
async fn a_refused_part_of_home_says_what_to_do() {
    let mut harness = open(&[request(42, "Draw only visible rows", "bo")], &[]).await;
    harness.resize(120, 30).fail(ASSIGNED, 403, "403 Forbidden").press("r").settle().await;
    harness.expect(
        "Could not refresh: Not allowed: 403 Forbidden. You don't have permission; ask a server administrator.",
    );
    let mut harness = Begin::at(Place::new("home")).open();
    let project = json!({"id": 7, "path_with_namespace": "acme/rocket-ui"});
    harness.reply(ASSIGNED, json!([])).reply(MINE, json!([])).reply("GET /projects", [project]);
    harness.resize(120, 24).fail(RUNNING, 403, "403 Forbidden").settle().await;
    harness.expect("Jobs: Not allowed: 403 Forbidden · You don't have permission; ask an owner of the project");
    harness.resize(80, 24).expect("Jobs: Not allowed · You don't have permission; ask an owner of the project");
    harness.resize(60, 24).expect("Jobs: Not allowed: 403 Forbidden · r retries");
}
