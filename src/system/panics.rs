//! Catches panics of libraries that read damaged files. Nobody reports them as a bug of this program.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic on this thread will be caught by [`catch`]. Panic hooks print nothing then.
pub fn is_caught() -> bool {
    IS_CAUGHT.try_with(Cell::get).unwrap_or_default()
}

/// Runs `work`, and returns the message of its panic, if there is one.
///
/// # Errors
/// Fails if `work` panics. What it has changed by then must not be used any more.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(before);
    result.map_err(|payload| message(&*payload).to_owned())
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason was given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_message() {
        assert_eq!(catch(|| 7), Ok(7));
        assert!(!is_caught());
        assert_eq!(catch(|| -> u8 { panic!("page {} is odd", 3) }), Err("page 3 is odd".to_owned()));
        assert_eq!(catch(|| catch(|| -> u8 { panic!("inner") }).is_err() && is_caught()), Ok(true));
        assert!(!is_caught());
    }
}
