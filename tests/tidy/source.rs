//! The source code that the rules check: without comments and without tests.

use std::path::{Path, PathBuf};

/// A file below `src/`.
pub struct File {
    /// The path relative to `src/`: `parts/list.rs`.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// The code that is compiled into the program, without comments.
    pub code: String,
}

impl File {
    /// Returns the first part of the path: `panes`.
    pub fn room(&self) -> &str {
        let first = self.name.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }
}

/// Returns the root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns whether a room is a package of its own.
pub fn is_package(room: &str) -> bool {
    root().join("src").join(room).join("Cargo.toml").exists()
}

/// Reads a file relative to the root of the repository.
pub fn document(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Fails if the document `name` differs from the generated `text`; with `UPDATE_DOCS` set, writes it first.
pub fn is_printed(name: &str, text: &str, tests: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(root().join(name), text).expect("written");
    }
    let current = std::fs::read_to_string(root().join(name)).unwrap_or_default();
    assert!(current == text, "{name} is out of date: run `UPDATE_DOCS=1 cargo test --test tidy {tests}`");
}

/// Returns all files below `src/`, except for files that only contain tests.
pub fn files() -> Vec<File> {
    let mut folders: Vec<PathBuf> = vec![root().join("src")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") && path.file_stem().is_some_and(|s| s != "tests") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                let name = path.strip_prefix(root().join("src")).expect("below").to_string_lossy().replace('\\', "/");
                let code = code_of(&text);
                files.push(File { name, text, code });
            }
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(files.len() > 50, "the source was found");
    files
}

/// Returns the code of a file. Tests are in a module at its end.
fn code_of(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {\n").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}
