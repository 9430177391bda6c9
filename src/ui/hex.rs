//! A hex dump: sixteen bytes a row, as numbers and as printable characters.

use crate::ui::doc::DocLine;
use crate::ui::theme::{Role, Theme};
use ratatui::style::Style;
use std::borrow::Cow;

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
pub fn line(bytes: &[u8], row: usize, theme: &Theme) -> DocLine<'static> {
    let start = row.saturating_mul(ROW_BYTES);
    let part = bytes.get(start..bytes.len().min(start.saturating_add(ROW_BYTES))).unwrap_or_default();
    let style_of = |byte: u8| match byte {
        0 => theme.style(Role::Faint),
        0x20..=0x7e => theme.style(Role::SyntaxString),
        0x09 | 0x0a | 0x0d => theme.style(Role::SyntaxKeyword),
        0x80.. => theme.style(Role::SyntaxNumber),
        _ => theme.style(Role::Dim),
    };
    let mut spans: Vec<(Cow<'static, str>, Style)> = Vec::new();
    let mut put = |words: &str, style: Style| match spans.last_mut() {
        Some((run, last)) if *last == style => run.to_mut().push_str(words),
        _ => spans.push((words.to_owned().into(), style)),
    };
    for at in 0..ROW_BYTES {
        match part.get(at) {
            Some(byte) => put(&format!("{byte:02x} "), style_of(*byte)),
            None => put("   ", Style::new()),
        }
        if at == ROW_BYTES / 2 - 1 {
            put(" ", Style::new());
        }
    }
    put(" ", Style::new());
    for byte in part {
        let printable = if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' };
        put(printable.encode_utf8(&mut [0; 4]), style_of(*byte));
    }
    DocLine { gutter: vec![(format!("{start:08x}  "), theme.style(Role::LineNumber))], spans, ..DocLine::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_as_hex_and_text() {
        let text = |row| {
            let line = line(b"0123456789abcdef\0\x80z", row, &Theme::plain());
            line.spans.iter().map(|(words, _)| words.as_ref()).collect::<String>()
        };
        assert_eq!(text(0), "30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef");
        assert_eq!(text(1).trim_start_matches(' '), format!("00 80 7a {}..z", " ".repeat(41)));
        assert_eq!(text(9).trim(), "");
        assert_eq!(rows(17), 2);
    }
}
