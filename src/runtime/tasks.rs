//! Starts tasks and blocking work. They are boxed, so that the code of Tokio for them is compiled once and not for each.

use std::pin::Pin;
use tokio::task::JoinHandle;

/// Starts a task: see [`tokio::spawn`].
pub(super) fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let task: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(task);
    tokio::spawn(task)
}

/// Starts work that blocks its thread: see [`tokio::task::spawn_blocking`].
pub(super) fn block<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(work);
    tokio::task::spawn_blocking(work)
}
