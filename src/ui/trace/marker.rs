//! The section markers that runners write.

use crate::ansi::{MAX_BYTES, is_visible};
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::LazyLock;

/// The end of a marker.
const MARKER_END: &[u8] = b"\r\x1b[0K";
/// The escape sequence that erases the line, which runners also write before a marker.
const ERASE_LINE: &[u8] = b"\x1b[0K";
/// Maximum length of a section's name, and of its options.
const MAX_FIELD_BYTES: usize = 256;
/// More than the length of the longest marker.
const MAX_MARKER_BYTES: usize = 1024;

static SECTION: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"section_"));

/// A section marker: `section_start:1560896352:name[collapsed=true]\r\x1b[0K`, or the same with `section_end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The start of the byte range, which includes escape sequences that erase the line before the marker.
    pub start: usize,
    /// The end of the byte range.
    pub end: usize,
    /// Whether the section starts here; otherwise it ends.
    pub is_start: bool,
    /// The time in seconds since 1970.
    pub time: u64,
    pub name: String,
    pub collapsed: bool,
}

/// Returns all markers of a line, in order.
pub fn all(line: &[u8]) -> Vec<Marker> {
    let mut found: Vec<Marker> = Vec::new();
    let mut from = 0;
    while let Some(marker) = next(line, from) {
        from = marker.end;
        found.push(marker);
    }
    found
}

/// Returns the first marker that starts at or after `from`.
fn next(line: &[u8], from: usize) -> Option<Marker> {
    let mut at = from;
    while let Some(found) = SECTION.find(line.get(at..)?) {
        let start = at + found;
        if let Some(mut marker) = parse(line, start) {
            while line.get(from..marker.start).is_some_and(|before| before.ends_with(ERASE_LINE)) {
                marker.start -= ERASE_LINE.len();
            }
            return Some(marker);
        }
        at = start + 1;
    }
    None
}

fn parse(line: &[u8], start: usize) -> Option<Marker> {
    let rest = line.get(start..)?.strip_prefix(b"section_")?;
    let (is_start, rest) = match rest.strip_prefix(b"start:") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix(b"end:")?),
    };
    let digits = rest.iter().take(20).take_while(|c| c.is_ascii_digit()).count();
    let time = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()?;
    let rest = rest.get(digits..)?.strip_prefix(b":")?;
    let len = rest.iter().take(MAX_FIELD_BYTES).take_while(|c| is_name_byte(c)).count();
    let name = std::str::from_utf8(rest.get(..len)?).ok().filter(|name| !name.is_empty())?.to_owned();
    let rest = rest.get(len..)?;
    let (options, rest) = match rest.strip_prefix(b"[") {
        Some(inner) => {
            let len = inner.iter().take(MAX_FIELD_BYTES).position(|c| *c == b']')?;
            (inner.get(..len)?, inner.get(len + 1..)?)
        }
        None => (rest.get(..0)?, rest),
    };
    let rest = rest.strip_prefix(MARKER_END)?;
    let collapsed = options.split(|c| *c == b',').any(|option| option == b"collapsed=true");
    Some(Marker { start, end: line.len() - rest.len(), is_start, time, name, collapsed })
}

/// Returns the start of a marker at the end of a line whose end is missing, so that more output may complete it.
pub fn unfinished(line: &[u8]) -> Option<usize> {
    let window = line.len().saturating_sub(MAX_MARKER_BYTES);
    let mut start = window + memchr::memmem::rfind(line.get(window..)?, b"section_")?;
    let rest = line.get(start + b"section_".len()..)?;
    let fields = |word: &[u8]| {
        let Some(rest) = rest.strip_prefix(word) else { return word.starts_with(rest) };
        let after = |rest: &[u8], allowed: &dyn Fn(&u8) -> bool| rest.iter().take_while(|c| allowed(c)).count();
        let rest = rest.get(after(rest, &u8::is_ascii_digit)..).unwrap_or_default();
        let Some(rest) = rest.strip_prefix(b":") else { return rest.is_empty() };
        let rest = rest.get(after(rest, &is_name_byte)..).unwrap_or_default();
        let rest = match rest.strip_prefix(b"[") {
            Some(options) => match options.iter().position(|c| *c == b']') {
                Some(end) => options.get(end + 1..).unwrap_or_default(),
                None => return !options.contains(&b'\r'),
            },
            None => rest,
        };
        rest.len() < MARKER_END.len() && MARKER_END.starts_with(rest)
    };
    if !fields(b"start:") && !fields(b"end:") {
        return None;
    }
    while line.get(..start).is_some_and(|before| before.ends_with(ERASE_LINE) && !before.ends_with(MARKER_END)) {
        start -= ERASE_LINE.len();
    }
    Some(start)
}

/// Returns the range of the text in a raw line: after its markers, and before a marker that follows the text.
pub fn content(line: &[u8]) -> Range<usize> {
    let mut start = 0;
    // Markers are searched only in the part of a line that is drawn.
    let head = line.get(..line.len().min(MAX_BYTES)).unwrap_or_default();
    while let Some(marker) = next(head, start) {
        if is_visible(line.get(start..marker.start).unwrap_or_default()) {
            return start..marker.start;
        }
        start = marker.end;
    }
    start..line.len()
}

fn is_name_byte(c: &u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'-')
}
