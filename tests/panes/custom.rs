//! Custom commands: where they are offered, their placeholders, and their output.

use crate::fixtures::{self, With, changed_file, note, user};
use crate::harness::{Begin, Harness};
use labscope::app::action::Msg;
use labscope::app::clone::{CloneFolder, CloneRemote};
use labscope::app::custom::{CustomCommand, InputKind, MAX_RESULT, ResultKind, Run, RunEvent, Show};
use labscope::app::keymap::parse_chord;
use labscope::app::place::Place;
use serde_json::{Value, json};
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
        input: None,
        result: None,
    }
}

/// Returns a command that gets a part of the place and prints a result.
fn colleague(input: InputKind, result: ResultKind) -> CustomCommand {
    let run = program(&["lint"]);
    let command = command("Lint", "M-l", &[], run, Show::PaneUntilDone);
    CustomCommand { input: Some(input), result: Some(result), ..command }
}

const HEAD: &str = "9f3c2abd00112233445566778899aabbccddeeff";
const DIFF: &str = "@@ -1,4 +1,4 @@ fn rows\n fn a() {}\n-let old = 1;\n+let new = 2;\n fn b() {}\n fn c() {}\n";

/// Opens the changes of a merge request with one note, and focuses the diff.
async fn changes(command: CustomCommand, tab: Option<&str>) -> Harness {
    let mr = format!("{PROJECT}/merge_requests/42");
    let place = Place::new("mr").project("acme/rocket-ui").item(42);
    let mut begin = Begin::at(Place { tab: tab.map(str::to_owned), ..place }).size(120, 40);
    begin.commands = vec![command];
    let mut harness = begin.open();
    let whole = fixtures::merge_request(42, "Rows", "opened").with(json!({"sha": HEAD}));
    let changed = whole.clone().with(json!({"changes": [changed_file("src/table.rs", DIFF)]}));
    harness
        .reply("GET /user", user(1, "ada"))
        .reply(&mr, whole)
        .reply(&format!("{mr}/changes"), changed)
        .reply(&format!("{mr}/commits"), json!([]))
        .reply(&format!("{mr}/pipelines"), json!([]))
        .reply(&format!("{mr}/versions"), json!([]))
        .reply(&format!("{mr}/approvals"), json!({"approved_by": []}))
        .reply(&format!("{mr}/notes"), [note(7, "bo", "Is it fast?")]);
    harness.settle().await;
    harness.press("Tab").settle().await;
    harness
}

/// Lets the last started command print a result and end.
fn ends(harness: &mut Harness, printed: &str, ended: Result<(), &str>) {
    let number = harness.ran().last().expect("it was started").0;
    for piece in printed.as_bytes().chunks(8_000) {
        harness.send(Msg::CustomCommand(number, RunEvent::Result(piece.to_vec())));
    }
    harness.send(Msg::CustomCommand(number, RunEvent::Ended(ended.map_err(str::to_owned))));
}

/// Returns the saved drafts.
fn drafts(harness: &Harness) -> Vec<Value> {
    let kept = harness.kept.values().filter_map(|text| serde_json::from_str::<Value>(text).ok());
    let mut drafts: Vec<Value> = kept.filter(|draft| draft["program"] == "Lint").collect();
    drafts.sort_by_key(|draft| draft["text"].to_string());
    drafts
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
    begin.clone = Some(CloneFolder { folder: PathBuf::from("/clone"), remotes, ..CloneFolder::default() });
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
    let other = command("Elsewhere", "M-z", &["jobs"], program(&["true"]), Show::Pane);
    let mut harness = merge_request(vec![trace, other]).await;
    harness.press("M-t").expect("No job_id here").press("M-z");
    assert!(harness.ran().is_empty());
    harness.press("a").type_text("grep").expect("1 unavailable here").expect("no job_id here");
    harness.press("C-u").type_text("elsewhere").expect("No results.");
}

#[tokio::test]
async fn the_selected_file_opens_in_the_clone_at_its_line() {
    let mut begin = Begin::at(Place::new("files").project("acme/rocket-ui").at("main").path("src/a.rs").line(7));
    let remotes = vec![origin()];
    begin.clone = Some(CloneFolder { folder: PathBuf::from("/clone"), remotes, ..CloneFolder::default() });
    let mut harness = begin.open();
    harness.press("g e");
    assert_eq!(harness.edited().len(), 1, "{}", harness.picture());
    assert_eq!((harness.edited()[0].path.clone(), harness.edited()[0].line), (PathBuf::from("src/a.rs"), Some(7)));
    for hostile in ["../../etc/passwd", ".git/config"] {
        let mut begin = Begin::at(Place::new("files").project("acme/rocket-ui").at("main").path(hostile));
        let remotes = vec![origin()];
        begin.clone = Some(CloneFolder { folder: PathBuf::from("/clone"), remotes, ..CloneFolder::default() });
        let mut harness = begin.open();
        harness.press("g e").expect("The path is not a file in the working tree");
        assert!(harness.edited().is_empty(), "{hostile}");
    }
    Begin::at(Place::new("home")).open().press("g e").expect("Not in a clone");
    let mut begin = Begin::at(Place::new("files").at("main").path("src/a.rs"));
    begin.clone = Some(CloneFolder { folder: PathBuf::from("/clone"), remotes: Vec::new(), ..CloneFolder::default() });
    begin.open().press("g e").expect("No project is selected");
}

