//! Browsing a repository: the tree and its files, branches, tags, commits, and a single commit.

use crate::fixtures::{self, With, blob_id, file, folder, tree_entry, user};
use crate::harness::{Begin, Harness};
use labscope::api::GitRef;
use labscope::app::place::Place;
use labscope::store::TaskKey;
use serde_json::{Value, json};

const TREE: &str = "GET /projects/acme%2Frocket/repository/tree";

fn blob(path: &str) -> String {
    format!("GET /projects/acme%2Frocket/repository/blobs/{}/raw", blob_id(path))
}

/// Returns a commit that Bo committed an hour after Ada wrote it.
fn commit(sha: &str, title: &str, day: u32) -> Value {
    fixtures::commit(&sha.repeat(5), title, &format!("2026-06-{day:02}T10:00:00Z")).with(json!({
        "message": format!("{title}\n\nWhy it was done.\n"), "parent_ids": ["b".repeat(40)],
        "committer_name": "Bo", "committer_email": "bo@acme.test",
        "committed_date": format!("2026-06-{day:02}T11:00:00Z"),
    }))
}

/// Opens a project with a few files of every kind.
fn files(place: Place, width: u16, height: u16) -> Harness {
    let mut app = Begin::at(place).size(width, height).open();
    app.reply("GET /user", user(1, "ada"))
        .reply(
            "GET /projects/acme%2Frocket",
            json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false}),
        )
        .reply("GET /projects/acme%2Frocket/repository/commits/main", commit("aaaaaaaa", "Draw rows", 14))
        .reply("GET /projects/acme%2Frocket/repository/commits/next", commit("cccccccc", "Next", 15))
        .reply(
            TREE,
            json!([
                folder("src"),
                file("README.md"),
                file("bad\u{1b}[31mname"),
                tree_entry("current", "120000"),
                file("logo.png"),
                tree_entry("run.sh", "100755"),
                tree_entry("vendor", "160000"),
            ]),
        )
        .reply(&format!("{TREE}?path=src"), json!([folder("src/render"), file("src/main.rs")]))
        .reply(&format!("{TREE}?path=src%2Frender"), json!([file("src/render/frame.rs")]))
        .reply_raw(&blob("README.md"), "# Rocket\n\nIt *flies*, see `src`.\n\n- one\n- two\n")
        .reply_raw(&blob("src/main.rs"), "// starts it\nfn main() {\n    println!(\"up\");\n}\n")
        .reply_raw(&blob("run.sh"), "#!/bin/sh\nexec rocket\n")
        .reply_raw(&blob("bad\u{1b}[31mname"), "one\n")
        .reply_raw(&blob("current"), "src/main.rs")
        .reply_raw(&blob("logo.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x40\0\0\0\x20\0\0".to_vec());
    let long: String = (1..=300).map(|i| format!("let line_{i} = {i}; // needle {}\n", i % 7)).collect();
    app.reply_raw(&blob("src/render/frame.rs"), long);
    app
}

fn at() -> Place {
    Place::new("files").project("acme/rocket")
}

#[tokio::test]
async fn the_readme_is_rendered_until_a_file_is_selected() {
    let mut app = files(at(), 120, 30);
    app.settle().await;
    app.expect("acme / rocket").expect("⎇ main").expect("▸ src").expect("README.md").expect("Rocket").expect("• one");
    app.expect_no("# Rocket").expect("link").expect("exec").expect("@ sha-of-v");
    app.press("m").settle().await;
    app.expect("# Rocket").expect("*flies*");
}

#[tokio::test]
async fn editing_a_link_says_that_its_text_is_a_path() {
    for (path, is_link) in [("current", true), ("run.sh", false)] {
        let mut app = files(at().path(path), 120, 30);
        app.settle().await;
        app.press("e").settle().await;
        app.expect(&format!("edit {path}"));
        assert_eq!(app.shows("This is a symbolic link"), is_link, "{path}\n{}", app.picture());
    }
}

