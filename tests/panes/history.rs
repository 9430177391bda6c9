//! History: the graph of the log, branches, tags, and comparisons.

use crate::fixtures::{self, With, user};
use crate::harness::{Begin, Harness};
use labscope::app::place::Place;
use labscope::app::registry::places;
use labscope::app::target;
use serde_json::{Value, json};

const REPOSITORY: &str = "GET /projects/acme%2Frocket/repository";

/// Expands a short name to a full hash.
fn sha(name: &str) -> String {
    name.chars().cycle().take(40).collect()
}

fn commit(name: &str, title: &str, day: u32, parents: &[&str]) -> Value {
    let parents: Vec<String> = parents.iter().map(|name| sha(name)).collect();
    let message = format!("{title}\n\nWhy it was done.\n");
    fixtures::commit(&sha(name), title, &format!("2026-06-{day:02}T10:00:00Z"))
        .with(json!({"message": message, "parent_ids": parents}))
}

/// Returns a merge of a branch with one commit.
fn merged() -> Value {
    json!([
        commit("e", "Merge rows", 14, &["c", "d"]),
        commit("d", "Draw rows", 13, &["b"]),
        commit("c", "Count columns", 12, &["b"]),
        commit("b", "Begin", 2, &[]),
    ])
}

fn branch(name: &str, tip: &str, merged: bool, protected: bool) -> Value {
    fixtures::branch(name, commit(tip, "Tip", 14, &[])).with(json!({"merged": merged, "protected": protected}))
}

fn project(place: Place, width: u16, height: u16) -> Harness {
    let mut app = Begin::at(place).size(width, height).open();
    app.reply("GET /user", user(1, "ada"))
        .reply(
            "GET /projects/acme%2Frocket",
            json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false}),
        )
        .reply(&format!("{REPOSITORY}/commits"), merged())
        .reply(
            &format!("{REPOSITORY}/branches"),
            json!([branch("main", "e", false, true), branch("rows", "d", true, false)]),
        )
        .reply(&format!("{REPOSITORY}/tags"), json!([{"name": "v1", "commit": commit("b", "Begin", 2, &[])}]));
    app
}

fn log() -> Place {
    Place::new("commits").project("acme/rocket")
}

#[tokio::test]
async fn the_log_of_a_web_address_has_its_filters() {
    let open = |address: &str| {
        let place = target::parse(&places(labscope::panes::PANES), address, "").expect("a target");
        project(place, 160, 30)
    };
    let mut app = open("acme/rocket/-/commits/main?ref_type=heads&search=rows&author=ada");
    app.fail(&format!("{REPOSITORY}/tags/main"), 404, "404 Tag Not Found");
    app.reply(&format!("{REPOSITORY}/branches/main"), branch("main", "e", false, true)).settle().await;
    app.expect("author:ada").expect("Draw rows").expect_no("Count columns");
    assert!(app.asked.iter().any(|line| line.contains("author=ada")), "{:?}", app.asked);
    // One that the log does not have is told.
    let mut app = open("acme/rocket/-/commits/main?weight=3");
    app.settle().await;
    app.expect("weight:3: no such key; use author").expect_no("Draw rows");
}

#[tokio::test]
async fn the_log_has_a_graph_with_refs() {
    for (width, height) in [(80, 24), (160, 45)] {
        let mut app = project(log(), width, height);
        app.settle().await;
        assert!(app.line_with("Merge rows").contains("◎─╮ "), "{}", app.picture());
        assert!(app.line_with("Draw rows").contains("│ ● "), "{}", app.picture());
        assert!(app.line_with("Begin").contains("●─╯ "), "{}", app.picture());
        assert!(app.line_with("Merge rows").contains("[main] Merge rows"), "{}", app.picture());
        assert!(app.line_with("Begin").contains("[v1] Begin"), "{}", app.picture());
        // The weeks since the first commit, with the number of commits in each.
        app.expect("Commits").expect("▃▁█ 2w");
    }
}

#[tokio::test]
async fn the_log_labels_the_default_branch_and_its_ref_among_many_branches() {
    let others = (0..400).map(|n| branch(&format!("a{n:03}"), if n < 3 { "e" } else { "c" }, false, false));
    let heads = [branch("main", "e", false, true), branch("rows", "d", false, false)];
    for (shown, width, height) in [("rows", 80, 24), ("main", 160, 45)] {
        let mut app = project(log().at(shown), width, height);
        app.reply(&format!("{REPOSITORY}/branches"), others.clone().chain(heads.clone()).collect::<Vec<_>>());
        app.reply(&format!("{REPOSITORY}/commits/main"), commit("e", "Merge rows", 14, &["c", "d"]));
        app.reply(&format!("{REPOSITORY}/commits/rows"), commit("d", "Draw rows", 13, &["b"])).settle().await;
        app.expect("300 branches labeled");
        assert!(app.line_with("Merge rows").contains("[main] [a000] +2 "), "{}", app.picture());
        assert_eq!(app.line_with("Draw rows").contains("[rows] "), shown == "rows", "{}", app.picture());
    }
    // Few branches are labeled without another request, and all of them.
    let mut app = project(log().at("rows"), 80, 24);
    let few = others.take(3).chain(heads).collect::<Vec<_>>();
    app.reply(&format!("{REPOSITORY}/branches"), few).settle().await;
    app.expect_no("labeled");
    assert!(app.line_with("Merge rows").contains("[main] [a000] +2 "), "{}", app.picture());
    assert!(!app.asked.iter().any(|line| line.contains("/commits/main")), "{:?}", app.asked);
}

