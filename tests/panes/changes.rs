//! The changes of a merge request: side by side, hidden lines, whitespace, viewed files, and changes since the last
//! review.

use crate::fixtures::{With, changed_file, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::session::DiffDefaults;
use labscope::app::state::{AccountState, SeenChange, SeenHead, StateChange};
use labscope::ui::diff::Layout;
use serde_json::{Value, json};

const MR: &str = "GET /projects/acme%2Frocket-ui/merge_requests/42";
const HEAD: &str = "9f3c2abd00110011001100110011001100110011";
const MERGE_REQUEST: &str = "acme/rocket-ui!42";

/// Returns the new version of the file with hidden lines.
fn blob() -> String {
    (1..=80).map(|n| if n == 51 { "let new = 2;\n".to_owned() } else { format!("line {n}\n") }).collect()
}

fn files() -> Value {
    let rows = "@@ -49,5 +49,5 @@ fn rows\n line 49\n line 50\n-let old = 1;\n+let new = 2;\n line 52\n line 53\n";
    let spaces = "@@ -1,2 +1,2 @@\n-  a( );\n-b\n+    a();\n+c\n";
    json!([
        {"old_path": "Cargo.lock", "new_path": "Cargo.lock", "diff": "@@ -1 +1 @@\n-locked = 1\n+locked = 2\n"},
        {"old_path": "src/ui/rows.rs", "new_path": "src/ui/rows.rs", "diff": rows},
        {"old_path": "src/ui/space.rs", "new_path": "src/ui/space.rs", "diff": spaces},
        {"old_path": "big.txt", "new_path": "big.txt", "diff": "", "too_large": true},
    ])
}

fn begin(width: u16, height: u16) -> Begin {
    Begin::at(Place::new("mr").project("acme/rocket-ui").item(42).tab("changes")).size(width, height)
}

fn whole() -> Value {
    let refs = json!({"base_sha": "ba5e", "head_sha": HEAD, "start_sha": "ba5e"});
    merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": HEAD, "diff_refs": refs}))
}

async fn answered(begin: Begin) -> Harness {
    let mut harness = begin.open();
    let whole = whole();
    let changed = whole.clone().with(json!({"changes": files()}));
    let project = "GET /projects/acme%2Frocket-ui/repository";
    let entry = |id: &str, name: &str, path: &str| json!({"id": id, "name": name, "type": "blob", "path": path, "mode": "100644"});
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, whole)
        .reply(&format!("{MR}/changes"), changed)
        .reply(&format!("{MR}/versions"), json!([]))
        .reply(
            &format!("{MR}/commits"),
            [
                json!({"id": HEAD, "short_id": "9f3c2abd", "title": "Second", "parent_ids": ["f1257"]}),
                json!({"id": "f1257", "short_id": "f1257", "title": "First", "parent_ids": ["ba5e"]}),
            ],
        )
        .reply(
            &format!("{project}/tree?path=src%2Fui&ref={HEAD}"),
            [entry("b10b", "rows.rs", "src/ui/rows.rs"), entry("b10c", "space.rs", "src/ui/space.rs")],
        )
        .reply(&format!("{project}/tree?ref={HEAD}"), [entry("b161", "big.txt", "big.txt")])
        .reply(&format!("{project}/tree?ref=ba5e"), [entry("b160", "big.txt", "big.txt")])
        .reply_raw(&format!("{project}/blobs/b10b/raw"), blob())
        .reply_raw(&format!("{project}/blobs/b160/raw"), "one\ntwo\n")
        .reply_raw(&format!("{project}/blobs/b161/raw"), "one\nthree\n")
        .reply(
            &format!("{project}/commits/f1257/diff"),
            json!([{"old_path": "first.rs", "new_path": "first.rs", "diff": "@@ -0,0 +1 @@\n+only here\n", "new_file": true}]),
        )
        .reply(
            &format!("{project}/commits/{HEAD}/diff"),
            json!([{"old_path": "second.rs", "new_path": "second.rs", "diff": "@@ -0,0 +1 @@\n+and here\n", "new_file": true}]),
        )
        .reply(
            &format!("{project}/compare"),
            json!({"commit": null, "commits": [], "compare_timeout": false, "compare_same_ref": false,
                "diffs": [{"old_path": "new.rs", "new_path": "new.rs", "diff": "@@ -0,0 +1 @@\n+came since\n", "new_file": true}]}),
        );
    harness.settle().await;
    harness
}

/// Opens the changes with the focus in the list of files, and its cursor on the first one.
async fn open(width: u16, height: u16) -> Harness {
    let mut harness = answered(begin(width, height)).await;
    harness.press("g g Tab").settle().await;
    harness
}

