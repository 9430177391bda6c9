//! Every place against every kind of server failure: known content stays, the failure is reported, keys still work,
//! requests are not repeated too often, and everything recovers with the server. Each run covers a sample.

use crate::fixtures::user;
use crate::harness::{Begin, Harness};
use crate::monkey::{World, place_of};
use crate::sample::Sample;
use crate::served::demo;
use labscope::api::{Error, Fault};
use labscope::panes::PANES;
use std::collections::HashMap;
use std::time::Duration;

/// The maximum number of times that a request may be sent within ten seconds.
const MOST: usize = 3;

fn faults() -> Vec<Fault> {
    vec![
        Fault::Offline("connection refused by demo.test".into()),
        Fault::Tls("the certificate has expired".into()),
        Fault::Timeout(Duration::from_secs(30)),
        Fault::Unauthorized("401 Unauthorized".into()),
        Fault::Denied("403 Forbidden".into()),
        Fault::Missing("404 Not found".into()),
        Fault::Refused(409, "409 Conflict".into()),
        Fault::Limited("", Some(Duration::from_secs(5))),
        Fault::Limited("", None),
        Fault::Server(500, "500 Internal Server Error".into()),
        Fault::Server(502, "Bad Gateway".into()),
        Fault::Cut("the reply ended early".into()),
    ]
}

/// Returns the words between the first and the last line, without numbers, which depend on the clock.
pub fn body(app: &Harness) -> Vec<String> {
    let lines = app.lines();
    let body = lines.get(1..lines.len().saturating_sub(1)).unwrap_or_default();
    let words = |line: &str| line.chars().filter(|c| c.is_alphabetic() || *c == ' ').collect::<String>();
    // Splits the panels, which are side by side.
    let parts = body.iter().flat_map(|line| line.split('│'));
    let body = parts.map(|part| words(part).split_whitespace().collect::<Vec<_>>().join(" "));
    body.filter(|line| !line.is_empty()).collect()
}

/// Answers all requests as the demo world does.
async fn answer_all(world: &mut World, app: &mut Harness) {
    for _ in 0..100 {
        world.prepare(app).await;
        app.settle().await;
        if app.reads().is_empty() {
            return;
        }
    }
}

/// Makes all pending reads fail and counts them.
fn fail_all(app: &mut Harness, fault: &Fault, asked: &mut HashMap<String, usize>) {
    for _ in 0..200 {
        let waiting = app.waiting();
        let Some(index) = waiting.iter().position(|line| line.starts_with("GET ")) else { break };
        *asked.entry(waiting[index].clone()).or_default() += 1;
        app.break_off(index, fault.clone());
    }
}

/// Returns whether the screen reports the failure.
fn says(app: &Harness, fault: &Fault) -> bool {
    let error = Error { tried: String::new(), fault: fault.clone() };
    app.shows(error.title()) || app.shows(&error.message()) || app.shows("unreachable")
}

/// Returns the problem with a place whose refresh fails, if any.
async fn wrong(world: &mut World, app: &mut Harness, fault: &Fault) -> Option<String> {
    answer_all(world, app).await;
    let (known, here) = (body(app), app.app.place().pane);
    app.press("r");
    let mut asked: HashMap<String, usize> = HashMap::new();
    fail_all(app, fault, &mut asked);
    if asked.is_empty() {
        return None;
    }
    if !says(app, fault) {
        return Some("nothing is said of it".into());
    }
    let passes = Error { tried: String::new(), fault: fault.clone() }.is_temporary();
    let now = body(app);
    // Denied or deleted content may disappear; unreachable content must not. A message may cover a row, and a note
    // about an empty list may be replaced by the error.
    let is_empty = |line: &str| ["No ", "Nothing ", "There "].iter().any(|words| line.contains(words));
    let lost: Vec<&String> = known.iter().filter(|line| !is_empty(line) && !now.contains(line)).collect();
    if passes && lost.len() > 2 {
        return Some(format!("this is not shown any more: {lost:?}"));
    }
    for key in ["j", "k", "?", "Esc", "a", "Esc", "j", "k", "j", "k"] {
        app.press(key).pass(1);
        fail_all(app, fault, &mut asked);
    }
    if let Some((line, count)) = asked.iter().find(|(_, count)| **count > MOST) {
        return Some(format!("{line} was sent {count} times in ten seconds"));
    }
    if app.app.place().pane != here {
        return (!matches!(fault, Fault::Missing(_))).then(|| format!("it left for {}", app.app.place().pane));
    }
    app.press("r");
    answer_all(world, app).await;
    app.pass(10);
    answer_all(world, app).await;
    let again = body(app);
    if says(app, fault) {
        return Some("it is still said when the server is well again".into());
    }
    let back = known.iter().filter(|line| again.contains(line)).count();
    (back * 2 < known.len()).then(|| format!("{back} of {} lines came back", known.len()))
}

#[tokio::test]
async fn every_place_survives_every_server_failure() {
    let sample = Sample::one_in(7);
    let server = demo().await;
    let mut world = World::of(&server);
    let mut wrongs = Vec::new();
    for (row, entry) in PANES.iter().enumerate() {
        // Other faults for each place.
        let faults = faults().into_iter().enumerate().filter(|(column, _)| sample.has(row + column));
        for (_, fault) in faults {
            let mut app = Begin::at(place_of(entry.place.id)).size(120, 40).open();
            if let Some(why) = wrong(&mut world, &mut app, &fault).await {
                wrongs.push(format!("{}, {fault:?}: {why}\n{}", entry.place.id, app.picture()));
            }
        }
    }
    server.stop().await;
    assert!(wrongs.is_empty(), "{} went wrong:\n{}", wrongs.len(), wrongs.join("\n\n"));
}

