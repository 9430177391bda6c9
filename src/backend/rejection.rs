//! Error responses: statuses and bodies in the shapes that GitLab servers use.

use super::auth::BLOCKED;
use super::params::MAX_VALUES;
use api::permissions::Row;
use git2::ErrorCode;
use serde_json::{Value, json};

/// The beginning of a refusal with a reason.
const FORBIDDEN: &str = "403 Forbidden - ";
const BAD_REQUEST: &str = "400 Bad request - ";

/// An error response. A handler that returns it discards its changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub status: u16,
    /// The whole JSON body.
    pub body: Value,
}

impl Rejection {
    /// Creates an error with a body of `{"message": …}`: a text, or an object of field names to messages.
    pub fn message(status: u16, message: impl Into<Value>) -> Rejection {
        Rejection { status, body: json!({ "message": message.into() }) }
    }

    /// Creates an error with a body of `{"error": …}`, as parameter validation and routing send it.
    pub fn error(status: u16, error: impl Into<Value>) -> Rejection {
        Rejection { status, body: json!({ "error": error.into() }) }
    }

    /// Returns a 401 for a missing or unknown token.
    pub fn unauthorized() -> Rejection {
        Rejection::message(401, "401 Unauthorized")
    }

    /// Returns a 401 for an expired token.
    pub fn expired() -> Rejection {
        let description = "Token is expired. You can either do re-authentication or token refresh.";
        Rejection { status: 401, body: json!({ "error": "invalid_token", "error_description": description }) }
    }

    /// Returns a 403 for a token that has none of the space-separated `scopes`.
    pub fn insufficient_scope(scopes: &str) -> Rejection {
        let description = "The request requires higher privileges than provided by the access token.";
        let body = json!({ "error": "insufficient_scope", "error_description": description, "scope": scopes });
        Rejection { status: 403, body }
    }

    /// Returns a 403 for a fine-grained token without a permission.
    pub fn insufficient_permission(row: Row) -> Rejection {
        let description = format!(
            "Access denied: This operation requires a fine-grained personal access token with the following {} \
             permissions: [{}].",
            row.access(),
            row.permission
        );
        let body = json!({ "error": "insufficient_granular_scope", "error_description": description });
        Rejection { status: 403, body }
    }

    /// Returns a 403 for a caller who can see the object but lacks the permission.
    pub fn forbidden() -> Rejection {
        Rejection::message(403, "403 Forbidden")
    }

    /// Returns a 403 with a reason.
    pub fn forbidden_because(reason: &str) -> Rejection {
        Rejection::message(403, format!("{FORBIDDEN}{reason}"))
    }

    /// Returns the rejection as a server of the specification's version writes it: its reasons have other words.
    pub fn as_specified(mut self) -> Rejection {
        if let Some(Value::String(text)) = self.body.get_mut("message") {
            let before = match text.strip_prefix(FORBIDDEN) {
                Some(BLOCKED) => Some("403 Forbidden  - User is blocked".to_owned()),
                Some(reason) => Some(format!("403 Forbidden  - {reason}")),
                None => text.strip_prefix(BAD_REQUEST).map(|why| format!("400 (Bad request) \"{why}\" not given")),
            };
            *text = before.unwrap_or_else(|| std::mem::take(text));
        }
        self
    }

    /// Returns a 404 that names the kind of object: `404 Project Not Found`.
    pub fn not_found(what: &str) -> Rejection {
        Rejection::message(404, format!("404 {what} Not Found"))
    }

    /// Returns the 404 of a failed record lookup, which names no kind of object: jobs, deployments, merge requests.
    pub fn record_not_found() -> Rejection {
        Rejection::message(404, "404 Not found")
    }

    /// Returns a 400 with a message.
    pub fn bad_request(message: impl Into<Value>) -> Rejection {
        Rejection::message(400, message)
    }

    /// Returns a 400 with a reason.
    pub fn bad_request_because(reason: &str) -> Rejection {
        Rejection::message(400, format!("{BAD_REQUEST}{reason}"))
    }

    /// Returns a 400 for an input that is not one of the allowed values.
    pub fn no_valid_value(name: &str) -> Rejection {
        Rejection::error(400, format!("{name} does not have a valid value"))
    }

