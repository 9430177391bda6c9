//! Cancels work whose result nobody waits for: git may walk a long history for a caller who has disconnected.

use super::rejection::Rejection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cancellation flag, shared by a request and its work.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// A guard that cancels the work when it is dropped.
pub struct StopOnDrop(Stop);

impl Stop {
    /// Returns a guard that sets the flag when it is dropped.
    pub fn when_dropped(&self) -> StopOnDrop {
        StopOnDrop(self.clone())
    }

    /// Checks the flag; long-running work calls this from time to time.
    ///
    /// # Errors
    /// Fails with 499 after cancellation; nobody is there to read it.
    pub fn check(&self) -> Result<(), Rejection> {
        if self.0.load(Ordering::Relaxed) {
            Err(Rejection::message(499, "the client closed the request"))
        } else {
            Ok(())
        }
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
