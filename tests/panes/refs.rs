//! Tags and branches of one name, and servers that know only short names of refs.

use crate::fixtures::{With, branch, commit, user};
use crate::harness::{Begin, Harness};
use crate::scripted::{Scripted, answer};
use crate::served::demo;
use labscope::api::branches::CreateBranch;
use labscope::api::client::{Client, Server};
use labscope::api::commits::{CommitAction, CreateCommit};
use labscope::api::{Endpoint, GitRef, Request};
use labscope::app::Place;
use labscope::app::state::AccountState;
use labscope::backend::RunningServer;
use serde_json::json;
use std::sync::Arc;

const PROJECT: &str = "acme/rocket-ui";
/// The name of a tag of the demo, and here of a branch, too.
const NAME: &str = "v0.3.0";

async fn send(server: &RunningServer, request: Request) {
    let mut to = Server::new(server.base_url.parse().expect("an address"));
    to.token = Some(server.token().to_owned().into());
    Client::new(to).expect("a client").send(&request).await.expect("a success");
}

/// Serves the demo world with a branch that has the name of a tag. Only the branch has the file `ONLY_BRANCH`.
async fn served() -> RunningServer {
    let server = demo().await;
    let branch = CreateBranch { id: PROJECT.into(), branch: NAME.into(), r#ref: "main".into() };
    send(&server, branch.request()).await;
    let action = CommitAction {
        action: "create".into(),
        file_path: "ONLY_BRANCH".into(),
        content: Some("here\n".into()),
        ..CommitAction::default()
    };
    let commit = CreateCommit {
        id: PROJECT.into(),
        branch: NAME.into(),
        commit_message: "Commit of the branch".into(),
        actions: vec![action],
        ..CreateCommit::default()
    };
    send(&server, commit.request()).await;
    server
}

async fn open(server: &RunningServer, place: Place) -> Harness {
    let mut app = Begin::at(place.project(PROJECT)).size(160, 40).server(&server.base_url, server.token()).open();
    app.settle().await;
    app
}

/// Opens a list and puts the cursor on [`NAME`].
async fn at_name(server: &RunningServer, list: &str) -> Harness {
    let mut app = open(server, Place::new(list)).await;
    app.press("/").type_text(NAME).press("Enter").settle().await;
    app.expect(&format!("▌ {NAME} "));
    app
}

#[tokio::test]
async fn a_tag_and_a_branch_of_one_name_open_their_own_files_and_commits() {
    let server = served().await;
    let mut app = at_name(&server, "tags").await;
    app.press("Enter").settle().await;
    app.expect(&format!("tag {NAME}")).expect("Cargo.toml").expect_no("ONLY_BRANCH");
    app.press("e").expect("This is a tag; R chooses a branch");
    app.press("H").settle().await;
    app.expect(&format!("tag {NAME}")).expect_no("Commit of the branch");

    let mut app = at_name(&server, "branches").await;
    app.press("Enter").settle().await;
    app.expect(&format!("⎇ {NAME}")).expect("ONLY_BRANCH").expect_no("tag v");
    app.press("H").settle().await;
    app.expect("Commit of the branch");

    let mut app = open(&server, Place::new("files")).await;
    app.press("R").type_text(NAME).settle().await;
    app.press("Down Enter").settle().await;
    app.expect(&format!("tag {NAME}")).expect_no("ONLY_BRANCH");
    server.stop().await;
}

#[tokio::test]
async fn a_tag_is_compared_with_the_branch_of_its_name() {
    let server = served().await;
    let range = format!("{}...{}", GitRef::tag(NAME).as_str(), GitRef::branch(NAME).as_str());
    let mut app = open(&server, Place::new("compare").item(range)).await;
    app.expect(&format!("tag {NAME} → branch {NAME}")).expect("Commit of the branch");
    app.press("M").expect("Tags cannot be merged");
    server.stop().await;
}

#[tokio::test]
async fn a_new_branch_starts_at_the_branch_or_tag_that_was_selected() {
    let server = served().await;
    let mut app = at_name(&server, "branches").await;
    app.press("+").settle().await;
    assert!(app.line_with("Create from").contains(NAME), "{}", app.picture());
    app.type_text("copy").press("C-s").settle().await;
    let mut copy = open(&server, Place::new("files").at("copy")).await;
    copy.settle().await;
    copy.expect("ONLY_BRANCH");
    server.stop().await;
}

#[tokio::test]
async fn the_lists_of_refs_select_the_ref_of_their_kind() {
    let server = served().await;
    let mut app = open(&server, Place::new("files").at(GitRef::tag(NAME))).await;
    app.press("g t").settle().await;
    app.expect(&format!("▌ {NAME} "));
    app.press("Esc").settle().await;
    app.press("g b").settle().await;
    app.expect(&format!("  {NAME} ")).expect("▌ feature/mouse");
    server.stop().await;
}

#[tokio::test]
async fn web_addresses_tell_tags_from_branches() {
    let server = served().await;
    for (git_ref, query) in [(GitRef::tag(NAME), "?ref_type=tags"), (GitRef::branch(NAME), "?ref_type=heads")] {
        let mut app = open(&server, Place::new("files").at(git_ref.clone())).await;
        app.press("y").settle().await;
        app.expect(&format!("/-/tree/{NAME}{query}"));
        let target = format!("{}/{PROJECT}/-/tree/{NAME}{query}", server.base_url.trim_end_matches('/'));
        app.press("Esc").press(":").type_text(&target).press("Enter").settle().await;
        assert_eq!(app.app.place().git_ref, Some(git_ref));
    }
    server.stop().await;
}

#[tokio::test]
async fn a_recent_place_with_a_short_name_is_the_same_place() {
    let server = served().await;
    let mut kept =
        Begin::at(Place::new("tags").project(PROJECT)).size(160, 40).server(&server.base_url, server.token());
    let mut state = AccountState::default();
    let old = Place::new("files").project(PROJECT).at(NAME);
    Arc::make_mut(&mut state.recents).places = vec![old];
    kept.states.insert(String::new(), state);
    let mut app = kept.open();
    app.settle().await;
    app.press("/").type_text(NAME).press("Enter").settle().await;
    app.press("Enter").settle().await;
    app.press("g h").settle().await;
    let (_, state) = app.states.iter().find(|(account, _)| !account.is_empty()).expect("the account's state");
    let files: Vec<_> = state.recents.places.iter().filter(|place| place.pane == "files").collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(files[0].git_ref, Some(GitRef::tag(NAME)));
    server.stop().await;
}

#[tokio::test]
async fn a_row_of_an_earlier_filter_is_not_opened() {
    let server = served().await;
    let mut app = open(&server, Place::new("tags")).await;
    app.press("/").type_text(NAME).press("Enter").press("Enter");
    app.expect("The list is still being filtered");
    app.settle().await;
    app.press("Enter").settle().await;
    assert_eq!(app.app.place().git_ref, Some(GitRef::tag(NAME)));
    server.stop().await;
}

#[tokio::test]
async fn a_list_without_page_numbers_follows_the_links_of_its_server() {
    let server = Scripted::minded(|asked| {
        let line = asked.line.trim_start_matches("GET /api/v4/projects/a%2Fb");
        let branch = |name: &str| json!([{"name": name, "commit": {"id": "a".repeat(40)}}]).to_string();
        let link =
            "<http://elsewhere.invalid/api/v4/other?pagination=keyset&page_token=first&private_token=x>; rel=\"next\"";
        match line {
            "" => answer(200, json!({"id": 7, "path_with_namespace": "a/b", "default_branch": "first"}).to_string()),
            _ if !line.starts_with("/repository/branches?") => answer(404, r#"{"message":"404 Not Found"}"#),
            _ if line.contains("page_token=first") => answer(200, branch("second")),
            _ => answer(200, branch("first")).with("link", link),
        }
    })
    .await;
    let mut app = Begin::at(Place::new("branches").project("a/b")).size(120, 30).server(server.url.as_str(), "").open();
    app.settle().await;
    app.expect("first").expect("second");
    let asked = server.asked();
    let lines: Vec<&str> = asked.iter().map(|asked| asked.line.as_str()).filter(|l| l.contains("page_token")).collect();
    let path = "GET /api/v4/projects/a%2Fb/repository/branches";
    assert_eq!(lines, [format!("{path}?pagination=keyset&page_token=first&per_page=100")]);
}

#[tokio::test]
async fn a_server_that_knows_only_short_names_shows_tags() {
    let server = Scripted::minded(|asked| {
        let line = asked.line.as_str();
        let commit = json!({"id": "a".repeat(40), "short_id": "aaaaaaaa", "title": "First"});
        let body = match line.trim_start_matches("GET /api/v4") {
            "/user" => user(1, "ada"),
            "/projects/a%2Fb" => json!({"id": 7, "path_with_namespace": "a/b", "default_branch": "main"}),
            rest if rest.contains("refs%2F") => return answer(404, r#"{"message":"404 Tree Not Found"}"#),
            rest if rest.starts_with("/projects/a%2Fb/repository/tags/v1") => json!({"name": "v1", "commit": commit}),
            rest if rest.starts_with("/projects/a%2Fb/repository/tags") => json!([{"name": "v1", "commit": commit}]),
            rest if rest.contains("/repository/tree?") && rest.contains("ref=v1") => {
                json!([{"id": "b10b", "name": "old.rs", "type": "blob", "path": "old.rs", "mode": "100644"}])
            }
            rest if rest.contains("/repository/commits/v1") => commit,
            rest if rest.contains("/repository/commits?") && rest.contains("ref_name=v1") => json!([commit]),
            _ => return answer(404, r#"{"message":"404 Not Found"}"#),
        };
        answer(200, body.to_string())
    })
    .await;
    let mut app = Begin::at(Place::new("tags").project("a/b")).size(120, 30).server(server.url.as_str(), "").open();
    app.settle().await;
    app.press("Enter").settle().await;
    app.expect("tag v1").expect("old.rs");
    app.press("H").settle().await;
    app.expect("First");
    let full = server.asked().iter().filter(|asked| asked.line.contains("refs%2F")).count();
    assert!(full <= 4, "short names are used once the server is known: {full}");
}

/// Opens a list of three refs of `a/b`, of which the last one is protected, or has a release.
async fn three(list: &str) -> Harness {
    let mut app = Begin::at(Place::new(list).project("a/b")).size(120, 30).open();
    let of = |name: &str| branch(name, commit(&"a".repeat(40), "Start", "2026-06-15T08:00:00Z"));
    let last = of("three").with(json!({"protected": true, "release": {"tag_name": "three", "description": "New."}}));
    app.reply("GET /projects/a%2Fb", json!({"id": 7, "path_with_namespace": "a/b", "default_branch": "main"}));
    app.reply(&format!("GET /projects/a%2Fb/repository/{list}"), [of("one"), of("two"), last]).settle().await;
    app
}

fn deleted(app: &Harness) -> Vec<String> {
    app.asked.iter().filter(|line| line.starts_with("DELETE")).cloned().collect()
}

#[tokio::test]
async fn marked_branches_and_tags_are_deleted_and_not_the_one_under_the_cursor() {
    for (list, noun) in [("branches", "branches"), ("tags", "tags")] {
        let mut app = three(list).await;
        let url = format!("DELETE /projects/a%2Fb/repository/{list}");
        app.reply(&format!("{url}/one"), json!(null)).reply(&format!("{url}/two"), json!(null));
        app.press("Space Space").expect("2 marked").press("D").expect(&format!("Delete these 2 {noun} of a/b?"));
        app.press("y").settle().await;
        app.expect("2 of 2 done");
        assert_eq!(deleted(&app), [format!("{url}/one"), format!("{url}/two")]);
    }
    // One that cannot be deleted is named.
    let mut app = three("branches").await;
    app.press("Space j Space D").expect("The branch three is protected");
    assert!(deleted(&app).is_empty());
    let mut app = three("tags").await;
    app.press("Space j Space D").expect("1 release goes with them");
}

#[tokio::test]
async fn a_change_of_one_row_is_refused_while_rows_are_marked() {
    for (list, keys) in [("branches", "P"), ("tags", "e")] {
        let mut app = three(list).await;
        app.press("Space").press(keys).expect("Rows are marked, and this is for one row only; Esc clears the marks");
        app.press("Esc").press(keys).expect_no("clears the marks").expect("two");
    }
}
