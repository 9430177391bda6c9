//! The position of a comment in the changes, and its notation in a plain note.
//!
//! The API has no position for a note of a merge request, so the first line of the note names it, as Markdown that is
//! readable anywhere and that a web page turns into a link to the commit:
//!
//! ```text
//! `src/table.rs:12-14` at 9f3c2ab…            lines of the new file; the full hash is written there
//! `src/table.rs:12` (old) at 9f3c2ab…         a line of the old file, such as a removed line
//! `src/table.rs:12-14` (and old 10-11) at …   lines of the new file, with the removed lines that they replace
//! `src/table.rs` (file) at 9f3c2ab…           the file as a whole
//! > ```                                       the text of the lines, if it is short: it shows
//! > let new = 2;                              whether the lines are unchanged, and finds them
//! > ```                                       if they have moved
//!
//! The comment itself.
//! ```

use serde::{Deserialize, Serialize};

/// The maximum length of a quoted line, in bytes.
const MAX_QUOTED_BYTES: usize = 400;

/// A file, or lines of it, at a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffPosition {
    /// The path of the file; the old path for old lines.
    pub path: String,
    /// The commit whose changes are commented on.
    pub sha: String,
    /// Whether the lines are those of the file before the change.
    #[serde(default)]
    pub old: bool,
    /// The first and last line, from 1; `None` for the file as a whole.
    #[serde(default)]
    pub lines: Option<(u32, u32)>,
    /// The first and last line of the old file that are commented on together with lines of the new file.
    #[serde(default)]
    pub removed: Option<(u32, u32)>,
    /// The text of the last of the lines; empty if it is not known.
    #[serde(default)]
    pub quote: Vec<String>,
    /// The lines around them, to tell equal lines apart; only known for drafts.
    #[serde(default)]
    pub before: Vec<String>,
    #[serde(default)]
    pub after: Vec<String>,
}

impl DiffPosition {
    /// The maximum number of quoted lines: the last ones of a range.
    pub const MAX_QUOTED_LINES: usize = 10;

    /// Returns the last line.
    pub fn line(&self) -> Option<u32> {
        self.lines.map(|(_, last)| last)
    }

    /// Returns the path with the lines: `src/table.rs:12-14`.
    pub fn name(&self) -> String {
        match self.lines {
            Some((first, last)) if first < last => format!("{}:{first}-{last}", self.path),
            Some((_, last)) => format!("{}:{last}", self.path),
            None => self.path.clone(),
        }
    }

    /// Returns the part of the notation that tells which of the two files the lines belong to.
    fn kind(&self) -> String {
        match (self.lines, self.old, self.removed) {
            (None, ..) => " (file)".into(),
            (_, true, _) => " (old)".into(),
            (_, _, Some((first, last))) if first < last => format!(" (and old {first}-{last})"),
            (_, _, Some((_, last))) => format!(" (and old {last})"),
            _ => String::new(),
        }
    }

    /// Returns the full position, as shown to the user: `src/table.rs:12-14 (and old 10-11)`.
    pub fn label(&self) -> String {
        let kind = match (self.lines, self.old) {
            (None, _) => String::new(),
            (Some((first, last)), true) if first < last => ", removed lines".to_owned(),
            (Some(_), true) => ", removed line".to_owned(),
            (Some(_), false) => self.kind(),
        };
        format!("{}{kind}", self.name())
    }

    /// Returns whether both positions end on the same line of the same commit's change. A hash may be abbreviated.
    pub fn has_same_end(&self, other: &DiffPosition) -> bool {
        let (a, b) = (self.sha.as_str(), other.sha.as_str());
        let same_commit = a.starts_with(b) || b.starts_with(a);
        same_commit && self.path == other.path && self.old == other.old && self.line() == other.line()
    }

    /// Returns the quoted text of these lines; empty if one of them cannot be quoted.
    pub fn quotable_lines(lines: &[String]) -> Vec<String> {
        let quote =
            lines.get(lines.len().saturating_sub(DiffPosition::MAX_QUOTED_LINES)..).unwrap_or_default().to_vec();
        if quote.iter().any(|line| line.len() > MAX_QUOTED_BYTES || line.contains(['\n', '\r'])) {
            Vec::new()
        } else {
            quote
        }
    }

