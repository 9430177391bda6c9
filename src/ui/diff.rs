//! Diffs: parsed once from the text a server sends, addressed by rows, drawn a row at a time.

mod doc;
mod draw;
mod fold;
mod grow;
mod inset;
mod made;
mod moved;
mod pairs;
mod parse;
mod pictures;
mod rows;
mod search;
mod spaces;
mod styles;
mod view;

pub use doc::{DiffDoc, Layout, Place};
pub use grow::More;
pub use inset::{At, Inset, Side};
pub use made::between;
pub use moved::{Moved, moved};
pub use parse::parse;
pub use pictures::{DrawnPictures, pictures};
pub use search::{Found, search};
pub use spaces::without_spaces;
pub use styles::{HunkStyles, highlight_hunk};
pub use view::{DiffOptions, draw, gutter};

use crate::ui::code::Text;
use pairs::Pair;
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

/// What a server says about one changed file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub old_path: String,
    pub new_path: String,
    /// Hunks, with or without the `---` and `+++` lines before them; empty for binaries, pure renames, and what was
    /// held back.
    pub diff: String,
    pub is_new: bool,
    pub is_renamed: bool,
    pub is_deleted: bool,
    /// A tool made the file, as the server sees it.
    pub is_generated: bool,
    /// Six octal digits, if they are known.
    pub old_mode: Option<String>,
    pub new_mode: Option<String>,
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

/// One line of a hunk. There may be a million of them: it is kept small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub kind: Kind,
    old: Option<NonZeroU32>,
    new: Option<NonZeroU32>,
    /// Where its text begins in the text of the diff, the sign left out, and how many bytes it has.
    start: u32,
    len: u32,
}

impl Line {
    /// The start of a line that is not in the diff: its text is that of its new number in the blob.
    const IN_BLOB: u32 = u32::MAX;

    /// Its number in the old file, from 1.
    pub fn old(&self) -> Option<u32> {
        self.old.map(NonZeroU32::get)
    }

    /// Its number in the new file, from 1.
    #[allow(clippy::new_ret_no_self, clippy::wrong_self_convention)]
    pub fn new(&self) -> Option<u32> {
        self.new.map(NonZeroU32::get)
    }

    /// Its number on one side.
    pub fn number(&self, side: Side) -> Option<u32> {
        match side {
            Side::Old => self.old(),
            Side::New => self.new(),
        }
    }

    /// The side by which people speak of it: the new one, and the old one of what is gone.
    pub fn side(&self) -> Side {
        if self.kind == Kind::Removed { Side::Old } else { Side::New }
    }
}

/// Some lines that follow one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Its lines, as places in the lines of the file; none for the rest of the file behind the last one.
    pub lines: Range<usize>,
    /// Its rows where both sides stand beside each other, as places in the pairs of the file.
    pairs: Range<usize>,
    /// It stands for the rest of the file, of which it is not known how long it is.
    rest: bool,
    /// Lines of the file between the hunk before it, or the file's start, and this one. `None` if its header says
    /// something that cannot be.
    pub hidden: Option<u32>,
    /// Where its first line stands in the old and in the new file.
    starts: (u32, u32),
    /// `@@ -1,2 +3,4 @@`, and what the server says it is within; empty for text that is not a diff.
    header: Range<usize>,
    within: Range<usize>,
}

/// One changed file, parsed.
#[derive(Clone, Debug, Default)]
pub struct FileDiff {
    pub source: Source,
    pub hunks: Vec<Hunk>,
    pub lines: Vec<Line>,
    pub additions: usize,
    pub deletions: usize,
    /// Some of the text is not a diff.
    pub malformed: bool,
    /// Another number whenever paths or text are other ones; the same in every run.
    pub identity: u64,
    /// Counts what was brought into sight.
    pub revision: u32,
    /// All that changed is whitespace, which is not shown.
    pub only_spaces: bool,
    /// Bytes before and now of what is no text, once somebody asked; 0 where it was not or is not there.
    pub sizes: Option<(u64, u64)>,
    /// It was made here of both versions, for the server did not send it.
    pub made_here: bool,
    pairs: Vec<Pair>,
    /// The new version of the file, once lines of it were brought into sight.
    blob: Option<Arc<Text>>,
}

impl FileDiff {
    /// The text of a line without its sign.
    pub fn text(&self, line: &Line) -> &str {
        if line.start == Line::IN_BLOB {
            let number = line.new().unwrap_or(0) as usize;
            return self.blob.as_ref().map_or("", |blob| blob.line(number.wrapping_sub(1)));
        }
        let start = line.start as usize;
        self.source.diff.get(start..start + line.len as usize).unwrap_or_default()
    }

