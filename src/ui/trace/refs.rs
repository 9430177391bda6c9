//! References in the lines of a trace: source locations (`src/a.rs:10:5`) and web addresses. Only lines on the screen
//! are searched.

use crate::ui::text;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Maximum number of bytes of a line to search.
const MAX_SEARCHED_BYTES: usize = 4096;
/// Maximum number of references in a line.
const MAX_REFERENCES: usize = 16;

static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        (?P<url> https?://[^\s<>"'`\x{2500}-\x{257f}]+ )
        | File\ "(?P<python> [^"]+ )",\ line\ (?P<python_line> [0-9]+ )
        | (?P<path> /?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9} )
          (?: :(?P<line> [0-9]+ )(?: :[0-9]+ )? | \((?P<round> [0-9]+ )(?:,[0-9]+)?\) )
        "#,
    )
    .ok()
});

/// The target of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A web page.
    Url(String),
    /// A line of a file, counted from 1.
    File { path: String, line: u32 },
}

/// A reference in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The byte range in the line.
    pub range: Range<usize>,
    pub target: Target,
}

/// Returns all references in a line, in order.
pub fn all(line: &str) -> impl Iterator<Item = Reference> {
    let head = text::head_bytes(line, MAX_SEARCHED_BYTES);
    // Most lines contain none of these, and searching for three bytes is cheap.
    let likely = memchr::memchr3(b':', b'(', b'"', head.as_bytes()).is_some();
    let found = NAMED.as_ref().filter(|_| likely).map(|named| named.captures_iter(head));
    found.into_iter().flatten().take(MAX_REFERENCES).filter_map(|found| {
        let whole = found.get(0)?;
        if let Some(url) = found.name("url") {
            // Trailing punctuation and closing brackets are not part of an address.
            let url = url.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']);
            let range = whole.start()..whole.start() + url.len();
            return Some(Reference { range, target: Target::Url(url.to_owned()) });
        }
        let path = found.name("path").or(found.name("python"))?;
        let line = found.name("line").or(found.name("round")).or(found.name("python_line"))?;
        let line = line.as_str().parse().ok().filter(|line| *line > 0)?;
        Some(Reference { range: whole.range(), target: Target::File { path: path.as_str().to_owned(), line } })
    })
}

/// Converts a path printed by a job to a path in its repository: `./src/a.rs`, `/builds/group/project/src/a.rs`.
/// `project` is the last part of the project's path. Returns `None` if the file is elsewhere on the runner.
pub fn in_repository(path: &str, project: &str) -> Option<String> {
    let path = path.trim_start_matches("./");
    let Some(absolute) = path.strip_prefix('/') else {
        return (!path.split('/').any(|part| part == "..")).then(|| path.to_owned());
    };
    let folder = format!("/{project}/");
    let at = format!("/{absolute}").find(&folder).filter(|_| !project.is_empty())?;
    absolute.get(at + folder.len() - 1..).filter(|rest| !rest.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str) -> Vec<String> {
        all(line)
            .map(|found| match found.target {
                Target::Url(url) => url,
                Target::File { path, line } => format!("{path} {line}"),
            })
            .collect()
    }

    #[test]
    fn source_locations_are_found_in_common_formats() {
        for (line, expected) in [
            ("  --> src/frame.rs:10:5", vec!["src/frame.rs 10"]),
            ("thread 'x' panicked at tests/a.rs:7:1:", vec!["tests/a.rs 7"]),
            ("./lib/a_b.py:12: error: no", vec!["./lib/a_b.py 12"]),
            ("  File \"/builds/a/b/x.py\", line 3, in f", vec!["/builds/a/b/x.py 3"]),
            ("src/app.ts(14,3): error TS2304", vec!["src/app.ts 14"]),
            ("at main.go:9 and b.go:10", vec!["main.go 9", "b.go 10"]),
            ("see https://a.example/x?y=1#z).", vec!["https://a.example/x?y=1#z"]),
            ("time: 10:20:30 v1.2:3 a.b", vec![]),
            ("src/zero.rs:0", vec![]),
            ("nothing here", vec![]),
        ] {
            assert_eq!(named(line), expected, "{line}");
        }
        assert_eq!(all(&"x.rs:1 ".repeat(1000)).count(), MAX_REFERENCES);
        let long = format!("{}é a.rs:1", "x".repeat(MAX_SEARCHED_BYTES - 1));
        assert_eq!(all(&long).count(), 0);
    }

    #[test]
    fn runner_paths_are_mapped_to_repository_paths() {
        assert_eq!(in_repository("./src/a.rs", "ui").as_deref(), Some("src/a.rs"));
        assert_eq!(in_repository("/builds/acme/ui/src/a.rs", "ui").as_deref(), Some("src/a.rs"));
        assert_eq!(in_repository("/usr/lib/python3/x.py", "ui"), None);
        assert_eq!(in_repository("../other/a.rs", "ui"), None);
        assert_eq!(in_repository("/builds/ui/", "ui"), None);
    }
}
