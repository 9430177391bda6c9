//! Search: a text, a tab for each kind of result, and the limitations of a server.

use crate::harness::Begin;
use labscope::app::Place;
use serde_json::json;

#[tokio::test]
async fn results_open_in_their_place() {
    let mut harness = Begin::at(Place::new("search").project("acme/rocket-ui")).open();
    harness.expect("Search acme/rocket-ui");
    let blob = json!({"basename": "src/frame", "filename": "src/frame.rs", "data": "fn rows(&self)\n", "ref": "main",
        "startline": 40, "project_id": 7});
    harness.reply("GET /projects/acme%2Frocket-ui/-/search?scope=blobs&search=rows", [blob]);
    harness.press("/").type_text("rows").settle().await;
    harness.press("Enter");
    harness.expect("src/frame.rs  1 match").expect("40    fn rows(&self)").expect("1 found").expect_no("1 of 1");
    harness.press("Enter");
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.path.as_deref(), place.line), ("files", Some("src/frame.rs"), Some(40)));
}

#[tokio::test]
async fn tabs_for_which_there_is_no_room_are_left_out_whole() {
    let mut harness = Begin::at(Place::new("search").project("acme/rocket-ui")).size(80, 24).open();
    harness.expect(" 1 Code ").expect(" 6 Comments …").expect_no("Mile");
    harness.press("7").expect(" 7 Milestones …").expect_no(" 1 Code ");
    harness.press("8").expect(" 8 Users").expect_no("…").expect_no(" 1 Code ");
}

#[tokio::test]
async fn one_odd_result_leaves_the_others_readable() {
    let mut harness = Begin::at(Place::new("search").project("acme/rocket-ui").item("rows")).size(120, 30).open();
    let blob = |name: &str, id: serde_json::Value| {
        json!({"basename": name, "filename": name, "data": "fn rows(&self)\n", "ref": "main", "startline": "40",
            "project_id": 7, "id": id})
    };
    let odd = json!({"basename": "odd.rs", "filename": ["odd.rs"], "data": null, "startline": "many"});
    // With its own index of code, a server sends the hash of a document as the ID.
    let found = [blob("one.rs", json!("22ef943c0a5b")), odd, blob("two.rs", json!(null)), json!(7)];
    harness.reply("GET /projects/acme%2Frocket-ui/-/search?scope=blobs&search=rows", found).settle().await;
    harness.expect("one.rs  1 match").expect("two.rs  1 match").expect("(unreadable)");
}

#[tokio::test]
async fn an_unsupported_scope_is_reported_in_plain_words() {
    let mut harness = Begin::at(Place::new("search").item("rows")).open();
    harness.fail("GET /search", 400, "Scope not supported without Elasticsearch!");
    harness.press("1").settle().await;
    harness.expect("This server cannot search code here");
}

/// The refusals of a search, as GitLab 19.5 words them (lib/api/search.rb, ee/lib/ee/api/search.rb,
/// lib/gitlab/search/params.rb).
#[tokio::test]
async fn the_advice_is_about_the_reason_of_the_refusal() {
    for (message, expected) in [
        ("Scope supported only with advanced search or exact code search", "It needs advanced search"),
        ("scope does not have a valid value", "Other versions or editions of the server can"),
        ("Search query is too long (maximum is 4096 characters)", "Search query is too long"),
    ] {
        let mut harness = Begin::at(Place::new("search").item("rows")).size(120, 30).open();
        harness.fail("GET /search", 400, message);
        harness.press("1").settle().await;
        harness.expect(expected);
        let is_about_scope = !message.contains("too long");
        assert_eq!(harness.shows("This server cannot search code here"), is_about_scope, "{message}");
    }
}

