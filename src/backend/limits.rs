//! Timeouts of connections, and concurrency limits.

use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time limit for the head of a request, counted from the opening of the connection or the previous reply.
    pub head: Duration,
    /// The time limit for the body of a request.
    pub body: Duration,
    /// The maximum size of a push in bytes.
    pub push_bytes: u64,
    /// The time limit for a push to arrive, and for git to check it.
    pub push: Duration,
    /// The maximum time that a client may read nothing while a reply is ready.
    pub reply: Duration,
    /// The maximum number of open connections; others wait to be accepted.
    pub connections: usize,
    /// The maximum number of concurrent streamed replies. One caller can have at most half of them.
    pub streams: usize,
    /// The time that a streamed reply may stall before it is dropped in favor of another.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head: Duration::from_secs(20),
            body: Duration::from_secs(120),
            push_bytes: 4 << 30,
            push: Duration::from_secs(900),
            reply: Duration::from_secs(60),
            connections: 512,
            streams: 128,
            stall: Duration::from_secs(1),
        }
    }
}
