//! A merge request: overview, notes, and changes.

use crate::fixtures::{With, merge_request, note, pipeline, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

const MR: &str = "GET /projects/acme%2Frocket-ui/merge_requests/42";

fn system(id: u64, body: &str) -> Value {
    note(id, "bo", body).with(json!({"system": true}))
}

fn notes() -> Vec<Value> {
    let position = json!({"new_path": "src/table.rs", "new_line": 2, "position_type": "text"});
    let placed = note(503, "bo", "Does this hold when the window is **empty**?");
    let placed = placed.with(json!({"type": "DiffNote", "position": position}));
    vec![
        note(501, "ada", "First of all:\n\n- one\n- two"),
        system(502, "added 2 commits"),
        placed,
        note(504, "ada", "Yes."),
    ]
}

fn diff() -> Value {
    let diff = "@@ -1,3 +1,3 @@ fn rows\n fn a() {}\n-let old = 1;\n+let new = 2;\n fn b() {}\n";
    let mut files = vec![
        json!({"old_path": "src/table.rs", "new_path": "src/table.rs", "diff": diff}),
        json!({"old_path": "a.txt", "new_path": "b.txt", "diff": "", "renamed_file": true}),
        json!({"old_path": "logo.png", "new_path": "logo.png", "diff": "", "new_file": true}),
        json!({"old_path": "big.rs", "new_path": "big.rs", "diff": "", "too_large": true}),
        json!({"old_path": "gone.rs", "new_path": "gone.rs", "diff": "@@ -1 +0,0 @@\n-mod gone;\n", "deleted_file": true}),
    ];
    files.extend((0..3).map(|n| {
        let path = format!("src/deep/folder/file{n}.rs");
        let diff = format!("@@ -10,2 +10,3 @@\n context\n+added {n}\n more\n");
        json!({"old_path": path, "new_path": path, "diff": diff})
    }));
    json!(files)
}

async fn open_at(place: Place, width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(place).size(width, height).open();
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({
        "changes_count": "8", "milestone": {"id": 1, "iid": 1, "title": "Version 1"},
        "head_pipeline": {"id": 318, "sha": "9f3c2abd", "ref": "feature/42", "status": "failed"},
    }));
    let changed = whole.clone().with(json!({"changes": diff()}));
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, whole)
        .reply(&format!("{MR}/changes"), changed)
        .reply(&format!("{MR}/notes"), notes())
        .reply(
            &format!("{MR}/commits"),
            [json!({"id": "9f3c2abd0011", "short_id": "9f3c2abd", "title": "Draw rows in sight", "author_name": "Bo",
                "created_at": "2026-06-14T12:00:00Z"})],
        )
        .reply(
            &format!("{MR}/pipelines"),
            [json!({"id": 318, "sha": "9f3c2abd0011", "ref": "feature/42", "status": "failed"})],
        )
        .reply(
            "GET /projects/acme%2Frocket-ui/pipelines/318/jobs?include_retried=true",
            [
                json!({"id": 2, "name": "screens", "status": "failed"}),
                json!({"id": 1, "name": "unit", "status": "success"}),
            ],
        );
    harness.settle().await;
    if harness.app.place().tab.as_deref() == Some("changes") {
        // In the list of files, on the first one.
        harness.press("g g Tab").settle().await;
    }
    harness
}

#[tokio::test]
async fn a_small_screen_shows_the_description_in_its_first_rows() {
    for title in ["Short", &"A title of several words that is too long for one line. ".repeat(4)] {
        let mut harness = Begin::at(place()).size(80, 24).open();
        let whole = merge_request(42, title.trim(), "opened").with(json!({
            "description": "This is why.", "labels": ["ui", "speed"], "source_branch": "feature/with-a-long-name-of-a-branch",
            "head_pipeline": {"id": 318, "sha": "9f3c2abd", "ref": "feature/42", "status": "failed"},
            "detailed_merge_status": "ci_must_pass",
        }));
        harness.reply("GET /user", user(1, "ada")).reply(MR, whole).settle().await;
        let row = |words: &str| harness.lines().iter().position(|line| line.contains(words));
        assert!(row("This is why.").is_some_and(|row| row < 8), "{}", harness.picture());
        assert!(row("Labels") > row("This is why."), "{}", harness.picture());
        let cut = harness.lines().iter().take(7).any(|line| line.contains('…') && line.contains("title"));
        assert!(title == "Short" || !cut || row("for one line. A title") < row("This"), "{}", harness.picture());
    }
}

