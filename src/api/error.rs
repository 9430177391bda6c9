//! The errors of calls, described in terms of the user.

use crate::proxy::Proxy;
use h2::Reason;
use reqwest::StatusCode;
use serde_json::Value;
use std::error::Error as StdError;
use std::fmt;
use std::io::ErrorKind;
use std::time::Duration;
use url::Url;

/// A failed call: the request, and the reason why it failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The request line, such as `GET /projects/1`; never contains a token or the fields of a form.
    pub tried: String,
    /// The reason.
    pub fault: Fault,
}

/// The name of the server as a whole, in place of that of a route.
pub const SERVER: &str = "";

/// The kinds of failure that the user can tell apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// No connection: the host cannot be resolved, refuses the connection, or closed it. The text says which.
    Offline(String),
    /// The connection is not trusted: a certificate or protocol error.
    Tls(String),
    /// The server is configured with `http://` and redirects to this `https://` address; nothing more is sent in the clear.
    NeedsHttps(String),
    /// No reply within this time.
    Timeout(Duration),
    /// 401: the token is missing, wrong, expired or revoked. Contains the server's message.
    Unauthorized(String),
    /// 403: the caller lacks permission. Contains the server's message.
    Denied(String),
    /// 403: the token has none of these scopes, any of which would be sufficient.
    Scope(Vec<String>),
    /// 403: the operation takes a fine-grained token with these permissions: `Merge Request: Read`.
    Permission(Vec<String>),
    /// 404: the resource does not exist, or is hidden from the caller. Contains the server's message.
    Missing(String),
    /// 404 for a route that the server does not know, because of its version or edition. Contains the server's message.
    Unsupported(String),
    /// 429: too many requests of a route, or of [all](SERVER). Contains the time to wait, if the server sent it.
    Limited(&'static str, Option<Duration>),
    /// Any other 4xx: the input was refused. Contains the status and the server's message.
    Refused(u16, String),
    /// Any 4xx that GitLab did not send: a proxy, a firewall or a sign-in in front of it did. Contains the status and its
    /// message.
    Gateway(u16, String),
    /// The storage of files to which the server redirects failed or cannot be reached. The text says which and why.
    Storage(String),
    /// 5xx: the server failed. Contains the status and the server's message.
    Server(u16, String),
    /// The reply could not be parsed.
    Unreadable(Unreadable),
    /// The reply is not what was requested: a web page, or content with another hash. The text says which.
    Replaced(String),
    /// The reply ended before it was complete.
    Cut(String),
    /// The reply exceeds a size limit. The text says which.
    TooLarge(String),
    /// A local file could not be read or written. The text says which.
    Disk(String),
    /// A write under `--read-only`: nothing was sent.
    ReadOnly,
}

/// A field of a reply that could not be parsed, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The path of the field, `[0].author.id`; `.` for the whole reply.
    pub field: String,
    /// The message of the parser.
    pub reason: String,
}

impl Fault {
    /// Returns the fault of requests whose route has a limit of its own.
    pub(crate) fn of_route(self, route: &'static str) -> Fault {
        if let Fault::Limited(_, wait) = self { Fault::Limited(route, wait) } else { self }
    }
}

impl Error {
    /// Creates the error for a reply with an error status; `message` is the server's message, and if it is empty, the
    /// status is used instead.
    pub fn from_status(tried: String, status: u16, mut message: String, retry_after: Option<Duration>) -> Error {
        if message.is_empty() {
            let name = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
            message = format!("{status} {}", name.unwrap_or("without a message"));
        }
        let fault = match status {
            401 => Fault::Unauthorized(message),
            403 => Fault::Denied(message),
            404 => Fault::Missing(message),
            429 => Fault::Limited(SERVER, retry_after),
            500.. => Fault::Server(status, message),
            _ => Fault::Refused(status, message),
        };
        Error { tried, fault }
    }

