//! Choosing values that the server lists: labels, people, milestones, refs, groups and projects.

use crate::fixtures::{self, With, issue, merge_request, user};
use crate::harness::{Begin, Harness};
use labscope::api::GitRef;
use labscope::app::Place;
use labscope::app::action::Msg;
use serde_json::{Value, json};

const MR: &str = "/projects/acme%2Frocket-ui/merge_requests/42";
const LABELS: &str = "GET /projects/acme%2Frocket-ui/labels";

fn label(name: &str) -> Value {
    fixtures::label(name.len() as u64, name, "#d9534f")
}

fn labels() -> Vec<Value> {
    ["bug", "design", "performance", "needs-review", "speed", "ui"].map(label).to_vec()
}

/// Opens a merge request whose labels are `set`.
async fn open(begin: Begin, set: &[&str]) -> Harness {
    let mut harness = begin.open();
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({
        "labels": set, "assignees": [user(1, "ada")], "assignee": user(1, "ada"), "reviewers": [user(3, "cem")],
    }));
    harness.reply("GET /user", user(1, "ada")).reply(&format!("GET {MR}"), &whole).reply(&format!("PUT {MR}"), &whole);
    harness.reply(&format!("GET {MR}/notes"), json!([])).reply(LABELS, labels());
    let people = [user(1, "ada"), user(2, "bo"), user(3, "cem")];
    harness.reply("GET /projects/acme%2Frocket-ui/users", people).settle().await;
    harness
}

fn begin() -> Begin {
    Begin::at(Place::new("mr").project("acme/rocket-ui").item(42)).size(100, 30)
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect()
}

/// Returns the labels that were saved, and asserts that nothing else was sent.
fn saved(harness: &Harness) -> String {
    let [line] = &*sent(harness) else { panic!("{:?}\n{}", sent(harness), harness.picture()) };
    line.strip_prefix(&format!("PUT {MR} labels=")).expect("labels").to_owned()
}

