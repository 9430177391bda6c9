//! A monkey test of every place: random keys, mouse events and terminal sizes, over a server that answers late, out of
//! order, or not at all. The invariants of all places are checked after each step.
//!
//! The random numbers are seeded and nothing depends on timing, so failures are reproducible. Each run covers a sample of
//! the seeds.

use crate::dice::Dice;
use crate::harness::{Begin, Harness};
use crate::sample::{Sample, length};
use crate::served::demo;
use crossterm::event::{MouseButton, MouseEventKind};
use labscope::api::Fault;
use labscope::api::client::{Client, Server};
use labscope::app::Place;
use labscope::app::global::GLOBAL;
use labscope::backend::RunningServer;
use labscope::panes::PANES;
use reqwest::Method;
use secrecy::SecretString;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The usual number of rounds in a place.
const ROUNDS: usize = 7;
/// The number of steps of a round, after which the place is reopened; otherwise most steps would happen elsewhere.
const ROUND: usize = 40;
/// Keys pressed in any place; repeated ones are pressed more often.
const KEYS: &str = "j j j j k k h l G G g C-d C-u Enter Enter Esc Esc Tab Tab Space n N r q : ? a C-p 1 2 3 4 y";
/// Key sequences that type texts into whatever is open.
const TEXTS: &[&str] =
    &["/ r o w s Enter", "/ z z z Enter", ": j o b s Enter", "? / X", "C-p r e a d Enter", "L 7 Enter"];
/// Widths and heights of the terminal.
const SIZES: &[(u16, u16)] = &[(120, 40), (80, 24), (160, 45), (60, 12), (20, 8), (7, 3), (1, 1), (200, 60)];
/// Parts of request lines of destructive writes, which must never be sent without a question.
const DESTROYS: &[&str] = &["DELETE ", "/erase", "/merged_branches"];

/// A single step.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Keys(String),
    Mouse(MouseEventKind, u16, u16),
    Size(u16, u16),
    Seconds(i64),
    /// The server answers a pending effect, given by its line.
    Answers(String),
    /// A pending effect fails.
    Fails(String, Fault),
    /// The server accepts a pending write.
    Succeeds(String),
}

impl Step {
    fn of_chance(dice: &mut Dice, app: &Harness) -> Step {
        let mut waiting = app.waiting();
        waiting.sort();
        match dice.below(100) {
            0..50 if !waiting.is_empty() => {
                let line = waiting[dice.below(waiting.len())].clone();
                match dice.below(12) {
                    0 => Step::Fails(line, Fault::Offline("connection refused by demo.test".into())),
                    1 => Step::Fails(line, Fault::Denied("403 Forbidden".into())),
                    2 => Step::Fails(line, Fault::Missing("404 Not Found".into())),
                    3.. if is_write(&line) => Step::Succeeds(line),
                    _ => Step::Answers(line),
                }
            }
            0..65 => {
                let here = app.app.place().pane;
                let entry = PANES.iter().find(|entry| entry.place.id == here);
                let own = entry.map(|entry| entry.listed_commands()).unwrap_or_default();
                let all: Vec<&str> = own.iter().flat_map(|info| info.keys.iter().copied()).collect();
                Step::Keys(if all.is_empty() { "Tab" } else { dice.pick(&all) }.to_owned())
            }
            65..85 => Step::Keys(dice.pick(&KEYS.split(' ').collect::<Vec<_>>()).to_owned()),
            85..88 => {
                let all: Vec<&str> = GLOBAL.iter().flat_map(|command| command.info().keys.iter().copied()).collect();
                Step::Keys(dice.pick(&all).to_owned())
            }
            88..91 => Step::Keys(dice.pick(TEXTS).to_owned()),
            91..96 => {
                let (width, height) = app.size();
                let kinds = [
                    MouseEventKind::Down(MouseButton::Left),
                    MouseEventKind::Drag(MouseButton::Left),
                    MouseEventKind::Up(MouseButton::Left),
                    MouseEventKind::ScrollDown,
                    MouseEventKind::ScrollUp,
                ];
                let kind = kinds[dice.below(kinds.len())];
                Step::Mouse(kind, dice.below(width.into()) as u16, dice.below(height.into()) as u16)
            }
            96..98 => {
                let (width, height) = SIZES[dice.below(SIZES.len())];
                Step::Size(width, height)
            }
            _ => Step::Seconds([1, 3, 20][dice.below(3)]),
        }
    }

