//! Operations that servers of today have at another place: the same thing, as they call it.

use crate::api::endpoint::{Request, decode};
use crate::api::error::{Error, Fault};

/// The same write where servers of today take it, if they do not know the place that `request` went to.
///
/// A release of a tag was moved: `POST …/tags/:tag/release` to `POST …/releases`, and `PUT` likewise.
pub(super) fn elsewhere(request: &Request, error: &Error) -> Option<Request> {
    // A tag that is not there is named; some proxies say of a route that it is missing.
    let no_route = match &error.fault {
        Fault::Unsupported(_) => true,
        Fault::Missing(said) => said == "404 Not Found",
        _ => false,
    };
    if !no_route || request.route != "/projects/{id}/repository/tags/{tag_name}/release" {
        return None;
    }
    let (project, rest) = request.path.split_once("/repository/tags/")?;
    let tag = rest.strip_suffix("/release")?;
    let mut request = request.clone();
    if request.method == "POST" {
        request.path = format!("{project}/releases");
        request.fields.push(("tag_name".into(), decode(tag)));
    } else {
        request.path = format!("{project}/releases/{tag}");
    }
    Some(request)
}
