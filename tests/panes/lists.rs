//! Behavior that all places with a list share.

use crate::harness::{Begin, Harness};
use crate::sample::Sample;
use labscope::app::Place;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A place with a list of two rows, and the capabilities of the list.
struct List {
    place: Place,
    line: &'static str,
    rows: [Value; 2],
    marks: bool,
    detail: bool,
}

const PROJECT: &str = "a/b";

fn lists() -> Vec<List> {
    lists_named(["first-one", "first-two"])
}

/// Returns the lists, with rows of these titles, or these names.
fn lists_named([one, two]: [&str; 2]) -> Vec<List> {
    let on = |pane: &str| Place::new(pane).project(PROJECT);
    let commit = |title: &str| {
        json!({"id": "9f3c2ab89f3c2ab89f3c2ab89f3c2ab89f3c2ab8", "short_id": "9f3c2ab8", "title": title,
            "author_name": "ada", "committed_date": "2026-06-15T09:00:00Z"})
    };
    let two = |row: &dyn Fn(u64, &str) -> Value| [row(1, one), row(2, two)];
    let named =
        |_: u64, name: &str| json!({"name": name, "commit": commit("Work"), "merged": false, "protected": false});
    let project = |id: u64, path: &str| {
        json!({"id": id, "name": path, "path": path, "path_with_namespace": path, "web_url": "", "visibility": "public",
            "last_activity_at": "2026-06-15T09:00:00Z"})
    };
    let user =
        |id: u64, name: &str| json!({"id": id, "username": name, "name": name, "state": "active", "web_url": ""});
    let event = |id: u64, title: &str| json!({"id": id, "action_name": "opened", "target_title": title});
    let hook = |id: u64, name: &str| json!({"id": id, "url": format!("http://{name}.test")});
    let snippet = |id: u64, title: &str| json!({"id": id, "title": title, "file_name": "a.rs", "web_url": ""});
    let merge_request = |id: u64, title: &str| {
        json!({"id": id, "iid": id, "title": title, "state": "opened", "web_url": "", "description": "Why.",
            "project_id": 7, "source_branch": "work", "target_branch": "main",
            "author": user(5, "ada"), "created_at": "2026-06-15T09:00:00Z", "updated_at": "2026-06-15T09:00:00Z"})
    };
    let issue = |id: u64, title: &str| json!({"id": id, "iid": id, "title": title, "state": "opened", "project_id": 7});
    let todo = |id: u64, title: &str| json!({"id": id, "body": title, "action_name": "marked", "state": "pending"});
    let runner = |id: u64, name: &str| json!({"id": id, "description": name, "active": true, "is_shared": false, "status": "online"});
    let deployment = |id: u64, name: &str| {
        json!({"id": id, "iid": id, "ref": "main", "sha": "9f3c2ab8", "created_at": "2026-06-15T09:00:00Z",
            "environment": {"id": 4, "name": "production"}, "status": "success",
            "deployable": {"id": 8, "name": "deploy", "stage": "deploy", "status": "success", "commit": commit(name)}})
    };
    let titled = |id: u64, name: &str| json!({"id": id, "iid": id, "name": name, "full_path": name, "url": "", "tag_name": name});
    let pipeline = |id: u64, name: &str| json!({"id": id, "ref": name, "sha": "9f3c2ab8", "status": "success"});
    let job = |id: u64, name: &str| {
        json!({"id": id, "name": name, "stage": "test", "status": "success", "ref": "main",
            "pipeline": pipeline(3, "main")})
    };
    let one_of_two = |id: u64, title: &str| {
        let mut commit = commit(title);
        commit["id"] = json!(format!("{id}f3c2ab89f3c2ab89f3c2ab89f3c2ab89f3c2ab8"));
        commit
    };
    let list = |place, line, rows, marks, detail| List { place, line, rows, marks, detail };
    vec![
        list(on("branches"), "GET /projects/a%2Fb/repository/branches", two(&named), true, false),
        list(on("commits"), "GET /projects/a%2Fb/repository/commits", two(&one_of_two), true, true),
        list(on("tags"), "GET /projects/a%2Fb/repository/tags", two(&named), true, true),
        list(on("snippets"), "GET /projects/a%2Fb/snippets", two(&snippet), false, true),
        list(on("mrs"), "GET /projects/a%2Fb/merge_requests", two(&merge_request), true, true),
        list(
            on("team"),
            "GET /projects/a%2Fb/merge_requests",
            two(&|id, name| {
                let mut request = merge_request(id, "A change");
                request["author"] = user(id, name);
                request
            }),
            false,
            false,
        ),
        list(on("activity"), "GET /projects/a%2Fb/events", two(&event), false, false),
        list(on("members"), "GET /projects/a%2Fb/members/all", two(&user), false, false),
        list(on("issues"), "GET /projects/a%2Fb/issues", two(&issue), true, true),
        list(
            on("labels"),
            "GET /projects/a%2Fb/labels",
            two(&|id, name| json!({"id": id, "name": name})),
            false,
            false,
        ),
        list(on("milestones"), "GET /projects/a%2Fb/milestones", two(&issue), false, true),
        list(Place::new("todos"), "GET /todos", two(&todo), true, true),
        list(on("deployments"), "GET /projects/a%2Fb/deployments", two(&deployment), false, true),
        list(on("pipelines"), "GET /projects/a%2Fb/pipelines", two(&pipeline), false, false),
        list(on("jobs"), "GET /projects/a%2Fb/jobs", two(&job), true, true),
        list(
            on("schedules"),
            "GET /projects/a%2Fb/pipeline_schedules",
            two(&|id, name| json!({"id": id, "description": name, "cron": "0 4 * * *", "active": true})),
            false,
            true,
        ),
        list(
            on("variables"),
            "GET /projects/a%2Fb/variables",
            two(&|_, key| json!({"key": key, "value": "x"})),
            true,
            true,
        ),
        list(on("environments"), "GET /projects/a%2Fb/environments", two(&titled), false, true),
        list(on("releases"), "GET /projects/a%2Fb/releases", two(&titled), false, true),
        list(on("asset_links").item("v1"), "GET /projects/a%2Fb/releases/v1/assets/links", two(&titled), false, false),
        list(on("protected_branches"), "GET /projects/a%2Fb/protected_branches", two(&titled), false, true),
        list(Place::new("notifications").tab("groups"), "GET /groups", two(&titled), false, true),
        list(Place::new("groups"), "GET /groups", two(&titled), false, true),
        list(Place::new("projects"), "GET /projects", two(&project), false, false),
        list(Place::new("users"), "GET /users", two(&user), true, true),
        list(Place::new("runners"), "GET /runners", two(&runner), false, true),
        list(Place::new("hooks"), "GET /hooks", two(&hook), true, true),
    ]
}

