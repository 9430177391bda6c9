//! The memory and the time that a piece of work takes, for tests: a counting global allocator, and the thread's clock.

// Each kind of test uses only a part of this file.
#![allow(dead_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

fn took(bytes: usize) {
    // The counters of an exiting thread are already gone.
    let _ = ALLOCATED.try_with(|all| all.set(all.get().wrapping_add(bytes)));
    let held = HELD.try_with(|held| {
        held.set(held.get().wrapping_add_unsigned(bytes));
        held.get()
    });
    let _ = PEAK.try_with(|peak| peak.set(peak.get().max(held.unwrap_or_default())));
}

// SAFETY: every call is forwarded unchanged to the system's allocator; only counters are added.
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

/// The cost of a piece of work, on the thread that ran it.
pub struct Cost {
    /// The total number of bytes allocated, whether freed or not; repeated work shows up here.
    pub allocated: usize,
    /// The peak number of bytes allocated at once, beyond those allocated before.
    pub peak: usize,
    /// The time that the processor worked on it, however busy the machine is; zero where that is not measured.
    pub cpu: Duration,
}

/// Returns the time that the processor has worked for this thread.
#[cfg(unix)]
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: The function writes to the given struct only.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn thread_time() -> Duration {
    Duration::ZERO
}

/// Returns the number of bytes that this thread has allocated and not freed.
pub fn held() -> usize {
    HELD.get().try_into().unwrap_or_default()
}

/// Runs `work` and returns its result with its cost.
pub fn cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let (allocated, held) = (ALLOCATED.get(), HELD.get());
    PEAK.set(held);
    let began = thread_time();
    let result = work();
    let cpu = thread_time() - began;
    let peak = usize::try_from(PEAK.get() - held).unwrap_or_default();
    (result, Cost { allocated: ALLOCATED.get() - allocated, peak, cpu })
}
