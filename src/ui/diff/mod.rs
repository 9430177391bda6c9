//! Diffs: parsed once from the text that a server sends, addressed by rows, and drawn row by row.

mod doc;
mod draw;
mod expand;
mod fold;
mod image_pair;
mod inset;
mod local_diff;
mod moved;
mod pairs;
mod parse;
mod rows;
mod search;
mod styles;
mod view;
mod whitespace;

pub use doc::{DiffDoc, Layout, RowContent};
pub use expand::Expansion;
pub use image_pair::{ImagePair, draw_image_pair};
pub use inset::{At, Inset, Side};
pub use local_diff::compute;
pub use moved::{Moved, moved};
pub use parse::{identity, parse};
pub use search::{DiffMatches, search};
pub use styles::{HunkStyles, PIECE_LINES, highlight_hunk};
pub use view::{DiffOptions, draw, gutter, side_width};
pub use whitespace::without_whitespace_changes;

use crate::code::{Budget, Text};
use pairs::Pair;
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The identity of a file in a diff. The path alone does not identify it: if a file becomes a link, or the other way
/// round, the diff deletes and adds a file of the same path.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileKey {
    /// The current path, or the last one of a deleted file.
    pub path: String,
    pub is_deleted: bool,
}

/// The data of a changed file as received from the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub old_path: String,
    pub new_path: String,
    /// The hunks, with or without the preceding `---` and `+++` lines. Empty for binary files, pure renames, and
    /// withheld diffs.
    pub diff: String,
    pub is_new: bool,
    pub is_renamed: bool,
    pub is_deleted: bool,
    /// Whether the server considers the file to be generated.
    pub is_generated: bool,
    /// The file mode as six octal digits, if known.
    pub old_mode: Option<String>,
    pub new_mode: Option<String>,
    /// Whether the server withheld the diff because of its size.
    pub too_large: bool,
    /// Whether the server withheld the diff until it is requested for this file alone.
    pub collapsed: bool,
    /// Whether the server tells which diffs it withheld, as GitLab does since 18.4.
    pub tells_omitted: bool,
}

/// The kind of a line in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Context,
    Added,
    Removed,
    /// The marker `\ No newline at end of file`.
    NoNewline,
    /// A line that is not part of a diff, shown as received.
    Plain,
}

/// A line of a hunk. It is kept small, since there may be a million of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: Kind,
    old: Option<NonZeroU32>,
    new: Option<NonZeroU32>,
    /// The start of its text in the text of the diff, without the sign, and the length in bytes.
    start: u32,
    len: u32,
}

impl DiffLine {
    /// The value of `start` for a line that is not in the diff. Its text is found in the blob by its new number.
    const IN_BLOB: u32 = u32::MAX;

    /// Returns the line number in the old file, counted from 1.
    pub fn old(&self) -> Option<u32> {
        self.old.map(NonZeroU32::get)
    }

    /// Returns the line number in the new file, counted from 1.
    #[allow(clippy::new_ret_no_self, clippy::wrong_self_convention)]
    pub fn new(&self) -> Option<u32> {
        self.new.map(NonZeroU32::get)
    }

    /// Returns the line number on one side.
    pub fn number(&self, side: Side) -> Option<u32> {
        match side {
            Side::Old => self.old(),
            Side::New => self.new(),
        }
    }

    /// Returns the side by which the line is addressed: the old one for removed lines, otherwise the new one.
    pub fn side(&self) -> Side {
        if self.kind == Kind::Removed { Side::Old } else { Side::New }
    }
}

/// A run of consecutive lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The indexes of its lines in the file. Empty for the rest of the file after the last hunk.
    pub lines: Range<usize>,
    /// The indexes in the file's pairs of its rows in the side-by-side layout.
    pairs: Range<usize>,
    /// Whether this stands for the rest of the file, whose length is unknown.
    is_rest: bool,
    /// The number of lines between the previous hunk, or the start of the file, and this one. `None` if the header is
    /// inconsistent.
    pub hidden: Option<u32>,
    /// The line number of its first line in the old and in the new file.
    starts: (u32, u32),
    /// The ranges of the header, `@@ -1,2 +3,4 @@`, and of the section name that follows it. Empty for text that is not
    /// a diff.
    header: Range<usize>,
    section: Range<usize>,
}

/// A difference between the ends of lines: line feeds alone, or carriage returns before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endings {
    /// Lines were added and removed with different ends.
    Changed,
    /// The file has both.
    Mixed,
}

/// The comparison of a file with an earlier version of its changes, which was reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SinceReview {
    /// A few words: `only rebased`.
    pub label: String,
    /// Whether there is nothing to review.
    pub is_reviewed: bool,
    /// The numbers of each line of the left side: in the reviewed version, and in the new base. 0 if it is not there.
    pub origins: Arc<Vec<[u32; 2]>>,
    /// Whether it waits for texts.
    pub waits: bool,
    /// The mark that the file gets when it is viewed, the same as in all changes.
    pub mark: Option<u64>,
}

