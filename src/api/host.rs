//! Names a server among several.

use std::fmt;
use std::sync::Arc;

/// A server, by the root of its web pages. Cheap to clone: requests carry it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(Arc<str>);

impl Host {
    /// The server whose web pages have that root; a slash at the end makes no other one of it.
    pub fn new(web_url: &str) -> Host {
        Host(web_url.trim_end_matches('/').into())
    }

    /// The root of its web pages, without a slash at the end.
    pub fn web_url(&self) -> &str {
        &self.0
    }

    /// Returns what people call it: `git.example.com:8080/gitlab`.
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
    fn a_server_is_one_with_and_without_a_slash() {
        let host = Host::new("https://git.example.com:8080/gitlab/");
        assert_eq!(host, Host::new("https://git.example.com:8080/gitlab"));
        assert_ne!(host, Host::new("http://git.example.com:8080/gitlab"));
        assert_eq!(host.name(), "git.example.com:8080/gitlab");
    }
}
