//! Several servers: the user's work on all of them is in one list, and opens on its server.

use crate::fixtures::{With, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::api::Host;
use labscope::app::Place;
use labscope::app::action::{Effect, Msg};
use labscope::app::session::{CustomSection, Session};
use labscope::app::state::Kept;
use labscope::app::tone::Tone;
use serde_json::{Value, json};

const OTHER: &str = "https://git.example.org";
const ASSIGNED: &str =
    "GET /merge_requests?order_by=updated_at&scope=assigned-to-me&state=opened&with_labels_details=true";
const MINE: &str = "GET /merge_requests?order_by=updated_at&scope=created-by-me&state=opened&with_labels_details=true";

fn request(id: u64, title: &str, hour: u8) -> Value {
    merge_request(id, title, "opened").with(json!({
        "id": id, "references": {"full": format!("acme/web!{id}")},
        "web_url": format!("https://x/acme/web/-/merge_requests/{id}"), "author": user(1, "ada"),
        "updated_at": format!("2026-06-15T{hour:02}:00:00Z"),
    }))
}

fn begin() -> Harness {
    Begin::at(Place::new("home")).beside(OTHER, true).beside("https://public.example", false).open()
}

fn here(harness: &mut Harness, assigned: &[Value], mine: &[Value]) {
    harness.reply(ASSIGNED, assigned).reply(MINE, mine).reply("GET /projects", json!([]));
}

fn there(harness: &mut Harness, assigned: &[Value], mine: &[Value]) {
    harness.reply(&format!("git.example.org {ASSIGNED}"), assigned);
    harness.reply(&format!("git.example.org {MINE}"), mine);
}

/// Returns the first row of the screen that contains `words`.
fn row(harness: &Harness, words: &str) -> usize {
    let found = harness.lines().iter().position(|line| line.contains(words));
    found.unwrap_or_else(|| panic!("no {words:?} on\n{}", harness.picture()))
}

#[tokio::test]
async fn work_on_all_servers_is_in_one_list_sorted_by_last_update() {
    let mut harness = begin();
    here(&mut harness, &[request(1, "Oldest", 6), request(2, "Newest", 11)], &[]);
    // The same IDs belong to other merge requests there.
    there(&mut harness, &[request(2, "Between", 9)], &[request(1, "Mine there", 8), request(2, "Between", 9)]);
    harness.settle().await;
    assert!(row(&harness, "Newest") < row(&harness, "Between") && row(&harness, "Between") < row(&harness, "Oldest"));
    harness.expect("Assigned to me 3").expect("Mine 1").expect("Mine there");
    assert!(harness.line_with("Between").contains("git.example.org acme/web"), "{}", harness.picture());
    assert!(!harness.line_with("Newest").contains("demo"), "{}", harness.picture());
    let there = harness.asked.iter().filter(|line| line.starts_with("git.example.org")).count();
    assert_eq!(there, 2, "two requests per server: {:?}", harness.asked);
    assert!(!harness.asked.iter().any(|line| line.contains("public.example")), "it has no token");
    harness.press("/").type_text("example.org").press("Enter").expect("Between").expect_no("Newest");
}

#[tokio::test]
async fn a_row_of_another_server_opens_on_that_server() {
    let mut harness = begin();
    here(&mut harness, &[request(1, "Here", 6)], &[]);
    let bare = json!([{"id": 9, "iid": 4, "project_id": 7, "title": "Without a reference", "state": "opened",
        "web_url": "https://git.example.org/a/b/c/-/merge_requests/4", "updated_at": "2026-06-15T10:00:00Z"}]);
    harness.reply(&format!("git.example.org {ASSIGNED}"), bare).reply(&format!("git.example.org {MINE}"), json!([]));
    harness.settle().await;
    harness.press("Enter J p y");
    let project = || Place::new("mr").project("a/b/c").item(4);
    let jobs = Place::new("jobs").project("a/b/c");
    assert_eq!(harness.elsewhere(), [(Host::new(OTHER), Some(project())), (Host::new(OTHER), Some(jobs))]);
    assert!(harness.states.is_empty(), "a project of another server is not pinned here");
    harness.expect("a/b/c!4").press("Esc j Enter");
    assert_eq!((harness.app.place().pane.as_str(), harness.elsewhere().len()), ("mr", 2));
}

#[tokio::test]
async fn a_failing_server_is_reported_once_without_hiding_other_rows() {
    for (status, said, words, advice) in [
        (401, "401 Unauthorized", "rejects the token: 401 Unauthorized", "Set a valid token"),
        (403, "403 Forbidden", "refuses: 403 Forbidden", "ask a server administrator"),
        (404, "404 Not Found", "could not load your work: 404 Not Found", "It may have been moved or deleted"),
        (500, "it broke", "could not load your work: 500: it broke", "refresh to try again"),
        (0, "", "did not answer: connection refused", "Check the network and the host name. r retries."),
    ] {
        let mut harness = begin();
        here(&mut harness, &[request(1, "Here", 6)], &[]);
        for line in [ASSIGNED, MINE].map(|line| format!("git.example.org {line}")) {
            match status {
                0 => harness.unreachable(&line),
                status => harness.fail(&line, status, said),
            };
        }
        harness.settle().await;
        harness.expect("Here").expect("You have no open merge requests.").expect(advice);
        assert!(harness.line_with("git.example.org").contains(words), "{}", harness.picture());
        assert_eq!(harness.lines().iter().filter(|line| line.contains("git.example.org")).count(), 1);
        // The current server is reachable, and the place stays open.
        harness.expect_no("unreachable").expect("home");
        assert_eq!(harness.app.place().pane, "home");
    }
}

#[tokio::test]
async fn a_failing_current_server_does_not_hide_the_others() {
    let mut harness = begin();
    harness.fail(ASSIGNED, 500, "it broke").fail(MINE, 500, "it broke").fail("GET /projects", 500, "it broke");
    there(&mut harness, &[request(2, "There", 9)], &[]);
    harness.settle().await;
    assert!(harness.line_with("could not load your work: 500").contains("demo"), "{}", harness.picture());
    harness.expect("There").expect_no("You have no open").resize(44, 12);
    harness.expect("There").resize(20, 20).expect("labscope needs").resize(80, 24).expect("There");
}

#[tokio::test]
async fn rows_of_another_server_are_not_offered_as_local_targets() {
    let mut harness = begin();
    here(&mut harness, &[], &[]);
    there(&mut harness, &[request(2, "Only there\u{1b}[31m", 9)], &[]);
    harness.settle().await;
    harness.expect("Only there").press("C-p").type_text("Only there").expect_no("acme/web!2");
    harness.press("Esc C-p").type_text("git.ex").expect("server").press("Enter");
    assert_eq!(harness.elsewhere(), [(Host::new(OTHER), None)]);
}

#[tokio::test]
async fn servers_can_be_chosen_from_a_list_or_by_address() {
    let mut harness = begin();
    harness.press("g H").expect("Servers").expect("current server").expect("no token: public content only");
    harness.type_text("public").press("Enter");
    harness.press(":").type_text("https://git.example.org/acme/web/-/merge_requests/3").press("Enter");
    let place = Place::new("mr").project("acme/web").item(3);
    assert_eq!(harness.elsewhere(), [(Host::new("https://public.example"), None), (Host::new(OTHER), Some(place))]);
    harness.press(":").type_text("https://else.example/acme/web").press("Enter").expect("is on another server");
    let mut alone = Begin::at(Place::new("home")).open();
    alone.press("g H").expect("No other server configured");
}

#[tokio::test]
async fn an_app_in_the_background_pauses_and_resumes_where_it_was() {
    let mut harness = begin();
    here(&mut harness, &[request(1, "Here", 6)], &[]);
    harness.settle().await;
    let session = Session { server: "git.example.org".into(), web_url: OTHER.into(), ..Session::default() };
    let place = Place::new("mr").project("acme/web").item(3);
    let (mut other, _) = harness.app.for_server(session, Kept::default(), Some(place.clone()));
    let (effects, _) = harness.app.leave();
    let waits = |effect: &Effect| matches!(effect, Effect::Start(..));
    assert!(!effects.iter().any(waits), "{effects:?}");
    // Requests in flight are canceled: the other server has not answered yet.
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Cancel(_))), "{effects:?}");
    other.enter(harness.app.ui_state(), None);
    assert_eq!(other.place(), place);
    // Messages of an app in the background are shown by the one in front.
    harness.app.receive(Msg::Say(Tone::Good, "Saved x".into()));
    assert_eq!(harness.app.take_messages(), [(Tone::Good, "demo: Saved x".into())]);
    let key = |c: char| Msg::Key(crossterm::event::KeyEvent::from(crossterm::event::KeyCode::Char(c)));
    let effects = other.update(key('q'));
    assert!(effects.contains(&Effect::SwitchBack), "{effects:?}");
    let effects = harness.app.come_back(other.ui_state());
    assert!(effects.iter().any(waits), "canceled requests are sent again: {effects:?}");
    harness.resize(80, 24).expect("Here");
    // It is the first place of the session, so there is nothing to go back to.
    harness.press("q");
    assert_eq!(harness.returned(), 0);
}

