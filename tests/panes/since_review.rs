//! A review that survives a rebase: what changed since the version that was reviewed, without what the target branch changed.

use crate::fixtures::{With, changed_file, commit, merge_request, note, user};
use crate::harness::{Begin, Harness};
use git2::{Oid, Repository, Signature};
use labscope::app::Place;
use labscope::app::state::{AccountState, SeenChange, StateChange};
use labscope::backend::clone_reader;
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
    open_at([BASE, HEAD, NEW_BASE, NEW_HEAD], files, begin, other).await
}

/// Like [`open_with`], with other commits.
async fn open_at(commits: [&str; 4], files: &[File], begin: Begin, other: impl FnOnce(&mut Harness)) -> Harness {
    let [base, head, new_base, new_head] = commits;
    let mut harness = begin.open();
    let mr = format!("GET {PROJECT}/merge_requests/42");
    let repository = format!("GET {PROJECT}/repository");
    let refs = json!({"base_sha": new_base, "head_sha": new_head, "start_sha": new_base});
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": new_head, "diff_refs": refs}));
    let comment = note(501, "ada", "Looks good.").with(json!({"created_at": "2026-06-15T08:30:00Z"}));
    let pushed = note(502, "ada", "added 1 commit").with(json!({"system": true, "created_at": "2026-06-15T09:30:00Z"}));
    let versions =
        [version(2, new_base, new_head, "2026-06-15T09:00:00Z"), version(1, base, head, "2026-06-15T08:00:00Z")];
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
            &format!("{repository}/compare?from={base}&straight=true&to={new_base}"),
            json!({"commits": [], "diffs": changes(files, 0, 2)}),
        )
        .reply(
            &format!("{repository}/compare?from={head}&straight=true&to={new_head}"),
            json!({"commits": [], "diffs": changes(files, 1, 3)}),
        );
    for (path, texts) in files {
        let path = path.replace('/', "%2F");
        for (commit, text) in commits.into_iter().zip(texts) {
            harness.reply_raw(&format!("{repository}/files/{path}/raw?ref={commit}"), text.clone());
        }
    }
    other(&mut harness);
    harness.settle().await;
    // In the list of files, on the first one.
    harness.press("g g Tab").settle().await;
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
        .expect("2 files changed since your review (3h ago), 1 only rebased, 1 conflict solved by hand")
        .expect("u shows");
    // A narrow screen has room for the counts and the key.
    harness.resize(80, 24).expect("2 files changed, 1 only rebased, 1 conflict solved by hand").expect("u shows this");
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
    before.press(". .").expect("Files 2/2");
    let kept = before.states["ada"].clone();
    let seen = kept.seen.heads.get(MERGE_REQUEST).expect("a head");
    assert_eq!((seen.last.as_str(), seen.base.as_deref()), (HEAD, Some(BASE)));
    let mut begin = begin();
    begin.states.insert("ada".into(), kept);
    let mut harness = open(&files, begin).await;
    harness.expect("Files 1/2").expect("✓ M a.rs").expect_no("✓ M b.rs");
    // A mark that is made since the review counts in all changes.
    harness.press("u").settle().await;
    harness.expect("Files 1/2").press(".").expect("Files 2/2").press("u").settle().await;
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
    let mut state = AccountState::default();
    state.apply(&StateChange::Seen(change));
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

/// Returns a commit of a merge request as GitLab sends it, without its parents (`MergeRequestDiffCommit#parent_ids`).
fn part(sha: &str, title: &str, day: u32) -> Value {
    commit(sha, title, &format!("2026-06-{day:02}T10:00:00Z"))
}

const FIRST: &str = "c100000000000000000000000000000000000001";
const GONE: &str = "c100000000000000000000000000000000000002";
const NEW_FIRST: &str = "c200000000000000000000000000000000000001";