    /// Returns a 400 for an input that cannot be parsed.
    pub fn invalid(name: &str) -> Rejection {
        Rejection::error(400, format!("{name} is invalid"))
    }

    /// Returns a 304: there is nothing to change. It is sent without a body.
    pub fn not_modified() -> Rejection {
        Rejection::message(304, "304 Not Modified")
    }

    /// Returns a 409: the object already exists, or was changed in the meantime.
    pub fn conflict(message: impl Into<Value>) -> Rejection {
        Rejection::message(409, message)
    }

    /// Returns a 422: the request was understood but is not possible.
    pub fn unprocessable(reason: &str) -> Rejection {
        Rejection::error(422, json!([reason]))
    }

    /// Returns a 413 with the size limit.
    pub fn too_large(why: &str) -> Rejection {
        Rejection::message(413, format!("413 Request Entity Too Large: {why}"))
    }

    /// Returns a 413 for inputs with more values than any request needs.
    pub fn too_many_values() -> Rejection {
        Rejection::too_large(&format!("the request exceeds the limit of {MAX_VALUES} values"))
    }

    /// Returns a 503 with a hint to retry: too many concurrent streams.
    pub fn busy() -> Rejection {
        Rejection::message(503, "503 Service Unavailable")
    }

    /// Returns a 500 for a repository with objects, indexes or refs that cannot be read. It names them, because only the
    /// repository's owner can repair it.
    pub fn damaged(why: impl std::fmt::Display) -> Rejection {
        tracing::error!("the repository is damaged: {why}");
        let next = "git fsck in it lists all damage";
        Rejection::message(500, format!("500 The repository is damaged: {why}; {next}"))
    }

    /// Returns a 500; the reason appears only in the log.
    pub fn internal_error(why: impl std::fmt::Display) -> Rejection {
        tracing::error!("the request failed: {why}");
        Rejection::message(500, "500 Internal Server Error")
    }
}

/// Returns whether an error is one of the machine, not of what is in the repository. libgit2 tells only the text of its
/// number.
fn is_of_system(error: &git2::Error) -> bool {
    let numbers = [
        libc::EMFILE,
        libc::ENFILE,
        libc::ENOMEM,
        libc::ENOSPC,
        libc::EDQUOT,
        libc::EACCES,
        libc::EPERM,
        libc::EROFS,
        libc::EIO,
    ];
    numbers.into_iter().any(|number| {
        let text = std::io::Error::from_raw_os_error(number).to_string();
        text.split(" (os error").next().is_some_and(|text| error.message().ends_with(text))
    })
}

/// Converts git errors that no handler anticipated.
/// The start of the message about an object that a partial clone does not have.
pub const PARTIAL: &str = "The clone is partial";

/// Returns whether an error is that of an object that a partial clone does not have.
pub fn is_partial(error: &git2::Error) -> bool {
    error.code() == ErrorCode::NotFound && error.message().starts_with(PARTIAL)
}

impl From<git2::Error> for Rejection {
    fn from(error: git2::Error) -> Rejection {
        match error.code() {
            // Another program is writing to it.
            ErrorCode::Locked => Rejection::internal_error(error),
            _ if is_of_system(&error) => {
                tracing::error!("the repository cannot be used: {error}");
                Rejection::message(500, format!("500 The repository cannot be used: {}", error.message()))
            }
            _ if is_partial(&error) => {
                tracing::warn!("{error}");
                Rejection::message(500, format!("500 {}", error.message()))
            }
            // What is read from a repository: others prepared it, and no handler checks all of it in advance.
            _ => Rejection::damaged(error.message()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use git2::{Error, ErrorClass};

    #[test]
    fn only_what_is_in_a_repository_is_called_damaged() {
        let text =
            |why: &str| Rejection::from(Error::new(ErrorCode::GenericError, ErrorClass::Os, why)).body.to_string();
        for why in ["failed to open '/x/HEAD': Too many open files", "could not write 'y': No space left on device"] {
            assert!(text(why).contains(&format!("500 The repository cannot be used: {why}")), "{}", text(why));
        }
        assert!(text("object not found - no match for id").contains("The repository is damaged"));
    }
}
