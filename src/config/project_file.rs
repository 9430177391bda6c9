//! `.labscope.toml` in the working tree of a clone: sections, columns and error patterns that a team shares.
//!
//! Anyone who can push may have written it. So it has nothing that starts a program, names a server or holds a token, and
//! its sections list merge requests of its own project only. Every other key is ignored and named.

use super::sections::Section;
use crate::domain::mistakes::plain_words;
use crate::system::files;
use regex::RegexBuilder;
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Spanned, Table, Value};

/// The name of the file in the root of the working tree.
pub const NAME: &str = ".labscope.toml";
/// The maximum size of the file in bytes, and the maximum numbers of what it adds.
const MAX_BYTES: u64 = 64 << 10;
const MAX_SECTIONS: usize = 10;
const MAX_LISTS: usize = 50;
const MAX_PATTERNS: usize = 20;
/// The maximum compiled size of a pattern in bytes.
const MAX_COMPILED: usize = 256 << 10;

/// The settings of a project for everybody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectFile {
    /// Sections of Home, which list merge requests of the project.
    pub sections: Vec<Section>,
    /// The names of the columns of lists, by the place.
    pub columns: BTreeMap<String, Vec<String>>,
    /// Regular expressions for error lines.
    pub errors: Vec<String>,
    /// Regular expressions for warning lines.
    pub warnings: Vec<String>,
    /// The keys that are ignored, and what else is left out, in words.
    pub ignored: Vec<String>,
}

impl ProjectFile {
    /// Reads the file in the root of a working tree of `project`; `None` if there is none.
    ///
    /// # Errors
    /// Returns a message with the path if the file cannot be read or is not valid TOML.
    pub fn read(folder: &Path, project: &str) -> Result<Option<ProjectFile>, String> {
        let path = folder.join(NAME);
        let failed = |why: String| format!("{} is ignored: {why}", path.display());
        match std::fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => {}
            // A link could lead to any file of the user, of which a message would quote a line.
            Ok(_) => return Err(failed("it is not a regular file".to_owned())),
            Err(_) => return Ok(None),
        }
        let text = files::read_text(&path, MAX_BYTES).map_err(|error| failed(error.to_string()))?;
        let table: Table = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|at| text.get(..at.start)).unwrap_or_default();
            failed(format!("line {}: {}", before.matches('\n').count() + 1, plain_words(error.message())))
        })?;
        Ok(Some(ProjectFile::of(table, project)))
    }

    fn of(table: Table, project: &str) -> ProjectFile {
        let mut file = ProjectFile::default();
        for (key, value) in table {
            match (key.as_str(), value) {
                ("sections", Value::Array(sections)) => {
                    for section in sections {
                        file.add_section(section, project);
                    }
                }
                ("columns", Value::Table(places)) => {
                    for (place, names) in places {
                        match texts(names).filter(|_| file.columns.len() < MAX_LISTS) {
                            Some(names) => _ = file.columns.insert(place, names),
                            None => file.ignored.push(format!("columns.{place}")),
                        }
                    }
                }
                ("trace", Value::Table(settings)) => {
                    for (key, value) in settings {
                        match (key.as_str(), texts(value)) {
                            ("errors", Some(all)) => file.errors = file.patterns("errors", all),
                            ("warnings", Some(all)) => file.warnings = file.patterns("warnings", all),
                            _ => file.ignored.push(format!("trace.{key}")),
                        }
                    }
                }
                _ => file.ignored.push(key),
            }
        }
        file
    }

    fn add_section(&mut self, section: Value, project: &str) {
        let Value::Table(mut section) = section else { return self.ignored.push("sections".to_owned()) };
        let mut text = |key: &str| match section.remove(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
            _ => None,
        };
        let (name, query) = (text("name"), text("query"));
        self.ignored.extend(section.keys().map(|key| format!("sections.{key}")));
        match (name, query) {
            (Some(name), Some(query)) if self.sections.len() < MAX_SECTIONS => {
                let query = Spanned::new(0..0, query);
                self.sections.push(Section { name, query, project: Some(project.to_owned()), group: None });
            }
            (Some(name), Some(_)) => self.ignored.push(format!("the section \"{name}\" (more than {MAX_SECTIONS})")),
            _ => self.ignored.push("a section without a name or a query".to_owned()),
        }
    }

    /// Returns the patterns that can be used.
    fn patterns(&mut self, key: &str, all: Vec<String>) -> Vec<String> {
        let mut fitting = Vec::new();
        for one in all {
            match RegexBuilder::new(&one).size_limit(MAX_COMPILED).build() {
                Ok(_) if fitting.len() < MAX_PATTERNS => fitting.push(one),
                Ok(_) => self.ignored.push(format!("trace.{key} \"{one}\" (more than {MAX_PATTERNS})")),
                Err(_) => self.ignored.push(format!("trace.{key} \"{one}\" (invalid or too large)")),
            }
        }
        fitting
    }
}

