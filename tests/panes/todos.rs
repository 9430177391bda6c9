//! The to-do list: pending items with their reasons and targets, and marking them as done.

use crate::fixtures::{With, user};
use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::api::{Error, Fault};
use labscope::app::Place;
use labscope::app::action::{Effect, Msg};
use labscope::app::state::AccountState;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

const PENDING: &str = "GET /todos?state=pending";

fn todo(id: u64, action: &str, iid: u64, title: &str) -> Value {
    json!({"id": id, "action_name": action, "target_type": "MergeRequest", "body": title, "state": "pending",
        "author": {"id": 2, "username": "bo"}, "created_at": "2026-06-15T09:00:00Z",
        "project": {"id": 7, "path_with_namespace": "acme/rocket-ui"},
        "target": {"iid": iid, "title": title, "state": "opened"},
        "target_url": format!("http://demo.test/acme/rocket-ui/-/merge_requests/{iid}")})
}

fn mention() -> Value {
    todo(2, "directly_addressed", 7, "It is slow").with(json!({
        "target_type": "Issue", "body": "@ada is it **still** slow?",
        "target_url": "http://demo.test/acme/rocket-ui/-/issues/7#note_12",
    }))
}

async fn open() -> Harness {
    let mut harness = Begin::at(Place::new("todos")).size(160, 30).open();
    harness.reply(PENDING, [todo(1, "review_requested", 42, "Draw only visible rows"), mention()]).settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| line.starts_with("POST")).cloned().collect()
}

#[tokio::test]
async fn to_dos_show_their_reason_and_open_their_target() {
    let mut harness = open().await;
    harness.expect("To do 2");
    for words in ["Draw only visible rows", "acme/rocket-ui", "!42", "bo", "3h"] {
        assert!(harness.line_with("review requested").contains(words), "{words}\n{}", harness.picture());
    }
    harness.press("j").settle().await;
    harness.expect("mentioned").expect("is it still slow?");
    harness.press("Enter");
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.item.as_deref()), ("issue", Some("7")));
    harness.press("q").settle().await.press("k Enter");
    assert_eq!(harness.app.place(), Place::new("mr").project("acme/rocket-ui").item(42));
}

#[tokio::test]
async fn one_or_several_to_dos_are_marked_as_done_after_five_seconds() {
    let mut harness = open().await;
    harness.reply("POST /todos/1/mark_as_done", json!({"id": 1, "state": "done"}));
    harness.press("x").settle().await;
    harness.expect("Marked acme/rocket-ui!42 as done. u undoes it").expect_no("Draw only visible rows");
    harness.pass(4).settle().await.expect("u undoes it").expect("To do 1");
    assert!(sent(&harness).is_empty());
    harness.reply(PENDING, [mention()]).pass(1).settle().await;
    assert_eq!(sent(&harness), ["POST /todos/1/mark_as_done"]);
    harness.expect_no("undoes it").expect_no("Draw only visible rows").press("u").expect("in the last seconds");
    // Several wait together, wherever the user goes.
    let mut harness = open().await;
    harness.press("Space Space x").expect("Marked 2 to-dos as done. u undoes it").press("g h").pass(5).settle().await;
    assert_eq!(sent(&harness).len(), 2, "{:?}", sent(&harness));
}

#[tokio::test]
async fn marking_as_done_can_be_undone() {
    let mut harness = open().await;
    harness.press("u").expect("Nothing was marked as done in the last seconds");
    harness.press("x").settle().await.expect_no("Draw only visible rows").press("u").settle().await;
    harness.expect("Canceled: mark acme/rocket-ui!42 as done").expect("Draw only visible rows").pass(9).settle().await;
    assert!(sent(&harness).is_empty());
    // The last one comes first.
    harness
        .press("g g x x u")
        .settle()
        .await
        .expect_no("Draw only")
        .expect("It is slow")
        .press("u")
        .expect("Draw only");
    // Done ones are added again.
    let done = |id: u64, kind: &str| {
        todo(id, "marked", 42, "Draw only visible rows").with(json!({"state": "done", "target_type": kind}))
    };
    harness.reply("GET /todos?state=done", [done(1, "MergeRequest"), done(3, "Commit")]);
    let again = todo(9, "marked", 42, "Draw only visible rows");
    harness.reply("POST /projects/7/merge_requests/42/todo", again.clone()).reply(PENDING, [again, mention()]);
    harness.press("2").settle().await.press("u").settle().await;
    harness.expect("Added acme/rocket-ui!42 to the to-dos");
    harness.press("j u").expect("The server cannot add a to-do for this");
}

