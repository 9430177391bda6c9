//! Reads git's configuration files as text, with bounds. Nothing that they name is executed.

use crate::files;
use regex::{Regex, RegexBuilder};
use std::io;
use std::path::{Path, PathBuf};

/// The maximum size of a configuration file of git, in bytes.
const MAX_BYTES: u64 = 8 << 20;
/// The maximum depth of included files; git's own is the same.
const MAX_DEPTH: usize = 10;
/// The maximum number of files that one file includes, directly or not.
const MAX_FILES: usize = 100;
/// The maximum size of a file with one ref or path, in bytes.
const MAX_LINE: u64 = 4 << 10;
/// The maximum size of a compiled pattern, in bytes.
const MAX_PATTERN: usize = 1 << 20;

/// A line of a configuration file: `remote`, `origin`, `url` and the address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigEntry {
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
pub fn read(path: &Path, git_folder: &Path) -> Result<Vec<ConfigEntry>, String> {
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
    fn read(&mut self, path: &Path, depth: usize, out: &mut Vec<ConfigEntry>) -> Result<(), String> {
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

    /// Returns whether an entry includes another file.
    fn includes(&self, entry: &ConfigEntry, from: &Path) -> bool {
        if entry.section == "include" {
            return entry.subsection.is_empty();
        }
        let Some((kind, pattern)) = entry.subsection.split_once(':').filter(|_| entry.section == "includeif") else {
            return false;
        };
        match kind {
            "gitdir" | "gitdir/i" => {
                let pattern = match pattern.strip_prefix("./") {
                    Some(rest) => files::folder_of(from).join(rest).display().to_string(),
                    None if pattern.starts_with("~/") => resolve(pattern, from).display().to_string(),
                    None if Path::new(pattern).is_absolute() => pattern.to_owned(),
                    None => format!("**/{pattern}"),
                };
                matches(&below(&pattern), &self.git_folder.display().to_string(), kind == "gitdir/i")
            }
            "onbranch" => self.branch().is_some_and(|branch| matches(&below(pattern), &branch, false)),
            "hasconfig" => pattern
                .strip_prefix("remote.*.url:")
                .is_some_and(|pattern| self.remote_urls().iter().any(|url| matches(pattern, url, false))),
            _ => false,
        }
    }

    /// Returns the branch that is checked out.
    fn branch(&self) -> Option<String> {
        let head = files::read_text(&self.git_folder.join("HEAD"), MAX_LINE).ok()?;
        Some(head.strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?.to_owned())
    }

    /// Lists the addresses in the clone's own configuration file. A file that is included because of one cannot add another.
    fn remote_urls(&self) -> Vec<String> {
        let common = files::read_text(&self.git_folder.join("commondir"), MAX_LINE);
        let common = common.map_or(self.git_folder.to_owned(), |path| self.git_folder.join(path.trim()));
        let text = files::read(&common.join("config"), MAX_BYTES).unwrap_or_default();
        let urls = parse(&String::from_utf8_lossy(&text)).into_iter();
        urls.filter(|entry| entry.section == "remote" && entry.key == "url").map(|entry| entry.value).collect()
    }
}

/// Returns the pattern for everything below a folder if the pattern ends with a slash.
fn below(pattern: &str) -> String {
    if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() }
}

/// Returns whether a text matches a pattern of git, in which `*` stands for a part of a path and `**` for several.
fn matches(pattern: &str, text: &str, ignores_case: bool) -> bool {
    let mut out = String::from("^");
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let is_start = rest.len() == pattern.len();
        let class = rest.strip_prefix('[').and_then(|inner| {
            let end = inner.char_indices().skip(1).find(|(_, c)| *c == ']')?.0;
            inner.get(..end)
        });
        let (len, part) = match c {
            '/' if rest.starts_with("/**/") => (4, "/(?:.*/)?".to_owned()),
            '/' if rest == "/**" => (3, "/.*".to_owned()),
            '*' if is_start && rest.starts_with("**/") => (3, "(?:.*/)?".to_owned()),
            '*' if is_start && rest == "**" => (2, ".*".to_owned()),
            '*' => (1, "[^/]*".to_owned()),
            '?' => (1, "[^/]".to_owned()),
            '[' if class.is_some() => {
                let inner = class.unwrap_or_default();
                let (not, letters) = match inner.strip_prefix(['!', '^']) {
                    Some(letters) => ("^", letters),
                    None => ("", inner),
                };
                let letters = regex::escape(letters).replace("\\-", "-");
                (inner.len() + 2, format!("[{not}{letters}]"))
            }
            '\\' if rest.len() > 1 => {
                let escaped = rest.chars().nth(1).unwrap_or(c);
                (1 + escaped.len_utf8(), regex::escape(escaped.encode_utf8(&mut [0; 4])))
            }
            c => (c.len_utf8(), regex::escape(c.encode_utf8(&mut [0; 4]))),
        };
        out.push_str(&part);
        rest = rest.get(len..).unwrap_or_default();
    }
    let mut builder = RegexBuilder::new(&(out + "$"));
    let built = builder.case_insensitive(ignores_case).dot_matches_new_line(true).size_limit(MAX_PATTERN).build();
    built.is_ok_and(|pattern: Regex| pattern.is_match(text))
}