#[tokio::test]
async fn folders_are_loaded_one_by_one_and_keep_their_state() {
    let mut app = files(at(), 120, 30);
    app.settle().await;
    assert_eq!(app.asked.iter().filter(|line| line.contains("/tree")).count(), 1);
    app.press("Enter").settle().await;
    app.expect("▾ src").expect("▸ render").expect("main.rs");
    app.press("j Enter").settle().await;
    app.expect("▾ render").expect("frame.rs");
    app.press("k h").settle().await;
    app.expect("▸ src").expect_no("render");
    app.press("l").settle().await;
    app.expect("▾ src").expect("▾ render").expect("frame.rs");
    assert_eq!(app.asked.iter().filter(|line| line.contains("/tree")).count(), 3);
}

#[tokio::test]
async fn a_file_opens_at_its_line_and_can_be_searched() {
    let mut app = files(at().path("src/render/frame.rs").line(120), 120, 30);
    app.settle().await;
    app.expect("▾ src").expect("▾ render").expect("src/render/frame.rs").expect("300 lines").expect("Rust");
    app.expect("120  let line_120 = 120;");
    assert!(app.line_with("let line_120").contains('▌'), "{}", app.picture());
    app.press("/").type_text("needle 3").press("Enter").settle().await;
    app.expect("/43");
    let before = app.line_with("/43");
    app.press("n").settle().await;
    assert_ne!(app.line_with("/43"), before);
    app.press("L").type_text("7").press("Enter").settle().await;
    app.expect("let line_7 = 7;");
    app.press("o");
    assert_eq!(app.browsed(), ["http://demo.test/acme/rocket/-/blob/main/src/render/frame.rs#L7"]);
    app.press("h").settle().await;
    app.press("j").settle().await;
    app.expect("fn main()").expect("4 lines");
}

#[tokio::test]
async fn a_missing_path_is_reported_and_the_tree_stays() {
    for path in ["src/nope.rs", "gone/deep/x.rs", "README.md/x"] {
        let mut app = files(at().at("main").path(path), 120, 30);
        app.fail(&format!("{TREE}?path=gone&ref=main"), 404, "404 Tree Not Found")
            .fail(&format!("{TREE}?path=gone%2Fdeep&ref=main"), 404, "404 Tree Not Found")
            .fail(&format!("{TREE}?path=README.md&ref=main"), 404, "404 Tree Not Found")
            .reply(&format!("{TREE}?path=src&ref=main"), json!([file("src/main.rs")]));
        app.settle().await;
        app.expect(&format!("{path} not found at main.")).expect("run.sh");
        app.press("G k").settle().await;
        app.expect_no("not found").expect("exec rocket");
    }
}

#[tokio::test]
async fn a_folder_without_a_name_does_not_list_its_parent() {
    let mut app = files(at(), 120, 30);
    app.reply(
        &format!("{TREE}?ref=main"),
        json!([{"type": "tree", "name": "", "path": "", "id": "x"}, file("run.sh")]),
    );
    app.settle().await;
    app.press("Enter").settle().await;
    app.expect("run.sh").expect("▸");
}

#[tokio::test]
async fn binary_files_are_shown_as_hex_and_names_are_sanitized() {
    let mut app = files(at().path("logo.png"), 120, 30);
    app.settle().await;
    app.expect("PNG image 64×32").expect("damaged PNG").expect("bad␛[31mname");
    app.press("m").settle().await;
    app.expect("00000000").expect("89 50 4e 47");
    app.press("Tab [").settle().await;
    app.expect("src/main.rs");
}

#[tokio::test]
async fn switching_the_ref_keeps_the_path() {
    let mut app = files(at().path("src/main.rs"), 120, 30);
    let branches = json!([{"name": "main", "commit": commit("aaaaaaaa", "A", 1)}, {"name": "next"}]);
    app.reply("GET /projects/acme%2Frocket/repository/branches", branches)
        .reply("GET /projects/acme%2Frocket/repository/tags", json!([{"name": "v1"}]))
        .reply(&format!("{TREE}?ref=refs%2Fheads%2Fnext"), json!([folder("src")]))
        .reply(&format!("{TREE}?path=src&ref=refs%2Fheads%2Fnext"), json!([file("src/main.rs"), file("src/new.rs")]));
    app.settle().await;
    app.press("R").settle().await;
    app.expect("Files at").expect("v1");
    app.type_text("next").press("Enter").settle().await;
    app.expect("⎇ next").expect("new.rs").expect("fn main()").expect_no("run.sh");
    assert_eq!(app.app.place(), at().at(GitRef::branch("next")).path("src/main.rs"));
}