    /// Returns the beginning of a note at this position; `None` if the position cannot be written in one line.
    pub fn note_header(&self) -> Option<String> {
        if self.path.contains(|c: char| c.is_control()) || !is_hash(&self.sha) {
            return None;
        }
        let name = self.name();
        let ticks = "`".repeat(longest_run(&name) + 1);
        let pad = if name.starts_with('`') || name.ends_with('`') { " " } else { "" };
        let mut header = format!("{ticks}{pad}{name}{pad}{ticks}{} at {}\n", self.kind(), self.sha);
        if !self.quote.is_empty() {
            let longest = self.quote.iter().map(|line| longest_run(line)).max().unwrap_or(0);
            let fence = "`".repeat((longest + 1).max(3));
            header.push_str(&format!("> {fence}\n"));
            for line in &self.quote {
                header.push_str(&format!("> {line}\n"));
            }
            header.push_str(&format!("> {fence}\n"));
        }
        header.push('\n');
        Some(header)
    }

    /// Parses the position in the first line of a note; returns it with the rest of the note.
    pub fn parse_note(body: &str) -> Option<(DiffPosition, &str)> {
        let (first, mut rest) = body.split_once('\n').unwrap_or((body, ""));
        let ticks = first.len() - first.trim_start_matches('`').len();
        if ticks == 0 || ticks > 8 {
            return None;
        }
        let inner = first.get(ticks..)?;
        let end = closing(inner, ticks)?;
        let (name, tail) = (inner.get(..end)?, inner.get(end + ticks..)?);
        let name = name.strip_prefix(' ').and_then(|name| name.strip_suffix(' ')).unwrap_or(name);
        let (kind, sha) = tail.trim_end().split_once(" at ")?;
        if !is_hash(sha) || name.is_empty() {
            return None;
        }
        let mut spot = DiffPosition { sha: sha.to_owned(), ..DiffPosition::default() };
        match kind {
            " (file)" => spot.path = name.to_owned(),
            kind => {
                let (path, lines) = name.rsplit_once(':').filter(|(path, _)| !path.is_empty())?;
                (spot.path, spot.lines) = (path.to_owned(), Some(range(lines)?));
                match kind {
                    "" => {}
                    " (old)" => spot.old = true,
                    kind => spot.removed = Some(range(kind.strip_prefix(" (and old ")?.strip_suffix(')')?)?),
                }
            }
        }
        if let Some(fence) = rest.split('\n').next().and_then(|line| line.trim_end().strip_prefix("> "))
            && fence.len() >= 3
            && fence.bytes().all(|b| b == b'`')
        {
            let mut quote = Vec::new();
            let mut at = rest.split_once('\n').map_or("", |(_, after)| after);
            while let Some(line) = at.split('\n').next().and_then(|line| line.strip_prefix('>')) {
                at = at.split_once('\n').map_or("", |(_, after)| after);
                let line = line.strip_prefix(' ').unwrap_or(line).trim_end_matches('\r');
                if line == fence {
                    spot.quote = quote;
                    rest = at;
                    break;
                }
                quote.push(line.to_owned());
            }
        }
        let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        Some((spot, rest))
    }

