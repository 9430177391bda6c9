//! Reviews: comments on lines, drafts, threads, suggestions, and submitting.

use crate::fixtures::{With, changed_file, merge_request, note, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use serde_json::{Value, json};

const MR: &str = "GET /projects/acme%2Frocket-ui/merge_requests/42";
const POST: &str = "POST /projects/acme%2Frocket-ui/merge_requests/42/notes";
const HEAD: &str = "9f3c2abd00112233445566778899aabbccddeeff";
const BEFORE: &str = "1111111100112233445566778899aabbccddeeff";
const DIFF: &str = "@@ -1,4 +1,4 @@ fn rows\n fn a() {}\n-let old = 1;\n+let new = 2;\n fn b() {}\n fn c() {}\n";

fn placed(id: u64, author: &str, sha: &str, line: u32, quote: &str, words: &str) -> Value {
    note(id, author, &format!("`src/table.rs:{line}` at {sha}\n> ```\n> {quote}\n> ```\n\n{words}"))
}

/// Returns the changes of the merge request at a head, with one file.
fn changed_at(head: &str, diff: &str) -> Value {
    let files = [changed_file("src/table.rs", diff)];
    merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": head, "changes": files}))
}

async fn open_with(notes: Vec<Value>, place: Place, width: u16, height: u16) -> Harness {
    let mut harness = Begin::at(place).size(width, height).open();
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": HEAD}));
    let files = [changed_file("src/table.rs", DIFF), changed_file("src/other.rs", "@@ -1 +1 @@\n-a\n+b\n")];
    let changed = whole.clone().with(json!({"changes": files}));
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, whole)
        .reply(&format!("{MR}/changes"), changed)
        .reply(&format!("{MR}/participants"), [json!({"id": 3, "username": "cem", "name": "Cem Kaya"})])
        .reply("GET /projects/acme%2Frocket-ui/users", [json!({"id": 2, "username": "bo", "name": "Bo Lind"})])
        .reply(&format!("{MR}/commits"), json!([]))
        .reply(&format!("{MR}/pipelines"), json!([]))
        .reply(&format!("{MR}/versions"), json!([]))
        .reply(&format!("{MR}/approvals"), json!({"approved_by": []}))
        .reply(&format!("{MR}/notes"), notes);
    harness.settle().await;
    if harness.app.place().tab.as_deref() == Some("changes") {
        // In the list of files, on the first one.
        harness.press("g g Tab").settle().await;
    }
    harness
}

fn place() -> Place {
    Place::new("mr").project("acme/rocket-ui").item(42)
}

async fn changes(notes: Vec<Value>) -> Harness {
    let mut harness = open_with(notes, place().tab("changes"), 120, 40).await;
    harness.press("Tab").settle().await;
    harness
}

/// Moves the cursor of the diff to a visible line.
fn to_line(harness: &mut Harness, words: &str) {
    harness.press("g g");
    for _ in 0..40 {
        let here = harness.lines().iter().any(|line| line.contains('▌') && line.contains(words));
        if here {
            return;
        }
        harness.press("j");
    }
    panic!("no way to {words:?} on\n{}", harness.picture());
}

fn posts(harness: &Harness) -> Vec<&String> {
    harness.asked.iter().filter(|line| line.starts_with("POST")).collect()
}

#[tokio::test]
async fn a_comment_on_a_line_names_the_line_and_is_shown_below_it() {
    let mut harness = changes(vec![]).await;
    to_line(&mut harness, "let new = 2;");
    harness.press("c").expect("Comment on src/table.rs:2").expect("│ let new = 2;").type_text("Why two?");
    let body = format!("`src/table.rs:2` at {HEAD}\n> ```\n> let new = 2;\n> ```\n\nWhy two?");
    harness.reply(POST, note(601, "ada", &body)).press("C-s");
    harness.reply(&format!("{MR}/notes"), [note(601, "ada", &body)]).settle().await;
    assert_eq!(posts(&harness), [&format!("{POST} body={body}")]);
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
    let lines = harness.lines();
    let at = lines.iter().position(|line| line.contains("+ let new = 2;")).expect("the line");
    assert!(lines[at + 1].contains("┌ 1 comment"), "{}", harness.picture());
    assert!(lines[at + 2].contains("│ ada · 2h   Why two?"), "{}", harness.picture());
}

#[tokio::test]
async fn the_code_is_searched_for_a_word_of_the_line_in_the_diff() {
    let mut harness = changes(vec![]).await;
    to_line(&mut harness, "let new = 2;");
    harness.press("g *").expect("Search code for").type_text("new").press("Enter").settle().await;
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.item.as_deref()), ("search", Some("new")));
    // What was searched for is the word that is meant.
    let mut harness = changes(vec![]).await;
    harness.press("/").type_text("new").press("Enter").settle().await;
    harness.press("g *").settle().await;
    assert_eq!(harness.app.place().item.as_deref(), Some("new"));
    // The heading of a file has no word.
    let mut harness = changes(vec![]).await;
    harness.press("g g").press("g *").expect("There is no word under the cursor");
}

#[tokio::test]
async fn threads_are_in_the_diff_and_the_overview_and_outdated_ones_fold() {
    let notes = vec![
        placed(501, "bo", BEFORE, 3, "fn b() {}", "Moved, and found again."),
        placed(502, "bo", BEFORE, 9, "fn gone() {}", "Of a line that is gone."),
        note(503, "ada", &format!("`src/table.rs:3` at {BEFORE}\n\nAn answer.")),
    ];
    let mut harness = changes(notes).await;
    let lines = harness.lines();
    let at = lines.iter().position(|line| line.contains("fn b() {}")).expect("the line");
    assert!(lines[at + 2].contains("bo · 2h"), "{}", harness.picture());
    harness.expect("Moved, and found again.").expect("An answer.");
    insta::assert_snapshot!("review_threads_120x40", harness.picture());
    harness.press("1").settle().await;
    harness.expect("src/table.rs:3 · at 11111111").expect("│   3   fn b() {}").expect("↳ ada");
}

#[tokio::test]
async fn a_comment_is_placed_by_its_quote_not_by_its_line_number() {
    let harness = changes(vec![placed(501, "bo", BEFORE, 1, "fn c() {}", "It was the first line then.")]).await;
    let lines = harness.lines();
    let at = lines.iter().position(|line| line.contains("fn c() {}")).expect("the line");
    assert!(lines[at + 2].contains("│ bo"), "the comment is at another line:\n{}", harness.picture());
}