#[test]
fn each_switch_to_a_server_can_be_undone() {
    let harness = begin();
    let session = Session { server: "git.example.org".into(), web_url: OTHER.into(), ..Session::default() };
    let request = |iid: u64| Place::new("mr").project("acme/web").item(iid);
    let (mut other, _) = harness.app.for_server(session, Kept::default(), Some(request(1)));
    let q = || Msg::Key(crossterm::event::KeyEvent::from(crossterm::event::KeyCode::Char('q')));
    other.enter(harness.app.ui_state(), None);
    other.leave();
    other.enter(harness.app.ui_state(), Some(request(2)));
    assert_eq!(other.place(), request(2));
    assert!(other.update(q()).contains(&Effect::SwitchBack));
    other.leave();
    other.come_back(harness.app.ui_state());
    assert_eq!(other.place(), request(2), "it is unchanged");
    // Going back follows its own history, up to the place where it was first entered.
    assert!(!other.update(q()).contains(&Effect::SwitchBack));
    assert_eq!(other.place(), request(1));
    assert!(other.update(q()).contains(&Effect::SwitchBack));
}

#[tokio::test]
async fn a_section_that_a_project_shares_stays_on_its_server_and_in_its_project() {
    const LIST: &str = "GET /projects/acme%2Fweb/merge_requests";
    let mut begin = Begin::at(Place::new("home")).beside(OTHER, true);
    begin.sections = vec![CustomSection {
        name: "Stuck".into(),
        query: "label:stuck".into(),
        project: Some("acme/web".into()),
        group: None,
        is_shared: true,
    }];
    let mut harness = begin.open();
    here(&mut harness, &[], &[]);
    there(&mut harness, &[], &[]);
    harness.reply(LIST, [request(1, "It waits", 6)]);
    harness.settle().await.expect("Stuck 1").expect("It waits");
    let asked = |line: &&String| line.contains("stuck");
    assert!(harness.asked.iter().filter(asked).all(|line| line.starts_with(LIST)), "{:?}", harness.asked);
    while !harness.line_with("It waits").contains('▌') {
        harness.press("j");
    }
    harness.press("D").expect("The project of the clone shares it");
    let session = Session { server: "git.example.org".into(), web_url: OTHER.into(), ..Session::default() };
    let (other, effects) = harness.app.for_server(session, Kept::default(), None);
    let sent = format!("{effects:?}");
    assert!(sent.contains("Start") && !sent.contains("stuck"), "{sent}");
    harness.app.leave();
    harness.app.come_back(other.ui_state());
    harness.resize(80, 24).expect("Stuck 1");
}