    /// Finds these lines among `lines` (number and text, ascending), and returns the number of the last one: the same
    /// number if its text is unchanged, else the nearest match.
    pub fn find_moved_line(&self, lines: &[(u32, &str)]) -> Option<u32> {
        let last = self.line()?;
        if self.quote.is_empty() {
            return None;
        }
        let count = self.quote.len();
        let says = |at: usize| {
            let window = lines.get(at..at + count)?;
            let (first, end) = (window.first()?.0, window.last()?.0);
            let joined = end.checked_sub(first).is_some_and(|rows| rows as usize + 1 == count);
            (joined && window.iter().zip(&self.quote).all(|((_, text), quoted)| text == quoted)).then_some(end)
        };
        // A brace or an empty line occurs everywhere, so the lines around it must also match.
        let letters: usize = self.quote.iter().map(|line| line.trim().len()).sum();
        let around = |at: usize| {
            let before = self.before.iter().rev().enumerate().all(|(back, text)| {
                at.checked_sub(back + 1).and_then(|at| lines.get(at)).is_none_or(|(_, line)| line == text)
            });
            let after = self.after.iter().enumerate();
            let after = after.clone().all(|(on, text)| lines.get(at + count + on).is_none_or(|(_, line)| line == text));
            before && after
        };
        let known = !self.before.is_empty() || !self.after.is_empty();
        let candidates = (0..lines.len()).filter_map(|at| Some((at, says(at)?)));
        let fitting = candidates.filter(|(at, end)| *end == last || letters >= 4 || (known && around(*at)));
        fitting.min_by_key(|(at, end)| (!around(*at), end.abs_diff(last))).map(|(_, end)| end)
    }
}

/// Parses `12` or `12-14`.
fn range(text: &str) -> Option<(u32, u32)> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    (0 < from && from <= to).then_some((from, to))
}

