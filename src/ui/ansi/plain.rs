//! Fast extraction of the text of lines that only need their styles removed. These are most lines of most traces, and
//! this is many times as fast as [`super::parse_line`].

use super::{MAX_BYTES, MAX_COLUMNS, TAB, escape};
use crate::text;
use unicode_width::UnicodeWidthChar;

/// Appends the text of the line at the start of `raw`, which may continue after its line feed. Returns the position of
/// the line feed, or the length of `raw` if there is none. Returns `None` and appends nothing if the line needs full
/// parsing because its cursor moves back, it contains characters without width, or it is very long.
pub fn append_text(out: &mut Vec<u8>, raw: &[u8]) -> Option<usize> {
    let start = out.len();
    let end = copy(out, raw, start).filter(|_| out.len() - start <= MAX_COLUMNS);
    if end.is_none() {
        out.truncate(start);
    }
    end
}

fn copy(out: &mut Vec<u8>, raw: &[u8], start: usize) -> Option<usize> {
    // Columns equal bytes while this is true.
    let mut ascii = true;
    let mut at = 0;
    loop {
        let rest = raw.get(at..)?;
        let len = printable(rest);
        out.extend_from_slice(rest.get(..len)?);
        at += len;
        if at > MAX_BYTES {
            return None;
        }
        let rest = rest.get(len..)?;
        at += match rest.first() {
            None | Some(b'\n') => return Some(at),
            Some(0x1b) => {
                let (len, sequence) = escape(rest);
                if !sequence.keeps_text(len) {
                    return None;
                }
                len
            }
            Some(b'\t') if ascii => {
                let column = out.len() - start;
                out.resize(start + (column / TAB + 1) * TAB, b' ');
                1
            }
            Some(b'\r') => {
                let len = rest.iter().position(|b| *b != b'\r').unwrap_or(rest.len());
                return matches!(rest.get(len), None | Some(b'\n')).then_some(at + len);
            }
            Some(0x08 | b'\t') => return None,
            Some(0x80..) => {
                ascii = false;
                let len = rest.iter().position(|b| *b < 0x80).unwrap_or(rest.len());
                let words = std::str::from_utf8(rest.get(..len)?).ok()?;
                if words.chars().any(|c| text::is_invisible(c) || !matches!(c.width(), Some(1 | 2))) {
                    return None;
                }
                out.extend_from_slice(words.as_bytes());
                len
            }
            Some(_) => 1,
        };
    }
}

/// Returns whether a line contains bytes other than printable ASCII, tabs and escape sequences.
pub fn has_controls(line: &[u8]) -> bool {
    let returns = line.iter().rev().take_while(|byte| **byte == b'\r').count();
    let line = line.get(..line.len() - returns).unwrap_or_default();
    // Without a branch for each byte, many are compared at once.
    let is_control = |byte: u8| (byte < 0x20) & (byte != b'\t') & (byte != 0x1b) | (byte >= 0x7f);
    line.iter().fold(false, |any, byte| any | is_control(*byte))
}

/// Returns the number of leading bytes that are printable ASCII.
fn printable(bytes: &[u8]) -> usize {
    let odd = |byte: &u8| byte.wrapping_sub(0x20) > 0x5e;
    let whole = bytes.chunks_exact(16).take_while(|chunk| !chunk.iter().fold(false, |any, byte| any | odd(byte)));
    let len = whole.count() * 16;
    let rest = bytes.get(len..).unwrap_or_default();
    len + rest.iter().position(odd).unwrap_or(rest.len())
}