    /// Returns why data is missing as one word, for a cell of a table; `None` if the server does not have such data.
    pub fn word(&self) -> Option<&'static str> {
        match self.fault {
            Fault::Unsupported(_) => None,
            Fault::Denied(_) | Fault::Unauthorized(_) | Fault::Scope(_) | Fault::Permission(_) => Some("denied"),
            Fault::Missing(_) => Some("missing"),
            Fault::Offline(_) | Fault::Timeout(_) | Fault::Tls(_) => Some("offline"),
            _ => Some("error"),
        }
    }

    /// Returns the kind of failure, as a title.
    pub fn title(&self) -> &'static str {
        match &self.fault {
            Fault::Offline(why) if why == STARTED_OFFLINE => "Offline",
            Fault::Offline(_) => "Server unreachable",
            Fault::Tls(_) => "Untrusted connection",
            Fault::NeedsHttps(_) => "Unencrypted address",
            Fault::Timeout(_) => "Timed out",
            Fault::Unauthorized(_) if !self.is_refused_decision() => "Not signed in",
            Fault::Denied(_) | Fault::Unauthorized(_) => "Not allowed",
            Fault::Scope(_) => "Token scope missing",
            Fault::Permission(_) => "Token permission missing",
            Fault::Missing(_) => "Not found",
            Fault::Unsupported(_) => "Not supported by this server",
            Fault::Limited(..) => "Too many requests",
            Fault::Refused(..) => "Rejected by the server",
            Fault::Gateway(..) => "Gateway error",
            Fault::Storage(_) => "Storage error",
            Fault::Server(..) => "Server error",
            Fault::Unreadable(_) | Fault::Replaced(_) => "Unexpected reply",
            Fault::Cut(_) => "Incomplete reply",
            Fault::TooLarge(_) => "Reply too large",
            Fault::Disk(_) => "File error",
            Fault::ReadOnly => "Read-only",
        }
    }

    /// Returns the reason, with the server's message if it sent one; without a final period, so that it can be part of
    /// a sentence.
    pub fn message(&self) -> String {
        let message = self.raw_message();
        message.trim_end_matches('.').to_owned()
    }

    fn raw_message(&self) -> String {
        match &self.fault {
            Fault::Offline(why)
            | Fault::Tls(why)
            | Fault::Storage(why)
            | Fault::Replaced(why)
            | Fault::Cut(why)
            | Fault::TooLarge(why)
            | Fault::Disk(why) => why.clone(),
            Fault::NeedsHttps(address) => {
                format!("the server redirects to {address}; a token sent to the http address can be read on the way")
            }
            Fault::Timeout(after) => format!("no answer within {} s", after.as_secs()),
            Fault::Unauthorized(message)
            | Fault::Denied(message)
            | Fault::Missing(message)
            | Fault::Unsupported(message) => message.clone(),
            Fault::Scope(scopes) => format!("the token lacks the scope {}", scopes.join(" or ")),
            Fault::Permission(names) => format!("it takes a fine-grained token with {}", names.join(", ")),
            Fault::Limited(SERVER, Some(wait)) => format!("the server asks to wait {}", wait_words(*wait)),
            Fault::Limited(_, Some(wait)) => {
                format!("the server asks to wait {} before more requests of this kind", wait_words(*wait))
            }
            Fault::Limited(_, None) => "the server asks to slow down".into(),
            Fault::Refused(status, message) | Fault::Gateway(status, message) | Fault::Server(status, message) => {
                let number = status.to_string();
                if message.starts_with(&number) { message.clone() } else { format!("{number}: {message}") }
            }
            Fault::Unreadable(u) if u.field == "." => u.reason.clone(),
            Fault::Unreadable(u) => format!("field {}: {}", u.field, u.reason),
            Fault::ReadOnly => "labscope was started with --read-only; nothing was sent".into(),
        }
    }

    /// Returns what the user can do about a failed read; empty if no advice fits the server's reason.
    pub fn advice(&self) -> &'static str {
        match &self.fault {
            Fault::Offline(why) if why == STARTED_OFFLINE => "Start without it to load this.",
            Fault::Offline(_) => "Check the network and the host name.",
            // The message names the setting, or who can help; or it is enough to try again.
            Fault::Tls(_) | Fault::Timeout(_) | Fault::Cut(_) => "",
            Fault::NeedsHttps(_) => {
                "Use the https address: with --host, LABSCOPE_HOST, or as url in the configuration."
            }
            Fault::Unauthorized(_) => "Set a valid token: LABSCOPE_TOKEN, --token-file, or labscope auth login.",
            Fault::Denied(message) => advice_by_reason(message).unwrap_or_else(|| match reason(message) {
                "" => self.owner_advice(),
                reason if is_any(reason, PERMISSIONS) => self.owner_advice(),
                _ => "",
            }),
            Fault::Scope(_) => "Create a token with that scope, and store it with labscope auth login.",
            Fault::Permission(_) => "Create a token that has it, too, and store it with labscope auth login.",
            Fault::Missing(message) => advice_by_reason(message).unwrap_or_else(|| match reason(message) {
                reason if reason.is_empty() || is_any(reason, &["not found", "not exist"]) => {
                    "It may have been moved or deleted, or be hidden from your account."
                }
                _ => "",
            }),
            Fault::Unsupported(_) => "It requires a later version or another edition of the server.",
            Fault::Limited(..) => "Pages reload automatically; a change was not made: send it again later.",
            Fault::Refused(410, _) => "The server no longer has it: labscope needs version 4 of GitLab's REST API.",
            Fault::Refused(_, message) => advice_by_reason(message).unwrap_or_else(|| match reason(message) {
                reason if is_any(reason, PERMISSIONS) => self.owner_advice(),
                reason if is_about_input(reason) => "Change the input and try again.",
                _ => "",
            }),
            Fault::Gateway(_, message) => advice_by_reason(message)
                .unwrap_or("A proxy or firewall in front of GitLab does this: ask an administrator."),
            Fault::Storage(_) => "The server keeps its files there: try again, or ask an administrator.",
            Fault::Server(..) => "The problem is on the server: refresh to try again.",
            Fault::Unreadable(_) => "The server may not support the REST API v4; check --host.",
            Fault::Replaced(_) => "Check that you are signed in to the network and the server.",
            Fault::TooLarge(_) => "Request less: one file instead of a folder, a narrower filter.",
            Fault::Disk(_) => "Check the folder, its permissions and the free space.",
            Fault::ReadOnly => "Start without --read-only to change things.",
        }
    }

    /// Returns what the user can do about a failed write; empty if no advice fits the server's reason.
    pub fn write_advice(&self) -> &'static str {
        match &self.fault {
            Fault::Offline(why) if why == STARTED_OFFLINE => "Start without it to send this.",
            Fault::Offline(_) => "Check the network and the host name, then send it again.",
            _ if self.may_have_succeeded() => "It may have succeeded: check before you send it again.",
            Fault::Limited(..) => "Nothing was changed: send it again after that.",
            Fault::Unauthorized(_) if self.is_refused_decision() => {
                "You may not do this, or it is already done: refresh to see the current state."
            }
            Fault::Refused(405, message) if is_moved(message) => MOVED,
            Fault::Refused(405 | 406 | 422, _) if self.tried.ends_with("/merge") => {
                "It cannot be merged yet: refresh to see what is missing."
            }
            Fault::Refused(412, _) => CHANGED,
            Fault::Refused(413, _) => "It is larger than the server accepts: send less.",
            Fault::Refused(status, message) => {
                advice_by_reason(message).unwrap_or_else(|| match (status, reason(message)) {
                    (405, "") => "This server does not support it.",
                    (409, "") => CHANGED,
                    (_, reason) if is_any(reason, PERMISSIONS) => self.owner_advice(),
                    // Any other conflict, or a method that is not allowed for a reason, is not about the input.
                    (405 | 409, _) => "",
                    (_, reason) if is_about_input(reason) => "Change the input and send it again.",
                    _ => "",
                })
            }
            _ => self.advice(),
        }
    }

    /// Returns who can give the permission that the request needs.
    fn owner_advice(&self) -> &'static str {
        // Requests below neither projects nor groups concern the server itself.
        match self.tried.split_once(' ').map_or("", |(_, path)| path) {
            path if path.starts_with("/projects/") => "You don't have permission; ask an owner of the project.",
            path if path.starts_with("/groups/") => "You don't have permission; ask an owner of the group.",
            _ => "You don't have permission; ask a server administrator.",
        }
    }

    /// Returns the title and the message as a sentence, followed by `advice`, if there is any.
    pub fn with_advice(&self, advice: &str) -> String {
        format!("{}: {}. {advice}", self.title(), self.message()).trim_end().to_owned()
    }

    /// Returns whether the request was a decision on a merge request, or the removal of a reaction, and is not allowed. For
    /// these, a 401 does not mean that the token is invalid.
    fn is_refused_decision(&self) -> bool {
        if !matches!(&self.fault, Fault::Unauthorized(message) if message == "401 Unauthorized") {
            return false;
        }
        if self.tried.starts_with("DELETE ") && self.tried.contains("/award_emoji/") {
            return true;
        }
        ["/approve", "/unapprove", "/merge", "/cancel_auto_merge"]
            .iter()
            .any(|end| self.tried.contains("/merge_requests/") && self.tried.ends_with(end))
    }

    /// Returns whether the error is temporary, so that a read may be retried.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self.fault,
            Fault::Offline(_) | Fault::Timeout(_) | Fault::Limited(..) | Fault::Server(..) | Fault::Cut(_)
        )
    }

    /// Returns whether the server does not show the resource to the caller: it is forbidden, hidden or gone.
    pub fn is_withheld(&self) -> bool {
        matches!(self.fault, Fault::Denied(_) | Fault::Scope(_) | Fault::Missing(_) | Fault::Unsupported(_))
    }

    /// Returns whether the server may have done what was asked, although it did not say so.
    pub fn is_uncertain(&self) -> bool {
        self.may_have_succeeded() || matches!(self.fault, Fault::Offline(_))
    }

    /// Returns whether sending a write again may do it twice: it creates something, and may have done so.
    pub fn may_repeat(&self) -> bool {
        self.may_have_succeeded() && self.tried.starts_with("POST ")
    }

    /// Returns whether the server got the request, as far as is known, but did not say whether it did it.
    pub fn may_have_succeeded(&self) -> bool {
        matches!(
            self.fault,
            Fault::Timeout(_)
                | Fault::Cut(_)
                | Fault::TooLarge(_)
                | Fault::Server(..)
                | Fault::Unreadable(_)
                | Fault::Replaced(_)
        )
    }

    /// Returns whether nothing was asked, because labscope was started so.
    pub fn is_by_choice(&self) -> bool {
        matches!(&self.fault, Fault::Offline(why) if why == STARTED_OFFLINE)
    }

    /// Returns whether the resource does not exist or is hidden.
    pub fn is_missing(&self) -> bool {
        matches!(self.fault, Fault::Missing(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = format!("{}: {} ({}). {}", self.title(), self.message(), self.tried, self.advice());
        f.write_str(words.trim_end())
    }
}

impl std::error::Error for Error {}

/// The reason of the error of every request under `--offline`.
pub const STARTED_OFFLINE: &str = "labscope was started with --offline";

const MOVED: &str = "Open the project by its new path: its old web page may lead there.";

/// Returns whether a message says that a write was refused because its project was moved.
pub fn is_moved(message: &str) -> bool {
    message.to_lowercase().contains("moved project")
}

const CHANGED: &str = "Somebody may have changed it first: refresh to see the current state.";

/// Phrases of servers' messages, in lower case, with the advice for them, whatever the status is. The first one counts.
const ADVICE: &[(&str, &str)] = &[
    ("resource lock", "The server is busy with it: send it again in a moment."),
    ("does not match head", CHANGED),
    ("has changed since", CHANGED),
    ("more recent version", CHANGED),
    ("precondition failed", CHANGED),
    ("already been taken", "Choose another one and send it again."),
    ("is already taken", "Choose another one and send it again."),
    ("already exist", "Refresh to see what exists."),
    ("your account", "Sign in on the server's web page, or ask an administrator."),
    ("user is blocked", "Ask an administrator of the server."),
    ("accept the terms", "Sign in on the server's web page, or ask an administrator."),
    ("not confirmed", "Sign in on the server's web page, or ask an administrator."),
    ("password expired", "Sign in on the server's web page, or ask an administrator."),
    ("ip address", "Ask an administrator of the server."),
    ("ssl certificate", "Set client_cert and client_key of the host in the configuration."),
];

/// Phrases of the reasons for a refusal, in lower case, that are about permissions.
const PERMISSIONS: &[&str] = &[
    "not allowed to",
    "permission",
    "push access",
    "must be admin",
    "insufficient",
    "not authorized",
    "unauthorized",
    "cannot push",
    "can't push",
    "access denied",
];

/// Phrases of the reasons for a refusal, in lower case, that are about the input: those of validations and of parameters.
/// Any other reason is about the state of something, and a change of the input does not help.
const INPUT: &[&str] = &[
    "invalid",
    "not valid",
    "valid value",
    "not a number",
    "is missing",
    "are missing",
    "not given",
    "not specified",
    "must specify",
    "must supply",
    "is empty",
    "be blank",
    "be empty",
    "too long",
    "too short",
    "too large",
    "too big",
    "wrong length",
    "should be",
    "must be a",
    "must be between",
    "must be equal",
    "must be greater",
    "must be in ",
    "must be less",
    "must be one",
    "must be valid",
    "must be before",
    "must contain",
    "must start with",
    "must not contain",
    "included in the list",
    "can contain only",
    "can only contain",
    "cannot contain",
    "can't contain",
    "is reserved",
    "reserved name",
    "mutually exclusive",
    "one parameter",
    "can't use",
    "can't pass both",
    "cannot find start_sha",
    "reference not found",
    "is ambiguous",
    "unknown action type",
    "is not allowed in",
];

fn is_any(reason: &str, phrases: &[&str]) -> bool {
    let reason = reason.to_lowercase();
    phrases.iter().any(|phrase| reason.contains(phrase))
}

fn is_about_input(reason: &str) -> bool {
    // The server words a job that cannot be played as a parameter.
    reason.is_empty() || is_any(reason, INPUT) && !is_any(reason, &["unplayable"])
}

/// Returns the advice for a message that says more than the status.
fn advice_by_reason(message: &str) -> Option<&'static str> {
    let message = message.to_lowercase();
    ADVICE.iter().find(|(phrase, _)| message.contains(phrase)).map(|(_, advice)| *advice)
}

