//! Files that are rarely read line by line. They are folded by default, and the reason is shown.

use super::FileDiff;

/// The number of changed lines above which a file is folded.
const MAX_CHANGED_LINES: usize = 3000;
/// The length in bytes of a line above which a file is considered minified.
const MINIFIED_LINE_BYTES: u32 = 2000;

/// The names of lock files.
const LOCK_FILES: &[&str] = &[
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

/// The suffixes of generated files.
const GENERATED_SUFFIXES: &[&str] = &[
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
    /// Returns the reason why the file is folded by default, if it is.
    pub fn fold_reason(&self) -> Option<&str> {
        if let Some(since) = self.since.as_ref().filter(|_| self.is_left_out()) {
            return Some(&since.label);
        }
        let path = self.path();
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.lines.is_empty() {
            return None;
        }
        if LOCK_FILES.contains(&name) {
            return Some("lock file");
        }
        let minified = name.contains(".min.") || self.lines.iter().take(20).any(|line| line.len > MINIFIED_LINE_BYTES);
        if minified {
            return Some("minified");
        }
        if self.source.is_generated || GENERATED_SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) {
            return Some("generated");
        }
        let vendored = ["vendor", "node_modules", "third_party"];
        if path.split('/').any(|folder| vendored.contains(&folder)) {
            return Some("vendored");
        }
        (self.additions + self.deletions > MAX_CHANGED_LINES).then_some("large diff")
    }
}
