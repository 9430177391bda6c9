//! How long connections may stand still, and how much is served at once.

use std::time::Duration;

/// The limits of a running server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a connection may take to bring the head of a request, from its opening or from the reply before on.
    pub head: Duration,
    /// How long the body of a request may take to arrive.
    pub body: Duration,
    /// How long a client may read nothing of a reply that is there for it.
    pub reply: Duration,
    /// Connections that are open at once; more wait to be accepted.
    pub connections: usize,
    /// Replies that are written while they are sent, at once. One caller has at most half of them.
    pub streams: usize,
    /// How long such a reply may wait for its reader before it gives its place to another.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head: Duration::from_secs(20),
            body: Duration::from_secs(120),
            reply: Duration::from_secs(60),
            connections: 512,
            streams: 128,
            stall: Duration::from_secs(1),
        }
    }
}
