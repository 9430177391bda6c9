//! CI/CD variables: values stay off the screen, off the disk and out of messages unless the user asks for them.

use crate::harness::{Begin, Harness};
use crate::served::demo;
use labscope::app::Place;
use serde_json::{Value, json};

const LIST: &str = "GET /projects/acme%2Ftools%2Fcli/variables";

fn variable(key: &str, value: &str) -> Value {
    json!({"variable_type": "env_var", "key": key, "value": value, "hidden": false, "protected": false, "masked": false,
        "raw": true, "environment_scope": "*", "description": null})
}

/// Returns the variable with some of its fields changed.
fn with(variable: Value, fields: Value) -> Value {
    let (Value::Object(mut all), Value::Object(fields)) = (variable, fields) else { panic!("objects") };
    all.extend(fields);
    Value::Object(all)
}

async fn open(rows: Value) -> Harness {
    let mut harness = Begin::at(Place::new("variables").project("acme/tools/cli")).size(140, 30).open();
    harness.reply(LIST, rows).settle().await;
    harness
}

fn sent(harness: &Harness) -> Vec<String> {
    harness.asked.iter().filter(|line| !line.starts_with("GET")).cloned().collect()
}

#[tokio::test]
async fn a_value_is_shown_for_ten_seconds_and_copied_unseen() {
    let mut harness = open(json!([variable("A", "s3cret-0"), variable("B", "s3cret-1\nline 2")])).await;
    harness.expect("A").expect_no("s3cret").press("Enter").expect("Value: 8 characters").expect_no("s3cret");
    harness.press("v").expect("s3cret-0").expect_no("s3cret-1").pass(9).expect("s3cret-0");
    harness.pass(2).expect_no("s3cret");
    harness.press("v").expect("s3cret-0").press("v").expect_no("s3cret");
    // It is forgotten even where nothing else changes by itself.
    harness.press("Tab j v").expect("s3cret-1 line 2").expect("2 lines");
    harness.unreachable(LIST).press("r").settle().await;
    let second = harness.app.wake_at().expect("a wake, though the list cannot be refreshed");
    harness.expect("s3cret-1").pass(1);
    assert!(harness.app.wake_at().expect("the next wake").duration_since(second).as_secs() <= 1);
    harness.pass(10).expect_no("s3cret-1");
    harness.press("Y").expect("Copied value (not shown)").expect_no("s3cret");
    assert_eq!(harness.copied(), ["s3cret-1\nline 2"]);
    // The menu of texts to copy shows them, so the value is not among them.
    harness.press("y").expect("reference").expect_no("s3cret").press("Esc");
    harness.press("/").type_text("s3cret").settle().await;
    harness.expect_no("s3cret-1");
}

#[tokio::test]
async fn hostile_values_do_not_reach_the_terminal() {
    let evil = with(variable("EVIL", "a\u{1b}]0;x\u{7}\r\nb\u{202e}"), json!({"description": "\u{1b}[2J"}));
    let long = with(variable(&"K".repeat(255), &"🧑‍🚀".repeat(2000)), json!({"environment_scope": "e".repeat(200)}));
    let mut harness = open(json!([evil, long])).await;
    for (width, height) in [(140, 30), (60, 12), (20, 6), (10, 3)] {
        harness.resize(width, height).press("v Tab v Tab j");
        assert!(!harness.picture().contains('\u{1b}'), "{}", harness.picture());
    }
}