/// The time that highlighting all parts of a file may still take.
#[derive(Clone, Debug)]
struct ColorBudget(Arc<AtomicU64>);

impl Default for ColorBudget {
    fn default() -> ColorBudget {
        ColorBudget(Budget::of_file())
    }
}

/// A parsed diff of one file.
#[derive(Clone, Debug, Default)]
pub struct FileDiff {
    pub source: Source,
    pub hunks: Vec<Hunk>,
    pub lines: Vec<DiffLine>,
    pub additions: usize,
    pub deletions: usize,
    /// The approximate width in columns of the widest line that the server sent.
    pub widest: usize,
    /// Whether some of the text is not a diff.
    pub malformed: bool,
    /// A hash of the paths and the text, the same in every run.
    pub identity: u64,
    /// A counter that increases when the content changes, such as by expanding lines.
    pub revision: u32,
    /// Whether only whitespace changed, and such changes are hidden.
    pub only_whitespace: bool,
    /// The old and the new size in bytes of a binary file, once requested; 0 if the file does not exist in that
    /// version.
    pub sizes: Option<(u64, u64)>,
    /// Whether the diff was computed locally from both versions, because the server did not send it.
    pub is_local: bool,
    /// The comparison with the reviewed version, where that is shown.
    pub since: Option<SinceReview>,
    /// The difference between the ends of lines, if there is one; carriage returns are shown then.
    pub endings: Option<Endings>,
    color_budget: ColorBudget,
    pairs: Vec<Pair>,
    /// The new version of the file, once lines of it were expanded.
    blob: Option<Arc<Text>>,
}

impl FileDiff {
    /// Returns whether its changes are on one side only, so that it gets the whole width.
    pub fn is_one_sided(&self) -> bool {
        self.additions == 0 || self.deletions == 0
    }

    /// Returns the text of a line without its sign.
    pub fn text(&self, line: &DiffLine) -> &str {
        if line.start == DiffLine::IN_BLOB {
            let number = line.new().unwrap_or(0) as usize;
            return self.blob.as_ref().map_or("", |blob| blob.line(number.wrapping_sub(1)));
        }
        let start = line.start as usize;
        self.source.diff.get(start..start + line.len as usize).unwrap_or_default()
    }

    /// Returns whether a line ends with a carriage return, which is not part of its text.
    fn ends_with_return(&self, line: &DiffLine) -> bool {
        if line.start == DiffLine::IN_BLOB {
            let at = line.new().and_then(|number| (number as usize).checked_sub(1));
            return at.is_some_and(|at| self.blob.as_ref().is_some_and(|blob| blob.ends_with_return(at)));
        }
        let end = line.start as usize + line.len as usize;
        self.source.diff.as_bytes().get(end) == Some(&b'\r')
    }

    /// Returns the line number to show on one side.
    fn shown_number(&self, line: &DiffLine, side: Side) -> Option<u32> {
        let number = line.number(side)?;
        let Some(since) = self.since.as_ref().filter(|since| side == Side::Old && !since.origins.is_empty()) else {
            return Some(number);
        };
        since.origins.get(number as usize - 1).map(|[reviewed, _]| *reviewed).filter(|number| *number > 0)
    }

    /// Returns whether an earlier review covers all changes of the file.
    pub fn is_reviewed(&self) -> bool {
        self.since.as_ref().is_some_and(|since| since.is_reviewed)
    }

    /// Returns whether its changes are not shown, because an earlier review covers them.
    pub fn is_left_out(&self) -> bool {
        self.is_reviewed() && self.lines.is_empty()
    }

    /// Returns the old number of a line that is in both versions of the file, by its new number.
    pub fn old_of_unchanged(&self, new: u32) -> Option<u32> {
        if let Some(line) = self.lines.iter().find(|line| line.new() == Some(new)) {
            return line.old();
        }
        let before = (0..self.hunks.len()).filter_map(|hunk| self.ends(hunk)).take_while(|ends| ends.1 <= new).last();
        let (old_end, new_end) = before.unwrap_or((1, 1));
        (new - new_end).checked_add(old_end)
    }

    /// Returns the current name of the file, or the last one if it was deleted.
    pub fn path(&self) -> &str {
        if self.source.new_path.is_empty() { &self.source.old_path } else { &self.source.new_path }
    }

    /// Returns the identity of the file in the diff.
    pub fn key(&self) -> FileKey {
        FileKey { path: self.path().to_owned(), is_deleted: self.source.is_deleted }
    }