#[tokio::test]
async fn a_filtered_log_has_no_graph() {
    let mut app = project(log().path("src"), 80, 24);
    app.settle().await;
    app.expect("Merge rows").expect_no("●").expect_no("╯");
    let mut app = project(log(), 80, 24);
    app.settle().await;
    app.press("/").type_text("rows").press("Enter").settle().await;
    app.expect("2 of 4").expect("Merge rows").expect_no("╮").expect_no("Begin");
}

#[tokio::test]
async fn a_log_that_is_too_long_for_a_filter_names_the_search() {
    for (count, told) in [(3_001, true), (2_999, false)] {
        let mut app = project(log(), 80, 24);
        let commits: Vec<Value> =
            (0..count).map(|n| commit(&format!("{n:04}x"), &format!("Step {n}"), 3, &[])).collect();
        app.reply(&format!("{REPOSITORY}/commits"), commits).settle().await;
        app.press("/").type_text("2997").press("Enter").settle().await;
        app.expect("Step 2997");
        let is_told = app.lines().iter().any(|line| line.contains("only 3,000 rows are filtered; g s searches all"));
        assert_eq!(is_told, told, "{}", app.picture());
    }
}

/// Diffs as `git diff` prints them.
#[tokio::test]
async fn the_history_of_lines_follows_them_through_changes_and_renames() {
    let open = |path: &str| {
        let mut app = project(log().at("main").path(path).query("lines:4-5"), 160, 30);
        let first = format!("{REPOSITORY}/commits?first_parent=true&path=src%2Frows.rs&ref_name=main");
        let earlier = format!("{REPOSITORY}/commits?first_parent=true&path=rows.rs&ref_name={}", sha("a"));
        app.reply(
            &first,
            json!([
                commit("e", "Add a heading", 14, &["d"]),
                commit("d", "Draw rows faster", 13, &["c"]),
                commit("c", "Count columns", 12, &["b"]),
                commit("b", "Move rows", 11, &["a"]),
            ]),
        )
        .reply(&earlier, json!([commit("a", "Draw rows", 10, &["f"]), commit("f", "Begin", 9, &[])]));
        let mut change = |name: &str, old: &str, new: &str, diff: &str, rest: Value| {
            let entry = json!({"old_path": old, "new_path": new, "diff": diff}).with(rest);
            let other = json!({"old_path": "other.rs", "new_path": "other.rs", "diff": "@@ -1 +1 @@\n-a\n+b\n"});
            app.reply(&format!("{REPOSITORY}/commits/{}/diff", sha(name)), [other, entry]);
            app.reply(&format!("{REPOSITORY}/commits/{}", sha(name)), commit(name, name, 10, &[]));
        };
        let (rows, before) = ("src/rows.rs", "rows.rs");
        change("e", rows, rows, "@@ -0,0 +1,2 @@\n+// heading\n+\n", json!({}));
        change("d", rows, rows, "@@ -1,4 +1,4 @@\n one\n-slow\n+fast\n three\n four\n", json!({}));
        change("c", rows, rows, "@@ -4,1 +4,2 @@\n four\n+five\n", json!({}));
        change("b", before, rows, "", json!({"renamed_file": true}));
        change("a", before, before, "@@ -1,1 +1,3 @@\n one\n+slow\n+three\n", json!({}));
        change("f", "/dev/null", before, "@@ -0,0 +1 @@\n+one\n", json!({"new_file": true}));
        app
    };
    let mut app = open("src/rows.rs");
    app.settle().await;
    app.expect("Draw rows faster").expect("Draw rows  ").expect("2 of").expect("5 commits read");
    app.expect_no("Add a heading").expect_no("Count columns").expect_no("Move rows").expect_no("Begin");
    // The changes of a commit are shown at the lines, wherever they are in its version.
    app.expect("+ fast");
    let diffs = |app: &Harness| app.asked.iter().filter(|line| line.contains("/diff")).count();
    assert!(diffs(&app) <= 6, "{:?}", app.asked);
    app.press("Enter");
    let place = app.app.place();
    assert_eq!((place.item, place.path.as_deref()), (Some(sha("d")), Some("src/rows.rs")));
    app.press("Backspace").settle().await;
    app.press("/").press("C-u").type_text("lines:x").settle().await;
    app.expect("lines is a range of lines, such as 10-20").press("Esc");
}

#[tokio::test]
async fn lines_are_followed_through_a_rename_that_nothing_follows() {
    let ask = |path: &str, at: &str| format!("{REPOSITORY}/commits?first_parent=true&path={path}&ref_name={at}");
    let entry = |old: &str, new: &str, diff: &str| json!([{"old_path": old, "new_path": new, "diff": diff}]);
    let mut app = project(log().at("main").path("new.rs").query("lines:2-2"), 80, 24);
    // The new path had been used before.
    let log = json!([commit("e", "Move rows", 14, &["d"]), commit("d", "Draw rows", 13, &["c"])]);
    app.reply(&ask("new.rs", "main"), log)
        .reply(&ask("old.rs", &sha("d")), json!([commit("d", "Draw rows", 13, &["c"])]))
        .reply(&format!("{REPOSITORY}/commits/{}/diff", sha("d")), entry("old.rs", "old.rs", "@@ -2 +2 @@\n-a\n+b\n"));
    app.settle().await;
    app.expect("0 commits read so far");
    app.reply(&format!("{REPOSITORY}/commits/{}/diff", sha("e")), entry("old.rs", "new.rs", "")).settle().await;
    app.expect("2 commits read").expect_no("so far").expect_no("Move rows");
    assert_eq!(app.lines().iter().filter(|line| line.contains("Draw rows")).count(), 1, "{}", app.picture());
}