/// Returns the texts of a list of texts.
fn texts(value: Value) -> Option<Vec<String>> {
    let Value::Array(all) = value else { return None };
    all.into_iter().map(|one| if let Value::String(text) = one { Some(text) } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> ProjectFile {
        ProjectFile::of(toml::from_str(text).expect("TOML"), "acme/web")
    }

    #[test]
    fn a_project_shares_sections_columns_and_patterns() {
        let file =
            of("[[sections]]\nname = \"Stuck\"\nquery = \"label:stuck\"\n[columns]\nmrs = [\"title\", \"author\"]\n\
            [trace]\nerrors = [\"^KO \"]\nwarnings = [\"^~\"]\n");
        let section = Section {
            name: "Stuck".into(),
            query: Spanned::new(0..0, "label:stuck".into()),
            project: Some("acme/web".into()),
            group: None,
        };
        assert_eq!(file.sections, [section]);
        assert_eq!(file.columns.get("mrs"), Some(&vec!["title".to_owned(), "author".to_owned()]));
        assert_eq!((file.errors, file.warnings, file.ignored), (vec!["^KO ".into()], vec!["^~".into()], vec![]));
    }

    #[test]
    fn everything_else_is_ignored_and_named() {
        let file = of(
            "host = \"evil\"\ninclude = [\"/etc/passwd\"]\n[hosts.evil]\nurl = \"https://evil.example\"\ntoken_file = \"~/.ssh/id\"\n\
            [keys]\nquit = []\n[[commands]]\nname = \"x\"\nrun = \"curl evil\"\n[trace]\nmemory = 1\nerrors = 3\n\
            [[sections]]\nname = \"A\"\nquery = \"b\"\nproject = \"other/private\"\ngroup = \"other\"\n[[sections]]\nname = 1\n\
            [columns]\nmrs = \"title\"\n",
        );
        let mut ignored = file.ignored.clone();
        ignored.sort();
        assert_eq!(
            ignored,
            [
                "a section without a name or a query",
                "columns.mrs",
                "commands",
                "host",
                "hosts",
                "include",
                "keys",
                "sections.group",
                "sections.project",
                "trace.errors",
                "trace.memory",
            ]
        );
        assert_eq!(file.sections[0].project.as_deref(), Some("acme/web"));
        assert_eq!((file.sections.len(), file.errors.len(), file.columns.len()), (1, 0, 0));
    }

    #[test]
    fn what_is_too_much_is_left_out() {
        let sections: String = (0..30).map(|at| format!("[[sections]]\nname = \"{at}\"\nquery = \"a\"\n")).collect();
        let file = of(&sections);
        assert_eq!((file.sections.len(), file.ignored.len()), (MAX_SECTIONS, 20));
        let huge = of("[trace]\nerrors = [\"(\", \"(\\\\w{500}){500}\", \"\\\\w{900}\", \"fine\"]");
        assert_eq!(huge.errors, ["fine"]);
        assert!(huge.ignored.len() == 3 && huge.ignored[1].ends_with("(invalid or too large)"), "{:?}", huge.ignored);
    }

    #[test]
    fn only_a_regular_file_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(NAME);
        let read = || ProjectFile::read(folder.path(), "acme/web");
        assert_eq!(read(), Ok(None));
        std::fs::write(&path, "\nx = ").expect("written");
        assert!(read().is_err_and(|why| why.contains(".labscope.toml is ignored: line 2: ")));
        std::fs::write(&path, " ".repeat(1 + MAX_BYTES as usize)).expect("written");
        assert!(read().is_err());
        std::fs::remove_file(&path).expect("removed");
        #[cfg(unix)]
        {
            std::fs::write(folder.path().join("secret"), "password of somebody").expect("written");
            std::os::unix::fs::symlink(folder.path().join("secret"), &path).expect("linked");
            assert!(read().is_err_and(|why| why.ends_with("it is not a regular file")));
        }
    }
}