#[tokio::test]
async fn changes_start_on_the_first_change_and_a_search_is_one_in_their_text() {
    for (width, height) in [(160, 45), (80, 24)] {
        let mut harness = answered(begin(width, height)).await;
        let here = |harness: &Harness| harness.lines().into_iter().rfind(|line| line.contains('▌')).unwrap_or_default();
        assert!(here(&harness).contains("- let old = 1;"), "{}", harness.picture());
        harness.press("/").type_text("let new").settle().await;
        harness.press("Enter").expect("let new = 2;").expect("1/1");
        harness.press("Esc Tab").expect("Files 4").press("/").type_text("space").settle().await;
        harness.expect("Files 1/4");
    }
}

/// Another `/` searches from the cursor, and Esc returns to it.
#[tokio::test]
async fn another_search_in_changes_starts_at_the_cursor() {
    let mut harness = answered(begin(160, 45)).await;
    let here = |harness: &Harness| harness.lines().into_iter().rfind(|line| line.contains('▌')).unwrap_or_default();
    harness.press("g g /").type_text("[12]").settle().await;
    harness.press("Enter").expect("/[12] 1/").press("] ] j j");
    let before = here(&harness);
    harness.press("/").type_text("nosuch").settle().await;
    assert_eq!(here(&harness), before, "{}", harness.picture());
    harness.press("Esc").settle().await;
    assert_eq!(here(&harness), before, "{}", harness.picture());
    harness.press("/").type_text("[a-z]").settle().await;
    harness.press("Enter").expect_no("/[a-z] 1/");
}

#[tokio::test]
async fn a_folder_and_an_empty_list_are_not_commented_on() {
    let mut harness = open(160, 45).await;
    harness.press("/").type_text("rows").settle().await;
    harness.press("Enter c").expect("Comment on src/ui/rows.rs").press("Esc Esc");
    harness.press("/").type_text("nothing").settle().await;
    harness.press("Enter").expect("No file matches").press("c").expect_no("Comment on src");
}

#[tokio::test]
async fn changes_are_shown_side_by_side_if_there_is_room() {
    let mut harness = open(160, 30).await;
    assert!(harness.line_with("let old = 1;").contains("let new = 2;"), "{}", harness.picture());
    insta::assert_snapshot!("changes_160x30", harness.picture());
    harness.press("s");
    assert!(!harness.line_with("let old = 1;").contains("let new = 2;"));
    harness.press("s").resize(80, 24).press("Tab").press("s");
    assert!(!harness.line_with("let old").contains("let new"), "the user's choice stays");
}

#[tokio::test]
async fn side_by_side_is_toggled_on_a_file_with_additions_only() {
    for width in [160, 80] {
        let mut harness = answered(begin(width, 30)).await;
        let added =
            json!({"old_path": "a.txt", "new_path": "a.txt", "diff": "@@ -0,0 +1 @@\n+one\n", "new_file": true});
        let changed = json!({"old_path": "b.rs", "new_path": "b.rs", "diff": "@@ -1 +1 @@\n-old line\n+new line\n"});
        harness.reply(&format!("{MR}/changes"), whole().with(json!({"changes": [added, changed]})));
        harness.press("r").settle().await;
        harness.press("g g").expect("+ one");
        let is_split = |harness: &Harness| harness.line_with("old line").contains("new line");
        // Both files are side by side where there is room.
        let before = is_split(&harness);
        for (on, words) in [(!before, if before { "off" } else { "on" }), (before, if before { "on" } else { "off" })] {
            harness
                .press("s")
                .expect(&format!("Side by side is {words}. The changes of this file are on one side only"));
            assert_eq!(is_split(&harness), on, "{}", harness.picture());
        }
    }
}

#[tokio::test]
async fn files_are_missing_only_if_fewer_are_listed_than_counted() {
    for (count, is_cut) in [("3+", false), ("4+", true), ("1000+", true), ("4", false)] {
        let mut harness = answered(begin(120, 30)).await;
        let counted = whole().with(json!({"changes_count": count}));
        harness.reply(&format!("{MR}/changes"), counted.clone().with(json!({"changes": files()}))).reply(MR, counted);
        harness.press("r").settle().await;
        match is_cut {
            true => harness.expect("The server left out files: the diff is too large."),
            false => harness.expect_no("left out files"),
        };
        // Once all files are listed, their number is known.
        harness.expect(&format!("Changes {}", if is_cut { count } else { "4" }));
    }
}

