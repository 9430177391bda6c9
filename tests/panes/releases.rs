//! Releases of a project.

use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const LIST: &str = "GET /projects/a%2Fb/releases";

fn release(tag: &str, name: &str) -> Value {
    json!({"tag_name": tag, "name": name, "description": "Rows, *documents*.", "released_at": "2026-06-15T09:00:00Z",
        "author": {"id": 1, "username": "bo"}, "milestones": [{"id": 4, "iid": 4, "title": "0.4"}],
        "assets": {"links": [{"id": 1, "name": "For Linux", "url": "https://h.test/linux", "link_type": "package"},
            {"id": 2, "name": "Odd", "url": "javascript:alert(1)", "link_type": "other"}],
            "sources": [{"format": "zip", "url": "https://h.test/zip"}]}})
}

async fn open() -> Harness {
    let mut harness = Begin::at(Place::new("releases").project("a/b")).size(140, 30).open();
    harness.reply(LIST, [release("v1/rc", "One"), release("v0.9", "")]).settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect()
}

#[tokio::test]
async fn a_release_shows_its_description_and_assets() {
    let mut harness = open().await;
    for words in ["One", "v1/rc", "bo", "3h"] {
        assert!(harness.line_with("▌ One").contains(words), "{words}\n{}", harness.picture());
    }
    harness.expect("Rows, documents.").expect("Milestones").expect("For Linux  package").expect("Source code");
}

#[tokio::test]
async fn a_release_can_be_created_changed_and_deleted_after_confirmation() {
    let mut harness = open().await;
    harness.press("+").expect("New release in a/b").type_text("v2").press("Tab").type_text("main");
    harness.reply("POST /projects/a%2Fb/releases", release("v2", "")).press("C-s").settle().await;
    harness.press("e").expect("Edit release v1/rc").press("C-u").type_text("First").press("C-s").settle().await;
    harness.press("Esc D").expect("Delete the release One of a/b? Its tag stays.").press("y");
    assert_eq!(
        sent(&harness),
        [
            "POST /projects/a%2Fb/releases ref=main tag_name=v2",
            "PUT /projects/a%2Fb/releases/v1%2Frc name=First",
            "DELETE /projects/a%2Fb/releases/v1%2Frc",
        ]
    );
}

const LINKS: &str = "GET /projects/a%2Fb/releases/v1%2Frc/assets/links";

#[tokio::test]
async fn asset_links_can_be_opened_added_changed_and_deleted() {
    let mut harness = open().await;
    harness.reply(LINKS, &release("v1/rc", "One")["assets"]["links"]).press("A").settle().await;
    harness.expect("asset links").expect("For Linux").expect("package").expect("https://h.test/linux");
    harness.press("Enter");
    assert_eq!(harness.browsed(), ["https://h.test/linux"]);
    // Only web pages are opened in the browser.
    harness.press("j Enter").expect("Only web pages are opened");
    assert_eq!(harness.browsed().len(), 1);
    let at = LINKS.strip_prefix("GET ").unwrap();
    let made = json!({"id": 3, "name": "Page", "url": "https://h.test/x", "link_type": "other"});
    harness.press("k +").expect("Add asset link to v1/rc").type_text("Page").press("Tab").type_text("mailto:x");
    harness.press("C-s").expect("must begin with https://").press("C-u").type_text("https://h.test/x");
    harness.reply(&format!("POST {at}"), &made).press("C-s").settle().await;
    // The type must be sent, because a missing one would reset it.
    harness.press("e").expect("Edit asset link For Linux").press("C-u").type_text("Linux");
    harness.reply(&format!("PUT {at}/1"), &made).press("C-s").settle().await;
    harness.press("D").expect("Delete the link For Linux of v1/rc?").press("y");
    assert_eq!(
        sent(&harness),
        [
            format!("POST {at} name=Page url=https://h.test/x"),
            format!("PUT {at}/1 link_type=package name=Linux url=https://h.test/linux"),
            format!("DELETE {at}/1"),
        ]
    );
}

#[tokio::test]
async fn the_selected_asset_opens_in_the_browser() {
    let mut harness = open().await;
    harness.press("Tab");
    while !harness.line_with("For Linux").contains('▌') {
        harness.press("j");
    }
    harness.press("Enter");
    assert_eq!(harness.browsed(), ["https://h.test/linux"]);
}

#[tokio::test]
async fn missing_support_for_releases_differs_from_an_empty_list() {
    let mut harness = Begin::at(Place::new("releases").project("a/b")).size(100, 20).open();
    harness.unsupported(LIST).settle().await;
    harness.expect("Not supported by this server");
    let mut harness = Begin::at(Place::new("releases").project("a/b")).size(100, 20).open();
    harness.reply(LIST, json!([])).settle().await;
    harness.expect("There are no releases yet.");
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height).press("j z k z");
    }
}

#[tokio::test]
async fn a_release_can_be_created_on_a_real_server() {
    let server = demo().await;
    let place = Place::new("releases").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(140, 30).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("Layouts by weight").press("+").type_text("v9").press("Tab").type_text("main").press("C-s");
    app.until("v9").await;
    let place = Place::new("asset_links").project("acme/rocket-ui").item("v0.3.0");
    let mut app = Begin::at(place).size(140, 30).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("Guide to layouts").press("+").type_text("Page").press("Tab").type_text("ftp://acme.example/x");
    app.press("Tab").type_text("r").press("C-s").settle().await;
    app.expect("runbook").expect("ftp://acme.example/x");
    server.stop().await;
}

#[tokio::test]
async fn release_notes_are_rendered_and_their_links_open() {
    let mut harness = Begin::at(Place::new("releases").project("a/b")).size(140, 30).open();
    let notes = "## Rows\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nSee #7.\n\n\u{1b}[2J";
    let mut shown = release("v1", "One");
    shown["description"] = json!(notes);
    harness.reply("GET /projects/a%2Fb/releases", [shown]).settle().await;
    harness.expect("Rows").expect_no("## Rows").expect("│ b").expect("See #7.").expect("␛[2J");
    harness.click_on("See #7.").press("Enter");
    assert_eq!(harness.app.place(), Place::new("issue").project("a/b").item(7));
}
