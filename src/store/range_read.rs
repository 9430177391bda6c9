//! Reads parts of large remote files: from byte ranges, or from a temporary file with the whole content.
//!
//! `Want::RangeRead` requests the file list of a ZIP archive and single files from it. If the server supports ranges,
//! `src/runtime/range_reader.rs` fetches the end of the archive, which contains the list, and later each file that is
//! opened. Otherwise it downloads the whole archive with progress, and moves it to an unnamed temporary file if it
//! exceeds 8 MiB.
//!
//! labscope has its own parser for the list. It refuses entries that escape the folder, lie about their size or expand
//! beyond bounds, gives the reason, and keeps entries with the same name apart. A file is unpacked in memory and shown
//! only if its checksum is right. Unpacking to a folder is the last step of a download: a worker fills a hidden folder
//! next to the target, renames it when it is complete, and lists what it skipped. The blob viewer (`src/parts/repository/blob/`)
//! shows files from repositories and archives alike.

use super::want::{Canceled, Value};
use api::client::ByteRange;
use api::endpoint::Request;
use domain::parts::{Parts, Step};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The name under which the outcomes of all range reads are recorded, like those of the requests of a route.
pub const RANGE_READS: &str = "range reads";

/// A value read from parts of a large file, such as the listing of an archive or one of its files.
pub trait RangeRead: Send + Sync + 'static {
    type Output: Send + Sync + 'static;
    /// Returns the key under which the result is stored.
    fn key(&self) -> String;
    /// Returns the request for the large file.
    fn request(&self) -> Request;
    /// Returns the first range to request. A server without range support sends everything.
    fn begin(&self) -> ByteRange;
    /// Returns the maximum number of bytes to download; see [`RangeRead::too_large`].
    fn max_bytes(&self) -> u64;
    /// Returns the result if more than [`RangeRead::max_bytes`] bytes are needed; `bytes` is the number needed, if
    /// known.
    fn too_large(&self, bytes: u64) -> Self::Output;
    /// Reads the result from the available bytes, on a worker thread.
    fn read(&self, parts: &Parts, canceled: Canceled<'_>) -> Step<Self::Output>;
}

type ReadParts = Arc<dyn Fn(&Parts, Canceled<'_>) -> Step<Value> + Send + Sync>;
type TooLarge = Arc<dyn Fn(u64) -> Value + Send + Sync>;

/// A type-erased [`RangeRead`]. Equal by key.
#[derive(Clone)]
pub struct AnyRangeRead {
    /// The key under which the result is stored.
    pub key: String,
    /// The request for the large file.
    pub request: Request,
    /// The first range to request.
    pub begin: ByteRange,
    /// The maximum number of bytes to download.
    pub max_bytes: u64,
    /// The delay before the request, so that a moving cursor does not send a request at each step.
    pub delay: Duration,
    /// Returns the result for a file that is too large.
    pub too_large: TooLarge,
    /// Reads the result from the available bytes.
    pub read: ReadParts,
}

impl AnyRangeRead {
    /// Erases the type of `reader`.
    pub fn new<G: RangeRead>(reader: G) -> AnyRangeRead {
        let reader = Arc::new(reader);
        let again = reader.clone();
        AnyRangeRead {
            key: reader.key(),
            request: reader.request(),
            begin: reader.begin(),
            max_bytes: reader.max_bytes(),
            delay: Duration::ZERO,
            too_large: Arc::new(move |bytes| Arc::new(again.too_large(bytes)) as Value),
            read: Arc::new(move |parts, canceled| match reader.read(parts, canceled) {
                Step::Done(value) => Step::Done(Arc::new(value) as Value),
                Step::Need(range) => Step::Need(range),
            }),
        }
    }

    /// Delays the request until it has been wanted for that long.
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
