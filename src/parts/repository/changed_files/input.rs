//! The input of the changes view: the replies with the files, and the computations on them, off the event loop.

use super::files::{mark, mark_key};
use crate::api::commits::DiffEntry;
use crate::api::merge_requests::MergeRequest;
use crate::api::repository::Comparison;
use crate::api::{Id, Raw};
use crate::store::{Canceled, Derive};
use crate::ui::code::Text;
use crate::ui::diff::{self, DiffMatches, FileDiff, HunkStyles, ImagePair, Moved, SinceReview, Source};
use crate::ui::image::Image;
use crate::ui::theme::Theme;
use std::sync::Arc;

/// The number of files in the first part that is parsed.
const FIRST_PART_FILES: usize = 50;

/// The replies that contain the changed files, as they are in the store.
#[derive(Clone)]
pub enum Entries {
    /// A list of files.
    List(Arc<Vec<DiffEntry>>),
    /// Files that were compared completely on this computer, such as staged changes.
    Compared(Arc<Vec<DiffEntry>>),
    /// The files of a commit, page by page; more pages may follow.
    Pages(Vec<Arc<Vec<DiffEntry>>>),
    /// A merge request with its changes.
    MergeRequest(Arc<MergeRequest>),
    /// A comparison of two refs.
    Comparison(Arc<Comparison>),
    /// The changes since a review.
    Since(Arc<FilesSinceReview>),
}

/// Files with the changes since a review, and their comparison with the reviewed version.
#[derive(Default)]
pub struct FilesSinceReview {
    pub entries: Vec<DiffEntry>,
    pub since: Vec<SinceReview>,
}

