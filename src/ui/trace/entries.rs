//! Output with timestamps. Runners write each line as an entry, `2026-06-21T00:00:00.123456Z 00O text`: a timestamp, the
//! number of the stream, `O` for its output or `E` for its errors, and `+` instead of the last blank if the entry
//! continues the previous one of its stream. A write that contains a carriage return, or is long, ends an entry, so
//! anything may be split, including section markers. Here, entries are joined to the lines that the job wrote, and
//! everything else sees only those.

use super::marker;
use std::fmt;

/// The length in bytes of a header.
pub const HEADER_BYTES: usize = 32;
/// The length in bytes of its timestamp.
const TIME_BYTES: usize = 27;
/// A header with the largest digit at each position; `+` stands for `+` or a blank, `f` for a hexadecimal digit, and `O`
/// for `O` or `E`.
const PATTERN: &[u8; HEADER_BYTES] = b"9999-19-39T29:59:59.999999Z ffO+";
/// Maximum number of streams with an unfinished marker.
const MAX_HELD: usize = 16;

/// The time of an entry, or 0 if it has none. It holds the digits of the timestamp, which may be no valid date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(pub u64);

/// The number of values of each field of a timestamp, and the character after it.
const FIELDS: [(u64, char); 7] =
    [(10_000, '-'), (20, '-'), (40, 'T'), (30, ':'), (60, ':'), (60, '.'), (1_000_000, 'Z')];

impl Stamp {
    fn parse(time: &[u8]) -> Stamp {
        let fields = time.split(|c| !c.is_ascii_digit());
        let number = |digits: &[u8]| digits.iter().fold(0, |n: u64, c| n * 10 + u64::from(c - b'0'));
        Stamp(fields.zip(FIELDS).fold(0, |sum, (digits, (values, _))| sum * values + number(digits)))
    }
}

impl fmt::Display for Stamp {
    /// Formats the timestamp as the runner does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut values = [0; FIELDS.len()];
        let mut rest = self.0;
        for (value, (count, _)) in values.iter_mut().zip(FIELDS).rev() {
            *value = rest % count;
            rest /= count;
        }
        for (value, (count, after)) in values.into_iter().zip(FIELDS) {
            let digits = match count {
                10_000 => 4,
                1_000_000 => 6,
                _ => 2,
            };
            write!(f, "{value:0digits$}{after}")?;
        }
        Ok(())
    }
}

/// The number and the kind of a stream.
pub type Stream = [u8; 3];

/// The start of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub stamp: Stamp,
    pub stream: Stream,
    /// Whether the entry continues the previous one of its stream.
    pub continues: bool,
}

/// The start of a line, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Header(Header),
    /// A part of what may become a header.
    Unknown,
    Text,
}

impl Start {
    /// Interprets the first bytes of a line.
    pub fn of(line: &[u8]) -> Start {
        let fits = line.iter().zip(PATTERN).all(|(c, most)| match most {
            b'0'..=b'9' => (b'0'..=*most).contains(c),
            b'f' => c.is_ascii_hexdigit(),
            b'O' => matches!(c, b'O' | b'E'),
            b'+' => matches!(c, b'+' | b' '),
            _ => c == most,
        });
        match line.first_chunk::<HEADER_BYTES>() {
            _ if !fits => Start::Text,
            None => Start::Unknown,
            Some([time @ .., _, a, b, kind, last]) => {
                let stamp = Stamp::parse(time.get(..TIME_BYTES - 1).unwrap_or_default());
                Start::Header(Header { stamp, stream: [*a, *b, *kind], continues: *last == b'+' })
            }
        }
    }
}

/// The state between two chunks of output.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// Whether the output consists of entries; known from its first bytes.
    pub are_stamped: Option<bool>,
    /// Whether the header of the current entry, if it has one, has been read.
    pub has_begun: bool,
    /// The bytes read of what may become a header.
    pub ahead: Vec<u8>,
    /// Whether an entry has ended that the next one may continue.
    pub has_ended: bool,
    /// The stream of the current entry.
    pub stream: Stream,
    /// The unfinished section marker at the end of other streams' last entries.
    held: Vec<(Stream, Vec<u8>)>,
}

impl Entries {
    /// Takes the unfinished marker of a stream.
    pub fn take_held(&mut self, stream: Stream) -> Option<Vec<u8>> {
        let at = self.held.iter().position(|(held, _)| *held == stream)?;
        Some(self.held.swap_remove(at).1)
    }

    /// Returns how many bytes of `line`, the last of the current stream, are shown now that another stream follows: an
    /// unfinished marker at its end is held until its own stream continues.
    pub fn hold(&mut self, line: &[u8]) -> usize {
        let Some(at) = marker::unfinished(line).filter(|_| self.held.len() < MAX_HELD) else { return line.len() };
        self.held.push((self.stream, line.get(at..).unwrap_or_default().to_vec()));
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_known_from_their_bytes() {
        let line = b"2026-05-22T12:43:46.962660Z 0fE+\x1b[0K";
        let Start::Header(header) = Start::of(line) else { panic!("a header") };
        assert_eq!((header.stream, header.continues), (*b"0fE", true));
        assert_eq!(header.stamp.to_string(), "2026-05-22T12:43:46.962660Z");
        for len in 0..HEADER_BYTES {
            assert_eq!(Start::of(&line[..len]), Start::Unknown, "{len}");
        }
        for text in ["x", "2026-05-22 12", "2026-05-22T12:43:46.962660Z 00X ", "2026-05-22T12:73", "\n"] {
            assert_eq!(Start::of(text.as_bytes()), Start::Text, "{text}");
        }
        let Start::Header(last) = Start::of(b"9999-19-39T29:59:59.999999Z 00O ") else { panic!("a header") };
        assert_eq!(last.stamp.to_string(), "9999-19-39T29:59:59.999999Z");
    }
}