#[tokio::test]
async fn changes_that_cannot_be_read_are_not_called_loading() {
    let mut harness = begin(100, 30).open();
    harness.reply(MR, whole()).reply(&format!("{MR}/versions"), json!([])).reply(&format!("{MR}/commits"), json!([]));
    harness.fail(&format!("{MR}/changes"), 500, "500 Internal Server Error").settle().await;
    for key in ["x", "s", "}", ".", "c"] {
        harness.press(key).expect("could not be loaded: r tries again").expect_no("still loading").pass(60);
    }
}

#[tokio::test]
async fn threads_that_cannot_be_read_are_not_silently_missing() {
    for (status, words) in [(403, "Threads: Not allowed"), (404, "Threads: Not found"), (500, "Threads: Server error")]
    {
        let mut harness = open(120, 30).await;
        harness.expect_no("Threads:").fail(&format!("{MR}/notes"), status, "it failed").settle().await;
        harness.expect(words).expect("let new = 2;");
    }
    let mut harness = open(120, 30).await;
    harness.unreachable(&format!("{MR}/notes")).settle().await;
    harness.expect("Threads: Server unreachable").expect("let new = 2;");
}

#[tokio::test]
async fn on_a_narrow_screen_the_diff_is_below_a_short_file_list() {
    let mut harness = open(80, 24).await;
    harness.expect("Files 4").expect("lock file (folded)");
    harness.press("j j").expect("big.txt").expect("let new = 2;");
    // With the focus on the diff, it gets the whole screen.
    harness.press("Tab").expect("let new = 2;").expect_no("Files 4");
    harness.press("Esc").expect("Files 4").expect("let new = 2;");
    harness.click_on("let new = 2;").expect_no("Files 4");
    harness.press("Esc z").expect("Files 4").expect_no("let new = 2;");
    harness.press("z").expect("let new = 2;");
    harness
        .press("/")
        .type_text("zzz")
        .press("Enter")
        .expect("No file matches the filter.")
        .expect("/ changes it, Esc clears it");
    let mut low = open(80, 12).await;
    low.expect("Files 4").expect_no("lock file (folded)");
}

#[tokio::test]
async fn the_cursor_stays_on_its_line_when_the_layout_changes() {
    let mut harness = open(200, 30).await;
    harness.press("Tab").press("/").type_text("let new").settle().await;
    harness.press("Enter");
    for _ in 0..3 {
        harness.press("s");
        harness.press("y").type_text("line").press("Enter");
    }
    assert_eq!(harness.copied(), ["let new = 2;"; 3]);
    // Left moves to the old side, and from there to the list.
    harness.press("h").press("y").type_text("line").press("Enter");
    assert_eq!(
        harness.copied().last().map(String::as_str),
        Some("let new = 2;"),
        "there are no sides in the unified view"
    );
    harness.press("s").press("Tab").press("h").press("y").type_text("line").press("Enter");
    assert_eq!(harness.copied().last().map(String::as_str), Some("let old = 1;"));
}

#[tokio::test]
async fn hidden_lines_can_be_expanded_stepwise_or_all_at_once() {
    let mut harness = open(100, 40).await;
    harness.press("Enter").press("]").press("j").expect("expand 48 lines  fn rows");
    harness.press("x").settle().await;
    harness.expect("expand 28 lines").expect("line 29").expect_no("line 28");
    harness.press("Enter").settle().await;
    harness.expect_no("unchanged").expect("line 24");
    // Expanded lines can be searched and copied.
    harness.press("/").type_text("line 24").settle().await;
    harness.press("Enter").press("y").type_text("line").press("Enter");
    assert_eq!(harness.copied(), ["line 24"]);
}

#[tokio::test]
async fn the_folder_of_a_long_path_is_cut_and_not_its_name() {
    let mut harness = open(120, 30).await;
    let path = "pkg/commands/git_commands/working_tree.go";
    let files = [changed_file(path, "@@ -1 +1 @@\n-a\n+b\n"), changed_file("go.mod", "@@ -1 +1 @@\n-a\n+b\n")];
    harness.reply(&format!("{MR}/changes"), whole().with(json!({"changes": files}))).pass(5).press("r");
    harness.settle().await;
    harness.expect("○ M working_tree.go").resize(140, 30).expect("…/working_tree.go");
}

#[tokio::test]
async fn configured_lines_around_changes_are_read_from_the_file() {
    let mut begin = begin(100, 40);
    begin.diff = DiffDefaults { context: 6, ..DiffDefaults::default() };
    let mut harness = answered(begin).await;
    harness.settle().await;
    harness.expect("line 46").expect_no("line 45").expect("expand 45 lines");
    // If the file is another one by now, the changes stay as the server sent them.
    let mut begin = self::begin(100, 40);
    begin.diff = DiffDefaults { context: 6, ..DiffDefaults::default() };
    let mut begin = begin.open();
    let changed = whole().with(json!({"changes": files()}));
    begin.reply(MR, whole()).reply(&format!("{MR}/changes"), changed).settle().await;
    begin.expect("expand 48 lines").expect_no("cannot expand");
}

