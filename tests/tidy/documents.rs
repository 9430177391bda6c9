//! Documents that are printed from the program, and what they point at.

use crate::source::{document, root};
use std::process::Command;

/// The part of a document between two marks.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no {begin}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end}")).0
}

#[test]
fn the_readme_s_keys_are_those_of_the_program() {
    // A person's own keys must not get into it.
    let home = tempfile::tempdir().expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_labscope"));
    program.args(["keys", "--markdown"]).env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path());
    let printed = program.output().expect("it starts");
    assert!(printed.status.success(), "{printed:?}");
    let printed = String::from_utf8(printed.stdout).expect("UTF-8");
    let readme = document("README.md");
    let written = between(&readme, "<!-- keys: begin -->\n", "<!-- keys: end -->");
    assert!(
        written.trim() == printed.trim(),
        "README.md is behind the key table: run `cargo run -- keys --markdown`, and put the output between its marks"
    );
}

#[test]
fn the_readme_s_test_command_is_the_one_that_is_run() {
    assert!(document("README.md").contains("\ncargo test --locked\n"));
    assert!(document(".ci/run").contains("\ncargo test --locked\n"));
}

#[test]
fn what_documents_point_at_is_there() {
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/tour.md", "docs/endpoints.md"]
    {
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
