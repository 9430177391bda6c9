//! The content of a file: text in some encoding, indexed by lines, or binary data.

use crate::search::{self, Matches};
use bytes::Bytes;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use regex::Regex;
use std::sync::Arc;

/// The number of bytes at the start of a file used to detect binary data.
const PROBE_BYTES: usize = 8 * 1024;
/// The number of bytes used to guess an encoding.
const GUESS_BYTES: usize = 256 * 1024;

/// The content of a file.
#[derive(Clone, Debug)]
pub enum Content {
    Text(Arc<Text>),
    Binary(Bytes),
}

impl Content {
    /// Distinguishes text from binary data and indexes the lines of text, in one pass, and without copying UTF-8.
    pub fn read(bytes: impl Into<Bytes>) -> Content {
        let bytes = bytes.into();
        if is_binary(&bytes) { Content::Binary(bytes) } else { Content::Text(Arc::new(Text::new(bytes))) }
    }

    /// Returns the original bytes.
    pub fn bytes(&self) -> &Bytes {
        match self {
            Content::Text(text) => &text.raw,
            Content::Binary(bytes) => bytes,
        }
    }
}

/// Returns whether the data is binary: it has a NUL near its start, or too many control characters.
pub fn is_binary(bytes: &[u8]) -> bool {
    if Encoding::for_bom(bytes).is_some() {
        return false;
    }
    let probe = bytes.get(..bytes.len().min(PROBE_BYTES)).unwrap_or_default();
    // Text may contain the characters from bell to carriage return, and escape.
    let odd = probe.iter().filter(|b| matches!(b, ..0x20 | 0x7f) && !matches!(b, 7..=13 | 27)).count();
    memchr::memchr(0, probe).is_some() || odd > 2 + probe.len() / 50
}

/// A text indexed by lines. If it is UTF-8, its bytes are shared with the source and not copied.
#[derive(Default)]
pub struct Text {
    raw: Bytes,
    /// The text in UTF-8.
    text: Bytes,
    starts: Vec<usize>,
    encoding: &'static str,
    crlf: bool,
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Text({} lines, {} bytes, {:?})", self.len(), self.bytes_len(), self.encoding)
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Text {
    /// Decodes bytes by their byte order mark, as UTF-8, or by guessing the encoding. Invalid sequences become U+FFFD.
    pub fn new(bytes: impl Into<Bytes>) -> Text {
        let raw = bytes.into();
        let (text, encoding) = decode(&raw);
        let mut starts = Vec::new();
        if !text.is_empty() {
            starts.reserve(memchr::memchr_iter(b'\n', &text).count() + 1);
            starts.push(0);
            starts.extend(memchr::memchr_iter(b'\n', &text).map(|at| at + 1).filter(|at| *at < text.len()));
        }
        let first_end = starts.get(1).copied().unwrap_or(text.len());
        let crlf = text.get(..first_end).is_some_and(|line| line.ends_with(b"\r\n"));
        Text { raw, text, starts, encoding, crlf }
    }

    /// Returns the number of lines. A trailing line feed does not start another line.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the whole text. It is validated each time, so this is not for every frame.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text).unwrap_or_default()
    }

    /// Returns the text in a byte range, or an empty string if its ends are not character boundaries.
    pub fn slice(&self, bytes: std::ops::Range<usize>) -> &str {
        self.text.get(bytes).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// Returns the length in bytes of the text addressed by [`Text::slice`].
    pub fn slices_len(&self) -> usize {
        self.text.len()
    }

    /// Returns the original size in bytes.
    pub fn bytes_len(&self) -> usize {
        self.raw.len()
    }

    /// Returns the name of the encoding, unless it is plain UTF-8.
    pub fn encoding(&self) -> Option<&'static str> {
        Some(self.encoding).filter(|name| !name.is_empty())
    }

    /// Returns whether lines end with CRLF, as on Windows.
    pub fn is_crlf(&self) -> bool {
        self.crlf
    }

    /// Returns a line without its line ending, or an empty string if it does not exist.
    pub fn line(&self, line: usize) -> &str {
        let Some(&start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or_default();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).unwrap_or_default()
    }

