//! Runner metadata in traces: section markers and timestamps.

use crate::ui::ansi::{MAX_BYTES, is_visible};
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::LazyLock;

/// The length in bytes of [`LinePrefix`].
pub const LINE_PREFIX_BYTES: usize = 32;
/// The end of a marker.
const MARKER_END: &[u8] = b"\r\x1b[0K";
/// The escape sequence that erases the line, which runners also write before a marker.
const ERASE_LINE: &[u8] = b"\x1b[0K";
/// Maximum length of a section's name, and of its options.
const MAX_FIELD_BYTES: usize = 256;

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

/// The prefix that runners write before a line, `2026-06-21T00:00:00.123456Z 00O `: a timestamp, the number of the
/// stream, `O` for its output or `E` for its errors, and `+` if the line continues the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePrefix<'a> {
    /// The time in UTC, 27 characters.
    pub time: &'a str,
    /// Whether the line continues the previous one.
    pub is_continuation: bool,
}

impl LinePrefix<'_> {
    /// Parses the prefix of a line; `None` if there is none.
    pub fn parse(line: &[u8]) -> Option<LinePrefix<'_>> {
        let (time, rest) = line.get(..LINE_PREFIX_BYTES)?.split_at_checked(27)?;
        let pattern = b"0000-00-00T00:00:00.000000Z";
        let fits = time.iter().zip(pattern).all(|(c, s)| if *s == b'0' { c.is_ascii_digit() } else { c == s });
        let last = match rest {
            [b' ', a, b, b'O' | b'E', last] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => *last,
            _ => return None,
        };
        let is_continuation = match last {
            b' ' => false,
            b'+' => true,
            _ => return None,
        };
        fits.then_some(LinePrefix { time: std::str::from_utf8(time).ok()?, is_continuation })
    }
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
    let len = rest
        .iter()
        .take(MAX_FIELD_BYTES)
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'-'))
        .count();
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

/// Returns the range of the text in a raw line: after its prefix and markers, and before a marker that follows the
/// text.
pub fn content(line: &[u8], has_prefix: bool) -> Range<usize> {
    let mut start = if has_prefix && LinePrefix::parse(line).is_some() { LINE_PREFIX_BYTES } else { 0 };
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
