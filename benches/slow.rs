//! Benchmarks large replies over a slow line: the time until what is looked at is on the screen, against the time that the
//! whole reply takes. A server in this process sends the large replies at a given rate, and passes on everything else from
//! a demo.
//!
//! With the path of another build of labscope as an argument, that is measured in the same run, and on loopback both are
//! compared. Other arguments select rows by parts of their names.

use crate::support;
use crate::support::Table;
use crate::support::served::LABSCOPE;
use crate::support::session::Session;
use labscope::backend::{Options, WorldKind};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How late a sleep may end without making the line slower.
const LATENESS: Duration = Duration::from_millis(50);
/// The rate of a slow line (a hotel, a VPN, a busy server), in bytes per second.
const SLOW: f64 = 4e6;
/// The number of bytes that are sent at once.
const CHUNK: u64 = 16 << 10;
/// The length of a line of a text, with its end.
const LINE: u64 = 100;
/// The most that a build may be slower on loopback than another one.
const MAX_SLOWER: f64 = 1.05;

const TRACE: &str = "acme/rocket-ui/-/jobs/121";
const FILE: &str = "acme/rocket-ui@main:src/main.rs";
const CHANGES: &str = "acme/rocket-ui/-/merge_requests/42/diffs";

/// A large reply.
#[derive(Clone)]
enum Large {
    /// A text of numbered lines, of a number of bytes.
    Text {
        size: u64,
        has_ranges: bool,
    },
    Json(Arc<Vec<u8>>),
}

impl Large {
    fn size(&self) -> u64 {
        match self {
            Large::Text { size, .. } => *size,
            Large::Json(body) => body.len() as u64,
        }
    }

    fn bytes(&self, range: Range<u64>) -> Vec<u8> {
        match self {
            Large::Json(body) => body[range.start as usize..range.end as usize].to_vec(),
            Large::Text { .. } => {
                let lines = range.start / LINE..range.end.div_ceil(LINE);
                let line = |number: u64| {
                    let words = format!("line {:010} of a long text", number + 1);
                    format!("{words:.<99}\n")
                };
                let skipped = (range.start % LINE) as usize;
                let text: String = lines.map(line).collect();
                text.as_bytes()[skipped..skipped + (range.end - range.start) as usize].to_vec()
            }
        }
    }

    /// Returns the text of the last line.
    fn last_line(&self) -> String {
        format!("line {:010}", self.size() / LINE)
    }
}

/// Whether a path is that of the large request.
type IsLarge = fn(&str) -> bool;

/// A measured place.
struct Visit {
    name: &'static str,
    target: &'static str,
    path: IsLarge,
    large: Large,
    /// The texts that are waited for, each with its name and the most of the time of the whole reply that it may take.
    shows: Vec<(&'static str, String, f64)>,
}

/// What the server sends now.
struct Line {
    visit: Option<(IsLarge, Large)>,
    /// The bytes per second.
    rate: f64,
    /// The time at which the line is free.
    free_at: Instant,
}

#[derive(Clone)]
struct Server {
    line: Arc<Mutex<Line>>,
    demo: SocketAddr,
}

impl Server {
    fn start(demo: SocketAddr) -> (Server, SocketAddr) {
        let line = Line { visit: None, rate: f64::INFINITY, free_at: Instant::now() };
        let server = Server { line: Arc::new(Mutex::new(line)), demo };
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let accepting = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let server = accepting.clone();
                // A client that has seen enough closes its connection.
                std::thread::spawn(move || drop(server.answer(stream)));
            }
        });
        (server, address)
    }

    fn set(&self, visit: &Visit, rate: f64) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        *line = Line { visit: Some((visit.path, visit.large.clone())), rate, free_at: Instant::now() };
    }

    /// Waits until the line has carried some bytes. All connections share it.
    fn carry(&self, bytes: u64) {
        let due = {
            let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
            // What a sleep took too long is made up for.
            let earliest = Instant::now() - LATENESS;
            line.free_at = line.free_at.max(earliest) + Duration::from_secs_f64(bytes as f64 / line.rate);
            line.free_at
        };
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }

    /// Answers the one request of a connection.
    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (mut head, mut reader) = (Vec::new(), BufReader::new(stream.try_clone()?));
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_owned();
            if line.is_empty() {
                break;
            }
            head.push(line);
        }
        let target = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
        let path = target.split('?').next().unwrap_or_default();
        let large = {
            let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
            line.visit.as_ref().filter(|(is_it, _)| is_it(path)).map(|(_, large)| large.clone())
        };
        match large {
            Some(large) => self.send(&mut stream, &large, &head),
            None => self.pass_on(&mut stream, &head, &mut reader),
        }
    }

    fn pass_on(&self, stream: &mut TcpStream, head: &[String], body: &mut BufReader<TcpStream>) -> io::Result<()> {
        let length = head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut demo = TcpStream::connect(self.demo)?;
        let is_kept = |line: &&String| !line.to_lowercase().starts_with("connection:");
        let lines: Vec<String> = head.iter().filter(is_kept).map(|line| format!("{line}\r\n")).collect();
        demo.write_all(format!("{}connection: close\r\n\r\n", lines.concat()).as_bytes())?;
        io::copy(&mut body.take(length.unwrap_or(0)), &mut demo)?;
        io::copy(&mut demo, stream)?;
        Ok(())
    }

    fn send(&self, stream: &mut TcpStream, large: &Large, head: &[String]) -> io::Result<()> {
        let (size, mut range) = (large.size(), 0..large.size());
        let asked = head.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        let mut headers = match large {
            Large::Json(_) => "content-type: application/json\r\n",
            Large::Text { has_ranges: false, .. } => "content-type: text/plain\r\n",
            Large::Text { has_ranges: true, .. } => "content-type: text/plain\r\naccept-ranges: bytes\r\n",
        }
        .to_owned();
        let mut status = "200 OK";
        if let (Large::Text { has_ranges: true, .. }, Some((from, to))) =
            (large, asked.as_deref().and_then(parse_range))
        {
            range = from.min(size)..to.map_or(size, |to| (to + 1).min(size));
            status = "206 Partial Content";
            headers += &format!("content-range: bytes {}-{}/{size}\r\n", range.start, range.end.saturating_sub(1));
        }
        let length = range.end - range.start;
        write!(stream, "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n")?;
        while range.start < range.end {
            let end = range.end.min(range.start + CHUNK);
            self.carry(end - range.start);
            stream.write_all(&large.bytes(range.start..end))?;
            range.start = end;
        }
        Ok(())
    }
}

