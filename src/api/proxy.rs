//! The proxy of a request: whether there is one, and its name for errors.

use std::fmt;
use std::net::IpAddr;
use url::{Host, Url};

/// A proxy, and the environment variable that sets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    pub variable: &'static str,
    /// Its host and port, without a user or password; `None` if the address cannot be used.
    pub place: Option<String>,
}

impl Proxy {
    /// Returns the proxy for `url` that the environment sets, by the rules of the HTTP library; `var` looks up a variable.
    pub fn of(url: &Url, var: &dyn Fn(&str) -> Option<String>) -> Option<Proxy> {
        // In a CGI program, a client sets HTTP_PROXY by a header.
        if is_bypassed(url, var) || is_exempt(url, var) || var("REQUEST_METHOD").is_some() {
            return None;
        }
        let set = |[upper, lower]: [&'static str; 2]| {
            let (variable, text) = var(upper).map(|text| (upper, text)).or_else(|| Some((lower, var(lower)?)))?;
            (!text.is_empty()).then_some((variable, text))
        };
        let own = if url.scheme() == "https" { ["HTTPS_PROXY", "https_proxy"] } else { ["HTTP_PROXY", "http_proxy"] };
        let (variable, text) = set(own).or_else(|| set(["ALL_PROXY", "all_proxy"]))?;
        let address = text.parse::<hyper::Uri>().ok().filter(|address| address.scheme_str().is_none_or(is_supported));
        let place = address.as_ref().and_then(hyper::Uri::authority).map(|authority| match authority.port() {
            Some(port) => format!("{}:{port}", authority.host()),
            None => authority.host().to_owned(),
        });
        Some(Proxy { variable, place })
    }

    /// Returns why the proxy cannot be used; `None` if it can.
    pub fn mistake(&self) -> Option<String> {
        let kinds = SCHEMES.join("://, ");
        let Proxy { variable, place } = self;
        place.is_none().then(|| format!("the proxy in {variable} has no valid address of the kinds {kinds}://"))
    }
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} (set by {})", self.place.as_deref().unwrap_or_default(), self.variable)
    }
}

const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

fn is_supported(scheme: &str) -> bool {
    SCHEMES.contains(&scheme)
}

fn exceptions(var: &dyn Fn(&str) -> Option<String>) -> String {
    var("NO_PROXY").or_else(|| var("no_proxy")).unwrap_or_default()
}

/// Returns whether all requests to the server at `url` must be sent directly, also those to other hosts that it names:
/// its host is this machine, or `NO_PROXY` contains `*`. The HTTP library takes `*` for all names, but for no address.
pub fn is_bypassed(url: &Url, var: &dyn Fn(&str) -> Option<String>) -> bool {
    is_loopback(url) || exceptions(var).split(',').any(|entry| entry.trim() == "*")
}

/// Returns whether `NO_PROXY` covers the host of `url`: the host itself, one of its parent domains, or its network.
fn is_exempt(url: &Url, var: &dyn Fn(&str) -> Option<String>) -> bool {
    let exceptions = exceptions(var);
    let mut entries = exceptions.split(',').map(str::trim);
    match url.host() {
        Some(Host::Domain(host)) => entries.any(|entry| is_domain_of(entry, host)),
        Some(Host::Ipv4(address)) => entries.any(|entry| is_network_of(entry, address.into())),
        Some(Host::Ipv6(address)) => entries.any(|entry| is_network_of(entry, address.into())),
        None => false,
    }
}

fn is_domain_of(entry: &str, host: &str) -> bool {
    let entry = entry.strip_prefix('.').unwrap_or(entry).to_ascii_lowercase();
    let is_parent = || host.strip_suffix(&entry).is_some_and(|rest| rest.ends_with('.'));
    !entry.is_empty() && (entry == host || is_parent())
}

