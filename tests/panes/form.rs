//! Forms: filling in, completions, drafts, sending once, and errors at their fields.

use crate::fixtures::{self, With, user};
use crate::harness::{Begin, Harness};
use labscope::app::Place;
use serde_json::{Value, json};

fn project(name: &str) -> Value {
    fixtures::project(7, "acme/rocket-ui").with(json!({
        "name": name, "description": "Draws.", "visibility": "private", "issues_enabled": true,
        "tag_list": ["tui", "rust"], "web_url": "http://demo.test/acme/rocket-ui",
    }))
}

async fn projects() -> Harness {
    let mut harness = Begin::at(Place::new("projects")).open();
    harness.reply("GET /projects", [project("rocket-ui")]);
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": false}));
    harness.reply("GET /groups", [json!({"id": 3, "name": "Tools", "path": "tools", "full_path": "acme/tools"})]);
    harness.reply("GET /groups/acme%2Ftools", json!({"id": 3, "path": "tools", "full_path": "acme/tools"}));
    harness.settle().await;
    harness
}

fn sent(harness: &Harness, verb: &str) -> Vec<String> {
    harness.asked.iter().filter(|line| line.starts_with(verb)).cloned().collect()
}

#[tokio::test]
async fn only_filled_in_fields_are_sent_and_the_new_project_opens() {
    let mut harness = projects().await;
    harness.press("+").expect("New project").expect("Name *");
    harness.type_text("Moon").press("Tab Tab").type_text("too").settle().await;
    harness.expect("acme/tools").press("Tab").settle().await;
    harness.press("Space").expect("private").press("Space").expect("internal");
    harness.reply("POST /projects", json!({"id": 9, "path_with_namespace": "acme/tools/moon"}));
    harness.press("C-s").settle().await;
    assert_eq!(sent(&harness, "POST"), ["POST /projects name=Moon namespace_id=3 visibility=internal"]);
    assert_eq!(harness.app.place(), Place::new("files").project("acme/tools/moon"));
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn invalid_fields_show_errors_and_nothing_is_sent() {
    let mut harness = projects().await;
    harness.press("+ C-s").settle().await;
    harness.expect("✗ is required");
    harness.type_text("Moon").press("Tab").type_text("no blanks").expect("✗ only letters, digits, _ - and .");
    harness.press("Tab").type_text("acme/nowhere").settle().await;
    harness.fail("GET /groups/acme%2Fnowhere", 404, "404 Group Not Found").press("C-s").settle().await;
    harness.expect("✗ there is no group with that path");
    assert!(sent(&harness, "POST").is_empty());
}

#[tokio::test]
async fn errors_of_the_server_are_shown_at_their_fields() {
    let mut harness = projects().await;
    harness.fail("POST /projects", 400, "name has already been taken; path is reserved");
    harness.press("+").type_text("Moon").press("C-s").settle().await;
    harness.expect("✗ has already been taken").expect("✗ is reserved").expect("Moon");
    harness.reply("POST /projects", json!({"id": 9, "path_with_namespace": "ada/moon-2"}));
    harness.type_text("2").press("C-s").settle().await;
    assert_eq!(sent(&harness, "POST"), ["POST /projects name=Moon", "POST /projects name=Moon2"]);
}

#[tokio::test]
async fn a_form_is_sent_once_even_if_the_key_is_repeated() {
    let mut harness = projects().await;
    harness.press("+").type_text("Moon").press("C-s C-s C-s").type_text("x").press("C-s");
    assert_eq!(sent(&harness, "POST"), ["POST /projects name=Moon"]);
    harness.expect("sending…");
}

#[tokio::test]
async fn a_form_that_may_have_succeeded_asks_before_it_is_sent_again() {
    let mut harness = projects().await;
    harness.press("+").type_text("Moon").press("C-s").lose("POST /projects");
    harness.expect("It may have succeeded").expect("C-s send again…").expect_no("retry");
    harness.press("C-s").expect("It may have succeeded. Send it again?").press("n").expect("C-s send again…");
    // What is changed may be there already, too.
    harness.type_text("s").press("C-s").expect("Send it again?");
    assert_eq!(sent(&harness, "POST"), ["POST /projects name=Moon"]);
    harness.press("y").expect("sending…");
    assert_eq!(sent(&harness, "POST").len(), 2);
    // The user knows about the first one, and the second one was refused.
    harness.fail("POST /projects", 400, "name has already been taken").settle().await;
    harness.expect("C-s retry").press("C-s").settle().await.expect_no("Send it again?");
    assert_eq!(sent(&harness, "POST").len(), 3);
}

#[tokio::test]
async fn an_edit_that_may_have_succeeded_is_sent_again_at_once() {
    let mut harness = projects().await;
    harness.reply("GET /projects/acme%2Frocket-ui", project("rocket-ui"));
    harness.press("e").settle().await;
    harness.press("End C-u").type_text("rocket").press("C-s").settle().await.lose("PUT /projects");
    harness.settle().await.expect("It may have succeeded").expect("C-s retry").press("C-s").settle().await;
    assert_eq!(sent(&harness, "PUT").len(), 2);
}

/// Esc was pressed just before the form closed by itself.
#[tokio::test]
async fn esc_just_after_a_form_was_sent_does_not_leave_the_place() {
    let mut harness = projects().await;
    harness.reply("POST /projects", json!({"id": 9, "path_with_namespace": "ada/moon"}));
    harness.press("+").type_text("Moon").press("C-s").settle().await;
    harness.expect_no("New project");
    let place = harness.app.place();
    harness.press("Esc");
    assert_eq!(harness.app.place(), place);
    harness.pass(1).press("Esc");
    assert_ne!(harness.app.place(), place);
}

#[tokio::test]
async fn esc_keeps_the_draft_of_a_form() {
    let mut harness = projects().await;
    harness.press("+").type_text("Moon").press("Tab").type_text("m").press("Esc").expect_no("New project");
    assert_eq!(harness.kept.len(), 1, "{:?}", harness.kept);
    let drafts = harness.kept.clone();
    let mut begin = Begin::at(Place::new("projects"));
    begin.drafts = drafts;
    let mut again = begin.open();
    again.reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": false}));
    again.reply("GET /projects", [project("rocket-ui")]).settle().await;
    again.press("+").expect("Moon");
    // An emptied form leaves no draft.
    again.press("Tab Backspace S-Tab C-u Esc");
    assert!(again.kept.is_empty(), "{:?}", again.kept);
}

/// Starts the program again with these drafts, keyed by their whole keys.
fn started_again(kept: &[(&str, &str)]) -> Harness {
    let mut begin = Begin::at(Place::new("projects"));
    begin.drafts.extend(kept.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())));
    begin.account = begin.drafts.remove("account demo").unwrap_or_default();
    begin.open()
}