#[tokio::test]
async fn a_to_do_that_could_not_be_marked_as_done_is_shown_again() {
    for status in [401, 403, 404, 429, 500] {
        let mut harness = open().await;
        harness.fail("POST /todos/1/mark_as_done", status, "broken");
        harness.press("x").settle().await.expect_no("Draw only").pass(5).settle().await;
        harness.expect("Could not mark acme/rocket-ui!42 as done").expect("Draw only visible rows");
    }
}

#[tokio::test]
async fn quitting_sends_what_waits_and_tells_what_failed_then() {
    let mut harness = open().await;
    let effects = harness.press("x").app.update(Msg::Quit);
    let sent: Vec<u64> =
        effects.iter().filter_map(|e| if let Effect::Send(number, _) = e { Some(*number) } else { None }).collect();
    assert!(sent.len() == 1 && harness.app.is_quitting());
    assert_eq!(harness.app.end([]), ["The server did not reply to this in time: mark acme/rocket-ui!42 as done"]);
    let tried = "POST /todos/1/mark_as_done".to_owned();
    let error = Error { tried, fault: Fault::Disk("the network is gone".into()) };
    let told = harness.app.end([Msg::Sent(sent[0], Err(error))]);
    assert!(told[0].starts_with("Could not mark acme/rocket-ui!42 as done: "), "{told:?}");
    assert_eq!(told.len(), 1);
}

#[tokio::test]
async fn marking_all_as_done_asks_with_the_total_count_despite_a_filter() {
    let mut harness = open().await;
    harness.press("/").type_text("slow").press("Enter").settle().await;
    harness.expect("It is slow").expect_no("Draw only").press("X").expect("2 pending to-dos").press("n");
    assert!(sent(&harness).is_empty());
    harness.reply("POST /todos/mark_as_done", json!(null)).reply(PENDING, json!([]));
    harness.press("X y").settle().await;
    assert_eq!(sent(&harness), ["POST /todos/mark_as_done"]);
    harness.expect("Marked all to-dos as done").press("Esc").settle().await;
    harness.expect("There is nothing to do.").press("X").expect("There is nothing to do");
}

#[tokio::test]
async fn to_dos_are_queried_by_action_type_and_project() {
    let mut harness = open().await;
    harness.reply("GET /projects/acme%2Frocket-ui", json!({"id": 7, "path_with_namespace": "acme/rocket-ui"}));
    harness.press("/").type_text("action:assigned type:Issue project:acme/rocket-ui").press("Enter").settle().await;
    let wanted = "GET /todos?action=assigned&project_id=7&state=pending&type=Issue&page=1&per_page=100";
    assert!(harness.asked.iter().any(|line| line == wanted), "{:?}", harness.asked);
    harness.press("Esc 2").settle().await;
    assert!(harness.asked.iter().any(|line| line.starts_with("GET /todos?state=done")), "{:?}", harness.asked);
}

#[tokio::test]
async fn an_unknown_kind_of_to_do_is_shown_but_cannot_be_opened() {
    let mut harness = Begin::at(Place::new("todos")).size(120, 30).open();
    let strange = json!({"id": 5, "action_name": "audit_due", "target_type": "Vault\u{1b}[31m", "body": "The vault",
        "target": null, "target_url": "http://demo.test/-/vaults/5", "state": "pending"});
    harness.reply(PENDING, [strange]).settle().await;
    harness.expect("audit due").expect("The vault").press("Enter").expect("cannot show its target").press("o");
    assert_eq!(harness.browsed(), ["http://demo.test/-/vaults/5"]);
    assert!(!harness.picture().contains('\u{1b}'));
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab j z k z");
    }
}

