//! The tour of the demo: each step is done by the person, with the keys that the last line names.

use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;

async fn open(begin: Begin) -> (labscope::backend::RunningServer, Harness) {
    let server = demo().await;
    let mut harness = begin.size(80, 24).tour().server(&server.base_url, server.token()).open();
    harness.settle().await;
    harness.app.start_tour();
    harness.resize(80, 24);
    (server, harness)
}

/// Returns the last line.
fn last(harness: &Harness) -> String {
    harness.lines().last().cloned().unwrap_or_default()
}

/// Presses keys once the last line has the hint.
async fn follow(harness: &mut Harness, hint: &str, keys: &str) {
    harness.settle().await;
    // Messages give way to the hint.
    harness.pass(10).settle().await;
    let line = last(harness);
    let (number, words) = hint.split_once(' ').expect("a number");
    // The task is named where there is room.
    let begins = line.trim_start().trim_start_matches("Tour ").starts_with(number);
    assert!(begins && line.contains(&format!(" {words} ")), "{hint:?}\n{}", harness.picture());
    assert!(line.ends_with("M-t leave tour  ? help"), "{line}");
    harness.press(keys).settle().await;
}

#[tokio::test]
async fn the_seven_steps_are_done_with_the_keys_that_they_name() {
    let (server, mut harness) = open(Begin::at(Place::new("home"))).await;
    let tour = &mut harness;
    follow(tour, "1/7 j to !42, Enter opens it", "Enter").await;
    follow(tour, "1/7 3 shows the changes", "3").await;
    follow(tour, "1/7 j to a line, c comments, C-s sends", "j c").await;
    tour.type_text("Is this needed?").press("C-s");
    tour.until("Started a thread on !42").await;
    follow(tour, "2/7 ; goes to a thread, t resolves it", "; t").await;
    follow(tour, "2/7 A approves the merge request", "A").await;
    follow(tour, "3/7 g j goes to the jobs", "g j").await;
    follow(tour, "3/7 4 lists the failed jobs", "4").await;
    follow(tour, "3/7 Enter opens a failed job", "Enter").await;
    // The cursor goes to the error once the whole trace has been read.
    tour.until("▌ 12  error[E0583]").await;
    follow(tour, "3/7 e goes to the error, Enter opens its line", "Enter").await;
    follow(tour, "4/7 Backspace goes back to the job", "Backspace").await;
    follow(tour, "4/7 d compares with the last success", "d").await;
    follow(tour, "5/7 g f goes to the files", "g f").await;
    follow(tour, "5/7 t finds README.md, e edits it", "t").await;
    tour.type_text("README.md").press("Enter").settle().await;
    follow(tour, "5/7 t finds README.md, e edits it", "e").await;
    // The editor has the last line, and names its own keys.
    tour.type_text("Hello").press("C-s").settle().await;
    follow(tour, "5/7 C-s stages the text, g i shows what is staged", "g i").await;
    follow(tour, "5/7 S commits: M-b names a new branch, C-s sends", "S").await;
    tour.press("M-b").settle().await.type_text("hello").settle().await.press("Enter").settle().await.press("C-s");
    tour.until("New merge request").await;
    tour.settle().await.press("C-s");
    tour.until("Created !").await;
    follow(tour, "6/7 C-p finds anything by name: type mouse, then Enter", "C-p").await;
    tour.settle().await.type_text("mouse").settle().await.press("Enter").settle().await;
    follow(tour, "7/7 ? lists the keys here; : finds commands by name", "?").await;
    tour.press("Esc").expect("That was the tour.").pass(10).settle().await;
    assert!(!last(tour).contains("tour"), "{}", tour.picture());
    server.stop().await;
}

#[tokio::test]
async fn the_tour_is_left_at_any_time_and_needs_what_it_names() {
    let (server, mut harness) = open(Begin::at(Place::new("files").project("acme/rocket-ui"))).await;
    follow(&mut harness, "1/7 g h goes home", "?").await;
    harness.press("Esc");
    follow(&mut harness, "1/7 g h goes home", "g h").await;
    harness.resize(160, 45).expect("Tour 1/7, comment on a line: j to !42, Enter opens it").resize(80, 24);
    harness.press("M-t").expect("Left the tour; M-t starts it again").pass(10).settle().await;
    assert!(!last(&harness).contains("1/7"), "{}", harness.picture());
    harness.press("M-t").settle().await;
    harness.expect("1/7, comment on a line: j to !42");
    server.stop().await;
}

#[tokio::test]
async fn in_accessible_mode_the_hints_are_messages() {
    let (server, mut harness) = open(Begin::at(Place::new("home")).accessible()).await;
    harness.settle().await;
    harness.expect("Tour 1/7, comment on a line: j to !42, Enter opens it");
    harness.press("g m").settle().await;
    harness.expect("Tour 1/7, comment on a line: g h goes home");
    server.stop().await;
}

#[tokio::test]
async fn only_the_demo_has_a_tour() {
    let mut harness = Begin::at(Place::new("home")).open();
    harness.press("M-t").expect("The tour is in the demo: labscope demo --tour");
}
