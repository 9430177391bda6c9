//! Issues and epics: their text and their notes.

use crate::fixtures::{self, With, user};
use crate::harness::{Begin, Harness};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::backend::RunningServer;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn note(id: u64, who: u64, body: &str) -> Value {
    let author = json!({"id": who, "username": format!("user{who}"), "name": format!("User {who}")});
    fixtures::note(id, "", body).with(json!({"noteable_type": "Issue", "noteable_iid": 7, "author": author}))
}

fn issue() -> Value {
    fixtures::issue(7, "It is slow", "opened").with(json!({
        "project_id": 3, "description": "Very **slow**.", "labels": ["bug"], "confidential": false,
        "author": {"id": 5, "username": "ada", "name": "Ada"}, "web_url": "",
        "created_at": "2026-06-14T09:00:00Z", "updated_at": "2026-06-14T09:00:00Z",
    }))
}

async fn open(width: u16) -> Harness {
    open_with(width, BTreeMap::new()).await
}

async fn open_with(width: u16, templates: BTreeMap<String, String>) -> Harness {
    let mut begin = Begin::at(Place::new("issue").project("a/b").item(7)).size(width, 30);
    begin.templates = templates;
    let mut harness = begin.open();
    harness.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}));
    harness.reply("GET /projects/a%2Fb/issues/7", issue());
    harness.reply("GET /projects/a%2Fb/issues/7/notes", [note(1, 6, "Which one?"), note(2, 5, "This one.")]);
    harness.settle().await;
    harness
}

#[tokio::test]
async fn an_issue_shows_its_text_and_its_notes() {
    let mut harness = open(80).await;
    for words in ["It is slow", "⊙ open", "Very slow.", "bug", "user6", "Which one?", "This one.", "2 comments"] {
        harness.expect(words);
    }
    for (width, height) in [(20, 8), (40, 10), (160, 45)] {
        harness.resize(width, height);
        harness.press("j G k [ ]");
    }
}

#[tokio::test]
async fn the_first_line_names_the_search_and_counts_its_matches() {
    let mut harness = open(120).await;
    harness.press("/").type_text("one").press("Enter");
    assert!(harness.lines()[0].contains("/one  1/2"), "{}", harness.picture());
    // Comments that arrive are counted.
    let notes = [note(1, 6, "Which one?"), note(2, 5, "This one."), note(3, 6, "One more."), note(4, 6, "No.")];
    harness.reply("GET /projects/a%2Fb/issues/7/notes", notes).press("r").settle().await;
    assert!(harness.lines()[0].contains("/one  1/3"), "{}", harness.picture());
    harness.press("n n").expect("  3/3").press("Esc").expect_no("/one");
}

#[tokio::test]
async fn comments_of_bots_are_one_row_each_and_counted_apart() {
    let mut harness = open(100).await;
    let bot = json!({"id": 9, "username": "project_3_bot_0f3a9c55", "name": "coverage"});
    let of_bot = |id: u64, body: &str| note(id, 9, body).with(json!({"author": bot}));
    let notes = [note(1, 6, "Which one?"), of_bot(2, "## Coverage\n\n82 % of all lines"), of_bot(3, "Size: 4 MB")];
    harness.reply("GET /projects/a%2Fb/issues/7/notes", notes).press("r").settle().await;
    harness.expect("1 comment, 2 by bots").expect("Which one?");
    harness.expect("comment · coverage: Coverage").expect("comment · coverage: Size: 4 MB").expect_no("82 %");
    harness.press("G k").press("Enter").settle().await;
    harness.expect("coverage · 2h   Size: 4 MB").expect("comment · coverage: Coverage");
}