#[tokio::test]
async fn a_server_without_to_dos_is_reported_and_home_omits_them() {
    let mut harness = Begin::at(Place::new("todos")).size(100, 20).open();
    harness.unsupported(PENDING).settle().await;
    harness.expect("Not supported by this server");
    let mut harness = Begin::at(Place::new("home")).size(100, 30).open();
    harness.unsupported(PENDING).reply("GET /merge_requests", json!([])).reply("GET /projects", json!([]));
    harness.settle().await.expect("Assigned to me").expect_no("To-dos");
}

#[tokio::test]
async fn home_starts_with_the_to_dos() {
    let mut harness = Begin::at(Place::new("home")).size(120, 30).open();
    harness.reply(PENDING, [todo(1, "review_requested", 42, "Draw only visible rows"), mention()]);
    harness.reply("GET /merge_requests", json!([])).reply("GET /projects", json!([])).settle().await;
    harness.expect("To-dos 2").expect("review requested").press("x");
    harness.expect("To-dos 1").expect_no("review requested").expect("u undoes it").press("u").expect("To-dos 2");
    harness.press("x").pass(5).settle().await;
    assert_eq!(sent(&harness), ["POST /todos/1/mark_as_done"]);
    harness.press("Enter");
    assert_eq!((harness.app.place().pane.as_str(), harness.app.place().item.as_deref()), ("issue", Some("7")));
    harness.press("g w");
    assert_eq!(harness.app.place(), Place::new("todos"));
}

#[tokio::test]
async fn a_comment_that_was_edited_is_shown_anew_even_if_it_is_as_long_as_before() {
    for place in ["todos", "home"] {
        let mut harness = Begin::at(Place::new(place)).size(220, 40).open();
        harness.reply(PENDING, [mention()]).reply("GET /merge_requests", json!([])).reply("GET /projects", json!([]));
        harness.settle().await;
        harness.expect("is it still slow?");
        let mut edited = mention();
        edited["body"] = json!("@ada is it **never** slow?");
        harness.reply(PENDING, [edited]).press("r").settle().await;
        harness.expect("is it never slow?").expect_no("still");
    }
}

#[tokio::test]
async fn a_mention_opens_at_its_note_in_the_demo() {
    let server = demo().await;
    let mut app = Begin::at(Place::new("todos")).size(120, 34).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.press("/").type_text("does this hold").press("Enter").settle().await;
    app.pressed = 0;
    app.press("Enter").settle().await;
    assert_eq!(app.app.place(), Place::new("mr").project("acme/rocket-ui").item(42));
    assert_eq!(app.pressed, 1);
    app.expect("Does this hold?");
    app.press("R").expect("Reply on !42").press("Esc q").settle().await;
    app.press("x").expect("Marked acme/rocket-ui!42 as done").press("u").expect("Canceled: mark");
    server.stop().await;
}

#[tokio::test]
async fn to_dos_name_the_kind_of_a_target_without_a_reference() {
    let mut harness = Begin::at(Place::new("todos")).size(160, 30).open();
    let of = |id: u64, kind: &str, title: &str| {
        let mut todo = todo(id, "mentioned", 3, title);
        todo["target_type"] = json!(kind);
        todo
    };
    let all = [
        of(1, "AlertManagement::Alert", "Disk is full"),
        of(2, "DesignManagement::Design", "logo.png"),
        of(3, "Vulnerability", "Injection"),
        of(4, "Commit", "Draw rows"),
        of(5, "MergeRequest", "Rows"),
    ];
    harness.reply(PENDING, all).settle().await;
    harness.expect("alert  Disk is full").expect("design  logo.png").expect("vulnerability  Injection");
    harness.expect("commit  Draw rows").expect("!3").expect_no("request  Rows");
}

