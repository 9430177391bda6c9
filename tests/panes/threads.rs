//! Threads on current servers: shown, started on lines, replied to, and resolved; and reviews kept on the server.

use crate::fixtures::{self, With, changed_file, file, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::app::clone::{CloneFolder, CloneHead, CloneRemote, LineInClone};
use serde_json::{Value, json};
use std::path::PathBuf;

const MR: &str = "GET /projects/acme%2Frocket-ui/merge_requests/42";
const WRITE: &str = "/projects/acme%2Frocket-ui/merge_requests/42";
const HEAD: &str = "9f3c2abd00112233445566778899aabbccddeeff";
const BASE: &str = "1111111100112233445566778899aabbccddeeff";
const OLD: &str = "2222222200112233445566778899aabbccddeeff";
const DIFF: &str =
    "@@ -1,4 +1,5 @@ fn rows\n fn a() {}\n-let old = 1;\n+let new = 2;\n+let two = 3;\n fn b() {}\n fn c() {}\n";

/// Returns a note in a thread, optionally on a line of the new file.
fn note(id: u64, author: &str, body: &str, line: Option<(u32, &str)>, resolved: Option<bool>) -> Value {
    let note = fixtures::note(id, author, body);
    let note = match resolved {
        Some(resolved) => note.with(json!({"resolvable": true, "resolved": resolved, "type": "DiscussionNote"})),
        None => note,
    };
    let Some((line, sha)) = line else { return note };
    let position = json!({"base_sha": BASE, "start_sha": BASE, "head_sha": sha, "position_type": "text",
        "old_path": "src/table.rs", "new_path": "src/table.rs", "old_line": null, "new_line": line});
    note.with(json!({"type": "DiffNote", "position": position}))
}

/// Returns a script that became executable.
fn executable() -> Value {
    changed_file("run.sh", "").with(json!({"a_mode": "100644", "b_mode": "100755"}))
}

/// Returns the merge request at a head.
fn whole(head: &str) -> Value {
    let refs = json!({"base_sha": BASE, "head_sha": head, "start_sha": BASE});
    merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": head, "diff_refs": refs}))
}

fn thread(id: &str, notes: Vec<Value>) -> Value {
    json!({"id": id, "individual_note": false, "notes": notes})
}

fn threads() -> Vec<Value> {
    vec![
        thread(
            "aaa",
            vec![
                note(501, "bo", "Why two?", Some((2, HEAD)), Some(false)),
                note(504, "ada", "Because.", Some((2, HEAD)), Some(false)),
            ],
        ),
        thread("bbb", vec![note(502, "bo", "Was wrong.", Some((3, HEAD)), Some(true))]),
        thread("ccc", vec![note(503, "cem", "In general?", None, Some(false))]),
        thread("ddd", vec![note(505, "bo", "Of before.", Some((9, OLD)), Some(false))]),
    ]
}

async fn open(discussions: Vec<Value>, drafts: Option<Vec<Value>>, tab: Option<&str>) -> Harness {
    let place = Place::new("mr").project("acme/rocket-ui").item(42);
    let place = match tab {
        Some(tab) => place.tab(tab),
        None => place,
    };
    let mut harness = open_with(Begin::at(place), whole(HEAD), discussions, drafts).await;
    if tab.is_some() {
        harness.press("g g").settle().await;
    }
    harness
}

async fn open_with(begin: Begin, whole: Value, discussions: Vec<Value>, drafts: Option<Vec<Value>>) -> Harness {
    let mut harness = begin.size(120, 44).open();
    let changed = whole.clone().with(json!({"changes": [changed_file("src/table.rs", DIFF)]}));
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, whole)
        .reply(&format!("{MR}/changes"), changed)
        .reply(&format!("{MR}/participants"), json!([]))
        .reply(&format!("{MR}/commits"), json!([]))
        .reply(&format!("{MR}/pipelines"), json!([]))
        .reply(&format!("{MR}/approvals"), json!({"approved_by": [], "user_can_approve": true}))
        .reply(&format!("{MR}/notes"), json!([]))
        .reply(&format!("{MR}/versions"), json!([]))
        .reply("GET /projects/acme%2Frocket-ui/labels", [json!({"id": 1, "name": "ui", "color": "#3366ff"})])
        .reply(&format!("{MR}/discussions"), discussions);
    if let Some(drafts) = drafts {
        harness.reply(&format!("{MR}/draft_notes"), drafts);
    }
    harness.settle().await;
    harness
}

fn to_line(harness: &mut Harness, words: &str) {
    harness.press("g g");
    for _ in 0..60 {
        if harness.lines().iter().any(|line| line.contains('▌') && line.contains(words)) {
            return;
        }
        harness.press("j");
    }
    panic!("no way to {words:?} on\n{}", harness.picture());
}

fn writes(harness: &Harness) -> Vec<&String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).collect()
}

#[tokio::test]
async fn threads_are_grouped_and_resolved_ones_are_folded() {
    let mut harness = open(threads(), None, None).await;
    harness.expect("3 unresolved threads").expect("↳ ada").expect("In general?");
    harness.expect("resolved").expect("✓ resolved · src/table.rs:3 · bo: Was wrong.");
    insta::assert_snapshot!("threads_overview_120x44", harness.picture());
    to_line(&mut harness, "✓ resolved");
    harness.press("Enter").settle().await;
    harness.expect_no("bo: Was wrong.").expect("│ bo · 2h   Was wrong.").press("-").settle().await;
    harness.expect("bo: Was wrong.");
}

#[tokio::test]
async fn comments_are_searched_also_in_folded_threads() {
    let mut harness = open(threads(), None, None).await;
    harness.press("/").type_text("in gen").press("Enter").expect("/in gen  1/1");
    assert!(here(&harness).contains("In general?"), "{}", harness.picture());
    // What is resolved is found as well, and the search goes around the end.
    harness.press("/").type_text("was wrong|why two").press("Enter");
    assert!(here(&harness).contains("Why two?"), "{}", harness.picture());
    assert!(harness.lines()[0].contains("!42  /was wrong|why two  1/2"), "{}", harness.picture());
    harness.press("n");
    assert!(here(&harness).contains("bo: Was wrong."), "{}", harness.picture());
    assert!(harness.lines()[0].contains("  2/2"), "{}", harness.picture());
    harness.press("N N").expect("  2/2").press("N n");
    harness.press("n n");
    assert!(here(&harness).contains("bo: Was wrong."), "{}", harness.picture());
    harness.press("/").type_text("nowhere").press("Enter n").expect("Not found: nowhere");
    harness.expect("/nowhere  not found").press("Esc").expect_no("/nowhere");
    assert!(writes(&harness).is_empty());
    // A letter after `/` is never a command, also where nothing can be searched.
    harness.press("4 /").expect("nothing to search").press("t e A").press("Esc");
    assert!(writes(&harness).is_empty());
}

/// Returns the line under the cursor; the list of files also marks one, above it.
fn here(harness: &Harness) -> String {
    harness.lines().into_iter().rfind(|line| line.contains('▌')).unwrap_or_default()
}

#[tokio::test]
async fn a_thread_shows_its_code_and_the_cursor_passes_its_border() {
    for tab in [None, Some("changes")] {
        let mut harness = open(threads(), None, tab).await;
        to_line(&mut harness, "Because.");
        harness.press("j");
        let line = here(&harness);
        assert!(!line.contains('└') && !line.trim_matches(['▌', '│', ' ']).is_empty(), "{}", harness.picture());
        harness.press("k").press("k");
        assert!(here(&harness).contains("Why two?"), "{}", harness.picture());
    }
    let mut harness = open(threads(), None, None).await;
    harness.expect("│   1   fn a() {}").expect("│   2 - let old = 1;").expect("│   2 + let new = 2;");
    to_line(&mut harness, "Why two?");
    harness.expect("R reply  t resolve");
}

