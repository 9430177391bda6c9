//! From exec to the first frame, from key to frame, and what an idle screen costs: beside an empty program and `less`.
//!
//! Run with an argument `empty`, this program is the empty ratatui program that labscope is measured against.

mod support;

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use support::Table;

const LABSCOPE: &str = env!("CARGO_BIN_EXE_labscope");

/// A program on a terminal of its own.
struct Session {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    output: Receiver<(Instant, Vec<u8>)>,
    input: Box<dyn Write + Send>,
    started: Instant,
}

impl Session {
    fn start(program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Session {
        let size = PtySize { rows: 45, cols: 160, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        for (name, value) in variables {
            command.env(name, value);
        }
        let mut reader = pair.master.try_clone_reader().expect("the terminal's output");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(read) = reader.read(&mut buffer) {
                if read == 0 || sender.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                    break;
                }
            }
        });
        let input = pair.master.take_writer().expect("the terminal's input");
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).expect("the program starts");
        Session { master: pair.master, child, output, input, started }
    }

    /// Waits until `enough` says so of all that came since the last call; milliseconds since `from`.
    fn until(&mut self, from: Instant, enough: impl Fn(&[u8]) -> bool) -> Option<f64> {
        let mut seen = Vec::new();
        loop {
            match self.output.recv_timeout(Duration::from_secs(10)) {
                Ok((at, bytes)) => {
                    seen.extend(bytes);
                    if enough(&seen) {
                        return Some(at.duration_since(from).as_secs_f64() * 1e3);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Waits until nothing has come for a while.
    fn quiet(&mut self) {
        while self.output.recv_timeout(Duration::from_millis(300)).is_ok() {}
    }

    /// Sends a key and waits for the first bytes that answer it.
    fn key(&mut self, key: &[u8]) -> f64 {
        while self.output.try_recv().is_ok() {}
        let from = Instant::now();
        self.input.write_all(key).expect("the key is typed");
        self.input.flush().expect("the key is typed");
        self.until(from, |seen| !seen.is_empty()).unwrap_or(f64::NAN)
    }

    /// Times that any thread of the program was put to sleep and woken, so far.
    fn switches(&self) -> Option<u64> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.process_id()?)).ok()?;
        let count = |text: String| {
            let lines = text.lines().filter(|l| l.contains("ctxt_switches"));
            lines.filter_map(|l| l.split_whitespace().last()?.parse::<u64>().ok()).sum::<u64>()
        };
        Some(tasks.flatten().filter_map(|t| std::fs::read_to_string(t.path().join("status")).ok()).map(count).sum())
    }

    fn end(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        drop(self.master);
    }
}

/// Milliseconds from exec to the moment when `shown` is on the screen: the median of many starts.
fn first_frame(program: &str, arguments: &[&str], variables: &[(&str, &str)], shown: &str) -> f64 {
    let mut taken: Vec<f64> = (0..21)
        .filter_map(|_| {
            let mut session = Session::start(program, arguments, variables);
            let started = session.started;
            let needle = shown.as_bytes();
            let at = session.until(started, |seen| seen.windows(needle.len()).any(|w| w == needle));
            session.end();
            at
        })
        .collect();
    taken.sort_by(f64::total_cmp);
    taken.get(taken.len() / 2).copied().unwrap_or(f64::NAN)
}

fn keys(session: &mut Session, keys: &[&[u8]]) -> f64 {
    let mut taken: Vec<f64> = (0..120).map(|n| session.key(keys[n % keys.len()])).collect();
    taken.sort_by(f64::total_cmp);
    taken[taken.len() / 2]
}

/// The empty program: takes the terminal over, draws one frame, and waits for a key.
fn empty() -> std::io::Result<()> {
    let mut terminal = ratatui::init();
    terminal.draw(|frame| frame.render_widget("drawn", frame.area()))?;
    let _ = crossterm::event::read()?;
    ratatui::restore();
    Ok(())
}

fn main() {
    if std::env::args().any(|a| a == "empty") {
        empty().expect("the empty program runs");
        return;
    }
    let own = std::env::current_exe().expect("the path of this program");
    let own = own.to_string_lossy().into_owned();
    let folder = tempfile::tempdir().expect("a folder");
    let small = folder.path().join("small.txt");
    std::fs::write(&small, "a small file\n".repeat(20)).expect("a small file");
    let small = small.to_string_lossy().into_owned();
    let home = folder.path().to_string_lossy().into_owned();
    let alone = [("HOME", home.as_str()), ("XDG_CONFIG_HOME", home.as_str()), ("XDG_DATA_HOME", home.as_str())];

    // A server that takes connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", silent.local_addr().expect("an address"));
    let token = [&alone[..], &[("LABSCOPE_TOKEN", "a-token")]].concat();

    let mut table = Table::new("exec to first frame, ms", &["", "beside", "labscope", "ratio", "limit"]);
    let bare = first_frame(&own, &["empty"], &[], "drawn");
    let less = first_frame("less", &[&small], &alone, "a small file");
    let quiet = first_frame(LABSCOPE, &["--host", &address], &token, "projects");
    let nowhere = first_frame(LABSCOPE, &["--host", "http://127.0.0.1:9"], &token, "projects");
    table.ratio("server that does not answer · empty program", (bare, quiet), 4.0);
    table.ratio("server that refuses · empty program", (bare, nowhere), 4.0);
    table.row(
        vec![
            "less on a small file".into(),
            format!("{less:.1}"),
            format!("{quiet:.1}"),
            format!("{:.2}", quiet / less),
            "-".into(),
        ],
        false,
    );
    let demo = first_frame(LABSCOPE, &["demo"], &alone, "rocket-ui");
    table.row(
        vec!["demo: first projects on screen".into(), "-".into(), format!("{demo:.1}"), "-".into(), "1000".into()],
        demo.is_nan() || demo > 1000.0,
    );
    let mut session = Session::start(LABSCOPE, &["--host", &address], &token);
    session.quiet();
    let before = session.switches();
    std::thread::sleep(Duration::from_secs(6));
    let woken = session.switches().zip(before).map(|(after, before)| after - before);
    session.end();
    let shown = woken.map_or("?".into(), |w| w.to_string());
    let mut idle = Table::new("idle", &["", "wake-ups in 6 s", "limit"]);
    idle.row(vec!["quiet screen, server that does not answer".into(), shown, "0".into()], woken != Some(0));
    table.print();

    let mut viewers = Table::new("key to frame, ms", &["", "less", "labscope", "ratio"]);
    let lines = folder.path().join("lines.txt");
    std::fs::write(&lines, (0..20_000).map(|n| format!("line {n} of a file\n")).collect::<String>()).expect("a file");
    let mut session = Session::start("less", &[&lines.to_string_lossy()], &alone);
    session.quiet();
    let beside = keys(&mut session, &[b"j", b"j", b"k"]);
    session.end();
    for (name, target) in [
        ("projects", vec!["demo"]),
        ("a blob", vec!["demo", "acme/rocket-ui@main:src/main.rs"]),
        ("a trace", vec!["demo", "acme/rocket-ui/-/jobs"]),
    ] {
        let mut session = Session::start(LABSCOPE, &target, &alone);
        session.quiet();
        let own = keys(&mut session, &[b"j", b"j", b"k"]);
        session.end();
        viewers.row(
            vec![name.into(), format!("{beside:.2}"), format!("{own:.2}"), format!("{:.2}", own / beside)],
            own.is_nan(),
        );
    }
    let mut session = Session::start(LABSCOPE, &["demo", "acme/rocket-ui@main:README.md"], &alone);
    session.quiet();
    std::thread::sleep(Duration::from_secs(2));
    let before = session.switches();
    std::thread::sleep(Duration::from_secs(6));
    let woken = session.switches().zip(before).map(|(after, before)| after - before);
    session.end();
    idle.row(
        vec!["a file of the demo".into(), woken.map_or("?".into(), |w| w.to_string()), "0".into()],
        woken != Some(0),
    );
    viewers.print();
    idle.print();
}
