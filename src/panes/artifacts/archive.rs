//! What is brought and computed of an archive, off the loop: its list, one file of it, the names that fit, its reports.

use super::tree::Tree;
use crate::api::client::Slice;
use crate::api::endpoint::Request;
use crate::domain::junit::{self, Report};
use crate::domain::zip::{self, Entry, List, Refusal};
use crate::store::{Canceled, Derive, Parts, RangeRead, Step};
use crate::ui::code::Text;
use bytes::Bytes;
use std::sync::Arc;

/// Bytes of an archive that are brought if the server gives no parts.
const LARGEST_ARCHIVE: u64 = 2 * 1024 * 1024 * 1024;
/// Bytes of a file that is shown.
pub const LARGEST_FILE: u64 = 64 * 1024 * 1024;
/// Names that fit and are listed.
const NAMED: usize = 5_000;

/// An archive whose list is read.
pub struct Archive {
    pub list: List,
    pub tree: Tree,
    /// What is here of it.
    pub parts: Parts,
}

/// Brings the list of an archive.
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
    fn begin(&self) -> Slice {
        Slice::Tail(zip::TAIL)
    }
    fn most(&self) -> u64 {
        LARGEST_ARCHIVE
    }
    fn too_large(&self, bytes: u64) -> Self::Output {
        Err(Refusal::TooLarge(bytes))
    }
    fn read(&self, parts: &Parts, canceled: Canceled<'_>) -> Step<Self::Output> {
        match zip::list(parts, canceled) {
            Step::Need(range) => Step::Need(range),
            Step::Made(Err(refusal)) => Step::Made(Err(refusal)),
            Step::Made(Ok(list)) => {
                let tree = Tree::new(&list);
                Step::Made(Ok(Arc::new(Archive { list, tree, parts: parts.clone() })))
            }
        }
    }
}

/// What came of a file.
pub type FileContent = Result<Bytes, Refusal>;

/// The name of a file that was taken out of an archive.
pub fn taken_key(sha: &str) -> String {
    format!("taken {sha}")
}

/// Brings one file by its own request, as the server unpacks it.
pub struct FetchFile {
    pub sha: String,
    pub request: Request,
}

impl RangeRead for FetchFile {
    type Output = FileContent;
    fn key(&self) -> String {
        taken_key(&self.sha)
    }
    fn request(&self) -> Request {
        self.request.clone()
    }
    fn begin(&self) -> Slice {
        Slice::All
    }
    fn most(&self) -> u64 {
        LARGEST_FILE
    }
    fn too_large(&self, bytes: u64) -> FileContent {
        Err(Refusal::TooLarge(bytes))
    }
    fn read(&self, parts: &Parts, _: Canceled<'_>) -> Step<FileContent> {
        Step::Made(match parts.read(0..parts.total()) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(Refusal::Broken("it is truncated")),
            Err(error) => Err(Refusal::Disk(error.to_string())),
        })
    }
}

/// Brings the bytes of one file of an archive, and unpacks them here.
pub struct FetchPart {
    pub sha: String,
    pub request: Request,
    pub entry: Entry,
    pub total: u64,
}

impl RangeRead for FetchPart {
    type Output = FileContent;
    fn key(&self) -> String {
        taken_key(&self.sha)
    }
    fn request(&self) -> Request {
        self.request.clone()
    }
    fn begin(&self) -> Slice {
        Slice::Span(zip::span(&self.entry, self.total))
    }
    fn most(&self) -> u64 {
        LARGEST_ARCHIVE
    }
    fn too_large(&self, bytes: u64) -> FileContent {
        Err(Refusal::TooLarge(bytes))
    }
    fn read(&self, parts: &Parts, _: Canceled<'_>) -> Step<FileContent> {
        zip::take(parts, &self.entry, LARGEST_FILE)
    }
}

/// Unpacks a file of an archive that is here.
pub struct Unpack {
    pub sha: String,
    pub parts: Parts,
    pub entry: Entry,
}

impl Derive for Unpack {
    type Output = FileContent;
    fn key(&self) -> String {
        taken_key(&self.sha)
    }
    fn run(&self, _: Canceled<'_>) -> FileContent {
        match zip::take(&self.parts, &self.entry, LARGEST_FILE) {
            Step::Made(taken) => taken,
            Step::Need(_) => Err(Refusal::Broken("it ends inside a file")),
        }
    }
}

/// Looks for names.
pub struct FindNames {
    pub of: String,
    pub archive: Arc<Archive>,
    pub words: String,
}

/// The name of what was found.
pub fn names_key(of: &str, words: &str) -> String {
    format!("names {words} in {of}")
}

impl Derive for FindNames {
    type Output = Vec<u32>;
    fn key(&self) -> String {
        names_key(&self.of, &self.words)
    }
    fn run(&self, canceled: Canceled<'_>) -> Vec<u32> {
        self.archive.tree.named(&self.words.to_lowercase(), NAMED, canceled)
    }
}

/// Reads a file as a test report.
pub struct ReadReport {
    pub sha: String,
    pub text: Arc<Text>,
}

/// The name of a report.
pub fn report_key(sha: &str) -> String {
    format!("report {sha}")
}

impl Derive for ReadReport {
    type Output = Option<Arc<Report>>;
    fn key(&self) -> String {
        report_key(&self.sha)
    }
    fn run(&self, canceled: Canceled<'_>) -> Option<Arc<Report>> {
        junit::read(self.text.as_str(), canceled).map(Arc::new)
    }
}
