//! Every place is complete without a key: after it is opened, after a tab is shown and after the window is resized, a
//! harmless key changes nothing and requests nothing. What a place wants may depend on what only drawing knows, so the
//! app settles again after a frame that found out something new.

use crate::harness::{Begin, Harness};
use crate::monkey::{World, place_of};
use crate::sample::Sample;
use crate::served::demo;
use labscope::app::Place;
use labscope::panes::PANES;

const SIZES: &[(u16, u16)] = &[(80, 24), (120, 40), (160, 45), (100, 12)];
/// A key without a command.
const HARMLESS_KEY: &str = "F9";

/// Answers all requests as the demo world does. All replies that are waiting arrive before the next frame.
async fn wait(world: &mut World, app: &mut Harness) {
    for _ in 0..100 {
        world.prepare(app).await;
        app.draws_late = true;
        app.settle().await;
        app.draws_late = false;
        app.draw();
        if app.waiting().is_empty() {
            return;
        }
    }
}

/// Returns the screen without its last line, which shows messages.
fn screen(app: &Harness) -> Vec<String> {
    let mut lines = app.lines();
    lines.pop();
    lines
}

/// Returns what a harmless key changes, if anything.
async fn change(world: &mut World, app: &mut Harness, when: &str) -> Option<String> {
    wait(world, app).await;
    let (before, asked) = (screen(app), app.asked.len());
    app.press(HARMLESS_KEY);
    wait(world, app).await;
    let after = screen(app);
    let requests = app.asked.get(asked..).unwrap_or_default();
    let changed = before.iter().zip(&after).find(|(before, after)| before != after);
    let here = app.app.place().pane;
    match changed {
        _ if !requests.is_empty() => Some(format!("{here}, {:?}, {when}: a key requests {requests:?}", app.size())),
        Some((before, after)) => {
            Some(format!("{here}, {:?}, {when}: a key changes\n{before}\nto\n{after}", app.size()))
        }
        None => None,
    }
}

#[tokio::test]
async fn no_place_waits_for_a_key_to_be_complete() {
    let server = demo().await;
    let mut world = World::of(&server);
    let mut problems = Vec::new();
    let changes = |item: &str| Place::new("mr").project("acme/rocket-ui").item(item);
    let all = PANES.iter().map(|entry| place_of(entry.place.id)).chain([changes("41"), changes("43")]);
    for (row, place) in Sample::one_in(4).of(all.enumerate()) {
        let size = SIZES[row % SIZES.len()];
        let mut app = Begin::at(place.clone()).size(size.0, size.1).open();
        problems.extend(change(&mut world, &mut app, "opened").await);
        for (number, key) in ["2", "3", "4", "G"].iter().enumerate() {
            app.press(key);
            problems.extend(change(&mut world, &mut app, key).await);
            let (width, height) = SIZES[(row + number + 1) % SIZES.len()];
            app.resize(width, height);
            problems.extend(change(&mut world, &mut app, &format!("{key} and resized")).await);
        }
    }
    server.stop().await;
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
