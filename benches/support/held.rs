//! A global allocator that counts allocated bytes. The benchmarks use it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static HELD: AtomicUsize = AtomicUsize::new(0);
/// The most bytes that were allocated at the same time since [`most_during`] began.
static MOST: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of bytes allocated now.
pub fn bytes() -> usize {
    HELD.load(Ordering::Relaxed)
}

/// Returns the most bytes that were allocated in addition while `run` ran, and its value.
pub fn most_during<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let before = bytes();
    MOST.store(before, Ordering::Relaxed);
    let value = run();
    (MOST.load(Ordering::Relaxed).saturating_sub(before), value)
}

struct Counting;

// SAFETY: every call is forwarded unchanged to the system's allocator; only a counter is added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let before = HELD.fetch_add(layout.size(), Ordering::Relaxed);
        MOST.fetch_max(before + layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
