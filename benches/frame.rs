//! Benchmarks a frame: a hundred rows against a hundred thousand, in one run, as a ratio.

use crate::support;
use crate::support::{Table, key, key_and_frame, shown, start, start_as};
use jiff::Timestamp;
use labscope::api::endpoint::Endpoint;
use labscope::api::page::NextPage;
use labscope::api::projects::{ListProjects, Project};
use labscope::api::{Error, Fault};
use labscope::app::App;
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::app::place::Place;
use labscope::app::session::{CustomSection, Session};
use labscope::store::{ParsedReply, Task, TaskKey};
use std::sync::Arc;

/// The number of rows per page of a list.
const PAGE: usize = 100;

/// Keys that move back and forth, so that the cursor never reaches an end.
const KEYS: [&str; 6] = ["j", "j", "k", "PageDown", "PageUp", "k"];

/// Builds a list of `rows` projects with the cursor in the middle.
fn projects(rows: usize, size: (u16, u16)) -> App {
    let (mut app, _) = start(Place::new("projects"), size);
    let request = ListProjects { order_by: Some("last_activity_at".into()), ..ListProjects::default() }.request();
    let pages = rows.div_ceil(PAGE);
    for page in 1..=pages {
        let values: Vec<Project> = (0..PAGE.min(rows))
            .map(|row| {
                let number = (page - 1) * PAGE + row;
                Project {
                    id: number as u64,
                    path_with_namespace: format!("group-{}/project-{number}", number % 17),
                    description: Some(format!("Project number {number}, which does one thing well")).into(),
                    ..Project::default()
                }
            })
            .collect();
        let next = (page < pages).then_some(NextPage::Number(page as u32 + 1));
        let reply = ParsedReply { next, total: Some(rows as u64), ..ParsedReply::new(values.len(), Arc::new(values)) };
        if page == 1 {
            app.update(Msg::Arrived(TaskKey::Load(request.clone(), 1), Ok(Outcome::Reply(reply))));
        } else {
            app.store.record_reply(&request, page as u32, Ok(reply), Timestamp::UNIX_EPOCH);
        }
    }
    app.update(Msg::Resize(size.0, size.1));
    shown(&mut app, size);
    for _ in 0..rows.min(PAGE * 1000) / 2 / 20 {
        app.update(Msg::Key(key("C-d")));
    }
    app
}

/// Answers everything that the app starts, by route, until nothing is left.
fn settle(app: &mut App, effects: Vec<Effect>, large: &[u8]) {
    settle_with(app, effects, &|route| if route.ends_with("/trace") { large.to_vec() } else { reply(route, large) });
}

/// Like [`settle`], with `body` giving the reply body of each route.
fn settle_with(app: &mut App, effects: Vec<Effect>, body: &dyn Fn(&str) -> Vec<u8>) {
    let mut todo = effects;
    while let Some(effect) = todo.pop() {
        let Effect::Start(task) = effect else { continue };
        let outcome = match &task {
            Task::Load { load, .. } => match (load.read)(&body(load.request.route), Some("application/json")) {
                Ok((value, len)) => Ok(Outcome::Reply(ParsedReply {
                    total: Some(len as u64),
                    size: len,
                    ..ParsedReply::new(len, value)
                })),
                Err(e) => Err(Error { tried: load.request.line(), fault: Fault::Missing(e.reason) }),
            },
            Task::Follow(follow, _) => {
                let bytes = body(follow.request.route);
                todo.extend(app.update(Msg::Bytes {
                    request: follow.request.clone(),
                    bytes: bytes.into(),
                    restart: false,
                }));
                Ok(Outcome::End(None))
            }
            Task::Work(work) => Ok(Outcome::Computed((work.run)(&|| false))),
            // None of the screens drawn here read archives.
            Task::RangeRead(_) => continue,
        };
        todo.extend(app.update(Msg::Arrived(task.key(), outcome)));
    }
}

fn reply(route: &str, large: &[u8]) -> Vec<u8> {
    match route {
        "/projects/{id}" => {
            br#"{"id": 1, "name": "p", "path_with_namespace": "a/p", "default_branch": "main"}"#.to_vec()
        }
        "/projects/{id}/repository/tree" => {
            br#"[{"id": "b10b", "name": "big.rs", "type": "blob", "path": "big.rs", "mode": "100644"}]"#.to_vec()
        }
        "/projects/{id}/repository/blobs/{sha}/raw" => large.to_vec(),
        "/projects/{id}/jobs/{job_id}" => {
            br#"{"id": 7, "name": "bench", "stage": "test", "status": "success", "pipeline": {"id": 1}}"#.to_vec()
        }
        _ => b"[]".to_vec(),
    }
}