/// Returns what a message says beyond its status: `Job is not retryable` of `403 Forbidden - Job is not retryable`.
fn reason(message: &str) -> &str {
    let rest = message.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == message.len() {
        return message;
    }
    let rest = rest.trim_start();
    let names =
        ["Forbidden", "Conflict", "Method Not Allowed", "Not Allowed", "Bad request", "(Bad request)", "Bad Request"];
    let after =
        |name: &&str| rest.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|_| name.len());
    let cut = names.iter().find_map(after).unwrap_or(0);
    let rest = rest.get(cut..).unwrap_or_default().trim_start_matches([' ', '-', ':']).trim_end_matches('.');
    if rest.eq_ignore_ascii_case("not found") || rest.eq_ignore_ascii_case("unprocessable entity") { "" } else { rest }
}

/// Returns whether GitLab may have sent the body of a refusal, rather than something in front of it: its own are JSON.
pub fn is_from_gitlab(body: &[u8]) -> bool {
    matches!(body.trim_ascii_start().first(), None | Some(b'{' | b'[' | b'"'))
}

/// Returns whether the body of a 404 means that the route does not exist, rather than the resource.
///
/// Servers report a missing resource under `message`; the router reports an unknown route under `error`.
pub fn is_unknown_route(body: &[u8]) -> bool {
    let text = body.get(..MAX_ERROR_BYTES).unwrap_or(body);
    serde_json::from_slice::<Value>(text)
        .is_ok_and(|value| value.get("error").is_some_and(|message| message == "404 Not Found"))
}

