//! Why a request is refused: a status and a body in the shapes that the servers of this interface use.

use super::params::MOST_VALUES;
use serde_json::{Value, json};

/// A refusal: the handler's changes are dropped, and this is the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reject {
    /// The HTTP status.
    pub status: u16,
    /// The whole body.
    pub body: Value,
}

impl Reject {
    /// A status with `{"message": …}`: a text, or an object of field to messages.
    pub fn message(status: u16, message: impl Into<Value>) -> Reject {
        Reject { status, body: json!({ "message": message.into() }) }
    }

    /// A status with `{"error": …}`: what checking of parameters and routing answer.
    pub fn error(status: u16, error: impl Into<Value>) -> Reject {
        Reject { status, body: json!({ "error": error.into() }) }
    }

    /// 401: no token where one is needed, or one that nobody has.
    pub fn unauthorized() -> Reject {
        Reject::message(401, "401 Unauthorized")
    }

    /// 401: the token was good until some moment ago.
    pub fn expired() -> Reject {
        let description = "Token is expired. You can either do re-authentication or token refresh.";
        Reject { status: 401, body: json!({ "error": "invalid_token", "error_description": description }) }
    }

    /// 403: the token has none of these scopes, which stand apart by blanks.
    pub fn insufficient_scope(scopes: &str) -> Reject {
        let description = "The request requires higher privileges than provided by the access token.";
        let body = json!({ "error": "insufficient_scope", "error_description": description, "scope": scopes });
        Reject { status: 403, body }
    }

    /// 403: the caller sees it and lacks the right.
    pub fn forbidden() -> Reject {
        Reject::message(403, "403 Forbidden")
    }

    /// 403 with a reason. The two blanks are what these servers write.
    pub fn forbidden_because(reason: &str) -> Reject {
        Reject::message(403, format!("403 Forbidden  - {reason}"))
    }

    /// 404 for a named kind of thing: `404 Project Not Found`.
    pub fn not_found(what: &str) -> Reject {
        Reject::message(404, format!("404 {what} Not Found"))
    }

    /// 404 where the look-up of a record fails: jobs, deployments, merge requests.
    pub fn no_record() -> Reject {
        Reject::message(404, "404 Not found")
    }

    /// 400 with a message.
    pub fn bad(message: impl Into<Value>) -> Reject {
        Reject::message(400, message)
    }

    /// 400 for an input that is needed and not there, or not fit.
    pub fn not_given(name: &str) -> Reject {
        Reject::message(400, format!("400 (Bad request) \"{name}\" not given"))
    }

    /// 400: an input that is none of the words allowed.
    pub fn no_valid_value(name: &str) -> Reject {
        Reject::error(400, format!("{name} does not have a valid value"))
    }

    /// 400: an input that cannot be read as what it should be.
    pub fn invalid(name: &str) -> Reject {
        Reject::error(400, format!("{name} is invalid"))
    }

    /// 409: it exists already, or changed in the meantime.
    pub fn conflict(message: impl Into<Value>) -> Reject {
        Reject::message(409, message)
    }

    /// 422: understood and not possible.
    pub fn unprocessable(reason: &str) -> Reject {
        Reject::error(422, json!([reason]))
    }

    /// 413: more than is taken, and how much that is.
    pub fn too_large(why: &str) -> Reject {
        Reject::message(413, format!("413 Request Entity Too Large: {why}"))
    }

    /// 413 for inputs of more values than any request needs.
    pub fn too_many_values() -> Reject {
        Reject::too_large(&format!("a request may hold {MOST_VALUES} values at most"))
    }

    /// 503: too many at once; it may be tried again in a moment.
    pub fn busy() -> Reject {
        Reject::message(503, "503 Service Unavailable")
    }

    /// 500, the reason in the log alone.
    pub fn failed(why: impl std::fmt::Display) -> Reject {
        tracing::error!("the request failed: {why}");
        Reject::message(500, "500 Internal Server Error")
    }
}

/// What git could not do and no handler foresaw.
impl From<git2::Error> for Reject {
    fn from(error: git2::Error) -> Reject {
        Reject::failed(error)
    }
}