/// Returns the start of the next run of exactly `ticks` backticks.
fn closing(text: &str, ticks: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes.get(at..)?.iter().take_while(|b| **b == b'`').count();
        if run == ticks {
            return Some(at);
        }
        at += run.max(1);
    }
    None
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns whether `text` is the hash of a commit, abbreviated or in full.
fn is_hash(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "9f3c2abd00112233445566778899aabbccddeeff";

    fn spot(path: &str, lines: Option<(u32, u32)>, quote: &[&str]) -> DiffPosition {
        let quote = quote.iter().map(|line| (*line).to_owned()).collect();
        DiffPosition { path: path.into(), sha: SHA.into(), lines, quote, ..DiffPosition::default() }
    }

    #[test]
    fn note_headers_round_trip() {
        for spot in [
            spot("src/a.rs", Some((12, 12)), &["let a = 1;"]),
            spot("src/a.rs", Some((2, 4)), &["a", "", "  ``` b", "> c"]),
            DiffPosition { old: true, ..spot("src/a.rs", Some((3, 3)), &[]) },
            DiffPosition { removed: Some((3, 4)), ..spot("src/a.rs", Some((3, 3)), &["x"]) },
            DiffPosition { removed: Some((3, 3)), ..spot("src/a.rs", Some((3, 5)), &[]) },
            spot("odd `name`.md", Some((1, 1)), &["x"]),
            spot("`", None, &[]),
            spot("`odd", Some((1, 1)), &["```", "x"]),
            spot("a``b", None, &[]),
            spot("time:12", None, &[]),
        ] {
            let note =
                format!("{}The words.\n\n> a quote of one's own", spot.note_header().expect("it can be written"));
            let (read, rest) = DiffPosition::parse_note(&note).expect(&note);
            assert_eq!((read, rest), (spot, "The words.\n\n> a quote of one's own"), "{note}");
        }
    }

    #[test]
    fn ordinary_notes_have_no_position() {
        for note in [
            "",
            "`code` at once",
            "`a:b` at 9f3c2ab",
            "see `a.rs:1` at 9f3c2ab",
            "`a.rs:0` at 9f3c2ab",
            "`a.rs:1` (and old 2-1) at 9f3c2ab",
            "`a.rs:1` at midnight",
            "`a.rs:1` at 9f3c2a",
            "```\na\n```",
        ] {
            assert_eq!(DiffPosition::parse_note(note), None, "{note}");
        }
    }

    #[test]
    fn unrepresentable_positions_have_no_header() {
        assert_eq!(spot("a\nb", Some((1, 1)), &[]).note_header(), None);
        let elsewhere = DiffPosition { sha: "HEAD".into(), ..spot("a", Some((1, 1)), &[]) };
        assert_eq!(elsewhere.note_header(), None);
    }

    #[test]
    fn abbreviated_hashes_match() {
        let whole = spot("a", Some((2, 3)), &[]);
        let cut = DiffPosition { sha: SHA[..8].into(), ..whole.clone() };
        assert!(whole.has_same_end(&cut) && cut.has_same_end(&whole));
        let others = [
            DiffPosition { sha: "0123abcd".into(), ..whole.clone() },
            DiffPosition { path: "b".into(), ..whole.clone() },
            DiffPosition { old: true, ..whole.clone() },
            DiffPosition { lines: Some((2, 4)), ..whole.clone() },
        ];
        assert!(others.iter().all(|other| !whole.has_same_end(other)));
    }

    #[test]
    fn moved_lines_are_found() {
        let place = spot("a", Some((2, 3)), &["two", "three"]);
        assert_eq!(place.find_moved_line(&[(1, "one"), (2, "two"), (3, "three")]), Some(3));
        assert_eq!(place.find_moved_line(&[(1, "one"), (7, "two"), (8, "three"), (40, "two"), (41, "three")]), Some(8));
        assert_eq!(place.find_moved_line(&[(1, "two"), (2, "2.5"), (3, "three")]), None);
        // The lines must be consecutive in the file, not only in the part that is shown.
        assert_eq!(place.find_moved_line(&[(1, "two"), (9, "three")]), None);
    }

    #[test]
    fn short_lines_are_found_only_with_their_context() {
        let mut brace = spot("a", Some((9, 9)), &["}"]);
        let lines = [(3, "}"), (4, "fn b() {"), (5, "}"), (6, "end")];
        assert_eq!(brace.find_moved_line(&lines), None);
        brace.before = vec!["fn b() {".into()];
        brace.after = vec!["end".into()];
        assert_eq!(brace.find_moved_line(&lines), Some(5));
        brace.after = vec!["another end".into()];
        assert_eq!(brace.find_moved_line(&lines), None, "what stands before it is not enough");
        brace.before.clear();
        brace.after = vec!["end".into()];
        assert_eq!(
            brace.find_moved_line(&lines),
            Some(5),
            "what stands after it is enough, where nothing else is known"
        );
    }

    #[test]
    fn equal_lines_are_told_apart_by_their_context() {
        let mut call = spot("a", Some((9, 9)), &["call();"]);
        call.before = vec!["fn b() {".into()];
        let lines = [(3, "fn b() {"), (4, "call();"), (5, "}"), (8, "fn c() {"), (9, "call();"), (10, "}")];
        assert_eq!(call.find_moved_line(&lines), Some(4));
    }

    #[test]
    fn note_headers_have_limits() {
        let at = |name: &str, sha: &str| {
            DiffPosition::parse_note(&format!("`{name}` (file) at {sha}")).map(|(spot, _)| spot.path)
        };
        assert!(at("a", &"f".repeat(7)).is_some() && at("a", &"f".repeat(64)).is_some());
        assert_eq!((at("a", &"f".repeat(6)), at("a", &"f".repeat(65)), at("a", &"g".repeat(40))), (None, None, None));
        assert_eq!(at("  ", SHA), None, "a file has a name");
        let fenced = |ticks: usize| format!("{0}a{0} (file) at {SHA}", "`".repeat(ticks));
        assert!(DiffPosition::parse_note(&fenced(8)).is_some());
        assert_eq!(DiffPosition::parse_note(&fenced(9)), None, "no name needs so many");
    }

    #[test]
    fn long_and_broken_lines_are_not_quoted() {
        let quote = |line: &str| DiffPosition::quotable_lines(&[line.to_owned()]).len();
        assert_eq!(
            (quote(&"x".repeat(MAX_QUOTED_BYTES)), quote(&"x".repeat(MAX_QUOTED_BYTES + 1)), quote("a\rb")),
            (1, 0, 0)
        );
        let lines: Vec<String> = (0..DiffPosition::MAX_QUOTED_LINES + 3).map(|number| number.to_string()).collect();
        assert_eq!(DiffPosition::quotable_lines(&lines), lines[3..], "the last lines");
    }
}