#[test]
fn quitting_asks_about_unsaved_texts_of_another_server() {
    let mut harness = begin();
    harness.app.set_other_write_error(Some("no space left".into()));
    harness.press("Q").expect("no space left");
    assert!(!harness.app.is_quitting());
    harness.press("y");
    assert!(harness.app.is_quitting());
}

#[tokio::test]
async fn home_requests_nothing_from_a_current_server_without_a_token() {
    let mut begin = Begin::at(Place::new("home")).beside(OTHER, true);
    begin.signed_in = false;
    let mut harness = begin.open();
    harness.reply("GET /projects", json!([]));
    there(&mut harness, &[request(2, "There", 9)], &[]);
    harness.settle().await;
    harness.expect("There").expect("You have no open merge requests.").expect_no("Not signed in");
    assert!(!harness.asked.iter().any(|line| line.starts_with("GET /merge_requests")), "{:?}", harness.asked);
}

#[tokio::test]
async fn watched_jobs_are_still_watched_in_the_background() {
    let mut harness = Begin::at(Place::new("job").project("acme/web").item(7)).open();
    harness.reply("GET /projects/acme%2Fweb/jobs/7", json!({"id": 7, "name": "bench", "status": "running"}));
    harness.settle().await;
    harness.press("w").expect("Watching #7 bench");
    let (_, goes_on) = harness.app.leave();
    assert_eq!(goes_on.as_deref(), Some("demo: its watched jobs are still watched; you'll be notified here."));
    harness.reply("GET /projects/acme%2Fweb/jobs/7", json!({"id": 7, "name": "bench", "status": "success"}));
    harness.pass(4).settle().await;
    assert_eq!(harness.notified(), ["#7 bench passed"]);
    assert_eq!(harness.app.take_messages(), [(Tone::Good, "demo: #7 bench passed.".into())]);
    assert_eq!(harness.pass(4).app.wake_at(), None, "polling has stopped");
}