#[tokio::test]
async fn the_list_is_read_again_by_itself_and_the_cursor_stays_on_its_row() {
    let mut begin = Begin::at(Place::new("todos")).size(120, 30);
    begin.refresh = Some(Duration::from_secs(60));
    let mut harness = begin.open();
    let first = todo(1, "review_requested", 42, "Draw only visible rows");
    harness.reply(PENDING, [first.clone()]).settle().await;
    let reads = |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with(PENDING)).count();
    let before = reads(&harness);
    harness.press("j k").pass(59).settle().await;
    assert_eq!(reads(&harness), before);
    harness.reply(PENDING, [mention(), first]).pass(1).settle().await;
    assert_eq!(reads(&harness), before + 1);
    assert!(harness.line_with("Draw only visible rows").starts_with('▌'), "{}", harness.picture());
}

#[tokio::test]
async fn new_to_dos_are_told_once_wherever_the_user_is() {
    let open = |states: &HashMap<String, AccountState>| {
        let mut begin = Begin::at(Place::new("projects")).size(120, 30);
        begin.refresh = Some(Duration::from_secs(60));
        begin.states.clone_from(states);
        begin.open()
    };
    let mut harness = open(&HashMap::new());
    harness.reply("GET /user", user(1, "ada")).reply("GET /projects", json!([]));
    let first = todo(7, "review_requested", 42, "Draw only visible rows");
    harness.reply(PENDING, [first.clone()]).settle().await;
    harness.expect("1 to-do · ada").expect_no("requested your review");
    harness.click_on("1 to-do");
    assert_eq!(harness.app.place().pane, "todos");
    harness.press("Esc");
    // Those that were there at the first time are not new.
    let second = todo(8, "mentioned", 9, "Retry reads\u{1b}[31m");
    let own = todo(9, "marked", 5, "Mine");
    harness.reply(PENDING, [own.clone(), second.clone(), first.clone()]).pass(60).settle().await;
    harness.expect("3 to-dos · ada").expect("bo mentioned you in acme/rocket-ui!9. g w lists your to-dos");
    assert!(harness.notified().is_empty(), "the terminal has the focus");
    harness.pass(4).expect_no("mentioned you").pass(60).settle().await;
    harness.expect_no("mentioned you");
    harness.send(Msg::Focus(false));
    let third = todo(10, "assigned", 3, "More");
    harness.reply(PENDING, [third.clone(), own.clone(), second.clone(), first.clone()]).pass(400).settle().await;
    harness.expect("bo assigned acme/rocket-ui!3 to you");
    assert_eq!(harness.notified(), ["bo assigned acme/rocket-ui!3 to you"]);
    // What arrived while labscope was closed is told at the next start.
    let states = harness.states.clone();
    let mut harness = open(&states);
    harness.reply("GET /user", user(1, "ada")).reply("GET /projects", json!([]));
    let two = [todo(12, "build_failed", 4, "A"), todo(11, "assigned", 3, "B"), third, own, second, first];
    harness.reply(PENDING, two).settle().await;
    harness.expect("2 new to-dos, the latest: The pipeline of acme/rocket-ui!4 failed");
}

#[tokio::test]
async fn the_reference_of_a_to_do_is_shown_on_every_screen() {
    let title = "Keep the cursor where it is while the list above it grows and grows";
    for width in [80, 100, 120, 160, 200] {
        let mut harness = Begin::at(Place::new("todos")).size(width, 30).open();
        harness.reply(PENDING, [todo(1, "review_requested", 42, title)]).settle().await;
        let line = harness.line_with("review requested");
        for words in ["acme/rocket-ui", "!42", "Keep the cursor"] {
            assert!(line.contains(words), "{words} in {width} columns\n{}", harness.picture());
        }
    }
}
