//! Changing files without a clone, on a real server: the editor, staged changes, the commit, and conflicts.

use crate::fixtures::user;
use crate::harness::{Begin, Harness, NOW};
use jiff::Timestamp;
use labscope::api::client::{Client, Server};
use labscope::api::commits::{CommitAction, CreateCommit};
use labscope::api::endpoint::Request;
use labscope::api::projects::UpdateProject;
use labscope::api::{Endpoint, Fault};
use labscope::app::Place;
use labscope::backend::{Clock, Options, RunningServer, WorldKind, start};
use serde_json::json;
use std::collections::HashMap;

const PROJECT: &str = "ada/rocket";

/// A small repository whose main branch only ada may push to.
const WORLD: &str = r#"
now = "2026-06-15T00:00:00Z"

[[users]]
username = "root"
admin = true

[[users]]
username = "ada"
name = "Ada Sommer"

[[users]]
username = "cem"
name = "Cem Aydin"

[[projects]]
path = "ada/rocket"
visibility = "public"
members = { cem = "developer" }
protected = ["main"]
files = '''
-- Cargo.toml --
[package]
name = "rocket-ui"
version = "0.3.2"
edition = "2024"
license = "MIT"

[dependencies]
bitflags = "2.6"
-- README.md --
# Rocket
'''
script = '''
from 2026-06-02
to 2026-06-10
ada: Begin
  + Cargo.toml
  + README.md
'''
"#;

async fn served() -> RunningServer {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("world.toml");
    std::fs::write(&file, WORLD).expect("written");
    let now: Timestamp = NOW.parse().expect("a time");
    let options = Options { world: WorldKind::File(file), clock: Clock::new(move || now), ..Options::default() };
    start(options).await.expect("a server on a free port")
}

/// Opens the file at `path`, with drafts of an earlier session.
async fn at(server: &RunningServer, user: &str, path: &str, drafts: HashMap<String, String>) -> Harness {
    let token = server.tokens.get(user).expect("a person of the demo");
    let place = Place::new("files").project(PROJECT).at("main").path(path);
    let mut begin = Begin::at(place).size(120, 34).server(&server.base_url, token);
    begin.drafts = drafts;
    let mut app = begin.open();
    app.settle().await;
    app
}

/// Commits to the branch as another user.
async fn meanwhile(server: &RunningServer, branch: &str, actions: Vec<CommitAction>) {
    let mut to = Server::new(server.base_url.parse().expect("an address"));
    to.token = Some(server.tokens["ada"].clone().into());
    let create = CreateCommit {
        id: PROJECT.into(),
        branch: branch.into(),
        commit_message: "Meanwhile".into(),
        actions,
        ..CreateCommit::default()
    };
    Client::new(to).expect("a client").send(&create.request()).await.expect("a commit");
}