/// Opens a merge request of two commits that was rebased: the first one changed `a.rs`, and the second one `b.rs` and, since
/// the review, a line more. A third one is gone, and a fourth one in the target branch.
async fn open_with_commits(begin: Begin) -> Harness {
    let files = [file("a.rs", &[]), file("b.rs", &[(20, "since")])];
    let mr = format!("GET {PROJECT}/merge_requests/42");
    let repository = format!("GET {PROJECT}/repository");
    let taken = || part("c100000000000000000000000000000000000003", "Fix typo", 3);
    let before = json!([part(HEAD, "Edit b", 2), part(FIRST, "Edit a", 1), part(GONE, "Try something", 4), taken()]);
    let now = json!([part("c2aa", "Answer review", 9), part(NEW_HEAD, "Edit b", 2), part(NEW_FIRST, "Edit a", 1)]);
    open_with(&files, begin, |harness| {
        let reviewed = version(1, BASE, HEAD, "2026-06-15T08:00:00Z");
        harness
            .reply(&format!("{mr}/commits"), now)
            .reply(
                &format!("{mr}/versions/1"),
                reviewed.with(json!({"commits": before, "diffs": changes(&files, 0, 1)})),
            )
            .reply(
                &format!("{repository}/compare?from={BASE}&straight=true&to={NEW_BASE}"),
                json!({"commits": [taken().with(json!({"id": "f00d"}))], "diffs": changes(&files, 0, 2)}),
            )
            .reply(
                &format!("{repository}/compare?from={FIRST}&straight=true&to={NEW_FIRST}"),
                json!({"commits": [], "diffs": changes(&files[1..], 0, 2)}),
            );
        for (sha, parent, diffs) in [
            (FIRST, BASE, changes(&files[..1], 0, 1)),
            (HEAD, FIRST, changes(&files[1..], 0, 1)),
            (NEW_FIRST, NEW_BASE, changes(&files[..1], 2, 3)),
            (NEW_HEAD, NEW_FIRST, changes(&files[1..], 2, 3)),
            (GONE, BASE, vec![changed_file("c.rs", "@@ -1 +1 @@\n-try\n+catch\n")]),
            ("c2aa", NEW_HEAD, vec![changed_file("d.rs", "@@ -1 +1 @@\n-question\n+answer\n")]),
        ] {
            harness
                .reply(&format!("{repository}/commits/{sha}"), part(sha, "", 1).with(json!({"parent_ids": [parent]})))
                .reply(&format!("{repository}/commits/{sha}/diff"), diffs);
        }
        let (path, texts) = &files[1];
        for (commit, text) in [FIRST, HEAD, NEW_FIRST, NEW_HEAD].into_iter().zip(texts) {
            harness.reply_raw(&format!("{repository}/files/{path}/raw?ref={commit}"), text.clone());
        }
    })
    .await
}

#[tokio::test]
async fn commits_are_paired_with_those_of_the_reviewed_version() {
    let mut harness = open_with_commits(begin()).await;
    harness.press("2").settle().await;
    harness.expect("Edit a").expect_no("same").expect_no("gone");
    harness.press("3 u 2").settle().await;
    harness.expect("3 commits since version 1: 1 same, 1 changed, 1 new; 1 gone, 1 taken over by main");
    for (title, mark) in [
        ("Answer review", "+ new"),
        ("Edit b", "! 2 lines"),
        ("Edit a", "= same"),
        ("Try something", "- gone"),
        ("Fix typo", "- in main"),
    ] {
        assert!(harness.line_with(title).contains(mark), "{title}\n{}", harness.picture());
    }
    // A narrow screen keeps the marks.
    harness.resize(80, 24).expect("! 2 lines").expect("+ new");
    harness.resize(140, 44);
    // A changed commit shows its difference, and Esc leads back.
    harness.press("j Enter").settle().await;
    harness.expect("1 file changed from b1000000 to b2000000").expect("- line 20").expect("+ since");
    harness.expect_no("of main").expect_no("+ reviewed");
    harness.press("Esc").settle().await;
    harness.expect("1 file changed since your review (3h ago), 1 only rebased").press("2").settle().await;
    // The others are shown whole.
    harness.expect("! 2 lines").press("k Enter").settle().await;
    harness.expect("Commit 3 of 3");
    // All changes have the plain list.
    let mut harness = open_with_commits(begin().accessible()).await;
    harness.press("u 2").settle().await;
    harness.expect("1 same, 1 changed").press("3 u 2").settle().await;
    harness.expect("Edit a").expect_no("same");
}

