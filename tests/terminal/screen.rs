//! A terminal that parses what a program draws: tests wait for something to be shown, with a time limit and a message.

use crate::home::Home;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The maximum time to wait for anything; a loaded machine is slow.
const LIMIT: Duration = Duration::from_secs(120);
/// The initial rows and columns.
const SIZE: (u16, u16) = (30, 100);
/// The number of bytes of the program's output that are kept.
const KEPT: usize = 4 << 20;
/// The private mode for synchronized updates.
const SYNCHRONIZED: u16 = 2026;

/// What the program told the terminal besides text.
#[derive(Default)]
struct Told {
    /// Whether a frame has begun and has not ended.
    drawing: bool,
    /// Whether the program queried the background color.
    asked: bool,
}

impl vt100::Callbacks for Told {
    fn unhandled_csi(&mut self, _: &mut vt100::Screen, i1: Option<u8>, _: Option<u8>, params: &[&[u16]], c: char) {
        if i1 == Some(b'?') && params == [[SYNCHRONIZED]] {
            self.drawing = c == 'h';
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        self.asked |= params == [b"11".as_slice(), b"?"];
    }
}

struct Seen {
    parser: vt100::Parser<Told>,
    /// The first bytes of the output.
    bytes: Vec<u8>,
    ended: bool,
    /// Whether the reader should stop.
    closing: bool,
}

/// A terminal with a program in it.
pub struct Screen {
    seen: Arc<(Mutex<Seen>, Condvar)>,
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    child: Box<dyn Child + Send + Sync>,
    process: u32,
    reading: Option<JoinHandle<()>>,
    /// The terminal's flags before the program started.
    flags: String,
}

fn cells(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("not zero")
}

fn pty_size((rows, cols): (u16, u16)) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

impl Screen {
    /// Starts a program.
    pub fn start(home: &Home, program: &str, arguments: &[&str]) -> Screen {
        Screen::start_with(home, program, arguments, &[])
    }

