//! The text of many lines in one piece, so that a search goes over all of them at once.

use super::blocks::Block;
use super::marker::{STAMP, Stamp};
use super::{Parts, Trace};
use crate::ui::ansi::{self, State};
use crate::ui::search::Across;
use std::ops::Range;

/// Bytes of text after which a page is full: large enough for the engine, small enough for the processor's cache.
const FULL: usize = 128 * 1024;

/// Lines that follow one another, as they are shown, each with a line feed behind it.
#[derive(Debug, Default)]
pub struct Page {
    /// Number of the first line.
    first: usize,
    text: Vec<u8>,
    /// Where the line feed of each line is.
    ends: Vec<usize>,
}

impl Page {
    /// Returns what is found in its lines, in order: the line, and where in it.
    pub fn matches<'a>(&'a self, pattern: &'a Across) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
        let mut line = 0;
        pattern.matches(&self.text).map(move |hit| {
            line += self.ends.get(line..).map_or(0, |ends| ends.partition_point(|end| *end < hit.start));
            let start = self.start(line);
            (self.first + line, hit.start - start..hit.end - start)
        })
    }

    /// The lines that match.
    pub fn lines<'a>(&'a self, pattern: &'a Across) -> impl Iterator<Item = usize> + 'a {
        let mut from = 0;
        std::iter::from_fn(move || {
            let at = pattern.first(&self.text, from)?;
            let line = self.ends.partition_point(|end| *end < at);
            from = self.start(line + 1);
            Some(self.first + line)
        })
    }

    /// Returns all of it, as it is shown.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let mut from = 0;
        self.ends.iter().map(move |end| {
            let text = self.text.get(from..*end).unwrap_or_default();
            from = end + 1;
            // Nothing else was put there.
            std::str::from_utf8(text).unwrap_or_default()
        })
    }

    fn start(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| end + 1)
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// Returns whether anything but blanks is in a text.
fn has_words(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_graphic)
}

impl Trace {
    /// The text of all lines from `from` on, many at a time, until `each` says that it is enough, or `canceled` does.
    /// Blocks that are away are read.
    pub(super) fn each_page(&self, from: usize, canceled: &dyn Fn() -> bool, mut each: impl FnMut(&Page) -> bool) {
        let mut page = Page::default();
        self.each_block(from, |block, open| {
            let lines = block.starts.len() + usize::from(open && self.tail_shown);
            let (mut line, end) = (block.first.max(from), block.first + lines);
            while line < end {
                if canceled() {
                    return false;
                }
                page.clear();
                page.first = line;
                while line < end && page.text.len() < FULL {
                    self.append_line(block, open, line, &mut page.text);
                    page.ends.push(page.text.len());
                    page.text.push(b'\n');
                    line += 1;
                }
                if !each(&page) {
                    return false;
                }
            }
            true
        });
    }

    /// Appends the text of a line as it is shown.
    fn append_line(&self, block: &Block, open: bool, line: usize, out: &mut Vec<u8>) {
        let start = out.len();
        if self.append_plainly(block, open, line, out) && out.get(start..).is_some_and(has_words) {
            return;
        }
        out.truncate(start);
        if let Some(parts) = self.parts(block, open, line) {
            out.extend_from_slice(self.shown(line, &parts).as_bytes());
        }
    }

    /// The same where nothing stands in the way: no markers, no lines that go on from this one.
    fn append_plainly(&self, block: &Block, open: bool, line: usize, out: &mut Vec<u8>) -> bool {
        let Some(mut region) = self.region(block, open, line) else { return false };
        let stamped = self.stamped == Some(true);
        if stamped && Stamp::read(region).is_some() {
            region = region.get(STAMP..).unwrap_or_default();
        }
        let end = ansi::append_text(out, region);
        // What follows a line feed goes on from this line, where lines have a time, and is a marker else.
        end.is_some_and(|end| !stamped || end + 1 >= region.len())
    }

    /// The text of a line as the screen shows it.
    pub(super) fn shown(&self, line: usize, parts: &Parts) -> String {
        self.titled(line, ansi::parse_line(&mut State::default(), &parts.text)).text
    }
}
