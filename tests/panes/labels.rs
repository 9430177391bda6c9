//! Labels of a project and of a group.

use crate::fixtures::{self, With};
use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

fn label(id: u64, name: &str, color: &str) -> Value {
    fixtures::label(id, name, color).with(json!({
        "open_issues_count": 12, "closed_issues_count": 3, "open_merge_requests_count": 4, "is_project_label": id < 9,
    }))
}

async fn open() -> Harness {
    let mut harness = Begin::at(Place::new("labels").project("a/b")).size(120, 20).open();
    harness.reply(
        "GET /projects/a%2Fb/labels?with_counts=true",
        [label(1, "bug", "#d9534f"), label(9, "security", "#b02a37")],
    );
    harness.settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect()
}

#[tokio::test]
async fn a_failed_refresh_says_in_a_narrow_list_which_key_retries() {
    let mut harness = open().await;
    harness.resize(60, 12).unreachable("GET /projects/a%2Fb/labels?with_counts=true").press("r").settle().await;
    // The message gives way to the line that stays.
    harness.press("j");
    let line = harness.line_with("retries");
    assert!(line.contains("connection refused") && line.trim_end().ends_with("… · r retries"), "{}", harness.picture());
    assert!(harness.shows("security"), "the rows stay\n{}", harness.picture());
}

#[tokio::test]
async fn labels_show_colors_and_counts_and_open_their_issues() {
    let mut harness = open().await;
    for words in ["▰▰", "bug", "About bug", "#d9534f", "12", "3", "4"] {
        assert!(harness.line_with("About bug").contains(words), "{words}\n{}", harness.picture());
    }
    assert!(harness.line_with("security").contains("group"), "{}", harness.picture());
    harness.press("Enter");
    assert_eq!(harness.app.place(), Place::new("issues").project("a/b").query("label:\"bug\""));
    harness.press("q m");
    assert_eq!(harness.app.place(), Place::new("mrs").project("a/b").query("label:\"bug\""));
}

#[tokio::test]
async fn a_label_can_be_created_changed_and_deleted_after_confirmation() {
    let mut harness = open().await;
    harness
        .press("+")
        .expect("New label in a/b")
        .type_text("flicker")
        .press("Tab")
        .type_text("#12")
        .expect("is not a color");
    harness.press("C-u").type_text("orange").reply("POST /projects/a%2Fb/labels", label(3, "flicker", "#ffa500"));
    harness.press("C-s").settle().await;
    harness.reply("PUT /projects/a%2Fb/labels/1", label(1, "defect", "#00ff00"));
    harness.press("e").expect("Edit label bug").press("Tab C-u").type_text("#00ff00").press("C-s").settle().await;
    harness.expect("Saved label defect");
    harness.press("Esc D").expect("Delete the label bug of a/b").press("y");
    assert_eq!(
        sent(&harness),
        [
            "POST /projects/a%2Fb/labels color=orange name=flicker",
            "PUT /projects/a%2Fb/labels/1 color=#00ff00 name=bug",
            "DELETE /projects/a%2Fb/labels/1?name=bug",
        ]
    );
    harness.press("j e").expect("belongs to a group above");
}

#[tokio::test]
async fn group_labels_are_changed_in_the_group_and_missing_support_is_reported() {
    let mut harness = Begin::at(Place::new("labels").group("acme")).size(100, 20).open();
    harness.reply("GET /groups/acme/labels", [label(9, "security", "#b02a37")]).settle().await;
    harness.expect("security").press("D y Enter");
    assert_eq!(sent(&harness), ["DELETE /groups/acme/labels/9?name=security"]);
    assert_eq!(harness.app.place(), Place::new("issues").group("acme").query("label:\"security\""));
    let mut harness = Begin::at(Place::new("labels").group("acme")).size(100, 20).open();
    harness.unsupported("GET /groups/acme/labels").settle().await;
    harness.expect("Not supported by this server");
}

#[tokio::test]
async fn a_label_is_subscribed_to_and_unsubscribed_from() {
    let server = demo().await;
    let place = Place::new("labels").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(120, 30).server(&server.base_url, server.token()).open();
    app.settle().await;
    let is_subscribed = |app: &Harness| app.line_with("Something is wrong").contains("subscribed");
    for subscribes in [true, false] {
        app.press("b").settle().await;
        assert_eq!(is_subscribed(&app), subscribes, "{}", app.picture());
    }
    let paths = sent(&app);
    assert!(paths[0].ends_with("/subscribe") && paths[1].ends_with("/unsubscribe"), "{paths:?}");
}

#[tokio::test]
async fn the_filter_is_applied_by_the_server_and_locally() {
    let mut harness = open().await;
    harness.reply("GET /projects/a%2Fb/labels", [label(1, "bug", "#d9534f"), label(9, "security", "#zzzzzz")]);
    harness.press("/").type_text("secu").settle().await;
    assert!(harness.asked.iter().any(|line| line.contains("search=secu")), "{:?}", harness.asked);
    harness.expect("security").expect_no("About bug");
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height);
        harness.press("j z k z");
    }
}

#[tokio::test]
async fn a_label_can_be_created_on_a_real_server() {
    let server = demo().await;
    let place = Place::new("labels").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(120, 30).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("Something is wrong").press("+").type_text("flicker").press("Tab").type_text("red").press("C-s");
    app.until("flicker").await;
    app.settle().await;
    app.press("g g Enter").settle().await;
    app.expect("label:\"bug\"").expect("Columns collide");
    server.stop().await;
}

fn with_keys<const N: usize>(place: Place, own: [(&str, &[&str]); N]) -> Harness {
    let mut begin = Begin::at(place).size(100, 30);
    begin.keys = own.map(|(id, keys)| (id.to_owned(), keys.iter().map(|key| (*key).to_owned()).collect())).into();
    begin.open()
}

#[tokio::test]
async fn messages_name_the_keys_that_the_user_chose() {
    let own: [(&str, &[&str]); 2] = [("labels.create", &["C-n"]), ("seek", &["F7"])];
    let mut harness = with_keys(Place::new("labels").project("a/b"), own);
    harness.reply("GET /projects/a%2Fb/labels?with_counts=true", json!([])).settle().await;
    harness.expect("C-n creates one");
    harness.reply("GET /projects/a%2Fb/labels?search=x&with_counts=true", json!([]));
    harness.press("F7").type_text("x").press("Enter").pass(1).settle().await;
    harness.expect("F7 changes it, Esc clears it");
    // The trace is part of several places, each with its own command; a command without a key is one of the palette.
    for (keys, hint) in [(&["C-j"] as &[&str], "C-j plays it"), (&[], ":Play job plays it")] {
        let mut harness = with_keys(Place::new("job").project("a/b").item(5), [("job.play", keys)]);
        let job = json!({"id": 5, "name": "deploy", "stage": "deploy", "status": "manual", "ref": "main"});
        harness.reply("GET /projects/a%2Fb/jobs/5", job).settle().await;
        harness.expect("This job is manual.").expect(hint);
    }
}

#[tokio::test]
async fn the_footer_leaves_out_commands_without_a_key() {
    let mut harness = with_keys(Place::new("labels").project("a/b"), [("labels.create", &[]), ("seek", &[])]);
    harness.reply("GET /projects/a%2Fb/labels?with_counts=true", json!([])).settle().await;
    harness.expect("a actions").expect_no("new").expect_no("filter").expect(":Create label creates one");
}
