//! Reads git's configuration files as text, with bounds. Nothing that they name is executed.

use crate::system::files;
use std::io;
use std::path::{Path, PathBuf};

/// The maximum size of a configuration file of git, in bytes.
const MAX_BYTES: u64 = 8 << 20;
/// The maximum depth of included files; git's own is the same.
const MAX_DEPTH: usize = 10;
/// The maximum number of files that one file includes, directly or not.
const MAX_FILES: usize = 100;

/// A line of a configuration file: `remote`, `origin`, `url` and the address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The section, in lower case.
    pub section: String,
    /// The subsection, or an empty text.
    pub subsection: String,
    /// The name of the variable, in lower case.
    pub key: String,
    pub value: String,
}

/// Reads a file and those that it includes. A file that does not exist has no entries.
///
/// # Errors
/// Returns a message with the path if one of them is not a regular file, too large, or not readable.
pub fn read(path: &Path, git_folder: &Path) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    let mut reader = Reader { git_folder, files_left: MAX_FILES, bytes_left: MAX_BYTES };
    reader.read(path, 0, &mut entries)?;
    Ok(entries)
}

struct Reader<'a> {
    git_folder: &'a Path,
    files_left: usize,
    bytes_left: u64,
}

impl Reader<'_> {
    fn read(&mut self, path: &Path, depth: usize, out: &mut Vec<Entry>) -> Result<(), String> {
        let Some(left) = self.files_left.checked_sub(1).filter(|_| depth <= MAX_DEPTH) else { return Ok(()) };
        self.files_left = left;
        let bytes = match files::read(path, self.bytes_left) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(());
            }
            read => read.map_err(|error| format!("cannot read {}: {error}", path.display()))?,
        };
        self.bytes_left = self.bytes_left.saturating_sub(bytes.len() as u64);
        for entry in parse(&String::from_utf8_lossy(&bytes)) {
            if entry.key == "path" && self.includes(&entry, path) {
                self.read(&resolve(&entry.value, path), depth + 1, out)?;
            }
            out.push(entry);
        }
        Ok(())
    }

    /// Returns whether an entry includes another file. Of the conditions, only folders without wildcards are supported.
    fn includes(&self, entry: &Entry, from: &Path) -> bool {
        if entry.section == "include" {
            return entry.subsection.is_empty();
        }
        let folder = entry.subsection.strip_prefix("gitdir:").filter(|_| entry.section == "includeif");
        folder.is_some_and(|folder| match folder.strip_suffix('/') {
            Some(folder) => self.git_folder.starts_with(resolve(folder, from)),
            None => self.git_folder == resolve(folder, from),
        })
    }
}

/// Resolves a path that the file `from` names.
fn resolve(path: &str, from: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => dirs::home_dir().unwrap_or_default().join(rest),
        None => files::folder_of(from).join(path),
    }
}

/// Parses the text of a configuration file. Lines that git would refuse are left out.
pub fn parse(text: &str) -> Vec<Entry> {
    let mut all = Vec::new();
    let (mut section, mut subsection) = (String::new(), String::new());
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut rest = line.trim_start();
        if let Some(header) = rest.strip_prefix('[') {
            let Some((name, sub, after)) = parse_header(header) else { continue };
            (section, subsection) = (name, sub);
            rest = after.trim_start();
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        if key.is_empty() || section.is_empty() {
            continue;
        }
        let after = after.trim_start();
        let value = match after.strip_prefix('=') {
            Some(value) => parse_value(value, &mut lines),
            None if after.is_empty() || after.starts_with(['#', ';']) => "true".to_owned(),
            None => continue,
        };
        let (section, subsection) = (section.clone(), subsection.clone());
        all.push(Entry { section, subsection, key: key.to_ascii_lowercase(), value });
    }
    all
}