#[tokio::test]
async fn an_empty_repository_shows_instructions() {
    let mut app = Begin::at(at()).size(120, 30).open();
    app.reply("GET /user", user(1, "ada")).fail(TREE, 404, "404 Tree Not Found").settle().await;
    let url = "https://demo.test/acme/rocket.git";
    let project =
        json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": null, "http_url_to_repo": url});
    app.reply("GET /projects/acme%2Frocket", project).settle().await;
    app.expect("The repository has no").expect("git remote add origin https://demo.test");
    app.press("e").expect("The repository has no branches; push a first commit");
    app.press("g i").settle().await;
    app.expect("The repository has no branches.").expect_no("has not loaded");
}

#[tokio::test]
async fn a_tag_of_a_repository_without_branches_shows_its_files() {
    let mut app = Begin::at(at().at("v1")).size(120, 30).open();
    let project = json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": null, "empty_repo": true});
    app.reply("GET /user", user(1, "ada"));
    app.reply("GET /projects/acme%2Frocket", project).reply(&format!("{TREE}?ref=v1"), json!([folder("src")]));
    app.settle().await;
    app.expect("▸ src").expect_no("has no");
}

#[tokio::test]
async fn a_narrow_screen_shows_one_panel_at_a_time() {
    let mut app = files(at(), 80, 24);
    app.settle().await;
    app.expect("▸ src").expect_no("Rocket");
    app.press("j Enter").settle().await;
    app.expect("Rocket").expect_no("▸ src");
    app.press("Esc").settle().await;
    app.expect("▸ src");
    app.double_click_on("run.sh").settle().await;
    app.expect("exec rocket");
}

#[tokio::test]
async fn a_long_folder_is_loaded_page_by_page_while_scrolling() {
    let mut app = files(at(), 120, 30);
    let many: Vec<Value> = (0..450).map(|i| file(&format!("file-{i:03}"))).collect();
    app.reply(TREE, many);
    app.settle().await;
    let pages = |app: &Harness| app.asked.iter().filter(|line| line.contains("/tree")).count();
    assert_eq!(pages(&app), 1);
    app.press("G").settle().await;
    app.press("G").settle().await;
    assert!(pages(&app) > 1 && pages(&app) < 5, "{}", pages(&app));
    let mut app = files(at().path("file-420"), 120, 30);
    let many: Vec<Value> = (0..450).map(|i| file(&format!("file-{i:03}"))).collect();
    app.reply(TREE, many).reply_raw(&blob("file-420"), "here");
    app.settle().await;
    app.expect("file-420").expect("1  here");
}

#[tokio::test]
async fn branches_can_be_filtered_created_protected_and_deleted() {
    let list = "GET /projects/acme%2Frocket/repository/branches";
    let mut app = files(Place::new("branches").project("acme/rocket"), 120, 30);
    let branch = |name: &str, merged: bool, protected: bool| json!({"name": name, "merged": merged, "protected": protected, "commit": commit("aaaaaaaa", "Draw rows", 14)});
    app.reply(list, json!([branch("main", true, true), branch("feature/rows", false, false)]))
        .reply(&format!("{list}?search=rows"), json!([branch("feature/rows", false, false)]));
    app.settle().await;
    let main = app.line_with("main ");
    assert!(main.contains("default protected") && main.contains("Draw rows") && main.contains("1d"), "{main}");
    app.press("D").expect("The branch main is the default one");
    app.press("/").type_text("rows").press("Enter").settle().await;
    app.expect_no("default protected");
    app.press("Esc").settle().await;
    app.expect("default protected");
    assert!(app.line_with("feature/rows").starts_with('▌'), "{}", app.picture());
    app.press("D").expect("Delete the branch feature/rows");
    app.press("y");
    assert!(
        app.waiting().iter().any(|l| l.starts_with("DELETE") && l.contains("feature%2Frows")),
        "{:?}",
        app.waiting()
    );
    app.press("+").type_text("fix x").expect("spaces and ~").press("Backspace Backspace").type_text("/x").press("C-s");
    assert!(
        app.waiting().iter().any(|l| l.contains("branch=fix/x ref=refs/heads/feature/rows")),
        "{:?}",
        app.waiting()
    );
    app.reply("POST /projects/acme%2Frocket/repository/branches", branch("fix/x", false, false)).settle().await;
    app.press("H").settle().await;
    assert_eq!(app.app.place(), Place::new("commits").project("acme/rocket").at(GitRef::branch("feature/rows")));
}