#[tokio::test]
async fn people_and_groups_are_found_and_opened() {
    let mut harness = Begin::at(Place::new("search").item("rows")).size(160, 30).open();
    let group = json!({"id": 4, "name": "Rows", "full_name": "Acme / Rows", "full_path": "acme/rows", "avatar_url": null,
        "web_url": "http://demo.test/groups/acme/rows"});
    let user = json!({"id": 5, "username": "rowan", "name": "Rowan", "state": "active", "avatar_url": null,
        "web_url": "http://demo.test/rowan"});
    harness.reply("GET /search?scope=groups&search=rows", [group]);
    harness.reply("GET /search?scope=users&search=rows", [user]).settle().await;
    harness.click_on("Groups 1").expect("acme/rows").press("Enter");
    assert_eq!(harness.app.place().pane, "groups");
    assert_eq!(harness.app.place(), Place::new("groups").group("acme/rows"));
    harness.press("Backspace").press("8").expect("Rowan").press("Enter");
    assert_eq!((harness.app.place().pane.as_str(), harness.app.place().item.as_deref()), ("user", Some("rowan")));
}

#[tokio::test]
async fn tabs_count_results_as_they_arrive_and_mark_unsupported_scopes() {
    let mut harness = Begin::at(Place::new("search").item("rows")).size(160, 30).open();
    let issue = json!({"id": 1, "iid": 7, "project_id": 3, "title": "Slow rows", "state": "opened", "confidential": false,
        "description": "Many rows.", "web_url": "http://demo.test/a/b/-/issues/7"});
    harness.reply("GET /search?scope=projects&search=rows", json!([]));
    harness.reply("GET /search?scope=issues&search=rows", [issue]);
    harness.fail("GET /search?scope=blobs&search=rows", 400, "Scope not supported without Elasticsearch!");
    harness.settle().await;
    harness.expect("9 Projects 0").expect("2 Issues 1").expect("1 Code –").expect("3 Merge requests  4");
    harness.press("2").expect("Slow rows").settle().await;
    harness.expect("Many rows.").press("Enter");
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.item.as_deref()), ("issue", Some("7")));
}

#[tokio::test]
async fn found_lines_are_previewed_with_highlighted_matches() {
    let mut harness = Begin::at(Place::new("search").project("a/b").item("ROWS")).size(140, 30).open();
    let blob = json!({"basename": "src/frame", "filename": "src/frame.rs", "project_id": 7, "ref": "main", "startline": 40,
        "data": "// before\nfn rows(&self) {\n}\n"});
    harness.reply("GET /projects/a%2Fb/-/search?scope=blobs&search=ROWS", [blob]).settle().await;
    harness.expect("src/frame.rs  1 match").expect("41  fn rows").expect("40  // before");
    let (found, beside) = (harness.style_of("rows(&self)"), harness.style_of("// before"));
    assert_ne!(found, beside);
    harness.press("Enter");
    assert_eq!(harness.app.place().line, Some(41));
}

#[tokio::test]
async fn a_search_can_be_widened_to_the_group_and_to_everything() {
    let mut harness = Begin::at(Place::new("search").project("acme/tools/cli").item("x")).size(100, 24).open();
    harness.press("3 E");
    assert_eq!(harness.app.place().group.as_ref().map(|id| id.as_str()), Some("acme/tools"));
    assert_eq!(harness.app.place().tab.as_deref(), Some("merge requests"));
    harness.press("E");
    assert_eq!((harness.app.place().group, harness.app.place().project), (None, None));
    for (width, height) in [(20, 6), (40, 10), (300, 90)] {
        harness.resize(width, height);
        harness.press("Tab j z k z");
    }
}

#[tokio::test]
async fn selecting_another_result_resets_the_preview() {
    let mut harness = Begin::at(Place::new("search").project("a/b")).size(140, 14).open();
    harness.expect("1 to 8 choose what to search").press("/").type_text("rows").press("Enter");
    let blob = |name: &str| {
        let lines: Vec<String> = (1..40).map(|n| format!("{name} {n:02}\n")).collect();
        let lines = [vec![format!("{name} rows\n")], lines].concat();
        json!({"basename": name, "filename": name, "project_id": 7, "ref": "main", "startline": 1, "data": lines.concat()})
    };
    harness
        .reply("GET /projects/a%2Fb/-/search?scope=blobs&search=rows", [blob("one.rs"), blob("two.rs")])
        .settle()
        .await;
    harness.expect("one.rs 01").press("Tab G").expect("one.rs 39");
    harness.press("Tab").press("G").settle().await;
    harness.expect("two.rs 03").press("Tab G").expect("two.rs 39").press("2 1");
    harness.expect("one.rs 03").press("j").expect("two.rs 03");
}