#[tokio::test]
async fn a_reply_on_an_issue_is_posted_to_its_thread() {
    let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(80, 30).open();
    let thread = json!({"id": "abc", "individual_note": false, "notes": [note(1, 6, "In a thread?")]});
    harness
        .reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}))
        .reply("GET /projects/a%2Fb/issues/7", issue())
        .reply("GET /projects/a%2Fb/issues/7/discussions", [thread])
        .reply("GET /projects/a%2Fb/issues/7/notes", json!([]))
        .settle()
        .await;
    harness.expect("In a thread?").press("G R").type_text("Yes.");
    let post = "POST /projects/a%2Fb/issues/7/discussions/abc/notes";
    harness.reply(post, note(3, 5, "Yes.")).press("C-s").settle().await;
    assert!(harness.asked.contains(&format!("{post} body=Yes.")), "{:?}", harness.asked);
}

#[tokio::test]
async fn threads_of_an_issue_are_framed_and_resolved_ones_open_with_enter() {
    let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(90, 30).open();
    let in_thread = |id: u64, body: &str, resolved: bool| {
        note(id, 6, body).with(json!({"resolvable": true, "resolved": resolved, "resolved_by": user(5, "ada")}))
    };
    let threads = json!([
        {"id": "abc", "individual_note": false, "notes": [in_thread(1, "Why so?", true), in_thread(2, "So.", true)]},
        {"id": "def", "individual_note": false, "notes": [in_thread(3, "And now?", false)]},
    ]);
    harness
        .reply("GET /user", user(5, "ada"))
        .reply("GET /projects/a%2Fb/issues/7", issue())
        .reply("GET /projects/a%2Fb/issues/7/discussions", threads)
        .settle()
        .await;
    harness.expect("3 comments ○ 1 unresolved thread").expect("┌ ○ unresolved").expect("│ user6 · 2h   And now?");
    harness.expect("✓ resolved by ada · 2 comments · user6: Why so?").expect_no("So.");
    harness.click_on("Why so?").press("Enter").settle().await;
    harness.expect("┌ ✓ resolved by ada").expect("│ ↳ user6 · 2h   So.").press("-").expect_no("So.");
    harness.press("g g ;").press("c").expect("Reply on #7").press("Esc").press("C").expect("Comment on #7");
}

#[tokio::test]
async fn a_wide_screen_shows_details_and_a_click_selects_a_note() {
    let mut harness = open(160).await;
    assert!(harness.line_with("⊙ open").contains("│  Details ─"), "{}", harness.picture());
    assert!(harness.line_with("Author").contains("│  Author         ada"), "{}", harness.picture());
    assert!(harness.line_with("Labels").contains("│"), "{}", harness.picture());
    harness.click_on("This one.").press("e").expect("This one.").press("Esc");
    harness.click_on("Which one?").press("R").expect("> Which one?");
}

#[tokio::test]
async fn labels_get_their_colors_once_loaded() {
    let mut harness = open(160).await;
    assert!(!harness.line_with("Labels").contains("●bug"), "{}", harness.picture());
    harness.reply("GET /projects/3/labels", [json!({"id": 1, "name": "bug", "color": "#d9534f"})]).settle().await;
    assert!(harness.line_with("Labels").contains("●bug"), "{}", harness.picture());
}

#[tokio::test]
async fn the_text_of_an_issue_follows_the_clock_the_width_and_the_server() {
    let mut harness = open(100).await;
    assert!(harness.line_with("Opened").contains("1d ago"));
    // Nothing was loaded, but the age is updated.
    harness.pass(3 * 86_400).settle().await;
    assert!(harness.line_with("Opened").contains("4d ago"), "{}", harness.picture());
    let changed = json!({"title": "It is fast", "description": "Very *fast*.", "updated_at": "2026-06-18T09:00:00Z"});
    let changed = issue().with(changed);
    harness.reply("GET /projects/a%2Fb/issues/7", changed);
    harness.press("r").settle().await;
    harness.expect("It is fast").expect("Very fast.").expect_no("slow");
    harness.resize(46, 40).settle().await;
    harness.expect("It is fast").expect("Very fast.").expect("Which one?");
    // If a refresh fails, the known content stays.
    harness.fail("GET /projects/a%2Fb/issues/7", 500, "out of ink");
    harness.press("r").settle().await;
    harness.expect("It is fast");
}