    /// Returns whether a line ends with CRLF.
    pub fn ends_with_return(&self, line: usize) -> bool {
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let start = self.starts.get(line).copied();
        start.and_then(|start| self.text.get(start..end)).is_some_and(|line| line.ends_with(b"\r\n"))
    }

    /// Searches every line for `pattern` until `canceled` returns true.
    pub fn search(&self, pattern: &Regex, canceled: &dyn Fn() -> bool) -> Matches {
        search::lines((0..self.len()).map(|line| (line, self.line(line))), pattern, canceled)
    }
}

/// Converts bytes to UTF-8, and returns the name of the original encoding if it was not plain UTF-8.
fn decode(raw: &Bytes) -> (Bytes, &'static str) {
    if let Some((encoding, mark)) = Encoding::for_bom(raw) {
        let rest = raw.slice(mark.min(raw.len())..);
        if encoding == UTF_8 && std::str::from_utf8(&rest).is_ok() {
            return (rest, "UTF-8 with BOM");
        }
        let name = match encoding {
            e if e == UTF_16LE => "UTF-16, little-endian",
            e if e == UTF_16BE => "UTF-16, big-endian",
            _ => "invalid UTF-8",
        };
        return (encoding.decode_without_bom_handling(&rest).0.into_owned().into(), name);
    }
    if std::str::from_utf8(raw).is_ok() {
        return (raw.clone(), "");
    }
    let probe = raw.get(..raw.len().min(GUESS_BYTES)).unwrap_or_default();
    let (mut wrong, mut right) = (0, 0);
    for chunk in probe.utf8_chunks() {
        right += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    // A few invalid sequences in otherwise valid UTF-8 do not indicate another encoding.
    if right > wrong * 4 {
        return (String::from_utf8_lossy(raw).into_owned().into(), "invalid UTF-8");
    }
    let mut detector = chardetng::EncodingDetector::new();
    detector.feed(probe, true);
    let encoding = detector.guess(None, false);
    (encoding.decode_without_bom_handling(raw).0.into_owned().into(), encoding.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_detected_and_named() {
        let of = |bytes: &[u8]| {
            let Content::Text(text) = Content::read(bytes.to_vec()) else { panic!("{bytes:?} is text") };
            (text.line(0).to_owned(), text.encoding())
        };
        assert_eq!(of("Grüße\n".as_bytes()), ("Grüße".into(), None));
        assert_eq!(of("\u{feff}Grüße".as_bytes()), ("Grüße".into(), Some("UTF-8 with BOM")));
        assert_eq!(of(b"\xff\xfeh\0i\0\n\0"), ("hi".into(), Some("UTF-16, little-endian")));
        assert_eq!(of(b"\xfe\xff\0h\0i"), ("hi".into(), Some("UTF-16, big-endian")));
        let latin: Vec<u8> =
            "Viele Gr\u{fc}\u{df}e aus M\u{fc}nchen, f\u{fc}r Sch\u{f6}ne\n".chars().map(|c| c as u8).collect();
        assert_eq!(of(&latin), ("Viele Grüße aus München, für Schöne".into(), Some("windows-1252")));
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。文字コードを調べます。\n");
        assert_eq!(of(&japanese), ("これは日本語の文章です。文字コードを調べます。".into(), Some("Shift_JIS")));
        let mut broken = "Grüße, schöne Tage, größer, süß, Öl".as_bytes().to_vec();
        broken.push(0xff);
        assert_eq!(of(&broken).1, Some("invalid UTF-8"));
    }

    #[test]
    fn binary_data_is_not_text() {
        assert!(is_binary(b"\x7fELF\x02\x01\x01\0"));
        let noise: Vec<u8> = (0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8 | 1).collect();
        assert!(is_binary(&noise));
        assert!(!is_binary("\u{1b}[31mred\u{1b}[0m\n".as_bytes()));
        assert!(!is_binary(b""));
    }

    #[test]
    fn text_is_not_copied_and_its_line_endings_are_known() {
        let bytes = Bytes::from_static(b"one\r\ntwo");
        let text = Text::new(bytes.clone());
        assert_eq!(text.as_str().as_ptr(), bytes.as_ptr());
        assert!(text.is_crlf());
        assert_eq!((text.line(0), text.line(1), text.len()), ("one", "two", 2));
    }
}
