//! A hex dump: sixteen bytes a row, as numbers and as printable characters.

use crate::doc::DocLine;
use crate::line::Line;
use crate::theme::Role;

/// The number of bytes in a row.
pub const ROW_BYTES: usize = 16;
/// The width of the gutter in columns, which shows the offset.
pub const GUTTER: u16 = 10;

/// Returns the number of rows that `len` bytes take.
pub fn rows(len: usize) -> usize {
    len.div_ceil(ROW_BYTES)
}

/// Formats one row: sixteen bytes as numbers and as text, with their offset. Zeros are faint, printable bytes stand
/// out.
pub fn line(bytes: &[u8], row: usize) -> DocLine<'static> {
    let start = row.saturating_mul(ROW_BYTES);
    let part = bytes.get(start..bytes.len().min(start.saturating_add(ROW_BYTES))).unwrap_or_default();
    let role_of = |byte: u8| match byte {
        0 => Role::Faint,
        0x20..=0x7e => Role::SyntaxString,
        0x09 | 0x0a | 0x0d => Role::SyntaxKeyword,
        0x80.. => Role::SyntaxNumber,
        _ => Role::Dim,
    };
    let mut text = Line::empty();
    for at in 0..ROW_BYTES {
        match part.get(at) {
            Some(byte) => text.push_joined(&format!("{byte:02x} "), role_of(*byte)),
            None => text.push_joined("   ", Role::Text),
        }
        if at == ROW_BYTES / 2 - 1 {
            text.push_joined(" ", Role::Text);
        }
    }
    text.push_joined(" ", Role::Text);
    for byte in part {
        let printable = if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' };
        text.push_joined(printable.encode_utf8(&mut [0; 4]), role_of(*byte));
    }
    DocLine { gutter: Line::new(format!("{start:08x}  "), Role::LineNumber), text, ..DocLine::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_as_hex_and_text() {
        let text = |row| {
            let line = line(b"0123456789abcdef\0\x80z", row);
            line.text.plain_text()
        };
        assert_eq!(text(0), "30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef");
        assert_eq!(text(1).trim_start_matches(' '), format!("00 80 7a {}..z", " ".repeat(41)));
        assert_eq!(text(9).trim(), "");
        assert_eq!(rows(17), 2);
    }
}