/// Returns the scopes of which the token needs one, if the body of a 403 says so.
pub fn missing_scopes(body: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(body.get(..MAX_ERROR_BYTES).unwrap_or(body)).ok()?;
    if value.get("error")? != "insufficient_scope" {
        return None;
    }
    let scopes = value.get("scope")?.as_str()?.split_whitespace().take(MAX_SCOPES);
    Some(scopes.map(|scope| error_message(scope.as_bytes())).collect())
        .filter(|scopes: &Vec<String>| !scopes.is_empty())
}

/// Returns the permissions that a fine-grained token lacks, if the body of a 403 says so. Servers name them in brackets at
/// the end of the text: `[Merge Request: Read]`, those before 19.0 as identifiers, and then for which object.
pub fn missing_permissions(body: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(body.get(..MAX_ERROR_BYTES).unwrap_or(body)).ok()?;
    if value.get("error")? != "insufficient_granular_scope" {
        return None;
    }
    let text = json_message(&value);
    let named = text.rsplit_once('[')?.1.split_once(']')?.0;
    let names = named.split(',').map(|name| error_message(name.trim().as_bytes())).filter(|name| !name.is_empty());
    Some(names.take(MAX_SCOPES).collect()).filter(|names: &Vec<String>| !names.is_empty())
}

