//! Every place against a server whose lists never end: a place asks for what it shows and no more, keys ask for a bounded
//! number of pages, memory stays bounded, and the screen says that there is more. Each run covers a sample.

use crate::harness::{Begin, Endless, Harness};
use crate::monkey::{World, place_of};
use crate::sample::Sample;
use crate::served::demo;
use labscope::panes::PANES;
use std::collections::HashMap;

const KINDS: &[Endless] =
    &[Endless::FullPages, Endless::ShortPages, Endless::EmptyPages, Endless::SamePage, Endless::Cycle];
/// The maximum number of full pages that a place asks for before a key is pressed: enough for a few screens.
const MAX_FULL_PAGES: usize = 4;
/// The maximum number of pages of a list that are asked for between two keys.
const MAX_PAGES: usize = 51;
/// The maximum number of requests after a key. A place has a few lists.
const MAX_REQUESTS: usize = 400;
/// The maximum size of all replies in bytes.
const MAX_BYTES: usize = 256 << 20;
/// Parts of the request lines of lists that a place loads to their end because their rows are placed among others, and
/// the maximum number of their pages.
const WHOLE: &[(&str, usize)] = &[("/repository/commits per_page", 10), ("/comments ", 20), ("/diff ", 20)];

/// Answers all requests; returns `false` if they do not end.
async fn answer(world: &mut World, app: &mut Harness) -> bool {
    let before = app.asked.len();
    while app.asked.len() < before + MAX_REQUESTS {
        world.prepare(app).await;
        let waiting = app.waiting().len();
        if !(0..waiting).any(|index| app.answer(index)) {
            return true;
        }
    }
    false
}

/// Returns the number of pages asked for since `before`, by list.
fn pages(app: &Harness, before: usize) -> HashMap<String, usize> {
    let mut pages = HashMap::new();
    for line in app.asked[before..].iter().filter(|line| line.contains("page=")) {
        let kept: Vec<&str> = line.split(['?', '&']).filter(|part| !part.starts_with("page=")).collect();
        *pages.entry(kept.join(" ")).or_default() += 1;
    }
    pages
}

/// Returns what is wrong after the requests since `before`, which are all answered if `is_over`.
fn wrong(app: &Harness, before: usize, is_over: bool, max_pages: usize) -> Option<String> {
    let pages = pages(app, before);
    let max = |line: &str| {
        WHOLE.iter().find(|(part, _)| line.contains(part)).map_or(max_pages, |(_, max)| max_pages.max(*max))
    };
    let many: Vec<_> = pages.iter().filter(|(line, count)| **count > max(line)).collect();
    if !many.is_empty() || !is_over {
        return Some(format!("asked for {} requests: {many:?}", app.asked.len() - before));
    }
    let bytes = app.app.store.reply_bytes();
    (bytes > MAX_BYTES).then(|| format!("keeps {bytes} bytes"))
}

/// Returns what is wrong with a place, if anything.
async fn problem(world: &mut World, id: &str, kind: Endless, size: (u16, u16)) -> Option<String> {
    let mut app = Begin::at(place_of(id)).size(size.0, size.1).open();
    app.endless = Some(kind);
    let is_over = answer(world, &mut app).await;
    let max = if kind == Endless::FullPages { MAX_FULL_PAGES } else { MAX_PAGES };
    let told =
        |why: String, keys: &str, app: &Harness| format!("{id}, {kind:?}, {size:?}, {keys}: {why}\n{}", app.picture());
    if let Some(why) = wrong(&app, 0, is_over, max) {
        return Some(told(why, "opened", &app));
    }
    let is_cut = !matches!(kind, Endless::FullPages | Endless::ShortPages);
    let is_cut = is_cut && pages(&app, 0).values().any(|count| *count > 1);
    let mut is_told = app.shows("+") || app.shows("more");
    for keys in ["j", "G", "G", "C-d", "C-d", "2", "G", "3", "G", "C-d", "4", "G"] {
        let before = app.asked.len();
        app.press(keys);
        let is_over = answer(world, &mut app).await;
        if let Some(why) = wrong(&app, before, is_over, MAX_PAGES) {
            return Some(told(why, keys, &app));
        }
        // The end of the list may have been below the screen.
        is_told |= keys == "G" && app.shows("more");
        if is_cut && keys == "2" && !is_told {
            return Some(told("does not say that there is more".into(), keys, &app));
        }
    }
    None
}

/// The finder loads the whole tree, as far as memory allows, and stops where the server repeats itself.
#[tokio::test]
async fn the_finder_stops_where_a_server_repeats_its_tree() {
    let server = demo().await;
    let mut world = World::of(&server);
    for (kind, max) in [(Endless::SamePage, 7), (Endless::Cycle, 8), (Endless::EmptyPages, 9)] {
        let mut app = Begin::at(place_of("files")).size(120, 40).open();
        assert!(answer(&mut world, &mut app).await);
        app.endless = Some(kind);
        let before = app.asked.len();
        app.press("t");
        assert!(answer(&mut world, &mut app).await, "{kind:?}");
        let asked = app.asked[before..].iter().filter(|line| line.contains("recursive")).count();
        assert!(asked <= max, "{kind:?}: {asked}");
        app.expect("files: the server repeats pages");
    }
    server.stop().await;
}

#[tokio::test]
async fn no_place_loads_a_list_that_never_ends() {
    let sample = Sample::one_in(7);
    let server = demo().await;
    let mut world = World::of(&server);
    let mut problems = Vec::new();
    for (row, entry) in PANES.iter().enumerate() {
        for (column, kind) in KINDS.iter().enumerate() {
            if sample.has(row * KINDS.len() + column) {
                let size = if (row + column) % 2 == 0 { (120, 40) } else { (80, 12) };
                problems.extend(problem(&mut world, entry.place.id, *kind, size).await);
            }
        }
    }
    server.stop().await;
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n\n"));
}