#[tokio::test]
async fn the_thread_keys_visit_nothing_else_and_say_so_at_the_end() {
    for tab in [None, Some("changes")] {
        let mut harness = open(threads()[..2].to_vec(), None, tab).await;
        harness.press("g g").press(";");
        assert!(here(&harness).contains("unresolved"), "{}", harness.picture());
        let before = here(&harness);
        harness.press(";").expect("No unresolved thread below.");
        assert_eq!(here(&harness), before);
        harness.press(",").expect("No unresolved thread above.");
    }
}

/// A thread with a reply, resolved or not, between two others.
fn with_reply(resolved: bool) -> Vec<Value> {
    let of = |id: u64, text: &str, resolved: bool| note(id, "bo", text, Some((2, HEAD)), Some(resolved));
    vec![
        thread("one", vec![note(700, "bo", "Before.", None, Some(false))]),
        thread("two", vec![of(701, "Why two?", resolved), of(702, "Because.", resolved)]),
        thread("three", vec![note(703, "bo", "Afterwards.", None, Some(false))]),
        thread("four", vec![note(704, "bo", "Last.", None, Some(false))]),
    ]
}

#[tokio::test]
async fn resolving_from_a_reply_keeps_the_row() {
    for tab in [None, Some("changes")] {
        let mut harness = open(with_reply(false), None, tab).await;
        to_line(&mut harness, "Because.");
        harness.reply(&format!("PUT {WRITE}/discussions/two"), json!({"id": "two"}));
        harness.reply(&format!("{MR}/discussions"), with_reply(true)).press("t").settle().await;
        harness.expect("✓ resolved").expect_no("Because.");
        assert!(here(&harness).contains("resolved"), "{tab:?}\n{}", harness.picture());
    }
}

#[tokio::test]
async fn a_reply_is_posted_and_its_thread_resolved_with_one_key() {
    for tab in [None, Some("changes")] {
        let mut harness = open(with_reply(false), None, tab).await;
        to_line(&mut harness, "Because.");
        harness.press("R").expect("M-r post and resolve").type_text("Done.");
        harness.reply(&format!("POST {WRITE}/discussions/two/notes"), json!({"id": 710}));
        harness.reply(&format!("PUT {WRITE}/discussions/two"), json!({"id": "two"}));
        harness.reply(&format!("{MR}/discussions"), with_reply(true)).press("M-r").settle().await;
        let sent: Vec<String> = writes(&harness).into_iter().cloned().collect();
        assert!(sent[0].contains("/discussions/two/notes") && sent[0].contains("Done."), "{sent:?}");
        assert_eq!(sent[1..], [format!("PUT {WRITE}/discussions/two resolved=true")], "{sent:?}");
        harness.expect("Resolved a thread of !42").expect_no("post and resolve");
    }
    // A reply that was refused resolves nothing, and a thread that is resolved is not resolved again.
    let mut harness = open(with_reply(false), None, None).await;
    to_line(&mut harness, "Because.");
    harness.fail(&format!("POST {WRITE}/discussions/two/notes"), 403, "403 Forbidden");
    harness.press("R").type_text("Done.").press("M-r").settle().await;
    harness.expect("Not sent");
    assert_eq!(writes(&harness).len(), 1, "{:?}", harness.asked);
    let mut harness = open(with_reply(true), None, None).await;
    to_line(&mut harness, "✓ resolved");
    harness.press("R").expect("C-s post now").expect_no("M-r");
}

#[tokio::test]
async fn a_thread_can_be_resolved_and_reopened() {
    let mut harness = open(threads(), None, None).await;
    to_line(&mut harness, "bo · 2h");
    harness.reply(&format!("PUT {WRITE}/discussions/aaa"), json!({"id": "aaa"})).press("t").settle().await;
    to_line(&mut harness, "✓ resolved");
    harness.reply(&format!("PUT {WRITE}/discussions/bbb"), json!({"id": "bbb"})).press("t").settle().await;
    assert_eq!(
        writes(&harness),
        [&format!("PUT {WRITE}/discussions/aaa resolved=true"), &format!("PUT {WRITE}/discussions/bbb resolved=false")]
    );
    harness.expect("Reopened a thread of !42");
}

#[tokio::test]
async fn the_next_thread_is_resolved_with_two_keys() {
    for tab in [None, Some("changes")] {
        let mut harness = open(threads(), None, tab).await;
        for id in ["aaa", "bbb", "ccc", "ddd"] {
            harness.reply(&format!("PUT {WRITE}/discussions/{id}"), json!({"id": id}));
        }
        harness.pressed = 0;
        harness.press("; t").settle().await;
        assert_eq!(harness.pressed, 2);
        let sent = writes(&harness);
        assert!(sent.len() == 1 && sent[0].ends_with(" resolved=true"), "{sent:?}");
    }
}

#[tokio::test]
async fn the_next_thread_key_visits_unresolved_threads_first() {
    for tab in [None, Some("changes")] {
        let mut harness = open(threads(), None, tab).await;
        harness.press("g g").press(";");
        let here = |harness: &Harness| harness.lines().into_iter().find(|line| line.contains('▌')).unwrap_or_default();
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(here(&harness));
            harness.press(";");
        }
        assert!(seen.iter().all(|line| !line.contains("Was wrong")), "{seen:?}");
    }
}

