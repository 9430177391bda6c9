//! Files that nobody reads line by line: folded until they are asked for, with the reason.

use super::FileDiff;

/// Changed lines from which a file is folded among others.
const MANY: usize = 3000;
/// Bytes of a line from which it is not for people.
const LONG: u32 = 2000;

/// Names of files that tools write.
const LOCKS: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "Gemfile.lock",
    "composer.lock",
    "poetry.lock",
    "Pipfile.lock",
    "uv.lock",
    "go.sum",
    "flake.lock",
    "mix.lock",
    "pubspec.lock",
    "Podfile.lock",
    "gradle.lockfile",
];

/// Ends of the names of files that tools write.
const ENDINGS: &[&str] = &[
    ".pb.go",
    ".pb.cc",
    ".pb.h",
    "_pb2.py",
    "_pb2_grpc.py",
    ".pb.swift",
    ".designer.cs",
    ".g.dart",
    ".freezed.dart",
    ".generated.ts",
    ".generated.cs",
    ".snap.new",
    ".map",
    "-lock.json",
];

impl FileDiff {
    /// Returns why the file is folded until somebody asks for it.
    pub fn fold_reason(&self) -> Option<&'static str> {
        let path = self.path();
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.lines.is_empty() {
            return None;
        }
        if LOCKS.contains(&name) {
            return Some("a lock file");
        }
        let minified = name.contains(".min.") || self.lines.iter().take(20).any(|line| line.len > LONG);
        if minified {
            return Some("long lines, as of a machine");
        }
        if self.source.is_generated || ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            return Some("made by a tool");
        }
        let vendored = ["vendor", "node_modules", "third_party"];
        if path.split('/').any(|folder| vendored.contains(&folder)) {
            return Some("somebody else's");
        }
        (self.additions + self.deletions > MANY).then_some("many lines")
    }
}
