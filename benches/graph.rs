//! Benchmarks the graph of a log: page by page layout, and a key press at the end of a hundred thousand commits against
//! one at the start.

use crate::support;
use crate::support::{Table, key, key_and_frame, shown, start};
use jiff::Timestamp;
use labscope::api::commits::{Commit, ListCommits};
use labscope::api::endpoint::Endpoint;
use labscope::api::page::NextPage;
use labscope::app::App;
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::app::place::Place;
use labscope::store::{ParsedReply, Task};
use labscope::ui::graph::{Lanes, lay_out};
use std::hint::black_box;
use std::sync::Arc;

const PAGE: usize = 100;
const COMMITS: usize = 100_000;

fn sha(number: usize) -> String {
    format!("{number:040x}")
}

/// Builds a commit of a history, newest first, in which every seventh commit is a merge of a branch that started some
/// commits earlier.
fn commit(number: usize) -> Commit {
    let mut parents = Vec::new();
    if number > 0 {
        parents.push(sha(number - 1));
    }
    if number.is_multiple_of(7) && number > 40 {
        parents.push(sha(number - 3 - number % 31));
    }
    Commit {
        id: sha(number),
        short_id: sha(number)[32..].to_owned(),
        title: format!("Change number {number}, which does one thing well"),
        author_name: format!("Author {}", number % 23),
        authored_date: Some(labscope::api::Time(format!("20{:02}-06-15T12:00:00Z", 10 + number % 15))),
        parent_ids: parents,
        ..Commit::default()
    }
}

/// Returns page `page` (counted from 0) of a history of `all` commits.
fn page(page: usize, all: usize) -> Vec<Commit> {
    (page * PAGE..((page + 1) * PAGE).min(all)).map(|row| commit(all - 1 - row)).collect()
}

fn work(app: &mut App, effects: Vec<Effect>) {
    let mut todo = effects;
    while let Some(effect) = todo.pop() {
        if let Effect::Start(task @ Task::Work(work)) = &effect {
            todo.extend(app.update(Msg::Arrived(task.key(), Ok(Outcome::Computed((work.run)(&|| false))))));
        }
    }
}

/// Builds the log of `all` commits with its graph; the cursor is on the first row.
fn log(all: usize, size: (u16, u16)) -> App {
    let (mut app, _) = start(Place::new("commits").project("a/p"), size);
    let request = ListCommits { id: "a/p".into(), ..ListCommits::default() }.request();
    let pages = all.div_ceil(PAGE);
    for number in 0..pages {
        let values = page(number, all);
        let next = (number + 1 < pages).then_some(NextPage::Number(number as u32 + 2));
        let reply = ParsedReply { next, ..ParsedReply::new(values.len(), Arc::new(values)) };
        app.store.record_reply(&request, number as u32 + 1, Ok(reply), Timestamp::UNIX_EPOCH);
    }
    let effects = app.update(Msg::Resize(size.0, size.1));
    work(&mut app, effects);
    let shown = shown(&mut app, size);
    assert!(shown.contains('╮') && shown.contains("Change number"), "the graph is drawn: {shown}");
    app
}

fn both(small: &mut App, large: &mut App, size: (u16, u16)) -> (f64, f64) {
    let keys = ["j", "j", "k", "PageDown", "PageUp", "k"];
    support::pair(|| key_and_frame(small, size, &keys), || key_and_frame(large, size, &keys))
}

fn lay(lanes: &Lanes, commits: &[Commit]) -> labscope::ui::graph::GraphPage {
    lay_out(lanes, commits.iter().map(|c| (c.id.as_str(), c.parent_ids.as_slice())), &|| false)
}

pub fn run(_: &[String]) {
    let mut table =
        Table::new("the graph of 100,000 commits", &["measurement", "first µs", "second µs", "ratio", "limit"]);

    // A page at the end costs as much as the first one: only the lanes at the end of a page are kept.
    let pages: Vec<Vec<Commit>> = (0..COMMITS / PAGE).map(|number| page(number, COMMITS)).collect();
    let mut lanes = Lanes::default();
    let before_last: Vec<&Vec<Commit>> = pages.iter().take(pages.len() - 1).collect();
    for commits in before_last {
        lanes = lay(&lanes, commits).end;
    }
    let (first, last) = (&pages[1], &pages[pages.len() - 2]);
    let second = lay(&Lanes::default(), &pages[0]).end;
    let pair = support::pair(
        || support::median(200, || drop(black_box(lay(&second, first)))),
        || support::median(200, || drop(black_box(lay(&lanes, last)))),
    );
    table.ratio("laying out: second page · a page at the end", pair, 2.0);

    // Compares the time per commit of all pages with that of a tenth: both read from memory, not from the processor's
    // cache.
    let whole = |pages: &[Vec<Commit>]| {
        let mut lanes = Lanes::default();
        for commits in pages {
            lanes = black_box(lay(&lanes, commits)).end;
        }
    };
    let tenth = pages.len() / 10;
    let pair = support::pair(
        || support::median(3, || whole(&pages[..tenth])) / (PAGE * tenth) as f64,
        || support::median(3, || whole(&pages)) / COMMITS as f64,
    );
    table.ratio("time per commit: the first 10,000 · all", pair, 2.0);

    for size in [(80, 24), (160, 45)] {
        let name = format!("{}x{}", size.0, size.1);
        let (mut small, mut large) = (log(PAGE, size), log(COMMITS, size));
        let pair = both(&mut small, &mut large, size);
        table.ratio(&format!("a key press and its frame at the start: 100 · 100,000  {name}"), pair, 1.5);
        let mut end = log(COMMITS, size);
        end.update(Msg::Key(key("G")));
        let pair = both(&mut large, &mut end, size);
        table.ratio(&format!("a key and its frame, 100,000: start · end  {name}"), pair, 1.5);
    }
    table.print();
}