fn place() -> Place {
    Place::new("mr").project("acme/rocket-ui").item(42)
}

async fn open() -> Harness {
    open_at(place(), 100, 45).await
}

/// Highlighting can take long, and text never waits for it.
#[tokio::test]
async fn text_is_there_before_the_colors_of_its_code() {
    let text = "Try this:\n\n```rust\nfn main() {}\n```\n";
    let merge_request = merge_request(42, "Draw only visible rows", "opened").with(json!({"description": text}));
    let place = Place::new("mr").project("acme/rocket-ui").item(42);
    let mut harness = Begin::at(place).size(120, 44).open();
    harness.previews_only = true;
    harness.reply(MR, merge_request).settle().await;
    harness.expect("Try this:").expect("fn main() {}");
    let plain = harness.style_of("fn main");
    harness.previews_only = false;
    harness.settle().await;
    harness.expect("fn main() {}");
    assert_ne!(harness.style_of("fn"), plain);
}

#[tokio::test]
async fn the_overview_shows_the_merge_request_and_its_notes() {
    let mut harness = open().await;
    for words in [
        "Draw only visible rows",
        "⊙ open  feature/42 → main",
        "opened 2d ago",
        "ui  speed",
        "Version 1",
        "Merge checks ✓ Can be merged",
        "✗ failed  #318  ✓ unit  ✗ screens",
        "Why Draw only visible rows matters.",
        "3 comments",
        "ada · 2h",
        "· bo added 2 commits · 2h",
        "src/table.rs:2",
        "Commits 1",
        "Changes 8",
    ] {
        harness.expect(words);
    }
    insta::assert_snapshot!("mr_overview_100x45", harness.picture());
    harness.resize(80, 24).settle().await;
    insta::assert_snapshot!("mr_overview_80x24", harness.picture());
}

#[tokio::test]
async fn a_wide_screen_shows_details_beside_the_notes() {
    let mut harness = open_at(place(), 160, 45).await;
    assert!(harness.line_with("⊙ open  feature/42 → main").contains("│  Details ─"), "{}", harness.picture());
    harness.expect("Pipeline     ✗ failed  #318").expect("✗ screens").expect("✓ unit");
    insta::assert_snapshot!("mr_overview_160x45", harness.picture());
    for (width, height) in [(150, 5), (151, 2), (149, 20), (220, 60)] {
        harness.resize(width, height).settle().await;
        harness.press("j k ] [");
    }
}

#[tokio::test]
async fn polling_the_pipeline_does_not_disturb_the_description() {
    let mut harness = Begin::at(place()).size(100, 40).open();
    let mut whole = merge_request(42, "Draw only visible rows", "opened");
    whole["description"] = json!("one\n\ntwo\n\nthree\n\nfour\n\nfive");
    whole["head_pipeline"] = json!({"id": 318, "sha": "9f3c2abd", "ref": "feature/42", "status": "running"});
    harness.reply(MR, whole).reply(&format!("{MR}/notes"), notes()).settle().await;
    let mut steps = 0;
    while !harness.line_with("four").starts_with('▌') && steps < 30 {
        harness.press("j");
        steps += 1;
    }
    let asked = harness.asked.len();
    harness.pass(6).settle().await;
    assert!(
        harness.asked[asked..].iter().any(|line| line.starts_with(&format!("{MR}?"))),
        "it is not polled: {:?}",
        harness.asked
    );
    assert!(harness.line_with("four").starts_with('▌'), "{}", harness.picture());
}