#[tokio::test]
async fn a_note_is_sent_through_the_outbox() {
    let mut harness = open(100).await;
    harness.press("c").expect_no("M-s").type_text("Me too.").press("M-s").expect("not part of a review").press("C-s");
    harness.reply("POST /projects/a%2Fb/issues/7/notes", note(3, 5, "Me too.")).settle().await;
    harness.expect("Commented on #7");
    assert!(!harness.kept.keys().any(|key| key.contains("draft")), "{:?}", harness.kept);
}

#[tokio::test]
async fn an_unsent_note_stays_below_the_others() {
    let mut harness = open(100).await;
    harness.fail("POST /projects/a%2Fb/issues/7/notes", 403, "403 Forbidden");
    harness.press("c").type_text("Me too.").press("C-s").settle().await;
    harness.expect("Not sent").press("Esc").settle().await;
    harness.expect("not sent").expect("Me too.");
    harness.press("G k D").expect("Delete the draft").press("y");
    harness.expect_no("Me too.");
}

#[tokio::test]
async fn a_concurrent_change_of_a_note_is_shown_before_it_is_overwritten() {
    let mut harness = open(100).await;
    harness.reply("GET /projects/a%2Fb/issues/7/notes/2", note(2, 5, "This one, in red."));
    harness.reply("PUT /projects/a%2Fb/issues/7/notes/2", note(2, 5, "This one. Really."));
    harness.press("G k e").expect("Edit comment on #7").type_text(" Really.").press("C-s").settle().await;
    harness.expect("Somebody else has changed the comment").expect("This one, in red.");
    assert!(!harness.asked.iter().any(|line| line.starts_with("PUT")), "{:?}", harness.asked);
    harness.press("C-s").settle().await;
    assert!(harness.asked.iter().any(|line| line.contains("PUT") && line.contains("Really")), "{:?}", harness.asked);
    harness.expect("Edited a comment");
}

#[tokio::test]
async fn only_your_own_notes_can_be_edited() {
    let mut harness = open(100).await;
    harness.press("[ [ [ ] e");
    harness.expect("Somebody else wrote this comment");
}

#[tokio::test]
async fn an_issue_is_found_by_search_on_a_server_without_the_issues_api() {
    let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(80, 24).open();
    harness.unsupported("GET /projects/a%2Fb/issues/7");
    harness.reply("GET /projects/a%2Fb/-/search?scope=issues&search=%237", [issue()]);
    harness.reply("GET /projects/a%2Fb/issues/7/notes", [note(1, 6, "Which one?")]).settle().await;
    harness.expect("It is slow").expect("Very slow.").expect("Which one?");
}

#[tokio::test]
async fn an_issue_not_found_by_search_still_shows_its_notes() {
    let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(80, 24).open();
    harness.unsupported("GET /projects/a%2Fb/issues/7");
    harness.reply("GET /projects/a%2Fb/-/search", json!([]));
    harness.reply("GET /projects/a%2Fb/issues/7/notes", [note(1, 6, "Which one?")]).settle().await;
    harness.expect("Search does not find its description").expect("Which one?");
    let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(80, 24).open();
    harness.fail("GET /projects/a%2Fb/issues/7", 403, "403 Forbidden");
    harness.fail("GET /projects/a%2Fb/issues/7/notes", 403, "403 Forbidden").settle().await;
    harness.press("j").expect("Not allowed");
}

