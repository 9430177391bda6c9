//! Benchmarks hitches: the time of a key press and its frame while data streams in, and how far the slowest deviate
//! from the median.

use crate::support::changes::{FILES, reply};
use crate::support::{Table, frame, key, screen, start};
use labscope::api::page::NextPage;
use labscope::api::{Error, Fault};
use labscope::app::App;
use labscope::app::action::{Effect, Msg, Outcome};
use labscope::app::place::Place;
use labscope::runtime::Turn;
use labscope::store::{PER_PAGE, ParsedReply, Task, TaskKey};
use std::collections::VecDeque;
use std::time::Duration;

const SIZE: (u16, u16) = (160, 45);
/// The number of rows in a list.
const ROWS: usize = 100_000;
/// Sizes in bytes: the whole trace, one chunk of it, and the maximum queued for the event loop.
const TRACE: usize = 100_000_000;
const PIECE: usize = 64 * 1024;
const WAITING: usize = 8 << 20;
/// The number of computations that finish between two key presses.
const WORKERS: usize = 2;
/// The time between two key presses, as while a key is held.
const KEY_INTERVAL: Duration = Duration::from_millis(30);
/// The maximum time of a key press and its frame, in milliseconds.
const LONGEST: f64 = 16.0;
/// The 99th percentile may be at most `RATIO` times the median, unless it is below `FELT` milliseconds, which nobody
/// notices.
const RATIO: f64 = 3.0;
const FELT: f64 = 4.0;

/// Returns the CPU time of this thread in milliseconds, so that results do not depend on the load of the machine.
#[cfg(unix)]
fn clock() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a value of that type, which outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

#[cfg(not(unix))]
fn clock() -> f64 {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed().as_secs_f64() * 1e3
}

/// A server: maps a route and a page to the body and whether more pages follow.
type Server<'a> = &'a dyn Fn(&str, usize) -> (Vec<u8>, bool);

/// The app, its pending requests, and its queue of messages.
struct Driver<'a> {
    app: App,
    server: Server<'a>,
    /// The pending requests, each with the number of key presses before it.
    asked: Vec<(Task, u32)>,
    presses: u32,
    inbox: VecDeque<Msg>,
    /// The milliseconds of each key press with its frame, and a label.
    took: Vec<(f64, String)>,
    buffer: ratatui::buffer::Buffer,
}

impl Driver<'_> {
    fn open(place: Place, server: Server<'_>) -> Driver<'_> {
        let (app, effects) = start(place, SIZE);
        let (asked, inbox, took) = Default::default();
        let mut driver = Driver { app, server, asked, presses: 0, inbox, took, buffer: screen(SIZE) };
        driver.take(effects);
        driver
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Start(task) => self.asked.push((task, self.presses)),
                Effect::Cancel(key) => self.asked.retain(|(task, _)| task.key() != key),
                _ => {}
            }
        }
    }

    /// Answers the pending requests. Bodies are decoded and computations run outside the measured time, as in the
    /// program.
    fn answer(&mut self) {
        let mut works = 0;
        for (task, presses) in std::mem::take(&mut self.asked) {
            let age = KEY_INTERVAL * (self.presses - presses);
            let outcome = match &task {
                Task::Load { load, .. } if load.delay > age => {
                    self.asked.push((task, presses));
                    continue;
                }
                Task::Load { load, page, .. } => {
                    let (body, more) = (self.server)(load.request.route, *page as usize);
                    (load.read)(&body, Some("application/json"))
                        .map(|(value, len)| {
                            let next = more.then_some(NextPage::Number(page + 1));
                            let digest = labscope::store::digest(&body);
                            Outcome::Reply(ParsedReply {
                                next,
                                digest,
                                size: body.len(),
                                ..ParsedReply::new(len, value)
                            })
                        })
                        .map_err(|e| Error { tried: load.request.line(), fault: Fault::Missing(e.reason) })
                }
                Task::Work(work) if works < WORKERS => {
                    works += 1;
                    Ok(Outcome::Computed((work.run)(&|| false)))
                }
                Task::Work(_) | Task::Follow(..) => {
                    self.asked.push((task, presses));
                    continue;
                }
                Task::RangeRead(_) => continue,
            };
            self.inbox.push_back(Msg::Arrived(task.key(), outcome));
        }
    }

    /// Runs one turn of the event loop with the queued messages and a key, and draws the frame after it.
    fn press(&mut self, name: &str) {
        self.answer();
        self.presses += 1;
        let what = self.inbox.iter().map(named).max_by_key(String::len).unwrap_or_default();
        let event = key(name);
        let before = clock();
        let mut effects = Vec::new();
        let turn = Turn::start();
        let mut messages = 0;
        while turn.has_room(messages)
            && let Some(msg) = self.inbox.pop_front()
        {
            messages += 1;
            effects.extend(self.app.receive(msg));
        }
        effects.extend(self.app.settle_pending());
        effects.extend(self.app.update(Msg::Key(event)));
        frame(&mut self.app, &mut self.buffer);
        self.took.push((clock() - before, format!("{name} {what}")));
        self.take(effects);
    }

    fn press_all(&mut self, names: &str) {
        names.split(' ').for_each(|name| self.press(name));
    }

    fn shows(&self, words: &str) -> bool {
        let rows = self.buffer.content().chunks(usize::from(SIZE.0));
        rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>()).any(|row| row.contains(words))
    }

    /// Adds a row with the measurements.
    fn report(mut self, name: &str, table: &mut Table) {
        self.took.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = |part: f64| self.took[(self.took.len() as f64 * part) as usize].0;
        let (half, most, worst) = (at(0.5), at(0.99), self.took.last().expect("keys were pressed"));
        let (is_long, is_far) = (worst.0 > LONGEST, most > FELT && most > RATIO * half);
        let mark = |is_over| if is_over { " !" } else { "" };
        let cells = [
            name.to_owned(),
            self.took.len().to_string(),
            format!("{half:.2}"),
            format!("{most:.2}"),
            format!("{:.2}{}", worst.0, mark(is_long)),
            format!("{:.1}{}", most / half, mark(is_far)),
            worst.1.trim().to_owned(),
        ];
        table.row(cells.into(), is_long || is_far);
    }
}

