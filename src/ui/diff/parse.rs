//! Parsing of the diff of one file. Whatever the text contains, all of it remains visible.

use super::{DiffLine, Endings, FileDiff, Hunk, Kind, Source};
use domain::edits::HunkHeader;
use std::num::NonZeroU32;
use std::ops::Range;

/// The number of columns that a tab usually takes.
const TAB_COLUMNS: usize = 4;

/// The lines before the first hunk that add nothing to [`Source`].
const HEADERS: &[&str] = &[
    "--- ",
    "+++ ",
    "diff ",
    "index ",
    "old mode ",
    "new mode ",
    "deleted file ",
    "new file ",
    "similarity ",
    "dissimilarity ",
    "rename ",
    "copy ",
    "Binary files ",
];

/// The current line numbers of both sides, and the number of lines left in the hunk on each.
#[derive(Default)]
struct Counters {
    old: u32,
    new: u32,
    old_left: u32,
    new_left: u32,
}

/// Parses the diff of one file. Text that is not a diff becomes plain lines.
pub fn parse(source: Source) -> FileDiff {
    let mut file = FileDiff::default();
    let mut counters = Counters::default();
    let text = source.diff.as_str();
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let len = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = rest.get(..len).unwrap_or_default();
        read(&mut file, &mut counters, line, at..at + line.len());
        at += len + 1;
    }
    file.source = source;
    end(&mut file);
    finish(&mut file);
    file.widest = file.lines.iter().map(|line| columns(file.text(line))).max().unwrap_or(0);
    file.endings = endings(&file);
    file.identity = identity(&file.source);
    file
}

/// Returns about how many columns a line takes, without finding its symbols.
fn columns(text: &str) -> usize {
    let column = |byte: u8| match byte {
        b'\t' => TAB_COLUMNS,
        // The first byte of a character counts, the others do not.
        0x80..0xc0 => 0,
        _ => 1,
    };
    text.bytes().map(column).sum()
}

/// Compares the ends of all lines.
fn endings(file: &FileDiff) -> Option<Endings> {
    // Whether there are lines without and with a carriage return: removed, added, and unchanged ones.
    let mut seen = [[false; 2]; 3];
    for (at, line) in file.lines.iter().enumerate() {
        let side = match line.kind {
            Kind::Removed => 0,
            Kind::Added => 1,
            Kind::Context => 2,
            Kind::NoNewline | Kind::Plain => continue,
        };
        // The last line of a file may have no end.
        let is_last = file.lines.get(at + 1).is_some_and(|next| next.kind == Kind::NoNewline);
        let end = usize::from(file.ends_with_return(line));
        if !is_last && let Some(seen) = seen.get_mut(side).and_then(|side| side.get_mut(end)) {
            *seen = true;
        }
    }
    let [[removed_lf, removed_cr], [added_lf, added_cr], [lf, cr]] = seen;
    match () {
        () if removed_lf && added_cr || removed_cr && added_lf => Some(Endings::Changed),
        () if (removed_lf || added_lf || lf) && (removed_cr || added_cr || cr) => Some(Endings::Mixed),
        () => None,
    }
}

/// The number of context lines after the last change of a diff, if the file has as many.
const CONTEXT: usize = 3;

/// Adds a hunk without lines for the rest of the file, if the file may continue after its last hunk.
fn end(file: &mut FileDiff) {
    let source = &file.source;
    if source.is_new || source.is_deleted || file.malformed {
        return;
    }
    let context = file.lines.iter().rev().take_while(|line| line.kind == Kind::Context).count();
    if context >= CONTEXT && context < file.lines.len() {
        let at = file.lines.len();
        let starts = file.ends(file.hunks.len() - 1).unwrap_or_default();
        file.hunks.push(Hunk { lines: at..at, starts, is_rest: true, ..Hunk::default() });
    }
}

/// Recomputes the data derived from hunks and lines after they changed.
pub(super) fn finish(file: &mut FileDiff) {
    measure(file);
    super::pairs::pair_hunks(file);
}

