//! Benchmarks a large trace: opening it over HTTP against plainly reading the same bytes and against `less` and `lnav`
//! on a file, searching against the regex engine alone, comparing it with another run, following while it grows fast,
//! drawing its end, its memory, and the cost of watching it while nothing happens.

use crate::support::held;
use crate::support::session::Session;
use crate::support::{Table, frame, key, median, screen, start};
use jiff::Timestamp;
use labscope::api::client::{Client, Server};
use labscope::app::App;
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::app::place::Place;
use labscope::runtime::executor::Executor;
use labscope::store::{ParsedReply, Task, TaskKey};
use labscope::ui::trace::{Patterns, Trace};
use ratatui::buffer::Buffer;
use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

const SIZE: (u16, u16) = (160, 45);
const MEGA: usize = 1_000_000;
/// The size of a chunk that the app receives at once.
const CHUNK: usize = 64 * 1024;
/// The bytes per second of a followed trace, and the frames drawn per second meanwhile.
const RATE: usize = 50 * MEGA;
const FRAMES: usize = 60;
const LABSCOPE: &str = env!("CARGO_BIN_EXE_labscope");
const LAST: &str = "the very last line 7f3a";
const SOUGHT: &str = r"warn\w*: .* 99\d\d7\b";
const RARE: &str = LAST;
/// Words that a search for errors needs at least.
const ERRORS: &str = "[eE]rror:|ERROR|FAILED|FAIL:|panicked at|[fF]atal:|FATAL|Traceback \\(|npm ERR!|Segmentation|\
                      Exception in|Job failed";

/// Generates a trace like a compiler's output: colors, sections, and occasional warnings.
fn trace(bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 200);
    lines(0, bytes, &mut text);
    text.extend_from_slice(LAST.as_bytes());
    text.push(b'\n');
    text
}

/// Appends at least `bytes` bytes of lines, numbered from `first`; returns the number of the next line.
fn lines(first: u64, bytes: usize, text: &mut Vec<u8>) -> u64 {
    let start = text.len();
    let mut line = first;
    while text.len() - start < bytes {
        let row = match line % 97 {
            0 => format!("\x1b[33mwarning: unused value in step {line}\x1b[0m\n"),
            n => {
                format!("\x1b[32m   Compiling\x1b[0m crate-{n} v0.{line}.0 (/builds/acme/rocket-ui/crates/part_{n})\n")
            }
        };
        text.extend_from_slice(row.as_bytes());
        line += 1;
    }
    line
}

fn job(status: &str) -> String {
    format!(r#"{{"id": 7, "name": "bench", "stage": "test", "status": "{status}", "pipeline": {{"id": 1}}}}"#)
}

/// Serves one job, whose trace is `bytes` repeated `times` times; returns the address and the number of requests so
/// far.
async fn serve(bytes: Arc<Vec<u8>>, times: usize, status: &'static str) -> std::io::Result<(String, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (bytes, count) = (bytes.clone(), count.clone());
            tokio::spawn(async move {
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => request.push(byte),
                        Err(_) => return,
                    }
                }
                count.fetch_add(1, Ordering::Relaxed);
                let line = String::from_utf8_lossy(&request);
                let target = line.split(' ').nth(1).unwrap_or_default();
                let answer = job(status);
                let (body, times): (&[u8], usize) = match target.split('?').next().unwrap_or_default() {
                    path if path.ends_with("/trace") => (&bytes, times),
                    path if path.ends_with("/jobs/7") => (answer.as_bytes(), 1),
                    path if path.ends_with("/jobs") => (b"[]", 1),
                    _ => (br#"{"id": 1, "name": "p", "path_with_namespace": "a/p", "default_branch": "main"}"#, 1),
                };
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len() * times
                );
                let _ = stream.write_all(head.as_bytes()).await;
                for _ in 0..times {
                    let _ = stream.write_all(body).await;
                }
            });
        }
    });
    Ok((url, asked))
}