    fn take(&self, app: &mut Harness) {
        let index = |line: &str, app: &Harness| app.waiting().iter().position(|waits| waits == line);
        match self {
            Step::Keys(keys) => _ = app.press(keys),
            Step::Mouse(kind, column, row) => app.mouse(*kind, *column, *row),
            Step::Size(width, height) => _ = app.resize(*width, *height),
            Step::Seconds(seconds) => _ = app.pass(*seconds),
            Step::Answers(line) => _ = index(line, app).map(|index| app.answer(index)),
            Step::Fails(line, fault) => {
                if let Some(index) = index(line, app) {
                    app.break_off(index, fault.clone());
                }
            }
            Step::Succeeds(line) => {
                let bodies = [r#"{"id": 900, "iid": 900, "title": "made", "name": "made"}"#, "{}", "[]", ""];
                let bodies = bodies.map(str::to_owned);
                _ = index(line, app).map(|index| app.succeed(index, &bodies));
            }
        }
    }
}

/// Returns whether a pending line is a write.
fn is_write(line: &str) -> bool {
    ["POST ", "PUT ", "DELETE "].iter().any(|method| line.starts_with(method))
}

/// The state compared before and after a step.
struct Seen {
    place: Place,
    footer: String,
    asks: bool,
    asked: usize,
}

impl Seen {
    fn of(app: &Harness) -> Seen {
        let footer = app.lines().last().map(|line| line.trim_end_matches("? help").trim().to_owned());
        Seen {
            place: app.app.place(),
            footer: footer.unwrap_or_default(),
            asks: has_popup(app) && [" yes   n", "Enter does it", "C-s", "M-s"].iter().any(|words| app.shows(words)),
            asked: app.asked.len(),
        }
    }