#[tokio::test]
async fn tags_show_their_messages_and_open_their_files() {
    let mut app = files(Place::new("tags").project("acme/rocket"), 120, 30);
    let tags = json!([
        {"name": "v2", "message": "Second light\n", "commit": commit("aaaaaaaa", "Draw rows", 14), "release": {"tag_name": "v2", "description": "x"}},
        {"name": "v1", "message": null, "commit": commit("dddddddd", "First", 2), "release": null},
    ]);
    app.reply("GET /projects/acme%2Frocket/repository/tags?search=V1", [&tags[1]])
        .reply("GET /projects/acme%2Frocket/repository/tags?search=nothing", json!([]))
        .reply("GET /projects/acme%2Frocket/repository/tags", tags)
        .settle()
        .await;
    assert!(app.line_with("v2  ").contains("release") && app.line_with("v2  ").contains("Second light"));
    app.expect("First");
    app.press("/").type_text("V1").press("Enter").settle().await;
    app.expect("v1").expect_no("Second light");
    app.press("Esc").settle().await;
    app.expect("Second light");
    assert!(app.line_with("v1  ").starts_with('▌'), "{}", app.picture());
    app.press("/").type_text("nothing").press("Enter").settle().await;
    app.expect("No tag matches the filter.").press("Esc").press("j Enter").settle().await;
    assert_eq!(app.app.place().git_ref, Some(GitRef::tag("v1")));
}

fn diff() -> Value {
    let text = "@@ -1,3 +1,3 @@\n // starts it\n-fn main() {}\n+fn main() { up() }\n // end\n";
    let entry = |path: &str, new: bool| {
        json!({"diff": text, "old_path": path, "new_path": path, "a_mode": "100644", "b_mode": "100644",
               "new_file": new, "renamed_file": false, "deleted_file": false})
    };
    json!([entry("src/main.rs", false), entry("src/new.rs", true)])
}

fn log(place: Place, width: u16, height: u16) -> Harness {
    let mut app = files(place, width, height);
    let sha = "aaaaaaaa".repeat(5);
    let one = commit("aaaaaaaa", "Draw rows", 14).with(json!({"stats": {"additions": 2, "deletions": 1, "total": 3}}));
    let all = json!([commit("aaaaaaaa", "Draw rows", 14), commit("dddddddd", "Begin", 2)]);
    app.reply("GET /projects/acme%2Frocket/repository/commits", all)
        .reply(&format!("GET /projects/acme%2Frocket/repository/commits/{sha}"), one)
        .reply(&format!("GET /projects/acme%2Frocket/repository/commits/{sha}/diff"), diff())
        .reply(
            &format!("GET /projects/acme%2Frocket/repository/commits/{sha}/refs"),
            json!([{"type": "branch", "name": "main"}, {"type": "tag", "name": "v2"}]),
        )
        .reply(
            &format!("GET /projects/acme%2Frocket/repository/commits/{sha}/statuses"),
            json!([{"id": 1, "status": "success", "name": "unit", "description": "all passed"}]),
        );
    app
}

#[tokio::test]
async fn commits_show_their_changes_alongside_if_there_is_room() {
    let mut app = log(Place::new("commits").project("acme/rocket").at("main"), 150, 40);
    app.settle().await;
    app.expect("aaaaaaaa").expect("Begin").expect("fn main() { up() }").expect("+2 −1");
    app.press("/").type_text("begin").press("Enter").settle().await;
    app.expect("1 of 2").expect_no("fn main() { up() }");
    app.press("Esc Enter").settle().await;
    assert_eq!(app.app.place().pane, "commit");
    let mut app = log(Place::new("commits").project("acme/rocket"), 80, 24);
    app.settle().await;
    app.expect("Draw rows").expect_no("up()");
    assert!(!app.asked.iter().any(|line| line.contains("/diff")), "{:?}", app.asked);
}