/// The maximum number of scopes or permissions to report.
const MAX_SCOPES: usize = 5;
/// The maximum number of bytes of an error body that are searched for a message.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// The maximum number of names of a certificate to list.
const MAX_NAMES: usize = 5;
/// The maximum length of a server's message, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Extracts the message from the body of an error, as one line without control characters.
///
/// Servers put it under `message` or `error`, as text, as a list, or as lists by field, at any depth; proxies send text
/// or a web page, whose title is used.
pub fn error_message(body: &[u8]) -> String {
    // A long text is not a message, but its beginning may still say what it is.
    let text = String::from_utf8_lossy(body.get(..MAX_ERROR_BYTES).unwrap_or(body));
    let message = match serde_json::from_str::<Value>(&text) {
        Ok(value) => json_message(&value),
        Err(_) if text.trim_start().starts_with('<') => title_of(&text),
        Err(_) => text.into_owned(),
    };
    let mut line = String::new();
    for word in message.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn json_message(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => joined(items.iter().map(json_message), "; "),
        Value::Object(map) => {
            // The message comes first; the other values of the object repeat it or do not help the user.
            let first = ["error_description", "message", "error"]
                .iter()
                .filter_map(|key| map.get(*key).map(json_message))
                .find(|message| !message.is_empty());
            if let Some(message) = first {
                return match map.get("error_code").and_then(Value::as_str) {
                    Some(code) if !code.is_empty() => format!("{message} ({code})"),
                    _ => message,
                };
            }
            joined(map.iter().map(|(field, message)| by_field(field, message)), "; ")
        }
        other => other.to_string(),
    }
}