#[tokio::test]
async fn an_outdated_thread_is_one_line_that_can_be_expanded() {
    let notes = vec![placed(502, "bo", BEFORE, 3, "fn gone() {}", "Of a line that is gone.\n\nMore of it.")];
    let mut harness = changes(notes).await;
    harness.expect("▸ thread · src/table.rs:3 · outdated, at 11111111 · bo: Of a line").expect_no("More of it.");
    // The first row is the heading of the file.
    harness.press("g g").press("j").press("Enter").settle().await;
    harness.expect("More of it.").expect("│   3   fn gone() {}").press("Enter").settle().await;
    harness.expect_no("More of it.");
}

#[tokio::test]
async fn drafts_of_a_review_are_kept_and_submitted_together() {
    let mut harness = changes(vec![]).await;
    to_line(&mut harness, "let new = 2;");
    harness.press("c").type_text("First.").press("M-s").expect("Added to your review.").settle().await;
    harness.expect("✎ draft (unsent)").expect("│ First.");
    to_line(&mut harness, "fn b() {}");
    harness
        .press("c")
        .expect("C-s post now")
        .expect("M-s add to review")
        .type_text("Second.")
        .press("M-s")
        .settle()
        .await;
    harness.press("C").type_text("Of the whole.").press("M-s").settle().await;
    assert!(posts(&harness).is_empty());
    harness.press("K").expect("Drafts on acme/rocket-ui!42 · 3").expect("src/table.rs:2").expect("Of the whole.");
    harness.press("D").expect("Delete the draft \"First.\"").press("y").settle().await;
    harness.expect_no("First.").expect("· 2");
    harness.press("Esc").reply(POST, note(700, "ada", "")).press("S").press("C-s").settle().await;
    assert_eq!(posts(&harness).len(), 2, "{:?}", harness.asked);
    harness.expect("Sent 2 comments").expect_no("Drafts on");
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn the_keys_of_the_composer_are_whole_on_every_screen() {
    for width in [80, 90, 100, 120, 160] {
        let mut harness = open_with(vec![], place().tab("changes"), width, 24).await;
        harness.press("C").expect("C-s post now");
        let line = harness.line_with("C-s post now");
        let keys = line.split('│').find(|part| part.contains("C-s")).unwrap_or_default();
        assert!(keys.contains("Esc save draft") && !keys.contains('…'), "{width}: {line}");
    }
}

#[tokio::test]
async fn one_key_always_posts_now_and_another_adds_to_the_review() {
    let mut harness = changes(vec![]).await;
    harness.reply(POST, note(700, "ada", ""));
    for words in ["First.", "Second."] {
        // The first round without an open review, the second with one.
        harness.press("C").expect("C-s post now").expect("M-s add to review").type_text("Now. ").type_text(words);
        harness.press("C-s").settle().await;
        harness.press("C").type_text("Later. ").type_text(words).press("M-s").expect("Added to your review.");
    }
    let sent: Vec<String> = posts(&harness).into_iter().cloned().collect();
    assert_eq!(sent, [format!("{POST} body=Now. First."), format!("{POST} body=Now. Second.")]);
    // A draft of the review can be posted before the others.
    harness.press("K").expect("· 2").press("Enter").expect("Later. First.").press("C-s").settle().await;
    assert_eq!(posts(&harness).last(), Some(&&format!("{POST} body=Later. First.")));
    harness.expect("Later. Second.");
}

#[tokio::test]
async fn refused_comments_keep_the_reason_and_uncertain_ones_are_looked_up() {
    let mut harness = changes(vec![]).await;
    harness.press("C").type_text("It does.").fail(POST, 422, "too polite").press("C-s").settle().await;
    harness.expect("Not sent.").expect("too polite").expect("It does.");
    harness.press("Esc").press("K").expect("not sent: Rejected by the server").press("Esc");
    // The connection breaks after the server accepted the note.
    harness.unreachable(POST).press("C").expect("It does.").press("C-s").settle().await;
    harness.reply(&format!("{MR}/notes"), [note(650, "ada", "It does.")]).pass(4).settle().await;
    assert_eq!(posts(&harness).len(), 2);
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
    harness.expect("Commented on !42").expect_no("Comment on !42");
}

#[tokio::test]
async fn drafts_are_kept_without_permission_to_comment() {
    let mut harness = changes(vec![]).await;
    harness.fail(POST, 403, "403 Forbidden");
    for words in ["one", "two", "three"] {
        harness.press("C").type_text(words).press("M-s").settle().await;
    }
    harness.press("S").press("C-s").settle().await;
    assert_eq!(posts(&harness).len(), 1);
    assert_eq!(harness.kept.keys().filter(|key| key.contains("draft")).count(), 3, "{:?}", harness.kept);
    harness.expect("not sent: Not allowed: 403 Forbidden");
}

#[tokio::test]
async fn drafts_move_with_their_lines_after_a_push() {
    let mut harness = changes(vec![]).await;
    to_line(&mut harness, "let new = 2;");
    harness.press("c").type_text("Stays with it.").press("M-s").settle().await;
    to_line(&mut harness, "fn c() {}");
    harness.press("c").type_text("Loses its line.").press("M-s").settle().await;
    let diff = "@@ -1,3 +1,4 @@ fn rows\n fn a() {}\n-let old = 1;\n+// said why\n+let new = 2;\n fn b() {}\n";
    harness.reply(&format!("{MR}/changes"), changed_at(BEFORE, diff)).pass(1).press("r").settle().await;
    harness.expect("1 draft moved with their lines").expect("src/table.rs:4 no longer exists");
    let kept = harness.kept.values().find(|kept| kept.contains("Stays with it.")).expect("kept");
    assert!(kept.contains(BEFORE) && kept.contains("\"lines\":[3,3]"), "{kept}");
}

#[tokio::test]
async fn a_suggestion_starts_from_marked_lines_and_is_applied_as_a_commit() {
    let body = format!("`src/table.rs:2` at {HEAD}\n> ```\n> let new = 2;\n> ```\n\n```suggestion\nlet new = 3;\n```");
    let mut harness = changes(vec![note(501, "bo", &body)]).await;
    to_line(&mut harness, "fn b() {}");
    harness.press("Space j").press("i").expect("```suggestion:-1+0").expect("fn c() {}").press("Esc");
    to_line(&mut harness, "bo · 2h");
    let tree = [json!({"id": "aaaa", "name": "table.rs", "type": "blob", "path": "src/table.rs", "mode": "100644"})];
    harness
        .reply("GET /projects/acme%2Frocket-ui/repository/tree", tree)
        .reply("GET /projects/acme%2Frocket-ui/repository/commits", [json!({"id": HEAD, "title": "x"})])
        .reply_raw("GET /projects/acme%2Frocket-ui/repository/blobs/aaaa/raw", "fn a() {}\nlet new = 2;\nfn b() {}\n");
    harness.press("Y").settle().await;
    harness.expect("Commit to feature/42").expect("- let new = 2;").expect("+ let new = 3;").expect("y commit");
    let commit = "POST /projects/acme%2Frocket-ui/repository/commits";
    harness.fail(commit, 400, "You are attempting to update a file that has changed since you started editing it.");
    harness.press("y").settle().await;
    harness.expect("feature/42 has moved or rejects the commit");
}

#[tokio::test]
async fn names_and_emoji_are_completed_while_typing() {
    let mut harness = changes(vec![]).await;
    harness.press("C").type_text("Ask @").settle().await;
    harness.expect("@bo ").expect("Bo Lind").expect("Cem Kaya");
    harness.type_text("c").settle().await;
    harness.expect_no("Bo Lind").press("Tab").expect("Ask @cem");
    harness.type_text(":tad").settle().await;
    harness.expect(":tada:").press("Enter").expect("Ask @cem :tada:");
    harness.press("Esc").press("C").expect("Ask @cem :tada:");
}

#[tokio::test]
async fn consecutive_system_notes_are_one_line_that_can_be_expanded() {
    let system = |id: u64, body: &str| {
        let mut note = note(id, "bo", body);
        note["system"] = json!(true);
        note
    };
    let notes = vec![system(1, "added 2 commits"), system(2, "changed the title"), note(3, "ada", "Well.")];
    let mut harness = open_with(notes, place(), 100, 40).await;
    harness.expect("▸ 2 events: bo added 2 commits, bo changed the title · 2h").expect("cem");
    to_line(&mut harness, "2 events");
    harness.press("Enter").expect("· bo added 2 commits").expect("· bo changed the title");
    harness.press("Enter").expect("2 events");
}

#[tokio::test]
async fn hostile_notes_are_sanitized() {
    let evil = "\u{1b}[31mred\u{202e}txt\u{7}";
    let notes = vec![
        placed(501, evil, HEAD, 2, "let new = 2;", evil),
        note(502, "bo", &format!("`{evil}:1` at {HEAD}\n\n{evil}")),
        note(503, "bo", &"`".repeat(3000)),
        note(504, "bo", &format!("`a:99999999999` at {HEAD}")),
    ];
    let mut harness = changes(notes).await;
    harness.expect("red");
    harness.press("1").settle().await;
    let clean = |harness: &Harness| {
        let screen = harness.picture();
        assert!(!screen.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{screen}");
    };
    clean(&harness);
    to_line(&mut harness, "src/table.rs:2");
    harness.press("R").expect("> ").expect("Comment on src/table.rs:2");
    clean(&harness);
}

#[tokio::test]
async fn comments_of_a_commit_are_shown_at_their_lines() {
    let commit = format!("GET /projects/acme%2Frocket-ui/repository/commits/{HEAD}");
    let mut harness = Begin::at(Place::new("commit").project("acme/rocket-ui").item(HEAD)).size(120, 40).open();
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(&commit, json!({"id": HEAD, "short_id": "9f3c2abd", "title": "Rows", "author_name": "Bo"}))
        .reply(&format!("{commit}/diff"), [json!({"old_path": "a.rs", "new_path": "a.rs", "diff": DIFF})])
        .reply(
            &format!("{commit}/comments"),
            [json!({"note": "Good.", "author": {"id": 2, "username": "bo"}, "path": "a.rs", "line": 2, "line_type": "new"})],
        );
    harness.settle().await;
    harness.expect("│ bo   Good.");
    to_line(&mut harness, "let new = 2;");
    let post = format!("POST /projects/acme%2Frocket-ui/repository/commits/{HEAD}/comments");
    harness.reply(&post, json!({"note": "Yes."})).press("c").type_text("Yes.").press("C-s").settle().await;
    let fields = "line=2 line_type=new note=Yes. path=a.rs";
    assert_eq!(posts(&harness), [&format!("{post} {fields}")]);
}

#[tokio::test]
async fn a_failing_disk_is_reported_and_quitting_asks_first() {
    let mut harness = changes(vec![]).await;
    harness.press("C").type_text("words");
    harness.send(Msg::DiskStatus(Err("no space left on device".into())));
    harness.expect("only in memory").expect("no space left").expect("words").press("Esc");
    harness
        .expect("The draft could not be written to disk and is only in memory: no space left")
        .expect_no("Draft saved");
    harness.press("C").press("Esc").expect_no("Draft saved").expect_no("draft saved");
    for _ in 0..2 {
        harness.press("Q").expect("no space left on device. Quit and lose").press("n");
        assert!(!harness.app.is_quitting());
    }
    harness.send(Msg::DiskStatus(Ok(())));
    harness.expect("saved to disk again").press("Q");
    assert!(harness.app.is_quitting());
}

#[tokio::test]
async fn accounts_never_see_each_others_drafts() {
    let draft = |words: &str| {
        let on = json!({"merge_request": {"project": "acme/rocket-ui", "iid": 42}});
        json!({"on": on, "text": words, "state": "kept"}).to_string()
    };
    let mut begin = Begin::at(place()).size(100, 40);
    begin.drafts.insert("@ada draft acme/rocket-ui!42 1".into(), draft("of ada"));
    begin.drafts.insert("@bo draft acme/rocket-ui!42 1".into(), draft("of bo"));
    let mut harness = begin.open();
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, merge_request(42, "Rows", "opened"))
        .reply(&format!("{MR}/notes"), json!([]))
        .settle()
        .await;
    harness.press("G").expect("of ada").expect_no("of bo");
}

#[tokio::test]
async fn drafts_of_the_last_account_are_shown_before_the_user_is_known() {
    let draft = |words: &str| {
        let on = json!({"merge_request": {"project": "acme/rocket-ui", "iid": 42}});
        json!({"on": on, "text": words, "state": "kept"}).to_string()
    };
    let mut begin = Begin::at(place()).size(100, 40);
    begin.drafts.insert("@ada draft acme/rocket-ui!42 1".into(), draft("of ada"));
    begin.drafts.insert("@bo draft acme/rocket-ui!42 1".into(), draft("of bo"));
    begin.account = "ada".into();
    let mut harness = begin.open();
    harness.reply(MR, merge_request(42, "Rows", "opened")).reply(&format!("{MR}/notes"), json!([])).settle().await;
    harness.press("G").expect("of ada").expect_no("of bo");
    // Another user is signed in now: ada's drafts disappear from the screen, but stay on disk.
    harness.reply("GET /user", user(2, "bo")).settle().await;
    harness.press("G").expect("of bo").expect_no("of ada");
}

/// Opens a merge request with two commits, the older of which wrote a different version of the file.
async fn with_commits() -> Harness {
    let mut harness = open_with(vec![], place().tab("changes"), 120, 40).await;
    let commit = |sha: &str, title: &str, parent: &str| json!({"id": sha, "short_id": &sha[..8], "title": title, "parent_ids": [parent]});
    let older = json!([{"old_path": "src/table.rs", "new_path": "src/table.rs",
        "diff": "@@ -1,2 +1,2 @@\n fn a() {}\n-let older = 0;\n+let old = 1;\n"}]);
    harness
        .reply(&format!("{MR}/commits"), [commit(HEAD, "Second", BEFORE), commit(BEFORE, "First", "ba5e")])
        .reply(&format!("GET /projects/acme%2Frocket-ui/repository/commits/{BEFORE}/diff"), older)
        .pass(40)
        .press("r Tab")
        .settle()
        .await;
    harness
}

#[tokio::test]
async fn a_comment_on_one_commit_refers_to_that_commit() {
    let mut harness = with_commits().await;
    harness.press(")").settle().await;
    harness.expect("Commit 1 of 2");
    to_line(&mut harness, "let old = 1;");
    harness.reply(POST, note(700, "ada", "")).press("c").type_text("Which?").press("C-s").settle().await;
    let posts = posts(&harness);
    assert!(posts[0].contains(&format!("`src/table.rs:2` at {BEFORE}")), "{posts:?}");
    // A line that the commit removes has no line number in the full diff.
    to_line(&mut harness, "let older = 0;");
    harness.press("c").expect("to comment on removed lines");
}

#[tokio::test]
async fn a_thread_on_a_line_of_the_diff_is_not_outside_it_while_one_commit_is_shown() {
    let mut harness = with_commits().await;
    harness.reply(&format!("{MR}/notes"), [placed(501, "bo", HEAD, 2, "let new = 2;", "Why two?")]);
    harness.pass(40).press("r").settle().await;
    harness.expect("Why two?").expect_no("outside the diff");
    harness.press(")").settle().await;
    harness.expect("Commit 1 of 2").expect("Why two?").expect_no("outside the diff");
}

#[tokio::test]
async fn enter_on_a_commit_shows_its_message_and_its_changes_within_the_review() {
    let mut harness = open_with(vec![], place().tab("commits"), 120, 40).await;
    let commit = |sha: &str, title: &str, parent: &str| {
        let message = format!("{title}\n\nBecause of the {title} \u{1b}[31mreason.\n");
        json!({"id": sha, "short_id": &sha[..8], "title": title, "message": message, "parent_ids": [parent]})
    };
    let older = json!([{"old_path": "src/table.rs", "new_path": "src/table.rs",
        "diff": "@@ -1,2 +1,2 @@\n fn a() {}\n-let older = 0;\n+let old = 1;\n"}]);
    let diff = |sha: &str| format!("GET /projects/acme%2Frocket-ui/repository/commits/{sha}/diff");
    harness
        .reply(&format!("{MR}/commits"), [commit(HEAD, "Second", BEFORE), commit(BEFORE, "First", "ba5e")])
        .reply(&diff(BEFORE), older)
        .reply(&diff(HEAD), json!([changed_file("src/table.rs", DIFF)]))
        .pass(40)
        .press("r")
        .settle()
        .await;
    harness.press("j Enter").settle().await;
    harness.expect("Commit 1 of 2  11111111").expect("First").expect("Because of the First").expect("let older = 0;");
    assert_eq!(harness.app.place().pane, "mr");
    // A step, and back to all changes.
    harness.press(")").settle().await;
    harness.expect("Commit 2 of 2").expect("Because of the Second").expect_no("let older = 0;");
    harness.press("Tab Esc").settle().await;
    harness.expect_no("Commit 2 of 2").expect("let new = 2;").expect_no("Because of");
}

#[tokio::test]
async fn viewing_a_single_commit_does_not_move_drafts() {
    let mut harness = with_commits().await;
    to_line(&mut harness, "let new = 2;");
    harness.press("c").type_text("Of the head.").press("M-s").settle().await;
    let kept = harness.kept.clone();
    harness.press(")").settle().await;
    harness.expect("Commit 1 of 2").expect_no("moved with their lines");
    let drafts = |kept: &std::collections::HashMap<String, String>| {
        let mut drafts: Vec<_> =
            kept.iter().filter(|(key, _)| key.contains(" draft ")).map(|(_, v)| v.clone()).collect();
        drafts.sort();
        drafts
    };
    assert_eq!(drafts(&harness.kept), drafts(&kept));
}

#[tokio::test]
async fn a_push_during_the_review_is_noticed_automatically() {
    let mut harness = changes(vec![]).await;
    let asked = |harness: &Harness| harness.asked.iter().filter(|line| line.ends_with("/changes")).count();
    assert_eq!(asked(&harness), 1);
    harness.pass(31).settle().await;
    assert_eq!(asked(&harness), 1, "nothing was pushed");
    harness.reply(MR, merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": BEFORE})));
    let changed = changed_at(BEFORE, "@@ -1 +1 @@\n-a\n+pushed\n");
    harness.reply(&format!("{MR}/changes"), changed).pass(31).settle().await;
    assert_eq!(asked(&harness), 2);
    harness.expect("The branch has moved to 11111111").expect("pushed");
    harness.pass(31).settle().await;
    assert_eq!(asked(&harness), 2, "it is reloaded only once");
}

#[tokio::test]
async fn new_notes_appear_automatically() {
    let mut harness = open_with(vec![], place(), 120, 40).await;
    let counted =
        |notes: u64| merge_request(42, "Draw only visible rows", "opened").with(json!({"user_notes_count": notes}));
    harness.reply(MR, counted(0)).pass(31).settle().await;
    harness
        .reply(MR, counted(1))
        .reply(&format!("{MR}/notes"), [note(501, "bo", "Meanwhile.")])
        .pass(31)
        .settle()
        .await;
    harness.expect("Meanwhile.");
}

/// Opens the changes of one file with `diff`; the diff has the focus.
async fn changes_of(diff: &str) -> Harness {
    let mut harness = open_with(vec![], place().tab("changes"), 120, 40).await;
    harness.reply(&format!("{MR}/changes"), changed_at(HEAD, diff)).pass(5).press("r Tab").settle().await;
    harness
}

#[tokio::test]
async fn a_comment_can_cover_marked_lines_including_removed_ones() {
    let mut harness = changes_of("@@ -1,4 +1,2 @@\n fn a() {}\n-fn gone() {}\n-fn away() {}\n fn b() {}\n").await;
    to_line(&mut harness, "fn a() {}");
    harness.press("Space j j").press("c").expect("Comment on src/table.rs:1-3, removed lines");
    harness.expect("│ fn a() {}").expect("│ fn gone() {}").expect("│ fn away() {}").type_text("Why?");
    let body = format!(
        "`src/table.rs:1-3` (old) at {HEAD}\n> ```\n> fn a() {{}}\n> fn gone() {{}}\n> fn away() {{}}\n> ```\n\nWhy?"
    );
    harness.reply(POST, note(601, "ada", &body)).press("C-s");
    harness.reply(&format!("{MR}/notes"), [note(601, "ada", &body)]).settle().await;
    assert_eq!(posts(&harness), [&format!("{POST} body={body}")]);
    harness.expect("lines 1 to 3");
    // A suggestion can only replace existing lines.
    to_line(&mut harness, "fn a() {}");
    harness.press("Space j j").press("i").expect("Comment on src/table.rs:1 ").expect("```suggestion");
}

#[tokio::test]
async fn lines_are_marked_by_dragging_the_mouse_over_them() {
    let mut harness = changes_of("@@ -1,4 +1,2 @@\n fn a() {}\n-fn gone() {}\n-fn away() {}\n fn b() {}\n").await;
    harness
        .drag("1   1   fn a() {}", "fn away() {}")
        .press("c")
        .expect("Comment on src/table.rs:1-3, removed lines")
        .press("Esc");
    // A right click on them lists what can be done with them; elsewhere, with the line under it.
    harness.drag("1   1   fn a() {}", "fn away() {}").right_click_on("fn gone() {}").expect("Actions");
    harness.type_text("Comment here").press("Enter");
    harness
        .expect("Comment on src/table.rs:1-3, removed lines")
        .press("Esc")
        .right_click_on("fn b() {}")
        .expect("Actions");
    harness.type_text("Comment here").press("Enter").expect("Comment on src/table.rs:2 ").press("Esc");
    // A click marks nothing.
    harness
        .drag("1   1   fn a() {}", "fn gone() {}")
        .click_on("1   1   fn a() {}")
        .press("c")
        .expect("Comment on src/table.rs:1 ");
}

#[tokio::test]
async fn a_comment_takes_clicks_and_drags() {
    let mut harness = changes(vec![]).await;
    to_line(&mut harness, "fn c() {}");
    harness.press("c").type_text("one two").press("Enter").type_text("three four");
    harness.click_on("two").type_text("and ").expect("one and two");
    harness.drag("two", "four").press("C-c");
    assert_eq!(harness.copied(), ["two\nthree "]);
    harness.type_text("2 ").expect("one and 2 four").drag("one", "and").press("Esc").expect("one and 2 four");
    // The wheel and a press outside change nothing.
    harness.wheel_on("one and", true).press("Esc").expect_no("one and 2 four");
}

#[tokio::test]
async fn a_comment_on_marked_lines_names_both_sides() {
    let mut harness = changes(vec![]).await;
    to_line(&mut harness, "let old = 1;");
    harness.press("Space j").press("c").expect("Comment on src/table.rs:2 (and old 2)").type_text("Both.");
    let body = format!("`src/table.rs:2` (and old 2) at {HEAD}\n> ```\n> let new = 2;\n> ```\n\nBoth.");
    harness.reply(POST, note(601, "ada", &body)).press("C-s");
    harness.reply(&format!("{MR}/notes"), [note(601, "ada", &body)]).settle().await;
    assert_eq!(posts(&harness), [&format!("{POST} body={body}")]);
    harness.expect("line 2 and old line 2");
}

#[tokio::test]
async fn a_comment_on_several_lines_is_separate_from_one_on_the_last_line() {
    let mut harness = changes(vec![]).await;
    to_line(&mut harness, "fn c() {}");
    harness.press("c").type_text("One line.").press("Esc").settle().await;
    to_line(&mut harness, "fn b() {}");
    harness.press("Space j").press("c").expect("Comment on src/table.rs:3-4");
}

#[tokio::test]
async fn typing_in_a_suggestion_continues_inside_its_block() {
    let mut harness = changes(vec![]).await;
    to_line(&mut harness, "fn b() {}");
    harness.press("Space j").press("i").type_text(" // still");
    let lines = harness.lines();
    let at = lines.iter().position(|line| line.contains("```suggestion:-1+0")).expect("the block");
    assert!(lines[at + 2].contains("fn c() {} // still"), "{}", harness.picture());
    assert!(lines[at + 3].contains("```"), "{}", harness.picture());
    // In a draft that was already begun, the cursor is in the suggestion block as well.
    harness.press("Esc").settle().await;
    to_line(&mut harness, "let new = 2;");
    harness.press("c").type_text("Perhaps:").press("Esc").settle().await;
    to_line(&mut harness, "let new = 2;");
    harness.press("i").type_text(" // two").expect("Perhaps:").expect("let new = 2; // two");
}

#[tokio::test]
async fn a_mark_ends_at_the_end_of_its_file() {
    let mut harness = changes(vec![]).await;
    to_line(&mut harness, "let new = 2;");
    harness.press("Space ] j j j").press("c").expect("Comment on src/other.rs:1");
}

/// GitLab sends U+FFFD for each byte that is not UTF-8, and commits what a suggestion says.
#[tokio::test]
async fn a_line_that_is_not_utf_8_gets_no_suggestion() {
    let mut harness = changes_of("@@ -1,2 +1,2 @@\n-a\n+caf\u{fffd} first\n last\n").await;
    to_line(&mut harness, "first");
    harness.press("i").expect("The lines contain bytes that are not UTF-8").expect_no("```suggestion");
    to_line(&mut harness, "last");
    harness.press("Space k i").expect("The lines contain bytes that are not UTF-8").expect_no("```suggestion");
    harness.press("Esc");
    to_line(&mut harness, "last");
    harness.press("i").expect("```suggestion");
}

#[tokio::test]
async fn a_suggestion_cannot_span_hidden_lines() {
    let diff = "@@ -1,2 +1,2 @@\n-a\n+first\n b\n@@ -90,2 +90,2 @@\n-y\n+last\n z\n";
    let mut harness = changes_of(diff).await;
    to_line(&mut harness, "first");
    harness.press("Space");
    for _ in 0..5 {
        harness.press("j");
    }
    harness.press("i").expect("Some of the marked lines are hidden");
    // Only adjacent lines are quoted.
    harness.press("c").expect("│ last").expect_no("│ first");
}

#[tokio::test]
async fn a_comment_on_a_line_outside_the_diff_is_still_shown() {
    let notes = vec![placed(501, "bo", HEAD, 40, "fn far() {}", "Far away.")];
    let mut harness = changes(notes).await;
    harness.expect("Far away.").expect("src/table.rs:40 · outside the diff");
}

#[tokio::test]
async fn a_suggestion_shows_replaced_lines_and_refuses_stale_line_numbers() {
    let tree = [json!({"id": "aaaa", "name": "table.rs", "type": "blob", "path": "src/table.rs", "mode": "100644"})];
    let answer = |range: &str| format!("`src/table.rs:2` at {HEAD}\n\n```suggestion{range}\nlet new = 3;\n```");
    let begin = |first: Value| {
        let tree = tree.clone();
        async move {
            let mut harness = changes(vec![first]).await;
            harness.reply("GET /projects/acme%2Frocket-ui/repository/tree", tree).reply_raw(
                "GET /projects/acme%2Frocket-ui/repository/blobs/aaaa/raw",
                "pushed\nfn a() {}\nlet new = 2;\n",
            );
            to_line(&mut harness, "2h");
            harness
        }
    };
    let log = "GET /projects/acme%2Frocket-ui/repository/commits";
    // The comment does not quote the line, and the file has changed since.
    let mut harness = begin(note(501, "bo", &answer(""))).await;
    harness
        .reply(&format!("{log}?path=src%2Ftable.rs&ref_name=feature%2F42"), [json!({"id": BEFORE, "title": "x"})])
        .reply(&format!("{log}?path=src%2Ftable.rs&ref_name={HEAD}"), [json!({"id": HEAD, "title": "y"})]);
    harness.press("Y").settle().await;
    harness.expect("the file has changed, and the comment does not quote its lines");
    // The file is unchanged, so the line is known, and the replaced lines are shown as they are.
    let mut harness = begin(note(501, "bo", &answer(":-1+0"))).await;
    harness.reply(log, [json!({"id": HEAD, "title": "y"})]).press("Y").settle().await;
    harness.expect("- pushed").expect("- fn a() {}").expect("+ let new = 3;").expect("y commit");
}

#[tokio::test]
async fn an_unreachable_server_keeps_the_text_and_nothing_is_sent_later() {
    let mut harness = changes(vec![]).await;
    harness.unreachable(&format!("{MR}/notes")).press("C").type_text("Later.").press("C-s").settle().await;
    harness.expect("C-x stops");
    harness.press("C-x").settle().await;
    harness.expect("Sending was canceled");
    harness.press("C-s").settle().await;
    for _ in 0..4 {
        harness.pass(5).settle().await;
    }
    harness.expect("Not sent.").expect("connection refused").expect("Later.");
    harness.reply(&format!("{MR}/notes"), json!([])).pass(60).settle().await;
    assert!(posts(&harness).is_empty());
}

#[tokio::test]
async fn drafts_claimed_or_sent_by_another_process_are_not_sent_again() {
    use labscope::app::outbox::Claim;
    let mut harness = changes(vec![]).await;
    for words in ["First.", "Second.", "Third."] {
        harness.press("C").type_text(words).press("M-s").settle().await;
    }
    let key = |words: &str| {
        let found = harness.kept.iter().find(|(_, kept)| kept.contains(words));
        found.map(|(key, _)| key.clone()).expect("kept")
    };
    let (first, second) = (key("First."), key("Second."));
    harness.claims.insert(first, Claim::Elsewhere);
    harness.claims.insert(second, Claim::Gone);
    harness
        .reply(POST, note(700, "ada", ""))
        .reply(&format!("{MR}/notes"), [note(650, "ada", "Second.")])
        .press("S")
        .press("C-s")
        .settle()
        .await;
    assert_eq!(posts(&harness), [&format!("{POST} body=Third.")]);
    harness.expect("First.").expect("another running labscope is sending it");
    assert_eq!(harness.kept.keys().filter(|key| key.contains(" draft ")).count(), 1, "{:?}", harness.kept);
}

#[tokio::test]
async fn uncertain_drafts_are_resolved_at_startup_in_any_place() {
    let mut begin = Begin::at(Place::new("projects")).size(120, 30);
    let on = json!({"merge_request": {"project": "acme/rocket-ui", "iid": 42}});
    let states =
        [json!({"unknown": {"before": 600, "why": "The server did not answer"}}), json!({"sending": {"before": 600}})];
    for (number, (words, state)) in ["There.", "Not there."].iter().zip(states.iter().cycle()).enumerate() {
        let draft = json!({"on": on, "text": words, "state": state}).to_string();
        begin.drafts.insert(format!("@ada draft acme/rocket-ui!42 {number}"), draft);
    }
    begin.account = "ada".into();
    let mut harness = begin.open();
    // Equal texts from an earlier time or by another user are other comments.
    let notes = [note(650, "ada", "There."), note(651, "bo", "Not there."), note(500, "ada", "Not there.")];
    harness
        .reply("GET /user", user(1, "ada"))
        .reply("GET /projects", json!([]))
        .reply(&format!("{MR}/notes"), notes)
        .settle()
        .await;
    harness.pass(4).settle().await;
    assert_eq!(harness.app.draft("draft acme/rocket-ui!42 0"), None);
    let left = harness.app.draft("draft acme/rocket-ui!42 1").expect("it is a draft again");
    assert!(left.contains("\"failed\"") && left.contains("it has not arrived"), "{left}");
    assert!(posts(&harness).is_empty());
    // Before the draft is sent again, the program checks once more: the comment may have arrived late.
    harness.reply(&format!("{MR}/notes"), [note(660, "ada", "Not there.")]);
    harness.press("g k").press("Enter").expect("Not there.").press("C-s").settle().await;
    assert_eq!((posts(&harness).len(), harness.app.draft("draft acme/rocket-ui!42 1")), (0, None));
}

/// Starts the program with drafts on one target, whose name is part of their keys, given as text and sending state.
fn started((on, name): (&Value, &str), drafts: &[(&str, Value)]) -> Harness {
    let mut begin = Begin::at(Place::new("projects")).size(120, 30);
    for (number, (words, state)) in drafts.iter().enumerate() {
        let draft = json!({"on": on, "text": words, "state": state}).to_string();
        begin.drafts.insert(format!("@ada draft {name} {number}"), draft);
    }
    begin.account = "ada".into();
    let mut harness = begin.open();
    harness.reply("GET /user", user(1, "ada")).reply("GET /projects", json!([]));
    harness
}

#[tokio::test]
async fn an_arrived_note_is_found_behind_any_number_of_later_notes() {
    let lost = |before: u64| json!({"unknown": {"before": before, "why": "The server did not answer"}});
    let on = json!({"merge_request": {"project": "acme/rocket-ui", "iid": 42}});
    let mut harness = started((&on, "acme/rocket-ui!42"), &[("There.", lost(755)), ("Of before.", lost(755))]);
    let words = |id: u64| match id {
        760 => ("ada", "There."),
        755 => ("ada", "Of before."),
        _ => ("bo", "Other words."),
    };
    let notes: Vec<Value> = (700..=1000).rev().map(|id| note(id, words(id).0, words(id).1)).collect();
    harness.reply(&format!("{MR}/notes"), notes).settle().await;
    assert_eq!(harness.app.draft("draft acme/rocket-ui!42 0"), None, "it is on the third page");
    let left = harness.app.draft("draft acme/rocket-ui!42 1").expect("the note that says the same is older");
    assert!(left.contains("it has not arrived"), "{left}");
}

#[tokio::test]
async fn arrived_commit_comments_are_counted_on_all_pages() {
    let lost = |before: u64| json!({"unknown": {"before": before, "why": "The server did not answer"}});
    let on = json!({"commit": {"project": "acme/rocket-ui", "sha": HEAD}});
    let name = format!("acme/rocket-ui@{HEAD}");
    let mut harness = started((&on, &name), &[("There.", lost(0)), ("Of before.", lost(1))]);
    let texts = std::iter::repeat_n("Other words.", 240).chain(["Of before.", "There."]);
    let comment = |(second, words): (usize, &str)| {
        let when = format!("2026-06-01T12:{:02}:{:02}Z", second / 60, second % 60);
        json!({"note": words, "author": {"id": 1, "username": "ada"}, "created_at": when})
    };
    let comments: Vec<Value> = texts.enumerate().map(comment).collect();
    let list = format!("GET /projects/acme%2Frocket-ui/repository/commits/{HEAD}/comments");
    harness.reply(&list, comments).settle().await;
    assert_eq!(harness.app.draft(&format!("draft {name} 0")), None, "it is on the third page");
    let left = harness.app.draft(&format!("draft {name} 1")).expect("there is no more of it than before");
    assert!(left.contains("it has not arrived"), "{left}");
}

#[tokio::test]
async fn an_older_note_with_the_same_text_is_not_the_one_that_was_sent() {
    let mut harness = changes(vec![note(500, "ada", "Yes.")]).await;
    for words in ["First.", "Yes."] {
        harness.press("C").type_text(words).press("M-s").settle().await;
    }
    harness.reply(POST, note(701, "ada", "First.")).press("S").press("C-s");
    for _ in 0..100 {
        if posts(&harness).len() == 2 {
            break;
        }
        let waiting = harness.waiting().len();
        assert!((0..waiting).any(|index| harness.answer(index)), "{:?}", harness.waiting());
    }
    // The first one has arrived; the outcome of the second is unknown.
    let notes = [note(701, "ada", "First."), note(500, "ada", "Yes.")];
    harness.unreachable(POST).reply(&format!("{MR}/notes"), notes).settle().await;
    harness.pass(4).settle().await;
    assert_eq!(posts(&harness).len(), 2);
    let kept: Vec<&String> = harness.kept.values().filter(|text| text.contains("Yes.")).collect();
    assert!(matches!(kept[..], [text] if text.contains("it has not arrived")), "{kept:?}");
    // Neither is an equal comment that was the latest one before.
    let mut harness = changes(vec![note(500, "ada", "Yes.")]).await;
    harness.unreachable(POST).press("C").type_text("Yes.").press("C-s").settle().await;
    harness.pass(4).settle().await;
    assert_eq!(posts(&harness).len(), 1);
    assert!(harness.kept.values().any(|text| text.contains("it has not arrived")), "{:?}", harness.kept);
}

#[tokio::test]
async fn a_draft_changed_by_another_process_is_not_sent_unseen() {
    use labscope::app::outbox::Claim;
    let mut harness = changes(vec![]).await;
    for words in ["First.", "Second."] {
        harness.press("C").type_text(words).press("M-s").settle().await;
    }
    let found = |words: &str| harness.kept.iter().find(|(_, kept)| kept.contains(words)).expect("kept");
    let (first, second) = (found("First."), found("Second."));
    let changed = first.1.replace("First.", "First, at last.");
    let claims = [(first.0.clone(), changed), (second.0.clone(), second.1.clone())];
    harness.claims.extend(claims.map(|(key, text)| (key, Claim::Ours(Some(text)))));
    harness.reply(POST, note(700, "ada", "")).press("S").press("C-s").settle().await;
    assert_eq!(posts(&harness), [&format!("{POST} body=Second.")]);
    harness.expect("First, at last.").expect("another labscope changed it: check it first");
}

#[tokio::test]
async fn a_discarded_draft_is_not_reported_as_sent() {
    let mut begin = Begin::at(place()).size(100, 40);
    let on = json!({"merge_request": {"project": "acme/rocket-ui", "iid": 42}});
    let unknown = json!({"unknown": {"before": 1, "why": "cut"}});
    let draft = json!({"on": on, "text": "Perhaps there.", "state": unknown}).to_string();
    begin.drafts.insert("@ada draft acme/rocket-ui!42 1".into(), draft);
    begin.account = "ada".into();
    let mut harness = begin.open();
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, merge_request(42, "Rows", "opened"))
        .unreachable(&format!("{MR}/notes"))
        .settle()
        .await;
    // It cannot be determined whether the comment has arrived.
    for _ in 0..4 {
        harness.pass(5).settle().await;
    }
    harness.press("K").expect("Perhaps there.").press("D").expect("may have arrived").press("y").settle().await;
    harness.expect_no("Drafts on").expect_no("sent");
}

#[tokio::test]
async fn drafts_of_a_deleted_target_can_be_found_and_opened() {
    let mut begin = Begin::at(Place::new("projects")).size(100, 30);
    let on = json!({"merge_request": {"project": "acme/gone", "iid": 7}});
    let draft = json!({"on": on, "text": "Ten hours of work.", "state": "kept"}).to_string();
    begin.drafts.insert("@ada draft acme/gone!7 1".into(), draft);
    begin.account = "ada".into();
    let mut harness = begin.open();
    harness.reply("GET /user", user(1, "ada")).reply("GET /projects", json!([])).settle().await;
    harness.press("g k").expect("acme/gone!7").expect("Ten hours of work.").press("Enter");
    harness.expect("Comment on acme/gone!7").expect("Ten hours of work.").press("Esc");
    assert!(harness.app.draft("draft acme/gone!7 1").is_some());
}

#[tokio::test]
async fn a_note_changed_meanwhile_is_not_overwritten_silently() {
    let mut harness = open_with(vec![note(501, "ada", "Mine.")], place(), 120, 40).await;
    harness.press("] e").expect("Edit comment on !42").type_text(" Indeed.");
    let put = "PUT /projects/acme%2Frocket-ui/merge_requests/42/notes/501";
    let theirs = note(501, "ada", "Mine, from another machine.").with(json!({"updated_at": "2026-06-15T11:00:00Z"}));
    harness
        .reply(&format!("{MR}/notes/501"), theirs)
        .reply(put, note(501, "ada", "Mine. Indeed."))
        .press("C-s")
        .settle()
        .await;
    let sent = |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with("PUT")).count();
    assert_eq!(sent(&harness), 0);
    harness.expect("Somebody else has changed the comment").expect("Mine. Indeed.").press("C-s").settle().await;
    assert_eq!(sent(&harness), 1);
}

