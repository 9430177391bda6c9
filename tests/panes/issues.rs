//! The list of issues of a project, a group, or the user.

use crate::fixtures::{self, With, user};
use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const LIST: &str = "GET /projects/acme%2Frocket-ui/issues";

fn issue(iid: u64, title: &str, state: &str) -> Value {
    fixtures::issue(iid, title, state).with(json!({
        "user_notes_count": 3, "due_date": "2026-06-01", "milestone": {"id": 3, "title": "0.4"},
        "labels": ["plain", {"id": 1, "name": "bug", "color": "#d9534f"}],
        "assignees": [{"id": 4, "username": "eli"}, {"id": 5, "username": "ada"}],
        "references": {"short": format!("#{iid}"), "relative": "", "full": format!("acme/rocket-ui#{iid}")},
    }))
}

async fn open() -> Harness {
    let mut harness = Begin::at(Place::new("issues").project("acme/rocket-ui")).size(160, 30).open();
    harness.reply("GET /user", user(5, "ada"));
    let list = |state: &str| format!("{LIST}?order_by=updated_at&{state}with_labels_details=true");
    let rows = [issue(42, "Widths that remember", "opened"), issue(41, "Gauge shows too much", "opened")];
    harness.reply(&list("state=opened&"), rows);
    harness.reply(&list("state=closed&"), [issue(31, "Odd heights", "closed")]);
    harness.settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect()
}

#[tokio::test]
async fn rows_show_the_important_fields_and_open_the_issue() {
    let mut harness = open().await;
    let line = harness.line_with("#42  Widths");
    for words in ["plain", "●bug", "0.4", "eli ada", "  3  ", "2026-06-01", "3h"] {
        assert!(line.contains(words), "{words}\n{}", harness.picture());
    }
    harness.expect("Why Widths that remember matters.").press("2").settle().await;
    harness.expect("Odd heights").press("Enter");
    assert_eq!(harness.app.place(), Place::new("issue").project("acme/rocket-ui").item(31));
}

#[tokio::test]
async fn a_query_is_sent_to_the_server_and_a_minus_excludes() {
    let mut harness = open().await;
    harness.reply("GET /users", [user(9, "cem")]);
    harness.press("/").type_text("label:bug -label:ui -author:cem due:overdue sort:due-asc slow").press("Enter");
    harness.settle().await;
    let line = harness.asked.last().expect("a request").clone();
    for part in [
        "labels=bug",
        "not[labels]=ui",
        "not[author_id]=9",
        "due_date=overdue",
        "order_by=due_date",
        "sort=asc",
        "search=slow",
        "state=opened",
    ] {
        assert!(line.starts_with(LIST) && line.contains(part), "{part} in {line}");
    }
    harness.press("/ C-u").type_text("-due:today").press("Enter").settle().await;
    harness.expect("cannot exclude by due");
}

#[tokio::test]
async fn issues_can_be_closed_one_by_one_or_marked_and_created_with_a_form() {
    let mut harness = open().await;
    let url = "PUT /projects/acme%2Frocket-ui/issues";
    harness.reply(&format!("{url}/42"), issue(42, "Widths that remember", "closed"));
    harness.press("X").expect("Close #42 \"Widths that remember\"?").press("y").settle().await;
    assert_eq!(sent(&harness), [format!("{url}/42 state_event=close")]);
    harness.expect("Closed acme/rocket-ui#42").press("Space Space X");
    // Both are named, and nothing is sent without an answer.
    harness.expect("Close these 2 issues?").expect("close acme/rocket-ui#42 Widths that remember");
    harness.press("n").expect("2 marked").press("X y").expect("Close or reopen").press("Esc").expect_no("2 marked");
    let mut harness = open().await;
    harness.reply("GET /projects/acme%2Frocket-ui/users", [user(4, "eli"), user(5, "ada")]);
    harness.reply("GET /projects/acme%2Frocket-ui/labels", [json!({"id": 1, "name": "bug"})]);
    harness.press("+").expect("New issue in acme/rocket-ui").type_text("Rows flicker").press("Tab Tab");
    harness.settle().await;
    harness.type_text("bug").settle().await;
    harness.press("Tab").type_text("eli").settle().await;
    harness.press("Space").type_text("@me").settle().await;
    harness.press("Enter").expect("eli, ada");
    harness.reply("POST /projects/acme%2Frocket-ui/issues", issue(44, "Rows flicker", "opened"));
    harness.press("C-s").settle().await;
    let line = sent(&harness).pop().expect("a write");
    assert_eq!(
        line,
        "POST /projects/acme%2Frocket-ui/issues assignee_ids[]=4 assignee_ids[]=5 labels=bug title=Rows flicker"
    );
    assert_eq!(harness.app.place(), Place::new("issue").project("acme/rocket-ui").item(44));
}

#[tokio::test]
async fn an_edit_only_sends_changed_fields() {
    let mut harness = open().await;
    harness.reply("GET /projects/acme%2Frocket-ui/issues/42", issue(42, "Widths that remember", "opened"));
    harness.reply("GET /projects/acme%2Frocket-ui/users", json!([]));
    harness.press("e").settle().await;
    harness.expect("Edit #42").expect("plain, bug").expect("eli, ada").expect("2026-06-01");
    harness.press("Tab Tab Tab C-u").settle().await;
    harness.press("Tab Tab C-u").settle().await;
    harness
        .reply("PUT /projects/acme%2Frocket-ui/issues/42", issue(42, "Widths", "opened"))
        .press("C-s")
        .settle()
        .await;
    assert_eq!(sent(&harness), ["PUT /projects/acme%2Frocket-ui/issues/42 assignee_ids[]=0 due_date="]);
}

