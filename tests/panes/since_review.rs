//! A review that survives a rebase: what changed since the version that was reviewed, without what the target branch changed.

use crate::fixtures::{With, changed_file, merge_request, note, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::state::{Change, SeenChange, State};
use labscope::domain::edits::unified_diff;
use serde_json::{Value, json};
use std::time::Duration;

const PROJECT: &str = "/projects/acme%2Frocket-ui";
const MERGE_REQUEST: &str = "acme/rocket-ui!42";
const BASE: &str = "b100000000000000000000000000000000000001";
const HEAD: &str = "b100000000000000000000000000000000000002";
const NEW_BASE: &str = "b200000000000000000000000000000000000001";
const NEW_HEAD: &str = "b200000000000000000000000000000000000002";

/// A file: its path, and its text at both bases and heads.
type File = (&'static str, [String; 4]);

/// Returns a text of 40 lines, after replacements of lines by their numbers.
fn text(changes: &[(usize, &str)]) -> String {
    let line = |at: usize| changes.iter().find(|(number, _)| *number == at).map(|(_, new)| format!("{new}\n"));
    (1..=40).map(|at| line(at).unwrap_or_else(|| format!("line {at}\n"))).collect()
}

/// Returns a file that the author changed in line 10 and the target branch in line 30, before the author did `since`.
fn file(path: &'static str, since: &[(usize, &str)]) -> File {
    let both = [&[(30, "of main")], since, &[(10, "reviewed")]].concat();
    (path, [text(&[]), text(&[(10, "reviewed")]), text(&[(30, "of main")]), text(&both)])
}

/// Returns a file in which the author and the target branch changed the same line.
fn conflict(path: &'static str, solved: &str) -> File {
    let line = |line: &str| text(&[(10, line)]);
    (path, [line("line 10"), line("reviewed"), line("of main"), line(solved)])
}

fn changes(files: &[File], from: usize, to: usize) -> Vec<Value> {
    let changed = files.iter().filter(|(_, texts)| texts[from] != texts[to]);
    let diff = |texts: &[String; 4]| unified_diff(&texts[from], &texts[to], Duration::from_secs(60));
    changed.map(|(path, texts)| changed_file(path, &diff(texts))).collect()
}

fn version(id: u32, base: &str, head: &str, at: &str) -> Value {
    json!({"id": id, "head_commit_sha": head, "base_commit_sha": base, "start_commit_sha": base, "created_at": at,
        "state": "collected"})
}

/// Opens the changes of a merge request that was rebased after a comment of the user.
async fn open(files: &[File], begin: Begin) -> Harness {
    open_with(files, begin, |harness| _ = harness).await
}

/// Like [`open`], with other replies.
async fn open_with(files: &[File], begin: Begin, other: impl FnOnce(&mut Harness)) -> Harness {
    let mut harness = begin.open();
    let mr = format!("GET {PROJECT}/merge_requests/42");
    let repository = format!("GET {PROJECT}/repository");
    let refs = json!({"base_sha": NEW_BASE, "head_sha": NEW_HEAD, "start_sha": NEW_BASE});
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": NEW_HEAD, "diff_refs": refs}));
    let comment = note(501, "ada", "Looks good.").with(json!({"created_at": "2026-06-15T08:30:00Z"}));
    let pushed = note(502, "ada", "added 1 commit").with(json!({"system": true, "created_at": "2026-06-15T09:30:00Z"}));
    let versions =
        [version(2, NEW_BASE, NEW_HEAD, "2026-06-15T09:00:00Z"), version(1, BASE, HEAD, "2026-06-15T08:00:00Z")];
    let reviewed = versions[1].clone().with(json!({"commits": [], "diffs": changes(files, 0, 1)}));
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(&mr, whole.clone())
        .reply(&format!("{mr}/changes"), whole.with(json!({"changes": changes(files, 2, 3)})))
        .reply(&format!("{mr}/commits"), json!([]))
        .reply(&format!("{mr}/draft_notes"), json!([]))
        .reply(&format!("{mr}/notes"), json!([]))
        .reply(
            &format!("{mr}/discussions"),
            [comment, pushed]
                .map(|note| json!({"id": note["id"].to_string(), "individual_note": true, "notes": [note]})),
        )
        .reply(&format!("{mr}/versions"), versions)
        .reply(&format!("{mr}/versions/1"), reviewed)
        .reply(
            &format!("{repository}/compare?from={BASE}&straight=true&to={NEW_BASE}"),
            json!({"commits": [], "diffs": changes(files, 0, 2)}),
        )
        .reply(
            &format!("{repository}/compare?from={HEAD}&straight=true&to={NEW_HEAD}"),
            json!({"commits": [], "diffs": changes(files, 1, 3)}),
        );
    for (path, texts) in files {
        let path = path.replace('/', "%2F");
        for (commit, text) in [BASE, HEAD, NEW_BASE, NEW_HEAD].into_iter().zip(texts) {
            harness.reply_raw(&format!("{repository}/files/{path}/raw?ref={commit}"), text.clone());
        }
    }
    other(&mut harness);
    harness.settle().await;
    harness
}

fn begin() -> Begin {
    Begin::at(Place::new("mr").project("acme/rocket-ui").item(42).tab("changes")).size(140, 44)
}

#[tokio::test]
async fn changes_since_a_review_leave_out_those_of_the_target() {
    let files = [file("a.rs", &[]), file("b.rs", &[(20, "since")]), conflict("c.rs", "solved")];
    let mut harness = open(&files, begin()).await;
    // All changes are shown, with what changed above them.
    harness
        .expect("2 files changed since your review (3h ago), 1 only rebased, 1 conflict with main")
        .expect("u shows");
    // A narrow screen has room for the counts and the key.
    harness.resize(80, 24).expect("2 files changed, 1 only rebased, 1 conflict with main").expect("u shows this");
    harness.resize(140, 44);
    harness.expect("+ reviewed").press("u").settle().await;
    harness.expect("+ since").expect("- line 20").expect("conflict with main, solved by hand");
    harness.expect("- reviewed").expect("+ solved").expect_no("of main").expect("only rebased (folded)");
    // The key shows the text of the target branch on the left side of conflicts.
    harness.press("M-m").settle().await;
    harness.expect("- of main").expect_no("- reviewed").expect("+ solved");
    harness.press("u").settle().await;
    harness.expect("+ reviewed");
    // The comparison of both heads has the changes of the target branch.
    harness.press("u").settle().await;
    harness.press("a").type_text("Compare heads").press("Enter").settle().await;
    harness.expect("Changes from version 1 to the head, with those of main").expect("+ of main").expect("+ since");
}

#[tokio::test]
async fn a_rebase_alone_leaves_nothing_to_review() {
    let mut harness = open(&[file("a.rs", &[]), file("b.rs", &[])], begin()).await;
    harness.expect("Nothing to review since your review (3h ago), 2 only rebased").press("u").settle().await;
    harness.expect("Nothing to review").expect("only rebased (folded)").expect_no("+ reviewed").expect_no("of main");
    let texts = harness.asked.iter().filter(|line| line.contains("/raw?")).count();
    assert_eq!(texts, 2, "one text of each file: {:?}", harness.asked);
}

#[tokio::test]
async fn what_cannot_be_compared_is_shown_whole() {
    let files = [file("a.rs", &[]), file("b.rs", &[(20, "since")])];
    let not_found = |harness: &mut Harness, paths: &[String]| {
        paths.iter().for_each(|path| _ = harness.fail(&format!("GET {PROJECT}/{path}"), 404, "404 Not Found"));
    };
    // The texts of the reviewed version are gone.
    let text = |path: &str, commit: &str| format!("repository/files/{path}/raw?ref={commit}");
    let texts = [text("a.rs", BASE), text("a.rs", HEAD), text("b.rs", BASE), text("b.rs", HEAD)];
    let mut harness = open_with(&files, begin(), |harness| not_found(harness, &texts)).await;
    harness.press("u").settle().await;
    harness.expect_no("Nothing to review").expect("2 files changed").expect("+ reviewed").expect("all changes");
    // The server cannot compare the bases: their texts are read.
    let compare = [format!("repository/compare?from={BASE}&straight=true&to={NEW_BASE}")];
    let mut harness = open_with(&files, begin(), |harness| not_found(harness, &compare)).await;
    harness.press("u").settle().await;
    harness.expect("1 file changed since your review (3h ago), 1 only rebased").expect("+ since").expect_no("of main");
    // The reviewed version itself is gone.
    let version = ["merge_requests/42/versions/1".to_owned()];
    let mut harness = open_with(&files, begin(), |harness| not_found(harness, &version)).await;
    harness.expect("+ reviewed").expect_no("Nothing to review").press("u").settle().await;
    harness.expect("404").press("u").settle().await;
    harness.expect("+ reviewed");
}

#[tokio::test]
async fn viewed_marks_survive_a_rebase() {
    let files = [file("a.rs", &[]), file("b.rs", &[(20, "since")])];
    let mut before = begin().open();
    let mr = format!("GET {PROJECT}/merge_requests/42");
    let refs = json!({"base_sha": BASE, "head_sha": HEAD, "start_sha": BASE});
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": HEAD, "diff_refs": refs}));
    before
        .reply("GET /user", user(1, "ada"))
        .reply(&mr, whole.clone())
        .reply(&format!("{mr}/changes"), whole.with(json!({"changes": changes(&files, 0, 1)})))
        .reply(&format!("{mr}/commits"), json!([]))
        .reply(&format!("{mr}/discussions"), json!([]));
    before.settle().await;
    before.press("v v").expect("Files 2/2");
    let kept = before.states["ada"].clone();
    let seen = kept.seen.heads.get(MERGE_REQUEST).expect("a head");
    assert_eq!((seen.last.as_str(), seen.base.as_deref()), (HEAD, Some(BASE)));
    let mut begin = begin();
    begin.states.insert("ada".into(), kept);
    let mut harness = open(&files, begin).await;
    harness.expect("Files 1/2").expect("✓ M a.rs").expect_no("✓ M b.rs");
    // A mark that is made since the review counts in all changes.
    harness.press("u").settle().await;
    harness.expect("Files 1/2").press("v").expect("Files 2/2").press("u").settle().await;
    harness.expect("Files 2/2");
}

#[tokio::test]
async fn comments_since_a_review_are_on_lines_of_the_current_changes() {
    let files = [file("a.rs", &[(20, "since")])];
    let post = format!("POST {PROJECT}/merge_requests/42/discussions");
    // The line that was restored or added; a removed line that all changes have; one that only the review had.
    for (key, words, old, new) in [("+", "since", None, Some(20)), ("-", "line 20", Some(20), None)] {
        let mut harness = open(&files, begin()).await;
        harness.reply(&post, json!({"id": "x", "notes": [note(600, "ada", "Why?")]}));
        harness.press("u").settle().await;
        harness.press("Tab g g");
        let is_there = |harness: &Harness| {
            harness.lines().iter().any(|line| line.contains('▌') && line.contains(words) && line.contains(key))
        };
        for _ in 0..30 {
            if is_there(&harness) {
                break;
            }
            harness.press("j");
        }
        assert!(is_there(&harness), "{}", harness.picture());
        harness.press("c").type_text("Why?").press("C-s").settle().await;
        let sent = harness
            .asked
            .iter()
            .find_map(|line| line.strip_prefix(&format!("{post} ")))
            .unwrap_or_else(|| panic!("{:?}\n{}", harness.asked, harness.picture()));
        let position = serde_json::from_str::<Value>(sent).expect("JSON")["position"].clone();
        assert_eq!((&position["base_sha"], &position["head_sha"]), (&json!(NEW_BASE), &json!(NEW_HEAD)), "{position}");
        assert_eq!((position["old_line"].as_u64(), position["new_line"].as_u64()), (old, new), "{position}");
    }
}

#[tokio::test]
async fn a_look_that_is_later_than_the_comment_counts() {
    // The same head had another base: that is no version here, so the comment counts.
    let change =
        SeenChange::Head { merge_request: MERGE_REQUEST.into(), sha: NEW_HEAD.into(), base: Some(BASE.into()) };
    let mut state = State::default();
    state.apply(&Change::Seen(change));
    let mut begin = begin();
    begin.states.insert("ada".into(), state);
    let mut harness = open(&[file("a.rs", &[])], begin).await;
    harness.expect("Nothing to review since your review (3h ago)").press("u").settle().await;
    harness.expect("Nothing to review");
}

#[tokio::test]
async fn own_threads_whose_lines_changed_come_first() {
    let files = [file("a.rs", &[(20, "since")])];
    let thread = |id: u64, author: &str, line: u32| {
        let position = json!({"position_type": "text", "base_sha": NEW_BASE, "start_sha": NEW_BASE, "head_sha": NEW_HEAD,
            "old_path": "a.rs", "new_path": "a.rs", "new_line": line});
        let note = note(id, author, &format!("Comment {id}.")).with(json!({"created_at": "2026-06-15T08:30:00Z",
            "type": "DiffNote", "resolvable": true, "resolved": false, "position": position}));
        json!({"id": id.to_string(), "individual_note": false, "notes": [note]})
    };
    // On an unchanged line near it, on the line of somebody else, and on the line that changed.
    let threads = json!([thread(601, "ada", 18), thread(602, "bo", 20), thread(603, "ada", 20)]);
    let discussions = format!("GET {PROJECT}/merge_requests/42/discussions");
    let mut harness = open_with(&files, begin(), |harness| _ = harness.reply(&discussions, threads)).await;
    harness.press("u").settle().await;
    harness.expect("1 file changed since your review (3h ago), 1 of your threads changed");
    let is_it = |line: &String| line.contains("unresolved · changed since");
    assert_eq!(harness.lines().iter().filter(|line| is_it(line)).count(), 1, "{}", harness.picture());
    harness.press(";").settle().await;
    assert!(harness.lines().iter().any(|line| is_it(line) && line.contains("│▌")), "{}", harness.picture());
}