#[tokio::test]
async fn commits_whose_changes_cannot_be_read_are_not_called_the_same() {
    let mut harness = open_with_commits(begin()).await;
    for sha in [FIRST, NEW_FIRST, HEAD] {
        harness.fail(&format!("GET {PROJECT}/repository/commits/{sha}/diff"), 404, "404 Commit Not Found");
    }
    harness.press("u 2").settle().await;
    assert!(harness.line_with("Edit a").contains("? not compared"), "{}", harness.picture());
    harness.expect("2 not compared").expect("+ new").expect_no("same");
    // The reviewed version is gone.
    let mut harness = open_with_commits(begin()).await;
    harness.press("u").settle().await;
    harness.fail(&format!("GET {PROJECT}/merge_requests/42/versions/1"), 404, "404 Not found");
    harness.press("2 r").settle().await;
    harness.expect("1 new");
}

/// The budget: 25 requests, and 6 of those that GitLab limits (merge_requests_read_diffs, gitlab!270291: changes, diffs,
/// raw diffs and a version).
#[tokio::test]
async fn a_request_of_twelve_commits_takes_few_requests() {
    let names = ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs", "f.rs", "g.rs", "h.rs", "i.rs", "j.rs", "k.rs", "l.rs"];
    // The target branch changed two of the files.
    let files = names.into_iter().enumerate().map(|(at, name)| match at {
        0 => file(name, &[]),
        1 => file(name, &[(20, "since")]),
        _ => (name, [text(&[]), text(&[(10, "reviewed")]), text(&[]), text(&[(10, "reviewed")])]),
    });
    let files: Vec<File> = files.collect();
    let sha = |version: usize, at: usize| format!("{version}{at:039x}");
    let commits = |version: usize| -> Vec<Value> {
        let title = |at: usize| format!("Edit {}", names[at]);
        (0..12).rev().map(|at| part(&sha(version, at), &title(at), at as u32 + 1)).collect()
    };
    let mr = format!("GET {PROJECT}/merge_requests/42");
    let mut harness = open_with(&files, begin(), |harness| {
        let reviewed = version(1, BASE, HEAD, "2026-06-15T08:00:00Z");
        let reviewed = reviewed.with(json!({"commits": commits(1), "diffs": changes(&files, 0, 1)}));
        harness.reply(&format!("{mr}/commits"), commits(2)).reply(&format!("{mr}/versions/1"), reviewed);
        for at in 0..12 {
            for (number, from, to) in [(1, 0, 1), (2, 2, 3)] {
                let diff = format!("GET {PROJECT}/repository/commits/{}/diff", sha(number, at));
                harness.reply(&diff, changes(&files[at..=at], from, to));
            }
        }
    })
    .await;
    harness.press("u").settle().await;
    harness.expect("1 file changed since your review (3h ago), 11 only rebased");
    // What all changes need as well does not count.
    let count = |harness: &Harness| {
        let own = ["/versions", "/compare", "/raw", "/diff?"];
        let is_own = |line: &&String| own.iter().any(|part| line.contains(part));
        let asked: Vec<String> = harness.asked.iter().filter(is_own).cloned().collect();
        let limited = ["/changes", "/diffs", "/raw_diffs", "/versions/"];
        let limited = asked.iter().filter(|line| limited.iter().any(|part| line.contains(part))).count();
        (asked.len(), limited, asked.join("\n"))
    };
    let (all, limited, asked) = count(&harness);
    assert!(all <= 5 && limited <= 1, "{all} requests, {limited} limited:\n{asked}");
    harness.press("2").settle().await;
    harness.expect("12 commits since version 1: 10 same, 2 not compared");
    let (all, limited, asked) = count(&harness);
    assert!(all <= 25 && limited <= 6, "{all} requests, {limited} limited:\n{asked}");
    // The rest follows when the cursor gets there.
    harness.press("G").settle().await;
    harness.expect("11 same, 1 changed");
}

/// Commits files with the texts of a version, the first few of another one, and returns the SHA.
fn commit_texts(repo: &Repository, files: &[File], [of, later]: [usize; 2], first: usize, parent: Option<Oid>) -> Oid {
    let by = Signature::new("Ada", "ada@example.com", &git2::Time::new(1_700_000_000, 0)).expect("a signature");
    let mut tree = repo.treebuilder(None).expect("a tree");
    for (at, (path, texts)) in files.iter().enumerate() {
        let text = &texts[if at < first { later } else { of }];
        tree.insert(path, repo.blob(text.as_bytes()).expect("a file"), 0o100644).expect("in the tree");
    }
    let tree = repo.find_tree(tree.write().expect("a tree")).expect("a tree");
    let parent = parent.map(|id| repo.find_commit(id).expect("a commit"));
    let title = format!("Edit {}", files[first.saturating_sub(1)].0);
    repo.commit(None, &by, &by, &title, &tree, &parent.iter().collect::<Vec<_>>()).expect("a commit")
}

