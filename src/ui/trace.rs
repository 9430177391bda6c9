//! A job's trace: output that grows, of any size. Bytes are kept as they came; what a screen needs of them is worked out for
//! the lines on it alone, so a frame costs the same for a thousand lines and for a million.

mod folds;
mod marker;

pub use folds::Folds;

use crate::ui::ansi::{self, State};
use crate::ui::doc::DocLine;
use crate::ui::layers::blend;
use crate::ui::search::{self, Found};
use crate::ui::theme::{Role, Theme};
use crate::ui::{glyph, text};
use marker::{Marker, STAMP, Stamp};
use ratatui::style::Style;
use regex::Regex;
use regex::bytes::Regex as Bytes;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// Bytes after which a block is closed and never copied again.
const BLOCK: usize = 1 << 20;
/// What is taken in at once, so that a long chunk fills many blocks.
const PIECE: usize = 1 << 18;
/// A look is remembered at least this often: every so many lines, and every so many bytes.
const CHECKPOINT_LINES: usize = 256;
const CHECKPOINT_BYTES: usize = 1 << 18;
/// Sections within sections; deeper ones are text without a heading of their own.
const DEPTH: usize = 64;

/// What is looked for as an error: the words that compilers, test runners and shells print, colours between them or not.
/// Every branch begins with plain letters, by which the search skips what cannot match.
static ERRORS: LazyLock<Option<Bytes>> = LazyLock::new(|| {
    Bytes::new(
        r"(?x-u)
        [eE]rror (?:\x1b\[[0-9;]*m)* (?:\[[A-Z]?[0-9]+\])? (?:\x1b\[[0-9;]*m)* :
        | ERROR\b | FAILED\b | FAIL: | panicked\ at\b | [fF]atal (?:\x1b\[[0-9;]*m)* : | FATAL\b
        | Traceback\ \(most | npm\ ERR! | Segmentation\ fault\b | Exception\ in\ thread\b | Job\ failed\b",
    )
    .ok()
});

/// Where errors are in some bytes.
fn errors(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let hits = ERRORS.as_ref().map(|errors| errors.find_iter(bytes).map(|hit| hit.start()));
    hits.into_iter().flatten().filter(|at| begins_word(bytes.get(..*at).unwrap_or_default()))
}

/// Whether a word begins behind `before`: `stderror:` is none, an `error:` behind a colour is.
fn begins_word(before: &[u8]) -> bool {
    let digits = |c: &u8| c.is_ascii_digit() || *c == b';';
    match before.split_last() {
        Some((b'm', colour)) => {
            let kept = colour.len() - colour.iter().rev().take(32).take_while(|c| digits(c)).count();
            colour.get(..kept).is_some_and(|rest| rest.ends_with(b"\x1b["))
        }
        Some((last, _)) => !(last.is_ascii_alphanumeric() || *last == b'_'),
        None => true,
    }
}

/// Some lines in the order of their bytes. Lines of a closed block never change, so copies of a trace share them.
#[derive(Clone, Debug, Default)]
struct Block {
    /// Number of the first line.
    first: usize,
    bytes: Vec<u8>,
    /// Where each line starts, in `bytes`.
    starts: Vec<usize>,
    /// Looks at the start of some lines (numbered within the block), the first line's among them.
    looks: Vec<(usize, State)>,
}

/// A part of the trace that the runner named and timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// The line of its heading.
    pub line: usize,
    /// One past its last line; `None` while it is open.
    pub end: Option<usize>,
    /// Seconds since 1970.
    pub started: u64,
    /// How long it took; `None` while it is open, and where its end was never written.
    pub seconds: Option<u64>,
    /// Sections around it.
    pub depth: usize,
    /// The runner asks for it to be shown folded.
    pub collapsed: bool,
}

/// The output of a job as far as it is known. Copies are cheap: they share all but the newest bytes.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    blocks: Vec<Arc<Block>>,
    bytes: u64,
    /// Where the line that has no end yet starts, in the last block.
    tail: usize,
    /// The look there, and at the start of the last line that has ended.
    state: State,
    last_state: State,
    /// Bytes since a look was remembered.
    unmarked: usize,
    /// Whether lines begin with the time; known from the first one.
    stamped: Option<bool>,
    sections: Sections,
}

/// What the bytes of one line are made of.
struct Parts<'a> {
    /// All of them: its time, markers, lines that go on from it.
    region: &'a [u8],
    /// Those before the text.
    before: &'a [u8],
    text: Cow<'a, [u8]>,
    time: Option<String>,
}

/// One line for the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Number of the line, from 0.
    pub line: usize,
    /// When it was written, `2026-06-21T00:00:00.123456Z`, where the runner says so.
    pub time: Option<String>,
    pub text: ansi::Line,
    /// This line is the heading of a section.
    pub heading: Option<Heading>,
}

