//! The connections to a server that are kept between requests. They may be gone without a word: after a request that got no
//! answer, and after the computer has slept, new ones are opened.

use crate::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The time by which the clock may advance more than the program runs: it is corrected now and then.
const MAX_JUMP: Duration = Duration::from_secs(10);

/// A function that creates a client of the library, which has no connections yet.
type Build = Box<dyn Fn() -> Result<reqwest::Client, Error> + Send + Sync>;

#[derive(Clone)]
pub(super) struct KeptConnections(Arc<Inner>);

struct Inner {
    build: Build,
    current: Mutex<CurrentConnection>,
}

struct CurrentConnection {
    http: reqwest::Client,
    /// The time of the last request, by the clock that stands still while the computer sleeps, and by the one that does not.
    used: (Instant, SystemTime),
}

impl KeptConnections {
    /// Creates the first client.
    pub fn new(build: Build) -> Result<KeptConnections, Error> {
        let current = CurrentConnection { http: build()?, used: (Instant::now(), SystemTime::now()) };
        Ok(KeptConnections(Arc::new(Inner { build, current: Mutex::new(current) })))
    }

    /// Returns the client for the next request.
    pub fn http(&self) -> reqwest::Client {
        self.http_at(Instant::now(), SystemTime::now())
    }

    fn http_at(&self, now: Instant, clock: SystemTime) -> reqwest::Client {
        let mut current = self.current();
        let (ran, last) = current.used;
        let jump = clock.duration_since(last).unwrap_or_default().saturating_sub(now.duration_since(ran));
        current.used = (now, clock);
        if jump > MAX_JUMP {
            self.leave(&mut current);
        }
        current.http.clone()
    }

    /// Leaves the kept connections, of which one gave no answer. Requests in flight keep theirs.
    pub fn leave_all(&self) {
        self.leave(&mut self.current());
    }

    fn leave(&self, current: &mut CurrentConnection) {
        if let Ok(http) = (self.0.build)() {
            current.http = http;
        }
    }

    fn current(&self) -> MutexGuard<'_, CurrentConnection> {
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for KeptConnections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptConnections")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn connections_are_left_after_sleep_but_not_after_idle_time() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let built = Arc::new(AtomicUsize::new(0));
        let count = built.clone();
        let kept = KeptConnections::new(Box::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(reqwest::Client::new())
        }));
        let kept = kept.unwrap();
        let (start, clock) = kept.current().used;
        let at = |ran: u64, passed: u64| {
            kept.http_at(start + Duration::from_secs(ran), clock + Duration::from_secs(passed));
            built.load(Ordering::Relaxed)
        };
        assert_eq!(at(1, 1), 1);
        assert_eq!(at(3_600, 3_600), 1, "an hour without requests");
        assert_eq!(at(3_601, 3_606), 1, "a clock that was corrected");
        assert_eq!(at(3_602, 7_200), 2, "an hour of sleep");
        assert_eq!(at(3_603, 7_201), 2);
        assert_eq!(at(3_604, 60), 2, "a clock that was set back");
        assert_eq!(at(3_605, 61), 2);
    }
}