/// In a clone with the commits of both versions, only what it cannot know is read from the server. In one that lacks some, the
/// server is asked for what needs them.
#[tokio::test]
async fn a_clone_takes_the_place_of_the_server() {
    let files = [file("a.rs", &[]), file("b.rs", &[(20, "since")]), conflict("c.rs", "solved")];
    let folder = tempfile::tempdir().expect("a folder");
    let repo = Repository::init(folder.path()).expect("a clone");
    let base = commit_texts(&repo, &files, [0, 0], 0, None);
    let new_base = commit_texts(&repo, &files, [2, 2], 0, Some(base));
    // One commit for each file.
    let branch = |texts: [usize; 2], from: Oid| -> Vec<Oid> {
        let mut all = vec![from];
        (1..=files.len()).for_each(|first| all.push(commit_texts(&repo, &files, texts, first, all.last().copied())));
        all.split_off(1)
    };
    let (before, now) = (branch([0, 1], base), branch([2, 3], new_base));
    let shas = [base, before[2], new_base, now[2]].map(|id| id.to_string());
    let commits: Vec<Value> = (0..3)
        .rev()
        .map(|at| part(&now[at].to_string(), &format!("Edit {}", files[at].0), 1))
        .map(|commit| commit.with(json!({"author_email": "ada@example.com"})))
        .collect();
    let open_in = async |clone_reader| {
        let mut begin = begin();
        begin.clone_reader = clone_reader;
        let mut harness = open_at(shas.each_ref().map(String::as_str), &files, begin, |harness| {
            harness.reply(&format!("GET {PROJECT}/merge_requests/42/commits"), commits.clone());
        })
        .await;
        harness.expect("2 files changed since your review (3h ago), 1 only rebased, 1 conflict solved by hand");
        harness
    };
    let is_of_commits = |line: &&String| {
        let all = ["/versions/", "/compare", "/raw?", "/diff?"];
        all.iter().any(|part| line.contains(part))
    };
    let of_commits = |harness: &Harness| harness.asked.iter().filter(is_of_commits).cloned().collect::<Vec<_>>();
    let mut harness = open_in(Some(clone_reader(folder.path().to_owned()))).await;
    harness.press("u").settle().await;
    harness.expect("+ since").expect("- line 20").expect_no("of main");
    harness.press("2").settle().await;
    harness.expect("3 commits since version 1: 1 same, 2 changed");
    harness.press("G Enter").settle().await;
    assert_eq!(of_commits(&harness), [""; 0]);
    // Without the head of the reviewed version, what needs it is read from the server.
    let lacking = folder.path().join(".git/objects").join(&shas[1][..2]).join(&shas[1][2..]);
    std::fs::remove_file(lacking).expect("removed");
    let harness = open_in(Some(clone_reader(folder.path().to_owned()))).await;
    let version = format!("GET {PROJECT}/merge_requests/42/versions/1");
    assert_eq!(of_commits(&harness), [version]);
    // Without a clone, everything is.
    assert!(of_commits(&open_in(None).await).len() > 3);
}

#[tokio::test]
async fn reviewed_changes_are_shown_on_a_key() {
    let files = [file("a.rs", &[]), file("b.rs", &[(20, "since")])];
    let mut harness = open(&files, begin()).await;
    harness.press("u").settle().await;
    harness.expect("1 hunk unchanged").expect_no("+ reviewed").expect("only rebased (folded)");
    harness.press("M-r").settle().await;
    // All changes of a file that is only rebased; in one that has others, the hunk without signs.
    harness
        .expect("+ reviewed")
        .expect("lines  only rebased")
        .expect("only rebased")
        .expect("+ since")
        .expect_no("of main");
    harness.press("M-r").settle().await;
    harness.expect_no("+ reviewed").expect("only rebased (folded)");
}

#[tokio::test]
async fn conflicts_tell_how_they_were_solved() {
    let kept = conflict("c.rs", "reviewed");
    let mut harness = open(std::slice::from_ref(&kept), begin()).await;
    harness.expect("1 conflict with main").press("u").settle().await;
    harness.expect("conflict with main, kept as reviewed");
    let mut harness = open(&[kept, conflict("d.rs", "solved")], begin()).await;
    harness.expect("2 conflicts with main (1 solved by hand)");
    let mut harness = open(&[conflict("d.rs", "solved")], begin()).await;
    harness.expect("1 conflict solved by hand");
}