#[tokio::test]
async fn files_whose_lines_do_not_fit_beside_each_other_are_unified_below_200_columns() {
    let sides = |harness: &Harness| harness.line_with("let old = 1;").contains("let new = 2;");
    for (width, fill, fits) in [(160, 20, true), (160, 90, false), (200, 90, true)] {
        let mut harness = open(width, 30).await;
        let wide = "x".repeat(fill);
        let rows = format!("@@ -1,2 +1,2 @@\n // {wide}\n-let old = 1;\n+let new = 2;\n");
        let added = "@@ -0,0 +1 @@\n+fn added() {}\n";
        let files = [changed_file("rows.rs", &rows), changed_file("new.rs", added).with(json!({"new_file": true}))];
        harness.reply(&format!("{MR}/changes"), whole().with(json!({"changes": files}))).pass(5).press("r");
        harness.settle().await;
        assert_eq!(sides(&harness), fits, "{width} {fill}\n{}", harness.picture());
        // A new file has no other side, and gets the whole width.
        let at = harness.line_with("fn added() {}").find("fn added() {}");
        assert!(at.is_some_and(|at| at < 80), "{}", harness.picture());
    }
}

#[tokio::test]
async fn lines_beside_each_other_wrap_unless_the_configuration_says_otherwise() {
    let tail = "the end of it";
    for (wraps, layout, shown) in
        [(None, None, true), (Some(false), None, false), (None, Some(Layout::Unified), false), (Some(true), None, true)]
    {
        let mut begin = begin(200, 30);
        begin.diff = DiffDefaults { wraps, layout, ..DiffDefaults::default() };
        let mut harness = answered(begin).await;
        let long = format!("{}{tail}", "a long line, ".repeat(14));
        let files = [changed_file("a.txt", &format!("@@ -1 +1 @@\n-one\n+{long}\n"))];
        harness.reply(&format!("{MR}/changes"), whole().with(json!({"changes": files}))).pass(5).press("r");
        harness.settle().await;
        assert_eq!(harness.lines().iter().any(|line| line.contains(tail)), shown, "{}", harness.picture());
    }
}

