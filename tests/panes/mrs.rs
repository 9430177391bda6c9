//! The list of merge requests.

use crate::fixtures::{With, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use labscope::app::action::Msg;
use labscope::app::state::{AccountState, SeenChange, SeenMergeRequest, StateChange};
use serde_json::{Value, json};
use std::time::Duration;

const LIST: &str = "GET /projects/acme%2Frocket-ui/merge_requests";

fn place() -> Place {
    Place::new("mrs").project("acme/rocket-ui")
}

async fn open() -> Harness {
    let mut harness = Begin::at(place()).open();
    let rows =
        [merge_request(42, "Draw only visible rows", "opened"), merge_request(9, "Draft: Retry reads", "opened")];
    harness.reply(&format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true"), rows);
    harness.reply(
        &format!("{LIST}?order_by=updated_at&state=merged&with_labels_details=true"),
        [merge_request(40, "Theme keys", "merged")],
    );
    harness.settle().await;
    harness
}

#[tokio::test]
async fn open_merge_requests_come_first_with_the_important_fields() {
    let mut harness = open().await;
    let line = harness.line_with("Draw only visible rows");
    for part in ["⊙", "!42", "bo", "3h"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    harness.expect("draft Retry reads");
    let wide = harness.screen(160, 45);
    let line = wide.iter().find(|l| l.contains("⊙  !42")).cloned().unwrap_or_default();
    for part in ["ui speed", "bo", "ready"] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[tokio::test]
async fn a_wide_screen_shows_the_description_of_the_selected_merge_request() {
    let mut harness = open().await;
    harness.expect_no("matters.");
    harness.resize(200, 45).settle().await;
    harness.expect("Why Draw only visible rows matters.");
    harness.press("j").settle().await;
    harness.expect("Why Draft: Retry reads matters.");
}

#[tokio::test]
async fn what_the_list_knows_is_shown_and_commented_on_before_the_merge_request_has_loaded() {
    let mut harness = Begin::at(place()).size(120, 40).open();
    let row = merge_request(42, "Draft: Draw only visible rows", "opened")
        .with(json!({"draft": true, "description": "Because of **a million** rows."}));
    let other = merge_request(42, "In another project", "opened").with(
        json!({"id": 7, "project_id": 99, "references": {"short": "!42", "relative": "!42", "full": "acme/other!42"}}),
    );
    harness.reply(&format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true"), [row, other]);
    harness.settle().await;
    harness.press("Enter").settle().await;
    harness.expect("!42").expect("Draw only visible rows").expect("draft").expect("Author       bo");
    harness.expect("Because of a million rows.").expect_no("In another project");
    harness.press("C").expect("Comment on !42").expect_no("not loaded");
    // Without a list, nothing is known yet.
    let mut harness = Begin::at(Place::new("mr").project("acme/rocket-ui").item(42)).open();
    harness.settle().await;
    harness.press("C").expect("It has not loaded yet");
}

#[tokio::test]
async fn tabs_select_the_state_and_the_server_applies_the_filter() {
    let mut harness = open().await;
    harness.press("2").settle().await;
    harness.expect("Theme keys").expect_no("Draw only");
    harness.press("1").settle().await;
    harness.press("/").type_text("rows").settle().await;
    let asked = "order_by=updated_at&search=rows&state=opened&with_labels_details=true&page=1&per_page=100";
    assert!(harness.asked.iter().any(|l| l.ends_with(asked)), "{:?}", harness.asked);
    harness
        .reply(&format!("{LIST}?order_by=updated_at&search=rows&state=opened&with_labels_details=true"), json!([]))
        .settle()
        .await;
    harness.press("Enter").expect("No merge request matches the filter.").press("Esc").expect("Draw only visible rows");
}

#[tokio::test]
async fn without_a_project_all_merge_requests_are_listed_with_projects() {
    let mut harness = Begin::at(Place::new("mrs")).size(120, 30).open();
    harness.reply("GET /merge_requests", [merge_request(42, "Draw only visible rows", "opened")]).settle().await;
    assert!(harness.asked.iter().any(|l| l.contains("scope=all")), "{:?}", harness.asked);
    harness.expect("acme/rocket-ui").press("Enter");
    assert_eq!(harness.app.place(), Place::new("mr").project("acme/rocket-ui").item(42));
}

#[tokio::test]
async fn a_merge_request_can_be_closed_and_its_branch_copied() {
    let mut harness = open().await;
    let closed = merge_request(42, "Draw only visible rows", "closed");
    harness.reply("PUT /projects/acme%2Frocket-ui/merge_requests/42", closed);
    harness.press("X").expect("Close !42 \"Draw only visible rows\" without merging it?").press("y").settle().await;
    harness.expect("Closed !42");
    assert!(harness.asked.iter().any(|l| l.ends_with("state_event=close")), "{:?}", harness.asked);
    harness.press("y").type_text("checkout").press("Enter");
    assert_eq!(harness.copied(), ["git fetch origin feature/42 && git switch feature/42"]);
}

#[tokio::test]
async fn a_double_click_opens_a_merge_request() {
    let mut harness = open().await;
    harness.double_click_on("Retry reads");
    assert_eq!(harness.app.place(), Place::new("mr").project("acme/rocket-ui").item(9));
}

#[tokio::test]
async fn a_query_offers_completions_and_is_sent_to_the_server() {
    let mut harness = open().await;
    harness.reply("GET /user", user(5, "ada")).settle().await;
    harness.press("/").expect("author:").type_text("auth").press("Tab").expect("@me");
    harness.type_text("@me label:b").settle().await;
    harness.press("C-u").type_text("author:@me label:ui updated:>2w rows").press("Enter").settle().await;
    let asked = "author_id=5&labels=ui&order_by=updated_at&search=rows&state=opened&updated_after=2026-06-01&with_labels_details=true";
    assert!(harness.asked.iter().any(|line| line.contains(asked)), "{:?}", harness.asked);
    harness.resize(120, 24).expect("author:@me  label:ui  updated:>2w  rows");
    // Known rows stay visible while the reply is pending.
    harness.expect("Draw only visible rows");
    let place = harness.app.place();
    assert_eq!(place.query.as_deref(), Some("author:@me label:ui updated:>2w rows"));
    let again = Begin::at(place).size(120, 24).open();
    assert!(again.shows("author:@me  label:ui"), "{}", again.picture());
}

#[tokio::test]
async fn an_invalid_query_names_its_word_and_stays_until_fixed() {
    let mut harness = open().await;
    let before = harness.asked.len();
    harness.press("/").type_text("waiting:odd").press("Enter").settle().await;
    harness.expect("waiting:odd: waiting must be one of me, author").expect("Draw only visible rows");
    assert!(harness.asked.iter().skip(before).all(|line| !line.contains("odd")), "{:?}", harness.asked);
    harness.press("C-w").type_text("state:merged").press("Enter").settle().await;
    harness.expect("Theme keys");
    harness.press("3").settle().await;
    harness.expect("state:closed");
}

#[tokio::test]
async fn a_filter_by_a_user_who_does_not_exist_says_so_in_the_list() {
    let why = "author:nobody: no user with that name";
    let mut harness = Begin::at(place().query("?author_username=nobody")).open();
    harness.reply(LIST, [merge_request(42, "Draw only visible rows", "opened")]).reply("GET /users", json!([]));
    harness.reply("GET /projects/acme%2Frocket-ui/users", json!([])).settle().await.pass(1).settle().await;
    let in_list = |harness: &Harness, why: &str| harness.lines().iter().skip(3).any(|line| line.contains(why));
    assert!(in_list(&harness, why), "{}", harness.picture());
    harness.expect("/ changes it").press("r").settle().await;
    assert!(in_list(&harness, why), "{}", harness.picture());
    // Typed faster than the server answers.
    let mut harness = open().await;
    harness.reply("GET /users", json!([])).reply("GET /projects/acme%2Frocket-ui/users", json!([]));
    harness.press("/").type_text("author:@nobody").press("Enter").settle().await.pass(1).settle().await;
    assert!(in_list(&harness, "author:@nobody: no user with that name"), "{}", harness.picture());
    harness.expect_no("Draw only visible rows").expect("Esc clears it");
    let title = harness.line_with("merge requests");
    assert_eq!(title.matches("author:").count(), 1, "{title}");
    harness.press("Esc").settle().await;
    harness.expect("Draw only visible rows");
    // An unknown word is repeated neither.
    let harness = Begin::at(place().query("state:opend")).size(160, 24).open();
    assert_eq!(harness.line_with("merge requests").matches("opend").count(), 1, "{}", harness.picture());
    // A lookup that failed says nothing about the user.
    let mut harness = Begin::at(place().query("author:nobody")).open();
    harness.reply(LIST, json!([])).fail("GET /users", 403, "403 Forbidden");
    harness.reply("GET /projects/acme%2Frocket-ui/users", json!([])).settle().await.pass(1).settle().await;
    harness.expect("403 Forbidden").expect_no("no user");
}

#[tokio::test]
async fn a_group_lists_the_merge_requests_of_all_its_projects_with_one_request() {
    let mut harness = Begin::at(Place::new("mrs").group("acme")).size(120, 30).open();
    harness.reply("GET /groups/acme/merge_requests", [merge_request(42, "Draw only visible rows", "opened")]);
    harness.settle().await;
    harness.expect("Draw only visible rows");
    let of_group: Vec<&String> = harness.asked.iter().filter(|line| line.contains("acme")).collect();
    assert!(of_group.iter().all(|line| !line.contains("/groups/acme/projects")), "{of_group:?}");
}

#[tokio::test]
async fn an_old_server_is_asked_for_the_merge_requests_of_each_project_of_a_group() {
    let mut harness = Begin::at(Place::new("mrs").group("acme")).size(120, 30).open();
    harness.unsupported("GET /groups/acme/merge_requests");
    let project = |name: &str| json!({"id": 7, "path_with_namespace": format!("acme/{name}")});
    harness.reply("GET /groups/acme/projects", [project("rocket-ui"), project("tools")]);
    harness.reply(LIST, [merge_request(42, "Draw only visible rows", "opened")]);
    harness.reply("GET /projects/acme%2Ftools/merge_requests", [merge_request(9, "Retry reads", "opened")]);
    harness.settle().await;
    harness.expect("Draw only visible rows").expect("Retry reads").press("j Enter");
    assert_eq!(harness.app.place().item.as_deref(), Some("9"));
}

#[tokio::test]
async fn updates_since_the_last_visit_are_marked() {
    let mut begin = Begin::at(place()).size(120, 30);
    let seen = SeenMergeRequest { sha: String::new(), notes: 1, at: "2026-06-14T09:00:00Z".into() };
    let mut state = AccountState::default();
    state.apply(&StateChange::Seen(SeenChange::MergeRequest(1042, seen)));
    begin.states.insert("ada".into(), state);
    let mut harness = begin.open();
    harness.reply("GET /user", user(5, "ada"));
    harness.reply(LIST, [merge_request(42, "Draw only visible rows", "opened"), merge_request(9, "Retry", "opened")]);
    harness.settle().await;
    assert!(harness.line_with("⊙  !42").contains("● 2 new"), "{}", harness.picture());
    assert!(!harness.line_with("!9").contains("new"), "{}", harness.picture());
    harness.reply("GET /projects/acme%2Frocket-ui/merge_requests/42", merge_request(42, "Draw", "opened"));
    harness.press("Enter").settle().await;
    harness.press("q").settle().await;
    assert!(!harness.line_with("!42").contains("new"), "{}", harness.picture());
}

#[tokio::test]
async fn updates_since_the_last_visit_are_found_by_their_instant() {
    // 11:00 at an offset of two hours is the same instant as 09:00 in UTC, and 11:30 is after it.
    for (at, is_new) in [("11:00:00.000+02:00", false), ("11:30:00.000+02:00", true), ("04:30:00.000-05:00", true)] {
        let mut begin = Begin::at(place()).size(120, 30);
        let seen = SeenMergeRequest { sha: String::new(), notes: 3, at: "2026-06-15T09:00:00Z".into() };
        let mut state = AccountState::default();
        state.apply(&StateChange::Seen(SeenChange::MergeRequest(1042, seen)));
        begin.states.insert("ada".into(), state);
        let mut harness = begin.open();
        harness.reply("GET /user", user(5, "ada"));
        let updated = json!({"updated_at": format!("2026-06-15T{at}")});
        harness.reply(LIST, [merge_request(42, "Draw only visible rows", "opened").with(updated)]).settle().await;
        assert_eq!(harness.shows("● changed"), is_new, "{at}: {}", harness.picture());
    }
}

#[tokio::test]
async fn marked_merge_requests_change_together_and_report_each_result() {
    let mut harness = open().await;
    harness.press("Space Space").expect("2 marked").press("e").expect("Change 2 merge requests");
    let labels = ["fast", "speed"].map(|name| json!({"id": 1, "name": name}));
    harness.reply("GET /projects/acme%2Frocket-ui/labels", labels);
    harness.press("Tab").type_text("fast").settle().await;
    harness.press("Tab").type_text("speed").settle().await;
    harness.press("Space");
    let url = "PUT /projects/acme%2Frocket-ui/merge_requests";
    // One is unchanged, and one cannot be checked again.
    let one = "GET /projects/acme%2Frocket-ui/merge_requests";
    harness.reply(&format!("{one}/42"), merge_request(42, "Draw only visible rows", "opened"));
    harness.fail(&format!("{one}/9"), 500, "out of ink");
    harness.reply(&format!("{url}/42"), merge_request(42, "Draw only visible rows", "opened"));
    harness.fail(&format!("{url}/9"), 403, "403 Forbidden");
    harness.press("C-s").settle().await;
    harness.expect("✓  change acme/rocket-ui!42").expect("403 Forbidden").expect("1 of 2 done, 1 failed");
    let sent =
        |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with("PUT")).cloned().collect::<Vec<_>>();
    assert_eq!(sent(&harness), [format!("{url}/42 labels=ui,fast"), format!("{url}/9 labels=ui,fast")]);
    harness.reply(&format!("{url}/9"), merge_request(9, "Retry", "opened")).press("r").settle().await;
    harness.expect("2 of 2 done");
    assert_eq!(sent(&harness).len(), 3);
    assert!(harness.kept.keys().all(|key| !key.contains("form")), "{:?}", harness.kept);
}

#[tokio::test]
async fn concurrent_changes_of_marked_merge_requests_are_reported_first() {
    let mut harness = open().await;
    harness.press("Space Space e").expect("Change 2 merge requests");
    harness.reply("GET /projects/acme%2Frocket-ui/labels", [json!({"id": 1, "name": "fast"})]);
    harness.press("Space Tab").type_text("fast").settle().await;
    harness.press("Space");
    let url = "/projects/acme%2Frocket-ui/merge_requests";
    let mut first = merge_request(42, "Draw only visible rows", "opened");
    first["labels"] = json!(["ui", "theirs"]);
    harness.reply(&format!("GET {url}/42"), first.clone());
    harness.reply(&format!("GET {url}/9"), merge_request(9, "Retry", "merged"));
    harness.reply(&format!("PUT {url}/42"), first).reply(&format!("PUT {url}/9"), merge_request(9, "Retry", "merged"));
    harness.press("C-s").settle().await;
    let sent =
        |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with("PUT")).cloned().collect::<Vec<_>>();
    assert_eq!(sent(&harness), [format!("PUT {url}/42 labels=ui,theirs,fast state_event=close")]);
    harness.expect("state was opened, is now merged").expect("1 of 2 done, 1 changed by others").expect("r overwrite");
    harness.press("r").settle().await;
    assert_eq!(sent(&harness).len(), 2);
    harness.expect("2 of 2 done");
}

#[tokio::test]
async fn a_new_merge_request_is_prefilled_from_its_commits() {
    let mut harness = open().await;
    let api = "GET /projects/acme%2Frocket-ui";
    harness.reply(api, json!({"id": 7, "path_with_namespace": "acme/rocket-ui", "default_branch": "main"}));
    let branch = |name: &str| json!({"name": name});
    harness.reply(&format!("{api}/repository/branches"), [branch("feature/rows"), branch("main")]);
    let commit = |title: &str, day: u32| json!({"id": title, "title": title, "message": format!("{title}\n\nBecause."), "created_at": format!("2026-06-1{day}T00:00:00Z")});
    let compare = format!("{api}/repository/compare?from=main&to=feature%2Frows");
    harness.reply(&compare, json!({"commits": [commit("Second", 2), commit("First", 1)]}));
    harness.reply(&format!("{api}/repository/tree"), json!([]));
    harness.press("+").type_text("feat").settle().await;
    harness.press("Tab").settle().await;
    harness.press("C-u").type_text("main").settle().await;
    harness.press("Tab").settle().await;
    harness.expect("Rows").expect("- First").expect("2 lines");
    harness.reply("POST /projects/acme%2Frocket-ui/merge_requests", merge_request(43, "Rows", "opened"));
    harness.press("C-s").settle().await;
    let sent = harness.asked.iter().find(|line| line.starts_with("POST")).cloned().unwrap_or_default();
    assert!(sent.contains("source_branch=feature/rows target_branch=main title=Rows"), "{sent}");
    assert!(sent.contains("description=- First\n- Second"), "{sent}");
    assert_eq!(harness.app.place(), Place::new("mr").project("acme/rocket-ui").item(43));
}

#[tokio::test]
async fn a_query_can_become_a_home_section_with_a_count() {
    let mut harness = open().await;
    harness.press("/").type_text("label:ui").press("Enter S").press("C-u").type_text("Pictures").press("Enter");
    harness.expect("Added section \"Pictures\" to Home");
    let sections = harness.sections();
    let [section] = sections.as_slice() else { panic!("{sections:?}") };
    assert_eq!((section.query.as_str(), section.project.as_deref()), ("state:opened label:ui", Some("acme/rocket-ui")));
    let of = format!("{LIST}?labels=ui&order_by=updated_at&state=opened&with_labels_details=true");
    harness.reply(&of, [merge_request(42, "Draw only visible rows", "opened")]);
    harness.reply("GET /merge_requests", json!([])).reply("GET /projects", json!([]));
    harness.press("g h").settle().await;
    harness.expect("Pictures 1").expect("Draw only visible rows").press("s");
    assert_eq!(harness.app.place().query.as_deref(), Some("state:opened label:ui"));
    harness.press("q D").expect("Remove the section").press("y").expect_no("Pictures 1");
    assert!(harness.sections().is_empty());
}

#[tokio::test]
async fn a_wide_list_loads_details_for_visible_rows_only() {
    let mut harness = detailed(220).await;
    let line = harness.lines().into_iter().find(|line| line.contains("!1  Request 1 ")).unwrap_or_default();
    for part in [" file", "1 of 2", "1 open", "✗"] {
        assert!(line.contains(part), "{part} in {line}");
    }
    let asked = |what: &str| harness.asked.iter().filter(|line| line.contains(what)).count();
    assert_eq!(asked("/changes"), 0, "a list needs no diffs");
    assert_eq!(asked("/merge_requests/2/discussions"), 0, "there are no notes");
    assert_eq!(asked("/merge_requests/60/"), 0, "it is not visible");
    assert_eq!(asked("/merge_requests/1/approvals"), 1, "{:?}", harness.asked);
    assert_eq!(asked("/merge_requests/2/approvals"), 1, "{:?}", harness.asked);
    // The list reports a newer update.
    let mut newer = merge_request(1, "Request 1", "opened");
    newer["updated_at"] = json!("2026-06-15T10:00:00Z");
    harness
        .reply(&format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true"), [newer])
        .press("r")
        .settle()
        .await;
    harness.pass(31).settle().await;
    assert!(harness.asked.iter().filter(|line| line.contains("/merge_requests/1/approvals")).count() > 1);
}

#[tokio::test]
async fn merge_status_and_approvals_come_before_labels_at_every_width() {
    for (width, others) in [
        (80, &[][..]),
        (120, &[]),
        (160, &["Threads"]),
        (200, &["Threads", "Size"]),
        (240, &["Threads", "Size", "Labels"]),
    ] {
        let harness = detailed(width).await;
        let titles = harness.line_with("Approvals");
        let shown = ["Author", "Checks", "Merge"].iter().chain(others);
        assert!(shown.clone().all(|title| titles.contains(title)), "{width}: {titles}");
        assert!(harness.line_with("!1  Request 1 ").contains('✗'), "{}", harness.picture());
    }
}

#[tokio::test]
async fn a_narrow_list_has_a_sign_for_each_state() {
    for words in ["Request", "A title of a merge request with very many words, which is cut by them,"] {
        let mut harness = Begin::at(place()).size(80, 24).open();
        let row = |iid: u64, more: Value| merge_request(iid, &format!("{words} {iid}"), "opened").with(more);
        let pipeline = json!({"head_pipeline": {"id": 5, "status": "failed"}});
        let rows = [
            row(1, json!({"detailed_merge_status": "conflict"}).with(pipeline.clone())),
            row(
                2,
                json!({"detailed_merge_status": "mergeable", "blocking_discussions_resolved": false}).with(pipeline),
            ),
        ];
        harness.reply(&format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true"), rows);
        let approvals = json!({"approved_by": [{"user": {"id": 3, "username": "cem"}}], "approvals_required": 2, "approvals_left": 1});
        harness.reply(&format!("{LIST}/1/approvals"), approvals);
        let note = json!({"id": 1, "body": "Why?", "resolvable": true, "resolved": false, "author": {"id": 3}});
        let thread = |id: &str| json!({"id": id, "notes": [note]});
        harness.reply(&format!("{LIST}/1/discussions"), [thread("a"), thread("b")]);
        harness.settle().await;
        for _ in 0..10 {
            harness.pass(1).settle().await;
        }
        let signs = |iid: &str| -> Vec<String> {
            let line = harness.line_with(&format!("!{iid}  "));
            line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
        };
        let cells = signs("1");
        let is_sign = |sign: &str| cells.iter().any(|cell| cell == sign || cell.starts_with(&format!("{sign} ")));
        // Checks, approvals, threads, and whether it can be merged.
        assert!(
            is_sign("✗") && is_sign("◌") && cells.iter().any(|cell| cell == "2" || cell == "2 open"),
            "{}",
            harness.picture()
        );
        assert!(harness.line_with("!2  ").contains('◌'), "{}", harness.picture());
    }
}

/// Opens a list on a screen of the given width, with all visible details loaded.
async fn detailed(width: u16) -> Harness {
    let mut harness = Begin::at(place()).size(width, 30).open();
    let mut rows: Vec<Value> = (1..=60).map(|iid| merge_request(iid, &format!("Request {iid}"), "opened")).collect();
    rows[0]["labels"] = json!(["needs-discussion", "performance"]);
    rows[1]["user_notes_count"] = json!(0);
    harness.reply(&format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true"), rows);
    let mut whole = merge_request(1, "Request 1", "opened");
    whole["head_pipeline"] = json!({"id": 5, "status": "failed"});
    whole["changes_count"] = json!("2");
    harness.reply(&format!("{LIST}/1?include_rebase_in_progress=true"), &whole);
    whole["changes"] = json!([
        {"old_path": "a", "new_path": "a", "diff": "--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n-x\n+y\n+z\n w\n"},
        {"old_path": "b", "new_path": "b", "diff": "@@ -0,0 +1 @@\n+-- a comment\n"},
    ]);
    harness.reply(&format!("{LIST}/1/changes"), whole);
    let approvals =
        json!({"approved_by": [{"user": {"id": 3, "username": "cem"}}], "approvals_required": 2, "approvals_left": 1});
    harness.reply(&format!("{LIST}/1/approvals"), approvals);
    let note = |resolved: bool| json!({"id": 1, "body": "Why?", "resolvable": true, "resolved": resolved, "author": {"id": 3}});
    let threads = [json!({"id": "a", "notes": [note(false)]}), json!({"id": "b", "notes": [note(true)]})];
    harness.reply(&format!("{LIST}/1/discussions"), threads);
    // A feature missing from the server's edition does not affect the rest.
    harness.fail(&format!("{LIST}/2/approvals"), 403, "403 Forbidden");
    harness.settle().await;
    for _ in 0..40 {
        harness.pass(1).settle().await;
    }
    harness
}

#[tokio::test]
async fn details_that_cannot_be_read_say_why_in_their_column() {
    let mut harness = Begin::at(place()).size(160, 24).open();
    let rows: Vec<Value> = (1..=4).map(|iid| merge_request(iid, &format!("Request {iid}"), "opened")).collect();
    harness.reply(&format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true"), &rows);
    for (iid, row) in (1..).zip(&rows) {
        harness.reply(&format!("{LIST}/{iid}?include_rebase_in_progress=true"), row);
        harness.reply(&format!("{LIST}/{iid}/approvals"), json!({}));
        harness.reply(&format!("{LIST}/{iid}/changes"), row);
    }
    harness.fail(&format!("{LIST}/1/discussions"), 403, "403 Forbidden");
    harness.fail(&format!("{LIST}/2/discussions"), 404, "404 Not found");
    harness.fail(&format!("{LIST}/3/discussions"), 500, "it failed");
    harness.unreachable(&format!("{LIST}/4/discussions"));
    harness.settle().await;
    for _ in 0..20 {
        harness.pass(1).settle().await;
    }
    for (title, word) in
        [("feature/1", "denied"), ("feature/2", "missing"), ("feature/3", "error"), ("feature/4", "offline")]
    {
        assert!(harness.line_with(title).contains(word), "{title}: no {word} in\n{}", harness.picture());
    }
}

#[tokio::test]
async fn details_of_the_first_rows_are_requested_without_a_key_press() {
    let mut harness = Begin::at(place()).size(80, 24).open();
    harness.reply(
        &format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true"),
        [merge_request(1, "Request 1", "opened")],
    );
    harness.settle().await;
    assert!(harness.asked.iter().any(|line| line.contains("/merge_requests/1/approvals")), "{:?}", harness.asked);
}

#[tokio::test]
async fn a_narrow_list_requests_only_visible_details() {
    let mut harness = Begin::at(place()).size(80, 24).open();
    harness.reply(
        &format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true"),
        [merge_request(1, "Request 1", "opened")],
    );
    harness.settle().await;
    for _ in 0..4 {
        harness.pass(1).settle().await;
    }
    assert!(!harness.asked.iter().any(|line| line.contains("/changes")), "{:?}", harness.asked);
}

#[tokio::test]
async fn without_a_token_nothing_is_created_and_the_reason_is_named() {
    let project = |pane: &str| Place::new(pane).project("acme/rocket-ui");
    for (place, key) in [
        (place(), "+"),
        (project("branches"), "+"),
        (project("branches"), "M"),
        (project("tags"), "+"),
        (project("compare").item("main...x"), "M"),
        (project("mr").item(42), "e"),
    ] {
        let mut begin = Begin::at(place.clone()).size(120, 30);
        begin.signed_in = false;
        let mut harness = begin.open();
        let branch = |name: &str| json!({"name": name, "merged": false, "protected": false});
        harness
            .reply(
                "GET /projects/acme%2Frocket-ui",
                json!({"id": 7, "path_with_namespace": "acme/rocket-ui", "default_branch": "main"}),
            )
            .reply(LIST, [merge_request(42, "Draw only visible rows", "opened")])
            .reply(&format!("{LIST}/42"), merge_request(42, "Draw only visible rows", "opened"))
            .reply("GET /projects/acme%2Frocket-ui/repository/branches", [branch("x"), branch("main")])
            .reply("GET /projects/acme%2Frocket-ui/repository/tags", json!([]))
            .settle()
            .await;
        harness.press(key).settle().await;
        assert!(harness.shows("ou are not signed in"), "{place:?} {key}\n{}", harness.picture());
    }
}

#[tokio::test]
async fn up_selects_the_last_of_two_suggestions() {
    let mut harness = open().await;
    harness.press("/").type_text("draft:").press("Up Tab").expect("draft:no");
}

#[tokio::test]
async fn a_list_is_read_again_less_often_without_the_focus_and_at_once_with_it() {
    let mut begin = Begin::at(place()).size(120, 30);
    begin.refresh = Some(Duration::from_secs(60));
    let mut harness = begin.open();
    let list = format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true");
    harness.reply(&list, [merge_request(42, "Draw only visible rows", "merged")]).settle().await;
    let reads = |harness: &Harness| harness.asked.iter().filter(|line| line.starts_with(&list)).count();
    assert_eq!(reads(&harness), 1);
    harness.pass(60).settle().await;
    assert_eq!(reads(&harness), 2);
    harness.send(Msg::Focus(false));
    harness.pass(359).settle().await;
    assert_eq!(reads(&harness), 2);
    harness.pass(1).settle().await;
    assert_eq!(reads(&harness), 3);
    harness.pass(30).send(Msg::Focus(true));
    harness.settle().await;
    assert_eq!(reads(&harness), 4);
}

/// GitLab says of merge requests that are ready neither how many approvals nor how many threads they have
/// (`API::Entities::MergeRequestBasic`).
#[tokio::test]
async fn approvals_and_threads_that_are_not_read_are_not_shown_as_none() {
    let mut harness = Begin::at(place()).size(160, 30).open();
    let ready =
        json!({"detailed_merge_status": "mergeable", "blocking_discussions_resolved": true, "user_notes_count": 2});
    let rows = [42, 9].map(|iid| merge_request(iid, "Draw only visible rows", "opened").with(ready.clone()));
    harness.reply(&format!("{LIST}?order_by=updated_at&state=opened&with_labels_details=true"), rows);
    harness.reply(&format!("{LIST}/42/approvals"), json!({"approvals_required": 0, "approved_by": []}));
    harness.reply(&format!("{LIST}/42/discussions"), json!([])).settle().await;
    harness.expect("Approvals").expect("Threads");
    let unknown = |harness: &Harness, row: &str| harness.line_with(row).matches("?").count();
    assert_eq!((unknown(&harness, "!42"), unknown(&harness, "!9")), (0, 2), "{}", harness.picture());
}