/// Builds a viewer scrolled to the middle of `lines` lines.
fn viewer(place: Place, lines: usize, text: impl Fn(usize) -> String, size: (u16, u16)) -> App {
    let large: String = (0..lines).map(text).collect();
    let (mut app, effects) = start(place, size);
    settle(&mut app, effects, large.as_bytes());
    let effects = app.update(Msg::Key(key("G")));
    settle(&mut app, effects, large.as_bytes());
    shown(&mut app, size);
    for _ in 0..20 {
        let effects = app.update(Msg::Key(key("C-u")));
        settle(&mut app, effects, large.as_bytes());
    }
    let shown = shown(&mut app, size);
    assert!(shown.contains("line"), "the viewer shows its text: {shown}");
    app
}

fn blob(lines: usize, size: (u16, u16)) -> App {
    let place = Place::new("files").project("a/p").at("main").path("big.rs");
    viewer(place, lines, |n| format!("    let line_{n} = compute(\"{n}\", {n}); // line {n}\n"), size)
}

fn trace(lines: usize, size: (u16, u16)) -> App {
    let place = Place::new("job").project("a/p").item(7);
    viewer(place, lines, |n| format!("\u{1b}[32;1mCompiling\u{1b}[0m line {n} of a long trace\n"), size)
}

/// Builds the changes of a merge request of ten files with `comments` notes on their lines; the cursor is on the first.
fn reviewed(comments: usize, size: (u16, u16)) -> App {
    let sha = "9f3c2abd00112233445566778899aabbccddeeff";
    let lines: String = (1..=400).map(|line| format!("+let line_{line} = {line};\\n")).collect();
    let file = |n: usize| {
        format!(
            r#"{{"old_path": "f{n}.rs", "new_path": "f{n}.rs", "new_file": true, "diff": "@@ -0,0 +1,400 @@\n{lines}"}}"#
        )
    };
    let files: Vec<String> = (0..10).map(file).collect();
    let request = |more: &str| {
        format!(r#"{{"id": 1, "iid": 1, "title": "t", "state": "opened", "sha": "{sha}"{more}}}"#).into_bytes()
    };
    let note = |n: usize| {
        let (file, line) = (n % 10, n / 10 % 400 + 1);
        format!(
            r#"{{"id": "{n:040x}", "notes": [{{"id": {n}, "type": "DiffNote", "system": false, "resolvable": true,
                "resolved": false, "body": "A comment of **some** words.", "author": {{"id": 1, "username": "ada"}},
                "position": {{"base_sha": "{sha}", "start_sha": "{sha}", "head_sha": "{sha}", "position_type": "text",
                    "old_path": "f{file}.rs", "new_path": "f{file}.rs", "new_line": {line}}}}}]}}"#
        )
    };
    let notes: Vec<String> = (1..=comments).map(note).collect();
    let answer = |route: &str| match route {
        "/projects/{id}/merge_requests/{merge_request_iid}" => request(""),
        "/projects/{id}/merge_requests/{merge_request_iid}/changes" => {
            request(&format!(r#", "changes": [{}]"#, files.join(",")))
        }
        "/projects/{id}/merge_requests/{merge_request_iid}/discussions" => {
            format!("[{}]", notes.join(",")).into_bytes()
        }
        route => reply(route, b""),
    };
    let (mut app, effects) = start(Place::new("mr").project("a/p").item(1).tab("changes"), size);
    settle_with(&mut app, effects, &answer);
    for name in ["l", "j", "j"] {
        // The rows of comments are laid out for the width of the last frame.
        shown(&mut app, size);
        let effects = app.update(Msg::Key(key(name)));
        settle_with(&mut app, effects, &answer);
    }
    let shown = shown(&mut app, size);
    assert_eq!(shown.contains("A comment of some words."), comments > 0, "the comments are shown: {shown}");
    app
}

/// Builds a composer with a draft note of `lines` lines on a merge request; the cursor is at its end.
fn composer(lines: usize, size: (u16, u16)) -> App {
    let answer = |route: &str| match route {
        "/user" => br#"{"id": 1, "username": "ada"}"#.to_vec(),
        "/projects/{id}/merge_requests/{merge_request_iid}" => {
            br#"{"id": 1, "iid": 1, "title": "t", "state": "opened"}"#.to_vec()
        }
        route => reply(route, b""),
    };
    let (mut app, effects) = start(Place::new("mr").project("a/p").item(1), size);
    settle_with(&mut app, effects, &answer);
    let effects = app.update(Msg::Key(key("c")));
    settle_with(&mut app, effects, &answer);
    let text: String =
        (0..lines).map(|n| format!("What is written in line {n} of a **note** that is long.\n")).collect();
    app.update(Msg::Paste(text + "The end"));
    let shown = shown(&mut app, size);
    assert!(shown.contains("The end"), "the note is being written: {shown}");
    app
}

/// Builds a home screen that includes `count` custom sections of 20 merge requests each.
fn home(count: usize, size: (u16, u16)) -> App {
    let section = |n: usize| CustomSection {
        name: format!("CustomSection {n}"),
        query: format!("label:team-{n} target:main updated:>2w draft:no"),
        ..CustomSection::default()
    };
    let sections = (0..count).map(section).collect();
    let session = Session { signed_in: true, sections, ..Session::default() };
    let request = |n: usize| {
        format!(
            r#"{{"id": {n}, "iid": {n}, "project_id": 1, "title": "Change {n} of many", "state": "opened",
                "labels": ["a"], "author": {{"id": 2, "username": "grace"}}, "updated_at": "2026-06-15T09:00:00Z"}}"#
        )
    };
    let requests: Vec<String> = (1..=20).map(request).collect();
    let answer = |route: &str| match route {
        "/user" => br#"{"id": 1, "username": "ada"}"#.to_vec(),
        "/merge_requests" => format!("[{}]", requests.join(",")).into_bytes(),
        route => reply(route, b""),
    };
    let (mut app, effects) = start_as(session, Place::new("home"), size);
    settle_with(&mut app, effects, &answer);
    for name in ["C-d", "C-d", "j"] {
        shown(&mut app, size);
        let effects = app.update(Msg::Key(key(name)));
        settle_with(&mut app, effects, &answer);
    }
    let shown = shown(&mut app, size);
    assert!(shown.contains("Section 1") && shown.contains("Change 9 of many"), "sections are shown: {shown}");
    app
}