fn app() -> (App, Vec<Effect>) {
    start(Place::new("job").project("a/p").item(7), SIZE)
}

fn shows(buffer: &Buffer, words: &str) -> bool {
    let width = usize::from(buffer.area.width);
    buffer.content().chunks(width).any(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().contains(words))
}

/// Opens the job over HTTP until its last line is on the screen; returns the seconds.
async fn open(url: &str) -> f64 {
    let start = Instant::now();
    let (sender, mut inbox) = mpsc::channel(256);
    let server = Server::new(url.parse().expect("an address"));
    let mut executor = Executor::new(Box::new(move || Client::new(server)), sender, None, None);
    let (mut app, effects) = app();
    let mut buffer = screen(SIZE);
    effects.into_iter().for_each(|effect| _ = executor.take(effect));
    loop {
        let Some(first) = inbox.recv().await else { return f64::NAN };
        // Processes all queued messages and then draws one frame, as the event loop of the program does.
        let mut waiting = Some(first);
        let mut ended = false;
        while let Some(msg) = waiting {
            if let Some(msg) = msg.unless_stopped() {
                ended |= matches!(msg, Msg::Arrived(TaskKey::Follow(_), _));
                app.receive(msg).into_iter().for_each(|effect| _ = executor.take(effect));
            }
            waiting = inbox.try_recv().ok();
        }
        app.settle_pending().into_iter().for_each(|effect| _ = executor.take(effect));
        if ended {
            app.update(Msg::Key(key("G"))).into_iter().for_each(|effect| _ = executor.take(effect));
        }
        frame(&mut app, &mut buffer);
        if shows(&buffer, LAST) {
            return start.elapsed().as_secs_f64();
        }
    }
}

/// Reads the same bytes and keeps them; returns the seconds.
async fn plain(url: &str) -> f64 {
    let start = Instant::now();
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let trace = format!("{url}/api/v4/projects/a%2Fp/jobs/7/trace");
    let mut reply = http.get(trace).send().await.expect("a reply");
    let mut all = Vec::new();
    while let Some(chunk) = reply.chunk().await.expect("bytes") {
        all.extend_from_slice(&chunk);
    }
    black_box(all.len());
    start.elapsed().as_secs_f64()
}

/// Answers all requests except the trace; returns the request of the trace and the remaining computations.
fn answer(app: &mut App, effects: Vec<Effect>) -> (Option<labscope::api::Request>, Vec<Effect>) {
    let (mut todo, mut left, mut follow) = (effects, Vec::new(), None);
    while let Some(effect) = todo.pop() {
        let Effect::Start(task) = effect else { continue };
        let body = match &task {
            Task::Load { load, .. } if load.request.route.ends_with("/{job_id}") => job("running").into_bytes(),
            Task::Load { load, .. } if load.pages > 0 => b"[]".to_vec(),
            Task::Load { .. } => br#"{"id": 1, "name": "p", "path_with_namespace": "a/p"}"#.to_vec(),
            Task::Follow(one, _) => {
                follow = Some(one.request.clone());
                continue;
            }
            _ => {
                left.push(Effect::Start(task));
                continue;
            }
        };
        let Task::Load { load, .. } = &task else { continue };
        let Ok((value, len)) = (load.read)(&body, Some("application/json")) else { continue };
        let reply = Outcome::Reply(ParsedReply::new(len, value));
        todo.extend(app.update(Msg::Arrived(task.key(), Ok(reply))));
    }
    (follow, left)
}

/// Returns the allocated bytes once the number is stable: other threads may still be freeing memory.
fn settled() -> usize {
    loop {
        let before = held::bytes();
        std::thread::sleep(Duration::from_millis(300));
        if held::bytes() == before {
            return before;
        }
    }
}

/// Builds the app with the whole trace loaded; also returns the bytes allocated before.
fn filled(text: &[u8]) -> (App, labscope::api::Request, usize) {
    let (mut app, effects) = app();
    let (follow, _) = answer(&mut app, effects);
    let request = follow.expect("the pane follows the trace");
    let before = settled();
    for chunk in text.chunks(CHUNK) {
        app.update(Msg::Bytes { request: request.clone(), bytes: chunk.to_vec().into(), restart: false });
    }
    (app, request, before)
}

