//! The packets that git's protocol consists of: lines with their length in front.

use std::io::{self, Read};

/// The packet that ends a list.
pub const FLUSH: &[u8] = b"0000";
/// The maximum length of a line in bytes.
const MAX_LINE: usize = 65_516;
/// The channels of a reply: its data, and messages for the user.
const DATA: u8 = 1;
const MESSAGE: u8 = 2;

/// Appends a line of at most [`MAX_LINE`] bytes.
pub fn push(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(format!("{:04x}", line.len().min(MAX_LINE) + 4).as_bytes());
    out.extend_from_slice(line.get(..MAX_LINE).unwrap_or(line));
}

/// Appends bytes in packets of a channel.
fn push_on(out: &mut Vec<u8>, channel: u8, bytes: &[u8]) {
    for part in bytes.chunks(MAX_LINE - 1) {
        push(out, &[&[channel], part].concat());
    }
}

/// Appends a part of a reply that shares its connection with messages.
pub fn push_data(out: &mut Vec<u8>, bytes: &[u8]) {
    push_on(out, DATA, bytes);
}

/// Appends a message, which git shows after `remote:`.
pub fn push_message(out: &mut Vec<u8>, message: &str) {
    push_on(out, MESSAGE, message.as_bytes());
}

/// Reads the lines of a request.
pub struct PacketLines<R> {
    input: R,
    /// The number of bytes that were read.
    pub taken: u64,
}

impl<R: Read> PacketLines<R> {
    pub fn new(input: R) -> PacketLines<R> {
        PacketLines { input, taken: 0 }
    }

    /// Returns the next line without its line feed; `None` at the end of a list.
    ///
    /// # Errors
    /// Fails if the input ends before, or if the length is none of a line.
    pub fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut length = [0; 4];
        self.read(&mut length)?;
        let text = std::str::from_utf8(&length).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let length = text.and_then(|text| usize::from_str_radix(text, 16).ok());
        match length {
            Some(0) => Ok(None),
            Some(length) if (4..=MAX_LINE + 4).contains(&length) => {
                let mut line = vec![0; length - 4];
                self.read(&mut line)?;
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                Ok(Some(line))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.input.read_exact(bytes)?;
        self.taken += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_up_to_the_end_of_their_list() {
        let mut lines = PacketLines::new(&b"0006a\n0005b00000004PACK"[..]);
        assert_eq!(lines.next().unwrap().unwrap(), b"a");
        assert_eq!(lines.next().unwrap().unwrap(), b"b");
        assert!(lines.next().unwrap().is_none());
        assert_eq!((lines.next().unwrap().unwrap(), lines.taken), (Vec::new(), 19));
        for broken in ["", "000", "0003", "fff5", "+005a", "zzzz", "0010short"] {
            assert!(PacketLines::new(broken.as_bytes()).next().is_err(), "{broken}");
        }
    }

    #[test]
    fn long_data_is_split() {
        let mut out = Vec::new();
        push_data(&mut out, &vec![b'x'; MAX_LINE]);
        assert_eq!((out.len(), &out[..5]), (MAX_LINE + 10, &b"fff0\x01"[..]));
        assert_eq!(&out[MAX_LINE + 4..], b"0006\x01x");
    }
}