#[tokio::test]
async fn a_thousand_long_values_are_managed() {
    let value = |n: usize| format!("s3cret-{n} \"quoted\" 'twice'\n{}", "line of a key\n".repeat(720));
    let rows: Vec<Value> = (0..1_000).map(|n| variable(&format!("KEY_{n:03}"), &value(n))).collect();
    assert!(value(0).len() > 10_000);
    let mut harness = open(json!(rows)).await;
    harness.expect("KEY_000").expect("1,000").expect_no("s3cret");
    for _ in 0..10 {
        harness.press("G").settle().await;
    }
    harness.expect("KEY_999").expect("722 lines");
    harness.press("v").expect("s3cret-999 \"quoted\" 'twice'").expect("line of a key").press("v").expect_no("s3cret");
    harness.press("Y");
    assert_eq!(harness.copied(), [value(999)]);
    harness.press("e").expect("Edit variable KEY_999").expect_no("s3cret").press("Esc");
    harness.reply("GET /groups/acme/variables", &rows).reply("GET /groups/acme%2Ftools/variables", &rows);
    harness.press("E").settle().await;
    harness.expect("KEY_000").expect("overridden").type_text("production").press("PageDown").press("Esc");
    harness.reply("GET /projects/acme%2Fui/variables", &rows[1..]);
    harness.reply("GET /projects", [json!({"id": 9, "name": "ui", "path_with_namespace": "acme/ui"})]);
    harness.press("d").settle().await;
    harness.type_text("acme/ui").settle().await;
    harness.press("Enter").settle().await;
    harness.press("C-s").settle().await;
    harness.expect("only here").expect("999 equal").expect_no("s3cret");
}

#[tokio::test]
async fn a_typed_value_is_masked_checked_and_forgotten() {
    let mut harness = open(json!([])).await;
    harness.expect("There are no CI/CD variables here").press("+").type_text("A B").press("Tab");
    harness.expect("can contain only letters").press("S-Tab C-u").type_text("TOKEN").press("Tab");
    harness.expect("forgotten if you leave with Esc").type_text("s3cret").expect_no("s3cret");
    // The text is shown on request only.
    harness.press("C-t").expect("s3cret").press("C-t").expect_no("s3cret");
    harness.press("Esc Tab Tab").type_text("y").press("C-s");
    harness.expect("is shorter than 8 characters");
    assert!(sent(&harness).is_empty());
    harness.press("Esc").expect("is not saved").press("+").settle().await;
    harness.expect("TOKEN").expect_no("******");
    harness.press("Tab").type_text("s3cret-0123456789").press("Esc");
    harness.fail("POST /projects/acme%2Ftools%2Fcli/variables", 400, "value: s3cret-0123456789 is bad");
    harness.press("C-s").settle().await;
    harness.expect("is bad").expect_no("s3cret");
    harness.reply("POST /projects/acme%2Ftools%2Fcli/variables", variable("TOKEN", "x")).press("C-s").settle().await;
    assert_eq!(
        sent(&harness).last().map(String::as_str),
        Some("POST /projects/acme%2Ftools%2Fcli/variables key=TOKEN masked=true raw=true value=s3cret-0123456789")
    );
}

#[tokio::test]
async fn only_changes_are_sent_and_the_environment_names_the_variable() {
    let production = json!({"environment_scope": "production", "raw": false});
    let rows = json!([variable("HOST", "a"), with(variable("HOST", "b\n"), production)]);
    let mut harness = open(rows).await;
    harness.reply("PUT /projects/acme%2Ftools%2Fcli/variables/HOST", variable("HOST", "b"));
    harness.press("j e").expect("Edit variable HOST of acme/tools/cli").expect_no("b\n");
    harness.type_text("c").press("Esc C-s").settle().await;
    harness.reply("DELETE /projects/acme%2Ftools%2Fcli/variables/HOST", json!(null));
    harness.press("G D").expect("HOST (production)").press("y").settle().await;
    assert_eq!(
        sent(&harness),
        [
            "PUT /projects/acme%2Ftools%2Fcli/variables/HOST filter[environment_scope]=production value=b\nc",
            "DELETE /projects/acme%2Ftools%2Fcli/variables/HOST?filter[environment_scope]=production",
        ]
    );
}

#[tokio::test]
async fn a_hidden_value_is_not_written_back() {
    let hidden = with(variable("TOKEN", ""), json!({"value": null, "hidden": true, "masked": true}));
    let mut harness = open(json!([hidden])).await;
    harness.expect("hidden").press("v").expect("the server never returns it").press("Y");
    assert!(harness.copied().is_empty());
    harness.press("e").expect("type a new value to replace it").press("Tab Tab");
    harness.press("Space C-s").settle().await;
    assert_eq!(
        sent(&harness),
        ["PUT /projects/acme%2Ftools%2Fcli/variables/TOKEN filter[environment_scope]=* protected=true"]
    );
}

