//! The lines of a trace, in blocks of about a megabyte. Blocks that do not fit into memory are spilled to a store
//! provided by the runtime. Their line counts stay here, and viewed blocks are read back for a while.

use super::entries::Stamp;
use crate::ansi::{SgrState, TerminalLine};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of spilled blocks kept in memory after reading, enough for a screen and its surroundings.
const MAX_RECENTLY_READ: usize = 16;

/// The number of long lines whose parsed form is cached, more than fit on a screen.
const MAX_PARSED_LINES: usize = 128;

/// A store for bytes that do not fit into memory. Only worker threads use it.
pub trait SpillStore: Send + Sync {
    /// Appends bytes and returns their offset.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes cannot be stored.
    fn append(&self, bytes: &[u8]) -> io::Result<u64>;
    /// Returns the `len` bytes stored at the offset `at`.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes cannot be read.
    fn read_at(&self, at: u64, len: usize) -> io::Result<Vec<u8>>;
}

/// A function that opens a spill store when one is needed.
pub type OpenSpillStore = fn() -> io::Result<Box<dyn SpillStore>>;

/// A run of consecutive lines. Lines of a closed block never change, so copies of a trace share them.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The number of the first line.
    pub first: usize,
    pub bytes: Vec<u8>,
    /// The offset in `bytes` at which each line starts.
    pub starts: Vec<u32>,
    /// The time of each line, or none at all if lines have no timestamps.
    pub times: Vec<Stamp>,
    /// The saved styles at the start of some lines (numbered within the block), including the first.
    pub styles: Vec<(u32, SgrState)>,
    /// The lines (numbered within the block) whose shown text is more than their bytes without escape sequences: they
    /// have markers, control characters, or characters other than ASCII.
    pub special: Vec<u32>,
    /// The frames, in order.
    pub frames: Vec<Frame>,
}

/// Lines between which the cursor moved, so that what was written later stands over earlier text: several progress bars,
/// or a step that is drawn again with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The first line, numbered within the block.
    pub first: u32,
    pub rows: u32,
    /// The end of its bytes in those of the block.
    pub end: u32,
}

impl Frame {
    /// Returns the line after the last one, numbered within the block.
    pub fn end_line(&self) -> usize {
        self.first as usize + self.rows as usize
    }
}

impl Block {
    /// Returns the frame that contains a line, numbered within the block.
    pub fn frame_of(&self, local: usize) -> Option<&Frame> {
        let at = self.frames.partition_point(|frame| frame.first as usize <= local).checked_sub(1)?;
        self.frames.get(at).filter(|frame| local < frame.end_line())
    }

    /// Returns the bytes of a frame.
    pub fn frame_bytes(&self, frame: &Frame) -> &[u8] {
        let start = self.start(frame.first as usize).unwrap_or_default();
        self.bytes.get(start..frame.end as usize).unwrap_or_default()
    }

    /// Returns the offset at which a line of the block starts.
    pub fn start(&self, local: usize) -> Option<usize> {
        self.starts.get(local).map(|start| *start as usize)
    }

    /// Returns the time of a line of the trace, if lines have timestamps.
    pub fn time(&self, line: usize) -> Option<Stamp> {
        self.times.get(line.checked_sub(self.first)?).copied()
    }

    /// Returns the line of the block that contains a byte.
    pub fn line_at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= byte).saturating_sub(1)
    }
}

/// A closed block, either in memory or spilled.
#[derive(Debug)]
pub struct ClosedBlock {
    /// The number of the first line.
    pub first: usize,
    len: usize,
    location: Mutex<BlockLocation>,
}

#[derive(Debug)]
enum BlockLocation {
    InMemory(Arc<Block>),
    /// A spilled block: the offset of its bytes, the offset and length of its packed index, which are the starts and
    /// the times of its lines, and the number of its lines.
    Spilled {
        at: u64,
        index: (u64, usize),
        lines: usize,
        styles: Box<[(u32, SgrState)]>,
        special: Box<[u32]>,
        frames: Box<[Frame]>,
        recently_read: Option<Arc<Block>>,
    },
}

/// The number of bytes above the memory limit that may wait to be spilled. Beyond it, reading more output should pause.
const MAX_WAITING_BYTES: u64 = 16 << 20;