#[tokio::test]
async fn a_reply_is_posted_to_its_thread() {
    let mut harness = open(threads(), None, Some("changes")).await;
    to_line(&mut harness, "Why two?");
    let reply = format!("POST {WRITE}/discussions/aaa/notes");
    harness.press("R").expect("Reply on src/table.rs:2").type_text("I see.");
    harness.reply(&reply, json!({"id": 700})).press("C-s").settle().await;
    assert_eq!(writes(&harness), [&format!("{reply} body=I see.")]);
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

/// No comment could be found again without knowing who wrote it.
#[tokio::test]
async fn a_comment_of_somebody_unknown_says_why_it_is_not_sent() {
    let mut harness = Begin::at(Place::new("mr").project("acme/rocket-ui").item(42)).size(120, 44).open();
    harness
        .fail("GET /user", 403, "403 Forbidden")
        .reply(MR, whole(HEAD))
        .reply(&format!("{MR}/notes"), json!([]))
        .reply(&format!("{MR}/discussions"), json!([]))
        .settle()
        .await;
    harness.press("C").type_text("I see.").press("C-s").settle().await;
    harness.expect("403 Forbidden").expect_no("checking the server");
    assert_eq!(writes(&harness), Vec::<&String>::new());
}

#[tokio::test]
async fn one_key_comments_here_and_another_on_the_whole_merge_request() {
    let whole = "Comment on !42";
    for tab in [None, Some("changes")] {
        let mut harness = open(threads(), None, tab).await;
        // At the top there is nothing else to comment on.
        let top = if tab.is_some() { "Comment on src/table.rs" } else { whole };
        harness.press("g g c").expect(top).press("Esc").press("C").expect(whole).press("Esc");
        to_line(&mut harness, "Why two?");
        harness.press("c").expect("Reply on src/table.rs:2").press("Esc").press("C").expect(whole).press("Esc");
    }
    let mut harness = open(threads(), None, Some("changes")).await;
    to_line(&mut harness, "let new = 2;");
    harness.press("c").expect("Comment on src/table.rs:2").press("Esc");
    // Marked lines are commented on, wherever the cursor is.
    harness.press("Space");
    while !harness.lines().iter().any(|line| line.contains('▌') && line.contains("Why two?")) {
        harness.press("j");
    }
    harness.press("c").expect("Comment on src/table.rs:2");
}

#[tokio::test]
async fn a_comment_on_lines_starts_a_thread_with_their_position() {
    let mut harness = open(vec![], None, Some("changes")).await;
    let create = format!("POST {WRITE}/discussions");
    harness.reply(&create, json!({"id": "eee", "notes": [{"id": 700}]}));
    to_line(&mut harness, "let new = 2;");
    harness.press("c").type_text("One line.").press("C-s").settle().await;
    to_line(&mut harness, "let old = 1;");
    harness.press("c").type_text("Gone.").press("C-s").settle().await;
    to_line(&mut harness, "fn b() {}");
    harness.press("c").type_text("Unchanged.").press("C-s").settle().await;
    to_line(&mut harness, "let new = 2;");
    harness.press("Space").press("j").press("c").type_text("Both.").press("C-s").settle().await;
    let sent: Vec<Value> = writes(&harness)
        .iter()
        .map(|line| {
            serde_json::from_str(line.strip_prefix(&format!("{create} ")).expect("a new thread")).expect("JSON")
        })
        .collect();
    let lines: Vec<_> =
        sent.iter().map(|sent| (&sent["position"]["old_line"], &sent["position"]["new_line"])).collect();
    assert_eq!(
        lines,
        [(&Value::Null, &json!(2)), (&json!(2), &Value::Null), (&json!(3), &json!(4)), (&Value::Null, &json!(3))]
    );
    let code = |old: u32, new: u32| labscope::api::notes::line_code("src/table.rs", old, new);
    assert_eq!(
        sent[3]["position"],
        json!({"position_type": "text", "base_sha": BASE, "start_sha": BASE, "head_sha": HEAD,
            "old_path": "src/table.rs", "new_path": "src/table.rs", "new_line": 3, "line_range": {
                "start": {"line_code": code(3, 2), "type": "new"}, "end": {"line_code": code(3, 3), "type": "new"}}})
    );
    assert_eq!(sent[3]["body"], "Both.");
}

#[tokio::test]
async fn a_comment_with_a_refused_position_can_be_sent_without_one() {
    let mut harness = open(vec![], None, Some("changes")).await;
    let create = format!("POST {WRITE}/discussions");
    harness.fail(&create, 400, "400 Bad request - Note {:line_code=>[\"can't be blank\"]}");
    to_line(&mut harness, "let new = 2;");
    harness.press("c").type_text("Why?").press("C-s").settle().await;
    harness
        .expect("Not sent.")
        .expect("can't be blank")
        .expect("send it again to post it as a plain comment")
        .expect("Why?");
    let plain = format!("POST {WRITE}/notes");
    harness.reply(&plain, json!({"id": 700, "body": "x"})).press("Esc").press("K").press("s").settle().await;
    let last = writes(&harness).last().expect("a write").to_string();
    assert!(last.starts_with(&format!("{plain} body=`src/table.rs:2` at {HEAD}")), "{last}");
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

fn draft(id: u64, words: &str, line: Option<u32>) -> Value {
    let position = line.map(|line| {
        json!({"base_sha": BASE, "start_sha": BASE, "head_sha": HEAD, "position_type": "text",
            "old_path": "src/table.rs", "new_path": "src/table.rs", "old_line": null, "new_line": line})
    });
    json!({"id": id, "author_id": 1, "merge_request_id": 42, "resolve_discussion": false, "discussion_id": null,
        "note": words, "position": position})
}

#[tokio::test]
async fn a_review_on_the_server_is_submitted_with_a_summary_and_an_approval() {
    let mut harness = open(threads(), Some(vec![]), Some("changes")).await;
    to_line(&mut harness, "let new = 2;");
    let drafts = format!("POST {WRITE}/draft_notes");
    harness.reply(&drafts, json!({"id": 9, "note": "Later."}));
    harness.pressed = 0;
    harness.press("c").type_text("Later.").press("M-s");
    assert_eq!(harness.pressed, 2);
    harness.reply(&format!("{MR}/draft_notes"), vec![draft(9, "Later.", Some(2))]).settle().await;
    assert!(writes(&harness).last().is_some_and(|line| line.starts_with(&drafts)), "{:?}", writes(&harness));
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
    harness.expect("✎ in your review").expect("│ Later.");
    harness.pressed = 0;
    harness.press("S").expect("Submit review of !42 · 1 comment").expect("[ ] Approve  M-a");
    harness.type_text("All fine.").press("M-a").expect("[x] Approve");
    let (publish, approve) = (format!("POST {WRITE}/draft_notes/bulk_publish"), format!("POST {WRITE}/approve"));
    let notes = format!("POST {WRITE}/notes");
    harness
        .reply(&notes, json!({"id": 10, "body": "All fine."}))
        .reply(&publish, json!({}))
        .reply(&approve, json!({}))
        .press("C-s")
        .settle()
        .await;
    assert_eq!(harness.pressed, 3);
    let sent: Vec<String> = writes(&harness).into_iter().skip(1).cloned().collect();
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(sent[0].starts_with(&notes) && sent[0].contains("All fine."), "a plain note: {sent:?}");
    assert_eq!(sent[1..], [publish, format!("{approve} sha={HEAD}")]);
}

/// GitLab 19.5, `lib/api/merge_request_approvals.rb` and `lib/api/draft_notes.rb`: `publish_review` and `note`.
#[tokio::test]
async fn one_request_publishes_a_review_where_the_server_can() {
    let draft_notes = || Some(vec![draft(9, "Later.", Some(2))]);
    let (publish, approve) = (format!("POST {WRITE}/draft_notes/bulk_publish"), format!("POST {WRITE}/approve"));
    let notes = format!("POST {WRITE}/notes");
    let approved = format!("{approve} publish_review=true sha={HEAD}");
    let summary = |state: &str| format!("{publish} note=Fine. reviewer_state={state}");
    let comment = format!("{notes} body=Fine.");
    let command = format!("{notes} body=/title x");
    for (version, keys, expected) in [
        ("19.5.0-ee", "M-a C-s", vec![approved.clone()]),
        ("19.5.0-ee", "F i n e . M-a C-s", vec![comment.clone(), approved]),
        ("19.5.0-ee", "F i n e . C-s", vec![summary("reviewed")]),
        ("19.5.0-ee", "/ t i t l e Space x C-s", vec![command, format!("{publish} reviewer_state=reviewed")]),
        ("19.5.0-ee", "C-s", vec![format!("{publish} reviewer_state=reviewed")]),
        ("18.5.2", "M-a C-s", vec![publish.clone(), format!("{approve} sha={HEAD}")]),
        ("19.1.0", "F i n e . C-s", vec![comment, format!("{publish} reviewer_state=reviewed")]),
    ] {
        let mut harness = open(threads(), draft_notes(), None).await;
        harness.reply("GET /metadata", json!({"version": version, "revision": "a"}));
        harness.reply(&notes, json!({"id": 10, "body": "Fine."})).reply_raw(&publish, "").reply(&approve, json!({}));
        harness.press("S").settle().await;
        // What is published becomes notes.
        let note = json!([{"id": 9000, "body": "Later.", "author": user(1, "ada"), "system": false}]);
        harness.reply(&format!("{MR}/notes"), note).press(keys).settle().await;
        assert_eq!(writes(&harness).into_iter().cloned().collect::<Vec<_>>(), expected, "{version} {keys}");
        assert!(harness.kept.is_empty(), "{:?}", harness.kept);
    }
}

#[tokio::test]
async fn a_review_that_is_refused_as_one_request_is_not_half_done() {
    let (publish, approve) = (format!("POST {WRITE}/draft_notes/bulk_publish"), format!("POST {WRITE}/approve"));
    let begin = async || {
        let mut harness = open(threads(), Some(vec![draft(9, "Later.", Some(2))]), None).await;
        harness.reply("GET /metadata", json!({"version": "19.5.0", "revision": "a"})).press("S").settle().await;
        harness
    };
    // New commits arrived: nothing is published, and the approval can be sent again.
    let mut harness = begin().await;
    harness.fail(&approve, 409, "SHA does not match HEAD of source branch").press("M-a C-s").settle().await;
    harness.expect("Could not approve !42");
    assert_eq!(writes(&harness).len(), 1, "{:?}", writes(&harness));
    assert_eq!(harness.kept.len(), 1, "{:?}", harness.kept);
    // The reply was lost: approved, but with draft notes left, is not what was asked for.
    for (left, arrived) in [(vec![draft(9, "Later.", Some(2))], false), (vec![], true)] {
        let mut harness = begin().await;
        harness.unreachable(&approve).press("M-a C-s").settle().await;
        harness.reply(&format!("{MR}/approvals"), json!({"approved_by": [], "user_has_approved": true}));
        harness.reply(&format!("{MR}/draft_notes"), left);
        harness.pass(10).settle().await;
        harness.expect(if arrived { "Submitted your review of !42: approved" } else { "it has not arrived" });
        assert_eq!(writes(&harness).len(), 1, "{:?}", writes(&harness));
        assert_eq!(harness.kept.is_empty(), arrived, "{:?}", harness.kept);
    }
    // The summary is refused: it stays, and no verdict follows.
    let mut harness = begin().await;
    harness.fail(&publish, 422, "Note is too long").type_text("Fine.").press("M-r C-s").settle().await;
    harness.expect("Could not submit your review of !42");
    assert_eq!(writes(&harness).len(), 1, "{:?}", writes(&harness));
    assert_eq!(harness.kept.values().filter(|kept| kept.contains("Fine.")).count(), 1, "{:?}", harness.kept);
}

#[tokio::test]
async fn a_draft_that_arrives_while_submitting_is_not_sent_again() {
    let first = draft(8, "First.", None);
    let mut harness = open(threads(), Some(vec![first.clone()]), Some("changes")).await;
    to_line(&mut harness, "let new = 2;");
    let (drafts, publish) = (format!("POST {WRITE}/draft_notes"), format!("POST {WRITE}/draft_notes/bulk_publish"));
    harness.press("c").type_text("Later.").press("M-s");
    // The draft is in flight, and there is no reply yet.
    harness.press("S").expect("Submit review of !42 · 2 comments, 1 on this computer");
    harness.reply(&drafts, json!({"id": 9, "note": "Later."}));
    harness.reply(&format!("{MR}/draft_notes"), vec![first, draft(9, "Later.", Some(2))]).settle().await;
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
    harness.reply(&publish, json!({})).press("C-s").settle().await;
    let sent: Vec<&String> = writes(&harness);
    assert_eq!(sent.iter().filter(|line| line.starts_with(&format!("{drafts} "))).count(), 1, "{sent:?}");
    assert_eq!(sent.last(), Some(&&format!("{publish} reviewer_state=reviewed")));
}

#[tokio::test]
async fn draft_notes_on_the_server_can_be_edited_published_and_deleted() {
    let notes = vec![draft(9, "First.", Some(2)), draft(10, "Second.", None)];
    let mut harness = open(vec![], Some(notes), None).await;
    harness.expect("2 drafts").press("K").expect("Drafts on acme/rocket-ui!42 · 2").expect("src/table.rs:2");
    let one = format!("PUT {WRITE}/draft_notes/9");
    harness
        .reply(&one, json!({"id": 9}))
        .press("Enter")
        .expect("First.")
        .type_text(" More.")
        .press("M-s")
        .settle()
        .await;
    let sent: Value =
        serde_json::from_str(writes(&harness)[0].strip_prefix(&format!("{one} ")).expect("a change")).expect("JSON");
    assert_eq!((&sent["note"], &sent["position"]["new_line"]), (&json!("First. More."), &json!(2)));
    harness.reply(&format!("{MR}/notes"), [note(600, "ada", "First.", None, None)]);
    harness.reply(&format!("{MR}/draft_notes"), [draft(10, "Second.", None)]);
    harness.reply(&format!("{one}/publish"), json!({})).press("s").settle().await;
    assert_eq!(writes(&harness)[1], &format!("{one}/publish"));
    harness.press("j").press("D").expect("Delete the draft \"Second.\"");
    harness.reply(&format!("DELETE {WRITE}/draft_notes/10"), json!({})).press("y").settle().await;
    assert_eq!(writes(&harness)[2], &format!("DELETE {WRITE}/draft_notes/10"));
}

#[tokio::test]
async fn a_server_without_threads_says_so() {
    let mut harness = open(vec![], None, None).await;
    harness.unsupported(&format!("{MR}/discussions"));
    harness.press("r").settle().await;
    harness.press("t").expect("This server has no threads");
}

#[tokio::test]
async fn two_versions_can_be_compared() {
    let mut harness = open(vec![], None, Some("changes")).await;
    let version = |id: u32, head: &str| {
        json!({"id": id, "head_commit_sha": head, "base_commit_sha": BASE, "start_commit_sha": BASE,
            "created_at": "2026-06-15T10:00:00Z", "state": "collected"})
    };
    harness.reply(&format!("{MR}/versions"), [version(3, HEAD), version(2, OLD)]);
    // The texts are read where the changes do not fit them.
    let reviewed = json!([changed_file("src/table.rs", "@@ -1 +1 @@\n-was\n+came\n")]);
    harness.reply(&format!("{MR}/versions/2"), version(2, OLD).with(json!({"commits": [], "diffs": reviewed})));
    let raw = "GET /projects/acme%2Frocket-ui/repository/files/src%2Ftable.rs/raw";
    for (commit, text) in [(BASE, "was\n"), (HEAD, "is\n")] {
        harness.reply_raw(&format!("{raw}?ref={commit}"), text);
    }
    harness.press("a").type_text("Compare v").press("Enter").settle().await;
    harness
        .expect("Compare from")
        .expect("version 1")
        .expect("base")
        .expect_no("version 2")
        .press("Enter")
        .settle()
        .await;
    harness.expect("Compare version 1 with").expect("version 2").press("Enter").settle().await;
    harness.expect("1 file changed from version 1 to version 2").expect("- came").expect("+ is").expect_no("was");
}

#[tokio::test]
async fn versions_have_numbers_only_if_all_of_them_are_known() {
    // A page is 100 versions, and ten pages are loaded.
    for (count, newest, oldest) in [(101, "version 101", "version 1"), (1001, "version 000003e9", "version 00000002")] {
        let mut harness = open(vec![], None, Some("changes")).await;
        let version = |id: u32| {
            json!({"id": id, "head_commit_sha": format!("{id:08x}"), "base_commit_sha": BASE, "state": "collected",
                "created_at": "2026-06-15T10:00:00Z"})
        };
        harness.reply(&format!("{MR}/versions"), (1..=count).rev().map(version).collect::<Vec<Value>>());
        harness.press("a").type_text("Compare v").press("Enter").settle().await;
        harness.expect("Compare from").type_text(oldest).press("Enter").settle().await;
        harness.expect(&format!("Compare {oldest} with")).expect(newest).type_text(newest).press("Enter");
        harness.expect(&format!("from {oldest} to {newest}"));
    }
}

#[tokio::test]
async fn a_review_is_not_submitted_if_one_of_its_drafts_fails() {
    let mut harness = open(threads(), Some(vec![draft(9, "First.", None)]), None).await;
    let (notes, publish) = (format!("POST {WRITE}/notes"), format!("POST {WRITE}/draft_notes/bulk_publish"));
    harness.fail(&notes, 422, "too long").press("S").type_text("A summary.").press("M-a C-s");
    harness.settle().await;
    harness.expect("Review not submitted").expect("too long");
    assert!(!harness.asked.contains(&publish), "{:?}", harness.asked);
    assert_eq!(harness.kept.values().filter(|kept| kept.contains("A summary.")).count(), 1, "{:?}", harness.kept);
    // Submitted again, the same summary is sent once, and the approval waits until the review is published.
    harness.reply(&notes, json!({"id": 10})).fail(&publish, 500, "out of ink");
    harness.press("Esc").press("S").press("M-a C-s").settle().await;
    assert_eq!(harness.asked.iter().filter(|line| line.starts_with(&format!("{notes} "))).count(), 2);
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
    harness.expect("Could not submit your review of !42");
    assert!(!harness.asked.iter().any(|line| line.contains("/approve ")), "{:?}", harness.asked);
}

#[tokio::test]
async fn a_comment_that_waits_is_mentioned_until_it_is_sent() {
    let mut harness = open(vec![], Some(vec![]), None).await;
    let post = format!("POST {WRITE}/notes");
    harness.fail(&post, 429, "Retry later").press("C").type_text("Perhaps.").press("C-s").settle().await;
    harness.expect("waiting to be sent…").press("Esc").expect_no("waiting to be sent…");
    harness.pass(10).settle().await.expect("1 comment waiting");
    let if_killed = harness.kept.clone();
    harness.press("Q").expect("1 comment has not been sent. It stays among your drafts.").press("n");
    assert!(!harness.app.is_quitting());
    harness.press("Q").press("y");
    assert!(harness.app.is_quitting());
    let begin = |kept| {
        let mut begin = Begin::at(Place::new("mr").project("acme/rocket-ui").item(42));
        (begin.drafts, begin.account) = (kept, "ada".into());
        open_with(begin, whole(HEAD), vec![], Some(vec![]))
    };
    begin(if_killed).await.expect("1 comment has not been sent: g k lists it.");
    let mut harness = begin(std::mem::take(&mut harness.kept)).await;
    harness.expect("1 comment has not been sent: g k lists it.").expect_no("1 comment waiting");
    assert!(writes(&harness).is_empty(), "{:?}", writes(&harness));
    harness.pass(60).settle().await.expect_no("has not been sent");
    harness.press("g k").expect("Perhaps.").press("Enter").reply(&post, note(600, "ada", "Perhaps.", None, None));
    harness.press("C-s").settle().await.expect_no("waiting");
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
    harness.press("Q");
    assert!(harness.app.is_quitting());
}

#[tokio::test]
async fn an_uncertain_comment_added_to_the_review_is_not_posted_twice() {
    let mut harness = open(vec![], Some(vec![]), None).await;
    let post = format!("POST {WRITE}/notes");
    harness.unreachable(&post).press("C").type_text("Perhaps.").press("C-s").settle().await;
    harness.pass(10).settle().await;
    harness.expect("it has not arrived").reply(&post, note(600, "ada", "Perhaps.", None, None));
    harness
        .press("Esc")
        .press("K")
        .press("Enter")
        .expect("Perhaps.")
        .press("M-s")
        .expect("Added to your review.")
        .settle()
        .await;
    harness.pass(10).settle().await;
    assert_eq!(writes(&harness).len(), 1, "{:?}", writes(&harness));
    // On submitting, it is searched among the comments, because it was sent as one, and is not sent again as a draft
    // note.
    harness.reply(&format!("{MR}/notes"), [note(600, "ada", "Perhaps.", None, None)]);
    harness.reply(&format!("POST {WRITE}/draft_notes/bulk_publish"), json!({}));
    harness.press("S").expect("1 comment").press("C-s").settle().await;
    let sent: Vec<&str> = writes(&harness).into_iter().map(String::as_str).collect();
    assert_eq!(sent[1..], [format!("POST {WRITE}/draft_notes/bulk_publish reviewer_state=reviewed")]);
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn a_draft_note_is_published_even_if_the_reply_to_its_change_is_lost() {
    let mut harness = open(vec![], Some(vec![draft(9, "First.", Some(2))]), None).await;
    let one = format!("PUT {WRITE}/draft_notes/9");
    harness.unreachable(&one).reply(&format!("{one}/publish"), json!({}));
    harness.reply(&format!("{MR}/notes"), [note(600, "ada", "First. More.", None, None)]);
    harness.press("K").press("Enter").type_text(" More.").press("C-s");
    // The server accepted the change, but its reply was lost.
    harness.reply(&format!("{MR}/draft_notes"), [draft(9, "First. More.", Some(2))]).settle().await;
    harness.pass(10).settle().await;
    assert_eq!(writes(&harness).last(), Some(&&format!("{one}/publish")), "{:?}", writes(&harness));
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn outdated_threads_show_their_version() {
    let mut harness = open(threads(), None, None).await;
    let version = |id: u32, head: &str| json!({"id": id, "head_commit_sha": head, "base_commit_sha": BASE});
    let versions = [version(3, HEAD), version(2, OLD), version(1, BASE)];
    harness
        .expect("src/table.rs:9 · outdated, at 22222222")
        .reply(&format!("{MR}/versions"), versions)
        .press("r")
        .settle()
        .await;
    harness.expect("src/table.rs:9 · outdated, version 2").expect_no("at 22222222");
    harness.press("3").settle().await;
    harness.expect("src/table.rs:9 · outdated, version 2");
}

/// Returns the position in the last new thread.
fn last_position(harness: &Harness) -> Value {
    let create = format!("POST {WRITE}/discussions ");
    let last = writes(harness).last().and_then(|line| line.strip_prefix(&create)).expect("a new thread").to_owned();
    serde_json::from_str::<Value>(&last).expect("JSON")["position"].clone()
}

#[tokio::test]
async fn a_comment_on_one_commit_starts_a_thread_on_that_commit() {
    let mut harness = open(vec![], None, Some("changes")).await;
    let commit =
        |id: &str, parent: &str| json!({"id": id, "short_id": &id[..8], "title": "A commit", "parent_ids": [parent]});
    harness.reply(&format!("{MR}/commits"), [commit(HEAD, OLD), commit(OLD, BASE)]);
    let changed = [json!({"old_path": "src/table.rs", "new_path": "src/table.rs", "diff": "@@ -5 +5 @@\n-was\n+is\n"})];
    harness.reply(&format!("GET /projects/acme%2Frocket-ui/repository/commits/{OLD}/diff"), changed);
    harness.press("r").settle().await;
    harness.press(")").settle().await;
    harness.expect("Commit 1 of 2");
    harness.reply(&format!("POST {WRITE}/discussions"), json!({"id": "eee", "notes": [{"id": 700}]}));
    to_line(&mut harness, "+ is");
    harness.press("c").type_text("Here.").press("C-s").settle().await;
    assert_eq!(
        last_position(&harness),
        json!({"position_type": "text", "base_sha": BASE, "start_sha": BASE, "head_sha": OLD,
            "old_path": "src/table.rs", "new_path": "src/table.rs", "new_line": 5})
    );
    let last = writes(&harness).last().cloned().expect("a thread");
    assert!(last.contains(&format!("\"commit_id\":\"{OLD}\"")), "the commit is sent: {last}");
}

#[tokio::test]
async fn a_thread_on_one_commit_is_not_outdated() {
    let on_commit = note(801, "bo", "Why so?", Some((900, OLD)), Some(false)).with(json!({"commit_id": OLD}));
    let mut harness = open(vec![thread("one", vec![on_commit])], None, None).await;
    harness.expect(&format!("src/table.rs:900 · at {}", &OLD[..8])).expect_no("outdated");
    harness.press("3").settle().await;
    harness.expect("src/table.rs:900 · on one commit").expect_no("outdated");
}

#[tokio::test]
async fn a_thread_on_an_image_is_shown_at_its_file_with_coordinates() {
    let position = json!({"base_sha": BASE, "start_sha": BASE, "head_sha": HEAD, "position_type": "image",
        "old_path": "src/table.rs", "new_path": "src/table.rs", "width": 64, "height": 48, "x": 12, "y": 30});
    let on_image = note(801, "bo", "This corner.", None, Some(false));
    let on_image = on_image.with(json!({"type": "DiffNote", "position": position}));
    let mut harness = open(vec![thread("img", vec![on_image])], None, None).await;
    harness.expect("src/table.rs · at 12, 30");
    harness.press("3").settle().await;
    harness.expect("the image at 12, 30").expect("This corner.");
}

/// Returns a red picture of the given size.
fn bitmap(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
    bytes.extend([width.to_le_bytes(), height.to_le_bytes()].concat());
    bytes.extend([1, 0, 24, 0]);
    bytes.resize(54, 0);
    let row = [0, 0, 255].repeat(width as usize);
    let padded = row.len().next_multiple_of(4);
    (0..height).for_each(|_| bytes.extend(row.iter().copied().chain([0; 3]).take(padded)));
    bytes
}

/// Opens the changes of a merge request that adds a picture.
async fn with_picture() -> Harness {
    let mut harness = open(vec![], None, Some("changes")).await;
    let changed = whole(OLD);
    harness.reply(MR, &changed);
    let picture = changed_file("logo.bmp", "Binary files /dev/null and b/logo.bmp differ\n");
    let changed = changed.with(json!({"changes": [picture.with(json!({"new_file": true}))]}));
    let project = "GET /projects/acme%2Frocket-ui/repository";
    let entry = file("logo.bmp").with(json!({"id": "b1"}));
    harness
        .reply(&format!("{project}/tree?ref={OLD}"), [entry])
        .reply(&format!("{project}/tree?ref={BASE}"), json!([]))
        .reply_raw(&format!("{project}/blobs/b1/raw"), bitmap(400, 200))
        .reply(&format!("{MR}/changes"), changed)
        .reply(&format!("POST {WRITE}/discussions"), json!({"id": "eee", "notes": [{"id": 700}]}));
    harness.pass(5).press("r").settle().await;
    harness.expect("logo.bmp");
    harness
}

#[tokio::test]
async fn a_comment_on_an_image_applies_to_the_file() {
    let mut harness = with_picture().await;
    to_line(&mut harness, "Expand to see its size");
    harness.press("c").type_text("Which tool?").press("C-s").settle().await;
    assert_eq!(
        last_position(&harness),
        json!({"position_type": "file", "base_sha": BASE, "start_sha": BASE, "head_sha": OLD,
            "old_path": "logo.bmp", "new_path": "logo.bmp"})
    );
}

#[tokio::test]
async fn a_comment_on_a_row_of_an_image_applies_to_a_point() {
    let mut harness = with_picture().await;
    to_line(&mut harness, "Expand to see its size");
    harness.press("x").settle().await;
    to_line(&mut harness, "400 × 200");
    harness.press("j j c").expect("x, y in logo.bmp (400 × 200; empty: the whole file)").expect("200, ");
    harness
        .press("C-u")
        .type_text("400, 7")
        .press("Enter")
        .expect("The image has no such point: it is 400 × 200 pixels.");
    harness.press("c C-u").type_text("12, 30").press("Enter").type_text("This corner.").press("C-s").settle().await;
    assert_eq!(
        last_position(&harness),
        json!({"position_type": "image", "base_sha": BASE, "start_sha": BASE, "head_sha": OLD,
            "old_path": "logo.bmp", "new_path": "logo.bmp", "width": 400, "height": 200, "x": 12, "y": 30})
    );
    harness.press("c C-u Enter").type_text("All of it.").press("C-s").settle().await;
    assert_eq!(last_position(&harness)["position_type"], "file");
}

/// Further details of the changes, the comments on commits, are requested later.
#[tokio::test]
async fn opening_the_changes_needs_at_most_six_requests() {
    let place = Place::new("mr").project("acme/rocket-ui").item(42).tab("changes");
    let mut harness = Begin::at(place).size(120, 44).open();
    let whole = whole(HEAD);
    let changed = whole.clone().with(json!({"changes": [changed_file("src/table.rs", DIFF)]}));
    let commit = |id: &str| json!({"id": id, "short_id": &id[..8], "title": "A commit", "parent_ids": [BASE]});
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, whole)
        .reply(&format!("{MR}/changes"), changed)
        .reply(&format!("{MR}/commits"), [commit(HEAD), commit(OLD)])
        .reply(&format!("{MR}/approvals"), json!({"approved_by": []}))
        .reply(&format!("{MR}/draft_notes"), json!([]))
        .reply(&format!("{MR}/discussions"), &threads()[..3])
        .settle()
        .await;
    harness.expect("let two = 3;").expect("Why two?").expect("Because.");
    // Comments on commits and the versions since a review are requested after the changes are shown.
    let needed = harness.asked.iter().take_while(|line| !line.contains("/comments") && !line.contains("/versions"));
    let needed: Vec<&String> = needed.filter(|line| line.contains("/merge_requests/42")).collect();
    assert!(needed.len() <= 6, "{needed:#?}");
    let asked = |end: &str| needed.iter().any(|line| line.split('?').next().is_some_and(|line| line.ends_with(end)));
    assert!(asked("/changes") && asked("/discussions"), "{needed:#?}");
}

/// GitLab stores the position of a comment as text in JSON and sends numbers back as they were written: clients that
/// compute pixels send fractions, and API users send numbers as text.
#[tokio::test]
async fn odd_notes_leave_the_others_readable() {
    let position = json!({"base_sha": BASE, "start_sha": BASE, "head_sha": HEAD, "position_type": "image",
        "old_path": "logo.png", "new_path": "logo.png", "width": "640", "height": "480.0", "x": "62.14", "y": "2910.89"});
    let on_image = note(601, "bo", "Too dark here.", Some((2, HEAD)), Some(false)).with(json!({"position": position}));
    let mut on_range = note(602, "bo", "These two lines.", Some((3, HEAD)), Some(false));
    on_range["position"]["line_range"] = json!({"start": {"line_code": "a_2_2", "type": "new", "new_line": "2"},
        "end": {"line_code": "a_3_3", "type": "new", "new_line": "3", "old_line": {}}});
    let unreadable = note(603, "cem", "", None, Some(false)).with(json!({"body": {"html": "<p>x</p>"}}));
    let discussions = vec![
        thread("aaa", vec![on_image]),
        thread("bbb", vec![on_range, json!("half")]),
        json!({"id": 7, "individual_note": "no", "notes": [unreadable]}),
        json!(null),
        thread("ddd", vec![note(604, "ada", "An ordinary one.", None, Some(false))]),
    ];
    let mut harness = open(discussions, None, None).await;
    harness.expect("Too dark here.").expect("These two lines.").expect("An ordinary one.").expect("(unreadable)");
    harness.expect("cem").expect("src/table.rs:2-3");
}

#[tokio::test]
async fn enter_on_a_thread_of_a_file_that_is_no_longer_changed_stays() {
    let gone = |mut note: Value| {
        note["position"]["new_path"] = json!("src/gone.rs");
        note["position"]["old_path"] = json!("src/gone.rs");
        note
    };
    let threads = vec![
        thread("aaa", vec![note(501, "bo", "Why two?", Some((2, HEAD)), Some(false))]),
        thread("eee", vec![gone(note(506, "bo", "Of another file.", Some((4, OLD)), Some(false)))]),
    ];
    let mut harness = open(threads, None, None).await;
    harness.click_on("Of another file.").press("Enter").settle().await;
    harness.expect("src/gone.rs is no longer among the changes").expect("Of another file.").expect_no("Files 1");
    harness.click_on("Why two?").press("Enter").settle().await;
    harness.expect("Files 1").expect("let two = 3;");
}

/// Returns a note with a suggestion for line 2 of the file, as servers of today send it.
fn suggestion(id: u64, from: &str, to: &str) -> Value {
    let mut note = note(501, "bo", &format!("So?\n\n```suggestion:-0+0\n{to}```"), Some((2, HEAD)), Some(false));
    note["suggestions"] = json!([{"id": id, "from_line": 2, "to_line": 2, "appliable": true, "applied": false,
        "from_content": from, "to_content": to}]);
    note
}

async fn open_suggestions(notes: Vec<Value>, content: &[u8]) -> Harness {
    let threads = notes.into_iter().enumerate().map(|(at, note)| thread(&format!("a{at}"), vec![note])).collect();
    let mut harness = open(threads, None, None).await;
    let tree = [file("src/table.rs").with(json!({"id": "aaaa"}))];
    harness
        .reply("GET /projects/acme%2Frocket-ui/repository/tree", tree)
        .reply("GET /projects/acme%2Frocket-ui/repository/commits", [json!({"id": HEAD, "title": "x"})])
        .reply_raw("GET /projects/acme%2Frocket-ui/repository/blobs/aaaa/raw", content);
    harness.click_on("So?");
    harness
}

#[tokio::test]
async fn a_suggestion_shows_what_it_replaces_before_the_server_applies_it() {
    let content = b"fn a() {}\nlet new = 2;\nfn b() {}\n";
    let note = suggestion(7, "let new = 2;\n", "let new = 3;\n");
    let mut harness = open_suggestions(vec![note], content).await;
    harness.expect("- let new = 2;").expect("+ let new = 3;");
    harness.press("Y").settle().await;
    harness.expect("Commit to feature/42").expect("src/table.rs:2").expect("- let new = 2;").expect("+ let new = 3;");
    let applied = json!({"id": 7, "from_line": 2, "to_line": 2, "appliable": false, "applied": true,
        "from_content": "let new = 2;\n", "to_content": "let new = 3;\n"});
    harness.reply("PUT /suggestions/7/apply", applied).press("y").settle().await;
    assert!(harness.asked.iter().any(|line| line.starts_with("PUT /suggestions/7/apply")), "{:?}", harness.asked);
    harness.press("3").settle().await;
    harness.expect("- let new = 2;").expect("+ let new = 3;");
}

#[tokio::test]
async fn a_batch_of_suggestions_shows_every_replaced_line() {
    let content = b"fn a() {}\nlet new = 2;\nlet two = 3;\n";
    let mut other = suggestion(8, "let two = 3;\n", "let two = 4;\n");
    other["id"] = json!(502);
    other["position"]["new_line"] = json!(3);
    (other["suggestions"][0]["from_line"], other["suggestions"][0]["to_line"]) = (json!(3), json!(3));
    let notes = vec![suggestion(7, "let new = 2;\n", "let new = 3;\n"), other];
    let mut harness = open_suggestions(notes, content).await;
    harness.press("a").type_text("Apply all").press("Enter").settle().await;
    harness.expect("src/table.rs:2").expect("- let new = 2;").expect("+ let new = 3;");
    harness.expect("src/table.rs:3").expect("- let two = 3;").expect("+ let two = 4;");
    harness.reply("PUT /suggestions/batch_apply", json!([])).press("y").settle().await;
    assert!(harness.asked.iter().any(|line| line.starts_with("PUT /suggestions/batch_apply")), "{:?}", harness.asked);
}

#[tokio::test]
async fn a_suggestion_that_the_server_would_write_with_other_line_endings_is_committed_with_those_of_the_file() {
    let content = b"fn a() {}\r\nlet new = 2;\r\nfn b() {}\r\n";
    let note = suggestion(7, "let new = 2;\r\n", "let new = 3;\nlet more = 4;\n");
    let mut harness = open_suggestions(vec![note], content).await;
    harness.press("Y").settle().await;
    harness.expect("The server would change line endings").press("y").settle().await;
    let commit =
        harness.asked.iter().find(|line| line.starts_with("POST /projects/acme%2Frocket-ui/repository/commits"));
    let commit = commit.unwrap_or_else(|| panic!("{:?}", harness.asked));
    assert!(commit.contains(r"fn a() {}\r\nlet new = 3;\r\nlet more = 4;\r\nfn b() {}\r\n"), "{commit}");
}

#[tokio::test]
async fn a_suggestion_for_a_file_that_is_not_utf_8_is_refused() {
    for content in [&b"fn a() {}\nlet new = 2;\n// Stra\xdfe\n"[..], b"fn a() {}\nlet new = 2;\n\0\n"] {
        let note = suggestion(7, "let new = 2;\n", "let new = 3;\n");
        let mut harness = open_suggestions(vec![note], content).await;
        harness.press("Y").settle().await;
        harness.expect("Cannot apply it: src/table.rs is not UTF-8").press("y").settle().await;
        assert!(
            !harness.asked.iter().any(|line| line.starts_with("PUT") || line.starts_with("POST")),
            "{:?}",
            harness.asked
        );
    }
}

#[tokio::test]
async fn the_facts_name_the_merge_commit_the_scheduled_time_and_a_locked_discussion() {
    let mut harness = open(Vec::new(), None, None).await;
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({
        "merge_after": "2026-06-20T08:30:00Z", "detailed_merge_status": "merge_time", "discussion_locked": true,
    }));
    harness.reply(MR, whole.clone()).press("r").settle().await;
    harness.expect("not before 2026-06-20 08:30").expect("locked: only members can comment");
    let merged = whole.with(json!({
        "state": "merged", "merged_at": "2026-06-15T10:00:00Z",
        "merge_commit_sha": "abcdef0123456789abcdef0123456789abcdef01",
    }));
    harness.reply(MR, merged).press("r").settle().await;
    harness.expect("as abcdef01").expect_no("not before");
}

/// The position of a note on a renamed file has both names.
#[tokio::test]
async fn a_renamed_file_with_a_thread_is_marked() {
    let mut on_line = note(501, "bo", "Of the new name.", Some((1, HEAD)), Some(false));
    on_line["position"]["old_path"] = json!("src/grid.rs");
    for (threads, count) in [(vec![thread("aaa", vec![on_line])], true), (Vec::new(), false)] {
        let mut harness = open(threads, None, Some("changes")).await;
        let renamed = changed_file("src/table.rs", "@@ -1,2 +1,2 @@\n-fn a() {}\n+fn b() {}\n fn c() {}\n")
            .with(json!({"old_path": "src/grid.rs", "renamed_file": true}));
        let changed = whole(HEAD).with(json!({"changes": [renamed, executable()]}));
        harness.reply(&format!("{MR}/changes"), changed).press("r").settle().await;
        let row = harness.line_with("R ");
        assert!(row.contains("○ R ") && row.contains("table.rs") && row.contains("1c") == count, "{row}");
    }
}

/// A file that becomes a link has two entries of one path.
#[tokio::test]
async fn a_thread_on_a_file_that_becomes_a_link_is_shown_once() {
    let path = |mut note: Value, old: Option<u32>, new: Option<u32>| {
        (note["position"]["old_line"], note["position"]["new_line"]) = (json!(old), json!(new));
        note
    };
    let threads = vec![
        thread("aaa", vec![path(note(501, "bo", "Of the file.", Some((2, HEAD)), Some(false)), Some(2), None)]),
        thread("bbb", vec![path(note(502, "bo", "Of the link.", Some((1, HEAD)), Some(false)), None, Some(1))]),
    ];
    let mut harness = open(threads, None, Some("changes")).await;
    let entry = |new: bool, diff: &str| {
        let facts = json!({"new_file": new, "deleted_file": !new, "a_mode": "100644", "b_mode": "120000"});
        changed_file("src/table.rs", diff).with(facts)
    };
    let files = [
        entry(false, "@@ -1,2 +0,0 @@\n-fn a() {}\n-fn b() {}\n"),
        entry(true, "@@ -0,0 +1 @@\n+../other.rs\n\\ No newline at end of file\n"),
        executable(),
    ];
    let changed = whole(HEAD).with(json!({"changes": files}));
    harness.reply(&format!("{MR}/changes"), changed).press("r").settle().await;
    harness.expect("Files 3").expect("mode").expect_no("outside the diff").expect_no("bin ");
    for words in ["Of the file.", "Of the link."] {
        let count = harness.lines().iter().filter(|line| line.contains(words)).count();
        assert_eq!(count, 1, "{words}\n{}", harness.picture());
    }
    // Each entry has its own viewed mark.
    harness.press("Tab").press("g g").press(".").settle().await;
    harness.expect("✓ D table.rs").expect("○ A table.rs");
}

/// Opens the merge request in a clone of its branch, with the line of the first thread as it is there.
async fn in_clone(line: LineInClone, tracked: &str) -> Harness {
    let mut begin = Begin::at(Place::new("mr").project("acme/rocket-ui").item(42));
    let url = "https://demo.test/acme/rocket-ui.git".to_owned();
    let remote = CloneRemote { name: "origin".into(), url, project: "acme/rocket-ui".into(), ..CloneRemote::default() };
    begin.clone = Some(CloneFolder { folder: "/w/ui".into(), remotes: vec![remote], ..CloneFolder::default() });
    let whole = whole(HEAD).with(json!({"source_branch": "rows", "source_project_id": 7, "target_project_id": 7}));
    let mut harness = open_with(begin, whole, threads(), Some(vec![])).await;
    let head = CloneHead {
        branch: Some("rows".into()),
        commit: Some(OLD.into()),
        remote: "origin".into(),
        remote_branch: "rows".into(),
        tracked: Some(tracked.into()),
        ..CloneHead::default()
    };
    harness.send(Msg::HeadRead(Ok(head.clone())));
    harness.settle().await;
    // Now that the branch is known, the lines of its threads are read, too.
    let lines = [("aaa".to_owned(), line)].into();
    harness.send(Msg::HeadRead(Ok(CloneHead { lines, ..head })));
    harness.settle().await;
    harness
}

fn changed_line() -> LineInClone {
    let commit = Some((OLD.to_owned(), "Say why".to_owned()));
    let (before, now) = ("let new = 2;".into(), "let new = 3;".into());
    LineInClone { path: "src/table.rs".into(), line: 9, is_changed: true, commit, before, now }
}

#[tokio::test]
async fn a_thread_of_the_clones_branch_is_worked_off_at_its_line() {
    let line = LineInClone { path: "src/table.rs".into(), line: 9, ..LineInClone::default() };
    let mut harness = in_clone(line, OLD).await;
    harness.expect_no("changed here").press(";").press("e");
    let edited = harness.edited();
    assert_eq!((edited[0].path.clone(), edited[0].line), (PathBuf::from("src/table.rs"), Some(9)));
    harness.press("M-e").expect("No pushed commit changed the lines of an unresolved thread");
    harness.press("R").expect("Reply on src/table.rs:2").expect_no("Done in").press("Esc");
    harness.press("D").expect("Somebody else wrote this comment");
    let mut harness = in_clone(changed_line(), OLD).await;
    harness.expect("changed here").press(";").press("R").expect("Done in 22222222: Say why").press("Esc");
}

#[tokio::test]
async fn threads_in_the_diff_tell_what_became_of_their_lines_in_the_clone() {
    let moved = LineInClone { path: "src/table.rs".into(), line: 9, ..LineInClone::default() };
    let mut harness = in_clone(moved, OLD).await;
    harness.press("3").settle().await;
    harness.expect("line 9 here");
    let renamed = LineInClone { path: "src/grid.rs".into(), line: 9, ..LineInClone::default() };
    let mut harness = in_clone(renamed, OLD).await;
    harness.press("3").settle().await;
    harness.expect("grid.rs:9 here").press(";").press("e");
    let edited = harness.edited();
    assert_eq!((edited[0].path.clone(), edited[0].line), (PathBuf::from("src/grid.rs"), Some(9)));
    let mut harness = in_clone(changed_line(), OLD).await;
    harness.press("3").settle().await;
    harness.expect("changed here in 22222222");
}

#[tokio::test]
async fn threads_that_a_push_answers_become_one_review() {
    in_clone(changed_line(), HEAD).await.press("M-e").expect("The branch has commits that are not pushed");
    let mut harness = in_clone(changed_line(), OLD).await;
    harness.press("M-e").expect("Resolve threads").expect("src/table.rs:2  let new = 2; → let new = 3;");
    harness.press("y").settle().await;
    harness.expect("Drafts on acme/rocket-ui!42 · 1").expect("Done in 22222222: Say why").expect("draft (unsent)");
    harness.press("Esc").press("M-e").expect("No pushed commit changed the lines of an unresolved thread");
    let kept: Vec<&String> = harness.kept.values().collect();
    assert!(kept.iter().any(|draft| draft.contains("\"discussion\":\"aaa\",\"resolved\":true")), "{kept:?}");
    assert!(harness.asked.iter().all(|line| line.starts_with("GET")), "nothing is sent: {:?}", harness.asked);
}

#[tokio::test]
async fn unresolved_threads_are_listed_for_the_editor() {
    let mut harness =
        in_clone(LineInClone { path: "src/table.rs".into(), line: 9, ..LineInClone::default() }, OLD).await;
    harness.press("a").type_text("open threads in editor").press("Enter");
    assert_eq!(harness.edited_lists(), ["src/table.rs:9: bo: Of before.\nsrc/table.rs:9: bo: Why two?\n"]);
}
