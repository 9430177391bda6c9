//! The lines of a trace, in blocks of about a megabyte. Blocks that do not fit into memory are spilled to a store
//! provided by the runtime. Their line counts stay here, and viewed blocks are read back for a while.

use crate::ui::ansi::{Line, State};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of spilled blocks kept in memory after reading, enough for a screen and its surroundings.
const NEAR: usize = 16;

/// The number of long lines whose parsed form is cached, more than fit on a screen.
const PARSED: usize = 128;

/// A store for bytes that do not fit into memory. Only worker threads use it.
pub trait SpillStore: Send + Sync {
    /// Stores bytes and returns their offset.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes cannot be stored.
    fn put(&self, bytes: &[u8]) -> io::Result<u64>;
    /// Returns the `len` bytes stored at the offset `at`.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes cannot be read.
    fn get(&self, at: u64, len: usize) -> io::Result<Vec<u8>>;
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
    /// The saved styles at the start of some lines (numbered within the block), including the first.
    pub looks: Vec<(u32, State)>,
}

impl Block {
    /// Returns the offset at which a line of the block starts.
    pub fn start(&self, local: usize) -> Option<usize> {
        self.starts.get(local).map(|start| *start as usize)
    }

    /// Returns the line of the block that contains a byte.
    pub fn line_at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= byte).saturating_sub(1)
    }
}

/// A closed block, either in memory or spilled.
#[derive(Debug)]
pub struct Slot {
    /// The number of the first line.
    pub first: usize,
    len: usize,
    place: Mutex<Place>,
}

#[derive(Debug)]
enum Place {
    Held(Arc<Block>),
    /// A spilled block: the offset of its bytes, and the offset and length of its packed line starts.
    Away {
        at: u64,
        index: (u64, usize),
        looks: Box<[(u32, State)]>,
        near: Option<Arc<Block>>,
    },
}

/// The number of bytes above the memory limit that may wait to be spilled. Beyond it, reading more output should pause.
const WAITING: u64 = 16 << 20;

/// The state shared by copies of a trace: the spill store and the blocks read back from it.
#[derive(Default)]
pub struct SharedBlocks {
    /// The number of bytes that may stay in memory, set when blocks are first spilled.
    keep: OnceLock<u64>,
    shelf: OnceLock<Box<dyn SpillStore>>,
    /// The number of bytes of closed blocks in memory.
    held: AtomicU64,
    near: Mutex<VecDeque<Arc<Slot>>>,
    /// Locked while blocks are spilled.
    putting: Mutex<()>,
    /// A counter of spilling and reading back, which tells viewers to update.
    turns: AtomicU64,
    trouble: Mutex<Option<String>>,
    /// The parsed long lines by line number and length, least recently used first.
    parsed: Mutex<VecDeque<((usize, usize), Line)>>,
}