/// Runs the app's own search, on this thread; returns the seconds it takes to find all matches, and their number.
fn search(app: &mut App, filter_text: &str) -> (f64, usize) {
    app.update(Msg::Key(key("/")));
    let mut effects = app.update(Msg::Paste(filter_text.into()));
    effects.extend(app.update(Msg::Key(key("Enter"))));
    let start = Instant::now();
    for effect in effects {
        if let Effect::Start(task @ Task::Work(work)) = &effect {
            let made = (work.run)(&|| false);
            app.update(Msg::Arrived(task.key(), Ok(Outcome::Computed(made))));
        }
    }
    let took = start.elapsed().as_secs_f64();
    let mut buffer = screen(SIZE);
    frame(app, &mut buffer);
    let found = counted(&buffer);
    // Esc ends the search; without a search, this key would leave the place.
    app.update(Msg::Key(key("Esc")));
    (took, found)
}

/// Returns the number of matches that the screen shows: `1 of 12`, `1 of 10000+`.
fn counted(buffer: &Buffer) -> usize {
    let width = usize::from(buffer.area.width);
    let count = |row: &[ratatui::buffer::Cell]| {
        let text: String = row.iter().map(|cell| cell.symbol()).collect();
        let (_, count) = text.trim_end_matches([' ', '│']).rsplit_once(" of ")?;
        count.trim_end_matches('+').parse().ok()
    };
    buffer.content().chunks(width).find_map(count).unwrap_or(0)
}

/// Searches the same bytes with the regex engine alone, up to the app's limit; returns the seconds and the number of
/// matches.
fn engine(text: &[u8], filter_text: &str) -> (f64, usize) {
    let pattern = regex::bytes::Regex::new(&format!("(?i){filter_text}")).expect("a pattern");
    let start = Instant::now();
    let count = black_box(pattern.find_iter(text).take(labscope::ui::search::MAX_MATCHES).count());
    (start.elapsed().as_secs_f64(), count)
}

/// Draws frames of a fast-growing trace; returns the sorted milliseconds of each with its incoming bytes, and the
/// number of frames that lacked the newest line.
fn follow(seconds: usize) -> (Vec<f64>, usize) {
    let (mut app, effects) = app();
    let (request, _) = answer(&mut app, effects);
    let request = request.expect("the pane follows the trace");
    let mut buffer = screen(SIZE);
    let (mut took, mut missed, mut next) = (Vec::new(), 0, 0);
    let mut text = Vec::new();
    for _ in 0..seconds * FRAMES {
        text.clear();
        next = lines(next, RATE / FRAMES, &mut text);
        let start = Instant::now();
        for chunk in text.chunks(CHUNK) {
            let effects =
                app.update(Msg::Bytes { request: request.clone(), bytes: chunk.to_vec().into(), restart: false });
            black_box(effects.len());
        }
        frame(&mut app, &mut buffer);
        took.push(start.elapsed().as_secs_f64() * 1e3);
        let newest = next - 1;
        let words = if newest % 97 == 0 { format!("in step {newest}") } else { format!("v0.{newest}.0 ") };
        missed += usize::from(!shows(&buffer, &words));
    }
    took.sort_by(f64::total_cmp);
    (took, missed)
}

/// Returns environment variables that hide the user's own configuration from a program.
fn alone(home: &str) -> [(&str, &str); 6] {
    [
        ("HOME", home),
        ("XDG_CONFIG_HOME", home),
        ("XDG_DATA_HOME", home),
        ("XDG_CACHE_HOME", home),
        ("LABSCOPE_TOKEN", "a-token"),
        ("LESS", "-nfR"),
    ]
}

