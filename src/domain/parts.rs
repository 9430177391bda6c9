//! The available bytes of a large file, of which parsers read only the ranges that they need.

use bytes::Bytes;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The available bytes of a large file. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Parts {
    total: u64,
    available: AvailableBytes,
}

#[derive(Clone, Debug)]
enum AvailableBytes {
    /// Byte ranges with their offsets; the latest is searched first.
    Pieces(Vec<(u64, Bytes)>),
    /// All bytes, on disk.
    File(Arc<Mutex<File>>),
}

impl Parts {
    /// Creates a file of `total` bytes of which none is available.
    pub fn of(total: u64) -> Parts {
        Parts { total, available: AvailableBytes::Pieces(Vec::new()) }
    }

    /// Creates a complete file in memory.
    pub fn whole(bytes: Bytes) -> Parts {
        Parts { total: bytes.len() as u64, available: AvailableBytes::Pieces(vec![(0, bytes)]) }
    }

    /// Creates a complete file of `total` bytes on disk.
    pub fn file(file: File, total: u64) -> Parts {
        Parts { total, available: AvailableBytes::File(Arc::new(Mutex::new(file))) }
    }

    /// Adds bytes at offset `start`.
    pub fn add(&mut self, start: u64, bytes: Bytes) {
        if let AvailableBytes::Pieces(pieces) = &mut self.available {
            pieces.insert(0, (start, bytes));
        }
    }

    /// Returns the total size in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns whether all bytes are available.
    pub fn is_whole(&self) -> bool {
        match &self.available {
            AvailableBytes::Pieces(pieces) => {
                pieces.iter().any(|(start, bytes)| *start == 0 && bytes.len() as u64 == self.total)
            }
            AvailableBytes::File(_) => true,
        }
    }

    /// Returns the bytes of `range`, or `None` if some are missing. Reads from disk, so call it on a worker.
    pub fn read(&self, range: Range<u64>) -> io::Result<Option<Bytes>> {
        if range.start > range.end || range.end > self.total {
            return Ok(None);
        }
        match &self.available {
            AvailableBytes::Pieces(pieces) => Ok(pieces.iter().find_map(|(start, bytes)| {
                let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
                let until = usize::try_from(range.end.checked_sub(*start)?).ok()?;
                (until <= bytes.len()).then(|| bytes.slice(from..until))
            })),
            AvailableBytes::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(range.start))?;
                let mut bytes = Vec::new();
                (&mut *file).take(range.end - range.start).read_to_end(&mut bytes)?;
                Ok((bytes.len() as u64 == range.end - range.start).then(|| bytes.into()))
            }
        }
    }
}

/// The outcome of one read.
pub enum Step<T> {
    /// The result.
    Done(T),
    /// The range of bytes that is needed next.
    Need(Range<u64>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn reads_return_available_ranges_only() {
        let mut parts = Parts::of(10);
        parts.add(6, Bytes::from_static(b"6789"));
        assert_eq!(parts.read(7..9).unwrap().as_deref(), Some(b"78".as_slice()));
        assert_eq!(parts.read(5..8).unwrap(), None);
        assert_eq!(parts.read(8..11).unwrap(), None);
        assert_eq!(parts.read(Range { start: 9, end: 7 }).unwrap(), None);
        assert!(!parts.is_whole());
        parts.add(0, Bytes::from_static(b"0123"));
        assert!(!parts.is_whole(), "a part at the start is not all of it");
        parts.add(1, Bytes::from_static(b"0123456789"));
        assert!(!parts.is_whole(), "so many bytes elsewhere are not all of it");
        assert!(Parts::whole(Bytes::from_static(b"0123")).is_whole());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let parts = Parts::file(file, 10);
        assert_eq!(parts.read(2..4).unwrap().as_deref(), Some(b"23".as_slice()));
        assert_eq!(parts.read(8..11).unwrap(), None);
        assert_eq!(parts.read(Range { start: 9, end: 7 }).unwrap(), None);
        assert!(parts.is_whole());
    }
}