#[tokio::test]
async fn lines_whose_diff_is_missing_are_followed_as_far_as_possible() {
    let list = format!("{REPOSITORY}/commits?first_parent=true&path=a.rs&ref_name=main");
    let diff = format!("{REPOSITORY}/commits/{}/diff", sha("e"));
    for (withheld, reason) in [(true, "incomplete: there is no diff of eeeeeeee"), (false, "403 Forbidden")] {
        let mut app = project(log().at("main").path("a.rs").query("lines:1-2"), 120, 24);
        app.reply(&list, json!([commit("e", "Change", 14, &["d"])]));
        match withheld {
            true => app.reply(&diff, json!([{"old_path": "a.rs", "new_path": "a.rs", "diff": "", "too_large": true}])),
            false => app.fail(&diff, 403, "403 Forbidden"),
        };
        app.settle().await;
        app.expect(reason);
        for (width, height) in [(20, 6), (80, 24), (300, 50)] {
            app.resize(width, height);
        }
    }
}

#[tokio::test]
async fn the_layout_of_a_preview_depends_only_on_its_width() {
    for (width, split) in [(160, false), (220, false), (400, true)] {
        let mut app = project(log(), width, 40);
        let diff = "@@ -1,2 +1,2 @@\n fn rows() {}\n-let old = 1;\n+let new = 2;\n";
        let file = json!([{"old_path": "src/rows.rs", "new_path": "src/rows.rs", "diff": diff}]);
        for (name, title, parent) in [("e", "Merge rows", "c"), ("d", "Draw rows", "b")] {
            let path = format!("{REPOSITORY}/commits/{}", sha(name));
            app.reply(&path, commit(name, title, 14, &[parent])).reply(&format!("{path}/diff"), &file);
        }
        app.settle().await;
        let beside = |app: &Harness| app.line_with("let old = 1;").contains("let new = 2;");
        assert_eq!(beside(&app), split, "{width}: {}", app.picture());
        app.press("j").settle().await;
        assert_eq!(beside(&app), split, "{width}: {}", app.picture());
        // Everything is known by now, so the first frame must be final.
        app.press("k");
        assert_eq!(beside(&app), split, "{width}: {}", app.picture());
        app.press("Tab z");
        let alone = beside(&app);
        app.pass(1).press("z z");
        assert_eq!(beside(&app), alone, "{width}: {}", app.picture());
    }
}

#[tokio::test]
async fn the_log_can_switch_to_all_refs_and_back() {
    let mut app = project(log().at("rows"), 80, 24);
    app.settle().await;
    app.press("A").settle().await;
    app.expect("Commits of all refs");
    assert!(app.asked.iter().any(|line| line.contains("/commits?all=true")), "{:?}", app.asked);
    assert_eq!(app.app.place(), log().at("rows").tab("all"));
    app.press("A").settle().await;
    assert_eq!(app.app.place(), log().at("rows"));
}

#[tokio::test]
async fn a_rewritten_history_keeps_the_selection_or_is_reported() {
    let mut app = project(log(), 80, 24);
    app.settle().await;
    app.press("j j").settle().await;
    assert!(app.line_with("Count columns").starts_with('▌'));
    // With a new commit on top, the selection stays on its commit.
    let mut more = merged().as_array().cloned().unwrap_or_default();
    more.insert(0, commit("f", "After", 15, &["e"]));
    app.reply(&format!("{REPOSITORY}/commits"), more).press("r").settle().await;
    app.expect("After").expect_no("rewritten");
    assert!(app.line_with("Count columns").starts_with('▌'), "{}", app.picture());
    let rewritten = json!([commit("9", "Another way", 15, &["b"]), commit("b", "Begin", 2, &[])]);
    app.reply(&format!("{REPOSITORY}/commits"), rewritten).press("r").settle().await;
    app.expect("Another way").expect("This history was rewritten");
}

#[tokio::test]
async fn known_rows_stay_visible_while_a_filter_loads() {
    let mut app = project(Place::new("branches").project("acme/rocket"), 100, 24);
    app.settle().await;
    app.reply(&format!("{REPOSITORY}/branches?search=ro"), json!([branch("rows", "d", true, false)]));
    app.press("/").type_text("ro");
    app.expect("main").expect("rows");
    app.settle().await;
    app.press("Enter").expect("/ro").expect("rows").expect_no("default");
}

#[tokio::test]
async fn clearing_a_filter_keeps_the_selected_branch_on_any_page() {
    let mut app = project(Place::new("branches").project("acme/rocket"), 100, 24);
    let many: Vec<Value> = (0..450).map(|i| branch(&format!("b{i:03}"), "d", false, false)).collect();
    app.reply(&format!("{REPOSITORY}/branches"), many)
        .reply(&format!("{REPOSITORY}/branches?search=b420"), json!([branch("b420", "d", false, false)]));
    app.settle().await;
    app.press("/").type_text("b420").press("Enter").settle().await;
    app.expect("b420").expect_no("b000").press("Esc").settle().await;
    assert!(app.line_with("b420").starts_with('▌'), "{}", app.picture());
    app.expect("b421").expect_no("b000");
}

#[tokio::test]
async fn the_list_keeps_a_selection_if_the_filtered_branch_is_deleted() {
    let mut app = project(Place::new("branches").project("acme/rocket"), 100, 24);
    app.reply(&format!("{REPOSITORY}/branches?search=rows"), json!([branch("rows", "d", true, false)]));
    app.settle().await;
    app.press("/").type_text("rows").press("Enter").settle().await;
    app.reply(
        &format!("{REPOSITORY}/branches"),
        json!([branch("main", "e", false, true), branch("new", "d", false, false)]),
    );
    app.press("Esc").press("r").settle().await;
    app.expect("main").expect("new").expect_no("rows");
    assert!(app.lines().iter().any(|line| line.starts_with('▌')), "{}", app.picture());
}