/// Opens the changes of a merge request whose current version is the first one of `versions`, which `state` has seen.
async fn open_seen(files: &[File], versions: Value, seen: Vec<SeenChange>) -> Harness {
    let mut state = AccountState::default();
    seen.into_iter().for_each(|change| _ = state.apply(&StateChange::Seen(change)));
    let mut begin = begin();
    begin.states.insert("ada".into(), state);
    let mr = format!("GET {PROJECT}/merge_requests/42");
    let head = versions[0]["head_commit_sha"].clone();
    open_with(files, begin, |harness| {
        let refs = json!({"base_sha": NEW_BASE, "head_sha": head, "start_sha": NEW_BASE});
        let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": head, "diff_refs": refs}));
        harness
            .reply(&mr, whole.clone())
            .reply(&format!("{mr}/changes"), whole.with(json!({"changes": changes(files, 2, 3)})))
            .reply(&format!("{mr}/discussions"), json!([]))
            .reply(&format!("{mr}/versions"), versions);
        for (path, texts) in files {
            harness.reply_raw(&format!("GET {PROJECT}/repository/files/{path}/raw?ref={HEAD}"), texts[1].clone());
        }
    })
    .await
}

fn seen(sha: &str, base: Option<&str>) -> SeenChange {
    SeenChange::Head { merge_request: MERGE_REQUEST.into(), sha: sha.into(), base: base.map(str::to_owned) }
}

#[tokio::test]
async fn a_head_that_belongs_to_two_versions_is_known_with_its_base() {
    // The base of a stack was rewritten, or has the commits now: the head stays.
    let first = version(1, BASE, HEAD, "2026-06-15T08:00:00Z");
    let second = version(2, NEW_BASE, HEAD, "2026-06-15T09:00:00Z");
    let text_of = |line: &str| text(&[(10, line)]);
    let taken: File = ("taken.rs", [text(&[]), text_of("reviewed"), text_of("reviewed"), text_of("reviewed")]);
    let kept: File = ("kept.rs", [text(&[]), text_of("reviewed"), text(&[]), text_of("reviewed")]);
    let mut harness =
        open_seen(&[taken.clone(), kept.clone()], json!([second, first]), vec![seen(HEAD, Some(BASE))]).await;
    harness.expect("Nothing to review since you saw version 1, 2 only rebased").press("u").settle().await;
    harness.expect("taken over by main").expect("Nothing to review");
    // It was seen with its new base.
    let mut harness =
        open_seen(std::slice::from_ref(&kept), json!([second, first]), vec![seen(HEAD, Some(NEW_BASE))]).await;
    harness.expect_no("since you saw").press("u").settle().await;
    harness.expect("Nothing changed since your last review");
    // A record from before bases were known is of the first version with that head.
    let third = version(3, NEW_BASE, NEW_HEAD, "2026-06-15T10:00:00Z");
    let other = version(2, "b300000000000000000000000000000000000001", HEAD, "2026-06-15T09:00:00Z");
    let since = [file("a.rs", &[(20, "since")])];
    let mut harness = open_seen(&since, json!([third, other, first]), vec![seen(HEAD, None)]).await;
    harness.expect("1 file changed since you saw version 1");
    // Servers may list versions in any order.
    let mut harness = open_seen(&since, json!([third, first, other]), vec![seen(HEAD, None)]).await;
    harness.expect("1 file changed since you saw");
}

#[tokio::test]
async fn a_version_without_a_base_is_compared_by_its_head() {
    let files = [file("a.rs", &[(20, "since")])];
    let mr = format!("GET {PROJECT}/merge_requests/42");
    let first = version(1, BASE, HEAD, "2026-06-15T08:00:00Z").with(json!({"base_commit_sha": null}));
    let second = version(2, NEW_BASE, NEW_HEAD, "2026-06-15T09:00:00Z");
    let mut harness = open_with(&files, begin(), |harness| {
        harness.reply(&format!("{mr}/versions"), json!([second, first]));
    })
    .await;
    harness.expect("+ reviewed").expect_no("since your review").press("u").settle().await;
    harness.expect("Changes from version 1 to the head, with those of main").expect("+ since").expect("+ of main");
}