/// Parses a header after its bracket: the section, the subsection, and the rest of the line.
fn parse_header(text: &str) -> Option<(String, String, &str)> {
    let end = text.find(|c: char| c == ']' || c == '"' || c.is_whitespace())?;
    let (name, rest) = text.split_at(end);
    let rest = rest.trim_start();
    if let Some(rest) = rest.strip_prefix(']') {
        // The old form `[remote.origin]` ignores case.
        let (section, subsection) = name.split_once('.').unwrap_or((name, ""));
        return Some((section.to_ascii_lowercase(), subsection.to_ascii_lowercase(), rest));
    }
    let mut subsection = String::new();
    let mut chars = rest.strip_prefix('"')?.chars();
    loop {
        match chars.next()? {
            '"' => break,
            '\\' => subsection.push(chars.next()?),
            other => subsection.push(other),
        }
    }
    Some((name.to_ascii_lowercase(), subsection, chars.as_str().trim_start().strip_prefix(']')?))
}

/// Parses a value after its equals sign; a backslash at the end of a line continues it on the next.
fn parse_value<'a>(first: &'a str, lines: &mut impl Iterator<Item = &'a str>) -> String {
    let mut value = String::new();
    // The length of the value without spaces at its end that are not quoted.
    let mut length = 0;
    let mut quoted = false;
    let mut line = first.trim_start();
    'lines: loop {
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => {
                    quoted = !quoted;
                    length = value.len();
                }
                '\\' => match chars.next() {
                    None => match lines.next() {
                        Some(next) => {
                            line = next;
                            continue 'lines;
                        }
                        None => break 'lines,
                    },
                    Some(escaped) => {
                        value.push(match escaped {
                            'n' => '\n',
                            't' => '\t',
                            'b' => '\u{8}',
                            other => other,
                        });
                        length = value.len();
                    }
                },
                '#' | ';' if !quoted => break 'lines,
                other => {
                    value.push(other);
                    if quoted || !other.is_whitespace() {
                        length = value.len();
                    }
                }
            }
        }
        break;
    }
    value.truncate(length);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_git_reads_them() {
        let text = "\u{feff}# mine\n[core]\n\tbare = false ; no\n[remote \"a \\\"b\\\\\"]\n\turl = \"x # y\" # z\r\n\
                    \tfetch = +refs/*:\\\n  refs/*  \n  push\n[Remote.Up] URL=h:p\n[url \"git@h:\"] insteadOf = \"https://h/ \"\n\
                    [broken\nx = 1\nno value\n";
        let all: Vec<String> =
            parse(text).into_iter().map(|e| format!("{}|{}|{}|{}", e.section, e.subsection, e.key, e.value)).collect();
        let expected = [
            "core||bare|false",
            "remote|a \"b\\|url|x # y",
            "remote|a \"b\\|fetch|+refs/*:  refs/*",
            "remote|a \"b\\|push|true",
            "remote|up|url|h:p",
            "url|git@h:|insteadof|https://h/ ",
            "url|git@h:|x|1",
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn included_files_are_read_but_neither_pipes_nor_endless_includes() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let file = at("config");
        std::fs::write(&file, "[include]\npath = more\n[includeIf \"gitdir:/nowhere/\"]\npath = other\n")
            .expect("written");
        std::fs::write(at("more"), "[a]\nb = c\n[include]\npath = config\n").expect("written");
        std::fs::write(at("other"), "[a]\nb = d\n").expect("written");
        let entries = read(&file, folder.path()).expect("reads");
        let is_a = |entry: &&Entry| entry.section == "a";
        assert!(entries.iter().filter(is_a).count() > 1 && entries.iter().filter(is_a).all(|entry| entry.value == "c"));
        assert_eq!(read(&at("none"), folder.path()), Ok(Vec::new()));
        std::fs::remove_file(at("more")).expect("removed");
        std::fs::create_dir(at("more")).expect("created");
        let why = read(&file, folder.path()).expect_err("it is a folder");
        assert!(why.ends_with("more: it is not a regular file"), "{why}");
    }
}