#[tokio::test]
async fn issues_without_a_project_are_the_users_and_a_group_lists_its_own() {
    let mut harness = Begin::at(Place::new("issues")).size(160, 30).open();
    let own = "GET /issues?order_by=updated_at&scope=assigned_to_me&state=opened&with_labels_details=true";
    harness.reply(own, [issue(42, "Widths that remember", "opened")]).settle().await;
    harness.expect("issues assigned to you").press("+").expect("Select a project first");
    assert!(harness.line_with("#42  Widths").contains("acme/rocket-ui"), "{}", harness.picture());
    harness.press("Enter");
    assert_eq!(harness.app.place(), Place::new("issue").project("acme/rocket-ui").item(42));
    let mut harness = Begin::at(Place::new("issues").group("acme")).size(120, 30).open();
    harness.unsupported("GET /groups/acme/issues").settle().await;
    harness.expect("Not supported by this server");
}

#[tokio::test]
async fn hostile_texts_are_sanitized_at_any_size() {
    let labels = json!([{"name": "a\u{1b}[2Jb", "color": "#zzzzzz"}, {"color": "x"}, 7, null]);
    let evil = issue(42, "E\u{1b}[31mvil\u{7}\u{202e}x", "odd\u{1b}state");
    let evil = evil.with(json!({"labels": labels, "due_date": "soon\u{7}"}));
    let mut harness = Begin::at(Place::new("issues").project("a/b")).size(160, 30).open();
    harness.reply("GET /projects/a%2Fb/issues", [evil]).settle().await;
    let drawn = harness.picture();
    assert!(!drawn.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{drawn:?}");
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("Tab j z k z");
    }
}

#[tokio::test]
async fn issues_can_be_created_and_closed_on_a_real_server() {
    let server = demo().await;
    let place = Place::new("issues").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(160, 34).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("Widths that remember").expect("●des").press("+").type_text("Rows flicker").press("C-s");
    app.until("Rows flicker").await;
    app.settle().await;
    app.expect("⊙ open").expect("No description.").press("X y").until("Closed acme/rocket-ui#44").await;
    app.settle().await;
    app.expect("closed").press("q").settle().await;
    app.expect_no("Rows flicker").press("2").settle().await;
    app.expect("Rows flicker");
    server.stop().await;
}

#[tokio::test]
async fn a_feature_that_is_off_is_named_and_nothing_new_is_offered() {
    // GitLab refuses reads of a feature that the project does not have, whatever the role of the caller
    // (`authorize!` in lib/api of GitLab 19.5).
    for (place, list, words) in [
        ("issues", LIST, "Issues are off in this project."),
        ("mrs", "GET /projects/acme%2Frocket-ui/merge_requests", "Merge requests are off in this project."),
        ("pipelines", "GET /projects/acme%2Frocket-ui/pipelines", "CI/CD is off in this project."),
        ("jobs", "GET /projects/acme%2Frocket-ui/jobs", "CI/CD is off in this project."),
    ] {
        let mut harness = Begin::at(Place::new(place).project("acme/rocket-ui")).size(120, 30).open();
        harness.reply("GET /user", user(5, "ada"));
        harness.fail(list, 403, "403 Forbidden");
        let off = json!({"issues_enabled": false, "merge_requests_enabled": false, "jobs_enabled": false});
        harness.reply("GET /projects/acme%2Frocket-ui", fixtures::project(1, "acme/rocket-ui").with(off));
        harness.settle().await;
        harness.expect(words).expect_no("ask an owner").expect_no("Forbidden");
        if place != "jobs" {
            harness.press("+").expect("off in this project").expect_no("New ");
            assert_eq!(sent(&harness), [""; 0], "{place}");
        }
    }
}

/// A web address, as the list of GitLab writes it.
#[tokio::test]
async fn a_list_opens_with_the_filters_of_its_web_address() {
    let from_web = |pane: &str, query: &str| Place::new(pane).project("acme/rocket-ui").query(query);
    let mut harness = Begin::at(from_web("issues", "?label_name[]=bug&author_username=cem&state=closed").tab("closed"))
        .size(160, 30)
        .open();
    harness.reply("GET /user", user(5, "ada")).reply("GET /users", [user(9, "cem")]).settle().await;
    harness.expect("label:bug").expect("author:cem").expect_no("state:");
    let line = harness.asked.iter().rfind(|line| line.starts_with(LIST)).expect("a request").clone();
    for part in ["labels=bug", "author_id=9", "state=closed"] {
        assert!(line.contains(part), "{line}");
    }
    assert_eq!(harness.app.place(), from_web("issues", "label:bug author:cem").tab("closed"));
    // What cannot be applied is told.
    let mut harness = Begin::at(from_web("issues", "?weight=3")).size(160, 30).open();
    harness.reply("GET /user", user(5, "ada")).settle().await;
    harness.expect("weight:3").expect("no such key");
    let mut harness = Begin::at(from_web("branches", "?search=odd+heights")).size(160, 30).open();
    harness.settle().await;
    assert!(harness.waiting().iter().any(|line| line.contains("branches?search=odd")), "{:?}", harness.waiting());
}
