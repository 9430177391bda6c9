//! The benchmarks. `cargo bench` runs all, each in a process of its own, and `cargo bench -- NAME` runs one of them.

mod diff;
mod files;
mod frame;
mod fuzz;
mod graph;
mod history;
mod hitches;
mod serve;
mod slow;
mod start;
mod support;
mod trace;
mod wire;

use std::process::{Command, exit};

/// A benchmark. It gets the arguments after its name, and exits with status 1 if a ratio is over its limit.
type Run = fn(&[String]);

/// The benchmarks by name.
const ALL: &[(&str, Run)] = &[
    ("diff", diff::run),
    ("files", files::run),
    ("frame", frame::run),
    ("fuzz", fuzz::run),
    ("graph", graph::run),
    ("history", history::run),
    ("hitches", hitches::run),
    ("serve", serve::run),
    ("slow", slow::run),
    ("start", start::run),
    ("trace", trace::run),
    ("wire", wire::run),
];

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some((name, rest)) = arguments.split_first() {
        let Some((_, run)) = ALL.iter().find(|(known, _)| known == name) else {
            let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
            eprintln!("No benchmark is called {name}. There are {}.", names.join(", "));
            exit(2);
        };
        return run(rest);
    }
    let own = std::env::current_exe().expect("the path of this program");
    let passes = |name: &str| Command::new(&own).arg(name).status().is_ok_and(|status| status.success());
    let failed: Vec<&str> = ALL.iter().map(|(name, _)| *name).filter(|name| !passes(name)).collect();
    if !failed.is_empty() {
        eprintln!("\nFailed, or over a limit: {}", failed.join(", "));
        exit(1);
    }
}
