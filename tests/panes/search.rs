//! Search: a text, a tab for each kind of thing, and what a server cannot do.

use crate::harness::Begin;
use labscope::app::Place;
use serde_json::json;

#[tokio::test]
async fn hits_open_where_they_live() {
    let mut harness = Begin::at(Place::new("search").project("acme/rocket-ui")).open();
    harness.expect("This searches in acme/rocket-ui.");
    let blob = json!({"basename": "src/frame", "filename": "src/frame.rs", "data": "fn rows(&self)\n", "ref": "main",
        "startline": 40, "project_id": 7});
    harness.reply("GET /projects/acme%2Frocket-ui/-/search?scope=blobs&search=rows", [blob]);
    harness.press("/").type_text("rows").settle().await;
    harness.press("Enter");
    harness.expect("src/frame.rs:40").expect("fn rows(&self)").expect("1 found");
    harness.press("Enter");
    let place = harness.app.place();
    assert_eq!((place.pane.as_str(), place.path.as_deref(), place.line), ("files", Some("src/frame.rs"), Some(40)));
}

#[tokio::test]
async fn a_kind_that_the_server_cannot_search_is_said_in_words() {
    let mut harness = Begin::at(Place::new("search").item("rows")).open();
    harness.fail("GET /search", 400, "Scope not supported without Elasticsearch!");
    harness.press("6").settle().await;
    harness.expect("This server cannot search code here");
}