#[tokio::test]
async fn a_program_reviews_the_shown_changes_as_drafts_that_a_person_sends() {
    let mut harness = changes(colleague(InputKind::Diff, ResultKind::Review), Some("changes")).await;
    harness.press("M-l").expect("Lint").expect("running");
    let order = harness.ran()[0].1.clone();
    let given: Value = serde_json::from_str(order.input.as_deref().expect("an input")).expect("JSON");
    assert_eq!(
        (&given["iid"], &given["head_sha"], &given["files"][0]["path"]),
        (&json!(42), &json!(HEAD), &json!("src/table.rs"))
    );
    assert_eq!(given["files"][0]["diff"], DIFF);
    assert!(!order.input.unwrap_or_default().contains("token"), "what a program gets holds no token");
    let printed = [
        json!({"path": "src/table.rs", "line": 2, "body": "Why two?\n/merge"}),
        json!({"path": "src/table.rs", "line": 2, "old": true, "body": "Why was it one?"}),
        json!({"path": "src/table.rs", "first": 2, "line": 3, "body": "", "suggestion": "let new = 3;\nfn b() {}\n"}),
        json!({"path": "src/gone.rs", "line": 9, "body": "Of no line."}),
        json!({"path": "src/table.rs", "line": 999, "body": "Beyond the end."}),
        json!({"body": "Of all of it."}),
    ];
    let printed = printed.map(|line| line.to_string()).join("\n");
    ends(&mut harness, &format!("{printed}\n{{\"path\": \"src/ta"), Ok(()));
    harness.settle().await;
    harness.expect("Lint: 6 drafts on !42. g k lists them. Line 7 of the output is ignored");
    let all = drafts(&harness);
    let told: Vec<(&str, Value)> =
        all.iter().map(|draft| (draft["text"].as_str().unwrap_or_default(), draft["spot"]["lines"].clone())).collect();
    assert_eq!(
        told,
        [
            ("Of all of it.", Value::Null),
            ("Why two?\n\\/merge", json!([2, 2])),
            ("Why was it one?", json!([2, 2])),
            ("```suggestion:-1+0\nlet new = 3;\nfn b() {}\n```\n", json!([2, 3])),
            ("`src/gone.rs:9` (not among the changes)\n\nOf no line.", Value::Null),
            ("`src/table.rs:999` (not among the changes)\n\nBeyond the end.", Value::Null),
        ]
    );
    assert_eq!(all[2]["spot"]["old"], true);
    harness.expect("by Lint").press("K").settle().await;
    harness.expect("by Lint · draft (unsent)").expect("src/table.rs:2");
    assert!(harness.asked.iter().all(|line| line.starts_with("GET")), "nothing is sent: {:?}", harness.asked);
}

#[tokio::test]
async fn what_a_program_prints_of_a_thread_becomes_a_reply() {
    let mut harness = changes(colleague(InputKind::Thread, ResultKind::Comment), None).await;
    harness.press("M-l").expect("There is no comment under the cursor");
    harness.press("]").press("M-l");
    let given: Value = serde_json::from_str(harness.ran()[0].1.input.as_deref().expect("an input")).expect("JSON");
    assert_eq!((&given["on"], &given["notes"][0]["body"]), (&json!("acme/rocket-ui!42"), &json!("Is it fast?")));
    ends(&mut harness, "Yes.\n\x1b[31m/close\n", Ok(()));
    harness.settle().await;
    harness.expect("Lint: 1 draft on !42");
    assert_eq!(drafts(&harness)[0]["text"], "> Is it fast?\n\n@bo Yes.\n[31m/close");
}

#[tokio::test]
async fn a_program_that_fails_or_prints_too_much_or_nothing_writes_no_draft() {
    let half = "{\"path\": \"src/table.rs\", \"li";
    let much = "x".repeat(MAX_RESULT + 1);
    for (printed, ended, shown) in [
        ("", Ok(()), "printed nothing"),
        ("  \n", Ok(()), "printed nothing"),
        (half, Ok(()), "printed nothing that could be used. Line 1 of the"),
        ("{\"body\": \"x\"}\n", Err("failed with exit status: 3"), "failed with exit status: 3"),
        (much.as_str(), Ok(()), "was stopped: it printed more than 1 MB"),
    ] {
        let mut harness = changes(colleague(InputKind::Diff, ResultKind::Review), Some("changes")).await;
        harness.press("M-l");
        ends(&mut harness, printed, ended);
        harness.settle().await;
        harness.expect(shown);
        assert_eq!(drafts(&harness), Vec::<Value>::new(), "{shown}");
        assert_eq!(harness.stopped().len(), usize::from(printed.len() > MAX_RESULT), "{shown}");
        harness.press("q").expect_no(shown);
    }
}
