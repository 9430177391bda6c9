//! Benchmarks files: the end of a large file against its start, a cached file against a small one, ranking paths
//! against the matcher alone, opening 100 MB against reading them, and the memory those take.

use crate::support;
use crate::support::{Table, key, key_and_frame, shown, start};
use bytes::Bytes;
use jiff::Timestamp;
use labscope::api::Raw;
use labscope::api::endpoint::{Endpoint, Reply};
use labscope::api::page::NextPage;
use labscope::api::repository::{EntryKind, ListTree, TreeEntry};
use labscope::app::App;
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::app::path_search::{Files, Rank};
use labscope::app::place::Place;
use labscope::store::{Derive, ParsedReply, Task};
use labscope::ui::code::{Content, Highlighter, Text};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

/// The number of lines on a visible page.
const PAGE: usize = 50;
const SIZE: (u16, u16) = (160, 45);

fn source(lines: usize) -> String {
    (0..lines).map(|n| format!("    let line_{n} = compute(\"{n}\", {n}); // line {n}\n")).collect()
}

/// Returns the microseconds to highlight one page of a text that has not been parsed yet.
fn page(text: &Arc<Text>, from: usize) -> f64 {
    support::median(5, || {
        let highlighter = Highlighter::new(text.clone(), "big.rs");
        black_box(highlighter.highlight(from..from + PAGE, &|| false));
    })
}

