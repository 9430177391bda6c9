//! Identifies one of several servers, and shows addresses without passwords.

use std::fmt;
use std::sync::Arc;

/// A server, identified by the URL of its web interface, and by the name of an account if several of them are configured
/// for that URL. Cheap to clone, because requests contain it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host {
    web_url: Arc<str>,
    account: Option<Arc<str>>,
    name: Arc<str>,
}

impl Host {
    /// Creates the host for a web URL; a trailing slash makes no difference.
    pub fn new(web_url: &str) -> Host {
        Host::with_account(web_url, None)
    }

    /// Creates the host for an account at a web URL; `None` is the only or the first one.
    pub fn with_account(web_url: &str, account: Option<&str>) -> Host {
        let web_url = web_url.trim_end_matches('/');
        let place = web_url.split_once("://").map_or(web_url, |(_, rest)| rest);
        let name = account.map_or_else(|| place.to_owned(), |account| format!("{place} ({account})"));
        Host { web_url: web_url.into(), account: account.map(Into::into), name: name.into() }
    }

    /// Returns the URL of the web interface, without a trailing slash.
    pub fn web_url(&self) -> &str {
        &self.web_url
    }

    /// Returns the name of the account, unless it is the only or the first one.
    pub fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }

    /// Returns the display name: `git.example.com:8080/gitlab`, or `git.example.com (second)` for an account.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host({})", self.name)
    }
}

/// Returns an address without a password and its user. The user of an address without a password stays if only the web
/// does without one, as in `git@host:path`.
pub fn without_password(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    // In the path of git@host:a@b there is no password.
    let has_password = |user: &str| user.split('@').next().is_some_and(|user| user.contains(':'));
    let user = authority.rsplit_once('@').filter(|(user, _)| has_password(user) || scheme.starts_with("http"));
    let host = user.map_or(authority, |(_, host)| host);
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
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
        let second = Host::with_account(host.web_url(), Some("second"));
        assert_ne!(host, second);
        assert_eq!(second.name(), "git.example.com:8080/gitlab (second)");
    }

    #[test]
    fn passwords_are_left_out() {
        for (address, shown) in [
            ("https://ada:secret@git.example.com/a/b.git", "https://git.example.com/a/b.git"),
            ("https://token@git.example.com/a@b", "https://git.example.com/a@b"),
            ("socks5h://me:se@cret@proxy:1080/x@y", "socks5h://proxy:1080/x@y"),
            ("me:pw@proxy:3128", "proxy:3128"),
            ("git@git.example.com:a/b.git", "git@git.example.com:a/b.git"),
            ("git@git.example.com:a@b/c", "git@git.example.com:a@b/c"),
            ("ssh://git@git.example.com/a/b.git", "ssh://git@git.example.com/a/b.git"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
