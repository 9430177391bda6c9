//! Benchmarks a merge request of 200,000 changed lines: opening, scrolling, re-layout, searching, memory, and
//! commenting.

use crate::support;
use crate::support::changes::{FILES, LINES, reply};
use crate::support::held;
use crate::support::{Table, key, key_and_frame, screen, shown, start};
use labscope::api::commits::DiffEntry;
use labscope::app::App;
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::app::place::Place;
use labscope::store::{ParsedReply, Task};
use labscope::ui::diff::{self, At, DiffDoc, DiffOptions, FileDiff, Inset, Side, Source};
use labscope::ui::doc::{DocLine, DocState};
use labscope::ui::theme::{Background, Theme};
use labscope::ui::word_diff;
use ratatui::style::Style;
use std::hint::black_box;
use std::sync::Arc;

const SIZE: (u16, u16) = (200, 50);

/// The number of threads in the merge request, and of notes per thread.
const THREADS: usize = 500;
const NOTES: usize = 4;

/// Returns the JSON of threads on lines of files, spread over all files.
fn threads() -> Vec<u8> {
    let thread = |n: usize| {
        let path = format!("src/part{}/file_{1:05}.rs", n * FILES / THREADS / 50, n * FILES / THREADS);
        let notes: Vec<serde_json::Value> = (0..NOTES)
            .map(|at| {
                serde_json::json!({"id": n * NOTES + at + 1, "type": "DiffNote", "system": false, "resolvable": true,
                    "resolved": n % 3 == 2, "body": format!("Is *this* `value_{at}` right?\n\nIt looks **wrong**."),
                    "author": {"id": at, "username": format!("user{at}")}, "created_at": "2026-06-15T09:00:00Z",
                    "position": {"base_sha": "b", "start_sha": "b", "head_sha": "abc", "position_type": "text",
                        "old_path": path, "new_path": path, "new_line": 10}})
            })
            .collect();
        serde_json::json!({"id": format!("{n:040x}"), "notes": notes})
    };
    serde_json::to_vec(&(0..THREADS).map(thread).collect::<Vec<_>>()).unwrap_or_default()
}

/// The replies of the server.
struct Server<'a> {
    changes: &'a [u8],
    threads: &'a [u8],
}

/// Answers the requests of the app and runs at most `works` computations; returns the remaining effects.
fn answer(app: &mut App, effects: Vec<Effect>, server: &Server, works: usize) -> Vec<Effect> {
    let (mut todo, mut left, mut done) = (effects, Vec::new(), 0);
    while let Some(effect) = todo.pop() {
        let Effect::Start(task) = effect else { continue };
        let outcome = match &task {
            Task::Load { load, .. } => {
                let bytes = match &load.request.route {
                    route if route.ends_with("/changes") => server.changes,
                    route if route.ends_with("/discussions") => server.threads,
                    _ => &b"[]"[..],
                };
                match (load.read)(bytes, Some("application/json")) {
                    Ok((value, len)) => Outcome::Reply(ParsedReply::new(len, value)),
                    Err(_) => continue,
                }
            }
            Task::Work(work) if done < works => {
                done += 1;
                Outcome::Computed((work.run)(&|| false))
            }
            _ => {
                left.push(Effect::Start(task));
                continue;
            }
        };
        todo.extend(app.update(Msg::Arrived(task.key(), Ok(outcome))));
    }
    left
}

fn open(server: &Server, works: usize) -> App {
    let (mut app, effects) = start(Place::new("mr").project("a/p").item(7).tab("changes"), SIZE);
    answer(&mut app, effects, server, works);
    app
}

fn parsed(entries: &[DiffEntry]) -> Vec<Arc<FileDiff>> {
    let file = |entry: &DiffEntry| {
        let source = Source {
            old_path: entry.old_path.clone(),
            new_path: entry.new_path.clone(),
            diff: entry.diff.clone(),
            ..Source::default()
        };
        Arc::new(diff::parse(source))
    };
    entries.iter().map(file).collect()
}