#[tokio::test]
async fn expanded_lines_after_an_uneven_hunk_have_correct_line_numbers() {
    let mut harness = open(100, 60).await;
    let uneven = "@@ -9,2 +9,4 @@\n line 9\n+line 10\n+line 11\n line 12\n\
        @@ -48,3 +50,3 @@\n line 50\n-let old = 1;\n+let new = 2;\n line 52\n";
    let changed = whole().with(json!({"changes": [changed_file("src/ui/rows.rs", uneven)]}));
    harness.reply(&format!("{MR}/changes"), changed).pass(5).press("r").settle().await;
    harness.press("Enter");
    let is_at_gap =
        |harness: &Harness| harness.lines().iter().any(|line| line.contains('▌') && line.contains("expand 37"));
    for _ in 0..20 {
        if !is_at_gap(&harness) {
            harness.press("j");
        }
    }
    assert!(is_at_gap(&harness), "{}", harness.picture());
    harness.press("x").settle().await;
    harness.press("x").settle().await;
    let numbers = |words: &str| -> Vec<String> {
        let line = harness.lines().into_iter().find(|line| line.trim_end().ends_with(words)).unwrap_or_default();
        line.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    assert_eq!(numbers(" line 30"), ["28", "30", "30"], "{}", harness.picture());
}

#[tokio::test]
async fn lines_are_not_expanded_from_a_file_that_has_changed() {
    let mut harness = open(100, 40).await;
    harness.reply_raw("GET /projects/acme%2Frocket-ui/repository/blobs/b10b/raw", "quite\nanother\n");
    harness.press("Enter").press("]").press("j").press("x").settle().await;
    harness.expect("no longer matches the diff").press("Esc").expect_no("no longer");
}

#[tokio::test]
async fn a_withheld_diff_is_computed_from_both_versions() {
    let mut harness = open(100, 40).await;
    harness.expect("large").press("Enter").press("] ] ]").press("j").press("x").settle().await;
    harness.expect("compared locally").expect("three");
}

/// Servers before GitLab 18.4 omit a large diff without a word.
#[tokio::test]
async fn a_diff_that_the_server_did_not_send_is_computed_from_both_versions() {
    let renamed = json!({"old_path": "old.txt", "renamed_file": true});
    for (fact, line) in [(json!({}), "- two"), (json!({"new_file": true}), "+ one"), (renamed, "- two")] {
        let mut harness = open(100, 40).await;
        let files = [changed_file("big.txt", "").with(fact)];
        let old = json!({"id": "b160", "name": "old.txt", "type": "blob", "path": "old.txt", "mode": "100644"});
        let big = old.clone().with(json!({"name": "big.txt", "path": "big.txt"}));
        harness
            .reply("GET /projects/acme%2Frocket-ui/repository/tree?ref=ba5e", [old, big])
            .reply(&format!("{MR}/changes"), whole().with(json!({"changes": files})));
        harness.pass(5).press("r").settle().await;
        harness.expect("no diff").expect("The server sent no diff.").expect_no("inary").expect_no("without changes");
        harness.press("Enter").press("j").press("x").settle().await;
        harness.expect(line).expect("+ three").expect("compared locally").expect_no("no diff");
    }
}

/// A server that says what it omits has sent all changes.
#[tokio::test]
async fn a_renamed_file_without_a_diff_did_not_change_if_the_server_says_what_it_omits() {
    let mut harness = open(100, 40).await;
    let told = json!({"old_path": "old.txt", "renamed_file": true, "too_large": false, "collapsed": false});
    let files = [changed_file("big.txt", "").with(told)];
    harness.reply(&format!("{MR}/changes"), whole().with(json!({"changes": files}))).pass(5).press("r").settle().await;
    harness.expect("Renamed without changes").expect_no("no diff");
}

#[tokio::test]
async fn a_binary_file_shows_its_sizes() {
    let mut harness = open(100, 40).await;
    let files = [changed_file("big.txt", "Binary files differ\n")];
    let changed = merge_request(42, "A picture", "opened").with(json!({"changes": files}));
    let blobs = "GET /projects/acme%2Frocket-ui/repository/blobs";
    harness
        .reply_raw(&format!("{blobs}/b160/raw"), b"\x89PNG\0".repeat(20))
        .reply_raw(&format!("{blobs}/b161/raw"), b"\x89PNG\0".repeat(40));
    harness.reply(&format!("{MR}/changes"), changed).pass(5).press("r").settle().await;
    harness.press("Enter").press("j").press("x").settle().await;
    harness.expect("Binary file: 100 B → 200 B");
}

/// GitLab 17 and Gitaly: the diff of a new, empty file has no text, and neither has that of a deleted one.
#[tokio::test]
async fn an_empty_file_is_not_called_binary() {
    for (fact, words) in [("new_file", "New, empty file"), ("deleted_file", "Deleted, empty file")] {
        let mut harness = open(100, 40).await;
        let files = [changed_file("big.txt", "").with(json!({ fact: true }))];
        let changed = merge_request(42, "A marker", "opened").with(json!({"changes": files}));
        let blobs = "GET /projects/acme%2Frocket-ui/repository/blobs";
        harness.reply_raw(&format!("{blobs}/b160/raw"), "").reply_raw(&format!("{blobs}/b161/raw"), "");
        harness.reply(&format!("{MR}/changes"), changed).pass(5).press("r").settle().await;
        harness.expect("big.txt").expect_no("bin ");
        harness.press("Enter").press("j").expect("sent no diff").press("x").settle().await;
        harness.expect(words).expect_no("inary");
    }
}

#[tokio::test]
async fn whitespace_changes_can_be_hidden() {
    let mut harness = open(100, 40).await;
    harness.press("Enter").expect("a( );").press("w").settle().await;
    harness.expect("whitespace ignored").expect_no("a( );").expect("a();");
    harness.press("w").settle().await;
    harness.expect("a( );");
}

#[tokio::test]
async fn help_explains_the_signs_on_the_screen() {
    let mut harness = open(160, 40).await;
    harness.press("?").type_text("legend");
    let picture = harness.picture();
    for (sign, meaning) in [("○", "not done yet"), ("M", "modified"), ("▸", "collapsed"), ("▌", "selected row")] {
        let row = |row: &str| {
            row.split('│').any(|cell| cell.trim_start_matches(" ▌").trim().starts_with(sign) && row.contains(meaning))
        };
        assert!(picture.lines().any(row), "{sign} {meaning}\n{picture}");
    }
    // Signs of other screens are not there, and `/` begins a search as everywhere.
    harness.expect_no("paused").press("Esc").press("?").type_text("/modif").expect("modified").expect_no("collapsed");
    harness.press("Esc").press("?").type_text("/").expect("Filter or search").press("Esc");
    // A sign means what it was drawn for.
    harness.press(".").press("?").type_text("legend").expect("viewed").expect_no("passed");
}

fn seen(change: SeenChange) -> AccountState {
    let mut state = AccountState::default();
    state.apply(&StateChange::Seen(change));
    state
}

#[tokio::test]
async fn files_stay_marked_as_viewed_until_they_change() {
    let mut harness = open(160, 40).await;
    harness.expect("Files 4").press("j j").press(".").expect("1/4 viewed").expect("✓ M rows.rs");
    let kept = harness.states["ada"].clone();
    let files = kept.seen.viewed.get(MERGE_REQUEST).expect("viewed files");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["src/ui/rows.rs"]);
    // The file stays viewed and folded later, unless its content changes.
    let mut begin = begin(160, 40);
    begin.states.insert("ada".into(), kept);
    let mut again = answered(begin).await;
    again.expect("1/4 viewed").expect_no("let new = 2;");
    let mut other = self::begin(160, 40);
    let changed = [("src/ui/rows.rs".to_owned(), 7)].into();
    other.states.insert("ada".into(), seen(SeenChange::Viewed { changes: MERGE_REQUEST.into(), files: changed }));
    answered(other).await.expect("Files 4").expect("let new = 2;");
}

