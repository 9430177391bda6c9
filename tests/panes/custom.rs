//! Custom commands: where they are offered, their placeholders, and their output.

use crate::fixtures::{self, With, user};
use crate::harness::{Begin, Harness};
use labscope::app::action::Msg;
use labscope::app::clone::{CloneFolder, CloneRemote};
use labscope::app::custom::{CustomCommand, Run, RunEvent, Show};
use labscope::app::keymap::parse_chord;
use labscope::app::place::Place;
use serde_json::json;
use std::path::PathBuf;

const PROJECT: &str = "GET /projects/acme%2Frocket-ui";

fn command(title: &'static str, key: &str, places: &[&str], run: Run, show: Show) -> CustomCommand {
    CustomCommand {
        id: title,
        title,
        key: parse_chord(key),
        places: places.iter().map(|place| (*place).to_owned()).collect(),
        run,
        show,
    }
}

fn program(words: &[&str]) -> Run {
    Run::Program(words.iter().map(|word| (*word).to_owned()).collect())
}

fn origin() -> CloneRemote {
    let url = "https://demo.test/acme/rocket-ui.git".to_owned();
    CloneRemote { name: "origin".into(), url, project: "acme/rocket-ui".into(), ..CloneRemote::default() }
}

async fn merge_request(commands: Vec<CustomCommand>) -> Harness {
    let mut begin = Begin::at(Place::new("mr").project("acme/rocket-ui").item(42)).size(120, 30);
    begin.commands = commands;
    let remotes = vec![origin()];
    begin.clone = Some(CloneFolder { folder: PathBuf::from("/clone"), remotes, head: None });
    let mut harness = begin.open();
    let request = fixtures::merge_request(42, "Rows $(id)", "opened").with(json!({
        "source_branch": "feature/rows; id", "web_url": "http://demo.test/acme/rocket-ui/-/merge_requests/42",
    }));
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(&format!("{PROJECT}/merge_requests/42"), request)
        .reply(&format!("{PROJECT}/merge_requests/42/notes"), json!([]))
        .settle()
        .await;
    harness
}

#[tokio::test]
async fn a_custom_command_gets_the_selection_and_its_output_is_shown() {
    let worktree = program(&["git", "worktree", "add", "../{source_branch}", "{iid}", "{project}", "{title}"]);
    let mut harness = merge_request(vec![command("Add worktree", "M-w", &["mr"], worktree, Show::Pane)]).await;
    harness.press("M-w").expect("Add worktree").expect("running");
    let (number, order) = harness.ran()[0].clone();
    let words = ["git", "worktree", "add", "../feature/rows; id", "42", "acme/rocket-ui", "Rows $(id)"];
    assert_eq!((order.program, order.folder), (words.map(str::to_owned).to_vec(), Some(PathBuf::from("/clone"))));
    let output = |bytes: &[u8]| Msg::CustomCommand(number, RunEvent::Output(bytes.to_vec()));
    harness.send(output(b"Preparing worktree\n\x1b]0;evil\x07\x1b[31mHEAD\x1b[0m is now\n"));
    harness.expect("Preparing worktree").expect("HEAD is now").expect_no("evil");
    harness.press("Esc").expect("running");
    assert_eq!(harness.stopped(), [number]);
    harness.send(Msg::CustomCommand(number, RunEvent::Ended(Err("was canceled".into()))));
    harness.expect("was canceled").press("q").expect_no("HEAD is now");
}

#[tokio::test]
async fn a_silent_command_reports_its_end_and_a_shell_gets_variables() {
    let run = Run::Shell("notify \"$LABSCOPE_TITLE\"".into());
    let mut harness = merge_request(vec![command("Notify me", "M-n", &[], run, Show::Silent)]).await;
    harness.press("M-n").expect("Notify me…");
    let (number, order) = harness.ran()[0].clone();
    assert_eq!(order.program, ["sh", "-c", "notify \"$LABSCOPE_TITLE\""]);
    assert!(order.variables.contains(&("LABSCOPE_TITLE".into(), "Rows $(id)".into())), "{:?}", order.variables);
    harness.send(Msg::CustomCommand(number, RunEvent::Output(b"no \x1b[1mbus\n".to_vec())));
    harness.send(Msg::CustomCommand(number, RunEvent::Ended(Err("failed with exit status: 1".into()))));
    harness.expect("Notify me failed with exit status: 1: no bus");
}

#[tokio::test]
async fn a_custom_command_needs_its_values_and_is_offered_in_its_places_only() {
    let trace = command("Grep trace", "M-t", &["mr"], program(&["grep", "{job_id}"]), Show::Pane);
    let other = command("Elsewhere", "M-e", &["jobs"], program(&["true"]), Show::Pane);
    let mut harness = merge_request(vec![trace, other]).await;
    harness.press("M-t").expect("Grep trace: no job_id here.").press("M-e");
    assert!(harness.ran().is_empty());
    harness.press("a").type_text("grep").expect("Unavailable").expect("no job_id here");
    harness.press("C-u").type_text("elsewhere").expect("No results.");
}

#[tokio::test]
async fn the_selected_file_opens_in_the_clone_at_its_line() {
    let mut begin = Begin::at(Place::new("files").project("acme/rocket-ui").at("main").path("src/a.rs").line(7));
    let remotes = vec![origin()];
    begin.clone = Some(CloneFolder { folder: PathBuf::from("/clone"), remotes, head: None });
    let mut harness = begin.open();
    harness.press("g e");
    assert_eq!(harness.edited().len(), 1, "{}", harness.picture());
    assert_eq!((harness.edited()[0].path.clone(), harness.edited()[0].line), (PathBuf::from("src/a.rs"), Some(7)));
    for hostile in ["../../etc/passwd", ".git/config"] {
        let mut begin = Begin::at(Place::new("files").project("acme/rocket-ui").at("main").path(hostile));
        let remotes = vec![origin()];
        begin.clone = Some(CloneFolder { folder: PathBuf::from("/clone"), remotes, head: None });
        let mut harness = begin.open();
        harness.press("g e").expect("Cannot edit the file: the path is not a file in the working tree");
        assert!(harness.edited().is_empty(), "{hostile}");
    }
    Begin::at(Place::new("home")).open().press("g e").expect("Cannot edit the file: the current folder is not a clone");
    let mut begin = Begin::at(Place::new("files").at("main").path("src/a.rs"));
    begin.clone = Some(CloneFolder { folder: PathBuf::from("/clone"), remotes: Vec::new(), head: None });
    begin.open().press("g e").expect("Cannot edit the file: no project is selected");
}