#[tokio::test]
async fn several_variables_are_added_after_a_preview_without_values() {
    let rows = json!([variable("SAME", "1"), variable("OLD", "s3cret-0")]);
    let mut harness = open(rows).await;
    harness.press("i").press("C-s").expect("is required, or a file");
    let text = "SAME=1\nexport NEW='s3cret-1 two'\nOLD=s3cret-2\ns3cret line\n";
    harness.send(labscope::app::action::Msg::Paste(text.into()));
    harness.expect_no("s3cret").press("C-s").settle().await;
    harness.expect("1 new, 1 changed, 1 refused").expect("same value").expect("replaces the value");
    harness.expect("is not KEY=value").expect("12 characters").expect_no("s3cret");
    for method in ["POST", "PUT"] {
        let path = "/projects/acme%2Ftools%2Fcli/variables";
        let line = if method == "PUT" { format!("PUT {path}/OLD") } else { format!("POST {path}") };
        harness.reply(&line, variable("NEW", "x"));
    }
    harness.press("C-s").settle().await;
    harness.expect("2 of 2 done");
    assert_eq!(
        sent(&harness),
        [
            "POST /projects/acme%2Ftools%2Fcli/variables key=NEW raw=true value=s3cret-1 two",
            "PUT /projects/acme%2Ftools%2Fcli/variables/OLD filter[environment_scope]=* raw=true value=s3cret-2",
        ]
    );
}

#[tokio::test]
async fn a_dotenv_file_is_read_once_it_is_previewed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(".env");
    std::fs::write(&path, "A=1\nB=\"two\nlines\"\n").expect("written");
    let mut harness = open(json!([])).await;
    harness.press("i Tab").type_text(&path.display().to_string()).press("C-s").settle().await;
    harness.expect("2 new, 0 changed").expect("9 characters").press("Esc").expect("the values are forgotten");
    harness.press("i Tab C-u").type_text("/nowhere/at/all").press("C-s").settle().await;
    harness.expect("/nowhere/at/all cannot be read").press("C-s");
    assert!(sent(&harness).is_empty());
}

#[tokio::test]
async fn the_effective_variables_come_from_all_owners_that_can_be_read() {
    let own = json!([variable("LEVEL", "x"), with(variable("LEVEL", "x"), json!({"environment_scope": "production"}))]);
    let mut harness = open(own).await;
    harness.reply("GET /groups/acme/variables", [variable("LEVEL", "x"), variable("REGION", "x")]);
    harness.fail("GET /groups/acme%2Ftools/variables", 403, "403 Forbidden");
    harness.press("E").settle().await;
    harness
        .expect("Effective variables of acme/tools/cli")
        .expect("group acme/tools: not allowed")
        .expect_no("Variables: ");
    assert!(harness.line_with("REGION").contains("group acme"), "{}", harness.picture());
    let in_popup = |harness: &Harness, words: &str| {
        harness
            .lines()
            .into_iter()
            .filter(|line| line.contains(words))
            .filter(|line| line.contains(" project "))
            .count()
    };
    assert_eq!(in_popup(&harness, "production"), 0, "{}", harness.picture());
    harness.type_text("production");
    let lines: Vec<String> = harness.lines().into_iter().filter(|line| line.contains("LEVEL")).collect();
    let popup: Vec<&String> = lines.iter().filter(|line| line.contains("project") || line.contains("group")).collect();
    assert!(popup[0].contains("production") && !popup[0].contains("overridden"), "{lines:?}");
    assert!(popup[1].contains("overridden") && popup[2].contains("overridden"), "{lines:?}");
    harness.press("Esc").expect_no("Effective");
}

#[tokio::test]
async fn two_projects_are_compared_without_showing_values() {
    let mut harness = open(json!([variable("A", "s3cret-0"), variable("B", "s3cret-1"), variable("C", "1")])).await;
    harness.reply("GET /projects/acme%2Fui/variables", [variable("B", "s3cret-2"), variable("C", "1")]);
    harness.reply("GET /projects", [json!({"id": 9, "name": "ui", "path_with_namespace": "acme/ui"})]);
    harness.press("d").settle().await;
    harness.expect("Compare variables with").type_text("acme/ui").settle().await;
    harness.press("Enter").settle().await;
    harness.press("C-s").settle().await;
    harness.expect("Variables of acme/tools/cli and acme/ui").expect("only here").expect("values differ");
    harness.expect("1 equal").expect_no("s3cret").press("e").expect("same");
}

