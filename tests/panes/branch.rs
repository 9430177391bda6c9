//! The branch that is checked out in the clone: its merge request, a new one, and pushing it.

use crate::fixtures::{With, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::app::clone::{CloneFolder, CloneHead, CloneRemote, Push, PushAddress};
use labscope::app::custom::RunEvent;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PROJECT: &str = "GET /projects/acme%2Frocket-ui";
const REQUESTS: &str = "GET /projects/acme%2Frocket-ui/merge_requests";
const BRANCH: &str = "GET /projects/acme%2Frocket-ui/repository/branches/feature%2Frows";
const MR: &str = "GET /projects/acme%2Frocket-ui/merge_requests/42";
const URL: &str = "https://ada:hunter2@demo.test/acme/rocket-ui.git";
const HERE: &str = "9f3c2abd001100112233445566778899aabbccdd";
const OLD: &str = "0000000000000000000000000000000000000001";

fn clone() -> CloneFolder {
    let remote =
        CloneRemote { name: "origin".into(), url: URL.into(), project: "acme/rocket-ui".into(), pushed_to: None };
    CloneFolder { folder: "/w/ui".into(), remotes: vec![remote], ..CloneFolder::default() }
}

fn head() -> CloneHead {
    CloneHead {
        branch: Some("feature/rows".into()),
        commit: Some(HERE.into()),
        remote: "origin".into(),
        remote_branch: "feature/rows".into(),
        tracked: Some(OLD.into()),
        ahead: 2,
        titles: vec!["Draw rows \u{1b}[2J".into(), "Count rows".into()],
        behind: 0,
        lines: BTreeMap::new(),
    }
}

fn request(state: &str) -> Value {
    merge_request(42, "Draw only visible rows", state).with(json!({
        "id": 420, "source_branch": "feature/rows", "source_project_id": 7, "target_project_id": 7, "project_id": 7,
        "web_url": "http://demo.test/acme/rocket-ui/-/merge_requests/42",
    }))
}

fn on_server(sha: &str) -> Value {
    json!({"name": "feature/rows", "commit": {"id": sha, "title": "One"}})
}

async fn open(place: Place, head: CloneHead, requests: &[Value], branch: Option<&str>) -> Harness {
    open_in(clone(), place, head, requests, branch).await
}

async fn open_in(
    clone: CloneFolder,
    place: Place,
    head: CloneHead,
    requests: &[Value],
    branch: Option<&str>,
) -> Harness {
    let mut begin = Begin::at(place).size(120, 40);
    begin.clone = Some(clone);
    let mut harness = begin.open();
    harness.reply("GET /user", user(1, "ada")).reply(REQUESTS, requests).reply(PROJECT, json!({"id": 7,
        "path_with_namespace": "acme/rocket-ui", "default_branch": "main", "web_url": "http://demo.test/acme/rocket-ui"}));
    harness.reply(MR, request("opened"));
    match branch {
        Some(sha) => _ = harness.reply(BRANCH, on_server(sha)),
        None => _ = harness.fail(BRANCH, 404, "404 Branch Not Found"),
    }
    harness.send(Msg::HeadRead(Ok(head)));
    harness.settle().await;
    harness
}

fn new() -> Place {
    Place::new("branch").item("new")
}

#[tokio::test]
async fn the_merge_request_of_the_branch_is_opened_from_anywhere() {
    for place in [Place::new("branch"), new()] {
        let harness = open(place, head(), &[request("opened")], Some(HERE)).await;
        let place = harness.app.place();
        assert_eq!((place.pane.as_str(), place.item.as_deref()), ("mr", Some("42")), "{}", harness.picture());
    }
    let mut harness = open(Place::new("todos"), head(), &[request("opened")], Some(OLD)).await;
    harness.press("g .").settle().await;
    assert_eq!(harness.app.place().pane, "branch", "the branch is read again");
    harness.send(Msg::HeadRead(Ok(head())));
    harness.settle().await;
    assert_eq!(harness.app.place().pane, "mr");
    harness.expect("feature/rows: 2 commits not pushed");
}

#[tokio::test]
async fn a_merge_request_that_ended_or_is_of_another_fork_is_not_the_one_of_the_branch() {
    let other = request("opened").with(json!({"source_project_id": 9}));
    let mut harness = open(Place::new("branch"), head(), &[other, request("merged")], Some(HERE)).await;
    harness.expect("!42 Draw only visible rows").expect("merged").expect("No merge request: + creates one.");
    harness.press("+").settle().await;
    harness.expect("New merge request in acme/rocket-ui").expect("feature/rows");
}

#[tokio::test]
async fn a_branch_that_the_server_does_not_have_is_pushed_first() {
    let mut harness = open(new(), CloneHead { tracked: None, ..head() }, &[], None).await;
    harness.expect("Push feature/rows (2 commits) to").expect("https://demo.test/acme/rocket-ui.git with git?");
    harness.expect("Count rows").expect_no("hunter2").expect_no("New merge request");
    // These keys were pressed before anybody could read the question.
    harness.press("P y Enter");
    assert_eq!(harness.pushed(), []);
    harness.pass(1).press("P");
    let push = Push {
        folder: "/w/ui".into(),
        remote: "origin".into(),
        url: URL.into(),
        branch: "feature/rows".into(),
        remote_branch: "feature/rows".into(),
        trusted: None,
    };
    assert_eq!(harness.pushed(), [(1, push.clone())]);
    harness.send(Msg::PushUntrusted {
        number: 1,
        push: push.clone(),
        reasons: vec!["/w/ui/.git/hooks/pre-push = ab12".into()],
        fingerprint: "ff".into(),
    });
    harness.expect("Trust clone").expect("hooks/pre-push = ab12").pass(1).press("y");
    assert_eq!(harness.pushed().last(), Some(&(2, Push { trusted: Some("ff".into()), ..push })));
    harness.send(Msg::CustomCommand(2, RunEvent::Output(b"remote: \x1b[2JScanning\nTo demo.test\n".to_vec())));
    harness.expect("remote: ").expect("Scanning").expect("To demo.test");
    harness.reply(BRANCH, on_server(HERE));
    harness.send(Msg::CustomCommand(2, RunEvent::Ended(Ok(()))));
    harness.settle().await;
    harness.send(Msg::HeadRead(Ok(CloneHead { ahead: 0, titles: Vec::new(), tracked: Some(HERE.into()), ..head() })));
    harness.settle().await;
    harness.expect("New merge request in acme/rocket-ui").expect_no("Scanning");
}

#[tokio::test]
async fn another_branch_or_project_needs_more_than_enter() {
    let into = CloneHead { branch: Some("hotfix".into()), ..head() };
    let mut harness = open(Place::new("branch"), into, &[], Some(OLD)).await;
    harness.press("P").expect("Push hotfix (2 commits) into feature/rows of").press("Enter P");
    assert_eq!(harness.pushed(), []);
    harness.press("y");
    let pushed = harness.pushed();
    assert_eq!((pushed[0].1.branch.as_str(), pushed[0].1.remote_branch.as_str()), ("hotfix", "feature/rows"));
    // The same project by another way is named, and its branch is the one that is compared.
    let pushed_to =
        |project: &str| Some(Ok(PushAddress { url: format!("git@demo.test:{project}"), project: project.into() }));
    let mut by_ssh = clone();
    by_ssh.remotes[0].pushed_to = pushed_to("acme/rocket-ui");
    let mut harness = open_in(by_ssh, Place::new("branch"), head(), &[], Some(OLD)).await;
    harness
        .press("P")
        .expect("git@demo.test:acme/rocket-ui")
        .expect("The clone is")
        .expect("fetched from https://demo.test")
        .press("Enter");
    assert_eq!(harness.pushed()[0].1.url, "git@demo.test:acme/rocket-ui");
    let mut to_fork = clone();
    to_fork.remotes[0].pushed_to = pushed_to("ada/rocket-ui");
    let mut harness = open_in(to_fork, Place::new("branch"), head(), &[], Some(OLD)).await;
    harness.reply("GET /projects/ada%2Frocket-ui", json!({"id": 8, "path_with_namespace": "ada/rocket-ui"}));
    harness.reply("GET /projects/ada%2Frocket-ui/merge_requests", json!([]));
    harness.fail("GET /projects/ada%2Frocket-ui/repository/branches/feature%2Frows", 404, "404 Branch Not Found");
    harness.settle().await;
    harness.press("P").expect("git@demo.test:ada/rocket-ui").press("Enter");
    assert_eq!(harness.pushed(), []);
    harness.press("y");
    assert_eq!(harness.pushed()[0].1.url, "git@demo.test:ada/rocket-ui");
}

#[tokio::test]
async fn a_push_that_would_leave_the_server_is_refused_in_words() {
    let mut elsewhere = clone();
    let why = "git pushes origin to file:///w\u{1b}[2J, which is not on demo.test";
    elsewhere.remotes[0].pushed_to = Some(Err(why.into()));
    let mut harness = open_in(elsewhere.clone(), new(), CloneHead { tracked: None, ..head() }, &[], None).await;
    harness.expect("feature/rows cannot be pushed: git pushes origin to file:///w").expect_no("New merge request");
    harness.press("P").expect("which is not on demo.test; push with git if that is right");
    assert_eq!(harness.pushed(), []);
    let mut harness = open_in(elsewhere.clone(), new(), head(), &[], Some(OLD)).await;
    harness.expect("feature/rows was not pushed: git pushes origin to").expect("New merge request in acme/rocket-ui");
    // What needs no push works.
    let mut harness = open_in(elsewhere, new(), head(), &[], Some(HERE)).await;
    harness.expect("New merge request in acme/rocket-ui");
}

#[tokio::test]
async fn a_question_is_wrapped_and_scrolls_but_never_cut() {
    let mut long = clone();
    let path = format!("/srv/{}/acme", "a-long-folder/".repeat(60));
    long.remotes[0].url = format!("ssh://demo.test{path}/rocket-ui.git");
    let titles = vec![format!("Draw rows {} to the end", "again and ".repeat(12)), "Count rows".into()];
    let head = CloneHead { branch: Some("hotfix".into()), titles, ..head() };
    for (width, height) in [(120, 40), (80, 24), (50, 16), (50, 12)] {
        let mut harness = open_in(long.clone(), Place::new("branch"), head.clone(), &[], Some(OLD)).await;
        harness.send(Msg::Resize(width, height));
        harness.press("P").expect("Push hotfix (2 commits) into feature/rows of");
        // What is between the borders of the question.
        let inside = |harness: &Harness| -> String {
            harness.picture().lines().filter_map(|row| row.split('│').nth(1).map(str::to_owned)).collect()
        };
        let (mut seen, mut last) = (inside(&harness), String::new());
        while last != inside(&harness) {
            last = inside(&harness);
            harness.press("j");
            seen.push_str(&inside(&harness));
        }
        let letters: String = seen.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        for end in ["acmerocketuigitwithgit", "totheend", "Countrows"] {
            assert!(letters.contains(end), "{end} at {width}x{height}:\n{seen}");
        }
        harness.press("y");
        assert_eq!(harness.pushed().len(), 1);
    }
}

#[tokio::test]
async fn in_the_clone_of_a_fork_the_request_goes_to_its_parent() {
    let mut of_fork = clone();
    of_fork.remotes[0].project = "ada/rocket-ui".into();
    of_fork.remotes.push(CloneRemote {
        name: "upstream".into(),
        project: "acme/rocket-ui".into(),
        ..CloneRemote::default()
    });
    let mut harness = open_in(of_fork, new(), head(), &[], Some(OLD)).await;
    let parent = json!({"id": 7, "path_with_namespace": "acme/rocket-ui", "default_branch": "develop"});
    harness.reply(
        "GET /projects/ada%2Frocket-ui",
        json!({"id": 8, "path_with_namespace": "ada/rocket-ui",
        "default_branch": "develop", "forked_from_project": parent}),
    );
    harness.reply("GET /projects/ada%2Frocket-ui/merge_requests", json!([]));
    harness.reply("GET /projects/ada%2Frocket-ui/repository/branches/feature%2Frows", on_server(HERE));
    harness.settle().await;
    harness.expect("New merge request in ada/rocket-ui").expect("acme/rocket-ui").expect("feature/rows");
}

#[tokio::test]
async fn a_push_that_fails_stays_on_the_screen_and_one_that_is_canceled_opens_nothing() {
    let mut harness = open(Place::new("branch"), head(), &[], Some(OLD)).await;
    harness.expect("2 commits not pushed").press("P y");
    let why =
        "fatal: could not read Username for 'http://demo.test:8080/acme/rocket-ui.git': terminal prompts disabled";
    harness.send(Msg::CustomCommand(1, RunEvent::Output(format!("{why}\n").into_bytes())));
    harness.expect("fatal: could not read Username").expect("prompts disabled");
    // Long lines are wrapped at the end and from the start, and all of them can be reached.
    let lines: String = (0..60).map(|n| format!("remote: line {n} {}end{n}\n", "words ".repeat(20))).collect();
    harness.send(Msg::CustomCommand(1, RunEvent::Output(lines.into_bytes())));
    harness
        .expect("line 59")
        .expect("end59")
        .expect_no("end40")
        .press("g")
        .expect("prompts disabled")
        .expect_no("end59");
    harness.press("G k").expect("line 58").expect("end58").press("j").expect("end59");
    harness.send(Msg::CustomCommand(1, RunEvent::Ended(Err("failed with exit status: 128".into()))));
    harness.settle().await;
    harness.expect("failed with exit status: 128").press("Esc");
    harness.press("P y Esc");
    assert!(harness.stopped().contains(&2), "Esc stops git");
    harness.send(Msg::CustomCommand(2, RunEvent::Ended(Err("was canceled".into()))));
    harness.press("Esc").settle().await;
    harness.expect("2 commits not pushed").expect_no("New merge request");
    assert!(!harness.asked.iter().any(|line| line.starts_with("POST")));
}

#[tokio::test]
async fn a_clone_without_a_branch_says_what_to_do() {
    let detached = CloneHead { commit: Some(HERE.into()), ..CloneHead::default() };
    let mut harness = open(new(), detached, &[], None).await;
    harness.expect("No branch is checked out (HEAD is detached at 9f3c2abd); git switch").expect("checks one out.");
    harness.press("+").expect("No branch is checked out");
    harness.send(Msg::HeadRead(Err("git cannot be started: not found".into())));
    harness.expect("The clone cannot be read: git cannot be started: not found.");
    let on_main = CloneHead { branch: Some("main".into()), remote_branch: "main".into(), ..head() };
    let mut harness = open(new(), on_main, &[], None).await;
    harness.expect("default branch is main; git switch -c begins another").expect_no("New merge request");
    let empty = CloneHead { commit: None, ..head() };
    open(new(), empty, &[], None).await.expect("feature/rows has no commits yet");
    let mut elsewhere = Begin::at(Place::new("branch")).open();
    elsewhere.press("+").expect("Not in a clone of a project on this server");
}

#[tokio::test]
async fn newer_commits_on_the_server_are_named_and_nothing_is_forced() {
    let mut harness = open(Place::new("branch"), head(), &[], Some("77aa2abd001100112233445566778899aabbccdd")).await;
    harness.expect("2 commits not pushed, newer commits on the server");
    harness.press("P").expect("The server has other commits; pull or rebase with git first");
    let behind = CloneHead { ahead: 0, behind: 3, titles: Vec::new(), ..head() };
    let mut harness = open(Place::new("branch"), behind, &[], Some(OLD)).await;
    harness.expect("3 commits to pull").press("P").expect("The server has newer commits; git pull brings them");
}

#[tokio::test]
async fn home_begins_with_the_branch() {
    let mut harness = open(Place::new("home"), head(), &[request("opened")], Some(OLD)).await;
    harness.expect("This branch feature/rows  2 commits not pushed").expect("!42").press("g g Enter").settle().await;
    assert_eq!(harness.app.place().pane, "mr");
    let mut harness = open(Place::new("home"), head(), &[], Some(HERE)).await;
    harness.expect("This branch feature/rows").expect("No merge request; M creates one.").press("M").settle().await;
    harness.send(Msg::HeadRead(Ok(head())));
    harness.settle().await;
    harness.expect("New merge request in acme/rocket-ui");
    let detached = CloneHead { commit: Some(HERE.into()), ..CloneHead::default() };
    let mut harness = open(Place::new("home"), detached, &[], None).await;
    harness.expect("No merge request: no branch is checked out");
}
