//! Identifies one of several servers.

use std::fmt;
use std::sync::Arc;

/// A server, identified by the URL of its web interface. Cheap to clone, because requests contain it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(Arc<str>);

impl Host {
    /// Creates the host for a web URL; a trailing slash makes no difference.
    pub fn new(web_url: &str) -> Host {
        Host(web_url.trim_end_matches('/').into())
    }

    /// Returns the URL of the web interface, without a trailing slash.
    pub fn web_url(&self) -> &str {
        &self.0
    }

    /// Returns the display name: `git.example.com:8080/gitlab`.
    pub fn name(&self) -> &str {
        self.0.split_once("://").map_or(&self.0, |(_, rest)| rest)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailing_slash_does_not_change_the_host() {
        let host = Host::new("https://git.example.com:8080/gitlab/");
        assert_eq!(host, Host::new("https://git.example.com:8080/gitlab"));
        assert_ne!(host, Host::new("http://git.example.com:8080/gitlab"));
        assert_eq!(host.name(), "git.example.com:8080/gitlab");
    }
}
