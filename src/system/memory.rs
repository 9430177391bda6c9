//! Returning freed memory to the system at once.

/// The size in bytes from which the allocator maps memory separately, which is returned to the system when freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MMAP_THRESHOLD: libc::c_int = 256 * 1024;

/// Configures the allocator not to keep large freed memory. By default glibc would keep it, so that the memory of
/// spilled trace blocks would stay with the process, several times as much as it may use. Call this before allocating
/// anything large.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: The call sets a parameter of the allocator, and there is no other thread yet.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD);
    }
}
