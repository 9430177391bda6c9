//! Accessible mode: the content of the cursor's line after a key press.

use crate::ear;
use crate::fixtures::{merge_request, user};
use crate::harness::{Begin, Harness};
use crate::monkey::place_of;
use crate::sample::Sample;
use crate::served::demo;
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::panes::PANES;
use ratatui::buffer::{Buffer, Cell};
use serde_json::json;

async fn projects() -> Harness {
    let mut harness = Begin::at(Place::new("projects")).accessible().open();
    let project = json!({"id": 7, "name": "rocket", "path": "rocket", "path_with_namespace": "acme/rocket"});
    harness.reply("GET /projects", [project]);
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": false}));
    harness.reply("GET /groups", json!([]));
    harness.settle().await;
    harness.hears("projects").press("k").hears("acme/rocket");
    harness
}

/// Returns all lines reached by pressing Down, up to the last.
fn all_heard(harness: &mut Harness) -> Vec<String> {
    let mut heard = vec![harness.heard()];
    for _ in 0..200 {
        harness.press("Down");
        match heard.last() {
            Some(last) if *last == harness.heard() => break,
            _ => heard.push(harness.heard()),
        }
    }
    heard
}

#[tokio::test]
async fn headings_in_help_and_actions_are_reachable_between_commands() {
    for (key, headings) in [("a", &["View", "Change"][..]), ("?", &["View", "Change", "Go to"])] {
        let mut harness = projects().await;
        let heard = all_heard(harness.press(key));
        let at: Vec<_> = headings.iter().map(|title| heard.iter().position(|line| line == title)).collect();
        assert!(at.iter().all(Option::is_some) && at.is_sorted(), "{key}: {at:?} in {heard:#?}");
    }
}

#[tokio::test]
async fn enter_on_a_heading_moves_to_the_first_command_below_it() {
    let mut harness = projects().await;
    harness.press("a").hears("View").press("Enter").hears("Enter");
    harness.press("Up").hears("View").press("Down").hears("Enter");
    // The text is a search term: Enter runs the match directly.
    harness.type_text("create").hears("Create project").press("Enter").expect("Name *");
    harness.press("Esc a").type_text("nothing like it").hears("No results.");
}

#[tokio::test]
async fn completions_of_an_input_line_are_announced_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["one.txt", "other.txt"] {
        std::fs::write(folder.path().join(name), "").expect("written");
    }
    let mut harness = Begin::at(Place::new("license")).size(120, 24).accessible().open();
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": true}));
    harness.reply("GET /license", json!({"plan": "gold"})).settle().await;
    let typed = format!("{}/o", folder.path().display());
    harness.press("+ C-u").send(Msg::Paste(typed));
    harness.settle().await;
    harness.hears("/o  suggestion 1 of 2: ").hears("one.txt");
    harness.press("Tab").hears("/one.txt  suggestion 1 of 2: ").press("Tab").hears("/other.txt  suggestion 2 of 2: ");
    harness.type_text("x").settle().await;
    assert!(!harness.heard().contains("suggestion"), "{}", harness.heard());
}

#[tokio::test]
async fn the_help_for_a_field_is_shown_in_full() {
    let mut harness = Begin::at(Place::new("issues").project("a/b")).size(80, 24).accessible().open();
    harness.reply("GET /user", json!({"id": 1, "username": "ada"}));
    harness.reply("GET /projects/a%2Fb/issues", json!([])).settle().await;
    harness.press("+").expect("M-u attaches a file, M-t inserts").expect("template.");
    // The field that has the focus is visible with its help, however small the screen is.
    for _ in 0..12 {
        harness.resize(80, 12).press("Tab");
        assert!(harness.heard().len() > 3, "{}", harness.picture());
    }
}

#[tokio::test]
async fn a_field_is_announced_with_its_error() {
    let mut harness = projects().await;
    harness.fail("POST /projects", 400, "name has already been taken");
    harness.press("+").hears("Name *").press("C-s").settle().await;
    harness.hears("Name *").hears("error is required");
    harness.type_text("Moon").hears("Moon");
    assert!(!harness.heard().contains("error"), "{}", harness.heard());
    harness.press("Tab").type_text("no blanks").hears("error only letters, digits").hears("no blanks");
    harness.press("Tab").hears("namespace").press("S-Tab").hears("error only letters").press("C-u");
    harness.press("C-s").settle().await;
    harness.hears("Name *").hears("error has already been taken").hears("Moon");
}