#[tokio::test]
async fn a_draft_typed_before_the_user_is_known_survives_a_kill() {
    for last in ["", "ada", "bo"] {
        // The server has not identified the user yet, and another user may have been here before.
        let mut harness = started_again(&[("account demo", last)]);
        harness.press("+").type_text("Moon");
        let kept: Vec<(String, String)> = harness.kept.clone().into_iter().collect();
        let [(key, text)] = kept.as_slice() else { panic!("{kept:?}") };
        assert!(key.starts_with("@ ") && text.contains("Moon"), "{last:?}: {kept:?}");
        // The program is killed twice; then the server identifies the user.
        let again = started_again(&[("account demo", last), (key, text)]);
        assert!(again.app.draft(key.trim_start_matches("@ ")).is_some());
        let mut again = started_again(&[("account demo", last), (key, text)]);
        again.reply("GET /projects", json!([])).reply("GET /user", user(1, "ada")).settle().await;
        assert_eq!(again.kept.keys().collect::<Vec<_>>(), [&key.replacen("@ ", "@ada ", 1)], "{last:?}");
        again.press("+").expect("Moon");
    }
}

#[tokio::test]
async fn a_draft_discarded_before_the_user_is_known_is_that_of_the_last_user() {
    let mut harness = started_again(&[]);
    harness.press("+").type_text("Moon");
    let (key, text) = harness.kept.clone().into_iter().next().expect("kept");
    let of_ada = key.replacen("@ ", "@ada ", 1);
    let mut harness = started_again(&[("account demo", "ada"), (&of_ada, &text)]);
    harness.press("+").expect("Moon").press("C-u Esc");
    assert_eq!(harness.kept.get(&key).map(String::as_str), Some(""));
    let left = [("account demo", "ada"), (of_ada.as_str(), text.as_str()), (key.as_str(), "")];
    let mut again = started_again(&left);
    assert!(again.app.draft(key.trim_start_matches("@ ")).is_none());
    again.reply("GET /user", user(1, "ada")).settle().await;
    again.press("+").expect_no("Moon").press("Esc");
    // A draft of another user is not discarded.
    let of_bo = key.replacen("@ ", "@bo ", 1);
    let mut again = started_again(&[left[0], left[1], left[2], (&of_bo, &text.replace("Moon", "Mars"))]);
    again.reply("GET /user", user(2, "bo")).settle().await;
    again.press("+").expect("Mars");
}