/// Parses the first range of a `Range` header: the first byte, and the last one if it is named.
fn parse_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (from, to) = text.split_once('-')?;
    Some((from.parse().ok()?, to.trim().parse().ok()))
}

/// Returns the changes of a merge request with files of 500 added lines each, in the order of fields of GitLab: the files are
/// the last one (`API::Entities::MergeRequestChanges`).
fn changes(demo: SocketAddr, token: &str, files: usize) -> Vec<u8> {
    let mut stream = TcpStream::connect(demo).expect("it listens");
    let path = "/api/v4/projects/acme%2Frocket-ui/merge_requests/42/changes";
    let request = format!("GET {path} HTTP/1.0\r\nhost: {demo}\r\nprivate-token: {token}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).expect("a reply");
    let start = reply.windows(4).position(|part| part == b"\r\n\r\n").expect("a body") + 4;
    let mut whole: Value = serde_json::from_slice(&reply[start..]).expect("a merge request");
    whole.as_object_mut().expect("an object").remove("changes");
    let text = whole.to_string();
    let lines = |file: usize| {
        (1..=500).map(move |line| {
            format!("+let value_{line} = compute({file}, {line}, \"a text that makes the line as long as usual\");\n")
        })
    };
    let file = |at: usize| {
        let path = format!("src/generated/part_{at:04}.rs");
        let diff = format!("@@ -0,0 +1,500 @@\n{}", lines(at).collect::<String>());
        json!({"old_path": path, "new_path": path, "a_mode": "0", "b_mode": "100644", "new_file": true,
            "renamed_file": false, "deleted_file": false, "diff": diff})
        .to_string()
    };
    let all: Vec<String> = (0..files).map(file).collect();
    format!("{},\"changes\":[{}]}}", text.trim_end_matches('}'), all.join(",")).into_bytes()
}

/// Opens a place, and returns the seconds until each text is shown, and the memory afterwards in megabytes.
fn open(program: &str, url: &str, token: &str, visit: &Visit, patience: Duration) -> (Vec<f64>, f64) {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path().to_string_lossy().into_owned();
    let variables: Vec<(&str, &str)> = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]
        .into_iter()
        .map(|name| (name, home.as_str()))
        .chain([("LABSCOPE_TOKEN", token)])
        .collect();
    let mut session = Session::start(program, &["--host", url, visit.target], &variables);
    let texts: Vec<&str> = visit.shows.iter().map(|(_, text, _)| text.as_str()).collect();
    let taken = session.shows_each(&texts, patience);
    let memory = session.memory("VmRSS").unwrap_or(f64::NAN);
    session.end();
    (taken.into_iter().map(|taken| taken.map_or(f64::NAN, |taken| taken / 1e3)).collect(), memory)
}