#[tokio::test]
async fn a_note_can_be_written_and_sent() {
    let mut harness = open().await;
    harness.press("c").type_text("It does.").expect("It does.");
    let kept = harness.kept.iter().find(|(key, _)| key.starts_with("@ada draft acme/rocket-ui!42 "));
    let kept = kept.expect("it is kept as it is typed").1;
    assert!(kept.contains("It does."), "{kept}");
    let post = "POST /projects/acme%2Frocket-ui/merge_requests/42/notes";
    // After a server error, the outbox checks a moment later whether the note arrived.
    harness.fail(post, 500, "out of ink").press("C-s").settle().await;
    harness.expect("waiting to be sent").pass(4).settle().await;
    harness.expect("Not sent.").expect("out of ink").expect("It does.");
    let mut all = notes();
    all.push(note(505, "ada", "It does."));
    harness.reply(post, note(505, "ada", "It does.")).reply(&format!("{MR}/notes"), all);
    harness.press("C-s").settle().await;
    harness.expect("Commented on !42").expect("It does.");
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
    // The view has moved to the new note, so that is what is copied.
    harness.press("y").press("Enter");
    assert_eq!(harness.copied(), ["It does."]);
}

#[tokio::test]
async fn reopening_the_composer_restores_the_draft() {
    let mut harness = open().await;
    harness.press("c").type_text("Half a thought").press("Esc").expect("✎ draft saved").expect_no("Comment on !42");
    harness.press("c").expect("Comment on !42").expect("Half a thought");
}

#[tokio::test]
async fn the_composer_has_a_preview() {
    let mut harness = open().await;
    harness.press("c").type_text("- **bold**").press("C-r").settle().await;
    harness.expect("preview").expect("• bold");
    harness.press("C-r").expect("- **bold**");
}

#[tokio::test]
async fn only_your_own_notes_can_be_edited_or_deleted() {
    let mut harness = open().await;
    harness.press("]").press("e").expect("Edit comment on !42").expect("First of all:").press("Esc");
    harness.press("D").expect("Delete your comment \"First of all:\"");
    harness.press("y").settle().await;
    let asked = "DELETE /projects/acme%2Frocket-ui/merge_requests/42/notes/501";
    assert!(harness.waiting().iter().any(|l| l == asked), "{:?}", harness.waiting());
    harness.press("] ]").press("D").expect("Somebody else wrote this comment");
}

#[tokio::test]
async fn the_key_that_edits_a_comment_edits_the_merge_request_elsewhere() {
    for keys in ["e", "E"] {
        open().await.press("g g").press(keys).expect("Edit !42");
    }
    let mut harness = open_at(place().tab("changes"), 140, 40).await;
    harness.press("e").expect("Select a comment first");
}

#[tokio::test]
async fn a_reply_quotes_the_selected_note() {
    let mut harness = open().await;
    harness.press("] ] ]").press("R");
    harness.expect("> Does this hold when the window is **empty**?").expect("@bo");
}

#[tokio::test]
async fn a_note_on_a_line_opens_the_line() {
    let mut harness = open().await;
    harness.press("] ] ]").press("Enter").settle().await;
    harness.press("y").type_text("line").press("Enter");
    assert_eq!(harness.copied(), ["let new = 2;"]);
}

#[tokio::test]
async fn changes_are_shown_beside_the_file_list() {
    let mut harness = open_at(place().tab("changes"), 140, 40).await;
    for words in [
        "Files 8",
        "+4 −2",
        "A logo.png",
        "R b.txt",
        "D gone.rs",
        "large",
        "no diff",
        "let new = 2;",
        "Too large: the server",
    ] {
        harness.expect(words);
    }
    insta::assert_snapshot!("mr_changes_140x40", harness.picture());
    harness.press("j").expect("a.txt → b.txt");
    harness.press("Enter").press("]").expect("3/8").press("[").expect("2/8").press("}").expect("5/8");
}

#[tokio::test]
async fn a_search_covers_all_files_and_counts_matches() {
    let mut harness = open_at(place().tab("changes"), 80, 24).await;
    harness.press("Tab").press("/").type_text("added").settle().await;
    harness.press("Enter").expect("/added 1/3").press("n").expect("/added 2/3").press("n").expect("/added 3/3");
    harness.press("n").expect("/added 1/3").press("N").expect("/added 3/3");
    harness.press("Esc").expect_no("/added");
}