fn comparison(commits: Value, rest: Value) -> Value {
    let diff = json!({"diff": "@@ -1 +1 @@\n-one\n+two\n", "old_path": "src/main.rs", "new_path": "src/main.rs",
                      "new_file": false, "renamed_file": false, "deleted_file": false});
    let mut reply = json!({"commit": null, "commits": commits, "diffs": [diff], "compare_timeout": false, "compare_same_ref": false});
    for (key, value) in rest.as_object().into_iter().flatten() {
        reply[key] = value.clone();
    }
    reply
}

#[tokio::test]
async fn a_commit_starts_on_its_first_change() {
    for width in [80, 120] {
        let mut app = project(Place::new("commit").project("acme/rocket").item(sha("d")), width, 24);
        let diff = "@@ -1,2 +1,2 @@\n fn rows() {}\n-let old = 1;\n+let new = 2;\n";
        let file = |name: &str| json!({"old_path": name, "new_path": name, "diff": diff});
        let path = format!("{REPOSITORY}/commits/{}", sha("d"));
        app.reply(&path, commit("d", "Draw rows", 14, &["b"]))
            .reply(&format!("{path}/diff"), json!([file("src/rows.rs"), file("src/table.rs")]));
        app.settle().await;
        assert!(app.line_with("let old = 1;").contains('▌'), "{}", app.picture());
        app.press("Tab j").settle().await;
        assert!(app.line_with("M table.rs").starts_with('▌'), "{}", app.picture());
    }
}

fn compare(item: &str) -> Place {
    Place::new("compare").project("acme/rocket").item(item)
}

#[tokio::test]
async fn two_refs_can_be_compared_and_swapped() {
    let mut app = project(compare("main...feature/x"), 120, 30);
    let newer = json!([commit("c", "Older", 12, &["b"]), commit("d", "Newer", 13, &["c"])]);
    app.reply(&format!("{REPOSITORY}/compare?from=main&to=feature%2Fx"), comparison(newer, json!({}))).reply(
        &format!("{REPOSITORY}/compare?from=feature%2Fx&to=main"),
        comparison(json!([commit("e", "Elsewhere", 14, &["b"])]), json!({"compare_timeout": true})),
    );
    app.reply(
        &format!("{REPOSITORY}/commits?ref_name=feature%2Fx..main"),
        json!([commit("e", "Elsewhere", 14, &["b"])]),
    );
    app.settle().await;
    app.expect("main → feature/x").expect("↑ 2 ahead  ↓ 1 behind").expect("Commits 2").expect("Changes 1");
    let lines = app.lines();
    let row = |title: &str| lines.iter().position(|line| line.contains(title));
    assert!(row("Newer") < row("Older"), "{}", app.picture());
    app.press("2").settle().await;
    app.expect("src/main.rs").expect("two");
    // Changes start in the diff.
    assert!(app.line_with("one").contains("▌"), "{}", app.picture());
    app.press("Tab").settle().await;
    assert!(app.line_with("main.rs  ").starts_with('▌'), "{}", app.picture());
    app.press("f");
    assert_eq!(app.app.place().path.as_deref(), Some("src/main.rs"));
    app.press("q").press("1 Enter");
    assert_eq!(app.app.place().item, Some(sha("d")));
    app.press("q").press("S").settle().await;
    assert_eq!(app.app.place(), compare("feature/x...main"));
    app.expect("feature/x → main").expect("Elsewhere").expect("Too much to compare").expect("1+ ahead");
}

#[tokio::test]
async fn a_comparison_reports_equal_and_missing_refs() {
    let mut app = project(compare("main...main"), 100, 24);
    app.reply(&format!("{REPOSITORY}/compare"), comparison(json!([]), json!({"compare_same_ref": true, "diffs": []})));
    app.settle().await;
    app.expect("Both are the same commit.").expect("No differences.");
    let mut app = project(Place::new("branches").project("acme/rocket"), 100, 24);
    app.fail(&format!("{REPOSITORY}/compare"), 404, "404 Ref Not Found");
    app.settle().await;
    app.press("j Space k =").settle().await;
    assert_eq!(app.app.place(), compare("refs/heads/rows...refs/heads/main"));
    app.expect("404").expect("R ref");
}

#[tokio::test]
async fn a_side_of_a_comparison_is_chosen_from_the_project_refs() {
    let mut app = project(Place::new("compare").project("acme/rocket"), 100, 24);
    app.settle().await;
    app.expect("Nothing to compare yet.").expect("main → choose one");
    app.press("R").settle().await;
    app.type_text("v1").press("Enter").settle().await;
    app.expect("main → v1");
    assert_eq!(
        app.waiting(),
        ["GET /projects/acme%2Frocket/repository/compare?from=refs%2Fheads%2Fmain&to=refs%2Ftags%2Fv1"]
    );
}