fn named(msg: &Msg) -> String {
    match msg {
        Msg::Arrived(TaskKey::Load(request, _), _) => request.route.rsplit("}/").next().unwrap_or_default().to_owned(),
        Msg::Arrived(TaskKey::Work(work), _) => work.chars().take(24).collect(),
        Msg::Bytes { .. } => "bytes".to_owned(),
        _ => String::new(),
    }
}

fn page(page: usize, row: impl Fn(usize) -> String) -> (Vec<u8>, bool) {
    let size = PER_PAGE as usize;
    let first = page.max(1) * size - size;
    let rows: Vec<String> = (first..(first + size).min(ROWS)).map(row).collect();
    (format!("[{}]", rows.join(",")).into_bytes(), first + size < ROWS)
}

fn branch(n: usize) -> String {
    format!(
        r#"{{"name": "feature/part-{}/change-{n}", "merged": {}, "protected": false, "developers_can_push": false,
            "developers_can_merge": false, "commit": {{"id": "{n:040x}", "short_id": "{n:08x}", "title": "Change {n} of many",
            "message": "Change {n} of many\n\nIt says why.", "author_name": "Ada", "author_email": "ada@example.com",
            "committed_date": "2026-06-15T09:00:00Z", "authored_date": "2026-06-15T09:00:00Z", "parent_ids": []}}}}"#,
        n % 97,
        n.is_multiple_of(3)
    )
}

fn merge_request(n: usize) -> String {
    format!(
        r#"{{"id": {n}, "iid": {n}, "project_id": 1, "title": "Change {n} of many", "state": "opened", "sha": "{n:040x}",
            "description": "A change of **some** parts.\n\n- one\n- two\n\n```rust\nlet n = {n};\n```\n",
            "source_branch": "change-{n}", "target_branch": "main", "labels": ["a", "b{}"], "user_notes_count": {},
            "author": {{"id": {}, "username": "user{}", "name": "User"}}, "upvotes": 1, "downvotes": 0,
            "created_at": "2026-06-15T09:00:00Z", "updated_at": "2026-06-15T09:00:00Z", "web_url": ""}}"#,
        n % 7,
        n % 13,
        n % 50,
        n % 50
    )
}

fn other(route: &str) -> (Vec<u8>, bool) {
    let body: &[u8] = match route {
        "/projects/{id}" => {
            br#"{"id": 1, "name": "p", "path_with_namespace": "a/p", "default_branch": "feature/part-0/change-0"}"#
        }
        "/projects/{id}/jobs/{job_id}" => {
            br#"{"id": 7, "name": "bench", "stage": "test", "status": "running", "pipeline": {"id": 1}}"#
        }
        _ => b"[]",
    };
    (body.to_vec(), false)
}