#[tokio::test]
async fn a_search_in_vain_returns_the_cursor() {
    let mut harness = open_at(place().tab("changes"), 80, 24).await;
    harness.press("Tab");
    let before = harness.line_with("▌");
    harness.press("/").type_text("added").settle().await;
    assert_ne!(harness.line_with("▌"), before);
    harness.type_text("elsewhere").settle().await;
    harness.expect("/addedelsewhere not found");
    assert_eq!(harness.line_with("▌"), before);
}

#[tokio::test]
async fn a_job_that_may_fail_is_a_warning() {
    let mut harness = open().await;
    let job =
        |id: u64, may_fail: bool| json!({"id": id, "name": "screens", "status": "failed", "allow_failure": may_fail});
    for (may_fail, sign) in [(false, "✗ screens"), (true, "▲ screens")] {
        harness.reply("GET /projects/acme%2Frocket-ui/pipelines/318/jobs?include_retried=true", [job(2, may_fail)]);
        harness.pass(40).press("r").settle().await;
        harness.expect(sign);
    }
}

#[tokio::test]
async fn the_file_list_is_filtered_while_typing() {
    let mut harness = open_at(place().tab("changes"), 80, 24).await;
    harness
        .press("/")
        .type_text("deep")
        .press("Enter")
        .expect("Files 3/8 /deep")
        .expect("src/deep/folder")
        .expect("M file0.rs");
    harness.press("Enter").settle().await;
    harness.expect("added 0").press("Esc").expect("Files 3/8").press("Esc").expect("Files 8");
}

#[tokio::test]
async fn hunks_are_highlighted_and_files_can_be_folded() {
    let mut harness = open_at(place().tab("changes"), 140, 40).await;
    let keyword = harness.style_of("let new");
    assert_ne!(keyword.fg, harness.style_of("new = 2").fg, "the keyword is not highlighted");
    harness.press("Tab").press("-").expect_no("let new = 2;").press("-").expect("let new = 2;");
}

#[tokio::test]
async fn the_commits_and_pipelines_tabs_show_their_lists() {
    let mut harness = open().await;
    harness.press("2").settle().await;
    harness.expect("9f3c2abd  Draw rows in sight").expect("Commits 1");
    harness.press("4").settle().await;
    harness.expect("#318").expect("failed");
}

#[tokio::test]
async fn a_missing_merge_request_opens_the_list_and_a_denied_one_is_reported() {
    let mut harness = Begin::at(place()).open();
    harness.fail(MR, 404, "404 Not found").settle().await;
    assert_eq!(harness.app.place().pane, "mrs");
    let mut harness = Begin::at(place()).open();
    harness.fail(MR, 403, "403 Forbidden").settle().await;
    harness.expect("Not allowed").expect("403 Forbidden");
}

#[tokio::test]
async fn two_thousand_notes_are_loaded_while_scrolling() {
    let mut harness = open().await;
    let many: Vec<Value> =
        (0..2000).map(|n| note(n + 1, "bo", &format!("Note number {n}\n\nwith two lines"))).collect();
    harness.reply(&format!("{MR}/notes"), many).press("r").settle().await;
    let pages = |harness: &Harness| harness.asked.iter().filter(|l| l.contains("/notes?")).count();
    assert!(pages(&harness) <= 3, "{:?}", harness.asked);
    for _ in 0..30 {
        harness.press("G").settle().await;
    }
    harness.expect("Note number 1999").expect("with two lines");
    harness.press("g g").settle().await;
    harness.expect("Note number 0");
}

#[tokio::test]
async fn marked_lines_are_highlighted_until_escape() {
    let mut harness = open_at(place().tab("changes"), 140, 40).await;
    harness.press("Tab");
    let plain = harness.style_of("let old").bg;
    harness.press("j").press("Space").press("j j");
    assert_ne!(harness.style_of("let old").bg, plain);
    harness.press("y").expect("marked lines").press("Enter");
    assert_eq!(harness.copied(), ["fn a() {}\nlet old = 1;\nlet new = 2;"]);
    harness.press("Esc");
    assert_eq!(harness.style_of("let old").bg, plain);
}