/// Formats the messages for a field: `{"title": ["is too short", "is taken"]}` becomes `title is too short, is taken`.
fn by_field(field: &str, message: &Value) -> String {
    let text = match message {
        Value::Array(items) => joined(items.iter().map(json_message), ", "),
        other => json_message(other),
    };
    if field == "base" || text.is_empty() { text } else { format!("{field} {text}") }
}

fn joined(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

fn title_of(page: &str) -> String {
    // ASCII case conversion keeps byte offsets valid in both strings.
    let lower = page.to_ascii_lowercase();
    let inside = |tag: &str| {
        let open = lower.find(&format!("<{tag}"))?;
        let start = open + lower.get(open..)?.find('>')? + 1;
        let end = start + lower.get(start..)?.find("</")?;
        page.get(start..end)
    };
    // Storages answer in XML.
    inside("title").or_else(|| inside("h1")).or_else(|| inside("message")).unwrap_or_default().to_owned()
}

/// Describes a network error to the user. `waited` is the timeout that applied.
pub(crate) fn network_fault(error: &reqwest::Error, url: &Url, waited: Duration) -> Fault {
    let proxy = env_proxy(url).filter(|_| error.is_connect());
    if error.is_timeout() && !is_lost(error) {
        return match proxy {
            Some(proxy) => Fault::Offline(format!("no answer from {proxy} within {} s", waited.as_secs())),
            None => Fault::Timeout(waited),
        };
    }
    let host = url.host_str().unwrap_or_default();
    let place = match (proxy.as_ref(), url.port()) {
        (Some(proxy), _) => proxy.to_string(),
        (None, Some(port)) => format!("{host}:{port}"),
        (None, None) => host.to_owned(),
    };
    let mut last = String::new();
    let mut is_local_name = false;
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(current) = cause {
        last = current.to_string();
        if let Some(io) = current.downcast_ref::<std::io::Error>() {
            if let Some(tls) = tls_inside(io) {
                return Fault::Tls(tls_message(tls, host));
            }
            match io.kind() {
                ErrorKind::ConnectionRefused => return Fault::Offline(format!("connection refused by {place}")),
                ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
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
            return Fault::Tls(tls_message(tls, host));
        }
        // The libraries have no types for these errors.
        is_local_name |= last.starts_with("error resolving for socks proxy");
        if last.starts_with("dns error") || last.starts_with("failed to lookup") {
            return Fault::Offline(match proxy.filter(|_| !is_local_name) {
                Some(proxy) => format!("cannot resolve {proxy}"),
                None if is_local_name => {
                    format!("cannot resolve host {host}; with socks5h:// the proxy resolves the names")
                }
                None => format!("cannot resolve host {host}"),
            });
        }
        if last.starts_with("invalid HTTP") {
            let reason = format!("{place} does not speak HTTP");
            return Fault::Unreadable(Unreadable { field: ".".into(), reason });
        }
        if let Some(end) = end_of_request(current) {
            return Fault::Offline(format!("{place} {end}"));
        }
        cause = current.source();
    }
    Fault::Offline(match proxy {
        Some(proxy) => proxy_message(&proxy, host, &last),
        None => format!("no connection to {place}: {last}"),
    })
}

/// Describes how a server ended a request without a reply.
fn end_of_request(error: &(dyn StdError + 'static)) -> Option<String> {
    const WITHOUT_REPLY: &str = "closed the connection without a reply";
    if let Some(http2) = error.downcast_ref::<h2::Error>() {
        return end_by_http2(http2);
    }
    if let Some(http) = error.downcast_ref::<hyper::Error>() {
        return match http.is_timeout() {
            true => Some("does not answer on the open connection".into()),
            false => http.is_incomplete_message().then(|| WITHOUT_REPLY.into()),
        };
    }
    // As the libraries for TLS and HTTP/2 call it.
    let io = error.downcast_ref::<std::io::Error>()?;
    matches!(io.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe).then(|| WITHOUT_REPLY.into())
}

fn end_by_http2(error: &h2::Error) -> Option<String> {
    let reason = error.reason()?;
    let reason = reason.description();
    Some(match error {
        _ if is_refusal(error) => "did not process the request".into(),
        _ if error.is_remote() && error.is_reset() => format!("aborted the request: {reason}"),
        _ if error.is_remote() => format!("closed the connection: {reason}"),
        _ if error.is_library() => format!("sent invalid HTTP/2: {reason}"),
        _ => return None,
    })
}

/// Returns whether a server with HTTP/2 has not processed the request: it refused the stream, or named an earlier one as
/// the last when it closed the connection without an error (RFC 9113, section 8.7).
fn is_refusal(error: &h2::Error) -> bool {
    let reason = error.reason().filter(|_| error.is_remote());
    reason == Some(Reason::REFUSED_STREAM) && error.is_reset() || reason == Some(Reason::NO_ERROR) && error.is_go_away()
}

fn cause<E: StdError + 'static>(error: &reqwest::Error) -> Option<&E> {
    std::iter::successors(error.source(), |error| (*error).source()).find_map(|error| error.downcast_ref())
}

/// Returns whether a request that failed was certainly not processed.
pub(crate) fn is_unprocessed(error: &reqwest::Error) -> bool {
    error.is_connect() || cause(error).is_some_and(is_refusal)
}

/// Returns whether the connection was gone without a word, rather than the reply late.
pub(crate) fn is_lost(error: &reqwest::Error) -> bool {
    cause(error).is_some_and(hyper::Error::is_timeout)
}

/// Returns whether a server with HTTP/2 aborted a reply, rather than closing the connection.
pub(crate) fn is_aborted(error: &reqwest::Error) -> bool {
    cause(error).is_some_and(|error: &h2::Error| error.is_remote() && error.is_reset())
}

fn env_proxy(url: &Url) -> Option<Proxy> {
    Proxy::of(url, &|name| std::env::var(name).ok())
}

/// Describes why a proxy did not connect to `host`; `error` is the text of the library, which hides its types.
fn proxy_message(proxy: &Proxy, host: &str, error: &str) -> String {
    let reason = error.trim_start_matches("tunnel error: ").trim_start_matches("SOCKS error: ");
    match reason {
        "proxy authorization required" => proxy_needs_password(proxy),
        "credentials not accepted" => {
            format!("{proxy} does not accept the user and the password in {}", proxy.variable)
        }
        "server does not support user/pass authentication" | "server implements authentication incorrectly" => {
            format!("{proxy} does not sign in with a user and a password, which {} contains or lacks", proxy.variable)
        }
        "unsuccessful" => format!("{proxy} refuses to connect to {host}"),
        "unexpected end of file" => format!("{proxy} closed the connection"),
        "failed to create underlying connection" => format!("cannot connect to {proxy}"),
        "failed parsing server response" | "io error during SOCKS handshake" => {
            format!("{proxy} does not answer as a SOCKS proxy")
        }
        reason => format!("{proxy} cannot connect to {host}: {reason}"),
    }
}

fn proxy_needs_password(proxy: &Proxy) -> String {
    format!("{proxy} requires a user and a password; add them to {} as http://USER:PASSWORD@HOST:PORT", proxy.variable)
}

/// Describes the 407 that a proxy answers instead of the server at `url`.
pub(crate) fn proxy_refusal(url: &Url) -> Option<Fault> {
    Some(Fault::Offline(proxy_needs_password(&env_proxy(url)?)))
}

/// Describes a proxy for the server at `url` that cannot be used.
pub(crate) fn proxy_mistake(url: &Url) -> Option<Fault> {
    Some(Fault::Offline(env_proxy(url)?.mistake()?))
}

/// Returns the TLS error inside an I/O error, which `source` does not expose and which may be nested.
fn tls_inside(io: &std::io::Error) -> Option<&rustls::Error> {
    let inner = io.get_ref()?;
    inner.downcast_ref().or_else(|| tls_inside(inner.downcast_ref()?))
}

fn tls_message(error: &rustls::Error, host: &str) -> String {
    use rustls::{AlertDescription, CertificateError as Bad, Error};
    let certificate = match error {
        Error::InvalidCertificate(certificate) => certificate,
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            return format!("{host} requires a client certificate; set client_cert and client_key of the host");
        }
        Error::AlertReceived(alert @ (AlertDescription::HandshakeFailure | AlertDescription::BadCertificate)) => {
            return format!(
                "{host} ended the handshake ({alert:?}); it may require another client certificate, see client_cert of the host"
            );
        }
        Error::AlertReceived(
            alert @ (AlertDescription::UnknownCA
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError),
        ) => return format!("{host} refuses the client certificate ({alert:?}); see client_cert of the host"),
        Error::AlertReceived(AlertDescription::UnrecognisedName) => {
            return format!("{host} does not know that name; check the address");
        }
        Error::InvalidMessage(_) => return format!("{host} does not use TLS here; did you mean http://"),
        other => return format!("the TLS handshake with {host} failed: {other}"),
    };
    match certificate {
        Bad::UnknownIssuer => format!(
            "the certificate of {host} is signed by an unknown authority; trust the authority or this certificate with --ca-cert FILE or ca_cert"
        ),
        Bad::Expired | Bad::ExpiredContext { .. } => {
            format!("the certificate of {host} has expired; ask the administrator of the server")
        }
        Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
            format!("the certificate of {host} is not valid yet; check the clock of this machine")
        }
        Bad::NotValidForNameContext { presented, .. } if !presented.is_empty() => {
            let names: Vec<&str> = presented.iter().take(MAX_NAMES).map(|name| bare_name(name)).collect();
            let names = error_message(names.join(", ").as_bytes());
            format!("the certificate is not for {host}, but for {names}; use a name of the certificate as the address")
        }
        // Names in the subject count only if the user trusts the certificate itself.
        Bad::NotValidForNameContext { .. } => format!(
            "the certificate of {host} has no alternative name; trust the certificate itself with --ca-cert FILE or ca_cert, or ask for one with a subjectAltName"
        ),
        Bad::NotValidForName => format!("the certificate of {host} has no name; ask for one with a subjectAltName"),
        Bad::Revoked => format!("the certificate of {host} is revoked; ask the administrator of the server"),
        Bad::InvalidPurpose | Bad::InvalidPurposeContext { .. } => {
            format!("the certificate of {host} is not for servers")
        }
        Bad::BadSignature => {
            format!("a signature of {host} is invalid, or its key is too weak (an RSA key needs 2,048 bits)")
        }
        // The errors of the verifier's library have no public types.
        Bad::Other(inner) if inner.to_string().contains("CaUsedAsEndEntity") => {
            format!("the certificate of {host} is self-signed; trust it with --ca-cert FILE or ca_cert")
        }
        Bad::Other(inner) if inner.to_string().contains("UnsupportedCertVersion") => format!(
            "the certificate of {host} is of an old version of X.509; trust the certificate itself with --ca-cert FILE or ca_cert"
        ),
        Bad::Other(inner) if inner.to_string().contains("invalid extensions") => {
            format!("the certificate of {host} is not for servers")
        }
        other => format!("the certificate of {host} cannot be verified: {other}"),
    }
}

/// Returns a name of a certificate without what the library writes around it: `DnsName("git.example.com")`.
fn bare_name(name: &str) -> &str {
    let bare = name.strip_prefix("DnsName(\"").and_then(|name| name.strip_suffix("\")"));
    bare.or_else(|| name.strip_prefix("IpAddress(")?.strip_suffix(')')).unwrap_or(name)
}

/// Returns a time to wait in the largest unit of which it has at least two.
/// Returns a time to wait in words: `50 s`, `10 min`.
pub fn wait_words(wait: Duration) -> String {
    match wait.as_secs().max(1) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_truncated_at_a_character() {
        let words = error_message("ö".repeat(1000).as_bytes());
        assert_eq!(words.chars().count(), MAX_MESSAGE_CHARS + 1);
    }

    #[test]
    fn long_waits_are_told_in_larger_units() {
        let waits = [0, 50, 600, 7_200, 2_818_892].map(|seconds| {
            let fault = Fault::Limited(SERVER, Some(Duration::from_secs(seconds)));
            Error { tried: String::new(), fault }.message().replace("the server asks to wait ", "")
        });
        assert_eq!(waits, ["1 s", "50 s", "10 min", "2 h", "32 days"]);
    }
}
