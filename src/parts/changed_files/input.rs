//! What is shown among changes: the replies that hold the files, and what is worked out of them off the loop.

use crate::api::commits::DiffEntry;
use crate::api::merge_requests::MergeRequest;
use crate::api::repository::Comparison;
use crate::api::{Id, Raw};
use crate::store::{Canceled, Derive};
use crate::ui::code::Text;
use crate::ui::diff::{self, DrawnPictures, FileDiff, Found, HunkStyles, Moved, Source};
use crate::ui::theme::Theme;
use std::sync::Arc;

/// Files that are parsed first.
const FIRST: usize = 50;

/// The replies that hold the entries, as they lie in the store.
#[derive(Clone)]
pub enum Entries {
    /// Of a commit.
    List(Arc<Vec<DiffEntry>>),
    /// Of a commit, page by page: more may follow.
    Pages(Vec<Arc<Vec<DiffEntry>>>),
    /// Of a merge request: the answer to its changes.
    MergeRequest(Arc<MergeRequest>),
    /// Between two refs.
    Comparison(Arc<Comparison>),
}

impl Entries {
    /// The files of a part, in the server's order; parts are parsed one after the other. Of a long reply the first part
    /// is small, so that the first files are seen before the others are read.
    pub fn part(&self, part: usize) -> &[DiffEntry] {
        let files = self.files(part);
        match (self, part) {
            (Entries::Pages(_), _) => files,
            (_, 0) => files.get(..FIRST).unwrap_or(files),
            (_, 1) => files.get(FIRST..).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The files of a page, or of the reply where it is one.
    fn files(&self, page: usize) -> &[DiffEntry] {
        match self {
            Entries::Pages(pages) => pages.get(page).map(|page| page.as_slice()).unwrap_or_default(),
            Entries::List(files) => files,
            Entries::Comparison(comparison) => &comparison.diffs,
            Entries::MergeRequest(merge_request) => {
                merge_request.changes.as_ref().and_then(Option::as_ref).map(Vec::as_slice).unwrap_or_default()
            }
        }
    }

    /// Returns how many parts there are.
    pub fn parts(&self) -> usize {
        match self {
            Entries::Pages(pages) => pages.len(),
            _ => 1 + usize::from(self.files(0).len() > FIRST),
        }
    }

    /// Returns how many files there are.
    pub fn len(&self) -> usize {
        (0..self.parts()).map(|part| self.part(part).len()).sum()
    }

    /// Returns whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is shown: the entries, and a name that is another one whenever they are. Pages that are added leave it as it
/// is.
#[derive(Clone)]
pub struct Input {
    /// The request line and when the reply came.
    pub identity: String,
    /// The reply.
    pub entries: Entries,
}

/// The versions between which the changes lie: where whole files are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revisions {
    pub project: Id,
    /// The commit before; `None` if it is not known.
    pub old: Option<String>,
    pub new: String,
}

/// Parses the files of a part of a reply.
pub struct Parse {
    /// The name of what is parsed, with how.
    pub identity: String,
    pub entries: Entries,
    pub part: usize,
    /// Whitespace alone is no change.
    pub without_spaces: bool,
}

/// The name of the files of a part.
pub fn parse_key(identity: &str, part: usize) -> String {
    format!("diff of {identity}, part {part}")
}

impl Derive for Parse {
    type Output = Vec<Arc<FileDiff>>;

    fn key(&self) -> String {
        parse_key(&self.identity, self.part)
    }

    fn weight(&self, made: &Vec<Arc<FileDiff>>) -> usize {
        // The lines of a diff take as much as its text.
        2 * made.iter().map(|file| file.source.diff.len()).sum::<usize>()
    }

    fn run(&self, canceled: Canceled<'_>) -> Vec<Arc<FileDiff>> {
        let files = self.entries.part(self.part).iter().take_while(|_| !canceled());
        let parsed = files.map(|entry| diff::parse(source(entry)));
        if self.without_spaces {
            parsed.map(|file| Arc::new(diff::without_spaces(&file))).collect()
        } else {
            parsed.map(Arc::new).collect()
        }
    }
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
    }
}

/// Works out the colors of a piece of a hunk.
pub struct Colors {
    pub identity: String,
    /// File, hunk, piece.
    pub piece: (usize, usize, usize),
    pub diff: Arc<FileDiff>,
}

/// The name of the colors of a piece of a hunk.
pub fn colors_key(identity: &str, (file, hunk, piece): (usize, usize, usize), revision: u32) -> String {
    format!("colors of file {file}, hunk {hunk}, piece {piece}, revision {revision} of {identity}")
}

impl Derive for Colors {
    type Output = HunkStyles;