/// Creates a branch that starts at main.
async fn branch(server: &RunningServer, name: &str) {
    let mut to = Server::new(server.base_url.parse().expect("an address"));
    to.token = Some(server.tokens["ada"].clone().into());
    let create =
        labscope::api::branches::CreateBranch { id: PROJECT.into(), branch: name.into(), r#ref: "main".into() };
    Client::new(to).expect("a client").send(&create.request()).await.expect("a branch");
}

fn update(path: &str, content: &str) -> CommitAction {
    CommitAction {
        action: "update".into(),
        file_path: path.into(),
        content: Some(content.into()),
        ..CommitAction::default()
    }
}

/// Returns the content of a file on main.
async fn bytes(server: &RunningServer, path: &str) -> Vec<u8> {
    use labscope::api::Reply;
    use labscope::api::repository::{GetRawBlob, ListTree, TreeEntry};
    let mut to = Server::new(server.base_url.parse().expect("an address"));
    to.token = Some(server.tokens["ada"].clone().into());
    let client = Client::new(to).expect("a client");
    let tree = ListTree { id: PROJECT.into(), r#ref: Some("main".into()), recursive: Some(true), ..Default::default() };
    let reply = client.send(&tree.request().at_page(1, 100)).await.expect("a tree");
    let entries = <Vec<TreeEntry> as Reply>::read(&reply.body, None).expect("entries");
    let entry = entries.into_iter().find(|entry| entry.path == path).unwrap_or_else(|| panic!("no {path}"));
    let raw = GetRawBlob { id: PROJECT.into(), sha: entry.id };
    client.send(&raw.request()).await.expect("a blob").body.to_vec()
}

/// Returns the keys of the kept texts that belong to staged changes.
fn staged(app: &Harness) -> Vec<&String> {
    app.kept.keys().filter(|key| key.contains(" staged ")).collect()
}

async fn commit(app: &mut Harness) {
    app.press("S").press("C-s");
    app.until("Committed").await;
    app.settle().await;
}

#[tokio::test]
async fn a_file_can_be_edited_staged_and_committed() {
    let server = served().await;
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    app.press("e").settle().await;
    app.expect("edit Cargo.toml").expect("name = \"rocket-ui\"").expect_no("modified");
    app.type_text("# staged").press("Enter");
    app.expect("modified").expect("# staged");
    assert!(app.kept.values().any(|text| text.contains("# staged\n[package]")), "it is saved while typing");
    app.press("C-s").settle().await;
    app.expect("Staged Cargo.toml for main").expect("1 staged").expect("M Cargo.toml");
    app.press("g i").settle().await;
    app.expect("1 change for ⎇ main").expect("+ # staged").expect("M Cargo.toml");
    app.press("S").expect("Commit 1 file").expect("Branch  main").expect("Update Cargo.toml").expect("M-u attach");
    app.press("C-s").until("Committed").await;
    app.settle().await;
    assert_eq!(app.app.place().pane, "commit");
    app.expect("+ # staged");
    assert_eq!(staged(&app), Vec::<&String>::new(), "no draft is left");
    assert!(bytes(&server, "Cargo.toml").await.starts_with(b"# staged\n[package]\n"));
    app.press("g i").settle().await;
    app.expect("Nothing is staged for main");
    server.stop().await;
}

/// Stages a change of a file, and opens the list of changes. The test answers the requests that commit them.
async fn staged_and_refusing_commits(server: &RunningServer) -> Harness {
    let place = Place::new("files").project(PROJECT).at("main").path("Cargo.toml");
    let is_commit = |request: &Request| request.route.ends_with("/repository/commits") && !request.is_read();
    let begin = Begin::at(place).size(120, 34).server(&server.base_url, &server.tokens["ada"]);
    let mut app = begin.refusing(is_commit).open();
    app.settle().await.press("e").settle().await;
    app.type_text("# staged").press("Enter C-s").settle().await.press("g i").settle().await;
    app
}

#[tokio::test]
async fn a_commit_whose_reply_is_lost_is_found_on_the_branch() {
    let server = served().await;
    let mut app = staged_and_refusing_commits(&server).await;
    app.press("S C-s").settle().await;
    // The server makes the commit.
    let before = String::from_utf8(bytes(&server, "Cargo.toml").await).expect("a text");
    let lost = Fault::Cut("the connection closed before the reply was complete".into());
    app.refuse(lost.clone());
    app.expect("The commit may have failed: the connection closed").expect_no("Not committed").settle().await;
    app.expect("1 change for");
    meanwhile(&server, "main", vec![update("Cargo.toml", &format!("# staged\n{before}"))]).await;
    app.press("S C-s").settle().await;
    app.refuse(lost);
    app.settle().await.expect("main has your changes to Cargo.toml").expect("Nothing is staged for main");
    assert!(app.line_with("has your changes").trim_start().starts_with("Committed "), "{}", app.picture());
    assert_eq!(staged(&app), Vec::<&String>::new(), "the message is not that of the next commit");
    server.stop().await;
}

#[tokio::test]
async fn a_commit_whose_reply_is_lost_is_found_on_its_new_branch() {
    let server = served().await;
    let mut app = staged_and_refusing_commits(&server).await;
    app.press("B").type_text("fix").press("Enter").settle().await.press("S C-s").settle().await;
    let before = String::from_utf8(bytes(&server, "Cargo.toml").await).expect("a text");
    app.refuse(Fault::Cut("the connection closed before the reply was complete".into()));
    app.settle().await.expect("The commit may have failed: the connection closed");
    app.expect("Changes that fix has by now are removed from this list").expect("1 change for ⎇ main");
    // The server makes the commit.
    branch(&server, "fix").await;
    meanwhile(&server, "fix", vec![update("Cargo.toml", &format!("# staged\n{before}"))]).await;
    app.press("r").settle().await.expect("fix has your changes to Cargo.toml").expect("Nothing is staged for main");
    assert_eq!(staged(&app), Vec::<&String>::new());
    server.stop().await;
}

#[tokio::test]
async fn a_staged_file_that_equals_the_one_on_the_branch_is_not_binary() {
    let server = served().await;
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    app.press("e").settle().await;
    app.type_text("#").press("C-s").settle().await.press("g i").settle().await;
    app.expect("+1").press("e").settle().await.press("Delete C-s").settle().await;
    app.expect("same").press("Enter").settle().await.expect("Both versions are identical").expect_no("inary");
    server.stop().await;
}

#[tokio::test]
async fn the_message_of_a_commit_contains_the_links_of_the_files_that_waited() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().canonicalize().expect("it is there").join("log.txt");
    std::fs::write(&log, "lines").expect("written");
    let server = served().await;
    let left = std::cell::Cell::new(1);
    let is_first =
        move |request: &labscope::api::endpoint::Request| request.path.ends_with("/uploads") && left.replace(0) > 0;
    let place = Place::new("files").project(PROJECT).at("main").path("Cargo.toml");
    let token = &server.tokens["ada"];
    let mut app = Begin::at(place).size(120, 34).refusing(is_first).server(&server.base_url, token).open();
    app.settle().await;
    app.press("e").settle().await;
    app.type_text("# staged").press("Enter C-s").settle().await;
    app.press("g i").settle().await;
    app.press("S").type_text(" ").press("M-u").type_text(&log.display().to_string()).press("Enter").settle().await;
    app.refuse(labscope::api::Fault::Offline("no route".into()));
    app.expect("Update Cargo.toml [attached when sent: log.txt]")
        .press("Esc S")
        .expect("[attached when sent: log.txt]");
    app.press("C-s").until("Committed").await;
    app.settle().await;
    app.expect("[log.txt](/uploads/").expect_no("attached when sent");
    assert_eq!(
        app.asked.iter().filter(|line| line.contains("POST") && line.contains("/repository/commits")).count(),
        1,
        "{:?}",
        app.asked
    );
    assert_eq!(staged(&app), Vec::<&String>::new(), "no draft is left");
    server.stop().await;
}

#[tokio::test]
async fn several_kinds_of_changes_make_one_commit() {
    let server = served().await;
    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("dot.bin");
    std::fs::write(&picture, [0, 159, 146, 150]).expect("written");
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    app.press("D").settle().await;
    app.press("+").type_text("docs/new.md").press("Enter").settle().await;
    app.expect("edit docs/new.md");
    app.type_text("fresh").press("C-s").settle().await;
    app.press("U");
    app.send(labscope::app::action::Msg::Paste(picture.display().to_string()));
    app.press("Enter").expect("upload as").press("C-u").type_text("dot.bin").press("Enter").settle().await;
    app.expect("3 staged").expect("D Cargo.toml");
    app.press("g i").settle().await;
    app.expect("3 changes").expect("D Cargo.toml").expect("A docs/new.md").expect("A dot.bin");
    commit(&mut app).await;
    assert_eq!(bytes(&server, "docs/new.md").await, b"fresh\n");
    assert_eq!(bytes(&server, "dot.bin").await, [0, 159, 146, 150]);
    let mut app = at(&server, "ada", "docs/new.md", HashMap::new()).await;
    app.press("M").press("C-u").type_text("docs/old.md").press("Enter").settle().await;
    app.expect("▾ docs ✎").expect("R new.md");
    app.press("g i").settle().await;
    app.expect("R docs/old.md");
    commit(&mut app).await;
    assert_eq!(bytes(&server, "docs/old.md").await, b"fresh\n");
    server.stop().await;
}

/// Stages a new file with these lines.
async fn stage_new(app: &mut Harness, path: &str, lines: &[&str]) {
    app.press("+").press("C-u").type_text(path).press("Enter").settle().await;
    app.send(labscope::app::action::Msg::Paste(lines.join("\n")));
    app.press("C-s").settle().await;
    app.expect(&format!("Staged {path}"));
}

#[tokio::test]
async fn a_commit_that_breaks_the_ci_configuration_says_so_first() {
    let server = served().await;
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    stage_new(&mut app, ".gitlab-ci.yml", &["pack:", "  scrpt: make"]).await;
    app.press("g i").settle().await;
    // Whoever asks twice is asked once.
    app.press("S S").settle().await;
    app.expect("Invalid CI configuration").expect("line 2: jobs:pack config contains unknown keys: scrpt");
    app.expect("Commit it anyway?").expect_no("Commit 1 file").pass(1).press("n").settle().await;
    app.expect_no("Invalid CI configuration").expect_no("Commit 1 file").expect("1 change for");
    app.press("S").settle().await;
    app.pass(1).press("y").settle().await;
    app.expect("Commit 1 file").press("Esc").settle().await;
    // The answer of a place that was left opens nothing.
    app.press("S").press("g f").settle().await;
    app.expect_no("Invalid CI configuration").expect_no("Commit 1 file");
    server.stop().await;
}

#[tokio::test]
async fn a_commit_of_a_valid_ci_configuration_asks_nothing() {
    let server = served().await;
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    // The included file is staged, too, which the server cannot know.
    stage_new(&mut app, ".gitlab-ci.yml", &["include: ci/more.yml", "pack:", "  script: make"]).await;
    stage_new(&mut app, "ci/more.yml", &["unit:", "  script: make test"]).await;
    app.press("g i").settle().await;
    app.press("S").settle().await;
    app.expect("Commit 2 files").press("C-s");
    app.until("Committed").await;
    app.settle().await;
    // A server that does not check does not prevent the commit.
    let token = server.tokens.get("ada").expect("a person of the demo");
    let place = Place::new("files").project(PROJECT).at("main").path(".gitlab-ci.yml");
    let begin = Begin::at(place).size(120, 34).server(&server.base_url, token);
    let mut app = begin.refusing(|request| request.path.ends_with("/ci/lint")).open();
    app.settle().await;
    app.press("e").settle().await;
    app.type_text("broken: ").press("C-s").settle().await;
    app.press("g i").settle().await;
    app.press("S").settle().await;
    app.expect_no("Commit 1 file");
    app.refuse(Fault::Server(503, "503 Service Unavailable".into()));
    app.settle().await;
    app.expect("Commit 1 file");
    server.stop().await;
}

#[tokio::test]
async fn the_ci_configuration_of_the_project_is_checked_wherever_it_is() {
    let server = served().await;
    let mut to = Server::new(server.base_url.parse().expect("an address"));
    to.token = Some(server.tokens["ada"].clone().into());
    let moved =
        UpdateProject { id: PROJECT.into(), ci_config_path: Some("ci/main.yml".into()), ..UpdateProject::default() };
    Client::new(to).expect("a client").send(&moved.request()).await.expect("a changed project");
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    stage_new(&mut app, ".gitlab-ci.yml", &["pack:", "  scrpt: make"]).await;
    app.press("g i").settle().await;
    app.press("S").settle().await;
    app.expect("Commit 1 file").expect_no("Invalid CI configuration").press("Esc").settle().await;
    // All errors are told, at the lines of the staged text.
    app.press("g f").settle().await;
    stage_new(&mut app, "ci/main.yml", &["stages: [a]", "pack:", "  stage: b", "  script: make"]).await;
    app.press("g i").settle().await;
    app.press("S").settle().await;
    app.expect("Invalid CI configuration")
        .expect("line 2: pack job: chosen stage b does not exist;")
        .expect("stages are .pre, a, .post")
        .pass(1)
        .press("y")
        .settle()
        .await;
    app.expect("Commit 2 files").press("C-s");
    app.until("Committed").await;
    app.settle().await;
    server.stop().await;
}

#[tokio::test]
async fn a_concurrent_change_of_a_staged_file_is_merged() {
    let server = served().await;
    let text = String::from_utf8(bytes(&server, "Cargo.toml").await).expect("text");
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    app.press("e").settle().await;
    app.type_text("# mine").press("Enter").press("C-s").settle().await;
    app.press("g i").settle().await;
    app.press("S").expect("Commit 1 file");
    meanwhile(&server, "main", vec![update("Cargo.toml", &format!("{text}# theirs\n"))]).await;
    app.press("C-s").until("changed on main").await;
    app.settle().await;
    app.expect("Not committed").expect("Everything is still here").expect("- # theirs").expect("+ # mine");
    app.press("v").settle().await;
    app.expect("+ # mine").expect_no("# theirs");
    app.press("v").settle().await;
    app.expect("+ # theirs").expect_no("# mine");
    app.press("v").press("S").expect("A file needs a decision first");
    app.press("m").settle().await;
    app.expect("Merged without conflicts").expect("# mine").press("C-s").settle().await;
    app.expect_no("changed on main").expect("+ # mine").expect_no("- # theirs");
    commit(&mut app).await;
    assert_eq!(String::from_utf8(bytes(&server, "Cargo.toml").await), Ok(format!("# mine\n{text}# theirs\n")));
    server.stop().await;
}

#[tokio::test]
async fn a_conflict_can_be_resolved_with_either_version() {
    let server = served().await;
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    app.press("e").settle().await;
    app.type_text("mine").press("Enter").press("C-s").settle().await;
    meanwhile(&server, "main", vec![update("Cargo.toml", "theirs\n")]).await;
    app.press("g i").settle().await;
    app.expect("changed on main").press("K").settle().await;
    app.expect("Keeping your version").expect_no("changed on main");
    meanwhile(&server, "main", vec![update("Cargo.toml", "again\n")]).await;
    app.press("r").settle().await;
    app.expect("changed on main").press("T").expect("Discard your changes to Cargo.toml?").press("y");
    app.settle().await;
    app.expect("Nothing is staged for main");
    assert_eq!(staged(&app), Vec::<&String>::new());
    server.stop().await;
}

#[tokio::test]
async fn staged_files_deleted_or_created_meanwhile_are_reported() {
    let server = served().await;
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    app.press("e").settle().await;
    app.type_text("mine").press("Enter").press("C-s").settle().await;
    app.press("+").press("C-u").type_text("new.txt").press("Enter").type_text("mine").press("C-s").settle().await;
    let gone = CommitAction { action: "delete".into(), ..update("Cargo.toml", "") };
    let there = CommitAction { action: "create".into(), ..update("new.txt", "theirs\n") };
    meanwhile(&server, "main", vec![gone, there]).await;
    app.press("g i").settle().await;
    app.expect("is gone from main").press("K").settle().await;
    app.press("j").settle().await;
    app.expect("now exists on main").expect("- theirs").expect("+ mine").press("K").settle().await;
    commit(&mut app).await;
    assert_eq!(bytes(&server, "new.txt").await, b"mine\n");
    assert!(bytes(&server, "Cargo.toml").await.starts_with(b"mine\n[package]"));
    server.stop().await;
}

#[tokio::test]
async fn a_protected_branch_is_refused_and_a_new_branch_is_offered() {
    let server = served().await;
    let mut app = at(&server, "cem", "Cargo.toml", HashMap::new()).await;
    app.press("e").settle().await;
    app.type_text("mine").press("Enter").press("C-s").settle().await;
    app.press("g i").settle().await;
    app.press("S").press("C-s").until("Not committed").await;
    app.settle().await;
    app.expect("not allowed to push").expect("B commits to a new branch").expect("+ mine");
    app.press("B").type_text("cem/mine").press("Enter").settle().await;
    app.expect("new branch cem/mine");
    app.press("S").press("C-s").until("Committed").await;
    app.settle().await;
    app.expect("New merge request in ada/rocket").expect("cem/mine").expect("Update Cargo.toml");
    app.press("C-s").until("Created !").await;
    app.settle().await;
    assert_eq!(app.app.place().pane, "mr");
    server.stop().await;
}

#[tokio::test]
async fn the_composer_changes_the_branch_and_offers_a_new_one() {
    let server = served().await;
    let mut app = at(&server, "cem", "Cargo.toml", HashMap::new()).await;
    app.press("e").settle().await;
    app.type_text("mine").press("Enter").press("C-s").settle().await;
    app.press("g i").settle().await;
    app.press("S").expect("Branch  main").expect("C-s commit").type_text(" well").press("M-b").settle().await;
    app.expect("default branch").type_text("a..b").settle().await;
    app.press("Enter").expect("Not a valid name").press("C-u").type_text("cem/mine").settle().await;
    app.expect("+ new branch \"cem/mine\" from main").press("Enter").settle().await;
    app.expect("Update Cargo.toml well").expect("cem/mine  new branch from main");
    // The branch and the message are kept.
    app.press("Esc").settle().await;
    app.expect("new branch cem/mine").press("S").expect("Update Cargo.toml well").expect("Branch  cem/mine");
    app.press("C-s").until("Committed").await;
    app.settle().await;
    app.expect("New merge request in ada/rocket").expect("cem/mine");
    server.stop().await;
}

#[tokio::test]
async fn typed_and_staged_texts_survive_a_restart() {
    let server = served().await;
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    app.press("e").settle().await;
    app.type_text("typed");
    let kept = app.kept.clone();
    drop(app);
    let mut app = at(&server, "ada", "Cargo.toml", kept).await;
    app.press("e").settle().await;
    app.expect("typed[package]").expect("draft restored").press("C-s").settle().await;
    let kept = app.kept.clone();
    let mut app = at(&server, "ada", "README.md", kept).await;
    app.expect("1 staged").press("g i").settle().await;
    app.expect("+ typed[package]");
    app.press("D").expect("Discard your changes to Cargo.toml").press("y").settle().await;
    app.expect("Nothing is staged");
    server.stop().await;
}

#[tokio::test]
async fn the_editor_keeps_line_endings_and_can_search_and_undo() {
    let server = served().await;
    let crlf = "\u{feff}one\r\n\ttwo \u{202e}x\r\nthree";
    meanwhile(&server, "main", vec![update("Cargo.toml", crlf)]).await;
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    app.press("e").settle().await;
    app.expect("CRLF · BOM · no newline at end").expect("<U+202E>x");
    app.press("C-f").type_text("three").press("Enter").expect("1 of 1").expect("3:1");
    app.press("End Enter").type_text("four").expect("four").press("C-l").type_text("2").press("Enter").expect("2:1");
    app.type_text("zz").expect("zz").press("C-z").press("C-z").expect_no("zz").press("C-s").settle().await;
    app.press("g i").settle().await;
    commit(&mut app).await;
    let written = String::from_utf8(bytes(&server, "Cargo.toml").await).expect("text");
    assert_eq!(written, "\u{feff}one\r\n\ttwo \u{202e}x\r\nthree\r\nfour");
    server.stop().await;
}

#[tokio::test]
async fn files_that_cannot_be_edited_are_refused_with_a_reason() {
    let server = served().await;
    let base64 = |bytes: &[u8]| {
        use base64::Engine;
        base64::engine::general_purpose::STANDARD.encode(bytes)
    };
    let binary = |path: &str, bytes: &[u8]| CommitAction {
        action: "create".into(),
        encoding: Some("base64".into()),
        ..update(path, &base64(bytes))
    };
    let large = "0123456789\n".repeat(1 << 20);
    let actions =
        vec![binary("latin.txt", b"caf\xe9\n"), binary("large.txt", large.as_bytes()), binary("zero", b"a\0b")];
    meanwhile(&server, "main", actions).await;
    for (path, words) in
        [("latin.txt", "Not UTF-8 (line 1)"), ("large.txt", "too large for this editor"), ("zero", "NUL bytes")]
    {
        let mut app = at(&server, "ada", path, HashMap::new()).await;
        app.press("e").settle().await;
        app.expect(words).press("Esc").expect_no(words);
    }
    server.stop().await;
}

#[tokio::test]
async fn read_only_mode_refuses_before_the_editor_opens() {
    let server = served().await;
    let place = Place::new("files").project(PROJECT).at("main").path("Cargo.toml");
    let mut app = Begin::at(place).size(120, 34).read_only().server(&server.base_url, &server.tokens["ada"]).open();
    app.settle().await;
    app.press("e").settle().await;
    app.expect("labscope is read-only").expect_no("edit Cargo.toml");
    server.stop().await;
}

#[tokio::test]
async fn cherry_picks_run_in_order_until_one_conflicts() {
    let server = served().await;
    let text = String::from_utf8(bytes(&server, "Cargo.toml").await).expect("text");
    branch(&server, "stable").await;
    meanwhile(&server, "main", vec![update("README.md", "# One\n")]).await;
    meanwhile(&server, "main", vec![update("Cargo.toml", &format!("# two\n{text}"))]).await;
    meanwhile(&server, "stable", vec![update("README.md", "# Other\n")]).await;
    let token = &server.tokens["ada"];
    let place = Place::new("commits").project(PROJECT).at("main");
    let mut app = Begin::at(place).size(120, 34).server(&server.base_url, token).open();
    app.settle().await;
    app.press("p").settle().await;
    app.expect("Cherry-pick commit").expect("New branch").type_text("stable").settle().await;
    app.press("Enter C-u C-s").until("Picked commit").await;
    app.settle().await;
    assert_eq!(app.app.place().pane, "commit");
    app.press("q").settle().await;
    app.press("Space Space p").expect("Cherry-pick 2 commits").type_text("stable").settle().await;
    app.press("Enter C-u C-s").until("Nothing was picked").await;
    app.expect("Cherry-pick stopped").expect("changes conflict with stable").expect("after it was not tried");
    app.pass(1).press("y");
    assert_eq!(app.app.place().pane, "commit");
    server.stop().await;
}

#[tokio::test]
async fn a_pick_to_a_new_branch_opens_the_form_of_its_merge_request() {
    let server = served().await;
    branch(&server, "stable").await;
    meanwhile(&server, "main", vec![update("README.md", "# One\n")]).await;
    let place = Place::new("commit").project(PROJECT).item("main");
    let mut app = Begin::at(place).size(120, 34).server(&server.base_url, &server.tokens["ada"]).open();
    app.settle().await;
    app.press("p").type_text("stable").settle().await;
    app.press("Enter Tab").type_text("Backport of one").press("C-s").until("New merge request in").await;
    app.settle().await;
    app.expect("cherry-pick-").expect("stable").expect("Backport of one");
    server.stop().await;
}

#[tokio::test]
async fn a_commit_status_can_be_set() {
    let server = served().await;
    let place = Place::new("commit").project(PROJECT).item("main").tab("details");
    let mut app = Begin::at(place).size(120, 34).server(&server.base_url, &server.tokens["ada"]).open();
    app.settle().await;
    app.press("t").expect("Status of");
    app.press("Tab").type_text("lint").press("Tab").type_text("all quiet").press("C-s").settle().await;
    app.expect("lint").expect("all quiet").expect("success");
    server.stop().await;
}

#[tokio::test]
async fn a_text_from_the_external_editor_is_staged_byte_for_byte() {
    use labscope::app::action::Msg;
    let server = served().await;
    let mut app = at(&server, "ada", "Cargo.toml", HashMap::new()).await;
    app.press("E").settle().await;
    app.expect("Open in $EDITOR");
    app.send(Msg::EditorClosed(Ok("written\n\n\n".into())));
    app.settle().await;
    app.expect("Staged Cargo.toml").press("g i").settle().await;
    commit(&mut app).await;
    assert_eq!(bytes(&server, "Cargo.toml").await, b"written\n\n\n");
    let mut app = at(&server, "ada", "README.md", HashMap::new()).await;
    app.press("E").settle().await;
    app.send(Msg::EditorClosed(Ok("# Rocket\n".into())));
    app.settle().await;
    app.expect("No changes").expect_no("staged");
    server.stop().await;
}

#[tokio::test]
async fn a_deleted_branch_is_reported_and_staged_changes_stay() {
    let server = served().await;
    branch(&server, "brief").await;
    let place = Place::new("files").project(PROJECT).at("brief").path("Cargo.toml");
    let mut app = Begin::at(place).size(120, 34).server(&server.base_url, &server.tokens["ada"]).open();
    app.settle().await;
    app.press("e").settle().await;
    app.type_text("mine").press("C-s").settle().await;
    let mut to = Server::new(server.base_url.parse().expect("an address"));
    to.token = Some(server.tokens["ada"].clone().into());
    let delete = labscope::api::branches::DeleteBranch { id: PROJECT.into(), branch: "brief".into() };
    Client::new(to).expect("a client").send(&delete.request()).await.expect("deleted");
    app.press("g i").settle().await;
    app.expect("brief is no longer a branch of this project").expect("your changes are kept").expect("+ mine[package]");
    app.press("S").press("C-s").until("Not committed").await;
    app.settle().await;
    app.expect("Everything is still here").expect("+ mine[package]");
    server.stop().await;
}

#[tokio::test]
async fn hostile_names_are_sanitized_in_the_editor() {
    let server = served().await;
    let name = "bad\u{1b}[31m\u{202e}name";
    let create = CommitAction { action: "create".into(), ..update(name, "a\u{1b}[2Jb\n") };
    meanwhile(&server, "main", vec![create]).await;
    let mut app = at(&server, "ada", name, HashMap::new()).await;
    app.press("e").settle().await;
    app.expect("edit bad␛[31m<U+202E>name").expect("a␛[2Jb");
    app.press("Esc").press("D").settle().await;
    app.press("g i").settle().await;
    app.expect("bad␛[31m<U+202E>name");
    server.stop().await;
}

#[tokio::test]
async fn editing_a_file_at_a_tag_explains_that_a_branch_is_needed() {
    let mut app = Begin::at(Place::new("tags").project("acme/rocket-ui")).size(120, 34).open();
    let project = "GET /projects/acme%2Frocket-ui";
    let file = json!({"id": "b10b", "name": "a.rs", "type": "blob", "path": "a.rs", "mode": "100644"});
    app.reply("GET /user", user(1, "ada"))
        .reply(project, json!({"id": 7, "path_with_namespace": "acme/rocket-ui", "default_branch": "main"}))
        .reply(&format!("{project}/repository/tags"), [json!({"name": "v1.0", "commit": {"id": "aa", "title": "x"}})])
        .reply(&format!("{project}/repository/tree"), [file])
        .reply_raw(&format!("{project}/repository/blobs/b10b/raw"), "fn a() {}\n")
        .settle()
        .await;
    app.press("Enter").settle().await;
    assert_eq!(app.app.place().git_ref, Some(labscope::api::GitRef::tag("v1.0")));
    app.press("e").expect("This is a tag; R chooses a branch");
}
