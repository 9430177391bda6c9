//! Tells work that waits for nobody any more to end: git may walk a long history for a caller who has gone.

use super::reject::Reject;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by a request and the work for it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// Stops the work when it is dropped.
pub struct StopOnDrop(Stop);

impl Stop {
    /// A guard for whoever waits.
    pub fn when_dropped(&self) -> StopOnDrop {
        StopOnDrop(self.clone())
    }

    /// Asked now and then by what takes long.
    ///
    /// # Errors
    /// 499, which nobody is there to read.
    pub fn go_on(&self) -> Result<(), Reject> {
        if self.0.load(Ordering::Relaxed) { Err(Reject::message(499, "the caller has gone")) } else { Ok(()) }
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