/// Each direction is a page of a log: a comparison would also have the changes, which take a server seconds.
#[tokio::test]
async fn visible_branches_show_how_far_ahead_and_behind_they_are() {
    let mut app = project(Place::new("branches").project("acme/rocket"), 120, 24);
    let many: Vec<Value> = (0..90).map(|i| branch(&format!("b{i:02}"), "d", false, false)).collect();
    let commits = |n: usize| Value::from(vec![commit("f", "One", 3, &[]); n]);
    let ask = |from: &str, to: &str| format!("{REPOSITORY}/commits?ref_name={}..{}", sha(from), sha(to));
    let asked =
        |app: &Harness| app.asked.iter().filter(|line| line.contains("..") || line.contains("/compare")).count();
    app.reply(&format!("{REPOSITORY}/branches"), many)
        .reply(&format!("{REPOSITORY}/branches/main"), branch("main", "e", false, true))
        .reply(&ask("e", "d"), commits(2))
        .fail(&ask("d", "e"), 500, "500 Internal Server Error");
    app.settle().await;
    // One of the two logs failed: there is no number, and the request is not repeated.
    assert!(app.line_with("b00").contains('?'), "{}", app.picture());
    assert_eq!(asked(&app), 2, "{:?}", app.asked);

    let mut app = project(Place::new("branches").project("acme/rocket"), 120, 24);
    app.reply(&format!("{REPOSITORY}/branches"), [branch("main", "e", false, true), branch("rows", "d", false, false)])
        .reply(&ask("e", "d"), commits(2))
        .reply(&ask("d", "e"), commits(150));
    app.settle().await;
    assert!(app.line_with("rows").contains("100+ ███  █   2"), "{}", app.picture());
    assert_eq!(asked(&app), 2, "{:?}", app.asked);

    // What is merged is not ahead.
    let mut app = project(Place::new("branches").project("acme/rocket"), 120, 24);
    app.reply(&ask("d", "e"), commits(5)).settle().await;
    assert!(app.line_with("rows").contains(" 5 "), "{}", app.picture());
    assert_eq!(asked(&app), 1, "{:?}", app.asked);
}

#[tokio::test]
async fn where_glyphs_are_words_the_head_of_a_comparison_has_each_word_once() {
    let mut app = Begin::at(compare("main...x")).size(120, 30).accessible().open();
    let commits = |names: &[&str]| names.iter().map(|name| commit(name, "Title", 14, &["b"])).collect();
    app.reply("GET /projects/acme%2Frocket", json!({"id": 7, "path_with_namespace": "acme/rocket"}))
        .reply(&format!("{REPOSITORY}/compare?from=main&to=x"), comparison(commits(&["c", "d"]), json!({})))
        .reply(&format!("{REPOSITORY}/commits?ref_name=x..main"), commits(&["e"]))
        .settle()
        .await;
    assert!(app.line_with("main to x").ends_with("  2 ahead  1 behind"), "{}", app.picture());
}

#[tokio::test]
async fn tags_are_found_by_the_server_however_many_there_are() {
    let tag = |name: String| json!({"name": name, "commit": commit("b", "Begin", 2, &[])});
    let mut app = project(Place::new("tags").project("acme/rocket"), 100, 24);
    app.reply(&format!("{REPOSITORY}/tags"), (0..300).map(|n| tag(format!("v1.{n}"))).collect::<Vec<_>>());
    app.reply(&format!("{REPOSITORY}/tags?search=v0.9"), [tag("v0.9".to_owned())]);
    app.settle().await;
    app.press("/").type_text("v0.9").press("Enter").settle().await;
    app.expect("v0.9 ").expect_no("v1.0").expect_no("No matches");
}

#[tokio::test]
async fn the_palette_finds_the_protection_of_a_branch_by_other_words() {
    let mut app = project(Place::new("branches").project("acme/rocket"), 100, 24);
    app.settle().await;
    app.press(":");
    for typed in ["toggle prot", "protect br", "unprotect", "change prot"] {
        app.press("C-u").type_text(typed).expect("Change protection…");
    }
}

#[tokio::test]
async fn a_branch_can_be_protected_with_two_options_and_unprotected() {
    let mut app = project(Place::new("branches").project("acme/rocket"), 100, 24);
    app.settle().await;
    app.press("j P").expect("Protection of rows").expect("developers may merge");
    app.press("Down Enter");
    let sent = |app: &Harness| app.waiting().into_iter().find(|line| line.starts_with("PUT")).unwrap_or_default();
    assert!(
        sent(&app).ends_with("/branches/rows/protect developers_can_merge=true developers_can_push=false"),
        "{}",
        sent(&app)
    );
    let mut app = project(Place::new("branches").project("acme/rocket"), 100, 24);
    app.settle().await;
    app.press("P").type_text("no prot").press("Enter");
    assert!(sent(&app).ends_with("/branches/main/unprotect"), "{}", sent(&app));
}

#[tokio::test]
async fn merged_branches_are_listed_before_deletion_and_protected_ones_stay() {
    let mut app = project(Place::new("branches").project("acme/rocket"), 100, 24);
    let mut many: Vec<Value> = (0..150).map(|i| branch(&format!("done-{i:03}"), "d", true, false)).collect();
    many.extend([branch("main", "e", false, true), branch("kept", "d", true, true), branch("open", "d", false, false)]);
    app.reply(&format!("{REPOSITORY}/branches"), many);
    app.settle().await;
    app.press("X").settle().await;
    app.expect("Delete 150 branches of acme/rocket merged into main?").expect("kept: 1.").expect("  done-000");
    app.expect_no("done-149").pass(1).press("j").expect_no("│   done-000").press("y");
    assert!(app.waiting().iter().any(|line| line.ends_with("/repository/merged_branches")), "{:?}", app.waiting());
    let mut app = project(Place::new("branches").project("acme/rocket"), 100, 24);
    app.reply(
        &format!("{REPOSITORY}/branches"),
        json!([branch("main", "e", false, true), branch("open", "d", false, false)]),
    );
    app.settle().await;
    app.press("X").settle().await;
    app.expect("No merged branch can be deleted: none are merged.");
}