impl std::fmt::Debug for SharedBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stock({} bytes held)", self.held())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slot {
    /// Registers a full block.
    pub fn new(block: Arc<Block>, stock: &SharedBlocks) -> Slot {
        stock.held.fetch_add(block.bytes.len() as u64, Ordering::Relaxed);
        Slot { first: block.first, len: block.bytes.len(), place: Mutex::new(Place::Held(block)) }
    }

    /// Returns the block if it is in memory.
    pub fn at_hand(&self) -> Option<Arc<Block>> {
        match &*lock(&self.place) {
            Place::Held(block) => Some(block.clone()),
            Place::Away { near, .. } => near.clone(),
        }
    }

    /// Returns the block from memory or from the store. Runs on a worker thread.
    pub fn read(&self, stock: &SharedBlocks) -> Option<Arc<Block>> {
        let (at, index, looks) = match &*lock(&self.place) {
            Place::Held(block) => return Some(block.clone()),
            Place::Away { near: Some(block), .. } => return Some(block.clone()),
            Place::Away { at, index, looks, .. } => (*at, *index, looks.to_vec()),
        };
        let shelf = stock.shelf.get()?;
        let read = shelf.get(at, self.len).and_then(|bytes| Ok((bytes, unpack(&shelf.get(index.0, index.1)?))));
        match read {
            Ok((bytes, starts)) => Some(Arc::new(Block { first: self.first, bytes, starts, looks })),
            Err(error) => {
                *lock(&stock.trouble) = Some(format!("cannot read back a part of the trace: {error}"));
                None
            }
        }
    }

    fn put_away(&self, stock: &SharedBlocks, shelf: &dyn SpillStore) -> io::Result<()> {
        // The lock is not held during disk access, because drawing may need the block.
        let block = match &*lock(&self.place) {
            Place::Held(block) => block.clone(),
            Place::Away { .. } => return Ok(()),
        };
        let at = shelf.put(&block.bytes)?;
        let packed = pack(&block.starts);
        let index = (shelf.put(&packed)?, packed.len());
        let looks = block.looks.clone().into_boxed_slice();
        let mut place = lock(&self.place);
        if matches!(*place, Place::Held(_)) {
            *place = Place::Away { at, index, looks, near: None };
            stock.held.fetch_sub(self.len as u64, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl SharedBlocks {
    /// Returns the number of bytes of closed blocks in memory.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// Returns whether output arrives faster than it is spilled. After an error it returns false, since everything
    /// stays in memory then.
    pub fn is_full(&self) -> bool {
        self.keep.get().is_some_and(|keep| self.held() > keep.saturating_add(WAITING)) && lock(&self.trouble).is_none()
    }

    /// Returns a parsed long line, calling `parse` unless it is cached.
    pub fn parsed(&self, key: (usize, usize), parse: impl FnOnce() -> Line) -> Line {
        let mut parsed = lock(&self.parsed);
        let known = parsed.iter().position(|(known, _)| *known == key).and_then(|at| parsed.remove(at));
        let entry = known.unwrap_or_else(|| (key, parse()));
        let line = entry.1.clone();
        parsed.push_back(entry);
        let excess = parsed.len().saturating_sub(PARSED);
        parsed.drain(..excess);
        line
    }

    /// Returns a number that changes whenever blocks are spilled or read back.
    pub fn turn(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// Returns the last error of the store.
    pub fn trouble(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    /// Spills the oldest of `slots` until at most `keep` bytes are in memory. Runs on a worker thread.
    pub fn put_away(&self, slots: &[Arc<Slot>], keep: u64, make: OpenSpillStore) {
        self.keep.get_or_init(|| keep);
        let _alone = lock(&self.putting);
        let put = || -> io::Result<()> {
            let shelf = match self.shelf.get() {
                Some(shelf) => shelf,
                None => {
                    let made = make()?;
                    self.shelf.get_or_init(|| made)
                }
            };
            for slot in slots.iter().take_while(|_| self.held() > keep) {
                slot.put_away(self, shelf.as_ref())?;
            }
            Ok(())
        };
        if let Err(error) = put() {
            *lock(&self.trouble) =
                Some(format!("the trace stays in memory, because writing it to disk failed: {error}"));
        }
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads blocks back into memory for a while. Runs on a worker thread.
    pub fn bring(&self, slots: impl Iterator<Item = Arc<Slot>>) {
        for slot in slots {
            let Some(block) = slot.read(self) else { continue };
            if let Place::Away { near, .. } = &mut *lock(&slot.place) {
                *near = Some(block);
            }
            let mut all = lock(&self.near);
            all.retain(|known| !Arc::ptr_eq(known, &slot));
            all.push_back(slot);
            while all.len() > NEAR {
                let Some(oldest) = all.pop_front() else { break };
                if let Place::Away { near, .. } = &mut *lock(&oldest.place) {
                    *near = None;
                }
            }
        }
        self.turns.fetch_add(1, Ordering::Relaxed);
    }
}

/// Encodes line starts as the distances between them, seven bits per byte. Most lines take one byte.
fn pack(starts: &[u32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(starts.len() + starts.len() / 8);
    let mut before = 0;
    for start in starts {
        let mut rest = start - before;
        before = *start;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }
    out
}

fn unpack(packed: &[u8]) -> Vec<u32> {
    let mut starts = Vec::with_capacity(packed.len());
    let (mut at, mut rest, mut shift) = (0u32, 0u32, 0);
    for byte in packed {
        rest |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            at = at.wrapping_add(rest);
            starts.push(at);
            (rest, shift) = (0, 0);
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_starts_are_packed_and_come_back() {
        let starts = [0, 1, 1, 90, 128 + 90, 300_000, 300_001, u32::MAX];
        assert_eq!(unpack(&pack(&starts)), starts);
        assert_eq!(pack(&[0, 60, 120, 180]).len(), 4);
    }
}