fn both(small: &mut App, large: &mut App, size: (u16, u16)) -> (f64, f64) {
    support::pair(|| key_and_frame(small, size, &KEYS), || key_and_frame(large, size, &KEYS))
}

pub fn run(_: &[String]) {
    let mut table = Table::new("a key and its frame", &["screen", "small µs", "large µs", "ratio", "limit"]);
    for size in [(80, 24), (160, 45)] {
        let name = format!("{}x{}", size.0, size.1);
        let (mut small, mut large) = (projects(100, size), projects(100_000, size));
        let pair = both(&mut small, &mut large, size);
        table.ratio(&format!("projects 100 · 100,000  {name}"), pair, 1.5);
        let (mut silent, mut loud) = (reviewed(0, size), reviewed(2_000, size));
        let pair = both(&mut silent, &mut loud, size);
        table.ratio(&format!("changes 0 · 2,000 comments  {name}"), pair, 1.2);
        for (what, open) in [("blob", blob as fn(usize, (u16, u16)) -> App), ("trace", trace)] {
            let (mut small, mut large) = (open(1_000, size), open(1_000_000, size));
            let pair = both(&mut small, &mut large, size);
            table.ratio(&format!("{what} 1,000 · 1,000,000  {name}"), pair, 1.5);
        }
    }
    let size = (160, 45);
    let (mut few, mut many) = (home(3, size), home(30, size));
    table.ratio("home 3 · 30 sections", both(&mut few, &mut many, size), 1.2);
    // Each key press saves the text to disk and lays out all of it, so its cost grows with the length of the text. It
    // must stay far below what a person notices, even for the longest text that anybody writes.
    let (mut small, mut large) = (composer(20, (160, 45)), composer(2_000, (160, 45)));
    let time = |app: &mut App| key_and_frame(app, (160, 45), &["x", "y", "Backspace", "Backspace"]);
    let pair = support::pair(|| time(&mut small), || time(&mut large));
    table.ratio("typing in a note of 1,000 · 100,000 characters", pair, 20.0);
    table.print();
}
