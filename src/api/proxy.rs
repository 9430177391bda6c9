//! The proxy of a request: whether there is one, and its name for errors.

use url::Url;

/// A proxy, and the environment variable that sets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    pub variable: &'static str,
    /// Its host and port, without a user or password.
    pub place: String,
}

impl Proxy {
    /// Returns the proxy for `url` that the environment sets; `var` looks up a variable.
    pub fn of(url: &Url, var: &dyn Fn(&str) -> Option<String>) -> Option<Proxy> {
        let names: [&'static str; 4] = match url.scheme() {
            "https" => ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
            _ => ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
        };
        let (variable, text) = names.into_iter().find_map(|name| Some((name, var(name).filter(|t| !t.is_empty())?)))?;
        let exceptions = var("no_proxy").or_else(|| var("NO_PROXY")).unwrap_or_default();
        let host = url.host_str()?;
        if is_loopback(url) || exceptions.split(',').any(|name| is_exception(name.trim(), host)) {
            return None;
        }
        let text = if text.contains("://") { text } else { format!("http://{text}") };
        let place = Url::parse(&text).ok().and_then(|proxy| {
            let host = proxy.host_str()?;
            Some(proxy.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
        });
        Some(Proxy { variable, place: place.unwrap_or_else(|| "an address that cannot be read".to_owned()) })
    }
}

/// Returns whether an entry of `NO_PROXY` covers a host: `*`, the host itself, or one of its parent domains.
fn is_exception(entry: &str, host: &str) -> bool {
    let entry = entry.trim_start_matches('.');
    let ends = |name: &str| {
        host.len() > name.len()
            && host.ends_with(name)
            && host.as_bytes().get(host.len() - name.len() - 1) == Some(&b'.')
    };
    entry == "*" || (!entry.is_empty() && (entry == host || ends(entry)))
}

/// Returns whether the URL's host is this machine, which must not be accessed through a proxy.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
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

    #[test]
    fn the_proxy_and_its_variable_are_found_without_its_password() {
        let of = |url: &str, variables: &[(&str, &str)]| {
            let var = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
            Proxy::of(&Url::parse(url).unwrap(), &var).map(|proxy| (proxy.variable, proxy.place))
        };
        let url = "https://git.example.com/";
        let all = ("ALL_PROXY", "socks5h://127.0.0.1:1080");
        assert_eq!(of(url, &[all]), Some(("ALL_PROXY", "127.0.0.1:1080".into())));
        let own = ("HTTPS_PROXY", "http://me:secret@proxy:3128");
        assert_eq!(of(url, &[all, own]), Some(("HTTPS_PROXY", "proxy:3128".into())));
        assert_eq!(of("http://git.example.com/", &[own]), None);
        assert_eq!(of(url, &[own, ("NO_PROXY", "other, .example.com")]), None);
        assert_eq!(of("https://notexample.com/", &[own, ("NO_PROXY", "example.com")]).unwrap().1, "proxy:3128");
        assert_eq!(of("https://localhost/", &[own]), None);
        assert_eq!(of(url, &[]), None);
    }
}