#[tokio::test]
async fn a_commit_shows_its_diff_and_details() {
    let place = Place::new("commit").project("acme/rocket").item("aaaaaaaa".repeat(5));
    let mut app = log(place, 120, 36);
    app.settle().await;
    app.expect("Draw rows").expect("Why it was done.").expect("main.rs").expect("fn main() { up() }").expect("Files 2");
    app.press("f").settle().await;
    assert_eq!(app.app.place().pane, "files");
    app.press("q").press("2").settle().await;
    app.expect("ada@acme.test").expect("Committer").expect("Refs").expect("unit").expect("2026-06-14 10:00 (1d)");
    for _ in 0..20 {
        if app.line_with("v2").contains('▌') {
            break;
        }
        app.press("j");
    }
    app.press("Enter").settle().await;
    assert_eq!(app.app.place(), at().at(GitRef::tag("v2")));
}

#[tokio::test]
async fn a_folder_that_contains_itself_opens_only_as_far_as_requested() {
    let mut app = files(at().path("src/src"), 120, 30);
    app.reply(&format!("{TREE}?path=src"), json!([folder("src")]))
        .reply(&format!("{TREE}?path=src%2Fsrc"), json!([folder("src")]));
    app.settle().await;
    assert_eq!(app.lines().iter().filter(|line| line.contains("▸ src") || line.contains("▾ src")).count(), 3);
}

#[tokio::test]
async fn results_that_are_still_loading_are_not_reported_as_missing() {
    let mut app = Begin::at(Place::new("files").project("acme/rocket").at("main")).size(100, 24).open();
    app.reply("GET /user", user(1, "ada")).settle().await;
    app.reply("GET /projects", json!([])).reply("GET /groups", json!([]));
    app.press("C-p").type_text("zzzz").pass(1).settle().await;
    app.expect_no("No results.");
    for line in ["GET /users", "GET /merge_requests", "GET /issues"] {
        app.reply(line, json!([]));
    }
    // More letters do not change which jobs are read.
    let jobs: Vec<Value> = (0..150).map(|id| fixtures::job(id, "unit", "success")).collect();
    app.reply("GET /projects/acme%2Frocket/jobs", jobs);
    for of_project in ["merge_requests", "issues", "repository/branches", "repository/tags", "repository/tree"] {
        app.reply(&format!("GET /projects/acme%2Frocket/{of_project}"), json!([]));
    }
    app.settle().await;
    app.expect("Search everywhere for zzzz").expect_no("Type more letters").press("Enter");
    assert_eq!(app.app.place(), Place::new("search").item("zzzz"));
}

#[tokio::test]
async fn go_to_anything_finds_files_and_people_from_outside_of_a_project() {
    let mut app = Begin::at(Place::new("projects")).size(120, 30).open();
    let project = json!({"id": 7, "path_with_namespace": "acme/rocket", "web_url": "http://demo.test/acme/rocket"});
    let other =
        json!({"id": 8, "path_with_namespace": "acme/early-lists", "web_url": "http://demo.test/acme/early-lists"});
    app.reply("GET /user", user(1, "ada"))
        .reply("GET /projects", json!([project, other]))
        .reply(&format!("{TREE}?recursive=true"), json!([file("README.md"), file("src/deep/down/main.rs")]))
        .reply("GET /users", json!([{"id": 5, "username": "lizzy", "name": "Elis Berg"}]))
        .settle()
        .await;
    app.press("C-p").type_text("main.rs").pass(1).settle().await;
    app.expect("src/deep/down/main.rs  acme/rocket").press("Enter");
    assert_eq!(app.app.place(), at().path("src/deep/down/main.rs"));
    // The letters of a name that begins with them come before those that are scattered over a path.
    app.press("C-p").type_text("elis").pass(1).settle().await;
    let line = |words: &str| app.lines().iter().position(|line| line.contains(words));
    assert!(line("@lizzy  Elis Berg") < line("acme/early-lists") && line("@lizzy").is_some(), "{}", app.picture());
}

#[tokio::test]
async fn an_unknown_default_branch_is_not_blamed_on_the_account() {
    let mut app = Begin::at(Place::new("files").project("acme/rocket")).size(100, 24).open();
    app.reply("GET /user", user(1, "ada"));
    app.reply("GET /projects/acme%2Frocket", json!({"id": 7, "path_with_namespace": "acme/rocket"}));
    app.reply(TREE, json!([file("README.md")])).settle().await;
    app.press("+").expect_no("your account").expect("The default branch has not loaded yet");
}