/// What the heading of a section shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub folded: bool,
    pub depth: usize,
    pub seconds: Option<u64>,
}

/// How rows are laid out.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Digits of the line number; 0 hides it.
    pub numbers: usize,
    /// A column for the time of day.
    pub times: bool,
    /// Columns right of the gutter, for what stands at their end.
    pub width: usize,
}

impl Layout {
    /// Columns that the gutter takes.
    pub fn gutter(&self) -> usize {
        let numbers = if self.numbers > 0 { self.numbers + 2 } else { 0 };
        numbers + if self.times { 10 } else { 0 }
    }
}

impl Trace {
    /// Lines so far, the one that is being written included.
    pub fn len_lines(&self) -> usize {
        self.ended() + usize::from(self.tail_is_line())
    }

    /// Bytes so far, as the server counts them.
    pub fn bytes_len(&self) -> u64 {
        self.bytes
    }

    /// Headings in the order of their lines.
    pub fn sections(&self) -> &[Section] {
        &self.sections.list
    }

    /// Whether lines have a time.
    pub fn has_times(&self) -> bool {
        self.stamped == Some(true)
    }

    /// Forgets everything: the server's trace became shorter, so it is another one.
    pub fn reset(&mut self) {
        let sections = Sections { revision: self.sections.revision + 1, ..Sections::default() };
        *self = Trace { sections, ..Trace::default() };
    }

    /// Takes more bytes; they may end anywhere.
    pub fn push(&mut self, chunk: &[u8]) {
        for piece in chunk.chunks(PIECE) {
            self.bytes += piece.len() as u64;
            if self.blocks.is_empty() {
                self.blocks.push(Arc::default());
            }
            let Some(block) = self.blocks.last_mut().map(Arc::make_mut) else { return };
            let mut from = block.bytes.len();
            block.bytes.extend_from_slice(piece);
            while let Some(at) = self.newline(from) {
                self.end_line(at);
                from = at + 1;
                self.tail = from;
            }
            self.close_block();
        }
    }

    fn newline(&self, from: usize) -> Option<usize> {
        let bytes = &self.blocks.last()?.bytes;
        memchr::memchr(b'\n', bytes.get(from..)?).map(|at| from + at)
    }

    /// Starts a new block with the last line (which may still go on) when the last block is full.
    fn close_block(&mut self) {
        let Some(block) = self.blocks.last_mut().map(Arc::make_mut) else { return };
        let Some(&cut) = block.starts.last().filter(|cut| **cut >= BLOCK) else { return };
        let bytes = block.bytes.split_off(cut);
        block.starts.pop();
        let first = block.first + block.starts.len();
        block.looks.retain(|(line, _)| *line < block.starts.len());
        self.tail = self.tail.saturating_sub(cut);
        self.unmarked = 0;
        self.blocks.push(Arc::new(Block { first, bytes, starts: vec![0], looks: vec![(0, self.last_state)] }));
    }

