//! The trace of a job: growing output of any size. Bytes are kept as they arrive and parsed only for the lines on the
//! screen, so a frame costs the same for a thousand lines as for a million. Old blocks can be spilled to disk.

mod blocks;
mod compare;
mod entries;
mod folds;
mod forms;
mod marker;
mod page;
mod row;
mod scan;
mod sections;

pub use blocks::{OpenSpillStore, SpillStore};
pub use compare::{Comparison, CutReason, Missing, NewLines};
pub use entries::Stamp;
pub use folds::Folds;
pub use forms::ERRORS;
pub use row::{Heading, RowLayout, TraceRow};
pub use scan::{MAX_FILTERED_LINES, MatchingLines, Pattern, Patterns};
pub use sections::Section;

use crate::ansi::{self, SgrState};
use blocks::{Block, ClosedBlock, Frame, SharedBlocks};
use domain::growing::Sink;
use entries::{Entries, Header, Start};
use sections::Sections;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The size in bytes at which a block is closed. Closed blocks are never copied again.
const BLOCK_BYTES: usize = 1 << 20;
/// The number of bytes processed at once, so that a long chunk is split into several blocks.
const PIECE_BYTES: usize = 1 << 18;
/// The style is saved at least once in this many lines, and once in this many bytes.
const CHECKPOINT_LINES: u32 = 256;
const CHECKPOINT_BYTES: usize = 1 << 18;
/// The number of bytes kept of the start and the end of an overlong line, more than is ever shown.
const MAX_HEAD_BYTES: usize = 1 << 20;
const MAX_END_BYTES: usize = 1 << 18;

/// A complete line of at least this many bytes is parsed once instead of for every frame.
const LONG_LINE_BYTES: usize = 4096;

/// The maximum number of rows of a frame and of its bytes, so that drawing it stays cheap. Then another one begins.
const MAX_FRAME_ROWS: usize = 32;
const MAX_FRAME_BYTES: usize = 16 << 10;
/// The start of a command as the runner repeats it: no step writes over it.
const COMMAND: &[u8] = b"\x1b[32;1m$ ";

/// Maximum number of entries of one line whose time is kept.
const MAX_STAMPS: usize = 4096;

/// The number of last bytes kept as received, to verify that further output continues them.
const LAST_BYTES: usize = 512;

/// The known output of a job. Copies are cheap: they share everything but the newest bytes.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    closed: Vec<Arc<ClosedBlock>>,
    open: Arc<Block>,
    bytes: u64,
    /// The start of the incomplete last line in the open block.
    tail: usize,
    /// The style at `tail`, and at the start of the last complete line.
    state: SgrState,
    last_state: SgrState,
    /// Whether the last complete line consists only of escape sequences, as at the end of a trace. It counts as a line
    /// only once more output follows.
    escapes_only: bool,
    /// Whether the incomplete last line is shown as a line of its own.
    tail_shown: bool,
    rows: Rows,
    /// The number of bytes since a style was last saved.
    bytes_since_checkpoint: usize,
    entries: Entries,
    /// The entries of the incomplete last line: where each starts in the open block, and its time.
    stamps: Vec<(usize, Stamp)>,
    /// The state before the last line was ended for the time being, because the next entry may continue it.
    pause: Option<Box<LinePause>>,
    sections: Arc<Sections>,
    shared: Arc<SharedBlocks>,
    last: Vec<u8>,
    /// The number of times the server rewrote the trace.
    resets: u32,
    edition: Edition,
}

/// The identity of one growing text. Any other text, even of the same job, has a different number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edition(u64);

