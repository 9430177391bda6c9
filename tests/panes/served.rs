//! The main jobs over real HTTP: the demo world served on this machine, read and written by the client that people use.

use crate::harness::{Begin, NOW};
use jiff::Timestamp;
use labscope::app::Place;
use labscope::backend::{Clock, Options, Running, WorldKind, start};

/// The demo world, served on this machine at the moment of [`NOW`].
pub async fn demo() -> Running {
    let now: Timestamp = NOW.parse().expect("a time");
    let options = Options { world: WorldKind::Demo, clock: Clock::new(move || now), ..Options::default() };
    start(options).await.expect("a server on a free port")
}

/// A failing pipeline, from the list of jobs over its error to the line of its source.
#[tokio::test]
async fn a_failing_pipeline_is_diagnosed_in_under_ten_keys() {
    let server = demo().await;
    let place = Place::new("files").project("acme/rocket-ui");
    let mut harness = Begin::at(place).server(&server.base_url, server.token()).open();
    harness.settle().await;
    let keys = ["g", "j", "4", "j", "Enter", "Enter"];
    for key in keys {
        harness.press(key).settle().await;
        if key == "Enter" && harness.app.place().pane == "job" {
            // The trace comes as a stream; the cursor goes to the failure when it is there.
            harness.until("▌ 13  test a_narrow").await;
            harness.settle().await;
        }
    }
    assert!(keys.len() < 10);
    let place = harness.app.place();
    assert_eq!((place.path.as_deref(), place.line), (Some("tests/table.rs"), Some(22)), "{}", harness.picture());
    harness.expect("the last column has gone");
    server.stop().await;
}

#[tokio::test]
async fn a_merge_request_is_found_read_and_answered() {
    let server = demo().await;
    let place = Place::new("mrs").project("acme/rocket-ui");
    let mut harness = Begin::at(place).size(100, 45).light().server(&server.base_url, server.token()).open();
    harness.settle().await;
    harness.expect("Draw only visible rows").click_on("Draw only visible rows").press("Enter").settle().await;
    harness.expect("feature/rows → main").expect("What changes").expect("Commits 3").expect("Changes 6");
    harness.press("c").type_text("Read on a **train**.").press("C-s");
    harness.until("Commented on !42").await;
    harness.settle().await;
    harness.expect("Read on a train.");
    harness.press("3").settle().await;
    harness.expect("Files 6").expect("expand ");
    harness.press("2").settle().await;
    harness.press("Enter").settle().await;
    assert_eq!(harness.app.place().pane, "commit");
    server.stop().await;
}
