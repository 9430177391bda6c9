//! Accessible mode: the main use cases, performed only by the cursor's line, as a screen reader speaks it.

use crate::home::Home;
use crate::screen::Screen;
use crate::served::Served;
use std::cell::RefCell;
use std::time::Duration;

/// Returns the line with the cursor, or an empty string while the cursor is hidden.
fn line(screen: &vt100::Screen) -> String {
    let row = usize::from(screen.cursor_position().0);
    let line = screen.rows(0, screen.size().1.get()).nth(row).unwrap_or_default();
    if screen.hide_cursor() { String::new() } else { line.trim().to_owned() }
}

/// A project with a file, a merge request, and a job that prints for an hour.
const WORLD: &str = r#"
now = "2026-11-20T16:00:00Z"
users = [{ username = "root", admin = true }, { username = "ada" }]

[[projects]]
path = "ada/garden"
visibility = "public"
files = '''
-- README.md --
A garden
with a wall.
-- beds/plan.txt --
first roses
second beans
'''
script = '''
from 2026-11-02
to 2026-11-20
ada: Say what it is
  + README.md
branch plan
ada: Plan the year
  + beds/plan.txt
'''

[[merge_requests]]
project = "ada/garden"
iid = 1
title = "Plan the year"
source = "plan"
author = "ada"
created = "1d"

[[runners]]
name = "here"
shared = true
contacted = "1m"

[[scripts]]
name = "grow"
text = '''
it begins
@0.5x7200 leaf {i}
'''

[[templates]]
name = "one"
jobs = [{ name = "grow", stage = "test", script = "grow" }]

[[schedules]]
project = "ada/garden"
refs = ["main"]
template = "one"
user = "ada"
pause = 60
head_start = 5
"#;

fn serve(home: &Home) -> Served {
    let world = home.path("world.toml");
    std::fs::write(&world, WORLD).expect("written");
    Served::start(home, &["--world", world.to_str().expect("UTF-8")])
}

fn start(home: &Home, served: &Served, target: &[&str]) -> Screen {
    let variables = [("LABSCOPE_HOST", served.url()), ("LABSCOPE_TOKEN", served.token("ada"))];
    let arguments = [&["--accessible"], target].concat();
    greeted(Screen::start_with(home, env!("CARGO_BIN_EXE_labscope"), &arguments, &variables))
}

/// Hears the message of the first start, and leaves it with a key.
fn greeted(mut screen: Screen) -> Screen {
    hear(&mut screen, "lists the keys here");
    screen.keys("k");
    screen
}

/// Waits until the cursor's line contains some words.
fn hear(screen: &mut Screen, words: &str) {
    screen.wait(&format!("the cursor on {words:?}"), |screen| line(screen).contains(words));
}

/// Presses a key until the cursor's line contains some words. All lines are on the screen: a new row tells that the
/// cursor has moved, because the text of a line may change on its own.
fn go_to(screen: &mut Screen, key: &str, words: &str) {
    let mut before = None;
    for _ in 0..40 {
        // Recorded at the moment it is seen, because it may change by the next look.
        let here = RefCell::new(None);
        screen.wait("another line", |screen| {
            let (row, heard) = (screen.cursor_position().0, line(screen));
            let is_new = !screen.hide_cursor() && (Some(row) != before || heard.contains(words));
            *here.borrow_mut() = is_new.then_some((row, heard));
            is_new
        });
        let Some((row, line)) = here.into_inner() else { continue };
        if line.contains(words) {
            return;
        }
        before = Some(row);
        screen.keys(key);
    }
    panic!("{words:?} is not heard; the screen is\n{}", screen.at_once(vt100::Screen::contents));
}