#[tokio::test]
async fn an_edit_form_is_prefilled_and_sends_only_changed_fields() {
    let mut harness = projects().await;
    harness.reply("GET /projects/acme%2Frocket-ui", project("rocket-ui"));
    harness.press("e").settle().await;
    harness.expect("Settings of acme/rocket-ui").expect("tui, rust").expect("Draws.").expect("C-s save");
    harness.reply("PUT /projects/acme%2Frocket-ui", project("rocket"));
    harness.press("C-s").settle().await;
    harness.expect("No changes.");
    harness.press("End C-u").type_text("rocket").press("C-s").settle().await;
    assert_eq!(sent(&harness, "PUT"), ["PUT /projects/acme%2Frocket-ui name=rocket"]);
}

/// Opens the settings of a project, types another name, and saves after somebody else made `theirs` of them.
async fn clashing(theirs: Value) -> Harness {
    let mut harness = projects().await;
    harness.reply("GET /projects/acme%2Frocket-ui", project("rocket-ui"));
    harness.press("e").settle().await;
    harness.press("C-u").type_text("mine").reply("GET /projects/acme%2Frocket-ui", theirs);
    harness.press("C-s").settle().await;
    harness
}

#[tokio::test]
async fn concurrent_changes_are_shown_before_they_are_replaced() {
    let mut harness = clashing(project("theirs")).await;
    harness.expect("Somebody else has changed it.");
    let row = harness.line_with("theirs");
    assert!(["Name", "rocket-ui", "theirs", "mine"].iter().all(|words| row.contains(words)), "{row}");
    assert!(sent(&harness, "PUT").is_empty());
    // Closing the comparison decides nothing: it is shown again.
    harness.press("Esc").expect("mine").expect_no("Somebody else has changed it").press("C-s").settle().await;
    harness.expect("Somebody else has changed it.");
    harness.reply("PUT /projects/acme%2Frocket-ui", project("mine")).press("C-s").settle().await;
    assert_eq!(sent(&harness, "PUT"), ["PUT /projects/acme%2Frocket-ui name=mine"]);
    assert!(harness.kept.is_empty(), "{:?}", harness.kept);
}

#[tokio::test]
async fn taking_their_version_only_affects_fields_that_both_changed() {
    let theirs = project("theirs").with(json!({"description": "Draws quickly.\nAnd well."}));
    let mut harness = clashing(theirs.clone()).await;
    harness.expect("not changed").expect("Draws quickly. (").press("j").expect("And well.");
    harness.press("t").expect("nothing left to send").expect("theirs").expect("Draws quickly.");
    assert!(harness.kept.is_empty() && sent(&harness, "PUT").is_empty(), "{:?}", harness.kept);
    harness.press("C-s").settle().await;
    harness.expect("No changes.");
    // A field that only one side changed is not sent back with its old value.
    let mut harness = clashing(theirs).await;
    harness.reply("PUT /projects/acme%2Frocket-ui", project("mine")).press("C-s").settle().await;
    assert_eq!(sent(&harness, "PUT"), ["PUT /projects/acme%2Frocket-ui name=mine"]);
}

#[tokio::test]
async fn a_key_restores_the_text_replaced_by_their_version() {
    let mut harness = clashing(project("theirs")).await;
    harness.press("t").expect("C-z restores yours").expect("C-z restore yours").expect_no("mine");
    harness.press("C-z").expect("mine").expect("C-z restore theirs");
    assert!(harness.kept.values().any(|text| text.contains("mine")), "{:?}", harness.kept);
    harness.press("C-z").expect("theirs").expect_no("mine").press("C-z").expect("mine");
    // The other version has been seen, so the form is sent without a question.
    harness.reply("PUT /projects/acme%2Frocket-ui", project("mine")).press("C-s").settle().await;
    assert_eq!(sent(&harness, "PUT"), ["PUT /projects/acme%2Frocket-ui name=mine"]);
}

