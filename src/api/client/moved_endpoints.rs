//! Alternative paths of operations on older or newer servers.

use crate::endpoint::{Request, encode};
use crate::error::{Error, Fault};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The reads whose routes a server does not know.
#[derive(Debug, Default)]
pub(super) struct MovedEndpoints(Mutex<BTreeSet<&'static str>>);

impl MovedEndpoints {
    fn routes(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the call that is known to be sent to another path instead of `request`.
    pub fn known(&self, request: &Request) -> Option<Request> {
        let is_moved = request.is_read() && self.routes().contains(request.route);
        is_moved.then(|| at_other_path(request)).flatten()
    }

    /// Remembers that the server answered another path instead of that of `request`.
    pub fn learn(&self, request: &Request, error: &Error) {
        if request.is_read() && matches!(error.fault, Fault::Unsupported(_)) {
            self.routes().insert(request.route);
        }
    }
}

/// Returns the same call at another path, if the server does not know the path of `request`.
///
/// - Before 15.2, the version is at `GET /version`.
/// - Before 11.7, the release notes of a tag are written at `POST …/tags/:tag/release` instead of `POST …/releases`;
///   likewise for `PUT`.
/// - Before 19.5, auto-merge is canceled at `…/cancel_merge_when_pipeline_succeeds`.
/// - Before 19.2, the trigger jobs of a pipeline are at `…/bridges`.
/// - Before 12.4, labels are updated at `PUT …/labels`, by name.
/// - Before 11.2, only direct members can be listed, and `all` is parsed as a user ID.
pub(super) fn moved(request: &Request, error: &Error) -> Option<Request> {
    // The message of a missing tag contains its name; some proxies answer an unknown route with a plain 404.
    let no_route = match &error.fault {
        Fault::Unsupported(_) => true,
        Fault::Missing(message) => message == "404 Not Found",
        Fault::Refused(400, message) => message.contains("user_id is invalid"),
        _ => false,
    };
    // A release that is not there is no missing route.
    let is_release = matches!(request.route, "/projects/{id}/releases" | "/projects/{id}/releases/{tag_name}");
    let is_certain = matches!(error.fault, Fault::Unsupported(_));
    if no_route && (is_certain || !is_release) { at_other_path(request) } else { None }
}

/// Returns the same call as servers expect it that do not know its path.
fn at_other_path(request: &Request) -> Option<Request> {
    match request.route {
        "/metadata" => Some(Request { path: "/version".into(), ..request.clone() }),
        "/projects/{id}/members/all" | "/groups/{id}/members/all" => {
            let path = request.path.strip_suffix("/all")?.to_owned();
            Some(Request { path, ..request.clone() })
        }
        "/projects/{id}/releases" | "/projects/{id}/releases/{tag_name}" => release(request),
        "/projects/{id}/merge_requests/{merge_request_iid}/cancel_auto_merge" => {
            with_end(request, "/cancel_auto_merge", "/cancel_merge_when_pipeline_succeeds")
        }
        "/projects/{id}/pipelines/{pipeline_id}/trigger_jobs" => with_end(request, "/trigger_jobs", "/bridges"),
        "/projects/{id}/labels/{label_id}" | "/groups/{id}/labels/{label_id}" => label(request),
        _ => None,
    }
}

fn label(request: &Request) -> Option<Request> {
    let named = request.fields.iter().any(|(name, _)| name == "name");
    let (labels, _) = request.path.rsplit_once('/').filter(|_| named)?;
    Some(Request { path: labels.to_owned(), ..request.clone() })
}

fn with_end(request: &Request, end: &str, other: &str) -> Option<Request> {
    let head = request.path.strip_suffix(end)?;
    Some(Request { path: format!("{head}{other}"), ..request.clone() })
}

/// Returns the request for the release notes of an existing tag, the only part of a release that older servers have.
fn release(request: &Request) -> Option<Request> {
    let (project, rest) = request.path.rsplit_once("/releases")?;
    let field = |name: &str| request.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
    let tag = match request.method {
        "POST" if field("ref").is_none() => encode(field("tag_name")?),
        "PUT" => rest.strip_prefix('/')?.to_owned(),
        _ => return None,
    };
    let mut request = Request { path: format!("{project}/repository/tags/{tag}/release"), ..request.clone() };
    request.fields.retain(|(name, _)| name == "description");
    Some(request)
}