#[tokio::test]
async fn a_web_search_opens_its_scope_in_its_project_or_group() {
    let mut app = Begin::at(Place::new("projects")).size(120, 24).open();
    app.reply("GET /projects/7", json!({"id": 7, "path_with_namespace": "acme/rocket"}))
        .reply("GET /groups/3", json!({"id": 3, "name": "acme", "path": "acme", "full_path": "acme"}))
        .reply("GET /projects/7/-/search?scope=commits&search=narrow%20table", json!([]))
        .reply("GET /groups/3/-/search?scope=issues&search=rows", json!([]));
    app.press("C-p").type_text("search?search=narrow+table&scope=commits&project_id=7&group_id=3").press("Enter");
    app.settle().await;
    app.expect("acme / rocket").expect("narrow table").expect("No results.");
    app.press("C-p").type_text("search?search=rows&group_id=3&scope=issues").press("Enter").settle().await;
    app.expect("rows").expect("No results.").expect_no("rocket");
    let asked = |words: &str| app.asked.iter().any(|line| line.contains(words));
    assert!(asked("/projects/7/-/search?scope=commits") && asked("/groups/3/-/search?scope=issues"), "{:?}", app.asked);
}

#[tokio::test]
async fn going_to_search_asks_for_its_text() {
    let mut app = Begin::at(Place::new("branches").project("acme/rocket-ui")).size(100, 24).open();
    app.press("g s").type_text("rows").settle().await;
    assert!(app.asked.iter().any(|line| line.contains("/search?scope=blobs&search=rows")), "{:?}", app.asked);
    app.press("Enter");
    assert_eq!(app.app.place().item.as_deref(), Some("rows"));
    // Who presses / out of habit means the same.
    let mut app = Begin::at(Place::new("branches").project("acme/rocket-ui")).size(100, 24).open();
    app.press("g s /").type_text("a/b").settle().await;
    assert_eq!(app.app.place().item.as_deref(), Some("a/b"));
}

/// The parts of a file as GitLab 19.5 sends them: `git grep` with two context lines, whose overlaps it merges
/// (internal/gitaly/service/repository/search_files.go of Gitaly).
#[tokio::test]
async fn each_match_of_a_file_is_a_row_with_two_lines_around_it() {
    let mut app = Begin::at(Place::new("search").project("a/b").item("rows")).size(140, 30).open();
    let blob = |name: &str, line: u64, data: &str| json!({"basename": name, "filename": name, "project_id": 7, "ref": "main", "startline": line, "data": data});
    let found = [
        blob("src/frame.rs", 40, "    fn a() {\n        Rows();\n        done();\n        rows_of(rows);\n    }\n\n"),
        blob("src/frame.rs", 90, "far\nabove\nnear\nlet rows = 1;\nbelow\n"),
        blob("src/table.rs", 3, "use rows;\n"),
        // A file is found by its name, too.
        blob("src/rows.md", 1, "\nNothing.\n"),
    ];
    app.reply("GET /projects/a%2Fb/-/search?scope=blobs&search=rows", found).settle().await;
    app.expect("src/frame.rs  3 matches").expect("src/table.rs  1 match").expect("src/rows.md  1 match");
    app.expect("1 Code 5").expect("5 found");
    let lines = app.lines();
    let list = |line: &String| line.split('│').next().unwrap_or_default().trim_end().to_owned();
    let at = lines.iter().position(|line| line.contains("src/frame.rs  3")).expect("the heading");
    let shown: Vec<String> = lines[at + 1..at + 11].iter().map(list).collect();
    let number = |line: &String| line.split_whitespace().find_map(|word| word.parse().ok()).unwrap_or(0);
    let numbers: Vec<u64> = shown.iter().map(number).collect();
    assert_eq!(numbers, [40, 41, 42, 43, 44, 45, 91, 92, 93, 94], "{}", app.picture());
    assert!(shown[1].ends_with("        Rows();") && shown[8].ends_with("  let rows = 1;"), "{}", app.picture());
    assert_ne!(app.style_of("above"), app.style_of("use rows"), "context lines are dim");
    // The cursor goes from match to match.
    app.press("j j Enter");
    assert_eq!((app.app.place().path.as_deref(), app.app.place().line), (Some("src/frame.rs"), Some(93)));
    app.press("Backspace").press("k Enter");
    assert_eq!((app.app.place().path.as_deref(), app.app.place().line), (Some("src/frame.rs"), Some(43)));
}

