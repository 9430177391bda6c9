//! Cancels work whose result nobody waits for: git may walk a long history for a caller who has disconnected.

use super::rejection::Rejection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// A cancellation flag, shared by a request and its work, and the time at which the work is given up.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Flag>, Option<Instant>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    set: Notify,
}

/// A guard that cancels the work when it is dropped.
pub struct StopOnDrop(Stop);

impl Stop {
    /// Returns a guard that sets the flag when it is dropped.
    pub fn when_dropped(&self) -> StopOnDrop {
        StopOnDrop(self.clone())
    }

    /// Returns the same flag for work that is given up after some time.
    pub fn within(&self, time: Duration) -> Stop {
        Stop(self.0.clone(), Instant::now().checked_add(time))
    }

    /// Waits until the flag is set.
    pub async fn cancelled(&self) {
        let set = self.0.set.notified();
        if !self.0.is_set.load(Ordering::Relaxed) {
            set.await;
        }
    }

    /// Checks the flag and the time; long-running work calls this from time to time.
    ///
    /// # Errors
    /// Fails with 499 after cancellation, when nobody is there to read it, or when the time is over.
    pub fn check(&self) -> Result<(), Rejection> {
        if self.0.is_set.load(Ordering::Relaxed) || self.1.is_some_and(|end| Instant::now() >= end) {
            Err(Rejection::message(499, "the client closed the request"))
        } else {
            Ok(())
        }
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.is_set.store(true, Ordering::Relaxed);
        self.0.0.set.notify_waiters();
    }
}
