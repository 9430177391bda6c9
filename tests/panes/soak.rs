//! Simulated days of use: hour after hour, the test goes through all kinds of places while live content is polled, and
//! memory must not grow. A few hours run by default.

use crate::cost;
use crate::harness::{Begin, Harness};
use crate::monkey::World;
use crate::sample::{Sample, length};
use crate::served::demo;
use labscope::app::Place;

/// The default number of hours.
const HOURS: usize = 3;
/// The number of hours after which everything has been seen and cached.
const FIRST: usize = 2;
/// The number of bytes that each further hour may add: counters, such as visits, grow by a digit at times.
const MORE: usize = 10_000;

/// The targets opened in an hour, as a user types them.
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

/// Answers all pending requests.
async fn answer(world: &mut World, app: &mut Harness) {
    for _ in 0..100 {
        world.prepare(app).await;
        app.settle().await;
        if app.reads().is_empty() {
            return;
        }
    }
    panic!("the requests never end: {:?}", app.waiting());
}

/// Opens a place and stays for some minutes: moves around, opens the help, and draws it in another size.
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
    // Closes overlays such as forms and confirmations, which would stay open behind the next place.
    app.press("Esc Esc");
}

#[tokio::test]
async fn memory_does_not_grow_after_hours_of_use() {
    let hours = length(HOURS);
    let server = demo().await;
    let mut world = World::of(&server);
    let mut app = Begin::at(Place::new("home")).size(160, 45).open();
    let mut held = Vec::new();
    let targets: Vec<_> = Sample::one_in(3).of(TARGETS).collect();
    for _ in 0..hours {
        for target in &targets {
            stay(&mut world, &mut app, target).await;
        }
        // The records of the test harness itself.
        app.asked = Vec::new();
        app.log = Vec::new();
        held.push(cost::held());
    }
    server.stop().await;
    let later = held.iter().skip(FIRST).zip(1..);
    let grew = later.filter(|(now, hours)| **now > held[FIRST - 1] + MORE * hours).count();
    assert_eq!(grew, 0, "memory grows: {held:?}");
}