/// Opens the settings of a project twice: the cached values are shown while they are refetched.
async fn reopened() -> Harness {
    let mut harness = projects().await;
    harness.reply("GET /projects/acme%2Frocket-ui", project("rocket-ui"));
    harness.press("e").settle().await;
    harness.press("Esc e").expect("Draws.").click_on("Description");
    harness
}

fn described(text: &str) -> Value {
    project("rocket-ui").with(json!({"description": text}))
}

/// Asserts that somebody else's text is shown beside `mine`, and that nothing was sent yet.
fn clashes(harness: &mut Harness, mine: &str) {
    harness.expect("Somebody else has changed it.").expect("By Bo.").expect(mine);
    assert!(sent(harness, "PUT").is_empty(), "{:?}", harness.asked);
}

#[tokio::test]
async fn a_change_during_editing_of_a_long_text_is_shown_before_saving() {
    let mut harness = reopened().await;
    harness.press("Enter").expect("· Description").reply("GET /projects/acme%2Frocket-ui", described("By Bo."));
    harness.settle().await;
    harness.type_text("x").expect("Draws.x").press("Esc C-s").settle().await;
    clashes(&mut harness, "Draws.x");
}

#[tokio::test]
async fn a_change_while_the_external_editor_is_open_is_shown_before_saving() {
    use labscope::app::action::Msg;
    let mut harness = reopened().await;
    harness.press("C-o").reply("GET /projects/acme%2Frocket-ui", described("By Bo.")).settle().await;
    harness.send(Msg::EditorClosed(Ok("Draws.x\n".into())));
    harness.press("C-s").settle().await;
    clashes(&mut harness, "Draws.x");
    // A text that returns unchanged from the editor is no change, even if the field changed meanwhile.
    let mut harness = reopened().await;
    harness.press("C-o").settle().await;
    harness.send(Msg::EditorClosed(Ok("Draws.\n".into())));
    harness.reply("GET /projects/acme%2Frocket-ui", described("Draws.")).press("C-s").settle().await;
    harness.expect("No changes.");
}

#[tokio::test]
async fn a_text_opened_during_the_check_for_changes_is_not_sent_yet() {
    let mut harness = reopened().await;
    harness.settle().await;
    harness.press("Enter").type_text("x").press("Esc C-s").expect("checking for changes");
    harness.reply("GET /projects/acme%2Frocket-ui", described("By Bo.")).press("Enter").settle().await;
    harness.expect_no("Somebody else has changed").expect("Draws.x").type_text("y").press("Esc C-s").settle().await;
    clashes(&mut harness, "Draws.xy");
    harness.press("t").expect("By Bo.").press("Enter").type_text("z").expect("By Bo.z");
}

#[tokio::test]
async fn nothing_can_be_typed_over_values_that_are_not_known() {
    let mut harness = projects().await;
    harness.press("e").expect("Settings of acme/rocket-ui").expect_no("Description").type_text("x").press("C-s");
    harness.click_on("Settings of").press("Enter").expect_no("checking").expect("Esc close");
    harness.reply("GET /projects/acme%2Frocket-ui", project("rocket-ui")).settle().await;
    harness.expect("Draws.").expect_no("xrocket").expect_no("rocket-uix");
    assert!(sent(&harness, "PUT").is_empty(), "{:?}", harness.asked);
    // If they cannot be read, the reason is told.
    let mut harness = projects().await;
    harness.fail("GET /projects/acme%2Frocket-ui", 500, "out of ink").press("e").settle().await;
    harness.expect("out of ink").type_text("x").press("C-s").settle().await;
    assert!(sent(&harness, "PUT").is_empty(), "{:?}", harness.asked);
    harness.press("Esc").expect_no("Settings of").expect_no("Draft saved");
}