#[tokio::test]
async fn a_rebase_while_the_changes_are_open_keeps_the_place() {
    let files = [file("a.rs", &[]), file("b.rs", &[(20, "since")])];
    let mut harness = open(&files, begin()).await;
    harness.press("u").settle().await;
    harness.press("Tab");
    let on_line = |harness: &Harness| harness.lines().iter().any(|line| line.contains('▌') && line.contains("+ since"));
    for _ in 0..30 {
        if on_line(&harness) {
            break;
        }
        harness.press("j");
    }
    assert!(on_line(&harness), "{}", harness.picture());
    // The author rebases once more; the target branch has changed another line.
    let (base, head) = ("b300000000000000000000000000000000000001", "b300000000000000000000000000000000000002");
    let moved: Vec<File> = (files.iter())
        .map(|(path, [b1, h1, b2, h2])| {
            let [b2, h2] = [b2, h2].map(|text| text.replace("line 35\n", "of main too\n"));
            (*path, [b1.clone(), h1.clone(), b2, h2])
        })
        .collect();
    let mr = format!("GET {PROJECT}/merge_requests/42");
    let refs = json!({"base_sha": base, "head_sha": head, "start_sha": base});
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"sha": head, "diff_refs": refs}));
    let versions = json!([
        version(3, base, head, "2026-06-15T10:00:00Z"),
        version(2, NEW_BASE, NEW_HEAD, "2026-06-15T09:00:00Z"),
        version(1, BASE, HEAD, "2026-06-15T08:00:00Z")
    ]);
    harness
        .reply(&mr, whole.clone())
        .reply(&format!("{mr}/changes"), whole.with(json!({"changes": changes(&moved, 2, 3)})))
        .reply(&format!("{mr}/versions"), versions)
        .reply(
            &format!("GET {PROJECT}/repository/compare?from={BASE}&straight=true&to={base}"),
            json!({"commits": [], "diffs": changes(&moved, 0, 2)}),
        );
    for (path, texts) in &moved {
        for (commit, text) in [base, head].into_iter().zip(&texts[2..]) {
            harness.reply_raw(&format!("GET {PROJECT}/repository/files/{path}/raw?ref={commit}"), text.clone());
        }
    }
    harness.pass(31).settle().await;
    harness.expect("The branch has moved to b3000000: reloading its changes.");
    harness.expect("1 file changed since your review (3h ago), 1 only rebased").expect_no("of main");
    assert!(on_line(&harness), "the cursor stays on its line\n{}", harness.picture());
}

#[tokio::test]
async fn a_file_that_is_too_large_is_shown_whole_with_the_reason() {
    let large = |line: &str| format!("{line}\n").repeat(6 << 20 >> 3);
    let texts = ["old", "reviewed", "of main", "now"].map(large);
    let withheld = |_: &str| changed_file("large.txt", "").with(json!({"too_large": true}));
    let mr = format!("GET {PROJECT}/merge_requests/42");
    let small = [file("a.rs", &[])];
    let mut harness = open_with(&small, begin(), |harness| {
        let with = |from: usize, to: usize| [changes(&small, from, to), vec![withheld("")]].concat();
        let refs = json!({"base_sha": NEW_BASE, "head_sha": NEW_HEAD, "start_sha": NEW_BASE});
        let whole = merge_request(42, "Large", "opened").with(json!({"sha": NEW_HEAD, "diff_refs": refs}));
        let reviewed = version(1, BASE, HEAD, "2026-06-15T08:00:00Z");
        harness
            .reply(&format!("{mr}/changes"), whole.with(json!({"changes": with(2, 3)})))
            .reply(&format!("{mr}/versions/1"), reviewed.with(json!({"commits": [], "diffs": with(0, 1)})))
            .reply(
                &format!("GET {PROJECT}/repository/compare?from={BASE}&straight=true&to={NEW_BASE}"),
                json!({"commits": [], "diffs": with(0, 2)}),
            );
        for (commit, text) in [BASE, HEAD, NEW_BASE, NEW_HEAD].into_iter().zip(texts) {
            harness.reply_raw(&format!("GET {PROJECT}/repository/files/large.txt/raw?ref={commit}"), text);
        }
    })
    .await;
    harness.expect("1 file changed since your review (3h ago), 1 only rebased").press("u").settle().await;
    harness.expect("all changes: too large to compare").expect_no("Nothing to review");
}