#[tokio::test]
async fn the_variables_of_the_instance_are_for_administrators() {
    let mut harness = Begin::at(Place::new("variables")).size(120, 20).open();
    harness.reply("GET /user", json!({"id": 1, "username": "ada", "name": "Ada", "is_admin": false})).settle().await;
    harness.expect("You cannot see the variables of the instance").expect("Open a project or a group");
    assert!(!harness.asked.iter().any(|line| line.contains("variables")), "{:?}", harness.asked);
    let mut harness = Begin::at(Place::new("variables")).size(120, 20).open();
    harness.reply("GET /user", json!({"id": 1, "username": "root", "name": "Root", "is_admin": true}));
    let row =
        json!({"variable_type": "env_var", "key": "PROXY", "value": "s3cret", "protected": false, "masked": false});
    harness.reply("GET /admin/ci/variables", [row]).settle().await;
    harness
        .expect("PROXY")
        .expect("instance variables")
        .press("e")
        .expect("Edit variable PROXY of the instance")
        .press("Esc");
    harness.press("E").expect("Open the variables of a project or group");
}

#[tokio::test]
async fn a_missing_role_is_told() {
    let mut harness = Begin::at(Place::new("variables").project("acme/tools/cli")).size(120, 20).open();
    harness.fail(LIST, 403, "403 Forbidden").settle().await;
    harness.expect("at least the role Maintainer").expect("403 Forbidden");
    let mut harness = Begin::at(Place::new("variables").group("acme")).size(120, 20).open();
    harness.unsupported("GET /groups/acme/variables").settle().await;
    harness.expect("Not supported by this server");
}

#[tokio::test]
async fn variables_are_managed_on_a_real_server() {
    let server = demo().await;
    let place = Place::new("variables").project("acme/rocket-ui");
    let mut app = Begin::at(place).size(140, 40).server(&server.base_url, server.token()).open();
    app.settle().await;
    app.expect("REVIEW_BOT_TOKEN").expect("review/*").expect_no("pages-7Qd2xV9mB4tK").expect_no("staging.acme.test");
    app.press("+").type_text("NEW_ONE").press("Tab").type_text("blue").press("Esc C-s");
    app.until("Created").await;
    app.settle().await;
    app.expect("NEW_ONE").expect_no("blue").press("v").expect("blue");
    server.stop().await;
}

#[tokio::test]
async fn forms_of_variables_say_what_is_not_saved_and_use_the_words_of_the_list() {
    let mut harness = open(json!([with(variable("A", "x"), json!({"variable_type": "file"}))])).await;
    harness.resize(90, 30).press("+").expect("Esc close (draft saved without Value)");
    assert!(harness.line_with("Type").contains("variable"), "{}", harness.picture());
    harness.expect_no("env_var").press("Esc");
    harness.press("i").expect("Esc close (draft saved without KEY=value)").press("Esc");
    harness.reply("PUT /projects/acme%2Ftools%2Fcli/variables/A", variable("A", "x"));
    harness.press("e");
    assert!(harness.line_with("Type").contains("file"), "{}", harness.picture());
    for _ in 0..9 {
        if harness.line_with("Type").contains('▌') {
            break;
        }
        harness.press("Tab");
    }
    harness.press("Space").press("C-s").settle().await;
    let line = sent(&harness).pop().unwrap_or_default();
    assert!(line.contains("variable_type=env_var"), "{line}\n{}", harness.picture());
}

#[tokio::test]
async fn tab_leaves_a_masked_value_and_adds_nothing_to_it() {
    let mut harness = open(json!([])).await;
    harness.reply("POST /projects/acme%2Ftools%2Fcli/variables", variable("TOKEN", "x"));
    harness.press("+").type_text("TOKEN").press("Tab").type_text("s3cret").press("Tab").type_text("production");
    harness.press("S-Tab Enter S-Tab").type_text("_A").press("C-s").settle().await;
    assert_eq!(
        sent(&harness),
        ["POST /projects/acme%2Ftools%2Fcli/variables environment_scope=production key=TOKEN_A raw=true value=s3cret"]
    );
}