#[tokio::test]
async fn what_is_typed_exactly_is_the_first_choice() {
    let here = || Place::new("files").project("acme/rocket").at("main").path("src/lib.rs");
    for (keys, typed, pane, item) in [
        ("C-p", "!42", "mr", Some("42")),
        (":", "!42", "mr", Some("42")),
        ("C-p", "#7", "issue", Some("7")),
        ("C-p", "9f3c2abd", "commit", Some("9f3c2abd")),
        (":", "other/project!3", "mr", Some("3")),
    ] {
        let mut app = Begin::at(here()).size(100, 24).open();
        app.reply("GET /user", user(1, "ada")).settle().await;
        app.press(keys).type_text(typed).press("Enter");
        let place = app.app.place();
        assert_eq!((place.pane.as_str(), place.item.as_deref()), (pane, item), "{keys} {typed}");
    }
    for (keys, typed) in [(":", "20"), ("C-p", ":20")] {
        let mut app = Begin::at(here()).size(100, 24).open();
        app.reply("GET /user", user(1, "ada")).settle().await;
        app.press(keys).type_text(typed).expect("Line 20").press("Enter");
        assert_eq!((app.app.place().path.as_deref(), app.app.place().line), (Some("src/lib.rs"), Some(20)), "{keys}");
    }
}

#[tokio::test]
async fn go_to_anything_finds_files_tags_issues_people_and_commands() {
    let project = "GET /projects/acme%2Frocket";
    for (typed, row, pane) in [
        ("main.rs", "src/deep/down/main.rs", "files"),
        ("v1.2", "acme/rocket@v1.2", "files"),
        ("slow", "acme/rocket#7", "issue"),
        ("@eli", "@eli", "user"),
        ("compile", "acme/rocket job 31", "job"),
    ] {
        let mut app = files(at(), 120, 30);
        app.reply(&format!("{TREE}?recursive=true"), json!([file("README.md"), file("src/deep/down/main.rs")]))
            .reply("GET /projects", json!([{"id": 7, "path_with_namespace": "acme/rocket"}]))
            .reply(&format!("{project}/repository/tags"), json!([{"name": "v1.2"}]))
            .reply("GET /users", json!([{"id": 5, "username": "eli", "name": "Eli"}]))
            .reply(
                &format!("{project}/issues"),
                json!([{"id": 70, "iid": 7, "project_id": 7, "title": "Drawing is slow", "state": "opened"}]),
            )
            .reply(
                &format!("{project}/jobs"),
                json!([{"id": 31, "name": "compile", "status": "success", "ref": "main"}]),
            );
        app.settle().await.press("C-p").type_text(typed).pass(1).settle().await;
        app.expect(row).press("Enter");
        assert_eq!(app.app.place().pane, pane, "{typed}");
    }
    let mut app = files(at(), 120, 30);
    let jobs = json!([{"id": 31, "name": "compile", "status": "success", "ref": "feature/rows"}]);
    app.reply(&format!("{project}/jobs"), jobs).settle().await.press("C-p").type_text("compile").pass(1).settle().await;
    app.expect("compile success · feature/rows").press("C-u").type_text("rows").expect_no("compile success");
    let mut app = files(at(), 120, 30);
    app.settle().await.press("C-p").type_text("toggle line wrap").pass(1).settle().await;
    app.expect("command").press("Enter").expect("Line wrap");
}