/// Returns other lists, for which Esc means something else, with rows of these titles.
fn others_titled([one, two]: [&str; 2]) -> Vec<List> {
    let row = |id: u64, title: &str| {
        json!({"id": id, "iid": id, "title": title, "state": "opened", "web_url": "", "description": "Why.",
            "project_id": 7, "source_branch": "work", "target_branch": "main", "labels": ["bug"],
            "references": {"full": format!("a/b!{id}")}, "created_at": "2026-06-15T09:00:00Z",
            "updated_at": "2026-06-15T09:00:00Z", "author": {"id": 5, "username": "ada", "name": "Ada"}})
    };
    let found = Place::new("search").project(PROJECT).item("first").tab("merge_requests");
    [
        (Place::new("home"), "GET /merge_requests"),
        (found, "GET /projects/a%2Fb/-/search?scope=merge_requests&search=first"),
    ]
    .map(|(place, line)| List { place, line, rows: [row(1, one), row(2, two)], marks: false, detail: true })
    .into()
}

/// Returns the selected row of the list, or the part of the detail panel that names it.
fn selected(harness: &Harness) -> String {
    let lines = harness.lines();
    let mut parts = lines.iter().flat_map(|line| line.split('│'));
    parts.find(|part| part.starts_with('▌') && part.contains("first-")).unwrap_or_default().to_owned()
}