#[tokio::test]
async fn the_log_can_be_filtered_by_author_time_path_and_words() {
    let mut app = project(log(), 100, 24);
    let mine = json!([commit("d", "Draw rows", 13, &["b"])]);
    app.reply(&format!("{REPOSITORY}/commits?author=ada&since=2026-06-01"), mine);
    app.settle().await;
    app.press("/").type_text("author:ada since:2w rows").press("Enter").settle().await;
    assert_eq!(app.app.place().query.as_deref(), Some("author:ada since:2w rows"));
    app.expect("author:ada  since:2w  rows").expect("1 of 1").expect("Draw rows").expect_no("Begin").expect_no("●");
    // An invalid query is reported, and Esc restores the previous one.
    app.press("/").type_text(" when:x").press("Enter").settle().await;
    app.expect("no such key").expect_no("Begin").press("Esc").settle().await;
    app.expect("author:ada  since:2w  rows").expect("Draw rows").expect_no("no such key").press("Esc").settle().await;
    app.expect("Begin").expect("◎─╮").expect_no("no such key");
    app.press("u").settle().await;
    app.expect("author:Ada");
}

/// GitLab counts the latest 2,000 commits (its `Repository#contributors`).
#[tokio::test]
async fn the_overview_says_that_it_counts_only_the_latest_commits() {
    let person =
        |name: &str, commits: u32| json!({"name": name, "email": format!("{name}@x.test"), "commits": commits});
    for (ada, told) in [(1_999, true), (1_998, false)] {
        let mut app = project(Place::new("overview").project("acme/rocket"), 100, 40);
        app.reply(&format!("{REPOSITORY}/contributors"), [person("Ada", ada), person("Bo", 1)]).settle().await;
        app.expect("Bo");
        assert_eq!(app.lines().join("\n").contains("of the latest 2,000 commits"), told, "{}", app.picture());
    }
}

#[tokio::test]
async fn commit_queries_offer_completions() {
    let mut app = project(log(), 80, 24);
    let author =
        |name: &str, email: &str| json!({"name": name, "email": email, "commits": 3, "additions": 0, "deletions": 0});
    app.reply(&format!("{REPOSITORY}/contributors"), [author("Ada Sommer", "ada@x.test"), author("Bo", "bo@x.test")]);
    let entry = |kind: &str, path: &str| json!({"id": path, "name": path.rsplit('/').next(), "type": kind, "path": path, "mode": "100644"});
    app.reply(&format!("{REPOSITORY}/tree"), [entry("tree", "src"), entry("blob", "sort.rs")]);
    app.reply(&format!("{REPOSITORY}/tree?path=src"), [entry("blob", "src/rows.rs")]);
    app.reply(&format!("{REPOSITORY}/branches"), [branch("main", "e", false, true), branch("rows", "d", false, false)]);
    app.reply(&format!("{REPOSITORY}/tags"), json!([]));
    app.settle().await;
    app.press("/").type_text("a").expect("author:").expect("name or email contains this");
    app.press("Tab").settle().await;
    app.expect("ada@x.test").type_text("som").press("Tab").expect("author:\"Ada Sommer\"");
    app.type_text("until:").expect("a week ago").type_text("2").press("Tab").expect("until:2w");
    app.type_text("path:s").settle().await;
    app.expect("path:src/").expect("path:sort.rs").press("Tab").settle().await;
    app.expect("path:src/rows.rs").press("Tab").expect("until:2w path:src/rows.rs");
    app.type_text("ref:r").settle().await;
    app.expect("ref:rows").press("Tab").type_text("words").press("Enter").settle().await;
    let asked = app.asked.iter().rfind(|line| line.contains("/commits?")).cloned().unwrap_or_default();
    for part in ["author=Ada%20Sommer", "until=2026-06-01", "path=src%2Frows.rs", "ref_name=rows"] {
        assert!(asked.replace('+', "%20").contains(part), "{part} in {asked}");
    }
    assert!(!asked.contains("words"), "{asked}");
    for (width, height) in [(20, 8), (44, 12)] {
        app.resize(width, height).press("/ Tab Esc");
    }
}

#[tokio::test]
async fn keys_step_through_the_commits_of_the_originating_log() {
    let mut app = project(log().at("main").path("src"), 100, 30);
    for (name, title, day) in [("e", "Merge rows", 14), ("d", "Draw rows", 13), ("c", "Count columns", 12)] {
        app.reply(&format!("{REPOSITORY}/commits/{}", sha(name)), commit(name, title, day, &["b"]))
            .reply(&format!("{REPOSITORY}/commits/{}/diff", sha(name)), json!([]))
            .reply(&format!("{REPOSITORY}/commits/{}/refs", sha(name)), json!([]))
            .reply(&format!("{REPOSITORY}/commits/{}/statuses", sha(name)), json!([]));
    }
    app.settle().await;
    app.press("j Enter").settle().await;
    let at = |name: &str| Place::new("commit").project("acme/rocket").item(sha(name)).at("main").path("src");
    assert_eq!(app.app.place(), at("d"));
    app.press(")").settle().await;
    assert_eq!(app.app.place(), at("c"));
    app.press("2 [").settle().await;
    assert_eq!(app.app.place(), at("d").tab("details"));
    app.press("( (").settle().await;
    app.expect("This is the newest commit of the history.");
    // Stepping through the log adds nothing to the navigation history: going back opens the list.
    app.press("q").settle().await;
    assert_eq!(app.app.place().pane, "commits");
}

#[tokio::test]
async fn the_address_of_a_file_of_a_commit_is_copied() {
    let mut app = project(Place::new("commit").project("acme/rocket").item(sha("d")), 120, 30);
    let diff = |path: &str| json!({"old_path": path, "new_path": path, "diff": "@@ -1 +1 @@\n-one\n+two\n"});
    app.reply(&format!("{REPOSITORY}/commits/{}", sha("d")), commit("d", "Draw rows", 13, &["b"]))
        .reply(&format!("{REPOSITORY}/commits/{}/diff", sha("d")), [diff("a.rs"), diff("src/main.rs")])
        .settle()
        .await;
    app.press("]").settle().await;
    app.press("y").type_text("file URL").press("Enter");
    let page = format!("http://demo.test/acme/rocket/-/commit/{}", sha("d"));
    // GitLab names a file on the page by the SHA-1 of its path.
    assert_eq!(app.copied(), [format!("{page}#4b569f42a6967dec04275af54f4ca9ab6a4eee64")]);
    app.press("y").type_text("URL").press("Enter");
    assert_eq!(app.copied().last(), Some(&page));
}

