//! Turns text that is nearly JSON into JSON: what some programs write although the standard does not allow it.
//!
//! One such byte must not hide everything else in a reply. This code runs only after a reply could not be parsed.

use std::fmt::Write as _;

/// The maximum depth of arrays and objects; deeper ones become null. Parsers have a limit, too.
const MAX_DEPTH: usize = 100;

/// Returns `text` as JSON if only these were wrong: numbers that nothing can hold become null, text that is not UTF-8
/// and halves of characters become U+FFFD, control characters are escaped, and values that are nested too deeply become
/// null. Everything else stays as it is.
pub fn to_strict(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut out = Vec::with_capacity(text.len());
    let (mut depth, mut deep_start) = (0_usize, 0);
    let mut rest = text;
    while let Some(byte) = rest.first() {
        let len = match byte {
            b'"' => {
                let len = string_len(rest);
                string(&String::from_utf8_lossy(rest.get(..len).unwrap_or_default()), &mut out);
                len
            }
            b'+' | b'-' | b'.' | b'0'..=b'9' | b'N' | b'I' => {
                let len = rest.iter().position(|c| b",:]} \t\r\n\"[{".contains(c)).unwrap_or(rest.len());
                let word = rest.get(..len).unwrap_or_default();
                let is_number = serde_json::from_slice::<serde_json::Number>(word).is_ok();
                out.extend_from_slice(if is_number { word } else { b"null" });
                len
            }
            _ => {
                match byte {
                    b'[' | b'{' => {
                        depth += 1;
                        if depth == MAX_DEPTH + 1 {
                            deep_start = out.len();
                        }
                    }
                    b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                out.push(*byte);
                if depth == MAX_DEPTH && matches!(byte, b']' | b'}') {
                    out.truncate(deep_start.min(out.len()));
                    out.extend_from_slice(b"null");
                }
                1
            }
        };
        rest = rest.get(len..).unwrap_or_default();
    }
    out
}

/// Returns the length in bytes of the string at the start of `text`, with its quotes.
fn string_len(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Writes a string, with its quotes.
fn string(text: &str, out: &mut Vec<u8>) {
    let mut escaped = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('u') => {
                    let (unit, after) = unit(chars.as_str());
                    chars = after.chars();
                    let pair = after.strip_prefix("\\u").map(self::unit);
                    match (unit, pair) {
                        (Some(high @ 0xd800..=0xdbff), Some((Some(low @ 0xdc00..=0xdfff), after))) => {
                            let _ = write!(escaped, "\\u{high:04x}\\u{low:04x}");
                            chars = after.chars();
                        }
                        (Some(0xd800..=0xdfff) | None, _) => escaped.push(char::REPLACEMENT_CHARACTER),
                        (Some(unit), _) => _ = write!(escaped, "\\u{unit:04x}"),
                    }
                }
                Some(c @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => escaped.extend(['\\', c]),
                other => escaped.extend(other),
            },
            '\0'..='\x1f' => _ = write!(escaped, "\\u{:04x}", u32::from(c)),
            c => escaped.push(c),
        }
    }
    out.extend_from_slice(escaped.as_bytes());
}

/// Splits the digits of an escape sequence from the text after it. Its number is `None` if they are not four.
fn unit(text: &str) -> (Option<u32>, &str) {
    match text.split_at_checked(4) {
        Some((digits, after)) if digits.bytes().all(|c| c.is_ascii_hexdigit()) => {
            (u32::from_str_radix(digits, 16).ok(), after)
        }
        _ => (None, text),
    }
}