#[tokio::test]
async fn the_reason_for_rejecting_a_text_is_announced() {
    let mut harness = Begin::at(Place::new("me")).size(120, 24).accessible().open();
    harness.reply("GET /user", user(1, "ada")).reply("GET /user/keys", json!([])).settle().await;
    harness.press("2").settle().await.press("+ C-u");
    harness.send(Msg::Paste("-----BEGIN OPENSSH PRIVATE KEY-----\n".into()));
    harness.hears("error This is a private key");
}

#[tokio::test]
async fn a_query_is_announced_with_its_error() {
    let mut harness = Begin::at(Place::new("mrs").project("a/b")).accessible().open();
    harness.reply("GET /projects/a%2Fb/merge_requests", json!([])).settle().await;
    harness.press("/").type_text("state:odd").hears("error").hears("state:odd");
}

#[tokio::test]
async fn the_reason_for_a_failed_form_is_announced() {
    let mut harness = Begin::at(Place::new("members").group("acme")).size(100, 30).accessible().open();
    harness
        .reply("GET /groups/acme/members/all", [user(2, "bo")])
        .reply("GET /users?username=jo", [user(7, "jo")])
        .fail("POST /groups/acme/members", 409, "Member already exists")
        .settle()
        .await;
    harness.press("+").type_text("jo").settle().await;
    harness.press("C-s").settle().await;
    harness.hears("error").hears("Member already exists");
}

/// Returns what a terminal would be sent to get from one frame to the next: the rows with cells that differ.
fn written(before: &Buffer, after: &Harness) -> Vec<String> {
    let (old, new) = (before.content(), after.buffer().content());
    let width = usize::from(after.size().0);
    let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned();
    let rows = old.chunks(width).zip(new.chunks(width)).enumerate().filter(|(_, (old, new))| old != new);
    rows.map(|(y, (old, new))| format!("{y}: {:?} to {:?}", row(old), row(new))).collect()
}

/// The number of rows of each place that the cursor visits.
const ROWS: usize = 10;

