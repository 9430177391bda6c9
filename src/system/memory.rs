//! Returning freed memory to the system.

/// The size in bytes from which the allocator maps memory separately, which is returned to the system when freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MMAP_THRESHOLD: libc::c_int = 256 * 1024;

/// The maximum number of heaps. By default glibc creates one for each thread, up to eight for each core, and each keeps
/// what its threads have freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAX_HEAPS: libc::c_int = 2;

/// Configures the allocator not to keep large freed memory. By default glibc would keep it, so that the memory of
/// spilled trace blocks would stay with the process, several times as much as it may use. Call this before allocating
/// anything large.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: The calls set parameters of the allocator, and there is no other thread yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD);
        libc::mallopt(libc::M_ARENA_MAX, MAX_HEAPS);
    }
}

/// Returns all freed memory to the system. Call this after work that needed much more memory than stays in use.
pub fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: The call may be made at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