#[tokio::test]
async fn a_form_that_is_being_sent_cannot_be_opened_again() {
    let mut harness = projects().await;
    harness.press("+").type_text("Moon").press("C-s").expect("sending…").press("Esc").expect("Still sending");
    harness.press("+").expect("it is being sent").expect_no("Name *");
    harness.reply("POST /projects", json!({"id": 9, "path_with_namespace": "ada/moon"})).settle().await;
    harness.expect("Created");
    harness.press("+").expect("Name *").expect_no("Moon");
    assert_eq!(sent(&harness, "POST"), ["POST /projects name=Moon"]);
}

#[tokio::test]
async fn the_check_for_changes_is_repeated_after_a_failure() {
    let mut harness = projects().await;
    harness.reply("GET /projects/acme%2Frocket-ui", project("rocket-ui"));
    harness.press("e").settle().await;
    harness.press("Esc").fail("GET /projects/acme%2Frocket-ui", 500, "out of ink").press("e").settle().await;
    harness.expect("Draws.").click_on("Description").press("Enter").type_text("x").press("Esc");
    harness.reply("GET /projects/acme%2Frocket-ui", described("By Bo.")).press("C-s").settle().await;
    clashes(&mut harness, "Draws.x");
}

#[tokio::test]
async fn equal_changes_are_no_conflict_and_an_untouched_form_is_updated() {
    let mut harness = clashing(project("mine")).await;
    harness.expect("No changes.").press("Esc");
    harness.reply("GET /projects/acme%2Frocket-ui", project("older")).press("e").settle().await;
    // The cached value was replaced by the server's.
    harness.expect("older").expect_no("mine");
}

#[tokio::test]
async fn a_draft_of_an_earlier_session_is_compared_with_its_original() {
    let mut harness = projects().await;
    harness.reply("GET /projects/acme%2Frocket-ui", project("rocket-ui"));
    harness.press("e").settle().await;
    harness.press("C-u").type_text("mine").press("Esc");
    let mut begin = Begin::at(Place::new("projects"));
    begin.drafts = harness.kept.clone();
    let mut again = begin.open();
    again.reply("GET /user", json!({"id": 1, "username": "ada", "is_admin": false}));
    again.reply("GET /projects/acme%2Frocket-ui", project("theirs"));
    again.reply("GET /projects", [project("rocket-ui")]).settle().await;
    again.press("e").settle().await;
    again.expect("mine").press("C-s").settle().await;
    let row = again.line_with("theirs");
    assert!(row.contains("rocket-ui") && row.contains("mine"), "{row}");
    assert!(sent(&again, "PUT").is_empty());
    for (width, height) in [(20, 8), (40, 10), (44, 12), (160, 45)] {
        again.resize(width, height);
    }
    again.resize(80, 24).reply("PUT /projects/acme%2Frocket-ui", project("mine")).press("C-s").settle().await;
    assert_eq!(sent(&again, "PUT"), ["PUT /projects/acme%2Frocket-ui name=mine"]);
}

#[tokio::test]
async fn read_only_mode_refuses_to_open_a_form() {
    let mut harness = Begin::at(Place::new("projects")).read_only().open();
    harness.reply("GET /projects", [project("rocket-ui")]).settle().await;
    harness.press("+").expect("labscope is read-only");
    harness.press("e").expect("read-only").expect_no("Settings of");
}

#[tokio::test]
async fn a_long_text_can_be_typed_and_the_mouse_reaches_every_field() {
    let mut harness = projects().await;
    harness.press("+").click_on("Description").press("Enter").type_text("One").press("Enter").type_text("two");
    harness.expect("New project · Description").press("Esc").expect("One").expect("2 lines");
    harness.click_on("Visibility").click_on("Visibility").expect("private");
    for _ in 0..30 {
        harness.wheel_on("New project", true);
    }
    harness.expect_no("Name *").expect("Approvals");
    harness.resize(44, 14).expect("Approvals");
}

#[tokio::test]
async fn a_form_is_saved_from_a_long_text() {
    let mut harness = projects().await;
    harness.press("+").type_text("Moon").click_on("Description").press("Enter").type_text("One.");
    harness.reply("POST /projects", json!({"id": 9, "path_with_namespace": "ada/moon"})).press("C-s").settle().await;
    assert_eq!(sent(&harness, "POST"), ["POST /projects description=One. name=Moon"]);
}

