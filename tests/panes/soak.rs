//! Days in front of the program, hour after hour through its places while everything that is live is asked for again:
//! what it holds in memory does not grow. A few hours run each time; `LABSCOPE_SOAK_HOURS` asks for more.

use crate::cost;
use crate::harness::{Begin, Harness};
use crate::monkey::World;
use crate::served::demo;
use labscope::app::Place;

/// Hours, where nothing else is asked for.
const HOURS: usize = 3;
/// After so many, everything has been seen, and kept.
const FIRST: usize = 2;
/// Bytes that an hour may add to that: what is counted, like visits, takes another digit at times.
const MORE: usize = 10_000;

/// What is opened in an hour, as a person types it.
const TARGETS: &[&str] = &[
    "home",
    "projects",
    "acme/rocket-ui",
    "acme/rocket-ui/-/tree/main",
    "acme/rocket-ui/-/blob/main/README.md",
    "acme/rocket-ui/-/branches",
    "acme/rocket-ui/-/tags",
    "acme/rocket-ui/-/commits/main",
    "acme/rocket-ui/-/commit/main",
    "acme/rocket-ui/-/compare/main...feature/rows",
    "acme/rocket-ui/-/merge_requests",
    "acme/rocket-ui!42",
    "acme/rocket-ui/-/merge_requests/42/diffs",
    "acme/rocket-ui/-/issues",
    "acme/rocket-ui#42",
    "acme/rocket-ui/-/pipelines",
    "acme/rocket-ui/-/jobs",
    "acme/rocket-ui/-/jobs/121",
    "acme/rocket-ui/-/labels",
    "acme/rocket-ui/-/milestones",
    "acme/rocket-ui/-/environments",
    "acme/rocket-ui/-/releases",
    "acme/rocket-ui/-/deployments",
    "acme/rocket-ui/-/snippets",
    "todos",
    "groups",
    "users",
    "runners",
    "me",
];

/// Answers all that is asked.
async fn answer(world: &mut World, app: &mut Harness) {
    for _ in 0..100 {
        world.prepare(app).await;
        app.settle().await;
        if app.reads().is_empty() {
            return;
        }
    }
    panic!("it never stops asking: {:?}", app.waiting());
}

/// Opens a place and stays for some minutes: moves about, looks at its help, draws it in another size.
async fn stay(world: &mut World, app: &mut Harness, target: &str) {
    app.press(":").type_text(target).press("Enter");
    answer(world, app).await;
    for keys in ["j j k", "G", "g g", "Tab j Tab", "? Esc", "a Esc"] {
        app.press(keys).pass(20);
        answer(world, app).await;
    }
    app.resize(80, 24);
    answer(world, app).await;
    app.resize(160, 45);
    answer(world, app).await;
    // Drafts, confirmations and the like would stay behind the next place.
    app.press("Esc Esc");
}

#[tokio::test]
async fn memory_is_the_same_after_hours() {
    let hours = crate::length::length("LABSCOPE_SOAK_HOURS", HOURS);
    let server = demo().await;
    let mut world = World::of(&server);
    let mut app = Begin::at(Place::new("home")).size(160, 45).open();
    let mut held = Vec::new();
    for _ in 0..hours {
        for target in TARGETS {
            stay(&mut world, &mut app, target).await;
        }
        // What the test itself remembers.
        app.asked = Vec::new();
        app.canceled = Vec::new();
        app.holding = Vec::new();
        app.notified = Vec::new();
        held.push(cost::held());
    }
    server.stop().await;
    let later = held.iter().skip(FIRST).zip(1..);
    let grew = later.filter(|(now, hours)| **now > held[FIRST - 1] + MORE * hours).count();
    assert_eq!(grew, 0, "hours after which too much is held: {held:?}");
}