/// Starts a program; returns the milliseconds until it shows the last line, and the program, which is still running.
fn shown(program: &str, arguments: &[&str], home: &str) -> Option<(f64, Session)> {
    let mut session = Session::start(program, arguments, &alone(home));
    match session.shows(LAST, Duration::from_secs(60)) {
        Some(took) => Some((took, session)),
        None => {
            session.end();
            None
        }
    }
}

/// Returns whether a program is installed.
fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn cells(what: &str, value: String, limit: &str) -> Vec<String> {
    vec![what.to_owned(), String::new(), value, String::new(), limit.to_owned()]
}

/// Compares the program, over HTTP until the last line is shown, with other programs on a file of the same bytes.
fn beside_others(text: &Arc<Vec<u8>>, megabytes: usize, table: &mut Table, url: &str) -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().to_string_lossy().into_owned();
    let file = folder.path().join("trace.log");
    std::fs::write(&file, text.as_slice())?;
    let file = file.to_string_lossy().into_owned();
    let time = |program: &str, arguments: &[&str]| {
        let mut all: Vec<f64> = (0..3)
            .filter_map(|_| {
                let (took, session) = shown(program, arguments, &home)?;
                session.end();
                Some(took)
            })
            .collect();
        all.sort_by(f64::total_cmp);
        all.get(1).copied()
    };
    let own = time(LABSCOPE, &["--host", url, "a/p/-/jobs/7"]).unwrap_or(f64::INFINITY);
    // less jumps to the end of the file without reading the rest; lnav indexes every line, as labscope does.
    let bars = [("less", vec!["+G", &file], None), ("lnav", vec![&file], Some(1.0))];
    for (program, arguments, limit) in bars {
        let what = format!("{megabytes} MB: from exec to its last line, beside {program} on a file (ms)");
        if !installed(program) {
            table.row(cells(&format!("{what}: not installed"), format!("{own:.1}"), "-"), false);
        } else if let Some(other) = time(program, &arguments) {
            match limit {
                Some(limit) => table.ratio(&what, (other, own), limit),
                None => table.row(cells(&format!("{what}: {other:.1}"), format!("{own:.1}"), "-"), false),
            }
        } else {
            table.row(cells(&format!("{what}: text not shown"), format!("{own:.1}"), "-"), false);
        }
    }
    Ok(())
}

/// Compares the program's memory, with a trace much larger than its limit, to that limit.
fn memory(table: &mut Table, runtime: &tokio::runtime::Runtime) -> std::io::Result<()> {
    let (times, kept) = (20, 64.0);
    let piece = Arc::new(trace(100 * MEGA));
    let (url, _) = runtime.block_on(serve(piece, times, "success"))?;
    let folder = tempfile::tempdir()?;
    let home = folder.path().to_string_lossy().into_owned();
    let mut session = Session::start(LABSCOPE, &["--host", &url, "a/p/-/jobs/7"], &alone(&home));
    // The status bar shows the total size once everything is loaded.
    let whole =
        session.shows("2.0 GB", Duration::from_secs(120)).or_else(|| session.shows("1.9 GB", Duration::from_secs(5)));
    session.quiet();
    std::thread::sleep(Duration::from_secs(2));
    let held = session.memory("RssAnon").zip(whole).map_or(f64::INFINITY, |(held, _)| held);
    let most = session.memory("VmHWM").unwrap_or(f64::NAN);
    session.end();
    let what = "2 GB: memory of the program, beside what it may keep of a trace (MB)";
    table.ratio(what, (kept, held), 2.0);
    table.row(cells("2 GB: the most that it had meanwhile (MB)", format!("{most:.1}"), "-"), false);
    Ok(())
}