#[tokio::test]
async fn hostile_names_in_completions_are_sanitized() {
    let mut harness = projects().await;
    harness.reply("GET /groups", [json!({"id": 3, "name": "a\u{1b}[31mb", "full_path": "x\u{202e}y\u{7}"})]);
    harness.press("+ Tab Tab").type_text("x").settle().await;
    harness.resize(80, 24);
    assert!(harness.lines().iter().all(|line| !line.contains(['\u{1b}', '\u{202e}', '\u{7}'])));
}

#[tokio::test]
async fn an_avatar_file_is_validated_before_upload() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("words.txt"), "words").expect("written");
    std::fs::write(path("large.png"), [b"\x89PNG\r\n\x1a\n".as_slice(), &vec![0; 300 << 10]].concat())
        .expect("written");
    std::fs::write(path("moon.png"), b"\x89PNG\r\n\x1a\nrest").expect("written");
    let mut harness = projects().await;
    harness.press("+").type_text("Moon");
    let picture = |harness: &mut Harness, path: &str| {
        while !harness.line_with("Avatar").contains('▌') {
            harness.press("Tab");
        }
        harness.press("C-u").send(labscope::app::action::Msg::Paste(path.to_owned()));
    };
    for (name, why) in
        [("gone.png", "cannot be read"), ("words.txt", "is not a supported image"), ("large.png", "is too large")]
    {
        picture(&mut harness, &path(name));
        harness.settle().await;
        harness.expect(why).press("C-s").settle().await;
        assert!(sent(&harness, "POST").is_empty(), "{name}: {:?}", harness.asked);
    }
    // The file was replaced by a valid one.
    std::fs::copy(path("moon.png"), path("large.png")).expect("copied");
    harness.press("C-s").settle().await;
    assert_eq!(sent(&harness, "POST"), [format!("POST /projects name=Moon avatar=@{}", path("large.png"))]);
}

