//! What is let go of goes back to the system at once.

/// Bytes from which on a piece of memory is the system's own, and goes back to it by itself.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 256 * 1024;

/// Asks the allocator to keep nothing large for later. The one of glibc would: blocks of a trace that went to disk
/// would stay with the program, several times as much as it may hold. Call it before anything large is held.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it sets a number of the allocator; there is no other thread yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}