#[tokio::test]
async fn go_to_anything_shows_what_is_selected_beside_the_list() {
    let request = json!({"id": 9, "iid": 42, "project_id": 7, "title": "Draw main", "state": "opened",
        "description": "Draws **faster** now.", "web_url": "http://demo.test/acme/rocket/-/merge_requests/42"});
    let open = |width: u16| {
        let mut app = files(at(), width, 30);
        app.reply(
            &format!("{TREE}?recursive=true"),
            json!([file("README.md"), file("src/main.rs"), file("src/other.rs")]),
        )
        .reply("GET /projects/acme%2Frocket/merge_requests", [&request])
        .reply(
            "GET /projects/acme%2Frocket/issues/7",
            json!({"id": 70, "iid": 7, "project_id": 7, "title": "Slow",
                "state": "opened", "description": "Too slow.", "web_url": "http://demo.test/acme/rocket/-/issues/7"}),
        );
        app
    };
    let mut app = open(140);
    app.settle().await.press("C-p").settle().await;
    let corner = |app: &Harness| app.lines().iter().position(|line| line.contains('╭'));
    let before = corner(&app);
    // What is requested waits for a pause: each letter cancels it.
    app.type_text("other.r").settle().await;
    let raw = blob("src/other.rs");
    assert!(app.waiting().contains(&raw), "{:?}", app.waiting());
    app.press("s");
    let is_raw = |task: &TaskKey| matches!(task, TaskKey::Load(request, _) if request.line() == raw);
    assert!(app.canceled().iter().any(is_raw), "{:?}", app.canceled());
    app.press("C-u").type_text("main.rs");
    app.settle().await;
    app.expect("println!").expect("Rust").expect("src/main.rs");
    assert_eq!(corner(&app), before, "the list does not move");
    // A list has the description already.
    app.press("C-u").type_text("Draw main").settle().await;
    app.expect("Draws faster now.").expect_no("println!");
    assert!(app.asked.iter().all(|line| !line.contains("/merge_requests/42")), "{:?}", app.asked);
    app.press("C-u").type_text("#7").settle().await;
    app.expect("Too slow.");
    assert_eq!(corner(&app), before);
    // A place without a preview leaves the room empty.
    app.press("C-u").type_text("acme/rocket branches").settle().await;
    app.expect_no("Too slow.");
    assert_eq!(corner(&app), before);
    app.press("C-u").type_text("main.rs").settle().await;
    app.press("Enter");
    assert_eq!(app.app.place().path.as_deref(), Some("src/main.rs"));
    // There is no room on a narrow screen.
    let mut app = open(119);
    app.settle().await.press("C-p").type_text("main.rs").settle().await;
    app.expect("src/main.rs").expect_no("println!");
    assert!(app.asked.iter().all(|line| *line != blob("src/main.rs")), "{:?}", app.asked);
    for (width, height) in [(120, 6), (120, 10), (20, 6), (300, 90)] {
        app.resize(width, height);
    }
}

#[tokio::test]
async fn the_functions_of_the_file_are_listed_after_an_at_sign() {
    let mut app = files(at().path("src/main.rs"), 140, 30);
    let source = "struct Row;\n\nimpl Row {\n    fn draw(&self) {}\n}\n\nfn main() {\n    draw();\n}\n";
    app.reply_raw(&blob("src/main.rs"), source).settle().await;
    app.press("C-p").type_text("@").settle().await;
    let lines = app.lines();
    let row = |words: &str| lines.iter().position(|line| line.contains(words));
    assert!(
        row("@Row · struct Row;") < row("@draw · fn draw") && row("@draw") < row("@main · fn main"),
        "{}",
        app.picture()
    );
    app.type_text("dr").settle().await;
    app.expect("@draw").expect_no("@main").press("Enter").settle().await;
    assert_eq!((app.app.place().path.as_deref(), app.app.place().line), (Some("src/main.rs"), Some(4)));
    // Elsewhere, only people are listed.
    app.press("g p").settle().await;
    app.press("C-p").type_text("@").settle().await;
    app.expect_no("@draw");
}

#[tokio::test]
async fn marked_lines_lead_to_their_history() {
    let mut app = files(at().path("src/main.rs").line(2), 120, 30);
    app.settle().await.press("V j").press("K");
    let place = app.app.place();
    assert_eq!((place.pane.as_str(), place.path.as_deref()), ("commits", Some("src/main.rs")));
    assert_eq!(place.query.as_deref(), Some("lines:2-3"));
    assert_eq!(place.git_ref.map(|at| at.as_str().to_owned()), Some("aaaaaaaa".repeat(5)));
}

#[tokio::test]
async fn a_preview_that_cannot_be_read_says_so() {
    let mut app = files(at(), 140, 30);
    app.fail("GET /projects/acme%2Frocket/merge_requests/43", 403, "403 Forbidden");
    app.settle().await.press("C-p").type_text("!43").settle().await;
    app.expect("403 Forbidden").press("Enter");
    assert_eq!(app.app.place().item.as_deref(), Some("43"));
}

