//! What a piece of work costs in memory: an allocator that counts.

// Each kind of tests uses a part of it.
#![allow(dead_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

fn took(bytes: usize) {
    // A thread that ends has no counters any more.
    let _ = ALLOCATED.try_with(|all| all.set(all.get().wrapping_add(bytes)));
    let held = HELD.try_with(|held| {
        held.set(held.get().wrapping_add_unsigned(bytes));
        held.get()
    });
    let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.unwrap_or_default())));
}

// SAFETY: every call is handed on to the system's allocator as it came; only counters are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let _ = HELD.try_with(|held| held.set(held.get().wrapping_sub_unsigned(layout.size())));
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a piece of work took, on the thread that did it.
pub struct Cost {
    /// Bytes that were asked for in all, given back or not: work that is repeated shows here.
    pub allocated: usize,
    /// The most bytes that were held at once, beyond those held before.
    pub peak: usize,
}

/// Bytes that this thread asked for and did not give back.
pub fn held() -> usize {
    HELD.get().try_into().unwrap_or_default()
}

/// Does it, and says what it took.
pub fn cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let (allocated, held) = (ALLOCATED.get(), HELD.get());
    PEAK.set(held);
    let result = work();
    let peak = usize::try_from(PEAK.get() - held).unwrap_or_default();
    (result, Cost { allocated: ALLOCATED.get() - allocated, peak })
}
