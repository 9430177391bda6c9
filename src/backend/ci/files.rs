//! The files of the commit whose CI configuration is read, and the patterns of rules about them.

use super::expression::{Variables, expand};
use crate::git::Git;
use api::repository::EntryKind;
use git2::Oid;
use regex::{Regex, RegexBuilder};
use std::cell::{Cell, OnceCell};

/// The maximum size of a compiled pattern in bytes.
const MAX_PATTERN: usize = 1 << 18;
/// The maximum number of comparisons of paths with patterns in a configuration. Beyond it, every rule applies.
const MAX_COMPARISONS: usize = 50_000;

/// The files of a commit.
pub trait Files {
    /// Returns the content of a file; `None` if it does not exist.
    fn read(&self, path: &str) -> Option<String>;

    /// Returns the paths of all files.
    fn paths(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the paths that the push or the merge request changes; `None` if that is not known.
    fn changed(&self) -> Option<Vec<String>> {
        None
    }
}

/// The files of a commit in a repository.
pub struct CommitFiles<'g> {
    pub git: &'g Git,
    pub commit: Oid,
    /// The commit to which it is compared.
    pub base: Option<Oid>,
}

impl Files for CommitFiles<'_> {
    fn read(&self, path: &str) -> Option<String> {
        let root = self.git.tree(self.commit).ok()?;
        let (_, bytes) = self.git.file(&root, path).ok()??;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn paths(&self) -> Vec<String> {
        let listing = self.git.tree(self.commit).and_then(|root| self.git.list(&root, "", true));
        let entries = listing.map(|listing| listing.entries).unwrap_or_default();
        entries.into_iter().filter(|entry| entry.r#type == EntryKind::Blob).map(|entry| entry.path).collect()
    }

    fn changed(&self) -> Option<Vec<String>> {
        let changes = self.git.changes(Some(self.base?), self.commit).ok()?;
        // Of too many changes, some are left out.
        let entries = Some(changes.entries).filter(|_| !changes.overflow)?;
        Some(entries.into_iter().flat_map(|entry| [entry.old_path, entry.new_path]).collect())
    }
}

/// Compares the files of a commit with patterns, within bounds.
pub struct Matcher<'f> {
    files: &'f dyn Files,
    paths: OnceCell<Vec<String>>,
    changed: OnceCell<Option<Vec<String>>>,
    comparisons: Cell<usize>,
}

impl<'f> Matcher<'f> {
    pub fn new(files: &'f dyn Files) -> Matcher<'f> {
        Matcher { files, paths: OnceCell::new(), changed: OnceCell::new(), comparisons: Cell::new(0) }
    }

    /// Returns whether one of the patterns fits a file of the commit.
    pub fn exists(&self, patterns: &[String], variables: &Variables) -> bool {
        self.any(self.paths.get_or_init(|| self.files.paths()), patterns, variables)
    }

    /// Returns whether one of the patterns fits a changed file; `true` if the changes are not known.
    pub fn is_changed(&self, patterns: &[String], variables: &Variables) -> bool {
        let changed = self.changed.get_or_init(|| self.files.changed());
        changed.as_ref().is_none_or(|changed| self.any(changed, patterns, variables))
    }

    /// Returns the paths of the files that fit a pattern.
    pub fn matching(&self, pattern: &str) -> Vec<String> {
        let paths = self.paths.get_or_init(|| self.files.paths());
        let Some(pattern) = glob(pattern) else { return Vec::new() };
        paths.iter().filter(|path| pattern.is_match(path)).cloned().collect()
    }

    fn any(&self, paths: &[String], patterns: &[String], variables: &Variables) -> bool {
        patterns.iter().any(|pattern| {
            self.comparisons.update(|known| known.saturating_add(paths.len()));
            let pattern = glob(&expand(pattern, variables));
            self.comparisons.get() > MAX_COMPARISONS
                || pattern.is_some_and(|pattern| paths.iter().any(|path| pattern.is_match(path)))
        })
    }
}

/// Returns the pattern for paths in a text such as `src/**/*.{rs,toml}`; `None` if it is invalid.
fn glob(text: &str) -> Option<Regex> {
    let (mut out, mut depth) = (String::from("^"), 0_usize);
    let mut rest = text.trim_start_matches("./");
    while let Some(c) = rest.chars().next() {
        let token = ["**/", "**"].into_iter().find(|token| rest.starts_with(token));
        let (len, part) = match (token, c) {
            (Some("**/"), _) => (3, "(?:[^/]+/)*".to_owned()),
            (Some(token), _) => (token.len(), ".*".to_owned()),
            (None, '*') => (1, "[^/]*".to_owned()),
            (None, '?') => (1, "[^/]".to_owned()),
            (None, '{') => {
                depth += 1;
                (1, "(?:".to_owned())
            }
            (None, '}') if depth > 0 => {
                depth -= 1;
                (1, ")".to_owned())
            }
            (None, ',') if depth > 0 => (1, "|".to_owned()),
            (None, c) => (c.len_utf8(), regex::escape(c.encode_utf8(&mut [0; 4]))),
        };
        out.push_str(&part);
        rest = rest.get(len..)?;
    }
    RegexBuilder::new(&(out + "$")).size_limit(MAX_PATTERN).dot_matches_new_line(true).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_paths() {
        let fits = |pattern: &str, path: &str| glob(pattern).is_some_and(|glob| glob.is_match(path));
        for (pattern, path, expected) in [
            ("Dockerfile", "Dockerfile", true),
            ("Dockerfile", "docker/Dockerfile", false),
            ("*.rs", "main.rs", true),
            ("*.rs", "src/main.rs", false),
            ("**/*.rs", "src/a/main.rs", true),
            ("**/*.rs", "main.rs", true),
            ("src/**/*", "src/a/b", true),
            ("src/**/*", "other/src/a", false),
            ("src/*.{rs,toml}", "src/a.toml", true),
            ("src/*.{rs,toml}", "src/a.md", false),
            ("./a?b", "axb", true),
            ("a?b", "a/b", false),
            ("a.b", "axb", false),
            ("docs/**", "docs/x/y.md", true),
            ("{", "{", false),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
        assert!(glob(&"{".repeat(10_000)).is_none() && glob(&"**/".repeat(100_000)).is_none());
    }

    #[test]
    fn too_many_comparisons_make_every_rule_apply() {
        struct Many;
        impl Files for Many {
            fn read(&self, _: &str) -> Option<String> {
                None
            }
            fn paths(&self) -> Vec<String> {
                (0..20_000).map(|n| format!("f{n}")).collect()
            }
            fn changed(&self) -> Option<Vec<String>> {
                Some(vec!["f1".into()])
            }
        }
        let (matcher, none) = (Matcher::new(&Many), Variables::new());
        assert!(!matcher.exists(&["x".into(), "y".into()], &none) && matcher.exists(&["f19999".into()], &none));
        assert!(matcher.exists(&["x".into()], &none));
        let matcher = Matcher::new(&Many);
        assert!(matcher.is_changed(&["f$N".into()], &[("N".to_owned(), "1".to_owned())].into()));
        assert!(!matcher.is_changed(&["f2".into()], &none));
    }
}