#[tokio::test]
async fn an_issue_can_be_edited_closed_and_commented_on() {
    let mut harness = open(100).await;
    let url = "PUT /projects/a%2Fb/issues/7";
    let closed = json!({"state": "closed", "closed_at": "2026-06-15T11:00:00Z", "closed_by": user(5, "ada")});
    let closed = issue().with(closed);
    harness
        .reply(url, closed.clone())
        .reply("GET /projects/a%2Fb/issues/7", closed)
        .press("X")
        .expect("Close #7")
        .press("y")
        .settle()
        .await;
    harness.expect("Closed a/b#7").expect("1h ago by ada");
    assert!(harness.asked.iter().any(|line| *line == format!("{url} state_event=close")), "{:?}", harness.asked);
    harness.press("g g e").settle().await;
    harness.expect("Edit #7").press("Esc ] ] e").settle().await;
    harness.expect("Edit comment on #7");
}

#[tokio::test]
async fn an_address_with_a_note_opens_at_the_note() {
    let place = Place { note: Some(2), ..Place::new("issue").project("a/b").item(7) };
    let mut harness = Begin::at(place).size(80, 24).open();
    harness.reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}));
    harness.reply("GET /projects/a%2Fb/issues/7/notes", [note(1, 6, "Which one?"), note(2, 5, "This one.")]);
    harness.settle().await.reply("GET /projects/a%2Fb/issues/7", issue()).settle().await;
    harness.expect("It is slow").press("R").expect("> This one.");
}

#[tokio::test]
async fn an_epic_place_without_a_number_asks_for_one() {
    let mut harness = Begin::at(Place::new("epic")).size(80, 24).open();
    harness.expect("No epic selected").press("#").type_text("acme&2").press("Enter");
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.item.as_deref()), ("epic", Some("2")));
    harness.press("#").press("C-u").type_text("nothing").press("Enter").expect("is not an issue or epic");
}

#[tokio::test]
async fn an_epic_can_be_commented_on_with_a_real_server() {
    let server: RunningServer = crate::served::demo().await;
    let place = Place::new("epic").group("acme").item(1);
    let mut app = Begin::at(place).size(100, 34).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("Tables are the hard part").press("c").type_text("Indeed.").press("C-s");
    app.until("Commented on &1").await;
    app.settle().await;
    app.expect("Indeed.").press("g g ] e").settle().await;
    app.expect("Edit comment on &1").type_text(" So it is.").press("C-s").until("Edited a comment").await;
    app.settle().await;
    app.expect("So it is.").press("g g ] D").expect("Delete your comment").press("y").until("Deleted a comment").await;
    app.settle().await;
    app.expect_no("So it is.");
    server.stop().await;
}

fn request(iid: u64, title: &str, state: &str) -> Value {
    fixtures::merge_request(iid, title, state).with(json!({"project_id": 3}))
}

#[tokio::test]
async fn related_merge_requests_and_participants_are_listed_and_open() {
    let mut harness = open(160).await;
    let at = "GET /projects/a%2Fb/issues/7";
    harness.reply(
        &format!("{at}/related_merge_requests"),
        [request(4, "Make it fast", "opened"), request(5, "Old", "closed")],
    );
    harness.reply(&format!("{at}/closed_by"), [request(4, "Make it fast", "opened")]);
    harness.reply(&format!("{at}/participants"), [user(5, "ada"), user(6, "bo")]);
    harness.reply(&format!("{at}/notes"), [note(1, 6, "mentioned in merge request !4")]);
    harness.press("r").settle().await;
    assert!(harness.line_with("!4 Make it fast").contains("closes it"), "{}", harness.picture());
    harness.expect("!5 Old");
    assert!(harness.line_with("Participants").contains("ada  bo"), "{}", harness.picture());
    harness.press("m").expect("open, closes it").press("Enter");
    assert_eq!(harness.app.place(), Place::new("mr").project("a/b").item(4));
}