/// Loads a list to its end, with key presses between the pages.
fn read_list(driver: &mut Driver<'_>, last: &str) {
    for round in 0..ROWS / PER_PAGE as usize / 4 {
        driver.press_all("G G j G k G C-u C-d j");
        if round % 25 == 24 {
            driver.press_all("g g j j C-d k G");
        }
        if round % 50 == 49 {
            driver.press_all("/ c h a n Enter j G Esc j k G");
        }
    }
    driver.press_all("G G G G");
    assert!(driver.shows(last), "the last row is on the screen");
}

fn lists(table: &mut Table) {
    let branches = |route: &str, number: usize| match route {
        "/projects/{id}/repository/branches" => page(number, branch),
        "/projects/{id}/repository/branches/{branch}" => (branch(0).into_bytes(), false),
        route => other(route),
    };
    let mut driver = Driver::open(Place::new("branches").project("a/p"), &branches);
    read_list(&mut driver, &format!("change-{}", ROWS - 1));
    driver.report("100,000 branches", table);

    let requests = |route: &str, number: usize| match route {
        "/projects/{id}/merge_requests" => page(number, merge_request),
        route => other(route),
    };
    let mut driver = Driver::open(Place::new("mrs").project("a/p"), &requests);
    read_list(&mut driver, &format!("Change {} ", ROWS - 1));
    driver.report("100,000 merge requests", table);
}

/// Follows a job whose trace arrives as fast as the event loop processes it.
fn trace(table: &mut Table) {
    let mut driver = Driver::open(Place::new("job").project("a/p").item(7), &|route, _| other(route));
    driver.press_all("j k");
    let follow =
        driver.asked.iter().find_map(|(task, _)| if let Task::Follow(one, _) = task { Some(one) } else { None });
    let request = follow.expect("the pane follows the trace").request.clone();
    driver.took.clear();
    let (mut sent, mut line) = (0, 0_u32);
    let mut text = Vec::new();
    let keys = "j k C-u C-d G g g j C-d G j k / w a r n Enter n n Esc G".split(' ').cycle();
    for name in keys {
        // Chunks read from the connection are queued for the event loop, up to a limit.
        let is_bytes = |msg: &&Msg| matches!(msg, Msg::Bytes { .. });
        while sent < TRACE && driver.inbox.iter().filter(is_bytes).count() < WAITING / PIECE {
            text.clear();
            while text.len() < PIECE {
                let row = match line.is_multiple_of(89) {
                    true => format!("\x1b[33mwarning: unused value in step {line}\x1b[0m\n"),
                    false => format!("\x1b[32m   Compiling\x1b[0m crate-{} v0.{line}.0 (/builds/a/p)\n", line % 97),
                };
                text.extend_from_slice(row.as_bytes());
                line += 1;
            }
            sent += text.len();
            let bytes = text.clone().into();
            driver.inbox.push_back(Msg::Bytes { request: request.clone(), bytes, restart: false });
        }
        if sent >= TRACE && driver.inbox.is_empty() {
            break;
        }
        driver.press(name);
    }
    // The trace may end while a search is typed.
    driver.press_all("Esc G j k");
    let last = line - 1;
    let is_shown = driver.shows(&format!("v0.{last}.0")) || driver.shows(&format!("step {last}"));
    assert!(is_shown, "the last line is on the screen");
    driver.report("a trace of 100 MB", table);
}

fn diff(table: &mut Table) {
    let body = reply();
    let server = |route: &str, _: usize| match route {
        route if route.ends_with("/changes") => (body.clone(), false),
        route => other(route),
    };
    let mut driver = Driver::open(Place::new("mr").project("a/p").item(7).tab("changes"), &server);
    driver.press_all("j k Tab");
    for _ in 0..8 {
        driver.press_all("j j k C-d C-u G k k j g g j C-d C-d C-d G C-u C-u g g");
        driver.press_all("/ v a l u e Enter n n n Esc j k s j s k");
    }
    driver.press_all("G j");
    assert!(driver.shows(&format!("impl Table{} ", FILES - 1)), "the last file is on the screen");
    driver.report("a diff of 200,000 lines", table);
}

pub fn run(_: &[String]) {
    let head = ["what arrives", "keys", "p50 ms", "p99 ms", "worst ms", "p99/p50", "the worst"];
    let mut table = Table::new("A key press and its frame while data arrives", &head);
    lists(&mut table);
    trace(&mut table);
    diff(&mut table);
    table.print();
}