#[tokio::test]
async fn comments_on_commits_are_shown_among_the_notes() {
    let comments = format!("GET /projects/acme%2Frocket-ui/repository/commits/{HEAD}/comments");
    let note = |id: u64, body: &str, at: &str| {
        json!({"id": id, "body": body, "author": {"id": 2, "username": "bo"}, "system": false,
               "created_at": at, "updated_at": at})
    };
    let notes = vec![note(1, "Before it.", "2026-06-15T09:00:00Z"), note(2, "After it.", "2026-06-15T11:00:00Z")];
    let mut harness = open_with(notes, place(), 100, 50).await;
    harness
        .reply(&format!("{MR}/commits"), [json!({"id": HEAD, "short_id": "9f3c2abd", "title": "Second", "parent_ids": []})])
        .reply(
            &comments,
            json!([
                {"note": "On a **line**.", "author": {"id": 3, "username": "cem"}, "path": "src/table.rs", "line": 3,
                 "line_type": "new", "created_at": "2026-06-15T10:00:00Z"},
                {"note": "On all of it.\u{1b}[31m", "author": {"id": 3, "username": "cem"}, "created_at": "2026-06-15T12:00:00Z"},
            ]),
        );
    harness.press("r").settle().await;
    harness.settle().await;
    let lines = harness.lines();
    let at = |words: &str| {
        lines.iter().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}\n{}", lines.join("\n")))
    };
    assert!(
        at("Before it.") < at("src/table.rs:3") && at("src/table.rs:3") < at("On a line."),
        "{}",
        harness.picture()
    );
    assert!(at("On a line.") < at("After it.") && at("After it.") < at("On all of it."), "{}", harness.picture());
    assert!(at("After it.") < at("of commit 9f3c2abd"), "{}", harness.picture());
    harness.expect("2 comments, 2 on commits");
    harness.press("] ]").press("R").expect("> On a **line**.").press("Esc");
    harness.press("e").expect("The comments of a commit cannot be changed");
    harness.press("Enter").settle().await;
    assert_eq!(harness.app.place().tab.as_deref(), Some("changes"));
    // A push with the same number of commits; only the new commit has a comment.
    harness
        .reply(&format!("{MR}/notes"), json!([]))
        .reply(&format!("{MR}/commits"), [json!({"id": BEFORE, "short_id": "11111111", "title": "Second", "parent_ids": []})])
        .reply(
            &format!("GET /projects/acme%2Frocket-ui/repository/commits/{BEFORE}/comments"),
            json!([{"note": "Of the new one.", "author": {"id": 3, "username": "cem"}, "created_at": "2026-06-15T12:00:00Z"}]),
        );
    harness.press("r").settle().await;
    harness.press("1 r").settle().await;
    harness.expect("Of the new one.").expect_no("On all of it.").expect_no("No comments yet");
}