    fn key(&self) -> String {
        colors_key(&self.identity, self.piece, self.diff.revision)
    }

    fn run(&self, _: Canceled<'_>) -> HunkStyles {
        diff::highlight_hunk(&self.diff, self.piece.1, self.piece.2)
    }
}

/// All files as they stand, under a name that is another one whenever they are.
pub struct AllFiles {
    pub identity: String,
    pub files: Arc<Vec<Arc<FileDiff>>>,
}

/// Looks through all files.
pub struct Search {
    pub whole: AllFiles,
    pub query: String,
}

/// The name of what a search finds.
pub fn search_key(identity: &str, query: &str) -> String {
    format!("search for {query} in {identity}")
}

impl Derive for Search {
    type Output = Found;

    fn key(&self) -> String {
        search_key(&self.whole.identity, &self.query)
    }

    fn run(&self, canceled: Canceled<'_>) -> Found {
        diff::search(&self.whole.files, &self.query, canceled)
    }
}

/// Finds blocks that moved.
pub struct FindMoves(pub AllFiles);

/// The name of the blocks that moved.
pub fn moves_key(identity: &str) -> String {
    format!("moved lines of {identity}")
}

impl Derive for FindMoves {
    type Output = Arc<Moved>;

    fn key(&self) -> String {
        moves_key(&self.0.identity)
    }

    fn run(&self, canceled: Canceled<'_>) -> Arc<Moved> {
        Arc::new(diff::moved(&self.0.files, canceled))
    }
}

/// Finds the lines of a blob.
pub struct ReadText {
    pub sha: String,
    pub raw: Arc<Raw>,
}

/// The name of the lines of a blob.
pub fn text_key(sha: &str) -> String {
    format!("lines of blob {sha}")
}

impl Derive for ReadText {
    type Output = Arc<Text>;

    fn key(&self) -> String {
        text_key(&self.sha)
    }

    fn run(&self, _: Canceled<'_>) -> Arc<Text> {
        Arc::new(Text::new(self.raw.bytes.clone()))
    }
}

/// Compares both versions of a file, if the server does not.
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

    fn run(&self, _: Canceled<'_>) -> Arc<FileDiff> {
        let mut made = diff::between(&self.file.source, &self.old, &self.new);
        made.revision = self.file.revision + 1;
        Arc::new(made)
    }
}

/// Draws both versions of a picture.
#[derive(Clone)]
pub struct Pictures {
    /// The file that it is of.
    pub file: usize,
    pub key: String,
    pub old: Option<Arc<Raw>>,
    pub new: Option<Arc<Raw>>,
    pub width: u16,
    pub theme: Theme,
}

impl Derive for Pictures {
    type Output = Arc<DrawnPictures>;

    fn key(&self) -> String {
        self.key.clone()
    }

    fn run(&self, _: Canceled<'_>) -> Arc<DrawnPictures> {
        let bytes = |raw: &'_ Option<Arc<Raw>>| raw.as_ref().map(|raw| raw.bytes.to_vec());
        let (old, new) = (bytes(&self.old), bytes(&self.new));
        Arc::new(diff::pictures(old.as_deref(), new.as_deref(), self.width, &self.theme))
    }
}