/// An edit form of a row: its place, the replies that it needs, the row, what somebody else makes of it, the keys that
/// open the form and go to a field, and the text that is typed there.
type RowEdit = (Place, Vec<(&'static str, Value)>, &'static str, Value, Value, &'static str, &'static str);

/// Returns the edit forms of rows of lists. Somebody else changes another field than the user.
fn row_edits() -> Vec<RowEdit> {
    let on = |name: &'static str| Place::new(name).project("a/b");
    let ada = || ("GET /user", user(1, "ada"));
    let with = |row: &Value, changes: Value| row.clone().with(changes);
    let label = fixtures::label(1, "bug", "#d9534f");
    let milestone =
        json!({"id": 4, "iid": 4, "project_id": 7, "title": "0.4", "description": "Rows.", "state": "active"});
    let member = user(3, "gus").with(json!({"access_level": 30, "expires_at": null}));
    let release = json!({"tag_name": "v1", "name": "One", "description": "Rows."});
    let link = json!({"id": 1, "name": "For Linux", "url": "https://h.test/linux", "link_type": "package"});
    let schedule = json!({"id": 1, "description": "Nightly", "ref": "refs/heads/main", "cron": "0 4 * * *",
        "cron_timezone": "UTC", "active": true, "owner": {"id": 1, "username": "ada"}});
    let access = |id: u64, level: u64| json!([{"id": id, "access_level": level, "access_level_description": ""}]);
    let rule = json!({"name": "v*", "push_access_levels": access(5, 40), "merge_access_levels": access(8, 40),
        "allow_force_push": false});
    let milestones = "GET /projects/a%2Fb/milestones?include_ancestors=true&state=active";
    vec![
        (
            on("labels"),
            vec![],
            "GET /projects/a%2Fb/labels?with_counts=true",
            label.clone(),
            with(&label, json!({"name": "theirs"})),
            "e Tab C-u",
            "#00ff00",
        ),
        (
            on("milestones"),
            vec![],
            milestones,
            milestone.clone(),
            with(&milestone, json!({"title": "theirs"})),
            "e Tab",
            "2026-06-01",
        ),
        (
            on("members"),
            vec![("GET /projects/a%2Fb/members/all", json!([member]))],
            "GET /projects/a%2Fb/members",
            member.clone(),
            with(&member, json!({"access_level": 20})),
            "e Tab",
            "2027-01-31",
        ),
        (
            on("releases"),
            vec![],
            "GET /projects/a%2Fb/releases",
            release.clone(),
            with(&release, json!({"description": "theirs"})),
            "e",
            "x",
        ),
        (
            on("asset_links").item("v1"),
            vec![],
            "GET /projects/a%2Fb/releases/v1/assets/links",
            link.clone(),
            with(&link, json!({"url": "https://theirs.test"})),
            "e",
            "x",
        ),
        (
            on("schedules"),
            vec![ada(), ("GET /projects/a%2Fb/pipeline_schedules", json!([schedule]))],
            "GET /projects/a%2Fb/pipeline_schedules/1",
            schedule.clone(),
            with(&schedule, json!({"cron_timezone": "theirs"})),
            "e",
            "x",
        ),
        (
            on("protected_branches"),
            vec![],
            "GET /projects/a%2Fb/protected_branches",
            rule.clone(),
            with(&rule, json!({"push_access_levels": access(5, 0)})),
            "e Tab Tab",
            "y",
        ),
    ]
}

#[tokio::test]
async fn every_form_that_edits_a_row_shows_what_somebody_else_changed_meanwhile() {
    let is_sent =
        |harness: &Harness| harness.asked.iter().any(|line| line.starts_with("PUT ") || line.starts_with("PATCH "));
    for (place, others, read, row, theirs, keys, typed) in row_edits() {
        let name = place.pane.to_owned();
        let mut harness = Begin::at(place).size(140, 30).open();
        for (request, reply) in others {
            harness.reply(request, reply);
        }
        let reply = |row: &Value| if name == "schedules" { row.clone() } else { json!([row]) };
        harness.reply(read, reply(&row)).pass(1).settle().await;
        harness.press(keys).type_text(typed).expect("C-s save");
        harness.reply(read, reply(&theirs)).press("C-s").settle().await;
        harness.expect("Somebody else has changed it.").expect("not changed").expect_no("s3cret");
        assert!(
            harness.shows("theirs") || harness.shows("Reporter") || harness.shows("No one"),
            "{name}\n{}",
            harness.picture()
        );
        assert!(!is_sent(&harness), "{name}: {:?}", harness.asked);
        // Their change stays, and the user's is sent.
        harness.press("C-s").settle().await;
        assert!(is_sent(&harness), "{name}: {:?}\n{}", harness.asked, harness.picture());
    }
}

/// Somebody else renames a row, so that the filter does not find it any more, or deletes it.
#[tokio::test]
async fn a_row_that_is_gone_is_reported_before_a_form_is_sent() {
    let list = "GET /projects/a%2Fb/labels?with_counts=true";
    let mut harness = Begin::at(Place::new("labels").project("a/b")).size(140, 30).open();
    harness.reply(list, [fixtures::label(1, "bug", "#d9534f")]).settle().await;
    harness.press("e Tab C-u").type_text("#00ff00").reply(list, [fixtures::label(2, "docs", "#5bc0de")]);
    harness.press("C-s").settle().await;
    harness.expect("It is not in the list any more: changed or deleted by somebody else.").expect("gone");
    harness.press("t").expect("Edit label bug").expect("#00ff00").press("C-s").settle().await;
    assert!(sent(&harness, "PUT").is_empty(), "{:?}", harness.asked);
    harness.press("C-s").settle().await;
    assert_eq!(sent(&harness, "PUT"), ["PUT /projects/a%2Fb/labels/1 color=#00ff00 name=bug"]);
}

/// A hidden value is compared like any other, and stays hidden.
#[tokio::test]
async fn a_changed_secret_is_reported_without_showing_it() {
    let variable = |value: &str| {
        json!({"variable_type": "env_var", "key": "A", "value": value, "protected": false, "masked": false, "raw": true,
            "environment_scope": "*", "description": null})
    };
    let list = "GET /projects/a%2Fb/variables";
    let mut harness = Begin::at(Place::new("variables").project("a/b")).size(140, 30).open();
    harness.reply(list, json!([variable("s3cret-1")])).settle().await;
    harness.press("e").expect("Edit variable A").type_text("x").reply(list, json!([variable("s3cret-2")]));
    harness.press("Esc C-s").settle().await;
    harness.expect("Somebody else has changed it.").expect("****").expect_no("s3cret");
}
