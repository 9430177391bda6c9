//! A temporary home directory for the program, so that none of the user's own files are read or written.

use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// An empty home directory.
pub struct Home {
    folder: TempDir,
}

impl Home {
    /// Creates an empty home directory.
    pub fn new() -> Home {
        let folder = tempfile::Builder::new().prefix("home-").tempdir().expect("a folder");
        for name in ["config/labscope", "data", "tmp", "work"] {
            std::fs::create_dir_all(folder.path().join(name)).expect("a folder");
        }
        Home { folder }
    }

    /// Returns the path of `below` inside the home.
    pub fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Returns the environment variables that make the program use this home.
    pub fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let mut all = vec![("HOME", self.path("")), ("TMPDIR", self.path("tmp"))];
        all.extend([("XDG_CONFIG_HOME", self.path("config")), ("XDG_DATA_HOME", self.path("data"))]);
        all.push(("XDG_CACHE_HOME", self.path("cache")));
        all.extend([("LC_ALL", "C.UTF-8".into()), ("TERM", "xterm-256color".into())]);
        all
    }

    /// Returns the temporary files that were left behind.
    pub fn left_behind(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path("tmp")).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }
}

/// Sends a signal to a process.
pub fn send(signal: &str, process: u32) {
    let status =
        Command::new("kill").args([format!("-{signal}"), process.to_string()]).status().expect("kill is there");
    assert!(status.success());
}
