//! Documents that are printed from the program, and what they point at.

use crate::source::{document, is_printed, root};
use labscope::config::Config;
use labscope::config::settings::{self, SETTINGS};
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn the_page_of_keys_is_printed_from_the_program() {
    // The user's own keys must not get into it.
    let home = tempfile::tempdir().expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_labscope"));
    program.args(["keys", "--markdown"]).env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path());
    let printed = program.output().expect("it starts");
    assert!(printed.status.success(), "{printed:?}");
    let printed = String::from_utf8(printed.stdout).expect("UTF-8");
    let (head, _) =
        document("docs/keys.md").split_once("\n### ").map(|(a, b)| (a.to_owned(), b.len())).expect("a head");
    is_printed("docs/keys.md", &format!("{head}\n{printed}"), "documents");
}

#[test]
fn the_page_of_settings_is_printed_from_their_table() {
    let (begin, end) = ("<!-- settings: begin -->\n", "<!-- settings: end -->");
    let written = document("docs/configuration.md");
    let (head, rest) = written.split_once(begin).expect("a beginning");
    let (_, tail) = rest.split_once(end).expect("an end");
    is_printed("docs/configuration.md", &format!("{head}{begin}{}{end}{tail}", settings::markdown()), "documents");
}

/// Reads `text` as a configuration file.
fn configured(text: &str) -> Result<Config, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config.toml");
    std::fs::write(&path, text).expect("written");
    Config::load(Some(&path))
}

#[test]
fn the_example_of_all_settings_is_a_valid_file() {
    configured(&settings::example()).expect("reads");
}

#[test]
fn every_key_of_the_configuration_is_a_setting() {
    for (header, table) in
        [("", ""), ("[hosts.work]\n", "[hosts.work]"), ("[trace]\n", "[trace]"), ("[[sections]]\n", "[[sections]]")]
    {
        // A key that is not known is answered with those that are: "unknown field `x`, expected one of `a`, `b`".
        let why = configured(&format!("{header}no_such_key = 1\n")).expect_err("no such key");
        let (_, known) = why.split_once("expected").expect("the known keys");
        let known: BTreeSet<&str> = known.split('`').skip(1).step_by(2).collect();
        let mut ours: BTreeSet<&str> = SETTINGS.iter().filter(|s| s.table == table).map(|s| s.key).collect();
        if table.is_empty() {
            ours.extend(SETTINGS.iter().filter_map(|s| s.table.trim_matches(['[', ']']).split('.').next()));
            ours.remove("");
        }
        assert_eq!(ours, known, "{table}");
    }
}

#[test]
fn the_readme_is_short_and_shows_its_pictures_and_commands() {
    let readme = document("README.md");
    let lines = readme.lines().count();
    assert!(lines < 200, "README.md has {lines} lines, and may have 199: move details to docs");
    for words in
        ["\ncargo run --release -- demo\n", "docs/pictures/", "docs/keys.md", "docs/configuration.md", "SECURITY.md"]
    {
        assert!(readme.contains(words), "README.md has no {words:?}");
    }
}

#[test]
fn the_readme_s_test_command_is_the_one_that_is_run() {
    assert!(document("README.md").contains("\ncargo test --locked\n"));
    assert!(document(".ci/run").contains("\ncargo test --locked\n"));
}

#[test]
fn what_documents_point_at_is_there() {
    let docs =
        std::fs::read_dir(root().join("docs")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let docs = docs.map(|name| format!("docs/{}", name.to_string_lossy())).filter(|name| name.ends_with(".md"));
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"].map(str::to_owned);
    for name in top.into_iter().chain(docs) {
        let name = name.as_str();
        let text = document(name);
        let folder = root().join(name).parent().expect("a folder").to_path_buf();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap_or_default();
            let outside = path.is_empty() || path.contains("://");
            assert!(outside || folder.join(path).exists(), "{name} points at {path}");
        }
    }
}

#[test]
fn every_room_and_file_that_the_architecture_names_is_there() {
    let text = document("ARCHITECTURE.md");
    for name in
        text.split('`').skip(1).step_by(2).filter(|name| name.contains('/') && !name.contains([' ', '<', '{', '*']))
    {
        if name.starts_with("src/") || name.starts_with("tests/") || name.starts_with("benches/") {
            assert!(root().join(name).exists(), "ARCHITECTURE.md names {name}");
        }
    }
}