pub fn run(_: &[String]) {
    let body = reply();
    println!("{FILES} files, {} lines, {:.1} MB", FILES * (LINES + 3), body.len() as f64 / 1e6);
    let mut table =
        Table::new("a diff of 200,000 lines", &["measurement", "baseline µs", "labscope µs", "ratio", "limit"]);

    let plain = || support::median(3, || _ = black_box(serde_json::from_slice::<serde_json::Value>(&body)));
    let server = Server { changes: &body, threads: b"[]" };
    let ours = || {
        support::median(3, || {
            let mut app = open(&server, 1);
            let shown = shown(&mut app, SIZE);
            assert!(shown.contains("let value_0"), "the first file is on the screen: {shown}");
        })
    };
    table.ratio("plain JSON · bytes to the first file", support::pair(plain, ours), 2.0);

    // Builds the app once at the first line and once at the last.
    let at = |server: &Server, keys: [&str; 3], sees: &str| {
        let mut app = open(server, 200);
        for name in keys {
            shown(&mut app, SIZE);
            let effects = app.update(Msg::Key(key(name)));
            answer(&mut app, effects, server, 50);
        }
        let shown = shown(&mut app, SIZE);
        assert!(shown.contains(sees), "{sees} is on the screen: {shown}");
        app
    };
    let mut first = at(&server, ["Tab", "G", "Home"], "impl Table0 ");
    let mut last = at(&server, ["Tab", "C-d", "G"], &format!("impl Table{} ", FILES - 1));
    for (what, keys) in [("scrolling", &["j", "j", "k", "C-u", "C-d", "k"][..]), ("both sides", &["s", "s"])] {
        let pair = support::pair(|| key_and_frame(&mut first, SIZE, keys), || key_and_frame(&mut last, SIZE, keys));
        table.ratio(&format!("{what} at the start · at the end"), pair, 1.5);
    }

    let threads = threads();
    let discussed = Server { changes: &body, threads: &threads };
    let mut with_threads = at(&discussed, ["Tab", "G", "Home"], "Is this value_0 right?");
    let keys = ["j", "j", "k", "C-u", "C-d", "k"];
    let without = || key_and_frame(&mut first, SIZE, &keys);
    let with = || key_and_frame(&mut with_threads, SIZE, &keys);
    table.ratio("a key without · with 2,000 notes in 500 threads", support::pair(without, with), 1.2);

    let merge_request: labscope::api::merge_requests::MergeRequest =
        serde_json::from_slice(&body).expect("the reply of this benchmark");
    let entries = merge_request.changes.unwrap_or_default();
    let before = held::bytes();
    let files = parsed(&entries);
    let mut doc = DiffDoc::new(files.clone());
    let held = held::bytes() - before;
    drop(entries);

    let lines: Vec<(String, String)> = (0..2_000)
        .map(|n| {
            let line =
                |name: &str| format!("    let value_{n} = compute({name}, {n}, \"some text in quotes\", &mut state);");
            (line("old_name"), line("new_name"))
        })
        .collect();
    let alone = || {
        support::median(5, || {
            for (old, new) in &lines {
                let words =
                    |line| str::split_inclusive(line, |c: char| !c.is_alphanumeric() && c != '_').collect::<Vec<_>>();
                let [old, new] = [words(old), words(new)];
                black_box(similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new).len());
            }
        })
    };
    let words = || {
        support::median(5, || {
            for (old, new) in &lines {
                black_box(word_diff::changed(old, new));
            }
        })
    };
    // Ours also splits the lines, numbers the words, and moves each change to where a reader expects it.
    table.ratio("similar alone · changed words", support::pair(alone, words), 4.0);

    // The baseline reads the same bytes in the same place. A copy of them in one piece, for which the system uses large
    // pages, is read several times as fast.
    for (what, query) in [
        ("any case", "three_hundred"),
        ("exact case", "Three_hundred"),
        ("a line of each file", "value_3 = compute\\(new"),
    ] {
        let engine = labscope::ui::search::pattern(query).expect("a pattern");
        let count = || files.iter().map(|file| engine.find_iter(&file.source.diff).count()).sum::<usize>();
        let scan = || support::median(5, || _ = black_box(count()));
        let search = || support::median(5, || _ = black_box(diff::search(&files, query, &|| false)));
        table.ratio(&format!("the engine alone · search ({what})"), support::pair(scan, search), 3.0);
    }

    let theme = Theme::for_background(Background::Dark);
    let state = DocState::new();
    let look = DiffOptions { theme: &theme, focused: true, wrap: Some(false), marks: &|_| Vec::new(), marked: None };
    let mut buffer = screen(SIZE);
    let area = buffer.area;
    let mut of = |doc: &DiffDoc| {
        support::median(200, || {
            buffer.reset();
            black_box(diff::draw(&mut buffer, area, doc, &state, &look));
        })
    };
    let without = of(&doc);
    let comment = Arc::new(vec![DocLine::new("│ a comment", Style::new()); 3]);
    let insets = (0..2_000).map(|n| Inset {
        key: n.to_string(),
        file: files[n % FILES].key(),
        at: At::Line(Side::New, 12 + (n / FILES) as u32),
        lines: comment.clone(),
        ends_with_border: true,
        comments: 1,
        is_unresolved: false,
    });
    doc.set_insets(Arc::new(insets.collect()));
    table.ratio("a frame with 0 · with 2,000 comments", (without, of(&doc)), 1.2);

    let ratio = held as f64 / body.len() as f64;
    let cells = ["the reply, MB · held, MB".to_owned(), format!("{:.1}", body.len() as f64 / 1e6)];
    let rest = [format!("{:.1}", held as f64 / 1e6), format!("{ratio:.2}"), "3".to_owned()];
    table.row(cells.into_iter().chain(rest).collect(), ratio > 3.0);
    table.print();
}
