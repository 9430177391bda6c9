//! Approving, merging and rebasing a merge request, on servers with and without support for it.

use crate::fixtures::{With, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::app::clone::{Checkout, CheckoutOutcome, CheckoutSource, CloneFolder, CloneRemote, Worktree};
use serde_json::{Value, json};
use std::path::PathBuf;

const MR: &str = "GET /projects/acme%2Frocket-ui/merge_requests/42";
const PATH: &str = "/projects/acme%2Frocket-ui/merge_requests/42";
const HEAD: &str = "9f3c2abd001100112233445566778899aabbccdd";

fn request() -> Value {
    merge_request(42, "Draw only visible rows", "opened").with(json!({
        "sha": HEAD, "draft": false, "detailed_merge_status": "mergeable", "user": {"can_merge": true},
    }))
}

fn approvals(mine: bool, names: &[&str]) -> Value {
    let by: Vec<Value> = names.iter().map(|name| json!({"user": {"id": 7, "username": name}})).collect();
    json!({"user_has_approved": mine, "user_can_approve": !mine, "approved": !names.is_empty(), "approved_by": by})
}

async fn open(request: Value) -> Harness {
    open_in(None, request).await
}

async fn open_in(clone: Option<CloneFolder>, request: Value) -> Harness {
    let place = Place::new("mr").project("acme/rocket-ui").item(42);
    let mut begin = Begin::at(place).size(120, 40);
    begin.clone = clone;
    let mut harness = begin.open();
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(MR, request)
        .reply(&format!("{MR}/approvals"), approvals(false, &["bo"]))
        .reply(&format!("{MR}/notes"), json!([]))
        .reply(&format!("{MR}/participants"), json!([]))
        .reply(&format!("{MR}/commits"), json!([]))
        .reply(&format!("{MR}/pipelines"), json!([]));
    harness.settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET ")).cloned().collect()
}

#[tokio::test]
async fn one_key_approves_the_visible_head_and_revokes_the_approval() {
    let mut harness = open(request()).await;
    harness.expect("Approvals    ✓ bo").expect("Merge checks ✓ Can be merged");
    harness.reply(&format!("{MR}/approvals"), approvals(true, &["bo", "ada"]));
    harness.reply(&format!("POST {PATH}/approve"), approvals(true, &["bo", "ada"]));
    harness.expect("A approve");
    harness.press("A").settle().await.expect("Approved !42").expect("✓ ada");
    assert_eq!(sent(&harness), [format!("POST {PATH}/approve sha={HEAD}")]);
    harness.pass(60).settle().await.expect("A revoke").expect_no("A approve");
    harness.reply(&format!("{MR}/approvals"), approvals(false, &[]));
    harness.reply_raw(&format!("POST {PATH}/unapprove"), "");
    harness.press("A").settle().await.expect("Revoked the approval of !42").expect("Approvals    none");
}

#[tokio::test]
async fn a_refused_approval_is_explained_and_changes_nothing() {
    let mut harness = open(request()).await;
    harness.fail(&format!("POST {PATH}/approve"), 401, "401 Unauthorized");
    harness.press("A").settle().await;
    harness.expect("Could not approve !42: 401 Unauthorized.").expect_no("token").expect("Approvals    ✓ bo");
    harness.fail(&format!("POST {PATH}/approve"), 409, "SHA does not match HEAD of source branch: 77");
    harness.press("A").settle().await.expect("SHA does not match HEAD");
}

#[tokio::test]
async fn approvals_are_requested_once_from_a_server_without_them() {
    let mut harness = open(request()).await;
    let line = format!("{MR}/approvals");
    harness.unsupported(&line).press("r").settle().await;
    let asked = harness.asked.iter().filter(|asked| **asked == line).count();
    harness.press("A").expect("This server has no approvals");
    harness.pass(60).settle().await;
    assert_eq!(harness.asked.iter().filter(|asked| **asked == line).count(), asked, "{:?}", harness.asked);
}

#[tokio::test]
async fn the_merge_form_names_the_target_and_sends_the_visible_head() {
    let mut harness = open(request()).await;
    let merged = request().with(json!({"state": "merged"}));
    harness.reply(&format!("PUT {PATH}/merge"), merged.clone()).reply(MR, merged);
    harness.press("M").expect("Merge !42 into main").expect("Squash commits").expect("Delete source branch");
    harness.expect_no("Auto-merge").press("C-s").settle().await.expect("Merged !42").expect("merged");
    assert_eq!(harness.pressed, 2);
    let lines = sent(&harness);
    assert!(lines[0].starts_with(&format!("PUT {PATH}/merge")) && lines[0].contains(HEAD), "{lines:?}");
    harness.press("M").expect("It is merged");
}

#[tokio::test]
async fn auto_merge_is_offered_while_the_pipeline_runs_and_can_be_canceled() {
    let pipeline = json!({"id": 318, "sha": HEAD, "ref": "feature/42", "status": "running"});
    let running = request().with(json!({"head_pipeline": pipeline}));
    let mut harness = open(running.clone()).await;
    let running = running.with(json!({"merge_when_pipeline_succeeds": true}));
    harness.reply(&format!("PUT {PATH}/merge"), running.clone()).reply(MR, running);
    harness.press("M").expect("Auto-merge").press("C-s").settle().await.expect("Auto-merge on");
    let line = sent(&harness).join(" ");
    assert!(line.contains("auto_merge=true") && line.contains("merge_when_pipeline_succeeds=true"), "{line}");
    harness.expect("merges when all checks pass");
    let refused = json!({"status": "error", "message": "Can't cancel the automatic merge", "http_status": 406});
    harness.reply(&format!("POST {PATH}/cancel_auto_merge"), refused);
    harness.press("M").expect("Cancel auto-merge of !42?").press("y").settle().await;
    harness.expect("Could not cancel auto-merge of !42: Can't cancel the automatic merge");
}

#[tokio::test]
async fn merge_checks_are_listed_with_the_key_that_lets_each_pass() {
    // Statuses of GitLab 19.5 (doc/api/merge_requests.md), and of servers that have only `merge_status`. The status names
    // only the first check that does not pass.
    for (more, rows) in [
        (
            json!({"detailed_merge_status": "draft_status", "draft": true}),
            &["✗ Must not be a draft  d marks it as ready"][..],
        ),
        (
            json!({"detailed_merge_status": "draft_status", "draft": true, "blocking_discussions_resolved": false}),
            &["✗ Must not be a draft  d marks it as ready", "✗ Threads must be resolved  ; goes to the next"],
        ),
        (json!({"detailed_merge_status": "need_rebase"}), &["✗ Must be rebased  B rebases it"]),
        (json!({"detailed_merge_status": "not_approved"}), &["✗ Must be approved  A approves it"]),
        (json!({"detailed_merge_status": "ci_must_pass"}), &["✗ Pipeline must succeed  J shows the jobs"]),
        (json!({"detailed_merge_status": "ci_still_running"}), &["◌ Pipeline must succeed"]),
        (json!({"detailed_merge_status": "checking", "has_conflicts": false}), &["◌ Is being checked"]),
        (json!({"detailed_merge_status": "conflict"}), &["✗ Conflicts must be resolved  o opens the page"]),
        (json!({"detailed_merge_status": "locked_paths"}), &["✗ Changed files must not be locked  o opens"]),
        (json!({"detailed_merge_status": "moon_phase"}), &["✗ Moon phase  o opens its web page"]),
        (
            json!({"detailed_merge_status": null, "merge_status": "cannot_be_merged", "draft": null, "title": "WIP: Rows"}),
            &["✗ Must not be a draft  d marks", "✗ Conflicts must be resolved  o opens"],
        ),
    ] {
        let mut harness = open(request().with(more.clone())).await;
        for row in rows {
            harness.expect(row);
        }
        harness.expect_no("✓ Can be merged");
        // A wide screen lists those that pass as well.
        harness.resize(160, 45).settle().await;
        let passes = json!({"detailed_merge_status": "need_rebase"});
        if more == passes {
            harness.expect("✓ Must not be a draft");
        }
    }
}

#[tokio::test]
async fn only_checks_of_the_project_are_listed_and_the_one_that_the_server_names_is_first() {
    let one_left = approvals(false, &[]).with(json!({"approvals_required": 1, "approvals_left": 1}));
    let lines = async |more: Value, approvals: &Value, width: u16| {
        let mut harness = open(request().with(more)).await;
        harness.reply(&format!("{MR}/approvals"), approvals.clone()).press("r").settle().await;
        harness.resize(width, 45).settle().await;
        harness
    };
    // `blocking_discussions_resolved` is true as well if the project does not require it, and a merge request that can be
    // merged needs no approval.
    let mergeable = json!({"detailed_merge_status": "mergeable", "blocking_discussions_resolved": true});
    let mut harness = lines(mergeable.clone(), &one_left, 160).await;
    harness.expect("✓ Can be merged").expect_no("Threads must be").expect_no("Must be approved");
    harness.press("M").expect("Merge !42 into main").expect_no("Threads must be").expect_no("Must be approved");
    let unresolved = mergeable.with(json!({"blocking_discussions_resolved": false}));
    lines(unresolved, &one_left, 160).await.expect("✓ Can be merged").expect_no("Threads must be");
    let failed = json!({"detailed_merge_status": "ci_must_pass"});
    let harness = lines(failed.clone(), &one_left, 160).await;
    let row = |words: &str| harness.lines().iter().position(|line| line.contains(words));
    assert!(row("✗ Pipeline must succeed") < row("✗ Must be approved"), "{}", harness.picture());
    // Without a sidebar, all are in the first lines.
    let mut harness = lines(failed, &one_left, 80).await;
    harness.resize(80, 24).expect("✗ Pipeline must succeed").expect("✗ Must be approved");
}

#[tokio::test]
async fn a_merge_that_would_be_refused_opens_its_checks() {
    let draft = request().with(json!({"detailed_merge_status": "draft_status", "draft": true}));
    let mut harness = open(draft).await;
    harness.press("M").expect("Merge checks of !42 not passed").expect("Must not be a draft  marks it as ready");
    harness.expect_no("Squash commits").expect_no("Merge when all checks pass");
    harness.reply(&format!("PUT {PATH}"), request());
    harness.press("Enter").settle().await.expect("Marked !42 as ready");
    // What can pass without a change can be waited for.
    let threads = json!({"detailed_merge_status": "discussions_not_resolved", "blocking_discussions_resolved": false});
    let mut harness = open(request().with(threads)).await;
    harness.press("M").expect("Threads must be resolved").expect("Merge when all checks pass…");
    harness.press("Down Enter").expect("Squash commits").expect("✗ Threads must be resolved").expect("Auto-merge");
    harness.press("C-s").settle().await;
    assert!(sent(&harness).join(" ").contains("auto_merge=true"), "{:?}", sent(&harness));
    open(request().with(json!({"user": {"can_merge": false}}))).await.press("M").expect("You may not merge into main");
}

#[tokio::test]
async fn merge_checks_that_pass_meanwhile_lead_to_the_merge() {
    let threads = json!({"detailed_merge_status": "discussions_not_resolved", "blocking_discussions_resolved": false});
    let mut harness = open(request().with(threads)).await;
    harness.press("M").expect("Threads must be resolved");
    // Somebody else resolved the last thread, or the reply after one's own is late.
    harness.reply(&format!("GET {PATH}"), request()).pass(60).settle().await;
    harness.expect("Squash commits").expect_no("Threads must be resolved");
}

#[tokio::test]
async fn a_refused_merge_keeps_the_form_open() {
    let mut harness = open(request()).await;
    harness.fail(&format!("PUT {PATH}/merge"), 405, "405 Method Not Allowed");
    harness.press("M").press("C-s").settle().await;
    harness.expect("Merge !42 into main").expect("405 Method Not Allowed").expect("It cannot be merged yet");
}

#[tokio::test]
async fn a_merge_that_the_user_may_not_do_is_not_about_the_token() {
    let mut harness = open(request()).await;
    harness.fail(&format!("PUT {PATH}/merge"), 401, "401 Unauthorized");
    harness.press("M").press("C-s").settle().await;
    harness.expect("Not allowed: 401 Unauthorized. You may not do this").expect_no("Not signed in");
}

#[tokio::test]
async fn a_merge_whose_reply_is_lost_is_looked_for() {
    let mut harness = open(request()).await;
    let put = format!("PUT {PATH}/merge");
    harness.press("M").press("C-s").lose(&put).expect("checking the server…").settle().await;
    harness.expect("Merge !42 into main").expect("Incomplete reply").expect("C-s retry");
    // The server goes on with the first attempt, and refuses the second one.
    harness.reply(MR, request().with(json!({"state": "merged"}))).fail(&put, 405, "405 Method Not Allowed");
    harness.press("C-s").settle().await.expect("Merged !42").expect_no("Merge !42 into main").expect_no("405");
    assert_eq!(sent(&harness).len(), 2, "{:?}", sent(&harness));
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn a_merge_whose_reply_is_lost_is_not_sent_again_if_it_was_done() {
    let mut harness = open(request()).await;
    let put = format!("PUT {PATH}/merge");
    harness.reply(MR, request().with(json!({"state": "merged"})));
    harness.press("M").press("C-s").lose(&put).settle().await;
    harness.expect("Merged !42").expect_no("Merge !42 into main").press("M").expect("It is merged");
    assert_eq!(sent(&harness).len(), 1, "{:?}", sent(&harness));
}

#[tokio::test]
async fn a_rebase_is_confirmed_and_polled_until_it_ends() {
    let mut harness = open(request()).await;
    let rebasing = json!({"rebase_in_progress": true});
    harness.reply(&format!("PUT {PATH}/rebase"), &rebasing).reply(MR, request().with(rebasing));
    harness.press("B").expect("Rebase feature/42 onto main?").press("y").settle().await;
    harness.expect("◌ Is being rebased").press("B").expect("It is being rebased");
    let error = "Rebase failed: Rebase locally, resolve all conflicts, then push the branch.";
    harness.reply(MR, request().with(json!({"rebase_in_progress": false, "merge_error": error})));
    harness.pass(3).settle().await.expect("Rebase failed: Rebase locally");
}

#[tokio::test]
async fn a_merge_request_is_marked_as_draft_by_its_title() {
    let mut harness = open(request()).await;
    harness.reply(&format!("PUT {PATH}"), request());
    harness.press("a").type_text("draft or ready").press("Enter").settle().await;
    assert_eq!(sent(&harness), [format!("PUT {PATH} title=Draft: Draw only visible rows")]);
    harness.expect("Marked !42 as draft");
    // Current servers take no other mark than theirs: the rest is a part of the title.
    for (title, is_draft, now) in [
        ("[WIP] limits: cut", false, "Draft: [WIP] limits: cut"),
        ("Draft: WIP: cut", true, "WIP: cut"),
        ("(Draft) cut", true, "cut"),
    ] {
        let mut harness = open(request().with(json!({"title": title, "draft": is_draft}))).await;
        harness.expect(title.trim_start_matches("Draft: ").trim_start_matches("(Draft) "));
        harness.reply(&format!("PUT {PATH}"), request());
        harness.press("d").settle().await;
        assert_eq!(sent(&harness), [format!("PUT {PATH} title={now}")]);
    }
}

#[tokio::test]
async fn the_branch_is_checked_out_in_the_current_clone() {
    let mut harness = open(request()).await;
    harness.press("O").expect("Not in a clone of a project on this server");
    let remote = |project: &str| CloneRemote {
        name: "up".into(),
        url: format!("git@demo.test:{project}.git"),
        project: project.into(),
        pushed_to: None,
    };
    let clone = |project: &str| CloneFolder {
        folder: "/w/ui".into(),
        remotes: vec![remote(project)],
        ..CloneFolder::default()
    };
    let mut harness = open_in(Some(clone("acme/other")), request()).await;
    harness.press("O").expect("Not in a clone of acme/rocket-ui");
    let mut harness = open_in(Some(clone("acme/rocket-ui")), request()).await;
    harness.press("O").expect("In this clone").press("Enter").expect("Checking out…");
    let branch = CheckoutSource::Branch("feature/42".into());
    let order = Checkout::new("/w/ui".into(), remote("acme/rocket-ui"), 42, branch, vec![HEAD.to_owned()]);
    assert_eq!(harness.checked_out().last(), Some(&order));
    harness.send(Msg::CheckedOut(order.clone(), CheckoutOutcome::Dirty));
    harness.expect("/w/ui has uncommitted changes. Stash them and check out?");
    harness.press("y").pass(1).press("y");
    let stashing = Checkout { stash: true, ..order.clone() };
    assert_eq!(harness.checked_out().last(), Some(&stashing));
    harness.send(Msg::CheckedOut(stashing.clone(), CheckoutOutcome::Failed("no route to host".into())));
    harness.expect("Could not check out: no route to host.");
    harness.send(Msg::CheckedOut(stashing, CheckoutOutcome::Done("Checked out feature/42".into())));
    harness.expect("Checked out feature/42");
    let reasons = vec!["filter.x.smudge = sh -c \u{1b}[2J".to_owned(), "core.sshcommand = ssh -i key".to_owned()];
    harness.send(Msg::CheckedOut(order.clone(), CheckoutOutcome::Untrusted { reasons, fingerprint: "ab12".into() }));
    harness
        .expect("Trust clone")
        .expect("/w/ui")
        .expect("filter.x.smudge = sh -c")
        .expect("core.sshcommand = ssh -i key");
    harness.pass(1).press("Enter").press("n");
    assert_eq!(harness.checked_out().last().and_then(|last| last.trusted.clone()), None);
    let reasons = vec!["core.sshcommand = ssh -i key".to_owned()];
    harness.send(Msg::CheckedOut(order.clone(), CheckoutOutcome::Untrusted { reasons, fingerprint: "ab12".into() }));
    harness.pass(1).press("y");
    assert_eq!(harness.checked_out().last(), Some(&Checkout { trusted: Some("ab12".into()), ..order.clone() }));
    let (branch, from, to) = ("feature/42".to_owned(), "1".repeat(40), "2".repeat(40));
    harness.send(Msg::CheckedOut(order.clone(), CheckoutOutcome::Replaced { branch, from: from.clone(), to }));
    harness.expect("Move it from 11111111 to").pass(1).press("y");
    assert_eq!(harness.checked_out().last(), Some(&Checkout { moved_from: Some(from), ..order }));
    // GitLab sends null for a fork that was deleted.
    for source in [json!(8), json!(null)] {
        let mut fork = request();
        (fork["source_project_id"], fork["target_project_id"]) = (source, json!(7));
        let mut harness = open_in(Some(clone("acme/rocket-ui")), fork).await;
        harness.press("O").press("Enter");
        assert_eq!(harness.checked_out()[0].source, CheckoutSource::Head);
    }
}

#[tokio::test]
async fn one_question_offers_the_clone_and_a_worktree_beside_it() {
    let clone = |folder: &str| {
        let url = "git@demo.test:acme/rocket-ui.git".to_owned();
        let remote = CloneRemote { name: "up".into(), url, project: "acme/rocket-ui".into(), pushed_to: None };
        CloneFolder { folder: folder.into(), remotes: vec![remote], ..CloneFolder::default() }
    };
    let path = PathBuf::from("/w/ui-!42");
    let mut harness = open_in(Some(clone("/w/ui")), request()).await;
    harness.press("O").expect("Check out !42").expect("In this clone  /w/ui").expect("/w/ui-!42");
    harness.type_text("remove").expect("Remove worktree: the merge request is still open.").press("Esc");
    harness.press("O").type_text("beside").press("Enter").expect("Checking out…");
    let order = harness.checked_out().last().expect("an order").clone();
    assert_eq!(order.worktree, Some(Worktree::Use(path.clone())));
    let is_there = "/w/ui-!42 is there, and is no working tree of this clone";
    harness.send(Msg::CheckedOut(order.clone(), CheckoutOutcome::Failed(is_there.into())));
    harness.expect(&format!("Could not check out: {is_there}."));
    harness.send(Msg::CheckedOut(order.clone(), CheckoutOutcome::Dirty));
    harness.expect("/w/ui-!42 has uncommitted changes.").pass(1).press("n");
    // From then on, labscope works in it, and cannot remove it.
    harness.send(Msg::CheckedOut(order, CheckoutOutcome::Done("Checked out feature/42 in /w/ui-!42".into())));
    let closed = request().with(json!({"state": "merged"}));
    harness.reply(MR, closed.clone()).press("r").settle().await;
    harness.press("O").expect("In this clone  /w/ui-!42").type_text("remove");
    harness.expect("Remove worktree: labscope works in it.");
    let mut harness = open_in(Some(clone("/w/ui")), closed).await;
    harness.press("O").type_text("remove").press("Enter").expect("Remove /w/ui-!42? Its branch is kept.");
    harness.pass(1).press("y");
    assert_eq!(harness.checked_out().last().and_then(|last| last.worktree.clone()), Some(Worktree::Remove(path)));
    // At the root of a disk, there is no folder beside it.
    let mut harness = open_in(Some(clone("/")), request()).await;
    harness.press("O").expect("Checking out…");
    assert_eq!(harness.checked_out()[0].worktree, None);
}

#[tokio::test]
async fn approval_rules_are_shown_if_there_are_any() {
    let mut harness = open(request()).await;
    assert!(!harness.asked.iter().any(|line| line.ends_with("/approval_state")), "{:?}", harness.asked);
    let more = approvals(false, &["bo"]).with(json!({"approvals_required": 3, "approvals_left": 2}));
    let rule = |name: &str, section: &str, required: u32, by: &[&str]| {
        let by: Vec<Value> = by.iter().map(|name| json!({"id": 7, "username": name})).collect();
        json!({"id": 1, "name": name, "rule_type": "regular", "section": section, "approvals_required": required,
            "approved": by.len() >= required as usize, "approved_by": by})
    };
    harness.reply(&format!("{MR}/approvals"), more).reply(
        &format!("{MR}/approval_state"),
        json!({"rules": [rule("Security", "", 2, &["bo"]), rule("*.rs", "Backend", 1, &["bo"]), rule("Docs", "", 0, &[])]}),
    );
    harness.press("r").settle().await;
    harness.expect("2 more needed").expect("Rules").expect("○ Security 1 of 2").expect("✓ Backend: *.rs 1 of 1");
    harness.expect("✓ Docs optional");
    // Nothing is shown without rules, or on a server that does not support them.
    harness.reply(&format!("{MR}/approval_state"), json!({"rules": []})).press("r").settle().await;
    harness.expect_no("Rules").expect("2 more needed");
    harness.unsupported(&format!("{MR}/approval_state")).press("r").settle().await;
    harness.expect_no("Rules").expect("2 more needed");
    harness.reply(MR, request().with(json!({"state": "merged"}))).press("r").settle().await;
    harness.expect("✓ bo").expect_no("more needed");
}

#[tokio::test]
async fn conflicting_files_are_listed() {
    let conflicting = request().with(json!({
        "detailed_merge_status": "conflict", "target_branch": "main",
        "diff_refs": {"base_sha": "b0", "start_sha": "b1", "head_sha": HEAD},
    }));
    let mut harness = open(conflicting.clone()).await;
    let entry = |old: &str, new: &str| json!({"old_path": old, "new_path": new, "diff": "@@ -1 +1 @@\n-a\n+b\n"});
    let files = [entry("a.rs", "a.rs"), entry("old.rs", "new.rs"), entry("only.rs", "only.rs")];
    let conflicting = conflicting.with(json!({"changes": files}));
    harness.reply(&format!("{MR}/changes"), conflicting).reply(
        "GET /projects/acme%2Frocket-ui/repository/compare?from=b0&straight=true&to=main",
        json!({"commits": [], "diffs": [entry("a.rs", "a.rs"), entry("old.rs", "old.rs"), entry("else.rs", "else.rs")]}),
    );
    harness.press("r").settle().await;
    harness.expect("Conflicts must be resolved").expect("changed on both sides:").expect("a.rs").expect("new.rs");
    harness.expect_no("only.rs").expect_no("else.rs");
    harness.press("M").expect("Conflicts must be resolved  opens the page that resolves them");
}

#[tokio::test]
async fn conflicts_are_resolved_in_the_clone_if_there_is_one() {
    let remote = CloneRemote {
        name: "up".into(),
        url: "git@demo.test:acme/rocket-ui.git".into(),
        project: "acme/rocket-ui".into(),
        pushed_to: None,
    };
    let clone = CloneFolder { folder: "/w/ui".into(), remotes: vec![remote], ..CloneFolder::default() };
    let conflicting = request().with(json!({"detailed_merge_status": "conflict", "target_branch": "rel ease"}));
    let mut harness = open_in(Some(clone), conflicting).await;
    harness.expect("O checks out the branch here; then git pull --no-rebase up 'rel ease'");
    harness.press("M").expect("Conflicts must be resolved").press("Enter").expect("In this clone");
    harness.press("Enter").expect("Checking out…");
}

fn merged() -> Value {
    request().with(json!({"state": "merged", "merge_commit_sha": HEAD}))
}

#[tokio::test]
async fn a_merged_merge_request_is_reverted_on_a_new_branch_for_a_new_one() {
    open(request()).await.press("Z").expect("It is not merged").press("p").expect("It is not merged");
    let mut harness = open(merged()).await;
    let (project, branch) = ("/projects/acme%2Frocket-ui", "revert-9f3c2abd");
    harness.reply(&format!("POST {project}/repository/branches"), json!({"name": branch}));
    harness.reply(&format!("POST {project}/repository/commits/{HEAD}/revert"), json!({"id": "77", "title": "Revert"}));
    harness.press("Z").expect("Revert commit 9f3c2abd").expect("!42 Draw only visible rows").expect(branch);
    harness.press("C-s").settle().await.expect("New merge request in acme/rocket-ui").expect(branch);
    assert_eq!(
        sent(&harness),
        [
            format!("POST {project}/repository/branches branch={branch} ref=main"),
            format!("POST {project}/repository/commits/{HEAD}/revert branch={branch}"),
        ]
    );
}

#[tokio::test]
async fn a_conflict_is_named_and_leaves_no_new_branch() {
    let mut harness = open(merged()).await;
    let branches = "POST /projects/acme%2Frocket-ui/repository/branches";
    let revert = format!("POST /projects/acme%2Frocket-ui/repository/commits/{HEAD}/revert");
    let delete = "DELETE /projects/acme%2Frocket-ui/repository/branches/revert-9f3c2abd";
    harness.reply(branches, json!({"name": "revert-9f3c2abd"})).reply_raw(delete, "");
    harness.fail(&revert, 400, "Sorry, we cannot revert this commit automatically. (conflict)");
    harness.press("Z C-s").settle().await.expect("Nothing was reverted").expect("conflict with main");
    assert!(sent(&harness).contains(&delete.to_owned()), "{:?}", sent(&harness));
    harness.pass(1).press("Esc").settle().await;
    for status in [401, 403, 404, 405, 409, 413, 422, 429] {
        let mut harness = open(merged()).await;
        harness.reply(branches, json!({"name": "revert-9f3c2abd"})).reply_raw(delete, "");
        harness.fail(&revert, status, "it said no").press("Z C-s").settle().await.expect("Nothing was reverted");
        assert_eq!(sent(&harness).len(), 3, "{status}: {:?}", sent(&harness));
    }
    // A name that exists is refused before anything is reverted.
    harness.fail(branches, 400, "Branch already exists").press("Z C-s").settle().await;
    harness.expect("Could not create branch revert-9f3c2abd: 400: Branch already exists").expect_no("reverted");
    harness.reply(branches, json!({"name": "revert-9f3c2abd"}));
    // Without an answer, the branch may have the commit.
    harness.fail(&revert, 502, "Bad gateway").press("Z C-s").settle().await.expect("Perhaps nothing was reverted");
    assert_eq!(sent(&harness).iter().filter(|line| **line == delete).count(), 1, "{:?}", sent(&harness));
}
