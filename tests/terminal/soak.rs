//! Long use of the real program: after everything has been seen once, the number of open files, threads and files on
//! disk and the memory must not grow. A few rounds run by default.
#![cfg(target_os = "linux")]

use crate::demo;
use crate::home::Home;
use crate::sample::length;
use crate::screen::Screen;
use std::fs;

/// The default number of rounds.
const ROUNDS: usize = 8;
/// The number of rounds after which almost everything has been seen by each worker.
const FIRST: usize = 4;
/// The number of kilobytes that a worker may add once: it keeps the compiled expressions of the languages it has colored.
const ONCE: usize = 5_000;
/// The number of kilobytes that each further round may add: allocators keep some freed memory.
const MORE: usize = 3_000;

/// The targets opened in a round, with a text of their first line.
const TARGETS: &[(&str, &str)] = &[
    ("acme/rocket-ui!42", "!42"),
    ("acme/rocket-ui/-/tree/main", "⎇ main "),
    ("acme/rocket-ui/-/commits/main", "commits"),
    ("acme/rocket-ui/-/jobs", "jobs"),
    ("acme/rocket-ui/-/jobs/121", "#121"),
    ("acme/rocket-ui/-/issues", "issues"),
    ("acme/rocket-ui/-/branches", "branches"),
    ("groups", "groups"),
    ("home", "home"),
    ("projects", "projects"),
];

/// The resources of a process, and its files on disk.
#[derive(Debug)]
struct Held {
    files: usize,
    threads: usize,
    kilobytes: usize,
    on_disk: usize,
}

fn held(screen: &Screen, home: &Home) -> Held {
    let process = format!("/proc/{}", screen.process());
    let status = fs::read_to_string(format!("{process}/status")).expect("the process runs");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the kernel says it");
        line.trim_start_matches(':').split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let count = |path: &str| fs::read_dir(path).expect("a folder").count();
    Held {
        files: count(&format!("{process}/fd")),
        threads: field("Threads"),
        kilobytes: field("VmRSS"),
        on_disk: home.left_behind().len(),
    }
}

#[test]
fn long_use_does_not_increase_resource_usage() {
    let rounds = length(ROUNDS);
    let home = Home::new();
    let mut screen = demo(&home);
    let mut all = Vec::new();
    for _ in 0..rounds {
        for (target, shown) in TARGETS {
            screen.keys(&format!(":{target}\r"));
            screen.wait(target, |screen| screen.rows(0, 200).next().is_some_and(|first| first.contains(shown)));
            screen.keys("jjkkG");
        }
        for (rows, columns) in [(40, 140), (24, 80)] {
            screen.resize(rows, columns);
        }
        all.push(held(&screen, &home));
    }
    let first = &all[FIRST - 1];
    for (later, after) in all[FIRST..].iter().zip(1..) {
        // A finished request may still be closing its connection. On a busy machine more workers run at the same time,
        // and idle ones end only after ten seconds.
        let new_workers = later.threads.saturating_sub(first.threads);
        let is_flat = later.files <= first.files + 8
            && new_workers <= 8
            && later.kilobytes <= first.kilobytes + ONCE * (1 + new_workers) + MORE * after
            && later.on_disk <= first.on_disk;
        assert!(is_flat, "usage grows with the rounds: {all:#?}");
    }
    screen.keys("Q");
    assert_eq!(screen.exit_code(), 0);
}