#[tokio::test]
async fn missing_details_of_an_issue_do_not_hide_the_rest() {
    let mut harness = open(160).await;
    harness
        .expect("It is slow")
        .expect("2 comments")
        .expect_no("Participants")
        .press("m")
        .expect("Nothing is linked to it");
    let at = "GET /projects/a%2Fb/issues/7";
    harness.reply(&format!("{at}/notes"), [note(1, 6, "mentioned in merge request !4")]);
    harness.unsupported(&format!("{at}/closed_by")).fail(&format!("{at}/participants"), 403, "403 Forbidden");
    harness.reply(&format!("{at}/related_merge_requests"), [request(4, "Make it\u{1b} fast", "opened")]);
    harness.press("r").settle().await;
    harness.expect("!4 Make it").expect("Participants: Not allowed: 403 Forbidden").expect("It is slow").press("m");
    assert_eq!(harness.app.place(), Place::new("mr").project("a/b").item(4));
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect()
}

#[tokio::test]
async fn a_branch_and_a_draft_merge_request_can_be_created_from_an_issue() {
    let mut harness = open(120).await;
    harness.reply("GET /projects/a%2Fb", json!({"id": 3, "path_with_namespace": "a/b", "default_branch": "main"}));
    harness.press("r").settle().await;
    let branch = "POST /projects/a%2Fb/repository/branches";
    harness.press("B").expect("7-it-is-slow").expect("main");
    harness.reply(branch, json!({"name": "7-it-is-slow"})).press("C-s").settle().await;
    harness.expect("Created branch 7-it-is-slow.");
    harness
        .press("M")
        .press("C-u")
        .type_text("7-fast")
        .reply(branch, json!({"name": "7-fast"}))
        .press("C-s")
        .settle()
        .await;
    harness.expect("Draft: Resolve \"It is slow\"").expect("Closes #7").expect("7-fast");
    harness.reply("POST /projects/a%2Fb/merge_requests", request(9, "Draft", "opened")).press("C-s").settle().await;
    let line = sent(&harness).pop().unwrap();
    assert!(line.contains("source_branch=7-fast") && line.contains("target_branch=main"), "{line}");
    assert!(line.contains("Closes") && line.contains("Draft"), "{line}");
    assert_eq!(harness.app.place().pane, "mr");
}

#[tokio::test]
async fn deleting_an_issue_asks_with_its_title() {
    let mut harness = open(100).await;
    harness.press("Delete").expect("Delete the issue #7 \"It is slow\"").expect("cannot be undone").press("n");
    assert_eq!(sent(&harness), [""; 0]);
    harness.fail("DELETE /projects/a%2Fb/issues/7", 403, "403 Forbidden").press("Delete y").settle().await;
    harness.expect("403 Forbidden");
    harness.reply("DELETE /projects/a%2Fb/issues/7", json!(null)).press("Delete y").settle().await;
    assert_eq!(sent(&harness).len(), 2);
}

#[tokio::test]
async fn a_new_issue_starts_with_a_template_of_the_repository() {
    let mut harness = open(120).await;
    let file = |name: &str, sha: &str| json!({"id": sha, "name": name, "type": "blob", "path": name, "mode": "100644"});
    let files = [file("Default.md", "d1"), file("Bug.md", "b1"), file("x.txt", "t1")];
    harness.reply("GET /projects/a%2Fb/repository/tree?path=.gitlab%2Fissue_templates", files);
    harness.reply_raw("GET /projects/a%2Fb/repository/blobs/d1/raw", "What is it?\n");
    harness.reply_raw("GET /projects/a%2Fb/repository/blobs/b1/raw", "Steps:\n\n1. \n");
    harness.press("+").settle().await;
    harness.settle().await;
    harness.expect("What is it?").type_text("It broke").press("S-Tab").type_text("Bug").press("Enter").settle().await;
    harness.expect("Steps:").expect_no("What is it?");
    harness.reply("POST /projects/a%2Fb/issues", json!({"iid": 8, "title": "It broke"})).press("C-s").settle().await;
    let line = sent(&harness).pop().unwrap();
    assert!(line.contains("title=It broke") && line.contains("Steps:") && !line.contains("template"), "{line}");
}

