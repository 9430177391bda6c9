//! Background work on an archive: reading its list of entries, fetching and unpacking single files, searching names and
//! parsing test reports.

use super::tree::ArchiveTree;
use crate::api::client::ByteRange;
use crate::api::endpoint::Request;
use crate::domain::junit::{self, Report};
use crate::domain::parts::{Parts, Step};
use crate::domain::zip::{self, CentralDirectory, Refusal, ZipEntry};
use crate::store::{Canceled, Derive, RangeRead};
use crate::ui::code::Text;
use bytes::Bytes;
use std::sync::Arc;

/// The maximum size in bytes of an archive that is fetched whole because the server does not support range requests.
const MAX_ARCHIVE_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// The maximum size in bytes of a file that is shown.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// The maximum number of matching names that are listed.
const MAX_LISTED: usize = 5_000;

/// An archive whose list of entries was read.
pub struct Archive {
    pub list: CentralDirectory,
    pub tree: ArchiveTree,
    /// The parts of the archive that were fetched.
    pub parts: Parts,
}

/// Reads the list of entries of an archive.
pub struct ReadList {
    pub key: String,
    pub request: Request,
}

impl RangeRead for ReadList {
    type Output = Result<Arc<Archive>, Refusal>;
    fn key(&self) -> String {
        self.key.clone()
    }
    fn request(&self) -> Request {
        self.request.clone()
    }
    fn begin(&self) -> ByteRange {
        ByteRange::Tail(zip::TAIL_BYTES)
    }
    fn max_bytes(&self) -> u64 {
        MAX_ARCHIVE_BYTES
    }
    fn too_large(&self, bytes: u64) -> Self::Output {
        Err(Refusal::TooLarge(bytes))
    }
    fn read(&self, parts: &Parts, canceled: Canceled<'_>) -> Step<Self::Output> {
        match zip::list(parts, canceled) {
            Step::Need(range) => Step::Need(range),
            Step::Done(Err(refusal)) => Step::Done(Err(refusal)),
            Step::Done(Ok(list)) => {
                let tree = ArchiveTree::new(&list);
                Step::Done(Ok(Arc::new(Archive { list, tree, parts: parts.clone() })))
            }
        }
    }
}

/// The content of a file, or why it cannot be shown.
pub type FileContent = Result<Bytes, Refusal>;

/// Returns the key of the content of a file that was extracted from an archive.
pub fn content_key(sha: &str) -> String {
    format!("taken {sha}")
}

/// Fetches one file by its own request; the server unpacks it.
pub struct FetchFile {
    pub sha: String,
    pub request: Request,
}

impl RangeRead for FetchFile {
    type Output = FileContent;
    fn key(&self) -> String {
        content_key(&self.sha)
    }
    fn request(&self) -> Request {
        self.request.clone()
    }
    fn begin(&self) -> ByteRange {
        ByteRange::All
    }
    fn max_bytes(&self) -> u64 {
        MAX_FILE_BYTES
    }
    fn too_large(&self, bytes: u64) -> FileContent {
        Err(Refusal::TooLarge(bytes))
    }
    fn read(&self, parts: &Parts, _: Canceled<'_>) -> Step<FileContent> {
        Step::Done(match parts.read(0..parts.total()) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(Refusal::Corrupt("the file is truncated")),
            Err(error) => Err(Refusal::Disk(error.to_string())),
        })
    }
}

/// Fetches the bytes of one file of an archive, and unpacks them locally.
pub struct FetchPart {
    pub sha: String,
    pub request: Request,
    pub entry: ZipEntry,
    pub total: u64,
}

impl RangeRead for FetchPart {
    type Output = FileContent;
    fn key(&self) -> String {
        content_key(&self.sha)
    }
    fn request(&self) -> Request {
        self.request.clone()
    }
    fn begin(&self) -> ByteRange {
        ByteRange::Span(zip::entry_range(&self.entry, self.total))
    }
    fn max_bytes(&self) -> u64 {
        MAX_ARCHIVE_BYTES
    }
    fn too_large(&self, bytes: u64) -> FileContent {
        Err(Refusal::TooLarge(bytes))
    }
    fn read(&self, parts: &Parts, _: Canceled<'_>) -> Step<FileContent> {
        zip::extract_to_memory(parts, &self.entry, MAX_FILE_BYTES)
    }
}

/// Unpacks a file of an archive that is already fetched.
pub struct UnpackFile {
    pub sha: String,
    pub parts: Parts,
    pub entry: ZipEntry,
}

impl Derive for UnpackFile {
    type Output = FileContent;
    fn key(&self) -> String {
        content_key(&self.sha)
    }
    fn memory(&self) -> usize {
        usize::try_from(self.entry.uncompressed_size.min(MAX_FILE_BYTES)).unwrap_or_default()
    }
    fn run(&self, _: Canceled<'_>) -> FileContent {
        match zip::extract_to_memory(&self.parts, &self.entry, MAX_FILE_BYTES) {
            Step::Done(content) => content,
            Step::Need(_) => Err(Refusal::Corrupt("the archive ends inside the file")),
        }
    }
}

/// Searches the file names of an archive.
pub struct FindNames {
    pub of: String,
    pub archive: Arc<Archive>,
    pub words: String,
}

/// Returns the key of the result of a name search.
pub fn names_key(of: &str, words: &str) -> String {
    format!("names {words} in {of}")
}

impl Derive for FindNames {
    type Output = Vec<u32>;
    fn key(&self) -> String {
        names_key(&self.of, &self.words)
    }
    fn run(&self, canceled: Canceled<'_>) -> Vec<u32> {
        self.archive.tree.find_files(&self.words.to_lowercase(), MAX_LISTED, canceled)
    }
}

/// Parses a file as a test report.
pub struct ReadReport {
    pub sha: String,
    pub text: Arc<Text>,
}

/// Returns the key of a parsed test report.
pub fn report_key(sha: &str) -> String {
    format!("report {sha}")
}

impl Derive for ReadReport {
    type Output = Option<Arc<Report>>;
    fn key(&self) -> String {
        report_key(&self.sha)
    }
    fn memory(&self) -> usize {
        32 * self.text.bytes_len()
    }
    fn run(&self, canceled: Canceled<'_>) -> Option<Arc<Report>> {
        junit::read(self.text.as_str(), canceled).map(Arc::new)
    }
}