#[test]
fn a_file_can_be_found_and_read_by_the_line_of_the_cursor() {
    let home = Home::new();
    let served = serve(&home);
    let mut screen = start(&home, &served, &["projects"]);
    hear(&mut screen, "ada/garden");
    screen.keys("\r");
    screen.wait("its files", |screen| screen.contents().contains("Files") && !line(screen).is_empty());
    go_to(&mut screen, "j", "README.md");
    screen.keys("\r");
    hear(&mut screen, "A garden with a wall.");
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn a_merge_request_can_be_commented_on_by_the_line_of_the_cursor() {
    let home = Home::new();
    let served = serve(&home);
    let mut screen = start(&home, &served, &["ada/garden/-/merge_requests"]);
    hear(&mut screen, "open  !1");
    screen.keys("\r");
    hear(&mut screen, "Plan the year");
    screen.wait("it is opened", |screen| screen.contents().contains("1 Overview"));
    screen.wait("it is loaded", |screen| screen.contents().contains("No comments yet"));
    screen.keys("c");
    screen.wait("the composer", |screen| screen.contents().contains("$EDITOR"));
    screen.keys("Heard, not seen. @ad");
    hear(&mut screen, "Heard, not seen. @ad  suggestion 1 of 1: @ada, ");
    screen.keys("\r");
    screen.wait("the name is taken", |screen| line(screen).ends_with("Heard, not seen. @ada"));
    screen.keys("\x13");
    screen.wait("it is posted", |screen| screen.contents().contains("Commented on !1"));
    screen.wait("it is among the notes", |screen| {
        let shown = screen.contents();
        !shown.contains("Comment on") && shown.contains("1 comment") && shown.contains("Heard, not seen.")
    });
    // After the message, the cursor is on the new note.
    hear(&mut screen, "Commented on !1");
    go_to(&mut screen, "j", "Heard, not seen.");
    screen.keys("P");
    screen.wait("the people", |screen| screen.contents().contains("C-s save"));
    screen.keys("ad");
    hear(&mut screen, "ada");
    screen.keys(" ad");
    hear(&mut screen, "marked");
    screen.keys("\x1b");
    screen.wait("the people are closed", |screen| !screen.contents().contains("C-s"));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn a_line_of_a_diff_can_be_commented_on_by_the_line_of_the_cursor() {
    let home = Home::new();
    let served = serve(&home);
    let mut screen = start(&home, &served, &["ada/garden/-/merge_requests/1/diffs"]);
    screen.wait("the diff", |screen| screen.contents().contains("first roses") && !line(screen).is_empty());
    screen.wait("the account", |screen| screen.contents().contains("ada, "));
    screen.keys("G");
    hear(&mut screen, "second beans");
    screen.keys("c");
    screen.wait("the composer", |screen| screen.contents().contains("$EDITOR"));
    screen.keys("Which ones?\x13");
    screen.wait("it is a thread below its line", |screen| {
        let shown = screen.contents();
        !shown.contains("$EDITOR") && shown.contains("ada, just now") && shown.contains("Which ones?")
    });
    hear(&mut screen, "Started a thread on !1");
    screen.keys("j");
    hear(&mut screen, "unresolved");
    screen.keys("j");
    hear(&mut screen, "ada, ");
    hear(&mut screen, "Which ones?");
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn the_sections_of_home_are_reachable_line_by_line() {
    let home = Home::new();
    let served = serve(&home);
    let mut screen = start(&home, &served, &[]);
    screen.wait("all of it", |screen| {
        ["To-dos", "grow", "Recent projects"].iter().all(|words| screen.contents().contains(words))
    });
    // The initial position of the cursor depends on the last reply.
    screen.keys("gg");
    hear(&mut screen, "To-dos");
    let below =
        ["There is nothing to do.", "Assigned to me", "No open merge requests need you.", "Mine", "Plan the year"];
    for words in below.into_iter().chain(["Running", "grow", "Recent projects", "ada/garden"]) {
        screen.keys("j");
        hear(&mut screen, words);
    }
    screen.keys("\r");
    screen.wait("its files", |screen| screen.contents().contains("Files"));
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn a_job_can_be_followed_by_the_line_of_the_cursor() {
    let home = Home::new();
    let served = serve(&home);
    let mut screen = start(&home, &served, &["ada/garden/-/jobs"]);
    hear(&mut screen, "pipeline");
    go_to(&mut screen, "j", "grow");
    hear(&mut screen, "running");
    screen.keys("\r");
    hear(&mut screen, "ada / garden  #1 grow");
    screen.wait("its trace", |screen| screen.contents().contains("it begins"));
    screen.keys("j");
    hear(&mut screen, "it begins");
    // Nothing moves by itself, though the job prints two lines a second.
    let sent = screen.sends_within(Duration::from_secs(3));
    let is_end = |c: char| c.is_ascii_alphabetic();
    let printed = sent.split('\x1b').filter_map(|part| part.split_once(is_end)).map(|(_, text)| text);
    assert_eq!(printed.collect::<String>(), "");
    screen.keys("f");
    hear(&mut screen, "leaf");
    let end = screen.at_once(line);
    screen.wait("a later end", |screen| line(screen).contains("leaf") && line(screen) != end);
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

#[test]
fn every_place_and_overlay_has_a_line_to_read_and_no_symbols() {
    let home = Home::new();
    let arguments = ["demo", "--accessible", "acme/rocket-ui"];
    let mut screen = greeted(Screen::start(&home, env!("CARGO_BIN_EXE_labscope"), &arguments));
    hear(&mut screen, "collapsed");
    let places = [
        "home",
        "projects",
        "overview",
        "files",
        "branches",
        "tags",
        "commits",
        "mrs",
        "issues",
        "todos",
        "labels",
        "milestones",
        "members",
        "pipelines",
        "jobs",
        "runners",
        "deployments",
        "snippets",
        "groups",
        "releases",
        "me",
    ];
    for place in places {
        screen.keys(":");
        screen.wait("the palette", |screen| screen.contents().contains("Command"));
        screen.keys(place);
        hear(&mut screen, place);
        screen.keys("\r");
        screen.wait(place, |screen| !screen.contents().contains("Command") && !screen.contents().contains("Loading"));
        readable(&mut screen, place);
        for key in ["?", "a"] {
            screen.keys(key);
            screen.wait("the overlay", |screen| screen.contents().contains("Type to filter"));
            readable(&mut screen, &format!("{key} over {place}"));
            screen.keys("\x1b");
            screen.wait("it is closed", |screen| !screen.contents().contains("Type to filter"));
        }
    }
    // yasr reads these sequences: titles, the question about the background, and links.
    for sequence in ["\x1b]0;", "\x1b]2;", "\x1b]11;", "\x1b]8;"] {
        assert!(!screen.has_sent(sequence), "{sequence:?}");
    }
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}

/// Asserts that the cursor is on a line with words, and that the screen has no graphical symbols.
fn readable(screen: &mut Screen, what: &str) {
    screen.wait(&format!("a line to read: {what}"), |screen| line(screen).chars().any(char::is_alphanumeric));
    let signs = |c: char| "▌▐│─╭╮╰╯┌└┤├✓✗●⊙⊗‖◌▷⊘◇◐○□◎▸▾→↑↓⎇▰▱⏎✎◆▲".contains(c);
    let shown = screen.at_once(vt100::Screen::contents);
    let found = shown.lines().find(|line| line.contains(signs) && !line.contains("in a shell pipe"));
    assert_eq!(found, None, "{what}");
}