    /// Files the bytes from `tail` to the line feed at `end`: as a line, as more of the line before, as several lines where
    /// sections begin or end within them, or as nothing where they only mark a section.
    fn end_line(&mut self, end: usize) {
        let Some(block) = self.blocks.last_mut().map(Arc::make_mut) else { return };
        let base = self.tail;
        let raw = block.bytes.get(base..end).unwrap_or_default();
        let stamp = Stamp::read(raw);
        let stamped = *self.stamped.get_or_insert(stamp.is_some());
        let stamp = stamp.filter(|_| stamped);
        let mut goes_on = stamp.is_some_and(|s| s.goes_on) && block.first + block.starts.len() > 0;
        let markers = marker::all(raw);
        let mut start = base;
        let mut at = base + if stamp.is_some() { STAMP } else { 0 };
        let mut state = self.state;
        // A section that has begun needs a line for its heading, even an empty one.
        let mut heading = false;
        for marker in &markers {
            let text = block.bytes.get(at..base + marker.start).unwrap_or_default();
            let visible = ansi::is_visible(text);
            self.state.advance(text);
            if heading || visible {
                if !std::mem::take(&mut goes_on) {
                    block.begin_line(start, state, &mut self.unmarked);
                    self.last_state = state;
                }
                heading = false;
                start = base + marker.start;
                state = self.state;
            }
            let line = block.first + block.starts.len();
            if marker.begins {
                self.sections.begin(marker, line);
                heading = true;
                goes_on = false;
            } else {
                self.sections.end(marker, line);
            }
            at = base + marker.end;
        }
        let text = block.bytes.get(at..end).unwrap_or_default();
        let keep = markers.is_empty() || heading || ansi::is_visible(text);
        self.state.advance(text);
        if keep && !goes_on {
            block.begin_line(start, state, &mut self.unmarked);
            self.last_state = state;
        }
        self.unmarked += end - base;
    }