#[tokio::test]
async fn a_template_is_inserted_at_the_cursor() {
    let templates = BTreeMap::from([("thanks".to_owned(), "Thank you!\n\nWe look at it".to_owned())]);
    let mut harness = open_with(120, templates).await;
    let file = |name: &str, sha: &str| json!({"id": sha, "name": name, "type": "blob", "path": name, "mode": "100644"});
    let folder = "GET /projects/a%2Fb/repository/tree?path=.gitlab%2Fissue_templates";
    harness.reply(folder, [file("Bug.md", "b1"), file("Gone.md", "g1")]);
    harness
        .press("c")
        .expect("M-t template")
        .type_text("Hello. Bye")
        .press("Left Left Left")
        .press("M-t")
        .settle()
        .await;
    harness.expect("Insert template").expect("Bug").expect("of the project").expect("thanks").expect("yours");
    harness.press("Esc").expect_no("Insert template").press("M-t").type_text("tha").press("Enter");
    harness.expect("Hello. Thank you!").expect("We look at itBye").press("C-z").expect("Hello. Bye");
    // One of the project arrives later, and is part of the draft.
    harness.press("M-t").type_text("bug").press("Enter").settle().await;
    harness.expect_no("Insert template").reply_raw("GET /projects/a%2Fb/repository/blobs/b1/raw", "Steps:\r\n1. \n");
    harness.settle().await;
    harness.expect("Hello. Steps:").expect("1.Bye");
    harness.fail("GET /projects/a%2Fb/repository/blobs/g1/raw", 404, "404 Not Found");
    harness.press("M-t").type_text("gone").press("Enter").settle().await;
    harness.expect("Insert template: ").expect("Not Found").expect("1.Bye");
    harness.press("M-t").type_text("no such").press("Enter").settle().await;
    harness.expect("Insert template: there is none named no such");
}

/// Newer servers answer with 404 if a project has no folder of templates.
#[tokio::test]
async fn a_new_issue_without_templates_tells_no_failure() {
    let mut harness = open(120).await;
    let templates = "GET /projects/a%2Fb/repository/tree?path=.gitlab%2Fissue_templates";
    harness.fail(templates, 404, "404 invalid revision or path Not Found");
    harness.press("+").settle().await;
    harness.expect("New issue in a/b").expect_no("Not found").expect_no("retries");
}

#[tokio::test]
async fn keys_edit_a_comment_as_in_a_shell() {
    let mut harness = open(80).await;
    harness.press("c").type_text("one two three");
    harness.press("C-Backspace").expect("one two").expect_no("three").press("C-w").expect_no("two");
    harness.type_text("2 3").press("M-Backspace").expect("one 2").expect_no("2 3").press("C-u").expect_no("one");
    harness.type_text("alpha beta").press("C-a M-d").expect_no("alpha").expect("beta").press("C-e").type_text("!");
    harness.expect("beta!").press("C-a C-k").expect_no("beta");
    // Line feeds of a paste that is not marked begin lines.
    harness.type_text("first").press("C-j").type_text("second").press("C-u").expect("first").expect_no("second");
    harness.press("C-z").expect("second");
    // A key of the window manager types nothing.
    harness.press("C-a C-k");
    let super_x = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::SUPER);
    harness.send(Msg::Key(super_x));
    harness.type_text("sent").press("C-s").settle().await;
    assert!(harness.asked.iter().any(|line| line.ends_with("body=first\nsent")), "{:?}", harness.asked);
}

#[tokio::test]
async fn text_that_arrives_at_once_is_pasted_where_text_is_typed() {
    let mut harness = open(80).await;
    let megabyte = "a line of a long paste\n".repeat(1 << 20 >> 5);
    harness.press("c");
    harness.send(Msg::Typed(format!("{megabyte}the end")));
    harness.expect("the end").press("Esc");
    harness.press(":");
    harness.send(Msg::Typed("nowhere ".repeat(9)));
    harness.expect("nowhere nowhere").press("Esc");
    // Elsewhere it is keys.
    harness.send(Msg::Typed(format!("{}c", "k".repeat(80))));
    harness.expect("Comment on #7");
}