fn reply(route: &str, path: &str, large: &Bytes) -> Vec<u8> {
    match route {
        "/projects/{id}" => br#"{"id": 1, "path_with_namespace": "a/p", "default_branch": "main"}"#.to_vec(),
        "/projects/{id}/repository/tree" => {
            let file = |name: &str| {
                format!(r#"{{"id":"{name}","name":"{name}","type":"blob","path":"{name}","mode":"100644"}}"#)
            };
            format!("[{},{}]", file("a.txt"), file("b.txt")).into_bytes()
        }
        "/projects/{id}/repository/blobs/{sha}/raw" if path.contains("b.txt") => large.to_vec(),
        "/projects/{id}/repository/blobs/{sha}/raw" => b"small\n".to_vec(),
        _ => b"[]".to_vec(),
    }
}

fn settle(app: &mut App, effects: Vec<Effect>, large: &Bytes) {
    let mut todo = effects;
    while let Some(effect) = todo.pop() {
        let Effect::Start(task) = effect else { continue };
        let outcome = match &task {
            Task::Load { load, .. } => match (load.read)(&reply(load.request.route, &load.request.path, large), None) {
                Ok((value, len)) => {
                    Outcome::Reply(ParsedReply { total: Some(len as u64), ..ParsedReply::new(len, value) })
                }
                Err(_) => continue,
            },
            // None of the screens drawn here read archives.
            Task::RangeRead(_) => continue,
            Task::Work(work) => Outcome::Computed((work.run)(&|| false)),
            Task::Follow(..) => continue,
        };
        todo.extend(app.update(Msg::Arrived(task.key(), Ok(outcome))));
    }
}

/// Builds an app with the tree and two files that were both opened before; the second one is `large`.
fn two_files(large: &Bytes) -> App {
    let (mut app, effects) = start(Place::new("files").project("a/p").at("main"), SIZE);
    settle(&mut app, effects, large);
    for way in ["j", "k", "j", "k"] {
        let effects = app.update(Msg::Key(key(way)));
        settle(&mut app, effects, large);
        shown(&mut app, SIZE);
    }
    app
}

/// Returns the microseconds from a key press to the frame that shows the text of the other file.
fn key_to_text(app: &mut App) -> f64 {
    key_and_frame(app, SIZE, &["j", "k"])
}

/// Builds a tree of one folder of `entries` files, all loaded.
fn tree(entries: usize) -> App {
    let mut app = two_files(&Bytes::from_static(b"other\n"));
    let listing =
        ListTree { id: "a/p".into(), path: None, r#ref: Some("main".into()), recursive: None, with_last_commit: None }
            .request();
    let pages = entries.div_ceil(100);
    for page in 1..=pages {
        let file = |n: usize| TreeEntry {
            id: "a.txt".into(),
            name: format!("file_{n}.txt"),
            path: format!("file_{n}.txt"),
            r#type: EntryKind::Blob,
            ..TreeEntry::default()
        };
        let rows: Vec<TreeEntry> = ((page - 1) * 100..page * 100).map(file).collect();
        let next = (page < pages).then_some(NextPage::Number(page as u32 + 1));
        let reply = ParsedReply { next, ..ParsedReply::new(rows.len(), Arc::new(rows)) };
        app.store.record_reply(&listing, page as u32, Ok(reply), Timestamp::UNIX_EPOCH);
    }
    app.update(Msg::Resize(SIZE.0, SIZE.1));
    app
}

fn paths(count: usize) -> Vec<Arc<Vec<Files>>> {
    let words = ["client", "render", "widget", "store", "merge", "frame", "server", "token", "layout", "queue"];
    let word = |n: usize| words[n % words.len()];
    let entry = |n: usize| TreeEntry {
        id: format!("{n:040x}"),
        path: format!("src/{}/{}_{}/{}_{n}.rs", word(n), word(n / 7), n % 97, word(n / 31)),
        r#type: EntryKind::Blob,
        ..TreeEntry::default()
    };
    let page = |page: usize| Files::from((page * 100..(page + 1) * 100).map(entry).collect::<Vec<_>>());
    (0..count.div_ceil(100)).map(|number| Arc::new(vec![page(number)])).collect()
}

fn ranked(pages: &[Arc<Vec<Files>>], query: &str) -> f64 {
    support::median(5, || {
        let rank = Rank { within: "t".into(), pages: pages.to_vec(), recent: Arc::default(), query: query.into() };
        black_box(rank.run(&|| false));
    })
}

fn matched(pages: &[Arc<Vec<Files>>], query: &str) -> f64 {
    support::median(5, || {
        let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let mut buffer = Vec::new();
        let score = |(_, path): (&str, &str)| pattern.score(Utf32Str::new(path, &mut buffer), &mut matcher);
        black_box(pages.iter().flat_map(|page| page.iter()).flat_map(Files::iter).filter_map(score).count());
    })
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> u64 {
    let read = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    read.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

/// Returns the memory that the program needs for a text: the reply and the text parsed from it. Runs first, while the
/// heap is small: memory freed earlier would be reused and not show up.
fn held(file: &Path) -> u64 {
    let empty = resident();
    let body = std::fs::read(file).expect("the file");
    let raw = Arc::new(<Raw as Reply>::read(&body, None).unwrap_or_else(|e| panic!("{}", e.reason)));
    drop(body);
    struct Shared(Arc<Raw>);
    impl AsRef<[u8]> for Shared {
        fn as_ref(&self) -> &[u8] {
            &self.0.bytes
        }
    }
    let content = Content::read(Bytes::from_owner(Shared(raw.clone())));
    let held = resident().saturating_sub(empty);
    black_box((raw, content));
    held
}

pub fn run(_: &[String]) {
    let mut table = Table::new("files", &["measurement", "first µs", "second µs", "ratio", "limit"]);

    let hundred = source(2_000_000);
    let bytes = Bytes::from(hundred.into_bytes().into_iter().take(100_000_000).collect::<Vec<u8>>());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("big.txt");
    std::fs::write(&file, &bytes).expect("a file");
    let (size, held) = (bytes.len() as u64, held(&file));
    let read = || support::median(3, || drop(black_box(std::fs::read(&file))));
    let open = || support::median(3, || drop(black_box(Content::read(bytes.clone()))));
    table.ratio("reading 100 MB · opening them as text", support::pair(read, open), 1.5);

    // One screen of text, the same amount that the large file shows.
    let mut small = two_files(&bytes.slice(..10_000));
    let mut large = two_files(&bytes);
    let pair = support::pair(|| key_to_text(&mut small), || key_to_text(&mut large));
    table.ratio("key to text: 10 kB · 100 MB", pair, 1.5);
    drop((small, large));

    let (mut few, mut many) = (tree(100), tree(200_000));
    let pair = support::pair(|| key_to_text(&mut few), || key_to_text(&mut many));
    table.ratio("a key in a folder of 100 · 200,000 entries", pair, 1.5);
    drop((few, many));

    let million = Arc::new(Text::new(source(1_000_000).into_bytes()));
    let pair = support::pair(|| page(&million, 0), || page(&million, million.len() - PAGE));
    table.ratio("colors of a page: start · end of 1,000,000 lines", pair, 5.0);
    drop(million);

    for count in [100_000, 1_000_000] {
        let pages = paths(count);
        for query in ["m", "merge", "client widget rs"] {
            let pair = support::pair(|| matched(&pages, query), || ranked(&pages, query));
            table.ratio(&format!("{count} paths, {query:?}: nucleo · ranked"), pair, 2.0);
        }
    }

    let share = held as f64 / size as f64;
    let mark = if share > 2.0 { " !" } else { "" };
    let cells = vec![
        "memory of an open text of 100 MB, MB".into(),
        format!("{:.1}", size as f64 / 1e6),
        format!("{:.1}", held as f64 / 1e6),
        format!("{share:.2}{mark}"),
        "2".into(),
    ];
    table.row(cells, share > 2.0);
    table.print();
}
