//! The languages and stars of a project, and details of a commit.

use crate::harness::Begin;
use crate::served::demo;
use labscope::app::Place;
use serde_json::json;

const PROJECT: &str = "GET /projects/a%2Fb";

#[tokio::test]
async fn the_overview_shows_languages_and_can_star_the_project() {
    let mut harness = Begin::at(Place::new("overview").project("a/b")).size(120, 40).open();
    let project = |stars: u64| json!({"id": 7, "name": "b", "path_with_namespace": "a/b", "star_count": stars});
    harness.reply(PROJECT, project(3));
    let shares = json!({"Rust": 80.25, "Python": 9.0, "C": 4.0, "Go": 3.0, "Shell": 2.0, "HTML": 1.5, "Lua": 0.25});
    harness.reply(&format!("{PROJECT}/languages"), shares).settle().await;
    harness.expect("Languages").expect("80.2% Rust").expect("9.0% Python").expect("2 more").expect_no("HTML");
    harness.reply("POST /projects/a%2Fb/star", project(4)).reply(PROJECT, project(4));
    harness.press("*").settle().await;
    harness.expect("Starred a/b").expect("4 stars");
    harness.reply("POST /projects/a%2Fb/unstar", json!(null)).press("M-*").settle().await;
    harness.expect("Unstarred a/b");
}

#[tokio::test]
async fn a_refresh_requests_missing_parts_of_the_overview_again() {
    let mut harness = Begin::at(Place::new("overview").project("a/b")).size(100, 40).open();
    harness.reply(PROJECT, json!({"id": 7, "name": "b", "path_with_namespace": "a/b"}));
    harness.fail(&format!("{PROJECT}/languages"), 404, "404 Not Found").settle().await;
    harness.expect_no("languages");
    harness.reply(&format!("{PROJECT}/languages"), json!({"Rust": 100.0})).press("F5").settle().await;
    harness.expect("100.0% Rust");
}

#[tokio::test]
async fn absurd_language_shares_are_clamped_or_omitted() {
    let mut harness = Begin::at(Place::new("overview").project("a/b")).size(100, 40).open();
    harness.reply(PROJECT, json!({"id": 7, "name": "b", "path_with_namespace": "a/b"}));
    harness.reply(&format!("{PROJECT}/languages"), json!({"Odd\u{1b}[31m": 1e300, "None": -4.0})).settle().await;
    harness.expect("100.0% Odd\u{241b}[31m").expect_no("None");
}

#[tokio::test]
async fn a_commit_shows_its_signature_and_merge_requests() {
    for (reply, says) in [
        (
            json!({"signature_type": "PGP", "verification_status": "verified", "gpg_key_primary_keyid": "8254AA",
            "gpg_key_user_name": "Bo"}),
            "verified  PGP  key 8254AA  Bo",
        ),
        (
            json!({"signature_type": "SSH", "verification_status": "unknown_key", "key": {"title": "laptop"}}),
            "unknown key  SSH  laptop",
        ),
        (
            json!({"signature_type": "X509", "verification_status": "odd", "x509_certificate": {"subject": "CN=bo"}}),
            "odd  X509  CN=bo",
        ),
        (json!({}), "Signature"),
    ] {
        let mut harness = Begin::at(Place::new("commit").project("a/b").item("1a2b")).size(120, 40).open();
        let at = "GET /projects/a%2Fb/repository/commits/1a2b";
        harness.reply(at, json!({"id": "1a2b", "short_id": "1a2b", "title": "Rows", "author_name": "Bo"}));
        harness.reply(&format!("{at}/signature"), reply);
        harness.reply(
            &format!("{at}/merge_requests"),
            [json!({"id": 9, "iid": 42, "title": "Draw rows", "state": "merged"})],
        );
        harness.press("2").settle().await;
        harness.expect(says).expect("!42 Draw rows  merged");
    }
}

#[tokio::test]
async fn a_commit_without_signature_support_shows_neither() {
    let mut harness = Begin::at(Place::new("commit").project("a/b").item("1a2b")).size(120, 40).open();
    harness.reply("GET /projects/a%2Fb/repository/commits/1a2b", json!({"id": "1a2b", "title": "Rows"}));
    harness.press("2").settle().await;
    harness.expect("Rows").expect_no("signature").expect_no("merge requests");
}

#[tokio::test]
async fn languages_are_shown_from_a_real_server() {
    let server = demo().await;
    let place = Place::new("overview").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(160, 45).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("Languages").expect("Rust");
    server.stop().await;
}

#[tokio::test]
async fn a_project_says_that_it_is_to_be_deleted() {
    for field in ["marked_for_deletion_on", "marked_for_deletion_at"] {
        let mut harness = Begin::at(Place::new("overview").project("a/b")).size(120, 40).open();
        let mut project = json!({"id": 7, "name": "b", "path_with_namespace": "a/b", "visibility": "private"});
        project[field] = json!("2026-06-10");
        harness.reply(PROJECT, project).settle().await;
        harness.expect("private").expect("Deletion").expect("marked on 2026-06-10");
    }
}

#[tokio::test]
async fn a_project_that_is_being_imported_is_not_called_empty() {
    for (status, words) in [("started", "Still being"), ("failed", "The import failed: no")] {
        for place in ["files", "overview"] {
            let mut harness = Begin::at(Place::new(place).project("a/b")).size(120, 40).open();
            let project = json!({"id": 7, "name": "b", "path_with_namespace": "a/b", "empty_repo": true,
                "default_branch": null, "import_status": status, "import_error": "no disk"});
            harness.reply(PROJECT, project);
            harness.fail(&format!("{PROJECT}/repository/tree"), 404, "404 Tree Not Found").settle().await;
            harness.expect(words).expect_no("is empty");
        }
    }
}
