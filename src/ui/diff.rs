//! Diffs: parsed once from the text a server sends, addressed by rows, drawn a row at a time.

mod doc;
mod parse;
mod styles;

pub use doc::{DiffDoc, Place};
pub use parse::parse;
pub use styles::{HunkStyles, highlight_hunk};

use std::ops::Range;

/// What a server says about one changed file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub old_path: String,
    pub new_path: String,
    /// Hunks, with or without the `---` and `+++` lines before them; empty for binaries, pure renames, and what was held back.
    pub diff: String,
    pub is_new: bool,
    pub is_renamed: bool,
    pub is_deleted: bool,
    /// The server held the text back because of its size.
    pub too_large: bool,
    /// The server held the text back until it is asked for this file alone.
    pub collapsed: bool,
}

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Context,
    Added,
    Removed,
    /// `\ No newline at end of file`.
    NoNewline,
    /// Not a line of a diff: shown as it came.
    Plain,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub kind: Kind,
    /// Its number in the old and in the new file, from 1.
    pub old: Option<u32>,
    pub new: Option<u32>,
    /// Its bytes in the text of the diff, the sign left out.
    range: Range<usize>,
}

/// Some lines that follow one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its lines, as places in the lines of the file.
    pub lines: Range<usize>,
    /// `@@ -1,2 +3,4 @@`, and what the server says it is within; empty for text that is not a diff.
    header: Range<usize>,
    within: Range<usize>,
}

/// One changed file, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    pub source: Source,
    pub hunks: Vec<Hunk>,
    pub lines: Vec<Line>,
    pub additions: usize,
    pub deletions: usize,
    /// Some of the text is not a diff.
    pub malformed: bool,
}

impl FileDiff {
    /// The text of a line without its sign.
    pub fn text(&self, line: &Line) -> &str {
        self.source.diff.get(line.range.clone()).unwrap_or_default()
    }

    /// The file's name now, or before it was deleted.
    pub fn path(&self) -> &str {
        if self.source.new_path.is_empty() { &self.source.old_path } else { &self.source.new_path }
    }

    /// How the file is called in a list: `old → new` where it was renamed.
    pub fn title(&self) -> String {
        let source = &self.source;
        if source.old_path != source.new_path && !source.old_path.is_empty() && !source.new_path.is_empty() {
            format!("{} {} {}", source.old_path, crate::ui::glyph::arrow(), source.new_path)
        } else {
            self.path().to_owned()
        }
    }

    /// Why there are no lines to show, where there are none.
    pub fn note(&self) -> Option<&'static str> {
        let source = &self.source;
        match () {
            () if !self.lines.is_empty() => None,
            () if source.too_large => Some("Too large: the server does not send this diff"),
            () if source.collapsed => Some("Held back by the server: the whole diff is too large"),
            () if source.is_renamed => Some("Renamed, the content is the same"),
            () if source.is_new => Some("New, empty or not text"),
            () if source.is_deleted => Some("Deleted, was empty or not text"),
            () => Some("No text changed: a binary, or its mode"),
        }
    }

    /// The highest line number.
    fn highest(&self) -> u32 {
        let last = |hunk: &Hunk| self.lines.get(hunk.lines.clone()).unwrap_or_default().iter().rev().take(64);
        self.hunks.iter().flat_map(last).filter_map(|line| line.old.max(line.new)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