    /// Starts a program with additional environment variables.
    pub fn start_with(home: &Home, program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Screen {
        let pair = native_pty_system().openpty(pty_size(SIZE)).expect("a terminal");
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.cwd(home.path("work"));
        command.env_clear();
        command.env("PATH", std::env::var("PATH").unwrap_or_default());
        command.env("COLORTERM", "truecolor");
        command.env("PS1", "$ ");
        for (name, value) in home.variables() {
            command.env(name, value);
        }
        for (name, value) in variables {
            command.env(name, value);
        }
        let flags = format!("{:?}", pair.master.get_termios());
        let child = pair.slave.spawn_command(command).expect("it starts");
        // While this end stays open, the output would never end.
        drop(pair.slave);
        let process = child.process_id().expect("a process");
        let parser = vt100::Parser::new_with_callbacks(cells(SIZE.0), cells(SIZE.1), 0, Told::default());
        let seen = Mutex::new(Seen { parser, bytes: Vec::new(), ended: false, closing: false });
        let seen = Arc::new((seen, Condvar::new()));
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let reads = seen.clone();
        let reading = std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            loop {
                let count = reader.read(&mut buffer).unwrap_or(0);
                // If the lock is poisoned, the test has failed already.
                let Ok(mut seen) = reads.0.lock() else { return };
                let bytes = buffer.get(..count).unwrap_or_default();
                seen.parser.process(bytes);
                let room = KEPT.saturating_sub(seen.bytes.len());
                let kept = bytes.get(..room).unwrap_or(bytes);
                seen.bytes.extend_from_slice(kept);
                seen.ended = count == 0;
                reads.1.notify_all();
                if count == 0 || seen.closing {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().expect("a writer");
        Screen { seen, master: Some(pair.master), writer: Some(writer), child, process, reading: Some(reading), flags }
    }

    /// Returns the ID of the program's process.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Returns whether the terminal has the same flags as before the program started: echo and line buffering are on.
    pub fn has_its_flags(&self) -> bool {
        self.flags == format!("{:?}", self.master.as_ref().expect("it is open").get_termios())
    }

    /// Types keys.
    pub fn keys(&mut self, keys: &str) {
        let writer = self.writer.as_mut().expect("it is open");
        writer.write_all(keys.as_bytes()).expect("typed");
        writer.flush().expect("typed");
    }

    /// Resizes the window.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        self.seen.0.lock().expect("not poisoned").parser.set_size(cells(rows), cells(columns));
        self.master.as_ref().expect("it is open").resize(pty_size((rows, columns))).expect("resized");
    }

    /// Waits until the screen satisfies `is_so`. A frame is looked at when it is complete.
    pub fn wait(&mut self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        self.wait_until(what, |seen| !seen.parser.callbacks().drawing && is_so(seen.parser.screen()));
    }

    /// Waits until the last row shows a command. The first-start hint covers it until a key is pressed.
    pub fn wait_for_command(&mut self, command: &str) {
        let hint = "lists the keys here";
        self.wait("a command or the hint", |screen| offers(screen, command) || offers(screen, hint));
        let is_hinted = offers(self.seen.0.lock().expect("not poisoned").parser.screen(), hint);
        if is_hinted {
            self.keys("k");
        }
        self.wait(command, |screen| offers(screen, command));
    }

    /// Reads the screen as it is now; if a frame is being drawn, once it is complete.
    pub fn at_once<T>(&mut self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        self.wait_until("a complete frame", |seen| !seen.parser.callbacks().drawing);
        look(self.seen.0.lock().expect("not poisoned").parser.screen())
    }

    /// Reads the screen once there has been no output for a while.
    pub fn at_rest<T>(&mut self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        let quiet = Duration::from_millis(1500);
        let until = Instant::now() + LIMIT;
        let mut seen = self.seen.0.lock().expect("not poisoned");
        loop {
            let (next, waited) = self.seen.1.wait_timeout(seen, quiet).expect("not poisoned");
            seen = next;
            // A screen with a running clock never becomes quiet.
            if waited.timed_out() || Instant::now() + quiet * 60 > until {
                return look(seen.parser.screen());
            }
        }
    }

    /// Returns whether the program has sent these bytes.
    pub fn has_sent(&self, bytes: &str) -> bool {
        let seen = self.seen.0.lock().expect("not poisoned");
        seen.bytes.windows(bytes.len()).any(|window| window == bytes.as_bytes())
    }

    /// Returns what the program sends within a time.
    pub fn sends_within(&self, time: Duration) -> String {
        let until = Instant::now() + time;
        let mut seen = self.seen.0.lock().expect("not poisoned");
        let before = seen.bytes.len();
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            seen = self.seen.1.wait_timeout(seen, left).expect("not poisoned").0;
        }
        String::from_utf8_lossy(seen.bytes.get(before..).unwrap_or_default()).into_owned()
    }

    /// Waits until the program has sent these bytes; returns how many came before them.
    pub fn wait_for_bytes(&mut self, what: &str, bytes: &str) -> usize {
        let at = |seen: &Seen| seen.bytes.windows(bytes.len()).position(|window| window == bytes.as_bytes());
        self.wait_until(what, |seen| at(seen).is_some());
        at(&self.seen.0.lock().expect("not poisoned")).unwrap_or_default()
    }

    /// Waits until the program has queried the background color.
    pub fn wait_for_question(&mut self) {
        self.wait_until("it asks for the background", |seen| seen.parser.callbacks().asked);
    }

    fn wait_until(&mut self, what: &str, is_so: impl Fn(&Seen) -> bool) {
        let until = Instant::now() + LIMIT;
        let mut seen = self.seen.0.lock().expect("not poisoned");
        while !is_so(&seen) {
            let left = until.saturating_duration_since(Instant::now());
            let lost = left.is_zero() || seen.ended;
            assert!(!lost, "not seen: {what}; the screen is\n{}", seen.parser.screen().contents());
            seen = self.seen.1.wait_timeout(seen, left).expect("not poisoned").0;
        }
    }

    /// Waits until the program ends, and returns its exit code.
    pub fn exit_code(&mut self) -> u32 {
        let mut child = self.child.clone_killer();
        let (sender, ended) = mpsc::channel();
        std::thread::scope(|scope| {
            let waits = &mut self.child;
            scope.spawn(move || sender.send(waits.wait()));
            let status = ended.recv_timeout(LIMIT);
            if status.is_err() {
                // Unless the program ends, the scope could not be left.
                let _ = child.kill();
            }
            status.expect("it ends in time").expect("a status").exit_code()
        })
    }

    /// Closes the window and waits until the program ends.
    pub fn close(mut self) {
        self.seen.0.lock().expect("not poisoned").closing = true;
        // Causes some output, so that the reader wakes up and releases its end of the terminal.
        self.keys("j");
        self.reading.take().expect("it reads").join().expect("it ends");
        drop(self.writer.take());
        drop(self.master.take());
        self.exit_code();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// Returns whether the last row shows a command, which it does once the command is available.
pub fn offers(screen: &vt100::Screen, command: &str) -> bool {
    screen.rows(0, screen.size().1.get()).last().is_some_and(|row| row.contains(command))
}

/// Returns the RGB colors of a theme, without white and black, which every terminal has.
pub fn palette(theme: &str) -> BTreeSet<(u8, u8, u8)> {
    let path = format!("{}/themes/{theme}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a theme");
    let byte = |hex: &str, at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let colors = text.split("\"#").skip(1).filter_map(|rest| Some((byte(rest, 0)?, byte(rest, 2)?, byte(rest, 4)?)));
    colors.collect()
}

/// Returns whether the screen shows colors that only `wanted` has, and none that only `other` has.
pub fn shows(screen: &vt100::Screen, wanted: &BTreeSet<(u8, u8, u8)>, other: &BTreeSet<(u8, u8, u8)>) -> bool {
    let (rows, columns) = screen.size();
    let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    let shown: BTreeSet<(u8, u8, u8)> = cells
        .filter_map(|(row, column)| screen.cell(row, column))
        .flat_map(|cell| [cell.fgcolor(), cell.bgcolor()])
        .filter_map(|color| match color {
            vt100::Color::Rgb(r, g, b) => Some((r, g, b)),
            _ => None,
        })
        .collect();
    let only = |of: &BTreeSet<(u8, u8, u8)>, not: &BTreeSet<(u8, u8, u8)>| {
        shown.iter().any(|color| of.contains(color) && !not.contains(color))
    };
    only(wanted, other) && !only(other, wanted)
}
