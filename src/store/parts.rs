//! What is read from a large thing of the server without holding it: from some of its bytes, or from a file without a
//! name that holds all of them.

use super::want::{Canceled, Value};
use crate::api::client::Slice;
use crate::api::endpoint::Request;
use bytes::Bytes;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Bytes of something large, as far as they are here. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Parts {
    total: u64,
    held: HeldBytes,
}

#[derive(Clone, Debug)]
enum HeldBytes {
    /// Some of them, each with the place of its first byte; those that came last are looked at first.
    Pieces(Vec<(u64, Bytes)>),
    /// All of them, on disk.
    File(Arc<Mutex<File>>),
}

impl Parts {
    /// Nothing yet of `total` bytes.
    pub fn of(total: u64) -> Parts {
        Parts { total, held: HeldBytes::Pieces(Vec::new()) }
    }

    /// Returns all of it, in memory.
    pub fn whole(bytes: Bytes) -> Parts {
        Parts { total: bytes.len() as u64, held: HeldBytes::Pieces(vec![(0, bytes)]) }
    }

    /// Returns all of it, in a file of `total` bytes that nobody else writes to.
    pub fn file(file: File, total: u64) -> Parts {
        Parts { total, held: HeldBytes::File(Arc::new(Mutex::new(file))) }
    }

    /// Takes more bytes in, of which the first is number `start`.
    pub fn add(&mut self, start: u64, bytes: Bytes) {
        if let HeldBytes::Pieces(pieces) = &mut self.held {
            pieces.insert(0, (start, bytes));
        }
    }

    /// Bytes in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns whether all of it is here.
    pub fn is_whole(&self) -> bool {
        match &self.held {
            HeldBytes::Pieces(pieces) => {
                pieces.iter().any(|(start, bytes)| *start == 0 && bytes.len() as u64 == self.total)
            }
            HeldBytes::File(_) => true,
        }
    }

    /// The bytes of `range`; `None` if they are not all here. Reads the disk: for workers.
    pub fn read(&self, range: Range<u64>) -> io::Result<Option<Bytes>> {
        if range.start > range.end || range.end > self.total {
            return Ok(None);
        }
        match &self.held {
            HeldBytes::Pieces(pieces) => Ok(pieces.iter().find_map(|(start, bytes)| {
                let from = usize::try_from(range.start.checked_sub(*start)?).ok()?;
                let until = usize::try_from(range.end.checked_sub(*start)?).ok()?;
                (until <= bytes.len()).then(|| bytes.slice(from..until))
            })),
            HeldBytes::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(range.start))?;
                let mut bytes = Vec::new();
                (&mut *file).take(range.end - range.start).read_to_end(&mut bytes)?;
                Ok((bytes.len() as u64 == range.end - range.start).then(|| bytes.into()))
            }
        }
    }
}

/// What came of looking at the parts.
pub enum Step<T> {
    /// The result.
    Made(T),
    /// These bytes are needed, too.
    Need(Range<u64>),
}

/// Something that is read from parts of a large thing: the list of an archive, one file of it.
pub trait RangeRead: Send + Sync + 'static {
    /// What it makes.
    type Output: Send + Sync + 'static;
    /// Names the result, as of a computation.
    fn key(&self) -> String;
    /// The large thing.
    fn request(&self) -> Request;
    /// Returns what is asked for first. A server that knows no parts sends everything.
    fn begin(&self) -> Slice;
    /// Bytes that may be brought in all; see [`RangeRead::too_large`].
    fn most(&self) -> u64;
    /// The result where more than [`RangeRead::most`] would have to be brought; `bytes` are those that it would be, as far as
    /// the server says.
    fn too_large(&self, bytes: u64) -> Self::Output;
    /// Makes it of what is here, on a worker.
    fn read(&self, parts: &Parts, canceled: Canceled<'_>) -> Step<Self::Output>;
}

type ReadParts = Arc<dyn Fn(&Parts, Canceled<'_>) -> Step<Value> + Send + Sync>;
type TooLarge = Arc<dyn Fn(u64) -> Value + Send + Sync>;

/// A [`RangeRead`] without its type. Equal by key.
#[derive(Clone)]
pub struct AnyRangeRead {
    /// Names the result.
    pub key: String,
    /// The large thing.
    pub request: Request,
    /// What is asked for first.
    pub begin: Slice,
    /// Bytes that may be brought in all.
    pub most: u64,
    /// Wait this long before asking, so that a moving cursor does not ask at each step.
    pub delay: Duration,
    /// The result where that is not enough.
    pub too_large: TooLarge,
    /// Makes the result of what is here.
    pub read: ReadParts,
}

impl AnyRangeRead {
    /// Returns what `reader` makes.
    pub fn new<G: RangeRead>(reader: G) -> AnyRangeRead {
        let reader = Arc::new(reader);
        let again = reader.clone();
        AnyRangeRead {
            key: reader.key(),
            request: reader.request(),
            begin: reader.begin(),
            most: reader.most(),
            delay: Duration::ZERO,
            too_large: Arc::new(move |bytes| Arc::new(again.too_large(bytes)) as Value),
            read: Arc::new(move |parts, canceled| match reader.read(parts, canceled) {
                Step::Made(made) => Step::Made(Arc::new(made) as Value),
                Step::Need(range) => Step::Need(range),
            }),
        }
    }

    /// Ask only when it has been wanted for that long.
    pub fn after(mut self, delay: Duration) -> AnyRangeRead {
        self.delay = delay;
        self
    }
}

impl PartialEq for AnyRangeRead {
    fn eq(&self, other: &AnyRangeRead) -> bool {
        self.key == other.key
    }
}

impl fmt::Debug for AnyRangeRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RangeRead({} of {})", self.key, self.request.line())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn bytes_are_found_where_they_are_and_missed_where_they_are_not() {
        let mut parts = Parts::of(10);
        parts.add(6, Bytes::from_static(b"6789"));
        assert_eq!(parts.read(7..9).unwrap().as_deref(), Some(b"78".as_slice()));
        assert_eq!(parts.read(5..8).unwrap(), None);
        assert_eq!(parts.read(8..11).unwrap(), None);
        assert!(!parts.is_whole());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let parts = Parts::file(file, 10);
        assert_eq!(parts.read(2..4).unwrap().as_deref(), Some(b"23".as_slice()));
        assert_eq!(parts.read(8..11).unwrap(), None);
        assert!(parts.is_whole());
    }
}