impl Entries {
    /// Returns the files of a part, in the server's order. Parts are parsed one after the other; the first part of a
    /// long reply is small, so that its files are shown early.
    pub fn part(&self, part: usize) -> &[DiffEntry] {
        let files = self.files(part);
        match (self, part) {
            (Entries::Pages(_), _) => files,
            (_, 0) => files.get(..FIRST_PART_FILES).unwrap_or(files),
            (_, 1) => files.get(FIRST_PART_FILES..).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Returns the files of a page, or of the whole reply if it has no pages.
    fn files(&self, page: usize) -> &[DiffEntry] {
        match self {
            Entries::Pages(pages) => pages.get(page).map(|page| page.as_slice()).unwrap_or_default(),
            Entries::List(files) | Entries::Compared(files) => files,
            Entries::Comparison(comparison) => &comparison.diffs,
            Entries::Since(files) => &files.entries,
            Entries::MergeRequest(merge_request) => merge_request.changes.as_deref().unwrap_or_default(),
        }
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        match self {
            Entries::Pages(pages) => pages.len(),
            _ => 1 + usize::from(self.files(0).len() > FIRST_PART_FILES),
        }
    }

    /// Parses the files of a part.
    fn parse(&self, part: usize) -> impl Iterator<Item = FileDiff> {
        let first = if part == 0 { 0 } else { FIRST_PART_FILES };
        self.part(part).iter().enumerate().map(move |(at, entry)| {
            let mut file = diff::parse(source(entry));
            if let Entries::Since(files) = self {
                file.since = files.since.get(first + at).cloned();
            }
            if let Entries::Since(_) | Entries::Compared(_) = self {
                // It was compared completely: without a diff, nothing has changed.
                file.is_local = entry.diff.is_empty() && !entry.is_withheld();
            }
            file
        })
    }

    /// Parses the diff of the file that has a path in the new or the old version.
    pub fn parse_file(&self, path: &str, old: bool) -> Option<FileDiff> {
        let has_path = |entry: &&DiffEntry| (if old { &entry.old_path } else { &entry.new_path }) == path;
        let entry = (0..self.parts()).find_map(|part| self.part(part).iter().find(has_path))?;
        Some(diff::parse(source(entry)))
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        (0..self.parts()).map(|part| self.part(part).len()).sum()
    }

    /// Returns whether no files changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The changed files with an identity that changes whenever they do, except when pages are appended.
#[derive(Clone)]
pub struct ChangedFiles {
    /// The request line and the time of the reply.
    pub identity: String,
    /// The files.
    pub entries: Entries,
}

/// The revisions that the changes lie between, which whole files are read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revisions {
    pub project: Id,
    /// The old commit; `None` if it is unknown.
    pub old: Option<String>,
    pub new: String,
}

/// A computation that parses the files of a part.
pub struct ParseDiff {
    /// The identity of the input, with the way in which it is parsed.
    pub identity: String,
    pub entries: Entries,
    pub part: usize,
    /// Whether whitespace changes are ignored.
    pub ignores_whitespace: bool,
}

/// Returns the key of the files of a part.
pub fn parse_key(identity: &str, part: usize) -> String {
    format!("diff of {identity}, part {part}")
}

impl Derive for ParseDiff {
    type Output = Vec<Arc<FileDiff>>;

    fn key(&self) -> String {
        parse_key(&self.identity, self.part)
    }

    fn weight(&self, files: &Vec<Arc<FileDiff>>) -> usize {
        // The lines of a diff take about as much memory as its text.
        2 * files.iter().map(|file| file.source.diff.len()).sum::<usize>()
    }

    fn memory(&self) -> usize {
        32 * self.entries.part(self.part).iter().map(|entry| entry.diff.len()).sum::<usize>()
    }

    fn run(&self, canceled: Canceled<'_>) -> Vec<Arc<FileDiff>> {
        let parsed = self.entries.parse(self.part).take_while(|_| !canceled());
        if self.ignores_whitespace {
            parsed.map(|file| Arc::new(diff::without_whitespace_changes(&file))).collect()
        } else {
            parsed.map(Arc::new).collect()
        }
    }
}

/// Returns the key and the hash by which a file among changes up to a commit is marked as viewed.
pub fn viewed_mark(entry: &DiffEntry, commit: &str) -> (String, u64) {
    let source = source(entry);
    (
        mark_key(entry.path(), entry.deleted_file).into_owned(),
        mark(diff::identity(&source), (!entry.has_lines()).then_some(commit)),
    )
}

fn source(entry: &DiffEntry) -> Source {
    Source {
        old_path: entry.old_path.clone(),
        new_path: entry.new_path.clone(),
        diff: entry.diff.clone(),
        is_new: entry.new_file,
        is_renamed: entry.renamed_file,
        is_deleted: entry.deleted_file,
        is_generated: entry.generated_file == Some(true),
        old_mode: entry.a_mode.clone(),
        new_mode: entry.b_mode.clone(),
        too_large: entry.too_large == Some(true),
        collapsed: entry.collapsed == Some(true),
        tells_omitted: entry.too_large.is_some(),
    }
}

/// A computation that highlights a piece of a hunk.
pub struct HighlightHunk {
    pub identity: String,
    /// The indices of the file, the hunk and the piece.
    pub piece: (usize, usize, usize),
    pub diff: Arc<FileDiff>,
}

/// Returns the key of the colors of a piece of a hunk.
pub fn colors_key(identity: &str, (file, hunk, piece): (usize, usize, usize), revision: u32) -> String {
    format!("colors of file {file}, hunk {hunk}, piece {piece}, revision {revision} of {identity}")
}

impl Derive for HighlightHunk {
    type Output = HunkStyles;

    fn key(&self) -> String {
        colors_key(&self.identity, self.piece, self.diff.revision)
    }

    fn run(&self, canceled: Canceled<'_>) -> HunkStyles {
        diff::highlight_hunk(&self.diff, self.piece.1, self.piece.2, canceled)
    }
}

/// All files in their current state, with a name that changes whenever they do.
pub struct AllFiles {
    pub identity: String,
    pub files: Arc<Vec<Arc<FileDiff>>>,
}

/// A computation that searches all files.
pub struct SearchDiff {
    pub files: AllFiles,
    pub query: String,
}

/// Returns the key of a search result.
pub fn search_key(identity: &str, query: &str) -> String {
    format!("search for {query} in {identity}")
}

impl Derive for SearchDiff {
    type Output = DiffMatches;

    fn key(&self) -> String {
        search_key(&self.files.identity, &self.query)
    }

    fn run(&self, canceled: Canceled<'_>) -> DiffMatches {
        diff::search(&self.files.files, &self.query, canceled)
    }
}

/// A computation that finds moved blocks.
pub struct FindMoves(pub AllFiles);

/// Returns the key of the moved blocks.
pub fn moves_key(identity: &str) -> String {
    format!("moved lines of {identity}")
}

impl Derive for FindMoves {
    type Output = Arc<Moved>;

    fn key(&self) -> String {
        moves_key(&self.0.identity)
    }

    fn memory(&self) -> usize {
        32 * self.0.files.iter().map(|file| file.source.diff.len()).sum::<usize>()
    }

    fn run(&self, canceled: Canceled<'_>) -> Arc<Moved> {
        Arc::new(diff::moved(&self.0.files, canceled))
    }
}

/// A computation that finds the lines of a blob.
pub struct ReadText {
    pub sha: String,
    pub raw: Arc<Raw>,
}

/// Returns the key of the lines of a blob.
pub fn text_key(sha: &str) -> String {
    format!("lines of blob {sha}")
}

impl Derive for ReadText {
    type Output = Arc<Text>;

    fn key(&self) -> String {
        text_key(&self.sha)
    }

    fn memory(&self) -> usize {
        4 * self.raw.bytes.len()
    }

    fn run(&self, _: Canceled<'_>) -> Arc<Text> {
        Arc::new(Text::new(self.raw.bytes.clone()))
    }
}

/// A computation that compares two versions of a file, if the server does not.
pub struct CompareVersions {
    pub key: String,
    pub file: Arc<FileDiff>,
    pub old: Arc<Text>,
    pub new: Arc<Text>,
}

impl Derive for CompareVersions {
    type Output = Arc<FileDiff>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn memory(&self) -> usize {
        32 * (self.old.bytes_len() + self.new.bytes_len())
    }

    fn run(&self, _: Canceled<'_>) -> Arc<FileDiff> {
        let mut file_diff = diff::compute(&self.file.source, &self.old, &self.new);
        file_diff.revision = self.file.revision + 1;
        Arc::new(file_diff)
    }
}

/// A computation that adds unchanged lines to all hunks of a file. Its result is `None` if the text is not the one that
/// the diff was made from.
pub struct AddContext {
    pub key: String,
    pub file: Arc<FileDiff>,
    pub new: Arc<Text>,
    /// The number of lines to add at both ends of each hunk.
    pub lines: u32,
}

impl Derive for AddContext {
    type Output = Option<Arc<FileDiff>>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn memory(&self) -> usize {
        32 * (self.file.source.diff.len() + self.new.bytes_len())
    }

    fn run(&self, _: Canceled<'_>) -> Option<Arc<FileDiff>> {
        self.file.with_context(&self.new, self.lines).map(Arc::new)
    }
}

/// A computation that draws both versions of an image.
#[derive(Clone)]
pub struct Pictures {
    /// The index of the file.
    pub file: usize,
    pub key: String,
    pub old: Option<Arc<Raw>>,
    pub new: Option<Arc<Raw>>,
    pub width: u16,
    pub theme: Theme,
}

impl Derive for Pictures {
    type Output = Arc<ImagePair>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn memory(&self) -> usize {
        [&self.old, &self.new].into_iter().flatten().map(|raw| Image::memory(&raw.bytes)).sum()
    }

    fn run(&self, _: Canceled<'_>) -> Arc<ImagePair> {
        let bytes = |raw: &'_ Option<Arc<Raw>>| raw.as_ref().map(|raw| raw.bytes.to_vec());
        let (old, new) = (bytes(&self.old), bytes(&self.new));
        Arc::new(diff::draw_image_pair(old.as_deref(), new.as_deref(), self.width, &self.theme))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::assert_memory;

    #[test]
    fn large_changes_take_no_more_memory_than_is_asked_for() {
        let lines = |sign: &str, count: usize| (0..count).map(|at| format!("{sign}line {at}\n")).collect::<String>();
        let diff = format!("@@ -0,0 +1,200000 @@\n{}", lines("+", 200_000));
        let entry = DiffEntry { new_path: "a.rs".into(), new_file: true, diff, ..DiffEntry::default() };
        let entries = Entries::List(Arc::new(vec![entry.clone()]));
        for ignores_whitespace in [false, true] {
            let parse = ParseDiff { identity: "a".into(), entries: entries.clone(), part: 0, ignores_whitespace };
            assert_memory("a diff", &parse);
        }
        let text = |text: String| Arc::new(Text::new(text.into_bytes()));
        let (old, new) = (text(lines("", 100_000)), text(lines("", 100_000) + &lines("new ", 1_000)));
        let file = Arc::new(diff::parse(source(&DiffEntry { diff: String::new(), ..entry })));
        assert_memory("two versions", &CompareVersions { key: "a".into(), file, old, new });
        let bytes = lines("", 1_000_000).into_bytes();
        let raw = Arc::new(Raw { bytes, content_type: None });
        assert_memory("lines", &ReadText { sha: "a".into(), raw });
    }
}