/// Returns whether an address is `entry`, or in the network `entry`, such as `10.0.0.0/8`.
fn is_network_of(entry: &str, address: IpAddr) -> bool {
    let (network, bits) = entry.split_once('/').map_or((entry, None), |(network, bits)| (network, Some(bits)));
    let (network, address, width) = match (network.parse(), address) {
        (Ok(IpAddr::V4(network)), IpAddr::V4(address)) => (network.to_bits().into(), address.to_bits().into(), 32_u32),
        (Ok(IpAddr::V6(network)), IpAddr::V6(address)) => (network.to_bits(), address.to_bits(), 128),
        _ => return false,
    };
    let bits = bits.map_or(Ok(width), str::parse);
    let beyond = bits.ok().and_then(|bits| width.checked_sub(bits));
    beyond.is_some_and(|beyond| u128::checked_shr(network ^ address, beyond).unwrap_or(0) == 0)
}

/// Returns whether the URL's host is this machine, which must not be accessed through a proxy.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_bypasses_the_proxy() {
        for (url, own) in [
            ("http://127.0.0.1:1/", true),
            ("http://[::1]/", true),
            ("http://localhost/gitlab", true),
            ("https://git.example.org", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), own, "{url}");
        }
    }

    fn of(url: &str, variables: &[(&str, &str)]) -> Option<Proxy> {
        let var = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Proxy::of(&Url::parse(url).unwrap(), &var)
    }

    #[test]
    fn the_proxy_and_its_variable_are_found_without_its_password() {
        let place = |url: &str, variables: &[(&str, &str)]| {
            of(url, variables).map(|proxy| (proxy.variable, proxy.place.unwrap_or_default()))
        };
        let url = "https://git.example.com/";
        let all = ("ALL_PROXY", "socks5h://127.0.0.1:1080");
        assert_eq!(place(url, &[all]), Some(("ALL_PROXY", "127.0.0.1:1080".into())));
        let own = ("HTTPS_PROXY", "http://me:secret@proxy:3128");
        assert_eq!(place(url, &[all, own]), Some(("HTTPS_PROXY", "proxy:3128".into())));
        assert_eq!(place(url, &[own, ("https_proxy", "other:1")]), Some(("HTTPS_PROXY", "proxy:3128".into())));
        assert_eq!(place(url, &[("https_proxy", "proxy")]), Some(("https_proxy", "proxy".into())));
        assert_eq!(place(url, &[("HTTPS_PROXY", ""), all]), Some(("ALL_PROXY", "127.0.0.1:1080".into())));
        assert_eq!(of("http://git.example.com/", &[own]), None);
        assert_eq!(of("https://localhost/", &[own]), None);
        assert_eq!(of(url, &[("REQUEST_METHOD", "GET"), own]), None);
        assert_eq!(of(url, &[]), None);
    }

    #[test]
    fn the_exceptions_are_hosts_domains_and_networks() {
        for (host, exceptions, direct) in [
            ("git.example.com", "other, .example.com", true),
            ("git.example.com", "EXAMPLE.com", true),
            ("example.com", ".example.com", true),
            ("notexample.com", "example.com", false),
            ("git.example.com", "*", true),
            ("git.example.com", "", false),
            ("10.1.2.3", "*", true),
            ("[fd00::1]", "other, *", true),
            ("10.1.2.3", "10.0.0.0/8", true),
            ("11.1.2.3", "10.0.0.0/8", false),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "0.0.0.0/0", true),
            ("10.1.2.3", "10.1.2.3/33", false),
            ("10.1.2.3", "2.3", false),
            ("[fd00::1]", "fd00::/8", true),
            ("[fd00::1]", "10.0.0.0/8,fe80::/10", false),
        ] {
            let proxy = of(&format!("https://{host}/"), &[("ALL_PROXY", "proxy"), ("NO_PROXY", exceptions)]);
            assert_eq!(proxy.is_none(), direct, "{host} {exceptions}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_used_is_told_without_its_password() {
        for address in ["socks://me:secret@proxy:1080/", "http://me:sec ret@proxy", "/secret", "http://"] {
            let mistake = of("https://git.example.com", &[("all_proxy", address)]).unwrap().mistake().unwrap();
            assert!(mistake.starts_with("the proxy in all_proxy has no valid address"), "{mistake}");
            assert!(!mistake.contains("secret"), "{mistake}");
        }
    }
}