#[tokio::test]
async fn changes_since_the_last_review_can_be_shown_alone() {
    let mut harness = open(120, 30).await;
    let heads = |harness: &Harness| harness.states["ada"].seen.heads.get(MERGE_REQUEST).cloned().expect("heads");
    assert_eq!(heads(&harness), SeenHead { last: HEAD.into(), base: Some("ba5e".into()), ..SeenHead::default() });
    harness.press("u").expect("Nothing changed since your last review");
    let mut begin = begin(120, 30);
    let change = SeenChange::Head { merge_request: MERGE_REQUEST.into(), sha: "01dbead".into(), base: None };
    begin.states.insert("ada".into(), seen(change));
    let mut again = answered(begin).await;
    again.press("u").settle().await;
    // It is of no version that the server has, so the heads are compared as they are.
    again.expect("Changes from 01dbead to the head, with those of main").expect("came since").expect_no("let new");
    again.press("u").settle().await;
    again.expect("let new = 2;").expect_no("came since");
    let seen = heads(&again);
    assert_eq!((seen.last.as_str(), seen.before.as_deref()), (HEAD, Some("01dbead")));
}

#[tokio::test]
async fn commits_can_be_reviewed_one_at_a_time() {
    let mut harness = open(120, 30).await;
    harness.press(")").settle().await;
    harness.expect("Commit 1 of 2  f1257").expect("only here");
    harness.press(")").settle().await;
    harness.expect("Commit 2 of 2").expect("and here");
    harness.press(")").settle().await;
    harness.expect("let new = 2;").expect_no("Commit 2 of 2");
}

#[tokio::test]
async fn lock_files_are_folded_and_a_search_unfolds_them() {
    let mut harness = open(120, 30).await;
    harness
        .expect("lock file (folded)")
        .expect_no("locked = 2")
        .press("Tab")
        .press("/")
        .type_text("locked")
        .settle()
        .await;
    harness.press("Enter").expect("locked = 2").expect("1/2").expect("2×");
}

#[tokio::test]
async fn folders_of_the_file_tree_can_be_folded() {
    let mut harness = open(120, 30).await;
    harness.expect("▾ src/ui").expect("rows.rs").press("j").press("Enter").expect("▸ src/ui");
    assert!(harness.line_with("▸ src/ui").contains('2'), "{}", harness.picture());
    harness.press("l").expect("▾ src/ui").press("j").press("h").press("h").expect("▸ src/ui");
}

#[tokio::test]
async fn long_lines_wrap_on_request() {
    let mut harness = open(60, 20).await;
    let tail = "the end of it";
    let line = |harness: &Harness| harness.lines().into_iter().filter(|line| line.contains(tail)).count();
    let mut changed = merge_request(42, "Long", "opened");
    let long = format!("{}{tail}", "a long line, ".repeat(12));
    changed["changes"] =
        json!([{"old_path": "a.txt", "new_path": "a.txt", "diff": format!("@@ -1 +1 @@\n-one\n+{long}\n")}]);
    harness.reply(&format!("{MR}/changes"), changed).pass(5).press("r").settle().await;
    harness.press("Enter");
    assert_eq!(line(&harness), 0, "{}", harness.picture());
    harness.press("W").settle().await;
    harness.expect("wrapped");
    assert_eq!(line(&harness), 1, "{}", harness.picture());
    harness.press("W").expect_no("wrapped");
    assert_eq!(line(&harness), 0, "{}", harness.picture());
}