#[tokio::test]
async fn an_incident_shows_its_severity_and_a_locked_discussion() {
    let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(120, 30).open();
    let incident = json!({"issue_type": "incident", "severity": "CRITICAL", "discussion_locked": true});
    harness.reply("GET /projects/a%2Fb/issues/7", issue().with(incident));
    harness.reply("GET /projects/a%2Fb/issues/7/notes", json!([])).settle().await;
    harness.expect("severity critical").expect("locked: only members can comment");
    let plain = issue().with(json!({"severity": "UNKNOWN"}));
    harness.reply("GET /projects/a%2Fb/issues/7", plain).press("r").settle().await;
    harness.expect_no("severity").expect_no("locked");
}

#[tokio::test]
async fn the_composer_says_who_may_comment_on_a_locked_issue() {
    for (is_locked, key) in [(true, "c"), (false, "c")] {
        let mut harness = Begin::at(Place::new("issue").project("a/b").item(7)).size(100, 30).open();
        let locked = issue().with(json!({"discussion_locked": is_locked}));
        harness
            .reply("GET /user", json!({"id": 5, "username": "ada", "name": "Ada"}))
            .reply("GET /projects/a%2Fb/issues/7", locked)
            .reply("GET /projects/a%2Fb/issues/7/notes", json!([]))
            .settle()
            .await;
        harness.press(key);
        let title = harness.line_with(" on ");
        assert_eq!(title.contains("locked: only members can comment"), is_locked, "{title}");
    }
}

/// They would be sent without having been seen. A carriage return ends a line.
#[tokio::test]
async fn control_characters_are_not_pasted_into_a_comment() {
    let mut harness = open(120).await;
    harness.press("C");
    harness.send(Msg::Paste("\u{1b}[31mred\u{1b}[0m\0 one\r\n\ttwo\rthree".into()));
    harness.expect("[31mred[0m one").expect("Removed control characters from the pasted text").pass(60);
    harness.send(Msg::Paste("four\n".into()));
    harness.expect_no("Removed").press("C-s").settle().await;
    let post = harness.asked.iter().find(|line| line.starts_with("POST ")).expect("a comment");
    assert!(post.ends_with("body=[31mred[0m one\n\ttwo\nthreefour\n"), "{post:?}");
}

/// Servers before 15.0 ignore `internal` (doc/api/notes.md), so the note would be public.
#[tokio::test]
async fn an_internal_note_is_sent_only_to_a_server_that_keeps_it_apart() {
    let post = "POST /projects/a%2Fb/issues/7/notes body=Secret.";
    let sent =
        |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with(post)).cloned().collect::<Vec<_>>();
    let mut harness = open(120).await;
    harness.press("C").expect("M-i internal").type_text("Secret.").press("M-i").expect("internal note");
    harness.press("C-s").expect("It is not known whether this server has internal notes");
    harness.reply("GET /metadata", json!({"version": "14.10.5", "revision": "a"})).settle().await;
    harness.press("C-s").expect("This server has no internal notes: everybody would see it");
    assert_eq!(sent(&harness), [""; 0]);

    let mut harness = open(120).await;
    harness.reply("GET /metadata", json!({"version": "19.5.0-ee", "revision": "a"}));
    harness.press("C").type_text("Secret.").press("M-i").settle().await;
    // The draft remembers it.
    harness.press("Esc C").expect("internal note").press("M-s").expect("not part of a review");
    harness.reply("POST /projects/a%2Fb/issues/7/notes", note(3, 5, "Secret.").with(json!({"internal": true})));
    harness.press("C-s").settle().await;
    assert_eq!(sent(&harness), [format!("{post} internal=true")]);
    harness.press("C").type_text("Public.").expect_no("internal note");
}