    /// Lines that have ended.
    fn ended(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.first + block.starts.len())
    }

    fn tail_bytes(&self) -> &[u8] {
        let bytes = self.blocks.last().and_then(|block| block.bytes.get(self.tail..)).unwrap_or_default();
        bytes.get(..bytes.len().min(ansi::BYTES)).unwrap_or_default()
    }

    /// Whether the line that is being written is shown as one of its own.
    fn tail_is_line(&self) -> bool {
        let tail = self.tail_bytes();
        if self.stamped == Some(true) {
            match Stamp::read(tail) {
                Some(stamp) if stamp.goes_on && self.ended() > 0 => return false,
                Some(_) => {}
                None if tail.len() < STAMP => return false,
                None => {}
            }
        }
        ansi::is_visible(tail.get(marker::content(tail, self.stamped == Some(true))).unwrap_or_default())
    }

    fn block_of(&self, line: usize) -> Option<&Block> {
        let at = self.blocks.partition_point(|block| block.first <= line).checked_sub(1)?;
        self.blocks.get(at).map(Arc::as_ref)
    }

    /// The bytes of a line with what belongs to it (its time, markers before it, lines that go on from it).
    fn region(&self, line: usize) -> Option<&[u8]> {
        let block = self.block_of(line)?;
        let local = line - block.first;
        let last = line + 1 == self.ended();
        let (start, end) = match block.starts.get(local) {
            Some(&start) => match block.starts.get(local + 1) {
                Some(&end) => (start, end),
                None if last && self.tail_is_line() => (start, self.tail),
                None => (start, block.bytes.len()),
            },
            None if line == self.ended() => (self.tail, block.bytes.len()),
            None => return None,
        };
        block.bytes.get(start..end)
    }

    /// A line taken apart; nothing is parsed yet.
    fn line(&self, line: usize) -> Option<Parts<'_>> {
        let stamped = self.stamped == Some(true);
        let region = self.region(line)?;
        let mut raws = region.split(|b| *b == b'\n');
        let first = raws.next().unwrap_or_default();
        let time = if stamped { Stamp::read(first).map(|s| s.time.to_owned()) } else { None };
        let content = marker::content(first, stamped);
        let before = first.get(..content.start).unwrap_or_default();
        let mut text = Cow::Borrowed(first.get(content).unwrap_or_default());
        if stamped {
            for raw in raws {
                if text.len() > ansi::BYTES {
                    break;
                }
                if Stamp::read(raw).is_some_and(|s| s.goes_on) {
                    let more = raw.get(marker::content(raw, true)).unwrap_or_default();
                    text.to_mut().extend_from_slice(more.get(..more.len().min(ansi::BYTES)).unwrap_or_default());
                }
            }
        }
        Some(Parts { region, before, text, time })
    }

    /// The look at a line's start, from the nearest line where it was remembered.
    fn state_at(&self, line: usize) -> State {
        if line >= self.ended() {
            return self.state;
        }
        let Some(block) = self.block_of(line) else { return State::default() };
        let local = line - block.first;
        let near =
            block.looks.partition_point(|(at, _)| *at <= local).checked_sub(1).and_then(|at| block.looks.get(at));
        let Some((from, mut state)) = near.copied() else { return State::default() };
        let start = block.starts.get(from).copied().unwrap_or_default();
        let end = block.starts.get(local).copied().unwrap_or(start);
        state.advance(block.bytes.get(start..end).unwrap_or_default());
        state
    }

    /// The lines that stand in `rows` of the screen when `folds` are folded. Only they are worked on.
    pub fn view(&self, rows: Range<usize>, folds: &Folds) -> Vec<Row> {
        let count = rows.end.min(folds.rows(self)).saturating_sub(rows.start);
        let mut out = Vec::with_capacity(count);
        let mut known: Option<(usize, State)> = None;
        for row in rows.start..rows.start + count {
            let line = folds.line(row);
            let Some(parts) = self.line(line) else { break };
            let state = match known {
                Some((next, state)) if next == line => state,
                _ => self.state_at(line),
            };
            let mut look = state;
            look.advance(parts.before);
            let text = ansi::parse_line(&mut look, &parts.text);
            known = (parts.region.len() <= ansi::BYTES).then(|| {
                let mut state = state;
                state.advance(parts.region);
                (line + 1, state)
            });
            out.push(Row { line, time: parts.time, text: self.titled(line, text), heading: self.heading(line, folds) });
        }
        out
    }

    fn section_at(&self, line: usize) -> Option<&Section> {
        let list = &self.sections.list;
        list.binary_search_by_key(&line, |s| s.line).ok().and_then(|at| list.get(at))
    }

    fn heading(&self, line: usize, folds: &Folds) -> Option<Heading> {
        let section = self.section_at(line)?;
        Some(Heading { folded: folds.is_folded(section), depth: section.depth, seconds: section.seconds })
    }

    /// A heading that the runner left empty shows the section's name.
    fn titled(&self, line: usize, text: ansi::Line) -> ansi::Line {
        match self.section_at(line) {
            Some(section) if text.text.trim().is_empty() => {
                ansi::Line { text: section.name.replace('_', " "), ..ansi::Line::default() }
            }
            _ => text,
        }
    }

    /// The text of a line as the screen shows it.
    pub fn text(&self, line: usize) -> Option<String> {
        let parts = self.line(line)?;
        Some(self.titled(line, ansi::parse_line(&mut State::default(), &parts.text)).text)
    }

    /// Looks for `pattern` in the text of every line, until `cancelled` says so. For copies of the trace, off the loop.
    pub fn search(&self, pattern: &Regex, cancelled: &dyn Fn() -> bool) -> Found {
        let texts = (0..self.len_lines()).filter_map(|line| Some((line, self.text(line)?)));
        search::lines(texts, pattern, cancelled)
    }

    /// The first line from `from` on that looks like an error.
    pub fn next_error(&self, from: usize) -> Option<usize> {
        let first = self.blocks.partition_point(|block| block.first <= from).saturating_sub(1);
        self.blocks.iter().skip(first).find_map(|block| {
            let start = match from.checked_sub(block.first) {
                Some(local) => {
                    block.starts.get(local).copied().unwrap_or(if from > self.ended() { usize::MAX } else { self.tail })
                }
                None => 0,
            };
            let hit = errors(block.bytes.get(start..)?).next()?;
            Some(block.line_of(start + hit, self))
        })
    }

    /// The last line before `before` that looks like an error.
    pub fn previous_error(&self, before: usize) -> Option<usize> {
        let blocks = self.blocks.partition_point(|block| block.first < before);
        self.blocks.iter().take(blocks).rev().find_map(|block| {
            let mut end = match block.starts.get(before - block.first) {
                Some(&start) => start,
                None if before == self.ended() && self.tail_is_line() => self.tail,
                None => block.bytes.len(),
            };
            let mut upper = block.starts.len().min(before - block.first);
            // Backwards by some lines at a time: the last hit is near the end as a rule.
            loop {
                let lower = upper.saturating_sub(CHECKPOINT_LINES);
                let start = if lower == 0 { 0 } else { block.starts.get(lower).copied()? };
                if let Some(hit) = errors(block.bytes.get(start..end)?).last() {
                    return Some(block.line_of(start + hit, self));
                }
                if lower == 0 {
                    return None;
                }
                (upper, end) = (lower, start);
            }
        })
    }
}