#[tokio::test]
async fn two_labels_are_set_with_six_keys() {
    let mut harness = open(begin(), &["ui"]).await;
    harness.press("L").settle().await;
    harness.expect("Labels of !42").expect("✓").expect("About bug.");
    harness.press("b Space p Space C-s").settle().await;
    assert_eq!(harness.pressed, 6);
    assert_eq!(saved(&harness), "ui,bug,performance");
    harness.expect_no("Labels of !42").expect("Saved !42");
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn typed_letters_never_become_a_label_by_themselves() {
    let mut harness = open(begin(), &["performance", "needs-review"]).await;
    harness.press("L").settle().await;
    harness.type_text("bu").press("C-s").settle().await;
    harness.expect("Space marks bug. C-s again saves without it.").press("C-s").settle().await;
    harness.expect("No changes.");
    harness.press("C-u").type_text("quux").press("C-s").settle().await;
    harness.expect("Enter adds quux.");
    assert!(sent(&harness).is_empty(), "{:?}", harness.asked);
    // A new label is marked before it is saved; its name may have blanks.
    harness.press("Space").type_text("zap").expect("+ create \"quux zap\"").press("Enter").settle().await;
    harness.expect("3 marked").expect("new").press("C-s").settle().await;
    assert_eq!(saved(&harness), "performance,needs-review,quux zap");
    // Where a label fits what is typed, a blank needs Alt.
    harness.press("L").settle().await;
    harness.type_text("bug").settle().await;
    harness.press("M-Space").type_text("fix").settle().await;
    harness.expect("+ create \"bug fix\"").press("Enter C-s");
    harness.settle().await;
    assert!(sent(&harness).last().is_some_and(|line| line.ends_with(",bug fix")), "{:?}", harness.asked);
}

#[tokio::test]
async fn set_labels_come_first_and_keep_their_order() {
    let mut harness = open(begin(), &["speed", "bug"]).await;
    harness.press("L").settle().await;
    let lines = harness.lines();
    let row = |words: &str| lines.iter().position(|line| line.contains(&format!("About {words}."))).expect("a row");
    assert!(row("speed") < row("bug") && row("bug") < row("design"), "{}", harness.picture());
    // What is unmarked and marked again is no change.
    harness.type_text("speed").press("Space").type_text("speed").press("Space C-s").settle().await;
    harness.expect("No changes.");
    harness.type_text("bug").press("Space").type_text("des").press("Space C-s").settle().await;
    assert_eq!(saved(&harness), "speed,design");
}

#[tokio::test]
async fn a_value_that_vanished_stays_shown_and_kept() {
    let mut harness = open(begin(), &["gone", "ui"]).await;
    harness.press("L").settle().await;
    assert!(harness.line_with("gone").contains('✓'), "{}", harness.picture());
    harness.press("b Space C-s").settle().await;
    assert_eq!(saved(&harness), "gone,ui,bug");
}

#[tokio::test]
async fn a_list_that_fails_or_is_empty_loses_nothing() {
    let mut harness = open(begin(), &["ui"]).await;
    harness.fail(LABELS, 500, "out of ink").press("r L").settle().await;
    // Labels of merge requests are listed instead.
    harness.reply("GET /projects/acme%2Frocket-ui/merge_requests", json!([]));
    harness.type_text("quux zap").settle().await;
    harness.expect("out of ink").expect("✓");
    // The blank marked nothing, because no value was found; the text can be added as it is.
    harness.expect("+ create \"quux zap\"").press("Enter C-s").settle().await;
    assert_eq!(saved(&harness), "ui,quux zap");
    let mut harness = open(begin(), &[]).await;
    harness.reply(LABELS, json!([])).press("r L").settle().await;
    harness.expect("Nothing to choose from.").press("Space Enter").settle().await;
    harness.expect("No changes.");
    assert!(sent(&harness).is_empty());
}

#[tokio::test]
async fn values_that_arrive_while_typing_do_not_move_the_selection() {
    let mut harness = begin().open();
    let whole = merge_request(42, "Draw only visible rows", "opened").with(json!({"labels": ["ui"]}));
    harness.reply("GET /user", user(1, "ada")).settle().await;
    // Nothing can be marked before the labels that are set are known: saving would remove them.
    harness.reply(&format!("GET {MR}/notes"), json!([])).settle().await;
    harness.reply(&format!("GET {MR}"), &whole).settle().await;
    harness.press("L").type_text("sp").expect("sp").press("C-s").settle().await;
    assert!(sent(&harness).is_empty(), "{:?}", harness.asked);
    harness.reply(LABELS, labels()).settle().await;
    assert!(harness.line_with("About speed.").contains('▌'), "{}", harness.picture());
    harness.press("C-u Down Down");
    let before = harness.lines().into_iter().find(|line| line.contains('▌') && line.contains("About"));
    harness.reply(&format!("{LABELS}?search=u"), [label("aaa"), label("bug")]).type_text("u").settle().await;
    harness.press("Backspace Down Down").settle().await;
    assert!(before.is_some(), "{}", harness.picture());
}

#[tokio::test]
async fn the_server_searches_what_is_typed_and_more_pages_are_loaded() {
    let mut harness = open(begin(), &[]).await;
    let many: Vec<Value> = (0..350).map(|at| label(&format!("label-{at:03}"))).collect();
    harness.reply(LABELS, many).reply(&format!("{LABELS}?search=rare"), [label("rare-one")]);
    harness.press("r").settle().await;
    harness.press("L").settle().await;
    let asked = |harness: &Harness| harness.asked.iter().filter(|line| line.contains("/labels")).count();
    let first = asked(&harness);
    for _ in 0..20 {
        harness.press("PageDown").settle().await;
    }
    harness.expect("label-349");
    assert!(asked(&harness) > first, "{:?}", harness.asked);
    harness.type_text("rare").settle().await;
    harness.expect("rare-one").press("Space C-s").settle().await;
    assert_eq!(saved(&harness), "rare-one");
}

#[tokio::test]
async fn a_list_of_fifty_thousand_values_is_searched() {
    let mut harness = open(begin(), &["ui"]).await;
    let many: Vec<Value> = (0..50_000).map(|at| label(&format!("label-{at:05}"))).collect();
    harness.reply(LABELS, Value::Array(many.clone())).reply(&format!("{LABELS}?search=49999"), &many[49_999..]);
    harness.press("r").settle().await;
    harness.press("L").settle().await;
    harness.type_text("49999").settle().await;
    harness.expect("label-49999").press("Space C-s").settle().await;
    assert_eq!(saved(&harness), "ui,label-49999");
    assert!(harness.asked.iter().filter(|line| line.contains("/labels")).count() < 40, "{:?}", harness.asked);
}

#[tokio::test]
async fn hostile_names_are_sanitized_and_fit() {
    let long = "long ".repeat(40);
    let names = ["e\u{1b}[31mvil", "x\u{202e}y\u{7}", "👩‍💻 emoji", "שלום", long.trim()];
    let mut harness = open(begin(), &names).await;
    harness.reply(LABELS, names.map(label)).press("r L").settle().await;
    for (width, height) in [(20, 6), (44, 12), (80, 24), (220, 60), (1, 1)] {
        harness.resize(width, height);
        let bad = harness.lines().iter().any(|line| line.contains(['\u{1b}', '\u{202e}', '\u{7}']));
        assert!(!bad, "{}", harness.picture());
    }
    harness.resize(100, 30).type_text("emoji").expect("👩‍💻 emoji").press("Space C-s").settle().await;
    assert_eq!(saved(&harness), [names[0], names[1], names[3], names[4]].join(","));
}

#[tokio::test]
async fn reviewers_and_assignees_are_chosen_one_after_the_other() {
    let mut harness = open(begin(), &[]).await;
    harness.press("P").settle().await;
    harness.expect("Reviewers and assignees of !42 · Reviewers").expect("✓").press("b Space Tab").settle().await;
    harness.expect("· Assignees").type_text("@me").expect("ada").press("Space").type_text("bo").press("Space C-s");
    harness.settle().await;
    assert_eq!(sent(&harness), [format!("PUT {MR} assignee_ids[]=2 reviewer_ids[]=3 reviewer_ids[]=2")]);
}

#[tokio::test]
async fn esc_discards_the_marks_of_a_picker() {
    let mut harness = open(begin(), &["ui"]).await;
    harness.press("L").settle().await;
    harness.press("b Space").expect("2 marked").press("Esc").expect_no("Labels of").press("L").settle().await;
    harness.expect("1 marked");
    assert!(harness.kept.is_empty() && sent(&harness).is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn the_mouse_marks_values_and_closes() {
    let mut harness = open(begin(), &["ui"]).await;
    harness.press("L").settle().await;
    harness.click_on("About bug.").expect("2 marked").click_on("About ui.").expect("1 marked").click_on("acme");
    harness.expect_no("Labels of");
}

#[tokio::test]
async fn marks_are_heard_in_accessible_mode() {
    let mut harness = open(begin().accessible(), &["ui"]).await;
    harness.press("L").settle().await;
    harness.type_text("ui").hears("marked").hears("About ui.").press("Space");
    harness.type_text("bug").hears("About bug.").press("Space").type_text("bug").hears("marked").hears("About bug.");
}

#[tokio::test]
async fn somebody_elses_change_of_the_labels_is_shown_first() {
    let mut harness = open(begin(), &["ui"]).await;
    harness.press("L").settle().await;
    let theirs = merge_request(42, "Draw only visible rows", "opened").with(json!({"labels": ["ui", "speed"]}));
    harness.press("b Space").reply(&format!("GET {MR}"), theirs).press("C-s").settle().await;
    harness.expect("Somebody else has changed it.").expect("ui, bug").expect("ui, speed");
    assert!(sent(&harness).is_empty());
}

#[tokio::test]
async fn the_fields_of_a_form_open_the_same_picker() {
    let mut harness = Begin::at(Place::new("issues").project("acme/rocket-ui")).size(100, 34).open();
    harness.reply("GET /user", user(1, "ada")).reply("GET /projects/acme%2Frocket-ui/issues", json!([]));
    harness.reply(LABELS, labels()).reply("GET /projects/acme%2Frocket-ui/users", [user(1, "ada"), user(2, "bo")]);
    harness.reply("GET /projects/acme%2Frocket-ui/merge_requests", json!([]));
    let milestones = [json!({"id": 4, "iid": 1, "title": "0.4", "state": "active"})];
    harness.reply("GET /projects/acme%2Frocket-ui/milestones", milestones);
    harness.reply("GET /projects/acme%2Frocket-ui/search", json!([]));
    harness.settle().await;
    harness.press("+").type_text("Rows flicker").press("Tab Tab").settle().await;
    harness.type_text("des").settle().await;
    harness.expect("New issue in acme/rocket-ui · Labels").press("Space").type_text("bug").press("Enter");
    harness.expect("design, bug").settle().await;
    // Enter lists the people; Esc keeps what is marked.
    harness.press("Enter").settle().await;
    harness.press("b Space Esc").expect("bo").press("Tab").settle().await;
    // A milestone is one of a list.
    harness.send(Msg::Paste("0.4".into()));
    harness.settle().await;
    harness.press("Enter").settle().await;
    // The date is that in the future, and shown.
    harness.type_text("2w").expect("Mon 29 Jun 2026, in 14 days");
    harness.reply("POST /projects/acme%2Frocket-ui/issues", issue(9, "Rows flicker", "opened"));
    harness.press("C-s").settle().await;
    let fields = "assignee_ids[]=2 due_date=2026-06-29 labels=design,bug milestone_id=4 title=Rows flicker";
    assert_eq!(sent(&harness), [format!("POST /projects/acme%2Frocket-ui/issues {fields}")]);
}

#[tokio::test]
async fn an_issue_has_the_same_keys() {
    let mut harness = Begin::at(Place::new("issue").project("acme/rocket-ui").item(7)).size(100, 30).open();
    let known = issue(7, "Columns collide", "opened").with(json!({"labels": ["ui"], "assignees": [user(2, "bo")]}));
    let path = "/projects/acme%2Frocket-ui/issues/7";
    harness.reply("GET /user", user(1, "ada")).reply(&format!("GET {path}"), &known).reply(LABELS, labels());
    harness.reply(&format!("GET {path}/notes"), json!([])).reply(&format!("PUT {path}"), &known);
    harness.reply("GET /projects/acme%2Frocket-ui/users", [user(1, "ada"), user(2, "bo")]).settle().await;
    harness.press("L").settle().await;
    harness.expect("Labels of #7").press("b Space C-s").settle().await;
    harness.press("P").settle().await;
    harness.expect("Assignees of #7").type_text("ada").press("Space C-s").settle().await;
    assert_eq!(
        sent(&harness),
        [format!("PUT {path} labels=ui,bug"), format!("PUT {path} assignee_ids[]=2 assignee_ids[]=1")]
    );
}

/// Opens the commits of `rows` in a project with a branch and a tag of the name `v1`, and the picker of refs.
async fn refs(begin: Begin) -> Harness {
    const REPOSITORY: &str = "GET /projects/acme%2Frocket-ui/repository";
    let mut harness = begin.open();
    let branch = |name: &str| {
        let title = format!("Draw {name}");
        json!({"name": name, "default": name == "main", "commit": {"id": "a", "title": title}})
    };
    let branches: Vec<Value> = ["main", "rows", "v1"].map(branch).to_vec();
    harness.reply("GET /user", user(1, "ada")).reply(&format!("{REPOSITORY}/commits"), json!([]));
    harness.reply(&format!("{REPOSITORY}/branches"), branches);
    harness.reply(&format!("{REPOSITORY}/branches?search=rare"), [branch("a/rare-one")]);
    harness.reply(&format!("{REPOSITORY}/tags"), json!([{"name": "v1", "commit": {"id": "a", "title": "Release"}}]));
    harness.settle().await;
    harness.press("R").settle().await;
    harness.expect("Commits of");
    harness
}

fn commits() -> Begin {
    Begin::at(Place::new("commits").project("acme/rocket-ui").at("rows")).size(100, 30)
}

#[tokio::test]
async fn a_ref_is_chosen_with_the_picker_of_the_forms() {
    let mut harness = refs(commits()).await;
    harness.expect("default branch").expect("Release").expect("Enter choose").expect_no("C-s");
    harness.expect("Type to filter, or the SHA of a commit");
    // The current one comes first.
    let lines = harness.lines();
    let row = |words: &str| lines.iter().position(|line| line.contains(words)).expect("a row");
    assert!(harness.line_with("✓").contains("rows"), "{}", harness.picture());
    assert!(row("✓") < row("default branch"), "{}", harness.picture());
    // The server searches what is typed.
    harness.type_text("rare").settle().await;
    harness.press("Enter").settle().await;
    assert_eq!(harness.app.place().git_ref, Some(GitRef::branch("a/rare-one")));
    // A branch and a tag of the same name are different.
    for (words, expected) in [("Draw v1", GitRef::branch("v1")), ("Release", GitRef::tag("v1"))] {
        let mut harness = refs(commits()).await;
        harness.type_text("v1").settle().await;
        harness.click_on(words).settle().await;
        assert_eq!(harness.app.place().git_ref, Some(expected), "{}", harness.picture());
    }
    // A commit is typed, and needs no list.
    let mut harness = refs(commits()).await;
    harness.type_text("0123456789abcdef").expect("use \"0123456789abcdef\"").press("Enter").settle().await;
    assert_eq!(harness.app.place().git_ref, Some(GitRef::from("0123456789abcdef")));
    let mut harness = refs(commits()).await;
    harness.press("Esc").expect_no("Commits of");
    assert_eq!(harness.app.place().git_ref, Some(GitRef::from("rows")));
}

#[tokio::test]
async fn a_path_is_chosen_from_its_folder_or_typed_or_removed() {
    const TREE: &str = "GET /projects/acme%2Frocket-ui/repository/tree";
    let entry = |kind: &str, path: &str| json!({"id": path, "name": path.rsplit('/').next(), "type": kind, "path": path, "mode": "100644"});
    let mut harness = commits().open();
    harness.reply("GET /user", user(1, "ada"));
    harness.reply("GET /projects/acme%2Frocket-ui/repository/commits", json!([]));
    harness.reply(TREE, [entry("tree", "src"), entry("blob", "README.md")]);
    harness.reply(&format!("{TREE}?path=src"), [entry("blob", "src/rows.rs"), entry("blob", "src/table.rs")]);
    harness.settle().await;
    harness.press("P").settle().await;
    harness.expect("Commits of a path").expect("All files").expect("README.md").type_text("src/ro").settle().await;
    harness.expect("src/rows.rs").press("Enter").settle().await;
    assert_eq!(harness.app.place().path.as_deref(), Some("src/rows.rs"));
    // A file that is gone has commits, too.
    harness.press("P").settle().await.expect_no("not listed");
    harness.type_text("src/table").settle().await.expect("use \"src/table\"").press("Down Enter").settle().await;
    assert_eq!(harness.app.place().path.as_deref(), Some("src/table"));
    harness.press("P").settle().await.press("Down").press("Enter").settle().await;
    assert_eq!(harness.app.place().path, None);
}

#[tokio::test]
async fn a_ref_is_heard_in_accessible_mode() {
    let mut harness = refs(commits().accessible()).await;
    harness.hears("rows").hears("marked").type_text("v1").hears("v1");
}

#[tokio::test]
async fn members_of_a_project_are_found_with_the_picker_of_the_forms() {
    let mut harness = Begin::at(Place::new("overview").project("acme/rocket-ui")).size(100, 30).open();
    harness.reply("GET /user", user(1, "ada"));
    harness.reply("GET /projects/acme%2Frocket-ui/users", [user(1, "ada"), user(2, "bo")]);
    harness.reply("GET /projects/acme%2Frocket-ui/users?search=cem", [user(3, "cem")]).settle().await;
    harness.press("u").settle().await;
    harness.expect("Members of acme/rocket-ui").expect("ada").expect("bo").type_text("cem").settle().await;
    harness.press("Enter").settle().await;
    assert_eq!(harness.app.place(), Place::new("user").item("cem"));
}