#[tokio::test]
async fn commit_statuses_open_their_pages() {
    let mut app = project(Place::new("commit").project("acme/rocket").item(sha("d")).tab("details"), 120, 30);
    let status = |name: &str, state: &str, url: Value| {
        json!({"id": 1, "name": name, "status": state, "target_url": url, "coverage": 81.25, "allow_failure": true,
               "description": "It said so", "finished_at": "2026-06-14T10:00:00Z"})
    };
    app.reply(&format!("{REPOSITORY}/commits/{}", sha("d")), commit("d", "Draw rows", 13, &["b"]))
        .reply(&format!("{REPOSITORY}/commits/{}/diff", sha("d")), json!([]))
        .reply(&format!("{REPOSITORY}/commits/{}/refs", sha("d")), json!([]))
        .reply(
            &format!("{REPOSITORY}/commits/{}/statuses", sha("d")),
            json!([
                status("lint", "failed", json!("https://ci.test/7")),
                status("evil", "success", json!("file:///etc/passwd"))
            ]),
        );
    app.settle().await;
    let lint = app.line_with("lint");
    assert!(lint.contains("✗ failed") && lint.contains("allowed to fail  81.2% covered  It said so  1d ago"), "{lint}");
    app.expect_no("passwd");
    while !app.line_with("lint").contains('▌') {
        app.press("j");
    }
    app.press("Enter");
    assert_eq!(app.browsed(), ["https://ci.test/7"]);
    app.press("j Enter").expect("can be opened");
    assert_eq!(app.browsed().len(), 1);
}

fn tags(width: u16) -> Harness {
    let mut app = project(Place::new("tags").project("acme/rocket"), width, 24);
    let release = json!({"tag_name": "v2", "description": "# Second light\n\n- rows are *drawn*\n"});
    app.reply(
        &format!("{REPOSITORY}/tags"),
        json!([
            {"name": "v2", "message": "Signed\u{1b}[31m off\n\nby Ada", "commit": commit("e", "Merge rows", 14, &[]), "release": release.clone()},
            {"name": "v1", "message": null, "commit": commit("b", "Begin", 2, &[]), "release": null},
        ]),
    );
    app.reply(&format!("{REPOSITORY}/tags/v2"), json!({"name": "v2", "message": null, "release": release}));
    app.reply(&format!("{REPOSITORY}/tags/v1"), json!({"name": "v1", "message": null, "release": null}));
    app
}

#[tokio::test]
async fn separators_are_only_drawn_between_panels() {
    let mut app = tags(120);
    app.settle().await;
    let lines = app.lines();
    let rules: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| line.contains('│')).map(|(row, _)| row).collect();
    assert_eq!(rules, (1..lines.len() - 1).collect::<Vec<_>>(), "{}", app.picture());
}

#[tokio::test]
async fn a_tag_is_shown_with_its_message_and_release() {
    let mut app = tags(120);
    app.settle().await;
    app.expect("Signed␛[31m off").expect("by Ada").expect("Second light").expect("• rows are drawn");
    app.press("j").settle().await;
    app.expect_no("rows are drawn").expect("lightweight").expect("No message; e edits the release notes");
    let mut app = tags(80);
    app.settle().await;
    app.expect_no("• rows are drawn").press("Tab").settle().await;
    app.expect("• rows are drawn").press("Esc").settle().await;
    app.expect_no("• rows are drawn");
}

#[tokio::test]
async fn a_release_can_be_written_and_changed_and_its_draft_is_kept() {
    let mut app = tags(120);
    app.settle().await;
    app.press("e").type_text(" more").press("C-s").settle().await;
    let sent = |app: &Harness| app.waiting().pop().unwrap_or_default();
    assert!(sent(&app).starts_with("PUT /projects/acme%2Frocket/releases/v2 description=# Second"), "{}", sent(&app));
    assert!(sent(&app).contains(" more"), "{}", sent(&app));
    let mut app = tags(120);
    app.settle().await;
    app.press("j e").type_text("First").press("Esc");
    app.expect("draft saved").press("e C-s").settle().await;
    assert_eq!(sent(&app), "POST /projects/acme%2Frocket/releases description=First tag_name=v1");
}