    /// The file's name now, or before it was deleted.
    pub fn path(&self) -> &str {
        if self.source.new_path.is_empty() { &self.source.old_path } else { &self.source.new_path }
    }

    /// Returns how the file is called in a list: `old → new` where it was renamed.
    pub fn title(&self) -> String {
        let source = &self.source;
        if source.old_path != source.new_path && !source.old_path.is_empty() && !source.new_path.is_empty() {
            format!("{} {} {}", source.old_path, crate::ui::glyph::arrow(), source.new_path)
        } else {
            self.path().to_owned()
        }
    }

    /// Returns why there are no lines to show, if there are none.
    pub fn note(&self) -> Option<Cow<'static, str>> {
        let source = &self.source;
        let size = |bytes: u64| crate::ui::text::bytes(bytes);
        let words = match (self.sizes, ()) {
            _ if !self.lines.is_empty() => return None,
            (Some((0, now)), ()) => return Some(format!("Binary file: {} now", size(now)).into()),
            (Some((before, 0)), ()) => return Some(format!("Binary file: was {}", size(before)).into()),
            (Some((before, now)), ()) => {
                return Some(
                    format!("Binary file: {} {} {}", size(before), crate::ui::glyph::arrow(), size(now)).into(),
                );
            }
            (None, ()) if self.only_spaces => "Only whitespace changed",
            (None, ()) if self.made_here => "Both versions are identical",
            (None, ()) if source.too_large => "Too large: the server does not send this diff. x compares both versions",
            (None, ()) if source.collapsed => {
                "Collapsed by the server: the whole diff is too large. x compares both versions"
            }
            (None, ()) if source.is_renamed && !self.is_opaque() => "Renamed without changes",
            (None, ()) if source.is_new => "New, empty or binary. x shows its size",
            (None, ()) if source.is_deleted => "Deleted, empty or binary. x shows its size",
            (None, ()) if source.old_mode != source.new_mode => "Only the file mode changed",
            (None, ()) => "Binary file changed. x shows its size",
        };
        Some(words.into())
    }

    /// Returns whether something that is no text may have changed.
    pub fn is_opaque(&self) -> bool {
        let source = &self.source;
        let says_binary = source.diff.starts_with("Binary files ");
        let unsaid = source.diff.is_empty() && !source.is_renamed && !self.made_here;
        self.lines.is_empty() && !self.is_withheld() && !self.only_spaces && (says_binary || unsaid)
    }

    /// The same, with how large it was and is.
    pub fn with_sizes(&self, before: u64, now: u64) -> FileDiff {
        FileDiff { sizes: Some((before, now)), revision: self.revision + 1, ..self.clone() }
    }

    /// Returns whether the server did not send what changed in it.
    pub fn is_withheld(&self) -> bool {
        self.lines.is_empty() && (self.source.too_large || self.source.collapsed)
    }

    /// Returns what the server says a hunk is within: the head of a function, a section.
    pub fn within(&self, hunk: usize) -> &str {
        self.hunks.get(hunk).and_then(|hunk| self.source.diff.get(hunk.within.clone())).unwrap_or_default()
    }

    /// The words of the row before a hunk; empty where the hunk follows on what is above, and has no such row.
    pub(super) fn bar(&self, hunk: usize) -> String {
        let Some(at) = self.hunks.get(hunk) else { return String::new() };
        let within = self.within(hunk);
        match at.hidden {
            None if at.rest => "expand to end of file".to_owned(),
            Some(0) => String::new(),
            Some(1) => format!("expand 1 line  {within}"),
            Some(hidden) => format!("expand {} lines  {within}", crate::ui::text::count(hidden.into())),
            None if at.header.is_empty() => "not a diff: shown as received".to_owned(),
            None => format!("{}  {within}", self.source.diff.get(at.header.clone()).unwrap_or_default()),
        }
    }

    /// The hunk that holds a line.
    pub fn hunk_of(&self, line: usize) -> Option<usize> {
        let hunk = self.hunks.partition_point(|hunk| hunk.lines.end <= line);
        self.hunks.get(hunk).filter(|hunk| hunk.lines.contains(&line)).map(|_| hunk)
    }

    /// The highest line number.
    fn highest(&self) -> u32 {
        let last = |hunk: &Hunk| self.lines.get(hunk.lines.clone()).unwrap_or_default().iter().rev().take(64);
        self.hunks.iter().flat_map(last).filter_map(|line| line.old().max(line.new())).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