#[tokio::test]
async fn a_search_opens_on_the_first_tab_with_results() {
    let open = |place: Place| {
        let mut app = Begin::at(place).size(140, 30).open();
        let issue = json!({"id": 1, "iid": 7, "project_id": 3, "title": "Slow rows", "state": "opened",
            "confidential": false, "web_url": "http://demo.test/a/b/-/issues/7"});
        app.reply("GET /search?scope=projects&search=rows", json!([]));
        app.reply("GET /search?scope=issues&search=rows", [issue]);
        app.fail("GET /search?scope=blobs&search=rows", 400, "Scope not supported without Elasticsearch!");
        app
    };
    let mut app = open(Place::new("search").item("rows"));
    app.settle().await;
    app.expect("Slow rows");
    assert_eq!(app.app.place().tab.as_deref(), Some("issues"));
    // A tab that was chosen stays.
    let mut app = open(Place::new("search").item("rows"));
    app.press("2 9").settle().await;
    app.expect("No results.");
    let mut app = open(Place::new("search").item("rows").tab("code"));
    app.settle().await;
    app.expect("This server cannot search code here");
}

#[tokio::test]
async fn a_refused_search_of_everything_offers_the_projects_and_groups_opened_last() {
    let mut app = Begin::at(Place::new("projects")).size(120, 30).open();
    app.reply("GET /user", json!({"id": 1, "username": "ada"})).settle().await;
    app.press("C-p").type_text("acme/tools/cli@main").press("Enter");
    app.fail("GET /search", 400, "Scope supported only with advanced search or exact code search");
    app.press("C-p").type_text("search?search=rows&scope=blobs").press("Enter").settle().await;
    app.expect("It needs advanced search on the server; I searches a project or").press("I");
    app.expect("acme/tools/cli").expect("acme/tools  ").press("Enter");
    let place = Place::new("search").project("acme/tools/cli").item("rows");
    assert_eq!(app.app.place(), place);
}

#[tokio::test]
async fn going_to_search_in_a_group_searches_the_group() {
    let mut app = Begin::at(Place::new("groups").group("acme/tools")).size(120, 30).open();
    app.press("g s").type_text("rows").press("Enter").settle().await;
    assert_eq!(app.app.place().group.as_ref().map(|id| id.as_str()), Some("acme/tools"));
    assert!(app.asked.iter().any(|line| line.contains("/groups/acme%2Ftools/-/search")), "{:?}", app.asked);
}

#[tokio::test]
async fn a_tab_has_the_same_key_in_a_project_a_group_and_everywhere() {
    for place in [Place::new("search").project("a/b"), Place::new("search").group("a"), Place::new("search")] {
        let mut app = Begin::at(place.item("rows")).size(160, 30).open();
        app.expect("1 Code").expect("2 Issues").expect("3 Merge requests").expect("5 Commits").expect("8 Users");
    }
}

#[tokio::test]
async fn the_searched_project_and_its_group_are_offered_even_if_no_other_was_opened() {
    let mut app = Begin::at(Place::new("search").project(7).item("rows")).size(120, 30).open();
    app.reply("GET /projects/7", json!({"id": 7, "path_with_namespace": "acme/tools/cli"})).settle().await;
    app.press("I").expect("Search in").expect("acme/tools/cli").expect("acme/tools  ");
}