#[tokio::test]
async fn a_key_searches_the_code_for_the_word_under_the_cursor() {
    let mut app = files(at().path("src/main.rs").line(2), 120, 30);
    app.settle().await.press("* *").settle().await.press("g *");
    let place = app.app.place();
    assert_eq!((place.pane.as_str(), place.item.as_deref()), ("search", Some("main")));
    // Of marked lines, each word is offered once.
    let mut app = files(at().path("src/main.rs").line(1), 120, 30);
    app.settle().await.press("V j").press("g *").expect("Search code for");
    let words = app.lines().join(" ").matches("  main ").count();
    assert_eq!(words, 1, "{}", app.picture());
}

#[tokio::test]
async fn a_known_item_that_is_typed_exactly_is_listed_once_with_its_title() {
    let mut app = Begin::at(Place::new("mr").project("acme/rocket").item("42")).size(100, 24).open();
    let known = json!({"id": 9, "iid": 42, "project_id": 7, "title": "Draw rows", "state": "opened"});
    app.reply("GET /user", user(1, "ada"));
    app.reply("GET /projects/acme%2Frocket/merge_requests/42", known).settle().await;
    app.reply("GET /projects", json!([{"id": 7, "path_with_namespace": "acme/rocket"}]));
    app.press("C-p").settle().await;
    app.type_text("!42").expect("acme/rocket!42  Draw rows").expect_no("Merge request");
}

/// The first lines of a large file are shown before the others have arrived.
#[tokio::test]
async fn a_large_file_is_shown_as_it_arrives() {
    let line = |n: usize| format!("let line_{n} = {n};\n");
    let text = |lines: std::ops::RangeInclusive<usize>| lines.map(line).collect::<String>();
    let whole = text(1..=5000);
    let mut app = Begin::at(at().path("src/large.rs").line(900)).size(120, 30).open();
    app.reply("GET /user", user(1, "ada"))
        .reply(
            "GET /projects/acme%2Frocket",
            json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false}),
        )
        .reply("GET /projects/acme%2Frocket/repository/commits/main", commit("aaaaaaaa", "Draw rows", 14))
        .reply(TREE, json!([folder("src")]))
        .reply(&format!("{TREE}?path=src"), json!([file("src/large.rs")]))
        .settle()
        .await;
    app.expect_no("let line_1 = 1;");
    // The part ends in a line, and in a character.
    let size = whole.len() as u64;
    let part = [text(1..=400).as_bytes(), b"let caf\xc3"].concat();
    app.reply_partly(&blob("src/large.rs"), part, size).settle().await;
    app.expect("let line_1 = 1;").expect("400 lines").expect(&format!(" kB of {:.1} kB", size as f64 / 1000.0));
    app.expect_no("caf");
    app.press("G").settle().await;
    app.expect("let line_400 = 400;").press("/").type_text("line_777 ").press("Enter").settle().await;
    app.reply_partly(&blob("src/large.rs"), text(1..=1000), size).settle().await;
    app.expect("1,000 lines");
    // The connection breaks: what has arrived stays.
    app.unreachable(&blob("src/large.rs")).settle().await;
    app.expect("1,000 lines").expect("connection refused by demo.test").press("r");
    app.reply_raw(&blob("src/large.rs"), whole).settle().await;
    app.expect("5,000 lines").expect_no(" kB of ");
}

/// A file that is not text is shown once all of it is there: until then, a bar shows how much that is.
#[tokio::test]
async fn a_large_image_shows_a_bar_while_it_arrives() {
    let mut app = Begin::at(at().path("src/large.png")).size(120, 30).open();
    app.reply("GET /user", user(1, "ada"))
        .reply(
            "GET /projects/acme%2Frocket",
            json!({"id": 7, "path_with_namespace": "acme/rocket", "default_branch": "main", "empty_repo": false}),
        )
        .reply("GET /projects/acme%2Frocket/repository/commits/main", commit("aaaaaaaa", "Draw rows", 14))
        .reply(TREE, json!([folder("src")]))
        .reply(&format!("{TREE}?path=src"), json!([file("src/large.png")]))
        .settle()
        .await;
    // The signature and the first chunk of PNG.
    let part = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[b'\n'; 250_000]].concat();
    app.reply_partly(&blob("src/large.png"), part, 1_000_000).settle().await;
    app.expect(" 25% ").expect("250.0 kB of 1.0 MB");
}
