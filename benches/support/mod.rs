//! Shared parts of the benchmarks: an app without a terminal, medians, alternating measurements of pairs, and a table
//! with limits.

pub mod changes;
pub mod distance;
pub mod held;
pub mod served;
pub mod session;

use crossterm::event::{KeyEvent, KeyModifiers};
use jiff::Timestamp;
use labscope::app::action::{Effect, Msg};
use labscope::app::bindings::Bindings;
use labscope::app::keymap::Key;
use labscope::app::place::Place;
use labscope::app::session::Session;
use labscope::app::{App, Setup};
use labscope::ui::theme::{Background, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::hint::black_box;
use std::time::Instant;

/// Parses a key as people write it: `j`, `C-d`, `PageDown`.
pub fn key(text: &str) -> KeyEvent {
    let key = Key::parse(text).unwrap_or_else(|| panic!("no key is called {text}"));
    let mut modifiers = KeyModifiers::NONE;
    modifiers.set(KeyModifiers::CONTROL, key.ctrl);
    modifiers.set(KeyModifiers::ALT, key.alt);
    modifiers.set(KeyModifiers::SHIFT, key.shift);
    KeyEvent::new(key.code, modifiers)
}

/// Starts an app at a place, with a terminal size in columns and rows; returns its initial effects as well.
pub fn start(place: Place, size: (u16, u16)) -> (App, Vec<Effect>) {
    start_as(Session { signed_in: true, ..Session::default() }, place, size)
}

/// Like [`start`], with another session.
pub fn start_as(session: Session, place: Place, size: (u16, u16)) -> (App, Vec<Effect>) {
    App::new(Setup {
        registry: labscope::panes::PANES,
        bindings: Bindings::new(labscope::panes::PANES, &Default::default()).unwrap_or_default(),
        session,
        theme: Theme::for_background(Background::Dark),
        theme_is_chosen: true,
        kept: Default::default(),
        shows_key_hints: false,
        place,
        now: Timestamp::UNIX_EPOCH,
        size,
    })
}

/// Returns an empty screen of the given columns and rows.
pub fn screen((columns, rows): (u16, u16)) -> Buffer {
    Buffer::empty(Rect::new(0, 0, columns, rows))
}

/// Draws a frame.
pub fn frame(app: &mut App, buffer: &mut Buffer) {
    buffer.reset();
    black_box(app.view(buffer.area, buffer));
}

/// Returns the text of one frame of the app, row by row.
pub fn shown(app: &mut App, size: (u16, u16)) -> String {
    let mut buffer = screen(size);
    frame(app, &mut buffer);
    let rows = buffer.content().chunks(usize::from(size.0));
    rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>() + "\n").collect()
}

/// Returns the median time of a key press and the following frame, in microseconds; the keys are used in turn.
pub fn key_and_frame(app: &mut App, size: (u16, u16), keys: &[&str]) -> f64 {
    let mut buffer = screen(size);
    let mut keys = keys.iter().map(|name| key(name)).cycle();
    median(400, || {
        if let Some(key) = keys.next() {
            black_box(app.update(Msg::Key(key)).len());
        }
        frame(app, &mut buffer);
    })
}

/// Returns the median time of `times` runs, in microseconds.
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

/// Measures two things alternately, so that other load affects both equally; returns the median of five for each.
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

/// A table of results, printed aligned. A ratio over its limit is marked and makes the run fail.
pub struct Table {
    title: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    over: bool,
}

impl Table {
    /// Returns an empty table.
    pub fn new(title: &str, head: &[&str]) -> Table {
        Table { title: title.into(), head: head.iter().map(|h| (*h).to_string()).collect(), rows: vec![], over: false }
    }

    /// Adds a pair and its ratio (second over first) with the limit.
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

    /// Adds a row verbatim; `over` marks it as over its limit.
    pub fn row(&mut self, cells: Vec<String>, over: bool) {
        self.over |= over;
        self.rows.push(cells);
    }

    /// Prints the table; exits with status 1 if a limit was exceeded.
    pub fn print(self) {
        print_all([self]);
    }

    fn write(&self) {
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
        }
    }
}

/// Prints tables; exits with status 1 if a limit was exceeded in any of them.
pub fn print_all<const N: usize>(tables: [Table; N]) {
    tables.iter().for_each(Table::write);
    if tables.iter().any(|table| table.over) {
        std::process::exit(1);
    }
}
