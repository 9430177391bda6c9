//! Checks the generated documents, and the links and names in documents.

use crate::source::{document, is_printed, root};
use labscope::api::permissions;
use labscope::config::Config;
use labscope::config::settings::{self, SETTINGS};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

#[test]
fn the_keys_page_is_up_to_date() {
    // The user's own key bindings must not end up in the page.
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
fn the_settings_page_is_up_to_date() {
    let (begin, end) = ("<!-- settings: begin -->\n", "<!-- settings: end -->");
    let written = document("docs/configuration.md");
    let (head, rest) = written.split_once(begin).expect("a beginning");
    let (_, tail) = rest.split_once(end).expect("an end");
    is_printed("docs/configuration.md", &format!("{head}{begin}{}{end}{tail}", settings::markdown()), "documents");
}

/// The permissions that labscope uses, one kind of object per row.
fn permission_table() -> String {
    // The places, the reads and the changes.
    let mut kinds: BTreeMap<&str, [BTreeSet<&str>; 3]> = BTreeMap::new();
    for row in permissions::rows() {
        let (kind, action) = row.parts();
        let cells = kinds.entry(kind).or_default();
        cells[0].insert(row.access());
        cells[if row.method == "GET" { 1 } else { 2 }].insert(action);
    }
    let mut text = "| permission | for | to read | to make changes |\n|---|---|---|---|\n".to_owned();
    let list = |words: &BTreeSet<&str>| words.iter().copied().collect::<Vec<_>>().join(", ");
    for (kind, [places, reads, changes]) in kinds {
        let _ = writeln!(text, "| {kind} | {} | {} | {} |", list(&places), list(&reads), list(&changes));
    }
    text
}

#[test]
fn the_permissions_of_fine_grained_tokens_are_up_to_date() {
    let (begin, end) = ("<!-- permissions: begin -->\n", "<!-- permissions: end -->");
    let written = document("docs/configuration.md");
    let (head, rest) = written.split_once(begin).expect("a beginning");
    let (_, tail) = rest.split_once(end).expect("an end");
    is_printed("docs/configuration.md", &format!("{head}{begin}{}{end}{tail}", permission_table()), "documents");
}

/// Parses `text` as a configuration file.
fn configured(text: &str) -> Result<Config, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config.toml");
    std::fs::write(&path, text).expect("written");
    // The example includes it.
    std::fs::write(folder.path().join("team.toml"), "").expect("written");
    Config::load(Some(&path))
}

#[test]
fn the_example_configuration_is_valid() {
    configured(&settings::example()).expect("reads");
}

#[test]
fn every_configuration_key_is_in_the_settings_table() {
    for (header, table) in
        [("", ""), ("[hosts.work]\n", "[hosts.work]"), ("[trace]\n", "[trace]"), ("[[sections]]\n", "[[sections]]")]
    {
        // The error for an unknown key lists the known ones: "unknown; known are a, b".
        let why = configured(&format!("{header}no_such_key = 1\n")).expect_err("no such key");
        let (_, known) = why.split_once("known are ").expect("the known keys");
        let known: BTreeSet<&str> = known.split(", ").collect();
        let mut ours: BTreeSet<&str> = SETTINGS.iter().filter(|s| s.table == table).map(|s| s.key).collect();
        if table.is_empty() {
            ours.extend(SETTINGS.iter().filter_map(|s| s.table.trim_matches(['[', ']']).split('.').next()));
            ours.remove("");
        }
        assert_eq!(ours, known, "{table}");
    }
}

#[test]
fn the_readme_is_short_and_has_its_pictures_and_links() {
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
fn every_yes_of_the_comparison_names_tests_that_exist() {
    let readme = document("README.md");
    let (table, rest) = readme.split_once("\n<!-- The tests of each").expect("the comment below the table");
    let (_, table) = table.split_once("| | labscope |").expect("the table");
    let named = rest.split("\n-->").next().unwrap_or_default().lines().skip(1);
    let named: BTreeMap<&str, &str> = named.map(|line| line.split_once(": ").expect(line)).collect();
    let rows = table.lines().filter_map(|row| row.strip_prefix("| ")?.split_once(" | "));
    for (task, cells) in rows.filter(|(_, cells)| cells.starts_with("yes")) {
        assert!(named.contains_key(task), "no test is named for {task:?}: {cells}");
    }
    let mut sources = vec![root().join("src"), root().join("tests")];
    let mut all = String::new();
    while let Some(folder) = sources.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            match entry.extension().and_then(|extension| extension.to_str()) {
                Some("rs") => all += &std::fs::read_to_string(&entry).expect("reads"),
                _ if entry.is_dir() => sources.push(entry),
                _ => {}
            }
        }
    }
    for (task, tests) in named {
        for test in tests.split(", ") {
            assert!(all.contains(&format!("fn {test}()")), "{task}: there is no test {test}");
        }
    }
}

#[test]
fn the_readme_and_ci_use_the_same_test_command() {
    assert!(document("README.md").contains("\ncargo test --locked\n"));
    assert!(document(".ci/run").contains("\ncargo test --locked\n"));
}

#[test]
fn links_in_documents_are_not_broken() {
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
            assert!(outside || folder.join(path).exists(), "{name} links to the missing {path}");
        }
    }
}

#[test]
fn paths_named_in_architecture_md_exist() {
    let text = document("ARCHITECTURE.md");
    for name in
        text.split('`').skip(1).step_by(2).filter(|name| name.contains('/') && !name.contains([' ', '<', '{', '*']))
    {
        let is_there = |folder: &str| root().join(folder).join(name).exists();
        assert!(is_there("") || is_there("src"), "ARCHITECTURE.md names the missing {name}");
    }
}
