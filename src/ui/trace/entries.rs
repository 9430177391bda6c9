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
/// The least and the greatest character at each position of a header.
const LEAST: &[u8; HEADER_BYTES] = b"0000-00-00T00:00:00.000000Z 00E ";
const GREATEST: &[u8; HEADER_BYTES] = b"9999-19-39T29:59:59.999999Z ffO+";
/// Maximum number of streams with an unfinished marker.
const MAX_HELD: usize = 16;

/// The time of an entry, or 0 if it has none: the digits of the timestamp, which may be no valid date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(pub u64);

/// The value of a one at each position of a timestamp; fields have no more values than [`GREATEST`] allows.
const WEIGHTS: [u64; TIME_BYTES] = [
    86_400_000_000_000_000,
    8_640_000_000_000_000,
    864_000_000_000_000,
    86_400_000_000_000,
    0,
    43_200_000_000_000,
    4_320_000_000_000,
    0,
    1_080_000_000_000,
    108_000_000_000,
    0,
    36_000_000_000,
    3_600_000_000,
    0,
    600_000_000,
    60_000_000,
    0,
    10_000_000,
    1_000_000,
    0,
    100_000,
    10_000,
    1_000,
    100,
    10,
    1,
    0,
];

impl Stamp {
    fn parse(header: &[u8; HEADER_BYTES]) -> Stamp {
        Stamp(header.iter().zip(WEIGHTS).map(|(c, weight)| u64::from(c.wrapping_sub(b'0')) * weight).sum())
    }
}

impl fmt::Display for Stamp {
    /// Formats the timestamp as the runner does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (weight, separator) in WEIGHTS.into_iter().zip(LEAST) {
            match rest.checked_div(weight) {
                Some(digit) => write!(f, "{digit}")?,
                None => write!(f, "{}", char::from(*separator))?,
            }
            rest = rest.checked_rem(weight).unwrap_or(rest);
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
        let allowed = LEAST.iter().zip(GREATEST);
        // Without a branch for each byte, all are compared at once.
        let fits =
            line.iter().zip(allowed).fold(true, |fits, (c, (least, greatest))| fits & (least <= c) & (c <= greatest));
        match line.first_chunk::<HEADER_BYTES>() {
            _ if !fits => Start::Text,
            None => Start::Unknown,
            Some(header) => match header {
                [.., a, b, kind @ (b'O' | b'E'), last @ (b'+' | b' ')]
                    if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() =>
                {
                    let (stamp, stream) = (Stamp::parse(header), [*a, *b, *kind]);
                    Start::Header(Header { stamp, stream, continues: *last == b'+' })
                }
                _ => Start::Text,
            },
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
    held: Vec<Held>,
}

/// The unfinished section marker at the end of the last entry of a stream, after which another stream followed.
#[derive(Clone, Debug)]
pub struct Held {
    stream: Stream,
    pub time: Stamp,
    pub text: Vec<u8>,
}

impl Entries {
    /// Takes the unfinished marker of a stream.
    pub fn take_held(&mut self, stream: Stream) -> Option<Vec<u8>> {
        let at = self.held.iter().position(|held| held.stream == stream)?;
        Some(self.held.remove(at).text)
    }

    /// Returns the unfinished markers, in the order in which they were written.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    /// Returns how many bytes of `line`, the last of the current stream, are shown now that another stream follows: an
    /// unfinished marker at its end is held until its own stream continues.
    pub fn hold(&mut self, line: &[u8], time: Stamp) -> usize {
        let Some(at) = marker::unfinished(line).filter(|_| self.held.len() < MAX_HELD) else { return line.len() };
        self.held.push(Held { stream: self.stream, time, text: line.get(at..).unwrap_or_default().to_vec() });
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
