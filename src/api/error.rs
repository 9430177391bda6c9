//! What can go wrong with a call, in the terms of the person who made it.

use std::fmt;
use std::time::Duration;

/// A call that failed: what was tried, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// `GET /projects/1`; never a token, never the fields of a form.
    pub tried: String,
    /// What came of it.
    pub fault: Fault,
}

/// The kinds of failure that look different to a person.
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
    /// 404: it does not exist, or the caller may not know of it.
    Missing(String),
    /// 429: too many requests; wait that long, where the server said.
    Limited(Option<Duration>),
    /// Another 4xx: the input was refused. Status and what the server said.
    Refused(u16, String),
    /// 5xx: the server failed. Status and what it said.
    Server(u16, String),
    /// The reply could not be read.
    Unreadable(Unreadable),
    /// The reply ended before it was whole.
    Cut(String),
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
    /// The fault that a reply with an error status stands for; `said` is the server's message.
    pub fn from_status(tried: String, status: u16, said: String, retry_after: Option<Duration>) -> Error {
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
            Fault::Offline(_) => "Server not reached",
            Fault::Tls(_) => "Connection not trusted",
            Fault::Timeout(_) => "No answer in time",
            Fault::Unauthorized(_) => "Not signed in",
            Fault::Denied(_) => "Not allowed",
            Fault::Missing(_) => "Not found",
            Fault::Limited(_) => "Too many requests",
            Fault::Refused(..) => "Refused by the server",
            Fault::Server(..) => "The server failed",
            Fault::Unreadable(_) => "Reply not understood",
            Fault::Cut(_) => "Reply cut short",
            Fault::ReadOnly => "Read-only",
        }
    }

    /// What came back, in the server's words where it had any.
    pub fn said(&self) -> String {
        match &self.fault {
            Fault::Offline(why) | Fault::Tls(why) | Fault::Cut(why) => why.clone(),
            Fault::Timeout(after) => format!("no answer within {} s", after.as_secs()),
            Fault::Unauthorized(said) | Fault::Denied(said) | Fault::Missing(said) => said.clone(),
            Fault::Limited(Some(wait)) => format!("the server asks to wait {} s", wait.as_secs().max(1)),
            Fault::Limited(None) => "the server asks to slow down".into(),
            Fault::Refused(status, said) | Fault::Server(status, said) => {
                if said.is_empty() {
                    status.to_string()
                } else {
                    format!("{status}: {said}")
                }
            }
            Fault::Unreadable(u) if u.field == "." => u.reason.clone(),
            Fault::Unreadable(u) => format!("field {}: {}", u.field, u.reason),
            Fault::ReadOnly => "labscope was started with --read-only, nothing was sent".into(),
        }
    }

    /// What to do next.
    pub fn advice(&self) -> &'static str {
        match &self.fault {
            Fault::Offline(_) => "Check the network and the host's name, then press r to try again.",
            Fault::Tls(_) => "Check the host's certificate; --ca-cert FILE trusts a private authority.",
            Fault::Timeout(_) | Fault::Cut(_) => "Press r to try again.",
            Fault::Unauthorized(_) => "Set a valid token: LABSCOPE_TOKEN, --token-file, or labscope auth login.",
            Fault::Denied(_) => "Your account lacks the right to this; ask an owner of the project.",
            Fault::Missing(_) => "It may have been moved or deleted, or be hidden from your account.",
            Fault::Limited(_) => "labscope waits and tries again.",
            Fault::Refused(..) => "Change the input and try again.",
            Fault::Server(..) => "The fault is the server's; press r to try again.",
            Fault::Unreadable(_) => "This server may not speak the REST API v4; check --host.",
            Fault::ReadOnly => "Start without --read-only to change things.",
        }
    }

    /// Whether a read may be sent again with hope.
    pub fn is_passing(&self) -> bool {
        matches!(
            self.fault,
            Fault::Offline(_) | Fault::Timeout(_) | Fault::Limited(_) | Fault::Server(..) | Fault::Cut(_)
        )
    }

    /// Whether the thing is not there, or hidden.
    pub fn is_missing(&self) -> bool {
        matches!(self.fault, Fault::Missing(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({}). {}", self.title(), self.said(), self.tried, self.advice())
    }
}

impl std::error::Error for Error {}
