//! Benchmarks startup: the time from exec to the first frame, from key to frame, and the cost of an idle screen,
//! against an empty program and `less`.
//!
//! With the argument `empty`, this program is the empty ratatui program that labscope is measured against.

use crate::support;
use crate::support::Table;
use crate::support::session::Session;
use std::net::TcpListener;
use std::time::Duration;

const LABSCOPE: &str = env!("CARGO_BIN_EXE_labscope");

/// Returns the milliseconds from exec until `shown` is on the screen: the median of many starts.
fn first_frame(program: &str, arguments: &[&str], variables: &[(&str, &str)], shown: &str) -> f64 {
    let mut taken: Vec<f64> = (0..21)
        .filter_map(|_| {
            let mut session = Session::start(program, arguments, variables);
            let at = session.shows(shown, Duration::from_secs(10));
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

/// Runs the empty program: takes over the terminal, draws one frame, and waits for a key.
fn empty() -> std::io::Result<()> {
    let mut terminal = ratatui::init();
    terminal.draw(|frame| frame.render_widget("drawn", frame.area()))?;
    let _ = crossterm::event::read()?;
    ratatui::restore();
    Ok(())
}

pub fn run(arguments: &[String]) {
    if arguments == ["empty"] {
        return empty().expect("the empty program runs");
    }
    let own = std::env::current_exe().expect("the path of this program");
    let own = own.to_string_lossy().into_owned();
    let folder = tempfile::tempdir().expect("a folder");
    let small = folder.path().join("small.txt");
    std::fs::write(&small, "a small file\n".repeat(20)).expect("a small file");
    let small = small.to_string_lossy().into_owned();
    let home = folder.path().to_string_lossy().into_owned();
    let alone = [("HOME", home.as_str()), ("XDG_CONFIG_HOME", home.as_str()), ("XDG_DATA_HOME", home.as_str())];

    // A server that accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", silent.local_addr().expect("an address"));
    let token = [&alone[..], &[("LABSCOPE_TOKEN", "a-token")]].concat();

    let mut table = Table::new("exec to first frame, ms", &["", "baseline", "labscope", "ratio", "limit"]);
    let bare = first_frame(&own, &["start", "empty"], &[], "drawn");
    let less = first_frame("less", &[&small], &alone, "a small file");
    let quiet = first_frame(LABSCOPE, &["--host", &address, "projects"], &token, "All");
    let nowhere = first_frame(LABSCOPE, &["--host", "http://127.0.0.1:9", "projects"], &token, "All");
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
    let demo = first_frame(LABSCOPE, &["demo", "projects"], &alone, "rocket-ui");
    table.row(
        vec!["demo: first projects on screen".into(), "-".into(), format!("{demo:.1}"), "-".into(), "1000".into()],
        demo.is_nan() || demo > 1000.0,
    );
    let mut session = Session::start(LABSCOPE, &["--host", &address, "projects"], &token);
    session.quiet();
    let before = session.switches();
    std::thread::sleep(Duration::from_secs(6));
    let woken = session.switches().zip(before).map(|(after, before)| after - before);
    session.end();
    let shown = woken.map_or("?".into(), |w| w.to_string());
    let mut idle = Table::new("idle", &["", "wake-ups in 6 s", "limit"]);
    idle.row(vec!["quiet screen, server that does not answer".into(), shown, "0".into()], woken != Some(0));

    let mut viewers = Table::new("key to frame, ms", &["", "less", "labscope", "ratio"]);
    let lines = folder.path().join("lines.txt");
    std::fs::write(&lines, (0..20_000).map(|n| format!("line {n} of a file\n")).collect::<String>()).expect("a file");
    let mut session = Session::start("less", &[&lines.to_string_lossy()], &alone);
    session.quiet();
    let beside = keys(&mut session, &[b"j", b"j", b"k"]);
    session.end();
    for (name, target) in [
        ("projects", vec!["demo", "projects"]),
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
    support::print_all([table, viewers, idle]);
}