    /// Returns the message in the footer, unless it shows key hints.
    fn message(&self) -> Option<&str> {
        Some(self.footer.as_str()).filter(|words| words.contains(": ") || words.ends_with('.'))
    }
}

/// Returns whether an overlay is open.
fn has_popup(app: &Harness) -> bool {
    app.lines().iter().any(|line| line.contains('╭'))
}

/// Places with a single list, and the title of its first column.
const LISTS: &[(&str, &str)] = &[
    ("projects", "Project"),
    ("mrs", "Title"),
    ("branches", "Branch"),
    ("tags", "Tag"),
    ("users", "User"),
    ("hooks", "URL"),
    ("snippets", "ID"),
    ("runners", "Runner"),
];

/// Returns the number of rows that the first line reports: `7`, `100+`, `3 of 119`.
fn counted(first: &str) -> Option<usize> {
    let number = |words: &str| {
        let (number, rest) = words.split_once(' ').unwrap_or((words, "of"));
        number.trim_end_matches('+').replace(',', "").parse().ok().filter(|_| rest.starts_with("of"))
    };
    first.split("  ").map(str::trim).filter_map(number).last()
}

/// Returns the problem with a list, if any: its first line reports another number of rows than it shows, or no row is
/// selected.
fn wrong_list(pane: &str, app: &Harness) -> Option<String> {
    let title = LISTS.iter().find(|(id, _)| *id == pane).map(|(_, title)| title)?;
    let lines = app.lines();
    let count = counted(lines.first()?).filter(|_| !has_popup(app))?;
    let left = |line: &str| line.split('│').next().unwrap_or_default().trim_end().to_owned();
    let head =
        lines.iter().take(4).position(|line| left(line).split(' ').find(|word| !word.is_empty()) == Some(title))?;
    if lines[head].contains('─') {
        return None;
    }
    let body: Vec<String> = lines[head + 1..lines.len() - 1].iter().map(|line| left(line)).collect();
    let is_row = |line: &&String| !line.is_empty() && !line.contains(" retries");
    let rows: Vec<&String> = body.iter().take_while(is_row).collect();
    // Rows may be missing if a page failed or is loading.
    let is_whole = !body.iter().any(|line| line.contains(" retries"));
    let wrong = if rows.len() < body.len() && is_whole { rows.len() != count } else { rows.len() > count };
    if wrong {
        return Some(format!("{count} rows are counted and {} are shown", rows.len()));
    }
    if !rows.is_empty() && !rows.iter().any(|line| line.starts_with('▌')) {
        return Some("no row is selected".into());
    }
    None
}

/// Returns the problem with the screen after a step, if any.
fn wrong(step: &Step, before: &Seen, app: &Harness) -> Option<String> {
    let after = Seen::of(app);
    let moved = before.place.pane != after.place.pane;
    if let (Step::Keys(_), true, Some(words)) = (step, moved, after.message())
        && before.message() == Some(words)
    {
        return Some(format!("{words:?} was said of another place"));
    }
    for line in &app.asked[before.asked..] {
        if DESTROYS.iter().any(|words| line.contains(words)) && !line.starts_with("GET ") && !before.asks {
            return Some(format!("{line} went out without a question"));
        }
    }
    if after.message().is_some_and(|words| words.ends_with(" is still loading")) && app.waiting().is_empty() {
        return Some(format!("{:?}, and nothing is on its way", after.footer));
    }
    if let Some(why) = wrong_list(&after.place.pane, app) {
        return Some(why);
    }
    // A message may be covered and reappear.
    let news = after.message().filter(|words| before.message() != Some(words) && matches!(step, Step::Keys(_)))?;
    if has_popup(app) {
        return None;
    }
    let lines = app.lines();
    // In other places, the cursor may be on a heading, or a pipeline board is beside the list.
    let is_list = !["home", "jobs", "pipelines"].contains(&after.place.pane.as_str());
    let has_rows = lines.iter().any(|line| line.starts_with('▌')) && !lines[0].contains(" 0 ");
    // A folder is selected instead of a file.
    if news.ends_with(" is selected") && !news.ends_with("no file is selected") && !moved && is_list && has_rows {
        return Some(format!("{news:?}, and something is"));
    }
    None
}

/// The replies of the demo world; each is requested only once.
pub struct World {
    client: Client,
    replies: HashMap<String, (u16, bool, Vec<u8>)>,
}

impl World {
    /// Returns the world served by `running`, as its administrator sees it.
    pub fn of(running: &RunningServer) -> World {
        World::for_user(running, "root")
    }

    /// Returns the world served by `running`, as a user sees it.
    pub fn for_user(running: &RunningServer, username: &str) -> World {
        let mut server = Server::new(running.base_url.parse().expect("the address of a server"));
        server.token = Some(SecretString::from(running.tokens[username].clone()));
        World { client: Client::new(server).expect("a client"), replies: HashMap::new() }
    }