fn visits(demo: SocketAddr, token: &str) -> Vec<Visit> {
    let trace = |size, has_ranges| Large::Text { size, has_ranges };
    let is_trace: fn(&str) -> bool = |path| path.ends_with("/jobs/121/trace");
    let first = || "line 0000000001".to_owned();
    let (end, longer, plain) = (trace(100_000_000, true), trace(1_000_000_000, true), trace(100_000_000, false));
    vec![
        Visit {
            name: "trace of 100 MB, with ranges",
            target: TRACE,
            path: is_trace,
            shows: vec![("last line", end.last_line(), 0.08)],
            large: end,
        },
        Visit {
            name: "trace of 1 GB, with ranges",
            target: TRACE,
            path: is_trace,
            shows: vec![("last line", longer.last_line(), 0.08)],
            large: longer,
        },
        Visit {
            name: "trace of 100 MB, without",
            target: TRACE,
            path: is_trace,
            // The screen follows the end of what has arrived.
            shows: vec![("first lines", " of a long text".to_owned(), 0.02), ("last line", plain.last_line(), 1.05)],
            large: plain,
        },
        Visit {
            name: "file of 100 MB",
            target: FILE,
            path: |path| path.ends_with("/raw"),
            shows: vec![("first screen", first(), 0.06)],
            large: trace(100_000_000, false),
        },
        Visit {
            name: "diff of 200,000 lines",
            target: CHANGES,
            path: |path| path.ends_with("/merge_requests/42/changes"),
            shows: vec![("first file", "compute(0, 1,".to_owned(), 0.25)],
            large: Large::Json(Arc::new(changes(demo, token, 400))),
        },
    ]
}

pub fn run(arguments: &[String]) {
    let (others, names): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|name| Path::new(name).is_file());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let options = Options { world: WorldKind::Demo, ..Options::default() };
    let demo = runtime.block_on(labscope::backend::start(options)).expect("a server on a free port");
    let address: SocketAddr = demo.base_url.trim_start_matches("http://").parse().expect("an address");
    let (server, front) = Server::start(address);
    let url = format!("http://{front}");
    let mut all = visits(address, demo.token());
    all.retain(|visit| names.is_empty() || names.iter().any(|name| visit.name.contains(name.as_str())));
    let programs: Vec<&str> = std::iter::once(LABSCOPE).chain(others.iter().map(|other| other.as_str())).collect();
    let mut slow = Table::new("a line of 4 MB/s", &["", "shown", "build", "whole, s", "shown, s", "ratio", "limit"]);
    let mut near = Table::new("loopback", &["", "build", "shown, s", "ratio", "MB", "ratio", "limit"]);
    for visit in &all {
        let whole = visit.large.size() as f64 / SLOW;
        for (at, program) in programs.iter().enumerate() {
            let build = if at == 0 { "this" } else { program };
            server.set(visit, SLOW);
            let patience = Duration::from_secs_f64(whole * 1.2 + 20.0);
            let (taken, _) = open(program, &url, demo.token(), visit, patience);
            for ((shown, _, limit), taken) in visit.shows.iter().zip(taken) {
                let ratio = taken / whole;
                // Only this build has to be within the limits.
                let is_over = at == 0 && (ratio.is_nan() || ratio > *limit);
                let mark = if is_over { " !" } else { "" };
                let cells = [visit.name, shown, build].map(str::to_owned).to_vec();
                let numbers =
                    [format!("{whole:.1}"), format!("{taken:.2}"), format!("{ratio:.3}{mark}"), limit.to_string()];
                slow.row([cells, numbers.to_vec()].concat(), is_over);
            }
        }
        // The largest one would only measure this server.
        if visit.large.size() > 500_000_000 {
            continue;
        }
        server.set(visit, f64::INFINITY);
        let mut measured: Vec<Vec<(f64, f64)>> = vec![Vec::new(); programs.len()];
        for _ in 0..5 {
            for (program, measured) in programs.iter().zip(&mut measured) {
                let (taken, memory) = open(program, &url, demo.token(), visit, Duration::from_secs(60));
                measured.push((taken.last().copied().unwrap_or(f64::NAN), memory));
            }
        }
        let median = |all: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
            let mut all: Vec<f64> = all.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
        };
        let both = |all: &[(f64, f64)]| [median(all, |one| one.0), median(all, |one| one.1)];
        let other = measured.get(1).map(|all| both(all));
        for (at, (program, measured)) in programs.iter().zip(&measured).enumerate() {
            let [taken, memory] = both(measured);
            let ratios = other.map(|[seconds, bytes]| [taken / seconds, memory / bytes]).filter(|_| at == 0);
            let is_over = taken.is_nan() || ratios.is_some_and(|ratios| ratios.iter().any(|ratio| *ratio > MAX_SLOWER));
            let [time, space] =
                ratios.map_or(["-".into(), "-".into()], |ratios| ratios.map(|ratio| format!("{ratio:.2}")));
            let build = if at == 0 { "this" } else { program };
            near.row(
                vec![
                    visit.name.into(),
                    build.to_owned(),
                    format!("{taken:.2}"),
                    time,
                    format!("{memory:.0}"),
                    space,
                    format!("{MAX_SLOWER}{}", if is_over { " !" } else { "" }),
                ],
                is_over,
            );
        }
    }
    support::print_all([slow, near]);
}