/// Opens a place whose request `missing` gets a 404, and returns all of its requests.
async fn open_without(world: &mut World, id: &str, missing: Option<&str>) -> (Harness, Vec<String>) {
    let mut app = Begin::at(place_of(id)).size(120, 40).open();
    let mut asked: Vec<String> = Vec::new();
    for _ in 0..100 {
        let reads = app.reads();
        if reads.is_empty() {
            break;
        }
        if let Some(line) = missing.filter(|line| reads.iter().any(|read| read == line)) {
            app.fail(line, 404, "404 Not found");
        }
        asked.extend(reads.into_iter().filter(|read| !asked.contains(read)).collect::<Vec<_>>());
        world.prepare(&mut app).await;
        app.settle().await;
    }
    (app, asked)
}

#[tokio::test]
async fn a_place_stays_open_if_a_part_of_it_is_missing() {
    let server = demo().await;
    let mut world = World::of(&server);
    let mut wrongs = Vec::new();
    for entry in Sample::one_in(7).of(PANES) {
        let item = place_of(entry.place.id).item;
        let (_, asked) = open_without(&mut world, entry.place.id, None).await;
        for line in &asked {
            let (app, _) = open_without(&mut world, entry.place.id, Some(line)).await;
            let left = app.app.place().pane != entry.place.id;
            // A request for a part has the number or hash of another resource in its path, or comes after that of the
            // item.
            let path: Vec<&str> = line.split('?').next().unwrap_or_default().split('/').collect();
            let is_name =
                |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit()) || item.as_deref() == Some(part);
            let named = path.iter().position(is_name);
            let is_part = named.is_some_and(|at| at + 1 < path.len() || item.as_deref() != Some(path[at]));
            if left && is_part {
                wrongs.push(format!("{}, {line}", entry.place.id));
            }
        }
    }
    server.stop().await;
    assert!(wrongs.is_empty(), "these must not close the place:\n{}", wrongs.join("\n"));
}

/// The reads of which a place shows nothing that could be missing: the details of the token; the archive of artifacts,
/// which is read again from another range; and the results in other tabs, which show a question mark instead of a count.
const INVISIBLE: &[&str] = &["/personal_access_tokens/self", "/jobs/121/artifacts", "/search?scope="];

/// Returns the read without what it asks for beside its data: a folder is read with the last commits and without them, and it
/// is missing if both fail.
fn data_of(read: &str) -> &str {
    read.split("with_last_commit").next().unwrap_or_default().trim_end_matches(['?', '&'])
}

/// Returns whether the screen gives a reason for missing data.
fn gives_a_reason(app: &Harness, fault: &Fault) -> bool {
    says(app, fault) || ["denied", "offline", "error"].iter().any(|word| app.shows(word))
}

/// Opens a place whose request `broken` fails, and returns all of its requests.
async fn open_with_fault(world: &mut World, id: &str, broken: Option<(&str, &Fault)>) -> (Harness, Vec<String>) {
    let mut app = Begin::at(place_of(id)).size(160, 45).open();
    let mut asked: Vec<String> = Vec::new();
    for _ in 0..100 {
        let reads = app.reads();
        if reads.is_empty() {
            break;
        }
        if let Some((line, fault)) = broken {
            while let Some(index) = app.waiting().iter().position(|read| data_of(read) == data_of(line)) {
                app.break_off(index, fault.clone());
            }
        }
        asked.extend(reads.into_iter().filter(|read| !asked.contains(read)).collect::<Vec<_>>());
        world.prepare(&mut app).await;
        app.settle().await;
    }
    (app, asked)
}

#[tokio::test]
async fn a_failed_read_is_told_wherever_its_data_is_missing() {
    let server = demo().await;
    let mut world = World::of(&server);
    let faults = [
        Fault::Denied("403 Forbidden".into()),
        Fault::Server(500, "500 Internal Server Error".into()),
        Fault::Offline("connection refused by demo.test".into()),
    ];
    let mut wrongs = Vec::new();
    let mut number = 0;
    for entry in Sample::one_in(7).of(PANES) {
        let (_, asked) = open_with_fault(&mut world, entry.place.id, None).await;
        for line in asked.iter().filter(|line| !INVISIBLE.iter().any(|route| line.contains(route))) {
            number += 1;
            let fault = &faults[number % faults.len()];
            let (app, _) = open_with_fault(&mut world, entry.place.id, Some((line, fault))).await;
            if !gives_a_reason(&app, fault) {
                wrongs.push(format!("{}, {line}, {fault:?}\n{}", entry.place.id, app.picture()));
            }
        }
    }
    server.stop().await;
    assert!(wrongs.is_empty(), "{} of {number} are not told:\n{}", wrongs.len(), wrongs.join("\n\n"));
}

#[tokio::test]
async fn the_header_does_not_confirm_a_place_whose_data_could_not_be_read() {
    let mut app = Begin::at(place_of("branches")).size(100, 20).open();
    app.reply("GET /user", user(1, "ada")).settle().await;
    for line in app.reads() {
        app.fail(&line, 500, "500 Internal Server Error");
    }
    app.settle().await;
    let header = app.lines()[0].to_owned();
    assert!(!header.contains('✓') && header.contains('✗'), "{}", app.picture());
}
