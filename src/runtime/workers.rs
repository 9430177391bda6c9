//! Runs computations on worker threads: decoding, parsing, highlighting, comparing, reading archives. Each has a bound of
//! its own. Here they have one together: a computation asks for its memory before it starts, and waits until there is
//! enough.

use super::tasks;
use crate::store::want::SMALL_WORK_BYTES;
use std::sync::{Arc, LazyLock};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;

/// The memory that large computations take together, in bytes by their own estimates. One that wants more gets all.
const MAX_BYTES: usize = 512 << 20;
/// The maximum number of small computations at the same time, which do not wait for large ones.
const MAX_SMALL: usize = 32;
/// The unit in which memory is counted, in bytes.
const UNIT: usize = 64 << 10;

static WORKERS: LazyLock<Workers> = LazyLock::new(|| Workers::new(MAX_BYTES));

/// Runs a computation that takes about `memory` bytes on a worker thread, once there is room for it.
///
/// # Errors
/// Fails if the computation panics.
pub(super) async fn run<T: Send + 'static>(
    memory: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    WORKERS.run(memory, work).await
}

/// The room that computations share.
struct Workers {
    max_bytes: usize,
    small: Arc<Semaphore>,
    /// The free memory, in units.
    large: Arc<Semaphore>,
}

impl Workers {
    fn new(max_bytes: usize) -> Workers {
        let (small, large) = (Semaphore::new(MAX_SMALL), Semaphore::new(max_bytes / UNIT));
        Workers { max_bytes, small: small.into(), large: large.into() }
    }

    async fn run<T: Send + 'static>(
        &self,
        memory: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let room = self.room(memory).await;
        // A thread cannot be stopped: what was canceled keeps its room until it ends.
        let work = move || {
            let _room = room;
            work()
        };
        tasks::block(work).await
    }

    async fn room(&self, memory: usize) -> Option<OwnedSemaphorePermit> {
        let acquired = if memory <= SMALL_WORK_BYTES {
            self.small.clone().acquire_owned().await
        } else {
            let units = memory.min(self.max_bytes).div_ceil(UNIT).min(self.max_bytes / UNIT);
            self.large.clone().acquire_many_owned(u32::try_from(units).unwrap_or(u32::MAX)).await
        };
        // The semaphores are never closed.
        acquired.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    #[tokio::test(flavor = "multi_thread")]
    async fn all_computations_together_stay_within_the_bound() {
        let workers = Arc::new(Workers::new(64 << 20));
        let (taken, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let sizes = [9_usize, 20, 64, 200, 33].map(|mib| mib << 20);
        let tasks = sizes.into_iter().cycle().take(100).map(|size| {
            let (workers, taken, peak) = (workers.clone(), taken.clone(), peak.clone());
            tokio::spawn(async move {
                let work = move || {
                    let size = size.min(64 << 20);
                    peak.fetch_max(taken.fetch_add(size, Ordering::SeqCst) + size, Ordering::SeqCst);
                    std::thread::yield_now();
                    taken.fetch_sub(size, Ordering::SeqCst);
                };
                workers.run(size, work).await.expect("it ran");
            })
        });
        futures::future::join_all(tasks.collect::<Vec<_>>()).await;
        let peak = peak.load(Ordering::SeqCst);
        assert!(peak > 0 && peak <= 64 << 20, "{peak} bytes at once");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn small_computations_do_not_wait_for_large_ones_and_canceled_ones_keep_their_room() {
        let workers = Arc::new(Workers::new(64 << 20));
        let (release, released) = mpsc::channel::<()>();
        let (began, begun) = tokio::sync::oneshot::channel();
        let large = tokio::spawn({
            let workers = workers.clone();
            let work = move || {
                let _ = began.send(());
                let _ = released.recv();
            };
            async move { workers.run(usize::MAX, work).await }
        });
        begun.await.expect("it began");
        large.abort();
        assert!(large.await.is_err_and(|error| error.is_cancelled()));
        assert_eq!(workers.large.available_permits(), 0, "its thread is still at work");
        assert_eq!(workers.run(1, || 7).await.ok(), Some(7));
        release.send(()).expect("still at work");
        assert_eq!(workers.run(usize::MAX, || 8).await.ok(), Some(8));
    }
}