    /// Scripts the replies to all pending reads.
    pub async fn prepare(&mut self, app: &mut Harness) {
        for line in app.reads() {
            let Some(target) = line.strip_prefix("GET ").filter(|_| !app.knows(&line)) else { continue };
            if !self.replies.contains_key(&line) {
                let form = [("per_page".to_owned(), "100".to_owned())];
                let reply = self.client.raw(Method::GET, target, &form).await.expect("the demo world answers");
                let is_json = reply.content_type.is_some_and(|kind| kind.contains("json"));
                self.replies.insert(line.clone(), (reply.status, is_json, reply.body.to_vec()));
            }
            let (status, is_json, body) = &self.replies[&line];
            match (status, is_json) {
                (200..300, true) => app.reply(&line, serde_json::from_slice::<serde_json::Value>(body).expect("JSON")),
                (200..300, false) => app.reply_raw(&line, body.clone()),
                _ => app.fail(&line, *status, "refused by the demo world"),
            };
        }
    }
}

/// Returns the place in the demo world at which a pane is opened.
pub fn place_of(id: &str) -> Place {
    let place = Place::new(id);
    match id {
        "search" => place.item("rows"),
        "projects" | "home" | "groups" | "users" => place,
        "me" | "key" | "hooks" | "license" | "notifications" => place,
        "mr" | "issue" => place.project("acme/rocket-ui").item(42),
        "commit" => place.project("acme/rocket-ui").item("main"),
        "compare" => place.project("acme/rocket-ui").item("main...feature/rows"),
        "job" | "artifacts" => place.project("acme/rocket-ui").item(121),
        "asset_links" => place.project("acme/rocket-ui").item("v0.3.0"),
        "tests" => place.project("acme/rocket-ui").item(19),
        "traces" => place.project("acme/rocket-ui").item("121,127"),
        "user" => place.item("bo"),
        "upload" => place.project("acme/rocket-ui").item("5f0c2b7e9a1d4c3880e6f1a2b3c4d5e6/frames.txt"),
        "epic" => place.group("acme").item(1),
        _ => place.project("acme/rocket-ui"),
    }
}

/// Runs one round in a place; an error includes all steps that led to it.
async fn round(world: &mut World, place: &Place, seed: u64, steps: usize) -> Result<(), String> {
    let mut dice = Dice(seed);
    let mut app = Begin::at(place.clone()).size(120, 40).open();
    let mut taken = Vec::new();
    while taken.len() < steps && !app.app.is_quitting() {
        world.prepare(&mut app).await;
        let step = Step::of_chance(&mut dice, &app);
        let before = Seen::of(&app);
        taken.push(step.clone());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            step.take(&mut app);
            wrong(&step, &before, &app)
        }));
        let why = outcome.unwrap_or_else(|_| Some("it panicked".into()));
        if let Some(why) = why {
            let steps: Vec<String> = taken.iter().map(|step| format!("  {step:?}")).collect();
            let (at, picture) =
                (labscope::app::place_info::label(&labscope::app::registry::places(PANES), place), app.picture());
            return Err(format!("{}, {at}, seed {seed}: {why}\n{}\n{picture}", place.pane, steps.join("\n")));
        }
    }
    Ok(())
}

/// Reasons that treat something as missing although it may still be loading.
const RASH: &[&str] =
    &["is selected", "under the cursor", "no file", "binary file", "no archive", "no pipeline", "no sections"];

#[test]
fn commands_do_not_report_content_as_missing_before_it_is_loaded() {
    let mut rash = Vec::new();
    for entry in Sample::one_in(4).of(PANES) {
        for info in entry.listed_commands() {
            let Some(keys) = info.keys.first() else { continue };
            let mut app = Begin::at(place_of(entry.place.id)).size(160, 40).open();
            app.press(keys);
            let footer = Seen::of(&app).footer;
            if RASH.iter().any(|words| footer.contains(words)) {
                rash.push(format!("{}: {footer}", info.id));
            }
        }
    }
    assert!(rash.is_empty(), "{}", rash.join("\n"));
}

#[test]
fn a_command_that_cannot_be_run_says_why() {
    let mut silent = Vec::new();
    for entry in PANES {
        for info in entry.listed_commands() {
            let Some(keys) = info.keys.first() else { continue };
            let title = info.title.trim_end_matches('…');
            // Before there are rows, and where there are none.
            for is_answered in [false, true] {
                let mut app = Begin::at(place_of(entry.place.id)).size(160, 40).open();
                for _ in 0..if is_answered { 40 } else { 0 } {
                    app.compute();
                    if !app.waiting().is_empty() {
                        app.break_off(0, Fault::Denied("403 Forbidden".into()));
                    }
                }
                app.press(keys);
                // It says only what was refused.
                if Seen::of(&app).footer.trim_end() == title {
                    silent.push(info.id);
                }
            }
        }
    }
    assert!(silent.is_empty(), "{silent:?}");
}

#[tokio::test]
async fn random_input_never_breaks_the_invariants_of_the_screen() {
    let running = demo().await;
    let mut world = World::of(&running);
    let mut wrongs = Vec::new();
    for entry in PANES {
        for seed in Sample::one_in(7).of(0..length(ROUNDS)) {
            wrongs.extend(round(&mut world, &place_of(entry.place.id), seed as u64, ROUND).await.err());
        }
    }
    running.stop().await;
    assert!(wrongs.is_empty(), "{} rounds failed:\n{}", wrongs.len(), wrongs.join("\n\n"));
}