#[tokio::test]
async fn a_tiny_terminal_and_a_huge_line_can_be_drawn() {
    let mut harness = open(100, 30).await;
    let mut changed = merge_request(42, "Large", "opened");
    let long = "x".repeat(3_000_000);
    changed["changes"] =
        json!([{"old_path": "min.js", "new_path": "min.js", "diff": format!("@@ -1 +1 @@\n-{long}\n+{long}y\n")}]);
    harness.reply(&format!("{MR}/changes"), changed).pass(5).press("r").settle().await;
    harness.press("Enter").expect("min.js").expect("xxxx").press("W").expect("xxxx");
    for (width, height) in [(20, 5), (3, 2), (200, 50)] {
        harness.resize(width, height).press("j").press("s").press("s").settle().await;
    }
}

#[tokio::test]
async fn all_of_many_files_are_loaded_and_the_cursor_stays_in_its_file() {
    let mut harness = begin(160, 40).open();
    let file = |n: usize| changed_file(&format!("file_{n:03}.rs"), &format!("@@ -1 +1 @@\n-old {n}\n+new {n}\n"));
    let files: Vec<Value> = (0..120).map(file).collect();
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": HEAD, "changes": files}));
    harness.reply(MR, whole.clone()).reply(&format!("{MR}/changes"), whole).settle().await;
    harness.expect("new 0").press("Tab").press("G").expect("new 119");
    // After a refresh, the changes arrive page by page again.
    harness.press("r").settle().await;
    harness.expect("new 119").expect("file_119.rs");
}

/// GitLab fails to send the changes of some large merge requests, and later versions may drop the operation.
#[tokio::test]
async fn changes_that_the_server_does_not_send_can_be_compared() {
    for is_dropped in [true, false] {
        let mut harness = begin(100, 30).open();
        let changes = format!("{MR}/changes");
        harness
            .reply("GET /user", user(1, "ada"))
            .reply(MR, whole())
            .reply("GET /projects/acme%2Frocket-ui/repository/compare", json!({"commits": [], "diffs": files()}));
        match is_dropped {
            true => harness.unsupported(&changes),
            false => harness.fail(&changes, 504, "Gateway Time-out"),
        };
        harness.settle().await;
        harness.expect("The server did not send the changes. U shows the full diff.").press("U").settle().await;
        harness.expect("let new = 2;").expect_no("did not send");
    }
}

/// The first files of a large reply are shown before the others have arrived.
#[tokio::test]
async fn files_are_shown_as_they_arrive() {
    let file = |n: usize| changed_file(&format!("file_{n}.rs"), &format!("@@ -1 +1 @@\n-old {n}\n+new {n}\n"));
    let reply = whole().with(json!({"changes": (1..=60).map(file).collect::<Vec<_>>()}));
    let text = reply.to_string();
    let part = |files: usize| text.split_at(text.find(&format!("new {files}")).expect("the file")).0.to_owned();
    let changes = format!("{MR}/changes");
    let mut harness = begin(120, 30).open();
    harness.reply("GET /user", user(1, "ada")).reply(MR, whole()).settle().await;
    harness.expect_no("file_1.rs").reply_partly(&changes, part(3), text.len() as u64).settle().await;
    harness.expect("new 1").expect("new 2").expect_no("new 3").expect("2 files so far").expect("Files 2 ");
    // A comment needs the commits that the whole reply names.
    harness.press("Tab j j c").settle().await;
    harness.expect("head commit");
    harness.reply_partly(&changes, part(30), text.len() as u64).settle().await;
    harness.expect("29 files so far").expect("Files 29 ").expect("new 1");
    // The connection breaks: what has arrived stays.
    harness.unreachable(&changes).settle().await;
    harness.expect("29 files; the others are missing: the reply ended after").expect("new 1");
    harness.reply(&changes, reply.clone()).press("r").settle().await;
    harness.expect("Files 60 ").expect_no("so far").expect_no("missing");
}

const JOBS: &str = "GET /projects/acme%2Frocket-ui/pipelines/9/jobs";
const JOB: &str = "GET /projects/acme%2Frocket-ui/jobs/31/artifacts";
const COBERTURA: &str = "<coverage><sources><source>/builds/acme/rocket-ui</source></sources>
    <class filename='src/ui/rows.rs'><line number='51' hits='0'/></class>
    <class filename='src/ui/space.rs'><line number='1' hits='2'/><line number='2' hits='1'
        condition-coverage='50% (1/2)'/></class></coverage>";
const QUALITY: &str = r#"[{"description": "c is \u001b[31mshort", "check_name": "names", "severity": "major",
    "location": {"path": "src/ui/space.rs", "lines": {"begin": 1}}},
    {"description": "not on a new line", "location": {"path": "src/ui/rows.rs", "lines": {"begin": 52}}}]"#;

