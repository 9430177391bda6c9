//! What can go wrong with a call, in the terms of the user who made it.

use reqwest::StatusCode;
use serde_json::Value;
use std::error::Error as StdError;
use std::fmt;
use std::io::ErrorKind;
use std::time::Duration;
use url::Url;

/// A call that failed: what was tried, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// `GET /projects/1`; never a token, never the fields of a form.
    pub tried: String,
    /// What came of it.
    pub fault: Fault,
}

/// The kinds of failure that look different to the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// No connection: the host does not resolve, refuses, or went away. The text says which.
    Offline(String),
    /// The connection is not trusted: certificate or protocol.
    Tls(String),
    /// No answer in time.
    Timeout(Duration),
    /// 401: the token is missing, wrong, expired or revoked. What the server said.
    Unauthorized(String),
    /// 403: the caller may not.
    Denied(String),
    /// 403: the token has none of these scopes, any of which would do.
    Scope(Vec<String>),
    /// 404: it does not exist, or the caller may not know of it.
    Missing(String),
    /// 404 for a route that the server does not know: it is older, or another edition. What the server said.
    Unsupported(String),
    /// 429: too many requests; wait that long, if the server said.
    Limited(Option<Duration>),
    /// Another 4xx: the input was refused. Status and what the server said.
    Refused(u16, String),
    /// 5xx: the server failed. Status and what it said.
    Server(u16, String),
    /// The reply could not be read.
    Unreadable(Unreadable),
    /// The reply ended before it was whole.
    Cut(String),
    /// The reply holds more than is read. The text says what.
    TooLarge(String),
    /// A file of ours could not be read or written. The text says which.
    Disk(String),
    /// A write under `--read-only`: nothing was sent.
    ReadOnly,
}

/// Which field of a reply could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Path to the field, `[0].author.id`; `.` for the whole.
    pub field: String,
    /// What the reader found there.
    pub reason: String,
}

impl Error {
    /// The fault that a reply with an error status stands for; `said` is the server's message, and where it is empty
    /// the status speaks.
    pub fn from_status(tried: String, status: u16, mut said: String, retry_after: Option<Duration>) -> Error {
        if said.is_empty() {
            let name = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
            said = format!("{status} {}", name.unwrap_or("without a word"));
        }
        let fault = match status {
            401 => Fault::Unauthorized(said),
            403 => Fault::Denied(said),
            404 => Fault::Missing(said),
            429 => Fault::Limited(retry_after),
            500.. => Fault::Server(status, said),
            _ => Fault::Refused(status, said),
        };
        Error { tried, fault }
    }

