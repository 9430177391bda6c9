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
    /// The time limit for a push to arrive, for git to check it, and for git to be silent.
    pub push: Duration,
    /// The maximum time that a client may read nothing while a reply is ready.
    pub reply: Duration,
    /// The maximum number of open connections. One whose client has been waited for, the longest of all and at least for
    /// `stall`, is closed for a new one.
    pub connections: usize,
    /// The maximum number of concurrent streamed replies. One caller can have at most half of them.
    pub streams: usize,
    /// The time that a streamed reply or a connection may stall before it is dropped in favor of another.
    pub stall: Duration,
    /// The maximum number of git clients for which processes run at the same time; others wait. One caller can have at
    /// most half of them.
    pub processes: usize,
    /// The maximum number of bodies of git clients that arrive or are on disk; others wait. One caller can have at most
    /// half of them.
    pub bodies: usize,
    /// The time that such a body may stall before it is dropped in favor of another. Clients pause while they pack.
    pub body_stall: Duration,
    /// The maximum size of all such bodies together, unpacked, in bytes. One caller can have at most half of it.
    pub spooled_bytes: u64,
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
            // One for somebody else, also on a machine with a single core.
            processes: std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2)),
            bodies: 64,
            body_stall: Duration::from_secs(10),
            spooled_bytes: 8 << 30,
        }
    }
}