/// Resolves a path that the file `from` names.
fn resolve(path: &str, from: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => dirs::home_dir().unwrap_or_default().join(rest),
        None => files::folder_of(from).join(path),
    }
}

/// Parses the text of a configuration file. Lines that git would refuse are left out.
pub fn parse(text: &str) -> Vec<ConfigEntry> {
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
        all.push(ConfigEntry { section, subsection, key: key.to_ascii_lowercase(), value });
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
    fn conditions_of_includes_hold_as_in_git() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        let git = root.join("Code/web/.git");
        std::fs::create_dir_all(&git).expect("created");
        std::fs::write(git.join("HEAD"), "ref: refs/heads/feature/rows\n").expect("written");
        std::fs::write(git.join("config"), "[remote \"up\"]\nurl = https://git.example.com/acme/web.git\n")
            .expect("written");
        std::fs::write(root.join("more"), "[a]\nb = c\n").expect("written");
        let root_name = root.display();
        // As git 2.47 decides, with these files.
        for (condition, holds) in [
            (format!("gitdir:{root_name}/Code/"), true),
            (format!("gitdir:{root_name}/code/"), false),
            (format!("gitdir/i:{root_name}/code/"), true),
            (format!("gitdir:{root_name}/Code/web/.git"), true),
            (format!("gitdir:{root_name}/Code/web"), false),
            (format!("gitdir:{root_name}/*/web/.git"), true),
            (format!("gitdir:{root_name}/*/.git"), false),
            (format!("gitdir:{root_name}/**/.git"), true),
            ("gitdir:Code/".to_owned(), true),
            ("gitdir:web/.git".to_owned(), true),
            ("gitdir:eb/.git".to_owned(), false),
            ("gitdir:./Code/".to_owned(), true),
            ("gitdir:./web/".to_owned(), false),
            ("gitdir/i:CODE/**".to_owned(), true),
            ("gitdir:[BC]ode/".to_owned(), true),
            ("gitdir:[!C]ode/".to_owned(), false),
            ("onbranch:feature/rows".to_owned(), true),
            ("onbranch:feature/".to_owned(), true),
            ("onbranch:feature/*".to_owned(), true),
            ("onbranch:feature".to_owned(), false),
            ("onbranch:**".to_owned(), true),
            ("onbranch:*".to_owned(), false),
            ("hasconfig:remote.*.url:https://git.example.com/**".to_owned(), true),
            ("hasconfig:remote.*.url:https://git.example.com/*".to_owned(), false),
            ("hasconfig:remote.*.url:https://other.example.com/**".to_owned(), false),
            ("hasconfig:remote.up.url:**".to_owned(), false),
            ("later:x".to_owned(), false),
        ] {
            let file = root.join("config");
            std::fs::write(&file, format!("[includeIf \"{condition}\"]\npath = more\n")).expect("written");
            let entries = read(&file, &git).expect("reads");
            assert_eq!(entries.iter().any(|entry| entry.section == "a"), holds, "{condition}");
        }
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
        let is_a = |entry: &&ConfigEntry| entry.section == "a";
        assert!(entries.iter().filter(is_a).count() > 1 && entries.iter().filter(is_a).all(|entry| entry.value == "c"));
        assert_eq!(read(&at("none"), folder.path()), Ok(Vec::new()));
        std::fs::remove_file(at("more")).expect("removed");
        std::fs::create_dir(at("more")).expect("created");
        let why = read(&file, folder.path()).expect_err("it is a folder");
        assert!(why.ends_with("more: it is not a regular file"), "{why}");
    }
}