#[tokio::test]
async fn the_pipeline_of_a_fork_is_requested_from_the_fork_and_may_be_hidden() {
    let place = || Place::new("mr").project("acme/rocket-ui").item(42);
    let with_fork = |harness: &mut Harness| {
        let pipeline = pipeline(9, "x", "success").with(json!({"project_id": 99}));
        let of_fork = json!({"source_project_id": 99, "head_pipeline": pipeline});
        let whole = merge_request(42, "From a fork", "opened").with(of_fork);
        harness.reply(MR, whole).reply(&format!("{MR}/notes"), json!([]));
    };
    let mut harness = Begin::at(place()).size(120, 40).open();
    with_fork(&mut harness);
    harness.fail("GET /projects/99/pipelines/9/jobs?include_retried=true", 404, "404 Not found").settle().await;
    harness.expect("From a fork").expect_no("nearest existing place");
    let mut harness = Begin::at(place()).size(120, 40).open();
    with_fork(&mut harness);
    let jobs = json!([{"id": 1, "name": "compile", "stage": "build", "status": "success"}]);
    harness.reply("GET /projects/99/pipelines/9/jobs?include_retried=true", jobs).settle().await;
    harness.expect("compile").press("J");
    assert_eq!(harness.app.place(), Place::new("jobs").project("99").item(9));
}

#[tokio::test]
async fn the_pipeline_of_a_merge_request_is_named_by_its_number() {
    let mut harness = open_at(place().tab("pipelines"), 100, 30).await;
    let detached = json!({"id": 318, "sha": "9f3c2abd", "ref": "refs/merge-requests/42/head", "status": "failed"});
    harness.reply(&format!("{MR}/pipelines"), [detached]).pass(5).press("r").settle().await;
    let line = harness.line_with("#318");
    assert!(line.contains("failed") && line.contains(" !42 ") && line.contains("9f3c2abd"), "{}", harness.picture());
}

/// A proxy may end TLS in front of a server that names itself with `http://`.
#[tokio::test]
async fn the_address_of_a_page_begins_as_that_of_the_server() {
    let mut harness = open_at(place(), 100, 30).await;
    let other = "https://demo.test/acme/rocket-ui/-/merge_requests/42";
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"web_url": other}));
    harness.reply(MR, whole).pass(5).press("r").settle().await;
    harness.press("y").type_text("URL").press("Enter");
    assert_eq!(harness.copied(), ["http://demo.test/acme/rocket-ui/-/merge_requests/42"]);
}

#[tokio::test]
async fn a_pipeline_is_shown_as_a_board_and_its_jobs_open() {
    let mut harness = open_at(place().tab("pipelines"), 140, 30).await;
    let stages = [
        json!({"id": 2, "name": "screens", "stage": "test", "status": "failed"}),
        json!({"id": 1, "name": "compile", "stage": "build", "status": "success"}),
    ];
    harness
        .reply("GET /projects/acme%2Frocket-ui/pipelines/318/jobs?include_retried=true", stages)
        .press("r")
        .settle()
        .await;
    harness.expect("Pipeline 318").expect("build ─").expect("✓ compile").expect("✗ screens");
    harness.press("Tab l Enter");
    assert_eq!((harness.app.place().pane.as_str(), harness.app.place().item.as_deref()), ("job", Some("2")));
    harness.press("q").click_on("#318").press("Enter");
    assert_eq!((harness.app.place().pane.as_str(), harness.app.place().item.as_deref()), ("jobs", Some("318")));
    harness.press("q").double_click_on("compile");
    assert_eq!((harness.app.place().pane.as_str(), harness.app.place().item.as_deref()), ("job", Some("1")));
    harness.press("q").resize(80, 24).settle().await;
    harness.expect("compile").expect_no("#318").press("Esc").expect("#318").expect_no("compile");
    for (width, height) in [(20, 4), (99, 3), (220, 60)] {
        harness.resize(width, height).press("j k h l Tab j z z");
    }
}
