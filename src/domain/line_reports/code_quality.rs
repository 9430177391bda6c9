//! Reads problems from Code Quality JSON: the fields of the CodeClimate format that GitLab reads.

use super::{LineReports, MAX_TEXT, Problem, RepositoryPaths};
use crate::text;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;

/// A problem as it is written. Whatever else it has is left unread.
#[derive(Deserialize)]
struct Entry {
    description: String,
    #[serde(default)]
    check_name: Option<String>,
    #[serde(default)]
    severity: Option<String>,
    location: Location,
}

#[derive(Deserialize)]
struct Location {
    path: String,
    lines: Option<Begin<u32>>,
    positions: Option<Begin<Position>>,
}

#[derive(Deserialize)]
struct Begin<T> {
    begin: T,
}

#[derive(Deserialize)]
struct Position {
    line: u32,
}

impl Location {
    fn line(&self) -> Option<u32> {
        let position = || self.positions.as_ref().map(|positions| positions.begin.line);
        self.lines.as_ref().map(|lines| lines.begin).or_else(position)
    }
}

/// Adds the problems in changed files. An entry that is no problem is left out.
///
/// # Errors
///
/// Returns the reason why the text is not a whole report.
pub fn read(
    text: &str,
    changed: &RepositoryPaths,
    canceled: &dyn Fn() -> bool,
    reports: &mut LineReports,
) -> Result<(), String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = deserializer.deserialize_any(Entries { changed, canceled, reports });
    let read = read.and_then(|whole| if whole { deserializer.end() } else { Ok(()) });
    read.map_err(|error| match error.is_eof() {
        true => "it ends in the middle".into(),
        false => format!("it is not Code Quality JSON: {error}"),
    })
}

/// Adds the entries of a list, one by one.
struct Entries<'a> {
    changed: &'a RepositoryPaths,
    canceled: &'a dyn Fn() -> bool,
    reports: &'a mut LineReports,
}

impl<'de> Visitor<'de> for Entries<'_> {
    /// Whether the whole list was read.
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of problems")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let mut count: u64 = 0;
        while let Some(written) = list.next_element::<&RawValue>()? {
            count += 1;
            if count.is_multiple_of(1024) && (self.canceled)() {
                return Err(A::Error::custom("it was canceled"));
            }
            let Ok(entry) = serde_json::from_str::<Entry>(written.get()) else { continue };
            let short = |text: &str| text::head_bytes(text, MAX_TEXT).to_owned();
            if let Some(line) = entry.location.line()
                && let Some(path) = self.changed.find(&[], &short(&entry.location.path))
            {
                let severity = short(&entry.severity.unwrap_or_default()).to_lowercase();
                let (description, check) = (short(&entry.description), short(&entry.check_name.unwrap_or_default()));
                self.reports.add_problem(path, line, Problem { severity, description, check });
            }
        }
        Ok(true)
    }
}
