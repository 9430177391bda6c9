//! What happened in a project, and what the user did.

use crate::fixtures::user;
use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

// Fields and words as GitLab's API entity for events sends them (lib/api/entities/event.rb): a push has no target, and
// the number of a comment's target is the ID of the note.
fn event(id: u64, action: &str, rest: Value) -> Value {
    let mut event = json!({"id": id, "project_id": 7, "action_name": action, "author_username": "ada",
        "author": {"id": 5, "username": "ada", "name": "Ada"}, "created_at": "2026-06-15T09:00:00.006Z"});
    event.as_object_mut().expect("an object").extend(rest.as_object().cloned().unwrap_or_default());
    event
}

async fn open(line: &str, place: Place) -> Harness {
    let mut harness = Begin::at(place).size(120, 20).open();
    let note = json!({"id": 31, "body": "Looks good.\nThanks!", "noteable_type": "MergeRequest", "noteable_iid": 12});
    let push = json!({"commit_count": 2, "action": "pushed", "ref_type": "branch", "ref": "main",
        "commit_from": "9a1c", "commit_to": "77d0", "commit_title": "Tidy up"});
    let events = [
        event(1, "pushed to", json!({"push_data": push, "target_type": null})),
        event(
            2,
            "commented on",
            json!({"target_type": "Note", "target_iid": 31, "target_title": "Add a parser",
            "note": note}),
        ),
        event(3, "opened", json!({"target_type": "Issue", "target_iid": 4, "target_title": "It forgets"})),
        event(4, "joined", json!({"target_type": null, "author": null})),
    ];
    harness.reply(line, events).settle().await;
    harness
}

#[tokio::test]
async fn events_say_who_did_what_and_open_where_it_happened() {
    let place = Place::new("activity").project("a/b");
    let mut harness = open("GET /projects/a%2Fb/events", place.clone()).await;
    let push = harness.line_with("pushed to");
    assert!(push.contains("ada") && push.contains("main Tidy up and 1 other commit"), "{}", harness.picture());
    let comment = harness.line_with("commented on");
    assert!(comment.contains("!12 Add a parser") && comment.contains("Looks good. Thanks!"), "{}", harness.picture());
    assert!(harness.line_with("opened").contains("#4 It forgets"), "{}", harness.picture());
    harness.press("Enter");
    assert_eq!(harness.app.place(), Place::new("compare").project("a/b").item("9a1c...77d0"));
    harness.press("q j Enter");
    assert_eq!(harness.app.place(), Place::new("mr").project("a/b").item(12));
    harness.press("q j Enter");
    assert_eq!(harness.app.place(), Place::new("issue").project("a/b").item(4));
    harness.press("q j Enter").expect("labscope cannot show what this was about.");
    assert_eq!(harness.app.place(), place);
}

#[tokio::test]
async fn a_long_comment_leaves_room_for_the_time() {
    let note = json!({"id": 31, "body": "word ".repeat(40), "noteable_type": "MergeRequest", "noteable_iid": 12});
    let comment = event(2, "commented on", json!({"target_type": "Note", "target_title": "Rows", "note": note}));
    let mut harness = Begin::at(Place::new("activity").project("a/b")).size(80, 24).open();
    harness.reply("GET /projects/a%2Fb/events", [comment]).settle().await;
    for width in [80, 100] {
        let line = harness.resize(width, 24).line_with("commented on");
        assert!(line.contains("!12 Rows  word") && line.contains("2h"), "{}", harness.picture());
    }
}

#[tokio::test]
async fn the_events_of_a_user_open_in_their_own_projects() {
    for (place, line, page) in [
        (Place::new("activity"), "GET /events", "dashboard/activity"),
        (Place::new("activity").item("ada"), "GET /users/ada/events", "users/ada/activity"),
    ] {
        let mut harness = open(line, place.clone()).await;
        assert_eq!(harness.app.place(), place);
        harness.press("o");
        assert_eq!(harness.browsed(), [format!("http://demo.test/{page}")]);
        harness.press("j Enter");
        assert_eq!(harness.app.place(), Place::new("mr").project("7").item(12));
    }
}

#[tokio::test]
async fn activity_that_a_server_does_not_know_is_not_offered_again() {
    let mut harness = Begin::at(Place::new("activity").project("acme/rocket-ui")).size(120, 30).open();
    harness.reply("GET /user", user(1, "ada")).unsupported("GET /projects/acme%2Frocket-ui/events").settle().await;
    harness.press(":").type_text("activity").expect("the server does not support this");
}

#[tokio::test]
async fn the_demo_world_has_activity() {
    let server = demo().await;
    let place = Place::new("activity").project("acme/rocket-ui");
    let mut harness = Begin::at(place).size(120, 30).server(&server.base_url, server.token()).open();
    harness.settle().await;
    assert!(harness.shows("commented on") && harness.shows("opened"), "{}", harness.picture());
    harness.press("/").type_text("pushed").press("Enter").settle().await;
    harness.expect("pushed to").expect("feature/rows");
}