/// Computes a hash of the paths and the text: FNV-1a over words of eight bytes.
pub fn identity(source: &Source) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |word: u64| hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    for text in [&source.old_path, &source.new_path, &source.diff] {
        for chunk in text.as_bytes().chunks(8) {
            take(chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        take(text.len() as u64);
    }
    hash
}

/// Computes the number of hidden lines before each hunk.
fn measure(file: &mut FileDiff) {
    let length = file.blob.as_ref().and_then(|blob| u32::try_from(blob.len()).ok());
    // The next line numbers on both sides, if the previous hunks are consistent.
    let mut next = Some((1, 1));
    for at in 0..file.hunks.len() {
        let ends = file.ends(at);
        let Some(hunk) = file.hunks.get_mut(at) else { continue };
        let headed = hunk.is_rest || !hunk.header.is_empty();
        hunk.hidden = next.and_then(|(next_old, next_new): (u32, u32)| {
            if hunk.is_rest {
                return length?.checked_add(1)?.checked_sub(next_new);
            }
            let hidden = hunk.starts.1.checked_sub(next_new)?;
            (hunk.starts.0.checked_sub(next_old)? == hidden && headed).then_some(hidden)
        });
        next = ends.filter(|_| headed);
    }
}

fn read(file: &mut FileDiff, counters: &mut Counters, line: &str, range: Range<usize>) {
    let inside = counters.old_left > 0 || counters.new_left > 0;
    // No line of a hunk can look like this, so a hunk with wrong counts ends here.
    if let Some(HunkHeader { old, new, len }) = HunkHeader::parse(line) {
        let next = Counters { old: old.0, new: new.0, old_left: old.1, new_left: new.1 };
        let (start, end) = (file.lines.len(), range.start + len);
        let section = end + usize::from(line.get(len..).is_some_and(|rest| rest.starts_with(' ')));
        file.hunks.push(Hunk {
            lines: start..start,
            // For a side without lines, the header gives the number of the line before it.
            starts: (
                next.old.saturating_add(u32::from(next.old_left == 0)),
                next.new.saturating_add(u32::from(next.new_left == 0)),
            ),
            header: range.start..end,
            section: section..range.end,
            ..Hunk::default()
        });
        file.malformed |= inside;
        *counters = next;
        return;
    }
    let unread = line.is_empty() || HEADERS.iter().any(|header| line.starts_with(header));
    if !inside && unread && (file.hunks.is_empty() || line.starts_with("--- ") || line.starts_with("+++ ")) {
        return;
    }
    let body = range.start + 1..range.end;
    let (kind, range) = match line.as_bytes().first() {
        Some(b'+') if inside => (Kind::Added, body),
        Some(b'-') if inside => (Kind::Removed, body),
        Some(b' ') if inside => (Kind::Context, body),
        // Mailers and editors strip trailing spaces, including the sign of an empty line.
        _ if inside && matches!(line, "" | "\r") => (Kind::Context, range.start..range.start),
        Some(b'\\') if !file.hunks.is_empty() => (Kind::NoNewline, body),
        _ => (Kind::Plain, range),
    };
    // The line ending is not part of the line. A carriage return before it would be drawn as a symbol on every line.
    let end = if line.ends_with('\r') && range.end > range.start { range.end - 1 } else { range.end };
    let range = range.start..end;
    let (mut old, mut new) = (None, None);
    if matches!(kind, Kind::Context | Kind::Removed) {
        old = NonZeroU32::new(counters.old);
        counters.old = counters.old.saturating_add(1);
        counters.old_left = counters.old_left.saturating_sub(1);
    }
    if matches!(kind, Kind::Context | Kind::Added) {
        new = NonZeroU32::new(counters.new);
        counters.new = counters.new.saturating_add(1);
        counters.new_left = counters.new_left.saturating_sub(1);
    }
    file.additions += usize::from(kind == Kind::Added);
    file.deletions += usize::from(kind == Kind::Removed);
    if kind == Kind::Plain {
        file.malformed = true;
        *counters = Counters::default();
        let headed = file.hunks.last().is_some_and(|hunk| !hunk.header.is_empty());
        if file.hunks.is_empty() || headed {
            let start = file.lines.len();
            file.hunks.push(Hunk { lines: start..start, ..Hunk::default() });
        }
    }
    // Lines beyond four gigabytes of text are not shown; no server sends as much.
    let start = u32::try_from(range.start).unwrap_or(u32::MAX);
    file.lines.push(DiffLine { kind, old, new, start, len: range.len().min(u32::MAX as usize) as u32 });
    if let Some(hunk) = file.hunks.last_mut() {
        hunk.lines.end = file.lines.len();
    }
}
