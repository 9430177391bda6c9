//! The joined text of many lines, so that they can be searched at once. A search joins only the lines that may have a
//! match, if it knows how matches begin.

use super::blocks::Block;
use super::{LineParts, Trace};
use crate::ansi::{self, SgrState};
use crate::search::{Literals, MultilineRegex};
use std::ops::Range;

/// The size in bytes at which a page is full: large enough for the regex engine, small enough for the CPU cache.
const PAGE_BYTES: usize = 128 * 1024;

/// The least number of lines of a block that are searched one by one instead of with all others.
const MIN_CANDIDATES: usize = 64;
/// The share of a block's lines up to which this is faster.
const CANDIDATE_SHARE: usize = 16;

/// Lines as shown, each followed by a line feed.
#[derive(Debug, Default)]
pub struct TracePage {
    /// The numbers of the lines, in order.
    numbers: Vec<usize>,
    text: Vec<u8>,
    /// The position of each line's line feed.
    ends: Vec<usize>,
}

impl TracePage {
    /// Returns the matches in order: the line, and the range within it.
    pub fn matches<'a>(&'a self, pattern: &'a MultilineRegex) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
        let mut line = 0;
        pattern.matches(&self.text).filter_map(move |hit| {
            line += self.ends.get(line..).map_or(0, |ends| ends.partition_point(|end| *end < hit.start));
            let start = self.start(line);
            Some((*self.numbers.get(line)?, hit.start - start..hit.end - start))
        })
    }

    /// Returns the numbers of the matching lines.
    pub fn lines<'a>(&'a self, pattern: &'a MultilineRegex) -> impl Iterator<Item = usize> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let at = pattern.first(&self.text, from)?;
            let line = self.ends.partition_point(|end| *end < at);
            from = self.start(line + 1);
            self.numbers.get(line).copied()
        })
    }

    /// Returns the text of each line, as shown.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let mut from = 0;
        self.ends.iter().map(move |end| {
            let text = self.text.get(from..*end).unwrap_or_default();
            from = end + 1;
            // Only valid UTF-8 is appended.
            std::str::from_utf8(text).unwrap_or_default()
        })
    }

    /// Returns the text of each line, as shown, with its number.
    pub fn lines_with_numbers(&self) -> impl Iterator<Item = (usize, &str)> {
        self.numbers.iter().copied().zip(self.texts())
    }

    fn start(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| end + 1)
    }

    fn clear(&mut self) {
        self.numbers.clear();
        self.text.clear();
        self.ends.clear();
    }
}

/// Returns whether the text contains any visible ASCII characters.
fn has_words(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_graphic)
}

impl Trace {
    /// Visits the text of all lines from `from` on, a page at a time, until `each` returns `false` or `canceled`
    /// returns `true`. With `literals`, lines are left out that cannot have a match that begins with one. Spilled blocks
    /// are read; returns whether that succeeded.
    pub(super) fn each_page(
        &self,
        from: usize,
        literals: Option<&Literals>,
        canceled: &dyn Fn() -> bool,
        mut each: impl FnMut(&TracePage) -> bool,
    ) -> bool {
        let mut page = TracePage::default();
        self.each_block(from, |block, open| {
            let lines = block.starts.len() + usize::from(open && self.tail_shown);
            // A last line of escape codes alone is not shown.
            let all = block.first.max(from)..(block.first + lines).min(self.len_lines());
            let candidates = literals.and_then(|literals| self.candidates(literals, block, open, all.clone()));
            let mut lines: Box<dyn Iterator<Item = usize>> = match candidates {
                Some(lines) => Box::new(lines.into_iter()),
                None => Box::new(all),
            };
            loop {
                if canceled() {
                    return false;
                }
                page.clear();
                while page.text.len() < PAGE_BYTES
                    && let Some(line) = lines.next()
                {
                    self.append_line(block, open, line, &mut page.text);
                    page.numbers.push(line);
                    page.ends.push(page.text.len());
                    page.text.push(b'\n');
                }
                if page.numbers.is_empty() {
                    return true;
                }
                if !each(&page) {
                    return false;
                }
            }
        })
    }

    /// Returns those of the lines of a block that may have a match: the bytes contain a literal, or the text is more than
    /// the bytes. Returns `None` if these are so many that joining all lines is faster.
    fn candidates(&self, literals: &Literals, block: &Block, open: bool, all: Range<usize>) -> Option<Vec<usize>> {
        let most = MIN_CANDIDATES.max(all.len() / CANDIDATE_SHARE);
        let framed = || block.frames.iter().flat_map(|frame| frame.first as usize..frame.end_line());
        if block.special.len() + framed().count() > most {
            return None;
        }
        let special = block.special.iter().map(|line| *line as usize).chain(framed()).map(|line| block.first + line);
        // The line that is being written.
        let last = open.then(|| self.ended());
        let mut lines: Vec<usize> = special.chain(last).filter(|line| all.contains(line)).collect();
        let mut at = block.start(all.start.checked_sub(block.first)?)?;
        while let Some(found) = literals.find(&block.bytes, at) {
            if lines.len() > most {
                return None;
            }
            let line = block.line_at(found);
            lines.push(block.first + line);
            at = block.start(line + 1).unwrap_or(block.bytes.len());
        }
        lines.sort_unstable();
        lines.dedup();
        Some(lines)
    }

    /// Appends the text of a line as shown.
    pub(super) fn append_line(&self, block: &Block, open: bool, line: usize, out: &mut Vec<u8>) {
        let start = out.len();
        if self.append_plainly(block, open, line, out) && out.get(start..).is_some_and(has_words) {
            return;
        }
        out.truncate(start);
        if let Some(parts) = self.parts(block, open, line) {
            out.extend_from_slice(self.shown(block, line, &parts).as_bytes());
        }
    }

    /// Appends the text of a line on a fast path, and returns whether that was possible: there must be no markers.
    fn append_plainly(&self, block: &Block, open: bool, line: usize, out: &mut Vec<u8>) -> bool {
        if line.checked_sub(block.first).is_some_and(|local| block.frame_of(local).is_some()) {
            return false;
        }
        // Bytes after a line feed are markers.
        self.region(block, open, line).is_some_and(|region| ansi::append_text(out, region).is_some())
    }

    /// Returns the text of a line as shown on the screen.
    pub(super) fn shown(&self, block: &Block, line: usize, parts: &LineParts) -> String {
        match self.frame_line(block, line, parts) {
            Some(row) => row.text,
            None => self.titled(line, ansi::parse_line(&mut SgrState::default(), parts.text)).text,
        }
    }
}