#[tokio::test]
async fn a_concurrent_change_of_a_release_is_shown_before_it_is_replaced() {
    let released = |says: &str| json!({"name": "v2", "release": {"tag_name": "v2", "description": says}});
    let writes = |app: &Harness| app.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect::<Vec<_>>();
    let mut app = tags(120);
    app.settle().await;
    app.press("e").type_text(" mine").settle().await;
    app.reply(&format!("{REPOSITORY}/tags/v2"), released("Third light, by Bo")).press("C-s").settle().await;
    app.expect("Third light, by Bo").expect("Somebody else has changed it");
    assert!(writes(&app).is_empty(), "{:?}", writes(&app));
    // The conflict was shown, so sending again overwrites it.
    app.press("C-s").settle().await;
    assert!(writes(&app)[0].starts_with("PUT"), "{:?}", writes(&app));
    // Somebody else created the release in the meantime: it is not overwritten unseen.
    let mut app = tags(120);
    app.settle().await;
    app.press("j e").type_text("First").settle().await;
    let theirs = json!({"name": "v1", "release": {"tag_name": "v1", "description": "Bo was first"}});
    app.reply(&format!("{REPOSITORY}/tags/v1"), theirs).press("C-s").settle().await;
    app.expect("Bo was first").press("C-s").settle().await;
    assert!(writes(&app)[0].starts_with("PUT"), "{:?}", writes(&app));
    // Taking their version can be undone.
    let mut app = tags(120);
    app.settle().await;
    app.press("e").type_text(" mine").settle().await;
    app.reply(&format!("{REPOSITORY}/tags/v2"), released("Third light, by Bo")).press("C-s").settle().await;
    app.press("t")
        .expect("Third light, by Bo")
        .expect_no(" mine")
        .expect("C-z restores yours")
        .press("C-z")
        .expect(" mine");
    app.press("C-s").settle().await;
    assert!(writes(&app)[0].contains("mine"), "{:?}", writes(&app));
    // A failed check is repeated before the release is sent.
    let mut app = tags(120);
    app.settle().await;
    app.fail(&format!("{REPOSITORY}/tags/v2"), 500, "500 Internal Server Error").press("e").settle().await;
    app.type_text(" mine").reply(&format!("{REPOSITORY}/tags/v2"), released("Third light, by Bo"));
    app.press("C-s").settle().await;
    app.expect("Third light, by Bo").expect("Somebody else has changed it");
    assert!(writes(&app).is_empty(), "{:?}", writes(&app));
    // If the check fails again, the server decides.
    let mut app = tags(120);
    app.settle().await;
    app.fail(&format!("{REPOSITORY}/tags/v2"), 500, "500 Internal Server Error");
    app.press("e").type_text(" mine").settle().await;
    app.press("C-s").settle().await;
    assert!(writes(&app)[0].starts_with("PUT"), "{:?}", writes(&app));
}

#[tokio::test]
async fn a_tag_can_be_lightweight_or_annotated_and_compared_with_the_previous() {
    let mut app = tags(120);
    app.settle().await;
    app.press("+").type_text("v3").press("C-s");
    let sent = |app: &Harness| app.waiting().into_iter().find(|line| line.starts_with("POST")).unwrap_or_default();
    assert_eq!(sent(&app), "POST /projects/acme%2Frocket/repository/tags ref=refs/heads/main tag_name=v3");
    let mut app = tags(120);
    app.settle().await;
    app.press("+").type_text("v4").press("Tab Tab").type_text("Fourth").press("Esc C-s");
    assert_eq!(
        sent(&app),
        "POST /projects/acme%2Frocket/repository/tags message=Fourth ref=refs/heads/main tag_name=v4"
    );
    // A current server creates the tag without the release, so the release is sent separately.
    let mut app = tags(120);
    app.settle().await;
    app.press("+").type_text("v5").press("Tab Tab Tab").type_text("Fifth").press("Esc C-s");
    app.reply("POST /projects/acme%2Frocket/repository/tags", json!({"name": "v5", "message": null})).settle().await;
    assert_eq!(sent(&app), "POST /projects/acme%2Frocket/releases description=Fifth tag_name=v5");
    app.fail("POST /projects/acme%2Frocket/releases", 403, "403 Forbidden").settle().await;
    assert!(app.kept.values().any(|text| text == "Fifth"), "{:?}", app.kept);
    let mut app = tags(120);
    app.settle().await;
    app.press("=");
    assert_eq!(app.app.place(), compare("refs/tags/v1...refs/tags/v2"));
}

#[tokio::test]
async fn hostile_branch_names_are_sanitized_and_still_work() {
    let mut app = project(Place::new("branches").project("acme/rocket"), 80, 24);
    let evil = "feature/\u{1b}[2J\u{202e}x";
    let long = format!("team/{}", "very-".repeat(60));
    let names =
        json!([branch(evil, "d", false, false), branch(&long, "d", true, false), branch("main", "e", false, true)]);
    app.reply(&format!("{REPOSITORY}/branches"), names);
    app.settle().await;
    app.expect("feature/␛[2J").expect("team/very").expect("…").expect("default");
    app.press("D").expect("Delete the branch feature/␛[2J").press("n").press("Space j j =");
    assert_eq!(app.app.place().item, Some(format!("refs/heads/{evil}...refs/heads/main")));
    app.press("q").press("Esc").press("g g H");
    assert_eq!(app.app.place().git_ref, Some(labscope::api::GitRef::branch(evil)));
}

#[tokio::test]
async fn only_visible_pages_of_a_hundred_thousand_branches_are_loaded() {
    let mut app = project(Place::new("branches").project("acme/rocket"), 80, 24);
    let many: Vec<Value> = (0..100_000).map(|i| json!({"name": format!("b{i:06}")})).collect();
    app.reply(&format!("{REPOSITORY}/branches"), many);
    app.settle().await;
    app.expect("b000000");
    app.press("G").settle().await;
    app.expect("b000099");
    let pages = app.asked.iter().filter(|line| line.contains("/branches?") && !line.contains("compare")).count();
    assert!(pages < 6, "{pages}");
}

#[tokio::test]
async fn denied_lists_are_reported_and_empty_ones_are_not_an_error() {
    for pane in ["branches", "tags", "commits"] {
        let mut app = project(Place::new(pane).project("acme/rocket"), 80, 24);
        app.fail(&format!("{REPOSITORY}/{pane}"), 403, "403 Forbidden").settle().await;
        app.expect("403 Forbidden");
        let mut app = project(Place::new(pane).project("acme/rocket"), 80, 24);
        app.reply(&format!("{REPOSITORY}/{pane}"), json!([])).settle().await;
        app.expect(if pane == "branches" { "The repository has no branches" } else { "There are no" });
    }
}