impl Block {
    fn begin_line(&mut self, at: usize, state: State, unmarked: &mut usize) {
        let line = self.starts.len();
        let far = self.looks.last().is_none_or(|(marked, _)| line - marked >= CHECKPOINT_LINES);
        if far || *unmarked >= CHECKPOINT_BYTES {
            self.looks.push((line, state));
            *unmarked = 0;
        }
        self.starts.push(at);
    }

    /// The line that holds a byte of this block.
    fn line_of(&self, at: usize, trace: &Trace) -> usize {
        let line = self.first + self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        let in_tail = line + 1 == trace.ended() && at >= trace.tail && trace.tail_is_line();
        line + usize::from(in_tail)
    }
}

impl Row {
    /// The row as it is drawn; `matches` are ranges of its text with the role that marks them.
    pub fn draw(&self, theme: &Theme, layout: &Layout, matches: &[(Range<usize>, Role)]) -> DocLine<'_> {
        let mut line = DocLine::default();
        if layout.numbers > 0 {
            let number = format!("{:>1$}  ", self.line + 1, layout.numbers);
            line.gutter.push((number, theme.style(Role::LineNumber)));
        }
        if layout.times {
            let time = self.time.as_deref().and_then(|time| time.get(11..19)).unwrap_or_default();
            line.gutter.push((format!("{time:<8}  "), theme.style(Role::Dim)));
        }
        let Some(heading) = &self.heading else {
            line.spans = blend(&self.text.text, theme.style(Role::Text), &[&self.text.layer(theme)]);
            line.marks = matches.iter().map(|(range, role)| (range.clone(), theme.style(*role))).collect();
            return line;
        };
        let mark = if heading.folded { glyph::folded() } else { glyph::unfolded() };
        let mark = format!("{}{mark} ", "  ".repeat(heading.depth.min(8)));
        let shift = mark.len();
        let took = heading.seconds.map(|seconds| text::duration(seconds as f64)).unwrap_or_default();
        let room = layout.width.saturating_sub(text::width(&mark) + text::width(&took) + 1);
        let gap = room.saturating_sub(text::width_up_to(&self.text.text, room)) + 1;
        line.spans.push((mark.into(), theme.style(Role::Accent)));
        line.spans.extend(blend(&self.text.text, theme.style(Role::Title), &[&self.text.layer(theme)]));
        line.spans.push((" ".repeat(gap).into(), Style::new()));
        line.spans.push((took.into(), theme.style(Role::Dim)));
        let shifted = |range: &Range<usize>| range.start + shift..range.end + shift;
        line.marks = matches.iter().map(|(range, role)| (shifted(range), theme.style(*role))).collect();
        line
    }
}

/// The sections of a trace, as their markers come.
#[derive(Clone, Debug, Default)]
struct Sections {
    list: Vec<Section>,
    /// Sections without an end, outermost first, as places in `list`.
    open: Vec<usize>,
    /// Changes with every change of the list.
    revision: u64,
}

impl Sections {
    fn begin(&mut self, marker: &Marker, line: usize) {
        if self.open.len() == DEPTH {
            return;
        }
        self.revision += 1;
        self.list.push(Section {
            name: marker.name.clone(),
            line,
            end: None,
            started: marker.time,
            seconds: None,
            depth: self.open.len(),
            collapsed: marker.collapsed,
        });
        self.open.push(self.list.len() - 1);
    }

    /// Ends the innermost section of the marker's name and those within it; a marker without a section is left out.
    fn end(&mut self, marker: &Marker, line: usize) {
        let named = |at: &usize| self.list.get(*at).is_some_and(|s| s.name == marker.name);
        let Some(place) = self.open.iter().rposition(named) else { return };
        self.revision += 1;
        for at in self.open.drain(place..).rev() {
            if let Some(section) = self.list.get_mut(at) {
                section.end = Some(line);
                if section.name == marker.name {
                    section.seconds = marker.time.checked_sub(section.started);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