/// Returns the CPU time of the whole program while a quiet job is followed, in milliseconds per minute.
fn idle_processor(runtime: &tokio::runtime::Runtime) -> std::io::Result<Option<f64>> {
    let (url, _) = runtime.block_on(serve(Arc::new(format!("{LAST}\n").into_bytes()), 1, "running"))?;
    let folder = tempfile::tempdir()?;
    let home = folder.path().to_string_lossy().into_owned();
    let Some((_, session)) = shown(LABSCOPE, &["--host", &url, "a/p/-/jobs/7"], &home) else { return Ok(None) };
    std::thread::sleep(Duration::from_secs(15));
    let before = session.processor();
    std::thread::sleep(Duration::from_secs(60));
    let used = session.processor().zip(before).map(|(after, before)| after - before);
    session.end();
    Ok(used)
}

/// Returns the requests per minute while a quiet job is watched, measured after a warm-up.
async fn idle() -> std::io::Result<f64> {
    let (url, asked) = serve(Arc::new(b"waiting\n".to_vec()), 1, "running").await?;
    let (sender, mut inbox) = mpsc::channel(256);
    let server = Server::new(url.parse().expect("an address"));
    let mut executor = Executor::new(Box::new(move || Client::new(server)), sender, None, None);
    let (mut app, effects) = app();
    effects.into_iter().for_each(|effect| _ = executor.take(effect));
    let start = Instant::now();
    let (warm, whole) = (Duration::from_secs(20), Duration::from_secs(50));
    let mut before = 0;
    while start.elapsed() < whole {
        if let Ok(Some(msg)) = tokio::time::timeout(Duration::from_millis(250), inbox.recv()).await {
            app.update(msg).into_iter().for_each(|effect| _ = executor.take(effect));
        }
        // The program's clock, which makes panes poll again.
        let now = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_millis(start.elapsed().as_millis() as i64);
        app.update(Msg::Now(now)).into_iter().for_each(|effect| _ = executor.take(effect));
        if start.elapsed() < warm {
            before = asked.load(Ordering::Relaxed);
        }
    }
    let seconds = (whole - warm).as_secs_f64();
    Ok((asked.load(Ordering::Relaxed) - before) as f64 * 60.0 / seconds)
}

/// Returns the available memory in megabytes, or 0 if the system does not tell.
fn available() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or(0) / 1024
}

fn measure(megabytes: usize, table: &mut Table, runtime: &tokio::runtime::Runtime) {
    let text = Arc::new(trace(megabytes * MEGA));
    let name = |what: &str| format!("{megabytes} MB: {what}");
    let (url, _) = runtime.block_on(serve(text.clone(), 1, "success")).expect("a server");
    let mut reading = Vec::new();
    let mut opening = Vec::new();
    for _ in 0..3 {
        reading.push(runtime.block_on(plain(&url)) * 1e3);
        opening.push(runtime.block_on(open(&url)) * 1e3);
    }
    reading.sort_by(f64::total_cmp);
    opening.sort_by(f64::total_cmp);
    table.ratio(&name("open to its last line, beside plainly reading it (ms)"), (reading[1], opening[1]), 4.0);

    let (mut app, _, before) = filled(&text);
    let held = held::bytes().saturating_sub(before);
    table.ratio(&name("bytes held, beside its size (MB)"), (text.len() as f64 / 1e6, held as f64 / 1e6), 1.5);
    let mut buffer = screen(SIZE);
    app.update(Msg::Key(key("g")));
    app.update(Msg::Key(key("g")));
    let start = median(31, || frame(&mut app, &mut buffer));
    app.update(Msg::Key(key("G")));
    let end = median(31, || frame(&mut app, &mut buffer));
    table.ratio(&name("a frame at the start · at the end (µs)"), (start, end), 2.0);
    // The engine reads the bytes as they are. The app removes the colors first, because a match may contain colors, but
    // only from lines that may have one.
    for (what, filter_text) in [("an expression", SOUGHT), ("a word that is rare", RARE)] {
        let (alone, expected) = engine(&text, filter_text);
        let (took, found) = search(&mut app, filter_text);
        let what = format!("{}, beside the engine on the same bytes (ms)", name(&format!("search for {what}")));
        table.ratio(&what, (alone * 1e3, took * 1e3), 3.0);
        table.row(
            cells(&name("matches, and what the engine found"), format!("{found} of {expected}"), "="),
            found != expected || found == 0,
        );
    }
    beside_others(&text, megabytes, table, &url).expect("a folder for a file");
}