    /// Returns the name of the file for a list: `old → new` if it was renamed.
    pub fn title(&self) -> String {
        let source = &self.source;
        if source.old_path != source.new_path && !source.old_path.is_empty() && !source.new_path.is_empty() {
            format!("{} {} {}", source.old_path, crate::glyph::arrow(), source.new_path)
        } else {
            self.path().to_owned()
        }
    }

    /// Returns why there are no lines to show, if there are none: in a word for lists, and in a sentence.
    pub fn note(&self) -> Option<(&'static str, Cow<'static, str>)> {
        let source = &self.source;
        let label = self.since.as_ref().map(|since| &since.label).filter(|label| !label.is_empty());
        // Servers that tell what they omit have sent all there is.
        let is_whole = self.is_local || source.tells_omitted;
        let (word, words) = match self.sizes {
            _ if !self.lines.is_empty() => return None,
            Some((before, now)) => {
                let [old, new] = [before, now].map(crate::text::bytes);
                let sizes = match (before, now) {
                    (0, _) => format!("{new} now"),
                    (_, 0) => format!("was {old}"),
                    _ => format!("{old} {} {new}", crate::glyph::arrow()),
                };
                return Some(("bin", format!("Binary file: {sizes}").into()));
            }
            None if let Some(label) = label => {
                return Some((if self.is_withheld() { "large" } else { "" }, label.clone().into()));
            }
            None if self.only_whitespace => ("space", "Only whitespace changed"),
            None if source.too_large => {
                ("large", "Too large: the server does not send this diff. x compares both versions")
            }
            None if source.collapsed => {
                ("large", "Collapsed by the server: the whole diff is too large. x compares both versions")
            }
            None if self.says_binary() => ("bin", "Binary file changed. Expand to see its size"),
            None if is_whole && source.is_new => ("", "New, empty file"),
            None if is_whole && source.is_deleted => ("", "Deleted, empty file"),
            None if is_whole && source.is_renamed => ("", "Renamed without changes"),
            None if is_whole && source.old_mode != source.new_mode => ("mode", "Only the file mode changed"),
            None if self.is_local => ("same", "Both versions are identical"),
            None => ("no diff", "The server sent no diff. x compares both versions"),
        };
        Some((word, words.into()))
    }

    /// Returns whether the server says that the file is binary.
    fn says_binary(&self) -> bool {
        self.source.diff.starts_with("Binary files ")
    }

    /// Returns whether both versions of the file can tell what the server did not send.
    pub fn lacks_diff(&self) -> bool {
        let is_told = self.only_whitespace || self.sizes.is_some() || self.is_local && !self.says_binary();
        self.lines.is_empty() && !is_told
    }

    /// Returns a copy with the old and the new size.
    pub fn with_sizes(&self, before: u64, now: u64) -> FileDiff {
        FileDiff { sizes: Some((before, now)), revision: self.revision + 1, ..self.clone() }
    }

    /// Returns whether the server withheld the changes.
    pub fn is_withheld(&self) -> bool {
        self.lines.is_empty() && (self.source.too_large || self.source.collapsed)
    }

    /// Returns the section of a hunk as sent by the server, such as the head of a function.
    pub fn section(&self, hunk: usize) -> &str {
        self.hunks.get(hunk).and_then(|hunk| self.source.diff.get(hunk.section.clone())).unwrap_or_default()
    }

    /// Returns the text of the bar before a hunk. It is empty if the hunk directly follows the lines above, and then
    /// has no bar.
    pub(super) fn bar(&self, hunk: usize) -> String {
        let Some(at) = self.hunks.get(hunk) else { return String::new() };
        let section = self.section(hunk);
        match at.hidden {
            None if at.is_rest => "expand to end of file".to_owned(),
            // The section of a conflict is told in any case.
            Some(0) if self.since.is_some() => section.to_owned(),
            Some(0) => String::new(),
            Some(1) => format!("expand 1 line  {section}"),
            Some(hidden) => format!("expand {} lines  {section}", crate::text::count(hidden.into())),
            None if at.header.is_empty() => "not a diff: shown as received".to_owned(),
            None => format!("{}  {section}", self.source.diff.get(at.header.clone()).unwrap_or_default()),
        }
    }

    /// Returns the hunk that contains a line.
    pub fn hunk_of(&self, line: usize) -> Option<usize> {
        let hunk = self.hunks.partition_point(|hunk| hunk.lines.end <= line);
        self.hunks.get(hunk).filter(|hunk| hunk.lines.contains(&line)).map(|_| hunk)
    }

    /// Returns the highest line number.
    fn highest(&self) -> u32 {
        let last = |hunk: &Hunk| self.lines.get(hunk.lines.clone()).unwrap_or_default().iter().rev().take(64);
        self.hunks.iter().flat_map(last).filter_map(|line| line.old().max(line.new())).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