/// Adds a head pipeline that ran on `sha`, with a job that has artifacts of `types`, and refreshes.
async fn reported(mut harness: Harness, sha: &str, types: &[&str]) -> Harness {
    let pipeline = json!({"id": 9, "project_id": 7, "sha": sha, "ref": "feature/42", "status": "success"});
    let artifact = |kind: &&str| json!({"file_type": kind, "size": 9, "filename": "report.gz", "file_format": "gzip"});
    let artifacts: Vec<Value> = types.iter().map(artifact).collect();
    let job = |id: u64| crate::fixtures::job(id, "unit", "success").with(json!({"artifacts": artifacts}));
    // The job was retried: only the latest run counts.
    let jobs = [job(31), job(30)];
    harness.reply(MR, whole().with(json!({"head_pipeline": pipeline}))).reply(JOBS, jobs).press("r").settle().await;
    harness
}

/// Opens the changes, with reports that can be read.
async fn with_reports(width: u16, height: u16, sha: &str, types: &[&str]) -> Harness {
    let mut harness = answered(begin(width, height)).await;
    harness
        .reply_raw(&format!("{JOB}?file_type=cobertura"), COBERTURA)
        .reply_raw(&format!("{JOB}?file_type=codequality"), QUALITY);
    reported(harness, sha, types).await
}

#[tokio::test]
async fn reports_of_the_pipeline_mark_new_lines() {
    let mut harness = with_reports(120, 30, HEAD, &["archive", "cobertura", "codequality"]).await;
    harness.press("s").expect("New lines: 66%, 1 problem").press("G").press("g g");
    let marked = |harness: &Harness, words: &str| harness.line_with(words);
    assert!(marked(&harness, "let new = 2;").contains("+○let new"), "{}", harness.picture());
    assert!(marked(&harness, "    a();").contains("+▲    a();"), "{}", harness.picture());
    assert!(marked(&harness, "┇c").contains("+┇c"), "{}", harness.picture());
    assert!(marked(&harness, "let old = 1;").contains("- let old"));
    harness.press("/").type_text("let new").settle().await;
    harness.press("Enter").expect("Line 51: not covered");
    harness.press("}").expect("Line 1: major: c is ␛[31mshort (names) · covered");
    harness.press("j").expect("Line 2: covered, 1 of 2 branches");
    harness.resize(160, 45).settle().await;
    harness.expect("New lines: 66% covered, 1 problem");
    harness.resize(80, 24).settle().await;
    harness.press("k k").expect("New lines: 66% covered, 1 problem");
}

#[tokio::test]
async fn reports_are_only_requested_where_there_are_some() {
    let asks = |harness: &Harness, line: &str| harness.reads().iter().filter(|read| read.starts_with(line)).count();
    for types in [&["archive", "junit"][..], &[]] {
        let mut harness = reported(answered(begin(160, 45)).await, HEAD, types).await;
        harness.expect("let new = 2;").expect_no("New lines");
        assert_eq!(asks(&harness, JOB), 0, "{types:?}");
    }
    let harness = reported(answered(begin(160, 45)).await, HEAD, &["archive", "cobertura"]).await;
    assert_eq!(asks(&harness, JOB), 1, "the earlier run of the job is not asked for");
    // The lines of a pipeline of another commit may be others.
    let mut harness = answered(begin(160, 45)).await;
    let pipeline = json!({"id": 9, "project_id": 7, "sha": "0ther", "ref": "feature/42", "status": "success"});
    harness.reply(MR, whole().with(json!({"head_pipeline": pipeline}))).press("r").settle().await;
    assert_eq!(asks(&harness, JOBS), 0);
}

#[tokio::test]
async fn reports_that_cannot_be_read_are_told() {
    for (status, words) in [(403, "Coverage: Not allowed"), (500, "Coverage: Server error")] {
        let mut harness = answered(begin(160, 45)).await;
        harness.fail(&format!("{JOB}?file_type=cobertura"), status, "it failed");
        let mut harness = reported(harness, HEAD, &["cobertura"]).await;
        harness.expect(words).expect("let new = 2;").expect_no("New lines");
    }
    // Expired artifacts are gone, as are those of servers that never had them.
    let mut harness = answered(begin(160, 45)).await;
    harness.fail(&format!("{JOB}?file_type=cobertura"), 404, "404 Not Found");
    reported(harness, HEAD, &["cobertura"]).await.expect("let new = 2;").expect_no("Coverage");
    let mut harness = answered(begin(160, 45)).await;
    harness.reply_raw(&format!("{JOB}?file_type=codequality"), &QUALITY.as_bytes()[..90]);
    harness.reply_raw(&format!("{JOB}?file_type=cobertura"), COBERTURA);
    let mut harness = reported(harness, HEAD, &["cobertura", "codequality"]).await;
    harness.expect("Code quality: ").expect("it ends in the middle").expect("New lines: 66% covered");
}