/// Compares a trace with that of another run, of `megabytes` each: the memory that it takes meanwhile, and the time
/// beside that of hashing the lines of both.
fn compare(megabytes: usize, table: &mut Table) {
    let mut text = trace(megabytes * MEGA);
    let document = |text: &[u8]| {
        let mut trace = Trace::default();
        text.chunks(CHUNK).for_each(|chunk| trace.push(chunk));
        trace
    };
    let passed = document(&text);
    let words = regex::bytes::Regex::new(ERRORS).expect("a pattern");
    let alone = median(9, || _ = black_box(words.find_iter(&text).count()));
    let forms = Patterns::default().errors;
    let found = median(9, || _ = black_box(passed.matching_lines(&forms, 10_000, &|| false)));
    let what = format!("{megabytes} MB: find errors, beside the engine with a dozen words on the same bytes (ms)");
    table.ratio(&what, (alone / 1e3, found / 1e3), 1.1);
    text.extend_from_slice(b"error: the other run does not say this\n");
    let failed = document(&text);
    let start = Instant::now();
    for _ in 0..2 {
        for line in text.split(|byte| *byte == b'\n') {
            let mut hasher = DefaultHasher::new();
            hasher.write(line);
            black_box(hasher.finish());
        }
    }
    let hashing = start.elapsed();
    drop(text);
    let start = Instant::now();
    let (most, found) = held::most_during(|| failed.compare(&passed, &[], &|| false));
    let took = start.elapsed();
    let name = |what: &str| format!("two runs of {megabytes} MB: {what}");
    let (hashing, took) = (hashing.as_secs_f64() * 1e3, took.as_secs_f64() * 1e3);
    table.ratio(&name("comparing, beside hashing their lines (ms)"), (hashing, took), 30.0);
    let most = most as f64 / 1e6;
    table.row(cells(&name("memory that it takes (MB)"), format!("{most:.0}"), "200"), most > 200.0);
    // Beyond the different lines that are remembered, all count as new; the screen marks their number with a plus.
    let new = if found.cut.is_some() { "too many different lines".to_owned() } else { found.new_lines.to_string() };
    table.row(cells(&name("new lines"), new, "1"), found.new_lines != 1 && found.cut.is_none());
}

pub fn run(_: &[String]) {
    // The plain HTTP client below needs a TLS provider before any labscope client installs one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let mut table = Table::new("A large trace", &["measurement", "baseline", "labscope", "ratio", "limit"]);
    measure(100, &mut table, &runtime);
    if available() > 6_000 {
        measure(1000, &mut table, &runtime);
    }
    compare(100, &mut table);
    if available() > 6_000 {
        compare(1000, &mut table);
    }
    memory(&mut table, &runtime).expect("a server");
    let (took, missed) = follow(4);
    let at = |part: usize| took.get(took.len() * part / 100).or(took.last()).copied().unwrap_or(f64::INFINITY);
    let time = 1e3 / FRAMES as f64;
    table.ratio("50 MB/s for 4 s: 99 of 100 frames take at most, beside the time there is (ms)", (time, at(99)), 1.0);
    table.row(cells("50 MB/s for 4 s: the longest frame (ms)", format!("{:.1}", at(100)), "-"), false);
    table.row(cells("50 MB/s for 4 s: frames without the newest line, of 240", format!("{missed}"), "0"), missed > 0);
    let requests = runtime.block_on(idle()).expect("a server");
    let what = "a quiet job: requests a minute";
    table.row(cells(what, format!("{requests:.0}"), "60"), !(1.0..=60.0).contains(&requests));
    let used = idle_processor(&runtime).expect("a server").unwrap_or(f64::INFINITY);
    table.row(cells("a quiet job: time of the processor a minute (ms)", format!("{used:.0}"), "600"), used > 600.0);
    table.print();
}