    /// One line: what kind of failure it is.
    pub fn title(&self) -> &'static str {
        match &self.fault {
            Fault::Offline(_) => "Server unreachable",
            Fault::Tls(_) => "Untrusted connection",
            Fault::Timeout(_) => "Timed out",
            Fault::Unauthorized(_) => "Not signed in",
            Fault::Denied(_) => "Not allowed",
            Fault::Scope(_) => "Token scope missing",
            Fault::Missing(_) => "Not found",
            Fault::Unsupported(_) => "Not supported by this server",
            Fault::Limited(_) => "Too many requests",
            Fault::Refused(..) => "Rejected by the server",
            Fault::Server(..) => "Server error",
            Fault::Unreadable(_) => "Unexpected reply",
            Fault::Cut(_) => "Incomplete reply",
            Fault::TooLarge(_) => "Reply too large",
            Fault::Disk(_) => "File error",
            Fault::ReadOnly => "Read-only",
        }
    }

    /// Returns what came back, in the server's words where it had any; without a full stop, so that a sentence can end
    /// on it.
    pub fn message(&self) -> String {
        let words = self.words();
        words.trim_end_matches('.').to_owned()
    }

    fn words(&self) -> String {
        match &self.fault {
            Fault::Offline(why) | Fault::Tls(why) | Fault::Cut(why) | Fault::TooLarge(why) | Fault::Disk(why) => {
                why.clone()
            }
            Fault::Timeout(after) => format!("no answer within {} s", after.as_secs()),
            Fault::Unauthorized(said) | Fault::Denied(said) | Fault::Missing(said) | Fault::Unsupported(said) => {
                said.clone()
            }
            Fault::Scope(scopes) => format!("the token lacks the scope {}", scopes.join(" or ")),
            Fault::Limited(Some(wait)) => format!("the server asks to wait {} s", wait.as_secs().max(1)),
            Fault::Limited(None) => "the server asks to slow down".into(),
            Fault::Refused(status, said) | Fault::Server(status, said) => {
                let number = status.to_string();
                if said.starts_with(&number) { said.clone() } else { format!("{number}: {said}") }
            }
            Fault::Unreadable(u) if u.field == "." => u.reason.clone(),
            Fault::Unreadable(u) => format!("field {}: {}", u.field, u.reason),
            Fault::ReadOnly => "labscope was started with --read-only; nothing was sent".into(),
        }
    }

    /// Returns what to do next.
    pub fn advice(&self) -> &'static str {
        match &self.fault {
            Fault::Offline(_) => "Check the network and the host name, then press r to retry.",
            Fault::Tls(_) => "Check the host's certificate; use --ca-cert FILE to trust a private CA.",
            Fault::Timeout(_) | Fault::Cut(_) => "Press r to retry.",
            Fault::Unauthorized(_) => "Set a valid token: LABSCOPE_TOKEN, --token-file, or labscope auth login.",
            // `GET /projects/1/hooks`: what is of no project and no group is the server's own.
            Fault::Denied(_) => match self.tried.split_once(' ').map_or("", |(_, path)| path) {
                path if path.starts_with("/projects/") => "You don't have permission; ask an owner of the project.",
                path if path.starts_with("/groups/") => "You don't have permission; ask an owner of the group.",
                _ => "You don't have permission; ask an administrator of the server.",
            },
            Fault::Scope(_) => "Create a token with that scope, and store it with labscope auth login.",
            Fault::Missing(_) => "It may have been moved or deleted, or be hidden from your account.",
            Fault::Unsupported(_) => "A later version or another edition of the server has it.",
            Fault::Limited(_) => "Pages reload by themselves; a change was not made, send it again later.",
            Fault::Refused(..) => "Change the input and try again.",
            Fault::Server(..) => "The problem is on the server; press r to retry.",
            Fault::Unreadable(_) => "This server may not speak the REST API v4; check --host.",
            Fault::TooLarge(_) => "Request less: one file instead of a folder, a narrower filter.",
            Fault::Disk(_) => "Check the folder, its permissions and the free space.",
            Fault::ReadOnly => "Start without --read-only to change things.",
        }
    }

    /// Returns what to do next about a change that was asked for.
    pub fn next(&self) -> &'static str {
        match &self.fault {
            Fault::Offline(_) => "Check the network and the host name, then send it again.",
            Fault::Timeout(_) | Fault::Cut(_) | Fault::TooLarge(_) | Fault::Server(..) | Fault::Unreadable(_) => {
                "It may have succeeded: check before you send it again."
            }
            Fault::Limited(_) => "It was not done: send it again after that.",
            // These answer so although the token is good.
            Fault::Unauthorized(said) if said == "401 Unauthorized" && self.is_decision() => {
                "You may not do this here, or it is done already: r shows the current state."
            }
            Fault::Refused(405 | 406 | 422, _) if self.tried.ends_with("/merge") => {
                "It cannot be merged as it stands: r shows what it waits for."
            }
            Fault::Refused(405, _) => "This server does not support it.",
            Fault::Refused(409 | 412, _) => "Somebody may have changed it first: r shows the current state.",
            Fault::Refused(413, _) => "It is larger than the server accepts: send less.",
            Fault::Refused(..) => "Change the input and send it again.",
            _ => self.advice(),
        }
    }

    /// Returns whether a decision on a merge request was tried, or taking back a reaction.
    fn is_decision(&self) -> bool {
        if self.tried.starts_with("DELETE ") && self.tried.contains("/award_emoji/") {
            return true;
        }
        ["/approve", "/unapprove", "/merge", "/cancel_merge_when_pipeline_succeeds"]
            .iter()
            .any(|end| self.tried.contains("/merge_requests/") && self.tried.ends_with(end))
    }

    /// Returns whether a read may be sent again with hope.
    pub fn is_passing(&self) -> bool {
        matches!(
            self.fault,
            Fault::Offline(_) | Fault::Timeout(_) | Fault::Limited(_) | Fault::Server(..) | Fault::Cut(_)
        )
    }

    /// Returns whether the thing is not there, or hidden.
    pub fn is_missing(&self) -> bool {
        matches!(self.fault, Fault::Missing(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({}). {}", self.title(), self.message(), self.tried, self.advice())
    }
}

impl std::error::Error for Error {}

/// Returns whether the body of a 404 says that the route is not there, rather than something of that name.
///
/// Servers name what they did not find under `message`; the router, which knows no such thing, speaks under `error`.
pub fn is_unknown_route(body: &[u8]) -> bool {
    let text = body.get(..LONGEST_ERROR).unwrap_or(body);
    serde_json::from_slice::<Value>(text)
        .is_ok_and(|value| value.get("error").is_some_and(|said| said == "404 Not Found"))
}

/// Returns the scopes of which the token has none, if the body of a 403 says so.
pub fn missing_scopes(body: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(body.get(..LONGEST_ERROR).unwrap_or(body)).ok()?;
    if value.get("error")? != "insufficient_scope" {
        return None;
    }
    let scopes = value.get("scope")?.as_str()?.split_whitespace().take(MOST_SCOPES);
    Some(scopes.map(|scope| words_of(scope.as_bytes())).collect()).filter(|scopes: &Vec<String>| !scopes.is_empty())
}

/// How many scopes are named.
const MOST_SCOPES: usize = 5;
/// Bytes of an error that are looked at for words.
const LONGEST_ERROR: usize = 64 * 1024;
/// How much of a server's words is kept.
const LONGEST_WORDS: usize = 300;

/// Returns what the body of an error says, in one line without control characters.
///
/// Servers put it under `message` or `error`, as text, as a list, or as lists by field, at any depth; proxies answer
/// with text or with a web page, whose title is taken.
pub fn words_of(body: &[u8]) -> String {
    // A long text is no message; its beginning may still say what it is.
    let text = String::from_utf8_lossy(body.get(..LONGEST_ERROR).unwrap_or(body));
    let words = match serde_json::from_str::<Value>(&text) {
        Ok(value) => words_of_json(&value),
        Err(_) if text.trim_start().starts_with('<') => title_of(&text),
        Err(_) => text.into_owned(),
    };
    let mut line = String::new();
    for word in words.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(LONGEST_WORDS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn words_of_json(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => joined(items.iter().map(words_of_json), "; "),
        Value::Object(map) => {
            // The words proper come first; what else is in the object says it again, or is of no use to the user.
            for key in ["error_description", "message", "error"] {
                if let Some(inner) = map.get(key).filter(|inner| !inner.is_null()) {
                    return words_of_json(inner);
                }
            }
            joined(map.iter().map(|(field, said)| by_field(field, said)), "; ")
        }
        other => other.to_string(),
    }
}

/// `{"title": ["is too short", "is taken"]}` is said as `title is too short, is taken`.
fn by_field(field: &str, said: &Value) -> String {
    let words = match said {
        Value::Array(items) => joined(items.iter().map(words_of_json), ", "),
        other => words_of_json(other),
    };
    if field == "base" { words } else { format!("{field} {words}") }
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

fn title_of(page: &str) -> String {
    // ASCII alone changes its case, so that places in the copy are places in the page.
    let lower = page.to_ascii_lowercase();
    let inside = |tag: &str| {
        let open = lower.find(&format!("<{tag}"))?;
        let start = open + lower.get(open..)?.find('>')? + 1;
        let end = start + lower.get(start..)?.find("</")?;
        page.get(start..end)
    };
    inside("title").or_else(|| inside("h1")).unwrap_or_default().to_owned()
}

/// Returns what a failure to send, or to hear back, means to the user. `waited` is the timeout that applied.
pub(crate) fn network_fault(error: &reqwest::Error, url: &Url, waited: Duration) -> Fault {
    if error.is_timeout() {
        return Fault::Timeout(waited);
    }
    let host = url.host_str().unwrap_or_default();
    let place = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let mut last = String::new();
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(current) = cause {
        last = current.to_string();
        if let Some(io) = current.downcast_ref::<std::io::Error>() {
            if let Some(tls) = tls_inside(io) {
                return Fault::Tls(tls_words(tls, host));
            }
            match io.kind() {
                ErrorKind::ConnectionRefused => return Fault::Offline(format!("connection refused by {place}")),
                ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
                    return Fault::Offline(format!("{place} reset the connection"));
                }
                ErrorKind::TimedOut => return Fault::Timeout(waited),
                ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable => {
                    return Fault::Offline(format!("no route to {place}: {io}"));
                }
                _ => {}
            }
        }
        if let Some(tls) = current.downcast_ref::<rustls::Error>() {
            return Fault::Tls(tls_words(tls, host));
        }
        // The layers below have no types for these.
        if last.starts_with("dns error") {
            return Fault::Offline(format!("cannot resolve host {host}"));
        }
        if last.starts_with("invalid HTTP") {
            let reason = format!("{place} does not speak HTTP");
            return Fault::Unreadable(Unreadable { field: ".".into(), reason });
        }
        if last.starts_with("connection closed before message completed") {
            return Fault::Offline(format!("{place} closed the connection without a reply"));
        }
        cause = current.source();
    }
    Fault::Offline(format!("no connection to {place}: {last}"))
}

/// An I/O error hides what it wraps from `source`, and may wrap another.
fn tls_inside(io: &std::io::Error) -> Option<&rustls::Error> {
    let inner = io.get_ref()?;
    inner.downcast_ref().or_else(|| tls_inside(inner.downcast_ref()?))
}

fn tls_words(error: &rustls::Error, host: &str) -> String {
    use rustls::{CertificateError as Bad, Error};
    match error {
        Error::InvalidCertificate(Bad::UnknownIssuer) => {
            format!("the certificate of {host} is signed by an unknown authority")
        }
        Error::InvalidCertificate(Bad::Expired | Bad::ExpiredContext { .. }) => {
            format!("the certificate of {host} has expired")
        }
        Error::InvalidCertificate(Bad::NotValidYet | Bad::NotValidYetContext { .. }) => {
            format!("the certificate of {host} is not valid yet")
        }
        Error::InvalidCertificate(Bad::NotValidForName | Bad::NotValidForNameContext { .. }) => {
            format!("the certificate is not for {host}")
        }
        Error::InvalidCertificate(Bad::Revoked) => format!("the certificate of {host} is revoked"),
        // The verifier's own error has no type that can be named here.
        Error::InvalidCertificate(Bad::Other(inner)) if inner.to_string().contains("CaUsedAsEndEntity") => {
            format!("the certificate of {host} is a self-signed CA certificate, which cannot be a host certificate")
        }
        Error::InvalidMessage(_) => format!("{host} does not use TLS here; did you mean http://"),
        other => format!("{host}: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_error_is_cut_between_characters() {
        let words = words_of("ö".repeat(1000).as_bytes());
        assert_eq!(words.chars().count(), LONGEST_WORDS + 1);
    }
}