/// The state shared by copies of a trace: the spill store and the blocks read back from it.
#[derive(Default)]
pub struct SharedBlocks {
    /// The number of bytes that may stay in memory, set when blocks are first spilled.
    keep: OnceLock<u64>,
    store: OnceLock<Box<dyn SpillStore>>,
    /// The number of bytes of closed blocks in memory.
    bytes_in_memory: AtomicU64,
    recently_read: Mutex<VecDeque<Arc<ClosedBlock>>>,
    /// Locked while blocks are spilled.
    spilling: Mutex<()>,
    /// A counter of spilling and reading back, which tells viewers to update.
    revision: AtomicU64,
    disk_error: Mutex<Option<String>>,
    /// The parsed long lines by line number and length, least recently used first.
    parsed: Mutex<VecDeque<((usize, usize), TerminalLine)>>,
}

impl std::fmt::Debug for SharedBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedBlocks({} bytes in memory)", self.bytes_in_memory())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClosedBlock {
    /// Registers a full block.
    pub fn new(block: Arc<Block>, shared: &SharedBlocks) -> ClosedBlock {
        shared.bytes_in_memory.fetch_add(block.bytes.len() as u64, Ordering::Relaxed);
        ClosedBlock { first: block.first, len: block.bytes.len(), location: Mutex::new(BlockLocation::InMemory(block)) }
    }

    /// Returns the block if it is in memory.
    pub fn in_memory(&self) -> Option<Arc<Block>> {
        match &*lock(&self.location) {
            BlockLocation::InMemory(block) => Some(block.clone()),
            BlockLocation::Spilled { recently_read, .. } => recently_read.clone(),
        }
    }

    /// Returns the block from memory or from the store. Runs on a worker thread.
    pub fn read(&self, shared: &SharedBlocks) -> Option<Arc<Block>> {
        let (at, index, lines, styles, special, frames) = match &*lock(&self.location) {
            BlockLocation::InMemory(block) => return Some(block.clone()),
            BlockLocation::Spilled { recently_read: Some(block), .. } => return Some(block.clone()),
            BlockLocation::Spilled { at, index, lines, styles, special, frames, .. } => {
                (*at, *index, *lines, styles.to_vec(), special.to_vec(), frames.to_vec())
            }
        };
        let store = shared.store.get()?;
        let read = store.read_at(at, self.len).and_then(|bytes| Ok((bytes, unpack(&store.read_at(index.0, index.1)?))));
        match read {
            Ok((bytes, index)) => {
                let (starts, times) = index.split_at_checked(lines)?;
                let starts = starts.iter().map(|start| u32::try_from(*start).unwrap_or(u32::MAX)).collect();
                let times = times.iter().copied().map(Stamp).collect();
                Some(Arc::new(Block { first: self.first, bytes, starts, times, styles, special, frames }))
            }
            Err(error) => {
                *lock(&shared.disk_error) = Some(format!("could not read part of the trace from disk: {error}"));
                None
            }
        }
    }

    fn spill(&self, shared: &SharedBlocks, store: &dyn SpillStore) -> io::Result<()> {
        // The lock is not held during disk access, because drawing may need the block.
        let block = match &*lock(&self.location) {
            BlockLocation::InMemory(block) => block.clone(),
            BlockLocation::Spilled { .. } => return Ok(()),
        };
        let at = store.append(&block.bytes)?;
        let starts = block.starts.iter().map(|start| u64::from(*start));
        let packed = pack(starts.chain(block.times.iter().map(|time| time.0)));
        let index = (store.append(&packed)?, packed.len());
        let lines = block.starts.len();
        let styles = block.styles.clone().into_boxed_slice();
        let special = block.special.clone().into_boxed_slice();
        let frames = block.frames.clone().into_boxed_slice();
        let mut location = lock(&self.location);
        if matches!(*location, BlockLocation::InMemory(_)) {
            *location = BlockLocation::Spilled { at, index, lines, styles, special, frames, recently_read: None };
            shared.bytes_in_memory.fetch_sub(self.len as u64, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl SharedBlocks {
    /// Returns the number of bytes of closed blocks in memory.
    pub fn bytes_in_memory(&self) -> u64 {
        self.bytes_in_memory.load(Ordering::Relaxed)
    }

    /// Returns whether output arrives faster than it is spilled. After an error it returns false, since everything
    /// stays in memory then.
    pub fn is_full(&self) -> bool {
        self.keep.get().is_some_and(|keep| self.bytes_in_memory() > keep.saturating_add(MAX_WAITING_BYTES))
            && lock(&self.disk_error).is_none()
    }

    /// Returns a parsed long line, calling `parse` unless it is cached.
    pub fn parsed(&self, key: (usize, usize), parse: impl FnOnce() -> TerminalLine) -> TerminalLine {
        let mut parsed = lock(&self.parsed);
        let known = parsed.iter().position(|(known, _)| *known == key).and_then(|at| parsed.remove(at));
        let entry = known.unwrap_or_else(|| (key, parse()));
        let line = entry.1.clone();
        parsed.push_back(entry);
        let excess = parsed.len().saturating_sub(MAX_PARSED_LINES);
        parsed.drain(..excess);
        line
    }

    /// Returns a line of a frame, which starts at the line `first` and has `len` bytes, calling `parse` unless it is cached.
    pub fn parsed_row(
        &self,
        (first, len): (usize, usize),
        row: usize,
        parse: impl FnOnce() -> Vec<TerminalLine>,
    ) -> TerminalLine {
        let mut parsed = lock(&self.parsed);
        let key = (first + row, len);
        if let Some((_, line)) = parsed.iter().find(|(known, _)| *known == key) {
            return line.clone();
        }
        parsed.extend(parse().into_iter().enumerate().map(|(row, line)| ((first + row, len), line)));
        let excess = parsed.len().saturating_sub(MAX_PARSED_LINES);
        let line = parsed.iter().rev().find(|(known, _)| *known == key).map(|(_, line)| line.clone());
        parsed.drain(..excess);
        line.unwrap_or_default()
    }

    /// Returns a number that changes whenever blocks are spilled or read back.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Relaxed)
    }

    /// Returns the last error of the store.
    pub fn disk_error(&self) -> Option<String> {
        lock(&self.disk_error).clone()
    }

    /// Spills the oldest of `closed` until at most `keep` bytes are in memory. Runs on a worker thread.
    pub fn spill(&self, closed: &[Arc<ClosedBlock>], keep: u64, open: OpenSpillStore) {
        self.keep.get_or_init(|| keep);
        let _guard = lock(&self.spilling);
        let spill = || -> io::Result<()> {
            let store = match self.store.get() {
                Some(store) => store,
                None => {
                    let opened = open()?;
                    self.store.get_or_init(|| opened)
                }
            };
            for block in closed.iter().take_while(|_| self.bytes_in_memory() > keep) {
                block.spill(self, store.as_ref())?;
            }
            Ok(())
        };
        if let Err(error) = spill() {
            *lock(&self.disk_error) =
                Some(format!("could not write the trace to disk, so it stays in memory: {error}"));
        }
        self.revision.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads blocks back into memory for a while. Runs on a worker thread.
    pub fn read_back(&self, closed: impl Iterator<Item = Arc<ClosedBlock>>) {
        for closed_block in closed {
            let Some(block) = closed_block.read(self) else { continue };
            if let BlockLocation::Spilled { recently_read, .. } = &mut *lock(&closed_block.location) {
                *recently_read = Some(block);
            }
            let mut all = lock(&self.recently_read);
            all.retain(|known| !Arc::ptr_eq(known, &closed_block));
            all.push_back(closed_block);
            while all.len() > MAX_RECENTLY_READ {
                let Some(oldest) = all.pop_front() else { break };
                if let BlockLocation::Spilled { recently_read, .. } = &mut *lock(&oldest.location) {
                    *recently_read = None;
                }
            }
        }
        self.revision.fetch_add(1, Ordering::Relaxed);
    }
}

/// Encodes numbers as the distances between them, seven bits per byte. Most lines take one byte.
fn pack(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut before = 0;
    for number in numbers {
        let mut rest = number.wrapping_sub(before);
        before = number;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }
    out
}

fn unpack(packed: &[u8]) -> Vec<u64> {
    let mut numbers = Vec::with_capacity(packed.len());
    let (mut at, mut rest, mut shift) = (0u64, 0u64, 0);
    for byte in packed {
        rest |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or_default();
        shift += 7;
        if byte & 0x80 == 0 {
            at = at.wrapping_add(rest);
            numbers.push(at);
            (rest, shift) = (0, 0);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_starts_and_times_round_trip() {
        let starts = [0, 1, 1, 90, 128 + 90, 300_000, 300_001, u64::from(u32::MAX), u64::MAX, 7];
        assert_eq!(unpack(&pack(starts.into_iter())), starts);
        assert_eq!(pack([0, 60, 120, 180].into_iter()).len(), 4);
    }
}