/// Returns the names of the places in `src/panes` that are made of the list kit.
fn list_places(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path());
    let names = |path: PathBuf| {
        if path.is_dir() {
            return list_places(&path);
        }
        let code = std::fs::read_to_string(&path).expect("a source file");
        let source = code.split_once("impl ListSource for").map(|(_, source)| source.to_owned());
        let id = source.as_deref().and_then(|source| source.split_once("ListInfo::new(\""));
        id.and_then(|(_, id)| id.split_once('"')).map(|(id, _)| id.to_owned()).into_iter().collect()
    };
    entries.flat_map(names).collect()
}

#[test]
fn every_list_place_is_in_the_table() {
    let tested: Vec<String> = lists().into_iter().map(|list| list.place.pane).collect();
    let places = list_places(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/panes"));
    assert!(places.len() > 15, "{places:?}");
    // The text of a search is the place itself, so Esc does not clear it. The others are tabs of a place.
    let others = ["search", "user", "mr commits"];
    let is_tested = |place: &&String| others.contains(&place.as_str()) || tested.contains(place);
    let missing: Vec<&String> = places.iter().filter(|place| !is_tested(place)).collect();
    assert!(missing.is_empty(), "not in lists(): {missing:?}");
}

#[tokio::test]
async fn esc_clears_marks_then_the_filter_then_the_focus_of_the_detail_panel() {
    for List { place, line, rows, marks, detail } in lists() {
        let name = place.pane.clone();
        let mut harness = Begin::at(place).size(180, 24).open();
        harness.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada", "is_admin": true}));
        harness.reply(line, rows).settle().await;
        assert!(selected(&harness).contains("first-one"), "{name}\n{}", harness.picture());
        harness.press("/").type_text("first").press("Enter").settle().await;
        harness.press(if marks { "Space" } else { "j" });
        if detail {
            harness.press("Tab");
        }
        let head = |harness: &Harness| harness.lines()[0].clone();
        if marks {
            assert!(head(&harness).contains("1 marked"), "{name}\n{}", harness.picture());
            harness.press("Esc");
            assert!(!head(&harness).contains("marked"), "{name}\n{}", harness.picture());
        }
        assert!(head(&harness).contains("first"), "{name}\n{}", harness.picture());
        harness.press("Esc").settle().await;
        assert!(!head(&harness).contains("first"), "{name}\n{}", harness.picture());
        if detail {
            // The panel still has the focus.
            harness.press("k");
            assert!(selected(&harness).contains("first-two"), "{name}\n{}", harness.picture());
            harness.press("Esc");
        }
        harness.press("g g").settle().await;
        assert!(selected(&harness).contains("first-one"), "{name}\n{}", harness.picture());
    }
}

/// Returns the number of blank cells in a row, below blank cells of the heads, beyond the gaps between the columns.
fn blank_cells(row: &str, heads: &str) -> usize {
    let has_heads = heads.starts_with("  ") && !heads.contains('─');
    let heads = heads.chars().map(|c| has_heads && c != ' ').chain(std::iter::repeat(false));
    let row: String = row.chars().zip(heads).map(|(c, is_head)| if is_head { '#' } else { c }).collect();
    let runs = row.split(|c| c != ' ').map(str::len).filter(|len| *len > 2);
    runs.map(|len| len - 2).sum()
}

#[tokio::test]
async fn no_title_is_cut_beside_blank_cells() {
    let (sample, mut number, mut wrong) = (Sample::one_in(7), 0, Vec::new());
    for len in [30, 60, 90, 140, 250] {
        let title = |name: &str| format!("{name}-{}", "x".repeat(len - name.len() - 1));
        for width in [80, 120, 160, 220] {
            let titles = [&*title("first-one"), &*title("first-two")];
            for List { place, line, rows, .. } in lists_named(titles).into_iter().chain(others_titled(titles)) {
                number += 1;
                if !sample.has(number) {
                    continue;
                }
                let name = place.pane.clone();
                let mut harness = Begin::at(place).size(width, 24).open();
                harness.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada", "is_admin": true}));
                harness.reply(line, rows).settle().await;
                // The cursor of a panel with facts is on its first line, too.
                let lines = harness.lines();
                let parts = lines.iter().flat_map(|line| line.split('│'));
                let selected = parts.filter(|part| part.starts_with('▌') && part.contains("first-"));
                let row = selected.max_by_key(|part| part.chars().count()).unwrap_or_default();
                let at = lines.iter().position(|line| line.contains(row)).unwrap_or_default();
                let (before, _) = lines[at].split_once(row).unwrap_or_default();
                let (before, len_of_row) = (before.chars().count(), row.chars().count());
                let heads: String = lines[at.saturating_sub(1)].chars().skip(before).take(len_of_row).collect();
                let about = format!("{name}: {len} characters in {width} columns\n{}", harness.picture());
                assert!(row.contains("first-one"), "{about}");
                if row.contains(&title("first-one")) {
                    continue;
                }
                // Blank cells give way, and the panel beside the list, to its minimum. Heads may be wider than their cells.
                let is_last = !lines[at].contains(&format!("{row}│"));
                let room = if is_last { usize::from(width) - before } else { len_of_row };
                let is_filled = row.trim_end().chars().count() + 12 >= room;
                if !is_filled || blank_cells(row.trim_end(), &heads) > 20 {
                    wrong.push(about);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} lists:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn an_empty_tab_names_a_key_that_leads_on() {
    for (place, tab, words) in [
        ("milestones", "closed", "1 shows the open ones, 3 all"),
        ("milestones", "all", "+ creates one"),
        ("issues", "closed", "1 shows the open ones, 3 all"),
        ("issues", "all", "+ creates one"),
        ("mrs", "merged", "1 shows the open ones, 4 all"),
        ("mrs", "all", "+ creates one"),
    ] {
        let mut harness = Begin::at(Place::new(place).project("a/b").tab(tab)).size(100, 20).open();
        let list = if place == "mrs" { "merge_requests" } else { place };
        harness.reply(&format!("GET /projects/a%2Fb/{list}"), json!([])).settle().await;
        harness.expect(words);
    }
}

#[tokio::test]
async fn esc_returns_to_the_filter_of_the_opened_list_and_then_goes_back() {
    let list = Place::new("issues").project("a/b");
    let mut harness = Begin::at(list.clone().query("label:bug")).size(100, 20).open();
    harness.reply("GET /projects/a%2Fb/issues", json!([])).settle().await;
    harness.expect("/ changes it").expect_no("clears it");
    harness.press("/").type_text("slow").press("Enter").settle().await;
    assert_eq!(harness.app.place().query.as_deref(), Some("label:bug slow"));
    harness.expect("Esc clears it").press("Esc").settle().await;
    assert_eq!(harness.app.place(), list.query("label:bug"));
    harness.press("q").settle().await;
    assert_eq!(harness.app.place().pane, "files");
}

/// A panel beside a list opens only where the list keeps its main columns.
#[tokio::test]
async fn a_wider_screen_keeps_the_main_columns() {
    let issue = json!({"id": 1, "iid": 7, "title": "Keep the cursor where it is while the list above it grows and grows",
        "state": "opened", "project_id": 7, "author": {"id": 2, "username": "dora", "name": "Dora"},
        "updated_at": "2026-06-15T09:00:00Z"});
    for width in [90, 100, 120, 130, 160] {
        let mut harness = Begin::at(Place::new("issues").project("a/b")).size(width, 20).open();
        harness.reply("GET /projects/a%2Fb/issues", json!([issue])).settle().await;
        let line = harness.line_with("▌ ");
        assert!(line.contains("dora") && line.contains("3h"), "{width}\n{}", harness.picture());
    }
    let commit = json!({"id": "9f3c2ab89f3c2ab89f3c2ab89f3c2ab89f3c2ab8", "short_id": "9f3c2ab8", "author_name": "Dora Lin",
        "title": "Keep the cursor where it is while the list grows", "committed_date": "2026-06-15T09:00:00Z"});
    for width in [80, 100, 120, 132, 160] {
        let mut harness = Begin::at(Place::new("commits").project("a/b")).size(width, 20).open();
        harness.reply("GET /projects/a%2Fb/repository/commits", json!([commit])).settle().await;
        let line = harness.line_with("▌ ");
        assert!(line.contains("9f3c2ab8") && line.contains("3h"), "{width}\n{}", harness.picture());
    }
}
