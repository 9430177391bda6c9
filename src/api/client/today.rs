//! Operations that servers of today have at another place: the same thing, as they call it.

use crate::api::endpoint::{Request, decode};
use crate::api::error::{Error, Fault};

/// The same write where servers of today take it, if they do not know the place that `request` went to.
///
/// A release of a tag was moved: `POST …/tags/:tag/release` to `POST …/releases`, and `PUT` likewise.
pub(super) fn elsewhere(request: &Request, error: &Error) -> Option<Request> {
    // A route that is not there is answered in these very words; a tag that is not there is named.
    let no_route = matches!(&error.fault, Fault::Missing(said) if said == "404 Not Found");
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
