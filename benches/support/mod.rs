//! What the benchmarks share: medians, pairs measured in turns, and a table with limits.

// Each benchmark is a program of its own and uses a part of this.
#![allow(dead_code)]

use crossterm::event::KeyEvent;
use crossterm::event::{KeyCode, KeyModifiers};
use std::time::Instant;

/// A key as people write it: `j`, `C-d`, `PageDown`.
pub fn key(text: &str) -> KeyEvent {
    let (modifiers, name) = match text.strip_prefix("C-") {
        Some(rest) => (KeyModifiers::CONTROL, rest),
        None => (KeyModifiers::NONE, text),
    };
    let code = match name {
        "PageDown" => KeyCode::PageDown,
        "PageUp" => KeyCode::PageUp,
        "Enter" => KeyCode::Enter,
        _ => KeyCode::Char(name.chars().next().unwrap_or(' ')),
    };
    KeyEvent::new(code, modifiers)
}

/// The median time of `times` runs, in microseconds.
pub fn median(times: usize, mut run: impl FnMut()) -> f64 {
    let mut taken: Vec<f64> = (0..times)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    taken.sort_by(f64::total_cmp);
    taken[taken.len() / 2]
}

/// Measures two things in turns, so that what else the machine does touches both; the median of five each.
pub fn pair(mut a: impl FnMut() -> f64, mut b: impl FnMut() -> f64) -> (f64, f64) {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        of_a.push(a());
        of_b.push(b());
    }
    of_a.sort_by(f64::total_cmp);
    of_b.sort_by(f64::total_cmp);
    (of_a[2], of_b[2])
}

/// Rows of results, printed aligned; a ratio over its limit is marked and makes the run fail.
pub struct Table {
    title: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    over: bool,
}

impl Table {
    /// An empty table.
    pub fn new(title: &str, head: &[&str]) -> Table {
        Table { title: title.into(), head: head.iter().map(|h| (*h).to_string()).collect(), rows: vec![], over: false }
    }

    /// A pair and its ratio, second over first, beside the limit.
    pub fn ratio(&mut self, name: &str, (first, second): (f64, f64), limit: f64) {
        let ratio = second / first.max(1e-9);
        self.over |= ratio > limit;
        let mark = if ratio > limit { " !" } else { "" };
        self.rows.push(vec![
            name.into(),
            format!("{first:.1}"),
            format!("{second:.1}"),
            format!("{ratio:.2}{mark}"),
            format!("{limit}"),
        ]);
    }

    /// A row as it is; `over` where it breaks its limit.
    pub fn row(&mut self, cells: Vec<String>, over: bool) {
        self.over |= over;
        self.rows.push(cells);
    }

    /// Prints it; ends the program with 1 where a limit was broken.
    pub fn print(self) {
        let mut widths: Vec<usize> = self.head.iter().map(|h| h.chars().count()).collect();
        for row in &self.rows {
            for (index, cell) in row.iter().enumerate() {
                widths[index] = widths[index].max(cell.chars().count());
            }
        }
        println!("\n{}", self.title);
        for row in std::iter::once(&self.head).chain(&self.rows) {
            let cells: Vec<String> = row
                .iter()
                .enumerate()
                .map(|(index, cell)| {
                    let gap = " ".repeat(widths[index] - cell.chars().count());
                    if index == 0 { format!("{cell}{gap}") } else { format!("{gap}{cell}") }
                })
                .collect();
            println!("  {}", cells.join("  "));
        }
        if self.over {
            println!("  ! over its limit");
            std::process::exit(1);
        }
    }
}
