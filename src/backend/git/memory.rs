//! Limits the memory that libgit2 takes at once. An object states its size before its content, and a delta the size of its
//! result: a few bytes in a repository would otherwise make libgit2 take, and clear, any amount.

use libgit2_sys as raw;
use std::ffi::{c_char, c_int, c_void};
use std::sync::Once;

/// The maximum size of a single allocation in bytes, which is also that of an object.
const MAX_BYTES: usize = 1 << 30;

/// The functions that libgit2 allocates with; the layout of `git_allocator`.
#[repr(C)]
struct Allocator {
    allocate: unsafe extern "C" fn(usize, *const c_char, c_int) -> *mut c_void,
    reallocate: unsafe extern "C" fn(*mut c_void, usize, *const c_char, c_int) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
}

/// Returns whether an allocation of that size is refused, and tells libgit2 why.
fn is_refused(bytes: usize) -> bool {
    if bytes > MAX_BYTES {
        // SAFETY: The text ends with a zero, and libgit2 copies it.
        unsafe {
            let why = c"an object of the repository is too large";
            raw::git_error_set_str(raw::GIT_ERROR_ODB as c_int, why.as_ptr());
        }
    }
    bytes > MAX_BYTES
}

unsafe extern "C" fn allocate(bytes: usize, _: *const c_char, _: c_int) -> *mut c_void {
    if is_refused(bytes) {
        return std::ptr::null_mut();
    }
    // SAFETY: Any size is valid.
    unsafe { libc::malloc(bytes) }
}

unsafe extern "C" fn reallocate(before: *mut c_void, bytes: usize, _: *const c_char, _: c_int) -> *mut c_void {
    if is_refused(bytes) {
        return std::ptr::null_mut();
    }
    // SAFETY: libgit2 passes a pointer from one of these functions, or from its own, which use the same heap.
    unsafe { libc::realloc(before, bytes) }
}

unsafe extern "C" fn free(pointer: *mut c_void) {
    // SAFETY: As above.
    unsafe { libc::free(pointer) }
}

/// Sets the limit for the whole process; only the first call has an effect.
pub(super) fn limit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let allocator = Allocator { allocate, reallocate, free };
        // SAFETY: libgit2 copies the structure. Memory that it has allocated before is from the same heap.
        let status = unsafe { raw::git_libgit2_opts(raw::GIT_OPT_SET_ALLOCATOR as c_int, &raw const allocator) };
        if status != 0 {
            tracing::warn!("the memory of git objects is not limited");
        }
    });
}