/// fenrir reads the row of the cursor only if a key changed no other text, and yasr 0.6.9 reads all that is written. So a
/// key that moves the selection moves the cursor, and no more. The screen is so high that nothing scrolls.
#[tokio::test]
async fn a_key_that_moves_the_selection_writes_no_cell() {
    let server = demo().await;
    let mut wrong = Vec::new();
    for entry in Sample::one_in(3).of(PANES) {
        // One list opens all kinds of overlays.
        let overlays =
            if entry.place.id == "mrs" { &["", "?", "a", ":", "C-p", "y", "s", "L", "+"][..] } else { &[""] };
        for overlay in overlays {
            let begin = Begin::at(place_of(entry.place.id)).size(80, 200).accessible();
            let mut app = begin.server(&server.base_url, server.token()).open();
            app.settle().await;
            let mut note =
                |what: &str, words: String| wrong.push(format!("{} {overlay} {what}: {words}", entry.place.id));
            if ear::words(&app.heard()) > 15 || app.heard().is_empty() {
                note("opened", app.heard());
            }
            if !overlay.is_empty() {
                let before = app.buffer().clone();
                app.press(overlay).settle().await;
                assert!(written(&before, &app).len() > 5, "{overlay} opens nothing");
            }
            // What the rows need is read when they are first visited.
            for key in ["Down"; ROWS + 1].iter().chain(&["Up"; ROWS + 1]) {
                app.press(key).settle().await;
            }
            for key in ["Down"; ROWS].iter().chain(&["Up"; ROWS]) {
                let before = app.buffer().clone();
                app.press(key).settle().await;
                let written = written(&before, &app);
                if !written.is_empty() {
                    note(key, written.join("\n  "));
                }
                // A line of text has its own cursor.
                if app.cursor().is_none_or(|(x, y)| x != 0 && y < app.size().1 - 1) && *overlay != "+" {
                    note(key, format!("the cursor is at {:?}", app.cursor()));
                }
            }
            let before = app.buffer().clone();
            app.pass(1).settle().await.pass(2).settle().await;
            let written = written(&before, &app);
            if !written.is_empty() {
                note("idle", written.join("\n  "));
            }
            // The texts of users have signs, too, and the titles of commands that open something end in an ellipsis.
            let is_wrong =
                |row: &&String| row.contains(['·', '−', '→', '↑', '↓']) || row.contains('…') && overlay.is_empty();
            for row in app.lines().iter().skip(2).filter(is_wrong) {
                note("signs", row.clone());
            }
        }
    }
    server.stop().await;
    assert!(wrong.is_empty(), "{} of them\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn a_message_is_heard_until_the_next_key() {
    let mut harness = projects().await;
    harness.press("y").settle().await.press("Enter").hears("Copied").press("Down").hears("acme/rocket");
    harness.expect("Copied");
}

/// A braille line shows the row of the cursor alone.
#[tokio::test]
async fn the_cursor_is_where_a_comment_says_what_becomes_of_it() {
    const MR: &str = "GET /projects/acme%2Frocket-ui/merge_requests/4";
    const POST: &str = "POST /projects/acme%2Frocket-ui/merge_requests/4/notes";
    let mut harness = Begin::at(Place::new("mr").project("acme/rocket-ui").item(4)).size(80, 24).accessible().open();
    harness.reply("GET /user", user(1, "ada")).reply(MR, merge_request(4, "Draw rows", "opened"));
    harness.reply(&format!("{MR}/notes"), json!([])).reply(&format!("{MR}/approvals"), json!({"approved_by": []}));
    for list in ["commits", "pipelines", "versions", "participants"] {
        harness.reply(&format!("{MR}/{list}"), json!([]));
    }
    harness.settle().await;
    harness.fail(POST, 422, "too polite").press("c").type_text("It does.").press("C-s").settle().await;
    harness.hears("Could not comment on !4").hears("too polite").expect("Not sent.");
    // The outbox tries again.
    harness.fail(POST, 500, "out of ink").press("C-s").settle().await;
    harness.hears("waiting to be sent");
}

#[tokio::test]
async fn the_first_line_says_where_one_is_until_the_first_key() {
    let mut harness = Begin::at(Place::new("projects")).accessible().open();
    let project = |id: u64, name: &str| json!({"id": id, "name": name, "path": name, "path_with_namespace": name});
    harness.reply("GET /projects", [project(7, "rocket"), project(8, "moon")]);
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": false}));
    harness.reply("GET /groups", json!([])).settle().await;
    harness.hears("projects").press("Down").hears("rocket").press("Down").hears("moon");
}

fn screen(harness: &Harness) -> ear::Screen {
    ear::Screen::new(harness.lines(), harness.cursor().map(|(_, y)| usize::from(y)))
}

/// A task of a day: where it begins, the keys, and what is heard after each.
struct Task {
    name: &'static str,
    begin: Place,
    /// Each key or typed text (in quotes) with words that must be in the row of the cursor after it.
    steps: &'static [(&'static str, &'static str)],
    /// The maximum number of words that are said.
    budget: usize,
}

/// Does a task; returns the number of words that the reader says who says more, and the words. A new page or overlay is
/// interrupted by the next key, after the row of the cursor.
async fn perform(task: &Task, url: &str, token: &str) -> (usize, String) {
    let mut app = Begin::at(task.begin.clone()).accessible().server(url, token).open();
    app.settle().await;
    let mut said = app.heard();
    let mut log = format!("{}: {said}", task.name);
    for (key, words) in task.steps {
        let before = screen(&app);
        match key.strip_prefix('"') {
            Some(text) => app.type_text(text.trim_end_matches('"')),
            None => app.press(key),
        };
        app.settle().await;
        if app.app.place().pane == "job" {
            // The trace arrives as a stream.
            app.until("test a_narrow").await;
        }
        app.settle().await;
        let after = screen(&app);
        let is_page = after.new_rows(&before).len() > 5;
        let readers = [after.fenrir(&before), after.yasr(&before)];
        if let Some(reader) = readers.iter().find(|said| !is_page && !said.contains(words)) {
            log.push_str(&format!("\n  A READER SAYS {reader:?} WITHOUT {words:?}"));
        }
        let [fenrir, yasr] = readers;
        let heard = match is_page {
            true => after.braille().to_owned(),
            false if ear::words(&yasr) > ear::words(&fenrir) => yasr,
            false => fenrir,
        };
        log.push_str(&format!("\n  {key}: {heard}"));
        if !heard.contains(words) {
            log.push_str(&format!("\n  WITHOUT {words:?} on\n{}", app.picture()));
        }
        said = format!("{said}\n{heard}");
    }
    (ear::words(&said), log)
}

/// The three jobs of a day: files of a project, merge requests and their comments, and traces of jobs.
#[tokio::test]
async fn the_tasks_of_a_day_take_few_words() {
    let server = demo().await;
    let project = |pane: &'static str| Place::new(pane).project("acme/rocket-ui");
    let tasks = [
        Task {
            name: "open a file of a project",
            begin: project("files"),
            steps: &[
                ("Down", ".ci"),
                ("Down", "assets"),
                ("G", "README.md"),
                ("Up", "LICENSE"),
                ("Enter", ""),
                ("Down", ""),
            ],
            budget: 55,
        },
        Task {
            name: "find a file by its name",
            begin: project("files"),
            steps: &[
                ("C-p", ""),
                ("\"table\"", ""),
                ("Down", "tests/table.rs"),
                ("Enter", "branch main"),
                ("Down", ""),
            ],
            budget: 45,
        },
        Task {
            name: "find the error of a failed job",
            begin: project("jobs"),
            steps: &[
                ("4", ""),
                ("Down", "failed  compile"),
                ("Down", "pipeline 7"),
                ("Down", "failed  screens"),
                ("Enter", "screens"),
                ("g g", "Running with gitlab-runner"),
                ("e", "test a_narrow_terminal_is_not_a_panic ... FAILED"),
            ],
            budget: 80,
        },
        Task {
            name: "retry a job",
            begin: project("jobs"),
            steps: &[("4", ""), ("Down", "failed  compile"), ("R", "")],
            budget: 40,
        },
        Task {
            name: "find a merge request",
            begin: project("mrs"),
            steps: &[
                ("Down", "open  !42  Draw only visible rows  bo  running  approved 2  ready  4 threads"),
                ("Down", "open  !40  Theme file errors name the key  ada  success  approved 0 of 1"),
                ("Down", "!45"),
                ("Down", "open  !41  Cut columns where there is not enough room  eli  failed"),
                ("Enter", "!41  Cut columns"),
            ],
            budget: 85,
        },
        Task {
            name: "read and answer a thread",
            begin: project("mr").item(42),
            steps: &[
                (";", "unresolved, src/ui/table.rs:51"),
                ("Down", "removed // Every row is built"),
                ("Down", "removed let rows"),
                ("R", "C-s posts"),
                ("\"I see\"", "I see"),
                ("C-s", "Replied on !42"),
            ],
            budget: 60,
        },
        Task {
            name: "approve a merge request",
            begin: project("mr").item(42),
            steps: &[("A", "Approved !42")],
            budget: 45,
        },
        Task {
            name: "read the changes of a merge request",
            begin: project("mr").item(42).tab("changes"),
            steps: &[
                ("Down", "added bench:"),
                ("Down", "stage: test"),
                ("Tab", "modified .ci/pipeline.yml  5 added"),
                ("Down", "modified CHANGELOG.md  6 added"),
                ("Enter", "CHANGELOG.md  6 added 0 removed"),
            ],
            budget: 40,
        },
        Task {
            name: "see what waits for you",
            begin: Place::new("home"),
            steps: &[("Down", "To-dos 5"), ("Down", "pipeline failed"), ("Down", "review requested"), ("Enter", "!44")],
            budget: 45,
        },
        Task {
            name: "work off a to-do",
            begin: Place::new("todos"),
            steps: &[("Down", "pipeline failed"), ("Down", "review requested"), ("d", "")],
            budget: 40,
        },
    ];
    let mut wrong = String::new();
    for task in &tasks {
        let (words, log) = perform(task, &server.base_url, server.token()).await;
        println!("{words} of {}: {log}", task.budget);
        if words > task.budget || log.contains("WITHOUT") {
            wrong.push_str(&format!("{words} of {}: {log}\n", task.budget));
        }
    }
    server.stop().await;
    assert!(wrong.is_empty(), "{wrong}");
}