impl Default for Edition {
    fn default() -> Edition {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Edition(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The rows among which the cursor moves.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    /// The first line of the current step: lines before it are not written over.
    first: usize,
    /// The line over which the next one is written, if it is not a new one.
    cursor: Option<usize>,
}

/// The state before a line was ended, see [`Trace::resume`].
#[derive(Clone, Debug)]
struct LinePause {
    bytes: usize,
    lines: usize,
    styles: usize,
    special: usize,
    frames: usize,
    last_frame: Option<Frame>,
    rows: Rows,
    tail: usize,
    state: SgrState,
    last_state: SgrState,
    escapes_only: bool,
    bytes_since_checkpoint: usize,
    stamps: usize,
    sections: Arc<Sections>,
}

/// The parts of a line.
struct LineParts<'a> {
    /// All bytes: markers before the text, and after it.
    region: &'a [u8],
    /// The bytes before the text.
    before: &'a [u8],
    text: &'a [u8],
    time: Option<Stamp>,
    /// The frame that draws the line: its first line, its bytes, and the number of its rows.
    frame: Option<(usize, &'a [u8], usize)>,
}

impl Sink for Trace {
    fn push(&mut self, bytes: &[u8]) {
        Trace::push(self, bytes);
    }

    fn reset(&mut self) {
        Trace::reset(self);
    }

    fn received(&self) -> u64 {
        self.bytes_len()
    }

    fn in_memory(&self) -> u64 {
        self.bytes_in_memory()
    }

    fn tail(&self) -> &[u8] {
        self.last_bytes()
    }

    fn is_full(&self) -> bool {
        Trace::is_full(self)
    }
}

impl Trace {
    /// Returns the number of lines, including the one being written.
    pub fn len_lines(&self) -> usize {
        if self.tail_shown { self.ended() + 1 } else { self.ended().saturating_sub(self.escapes_only.into()) }
    }

    /// Returns the number of lines that cannot change any more.
    pub fn final_lines(&self) -> usize {
        // The cursor may still move up to the last lines of the step.
        let reach = self.ended().saturating_sub(MAX_FRAME_ROWS).max(self.rows.first);
        self.complete_lines().min(reach)
    }

    /// Returns the number of lines whose bytes are complete.
    fn complete_lines(&self) -> usize {
        let last = self.ended().saturating_sub(1);
        self.pause.as_ref().map_or(last, |pause| last.min(self.open.first + pause.lines))
    }

    /// Returns the number of bytes, as counted by the server.
    pub fn bytes_len(&self) -> u64 {
        self.bytes
    }

    /// Returns the sections in the order of their heading lines.
    pub fn sections(&self) -> &[Section] {
        &self.sections.list
    }

    /// Returns whether lines have timestamps.
    pub fn has_times(&self) -> bool {
        self.entries.are_stamped == Some(true)
    }

    /// Returns the last bytes as received.
    pub fn last_bytes(&self) -> &[u8] {
        &self.last
    }

    /// Returns a number that is unique among traces and changes when the trace is rewritten.
    pub fn edition(&self) -> u64 {
        self.edition.0
    }

    /// Returns the number of times the trace was rewritten.
    pub fn resets(&self) -> u32 {
        self.resets
    }

    /// Clears the trace because the server's current output does not start with it.
    pub fn reset(&mut self) {
        let mut sections = Sections::default();
        sections.revision = self.sections.revision + 1;
        *self = Trace { sections: Arc::new(sections), resets: self.resets.saturating_add(1), ..Trace::default() };
    }

    /// Appends bytes, which may end anywhere.
    pub fn push(&mut self, chunk: &[u8]) {
        self.last.extend_from_slice(chunk.get(chunk.len().saturating_sub(LAST_BYTES)..).unwrap_or_default());
        self.last.drain(..self.last.len().saturating_sub(LAST_BYTES));
        self.bytes += chunk.len() as u64;
        self.resume();
        self.push_entries(chunk);
        if self.entries.has_ended {
            self.pause();
        }
        self.tail_shown = self.tail_is_line();
    }

    /// Appends output that may consist of entries.
    fn push_entries(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        while !rest.is_empty() {
            if self.entries.are_stamped == Some(false) {
                return self.push_plain(rest);
            }
            if self.entries.has_begun {
                let end = memchr::memchr(b'\n', rest);
                self.append(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
                rest = end.and_then(|end| rest.get(end + 1..)).unwrap_or_default();
                self.entries.has_begun = end.is_none();
                self.entries.has_ended = end.is_some();
                continue;
            }
            if !self.entries.ahead.is_empty() {
                let len = rest.len().min(entries::HEADER_BYTES.saturating_sub(self.entries.ahead.len()));
                let (more, after) = rest.split_at(len);
                let mut start = std::mem::take(&mut self.entries.ahead);
                start.extend_from_slice(more);
                self.push_entries(&start);
                rest = after;
                continue;
            }
            match Start::of(rest) {
                Start::Unknown => {
                    self.entries.ahead = rest.to_vec();
                    return;
                }
                Start::Header(header) => {
                    self.begin_entry(&header);
                    rest = rest.get(entries::HEADER_BYTES..).unwrap_or_default();
                }
                Start::Text if self.entries.are_stamped.is_none() => self.entries.are_stamped = Some(false),
                Start::Text => self.begin_entry(&Header { stamp: Stamp(0), stream: [0; 3], continues: false }),
            }
        }
    }

    /// Begins an entry: ends the line before it, unless the entry continues that line.
    fn begin_entry(&mut self, header: &Header) {
        self.entries.are_stamped = Some(true);
        self.entries.has_begun = true;
        let is_same = header.stream == self.entries.stream;
        if std::mem::take(&mut self.entries.has_ended) && !(is_same && header.continues) {
            let line = self.open.bytes.get(self.tail..).unwrap_or_default();
            let time = self.stamps.last().map(|(_, stamp)| *stamp).unwrap_or_default();
            let kept = if is_same { line.len() } else { self.entries.hold(line, time) };
            let is_held = kept == 0 && !line.is_empty();
            Arc::make_mut(&mut self.open).bytes.truncate(self.tail + kept);
            if !is_held {
                self.finish_line();
            }
            if !is_same {
                self.rows = Rows { first: self.ended(), cursor: None };
            }
            self.stamps.clear();
        }
        self.entries.stream = header.stream;
        self.stamp(header.stamp);
        if let Some(held) = self.entries.take_held(header.stream) {
            self.append(&held);
            if !header.continues {
                self.finish_line();
                self.stamp(header.stamp);
            }
        }
    }

    /// Registers the time of the bytes that follow.
    fn stamp(&mut self, stamp: Stamp) {
        if self.stamps.len() < MAX_STAMPS {
            self.stamps.push((self.open.bytes.len(), stamp));
        }
    }

    /// Returns the time of the entry that contains a byte of the incomplete last line.
    fn time_at(&self, at: usize) -> Stamp {
        let before = self.stamps.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        self.stamps.get(before).map(|(_, stamp)| *stamp).unwrap_or_default()
    }

    /// Appends text without line feeds to the incomplete last line.
    fn append(&mut self, text: &[u8]) {
        for piece in text.chunks(PIECE_BYTES) {
            Arc::make_mut(&mut self.open).bytes.extend_from_slice(piece);
            self.shorten(None);
        }
    }

    /// Ends the incomplete last line.
    fn finish_line(&mut self) {
        let block = Arc::make_mut(&mut self.open);
        block.bytes.push(b'\n');
        let at = block.bytes.len() - 1;
        let at = self.shorten(Some(at)).unwrap_or(at);
        self.end_line(at);
        self.tail = at + 1;
        self.stamps.clear();
        self.close_block();
    }

    /// Ends the incomplete last line for the time being: the next entry may still continue it. What other streams have
    /// not finished follows as lines of its own.
    fn pause(&mut self) {
        let last = self.open.bytes.len();
        let at = self.shorten(Some(last)).unwrap_or(last);
        self.pause = Some(Box::new(LinePause {
            bytes: at,
            lines: self.open.starts.len(),
            styles: self.open.styles.len(),
            special: self.open.special.len(),
            frames: self.open.frames.len(),
            last_frame: self.open.frames.last().copied(),
            rows: self.rows,
            tail: self.tail,
            state: self.state,
            last_state: self.last_state,
            escapes_only: self.escapes_only,
            bytes_since_checkpoint: self.bytes_since_checkpoint,
            stamps: self.stamps.len(),
            sections: self.sections.clone(),
        }));
        let mut at = at;
        let mut held = self.entries.held().to_vec().into_iter();
        loop {
            Arc::make_mut(&mut self.open).bytes.push(b'\n');
            self.end_line(at);
            self.tail = at + 1;
            let Some(next) = held.next() else { break };
            self.stamps.push((self.tail, next.time));
            let bytes = &mut Arc::make_mut(&mut self.open).bytes;
            bytes.extend(next.text);
            at = bytes.len();
        }
    }

    /// Undoes [`pause`](Trace::pause).
    fn resume(&mut self) {
        let Some(pause) = self.pause.take() else { return };
        let block = Arc::make_mut(&mut self.open);
        block.bytes.truncate(pause.bytes);
        block.starts.truncate(pause.lines);
        block.times.truncate(pause.lines);
        block.styles.truncate(pause.styles);
        block.special.truncate(pause.special);
        block.frames.truncate(pause.frames);
        if let Some((last, known)) = block.frames.last_mut().zip(pause.last_frame) {
            *last = known;
        }
        self.rows = pause.rows;
        self.stamps.truncate(pause.stamps);
        (self.tail, self.state, self.last_state) = (pause.tail, pause.state, pause.last_state);
        (self.escapes_only, self.bytes_since_checkpoint) = (pause.escapes_only, pause.bytes_since_checkpoint);
        if !Arc::ptr_eq(&self.sections, &pause.sections) {
            let revision = self.sections.revision + 1;
            self.sections = pause.sections;
            Arc::make_mut(&mut self.sections).revision = revision;
        }
    }

    /// Appends output without timestamps.
    fn push_plain(&mut self, chunk: &[u8]) {
        for piece in chunk.chunks(PIECE_BYTES) {
            let block = Arc::make_mut(&mut self.open);
            let mut from = block.bytes.len();
            block.bytes.extend_from_slice(piece);
            while let Some(at) = self.newline(from) {
                let at = self.shorten(Some(at)).unwrap_or(at);
                self.end_line(at);
                from = at + 1;
                self.tail = from;
            }
            self.shorten(None);
            self.close_block();
        }
    }

    fn newline(&self, from: usize) -> Option<usize> {
        memchr::memchr(b'\n', self.open.bytes.get(from..)?).map(|at| from + at)
    }

    /// Removes the middle of an overlong line. Returns the new position of its end, if it has one.
    fn shorten(&mut self, end: Option<usize>) -> Option<usize> {
        let last = end.unwrap_or(self.open.bytes.len());
        // An unfinished line may grow further; its end is known only when it is complete.
        let most = MAX_HEAD_BYTES + if end.is_some() { MAX_END_BYTES } else { 4 * MAX_END_BYTES };
        let too_long = last.checked_sub(self.tail).is_some_and(|len| len > most);
        if !too_long {
            return end;
        }
        let (from, to) = (self.tail + MAX_HEAD_BYTES, last - MAX_END_BYTES);
        Arc::make_mut(&mut self.open).bytes.drain(from..to);
        for (start, _) in self.stamps.iter_mut().filter(|(start, _)| *start > from) {
            *start = start.saturating_sub(to - from).max(from);
        }
        end.map(|end| end - (to - from))
    }

    /// Starts a new block with the last line (which may still continue), or with the frame that contains it, if the open
    /// block is full.
    fn close_block(&mut self) {
        let Some(last) = self.open.starts.len().checked_sub(1) else { return };
        let kept = self.open.frame_of(last).map_or(last, |frame| frame.first as usize);
        let Some(cut) = self.open.start(kept).filter(|cut| *cut >= BLOCK_BYTES) else { return };
        let state = if kept == last { self.last_state } else { self.state_at(&self.open, self.open.first + kept) };
        let block = Arc::make_mut(&mut self.open);
        let bytes = block.bytes.split_off(cut);
        let starts = block.starts.split_off(kept).into_iter().map(|start| start.saturating_sub(cut as u32)).collect();
        block.styles.retain(|(line, _)| (*line as usize) < kept);
        let moved = |line: u32| line.saturating_sub(kept as u32);
        let special = block.special.split_off(block.special.partition_point(|line| (*line as usize) < kept));
        let special = special.into_iter().map(moved).collect();
        let frames = block.frames.split_off(block.frames.partition_point(|frame| (frame.first as usize) < kept));
        let move_frame =
            |frame: Frame| Frame { first: moved(frame.first), end: frame.end.saturating_sub(cut as u32), ..frame };
        let frames = frames.into_iter().map(move_frame).collect();
        block.special.shrink_to_fit();
        block.bytes.shrink_to_fit();
        block.starts.shrink_to_fit();
        let times = block.times.split_off(kept.min(block.times.len()));
        self.tail = self.tail.saturating_sub(cut);
        self.bytes_since_checkpoint = 0;
        let next = Block { first: block.first + kept, bytes, starts, times, styles: vec![(0, state)], special, frames };
        let full = std::mem::replace(&mut self.open, Arc::new(next));
        self.closed.push(Arc::new(ClosedBlock::new(full, &self.shared)));
    }

    /// Registers the bytes from `tail` to the line feed at `end`: as a line, as several lines if sections start or end
    /// within them, or as no line if they only mark a section.
    fn end_line(&mut self, end: usize) {
        let base = self.tail;
        let raw = self.open.bytes.get(base..end).unwrap_or_default();
        // Without this limit, lines of markers alone would never start a line and would stay in one block forever.
        let crowded = base - self.open.starts.last().map_or(0, |start| *start as usize).min(base) > MAX_HEAD_BYTES;
        let markers = marker::all(raw);
        let stream = self.entries.stream;
        let mut is_special = !markers.is_empty() || raw.len() > ansi::MAX_COLUMNS || ansi::has_controls(raw);
        let mut start = base;
        let mut at = base;
        let mut state = self.state;
        // A new section needs a line for its heading, even an empty one.
        let mut heading = false;
        for marker in &markers {
            let text = self.open.bytes.get(at..base + marker.start).unwrap_or_default();
            let visible = ansi::is_visible(text);
            self.state.advance(text);
            if heading || visible {
                self.begin_line(start, at, state, is_special);
                self.escapes_only = false;
                heading = false;
                start = base + marker.start;
                state = self.state;
            }
            let line = self.ended();
            if marker.is_start {
                Arc::make_mut(&mut self.sections).begin(marker, line, stream);
                heading = true;
            } else {
                Arc::make_mut(&mut self.sections).end(marker, line, stream);
            }
            at = base + marker.end;
        }
        let text = self.open.bytes.get(at..end).unwrap_or_default();
        let keep = markers.is_empty() || heading || crowded || ansi::is_visible(text);
        let is_command = text.starts_with(COMMAND);
        let is_escapes_only = keep && ansi::is_escapes_only(text);
        let keeps_text = self.state.advance(text);
        is_special |= !keeps_text;
        let may_move = markers.is_empty() && (self.rows.cursor.is_some() || !keeps_text);
        if !(may_move && self.write_in_frame(base, end, state)) {
            self.rows.cursor = None;
            if keep {
                self.escapes_only = !heading && is_escapes_only;
                self.begin_line(start, at, state, is_special);
            }
            if !markers.is_empty() || is_command {
                self.rows.first = self.ended();
            }
        }
        self.bytes_since_checkpoint += end - base;
    }

    /// Registers the bytes from `base` to the line feed at `end` as text among the last lines if the cursor moves up to
    /// them, or is there. Returns `false` if it does not, or if these lines belong to another step or are too many.
    fn write_in_frame(&mut self, base: usize, end: usize, state: SgrState) -> bool {
        let moves = ansi::row_moves(self.open.bytes.get(base..end).unwrap_or_default());
        let (from, ended) = (self.rows.cursor.unwrap_or(self.ended()), self.ended());
        if moves.up == 0 && from == ended {
            return false;
        }
        // What would be below the last line is not there yet.
        let is_within = moves.down == 0 || from + moves.down < ended;
        let lowest = from
            .checked_sub(moves.up)
            .filter(|_| is_within)
            .filter(|line| *line >= self.rows.first.max(self.open.first));
        let known = self.open.frames.last().copied().filter(|frame| self.open.first + frame.end_line() == ended);
        let other = self.open.frames.iter().rev().find(|frame| Some(**frame) != known);
        let after_others = other.map_or(0, |frame| self.open.first + frame.end_line());
        let Some(lowest) = lowest.filter(|line| *line >= after_others) else {
            self.rows.first = ended;
            return false;
        };
        let first = known.map_or(lowest, |frame| lowest.min(self.open.first + frame.first as usize)) - self.open.first;
        // A line that moves up at once adds none.
        let adds_line = from == ended && moves.writes_first;
        let rows = ended + usize::from(adds_line) - self.open.first - first;
        let bytes = end + 1 - self.open.start(first).unwrap_or(base);
        if rows > MAX_FRAME_ROWS || bytes > MAX_FRAME_BYTES {
            self.rows.first = ended;
            return false;
        }
        self.escapes_only = false;
        if adds_line {
            self.begin_line(base, base, state, true);
        }
        let frames = &mut Arc::make_mut(&mut self.open).frames;
        if known.is_some() {
            frames.pop();
        }
        frames.push(Frame { first: first as u32, rows: rows as u32, end: u32::try_from(end + 1).unwrap_or(u32::MAX) });
        let last = from.saturating_add_signed(moves.end.saturating_neg()).min(self.ended().saturating_sub(1));
        self.rows.cursor = Some(last + 1).filter(|line| *line < self.ended());
        true
    }

    /// Begins a line at `start`, in `state`. Its text starts at `text`.
    fn begin_line(&mut self, start: usize, text: usize, state: SgrState, is_special: bool) {
        let time = self.has_times().then(|| self.time_at(text));
        let block = Arc::make_mut(&mut self.open);
        block.special.extend(is_special.then_some(block.starts.len() as u32));
        block.begin_line(start, state, &mut self.bytes_since_checkpoint);
        block.times.extend(time);
        self.last_state = state;
    }

    /// Returns the number of complete lines.
    fn ended(&self) -> usize {
        self.open.first + self.open.starts.len()
    }

    fn tail_bytes(&self) -> &[u8] {
        let bytes = self.open.bytes.get(self.tail..).unwrap_or_default();
        bytes.get(..bytes.len().min(ansi::MAX_BYTES)).unwrap_or_default()
    }

    /// Returns whether the line being written is shown as a line of its own.
    fn tail_is_line(&self) -> bool {
        let tail = self.tail_bytes();
        ansi::is_visible(tail.get(marker::content(tail)).unwrap_or_default())
    }

    /// Returns the block of a line if it is in memory, and whether it is the open one.
    fn block_of(&self, line: usize) -> Option<(Arc<Block>, bool)> {
        if line >= self.open.first {
            return Some((self.open.clone(), true));
        }
        Some((self.closed_block_of(line)?.in_memory()?, false))
    }

    fn closed_block_of(&self, line: usize) -> Option<&Arc<ClosedBlock>> {
        let at = self.closed.partition_point(|block| block.first <= line).checked_sub(1)?;
        self.closed.get(at).filter(|_| line < self.open.first)
    }

    /// Returns the bytes of a line with everything that belongs to it: markers before it, and lines of markers after it.
    fn region<'b>(&self, block: &'b Block, open: bool, line: usize) -> Option<&'b [u8]> {
        let local = line.checked_sub(block.first)?;
        let last = open && line + 1 == self.ended();
        let (start, end) = match (block.start(local), block.start(local + 1)) {
            (Some(start), Some(end)) => (start, end),
            (Some(start), None) if last && self.tail_shown => (start, self.tail),
            (Some(start), None) => (start, block.bytes.len()),
            (None, _) if open && line == self.ended() => (self.tail, block.bytes.len()),
            (None, _) => return None,
        };
        block.bytes.get(start..end)
    }

    /// Splits a line into its parts without parsing the text.
    fn parts<'b>(&self, block: &'b Block, open: bool, line: usize) -> Option<LineParts<'b>> {
        let region = self.region(block, open, line)?;
        let first = region.split(|b| *b == b'\n').next().unwrap_or_default();
        let content = marker::content(first);
        let before = first.get(..content.start).unwrap_or_default();
        let text = first.get(content).unwrap_or_default();
        let is_tail = open && line == self.ended();
        let time = if is_tail { self.stamps.first().map(|(_, stamp)| *stamp) } else { block.time(line) };
        let time = time.filter(|time| *time != Stamp(0));
        let frame = block.frame_of(line - block.first).filter(|_| !is_tail);
        let frame = frame.map(|f| (block.first + f.first as usize, block.frame_bytes(f), f.rows as usize));
        Some(LineParts { region, before, text, time, frame })
    }

    /// Returns the style at the start of a line, computed from the nearest line with a saved style.
    fn state_at(&self, block: &Block, line: usize) -> SgrState {
        if line >= self.ended() {
            return self.state;
        }
        let local = line.saturating_sub(block.first);
        let near = block.styles.partition_point(|(at, _)| *at as usize <= local).checked_sub(1);
        let Some((from, mut state)) = near.and_then(|at| block.styles.get(at)).copied() else {
            return SgrState::default();
        };
        let start = block.start(from as usize).unwrap_or_default();
        let end = block.start(local).unwrap_or(start);
        state.advance(block.bytes.get(start..end).unwrap_or_default());
        state
    }

    /// Returns the lines in the screen rows `rows`, given the folded sections. Only these lines are parsed.
    pub fn view(&self, rows: Range<usize>, folds: &Folds) -> Vec<TraceRow> {
        let end = rows.end.min(folds.rows(self));
        self.view_lines((rows.start..end).map(|row| folds.line(row)), folds)
    }

    /// Returns the given lines that exist. Only these lines are parsed; those of spilled blocks are placeholders.
    pub fn view_lines(&self, lines: impl Iterator<Item = usize>, folds: &Folds) -> Vec<TraceRow> {
        let mut out = Vec::new();
        let mut known: Option<(usize, SgrState)> = None;
        for line in lines.take_while(|line| *line < self.len_lines()) {
            let heading = self.heading(line, folds);
            let Some((block, open)) = self.block_of(line) else {
                out.push(TraceRow { line, time: None, text: ansi::TerminalLine::default(), heading, is_spilled: true });
                continue;
            };
            let Some(parts) = self.parts(&block, open, line) else { break };
            let state = match known {
                Some((next, state)) if next == line => state,
                _ => self.state_at(&block, line),
            };
            let mut text_state = state;
            text_state.advance(parts.before);
            let mut parse = || ansi::parse_line(&mut text_state, parts.text);
            let text = if parts.frame.is_some() {
                self.frame_line(&block, line, &parts).unwrap_or_default()
            } else if parts.text.len() < LONG_LINE_BYTES || line >= self.complete_lines() {
                parse()
            } else {
                self.shared.parsed((line, parts.region.len()), parse)
            };
            known = (parts.region.len() <= ansi::MAX_BYTES && parts.frame.is_none()).then(|| {
                let mut state = state;
                state.advance(parts.region);
                (line + 1, state)
            });
            out.push(TraceRow { line, time: parts.time, text: self.titled(line, text), heading, is_spilled: false });
        }
        out
    }

    /// Returns a line that is drawn by a frame.
    fn frame_line(&self, block: &Block, line: usize, parts: &LineParts) -> Option<ansi::TerminalLine> {
        let (first, bytes, rows) = parts.frame?;
        let parse = || ansi::parse_rows(&mut self.state_at(block, first), bytes, rows);
        Some(self.shared.parsed_row((first, bytes.len()), line - first, parse))
    }

    /// Returns the indexes of the blocks of `lines` that are spilled and not in memory, in order.
    pub fn spilled_blocks(&self, lines: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut spilled: Vec<usize> = Vec::new();
        for line in lines.take_while(|line| *line < self.open.first) {
            let Some(at) = self.closed.partition_point(|block| block.first <= line).checked_sub(1) else { continue };
            if !spilled.contains(&at) && self.closed.get(at).is_some_and(|block| block.in_memory().is_none()) {
                spilled.push(at);
            }
        }
        spilled
    }

    /// Reads blocks back into memory for a while. This reads from the disk.
    pub fn read_back(&self, blocks: &[usize]) {
        self.shared.read_back(blocks.iter().filter_map(|at| self.closed.get(*at).cloned()));
    }

    /// Returns a number that changes whenever blocks are spilled or read back.
    pub fn spill_revision(&self) -> u64 {
        self.shared.revision()
    }

    /// Returns the approximate number of bytes in memory.
    pub fn bytes_in_memory(&self) -> u64 {
        self.shared.bytes_in_memory() + self.open.bytes.len() as u64
    }

    /// Returns whether more than `keep` bytes are in memory that could be spilled.
    pub fn exceeds(&self, keep: u64) -> bool {
        self.shared.bytes_in_memory() > keep && self.shared.disk_error().is_none()
    }

    /// Returns whether output arrives faster than it is spilled.
    pub fn is_full(&self) -> bool {
        self.shared.is_full()
    }

    /// Spills the oldest blocks until at most `keep` bytes are in memory. This writes to the disk.
    pub fn spill(&self, keep: u64, open: OpenSpillStore) {
        self.shared.spill(&self.closed, keep, open);
    }

    /// Returns the last disk error.
    pub fn disk_error(&self) -> Option<String> {
        self.shared.disk_error()
    }

    fn section_at(&self, line: usize) -> Option<&Section> {
        let list = &self.sections.list;
        list.binary_search_by_key(&line, |s| s.line).ok().and_then(|at| list.get(at))
    }

    fn heading(&self, line: usize, folds: &Folds) -> Option<Heading> {
        let section = self.section_at(line)?;
        Some(Heading { folded: folds.is_folded(section), depth: section.depth, seconds: section.seconds })
    }

    /// Uses the section's name as the heading if the runner left the heading empty.
    fn titled(&self, line: usize, text: ansi::TerminalLine) -> ansi::TerminalLine {
        match self.section_at(line) {
            Some(section) if text.text.trim().is_empty() => {
                ansi::TerminalLine { text: section.name.replace('_', " "), ..ansi::TerminalLine::default() }
            }
            _ => text,
        }
    }

    /// Returns the text of a line as shown on the screen, or `None` if it is not in memory.
    pub fn text(&self, line: usize) -> Option<String> {
        let (block, open) = self.block_of(line)?;
        let parts = self.parts(&block, open, line)?;
        Some(self.shown(&block, line, &parts))
    }
}

impl Block {
    fn begin_line(&mut self, at: usize, state: SgrState, bytes_since_checkpoint: &mut usize) {
        let line = self.starts.len() as u32;
        let far = self.styles.last().is_none_or(|(marked, _)| line - marked >= CHECKPOINT_LINES);
        if far || *bytes_since_checkpoint >= CHECKPOINT_BYTES {
            self.styles.push((line, state));
            *bytes_since_checkpoint = 0;
        }
        // A block is closed, and a line shortened, long before this overflows.
        self.starts.push(u32::try_from(at).unwrap_or(u32::MAX));
    }
}

#[cfg(test)]
mod tests;
