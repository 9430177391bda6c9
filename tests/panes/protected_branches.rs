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
async fn rules_show_their_roles_and_matching_branches() {
    let mut harness = open().await;
    for words in ["release/*", "No one", "Developers + Maintainers", "allowed"] {
        assert!(harness.line_with("▌ release/*").contains(words), "{words}\n{}", harness.picture());
    }
    harness.expect("release/1").expect("release/2").expect_no("fix").press("j").expect("Ada").expect("level 60");
}

#[tokio::test]
async fn branches_can_be_protected_and_unprotected_after_confirmation() {
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

/// Returns a rule with one role per kind of access, as in lists.
fn rule(push: u64, merge: u64, force: bool) -> serde_json::Value {
    let access = |id: u64, level: u64| json!([{"id": id, "access_level": level, "access_level_description": ""}]);
    json!({"name": "v*", "push_access_levels": access(5, push), "merge_access_levels": access(8, merge),
        "allow_force_push": force})
}

#[tokio::test]
async fn editing_a_rule_only_sends_changed_fields() {
    let mut harness = Begin::at(Place::new("protected_branches").project("a/b")).size(120, 30).open();
    harness.reply(LIST, json!([rule(40, 30, false)])).settle().await;
    harness.press("e").expect("Edit rule v* of a/b").expect("Developers + Maintainers").press("C-s");
    harness.expect("No changes.").type_text("N").press("Tab Tab").type_text("y");
    harness.reply("PATCH /projects/a%2Fb/protected_branches/v%2A", rule(0, 30, true)).press("C-s").settle().await;
    let sent: Vec<&String> = harness.asked.iter().filter(|line| line.starts_with("PATCH")).collect();
    assert_eq!(
        sent,
        [
            r#"PATCH /projects/a%2Fb/protected_branches/v%2A {"allow_force_push":true,"allowed_to_push":[{"access_level":0,"id":5}]}"#
        ]
    );
    harness.expect_no("Edit rule v*").expect_no("Not changed");
}

#[tokio::test]
async fn changes_ignored_or_unsupported_by_the_server_are_reported() {
    let mut harness = Begin::at(Place::new("protected_branches").project("a/b")).size(120, 30).open();
    harness.reply(LIST, json!([rule(40, 30, false)])).settle().await;
    harness.press("e").type_text("N").press("Tab Tab").type_text("y");
    harness.reply("PATCH /projects/a%2Fb/protected_branches/v%2A", rule(40, 30, true)).press("C-s").settle().await;
    harness.expect("Not changed: allowed to push. This server needs a Premium license for that.");
    harness.fail("PATCH /projects/a%2Fb/protected_branches/v%2A", 405, "405 Not Allowed");
    harness.press("e").type_text("N").press("C-s").settle().await;
    harness.expect("Edit rule v*").expect("405 Not Allowed. This server does not support");
}

#[tokio::test]
async fn access_of_individual_users_is_shown_and_not_changed() {
    let mut harness = open().await;
    harness.press("j e").expect("Edit rule main").expect("Allowed to push").expect("Ada").expect("level 60");
    harness.type_text("y").press("C-s").settle().await;
    let sent = harness.asked.iter().rfind(|line| line.starts_with("PATCH"));
    assert_eq!(sent.unwrap(), r#"PATCH /projects/a%2Fb/protected_branches/main {"allow_force_push":true}"#);
}

#[tokio::test]
async fn a_new_rule_is_selected() {
    let mut harness = Begin::at(Place::new("protected_branches").project("a/b")).size(120, 30).open();
    harness.reply(LIST, json!([rule(40, 30, false)])).settle().await;
    let mut new = rule(40, 40, false);
    new["name"] = json!("a*");
    harness.press("+").type_text("a*").reply("POST /projects/a%2Fb/protected_branches", &new);
    harness.reply(LIST, json!([new, rule(40, 30, false)])).press("C-s").settle().await;
    harness.expect("▌ a*").expect("  v*");
}

#[tokio::test]
async fn missing_support_for_rules_differs_from_an_empty_list() {
    let mut harness = Begin::at(Place::new("protected_branches").project("a/b")).size(100, 20).open();
    harness.unsupported(LIST).reply("GET /metadata", json!({"version": "9.4.1", "enterprise": false})).settle().await;
    harness.expect("Not supported by this server").expect("This server has version 9.4.1, Community Edition.");
    let mut harness = Begin::at(Place::new("protected_branches").project("a/b")).size(100, 20).open();
    harness.reply(LIST, json!([])).settle().await;
    harness.expect("No branch is protected.");
    for (width, height) in [(20, 6), (44, 12), (300, 90), (10, 3)] {
        harness.resize(width, height).press("j z k z");
    }
}

#[tokio::test]
async fn creating_a_fork_shows_the_progress_of_its_import() {
    let mut harness = Begin::at(Place::new("overview").project("a/b")).size(120, 30).open();
    harness.reply("GET /projects/a%2Fb", json!({"id": 3, "name": "B", "path_with_namespace": "a/b"})).settle().await;
    let fork = |status: &str| json!({"id": 9, "name": "B", "path_with_namespace": "ada/b", "import_status": status, "import_error": "no room"});
    harness.press("F").expect("Fork a/b").press("Tab").type_text("Mine").press("C-s");
    harness.reply("POST /projects/a%2Fb/fork", fork("scheduled")).reply("GET /projects/ada%2Fb", fork("started"));
    harness.settle().await;
    assert!(harness.asked.contains(&"POST /projects/a%2Fb/fork name=Mine".to_owned()), "{:?}", harness.asked);
    harness.expect("Still being copied.");
    harness.reply("GET /projects/ada%2Fb", fork("failed"));
    harness.pass(3).settle().await;
    harness.expect("failed: no room");
    harness.reply("GET /projects/ada%2Fb", fork("finished")).press("r").settle().await;
    harness.expect_no("failed: no room").expect_no("being copied");
}

#[tokio::test]
async fn a_rule_can_be_created_on_a_real_server() {
    let server = demo().await;
    let place = Place::new("protected_branches").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(140, 30).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.press("+").type_text("hotfix/*").press("C-s");
    app.settle().await;
    app.press("k")
        .expect("▌ hotfix/*")
        .press("e")
        .expect("Edit rule")
        .type_text("N")
        .press("Tab Tab")
        .type_text("y")
        .press("C-s");
    app.settle().await;
    app.expect("allowed");
    assert!(app.line_with("▌ ").contains("No one"), "{}", app.picture());
    server.stop().await;
}
