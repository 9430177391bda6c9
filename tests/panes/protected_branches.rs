//! Rules that protect branches, and forks.

use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::json;

const LIST: &str = "GET /projects/a%2Fb/protected_branches";

async fn open() -> Harness {
    let mut harness = Begin::at(Place::new("protected_branches").project("a/b")).size(140, 30).open();
    let access = |level: u64, words: &str| json!([{"access_level": level, "access_level_description": words}]);
    harness.reply(
        LIST,
        json!([
            {"name": "release/*", "push_access_levels": access(0, "No one"), "merge_access_levels": access(30, ""),
                "allow_force_push": true},
            {"name": "main", "push_access_levels": [{"access_level": null, "access_level_description": "Ada"}],
                "merge_access_levels": access(60, "")},
        ]),
    );
    let branches = ["main", "release/1", "release/2", "fix"].map(|name| json!({"name": name}));
    harness.reply("GET /projects/a%2Fb/repository/branches", branches).settle().await;
    harness
}

#[tokio::test]
async fn each_says_who_may_do_what_and_which_branches_it_covers() {
    let mut harness = open().await;
    for words in ["release/*", "No one", "Developers + Maintainers", "allowed"] {
        assert!(harness.line_with("▌ release/*").contains(words), "{words}\n{}", harness.picture());
    }
    harness.expect("release/1").expect("release/2").expect_no("fix").press("j").expect("Ada").expect("level 60");
}

#[tokio::test]
async fn branches_are_protected_and_unprotected_after_a_question() {
    let mut harness = open().await;
    harness.press("+").expect("Protect branches of a/b").type_text("v*").press("Tab").type_text("N");
    harness.reply("POST /projects/a%2Fb/protected_branches", json!({"name": "v*"})).press("C-s").settle().await;
    harness.press("D").expect("Stop protecting release/* in a/b?").press("y");
    let sent: Vec<&String> = harness.asked.iter().filter(|line| !line.starts_with("GET")).collect();
    assert_eq!(
        sent,
        [
            "POST /projects/a%2Fb/protected_branches merge_access_level=40 name=v* push_access_level=0",
            "DELETE /projects/a%2Fb/protected_branches/release%2F%2A",
        ]
    );
}

#[tokio::test]
async fn a_server_without_rules_says_so_and_none_is_no_failure() {
    let mut harness = Begin::at(Place::new("protected_branches").project("a/b")).size(100, 20).open();
    harness.unsupported(LIST).settle().await;
    harness.expect("Not supported by this server");
    let mut harness = Begin::at(Place::new("protected_branches").project("a/b")).size(100, 20).open();
    harness.reply(LIST, json!([])).settle().await;
    harness.expect("No branch is protected.");
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height).press("j z k z");
    }
}

#[tokio::test]
async fn a_fork_is_made_and_its_overview_says_how_far_it_has_come() {
    let mut harness = Begin::at(Place::new("overview").project("a/b")).size(120, 30).open();
    harness.reply("GET /projects/a%2Fb", json!({"id": 3, "name": "B", "path_with_namespace": "a/b"})).settle().await;
    let fork = |status: &str| json!({"id": 9, "name": "B", "path_with_namespace": "ada/b", "import_status": status, "import_error": "no room"});
    harness.press("F").expect("Fork a/b").press("Tab").type_text("Mine").press("C-s");
    harness.reply("POST /projects/a%2Fb/fork", fork("scheduled")).reply("GET /projects/ada%2Fb", fork("started"));
    harness.settle().await;
    assert!(harness.asked.contains(&"POST /projects/a%2Fb/fork name=Mine".to_owned()), "{:?}", harness.asked);
    harness.expect("The repository is being copied.");
    harness.reply("GET /projects/ada%2Fb", fork("failed"));
    harness.pass(3).settle().await;
    harness.expect("failed: no room");
    harness.reply("GET /projects/ada%2Fb", fork("finished")).press("r").settle().await;
    harness.expect_no("failed: no room").expect_no("being copied");
}

#[tokio::test]
async fn rules_are_kept_by_a_server() {
    let server = demo().await;
    let place = Place::new("protected_branches").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(140, 30).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.press("+").type_text("hotfix/*").press("C-s");
    app.until("hotfix/*").await;
    server.stop().await;
}
